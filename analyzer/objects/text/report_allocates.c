/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_allocates.c - see report_allocates.h. */
#include "analyzer/objects/text/report_allocates.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/gc_model.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/out/emit.h"

enum {
	ROWS = 3,
	LEAST_PERCENT = 5,
	FIRST_COLUMNS = 24,  /* for the first line of code: less says nothing */
	MORE_COLUMNS = 30,   /* for one more */
	AROUND_COLUMNS = 10, /* ": 100% at " */
};

#define SECOND_NS 1e9

/* All rows, most bytes first. The caller frees the array. */
static const struct lc_rank_row **sorted(const struct lc_ranking *rank)
{
	const struct lc_rank_row **rows = lc_mem_zeroed(rank->len, sizeof(*rows));

	for (size_t i = 0; i < rank->len; i++)
		rows[i] = &rank->rows[i];
	if (rank->len)
		qsort(rows, rank->len, sizeof(const void *), lc_gc_model_order_bytes);
	return rows;
}

/* "41% at a.Main.load:20", in about so many columns; a class whose line is not known stands for it.
 * The caller frees it. */
static char *row_text(const struct lc_tree *t, const struct lc_rank_row *row, double all,
                      unsigned columns)
{
	const unsigned room = columns > AROUND_COLUMNS ? columns - AROUND_COLUMNS : 0;
	char *what = row->path ? lc_own_origin(t, row, room) : lc_object_label(t, row, 1, room);
	char *text = lc_mem_text("%.0f%% %s%s", 100 * lc_gc_model_bytes(row) / all,
	                         row->path && strncmp(what, "in ", 3) ? "at " : "", what);

	free(what);
	return text;
}

/* "allocated ~1.8 GB (330 MB per CPU second)". The caller frees it. */
static char *sum_text(const struct lc_ranking *rank, const struct lc_gc_model *gc)
{
	bool estimated = false;
	char bytes[32], rate[32], *each = NULL, *text;

	for (size_t i = 0; i < rank->len; i++)
		estimated |= rank->rows[i].object_bytes.value > 0;
	lc_emit_bytes(bytes, sizeof(bytes), (uint64_t)gc->allocated);
	if (gc->cpu_ns)
		each = lc_mem_text(
		    " (%s per CPU second)",
		    lc_emit_bytes(rate, sizeof(rate),
		                  (uint64_t)(gc->allocated * SECOND_NS / (double)gc->cpu_ns)));
	text = lc_mem_text("allocated %s%s%s", estimated ? "~" : "", bytes, each ? each : "");
	free(each);
	return text;
}

void lc_report_allocates(const struct lc_screen *s, const struct lc_report *r)
{
	const struct lc_ranking *rank = &r->analysis->by_line;
	const struct lc_rank_row **rows;
	struct lc_gc_model gc;
	char *text;

	lc_gc_model_build(&gc, rank);
	if (gc.allocated < 1)
		return;
	rows = sorted(rank);
	text = sum_text(rank, &gc);
	for (size_t i = 0; i < rank->len && i < ROWS; i++) {
		const unsigned least = i ? MORE_COLUMNS : FIRST_COLUMNS, used = lc_columns(text);
		char *row, *longer;

		if (used + least > s->width ||
		    100 * lc_gc_model_bytes(rows[i]) < LEAST_PERCENT * gc.allocated)
			break;
		row = row_text(rank->view->tree, rows[i], gc.allocated, s->width - used);
		longer = lc_mem_text("%s%s%s", text, i ? ", " : ": ", row);
		free(row);
		free(text);
		text = longer;
	}
	lc_screen_wrap(s, 0, 2, text);
	free(text);
	free(rows);
}
