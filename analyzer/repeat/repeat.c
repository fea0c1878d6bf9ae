/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat.c - computes how far several runs agree: shares, intervals and places of each
 * table, which entries come first, and which come and go.
 */
#include "analyzer/repeat/repeat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/plain.h"
#include "analyzer/diff/diff_math.h"
#include "src/base/order.h"

#define ALPHA 0.05

const char *lc_repeat_kind_name(enum lc_repeat_kind kind)
{
	static const char *const names[LC_REPEAT_KINDS] = { "objects", "lines",     "methods",
		                                            "spans",   "allocated", "estimated" };

	return names[kind];
}

const char *lc_repeat_state_name(enum lc_repeat_state state)
{
	static const char *const names[LC_REPEAT_STATES] = {
		"counted",        "failed",     "timed out", "interrupted",  "wrote to stderr",
		"output differs", "no profile", "cut short", "other samples"
	};

	return names[state];
}

/* ---- numbers ---- */

struct lc_repeat_number lc_repeat_number(const double *values, size_t len, double floor,
                                         double ceiling)
{
	struct lc_repeat_number n = { .known = len > 0, .equal = len > 0 };
	struct lc_diff_estimate e;

	for (size_t i = 0; i < len; i++) {
		n.known &= values[i] >= 0;
		n.mean += values[i] / (double)len;
		n.least = !i || values[i] < n.least ? values[i] : n.least;
		n.most = !i || values[i] > n.most ? values[i] : n.most;
	}
	if (!n.known)
		return (struct lc_repeat_number){ .known = false };
	n.equal = n.least == n.most;
	if (n.equal)
		n.mean = n.least; /* not a rounding away from it */
	n.interval = len >= LC_REPEAT_RUNS_MIN;
	if (!n.interval)
		return n;
	e = lc_diff_run_mean(values, len, ALPHA);
	n.low = n.equal ? n.mean : e.low < floor ? floor : e.low;
	n.high = n.equal ? n.mean : e.high > ceiling ? ceiling : e.high;
	return n;
}

double lc_repeat_half_width(const double *values, size_t len, double alpha)
{
	const struct lc_diff_estimate e = lc_diff_run_mean(values, len, alpha);

	return (e.high - e.low) / 2;
}

/* ---- tables ---- */

void lc_repeat_table_init(struct lc_repeat_table *t, enum lc_repeat_kind kind, size_t columns)
{
	*t = (struct lc_repeat_table){ .kind = kind, .room = columns };
	t->totals = lc_mem_zeroed(columns + 1, sizeof(*t->totals));
	lc_table_init(&t->by_key, 1, 0);
}

void lc_repeat_table_free(struct lc_repeat_table *t)
{
	for (size_t i = 0; i < t->len; i++) {
		free(t->entries[i].name.label);
		free(t->entries[i].name.code);
		free(t->entries[i].values);
		free(t->entries[i].shares);
	}
	free(t->entries);
	free(t->totals);
	lc_table_free(&t->by_key);
	*t = (struct lc_repeat_table){ .len = 0 };
}

struct lc_repeat_entry *lc_repeat_entry_of(struct lc_repeat_table *t, uint32_t key)
{
	const uint32_t row = lc_table_put(&t->by_key, &key);
	struct lc_repeat_entry *e;

	if (row < t->len)
		return &t->entries[row];
	t->entries = lc_mem_grow(t->entries, &t->cap, t->len + 1, sizeof(*t->entries));
	e = &t->entries[t->len++];
	*e = (struct lc_repeat_entry){ .key = key, .name.method = UINT32_MAX };
	e->values = lc_mem_zeroed(t->room + 1, sizeof(*e->values));
	e->shares = lc_mem_zeroed(t->room + 1, sizeof(*e->shares));
	return e;
}

/* Counts are compared as counts: they are of an average run, so that equal ones have equal shares.
 */
static double mean_total(const struct lc_repeat_table *t)
{
	double sum = 0;

	for (size_t i = 0; i < t->columns; i++)
		sum += t->totals[i];
	return t->runs ? sum / (double)t->runs : 0;
}

