/* SPDX-License-Identifier: Apache-2.0 */
/* stack/walk_credit.c - keeps the stock that threads share, and counts walks by the JVM. */
#include "src/stack/walk_credit.h"

#include <stdatomic.h>

#include "src/base/time.h"
#include "src/core/counters.h"
#include "src/core/own_cost.h"

enum {
	TICKS_NS = 2, /* the TSC counts 2 to 4 times in a ns: nearly enough for a limit */
	/* Upper limits of the cost of a path, and of each frame when the tables are cold. */
	PATH_NS = 300000,
	FRAME_NS = 2000,
	FULL_STOCK_PPM = 20000, /* a smaller budget has a smaller stock */
};

static uint64_t share_ppm; /* set before there are hooks */
static _Atomic int64_t stocks_ns[LC_WALK_PURSES];
static _Atomic uint64_t walks, frames, cut;

void lc_walk_credit_limit(uint64_t ppm)
{
	const int64_t part = ppm < FULL_STOCK_PPM ? (int64_t)ppm : FULL_STOCK_PPM;
	const int64_t stock = LC_WALK_STOCK_NS / FULL_STOCK_PPM * part;

	share_ppm = ppm;
	for (int i = 0; i < LC_WALK_PURSES; i++)
		atomic_store_explicit(&stocks_ns[i],
		                      i == LC_WALK_LOOKS ? stock / LC_WALK_LOOKS_STOCK : stock,
		                      memory_order_relaxed);
}

/*
 * Add the share of the thread's CPU time since the last look. The time passes in steps of the
 * kernel's tick, so that the clock of the thread, a system call, is read once in each.
 */
static void grow(struct lc_walk_credit *c)
{
	const uint64_t ppm = share_ppm * (c->purse == LC_WALK_LOOKS ? LC_WALK_LOOKS_SHARE : 1);
	const uint64_t now_ns = lc_time_coarse_ns();
	uint64_t cpu_ns;
	double grown_ns;

	if (now_ns == c->seen_ns)
		return;
	c->seen_ns = now_ns;
	cpu_ns = lc_own_cost_clock();
	grown_ns = c->cpu_ns ? (double)(cpu_ns - c->cpu_ns) * (double)ppm / 1e6 : 0;
	c->cpu_ns = cpu_ns;
	if (grown_ns < (double)(LC_WALK_SAVED_NS - c->left_ns))
		c->left_ns += (int64_t)grown_ns;
	else
		c->left_ns = LC_WALK_SAVED_NS;
}

bool lc_walk_credit_left(struct lc_walk_credit *c)
{
	_Atomic int64_t *const stock_ns = &stocks_ns[c->purse];

	if (!share_ppm || (c->left_ns > 0 && !c->spent))
		return true;
	grow(c);
	/* Two threads that take the last slice at once overdraw the stock by one. */
	while (c->left_ns < LC_WALK_RESUME_NS &&
	       atomic_load_explicit(stock_ns, memory_order_relaxed) > 0) {
		atomic_fetch_sub_explicit(stock_ns, LC_WALK_SLICE_NS, memory_order_relaxed);
		c->left_ns += LC_WALK_SLICE_NS;
	}
	c->spent = c->left_ns < LC_WALK_RESUME_NS;
	return !c->spent;
}

void lc_walk_credit_pay(struct lc_walk_credit *c, enum lc_walk_price price, uint64_t ns)
{
	c->left_ns -= (int64_t)(price == LC_WALK_JVM ? ns : ns / 2);
}

static uint64_t at_most(uint64_t ticks, uint64_t most_ns)
{
	const uint64_t ns = ticks / TICKS_NS;

	return ns < most_ns ? ns : most_ns;
}

void lc_walk_credit_pay_look(struct lc_walk_credit *c, uint64_t ticks, uint64_t looked)
{
	lc_walk_credit_pay(c, LC_WALK_JVM, at_most(ticks, (looked + 1) * FRAME_NS));
}

void lc_walk_credit_end_slowly(struct lc_walk_credit *c, uint64_t ticks, uint64_t looked)
{
	const uint64_t most_ns = (c->named ? PATH_NS : 0) + looked * FRAME_NS;

	c->named = false;
	lc_walk_credit_pay(c, LC_WALK_OWN, at_most(ticks, most_ns));
}

void lc_walk_credit_return(struct lc_walk_credit *c)
{
	if (c->left_ns > 0)
		atomic_fetch_add_explicit(&stocks_ns[c->purse],
		                          c->left_ns < LC_WALK_SLICE_NS ? c->left_ns
		                                                        : LC_WALK_SLICE_NS,
		                          memory_order_relaxed);
	c->left_ns = 0;
}

void lc_walk_credit_cut(void)
{
	lc_count(&cut);
}

void lc_walk_credit_walked(uint64_t n)
{
	atomic_fetch_add_explicit(&walks, 1, memory_order_relaxed); /* counts */
	atomic_fetch_add_explicit(&frames, n, memory_order_relaxed);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("jvm_walks", &walks),
	LC_COUNTER("jvm_walk_frames", &frames),
	LC_COUNTER("paths_cut", &cut, .limit = "paths_cut",
	           .text = "finding all call paths would have exceeded --budget: some are cut to "
	                   "the nearest frames; counts are exact"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
