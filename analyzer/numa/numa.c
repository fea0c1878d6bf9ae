/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/numa.c - sums up samples by node for the analysis of numa.h. The rows of one engine are
 * sorted so that rows of one site, path or thread are adjacent, and become cells. numa_diagnose.c
 * judges the cells.
 */
#include "analyzer/numa/numa_impl.h"
#include "src/base/order.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

/* All that lives as long as the analysis. */
/* A row of tree.placements, nodes as row + 1. */
struct row {
	uint32_t bucket, site, path, thread;
	uint32_t accessing, owning, source;
	uint64_t samples, pairs;
};

/* While the analysis is made. */
struct build {
	struct lc_numa *n;
	struct row *rows;
	size_t rows_len;
	uint32_t row_of[LC_NODE_NUMBERS]; /* of a node number: row + 1; 0: none */
};

/* ---- the samples ---- */

static bool is_fault(const struct lc_numa *n, uint32_t engine)
{
	return engine < n->load->engines_len && !strcmp(n->load->engines[engine].name, "fault");
}

static uint32_t choose_engine(const struct lc_numa *n)
{
	const struct lc_table *placements = &n->tree->placements;
	uint64_t samples[LC_ENGINES_MAX] = { 0 };
	uint32_t best = 0;

	for (uint32_t i = 0; i < placements->count; i++)
		samples[lc_table_key(placements, i)[LC_PLACEMENT_ENGINE]] +=
		    *lc_table_values(placements, i);
	for (uint32_t e = 1; e < LC_ENGINES_MAX; e++) {
		bool fault = is_fault(n, e), best_fault = is_fault(n, best);

		if (!samples[e] || (fault && !best_fault && samples[best]))
			continue;
		if (samples[e] > samples[best] || (best_fault && !fault))
			best = e;
	}
	return best;
}

static uint32_t row_of(const struct build *b, uint32_t node1)
{
	return node1 ? b->row_of[node1 - 1] : 0;
}

/* The rows of an engine; UINT32_MAX: of those of first touches. */
static void read_rows(struct build *b, uint32_t engine)
{
	const struct lc_table *placements = &b->n->tree->placements;

	b->rows_len = 0;
	for (uint32_t i = 0; i < placements->count; i++) {
		const uint32_t *key = lc_table_key(placements, i);

		if (engine == UINT32_MAX ? !is_fault(b->n, key[LC_PLACEMENT_ENGINE])
		                         : key[LC_PLACEMENT_ENGINE] != engine)
			continue;
		b->rows[b->rows_len++] = (struct row){
			.bucket = key[LC_PLACEMENT_BUCKET],
			.site = key[LC_PLACEMENT_SITE],
			.path = key[LC_PLACEMENT_PATH],
			.thread = key[LC_PLACEMENT_THREAD],
			.accessing = row_of(b, key[LC_PLACEMENT_ACCESSING]),
			.owning = row_of(b, key[LC_PLACEMENT_OWNING]),
			.source = key[LC_PLACEMENT_SOURCE],
			.samples = lc_table_values(placements, i)[LC_PLACEMENT_SAMPLES],
			.pairs = lc_table_values(placements, i)[LC_PLACEMENT_PAIRS],
		};
	}
}

/* ---- orders; none depends on the order in which profiles were read ---- */

#define ORDER(member)                                                                              \
	do {                                                                                       \
		if (x->member != y->member)                                                        \
			return x->member < y->member ? -1 : 1;                                     \
	} while (0)

static int order_by_site(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	ORDER(bucket);
	ORDER(site);
	return 0;
}

static int order_by_path(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	ORDER(path);
	return 0;
}

static int order_by_thread(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	ORDER(thread);
	return 0;
}

static int order_by_nodes(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	ORDER(accessing);
	ORDER(owning);
	return 0;
}

static int order_thread_rows(const struct lc_tree *t, uint32_t a, uint32_t b)
{
	const uint64_t *x = lc_table_values(&t->threads, a), *y = lc_table_values(&t->threads, b);
	int order = lc_tree_order_text(t, (uint32_t)x[LC_THREAD_NAME], (uint32_t)y[LC_THREAD_NAME]);

	if (!order)
		order = lc_order_u64(x[LC_THREAD_TID], y[LC_THREAD_TID]);
	return order ? order : lc_order_u64(a, b);
}

static int order_threads(const void *a, const void *b, void *tree)
{
	const struct lc_numa_thread_row *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : order_thread_rows(tree, x->thread, y->thread);
}

