/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/watched.h - tells whether lc_rewrite_options names a class as watched.
 *
 * Pure functions. Context: [java].
 */
#ifndef LC_CLASSFILE_WATCHED_H
#define LC_CLASSFILE_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/class_file.h"

struct lc_rewrite_options;

/* Is the class of that name, written as in a Class constant, watched? */
bool lc_watched_class(const struct lc_rewrite_options *options, struct lc_class_text name);

/* Are arrays of `component`, which may be an array class itself, watched? */
bool lc_watched_array_of(const struct lc_rewrite_options *options, struct lc_class_text component);

/*
 * Is the array class `array` watched, or one of the classes that its first `dimensions` levels
 * hold?
 */
bool lc_watched_within(const struct lc_rewrite_options *options, struct lc_class_text array,
                       uint32_t dimensions);

/* Is any array class whose elements are references watched? */
bool lc_watched_references(const struct lc_rewrite_options *options);

/*
 * The primitive types whose arrays are watched: a bit each, numbered as in classfile/hook_class.h.
 */
uint8_t lc_watched_primitives(const struct lc_rewrite_options *options);

#endif
