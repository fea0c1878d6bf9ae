/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/gc_model.h - divides the garbage collector's CPU time among the rows of a
 * ranking.
 *
 * A row's cost is a model, not a measurement. One model divides by allocated bytes, which decide
 * how often there is a collection. The other divides by the bytes that collections copied, which is
 * most of the work of a young collection. Both use counts or estimates, as the rows have them. If
 * hardly anything was copied, copying did not take the collector's time, and the second model gives
 * nothing.
 */
#ifndef LC_OBJECTS_ANALYSIS_GC_MODEL_H
#define LC_OBJECTS_ANALYSIS_GC_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/objects/analysis/ranking.h"

struct lc_gc_model {
	uint64_t cpu_ns, gc_ns; /* of all processes; 0: not known, or of other threads too */
	uint64_t collected; /* collections that could be followed; pauses that collected nothing are
	                       none */
	uint64_t incomplete;      /* collections that could not: what outlived these is not known */
	double allocated, copied; /* bytes of all rows */
	bool by_copies;           /* enough was copied for the second model */
};

/* From what the ranking's profiles tell. A filter of threads or frames leaves nothing to tell. */
void lc_gc_model_build(struct lc_gc_model *m, const struct lc_ranking *rank);

double lc_gc_model_bytes(const struct lc_rank_row *row); /* allocated by the row */
/* For qsort() of pointers to rows of a ranking: most bytes first, then as the ranking has them. */
int lc_gc_model_order_bytes(const void *a, const void *b);
double lc_gc_model_copied(const struct lc_rank_row *row); /* of the row, by collections */

/* CPU time of the collector, in ns, that the model of either kind gives to the row. */
double lc_gc_model_by_allocation(const struct lc_gc_model *m, const struct lc_rank_row *row);
double lc_gc_model_by_copies(const struct lc_gc_model *m, const struct lc_rank_row *row);

#endif
