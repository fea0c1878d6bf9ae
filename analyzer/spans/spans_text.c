/* SPDX-License-Identifier: Apache-2.0 */
/* spans/spans_text.c - writes the report on spans for a terminal. */
#include "analyzer/spans/spans_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/report_command.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/own.h"
#include "analyzer/spans/spans_impl.h"

enum {
	HEAT_COLUMNS = 16, /* columns of the picture; pairs of columns are joined until they fit */
	HEAT_LEVELS = 20,
	CHART_COLUMNS = 60,
	OBJECTS = 3,      /* objects shown for a place */
	PATH_FRAMES = 32, /* lines shown of a path */
};

static const char shades[] = " .:-=+*#%@";

static const char *number(char *out, double v)
{
	return lc_spans_number(out, v, "");
}

/* Write a quantile; "-" without executions. */
static const char *quantile(char *out, const uint64_t *h, double q)
{
	double v = lc_spans_quantile(h, q);

	if (v < 0)
		return strcpy(out, "-");
	return number(out, v);
}

/* Write cycles with those of spans inside; "-" if an old profile does not tell. */
static const char *total(char *out, double cycles, bool unknown)
{
	return unknown ? strcpy(out, "-") : number(out, cycles);
}

/* ---- head ---- */

static void print_recording(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_span_info *i = lc_spans_info(r->spans);

	fputs("clock     ", out);
	lc_emit_text_c(out, i && i->clock ? i->clock : "unknown");
	if (i && i->clock_hz)
		fprintf(out, ", %.4g GHz", (double)i->clock_hz / 1e9);
	if (i && i->clock_reason) {
		fputs("\n          ", out);
		lc_emit_text_c(out, i->clock_reason);
	}
	fputs("\ncosts     calibration ", out);
	lc_emit_text_c(out, i && i->calibration ? i->calibration : "none");
	for (size_t k = 0; i && k < i->costs_len; k++) {
		fputs(!k ? "; cycles:\n          " : k % 3 ? ", " : ",\n          ", out);
		lc_emit_text_c(out, i->costs[k].name);
		fprintf(out, " %.1f (variation %.2f)", i->costs[k].mean_cycles,
		        i->costs[k].variation);
	}
	putc('\n', out);
	for (size_t k = 0; k < r->warnings_len; k++) {
		fputs("        ! ", out);
		lc_emit_text_c(out, r->warnings[k]);
		putc('\n', out);
	}
}

static void print_cycles(FILE *out, const struct lc_spans *s, double cycles)
{
	char text[16], time[32];

	fprintf(out, "%s cycles", number(text, cycles));
	if (s->hz > 0 && cycles > 0)
		fprintf(out, " (%s of CPU time)",
		        lc_emit_duration(time, sizeof(time), (uint64_t)(cycles / s->hz * 1e9)));
}

/* Write the spans that were still running; their cycles are in the sums. */
static void print_running(FILE *out, const struct lc_spans *s)
{
	const struct lc_spans_sum *const all[] = { &s->streams_sum, &s->support_sum, &s->tasks_sum,
		                                   &s->threads_sum };
	uint64_t running = 0;
	double cycles = 0;

	for (unsigned i = 0; i < 4; i++) {
		running += all[i]->running;
		cycles += (double)all[i]->running_cycles;
	}
	if (!running)
		return;
	fprintf(out,
	        "running   still at the end: %" PRIu64 " streams, %" PRIu64
	        " tasks of parallel streams, %" PRIu64 " tasks, %" PRIu64 " threads;\n          ",
	        all[0]->running, all[1]->running, all[2]->running, all[3]->running);
	print_cycles(out, s, cycles);
	fputs(" so far, included in all sums\n", out);
}

/* Write the cycles below their row. */
static void print_still_running(FILE *out, uint64_t running, double cycles)
{
	char text[16];

	if (running)
		fprintf(out, "          still running at the end: %" PRIu64 ", %s cycles so far\n",
		        running, number(text, cycles));
}

