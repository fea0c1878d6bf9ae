/* SPDX-License-Identifier: Apache-2.0 */
/* commands/bench_choose.c - finds the class, method and line that a benchmark is made of. */
#include "analyzer/commands/bench_choose.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/spans/spans.h"
#include "src/base/order.h"

/* Which of the frames are the user's, as far as it has been asked. */
struct owners {
	const struct lc_bench_of *of;
	const char *class; /* is the user's, too; NULL: none */
	uint8_t *known;    /* of each frame: 0 not asked yet, 1 no, 2 yes */
};

static char *copy(struct lc_text text)
{
	return lc_mem_text("%.*s", (int)text.len, text.bytes);
}

/* Is `text` the class, or one inside it? */
static bool is_within(struct lc_text text, const char *class)
{
	const size_t len = strlen(class);

	return lc_text_begins(text, class) && (text.len == len || text.bytes[len] == '$');
}

int lc_bench_place_parse(struct lc_bench_place *p, const char *at)
{
	const size_t len = strcspn(at, ":#");
	const char *rest = at[len] ? at + len + 1 : "";
	const size_t name = strcspn(rest, "("), rest_len = strlen(rest);
	unsigned long line = 0;
	char *end = NULL;

	if (!len || strpbrk(at, "/ ") || strpbrk(rest, ":#"))
		return lc_usage("--at: '%.200s' is not CLASS:LINE, CLASS#METHOD or CLASS, such as "
		                "org.acme.Index:211 or org.acme.Index#search",
		                at);
	if (at[len] == '#' && rest[name] && rest[rest_len - 1] != ')')
		return lc_usage("--at: '%.200s' has no ')' at its end", at);
	if (at[len] == '#' && !name)
		return lc_usage("--at: '%.200s' has no method after '#'", at);
	if (at[len] == ':') {
		line = *rest >= '0' && *rest <= '9' ? strtoul(rest, &end, 10) : 0;
		if (!line || *end || line > INT32_MAX)
			return lc_usage("--at: '%.64s' is not a line number", rest);
	}
	*p = (struct lc_bench_place){ .class = lc_mem_text("%.*s", (int)len, at),
		                      .method = lc_mem_text("%.*s", line ? 0 : (int)name, rest),
		                      .line = (uint32_t)line,
		                      .finding = lc_mem_text("%s", "") };
	if (rest[name])
		p->parameters = lc_mem_text("%.*s", (int)(rest_len - name - 2), rest + name + 1);
	return 0;
}

void lc_bench_place_free(struct lc_bench_place *p)
{
	free(p->class);
	free(p->method);
	free(p->parameters);
	free(p->lines);
	free(p->finding);
	*p = (struct lc_bench_place){ 0 };
}

static void owners_init(struct owners *o, const struct lc_bench_of *of, const char *class)
{
	*o = (struct owners){ of, class, lc_mem_zeroed((size_t)of->tree->frames.count + 1, 1) };
}

/* Does the frame's method have source? For a method without lines, line 1 of its file decides. */
static bool has_source(const struct owners *o, const uint32_t *frame)
{
	const struct lc_tree *t = o->of->tree;
	const uint32_t *method = lc_table_key(&t->methods, frame[LC_FRAME_METHOD]);
	const struct lc_text class = lc_tree_text(t, method[LC_METHOD_CLASS]);
	const uint32_t line1 = frame[LC_FRAME_LINE1];

	if (o->class && is_within(class, o->class))
		return true;
	return lc_source_line(o->of->source, class, lc_tree_text(t, method[LC_METHOD_FILE]),
	                      line1 > 1 ? line1 - 1 : 1)
	           .bytes != NULL;
}

/* The innermost frame of a path that is the user's; NULL: none. */
static const uint32_t *owner(struct owners *o, uint32_t path)
{
	const struct lc_tree *t = o->of->tree;

	for (; path; path = lc_tree_parent(t, path)) {
		const uint32_t *frame = lc_tree_frame(t, path);
		uint8_t *known = &o->known[lc_table_key(&t->paths, path)[LC_PATH_FRAME]];

		if (!*known)
			*known = has_source(o, frame) ? 2 : 1;
		if (*known == 2)
			return frame;
	}
	return NULL;
}

static int order_lines(const void *a, const void *b)
{
	const struct lc_bench_line *x = a, *y = b;

	return lc_order_u64(x->line, y->line);
}

