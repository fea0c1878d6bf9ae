/* SPDX-License-Identifier: Apache-2.0 */
/* base/new_directory.h - makes the directory that a command writes into. */
#ifndef LC_BASE_NEW_DIRECTORY_H
#define LC_BASE_NEW_DIRECTORY_H

#include <stdbool.h>

/*
 * Make `path`, for its owner alone; one that is there already has to be empty. Returns 0 and sets
 * *made (it was not there), or 1 after one line on stderr.
 */
int lc_new_directory(const char *path, bool *made);

/*
 * Is `path` not there, or an empty directory? Returns 0 and sets *there, or 1 after one line on
 * stderr.
 */
int lc_new_directory_check(const char *path, bool *there);

#endif
