/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/own_code.h - finds the program's own frame on a call path whose leaf is a method
 * of the JDK or of a library. lc_own_choose() decides what is own; before it does, each class that
 * is not part of the JDK is.
 */
#ifndef LC_OBJECTS_ANALYSIS_OWN_CODE_H
#define LC_OBJECTS_ANALYSIS_OWN_CODE_H

#include <stdbool.h>

#include "analyzer/objects/analysis/ranking.h"

/*
 * Is it a class of the JDK's libraries, such as "java.util.HashMap$Node" or "java.lang.Long[]"?
 * Tools such as com.sun.tools.javac are programs of their own.
 */
bool lc_own_is_jdk(struct lc_text class);

/* Is the path's leaf a method of such a class? */
bool lc_own_is_jdk_frame(const struct lc_tree *t, uint32_t path);

/* Is the method own? A frame that is no method, such as that of a group, never is. */
bool lc_own_is_method(const struct lc_tree *t, uint32_t method);

/* The nearest own frame at or above the path's leaf; 0: none. */
uint32_t lc_own_path(const struct lc_tree *t, uint32_t path);

/* The nearest frame outside the JDK at or above the path's leaf; 0: none. */
uint32_t lc_own_library(const struct lc_tree *t, uint32_t path);

/* The nearest own frame, or else that one of a library; 0: there is neither. */
uint32_t lc_own_or_library(const struct lc_tree *t, uint32_t path);

/*
 * The frame that a text names beside the path's leaf: the nearest own one. If half of all samples
 * or more are below that line, or there is none, the nearest frame outside the JDK says more. 0:
 * there is neither.
 */
uint32_t lc_own_telling(const struct lc_tree *t, uint32_t path);

/*
 * The frame of lc_own_telling() below which half of the leaves' samples are or
 * more, as a path that ends there; 0: there is none, or the leaves, which are of one line, are own
 * or of that library.
 */
uint32_t lc_own_above(const struct lc_tree *t, const struct lc_rank_access *leaves, size_t len);

/* The same of the row's sampled objects, by the paths that allocated them. */
uint32_t lc_own_maker(const struct lc_tree *t, const struct lc_rank_row *row);

/*
 * The line that allocated the row's objects: "j.u.HashMap.newNode:1901 in a.Main.load:12", where
 * the row has one. Longer than `columns`, packages go first, then the other's part, then the middle
 * of a name. The caller frees the text.
 */
char *lc_own_origin(const struct lc_tree *t, const struct lc_rank_row *row, unsigned columns);

/*
 * The same of lines that access objects, which are known: "at j.u.HashMap.getNode:568 in
 * a.Main.find:53" or, if that is too long, "in Main.find:53".
 */
char *lc_own_access(const struct lc_tree *t, const struct lc_rank_lines *lines, unsigned columns);

#endif
