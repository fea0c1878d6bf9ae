/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/agent_setting.h - makes the settings that load the agent into a JVM: libraries and
 * options.
 */
#ifndef LC_COMMANDS_AGENT_SETTING_H
#define LC_COMMANDS_AGENT_SETTING_H

#include <stdbool.h>

#include "src/base/options.h"

/* The path of a library of Locus, PATH_MAX bytes. Returns 0, or 1 after one line on stderr. */
int lc_agent_library(const char *name, char *out);

/*
 * A relative directory is meant from here; a script may go elsewhere before it starts the JVM.
 * Returns 0 and makes --output absolute, or an exit status after one line on stderr.
 */
int lc_agent_output(struct lc_options *o);

/*
 * A wrong --event is refused before a program starts. An event that is right but that this machine
 * does not have is left to the agent, which says so and falls back. Returns 0, or an exit status
 * after one line on stderr.
 */
int lc_agent_check_events(const struct lc_options *o);

/*
 * Have the programs that are started from now on load the preloaded library, behind those that
 * LD_PRELOAD names already. Returns 0, or 1 after one line on stderr.
 */
int lc_agent_preload(const char *library);

/*
 * Have the JVMs in programs that are started from now on load the agent, with these options.
 * Returns 0 and the argument of the JVM, which the caller frees, or 1 after one line on stderr.
 */
int lc_agent_launch(const char *library, const struct lc_options *o, char **argument);

/* Exit statuses of a command that cannot be started, as a shell has them. */
enum { LC_AGENT_STATUS_NOT_FOUND = 127, LC_AGENT_STATUS_NOT_EXECUTABLE = 126 };

/*
 * One line on stderr: lc_child_start() returned `err`, and set `forked`. Returns the exit status
 * that says so.
 */
int lc_agent_not_started(const char *command, int err, bool forked);

/*
 * The argument of the JVM, "-agentpath:...=name=value,...", which the caller frees. Returns 0, or 1
 * after one line on stderr.
 */
int lc_agent_argument(const char *library, const struct lc_options *o, char **out);

#endif
