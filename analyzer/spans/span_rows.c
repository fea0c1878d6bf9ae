/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/span_rows.c - builds arrays of spans from the tree's rows, with every number resolved to
 * its name.
 */
#include "analyzer/spans/span_rows.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/tree_spans.h"
#include "analyzer/spans/span_running.h"
#include "src/base/sum.h"

/* ---- names ---- */

static struct lc_text no_text(void)
{
	return (struct lc_text){ "", 0 };
}

static struct lc_span_place *add_place(struct lc_span_rows *r)
{
	struct lc_span_place *p = lc_mem_zeroed(1, sizeof(*p));

	r->places = lc_mem_grow(r->places, &r->places_cap, r->places_len + 1, sizeof(p));
	r->places[r->places_len] = p;
	*p = (struct lc_span_place){
		.number = (uint32_t)r->places_len++,
		.line = -1,
		.class_name = no_text(),
		.method_name = no_text(),
		.signature = no_text(),
		.file = no_text(),
	};
	return p;
}

/* Find the place of a frame of the tree. Row n of the table is place n + 1. */
static uint32_t place_of_frame(struct lc_span_rows *r, uint32_t frame)
{
	const uint32_t *f = lc_table_key(&r->tree->frames, frame);
	const uint32_t key[2] = { f[LC_FRAME_METHOD], f[LC_FRAME_LINE1] };
	const uint32_t *method = lc_table_key(&r->tree->methods, key[0]);
	uint32_t number = lc_table_put(&r->by_code, key) + 1;

	if (number == r->places_len) {
		struct lc_span_place *p = add_place(r);

		p->method = key[0];
		p->line = (int32_t)key[1] - 1;
		p->class_name = lc_tree_text(r->tree, method[LC_METHOD_CLASS]);
		p->method_name = lc_tree_text(r->tree, method[LC_METHOD_NAME]);
		p->signature = lc_tree_text(r->tree, method[LC_METHOD_SIGNATURE]);
		p->file = lc_tree_text(r->tree, method[LC_METHOD_FILE]);
	}
	return number;
}

/* Make the places of all frames that end a path, so that later look-ups change nothing. */
static void build_places(struct lc_span_rows *r)
{
	lc_table_init(&r->by_code, 2, 0);
	add_place(r);
	r->frame_places = lc_mem_zeroed(r->tree->frames.count, sizeof(*r->frame_places));
	for (uint32_t path = 1; path < r->tree->paths.count; path++) {
		uint32_t frame = lc_table_key(&r->tree->paths, path)[LC_PATH_FRAME];

		r->frame_places[frame] = place_of_frame(r, frame);
	}
}

const struct lc_span_place *lc_span_rows_place(const struct lc_span_rows *r, uint32_t path)
{
	uint32_t frame;

	if (!path)
		return r->places[0];
	frame = lc_table_key(&r->tree->paths, path)[LC_PATH_FRAME];
	return r->places[r->frame_places[frame]];
}

static struct lc_text class_of(const struct lc_span_rows *r, uint32_t site)
{
	if (!site)
		return no_text();
	return lc_tree_text(r->tree, lc_table_key(&r->tree->sites, site)[LC_SITE_CLASS]);
}

static const struct lc_span_place *place_of_site(const struct lc_span_rows *r, uint32_t site)
{
	uint32_t path = site ? lc_table_key(&r->tree->sites, site)[LC_SITE_PATH] : 0;

	return lc_span_rows_place(r, path);
}

/* A stream's place is its terminal operation, a task's place is where it was created. */
static const struct lc_span_place *place_of_span(const struct lc_span_rows *r, uint32_t site,
                                                 uint32_t path)
{
	return path ? lc_span_rows_place(r, path) : place_of_site(r, site);
}

/* ---- the manifest ---- */

