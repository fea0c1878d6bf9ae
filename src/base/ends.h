/* SPDX-License-Identifier: Apache-2.0 */
/* base/ends.h - tells how a text ends. */
#ifndef LC_BASE_ENDS_H
#define LC_BASE_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Do the `len` bytes of the text end with `end`? Context: any. */
static inline bool lc_ends_with(const char *text, size_t len, const char *end)
{
	const size_t n = strlen(end);

	return len >= n && !memcmp(text + len - n, end, n);
}

#endif
