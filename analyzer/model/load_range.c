/* SPDX-License-Identifier: Apache-2.0 */
/* model/load_range.c - finds the requested part of a recording's time. */
#include "analyzer/model/load_range.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/model/load.h"
#include "src/base/nearest.h"

#define SECOND_NS UINT64_C(1000000000)

enum { MARKS_MAX = 500 /* of a recording */ };

static const struct {
	const char *suffix;
	uint64_t ns;
} units[] = {
	{ "ms", SECOND_NS / 1000 }, { "s", SECOND_NS },         { "min", 60 * SECOND_NS },
	{ "h", 3600 * SECOND_NS },  { "d", 86400 * SECOND_NS },
};

/* "90s". Returns whether it is one. */
static bool length_of_time(const char *text, uint64_t *ns)
{
	unsigned long long number;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	for (size_t i = 0; !errno && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].suffix))
			return !__builtin_mul_overflow((uint64_t)number, units[i].ns, ns);
	return false;
}

/* A local time. Returns whether it is one; `*dated`: it has a day. */
static bool point_in_time(const char *text, struct tm *out, bool *dated)
{
	static const char *const formats[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
		"%Y-%m-%d",          "%H:%M:%S",          "%H:%M"
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm t = { .tm_isdst = -1 };
		const char *end = strptime(text, formats[i], &t);

		if (!end || *end)
			continue;
		*dated = formats[i][1] == 'Y';
		*out = t;
		return true;
	}
	return false;
}

bool lc_load_range_valid(const char *text)
{
	struct tm t;
	uint64_t ns;
	bool dated;

	return length_of_time(text, &ns) || point_in_time(text, &t, &dated);
}

static uint64_t wall_of(struct tm t)
{
	const time_t seconds = mktime(&t);

	return seconds > 0 ? (uint64_t)seconds * SECOND_NS : 0;
}

/* The last such time of day that is not after the end. */
static uint64_t last_before(const struct tm *t, uint64_t end_wall_ns)
{
	const time_t end = (time_t)(end_wall_ns / SECOND_NS);
	struct tm of_end, day;

	localtime_r(&end, &of_end);
	day = of_end;
	day.tm_hour = t->tm_hour;
	day.tm_min = t->tm_min;
	day.tm_sec = t->tm_sec;
	day.tm_isdst = -1;
	if (wall_of(day) <= end_wall_ns)
		return wall_of(day);
	day.tm_year = of_end.tm_year;
	day.tm_mon = of_end.tm_mon;
	day.tm_mday = of_end.tm_mday - 1;
	day.tm_isdst = -1;
	return wall_of(day);
}

bool lc_load_range_wall(const char *text, uint64_t now_ns, uint64_t *wall_ns)
{
	struct tm t;
	uint64_t ns;
	bool dated;

	if (length_of_time(text, &ns))
		*wall_ns = now_ns > ns ? now_ns - ns : 0;
	else if (point_in_time(text, &t, &dated))
		*wall_ns = dated ? wall_of(t) : last_before(&t, now_ns);
	else
		return false;
	*wall_ns += !*wall_ns; /* 0 is no time */
	return true;
}

/* By the clocks of the last part that begins before it: the wall clock may have been set since. */
static uint64_t monotonic_of(uint64_t wall_ns, const struct lc_load_process *parts, size_t len)
{
	size_t i = len - 1;

	while (i && parts[i].start_wall_ns > wall_ns)
		i--;
	if (wall_ns >= parts[i].start_wall_ns)
		return parts[i].start_monotonic_ns + (wall_ns - parts[i].start_wall_ns);
	return parts[i].start_monotonic_ns;
}

/* `none`: what a time of day that is not in the recording stands for. */
static uint64_t time_of(const char *text, const struct lc_load_process *parts, size_t len,
                        uint64_t none)
{
	const struct lc_load_process *last = &parts[len - 1];
	uint64_t ns, wall_ns;
	struct tm t;
	bool dated;

	if (length_of_time(text, &ns))
		return last->end_monotonic_ns > ns ? last->end_monotonic_ns - ns : 0;
	if (!point_in_time(text, &t, &dated))
		return none; /* which was looked at before */
	wall_ns = dated ? wall_of(t) : last_before(&t, last->end_wall_ns);
	if (!dated && wall_ns < parts[0].start_wall_ns)
		return none;
	return monotonic_of(wall_ns, parts, len);
}