static void build_info(struct lc_span_info *info, const json_t *spans)
{
	const json_t *costs = json_object_get(spans, "costs");
	json_int_t hz = json_integer_value(json_object_get(spans, "clock_hz"));
	const struct {
		const char *name;
		const char **to;
	} texts[] = {
		{ "streams_error", &info->streams_error },
		{ "tasks_error", &info->tasks_error },
		{ "clock", &info->clock },
		{ "clock_reason", &info->clock_reason },
		{ "calibration", &info->calibration },
		{ "calibration_warning", &info->calibration_warning },
	};

	info->recorded = true;
	info->streams = json_is_true(json_object_get(spans, "streams"));
	info->tasks = json_is_true(json_object_get(spans, "tasks"));
	info->nested = json_is_true(json_object_get(spans, "nested"));
	info->clock_hz = hz > 0 ? (uint64_t)hz : 0;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i].to = json_string_value(json_object_get(spans, texts[i].name));
	info->costs = lc_mem_zeroed(json_array_size(costs), sizeof(*info->costs));
	for (size_t i = 0; i < json_array_size(costs); i++) {
		const json_t *row = json_array_get(costs, i);
		const char *name = json_string_value(json_object_get(row, "name"));

		if (!name)
			continue;
		info->costs[info->costs_len++] = (struct lc_span_cost){
			.name = name,
			.mean_cycles = json_number_value(json_object_get(row, "mean_cycles")),
			.variation = json_number_value(json_object_get(row, "variation")),
		};
	}
}

/* ---- rows ---- */

static void build_threads(struct lc_span_rows *r)
{
	const struct lc_table *threads = &r->tree->threads;

	r->threads_len = threads->count;
	r->threads = lc_mem_zeroed(r->threads_len, sizeof(*r->threads));
	for (uint32_t i = 0; i < threads->count; i++) {
		const uint32_t *key = lc_table_key(threads, i);
		const uint64_t *values = lc_table_values(threads, i);

		r->threads[i] = (struct lc_span_thread_row){
			.process = key[LC_THREAD_PROCESS],
			.index = key[LC_THREAD_INDEX],
			.tid = (uint32_t)values[LC_THREAD_TID],
			.name = lc_tree_text(r->tree, (uint32_t)values[LC_THREAD_NAME]),
			.begin_ns = values[LC_THREAD_BEGIN_NS],
			.end_ns = values[LC_THREAD_END_NS],
		};
	}
}

static bool has_caller(const struct lc_span_rows *r, uint32_t path)
{
	return path && lc_tree_parent(r->tree, path);
}

/* Fill in the names of a row's kind, sites and paths. */
static void name_row(struct lc_span_rows *r, struct lc_span_row *row)
{
	row->type = class_of(r, row->site);
	row->place = place_of_span(r, row->site, row->path);
	row->place_path = row->path;
	if (!row->path && row->site)
		row->place_path = lc_table_key(&r->tree->sites, row->site)[LC_SITE_PATH];
	row->submitted = lc_span_rows_place(r, row->submit_path);
	r->whole_paths |= has_caller(r, row->place_path) || has_caller(r, row->submit_path);
}

/* Did the row's process record the cycles inside spans? */
static bool tells_nested(const struct lc_span_rows *r, const struct lc_span_row *row)
{
	return r->infos[r->threads[row->thread].process].nested;
}

static void build_row(struct lc_span_rows *r, uint32_t number)
{
	const uint32_t *key = lc_table_key(&r->tree->executions, number);
	const uint64_t *values = lc_table_values(&r->tree->executions, number);
	struct lc_span_row *row = &r->rows[number];

	row->thread = key[LC_EXECUTION_THREAD];
	row->kind = (uint8_t)key[LC_EXECUTION_KIND];
	row->level = (uint8_t)key[LC_EXECUTION_LEVEL];
	row->submit_kind = (uint8_t)key[LC_EXECUTION_SUBMIT];
	row->site = key[LC_EXECUTION_SITE];
	row->path = key[LC_EXECUTION_PATH];
	row->submit_path = key[LC_EXECUTION_SUBMIT_PATH];
	name_row(r, row);
	row->executions = values[LC_EXECUTION_COUNT];
	row->folded = values[LC_EXECUTION_FOLDED];
	row->cycles = values[LC_EXECUTION_CYCLES];
	row->compensated = (int64_t)values[LC_EXECUTION_COMPENSATED];
	row->total_unknown =
	    !lc_tree_spans_total(r->tree, number, tells_nested(r, row), &row->total);
	row->negative = values[LC_EXECUTION_NEGATIVE];
	row->switches = values[LC_EXECUTION_SWITCHES];
	row->gc_count = values[LC_EXECUTION_GC_COUNT];
	row->gc_ns = values[LC_EXECUTION_GC_NS];
	row->wait_ns = values[LC_EXECUTION_WAIT_NS];
	row->waits = values[LC_EXECUTION_WAITS];
	row->wall_ns = values[LC_EXECUTION_WALL_NS];
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		row->nested[i] = values[LC_EXECUTION_NESTED + i];
}

