/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_text.c - writes the agreement of profilers for a terminal: the answer, what was left
 * out, each profiler's cost and noise, overlaps, methods, and results of delays.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/agree/agree_impl.h"
#include "analyzer/base/memory.h"
#include "analyzer/out/screen.h"

enum {
	LABEL_COLUMNS = 11,
	NAME_COLUMNS = 12,
	COST_COLUMNS = 19,
	CELL_COLUMNS = 10,
	PAIR_COLUMNS = 12,
	METHOD_LEAST = 24
};

/* `text` is freed. */
static void print_label(const struct lc_screen *s, const char *label, char *text)
{
	fprintf(s->out, "%-*s", LABEL_COLUMNS, label);
	lc_screen_wrap(s, LABEL_COLUMNS, LABEL_COLUMNS, text);
	free(text);
}

static void print_title(const struct lc_screen *s, const char *title)
{
	putc('\n', s->out);
	lc_screen_ink(s, LC_INK_BOLD, title);
	putc('\n', s->out);
}

/* ---- head ---- */

static void print_left_out(const struct lc_screen *s, const struct lc_agree *a)
{
	const char *label = "left out";

	for (size_t i = 0; i < a->sides_len; i++) {
		if (!a->sides[i].absent)
			continue;
		print_label(s, label, lc_mem_text("%s: %s", a->sides[i].name, a->sides[i].absent));
		label = "";
	}
	for (size_t i = 0; i < a->all.runs_len; i++) {
		const struct lc_repeat_run *run = &a->all.runs[i];

		if (run->state == LC_REPEAT_COUNTED)
			continue;
		print_label(s, label, lc_repeat_plain(lc_mem_text("%s: %s", run->name, run->why)));
		label = "";
	}
	for (size_t i = 0; i < a->sides_len; i++) {
		if (a->sides[i].absent || a->sides[i].runs == a->rounds)
			continue;
		print_label(s, label,
		            lc_mem_text("%s: %zu of %zu rounds were not started", a->sides[i].name,
		                        a->rounds - a->sides[i].runs, a->rounds));
		label = "";
	}
	if (a->all.all_differ)
		print_label(s, "note",
		            lc_mem_text("each run's output differs from all others; if that is "
		                        "right, --any-output counts them"));
}

static void print_said(const struct lc_screen *s, const struct lc_agree *a)
{
	for (size_t i = 0; i < a->all.runs_len; i++) {
		const struct lc_repeat_run *run = &a->all.runs[i];

		if (!run->said)
			continue;
		print_label(s, "note", lc_mem_text("%s (%s)", run->said, run->name));
		return;
	}
}

static void print_head(const struct lc_screen *s, const struct lc_agree *a)
{
	char *headline = lc_agree_headline(a);

	lc_screen_ink(s, LC_INK_BOLD, headline);
	free(headline);
	fputs("\n\n", s->out);
	if (a->all.command)
		print_label(s, "program", lc_mem_text("%s", a->all.command));
	print_label(
	    s, "rounds",
	    lc_mem_text(
	        "%zu; in each the program ran once without a profiler and once with each profiler",
	        a->rounds));
	print_left_out(s, a);
	print_said(s, a);
	if (a->rounds < LC_REPEAT_RUNS_MIN)
		print_label(s, "intervals", lc_mem_text("withheld: they need 5 counted rounds"));
	else
		print_label(s, "intervals", lc_mem_text("Student's, 95%%, over the rounds"));
	if (a->compared > 1)
		print_label(s, "hottest",
		            lc_mem_text("%zu different method%s by the profilers' means (union-1), "
		                        "%zu over all runs; top fives: %zu different (union-5), "
		                        "%zu over all runs",
		                        a->union_1, a->union_1 == 1 ? "" : "s", a->union_1_runs,
		                        a->union_5, a->union_5_runs));
}

/* ---- profilers ---- */

