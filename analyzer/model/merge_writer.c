/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/merge_writer.c - encodes a tree as docs/FORMAT.md says.
 *
 * Like the agent's writer, it puts into a block the definitions that the block uses, numbered in
 * order of appearance, and begins another block when one is large. Rows are in the order of
 * canonical.h, so that what is written follows from what is in the tree alone.
 */
#include "analyzer/model/merge_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/canonical.h"
#include "analyzer/model/tree_spans.h"
#include "src/format/encode.h"

enum { ZSTD_LEVEL = 3 };

/* Numbers of the tree to numbers of the block: valid where the stamp is this block's. */
struct lc_merge_numbers {
	uint32_t *local;
	uint32_t *stamps;
	size_t local_cap;
	size_t stamps_cap;
	size_t len; /* stamps that are set */
	uint32_t count;
};

struct lc_merge_writer {
	struct lc_encoder encoder;
	const struct lc_tree *tree;
	struct lc_canonical order;                             /* of the tree */
	unsigned section;                                      /* whose rows are in order: 0 none */
	uint32_t *rows;                                        /* of that section */
	bool one;                                              /* blocks of one thread */
	struct lc_tree_spans spans;                            /* of the tree */
	struct lc_merge_numbers numbers[LC_SECTION_SITES + 1]; /* by section type */
	uint32_t stamp;
	uint32_t *chain; /* paths to be defined */
	size_t chain_cap;
	struct lc_bytes file; /* one finished block */
};

/* ---- definitions ---- */

/* The block's number of row `row`; true when it had one already. New ones count from `first`. */
static bool number(struct lc_merge_writer *w, enum lc_section type, uint32_t row, uint32_t first,
                   uint32_t *local)
{
	struct lc_merge_numbers *n = &w->numbers[type];

	if (row >= n->len) {
		n->local = lc_mem_grow(n->local, &n->local_cap, (size_t)row + 1, sizeof(row));
		n->stamps = lc_mem_grow(n->stamps, &n->stamps_cap, (size_t)row + 1, sizeof(row));
		memset(n->stamps + n->len, 0, (n->stamps_cap - n->len) * sizeof(row));
		n->len = n->stamps_cap;
	}
	if (n->stamps[row] == w->stamp) {
		*local = n->local[row];
		return true;
	}
	n->stamps[row] = w->stamp;
	*local = n->local[row] = first + n->count++;
	w->encoder.out.rows[type]++;
	return false;
}

static uint32_t define_string(struct lc_merge_writer *w, uint32_t row)
{
	struct lc_text text = lc_tree_text(w->tree, row);
	uint32_t id = 0;

	if (row && !number(w, LC_SECTION_STRINGS, row, 1, &id)) {
		lc_encode_put(&w->encoder, LC_SECTION_STRINGS, text.len);
		lc_bytes_add(&w->encoder.out.bytes[LC_SECTION_STRINGS], text.bytes, text.len);
	}
	return id;
}

static uint32_t define_method(struct lc_merge_writer *w, uint32_t row)
{
	uint32_t id;

	if (!number(w, LC_SECTION_METHODS, row, 0, &id))
		for (unsigned i = 0; i < LC_METHOD_KEY; i++)
			lc_encode_put(&w->encoder, LC_SECTION_METHODS,
			              define_string(w, lc_table_key(&w->tree->methods, row)[i]));
	return id;
}

static uint32_t define_frame(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->frames, row);
	uint32_t id;

	if (!number(w, LC_SECTION_FRAMES, row, 0, &id)) {
		lc_encode_put(&w->encoder, LC_SECTION_FRAMES,
		              define_method(w, key[LC_FRAME_METHOD]));
		lc_encode_put(&w->encoder, LC_SECTION_FRAMES, key[LC_FRAME_BCI1]);
		lc_encode_put(&w->encoder, LC_SECTION_FRAMES, key[LC_FRAME_LINE1]);
	}
	return id;
}

static bool path_is_defined(const struct lc_merge_writer *w, uint32_t path)
{
	const struct lc_merge_numbers *n = &w->numbers[LC_SECTION_PATHS];

	return path < n->len && n->stamps[path] == w->stamp;
}

