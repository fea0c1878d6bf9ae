/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/text/report_text_rows.c - writes the ranking's rows in detail for a terminal: where their
 * objects come from, which parts are touched, where, and on whose behalf.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/gc_model.h"
#include "analyzer/objects/analysis/headers.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/reaches.h"
#include "analyzer/objects/analysis/touch.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/objects/text/report_text.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum {
	PATHS = 2,              /* whole call paths of the allocation */
	ALLOCATION_FRAMES = 16, /* shown of each */
	ACCESS_FRAMES = 8,
	LINES = 6,   /* of accesses, where they are a hundredth of the row or more */
	CALLERS = 3, /* of a line */
	FIELDS = 4,
	GC_SHOWN_NS = 1000000, /* less of the collector's time is not worth a word */
};

static void print_shortened(const struct lc_screen *s, const char *before, char *text)
{
	fputs(before, s->out);
	lc_cut_middle(text, s->width - lc_columns(before));
	fprintf(s->out, "%s\n", text);
}

/* "accessed at", by line and caller. */
static void print_accesses(const struct lc_screen *s, const struct lc_report *r,
                           const struct lc_rank_row *row)
{
	const struct lc_tree *t = r->view->tree;
	struct lc_arena arena = { 0 };
	size_t len, shown = 0;
	const struct lc_rank_lines *l =
	    lc_rank_roll_up(&arena, t, row->accesses, row->accesses_len, &len);
	char before[32];

	if (len)
		fputs("    accessed at\n", s->out);
	for (; shown < len && shown < LINES && l[shown].samples * 100 >= row->samples; shown++) {
		char *code =
		    l[shown].method == UINT32_MAX
		        ? strdup("(path unknown)")
		        : lc_short_lines(t, l[shown].method, l[shown].first, l[shown].last);

		snprintf(before, sizeof(before), "    %5.1f%%  ",
		         100 * lc_share(l[shown].samples, row->samples));
		if (code)
			print_shortened(s, before, code);
		free(code);
		for (size_t c = 0; c < l[shown].callers_len && c < CALLERS; c++) {
			const struct lc_rank_caller *caller = &l[shown].callers[c];

			code = lc_short_code(t, caller->method, caller->line1);
			snprintf(before, sizeof(before), "      %5.1f%%  from ",
			         100 * lc_share(caller->samples, row->samples));
			print_shortened(s, before, code);
			free(code);
		}
		if (l[shown].callers_len > CALLERS)
			fprintf(s->out, "              and %zu more callers\n",
			        l[shown].callers_len - CALLERS);
	}
	if (shown < len)
		fprintf(s->out, "            and %zu more lines\n", len - shown);
	lc_arena_free(&arena);
	if (row->accesses_len && row->accesses->path) {
		fprintf(s->out, "    the call path with most samples, %.1f%%\n",
		        100 * lc_share(row->accesses->samples, row->samples));
		lc_report_text_path(s->out, r, row->accesses->path, ACCESS_FRAMES);
	}
}

/* The call path of a part's allocation; 0: not known. */
static uint32_t allocation_of(const struct lc_tree *t, const struct lc_rank_part *part)
{
	return part->from ? lc_table_key(&t->sites, part->from)[LC_SITE_PATH] : 0;
}

/* Whole call paths of the allocation: those with most samples. */
static void print_allocations(const struct lc_screen *s, const struct lc_report *r,
                              const struct lc_rank_row *row)
{
	const struct lc_tree *t = r->view->tree;
	size_t known = 0, shown = 0;

	for (size_t i = 0; i < row->parts_len; i++)
		known += allocation_of(t, &row->parts[i]) != 0;
	for (size_t i = 0; i < row->parts_len && shown < PATHS; i++) {
		const struct lc_rank_part *part = &row->parts[i];

		if (!allocation_of(t, part))
			continue;
		shown++;
		fputs("    ", s->out);
		if (part->samples != row->samples)
			fprintf(s->out, "%s%.1f%% ", part->from == part->site ? "" : "about ",
			        100 * lc_share(part->samples, row->samples));
		fprintf(s->out, "allocated by  [%016" PRIx64 "]\n", lc_tree_site_id(t, part->from));
		lc_report_text_path(s->out, r, allocation_of(t, part), ALLOCATION_FRAMES);
	}
	if (known > shown)
		fprintf(s->out, "    and %zu more call path%s of the allocation\n", known - shown,
		        known - shown == 1 ? "" : "s");
}

