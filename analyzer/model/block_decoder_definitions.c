/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/block_decoder_definitions.c - decodes a block's definitions: strings, methods, frames,
 * paths and sites.
 *
 * Definitions go to the tree at once: a name without counts does no harm. The number of rows is
 * checked against the bytes that are left before memory is allocated. Rows are looked up in
 * batches, since a look-up mostly waits for memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/block_decoder_impl.h"
#include "src/format/block.h"

enum { KEY_MAX = LC_METHOD_KEY }; /* numbers of a key of methods, frames and sites */
_Static_assert((int)LC_FRAME_KEY <= (int)KEY_MAX && (int)LC_SITE_KEY <= (int)KEY_MAX,
               "arrays of keys have room");

static const enum lc_section definition_sections[LC_BLOCK_DEFINITIONS] = {
	LC_SECTION_STRINGS, LC_SECTION_METHODS, LC_SECTION_FRAMES, LC_SECTION_PATHS,
	LC_SECTION_SITES
};

/* Make room for `count` more definitions. Returns where they begin. */
static uint32_t *ids_more(struct lc_block_decoder *d, enum lc_section type, uint32_t count)
{
	d->ids[type] = lc_mem_grow(d->ids[type], &d->ids_cap[type],
	                           (size_t)d->ids_len[type] + count + 1, sizeof(**d->ids));
	return d->ids[type] + d->ids_len[type];
}

static int strings(struct lc_block_decoder *d, struct lc_tree *t)
{
	struct lc_reader r = lc_reader_of(d, LC_SECTION_STRINGS);
	uint32_t count = lc_take_count(&r, 1);
	uint32_t *ids = ids_more(d, LC_SECTION_STRINGS, count), n = 0;
	struct lc_text texts[LC_TABLE_BATCH];

	for (uint32_t i = 0; i < count && !r.bad; i++) {
		uint64_t len = lc_take(&r);

		if (len > (uint64_t)(r.end - r.at)) {
			lc_reader_fail(&r);
			break;
		}
		texts[n++] = (struct lc_text){ (const char *)r.at, (uint32_t)len };
		r.at += len;
		if (n == LC_TABLE_BATCH || i + 1 == count) {
			lc_tree_strings(t, texts, n, ids + i + 1 - n);
			n = 0;
		}
	}
	d->ids_len[LC_SECTION_STRINGS] += count;
	return lc_reader_finish(&r);
}

/* The string of a class without the parts that differ between runs. */
static uint32_t class_of(struct lc_tree *t, uint32_t string)
{
	struct lc_text text = lc_tree_text(t, string);
	uint32_t found = string;
	size_t cap = t->classes_cap;
	char *copy;

	if (string < cap && t->classes[string])
		return t->classes[string] - 1;
	if (memmem(text.bytes, text.len, "0x", 2)) {
		copy = lc_mem_zeroed(text.len, 1); /* a string in the tree may move */
		memcpy(copy, text.bytes, text.len);
		found = lc_tree_class(t, copy, text.len);
		free(copy);
	}
	t->classes =
	    lc_mem_grow(t->classes, &t->classes_cap, (size_t)string + 1, sizeof(*t->classes));
	if (t->classes_cap > cap)
		memset(t->classes + cap, 0, (t->classes_cap - cap) * sizeof(*t->classes));
	t->classes[string] = found + 1;
	return found;
}

/* A key of a definition that has one of a fixed length. */
typedef void take_key(struct lc_reader *r, struct lc_block_decoder *d, struct lc_tree *t,
                      uint32_t *key);

/* Decode such definitions into their table. Inlined, so that `take` is no call. */
static inline __attribute__((always_inline)) int keyed(struct lc_block_decoder *d,
                                                       struct lc_tree *t, enum lc_section type,
                                                       struct lc_table *table, unsigned key_len,
                                                       take_key *take)
{
	struct lc_reader r = lc_reader_of(d, type);
	uint32_t count = lc_take_count(&r, key_len);
	uint32_t *ids = ids_more(d, type, count), keys[LC_TABLE_BATCH * KEY_MAX], n = 0;

	for (uint32_t i = 0; i < count && !r.bad; i++) {
		take(&r, d, t, keys + n * key_len);
		if (++n == LC_TABLE_BATCH || i + 1 == count) {
			lc_table_put_batch(table, keys, n, ids + i + 1 - n);
			n = 0;
		}
	}
	d->ids_len[type] += count;
	return lc_reader_finish(&r);
}

