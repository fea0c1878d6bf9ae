/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree.c - computes how far profilers agree: unions of their hottest methods, overlaps of
 * their shares, costs by round.
 *
 * An overlap is of mean shares, so its interval is the jackknife's (J. W. Tukey, Bias and
 * Confidence in Not-Quite Large Samples, 1958): the overlap is computed again without each round,
 * and Student's interval is that of the pseudo-values.
 */
#include "analyzer/agree/agree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/order.h"

const char *lc_agree_kind_name(enum lc_agree_kind kind)
{
	static const char *const names[LC_AGREE_KINDS] = { "bare",      "locus", "async", "jfr",
		                                           "jfr-debug", "perf",  "own" };

	return names[kind];
}

void lc_agree_init(struct lc_agree *a)
{
	*a = (struct lc_agree){ .runs = NULL };
	lc_repeat_init(&a->all);
	lc_tree_init(&a->names);
}

static void free_methods(struct lc_agree_methods *m)
{
	lc_repeat_table_free(&m->table);
	free(m->rounds);
}

static void free_side(struct lc_agree_side *s)
{
	free(s->name);
	free(s->command);
	free(s->about);
	free(s->absent);
	free_methods(&s->methods);
	for (size_t i = 0; i <= LC_AGREE_DELAYS_MAX; i++)
		free_methods(&s->delayed[i]);
}

void lc_agree_free(struct lc_agree *a)
{
	lc_repeat_free(&a->all);
	free(a->runs);
	for (size_t i = 0; i < a->sides_len; i++)
		free_side(&a->sides[i]);
	for (size_t i = 0; i < a->delays_len; i++) {
		free(a->delays[i].method);
		free(a->delays[i].why);
	}
	lc_tree_free(&a->names);
}

struct lc_agree_side *lc_agree_add_side(struct lc_agree *a, enum lc_agree_kind kind,
                                        const char *name)
{
	struct lc_agree_side *s;

	if (a->sides_len == LC_AGREE_SIDES_MAX)
		return NULL;
	s = &a->sides[a->sides_len++];
	*s = (struct lc_agree_side){ .kind = kind, .name = lc_mem_text("%s", name) };
	return s;
}

struct lc_repeat_run *lc_agree_add_run(struct lc_agree *a, size_t side, size_t round, int delay)
{
	const size_t i = a->all.runs_len;
	struct lc_repeat_run *run = lc_repeat_add_run(&a->all);

	a->runs = lc_mem_grow(a->runs, &a->runs_cap, i + 1, sizeof(*a->runs));
	a->runs[i] = (struct lc_agree_run){
		.side = side, .round = round, .delay = delay, .java_cpu_ns = -1, .delayed_ns = -1
	};
	return run;
}

size_t lc_agree_find_run(const struct lc_agree *a, size_t side, size_t round, int delay)
{
	for (size_t i = 0; i < a->all.runs_len; i++)
		if (a->runs[i].side == side && a->runs[i].round == round &&
		    a->runs[i].delay == delay)
			return i;
	return SIZE_MAX;
}

size_t lc_agree_find_counted(const struct lc_agree *a, size_t side, size_t round, int delay)
{
	const size_t i = lc_agree_find_run(a, side, round, delay);

	return i != SIZE_MAX && a->all.runs[i].state == LC_REPEAT_COUNTED ? i : SIZE_MAX;
}

const struct lc_repeat_entry *lc_agree_find(const struct lc_repeat_table *t, uint32_t key)
{
	for (size_t i = 0; i < t->len; i++)
		if (t->entries[i].key == key)
			return &t->entries[i];
	return NULL;
}

size_t lc_agree_column(const struct lc_agree_methods *m, size_t round)
{
	for (size_t i = 0; i < m->table.runs; i++)
		if (m->rounds[i] == round)
			return i;
	return SIZE_MAX;
}

bool lc_agree_is_compared(const struct lc_agree_side *s)
{
	return s->kind != LC_AGREE_BARE && s->methods.table.runs;
}

/* ---- costs ---- */

static double member(const struct lc_repeat_run *run, size_t offset)
{
	double value;

	memcpy(&value, (const char *)run + offset, sizeof(value));
	return value;
}

