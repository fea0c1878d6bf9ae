/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings_paths.c - sums up samples by call path, for findings that are about the
 * calls that a program makes. Flags by path say which paths belong to a finding.
 */
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/advice.h"
#include "analyzer/objects/analysis/findings_impl.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

#define OTHERS 1.1 /* a line with more than the call alone makes other calls, too */

bool *lc_finding_flags(const struct lc_finding_search *s)
{
	return lc_mem_zeroed(s->t->paths.count, sizeof(bool));
}

bool *lc_finding_methods(const struct lc_finding_search *s, const char *patterns)
{
	bool *of = lc_mem_zeroed(s->t->methods.count, sizeof(*of));

	for (uint32_t i = 0; i < s->t->methods.count; i++)
		of[i] = lc_advice_is_method(s->t, i, patterns);
	return of;
}

bool *lc_finding_below(const struct lc_finding_search *s, const char *patterns)
{
	bool *of = lc_finding_methods(s, patterns), *on = lc_finding_flags(s);

	for (uint32_t path = 1; path < s->t->paths.count; path++)
		on[path] = of[lc_tree_method_number(s->t, path)] || on[lc_tree_parent(s->t, path)];
	free(of);
	return on;
}

struct lc_weighted lc_finding_sum(const struct lc_finding_search *s, const bool *on)
{
	struct lc_weighted sum = { 0 };

	for (size_t i = 0; i < s->v->accesses_len; i++) {
		const struct lc_view_access *a = &s->v->accesses[i];

		if (a->path && on[a->path])
			sum = lc_wilson_sum(sum, (struct lc_weighted){ a->samples, a->pairs });
	}
	return sum;
}

uint64_t lc_finding_sum_below(const struct lc_finding_search *s, const bool *on,
                              const char *patterns)
{
	bool *both = lc_finding_below(s, patterns);
	uint64_t samples;

	for (uint32_t path = 1; path < s->t->paths.count; path++)
		both[path] &= on[path];
	samples = lc_finding_sum(s, both).samples;
	free(both);
	return samples;
}

uint64_t lc_finding_row_sum(const struct lc_rank_row *row, const bool *on)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < row->accesses_len; i++)
		if (row->accesses[i].path && on[row->accesses[i].path])
			sum += row->accesses[i].samples;
	return sum;
}

bool lc_finding_made_below(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	size_t below = 0;

	for (size_t i = 0; s->called && i < row->sites_len; i++)
		below += s->called[lc_table_key(&s->t->sites, row->sites[i])[LC_SITE_PATH]];
	return below && 2 * below >= row->sites_len;
}

struct lc_saving_part lc_finding_part(const struct lc_finding_search *s, const bool *on)
{
	return lc_saving_of_paths(s->savings, lc_finding_sum(s, on), on);
}

void lc_finding_weigh(const struct lc_finding_search *s, struct lc_finding *f,
                      struct lc_weighted sum)
{
	f->share = lc_share(sum.samples, s->v->total);
	lc_rank_interval(sum, lc_view_all(s->v), &f->low, &f->high);
	lc_finding_saves_samples(s, f);
}

bool lc_finding_is_enough(const struct lc_finding_search *s, struct lc_weighted sum)
{
	double low, high;

	lc_rank_interval(sum, lc_view_all(s->v), &low, &high);
	return low >= LC_FINDING_SHARE_MIN;
}

/* Does the path's leaf have the method of the call, and is it called from where the call is? */
static bool is_call(const struct lc_tree *t, uint32_t path, uint32_t call)
{
	uint32_t own, from;

	if (lc_tree_method_number(t, path) != lc_tree_method_number(t, call))
		return false;
	if (lc_own_is_jdk_frame(t, call))
		return !lc_tree_parent(t, path) || !lc_own_is_jdk_frame(t, lc_tree_parent(t, path));
	own = lc_own_path(t, path);
	from = lc_own_path(t, call);
	return own && from && lc_tree_same_line(t, own, from);
}

