/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_condition.h - parses the conditions of --fail-on: "bytes>+3%", "share(Value*)>+2pp". */
#ifndef LC_DIFF_DIFF_CONDITION_H
#define LC_DIFF_DIFF_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

enum lc_diff_metric {
	LC_DIFF_SHARE,       /* of all samples */
	LC_DIFF_CPU,         /* ns that samples stand for */
	LC_DIFF_BYTES,       /* counted and estimated */
	LC_DIFF_ALLOCATIONS, /* the same */
	LC_DIFF_COUNTED_BYTES,
	LC_DIFF_COUNTED_ALLOCATIONS,
	LC_DIFF_OFFHEAP_BYTES, /* of blocks outside the heap: allocated */
	LC_DIFF_OFFHEAP_LIVE,  /* live at the end */
	LC_DIFF_LIVE, /* bytes of objects after the last collection, counted and estimated */
	LC_DIFF_METRICS
};

/*
 * METRIC [ (PATTERN) ] > +NUMBER UNIT, or < -NUMBER UNIT; blanks between them do not matter. It
 * holds when the metric of what fits the pattern rose (or fell) by more than that.
 */
struct lc_diff_condition {
	enum lc_diff_metric metric;
	char *pattern; /* free() it; NULL: of all */
	bool falls;    /* "<" */
	bool relative; /* `limit` is a part of what it was before: 0.03 of "3%" */
	double limit;  /* 0 or more; of a share not relative 0 to 1, of CPU time ns, else bytes or a
	                  number of allocations */
};

/*
 * Returns 0, or -EINVAL with *out untouched and in `error` one line that says what is wrong,
 * without a newline.
 */
int lc_diff_condition_parse(const char *text, struct lc_diff_condition *out, char *error,
                            size_t error_len);

/* Is it a number of bytes? */
bool lc_diff_metric_is_bytes(enum lc_diff_metric metric);

/* "share", as it stands in a condition. */
const char *lc_diff_metric_name(enum lc_diff_metric metric);

#endif
