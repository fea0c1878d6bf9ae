/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_counts.h - counts the samples of one run by method, for any profiler: parses what
 * profilers write, and writes and reads the common file "methods".
 *
 * A sample counts for the innermost Java method of its stack. Time in native code or in the kernel
 * counts for the Java method that called it, since some profilers see no more. A sample without a
 * Java method (in a collector's or compiler's thread, or in an interpreted frame without a name)
 * counts as a sample, but for no method.
 *
 * A method is its class and name, "java.util.HashMap.merge". Overloads are one method, since most
 * profilers do not tell them apart. Inlined methods count like any others.
 */
#ifndef LC_AGREE_AGREE_COUNTS_H
#define LC_AGREE_AGREE_COUNTS_H

#include <stdint.h>
#include <stdio.h>

#include "analyzer/base/table.h"

struct lc_agree_counts {
	struct lc_table names; /* hashes of names: samples; kept by lc_agree_counts_add() */
	char **texts;          /* of each row of `names` its name */
	size_t texts_len, texts_cap;
	uint64_t samples; /* all of them */
	uint64_t java;    /* of these, those of a method */
};

void lc_agree_counts_init(struct lc_agree_counts *c);
void lc_agree_counts_free(struct lc_agree_counts *c);

/* The name under which `samples` count; "" for those of no method. */
void lc_agree_counts_add(struct lc_agree_counts *c, const char *name, uint64_t samples);

/*
 * The name of a method in the form above: slashes, signatures, return types, the annotations of
 * async-profiler ("_[j]"), and the numbers and addresses of lambdas and hidden classes, which are
 * others in each run, are gone. The caller frees it.
 */
char *lc_agree_name(const char *text);

/*
 * Read collapsed stacks, "frame;frame;frame COUNT" with the innermost frame last. With `annotated`,
 * Java frames are those with async-profiler's annotation. Without, Java frames have a '.' or '/'
 * between two names and no "::". Returns 0, or -EINVAL if a line is malformed.
 */
int lc_agree_read_collapsed(struct lc_agree_counts *c, FILE *in, int annotated);

/* Read the JSON of `jfr print --json` of execution samples. Returns 0 or -EINVAL. */
int lc_agree_read_jfr(struct lc_agree_counts *c, FILE *in);

/*
 * Read the text of `perf script -F pid,ip,sym`: a line with the pid, then one for each frame, which
 * begins with a tab, the innermost first, then an empty one. Returns 0 or -EINVAL.
 */
int lc_agree_read_perf(struct lc_agree_counts *c, FILE *in);

/*
 * Write and read the file "methods": "samples N", then "COUNT NAME" of each method, in no order.
 * Reading returns 0, or -EINVAL.
 */
void lc_agree_write_methods(FILE *out, const struct lc_agree_counts *c);
int lc_agree_read_methods(struct lc_agree_counts *c, FILE *in);

#endif
