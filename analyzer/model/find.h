/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/find.h - finds the profiles below a directory, for example those of many hosts that were
 * copied or mounted under one root.
 */
#ifndef LC_MODEL_FIND_H
#define LC_MODEL_FIND_H

#include <stddef.h>

/* A directory that could not be looked into. */
struct lc_find_problem {
	char *path;
	const char *why; /* static storage */
};

struct lc_find {
	char **paths; /* profiles, and directories that --loop made; in the order of their bytes */
	size_t len, cap;
	struct lc_find_problem *problems;
	size_t problems_len, problems_cap;
};

/*
 * Add the profiles in `root` and in directories below it, or `root` itself if it is a profile. The
 * search does not look inside profiles. It does not follow links to directories below `root`, so it
 * finds no profile twice. It skips directories that vanish meanwhile. *out is all zero at first.
 */
void lc_find_profiles(const char *root, struct lc_find *out);
void lc_find_free(struct lc_find *f);

#endif
