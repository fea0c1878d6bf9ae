/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/reaches.c - sums up rows of REACHES by name and by reason. */
#include "analyzer/objects/analysis/reaches.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/touch.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum {
	NAMES = 3,            /* references that a line shows */
	WHYS = 3,             /* reasons */
	LEAST_PERCENT = 1,    /* what has less is not shown */
	NAME_COLUMNS_MIN = 8, /* of a name with a gap: less says nothing */
};

static int order_names(const void *a, const void *b)
{
	const struct lc_view_reach *x = a, *y = b;
	int order = lc_order_u64(x->name, y->name);

	if (!order)
		order = lc_order_u64(x->kind, y->kind);
	return order ? order : lc_order_u64(x->path, y->path);
}

static int order_whys(const void *a, const void *b)
{
	const struct lc_view_reach *x = a, *y = b;
	int order = lc_order_u64(x->why, y->why);

	return order ? order : lc_order_u64(x->path, y->path);
}

static int order_most(const void *a, const void *b, void *context)
{
	const struct lc_reaches_one *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : lc_tree_order_text(context, x->name, y->name);
}

/* The rows of the view that are about the row. The caller frees the array. */
static struct lc_view_reach *collect(const struct lc_ranking *r, const struct lc_rank_row *row,
                                     size_t *len)
{
	struct lc_view_reach *all = NULL;
	size_t cap = 0, places_len;
	const struct lc_rank_part **places = lc_touch_places(row, &places_len);

	*len = 0;
	for (size_t i = 0; i < places_len; i++) {
		size_t n;
		const struct lc_view_reach *some =
		    lc_view_reaches(r->view, places[i]->bucket, places[i]->site, &n);

		if (!n)
			continue;
		all = lc_mem_grow(all, &cap, *len + n, sizeof(*all));
		memcpy(all + *len, some, n * sizeof(*all));
		*len += n;
	}
	free(places);
	return all;
}

/* Add samples on a path; `before`: those of the same path so far. */
static void count_path(uint64_t *before, const struct lc_view_reach *a, bool same_path,
                       uint32_t *path, uint64_t *most)
{
	*before = (same_path ? *before : 0) + a->samples;
	if (*before > *most) {
		*most = *before;
		*path = a->path;
	}
}

static void sum_names(struct lc_reaches *out, struct lc_view_reach *all, size_t len,
                      const struct lc_tree *t)
{
	uint64_t path = 0;

	qsort(all, len, sizeof(*all), order_names);
	out->list = lc_mem_zeroed(len, sizeof(*out->list));
	for (size_t i = 0; i < len; i++) {
		const bool same =
		    i && all[i - 1].name == all[i].name && all[i - 1].kind == all[i].kind;
		struct lc_reaches_one *one;

		out->samples += all[i].samples;
		if (all[i].kind == LC_REFERENCE_UNKNOWN)
			continue;
		out->known += all[i].samples;
		if (!same)
			out->list[out->len++] =
			    (struct lc_reaches_one){ .name = all[i].name, .kind = all[i].kind };
		one = &out->list[out->len - 1];
		one->samples += all[i].samples;
		count_path(&path, &all[i], same && all[i - 1].path == all[i].path, &one->path,
		           &one->path_samples);
	}
	qsort_r(out->list, out->len, sizeof(*out->list), order_most, (void *)(uintptr_t)t);
}

static void sum_whys(struct lc_reaches *out, struct lc_view_reach *all, size_t len)
{
	uint64_t path = 0;

	qsort(all, len, sizeof(*all), order_whys);
	for (size_t i = 0; i < len; i++) {
		struct lc_reaches_why *why = &out->why[all[i].why];

		why->samples += all[i].samples;
		if (all[i].why != LC_WHY_NO_HEADER)
			out->headers += all[i].samples;
		count_path(&path, &all[i], i && !order_whys(&all[i - 1], &all[i]), &why->path,
		           &why->path_samples);
	}
}

/* Frees `all`. */
static struct lc_reaches sum(struct lc_view_reach *all, size_t len, const struct lc_tree *t)
{
	struct lc_reaches out = { 0 };

	if (len) {
		sum_names(&out, all, len, t);
		sum_whys(&out, all, len);
	}
	free(all);
	return out;
}

struct lc_reaches lc_reaches_of(const struct lc_ranking *r, const struct lc_rank_row *row)
{
	size_t len;
	struct lc_view_reach *all = collect(r, row, &len);

	return sum(all, len, r->view->tree);
}

struct lc_reaches lc_reaches_of_all(const struct lc_view *v)
{
	struct lc_view_reach *all = lc_mem_zeroed(v->reaches_len, sizeof(*all));

	if (v->reaches_len)
		memcpy(all, v->reaches, v->reaches_len * sizeof(*all));
	return sum(all, v->reaches_len, v->tree);
}

void lc_reaches_free(struct lc_reaches *reaches)
{
	free(reaches->list);
	*reaches = (struct lc_reaches){ 0 };
}

/* ---- texts ---- */

static bool is_shown(uint64_t samples, uint64_t whole)
{
	return samples * 100 >= whole * LEAST_PERCENT && samples;
}

