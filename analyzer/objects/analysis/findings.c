/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings.c - finds what costs the program time and writes each finding's text.
 */
#include "analyzer/objects/analysis/findings.h"

#include <ctype.h>
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
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/reaches.h"
#include "analyzer/objects/analysis/row_set.h"
#include "analyzer/objects/analysis/touch.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/json.h"
#include "analyzer/out/screen.h"
#include "src/base/hash.h"
#include "src/base/order.h"

#define MORE 1.05 /* a smaller difference is not worth a second number */

enum { GAIN_MOST = 10, HEADER_CLASSES = 3, LINE_PERCENT = 10 };

static const char *const names[LC_FINDING_KINDS] = {
	[LC_FINDING_HOT] = "hot-object",
	[LC_FINDING_HEADER] = "header-only",
	[LC_FINDING_HEADERS] = "headers-of-many",
	[LC_FINDING_ONE_PART] = "one-part",
	[LC_FINDING_STRIDE] = "stride",
	[LC_FINDING_NEVER_READ] = "never-read",
	[LC_FINDING_SHORT_LIVED] = "short-lived",
	[LC_FINDING_OVERSIZED] = "oversized",
	[LC_FINDING_REPLICAS] = "replicas",
	[LC_FINDING_SHORT_BLOCKS] = "short-lived-blocks",
	[LC_FINDING_COPIED_BUFFERS] = "copied-buffers",
	[LC_FINDING_READ_IN] = "read-in",
	[LC_FINDING_STACK_TRACES] = "stack-traces",
	[LC_FINDING_THREAD_LOCALS] = "thread-locals",
	[LC_FINDING_REPEATED_CALLS] = "repeated-calls",
	[LC_FINDING_FALSE_SHARING] = "false-sharing",
	[LC_FINDING_REMOTE] = "remote-memory",
	[LC_FINDING_FINE_TASKS] = "fine-tasks",
	[LC_FINDING_COARSE_TASKS] = "coarse-tasks",
	[LC_FINDING_UNEVEN_WORKERS] = "uneven-workers",
	[LC_FINDING_TINY_STREAMS] = "tiny-streams",
	[LC_FINDING_SAME_STREAMS] = "same-streams",
	[LC_FINDING_GROWS] = "grows",
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

static void save(struct lc_finding *f, double scale)
{
	const struct lc_saving_part part = { scale * f->share, scale * f->low, scale * f->high };

	f->saves = (struct lc_saving){ .accesses = part, .all = part };
}

void lc_finding_saves_time(struct lc_finding *f)
{
	save(f, 1);
}

void lc_finding_saves_samples(const struct lc_finding_search *s, struct lc_finding *f)
{
	save(f, lc_savings_threads(s->savings));
}

/* Is the gain of `all` worth a number beside that of `part`? */
static bool is_more(const struct lc_saving_part *all, const struct lc_saving_part *part)
{
	return fmin(lc_finding_gain(all->share), GAIN_MOST) >=
	       MORE * fmin(lc_finding_gain(part->share), GAIN_MOST);
}

static void json_gain(struct lc_json *j, const char *name, const struct lc_saving_part *part)
{
	lc_json_object(j, name);
	lc_json_real(j, "at_most", lc_finding_gain(part->share));
	lc_json_real(j, "low", lc_finding_gain(part->low));
	lc_json_real(j, "high", lc_finding_gain(part->high));
	lc_json_end_object(j);
}

void lc_finding_json(struct lc_json *j, const struct lc_finding *f)
{
	lc_json_string(j, "id", f->id);
	lc_json_string(j, "kind", lc_finding_name(f->kind));
	lc_json_real(j, "share", f->share);
	lc_json_real(j, "low", f->low);
	lc_json_real(j, "high", f->high);
	lc_json_real(j, "gain_at_most", lc_finding_gain(f->saves.accesses.share));
	lc_json_object(j, "gains");
	json_gain(j, "accesses", &f->saves.accesses);
	json_gain(j, "with_object", &f->saves.all);
	lc_json_end_object(j);
	if (!f->calls)
		return;
	lc_json_object(j, "calls");
	lc_json_string(j, "of", f->calls);
	lc_json_bool(j, "less_often", f->about.less_often);
	lc_json_real(j, "share", f->saves.calls.share);
	lc_json_real(j, "low", f->saves.calls.low);
	lc_json_real(j, "high", f->saves.calls.high);
	lc_json_end_object(j);
}

/* "up to 1.12x (1.05 to 1.21)." */
static void put_up_to(FILE *out, const struct lc_saving_part *part)
{
	if (lc_finding_gain(part->share) > GAIN_MOST)
		fprintf(out, "more than %dx.", GAIN_MOST);
	else if (part->low == part->high)
		fprintf(out, "up to %.2fx.", lc_finding_gain(part->share));
	else if (lc_finding_gain(part->high) > GAIN_MOST)
		fprintf(out, "up to %.2fx (%.2f and more).", lc_finding_gain(part->share),
		        lc_finding_gain(part->low));
	else
		fprintf(out, "up to %.2fx (%.2f to %.2f).", lc_finding_gain(part->share),
		        lc_finding_gain(part->low), lc_finding_gain(part->high));
}

static const char *gain_of(enum lc_finding_kind kind)
{
	switch (kind) {
	case LC_FINDING_SHORT_LIVED:
		return " Collector alone: ";
	case LC_FINDING_OVERSIZED:
		return " Without the rest: ";
	case LC_FINDING_COPIED_BUFFERS:
		return " Copies alone: ";
	case LC_FINDING_REPLICAS:
	case LC_FINDING_SHORT_BLOCKS:
	case LC_FINDING_STACK_TRACES:
	case LC_FINDING_THREAD_LOCALS:
	case LC_FINDING_REPEATED_CALLS:
		return " Without these: ";
	default:
		return " Accesses alone: ";
	}
}

/* Does the text have one number, that of all which goes with the calls? */
static bool of_calls(enum lc_finding_kind kind)
{
	return kind == LC_FINDING_STACK_TRACES || kind == LC_FINDING_THREAD_LOCALS ||
	       kind == LC_FINDING_REPEATED_CALLS;
}

/*
 * Own code cannot change a library. It can call it less often: that saves at most what the calls
 * take, and nobody knows which part of it.
 */
static void put_calls(FILE *out, const struct lc_finding *f)
{
	const struct lc_saving_part *calls = &f->saves.calls;

	if (f->calls && (f->about.less_often || is_more(calls, &f->saves.all)))
		fprintf(out,
		        " Calls of %s take %.1f%% of the CPU time without the JIT (%.1f to %.1f).",
		        f->calls, 100 * calls->share, 100 * calls->low, 100 * calls->high);
}

void lc_finding_put_gain(FILE *out, const struct lc_finding *f)
{
	if (of_calls(f->kind) && f->about.less_often && f->calls)
		return put_calls(out, f);
	fputs(gain_of(f->kind), out);
	if (of_calls(f->kind)) {
		put_up_to(out, &f->saves.all);
	} else if (f->about.less_often || !is_more(&f->saves.all, &f->saves.accesses)) {
		put_up_to(out, &f->saves.accesses);
	} else {
		fprintf(out, "%.2fx. With ", lc_finding_gain(f->saves.accesses.share));
		if (f->kind == LC_FINDING_FALSE_SHARING)
			fputs("all accesses to these objects in such lines: ", out);
		else
			fprintf(out, "what makes, clears, fills, copies and collects %s: ",
			        f->rows_len > 1 ? "them" : "it");
		put_up_to(out, &f->saves.all);
	}
	put_calls(out, f);
}

void lc_finding_put_sentence(FILE *out, char *text)
{
	if (*text)
		fprintf(out, " %c%s.", toupper((unsigned char)*text), text + 1);
	free(text);
}

void lc_finding_put_whys(FILE *out, const struct lc_tree *t, const struct lc_reaches *reaches,
                         uint64_t whole)
{
	char *text;
	size_t len;
	FILE *sentence = lc_text_open(&text, &len);

	lc_reaches_text_why(sentence, t, reaches, whole);
	lc_mem_close_text(sentence);
	lc_finding_put_sentence(out, text);
}

uint64_t lc_finding_number_of_line(const struct lc_finding_search *s, const struct lc_rank_row *row)
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
                               const struct lc_gc_model *gc, const struct lc_finding *f)
{
	char *what = lc_finding_row_words(s, row), *text, bytes[32], each[32], duration[32];
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	lc_emit_bytes(bytes, sizeof(bytes), row->bytes);
	lc_emit_bytes(each, sizeof(each), row->bytes / row->allocations);
	lc_emit_duration(duration, sizeof(duration), (uint64_t)lc_gc_model_by_allocation(gc, row));
	fprintf(out,
	        "%s: %s in %" PRIu64 " arrays (%s each), %.0f%% of all bytes allocated; %.1f%% of "
	        "these bytes outlived a collection (there were %" PRIu64
	        "). By bytes allocated, they cost %s of the collector's time (a model).",
	        what, bytes, row->allocations, each, 100 * (double)row->bytes / gc->allocated,
	        100 * lc_share(row->copies.outlived_bytes, row->bytes), gc->collected, duration);
	lc_finding_put_gain(out, f);
	lc_mem_close_text(out);
	free(what);
	return text;
}

