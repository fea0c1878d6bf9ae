/* SPDX-License-Identifier: Apache-2.0 */
/* base/jdk_class.h - tells the JDK's classes from those of programs and libraries. */
#ifndef LC_BASE_JDK_CLASS_H
#define LC_BASE_JDK_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Is the class one of the JDK's, by its name as in "java.lang.String"? Pure function. */
static inline bool lc_jdk_class(const char *name, size_t len)
{
	static const char *const packages[] = { "java.", "javax.", "jdk.", "sun.",
		                                "com.sun.proxy." };

	for (size_t i = 0; i < sizeof(packages) / sizeof(*packages); i++)
		if (len >= strlen(packages[i]) && !memcmp(name, packages[i], strlen(packages[i])))
			return true;
	return false;
}

#endif
