/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/bench_choose.h - chooses the code for `locus bench`: a line, a method or a class that
 * the user names, or the line with most accesses to a finding's objects.
 *
 * A sample belongs to the innermost frame whose source the user has. Time in a library's method
 * counts for the line that calls the library.
 */
#ifndef LC_COMMANDS_BENCH_CHOOSE_H
#define LC_COMMANDS_BENCH_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/objects/analysis/findings.h"
#include "analyzer/out/source.h"

struct lc_bench_line {
	uint32_t line;
	uint64_t samples; /* that belong to it */
};

/* Free with lc_bench_place_free(). */
struct lc_bench_place {
	char *class;                 /* "org.acme.Outer$Inner" */
	char *method;                /* "" where it is not known */
	char *parameters;            /* "int,String" of the method; NULL: not named */
	uint32_t line;               /* 0: the whole method, or what the class marks */
	struct lc_bench_line *lines; /* of the method that have either, in their order */
	size_t lines_len;
	uint64_t method_samples; /* those without a line, too */
	uint64_t sample_ns;      /* CPU time that a sample stands for; 0: it stands for no time */
	char *finding;           /* its text; "" where the user has named the place */
};

/* The data from which a place is chosen. */
struct lc_bench_of {
	const struct lc_tree *tree;
	uint32_t engine;
	struct lc_source *source;
};

/*
 * A place as --at names it, "CLASS:LINE", "CLASS#METHOD", "CLASS#METHOD(TYPE,...)", or "CLASS"
 * for what its source marks, with nothing of a profile yet: `method` is "", or `line` 0, or both.
 * Returns 0, or LC_EXIT_USAGE after one line on stderr, with *p untouched.
 */
int lc_bench_place_parse(struct lc_bench_place *p, const char *at);

/*
 * Add the profile's data to the place: the method around the line, and its samples. If only a class
 * inside the named class has samples at the line, that class becomes the place's.
 */
void lc_bench_place_look(struct lc_bench_place *p, const struct lc_bench_of *of);

/*
 * The place of the first finding whose objects are accessed by code that there is a source of.
 * Returns that finding; NULL: there is none, and *p is untouched.
 */
const struct lc_finding *lc_bench_place_find(struct lc_bench_place *p, const struct lc_bench_of *of,
                                             const struct lc_findings *findings);

void lc_bench_place_free(struct lc_bench_place *p);

#endif
