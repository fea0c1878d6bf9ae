/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/pager.c - buffers a text and shows it through a pager if it is longer than the terminal. Only
 * the whole text shows whether it fits, and a pager that cannot start must not lose it.
 */
#include "analyzer/cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* exit status of a shell that cannot find or execute a command */
enum { SHELL_CANNOT = 126, SHELL_NOT_FOUND = 127 };

static struct {
	char *text;
	size_t len;
} kept;

/* NULL: none. */
static const char *pager(void)
{
	const char *ours = getenv("LOCUS_PAGER"), *command = ours ? ours : getenv("PAGER");

	if (!command)
		command = "less";
	return !*command || strcmp(command, "cat") == 0 ? NULL : command;
}

FILE *lc_pager_open(void)
{
	const char *term = getenv("TERM");
	FILE *out = NULL;

	if (isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && pager())
		out = open_memstream(&kept.text, &kept.len);
	return out ? out : stdout;
}

static bool fits(void)
{
	struct winsize size = { 0 };
	size_t lines = 1; /* of the shell's prompt */

	for (size_t i = 0; i < kept.len; i++)
		lines += kept.text[i] == '\n';
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_row || lines <= size.ws_row;
}

/* All of it, or what the reader takes before it closes its end. */
static void feed(int fd)
{
	for (size_t at = 0; at < kept.len;) {
		ssize_t n = write(fd, kept.text + at, kept.len - at);

		if (n < 0 && errno != EINTR)
			return;
		at += n > 0 ? (size_t)n : 0;
	}
}

static void start(const char *command, int from)
{
	if (dup2(from, STDIN_FILENO) < 0)
		_exit(SHELL_CANNOT);
	/* the usual options: colours, and the text stays on the screen */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(SHELL_NOT_FOUND);
}

/* Returns false where nothing was shown. */
static bool show(const char *command)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, pipe_before, interrupt_before;
	int ends[2], status = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		start(command, ends[0]);
	close(ends[0]);
	/* The reader may stop early, and Ctrl-C is for the pager. */
	sigaction(SIGPIPE, &ignore, &pipe_before);
	sigaction(SIGINT, &ignore, &interrupt_before);
	if (pid > 0)
		feed(ends[1]);
	close(ends[1]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt_before, NULL);
	sigaction(SIGPIPE, &pipe_before, NULL);
	return pid > 0 && !(WIFEXITED(status) && (WEXITSTATUS(status) == SHELL_CANNOT ||
	                                          WEXITSTATUS(status) == SHELL_NOT_FOUND));
}

int lc_pager_close(FILE *out)
{
	bool bad;

	if (out == stdout) {
		bad = fflush(stdout) || ferror(stdout);
		return bad ? errno ? -errno : -EIO : 0;
	}
	if (fclose(out))
		return -ENOMEM;
	if (fits() || !show(pager()))
		fwrite(kept.text, 1, kept.len, stdout);
	free(kept.text);
	kept.text = NULL;
	errno = 0;
	bad = fflush(stdout) || ferror(stdout);
	return bad ? errno ? -errno : -EIO : 0;
}
