/* SPDX-License-Identifier: Apache-2.0 */
/* out/source.h - finds lines of source files, in directories and jars. */
#ifndef LC_OUT_SOURCE_H
#define LC_OUT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/tree.h"

struct lc_source; /* opaque, see source.c */

/*
 * Open each directory and jar (or other zip, such as a JDK's src.zip) of `path`, separated by
 * ':'. One that cannot be read is left out, and costs one line on stderr. Free it with
 * lc_source_close().
 */
struct lc_source *lc_source_open(const char *path);

/* Was anything so far not readable? NULL is fine. */
bool lc_source_unreadable(const struct lc_source *s);

void lc_source_close(struct lc_source *s); /* NULL is fine */

/*
 * A line (from 1) of the file that a class was compiled from, without its newline, any bytes;
 * empty length and NULL where there is no such file or line. Valid until lc_source_close().
 * The file is read once. `class_name` gives the package, `file` the name in it.
 */
struct lc_text lc_source_line(struct lc_source *s, struct lc_text class_name, struct lc_text file,
                              uint32_t line);

#endif
