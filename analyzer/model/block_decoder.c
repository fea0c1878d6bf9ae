/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/block_decoder.c - decodes the sections of a block's payload into a tree (docs/FORMAT.md).
 *
 * Definitions go to the tree at once: a name without counts does no harm. Counts are read twice,
 * first to check and then to add, so a block counts whole or not at all. The number of rows is
 * checked against the bytes that are left before memory is allocated.
 *
 * This file is longer than 600 lines, since each section is read with the definitions before it.
 */
#include "analyzer/model/block_decoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/block_decoder_impl.h"
#include "src/base/options.h"
#include "src/format/block.h"

void lc_block_decoder_free(struct lc_block_decoder *d)
{
	for (size_t i = 0; i < sizeof(d->ids) / sizeof(d->ids[0]); i++)
		free(d->ids[i]);
	free(d->depths);
	free(d->parents);
	free(d->frames);
	free(d->by_depth);
	memset(d, 0, sizeof(*d));
}

/* ---- definitions ---- */

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

static int methods(struct lc_block_decoder *d, struct lc_tree *t)
{
	struct lc_reader r = lc_reader_of(d, LC_SECTION_METHODS);
	uint32_t count = lc_take_count(&r, LC_METHOD_KEY);
	uint32_t *ids = ids_more(d, LC_SECTION_METHODS, count);
	uint32_t keys[LC_TABLE_BATCH * LC_METHOD_KEY], n = 0;

	for (uint32_t i = 0; i < count && !r.bad; i++) {
		uint32_t *key = keys + n * LC_METHOD_KEY;

		for (unsigned k = 0; k < LC_METHOD_KEY; k++)
			key[k] = lc_take_id(&r, d, LC_SECTION_STRINGS);
		key[LC_METHOD_CLASS] = class_of(t, key[LC_METHOD_CLASS]);
		if (++n == LC_TABLE_BATCH || i + 1 == count) {
			lc_table_put_batch(&t->methods, keys, n, ids + i + 1 - n);
			n = 0;
		}
	}
	d->ids_len[LC_SECTION_METHODS] += count;
	return lc_reader_finish(&r);
}

