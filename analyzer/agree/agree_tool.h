/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_tool.h - runs another tool's command to its end, with its output in a file. */
#ifndef LC_AGREE_AGREE_TOOL_H
#define LC_AGREE_AGREE_TOOL_H

#include <stdbool.h>

/*
 * Run the command; its standard output goes to the file `out`, its standard error to the file
 * `err` (NULL: nowhere). Returns whether it ended with status 0.
 */
bool lc_agree_tool(const char *const *command, const char *out, const char *err);

/* The first line of a file, for people; NULL where there is none. The caller frees it. */
char *lc_agree_first_line(const char *path);

#endif
