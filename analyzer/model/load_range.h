/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/load_range.h - finds the requested part of a recording's time: from points in time, lengths
 * of time before its end, or marks of the program.
 *
 * Times are CLOCK_MONOTONIC of the recorded process's machine.
 */
#ifndef LC_MODEL_LOAD_RANGE_H
#define LC_MODEL_LOAD_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_load_process;

/* The options' values; NULL: not given. The strings are those of the command line. */
struct lc_load_range {
	const char *since; /* "1h" (before the end), "14:30", "2026-11-24 14:30:05" */
	const char *until;
	const char *from_mark; /* the first mark of that name */
	const char *to_mark;   /* the first one of that name after it */
	/* By the wall clock, where `since` and `until` are not given; 0: not given. */
	uint64_t since_wall_ns, until_wall_ns;
};

static inline bool lc_load_range_on(const struct lc_load_range *r)
{
	return r && (r->since || r->until || r->from_mark || r->to_mark || r->since_wall_ns ||
	             r->until_wall_ns);
}

/* Can the text of --since or --until be understood? Context: the analyzer. */
bool lc_load_range_valid(const char *text);

/*
 * The time by the wall clock that a text of --since or --until stands for at `now_ns`: a length of
 * time is before it, a time of day the last one that is not after it. Returns whether it is one;
 * *wall_ns is then not 0.
 */
bool lc_load_range_wall(const char *text, uint64_t now_ns, uint64_t *wall_ns);

/*
 * The range in the recording of which `parts` are the processes of its profiles, one for each
 * period, in the order of time. A time of day is the last one before the recording's end. Returns 0
 * and sets both times (0 and UINT64_MAX: no bound), or 1 after one line on stderr that names
 * `path`.
 */
int lc_load_range_find(const struct lc_load_range *r, const char *path,
                       const struct lc_load_process *parts, size_t len, uint64_t *from_ns,
                       uint64_t *to_ns);

#endif
