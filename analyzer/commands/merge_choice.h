/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/merge_choice.h - reads the options that choose what a merge reads: the time of each
 * profile, its processes, and the labels that these get.
 */
#ifndef LC_COMMANDS_MERGE_CHOICE_H
#define LC_COMMANDS_MERGE_CHOICE_H

#include "analyzer/cli/choose.h"
#include "analyzer/merge/asked.h"

/* Rows of its options; those of cli/choose.h are among them. */
#define LC_MERGE_ROW_LABEL                                                                         \
	{                                                                                          \
		"label", 0, "STRING", "KEY=VALUE", "", "",                                         \
		    "add this label to each process that has no label KEY (repeatable)"            \
	}
#define LC_MERGE_ROW_SINCE                                                                         \
	{                                                                                          \
		"since", 0, "STRING", "TIME", "", "",                                              \
		    "merge only what was recorded from TIME on: 14:30, '2026-11-24 14:30:05', "    \
		    "or 1h (before now)"                                                           \
	}
#define LC_MERGE_ROW_UNTIL                                                                         \
	{                                                                                          \
		"until", 0, "STRING", "TIME", "", "", "merge only what was recorded before TIME"   \
	}

/* All zero at first; free with lc_merge_choice_free(). */
struct lc_merge_choice {
	struct lc_where_terms where;
	struct lc_by by;
	json_t *labels;             /* object; NULL: none */
	uint64_t now_ns;            /* of the first time that was given */
	struct lc_load_range range; /* by the wall clock */
};

/*
 * Set the option of a row. Returns whether it is one of those above, --where or --by, with *status
 * then 0, or LC_EXIT_USAGE after one line on stderr.
 */
bool lc_merge_choice_set(struct lc_merge_choice *in, const struct lc_option_info *row,
                         const char *value, int *status);

/* The choice as the merge takes it; `in` must outlive it. */
struct lc_merge_asked lc_merge_choice_asked(const struct lc_merge_choice *in);

void lc_merge_choice_free(struct lc_merge_choice *in);

#endif
