/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings_rows.c - finds rows that take much time, joins those that one change
 * would help, and writes their texts.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/advice.h"
#include "analyzer/objects/analysis/findings_impl.h"
#include "analyzer/objects/analysis/headers.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/reaches.h"
#include "analyzer/objects/analysis/row_set.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum { REACHED_COLUMNS = 90 };

/* A number for a row, equal in every profile: the ID of the site with most of its samples. */
static uint64_t number_of(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	return row->parts_len ? lc_tree_site_id(s->t, row->parts[0].from ? row->parts[0].from
	                                                                 : row->parts[0].site)
	                      : 0;
}

/*
 * Describe a row: "j.l.Long of j.l.Long.valueOf:1204 in a.Main.load:12 (an estimate)". The caller
 * frees the text.
 */
char *lc_finding_row_words(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	char *class = lc_object_label(s->t, row, 1, UINT_MAX), *text, *at;

	if (!row->path)
		return class;
	at = lc_own_origin(s->t, row, UINT_MAX);
	text = lc_mem_text("%s of %s%s", class, at, row->estimated ? " (an estimate)" : "");
	free(class);
	free(at);
	return text;
}

/*
 * Say where a row is accessed most: "49% of them at j.u.HashMap.getNode:568 in a.Main.find:53". The
 * caller frees the text.
 */
static char *access_words(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	struct lc_arena arena = { 0 };
	size_t len;
	const struct lc_rank_lines *l =
	    lc_rank_roll_up(&arena, s->t, row->accesses, row->accesses_len, &len);
	char *text, *code;

	if (!len || l->method == UINT32_MAX) {
		text = lc_mem_text("at unknown lines");
	} else {
		code = lc_own_access(s->t, l, UINT_MAX);
		text = lc_mem_text("%.0f%% of them %s", 100 * lc_share(l->samples, row->samples),
		                   code);
		free(code);
	}
	lc_arena_free(&arena);
	return text;
}

/* Mean size of the row's objects in bytes; 0: unknown. */
static double mean_bytes(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	const struct lc_rank_offheap *o = &row->offheap;

	if (o->allocated)
		return (double)o->allocated_bytes / (double)o->allocated;
	return row->allocations ? (double)row->bytes / (double)row->allocations
	                        : lc_headers_size(s->v, row->class);
}

/* Is an object of the row no larger than a cache line? */
static bool fits_line(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	const double bytes = mean_bytes(s, row);

	return bytes > 0 && bytes <= LC_WALK_LINE;
}

/* Set the finding's change to advice from the table, if there is some. */
static void advise(struct lc_finding_search *s, struct lc_finding *f, const struct lc_touch *touch)
{
	const struct lc_rank_row *row = f->row;
	struct lc_reaches reaches = lc_reaches_of(s->of->ranking, row);
	const struct lc_advice_of of = {
		.tree = s->t,
		.row = row,
		.touch = touch,
		.reaches = &reaches,
		.kind = f->kind,
		.size = mean_bytes(s, row),
		.dies_young = lc_finding_dies_young(s, row),
	};
	char *text = lc_advice_find(&of, &f->about);

	f->change = text ? lc_finding_keep(s, text) : NULL;
	lc_reaches_free(&reaches);
}

static void put_stride(FILE *out, const struct lc_touch *touch)
{
	fprintf(out,
	        " In %.0f%% of them (%" PRIu64 " of %" PRIu64 "), each access is %" PRIu64
	        " bytes from the last, so each takes a cache line of its own.",
	        100 * lc_share(touch->step_samples, touch->at), touch->step_samples, touch->at,
	        touch->step);
}

/* How the objects were reached, and why their headers were read, where that is known of most. */
static void put_reaches(FILE *out, const struct lc_tree *t, const struct lc_reaches *reaches)
{
	const uint64_t unknown = reaches->why[LC_WHY_UNKNOWN].samples;
	char *text;
	size_t len;
	FILE *sentence;

	if (2 * unknown < reaches->headers && 5 * reaches->headers >= reaches->samples)
		lc_finding_put_whys(out, t, reaches, reaches->samples);
	if (2 * reaches->known < reaches->samples || !reaches->known)
		return;
	sentence = lc_text_open(&text, &len);
	lc_reaches_text(sentence, t, reaches, REACHED_COLUMNS);
	lc_mem_close_text(sentence);
	lc_finding_put_sentence(out, text);
}

