/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/option_number.h - reads and writes the numbers of options, each kind with its units. For
 * options.c only.
 */
#ifndef LC_BASE_OPTION_NUMBER_H
#define LC_BASE_OPTION_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>

#include "src/base/options.h"

enum option_type {
	OPTION_STRING,
	OPTION_LIST,
	OPTION_SIZE,
	OPTION_DURATION,
	OPTION_PERCENT,
	OPTION_COUNT,
	OPTION_LOOP,
	OPTION_CHOICE,
	OPTION_SET,
	OPTION_FLAG,
};

/* Limits of --loop. A size is marked with LC_LOOP_BYTES. */
#define LOOP_NS_MIN UINT64_C(100000000)
#define LOOP_NS_MAX (UINT64_C(100000) * 86400 * 1000000000)
#define LOOP_BYTES_MIN (UINT64_C(64) << 10)
#define LOOP_BYTES_MAX (UINT64_C(1024) << 30)

enum { PPM_PER_PERCENT = 10000 };

/* The units of a number. The row that ends a table has no suffix, NULL. */
struct unit {
	const char *suffix;
	uint64_t factor;
};
static const struct unit size_units[] = {
	{ "", 1 }, { "k", 1 << 10 }, { "m", 1 << 20 }, { "g", 1 << 30 }, { NULL, 0 }
};
static const struct unit duration_units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { NULL, 0 }
};
static const struct unit loop_units[] = { { "ms", 1000000 },
	                                  { "s", 1000000000 },
	                                  { "min", UINT64_C(60) * 1000000000 },
	                                  { "h", UINT64_C(3600) * 1000000000 },
	                                  { "d", UINT64_C(86400) * 1000000000 },
	                                  { "kb", LC_LOOP_BYTES | 1 << 10 },
	                                  { "mb", LC_LOOP_BYTES | 1 << 20 },
	                                  { "gb", LC_LOOP_BYTES | 1 << 30 },
	                                  { "k", LC_LOOP_BYTES | 1 << 10 },
	                                  { "g", LC_LOOP_BYTES | 1 << 30 },
	                                  { NULL, 0 } };
static const struct unit percent_units[] = { { "%", 1 }, { NULL, 0 } }; /* see PPM_PER_PERCENT */
static const struct unit count_units[] = { { "", 1 }, { NULL, 0 } };

static inline const struct unit *units_of(enum option_type type)
{
	if (type == OPTION_SIZE)
		return size_units;
	if (type == OPTION_PERCENT)
		return percent_units;
	if (type == OPTION_LOOP)
		return loop_units;
	return type == OPTION_DURATION ? duration_units : count_units;
}

static inline const char *not_a_number(enum option_type type)
{
	if (type == OPTION_SIZE)
		return "is not a size, such as 1k";
	if (type == OPTION_LOOP)
		return "is neither a time nor a size, such as 1h or 100mb";
	if (type == OPTION_PERCENT)
		return "is not a percentage, such as 2%";
	return type == OPTION_DURATION ? "is not a time, such as 5ms" : "is not a number";
}

static inline const char *wrong_unit(enum option_type type)
{
	if (type == OPTION_SIZE)
		return "must end in k, m or g";
	if (type == OPTION_LOOP)
		return "must end in ms, s, min, h or d, or in kb, mb or gb";
	if (type == OPTION_PERCENT)
		return "must end in %, such as 2%";
	return type == OPTION_DURATION ? "must end in ns, us, ms or s" : "is not a number";
}

static inline bool loop_in_range(uint64_t n, bool bytes)
{
	return bytes ? n >= LOOP_BYTES_MIN && n <= LOOP_BYTES_MAX
	             : n >= LOOP_NS_MIN && n <= LOOP_NS_MAX;
}

/* Take digits off the front of *text. Returns false where the number is too large. */
static inline bool take_digits(const char **text, uint64_t *n)
{
	for (; **text >= '0' && **text <= '9'; ++*text)
		if (__builtin_mul_overflow(*n, 10, n) ||
		    __builtin_add_overflow(*n, (uint64_t)(**text - '0'), n))
			return false;
	return true;
}

/* Take the decimals of a share, of which *n has the whole percents, and make *n millionths. */
static inline const char *take_decimals(const char **text, uint64_t *n)
{
	uint64_t unit = PPM_PER_PERCENT;

	if (__builtin_mul_overflow(*n, PPM_PER_PERCENT, n))
		return "is too large";
	if (**text != '.')
		return NULL;
	for (++*text; **text >= '0' && **text <= '9'; ++*text) {
		unit /= 10;
		if (!unit)
			return "has more than four decimals";
		if (__builtin_add_overflow(*n, (uint64_t)(**text - '0') * unit, n))
			return "is too large";
	}
	return unit == PPM_PER_PERCENT ? "is not a percentage, such as 2%" : NULL;
}

/* Parse digits and a suffix. Returns NULL, or says what is wrong. */
static inline const char *parse_number(const char *text, enum option_type type, uint64_t *out)
{
	const struct unit *u = units_of(type);
	const char *p = text, *wrong = NULL;
	uint64_t n = 0;

	if (!take_digits(&p, &n))
		return "is too large";
	if (p == text)
		return not_a_number(type);
	if (type == OPTION_PERCENT)
		wrong = take_decimals(&p, &n);
	if (wrong)
		return wrong;
	while (u->suffix && strcasecmp(p, u->suffix) != 0)
		u++;
	if (!u->suffix)
		return wrong_unit(type);
	if (__builtin_mul_overflow(n, u->factor & ~LC_LOOP_BYTES, &n))
		return "is too large";
	if (type == OPTION_LOOP && !loop_in_range(n, u->factor & LC_LOOP_BYTES))
		return "is out of range: 100ms to 100000d, or 64kb to 1024gb";
	*out = n | (u->factor & LC_LOOP_BYTES);
	return NULL;
}

/* Write millionths as percents, with the decimals that they have. */
static inline int format_percent(uint64_t n, char *out, size_t out_len)
{
	unsigned decimals = 4;
	uint64_t part = n % PPM_PER_PERCENT;

	if (!part)
		return snprintf(out, out_len, "%llu%%", (unsigned long long)(n / PPM_PER_PERCENT));
	for (; part % 10 == 0; part /= 10)
		decimals--;
	return snprintf(out, out_len, "%llu.%0*llu%%", (unsigned long long)(n / PPM_PER_PERCENT),
	                (int)decimals, (unsigned long long)part);
}

/* Write a number with the largest unit that divides it. */
static inline int format_number(uint64_t n, enum option_type type, char *out, size_t out_len)
{
	const struct unit *u = units_of(type);
	const struct unit *best = u;

	const uint64_t number = n & ~LC_LOOP_BYTES, kind = n & LC_LOOP_BYTES;
	uint64_t factor = 0;

	if (type == OPTION_PERCENT)
		return format_percent(n, out, out_len);
	for (; n && u->suffix; u++) {
		const uint64_t f = u->factor & ~LC_LOOP_BYTES;

		if ((u->factor & LC_LOOP_BYTES) == kind && number % f == 0 && f > factor) {
			best = u;
			factor = f;
		}
	}
	return snprintf(out, out_len, "%llu%s", (unsigned long long)(number / (factor + !factor)),
	                best->suffix);
}

#endif
