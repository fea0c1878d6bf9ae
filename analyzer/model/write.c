/*
 * model/write.c - encodes a tree as docs/FORMAT.md says.
 *
 * Like the agent's writer, it puts into a block the definitions that the block uses, numbered in
 * order of appearance, and begins another block when one is large.
 */
#include "analyzer/model/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/write_impl.h"
#include "src/format/block.h"

enum {
	ZSTD_LEVEL = 3,
	SPLIT_BYTES = 16 << 20, /* payload at which a block is closed and another begun */
};

struct lc_merge_writer *lc_merge_writer_create(void)
{
	struct lc_merge_writer *w = lc_alloc_zeroed(1, sizeof(*w));

	w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		lc_no_memory();
	return w;
}

void lc_merge_writer_free(struct lc_merge_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	lc_tree_spans_free(&w->spans);
	for (unsigned i = 0; i <= LC_SECTION_SITES; i++) {
		free(w->numbers[i].local);
		free(w->numbers[i].stamps);
	}
	for (unsigned i = 0; i < LC_SECTION_COUNT; i++)
		free(w->section[i].data);
	free(w->chain.data);
	free(w->payload.data);
	free(w->stored.data);
	free(w);
}

static void add_bytes(struct lc_merge_bytes *b, const void *data, size_t len)
{
	if (!len)
		return;
	b->data = lc_alloc_grow(b->data, &b->cap, b->len + len, 1);
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void add_varint(struct lc_merge_bytes *b, uint64_t v)
{
	b->data = lc_alloc_grow(b->data, &b->cap, b->len + LC_VARINT_MAX, 1);
	b->len += lc_varint_put(b->data + b->len, v);
}

void lc_merge_put(struct lc_merge_writer *w, enum lc_section section, uint64_t v)
{
	add_varint(&w->section[section], v);
}

/* The block's number of row `row`; true when it had one already. New ones count from `first`. */
static bool number(struct lc_merge_writer *w, enum lc_section type, uint32_t row, uint32_t first,
                   uint32_t *local)
{
	struct lc_merge_numbers *n = &w->numbers[type];

	if (row >= n->len) {
		n->local = lc_alloc_grow(n->local, &n->local_cap, (size_t)row + 1, sizeof(row));
		n->stamps = lc_alloc_grow(n->stamps, &n->stamps_cap, (size_t)row + 1, sizeof(row));
		memset(n->stamps + n->len, 0, (n->stamps_cap - n->len) * sizeof(row));
		n->len = n->stamps_cap;
	}
	if (n->stamps[row] == w->stamp) {
		*local = n->local[row];
		return true;
	}
	n->stamps[row] = w->stamp;
	*local = n->local[row] = first + n->count++;
	w->rows[type]++;
	return false;
}

static uint32_t define_string(struct lc_merge_writer *w, uint32_t row)
{
	struct lc_text text = lc_tree_text(w->tree, row);
	uint32_t id = 0;

	if (row && !number(w, LC_SECTION_STRINGS, row, 1, &id)) {
		lc_merge_put(w, LC_SECTION_STRINGS, text.len);
		add_bytes(&w->section[LC_SECTION_STRINGS], text.bytes, text.len);
	}
	return id;
}

static uint32_t define_method(struct lc_merge_writer *w, uint32_t row)
{
	uint32_t id;

	if (!number(w, LC_SECTION_METHODS, row, 0, &id))
		for (unsigned i = 0; i < LC_METHOD_KEY; i++)
			lc_merge_put(w, LC_SECTION_METHODS,
			             define_string(w, lc_table_key(&w->tree->methods, row)[i]));
	return id;
}

static uint32_t define_frame(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->frames, row);
	uint32_t id;

	if (!number(w, LC_SECTION_FRAMES, row, 0, &id)) {
		lc_merge_put(w, LC_SECTION_FRAMES, define_method(w, key[LC_FRAME_METHOD]));
		lc_merge_put(w, LC_SECTION_FRAMES, key[LC_FRAME_BCI1]);
		lc_merge_put(w, LC_SECTION_FRAMES, key[LC_FRAME_LINE1]);
	}
	return id;
}

static bool path_is_defined(const struct lc_merge_writer *w, uint32_t path)
{
	const struct lc_merge_numbers *n = &w->numbers[LC_SECTION_PATHS];

	return path < n->len && n->stamps[path] == w->stamp;
}

