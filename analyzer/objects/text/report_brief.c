/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_brief.c - writes the report that fits on one screen: the answer first. */
#include "analyzer/objects/text/report_brief.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/model/program_name.h"
#include "analyzer/numa/numa.h"
#include "analyzer/objects/analysis/cpu_breakdown.h"
#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/reaches.h"
#include "analyzer/objects/analysis/touch.h"
#include "analyzer/objects/text/report_allocates.h"
#include "analyzer/objects/text/report_elsewhere.h"
#include "analyzer/objects/text/report_next.h"
#include "analyzer/objects/text/report_resident.h"
#include "analyzer/objects/text/report_text.h"
#include "analyzer/objects/text/report_waiters.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/own.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum {
	SCREEN_LINES = 40,
	WAITERS = 3,        /* own methods */
	ROWS = 5,           /* of objects, if the user asks for no more */
	ROWS_LEAST = 3,     /* on a full screen */
	ROWS_NARROW = 2,    /* the same, if a row takes three lines */
	REACHED_ROWS = 3,   /* the first ones, with a line on how their objects are reached */
	FINDING_LINES = 13, /* at least */
	FINDING_INDENT = 3, /* "1. " */
	HEADER_PERCENT = 5, /* less is not worth a word */
	NAME_COLUMNS = 40,  /* of the program; what is longer was generated */
	DISK_FAULTS = 1000, /* fewer are not worth a word, */
	DISK_FAULTS_S = 10, /* nor are fewer each second: one takes 0.1 to 10 ms */
};

/* Is there so little room that the parts of a row have a line each? */
static bool is_narrow(const struct lc_screen *s)
{
	return s->width < LC_REPORT_BRIEF_LEFT + LC_SCREEN_NARROW;
}

/* ---- what a line says of the program ---- */

void lc_report_brief_process(FILE *out, const struct lc_load_process *p, size_t more)
{
	const struct lc_text name = lc_program_name(p->command);
	char *text;

	if (*p->command) {
		text = lc_mem_text("%.*s", (int)name.len, name.bytes);
		lc_cut_middle(text, NAME_COLUMNS);
		lc_emit_text_c(out, text);
		free(text);
	} else {
		fputs("an unknown program", out);
	}
	if (more)
		fprintf(out, " and %zu more", more);
	fputs(", JDK ", out);
	lc_emit_text(out, lc_program_jdk(p->jdk));
	putc(' ', out);
	lc_emit_text_c(out, p->gc);
}

void lc_report_brief_program(FILE *out, const struct lc_load *l)
{
	const struct lc_load_process *p = l->processes;
	char duration[32];

	if (!l->processes_len)
		return;
	lc_report_brief_process(out, p, l->processes_len - 1);
	if (p->start_monotonic_ns && lc_load_end_ns(p) > p->start_monotonic_ns)
		fprintf(out, ", %s%s", p->limited ? "recorded for " : "",
		        lc_emit_duration(duration, sizeof(duration),
		                         lc_load_end_ns(p) - p->start_monotonic_ns));
	lc_report_part(out, l);
}

char *lc_report_brief_head(const struct lc_report *r)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	lc_report_brief_program(out, r->view->load);
	fprintf(out, ", %" PRIu64 " sample%s", r->view->total, r->view->total == 1 ? "" : "s");
	lc_report_weights(out, r->view);
	lc_mem_close_text(out);
	return text;
}

static void print_head(const struct lc_screen *s, const struct lc_report *r)
{
	struct lc_screen lines = *s;
	char *text, *wrapped;
	size_t len;

	if (!r->view->load->processes_len)
		return;
	text = lc_report_brief_head(r);
	lines.out = lc_text_open(&wrapped, &len);
	lc_screen_wrap(&lines, 0, 2, text);
	lc_mem_close_text(lines.out);
	lc_screen_ink(s, LC_INK_BOLD, wrapped);
	free(wrapped);
	free(text);
}

/* ---- objects ---- */

/*
 * The collector that keeps the accesses to a class from being split over the sites that allocated
 * its objects; NULL: they are split, or there is nothing to split.
 */
static const char *unsplit_by(const struct lc_view *v)
{
	const struct lc_load *l = v->load;

	if (!v->classes_len || v->splits_len)
		return NULL;
	for (size_t i = 0; i < l->processes_len; i++)
		if (lc_load_is_concurrent(&l->processes[i]))
			return l->processes[i].gc;
	return NULL;
}

