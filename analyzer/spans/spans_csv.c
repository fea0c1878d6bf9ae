/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_csv.c - writes the spans report as tables for spreadsheets (RFC 4180, except that
 * lines end in LF).
 */
#include "analyzer/spans/spans_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/csv.h"
#include "analyzer/out/emit.h"
#include "analyzer/spans/spans_impl.h"

/* Write a field of text and a comma. */
static void quoted(FILE *out, struct lc_text t)
{
	lc_csv_text(out, t);
	putc(',', out);
}

static void quoted_c(FILE *out, const char *s)
{
	lc_csv_string(out, s);
	putc(',', out);
}

#define PLACE_COLUMNS "class,method,line,file,"

static void place(FILE *out, const struct lc_span_place *p)
{
	quoted(out, p->class_name);
	quoted(out, p->method_name);
	if (p->number && p->line >= 0)
		fprintf(out, "%" PRId32, p->line);
	putc(',', out);
	quoted(out, p->file);
}

static void place_text(FILE *out, const struct lc_span_place *p)
{
	char *s = lc_spans_place_text(p);

	quoted_c(out, s);
	free(s);
}

static void thread(FILE *out, const struct lc_spans *s, uint32_t number)
{
	const struct lc_span_thread_row *t = &s->rows->threads[number];

	fprintf(out, "%u,%u,", t->process, t->tid);
	quoted(out, t->name);
}

/* Write a number, or an empty field if the number is unknown. */
static void quantile(FILE *out, const uint64_t *h, double q)
{
	double v = lc_spans_quantile(h, q);

	if (v >= 0)
		fprintf(out, "%.1f", v);
}

#define SUM_COLUMNS                                                                                \
	"executions,running,running_cycles,cycles,compensated_cycles,total_cycles,negative,"       \
	"context_switches,"                                                                        \
	"wall_ns,gc_pauses,gc_ns,"                                                                 \
	"p10,p50,p90,p99,first_ns,last_ns"

/* Write cycles with those of spans inside and a comma; nothing before it if they are unknown. */
static void total(FILE *out, int64_t cycles, bool unknown)
{
	if (!unknown)
		fprintf(out, "%" PRId64, cycles);
	putc(',', out);
}

static void sum(FILE *out, const struct lc_spans_sum *s)
{
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64 ",%" PRId64 ",", s->executions,
	        s->running, s->running_cycles, s->measured, s->cycles);
	total(out, s->total, s->total_unknown);
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", s->negative,
	        s->switches, s->wall_ns, s->gc_count, s->gc_ns);
	for (unsigned i = 0; i < 4; i++) {
		quantile(out, s->histogram, (const double[]){ 0.1, 0.5, 0.9, 0.99 }[i]);
		putc(',', out);
	}
	if (s->executions + s->running && s->first_ns <= s->last_ns)
		fprintf(out, "%" PRIu64 ",%" PRIu64, s->first_ns, s->last_ns);
	else
		putc(',', out);
}

static void write_locations(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs(PLACE_COLUMNS "streams,share_of_streams,share_of_cycles,variation," SUM_COLUMNS
	                    ",looked_at,comparable,repeated,changed,plain\n",
	      out);
	for (size_t i = 0; i < s->locations_len && i < r->top; i++) {
		const struct lc_spans_location *l = &s->locations[i];

		place(out, l->place);
		fprintf(out, "%" PRIu64 ",%.6f,%.6f,", l->streams,
		        lc_spans_share((double)l->streams, (double)lc_spans_stream_count(s)),
		        lc_spans_share((double)l->sum.cycles, lc_spans_stream_cycles(s)));
		if (l->shared.variation >= 0)
			fprintf(out, "%.6f", l->shared.variation);
		putc(',', out);
		sum(out, &l->sum);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		        l->look->looked, l->look->comparable, l->look->repeated, l->look->changed,
		        l->look->plain);
	}
}

/* Write frames, leaf first, separated by ';'. */
static void path_text(FILE *out, const struct lc_spans *s, uint32_t path)
{
	char *all = NULL;
	size_t len;
	FILE *memory = lc_text_open(&all, &len);

	for (; path; path = lc_tree_parent(s->tree, path)) {
		lc_emit_frame(memory, s->tree, path);
		if (lc_tree_parent(s->tree, path))
			putc(';', memory);
	}
	lc_mem_close_text(memory);
	quoted_c(out, all);
	free(all);
}

