/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/live.c - joins the series of the sites of a line, and asks whether it grows. */
#include "analyzer/objects/analysis/live.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/poisson.h"
#include "analyzer/model/load.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/offheap.h"
#include "src/base/order.h"

#define NS 1e9
#define MATTERS_BYTES 1e6
#define MATTERS_PART 0.01   /* of the limit */
#define MATTERS_S 86400.0   /* until the limit is reached */
#define LAST_PART (1.0 / 3) /* of the recording, that a point must be in */
#define DEAD_PART (1.0 / 6) /* of the growth, half of that in the last third */

/*
 * Errors of an estimate add up from point to point, as in a random walk. The slope of a line
 * through one has a standard deviation that is sqrt(6 / 5) times that of its end.
 */
#define RANDOM_WALK 1.0954

/* A row of LIVE. */
struct entry {
	uint32_t line; /* of a site; for the heap UINT32_MAX */
	uint32_t site, process;
	enum lc_live_kind kind;
	uint64_t time_ns;
	const uint64_t *values;
};

/* A stretch of time. */
struct stretch {
	uint64_t time_ns, collections;
	bool old; /* old objects were collected, too */
};

struct build {
	struct lc_live *l;
	const struct lc_ranking *rank;
	struct entry *entries;
	size_t len;
	struct stretch *stretches;
	size_t stretches_len;
	uint64_t *now_ns; /* by process: of its last rows of LC_LIVE_NOW; 0: there are none */
	uint64_t begin_ns;
	double *series;                        /* bytes of a line, by stretch */
	double (*ages)[LC_LIVE_AGES];          /* objects, by line */
	const struct lc_live_holders *holders; /* by line */
	struct lc_live_walk walk;
};

static uint64_t value(const struct entry *e, unsigned column)
{
	return e->values[column];
}

static double bytes_of(const struct entry *e)
{
	return (double)value(e, LC_LIVE_BYTES) + (double)value(e, LC_LIVE_ESTIMATED_BYTES);
}

static int order_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = lc_order_u64(x->line, y->line);

	if (!order)
		order = lc_order_u64(x->site, y->site);
	if (!order)
		order = lc_order_u64(x->time_ns, y->time_ns);
	if (!order)
		order = lc_order_u64(x->kind, y->kind);
	return order ? order : lc_order_u64(x->process, y->process);
}

/* The line of each site, + 1. The caller frees it. */
static uint32_t *lines_of(const struct lc_ranking *rank)
{
	uint32_t *lines = lc_mem_zeroed(rank->view->tree->sites.count, sizeof(*lines));

	for (size_t i = 0; i < rank->len; i++)
		for (size_t k = 0; k < rank->rows[i].sites_len; k++)
			lines[rank->rows[i].sites[k]] = (uint32_t)i + 1;
	return lines;
}

/* The part of the time that counts. */
static uint64_t begin_of(const struct build *b, uint32_t process)
{
	return b->rank->view->load->processes[process].asked_begin_ns;
}

static uint64_t end_of(const struct build *b, uint32_t process)
{
	return lc_load_asked_end_ns(&b->rank->view->load->processes[process]);
}

static void read_entries(struct build *b)
{
	const struct lc_tree *t = b->rank->view->tree;
	uint32_t *lines = lines_of(b->rank), first = UINT32_MAX;

	b->entries = lc_mem_zeroed(t->live.count, sizeof(*b->entries));
	b->l->one_process = true;
	for (uint32_t i = 0; i < t->live.count; i++) {
		const uint32_t *key = lc_table_key(&t->live, i);
		const uint32_t process =
		    lc_table_key(&t->threads, key[LC_LIVE_THREAD])[LC_THREAD_PROCESS];
		const struct entry e = {
			.line = key[LC_LIVE_SITE] ? lines[key[LC_LIVE_SITE]] - 1 : UINT32_MAX,
			.site = key[LC_LIVE_SITE],
			.process = process,
			.kind = key[LC_LIVE_KIND],
			.time_ns = lc_tree_wide(&key[LC_LIVE_TIME]),
			.values = lc_table_values(&t->live, i),
		};

		if (e.site && e.line == UINT32_MAX)
			continue; /* its row is not of this ranking */
		if (process >= b->rank->view->load->processes_len ||
		    e.time_ns >= end_of(b, process))
			continue;
		if (first == UINT32_MAX)
			first = process;
		b->l->one_process &= process == first;
		if (e.kind == LC_LIVE_NOW && e.time_ns > b->now_ns[process])
			b->now_ns[process] = e.time_ns;
		b->entries[b->len++] = e;
	}
	qsort(b->entries, b->len, sizeof(*b->entries), order_entries);
	free(lines);
}