/* ---- rows of one class ---- */

/*
 * The lines of a class's objects are estimated, and what this line has is not known well: the class
 * says more. Arrays of one class have nothing in common.
 */
static bool is_blurred(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	return row->variance > 0 && !lc_text_ends(lc_tree_text(s->t, row->class), "]") &&
	       2 * (row->high - row->low) > lc_share(row->samples, s->v->total);
}

void lc_finding_add_rows(struct lc_finding_search *s, struct lc_finding *f,
                         const struct lc_rank_row *const *more, size_t len)
{
	const struct lc_rank_row **rows = lc_arena_zeroed(&s->found->arena, f->rows_len + len,
	                                                  sizeof(const struct lc_rank_row *));

	for (size_t i = 0; i < f->rows_len; i++)
		rows[i] = f->rows[i];
	for (size_t i = 0; i < len; i++)
		rows[f->rows_len + i] = more[i];
	f->rows = rows;
	f->rows_len += len;
}

bool lc_finding_one_method(const struct lc_tree *t, uint32_t a, uint32_t b)
{
	return a && b && lc_tree_method_number(t, a) == lc_tree_method_number(t, b);
}

uint32_t lc_finding_line1(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	return row->path ? lc_tree_frame(s->t, row->path)[LC_FRAME_LINE1] : 0;
}

char *lc_finding_line_words(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	const uint32_t line1 = lc_finding_line1(s, row);
	char *class = lc_object_label(s->t, row, 1, UINT_MAX), *text;

	if (!line1)
		return class;
	text = lc_mem_text("%s of line %" PRIu32, class, line1 - 1);
	free(class);
	return text;
}

/* Set the rows to all of the class whose objects are not counted. One with a line is the first. */
static void set_class(struct lc_finding_search *s, struct lc_finding *f,
                      const struct lc_rank_row *row)
{
	const struct lc_ranking *r = s->of->ranking;
	const struct lc_rank_row **rows = lc_mem_zeroed(r->len, sizeof(const struct lc_rank_row *));
	size_t len = 0;

	f->whole_class = true;
	f->row = row;
	for (size_t i = r->len; i--;) {
		const struct lc_rank_row *other = &r->rows[i];

		if (other->class != row->class || other->allocations)
			continue;
		rows[len++] = other;
		if (other->path)
			f->row = other;
	}
	lc_finding_add_rows(s, f, rows, len);
	free(rows);
	lc_row_set_share(r, f->rows, f->rows_len, &f->share, &f->low, &f->high);
}

/* Set the finding's rows and share: a row's, or those of its class. */
static void set_rows(struct lc_finding_search *s, struct lc_finding *f,
                     const struct lc_rank_row *row)
{
	if (is_blurred(s, row)) {
		set_class(s, f, row);
		return;
	}
	f->row = row;
	lc_finding_add_rows(s, f, &row, 1);
	f->share = lc_share(row->samples, s->v->total);
	f->low = row->low;
	f->high = row->high;
}

/* Is it a row of a class that a finding is about? */
static bool of_class_found(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	for (size_t i = 0; i < s->found->len; i++) {
		const struct lc_finding *f = &s->found->list[i];

		if (f->whole_class && lc_row_set_has(f->rows, f->rows_len, row))
			return true;
	}
	return false;
}

/* ---- their texts ---- */

/* The class, or the row. The caller frees the text. */
static char *words_of(const struct lc_finding_search *s, const struct lc_finding *f)
{
	return f->whole_class ? lc_short_class(lc_tree_text(s->t, f->row->class))
	                      : lc_finding_row_words(s, f->row);
}

/* How many rows of the class it has, without those that were joined to them. */
static size_t rows_of_class(const struct lc_finding *f)
{
	size_t len = 0;

	while (len < f->rows_len && f->rows[len]->class == f->row->class)
		len++;
	return len;
}

/* The line that made most objects of the class. */
static void put_line_of_class(FILE *out, const struct lc_finding_search *s,
                              const struct lc_finding *f)
{
	char *at;

	if (!f->whole_class || !f->row->path)
		return;
	at = lc_own_origin(s->t, f->row, UINT_MAX);
	fprintf(out, " Most were made at %s (an estimate: %.1f to %.1f).", at, 100 * f->row->low,
	        100 * f->row->high);
	free(at);
}

