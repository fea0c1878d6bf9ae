/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/row_set.c - has the numbers of several rows of a ranking together. */
#include "analyzer/objects/analysis/row_set.h"

#include <math.h>

#include "src/base/order.h"

bool lc_row_set_has(const struct lc_rank_row *const *rows, size_t len,
                    const struct lc_rank_row *row)
{
	for (size_t i = 0; i < len; i++)
		if (rows[i] == row)
			return true;
	return false;
}

double lc_row_set_variance(const struct lc_ranking *r, const struct lc_rank_row *const *rows,
                           size_t len)
{
	double variance = 0;

	for (size_t i = 0; i < len; i++) {
		double in = 0, out = 0;
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen |= rows[k]->class == rows[i]->class;
		if (seen)
			continue;
		for (size_t k = 0; k < r->len; k++)
			if (r->rows[k].class == rows[i]->class)
				*(lc_row_set_has(rows, len, &r->rows[k]) ? &in : &out) +=
				    r->rows[k].variance;
		variance += fmin(in, out);
	}
	return variance;
}

void lc_row_set_share(const struct lc_ranking *r, const struct lc_rank_row *const *rows, size_t len,
                      double *share, double *low, double *high)
{
	struct lc_weighted sum = { 0 };

	for (size_t i = 0; i < len; i++) {
		sum.samples += rows[i]->samples;
		sum.pairs += rows[i]->pairs;
	}
	*share = lc_share(sum.samples, r->view->total);
	lc_rank_interval_of(r->view, sum, lc_row_set_variance(r, rows, len), low, high);
}
