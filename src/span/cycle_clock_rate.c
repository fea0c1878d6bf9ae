/*
 * span/cycle_clock_rate.c - how fast the TSC counts, and what time it was at a value of it.
 *
 * Two pairs of (TSC, CLOCK_MONOTONIC) give the rate: one of lc_clock_rate_init(), one of now. The further
 * they are apart, the less the time between the two readings of a pair matters.
 *
 * Invariant: the first pair never changes, the two factors are one atomic each. A reader that finds one old and
 *            one new is off by what the refinement changed, some parts in a million.
 */
#include <cpuid.h>
#include <errno.h>
#include <time.h>

#include "src/base/time.h" /* without a directory it would be the one next to this file */
#include "src/span/cycle_clock_impl.h"

#define SHIFT 40
#define SECOND UINT64_C(1000000000)

enum { PAIR_TRIES = 16, FIRST_MS = 20 };

__extension__ typedef unsigned __int128 lc_u128;

struct pair {
	uint64_t tsc, ns;
};

static struct {
	struct pair first;
	uint64_t first_hz;
	_Atomic uint64_t hz;
	_Atomic uint64_t ns_per_cycle; /* both << SHIFT */
	_Atomic uint64_t cycles_per_ns;
} rate;

/* The two as near to each other as a few attempts come. */
static struct pair read_pair(void)
{
	struct pair best = { 0 };
	uint64_t best_width = UINT64_MAX;

	for (unsigned i = 0; i < PAIR_TRIES; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = lc_clock_now_ns();
		uint64_t width = __rdtsc() - before;

		if (width < best_width) {
			best_width = width;
			best = (struct pair){ before + width / 2, ns };
		}
	}
	return best;
}

static int set_rate(const struct pair *now)
{
	uint64_t cycles = now->tsc - rate.first.tsc, ns = now->ns - rate.first.ns;

	if (!ns || !cycles || now->tsc < rate.first.tsc || now->ns < rate.first.ns)
		return -ENOTSUP;
	/* Relaxed: independent numbers, see the top. */
	atomic_store_explicit(&rate.hz, (uint64_t)((lc_u128)cycles * SECOND / ns),
	                      memory_order_relaxed);
	atomic_store_explicit(&rate.ns_per_cycle, (uint64_t)(((lc_u128)ns << SHIFT) / cycles),
	                      memory_order_relaxed);
	atomic_store_explicit(&rate.cycles_per_ns, (uint64_t)(((lc_u128)cycles << SHIFT) / ns),
	                      memory_order_relaxed);
	return 0;
}

bool lc_clock_tsc_invariant(void)
{
	unsigned a = 0, b = 0, c = 0, d = 0;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}

int lc_clock_rate_init(void)
{
	struct timespec left = { .tv_nsec = FIRST_MS * 1000000L };
	struct pair now;
	int err;

	rate.first = read_pair();
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	now = read_pair();
	err = set_rate(&now);
	rate.first_hz = lc_clock_tsc_hz();
	return err;
}

void lc_clock_refine(void)
{
	struct pair now = read_pair();

	set_rate(&now);
}

uint64_t lc_clock_tsc_hz(void)
{
	return atomic_load_explicit(&rate.hz, memory_order_relaxed);
}

bool lc_clock_rate_unstable(void)
{
	uint64_t hz = lc_clock_tsc_hz();
	uint64_t change = hz > rate.first_hz ? hz - rate.first_hz : rate.first_hz - hz;

	return change > rate.first_hz / 100;
}

uint64_t lc_clock_tsc_to_ns(uint64_t tsc)
{
	uint64_t factor = atomic_load_explicit(&rate.ns_per_cycle, memory_order_relaxed);

	if (tsc < rate.first.tsc)
		return rate.first.ns -
		       (uint64_t)((lc_u128)(rate.first.tsc - tsc) * factor >> SHIFT);
	return rate.first.ns + (uint64_t)((lc_u128)(tsc - rate.first.tsc) * factor >> SHIFT);
}

uint64_t lc_clock_ns_to_cycles(uint64_t ns)
{
	uint64_t factor = atomic_load_explicit(&rate.cycles_per_ns, memory_order_relaxed);

	return (uint64_t)((lc_u128)ns * factor >> SHIFT);
}