uint32_t lc_merge_path(struct lc_merge_writer *w, uint32_t path)
{
	uint32_t parent = 0, id;

	w->chain.len = 0;
	for (; path && !path_is_defined(w, path); path = lc_tree_parent(w->tree, path))
		add_bytes(&w->chain, &path, sizeof(path));
	if (path)
		parent = w->numbers[LC_SECTION_PATHS].local[path];
	while (w->chain.len) {
		w->chain.len -= sizeof(path);
		memcpy(&path, w->chain.data + w->chain.len, sizeof(path));
		number(w, LC_SECTION_PATHS, path, 1, &id);
		lc_merge_put(w, LC_SECTION_PATHS, id - parent);
		lc_merge_put(w, LC_SECTION_PATHS,
		             define_frame(w, lc_table_key(&w->tree->paths, path)[LC_PATH_FRAME]));
		parent = id;
	}
	return parent;
}

uint32_t lc_merge_site(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->sites, row);
	uint32_t id = 0;

	if (row && !number(w, LC_SECTION_SITES, row, 1, &id)) {
		lc_merge_put(w, LC_SECTION_SITES, define_string(w, key[LC_SITE_CLASS]));
		lc_merge_put(w, LC_SECTION_SITES, lc_merge_path(w, key[LC_SITE_PATH]));
	}
	return id;
}

void lc_merge_place(struct lc_merge_writer *w, enum lc_section section, const uint32_t *columns)
{
	lc_merge_put(w, section, columns[0]);
	lc_merge_put(w, section, columns[1]);
	lc_merge_put(w, section, lc_merge_site(w, columns[2]));
	lc_merge_put(w, section, lc_merge_path(w, columns[3]));
}

static void put_allocations(struct lc_merge_writer *w, uint32_t site)
{
	const uint64_t *values = lc_table_values(&w->tree->sites, site);

	if (!values[LC_SITE_ALLOCATIONS])
		return;
	lc_merge_put(w, LC_SECTION_ALLOCATIONS, lc_merge_site(w, site));
	lc_merge_put(w, LC_SECTION_ALLOCATIONS, values[LC_SITE_ALLOCATIONS]);
	lc_merge_put(w, LC_SECTION_ALLOCATIONS, values[LC_SITE_BYTES]);
	w->rows[LC_SECTION_ALLOCATIONS]++;
}

static void put_access(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->accesses, row);
	uint64_t samples = *lc_table_values(&w->tree->accesses, row);

	lc_merge_place(w, LC_SECTION_ACCESSES, key);
	lc_merge_put(w, LC_SECTION_ACCESSES, samples);
	w->rows[LC_SECTION_ACCESSES]++;
	w->here[key[LC_ACCESS_ENGINE]][key[LC_ACCESS_BUCKET]] += samples;
}

static void put_field(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->fields, row);

	lc_merge_place(w, LC_SECTION_FIELDS, key);
	lc_merge_put(w, LC_SECTION_FIELDS, define_string(w, key[LC_FIELD_NAME]));
	lc_merge_put(w, LC_SECTION_FIELDS, lc_tree_wide(key + LC_FIELD_FIRST));
	lc_merge_put(w, LC_SECTION_FIELDS, lc_tree_wide(key + LC_FIELD_LAST));
	lc_merge_put(w, LC_SECTION_FIELDS, key[LC_FIELD_TOUCH]);
	lc_merge_put(w, LC_SECTION_FIELDS, *lc_table_values(&w->tree->fields, row));
	w->rows[LC_SECTION_FIELDS]++;
}

static void put_metric(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->metrics, row);

	lc_merge_place(w, LC_SECTION_METRICS, key);
	lc_merge_put(w, LC_SECTION_METRICS, key[LC_METRIC_SOURCE]);
	lc_merge_put(w, LC_SECTION_METRICS, key[LC_METRIC_FLAGS]);
	for (unsigned i = 0; i < LC_METRIC_VALUES; i++)
		lc_merge_put(w, LC_SECTION_METRICS, lc_table_values(&w->tree->metrics, row)[i]);
	w->rows[LC_SECTION_METRICS]++;
}

void lc_merge_owner(struct lc_merge_writer *w, enum lc_section section, uint32_t thread)
{
	const uint32_t *key = lc_table_key(&w->tree->threads, thread);

	if (w->one)
		return;
	lc_merge_put(w, section, key[LC_THREAD_PROCESS]);
	lc_merge_put(w, section, key[LC_THREAD_INDEX]);
}

