/* SPDX-License-Identifier: Apache-2.0 */
/* cli/libraries.h - finds Locus's own libraries, and checks where profiles can be written. */
#ifndef LC_CLI_LIBRARIES_H
#define LC_CLI_LIBRARIES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { LC_LIBRARIES_ERROR_MAX = 3 * PATH_MAX };

/*
 * The path of this executable in the PATH_MAX bytes of `out`: as the kernel was given it where
 * there is no /proc. Returns false with errno set where nothing tells.
 */
bool lc_libraries_self(char *out);

/*
 * The path of one of our libraries ("liblocus.so"): written from the executable, if that carries
 * libraries (cli/inside.h); beside the executable, as built; or in ../lib/locus, as installed.
 * `out` has PATH_MAX bytes, `error` LC_LIBRARIES_ERROR_MAX. Returns 0, or -ENOENT, or -EINVAL for a
 * path that LD_PRELOAD and the JVM's options cannot express, or another -errno where the carried
 * library cannot be written; then *error says in one line what is wrong and what to do.
 */
int lc_libraries_find(const char *name, char *out, char *error);

/*
 * The deepest directory of `path` that exists. Returns false, errno set, where that is not a
 * directory or cannot be looked at.
 */
bool lc_libraries_deepest_directory(const char *path, char *out, size_t out_len);

/*
 * Try in `directory` what the agent will do: make a directory and write a file. Leaves nothing
 * behind. Returns false with errno set.
 */
bool lc_libraries_writable(const char *directory);

#endif
