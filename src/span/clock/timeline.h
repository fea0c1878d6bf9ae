/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/clock/timeline.h - records CPU time and context switches of each thread over time.
 *
 * Time is cut into stretches of LC_TIMELINE_NS. At the end of each stretch the attribution thread
 * reads each thread's CPU clock and, if that has moved, its count of switches in /proc. The
 * difference belongs to the time since the last look, spread evenly over several stretches. Two
 * limits bound the cost of many threads. Beyond LC_TIMELINE_EACH resting threads, the looks take
 * turns. Beyond LC_TIMELINE_READS running threads, the reads of switches take turns. Turns are at
 * most LC_TIMELINE_TURNS stretches apart. A thread reports its own end.
 *
 * The rows of one more thread, "(JVM)", hold the rest of the process: garbage collector, compilers,
 * Locus. So the rows of a stretch add up to the process.
 */
#ifndef LC_SPAN_CLOCK_TIMELINE_H
#define LC_SPAN_CLOCK_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/profile/profile_writer.h"

struct lc_thread;

enum {
	LC_TIMELINE_EACH = 256, /* threads to look at each time */
	LC_TIMELINE_READS = 64,
	LC_TIMELINE_TURNS = 10,
	LC_TIMELINE_FILES = 64, /* files of /proc kept open; they use the program's descriptors */
};

struct lc_timeline_thread; /* opaque; lc_thread.timeline */

/*
 * Start to record. `jvm_index` is a thread number of its own for the JVM's rows. Context: [attach].
 */
void lc_timeline_init(uint32_t jvm_index);
bool lc_timeline_on(void);
/* Begin anew: time until now is not the program's. Context: [attach], before the first tick. */
void lc_timeline_begin(void);

/*
 * For a thread's record, before it is published: its times count from here. NULL without memory or
 * timelines; the other functions take NULL. Context: [attach] [java].
 */
struct lc_timeline_thread *lc_timeline_thread_create(int32_t tid);
/* The calling thread ends: read its totals. Context: [java], before lc_thread.ended is set. */
void lc_timeline_thread_ends(struct lc_timeline_thread *t);
void lc_timeline_thread_free(struct lc_timeline_thread *t); /* Context: [writer]. */

/* Time (CLOCK_MONOTONIC) of the next look. Context: [writer]. */
uint64_t lc_timeline_next_ns(uint64_t now_ns);
/* Look at all threads, if a look is due or `last`. Context: [writer]; not under the list's lock. */
void lc_timeline_tick(uint64_t now_ns, bool last);
/* CPU time of the thread at the last look; UINT64_MAX: unknown. Context: [writer]. */
uint64_t lc_timeline_cpu_ns(const struct lc_timeline_thread *t);
/* Take the totals that an ended thread has read. Context: [writer]. */
void lc_timeline_thread_last(struct lc_timeline_thread *t);

/*
 * Put a thread's rows since the last block into *in; returns false if there are none. Rows of one
 * stretch in several blocks add up. Call lc_timeline_clear() after they are written. Context:
 * [writer].
 */
bool lc_timeline_block(const struct lc_timeline_thread *t, struct lc_block_input *in);
void lc_timeline_clear(struct lc_timeline_thread *t);
/* Put in the rows of "(JVM)": tid, index, name and rows are set. Context: [writer]. */
bool lc_timeline_jvm_block(struct lc_block_input *in);
void lc_timeline_jvm_clear(void);

#endif