static void put_line(struct lc_merge_writer *w, uint32_t row)
{
	enum lc_section section = w->one ? LC_SECTION_LINES : LC_SECTION_MERGED_LINES;
	const uint32_t *key = lc_table_key(&w->tree->lines, row);

	lc_merge_owner(w, section, key[LC_LINE_THREAD]);
	lc_merge_put(w, section, lc_tree_wide(key + LC_LINE_NUMBER));
	lc_merge_place(w, section, key + LC_LINE_ENGINE);
	lc_merge_put(w, section, key[LC_LINE_BYTE]);
	lc_merge_put(w, section, key[LC_LINE_WIDTH]);
	lc_merge_put(w, section, key[LC_LINE_TOUCH]);
	lc_merge_put(w, section, define_string(w, key[LC_LINE_NAME]));
	lc_merge_put(w, section, lc_tree_wide(key + LC_LINE_FIRST));
	for (unsigned i = 0; i < LC_LINE_VALUES; i++)
		lc_merge_put(w, section, lc_table_values(&w->tree->lines, row)[i]);
	w->rows[section]++;
}

static void put_estimate(struct lc_merge_writer *w, uint32_t row)
{
	lc_merge_put(w, LC_SECTION_ESTIMATES,
	             lc_merge_site(w, *lc_table_key(&w->tree->estimates, row)));
	for (unsigned i = 0; i < LC_ESTIMATE_VALUES; i++)
		lc_merge_put(w, LC_SECTION_ESTIMATES, lc_table_values(&w->tree->estimates, row)[i]);
	w->rows[LC_SECTION_ESTIMATES]++;
}

static void put_split(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->splits, row);

	lc_merge_put(w, LC_SECTION_SPLITS, key[LC_SPLIT_ENGINE]);
	lc_merge_put(w, LC_SECTION_SPLITS, key[LC_SPLIT_METHOD]);
	lc_merge_put(w, LC_SECTION_SPLITS, lc_merge_site(w, key[LC_SPLIT_CLASS]));
	lc_merge_put(w, LC_SECTION_SPLITS, lc_merge_site(w, key[LC_SPLIT_SITE]));
	for (unsigned i = 0; i < LC_SPLIT_VALUES; i++)
		lc_merge_put(w, LC_SECTION_SPLITS, lc_table_values(&w->tree->splits, row)[i]);
	w->rows[LC_SECTION_SPLITS]++;
}

static void put_placement(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->placements, row);

	lc_merge_owner(w, LC_SECTION_PLACEMENTS, key[LC_PLACEMENT_THREAD]);
	lc_merge_place(w, LC_SECTION_PLACEMENTS, key + LC_PLACEMENT_ENGINE);
	lc_merge_put(w, LC_SECTION_PLACEMENTS, key[LC_PLACEMENT_ACCESSING]);
	lc_merge_put(w, LC_SECTION_PLACEMENTS, key[LC_PLACEMENT_OWNING]);
	lc_merge_put(w, LC_SECTION_PLACEMENTS, key[LC_PLACEMENT_SOURCE]);
	lc_merge_put(w, LC_SECTION_PLACEMENTS, *lc_table_values(&w->tree->placements, row));
	w->rows[LC_SECTION_PLACEMENTS]++;
}

static void put_node(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->nodes, row);

	lc_merge_owner(w, LC_SECTION_NODES, key[LC_NODE_THREAD]);
	lc_merge_put(w, LC_SECTION_NODES, key[LC_NODE_ENGINE]);
	lc_merge_put(w, LC_SECTION_NODES, key[LC_NODE_NODE]);
	for (unsigned i = 0; i < LC_NODE_VALUES; i++)
		lc_merge_put(w, LC_SECTION_NODES, lc_table_values(&w->tree->nodes, row)[i]);
	w->rows[LC_SECTION_NODES]++;
}

static void put_home(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->homes, row);

	lc_merge_owner(w, LC_SECTION_HOMES, key[LC_HOME_THREAD]);
	lc_merge_put(w, LC_SECTION_HOMES, lc_merge_site(w, key[LC_HOME_SITE]));
	lc_merge_put(w, LC_SECTION_HOMES, key[LC_HOME_NODE]);
	for (unsigned i = 0; i < LC_HOME_VALUES; i++)
		lc_merge_put(w, LC_SECTION_HOMES, lc_table_values(&w->tree->homes, row)[i]);
	w->rows[LC_SECTION_HOMES]++;
}

