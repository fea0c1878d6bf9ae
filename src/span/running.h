/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/running.h - writes open spans to the profile, so that they are not lost if the program is
 * killed, or ends while threads are inside spans.
 *
 * When the attribution thread writes blocks, it reads the frames of all threads from outside. Each
 * span that has been open for LC_RUNNING_AGE_NS gets a row of RUNNING: its place, and the time used
 * so far. When a span with a row ends, the block that counts it in SPANS says so, too: no span
 * counts twice, wherever the profile breaks off. Shorter spans cost one load and a branch when they
 * end.
 *
 * A span is watched from the moment that it may have a row. The end of a watched span is counted
 * under the thread's lock. Under the same lock the attribution thread takes slots, ended spans and
 * open ones, so all three are of one moment. A watched frame does not change while the attribution
 * thread has the lock; frames further up change at any time. The lock is also held while frames
 * move: to a larger array, or with a virtual thread.
 *
 * Order: W1  the owner moves `top` below a frame, then loads its `watched`; the attribution thread
 *            stores `watched`, makes every thread of the process pass a barrier (membarrier(2)),
 *            then loads `top`. One of the two sees the other's store: either the end is counted
 *            under lock, or the attribution thread sees that the frame is gone: no row.
 *        W2  a frame's `open` is 0 before its first other member is written, and is set after the
 *            last (release) -> a copy is good if `open` was the same number before (acquire) and
 *            after it.
 */
#ifndef LC_SPAN_RUNNING_H
#define LC_SPAN_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

struct lc_span_thread;
struct lc_thread;

enum {
	LC_RUNNING_AGE_NS = 100000000,
	LC_RUNNING_DEPTH = 256,   /* watched frames of a thread: the outermost */
	LC_RUNNING_MAX = 1 << 17, /* spans of the process with a row */
};

/* Watch the open spans of all threads; `all`: also short ones. Context: [writer]. */
void lc_running_mark(bool all);

/*
 * Add rows of the thread's open spans, and of those that have ended since, to its tally. A thread
 * that has ended has no open span. Context: [writer], under the lock of `s`.
 */
void lc_running_take(struct lc_thread *t, struct lc_span_thread *s, bool thread_ended);

/* Open spans without a row: too many, or no memory. Context: [writer]. */
uint64_t lc_running_lost(void);

#endif
