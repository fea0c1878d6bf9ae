/* SPDX-License-Identifier: Apache-2.0 */
/* commands/child.c - starts a command, forwards signals to it, and ends as it did. */
#include "analyzer/commands/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/time.h"

static const uint64_t stop_ns = 2000000000; /* from SIGTERM to SIGKILL */
static const uint64_t look_ns = 1000000000; /* at most, between two looks whether it has ended */

/* written by: start(), before a signal can come; read by on_signal() */
static volatile sig_atomic_t child_pid;
static volatile sig_atomic_t apart;
static volatile sig_atomic_t asked; /* written by: on_signal() */

static const int forwarded[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
enum { FORWARDED_COUNT = sizeof(forwarded) / sizeof(forwarded[0]) };
static struct sigaction before_forwarding[FORWARDED_COUNT];
static bool is_forwarding, stopping;

/*
 * The terminal sends its signals to the child as well, unless that is apart; only those of other
 * processes are ours.
 */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	int err = errno;

	if (apart && (sig == SIGINT || sig == SIGTERM || sig == SIGHUP))
		asked = sig;
	if (child_pid > 0 && apart)
		kill(-child_pid, sig);
	else if (info->si_code <= 0 && child_pid > 0 && info->si_pid != child_pid)
		kill(child_pid, sig);
	errno = err;
}

static void forward_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_signal,
		                    .sa_flags = SA_SIGINFO | SA_RESTART };

	for (size_t i = 0; i < FORWARDED_COUNT && !is_forwarding; i++)
		if (sigaction(forwarded[i], NULL, &before_forwarding[i]) == 0 &&
		    before_forwarding[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL); /* exec sets it to default */
	is_forwarding = true;
}

/* In the child. */
static void set_apart(const struct lc_child_streams *streams)
{
	setpgid(0, 0);
	dup2(streams->in, STDIN_FILENO);
	dup2(streams->out, STDOUT_FILENO);
	dup2(streams->err, STDERR_FILENO);
}

/* The child reports a failed exec through a pipe that a successful one closes. */
static int start(char *const *command, const struct lc_child_streams *streams, bool *forked)
{
	sigset_t all, before;
	int report[2], err = 0;
	pid_t pid;

	*forked = false;
	if (pipe2(report, O_CLOEXEC) != 0)
		return errno;
	apart = streams != NULL;
	forward_signals();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before); /* none is lost before child_pid is set */
	pid = fork();
	if (pid == 0) {
		if (streams)
			set_apart(streams);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(command[0], command);
		err = errno;
		_exit(write(report[1], &err, sizeof(err)) == sizeof(err) ? 0 : 1);
	}
	if (pid < 0)
		err = errno;
	else if (streams)
		setpgid(pid, pid); /* both do it, so that the group is there for both */
	child_pid = pid;
	*forked = pid > 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(report[1]);
	if (pid > 0 && read(report[0], &err, sizeof(err)) > 0)
		waitpid(pid, NULL, 0);
	close(report[0]);
	return err;
}

int lc_child_start(char *const *command, bool *forked)
{
	return start(command, NULL, forked);
}

int lc_child_start_apart(char *const *command, const struct lc_child_streams *streams, bool *forked)
{
	signal(SIGCHLD, SIG_DFL); /* ignored, its end would leave no status */
	return start(command, streams, forked);
}

/* While SIGCHLD is blocked, so that one that comes between the look and the wait ends the wait. */
static bool wait_blocked(const sigset_t *ends, uint64_t timeout_ns, int *status,
                         struct rusage *usage)
{
	const uint64_t begin = lc_time_now_ns();

	for (;;) {
		const pid_t pid = wait4((pid_t)child_pid, status, WNOHANG, usage);
		const uint64_t used = lc_time_now_ns() - begin;
		uint64_t left = timeout_ns > used ? timeout_ns - used : 0;

		if (pid)
			return true;
		if ((timeout_ns && !left) || (asked && !stopping))
			return false;
		left = timeout_ns && left < look_ns ? left : look_ns;
		sigtimedwait(ends, NULL,
		             &(struct timespec){ .tv_sec = (time_t)(left / 1000000000),
		                                 .tv_nsec = (long)(left % 1000000000) });
	}
}

bool lc_child_wait_for(uint64_t timeout_ns, int *status, struct rusage *usage)
{
	sigset_t ends, before;
	bool ended;

	*status = LC_CHILD_ENDED(1);
	*usage = (struct rusage){ .ru_maxrss = 0 };
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, &before);
	ended = wait_blocked(&ends, timeout_ns, status, usage);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (ended)
		child_pid = 0;
	return ended;
}

void lc_child_stop(void)
{
	const pid_t group = (pid_t)child_pid;
	struct rusage usage;
	int status;

	if (group <= 0)
		return;
	stopping = true;
	kill(-group, SIGTERM);
	if (!lc_child_wait_for(stop_ns, &status, &usage)) {
		kill(-group, SIGKILL);
		lc_child_wait_for(0, &status, &usage);
	}
	kill(-group, SIGKILL); /* what it has left behind */
	stopping = false;
}

int lc_child_asked(void)
{
	return asked;
}

void lc_child_leave_signals(void)
{
	for (size_t i = 0; i < FORWARDED_COUNT && is_forwarding; i++)
		if (before_forwarding[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &before_forwarding[i], NULL);
	is_forwarding = false;
}

int lc_child_wait(void)
{
	int status = LC_CHILD_ENDED(1); /* where SIGCHLD is ignored, nobody learns it */

	while (waitpid(child_pid, &status, 0) < 0 && errno == EINTR)
		;
	child_pid = 0;
	return status;
}

int lc_child_end_like(int status)
{
	int sig = WTERMSIG(status);
	sigset_t set;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	fflush(NULL);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return 128 + sig;
}

bool lc_child_find(const char *name, char *out, size_t out_len)
{
	const char *path = getenv("PATH");
	size_t len;

	if (strchr(name, '/')) {
		snprintf(out, out_len, "%s", name);
		return access(name, X_OK) == 0;
	}
	for (; path; path = *path ? path + 1 : NULL) {
		len = strcspn(path, ":");
		snprintf(out, out_len, "%.*s/%s", len ? (int)len : 1, len ? path : ".", name);
		if (access(out, X_OK) == 0)
			return true;
		path += len;
	}
	return false;
}
