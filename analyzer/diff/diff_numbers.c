/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff/diff_numbers.c - computes each number of a diff with the interval of its change, and decides
 * which changes are beyond noise.
 *
 * Intervals are 95% intervals. Many rows give many chances to be wrong, so the error of 5% is
 * divided among all compared rows and their sum (Bonferroni). In nineteen of twenty comparisons of
 * two runs of one program, no row is called significant.
 *
 * One run per side does not show how much runs differ. Verdicts then assume a design effect of
 * LONE_DESIGN, which is more than most rows of most programs have (docs/design/compare.md). The
 * intervals are those of sampling alone.
 *
 * If the allocating line is an estimate, two runs may divide a class's samples among its lines
 * differently. The change of such a row is significant only if its whole class changed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/diff/diff.h"
#include "analyzer/diff/diff_math.h"
#include "analyzer/objects/analysis/offheap.h"
#include "src/base/order.h"

#define ALPHA 0.05
#define LONE_DESIGN 3.0

/* ---- from counts to the numbers that are compared ---- */

/* The runs of a row, or its values: in the order of the profiles, without those that say nothing.
 */
struct scratch {
	struct lc_diff_run *runs;
	struct lc_diff_value *values;
};

/*
 * The excess variance of a row's hits over that of hits with mean weight, in the unit of
 * lc_diff_run.
 */
static double heavy_variance(const struct lc_diff_profile *p, const struct lc_diff_counts *c)
{
	const struct lc_weighted all = lc_view_all(&p->view), row = { c->samples, c->pairs };
	const double n = lc_wilson_effective(all), fewer = lc_wilson_independent(row, all);
	const double share = lc_share(c->samples, p->samples);

	return fewer > 0 && fewer < n ? share * (1 - share) * (1 / fewer - 1 / n) * n * n : 0;
}

static bool take_runs(const struct lc_diff *d, const struct lc_diff_counts *counts, bool cpu,
                      struct scratch *s, struct lc_diff_runs *out)
{
	size_t used = 0;

	*out = (struct lc_diff_runs){ .len = { 0 } };
	for (size_t i = 0; i < d->len; i++) {
		const struct lc_diff_profile *p = &d->profiles[i];
		const double independent = lc_wilson_effective(lc_view_all(&p->view));
		const double each = p->samples ? independent / (double)p->samples : 0;

		if (!d->engine || !p->samples || (cpu && p->cpu_ns <= 0))
			continue;
		if (!out->len[p->which]++)
			out->runs[p->which] = s->runs + used;
		s->runs[used++] = (struct lc_diff_run){
			.hits = each * (double)counts[i].samples,
			.total = independent,
			.variance =
			    each * each * counts[i].variance + heavy_variance(p, &counts[i]),
			.cost = cpu ? p->cpu_ns : 1,
		};
	}
	return out->len[LC_DIFF_BEFORE] && out->len[LC_DIFF_AFTER];
}

static void compare_shares(const struct lc_diff *d, const struct lc_diff_counts *counts, bool cpu,
                           double alpha, struct scratch *s, struct lc_diff_number *out)
{
	struct lc_diff_runs runs;
	struct lc_diff_estimate e, strict;

	*out = (struct lc_diff_number){ .known = take_runs(d, counts, cpu, s, &runs),
		                        .estimate = true };
	if (!out->known)
		return;
	e = lc_diff_shares(&runs, 1, ALPHA);
	strict = lc_diff_shares(&runs, LONE_DESIGN, alpha);
	out->before = lc_diff_side_share(runs.runs[0], runs.len[0], 1, ALPHA).value;
	out->after = lc_diff_side_share(runs.runs[1], runs.len[1], 1, ALPHA).value;
	out->change = e.value;
	out->low = e.low;
	out->high = e.high;
	/* One run each has the CPU time that it has: how far the next differs is not known. */
	out->tested = !cpu || runs.len[0] + runs.len[1] > 2;
	out->significant = out->tested && (strict.low > 0 || strict.high < 0);
}

enum value {
	ALLOCATIONS,
	BYTES,
	OFFHEAP_BYTES,
	OFFHEAP_LIVE,
	COUNTED = OFFHEAP_LIVE,
	OBJECTS,
	OBJECT_BYTES,
	LIVE, /* counted and estimated */
	TOTAL_NS
};

