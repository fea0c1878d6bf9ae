/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/export/report_svg.c - draws the stacks of the collapsed format as a flame graph without a
 * script. The root is at the bottom, and a frame is as wide as its samples. Browsers show a frame's
 * title, with the number of samples, under the pointer.
 */
#include "analyzer/objects/analysis/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/table.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum { WIDTH = 1200, ROW_HEIGHT = 17, MARGIN = 10, LETTER_WIDTH = 7, DRAWN_MILLI = 100 };

/* The kinds of frames of a stack. */
enum { OF_ALL, OF_ALLOCATION, OF_CLASS, OF_ACCESS, OF_BUCKET };

/* Columns of the table of frames: a parent has a smaller number. */
enum { NODE_PARENT, NODE_WHAT, NODE_ROW, NODE_LINE1, NODE_KEY };

struct graph {
	const struct lc_tree *tree;
	struct lc_table nodes; /* value: samples */
	uint32_t *stack;       /* paths from the leaf, for one path */
	size_t stack_cap;
};

static uint32_t child(struct graph *g, uint32_t parent, uint32_t what, uint32_t row, uint32_t line1,
                      uint64_t samples)
{
	const uint32_t key[NODE_KEY] = { parent, what, row, line1 };
	const uint32_t node = lc_table_put(&g->nodes, key);

	*lc_table_values(&g->nodes, node) += samples;
	return node;
}

static uint32_t add_path(struct graph *g, uint32_t node, uint32_t what, uint32_t path,
                         uint64_t samples)
{
	size_t depth = 0;

	for (; path; path = lc_tree_parent(g->tree, path)) {
		g->stack = lc_mem_grow(g->stack, &g->stack_cap, depth + 1, sizeof(*g->stack));
		g->stack[depth++] = path;
	}
	while (depth) {
		const uint32_t *frame = lc_tree_frame(g->tree, g->stack[--depth]);

		node = child(g, node, what, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1], samples);
	}
	return node;
}

static void add_site(struct graph *g, const struct lc_view_site *s, uint32_t allocation_path)
{
	const uint32_t class = lc_table_key(&g->tree->sites, s->site)[LC_SITE_CLASS];

	for (size_t i = 0; i < s->accesses_len; i++) {
		const uint64_t samples = s->accesses[i].samples;
		uint32_t node = child(g, 0, OF_ALL, 0, 0, samples);

		node = add_path(g, node, OF_ALLOCATION, allocation_path, samples);
		node = child(g, node, OF_CLASS, class, 0, samples);
		add_path(g, node, OF_ACCESS, s->accesses[i].path, samples);
	}
}

static void add_all(struct graph *g, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	child(g, 0, OF_ALL, 0, 0, 0); /* the root is node 0 and its own parent */
	for (size_t i = 0; i < v->sites_len && i < r->top; i++)
		add_site(g, &v->sites[i],
		         lc_table_key(&v->tree->sites, v->sites[i].site)[LC_SITE_PATH]);
	for (size_t i = 0; i < v->classes_len && i < r->top; i++)
		add_site(g, &v->classes[i], 0);
	for (size_t i = 0; i < v->accesses_len && !v->accesses[i].site; i++) {
		const struct lc_view_access *a = &v->accesses[i];
		uint32_t node = child(g, 0, OF_ALL, 0, 0, a->samples);

		node = child(g, node, OF_BUCKET, a->bucket, 0, a->samples);
		add_path(g, node, OF_ACCESS, a->path, a->samples);
	}
}

