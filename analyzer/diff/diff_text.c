/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_text.c - writes a diff for a terminal: the answer, the sums, and then row by row. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/diff/diff_impl.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"

enum {
	LABEL_COLUMNS = 13, /* "allocations  " */
	PATH_ROOM = 10,     /* "before  " and ": " */
	LEFT_COLUMNS = 18,  /* " 40.8% to  18.4%  " */
	ARROW_COLUMNS = 4,  /* " <- " */
	BYTES_TOP = 5,      /* rows whose allocations changed, below others */
};

/* `text` is freed. */
static void print_wrapped(const struct lc_screen *s, unsigned used, unsigned indent, char *text)
{
	lc_screen_wrap(s, used, indent, text);
	free(text);
}

/* ---- head ---- */

static uint64_t samples_of(const struct lc_diff *d, enum lc_diff_which which)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < d->len; i++)
		sum += d->profiles[i].which == which ? d->profiles[i].samples : 0;
	return sum;
}

static void print_side(const struct lc_screen *s, const struct lc_diff *d, enum lc_diff_which which)
{
	const struct lc_diff_profile *first =
	    &d->profiles[which == LC_DIFF_BEFORE ? 0 : d->sides[LC_DIFF_BEFORE]];
	const uint64_t samples = samples_of(d, which);
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	for (size_t i = 0; i < d->sides[which]; i++) {
		char *path = lc_mem_text("%s", first[i].path);

		lc_cut_middle(path, s->width - PATH_ROOM);
		fputs(i ? ", " : "", out);
		lc_emit_text_c(out, path);
		free(path);
	}
	fputs(": ", out);
	if (d->sides[which] > 1)
		fprintf(out, "%zu profiles; the first is ", d->sides[which]);
	lc_report_brief_program(out, &first->load);
	if (d->engine)
		fprintf(out, "%s%" PRIu64 " sample%s", first->load.processes_len ? ", " : "",
		        samples, samples == 1 ? "" : "s");
	lc_mem_close_text(out);
	fprintf(s->out, "%-8s", which == LC_DIFF_BEFORE ? "before" : "after");
	print_wrapped(s, 8, 8, text);
}

/* ---- sums ---- */

static void print_label(const struct lc_screen *s, const char *label, char *text)
{
	fprintf(s->out, "%-*s", LABEL_COLUMNS, label);
	print_wrapped(s, LABEL_COLUMNS, LABEL_COLUMNS, text);
}

/* Counted and estimated beside each other: "12 to 14, +16.7% counted; ~30 to ~31 ..." */
static char *both(const struct lc_diff_number *counted, const struct lc_diff_number *estimated,
                  bool bytes)
{
	char *a = counted->known ? lc_diff_count_words(counted, bytes) : NULL;
	char *b = estimated->known ? lc_diff_count_words(estimated, bytes) : NULL;
	char *text = lc_mem_text("%s%s%s%s%s", a ? "counted " : "", a ? a : "", a && b ? "; " : "",
	                         b ? "estimated " : "", b ? b : "");

	free(a);
	free(b);
	return text;
}

/* "live 1.0 MB, equal; allocated ..." of blocks outside the heap. */
static char *offheap_words(const struct lc_diff_row *row)
{
	char *live = lc_diff_count_words(&row->offheap_live, true);
	char *bytes = lc_diff_count_words(&row->offheap_bytes, true);
	char *text = lc_mem_text("live at the end %s; allocated %s", live, bytes);

	free(live);
	free(bytes);
	return text;
}

static void print_sums(const struct lc_screen *s, const struct lc_diff *d)
{
	const struct lc_diff_row *all = &d->all;

	if (d->total_ns.known)
		print_label(s, "CPU time", lc_diff_time_words(&d->total_ns));
	if (all->share.known)
		print_label(s, "in objects",
		            lc_mem_text("%.1f%% to %.1f%% of the samples, %+.1f points (%+.1f to "
		                        "%+.1f), %s",
		                        100 * all->share.before, 100 * all->share.after,
		                        100 * all->share.change, 100 * all->share.low,
		                        100 * all->share.high, lc_diff_verdict(all)));
	if (all->allocations.known || all->objects.known)
		print_label(s, "allocations", both(&all->allocations, &all->objects, false));
	if (all->bytes.known || all->object_bytes.known)
		print_label(s, "bytes", both(&all->bytes, &all->object_bytes, true));
	if (all->live.known)
		print_label(s, "live bytes", lc_diff_count_words(&all->live, true));
	if (all->offheap_bytes.known)
		print_label(s, "off-heap", offheap_words(all));
}