static struct lc_diff_value value_of(const struct lc_diff_profile *p,
                                     const struct lc_diff_counts *c, enum value which)
{
	switch (which) {
	case ALLOCATIONS:
		return (struct lc_diff_value){ (double)c->allocations, 0 };
	case BYTES:
		return (struct lc_diff_value){ (double)c->bytes, 0 };
	case OFFHEAP_BYTES:
		return (struct lc_diff_value){ (double)c->offheap.allocated_bytes, 0 };
	case OFFHEAP_LIVE:
		return (struct lc_diff_value){ (double)lc_offheap_live_bytes(&c->offheap), 0 };
	case OBJECTS:
		return (struct lc_diff_value){ c->objects, c->objects_variance };
	case OBJECT_BYTES:
		return (struct lc_diff_value){ c->object_bytes, c->object_bytes_variance };
	case LIVE:
		return (struct lc_diff_value){ c->live, c->live_variance };
	default:
		return (struct lc_diff_value){ p->cpu_ns, 0 };
	}
}

static void compare_values(const struct lc_diff *d, const struct lc_diff_counts *counts,
                           enum value which, double alpha, struct scratch *s,
                           struct lc_diff_number *out)
{
	struct lc_diff_values v = { .len = { d->sides[0], d->sides[1] } };
	struct lc_diff_estimate e, strict;
	const bool objects = which == ALLOCATIONS || which == BYTES;
	const bool offheap = which == OFFHEAP_BYTES || which == OFFHEAP_LIVE;
	bool spread = false, sampled = which == OBJECTS || which == OBJECT_BYTES, told = true;
	bool exact = which <= COUNTED || which == LIVE;

	*out = (struct lc_diff_number){ .known = false };
	v.values[LC_DIFF_BEFORE] = s->values;
	v.values[LC_DIFF_AFTER] = s->values + d->sides[LC_DIFF_BEFORE];
	for (size_t i = 0; i < d->len; i++) {
		const enum lc_diff_which side = d->profiles[i].which;

		s->values[i] = value_of(&d->profiles[i], &counts[i], which);
		out->known |= offheap ? lc_offheap_any(&counts[i].offheap) : s->values[i].value > 0;
		spread |= objects && exact && counts[i].spread;
		/* Means of unequal counts are no counts. */
		exact &= s->values[i].value == v.values[side]->value;
		sampled |= which == LIVE && counts[i].live_variance > 0;
		told &= which != LIVE || d->profiles[i].live;
	}
	out->known &= told;
	if (!out->known)
		return;
	e = lc_diff_means(&v, ALPHA);
	strict = lc_diff_means(&v, alpha);
	out->estimate = spread || sampled;
	out->exact = exact && !spread && !sampled;
	out->before = lc_diff_side_mean(v.values[0], v.len[0], ALPHA).value;
	out->after = lc_diff_side_mean(v.values[1], v.len[1], ALPHA).value;
	out->change = e.value;
	out->low = e.low;
	out->high = e.high;
	out->tested = which == TOTAL_NS ? d->repeated : !spread;
	out->significant = out->tested && (strict.low > 0 || strict.high < 0);
}

static void compare(const struct lc_diff *d, struct lc_diff_row *row, double share_alpha,
                    double value_alpha)
{
	struct scratch s = { .runs = lc_mem_zeroed(d->len, sizeof(*s.runs)),
		             .values = lc_mem_zeroed(d->len, sizeof(*s.values)) };

	compare_shares(d, row->counts, false, share_alpha, &s, &row->share);
	compare_shares(d, row->counts, true, share_alpha, &s, &row->cpu_ns);
	compare_values(d, row->counts, ALLOCATIONS, value_alpha, &s, &row->allocations);
	compare_values(d, row->counts, BYTES, value_alpha, &s, &row->bytes);
	compare_values(d, row->counts, OFFHEAP_BYTES, value_alpha, &s, &row->offheap_bytes);
	compare_values(d, row->counts, OFFHEAP_LIVE, value_alpha, &s, &row->offheap_live);
	compare_values(d, row->counts, OBJECTS, value_alpha, &s, &row->objects);
	compare_values(d, row->counts, OBJECT_BYTES, value_alpha, &s, &row->object_bytes);
	compare_values(d, row->counts, LIVE, value_alpha, &s, &row->live);
	free(s.runs);
	free(s.values);
}

void lc_diff_numbers(const struct lc_diff *d, struct lc_diff_row *row)
{
	compare(d, row, ALPHA, ALPHA);
}

/* ---- all rows ---- */

/* Are there enough observations of a row in a side? */
static bool is_seen(const struct lc_diff *d, const struct lc_diff_row *row,
                    enum lc_diff_which which)
{
	struct lc_weighted sum = { 0 };

	for (size_t i = 0; i < d->len; i++)
		if (d->profiles[i].which == which)
			sum = lc_wilson_sum(sum, (struct lc_weighted){ row->counts[i].samples,
			                                               row->counts[i].pairs });
	return lc_wilson_effective(sum) >= LC_RANK_SAMPLES_MIN;
}

