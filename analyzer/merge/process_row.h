/* merge/process_row.h - what a merged profile's manifest says of a process. */
#ifndef LC_MERGE_PROCESS_ROW_H
#define LC_MERGE_PROCESS_ROW_H

#include "analyzer/model/load.h"

/*
 * The row of `processes` as JSON text without its last member and brace, for free():
 * lc_merge_process_put() writes them. A row that is read and made again is the same. Stops the
 * program without memory.
 */
char *lc_merge_process_row(const struct lc_load_process *p);

/* Write the row, with the end of the process's last block. */
void lc_merge_process_put(FILE *out, const char *row, uint64_t last_block_ns);

#endif
