/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_text.c - writes the report on objects for a terminal. */
#include "analyzer/objects/text/report_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/numa/numa_prose.h"
#include "analyzer/objects/analysis/cpu_breakdown.h"
#include "analyzer/objects/text/report_waiters.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/own.h"
#include "src/base/order.h"

enum {
	THREADS = 10,
	COUNTERS_WIDTH = 96,
	MISSED_LEAST = 40,          /* samples */
	UNEXPLAINED_OF_LEAST = 100, /* observations in Java code */
};

static const char *const bucket_text[LC_BUCKET_COUNT] = {
	[LC_BUCKET_OBJECT] = "in objects with known allocation",
	[LC_BUCKET_HEAP_CLASS] = "in other objects, with known class",
	[LC_BUCKET_HEAP_UNKNOWN] = "in the heap, object unknown",
	[LC_BUCKET_JVM] = "in the JVM: code, metaspace, thread stacks, its own data",
	[LC_BUCKET_NATIVE] = "in native code or memory",
	[LC_BUCKET_NO_ADDRESS] = "address could not be recovered",
	[LC_BUCKET_LOST] = "lost: no room for the record",
};

static void print_engine(FILE *out, const struct lc_load_engine *e)
{
	bool time = strncmp(e->unit, "ns ", 3) == 0;
	char text[32];

	lc_emit_text_c(out, e->name);
	if (*e->event) {
		fputs(" (", out);
		lc_emit_text_c(out, e->event);
		putc(')', out);
	}
	if (e->interval_ns) {
		const char *unit = time ? e->unit + 2 : e->unit;

		if (time)
			fprintf(out, ", one sample every %s",
			        lc_emit_duration(text, sizeof(text), e->interval_ns));
		else
			fprintf(out, ", one sample every %" PRIu64 " ", e->interval_ns);
		lc_emit_text_c(out, unit);
	}
}

/*
 * Write how much a timer's samples represent: how often it could interrupt, how much CPU time it
 * saw.
 */
static void print_timer(FILE *out, const struct lc_load *l, const struct lc_load_engine *e,
                        uint64_t samples)
{
	const char *indent = l->engines_len > 1 ? "            " : "          ";
	uint64_t cpu_ns = lc_report_cpu_ns(l, e);
	char tick[32], sampled[32], used[32];

	if (lc_report_tick_limits(e)) {
		lc_emit_duration(tick, sizeof(tick), e->tick_ns);
		fprintf(out,
		        "%slimited by the kernel's tick: a thread is interrupted every %s, and "
		        "an interrupt counts as %.3g samples\n",
		        indent, tick, (double)e->tick_ns / (double)e->interval_ns);
	}
	if (cpu_ns)
		fprintf(out, "%ssamples represent %s of the %s of CPU time that the threads used\n",
		        indent,
		        lc_emit_duration(sampled, sizeof(sampled), samples * e->interval_ns),
		        lc_emit_duration(used, sizeof(used), cpu_ns));
}

static void print_counted(FILE *out, const struct lc_load *l, uint64_t counted)
{
	const uint64_t causeless = lc_report_causeless(l);

	fprintf(out, "%scounted%s: %" PRIu64 " accesses",
	        l->engines_len > 1 ? "            " : "          ", causeless ? "" : " exactly",
	        counted);
	if (causeless)
		fprintf(out, ", and at most %" PRIu64 " more, whose address the CPU did not report",
		        causeless);
	putc('\n', out);
}

/* All engines of the profile; which one is shown, and how to see the others. */
static void print_engines(FILE *out, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;

	for (uint32_t i = 0; i < l->engines_len; i++) {
		const struct lc_load_engine *e = &l->engines[i];
		const uint64_t samples = lc_report_engine_samples(l->tree, i);
		const uint64_t counted = lc_report_counted(l, e);

		if (l->engines_len == 1)
			fputs("engine    ", out);
		else
			fprintf(out, "%s%2u  ", i ? "        " : "engines ", i + 1);
		print_engine(out, e);
		if (l->engines_len > 1)
			fprintf(out, ": %" PRIu64 " samples, ", samples);
		if (l->engines_len > 1 && i == r->view->engine)
			fputs("shown here", out);
		else if (l->engines_len > 1)
			fprintf(out, "shown by --engine %u", i + 1);
		putc('\n', out);
		if (*e->reason) {
			fputs(l->engines_len > 1 ? "            " : "          ", out);
			lc_emit_text_c(out, e->reason);
			putc('\n', out);
		}
		print_timer(out, l, e, samples);
		if (counted)
			print_counted(out, l, counted);
	}
}

