/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_words.c - describes changes in words, for the formats that people read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/diff/diff_impl.h"
#include "analyzer/objects/analysis/reaches.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"

#define LIVE_PART 0.01 /* of all live bytes, that a change has to be */

enum { HEADLINE_COLUMNS = 60, NUMBER_BYTES = 32, PERCENT_BYTES = 32 };

/* The side by which a row is called: after, if it is there. */
static const struct lc_diff_place *shown(const struct lc_diff_row *row)
{
	return &row->side[row->side[LC_DIFF_AFTER].row ? LC_DIFF_AFTER : LC_DIFF_BEFORE];
}

char *lc_diff_object(const struct lc_diff_row *row, unsigned columns)
{
	const struct lc_diff_place *p = shown(row);

	return lc_report_brief_object(&p->profile->ranking, p->row, columns);
}

static char *code_of(const struct lc_diff_place *p)
{
	const uint32_t *frame;

	if (!p->row || !p->row->path)
		return NULL;
	frame = lc_tree_frame(&p->profile->tree, p->row->path);
	return lc_short_code(&p->profile->tree, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
}

/* The reference of most samples, if half of them came through it; NULL: none. */
static char *reference_of(const struct lc_diff_place *p)
{
	struct lc_reaches reaches = { 0 };
	char *name = NULL;

	if (p->row)
		reaches = lc_reaches_of(&p->profile->ranking, p->row);
	if (reaches.len && 2 * reaches.list->samples >= reaches.samples)
		name = lc_reaches_name(lc_tree_text(&p->profile->tree, reaches.list->name), 0);
	lc_reaches_free(&reaches);
	return name;
}

char *lc_diff_reached(const struct lc_diff_row *row)
{
	char *before = reference_of(&row->side[LC_DIFF_BEFORE]);
	char *after = reference_of(&row->side[LC_DIFF_AFTER]), *text = NULL;

	if (before && after && strcmp(before, after) != 0)
		text = lc_mem_text("reached through %s, before through %s", after, before);
	free(before);
	free(after);
	return text;
}

char *lc_diff_used(const struct lc_diff_row *row)
{
	const struct lc_rank_row *before = row->side[LC_DIFF_BEFORE].row;
	const struct lc_rank_row *after = row->side[LC_DIFF_AFTER].row;

	if (!before || !after || !lc_contents_differ(&before->contents, &after->contents))
		return NULL;
	return lc_mem_text("arrays looked at used %.1f%% on average, before %.1f%%",
	                   100 * lc_contents_share(&after->contents),
	                   100 * lc_contents_share(&before->contents));
}

char *lc_diff_origin(const struct lc_diff_row *row)
{
	const uint32_t before = row->side[LC_DIFF_BEFORE].line1;
	char *code = code_of(shown(row)), *both;

	if (!code || !row->moved)
		return code;
	if (before)
		both = lc_mem_text("%s (line %u before)", code, before - 1);
	else
		both = lc_mem_text("%s (lines moved)", code);
	free(code);
	return both;
}

const char *lc_diff_fate(const struct lc_diff_row *row)
{
	if (!row->side[LC_DIFF_BEFORE].row)
		return "new";
	return row->side[LC_DIFF_AFTER].row ? "" : "gone";
}

bool lc_diff_all_lines(const struct lc_diff_row *row)
{
	return shown(row)->row->all_lines;
}

const char *lc_diff_verdict(const struct lc_diff_row *row)
{
	if (!row->share.tested)
		return "too few samples";
	return row->share.significant ? "significant" : "no significant change";
}

bool lc_diff_allocates_otherwise(const struct lc_diff_row *row)
{
	return row->allocations.significant || row->bytes.significant || row->objects.significant ||
	       row->object_bytes.significant || row->offheap_bytes.significant ||
	       row->offheap_live.significant;
}

bool lc_diff_lives_otherwise(const struct lc_diff *d, const struct lc_diff_row *row)
{
	return row->live.significant &&
	       fabs(row->live.change) >= LIVE_PART * fmax(d->all.live.before, d->all.live.after);
}

/* ---- the headline ---- */

static void put_share(FILE *out, const struct lc_diff_row *row)
{
	char *name = lc_diff_object(row, HEADLINE_COLUMNS);

	fprintf(out, "%s %.1f%% to %.1f%%", name, 100 * row->share.before, 100 * row->share.after);
	free(name);
}

static void put_live(FILE *out, const struct lc_diff *d)
{
	const struct lc_diff_number *n = &d->all.live;
	size_t rows = 0;

	for (size_t i = 0; i < d->rows_len; i++)
		rows += lc_diff_lives_otherwise(d, &d->rows[i]);
	if (!rows)
		return;
	fprintf(out, "; live bytes changed in %zu of %zu row%s", rows, d->rows_len,
	        d->rows_len == 1 ? "" : "s");
	if (n->before > 0)
		fprintf(out, ", in all by %+.1f%%", 100 * n->change / n->before);
}

char *lc_diff_headline(const struct lc_diff *d)
{
	size_t len, otherwise = 0;
	char *text;
	FILE *out = lc_text_open(&text, &len);

	for (size_t i = 0; i < d->rows_len; i++)
		otherwise += lc_diff_allocates_otherwise(&d->rows[i]);
	if (d->significant) {
		put_share(out, &d->rows[0]);
		fputs(", significant", out);
		if (d->significant > 1)
			fprintf(out, "; so %s %zu of the %zu other rows",
			        d->significant == 2 ? "is" : "are", d->significant - 1,
			        d->compared - 1);
	} else if (d->engine) {
		fprintf(out, "no significant change (%zu row%s of samples compared)", d->compared,
		        d->compared == 1 ? "" : "s");
	} else {
		fputs("no samples are compared", out);
	}
	if (otherwise)
		fprintf(out, "; allocations changed in %zu of %zu row%s", otherwise, d->rows_len,
		        d->rows_len == 1 ? "" : "s");
	else if (d->all.allocations.known || d->all.objects.known)
		fprintf(out, "; allocations %s",
		        d->all.objects.known || !d->all.bytes.exact ? "show no significant change"
		                                                    : "are equal");
	put_live(out, d);
	lc_mem_close_text(out);
	return text;
}

/* ---- numbers ---- */

/* ", -63.3%"; nothing of what was 0. */
static const char *percent(char *out, size_t out_len, const struct lc_diff_number *n)
{
	*out = '\0';
	if (n->before > 0)
		snprintf(out, out_len, ", %+.1f%%", 100 * n->change / n->before);
	return out;
}

typedef const char *formatter(char *out, size_t out_len, double v);

static const char *bytes_text(char *out, size_t out_len, double v)
{
	return lc_emit_bytes(out, out_len, v < 0 ? 0 : (uint64_t)(v + 0.5));
}

static const char *count_text(char *out, size_t out_len, double v)
{
	/* A mean of a few counts has a fraction worth a digit. */
	snprintf(out, out_len, v >= 100 || fabs(v - round(v)) < 0.05 ? "%.0f" : "%.1f", v);
	return out;
}

static void put_signed(FILE *out, formatter *format, double v)
{
	char text[NUMBER_BYTES];

	fprintf(out, "%c%s", v < 0 ? '-' : '+', format(text, sizeof(text), fabs(v)));
}

static void put_interval(FILE *out, formatter *format, const struct lc_diff_number *n)
{
	fputs(" (", out);
	put_signed(out, format, n->low);
	fputs(" to ", out);
	put_signed(out, format, n->high);
	putc(')', out);
}

static void put_number(FILE *out, formatter *format, const struct lc_diff_number *n)
{
	char before[NUMBER_BYTES], after[NUMBER_BYTES], change[PERCENT_BYTES];
	const char *about = n->estimate ? "~" : "";

	if (n->exact && n->change == 0) {
		fprintf(out, "%s, equal", format(before, sizeof(before), n->before));
		return;
	}
	fprintf(out, "%s%s to %s%s%s", about, format(before, sizeof(before), n->before), about,
	        format(after, sizeof(after), n->after), percent(change, sizeof(change), n));
	if (!n->exact && n->tested)
		put_interval(out, format, n);
	if (!n->exact && n->significant)
		fputs(", significant", out);
}

char *lc_diff_time_words(const struct lc_diff_number *n)
{
	char before[NUMBER_BYTES], after[NUMBER_BYTES], change[PERCENT_BYTES], *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fprintf(out, "%s to %s%s", lc_emit_time(before, sizeof(before), n->before),
	        lc_emit_time(after, sizeof(after), n->after), percent(change, sizeof(change), n));
	if (n->low < n->high)
		put_interval(out, lc_emit_time, n);
	if (n->significant)
		fputs(", significant", out);
	lc_mem_close_text(out);
	return text;
}

char *lc_diff_count_words(const struct lc_diff_number *n, bool bytes)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	put_number(out, bytes ? bytes_text : count_text, n);
	lc_mem_close_text(out);
	return text;
}
