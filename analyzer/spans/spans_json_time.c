/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_json_time.c - writes the JSON members about sizes and times: the heat map of spans by
 * size and level, CPU use and context switches of processes and threads, and collections.
 */
#include "analyzer/out/json.h"
#include "analyzer/spans/spans_command.h"

void lc_spans_json_thread(struct lc_json *j, const struct lc_spans *s, uint32_t thread)
{
	const struct lc_span_thread_row *t = &s->rows->threads[thread];

	lc_json_text(j, "thread", t->name);
	lc_json_u64(j, "tid", t->tid);
	lc_json_u64(j, "process", t->process);
}

static void heat(struct lc_json *j, const char *name, const struct lc_spans_heat *h)
{
	lc_json_array(j, name);
	for (unsigned level = 0; level < h->levels; level++) {
		for (unsigned c = 0; c < LC_SPANS_COLUMNS; c++) {
			const struct lc_spans_cell *cell = &h->cells[level * LC_SPANS_COLUMNS + c];

			if (!cell->count)
				continue;
			lc_json_line(j, 1);
			lc_json_object(j, NULL);
			lc_json_u64(j, "level", level);
			lc_json_fixed(j, "from_cycles", lc_spans_column_low(c), 0);
			lc_json_u64(j, "streams", cell->count);
			lc_json_real(j, "cycles", cell->cycles);
			lc_json_end_object(j);
		}
	}
	lc_json_end_array(j);
}

static void heat_map(struct lc_json *j, const struct lc_spans *s)
{
	lc_json_line(j, 0);
	lc_json_object(j, "heat_map");
	lc_json_u64(j, "base", 2);
	heat(j, "streams", &s->heat);
	lc_json_line(j, 0);
	heat(j, "support", &s->support);
	lc_json_end_object(j);
}

/* Write [start, ns of CPU time, voluntary and involuntary switches] of each interval. */
static void points(struct lc_json *j, const struct lc_spans_point *p, size_t len)
{
	lc_json_array(j, "points");
	for (size_t i = 0; i < len; i++) {
		lc_json_array(j, NULL);
		lc_json_i64(j, NULL, p[i].start_ns);
		lc_json_u64(j, NULL, p[i].cpu_ns);
		lc_json_u64(j, NULL, p[i].voluntary);
		lc_json_u64(j, NULL, p[i].involuntary);
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
}

static void timeline(struct lc_json *j, const struct lc_spans *s)
{
	lc_json_line(j, 0);
	lc_json_object(j, "timeline");
	lc_json_u64(j, "interval_ns", LC_TIMELINE_NS);
	lc_json_array(j, "processes");
	for (size_t at = 0, end; at < s->timeline_len; at = end) {
		for (end = at;
		     end < s->timeline_len && s->timeline[end].process == s->timeline[at].process;)
			end++;
		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_json_u64(j, "process", s->timeline[at].process);
		points(j, s->timeline + at, end - at);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_line(j, 0);
	lc_json_array(j, "threads");
	for (size_t i = 0; i < s->threads_len; i++) {
		if (!s->threads[i].points_len)
			continue;
		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_spans_json_thread(j, s, s->threads[i].thread);
		points(j, s->threads[i].points, s->threads[i].points_len);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void pauses(struct lc_json *j, const struct lc_spans *s)
{
	lc_json_line(j, 0);
	lc_json_array(j, "gc_pauses");
	for (size_t i = 0; i < s->pauses_len; i++) {
		lc_json_object(j, NULL);
		lc_json_u64(j, "process", s->pauses[i].process);
		lc_json_i64(j, "start_ns", s->pauses[i].start_ns);
		lc_json_u64(j, "duration_ns", s->pauses[i].duration_ns);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

void lc_spans_json_time(struct lc_json *j, const struct lc_spans *s)
{
	heat_map(j, s);
	timeline(j, s);
	pauses(j, s);
}
