/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/export/report_collapsed.c - writes collapsed stacks for flame graph tools: a line has the
 * frames from the root, and a number. --stacks chooses the stacks.
 */
#include "analyzer/objects/analysis/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/objects/analysis/stacks.h"

/* A ';' would end the frame. */
static void put_frame(FILE *out, const struct lc_tree *t, const uint32_t *frame)
{
	char *name = lc_stack_name(t, frame);

	for (const char *at = name; *at; at++)
		putc(*at == ';' ? '_' : *at, out);
	if (frame[LC_STACK_LINE1])
		fprintf(out, ":%u", frame[LC_STACK_LINE1] - 1);
	free(name);
}

void lc_report_collapsed(FILE *out, const struct lc_report *r)
{
	struct lc_stacks stacks;
	struct lc_stack stack;

	lc_stacks_build(&stacks, r, r->stacks);
	while (!lc_stacks_next(&stacks, &stack)) {
		for (size_t i = 0; i < stack.len; i++) {
			if (i)
				putc(';', out);
			put_frame(out, r->view->tree, stack.frames + i * LC_STACK_FRAME);
		}
		fprintf(out, " %" PRIu64 "\n", stack.value);
	}
	lc_stacks_free(&stacks);
}