/* "1.02 (1.01-1.03)". */
static void print_ratio(const struct lc_screen *s, const struct lc_repeat_number *n)
{
	char text[64] = "-";

	if (n->known && n->interval)
		snprintf(text, sizeof(text), "%.2f (%.2f-%.2f)", n->mean, n->low, n->high);
	else if (n->known)
		snprintf(text, sizeof(text), "%.2f", n->mean);
	fprintf(s->out, " %-*s", COST_COLUMNS, text);
}

static void print_side(const struct lc_screen *s, const struct lc_agree_side *side)
{
	const struct lc_repeat_table *t = &side->methods.table;
	char text[32];

	fprintf(s->out, "%-*s %3zu", NAME_COLUMNS, side->name, side->counted);
	print_ratio(s, &side->cpu_ratio);
	fprintf(s->out, "%8.0f", side->methods.samples.mean);
	fprintf(s->out, "%5.0f%%", 100 * side->methods.java.mean);
	snprintf(text, sizeof(text), "%.1f", t->farthest ? 100 * t->farthest->difference : 0);
	fprintf(s->out, "%7s", t->farthest && t->runs > 1 ? text : "-");
	fprintf(s->out, "%8zu", t->firsts);
	snprintf(text, sizeof(text), "%zu", t->unstable);
	fprintf(s->out, "%*s", t->runs > 1 ? 9 - (int)strlen(text) : 8, "");
	lc_screen_ink(s, t->unstable ? LC_INK_HOT : LC_INK_PLAIN, t->runs > 1 ? text : "-");
	putc('\n', s->out);
}

static void print_sides(const struct lc_screen *s, const struct lc_agree *a)
{
	print_title(s, "Profilers");
	fprintf(s->out, "%-*s %3s %-*s%8s%6s%7s%8s%9s\n", NAME_COLUMNS, "", "n", COST_COLUMNS,
	        "CPU time, x", "samples", "Java", "self", "firsts", "unstable");
	for (size_t i = 1; i < a->sides_len; i++)
		if (!a->sides[i].absent)
			print_side(s, &a->sides[i]);
	putc('\n', s->out);
	for (size_t i = 1; i < a->sides_len; i++)
		if (a->sides[i].about)
			fprintf(s->out, "  %-*s %s\n", NAME_COLUMNS, a->sides[i].name,
			        a->sides[i].about);
	lc_screen_wrap(s, 0, 2,
	               "  n: counted runs. CPU time: relative to runs without a profiler. Java: "
	               "samples with a Java method; shares are parts of these. self: the largest "
	               "difference between two runs of one profiler, in points, among methods that "
	               "average 5% or more. firsts: different hottest methods. unstable: methods "
	               "of 1% or more that are in the top ten of some runs only.");
}

/* ---- overlaps ---- */

/* "72.0+-1.5 2". */
static void put_pair(char *text, size_t len, const struct lc_agree_pair *p)
{
	char width[16] = "";

	if (p->width >= 0)
		snprintf(width, sizeof(width), "+-%.1f", 100 * p->width);
	snprintf(text, len, "%.1f%s %zu", 100 * p->overlap, width, p->common);
}

static void print_pairs(const struct lc_screen *s, const struct lc_agree *a)
{
	if (a->compared < 2)
		return;
	print_title(s, "Overlap of shares (%), and number of common methods in the top five");
	fprintf(s->out, "%-*s", NAME_COLUMNS, "");
	for (size_t k = 0; k < a->sides_len; k++)
		if (lc_agree_is_compared(&a->sides[k]))
			fprintf(s->out, " %*.*s", PAIR_COLUMNS, PAIR_COLUMNS, a->sides[k].name);
	putc('\n', s->out);
	for (size_t i = 0; i < a->sides_len; i++) {
		if (!lc_agree_is_compared(&a->sides[i]))
			continue;
		fprintf(s->out, "%-*s", NAME_COLUMNS, a->sides[i].name);
		for (size_t k = 0; k < a->sides_len; k++) {
			char text[32] = "-";

			if (!lc_agree_is_compared(&a->sides[k]))
				continue;
			if (i != k)
				put_pair(text, sizeof(text), &a->pairs[i][k]);
			fprintf(s->out, " %*s", PAIR_COLUMNS, text);
		}
		putc('\n', s->out);
	}
}

