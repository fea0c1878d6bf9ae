/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/common_counts.h - writes what is counted for all threads together. */
#ifndef LC_ATTRIBUTE_COMMON_COUNTS_H
#define LC_ATTRIBUTE_COMMON_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct lc_block_input;

/*
 * Give a block with the counts of heap/common_counters.h since the last time, if there are any, to
 * `append`, which returns whether it is written; else it is given again. Context: [writer].
 */
void lc_common_counts_write(uint64_t begin_ns, uint64_t end_ns,
                            bool (*append)(const struct lc_block_input *in));

#endif