static int frames(struct lc_block_decoder *d, struct lc_tree *t)
{
	struct lc_reader r = lc_reader_of(d, LC_SECTION_FRAMES);
	uint32_t count = lc_take_count(&r, LC_FRAME_KEY);
	uint32_t *ids = ids_more(d, LC_SECTION_FRAMES, count);
	uint32_t keys[LC_TABLE_BATCH * LC_FRAME_KEY], n = 0;

	for (uint32_t i = 0; i < count && !r.bad; i++) {
		uint32_t *key = keys + n * LC_FRAME_KEY;

		key[LC_FRAME_METHOD] = lc_take_id(&r, d, LC_SECTION_METHODS);
		key[LC_FRAME_BCI1] = lc_take_below(&r, INT32_MAX);
		key[LC_FRAME_LINE1] = lc_take_below(&r, INT32_MAX);
		if (++n == LC_TABLE_BATCH || i + 1 == count) {
			lc_table_put_batch(&t->frames, keys, n, ids + i + 1 - n);
			n = 0;
		}
	}
	d->ids_len[LC_SECTION_FRAMES] += count;
	return lc_reader_finish(&r);
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

static int sites(struct lc_block_decoder *d, struct lc_tree *t)
{
	struct lc_reader r = lc_reader_of(d, LC_SECTION_SITES);
	uint32_t count = lc_take_count(&r, LC_SITE_KEY);
	uint32_t *ids = ids_more(d, LC_SECTION_SITES, count);
	uint32_t keys[LC_TABLE_BATCH * LC_SITE_KEY], n = 0;

	for (uint32_t i = 0; i < count && !r.bad; i++) {
		uint32_t *key = keys + n * LC_SITE_KEY;

		key[LC_SITE_CLASS] = class_of(t, lc_take_id(&r, d, LC_SECTION_STRINGS));
		key[LC_SITE_PATH] = lc_take_id(&r, d, LC_SECTION_PATHS);
		if (++n == LC_TABLE_BATCH || i + 1 == count) {
			lc_table_put_batch(&t->sites, keys, n, ids + i + 1 - n);
			n = 0;
		}
	}
	d->ids_len[LC_SECTION_SITES] += count;
	return lc_reader_finish(&r);
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

/* The block is not used, so its definitions are lost. */
static void lose_definitions(struct lc_block_decoder *d, const struct lc_block_header *h)
{
	for (unsigned i = 0; i < LC_BLOCK_DEFINITIONS; i++) {
		const enum lc_section type = definition_sections[i];
		const uint32_t first =
		    (lc_block_header_refers(h) ? h->first[i] : 0) + is_from_1(type);

		if (d->ids_len[type] > first)
			d->ids_len[type] = first;
	}
}

static int definitions(struct lc_block_decoder *d, const struct lc_block_header *h,
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

/* ---- counts ---- */

/* Is column `i` the path of the access? */
static bool is_access_path(const struct lc_section_spec *s, unsigned i)
{
	if (s->filter != LC_FILTER_ACCESS)
		return false;
	for (unsigned k = i + 1; k < s->keys_len; k++)
		if (s->columns[k].type == LC_COLUMN_PATH)
			return false; /* the access's path is the last path */
	return s->columns[i].type == LC_COLUMN_PATH;
}

static void add_row(struct lc_pass *p, const struct lc_section_spec *s, uint32_t thread,
                    const uint64_t *v)
{
	struct lc_table *table = lc_tree_table(p->target->tree, s->number);
	uint32_t key[1 + 2 * LC_COLUMNS_MAX], len = 0;
	uint64_t *values;

	if (s->merged)
		key[len++] = thread;
	for (unsigned i = 0; i < s->keys_len; i++) {
		enum lc_column_type type = s->columns[i].type;

		if (lc_tree_is_wide(type)) {
			lc_tree_wide_put(key + len, v[i]);
			len += 2;
		} else if (type == LC_COLUMN_PATH && !v[i] && !is_access_path(s, i)) {
			key[len++] = 0;
		} else {
			key[len++] = lc_tree_number(p, type, v[i]);
		}
	}
	values = lc_table_values(table, lc_table_put(table, key));
	for (unsigned i = s->keys_len; i < s->columns_len; i++)
		lc_section_column_add(&s->columns[i], values++, v[i]);
	if (p->target->tree->slices)
		lc_slices_add(p->target->tree->slices, p->who, s->number, key + !!s->merged,
		              v + s->keys_len);
}

/* Are rows chosen by the frames of their paths, or by groups in a block of all threads? */
static bool by_frames(const struct lc_pass *p)
{
	return p->target->frames && lc_frame_filter_on(p->target->frames);
}

static bool by_groups(const struct lc_pass *p)
{
	return p->all && p->target->groups;
}

static bool path_passes(const struct lc_pass *p, uint32_t path)
{
	const struct lc_tree *t = p->target->tree;

	return (!by_frames(p) || lc_frame_filter_passes(p->target->frames, t, path)) &&
	       (!by_groups(p) || lc_group_filter_passes(p->target->groups, t, path));
}

/* The path of the first site of a row. */
static uint32_t site_path(const struct lc_pass *p, const struct lc_section_spec *s,
                          const uint64_t *v)
{
	const struct lc_tree *t = p->target->tree;

	for (unsigned i = 0; i < s->keys_len; i++)
		if (s->columns[i].type == LC_COLUMN_SITE)
			return lc_table_key(&t->sites,
			                    lc_tree_number(p, LC_COLUMN_SITE, v[i]))[LC_SITE_PATH];
	return 0;
}

static uint32_t access_path(const struct lc_pass *p, const struct lc_section_spec *s,
                            const uint64_t *v)
{
	for (unsigned i = s->keys_len; i-- > 0;)
		if (s->columns[i].type == LC_COLUMN_PATH)
			return lc_tree_number(p, LC_COLUMN_PATH, v[i]);
	return 0;
}

/* Does a row pass the filters of paths? */
static bool passes(const struct lc_pass *p, const struct lc_section_spec *s, const uint64_t *v)
{
	if (!by_frames(p) && !by_groups(p))
		return true;
	switch ((enum lc_section_filter)s->filter) {
	case LC_FILTER_ACCESS:
		return path_passes(p, access_path(p, s, v));
	case LC_FILTER_SITE:
		return path_passes(p, site_path(p, s, v));
	case LC_FILTER_GROUP:
		return !by_groups(p) || lc_group_filter_passes(p->target->groups, p->target->tree,
		                                               site_path(p, s, v));
	case LC_FILTER_DROP:
		return false;
	case LC_FILTER_NONE:
		break;
	}
	return true;
}

static void add_allocations(struct lc_pass *p, const uint64_t *v)
{
	struct lc_tree *t = p->target->tree;
	uint32_t site = lc_tree_number(p, LC_COLUMN_SITE, v[0]);

	for (unsigned i = 0; i < 2; i++) {
		lc_sum_add(&lc_table_values(&t->sites, site)[LC_SITE_ALLOCATIONS + i], v[1 + i]);
		if (!p->all)
			lc_sum_add(
			    &lc_table_values(&t->threads, p->thread)[LC_THREAD_ALLOCATIONS + i],
			    v[1 + i]);
	}
	if (t->slices)
		lc_slices_add(t->slices, p->who, LC_SECTION_ALLOCATIONS, &site, v + 1);
	if (!p->all)
		lc_tree_stretch_allocated(t, v[1], v[2]);
}

static void add_share(struct lc_pass *p, uint32_t thread, uint32_t engine, uint32_t bucket,
                      uint64_t samples)
{
	struct lc_tree *t = p->target->tree;
	const uint32_t key[LC_SHARE_KEY] = { thread, engine, bucket };

	lc_sum_add(lc_table_values(&t->shares, lc_table_put(&t->shares, key)), samples);
}

static void add_samples(struct lc_pass *p, const uint64_t *v, uint64_t samples)
{
	uint32_t engine = lc_tree_number(p, LC_COLUMN_ENGINE, v[0]), bucket = (uint32_t)v[1];

	if (!samples)
		return;
	lc_sum_add(&p->target->tree->buckets[engine][bucket], samples);
	if (p->target->tree->slices)
		lc_slices_add_total(p->target->tree->slices, p->who, engine, bucket, samples);
	if (p->all)
		return;
	add_share(p, p->thread, engine, bucket, samples);
	lc_tree_stretch_sampled(p->target->tree, engine, bucket, samples);
}

/*
 * Keep samples without a known path apart by group, too, as an access at the group's root. How many
 * of them one interrupt brought is unknown.
 */
static void add_pathless(struct lc_pass *p, const uint64_t *v, uint64_t samples)
{
	const uint64_t row[] = { v[0], v[1], 0, 0, samples, 0 };

	if (p->d->root && samples)
		add_row(p, lc_section_spec(LC_SECTION_ACCESSES), 0, row);
}

/*
 * Add the samples of a bucket. With a filter of paths, add_access() adds the samples with a path
 * that passes, and this function adds only those without a known path.
 */
static void add_bucket(struct lc_pass *p, const uint64_t *v)
{
	uint64_t *seen = &p->seen[v[0]][v[1]], with_path = *seen < v[2] ? *seen : v[2];

	*seen -= with_path;
	if (!by_frames(p) && !by_groups(p)) {
		add_pathless(p, v, v[2] - with_path);
		add_samples(p, v, v[2]);
	} else if (path_passes(p, p->d->root)) {
		add_pathless(p, v, v[2] - with_path);
		add_samples(p, v, v[2] - with_path);
	}
}

static void add_access(struct lc_pass *p, const struct lc_section_spec *s, const uint64_t *v)
{
	lc_sum_add(&p->seen[v[0]][v[1]], v[s->keys_len]);
	if ((by_frames(p) || by_groups(p)) && passes(p, s, v))
		add_samples(p, v, v[s->keys_len]);
}

/* Compute the samples of the accesses minus those of the buckets. */
static void note_samples(struct lc_pass *p, const struct lc_section_spec *s, const uint64_t *v)
{
	uint64_t samples = v[s->keys_len], *seen;

	if (s->number != LC_SECTION_ACCESSES && s->number != LC_SECTION_BUCKETS)
		return;
	seen = &p->seen[v[0]][v[1]];
	if (s->number == LC_SECTION_ACCESSES) {
		lc_sum_add(seen, samples);
	} else {
		*seen -= samples < *seen ? samples : *seen;
		lc_sum_add(&p->offered[v[0]], samples);
	}
}

static bool refers_to_lost(struct lc_pass *p, const struct lc_section_spec *s, const uint64_t *v)
{
	bool lost = false;

	for (unsigned i = 0; i < s->columns_len; i++)
		switch (s->columns[i].type) {
		case LC_COLUMN_SITE:
		case LC_COLUMN_SITE_OR_0:
		case LC_COLUMN_PATH:
		case LC_COLUMN_STRING:
			lost |= lc_tree_number(p, s->columns[i].type, v[i]) == LC_LOST_DEFINITION;
			break;
		default:
			break;
		}
	p->d->lost |= lost;
	return lost;
}

static bool is_stored(const struct lc_pass *p, const struct lc_column *c)
{
	return c->type != LC_COLUMN_PAIRS || p->has_pairs;
}

static uint64_t engine_of(const struct lc_section_spec *s, const uint64_t *v)
{
	for (unsigned i = 0; i < s->keys_len; i++)
		if (s->columns[i].type == LC_COLUMN_ENGINE)
			return v[i];
	return 0;
}

static void take_row(struct lc_reader *r, struct lc_pass *p, const struct lc_section_spec *s)
{
	uint32_t thread = s->merged ? lc_take_owner(r, p) : 0;
	uint64_t v[LC_COLUMNS_MAX];

	for (unsigned i = 0; i < s->columns_len; i++)
		v[i] = is_stored(p, &s->columns[i]) ? lc_take(r) : 0;
	if (r->bad || !lc_section_valid(s, &p->limits, v) || refers_to_lost(p, s, v)) {
		lc_reader_fail(r);
		return;
	}
	for (unsigned i = s->keys_len; p->add && i < s->columns_len; i++)
		if (!is_stored(p, &s->columns[i]))
			v[i] = lc_guess_pairs(p, engine_of(s, v), v[s->keys_len]);
	if (p->add && s->number == LC_SECTION_ACCESSES)
		add_access(p, s, v);
	if (!p->add)
		note_samples(p, s, v);
	else if ((s->merged && p->left_out) || !passes(p, s, v))
		return;
	else if (s->number == LC_SECTION_ALLOCATIONS)
		add_allocations(p, v);
	else if (s->number == LC_SECTION_BUCKETS)
		add_bucket(p, v);
	else
		add_row(p, s, thread, v);
}

/* Read the rows of a flat section, which the block holds as section `type`. */
static int flat(struct lc_pass *p, const struct lc_section_spec *s, enum lc_section type)
{
	struct lc_reader r = lc_reader_of(p->d, type);
	bool owned = p->all && s->merged;
	uint32_t n, row_bytes = owned ? 2 : 0;

	for (unsigned i = 0; i < s->columns_len; i++)
		row_bytes += is_stored(p, &s->columns[i]);
	if (type != (owned ? s->merged : s->number) || !row_bytes)
		return -EBADMSG;
	memset(p->left_milli, 0, sizeof(p->left_milli));
	n = lc_take_count(&r, row_bytes);
	if (!lc_block_rows(p, &r, n, owned, s->number))
		for (; n && !r.bad; n--)
			take_row(&r, p, s);
	return lc_reader_finish(&r);
}

static uint32_t pass_thread(struct lc_block_target *target, uint32_t process, uint32_t index,
                            uint32_t tid, uint32_t name, uint64_t begin_ns, uint64_t end_ns)
{
	struct lc_table *threads = &target->tree->threads;
	const uint32_t key[LC_THREAD_KEY] = { lc_block_target_number(target, process), index };
	uint32_t row = lc_table_put(threads, key);

	lc_tree_thread_seen(target->tree, row, tid, name, begin_ns, end_ns);
	return row;
}

uint32_t lc_take_owner(struct lc_reader *r, struct lc_pass *p)
{
	uint32_t key[LC_THREAD_KEY];

	p->left_out = false;
	if (!p->all)
		return p->thread;
	key[LC_THREAD_PROCESS] =
	    lc_block_target_number(p->target, lc_take_below(r, p->target->process_count));
	key[LC_THREAD_INDEX] = lc_take_below(r, LC_THREAD_ALL);
	p->left_out = key[LC_THREAD_PROCESS] == LC_LEFT_OUT;
	/* A later block may hold THREADS, so the row may be new. */
	return p->add && !r->bad && !p->left_out ? lc_table_put(&p->target->tree->threads, key) : 0;
}

static int threads(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_THREADS);
	/* The paths of these samples are unknown, so a filter of frames excludes them. */
	const bool filtered = by_frames(p);

	if (!p->all)
		return -EBADMSG;
	for (uint32_t n = lc_take_count(&r, 9); n && !r.bad; n--) {
		uint32_t process = lc_take_below(&r, p->target->process_count);
		uint32_t index = lc_take_below(&r, LC_THREAD_ALL);
		uint32_t tid = lc_take_below(&r, UINT64_C(1) << 32);
		uint32_t name = lc_take_id(&r, p->d, LC_SECTION_STRINGS), row = 0;
		uint64_t sums[4];
		const bool left_out =
		    !r.bad && lc_block_target_number(p->target, process) == LC_LEFT_OUT;

		for (unsigned i = 0; i < 4; i++)
			sums[i] = lc_take(&r);
		if (p->add && !r.bad && !left_out) {
			row = pass_thread(p->target, process, index, tid, name, sums[2], sums[3]);
			for (unsigned i = 0; i < 2 && !filtered; i++)
				lc_sum_add(&lc_table_values(&p->target->tree->threads,
				                            row)[LC_THREAD_ALLOCATIONS + i],
				           sums[i]);
		}
		for (uint32_t shares = lc_take_count(&r, 3); shares && !r.bad; shares--) {
			uint32_t engine = lc_take_below(&r, p->target->engines_len);
			uint32_t bucket = lc_take_below(&r, LC_BUCKET_COUNT);
			uint64_t samples = lc_take(&r);

			if (p->add && !r.bad && !filtered && !left_out)
				add_share(p, row, p->target->engines[engine], bucket, samples);
		}
	}
	return lc_reader_finish(&r);
}

/* Read a section other than the definitions. */
static int section(struct lc_pass *p, enum lc_section type)
{
	const struct lc_section_spec *s =
	    lc_section_spec(type == LC_SECTION_MERGED_LINES ? LC_SECTION_LINES : type);

	if (s)
		return flat(p, s, type);
	return type == LC_SECTION_THREADS ? threads(p)
	       : type == LC_SECTION_SPANS ? lc_block_spans(p)
	                                  : lc_block_trace(p);
}

static int counts(struct lc_pass *p)
{
	for (unsigned type = LC_SECTION_ALLOCATIONS; type < LC_SECTION_COUNT; type++)
		if (p->d->body[type] && section(p, type))
			return -EBADMSG;
	for (unsigned e = 0; e < LC_ENGINES_MAX && !p->add; e++)
		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
			if (p->seen[e][b])
				return -EBADMSG; /* accesses have more samples than the bucket */
	return 0;
}

static void set_limits(struct lc_pass *p)
{
	uint64_t *below = p->limits.below;

	below[LC_COLUMN_SITE] = below[LC_COLUMN_SITE_OR_0] = p->d->ids_len[LC_SECTION_SITES];
	below[LC_COLUMN_PATH] = p->d->ids_len[LC_SECTION_PATHS];
	below[LC_COLUMN_STRING] = p->d->ids_len[LC_SECTION_STRINGS];
	below[LC_COLUMN_ENGINE] = p->target->engines_len;
}

/* ---- the block ---- */

static int find_sections(struct lc_block_decoder *d, const uint8_t *payload, size_t len,
                         struct lc_block_target *target)
{
	struct lc_reader r = { payload, payload + len, false };

	memset(d->body, 0, sizeof(d->body));
	while (r.at < r.end) {
		uint64_t type = lc_take(&r), bytes = lc_take(&r);

		if (r.bad || bytes > (uint64_t)(r.end - r.at))
			return -EBADMSG;
		if (!type || type >= LC_SECTION_COUNT) {
			target->new_sections++;
		} else {
			if (d->body[type])
				return -EBADMSG;
			d->body[type] = r.at;
			d->end[type] = r.at + bytes;
		}
		r.at += bytes;
	}
	return 0;
}

static bool thread_counts(const struct lc_thread_filter *f, const struct lc_tree *t, uint32_t tid,
                          uint32_t name)
{
	struct lc_text text = lc_tree_text(t, name);
	bool match;
	char *copy;

	if (!f)
		return true;
	if (f->by_tid)
		return tid == f->tid;
	copy = lc_mem_text("%.*s", (int)text.len, text.bytes);
	match = lc_options_match(f->patterns, copy);
	free(copy);
	return match;
}

/* Find the block's thread. Returns 1 if the block's counts are wanted, 0 if not, or -EBADMSG. */
static int begin_thread(struct lc_pass *p, const struct lc_block_header *h)
{
	struct lc_block_target *target = p->target;
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_THREAD);
	uint32_t name = 0;

	p->all = h->thread_index == LC_THREAD_ALL;
	if (target->only && (h->thread_index != target->only_thread ||
	                     (!p->all && h->process != target->only_process)))
		return 0;
	target->whole |= p->all;
	if (p->all) {
		target->not_split += target->filter != NULL;
		target->not_apart += target->all_mixed;
		return !target->filter && !target->all_mixed;
	}
	if (p->d->body[LC_SECTION_THREAD]) {
		name = lc_take_id(&r, p->d, LC_SECTION_STRINGS);
		if (lc_reader_finish(&r))
			return -EBADMSG;
	}
	if (h->process >= target->process_count)
		return -EBADMSG;
	if (lc_block_target_number(target, h->process) == LC_LEFT_OUT)
		return 0;
	return thread_counts(target->filter, target->tree, h->tid, name);
}

static void note_thread(struct lc_pass *p, const struct lc_block_header *h)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_THREAD);
	uint32_t name = 0;

	if (p->all)
		return;
	if (p->d->body[LC_SECTION_THREAD])
		name = lc_take_id(&r, p->d, LC_SECTION_STRINGS);
	p->thread = pass_thread(p->target, h->process, h->thread_index, h->tid, name, h->t_begin_ns,
	                        h->t_end_ns);
	lc_tree_stretch(p->target->tree, p->thread, h->t_begin_ns, h->t_end_ns);
	if (p->target->own)
		lc_table_put(p->target->own, lc_table_key(&p->target->tree->threads, p->thread));
}

