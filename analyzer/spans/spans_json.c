/* spans/spans_json.c - the report on spans for programs; docs/JSON.md says what each member means. */
#include "analyzer/spans/spans_command.h"

#include <inttypes.h>

#include "analyzer/out/text.h"
#include "analyzer/spans/spans_impl.h"

/* Members of a place, without braces. */
static void place_members(FILE *out, const struct lc_span_place *p)
{
	fputs("\"class\":", out);
	lc_emit_json(out, p->class_name);
	fputs(",\"method\":", out);
	lc_emit_json(out, p->method_name);
	fprintf(out, ",\"line\":%" PRId32 ",\"file\":", p->line);
	lc_emit_json(out, p->file);
}

/* An object, or null where it is unknown. */
static void place(FILE *out, const char *name, const struct lc_span_place *p)
{
	fprintf(out, "\"%s\":", name);
	if (!p || !p->number) {
		fputs("null", out);
		return;
	}
	putc('{', out);
	place_members(out, p);
	putc('}', out);
}

static void thread_identity(FILE *out, const struct lc_spans *s, uint32_t thread)
{
	const struct lc_span_thread_row *t = &s->rows->threads[thread];

	fputs("\"thread\":", out);
	lc_emit_json(out, t->name);
	fprintf(out, ",\"tid\":%u,\"process\":%u", t->tid, t->process);
}

static void histogram(FILE *out, const uint64_t *h)
{
	bool first = true;

	fputs(",\"histogram\":[", out);
	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++) {
		if (!h[b])
			continue;
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", first ? "" : ",", lc_span_bucket_low(b),
		        h[b]);
		first = false;
	}
	putc(']', out);
}

/* All figures of a sum, each member with a comma before it. */
static void sum(FILE *out, const struct lc_spans_sum *s)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = { { "p10", 0.1 }, { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 } };

	fprintf(out,
	        ",\"executions\":%" PRIu64 ",\"cycles\":%" PRIu64 ",\"compensated_cycles\":%" PRId64
	        ",\"negative\":%" PRIu64 ",\"context_switches\":%" PRIu64 ",\"wall_ns\":%" PRIu64
	        ",\"gc_pauses\":%" PRIu64 ",\"gc_ns\":%" PRIu64,
	        s->executions, s->measured, s->cycles, s->negative, s->switches, s->wall_ns,
	        s->gc_count, s->gc_ns);
	fprintf(out,
	        ",\"nested\":{\"anonymous\":%" PRIu64 ",\"primordial\":%" PRIu64
	        ",\"support\":%" PRIu64 ",\"task\":%" PRIu64 "}",
	        s->nested[0], s->nested[1], s->nested[2], s->nested[3]);
	for (unsigned i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		lc_emit_real(out, quantiles[i].name,
		             lc_spans_quantile(s->histogram, quantiles[i].q));
	if (s->executions && s->first_ns <= s->last_ns)
		fprintf(out, ",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64, s->first_ns,
		        s->last_ns);
	else
		fputs(",\"first_ns\":null,\"last_ns\":null", out);
	histogram(out, s->histogram);
}

static void task_sum(FILE *out, const struct lc_spans_sum *s)
{
	sum(out, s);
	fprintf(out, ",\"folded\":%" PRIu64 ",\"waits\":%" PRIu64 ",\"wait_ns\":%" PRIu64,
	        s->folded, s->waits, s->wait_ns);
}

static void balance(FILE *out, const struct lc_spans *s, const struct lc_spans_balance *b)
{
	fputs(",\"workers\":[", out);
	for (size_t i = 0; i < b->workers_len; i++) {
		const struct lc_spans_worker *w = &b->workers[i];

		fputs(i ? ",{" : "{", out);
		thread_identity(out, s, w->thread);
		fprintf(out,
		        ",\"executions\":%" PRIu64 ",\"compensated_cycles\":%" PRId64
		        ",\"context_switches\":%" PRIu64 "}",
		        w->executions, w->cycles, w->switches);
	}
	fputs("]", out);
	lc_emit_real(out, "variation", b->variation);
}

static void active(FILE *out, const struct lc_spans_active *a)
{
	fputs(",\"active\":[", out);
	for (size_t i = 0; i < a->len; i++)
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", a->intervals[i].first_ns,
		        a->intervals[i].last_ns);
	putc(']', out);
}

/* ---- the head ---- */

