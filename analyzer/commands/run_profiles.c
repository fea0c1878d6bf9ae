/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/run_profiles.c - finds profiles by name and time, and reads the first finding of one in
 * a child process.
 *
 * The program has ended well by then. In a child, a profile that takes long to read, or cannot be
 * read, does not change how `locus run` ends.
 */
#include "analyzer/commands/run_profiles.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/command.h"
#include "analyzer/objects/text/headline.h"
#include "analyzer/out/emit.h"
#include "src/base/options.h"
#include "src/base/time.h"
#include "src/format/block.h"

#define LOOP "[0-9][0-9][0-9][0-9][0-9][0-9]" /* what --loop calls directories */
_Static_assert(LC_LOOP_DIGITS == 6, "the pattern has as many");

/* A profile of this size takes 0.3 s to read, one of an ordinary program is below 1 MB. */
enum { READ_BYTES_MAX = 6 << 20, READ_SECONDS_MAX = 5 };

/* `output` as a glob pattern for `file` in it: %p and %t stand for anything. */
static void output_pattern(const char *output, const char *file, char *out, size_t out_len)
{
	size_t len = 0;

	for (const char *p = output; *p && len + 3 < out_len; p++) {
		if (p[0] == '%' && (p[1] == 'p' || p[1] == 't')) {
			out[len++] = '*';
			p++;
			continue;
		}
		if (strchr("*?[\\", *p))
			out[len++] = '\\';
		out[len++] = *p;
	}
	snprintf(out + len, out_len - len, "/%s", file);
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Cut the file's name off, and that of the period whose file it is. */
static void cut_to_profile(char *path, bool of_period)
{
	*strrchr(path, '/') = '\0';
	if (of_period)
		*strrchr(path, '/') = '\0';
}

/* Files of one kind; a profile with several counts once, since its files are neighbours. */
static size_t look(const char *pattern, bool of_periods, struct timespec since, char **last,
                   struct timespec *latest)
{
	char *seen = NULL;
	size_t count = 0;
	struct stat st;
	glob_t g;

	if (glob(pattern, 0, NULL, &g) != 0)
		return 0;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		if (stat(g.gl_pathv[i], &st) != 0 || is_before(&st.st_ctim, &since))
			continue;
		cut_to_profile(g.gl_pathv[i], of_periods);
		count += !seen || strcmp(seen, g.gl_pathv[i]) != 0;
		seen = g.gl_pathv[i];
		if (last && (!*last || is_before(latest, &st.st_ctim))) {
			free(*last);
			*last = lc_mem_text("%s", seen);
			*latest = st.st_ctim;
		}
	}
	globfree(&g);
	return count;
}

size_t lc_run_profiles(const char *output, const struct timespec *since, char **last)
{
	/* A JVM that was killed at once has blocks and no manifest. */
	static const struct {
		const char *name;
		bool of_period;
	} files[] = { { LC_MANIFEST_NAME, false },
		      { LOOP "/" LC_MANIFEST_NAME, true },
		      { "*" LC_BLOCK_SUFFIX, false },
		      { LOOP "/*" LC_BLOCK_SUFFIX, true } };
	char pattern[2 * LC_OPTION_TEXT_MAX + 32];
	struct timespec latest = { 0, 0 };
	size_t count = 0;

	if (last)
		*last = NULL;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !count; i++) {
		output_pattern(output, files[i].name, pattern, sizeof(pattern));
		count = look(pattern, files[i].of_period, *since, last, &latest);
	}
	return count;
}