static void build_rows(struct lc_span_rows *r)
{
	struct lc_tree_spans s;
	uint32_t count = r->tree->executions.count;

	lc_tree_spans_build(&s, r->tree);
	r->rows_len = count;
	r->rows = lc_mem_zeroed(count + r->tree->running.count, sizeof(*r->rows));
	r->buckets = lc_mem_zeroed(s.bucket_first[count], sizeof(*r->buckets));
	r->intervals = lc_mem_zeroed(s.interval_first[count], sizeof(*r->intervals));
	for (uint32_t i = 0; i < s.bucket_first[count]; i++)
		r->buckets[i] = (struct lc_span_bucket){ s.buckets[i].bucket, s.buckets[i].count };
	for (uint32_t i = 0; i < s.interval_first[count]; i++)
		r->intervals[i] =
		    (struct lc_span_interval){ s.intervals[i].first_ns, s.intervals[i].last_ns };
	for (uint32_t i = 0; i < count; i++) {
		build_row(r, i);
		r->rows[i].histogram = r->buckets + s.bucket_first[i];
		r->rows[i].histogram_len = s.bucket_first[i + 1] - s.bucket_first[i];
		r->rows[i].intervals = r->intervals + s.interval_first[i];
		r->rows[i].intervals_len = s.interval_first[i + 1] - s.interval_first[i];
	}
	lc_tree_spans_free(&s);
}

/* ---- spans that have not ended ---- */

static void build_running_row(struct lc_span_rows *r, struct lc_span_row *row,
                              const struct lc_span_running *span, struct lc_span_interval *interval)
{
	const uint32_t *key = lc_table_key(&r->tree->running, span->row);
	const uint64_t end_ns = lc_load_shown_end_ns(&r->load->processes[span->process]);
	uint64_t total;

	row->thread = key[LC_RUNNING_THREAD];
	row->kind = (uint8_t)key[LC_RUNNING_KIND];
	row->level = (uint8_t)key[LC_RUNNING_LEVEL];
	row->submit_kind = (uint8_t)key[LC_RUNNING_SUBMIT];
	row->site = key[LC_RUNNING_SITE];
	row->path = key[LC_RUNNING_PATH];
	row->submit_path = key[LC_RUNNING_SUBMIT_PATH];
	name_row(r, row);
	row->running = 1;
	row->histogram = r->buckets;
	row->intervals = interval;
	row->total_unknown = !tells_nested(r, row);
	if (!span->folded) {
		row->cycles = span->cycles;
		row->compensated = lc_tree_spans_signed(span->compensated);
		total = (uint64_t)row->compensated;
		lc_sum_add_signed(&total,
		                  row->total_unknown ? 0 : lc_tree_spans_signed(span->inside));
		row->total = (int64_t)total;
	}
	if (!span->begin_ns || end_ns < span->begin_ns)
		return;
	row->wall_ns = end_ns - span->begin_ns;
	row->intervals_len = 1;
	*interval = (struct lc_span_interval){ span->begin_ns, end_ns };
}

static void build_running(struct lc_span_rows *r)
{
	size_t len;
	struct lc_span_running *list = lc_span_running_list(r, &len);

	r->running_intervals = lc_mem_zeroed(len + 1, sizeof(*r->running_intervals));
	for (size_t i = 0; i < len; i++)
		build_running_row(r, &r->rows[r->rows_len++], &list[i], &r->running_intervals[i]);
	free(list);
}

static void build_made(struct lc_span_rows *r)
{
	const struct lc_table *made = &r->tree->tasks_made;

	r->made_len = made->count;
	r->made = lc_mem_zeroed(r->made_len, sizeof(*r->made));
	for (uint32_t i = 0; i < made->count; i++) {
		const uint32_t *key = lc_table_key(made, i);

		r->made[i] = (struct lc_span_made){
			.thread = key[LC_MADE_THREAD],
			.submit_kind = (uint8_t)key[LC_MADE_SUBMIT],
			.site = key[LC_MADE_SITE],
			.submit_path = key[LC_MADE_SUBMIT_PATH],
			.type = class_of(r, key[LC_MADE_SITE]),
			.place = place_of_site(r, key[LC_MADE_SITE]),
			.submitted = lc_span_rows_place(r, key[LC_MADE_SUBMIT_PATH]),
			.count = *lc_table_values(made, i),
		};
	}
}

