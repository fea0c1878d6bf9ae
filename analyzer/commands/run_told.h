/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/run_told.h - learns from the preloaded library whether `locus run` started a JVM, and
 * says why there is no profile.
 */
#ifndef LC_COMMANDS_RUN_TOLD_H
#define LC_COMMANDS_RUN_TOLD_H

struct lc_run_told {
	int read, write; /* ends of a pipe; -1: there is none, and nothing is learnt */
};

/* Open the pipe and name it in the environment. The ends are not inherited. */
void lc_run_told_begin(struct lc_run_told *t);

/*
 * Why the command has left no profile: one line, which the caller frees. `where` names the place of
 * what the agent has said.
 */
char *lc_run_told_why(const struct lc_run_told *t, const char *command, const char *where);

void lc_run_told_end(struct lc_run_told *t);

#endif
