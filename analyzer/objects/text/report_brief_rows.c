/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_brief_rows.c - writes one row of a ranking, and its detail. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/no_line.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/touch.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum {
	BETWEEN_COLUMNS = 12, /* "10.2 to 12.0" */
	ARROW_COLUMNS = 4,    /* " <- " */
	CODE_COLUMNS = 8,     /* less of a line of code says nothing */
};

char *lc_report_brief_object(const struct lc_ranking *rank, const struct lc_rank_row *row,
                             unsigned columns)
{
	const struct lc_tree *t = rank->view->tree;
	const struct lc_text class = lc_tree_text(t, row->class);
	char *name, *text;
	size_t len;
	FILE *out;

	if (!lc_rank_is_no_class(rank) && rank->group != LC_GROUP_FIELD)
		return lc_object_label(t, row, LC_OBJECT_NAMES, columns);
	out = lc_text_open(&text, &len);
	if (lc_rank_is_no_class(rank)) {
		lc_emit_text(out, lc_rank_row_name(rank, row));
		if (!lc_rank_row_name(rank, row).len)
			fputs("(arrays of numbers, and classes without a package)", out);
	} else {
		name = lc_short_class(class);
		fputs(name, out);
		free(name);
		if (!row->field_known)
			fputs(", field unknown", out);
		else if (!lc_tree_text(t, row->field).len)
			fputs(", elements", out);
		else
			putc('.', out);
		if (row->field_known)
			lc_emit_text(out, lc_tree_text(t, row->field));
	}
	lc_mem_close_text(out);
	return text;
}

/* The least columns of "at a.Main.find:12": "at find:12". */
static unsigned least_columns(const char *code)
{
	const char *method = strrchr(code, '.');

	return method ? lc_columns("at ") + lc_columns(method + 1) : lc_columns(code);
}

/*
 * "all over, 47% at a.Main.find:12". The parts have a line each if they do not fit a narrow one, or
 * if the method does not fit a wide one.
 */
static char *with_code(const struct lc_tree *t, const struct lc_rank_lines *lines,
                       const struct lc_rank_row *row, const char *touch, unsigned columns)
{
	char *share = lc_mem_text("%.0f%% ", 100 * lc_share(lines->samples, row->samples));
	char *code = lc_own_access(t, lines, UINT_MAX), *text;
	unsigned used = *touch ? lc_columns(touch) + 2 : 0;
	const unsigned least = columns < LC_SCREEN_NARROW ? lc_columns(code) : least_columns(code);
	const bool broken = used && used + lc_columns(share) + least > columns;

	used = (broken ? 0 : used) + lc_columns(share);
	free(code);
	code = lc_own_access(t, lines, used + CODE_COLUMNS < columns ? columns - used : columns);
	text = lc_mem_text("%s%s%s%s", touch, !*touch ? "" : broken ? ",\n" : ", ", share, code);
	if (!broken)
		lc_cut_middle(text, columns);
	free(share);
	free(code);
	return text;
}

/* Is the touched part not worth a line of a narrow screen? */
static bool says_little(const struct lc_touch *t)
{
	return t->kind == LC_TOUCH_ALL_OVER && t->hot_end == LC_END_NONE &&
	       t->walk == LC_WALK_UNKNOWN && !lc_touch_never_read(t);
}

char *lc_report_brief_detail(const struct lc_ranking *rank, const struct lc_rank_row *row,
                             unsigned columns)
{
	const struct lc_touch touch = lc_touch_of(rank, row);
	struct lc_arena arena = { 0 };
	char *text, *whole;
	size_t len, n;
	FILE *out = lc_text_open(&text, &len);
	const struct lc_rank_lines *lines =
	    lc_rank_roll_up(&arena, rank->view->tree, row->accesses, row->accesses_len, &n);

	lc_touch_text(out, rank->view->tree, &touch);
	lc_mem_close_text(out);
	if (n && lines->method != UINT32_MAX) {
		whole = with_code(rank->view->tree, lines, row,
		                  columns < LC_SCREEN_NARROW && says_little(&touch) ? "" : text,
		                  columns);
		free(text);
		text = whole;
	}
	lc_arena_free(&arena);
	return text;
}

