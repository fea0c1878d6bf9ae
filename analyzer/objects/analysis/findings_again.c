/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings_again.c - tells calls that a program makes again and again from one
 * call that takes long, or from calls whose results it keeps.
 */
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/findings_impl.h"

/*
 * A call that takes long has other samples beside it in two stretches of time, in which it begins
 * and ends. One of so many stretches must have some: calls with nearly all samples leave few.
 */
enum { STRETCHES_MIN = 4, SELDOM = 8 };

#define KEPT_MAX 0.1

/* By path: does the thread begin in a frame in which a thread with a flagged path begins, too? */
static bool *of_same_threads(const struct lc_tree *t, const bool *on)
{
	uint32_t *root = lc_mem_zeroed(t->paths.count, sizeof(*root));
	bool *mine = lc_mem_zeroed(t->paths.count, sizeof(*mine));

	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint32_t parent = lc_tree_parent(t, path);

		root[path] = parent ? root[parent] : path;
		mine[root[path]] |= on[path];
	}
	for (uint32_t path = 1; path < t->paths.count; path++)
		mine[path] = mine[root[path]];
	free(root);
	return mine;
}

/* Own code that the call calls in turn is part of the call. */
bool lc_finding_is_repeated(const struct lc_finding_search *s, const bool *on)
{
	const struct lc_tree *t = s->t;
	bool *mine = of_same_threads(t, on), *below = lc_finding_flags(s);
	uint64_t inside = 0, outside = 0;

	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint64_t times = lc_path_times_of(&t->times, path);

		below[path] = on[path] || below[lc_tree_parent(t, path)];
		if (on[path])
			inside |= times;
		else if (mine[path] && !below[path])
			outside |= times;
	}
	free(mine);
	free(below);
	outside &= inside;
	return __builtin_popcountll(outside) >= STRETCHES_MIN &&
	       SELDOM * __builtin_popcountll(outside) >= __builtin_popcountll(inside);
}

/*
 * Does the program keep few of the objects? An object that a call needs may outlive some
 * collections. If the program kept all, three quarters would outlive a fourth of the collections.
 */
bool lc_finding_is_dropped(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	const uint64_t collected = lc_load_counter(s->v->load, "gc_collected");
	unsigned at = 0;

	while (at + 1 < LC_LIVE_COLUMNS && 4 * lc_live_collections(at + 1) <= collected)
		at++;
	return lc_finding_few_stay(s, row, at, KEPT_MAX);
}
