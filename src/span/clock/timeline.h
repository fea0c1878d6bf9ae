/*
 * span/clock/timeline.h - records CPU time and context switches of each thread over time.
 *
 * Time is cut into stretches of LC_TIMELINE_NS. The attribution thread looks at all threads at the
 * end of each stretch, from outside: at the thread's CPU clock, and, where that has moved, its
 * count of switches in /proc. What a look finds belongs to the time since the last look, spread
 * evenly where that is more than one stretch. So that many threads do not cost much, threads that
 * rest are looked at in turn where there are more than LC_TIMELINE_EACH, and the switches of
 * threads that run where there are more than LC_TIMELINE_READS of them: at most LC_TIMELINE_TURNS
 * stretches apart. A thread tells its own end.
 *
 * What the process used beyond its Java threads is the rows of one more, "(JVM)": garbage
 * collector, compilers, Locus. So the rows of a stretch add up to the process.
 */
#ifndef LC_SPAN_CLOCK_TIMELINE_H
#define LC_SPAN_CLOCK_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/profile/profile_writer.h"

struct lc_counters;
struct lc_thread;

enum {
	LC_TIMELINE_EACH = 256, /* looks each time */
	LC_TIMELINE_READS = 64,
	LC_TIMELINE_TURNS = 10,
	LC_TIMELINE_FILES =
	    64, /* of /proc kept open; it is the program's descriptors that they use */
};

struct lc_timeline_thread; /* opaque; lc_thread.timeline */

/*
 * Record from now on. `jvm_index` is a thread number of its own for the JVM's rows. Context:
 * [attach].
 */
void lc_timeline_init(uint32_t jvm_index);
bool lc_timeline_on(void);
/*
 * Begin anew: what was used until now is not the program's. Context: [attach], before the first
 * tick.
 */
void lc_timeline_begin(void);

/*
 * For a thread's record, before it is published: its times count from here. NULL without memory, or
 * when there are no timelines; the rest takes NULL. Context: [attach] [java].
 */
struct lc_timeline_thread *lc_timeline_thread_create(int32_t tid);
/*
 * The calling thread ends: read what it used in all. Context: [java], before lc_thread.ended is
 * set.
 */
void lc_timeline_thread_ends(struct lc_timeline_thread *t);
void lc_timeline_thread_free(struct lc_timeline_thread *t); /* Context: [writer]. */

/* CLOCK_MONOTONIC when the next look is due. Context: [writer]. */
uint64_t lc_timeline_next_ns(uint64_t now_ns);
/* Look at all threads, if it is due or `last`. Context: [writer]; not under the list's lock. */
void lc_timeline_tick(uint64_t now_ns, bool last);
/* CPU time of the thread when it was looked at last; UINT64_MAX: unknown. Context: [writer]. */
uint64_t lc_timeline_cpu_ns(const struct lc_timeline_thread *t);
/* Take what a thread that has ended told. Context: [writer]. */
void lc_timeline_thread_last(struct lc_timeline_thread *t);

/*
 * Put a thread's rows since the last block in; returns false where there are none. Rows of one
 * stretch may come in several blocks: they add up. lc_timeline_clear() when they are written.
 * Context: [writer].
 */
bool lc_timeline_block(const struct lc_timeline_thread *t, struct lc_block_input *in);
void lc_timeline_clear(struct lc_timeline_thread *t);
/* Put in the rows of "(JVM)": tid, index, name and rows are set. Context: [writer]. */
bool lc_timeline_jvm_block(struct lc_block_input *in);
void lc_timeline_jvm_clear(void);

struct lc_timeline_stats {
	uint64_t looks;    /* at a thread's CPU clock */
	uint64_t reads;    /* of a thread's switches */
	uint64_t deferred; /* looks and reads that waited for their turn */
	uint64_t lost;     /* rows without memory */
	uint64_t ns;       /* CPU time of all of it */
};
void lc_timeline_stats(struct lc_timeline_stats *out); /* Context: [writer]. */
void lc_timeline_counters(struct lc_counters *out);    /* Context: [writer]. */

#endif