/* Which sites the hooks have counted most: at most three, where counts alone pass the budget. */
static void print_costly_sites(FILE *out, const struct lc_view *v)
{
	uint64_t before = UINT64_MAX, all = 0;

	for (size_t i = 0; i < v->sites_len; i++)
		all += v->sites[i].allocations;
	fputs("          counting allocations alone exceeds the budget, and is never throttled; "
	      "most counted:\n",
	      out);
	for (unsigned n = 0; n < 3 && all; n++) {
		const struct lc_view_site *most = NULL;

		for (size_t i = 0; i < v->sites_len; i++)
			if (v->sites[i].allocations < before &&
			    (!most || v->sites[i].allocations > most->allocations))
				most = &v->sites[i];
		if (!most || most->allocations < 1 + all / 100)
			return;
		before = most->allocations;
		fprintf(out, "            %4.1f%%  ", 100 * lc_share(before, all));
		lc_emit_frame(out, v->tree,
		              lc_table_key(&v->tree->sites, most->site)[LC_SITE_PATH]);
		putc('\n', out);
	}
}

/* Write what Locus itself cost. */
static void print_own(FILE *out, const struct lc_report *r)
{
	struct lc_own o;

	lc_cpu_breakdown_text(out, r->view->load, LC_CPU_BREAKDOWN_FULL);
	if (!lc_own_read(r->view->load, &o))
		return;
	lc_own_text(out, r->view->load);
	if (o.changes)
		fprintf(out,
		        "          to keep its budget, Locus changed sampling intervals %" PRIu64
		        " times; each sample counts by its interval\n",
		        o.changes);
	if (o.over_budget)
		print_costly_sites(out, r->view);
}

/* "direct 61.2%, nearby 3.0%": the shares of those that are not 0. */
static void print_shares(FILE *out, const char *label, const uint64_t *counts, unsigned n,
                         const char *(*name)(unsigned))
{
	unsigned tenths[LC_HOW_COUNT];
	bool first = true;

	lc_view_tenths(counts, n, tenths);
	for (unsigned i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		fprintf(out, "%s%s %u.%u%%", first ? label : ", ", name(i), tenths[i] / 10,
		        tenths[i] % 10);
		first = false;
	}
	if (!first)
		putc('\n', out);
}

static void print_unexplained(FILE *out, const struct lc_view *v)
{
	const uint64_t java = lc_view_java(v), samples = lc_view_unexplained(v);

	if (java)
		fprintf(out,
		        "  unexplained (address or object unknown): %.1f%% of %" PRIu64
		        " samples in Java code\n",
		        100 * lc_share(samples, java), java);
}

static void print_buckets(FILE *out, const struct lc_view *v)
{
	unsigned tenths[LC_BUCKET_COUNT];

	lc_view_tenths(v->buckets, LC_BUCKET_COUNT, tenths);
	fprintf(out, "\nsamples   %" PRIu64, v->total);
	lc_report_weights(out, v);
	if (v->heaviest > v->lightest)
		fprintf(out, ", as good as %.0f of equal weight",
		        lc_wilson_effective(lc_view_all(v)));
	putc('\n', out);
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		fprintf(out, "  %10" PRIu64 "  %3u.%u%%  %s\n", v->buckets[b], tenths[b] / 10,
		        tenths[b] % 10, bucket_text[b]);
	print_shares(out, "  code: ", v->where, LC_WHERE_COUNT, lc_detail_where_name);
	print_shares(out, "  address: ", v->how, LC_HOW_COUNT, lc_detail_how_name);
	print_unexplained(out, v);
	lc_report_text_metric(out, "  measured: ", lc_view_metric_all(v));
}