/* Does a part of the block's time lie in the range? If so, note the block's time. */
static bool in_range(struct lc_block_target *t, const struct lc_block_header *h)
{
	if (h->t_end_ns <= t->from_ns && t->from_ns)
		return false;
	if (t->to_ns && h->t_begin_ns >= t->to_ns && h->t_end_ns > t->to_ns)
		return false;
	if (!t->first_ns || h->t_begin_ns < t->first_ns)
		t->first_ns = h->t_begin_ns;
	if (h->t_end_ns > t->last_ns)
		t->last_ns = h->t_end_ns;
	return true;
}

/* Read facts that hold for other blocks too, from a block outside the range. */
static int facts(struct lc_pass *p)
{
	static const enum lc_section sections[] = { LC_SECTION_RECURSIONS, LC_SECTION_SITE_NAMES,
		                                    LC_SECTION_LAYOUTS };

	p->add = true;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (p->d->body[sections[i]] && section(p, sections[i]))
			return -EBADMSG;
	return 0;
}

/* The path below which the paths of a block begin. */
static uint32_t root_of(const struct lc_block_target *t, const struct lc_block_header *h)
{
	const uint32_t process =
	    h->thread_index == LC_THREAD_ALL ? t->all_process : (uint32_t)h->process;

	if (!t->roots || process >= t->process_count ||
	    lc_block_target_number(t, process) == LC_LEFT_OUT)
		return 0;
	if (t->roots[process] == LC_ROOT_UNKNOWN)
		t->roots[process] = t->find_root(t, process);
	return t->roots[process];
}