/* ---- methods ---- */

static void print_method(const struct lc_screen *s, const struct lc_text name, unsigned room)
{
	char *label = lc_mem_text("%.*s", (int)name.len, name.bytes);

	lc_cut_code(label, room, 1);
	fprintf(s->out, "  %s\n", label);
	free(label);
}

static void print_methods(const struct lc_screen *s, const struct lc_agree *a, size_t top)
{
	const unsigned used = (unsigned)a->compared * (CELL_COLUMNS + 1) + 2;
	const unsigned room = s->width > used + METHOD_LEAST ? s->width - used : METHOD_LEAST;
	struct lc_agree_row *rows;
	const size_t len = lc_agree_rows(a, &rows);

	if (len)
		print_title(s, "Methods, by the mean of the profilers' shares (% of Java samples)");
	for (size_t k = 0; k < a->sides_len && len; k++)
		if (lc_agree_is_compared(&a->sides[k]))
			fprintf(s->out, " %*.*s", CELL_COLUMNS, CELL_COLUMNS, a->sides[k].name);
	if (len)
		putc('\n', s->out);
	for (size_t i = 0; i < len && i < top; i++) {
		for (size_t k = 0; k < a->sides_len; k++) {
			const struct lc_repeat_table *t = &a->sides[k].methods.table;
			const struct lc_repeat_entry *e = lc_agree_find(t, rows[i].key);
			char text[48];

			if (!lc_agree_is_compared(&a->sides[k]))
				continue;
			snprintf(text, sizeof(text), "%.1f", e ? 100 * e->share.mean : 0.0);
			if (e && e->share.interval)
				snprintf(text + strlen(text), sizeof(text) - strlen(text), "+-%.1f",
				         50 * (e->share.high - e->share.low));
			fprintf(s->out, " %*s", CELL_COLUMNS, text);
		}
		print_method(s, lc_agree_method(a, rows[i].key), room);
	}
	free(rows);
}

/* ---- delays ---- */

static void print_seen(const struct lc_screen *s, const struct lc_agree *a,
                       const struct lc_agree_side *side, const struct lc_agree_seen *seen)
{
	char error[32], found[48] = "-";

	snprintf(error, sizeof(error), "%+.1f", 100 * seen->error);
	if (seen->width >= 0)
		snprintf(error + strlen(error), sizeof(error) - strlen(error), " +-%.1f",
		         100 * seen->width);
	if (seen->can_grow)
		snprintf(found, sizeof(found), "%.0f%%", 100 * seen->found);
	if (seen->found_width >= 0)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), " +-%.0f",
		         100 * seen->found_width);
	fprintf(s->out, "  %-*s %6.1f%% %6.1f%% %8.1f%%  %-12s %-11s", NAME_COLUMNS, side->name,
	        100 * seen->base.mean, 100 * seen->with.mean, 100 * seen->expected, error, found);
	if (seen->elsewhere && seen->elsewhere_part >= 0.1) {
		const struct lc_text name = lc_agree_method(a, seen->elsewhere);
		char *label = lc_mem_text("%.*s", (int)name.len, name.bytes);

		lc_cut_code(label, METHOD_LEAST, 1);
		fprintf(s->out, " %.0f%% at %s", 100 * seen->elsewhere_part, label);
		free(label);
	}
	putc('\n', s->out);
}

static void put_number(FILE *out, const struct lc_repeat_number *n)
{
	if (!n->known) {
		fputs("not above their noise", out);
		return;
	}
	fprintf(out, "%.1f%%", 100 * n->mean);
	if (n->interval)
		fprintf(out, " (%.1f-%.1f)", 100 * n->low, 100 * n->high);
}