/* Ages of the objects in the rows of LC_LIVE_NOW, by all collections. */
static void read_ages(struct build *b)
{
	const struct lc_tree *t = b->rank->view->tree;
	uint32_t *lines = lines_of(b->rank);

	b->ages = lc_mem_zeroed(b->rank->len, sizeof(*b->ages));
	for (uint32_t i = 0; i < t->ages.count; i++) {
		const uint32_t *key = lc_table_key(&t->ages, i);
		const uint64_t *milli = &lc_table_values(&t->ages, i)[LC_AGE_OBJECTS];
		const uint32_t process =
		    lc_table_key(&t->threads, key[LC_AGE_THREAD])[LC_THREAD_PROCESS];

		if (!lines[key[LC_AGE_SITE]] || process >= b->rank->view->load->processes_len ||
		    begin_of(b, process) || lc_tree_wide(&key[LC_AGE_TIME]) != b->now_ns[process])
			continue;
		for (size_t k = 0; k < LC_LIVE_AGES; k++)
			b->ages[lines[key[LC_AGE_SITE]] - 1][k] += (double)milli[k] / 1000;
		b->l->ages = true;
	}
	free(lines);
}

static void read_holders(struct build *b)
{
	uint32_t *lines = lines_of(b->rank);

	b->holders = lc_live_holders_of(&b->l->arena, b->rank, lines);
	free(lines);
	b->walk = lc_live_walk_of(b->rank);
}

/* How many collections the ages go up to, and when the first of these was: from the last back. */
static void name_ages(struct build *b)
{
	struct lc_live *l = b->l;
	uint64_t end_ns = 0, seen = 0;
	size_t at = b->stretches_len;

	for (size_t i = 0; i < b->rank->view->load->processes_len; i++)
		end_ns = b->now_ns[i] > end_ns ? b->now_ns[i] : end_ns;
	for (size_t k = 0; l->ages && l->one_process && k < LC_LIVE_AGES; k++) {
		l->age_collections[k] = l->collections * (k + 1) / LC_LIVE_AGES;
		while (at && seen < l->age_collections[k])
			seen += b->stretches[--at].collections;
		if (at < b->stretches_len && b->stretches[at].time_ns < end_ns)
			l->age_s[k] = (double)(end_ns - b->stretches[at].time_ns) / NS;
	}
}

static void add_collections(struct lc_live *l, const struct entry *of_heap)
{
	l->collections += value(of_heap, LC_LIVE_OBJECTS);
	l->old_collections += value(of_heap, LC_LIVE_SAMPLED);
}

/* The rows of the heap are the last ones, and tell of all stretches. */
static void read_heap(struct build *b)
{
	struct lc_live *l = b->l;
	size_t at = b->len;

	while (at && b->entries[at - 1].line == UINT32_MAX)
		at--;
	b->stretches = lc_mem_zeroed(b->len - at, sizeof(*b->stretches));
	for (; at < b->len; at++) {
		const struct entry *e = &b->entries[at];
		const uint64_t from_ns = begin_of(b, e->process);

		if (e->time_ns < from_ns)
			continue;
		if (e->kind == LC_LIVE_LEAST)
			b->stretches[b->stretches_len++] =
			    (struct stretch){ e->time_ns, value(e, LC_LIVE_OBJECTS),
				              value(e, LC_LIVE_SAMPLED) != 0 };
		if (e->kind == LC_LIVE_NOW && e->time_ns == b->now_ns[e->process]) {
			l->heap_bytes += value(e, LC_LIVE_BYTES);
			if (!from_ns)
				add_collections(l, e);
		} else if (e->kind == LC_LIVE_LEAST && (from_ns || !b->now_ns[e->process])) {
			if (value(e, LC_LIVE_OBJECTS) && !b->now_ns[e->process])
				l->heap_bytes = value(e, LC_LIVE_BYTES);
			add_collections(l, e);
		}
	}
	b->begin_ns = b->stretches_len ? b->stretches[0].time_ns : 0;
	if (b->stretches_len)
		l->seconds =
		    (double)(b->stretches[b->stretches_len - 1].time_ns - b->begin_ns) / NS;
}

