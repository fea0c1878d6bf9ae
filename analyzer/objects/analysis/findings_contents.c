/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings_contents.c - finds arrays that are made much larger than what is put in
 * them, and arrays that are equal to others.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/contents.h"
#include "analyzer/objects/analysis/findings_impl.h"
#include "analyzer/objects/analysis/gc_model.h"
#include "analyzer/objects/analysis/live.h"
#include "analyzer/out/emit.h"

/* Does the row cost enough, in samples or in bytes? */
static bool costs(const struct lc_finding_search *s, const struct lc_gc_model *gc,
                  const struct lc_rank_row *row)
{
	return lc_gc_model_bytes(row) >= LC_FINDING_ALLOCATED_MIN * gc->allocated ||
	       (lc_wilson_effective(lc_view_all(s->v)) >= LC_FINDING_SAMPLES_MIN &&
	        row->low >= LC_FINDING_SHARE_MIN);
}

/*
 * The finding saves at most that part of all that exists for its arrays: most of it makes, clears
 * and collects them.
 */
static void save(struct lc_finding_search *s, const struct lc_gc_model *gc, struct lc_finding *f,
                 double part)
{
	struct lc_saving_part *const parts[] = { &f->saves.accesses, &f->saves.all };

	if (lc_wilson_effective(lc_view_all(s->v)) >= LC_FINDING_SAMPLES_MIN) {
		f->saves = lc_saving_of(s->savings, &f->row, 1, NULL);
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			parts[i]->share *= part;
			parts[i]->low *= part;
			parts[i]->high *= part;
		}
	} else if (gc->cpu_ns) {
		f->saves.all.share =
		    part * lc_gc_model_by_allocation(gc, f->row) / (double)gc->cpu_ns;
		f->saves.all.low = f->saves.all.high = f->saves.all.share;
		f->saves.accesses = f->saves.all;
	}
	f->share = f->saves.all.share;
	f->low = f->saves.all.low;
	f->high = f->saves.all.high;
}

static void put_allocated(FILE *out, const struct lc_rank_row *row, const struct lc_gc_model *gc)
{
	char bytes[32];

	fprintf(out, " The line allocated %s%s, %.0f%% of all bytes.",
	        row->object_bytes.value > 0 ? "about " : "",
	        lc_emit_bytes_real(bytes, sizeof(bytes), lc_gc_model_bytes(row)),
	        100 * lc_gc_model_bytes(row) / fmax(1, gc->allocated));
}

static struct lc_finding *add(struct lc_finding_search *s, enum lc_finding_kind kind,
                              const struct lc_rank_row *row)
{
	struct lc_finding *f = lc_finding_add(s, kind, lc_finding_number_of_line(s, row));

	f->row = row;
	lc_finding_add_rows(s, f, &row, 1);
	return f;
}

/* ---- larger than what is put in ---- */

/* " Together with char[] of line 187, byte[] of line 189 and 2 more." */
static void put_joined(FILE *out, const struct lc_finding_search *s, const struct lc_finding *f)
{
	for (size_t i = 1; i < f->rows_len && i <= LC_FINDING_JOINED; i++) {
		char *line = lc_finding_line_words(s, f->rows[i]);

		fprintf(out, "%s%s", i == 1 ? " Together with " : ", ", line);
		free(line);
	}
	if (f->rows_len > 1 + LC_FINDING_JOINED)
		fprintf(out, " and %zu more", f->rows_len - 1 - LC_FINDING_JOINED);
	if (f->rows_len > 1)
		putc('.', out);
}

static char *oversized_words(const struct lc_finding_search *s, const struct lc_gc_model *gc,
                             const struct lc_finding *f)
{
	const struct lc_rank_contents *c = &f->row->contents;
	const uint64_t written = lc_contents_written(c);
	uint64_t within;
	const unsigned used = lc_contents_used(c, &within);
	char *what = lc_finding_row_words(s, f->row), *text, each[32], mean[32];
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fprintf(out,
	        "%s: in %" PRIu64 " of %" PRIu64 " dead arrays looked at, the last element that is "
	        "not zero lay in the first %s (on average %s of %s, %.1f%%).",
	        what, within, written,
	        used == 2    ? "half"
	        : used == 4  ? "quarter"
	        : used == 8  ? "eighth"
	        : used == 16 ? "sixteenth"
	                     : "64th part",
	        lc_emit_bytes(mean, sizeof(mean), c->used_bytes / written),
	        lc_emit_bytes(each, sizeof(each), c->bytes / written),
	        100 * (double)c->used_bytes / (double)c->bytes);
	if (c->zero)
		fprintf(out, " %" PRIu64 " more held nothing but zeros.", c->zero);
	if (c->bytes / written > LC_CONTENTS_WHOLE_BYTES)
		fputs(" Large arrays are looked at in places.", out);
	put_allocated(out, f->row, gc);
	put_joined(out, s, f);
	lc_finding_put_gain(out, f);
	lc_mem_close_text(out);
	free(what);
	return text;
}

