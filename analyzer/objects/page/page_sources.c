/* SPDX-License-Identifier: Apache-2.0 */
/* objects/page/page_sources.c - writes the source lines that the page shows. */
#include "analyzer/objects/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/out/json.h"
#include "analyzer/out/source.h"
#include "src/base/order.h"

enum { CONTEXT = 6 }; /* lines before and after a frame's line */

/* A line of a file; package and file name identify the file. */
struct line {
	struct lc_text class_name, package, file;
	uint32_t number;
};

static int order_texts(struct lc_text a, struct lc_text b)
{
	int order = memcmp(a.bytes, b.bytes, a.len < b.len ? a.len : b.len);

	return order ? order : lc_order_u64(a.len, b.len);
}

static int order_files(const struct line *a, const struct line *b)
{
	int order = order_texts(a->package, b->package);

	return order ? order : order_texts(a->file, b->file);
}

static int order_lines(const void *a, const void *b)
{
	int order = order_files(a, b);

	return order ? order
	             : lc_order_u64(((const struct line *)a)->number,
	                            ((const struct line *)b)->number);
}

/* The lines of all frames with a known line, by file and number. */
static struct line *lines_of(const struct lc_tree *t, size_t *len)
{
	struct line *lines = lc_mem_zeroed(t->frames.count, sizeof(*lines));

	*len = 0;
	for (uint32_t i = 0; i < t->frames.count; i++) {
		const uint32_t *frame = lc_table_key(&t->frames, i);
		const uint32_t *method = lc_table_key(&t->methods, frame[LC_FRAME_METHOD]);
		const struct lc_text class_name = lc_tree_text(t, method[LC_METHOD_CLASS]);

		if (frame[LC_FRAME_LINE1] < 2) /* an unknown line, or line 0 */
			continue;
		lines[(*len)++] = (struct line){ class_name, lc_rank_package(class_name),
			                         lc_tree_text(t, method[LC_METHOD_FILE]),
			                         frame[LC_FRAME_LINE1] - 1 };
	}
	qsort(lines, *len, sizeof(*lines), order_lines);
	return lines;
}

/* Write lines `first` to `last`, up to the end of the file. */
static void range(struct lc_json *j, struct lc_source *s, const struct line *of, uint32_t first,
                  uint32_t last)
{
	if (!lc_source_line(s, of->class_name, of->file, first).bytes)
		return;
	lc_json_object(j, NULL);
	lc_json_u64(j, "first", first);
	lc_json_array(j, "lines");
	for (uint32_t at = first; at <= last; at++) {
		const struct lc_text text = lc_source_line(s, of->class_name, of->file, at);

		if (!text.bytes)
			break;
		lc_json_text(j, NULL, text);
	}
	lc_json_end_array(j);
	lc_json_end_object(j);
}

/* Write the ranges around `len` lines of one file. Ranges that touch are joined. */
static void file(struct lc_json *j, struct lc_source *s, const struct line *lines, size_t len)
{
	if (!lc_source_line(s, lines->class_name, lines->file, 1).bytes)
		return;
	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_text(j, "package", lines->package);
	lc_json_text(j, "file", lines->file);
	lc_json_array(j, "ranges");
	for (size_t from = 0, to; from < len; from = to) {
		for (to = from + 1;
		     to < len && lines[to].number <= lines[to - 1].number + 2 * CONTEXT + 1; to++)
			;
		range(j, s, lines, lines[from].number > CONTEXT ? lines[from].number - CONTEXT : 1,
		      lines[to - 1].number + CONTEXT);
	}
	lc_json_end_array(j);
	lc_json_end_object(j);
}

void lc_page_sources(struct lc_json *j, const struct lc_report *r)
{
	struct line *lines;
	size_t len;

	lc_json_line(j, 0);
	lc_json_array(j, "sources");
	if (r->source) {
		lines = lines_of(r->view->tree, &len);
		for (size_t from = 0, to; from < len; from = to) {
			for (to = from + 1; to < len && !order_files(&lines[from], &lines[to]);
			     to++)
				;
			file(j, r->source, lines + from, to - from);
		}
		free(lines);
	}
	lc_json_end_array(j);
}
