/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/merge_options.h - reads the options that `locus merge` and `locus-mpi merge` share, and
 * limits their memory.
 */
#ifndef LC_COMMANDS_MERGE_OPTIONS_H
#define LC_COMMANDS_MERGE_OPTIONS_H

#include <stddef.h>

#include "analyzer/commands/merge_choice.h"
#include "analyzer/merge/reduce.h"
#include "src/base/options.h"

/* All zero at first; free with lc_merge_options_free(). */
struct lc_merge_options {
	const char *output; /* the caller's; NULL: none was named */
	struct lc_reduce_options reduce;
	struct lc_merge_choice choice;
};

/*
 * The rows of the options that both commands have, and behind them a command's own: `*count` in
 * all. Static: the table of the last call.
 */
const struct lc_option_info *lc_merge_option_table(const struct lc_option_info *own, size_t own_len,
                                                   size_t *count);

/*
 * Take the value of row `row` of that table, which stays the caller's. Returns -1 where the row is
 * one that both have, with *status then 0, or an exit status after one line on stderr; else the
 * number of the command's own row.
 */
int lc_merge_option_set(struct lc_merge_options *o, int row, const char *value, int *status);

/*
 * Check what was set, with `count` profiles to merge. Returns 0, or an exit status after one line
 * on stderr. After it *o stays where it is: `reduce` refers to `choice`.
 */
int lc_merge_options_check(struct lc_merge_options *o, size_t count);
void lc_merge_options_free(struct lc_merge_options *o);

/* Have the kernel keep --max-memory, if it was set, from now on. */
void lc_merge_limit_memory(const struct lc_merge_options *o);

#endif
