/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat_record.h - stores the runs' results in their directory, so that they survive a
 * failure before the last run: DIR/runs.json, and DIR/run-001/ and so on with stdout, stderr and
 * profile-PID/.
 */
#ifndef LC_REPEAT_REPEAT_RECORD_H
#define LC_REPEAT_REPEAT_RECORD_H

#include <jansson.h>
#include <stdbool.h>

#include "analyzer/out/json.h"
#include "analyzer/repeat/repeat.h"
#include "analyzer/repeat/repeat_run.h"

#define LC_REPEAT_RECORD "runs.json"
#define LC_REPEAT_STDOUT "stdout"
#define LC_REPEAT_STDERR "stderr"
#define LC_REPEAT_PROFILE "profile-" /* and the process ID */

/* "run-001"; free it. */
char *lc_repeat_record_name(size_t number);

/* Write DIR/runs.json of all runs so far. Returns 0, or 1 after one line on stderr. */
int lc_repeat_record_write(const struct lc_repeat *r, const struct lc_repeat_request *q);

/* Add the profiles that are in the run's directory, in the order of their names. */
void lc_repeat_record_profiles(struct lc_repeat_run *run);

/* Is there such a file in the directory? */
bool lc_repeat_record_in(const char *directory);

/*
 * Add the runs of a directory, with the profiles that are there. The first one's command is that of
 * `r`. Returns 0, or 1 after one line on stderr.
 */
int lc_repeat_record_read(struct lc_repeat *r, const char *directory);

/* The members of a run's object that say how it ended and what it took, and what they say again. */
void lc_repeat_record_put_run(struct lc_json *j, const struct lc_repeat_run *run);
void lc_repeat_record_read_run(struct lc_repeat_run *run, const json_t *row);

/* A member of an object that a record has; -1: null, below 0, or none. */
double lc_repeat_record_number(const json_t *object, const char *name);

/* The member "command" of a record, without secrets. */
void lc_repeat_record_put_command(struct lc_json *j, char *const *command,
                                  const struct lc_options *options);

/* The words of that member with spaces between. The caller frees it. */
char *lc_repeat_record_command(const json_t *root);

#endif
