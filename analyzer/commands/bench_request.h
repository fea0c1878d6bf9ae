/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/bench_request.h - writes the request of `locus bench` to its Java part (src/java/bench),
 * as JSON.
 */
#ifndef LC_COMMANDS_BENCH_REQUEST_H
#define LC_COMMANDS_BENCH_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/commands/bench_choose.h"
#include "analyzer/commands/bench_program.h"

struct lc_bench_request {
	const char *profile; /* as the user named it */
	uint32_t engine;     /* number of the profile's engine, from 1, as --engine takes it */
	struct lc_bench_place place;
	struct lc_bench_words source_path, class_path, against; /* absolute */
	const char *output;                                     /* directory */
	bool run;                                               /* the benchmark, once it is made */
	bool record;                          /* run the program once more for its inputs */
	bool allow_io;                        /* the segment may do input and output */
	const struct lc_bench_words *program; /* argv; none: not known */
	size_t program_main; /* index of the word that names the class; 0: not known */
	const char *program_directory;
	bool as_profiled; /* that run executes what the profile is of, all of it */
	const char *java;
	const struct lc_bench_words *jvm_options;
	unsigned long forks, seconds;
	unsigned inputs;   /* executions whose inputs are kept, at most */
	const char *locus; /* the path of this program */
};

/* The caller looks for errors of `out`. */
void lc_bench_request_write(FILE *out, const struct lc_bench_request *r);

#endif
