/*
 * profile_block.c - numbers what a block names, encodes its sections and compresses them.
 *
 * A block holds the definitions that it uses and no others, so that each can be read alone. The
 * numbers are local to the block: maps from the agent's numbers to them are emptied (by a new
 * stamp) for each block and keep their memory.
 */
#include "profile_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "path.h"
#include "profile.h"
#include "record.h"

_Static_assert((int)LC_WHERE_COUNT == (int)LC_DETAIL_WHERE_COUNT, "format.h names each lc_where");
_Static_assert((int)LC_HOW_COUNT == (int)LC_DETAIL_HOW_COUNT, "format.h names each lc_how");

enum {
	ZSTD_LEVEL = 1,
	SPLIT_BYTES = 16 << 20, /* payload at which a block is closed and another begun */
	MAP_MIN = 256,
	SECTIONS = LC_SECTION_THREADS + 1,
};

/* Numbers of the agent to numbers of the block, from 0 in order of appearance. */
struct id_map {
	uint64_t *keys;
	uint32_t *ids;
	uint32_t *stamps; /* a slot is used where this is `stamp` */
	uint32_t stamp;
	uint32_t count;
	size_t cap; /* power of two, or 0 */
};

struct lc_block_encoder {
	ZSTD_CCtx *zstd;
	struct lc_bytes section[SECTIONS]; /* rows, without their count */
	uint32_t rows[SECTIONS];
	struct id_map strings; /* by address of the text */
	struct id_map methods;
	struct id_map frames; /* by method << 16 | bci */
	struct id_map paths;
	struct id_map sites;
	bool failed;             /* out of memory inside a map or the chain */
	struct lc_bytes chain;   /* uint32_t: path nodes to be defined, leaf first */
	struct lc_bytes payload; /* one block, uncompressed */
	struct lc_bytes file;    /* the finished blocks */
	uint64_t left[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* of the input, not yet in a block */
	uint64_t here[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* in this block's accesses */
};

static void map_empty(struct id_map *m)
{
	m->count = 0;
	if (++m->stamp)
		return;
	for (size_t i = 0; i < m->cap; i++)
		m->stamps[i] = 0;
	m->stamp = 1;
}

static size_t map_slot(const struct id_map *m, uint64_t key)
{
	size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (m->cap - 1);

	while (m->stamps[i] == m->stamp && m->keys[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static bool map_grow(struct id_map *m)
{
	struct id_map n = { .stamp = 1, .count = m->count, .cap = m->cap ? m->cap * 2 : MAP_MIN };

	n.keys = malloc(n.cap * sizeof(*n.keys));
	n.ids = malloc(n.cap * sizeof(*n.ids));
	n.stamps = calloc(n.cap, sizeof(*n.stamps));
	if (!n.keys || !n.ids || !n.stamps) {
		free(n.keys);
		free(n.ids);
		free(n.stamps);
		return false;
	}
	for (size_t i = 0; i < m->cap; i++) {
		size_t slot;

		if (m->stamps[i] != m->stamp)
			continue;
		slot = map_slot(&n, m->keys[i]);
		n.keys[slot] = m->keys[i];
		n.ids[slot] = m->ids[i];
		n.stamps[slot] = n.stamp;
	}
	free(m->keys);
	free(m->ids);
	free(m->stamps);
	*m = n;
	return true;
}

static bool map_get(const struct id_map *m, uint64_t key, uint32_t *id)
{
	size_t i;

	if (!m->cap)
		return false;
	i = map_slot(m, key);
	if (m->stamps[i] != m->stamp)
		return false;
	*id = m->ids[i];
	return true;
}

/* The number of `key`; *is_new when it got one just now. */
static uint32_t map_add(struct lc_block_encoder *e, struct id_map *m, uint64_t key, bool *is_new)
{
	uint32_t id = 0;
	size_t i;

	*is_new = false;
	if (map_get(m, key, &id))
		return id;
	if ((m->count + 1) * 2 > m->cap && !map_grow(m)) {
		e->failed = true;
		return 0;
	}
	i = map_slot(m, key);
	m->keys[i] = key;
	m->ids[i] = m->count;
	m->stamps[i] = m->stamp;
	*is_new = true;
	return m->count++;
}

static void map_free(struct id_map *m)
{
	free(m->keys);
	free(m->ids);
	free(m->stamps);
}

/* ---- definitions ---- */

static void row_varint(struct lc_block_encoder *e, enum lc_section section, uint64_t v)
{
	lc_bytes_varint(&e->section[section], v);
}

static uint32_t define_string(struct lc_block_encoder *e, const char *text)
{
	bool is_new;
	uint32_t id;
	size_t len;

	if (!text || !*text)
		return 0;
	id = map_add(e, &e->strings, (uint64_t)(uintptr_t)text, &is_new);
	if (is_new) {
		len = strlen(text);
		row_varint(e, LC_SECTION_STRINGS, len);
		lc_bytes_add(&e->section[LC_SECTION_STRINGS], text, len);
		e->rows[LC_SECTION_STRINGS]++;
	}
	return id + 1; /* 0 is the empty string */
}

static uint32_t define_method(struct lc_block_encoder *e, uint32_t method)
{
	const struct lc_method *m = lc_method_get(method);
	bool is_new;
	uint32_t id = map_add(e, &e->methods, method, &is_new);

	if (is_new) {
		row_varint(e, LC_SECTION_METHODS, define_string(e, m ? m->class_name : NULL));
		row_varint(e, LC_SECTION_METHODS, define_string(e, m ? m->name : NULL));
		row_varint(e, LC_SECTION_METHODS, define_string(e, m ? m->signature : NULL));
		row_varint(e, LC_SECTION_METHODS, define_string(e, m ? m->source_file : NULL));
		e->rows[LC_SECTION_METHODS]++;
	}
	return id;
}

static uint32_t define_frame(struct lc_block_encoder *e, uint32_t method, uint16_t bci)
{
	bool is_new;
	uint32_t id = map_add(e, &e->frames, (uint64_t)method << 16 | bci, &is_new);

	if (is_new) {
		const struct lc_method *m = lc_method_get(method);
		int line = m && bci != LC_BCI_NONE ? lc_method_line(m, bci) : -1;

		row_varint(e, LC_SECTION_FRAMES, define_method(e, method));
		row_varint(e, LC_SECTION_FRAMES, bci == LC_BCI_NONE ? 0 : bci + 1u);
		row_varint(e, LC_SECTION_FRAMES, line < 0 ? 0 : (uint64_t)line + 1);
		e->rows[LC_SECTION_FRAMES]++;
	}
	return id;
}

static uint32_t define_path(struct lc_block_encoder *e, uint32_t node)
{
	uint32_t parent = 0; /* the block's number: 0 is the root */

	lc_bytes_empty(&e->chain);
	while (node) {
		const struct lc_path_node *n;

		if (map_get(&e->paths, node, &parent)) {
			parent++;
			break;
		}
		n = lc_path_get(node);
		if (!n)
			break;
		lc_bytes_add(&e->chain, &node, sizeof(node));
		node = n->parent < node ? n->parent : 0;
	}
	if (e->chain.failed)
		e->failed = true;
	while (e->chain.len) {
		const struct lc_path_node *n;
		bool is_new;
		uint32_t id;

		e->chain.len -= sizeof(node);
		memcpy(&node, e->chain.data + e->chain.len, sizeof(node));
		n = lc_path_get(node);
		id = map_add(e, &e->paths, node, &is_new) + 1;
		row_varint(e, LC_SECTION_PATHS, id - parent);
		row_varint(e, LC_SECTION_PATHS, define_frame(e, n->method, n->bci));
		e->rows[LC_SECTION_PATHS]++;
		parent = id;
	}
	return parent;
}

static uint32_t define_site(struct lc_block_encoder *e, uint32_t site)
{
	const struct lc_site *s = site ? lc_site_get(site) : NULL;
	bool is_new;
	uint32_t id;

	if (!s)
		return 0;
	id = map_add(e, &e->sites, site, &is_new);
	if (is_new) {
		row_varint(e, LC_SECTION_SITES, define_string(e, s->class_name));
		row_varint(e, LC_SECTION_SITES, define_path(e, s->path));
		e->rows[LC_SECTION_SITES]++;
	}
	return id + 1; /* 0 is none */
}

/* ---- blocks ---- */

static size_t rows_bytes(const struct lc_block_encoder *e)
{
	size_t sum = 0;

	for (int i = 0; i < SECTIONS; i++)
		sum += e->section[i].len;
	return sum;
}

static void block_begin(struct lc_block_encoder *e, const struct lc_block_input *in)
{
	for (int i = 0; i < SECTIONS; i++) {
		lc_bytes_empty(&e->section[i]);
		e->rows[i] = 0;
	}
	map_empty(&e->strings);
	map_empty(&e->methods);
	map_empty(&e->frames);
	map_empty(&e->paths);
	map_empty(&e->sites);
	memset(e->here, 0, sizeof(e->here));
	e->failed = false;
	row_varint(e, LC_SECTION_THREAD, define_string(e, in->name));
	e->rows[LC_SECTION_THREAD] = 1;
}

static void put_alloc(struct lc_block_encoder *e, const struct lc_block_alloc *a)
{
	uint32_t site = define_site(e, a->site);

	if (!site)
		return;
	row_varint(e, LC_SECTION_ALLOCATIONS, site);
	row_varint(e, LC_SECTION_ALLOCATIONS, a->count);
	row_varint(e, LC_SECTION_ALLOCATIONS, a->bytes);
	e->rows[LC_SECTION_ALLOCATIONS]++;
}

static void put_access(struct lc_block_encoder *e, const struct lc_block_access *a)
{
	row_varint(e, LC_SECTION_ACCESSES, a->engine);
	row_varint(e, LC_SECTION_ACCESSES, a->bucket);
	row_varint(e, LC_SECTION_ACCESSES, define_site(e, a->site));
	row_varint(e, LC_SECTION_ACCESSES, define_path(e, a->path));
	row_varint(e, LC_SECTION_ACCESSES, a->samples);
	e->rows[LC_SECTION_ACCESSES]++;
	e->here[a->engine][a->bucket] += a->samples;
}

/* The bucket totals of this block: its accesses, and in the last block all that is left. */
static void put_buckets(struct lc_block_encoder *e, bool last)
{
	for (unsigned g = 0; g < LC_ENGINES_MAX; g++) {
		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++) {
			uint64_t samples = e->here[g][b];

			if (last && e->left[g][b] > samples)
				samples = e->left[g][b];
			e->left[g][b] -= samples < e->left[g][b] ? samples : e->left[g][b];
			if (!samples)
				continue;
			row_varint(e, LC_SECTION_BUCKETS, g);
			row_varint(e, LC_SECTION_BUCKETS, b);
			row_varint(e, LC_SECTION_BUCKETS, samples);
			e->rows[LC_SECTION_BUCKETS]++;
		}
	}
}

static void put_details(struct lc_block_encoder *e, const struct lc_block_input *in)
{
	for (size_t i = 0; i < in->details_len; i++) {
		row_varint(e, LC_SECTION_DETAILS, in->details[i].engine);
		row_varint(e, LC_SECTION_DETAILS, in->details[i].where);
		row_varint(e, LC_SECTION_DETAILS, in->details[i].how);
		row_varint(e, LC_SECTION_DETAILS, in->details[i].samples);
		e->rows[LC_SECTION_DETAILS]++;
	}
}

/* Sections to e->payload. Definitions have smaller types than their uses, so order is by type. */
static int payload_build(struct lc_block_encoder *e)
{
	uint8_t count[LC_VARINT_MAX];
	bool failed = e->failed;

	lc_bytes_empty(&e->payload);
	for (unsigned i = 0; i < SECTIONS; i++) {
		size_t count_len;

		failed |= e->section[i].failed;
		if (!e->rows[i])
			continue;
		count_len = i == LC_SECTION_THREAD ? 0 : lc_varint_put(count, e->rows[i]);
		lc_bytes_varint(&e->payload, i);
		lc_bytes_varint(&e->payload, count_len + e->section[i].len);
		lc_bytes_add(&e->payload, count, count_len);
		lc_bytes_add(&e->payload, e->section[i].data, e->section[i].len);
	}
	if (failed || e->payload.failed)
		return -ENOMEM;
	return e->payload.len > LC_BLOCK_RAW_MAX ? -EFBIG : 0;
}

/* Add the block that was built to e->file. */
static int block_end(struct lc_block_encoder *e, const struct lc_block_input *in, uint64_t sequence)
{
	struct lc_block_header h = {
		.tid = in->tid,
		.thread_index = in->index,
		.sequence = sequence,
		.t_begin_ns = in->t_begin_ns,
		.t_end_ns = in->t_end_ns,
	};
	size_t bound, stored;
	uint8_t *out;
	int err = payload_build(e);

	if (err)
		return err;
	bound = ZSTD_compressBound(e->payload.len);
	if (!lc_bytes_reserve(&e->file, LC_BLOCK_HEADER_LEN + bound))
		return -ENOMEM;
	out = e->file.data + e->file.len;
	stored = ZSTD_compressCCtx(e->zstd, out + LC_BLOCK_HEADER_LEN, bound, e->payload.data,
	                           e->payload.len, ZSTD_LEVEL);
	if (ZSTD_isError(stored))
		return -ENOMEM; /* the bound holds, so only its own memory can fail */
	h.raw_len = (uint32_t)e->payload.len;
	h.stored_len = (uint32_t)stored;
	h.checksum = lc_checksum(out + LC_BLOCK_HEADER_LEN, stored);
	lc_block_header_put(out, &h);
	e->file.len += LC_BLOCK_HEADER_LEN + stored;
	return 0;
}

static bool input_is_valid(const struct lc_block_input *in)
{
	for (size_t i = 0; i < in->accesses_len; i++) {
		const struct lc_block_access *a = &in->accesses[i];

		if (a->engine >= LC_ENGINES_MAX || a->bucket >= LC_BUCKET_COUNT)
			return false;
	}
	for (size_t i = 0; i < in->buckets_len; i++) {
		const struct lc_block_bucket *b = &in->buckets[i];

		if (b->engine >= LC_ENGINES_MAX || b->bucket >= LC_BUCKET_COUNT)
			return false;
	}
	for (size_t i = 0; i < in->details_len; i++) {
		const struct lc_block_detail *d = &in->details[i];

		if (d->engine >= LC_ENGINES_MAX || d->where >= LC_DETAIL_WHERE_COUNT ||
		    d->how >= LC_DETAIL_HOW_COUNT)
			return false;
	}
	return true;
}

int lc_block_encode(struct lc_block_encoder *e, const struct lc_block_input *in, uint64_t sequence)
{
	size_t alloc = 0, access = 0;
	int blocks = 0;
	bool last;

	if (!input_is_valid(in))
		return -EINVAL;
	lc_bytes_empty(&e->file);
	memset(e->left, 0, sizeof(e->left));
	for (size_t i = 0; i < in->buckets_len; i++)
		e->left[in->buckets[i].engine][in->buckets[i].bucket] += in->buckets[i].samples;
	do {
		int err;

		block_begin(e, in);
		while (alloc < in->allocs_len && rows_bytes(e) < SPLIT_BYTES)
			put_alloc(e, &in->allocs[alloc++]);
		while (access < in->accesses_len && rows_bytes(e) < SPLIT_BYTES)
			put_access(e, &in->accesses[access++]);
		last = alloc == in->allocs_len && access == in->accesses_len;
		put_buckets(e, last);
		if (last)
			put_details(e, in);
		err = block_end(e, in, sequence + (unsigned)blocks);
		if (err)
			return err;
		blocks++;
	} while (!last);
	return blocks;
}

struct lc_bytes *lc_block_encoded(struct lc_block_encoder *e)
{
	return &e->file;
}

struct lc_block_encoder *lc_block_encoder_create(void)
{
	struct lc_block_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->zstd = ZSTD_createCCtx();
	if (!e->zstd) {
		free(e);
		return NULL;
	}
	return e;
}

void lc_block_encoder_free(struct lc_block_encoder *e)
{
	if (!e)
		return;
	ZSTD_freeCCtx(e->zstd);
	for (int i = 0; i < SECTIONS; i++)
		free(e->section[i].data);
	free(e->chain.data);
	free(e->payload.data);
	free(e->file.data);
	map_free(&e->strings);
	map_free(&e->methods);
	map_free(&e->frames);
	map_free(&e->paths);
	map_free(&e->sites);
	free(e);
}
