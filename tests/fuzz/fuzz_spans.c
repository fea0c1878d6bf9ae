/* uses: analyzer/base/plain.c analyzer/spans/spans.c analyzer/spans/spans_sort.c analyzer/spans/spans_math.c analyzer/spans/spans_paths.c analyzer/spans/spans_time.c analyzer/spans/spans_trace.c analyzer/spans/spans_diagnose.c analyzer/spans/span_rows.c analyzer/spans/span_running.c analyzer/spans/spans_prose.c analyzer/spans/spans_text.c analyzer/spans/spans_json.c analyzer/spans/spans_json_time.c analyzer/spans/spans_csv.c analyzer/spans/spans_collapsed.c analyzer/spans/spans_events.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/json_processes.c analyzer/out/json.c analyzer/out/emit.c analyzer/out/csv.c analyzer/out/html.c analyzer/out/own.c analyzer/model/tree_spans.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c src/format/section.c src/base/options.c src/base/nearest.c src/base/redact.c -lzstd -lz -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_spans.c - gives arbitrary sections of spans to everything that `locus spans` does with them:
 * the sums, the diagnoses and each format.
 *
 * The first byte chooses the kind of block, the order of the report, and what the manifests of two
 * processes say; the rest is a payload, as no mutation would reach behind the checksums of a file.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/report_command.h"
#include "analyzer/model/block_decoder.h"
#include "analyzer/spans/spans_command.h"
#include "src/format/block.h"
#include "src/format/kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ALL_THREADS = 1, BY_EXECUTIONS = 2, BY_SWITCHES = 4, OLD_MANIFEST = 8, FEW_ROWS = 16 };

/* ---- what a report is made of ---- */

/* In place of the whole of analyzer/cli/. */
void lc_report_note_part(FILE *out, const struct lc_load *l)
{
}

void lc_report_program(FILE *out, const struct lc_load *l)
{
	fprintf(out, "%zu", l->processes_len);
}

static json_t *spans_of_manifest(void)
{
	static const char text[] =
	    "{\"streams\":true,\"tasks\":true,\"clock\":\"tsc_coarse\",\"clock_hz\":2000000000,"
	    "\"costs\":[{\"name\":\"inner\",\"mean_cycles\":26.5,\"variation\":0.01}]}";

	return json_loads(text, 0, NULL);
}

static void fill_processes(struct lc_load_process *p, unsigned flags)
{
	for (unsigned i = 0; i < 2; i++)
		p[i] = (struct lc_load_process){ .command = "java",
			                         .jdk = "17",
			                         .gc = "G1",
			                         .host = i ? "web1" : "",
			                         .pid = i + 1,
			                         .complete = i,
			                         .start_monotonic_ns = 1000,
			                         .options = json_object(),
			                         .counters = json_object() };
	if (flags & OLD_MANIFEST)
		json_object_set_new(p[0].counters, "spans_other_place", json_integer(3));
	else
		p[1].spans = spans_of_manifest();
}

static void free_processes(struct lc_load_process *p)
{
	for (unsigned i = 0; i < 2; i++) {
		json_decref(p[i].options);
		json_decref(p[i].counters);
		json_decref(p[i].spans);
	}
}

/* ---- what holds of all of them ---- */

static void insist(bool holds)
{
	if (!holds)
		abort();
}

/* No execution is in no row, and none in two. Sums are modulo 2^64 here, as all may be huge. */
static void check_sums(const struct lc_spans *s)
{
	uint64_t rows[2] = { 0 }, streams = 0, locations = 0, tasks = 0, types = 0;
	uint64_t running[2] = { 0 }, running_streams = 0, running_tasks = 0;

	for (size_t i = 0; i < s->rows->rows_len; i++) {
		const struct lc_span_row *r = &s->rows->rows[i];

		rows[r->kind == LC_SPAN_TASK || r->kind == LC_SPAN_THREAD] += r->executions;
		running[r->kind == LC_SPAN_TASK || r->kind == LC_SPAN_THREAD] += r->running;
	}
	for (size_t i = 0; i < s->streams_len; i++)
		streams += s->streams[i].sum.executions;
	for (size_t i = 0; i < s->locations_len; i++) {
		locations += s->locations[i].sum.executions;
		running_streams += s->locations[i].sum.running;
	}
	for (size_t i = 0; i < s->tasks_len; i++)
		tasks += s->tasks[i].sum.executions;
	for (size_t i = 0; i < s->types_len; i++) {
		types += s->types[i].sum.executions + s->types[i].threads.executions;
		running_tasks += s->types[i].sum.running + s->types[i].threads.running;
	}
	insist(streams == rows[0] && locations == rows[0]);
	insist(tasks == rows[1] && types == rows[1]);
	insist(running_streams == running[0] && running_tasks == running[1]);
	insist(running[0] + running[1] <= s->tree->running.count);
}

