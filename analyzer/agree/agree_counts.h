/*
 * agree/agree_counts.h - the samples of one run by method, whichever profiler took them: parsers of
 * what profilers write, and the file "methods" that they all become.
 *
 * A sample counts for the innermost Java method of its stack: what a profiler saw in native code or
 * in the kernel is time of the Java method that called it, since some profilers see no more. A
 * sample without such a method (a collector's thread, a compiler's, an interpreted frame without a
 * name) is one of the samples and of no method.
 *
 * A method is its class and name, "java.util.HashMap.merge": its overloads are one, since most
 * profilers do not tell them apart. An inlined method is a method as any other.
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
 * Read collapsed stacks, "frame;frame;frame COUNT" with the innermost frame last. Where
 * `annotated`, Java frames are those with async-profiler's annotation; else those with a '.' or '/'
 * between two names and no "::". Returns 0, or -EINVAL: a line is none.
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
