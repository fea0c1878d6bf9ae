/*
 * spans/span_running.h - finds the spans that had not ended when the recording did.
 *
 * A profile has rows of spans that were open when a block was written, in the blocks of any thread
 * that the span was on, and one more where it has ended since: then it is counted elsewhere.
 */
#ifndef LC_SPANS_SPAN_RUNNING_H
#define LC_SPANS_SPAN_RUNNING_H

#include "analyzer/spans/span_rows.h"

struct lc_span_running {
	uint32_t process; /* row of load.processes */
	uint32_t row;     /* of tree.running: of the thread that it had used most on */
	uint64_t number;  /* unique in the process */
	uint64_t cycles, compensated, begin_ns; /* the largest of all its rows */
	bool folded;                            /* a task that is part of the one around it */
	bool ended;                             /* not in a list that was made */
};

/*
 * The spans that have not ended, by process and number; free() the list. r->threads must be there.
 * Stops the program without memory.
 */
struct lc_span_running *lc_span_running_list(const struct lc_span_rows *r, size_t *len);

#endif