static inline void take_method(struct lc_reader *r, struct lc_block_decoder *d, struct lc_tree *t,
                               uint32_t *key)
{
	for (unsigned k = 0; k < LC_METHOD_KEY; k++)
		key[k] = lc_take_id(r, d, LC_SECTION_STRINGS);
	key[LC_METHOD_CLASS] = class_of(t, key[LC_METHOD_CLASS]);
}

static int methods(struct lc_block_decoder *d, struct lc_tree *t)
{
	return keyed(d, t, LC_SECTION_METHODS, &t->methods, LC_METHOD_KEY, take_method);
}

static inline void take_frame(struct lc_reader *r, struct lc_block_decoder *d, struct lc_tree *t,
                              uint32_t *key)
{
	key[LC_FRAME_METHOD] = lc_take_id(r, d, LC_SECTION_METHODS);
	key[LC_FRAME_BCI1] = lc_take_below(r, INT32_MAX);
	key[LC_FRAME_LINE1] = lc_take_below(r, INT32_MAX);
}

static int frames(struct lc_block_decoder *d, struct lc_tree *t)
{
	return keyed(d, t, LC_SECTION_FRAMES, &t->frames, LC_FRAME_KEY, take_frame);
}

static inline void take_site(struct lc_reader *r, struct lc_block_decoder *d, struct lc_tree *t,
                             uint32_t *key)
{
	key[LC_SITE_CLASS] = class_of(t, lc_take_id(r, d, LC_SECTION_STRINGS));
	key[LC_SITE_PATH] = lc_take_id(r, d, LC_SECTION_PATHS);
}

static int sites(struct lc_block_decoder *d, struct lc_tree *t)
{
	return keyed(d, t, LC_SECTION_SITES, &t->sites, LC_SITE_KEY, take_site);
}

/* Make room for the data of `count` paths. */
static void paths_more(struct lc_block_decoder *d, const struct lc_tree *t, uint32_t count)
{
	d->depths = lc_mem_grow(d->depths, &d->depths_cap, (size_t)count + 1, sizeof(*d->depths));
	d->depths[0] = (uint16_t)lc_tree_depth(t, d->root);
	d->parents = lc_mem_grow(d->parents, &d->parents_cap, count, sizeof(*d->parents));
	d->frames = lc_mem_grow(d->frames, &d->frames_cap, count, sizeof(*d->frames));
	d->by_depth = lc_mem_grow(d->by_depth, &d->by_depth_cap, count, sizeof(*d->by_depth));
}

/* Order the new paths by depth, so that parents come before their children. */
static void paths_by_depth(struct lc_block_decoder *d, uint32_t first, uint32_t count)
{
	uint32_t *at = d->depth_first;
	unsigned deepest = 0;

	for (uint32_t i = 0; i < count; i++)
		if (d->depths[first + i] > deepest)
			deepest = d->depths[first + i];
	memset(at, 0, (deepest + 2) * sizeof(*at));
	for (uint32_t i = 0; i < count; i++)
		at[d->depths[first + i] + 1]++;
	for (unsigned depth = 0; depth <= deepest; depth++)
		at[depth + 1] += at[depth];
	for (uint32_t i = 0; i < count; i++)
		d->by_depth[at[d->depths[first + i]]++] = i;
}

/*
 * Look up paths of one depth together. None of them is the parent of another one, and a look-up
 * mostly waits for memory.
 */
static void paths_to_tree(struct lc_block_decoder *d, struct lc_tree *t, uint32_t first,
                          uint32_t count)
{
	uint32_t *ids = d->ids[LC_SECTION_PATHS], keys[LC_TABLE_BATCH * LC_PATH_KEY];
	uint32_t rows[LC_TABLE_BATCH];

	paths_by_depth(d, first, count);
	for (uint32_t i = 0, n; i < count; i += n) {
		const uint16_t depth = d->depths[first + d->by_depth[i]];

		for (n = 0; n < LC_TABLE_BATCH && i + n < count; n++) {
			const uint32_t path = d->by_depth[i + n];

			if (d->depths[first + path] != depth)
				break;
			keys[n * LC_PATH_KEY + LC_PATH_PARENT] = ids[d->parents[path]];
			keys[n * LC_PATH_KEY + LC_PATH_FRAME] = d->frames[path];
		}
		lc_table_put_batch(&t->paths, keys, n, rows);
		for (uint32_t k = 0; k < n; k++)
			ids[first + d->by_depth[i + k]] = rows[k];
	}
}

