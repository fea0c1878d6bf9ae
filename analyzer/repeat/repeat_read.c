/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat_read.c - loads a run's profiles into a tree, fills the tables, and frees the tree.
 * Names go into a tree of the repeat's own, which grows with the differences between runs. If rows
 * are by line, all runs are loaded twice: only after the last run is it known which classes' lines
 * all runs have.
 */
#include "analyzer/repeat/repeat_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/model/tree_lines.h"
#include "analyzer/objects/analysis/identity.h"
#include "analyzer/objects/analysis/report.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/out/screen.h"
#include "analyzer/spans/spans.h"

/* A run that is read. */
struct reading {
	struct lc_repeat *r;
	struct lc_repeat_run *run;
	struct lc_known_lines *told;
	struct lc_tree tree;
	struct lc_load load;
	struct lc_view view;
	struct lc_ranking ranking;
	FILE *key; /* of the entry that is looked for */
	char *key_text;
	size_t key_len;
};

/* ---- entries ---- */

static void begin_key(struct reading *in)
{
	in->key = lc_text_open(&in->key_text, &in->key_len);
}

/* The entry of a table that the key, which is whole, stands for. */
static struct lc_repeat_entry *find(struct reading *in, enum lc_repeat_kind kind)
{
	uint32_t key;

	lc_mem_close_text(in->key);
	key = lc_tree_string(&in->r->names, in->key_text, in->key_len);
	free(in->key_text);
	return lc_repeat_entry_of(&in->r->tables[kind], key);
}

/* Values of this run are those of the column that is not counted yet. */
static void add(struct reading *in, enum lc_repeat_kind kind, struct lc_repeat_entry *e,
                double value)
{
	e->values[in->r->tables[kind].columns] += value;
}

static void add_total(struct reading *in, enum lc_repeat_kind kind, double value)
{
	struct lc_repeat_table *t = &in->r->tables[kind];

	t->totals[t->columns] += value;
}

static uint32_t keep_text(struct reading *in, struct lc_text text)
{
	return lc_tree_string(&in->r->names, text.bytes, text.len);
}

static uint32_t keep_method(struct reading *in, uint32_t method)
{
	const uint32_t *m = lc_table_key(&in->tree.methods, method);
	uint32_t key[LC_METHOD_KEY];

	for (unsigned i = 0; i < LC_METHOD_KEY; i++)
		key[i] = keep_text(in, lc_tree_text(&in->tree, m[i]));
	return lc_table_put(&in->r->names.methods, key);
}

static void name_code(struct reading *in, struct lc_repeat_name *name, uint32_t method,
                      uint32_t line1)
{
	name->method = keep_method(in, method);
	name->line1 = line1;
}

/* ---- objects ---- */

