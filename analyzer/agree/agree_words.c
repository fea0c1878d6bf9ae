/* agree/agree_words.c - says in words how far profilers agree, and orders the methods of all. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/agree/agree_impl.h"
#include "analyzer/base/memory.h"

struct lc_text lc_agree_method(const struct lc_agree *a, uint32_t key)
{
	return lc_tree_text(&a->names, key);
}

static int order_rows(const void *a, const void *b)
{
	const struct lc_agree_row *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void add_share(struct lc_agree_row **rows, size_t *len, size_t *cap, uint32_t key,
                      double share)
{
	for (size_t i = 0; i < *len; i++) {
		if ((*rows)[i].key != key)
			continue;
		(*rows)[i].share += share;
		return;
	}
	*rows = lc_mem_grow(*rows, cap, *len + 1, sizeof(**rows));
	(*rows)[(*len)++] = (struct lc_agree_row){ key, share };
}

size_t lc_agree_rows(const struct lc_agree *a, struct lc_agree_row **rows)
{
	size_t len = 0, cap = 0;

	*rows = NULL;
	for (size_t i = 0; i < a->sides_len; i++) {
		const struct lc_repeat_table *t = &a->sides[i].methods.table;

		for (size_t e = 0; lc_agree_is_compared(&a->sides[i]) && e < t->len; e++)
			add_share(rows, &len, &cap, t->entries[e].key,
			          t->entries[e].share.mean / (double)a->compared);
	}
	if (len)
		qsort(*rows, len, sizeof(**rows), order_rows);
	return len;
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
	lc_text_close(of);
	fprintf(out, "%zu profiler%s", a->compared, a->compared == 1 ? "" : "s");
	if (a->union_1 == 1)
		fprintf(out, " with one hottest method: %s", names);
	else if (a->compared)
		fprintf(out, " with %zu different hottest methods: %s", a->union_1, names);
	lc_text_close(out);
	free(names);
	return text;
}
