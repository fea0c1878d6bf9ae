/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans.c - sums up executions for the analysis of spans.h. Rows are sorted so that rows of
 * one place, type or thread are adjacent and become groups. spans_time.c computes when things
 * happened.
 */
#include "analyzer/spans/spans_impl.h"
#include "src/base/order.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"

/* A row of executions or a submission; the other member is NULL. */
struct item {
	const struct lc_span_row *row;
	const struct lc_span_made *made;
};

/* ---- sums ---- */

static void add_row(const struct lc_spans *s, struct lc_spans_sum *sum, const struct lc_span_row *r)
{
	const uint32_t process = s->rows->threads[r->thread].process;

	/*
	 * Diagnoses judge finished spans, so take their times. Take a running span's only if none
	 * finished.
	 */
	const bool timed = !r->running || !sum->executions;

	if (!sum->executions && !(r->running && sum->running)) {
		sum->first_ns = UINT64_MAX;
		sum->last_ns = 0;
	}
	sum->executions += r->executions;
	sum->running += r->running;
	if (r->running)
		sum->running_cycles += r->compensated;
	sum->folded += r->folded;
	sum->measured += r->cycles;
	sum->cycles += r->compensated;
	sum->total += r->total;
	sum->total_unknown |= r->total_unknown;
	sum->negative += r->negative;
	sum->switches += r->switches;
	sum->gc_count += r->gc_count;
	sum->gc_ns += r->gc_ns;
	sum->wait_ns += r->wait_ns;
	sum->waits += r->waits;
	sum->wall_ns += r->wall_ns;
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		sum->nested[i] += r->nested[i];
	for (uint32_t i = 0; i < r->histogram_len; i++)
		sum->histogram[r->histogram[i].bucket] += r->histogram[i].count;
	for (uint32_t i = 0; timed && i < r->intervals_len; i++) {
		uint64_t first = lc_spans_since(s, process, r->intervals[i].first_ns);
		uint64_t last = lc_spans_since(s, process, r->intervals[i].last_ns);

		if (!lc_spans_believed(s, process, &r->intervals[i]))
			continue;
		if (first < sum->first_ns)
			sum->first_ns = first;
		if (last > sum->last_ns)
			sum->last_ns = last;
	}
}

static void add_active(struct lc_spans *s, struct lc_spans_active *a,
                       const struct lc_span_row **rows, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += rows[i]->intervals_len;
	a->intervals = lc_arena_zeroed(&s->arena, count, sizeof(*a->intervals));
	for (size_t i = 0; i < len; i++) {
		const uint32_t process = s->rows->threads[rows[i]->thread].process;

		for (uint32_t k = 0; k < rows[i]->intervals_len; k++)
			if (lc_spans_believed(s, process, &rows[i]->intervals[k]))
				a->intervals[a->len++] = (struct lc_span_interval){
					lc_spans_since(s, process, rows[i]->intervals[k].first_ns),
					lc_spans_since(s, process, rows[i]->intervals[k].last_ns),
				};
	}
	a->len = lc_spans_join(a->intervals, a->len);
}

static int order_by_thread(const void *a, const void *b)
{
	const struct lc_span_row *x = *(const struct lc_span_row *const *)a;
	const struct lc_span_row *y = *(const struct lc_span_row *const *)b;

	return lc_order_u64(x->thread, y->thread);
}

