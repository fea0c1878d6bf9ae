/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_collapsed.c - writes call paths of spans as collapsed stacks for flame graph tools.
 *
 * A line has the frames from the root, the kind of span in brackets, the type of a task, and the
 * compensated cycles. Paths whose cycles are not above 0 have no width and are left out.
 */
#include "analyzer/spans/spans_command.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/emit.h"

/* Frames from the root, each with a ';' behind it. */
static void frames(FILE *out, const struct lc_tree *t, uint32_t path)
{
	const uint32_t depth = path ? lc_tree_depth(t, path) : 0;
	uint32_t *stack = lc_mem_zeroed((size_t)depth + 1, sizeof(*stack)), len = 0;

	for (; path; path = lc_tree_parent(t, path))
		stack[len++] = path;
	while (len) {
		const uint32_t *frame = lc_tree_frame(t, stack[--len]);
		const uint32_t *method = lc_tree_method(t, stack[len]);

		lc_emit_collapsed(out, lc_tree_text(t, method[LC_METHOD_CLASS]));
		if (lc_tree_text(t, method[LC_METHOD_NAME]).len)
			putc('.', out);
		lc_emit_collapsed(out, lc_tree_text(t, method[LC_METHOD_NAME]));
		if (frame[LC_FRAME_LINE1])
			fprintf(out, ":%u", frame[LC_FRAME_LINE1] - 1);
		putc(';', out);
	}
	free(stack);
}

static void lines(FILE *out, const struct lc_spans *s, const struct lc_spans_paths *paths,
                  const struct lc_text *type)
{
	for (size_t i = 0; i < paths->len; i++) {
		const struct lc_spans_path *p = &paths->rows[i];

		if (p->cycles <= 0)
			continue;
		frames(out, s->tree, p->path);
		fprintf(out, "[%s", lc_span_kind_name(p->kind));
		if (type) {
			putc(' ', out);
			lc_emit_collapsed(out, *type);
		} else {
			fprintf(out, " level %u", p->level);
		}
		fprintf(out, "] %" PRId64 "\n", p->cycles);
	}
}

void lc_spans_collapsed(FILE *out, const struct lc_spans_report *r)
{
	const struct lc_spans *s = r->spans;

	for (size_t i = 0; i < s->locations_len && i < r->top; i++)
		lines(out, s, &s->locations[i].paths, NULL);
	for (size_t i = 0; i < s->tasks_len && i < r->top; i++)
		lines(out, s, &s->tasks[i].paths, &s->tasks[i].type);
}
