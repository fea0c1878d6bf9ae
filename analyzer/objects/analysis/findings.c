/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings.c - finds what costs the program time and writes each finding's text.
 */
#include "analyzer/objects/analysis/findings.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/findings_impl.h"
#include "analyzer/objects/analysis/gc_model.h"
#include "analyzer/objects/analysis/headers.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/touch.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/hash.h"
#include "src/base/order.h"

enum { GAIN_MOST = 10, HEADER_CLASSES = 3 };

static const char *const names[LC_FINDING_KINDS] = {
	[LC_FINDING_HOT] = "hot-object",
	[LC_FINDING_HEADER] = "header-only",
	[LC_FINDING_HEADERS] = "headers-of-many",
	[LC_FINDING_ONE_PART] = "one-part",
	[LC_FINDING_STRIDE] = "stride",
	[LC_FINDING_NEVER_READ] = "never-read",
	[LC_FINDING_SHORT_LIVED] = "short-lived",
	[LC_FINDING_FALSE_SHARING] = "false-sharing",
	[LC_FINDING_REMOTE] = "remote-memory",
	[LC_FINDING_FINE_TASKS] = "fine-tasks",
	[LC_FINDING_COARSE_TASKS] = "coarse-tasks",
	[LC_FINDING_UNEVEN_WORKERS] = "uneven-workers",
	[LC_FINDING_TINY_STREAMS] = "tiny-streams",
	[LC_FINDING_SAME_STREAMS] = "same-streams",
};

const char *lc_finding_name(enum lc_finding_kind kind)
{
	return names[kind];
}

double lc_finding_gain(double share)
{
	return share >= 1 ? HUGE_VAL : 1 / (1 - share);
}

const char *lc_finding_keep(struct lc_finding_search *s, char *text)
{
	char *kept = lc_arena_zeroed(&s->found->arena, strlen(text) + 1, 1);

	strcpy(kept, text); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy) it has room */
	free(text);
	return kept;
}

struct lc_finding *lc_finding_add(struct lc_finding_search *s, enum lc_finding_kind kind,
                                  uint64_t number)
{
	struct lc_finding *f;

	s->found->list =
	    lc_mem_grow(s->found->list, &s->cap, s->found->len + 1, sizeof(*s->found->list));
	f = &s->found->list[s->found->len++];
	*f = (struct lc_finding){ .kind = kind };
	snprintf(f->id, sizeof(f->id), "%s-%08x", names[kind], (unsigned)(lc_hash(number) >> 32));
	return f;
}

/* A number for a row, equal in every profile: the ID of the site with most of its samples. */
static uint64_t number_of(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	return row->parts_len ? lc_tree_site_id(s->t, row->parts[0].from ? row->parts[0].from
	                                                                 : row->parts[0].site)
	                      : 0;
}

/* ---- objects ---- */

/*
 * Describe a row: "o.h2.v.Value of o.h2.v.Value.get:12 (an estimate)". The caller frees the text.
 */