static int decode_block(struct lc_block_decoder *d, const struct lc_block_header *h,
                        const uint8_t *payload, size_t len, struct lc_block_target *target)
{
	struct lc_pass p = { .d = d, .target = target, .has_pairs = lc_block_header_has_pairs(h) };
	int wanted;

	if (find_sections(d, payload, len, target) ||
	    definitions(d, h, target->tree, root_of(target, h)))
		return -EBADMSG;
	set_limits(&p);
	wanted = begin_thread(&p, h);
	if (wanted < 0 || counts(&p))
		return -EBADMSG;
	if (!in_range(target, h))
		return facts(&p);
	for (unsigned e = 0; e < target->engines_len; e++)
		lc_sum_add(&target->tree->offered[target->engines[e]], p.offered[e]);
	if (!wanted)
		return 0;
	note_thread(&p, h);
	if (target->tree->slices && !p.all)
		lc_slices_of_block(target->tree->slices, lc_block_target_number(target, h->process),
		                   p.thread, h, p.who);
	p.add = true;
	return counts(&p);
}

int lc_block_decode(struct lc_block_decoder *d, const struct lc_block_header *h,
                    const uint8_t *payload, size_t len, struct lc_block_target *target)
{
	int err;

	d->lost = false;
	err = decode_block(d, h, payload, len, target);
	if (err)
		lose_definitions(d, h);
	return err;
}
