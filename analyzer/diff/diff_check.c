/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_check.c - evaluates the conditions of --fail-on for a diff. */
#include "analyzer/diff/diff_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/options.h"

/* ---- which rows ---- */

static bool fits(const char *pattern, const char *name)
{
	const char *last = strrchr(name, '.');

	return lc_options_match(pattern, name) || (last && lc_options_match(pattern, last + 1));
}

static bool place_fits(const struct lc_diff *d, const struct lc_diff_place *p, const char *pattern)
{
	const struct lc_tree *t;
	struct lc_text class;
	char *name, *with_field;
	bool found;

	if (!p->row)
		return false;
	t = &p->profile->tree;
	class = lc_tree_text(t, p->row->class);
	if (d->group == LC_GROUP_PACKAGE)
		class = lc_rank_package(class);
	name = lc_mem_text("%.*s", (int)class.len, class.bytes);
	found = fits(pattern, name);
	if (!found && d->group == LC_GROUP_FIELD && p->row->field_known) {
		const struct lc_text field = lc_tree_text(t, p->row->field);
		const char *last = strrchr(name, '.');

		with_field = lc_mem_text("%s.%.*s", name, (int)field.len, field.bytes);
		found = lc_options_match(pattern, with_field) ||
		        (last && lc_options_match(pattern, with_field + (last - name) + 1));
		free(with_field);
	}
	free(name);
	return found;
}

/* Sum of the rows that fit, whose numbers lc_diff_numbers() then has. Returns how many fit. */
static size_t sum_up(const struct lc_diff *d, const char *pattern, struct lc_diff_row *sum,
                     struct lc_diff_counts *counts)
{
	size_t found = 0;

	for (size_t i = 0; i < d->rows_len; i++) {
		if (!place_fits(d, &d->rows[i].side[LC_DIFF_BEFORE], pattern) &&
		    !place_fits(d, &d->rows[i].side[LC_DIFF_AFTER], pattern))
			continue;
		found++;
		lc_diff_add(d, counts, &d->rows[i]);
	}
	sum->counts = counts;
	lc_diff_numbers(d, sum);
	return found;
}

/* ---- which number ---- */

/* The sum of counted and estimated; a part that is unknown counts as 0. */
static struct lc_diff_number together(const struct lc_diff_number *counted,
                                      const struct lc_diff_number *estimated)
{
	struct lc_diff_number n = *counted;

	if (!estimated->known)
		return n;
	if (!counted->known)
		return *estimated;
	n.exact = false;
	n.estimate = n.tested = true;
	n.before += estimated->before;
	n.after += estimated->after;
	n.change += estimated->change;
	n.low =
	    n.change - hypot(counted->change - counted->low, estimated->change - estimated->low);
	n.high =
	    n.change + hypot(counted->high - counted->change, estimated->high - estimated->change);
	n.significant = n.low > 0 || n.high < 0;
	return n;
}

static struct lc_diff_number number_of(const struct lc_diff *d, const struct lc_diff_condition *c,
                                       const struct lc_diff_row *row)
{
	switch (c->metric) {
	case LC_DIFF_SHARE:
		return row->share;
	case LC_DIFF_CPU:
		return c->pattern ? row->cpu_ns : d->total_ns;
	case LC_DIFF_BYTES:
		return together(&row->bytes, &row->object_bytes);
	case LC_DIFF_ALLOCATIONS:
		return together(&row->allocations, &row->objects);
	case LC_DIFF_COUNTED_BYTES:
		return row->bytes;
	case LC_DIFF_OFFHEAP_BYTES:
		return row->offheap_bytes;
	case LC_DIFF_OFFHEAP_LIVE:
		return row->offheap_live;
	case LC_DIFF_LIVE:
		return row->live;
	default:
		return row->allocations;
	}
}

static double limit_of(const struct lc_diff_condition *c, const struct lc_diff_number *n)
{
	return c->relative ? c->limit * n->before : c->limit;
}

/* A single measurement (CPU time of one run per side) is taken as it is. */
static bool holds(const struct lc_diff_condition *c, const struct lc_diff_number *n)
{
	const double change = c->falls ? -n->change : n->change;
	const double least = c->falls ? -n->high : n->low;

	return change > limit_of(c, n) && (n->tested ? n->significant : least > 0);
}

/* Of a condition that does not hold: may the change be beyond the limit all the same? */
static bool undecided(const struct lc_diff_condition *c, const struct lc_diff_number *n)
{
	return n->tested && (c->falls ? -n->low : n->high) > limit_of(c, n);
}

static char *words_of(const struct lc_diff_condition *c, const struct lc_diff_number *n)
{
	switch (c->metric) {
	case LC_DIFF_SHARE:
		return lc_mem_text("%.1f%% to %.1f%% of the samples, %+.1f points (%+.1f to %+.1f)",
		                   100 * n->before, 100 * n->after, 100 * n->change, 100 * n->low,
		                   100 * n->high);
	case LC_DIFF_CPU:
		return lc_diff_time_words(n);
	default:
		return lc_diff_count_words(n, lc_diff_metric_is_bytes(c->metric));
	}
}

/* Write the text of a condition that cannot be decided, and what would decide it. */
static char *undecided_words(const struct lc_diff_condition *c, const struct lc_diff_number *n,
                             const char *words)
{
	const char *counted = c->metric == LC_DIFF_BYTES         ? "counted-bytes, or "
	                      : c->metric == LC_DIFF_ALLOCATIONS ? "counted-allocations, or "
	                                                         : "";

	if (c->metric == LC_DIFF_SHARE || c->metric == LC_DIFF_CPU || n->before <= 0)
		return lc_mem_text("%s; to decide it, record longer, or several profiles per side",
		                   words);
	return lc_mem_text(
	    "%s, 95%% interval %+.1f%% to %+.1f%%; to decide it, use %sseveral profiles per side",
	    words, 100 * n->low / n->before, 100 * n->high / n->before, counted);
}

void lc_diff_ask(const struct lc_diff *d, const struct lc_diff_condition *c,
                 struct lc_diff_outcome *out)
{
	struct lc_diff_counts *counts = lc_mem_zeroed(d->len, sizeof(*counts));
	struct lc_diff_row sum = d->all;
	struct lc_diff_number n;
	size_t found = 1;
	char *words, *more;

	if (c->pattern)
		found = sum_up(d, c->pattern, &sum, counts);
	n = number_of(d, c, &sum);
	out->known = found && n.known;
	out->holds = out->known && holds(c, &n);
	out->undecided = out->known && !out->holds && undecided(c, &n);
	if (!found) {
		out->text =
		    lc_mem_text("'%s': '%.200s' matches no row", out->condition, c->pattern);
	} else if (!n.known) {
		out->text = lc_mem_text("'%s': the two sides do not both have %s", out->condition,
		                        lc_diff_metric_name(c->metric));
	} else {
		words = words_of(c, &n);
		more = out->undecided ? undecided_words(c, &n, words) : NULL;
		out->text = lc_mem_text("'%s' %s: %s", out->condition,
		                        out->holds       ? "holds"
		                        : out->undecided ? "cannot be decided"
		                                         : "does not hold",
		                        more ? more : words);
		free(words);
		free(more);
	}
	free(counts);
}
