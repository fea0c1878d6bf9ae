/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own_cost.c - keeps the sums of Locus's own CPU time.
 *
 * Order: each sum is a count to which any thread adds.
 *        E1  lc_own_cost_end_process() writes the clocks -> lc_own_cost_process() reads them.
 */
#include "src/core/own_cost.h"

#include <stdatomic.h>
#include <time.h>

#include "src/core/counters.h"

static _Atomic uint64_t sums[LC_OWN_KINDS];
static struct {
	_Atomic bool yes;
	uint64_t process_ns, writer_ns; /* CPU time at the end of the recording */
} ended;
static __thread __attribute__((tls_model("initial-exec"))) unsigned depth;
static __thread __attribute__((tls_model("initial-exec"))) unsigned turn; /* 0: not begun */
static _Atomic unsigned turns; /* of threads that have begun; a count */

enum { ENGINES = 8 };

static uint64_t intervals_ns[ENGINES]; /* of timers. Written and read by: the attribution thread */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t lc_own_cost_clock(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t lc_own_cost_process(void)
{
	if (lc_own_cost_ended())
		return ended.process_ns + lc_own_cost_clock() - ended.writer_ns;
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void lc_own_cost_end_process(clockid_t writer)
{
	ended.process_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	ended.writer_ns = clock_ns(writer);
	atomic_store_explicit(&ended.yes, true, memory_order_release); /* E1 */
}

bool lc_own_cost_ended(void)
{
	return atomic_load_explicit(&ended.yes, memory_order_acquire); /* E1 */
}

void lc_own_cost_add(enum lc_own_kind kind, uint64_t ns)
{
	atomic_fetch_add_explicit(&sums[kind], ns, memory_order_relaxed);
}

void lc_own_cost_set(enum lc_own_kind kind, uint64_t ns)
{
	atomic_store_explicit(&sums[kind], ns, memory_order_relaxed);
}

void lc_own_cost_engine(unsigned engine, uint64_t interval_ns)
{
	if (engine < ENGINES)
		intervals_ns[engine] = interval_ns;
}

void lc_own_cost_hook(unsigned engine, uint64_t samples)
{
	if (engine < ENGINES)
		lc_own_cost_add(LC_OWN_HOOKS, samples * intervals_ns[engine]);
}

uint64_t lc_own_cost_of(enum lc_own_kind kind)
{
	return atomic_load_explicit(&sums[kind], memory_order_relaxed);
}

uint64_t lc_own_cost_begin(void)
{
	return depth++ ? 0 : lc_own_cost_clock();
}

uint64_t lc_own_cost_end(enum lc_own_kind kind, uint64_t begin)
{
	uint64_t ns;

	if (--depth)
		return 0;
	ns = lc_own_cost_clock() - begin;
	lc_own_cost_add(kind, ns);
	return ns;
}

/* Threads begin at different turns, so that those with few events are timed as often as others. */
static bool is_timed(void)
{
	if (!turn)
		turn = 1 + (7 * atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed) + 9) %
		               LC_OWN_OFTEN;
	if (turn++ < LC_OWN_OFTEN)
		return false;
	turn = 1;
	return true;
}

uint64_t lc_own_cost_begin_often(void)
{
	return depth++ || !is_timed() ? 0 : lc_own_cost_clock();
}

uint64_t lc_own_cost_end_often(enum lc_own_kind kind, uint64_t begin)
{
	uint64_t ns;

	if (--depth || !begin)
		return 0;
	ns = (lc_own_cost_clock() - begin) * LC_OWN_OFTEN;
	lc_own_cost_add(kind, ns);
	return ns;
}

static void put_counters(struct lc_counters *out)
{
	static const char *const names[LC_OWN_KINDS] = {
		[LC_OWN_HOOKS] = "own_hooks_ns",   [LC_OWN_SAMPLES] = "own_samples_ns",
		[LC_OWN_EVENTS] = "own_events_ns", [LC_OWN_THREAD] = "own_thread_ns",
		[LC_OWN_PAUSES] = "own_pauses_ns", [LC_OWN_STARTUP] = "own_startup_ns",
		[LC_OWN_WALKS] = "own_walks_ns",
	};

	lc_own_cost_set(LC_OWN_THREAD, lc_own_cost_clock());
	for (unsigned i = 0; i < LC_OWN_KINDS; i++)
		lc_counters_put(out, names[i], lc_own_cost_of(i));
	lc_counters_put(out, "own_process_ns", lc_own_cost_process());
}

LC_COUNTER_TABLE(.put = put_counters);
