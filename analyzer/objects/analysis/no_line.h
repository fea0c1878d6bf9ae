/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/no_line.h - tells why a row of a ranking has no line of allocation, and which
 * classes to track to get the lines.
 */
#ifndef LC_OBJECTS_ANALYSIS_NO_LINE_H
#define LC_OBJECTS_ANALYSIS_NO_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/objects/analysis/ranking.h"

enum lc_no_line {
	LC_LINE_KNOWN, /* maybe as an estimate; or rows are not by line */
	LC_LINE_UNKNOWN,
	/* The objects are older than the attach, or than the choice of --track hot: they moved
	 * since, or the class is tracked. */
	LC_LINE_BEFORE,
	/* The class is tracked, and the collector moves small objects unseen. */
	LC_LINE_COLLECTOR,
};

enum lc_no_line lc_no_line_of(const struct lc_ranking *rank, const struct lc_rank_row *row);

/* Its word in JSON; NULL where the line is known. Static storage. */
const char *lc_no_line_word(enum lc_no_line why);

/*
 * Text in place of the line, "made before tracking"; NULL where the row names a line, or
 * nothing more is known. Static storage.
 */
const char *lc_no_line_text(const struct lc_ranking *rank, const struct lc_rank_row *row);

enum { LC_TRACK_FROM_ROWS = 8 };

/*
 * The classes of those of the first rows that have no line, each once, in the order of the rows.
 * Returns how many.
 */
size_t lc_no_line_classes(const struct lc_ranking *rank, uint32_t out[LC_TRACK_FROM_ROWS]);

#endif