static void row_text(struct lc_finding_search *s, struct lc_finding *f)
{
	const struct lc_rank_row *row = f->row;
	const struct lc_touch touch = lc_touch_of(s->of->ranking, row);
	struct lc_reaches reaches = lc_reaches_of(s->of->ranking, row);
	char *what = words_of(s, f), *where = access_words(s, row), *text;
	size_t len;
	double share = lc_share(row->samples, s->v->total), low = row->low, high = row->high;
	FILE *out = lc_text_open(&text, &len);

	if (f->whole_class)
		lc_row_set_share(s->of->ranking, f->rows, rows_of_class(f), &share, &low, &high);
	fprintf(out, "%s: %.1f%% of the samples (%.1f to %.1f), %s.", what, 100 * share, 100 * low,
	        100 * high, where);
	put_line_of_class(out, s, f);
	if (f->kind == LC_FINDING_HEADER)
		fprintf(out, " %.0f%% of them are at its header.",
		        100 * lc_share(touch.header, touch.known));
	else if (touch.kind == LC_TOUCH_HEADER)
		fputs(
		    " Its header is read first; the code's next reads are in the same cache line.",
		    out);
	else if (f->kind == LC_FINDING_ONE_PART)
		fprintf(out, " %.0f%% of them touch %s %" PRIu64 " to %" PRIu64 ".",
		        100 * lc_share(touch.samples, touch.known),
		        touch.off_heap ? "bytes" : "elements", touch.first, touch.last);
	else if (f->kind == LC_FINDING_STRIDE)
		put_stride(out, &touch);
	else if (f->kind == LC_FINDING_NEVER_READ)
		fprintf(out, " It was written in %" PRIu64 " samples and read in none.",
		        touch.stores - touch.cleared);
	put_reaches(out, s->t, &reaches);
	fputs(f->text ? f->text : "", out);
	lc_finding_put_gain(out, f);
	lc_mem_close_text(out);
	f->text = lc_finding_keep(s, text);
	lc_reaches_free(&reaches);
	free(what);
	free(where);
}

/* ---- rows with one change ---- */

static bool one_change(const struct lc_tree *t, const struct lc_finding *a,
                       const struct lc_finding *b)
{
	return a->about.joins && a->about.joins == b->about.joins && a->kind == b->kind &&
	       !strcmp(a->change, b->change) &&
	       (a->about.joins == LC_JOINS_ALL ||
	        lc_finding_one_method(t, a->row->path, b->row->path));
}

/* ---- what a collection holds ---- */

/* Are these arrays of references to the row's objects, by their classes? */
static bool is_array_of(const struct lc_tree *t, const struct lc_rank_row *arrays,
                        const struct lc_rank_row *row)
{
	const struct lc_text array = lc_tree_text(t, arrays->class),
	                     class = lc_tree_text(t, row->class);

	return array.len == class.len + strlen("[]") && lc_text_ends(array, "[]") &&
	       !memcmp(class.bytes, array.bytes, class.len);
}

/* The class of these arrays' elements, if a finding's change does without both; or 0. */
static uint32_t elements_of(const struct lc_finding_search *s, size_t first,
                            const struct lc_finding *f)
{
	for (size_t i = first; i < s->found->len; i++) {
		const struct lc_finding *other = &s->found->list[i];

		if (other->about.arrays && is_array_of(s->t, f->row, other->row))
			return other->row->class;
	}
	return 0;
}

/*
 * The nodes of a collection by whose fields two thirds of the row's objects or more are reached,
 * where the nodes are a finding, too; or 0.
 */