static int paths(struct lc_block_decoder *d, struct lc_tree *t)
{
	struct lc_reader r = lc_reader_of(d, LC_SECTION_PATHS);
	uint32_t count = lc_take_count(&r, LC_PATH_KEY);
	const uint32_t first = d->ids_len[LC_SECTION_PATHS];
	uint32_t *ids = ids_more(d, LC_SECTION_PATHS, count) - first;
	uint16_t *depths;

	paths_more(d, t, first + count);
	depths = d->depths;
	for (uint32_t i = first; i < first + count && !r.bad; i++) {
		uint32_t up = lc_take_below(&r, (uint64_t)i + 1);
		const bool old = up && i - up < first;

		if (old && ids[i - up] == LC_LOST_DEFINITION)
			d->lost = true;
		/* Readers walk a path frame by frame: millions of frames would take days. */
		if (!up || (old && ids[i - up] == LC_LOST_DEFINITION) ||
		    depths[i - up] == LC_BLOCK_DEPTH_MAX)
			lc_reader_fail(&r);
		depths[i] = r.bad ? 0 : (uint16_t)(depths[i - up] + 1);
		d->parents[i - first] = r.bad ? 0 : i - up;
		d->frames[i - first] = lc_take_id(&r, d, LC_SECTION_FRAMES);
	}
	if (lc_reader_finish(&r))
		return -EBADMSG;
	paths_to_tree(d, t, first, count);
	d->ids_len[LC_SECTION_PATHS] += count;
	d->paths += count;
	return 0;
}

/* Does number 0 mean none, the empty string, or the root? */
static bool is_from_1(enum lc_section type)
{
	return type == LC_SECTION_STRINGS || type == LC_SECTION_PATHS || type == LC_SECTION_SITES;
}

/*
 * Find the definitions that precede the block's own: those of the earlier blocks of its generation.
 * Definitions in lost blocks become LC_LOST_DEFINITION.
 */
static int earlier_definitions(struct lc_block_decoder *d, const struct lc_block_header *h,
                               uint32_t root)
{
	const bool refers = lc_block_header_refers(h);
	const bool begins =
	    !refers || !d->refers || d->generation != h->generation || d->root != root;

	for (unsigned i = 0; i < LC_BLOCK_DEFINITIONS; i++) {
		const enum lc_section type = definition_sections[i];
		const bool from_1 = is_from_1(type);
		const uint32_t first = refers ? h->first[i] : 0;
		uint32_t *ids;

		if (first > LC_BLOCK_FIRST_MAX || (refers && h->generation == h->sequence && first))
			return -EBADMSG;
		if (begins)
			d->ids_len[type] = 0;
		if (d->ids_len[type] > first + from_1) /* a repeated or foreign block */
			d->ids_len[type] = first + from_1;
		ids = ids_more(d, type, first + from_1 - d->ids_len[type]);
		while (d->ids_len[type] < first + from_1) {
			*ids++ = LC_LOST_DEFINITION;
			d->ids_len[type]++;
		}
		if (from_1)
			d->ids[type][0] = 0; /* none, the empty string, or the root */
	}
	d->ids[LC_SECTION_PATHS][0] = d->root = root;
	d->refers = refers;
	d->generation = h->generation;
	return 0;
}

void lc_block_lose_definitions(struct lc_block_decoder *d, const struct lc_block_header *h)
{
	for (unsigned i = 0; i < LC_BLOCK_DEFINITIONS; i++) {
		const enum lc_section type = definition_sections[i];
		const uint32_t first =
		    (lc_block_header_refers(h) ? h->first[i] : 0) + is_from_1(type);

		if (d->ids_len[type] > first)
			d->ids_len[type] = first;
	}
}

int lc_block_definitions(struct lc_block_decoder *d, const struct lc_block_header *h,
                         struct lc_tree *t, uint32_t root)
{
	static int (*const decode[])(struct lc_block_decoder *, struct lc_tree *) = {
		[LC_SECTION_STRINGS] = strings, [LC_SECTION_METHODS] = methods,
		[LC_SECTION_FRAMES] = frames,   [LC_SECTION_PATHS] = paths,
		[LC_SECTION_SITES] = sites,
	};

	if (earlier_definitions(d, h, root))
		return -EBADMSG;
	for (unsigned i = 0; i < LC_BLOCK_DEFINITIONS; i++)
		if (d->body[definition_sections[i]] && decode[definition_sections[i]](d, t))
			return -EBADMSG;
	return 0;
}
