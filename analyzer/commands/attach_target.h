/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/attach_target.h - examines the process to attach to: whether it is a JVM that answers,
 * its user, and its view of the file system.
 */
#ifndef LC_COMMANDS_ATTACH_TARGET_H
#define LC_COMMANDS_ATTACH_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct lc_attach_target {
	pid_t pid;
	pid_t inner_pid; /* as the process knows itself, in its own namespace */
	uid_t uid;       /* effective */
	gid_t gid;
	bool elsewhere;         /* it has another root, or other mounts */
	char root[32];          /* "/proc/PID/root" */
	char library[PATH_MAX]; /* of the agent that is loaded in it, as it sees it; or "" */
};

/*
 * Look at the process. Returns 0, or 1 after one line on stderr: no such process, another user's,
 * no JVM, a stopped one, or one that is not to be attached to.
 */
int lc_attach_look(pid_t pid, struct lc_attach_target *out);

/* Become the user of the process, for good: what is made now is its own. Returns 0, or 1 likewise.
 */
int lc_attach_become(const struct lc_attach_target *t);

/*
 * Find the path by which the process can load the agent's library `here`: the same path, or a copy
 * below its /tmp. Call it as the process's user. Returns 0, or 1 after one line.
 */
int lc_attach_library(const struct lc_attach_target *t, const char *here, char out[PATH_MAX]);

/*
 * Is the process stopped, or about to be? The signal waits until a thread takes it. That thread
 * stops at once, and the others when they next run, which a busy machine puts off.
 */
bool lc_attach_stopped(pid_t pid);

/* Is the process still there? */
bool lc_attach_alive(const struct lc_attach_target *t);

#endif