/* Appends the names of the profilers whose intervals say so. Returns how many there are. */
static size_t put_saw(FILE *out, const struct lc_agree *a, size_t d, bool saw)
{
	size_t n = 0;

	for (size_t i = 0; i < a->sides_len; i++) {
		const struct lc_agree_seen *seen = &a->sides[i].seen[d];

		if (seen->known && seen->found_width >= 0 && seen->saw == saw)
			fprintf(out, "%s%s", n++ ? ", " : "", a->sides[i].name);
	}
	return n;
}

static void print_verdict(const struct lc_screen *s, const struct lc_agree *a, size_t d)
{
	char *saw, *not, *text;
	size_t len, not_len, saws, nots;
	FILE *out = lc_text_open(&saw, &len), *other = lc_text_open(&not, &not_len);

	saws = put_saw(out, a, d, true);
	nots = put_saw(other, a, d, false);
	lc_mem_close_text(out);
	lc_mem_close_text(other);
	if (saws || nots) {
		text = lc_mem_text("  saw the delay at %s: %s%s%s", a->delays[d].method,
		                   saws ? saw : "no profiler", nots ? "; did not: " : "", not );
		lc_screen_wrap(s, 0, 4, text);
		free(text);
	}
	free(saw);
	free(not );
}

static void print_delay(const struct lc_screen *s, const struct lc_agree *a, size_t d)
{
	const struct lc_agree_delay *delay = &a->delays[d];

	fprintf(s->out, "%s: ", delay->method);
	if (delay->why) {
		fprintf(s->out, "no delay, %s\n", delay->why);
		return;
	}
	if (!delay->added.known || delay->added.mean <= 0) {
		fputs("the added time is not above the noise of the runs\n", s->out);
		return;
	}
	if (delay->every > 1)
		fprintf(s->out, "a delay at each %" PRIu64 "th execution; ", delay->every);
	fputs("the delay's part of the Java threads' CPU time is ", s->out);
	if (delay->counted >= 0) {
		put_number(s->out, &delay->added);
		fputs("; by the threads' clocks ", s->out);
	}
	put_number(s->out, &delay->clocks);
	putc('\n', s->out);
	for (size_t i = 0; i < a->sides_len; i++)
		if (a->sides[i].seen[d].known)
			print_seen(s, a, &a->sides[i], &a->sides[i].seen[d]);
	print_verdict(s, a, d);
}

static void print_counting(const struct lc_screen *s, const struct lc_agree *a)
{
	const struct lc_repeat_number *n = &a->counting;
	char interval[48] = "", *text;

	if (!n->known)
		return;
	if (n->interval)
		snprintf(interval, sizeof(interval), " (%.2f-%.2f)", n->low, n->high);
	text =
	    lc_mem_text("  found: growth of the share by that which is expected; 0%% if it is the "
	                "same with and without, below 0 if it fell. Its interval is corrected for "
	                "the number of methods (Bonferroni), and needs 5 rounds; above zero, the "
	                "profiler saw the delay. Counting executions takes %.2f%s times the "
	                "program's CPU time, in all these runs.",
	                n->mean, interval);
	putc('\n', s->out);
	lc_screen_wrap(s, 0, 2, text);
	free(text);
}

static void print_delays(const struct lc_screen *s, const struct lc_agree *a)
{
	if (!a->delays_len)
		return;
	print_title(s, "Truth: injected delays, and the method's share under each profiler");
	fprintf(s->out, "  %-*s %7s %7s %9s  %-12s %s\n", NAME_COLUMNS, "", "without", "with",
	        "expected", "error", "found");
	for (size_t d = 0; d < a->delays_len; d++)
		print_delay(s, a, d);
	print_counting(s, a);
}

void lc_agree_text(FILE *out, const struct lc_agree *a, size_t top)
{
	struct lc_screen s;

	lc_screen_init(&s, out);
	print_head(&s, a);
	print_sides(&s, a);
	print_pairs(&s, a);
	print_methods(&s, a, top);
	print_delays(&s, a);
}
