/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/periods.h - finds the profiles that one operand of a command stands for: the directory
 * itself, or the profiles of periods in a directory that --loop made.
 */
#ifndef LC_MODEL_PERIODS_H
#define LC_MODEL_PERIODS_H

#include <stdbool.h>
#include <stddef.h>

struct lc_periods {
	char **paths; /* of profiles, in the order of time; owned */
	size_t len;
	bool loop; /* they are periods of one recording; else `paths` is the operand alone */
};

/*
 * Find the profiles of `path`. A directory is one of --loop where it is no profile itself and has
 * directories of such names that are. Free *out with lc_periods_free(). Context: the analyzer.
 */
void lc_periods_find(const char *path, struct lc_periods *out);
void lc_periods_free(struct lc_periods *p);

/* "000003" of the path of a period. */
const char *lc_period_name(const char *path);

#endif
