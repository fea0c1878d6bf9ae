/* SPDX-License-Identifier: Apache-2.0 */
/* base/plain.c - writes text of unknown origin so that a terminal shows it and obeys none of it. */
#include "analyzer/base/plain.h"

#include "src/format/utf8.h"

void lc_plain_put(FILE *out, const char *bytes, size_t len)
{
	const uint8_t *at = (const uint8_t *)bytes, *end = at + len;

	while (at < end) {
		uint32_t c = lc_utf8_next(&at, end);
		uint8_t buffer[4];

		if (lc_utf8_controls(c))
			fprintf(out, "\\u%04x", (unsigned)c);
		else
			fwrite(buffer, 1, lc_utf8_put(buffer, c), out);
	}
}
