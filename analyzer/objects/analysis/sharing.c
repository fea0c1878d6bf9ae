/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/sharing.c - finds falsely shared cache lines and sums them up by object.
 *
 * Per line, the rows of one thread and the same bytes become one use. A pair of falsely shared uses
 * belongs to the finding of their two parts, and adds its rows to that finding. The rows of all
 * lines are summed up at the end.
 *
 * The file is longer than 600 lines: all of it works on one search.
 */
#include "analyzer/objects/analysis/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/order.h"
#include "src/format/kinds.h"

enum {
	USES_MAX = 128,  /* uses of a line, most samples first; the rest are too rare to matter */
	STRAY_PART = 10, /* a thread's strays below this part of its samples are ignored */
	BOTH_SIDES = 2,  /* both sides of a finding are the same part of one site; see orient() */
};

/* The part of an object: identifies a side, and two of them a finding. */
struct part {
	uint32_t bucket, site, name;
};

/* Samples of one thread in the same bytes of a line. */
struct use {
	uint32_t thread;
	uint32_t from, to; /* bytes from .. to - 1 of the line */
	uint64_t samples, stores, pairs;
	struct part part; /* the part with most of the samples */
	uint64_t part_samples;
	size_t rows, rows_len; /* indices in search.rows */
};

/* A use belongs to a side of a finding. */
struct member {
	uint32_t finding, side, use;
};

/* A row belongs to a side of a finding. */
struct contribution {
	uint32_t finding, side, row;
	uint32_t line; /* number of the cache line */
};

struct search {
	const struct lc_tree *tree;
	uint32_t *rows; /* rows of tree.lines, ordered by line */
	size_t rows_len;
	uint32_t lines;           /* lines searched so far */
	struct lc_table findings; /* key: two parts; value: number of lines */
	struct use *uses;         /* uses of the current line */
	size_t uses_len, uses_cap;
	struct member *members; /* members of the current line */
	size_t members_len, members_cap;
	struct contribution *contributions;
	size_t contributions_len, contributions_cap;
};

static const uint32_t *key_of(const struct search *s, uint32_t row)
{
	return lc_table_key(&s->tree->lines, row);
}

static uint64_t samples_of(const struct search *s, uint32_t row)
{
	return lc_table_values(&s->tree->lines, row)[LC_LINE_SAMPLES];
}

static uint64_t pairs_of(const struct search *s, uint32_t row)
{
	return lc_table_values(&s->tree->lines, row)[LC_LINE_PAIRS];
}

/* ---- orders: none depends on the order in which profiles were read ---- */

static int order_threads(const struct lc_tree *t, uint32_t a, uint32_t b)
{
	const uint64_t *x = lc_table_values(&t->threads, a), *y = lc_table_values(&t->threads, b);
	int order = a == b ? 0
	                   : lc_tree_order_text(t, (uint32_t)x[LC_THREAD_NAME],
	                                        (uint32_t)y[LC_THREAD_NAME]);

	if (!order)
		order = lc_order_u64(x[LC_THREAD_TID], y[LC_THREAD_TID]);
	return order ? order : lc_order_u64(a, b);
}

static int order_rows(const void *a, const void *b, void *context)
{
	const struct search *s = context;
	const uint32_t *x = key_of(s, *(const uint32_t *)a), *y = key_of(s, *(const uint32_t *)b);
	uint32_t process_x = lc_table_key(&s->tree->threads, x[LC_LINE_THREAD])[LC_THREAD_PROCESS];
	uint32_t process_y = lc_table_key(&s->tree->threads, y[LC_LINE_THREAD])[LC_THREAD_PROCESS];
	int order = lc_order_u64(process_x, process_y);

	if (!order)
		order = lc_order_u64(lc_tree_wide(x + LC_LINE_NUMBER),
		                     lc_tree_wide(y + LC_LINE_NUMBER));
	if (!order)
		order = order_threads(s->tree, x[LC_LINE_THREAD], y[LC_LINE_THREAD]);
	if (!order)
		order = lc_order_u64(x[LC_LINE_BYTE], y[LC_LINE_BYTE]);
	if (!order)
		order = lc_order_u64(x[LC_LINE_WIDTH], y[LC_LINE_WIDTH]);
	return order ? order : lc_order_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int order_uses(const void *a, const void *b, void *context)
{
	const struct use *x = a, *y = b;
	const struct search *s = context;
	int order = lc_order_u64(y->samples, x->samples);

	if (!order)
		order = order_threads(s->tree, x->thread, y->thread);
	if (!order)
		order = lc_order_u64(x->from, y->from);
	return order ? order : lc_order_u64(x->to, y->to);
}

static int order_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = lc_order_u64(x->finding, y->finding);

	if (!order)
		order = lc_order_u64(x->side, y->side);
	return order ? order : lc_order_u64(x->use, y->use);
}