static void print_totals(FILE *out, const struct lc_spans *s)
{
	const uint64_t tasks = lc_spans_executed(&s->tasks_sum, &s->threads_sum);

	fprintf(out,
	        "streams   %" PRIu64 ": %" PRIu64 " sequential, %" PRIu64 " parallel (%" PRIu64
	        " tasks), %" PRIu64 " pulled, %" PRIu64 " foreign\n          ",
	        lc_spans_stream_count(s), s->kinds[LC_SPAN_ANONYMOUS], s->kinds[LC_SPAN_PRIMORDIAL],
	        s->kinds[LC_SPAN_SUPPORT], s->kinds[LC_SPAN_PULLED], s->kinds[LC_SPAN_FOREIGN]);
	print_cycles(out, s, lc_spans_stream_cycles(s));
	fprintf(out, ", %" PRIu64 " negative\n", s->streams_sum.negative + s->support_sum.negative);
	fprintf(out,
	        "tasks     %" PRIu64 " executed, %" PRIu64
	        " of them as part of another task, %" PRIu64 " threads;\n          %" PRIu64
	        " created%s, %" PRIu64 " submitted, %" PRIu64 " never executed\n          ",
	        tasks, s->tasks_sum.folded + s->threads_sum.folded, s->threads_sum.executions,
	        s->created, s->part ? " or more" : "", s->submitted, s->dropped);
	print_cycles(out, s, lc_spans_task_cycles(s));
	fprintf(out, ", %" PRIu64 " negative\n", s->tasks_sum.negative + s->threads_sum.negative);
	print_running(out, s);
	if (s->trace.rows)
		fprintf(out,
		        "trace     %" PRIu64 " single spans (--format=trace), of %" PRIu64
		        " task objects\n",
		        s->trace.rows, s->trace.objects);
}

/* ---- diagnoses ---- */

static void print_diagnosis(FILE *out, const struct lc_spans_diagnosis *d, size_t n)
{
	fprintf(out, "\n%3zu. %s (%s)  ", n + 1, lc_spans_pattern_name(d->pattern),
	        lc_spans_verdict_name(d->verdict));
	if (d->type)
		lc_emit_text(out, d->type->label);
	else
		lc_spans_emit_place(out, d->location->place);
	putc('\n', out);
	if (d->why)
		fprintf(out, "      no verdict: %s\n", d->why);
	else
		fprintf(out, "      %s\n", d->summary);
	for (size_t i = 0; i < d->evidence_len; i++)
		fprintf(out, "          - %s\n", d->evidence[i]);
	if (d->type) {
		fputs("      created at    ", out);
		lc_spans_emit_place(out, d->type->creation);
		fputs("\n      submitted at  ", out);
		lc_spans_emit_place(out, d->type->submission);
		if (d->type->submit_kind)
			fprintf(out, " (%s)", lc_submit_kind_name(d->type->submit_kind));
		putc('\n', out);
	}
	if (!d->why)
		fprintf(out, "      change        %s\n", d->advice);
}

/* Name the pool that executes it by its busiest thread. */
static void print_executor(FILE *out, const struct lc_spans *s, const struct lc_spans_balance *b)
{
	if (!b->workers_len)
		return;
	fprintf(out, "      executed by   %zu %s, most by ", b->workers_len,
	        b->workers_len == 1 ? "thread" : "threads");
	lc_emit_text(out, s->rows->threads[b->workers[0].thread].name);
	putc('\n', out);
}

static void print_diagnoses(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	fputs("\nDiagnoses\n", out);
	if (!s->diagnoses_len)
		fputs("          none: nothing looks too small, too large or uneven\n", out);
	for (size_t i = 0; i < s->diagnoses_len && i < r->top; i++) {
		const struct lc_spans_diagnosis *d = &s->diagnoses[i];

		print_diagnosis(out, d, i);
		print_executor(out, s, d->type ? &d->type->shared : &d->location->shared);
	}
	if (s->diagnoses_len > r->top)
		fprintf(out, "     ... %zu more\n", s->diagnoses_len - r->top);
}

/* ---- streams ---- */