static char *row_words(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	char *class = lc_object_label(s->t, row, 1, UINT_MAX), *text, *at;
	const uint32_t *frame;

	if (!row->path)
		return class;
	frame = lc_tree_frame(s->t, row->path);
	at = lc_short_code(s->t, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
	text = lc_mem_text("%s of %s%s", class, at, row->estimated ? " (an estimate)" : "");
	free(class);
	free(at);
	return text;
}

/*
 * Say where a row is accessed most: "49% of them at Spectrum.transform:53". The caller frees the
 * text.
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
		code = lc_short_lines(s->t, l->method, l->first, l->last);
		text = lc_mem_text("%.0f%% of them at %s", 100 * lc_share(l->samples, row->samples),
		                   code);
		free(code);
	}
	lc_arena_free(&arena);
	return text;
}

static const char *change_of(const struct lc_finding_search *s, const struct lc_rank_row *row,
                             enum lc_finding_kind kind, const struct lc_touch *touch)
{
	const struct lc_text class = lc_tree_text(s->t, row->class);
	const bool array = class.len > 2 && !memcmp(class.bytes + class.len - 2, "[]", 2);

	if (kind == LC_FINDING_HEADER && array)
		return "keep the length beside the reference, or use one large array instead of "
		       "many: these arrays are fetched only for their lengths";
	if (kind == LC_FINDING_HEADER)
		return "keep the type or key that the code tests in the referring object or array, "
		       "or lay values out flat: these objects are fetched only for their headers";
	if (kind == LC_FINDING_NEVER_READ)
		return "do not allocate or fill it if nothing reads it";
	if (kind == LC_FINDING_STRIDE)
		return "swap the loops, so that the inner one runs along the array, or store the "
		       "array in the order of its traversal (by column)";
	if (kind == LC_FINDING_ONE_PART)
		return "keep the used part in an array of its own, so that it stays in the cache";
	if (10 * touch->made >= 8 * row->samples)
		return "allocate fewer or smaller ones, or reuse one: most samples are at the line "
		       "that allocates them, where they are cleared";
	if (array && touch->walk == LC_WALK_SEQUENTIAL)
		return "use smaller elements, or do more work on each part while it is in the "
		       "cache";
	if (array)
		return "use smaller or fewer elements, or process neighbouring elements together";
	return "use fewer objects, or keep data that is used together in one object or array";
}

void lc_finding_put_gain(FILE *out, double share, double low, double high)
{
	if (lc_finding_gain(share) > GAIN_MOST)
		fprintf(out, " Accesses alone: more than %dx.", GAIN_MOST);
	else if (lc_finding_gain(high) > GAIN_MOST)
		fprintf(out, " Accesses alone: up to %.2fx (%.2f and more).",
		        lc_finding_gain(share), lc_finding_gain(low));
	else
		fprintf(out, " Accesses alone: up to %.2fx (%.2f to %.2f).", lc_finding_gain(share),
		        lc_finding_gain(low), lc_finding_gain(high));
}

static void put_stride(FILE *out, const struct lc_touch *touch)
{
	fprintf(out,
	        " In %.0f%% of them (%" PRIu64 " of %" PRIu64 "), each access is %" PRIu64
	        " bytes from the last, so each takes a cache line of its own.",
	        100 * lc_share(touch->step_samples, touch->at), touch->step_samples, touch->at,
	        touch->step);
}

static void hot_text(struct lc_finding_search *s, struct lc_finding *f,
                     const struct lc_rank_row *row, const struct lc_touch *touch)
{
	char *what = row_words(s, row), *where = access_words(s, row), *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fprintf(out, "%s: %.1f%% of the samples (%.1f to %.1f), %s.", what, 100 * f->share,
	        100 * f->low, 100 * f->high, where);
	if (f->kind == LC_FINDING_HEADER)
		fprintf(out, " %.0f%% of them are at its header.",
		        100 * lc_share(touch->header, touch->known));
	else if (touch->kind == LC_TOUCH_HEADER)
		fputs(
		    " Its header is read first; the code's next reads are in the same cache line.",
		    out);
	else if (f->kind == LC_FINDING_ONE_PART)
		fprintf(out, " %.0f%% of them touch elements %" PRIu64 " to %" PRIu64 ".",
		        100 * lc_share(touch->samples, touch->known), touch->first, touch->last);
	else if (f->kind == LC_FINDING_STRIDE)
		put_stride(out, touch);
	else if (f->kind == LC_FINDING_NEVER_READ)
		fprintf(out, " It was written in %" PRIu64 " samples and read in none.",
		        touch->stores - touch->cleared);
	lc_finding_put_gain(out, f->share, f->low, f->high);
	lc_mem_close_text(out);
	f->text = lc_finding_keep(s, text);
	free(what);
	free(where);
}

/* Does a more specific finding explain most of the row's samples? */
static bool explained(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	uint64_t samples = 0;

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

static void find_hot(struct lc_finding_search *s)
{
	const struct lc_ranking *r = s->of->ranking;

	for (size_t i = 0; i < r->shown; i++) {
		const struct lc_rank_row *row = &r->rows[i];
		const struct lc_touch touch = lc_touch_of(r, row);
		enum lc_finding_kind kind = LC_FINDING_HOT;
		struct lc_finding *f;

		if (row->low < LC_FINDING_SHARE_MIN || explained(s, row) ||
		    !lc_finding_costs_time(s, row, &touch))
			continue;
		if (lc_touch_never_read(&touch))
			kind = LC_FINDING_NEVER_READ;
		else if (lc_finding_header_alone(&touch))
			kind = LC_FINDING_HEADER;
		else if (touch.walk == LC_WALK_STRIDE)
			kind = LC_FINDING_STRIDE;
		else if (touch.kind == LC_TOUCH_ONE_PART)
			kind = LC_FINDING_ONE_PART;
		f = lc_finding_add(s, kind, number_of(s, row));
		f->row = row;
		f->share = lc_share(row->samples, s->v->total);
		f->low = row->low;
		f->high = row->high;
		f->change = change_of(s, row, kind, &touch);
		hot_text(s, f, row, &touch);
	}
}

/* A number for a row that may have no samples, equal in every profile: a hash of class and line. */
static uint64_t number_of_line(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	const uint32_t *frame = lc_tree_frame(s->t, row->path);
	const uint32_t *method = lc_table_key(&s->t->methods, frame[LC_FRAME_METHOD]);
	const uint32_t strings[] = { row->class, method[LC_METHOD_CLASS], method[LC_METHOD_NAME] };
	uint64_t number = frame[LC_FRAME_LINE1];

	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		const struct lc_text text = lc_tree_text(s->t, strings[i]);

		for (uint32_t k = 0; k < text.len; k++)
			number = lc_hash_add(number, (uint8_t)text.bytes[k]);
	}
	return number;
}

static char *short_lived_words(const struct lc_finding_search *s, const struct lc_rank_row *row,
                               const struct lc_gc_model *gc, double share)
{
	char *what = row_words(s, row), *text, bytes[32], each[32], duration[32];

	lc_emit_bytes(bytes, sizeof(bytes), row->bytes);
	lc_emit_bytes(each, sizeof(each), row->bytes / row->allocations);
	lc_emit_duration(duration, sizeof(duration), (uint64_t)lc_gc_model_by_allocation(gc, row));
	text = lc_mem_text(
	    "%s: %s in %" PRIu64 " arrays (%s each), %.0f%% of all bytes allocated; %.1f%% of "
	    "these bytes outlived a collection (there were %" PRIu64
	    "). By bytes allocated, they cost %s of the collector's time (a model). Collector "
	    "alone: up to %.2fx.",
	    what, bytes, row->allocations, each, 100 * (double)row->bytes / gc->allocated,
	    100 * lc_share(row->copies.outlived_bytes, row->bytes), gc->collected, duration,
	    lc_finding_gain(share));
	free(what);
	return text;
}

/* Find lines that allocate many large arrays, nearly all of them dead at the next collection. */
static void find_short_lived(struct lc_finding_search *s)
{
	const struct lc_ranking *r = s->of->ranking;
	struct lc_gc_model gc;

	lc_gc_model_build(&gc, r);
	/* Objects of a collection that could not be followed are forgotten, but may be alive. */
	if (gc.collected < LC_FINDING_COLLECTIONS_MIN ||
	    (double)gc.incomplete > LC_FINDING_INCOMPLETE_MAX * (double)gc.collected)
		return;
	for (size_t i = 0; i < r->len; i++) {
		const struct lc_rank_row *row = &r->rows[i];
		const double share = lc_gc_model_by_allocation(&gc, row) / (double)gc.cpu_ns;
		struct lc_finding *f;

		if (!row->path || !row->allocations || share < LC_FINDING_SHARE_MIN ||
		    row->bytes / row->allocations < LC_FINDING_LARGE_BYTES ||
		    (double)row->bytes < LC_FINDING_ALLOCATED_MIN * gc.allocated ||
		    lc_share(row->copies.outlived_bytes, row->bytes) > LC_FINDING_OUTLIVED_MAX)
			continue;
		f = lc_finding_add(s, LC_FINDING_SHORT_LIVED, number_of_line(s, row));
		f->row = row;
		f->share = f->low = f->high = share;
		f->text = lc_finding_keep(s, short_lived_words(s, row, &gc, share));
		f->change = "reuse one array (in a field, or one per thread) instead of allocating "
		            "a new one each time, or allocate only as much as is used";
	}
}

static char *headers_words(const struct lc_finding_search *s, const struct lc_finding *f,
                           const struct lc_touch_class *classes, size_t len)
{
	char *text;
	const size_t most = len < HEADER_CLASSES ? len : HEADER_CLASSES;
	size_t text_len;
	FILE *out = lc_text_open(&text, &text_len);

	fprintf(out,
	        "%.1f%% of the samples (%.1f to %.1f) are at object headers (class, length or "
	        "lock), which are read first: the time goes into reaching objects, not into "
	        "reading their contents. ",
	        100 * f->share, 100 * f->low, 100 * f->high);
	if (len > most)
		fprintf(out, "The first of %zu classes are ", len);
	else
		fputs("The classes are ", out);
	for (size_t i = 0; i < most; i++) {
		char *name = lc_short_class(lc_tree_text(s->t, classes[i].class));
		const double size = lc_headers_size(s->v, classes[i].class);

		fprintf(out, "%s%s (%.1f%%",
		        !i              ? ""
		        : i + 1 == most ? " and "
		                        : ", ",
		        name, 100 * lc_share(classes[i].samples, s->v->total));
		if (size >= 1)
			fprintf(out, "; %.0f bytes each", size);
		putc(')', out);
		free(name);
	}
	putc('.', out);
	lc_finding_put_gain(out, f->share, f->low, f->high);
	lc_mem_close_text(out);
	return text;
}

/* Find headers of many classes, each of which has few samples. */
static void find_headers(struct lc_finding_search *s)
{
	size_t len;
	struct lc_weighted header;
	struct lc_touch_class *classes = lc_finding_headers_alone(s, &len, &header);
	double low, high;
	struct lc_finding *f;

	lc_rank_interval(header, lc_view_all(s->v), &low, &high);
	if (low >= LC_FINDING_HEADERS_MIN && 2 * classes->samples < header.samples) {
		f = lc_finding_add(s, LC_FINDING_HEADERS, 1);
		f->share = lc_share(header.samples, s->v->total);
		f->low = low;
		f->high = high;
		f->text = lc_finding_keep(s, headers_words(s, f, classes, len));
		f->change = "lay data out flat, so that fewer objects are visited: keep the type, "
		            "key or length that the code tests beside the reference, or keep "
		            "values in arrays of numbers";
	}
	free(classes);
}

/* ---- all ---- */

/* No finding, although there are samples enough. */
static const char *nothing_found(struct lc_finding_search *s)
{
	const uint64_t interpreted = lc_view_interpreted(s->v);

	if (2 * interpreted > s->v->total)
		return lc_finding_keep(
		    s, lc_mem_text("no finding: %.1f%% of the samples are in interpreted code, "
		                   "whose accesses to objects are not seen; run without -Xint, or "
		                   "longer",
		                   100 * lc_share(interpreted, s->v->total)));
	return "no finding: no object certainly accounts for 2% or more of the samples";
}

/* Say why there is no verdict, and how long the program must run for one. */
static const char *too_short(struct lc_finding_search *s)
{
	const double have = lc_wilson_effective(lc_view_all(s->v));
	const struct lc_load *l = s->v->load;
	uint64_t longest = 0;
	char duration[32], worth[64] = "";

	if (s->v->pairs)
		snprintf(worth, sizeof(worth), ", as good as %.0f independent ones", have);
	for (size_t i = 0; i < l->processes_len; i++) {
		const struct lc_load_process *p = &l->processes[i];
		const uint64_t end = lc_load_end_ns(p);

		if (p->start_monotonic_ns && end > p->start_monotonic_ns + longest)
			longest = end - p->start_monotonic_ns;
	}
	if (!longest || have < 1)
		return lc_finding_keep(s, lc_mem_text("too few samples for a verdict (%" PRIu64
		                                      "%s): run the program longer",
		                                      s->v->total, worth));
	lc_emit_duration(duration, sizeof(duration),
	                 (uint64_t)((double)longest * LC_FINDING_SAMPLES_GOOD / have));
	return lc_finding_keep(s, lc_mem_text("too few samples for a verdict (%" PRIu64
	                                      "%s): run the program for about %s",
	                                      s->v->total, worth, duration));
}

static int order(const void *a, const void *b)
{
	const struct lc_finding *x = a, *y = b;

	if (x->low != y->low)
		return x->low > y->low ? -1 : 1;
	return strcmp(x->id, y->id);
}

/* Too many findings: drop the last plain "hot-object", or else the last finding. */
static void drop_one(struct lc_findings *f)
{
	size_t at = f->len;

	while (at && f->list[at - 1].kind != LC_FINDING_HOT)
		at--;
	at = at ? at - 1 : f->len - 1;
	f->len--;
	memmove(f->list + at, f->list + at + 1, (f->len - at) * sizeof(*f->list));
}

void lc_findings_find(struct lc_findings *f, const struct lc_findings_of *of)
{
	const struct lc_view *v = of->ranking->view;
	struct lc_finding_search s = { .found = f, .of = of, .v = v, .t = v->tree };

	*f = (struct lc_findings){ 0 };
	if (lc_wilson_effective(lc_view_all(v)) < LC_FINDING_SAMPLES_MIN) {
		f->none = too_short(&s);
	} else {
		lc_finding_sharing(&s);
		lc_finding_remote(&s);
		find_headers(&s);
		find_hot(&s); /* last: it skips rows that another finding explains */
	}
	find_short_lived(&s); /* counts suffice for this one */
	lc_finding_spans(&s);
	if (f->len)
		qsort(f->list, f->len, sizeof(*f->list), order);
	while (f->len > LC_FINDINGS_MAX)
		drop_one(f);
	if (!f->len && !f->none)
		f->none = nothing_found(&s);
}

void lc_findings_free(struct lc_findings *f)
{
	free(f->list);
	lc_arena_free(&f->arena);
	*f = (struct lc_findings){ 0 };
}
