/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/glob.h - compares names with patterns, in which '*' stands for any characters and '?' for
 * one. Pure function. Context: any.
 */
#ifndef LC_BASE_GLOB_H
#define LC_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Does all of [name, name_end) match [p, p_end)? `packages`: dots and slashes, which separate
 * packages, are the same. The last '*' is the only one worth retrying.
 */
static inline bool lc_glob(const char *p, const char *p_end, const char *name, const char *name_end,
                           bool packages)
{
	const char *star = NULL, *resume = NULL;

	while (name < name_end) {
		if (p < p_end && *p == '*') {
			star = ++p;
			resume = name;
		} else if (p < p_end && (*p == '?' || *p == *name ||
		                         (packages && ((*p == '.' && *name == '/') ||
		                                       (*p == '/' && *name == '.'))))) {
			p++;
			name++;
		} else if (star) {
			p = star;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (p < p_end && *p == '*')
		p++;
	return p == p_end;
}

#endif
