/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/output.h - writes the directory of the merged profile. While the profile is incomplete,
 * nothing in the directory can be taken for one.
 *
 * Files are written under names that end in ".part". When all files are complete they are renamed,
 * the manifest last.
 */
#ifndef LC_MERGE_OUTPUT_H
#define LC_MERGE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lc_merge_output {
	const char *dir;
	bool made;    /* it was not there */
	char **names; /* of files, without ".part" */
	size_t names_len, names_cap;
};

/*
 * Make the directory, or take an empty one. From now on until lc_merge_output_end(), an exit()
 * removes what is in it. One at a time. Returns 0, or 1 after a line on stderr.
 */
int lc_merge_output_begin(struct lc_merge_output *o, const char *dir);

/*
 * Make a file of that name; NULL after a line on stderr. Reading from it is possible. Close it with
 * lc_merge_output_close().
 */
FILE *lc_merge_output_file(struct lc_merge_output *o, const char *name);

/* Returns 0, or 1 after a line on stderr where not all could be written. `out` is closed. */
int lc_merge_output_close(struct lc_merge_output *o, const char *name, FILE *out);

/* Remove a file that was made. */
void lc_merge_output_remove(struct lc_merge_output *o, const char *name);

/*
 * All is written (`whole`): the files get their names, in the order in which they were made.
 * Otherwise they are removed, and the directory too if it was made. Returns 0, or 1 after a line on
 * stderr and having removed them.
 */
int lc_merge_output_end(struct lc_merge_output *o, bool whole);

#endif