static uint32_t define_path(struct lc_merge_writer *w, uint32_t path)
{
	uint32_t parent = 0, id;
	size_t len = 0;

	for (; path && !path_is_defined(w, path); path = lc_tree_parent(w->tree, path)) {
		w->chain = lc_mem_grow(w->chain, &w->chain_cap, len + 1, sizeof(path));
		w->chain[len++] = path;
	}
	if (path)
		parent = w->numbers[LC_SECTION_PATHS].local[path];
	while (len) {
		path = w->chain[--len];
		number(w, LC_SECTION_PATHS, path, 1, &id);
		lc_encode_put(&w->encoder, LC_SECTION_PATHS, id - parent);
		lc_encode_put(&w->encoder, LC_SECTION_PATHS,
		              define_frame(w, lc_table_key(&w->tree->paths, path)[LC_PATH_FRAME]));
		parent = id;
	}
	return parent;
}

static uint32_t define_site(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->sites, row);
	uint32_t id = 0;

	if (row && !number(w, LC_SECTION_SITES, row, 1, &id)) {
		lc_encode_put(&w->encoder, LC_SECTION_SITES, define_string(w, key[LC_SITE_CLASS]));
		lc_encode_put(&w->encoder, LC_SECTION_SITES, define_path(w, key[LC_SITE_PATH]));
	}
	return id;
}

static uint32_t site_number(void *of, uint64_t site)
{
	return define_site(of, (uint32_t)site);
}

static uint32_t path_number(void *of, uint64_t path)
{
	return define_path(of, (uint32_t)path);
}

static uint32_t string_number(void *of, uint64_t string)
{
	return define_string(of, (uint32_t)string);
}

/* ---- rows ---- */

/* The key of the thread that a row is of; NULL in a block of one thread. */
static const uint32_t *owner_of(const struct lc_merge_writer *w, uint32_t thread)
{
	_Static_assert(LC_THREAD_PROCESS == 0 && LC_THREAD_INDEX == 1, "process, then index");
	return w->one ? NULL : lc_table_key(&w->tree->threads, thread);
}

static void put_allocations(struct lc_merge_writer *w, uint32_t site)
{
	const uint64_t *values = lc_table_values(&w->tree->sites, site);
	const uint64_t v[LC_COLUMNS_MAX] = { site, values[LC_SITE_ALLOCATIONS],
		                             values[LC_SITE_BYTES] };

	if (values[LC_SITE_ALLOCATIONS] || values[LC_SITE_BYTES])
		lc_encode_row(&w->encoder, lc_section_spec(LC_SECTION_ALLOCATIONS), NULL, v);
}

static void put_flat(struct lc_merge_writer *w, const struct lc_section_spec *s, uint32_t row)
{
	const struct lc_table *table = lc_tree_table(w->tree, s->number);
	const uint32_t *key = lc_table_key(table, row), *owner = NULL;
	const uint64_t *values = lc_table_values(table, row);
	uint64_t v[LC_COLUMNS_MAX];

	if (s->merged)
		owner = owner_of(w, *key++);
	for (unsigned i = 0; i < s->keys_len; i++) {
		bool wide = lc_tree_is_wide(s->columns[i].type);

		v[i] = wide ? lc_tree_wide(key) : *key;
		key += wide ? 2 : 1;
	}
	memcpy(v + s->keys_len, values, (s->columns_len - s->keys_len) * sizeof(*v));
	lc_encode_row(&w->encoder, s, owner, v);
}

static void put_span(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->executions, row);
	const uint64_t *values = lc_table_values(&w->tree->executions, row);
	const uint32_t *intervals = w->spans.interval_first + row;
	const uint32_t *buckets = w->spans.bucket_first + row;
	uint64_t sums[LC_EXECUTION_SUMS], end = 0;
	unsigned bucket_end = 0;

	_Static_assert((int)LC_EXECUTION_SUMS == (int)LC_ENCODE_SUMS, "each is a column");
	_Static_assert(LC_EXECUTION_KIND == 1 && LC_EXECUTION_PATH == 6, "names after the thread");
	memcpy(sums, values, sizeof(sums));
	sums[LC_EXECUTION_COMPENSATED] = lc_zigzag((int64_t)values[LC_EXECUTION_COMPENSATED]);
	lc_encode_span(&w->encoder, owner_of(w, key[LC_EXECUTION_THREAD]), key + LC_EXECUTION_KIND,
	               sums);
	lc_encode_put(&w->encoder, LC_SECTION_SPANS, intervals[1] - intervals[0]);
	for (uint32_t i = intervals[0]; i < intervals[1]; i++)
		lc_encode_interval(&w->encoder, &end, w->spans.intervals[i].first_ns,
		                   w->spans.intervals[i].last_ns);
	lc_encode_put(&w->encoder, LC_SECTION_SPANS, buckets[1] - buckets[0]);
	for (uint32_t i = buckets[0]; i < buckets[1]; i++)
		lc_encode_bucket(&w->encoder, &bucket_end, w->spans.buckets[i].bucket,
		                 w->spans.buckets[i].count);
}