struct marks {
	const char *names[MARKS_MAX];
	uint64_t times[MARKS_MAX];
	size_t len;
};

static void read_marks(struct marks *m, const struct lc_load_process *parts, size_t len)
{
	json_t *row;
	size_t n;

	for (size_t i = 0; i < len; i++) {
		json_array_foreach(parts[i].marks, n, row)
		{
			const char *name = json_string_value(json_object_get(row, "name"));
			const json_int_t at = json_integer_value(json_object_get(row, "time_ns"));

			if (!name || at <= 0 || m->len == MARKS_MAX)
				continue;
			m->names[m->len] = name;
			m->times[m->len++] = (uint64_t)at;
		}
	}
}

static int no_mark(const struct marks *m, const char *option, const char *name, const char *path)
{
	const char *near = lc_nearest(name, m->names, m->len);

	for (size_t i = 0; i < m->len; i++)
		if (!strcmp(m->names[i], name))
			return lc_fail("--%s: '%.120s' has no mark '%.120s' after --from-mark",
			               option, path, name);
	if (!m->len)
		return lc_fail("--%s: the program of '%.120s' set no marks", option, path);
	if (near)
		return lc_fail("--%s: '%.120s' has no mark '%.120s'; did you mean '%.120s'?",
		               option, path, name, near);
	return lc_fail("--%s: '%.120s' has no mark '%.120s'; its first mark is '%.120s'", option,
	               path, name, m->names[0]);
}

/* The first mark of a name from *at on, which becomes the one after it. */
static int find_mark(const struct marks *m, size_t *at, const char *name, uint64_t *ns)
{
	for (size_t i = *at; i < m->len; i++) {
		if (strcmp(m->names[i], name) != 0)
			continue;
		*ns = m->times[i];
		*at = i + 1;
		return 0;
	}
	return -ENOENT;
}

static int find_marks(const struct lc_load_range *r, const char *path, const struct marks *m,
                      uint64_t *from_ns, uint64_t *to_ns)
{
	size_t at = 0;

	if (r->from_mark && find_mark(m, &at, r->from_mark, from_ns))
		return no_mark(m, "from-mark", r->from_mark, path);
	if (r->to_mark && find_mark(m, &at, r->to_mark, to_ns))
		return no_mark(m, "to-mark", r->to_mark, path);
	return 0;
}

int lc_load_range_find(const struct lc_load_range *r, const char *path,
                       const struct lc_load_process *parts, size_t len, uint64_t *from_ns,
                       uint64_t *to_ns)
{
	uint64_t from_mark = 0, to_mark = UINT64_MAX;
	struct marks *m = lc_mem_zeroed(1, sizeof(*m));
	int status;

	read_marks(m, parts, len);
	status = find_marks(r, path, m, &from_mark, &to_mark);
	free(m);
	if (status)
		return status;
	*from_ns = r->since           ? time_of(r->since, parts, len, 0)
	           : r->since_wall_ns ? monotonic_of(r->since_wall_ns, parts, len)
	                              : 0;
	*to_ns = r->until           ? time_of(r->until, parts, len, UINT64_MAX)
	         : r->until_wall_ns ? monotonic_of(r->until_wall_ns, parts, len)
	                            : UINT64_MAX;
	if (*from_ns < from_mark)
		*from_ns = from_mark;
	if (*to_ns > to_mark)
		*to_ns = to_mark;
	/* By the wall clock it has something: where the clock was set meanwhile, its end or begin.
	 */
	if (r->since_wall_ns && *from_ns >= parts[len - 1].end_monotonic_ns)
		*from_ns = parts[len - 1].end_monotonic_ns - 1;
	if (r->until_wall_ns && *to_ns <= parts[0].start_monotonic_ns)
		*to_ns = parts[0].start_monotonic_ns + 1;
	if (*from_ns >= *to_ns || *from_ns >= parts[len - 1].end_monotonic_ns ||
	    *to_ns <= parts[0].start_monotonic_ns)
		return lc_fail("'%s' has no data in that time", path);
	return 0;
}