/* Do the row's name and line need more room than there is, packages and all? */
static bool needs_two_lines(const struct lc_ranking *rank, const struct lc_rank_row *row,
                            unsigned room)
{
	char *name = lc_report_brief_object(rank, row, UINT_MAX);
	char *code = lc_own_origin(rank->view->tree, row, UINT_MAX);
	const bool needs = lc_columns(name) + ARROW_COLUMNS + lc_columns(code) > room;

	free(name);
	free(code);
	return needs;
}

void lc_report_brief_names(const struct lc_screen *s, const struct lc_ranking *rank,
                           const struct lc_rank_row *row, unsigned room)
{
	const char *why = lc_no_line_text(rank, row);
	const bool broken =
	    row->path && room < LC_SCREEN_NARROW && needs_two_lines(rank, row, room);
	/* Beside a line of code a name gets more than a class alone. */
	const unsigned columns = why                    ? room - lc_columns(why) - 2
	                         : !row->path || broken ? room
	                         : row->names_len       ? room * 3 / 5
	                                                : room * 2 / 5;
	const unsigned arrow = broken ? ARROW_COLUMNS - 1 : ARROW_COLUMNS;
	char *name = lc_report_brief_object(rank, row, columns), *code = NULL;

	if (row->path)
		code = lc_own_origin(rank->view->tree, row,
		                     room - (broken ? 0 : lc_columns(name)) - arrow);
	if (lc_rank_is_no_class(rank))
		lc_cut_middle(name, room);
	else if (rank->group == LC_GROUP_FIELD)
		lc_cut_code(name, room, 1);
	lc_screen_ink(s, LC_INK_BOLD, name);
	if (broken)
		fprintf(s->out, "\n%*s", (int)(s->width - room), "");
	if (code)
		fprintf(s->out, "%s%s %s", broken ? "" : " ", row->estimated ? "~" : "<-", code);
	else if (why)
		fprintf(s->out, ", %s", why);
	putc('\n', s->out);
	free(name);
	free(code);
}

void lc_report_brief_row(const struct lc_screen *s, const struct lc_ranking *rank,
                         const struct lc_rank_row *row)
{
	char share[32];

	snprintf(share, sizeof(share), "%5.1f%%", 100 * lc_share(row->samples, rank->view->total));
	lc_screen_ink(s, LC_INK_BOLD, share);
	snprintf(share, sizeof(share), "%4.1f to %.1f", 100 * row->low, 100 * row->high);
	fprintf(s->out, " %-*s  ", BETWEEN_COLUMNS, share);
	lc_report_brief_names(s, rank, row, s->width - LC_REPORT_BRIEF_LEFT);
}

void lc_report_brief_allocation(const struct lc_screen *s, const struct lc_ranking *rank,
                                const struct lc_rank_row *row, double all)
{
	const double bytes = (double)row->bytes + row->object_bytes.value;
	char text[32], number[32];

	snprintf(text, sizeof(text), "%5.1f%%", 100 * bytes / all);
	lc_screen_ink(s, LC_INK_BOLD, text);
	snprintf(text, sizeof(text), "%s%s", row->objects.value > 0 ? "~" : "",
	         lc_emit_bytes(number, sizeof(number), (uint64_t)bytes));
	fprintf(s->out, " %*s  ", BETWEEN_COLUMNS, text);
	lc_report_brief_names(s, rank, row, s->width - LC_REPORT_BRIEF_LEFT);
}

void lc_report_brief_rest(const struct lc_screen *s, const struct lc_ranking *rank, size_t shown)
{
	uint64_t rest = rank->samples;

	for (size_t i = 0; i < shown; i++)
		rest -= rank->rows[i].samples;
	if (rest)
		fprintf(s->out, "%5.1f%% %-*s  the rest: %zu row%s\n",
		        100 * lc_share(rest, rank->view->total), BETWEEN_COLUMNS, "",
		        rank->len - shown, rank->len - shown == 1 ? "" : "s");
}