/* How the row's lines of allocation are known; NULL: they are counted. */
static const char *assumption_of(const struct lc_view *v, const struct lc_rank_row *row)
{
	for (size_t i = 0; row->estimated && i < v->classes_len; i++)
		for (size_t k = 0; k < row->parts_len; k++)
			if (v->classes[i].split && v->classes[i].site == row->parts[k].site &&
			    v->classes[i].bucket == row->parts[k].bucket)
				return lc_report_assumption(v->classes[i].split->method);
	return NULL;
}

static void print_numbers(const struct lc_screen *s, const struct lc_view *v,
                          const struct lc_rank_row *row)
{
	const char *assumption = assumption_of(v, row);
	char bytes[3][32], *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fprintf(out, "%" PRIu64 " sample%s", row->samples, row->samples == 1 ? "" : "s");
	if (assumption)
		fprintf(out, " (the allocating line is an estimate, %s)", assumption);
	if (row->allocations)
		fprintf(out, "; %s%" PRIu64 " allocation%s%s, %s",
		        row->spread ? "~" : "counted: ", row->allocations,
		        row->allocations == 1 ? "" : "s",
		        row->spread ? " by this caller (an estimate; the line's are counted)" : "",
		        lc_emit_bytes(bytes[0], sizeof(bytes[0]), row->bytes));
	if (row->objects.value > 0)
		fprintf(
		    out, "; estimated: %.0f objects, %s (95%%: %s to %s)", row->objects.value,
		    lc_emit_bytes(bytes[0], sizeof(bytes[0]), (uint64_t)row->object_bytes.value),
		    lc_emit_bytes(bytes[1], sizeof(bytes[1]), (uint64_t)row->object_bytes.low),
		    lc_emit_bytes(bytes[2], sizeof(bytes[2]), (uint64_t)row->object_bytes.high));
	if (lc_offheap_any(&row->offheap))
		fprintf(out, "; counted: %" PRIu64 " blocks, %s, of which %s live at the end",
		        row->offheap.before + row->offheap.allocated,
		        lc_emit_bytes(bytes[0], sizeof(bytes[0]),
		                      row->offheap.before_bytes + row->offheap.allocated_bytes),
		        lc_emit_bytes(bytes[1], sizeof(bytes[1]),
		                      lc_offheap_live_bytes(&row->offheap)));
	lc_mem_close_text(out);
	fputs("    ", s->out);
	lc_screen_wrap(s, 4, 6, text);
	free(text);
}

/* The contents that were seen in some of the row's arrays. */
static void print_contents(const struct lc_screen *s, const struct lc_rank_row *row)
{
	char *text;
	size_t len;
	FILE *out;

	if (!lc_contents_any(&row->contents))
		return;
	out = lc_text_open(&text, &len);
	fputs("contents: ", out);
	lc_contents_text(out, &row->contents);
	lc_mem_close_text(out);
	fputs("    ", s->out);
	lc_screen_wrap(s, 4, 6, text);
	free(text);
}

/* Fields and elements by samples, as shares of those whose field is known. */
static void print_fields(FILE *out, const struct lc_report *r, const struct lc_rank_row *row)
{
	const struct lc_touch touch = lc_touch_of(r->ranking, row);
	size_t len;
	struct lc_view_field *f;

	if (!touch.known)
		return;
	f = lc_touch_fields(r->ranking, row, &len);
	fputs("    touched: ", out);
	lc_touch_text(out, r->view->tree, &touch);
	if (lc_touch_known(&touch))
		fputs("; ", out);
	for (size_t i = 0; i < len && i < FIELDS; i++) {
		fputs(i ? ", " : "", out);
		lc_report_text_field(out, r->view->tree, &f[i]);
		fprintf(out, " %.0f%%%s", 100 * lc_share(f[i].samples, touch.known),
		        lc_report_touch_word(f[i].loads, f[i].stores));
	}
	if (len > FIELDS)
		fprintf(out, ", and %zu more", len - FIELDS);
	putc('\n', out);
	free(f);
}

