/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_run.h - runs a program in rounds, once without a profiler and once with each, and
 * then, for the truth, with delays.
 */
#ifndef LC_AGREE_AGREE_RUN_H
#define LC_AGREE_AGREE_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/agree/agree.h"
#include "analyzer/agree/agree_profilers.h"
#include "src/base/options.h"

struct lc_agree_request {
	char **command;
	struct lc_agree_machine machine;
	const char *directory;  /* new, or empty, or see `resume` */
	const char *profilers;  /* "locus,async,NAME=COMMAND" */
	const char *async_file; /* or NULL */
	uint64_t timeout_ns;    /* of a run; 0: none */
	bool truth;
	const char *truth_at; /* "METHOD,METHOD": where delays go; NULL: the hottest */
	bool resume;          /* runs that `directory` has are kept */
	bool any_stderr, any_output;
};

/* Add the program alone, and the profilers of that list. Returns 0, or an exit status after a line.
 */
int lc_agree_parse_sides(struct lc_agree *a, const char *profilers);

/*
 * Put the runs of q->directory in the place of `a`, which has the profilers that are asked for. The
 * record must be of the same command and profilers. a->rounds is at least that of the record.
 * Returns 0, or an exit status after one line on stderr.
 */
int lc_agree_resume(struct lc_agree *a, const struct lc_agree_request *q);

/*
 * Make the runs of all rounds, or as many as there are until a signal asks us to end, and keep what
 * is known of them after each. The order changes with each round. A side whose first runs all
 * failed is not run any more. Returns 0, or an exit status after one line on stderr.
 */
int lc_agree_run(struct lc_agree *a, struct lc_agree_request *q);

/*
 * The runs with delays: `a` has read all others. Chooses where delays go and how long they are, and
 * keeps the runs in the same record. Returns as lc_agree_run() does.
 */
int lc_agree_run_delays(struct lc_agree *a, struct lc_agree_request *q);

/*
 * Run the program once in run->directory with what `side` and `delays` need, and set the
 * environment back. Returns as lc_agree_run() does.
 */
int lc_agree_start(struct lc_agree_request *q, const struct lc_agree_side *side,
                   struct lc_repeat_run *run, const char *delays);

/* One run, of which everything is kept but the record. Returns as lc_agree_run() does. */
int lc_agree_run_one(struct lc_agree *a, struct lc_agree_request *q,
                     const struct lc_agree_run *which, const char *delays);

#endif