static int order_contributions(const void *a, const void *b)
{
	const struct contribution *x = a, *y = b;
	int order = lc_order_u64(x->finding, y->finding);

	if (!order)
		order = lc_order_u64(x->side, y->side);
	return order ? order : lc_order_u64(x->row, y->row);
}

static int order_parts(const struct part *x, const struct part *y)
{
	int order = lc_order_u64(x->bucket, y->bucket);

	if (!order)
		order = lc_order_u64(x->site, y->site);
	return order ? order : lc_order_u64(x->name, y->name);
}

static uint64_t site_id(const struct lc_tree *t, uint32_t site)
{
	return site ? lc_tree_site_id(t, site) : 0;
}

static int order_names(const struct lc_tree *t, const struct part *x, const struct part *y)
{
	int order = lc_order_u64(x->bucket, y->bucket);

	if (!order && x->site != y->site)
		order = lc_order_u64(site_id(t, x->site), site_id(t, y->site));
	return order ? order : lc_tree_order_text(t, x->name, y->name);
}

/* Order by printed values only. */
static int order_sides(const struct lc_tree *t, const struct lc_sharing_side *x,
                       const struct lc_sharing_side *y)
{
	const struct part part_x = { x->bucket, x->site, x->name };
	const struct part part_y = { y->bucket, y->site, y->name };
	int order = lc_order_u64(y->samples, x->samples);

	if (!order)
		order = order_names(t, &part_x, &part_y);
	return order ? order : order_threads(t, x->thread, y->thread);
}

static int order_findings(const void *a, const void *b, void *context)
{
	const struct lc_sharing_finding *x = a, *y = b;
	int order = lc_order_u64(y->certain, x->certain);

	if (!order)
		order = lc_order_u64(y->samples, x->samples);
	if (!order)
		order = order_sides(context, &x->sides[0], &y->sides[0]);
	return order ? order : order_sides(context, &x->sides[1], &y->sides[1]);
}

/* ---- one line ---- */

/* Find the part that has most samples of a use. Rows of one part add up over paths and touches. */
static void choose_part(const struct search *s, struct use *u)
{
	for (size_t i = u->rows; i < u->rows + u->rows_len; i++) {
		const uint32_t *key = key_of(s, s->rows[i]);
		struct part part = { key[LC_LINE_BUCKET], key[LC_LINE_SITE], key[LC_LINE_NAME] };
		uint64_t samples = 0;

		for (size_t k = u->rows; k < u->rows + u->rows_len; k++) {
			const uint32_t *other = key_of(s, s->rows[k]);

			if (other[LC_LINE_BUCKET] == part.bucket &&
			    other[LC_LINE_SITE] == part.site && other[LC_LINE_NAME] == part.name)
				samples += samples_of(s, s->rows[k]);
		}
		if (samples > u->part_samples ||
		    (samples == u->part_samples && order_names(s->tree, &part, &u->part) < 0)) {
			u->part_samples = samples;
			u->part = part;
		}
	}
}