static void print_path(FILE *out, const struct lc_tree *t, uint32_t path)
{
	for (unsigned i = 0; path; i++) {
		const uint32_t frame = lc_table_key(&t->paths, path)[LC_PATH_FRAME];
		unsigned times = 0;

		if (i == PATH_FRAMES && lc_tree_depth(t, path) > 1) {
			fprintf(out, "              ... %u more frames\n", lc_tree_depth(t, path));
			return;
		}
		fputs("              ", out);
		lc_emit_frame(out, t, path);
		for (; path && lc_table_key(&t->paths, path)[LC_PATH_FRAME] == frame; times++)
			path = lc_tree_parent(t, path);
		if (times > 1)
			fprintf(out, " (%u times)", times);
		putc('\n', out);
	}
}

/* Write call paths below their row; `word` names what was executed. */
static void print_paths(FILE *out, const struct lc_spans_report *r, const struct lc_spans_paths *of,
                        const char *word)
{
	struct lc_spans_paths joined;
	char c[16];

	if (!of->len)
		return;
	joined = lc_spans_join_paths(r->spans, of);
	for (size_t i = 0; i < joined.len && i < r->top; i++) {
		const struct lc_spans_path *p = &joined.rows[i];

		fprintf(out, "          %" PRIu64 " %s", p->executions + p->folded, word);
		if (p->running)
			fprintf(out, " and %" PRIu64 " still running", p->running);
		fprintf(out, ", %s cycles from%s\n", number(c, (double)p->cycles),
		        p->path ? "" : " (unknown)");
		print_path(out, r->spans->tree, p->path);
		if (p->submit_path) {
			fputs("            submitted from\n", out);
			print_path(out, r->spans->tree, p->submit_path);
		}
	}
	if (joined.len > r->top)
		fprintf(out, "          ... %zu more paths\n", joined.len - r->top);
	free(joined.rows);
}

static void print_locations(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	if (!s->locations_len)
		return;
	fputs("\nPlaces of streams\n"
	      "   streams          cycles          total     p50     p90    levels  at\n",
	      out);
	for (size_t i = 0; i < s->locations_len && i < r->top; i++) {
		const struct lc_spans_location *l = &s->locations[i];
		char n[16], c[16], a[16], b[16], all[16];

		fprintf(out, "  %7s %5.1f%%  %7s %5.1f%%  %7s %7s %7s  %7u  ",
		        number(n, (double)l->streams),
		        100 * lc_spans_share((double)l->streams, (double)lc_spans_stream_count(s)),
		        number(c, (double)l->sum.cycles),
		        100 * lc_spans_share((double)l->sum.cycles, lc_spans_stream_cycles(s)),
		        total(all, (double)l->sum.total, l->sum.total_unknown),
		        quantile(a, l->sum.histogram, 0.5), quantile(b, l->sum.histogram, 0.9),
		        l->levels);
		lc_spans_emit_place(out, l->place);
		putc('\n', out);
		print_still_running(out, l->sum.running, (double)l->sum.running_cycles);
		if (l->shared.variation >= 0)
			fprintf(out,
			        "          parallel: %" PRIu64 " executions, %" PRIu64
			        " tasks on %zu workers, coefficient of variation of their total "
			        "cycles %.2f\n",
			        l->kinds[LC_SPAN_PRIMORDIAL], l->kinds[LC_SPAN_SUPPORT],
			        l->shared.workers_len, l->shared.variation);
		print_paths(out, r, &l->paths, "streams");
	}
	if (s->locations_len > r->top)
		fprintf(out, "     ... %zu more\n", s->locations_len - r->top);
}

/* Find the first and last non-empty column. Returns false if all are empty. */
static bool used_columns(const struct lc_spans_heat *h, unsigned *first, unsigned *last)
{
	bool any = false;

	for (size_t i = 0; i < (size_t)h->levels * LC_SPANS_COLUMNS; i++) {
		unsigned c = (unsigned)(i % LC_SPANS_COLUMNS);

		if (!h->cells[i].count)
			continue;
		if (!any || c < *first)
			*first = c;
		if (!any || c > *last)
			*last = c;
		any = true;
	}
	return any;
}