static void check_diagnoses(const struct lc_spans *s)
{
	for (size_t i = 0; i < s->diagnoses_len; i++) {
		const struct lc_spans_diagnosis *d = &s->diagnoses[i];

		insist(!d->type != !d->location);
		insist(d->summary && d->advice && d->evidence_len <= LC_SPANS_EVIDENCE);
	}
}

typedef void writer(FILE *, const struct lc_spans_report *);

/* Returns what was written; free it. */
static char *text_of(writer *write, const struct lc_spans_report *r, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	write(out, r);
	fclose(out);
	return text;
}

static void check_json(writer *write, const struct lc_spans_report *r)
{
	size_t len = 0;
	char *text = text_of(write, r, &len);
	json_t *json = json_loadb(text, len, JSON_ALLOW_NUL, NULL);

	insist(json != NULL);
	json_decref(json);
	free(text);
}

static void check_formats(const struct lc_spans *s, unsigned flags)
{
	static writer *const texts[] = { lc_spans_text, lc_spans_csv, lc_spans_collapsed,
		                         lc_spans_html };
	struct lc_spans_report r = { .spans = s, .top = flags & FEW_ROWS ? 1 : SIZE_MAX };

	r.warnings = lc_spans_warnings(s, &r.warnings_len);
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t len = 0;

		free(text_of(texts[i], &r, &len));
	}
	check_json(lc_spans_json, &r);
	check_json(lc_spans_trace_events, &r);
	for (size_t i = 0; i < r.warnings_len; i++)
		free(r.warnings[i]);
	free(r.warnings);
}

static void check_report(struct lc_tree *t, unsigned flags)
{
	enum lc_spans_sort sort = flags & BY_EXECUTIONS ? LC_SPANS_BY_EXECUTIONS
	                          : flags & BY_SWITCHES ? LC_SPANS_BY_SWITCHES
	                                                : LC_SPANS_BY_CYCLES;
	struct lc_load_process processes[2];
	struct lc_load load = { .tree = t,
		                .engines = { { "timer", "", "samples", "", 5000000 },
		                             { "watch", "", "hits", "", 0 } },
		                .engines_len = 2,
		                .processes = processes,
		                .processes_len = 2 };
	struct lc_span_rows rows;
	struct lc_spans spans;

	fill_processes(processes, flags);
	lc_span_rows_build(&rows, &load);
	lc_spans_build(&spans, &load, &rows, UINT32_MAX, sort);
	check_sums(&spans);
	check_diagnoses(&spans);
	check_formats(&spans, flags);
	lc_spans_free(&spans);
	lc_span_rows_free(&rows);
	free_processes(processes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct lc_block_target target = { .process_count = 2,
		                          .engines = { 0, 1 },
		                          .engines_len = 2 };
	struct lc_block_decoder d = { 0 };
	struct lc_block_header h;
	struct lc_tree tree;

	if (!len)
		return 0;
	h = (struct lc_block_header){ .thread_index = data[0] & ALL_THREADS ? LC_THREAD_ALL : 1,
		                      .t_begin_ns = 2000,
		                      .t_end_ns = 3000000000 };
	lc_tree_init(&tree);
	target.tree = &tree;
	(void)lc_block_decode(&d, &h, data + 1, len - 1, &target);
	lc_block_decoder_free(&d);
	check_report(&tree, data[0]);
	lc_tree_free(&tree);
	return 0;
}
