/* commands/child.c - starts a command, hands signals on to it, and ends as it did. */
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

static volatile sig_atomic_t child_pid; /* written by: lc_child_start(); read by on_signal() */

static const int forwarded[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
enum { FORWARDED_COUNT = sizeof(forwarded) / sizeof(forwarded[0]) };

/* The terminal sends its signals to the child as well; only those of other processes are ours. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	int err = errno;

	(void)context;
	if (info->si_code <= 0 && child_pid > 0 && info->si_pid != child_pid)
		kill(child_pid, sig);
	errno = err;
}

static void forward_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_signal,
		                    .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction before;

	for (size_t i = 0; i < FORWARDED_COUNT; i++)
		if (sigaction(forwarded[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL); /* exec sets it to default */
}

/* The child reports a failed exec through a pipe that a successful one closes. */
int lc_child_start(char *const *command, bool *forked)
{
	sigset_t all, before;
	int report[2], err = 0;
	pid_t pid;

	*forked = false;
	if (pipe2(report, O_CLOEXEC) != 0)
		return errno;
	forward_signals();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before); /* none is lost before child_pid is set */
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(command[0], command);
		err = errno;
		_exit(write(report[1], &err, sizeof(err)) == sizeof(err) ? 0 : 1);
	}
	if (pid < 0)
		err = errno;
	child_pid = pid;
	*forked = pid > 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(report[1]);
	if (pid > 0 && read(report[0], &err, sizeof(err)) > 0)
		waitpid(pid, NULL, 0);
	close(report[0]);
	return err;
}

int lc_child_wait(void)
{
	int status = W_EXITCODE(1, 0); /* where SIGCHLD is ignored, nobody learns it */

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

	for (; path; path = *path ? path + 1 : NULL) {
		len = strcspn(path, ":");
		snprintf(out, out_len, "%.*s/%s", len ? (int)len : 1, len ? path : ".", name);
		if (access(out, X_OK) == 0)
			return true;
		path += len;
	}
	return false;
}
