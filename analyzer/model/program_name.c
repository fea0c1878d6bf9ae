/* SPDX-License-Identifier: Apache-2.0 */
/* model/program_name.c - looks for the words of a command that name the program. */
#include "analyzer/model/program_name.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/java_option.h"

/* The word of a java command that names the program, or its first word: a class, or a jar. */
struct lc_text lc_program_name(const char *command)
{
	const char *at = command + strcspn(command, " ");
	struct lc_text found = { command, (uint32_t)(at - command) };
	const bool java = found.len >= 4 && !memcmp(at - 4, "java", 4);

	/* javac, and programs that start a JVM themselves, take options of their own. */
	while (java && *at) {
		const char *word = at + strspn(at, " ");
		size_t len = strcspn(word, " ");

		at = word + len;
		if (len && *word != '-' && *word != '@') {
			found = (struct lc_text){ word, (uint32_t)len };
			break;
		}
		if (lc_java_option_takes_word(word, len)) {
			at += strspn(at, " ");
			at += strcspn(at, " ");
		}
	}
	/* Without its directories; what ends with one is left whole. */
	for (const char *slash; (slash = memchr(found.bytes, '/', found.len)) &&
	                        slash + 1 < found.bytes + found.len;) {
		found.len -= (uint32_t)(slash + 1 - found.bytes);
		found.bytes = slash + 1;
	}
	return found;
}

/* "17.0.15" of "OpenJDK 64-Bit Server VM 17.0.15+6-Debian-1deb12u1". */
struct lc_text lc_program_jdk(const char *jdk)
{
	for (const char *at = jdk; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		if (*at >= '0' && *at <= '9' && strcspn(at, " -") > 3)
			return (struct lc_text){ at, (uint32_t)strcspn(at, "+- ") };
	}
	return (struct lc_text){ jdk, (uint32_t)strlen(jdk) };
}
