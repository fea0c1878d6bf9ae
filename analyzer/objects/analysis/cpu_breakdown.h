/*
 * objects/analysis/cpu_breakdown.h - adds up what the processes' CPU time went into.
 *
 * The parts are disjoint and add up to the whole. The program's part is what is left of the whole
 * when the JVM's own threads and Locus are taken out.
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
	uint64_t startup_ns;                                      /* of locus_ns */
	uint64_t pauses, pauses_ns; /* of collections, on the clock on the wall */
};

/* False where a profile does not tell; then *b is all 0, and the rest says nothing of it. */
bool lc_cpu_breakdown_read(struct lc_cpu_breakdown *b, const struct lc_load *l);

/* A line of a report for a terminal, `brief` or whole; nothing where the profiles do not tell. */
void lc_cpu_breakdown_text(FILE *out, const struct lc_load *l, bool brief);

/* The member "bill", likewise. */
void lc_cpu_breakdown_json(struct lc_json *j, const struct lc_load *l);

#endif
