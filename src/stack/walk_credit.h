/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/walk_credit.h - limits the time that the program's threads spend on call paths.
 *
 * A thread pays for a walk by the JVM, for a walk of many frames and for a path that is new. Its
 * credit grows by a share of the thread's CPU time (--budget), and all threads together have a
 * stock to begin with. A path that a thread has no credit for is cut: it has the nearest frames,
 * below the frame LC_PATH_CUT of core/path.h. Counts do not depend on credit.
 *
 * Looks at the stack that find a known path have a credit and a stock of their own: without it, not
 * every large object is looked at (heap/recent.h), and with --track not every small one
 * (heap/tlab.h).
 *
 * Order: none. The stock and the counts are sums to which any thread adds.
 */
#ifndef LC_STACK_WALK_CREDIT_H
#define LC_STACK_WALK_CREDIT_H

#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

enum lc_walk_purse { LC_WALK_PATHS, LC_WALK_LOOKS, LC_WALK_SMALL_LOOKS, LC_WALK_PURSES };

/* The credit that a thread may still spend. All 0 but `purse` at first. Owner: the thread. */
struct lc_walk_credit {
	enum lc_walk_purse purse;
	int64_t left_ns;
	bool named; /* a path was new since the last work began */
	bool spent; /* until LC_WALK_RESUME_NS are there: else each ns would be spent at once */
	uint64_t seen_ns; /* when the share of CPU time was added; 0: never */
	uint64_t cpu_ns;  /* the thread's CPU time then */
};

/* Walks by the JVM cost their full time, Locus's own work half of it. */
enum lc_walk_price { LC_WALK_OWN, LC_WALK_JVM };

enum {
	LC_WALK_STOCK_NS = 1000000000, /* of all threads together, from --budget=2% on */
	LC_WALK_LOOKS_STOCK = 4,       /* looks have so much less ... */
	LC_WALK_LOOKS_SHARE = 5,       /* ... and so many times the share of CPU time */
	LC_WALK_SLICE_NS = 1000000,    /* what a thread takes of it at a time */
	LC_WALK_RESUME_NS = 500000,
	LC_WALK_FREE_TICKS = 8192,   /* some 3 us */
	LC_WALK_SAVED_NS = 20000000, /* what a thread saves at most */
};

/*
 * From now on threads may spend so many parts in a million of their CPU time; 0: there is no limit.
 * The stock is full again; a budget below 2% has a smaller one. Context: [attach].
 */
void lc_walk_credit_limit(uint64_t ppm);

/* May the thread spend something? Context: [hook] [java], owner. */
bool lc_walk_credit_left(struct lc_walk_credit *c);

/* The thread has spent so much CPU time. Context: as above. */
void lc_walk_credit_pay(struct lc_walk_credit *c, enum lc_walk_price price, uint64_t ns);

/* The same of a look that took so many ticks of the TSC, and passed `looked` frames: they bound it.
 */
void lc_walk_credit_pay_look(struct lc_walk_credit *c, uint64_t ticks, uint64_t looked);

/*
 * Work of Locus's own that may have been a walk, and the naming of a new path, begins and ends:
 * what took longer than a known path takes is paid for. `looked`: frames that were looked at; they
 * bound the price, since the clock goes on while the thread waits for a CPU. Context: [hook]
 * [java], owner.
 */
static inline uint64_t lc_walk_credit_begin(void)
{
	return __rdtsc();
}

void lc_walk_credit_end_slowly(struct lc_walk_credit *c, uint64_t ticks, uint64_t looked);

/* `now`: the TSC at the end. */
static inline void lc_walk_credit_end(struct lc_walk_credit *c, uint64_t begin, uint64_t now,
                                      uint64_t looked)
{
	const uint64_t ticks = now - begin;

	if (__builtin_expect(ticks > LC_WALK_FREE_TICKS, 0))
		lc_walk_credit_end_slowly(c, ticks, looked);
}

/* The thread has ended: what it took of the stock and did not spend goes back. Context: [writer].
 */
void lc_walk_credit_return(struct lc_walk_credit *c);

/* A path was cut. Context: [hook] [java]. */
void lc_walk_credit_cut(void);

/* The JVM has walked so many frames. Context: [hook] [java]. */
void lc_walk_credit_walked(uint64_t frames);

#endif
