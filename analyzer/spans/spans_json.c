/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_json.c - writes the spans report as JSON; docs/JSON.md explains each member.
 *
 * This file is longer than 600 lines: one function writes each object of that page.
 */
#include "analyzer/spans/spans_command.h"

#include <stdio.h>

#include "analyzer/out/html.h"
#include "analyzer/out/json.h"
#include "analyzer/out/json_processes.h"
#include "analyzer/out/own.h"
#include "analyzer/spans/spans_impl.h"

/* Write a place's members into the open object. */
static void place_members(struct lc_json *j, const struct lc_span_place *p)
{
	lc_json_text(j, "class", p->class_name);
	lc_json_text(j, "method", p->method_name);
	lc_json_i64(j, "line", p->line);
	lc_json_text(j, "file", p->file);
}

/* Write a place as an object; null if the place is unknown. */
static void place(struct lc_json *j, const char *name, const struct lc_span_place *p)
{
	if (!p || !p->number) {
		lc_json_null(j, name);
		return;
	}
	lc_json_object(j, name);
	place_members(j, p);
	lc_json_end_object(j);
}

/* Write an element [a,b]. */
static void pair(struct lc_json *j, uint64_t a, uint64_t b)
{
	lc_json_array(j, NULL);
	lc_json_u64(j, NULL, a);
	lc_json_u64(j, NULL, b);
	lc_json_end_array(j);
}

static void histogram(struct lc_json *j, const uint64_t *h)
{
	lc_json_array(j, "histogram");
	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++)
		if (h[b])
			pair(j, lc_span_bucket_low(b), h[b]);
	lc_json_end_array(j);
}

static void nested(struct lc_json *j, const uint64_t *counts)
{
	lc_json_object(j, "nested");
	lc_json_u64(j, "anonymous", counts[0]);
	lc_json_u64(j, "primordial", counts[1]);
	lc_json_u64(j, "support", counts[2]);
	lc_json_u64(j, "task", counts[3]);
	lc_json_end_object(j);
}

/* Write cycles with those of spans inside; null if an old profile does not tell. */
static void total(struct lc_json *j, int64_t cycles, bool unknown)
{
	if (unknown)
		lc_json_null(j, "total_cycles");
	else
		lc_json_i64(j, "total_cycles", cycles);
}

/* Write all figures of a sum. */
static void sum(struct lc_json *j, const struct lc_spans_sum *s)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = { { "p10", 0.1 }, { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 } };

	lc_json_u64(j, "executions", s->executions);
	lc_json_u64(j, "running", s->running);
	lc_json_i64(j, "running_cycles", s->running_cycles);
	lc_json_u64(j, "cycles", s->measured);
	lc_json_i64(j, "compensated_cycles", s->cycles);
	total(j, s->total, s->total_unknown);
	lc_json_u64(j, "negative", s->negative);
	lc_json_u64(j, "context_switches", s->switches);
	lc_json_u64(j, "wall_ns", s->wall_ns);
	lc_json_u64(j, "gc_pauses", s->gc_count);
	lc_json_u64(j, "gc_ns", s->gc_ns);
	nested(j, s->nested);
	for (unsigned i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		lc_json_known(j, quantiles[i].name,
		              lc_spans_quantile(s->histogram, quantiles[i].q));
	if (s->executions + s->running && s->first_ns <= s->last_ns) {
		lc_json_u64(j, "first_ns", s->first_ns);
		lc_json_u64(j, "last_ns", s->last_ns);
	} else {
		lc_json_null(j, "first_ns");
		lc_json_null(j, "last_ns");
	}
	histogram(j, s->histogram);
}

static void task_sum(struct lc_json *j, const struct lc_spans_sum *s)
{
	sum(j, s);
	lc_json_u64(j, "folded", s->folded);
	lc_json_u64(j, "waits", s->waits);
	lc_json_u64(j, "wait_ns", s->wait_ns);
}