static void put_buckets(struct lc_merge_writer *w, bool last)
{
	for (unsigned e = 0; e < LC_ENGINES_MAX; e++) {
		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++) {
			uint64_t samples = last ? w->left[e][b] : w->here[e][b];

			w->left[e][b] -= samples;
			if (!samples)
				continue;
			lc_merge_put(w, LC_SECTION_BUCKETS, e);
			lc_merge_put(w, LC_SECTION_BUCKETS, b);
			lc_merge_put(w, LC_SECTION_BUCKETS, samples);
			w->rows[LC_SECTION_BUCKETS]++;
		}
	}
}

static void put_details(struct lc_merge_writer *w)
{
	const struct lc_table *details = &w->tree->details;

	for (uint32_t row = 0; row < details->count; row++) {
		for (unsigned i = 0; i < LC_DETAIL_KEY; i++)
			lc_merge_put(w, LC_SECTION_DETAILS, lc_table_key(details, row)[i]);
		lc_merge_put(w, LC_SECTION_DETAILS, *lc_table_values(details, row));
		w->rows[LC_SECTION_DETAILS]++;
	}
}

/* The rows of a thread's shares are found through `first` and `next`: row + 1, 0 ends. */
static void put_thread(struct lc_merge_writer *w, uint32_t row, uint32_t first,
                       const uint32_t *next)
{
	const struct lc_table *threads = &w->tree->threads, *shares = &w->tree->shares;
	const uint32_t *key = lc_table_key(threads, row);
	const uint64_t *values = lc_table_values(threads, row);
	uint32_t count = 0;

	lc_merge_put(w, LC_SECTION_THREADS, key[LC_THREAD_PROCESS]);
	lc_merge_put(w, LC_SECTION_THREADS, key[LC_THREAD_INDEX]);
	lc_merge_put(w, LC_SECTION_THREADS, values[LC_THREAD_TID]);
	lc_merge_put(w, LC_SECTION_THREADS, define_string(w, (uint32_t)values[LC_THREAD_NAME]));
	lc_merge_put(w, LC_SECTION_THREADS, values[LC_THREAD_ALLOCATIONS]);
	lc_merge_put(w, LC_SECTION_THREADS, values[LC_THREAD_BYTES]);
	lc_merge_put(w, LC_SECTION_THREADS, values[LC_THREAD_BEGIN_NS]);
	lc_merge_put(w, LC_SECTION_THREADS, values[LC_THREAD_END_NS]);
	for (uint32_t i = first; i; i = next[i - 1])
		count++;
	lc_merge_put(w, LC_SECTION_THREADS, count);
	for (uint32_t i = first; i; i = next[i - 1]) {
		lc_merge_put(w, LC_SECTION_THREADS, lc_table_key(shares, i - 1)[LC_SHARE_ENGINE]);
		lc_merge_put(w, LC_SECTION_THREADS, lc_table_key(shares, i - 1)[LC_SHARE_BUCKET]);
		lc_merge_put(w, LC_SECTION_THREADS, *lc_table_values(shares, i - 1));
	}
	w->rows[LC_SECTION_THREADS]++;
}

static void put_threads(struct lc_merge_writer *w)
{
	const struct lc_table *threads = &w->tree->threads, *shares = &w->tree->shares;
	uint32_t *first = lc_alloc_zeroed(threads->count, sizeof(*first));
	uint32_t *next = lc_alloc_zeroed(shares->count, sizeof(*next));

	for (uint32_t i = 0; i < shares->count; i++) {
		uint32_t thread = lc_table_key(shares, i)[LC_SHARE_THREAD];

		next[i] = first[thread];
		first[thread] = i + 1;
	}
	for (uint32_t row = 0; row < threads->count; row++)
		put_thread(w, row, first[row], next);
	free(first);
	free(next);
}

static size_t rows_bytes(const struct lc_merge_writer *w)
{
	size_t sum = 0;

	for (unsigned i = 0; i < LC_SECTION_COUNT; i++)
		sum += w->section[i].len;
	return sum;
}

static void block_begin(struct lc_merge_writer *w)
{
	for (unsigned i = 0; i < LC_SECTION_COUNT; i++) {
		w->section[i].len = 0;
		w->rows[i] = 0;
	}
	for (unsigned i = 0; i <= LC_SECTION_SITES; i++)
		w->numbers[i].count = 0;
	w->stamp++;
	memset(w->here, 0, sizeof(w->here));
	w->trace_start_ns = 0;
}

