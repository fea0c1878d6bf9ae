/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/inside.h - the libraries that an executable in one file carries (scripts/one-file): a zip
 * archive behind its last section, with a comment that differs where the libraries differ.
 */
#ifndef LC_CLI_INSIDE_H
#define LC_CLI_INSIDE_H

/*
 * Write the library `name` that `executable` carries to a directory that only this user can write,
 * unless it is there already, and give its path in the PATH_MAX bytes of `out`. It stays there:
 * programs that are recorded have it mapped, and programs that they start later load it.
 *
 * Returns 0, -ENOENT where the executable carries no such library, or another -errno where it can
 * be written nowhere. `error` has `error_len` bytes; with any status but 0 and -ENOENT it says in
 * one line what is wrong.
 */
int lc_inside_find(const char *executable, const char *name, char *out, char *error,
                   unsigned long error_len);

#endif
