/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/bench_consent.h - shows what `locus bench` would run from a profile, and asks whether it
 * may.
 *
 * Anybody can have written a profile. Nothing in the profile, nor its owner, decides whether its
 * command is run: only the user's command line and the user's answer do.
 */
#ifndef LC_COMMANDS_BENCH_CONSENT_H
#define LC_COMMANDS_BENCH_CONSENT_H

#include <stdbool.h>

#include "analyzer/commands/bench_program.h"

/* The command that the profile names; NULL: the user has named one, or none is run. */
struct lc_bench_recorded {
	const struct lc_bench_words *command; /* argv */
	const char *directory;                /* where the command is run */
	const char *java;
	const struct lc_bench_words *class_path;
	const struct lc_bench_words *dropped; /* options that are left out; never NULL */
};

/*
 * A recorded command is run again as it was, or not at all. Returns 0, or an exit status after a
 * line that names what the profile does not have: a secret, or the arguments.
 */
int lc_bench_consent_whole(const struct lc_bench_program *program,
                           const struct lc_load_process *process);

/*
 * Show all of it on stderr, and ask on the terminal unless the user has `agreed` before. Returns 0
 * where the user agrees or nothing of the profile is run, else an exit status after a line on
 * stderr.
 */
int lc_bench_consent(const struct lc_bench_recorded *recorded, bool agreed);

#endif
