/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/deal.h - deals a class's samples out to the lines that its objects come from.
 *
 * Each line gets whole samples. After each call, what a line has of all samples dealt out so far is
 * within one of its share of them. The last part is of what has no known line.
 */
#ifndef LC_OBJECTS_ANALYSIS_DEAL_H
#define LC_OBJECTS_ANALYSIS_DEAL_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/objects/analysis/view.h"

struct lc_deal_part {
	double share;
	uint64_t given; /* by all calls */
	uint64_t now;   /* by the last call */
};

struct lc_deal {
	struct lc_deal_part *parts; /* those of the split, and the rest */
	size_t len;
	uint64_t all; /* samples dealt out */
};

/* Free with lc_deal_end(). */
void lc_deal_begin(struct lc_deal *d, const struct lc_view_split *split);
void lc_deal_end(struct lc_deal *d);

void lc_deal(struct lc_deal *d, uint64_t samples);

#endif
