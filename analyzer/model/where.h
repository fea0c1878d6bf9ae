/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/where.h - holds the values of --where and --by: which processes are chosen, and which keys
 * keep call paths apart. facts.h gives a process's value for a key.
 */
#ifndef LC_MODEL_WHERE_H
#define LC_MODEL_WHERE_H

#include <stdbool.h>
#include <stddef.h>

/* One --where: a key, and patterns for its value. */
struct lc_where_term {
	char *key;
	const char *patterns; /* the caller's: see lc_options_match() */
};

/* All zero lets every process pass. Free with lc_where_free(). */
struct lc_where_terms {
	struct lc_where_term *list;
	size_t len, cap;
};

/*
 * Add "KEY=PATTERN". Returns NULL, or what is wrong with it: static text that follows the text in a
 * line.
 */
const char *lc_where_add(struct lc_where_terms *w, const char *text);
void lc_where_free(struct lc_where_terms *w);

/*
 * Does a value fit the terms of that key? One of several terms with a key suffices, and a key
 * without a term fits. For "command", a pattern without '*' and '?' fits if `whole`, the whole
 * command line (NULL: unknown), contains the pattern. Any other pattern must fit the whole value.
 */
bool lc_where_value_fits(const struct lc_where_terms *w, const char *key, const char *value,
                         const char *whole);

enum { LC_BY_MAX = 8 };

/* Keys that call paths are kept apart by, the outermost first. */
struct lc_by {
	char *keys[LC_BY_MAX];
	size_t len;
};

/* Add a key, of which a copy is kept. Returns NULL, or what is wrong with it, as lc_where_add(). */
const char *lc_by_add(struct lc_by *by, const char *key);
void lc_by_free(struct lc_by *by);
void lc_by_copy(struct lc_by *to, const struct lc_by *from); /* *to has none */
bool lc_by_equal(const struct lc_by *a, const struct lc_by *b);

/* "host, team", for a line; free() it. */
char *lc_by_text(const struct lc_by *by);

#endif
