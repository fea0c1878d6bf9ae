/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_words.c - says in words how far profilers agree, and orders the methods of all
 * profilers.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/agree/agree_impl.h"
#include "analyzer/base/memory.h"

struct lc_text lc_agree_method(const struct lc_agree *a, uint32_t key)
{
	return lc_tree_text(&a->names, key);
}

/* The hottest method of a side's mean; NULL: it has none. */
static const struct lc_repeat_entry *hottest(const struct lc_agree_side *s)
{
	return lc_agree_is_compared(s) && s->methods.table.len ? s->methods.table.entries : NULL;
}

/* "H.walk (locus, async), H.sort (jfr)". */
static void put_hottest(FILE *out, const struct lc_agree *a)
{
	for (size_t i = 0; i < a->sides_len; i++) {
		const struct lc_repeat_entry *e = hottest(&a->sides[i]);
		bool first = e != NULL;

		for (size_t k = 0; k < i && first; k++)
			first = !hottest(&a->sides[k]) || hottest(&a->sides[k])->key != e->key;
		if (!first)
			continue;
		fprintf(out, "%s%s (%s", ftell(out) ? ", " : "", e->name.label, a->sides[i].name);
		for (size_t k = i + 1; k < a->sides_len; k++)
			if (hottest(&a->sides[k]) && hottest(&a->sides[k])->key == e->key)
				fprintf(out, ", %s", a->sides[k].name);
		putc(')', out);
	}
}

char *lc_agree_headline(const struct lc_agree *a)
{
	char *text, *names;
	size_t len, names_len;
	FILE *out = lc_text_open(&text, &len), *of = lc_text_open(&names, &names_len);

	put_hottest(of, a);
	lc_mem_close_text(of);
	fprintf(out, "%zu profiler%s", a->compared, a->compared == 1 ? "" : "s");
	if (a->union_1 == 1)
		fprintf(out, " with one hottest method: %s", names);
	else if (a->compared)
		fprintf(out, " with %zu different hottest methods: %s", a->union_1, names);
	lc_mem_close_text(out);
	free(names);
	return text;
}
