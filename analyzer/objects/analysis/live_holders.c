/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/live_holders.c - adds up chains that are alike, and bounds how many objects are
 * dead. */
#include "analyzer/objects/analysis/live_holders.h"

#include <stdlib.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/wilson.h"
#include "analyzer/model/load.h"
#include "analyzer/objects/analysis/ranking.h"
#include "src/base/order.h"

/* A row of HOLDERS. */
struct entry {
	uint32_t line;  /* of the ranking */
	uint32_t chain; /* a string of the tree */
	uint64_t objects;
};

static int order_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	const int order = lc_order_u64(x->line, y->line);

	return order ? order : lc_order_u64(x->chain, y->chain);
}

static int order_chains(const void *a, const void *b)
{
	const struct lc_live_chain *x = a, *y = b;
	const uint32_t len = x->text.len < y->text.len ? x->text.len : y->text.len;
	int order = lc_order_u64(y->objects, x->objects);

	if (!order)
		order = memcmp(x->text.bytes, y->text.bytes, len);
	return order ? order : lc_order_u64(x->text.len, y->text.len);
}

static uint32_t process_of(const struct lc_tree *t, uint32_t row)
{
	return lc_table_key(&t->threads,
	                    lc_table_key(&t->holders, row)[LC_HOLDER_THREAD])[LC_THREAD_PROCESS];
}

/* Is the time in the part of the process's time that counts? */
static bool counts(const struct lc_ranking *rank, uint32_t process, uint64_t time_ns)
{
	return time_ns < lc_load_asked_end_ns(&rank->view->load->processes[process]);
}

/* When each process was walked last; the caller frees it. */
static uint64_t *last_walks(const struct lc_ranking *rank)
{
	const struct lc_tree *t = rank->view->tree;
	const size_t len = rank->view->load->processes_len;
	uint64_t *last = lc_mem_zeroed(len, sizeof(*last));

	for (uint32_t i = 0; i < t->holders.count; i++) {
		const uint64_t time = lc_tree_wide(&lc_table_key(&t->holders, i)[LC_HOLDER_TIME]);
		const uint32_t process = process_of(t, i);

		if (process < len && time > last[process] && counts(rank, process, time))
			last[process] = time;
	}
	return last;
}

/* The rows of the last walks, in order. Sets *len; the caller frees them. */
static struct entry *read_rows(const struct lc_ranking *rank, const uint32_t *lines, size_t *len)
{
	const struct lc_tree *t = rank->view->tree;
	struct entry *entries = lc_mem_zeroed(t->holders.count, sizeof(*entries));
	uint64_t *last = last_walks(rank);

	*len = 0;
	for (uint32_t i = 0; i < t->holders.count; i++) {
		const uint32_t *key = lc_table_key(&t->holders, i), process = process_of(t, i);
		const uint32_t line = lines[key[LC_HOLDER_SITE]];

		if (line && process < rank->view->load->processes_len &&
		    lc_tree_wide(&key[LC_HOLDER_TIME]) == last[process])
			entries[(*len)++] =
			    (struct entry){ line - 1, key[LC_HOLDER_CHAIN],
				            lc_table_values(&t->holders, i)[LC_HOLDER_OBJECTS] };
	}
	if (*len)
		qsort(entries, *len, sizeof(*entries), order_entries);
	free(last);
	return entries;
}

struct lc_live_holders *lc_live_holders_of(struct lc_arena *arena, const struct lc_ranking *rank,
                                           const uint32_t *lines)
{
	const struct lc_tree *t = rank->view->tree;
	struct lc_live_holders *of = lc_arena_zeroed(arena, rank->len, sizeof(*of));
	size_t len, used = 0;
	struct entry *entries = read_rows(rank, lines, &len);
	struct lc_live_chain *chains = lc_arena_zeroed(arena, len, sizeof(*chains));

	for (size_t i = 0; i < len; i++) {
		struct lc_live_holders *h = &of[entries[i].line];
		const struct lc_text text = lc_tree_text(t, entries[i].chain);

		h->looked_at += entries[i].objects;
		if (!text.len)
			continue;
		if (!h->len)
			h->chains = &chains[used];
		if (h->len && entries[i].chain == entries[i - 1].chain) {
			chains[used - 1].objects += entries[i].objects;
		} else {
			chains[used++] = (struct lc_live_chain){ text, entries[i].objects };
			h->len++;
		}
	}
	for (size_t i = 0; i < rank->len; i++)
		if (of[i].len)
			qsort(&chains[of[i].chains - chains], of[i].len, sizeof(*chains),
			      order_chains);
	free(entries);
	return of;
}

/* ---- dead objects ---- */

#define Z95 1.96

struct lc_live_walk lc_live_walk_of(const struct lc_ranking *rank)
{
	const struct lc_tree *t = rank->view->tree;
	struct lc_live_walk walk = { 0 };

	if (rank->view->load->processes_len != 1)
		return walk;
	walk.sites_len = t->sites.count;
	walk.sites = lc_mem_zeroed(walk.sites_len, sizeof(*walk.sites));
	for (uint32_t i = 0; i < t->held.count; i++) {
		const uint64_t time = lc_tree_wide(&lc_table_key(&t->held, i)[LC_HELD_TIME]);

		if (time > walk.time_ns && counts(rank, 0, time))
			walk.time_ns = time;
	}
	for (uint32_t i = 0; i < t->held.count; i++) {
		const uint32_t *key = lc_table_key(&t->held, i);
		const uint64_t *values = lc_table_values(&t->held, i);

		if (lc_tree_wide(&key[LC_HELD_TIME]) == walk.time_ns)
			walk.sites[key[LC_HELD_SITE]] = (struct lc_live_reached){
				values[LC_HELD_KNOWN],
				values[LC_HELD_LOOKED_FOR],
				values[LC_HELD_REACHED],
			};
	}
	return walk;
}

struct lc_live_dead lc_live_walk_dead(const struct lc_live_walk *walk, uint32_t site,
                                      struct lc_live_reached *sum)
{
	const struct lc_live_reached *r = site < walk->sites_len ? &walk->sites[site] : NULL;
	struct lc_live_dead dead = { 0, 1 };
	double low;

	if (!r || !r->looked_for || r->reached > r->looked_for)
		return dead;
	sum->known += r->known;
	sum->looked_for += r->looked_for;
	sum->reached += r->reached;
	dead.part = dead.most = (double)(r->looked_for - r->reached) / (double)r->looked_for;
	if (r->looked_for < r->known)
		lc_wilson(dead.part, (double)r->looked_for, Z95, &low, &dead.most);
	return dead;
}
