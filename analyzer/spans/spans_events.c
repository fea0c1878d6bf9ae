/*
 * spans/spans_events.c - single spans as trace events, which Perfetto and Chrome's chrome://tracing open.
 *
 * Spans of a thread nest, so they are complete events ("X"). A virtual thread's may lie across each other on
 * their carrier: they are asynchronous ones ("b", "e") with the span's number. CPU use and context switches are
 * counters ("C"), collections complete events of a thread 0 that stands for the JVM. Times are microseconds
 * since the start of the event's own process.
 */
#include "analyzer/spans/spans_command.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/out/text.h"
#include "analyzer/spans/spans_impl.h"

enum { JVM_TID = 0 };

struct events {
	FILE *out;
	bool any;
};

static void next(struct events *e)
{
	fputs(e->any ? ",\n" : "\n", e->out);
	e->any = true;
}

/* Microseconds with three decimals, exactly. */
static void time_us(FILE *out, const char *name, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	fprintf(out, ",\"%s\":%s%" PRIu64 ".%03u", name, ns < 0 ? "-" : "", size / 1000,
	        (unsigned)(size % 1000));
}

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

static void name_thread(struct events *e, int64_t pid, uint32_t tid, struct lc_text name)
{
	next(e);
	fprintf(e->out,
	        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRId64
	        ",\"tid\":%u,\"args\":{\"name\":",
	        pid, tid);
	lc_emit_json(e->out, name);
	fputs("}}", e->out);
}

static void names(struct events *e, const struct lc_spans *s)
{
	for (uint32_t p = 0; p < s->load->processes_len; p++) {
		next(e);
		fprintf(e->out,
		        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRId64
		        ",\"args\":{\"name\":",
		        pid_of(s, p));
		lc_emit_json_c(e->out, s->load->processes[p].command);
		fputs("}}", e->out);
		name_thread(e, pid_of(s, p), JVM_TID, (struct lc_text){ "JVM: collections", 16 });
	}
	for (size_t i = 0; i < s->rows->threads_len; i++) {
		const struct lc_span_thread_row *t = &s->rows->threads[i];

		name_thread(e, pid_of(s, t->process), t->tid, t->name);
	}
}

/* Its name: the place of a stream, the class of a task. */
static void name_span(FILE *out, const struct lc_span_trace *t)
{
	fputs(",\"name\":", out);
	if (lc_spans_is_task(t->kind)) {
		lc_emit_json(out, t->type);
		return;
	}
	char *text = lc_spans_place_text(t->place);

	lc_emit_json_c(out, text);
	free(text);
}

static void place(FILE *out, const char *name, const struct lc_span_place *p)
{
	char *text;

	if (!p->number)
		return;
	text = lc_spans_place_text(p);
	fprintf(out, ",\"%s\":", name);
	lc_emit_json_c(out, text);
	free(text);
}

static void arguments(FILE *out, const struct lc_spans *s, const struct lc_span_trace *t)
{
	fprintf(out,
	        ",\"args\":{\"id\":%" PRIu64 ",\"outer\":%" PRIu64 ",\"logical\":%" PRIu64
	        ",\"level\":%u,\"cycles\":%" PRIu64 ",\"compensated_cycles\":%" PRId64
	        ",\"context_switches\":%" PRIu64,
	        t->id, t->outer, t->logical, t->level, t->cycles, t->compensated, t->switches);
	if (lc_spans_is_task(t->kind)) {
		fprintf(out, ",\"submit_kind\":\"%s\",\"folded\":%s",
		        lc_submit_kind_name(t->submit_kind),
		        t->flags & LC_TRACE_FOLDED ? "true" : "false");
		place(out, "created_at", t->place);
		place(out, "submitted_at", t->submitted);
		if (t->creator != LC_SPAN_NO_THREAD) {
			fputs(",\"creating_thread\":", out);
			lc_emit_json(out, s->rows->threads[t->creator].name);
		}
		if (t->wait_ns)
			fprintf(out, ",\"wait_ns\":%" PRIu64, t->wait_ns);
	}
	putc('}', out);
}

