/*
 * objects/report_collapsed.c - writes one line for each stack, for flame graph tools: allocation
 * path from the root, the class in brackets, access path from the root, and the number of samples.
 * Objects that were not tracked have no allocation path; what is no known object stands under its
 * bucket in brackets.
 */
#include "analyzer/objects/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/text.h"

/* The frames of a path from the root, each followed by `after`. */
static void frames(FILE *out, const struct lc_tree *t, uint32_t path, uint32_t *stack,
                   const char *before, const char *after)
{
	size_t depth = 0;

	for (; path; path = lc_tree_parent(t, path))
		stack[depth++] = path;
	while (depth) {
		const uint32_t *frame = lc_tree_frame(t, stack[--depth]);
		const uint32_t *method = lc_tree_method(t, stack[depth]);

		fputs(before, out);
		lc_emit_collapsed(out, lc_tree_text(t, method[LC_METHOD_CLASS]));
		putc('.', out);
		lc_emit_collapsed(out, lc_tree_text(t, method[LC_METHOD_NAME]));
		if (frame[LC_FRAME_LINE1])
			fprintf(out, ":%u", frame[LC_FRAME_LINE1] - 1);
		fputs(after, out);
	}
}

static size_t deepest(const struct lc_tree *t)
{
	uint32_t *depths = lc_mem_zeroed(t->paths.count, sizeof(*depths));
	uint32_t most = 0;

	for (uint32_t path = 1; path < t->paths.count; path++) {
		depths[path] = depths[lc_tree_parent(t, path)] + 1;
		if (depths[path] > most)
			most = depths[path];
	}
	free(depths);
	return most;
}

static void site_lines(FILE *out, const struct lc_view *v, const struct lc_view_site *s,
                       uint32_t allocation_path, uint32_t *stack)
{
	const uint32_t *key = lc_table_key(&v->tree->sites, s->site);

	for (size_t k = 0; k < s->accesses_len; k++) {
		frames(out, v->tree, allocation_path, stack, "", ";");
		putc('[', out);
		lc_emit_collapsed(out, lc_tree_text(v->tree, key[LC_SITE_CLASS]));
		putc(']', out);
		frames(out, v->tree, s->accesses[k].path, stack, ";", "");
		fprintf(out, " %" PRIu64 "\n", s->accesses[k].samples);
	}
}

void lc_report_collapsed(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;
	uint32_t *stack = lc_mem_zeroed(deepest(v->tree) + 1, sizeof(*stack));

	for (size_t i = 0; i < v->sites_len && i < r->top; i++)
		site_lines(out, v, &v->sites[i],
		           lc_table_key(&v->tree->sites, v->sites[i].site)[LC_SITE_PATH], stack);
	for (size_t i = 0; i < v->classes_len && i < r->top; i++)
		site_lines(out, v, &v->classes[i], 0, stack);
	for (size_t i = 0; i < v->accesses_len && !v->accesses[i].site; i++) {
		fprintf(out, "[%s]", lc_bucket_name(v->accesses[i].bucket));
		frames(out, v->tree, v->accesses[i].path, stack, ";", "");
		fprintf(out, " %" PRIu64 "\n", v->accesses[i].samples);
	}
	free(stack);
}