static void paths(FILE *out, const struct lc_spans *s, const char *of, const char *name,
                  const struct lc_spans_paths *list)
{
	for (size_t i = 0; i < list->len; i++) {
		const struct lc_spans_path *p = &list->rows[i];

		fprintf(out, "%s,", of);
		quoted_c(out, name);
		path_text(out, s, p->path);
		path_text(out, s, p->submit_path);
		fprintf(out, "%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",",
		        lc_span_kind_name(p->kind), p->level, p->executions, p->folded, p->running,
		        p->measured, p->cycles);
		if (!p->total_unknown)
			fprintf(out, "%" PRId64, p->total);
		putc('\n', out);
	}
}

static void write_paths(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs("of,name,path,submission_path,kind,level,executions,folded,running,cycles,"
	      "compensated_cycles,total_cycles\n",
	      out);
	for (size_t i = 0; i < s->locations_len && i < r->top; i++) {
		char *name = lc_spans_place_text(s->locations[i].place);

		paths(out, s, "stream", name, &s->locations[i].paths);
		free(name);
	}
	for (size_t i = 0; i < s->tasks_len && i < r->top; i++) {
		char *name = strndup(s->tasks[i].type.bytes, s->tasks[i].type.len);

		if (!name)
			lc_no_memory();
		paths(out, s, "task", name, &s->tasks[i].paths);
		free(name);
	}
}

static void write_streams(FILE *out, const struct lc_spans_report *r)
{
	fputs(PLACE_COLUMNS "kind,level," SUM_COLUMNS "\n", out);
	for (size_t i = 0; i < r->spans->streams_len && i < r->top; i++) {
		const struct lc_spans_stream *g = &r->spans->streams[i];

		place(out, g->place);
		fprintf(out, "%s,%u,", lc_span_kind_name(g->kind), g->level);
		sum(out, &g->sum);
		putc('\n', out);
	}
}

static void write_types(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs("type,creation,submission,submit_kind,created,submitted,executed,dropped,folded,"
	      "share_of_cycles,variation," SUM_COLUMNS "\n",
	      out);
	for (size_t i = 0; i < s->types_len && i < r->top; i++) {
		const struct lc_spans_type *t = &s->types[i];

		quoted(out, t->name);
		place_text(out, t->creation);
		place_text(out, t->submission);
		fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f,",
		        lc_submit_kind_name(t->submit_kind), t->created, t->submitted,
		        lc_spans_executed(&t->sum, &t->threads), t->dropped, t->sum.folded,
		        lc_spans_share((double)t->sum.cycles + (double)t->threads.cycles,
		                       lc_spans_task_cycles(s)));
		if (t->shared.variation >= 0)
			fprintf(out, "%.6f", t->shared.variation);
		putc(',', out);
		sum(out, &t->sum);
		putc('\n', out);
	}
}

static void write_tasks(FILE *out, const struct lc_spans_report *r)
{
	fputs(
	    "type,kind,creation,submission,submit_kind,submitted,folded,waits,wait_ns," SUM_COLUMNS
	    "\n",
	    out);
	for (size_t i = 0; i < r->spans->tasks_len && i < r->top; i++) {
		const struct lc_spans_task *g = &r->spans->tasks[i];

		quoted(out, g->type);
		fprintf(out, "%s,", lc_span_kind_name(g->kind));
		place_text(out, g->place);
		place_text(out, g->submit_place);
		fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
		        lc_submit_kind_name(g->submit_kind), g->submitted, g->sum.folded,
		        g->sum.waits, g->sum.wait_ns);
		sum(out, &g->sum);
		putc('\n', out);
	}
}

static void write_workers(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs(
	    "process,tid,thread,compensated_cycles,stream_executions,stream_cycles,"
	    "task_executions,task_cycles,thread_spans,thread_cycles,cpu_ns,voluntary,involuntary\n",
	    out);
	for (size_t i = 0; i < s->threads_len && i < r->top; i++) {
		const struct lc_spans_thread *t = &s->threads[i];

		thread(out, s, t->thread);
		fprintf(out,
		        "%" PRId64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64 ",%" PRId64 ",%" PRIu64
		        ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
		        t->cycles, t->streams.executions, t->streams.cycles, t->tasks.executions,
		        t->tasks.cycles, t->self.executions, t->self.cycles, t->cpu_ns,
		        t->voluntary, t->involuntary);
	}
}

