/* SPDX-License-Identifier: Apache-2.0 */
/* base/java_option.h - what the launcher and the command have to know of the options of java. */
#ifndef LC_BASE_JAVA_OPTION_H
#define LC_BASE_JAVA_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Is the value of this option of java's, of `len` bytes, the next word? */
static inline bool lc_java_option_takes_word(const char *word, size_t len)
{
	static const char *const options[] = {
		"-cp",
		"-classpath",
		"--class-path",
		"-p",
		"--module-path",
		"--upgrade-module-path",
		"--add-modules",
		"--limit-modules",
		"--add-reads",
		"--add-exports",
		"--add-opens",
		"--patch-module",
		"--enable-native-access",
		"--source",
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strncmp(word, options[i], len) == 0 && options[i][len] == '\0')
			return true;
	return false;
}

#endif
