/* SPDX-License-Identifier: Apache-2.0 */
/* base/descriptor.h - tells how many bytes a Java field takes from the type in its descriptor. */
#ifndef LC_BASE_DESCRIPTOR_H
#define LC_BASE_DESCRIPTOR_H

#include <stdint.h>

/*
 * Bytes of a field or array element whose descriptor begins at `text` ("J", "[I",
 * "Ljava/lang/String;"), where a reference takes `reference_bytes`. Only the first character is
 * read. 0: it is no type.
 */
static inline uint32_t lc_descriptor_bytes(const char *text, uint32_t reference_bytes)
{
	switch (*text) {
	case 'B':
	case 'Z':
		return 1;
	case 'C':
	case 'S':
		return 2;
	case 'I':
	case 'F':
		return 4;
	case 'J':
	case 'D':
		return 8;
	case 'L':
	case '[':
		return reference_bytes;
	default:
		return 0;
	}
}

#endif