/* Does the finding of this kind exist for the row? */
static bool is_found(const struct lc_finding_search *s, enum lc_finding_kind kind,
                     const struct lc_rank_row *row)
{
	for (size_t i = 0; i < s->found->len; i++) {
		const struct lc_finding *f = &s->found->list[i];

		if (f->kind == kind && (f->row == row || lc_row_set_has(f->rows, f->rows_len, row)))
			return true;
	}
	return false;
}

static bool in_a_finding(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	for (size_t i = 0; i < s->found->len; i++)
		if (lc_row_set_has(s->found->list[i].rows, s->found->list[i].rows_len, row))
			return true;
	return false;
}

/* If another finding says what the array costs, this one is about the collector alone. */
static void find_saving(struct lc_finding_search *s, struct lc_finding *f)
{
	lc_finding_saves_time(f);
	if (!in_a_finding(s, f->row) &&
	    lc_wilson_effective(lc_view_all(s->v)) >= LC_FINDING_SAMPLES_MIN)
		f->saves.all = lc_saving_of(s->savings, &f->row, 1, NULL).all;
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
		    lc_finding_made_below(s, row) ||
		    row->bytes / row->allocations < LC_FINDING_LARGE_BYTES ||
		    (double)row->bytes < LC_FINDING_ALLOCATED_MIN * gc.allocated ||
		    lc_share(row->copies.outlived_bytes, row->bytes) > LC_FINDING_OUTLIVED_MAX ||
		    is_found(s, LC_FINDING_OVERSIZED, row) || /* which say more */
		    is_found(s, LC_FINDING_THREAD_LOCALS, row))
			continue;
		f = lc_finding_add(s, LC_FINDING_SHORT_LIVED, lc_finding_number_of_line(s, row));
		f->row = row;
		f->share = f->low = f->high = share;
		find_saving(s, f);
		f->text = lc_finding_keep(s, short_lived_words(s, row, &gc, f));
		f->change = "reuse one array (in a field, or one per thread) instead of allocating "
		            "a new one each time, or allocate only as much as is used";
	}
}

