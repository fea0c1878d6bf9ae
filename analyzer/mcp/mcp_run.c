/* SPDX-License-Identifier: Apache-2.0 */
/* mcp/mcp_run.c - runs a command as a child that reads nothing and writes into memory. */
#include "analyzer/mcp/mcp_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/commands/child.h"

enum { OUTPUT_MAX = 64 << 20, PROBLEM_MAX = 4096, RUN_SECONDS = 120 };

/* At most `max` bytes of it. The caller frees them. */
static char *content_of(int fd, size_t max)
{
	off_t size = lseek(fd, 0, SEEK_END);
	const size_t len = size < 0 ? 0 : (size_t)size < max ? (size_t)size : max;
	char *text = lc_mem_zeroed(len + 1, 1);
	size_t at = 0;
	ssize_t n;

	while (at < len && (n = pread(fd, text + at, len - at, (off_t)at)) > 0)
		at += (size_t)n;
	return text;
}

/* A child that writes more than that ends by SIGXFSZ; this process writes no file. */
static int start(char *const *command, const struct lc_child_streams *streams)
{
	struct rlimit before, limit;
	bool forked;
	int err;

	if (getrlimit(RLIMIT_FSIZE, &before))
		return errno;
	limit = before;
	if (limit.rlim_cur > OUTPUT_MAX)
		limit.rlim_cur = OUTPUT_MAX;
	setrlimit(RLIMIT_FSIZE, &limit);
	err = lc_child_start_apart(command, streams, &forked);
	setrlimit(RLIMIT_FSIZE, &before);
	return err;
}

static void run(char *const *command, const struct lc_child_streams *s, struct lc_mcp_output *out)
{
	struct rusage usage;
	int status, err = start(command, s);
	bool good;

	if (err) {
		out->problem = lc_mem_text("cannot run '%s': %s", command[0], strerror(err));
		return;
	}
	if (!lc_child_wait_for(RUN_SECONDS * UINT64_C(1000000000), &status, &usage)) {
		lc_child_stop();
		out->problem = lc_mem_text("the command took longer than %d s", RUN_SECONDS);
		return;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) {
		out->problem = lc_mem_text("the command wrote more than 64 MiB");
		return;
	}
	good = WIFEXITED(status) &&
	       (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == LC_EXIT_PARTIAL);
	out->problem = content_of(s->err, PROBLEM_MAX);
	if (good) {
		out->text = content_of(s->out, OUTPUT_MAX);
	} else if (!*out->problem) {
		free(out->problem);
		out->problem = lc_mem_text("the command failed (wait status %d)", status);
	}
}

/* A file without a name; -1: errno says why there is none. */
static int make_file(void)
{
	FILE *made = tmpfile();
	const int fd = made ? fcntl(fileno(made), F_DUPFD_CLOEXEC, 0) : -1;

	if (made)
		fclose(made);
	return fd;
}

void lc_mcp_run(char *const *command, struct lc_mcp_output *out)
{
	const struct lc_child_streams s = { .in = open("/dev/null", O_RDONLY | O_CLOEXEC),
		                            .out = make_file(),
		                            .err = make_file() };

	*out = (struct lc_mcp_output){ NULL, NULL };
	if (s.in < 0 || s.out < 0 || s.err < 0)
		out->problem =
		    lc_mem_text("cannot make the command's streams: %s", strerror(errno));
	else
		run(command, &s, out);
	lc_child_leave_signals();
	close(s.in);
	close(s.out);
	close(s.err);
}
