/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat_text.c - writes a repeat for a terminal: the answer, what was left out and why, how
 * stable the rows of each kind are, and the runs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "analyzer/repeat/repeat_impl.h"

enum {
	LABEL_COLUMNS = 11,
	UNSTABLE_MAX = 5, /* rows of a table, below those that are asked for */
	VERDICT_COLUMNS = 19,
	LEFT_COLUMNS = 40, /* of a row: what stands before the name */
	ARROW_COLUMNS = 4, /* " <- " */
	RUN_COLUMNS = 10,
	FIGURE_COLUMNS = 60, /* of a run: what stands behind its name */
};

/* `text` is freed. */
static void print_wrapped(const struct lc_screen *s, unsigned used, unsigned indent, char *text)
{
	lc_screen_wrap(s, used, indent, text);
	free(text);
}

static void print_label(const struct lc_screen *s, const char *label, char *text)
{
	fprintf(s->out, "%-*s", LABEL_COLUMNS, label);
	print_wrapped(s, LABEL_COLUMNS, LABEL_COLUMNS, text);
}

/* ---- head ---- */

static void print_left_out(const struct lc_screen *s, const struct lc_repeat *r)
{
	const char *label = "left out";

	for (size_t i = 0; i < r->runs_len; i++) {
		if (r->runs[i].state == LC_REPEAT_COUNTED)
			continue;
		print_label(
		    s, label,
		    lc_repeat_plain(lc_mem_text("%s: %s", r->runs[i].name, r->runs[i].why)));
		label = "";
	}
	if (r->asked > r->runs_len)
		print_label(s, label,
		            lc_mem_text("%zu of the %zu requested runs were not started",
		                        r->asked - r->runs_len, r->asked));
	if (r->all_differ)
		print_label(s, "note",
		            lc_mem_text("each run's output differs from all others; if that is "
		                        "right, --any-output counts them"));
}

/* Print remarks on runs that count all the same. */
static void print_said(const struct lc_screen *s, const struct lc_repeat *r)
{
	size_t said = 0, other = 0, to_stderr = 0;
	const struct lc_repeat_run *first = NULL;

	for (size_t i = 0; i < r->runs_len; i++) {
		const struct lc_repeat_run *run = &r->runs[i];

		said += run->said != NULL;
		first = !first && run->said ? run : first;
		other += run->state == LC_REPEAT_COUNTED && run->other_output;
		to_stderr += run->state == LC_REPEAT_COUNTED && run->stderr_bytes;
	}
	if (r->other_program)
		print_label(s, "note",
		            lc_mem_text("not all runs have the same program and JDK: one has %s",
		                        r->other_program));
	if (said)
		print_label(s, "note",
		            lc_mem_text("%s (%s%s)", first->said, first->name,
		                        said > 1 ? ", and others" : ""));
	if (to_stderr)
		print_label(
		    s, "note",
		    lc_mem_text("%zu of the counted runs wrote to standard error", to_stderr));
	if (other)
		print_label(
		    s, "note",
		    lc_mem_text("the output of %zu counted runs differs from the rest", other));
}

typedef const char *formatter(char *out, size_t out_len, double v);

static const char *bytes_text(char *out, size_t out_len, double v)
{
	return lc_emit_bytes(out, out_len, (uint64_t)(v + 0.5));
}

static const char *count_text(char *out, size_t out_len, double v)
{
	snprintf(out, out_len, "%.0f", v);
	return out;
}

static const char *objects_text(char *out, size_t out_len, double v)
{
	snprintf(out, out_len, "%.0f objects", v);
	return out;
}

/* "5.12 s (5.02 s to 5.22 s), from 4.90 s to 5.50 s". */
static void print_number(const struct lc_screen *s, const char *label,
                         const struct lc_repeat_number *n, formatter *format)
{
	char mean[32], low[32], high[32], least[32], most[32];

	if (!n->known || n->most <= 0)
		return;
	format(mean, sizeof(mean), n->mean);
	if (n->equal) {
		print_label(s, label, lc_mem_text("%s in each run", mean));
		return;
	}
	format(least, sizeof(least), n->least);
	format(most, sizeof(most), n->most);
	if (!n->interval) {
		print_label(s, label, lc_mem_text("%s, from %s to %s", mean, least, most));
		return;
	}
	print_label(s, label,
	            lc_mem_text("%s (%s to %s), from %s to %s", mean,
	                        format(low, sizeof(low), n->low),
	                        format(high, sizeof(high), n->high), least, most));
}