static void write_heat(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans_heat *const maps[] = { &r->spans->heat, &r->spans->support };

	fputs("of,level,from_cycles,streams,cycles\n", out);
	for (unsigned m = 0; m < 2; m++) {
		for (size_t i = 0; i < (size_t)maps[m]->levels * LC_SPANS_COLUMNS; i++)
			if (maps[m]->cells[i].count)
				fprintf(out, "%s,%zu,%.0f,%" PRIu64 ",%.1f\n",
				        m ? "support" : "streams", i / LC_SPANS_COLUMNS,
				        lc_spans_column_low((unsigned)(i % LC_SPANS_COLUMNS)),
				        maps[m]->cells[i].count, maps[m]->cells[i].cycles);
	}
}

static void write_cdf(FILE *out, const struct lc_spans_report *r)
{
	fputs("type,up_to_cycles,executions,part\n", out);
	for (size_t i = 0; i < r->spans->types_len && i < r->top; i++) {
		const struct lc_spans_type *t = &r->spans->types[i];
		const double n = (double)lc_spans_count(t->sum.histogram);
		uint64_t below = 0;

		for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++) {
			if (!t->sum.histogram[b])
				continue;
			below += t->sum.histogram[b];
			quoted(out, t->label);
			fprintf(out, "%" PRIu64 ",%" PRIu64 ",%.6f\n", lc_spans_bucket_end(b) - 1,
			        t->sum.histogram[b], (double)below / n);
		}
	}
}

static void write_points(FILE *out, const struct lc_spans *s, const struct lc_spans_point *p,
                         size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i].thread == LC_SPAN_NO_THREAD)
			fprintf(out, "%u,,\"\",", p[i].process);
		else
			thread(out, s, p[i].thread);
		fprintf(out, "%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", p[i].start_ns,
		        p[i].cpu_ns, p[i].voluntary, p[i].involuntary);
	}
}

/* Write the rows of each process, without a thread, and then of each thread. */
static void write_timeline(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs("process,tid,thread,start_ns,cpu_ns,voluntary,involuntary\n", out);
	write_points(out, s, s->timeline, s->timeline_len);
	write_points(out, s, s->points, s->points_len);
}

static void write_pauses(FILE *out, const struct lc_spans_report *r)
{
	fputs("process,start_ns,duration_ns\n", out);
	for (size_t i = 0; i < r->spans->pauses_len; i++)
		fprintf(out, "%u,%" PRId64 ",%" PRIu64 "\n", r->spans->pauses[i].process,
		        r->spans->pauses[i].start_ns, r->spans->pauses[i].duration_ns);
}

static void intervals(FILE *out, const char *kind, const char *name,
                      const struct lc_spans_active *a)
{
	for (size_t i = 0; i < a->len; i++) {
		fprintf(out, "%s,", kind);
		quoted_c(out, name);
		fprintf(out, "%" PRIu64 ",%" PRIu64 "\n", a->intervals[i].first_ns,
		        a->intervals[i].last_ns);
	}
}

static void write_active(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs("of,name,first_ns,last_ns\n", out);
	for (size_t i = 0; i < s->locations_len && i < r->top; i++) {
		char *name = lc_spans_place_text(s->locations[i].place);

		intervals(out, "stream", name, &s->locations[i].active);
		free(name);
	}
	for (size_t i = 0; i < s->types_len && i < r->top; i++) {
		char *name = strndup(s->types[i].label.bytes, s->types[i].label.len);

		if (!name)
			lc_no_memory();
		intervals(out, "task", name, &s->types[i].active);
		free(name);
	}
}

static void waits(FILE *out, const struct lc_spans *s, const struct lc_span_place *where,
                  struct lc_text type, const struct lc_spans_waits *w)
{
	for (size_t i = 0; i < w->rows_len; i++) {
		const struct lc_spans_waited *row = &w->rows[i];
		const uint32_t *key = lc_table_key(&s->tree->sites, row->site);

		fputs(where ? "stream," : "task,", out);
		if (where)
			place_text(out, where);
		else
			quoted(out, type);
		fprintf(out, "%s,", lc_bucket_name(row->bucket));
		quoted(out, lc_tree_text(s->tree, key[LC_SITE_CLASS]));
		place_text(out, lc_span_rows_place(s->rows, key[LC_SITE_PATH]));
		place_text(out, lc_span_rows_place(s->rows, row->path));
		fprintf(out, "%" PRIu64 ",%" PRIu64 "\n", row->samples, w->samples);
	}
}

