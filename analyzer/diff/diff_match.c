/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff/diff_match.c - matches rows between several profiles, and between both sides of a diff.
 *
 * A row is identified by names, which are the same in every profile. Allocations of one class by
 * one method are matched together, since an edit of the method, or of the code above it, moves
 * lines. The matcher tries all distances that lines can have moved, and takes the one that matches
 * most rows, 0 if that is as good. Two rows whose objects have different names in the program
 * ("Spectrum.re", "Spectrum.im") match only at the same line, and count half. If one row is then
 * left on each side, the two match, wherever the line went. If more are left, they are new and
 * gone: a match would be a guess.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/diff/diff.h"
#include "analyzer/objects/analysis/identity.h"
#include "analyzer/objects/analysis/live.h"
#include "analyzer/objects/analysis/offheap.h"
#include "src/base/order.h"

enum { KEY_WHICH, KEY_NAME, KEY_LEN };
enum { PAIRS_MAX = 10000 }; /* of lines of one method, to try all distances */
enum { SAME_NAMES = 2, OTHER_NAMES = 1 };

/* A row of one side. */
struct entry {
	enum lc_diff_which which;
	uint32_t exact; /* text: all that it is known by */
	uint32_t loose; /* the same without lines */
	struct lc_diff_place place;
	struct lc_diff_counts *counts; /* of all profiles; 0 of the other side's */
	struct entry *mate;
	bool moved;
};

struct match {
	struct lc_diff *d;
	struct lc_tree texts;    /* of `exact` and `loose` */
	struct lc_table by_text; /* KEY_; its rows are those of `entries` */
	struct entry **entries;  /* in `d->arena` */
	size_t entries_cap;
};

static uint32_t text_of(struct match *m, const struct lc_ranking *rank,
                        const struct lc_rank_row *row, bool lines)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);
	uint32_t number;

	lc_identity_row(out, rank, row, lines);
	lc_mem_close_text(out);
	number = lc_tree_string(&m->texts, text, len);
	free(text);
	return number;
}

/* ---- rows of one side ---- */

static struct entry *entry_of(struct match *m, const struct lc_diff_profile *p,
                              const struct lc_rank_row *row)
{
	const uint32_t key[KEY_LEN] = { p->which, text_of(m, &p->ranking, row, true) };
	const uint32_t before = m->by_text.count, number = lc_table_put(&m->by_text, key);
	struct entry *e;

	if (number != before)
		return m->entries[number];
	m->entries =
	    lc_mem_grow(m->entries, &m->entries_cap, (size_t)number + 1, sizeof(*m->entries));
	e = lc_arena_zeroed(&m->d->arena, 1, sizeof(*e));
	e->which = p->which;
	e->exact = key[KEY_NAME];
	e->loose = text_of(m, &p->ranking, row, false);
	e->counts = lc_arena_zeroed(&m->d->arena, m->d->len, sizeof(*e->counts));
	m->entries[number] = e;
	return e;
}

static void add(struct lc_diff_counts *c, const struct lc_rank_row *row, bool samples)
{
	if (samples) {
		c->samples += row->samples;
		c->pairs += row->pairs;
		c->variance += row->variance;
	}
	c->allocations += row->allocations;
	c->bytes += row->bytes;
	c->spread += row->spread;
	c->objects += row->objects.value;
	c->objects_variance += row->objects.variance;
	c->object_bytes += row->object_bytes.value;
	c->object_bytes_variance += row->object_bytes.variance;
	lc_offheap_add(&c->offheap, &row->offheap);
}

/* Has `row` more than the one that stands for the side so far? */
static bool has_more(const struct lc_rank_row *row, const struct lc_rank_row *than)
{
	if (!than || row->samples != than->samples)
		return !than || row->samples > than->samples;
	return row->bytes > than->bytes;
}

/* Bytes of objects that each row of the ranking holds. The caller frees the array. */
static struct lc_rank_number *live_of(struct lc_diff_profile *p)
{
	struct lc_rank_number *bytes = lc_mem_zeroed(p->ranking.len + 1, sizeof(*bytes));
	struct lc_live live;

