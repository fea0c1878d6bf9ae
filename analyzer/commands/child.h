/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/child.h - runs a command as a child process. The child keeps our terminal, standard
 * streams and process group, unless it is started apart. Signals sent to us alone are forwarded to
 * it.
 */
#ifndef LC_COMMANDS_CHILD_H
#define LC_COMMANDS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/*
 * Start a command; there is one at a time. Returns 0, or the errno of what failed, with *forked:
 * there was a process, which could not execute it.
 */
int lc_child_start(char *const *command, bool *forked);

/* The standard streams of a command. */
struct lc_child_streams {
	int in, out, err; /* descriptors, which stay the caller's */
};

/*
 * Start a command in a process group of its own, with these streams. A signal that asks us to end
 * (see lc_child_asked()), from the terminal too, is forwarded to the whole group. Returns as
 * lc_child_start() does.
 */
int lc_child_start_apart(char *const *command, const struct lc_child_streams *streams,
                         bool *forked);

/*
 * Wait for the end of a command that was started apart, for `timeout_ns` at most (0: however long
 * it takes), or until we are asked to end. Returns false where it still runs; else sets its status,
 * and what it and the processes that it has waited for used, as wait4() has them.
 */
bool lc_child_wait_for(uint64_t timeout_ns, int *status, struct rusage *usage);

/* Have all processes of that command's group end, at once where they do not within 2 s, and it. */
void lc_child_stop(void);

/*
 * The signal that asked us to end since the first command was started apart, SIGINT, SIGTERM or
 * SIGHUP; 0: none.
 */
int lc_child_asked(void);

/* From now on signals are ours again: they do what they did before the first command. */
void lc_child_leave_signals(void);

/* The status of a process that has ended with this exit status, as waitpid() has it. */
#define LC_CHILD_ENDED(exit_status) ((exit_status) << 8)

/* Wait for its end. Returns its status, as waitpid() has it. */
int lc_child_wait(void);

/* End as the child did, without a core file of our own; returns the exit status that it had. */
int lc_child_end_like(int status);

/* The program that a shell would run, by its name in PATH or its path; false where there is none.
 */
bool lc_child_find(const char *name, char *out, size_t out_len);

#endif