static size_t rows_len(void *of, enum lc_section section)
{
	const struct lc_tree *t = ((struct lc_merge_writer *)of)->tree;
	const struct lc_table *table = lc_tree_table(t, section);

	switch (section) {
	case LC_SECTION_ALLOCATIONS:
		return t->sites.count;
	case LC_SECTION_SPANS:
		return t->executions.count;
	case LC_SECTION_TRACE:
		return t->traces_len;
	default:
		return table ? table->count : 0;
	}
}

/* The rows of the section in order; those of the one before are let go. */
static const uint32_t *rows_of(struct lc_merge_writer *w, enum lc_section section)
{
	if (w->section == section)
		return w->rows;
	free(w->rows);
	w->section = section;
	switch (section) {
	case LC_SECTION_ALLOCATIONS:
		w->rows = lc_canonical_sites(&w->order);
		break;
	case LC_SECTION_SPANS:
		w->rows = lc_canonical_executions(&w->order);
		break;
	case LC_SECTION_TRACE:
		w->rows = lc_canonical_traces(&w->order);
		break;
	case LC_SECTION_THREADS:
		w->rows = lc_canonical_threads(&w->order);
		break;
	default:
		w->rows = lc_canonical_section(&w->order, section);
	}
	return w->rows;
}

/* The row that is number `at` of the section. */
static void put_row(void *of, enum lc_section section, size_t at)
{
	struct lc_merge_writer *w = of;
	const uint32_t row = rows_of(w, section)[at];
	const struct lc_tree_trace *trace;

	switch (section) {
	case LC_SECTION_ALLOCATIONS:
		put_allocations(w, row);
		break;
	case LC_SECTION_SPANS:
		put_span(w, row);
		break;
	case LC_SECTION_TRACE:
		trace = &w->tree->traces[row];
		lc_encode_trace(&w->encoder, owner_of(w, trace->thread), &trace->row);
		break;
	default:
		put_flat(w, lc_section_spec(section), row);
	}
}

/* A thread, and its rows of shares. */
static void put_thread(struct lc_merge_writer *w, uint32_t row, const uint32_t *share,
                       uint32_t count)
{
	const struct lc_table *threads = &w->tree->threads, *shares = &w->tree->shares;
	const uint32_t *key = lc_table_key(threads, row);
	const uint64_t *values = lc_table_values(threads, row);
	struct lc_encoder *e = &w->encoder;

	lc_encode_put(e, LC_SECTION_THREADS, key[LC_THREAD_PROCESS]);
	lc_encode_put(e, LC_SECTION_THREADS, key[LC_THREAD_INDEX]);
	lc_encode_put(e, LC_SECTION_THREADS, values[LC_THREAD_TID]);
	lc_encode_put(e, LC_SECTION_THREADS, define_string(w, (uint32_t)values[LC_THREAD_NAME]));
	lc_encode_put(e, LC_SECTION_THREADS, values[LC_THREAD_ALLOCATIONS]);
	lc_encode_put(e, LC_SECTION_THREADS, values[LC_THREAD_BYTES]);
	lc_encode_put(e, LC_SECTION_THREADS, values[LC_THREAD_BEGIN_NS]);
	lc_encode_put(e, LC_SECTION_THREADS, values[LC_THREAD_END_NS]);
	lc_encode_put(e, LC_SECTION_THREADS, count);
	for (; count; count--, share++) {
		lc_encode_put(e, LC_SECTION_THREADS, lc_table_key(shares, *share)[LC_SHARE_ENGINE]);
		lc_encode_put(e, LC_SECTION_THREADS, lc_table_key(shares, *share)[LC_SHARE_BUCKET]);
		lc_encode_put(e, LC_SECTION_THREADS, *lc_table_values(shares, *share));
	}
	e->out.rows[LC_SECTION_THREADS]++;
}