static void info(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_span_info *first = lc_spans_info(r->spans), none = { 0 };
	const struct lc_span_info *i = first ? first : &none;

	fputs("\"clock\":{", out);
	lc_emit_member(out, "name", i->clock);
	fprintf(out, ",\"hz\":%" PRIu64 ",", i->clock_hz);
	lc_emit_member(out, "reason", i->clock_reason);
	fputs("},\n\"calibration\":{", out);
	lc_emit_member(out, "source", i->calibration);
	putc(',', out);
	lc_emit_member(out, "warning", i->calibration_warning);
	fputs(",\"costs\":{", out);
	for (size_t k = 0; k < i->costs_len; k++) {
		fputs(k ? "," : "", out);
		lc_emit_json_c(out, i->costs[k].name);
		fprintf(out, ":{\"mean_cycles\":%.17g,\"variation\":%.17g}",
		        i->costs[k].mean_cycles, i->costs[k].variation);
	}
	fprintf(out, "}},\n\"recorded\":{\"streams\":%s,\"tasks\":%s,",
	        i->streams ? "true" : "false", i->tasks ? "true" : "false");
	lc_emit_member(out, "streams_error", i->streams_error);
	putc(',', out);
	lc_emit_member(out, "tasks_error", i->tasks_error);
	fputs("},\n\"warnings\":[", out);
	for (size_t k = 0; k < r->warnings_len; k++) {
		fputs(k ? "," : "", out);
		lc_emit_json_c(out, r->warnings[k]);
	}
	putc(']', out);
}

static void processes(FILE *out, const struct lc_spans *s)
{
	fputs(",\n\"processes\":[", out);
	for (uint32_t i = 0; i < s->load->processes_len; i++) {
		const struct lc_load_process *p = &s->load->processes[i];

		fputs(i ? ",{" : "{", out);
		lc_emit_member(out, "command", p->command);
		putc(',', out);
		lc_emit_member(out, "jdk", p->jdk);
		putc(',', out);
		lc_emit_member(out, "gc", p->gc);
		fprintf(out,
		        ",\"pid\":%" PRId64 ",\"complete\":%s,\"duration_ns\":%" PRIu64
		        ",\"start_wall_ns\":%" PRIu64 "}",
		        p->pid, p->complete ? "true" : "false",
		        lc_spans_since(s, i, lc_load_end_ns(p)), p->start_wall_ns);
	}
	fprintf(out, "],\n\"cpus\":%u", s->cpus);
}

static void totals(FILE *out, const struct lc_spans *s)
{
	fputs(",\n\"totals\":{", out);
	for (unsigned k = 0; k < LC_SPAN_KINDS; k++)
		fprintf(out, "%s\"%s\":%" PRIu64, k ? "," : "", lc_span_kind_name(k), s->kinds[k]);
	fprintf(out,
	        ",\"streams\":%" PRIu64 ",\"stream_cycles\":%.0f,\"task_cycles\":%.0f,"
	        "\"created\":%" PRIu64 ",\"submitted\":%" PRIu64 ",\"executed\":%" PRIu64
	        ",\"folded\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"negative\":%" PRIu64 "}",
	        lc_spans_stream_count(s), lc_spans_stream_cycles(s), lc_spans_task_cycles(s),
	        s->created, s->submitted, lc_spans_executed(&s->tasks_sum, &s->threads_sum),
	        s->tasks_sum.folded + s->threads_sum.folded, s->dropped,
	        s->streams_sum.negative + s->support_sum.negative + s->tasks_sum.negative +
	            s->threads_sum.negative);
}

/* ---- tables ---- */

static void streams(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs(",\n\"streams\":[", out);
	for (size_t i = 0; i < s->streams_len && i < r->top; i++) {
		const struct lc_spans_stream *g = &s->streams[i];

		fputs(i ? ",\n{" : "{", out);
		place_members(out, g->place);
		fprintf(out, ",\"kind\":\"%s\",\"level\":%u", lc_span_kind_name(g->kind), g->level);
		sum(out, &g->sum);
		fprintf(out, ",\"share_of_cycles\":%.17g}",
		        lc_spans_share((double)g->sum.cycles, lc_spans_stream_cycles(s)));
	}
	putc(']', out);
}

static void locations(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs(",\n\"locations\":[", out);
	for (size_t i = 0; i < s->locations_len && i < r->top; i++) {
		const struct lc_spans_location *l = &s->locations[i];

		fputs(i ? ",\n{" : "{", out);
		place_members(out, l->place);
		fprintf(out,
		        ",\"streams\":%" PRIu64
		        ",\"share_of_streams\":%.17g,\"share_of_cycles\":%.17g",
		        l->streams,
		        lc_spans_share((double)l->streams, (double)lc_spans_stream_count(s)),
		        lc_spans_share((double)l->sum.cycles, lc_spans_stream_cycles(s)));
		fputs(",\"kinds\":{", out);
		for (unsigned k = 0; k < LC_SPAN_TASK; k++)
			fprintf(out, "%s\"%s\":%" PRIu64, k ? "," : "", lc_span_kind_name(k),
			        l->kinds[k]);
		fprintf(out, "},\"levels\":%u", l->levels);
		sum(out, &l->sum);
		balance(out, s, &l->shared);
		active(out, &l->active);
		lc_spans_json_paths(out, s, &l->paths, false);
		putc('}', out);
	}
	putc(']', out);
}