/* The references to the objects, and the reasons to read their headers. */
static void print_reaches(const struct lc_screen *s, const struct lc_report *r,
                          const struct lc_rank_row *row)
{
	struct lc_reaches reaches = lc_reaches_of(r->ranking, row);

	for (int why = 0; why < 2; why++) {
		char *text;
		size_t len;
		FILE *out = lc_text_open(&text, &len);

		if (why)
			lc_reaches_text_why(out, r->view->tree, &reaches, reaches.samples);
		else
			lc_reaches_text(out, r->view->tree, &reaches, 0);
		lc_mem_close_text(out);
		if (*text) {
			fputs("    ", s->out);
			lc_screen_wrap(s, 4, 6, text);
		}
		free(text);
	}
	lc_reaches_free(&reaches);
}

static void print_header_class(const struct lc_screen *s, const struct lc_view *v,
                               const struct lc_header_class *h)
{
	const double size = lc_headers_size(v, h->class);
	char before[96], bytes[32] = "size unknown", *name;

	if (size > 0)
		snprintf(bytes, sizeof(bytes), "%.0f bytes", size);
	snprintf(before, sizeof(before), "%5.1f%%  %3.0f%% (%.0f to %.0f)  %s  ",
	         100 * lc_share(h->samples, v->total), 100 * lc_share(h->samples, h->known),
	         100 * h->low, 100 * h->high, bytes);
	name = lc_short_class(lc_tree_text(v->tree, h->class));
	print_shortened(s, before, name);
	free(name);
}

/* The classes whose objects are visited and not read. */
static void print_header_classes(const struct lc_screen *s, const struct lc_report *r)
{
	size_t len, only = 0, shown = 0;
	struct lc_header_class *h = lc_headers_of(r->view, &len);

	for (size_t i = 0; i < len; i++)
		only += h[i].only;
	if (only) {
		putc('\n', s->out);
		lc_screen_wrap(
		    s, 0, 0,
		    "Classes touched mostly at the header: the header's part of all samples, its "
		    "part of the class's samples (95%), and the size of an object:");
	}
	for (size_t i = 0; i < len && shown < r->top; i++)
		if (h[i].only) {
			print_header_class(s, r->view, &h[i]);
			shown++;
		}
	if (only > shown)
		fprintf(s->out, "        and %zu more\n", only - shown);
	free(h);
}

void lc_report_text_objects(FILE *out, const struct lc_report *r)
{
	const struct lc_ranking *rank = r->ranking;
	size_t shown = rank->shown < r->top ? rank->shown : r->top;
	struct lc_screen s;

	lc_screen_init(&s, out);
	for (size_t i = 0; i < shown; i++) {
		const struct lc_rank_row *row = &rank->rows[i];

		if (i)
			putc('\n', out);
		lc_report_brief_row(&s, rank, row);
		print_numbers(&s, r->view, row);
		print_contents(&s, row);
		print_fields(out, r, row);
		print_reaches(&s, r, row);
		if (row->parts_len)
			lc_report_text_metric(out, "    measured: ",
			                      lc_view_metric(r->view, row->parts->bucket,
			                                     row->parts->site, LC_VIEW_ALL_PATHS));
		print_allocations(&s, r, row);
		print_accesses(&s, r, row);
	}
	lc_report_brief_rest(&s, rank, shown);
	print_header_classes(&s, r);
}

/* ---- allocations ---- */