static bool is_own(const struct lc_tree *t, uint32_t path)
{
	return path && lc_own_is_method(t, lc_tree_method_number(t, path));
}

/* All that libraries do for the line of own code that makes the call; 0: a call of the JDK. */
static struct lc_saving_part part_of_line(const struct lc_finding_search *s, uint32_t call)
{
	const struct lc_tree *t = s->t;
	const uint32_t from = lc_own_is_jdk_frame(t, call) ? 0 : lc_own_path(t, call);
	struct lc_saving_part part = { 0 };
	bool *on;

	if (!from)
		return part;
	on = lc_finding_flags(s);
	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint32_t caller = lc_tree_parent(t, path);

		if (!is_own(t, path))
			on[path] =
			    is_own(t, caller) ? lc_tree_same_line(t, caller, from) : on[caller];
	}
	part = lc_finding_part(s, on);
	free(on);
	return part;
}

/* A line may make several calls of a library, as in library.open().find(): they are one cause. */
void lc_finding_take_calls(struct lc_finding_search *s, struct lc_finding *f)
{
	const uint32_t call = f->about.call;
	struct lc_saving_part line;
	bool *on, others;

	if (!call)
		return;
	on = lc_finding_flags(s);
	for (uint32_t path = 1; path < s->t->paths.count; path++)
		on[path] = on[lc_tree_parent(s->t, path)] || is_call(s->t, path, call);
	f->saves.calls = lc_finding_part(s, on);
	free(on);
	line = part_of_line(s, call);
	others = line.share > OTHERS * f->saves.calls.share;
	f->calls = lc_finding_keep(s, lc_advice_call_words(s->t, call, others));
	if (others)
		f->saves.calls = line;
}

uint32_t lc_finding_caller(const struct lc_tree *t, const bool *on, uint32_t path)
{
	while (path && on[path])
		path = lc_tree_parent(t, path);
	return path;
}

void lc_finding_put_callers(FILE *out, const struct lc_finding_search *s, const bool *on,
                            lc_finding_caller_fn *caller)
{
	const struct lc_view *v = s->v;
	struct lc_rank_access *own = lc_mem_zeroed(v->accesses_len + 1, sizeof(*own));
	struct lc_arena arena = { 0 };
	const struct lc_rank_lines *lines;
	uint64_t all = 0;
	size_t len = 0;

	for (size_t i = 0; i < v->accesses_len; i++) {
		const struct lc_view_access *a = &v->accesses[i];

		if (!a->path || !on[a->path])
			continue;
		all += a->samples;
		own[len++] =
		    (struct lc_rank_access){ lc_own_library(s->t, caller(s->t, on, a->path)),
			                     a->samples };
	}
	lines = lc_rank_roll_up(&arena, s->t, own, len, &len);
	for (size_t i = 0; i < len; i++) {
		char *code;

		if (lines[i].method == UINT32_MAX)
			continue;
		code = lc_own_access(s->t, &lines[i], UINT_MAX);
		fprintf(out, ", %.0f%% of them %s", 100 * lc_share(lines[i].samples, all), code);
		free(code);
		break;
	}
	free(own);
	lc_arena_free(&arena);
}

void lc_finding_put_method(FILE *out, const struct lc_finding_search *s, const bool *on)
{
	const struct lc_view *v = s->v;
	const struct lc_tree *t = s->t;
	uint64_t *samples = lc_mem_zeroed(t->methods.count, sizeof(*samples));
	uint32_t best = UINT32_MAX;
	char *name;

	for (size_t i = 0; i < v->accesses_len; i++) {
		uint32_t path = v->accesses[i].path, method;

		if (!path || !on[path])
			continue;
		while (on[lc_tree_parent(t, path)])
			path = lc_tree_parent(t, path);
		method = lc_tree_method_number(t, path);
		samples[method] += v->accesses[i].samples;
		if (best == UINT32_MAX || samples[method] > samples[best])
			best = method;
	}
	free(samples);
	if (best == UINT32_MAX)
		return;
	name = lc_short_code(t, best, 0);
	fprintf(out, ", most by %s", name);
	free(name);
}
