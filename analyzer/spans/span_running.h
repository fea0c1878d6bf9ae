/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/span_running.h - finds the spans that were running when the recording ended.
 *
 * Each block has rows for the spans that were open when it was written, whatever thread the span
 * was on. If a span ended later, another row says so, and its executions are counted elsewhere.
 */
#ifndef LC_SPANS_SPAN_RUNNING_H
#define LC_SPANS_SPAN_RUNNING_H

#include "analyzer/spans/span_rows.h"

struct lc_span_running {
	uint32_t process; /* row of load.processes */
	uint32_t row;     /* row of tree.running: of the thread on which the span used most */
	uint64_t number;  /* unique in the process */
	uint64_t cycles, compensated, inside, begin_ns; /* largest of all its rows */
	bool folded; /* a task that belongs to the task around it */
	bool ended;  /* not in a finished list */
};

/*
 * The spans that have not ended, by process and number; free() the list. r->threads must be built.
 * Without memory the program ends.
 */
struct lc_span_running *lc_span_running_list(const struct lc_span_rows *r, size_t *len);

#endif
