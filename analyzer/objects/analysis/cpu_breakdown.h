/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/cpu_breakdown.h - breaks down the processes' CPU time.
 *
 * The parts are disjoint and add up to the whole. The program's part is the rest after the JVM's
 * own threads and Locus.
 */
#ifndef LC_OBJECTS_ANALYSIS_CPU_BREAKDOWN_H
#define LC_OBJECTS_ANALYSIS_CPU_BREAKDOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct lc_json;
struct lc_load;

struct lc_cpu_breakdown {
	uint64_t process_ns;
	uint64_t application_ns, gc_ns, jit_ns, jvm_ns, locus_ns; /* their sum is process_ns */
	uint64_t startup_ns;                                      /* part of locus_ns */
	uint64_t pauses, pauses_ns; /* of collections, wall-clock time */
};

/*
 * Returns false if a profile lacks the counters: then *b is all 0, and the functions below write
 * nothing.
 */
bool lc_cpu_breakdown_read(struct lc_cpu_breakdown *b, const struct lc_load *l);

enum lc_cpu_breakdown_form {
	LC_CPU_BREAKDOWN_FULL,
	LC_CPU_BREAKDOWN_BRIEF,  /* without Locus's start-up */
	LC_CPU_BREAKDOWN_NARROW, /* and without what its part does not include */
};

/* Write a line of the text report. */
void lc_cpu_breakdown_text(FILE *out, const struct lc_load *l, enum lc_cpu_breakdown_form form);

/* Write the member "bill". */
void lc_cpu_breakdown_json(struct lc_json *j, const struct lc_load *l);

#endif