static void print_heat(FILE *out, const char *title, const struct lc_spans_heat *h)
{
	unsigned first = 0, last = 0, step = 1;
	double most = 0;

	if (!used_columns(h, &first, &last))
		return;
	while ((last - first) / step + 1 > HEAT_COLUMNS)
		step *= 2;
	for (unsigned level = 0; level < h->levels; level++)
		for (unsigned c = first; c <= last; c++)
			most = fmax(most, h->cells[level * LC_SPANS_COLUMNS + c].cycles);
	fprintf(out,
	        "\n%s: number at each level (rows) by cycles (columns: at least so many);\nthe "
	        "mark after a number shows its part of all cycles, from ' ' to '@'\n  level",
	        title);
	for (unsigned c = first; c <= last; c += step) {
		char text[16];

		fprintf(out, " %6s ", number(text, lc_spans_column_low(c)));
	}
	putc('\n', out);
	for (unsigned level = 0; level < h->levels && level < HEAT_LEVELS; level++) {
		fprintf(out, "  %5u", level);
		for (unsigned c = first; c <= last; c += step) {
			uint64_t count = 0;
			double cycles = 0;
			char text[16] = "";
			unsigned shade;

			for (unsigned k = c; k < c + step && k <= last; k++) {
				count += h->cells[level * LC_SPANS_COLUMNS + k].count;
				cycles += h->cells[level * LC_SPANS_COLUMNS + k].cycles;
			}
			shade =
			    most > 0 && cycles > 0 ? (unsigned)fmin(9, ceil(9 * cycles / most)) : 0;
			fprintf(out, " %6s%c", count ? number(text, (double)count) : "",
			        count ? shades[shade] : ' ');
		}
		putc('\n', out);
	}
	if (h->levels > HEAT_LEVELS)
		fprintf(out, "     ... %u more levels; --format=json has them\n",
		        h->levels - HEAT_LEVELS);
}

/* ---- tasks ---- */

/* Write the number of objects, with a "+" if there were more. */
static const char *created(char *out, const struct lc_spans_type *t)
{
	number(out, (double)t->created);
	return t->part ? strcat(out, "+") : out;
}

static void print_types(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	if (!s->types_len)
		return;
	fputs("\nTasks by type, with cycles per task\n executed    cycles           total     p10  "
	      "   p50     p90     p99  created submitted   never  type\n",
	      out);
	for (size_t i = 0; i < s->types_len && i < r->top; i++) {
		const struct lc_spans_type *t = &s->types[i];
		double cycles = (double)t->sum.cycles + (double)t->threads.cycles;
		char a[16], b[16], c[16], d[16], e[16], f[16], g[16], h[16], n[16], all[16];

		fprintf(out, "  %7s   %7s %5.1f%% %7s %7s %7s %7s %7s  %7s   %7s %7s  ",
		        number(n, (double)lc_spans_executed(&t->sum, &t->threads)),
		        number(a, cycles), 100 * lc_spans_share(cycles, lc_spans_task_cycles(s)),
		        total(all, (double)t->sum.total + (double)t->threads.total,
		              t->sum.total_unknown || t->threads.total_unknown),
		        quantile(b, t->sum.histogram, 0.1), quantile(c, t->sum.histogram, 0.5),
		        quantile(d, t->sum.histogram, 0.9), quantile(e, t->sum.histogram, 0.99),
		        created(f, t), number(g, (double)t->submitted),
		        t->part ? "-" : number(h, (double)t->dropped));
		lc_emit_text(out, t->name);
		fputs(t->threads.executions + t->threads.running ? " (thread)\n" : "\n", out);
		print_still_running(out, t->sum.running + t->threads.running,
		                    (double)t->sum.running_cycles +
		                        (double)t->threads.running_cycles);
		if (t->creation->number) {
			fputs("          created at ", out);
			lc_spans_emit_place(out, t->creation);
			putc('\n', out);
		}
		if (t->submit_kind) {
			fprintf(out, "          submitted (%s) at ",
			        lc_submit_kind_name(t->submit_kind));
			lc_spans_emit_place(out, t->submission);
			putc('\n', out);
		}
		if (t->shared.variation >= 0)
			fprintf(out,
			        "          on %zu workers, coefficient of variation of their "
			        "total cycles %.2f\n",
			        t->shared.workers_len, t->shared.variation);
		print_paths(out, r, &t->paths, "tasks");
	}
	if (s->types_len > r->top)
		fprintf(out, "     ... %zu more\n", s->types_len - r->top);
}