/* The name, each of its words without a package: "Page.keys[] or RootReference.root". */
static void put_name(FILE *out, struct lc_text name)
{
	size_t word = 0;
	bool class_alone = false; /* as in "new java.lang.Object[]" */

	for (size_t i = 0; i < name.len; i = word + 1) {
		const size_t kept = class_alone ? 0 : 1;
		size_t class = i, dots = 0;

		for (word = i; word < name.len && name.bytes[word] != ' '; word++)
			dots += name.bytes[word] == '.';
		/* The last dot is in front of the member. */
		for (size_t at = i; at < word && dots > kept; at++)
			if (name.bytes[at] == '.') {
				dots--;
				class = at + 1;
			}
		lc_emit_text(out, (struct lc_text){ name.bytes + class, (uint32_t)(word - class) });
		class_alone = lc_text_ends((struct lc_text){ name.bytes, (uint32_t)word }, "new");
		if (word < name.len)
			putc(' ', out);
	}
}

char *lc_reaches_name(struct lc_text name, unsigned columns)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	put_name(out, name);
	lc_mem_close_text(out);
	if (columns)
		lc_cut_middle(text, columns);
	return text;
}

/*
 * With at most so many names; 0: one, and nothing of the others. `columns`: of the first name; 0:
 * all. The caller frees the text.
 */
static char *make_text(const struct lc_tree *t, const struct lc_reaches *reaches, size_t names,
                       unsigned columns)
{
	const uint64_t unknown = reaches->samples - reaches->known;
	char *text;
	size_t len, i = 0;
	FILE *out = lc_text_open(&text, &len);

	fputs("reached through ", out);
	for (; i < reaches->len && (i < names || !i); i++) {
		char *name;

		if (i && !is_shown(reaches->list[i].samples, reaches->samples))
			break;
		name = lc_reaches_name(lc_tree_text(t, reaches->list[i].name), i ? 0 : columns);
		fprintf(out, "%s%s %.0f%%", i ? ", " : "", name,
		        100 * lc_share(reaches->list[i].samples, reaches->samples));
		free(name);
	}
	if (names && reaches->len > i)
		fprintf(out, ", %zu more", reaches->len - i);
	if (names && is_shown(unknown, reaches->samples))
		fprintf(out, ", not known %.0f%%", 100 * lc_share(unknown, reaches->samples));
	lc_mem_close_text(out);
	return text;
}

void lc_reaches_text(FILE *out, const struct lc_tree *t, const struct lc_reaches *reaches,
                     unsigned columns)
{
	size_t names = NAMES;
	char *text, *name;
	unsigned over;

	if (!is_shown(reaches->known, reaches->samples))
		return;
	text = make_text(t, reaches, names, 0);
	while (columns && names && lc_columns(text) > columns) {
		free(text);
		text = make_text(t, reaches, --names, 0);
	}
	if (columns && lc_columns(text) > columns) {
		over = lc_columns(text) - columns;
		free(text);
		name = lc_reaches_name(lc_tree_text(t, reaches->list[0].name), 0);
		text = lc_columns(name) >= over + NAME_COLUMNS_MIN
		           ? make_text(t, reaches, 0, lc_columns(name) - over)
		           : NULL;
		free(name);
	}
	fputs(text ? text : "", out);
	free(text);
}

static const char *const reasons[LC_WHYS] = {
	[LC_WHY_VIRTUAL] = "a virtual call", [LC_WHY_INTERFACE] = "an interface call",
	[LC_WHY_TYPE] = "a type check",      [LC_WHY_STORE] = "an array store check",
	[LC_WHY_LENGTH] = "the length",      [LC_WHY_BOUNDS] = "an index check",
	[LC_WHY_MONITOR] = "a monitor",      [LC_WHY_HASH] = "the identity hash",
	[LC_WHY_NULL] = "a null check",      [LC_WHY_ALLOCATION] = "an allocation",
};

void lc_reaches_text_why(FILE *out, const struct lc_tree *t, const struct lc_reaches *reaches,
                         uint64_t whole)
{
	const uint64_t unknown = reaches->why[LC_WHY_UNKNOWN].samples;
	unsigned order[LC_WHYS], len = 0;

	for (unsigned why = LC_WHY_UNKNOWN + 1; why < LC_WHYS; why++) {
		unsigned at = len;

		if (!is_shown(reaches->why[why].samples, whole))
			continue;
		while (at && reaches->why[order[at - 1]].samples < reaches->why[why].samples) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = why;
		len++;
	}
	for (unsigned i = 0; i < len && i < WHYS; i++) {
		const struct lc_reaches_why *why = &reaches->why[order[i]];

		fprintf(out, "%s%.0f%% for %s",
		        i ? ", " : "header read: ", 100 * lc_share(why->samples, whole),
		        reasons[order[i]]);
		if (why->path) {
			const uint32_t *frame = lc_tree_frame(t, why->path);

			char *code =
			    lc_short_code(t, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);

			fprintf(out, " at %s", code);
			free(code);
		}
	}
	if (len && is_shown(unknown, whole))
		fprintf(out, ", not known %.0f%%", 100 * lc_share(unknown, whole));
}
