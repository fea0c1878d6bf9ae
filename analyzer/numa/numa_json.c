/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/numa_json.c - writes the report on NUMA nodes for programs; docs/JSON.md says what each
 * member means.
 */
#include "analyzer/numa/numa_command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/numa/numa_prose.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/json.h"

/* The row of a node + 1; 0 is the unknown one, which comes after all. */
static size_t node_row(const struct lc_numa *n, uint32_t node1)
{
	return node1 ? node1 - 1 : n->nodes_len;
}

static void nodes(struct lc_json *j, const struct lc_numa *n)
{
	lc_json_line(j, 0);
	lc_json_array(j, "nodes");
	for (uint32_t i = 0; i < n->nodes_len; i++) {
		lc_json_line(j, 1);
		lc_json_object(j, NULL);
		lc_json_u64(j, "node", n->nodes[i].number);
		lc_json_u64(j, "memory_bytes", n->nodes[i].memory_bytes);
		lc_json_bool(j, "memory", n->nodes[i].memory);
		lc_json_string(j, "cpus", n->nodes[i].cpus);
		lc_json_array(j, "distances");
		for (uint32_t k = 0; k < n->nodes_len; k++)
			lc_json_u64(j, NULL, lc_numa_distance(n, i, k));
		lc_json_end_array(j);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void machine(struct lc_json *j, const struct lc_numa *n)
{
	static const char *const states[] = { "no-data", "one-node", "off", "on" };

	lc_json_string(j, "state", states[n->state]);
	lc_json_string(j, "reason", lc_numa_say_nothing(n));
	lc_json_string(j, "error", n->error);
	if (n->balancing < 0)
		lc_json_null(j, "balancing");
	else
		lc_json_bool(j, "balancing", n->balancing);
	lc_json_u64(j, "pages_migrated", n->pages_migrated);
	lc_json_u64(j, "pages_asked", n->pages_asked);
	lc_json_u64(j, "pages_unknown", n->pages_unknown);
	lc_json_u64(j, "owner_changes", n->owner_changes);
	lc_json_u64(j, "samples_dropped", n->dropped);
	lc_json_bool(j, "mixed_machines", n->mixed);
	nodes(j, n);
}

/* The matrix as columns of what is not 0; nodes as rows of "nodes", the unknown one behind them. */
static void cells(struct lc_json *j, const struct lc_numa *n, const struct lc_numa_group *g)
{
	lc_json_object(j, "cells");
	lc_json_array(j, "accessing");
	for (size_t i = 0; i < g->cells_len; i++)
		lc_json_u64(j, NULL, node_row(n, g->cells[i].accessing));
	lc_json_end_array(j);
	lc_json_array(j, "owning");
	for (size_t i = 0; i < g->cells_len; i++)
		lc_json_u64(j, NULL, node_row(n, g->cells[i].owning));
	lc_json_end_array(j);
	lc_json_array(j, "samples");
	for (size_t i = 0; i < g->cells_len; i++)
		lc_json_u64(j, NULL, g->cells[i].samples);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

/*
 * Rows: accessing node, columns: owning node, both in the order of nodes and then the unknown one.
 */
static void matrix(struct lc_json *j, const struct lc_numa *n, const struct lc_numa_group *g)
{
	const size_t side = n->nodes_len + 1;
	uint64_t *sums = lc_mem_zeroed(side * side, sizeof(*sums));

	for (size_t i = 0; i < g->cells_len; i++) {
		const struct lc_numa_cell *c = &g->cells[i];

		sums[node_row(n, c->accessing) * side + node_row(n, c->owning)] += c->samples;
	}
	lc_json_array(j, "matrix");
	for (size_t row = 0; row < side; row++) {
		lc_json_array(j, NULL);
		for (size_t i = 0; i < side; i++)
			lc_json_u64(j, NULL, sums[row * side + i]);
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
	free(sums);
}

static void shares(struct lc_json *j, const char *policy, const struct lc_numa_whatif *w)
{
	lc_json_string(j, "policy", policy);
	lc_json_known(j, "remote_share", w->remote_share);
	lc_json_known(j, "remote_share_shared", w->remote_share_shared);
	lc_json_known(j, "weighted_remote_share", w->weighted);
	lc_json_known(j, "mean_distance", w->mean_distance);
}

static void simulated(struct lc_json *j, const struct lc_numa_report *r,
                      const struct lc_numa_group *g)
{
	const size_t side = r->numa->nodes_len;
	struct lc_numa_whatif w;

	if (!r->simulate)
		return;
	lc_numa_simulate(r->numa, g, r->policy, r->node, &w);
	lc_json_object(j, "simulated");
	shares(j, r->policy_text, &w);
	lc_json_array(j, "matrix");
	for (size_t row = 0; row < side; row++) {
		lc_json_array(j, NULL);
		for (size_t i = 0; i < side; i++)
			lc_json_real(j, NULL, w.matrix[row * side + i]);
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
	lc_json_end_object(j);
	free(w.matrix);
}

/* Find the node (a row) with the least mean distance if it had all pages. The first of equals. */
static uint32_t nearest_node(const struct lc_numa *n, const struct lc_numa_group *g)
{
	double best_cost = INFINITY;
	uint32_t best = 0;

	for (uint32_t i = 0; i < n->nodes_len; i++) {
		struct lc_numa_whatif w;
		double cost;

		if (!n->nodes[i].memory)
			continue;
		lc_numa_simulate(n, g, LC_NUMA_BIND, i, &w);
		/* The remote share, less than any distance, stands for an unknown one. */
		cost = w.mean_distance < 0 ? w.remote_share : w.mean_distance;
		free(w.matrix);
		if (cost < best_cost) {
			best_cost = cost;
			best = i;
		}
	}
	return best;
}

/* The shares that other placements would give; bound to the node that is best for it. */
static void what_if(struct lc_json *j, const struct lc_numa *n, const struct lc_numa_group *g)
{
	const uint32_t node = nearest_node(n, g);
	char bind[32];
	const struct {
		enum lc_numa_policy policy;
		const char *name;
	} policies[] = {
		{ LC_NUMA_INTERLEAVE, "interleave" },
		{ LC_NUMA_FIRST_TOUCH_BY_READER, "first-touch-by-reader" },
		{ LC_NUMA_BIND, bind },
	};

	if (n->nodes_len)
		snprintf(bind, sizeof(bind), "bind:%u", n->nodes[node].number);
	lc_json_line(j, 1);
	lc_json_array(j, "what_if");
	for (unsigned i = 0; i < 3 && g->sum.known; i++) {
		struct lc_numa_whatif w;

		lc_numa_simulate(n, g, policies[i].policy, node, &w);
		lc_json_object(j, NULL);
		shares(j, policies[i].name, &w);
		lc_json_end_object(j);
		free(w.matrix);
	}
	lc_json_end_array(j);
}

static void sum(struct lc_json *j, const struct lc_numa_sum *s)
{
	lc_json_u64(j, "samples", s->samples);
	lc_json_u64(j, "known", s->known);
	lc_json_u64(j, "remote", s->remote);
	lc_json_known(j, "remote_share", s->known ? s->remote_share : -1);
	lc_json_known(j, "weighted_remote_share", s->weighted);
	lc_json_known(j, "mean_distance", s->mean_distance);
}

/* "sources", where there are any. */
static void sources(struct lc_json *j, const struct lc_numa_group *g)
{
	bool any = false;

	for (unsigned i = LC_SOURCE_UNKNOWN + 1; i < LC_SOURCE_COUNT; i++) {
		if (!g->sources[i])
			continue;
		if (!any)
			lc_json_object(j, "sources");
		any = true;
		lc_json_u64(j, lc_data_source_name(i), g->sources[i]);
	}
	if (any)
		lc_json_end_object(j);
}

static void group(struct lc_json *j, const struct lc_numa_report *r, const struct lc_numa_group *g)
{
	sum(j, &g->sum);
	(r->compact ? cells : matrix)(j, r->numa, g);
	simulated(j, r, g);
	sources(j, g);
}

static void path(struct lc_json *j, const char *name, const struct lc_numa_report *r,
                 uint32_t number)
{
	if (r->compact)
		lc_json_u64(j, name, number);
	else
		lc_json_path(j, name, r->numa->tree, number);
}

static void thread_identity(struct lc_json *j, const struct lc_tree *t, uint32_t row)
{
	const uint64_t *values = lc_table_values(&t->threads, row);

	lc_json_text(j, "thread", lc_tree_text(t, (uint32_t)values[LC_THREAD_NAME]));
	lc_json_u64(j, "tid", values[LC_THREAD_TID]);
	lc_json_u64(j, "process", lc_table_key(&t->threads, row)[LC_THREAD_PROCESS]);
}

/*
 * "by_node" in the order of nodes, and then the unknown one. `counts` begins with the unknown one.
 */
static void by_node(struct lc_json *j, const struct lc_numa_report *r, const uint64_t *counts)
{
	const size_t len = r->numa->nodes_len;

	lc_json_array(j, "by_node");
	for (size_t i = 0; i <= len; i++) {
		const uint64_t count = counts[i < len ? i + 1 : 0];

		if (!r->compact) {
			lc_json_u64(j, NULL, count);
		} else if (count) {
			lc_json_object(j, NULL);
			lc_json_u64(j, "node", i);
			lc_json_u64(j, "count", count);
			lc_json_end_object(j);
		}
	}
	lc_json_end_array(j);
}

static void origin(struct lc_json *j, const struct lc_numa_report *r, const char *name,
                   const struct lc_numa_origin *o)
{
	lc_json_line(j, 1);
	if (!o->total) {
		lc_json_null(j, name);
		return;
	}
	lc_json_object(j, name);
	lc_json_u64(j, "total", o->total);
	lc_json_u64(j, "threads", o->threads);
	thread_identity(j, r->numa->tree, o->thread);
	lc_json_u64(j, "thread_total", o->thread_part);
	by_node(j, r, o->nodes);
	lc_json_end_object(j);
}

/* The threads of a site; or all threads, each with what it did besides: `whole`. */
static void threads(struct lc_json *j, const struct lc_numa_report *r,
                    const struct lc_numa_thread_row *list, size_t len, bool whole)
{
	const size_t most = r->compact && !whole ? LC_NUMA_COMPACT_THREADS : len;

	if (r->compact)
		lc_json_u64(j, "threads_total", len);
	lc_json_line(j, 1);
	lc_json_array(j, "threads");
	for (size_t i = 0; i < len && i < most; i++) {
		lc_json_line(j, 2);
		lc_json_object(j, NULL);
		thread_identity(j, r->numa->tree, list[i].thread);
		if (whole) {
			lc_json_u64(j, "samples", list[i].samples);
			lc_json_u64(j, "migrations", list[i].migrations);
			lc_json_object(j, "accesses");
		}
		sum(j, &list[i].sum);
		if (whole)
			lc_json_end_object(j);
		by_node(j, r, list[i].nodes);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* The place of a path's leaf as text; null where it is not known. */
static void place(struct lc_json *j, const struct lc_tree *t, const char *name, uint32_t of)
{
	char *text = NULL;
	size_t len;
	FILE *line;

	lc_json_line(j, 2);
	if (!of) {
		lc_json_null(j, name);
		return;
	}
	line = lc_text_open(&text, &len);
	lc_emit_frame(line, t, of);
	lc_mem_close_text(line);
	lc_json_string(j, name, text);
	free(text);
}

static void advice(struct lc_json *j, const struct lc_numa_prose *w)
{
	lc_json_line(j, 2);
	lc_json_array(j, "advice");
	for (size_t i = 0; i < w->advice_len; i++) {
		lc_json_line(j, 3);
		lc_json_object(j, NULL);
		lc_json_string(j, "action", w->advice[i].action);
		lc_json_string(j, "cost", w->advice[i].cost);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void diagnosis(struct lc_json *j, const struct lc_numa *n, const struct lc_numa_site *s)
{
	const struct lc_numa_diagnosis *d = &s->diagnosis;
	struct lc_numa_prose w;

	lc_numa_say(n, s, &w);
	lc_json_line(j, 1);
	lc_json_object(j, "diagnosis");
	lc_json_string(j, "pattern", lc_numa_pattern_name(d->pattern));
	lc_json_string(j, "confidence", lc_numa_confidence_name(d->confidence));
	lc_json_real(j, "observations", d->observations);
	lc_json_string(j, "summary", w.summary);
	place(j, n->tree, "allocation_line",
	      lc_table_key(&n->tree->sites, s->all.site)[LC_SITE_PATH]);
	place(j, n->tree, "access_line", s->paths_len ? s->paths[0].path : 0);
	lc_json_line(j, 2);
	lc_json_array(j, "evidence");
	for (size_t i = 0; i < w.evidence_len; i++) {
		lc_json_line(j, 3);
		lc_json_string(j, NULL, w.evidence[i]);
	}
	lc_json_end_array(j);
	advice(j, &w);
	lc_json_end_object(j);
	lc_numa_prose_free(&w);
}

static void site(struct lc_json *j, const struct lc_numa_report *r, const struct lc_numa_site *s)
{
	const struct lc_tree *t = r->numa->tree;
	const uint32_t *key = lc_table_key(&t->sites, s->all.site);

	lc_json_object(j, NULL);
	lc_json_id(j, "id", s->id);
	lc_json_string(j, "bucket", lc_bucket_name(s->all.bucket));
	lc_json_text(j, "class", lc_tree_text(t, key[LC_SITE_CLASS]));
	group(j, r, &s->all);
	what_if(j, r->numa, &s->all);
	lc_json_line(j, 1);
	path(j, "allocation_path", r, key[LC_SITE_PATH]);
	origin(j, r, "first_touch", &s->touched);
	origin(j, r, "allocated", &s->allocated);
	diagnosis(j, r->numa, s);
	lc_json_line(j, 1);
	lc_json_array(j, "accesses");
	for (size_t i = 0; i < s->paths_len; i++) {
		lc_json_line(j, 2);
		lc_json_object(j, NULL);
		group(j, r, &s->paths[i]);
		path(j, "path", r, s->paths[i].path);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	threads(j, r, s->threads, s->threads_len, false);
	lc_json_end_object(j);
}

/* Write the engine, if one was recorded, and the sums. */
static void recorded(struct lc_json *j, const struct lc_numa_report *r)
{
	const struct lc_numa *n = r->numa;

	if (n->engine < n->load->engines_len) {
		lc_json_line(j, 0);
		lc_json_object(j, "engine");
		lc_json_string(j, "name", n->load->engines[n->engine].name);
		lc_json_string(j, "event", n->load->engines[n->engine].event);
		lc_json_known(j, "folded", n->folded);
		lc_json_end_object(j);
	}
	lc_json_line(j, 0);
	lc_json_object(j, "all");
	group(j, r, &n->all);
	what_if(j, n, &n->all);
	lc_json_end_object(j);
}

void lc_numa_json(struct lc_json *j, const char *name, const struct lc_numa_report *r)
{
	const struct lc_numa *n = r->numa;

	lc_json_object(j, name);
	machine(j, n);
	if (n->state == LC_NUMA_ON)
		recorded(j, r);
	lc_json_line(j, 0);
	lc_json_u64(j, "sites_total", n->sites_len);
	lc_json_array(j, "sites");
	for (size_t i = 0; i < n->sites_len && i < r->top; i++) {
		lc_json_line(j, 0);
		site(j, r, &n->sites[i]);
	}
	lc_json_end_array(j);
	threads(j, r, n->threads, n->threads_len, true);
	lc_json_end_object(j);
}
