/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_record.h - keeps the runs and their results in a directory: DIR/agree.json, and for
 * each run a directory with stdout, stderr, its profiler's output, and "methods" (agree_counts.h).
 */
#ifndef LC_AGREE_AGREE_RECORD_H
#define LC_AGREE_AGREE_RECORD_H

#include <stdbool.h>

#include "analyzer/agree/agree.h"

struct lc_agree_request;

/* "round-001-locus", "round-001-locus-delay-2"; free it. */
char *lc_agree_record_name(const struct lc_agree *a, const struct lc_agree_run *run);

/*
 * Write DIR/agree.json of all runs so far, with the command as its options for secrets ask. Returns
 * 0, or 1 after one line on stderr.
 */
int lc_agree_record_write(const struct lc_agree *a, const struct lc_agree_request *q);

/*
 * Read it into `a`, which is new, without what the runs wrote. `resume`: leave out interrupted
 * runs, which are to be made again. Returns 0, or 1 after one line on stderr.
 */
int lc_agree_record_load(struct lc_agree *a, const char *directory, bool resume);

/*
 * Read it, and the methods of all runs, into `a`, which is new. Runs whose output differs, or that
 * wrote to standard error, are left out unless they are allowed; then lc_agree_finish(). Returns 0,
 * or 1 after one line on stderr.
 */
int lc_agree_record_read(struct lc_agree *a, const char *directory, bool any_stderr,
                         bool any_output);

#endif
