/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/track.h - tells which classes --track names.
 *
 * A pattern is the name of a class as Java code and the report write it: "java.lang.Long",
 * "org.h2.mvstore.Page$*", "java.lang.Long[]", "long[][]". '*' stands for any characters, '?' for
 * one. An array is matched only by a pattern with as many "[]". Pure functions. Context: any.
 */
#ifndef LC_BASE_TRACK_H
#define LC_BASE_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/options.h"

enum { LC_TRACK_MAX = 64 };

/*
 * In place of a pattern: the agent chooses classes while it records. The pattern "ho?" matches a
 * class that has this name.
 */
#define LC_TRACK_HOT "hot"

struct lc_track {
	struct lc_track_pattern {
		const char *name; /* in `text`; not terminated; of an array: its elements' */
		uint16_t len;
		uint16_t dimensions;
	} patterns[LC_TRACK_MAX];
	size_t len;
	char text[LC_TRACK_TEXT_MAX];
};

/*
 * Take the patterns of `list`, which ';' separates, but LC_TRACK_HOT. Returns how many there are
 * beyond LC_TRACK_MAX, which are left out. `*out` must not be copied.
 */
size_t lc_track_parse(const char *list, struct lc_track *out);

/* Is it LC_TRACK_HOT? */
static inline bool lc_track_is_hot(const char *text, size_t len)
{
	return len == strlen(LC_TRACK_HOT) && !memcmp(text, LC_TRACK_HOT, len);
}

/* Is LC_TRACK_HOT in such a list? */
static inline bool lc_track_has_hot(const char *list)
{
	while (*list) {
		const size_t len = strcspn(list, ";");

		if (lc_track_is_hot(list, len))
			return true;
		list += len + (list[len] == ';');
	}
	return false;
}

/* The name of a class, its elements' for an array; dots or slashes separate packages. */
struct lc_track_class {
	const char *name; /* not terminated */
	size_t len;
	unsigned dimensions; /* 0: no array */
};

/* From a Class constant: "java/lang/Long", "[Ljava/lang/Long;", "[J". */
struct lc_track_class lc_track_constant(const char *text, size_t len);

/* From a signature: "Ljava/lang/Long;", "[J". */
struct lc_track_class lc_track_signature(const char *text);

/* From the report's name of a class: "java.lang.Long[]". */
struct lc_track_class lc_track_written(const char *text);

/* The pattern that matches the class, or -1. `t` may be NULL. */
int lc_track_find(const struct lc_track *t, struct lc_track_class c);

static inline bool lc_track_matches(const struct lc_track *t, struct lc_track_class c)
{
	return lc_track_find(t, c) >= 0;
}

/* May a class without dimensions match? `t` may be NULL. */
bool lc_track_objects(const struct lc_track *t);

/* May an array of references match? `t` may be NULL. */
bool lc_track_references(const struct lc_track *t);

/*
 * The primitive types whose arrays match: a bit each, in the order of the instruction `newarray`.
 * `t` may be NULL.
 */
uint8_t lc_track_primitives(const struct lc_track *t);

#endif
