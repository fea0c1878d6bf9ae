/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/footprint.c - counts how often cache lines were drawn, and estimates how many
 * there are.
 */
#include "analyzer/objects/analysis/footprint.h"

#include <math.h>

#include "analyzer/base/poisson.h"
#include "analyzer/base/table.h"

enum { SEEN_PART = 20 }; /* one draw in so many may be of a line drawn once */

void lc_footprint_estimate(struct lc_footprint *f)
{
	const double lines = (double)f->lines, once = (double)f->once, twice = (double)f->twice;
	const double pairs = once * (once - 1) / 2;

	f->estimate = f->low = f->high = lines;
	if (f->once * SEEN_PART <= f->drawn)
		return;
	f->estimate += pairs / (twice + 1);
	f->low += pairs / lc_poisson_high(twice);
	f->high += lc_poisson_low(twice) > 0 ? pairs / lc_poisson_low(twice) : INFINITY;
}

void lc_footprint_of(struct lc_footprint *f, const struct lc_tree *t, uint32_t engine)
{
	struct lc_table lines;

	*f = (struct lc_footprint){ .drawn = 0 };
	lc_table_init(&lines, 2, 1);
	for (uint32_t i = 0; i < t->cache_lines.count; i++) {
		const uint32_t *key = lc_table_key(&t->cache_lines, i);
		const uint64_t drawn = lc_table_values(&t->cache_lines, i)[LC_CACHED_DRAWN];
		uint32_t line;

		if (key[LC_CACHED_ENGINE] != engine)
			continue;
		line = lc_table_put(&lines, key + LC_CACHED_LINE);
		lc_table_values(&lines, line)[0] += drawn;
		f->drawn += drawn;
	}
	f->lines = lines.count;
	for (uint32_t line = 0; line < lines.count; line++) {
		const uint64_t drawn = lc_table_values(&lines, line)[0];

		f->once += drawn == 1;
		f->twice += drawn == 2;
	}
	lc_table_free(&lines);
	lc_footprint_estimate(f);
}