static void payload_build(struct lc_merge_writer *w)
{
	w->payload.len = 0;
	for (unsigned i = 0; i < LC_SECTION_COUNT; i++) {
		uint8_t count[LC_VARINT_MAX];
		size_t count_len;

		if (!w->rows[i])
			continue;
		count_len = i == LC_SECTION_THREAD ? 0 : lc_varint_put(count, w->rows[i]);
		add_varint(&w->payload, i);
		add_varint(&w->payload, count_len + w->section[i].len);
		add_bytes(&w->payload, count, count_len);
		add_bytes(&w->payload, w->section[i].data, w->section[i].len);
	}
}

static int block_end(struct lc_merge_writer *w, struct lc_block_header *h, FILE *out)
{
	uint8_t header[LC_BLOCK_HEADER_LEN];
	size_t bound, stored;

	payload_build(w);
	if (w->payload.len > LC_BLOCK_RAW_MAX)
		return -EFBIG;
	bound = ZSTD_compressBound(w->payload.len);
	w->stored.data = lc_alloc_grow(w->stored.data, &w->stored.cap, bound, 1);
	stored = ZSTD_compressCCtx(w->zstd, w->stored.data, bound, w->payload.data, w->payload.len,
	                           ZSTD_LEVEL);
	if (ZSTD_isError(stored))
		lc_no_memory(); /* the bound holds, so only its own memory can fail */
	h->raw_len = (uint32_t)w->payload.len;
	h->stored_len = (uint32_t)stored;
	h->checksum = lc_checksum(w->stored.data, stored);
	lc_block_header_put(header, h);
	h->sequence++;
	errno = EIO;
	if (fwrite(header, sizeof(header), 1, out) != 1 ||
	    fwrite(w->stored.data, stored, 1, out) != 1)
		return -errno;
	return 0;
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
	lc_merge_put(w, LC_SECTION_THREAD, define_string(w, (uint32_t)values[LC_THREAD_NAME]));
	w->rows[LC_SECTION_THREAD] = 1;
}

/* Rows of all kinds, from *kind and *row on, until the block is large. Were those the last? */
static bool put_rows(struct lc_merge_writer *w, unsigned *kind, uint32_t *row)
{
	const struct lc_tree *t = w->tree;
	const struct lc_table traces = { .count = (uint32_t)t->traces_len };
	const struct {
		const struct lc_table *table;
		void (*put)(struct lc_merge_writer *w, uint32_t row);
	} kinds[] = {
		{ &t->sites, put_allocations },
		{ &t->accesses, put_access },
		{ &t->fields, put_field },
		{ &t->metrics, put_metric },
		{ &t->lines, put_line },
		{ &t->estimates, put_estimate },
		{ &t->splits, put_split },
		{ &t->placements, put_placement },
		{ &t->nodes, put_node },
		{ &t->homes, put_home },
		{ &t->executions, lc_merge_put_span },
		{ &t->made, lc_merge_put_made },
		{ &t->span_accesses, lc_merge_put_span_access },
		{ &t->slices, lc_merge_put_slice },
		{ &t->pauses, lc_merge_put_pause },
		{ &traces, lc_merge_put_trace },
	};

	for (; *kind < sizeof(kinds) / sizeof(kinds[0]); ++*kind, *row = 0) {
		for (; *row < kinds[*kind].table->count; ++*row) {
			if (rows_bytes(w) >= SPLIT_BYTES)
				return false;
			kinds[*kind].put(w, *row);
		}
	}
	return true;
}

int lc_merge_write(struct lc_merge_writer *w, const struct lc_tree *t, bool keep_thread, FILE *out)
{
	struct lc_block_header h = { 0 };
	uint32_t row = 0;
	unsigned kind = 0;
	int blocks = 0;
	bool last;

	w->tree = t;
	w->one = keep_thread && t->threads.count == 1;
	memcpy(w->left, t->buckets, sizeof(w->left));
	lc_tree_spans_free(&w->spans);
	lc_tree_spans_build(&w->spans, t);
	do {
		int err;

		block_begin(w);
		identify(w, &h);
		last = put_rows(w, &kind, &row);
		put_buckets(w, last);
		if (last)
			put_details(w);
		if (last && !w->one)
			put_threads(w);
		err = block_end(w, &h, out);
		if (err)
			return err;
		blocks++;
	} while (!last);
	return blocks;
}