/*
 * The allocating line makes local samples too, when the JVM zeroes new memory, and on a slow
 * machine most samples. Advice is about the accesses that are remote.
 */
static int order_paths(const void *a, const void *b, void *tree)
{
	const struct lc_numa_group *x = a, *y = b;
	int order = lc_order_u64(y->sum.remote, x->sum.remote);

	order = order ? order : lc_order_u64(y->sum.samples, x->sum.samples);
	return order ? order : lc_tree_order_paths(tree, x->path, y->path);
}

static int order_sites(const void *a, const void *b)
{
	const struct lc_numa_site *x = a, *y = b;
	int order = lc_order_u64(y->all.sum.remote, x->all.sum.remote);

	if (!order)
		order = lc_order_u64(y->all.sum.samples, x->all.sum.samples);
	if (!order)
		order = lc_order_u64(x->all.bucket, y->all.bucket);
	return order ? order : lc_order_u64(x->id, y->id);
}

/* ---- sums ---- */

static struct lc_numa_sum sum_cells(const struct lc_numa *n, const struct lc_numa_cell *cells,
                                    size_t len)
{
	struct lc_numa_sum s = { 0 };
	double all = 0, remote = 0;
	bool measured = true;

	for (size_t i = 0; i < len; i++) {
		const struct lc_numa_cell *c = &cells[i];
		uint32_t distance;

		s.samples += c->samples;
		if (!c->accessing || !c->owning)
			continue;
		distance = lc_numa_distance(n, c->accessing - 1, c->owning - 1);
		measured &= distance > 0;
		s.known += c->samples;
		s.known_pairs += c->pairs;
		all += (double)c->samples * distance;
		if (c->accessing == c->owning)
			continue;
		s.remote += c->samples;
		s.remote_pairs += c->pairs;
		remote += (double)c->samples * distance;
	}
	measured &= s.known > 0;
	s.remote_share = lc_share(s.remote, s.known);
	s.weighted = measured ? remote / all : -1;
	s.mean_distance = measured ? all / (double)s.known : -1;
	return s;
}

static struct lc_numa_group make_group(struct build *b, struct row *rows, size_t len)
{
	struct lc_numa_cell *cells = lc_arena_zeroed(&b->n->arena, len, sizeof(*cells));
	struct lc_numa_group g = { .cells = cells };

	qsort(rows, len, sizeof(*rows), order_by_nodes);
	for (size_t i = 0; i < len; i++) {
		struct lc_numa_cell *c = &cells[g.cells_len - (g.cells_len > 0)];

		g.sources[rows[i].source] += rows[i].samples;
		if (!g.cells_len || c->accessing != rows[i].accessing ||
		    c->owning != rows[i].owning) {
			c = &cells[g.cells_len++];
			*c = (struct lc_numa_cell){ rows[i].accessing, rows[i].owning, 0, 0 };
		}
		c->samples += rows[i].samples;
		c->pairs += rows[i].pairs;
	}
	g.sum = sum_cells(b->n, cells, g.cells_len);
	return g;
}

/* How many rows from `at` on are equal in this order. */
static size_t run_of(const struct row *rows, size_t len, int (*order)(const void *, const void *))
{
	size_t i = 1;

	while (i < len && !order(&rows[0], &rows[i]))
		i++;
	return i;
}

static size_t count_runs(const struct row *rows, size_t len,
                         int (*order)(const void *, const void *))
{
	size_t runs = 0;

	for (size_t at = 0; at < len; at += run_of(rows + at, len - at, order))
		runs++;
	return runs;
}

static void make_paths(struct build *b, struct lc_numa_site *s, struct row *rows, size_t len)
{
	qsort(rows, len, sizeof(*rows), order_by_path);
	s->paths =
	    lc_arena_zeroed(&b->n->arena, count_runs(rows, len, order_by_path), sizeof(*s->paths));
	for (size_t at = 0, run; at < len; at += run) {
		uint32_t path = rows[at].path;

		run = run_of(rows + at, len - at, order_by_path);
		s->paths[s->paths_len] = make_group(b, rows + at, run);
		s->paths[s->paths_len].bucket = s->all.bucket;
		s->paths[s->paths_len].site = s->all.site;
		s->paths[s->paths_len++].path = path;
	}
	qsort_r(s->paths, s->paths_len, sizeof(*s->paths), order_paths,
	        (void *)(uintptr_t)b->n->tree);
}

