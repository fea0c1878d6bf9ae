/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_offheap.c - writes the view of blocks outside the heap. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/objects/text/report_resident.h"
#include "analyzer/objects/text/report_text.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum { INDENT = 8 };

/* ", 1.0 KB in 2 from before the recording", or nothing. */
static char *before_words(const struct lc_rank_offheap *o)
{
	char bytes[32];

	if (!o->before)
		return lc_mem_text("%s", "");
	return lc_mem_text(", %s in %" PRIu64 " from before the recording",
	                   lc_emit_bytes(bytes, sizeof(bytes), o->before_bytes), o->before);
}

static void print_counts(const struct lc_screen *s, const struct lc_ranking *rank,
                         const struct lc_rank_row *row)
{
	const struct lc_rank_offheap *o = &row->offheap;
	char live[32], all[32], freed[32], *before, *text;

	before = before_words(o);
	text = lc_mem_text("%" PRIu64 " of %" PRIu64 " blocks live%s; %s allocated, %s freed; "
	                   "%.1f%% of the samples",
	                   lc_offheap_live(o), o->before + o->allocated, before,
	                   lc_emit_bytes(all, sizeof(all), o->allocated_bytes),
	                   lc_emit_bytes(freed, sizeof(freed), o->freed_bytes),
	                   100 * lc_share(row->samples, rank->view->total));
	free(before);
	fprintf(s->out, "%9s live  ", lc_emit_bytes(live, sizeof(live), lc_offheap_live_bytes(o)));
	lc_report_brief_names(s, rank, row, s->width > 16 ? s->width - 16 : 0);
	fprintf(s->out, "%*s", INDENT, "");
	lc_screen_wrap(s, INDENT, INDENT + 2, text);
	free(text);
}

static void print_all(const struct lc_screen *s, const struct lc_rank_offheap *all)
{
	char live[32], bytes[32], *before = before_words(all), *text;

	text = lc_mem_text(
	    "%s live at the end in %" PRIu64 " blocks, of %s allocated in %" PRIu64 "%s",
	    lc_emit_bytes(live, sizeof(live), lc_offheap_live_bytes(all)), lc_offheap_live(all),
	    lc_emit_bytes(bytes, sizeof(bytes), all->allocated_bytes), all->allocated, before);
	lc_screen_wrap(s, 0, 0, text);
	putc('\n', s->out);
	free(before);
	free(text);
}

void lc_report_text_offheap(FILE *out, const struct lc_report *r)
{
	const struct lc_ranking *rank = r->ranking;
	const struct lc_rank_offheap all = lc_offheap_all(rank);
	const struct lc_rank_row **rows;
	struct lc_screen s;
	size_t len = 0;

	lc_screen_init(&s, out);
	if (!lc_offheap_any(&all)) {
		fputs("no block outside the heap was recorded\n", out);
		lc_report_resident(&s, r);
		return;
	}
	rows = lc_mem_zeroed(rank->len, sizeof(const void *));
	for (size_t i = 0; i < rank->len; i++)
		if (lc_offheap_any(&rank->rows[i].offheap))
			rows[len++] = &rank->rows[i];
	qsort(rows, len, sizeof(*rows), lc_offheap_order);
	print_all(&s, &all);
	for (size_t i = 0; i < len && i < r->top; i++)
		print_counts(&s, rank, rows[i]);
	if (len > r->top)
		fprintf(out, "and %zu more\n", len - r->top);
	free(rows);
	lc_report_resident(&s, r);
}
