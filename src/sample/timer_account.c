/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/timer_account.c - computes the CPU time that each tick stands for; see timer_account.h.
 *
 * Order: none. A kind's debt and the length of the tick are sums that any thread changes; each
 * change is one atomic operation, and no other data depends on it.
 */
#include "src/sample/timer_account.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

#include "src/base/hash.h"
#include "src/base/time.h"

enum {
	KINDS = 256,
	TICK_NS = 4000000, /* where the kernel does not say */
	TICK_NS_MIN = 100000,
	TICK_NS_MAX = 20000000,
	TICKS_OF_ITS_OWN = 16, /* from so many on a thread settles its own debt, not its kind's */
	PAID_AT_ONCE = 16,     /* a tick pays 1 / this of a kind's debt */
	PAID_OF_OWN = 4,       /* .. and 1 / this of its own thread's debt */
	TICKS_AT_MOST = 16,    /* .. and at most so many ticks */
	TICKS_MISSING = 6,     /* a thread ran so long without a tick: the kernel had none */
	TICK_STEPS = 1024,     /* a measurement changes the tick's length by 1 / this */
	DRAWN_AT_MOST = 64     /* up to so many points passed at once have random distances */
};

static struct {
	_Atomic int64_t debt_ns[KINDS]; /* CPU time that no tick of an ended thread stood for */
	_Atomic uint64_t tick_ns;
	_Atomic uint32_t stretch;
} accounts = { .tick_ns = TICK_NS, .stretch = 1 };

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Context switches of the calling thread; -1 where they are unknown. */
static int64_t switches_now(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		return -1;
	return (int64_t)usage.ru_nvcsw + (int64_t)usage.ru_nivcsw;
}

/* Threads of a pool have one kind: their names differ in numbers only. */
static uint32_t kind_of(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++)
		if (*name < '0' || *name > '9')
			hash = lc_hash(hash ^ (unsigned char)*name);
	return (uint32_t)(hash % KINDS);
}

void lc_timer_account_init(void)
{
	struct timespec tick;

	/* The coarse clocks go on at the tick, so what they resolve is the tick. */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && !tick.tv_sec &&
	    tick.tv_nsec >= TICK_NS_MIN && tick.tv_nsec <= TICK_NS_MAX)
		atomic_store_explicit(&accounts.tick_ns, (uint64_t)tick.tv_nsec,
		                      memory_order_relaxed);
}

uint64_t lc_timer_account_tick_ns(void)
{
	return atomic_load_explicit(&accounts.tick_ns, memory_order_relaxed);
}

/*
 * The thread has run for `ran_ns` between two ticks. Most often that is one tick, so small steps
 * lead to its length, and a few stretches of several ticks do not lead far from it.
 */
static void measure_tick(uint64_t ran_ns, uint64_t tick_ns)
{
	const uint64_t step = tick_ns / TICK_STEPS;

	if (ran_ns > tick_ns + step && tick_ns < TICK_NS_MAX)
		tick_ns += step;
	else if (ran_ns + step < tick_ns && tick_ns > TICK_NS_MIN)
		tick_ns -= step;
	else
		return;
	atomic_store_explicit(&accounts.tick_ns, tick_ns, memory_order_relaxed);
}

/* The part of a debt, 1 / `parts`, that one tick pays. */
static int64_t instalment(int64_t debt_ns, int64_t parts, int64_t tick_ns)
{
	const int64_t part = debt_ns / parts;

	if (part > TICKS_AT_MOST * tick_ns)
		return TICKS_AT_MOST * tick_ns;
	return part < -tick_ns / 2 ? -tick_ns / 2 : part;
}

void lc_timer_account_stretch(uint32_t stretch)
{
	atomic_store_explicit(&accounts.stretch, stretch, memory_order_relaxed);
}

static uint32_t stretch_now(void)
{
	return atomic_load_explicit(&accounts.stretch, memory_order_relaxed);
}

/*
 * The stretch from this tick on. Stretches the rest of an interval before the tick's time is added,
 * which must not be stretched.
 */
static uint64_t take_stretch(struct lc_timer_account *a, uint64_t now_ns)
{
	const uint32_t before = a->stretch ? a->stretch : 1, stretch = stretch_now();

	if (stretch != before)
		a->credit_ns = a->credit_ns * stretch / before;
	if (stretch != before && a->point_ns > now_ns) {
		const uint64_t to_point_ns = (a->point_ns - now_ns) * stretch / before;

		a->cell_ns = now_ns + to_point_ns - (a->point_ns - a->cell_ns) * stretch / before;
		a->point_ns = now_ns + to_point_ns;
	}
	a->stretch = stretch;
	return stretch;
}