/* Sort the lines, and make one of those that are the same. */
static size_t fold(struct lc_bench_line *lines, size_t len)
{
	size_t out = 0;

	if (len)
		qsort(lines, len, sizeof(*lines), order_lines);
	for (size_t i = 0; i < len; i++) {
		if (out && lines[out - 1].line == lines[i].line)
			lines[out - 1].samples += lines[i].samples;
		else
			lines[out++] = lines[i];
	}
	return out;
}

/* Is this the class and name of the frame's method? Overloads all match. */
static bool is_method(const struct lc_tree *t, const uint32_t *frame, const char *class,
                      const char *name)
{
	const uint32_t *method = lc_table_key(&t->methods, frame[LC_FRAME_METHOD]);

	return lc_text_is(lc_tree_text(t, method[LC_METHOD_CLASS]), class) &&
	       lc_text_is(lc_tree_text(t, method[LC_METHOD_NAME]), name);
}

/* State of lc_bench_place filling. `only`: number of the method; UINT32_MAX: all overloads. */
struct filling {
	struct lc_bench_place *place;
	struct owners *owners;
	uint32_t only;
	size_t cap;
};

static bool is_of_place(const struct filling *f, const uint32_t *frame)
{
	if (f->only != UINT32_MAX)
		return frame[LC_FRAME_METHOD] == f->only;
	return is_method(f->owners->of->tree, frame, f->place->class, f->place->method);
}

static void add_line(struct filling *f, const uint32_t *frame, uint64_t samples)
{
	struct lc_bench_place *p = f->place;

	if (frame[LC_FRAME_LINE1] < 2)
		return;
	p->lines = lc_mem_grow(p->lines, &f->cap, p->lines_len + 1, sizeof(*p->lines));
	p->lines[p->lines_len++] = (struct lc_bench_line){ frame[LC_FRAME_LINE1] - 1, samples };
}

/* The samples of the place's method. */
static void fill(struct lc_bench_place *p, struct owners *o, uint32_t only)
{
	const struct lc_tree *t = o->of->tree;
	struct filling f = { .place = p, .owners = o, .only = only };

	for (uint32_t i = 0; i < t->accesses.count; i++) {
		const uint32_t *key = lc_table_key(&t->accesses, i), *frame;
		const uint64_t samples = lc_table_values(&t->accesses, i)[LC_ACCESS_SAMPLES];

		if (key[LC_ACCESS_ENGINE] != o->of->engine || !samples)
			continue;
		frame = owner(o, key[LC_ACCESS_PATH]);
		if (frame && is_of_place(&f, frame)) {
			p->method_samples += samples;
			add_line(&f, frame, samples);
		}
	}
	p->lines_len = fold(p->lines, p->lines_len);
}

/* ---- a place that the user names ---- */

/* The method with most samples at the place's line; UINT32_MAX: none. */
static uint32_t method_at(const struct lc_bench_place *p, struct owners *o, bool within)
{
	const struct lc_tree *t = o->of->tree;
	uint64_t *at = lc_mem_zeroed((size_t)t->methods.count + 1, sizeof(*at));
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < t->accesses.count; i++) {
		const uint32_t *key = lc_table_key(&t->accesses, i), *frame;
		struct lc_text class;

		if (key[LC_ACCESS_ENGINE] != o->of->engine)
			continue;
		frame = owner(o, key[LC_ACCESS_PATH]);
		if (!frame || frame[LC_FRAME_LINE1] != p->line + 1)
			continue;
		class = lc_tree_text(
		    t, lc_table_key(&t->methods, frame[LC_FRAME_METHOD])[LC_METHOD_CLASS]);
		if (within ? is_within(class, p->class) : lc_text_is(class, p->class))
			at[frame[LC_FRAME_METHOD]] +=
			    lc_table_values(&t->accesses, i)[LC_ACCESS_SAMPLES];
	}
	for (uint32_t m = 0; m < t->methods.count; m++)
		if (at[m] && (best == UINT32_MAX || at[m] > at[best] ||
		              (at[m] == at[best] && lc_tree_order_methods(t, m, best) < 0)))
			best = m;
	free(at);
	return best;
}

static void name_method(struct lc_bench_place *p, const struct lc_tree *t, uint32_t number)
{
	const uint32_t *method = lc_table_key(&t->methods, number);

	free(p->class);
	free(p->method);
	p->class = copy(lc_tree_text(t, method[LC_METHOD_CLASS]));
	p->method = copy(lc_tree_text(t, method[LC_METHOD_NAME]));
}

