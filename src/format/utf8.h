/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/utf8.h - reads the JVM's texts, which may hold any bytes, and writes them as valid UTF-8
 * or JSON.
 *
 * The agent and the analyzer share this file. Context of all functions: any.
 */
#ifndef LC_FORMAT_UTF8_H
#define LC_FORMAT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LC_UTF8_REPLACEMENT 0xfffdu

/* One sequence as it stands: surrogates and the two-byte NUL are let through. */
static inline size_t lc_utf8_sequence(const uint8_t *p, size_t len, uint32_t *c)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	*c = LC_UTF8_REPLACEMENT;
	if (!n || n > len || p[0] > 0xf4)
		return 1;
	if (n == 1) {
		*c = p[0];
		return 1;
	}
	uint32_t v = p[0] & (0xffu >> (n + 1));

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 1;
		v = v << 6 | (p[i] & 0x3fu);
	}
	if ((v < least[n] && v) || v > 0x10ffff || (!v && n != 2))
		return 1;
	*c = v;
	return n;
}

/*
 * Read one character of UTF-8 or of the JVM's modified UTF-8 (NUL as two bytes, surrogate pairs
 * as two sequences of three) at *p, which is below `end`, and advance *p. Returns its code point,
 * never a surrogate; what is neither gives LC_UTF8_REPLACEMENT, a byte or a sequence at a time.
 */
static inline uint32_t lc_utf8_next(const uint8_t **p, const uint8_t *end)
{
	uint32_t high, low;
	size_t n = lc_utf8_sequence(*p, (size_t)(end - *p), &high);

	*p += n;
	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (high < 0xdc00 && end - *p >= 3) {
		n = lc_utf8_sequence(*p, (size_t)(end - *p), &low);
		if (low >= 0xdc00 && low <= 0xdfff) {
			*p += n;
			return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	return LC_UTF8_REPLACEMENT;
}

/* Write code point `c` as UTF-8; `out` has 4 bytes. Returns the length. */
static inline size_t lc_utf8_put(uint8_t *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (uint8_t)(0xc0 | c >> 6);
		out[1] = (uint8_t)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (uint8_t)(0xe0 | c >> 12);
		out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		out[2] = (uint8_t)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (uint8_t)(0xf0 | c >> 18);
	out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
	out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	out[3] = (uint8_t)(0x80 | (c & 0x3f));
	return 4;
}

/*
 * Would the character move a terminal's cursor, change the terminal's state, or reverse or hide
 * text? C1 controls (ECMA-48) are obeyed like those of ASCII.
 */
static inline bool lc_utf8_controls(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/*
 * Append code point `c` inside a JSON string: controls (JSON is shown on terminals too), quote,
 * backslash and '<' (so that the text may stand inside an HTML script element) escaped. `out` has 6
 * bytes. Returns the length.
 */
static inline size_t lc_utf8_json_put(uint8_t *out, uint32_t c)
{
	static const char hex[] = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		out[0] = '\\';
		out[1] = (uint8_t)c;
		return 2;
	}
	if (!lc_utf8_controls(c) && c != '<')
		return lc_utf8_put(out, c);
	memcpy(out, "\\u", 2);
	for (unsigned i = 0; i < 4; i++)
		out[2 + i] = (uint8_t)hex[c >> (12 - 4 * i) & 15];
	return 6;
}

#endif
