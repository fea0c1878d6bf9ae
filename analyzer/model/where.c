/* SPDX-License-Identifier: Apache-2.0 */
/* model/where.c - parses and matches --where and --by. */
#include "analyzer/model/where.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/label.h"
#include "src/base/options.h"

/* ---- --where ---- */

const char *lc_where_add(struct lc_where_terms *w, const char *text)
{
	const size_t key = strcspn(text, "=");

	if (!text[key])
		return "has no '='; write KEY=PATTERN, such as host=web1 or jdk=*17*";
	if (!lc_label_key(text, key))
		return "has no valid key; use host, process, pid, command, jdk, gc, start or a "
		       "label";
	if (!text[key + 1])
		return "has no pattern after the '='";
	w->list = lc_mem_grow(w->list, &w->cap, w->len + 1, sizeof(*w->list));
	w->list[w->len++] = (struct lc_where_term){ .key = lc_mem_text("%.*s", (int)key, text),
		                                    .patterns = text + key + 1 };
	return NULL;
}

void lc_where_free(struct lc_where_terms *w)
{
	for (size_t i = 0; i < w->len; i++)
		free(w->list[i].key);
	free(w->list);
	*w = (struct lc_where_terms){ .list = NULL };
}

bool lc_where_value_fits(const struct lc_where_terms *w, const char *key, const char *value,
                         const char *whole)
{
	bool asked = false;

	for (size_t i = 0; i < w->len; i++) {
		const struct lc_where_term *t = &w->list[i];

		if (strcmp(t->key, key) != 0)
			continue;
		asked = true;
		if (lc_options_match(t->patterns, value))
			return true;
		if (whole && !strpbrk(t->patterns, "*?;") && strstr(whole, t->patterns))
			return true;
	}
	return !asked;
}

/* ---- --by ---- */

static bool has_key(const struct lc_by *by, const char *key)
{
	for (size_t i = 0; i < by->len; i++)
		if (!strcmp(by->keys[i], key))
			return true;
	return false;
}

const char *lc_by_add(struct lc_by *by, const char *key)
{
	if (!lc_label_key(key, strlen(key)))
		return "is not a valid key; use host, process, pid, command, jdk, gc, start or a "
		       "label";
	if (!strcmp(key, "context"))
		return "is no key: request contexts are always apart; see --group=context";
	if (has_key(by, key))
		return "is given twice";
	if (by->len == LC_BY_MAX)
		return "is one key too many; at most 8 are allowed";
	by->keys[by->len++] = lc_mem_text("%s", key);
	return NULL;
}
_Static_assert(LC_BY_MAX == 8, "lc_by_add() names the limit");

void lc_by_free(struct lc_by *by)
{
	for (size_t i = 0; i < by->len; i++)
		free(by->keys[i]);
	by->len = 0;
}

void lc_by_copy(struct lc_by *to, const struct lc_by *from)
{
	for (size_t i = 0; i < from->len; i++)
		(void)lc_by_add(to, from->keys[i]);
}

bool lc_by_equal(const struct lc_by *a, const struct lc_by *b)
{
	for (size_t i = 0; i < a->len && i < b->len; i++)
		if (strcmp(a->keys[i], b->keys[i]) != 0)
			return false;
	return a->len == b->len;
}

char *lc_by_text(const struct lc_by *by)
{
	char *text = lc_mem_text("%s", by->len ? by->keys[0] : "");

	for (size_t i = 1; i < by->len; i++) {
		char *longer = lc_mem_text("%s, %s", text, by->keys[i]);

		free(text);
		text = longer;
	}
	return text;
}
