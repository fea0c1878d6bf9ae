/* SPDX-License-Identifier: Apache-2.0 */
/* merge/process_row.h - writes the row of a process for a merged profile's manifest. */
#ifndef LC_MERGE_PROCESS_ROW_H
#define LC_MERGE_PROCESS_ROW_H

#include "analyzer/merge/inputs.h"

/*
 * The row of `processes` as JSON text without its last members and brace, for free():
 * lc_merge_process_put() writes them. A row that is read and made again is the same. Stops the
 * program without memory.
 */
char *lc_merge_process_row(const struct lc_load_process *p);

/* Read a row. Free with lc_load_process_free(). */
void lc_merge_process_read(struct lc_load_process *p, const char *row);

/* Write the row of a process, with what reading its blocks has shown. */
void lc_merge_process_put(FILE *out, const struct lc_merge_process *p);

#endif