static void build_accesses(struct lc_span_rows *r)
{
	const struct lc_table *accesses = &r->tree->span_accesses;

	r->accesses_len = accesses->count;
	r->accesses = lc_mem_zeroed(r->accesses_len, sizeof(*r->accesses));
	for (uint32_t i = 0; i < accesses->count; i++) {
		const uint32_t *key = lc_table_key(accesses, i);

		r->accesses[i] = (struct lc_span_access){
			.kind = (uint8_t)key[LC_INSIDE_KIND],
			.span_site = key[LC_INSIDE_SPAN_SITE],
			.span_path = key[LC_INSIDE_SPAN_PATH],
			.type = class_of(r, key[LC_INSIDE_SPAN_SITE]),
			.place =
			    place_of_span(r, key[LC_INSIDE_SPAN_SITE], key[LC_INSIDE_SPAN_PATH]),
			.engine = key[LC_INSIDE_ENGINE],
			.bucket = key[LC_INSIDE_BUCKET],
			.site = key[LC_INSIDE_SITE],
			.path = key[LC_INSIDE_PATH],
			.object = class_of(r, key[LC_INSIDE_SITE]),
			.allocated = place_of_site(r, key[LC_INSIDE_SITE]),
			.samples = *lc_table_values(accesses, i),
		};
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void build_looks(struct lc_span_rows *r)
{
	const struct lc_table *looks = &r->tree->looks;

	r->looks = lc_mem_zeroed(r->places_len, sizeof(*r->looks));
	for (uint32_t i = 0; i < looks->count; i++) {
		const uint32_t *key = lc_table_key(looks, i);
		const uint64_t *values = lc_table_values(looks, i);
		struct lc_span_look *l =
		    &r->looks[lc_span_rows_place(r, key[LC_LOOK_PATH])->number];

		/* Sums saturate. In a damaged profile a part may be larger than its whole. */
		lc_sum_add(&l->looked, values[LC_LOOK_LOOKED]);
		lc_sum_add(&l->comparable, values[LC_LOOK_COMPARABLE]);
		lc_sum_add(&l->repeated, values[LC_LOOK_REPEATED]);
		lc_sum_add(&l->changed, values[LC_LOOK_CHANGED]);
		lc_sum_add(&l->plain, values[LC_LOOK_PLAIN]);
	}
	for (size_t i = 0; i < r->places_len; i++) {
		struct lc_span_look *l = &r->looks[i];

		l->comparable = least(l->comparable, l->looked);
		l->repeated = least(l->repeated, l->comparable);
		l->changed = least(l->changed, l->comparable - l->repeated);
		l->plain = least(l->plain, l->comparable);
	}
}

/* ---- sorted arrays ---- */

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Order threads by process and by number in the process. */
static int order_threads(const struct lc_span_rows *r, uint32_t a, uint32_t b)
{
	int by_process = order(r->threads[a].process, r->threads[b].process);

	return by_process ? by_process : order(r->threads[a].index, r->threads[b].index);
}

static int by_thread_and_time(const void *a, const void *b, void *rows)
{
	const struct lc_span_slice *x = a, *y = b;
	int by_thread = order_threads(rows, x->thread, y->thread);

	return by_thread ? by_thread : order(x->start_ns, y->start_ns);
}

static void build_slices(struct lc_span_rows *r)
{
	const struct lc_table *slices = &r->tree->timeline;

	r->slices_len = slices->count;
	r->slices = lc_mem_zeroed(r->slices_len, sizeof(*r->slices));
	for (uint32_t i = 0; i < slices->count; i++) {
		const uint32_t *key = lc_table_key(slices, i);
		const uint64_t *values = lc_table_values(slices, i);

		r->slices[i] = (struct lc_span_slice){
			.thread = key[LC_SLICE_THREAD],
			.start_ns = lc_tree_wide(key + LC_SLICE_NUMBER) * LC_TIMELINE_NS,
			.cpu_ns = values[LC_SLICE_CPU_NS],
			.voluntary = values[LC_SLICE_VOLUNTARY],
			.involuntary = values[LC_SLICE_INVOLUNTARY],
		};
	}
	qsort_r(r->slices, r->slices_len, sizeof(*r->slices), by_thread_and_time, r);
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct lc_span_pause *x = a, *y = b;
	int by_process = order(x->process, y->process), by_start = order(x->start_ns, y->start_ns);

	if (by_process || by_start)
		return by_process ? by_process : by_start;
	return order(y->duration_ns, x->duration_ns);
}

/* A pause may be in the blocks of several threads. Keep the longest of those with one start. */
static void build_pauses(struct lc_span_rows *r)
{
	const struct lc_table *pauses = &r->tree->pauses;
	size_t len = 0;

	r->pauses = lc_mem_zeroed(pauses->count, sizeof(*r->pauses));
	for (uint32_t i = 0; i < pauses->count; i++) {
		const uint32_t *key = lc_table_key(pauses, i);

		r->pauses[i] = (struct lc_span_pause){
			.process = r->threads[key[LC_PAUSE_THREAD]].process,
			.start_ns = lc_tree_wide(key + LC_PAUSE_START),
			.duration_ns = *lc_table_values(pauses, i),
		};
	}
	qsort(r->pauses, pauses->count, sizeof(*r->pauses), by_process_and_time);
	for (uint32_t i = 0; i < pauses->count; i++)
		if (!len || r->pauses[i].process != r->pauses[len - 1].process ||
		    r->pauses[i].start_ns != r->pauses[len - 1].start_ns)
			r->pauses[len++] = r->pauses[i];
	r->pauses_len = len;
}

static int by_start(const void *a, const void *b, void *rows)
{
	const struct lc_span_rows *r = rows;
	const struct lc_span_trace *x = a, *y = b;
	int by_process = order(r->threads[x->thread].process, r->threads[y->thread].process);
	int by_time = order(x->start_ns, y->start_ns);

	if (by_process || by_time)
		return by_process ? by_process : by_time;
	return order(x->id, y->id);
}

static void build_traces(struct lc_span_rows *r)
{
	r->traces_len = r->tree->traces_len;
	r->traces = lc_mem_zeroed(r->traces_len, sizeof(*r->traces));
	for (size_t i = 0; i < r->traces_len; i++) {
		const struct lc_block_trace *t = &r->tree->traces[i].row;
		uint32_t thread = r->tree->traces[i].thread;
		const uint32_t key[LC_THREAD_KEY] = { r->threads[thread].process, t->creator - 1 };

		r->traces[i] = (struct lc_span_trace){
			.thread = thread,
			.creator =
			    t->creator ? lc_table_find(&r->tree->threads, key) : LC_SPAN_NO_THREAD,
			.id = t->id,
			.outer = t->outer,
			.logical = t->logical,
			.kind = t->kind,
			.level = t->level,
			.submit_kind = t->submit_kind,
			.flags = t->flags,
			.site = t->site,
			.path = t->path,
			.submit_path = t->submit_path,
			.type = class_of(r, t->site),
			.place = place_of_span(r, t->site, t->path),
			.submitted = lc_span_rows_place(r, t->submit_path),
			.start_ns = t->start_ns,
			.duration_ns = t->duration_ns,
			.cycles = t->cycles,
			.compensated = t->compensated,
			.switches = t->switches,
			.wait_ns = t->wait_ns,
		};
	}
	qsort_r(r->traces, r->traces_len, sizeof(*r->traces), by_start, r);
}

_Static_assert(LC_SPAN_NO_THREAD == UINT32_MAX, "what lc_table_find() says of a missing row");

void lc_span_rows_build(struct lc_span_rows *r, const struct lc_load *load)
{
	memset(r, 0, sizeof(*r));
	r->load = load;
	r->tree = load->tree;
	r->infos = lc_mem_zeroed(load->processes_len, sizeof(*r->infos));
	for (size_t i = 0; i < load->processes_len; i++)
		if (load->processes[i].spans)
			build_info(&r->infos[i], load->processes[i].spans);
	build_places(r);
	build_threads(r);
	build_rows(r);
	build_running(r);
	build_made(r);
	build_accesses(r);
	build_looks(r);
	build_slices(r);
	build_pauses(r);
	build_traces(r);
}

void lc_span_rows_free(struct lc_span_rows *r)
{
	for (size_t i = 0; r->infos && i < r->load->processes_len; i++)
		free(r->infos[i].costs);
	free(r->infos);
	for (size_t i = 0; i < r->places_len; i++)
		free(r->places[i]);
	free(r->places);
	free(r->threads);
	free(r->rows);
	free(r->made);
	free(r->accesses);
	free(r->looks);
	free(r->slices);
	free(r->pauses);
	free(r->traces);
	free(r->buckets);
	free(r->intervals);
	free(r->running_intervals);
	free(r->frame_places);
	lc_table_free(&r->by_code);
	memset(r, 0, sizeof(*r));
}

bool lc_span_rows_any(const struct lc_span_rows *r)
{
	for (size_t i = 0; i < r->load->processes_len; i++)
		if (r->infos[i].recorded)
			return true;
	return lc_tree_has_spans(r->tree);
}