void lc_bench_place_look(struct lc_bench_place *p, const struct lc_bench_of *of)
{
	char *class = lc_mem_text("%s", p->class);
	uint32_t method = UINT32_MAX;
	struct owners o;

	owners_init(&o, of, class);
	if (p->line) {
		method = method_at(p, &o, false);
		if (method == UINT32_MAX)
			method = method_at(p, &o, true);
		if (method != UINT32_MAX)
			name_method(p, of->tree, method);
	}
	if (p->line ? method != UINT32_MAX : *p->method)
		fill(p, &o, method);
	free(o.known);
	free(class);
}

/* ---- the place of a finding ---- */

/* A frame that owns samples. Frames of one line may differ in their bytecode index. */
struct piece {
	const uint32_t *frame;
	uint64_t samples;
};

static int order_pieces(const void *a, const void *b, void *tree)
{
	const uint32_t *x = ((const struct piece *)a)->frame, *y = ((const struct piece *)b)->frame;
	int order = 0;

	if (x[LC_FRAME_METHOD] != y[LC_FRAME_METHOD])
		order = lc_tree_order_methods(tree, x[LC_FRAME_METHOD], y[LC_FRAME_METHOD]);
	return order ? order : lc_order_u64(x[LC_FRAME_LINE1], y[LC_FRAME_LINE1]);
}

/* A finding's samples by frame. */
struct pieces {
	struct piece *list;
	size_t len, cap;
};

static void add_piece(struct pieces *p, struct owners *o, uint32_t path, uint64_t samples)
{
	const uint32_t *frame = owner(o, path);

	if (!frame || frame[LC_FRAME_LINE1] < 2)
		return;
	p->list = lc_mem_grow(p->list, &p->cap, p->len + 1, sizeof(*p->list));
	p->list[p->len++] = (struct piece){ frame, samples };
}

/* The frame at whose line most of the samples are; NULL: there is none with a line. Frees them. */
static const uint32_t *hottest(struct pieces *p, const struct owners *o)
{
	void *tree = (void *)(uintptr_t)o->of->tree;
	const uint32_t *best = NULL;
	uint64_t sum = 0, most = 0;

	if (p->len)
		qsort_r(p->list, p->len, sizeof(*p->list), order_pieces, tree);
	for (size_t i = 0; i < p->len; i++) {
		if (i && order_pieces(&p->list[i - 1], &p->list[i], tree))
			sum = 0;
		sum += p->list[i].samples;
		if (sum > most) {
			most = sum;
			best = p->list[i].frame;
		}
	}
	free(p->list);
	return best;
}

/*
 * Find the frame of a finding. Streams have a place of their own, whichever library method the
 * samples are in. For objects and tasks it is the line with most samples. If the frame is not one
 * of the tree's, `place` holds it.
 */
static const uint32_t *frame_of(const struct lc_finding *f, struct owners *o,
                                uint32_t place[LC_FRAME_KEY])
{
	const struct lc_spans_location *streams = f->spans ? f->spans->location : NULL;
	struct pieces p = { 0 };

	if (streams) {
		memset(place, 0, LC_FRAME_KEY * sizeof(*place));
		place[LC_FRAME_METHOD] = streams->place->method;
		place[LC_FRAME_LINE1] = (uint32_t)(streams->place->line + 1);
		return place[LC_FRAME_LINE1] > 1 && has_source(o, place) ? place : NULL;
	}
	for (size_t i = 0; f->row && i < f->row->accesses_len; i++)
		add_piece(&p, o, f->row->accesses[i].path, f->row->accesses[i].samples);
	for (size_t i = 0; f->spans && i < f->spans->type->waits.rows_len; i++)
		add_piece(&p, o, f->spans->type->waits.rows[i].path,
		          f->spans->type->waits.rows[i].samples);
	return hottest(&p, o);
}

const struct lc_finding *lc_bench_place_find(struct lc_bench_place *p, const struct lc_bench_of *of,
                                             const struct lc_findings *findings)
{
	uint32_t place[LC_FRAME_KEY];
	const struct lc_finding *found = NULL;
	const uint32_t *frame = NULL;
	struct owners o;

	owners_init(&o, of, NULL);
	for (size_t i = 0; i < findings->len && !frame; i++) {
		frame = frame_of(&findings->list[i], &o, place);
		if (!frame)
			continue;
		found = &findings->list[i];
		*p = (struct lc_bench_place){ .line = frame[LC_FRAME_LINE1] - 1,
			                      .finding = lc_mem_text("%s", found->text) };
		name_method(p, of->tree, frame[LC_FRAME_METHOD]);
		fill(p, &o, frame[LC_FRAME_METHOD]);
	}
	free(o.known);
	return found;
}