/* Threads of some rows, by what they did in them. */
static struct lc_numa_thread_row *make_threads(struct build *b, struct row *rows, size_t len,
                                               size_t *threads_len)
{
	struct lc_numa_thread_row *threads;

	qsort(rows, len, sizeof(*rows), order_by_thread);
	threads =
	    lc_arena_zeroed(&b->n->arena, count_runs(rows, len, order_by_thread), sizeof(*threads));
	for (size_t at = 0, run; at < len; at += run) {
		struct lc_numa_thread_row *t = &threads[(*threads_len)++];

		t->thread = rows[at].thread;
		t->nodes = lc_arena_zeroed(&b->n->arena, b->n->nodes_len + 1, sizeof(*t->nodes));
		run = run_of(rows + at, len - at, order_by_thread);
		for (size_t i = at; i < at + run; i++)
			t->nodes[rows[i].accessing] += rows[i].samples;
		t->sum = make_group(b, rows + at, run).sum;
		t->samples = t->sum.samples;
	}
	return threads;
}

static void make_sites(struct build *b)
{
	struct lc_numa *n = b->n;

	qsort(b->rows, b->rows_len, sizeof(*b->rows), order_by_site);
	n->sites = lc_arena_zeroed(&n->arena, count_runs(b->rows, b->rows_len, order_by_site),
	                           sizeof(*n->sites));
	for (size_t at = 0, run; at < b->rows_len; at += run) {
		struct row *rows = b->rows + at;
		const uint32_t bucket = rows->bucket, site = rows->site;
		struct lc_numa_site *s;

		run = run_of(rows, b->rows_len - at, order_by_site);
		if (!site)
			continue;
		s = &n->sites[n->sites_len++];
		s->id = lc_tree_site_id(n->tree, site);
		s->all = make_group(b, rows, run);
		s->all.bucket = bucket;
		s->all.site = site;
		s->all.path = LC_NUMA_ALL_PATHS;
		make_paths(b, s, rows, run);
		s->threads = make_threads(b, rows, run, &s->threads_len);
		qsort_r(s->threads, s->threads_len, sizeof(*s->threads), order_threads,
		        (void *)(uintptr_t)n->tree);
		s->touched.nodes = lc_arena_zeroed(&n->arena, n->nodes_len + 1, sizeof(uint64_t));
		s->allocated.nodes = lc_arena_zeroed(&n->arena, n->nodes_len + 1, sizeof(uint64_t));
	}
}

/* ---- where things came from ---- */

/* Sites still are in the order of their rows. */
static int order_site_rows(const void *a, const void *b)
{
	const struct lc_numa_site *x = a, *y = b;

	ORDER(all.bucket);
	ORDER(all.site);
	return 0;
}

static struct lc_numa_site *find_site(struct lc_numa *n, uint32_t bucket, uint32_t site)
{
	const struct lc_numa_site key = { .all = { .bucket = bucket, .site = site } };

	return bsearch(&key, n->sites, n->sites_len, sizeof(key), order_site_rows);
}

/* `rows` of one site: what each thread did becomes its origin. */
static void make_origin(struct build *b, struct lc_numa_origin *o, struct row *rows, size_t len)
{
	uint64_t *most = lc_mem_zeroed(b->n->load->processes_len + 1, sizeof(*most));
	uint64_t record = 0;

	qsort(rows, len, sizeof(*rows), order_by_thread);
	for (size_t at = 0, run; at < len; at += run) {
		uint32_t process =
		    lc_table_key(&b->n->tree->threads, rows[at].thread)[LC_THREAD_PROCESS];
		uint64_t sum = 0;

		run = run_of(rows + at, len - at, order_by_thread);
		for (size_t i = at; i < at + run; i++) {
			o->nodes[rows[i].accessing] += rows[i].samples;
			sum += rows[i].samples;
		}
		if (sum > record || (sum == record && order_thread_rows(b->n->tree, rows[at].thread,
		                                                        o->thread) < 0)) {
			o->thread = rows[at].thread;
			record = sum;
		}
		if (sum > most[process]) {
			o->thread_part += sum - most[process];
			most[process] = sum;
		}
		o->threads += sum > 0;
		o->total += sum;
	}
	free(most);
}

static void make_origins(struct build *b, bool touched)
{
	qsort(b->rows, b->rows_len, sizeof(*b->rows), order_by_site);
	for (size_t at = 0, run; at < b->rows_len; at += run) {
		struct lc_numa_site *s = find_site(b->n, b->rows[at].bucket, b->rows[at].site);

		run = run_of(b->rows + at, b->rows_len - at, order_by_site);
		if (s)
			make_origin(b, touched ? &s->touched : &s->allocated, b->rows + at, run);
	}
}

