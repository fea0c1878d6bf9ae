/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/tree_combine.c - adds one tree to another: looks up each name once, and then adds rows by
 * the names' numbers in the other tree.
 */
#include "analyzer/model/tree_combine.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/tree_prune.h"
#include "analyzer/model/tree_spans.h"

/* Numbers of one tree to those of the other. */
struct numbers {
	uint32_t *strings, *methods, *frames, *paths, *sites, *threads, *executions;
	const bool *keep;                  /* of each path; NULL: all stay, and so do all names */
	bool *used[LC_SECTION_FRAMES + 1]; /* of each string, method and frame, where paths go */
};

static uint32_t *numbers_for(const struct lc_table *table)
{
	return lc_mem_zeroed(table->count, sizeof(uint32_t));
}

/* ---- names ---- */

/* Is the name to be mapped? */
static bool is_used(const struct numbers *n, enum lc_section type, uint32_t i)
{
	return !n->keep || n->used[type][i];
}

static void use_strings_of_rows(const struct lc_tree *from, const struct numbers *n,
                                const struct lc_section_spec *s)
{
	const struct lc_table *rows = lc_tree_table(from, s->number);
	uint32_t at = s->merged ? 1 : 0;

	for (unsigned i = 0; i < s->keys_len; i++) {
		for (uint32_t row = 0; s->columns[i].type == LC_COLUMN_STRING && row < rows->count;
		     row++)
			n->used[LC_SECTION_STRINGS][lc_table_key(rows, row)[at]] = true;
		at += lc_tree_is_wide(s->columns[i].type) ? 2 : 1;
	}
}

/* Which names paths that stay, sites, threads and rows have. */
static void find_used(const struct lc_tree *from, struct numbers *n)
{
	bool *strings = n->used[LC_SECTION_STRINGS] = lc_mem_zeroed(from->strings.count, 1);
	bool *methods = n->used[LC_SECTION_METHODS] = lc_mem_zeroed(from->methods.count, 1);
	bool *frames = n->used[LC_SECTION_FRAMES] = lc_mem_zeroed(from->frames.count, 1);

	for (uint32_t i = 1; i < from->paths.count; i++)
		if (n->keep[i])
			frames[lc_table_key(&from->paths, i)[LC_PATH_FRAME]] = true;
	for (uint32_t i = 0; i < from->frames.count; i++)
		if (frames[i])
			methods[lc_table_key(&from->frames, i)[LC_FRAME_METHOD]] = true;
	for (uint32_t i = 0; i < from->methods.count; i++)
		for (unsigned k = 0; methods[i] && k < LC_METHOD_KEY; k++)
			strings[lc_table_key(&from->methods, i)[k]] = true;
	for (uint32_t i = 1; i < from->sites.count; i++)
		strings[lc_table_key(&from->sites, i)[LC_SITE_CLASS]] = true;
	for (uint32_t i = 0; i < from->threads.count; i++)
		strings[lc_table_values(&from->threads, i)[LC_THREAD_NAME]] = true;
	for (unsigned section = 0; section < LC_SECTION_COUNT; section++)
		if (lc_tree_table(from, section))
			use_strings_of_rows(from, n, lc_section_spec(section));
}

static void map_strings(struct lc_tree *to, const struct lc_tree *from, struct numbers *n)
{
	n->strings = numbers_for(&from->strings);
	for (uint32_t i = 1; i < from->strings.count; i++) {
		const struct lc_text text = lc_tree_text(from, i);

		if (is_used(n, LC_SECTION_STRINGS, i))
			n->strings[i] = lc_tree_string(to, text.bytes, text.len);
	}
}

static void map_methods(struct lc_tree *to, const struct lc_tree *from, struct numbers *n)
{
	n->methods = numbers_for(&from->methods);
	for (uint32_t i = 0; i < from->methods.count; i++) {
		const uint32_t *names = lc_table_key(&from->methods, i);
		uint32_t key[LC_METHOD_KEY];

		for (unsigned k = 0; k < LC_METHOD_KEY; k++)
			key[k] = n->strings[names[k]];
		if (is_used(n, LC_SECTION_METHODS, i))
			n->methods[i] = lc_table_put(&to->methods, key);
	}
}