/* Find the uses in rows from .. to - 1, which belong to one line. */
static void find_uses(struct search *s, size_t from, size_t to)
{
	s->uses_len = 0;
	for (size_t i = from; i < to; i++) {
		const uint32_t *key = key_of(s, s->rows[i]);
		uint32_t width = key[LC_LINE_WIDTH] ? key[LC_LINE_WIDTH] : 1;
		uint32_t end = key[LC_LINE_BYTE] + width;
		struct use *u = s->uses_len ? &s->uses[s->uses_len - 1] : NULL;

		if (end > LC_SHARING_LINE_BYTES)
			end = LC_SHARING_LINE_BYTES;
		if (!u || u->thread != key[LC_LINE_THREAD] || u->from != key[LC_LINE_BYTE] ||
		    u->to != end) {
			s->uses =
			    lc_mem_grow(s->uses, &s->uses_cap, s->uses_len + 1, sizeof(*s->uses));
			u = &s->uses[s->uses_len++];
			*u = (struct use){ .thread = key[LC_LINE_THREAD],
				           .from = key[LC_LINE_BYTE],
				           .to = end,
				           .rows = i };
		}
		u->rows_len++;
		u->samples += samples_of(s, s->rows[i]);
		u->pairs += pairs_of(s, s->rows[i]);
		if (key[LC_LINE_TOUCH] & LC_TOUCH_STORE)
			u->stores += samples_of(s, s->rows[i]);
	}
	for (size_t i = 0; i < s->uses_len; i++)
		choose_part(s, &s->uses[i]);
	qsort_r(s->uses, s->uses_len, sizeof(*s->uses), order_uses, s);
	if (s->uses_len > USES_MAX)
		s->uses_len = USES_MAX;
}

static bool overlap(const struct use *a, const struct use *b)
{
	return a->from < b->to && b->from < a->to;
}

/* Does the thread of `by` leave the bytes of `at` alone, apart from a few strays? */
static bool stays_away(const struct search *s, const struct use *by, const struct use *at,
                       bool stores_only)
{
	uint64_t strays = 0;

	for (size_t i = 0; i < s->uses_len; i++)
		if (s->uses[i].thread == by->thread && overlap(&s->uses[i], at))
			strays += stores_only ? s->uses[i].stores : s->uses[i].samples;
	return strays <= (by->samples - 1) / STRAY_PART; /* less than that part, without overflow */
}

/* Do enough observations support the use? */
static bool is_seen(const struct use *u)
{
	return lc_wilson_effective((struct lc_weighted){ u->samples, u->pairs }) >=
	       LC_SHARING_SAMPLES;
}

static bool falsely_shared(const struct search *s, const struct use *a, const struct use *b)
{
	if (a->thread == b->thread || overlap(a, b) || (!a->stores && !b->stores) || !is_seen(a) ||
	    !is_seen(b))
		return false;
	return stays_away(s, b, a, !a->stores) && stays_away(s, a, b, !b->stores);
}

static void add_member(struct search *s, uint32_t finding, uint32_t side, size_t use)
{
	s->members =
	    lc_mem_grow(s->members, &s->members_cap, s->members_len + 1, sizeof(*s->members));
	s->members[s->members_len++] = (struct member){ finding, side, (uint32_t)use };
}

/* Add both uses to the finding of their two parts. */
static void add_pair(struct search *s, size_t a, size_t b)
{
	const struct part *x = &s->uses[a].part, *y = &s->uses[b].part;
	int order = order_parts(x, y);
	uint32_t key[6], finding;

	if (order > 0) {
		add_pair(s, b, a);
		return;
	}
	memcpy(key, x, sizeof(*x));
	memcpy(key + 3, y, sizeof(*y));
	finding = lc_table_put(&s->findings, key);
	add_member(s, finding, order ? 0 : BOTH_SIDES, a);
	add_member(s, finding, order ? 1 : BOTH_SIDES, b);
}

static void contribute(struct search *s, const struct member *m)
{
	const struct use *u = &s->uses[m->use];

	for (size_t i = u->rows; i < u->rows + u->rows_len; i++) {
		s->contributions = lc_mem_grow(s->contributions, &s->contributions_cap,
		                               s->contributions_len + 1, sizeof(*s->contributions));
		s->contributions[s->contributions_len++] =
		    (struct contribution){ m->finding, m->side, s->rows[i], s->lines };
	}
}

/* Add the members of one finding in one line. Each use occurs once. */
static void add_members(struct search *s, const struct member *members, size_t len)
{
	++*lc_table_values(&s->findings, members->finding);
	for (size_t i = 0; i < len; i++)
		contribute(s, &members[i]);
}

