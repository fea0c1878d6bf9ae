/*
 * span/running.h - tells the profile of spans that are open, so that a program which is killed, or
 * ends while threads are inside spans, does not lose them.
 *
 * Whenever the attribution thread writes blocks it looks at the frames of all threads from outside,
 * and each span that has been open for LC_RUNNING_AGE_NS gets a row of RUNNING: its place, and what
 * it has used so far. When a span with a row ends, the block that counts it in SPANS says so as
 * well: nothing is counted twice, wherever the profile breaks off. Shorter spans cost one load and
 * a branch when they end.
 *
 * A span is watched from the moment that it may have a row. The end of a watched span is counted
 * under the thread's lock, under which the attribution thread takes slots, ended spans and open
 * ones: all three are of one moment. A watched frame stays what it is while the attribution thread
 * has the lock; frames further up change at any time. The lock is also held where frames move: to a
 * larger array, or with a virtual thread.
 *
 * Order: W1  the owner moves `top` below a frame, then loads its `watched`; the attribution thread
 *            stores `watched`, makes every thread of the process pass a barrier (membarrier(2)),
 *            then loads `top`. One of the two sees what the other has stored: either the end
 *            is counted under lock, or the frame is seen to be gone, and gets no row.
 *        W2  a frame's `open` is 0 from before anything else of it is written until all is
 * (release)
 *            -> a copy is good if `open` was the same number before (acquire) and after it.
 */
#ifndef LC_SPAN_RUNNING_H
#define LC_SPAN_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

struct lc_span_thread;
struct lc_thread;

enum {
	LC_RUNNING_AGE_NS = 100000000,
	LC_RUNNING_DEPTH = 256,   /* frames of a thread that are watched: the outermost */
	LC_RUNNING_MAX = 1 << 17, /* spans with a row, of the process */
};

/* Watch what is open, of all threads; `all`: however short a time. Context: [writer]. */
void lc_running_mark(bool all);

/*
 * Add rows of the thread's spans that are open, or have ended since, to its tally. If the thread
 * has ended no span of it is open. Context: [writer], under the lock of `s`.
 */
void lc_running_take(struct lc_thread *t, struct lc_span_thread *s, bool thread_ended);

/* Spans that are open and have no row: too many, or without memory. Context: [writer]. */
uint64_t lc_running_lost(void);

#endif