/* In a child: the program has ended, and what it was to be sent, as by Ctrl-C, is meant for us. */
static void take_signals(void)
{
	for (int sig = 1; sig < SIGRTMIN; sig++) {
		struct sigaction before;

		if (sigaction(sig, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			signal(sig, SIG_DFL);
	}
}

/* In the child: what it says of a profile is told where it is reported. */
static void read_headline(const char *profile, int to)
{
	char text[LC_HEADLINE_MAX];
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	take_signals();
	if (nothing >= 0)
		dup2(nothing, STDERR_FILENO);
	if (lc_headline(profile, text, sizeof(text)) == 0 &&
	    write(to, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(1);
	_exit(0);
}

/* Read all that comes before the deadline. Returns false where that is not all. */
static bool read_until(int fd, uint64_t deadline_ns, char *out, size_t out_len)
{
	size_t len = 0;

	for (;;) {
		uint64_t now = lc_time_now_ns();
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (now >= deadline_ns)
			return false;
		if (poll(&p, 1, (int)((deadline_ns - now) / 1000000 + 1)) <= 0)
			continue;
		n = read(fd, out + len, out_len - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	out[len] = '\0';
	return len > 0;
}

/* Returns false where there is none, *out undefined. */
static bool headline(const char *profile, char *out, size_t out_len)
{
	bool found = false;
	int pipe_ends[2];
	pid_t pid;

	if (pipe2(pipe_ends, O_CLOEXEC) != 0)
		return false;
	pid = fork();
	if (pid == 0)
		read_headline(profile, pipe_ends[1]);
	close(pipe_ends[1]);
	if (pid > 0) {
		found =
		    read_until(pipe_ends[0], lc_time_now_ns() + READ_SECONDS_MAX * 1000000000ull,
		               out, out_len);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(pipe_ends[0]);
	return found;
}

int lc_run_report(const char *profile, const char *file)
{
	char *argv[] = {
		"report", "--file", (char *)(uintptr_t)file, "--", (char *)(uintptr_t)profile, NULL
	};
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		take_signals();
		status = lc_cmd_report((int)(sizeof(argv) / sizeof(argv[0])) - 1, argv);
		fflush(NULL);
		_exit(status == LC_EXIT_PARTIAL ? 0 : status);
	}
	if (pid < 0)
		return lc_fail("cannot start a process for the report: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return status != 0;
}

/* Shorten a path to be relative to the current directory. */
static const char *from_here(const char *path)
{
	char cwd[PATH_MAX];
	size_t len;

	if (!getcwd(cwd, sizeof(cwd)))
		return path;
	len = strlen(cwd);
	return strncmp(path, cwd, len) == 0 && path[len] == '/' && path[len + 1] ? path + len + 1
	                                                                         : path;
}

/* Size of all files that fit the pattern in the profile. */
static uint64_t bytes_like(const char *profile, const char *files)
{
	char pattern[2 * LC_OPTION_TEXT_MAX + 32];
	uint64_t bytes = 0;
	struct stat st;
	glob_t g;

	output_pattern(profile, files, pattern, sizeof(pattern));
	if (glob(pattern, 0, NULL, &g) != 0)
		return 0;
	for (size_t i = 0; i < g.gl_pathc; i++)
		if (!lstat(g.gl_pathv[i], &st) && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	globfree(&g);
	return bytes;
}

/* Size of all files in the profile and in its periods. */
static uint64_t bytes_of(const char *profile)
{
	return bytes_like(profile, "*") + bytes_like(profile, LOOP "/*");
}

void lc_run_summary(const char *profile, size_t count, const char *file)
{
	const char *name = from_here(profile);
	const uint64_t bytes = bytes_of(profile);
	char text[LC_HEADLINE_MAX];

	if (count > 1)
		fprintf(stderr, "locus: %zu profiles, the last one in ", count);
	else
		fputs("locus: profile in ", stderr);
	lc_emit_word(stderr, name);
	if (bytes > READ_BYTES_MAX)
		fprintf(stderr, ": %s", lc_emit_bytes(text, sizeof(text), bytes));
	else if (headline(profile, text, sizeof(text)))
		fprintf(stderr, ": %s", text);
	if (file) {
		fputs("; report in ", stderr);
		lc_emit_word(stderr, from_here(file));
	} else {
		fputs("; see: locus report ", stderr);
		lc_emit_word(stderr, name);
	}
	putc('\n', stderr);
}
