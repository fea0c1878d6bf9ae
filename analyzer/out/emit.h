/* SPDX-License-Identifier: Apache-2.0 */
/* out/emit.h - these functions write names, numbers and frames as they stand in reports. */
#ifndef LC_OUT_EMIT_H
#define LC_OUT_EMIT_H

#include <stdint.h>
#include <stdio.h>

#include "analyzer/model/tree.h"

/*
 * Plain UTF-8 for a terminal or a line-based file: control characters as \uXXXX, what is not a
 * character as U+FFFD.
 */
void lc_emit_text(FILE *out, struct lc_text text);
void lc_emit_text_c(FILE *out, const char *text);

/* A word as a shell reads it, in quotes where it needs them, whole. */
void lc_emit_word(FILE *out, const char *word);

/* Like lc_emit_text(), but ';', which separates frames in collapsed stacks, becomes '_'. */
void lc_emit_collapsed(FILE *out, struct lc_text text);

/* "com.acme.Foo.bar"; of a frame that is no method, the class alone, which says what it is. */
void lc_emit_method(FILE *out, struct lc_text class_name, struct lc_text method_name);

/* "com.acme.Foo.bar(Foo.java:12)"; line + 1, 0: none. An empty file is unknown. */
void lc_emit_place(FILE *out, struct lc_text class_name, struct lc_text method_name,
                   struct lc_text file, uint32_t line1);

/* The same of a path's leaf, and whether recursion was folded there. The path is not the root. */
void lc_emit_frame(FILE *out, const struct lc_tree *t, uint32_t path);

/* The same of a method and line + 1 (0: none). */
void lc_emit_code(FILE *out, const struct lc_tree *t, uint32_t method, uint32_t line1);

/* "1.5 MB" in the 8 bytes or more of `out`. Returns out. */
const char *lc_emit_bytes(char *out, size_t out_len, uint64_t bytes);

/* The same of a number that may have a fraction, which is cut off; "0 B" below 1. */
static inline const char *lc_emit_bytes_real(char *out, size_t out_len, double bytes)
{
	return lc_emit_bytes(out, out_len, bytes > 0 ? (uint64_t)bytes : 0);
}

/* "5 ms", "12.3 s". Returns out. */
const char *lc_emit_duration(char *out, size_t out_len, uint64_t ns);

/*
 * "530 ms", "5.12 s": CPU time or the time of a run, to milliseconds where there are some; what a
 * sample stands for is more. Returns out.
 */
const char *lc_emit_time(char *out, size_t out_len, double ns);

#endif
