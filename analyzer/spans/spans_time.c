/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_time.c - computes what threads did and when, the heat map, and the objects that spans
 * waited for.
 */
#include "analyzer/spans/spans_impl.h"
#include "src/base/order.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"

/* ---- timelines and pauses ---- */

static int order_points(const void *a, const void *b)
{
	const struct lc_spans_point *x = a, *y = b;
	int order = lc_order_u64(x->process, y->process);

	if (!order)
		order = lc_order_u64(x->thread, y->thread);
	return order ? order : lc_spans_order_i64(x->start_ns, y->start_ns);
}

static int order_same_point(const void *a, const void *b)
{
	const struct lc_spans_point *x = a, *y = b;
	int order = lc_order_u64(x->process, y->process);

	return order ? order : lc_spans_order_i64(x->start_ns, y->start_ns);
}

static int64_t start_of(const struct lc_spans *s, uint32_t process, uint64_t ns)
{
	uint64_t start =
	    process < s->load->processes_len ? s->load->processes[process].start_monotonic_ns : 0;

	return (int64_t)(ns - start);
}

/* Make the points of all threads, and their sums by process. */
static void make_timeline(struct lc_spans *s)
{
	const size_t len = s->rows->slices_len;

	s->points = lc_arena_zeroed(&s->arena, len, sizeof(*s->points));
	s->timeline = lc_arena_zeroed(&s->arena, len, sizeof(*s->timeline));
	for (size_t i = 0; i < len; i++) {
		const struct lc_span_slice *slice = &s->rows->slices[i];
		const uint32_t process = s->rows->threads[slice->thread].process;

		s->points[i] = (struct lc_spans_point){
			.process = process,
			.thread = slice->thread,
			.start_ns = start_of(s, process, slice->start_ns),
			.cpu_ns = slice->cpu_ns,
			.voluntary = slice->voluntary,
			.involuntary = slice->involuntary,
		};
	}
	s->points_len = len;
	if (!len)
		return;
	memcpy(s->timeline, s->points, len * sizeof(*s->points));
	qsort(s->points, len, sizeof(*s->points), order_points);
	qsort(s->timeline, len, sizeof(*s->timeline), order_same_point);
	for (size_t i = 0; i < len; i++) {
		struct lc_spans_point *p = &s->timeline[s->timeline_len];

		if (s->timeline_len && !order_same_point(p - 1, &s->timeline[i])) {
			p[-1].cpu_ns += s->timeline[i].cpu_ns;
			p[-1].voluntary += s->timeline[i].voluntary;
			p[-1].involuntary += s->timeline[i].involuntary;
			continue;
		}
		*p = s->timeline[i];
		p->thread = LC_SPAN_NO_THREAD;
		s->timeline_len++;
	}
}

void lc_spans_build_time(struct lc_spans *s)
{
	make_timeline(s);
	s->pauses = lc_arena_zeroed(&s->arena, s->rows->pauses_len, sizeof(*s->pauses));
	for (size_t i = 0; i < s->rows->pauses_len; i++) {
		const struct lc_span_pause *p = &s->rows->pauses[i];

		s->pauses[s->pauses_len++] = (struct lc_spans_pause){
			.process = p->process,
			.start_ns = start_of(s, p->process, p->start_ns),
			.duration_ns = p->duration_ns,
		};
	}
}

/* ---- threads ---- */

static int order_threads(const void *a, const void *b)
{
	const struct lc_spans_thread *x = a, *y = b;
	int order = lc_spans_order_i64(y->cycles, x->cycles);

	if (!order)
		order = lc_order_u64(y->cpu_ns, x->cpu_ns);
	return order ? order : lc_order_u64(x->thread, y->thread);
}

static void add_worker(struct lc_spans_worker *w, const struct lc_span_row *r)
{
	w->executions += r->executions;
	w->running += r->running;
	w->cycles += r->compensated;
	w->switches += r->switches;
}

