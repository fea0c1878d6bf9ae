/* SPDX-License-Identifier: Apache-2.0 */
/* out/own.h - writes the costs of Locus itself for the head of a report. */
#ifndef LC_OUT_OWN_H
#define LC_OUT_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct lc_json;
struct lc_load;

/* Costs of Locus that it cannot measure. Every figure of its CPU time names them. */
#define LC_OWN_NOT_INCLUDED "signal delivery, compiled hooks and JIT effects"

/* Shares of the CPU time of all processes. */
struct lc_own {
	/* Without the start-up; `hooks` has the JVM's walks for them. */
	double total, hooks, samples, events, thread, pauses;
	uint64_t startup_ns;
	uint64_t memory_bytes; /* held at the end, added up over processes; 0: not known */
	uint64_t over_budget; /* stretches of ten seconds in which counts and the like alone were */
	uint64_t changes;     /* of the samples' intervals, by the budget */
};

/* False where the profiles do not tell. */
bool lc_own_read(const struct lc_load *l, struct lc_own *out);

/* The line of a report for a terminal; nothing where the profiles do not tell. */
void lc_own_text(FILE *out, const struct lc_load *l);

/* The member "locus_itself", likewise. */
void lc_own_json(struct lc_json *j, const struct lc_load *l);

#endif
