/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/row_set.h - has the numbers of several rows of a ranking together. */
#ifndef LC_OBJECTS_ANALYSIS_ROW_SET_H
#define LC_OBJECTS_ANALYSIS_ROW_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/objects/analysis/ranking.h"

/* Is the row one of them? */
bool lc_row_set_has(const struct lc_rank_row *const *rows, size_t len,
                    const struct lc_rank_row *row);

/*
 * The variance that estimated lines add to the rows' samples. The samples of a class are known;
 * which of its lines they belong to is estimated. So the sum over some of its rows has the error of
 * those that are left out, if that is smaller, and that of all its rows has none.
 */
double lc_row_set_variance(const struct lc_ranking *r, const struct lc_rank_row *const *rows,
                           size_t len);

/* The share of the rows in all samples, and its 95% interval. */
void lc_row_set_share(const struct lc_ranking *r, const struct lc_rank_row *const *rows, size_t len,
                      double *share, double *low, double *high);

#endif