/* Returns whether there is false sharing in the line. */
static bool search_line(struct search *s, size_t from, size_t to)
{
	size_t kept = 0;

	s->lines++;
	find_uses(s, from, to);
	s->members_len = 0;
	for (size_t a = 0; a < s->uses_len; a++)
		for (size_t b = a + 1; b < s->uses_len; b++)
			if (falsely_shared(s, &s->uses[a], &s->uses[b]))
				add_pair(s, a, b);
	if (!s->members_len)
		return false;
	qsort(s->members, s->members_len, sizeof(*s->members), order_members);
	for (size_t i = 1; i < s->members_len; i++)
		if (order_members(&s->members[kept], &s->members[i]))
			s->members[++kept] = s->members[i];
	s->members_len = kept + 1;
	for (size_t i = 0, end; i < s->members_len; i = end) {
		for (end = i;
		     end < s->members_len && s->members[end].finding == s->members[i].finding;)
			end++;
		add_members(s, s->members + i, end - i);
	}
	return true;
}

/* ---- all lines ---- */

/*
 * Has thread a more samples in the finding than thread b? The key of `samples` is finding and
 * thread.
 */
static bool leads(const struct search *s, struct lc_table *samples, uint32_t finding, uint32_t a,
                  uint32_t b)
{
	uint64_t x = *lc_table_values(samples, lc_table_put(samples, (uint32_t[]){ finding, a }));
	uint64_t y = *lc_table_values(samples, lc_table_put(samples, (uint32_t[]){ finding, b }));

	return x != y ? x > y : order_threads(s->tree, a, b) < 0;
}

/* Rows of one line and finding: the leading thread's rows become side 0, the other rows side 1. */
static void orient_line(const struct search *s, struct lc_table *samples, struct contribution *rows,
                        size_t len)
{
	uint32_t lead = key_of(s, rows->row)[LC_LINE_THREAD];

	for (size_t i = 1; i < len; i++) {
		uint32_t thread = key_of(s, rows[i].row)[LC_LINE_THREAD];

		if (leads(s, samples, rows->finding, thread, lead))
			lead = thread;
	}
	for (size_t i = 0; i < len; i++)
		rows[i].side = key_of(s, rows[i].row)[LC_LINE_THREAD] != lead;
}

/*
 * If both sides are the same part, separate them by thread. In each line the thread with most
 * samples in the whole finding is side 0, and the other threads are side 1. So the finding's
 * busiest thread is only on side 0, and the two sides never name the same thread.
 */
static void orient(struct search *s)
{
	struct contribution *all = s->contributions;
	struct lc_table samples;

	lc_table_init(&samples, 2, 1);
	for (size_t i = 0; i < s->contributions_len; i++) {
		const uint32_t key[] = { all[i].finding, key_of(s, all[i].row)[LC_LINE_THREAD] };

		*lc_table_values(&samples, lc_table_put(&samples, key)) +=
		    samples_of(s, all[i].row);
	}
	for (size_t i = 0, end; i < s->contributions_len; i = end) {
		for (end = i; end < s->contributions_len && all[end].finding == all[i].finding &&
		              all[end].line == all[i].line;)
			end++;
		if (all[i].side == BOTH_SIDES)
			orient_line(s, &samples, all + i, end - i);
	}
	lc_table_free(&samples);
}

/*
 * Returns the row whose key columns from `column` on, `columns` of them, have most samples of a
 * side.
 */
static uint32_t most_frequent(const struct search *s, const struct contribution *rows, size_t len,
                              unsigned column, unsigned columns, uint32_t *kinds,
                              int (*order)(const struct lc_tree *t, uint32_t a, uint32_t b))
{
	struct lc_table sums;
	uint32_t best = 0, best_row = rows->row;
	uint64_t most = 0;

	lc_table_init(&sums, columns, 2);
	for (size_t i = 0; i < len; i++) {
		uint32_t at = lc_table_put(&sums, key_of(s, rows[i].row) + column);

		lc_table_values(&sums, at)[0] += samples_of(s, rows[i].row);
		lc_table_values(&sums, at)[1] = rows[i].row;
	}
	for (uint32_t i = 0; i < sums.count; i++) {
		const uint64_t *values = lc_table_values(&sums, i);
		int before = 0;

		if (i && values[0] == most && order)
			before =
			    order(s->tree, *lc_table_key(&sums, i), *lc_table_key(&sums, best));
		else if (i && values[0] == most)
			before = memcmp(lc_table_key(&sums, i), lc_table_key(&sums, best),
			                columns * sizeof(uint32_t));
		if (!i || values[0] > most || before < 0) {
			most = values[0];
			best = i;
			best_row = (uint32_t)values[1];
		}
	}
	if (kinds)
		*kinds = sums.count;
	lc_table_free(&sums);
	return best_row;
}

