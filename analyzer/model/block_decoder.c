/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/block_decoder.c - decodes the sections of a block's payload into a tree (docs/FORMAT.md).
 *
 * Definitions come first (block_decoder_definitions.c). Counts are read twice, first to check and
 * then to add, so a block counts whole or not at all. The number of rows is checked against the
 * bytes that are left before memory is allocated. The file is longer than 600 lines: its functions
 * share the state of one pass.
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

/* ---- counts ---- */

/* The column with the path of the access: the last path among the keys; else `keys_len`. */
static unsigned access_path_column(const struct lc_section_spec *s)
{
	if (s->filter == LC_FILTER_ACCESS)
		for (unsigned i = s->keys_len; i-- > 0;)
			if (s->columns[i].type == LC_COLUMN_PATH)
				return i;
	return s->keys_len;
}

static void add_row(struct lc_pass *p, const struct lc_section_spec *s, uint32_t thread,
                    const uint64_t *v)
{
	struct lc_table *table = lc_tree_table(p->target->tree, s->number);
	const unsigned access_path = access_path_column(s);
	uint32_t key[1 + 2 * LC_COLUMNS_MAX], len = 0;
	uint64_t *values;

	if (s->merged)
		key[len++] = thread;
	for (unsigned i = 0; i < s->keys_len; i++) {
		enum lc_column_type type = s->columns[i].type;

		if (lc_tree_is_wide(type)) {
			lc_tree_wide_put(key + len, v[i]);
			len += 2;
		} else if (type == LC_COLUMN_PATH && !v[i] && i != access_path) {
			key[len++] = 0;
		} else {
			key[len++] = lc_tree_number(p, type, v[i]);
		}
	}
	values = lc_table_values(table, lc_table_put(table, key));
	if (s->number == LC_SECTION_ACCESSES && len > LC_ACCESS_PATH)
		lc_path_times_seen(&p->target->tree->times, key[LC_ACCESS_PATH]);
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

/* The path of the first site of a row; of no site it is the root. */
static uint32_t site_path(const struct lc_pass *p, const struct lc_section_spec *s,
                          const uint64_t *v)
{
	const struct lc_tree *t = p->target->tree;

	for (unsigned i = 0; i < s->keys_len; i++) {
		const enum lc_column_type type = s->columns[i].type;

		if (type == LC_COLUMN_SITE_OR_0 && !v[i])
			return 0;
		if (type == LC_COLUMN_SITE || type == LC_COLUMN_SITE_OR_0)
			return lc_table_key(&t->sites, lc_tree_number(p, type, v[i]))[LC_SITE_PATH];
	}
	return 0;
}

/* Does a row pass the filters of paths? */
static bool passes(const struct lc_pass *p, const struct lc_section_spec *s, const uint64_t *v)
{
	if (!by_frames(p) && !by_groups(p))
		return true;
	switch ((enum lc_section_filter)s->filter) {
	case LC_FILTER_ACCESS:
		return path_passes(p, lc_tree_number(p, LC_COLUMN_PATH, v[access_path_column(s)]));
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

static void name_thread(struct lc_pass *p, const struct lc_block_header *h)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_THREAD);
	uint32_t name = 0;

	if (p->all)
		return;
	if (p->d->body[LC_SECTION_THREAD])
		name = lc_take_id(&r, p->d, LC_SECTION_STRINGS);
	p->thread = pass_thread(p->target, h->process, h->thread_index, h->tid, name, h->t_begin_ns,
	                        h->t_end_ns);
}

static void note_thread(struct lc_pass *p, const struct lc_block_header *h)
{
	name_thread(p, h);
	if (p->all)
		return;
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

static int add_sections(struct lc_pass *p, const enum lc_section *sections, size_t len)
{
	p->add = true;
	for (size_t i = 0; i < len; i++)
		if (p->d->body[sections[i]] && section(p, sections[i]))
			return -EBADMSG;
	return 0;
}

/* Read facts that hold for other blocks too, from a block outside the range. */
static int facts(struct lc_pass *p)
{
	static const enum lc_section sections[] = { LC_SECTION_RECURSIONS, LC_SECTION_SITE_NAMES,
		                                    LC_SECTION_LAYOUTS };

	return add_sections(p, sections, sizeof(sections) / sizeof(sections[0]));
}

/*
 * Read the series of live objects from a block outside the range: a row holds until the site's next
 * one, and rows have times of their own.
 */
static int series(struct lc_pass *p, const struct lc_block_header *h)
{
	static const enum lc_section sections[] = { LC_SECTION_LIVE, LC_SECTION_AGES,
		                                    LC_SECTION_HOLDERS, LC_SECTION_HELD };
	bool any = false;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		any |= p->d->body[sections[i]] != NULL;
	if (!any)
		return 0;
	name_thread(p, h);
	return add_sections(p, sections, sizeof(sections) / sizeof(sections[0]));
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
	    lc_block_definitions(d, h, target->tree, root_of(target, h)))
		return -EBADMSG;
	set_limits(&p);
	wanted = begin_thread(&p, h);
	if (wanted < 0 || counts(&p))
		return -EBADMSG;
	if (!in_range(target, h))
		return facts(&p) || (wanted && series(&p, h)) ? -EBADMSG : 0;
	for (unsigned e = 0; e < target->engines_len; e++)
		lc_sum_add(&target->tree->offered[target->engines[e]], p.offered[e]);
	if (!wanted)
		return 0;
	note_thread(&p, h);
	if (target->tree->slices && !p.all)
		lc_slices_of_block(target->tree->slices, lc_block_target_number(target, h->process),
		                   p.thread, h, p.who);
	lc_path_times_block(&target->tree->times, p.all ? 0 : h->t_end_ns);
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
		lc_block_lose_definitions(d, h);
	return err;
}