/* ---- workers and time ---- */

static void print_workers(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;
	double all = lc_spans_stream_cycles(s) + lc_spans_task_cycles(s);
	size_t shown = 0;

	if (!s->balance.workers_len)
		return;
	fputs("\nWorkers", out);
	if (s->balance.variation >= 0)
		fprintf(out, ": coefficient of variation of their cycles %.2f",
		        s->balance.variation);
	fputs("\n   cycles            streams    tasks   switches  thread\n", out);
	for (size_t i = 0; i < s->threads_len && shown < r->top; i++) {
		const struct lc_spans_thread *t = &s->threads[i];
		char a[16], b[16], c[16], d[16];

		if (!(t->streams.executions + t->tasks.executions + t->self.executions +
		      t->streams.running + t->tasks.running + t->self.running))
			continue;
		shown++;
		fprintf(out, "  %7s %5.1f%%  %9s %8s  %9s  ", number(a, (double)t->cycles),
		        100 * lc_spans_share((double)t->cycles, all),
		        number(b, (double)t->streams.executions),
		        number(c, (double)t->tasks.executions),
		        number(d, (double)(t->voluntary + t->involuntary)));
		lc_emit_text(out, s->rows->threads[t->thread].name);
		fprintf(out, " (%u)\n", s->rows->threads[t->thread].tid);
	}
	if (s->balance.workers_len > shown)
		fprintf(out, "     ... %zu more\n", s->balance.workers_len - shown);
}

/* Write a line of marks: the value in each part of [0, duration), relative to the largest value. */
static void print_chart(FILE *out, const char *label, const double *values, size_t len, double most)
{
	fprintf(out, "  %-9s|", label);
	for (size_t i = 0; i < len; i++)
		putc(most > 0 && values[i] > 0
		         ? shades[(unsigned)fmin(9, ceil(9 * values[i] / most))]
		         : ' ',
		     out);
	fputs("|\n", out);
}

static void print_time(FILE *out, const struct lc_spans *s)
{
	double cpu[CHART_COLUMNS] = { 0 }, switches[CHART_COLUMNS] = { 0 };
	double gc[CHART_COLUMNS] = { 0 }, most[3] = { 0 }, gc_ns = 0;
	const double duration = (double)lc_spans_duration(s);
	const struct lc_spans_mean mean = lc_spans_mean(s, 0, UINT64_MAX >> 1, false, 0);
	char text[32];

	if (!s->timeline_len || duration <= 0)
		return;
	for (size_t i = 0; i < s->timeline_len; i++) {
		double at = (double)s->timeline[i].start_ns + (double)LC_TIMELINE_NS / 2;
		size_t c = (size_t)fmin(CHART_COLUMNS - 1, fmax(0, at / duration * CHART_COLUMNS));

		cpu[c] += (double)s->timeline[i].cpu_ns;
		switches[c] += (double)(s->timeline[i].voluntary + s->timeline[i].involuntary);
	}
	for (size_t i = 0; i < s->pauses_len; i++) {
		size_t c = (size_t)fmin(CHART_COLUMNS - 1, fmax(0, (double)s->pauses[i].start_ns /
		                                                       duration * CHART_COLUMNS));

		gc[c] += (double)s->pauses[i].duration_ns;
		gc_ns += (double)s->pauses[i].duration_ns;
	}
	for (size_t c = 0; c < CHART_COLUMNS; c++) {
		most[0] = fmax(most[0], cpu[c]);
		most[1] = fmax(most[1], switches[c]);
		most[2] = fmax(most[2], gc[c]);
	}
	fprintf(out,
	        "\nTime: %.2f CPUs in use on average, %.1f context switches in 100 ms, %zu GC "
	        "pauses of %s in all\n",
	        mean.cores, mean.switches, s->pauses_len,
	        lc_emit_duration(text, sizeof(text), (uint64_t)gc_ns));
	print_chart(out, "CPU", cpu, CHART_COLUMNS, most[0]);
	print_chart(out, "switches", switches, CHART_COLUMNS, most[1]);
	print_chart(out, "GC", gc, CHART_COLUMNS, most[2]);
	fprintf(out, "            0%*s\n", CHART_COLUMNS - 1,
	        lc_emit_duration(text, sizeof(text), (uint64_t)duration));
}