static void find_share(struct lc_repeat_table *t, struct lc_repeat_entry *e, double counted_total)
{
	double value = -1;
	size_t run = 0;

	e->equal = true;
	for (size_t i = 0; i < t->columns; i++) {
		if (t->totals[i] <= 0)
			continue;
		e->equal &= !run || e->values[i] == value;
		value = e->values[i];
		e->shares[run++] = value / (counted_total > 0 ? counted_total : t->totals[i]);
	}
	e->share = lc_repeat_number(e->shares, run, 0, counted_total > 0 ? HUGE_VAL : 1);
	e->difference = e->share.most - e->share.least;
}

static int order_entries(const void *a, const void *b)
{
	const struct lc_repeat_entry *x = a, *y = b;

	if (x->share.mean != y->share.mean)
		return x->share.mean > y->share.mean ? -1 : 1;
	return lc_order_u64(x->key, y->key);
}

/* ---- places ---- */

struct placed {
	double share;
	size_t entry; /* its place by the mean, from 0 */
};

static int order_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return lc_order_u64(x->entry, y->entry);
}

/*
 * Find which entry came first in a run, and which were in the top. An entry without samples has no
 * place.
 */
static void place_run(struct lc_repeat_table *t, size_t run, struct placed *order)
{
	size_t len = 0;

	for (size_t i = 0; i < t->len; i++)
		if (t->entries[i].shares[run] > 0)
			order[len++] =
			    (struct placed){ .share = t->entries[i].shares[run], .entry = i };
	qsort(order, len, sizeof(*order), order_placed);
	for (size_t i = 0; i < len && i < LC_REPEAT_TOP; i++) {
		t->entries[order[i].entry].top++;
		t->entries[order[i].entry].first += i == 0;
	}
}

