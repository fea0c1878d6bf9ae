/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/names.c - gives the strings, paths and sites of blocks their numbers. Maps from the
 * agent's numbers to those of the blocks are emptied for each generation and keep their memory.
 *
 * Maps of the files that were written last are kept. A generation ends after few enough blocks that
 * a damaged one costs little, or when its maps take 2 MB. If the agent is close to its memory
 * limit, each block begins a generation.
 */
#include "src/profile/names.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/zeroed.h"
#include "src/core/memory.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/format/block.h"

enum { SHORT_PARTS = 14, SHORT_OF = 16 }; /* of --max-memory */
enum { MAP_MIN = 256, FILES = 4, GENERATION_BLOCKS = 256, GENERATION_NAMES = 65536 };

/*
 * Numbers of the agent to numbers of the block, from 0 in order of appearance. A path takes 8 bytes
 * for its key and at least 8 for its slots: large programs have 100,000 paths.
 */
struct id_map {
	uint64_t *keys;  /* by the block's number; room for cap / 2 */
	uint32_t *slots; /* a block's number + 1, or 0 */
	uint32_t count;
	size_t cap; /* of slots: a power of two, or 0 */
};

/* In the order of the sections. */
enum { STRINGS, METHODS, FRAMES, PATHS, SITES, MAPS };
_Static_assert((int)MAPS == (int)LC_BLOCK_DEFINITIONS, "a map for each section");

/* Definitions in the blocks of a file. */
struct generation {
	uint32_t file;
	uint32_t blocks; /* 0: it has not begun */
	uint64_t begin;  /* sequence of the first */
	/*
	 * Strings by a checksum of the text, since texts of threads come and go; frames by method
	 * << 16 | bci; others by the agent's number.
	 */
	struct id_map maps[MAPS];
};

struct lc_names {
	struct lc_sections *out; /* the owner's */
	struct generation generations[FILES];
	struct generation *now;
	bool failed;           /* out of memory inside a map or the chain */
	struct lc_bytes chain; /* uint32_t: path nodes to be defined, leaf first */
};

static void map_empty(struct id_map *m)
{
	if (m->count)
		memset(m->slots, 0, m->cap * sizeof(*m->slots));
	m->count = 0;
}