static void print_incomplete(FILE *out, const struct lc_load *l)
{
	size_t incomplete = 0;
	const char *why;
	char text[32];

	for (size_t i = 0; i < l->processes_len; i++)
		incomplete += !l->processes[i].complete;
	if (!incomplete)
		return;
	if (l->processes_len > 1) {
		fprintf(out,
		        "note: %zu of %zu processes were still running, or were killed: data after "
		        "their last blocks is missing\n",
		        incomplete, l->processes_len);
		return;
	}
	why = l->processes[0].disk_full ? "the disk became full"
	                                : "the program was still running, or was killed";
	if (l->processes[0].last_block_ns <= l->processes[0].start_monotonic_ns) {
		fprintf(out, "note: %s\n", why);
		return;
	}
	fprintf(
	    out, "note: %s: only %s first %s are recorded\n", why,
	    l->processes[0].disk_full ? "the program's" : "its",
	    lc_emit_duration(text, sizeof(text),
	                     l->processes[0].last_block_ns - l->processes[0].start_monotonic_ns));
}

/* Each kind of limit once, as the first process that reached it has it. */
static void print_limits(FILE *out, const struct lc_load *l)
{
	json_t *said = json_object(), *row;
	size_t n;

	for (size_t i = 0; i < l->processes_len; i++) {
		json_array_foreach(l->processes[i].limits, n, row)
		{
			const char *kind = json_string_value(json_object_get(row, "kind"));
			const char *text = json_string_value(json_object_get(row, "text"));

			if (!kind || !text || json_object_get(said, kind))
				continue;
			json_object_set_new(said, kind, json_true());
			fputs("note: ", out);
			lc_emit_text_c(out, text);
			if (l->processes_len > 1)
				fprintf(out, " (process %" PRId64 ")", l->processes[i].pid);
			putc('\n', out);
		}
	}
	json_decref(said);
}

enum { MARKS_SHOWN = 8 };

/* When after the begin of the recording the program has marked what, in one line. */
static void print_marks(FILE *out, const struct lc_load_process *p, bool several)
{
	size_t n, shown = 0, more = 0;
	char text[32];
	json_t *row;

	json_array_foreach(p->marks, n, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));
		const json_int_t at = json_integer_value(json_object_get(row, "time_ns")) -
		                      (json_int_t)p->start_monotonic_ns;

		if (!name || shown == MARKS_SHOWN) {
			more += name != NULL;
			continue;
		}
		fputs(shown ? ", '" : "note: the program marked '", out);
		lc_emit_text_c(out, name);
		fprintf(out, "' after %s",
		        lc_emit_duration(text, sizeof(text), at > 0 ? (uint64_t)at : 0));
		shown++;
	}
	if (more)
		fprintf(out, ", and %zu more", more);
	if (shown && several)
		fprintf(out, " (process %" PRId64 ")", p->pid);
	if (shown)
		putc('\n', out);
}

/* Objects that are counted, but of which it was not known where they are. */
static void print_not_followed(FILE *out, const struct lc_load *l)
{
	const uint64_t lost = lc_load_counter(l, "alloc_records_lost");
	const uint64_t forgotten = lc_load_counter(l, "small_forgotten") +
	                           lc_load_counter(l, "small_forgotten_new") +
	                           lc_load_counter(l, "map_dropped");
	const uint64_t no_hook = lc_load_counter(l, "classes_no_hook_loader");
	size_t without = 0; /* processes */

	for (size_t i = 0; i < l->processes_len; i++) {
		const char *value =
		    json_string_value(json_object_get(l->processes[i].options, "no-hooks"));

		without += value && !strcmp(value, "on");
	}
	if (without)
		fprintf(
		    out, "note: %sno class was instrumented (--no-hooks): %s\n",
		    without < l->processes_len ? "in some of the processes " : "",
		    lc_load_counter(l, "estimate_sampled")
		        ? "counts of allocations are estimates, and the line of an object is "
		          "known only if its allocation was sampled"
		        : "allocations are not counted, and the lines that allocate objects are "
		          "unknown");
	if (lost)
		fprintf(out,
		        "note: %" PRIu64 " objects were counted but not tracked, since the program "
		        "allocated faster than Locus could record: only the class "
		        "of their samples is known; counts are exact\n",
		        lost);
	if (forgotten)
		fprintf(out,
		        "note: at most %" PRIu64
		        " live objects of 128 bytes or less lost their site in collections whose "
		        "moves Locus could not see: only the class of their later samples is "
		        "known\n",
		        forgotten);
	if (no_hook)
		fprintf(out,
		        "note: allocations in %" PRIu64
		        " classes are not counted, since their class loaders cannot see "
		        "java.lang.LocusHook: only the class of the objects that they allocate is "
		        "known\n",
		        no_hook);
}