/* Write what collections did with the row's objects, and what that may have cost. */
static void put_collected(FILE *out, const struct lc_rank_row *row, const struct lc_gc_model *gc)
{
	const struct lc_rank_copies *c = &row->copies;
	const double by_bytes = lc_gc_model_by_allocation(gc, row);
	const double by_copies = lc_gc_model_by_copies(gc, row);
	char text[32];

	if (gc->collected && row->allocations)
		fprintf(out, "; %.0f%% of the bytes outlived a collection",
		        100 * lc_share(c->outlived_bytes, row->bytes));
	if (lc_gc_model_copied(row) > 0)
		fprintf(out, "; copied %s%s", c->estimated_bytes ? "~" : "",
		        lc_emit_bytes(text, sizeof(text), (uint64_t)lc_gc_model_copied(row)));
	if (by_bytes < GC_SHOWN_NS && by_copies < GC_SHOWN_NS)
		return;
	fprintf(out, "; GC %s", lc_emit_duration(text, sizeof(text), (uint64_t)by_bytes));
	if (gc->by_copies)
		fprintf(out, " or %s", lc_emit_duration(text, sizeof(text), (uint64_t)by_copies));
}

/* How many objects there were, and how long they lived. */
static void print_lives(const struct lc_screen *s, const struct lc_rank_row *row,
                        const struct lc_gc_model *gc)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (row->allocations)
		fprintf(out, "%s%" PRIu64 " %s", row->spread ? "~" : "", row->allocations,
		        row->spread ? "by this caller (an estimate; the line's are counted)"
		                    : "counted");
	if (row->objects.value > 0) {
		fprintf(out, "%s~%.0f (%.0f to %.0f) from %" PRIu64 " sampled; outlived ",
		        row->allocations ? ", " : "", row->objects.value, row->objects.low,
		        row->objects.high, row->sampled);
		for (unsigned i = 0; i < LC_LIVE_COLUMNS; i++)
			fprintf(out, "%s%u", i ? "/" : "", lc_live_collections(i));
		fputs(" collections: ", out);
		for (unsigned i = 0; i < LC_LIVE_COLUMNS; i++)
			fprintf(out, "%s%.0f%%", i ? "/" : "",
			        100 * row->live[i] / row->objects.value);
	}
	put_collected(out, row, gc);
	lc_mem_close_text(out);
	fputs("        ", s->out);
	lc_screen_wrap(s, 8, 10, text);
	free(text);
}

static void print_model(const struct lc_screen *s, const struct lc_gc_model *gc)
{
	char duration[32], bytes[32], *text;

	lc_emit_duration(duration, sizeof(duration), gc->gc_ns);
	if (gc->by_copies)
		text =
		    lc_mem_text("GC: the collector's %s of CPU time, divided by bytes allocated, "
		                "or by bytes copied (models, not measurements): in %" PRIu64
		                " collection%s it copied %s of these objects",
		                duration, gc->collected, gc->collected == 1 ? "" : "s",
		                lc_emit_bytes(bytes, sizeof(bytes), (uint64_t)gc->copied));
	else
		text = lc_mem_text(
		    "GC: the collector's %s of CPU time, divided by bytes allocated (a model)",
		    duration);
	lc_screen_wrap(s, 0, 4, text);
	putc('\n', s->out);
	free(text);
}

void lc_report_text_allocations(FILE *out, const struct lc_report *r)
{
	const struct lc_ranking *rank = r->ranking;
	const struct lc_rank_row **rows = calloc(rank->len + 1, sizeof(const void *));
	struct lc_screen s;
	struct lc_gc_model gc;
	size_t len = 0;

	lc_screen_init(&s, out);
	lc_gc_model_build(&gc, rank);
	if (gc.gc_ns)
		print_model(&s, &gc);
	for (size_t i = 0; rows && i < rank->len; i++)
		if (lc_gc_model_bytes(&rank->rows[i]) > 0)
			rows[len++] = &rank->rows[i];
	if (!len)
		fputs("no allocation was recorded\n", out);
	else
		qsort(rows, len, sizeof(*rows), lc_gc_model_order_bytes);
	for (size_t i = 0; i < len && i < r->top; i++) {
		lc_report_brief_allocation(&s, rank, rows[i], gc.allocated);
		print_lives(&s, rows[i], &gc);
	}
	if (len > r->top)
		fprintf(out, "and %zu more\n", len - r->top);
	free(rows);
}