void lc_timer_account_begin(struct lc_timer_account *a, int32_t tid, const char *name,
                            uint64_t interval_ns, bool jitter)
{
	*a = (struct lc_timer_account){
		.begin_ns = clock_ns(lc_time_thread_clock(tid)),
		.interval_ns = interval_ns,
		.credit_ns = lc_time_random(interval_ns * stretch_now(), tid),
		.stretch = stretch_now(),
		.kind = kind_of(name),
	};
	if (jitter)
		lc_jitter_begin(&a->jitter, lc_jitter_seed(tid));
}

/*
 * The debt that a tick at `now_ns`, which stands for `amount_ns`, pays in addition. A thread that
 * has met many ticks settles by its own clock. On average the clock is half a tick ahead of the
 * ticks when one comes, and half a tick behind after it is counted.
 */
static int64_t settle(struct lc_timer_account *a, uint64_t now_ns, int64_t amount_ns,
                      int64_t tick_ns)
{
	int64_t part, used;

	if (a->ticks < TICKS_OF_ITS_OWN) {
		_Atomic int64_t *debt = &accounts.debt_ns[a->kind];

		part = instalment(atomic_load_explicit(debt, memory_order_relaxed), PAID_AT_ONCE,
		                  tick_ns);
		part = part < -amount_ns ? -amount_ns : part;
		atomic_fetch_sub_explicit(debt, part, memory_order_relaxed);
		return part;
	}
	used = (int64_t)(now_ns - a->begin_ns) + tick_ns / 2;
	part = instalment(used - a->paid_ns - amount_ns, PAID_OF_OWN, tick_ns);
	part = part < -amount_ns ? -amount_ns : part;
	a->paid_ns += part;
	return part;
}

static uint32_t count_of(uint64_t samples)
{
	return samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX;
}

/* -- points -------------------------------------------------------------------------------- */

/* So many intervals have one point, and so many samples a point is. */
static uint64_t intervals_of_point(const struct lc_timer_account *a)
{
	return (uint64_t)a->intervals * a->stretch;
}

/* Choose the point of the stretch of CPU time that begins at `cell_ns`. */
static void draw_point(struct lc_timer_account *a, uint64_t cell_ns, uint64_t mean_ns)
{
	a->cell_ns = cell_ns;
	a->point_ns = cell_ns + 1 + lc_jitter_below(&a->jitter, mean_ns);
}

/*
 * Begin with points. Points pay the time that the ticks so far have not paid. Drop the ticks'
 * credit: it began at random, so on average it was paid.
 */
static void begin_points(struct lc_timer_account *a, uint64_t now_ns)
{
	/* Without this, a short interval would bring more signals than ticks. */
	const uint64_t n = (lc_timer_account_tick_ns() + a->interval_ns / 2) / a->interval_ns;

	a->intervals = n ? (uint32_t)n : 1;
	a->debt_ns = (int64_t)(now_ns - a->begin_ns) - a->paid_ns;
	a->credit_ns = 0;
	draw_point(a, now_ns, intervals_of_point(a) * a->interval_ns);
}

uint32_t lc_timer_account_points(struct lc_timer_account *a, uint64_t now_ns)
{
	const uint64_t n = intervals_of_point(a), mean_ns = n * a->interval_ns;
	uint64_t points = 0;

	if (!a->point_ns || now_ns < a->point_ns)
		return 0;
	if ((now_ns - a->point_ns) / mean_ns > DRAWN_AT_MOST) {
		points = (now_ns - a->point_ns) / mean_ns - DRAWN_AT_MOST;
		a->cell_ns += points * mean_ns;
		a->point_ns += points * mean_ns;
	}
	for (; a->point_ns <= now_ns; points++)
		draw_point(a, a->cell_ns + mean_ns, mean_ns);
	/* A thread that waits often passes several points between two ticks: one sample for each is
	 * more observations than one for all. If ticks are missing, all points count here. */
	if (now_ns - a->tick_ns <= TICKS_MISSING * lc_timer_account_tick_ns()) {
		a->debt_ns += (int64_t)((points - 1) * mean_ns);
		points = 1;
	}
	return count_of(points * n);
}