static void write_sites(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;
	const struct lc_text none = { "", 0 };

	fputs("of,name,bucket,object_class,allocated_at,accessed_at,samples,samples_of_name\n",
	      out);
	for (size_t i = 0; i < s->locations_len && i < r->top; i++)
		waits(out, s, s->locations[i].place, none, &s->locations[i].waits);
	for (size_t i = 0; i < s->types_len && i < r->top; i++)
		waits(out, s, NULL, s->types[i].label, &s->types[i].waits);
	for (size_t i = 0; i < s->unfinished_len && i < r->top; i++)
		waits(out, s, s->unfinished[i].place, s->unfinished[i].type,
		      &s->unfinished[i].waits);
}

static void write_diagnoses(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs("pattern,verdict,why_no_verdict,name,creation,submission,compensated_cycles,summary,"
	      "evidence,change\n",
	      out);
	for (size_t i = 0; i < s->diagnoses_len && i < r->top; i++) {
		const struct lc_spans_diagnosis *d = &s->diagnoses[i];
		char *all = lc_mem_text("%s", "");

		for (size_t k = 0; k < d->evidence_len; k++) {
			char *more = lc_mem_text("%s%s%s", all, k ? "; " : "", d->evidence[k]);

			free(all);
			all = more;
		}
		fprintf(out, "%s,%s,", lc_spans_pattern_name(d->pattern),
		        lc_spans_verdict_name(d->verdict));
		quoted_c(out, d->why ? d->why : "");
		if (d->type)
			quoted(out, d->type->label);
		else
			place_text(out, d->location->place);
		place_text(out, d->type ? d->type->creation : NULL);
		place_text(out, d->type ? d->type->submission : NULL);
		fprintf(out, "%" PRId64 ",", d->cycles);
		quoted_c(out, d->summary);
		quoted_c(out, all);
		fputs("\"", out);
		fputs(d->advice, out);
		fputs("\"\n", out);
		free(all);
	}
}

static void write_recording(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_span_info *i = lc_spans_info(r->spans);

	fputs("name,value\n", out);
	fprintf(out, "clock_hz,%" PRIu64 "\n", i ? i->clock_hz : 0);
	fputs("clock,", out);
	lc_csv_string(out, i && i->clock ? i->clock : "unknown");
	putc('\n', out);
	for (size_t k = 0; i && k < i->costs_len; k++) {
		fputs("cost_", out);
		lc_emit_text_c(out, i->costs[k].name);
		fprintf(out, ",%.3f\n", i->costs[k].mean_cycles);
	}
	for (size_t k = 0; k < r->warnings_len; k++) {
		fputs("warning,", out);
		lc_csv_string(out, r->warnings[k]);
		putc('\n', out);
	}
}

static const struct {
	const char *name;
	void (*write)(FILE *, const struct lc_spans_report *);
} tables[] = {
	{ "recording", write_recording }, { "diagnoses", write_diagnoses },
	{ "locations", write_locations }, { "streams", write_streams },
	{ "paths", write_paths },         { "types", write_types },
	{ "tasks", write_tasks },         { "workers", write_workers },
	{ "heat_map", write_heat },       { "cdf", write_cdf },
	{ "timeline", write_timeline },   { "gc_pauses", write_pauses },
	{ "active", write_active },       { "sites", write_sites },
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

bool lc_spans_csv_table(const char *name, char *names, size_t names_len)
{
	size_t at = 0;

	for (unsigned i = 0; i < TABLES; i++) {
		if (!strcmp(name, tables[i].name))
			return true;
		at += (size_t)snprintf(at < names_len ? names + at : NULL,
		                       at < names_len ? names_len - at : 0, "%s%s", i ? ", " : "",
		                       tables[i].name);
	}
	return false;
}

/* One table is a CSV file of its own. Several follow lines "# NAME", with an empty line between. */
void lc_spans_csv(FILE *out, const struct lc_spans_report *r)
{
	bool first = true;

	for (unsigned i = 0; i < TABLES; i++) {
		if (r->table && strcmp(r->table, tables[i].name) != 0)
			continue;
		if (!r->table)
			fprintf(out, "%s# %s\n", first ? "" : "\n", tables[i].name);
		first = false;
		tables[i].write(out, r);
	}
}
