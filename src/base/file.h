/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/file.h - reads small text files of the kernel, such as those of /proc and /sys. Each name is
 * below `root`: "" (or NULL) for the machine, a directory for tests.
 *
 * Context: any that may open a file; no memory is allocated.
 */
#ifndef LC_BASE_FILE_H
#define LC_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The text without the newlines at its end, cut to fit. False where there is none: *out is "". */
bool lc_file_text(const char *root, const char *name, char *out, size_t out_len);

/* The number that the text begins with. False where there is none: *out is undefined. */
bool lc_file_number(const char *root, const char *name, long *out);

bool lc_file_exists(const char *root, const char *name);

#endif