static void put_threads(struct lc_merge_writer *w)
{
	const struct lc_table *threads = &w->tree->threads, *shares = &w->tree->shares;
	uint32_t *rows = lc_canonical_shares(&w->order);
	uint32_t at = 0;

	for (uint32_t i = 0; i < threads->count; i++) {
		const uint32_t row = rows_of(w, LC_SECTION_THREADS)[i], first = at;

		while (at < shares->count && lc_table_key(shares, rows[at])[LC_SHARE_THREAD] == row)
			at++;
		put_thread(w, row, rows + first, at - first);
	}
	free(rows);
}

/* ---- blocks ---- */

static void block_begin(struct lc_merge_writer *w)
{
	lc_encode_begin(&w->encoder);
	for (unsigned i = 0; i <= LC_SECTION_SITES; i++)
		w->numbers[i].count = 0;
	w->stamp++;
}

/* Header fields, and in a block of one thread its name, from the tree's threads. */
static void identify(struct lc_merge_writer *w, struct lc_block_header *h)
{
	const uint64_t *values;

	if (!w->one) {
		h->process = h->thread_index = LC_THREAD_ALL;
		return;
	}
	values = lc_table_values(&w->tree->threads, 0);
	h->process = lc_table_key(&w->tree->threads, 0)[LC_THREAD_PROCESS];
	h->thread_index = lc_table_key(&w->tree->threads, 0)[LC_THREAD_INDEX];
	h->tid = (uint32_t)values[LC_THREAD_TID];
	h->t_begin_ns = values[LC_THREAD_BEGIN_NS];
	h->t_end_ns = values[LC_THREAD_END_NS];
	lc_encode_put(&w->encoder, LC_SECTION_THREAD,
	              define_string(w, (uint32_t)values[LC_THREAD_NAME]));
	w->encoder.out.rows[LC_SECTION_THREAD] = 1;
}

static int block_end(struct lc_merge_writer *w, struct lc_block_header *h, FILE *out)
{
	int err;

	lc_bytes_empty(&w->file);
	err = lc_encode_end(&w->encoder, h, ZSTD_LEVEL, &w->file);
	if (err == -ENOMEM)
		lc_no_memory();
	if (err)
		return err;
	h->sequence++;
	errno = EIO;
	return fwrite(w->file.data, w->file.len, 1, out) == 1 ? 0 : -errno;
}

static int write_blocks(struct lc_merge_writer *w, FILE *out)
{
	const struct lc_encode_source source = { w, rows_len, put_row };
	const struct lc_tree *t = w->tree;
	struct lc_block_header h = { 0 };
	int blocks = 0;
	bool last;

	lc_encode_start(&w->encoder, t->buckets);
	do {
		int err;

		block_begin(w);
		identify(w, &h);
		last = lc_encode_rows(&w->encoder, &source);
		lc_encode_buckets(&w->encoder, last);
		for (uint32_t row = 0; last && row < t->details.count; row++)
			put_row(w, LC_SECTION_DETAILS, row);
		if (last && !w->one)
			put_threads(w);
		err = block_end(w, &h, out);
		if (err)
			return err;
		blocks++;
	} while (!last);
	return blocks;
}

int lc_merge_write(struct lc_merge_writer *w, const struct lc_tree *t, bool keep_thread, FILE *out)
{
	int blocks;

	w->tree = t;
	w->one = keep_thread && t->threads.count == 1;
	lc_tree_spans_free(&w->spans);
	lc_tree_spans_build(&w->spans, t);
	lc_canonical_init(&w->order, t);
	blocks = write_blocks(w, out);
	lc_canonical_free(&w->order);
	free(w->rows);
	w->rows = NULL;
	w->section = 0;
	return blocks;
}

/* ---- the writer ---- */

struct lc_merge_writer *lc_merge_writer_create(void)
{
	struct lc_merge_writer *w = lc_mem_zeroed(1, sizeof(*w));
	const struct lc_encode_names names = { w, site_number, path_number, string_number };

	if (lc_encode_init(&w->encoder, &names))
		lc_no_memory();
	return w;
}

void lc_merge_writer_free(struct lc_merge_writer *w)
{
	if (!w)
		return;
	lc_encode_free(&w->encoder);
	lc_tree_spans_free(&w->spans);
	for (unsigned i = 0; i <= LC_SECTION_SITES; i++) {
		free(w->numbers[i].local);
		free(w->numbers[i].stamps);
	}
	free(w->chain);
	free(w->file.data);
	free(w);
}