/* Make the threads that ran spans or have a timeline, and the balance of those with spans. */
void lc_spans_build_threads(struct lc_spans *s)
{
	struct lc_spans_thread *all = lc_mem_zeroed(s->rows->threads_len + 1, sizeof(*all));
	bool *used = lc_mem_zeroed(s->rows->threads_len + 1, sizeof(*used));

	for (size_t i = 0; i < s->rows->rows_len; i++) {
		const struct lc_span_row *r = &s->rows->rows[i];
		struct lc_spans_thread *t = &all[r->thread];

		used[r->thread] = true;
		t->cycles += r->compensated;
		add_worker(r->kind == LC_SPAN_TASK     ? &t->tasks
		           : r->kind == LC_SPAN_THREAD ? &t->self
		                                       : &t->streams,
		           r);
	}
	for (size_t i = 0; i < s->points_len; i++) {
		const struct lc_spans_point *p = &s->points[i];
		struct lc_spans_thread *t = &all[p->thread];

		if (!t->points_len++)
			t->points = p;
		t->cpu_ns += p->cpu_ns;
		t->voluntary += p->voluntary;
		t->involuntary += p->involuntary;
	}
	s->threads = lc_arena_zeroed(&s->arena, s->rows->threads_len, sizeof(*s->threads));
	s->balance.workers =
	    lc_arena_zeroed(&s->arena, s->rows->threads_len, sizeof(*s->balance.workers));
	for (size_t i = 0; i < s->rows->threads_len; i++) {
		all[i].thread = (uint32_t)i;
		if (used[i] || all[i].points_len)
			s->threads[s->threads_len++] = all[i];
		if (used[i])
			s->balance.workers[s->balance.workers_len++] = (struct lc_spans_worker){
				.thread = (uint32_t)i,
				.executions = all[i].streams.executions + all[i].tasks.executions +
				              all[i].self.executions,
				.running = all[i].streams.running + all[i].tasks.running +
				           all[i].self.running,
				.cycles = all[i].cycles,
				.total = all[i].cycles, /* of all places: no span is left out */
				.switches = all[i].streams.switches + all[i].tasks.switches +
				            all[i].self.switches,
			};
	}
	if (s->threads_len)
		qsort(s->threads, s->threads_len, sizeof(*s->threads), order_threads);
	lc_spans_weigh(&s->balance);
	free(all);
	free(used);
}

/* ---- the heat map ---- */

/*
 * Deal a stream's cycles out to its buckets. Counts per bucket and the total are known, the sum per
 * bucket is not. So each span gets its bucket's middle, scaled to the total. If that is impossible
 * (only spans of 0 cycles, or a negative total), each span gets the same.
 */
static void heat_stream(struct lc_spans_heat *h, const struct lc_spans_stream *g)
{
	struct lc_spans_cell *row = h->cells + (size_t)g->level * LC_SPANS_COLUMNS;
	const uint64_t n = lc_spans_count(g->sum.histogram);
	const int64_t ended = g->sum.cycles - g->sum.running_cycles;
	double middles = 0;

	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++)
		middles += (double)g->sum.histogram[b] * lc_spans_middle(b);
	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++) {
		struct lc_spans_cell *c = &row[lc_spans_column(b)];
		double count = (double)g->sum.histogram[b], cycles = (double)ended;

		if (!g->sum.histogram[b])
			continue;
		c->count += g->sum.histogram[b];
		c->cycles += middles > 0 && cycles > 0
		                 ? cycles * count * lc_spans_middle(b) / middles
		                 : cycles * count / (double)n;
	}
}

void lc_spans_build_heat(struct lc_spans *s)
{
	for (size_t i = 0; i < s->streams_len; i++) {
		struct lc_spans_heat *h =
		    s->streams[i].kind == LC_SPAN_SUPPORT ? &s->support : &s->heat;

		if (s->streams[i].level >= h->levels)
			h->levels = s->streams[i].level + 1u;
	}
	s->heat.cells = lc_arena_zeroed(&s->arena, (size_t)s->heat.levels * LC_SPANS_COLUMNS,
	                                sizeof(*s->heat.cells));
	s->support.cells = lc_arena_zeroed(&s->arena, (size_t)s->support.levels * LC_SPANS_COLUMNS,
	                                   sizeof(*s->support.cells));
	for (size_t i = 0; i < s->streams_len; i++)
		heat_stream(s->streams[i].kind == LC_SPAN_SUPPORT ? &s->support : &s->heat,
		            &s->streams[i]);
}

/* ---- objects that spans waited for ---- */

static int order_by_owner(const void *a, const void *b)
{
	const struct lc_span_access *x = *(const struct lc_span_access *const *)a;
	const struct lc_span_access *y = *(const struct lc_span_access *const *)b;
	bool task = lc_spans_is_task(x->kind);
	int order = lc_order_u64(task, lc_spans_is_task(y->kind));

	if (order)
		return order;
	return task ? lc_spans_order_type(x->type, x->place, y->type, y->place)
	            : lc_spans_order_place(x->place, y->place);
}

