/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_truth.c - compares what profilers see of an injected delay with what the delay added.
 *
 * A delay adds the part `a` of the CPU time of the Java threads with it, in runs without a
 * profiler. The added time is executions x iterations x the length of one iteration. If that length
 * is unknown, it is the difference of the threads' clocks with and without the delay. A method that
 * had the share b of the samples has b (1 - a) with the delay, and the delayed method has b (1 - a)
 * + a. Each profiler is expected to show that, from its own b.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/agree/agree.h"
#include "analyzer/base/memory.h"

/* CPU time of the Java threads in the run without a profiler; below 0: there is none. */
static double java_cpu(const struct lc_agree *a, size_t round, int delay)
{
	for (size_t i = 0; i < a->all.runs_len; i++) {
		const struct lc_agree_run *run = &a->runs[i];

		if (a->sides[run->side].kind == LC_AGREE_BARE && run->round == round &&
		    run->delay == delay && a->all.runs[i].state == LC_REPEAT_COUNTED)
			return run->java_cpu_ns;
	}
	return -1;
}

static void find_added(struct lc_agree *a, size_t d)
{
	struct lc_agree_delay *delay = &a->delays[d];
	double *clocks = lc_mem_zeroed(a->rounds + 1, sizeof(*clocks));
	double *loops = lc_mem_zeroed(a->rounds + 1, sizeof(*loops));
	size_t clocks_len = 0, loops_len = 0;

	delay->counted =
	    delay->executions && delay->ns_per_iteration > 0
	        ? (double)delay->executions * (double)delay->iterations * delay->ns_per_iteration
	        : -1;
	for (size_t round = 0; round < a->rounds; round++) {
		const double base = java_cpu(a, round, 0), with = java_cpu(a, round, (int)d + 1);

		if (with > 0 && delay->counted >= 0)
			loops[loops_len++] = delay->counted < with ? delay->counted / with : 1;
		if (with > 0 && base > 0)
			clocks[clocks_len++] = (with - base) / with;
	}
	delay->clocks = lc_repeat_number(clocks, clocks_len, 0, 1);
	delay->added =
	    delay->counted >= 0 ? lc_repeat_number(loops, loops_len, 0, 1) : delay->clocks;
	free(loops);
	free(clocks);
}

static double share_of(const struct lc_repeat_table *t, uint32_t key)
{
	const struct lc_repeat_entry *e = lc_agree_find(t, key);

	return e ? e->share.mean : 0;
}

/* Half of the interval of a method's share at a level of significance. */
static double half_width(const struct lc_repeat_table *t, uint32_t key, double alpha)
{
	const struct lc_repeat_entry *e = lc_agree_find(t, key);

	return e && !e->share.equal ? lc_repeat_half_width(e->shares, t->runs, alpha) : 0;
}

/*
 * A method that certainly has more samples than its share before allows is where the delay was
 * seen, too. The largest surplus of many methods is noise most of the time, so the level is 5% for
 * all methods together. Without intervals nothing is certain.
 */
static void find_elsewhere(struct lc_agree_seen *seen, const struct lc_repeat_table *base,
                           const struct lc_repeat_table *with, uint32_t method, double added)
{
	const double alpha = 0.05 / (double)(with->len + !with->len);

	if (base->runs < LC_REPEAT_RUNS_MIN || with->runs < LC_REPEAT_RUNS_MIN)
		return;
	for (size_t i = 0; i < with->len; i++) {
		const struct lc_repeat_entry *e = &with->entries[i];
		const double more = e->share.mean - share_of(base, e->key) * (1 - added);

		if (e->key == method || more / added <= seen->elsewhere_part ||
		    more <= hypot(half_width(with, e->key, alpha),
		                  (1 - added) * half_width(base, e->key, alpha)))
			continue;
		seen->elsewhere = e->key;
		seen->elsewhere_part = more / added;
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

static void look(struct lc_agree *a, struct lc_agree_side *s, size_t d)
{
	const struct lc_repeat_table *base = &s->delayed[0].table, *with = &s->delayed[d + 1].table;
	const double added = a->delays[d].added.mean;
	const char *method = a->delays[d].method;
	const uint32_t key = lc_tree_string(&a->names, method, strcspn(method, "("));
	struct lc_agree_seen *seen = &s->seen[d];

	*seen = (struct lc_agree_seen){ .width = -1 };
	if (!base->runs || !with->runs || !a->delays[d].added.known || added <= 0)
		return;
	seen->known = true;
	seen->base = number_of(base, key);
	seen->with = number_of(with, key);
	seen->expected = seen->base.mean * (1 - added) + added;
	seen->error = seen->with.mean - seen->expected;
	if (seen->base.interval && seen->with.interval)
		seen->width = hypot((seen->with.high - seen->with.low) / 2,
		                    (1 - added) * (seen->base.high - seen->base.low) / 2);
	seen->found = (seen->with.mean - seen->base.mean * (1 - added)) / added;
	find_elsewhere(seen, base, with, key, added);
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