void lc_spans_balance_rows(struct lc_spans *s, struct lc_spans_balance *b,
                           const struct lc_span_row **list, size_t len, unsigned kinds)
{
	const struct lc_span_row **rows = lc_mem_zeroed(len ? len : 1, sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		if (kinds >> list[i]->kind & 1)
			rows[count++] = list[i];
	qsort(rows, count, sizeof(*rows), order_by_thread);
	b->workers = lc_arena_zeroed(&s->arena, count, sizeof(*b->workers));
	for (size_t i = 0; i < count; i++) {
		struct lc_spans_worker *w = b->workers + b->workers_len;

		if (b->workers_len && w[-1].thread == rows[i]->thread)
			w--;
		else
			b->workers_len++;
		w->thread = rows[i]->thread;
		w->executions += rows[i]->executions;
		w->running += rows[i]->running;
		w->cycles += rows[i]->compensated;
		w->total += rows[i]->total;
		w->switches += rows[i]->switches;
	}
	free(rows);
	lc_spans_weigh(b);
}

/* ---- streams ---- */

static int order_by_place(const void *a, const void *b)
{
	const struct lc_span_row *x = *(const struct lc_span_row *const *)a;
	const struct lc_span_row *y = *(const struct lc_span_row *const *)b;

	return lc_spans_order_place(x->place, y->place);
}

static int order_by_stream(const void *a, const void *b)
{
	const struct lc_span_row *x = *(const struct lc_span_row *const *)a;
	const struct lc_span_row *y = *(const struct lc_span_row *const *)b;
	int order = order_by_place(a, b);

	if (!order)
		order = lc_order_u64(x->kind, y->kind);
	return order ? order : lc_order_u64(x->level, y->level);
}

static void make_location(struct lc_spans *s, struct lc_spans_location *l,
                          const struct lc_span_row **rows, size_t len)
{
	l->place = rows[0]->place;
	l->look = &s->rows->looks[l->place->number];
	for (size_t i = 0; i < len; i++) {
		const struct lc_span_row *r = rows[i];

		l->kinds[r->kind] += r->executions;
		l->streams += r->kind == LC_SPAN_SUPPORT ? 0 : r->executions;
		if (r->level >= l->levels)
			l->levels = r->level + 1u;
		add_row(s, &l->sum, r);
		if (r->kind == LC_SPAN_ANONYMOUS && r->level)
			add_row(s, &l->inner, r);
		if (r->kind == LC_SPAN_SUPPORT)
			add_row(s, &l->support, r);
	}
	lc_spans_balance_rows(s, &l->shared, rows, len,
	                      1u << LC_SPAN_PRIMORDIAL | 1u << LC_SPAN_SUPPORT);
	add_active(s, &l->active, rows, len);
	lc_spans_make_paths(s, &l->paths, rows, len);
}

static void make_streams(struct lc_spans *s)
{
	const struct lc_span_row **rows = lc_mem_zeroed(s->rows->rows_len + 1, sizeof(*rows));
	size_t len = 0;

	for (size_t i = 0; i < s->rows->rows_len; i++) {
		const struct lc_span_row *r = &s->rows->rows[i];

		if (lc_spans_is_task(r->kind))
			continue;
		rows[len++] = r;
		add_row(s, r->kind == LC_SPAN_SUPPORT ? &s->support_sum : &s->streams_sum, r);
	}
	qsort(rows, len, sizeof(*rows), order_by_stream);
	s->streams = lc_arena_zeroed(&s->arena, len, sizeof(*s->streams));
	for (size_t at = 0, run; at < len; at += run) {
		struct lc_spans_stream *g = &s->streams[s->streams_len++];

		run = lc_spans_run(&rows[at], len - at, sizeof(*rows), order_by_stream);
		g->place = rows[at]->place;
		g->kind = rows[at]->kind;
		g->level = rows[at]->level;
		for (size_t i = at; i < at + run; i++)
			add_row(s, &g->sum, rows[i]);
	}
	s->locations = lc_arena_zeroed(&s->arena, s->streams_len, sizeof(*s->locations));
	for (size_t at = 0, run; at < len; at += run) {
		run = lc_spans_run(&rows[at], len - at, sizeof(*rows), order_by_place);
		make_location(s, &s->locations[s->locations_len++], rows + at, run);
	}
	free(rows);
}

/* ---- tasks ---- */

static struct lc_text item_type(const struct item *i)
{
	return i->row ? i->row->type : i->made->type;
}

static const struct lc_span_place *item_place(const struct item *i)
{
	return i->row ? i->row->place : i->made->place;
}

static int order_by_type(const void *a, const void *b)
{
	return lc_spans_order_type(item_type(a), item_place(a), item_type(b), item_place(b));
}

static int order_by_task(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = order_by_type(a, b);

	if (!order)
		order = lc_spans_order_place(item_place(x), item_place(y));
	if (!order)
		order = lc_order_u64(x->row ? x->row->submit_kind : x->made->submit_kind,
		                     y->row ? y->row->submit_kind : y->made->submit_kind);
	if (!order)
		order = lc_spans_order_place(x->row ? x->row->submitted : x->made->submitted,
		                             y->row ? y->row->submitted : y->made->submitted);
	return order;
}

static unsigned item_kind(const struct item *i)
{
	return i->row ? i->row->kind : LC_SPAN_KINDS;
}

/* Like order_by_task(), then by kind; items with a submission only come last. */
static int order_items(const void *a, const void *b)
{
	int order = order_by_task(a, b);

	return order ? order : lc_order_u64(item_kind(a), item_kind(b));
}

static bool is_submission(const struct lc_span_made *m)
{
	return m->submit_kind != LC_SUBMIT_NONE && m->submit_kind < LC_SUBMIT_KINDS;
}

/* Sum up the call paths of the task's executions, which are the rows of its kind. */
static void make_task_paths(struct lc_spans *s, struct lc_spans_task *g, const struct item *items,
                            size_t len)
{
	const struct lc_span_row **rows = lc_mem_zeroed(len, sizeof(*rows));
	size_t rows_len = 0;

	for (size_t i = 0; i < len; i++)
		if (items[i].row && items[i].row->kind == g->kind)
			rows[rows_len++] = items[i].row;
	lc_spans_make_paths(s, &g->paths, rows, rows_len);
	free(rows);
}

/* Make tasks of one key: one per kind, with submissions in the first. Creations count by type. */
static void make_task(struct lc_spans *s, const struct item *items, size_t len)
{
	struct lc_spans_task *first = &s->tasks[s->tasks_len], *g = NULL;

	for (size_t i = 0; i < len; i++) {
		unsigned kind = items[i].row ? items[i].row->kind : g ? g->kind : LC_SPAN_TASK;

		if (items[i].made && !is_submission(items[i].made))
			continue;
		if (!g || g->kind != kind) {
			g = &s->tasks[s->tasks_len++];
			g->kind = (uint8_t)kind;
			g->type = item_type(&items[0]);
			g->place = item_place(&items[0]);
			g->submit_kind =
			    items[0].row ? items[0].row->submit_kind : items[0].made->submit_kind;
			g->submit_place =
			    items[0].row ? items[0].row->submitted : items[0].made->submitted;
		}
		if (items[i].row)
			add_row(s, &g->sum, items[i].row);
		else
			first->submitted += items[i].made->count;
	}
	for (; first < s->tasks + s->tasks_len; first++)
		make_task_paths(s, first, items, len);
}

/* Find where most tasks of a type were created and submitted. Its tasks are adjacent. */
static void name_places(const struct lc_spans *s, struct lc_spans_type *t, size_t from)
{
	uint64_t created = 0, submitted = 0;

	t->creation = t->submission = s->rows->places[0];
	for (size_t i = from; i < s->tasks_len; i++) {
		const struct lc_spans_task *g = &s->tasks[i];
		uint64_t executed = g->sum.executions + g->sum.folded;
		uint64_t n = executed ? executed : g->submitted;

		if (g->place->number && n > created) {
			created = n;
			t->creation = g->place;
		}
		if (g->submit_kind && n > submitted) {
			submitted = n;
			t->submission = g->submit_place;
			t->submit_kind = g->submit_kind;
		}
	}
}

static void name_type(struct lc_spans *s, struct lc_spans_type *t, const struct item *item)
{
	const struct lc_span_place *p = item_place(item);
	char *label, *kept;

	t->name = t->label = item_type(item);
	if (!lc_spans_is_lambdas(t->name))
		return;
	t->place = p;
	if (!p->number)
		return;
	label = lc_mem_text("%.*s at %.*s.%.*s:%d", (int)t->name.len, t->name.bytes,
	                    (int)p->class_name.len, p->class_name.bytes, (int)p->method_name.len,
	                    p->method_name.bytes, p->line);
	t->label.len = (uint32_t)strlen(label);
	kept = lc_arena_zeroed(&s->arena, t->label.len + 1, 1);
	memcpy(kept, label, t->label.len);
	t->label.bytes = kept;
	free(label);
}

static void make_type(struct lc_spans *s, struct item *items, size_t len)
{
	const struct lc_span_row **rows = lc_mem_zeroed(len, sizeof(*rows));
	struct lc_spans_type *t = &s->types[s->types_len++];
	size_t rows_len = 0, from = s->tasks_len;

	name_type(s, t, &items[0]);
	for (size_t at = 0, run; at < len; at += run) {
		run = lc_spans_run(&items[at], len - at, sizeof(*items), order_by_task);
		make_task(s, items + at, run);
	}
	for (size_t i = 0; i < len; i++) {
		if (items[i].made) {
			t->submitted += is_submission(items[i].made) ? items[i].made->count : 0;
			continue;
		}
		rows[rows_len++] = items[i].row;
		add_row(s, items[i].row->kind == LC_SPAN_TASK ? &t->sum : &t->threads,
		        items[i].row);
	}
	lc_spans_make_paths(s, &t->paths, rows, rows_len);
	name_places(s, t, from);
	lc_spans_balance_rows(s, &t->shared, rows, rows_len, 1u << LC_SPAN_TASK);
	add_active(s, &t->active, rows, rows_len);
	free(rows);
}

struct type_key {
	struct lc_text name;
	const struct lc_span_place *place;
};

static int order_key_type(const void *key, const void *type)
{
	const struct type_key *k = key;
	const struct lc_spans_type *t = type;

	return lc_spans_order_type(k->name, k->place, t->name, t->place);
}

struct lc_spans_type *lc_spans_find_type(const struct lc_spans *s, struct lc_text name,
                                         const struct lc_span_place *place)
{
	const struct type_key key = { name, place };

	return bsearch(&key, s->types, s->types_len, sizeof(*s->types), order_key_type);
}

/* The type of the same class whose place of creation is unknown, or NULL. */
static const struct lc_spans_type *unplaced(const struct lc_spans *s, const struct lc_spans_type *t)
{
	return t->place ? lc_spans_find_type(s, t->name, s->rows->places[0]) : t;
}

/*
 * Count the objects that were created and never executed.
 *
 * If the agent counted the objects that were executed at least once, the difference is exact.
 * Otherwise each site contributes its creations minus its executions. Executions of unknown
 * creation may belong to any of these objects, so they are subtracted: the result is a lower bound.
 */
static void count_created(struct lc_spans *s)
{
	const struct lc_span_rows *r = s->rows;
	const size_t sites = s->tree->sites.count;
	struct {
		uint64_t created, executed;
		const struct lc_span_place *place;
	} *of = lc_mem_zeroed(sites + 1, sizeof(*of));

	for (size_t i = 0; i < r->made_len; i++) {
		struct lc_spans_type *t = lc_spans_find_type(s, r->made[i].type, r->made[i].place);

		of[r->made[i].site].place = r->made[i].place;
		if (r->made[i].submit_kind == LC_SUBMIT_NONE) {
			of[r->made[i].site].created += r->made[i].count;
			t->created += r->made[i].count;
		} else if (r->made[i].submit_kind == LC_SUBMIT_FIRST) {
			t->first += r->made[i].count;
		}
		t->part |= r->made[i].submit_kind == LC_SUBMIT_PART;
	}
	for (size_t i = 0; i < r->rows_len; i++) {
		if (lc_spans_is_task(r->rows[i].kind)) {
			of[r->rows[i].site].executed +=
			    r->rows[i].executions + r->rows[i].folded + r->rows[i].running;
			of[r->rows[i].site].place = r->rows[i].place;
		}
	}
	for (size_t i = 0; i < sites; i++) {
		const uint32_t *key = lc_table_key(&s->tree->sites, (uint32_t)i);
		struct lc_text name = { "", 0 }; /* site 0: nothing is known of its tasks */
		struct lc_spans_type *t = NULL;

		if (i)
			name = lc_tree_text(s->tree, key[LC_SITE_CLASS]);
		if (of[i].created || of[i].executed)
			t = lc_spans_find_type(s, name, of[i].place);
		if (t && (!i || !key[LC_SITE_PATH]))
			t->unknown += of[i].executed;
		else if (t && of[i].created > of[i].executed)
			t->dropped += of[i].created - of[i].executed;
	}
	for (size_t i = 0; i < s->types_len; i++) {
		struct lc_spans_type *t = &s->types[i];
		const struct lc_spans_type *all = unplaced(s, t);
		uint64_t unknown = all ? all->unknown : 0;

		t->dropped = t->dropped > unknown ? t->dropped - unknown : 0;
		if (t->first)
			t->dropped = t->created > t->first ? t->created - t->first : 0;
		t->part |= all && all->part;
		if (t->part)
			t->dropped = 0;
		s->part += t->part;
		s->created += t->created;
		s->submitted += t->submitted;
		s->dropped += t->dropped;
	}
	free(of);
}

static void make_tasks(struct lc_spans *s)
{
	const struct lc_span_rows *r = s->rows;
	struct item *items = lc_mem_zeroed(r->rows_len + r->made_len + 1, sizeof(*items));
	size_t len = 0, types = 0;

	for (size_t i = 0; i < r->rows_len; i++) {
		if (!lc_spans_is_task(r->rows[i].kind))
			continue;
		items[len++].row = &r->rows[i];
		add_row(s, r->rows[i].kind == LC_SPAN_TASK ? &s->tasks_sum : &s->threads_sum,
		        &r->rows[i]);
	}
	for (size_t i = 0; i < r->made_len; i++)
		items[len++].made = &r->made[i];
	qsort(items, len, sizeof(*items), order_items);
	for (size_t at = 0; at < len; types++)
		at += lc_spans_run(&items[at], len - at, sizeof(*items), order_by_type);
	s->tasks = lc_arena_zeroed(&s->arena, len, sizeof(*s->tasks));
	s->types = lc_arena_zeroed(&s->arena, types, sizeof(*s->types));
	for (size_t at = 0, run; at < len; at += run) {
		run = lc_spans_run(&items[at], len - at, sizeof(*items), order_by_type);
		make_type(s, items + at, run);
	}
	free(items);
	count_created(s);
}

void lc_spans_build(struct lc_spans *s, const struct lc_load *load, const struct lc_span_rows *rows,
                    uint32_t engine, enum lc_spans_sort sort)
{
	memset(s, 0, sizeof(*s));
	s->load = load;
	s->tree = load->tree;
	s->rows = rows;
	s->cpus = lc_spans_cpus(load);
	s->hz = lc_spans_hz(s);
	for (size_t i = 0; i < rows->rows_len; i++)
		s->kinds[rows->rows[i].kind] += rows->rows[i].executions;
	make_streams(s);
	make_tasks(s);
	lc_spans_build_waits(s, engine);
	lc_spans_build_time(s);
	lc_spans_build_threads(s);
	lc_spans_build_heat(s);
	lc_spans_build_trace(s);
	lc_spans_sort_groups(s, sort);
	lc_spans_diagnose(s);
}

void lc_spans_free(struct lc_spans *s)
{
	for (size_t i = 0; i < s->diagnoses_len; i++) {
		free(s->diagnoses[i].summary);
		free(s->diagnoses[i].advice);
		free(s->diagnoses[i].why);
		for (size_t k = 0; k < s->diagnoses[i].evidence_len; k++)
			free(s->diagnoses[i].evidence[k]);
	}
	lc_arena_free(&s->arena);
	memset(s, 0, sizeof(*s));
}
