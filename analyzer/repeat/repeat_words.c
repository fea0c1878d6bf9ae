/* SPDX-License-Identifier: Apache-2.0 */
/* repeat/repeat_words.c - says in words how stable several runs are. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "analyzer/repeat/repeat_impl.h"

enum { NAMED = 3, NAME_COLUMNS = 44 };

static void put_name(FILE *out, const struct lc_repeat_entry *e)
{
	char *name = lc_mem_text("%s", e->name.label);

	lc_cut_middle(name, NAME_COLUMNS);
	fputs(name, out);
	free(name);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Entries that came first, most often first. */
static void put_firsts(FILE *out, const struct lc_repeat_table *t)
{
	size_t named = 0;

	for (size_t runs = t->runs; runs && named < NAMED; runs--) {
		for (size_t i = 0; i < t->len && named < NAMED; i++) {
			if (t->entries[i].first != runs)
				continue;
			fputs(named++ ? ", " : ": ", out);
			put_name(out, &t->entries[i]);
			fprintf(out, " (in %zu run%s)", runs, plural(runs));
		}
	}
	if (t->firsts > named)
		fputs(", ...", out);
}

char *lc_repeat_say_first(const struct lc_repeat_table *t)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (t->firsts != 1) {
		fprintf(out, "%zu different ones", t->firsts);
		put_firsts(out, t);
	}
	for (size_t i = 0; i < t->len && t->firsts == 1; i++)
		if (t->entries[i].first)
			put_name(out, &t->entries[i]);
	if (t->firsts == 1 && t->runs > 2)
		fprintf(out, ", in all %zu runs", t->runs);
	else if (t->firsts == 1)
		fputs(t->runs == 2 ? ", in both runs" : ", in the one run", out);
	lc_mem_close_text(out);
	return text;
}

char *lc_repeat_say_difference(const struct lc_repeat_table *t)
{
	const struct lc_repeat_entry *e = t->farthest;
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (t->runs < 2) {
		fputs("unknown for one run", out);
	} else if (!e) {
		fputs("unknown: none averages 5% or more", out);
	} else if (e->difference > 0) {
		fprintf(out, "%.1f points at most: ", 100 * e->difference);
		put_name(out, e);
		fprintf(out, ", %.1f%% to %.1f%%", 100 * e->share.least, 100 * e->share.most);
	} else {
		fputs("0", out);
	}
	lc_mem_close_text(out);
	return text;
}

char *lc_repeat_say_top(const struct lc_repeat_table *t)
{
	if (t->runs < 2)
		return lc_mem_text("unknown for one run");
	if (!t->unstable)
		return lc_mem_text("stable");
	return lc_mem_text("%zu of 1%% or more %s in it in some runs only", t->unstable,
	                   t->unstable == 1 ? "is" : "are");
}

char *lc_repeat_say_lines(const struct lc_repeat_table *t)
{
	char *text, *said;
	size_t len, named = 0, all = 0;
	FILE *out = lc_text_open(&text, &len);

	for (size_t i = 0; i < t->len; i++) {
		if (!t->entries[i].all_lines || t->entries[i].share.mean < LC_REPEAT_UNSTABLE)
			continue;
		if (all++ >= NAMED)
			continue;
		fputs(named++ ? ", " : "", out);
		put_name(out, &t->entries[i]);
	}
	if (all > named)
		fprintf(out, " and %zu more", all - named);
	lc_mem_close_text(out);
	said =
	    all ? lc_mem_text(
	              "%s: only some runs know where they were allocated, so each class is one row",
	              text)
	        : NULL;
	free(text);
	return said;
}

const char *lc_repeat_withheld(const struct lc_repeat *r)
{
	if (r->counted >= LC_REPEAT_RUNS_MIN)
		return NULL;
	return "intervals are withheld: they need 5 counted runs";
}

char *lc_repeat_headline(const struct lc_repeat *r)
{
	/* Without samples what was allocated is all that there is. */
	const bool sampled =
	    r->tables[LC_REPEAT_OBJECTS].firsts || r->tables[LC_REPEAT_METHODS].firsts;
	const struct {
		enum lc_repeat_kind kind;
		const char *noun;
		bool told;
	} asked[] = { { LC_REPEAT_OBJECTS, "first object", sampled },
		      { LC_REPEAT_METHODS, "first method", sampled },
		      { LC_REPEAT_ALLOCATED, "most bytes", !sampled } };
	const size_t of = r->asked > r->runs_len ? r->asked : r->runs_len;
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (r->counted == of)
		fprintf(out, "%zu run%s", of, plural(of));
	else
		fprintf(out, "%zu of %zu runs counted", r->counted, of);
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		const struct lc_repeat_table *t = &r->tables[asked[i].kind];
		char *first;

		if (!asked[i].told || !t->firsts || t->runs < 2)
			continue;
		first = lc_repeat_say_first(t);
		fprintf(out, "; %s: %s", asked[i].noun, first);
		free(first);
	}
	lc_mem_close_text(out);
	return text;
}