static void print_head(const struct lc_screen *s, const struct lc_repeat *r)
{
	const char *withheld = lc_repeat_withheld(r);
	char *program;

	if (r->program || r->command) {
		program = lc_repeat_plain(lc_mem_text("%s", r->program ? r->program : r->command));
		lc_cut_middle(program, s->width);
		lc_screen_ink(s, LC_INK_BOLD, program);
		putc('\n', s->out);
		free(program);
	}
	print_wrapped(s, 0, 0, lc_repeat_headline(r));
	putc('\n', s->out);
	print_left_out(s, r);
	print_said(s, r);
	if (r->counted)
		print_label(s, "intervals",
		            lc_mem_text("%s", withheld ? withheld + strlen("intervals are ")
		                                       : "Student's, 95%, over the runs"));
	print_number(s, "time", &r->wall_ns, lc_emit_time);
	print_number(s, "CPU time", &r->cpu_ns, lc_emit_time);
	print_number(s, "samples", &r->samples, count_text);
	print_number(s, "counted", &r->allocations, objects_text);
	print_number(s, "", &r->bytes, bytes_text);
	print_number(s, "estimated", &r->estimated_bytes, bytes_text);
}

/* ---- tables ---- */

static const char *const titles[LC_REPEAT_KINDS] = {
	[LC_REPEAT_OBJECTS] = "Objects, by samples",
	[LC_REPEAT_LINES] = "Lines, by samples",
	[LC_REPEAT_METHODS] = "Methods, by samples",
	[LC_REPEAT_SPANS] = "Streams and tasks, by cycles",
	[LC_REPEAT_ALLOCATED] = "Objects, by bytes allocated (counted)",
	[LC_REPEAT_ESTIMATED] = "Objects, by bytes allocated (estimated)",
};

static void print_name(const struct lc_screen *s, const struct lc_repeat_name *name)
{
	const unsigned room = s->width > LEFT_COLUMNS + 20 ? s->width - LEFT_COLUMNS : 20;
	char *label = lc_mem_text("%s", name->label), *code;
	unsigned left;

	lc_cut_middle(label, name->code ? room * 3 / 5 : room);
	lc_screen_ink(s, LC_INK_BOLD, label);
	left = room - lc_columns(label);
	free(label);
	if (name->code && left > ARROW_COLUMNS + 4) {
		code = lc_mem_text("%s", name->code);
		lc_cut_code(code, left - ARROW_COLUMNS, 1);
		fprintf(s->out, " <- %s", code);
		free(code);
	}
	putc('\n', s->out);
}

/* "2-4": places that it may have as far as the intervals tell; without them its own. */
static void print_place(const struct lc_screen *s, const struct lc_repeat_entry *e, size_t number)
{
	char text[48];

	if (e->best < e->worst)
		snprintf(text, sizeof(text), "%zu-%zu", e->best, e->worst);
	else
		snprintf(text, sizeof(text), "%zu", e->best ? e->best : number);
	fprintf(s->out, "%5s%c", text, e->unstable ? '*' : ' ');
}

static void print_row(const struct lc_screen *s, const struct lc_repeat_table *t, size_t i)
{
	const struct lc_repeat_entry *e = &t->entries[i];
	char text[32];

	print_place(s, e, i + 1);
	snprintf(text, sizeof(text), "%5.1f%%", 100 * e->share.mean);
	lc_screen_ink(s, e->unstable ? LC_INK_HOT : LC_INK_PLAIN, text);
	if (e->share.interval)
		snprintf(text, sizeof(text), "%.1f-%.1f", 100 * e->share.low, 100 * e->share.high);
	else
		snprintf(text, sizeof(text), "-");
	fprintf(s->out, " %11s ", text);
	snprintf(text, sizeof(text), "%.1f", 100 * e->difference);
	fprintf(s->out, "%7s", t->runs < 2 ? "-" : e->equal ? "equal" : text);
	snprintf(text, sizeof(text), "%zu/%zu", e->first, t->runs);
	fprintf(s->out, " %5s  ", e->first ? text : "-");
	print_name(s, &e->name);
}