static void print_summary(const struct lc_screen *s, const struct lc_report *r)
{
	const struct lc_weighted in_objects = r->ranking->in_objects;
	const uint64_t outside = lc_offheap_samples(r->view);
	struct lc_weighted known, header;
	double low, high;
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	lc_rank_interval(in_objects, lc_view_all(r->view), &low, &high);
	lc_touch_all(r->view, &known, &header);
	fprintf(out, "%.1f%% of the samples (95%%: %.1f to %.1f) are at accesses to objects",
	        100 * lc_share(in_objects.samples, r->view->total), 100 * low, 100 * high);
	if (outside)
		fprintf(out, ", %.1f%% to blocks outside the heap",
		        100 * lc_share(outside, r->view->total));
	if (lc_wilson_effective(known) >= LC_TOUCH_SAMPLES_MIN &&
	    header.samples * 100 >= known.samples * HEADER_PERCENT)
		fprintf(out, "; %.0f%% of these are at a header",
		        100 * lc_share(header.samples, known.samples));
	if (unsplit_by(r->view))
		fprintf(out,
		        "; samples in objects of known class only are not divided among allocation "
		        "sites, since %s moves objects while the program runs",
		        unsplit_by(r->view));
	lc_mem_close_text(out);
	lc_screen_wrap(s, 0, 0, text);
	free(text);
}

/* The references through which the row's objects were reached; "" if unknown. The caller frees it.
 */
static char *reached_text(const struct lc_screen *s, const struct lc_ranking *rank,
                          const struct lc_rank_row *row)
{
	struct lc_reaches reaches = lc_reaches_of(rank, row);
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	lc_reaches_text(out, rank->view->tree, &reaches, s->width - LC_REPORT_BRIEF_LEFT);
	lc_mem_close_text(out);
	lc_reaches_free(&reaches);
	return text;
}

/* Rows of objects that are shown, and how the first ones are reached, if it is known. */
struct reached {
	size_t rows;
	char *texts[REACHED_ROWS]; /* "": not known */
	size_t len;
};

static struct reached reached_of(const struct lc_screen *s, const struct lc_report *r)
{
	const struct lc_ranking *rank = r->ranking;
	struct reached reached = { .rows = rank->shown < r->top ? rank->shown : r->top };

	reached.len = reached.rows < REACHED_ROWS ? reached.rows : REACHED_ROWS;
	for (size_t i = 0; i < reached.len; i++)
		reached.texts[i] = reached_text(s, rank, &rank->rows[i]);
	return reached;
}

static unsigned reached_lines(const struct reached *reached)
{
	unsigned lines = 0;

	for (size_t i = 0; i < reached->len; i++)
		lines += *reached->texts[i] != '\0';
	return lines;
}

static void drop_reached(struct reached *reached)
{
	free(reached->texts[--reached->len]);
}

/* Print lines of text behind the columns of numbers. */
static void print_dim(const struct lc_screen *s, char *text)
{
	while (text && *text) {
		char *line = strsep(&text, "\n"), *wrapped;
		struct lc_screen lines = *s;
		size_t len;

		lines.out = lc_text_open(&wrapped, &len);
		lc_screen_wrap(&lines, LC_REPORT_BRIEF_LEFT, LC_REPORT_BRIEF_LEFT, line);
		lc_mem_close_text(lines.out);
		fprintf(s->out, "%*s", LC_REPORT_BRIEF_LEFT, "");
		lc_screen_ink(s, LC_INK_DIM, wrapped);
		free(wrapped);
	}
}

/* A row with its detail. */
static void print_row(const struct lc_screen *s, const struct lc_ranking *rank,
                      const struct lc_rank_row *row)
{
	char *detail = lc_report_brief_detail(rank, row, s->width - LC_REPORT_BRIEF_LEFT);

	lc_report_brief_row(s, rank, row);
	print_dim(s, detail);
	free(detail);
}

static void print_rows(const struct lc_screen *s, const struct lc_report *r,
                       const struct reached *reached)
{
	const struct lc_ranking *rank = r->ranking;

	for (size_t i = 0; i < reached->rows; i++) {
		print_row(s, rank, &rank->rows[i]);
		if (i < reached->len)
			print_dim(s, reached->texts[i]);
	}
	lc_report_brief_rest(s, rank, reached->rows);
}

/* ---- findings ---- */

/* A finding's text, and what to try, as it is printed. The caller frees it. */
static char *finding_text(const struct lc_finding *f)
{
	return f->change ? lc_mem_text("%s To try: %s. [%s]", f->text, f->change, f->id)
	                 : lc_mem_text("%s [%s]", f->text, f->id);
}

/*
 * How many of the first `most` findings fit in so many lines; at least one, if there is one.
 * *lines: those that they take.
 */