/* Stacks that could not be walked, and what that means for the samples. */
static void print_faults(FILE *out, const struct lc_load *l)
{
	const uint64_t faults = lc_load_counter(l, "engine_walk_faults");

	if (faults)
		fprintf(out,
		        "note: %" PRIu64 " stack walks ended in a fault, which Locus caught%s\n",
		        faults,
		        lc_load_counter(l, "engine_walks_stopped")
		            ? "; from then on Locus walked no stacks, so samples have no call path"
		            : "");
}

/* Warn if a quarter of the CPU time or more had no interrupts. */
static void print_missed(FILE *out, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;
	const struct lc_load_engine *e;
	uint64_t cpu_ns, sampled_ns;
	char sampled[32], used[32];

	if (r->view->engine >= l->engines_len)
		return;
	e = &l->engines[r->view->engine];
	cpu_ns = lc_report_cpu_ns(l, e);
	sampled_ns = lc_report_engine_samples(r->view->tree, r->view->engine) * e->interval_ns;
	if (sampled_ns + MISSED_LEAST * e->interval_ns >= cpu_ns || sampled_ns >= cpu_ns / 4 * 3)
		return;
	fprintf(out,
	        "note: samples represent %s of the %s of CPU time that the threads used: the "
	        "machine was too busy to interrupt them, and the rest may be elsewhere\n",
	        lc_emit_duration(sampled, sizeof(sampled), sampled_ns),
	        lc_emit_duration(used, sizeof(used), cpu_ns));
}

/* The rows rank what is known: where much is not, the first row may not be the first. */
static void print_much_unexplained(FILE *out, const struct lc_view *v)
{
	const uint64_t java = lc_view_java(v), samples = lc_view_unexplained(v);
	const double seen = lc_wilson_effective(lc_view_all(v)) * lc_share(java, v->total);

	if (seen >= UNEXPLAINED_OF_LEAST && 10 * samples >= java)
		fprintf(
		    out,
		    "note: the object of %.1f%% of %" PRIu64
		    " samples in Java code is unknown; these samples are in no row of objects\n",
		    100 * lc_share(samples, java), java);
}

void lc_report_text_notes(FILE *out, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;
	uint64_t streams, tasks;

	if (!r->live) {
		print_incomplete(out, l);
		lc_report_note_part(out, l);
	}
	print_limits(out, l);
	for (size_t i = 0; i < l->processes_len; i++)
		print_marks(out, &l->processes[i], l->processes_len > 1);
	if (lc_load_damaged(l))
		fprintf(out,
		        "note: the profile is damaged: %" PRIu64 " blocks lost, %" PRIu64
		        " bytes skipped; all numbers cover the rest\n",
		        l->damage.blocks, l->damage.bytes);
	if (l->new_sections)
		fprintf(out, "note: %" PRIu64 " sections of a newer Locus were skipped\n",
		        l->new_sections);
	print_not_followed(out, l);
	print_faults(out, l);
	print_missed(out, r);
	print_much_unexplained(out, r->view);
	lc_report_text_live_note(out, r);
	lc_report_spans(r->view->tree, &streams, &tasks);
	if (streams || tasks)
		fprintf(out,
		        "note: %" PRIu64 " streams and %" PRIu64
		        " tasks were recorded too; 'locus spans' shows them\n",
		        streams, tasks);
	if (r->filtered)
		fputs("note: only the threads chosen by --thread are counted\n", out);
}

