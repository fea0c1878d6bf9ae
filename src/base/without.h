/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/without.h - leaves out parts of the agent, to find what each costs.
 *
 * Only a build for such experiments has it: CPPFLAGS=-DLC_WITHOUT. There LOCUS_WITHOUT in the
 * environment is a list of what to leave out, separated by commas:
 *
 *   classes   class files are not looked at as they are loaded
 *   jdk       the same for the classes of the JDK that are loaded later
 *   program   the same for all other classes
 *   exchange  the classes that are loaded before the agent stay as they are
 *   result    rewritten classes are thrown away, and the JVM gets no other class
 *   hooks     the JVM gets another class, whose bytes are those of the original
 *   calls     hooks are in the code, but instead of the call they drop its arguments
 *   string-calls, array-calls   the same for hooks of strings, for all other hooks
 */
#ifndef LC_BASE_WITHOUT_H
#define LC_BASE_WITHOUT_H

#include <stdbool.h>

#ifdef LC_WITHOUT
#include <stdlib.h>
#include <string.h>

static inline bool lc_without(const char *what)
{
	const char *list = getenv("LOCUS_WITHOUT");
	const size_t len = strlen(what);

	for (; list && *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == len && !memcmp(list, what, len))
			return true;
	return false;
}
#else
static inline bool lc_without(const char *what)
{
	return false;
}
#endif

#endif