static uint32_t tick_with_points(struct lc_timer_account *a, uint64_t now_ns)
{
	const uint32_t samples = lc_timer_account_points(a, now_ns);
	const int64_t part =
	    instalment(a->debt_ns, PAID_OF_OWN, (int64_t)lc_timer_account_tick_ns());

	take_stretch(a, now_ns);
	a->debt_ns -= part;
	a->cell_ns -= (uint64_t)part;
	a->point_ns -= (uint64_t)part;
	a->tick_ns = now_ns;
	return samples ? samples : lc_timer_account_points(a, now_ns);
}

uint64_t lc_timer_account_to_point(const struct lc_timer_account *a, uint64_t now_ns, bool tick)
{
	const uint64_t tick_ns = lc_timer_account_tick_ns();

	/* A tick that comes a little late must not find the point behind it. */
	if (a->point_ns <= now_ns || (tick && a->point_ns - now_ns > tick_ns + tick_ns / 4))
		return 0;
	return a->point_ns - now_ns;
}

/* -- ticks ----------------------------------------------------------------------------------- */

static uint32_t tick_alone(struct lc_timer_account *a, uint64_t now_ns, int64_t switches)
{
	const uint64_t tick_ns = lc_timer_account_tick_ns();
	const uint64_t ran_ns = a->ticks ? now_ns - a->tick_ns : 0;
	const uint64_t stretch = take_stretch(a, now_ns);
	int64_t amount_ns = (int64_t)tick_ns;
	uint64_t samples;

	if (a->ticks && switches >= 0 && switches == a->switches) {
		amount_ns = (int64_t)ran_ns;
		measure_tick(ran_ns, tick_ns);
	} else if (ran_ns > TICKS_MISSING * tick_ns) {
		/* The machine was paused. Charge the whole gap to the current position. */
		amount_ns = (int64_t)ran_ns;
	}
	a->credit_ns += (uint64_t)(amount_ns + settle(a, now_ns, amount_ns, (int64_t)tick_ns));
	a->paid_ns += amount_ns;
	a->tick_ns = now_ns;
	a->switches = switches;
	if (a->ticks < TICKS_OF_ITS_OWN)
		a->ticks++;
	samples = a->credit_ns / (a->interval_ns * stretch);
	a->credit_ns -= samples * a->interval_ns * stretch;
	if (a->ticks == TICKS_OF_ITS_OWN && a->jitter.state)
		begin_points(a, now_ns);
	return count_of(samples * stretch);
}

uint32_t lc_timer_account_tick_at(struct lc_timer_account *a, uint64_t now_ns, int64_t switches)
{
	return a->point_ns ? tick_with_points(a, now_ns) : tick_alone(a, now_ns, switches);
}

uint32_t lc_timer_account_tick(struct lc_timer_account *a)
{
	const int64_t switches = a->point_ns ? -1 : switches_now();

	return lc_timer_account_tick_at(a, clock_ns(CLOCK_THREAD_CPUTIME_ID), switches);
}

/* The part of `cpu_ns` that samples stand for: points that were not taken are missing. */
static int64_t paid_by_points(const struct lc_timer_account *a, uint64_t cpu_ns)
{
	const uint64_t now_ns = a->begin_ns + cpu_ns;
	const uint64_t mean_ns = intervals_of_point(a) * a->interval_ns;
	uint64_t untaken = 0;

	if (now_ns >= a->point_ns)
		untaken = 1 + (now_ns - a->point_ns) / mean_ns;
	return (int64_t)(cpu_ns - untaken * mean_ns) - a->debt_ns;
}

uint64_t lc_timer_account_end_at(struct lc_timer_account *a, uint64_t now_ns)
{
	const uint64_t cpu_ns = now_ns > a->begin_ns ? now_ns - a->begin_ns : 0;

	if (!a->begin_ns)
		return 0;
	if (a->point_ns)
		a->paid_ns = paid_by_points(a, cpu_ns);
	atomic_fetch_add_explicit(&accounts.debt_ns[a->kind], (int64_t)cpu_ns - a->paid_ns,
	                          memory_order_relaxed);
	a->begin_ns = 0;
	return cpu_ns;
}

uint64_t lc_timer_account_end(struct lc_timer_account *a, int32_t tid)
{
	uint64_t now_ns;

	if (!a->begin_ns)
		return 0; /* ended before; the thread may be gone */
	now_ns = clock_ns(lc_time_thread_clock(tid));
	return lc_timer_account_end_at(a, now_ns ? now_ns : a->tick_ns);
}

uint64_t lc_timer_account_cpu_ns(const struct lc_timer_account *a, int32_t tid)
{
	const uint64_t now_ns = clock_ns(lc_time_thread_clock(tid));

	return now_ns > a->begin_ns ? now_ns - a->begin_ns : 0;
}
