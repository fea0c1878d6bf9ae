/* SPDX-License-Identifier: Apache-2.0 */
/* span/clock/cycle_clock_impl.h - declares what the cycle clock's files and tests share. */
#ifndef LC_SPAN_CLOCK_CYCLE_CLOCK_IMPL_H
#define LC_SPAN_CLOCK_CYCLE_CLOCK_IMPL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/span/clock/cycle_clock.h"

/* One moment on two clocks. */
struct lc_cycles_pair {
	uint64_t tsc;
	uint64_t ns;    /* CLOCK_MONOTONIC */
	uint64_t width; /* cycles that both readings took: they are at most half of this apart */
};

/* Measure the TSC's rate (cycle_clock_rate.c). Returns 0 or -errno. Context: [attach]. */
int lc_cycles_rate_init(void);
/* The same with two pairs that the caller has read. Context: [attach], tests. */
int lc_cycles_rate_set(const struct lc_cycles_pair *first, const struct lc_cycles_pair *second);
/*
 * lc_cycles_refine() with a pair that the caller has read. Returns whether the pair is used. A pair
 * whose readings are more than 2 us apart (unless the first pair's are further) is not: converted
 * times would jump. Context: [writer], tests.
 */
bool lc_cycles_rate_refine(const struct lc_cycles_pair *now);
bool lc_cycles_tsc_invariant(void); /* the CPU promises a constant rate */
uint64_t lc_cycles_tsc_hz(void);
bool lc_cycles_rate_unstable(void); /* by more than a hundredth */

/* A counter's data in a perf_event_mmap_page. */
struct lc_cycles_page {
	uint64_t word;    /* lock and index: the rest is valid until it changes */
	uint64_t offset;  /* to add to the counter */
	uint64_t count;   /* the event's count */
	uint32_t counter; /* like in lc_cycle_clock; 0: the event is on no counter */
	uint32_t shift;
};

/*
 * Read the page by the kernel's protocol: again, until nothing has changed. Returns false, *out
 * untouched, if user code may not read the counter. Pure but for `rdpmc`. Context: [hook].
 */
bool lc_cycles_page_read(const struct perf_event_mmap_page *page, uint64_t (*rdpmc)(uint32_t),
                         struct lc_cycles_page *out);
/* The word alone, as one number to compare. */
const _Atomic uint64_t *lc_cycles_page_word(const struct perf_event_mmap_page *page);

/*
 * Open a clock on the caller's page, with the given instruction: for machines without the counter.
 * Returns 0, -ENOMEM, or -EOPNOTSUPP with a clock to close. Context: tests.
 */
int lc_cycles_open_page(struct lc_cycle_clock *c, struct perf_event_mmap_page *page,
                        uint64_t (*rdpmc)(uint32_t));

/* The state of reading switch records. */
struct lc_cycles_switches {
	uint64_t out_ns; /* time at which the thread was switched out; 0: it runs */
	uint64_t off_ns; /* sum of the complete times off the CPU */
	uint64_t outs;
};

/*
 * The inside of a clock. Its owner's, but another thread may read the kind, base, fd and
 * checkpoint. Order: C1 a checkpoint's cpu_ns is stored before its value (release) -> the value is
 * loaded (acquire) before cpu_ns: a mix of two checkpoints gives too little. C2 the checkpoint of a
 * clock that becomes coarse is stored before its kind (release) -> the kind is loaded (acquire).
 */
struct lc_cycle_source {
	_Atomic enum lc_cycles_kind kind;
	int fd;    /* rdpmc: the event; else -1 */
	void *map; /* perf_event_mmap_page, then DATA_PAGES but for rdpmc; NULL */
	size_t map_bytes;
	uint64_t base; /* rdpmc: count at which the clock was 0 */
	uint64_t (*rdpmc)(uint32_t);
	struct lc_cycles_switches switches;
	uint64_t rusage_switches; /* count of getrusage() at the beginning */
	uint64_t young_cost;      /* time of a young clock's readings since its checkpoint */
	uint32_t young_readings;
	/* Checkpoint. */
	_Atomic uint64_t cpu_ns, cpu_value;
	uint64_t cpu_tsc;
};

/*
 * Read a ring of PERF_RECORD_SWITCH records, LC_CYCLES_RECORD_BYTES each, from count `from` to `to`
 * of its bytes, both within one size of the ring. Pure. Context: [hook].
 */
enum { LC_CYCLES_RECORD_BYTES = 16 };
void lc_cycles_switches_read(const uint8_t *data, uint64_t size, uint64_t from, uint64_t to,
                             struct lc_cycles_switches *s);

#endif
