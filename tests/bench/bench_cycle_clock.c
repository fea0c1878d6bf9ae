/* uses: src/span/clock/cycle_clock.c src/span/clock/cycle_clock_other.c src/span/clock/cycle_clock_rate.c src/span/clock/cycle_clock_records.c src/perf/ring.c src/perf/perf.c src/base/file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cycle_clock.c - measures the cycles that reading each cycle clock takes, and those of its
 * parts.
 *
 * Each line is the best of several runs, since other work on the machine only adds. Two readings
 * wait for each other, as begin and end of a span do.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/span/clock/cycle_clock_impl.h"

enum { READS = 1000000, SLOW_READS = 2000, REPEATS = 15 };

static volatile uint64_t sink;

static void report(const char *what, uint64_t cycles, uint64_t n)
{
	printf("  %-58s %8.2f cycles\n", what, (double)cycles / (double)n);
}

static uint64_t tsc_only(void)
{
	uint64_t begin = __rdtsc(), sum = 0;

	for (unsigned i = 0; i < READS; i++)
		sum += __rdtsc();
	sink = sum;
	return __rdtsc() - begin;
}

static uint64_t readings(struct lc_cycle_clock *c)
{
	uint64_t begin = __rdtsc(), sum = 0;

	for (unsigned i = 0; i < READS; i++) {
		sum += lc_cycles_now(c);
		__asm__ volatile("" ::: "memory"); /* the fields are loaded each time */
	}
	sink = sum;
	return __rdtsc() - begin;
}

/* The slow path, entered as if there were news: there are none, so it is all but the records. */
static uint64_t slow_readings(struct lc_cycle_clock *c)
{
	uint64_t begin = __rdtsc(), sum = 0, tsc;

	for (unsigned i = 0; i < SLOW_READS; i++)
		sum += lc_cycles_read_slowly(c, &tsc);
	sink = sum;
	return __rdtsc() - begin;
}

/*
 * A page that never changes, and the TSC in place of the counter: all of the fast path but rdpmc.
 */
static struct perf_event_mmap_page page = { .cap_user_rdpmc = 1, .pmc_width = 64, .index = 1 };

static uint64_t instead(uint32_t counter)
{
	return __rdtsc();
}

static uint64_t page_readings(struct lc_cycle_clock *c)
{
	uint64_t begin = __rdtsc(), sum = 0, tsc;

	for (unsigned i = 0; i < READS; i++) {
		sum += lc_cycles_read_with(c, &tsc, instead);
		__asm__ volatile("" ::: "memory");
	}
	sink = sum;
	return __rdtsc() - begin;
}

static uint64_t best(uint64_t (*run)(struct lc_cycle_clock *c), struct lc_cycle_clock *c)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < REPEATS; i++) {
		uint64_t cycles = run ? run(c) : tsc_only();

		least = cycles < least ? cycles : least;
	}
	return least;
}

/* The rest of a switch is the kernel's. */
static void bench_records(void)
{
	struct {
		struct perf_event_header header;
		uint64_t ns;
	} records[256];
	struct lc_cycles_switches s = { 0 };
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 256; i++) {
		records[i].header = (struct perf_event_header){
			.type = PERF_RECORD_SWITCH,
			.misc = i % 2 ? 0 : PERF_RECORD_MISC_SWITCH_OUT,
			.size = 16,
		};
		records[i].ns = i * 100;
	}
	for (unsigned r = 0; r < REPEATS; r++) {
		uint64_t begin = __rdtsc();

		lc_cycles_switches_read((const uint8_t *)records, sizeof(records), 0,
		                        sizeof(records), &s);
		least = __rdtsc() - begin < least ? __rdtsc() - begin : least;
	}
	sink = s.off_ns;
	report("records of a switch out and in, decoded", least, 128);
}

int main(void)
{
	struct lc_cycle_clock c;

	printf("bench_clock: the cycle clock of spans\n");
	report("rdtsc", best(NULL, NULL), READS);
	for (unsigned kind = 0; kind < LC_CYCLES_KINDS; kind++) {
		char what[64];

		if (lc_cycles_init(kind) || lc_cycles_kind() != kind) {
			printf("  %-58s  not here\n", lc_cycles_name(kind));
			continue;
		}
		if (lc_cycles_open(&c))
			return 1;
		snprintf(what, sizeof(what), "%s, a reading", lc_cycles_name(kind));
		report(what, best(readings, &c), READS);
		snprintf(what, sizeof(what), "%s, its slow path", lc_cycles_name(kind));
		report(what, best(slow_readings, &c), SLOW_READS);
		lc_cycles_close(&c);
	}
	if (lc_cycles_open_page(&c, &page, instead))
		return 1;
	report("rdpmc with rdtsc in its place, a reading", best(page_readings, &c), READS);
	lc_cycles_close(&c);
	bench_records();
	return 0;
}