	lc_live_build(&live, &p->ranking);
	p->live = !live.none;
	for (size_t i = 0; i < live.len; i++) {
		const struct lc_live_line *line = &live.lines[i];

		if (line->off_heap)
			continue;
		bytes[line->row - p->ranking.rows] =
		    (struct lc_rank_number){ .value = lc_live_bytes(&line->now),
			                     .variance = line->now.estimated_bytes.variance };
	}
	lc_live_free(&live);
	return bytes;
}

static void add_profile(struct match *m, size_t number)
{
	struct lc_diff_profile *p = &m->d->profiles[number];
	struct lc_rank_number *live = live_of(p);

	for (size_t i = 0; i < p->ranking.len; i++) {
		const struct lc_rank_row *row = &p->ranking.rows[i];
		struct entry *e = entry_of(m, p, row);

		add(&e->counts[number], row, m->d->engine != NULL);
		e->counts[number].live += live[i].value;
		e->counts[number].live_variance += live[i].variance;
		if (!has_more(row, e->place.row))
			continue;
		e->place = (struct lc_diff_place){ .profile = p, .row = row };
		if (m->d->group == LC_GROUP_LINE && row->path)
			e->place.line1 = lc_tree_frame(&p->tree, row->path)[LC_FRAME_LINE1];
	}
	free(live);
}

/* ---- both sides ---- */

/* Does the program call the objects of the two differently, as far as that is known? */
static bool called_differently(const struct entry *a, const struct entry *b)
{
	const struct lc_rank_row *x = a->place.row, *y = b->place.row;

	for (size_t i = 0; i < x->names_len; i++) {
		for (size_t k = 0; k < y->names_len; k++) {
			struct lc_text n = lc_tree_text(&a->place.profile->tree, x->names[i].name);
			struct lc_text o = lc_tree_text(&b->place.profile->tree, y->names[k].name);

			if (n.len == o.len && !memcmp(n.bytes, o.bytes, n.len))
				return false;
		}
	}
	return x->names_len && y->names_len;
}

static void pair(struct entry *a, struct entry *b)
{
	a->mate = b;
	b->mate = a;
	a->moved = b->moved = a->exact != b->exact;
}

/* The rows of one class and method: those before, then those after, each by line. */
struct method {
	struct entry **side[LC_DIFF_SIDES];
	size_t len[LC_DIFF_SIDES];
};

/* The row after that a row before would be, had lines moved so far; NULL: there is none. */
static struct entry *moved_to(const struct method *m, const struct entry *before, int64_t distance)
{
	for (size_t i = 0; i < m->len[LC_DIFF_AFTER]; i++) {
		struct entry *e = m->side[LC_DIFF_AFTER][i];

		if ((int64_t)e->place.line1 == before->place.line1 + distance)
			return distance && called_differently(before, e) ? NULL : e;
	}
	return NULL;
}

static unsigned score_of(const struct method *m, int64_t distance)
{
	unsigned score = 0;

	for (size_t i = 0; i < m->len[LC_DIFF_BEFORE]; i++) {
		const struct entry *b = m->side[LC_DIFF_BEFORE][i];
		const struct entry *a = moved_to(m, b, distance);

		if (a)
			score += called_differently(a, b) ? OTHER_NAMES : SAME_NAMES;
	}
	return score;
}

/* By how many lines the method's allocations have moved. */
static int64_t distance_of(const struct method *m)
{
	unsigned best = score_of(m, 0);
	int64_t distance = 0;

	if (m->len[LC_DIFF_BEFORE] * m->len[LC_DIFF_AFTER] > PAIRS_MAX)
		return 0;
	for (size_t i = 0; i < m->len[LC_DIFF_BEFORE]; i++) {
		for (size_t k = 0; k < m->len[LC_DIFF_AFTER]; k++) {
			const int64_t tried = (int64_t)m->side[LC_DIFF_AFTER][k]->place.line1 -
			                      (int64_t)m->side[LC_DIFF_BEFORE][i]->place.line1;
			const unsigned score = score_of(m, tried);

			if (score > best || (score == best && llabs(tried) < llabs(distance))) {
				best = score;
				distance = tried;
			}
		}
	}
	return distance;
}