static uint32_t nodes_of(const struct lc_finding_search *s, size_t first,
                         const struct lc_finding *f)
{
	struct lc_reaches reaches = lc_reaches_of(s->of->ranking, f->row);
	uint32_t holder = 0;

	for (size_t i = first; i < s->found->len && !holder; i++) {
		const uint32_t class = s->found->list[i].row->class;
		const struct lc_text node = lc_tree_text(s->t, class);
		uint64_t samples = 0;

		if (class == f->row->class || !lc_saving_collection(node).len)
			continue;
		for (size_t k = 0; k < reaches.len; k++) {
			const struct lc_text name = lc_tree_text(s->t, reaches.list[k].name);

			if (reaches.list[k].kind == LC_REFERENCE_FIELD && name.len > node.len &&
			    !memcmp(name.bytes, node.bytes, node.len) &&
			    name.bytes[node.len] == '.')
				samples += reaches.list[k].samples;
		}
		if (samples && 3 * samples >= 2 * reaches.samples)
			holder = class;
	}
	lc_reaches_free(&reaches);
	return holder;
}

/* Put the objects that a change does without before what goes with them, which is joined. */
static void find_holders(struct lc_finding_search *s, size_t first)
{
	struct lc_finding *list = s->found->list;

	for (size_t i = first; i < s->found->len; i++) {
		list[i].holder = elements_of(s, first, &list[i]);
		if (!list[i].holder)
			list[i].holder = nodes_of(s, first, &list[i]);
	}
	for (size_t i = first; i < s->found->len; i++)
		for (size_t k = i + 1; list[i].holder && k < s->found->len; k++)
			if (list[k].row->class == list[i].holder && !list[k].holder) {
				const struct lc_finding nodes = list[k];

				memmove(list + i + 1, list + i, (k - i) * sizeof(*list));
				list[i] = nodes;
				break;
			}
}

/* Is a change of `f` one of the other finding, too? */
static bool one_cause(const struct lc_finding_search *s, const struct lc_finding *f,
                      const struct lc_finding *other)
{
	return one_change(s->t, f, other) || (other->holder && other->holder == f->row->class);
}

/* A row that is joined to another of the same method needs its line alone. The caller frees the
 * text. */
static char *joined_words(const struct lc_finding_search *s, const struct lc_finding *f,
                          const struct lc_finding *other)
{
	char *line, *text;

	if (f->about.joins != LC_JOINS_METHOD || other->holder || other->whole_class ||
	    !lc_finding_line1(s, other->row))
		return words_of(s, other);
	line = lc_finding_line_words(s, other->row);
	text = lc_mem_text("%s%s", line, other->row->estimated ? " (an estimate)" : "");
	free(line);
	return text;
}

/*
 * Join findings from `first` on with it that have the same change: the text names the first ones,
 * and the share is that of all.
 */
static void join(struct lc_finding_search *s, size_t first)
{
	struct lc_finding *f = &s->found->list[first];
	size_t kept = first + 1, joined = 0, len;
	char *text;
	FILE *out = lc_text_open(&text, &len);

	for (size_t i = first + 1; i < s->found->len; i++) {
		const struct lc_finding *other = &s->found->list[i];

		if (!one_cause(s, f, other)) {
			s->found->list[kept++] = *other;
			continue;
		}
		lc_finding_add_rows(s, f, other->rows, other->rows_len);
		if (joined++ < LC_FINDING_JOINED) {
			char *label = joined_words(s, f, other);

			fprintf(out, "%s%s (%.1f%%)", joined > 1 ? ", " : " Together with ", label,
			        100 * other->share);
			free(label);
		}
	}
	s->found->len = kept;
	if (!joined) {
		lc_mem_close_text(out);
		free(text);
		return;
	}
	lc_row_set_share(s->of->ranking, f->rows, f->rows_len, &f->share, &f->low, &f->high);
	if (joined > LC_FINDING_JOINED)
		fprintf(out, " and %zu more", joined - LC_FINDING_JOINED);
	fprintf(out, ": %.1f%% (%.1f to %.1f).", 100 * f->share, 100 * f->low, 100 * f->high);
	lc_mem_close_text(out);
	f->text = lc_finding_keep(s, text);
}

/* Bytes of an element of the row's arrays; of references and blocks, at least; 0: no arrays. */
static double element_bytes(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	static const struct {
		const char *class;
		double bytes;
	} arrays[] = { { "byte[]", 1 }, { "boolean[]", 1 }, { "short[]", 2 }, { "char[]", 2 },
		       { "int[]", 4 },  { "float[]", 4 },   { "long[]", 8 },  { "double[]", 8 } };
	const struct lc_text class = lc_tree_text(s->t, row->class);

	if (lc_offheap_class(class))
		return 1;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
		if (lc_text_is(class, arrays[i].class))
			return arrays[i].bytes;
	return class.len && class.bytes[class.len - 1] == ']' ? 4 : 0;
}

