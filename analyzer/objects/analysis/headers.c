/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/headers.c - counts for each class the samples in headers, and those elsewhere.
 */
#include "analyzer/objects/analysis/headers.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/touch.h"

/* Samples of each class, by string, of which the field is known. The caller frees the array. */
static struct lc_weighted *known_of(const struct lc_view *v)
{
	const struct lc_table *groups = &v->field_groups;
	struct lc_weighted *known = lc_mem_zeroed(v->tree->strings.count, sizeof(*known));

	for (uint32_t g = 0; g < groups->count; g++) {
		const uint64_t *range = lc_table_values(groups, g);
		const uint32_t *key = lc_table_key(groups, g);
		const uint32_t class = lc_table_key(&v->tree->sites, key[1])[LC_SITE_CLASS];

		for (uint64_t i = range[0]; key[2] == LC_VIEW_ALL_PATHS && i < range[0] + range[1];
		     i++)
			known[class] =
			    lc_wilson_sum(known[class], (struct lc_weighted){ v->fields[i].samples,
			                                                      v->fields[i].pairs });
	}
	return known;
}

struct lc_header_class *lc_headers_of(const struct lc_view *v, size_t *len)
{
	struct lc_touch_class *classes = lc_touch_headers(v, len);
	struct lc_weighted *known = known_of(v);
	struct lc_header_class *out = lc_mem_zeroed(*len, sizeof(*out));

	for (size_t i = 0; i < *len; i++) {
		struct lc_header_class *h = &out[i];

		h->class = classes[i].class;
		h->samples = classes[i].samples;
		h->known = known[h->class].samples;
		lc_rank_interval((struct lc_weighted){ h->samples, classes[i].pairs },
		                 known[h->class], &h->low, &h->high);
		h->only =
		    lc_wilson_effective(known[h->class]) >= LC_TOUCH_SAMPLES_MIN && h->low > 0.5;
	}
	free(known);
	free(classes);
	return out;
}

double lc_headers_size(const struct lc_view *v, uint32_t class)
{
	double objects = 0, bytes = 0;

	for (size_t i = 0; i < v->sites_len; i++)
		if (lc_table_key(&v->tree->sites, v->sites[i].site)[LC_SITE_CLASS] == class) {
			objects += (double)v->sites[i].allocations;
			bytes += (double)v->sites[i].bytes;
		}
	for (size_t i = 0; i < v->estimates_len; i++)
		if (lc_table_key(&v->tree->sites, v->estimates[i].site)[LC_SITE_CLASS] == class) {
			objects += v->estimates[i].objects;
			bytes += v->estimates[i].bytes;
		}
	return objects >= 1 ? bytes / objects : 0;
}