static void map_frames(struct lc_tree *to, const struct lc_tree *from, struct numbers *n)
{
	n->frames = numbers_for(&from->frames);
	for (uint32_t i = 0; i < from->frames.count; i++) {
		const uint32_t *frame = lc_table_key(&from->frames, i);
		const uint32_t key[LC_FRAME_KEY] = { n->methods[frame[LC_FRAME_METHOD]],
			                             frame[LC_FRAME_BCI1], frame[LC_FRAME_LINE1] };

		if (is_used(n, LC_SECTION_FRAMES, i))
			n->frames[i] = lc_table_put(&to->frames, key);
	}
}

/* The frame that stands for what is folded. */
static uint32_t pruned_frame(struct lc_tree *to)
{
	const uint32_t method[LC_METHOD_KEY] = { lc_tree_string(to, LC_PRUNED_CLASS,
		                                                strlen(LC_PRUNED_CLASS)) };
	const uint32_t frame[LC_FRAME_KEY] = { lc_table_put(&to->methods, method) };

	return lc_table_put(&to->frames, frame);
}

/*
 * Map paths to the other tree. A parent has a smaller number than its children, so paths with known
 * parents are looked up together. Paths below a folded path fold into the same path.
 */
static void map_paths(struct lc_tree *to, const struct lc_tree *from, struct numbers *n)
{
	const uint32_t pruned = n->keep ? pruned_frame(to) : 0;
	uint32_t keys[LC_TABLE_BATCH * LC_PATH_KEY], len = 0, first = 1;

	n->paths = numbers_for(&from->paths);
	for (uint32_t i = 1; i < from->paths.count; i++) {
		const uint32_t *path = lc_table_key(&from->paths, i);
		const uint32_t parent = path[LC_PATH_PARENT];

		if (len == LC_TABLE_BATCH || parent >= first) {
			lc_table_put_batch(&to->paths, keys, len, n->paths + first);
			first = i;
			len = 0;
		}
		keys[len * LC_PATH_KEY + LC_PATH_PARENT] = n->paths[parent];
		keys[len * LC_PATH_KEY + LC_PATH_FRAME] = n->frames[path[LC_PATH_FRAME]];
		if (n->keep && !n->keep[i]) {
			const uint32_t *up = lc_table_key(&to->paths, n->paths[parent]);

			keys[len * LC_PATH_KEY + LC_PATH_FRAME] = pruned;
			if (!n->keep[parent]) /* it is folded itself */
				memcpy(&keys[len * LC_PATH_KEY], up, LC_PATH_KEY * sizeof(*up));
		}
		len++;
	}
	lc_table_put_batch(&to->paths, keys, len, n->paths + first);
}

static void map_sites(struct lc_tree *to, const struct lc_tree *from, struct numbers *n)
{
	n->sites = numbers_for(&from->sites);
	for (uint32_t i = 1; i < from->sites.count; i++) {
		const uint32_t *site = lc_table_key(&from->sites, i);
		const uint32_t key[LC_SITE_KEY] = { n->strings[site[LC_SITE_CLASS]],
			                            n->paths[site[LC_SITE_PATH]] };
		const uint64_t *values = lc_table_values(&from->sites, i);
		uint64_t *sums;

		n->sites[i] = lc_table_put(&to->sites, key);
		sums = lc_table_values(&to->sites, n->sites[i]);
		for (unsigned v = 0; v < LC_SITE_VALUES; v++)
			lc_sum_add(&sums[v], values[v]);
	}
}