/* ---- rows ---- */

/* The objects, and the line that allocates them, in the columns that are left. */
static void print_names(const struct lc_screen *s, const struct lc_diff_row *row, unsigned room)
{
	char *code = lc_diff_origin(row);
	char *name = lc_diff_object(row, code ? room * 3 / 5 : room);
	const bool estimated = row->side[LC_DIFF_AFTER].row
	                           ? row->side[LC_DIFF_AFTER].row->estimated
	                           : row->side[LC_DIFF_BEFORE].row->estimated;

	lc_cut_middle(name, code ? room * 3 / 5 : room);
	lc_screen_ink(s, LC_INK_BOLD, name);
	if (code) {
		lc_cut_code(code, room - lc_columns(name) - ARROW_COLUMNS, 1);
		fprintf(s->out, " %s %s", estimated ? "~" : "<-", code);
	}
	putc('\n', s->out);
	free(name);
	free(code);
}

/* Adds "; text" to what is said; `text` is freed. */
static void say(FILE *out, bool *first, char *text)
{
	fprintf(out, "%s%s", *first ? "" : "; ", text);
	*first = false;
	free(text);
}

static void say_count(FILE *out, bool *first, const struct lc_diff_number *n, bool bytes)
{
	char *text;

	if (!n->known)
		return;
	text = lc_diff_count_words(n, bytes);
	say(out, first, lc_mem_text("%s %s", bytes ? "bytes" : "allocations", text));
	free(text);
}

/* Counted, else estimated; of what did not change, or not beyond its error, few words. */
static void say_allocations(FILE *out, bool *first, const struct lc_diff_row *row)
{
	const bool counted = row->allocations.known;
	const struct lc_diff_number *n = counted ? &row->allocations : &row->objects;
	const struct lc_diff_number *bytes = counted ? &row->bytes : &row->object_bytes;

	if (!n->known)
		return;
	if (n->exact && bytes->exact && n->change == 0 && bytes->change == 0)
		say(out, first,
		    lc_mem_text("%.0f allocation%s, equal", n->after, n->after == 1 ? "" : "s"));
	else if (n->tested && !n->significant && !bytes->significant)
		say(out, first, lc_mem_text("allocations equal within error"));
	else {
		say_count(out, first, n, false);
		say_count(out, first, bytes, true);
	}
}

/* The second line of a row: its verdict, CPU time, allocations. */
static void print_detail(const struct lc_screen *s, const struct lc_diff_row *row, bool samples)
{
	bool first = true;
	char *text, *words;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (*lc_diff_fate(row))
		say(out, &first, lc_mem_text("%s", lc_diff_fate(row)));
	if (samples)
		say(out, &first,
		    lc_mem_text("%+.1f points (%+.1f to %+.1f), %s", 100 * row->share.change,
		                100 * row->share.low, 100 * row->share.high, lc_diff_verdict(row)));
	if (lc_diff_all_lines(row))
		say(out, &first, lc_mem_text("all lines: some profiles do not know the lines"));
	if (row->moved)
		say(out, &first, lc_mem_text("the line moved"));
	if (samples && row->cpu_ns.known) {
		words = lc_diff_time_words(&row->cpu_ns);
		say(out, &first, lc_mem_text("CPU %s", words));
		free(words);
	}
	say_allocations(out, &first, row);
	if (row->offheap_bytes.known)
		say(out, &first, offheap_words(row));
	words = samples ? lc_diff_reached(row) : NULL;
	if (words)
		say(out, &first, words);
	words = lc_diff_used(row);
	if (words)
		say(out, &first, words);
	lc_mem_close_text(out);
	fprintf(s->out, "%*s", LEFT_COLUMNS, "");
	print_wrapped(s, LEFT_COLUMNS, LEFT_COLUMNS, text);
}

static void print_row(const struct lc_screen *s, const struct lc_diff_row *row)
{
	char shares[32];

	snprintf(shares, sizeof(shares), "%5.1f%% to %5.1f%%", 100 * row->share.before,
	         100 * row->share.after);
	lc_screen_ink(s, row->share.significant ? LC_INK_HOT : LC_INK_PLAIN, shares);
	fputs("  ", s->out);
	print_names(s, row, s->width - LEFT_COLUMNS);
	print_detail(s, row, true);
}