static void name_row(struct reading *in, struct lc_repeat_name *name, const struct lc_rank_row *row)
{
	const uint32_t *frame;

	if (name->label)
		return;
	name->label = lc_report_brief_object(&in->ranking, row, UINT_MAX);
	name->class = keep_text(in, lc_rank_row_name(&in->ranking, row));
	if (!row->path)
		return;
	frame = lc_tree_frame(&in->tree, row->path);
	name_code(in, name, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
	name->code = lc_short_code(&in->tree, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
}

static void add_row(struct reading *in, enum lc_repeat_kind kind, const struct lc_rank_row *row,
                    double value)
{
	struct lc_repeat_entry *e;

	if (value <= 0)
		return;
	begin_key(in);
	lc_identity_row(in->key, &in->ranking, row, true);
	e = find(in, kind);
	name_row(in, &e->name, row);
	e->all_lines |= row->all_lines;
	add(in, kind, e, value);
	if (kind != LC_REPEAT_OBJECTS)
		add_total(in, kind, value);
}

static void take_objects(struct reading *in)
{
	for (size_t i = 0; i < in->ranking.len; i++) {
		const struct lc_rank_row *row = &in->ranking.rows[i];

		add_row(in, LC_REPEAT_OBJECTS, row, (double)row->samples);
		add_row(in, LC_REPEAT_ALLOCATED, row, (double)row->bytes);
		add_row(in, LC_REPEAT_ESTIMATED, row, row->object_bytes.value);
	}
	add_total(in, LC_REPEAT_OBJECTS, (double)in->view.total);
}

/* ---- code ---- */

static void take_code(struct reading *in, enum lc_repeat_kind kind, const struct lc_view_code *code,
                      size_t len)
{
	for (size_t i = 0; i < len; i++) {
		struct lc_repeat_entry *e;

		if (!code[i].samples)
			continue; /* a method that only calls others */
		begin_key(in);
		lc_identity_method(in->key, &in->tree, code[i].method);
		lc_identity_number(in->key, code[i].line1);
		e = find(in, kind);
		if (!e->name.label) {
			e->name.label = lc_short_code(&in->tree, code[i].method, code[i].line1);
			name_code(in, &e->name, code[i].method, code[i].line1);
		}
		add(in, kind, e, (double)code[i].samples);
	}
	add_total(in, kind, (double)in->view.total);
}

/* ---- spans ---- */

/* Compensated cycles of few short spans can be below 0: they are then lost in what is taken off. */
static void add_span(struct reading *in, struct lc_repeat_entry *e, int64_t cycles)
{
	if (cycles <= 0)
		return;
	add(in, LC_REPEAT_SPANS, e, (double)cycles);
	add_total(in, LC_REPEAT_SPANS, (double)cycles);
}

static void take_location(struct reading *in, const struct lc_spans_location *l)
{
	const uint32_t line1 = (uint32_t)(l->place->line + 1);
	struct lc_repeat_entry *e;

	begin_key(in);
	putc('s', in->key);
	lc_identity_text(in->key, l->place->class_name);
	lc_identity_text(in->key, l->place->method_name);
	lc_identity_text(in->key, l->place->signature);
	lc_identity_number(in->key, line1);
	e = find(in, LC_REPEAT_SPANS);
	if (!e->name.label && l->place->number) {
		char *code = lc_short_code(&in->tree, l->place->method, line1);

		e->name.label = lc_mem_text("streams of %s", code);
		name_code(in, &e->name, l->place->method, line1);
		free(code);
	} else if (!e->name.label) {
		e->name.label = lc_mem_text("streams at an unknown place");
	}
	add_span(in, e, l->sum.cycles);
}

static void take_type(struct reading *in, const struct lc_spans_type *t)
{
	struct lc_repeat_entry *e;

	begin_key(in);
	putc('t', in->key);
	lc_identity_text(in->key, t->label);
	e = find(in, LC_REPEAT_SPANS);
	if (!e->name.label) {
		char *class = lc_short_class(t->label);

		e->name.label = lc_mem_text("tasks %s", class);
		e->name.class = keep_text(in, t->name);
		free(class);
	}
	add_span(in, e, t->sum.cycles + t->threads.cycles);
}

static void take_spans(struct reading *in)
{
	struct lc_span_rows rows;
	struct lc_spans spans;

	lc_span_rows_build(&rows, &in->load);
	lc_spans_build(&spans, &in->load, &rows, UINT32_MAX, LC_SPANS_BY_CYCLES);
	for (size_t i = 0; i < spans.locations_len; i++)
		take_location(in, &spans.locations[i]);
	for (size_t i = 0; i < spans.types_len; i++)
		take_type(in, &spans.types[i]);
	lc_spans_free(&spans);
	lc_span_rows_free(&rows);
}

/* ---- the run ---- */

static void take_sums(struct reading *in)
{
	struct lc_repeat_run *run = in->run;

	run->samples = (double)in->view.total;
	run->allocations = run->bytes = run->estimated_bytes = 0;
	for (size_t i = 0; i < in->view.sites_len; i++) {
		run->allocations += (double)in->view.sites[i].allocations;
		run->bytes += (double)in->view.sites[i].bytes;
	}
	for (size_t i = 0; i < in->view.estimates_len; i++)
		run->estimated_bytes += in->view.estimates[i].bytes;
}

/* For a profile alone: from the first begin of its processes to the last end. */
static void take_time(struct reading *in)
{
	uint64_t begin = UINT64_MAX, end = 0, cpu;

	if (in->run->directory)
		return; /* it was measured */
	for (size_t i = 0; i < in->load.processes_len; i++) {
		const struct lc_load_process *p = &in->load.processes[i];

		begin = p->start_monotonic_ns < begin ? p->start_monotonic_ns : begin;
		end = lc_load_end_ns(p) > end ? lc_load_end_ns(p) : end;
	}
	if (begin && begin < end)
		in->run->wall_ns = (double)(end - begin);
	cpu = lc_report_cpu_ns(&in->load, &in->load.engines[in->view.engine]);
	if (cpu)
		in->run->cpu_ns = (double)cpu;
}

static char *say_program(const struct lc_load *l)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	lc_report_brief_process(out, l->processes, 0);
	lc_mem_close_text(out);
	return text;
}

static void take_program(struct reading *in)
{
	struct lc_repeat *r = in->r;
	char *program;

	if (!in->load.processes_len)
		return;
	program = say_program(&in->load);
	if (!r->command)
		r->command = lc_mem_text("%s", in->load.processes->command);
	if (!r->program)
		r->program = program;
	else if (!r->other_program && strcmp(program, r->program) != 0)
		r->other_program = program;
	else
		free(program);
}

/* The first run chooses what the others are asked for. */
static void take_engine(struct reading *in)
{
	const struct lc_load_engine *e = &in->load.engines[in->view.engine];
	struct lc_repeat *r = in->r;

	if (r->engine.name)
		return;
	r->engine = (struct lc_load_engine){ .name = lc_mem_text("%s", e->name),
		                             .event = lc_mem_text("%s", e->event),
		                             .unit = lc_mem_text("%s", e->unit),
		                             .interval_ns = e->interval_ns };
}

static void survey(struct reading *in)
{
	lc_known_lines_add(in->told, &in->view);
}

static void take(struct reading *in)
{
	lc_ranking_build(&in->ranking, &in->view, in->r->group, in->told);
	take_program(in);
	take_objects(in);
	take_code(in, LC_REPEAT_LINES, in->view.lines, in->view.lines_len);
	take_code(in, LC_REPEAT_METHODS, in->view.methods, in->view.methods_len);
	take_spans(in);
	take_sums(in);
	take_time(in);
	for (unsigned kind = 0; kind < LC_REPEAT_KINDS; kind++)
		in->r->tables[kind].columns++;
	lc_ranking_free(&in->ranking);
}

static bool is_complete(const struct lc_load *l)
{
	for (size_t i = 0; i < l->processes_len; i++)
		if (!l->processes[i].complete)
			return false;
	return true;
}

/* Returns whether it can be counted; if not, it is left out. */
static bool load(struct reading *in)
{
	struct lc_repeat_run *run = in->run;

	for (size_t i = 0; i < run->profiles_len; i++) {
		if (!lc_load_profile(&in->load, run->profiles[i]))
			continue;
		lc_repeat_leave_out(run, LC_REPEAT_NO_PROFILE,
		                    lc_mem_text("its profile is unreadable"));
		return false;
	}
	if (!run->profiles_len)
		lc_repeat_leave_out(run, LC_REPEAT_NO_PROFILE, lc_mem_text("it has no profile"));
	else if (lc_load_damaged(&in->load))
		lc_repeat_leave_out(run, LC_REPEAT_NO_PROFILE,
		                    lc_mem_text("its profile is damaged"));
	else if (!is_complete(&in->load))
		lc_repeat_leave_out(run, LC_REPEAT_CUT,
		                    lc_mem_text("its recording is incomplete: the program was "
		                                "killed or is still running, or the disk is full"));
	else if (lc_tree_empty(&in->tree))
		lc_repeat_leave_out(run, LC_REPEAT_NO_PROFILE,
		                    lc_mem_text("its profile is empty: no sample was taken and no "
		                                "allocation counted"));
	return run->state == LC_REPEAT_COUNTED;
}

/* Returns 0, or 1 after one line: the first run has no engine of that name. */
static int choose(struct reading *in, const char *engine_word, uint32_t *engine)
{
	const struct lc_load_engine *e;

	if (in->r->engine.name)
		*engine = lc_load_engine_like(&in->load, &in->r->engine);
	else if (engine_word)
		return lc_report_find_engine(&in->load, engine_word, engine);
	else
		*engine = lc_report_busiest_engine(&in->load);
	if (*engine != UINT32_MAX)
		return 0;
	e = &in->load.engines[lc_report_busiest_engine(&in->load)];
	lc_repeat_leave_out(
	    in->run, LC_REPEAT_OTHER,
	    lc_mem_text("its samples are of %s every %llu %s, those of the runs "
	                "before it of %s every %llu %s",
	                e->name, (unsigned long long)e->interval_ns, e->unit, in->r->engine.name,
	                (unsigned long long)in->r->engine.interval_ns, in->r->engine.unit));
	return 0;
}

static int read_run(struct reading in, const char *engine_word, void (*use)(struct reading *in))
{
	uint32_t engine;
	int status = 0;

	lc_tree_init(&in.tree);
	lc_load_init(&in.load);
	in.load.tree = &in.tree;
	if (load(&in)) {
		status = choose(&in, engine_word, &engine);
		if (!status && in.run->state == LC_REPEAT_COUNTED) {
			/* Paths that differ in the bytecode alone are one, as in a report. */
			lc_tree_fold_lines(&in.tree);
			lc_view_build(&in.view, &in.load, engine, LC_SORT_SAMPLES);
			take_engine(&in);
			use(&in);
			lc_view_free(&in.view);
		}
	}
	lc_load_free(&in.load);
	lc_tree_free(&in.tree);
	return status;
}

static int read_runs(struct lc_repeat *r, struct lc_known_lines *told, const char *engine_word,
                     void (*use)(struct reading *in))
{
	int status = 0;

	for (size_t i = 0; i < r->runs_len && !status; i++)
		if (r->runs[i].state == LC_REPEAT_COUNTED)
			status =
			    read_run((struct reading){ .r = r, .run = &r->runs[i], .told = told },
			             engine_word, use);
	return status;
}

static void expect(const struct lc_repeat *r)
{
	for (size_t i = 0; i < r->runs_len; i++)
		for (size_t k = 0; k < r->runs[i].profiles_len; k++)
			if (r->runs[i].state == LC_REPEAT_COUNTED)
				lc_load_expect(r->runs[i].profiles[k]);
}

int lc_repeat_read(struct lc_repeat *r, const char *engine_word)
{
	const bool by_line = lc_rank_by_allocation(r->group);
	struct lc_known_lines told;
	int status = 0;

	lc_known_lines_init(&told);
	for (unsigned kind = 0; kind < LC_REPEAT_KINDS; kind++)
		lc_repeat_table_init(&r->tables[kind], (enum lc_repeat_kind)kind, r->runs_len);
	for (int readings = by_line ? 2 : 1; readings > 0; readings--)
		expect(r);
	if (by_line)
		status = read_runs(r, &told, engine_word, survey);
	if (!status)
		status = read_runs(r, &told, engine_word, take);
	lc_known_lines_free(&told);
	lc_progress_end();
	lc_repeat_finish(r);
	return status;
}
