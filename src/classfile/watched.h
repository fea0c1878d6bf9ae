/*
 * classfile/watched.h - is a class one that lc_rewrite_options names as watched?
 *
 * Pure functions. Context: [java].
 */
#ifndef LC_CLASSFILE_WATCHED_H
#define LC_CLASSFILE_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/reader.h"

struct lc_rewrite_options;

/* The class of that name, as a Class constant has it. */
bool lc_watched_class(const struct lc_rewrite_options *options, struct lc_class_text name);

/* Arrays of that class, which may be an array class itself. */
bool lc_watched_array_of(const struct lc_rewrite_options *options, struct lc_class_text component);

/* The array class `array`, or what its first `dimensions` levels consist of. */
bool lc_watched_within(const struct lc_rewrite_options *options, struct lc_class_text array,
                       uint32_t dimensions);

/* Any array class of references. */
bool lc_watched_references(const struct lc_rewrite_options *options);

/* Of which primitive types arrays are watched: a bit each, numbered as in classfile/hook_class.h. */
uint8_t lc_watched_primitives(const struct lc_rewrite_options *options);

#endif
