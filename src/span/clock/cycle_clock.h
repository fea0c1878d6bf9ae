/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/clock/cycle_clock.h - counts the cycles that a thread has run: reference cycles, without the
 * time off the CPU.
 *
 * If user code may read the PMU's counter of reference cycles (rdpmc), the counter is the clock.
 * Else the clock is the TSC less the time off the CPU, by the PERF_RECORD_SWITCH records of a dummy
 * event. One load of the record buffer's head tells that the thread was not switched. If the system
 * refuses perf, the time off the CPU comes from the thread's CPU clock every LC_CYCLES_COARSE_NS,
 * and the manifest says so.
 *
 * Differences of readings are signed: the two finer clocks can go back by the time of a context
 * switch, the coarse one by LC_CYCLES_COARSE_NS. Differences taken modulo 2^64 add up to the right
 * sum.
 */
#ifndef LC_SPAN_CLOCK_CYCLE_CLOCK_H
#define LC_SPAN_CLOCK_CYCLE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <x86intrin.h>

#define LC_CYCLES_COARSE_NS UINT64_C(1000000)

enum lc_cycles_kind {
	LC_CYCLES_RDPMC = 0,
	LC_CYCLES_TSC_SWITCHES,
	LC_CYCLES_TSC_COARSE,
	LC_CYCLES_KINDS
};

static inline const char *lc_cycles_name(unsigned kind)
{
	static const char *const names[LC_CYCLES_KINDS] = { "rdpmc", "tsc_switches", "tsc_coarse" };

	return kind < LC_CYCLES_KINDS ? names[kind] : "unknown";
}

/* One thread's clock. Read by its owner alone; the fields are the clock's own. */
struct lc_cycle_clock {
	const _Atomic uint64_t *head;   /* moves when the thread is switched out or in */
	uint64_t seen;                  /* its value when the records were last read */
	uint64_t off;                   /* to subtract from the counter (modulo 2^64) */
	uint64_t check;                 /* coarse: TSC at which to read the CPU clock; 0: young */
	uint32_t counter;               /* number for rdpmc, + 1; 0: the TSC is read */
	uint32_t shift;                 /* 64 less the counter's width in bits */
	uint64_t switches;              /* times switched out, at the last slow reading */
	struct lc_cycle_source *source; /* opaque, see cycle_clock.c */
};

/*
 * Choose the clock for this machine, and measure the TSC's rate (some 20 ms). `wanted` is
 * LC_CYCLES_KINDS for the best clock, else the finest one to choose. Returns 0 or -errno. Context:
 * [attach].
 */
int lc_cycles_init(unsigned wanted);
enum lc_cycles_kind lc_cycles_kind(void);
uint64_t lc_cycles_hz(void); /* cycles of the clock per second of CPU time */
/* The reason for a coarser clock; NULL: it is the best one. Context: [attach] [writer]. */
const char *lc_cycles_reason(void);

/*
 * TSC to CLOCK_MONOTONIC, and durations to and from cycles. The time of a TSC value changes a
 * little when the rate is refined. So subtract two times only if lc_cycles_refine() cannot run in
 * between. lc_cycles_tsc_between_ns() uses one rate, and returns 0 if `to` is not after `from`.
 * Context: any.
 */
uint64_t lc_cycles_tsc_to_ns(uint64_t tsc);
uint64_t lc_cycles_tsc_between_ns(uint64_t from, uint64_t to);
uint64_t lc_cycles_of_ns(uint64_t ns);

/*
 * Measure the rate again over the whole time since lc_cycles_init(), once a second. While the TSC
 * keeps its rate, a converted time changes by at most the 2 us that the two readings of a pair may
 * be apart, and by tens of nanoseconds in practice. If the rate has changed by more than a
 * hundredth, lc_cycles_reason() says so from then on. Does nothing before lc_cycles_init().
 * Context: [writer].
 */
void lc_cycles_refine(void);

/*
 * Open the clock of the calling thread. Without a buffer it is coarse, and counted as such. Returns
 * 0 or -ENOMEM. Context: [hook]; slow, once a thread.
 */
int lc_cycles_open(struct lc_cycle_clock *c);

/*
 * The same for a thread that may end soon: the kernel's buffer is opened only after some readings.
 * Until then a reading costs a system call, whose time the clock does not count.
 */
int lc_cycles_open_young(struct lc_cycle_clock *c);
/* Does nothing if it is not open. Context: [java] owner, or [writer] after its end. */
void lc_cycles_close(struct lc_cycle_clock *c);

/*
 * The current reading of thread `tid`'s clock, for another thread: by the CPU clock since the
 * thread read that last, or by its counter. The error is some thousandths of the time since the
 * thread was last switched. The result may lack the time since the thread read its clock. Returns
 * false if nothing can be read. The clock must not be closed meanwhile. Context: [writer].
 */
bool lc_cycles_of_other(const struct lc_cycle_clock *c, int32_t tid, uint64_t *out);

/* Slow path of lc_cycles_read(): the thread was switched, or a check is due. Context: [hook]. */
uint64_t lc_cycles_read_slowly(struct lc_cycle_clock *c, uint64_t *tsc);

static inline uint64_t lc_cycles_rdpmc(uint32_t counter)
{
	return __rdpmc((int)counter);
}

/* The page gives the counter's width; the counter may count up from below 0. */
static inline uint64_t lc_cycles_sign_extend(uint64_t count, uint32_t shift)
{
	return (uint64_t)((int64_t)(count << shift) >> shift);
}

/* lc_cycles_read() with the instruction given, since not every machine can execute it. */
static inline uint64_t lc_cycles_read_with(struct lc_cycle_clock *c, uint64_t *tsc,
                                           uint64_t (*rdpmc)(uint32_t counter))
{
	uint64_t now;

	*tsc = now = __rdtsc();
	if (__builtin_expect(c->counter, 0))
		now = lc_cycles_sign_extend(rdpmc(c->counter - 1), c->shift);
	atomic_signal_fence(memory_order_seq_cst); /* only switches of this thread matter */
	if (__builtin_expect(atomic_load_explicit(c->head, memory_order_relaxed) != c->seen ||
	                         *tsc >= c->check,
	                     0))
		return lc_cycles_read_slowly(c, tsc);
	return now - c->off;
}

/*
 * Cycles that the calling thread has run since some fixed point, and the TSC at that time. The
 * order matters: a switch after the counter's reading moves the head before the head is loaded, and
 * the slow path reads both again. Context: [hook], the owner only.
 */
static inline uint64_t lc_cycles_read(struct lc_cycle_clock *c, uint64_t *tsc)
{
	return lc_cycles_read_with(c, tsc, lc_cycles_rdpmc);
}

static inline uint64_t lc_cycles_now(struct lc_cycle_clock *c)
{
	uint64_t tsc;

	return lc_cycles_read(c, &tsc);
}

#endif