/* By round, relative to the program alone. */
static struct lc_repeat_number ratio(const struct lc_agree *a, size_t side, int delay,
                                     size_t offset)
{
	double *values = lc_mem_zeroed(a->rounds + 1, sizeof(*values));
	struct lc_repeat_number n;
	size_t len = 0;

	for (size_t round = 0; round < a->rounds; round++) {
		const size_t bare = lc_agree_find_counted(a, 0, round, -1);
		const size_t run = lc_agree_find_counted(a, side, round, delay);
		double base, with;

		if (bare == SIZE_MAX || run == SIZE_MAX)
			continue;
		base = member(&a->all.runs[bare], offset);
		with = member(&a->all.runs[run], offset);
		if (base > 0 && with >= 0)
			values[len++] = with / base;
	}
	n = lc_repeat_number(values, len, 0, HUGE_VAL);
	free(values);
	return n;
}

static void find_costs(struct lc_agree *a)
{
	a->counting = ratio(a, 0, 0, offsetof(struct lc_repeat_run, cpu_ns));
	for (size_t i = 0; i < a->sides_len; i++) {
		struct lc_agree_side *s = &a->sides[i];

		s->cpu_ratio = ratio(a, i, -1, offsetof(struct lc_repeat_run, cpu_ns));
		s->wall_ratio = ratio(a, i, -1, offsetof(struct lc_repeat_run, wall_ns));
		s->peak_ratio = ratio(a, i, -1, offsetof(struct lc_repeat_run, peak_bytes));
		s->runs = s->counted = 0;
	}
	for (size_t i = 0; i < a->all.runs_len; i++) {
		struct lc_agree_side *s = &a->sides[a->runs[i].side];

		s->runs += a->runs[i].delay < 0;
		s->counted += a->runs[i].delay < 0 && a->all.runs[i].state == LC_REPEAT_COUNTED;
	}
}

/* ---- agreement ---- */

/* Different keys. */
struct keys {
	uint32_t *list;
	size_t len, cap;
};

static void add_key(struct keys *k, uint32_t key)
{
	for (size_t i = 0; i < k->len; i++)
		if (k->list[i] == key)
			return;
	k->list = lc_mem_grow(k->list, &k->cap, k->len + 1, sizeof(*k->list));
	k->list[k->len++] = key;
}

/* The first `top` of the table by means; of equal means, as everywhere, the smaller key. */
static size_t union_of_means(const struct lc_agree *a, size_t top)
{
	struct keys k = { .len = 0 };

	for (size_t i = 0; i < a->sides_len; i++) {
		const struct lc_repeat_table *t = &a->sides[i].methods.table;

		if (!lc_agree_is_compared(&a->sides[i]))
			continue;
		for (size_t e = 0; e < t->len && e < top; e++)
			if (t->entries[e].share.mean > 0)
				add_key(&k, t->entries[e].key);
	}
	free(k.list);
	return k.len;
}

/* Larger shares first; of equal ones the smaller key. */
static int order_rows(const void *a, const void *b)
{
	const struct lc_agree_row *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return lc_order_u64(x->key, y->key);
}

static void add_tops(struct keys *k, const struct lc_repeat_table *t, size_t top)
{
	struct lc_agree_row *order = lc_mem_zeroed(t->len + 1, sizeof(*order));

	for (size_t run = 0; run < t->runs; run++) {
		for (size_t i = 0; i < t->len; i++)
			order[i] =
			    (struct lc_agree_row){ t->entries[i].key, t->entries[i].shares[run] };
		qsort(order, t->len, sizeof(*order), order_rows);
		for (size_t i = 0; i < t->len && i < top && order[i].share > 0; i++)
			add_key(k, order[i].key);
	}
	free(order);
}

static size_t union_of_runs(const struct lc_agree *a, size_t top)
{
	struct keys k = { .len = 0 };

	for (size_t i = 0; i < a->sides_len; i++)
		if (lc_agree_is_compared(&a->sides[i]))
			add_tops(&k, &a->sides[i].methods.table, top);
	free(k.list);
	return k.len;
}

/* A method that both sides of a pair have. */
struct both {
	const struct lc_repeat_entry *x, *y;
};

/* The mean share without one of the runs. */
static double mean_without(const struct lc_repeat_entry *e, const struct lc_repeat_table *t,
                           size_t left_out)
{
	return (e->share.mean * (double)t->runs - e->shares[left_out]) / (double)(t->runs - 1);
}

