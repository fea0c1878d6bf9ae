/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_markdown.c - writes a diff as markdown, for a pull request. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/diff/diff_impl.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/out/emit.h"

enum { NAME_COLUMNS = 100 };

/* Names are any text: what markdown or HTML would take for something else is escaped. */
static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]|~", *text))
			fprintf(out, "\\%c", *text);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '@')
			fputs("&#64;", out); /* mentions nobody */
		else if (*text == '#')
			fputs("&#35;", out); /* is no issue's number */
		else
			putc(*text, out);
	}
}

/* `text` is freed. */
static void put(FILE *out, char *text)
{
	put_escaped(out, text);
	free(text);
}

static void put_path(FILE *out, const char *path)
{
	char *text;
	size_t len;
	FILE *memory = lc_text_open(&text, &len);

	lc_emit_text_c(memory, path);
	lc_mem_close_text(memory);
	put(out, text);
}

static void put_side(FILE *out, const struct lc_diff *d, enum lc_diff_which which)
{
	bool first = true;
	char *text;
	size_t len;
	FILE *memory;

	fprintf(out, "- %s:", which == LC_DIFF_BEFORE ? "before" : "after");
	for (size_t i = 0; i < d->len; i++) {
		if (d->profiles[i].which != which)
			continue;
		fputs(first ? " " : ", ", out);
		put_path(out, d->profiles[i].path);
		memory = lc_text_open(&text, &len);
		lc_report_brief_program(memory, &d->profiles[i].load);
		lc_mem_close_text(memory);
		if (first && *text)
			fputs(" (", out);
		if (first && *text) {
			put_escaped(out, text);
			putc(')', out);
		}
		free(text);
		first = false;
	}
	putc('\n', out);
}

static void put_sum(FILE *out, const char *label, bool known, char *text)
{
	if (known) {
		fprintf(out, "- %s: ", label);
		put_escaped(out, text);
		putc('\n', out);
	}
	free(text);
}

/* "-" where nothing is known. */
static void put_cell(FILE *out, const struct lc_diff_number *n, char *text)
{
	fputs(" | ", out);
	put_escaped(out, n->known ? text : "-");
	free(text);
}

static void put_row(FILE *out, const struct lc_diff *d, const struct lc_diff_row *row)
{
	const struct lc_diff_number *count =
	    row->allocations.known ? &row->allocations : &row->objects;
	const struct lc_diff_number *bytes = row->bytes.known ? &row->bytes : &row->object_bytes;
	char *origin = lc_diff_origin(row);

	fputs("| ", out);
	put(out, lc_diff_object(row, NAME_COLUMNS));
	fputs(" | ", out);
	put_escaped(out, origin ? origin : "-");
	free(origin);
	put_cell(out, &row->share,
	         lc_mem_text("%.1f%% to %.1f%%", 100 * row->share.before, 100 * row->share.after));
	put_cell(out, &row->share,
	         lc_mem_text("%+.1f points (%+.1f to %+.1f)", 100 * row->share.change,
	                     100 * row->share.low, 100 * row->share.high));
	fputs(" | ", out);
	if (*lc_diff_fate(row))
		fprintf(out, "%s, ", lc_diff_fate(row));
	if (lc_diff_all_lines(row))
		fputs("all lines, ", out);
	fputs(row->share.significant ? "**significant**" : lc_diff_verdict(row), out);
	put_cell(out, &row->cpu_ns, lc_diff_time_words(&row->cpu_ns));
	put_cell(out, count, lc_diff_count_words(count, false));
	put_cell(out, bytes, lc_diff_count_words(bytes, true));
	if (d->all.live.known)
		put_cell(out, &row->live, lc_diff_count_words(&row->live, true));
	fputs(" |\n", out);
}

/* Rows with a verdict first, then those whose allocations changed; at most `top`. */
static void put_rows(FILE *out, const struct lc_diff_report *r)
{
	const struct lc_diff *d = r->diff;
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < d->rows_len; i++) {
		if (d->rows[i].rest && !lc_diff_allocates_otherwise(&d->rows[i]) &&
		    !lc_diff_lives_otherwise(d, &d->rows[i]))
			continue;
		if (shown == r->top) {
			left++;
			continue;
		}
		if (!shown++)
			fprintf(out,
			        "\n| objects | allocated at | share | change (95%%) | verdict | "
			        "CPU time | allocations | bytes |%s\n"
			        "| --- | --- | --- | --- | --- | --- | --- | --- |%s\n",
			        d->all.live.known ? " live bytes |" : "",
			        d->all.live.known ? " --- |" : "");
		put_row(out, d, &d->rows[i]);
	}
	if (left)
		fprintf(out, "\n%zu more rows.\n", left);
}

void lc_diff_markdown(FILE *out, const struct lc_diff_report *r)
{
	const struct lc_diff *d = r->diff;

	fputs("**", out);
	put(out, lc_diff_headline(d));
	fputs("**\n\n", out);
	for (size_t i = 0; i < r->outcomes_len; i++) {
		fputs("- ", out);
		put_escaped(out, r->outcomes[i].text);
		putc('\n', out);
	}
	put_side(out, d, LC_DIFF_BEFORE);
	put_side(out, d, LC_DIFF_AFTER);
	put_sum(out, "CPU time", d->total_ns.known, lc_diff_time_words(&d->total_ns));
	put_sum(out, "allocations counted", d->all.allocations.known,
	        lc_diff_count_words(&d->all.allocations, false));
	put_sum(out, "bytes counted", d->all.bytes.known, lc_diff_count_words(&d->all.bytes, true));
	put_sum(out, "bytes live after the last collection", d->all.live.known,
	        lc_diff_count_words(&d->all.live, true));
	put_sum(out, "bytes outside the heap, live at the end", d->all.offheap_live.known,
	        lc_diff_count_words(&d->all.offheap_live, true));
	put_sum(out, "bytes outside the heap, allocated", d->all.offheap_bytes.known,
	        lc_diff_count_words(&d->all.offheap_bytes, true));
	put_sum(out, "allocations estimated", d->all.objects.known,
	        lc_diff_count_words(&d->all.objects, false));
	put_sum(out, "bytes estimated", d->all.object_bytes.known,
	        lc_diff_count_words(&d->all.object_bytes, true));
	put_rows(out, r);
	if (d->engine && !d->repeated)
		fputs("\nIntervals cover sampling error only.\n", out);
}