static int order_by_object(const void *a, const void *b)
{
	const struct lc_span_access *x = *(const struct lc_span_access *const *)a;
	const struct lc_span_access *y = *(const struct lc_span_access *const *)b;
	int order = lc_order_u64(x->bucket, y->bucket);

	if (!order)
		order = lc_order_u64(x->site, y->site);
	return order ? order : lc_order_u64(x->path, y->path);
}

static int order_waited(const void *a, const void *b, void *spans)
{
	const struct lc_spans *s = spans;
	const struct lc_spans_waited *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	if (!order)
		order = lc_order_u64(x->bucket, y->bucket);
	if (!order)
		order = lc_order_u64(lc_tree_site_id(s->tree, x->site),
		                     lc_tree_site_id(s->tree, y->site));
	return order ? order : lc_tree_order_paths(s->tree, x->path, y->path);
}

static void make_waits(struct lc_spans *s, struct lc_spans_waits *w,
                       const struct lc_span_access **list, size_t len)
{
	qsort(list, len, sizeof(*list), order_by_object);
	w->rows = lc_arena_zeroed(&s->arena, len, sizeof(*w->rows));
	for (size_t at = 0, run; at < len; at += run) {
		struct lc_spans_waited row = { list[at]->bucket, list[at]->site, list[at]->path,
			                       0 };

		run = lc_spans_run(&list[at], len - at, sizeof(*list), order_by_object);
		for (size_t i = at; i < at + run; i++)
			row.samples += list[i]->samples;
		w->samples += row.samples;
		if (row.site)
			w->rows[w->rows_len++] = row;
	}
	qsort_r(w->rows, w->rows_len, sizeof(*w->rows), order_waited, s);
}

static int order_key_location(const void *key, const void *location)
{
	return lc_spans_order_place(key, ((const struct lc_spans_location *)location)->place);
}

/* The waits to which an access belongs; NULL if its place has no finished span. */
static struct lc_spans_waits *owner(struct lc_spans *s, const struct lc_span_access *a)
{
	struct lc_spans_location *l;
	struct lc_spans_type *t;

	if (lc_spans_is_task(a->kind)) {
		t = lc_spans_find_type(s, a->type, a->place);
		return t ? &t->waits : NULL;
	}
	l = bsearch(a->place, s->locations, s->locations_len, sizeof(*s->locations),
	            order_key_location);
	return l ? &l->waits : NULL;
}

static uint32_t choose_engine(const struct lc_span_rows *r)
{
	uint64_t samples[LC_ENGINES_MAX] = { 0 };
	uint32_t best = 0;

	for (size_t i = 0; i < r->accesses_len; i++)
		samples[r->accesses[i].engine] += r->accesses[i].samples;
	for (uint32_t e = 1; e < LC_ENGINES_MAX; e++)
		if (samples[e] > samples[best])
			best = e;
	return samples[best] ? best : UINT32_MAX;
}

void lc_spans_build_waits(struct lc_spans *s, uint32_t engine)
{
	const struct lc_span_rows *r = s->rows;
	const struct lc_span_access **list = lc_mem_zeroed(r->accesses_len + 1, sizeof(*list));
	size_t len = 0;

	s->engine = engine == UINT32_MAX ? choose_engine(r) : engine;
	for (size_t i = 0; i < r->accesses_len; i++) {
		if (r->accesses[i].engine != s->engine)
			continue;
		list[len++] = &r->accesses[i];
		s->span_samples += r->accesses[i].samples;
	}
	qsort(list, len, sizeof(*list), order_by_owner);
	s->unfinished = lc_arena_zeroed(&s->arena, len, sizeof(*s->unfinished));
	for (size_t at = 0, run; at < len; at += run) {
		struct lc_spans_waits *w = owner(s, list[at]);

		run = lc_spans_run(&list[at], len - at, sizeof(*list), order_by_owner);
		if (!w) {
			struct lc_spans_unfinished *u = &s->unfinished[s->unfinished_len++];

			u->place = lc_spans_is_task(list[at]->kind) ? NULL : list[at]->place;
			u->type = list[at]->type;
			w = &u->waits;
		}
		make_waits(s, w, list + at, run);
	}
	free(list);
}