static void tasks(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs(",\n\"tasks\":[", out);
	for (size_t i = 0; i < s->tasks_len && i < r->top; i++) {
		const struct lc_spans_task *g = &s->tasks[i];

		fputs(i ? ",\n{\"type\":" : "{\"type\":", out);
		lc_emit_json(out, g->type);
		fprintf(out, ",\"kind\":\"%s\",", lc_span_kind_name(g->kind));
		place(out, "creation", g->place);
		fprintf(out, ",\"submit_kind\":\"%s\",", lc_submit_kind_name(g->submit_kind));
		place(out, "submission", g->submit_place);
		fprintf(out, ",\"submitted\":%" PRIu64, g->submitted);
		task_sum(out, &g->sum);
		fprintf(out, ",\"share_of_cycles\":%.17g",
		        lc_spans_share((double)g->sum.cycles, lc_spans_task_cycles(s)));
		lc_spans_json_paths(out, s, &g->paths, true);
		putc('}', out);
	}
	putc(']', out);
}

/* [cycles, part of the executions that take at most as many] for each bucket that holds some. */
static void cdf(FILE *out, const uint64_t *h)
{
	const double n = (double)lc_spans_count(h);
	uint64_t below = 0;
	bool first = true;

	fputs(",\"cdf\":[", out);
	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++) {
		if (!h[b])
			continue;
		below += h[b];
		fprintf(out, "%s[%" PRIu64 ",%.17g]", first ? "" : ",", lc_spans_bucket_end(b) - 1,
		        (double)below / n);
		first = false;
	}
	putc(']', out);
}

static void types(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs(",\n\"types\":[", out);
	for (size_t i = 0; i < s->types_len && i < r->top; i++) {
		const struct lc_spans_type *t = &s->types[i];

		fputs(i ? ",\n{\"type\":" : "{\"type\":", out);
		lc_emit_json(out, t->name);
		fputs(",\"label\":", out);
		lc_emit_json(out, t->label);
		fprintf(out,
		        ",\"created\":%" PRIu64 ",\"submitted\":%" PRIu64 ",\"executed\":%" PRIu64
		        ",\"dropped\":%" PRIu64 ",\"as_threads\":%" PRIu64
		        ",\"thread_cycles\":%" PRId64 ",\"share_of_cycles\":%.17g,",
		        t->created, t->submitted, lc_spans_executed(&t->sum, &t->threads),
		        t->dropped, t->threads.executions, t->threads.cycles,
		        lc_spans_share((double)t->sum.cycles + (double)t->threads.cycles,
		                       lc_spans_task_cycles(s)));
		place(out, "creation", t->creation);
		fprintf(out, ",\"submit_kind\":\"%s\",", lc_submit_kind_name(t->submit_kind));
		place(out, "submission", t->submission);
		task_sum(out, &t->sum);
		cdf(out, t->sum.histogram);
		balance(out, s, &t->shared);
		active(out, &t->active);
		lc_spans_json_paths(out, s, &t->paths, true);
		putc('}', out);
	}
	putc(']', out);
}

static void workers(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;
	double all = lc_spans_stream_cycles(s) + lc_spans_task_cycles(s);

	fputs(",\n\"workers\":[", out);
	for (size_t i = 0; i < s->threads_len && i < r->top; i++) {
		const struct lc_spans_thread *t = &s->threads[i];
		const struct lc_spans_worker *const parts[] = { &t->streams, &t->tasks, &t->self };
		static const char *const names[] = { "streams", "tasks", "thread_spans" };

		fputs(i ? ",\n{" : "{", out);
		thread_identity(out, s, t->thread);
		fprintf(out,
		        ",\"compensated_cycles\":%" PRId64 ",\"share_of_cycles\":%.17g"
		        ",\"cpu_ns\":%" PRIu64 ",\"voluntary\":%" PRIu64
		        ",\"involuntary\":%" PRIu64,
		        t->cycles, lc_spans_share((double)t->cycles, all), t->cpu_ns, t->voluntary,
		        t->involuntary);
		for (unsigned k = 0; k < 3; k++)
			fprintf(
			    out,
			    ",\"%s\":{\"executions\":%" PRIu64 ",\"compensated_cycles\":%" PRId64
			    ",\"context_switches\":%" PRIu64 "}",
			    names[k], parts[k]->executions, parts[k]->cycles, parts[k]->switches);
		putc('}', out);
	}
	putc(']', out);
	lc_emit_real(out, "workers_variation", s->balance.variation);
}

