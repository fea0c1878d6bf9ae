/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay/delay_cpu.h - measures the CPU time of threads, of the process and of one iteration of a
 * delay.
 */
#ifndef LC_DELAY_CPU_H
#define LC_DELAY_CPU_H

#include <stdint.h>

/*
 * The calling Java thread begins, or ends. A thread of the system may be a Java thread several
 * times in turn. Context: [java].
 */
void lc_delay_cpu_begin(void);
void lc_delay_cpu_end(void);

/* CPU time of all threads that have ended. Context: any. */
uint64_t lc_delay_cpu_ended_ns(void);

uint64_t lc_delay_cpu_process_ns(void);

/* The best of several loops like those of delay_rewrite.h, but in C; takes some milliseconds. */
double lc_delay_cpu_iteration_ns(void);

#endif
