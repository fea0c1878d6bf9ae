/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_events.c - writes single spans as trace events for Perfetto and Chrome's
 * chrome://tracing.
 *
 * Spans of a thread nest, so they are complete events ("X"). Spans of virtual threads may overlap
 * on their carrier: they are asynchronous events ("b", "e") with the span's number. CPU use and
 * context switches are counters ("C"). Collections are complete events of thread 0, which stands
 * for the JVM. A thread's accesses and allocations are known per block, so they are asynchronous
 * events with the block's time. Times are microseconds since the start of the event's own process.
 */
#include "analyzer/spans/spans_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/out/json.h"
#include "analyzer/spans/spans_impl.h"

enum { JVM_TID = 0 };

static int64_t pid_of(const struct lc_spans *s, uint32_t process)
{
	return process < s->load->processes_len ? s->load->processes[process].pid : 0;
}

static int64_t relative(const struct lc_spans *s, uint32_t process, uint64_t ns)
{
	uint64_t start =
	    process < s->load->processes_len ? s->load->processes[process].start_monotonic_ns : 0;

	return (int64_t)(ns - start);
}

/* Begin an event on a line of its own. Its members follow, then lc_json_end_object(). */
static void begin_event(struct lc_json *j, const char *phase)
{
	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_string(j, "ph", phase);
}

static void name_thread(struct lc_json *j, int64_t pid, uint32_t tid, struct lc_text name)
{
	begin_event(j, "M");
	lc_json_string(j, "name", "thread_name");
	lc_json_i64(j, "pid", pid);
	lc_json_u64(j, "tid", tid);
	lc_json_object(j, "args");
	lc_json_text(j, "name", name);
	lc_json_end_object(j);
	lc_json_end_object(j);
}

static void names(struct lc_json *j, const struct lc_spans *s)
{
	for (uint32_t p = 0; p < s->load->processes_len; p++) {
		begin_event(j, "M");
		lc_json_string(j, "name", "process_name");
		lc_json_i64(j, "pid", pid_of(s, p));
		lc_json_object(j, "args");
		lc_json_string(j, "name", s->load->processes[p].command);
		lc_json_end_object(j);
		lc_json_end_object(j);
		name_thread(j, pid_of(s, p), JVM_TID, (struct lc_text){ "JVM: collections", 16 });
	}
	for (size_t i = 0; i < s->rows->threads_len; i++) {
		const struct lc_span_thread_row *t = &s->rows->threads[i];

		name_thread(j, pid_of(s, t->process), t->tid, t->name);
	}
}

static void place(struct lc_json *j, const char *name, const struct lc_span_place *p)
{
	char *text = lc_spans_place_text(p);

	lc_json_string(j, name, text);
	free(text);
}

static void arguments(struct lc_json *j, const struct lc_spans *s, const struct lc_span_trace *t)
{
	lc_json_object(j, "args");
	lc_json_u64(j, "id", t->id);
	lc_json_u64(j, "outer", t->outer);
	lc_json_u64(j, "logical", t->logical);
	lc_json_u64(j, "level", t->level);
	lc_json_u64(j, "cycles", t->cycles);
	lc_json_i64(j, "compensated_cycles", t->compensated);
	lc_json_u64(j, "context_switches", t->switches);
	if (lc_spans_is_task(t->kind)) {
		lc_json_string(j, "submit_kind", lc_submit_kind_name(t->submit_kind));
		lc_json_bool(j, "folded", t->flags & LC_TRACE_FOLDED);
		if (t->place->number)
			place(j, "created_at", t->place);
		if (t->submitted->number)
			place(j, "submitted_at", t->submitted);
		if (t->creator != LC_SPAN_NO_THREAD)
			lc_json_text(j, "creating_thread", s->rows->threads[t->creator].name);
		if (t->wait_ns)
			lc_json_u64(j, "wait_ns", t->wait_ns);
	}
	lc_json_end_object(j);
}

/* Write a span's event up to its name: a stream's place, or a task's class. */
static void head(struct lc_json *j, const struct lc_spans *s, const struct lc_span_trace *t,
                 const char *phase, uint64_t ns)
{
	const struct lc_span_thread_row *thread = &s->rows->threads[t->thread];

	begin_event(j, phase);
	lc_json_string(j, "cat", lc_span_kind_name(t->kind));
	lc_json_i64(j, "pid", pid_of(s, thread->process));
	lc_json_u64(j, "tid", thread->tid);
	lc_json_thousandths(j, "ts", relative(s, thread->process, ns));
	if (lc_spans_is_task(t->kind))
		lc_json_text(j, "name", t->type);
	else
		place(j, "name", t->place);
}

static void number(struct lc_json *j, uint64_t id)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, id);
	lc_json_string(j, "id", text);
}

static void span(struct lc_json *j, const struct lc_spans *s, const struct lc_span_trace *t)
{
	if (!(t->flags & LC_TRACE_VIRTUAL)) {
		head(j, s, t, "X", t->start_ns);
		lc_json_thousandths(j, "dur", (int64_t)t->duration_ns);
		arguments(j, s, t);
		lc_json_end_object(j);
		return;
	}
	head(j, s, t, "b", t->start_ns);
	number(j, t->id);
	arguments(j, s, t);
	lc_json_end_object(j);
	head(j, s, t, "e", t->start_ns + t->duration_ns);
	number(j, t->id);
	lc_json_end_object(j);
}

/* Write a counter's event up to its values. */
static void counter(struct lc_json *j, const struct lc_spans *s, const struct lc_spans_point *p,
                    const char *name)
{
	begin_event(j, "C");
	lc_json_string(j, "name", name);
	lc_json_i64(j, "pid", pid_of(s, p->process));
	lc_json_thousandths(j, "ts", p->start_ns);
	lc_json_object(j, "args");
}