static void heat(FILE *out, const char *name, const struct lc_spans_heat *h)
{
	bool first = true;

	fprintf(out, "\"%s\":[", name);
	for (unsigned level = 0; level < h->levels; level++) {
		for (unsigned c = 0; c < LC_SPANS_COLUMNS; c++) {
			const struct lc_spans_cell *cell = &h->cells[level * LC_SPANS_COLUMNS + c];

			if (!cell->count)
				continue;
			fprintf(out,
			        "%s{\"level\":%u,\"from_cycles\":%.0f,\"streams\":%" PRIu64
			        ",\"cycles\":%.17g}",
			        first ? "" : ",\n ", level, lc_spans_column_low(c), cell->count,
			        cell->cycles);
			first = false;
		}
	}
	putc(']', out);
}

static void points(FILE *out, const struct lc_spans_point *p, size_t len)
{
	fputs("\"points\":[", out);
	for (size_t i = 0; i < len; i++)
		fprintf(out, "%s[%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
		        p[i].start_ns, p[i].cpu_ns, p[i].voluntary, p[i].involuntary);
	fputs("]}", out);
}

static void timeline(FILE *out, const struct lc_spans *s)
{
	bool first = true;

	fprintf(out, ",\n\"timeline\":{\"interval_ns\":%" PRIu64 ",\"processes\":[",
	        (uint64_t)LC_TIMELINE_NS);
	for (size_t at = 0, end; at < s->timeline_len; at = end) {
		for (end = at;
		     end < s->timeline_len && s->timeline[end].process == s->timeline[at].process;)
			end++;
		fprintf(out, "%s{\"process\":%u,", at ? ",\n" : "", s->timeline[at].process);
		points(out, s->timeline + at, end - at);
	}
	fputs("],\n\"threads\":[", out);
	for (size_t i = 0; i < s->threads_len; i++) {
		if (!s->threads[i].points_len)
			continue;
		fputs(first ? "{" : ",\n{", out);
		first = false;
		thread_identity(out, s, s->threads[i].thread);
		putc(',', out);
		points(out, s->threads[i].points, s->threads[i].points_len);
	}
	fputs("]},\n\"gc_pauses\":[", out);
	for (size_t i = 0; i < s->pauses_len; i++)
		fprintf(out,
		        "%s{\"process\":%u,\"start_ns\":%" PRId64 ",\"duration_ns\":%" PRIu64 "}",
		        i ? "," : "", s->pauses[i].process, s->pauses[i].start_ns,
		        s->pauses[i].duration_ns);
	putc(']', out);
}

/* ---- objects waited for ---- */

static void waits(FILE *out, const struct lc_spans *s, const struct lc_span_place *where,
                  struct lc_text type, struct lc_text label, bool finished,
                  const struct lc_spans_waits *w, bool *first)
{
	if (!w->samples)
		return;
	fputs(*first ? "{" : ",\n{", out);
	*first = false;
	if (where) {
		place(out, "location", where);
		fputs(",\"type\":null,\"label\":null", out);
	} else {
		fputs("\"location\":null,\"type\":", out);
		lc_emit_json(out, type);
		fputs(",\"label\":", out);
		lc_emit_json(out, label);
	}
	fprintf(out, ",\"finished\":%s,\"samples\":%" PRIu64 ",\"share\":%.17g,\"objects\":[",
	        finished ? "true" : "false", w->samples,
	        lc_spans_share((double)w->samples, (double)s->span_samples));
	for (size_t i = 0; i < w->rows_len; i++) {
		const struct lc_spans_waited *row = &w->rows[i];
		const uint32_t *key = lc_table_key(&s->tree->sites, row->site);

		fprintf(out, "%s{\"id\":\"%016" PRIx64 "\",\"bucket\":\"%s\",\"class\":",
		        i ? ",\n " : "", lc_tree_site_id(s->tree, row->site),
		        lc_bucket_name(row->bucket));
		lc_emit_json(out, lc_tree_text(s->tree, key[LC_SITE_CLASS]));
		fprintf(out, ",\"samples\":%" PRIu64 ",\"share\":%.17g,\"allocation_path\":",
		        row->samples, lc_spans_share((double)row->samples, (double)w->samples));
		lc_emit_json_path(out, s->tree, key[LC_SITE_PATH]);
		fputs(",\"access_path\":", out);
		lc_emit_json_path(out, s->tree, row->path);
		putc('}', out);
	}
	fputs("]}", out);
}

