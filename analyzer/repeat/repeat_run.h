/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat_run.h - runs a program several times under Locus, one run after the other, each in
 * a directory of its own for its output, its standard error and its profiles.
 */
#ifndef LC_REPEAT_REPEAT_RUN_H
#define LC_REPEAT_REPEAT_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/repeat/repeat.h"
#include "src/base/options.h"

struct lc_repeat_request {
	char **command;
	struct lc_options options; /* of the agent; `output` is set for each run */
	const char *directory;     /* new, or empty */
	size_t runs;
	uint64_t timeout_ns; /* of a run; 0: none */
};

/*
 * Make the runs, or as many as there are until a signal asks us to end or the first three have all
 * failed or not ended in time, and keep what is known of
 * them in the directory after each. The program has no standard input, a process group of its own,
 * and our environment. Sets r->asked and adds to r->runs; profiles are found by
 * lc_repeat_record_read(). Returns 0, or an exit status after one line on stderr.
 */
int lc_repeat_run(struct lc_repeat *r, struct lc_repeat_request *q);

/*
 * Make run->directory and run a command once, as lc_repeat_run() does, for `timeout_ns` at most (0:
 * without end): sets what it took, or leaves the run out with the reason. Returns 0, or an exit
 * status after one line on stderr where it cannot be started.
 */
int lc_repeat_run_once(struct lc_repeat_run *run, char *const *command, uint64_t timeout_ns);

/* Show "run 3 of 30, 1 failed, 4 min left"; `begin_ns` is when the first one began. */
void lc_repeat_say_progress(const struct lc_repeat *r, size_t number, size_t of, uint64_t begin_ns);

#endif