static void sum_side(const struct search *s, const struct contribution *rows, size_t len,
                     const uint32_t *part, struct lc_sharing_side *side)
{
	const uint32_t *place;

	*side = (struct lc_sharing_side){ .bucket = part[0], .site = part[1], .name = part[2] };
	for (size_t i = 0; i < len; i++) {
		side->samples += samples_of(s, rows[i].row);
		side->pairs += pairs_of(s, rows[i].row);
		side->hitm += lc_table_values(&s->tree->lines, rows[i].row)[LC_LINE_HITM];
		side->touch |= key_of(s, rows[i].row)[LC_LINE_TOUCH];
	}
	side->thread = key_of(s, most_frequent(s, rows, len, LC_LINE_THREAD, 1, &side->threads,
	                                       order_threads))[LC_LINE_THREAD];
	side->path = key_of(s, most_frequent(s, rows, len, LC_LINE_PATH, 1, &side->paths,
	                                     lc_tree_order_paths))[LC_LINE_PATH];
	place = key_of(
	    s, most_frequent(s, rows, len, LC_LINE_BYTE, LC_LINE_KEY - LC_LINE_BYTE, NULL, NULL));
	side->byte = place[LC_LINE_BYTE];
	side->width = place[LC_LINE_WIDTH];
	side->first = lc_tree_wide(place + LC_LINE_FIRST);
}

static void sum_finding(const struct search *s, const struct contribution *rows, size_t len,
                        struct lc_sharing_finding *f)
{
	const uint32_t *parts = lc_table_key(&s->findings, rows->finding);
	size_t second = 0;

	while (second < len && rows[second].side == 0)
		second++;
	sum_side(s, rows, second, parts, &f->sides[0]);
	sum_side(s, rows + second, len - second, parts + 3, &f->sides[1]);
	if (order_sides(s->tree, &f->sides[0], &f->sides[1]) > 0) {
		struct lc_sharing_side first = f->sides[0];

		f->sides[0] = f->sides[1];
		f->sides[1] = first;
	}
	f->lines = *lc_table_values(&s->findings, rows->finding);
	f->samples = f->sides[0].samples + f->sides[1].samples;
	f->pairs = f->sides[0].pairs + f->sides[1].pairs;
	f->hitm = f->sides[0].hitm + f->sides[1].hitm;
	f->certain = f->hitm > 0;
}

/* -- findings on the same objects -- */

enum { OBJECTS_SAMPLES = 0, OBJECTS_PAIRS, OBJECTS_LINES, OBJECTS_FINDINGS, OBJECTS_VALUES };

/* The sums of two sites, in whatever order. */
static uint32_t objects_of(struct lc_table *sums, uint32_t a, uint32_t b)
{
	return lc_table_put(sums, (uint32_t[]){ a < b ? a : b, a < b ? b : a });
}

/* Is this the first time for these objects and this row or line? */
static bool is_new(struct lc_table *seen, uint32_t objects, bool line, uint32_t number)
{
	const uint32_t key[] = { objects, line, number };

	return !(*lc_table_values(seen, lc_table_put(seen, key)))++;
}

static void sum_objects(const struct search *s, struct lc_table *sums)
{
	struct lc_table seen;

	lc_table_init(&seen, 3, 1);
	for (size_t i = 0; i < s->contributions_len; i++) {
		const struct contribution *c = &s->contributions[i];
		const uint32_t *parts = lc_table_key(&s->findings, c->finding);
		const uint32_t at = objects_of(sums, parts[1], parts[4]);
		uint64_t *values = lc_table_values(sums, at);

		if (is_new(&seen, at, false, c->row)) {
			values[OBJECTS_SAMPLES] += samples_of(s, c->row);
			values[OBJECTS_PAIRS] += pairs_of(s, c->row);
		}
		values[OBJECTS_LINES] += is_new(&seen, at, true, c->line);
	}
	lc_table_free(&seen);
}