/* The line that reads most headers of all objects, and why headers are read. */
static void put_header_line(FILE *out, const struct lc_finding_search *s)
{
	struct lc_reaches all = lc_reaches_of_all(s->v);
	struct lc_arena arena = { 0 };
	struct lc_rank_access *reads = lc_mem_zeroed(s->v->reaches_len, sizeof(*reads));
	const struct lc_rank_lines *lines;
	size_t len = 0;

	for (size_t i = 0; i < s->v->reaches_len; i++)
		if (s->v->reaches[i].why != LC_WHY_NO_HEADER)
			reads[len++] = (struct lc_rank_access){ s->v->reaches[i].path,
				                                s->v->reaches[i].samples };
	lines = lc_rank_roll_up(&arena, s->t, reads, len, &len);
	if (len && lines->method != UINT32_MAX &&
	    100 * lines->samples >= LINE_PERCENT * all.headers) {
		char *code = lc_short_lines(s->t, lines->method, lines->first, lines->last);

		fprintf(out, " Most at one line: %.0f%% at %s.",
		        100 * lc_share(lines->samples, all.headers), code);
		free(code);
	}
	lc_finding_put_whys(out, s->t, &all, all.headers);
	free(reads);
	lc_arena_free(&arena);
	lc_reaches_free(&all);
}

/* Does own code read half of the headers, or the JDK for it? A library's data stay as they are. */
static bool own_headers(const struct lc_view *v)
{
	uint64_t own = 0, all = 0;

	for (size_t i = 0; i < v->reaches_len; i++) {
		const struct lc_view_reach *r = &v->reaches[i];
		const uint32_t path = lc_own_library(v->tree, r->path);

		if (r->why == LC_WHY_NO_HEADER)
			continue;
		all += r->samples;
		if (path && lc_own_is_method(v->tree, lc_tree_method_number(v->tree, path)))
			own += r->samples;
	}
	return 2 * own >= all;
}

static char *headers_words(const struct lc_finding_search *s, const struct lc_finding *f,
                           const struct lc_touch_class *classes, size_t len)
{
	char *text;
	size_t text_len;
	FILE *out = lc_text_open(&text, &text_len);

	fprintf(out,
	        "%.1f%% of the samples (%.1f to %.1f) are at object headers (class, length or "
	        "lock), which are read first: the time goes into reaching objects, not into "
	        "reading their contents. ",
	        100 * f->share, 100 * f->low, 100 * f->high);
	fprintf(out, "The first of %zu classes are ", len);
	for (size_t i = 0; i < HEADER_CLASSES; i++) {
		char *name = lc_short_class(lc_tree_text(s->t, classes[i].class));
		const double size = lc_headers_size(s->v, classes[i].class);

		fprintf(out, "%s%s (%.1f%%",
		        !i                        ? ""
		        : i + 1 == HEADER_CLASSES ? " and "
		                                  : ", ",
		        name, 100 * lc_share(classes[i].samples, s->v->total));
		if (size >= 1)
			fprintf(out, "; %.0f bytes each", size);
		putc(')', out);
		free(name);
	}
	putc('.', out);
	put_header_line(out, s);
	if (!f->change)
		fputs(" Most of them are in libraries and the JDK, which own code calls.", out);
	lc_finding_put_gain(out, f);
	lc_mem_close_text(out);
	return text;
}