static size_t findings_that_fit(const struct lc_screen *s, const struct lc_findings *f, size_t most,
                                unsigned room, unsigned *lines)
{
	size_t shown = 0;

	*lines = f->none ? 1 : 0;
	for (; shown < f->len && shown < most; shown++) {
		char *text = finding_text(&f->list[shown]);
		const unsigned n = lc_screen_lines(s, FINDING_INDENT, FINDING_INDENT, text);

		free(text);
		if (shown && *lines + n > room)
			break;
		*lines += n;
	}
	return shown;
}

static void print_findings(const struct lc_screen *s, const struct lc_findings *f, size_t shown)
{
	if (f->none)
		lc_screen_wrap(s, 0, 0, f->none);
	for (size_t i = 0; i < shown; i++) {
		char *text = finding_text(&f->list[i]);

		fprintf(s->out, "%zu. ", i + 1);
		lc_screen_wrap(s, FINDING_INDENT, FINDING_INDENT, text);
		free(text);
	}
}

/* Which samples these are, where that is not clear: several kinds, or not those of time. */
static void print_engine(const struct lc_screen *s, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;
	char *text;
	size_t len;
	FILE *out;

	if (l->engines_len == 1 && !strcmp(r->engine->name, "timer"))
		return;
	out = lc_text_open(&text, &len);
	fputs("samples of ", out);
	lc_emit_text_c(out, r->engine->name);
	if (*r->engine->event) {
		fputs(" (", out);
		lc_emit_text_c(out, r->engine->event);
		putc(')', out);
	}
	if (!strcmp(r->engine->name, "watch") && *r->engine->reason) { /* why it has none */
		fputs(": ", out);
		lc_emit_text_c(out, r->engine->reason);
	}
	for (uint32_t i = 0; i < l->engines_len; i++) {
		if (i == r->view->engine)
			continue;
		fprintf(out, "; --engine %u shows those of ", i + 1);
		lc_emit_text_c(out, l->engines[i].name);
	}
	lc_mem_close_text(out);
	lc_screen_wrap(s, 0, 0, text);
	free(text);
}

/* `text` is freed. */
static void print_wrapped(const struct lc_screen *s, char *text)
{
	lc_screen_wrap(s, 0, 0, text);
	free(text);
}

/* On machines with several nodes: write the remote share. Findings say what to do. */
static void print_numa(const struct lc_screen *s, const struct lc_numa *n)
{
	if (n->state == LC_NUMA_ON && n->all.sum.known)
		print_wrapped(s, lc_mem_text("NUMA: %.1f%% of %" PRIu64
		                             " accesses between %zu nodes are remote; more: "
		                             "--view=numa",
		                             100 * n->all.sum.remote_share, n->all.sum.known,
		                             n->nodes_len));
}

/* Page faults that waited for a disk take no CPU time: another engine tells whose they are. */
static void print_disk_faults(const struct lc_screen *s, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;
	const uint64_t faults = lc_load_counter(l, "major_faults");
	double seconds = 0;

	for (size_t i = 0; i < l->processes_len; i++)
		seconds += (double)(lc_load_end_ns(&l->processes[i]) -
		                    l->processes[i].start_monotonic_ns) /
		           1e9;
	if (faults >= DISK_FAULTS && (double)faults >= DISK_FAULTS_S * seconds &&
	    strcmp(r->engine->name, "fault") != 0)
		print_wrapped(s, lc_mem_text("%" PRIu64 " page faults waited for a disk; -e fault "
		                             "tells which accesses make them",
		                             faults));
}

/* The lines of another writer, wrapped. */
static void print_notes(const struct lc_screen *s, const struct lc_report *r)
{
	struct lc_cpu_breakdown bill;
	char *text, *line, *rest;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	lc_report_text_notes(out, r);
	lc_cpu_breakdown_text(out, r->view->load,
	                      is_narrow(s) ? LC_CPU_BREAKDOWN_NARROW : LC_CPU_BREAKDOWN_BRIEF);
	if (!lc_cpu_breakdown_read(&bill, r->view->load))
		lc_own_text(out, r->view->load);
	lc_mem_close_text(out);
	for (rest = text; (line = strsep(&rest, "\n")) && rest;)
		lc_screen_wrap(s, 0, 2, line);
	free(text);
}

/* Is a row shown whose line of allocation is an estimate? */
static bool shows_estimates(const struct lc_report *r)
{
	for (size_t i = 0; i < r->ranking->shown && i < r->top; i++)
		if (r->ranking->rows[i].estimated && r->ranking->rows[i].path)
			return true;
	return false;
}