static int order_up(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* How many of the sorted numbers are below `limit`, or equal to it where `with` is set. */
static size_t count_below(const double *sorted, size_t len, double limit, bool with)
{
	size_t low = 0, high = len;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (sorted[middle] < limit || (with && sorted[middle] == limit))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Behind all whose interval is above its own; before all whose interval is below. */
static void find_places(struct lc_repeat_table *t)
{
	double *lows = lc_mem_zeroed(t->len + 1, sizeof(*lows));
	double *highs = lc_mem_zeroed(t->len + 1, sizeof(*highs));

	for (size_t i = 0; i < t->len; i++) {
		lows[i] = t->entries[i].share.low;
		highs[i] = t->entries[i].share.high;
	}
	qsort(lows, t->len, sizeof(*lows), order_up);
	qsort(highs, t->len, sizeof(*highs), order_up);
	for (size_t i = 0; i < t->len; i++) {
		struct lc_repeat_entry *e = &t->entries[i];

		e->best = 1 + t->len - count_below(lows, t->len, e->share.high, true);
		e->worst = t->len - count_below(highs, t->len, e->share.low, false);
	}
	free(lows);
	free(highs);
}

static void sum_up(struct lc_repeat_table *t)
{
	for (size_t i = 0; i < t->len; i++) {
		struct lc_repeat_entry *e = &t->entries[i];

		e->unstable = e->top && e->top < t->runs && e->share.mean >= LC_REPEAT_UNSTABLE;
		t->unstable += e->unstable;
		t->firsts += e->first > 0;
		if (e->share.mean >= LC_REPEAT_LARGE &&
		    (!t->farthest || e->difference > t->farthest->difference))
			t->farthest = e;
	}
}

void lc_repeat_judge(struct lc_repeat_table *t)
{
	struct placed *order;
	double counted_total;

	for (size_t i = 0; i < t->columns; i++)
		t->runs += t->totals[i] > 0;
	counted_total = t->kind == LC_REPEAT_ALLOCATED ? mean_total(t) : 0;
	for (size_t i = 0; i < t->len; i++)
		find_share(t, &t->entries[i], counted_total);
	if (t->len)
		qsort(t->entries, t->len, sizeof(*t->entries), order_entries);
	order = lc_mem_zeroed(t->len + 1, sizeof(*order));
	for (size_t run = 0; run < t->runs; run++)
		place_run(t, run, order);
	free(order);
	if (t->runs >= LC_REPEAT_RUNS_MIN)
		find_places(t);
	sum_up(t);
}

/* ---- all of it ---- */

void lc_repeat_init(struct lc_repeat *r)
{
	*r = (struct lc_repeat){ .runs = NULL };
	lc_tree_init(&r->names);
}

void lc_repeat_free(struct lc_repeat *r)
{
	for (size_t i = 0; i < r->runs_len; i++) {
		struct lc_repeat_run *run = &r->runs[i];

		for (size_t k = 0; k < run->profiles_len; k++)
			free(run->profiles[k]);
		free(run->profiles);
		free(run->name);
		free(run->directory);
		free(run->why);
		free(run->said);
	}
	for (unsigned kind = 0; kind < LC_REPEAT_KINDS; kind++)
		lc_repeat_table_free(&r->tables[kind]);
	free(r->runs);
	free(r->program);
	free(r->other_program);
	free(r->command);
	free(r->engine.name);
	free(r->engine.event);
	free(r->engine.unit);
	lc_tree_free(&r->names);
}

struct lc_repeat_run *lc_repeat_add_run(struct lc_repeat *r)
{
	struct lc_repeat_run *run;

	r->runs = lc_mem_grow(r->runs, &r->runs_cap, r->runs_len + 1, sizeof(*r->runs));
	run = &r->runs[r->runs_len++];
	*run = (struct lc_repeat_run){ .wall_ns = -1, .cpu_ns = -1, .peak_bytes = -1 };
	return run;
}

void lc_repeat_add_profile(struct lc_repeat_run *run, char *path)
{
	run->profiles = lc_mem_grow(run->profiles, &run->profiles_cap, run->profiles_len + 1,
	                            sizeof(*run->profiles));
	run->profiles[run->profiles_len++] = path;
}

char *lc_repeat_plain(char *text)
{
	char *plain;
	size_t len;
	FILE *out = lc_text_open(&plain, &len);

	lc_plain_put(out, text, strlen(text));
	lc_mem_close_text(out);
	free(text);
	return plain;
}

void lc_repeat_leave_out(struct lc_repeat_run *run, enum lc_repeat_state state, char *why)
{
	if (run->state != LC_REPEAT_COUNTED) {
		free(why);
		return;
	}
	run->state = state;
	run->why = lc_repeat_plain(why);
}

/* The mean of a member over all counted runs. */
static struct lc_repeat_number number_of(const struct lc_repeat *r, size_t offset)
{
	double *values = lc_mem_zeroed(r->runs_len + 1, sizeof(*values));
	struct lc_repeat_number n;
	size_t len = 0;

	for (size_t i = 0; i < r->runs_len; i++)
		if (r->runs[i].state == LC_REPEAT_COUNTED)
			memcpy(&values[len++], (const char *)&r->runs[i] + offset, sizeof(*values));
	n = lc_repeat_number(values, len, 0, HUGE_VAL);
	free(values);
	return n;
}

void lc_repeat_finish(struct lc_repeat *r)
{
	r->counted = 0;
	for (size_t i = 0; i < r->runs_len; i++)
		r->counted += r->runs[i].state == LC_REPEAT_COUNTED;
	for (unsigned kind = 0; kind < LC_REPEAT_KINDS; kind++)
		lc_repeat_judge(&r->tables[kind]);
	r->wall_ns = number_of(r, offsetof(struct lc_repeat_run, wall_ns));
	r->cpu_ns = number_of(r, offsetof(struct lc_repeat_run, cpu_ns));
	r->samples = number_of(r, offsetof(struct lc_repeat_run, samples));
	r->allocations = number_of(r, offsetof(struct lc_repeat_run, allocations));
	r->bytes = number_of(r, offsetof(struct lc_repeat_run, bytes));
	r->estimated_bytes = number_of(r, offsetof(struct lc_repeat_run, estimated_bytes));
}