/* One line; what there is to say of several nodes says `locus numa`. */
static void print_numa(FILE *out, const struct lc_numa *n)
{
	if (n->state == LC_NUMA_NO_DATA)
		return;
	if (n->state != LC_NUMA_ON) {
		fprintf(out, "numa      %s\n", lc_numa_say_nothing(n));
		return;
	}
	fprintf(out, "numa      %zu nodes: ", n->nodes_len);
	if (n->all.sum.known)
		fprintf(out, "%.1f%% of %" PRIu64 " accesses with known nodes are remote",
		        100 * n->all.sum.remote_share, n->all.sum.known);
	else
		fputs("no access with known nodes", out);
	fputs("; 'locus numa' shows which, and why\n", out);
	if (n->error) {
		fputs("          note: ", out);
		lc_emit_text_c(out, n->error);
		putc('\n', out);
	}
}

void lc_report_text_code(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;
	struct lc_screen s;
	char *why;

	lc_screen_init(&s, out);
	lc_report_waiters(&s, r, r->top);
	why = lc_mem_text("own code: %s", v->tree->own.why);
	lc_screen_wrap(&s, 0, 0, why);
	free(why);
	if (v->lines_len)
		fputs("\nCode: lines by samples\n    share    samples  in objects\n", out);
	for (size_t i = 0; i < v->lines_len && i < r->top; i++) {
		const struct lc_view_code *c = &v->lines[i];

		fprintf(out, "  %6.1f%% %10" PRIu64 "     %6.1f%%  ",
		        100 * lc_share(c->samples, v->total), c->samples,
		        100 * lc_share(c->in_objects, c->samples));
		lc_emit_code(out, v->tree, c->method, c->line1);
		putc('\n', out);
	}
	if (v->methods_len)
		fputs("\nCode: methods by samples\n    share with callees  in objects\n", out);
	for (size_t i = 0; i < v->methods_len && i < r->top; i++) {
		const struct lc_view_code *c = &v->methods[i];

		fprintf(out, "  %6.1f%%      %6.1f%%     %6.1f%%  ",
		        100 * lc_share(c->samples, v->total), 100 * lc_share(c->total, v->total),
		        100 * lc_share(c->in_objects, c->samples));
		lc_emit_code(out, v->tree, c->method, 0);
		putc('\n', out);
	}
}

void lc_report_text_threads(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;
	char bytes[32];

	fprintf(out, "\nThreads: %zu\n    share    samples        tid  allocations       bytes\n",
	        v->threads_len);
	for (size_t i = 0; i < v->threads_len && i < THREADS; i++) {
		const struct lc_view_thread *t = &v->threads[i];

		fprintf(out, "  %6.1f%% %10" PRIu64 " %10" PRIu32 " %12" PRIu64 " %11s  ",
		        100 * lc_share(t->samples, v->total), t->samples, t->tid, t->allocations,
		        lc_emit_bytes(bytes, sizeof(bytes), t->bytes));
		lc_emit_text(out, lc_tree_text(v->tree, t->name));
		putc('\n', out);
	}
	if (v->threads_len > THREADS)
		fprintf(out, "  ... %zu more\n", v->threads_len - THREADS);
}

/* One counter after others on the line. Returns the column where it ended. */
static int print_counter(FILE *out, int column, const char *name, uint64_t value)
{
	char text[160];
	int len = snprintf(text, sizeof(text), "  %.120s %" PRIu64, name, value);

	if (!column)
		fputs("\nCounters\n", out);
	if (column + len > COUNTERS_WIDTH) {
		putc('\n', out);
		column = 0;
	}
	lc_emit_text_c(out, text);
	return column + len;
}

/* Counters of the recording that are not 0; of several processes, their sums. */
static void print_counters(FILE *out, const struct lc_load *l)
{
	json_t *seen = json_object();
	int column = 0;

	for (size_t i = 0; i < l->processes_len; i++) {
		const char *name;
		json_t *value;

		json_object_foreach(l->processes[i].counters, name, value)
		{
			uint64_t sum;

			if (json_object_get(seen, name))
				continue;
			json_object_set_new(seen, name, json_true());
			sum = lc_load_counter(l, name);
			if (sum)
				column = print_counter(out, column, name, sum);
		}
	}
	json_decref(seen);
	if (column)
		putc('\n', out);
}

void lc_report_text_recording(FILE *out, const struct lc_report *r)
{
	lc_report_program(out, r->view->load);
	print_engines(out, r);
	print_own(out, r);
	print_numa(out, r->numa);
	print_buckets(out, r->view);
	lc_report_text_notes(out, r);
	print_counters(out, r->view->load);
}
