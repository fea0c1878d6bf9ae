/* base/plain.c - writes text of unknown origin so that a terminal shows it and obeys none of it. */
#include "analyzer/base/plain.h"

#include "src/format/utf8.h"

/* C1 controls move the cursor of a terminal too; the others reverse or hide text. */
bool lc_plain_controls(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void lc_plain_put(FILE *out, const char *bytes, size_t len)
{
	const uint8_t *at = (const uint8_t *)bytes, *end = at + len;

	while (at < end) {
		uint32_t c = lc_utf8_next(&at, end);
		uint8_t buffer[4];

		if (lc_plain_controls(c))
			fprintf(out, "\\u%04x", (unsigned)c);
		else
			fwrite(buffer, 1, lc_utf8_put(buffer, c), out);
	}
}
