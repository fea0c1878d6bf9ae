/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/deal.c - deals a class's samples out to the lines that its objects come from. */
#include "analyzer/objects/analysis/deal.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"

void lc_deal_begin(struct lc_deal *d, const struct lc_view_split *split)
{
	d->len = split->parts_len + 1;
	d->parts = lc_mem_zeroed(d->len, sizeof(*d->parts));
	d->all = 0;
	for (size_t i = 0; i < split->parts_len; i++)
		d->parts[i].share = split->parts[i].share;
	d->parts[split->parts_len].share = split->rest;
}

void lc_deal_end(struct lc_deal *d)
{
	free(d->parts);
}

static double owed(const struct lc_deal *d, const struct lc_deal_part *part)
{
	return part->share * (double)d->all - (double)part->given;
}

static void give(struct lc_deal_part *part, uint64_t samples)
{
	part->now += samples;
	part->given += samples;
}

void lc_deal(struct lc_deal *d, uint64_t samples)
{
	uint64_t left = samples;

	d->all += samples;
	for (size_t i = 0; i < d->len; i++) {
		const double whole = owed(d, &d->parts[i]);
		const uint64_t n = whole < 1 ? 0 : (uint64_t)whole;

		d->parts[i].now = 0;
		give(&d->parts[i], n < left ? n : left);
		left -= d->parts[i].now;
	}
	for (; left; left--) {
		struct lc_deal_part *most = d->parts;

		for (size_t i = 1; i < d->len; i++)
			if (owed(d, &d->parts[i]) > owed(d, most))
				most = &d->parts[i];
		give(most, 1);
	}
}