static unsigned count_lines(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Lines that the first rows take: two each, more on a narrow screen. */
static unsigned rows_lines(const struct lc_screen *s, const struct lc_report *r, size_t rows)
{
	unsigned lines = 0;

	for (size_t i = 0; i < rows; i++) {
		struct lc_screen one = *s;
		char *text;
		size_t len;
		unsigned n;

		one.out = lc_text_open(&text, &len);
		print_row(&one, r->ranking, &r->ranking->rows[i]);
		lc_mem_close_text(one.out);
		n = count_lines(text);
		lines += n < 2 ? 2 : n;
		free(text);
	}
	return lines;
}

/* Lines of the screen for everything but findings and what is said of reached objects. */
static unsigned fixed_lines(const struct lc_screen *s, const struct lc_report *r, unsigned around,
                            size_t rows, size_t waiters)
{
	/* The rest; empty lines, and what to read next. */
	return around + rows_lines(s, r, rows) + 1 + 4 + lc_report_waiters_lines(r, waiters);
}

/*
 * Choose what fits the screen, of which `around` lines are taken: how many findings, in at least so
 * many lines if they fit, how many own methods and rows, and how many rows say how their objects
 * are reached. If the user asks for more rows than a screen has, it is longer, and so it is if the
 * least does not fit a narrow one.
 */
static size_t choose_lines(const struct lc_screen *s, const struct lc_report *r, unsigned around,
                           unsigned least, struct reached *reached, size_t *waiters)
{
	const bool few = r->top <= ROWS;
	const size_t rows_least = is_narrow(s) ? ROWS_NARROW : ROWS_LEAST;
	unsigned lines;
	bool fits;

	(void)findings_that_fit(s, r->findings, 1, 0, &lines);
	fits = r->show == LC_VIEW_BRIEF &&
	       (few || fixed_lines(s, r, around, reached->rows, 1) + lines <= SCREEN_LINES);
	for (;;) {
		const unsigned used =
		    fixed_lines(s, r, around, reached->rows, *waiters) + reached_lines(reached);
		const unsigned room = used + least < SCREEN_LINES ? SCREEN_LINES - used : least;
		const size_t shown = findings_that_fit(s, r->findings, r->top, room, &lines);

		if (used + lines <= SCREEN_LINES || (!reached->len && !fits))
			return shown;
		if (reached->len)
			drop_reached(reached);
		else if (least)
			least--;
		else if (reached->rows > rows_least && few)
			reached->rows--;
		else if (*waiters > 1)
			--*waiters;
		else
			return shown;
	}
}

void lc_report_brief(FILE *out, const struct lc_report *r)
{
	struct lc_screen s;
	char *head, *next;
	struct reached reached;
	size_t len, shown, waiters = WAITERS;

	lc_screen_init(&s, out);
	s.out = lc_text_open(&head, &len);
	print_head(&s, r);
	lc_report_filters(s.out, r->view->load, r->view->engine);
	if (!*r->engine->name && !r->view->total) {
		print_notes(&s, r);
		lc_mem_close_text(s.out);
		fprintf(out, "%sno samples were taken (--event=alloc); allocations, by bytes:\n\n",
		        head);
		free(head);
		lc_report_text_allocations(out, r);
		return;
	}
	print_engine(&s, r);
	print_notes(&s, r);
	print_numa(&s, r->numa);
	print_summary(&s, r);
	lc_report_elsewhere(&s, r);
	lc_report_resident_brief(&s, r);
	print_disk_faults(&s, r);
	lc_report_allocates(&s, r);
	lc_mem_close_text(s.out);
	s.out = out;
	fprintf(out, "%s\n", head);
	next = lc_report_next(&s, r);
	reached = reached_of(&s, r);
	shown = choose_lines(&s, r, count_lines(head) + count_lines(next),
	                     FINDING_LINES - count_lines(next), &reached, &waiters);
	print_findings(&s, r->findings, shown);
	free(head);
	lc_report_waiters(&s, r, waiters);
	if (r->ranking->samples)
		putc('\n', out);
	print_rows(&s, r, &reached);
	while (reached.len)
		drop_reached(&reached);
	putc('\n', out);
	/* A word does not break. */
	lc_screen_wrap(
	    &s, 0, 0,
	    s.width < LC_REPORT_BRIEF_LEFT + LC_SCREEN_NARROW / 2 + 3
	        ? "more: --view=objects, code, alloc, threads or recording; --full"
	    : shows_estimates(r) && !is_narrow(&s)
	        ? "\"~\" is an estimate; more: --view=objects|code|alloc|threads|recording, --full"
	        : "more: --view=objects|code|alloc|threads|recording, --full");
	fputs(next, out);
	free(next);
}
