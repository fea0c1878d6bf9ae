/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/clock/cycle_clock_rate.c - measures how fast the TSC counts, and converts it to time.
 *
 * Two pairs of (TSC, CLOCK_MONOTONIC) give the rate: one from lc_cycles_rate_init() and one from
 * now. The further apart they are, the less it matters how far apart the two readings of a pair
 * are.
 *
 * Invariant: the first pair never changes after lc_cycles_rate_init(), and each factor is one
 *            atomic number. Two conversions on both sides of a refinement use two rates, so their
 *            difference may be negative; a duration is converted with one rate instead.
 */
#include <cpuid.h>
#include <errno.h>
#include <time.h>

#include "src/base/time.h"
#include "src/span/clock/cycle_clock_impl.h"

#define SHIFT 40
#define SECOND UINT64_C(1000000000)

#define WIDE_NS UINT64_C(2000)

enum { PAIR_TRIES = 16, FIRST_MS = 20 };

__extension__ typedef unsigned __int128 lc_u128;

static struct {
	struct lc_cycles_pair first;
	uint64_t first_hz;
	_Atomic uint64_t hz;
	_Atomic uint64_t ns_per_cycle; /* both << SHIFT */
	_Atomic uint64_t cycles_per_ns;
} rate;

/* Read the two clocks as close to each other as a few attempts allow. */
static struct lc_cycles_pair read_pair(void)
{
	struct lc_cycles_pair best = { .width = UINT64_MAX };

	for (unsigned i = 0; i < PAIR_TRIES; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = lc_time_now_ns();
		uint64_t width = __rdtsc() - before;

		if (width < best.width)
			best = (struct lc_cycles_pair){ before + width / 2, ns, width };
	}
	return best;
}

static int set_rate(const struct lc_cycles_pair *now)
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

bool lc_cycles_tsc_invariant(void)
{
	unsigned a = 0, b = 0, c = 0, d = 0;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}

int lc_cycles_rate_set(const struct lc_cycles_pair *first, const struct lc_cycles_pair *second)
{
	int err;

	rate.first = *first;
	err = set_rate(second);
	rate.first_hz = err ? 0 : lc_cycles_tsc_hz();
	return err;
}

int lc_cycles_rate_init(void)
{
	struct timespec left = { .tv_nsec = FIRST_MS * 1000000L };
	struct lc_cycles_pair first = read_pair(), second;

	while (nanosleep(&left, &left) && errno == EINTR)
		;
	second = read_pair();
	return lc_cycles_rate_set(&first, &second);
}

bool lc_cycles_rate_refine(const struct lc_cycles_pair *now)
{
	const uint64_t wide = lc_cycles_of_ns(WIDE_NS);

	if (!rate.first_hz)
		return false;
	if (now->width > wide && now->width > rate.first.width)
		return false; /* the thread was off the CPU between the readings */
	return !set_rate(now);
}

void lc_cycles_refine(void)
{
	struct lc_cycles_pair now;

	if (!rate.first_hz)
		return; /* without spans: nothing to refine */
	now = read_pair();
	lc_cycles_rate_refine(&now);
}

uint64_t lc_cycles_tsc_hz(void)
{
	return atomic_load_explicit(&rate.hz, memory_order_relaxed);
}

bool lc_cycles_rate_unstable(void)
{
	uint64_t hz = lc_cycles_tsc_hz();
	uint64_t change = hz > rate.first_hz ? hz - rate.first_hz : rate.first_hz - hz;

	return change > rate.first_hz / 100;
}

uint64_t lc_cycles_tsc_to_ns(uint64_t tsc)
{
	uint64_t factor = atomic_load_explicit(&rate.ns_per_cycle, memory_order_relaxed);

	if (tsc < rate.first.tsc)
		return rate.first.ns -
		       (uint64_t)((lc_u128)(rate.first.tsc - tsc) * factor >> SHIFT);
	return rate.first.ns + (uint64_t)((lc_u128)(tsc - rate.first.tsc) * factor >> SHIFT);
}

uint64_t lc_cycles_tsc_between_ns(uint64_t from, uint64_t to)
{
	uint64_t factor = atomic_load_explicit(&rate.ns_per_cycle, memory_order_relaxed);

	return (int64_t)(to - from) > 0 ? (uint64_t)((lc_u128)(to - from) * factor >> SHIFT) : 0;
}

uint64_t lc_cycles_of_ns(uint64_t ns)
{
	uint64_t factor = atomic_load_explicit(&rate.cycles_per_ns, memory_order_relaxed);

	return (uint64_t)((lc_u128)ns * factor >> SHIFT);
}
