/* SPDX-License-Identifier: Apache-2.0 */
/* model/program_name.h - says in short what was recorded: a program and its JDK. */
#ifndef LC_MODEL_PROGRAM_NAME_H
#define LC_MODEL_PROGRAM_NAME_H

#include "analyzer/model/tree.h"

/* The word of a java command that names the program, or its first word: a class, or a jar. */
struct lc_text lc_program_name(const char *command);

/* "17.0.15" of "OpenJDK 64-Bit Server VM 17.0.15+6-Debian"; all of it where there is no such word.
 */
struct lc_text lc_program_jdk(const char *jdk);

#endif