static void add_held(struct lc_live_held *h, const struct entry *e)
{
	h->objects += value(e, LC_LIVE_OBJECTS);
	h->bytes += value(e, LC_LIVE_BYTES);
	h->sampled += value(e, LC_LIVE_SAMPLED);
	h->estimated.value += (double)value(e, LC_LIVE_ESTIMATED) / 1000;
	h->estimated.variance += (double)value(e, LC_LIVE_VARIANCE) / 1000;
	h->estimated_bytes.value += (double)value(e, LC_LIVE_ESTIMATED_BYTES);
	h->estimated_bytes.variance += ldexp((double)value(e, LC_LIVE_BYTES_VARIANCE), 20);
}

static void end_held(struct lc_live_held *h)
{
	struct lc_rank_number *n[] = { &h->estimated, &h->estimated_bytes };

	for (size_t i = 0; i < 2; i++)
		lc_poisson_sum(n[i]->value, n[i]->variance, &n[i]->low, &n[i]->high);
	h->estimated.low = fmax(h->estimated.low, (double)h->sampled);
}

/* The number of the stretch that begins then, or the first one after it. */
static size_t stretch_at(const struct build *b, uint64_t time_ns)
{
	size_t low = 0, high = b->stretches_len;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (b->stretches[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Add the site's rows, up to `end`, to the line's series: a row holds until the next one. */
static void add_series(struct build *b, const struct entry *e, const struct entry *end)
{
	double bytes = 0;
	size_t at = b->stretches_len;

	for (; e <= end; e++) {
		const bool last = e == end;
		size_t to = last ? b->stretches_len : 0;

		if (!last && e->kind != LC_LIVE_LEAST)
			continue;
		if (!last)
			to = stretch_at(b, e->time_ns);
		for (; at < to; at++)
			b->series[at] += bytes;
		if (last)
			break;
		at = to;
		bytes = bytes_of(e);
	}
}

static void add_point(struct lc_live_points *p, double x, double y, double part)
{
	const size_t last = p->len - 1; /* if there is one */

	if (!p->len || (part > 0 && (size_t)(x / part) != (size_t)(p->points[last].x / part)))
		p->points[p->len++] = (struct lc_trend_point){ x, y };
	else if (y < p->points[last].y)
		p->points[last] = (struct lc_trend_point){ x, y };
}

/* Reduce the series to the least of equal parts of its time. */
static void reduce(struct build *b, struct lc_live_line *line)
{
	const double part = b->l->seconds * 1.000001 / LC_TREND_POINTS_MAX;
	struct lc_live_points *const by[] = { &line->by_old, &line->by_all };

	for (size_t i = 0; i < 2; i++)
		by[i]->points =
		    lc_arena_zeroed(&b->l->arena, LC_TREND_POINTS_MAX, sizeof(*by[i]->points));
	line->first_s = -1;
	for (size_t i = 0; i < b->stretches_len; i++) {
		const struct stretch *s = &b->stretches[i];
		const double x = (double)(s->time_ns - b->begin_ns) / NS;

		if (b->series[i] > 0) {
			line->first_s = line->first_s < 0 ? x : line->first_s;
			line->last_s = x;
		}
		line->collections += line->first_s >= 0 ? s->collections : 0;
		if (line->off_heap || s->old) /* else some that have died since are among them */
			add_point(&line->by_old, x, b->series[i], part);
		if (s->collections && (!b->walk.time_ns || s->time_ns <= b->walk.time_ns))
			add_point(&line->by_all, x, b->series[i], part);
	}
}

/* The trend of the points, and whether it matters. */
static void judge(const struct lc_live *l, struct lc_live_line *line,
                  const struct lc_live_points *p)
{
	const bool direct = line->off_heap && l->direct_max_bytes;
	const double limit =
	    line->off_heap ? (double)l->direct_max_bytes : (double)l->heap_max_bytes;
	const struct lc_rank_number *e = &line->now.estimated_bytes;
	struct lc_trend *t = &line->trend;
	double part, full = line->off_heap ? 0 : (double)l->heap_bytes;

	*t = lc_trend_of(p->points, p->len);
	/* After the last point the line may have stayed. */
	t->grows = t->grows && p->points[p->len - 1].x >= (1 - LAST_PART) * l->seconds;
	part = e->value > 0 ? RANDOM_WALK * e->value / lc_live_bytes(&line->now) : 0;
	if (part > 0) {
		const double low = part * (1 - e->low / e->value);
		const double high = part * (e->high / e->value - 1);

		t->low = t->slope - hypot(t->slope - t->low, t->slope * low);
		t->high = t->slope + hypot(t->high - t->slope, t->slope * high);
	}
	if (direct)
		for (size_t i = 0; i < l->len; i++)
			if (l->lines[i].off_heap)
				full += lc_live_bytes(&l->lines[i].now);
	line->left_bytes = limit > full && full > 0 ? limit - full : -1;
	line->full_s = line->left_bytes >= 0 && t->slope > 0 ? line->left_bytes / t->slope : -1;
	line->grown_s = l->seconds - fmax(0, line->first_s);
	line->grown_bytes = fmin(t->slope * line->grown_s, lc_live_bytes(&line->now));
	line->matters = t->grows && t->low > 0 && line->grown_bytes >= MATTERS_BYTES &&
	                (!line->now.sampled || !lc_live_is_vague(&line->now)) &&
	                ((limit > 0 && line->grown_bytes >= MATTERS_PART * limit) ||
	                 (line->full_s >= 0 && line->full_s <= MATTERS_S) || line->off_heap);
}

/* Are the objects of two lines held alike, or called alike? */
static bool alike(const struct lc_tree *t, const struct lc_live_line *a,
                  const struct lc_live_line *b)
{
	char *of_a, *of_b;
	bool same;

	if (a->row->class != b->row->class)
		return false;
	for (size_t i = 0; i < a->holders.len; i++)
		for (size_t k = 0; k < b->holders.len; k++)
			if (a->holders.chains[i].text.bytes == b->holders.chains[k].text.bytes)
				return true;
	of_a = lc_object_label(t, a->row, 1, UINT_MAX);
	of_b = lc_object_label(t, b->row, 1, UINT_MAX);
	same = !strcmp(of_a, of_b);
	free(of_a);
	free(of_b);
	return same;
}

/* Dead objects of other lines, that those of the line may have replaced: in a cache, for one. */
static double replaced_bytes(const struct build *b, const struct lc_live_line *line)
{
	double bytes = 0;

	for (size_t i = 0; i < b->l->len; i++) {
		const struct lc_live_line *other = &b->l->lines[i];

		if (other != line && other->dead_bytes > 0 &&
		    alike(b->rank->view->tree, line, other))
			bytes += other->dead_bytes;
	}
	return bytes;
}

/*
 * Judge by points after all collections. Dead objects among them are at most those that are dead at
 * the walk: a collection that takes out others makes the line fall.
 */
static void judge_by_walk(const struct build *b, struct lc_live_line *line)
{
	struct lc_live_line all = *line;
	double dead = line->dead_most_bytes;

	judge(b->l, &all, &line->by_all);
	if (!all.matters)
		return;
	dead += replaced_bytes(b, line);
	all.trend.low -= dead / b->l->seconds;
	if (all.trend.low <= 0 || dead > DEAD_PART * all.grown_bytes)
		return;
	all.by_walk = true;
	*line = all;
}

/*
 * Would the line be a finding if no object in it were dead, and does nothing tell how many are, but
 * a walk would?
 */
static void judge_unknown(const struct build *b, const struct lc_live_line *line)
{
	struct lc_live_line all = *line;
	struct lc_live *l = b->l;

	if (lc_load_is_concurrent(b->rank->view->load->processes) || line->off_heap ||
	    line->by_old.len >= LC_TREND_VERY_FEW || !line->row->path)
		return;
	judge(l, &all, &line->by_all);
	if (!all.matters || all.trend.slope <= l->unknown_slope)
		return;
	l->unknown = line->row;
	l->unknown_slope = all.trend.slope;
}

static void judge_line(const struct build *b, struct lc_live_line *line)
{
	judge(b->l, line, &line->by_old);
	if (line->matters)
		return;
	if (line->walked.looked_for)
		judge_by_walk(b, line);
	else
		judge_unknown(b, line);
}

static void add_now(struct lc_live_line *line, struct lc_live_site *site, const struct entry *e)
{
	add_held(&line->now, e);
	add_held(&site->now, e);
}

static void add_dead(const struct build *b, struct lc_live_line *line,
                     const struct lc_live_site *site)
{
	const struct lc_live_dead dead = lc_live_walk_dead(&b->walk, site->site, &line->walked);

	line->dead_bytes += dead.part * lc_live_bytes(&site->now);
	line->dead_most_bytes += dead.most * lc_live_bytes(&site->now);
}

static void make_line(struct build *b, size_t from, size_t to)
{
	struct lc_live *l = b->l;
	const struct lc_rank_row *row = &b->rank->rows[b->entries[from].line];
	struct lc_live_line *line = &l->lines[l->len++];

	*line = (struct lc_live_line){
		.row = row,
		.off_heap = lc_offheap_class(lc_tree_text(b->rank->view->tree, row->class)),
	};
	line->holders = b->holders[row - b->rank->rows];
	memcpy(line->ages, b->ages[row - b->rank->rows], sizeof(line->ages));
	memset(b->series, 0, b->stretches_len * sizeof(*b->series));
	for (size_t i = from, end; i < to; i = end) {
		struct lc_live_site *site = &l->sites[l->sites_len++];

		*site = (struct lc_live_site){ b->entries[i].site, line->off_heap, { 0 } };
		for (end = i; end < to && b->entries[end].site == b->entries[i].site; end++) {
			const struct entry *e = &b->entries[end];

			if (e->kind == LC_LIVE_YOUNG)
				add_held(&line->young, e);
			else if (e->kind == LC_LIVE_NOW && e->time_ns == b->now_ns[e->process])
				add_now(line, site, e);
		}
		if (l->one_process) {
			add_series(b, &b->entries[i], &b->entries[end]);
			for (size_t k = end; !b->now_ns[b->entries[i].process] && k > i; k--)
				if (b->entries[k - 1].kind == LC_LIVE_LEAST) {
					add_now(line, site, &b->entries[k - 1]);
					break;
				}
		}
		end_held(&site->now);
		add_dead(b, line, site);
	}
	end_held(&line->now);
	end_held(&line->young);
	if (l->one_process)
		reduce(b, line);
}

static int order_lines(const void *a, const void *b)
{
	const struct lc_live_line *x = a, *y = b;
	const double of_x = lc_live_bytes(&x->now), of_y = lc_live_bytes(&y->now);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static const char *nothing_of(const struct lc_ranking *rank)
{
	const struct lc_load *load = rank->view->load;

	if (load->filter || load->frames)
		return "what stays after collections is not told by thread or frame: leave out "
		       "these filters";
	if (rank->group == LC_GROUP_FIELD)
		return "what stays after collections is not told by field: leave out --group=field";
	if (!rank->view->tree->live.count)
		return "nothing was recorded of what stays after collections: there was none, or "
		       "an earlier Locus has recorded";
	return NULL;
}

void lc_live_build(struct lc_live *l, const struct lc_ranking *rank)
{
	const struct lc_load *load = rank->view->load;
	struct build b = { .l = l, .rank = rank };

	*l = (struct lc_live){ .none = nothing_of(rank) };
	if (l->none)
		return;
	b.now_ns = lc_mem_zeroed(load->processes_len, sizeof(*b.now_ns));
	read_entries(&b);
	read_heap(&b);
	read_ages(&b);
	read_holders(&b);
	name_ages(&b);
	if (l->one_process) {
		l->heap_max_bytes = lc_load_counter(load, "heap_max_bytes");
		l->direct_max_bytes = lc_load_counter(load, "direct_max_bytes");
	}
	l->incomplete = lc_load_counter(load, "gc_incomplete");
	l->lines = lc_arena_zeroed(&l->arena, rank->len, sizeof(*l->lines));
	l->sites = lc_arena_zeroed(&l->arena, load->tree->sites.count, sizeof(*l->sites));
	b.series = lc_mem_zeroed(b.stretches_len, sizeof(*b.series));
	for (size_t i = 0, end; i < b.len && b.entries[i].line != UINT32_MAX; i = end) {
		for (end = i; end < b.len && b.entries[end].line == b.entries[i].line; end++)
			;
		make_line(&b, i, end);
	}
	for (size_t i = 0; l->one_process && i < l->len; i++)
		judge_line(&b, &l->lines[i]);
	if (l->len)
		qsort(l->lines, l->len, sizeof(*l->lines), order_lines);
	free(b.entries);
	free(b.stretches);
	free(b.now_ns);
	free(b.series);
	free(b.ages);
	free(b.walk.sites);
}

double lc_live_age_part(const struct lc_live_line *line, size_t age)
{
	double all = 0;

	for (size_t i = 0; i < LC_LIVE_AGES; i++)
		all += line->ages[i];
	return all > 0 ? line->ages[age] / all : 0;
}

void lc_live_free(struct lc_live *l)
{
	lc_arena_free(&l->arena);
	*l = (struct lc_live){ 0 };
}
