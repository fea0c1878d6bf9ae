/* SPDX-License-Identifier: Apache-2.0 */
/* commands/top_refresh.c - runs the child that dumps and reports. */
#include "analyzer/commands/top_refresh.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/command.h"
#include "analyzer/commands/attach_request.h"
#include "analyzer/commands/attach_target.h"

enum {
	READ_BYTES = 16 << 10,
	TEXT_MAX = 8 << 20, /* more is dropped */
	WAIT_STEPS = 500,   /* of 10 ms, for the end of a child */
	ARGUMENTS = 10,
};

#define WAIT_STEP_NS 10000000L
#define ENDED "the report was ended by a signal"
#define MS_NS UINT64_C(1000000)

/* ---- in the child ---- */

static int report(const struct lc_top_what *what, const char *directory)
{
	char *since = lc_mem_text("--since=%" PRIu64 "ms", what->window_ns / MS_NS);
	char *view = lc_mem_text("--view=%s", what->view);
	char *frame = lc_mem_text("--include=%s", what->frame);
	char *argv[ARGUMENTS] = { (char *)(uintptr_t) "report", view,
		                  (char *)(uintptr_t) "--no-pager" };
	int argc = 3, status;

	if (what->window_ns)
		argv[argc++] = since;
	if (*what->frame)
		argv[argc++] = frame;
	argv[argc++] = (char *)(uintptr_t) "--";
	argv[argc++] = (char *)(uintptr_t)directory;
	status = lc_cmd_report_live(argc, argv);
	free(since);
	free(view);
	free(frame);
	return status;
}

static int make(const struct lc_top_what *what)
{
	const char *directory = what->directory;
	char *dumped = NULL;
	int status = 0;

	if (lc_attach_alive(what->target)) {
		status = lc_attach_dump(what->target, what->library, &dumped);
		directory = dumped;
	}
	if (!status)
		status =
		    what->line ? lc_top_line(directory, what->window_ns) : report(what, directory);
	free(dumped);
	return status;
}

/* Do it. If it fails, print the reason in its place. */
static int make_or_say_why(const struct lc_top_what *what)
{
	char *notes = NULL;
	int status;

	lc_fail_capture(&notes);
	status = make(what);
	lc_fail_capture(NULL);
	if (status && status != LC_EXIT_PARTIAL && notes)
		fputs(notes, stdout);
	free(notes);
	return status | (fflush(stdout) ? LC_EXIT_FAILED : 0);
}

/* Colours are written into the pipe, too; top_screen.c reads them. */
static _Noreturn void be_child(const struct lc_top_what *what, int out)
{
	const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char columns[16];

	setpgid(0, 0); /* Ctrl-C is for the command, which lets the request come to its end */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	dup2(out, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO); /* notes that a report repeats, and how far it is */
	snprintf(columns, sizeof(columns), "%u", what->columns);
	setenv("COLUMNS", columns, 1);
	setenv("CLICOLOR_FORCE", "1", 1);
	_exit(make_or_say_why(what));
}

/* ---- in the command ---- */

int lc_top_refresh_start(struct lc_top_refresh *r, const struct lc_top_what *what)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return lc_fail("cannot make a pipe: %m");
	pid = fork();
	if (pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return lc_fail("cannot start a process: %m");
	}
	if (!pid)
		be_child(what, ends[1]);
	close(ends[1]);
	*r = (struct lc_top_refresh){ .pid = pid, .fd = ends[0] };
	return 0;
}

static void keep(struct lc_top_refresh *r, const char *bytes, size_t len)
{
	if (r->len + len >= TEXT_MAX)
		return;
	r->text = lc_mem_grow(r->text, &r->cap, r->len + len + 1, 1);
	memcpy(r->text + r->len, bytes, len);
	r->len += len;
}

bool lc_top_refresh_read(struct lc_top_refresh *r, char **text, int *status)
{
	char bytes[READ_BYTES];
	const ssize_t n = read(r->fd, bytes, sizeof(bytes));

	if (n > 0) {
		keep(r, bytes, (size_t)n);
		return false;
	}
	if (n < 0 && errno == EINTR)
		return false;
	close(r->fd);
	while (waitpid(r->pid, status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(*status))
		keep(r, ENDED, strlen(ENDED));
	*status = WIFEXITED(*status) ? WEXITSTATUS(*status) : LC_EXIT_FAILED;
	r->text = lc_mem_grow(r->text, &r->cap, r->len + 1, 1);
	r->text[r->len] = '\0';
	*text = r->text;
	*r = (struct lc_top_refresh){ 0 };
	return true;
}

void lc_top_refresh_end(struct lc_top_refresh *r)
{
	const struct timespec step = { .tv_nsec = WAIT_STEP_NS };
	pid_t ended = 0;

	if (r->pid) {
		close(r->fd);
		for (int i = 0; i < WAIT_STEPS && !ended; i++) {
			ended = waitpid(r->pid, NULL, WNOHANG);
			if (!ended)
				nanosleep(&step, NULL);
		}
		if (!ended) {
			kill(r->pid, SIGKILL);
			waitpid(r->pid, NULL, 0);
		}
	}
	free(r->text);
	*r = (struct lc_top_refresh){ 0 };
}
