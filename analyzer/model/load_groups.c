/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/load_groups.c - chooses processes by --where, labels them for a merge, and finds the groups
 * of --by.
 *
 * A profile of one process belongs to one group. A merged profile can be divided in three cases:
 * its paths say the groups (`by` in its manifest), its blocks are of one thread each, or all its
 * processes agree.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/model/load_impl.h"

/* Read the keys by which the manifest says that paths are kept apart. Invalid keys are skipped. */
static void read_by(struct lc_by *by, const json_t *manifest)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(manifest, "by"), i, row)
	{
		if (json_is_string(row))
			(void)lc_by_add(by, json_string_value(row));
	}
}

/* Unless the user chose keys, the first profile of a load chooses them. */
static int agree_on_by(struct lc_load *l, const char *path, struct lc_by *kept)
{
	char *of_load, *of_profile;
	int status = 0;

	if (!l->by_known && !l->by.len)
		for (size_t i = 0; i < kept->len; i++)
			(void)lc_by_add(&l->by, kept->keys[i]);
	l->by_known = true;
	if (!kept->len || lc_by_equal(kept, &l->by))
		return 0;
	of_profile = lc_by_text(kept);
	of_load = lc_by_text(&l->by);
	if (l->by.len)
		status = lc_fail("'%s' was merged by %s and cannot be combined with profiles "
		                 "merged by %s",
		                 path, of_profile, of_load);
	else
		status = lc_fail("'%s' was merged by %s, but the profiles before it were not; "
		                 "group all with --by",
		                 path, of_profile);
	free(of_profile);
	free(of_load);
	return status;
}

void lc_load_label(const struct lc_load *l, struct lc_load_process *p)
{
	if (!l->labels)
		return;
	if (!p->labels)
		p->labels = json_object();
	json_object_update_missing(p->labels, l->labels);
}

/* Do all processes, or none, fit the terms of --where whose keys the paths do not say? */
static bool rest_agrees(const bool *fits, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (fits[i] != fits[0])
			return false;
	return true;
}

static bool asks_for_kept(const struct lc_where_terms *w, const struct lc_by *kept)
{
	for (size_t i = 0; w && i < w->len; i++)
		for (size_t k = 0; k < kept->len; k++)
			if (!strcmp(w->list[i].key, kept->keys[k]))
				return true;
	return false;
}

int lc_load_groups_begin(struct lc_load *l, const char *path, const json_t *manifest,
                         struct lc_load_groups *g)
{
	const json_t *rows = json_object_get(manifest, "processes");
	const size_t len = json_array_size(rows) ? json_array_size(rows) : 1;
	bool *rest, any = false, every = true;

	*g = (struct lc_load_groups){ .on = false };
	read_by(&g->kept, manifest);
	if (agree_on_by(l, path, &g->kept)) {
		lc_by_free(&g->kept);
		return 1;
	}
	g->on = l->by.len || (l->where && l->where->len);
	if (!g->on)
		return 0;
	g->numbers = lc_mem_zeroed(len, sizeof(*g->numbers));
	g->len = len;
	rest = lc_mem_zeroed(len, sizeof(*rest));
	for (size_t i = 0; i < len; i++) {
		struct lc_load_process p;
		bool fits;

		lc_load_process_read(&p, json_array_get(rows, i));
		lc_load_label(l, &p);
		rest[i] = lc_fact_fits_where(l->where, &p, g->kept.keys, g->kept.len);
		fits = rest[i] && lc_fact_fits_where(l->where, &p, NULL, 0);
		g->numbers[i] = fits ? 0 : LC_LEFT_OUT;
		any |= fits;
		every &= fits;
		lc_load_process_free(&p);
	}
	g->none = !any;
	g->mixed = any && !every && !rest_agrees(rest, len);
	g->choose = any && !every && asks_for_kept(l->where, &g->kept);
	free(rest);
	return 0;
}

/* Find the root of each process, and of blocks of all threads if all processes share one root. */
static void find_roots(struct lc_load *l, struct lc_load_groups *g, struct lc_block_target *target)
{
	bool first = true;

	g->roots = lc_mem_zeroed(g->len, sizeof(*g->roots));
	for (uint32_t i = 0; i < g->len; i++) {
		if (g->numbers[i] == LC_LEFT_OUT)
			continue;
		g->roots[i] = lc_group_root(l->tree, &l->by, &l->processes[g->numbers[i]]);
		if (first)
			target->all_process = i;
		g->mixed |= g->roots[i] != g->roots[target->all_process];
		first = false;
	}
}

void lc_load_groups_apply(struct lc_load *l, struct lc_load_groups *g,
                          struct lc_block_target *target)
{
	uint32_t number = target->process_first;

	if (!g->on)
		return;
	for (size_t i = 0; i < g->len; i++)
		if (g->numbers[i] != LC_LEFT_OUT)
			g->numbers[i] = number++;
	if (l->tree && l->by.len && !g->kept.len)
		find_roots(l, g, target);
	if (g->choose) {
		l->group_filter.where = l->where;
		l->group_filter.by = &l->by;
		target->groups = &l->group_filter;
	}
	target->processes = g->numbers;
	target->roots = g->roots;
	target->all_mixed = g->mixed;
}

void lc_load_groups_end(struct lc_load_groups *g)
{
	free(g->numbers);
	free(g->roots);
	lc_by_free(&g->kept);
}

int lc_load_say_not_apart(const struct lc_where_terms *where, const struct lc_by *by)
{
	char *keys = lc_by_text(by);
	int status;

	if (where && where->len)
		status =
		    lc_fail("--where matches only some processes of a merged profile, which cannot "
		            "be divided; use the original profiles, or merge them with --by %s",
		            where->list[0].key);
	else
		status = lc_fail("--by: a merged profile has processes that differ in %s, and "
		                 "cannot be divided; use the original profiles",
		                 keys);
	free(keys);
	return status;
}

int lc_load_not_apart(const struct lc_load *l)
{
	return l->not_apart ? lc_load_say_not_apart(l->where, &l->by) : 0;
}

int lc_load_say_unfit(const struct lc_where_terms *where)
{
	return lc_fail("--where: no process of the profiles matches '%.64s=%.64s'%s; 'locus list' "
	               "shows the processes",
	               where->list[0].key, where->list[0].patterns,
	               where->len > 1 ? " and the others" : "");
}