/* ---- objects waited for ---- */

/* Samples in objects of a row's site at its line, with any caller. 0: an earlier row has them. */
static uint64_t same_objects(const struct lc_spans *s, const struct lc_spans_waits *w, size_t at)
{
	const struct lc_span_place *line = lc_span_rows_place(s->rows, w->rows[at].path);
	uint64_t samples = 0;

	for (size_t i = 0; i < w->rows_len; i++) {
		const struct lc_spans_waited *row = &w->rows[i];

		if (row->site != w->rows[at].site || row->bucket != w->rows[at].bucket ||
		    lc_span_rows_place(s->rows, row->path) != line)
			continue;
		if (i < at)
			return 0;
		samples += row->samples;
	}
	return samples;
}

static void print_waits(FILE *out, const struct lc_spans *s, const struct lc_span_place *where,
                        struct lc_text type, const struct lc_spans_waits *w)
{
	size_t shown = 0;

	if (!w->rows_len)
		return;
	fprintf(out, "  %5.1f%%  ",
	        100 * lc_spans_share((double)w->samples, (double)s->span_samples));
	if (where)
		lc_spans_emit_place(out, where);
	else
		lc_emit_text(out, type);
	fprintf(out, "  %" PRIu64 " samples\n", w->samples);
	for (size_t i = 0; i < w->rows_len && shown < OBJECTS; i++) {
		const struct lc_spans_waited *row = &w->rows[i];
		const uint32_t *key = lc_table_key(&s->tree->sites, row->site);
		uint64_t samples = same_objects(s, w, i);

		if (!samples)
			continue;
		shown++;
		fprintf(out, "            %5.1f%%  ",
		        100 * lc_spans_share((double)samples, (double)w->samples));
		lc_emit_text(out, lc_tree_text(s->tree, key[LC_SITE_CLASS]));
		if (key[LC_SITE_PATH]) {
			fputs(" of ", out);
			lc_emit_frame(out, s->tree, key[LC_SITE_PATH]);
		}
		if (row->path) {
			fputs(", touched at ", out);
			lc_emit_frame(out, s->tree, row->path);
		}
		putc('\n', out);
	}
}

static void print_sites(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;
	const struct lc_text none = { "", 0 };

	if (!s->span_samples)
		return;
	fputs("\nObjects that streams and tasks waited for (", out);
	lc_emit_text_c(out, s->engine < s->load->engines_len ? s->load->engines[s->engine].name
	                                                     : "unknown");
	fprintf(out, ", %" PRIu64 " samples inside spans)\n", s->span_samples);
	for (size_t i = 0; i < s->locations_len && i < r->top; i++)
		print_waits(out, s, s->locations[i].place, none, &s->locations[i].waits);
	for (size_t i = 0; i < s->types_len && i < r->top; i++)
		print_waits(out, s, NULL, s->types[i].label, &s->types[i].waits);
	for (size_t i = 0; i < s->unfinished_len && i < r->top; i++)
		print_waits(out, s, s->unfinished[i].place, s->unfinished[i].type,
		            &s->unfinished[i].waits);
}

void lc_spans_text(FILE *out, const struct lc_spans_report *r)
{
	lc_report_program(out, r->spans->load);
	lc_report_note_part(out, r->spans->load);
	lc_own_text(out, r->spans->load);
	print_recording(out, r);
	print_totals(out, r->spans);
	print_diagnoses(out, r);
	print_locations(out, r);
	print_heat(out, "Streams", &r->spans->heat);
	print_heat(out, "Tasks of parallel streams", &r->spans->support);
	print_types(out, r);
	print_workers(out, r);
	print_time(out, r->spans);
	print_sites(out, r);
}
