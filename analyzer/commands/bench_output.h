/* SPDX-License-Identifier: Apache-2.0 */
/* commands/bench_output.h - makes the directory of a benchmark, with the request in it. */
#ifndef LC_COMMANDS_BENCH_OUTPUT_H
#define LC_COMMANDS_BENCH_OUTPUT_H

#include <stdbool.h>

#include "analyzer/commands/bench_request.h"

/* Free with lc_bench_output_free(). */
struct lc_bench_output {
	char *directory;
	char *file; /* of the request */
	bool made;  /* the directory is new */
};

/*
 * Make the directory that r->output names, which may be there and empty; or where that is NULL a
 * new one, named after the place, which r->output then is. Returns 0, or 1 after one line on
 * stderr.
 */
int lc_bench_output_make(struct lc_bench_output *o, struct lc_bench_request *r);

/* Write the request. Returns 0, or 1 after one line on stderr. */
int lc_bench_output_write(const struct lc_bench_output *o, const struct lc_bench_request *r);

/* Nothing came of it: remove the request, and the directory where it is new and empty then. */
void lc_bench_output_remove(const struct lc_bench_output *o);

void lc_bench_output_free(struct lc_bench_output *o);

#endif