static void print_rows(const struct lc_screen *s, const struct lc_diff_report *r)
{
	const struct lc_diff *d = r->diff;
	const size_t shown = d->compared < r->top ? d->compared : r->top;

	if (!d->compared)
		return;
	putc('\n', s->out);
	for (size_t i = 0; i < shown; i++)
		print_row(s, &d->rows[i]);
	if (d->compared > shown)
		fprintf(s->out, "%*sand %zu more rows without a significant change\n", LEFT_COLUMNS,
		        "", d->compared - shown);
}

/* Rows that are not among the first `shown`, and whose allocations changed. */
static void print_allocations(const struct lc_screen *s, const struct lc_diff_report *r)
{
	const struct lc_diff *d = r->diff;
	const size_t listed = d->compared < r->top ? d->compared : r->top;
	const size_t most = listed && r->top > BYTES_TOP ? BYTES_TOP : r->top;
	size_t shown = 0, all = 0;

	for (size_t i = listed; i < d->rows_len; i++) {
		if (!lc_diff_allocates_otherwise(&d->rows[i]))
			continue;
		if (!all++)
			fprintf(s->out, "\n%sallocations changed, most bytes first\n",
			        listed ? "other rows whose " : "rows whose ");
		if (shown == most)
			continue;
		shown++;
		print_names(s, &d->rows[i], s->width);
		print_detail(s, &d->rows[i], false);
	}
	if (all > shown)
		fprintf(s->out, "%*sand %zu more\n", LEFT_COLUMNS, "", all - shown);
}

static int order_live(const void *a, const void *b)
{
	const struct lc_diff_row *const *x = a, *const *y = b;
	const double of_x = fabs((*x)->live.change), of_y = fabs((*y)->live.change);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

/* Rows that hold more or less after the last collection. */
static void print_live(const struct lc_screen *s, const struct lc_diff_report *r)
{
	const struct lc_diff *d = r->diff;
	const struct lc_diff_row **rows = lc_mem_zeroed(d->rows_len + 1, sizeof(*rows));
	const size_t most = r->top > BYTES_TOP ? BYTES_TOP : r->top;
	size_t len = 0;

	for (size_t i = 0; i < d->rows_len; i++)
		if (lc_diff_lives_otherwise(d, &d->rows[i]))
			rows[len++] = &d->rows[i];
	qsort(rows, len, sizeof(*rows), order_live);
	if (len)
		fputs("\nrows whose live bytes changed, most bytes first\n", s->out);
	for (size_t i = 0; i < len && i < most; i++) {
		print_names(s, rows[i], s->width);
		fprintf(s->out, "%*s", LEFT_COLUMNS, "");
		print_wrapped(s, LEFT_COLUMNS, LEFT_COLUMNS,
		              lc_diff_count_words(&rows[i]->live, true));
	}
	if (len > most)
		fprintf(s->out, "%*sand %zu more\n", LEFT_COLUMNS, "", len - most);
	free(rows);
}

/* ---- all of it ---- */

static void print_outcomes(const struct lc_screen *s, const struct lc_diff_report *r)
{
	for (size_t i = 0; i < r->outcomes_len; i++)
		print_wrapped(s, 0, 2, lc_mem_text("--fail-on: %s", r->outcomes[i].text));
}

void lc_diff_text(FILE *out, const struct lc_diff_report *r)
{
	const struct lc_diff *d = r->diff;
	char *headline = lc_diff_headline(d);
	struct lc_screen s;

	lc_screen_init(&s, out);
	lc_screen_wrap(&s, 0, 0, headline);
	free(headline);
	print_outcomes(&s, r);
	putc('\n', out);
	print_side(&s, d, LC_DIFF_BEFORE);
	print_side(&s, d, LC_DIFF_AFTER);
	putc('\n', out);
	print_sums(&s, d);
	print_rows(&s, r);
	print_allocations(&s, r);
	print_live(&s, r);
	if (d->engine && !d->repeated) {
		putc('\n', out);
		lc_screen_wrap(
		    &s, 0, 0,
		    "Intervals cover sampling error only; with several profiles per side "
		    "(--before, --after) they also cover differences between runs.");
	}
}