static struct entry *only_one_left(const struct method *m, enum lc_diff_which which)
{
	struct entry *found = NULL;

	for (size_t i = 0; i < m->len[which]; i++) {
		if (m->side[which][i]->mate)
			continue;
		if (found)
			return NULL;
		found = m->side[which][i];
	}
	return found;
}

static void match_lines(const struct method *m)
{
	const int64_t distance = distance_of(m);

	for (size_t i = 0; i < m->len[LC_DIFF_BEFORE]; i++) {
		struct entry *b = m->side[LC_DIFF_BEFORE][i];
		struct entry *a = moved_to(m, b, distance);

		if (a)
			pair(b, a);
	}
}

static void match_exactly(const struct method *m)
{
	for (size_t i = 0; i < m->len[LC_DIFF_BEFORE]; i++)
		for (size_t k = 0; k < m->len[LC_DIFF_AFTER]; k++)
			if (m->side[LC_DIFF_BEFORE][i]->exact == m->side[LC_DIFF_AFTER][k]->exact)
				pair(m->side[LC_DIFF_BEFORE][i], m->side[LC_DIFF_AFTER][k]);
}

static void match_method(const struct method *m)
{
	struct entry *before, *after;

	if (!m->len[LC_DIFF_BEFORE] || !m->len[LC_DIFF_AFTER])
		return;
	if ((*m->side[LC_DIFF_BEFORE])->place.line1)
		match_lines(m);
	else
		match_exactly(m);
	before = only_one_left(m, LC_DIFF_BEFORE);
	after = only_one_left(m, LC_DIFF_AFTER);
	if (before && after && !called_differently(before, after))
		pair(before, after);
}

static int order_entries(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	int order = lc_order_u64(x->loose, y->loose);

	if (!order)
		order = lc_order_u64(x->which, y->which);
	if (!order)
		order = lc_order_u64(x->place.line1, y->place.line1);
	return order ? order : lc_order_u64(x->exact, y->exact);
}

static void match_all(struct match *m)
{
	const size_t len = m->by_text.count;
	struct method one;

	if (len)
		qsort(m->entries, len, sizeof(*m->entries), order_entries);
	for (size_t from = 0, to; from < len; from = to) {
		size_t middle = from;

		for (to = from; to < len && m->entries[to]->loose == m->entries[from]->loose; to++)
			middle += m->entries[to]->which == LC_DIFF_BEFORE;
		one.side[LC_DIFF_BEFORE] = m->entries + from;
		one.len[LC_DIFF_BEFORE] = middle - from;
		one.side[LC_DIFF_AFTER] = m->entries + middle;
		one.len[LC_DIFF_AFTER] = to - middle;
		match_method(&one);
	}
}

static void make_row(struct lc_diff *d, const struct entry *e)
{
	struct lc_diff_row *row = &d->rows[d->rows_len++];

	row->side[e->which] = e->place;
	row->counts = e->counts;
	if (!e->mate)
		return;
	row->side[e->mate->which] = e->mate->place;
	row->moved = e->moved;
	for (size_t i = 0; i < d->len; i++)
		if (d->profiles[i].which == e->mate->which)
			e->counts[i] = e->mate->counts[i];
}

void lc_diff_match(struct lc_diff *d)
{
	struct match m = { .d = d };

	lc_tree_init(&m.texts);
	lc_table_init(&m.by_text, KEY_LEN, 0);
	for (size_t i = 0; i < d->len; i++)
		add_profile(&m, i);
	match_all(&m);
	d->rows = lc_arena_zeroed(&d->arena, m.by_text.count, sizeof(*d->rows));
	for (size_t i = 0; i < m.by_text.count; i++)
		if (m.entries[i]->which == LC_DIFF_BEFORE || !m.entries[i]->mate)
			make_row(d, m.entries[i]);
	free(m.entries);
	lc_table_free(&m.by_text);
	lc_tree_free(&m.texts);
}