static void map_threads(struct lc_tree *to, const struct lc_tree *from, struct numbers *n)
{
	n->threads = numbers_for(&from->threads);
	for (uint32_t i = 0; i < from->threads.count; i++) {
		const uint64_t *values = lc_table_values(&from->threads, i);
		uint64_t *sums;

		n->threads[i] = lc_table_put(&to->threads, lc_table_key(&from->threads, i));
		lc_tree_thread_seen(to, n->threads[i], (uint32_t)values[LC_THREAD_TID],
		                    n->strings[values[LC_THREAD_NAME]], values[LC_THREAD_BEGIN_NS],
		                    values[LC_THREAD_END_NS]);
		sums = lc_table_values(&to->threads, n->threads[i]);
		lc_sum_add(&sums[LC_THREAD_ALLOCATIONS], values[LC_THREAD_ALLOCATIONS]);
		lc_sum_add(&sums[LC_THREAD_BYTES], values[LC_THREAD_BYTES]);
	}
	for (uint32_t i = 0; i < from->shares.count; i++) {
		const uint32_t *share = lc_table_key(&from->shares, i);
		const uint32_t key[LC_SHARE_KEY] = { n->threads[share[LC_SHARE_THREAD]],
			                             share[LC_SHARE_ENGINE],
			                             share[LC_SHARE_BUCKET] };

		lc_sum_add(lc_table_values(&to->shares, lc_table_put(&to->shares, key)),
		           *lc_table_values(&from->shares, i));
	}
}

/* ---- rows ---- */

static uint32_t number_of(const struct numbers *n, enum lc_column_type type, uint32_t v)
{
	switch (type) {
	case LC_COLUMN_SITE:
	case LC_COLUMN_SITE_OR_0:
		return n->sites[v];
	case LC_COLUMN_PATH:
		return n->paths[v];
	case LC_COLUMN_STRING:
		return n->strings[v];
	default:
		return v;
	}
}

/* Does the row say something of a path, or of a site, that holds for no other one? */
static bool is_lost(const struct lc_tree *from, const struct numbers *n,
                    const struct lc_section_spec *s, const uint32_t *key)
{
	if (!n->keep)
		return false;
	if (s->number == LC_SECTION_RECURSIONS)
		return !n->keep[key[LC_RECURSION_PATH]];
	return s->number == LC_SECTION_SITE_NAMES &&
	       !n->keep[lc_table_key(&from->sites, key[LC_SITE_NAME_SITE])[LC_SITE_PATH]];
}

/* The key of a row, as the other tree has it. */
static void map_key(const struct numbers *n, const struct lc_section_spec *s, const uint32_t *key,
                    uint32_t *mapped)
{
	uint32_t at = 0;

	if (s->merged) {
		mapped[at] = n->threads[key[at]];
		at++;
	}
	for (unsigned i = 0; i < s->keys_len; i++, at++) {
		mapped[at] = number_of(n, s->columns[i].type, key[at]);
		if (lc_tree_is_wide(s->columns[i].type)) {
			at++;
			mapped[at] = key[at];
		}
	}
}

static void add_section(struct lc_tree *to, const struct lc_tree *from, const struct numbers *n,
                        const struct lc_section_spec *s)
{
	struct lc_table *table = lc_tree_table(to, s->number);
	const struct lc_table *rows = lc_tree_table(from, s->number);
	uint32_t keys[LC_TABLE_BATCH * (1 + 2 * LC_COLUMNS_MAX)] = { 0 };
	uint32_t of[LC_TABLE_BATCH], found[LC_TABLE_BATCH], len = 0;

	for (uint32_t row = 0; row < rows->count; row++) {
		if (!is_lost(from, n, s, lc_table_key(rows, row))) {
			map_key(n, s, lc_table_key(rows, row), keys + len * table->key_len);
			of[len++] = row;
		}
		if (len < LC_TABLE_BATCH && row + 1 < rows->count)
			continue;
		lc_table_put_batch(table, keys, len, found);
		for (uint32_t k = 0; k < len; k++) {
			const uint64_t *values = lc_table_values(rows, of[k]);
			uint64_t *sums = lc_table_values(table, found[k]);

			for (unsigned i = s->keys_len; i < s->columns_len; i++)
				lc_section_column_add(&s->columns[i], sums++, *values++);
		}
		len = 0;
	}
}