/* Entries that come and go, and are not among those shown. */
static void print_unstable(const struct lc_screen *s, const struct lc_repeat_table *t, size_t shown)
{
	size_t more = 0;

	for (size_t i = shown; i < t->len; i++) {
		if (!t->entries[i].unstable)
			continue;
		if (more++ < UNSTABLE_MAX)
			print_row(s, t, i);
	}
	if (more > UNSTABLE_MAX)
		fprintf(s->out, "%5s* and %zu more\n", "", more - UNSTABLE_MAX);
}

/* `text` is freed. */
static void print_verdict(const struct lc_screen *s, const char *label, char *text)
{
	fprintf(s->out, "  %-*s", VERDICT_COLUMNS - 2, label);
	print_wrapped(s, VERDICT_COLUMNS, VERDICT_COLUMNS, text);
}

static void print_table(const struct lc_screen *s, const struct lc_repeat *r,
                        const struct lc_repeat_table *t, size_t top)
{
	const size_t shown = t->len < top ? t->len : top;
	char *top_10, *lines;

	if (!t->runs || !t->len)
		return;
	putc('\n', s->out);
	lc_screen_ink(s, LC_INK_BOLD, titles[t->kind]);
	if (t->runs < r->counted)
		fprintf(s->out, ": %zu of the %zu runs have some", t->runs, r->counted);
	putc('\n', s->out);
	print_verdict(s, "first", lc_repeat_say_first(t));
	print_verdict(s, "self-difference", lc_repeat_say_difference(t));
	top_10 = lc_repeat_say_top(t);
	print_verdict(s, "top 10", lc_mem_text("%s%s", top_10, t->unstable ? " (*)" : ""));
	free(top_10);
	lines = lc_repeat_say_lines(t);
	if (lines)
		print_verdict(s, "lines", lines);
	fprintf(s->out, "%5s %6s %11s %7s %5s\n", "place", "mean", "interval", "max-min", "first");
	for (size_t i = 0; i < shown; i++)
		print_row(s, t, i);
	print_unstable(s, t, shown);
}

/* ---- runs ---- */

static void print_value(const struct lc_screen *s, double v, formatter *format, int columns)
{
	char text[32] = "-";

	if (v >= 0)
		format(text, sizeof(text), v);
	fprintf(s->out, " %*s", columns, text);
}

static void print_run(const struct lc_screen *s, const struct lc_repeat_run *run, int columns)
{
	char *name = lc_repeat_plain(lc_mem_text("%s", run->name));

	lc_cut_middle(name, (unsigned)columns);
	fprintf(s->out, "%-*s", columns, name);
	free(name);
	print_value(s, run->wall_ns, lc_emit_time, 9);
	print_value(s, run->cpu_ns, lc_emit_time, 9);
	if (run->state == LC_REPEAT_COUNTED) {
		print_value(s, run->samples, count_text, 8);
		print_value(s, run->allocations, count_text, 9);
		print_value(s, run->bytes, bytes_text, 9);
		print_value(s, run->estimated_bytes, bytes_text, 9);
	} else {
		fprintf(s->out, "  %s", lc_repeat_state_name(run->state));
	}
	putc('\n', s->out);
}

static void print_runs(const struct lc_screen *s, const struct lc_repeat *r)
{
	int columns = RUN_COLUMNS;

	for (size_t i = 0; i < r->runs_len; i++) {
		const int wide = (int)lc_columns(r->runs[i].name);

		columns = wide > columns ? wide : columns;
	}
	if (columns > (int)s->width - FIGURE_COLUMNS && columns > RUN_COLUMNS)
		columns = (int)s->width > FIGURE_COLUMNS + RUN_COLUMNS
		              ? (int)s->width - FIGURE_COLUMNS
		              : RUN_COLUMNS;
	fprintf(s->out, "\n%-*s %9s %9s %8s %9s %9s %9s\n", columns, "Runs", "time", "CPU time",
	        "samples", "counted", "bytes", "estimated");
	for (size_t i = 0; i < r->runs_len; i++)
		print_run(s, &r->runs[i], columns);
}

void lc_repeat_text(FILE *out, const struct lc_repeat *r, size_t top)
{
	struct lc_screen s;

	lc_screen_init(&s, out);
	print_head(&s, r);
	for (unsigned kind = 0; kind < LC_REPEAT_KINDS; kind++)
		print_table(&s, r, &r->tables[kind], top);
	print_runs(&s, r);
}
