/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/replace.h - writes a file so that its name stands for the old content or for all of the new
 * one, never for a part.
 */
#ifndef LC_BASE_REPLACE_H
#define LC_BASE_REPLACE_H

#include <stdio.h>

struct lc_replace {
	FILE *out;
	char *temporary; /* beside the file; NULL: written to directly, as a device or a pipe is */
	char *name;
};

/*
 * Begin to write the file `name`. A link is not followed, but for those in /dev and /proc, which
 * stand for open files. Returns 0, or -errno; -ELOOP is a link.
 */
int lc_replace_begin(struct lc_replace *r, const char *name);

/* All is written, as far as `out` has no error: rename. Returns 0, or -errno after removing it. */
int lc_replace_end(struct lc_replace *r);

/* The file `name` is what `put` writes of `of`. Returns 0, or 1 after one line on stderr. */
int lc_replace_whole(const char *name, void (*put)(FILE *out, const void *of), const void *of);

#endif
