/* SPDX-License-Identifier: Apache-2.0 */
/* model/merge_writer.h - writes a tree as blocks. */
#ifndef LC_MODEL_MERGE_WRITER_H
#define LC_MODEL_MERGE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/model/tree.h"

struct lc_merge_writer; /* opaque, see merge_writer.c */

/* Keeps its memory from tree to tree. Stops the program without memory. */
struct lc_merge_writer *lc_merge_writer_create(void);
void lc_merge_writer_free(struct lc_merge_writer *w);

/*
 * Append all of *t to `out`: as blocks of its one thread when it has exactly one and
 * `keep_thread`, else as blocks of all threads. Returns how many blocks, or -errno of the write.
 * The caller flushes `out`.
 */
int lc_merge_write(struct lc_merge_writer *w, const struct lc_tree *t, bool keep_thread, FILE *out);

#endif
