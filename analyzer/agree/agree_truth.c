/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_truth.c - compares what profilers see of an injected delay with what the delay added.
 *
 * A delay adds the part `a` of the CPU time of the Java threads with it, in runs without a
 * profiler: loops that ran x iterations x the length of one iteration. If the loops were not
 * counted, it is the difference of the threads' clocks with and without the delay. A method that
 * had the share b of the samples has b (1 - a) + a with the delay if the profiler sees it there, so
 * its share grows by a (1 - b). The part of this growth that the profiler shows is found. A
 * profiler that shows the same shares with and without the delay has found nothing.
 *
 * A profiler saw the delay at a method if the interval of the growth, over the rounds, is above
 * zero. Each method of the profiler may grow by chance, so the level of 5% is spread over all
 * methods: Bonferroni's correction (O. J. Dunn, Multiple Comparisons Among Means, Journal of the
 * American Statistical Association 56, 1961).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/agree/agree.h"
#include "analyzer/base/memory.h"

#define ALPHA 0.05

/* Records of older versions have only the executions of the run that counted them. */
static double loops_ns(const struct lc_agree_delay *d, const struct lc_agree_run *run)
{
	if (run->delayed_ns >= 0)
		return run->delayed_ns;
	return d->executions && d->ns_per_iteration > 0
	           ? (double)d->executions * (double)d->iterations * d->ns_per_iteration
	           : -1;
}

static void find_added(struct lc_agree *a, size_t d)
{
	struct lc_agree_delay *delay = &a->delays[d];
	double *clocks = lc_mem_zeroed(a->rounds + 1, sizeof(*clocks));
	double *loops = lc_mem_zeroed(a->rounds + 1, sizeof(*loops));
	size_t clocks_len = 0, loops_len = 0;
	double sum = 0;

	for (size_t round = 0; round < a->rounds; round++) {
		const size_t base = lc_agree_find_counted(a, 0, round, 0);
		const size_t with = lc_agree_find_counted(a, 0, round, (int)d + 1);
		double ns, cpu_ns;

		if (with == SIZE_MAX || a->runs[with].java_cpu_ns <= 0)
			continue;
		cpu_ns = a->runs[with].java_cpu_ns;
		ns = loops_ns(delay, &a->runs[with]);
		if (ns >= 0) {
			sum += ns;
			loops[loops_len++] = fmin(ns / cpu_ns, 1);
		}
		if (base != SIZE_MAX && a->runs[base].java_cpu_ns > 0)
			clocks[clocks_len++] = (cpu_ns - a->runs[base].java_cpu_ns) / cpu_ns;
	}
	delay->counted = loops_len ? sum / (double)loops_len : -1;
	delay->clocks = lc_repeat_number(clocks, clocks_len, 0, 1);
	delay->added = loops_len ? lc_repeat_number(loops, loops_len, 0, 1) : delay->clocks;
	free(loops);
	free(clocks);
}

/* A method's shares without and with a delay, in rounds with both runs. */
struct shares {
	const struct lc_agree_methods *base, *with;
	double *values; /* scratch, one for each round */
};

static double share_of(const struct lc_repeat_entry *e, size_t column)
{
	return e ? e->shares[column] : 0;
}

/* values[] is the share with the delay less `kept` times that without. Returns their mean. */
static double compare(struct shares *s, uint32_t key, double kept, size_t *len)
{
	const struct lc_repeat_entry *b = lc_agree_find(&s->base->table, key);
	const struct lc_repeat_entry *w = lc_agree_find(&s->with->table, key);
	double sum = 0;

	*len = 0;
	for (size_t i = 0; i < s->with->table.runs; i++) {
		const size_t k = lc_agree_column(s->base, s->with->rounds[i]);

		if (k == SIZE_MAX)
			continue;
		s->values[*len] = share_of(w, i) - kept * share_of(b, k);
		sum += s->values[(*len)++];
	}
	return *len ? sum / (double)*len : 0;
}

static double mean_share(const struct lc_repeat_table *t, uint32_t key)
{
	const struct lc_repeat_entry *e = lc_agree_find(t, key);

	return e ? e->share.mean : 0;
}

/* Did the delayed method's share grow, and by which part of what the delay would cause? */
static void find_growth(struct lc_agree_seen *seen, struct shares *s, uint32_t method, double added)
{
	const double most = added * (1 - seen->base.mean);
	size_t len;
	const double growth = compare(s, method, 1, &len);
	double width;

	seen->can_grow = most >= LC_AGREE_GROWTH;
	if (!seen->can_grow)
		return;
	seen->found = growth / most;
	if (len < LC_REPEAT_RUNS_MIN)
		return;
	width = lc_repeat_half_width(s->values, len, ALPHA / (double)seen->compared);
	seen->found_width = width / most;
	seen->saw = growth > width;
}

/* Another method whose share certainly grew has samples of the delay, too. */
static void find_elsewhere(struct lc_agree_seen *seen, struct shares *s, uint32_t method,
                           double added)
{
	const struct lc_repeat_table *t = &s->with->table;

	for (size_t i = 0; i < t->len; i++) {
		const uint32_t key = t->entries[i].key;
		const double most = added * (1 - mean_share(&s->base->table, key));
		size_t len;
		const double growth = compare(s, key, 1, &len);

		if (key == method || len < LC_REPEAT_RUNS_MIN || most <= 0 ||
		    growth / most <= seen->elsewhere_part ||
		    growth <= lc_repeat_half_width(s->values, len, ALPHA / (double)seen->compared))
			continue;
		seen->elsewhere = key;
		seen->elsewhere_part = growth / most;
	}
}

static struct lc_repeat_number number_of(const struct lc_repeat_table *t, uint32_t key)
{
	const struct lc_repeat_entry *e = lc_agree_find(t, key);
	double *none;
	struct lc_repeat_number n;

	if (e)
		return e->share;
	none = lc_mem_zeroed(t->runs + 1, sizeof(*none));
	n = lc_repeat_number(none, t->runs, 0, 1);
	free(none);
	return n;
}

static void look(struct lc_agree *a, struct lc_agree_side *side, size_t d)
{
	struct shares s = { .base = &side->delayed[0], .with = &side->delayed[d + 1] };
	const double added = a->delays[d].added.mean;
	const char *method = a->delays[d].method;
	const uint32_t key = lc_tree_string(&a->names, method, strcspn(method, "("));
	struct lc_agree_seen *seen = &side->seen[d];
	size_t len;

	*seen = (struct lc_agree_seen){ .width = -1, .found_width = -1 };
	if (!a->delays[d].added.known || added <= 0)
		return;
	s.values = lc_mem_zeroed(s.with->table.runs + 1, sizeof(*s.values));
	seen->error = compare(&s, key, 1 - added, &len) - added;
	seen->known = len > 0;
	if (len >= LC_REPEAT_RUNS_MIN)
		seen->width = lc_repeat_half_width(s.values, len, ALPHA);
	if (len) {
		seen->base = number_of(&s.base->table, key);
		seen->with = number_of(&s.with->table, key);
		seen->expected = seen->base.mean * (1 - added) + added;
		seen->compared = s.with->table.len + (lc_agree_find(&s.with->table, key) == NULL);
		find_growth(seen, &s, key, added);
		find_elsewhere(seen, &s, key, added);
	}
	free(s.values);
}

void lc_agree_finish_truth(struct lc_agree *a)
{
	for (size_t d = 0; d < a->delays_len; d++) {
		find_added(a, d);
		for (size_t i = 0; i < a->sides_len; i++)
			if (a->sides[i].kind != LC_AGREE_BARE)
				look(a, &a->sides[i], d);
	}
}
