/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/attach_request.h - asks the agent in a JVM for something, and waits for its answer.
 *
 * The JVM only loads a library and passes a text to it (src/agent/agent_attach.h). The agent
 * answers in a file that lc_attach_request() makes, with a name that nobody can guess, and removes
 * as soon as the agent has it open.
 */
#ifndef LC_COMMANDS_ATTACH_REQUEST_H
#define LC_COMMANDS_ATTACH_REQUEST_H

#include <sys/types.h>

struct lc_attach_target;

/* Reads an answer, which it may change. Returns the command's exit status. NULL: print it. */
struct lc_attach_reader {
	int (*read)(void *context, char *answer);
	void *context;
	unsigned seconds; /* that pass before the answer, besides the usual ones */
};

/*
 * Have the agent in `library` do `command`, and give its answer to the reader, or print it without
 * one. A refusal is printed on stderr. Returns the exit status. Call it as the JVM's user.
 */
int lc_attach_request(const struct lc_attach_target *t, const char *library, const char *command,
                      const char *options, const struct lc_attach_reader *reader);

/*
 * Have the agent write its profile, and set *directory to where it is, as we see it; the caller
 * frees it. Returns 0, or the exit status after one line; *directory may be NULL then. Call it as
 * the JVM's user.
 */
int lc_attach_dump(const struct lc_attach_target *t, const char *library, char **directory);

/* A process ID on the command line. Returns 0, or an exit status after one line. */
int lc_attach_pid(const char *text, pid_t *out);

#endif
