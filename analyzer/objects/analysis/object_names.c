/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/object_names.c - shortens names and classes, and puts them together. */
#include "analyzer/objects/analysis/object_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/json.h"
#include "analyzer/out/screen.h"
#include "src/format/kinds.h"

/* How much of a class's name is shown. */
enum detail {
	WITH_PACKAGES, /* "o.h2.m.Page$Leaf" */
	WITHOUT,       /* "Page$Leaf" */
	INNERMOST,     /* "Leaf" */
};

enum { NAME_COLUMNS_MIN = 12 }; /* of a name that is cut, beside a whole class */

/* The part behind the last dot, or behind the last '$' before a name that is not a number. */
static struct lc_text without(struct lc_text class, enum detail detail)
{
	const struct lc_text package = lc_rank_package(class);
	uint32_t skip = package.len ? package.len + 1 : 0;

	for (uint32_t i = skip + 1; detail == INNERMOST && i + 1 < class.len; i++)
		if (class.bytes[i] == '$' && (class.bytes[i + 1] < '0' || class.bytes[i + 1] > '9'))
			skip = i + 1;
	return (struct lc_text){ class.bytes + skip, class.len - skip };
}

char *lc_object_simple_class(struct lc_text class)
{
	return lc_short_class(without(class, WITHOUT));
}

static void put_class(FILE *out, struct lc_text class, enum detail detail)
{
	char *text = lc_short_class(detail == WITH_PACKAGES ? class : without(class, detail));

	fputs(text, out);
	free(text);
}

/* "a.Spectrum.re", "buffer", "argument of j.u.List.add". */
static void put_name(FILE *out, const struct lc_tree *t, const struct lc_rank_name *n,
                     enum detail detail)
{
	struct lc_text text = lc_tree_text(t, n->name);

	if (n->kind == LC_NAME_ARGUMENT)
		fputs("argument of ", out);
	if (n->kind != LC_NAME_LOCAL) {
		const struct lc_text class =
		    lc_rank_package(text); /* what is before the last dot */
		put_class(out, class, detail);
		text.bytes += class.len;
		text.len -= class.len;
	}
	lc_emit_text(out, text);
}

/* "a.Spectrum.re, buffer, ...". The caller frees it. */
static char *names_of(const struct lc_tree *t, const struct lc_rank_row *row, size_t names,
                      enum detail detail)
{
	const size_t shown = row->names_len < names ? row->names_len : names;
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	for (size_t i = 0; i < shown; i++) {
		fputs(i ? ", " : "", out);
		put_name(out, t, &row->names[i], detail);
	}
	if (shown < row->names_len)
		fputs(", ...", out);
	lc_mem_close_text(out);
	return text;
}

/* The caller frees it. */
static char *class_of(const struct lc_tree *t, const struct lc_rank_row *row, enum detail detail)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	put_class(out, lc_tree_text(t, row->class), detail);
	lc_mem_close_text(out);
	return text;
}

/* "names (class)"; longer than `columns`, the names are cut. Returns NULL where that is not enough.
 */
static char *put_together(char *names, char *class, unsigned columns, bool cut)
{
	const unsigned taken = lc_columns(class) + 3, all = lc_columns(names) + taken;
	char *text = NULL;

	if (cut && all > columns && columns > taken && !strchr(names, ' '))
		lc_cut_code(names, columns - taken, 1); /* the field is worth more than its class */
	else if (cut && all > columns && columns >= taken + NAME_COLUMNS_MIN)
		lc_cut_middle(names, columns - taken);
	if (cut || all <= columns)
		text = lc_mem_text("%s (%s)", names, class);
	free(names);
	free(class);
	return text;
}

char *lc_object_label(const struct lc_tree *t, const struct lc_rank_row *row, size_t names,
                      unsigned columns)
{
	/* In the order in which they are tried. */
	const struct {
		size_t names;
		enum detail detail;
	} ways[] = {
		{ names, WITH_PACKAGES },
		{ names, WITHOUT },
		{ names, INNERMOST },
		{ 1, INNERMOST },
	};
	const size_t len = sizeof(ways) / sizeof(*ways);
	char *text = NULL;

	if (!row->names_len) {
		text = class_of(t, row, WITH_PACKAGES);
		lc_cut_code(text, columns, 0);
		return text;
	}
	for (size_t i = 0; !text && i < len; i++)
		text = put_together(names_of(t, row, ways[i].names, ways[i].detail),
		                    class_of(t, row, ways[i].detail), columns, i == len - 1);
	lc_cut_middle(text, columns);
	return text;
}

/* ---- JSON ---- */

static void put_json(struct lc_json *j, const struct lc_tree *t, uint32_t kind, uint32_t name)
{
	static const char *const kinds[LC_NAME_KINDS] = {
		[LC_NAME_FIELD] = "field",
		[LC_NAME_LOCAL] = "local",
		[LC_NAME_ARGUMENT] = "argument",
	};

	lc_json_object(j, NULL);
	lc_json_text(j, "name", lc_tree_text(t, name));
	lc_json_string(j, "kind", kinds[kind]);
	lc_json_end_object(j);
}

void lc_object_json_row(struct lc_json *j, const struct lc_tree *t, const struct lc_rank_row *row)
{
	if (!row->names_len)
		return;
	lc_json_array(j, "names");
	for (size_t i = 0; i < row->names_len; i++)
		put_json(j, t, row->names[i].kind, row->names[i].name);
	lc_json_end_array(j);
}

void lc_object_json_site(struct lc_json *j, const struct lc_view *v, uint32_t site)
{
	size_t len;
	const struct lc_view_name *names = lc_view_names(v, site, &len);

	if (!len)
		return;
	lc_json_array(j, "names");
	for (size_t i = 0; i < len; i++)
		put_json(j, v->tree, names[i].kind, names[i].name);
	lc_json_end_array(j);
}