static void scale(struct lc_saving_part *part, double by)
{
	part->share *= by;
	part->low *= by;
	part->high *= by;
}

/*
 * In the order of addresses, one access of a cache line still waits for it. A change that the other
 * kinds suggest leaves the objects where they are.
 */
static void find_saving(struct lc_finding_search *s, struct lc_finding *f)
{
	bool *gone = f->about.gone ? lc_finding_methods(s, f->about.gone) : NULL;

	f->saves = lc_saving_of(s->savings, f->rows, f->rows_len, gone);
	free(gone);
	if (f->kind == LC_FINDING_STRIDE)
		scale(&f->saves.accesses, 1 - element_bytes(s, f->row) / LC_WALK_LINE);
	if (f->kind != LC_FINDING_HOT && f->kind != LC_FINDING_NEVER_READ)
		f->saves.all = f->saves.accesses;
}

/* The row's samples that a finding about blocks or contents explains. */
static uint64_t explained_samples(const struct lc_finding_search *s, const struct lc_finding *f,
                                  const struct lc_rank_row *row)
{
	if (f->kind != LC_FINDING_OVERSIZED)
		return f->row == row ? f->row_samples : 0;
	return lc_row_set_has(f->rows, f->rows_len, row) ? lc_touch_of(s->of->ranking, row).cleared
	                                                 : 0;
}

/* Does such a finding explain most of its samples? */
static bool explained_by_another(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	for (size_t i = 0; i < s->found->len; i++)
		if (2 * explained_samples(s, &s->found->list[i], row) >= row->samples)
			return true;
	return false;
}

/* Does a more specific finding explain most of the row's samples? */
static bool explained(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	uint64_t samples = 0;

	if (explained_by_another(s, row) ||
	    (s->called && 2 * lc_finding_row_sum(row, s->called) >= row->samples))
		return true;
	for (size_t i = 0; i < row->parts_len; i++) {
		const struct lc_rank_part *p = &row->parts[i];
		const uint64_t id = lc_tree_site_id(s->t, p->from ? p->from : p->site);

		for (size_t k = 0; k < s->found->len; k++)
			if (s->found->list[k].site == id &&
			    2 * s->found->list[k].share * (double)s->v->total >=
			        (double)p->samples) {
				samples += p->samples;
				break;
			}
	}
	return 2 * samples >= row->samples;
}

static enum lc_finding_kind kind_of(const struct lc_finding_search *s,
                                    const struct lc_rank_row *row, const struct lc_touch *touch)
{
	if (lc_touch_never_read(touch))
		return LC_FINDING_NEVER_READ;
	if (lc_finding_header_alone(touch))
		return LC_FINDING_HEADER;
	if (touch->walk == LC_WALK_STRIDE)
		return LC_FINDING_STRIDE;
	if (touch->kind == LC_TOUCH_ONE_PART && !fits_line(s, row))
		return LC_FINDING_ONE_PART;
	return LC_FINDING_HOT;
}

void lc_finding_rows(struct lc_finding_search *s)
{
	const struct lc_ranking *r = s->of->ranking;
	const size_t first = s->found->len;

	for (size_t i = 0; i < r->shown; i++) {
		const struct lc_rank_row *row = &r->rows[i];
		const struct lc_touch touch = lc_touch_of(r, row);
		struct lc_finding *f;

		if (of_class_found(s, row) || explained(s, row) ||
		    !lc_finding_costs_time(s, row, &touch))
			continue;
		f = lc_finding_add(s, kind_of(s, row, &touch), number_of(s, row));
		set_rows(s, f, row);
		advise(s, f, &touch);
		/* Code that makes objects is worth a word if it can be done without. */
		if (f->low < LC_FINDING_SHARE_MIN ||
		    (!f->change && lc_finding_waits_elsewhere(row, &touch)))
			s->found->len--;
	}
	find_holders(s, first);
	for (size_t i = first; i < s->found->len; i++) {
		join(s, i);
		find_saving(s, &s->found->list[i]);
		lc_finding_take_calls(s, &s->found->list[i]);
		row_text(s, &s->found->list[i]);
	}
}