/* Write the members of a worker into the open object. */
static void worker(struct lc_json *j, const struct lc_spans_worker *w)
{
	lc_json_u64(j, "executions", w->executions);
	lc_json_u64(j, "running", w->running);
	lc_json_i64(j, "compensated_cycles", w->cycles);
	lc_json_u64(j, "context_switches", w->switches);
}

static void balance(struct lc_json *j, const struct lc_spans *s, const struct lc_spans_balance *b)
{
	lc_json_array(j, "workers");
	for (size_t i = 0; i < b->workers_len; i++) {
		lc_json_object(j, NULL);
		lc_spans_json_thread(j, s, b->workers[i].thread);
		worker(j, &b->workers[i]);
		lc_json_i64(j, "total_cycles", b->workers[i].total);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_known(j, "variation", b->variation);
}

static void active(struct lc_json *j, const struct lc_spans_active *a)
{
	lc_json_array(j, "active");
	for (size_t i = 0; i < a->len; i++)
		pair(j, a->intervals[i].first_ns, a->intervals[i].last_ns);
	lc_json_end_array(j);
}

/* Write the call paths of a location or of a type. */
static void paths(struct lc_json *j, const struct lc_spans *s, const struct lc_spans_paths *of,
                  bool tasks)
{
	lc_json_array(j, "paths");
	for (size_t i = 0; i < of->len; i++) {
		const struct lc_spans_path *p = &of->rows[i];

		lc_json_object(j, NULL);
		lc_json_string(j, "kind", lc_span_kind_name(p->kind));
		lc_json_u64(j, "level", p->level);
		lc_json_u64(j, "executions", p->executions);
		lc_json_u64(j, "running", p->running);
		lc_json_u64(j, "cycles", p->measured);
		lc_json_i64(j, "compensated_cycles", p->cycles);
		total(j, p->total, p->total_unknown);
		lc_json_path(j, tasks ? "creation_path" : "path", s->tree, p->path);
		if (tasks) {
			lc_json_u64(j, "folded", p->folded);
			lc_json_path(j, "submission_path", s->tree, p->submit_path);
		}
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* ---- the head ---- */

static void calibration(struct lc_json *j, const struct lc_span_info *i)
{
	lc_json_line(j, 0);
	lc_json_object(j, "calibration");
	lc_json_string(j, "source", i->calibration);
	lc_json_string(j, "warning", i->calibration_warning);
	lc_json_object(j, "costs");
	for (size_t k = 0; k < i->costs_len; k++) {
		lc_json_object(j, i->costs[k].name);
		lc_json_real(j, "mean_cycles", i->costs[k].mean_cycles);
		lc_json_real(j, "variation", i->costs[k].variation);
		lc_json_end_object(j);
	}
	lc_json_end_object(j);
	lc_json_end_object(j);
}

static void info(struct lc_json *j, const struct lc_spans_report *r)
{
	const struct lc_span_info *first = lc_spans_info(r->spans), none = { 0 };
	const struct lc_span_info *i = first ? first : &none;

	lc_json_line(j, 0);
	lc_json_object(j, "clock");
	lc_json_string(j, "name", i->clock);
	lc_json_u64(j, "hz", i->clock_hz);
	lc_json_string(j, "reason", i->clock_reason);
	lc_json_end_object(j);
	calibration(j, i);
	lc_json_line(j, 0);
	lc_json_object(j, "recorded");
	lc_json_bool(j, "streams", i->streams);
	lc_json_bool(j, "tasks", i->tasks);
	lc_json_string(j, "streams_error", i->streams_error);
	lc_json_string(j, "tasks_error", i->tasks_error);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	lc_json_array(j, "warnings");
	for (size_t k = 0; k < r->warnings_len; k++)
		lc_json_string(j, NULL, r->warnings[k]);
	lc_json_end_array(j);
}

static void processes(struct lc_json *j, const struct lc_spans *s)
{
	lc_json_line(j, 0);
	lc_json_array(j, "processes");
	for (uint32_t i = 0; i < s->load->processes_len; i++) {
		const struct lc_load_process *p = &s->load->processes[i];

		lc_json_object(j, NULL);
		lc_json_string(j, "command", p->command);
		lc_json_string(j, "jdk", p->jdk);
		lc_json_string(j, "gc", p->gc);
		lc_json_host(j, p);
		lc_json_i64(j, "pid", p->pid);
		lc_json_bool(j, "complete", p->complete);
		lc_json_u64(j, "duration_ns", lc_spans_since(s, i, lc_load_end_ns(p)));
		lc_json_u64(j, "start_wall_ns", p->start_wall_ns);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_line(j, 0);
	lc_json_u64(j, "cpus", s->cpus);
}

static void totals(struct lc_json *j, const struct lc_spans *s)
{
	lc_json_line(j, 0);
	lc_json_object(j, "totals");
	for (unsigned k = 0; k < LC_SPAN_KINDS; k++)
		lc_json_u64(j, lc_span_kind_name(k), s->kinds[k]);
	lc_json_u64(j, "streams", lc_spans_stream_count(s));
	lc_json_fixed(j, "stream_cycles", lc_spans_stream_cycles(s), 0);
	lc_json_fixed(j, "task_cycles", lc_spans_task_cycles(s), 0);
	lc_json_u64(j, "created", s->created);
	lc_json_bool(j, "created_in_part", s->part > 0);
	lc_json_u64(j, "submitted", s->submitted);
	lc_json_u64(j, "executed", lc_spans_executed(&s->tasks_sum, &s->threads_sum));
	lc_json_u64(j, "folded", s->tasks_sum.folded + s->threads_sum.folded);
	lc_json_u64(j, "dropped", s->dropped);
	lc_json_u64(j, "running",
	            s->streams_sum.running + s->support_sum.running + s->tasks_sum.running +
	                s->threads_sum.running);
	lc_json_u64(j, "negative",
	            s->streams_sum.negative + s->support_sum.negative + s->tasks_sum.negative +
	                s->threads_sum.negative);
	lc_json_end_object(j);
}

/* ---- tables ---- */

static void streams(struct lc_json *j, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	lc_json_line(j, 0);
	lc_json_array(j, "streams");
	for (size_t i = 0; i < s->streams_len && i < r->top; i++) {
		const struct lc_spans_stream *g = &s->streams[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		place_members(j, g->place);
		lc_json_string(j, "kind", lc_span_kind_name(g->kind));
		lc_json_u64(j, "level", g->level);
		sum(j, &g->sum);
		lc_json_real(j, "share_of_cycles",
		             lc_spans_share((double)g->sum.cycles, lc_spans_stream_cycles(s)));
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void look(struct lc_json *j, const struct lc_span_look *l)
{
	lc_json_object(j, "looked_at");
	lc_json_u64(j, "executions", l->looked);
	lc_json_u64(j, "comparable", l->comparable);
	lc_json_u64(j, "repeated", l->repeated);
	lc_json_u64(j, "changed", l->changed);
	lc_json_u64(j, "plain", l->plain);
	lc_json_end_object(j);
}

static void locations(struct lc_json *j, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	lc_json_line(j, 0);
	lc_json_array(j, "locations");
	for (size_t i = 0; i < s->locations_len && i < r->top; i++) {
		const struct lc_spans_location *l = &s->locations[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		place_members(j, l->place);
		lc_json_u64(j, "streams", l->streams);
		lc_json_real(j, "share_of_streams",
		             lc_spans_share((double)l->streams, (double)lc_spans_stream_count(s)));
		lc_json_real(j, "share_of_cycles",
		             lc_spans_share((double)l->sum.cycles, lc_spans_stream_cycles(s)));
		lc_json_object(j, "kinds");
		for (unsigned k = 0; k < LC_SPAN_TASK; k++)
			lc_json_u64(j, lc_span_kind_name(k), l->kinds[k]);
		lc_json_end_object(j);
		lc_json_u64(j, "levels", l->levels);
		look(j, l->look);
		sum(j, &l->sum);
		balance(j, s, &l->shared);
		active(j, &l->active);
		paths(j, s, &l->paths, false);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* Write where the tasks of a type were created, and how and where they were submitted. */
static void origin(struct lc_json *j, const struct lc_span_place *creation, uint32_t submit_kind,
                   const struct lc_span_place *submission)
{
	place(j, "creation", creation);
	lc_json_string(j, "submit_kind", lc_submit_kind_name(submit_kind));
	place(j, "submission", submission);
}

static void tasks(struct lc_json *j, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	lc_json_line(j, 0);
	lc_json_array(j, "tasks");
	for (size_t i = 0; i < s->tasks_len && i < r->top; i++) {
		const struct lc_spans_task *g = &s->tasks[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_json_text(j, "type", g->type);
		lc_json_string(j, "kind", lc_span_kind_name(g->kind));
		origin(j, g->place, g->submit_kind, g->submit_place);
		lc_json_u64(j, "submitted", g->submitted);
		task_sum(j, &g->sum);
		lc_json_real(j, "share_of_cycles",
		             lc_spans_share((double)g->sum.cycles, lc_spans_task_cycles(s)));
		paths(j, s, &g->paths, true);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* Write [cycles, part of the executions that take at most as many] for each non-empty bucket. */
static void cdf(struct lc_json *j, const uint64_t *h)
{
	const double n = (double)lc_spans_count(h);
	uint64_t below = 0;

	lc_json_array(j, "cdf");
	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++) {
		if (!h[b])
			continue;
		below += h[b];
		lc_json_array(j, NULL);
		lc_json_u64(j, NULL, lc_spans_bucket_end(b) - 1);
		lc_json_real(j, NULL, (double)below / n);
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
}

static void type(struct lc_json *j, const struct lc_spans *s, const struct lc_spans_type *t)
{
	double cycles = (double)t->sum.cycles + (double)t->threads.cycles;

	lc_json_text(j, "type", t->name);
	lc_json_text(j, "label", t->label);
	lc_json_u64(j, "created", t->created);
	lc_json_bool(j, "created_in_part", t->part);
	lc_json_u64(j, "submitted", t->submitted);
	lc_json_u64(j, "executed", lc_spans_executed(&t->sum, &t->threads));
	lc_json_u64(j, "dropped", t->dropped);
	lc_json_u64(j, "as_threads", t->threads.executions);
	lc_json_u64(j, "running_as_threads", t->threads.running);
	lc_json_i64(j, "thread_cycles", t->threads.cycles);
	if (t->threads.total_unknown)
		lc_json_null(j, "thread_total_cycles");
	else
		lc_json_i64(j, "thread_total_cycles", t->threads.total);
	lc_json_real(j, "share_of_cycles", lc_spans_share(cycles, lc_spans_task_cycles(s)));
	origin(j, t->creation, t->submit_kind, t->submission);
	task_sum(j, &t->sum);
	cdf(j, t->sum.histogram);
	balance(j, s, &t->shared);
	active(j, &t->active);
	paths(j, s, &t->paths, true);
}

static void types(struct lc_json *j, const struct lc_spans_report *r)
{
	lc_json_line(j, 0);
	lc_json_array(j, "types");
	for (size_t i = 0; i < r->spans->types_len && i < r->top; i++) {
		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		type(j, r->spans, &r->spans->types[i]);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void workers(struct lc_json *j, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;
	double all = lc_spans_stream_cycles(s) + lc_spans_task_cycles(s);

	lc_json_line(j, 0);
	lc_json_array(j, "workers");
	for (size_t i = 0; i < s->threads_len && i < r->top; i++) {
		const struct lc_spans_thread *t = &s->threads[i];
		const struct lc_spans_worker *const parts[] = { &t->streams, &t->tasks, &t->self };
		static const char *const names[] = { "streams", "tasks", "thread_spans" };

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_spans_json_thread(j, s, t->thread);
		lc_json_i64(j, "compensated_cycles", t->cycles);
		lc_json_real(j, "share_of_cycles", lc_spans_share((double)t->cycles, all));
		lc_json_u64(j, "cpu_ns", t->cpu_ns);
		lc_json_u64(j, "voluntary", t->voluntary);
		lc_json_u64(j, "involuntary", t->involuntary);
		for (unsigned k = 0; k < 3; k++) {
			lc_json_object(j, names[k]);
			worker(j, parts[k]);
			lc_json_end_object(j);
		}
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_known(j, "workers_variation", s->balance.variation);
}

/* ---- objects waited for ---- */

static void waited(struct lc_json *j, const struct lc_spans *s, const struct lc_spans_waits *w,
                   const struct lc_spans_waited *row)
{
	const uint32_t *key = lc_table_key(&s->tree->sites, row->site);

	lc_json_line(j, 1);
	lc_json_object(j, NULL);
	lc_json_id(j, "id", lc_tree_site_id(s->tree, row->site));
	lc_json_string(j, "bucket", lc_bucket_name(row->bucket));
	lc_json_text(j, "class", lc_tree_text(s->tree, key[LC_SITE_CLASS]));
	lc_json_u64(j, "samples", row->samples);
	lc_json_real(j, "share", lc_spans_share((double)row->samples, (double)w->samples));
	lc_json_path(j, "allocation_path", s->tree, key[LC_SITE_PATH]);
	lc_json_path(j, "access_path", s->tree, row->path);
	lc_json_end_object(j);
}

/* Write the objects of a location, or of a type if `where` is NULL. */
static void waits(struct lc_json *j, const struct lc_spans *s, const struct lc_span_place *where,
                  struct lc_text name, struct lc_text label, bool finished,
                  const struct lc_spans_waits *w)
{
	if (!w->samples)
		return;
	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	place(j, "location", where);
	if (where) {
		lc_json_null(j, "type");
		lc_json_null(j, "label");
	} else {
		lc_json_text(j, "type", name);
		lc_json_text(j, "label", label);
	}
	lc_json_bool(j, "finished", finished);
	lc_json_u64(j, "samples", w->samples);
	lc_json_real(j, "share", lc_spans_share((double)w->samples, (double)s->span_samples));
	lc_json_array(j, "objects");
	for (size_t i = 0; i < w->rows_len; i++)
		waited(j, s, w, &w->rows[i]);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void sites(struct lc_json *j, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;
	const struct lc_text none = { "", 0 };

	lc_json_line(j, 0);
	lc_json_object(j, "sites");
	lc_json_string(j, "engine",
	               s->engine < s->load->engines_len ? s->load->engines[s->engine].name : NULL);
	lc_json_u64(j, "samples", s->span_samples);
	lc_json_array(j, "places");
	for (size_t i = 0; i < s->locations_len && i < r->top; i++)
		waits(j, s, s->locations[i].place, none, none, s->locations[i].sum.executions != 0,
		      &s->locations[i].waits);
	for (size_t i = 0; i < s->types_len && i < r->top; i++)
		waits(j, s, NULL, s->types[i].name, s->types[i].label,
		      lc_spans_executed(&s->types[i].sum, &s->types[i].threads) != 0,
		      &s->types[i].waits);
	for (size_t i = 0; i < s->unfinished_len && i < r->top; i++)
		waits(j, s, s->unfinished[i].place, s->unfinished[i].type, s->unfinished[i].type,
		      false, &s->unfinished[i].waits);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

/* ---- diagnoses ---- */

/* Write which workers executed the subject of a diagnosis. */
static void execution(struct lc_json *j, const struct lc_spans *s, const struct lc_spans_balance *b)
{
	lc_json_object(j, "execution");
	lc_json_u64(j, "threads", b->workers_len);
	if (b->workers_len)
		lc_json_text(j, "busiest", s->rows->threads[b->workers[0].thread].name);
	else
		lc_json_null(j, "busiest");
	lc_json_end_object(j);
}

static void diagnosis(struct lc_json *j, const struct lc_spans *s,
                      const struct lc_spans_diagnosis *d)
{
	lc_json_string(j, "pattern", lc_spans_pattern_name(d->pattern));
	lc_json_string(j, "verdict", lc_spans_verdict_name(d->verdict));
	lc_json_string(j, "why_no_verdict", d->why);
	if (d->type) {
		lc_json_text(j, "type", d->type->name);
		lc_json_text(j, "label", d->type->label);
	} else {
		lc_json_null(j, "type");
		lc_json_null(j, "label");
	}
	place(j, "location", d->location ? d->location->place : NULL);
	place(j, "creation", d->type ? d->type->creation : NULL);
	place(j, "submission", d->type ? d->type->submission : NULL);
	if (d->type)
		execution(j, s, &d->type->shared);
	else if (d->location)
		execution(j, s, &d->location->shared);
	lc_json_i64(j, "compensated_cycles", d->cycles);
	lc_json_string(j, "summary", d->summary);
	lc_json_array(j, "evidence");
	for (size_t k = 0; k < d->evidence_len; k++)
		lc_json_string(j, NULL, d->evidence[k]);
	lc_json_end_array(j);
	lc_json_string(j, "change", d->advice);
}

static void diagnoses(struct lc_json *j, const struct lc_spans_report *r)
{
	lc_json_line(j, 0);
	lc_json_array(j, "diagnoses");
	for (size_t i = 0; i < r->spans->diagnoses_len && i < r->top; i++) {
		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		diagnosis(j, r->spans, &r->spans->diagnoses[i]);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void traced(struct lc_json *j, const struct lc_spans *s)
{
	lc_json_line(j, 0);
	lc_json_object(j, "trace");
	lc_json_u64(j, "spans", s->trace.rows);
	if (s->trace.rows) {
		lc_json_u64(j, "spans_counted", s->trace.rows_online);
		lc_json_u64(j, "tasks", s->trace.tasks);
		lc_json_u64(j, "tasks_counted", s->trace.tasks_online);
		lc_json_u64(j, "folded", s->trace.folded);
		lc_json_u64(j, "folded_counted", s->trace.folded_online);
		lc_json_u64(j, "objects", s->trace.objects);
	}
	lc_json_end_object(j);
}

void lc_spans_json_member(struct lc_json *j, const char *name, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	lc_json_object(j, name);
	lc_json_u64(j, "format", LC_FORMAT_VERSION);
	lc_json_chosen(j, s->load);
	info(j, r);
	processes(j, s);
	lc_own_json(j, s->load);
	totals(j, s);
	diagnoses(j, r);
	locations(j, r);
	streams(j, r);
	types(j, r);
	tasks(j, r);
	workers(j, r);
	lc_spans_json_time(j, s);
	sites(j, r);
	traced(j, s);
	lc_json_end_object(j);
}

void lc_spans_json(FILE *out, const struct lc_spans_report *r)
{
	struct lc_json writer;

	lc_json_init(&writer, out);
	lc_spans_json_member(&writer, NULL, r);
	lc_json_finish(&writer);
	putc('\n', out);
}

static void data(FILE *out, const void *report)
{
	lc_spans_json(out, report);
}

void lc_spans_html(FILE *out, const struct lc_spans_report *r)
{
	lc_html_write(out, LC_HTML_SPANS, data, r);
}