static void end_counter(struct lc_json *j)
{
	lc_json_end_object(j);
	lc_json_end_object(j);
}

static void counters(struct lc_json *j, const struct lc_spans *s)
{
	for (size_t i = 0; i < s->timeline_len; i++) {
		const struct lc_spans_point *p = &s->timeline[i];

		counter(j, s, p, "CPUs in use");
		lc_json_fixed(j, "cpus", (double)p->cpu_ns / (double)LC_TIMELINE_NS, 4);
		end_counter(j);
		counter(j, s, p, "context switches");
		lc_json_u64(j, "voluntary", p->voluntary);
		lc_json_u64(j, "involuntary", p->involuntary);
		end_counter(j);
	}
}

static void pauses(struct lc_json *j, const struct lc_spans *s)
{
	for (size_t i = 0; i < s->pauses_len; i++) {
		const struct lc_spans_pause *p = &s->pauses[i];

		begin_event(j, "X");
		lc_json_string(j, "cat", "gc");
		lc_json_string(j, "name", "GC pause");
		lc_json_i64(j, "pid", pid_of(s, p->process));
		lc_json_u64(j, "tid", JVM_TID);
		lc_json_thousandths(j, "ts", p->start_ns);
		lc_json_thousandths(j, "dur", (int64_t)p->duration_ns);
		lc_json_end_object(j);
	}
}

/* The analysis's engine; if no sample was inside a span, the engine with most samples. */
static uint32_t engine_of(const struct lc_spans *s)
{
	uint64_t most = 0;
	uint32_t found = s->engine;

	for (uint32_t i = 0; s->engine == UINT32_MAX && i < s->load->engines_len; i++) {
		uint64_t sum = 0;

		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
			sum += s->tree->buckets[i][b];
		if (sum > most) {
			most = sum;
			found = i;
		}
	}
	return found;
}

/* Write the samples of a stretch by bucket. */
static void samples(struct lc_json *j, const struct lc_spans *s, uint32_t engine, uint32_t stretch)
{
	uint64_t total = 0;

	if (engine == UINT32_MAX)
		return;
	lc_json_string(j, "engine", s->load->engines[engine].name);
	for (uint32_t b = 0; b < LC_BUCKET_COUNT; b++) {
		const uint32_t key[LC_STRETCH_SAMPLES_KEY] = { stretch, engine, b };
		const uint32_t row = lc_table_find(&s->tree->stretch_samples, key);

		if (row == UINT32_MAX)
			continue;
		lc_json_u64(j, lc_bucket_name(b), *lc_table_values(&s->tree->stretch_samples, row));
		total += *lc_table_values(&s->tree->stretch_samples, row);
	}
	lc_json_u64(j, "samples", total);
}

/* Write the begin or the end of a stretch, up to its arguments. */
static void end_of_stretch(struct lc_json *j, const struct lc_spans *s, size_t i, const char *phase,
                           uint64_t ns)
{
	const uint32_t row = s->tree->stretches[i].thread;
	const uint32_t process = lc_table_key(&s->tree->threads, row)[LC_THREAD_PROCESS];

	begin_event(j, phase);
	lc_json_string(j, "cat", "objects");
	lc_json_string(j, "name", "samples and allocations");
	lc_json_i64(j, "pid", pid_of(s, process));
	lc_json_u64(j, "tid", lc_table_values(&s->tree->threads, row)[LC_THREAD_TID]);
	number(j, i + 1);
	lc_json_thousandths(j, "ts", relative(s, process, ns));
}

/* Write what each thread accessed and allocated, by the time of its blocks. */
static void stretches(struct lc_json *j, const struct lc_spans *s)
{
	const uint32_t engine = engine_of(s);

	for (size_t i = 0; i < s->tree->stretches_len; i++) {
		const struct lc_tree_stretch *t = &s->tree->stretches[i];

		end_of_stretch(j, s, i, "b", t->begin_ns);
		lc_json_object(j, "args");
		samples(j, s, engine, (uint32_t)i);
		lc_json_u64(j, "allocations", t->allocations);
		lc_json_u64(j, "bytes", t->bytes);
		lc_json_end_object(j);
		lc_json_end_object(j);
		end_of_stretch(j, s, i, "e", t->end_ns);
		lc_json_end_object(j);
	}
}

static void recording(struct lc_json *j, const struct lc_spans_report *r)
{
	const struct lc_span_info *info = lc_spans_info(r->spans);
	char hz[24];

	snprintf(hz, sizeof(hz), "%" PRIu64, info ? info->clock_hz : 0);
	lc_json_object(j, "otherData");
	lc_json_string(j, "clock", info && info->clock ? info->clock : "unknown");
	lc_json_string(j, "clock_hz", hz);
	lc_json_array(j, "warnings");
	for (size_t i = 0; i < r->warnings_len; i++)
		lc_json_string(j, NULL, r->warnings[i]);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

void lc_spans_trace_events(FILE *out, const struct lc_spans_report *r)
{
	struct lc_json writer, *j = &writer;

	lc_json_init(j, out);
	lc_json_object(j, NULL);
	lc_json_string(j, "displayTimeUnit", "ns");
	recording(j, r);
	lc_json_line(j, 0);
	lc_json_array(j, "traceEvents");
	putc('\n', out); /* each event is a line, the first one too */
	names(j, r->spans);
	for (size_t i = 0; i < r->spans->rows->traces_len; i++)
		span(j, r->spans, &r->spans->rows->traces[i]);
	counters(j, r->spans);
	pauses(j, r->spans);
	stretches(j, r->spans);
	putc('\n', out);
	lc_json_end_array(j);
	lc_json_end_object(j);
	lc_json_finish(j);
	putc('\n', out);
}