/* The caller frees it. */
static char *name_of(const struct graph *g, uint32_t node)
{
	const uint32_t *key = lc_table_key(&g->nodes, node);
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (key[NODE_WHAT] == OF_ALL) {
		fputs("all", out);
	} else if (key[NODE_WHAT] == OF_BUCKET) {
		fprintf(out, "[%s]", lc_bucket_name(key[NODE_ROW]));
	} else if (key[NODE_WHAT] == OF_CLASS) {
		putc('[', out);
		lc_emit_text(out, lc_tree_text(g->tree, key[NODE_ROW]));
		putc(']', out);
	} else {
		const uint32_t *method = lc_table_key(&g->tree->methods, key[NODE_ROW]);

		lc_emit_method(out, lc_tree_text(g->tree, method[LC_METHOD_CLASS]),
		               lc_tree_text(g->tree, method[LC_METHOD_NAME]));
		if (key[NODE_LINE1])
			fprintf(out, ":%u", key[NODE_LINE1] - 1);
	}
	lc_mem_close_text(out);
	return text;
}

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else
			putc(*text, out);
	}
}

static void draw(FILE *out, const struct graph *g, uint32_t node, double x, double width,
                 unsigned y)
{
	static const char *const colors[] = {
		[OF_ALL] = "#d8d8d8",    [OF_ALLOCATION] = "#9ecae1", [OF_CLASS] = "#fdd49e",
		[OF_ACCESS] = "#f4a582", [OF_BUCKET] = "#bdbdbd",
	};
	const uint64_t samples = *lc_table_values(&g->nodes, node);
	const unsigned letters = width > LETTER_WIDTH ? (unsigned)(width / LETTER_WIDTH) - 1 : 0;
	char *name = name_of(g, node);

	fputs("<g><title>", out);
	put_escaped(out, name);
	fprintf(out,
	        ": %" PRIu64 " samples, %.1f%%</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" "
	        "height=\"%d\" fill=\"%s\"/>",
	        samples, 100 * lc_share(samples, *lc_table_values(&g->nodes, 0)), MARGIN + x, y,
	        width, ROW_HEIGHT - 1, colors[lc_table_key(&g->nodes, node)[NODE_WHAT]]);
	if (letters > 3) { /* less than lc_cut_middle() can cut to says nothing */
		lc_cut_middle(name, letters);
		fprintf(out, "<text x=\"%.2f\" y=\"%u\">", MARGIN + x + 3, y + 12);
		put_escaped(out, name);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
	free(name);
}

static void draw_all(FILE *out, const struct graph *g)
{
	const uint32_t count = g->nodes.count;
	const double scale =
	    WIDTH / (double)(*lc_table_values(&g->nodes, 0) ? *lc_table_values(&g->nodes, 0) : 1);
	double *next = lc_mem_zeroed(count, sizeof(*next)); /* x of a node's next child */
	unsigned *depth = lc_mem_zeroed(count, sizeof(*depth)), deepest = 0, height;

	for (uint32_t i = 1; i < count; i++) {
		depth[i] = depth[lc_table_key(&g->nodes, i)[NODE_PARENT]] + 1;
		if (depth[i] > deepest)
			deepest = depth[i];
	}
	height = (deepest + 1) * ROW_HEIGHT + 2 * MARGIN;
	fprintf(out,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
	        "font-family=\"monospace\" font-size=\"11\">\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
	        WIDTH + 2 * MARGIN, height);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t parent = lc_table_key(&g->nodes, i)[NODE_PARENT];
		const double width = scale * (double)*lc_table_values(&g->nodes, i);
		const double x = i ? next[parent] : 0;

		if (i)
			next[parent] += width;
		next[i] = x;
		/* A frame below a tenth of a pixel is invisible. */
		if (!i || width * 1000 >= DRAWN_MILLI)
			draw(out, g, i, x, width, height - MARGIN - (depth[i] + 1) * ROW_HEIGHT);
	}
	fputs("</svg>\n", out);
	free(next);
	free(depth);
}

void lc_report_svg(FILE *out, const struct lc_report *r)
{
	struct graph g = { .tree = r->view->tree };

	lc_table_init(&g.nodes, NODE_KEY, 1);
	add_all(&g, r);
	draw_all(out, &g);
	lc_table_free(&g.nodes);
	free(g.stack);
}