/* The share of rows whose objects are fetched for their headers alone. */
static double header_rows(const struct lc_finding_search *s)
{
	double share = 0;

	for (size_t i = 0; i < s->found->len; i++)
		if (s->found->list[i].kind == LC_FINDING_HEADER)
			share += s->found->list[i].share;
	return share;
}

/*
 * Find headers of many classes, each of which has few samples: no class has a third, and no
 * findings of rows have.
 */
static void find_headers(struct lc_finding_search *s)
{
	size_t len;
	struct lc_weighted header;
	struct lc_touch_class *classes = lc_finding_headers_alone(s, &len, &header);
	double low, high;
	struct lc_finding *f;

	lc_rank_interval(header, lc_view_all(s->v), &low, &high);
	if (low >= LC_FINDING_HEADERS_MIN && 3 * classes->samples < header.samples &&
	    3 * header_rows(s) < lc_share(header.samples, s->v->total)) {
		f = lc_finding_add(s, LC_FINDING_HEADERS, 1);
		f->share = lc_share(header.samples, s->v->total);
		f->low = low;
		f->high = high;
		lc_finding_saves_samples(s, f);
		if (own_headers(s->v))
			f->change =
			    "lay data out flat, so that fewer objects are visited: keep the type, "
			    "key or length that the code tests beside the reference, or keep "
			    "values in arrays of numbers";
		f->text = lc_finding_keep(s, headers_words(s, f, classes, len));
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

uint64_t lc_finding_recorded_ns(const struct lc_finding_search *s)
{
	const struct lc_load *l = s->v->load;
	uint64_t longest = 0;

	for (size_t i = 0; i < l->processes_len; i++) {
		const struct lc_load_process *p = &l->processes[i];
		const uint64_t end = lc_load_end_ns(p);

		if (p->start_monotonic_ns && end > p->start_monotonic_ns + longest)
			longest = end - p->start_monotonic_ns;
	}
	return longest;
}

/* Say why there is no verdict, and how long the program must run for one. */
static const char *too_short(struct lc_finding_search *s)
{
	const double have = lc_wilson_effective(lc_view_all(s->v));
	const uint64_t longest = lc_finding_recorded_ns(s);
	char duration[32], worth[64] = "";

	if (s->v->pairs)
		snprintf(worth, sizeof(worth), ", as good as %.0f independent ones", have);
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

/*
 * A finding's place among the others is what a change certainly saves. The headers of many classes
 * are of other findings' objects, too, and one change helps few of them.
 */
static double weight(const struct lc_finding *f)
{
	if (f->kind != LC_FINDING_HEADERS)
		return f->saves.all.low;
	return f->change ? f->saves.all.low / 2 : 0;
}

static int order(const void *a, const void *b)
{
	const struct lc_finding *x = a, *y = b;

	/* A leak ends the program sooner or later, whatever time others cost. */
	if ((x->kind == LC_FINDING_GROWS) != (y->kind == LC_FINDING_GROWS))
		return x->kind == LC_FINDING_GROWS ? -1 : 1;
	if (x->growth != y->growth)
		return x->growth > y->growth ? -1 : 1;
	if (weight(x) != weight(y))
		return weight(x) > weight(y) ? -1 : 1;
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
	struct lc_savings *savings = lc_savings_new(of->ranking);

	*f = (struct lc_findings){ 0 };
	s.savings = savings;
	if (lc_wilson_effective(lc_view_all(v)) < LC_FINDING_SAMPLES_MIN) {
		lc_finding_contents(&s); /* counts suffice */
		f->none = too_short(&s);
	} else {
		lc_finding_sharing(&s);
		lc_finding_remote(&s);
		lc_finding_blocks(&s);
		lc_finding_calls(&s);
		lc_finding_contents(&s);
		lc_finding_rows(&s);
		find_headers(&s);
	}
	find_short_lived(&s); /* counts suffice for these two */
	lc_finding_grows(&s);
	lc_finding_spans(&s);
	lc_savings_free(savings);
	free(s.called);
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