/* The jackknife's half width of the overlap of x and y, below 0: withheld. */
static double width_of_overlap(const struct lc_agree_methods *x, const struct lc_agree_methods *y,
                               const struct both *both, size_t len, double overlap)
{
	double *without = lc_mem_zeroed(x->table.runs + 1, sizeof(*without)), width = -1;
	size_t rounds = 0;

	for (size_t i = 0; i < x->table.runs && y->table.runs > 1; i++) {
		const size_t k = lc_agree_column(y, x->rounds[i]);
		double sum = 0;

		for (size_t b = 0; b < len && k != SIZE_MAX; b++)
			sum += fmin(mean_without(both[b].x, &x->table, i),
			            mean_without(both[b].y, &y->table, k));
		if (k != SIZE_MAX)
			without[rounds++] = sum;
	}
	for (size_t i = 0; i < rounds; i++)
		without[i] = (double)rounds * overlap - (double)(rounds - 1) * without[i];
	if (rounds >= LC_REPEAT_RUNS_MIN)
		width = lc_repeat_half_width(without, rounds, 0.05);
	free(without);
	return width;
}

static struct lc_agree_pair pair_of(const struct lc_agree_methods *m,
                                    const struct lc_agree_methods *n)
{
	const struct lc_repeat_table *x = &m->table, *y = &n->table;
	struct both *both = lc_mem_zeroed(x->len + 1, sizeof(*both));
	struct lc_agree_pair p = { .overlap = 0 };
	size_t len = 0;

	for (size_t i = 0; i < x->len; i++) {
		const struct lc_repeat_entry *e = &x->entries[i], *f = lc_agree_find(y, e->key);

		if (!f)
			continue;
		both[len++] = (struct both){ e, f };
		p.overlap += fmin(e->share.mean, f->share.mean);
		p.common += i < LC_AGREE_TOP && f - y->entries < LC_AGREE_TOP;
	}
	p.width = width_of_overlap(m, n, both, len, p.overlap);
	free(both);
	return p;
}

static void find_agreement(struct lc_agree *a)
{
	a->compared = 0;
	for (size_t i = 0; i < a->sides_len; i++) {
		if (!lc_agree_is_compared(&a->sides[i]))
			continue;
		a->compared++;
		for (size_t k = 0; k < a->sides_len; k++)
			if (lc_agree_is_compared(&a->sides[k]))
				a->pairs[i][k] =
				    pair_of(&a->sides[i].methods, &a->sides[k].methods);
	}
	a->union_1 = union_of_means(a, 1);
	a->union_5 = union_of_means(a, LC_AGREE_TOP);
	a->union_1_runs = union_of_runs(a, 1);
	a->union_5_runs = union_of_runs(a, LC_AGREE_TOP);
}

static void add_share(struct lc_agree_row **rows, size_t *len, size_t *cap, uint32_t key,
                      double share)
{
	for (size_t i = 0; i < *len; i++) {
		if ((*rows)[i].key != key)
			continue;
		(*rows)[i].share += share;
		return;
	}
	*rows = lc_mem_grow(*rows, cap, *len + 1, sizeof(**rows));
	(*rows)[(*len)++] = (struct lc_agree_row){ key, share };
}

size_t lc_agree_rows(const struct lc_agree *a, struct lc_agree_row **rows)
{
	size_t len = 0, cap = 0;

	*rows = NULL;
	for (size_t i = 0; i < a->sides_len; i++) {
		const struct lc_repeat_table *t = &a->sides[i].methods.table;

		for (size_t e = 0; lc_agree_is_compared(&a->sides[i]) && e < t->len; e++)
			add_share(rows, &len, &cap, t->entries[e].key,
			          t->entries[e].share.mean / (double)a->compared);
	}
	if (len)
		qsort(*rows, len, sizeof(**rows), order_rows);
	return len;
}

void lc_agree_finish(struct lc_agree *a)
{
	a->all.counted = 0;
	for (size_t i = 0; i < a->all.runs_len; i++)
		a->all.counted += a->all.runs[i].state == LC_REPEAT_COUNTED;
	for (size_t i = 0; i < a->sides_len; i++) {
		lc_repeat_judge(&a->sides[i].methods.table);
		for (size_t d = 0; d <= a->delays_len && a->delays_len; d++)
			lc_repeat_judge(&a->sides[i].delayed[d].table);
	}
	find_costs(a);
	find_agreement(a);
	lc_agree_finish_truth(a);
}
