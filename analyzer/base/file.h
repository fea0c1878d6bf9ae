/* SPDX-License-Identifier: Apache-2.0 */
/* base/file.h - opens files that another user may have created. */
#ifndef LC_BASE_FILE_H
#define LC_BASE_FILE_H

/*
 * Open a file for reading, from the directory `at` as openat() has it; a link is followed. A pipe
 * would keep us waiting, and a device may have no end. Returns its descriptor, or -errno; -ENOTSUP:
 * it is something else than a regular file.
 */
int lc_file_open(int at, const char *path);

/* Explain a -errno of lc_file_open() or of a read, for a line on stderr. */
const char *lc_file_error(int err);

#endif
