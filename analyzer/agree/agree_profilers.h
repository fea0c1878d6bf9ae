/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_profilers.h - finds each profiler, starts it beside a program, and collects its
 * results.
 *
 * An agent or JVM option goes into JAVA_TOOL_OPTIONS, so it reaches the JVMs that a script starts.
 * The line that HotSpot prints about that variable is not the program's output.
 */
#ifndef LC_AGREE_AGREE_PROFILERS_H
#define LC_AGREE_AGREE_PROFILERS_H

#include <limits.h>

#include "analyzer/agree/agree.h"
#include "analyzer/agree/agree_counts.h"
#include "src/base/options.h"

/* The machine's part of the runs: options, libraries, tools and environment. */
struct lc_agree_machine {
	struct lc_options options; /* Locus's own; `output` is set for each run */
	char locus[PATH_MAX], preload[PATH_MAX], delay[PATH_MAX]; /* Locus's libraries */
	char async[PATH_MAX];                                     /* async-profiler's library */
	char jfr[PATH_MAX];                                       /* the JDK's command */
	const char *preloaded, *tool_options;                     /* of our environment, or NULL */
};

/* A run that begins: where it writes, and the delays that it has. */
struct lc_agree_begin {
	const char *directory; /* absolute */
	const char *delays;    /* of liblocus-delay.so, "at=..."; NULL: none */
};

/*
 * Look for what `side` needs, in a place below `directory`, which is new: a library is taken out of
 * its jar there. `async_file` is --async-profiler, or NULL. Sets side->about, or side->absent with
 * the reason. `command` is the program's.
 */
void lc_agree_find_profiler(struct lc_agree_machine *m, struct lc_agree_side *side,
                            const char *async_file, const char *directory, char *const *command);

/*
 * Set the environment for a run of that side, and return its command, which the caller frees (the
 * words are not its own), or NULL after one line on stderr.
 */
char **lc_agree_launch(struct lc_agree_machine *m, const struct lc_agree_side *side,
                       const struct lc_agree_begin *begin, char **command, char **own);

/* The environment is again as it was. */
void lc_agree_restore(const struct lc_agree_machine *m);

/*
 * Read what the profiler wrote in the run's directory. Returns NULL, or why there is nothing to be
 * counted, which the caller frees.
 */
char *lc_agree_read_output(const struct lc_agree_machine *m, const struct lc_agree_side *side,
                           struct lc_repeat_run *run, struct lc_agree_counts *counts);

#endif