/* The findings are in their final order. */
static void join_findings(const struct search *s, struct lc_sharing *out)
{
	struct lc_table sums;

	lc_table_init(&sums, 2, OBJECTS_VALUES);
	sum_objects(s, &sums);
	for (size_t i = 0; i < out->findings_len; i++) {
		struct lc_sharing_finding *f = &out->findings[i];
		uint64_t *values =
		    lc_table_values(&sums, objects_of(&sums, f->sides[0].site, f->sides[1].site));

		f->objects =
		    (struct lc_sharing_objects){ values[OBJECTS_SAMPLES], values[OBJECTS_PAIRS],
			                         values[OBJECTS_LINES] };
		f->repeats = values[OBJECTS_FINDINGS]++ != 0;
	}
	lc_table_free(&sums);
}

/* Add the rows from .. to - 1, which belong to a line of a finding. */
static void add_places(const struct search *s, size_t from, size_t to, struct lc_table *places)
{
	for (size_t i = from; i < to; i++) {
		const uint32_t *key = key_of(s, s->rows[i]);
		const uint32_t place[] = { key[LC_LINE_SITE], key[LC_LINE_PATH] };

		*lc_table_values(places, lc_table_put(places, place)) += samples_of(s, s->rows[i]);
	}
}

static void find_lines(struct search *s, struct lc_sharing *out)
{
	for (size_t from = 0, to; from < s->rows_len; from = to) {
		const uint32_t *key = key_of(s, s->rows[from]);
		uint64_t number = lc_tree_wide(key + LC_LINE_NUMBER);
		uint32_t process =
		    lc_table_key(&s->tree->threads, key[LC_LINE_THREAD])[LC_THREAD_PROCESS];
		bool shared = false;

		for (to = from; to < s->rows_len; to++) {
			const uint32_t *next = key_of(s, s->rows[to]);

			if (lc_tree_wide(next + LC_LINE_NUMBER) != number ||
			    lc_table_key(&s->tree->threads,
			                 next[LC_LINE_THREAD])[LC_THREAD_PROCESS] != process)
				break;
			shared |= next[LC_LINE_THREAD] != key[LC_LINE_THREAD];
		}
		out->lines += shared;
		if (shared && search_line(s, from, to)) {
			out->lines_false++;
			add_places(s, from, to, &out->places);
		}
	}
}

bool lc_sharing_one_cpu(const struct lc_view *v, uint32_t row)
{
	const uint32_t thread = lc_table_key(&v->tree->lines, row)[LC_LINE_THREAD];
	const uint32_t process = lc_table_key(&v->tree->threads, thread)[LC_THREAD_PROCESS];

	return process < v->load->processes_len && v->load->processes[process].cpus == 1;
}

void lc_sharing_find(struct lc_sharing *out, const struct lc_view *v)
{
	struct search s = { .tree = v->tree };

	memset(out, 0, sizeof(*out));
	lc_table_init(&out->places, 2, 1);
	lc_table_init(&s.findings, 6, 1);
	s.rows = lc_mem_zeroed(v->tree->lines.count, sizeof(*s.rows));
	for (uint32_t i = 0; i < v->tree->lines.count; i++) {
		if (key_of(&s, i)[LC_LINE_ENGINE] != v->engine)
			continue;
		if (lc_sharing_one_cpu(v, i))
			out->one_cpu = true;
		else
			s.rows[s.rows_len++] = i;
	}
	qsort_r(s.rows, s.rows_len, sizeof(*s.rows), order_rows, &s);
	find_lines(&s, out);
	orient(&s);
	if (s.contributions_len)
		qsort(s.contributions, s.contributions_len, sizeof(*s.contributions),
		      order_contributions);
	out->findings = lc_mem_zeroed(s.findings.count, sizeof(*out->findings));
	for (size_t i = 0, end; i < s.contributions_len; i = end) {
		for (end = i; end < s.contributions_len &&
		              s.contributions[end].finding == s.contributions[i].finding;)
			end++;
		sum_finding(&s, s.contributions + i, end - i, &out->findings[out->findings_len++]);
	}
	qsort_r(out->findings, out->findings_len, sizeof(*out->findings), order_findings,
	        (void *)(uintptr_t)v->tree);
	join_findings(&s, out);
	lc_table_free(&s.findings);
	free(s.rows);
	free(s.uses);
	free(s.members);
	free(s.contributions);
}

void lc_sharing_free(struct lc_sharing *s)
{
	lc_table_free(&s->places);
	free(s->findings);
}