static bool is_estimated(const struct lc_diff *d, const struct lc_diff_row *row)
{
	for (size_t i = 0; i < d->len; i++)
		if (row->counts[i].objects > 0)
			return true;
	return false;
}

/* The class of each sample is known; only its line may be an estimate, so the sum is none. */
static void sum_up(struct lc_diff *d, double alpha)
{
	struct lc_diff_counts *all = lc_arena_zeroed(&d->arena, d->len, sizeof(*all));

	for (size_t i = 0; i < d->rows_len; i++)
		lc_diff_add(d, all, &d->rows[i]);
	d->all.counts = all;
	compare(d, &d->all, alpha, ALPHA);
}

static struct lc_text class_of(const struct lc_diff_row *row)
{
	const struct lc_diff_place *p =
	    &row->side[row->side[LC_DIFF_AFTER].row ? LC_DIFF_AFTER : LC_DIFF_BEFORE];

	return lc_tree_text(&p->profile->tree, p->row->class);
}

/* Are there samples of which it is not known for certain that they are of this row's line? */
static bool is_line_estimated(const struct lc_diff *d, const struct lc_diff_row *row)
{
	if (!lc_rank_by_allocation(d->group))
		return false;
	for (unsigned i = 0; i < LC_DIFF_SIDES; i++)
		if (row->side[i].row && (row->side[i].row->estimated || !row->side[i].row->path))
			return true;
	return false;
}

/* Did the sum of all rows of the row's class change significantly, in the same direction? */
static bool class_changed(const struct lc_diff *d, const struct lc_diff_row *row, double alpha)
{
	struct lc_diff_counts *counts = lc_mem_zeroed(d->len, sizeof(*counts));
	const struct lc_text class = class_of(row);
	struct lc_diff_row sum = { .counts = counts };

	for (size_t i = 0; i < d->rows_len; i++) {
		const struct lc_text other = class_of(&d->rows[i]);

		if (other.len == class.len && !memcmp(other.bytes, class.bytes, class.len))
			lc_diff_add(d, counts, &d->rows[i]);
	}
	compare(d, &sum, alpha, alpha);
	free(counts);
	return sum.share.significant && (sum.share.change > 0) == (row->share.change > 0);
}

void lc_diff_add(const struct lc_diff *d, struct lc_diff_counts *sum, const struct lc_diff_row *row)
{
	for (size_t i = 0; i < d->len; i++) {
		sum[i].samples += row->counts[i].samples;
		sum[i].pairs += row->counts[i].pairs;
		sum[i].allocations += row->counts[i].allocations;
		sum[i].bytes += row->counts[i].bytes;
		sum[i].objects += row->counts[i].objects;
		sum[i].objects_variance += row->counts[i].objects_variance;
		sum[i].object_bytes += row->counts[i].object_bytes;
		sum[i].object_bytes_variance += row->counts[i].object_bytes_variance;
		lc_offheap_add(&sum[i].offheap, &row->counts[i].offheap);
		sum[i].live += row->counts[i].live;
		sum[i].live_variance += row->counts[i].live_variance;
	}
}

static void sum_time(struct lc_diff *d)
{
	struct scratch s = { .values = lc_mem_zeroed(d->len, sizeof(*s.values)) };

	if (d->engine)
		compare_values(d, d->all.counts, TOTAL_NS, ALPHA, &s, &d->total_ns);
	free(s.values);
}

void lc_diff_judge(struct lc_diff *d)
{
	size_t estimated = 0;
	double alpha;

	for (size_t i = 0; i < d->rows_len; i++) {
		struct lc_diff_row *row = &d->rows[i];

		row->rest = !d->engine ||
		            (!is_seen(d, row, LC_DIFF_BEFORE) && !is_seen(d, row, LC_DIFF_AFTER));
		d->compared += !row->rest;
		estimated += is_estimated(d, row);
	}
	alpha = ALPHA / (double)(d->compared + 1);
	for (size_t i = 0; i < d->rows_len; i++) {
		struct lc_diff_row *row = &d->rows[i];

		compare(d, row, alpha, ALPHA / (double)(estimated ? estimated : 1));
		if (row->rest)
			row->share.tested = row->cpu_ns.tested = false;
		row->share.significant &= row->share.tested;
		row->cpu_ns.significant &= row->cpu_ns.tested;
		if (row->share.significant && is_line_estimated(d, row))
			row->share.significant = class_changed(d, row, alpha);
	}
	sum_up(d, alpha);
	sum_time(d);
}
