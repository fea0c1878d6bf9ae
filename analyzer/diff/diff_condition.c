/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_condition.c - parses the conditions of --fail-on. */
#include "analyzer/diff/diff_condition.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/nearest.h"

enum { NAME_MAX = 32, NUMBER_MAX = 32 };

static const char *const names[LC_DIFF_METRICS] = {
	[LC_DIFF_SHARE] = "share",
	[LC_DIFF_CPU] = "cpu",
	[LC_DIFF_BYTES] = "bytes",
	[LC_DIFF_ALLOCATIONS] = "allocations",
	[LC_DIFF_COUNTED_BYTES] = "counted-bytes",
	[LC_DIFF_COUNTED_ALLOCATIONS] = "counted-allocations",
	[LC_DIFF_OFFHEAP_BYTES] = "offheap-bytes",
	[LC_DIFF_OFFHEAP_LIVE] = "offheap-live",
	[LC_DIFF_LIVE] = "live",
};

/* The quantities that a condition can be about. */
enum of { OF_ALL, OF_SHARE, OF_TIME, OF_BYTES, OF_COUNT };

static const struct {
	const char *word;
	enum of of;
	double factor;
} units[] = {
	{ "%", OF_ALL, 0.01 },         { "pp", OF_SHARE, 0.01 },
	{ "ns", OF_TIME, 1 },          { "us", OF_TIME, 1e3 },
	{ "ms", OF_TIME, 1e6 },        { "s", OF_TIME, 1e9 },
	{ "b", OF_BYTES, 1 },          { "", OF_BYTES, 1 },
	{ "k", OF_BYTES, 1024 },       { "kb", OF_BYTES, 1024 },
	{ "m", OF_BYTES, 1048576 },    { "mb", OF_BYTES, 1048576 },
	{ "g", OF_BYTES, 1073741824 }, { "gb", OF_BYTES, 1073741824 },
	{ "", OF_COUNT, 1 },
};

static const char *const unit_list[] = { [OF_SHARE] = "pp or %",
	                                 [OF_TIME] = "%, s, ms, us or ns",
	                                 [OF_BYTES] = "%, B, KB, MB or GB",
	                                 [OF_COUNT] = "% or none" };

bool lc_diff_metric_is_bytes(enum lc_diff_metric m)
{
	return m == LC_DIFF_BYTES || m == LC_DIFF_COUNTED_BYTES || m == LC_DIFF_OFFHEAP_BYTES ||
	       m == LC_DIFF_OFFHEAP_LIVE || m == LC_DIFF_LIVE;
}

static enum of of_metric(enum lc_diff_metric m)
{
	if (m == LC_DIFF_SHARE)
		return OF_SHARE;
	if (m == LC_DIFF_CPU)
		return OF_TIME;
	return lc_diff_metric_is_bytes(m) ? OF_BYTES : OF_COUNT;
}

const char *lc_diff_metric_name(enum lc_diff_metric metric)
{
	return names[metric];
}

static const char *skip(const char *at)
{
	return at + strspn(at, " \t");
}

static int parse_metric(const char **at, enum lc_diff_metric *out, char *error, size_t error_len)
{
	const size_t len = strspn(*at, "abcdefghijklmnopqrstuvwxyz-");
	char word[NAME_MAX];
	const char *near;

	snprintf(word, sizeof(word), "%.*s", (int)(len < NAME_MAX ? len : NAME_MAX - 1), *at);
	for (unsigned i = 0; i < LC_DIFF_METRICS; i++) {
		if (strlen(names[i]) == len && !memcmp(*at, names[i], len)) {
			*out = (enum lc_diff_metric)i;
			*at = skip(*at + len);
			return 0;
		}
	}
	near = lc_nearest(word, names, LC_DIFF_METRICS);
	if (near)
		snprintf(error, error_len, "unknown metric '%s'; did you mean '%s'?", word, near);
	else
		snprintf(error, error_len,
		         "it must begin with share, cpu, bytes, allocations, counted-bytes, "
		         "counted-allocations, offheap-bytes, offheap-live or live");
	return -EINVAL;
}

/* The pattern ends at the last parenthesis, since those inside it are its own. */
static int parse_pattern(const char **at, const char **pattern, size_t *len, char *error,
                         size_t error_len)
{
	const char *end;

	*pattern = NULL;
	*len = 0;
	if (**at != '(')
		return 0;
	end = strrchr(*at, ')');
	*pattern = skip(*at + 1);
	*len = end && end > *pattern ? (size_t)(end - *pattern) : 0;
	while (*len && strchr(" \t", (*pattern)[*len - 1]))
		--*len;
	if (!*len) {
		snprintf(error, error_len, "%s",
		         end ? "the pattern in parentheses is empty" : "a ')' is missing");
		return -EINVAL;
	}
	*at = skip(end + 1);
	return 0;
}

/* "+3%" after '>', "-3%" after '<'; the sign may be left out. */
static int parse_limit(const char *at, struct lc_diff_condition *c, char *error, size_t error_len)
{
	const enum of of = of_metric(c->metric);
	const char sign = c->falls ? '-' : '+';
	char number[NUMBER_MAX], *end = number;
	size_t len, unit_len;

	if (*at == '+' || *at == '-') {
		if (*at != sign) {
			snprintf(error, error_len, "write >+N for an increase, <-N for a decrease");
			return -EINVAL;
		}
		at = skip(at + 1);
	}
	len = strspn(at, "0123456789.");
	if (len && len < sizeof(number)) {
		snprintf(number, sizeof(number), "%.*s", (int)len, at);
		c->limit = strtod(number, &end);
	}
	if (end == number || *end) {
		snprintf(error, error_len, "the number after '%c' is missing or too long",
		         c->falls ? '<' : '>');
		return -EINVAL;
	}
	at = skip(at + len);
	for (unit_len = strlen(at); unit_len && strchr(" \t", at[unit_len - 1]);)
		unit_len--;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (units[i].of != OF_ALL && units[i].of != of)
			continue;
		if (strlen(units[i].word) != unit_len || strncasecmp(at, units[i].word, unit_len))
			continue;
		c->limit *= units[i].factor;
		c->relative = units[i].of == OF_ALL;
		return 0;
	}
	snprintf(error, error_len, "the unit of %s is %s", names[c->metric], unit_list[of]);
	return -EINVAL;
}

int lc_diff_condition_parse(const char *text, struct lc_diff_condition *out, char *error,
                            size_t error_len)
{
	struct lc_diff_condition c = { .pattern = NULL };
	const char *at = skip(text), *pattern;
	size_t len;
	int err = parse_metric(&at, &c.metric, error, error_len);

	if (!err)
		err = parse_pattern(&at, &pattern, &len, error, error_len);
	if (err)
		return err;
	if (*at != '>' && *at != '<') {
		snprintf(error, error_len, "'>' or '<' is missing after %s", names[c.metric]);
		return -EINVAL;
	}
	c.falls = *at == '<';
	err = parse_limit(skip(at + 1), &c, error, error_len);
	if (err)
		return err;
	if (pattern)
		c.pattern = lc_mem_text("%.*s", (int)len, pattern);
	*out = c;
	return 0;
}
