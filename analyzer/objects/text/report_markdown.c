/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/text/report_markdown.c - writes the findings and the ranking as markdown for a pull
 * request, within a number of characters. Whole items are left out if they do not fit, and a line
 * says how many.
 */
#include "analyzer/objects/analysis/report.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/gc_model.h"
#include "analyzer/objects/analysis/no_line.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum {
	END_CHARS = 200, /* for the lines that say what was left out */
};

/* The output, and the number of characters that are left. */
struct page {
	FILE *out;
	size_t left;
};

static size_t characters(const char *utf8)
{
	size_t count = 0;

	for (; *utf8; utf8++)
		count += ((unsigned char)*utf8 & 0xc0) != 0x80;
	return count;
}

/* Writes `text`, and frees it, if it fits beside `reserve` more characters. */
static bool put(struct page *p, char *text, size_t reserve)
{
	const size_t need = characters(text);
	const bool fits = need + reserve <= p->left;

	if (fits) {
		fputs(text, p->out);
		p->left -= need;
	}
	free(text);
	return fits;
}

/* Prose in which no character means anything to markdown, nor to HTML. */
static void prose(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>#|~&$", *text))
			putc('\\', out);
		putc(*text, out);
	}
}

static size_t longest_run(const char *text, char of)
{
	size_t longest = 0, run = 0;

	for (; *text; text++) {
		run = *text == of ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

/*
 * A name as code, in a cell of a table, where a '|' is escaped also in code. The text is freed.
 * Code begins and ends with more backticks than the name has one after the other.
 */
static void code(FILE *out, char *name)
{
	const size_t ticks = longest_run(name, '`') + 1;
	const bool apart = *name == '`' || (*name && name[strlen(name) - 1] == '`');

	if (!*name) {
		free(name);
		return;
	}
	for (size_t i = 0; i < ticks; i++)
		putc('`', out);
	fputs(apart ? " " : "", out);
	for (const char *at = name; *at; at++) {
		if (*at == '|')
			putc('\\', out);
		putc(*at, out);
	}
	fputs(apart ? " " : "", out);
	for (size_t i = 0; i < ticks; i++)
		putc('`', out);
	free(name);
}

static char *head_of(const struct lc_report *r)
{
	char *text, *line = lc_report_brief_head(r);
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fputs("### Locus: ", out);
	prose(out, line);
	fputs("\n\n", out);
	free(line);
	if (r->view->load->filter || r->view->load->frames) {
		lc_report_filters(out, r->view->load, r->view->engine);
		putc('\n', out);
	}
	lc_mem_close_text(out);
	return text;
}

static char *finding_of(const struct lc_finding *f, size_t number)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fprintf(out, "%zu. **%s** ", number, f->id);
	prose(out, f->text);
	if (f->change) {
		fputs(" To try: ", out);
		prose(out, f->change);
		putc('.', out);
	}
	putc('\n', out);
	lc_mem_close_text(out);
	return text;
}

/* The line of code that allocates, or why there is none. */
static void put_origin(FILE *out, const struct lc_ranking *rank, const struct lc_rank_row *row)
{
	const char *why = lc_no_line_text(rank, row);

	if (row->path && row->estimated)
		fputs("about ", out);
	if (row->path)
		code(out, lc_own_origin(rank->view->tree, row, UINT_MAX));
	else if (why)
		prose(out, why);
}

static char *row_of(const struct lc_ranking *rank, const struct lc_rank_row *row)
{
	const double bytes = lc_gc_model_bytes(row);
	char number[32], *text, *detail = lc_report_brief_detail(rank, row, UINT_MAX);
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fprintf(out, "| %.1f%% | %.1f to %.1f | %" PRIu64 " | ",
	        100 * lc_share(row->samples, rank->view->total), 100 * row->low, 100 * row->high,
	        row->samples);
	code(out, lc_report_brief_object(rank, row, UINT_MAX));
	fputs(" | ", out);
	put_origin(out, rank, row);
	fputs(" | ", out);
	prose(out, detail);
	fputs(" | ", out);
	if (bytes > 0)
		fprintf(out, "%s%s", row->object_bytes.value > 0 ? "~" : "",
		        lc_emit_bytes(number, sizeof(number), (uint64_t)bytes));
	fputs(" |\n", out);
	lc_mem_close_text(out);
	free(detail);
	return text;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Returns how many were written. */
static size_t put_findings(struct page *p, const struct lc_findings *f)
{
	size_t shown = 0;
	char *none = NULL;
	size_t len;
	FILE *out;

	if (f->none) {
		out = lc_text_open(&none, &len);
		prose(out, f->none);
		fputs("\n\n", out);
		lc_mem_close_text(out);
		put(p, none, END_CHARS);
	}
	while (shown < f->len && put(p, finding_of(&f->list[shown], shown + 1), END_CHARS))
		shown++;
	if (shown)
		put(p, lc_mem_text("\n"), 0);
	return shown;
}

/*
 * The rows to write, and how many: those that are ranked, or without any samples those with bytes,
 * most first. The caller frees the array.
 */
static const struct lc_rank_row **rows_of(const struct lc_report *r, size_t *len)
{
	const struct lc_ranking *rank = r->ranking;
	const struct lc_rank_row **rows = lc_mem_zeroed(rank->len + 1, sizeof(*rows));

	*len = 0;
	for (size_t i = 0; i < rank->len; i++)
		if (r->view->total ? i < rank->shown : lc_gc_model_bytes(&rank->rows[i]) > 0)
			rows[(*len)++] = &rank->rows[i];
	if (!r->view->total)
		qsort(rows, *len, sizeof(const void *), lc_gc_model_order_bytes);
	if (*len > r->top)
		*len = r->top;
	return rows;
}

/* Returns how many of the `wanted` rows were written. */
static size_t put_rows(struct page *p, const struct lc_ranking *rank,
                       const struct lc_rank_row **rows, size_t wanted)
{
	size_t shown = 0;

	if (!wanted ||
	    !put(p,
	         lc_mem_text("| share | 95%% | samples | objects | allocated at | touched | bytes "
	                     "|\n| ---: | --- | ---: | --- | --- | --- | ---: |\n"),
	         END_CHARS))
		return 0;
	while (shown < wanted && put(p, row_of(rank, rows[shown]), END_CHARS))
		shown++;
	put(p, lc_mem_text("\n"), 0);
	return shown;
}

void lc_report_markdown(FILE *out, const struct lc_report *r)
{
	const struct lc_ranking *rank = r->ranking;
	struct page page = { .out = out, .left = r->budget };
	size_t wanted, findings, shown;
	const struct lc_rank_row **rows = rows_of(r, &wanted);
	uint64_t rest = rank->samples;

	put(&page, head_of(r), END_CHARS);
	findings = put_findings(&page, r->findings);
	shown = put_rows(&page, rank, rows, wanted);
	for (size_t i = 0; i < shown; i++)
		rest -= rows[i]->samples;
	free(rows);
	if (rest)
		put(&page,
		    lc_mem_text("The rest: %.1f%% in %zu row%s.\n",
		                100 * lc_share(rest, r->view->total), rank->len - shown,
		                plural(rank->len - shown)),
		    0);
	if (findings < r->findings->len || shown < wanted)
		put(&page,
		    lc_mem_text(
		        "Left out to stay within %zu characters: %zu row%s, %zu finding%s.\n",
		        r->budget, wanted - shown, plural(wanted - shown),
		        r->findings->len - findings, plural(r->findings->len - findings)),
		    0);
}