static void head(struct events *e, const struct lc_spans *s, const struct lc_span_trace *t,
                 const char *phase, uint64_t ns)
{
	const struct lc_span_thread_row *thread = &s->rows->threads[t->thread];

	next(e);
	fprintf(e->out, "{\"ph\":\"%s\",\"cat\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%u", phase,
	        lc_span_kind_name(t->kind), pid_of(s, thread->process), thread->tid);
	time_us(e->out, "ts", relative(s, thread->process, ns));
	name_span(e->out, t);
}

static void span(struct events *e, const struct lc_spans *s, const struct lc_span_trace *t)
{
	if (!(t->flags & LC_TRACE_VIRTUAL)) {
		head(e, s, t, "X", t->start_ns);
		time_us(e->out, "dur", (int64_t)t->duration_ns);
		arguments(e->out, s, t);
		putc('}', e->out);
		return;
	}
	head(e, s, t, "b", t->start_ns);
	fprintf(e->out, ",\"id\":\"%" PRIu64 "\"", t->id);
	arguments(e->out, s, t);
	putc('}', e->out);
	head(e, s, t, "e", t->start_ns + t->duration_ns);
	fprintf(e->out, ",\"id\":\"%" PRIu64 "\"}", t->id);
}

static void counters(struct events *e, const struct lc_spans *s)
{
	for (size_t i = 0; i < s->timeline_len; i++) {
		const struct lc_spans_point *p = &s->timeline[i];

		next(e);
		fprintf(e->out, "{\"ph\":\"C\",\"name\":\"CPUs in use\",\"pid\":%" PRId64,
		        pid_of(s, p->process));
		time_us(e->out, "ts", p->start_ns);
		fprintf(e->out, ",\"args\":{\"cpus\":%.4f}}",
		        (double)p->cpu_ns / (double)LC_TIMELINE_NS);
		next(e);
		fprintf(e->out, "{\"ph\":\"C\",\"name\":\"context switches\",\"pid\":%" PRId64,
		        pid_of(s, p->process));
		time_us(e->out, "ts", p->start_ns);
		fprintf(e->out,
		        ",\"args\":{\"voluntary\":%" PRIu64 ",\"involuntary\":%" PRIu64 "}}",
		        p->voluntary, p->involuntary);
	}
}

static void pauses(struct events *e, const struct lc_spans *s)
{
	for (size_t i = 0; i < s->pauses_len; i++) {
		const struct lc_spans_pause *p = &s->pauses[i];

		next(e);
		fprintf(e->out,
		        "{\"ph\":\"X\",\"cat\":\"gc\",\"name\":\"GC pause\",\"pid\":%" PRId64
		        ",\"tid\":%u",
		        pid_of(s, p->process), (unsigned)JVM_TID);
		time_us(e->out, "ts", p->start_ns);
		time_us(e->out, "dur", (int64_t)p->duration_ns);
		putc('}', e->out);
	}
}

void lc_spans_trace_events(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_span_info *info = lc_spans_info(r->spans);
	struct events e = { .out = out };

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":", out);
	lc_emit_json_c(out, info && info->clock ? info->clock : "unknown");
	fprintf(out, ",\"clock_hz\":\"%" PRIu64 "\",\"warnings\":[", info ? info->clock_hz : 0);
	for (size_t i = 0; i < r->warnings_len; i++) {
		fputs(i ? "," : "", out);
		lc_emit_json_c(out, r->warnings[i]);
	}
	fputs("]},\n\"traceEvents\":[", out);
	names(&e, r->spans);
	for (size_t i = 0; i < r->spans->rows->traces_len; i++)
		span(&e, r->spans, &r->spans->rows->traces[i]);
	counters(&e, r->spans);
	pauses(&e, r->spans);
	fputs("\n]}\n", out);
}
