/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay/delay_cpu.c - reads the CPU clocks of threads that end.
 *
 * The clock of a thread of the system goes on where it is a Java thread once more, as the main
 * thread is when it waits for the program's end. So what an end has added is taken back at the next
 * begin. The sum is a sum: its atomics order nothing.
 */
#include "src/delay/delay_cpu.h"

#include <stdatomic.h>
#include <time.h>

#include "src/delay/delay_rewrite.h"

enum { TRIES = 7, ITERATIONS = 1000000 };

static _Atomic uint64_t ended_ns;
static __thread uint64_t added_ns; /* by the thread's last end */

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void lc_delay_cpu_begin(void)
{
	if (added_ns)
		atomic_fetch_sub_explicit(&ended_ns, added_ns, memory_order_relaxed);
	added_ns = 0;
}

void lc_delay_cpu_end(void)
{
	lc_delay_cpu_begin();
	added_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
	atomic_fetch_add_explicit(&ended_ns, added_ns, memory_order_relaxed);
}

uint64_t lc_delay_cpu_ended_ns(void)
{
	return atomic_load_explicit(&ended_ns, memory_order_relaxed);
}

uint64_t lc_delay_cpu_process_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

double lc_delay_cpu_iteration_ns(void)
{
	uint64_t best = UINT64_MAX, x = 0;

	for (int t = 0; t < TRIES; t++) {
		const uint64_t begin = read_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t ns;

		for (int i = 0; i < ITERATIONS; i++) {
			x = x * LC_DELAY_MULTIPLIER ^ LC_DELAY_INCREMENT;
			__asm__ volatile("" : "+r"(x)); /* one step after the other */
		}
		ns = read_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
		if (ns < best)
			best = ns;
	}
	return (double)best / ITERATIONS;
}