/* Allocations as rows whose samples are bytes. */
static void read_homes(struct build *b)
{
	const struct lc_table *homes = &b->n->tree->homes;

	b->rows_len = 0;
	for (uint32_t i = 0; i < homes->count; i++) {
		const uint32_t *key = lc_table_key(homes, i);

		b->rows[b->rows_len++] = (struct row){
			.bucket = LC_BUCKET_OBJECT,
			.site = key[LC_HOME_SITE],
			.thread = key[LC_HOME_THREAD],
			.accessing = row_of(b, key[LC_HOME_NODE]),
			.samples = lc_table_values(homes, i)[LC_HOME_BYTES],
		};
	}
}

/* ---- threads as a whole ---- */

/* All samples of a thread, not only those with an address, tell where it ran. */
static void make_all_threads(struct build *b)
{
	struct lc_numa *n = b->n;
	const struct lc_table *nodes = &n->tree->nodes;
	uint32_t *row_of_thread = lc_mem_zeroed(n->tree->threads.count + 1, sizeof(uint32_t));

	n->threads = make_threads(b, b->rows, b->rows_len, &n->threads_len);
	n->threads =
	    memcpy(lc_arena_zeroed(&n->arena, n->threads_len + nodes->count, sizeof(*n->threads)),
	           n->threads, n->threads_len * sizeof(*n->threads));
	for (size_t i = 0; i < n->threads_len; i++) {
		row_of_thread[n->threads[i].thread] = (uint32_t)i + 1;
		n->threads[i].samples = 0;
		memset(n->threads[i].nodes, 0, (n->nodes_len + 1) * sizeof(uint64_t));
	}
	for (uint32_t i = 0; i < nodes->count; i++) {
		const uint32_t *key = lc_table_key(nodes, i);
		const uint64_t *values = lc_table_values(nodes, i);
		uint32_t *row = &row_of_thread[key[LC_NODE_THREAD]];
		struct lc_numa_thread_row *t;

		if (key[LC_NODE_ENGINE] != n->engine)
			continue;
		if (!*row) {
			n->threads[n->threads_len].thread = key[LC_NODE_THREAD];
			n->threads[n->threads_len].nodes =
			    lc_arena_zeroed(&n->arena, n->nodes_len + 1, sizeof(uint64_t));
			n->threads[n->threads_len].sum = sum_cells(n, NULL, 0);
			*row = (uint32_t)++n->threads_len;
		}
		t = &n->threads[*row - 1];
		t->samples += values[LC_NODE_SAMPLES];
		t->nodes[row_of(b, key[LC_NODE_NODE])] += values[LC_NODE_SAMPLES];
		t->migrations += values[LC_NODE_MIGRATIONS];
	}
	qsort_r(n->threads, n->threads_len, sizeof(*n->threads), order_threads,
	        (void *)(uintptr_t)n->tree);
	free(row_of_thread);
}

void lc_numa_build(struct lc_numa *n, const struct lc_load *load, uint32_t engine)
{
	struct build b = { .n = n };
	size_t most = load->tree->placements.count;

	memset(n, 0, sizeof(*n));
	n->load = load;
	n->tree = load->tree;
	lc_numa_read_machine(n, b.row_of);
	n->engine = engine == UINT32_MAX ? choose_engine(n) : engine;
	n->folded = lc_numa_read_folded(n);
	if (load->tree->homes.count > most)
		most = load->tree->homes.count;
	b.rows = lc_mem_zeroed(most + 1, sizeof(*b.rows));
	read_rows(&b, n->engine);
	n->all = make_group(&b, b.rows, b.rows_len);
	n->all.path = LC_NUMA_ALL_PATHS;
	make_all_threads(&b);
	make_sites(&b);
	read_rows(&b, UINT32_MAX);
	make_origins(&b, true);
	read_homes(&b);
	make_origins(&b, false);
	for (size_t i = 0; i < n->sites_len; i++)
		n->sites[i].diagnosis = lc_numa_diagnose(n, &n->sites[i]);
	qsort(n->sites, n->sites_len, sizeof(*n->sites), order_sites);
	free(b.rows);
}

void lc_numa_free(struct lc_numa *n)
{
	lc_arena_free(&n->arena);
	memset(n, 0, sizeof(*n));
}