static void add_part(struct lc_saving_part *sum, const struct lc_saving_part *part)
{
	sum->share = fmin(1, sum->share + part->share);
	sum->low = fmin(1, sum->low + part->low);
	sum->high = fmin(1, sum->high + part->high);
}

/*
 * The first finding of arrays that the row's method makes: one change, such as that of a
 * constructor, makes all of them smaller.
 */
static struct lc_finding *of_same_method(const struct lc_finding_search *s,
                                         const struct lc_rank_row *row)
{
	for (size_t i = 0; i < s->found->len; i++) {
		struct lc_finding *f = &s->found->list[i];

		if (f->kind == LC_FINDING_OVERSIZED &&
		    (f->row == row || lc_finding_one_method(s->t, f->row->path, row->path)))
			return f;
	}
	return NULL;
}

/* Let the finding have what the last one has, which goes. */
static void join(struct lc_finding_search *s, struct lc_finding *f, const struct lc_finding *last)
{
	lc_finding_add_rows(s, f, last->rows, last->rows_len);
	add_part(&f->saves.accesses, &last->saves.accesses);
	add_part(&f->saves.all, &last->saves.all);
	f->share = f->saves.all.share;
	f->low = f->saves.all.low;
	f->high = f->saves.all.high;
	s->found->len--;
}

static void look_for_oversized(struct lc_finding_search *s, const struct lc_gc_model *gc,
                               const struct lc_rank_row *row)
{
	const struct lc_rank_contents *c = &row->contents;
	const uint64_t written = lc_contents_written(c);
	uint64_t within;
	struct lc_finding *f, *last;

	if (written < LC_CONTENTS_MIN || !lc_contents_used(c, &within) || !c->bytes)
		return;
	last = add(s, LC_FINDING_OVERSIZED, row);
	save(s, gc, last, 1 - (double)c->used_bytes / (double)c->bytes);
	f = of_same_method(s, row);
	if (f != last)
		join(s, f, last);
	f->text = lc_finding_keep(s, oversized_words(s, gc, f));
	f->change = "make the array as large as what is put in it, or small and let it grow, or "
	            "reuse one (in a field, or one per thread)";
}

/* ---- equal to others ---- */

/* The part of the heap in use that the line's arrays hold; 0: unknown. */
static double held_part(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	const struct lc_live *l = s->of->live;

	for (size_t i = 0; l && !l->none && l->heap_bytes && i < l->len; i++)
		if (l->lines[i].row == row && !lc_live_is_vague(&l->lines[i].now))
			return fmin(1, lc_live_bytes(&l->lines[i].now) / (double)l->heap_bytes);
	return 0;
}

static char *replicas_words(const struct lc_finding_search *s, const struct lc_gc_model *gc,
                            const struct lc_finding *f)
{
	const struct lc_rank_contents *c = &f->row->contents;
	const double held = held_part(s, f->row);
	char *what = lc_finding_row_words(s, f->row), *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fprintf(out,
	        "%s: %.0f%% of the arrays looked at (%" PRIu64 " of %" PRIu64
	        " that outlived a collection) were equal to another one that did, %" PRIu64
	        " of them to one of this line.",
	        what, 100 * (double)lc_contents_equal(c) / (double)c->outlived,
	        lc_contents_equal(c), c->outlived, c->same);
	put_allocated(out, f->row, gc);
	if (held >= LC_FINDING_ALLOCATED_MIN)
		fprintf(out, " Its arrays hold %.0f%% of the heap in use.", 100 * held);
	lc_finding_put_gain(out, f);
	lc_mem_close_text(out);
	free(what);
	return text;
}

static void look_for_replicas(struct lc_finding_search *s, const struct lc_gc_model *gc,
                              const struct lc_rank_row *row)
{
	const struct lc_rank_contents *c = &row->contents;
	struct lc_finding *f;

	if (c->outlived < LC_CONTENTS_MIN || 2 * lc_contents_equal(c) < c->outlived ||
	    (!costs(s, gc, row) && held_part(s, row) < LC_FINDING_ALLOCATED_MIN))
		return;
	f = add(s, LC_FINDING_REPLICAS, row);
	save(s, gc, f, (double)lc_contents_equal(c) / (double)c->outlived);
	f->text = lc_finding_keep(s, replicas_words(s, gc, f));
	f->change = "keep one of each content and share it: look it up before making another "
	            "(a map of contents, or String.intern() for strings)";
}

void lc_finding_contents(struct lc_finding_search *s)
{
	const struct lc_ranking *r = s->of->ranking;
	struct lc_gc_model gc;

	lc_gc_model_build(&gc, r);
	for (size_t i = 0; i < r->len; i++) {
		const struct lc_rank_row *row = &r->rows[i];

		if (!row->path || !lc_contents_any(&row->contents) || lc_finding_made_below(s, row))
			continue;
		if (costs(s, &gc, row))
			look_for_oversized(s, &gc, row);
		look_for_replicas(s, &gc, row);
	}
}
