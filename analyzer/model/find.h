/*
 * model/find.h - finds the profiles below a directory: those of many hosts that were copied or
 * mounted under one root, say.
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
 * Add the profiles in `root` and in directories below it, or `root` itself where it is one. What is
 * inside a profile is not looked at; links to directories below `root` are not followed, so that
 * none is found twice; a directory that vanishes meanwhile is passed over. *out is all zero at
 * first.
 */
void lc_find_profiles(const char *root, struct lc_find *out);
void lc_find_free(struct lc_find *f);

#endif
