/* commands/agent_setting.h - the settings that put the agent into a JVM: libraries and options. */
#ifndef LC_COMMANDS_AGENT_SETTING_H
#define LC_COMMANDS_AGENT_SETTING_H

#include "src/base/options.h"

/* The path of a library of Locus, PATH_MAX bytes. Returns 0, or 1 after one line on stderr. */
int lc_agent_library(const char *name, char *out);

/*
 * A relative directory is meant from here; a script may go elsewhere before it starts the JVM.
 * Returns 0 and makes --output absolute, or an exit status after one line on stderr.
 */
int lc_agent_output(struct lc_options *o);

/*
 * The argument of the JVM, "-agentpath:...=name=value,...", which the caller frees. Returns 0, or 1
 * after one line on stderr.
 */
int lc_agent_argument(const char *library, const struct lc_options *o, char **out);

#endif