static void sites(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;
	const struct lc_text none = { "", 0 };
	bool first = true;

	fputs(",\n\"sites\":{\"engine\":", out);
	if (s->engine < s->load->engines_len)
		lc_emit_json_c(out, s->load->engines[s->engine].name);
	else
		fputs("null", out);
	fprintf(out, ",\"samples\":%" PRIu64 ",\"places\":[", s->span_samples);
	for (size_t i = 0; i < s->locations_len && i < r->top; i++)
		waits(out, s, s->locations[i].place, none, none, true, &s->locations[i].waits,
		      &first);
	for (size_t i = 0; i < s->types_len && i < r->top; i++)
		waits(out, s, NULL, s->types[i].name, s->types[i].label, true, &s->types[i].waits,
		      &first);
	for (size_t i = 0; i < s->unfinished_len && i < r->top; i++)
		waits(out, s, s->unfinished[i].place, s->unfinished[i].type, s->unfinished[i].type,
		      false, &s->unfinished[i].waits, &first);
	fputs("]}", out);
}

/* ---- diagnoses ---- */

/* Who executed what a diagnosis is about. */
static void execution(FILE *out, const struct lc_spans *s, const struct lc_spans_balance *b)
{
	fprintf(out, ",\"execution\":{\"threads\":%zu,\"busiest\":", b->workers_len);
	if (b->workers_len)
		lc_emit_json(out, s->rows->threads[b->workers[0].thread].name);
	else
		fputs("null", out);
	putc('}', out);
}

static void diagnoses(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs(",\n\"diagnoses\":[", out);
	for (size_t i = 0; i < s->diagnoses_len && i < r->top; i++) {
		const struct lc_spans_diagnosis *d = &s->diagnoses[i];

		fprintf(out, "%s{\"pattern\":\"%s\",\"verdict\":\"%s\",", i ? ",\n" : "",
		        lc_spans_pattern_name(d->pattern), lc_spans_verdict_name(d->verdict));
		lc_emit_member(out, "why_no_verdict", d->why);
		fputs(",\"type\":", out);
		if (d->type) {
			lc_emit_json(out, d->type->name);
			fputs(",\"label\":", out);
			lc_emit_json(out, d->type->label);
		} else {
			fputs("null,\"label\":null", out);
		}
		putc(',', out);
		place(out, "location", d->location ? d->location->place : NULL);
		putc(',', out);
		place(out, "creation", d->type ? d->type->creation : NULL);
		putc(',', out);
		place(out, "submission", d->type ? d->type->submission : NULL);
		if (d->type)
			execution(out, s, &d->type->shared);
		else if (d->location)
			execution(out, s, &d->location->shared);
		fprintf(out, ",\"compensated_cycles\":%" PRId64 ",", d->cycles);
		lc_emit_member(out, "summary", d->summary);
		fputs(",\"evidence\":[", out);
		for (size_t k = 0; k < d->evidence_len; k++) {
			fputs(k ? "," : "", out);
			lc_emit_json_c(out, d->evidence[k]);
		}
		fputs("],", out);
		lc_emit_member(out, "change", d->advice);
		putc('}', out);
	}
	putc(']', out);
}

void lc_spans_json(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fprintf(out, "{\"format\":%d,\n", LC_FORMAT_VERSION);
	info(out, r);
	processes(out, s);
	totals(out, s);
	diagnoses(out, r);
	locations(out, r);
	streams(out, r);
	types(out, r);
	tasks(out, r);
	workers(out, r);
	fputs(",\n\"heat_map\":{\"base\":2,", out);
	heat(out, "streams", &s->heat);
	fputs(",\n", out);
	heat(out, "support", &s->support);
	putc('}', out);
	timeline(out, s);
	sites(out, r);
	fprintf(out, ",\n\"trace\":{\"spans\":%" PRIu64, s->trace.rows);
	if (s->trace.rows)
		fprintf(out,
		        ",\"spans_counted\":%" PRIu64 ",\"tasks\":%" PRIu64
		        ",\"tasks_counted\":%" PRIu64 ",\"folded\":%" PRIu64
		        ",\"folded_counted\":%" PRIu64 ",\"objects\":%" PRIu64,
		        s->trace.rows_online, s->trace.tasks, s->trace.tasks_online,
		        s->trace.folded, s->trace.folded_online, s->trace.objects);
	fputs("}}\n", out);
}
