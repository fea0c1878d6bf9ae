/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/names.c - gives the strings, paths and sites of blocks their numbers. Maps from the
 * agent's numbers to those of the blocks are emptied (by a new stamp) for each generation and keep
 * their memory.
 *
 * Maps of the files that were written last are kept. A generation ends after few enough blocks that
 * a damaged one costs little, or when its maps take 4 MB. If the agent is close to its memory
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

/* Numbers of the agent to numbers of the block, from 0 in order of appearance. */
struct id_map {
	uint64_t *keys;
	uint32_t *ids;
	uint32_t *stamps; /* a slot is used where this is `stamp` */
	uint32_t stamp;
	uint32_t count;
	size_t cap; /* power of two, or 0 */
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
	m->count = 0;
	if (++m->stamp)
		return;
	for (size_t i = 0; i < m->cap; i++)
		m->stamps[i] = 0;
	m->stamp = 1;
}

static size_t map_slot(const struct id_map *m, uint64_t key)
{
	size_t i = (size_t)(lc_hash(key) >> 32) & (m->cap - 1);

	while (m->stamps[i] == m->stamp && m->keys[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static bool map_grow(struct id_map *m)
{
	struct id_map n = { .stamp = 1, .count = m->count, .cap = m->cap ? m->cap * 2 : MAP_MIN };

	n.keys = malloc(n.cap * sizeof(*n.keys));
	n.ids = malloc(n.cap * sizeof(*n.ids));
	n.stamps = lc_zeroed(n.cap, sizeof(*n.stamps));
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
static uint32_t map_add(struct lc_names *n, struct id_map *m, uint64_t key, bool *is_new)
{
	uint32_t id = 0;
	size_t i;

	*is_new = false;
	if (map_get(m, key, &id))
		return id;
	if ((m->count + 1) * 2 > m->cap && !map_grow(m)) {
		n->failed = true;
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