static void add_executions(struct lc_tree *to, const struct lc_tree *from, struct numbers *n)
{
	n->executions = numbers_for(&from->executions);
	for (uint32_t row = 0; row < from->executions.count; row++) {
		const uint32_t *e = lc_table_key(&from->executions, row);
		const uint32_t key[LC_EXECUTION_KEY] = {
			n->threads[e[LC_EXECUTION_THREAD]],
			e[LC_EXECUTION_KIND],
			e[LC_EXECUTION_LEVEL],
			e[LC_EXECUTION_SUBMIT],
			n->sites[e[LC_EXECUTION_SITE]],
			n->paths[e[LC_EXECUTION_SUBMIT_PATH]],
			n->paths[e[LC_EXECUTION_PATH]],
		};

		n->executions[row] = lc_table_put(&to->executions, key);
		lc_tree_spans_add(lc_table_values(&to->executions, n->executions[row]),
		                  lc_table_values(&from->executions, row));
	}
	for (size_t i = 0; i < from->span_intervals_len; i++) {
		const struct lc_tree_interval *a = &from->span_intervals[i];

		lc_tree_spans_interval(to, n->executions[a->row], a->first_ns, a->last_ns);
	}
	for (uint32_t i = 0; i < from->span_buckets.count; i++) {
		const uint32_t *bucket = lc_table_key(&from->span_buckets, i);
		const uint32_t key[2] = { n->executions[bucket[0]], bucket[1] };

		lc_sum_add(lc_table_values(&to->span_buckets, lc_table_put(&to->span_buckets, key)),
		           *lc_table_values(&from->span_buckets, i));
	}
}

static void add_traces(struct lc_tree *to, const struct lc_tree *from, const struct numbers *n)
{
	to->traces = lc_mem_grow(to->traces, &to->traces_cap, to->traces_len + from->traces_len,
	                         sizeof(*to->traces));
	for (size_t i = 0; i < from->traces_len; i++) {
		struct lc_tree_trace trace = from->traces[i];

		trace.thread = n->threads[trace.thread];
		trace.row.site = n->sites[trace.row.site];
		trace.row.submit_path = n->paths[trace.row.submit_path];
		trace.row.path = n->paths[trace.row.path];
		to->traces[to->traces_len++] = trace;
	}
}

void lc_tree_combine(struct lc_tree *to, const struct lc_tree *from)
{
	lc_tree_combine_some(to, from, NULL);
}

void lc_tree_combine_some(struct lc_tree *to, const struct lc_tree *from, const bool *keep)
{
	struct numbers n = { .keep = keep };

	if (keep)
		find_used(from, &n);
	map_strings(to, from, &n);
	map_methods(to, from, &n);
	map_frames(to, from, &n);
	map_paths(to, from, &n);
	map_sites(to, from, &n);
	map_threads(to, from, &n);
	for (unsigned section = 0; section < LC_SECTION_COUNT; section++)
		if (lc_tree_table(from, section))
			add_section(to, from, &n, lc_section_spec(section));
	add_executions(to, from, &n);
	add_traces(to, from, &n);
	for (unsigned e = 0; e < LC_ENGINES_MAX; e++) {
		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
			lc_sum_add(&to->buckets[e][b], from->buckets[e][b]);
		lc_sum_add(&to->offered[e], from->offered[e]);
	}
	free(n.strings);
	free(n.methods);
	free(n.frames);
	free(n.paths);
	free(n.sites);
	free(n.threads);
	free(n.executions);
	for (unsigned i = 0; i <= LC_SECTION_FRAMES; i++)
		free(n.used[i]);
}

size_t lc_tree_bytes(const struct lc_tree *t)
{
	const struct lc_table *apart[] = { &t->strings, &t->methods,    &t->frames,
		                           &t->paths,   &t->sites,      &t->threads,
		                           &t->shares,  &t->executions, &t->span_buckets };
	size_t bytes = t->bytes_len + t->strings.count * sizeof(*t->starts) +
	               t->span_intervals_len * sizeof(*t->span_intervals) +
	               t->traces_len * sizeof(*t->traces);

	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
		bytes += lc_table_bytes(apart[i]);
	for (unsigned section = 0; section < LC_SECTION_COUNT; section++)
		if (lc_tree_table(t, section))
			bytes += lc_table_bytes(lc_tree_table(t, section));
	return bytes;
}
