/* SPDX-License-Identifier: Apache-2.0 */
/* cli/operands.c - turns the operands of a command into profiles. */
#include "analyzer/cli/operands.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/model/find.h"

static void add(struct lc_operands *o, const char *path, bool found)
{
	o->paths = lc_mem_grow(o->paths, &o->cap, o->len + 1, sizeof(*o->paths));
	o->found = lc_mem_grow(o->found, &o->found_cap, o->len + 1, sizeof(*o->found));
	o->found[o->len] = found;
	o->paths[o->len++] = lc_mem_text("%s", path);
}

void lc_operands_add(struct lc_operands *o, const char *path)
{
	add(o, path, false);
}

void lc_operands_find(struct lc_operands *o, char **operands, size_t count)
{
	*o = (struct lc_operands){ .paths = NULL };
	for (size_t i = 0; i < count; i++) {
		struct lc_find found = { .paths = NULL };

		lc_find_profiles(operands[i], &found);
		for (size_t k = 0; k < found.len; k++)
			add(o, found.paths[k], strcmp(found.paths[k], operands[i]) != 0);
		if (!found.len)
			lc_operands_add(o, operands[i]);
		for (size_t k = 0; k < found.problems_len; k++) {
			if (!strcmp(found.problems[k].path, operands[i]))
				continue; /* it stands for itself */
			lc_note("cannot read '%s': %s", found.problems[k].path,
			        found.problems[k].why);
			o->partial = true;
		}
		lc_find_free(&found);
	}
}

void lc_operands_free(struct lc_operands *o)
{
	for (size_t i = 0; i < o->len; i++)
		free(o->paths[i]);
	free(o->paths);
	free(o->found);
	*o = (struct lc_operands){ .paths = NULL };
}