/* The slot that has the key, or the free one where it belongs. */
static uint32_t *map_slot(const struct id_map *m, uint64_t key)
{
	size_t i = (size_t)(lc_hash(key) >> 32) & (m->cap - 1);

	while (m->slots[i] && m->keys[m->slots[i] - 1] != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static bool map_grow(struct id_map *m)
{
	struct id_map n = { .count = m->count, .cap = m->cap ? m->cap * 2 : MAP_MIN };

	n.slots = lc_zeroed(n.cap, sizeof(*n.slots));
	n.keys = n.slots ? realloc(m->keys, n.cap / 2 * sizeof(*n.keys)) : NULL;
	if (!n.keys) {
		free(n.slots);
		return false;
	}
	for (uint32_t id = 0; id < n.count; id++)
		*map_slot(&n, n.keys[id]) = id + 1;
	free(m->slots);
	*m = n;
	return true;
}

static bool map_get(const struct id_map *m, uint64_t key, uint32_t *id)
{
	const uint32_t held = m->cap ? *map_slot(m, key) : 0;

	if (held)
		*id = held - 1;
	return held;
}

/* The number of `key`; *is_new when it got one just now. */
static uint32_t map_add(struct lc_names *n, struct id_map *m, uint64_t key, bool *is_new)
{
	uint32_t id = 0;

	*is_new = false;
	if (map_get(m, key, &id))
		return id;
	if ((m->count + 1) * 2 > m->cap && !map_grow(m)) {
		n->failed = true;
		return 0;
	}
	m->keys[m->count] = key;
	*map_slot(m, key) = m->count + 1;
	*is_new = true;
	return m->count++;
}

static void map_free(struct id_map *m)
{
	free(m->keys);
	free(m->slots);
}

/* ---- definitions ---- */

static void row_varint(struct lc_names *n, enum lc_section section, uint64_t v)
{
	lc_bytes_varint(&n->out->bytes[section], v);
}

uint32_t lc_names_string(struct lc_names *n, const char *text)
{
	bool is_new;
	uint32_t id;
	size_t len;

	if (!text || !*text)
		return 0;
	len = strlen(text);
	id = map_add(n, &n->now->maps[STRINGS], lc_checksum(text, len), &is_new);
	if (is_new) {
		row_varint(n, LC_SECTION_STRINGS, len);
		lc_bytes_add(&n->out->bytes[LC_SECTION_STRINGS], text, len);
		n->out->rows[LC_SECTION_STRINGS]++;
	}
	return id + 1; /* 0 is the empty string */
}

static uint32_t define_method(struct lc_names *n, uint32_t method)
{
	const struct lc_method *m = lc_method_get(method);
	bool is_new;
	uint32_t id = map_add(n, &n->now->maps[METHODS], method, &is_new);

	if (is_new) {
		row_varint(n, LC_SECTION_METHODS, lc_names_string(n, m ? m->class_name : NULL));
		row_varint(n, LC_SECTION_METHODS, lc_names_string(n, m ? m->name : NULL));
		row_varint(n, LC_SECTION_METHODS, lc_names_string(n, m ? m->signature : NULL));
		row_varint(n, LC_SECTION_METHODS, lc_names_string(n, m ? m->source_file : NULL));
		n->out->rows[LC_SECTION_METHODS]++;
	}
	return id;
}

static uint32_t define_frame(struct lc_names *n, uint32_t method, uint16_t bci)
{
	bool is_new;
	uint32_t id = map_add(n, &n->now->maps[FRAMES], (uint64_t)method << 16 | bci, &is_new);

	if (is_new) {
		const struct lc_method *m = lc_method_get(method);
		int line = m && bci != LC_BCI_NONE ? lc_method_line(m, bci) : -1;

		row_varint(n, LC_SECTION_FRAMES, define_method(n, method));
		row_varint(n, LC_SECTION_FRAMES, bci == LC_BCI_NONE ? 0 : bci + 1u);
		row_varint(n, LC_SECTION_FRAMES, line < 0 ? 0 : (uint64_t)line + 1);
		n->out->rows[LC_SECTION_FRAMES]++;
	}
	return id;
}

uint32_t lc_names_path(struct lc_names *n, uint32_t node)
{
	const struct lc_path_node *p;
	uint32_t parent = 0; /* the block's number: 0 is the root */

	lc_bytes_empty(&n->chain);
	while (node) {
		if (map_get(&n->now->maps[PATHS], node, &parent)) {
			parent++;
			break;
		}
		p = lc_path_get(node);
		if (!p)
			break;
		lc_bytes_add(&n->chain, &node, sizeof(node));
		node = p->parent < node ? p->parent : 0;
	}
	if (n->chain.failed)
		n->failed = true;
	while (n->chain.len) {
		bool is_new;
		uint32_t id;

		n->chain.len -= sizeof(node);
		memcpy(&node, n->chain.data + n->chain.len, sizeof(node));
		p = lc_path_get(node);
		id = map_add(n, &n->now->maps[PATHS], node, &is_new) + 1;
		row_varint(n, LC_SECTION_PATHS, id - parent);
		row_varint(n, LC_SECTION_PATHS, define_frame(n, p->method, p->bci));
		n->out->rows[LC_SECTION_PATHS]++;
		parent = id;
	}
	return parent;
}

uint32_t lc_names_site(struct lc_names *n, uint32_t site)
{
	const struct lc_site *s = site ? lc_site_get(site) : NULL;
	bool is_new;
	uint32_t id;

	if (!s)
		return 0;
	id = map_add(n, &n->now->maps[SITES], site, &is_new);
	if (is_new) {
		row_varint(n, LC_SECTION_SITES, lc_names_string(n, s->class_name));
		row_varint(n, LC_SECTION_SITES, lc_names_path(n, s->path));
		n->out->rows[LC_SECTION_SITES]++;
	}
	return id + 1; /* 0 is none */
}

static bool is_full(const struct generation *g)
{
	uint32_t names = 0;

	for (unsigned i = 0; i < MAPS; i++)
		names += g->maps[i].count;
	return g->blocks >= GENERATION_BLOCKS || names >= GENERATION_NAMES;
}

/*
 * Is the agent close to its memory limit? The maps are part of the sum. Modules that ask before
 * they grow, except for paths, stop below this.
 */
static bool is_short_of_memory(void)
{
	const uint64_t limit = lc_memory_limited_to();

	return limit != UINT64_MAX && lc_memory_held() > limit / SHORT_OF * SHORT_PARTS;
}

/* All files begin new generations, with maps of no size: names are written again, none is lost. */
static void shrink(struct lc_names *n)
{
	for (unsigned f = 0; f < FILES; f++) {
		n->generations[f].blocks = 0;
		for (unsigned i = 0; i < MAPS; i++) {
			map_free(&n->generations[f].maps[i]);
			n->generations[f].maps[i] = (struct id_map){ .cap = 0 };
		}
	}
}

static struct generation *of_file(struct lc_names *n, uint32_t file)
{
	struct generation *g = &n->generations[file % FILES];

	if (g->file != file)
		g->blocks = 0;
	g->file = file;
	return g;
}

void lc_names_begin(struct lc_names *n, uint32_t file, struct lc_block_header *h)
{
	struct generation *g = n->now = of_file(n, file);

	if (is_short_of_memory())
		shrink(n);
	if (!g->blocks || is_full(g)) {
		for (unsigned i = 0; i < MAPS; i++)
			map_empty(&g->maps[i]);
		g->begin = h->sequence;
		g->blocks = 0;
	}
	g->blocks++;
	n->failed = false;
	h->version = LC_BLOCK_VERSION;
	h->generation = g->begin;
	for (unsigned i = 0; i < MAPS; i++)
		h->first[i] = g->maps[i].count;
}

void lc_names_forget(struct lc_names *n, uint32_t file)
{
	of_file(n, file)->blocks = 0;
}

bool lc_names_failed(const struct lc_names *n)
{
	return n->failed;
}

struct lc_names *lc_names_create(struct lc_sections *out)
{
	struct lc_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->out = out;
	n->now = &n->generations[0];
	return n;
}

void lc_names_free(struct lc_names *n)
{
	if (!n)
		return;
	for (unsigned f = 0; f < FILES; f++)
		for (unsigned i = 0; i < MAPS; i++)
			map_free(&n->generations[f].maps[i]);
	free(n->chain.data);
	free(n);
}
