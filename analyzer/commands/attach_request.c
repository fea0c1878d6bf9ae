/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/attach_request.c - makes the file for the answer, and reads it while the agent writes.
 */
#include "analyzer/commands/attach_request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/commands/attach_protocol.h"
#include "analyzer/commands/attach_target.h"
#include "analyzer/out/emit.h"
#include "src/base/attach_answer.h"

enum {
	WAIT_SECONDS = 60,
	STEP_MS = 10,
	BUSY_TRIES = 50,
	BUSY_STEP_MS = 200,
	ANSWER_MAX = 64 << 10,
	LINE_MAX_BYTES = 128,
	OPTIONS_BYTES = LC_ATTACH_ARGUMENT_MAX - 128, /* beside the command and the file's path */
};

/* Beside exit statuses: the answer is not whole; another request is being worked off. */
enum { PENDING = -1, BUSY = -2 };

/*
 * Make the file, which begins with `options`. Sets *inner to its path as the process sees it.
 * Returns a file, or -1.
 */
static int make_reply(const struct lc_attach_target *t, const char *options, char **inner,
                      char **full)
{
	const size_t len = strlen(options);
	unsigned long long random[2];
	int fd;

	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		lc_fail("cannot get a random number: %m");
		return -1;
	}
	*inner = lc_mem_text("/tmp/.locus-reply-%016llx%016llx", random[0], random[1]);
	*full = lc_mem_text("%s%s", t->root, *inner);
	fd = open(*full, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		lc_fail("cannot make '%s': %m", *full);
	} else if ((fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)len + ANSWER_MAX) &&
	            (errno == ENOSPC || errno == EDQUOT)) ||
	           write(fd, options, len) != (ssize_t)len) {
		lc_fail("no room for the agent's answer in '%s': %m", *full);
		unlink(*full);
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool ends_with(const char *text, size_t len, const char *line)
{
	const size_t n = strlen(line);

	return len >= n && !memcmp(text + len - n, line, n) &&
	       (len == n || text[len - n - 1] == '\n');
}

/*
 * Write the answer, without its last line and what said how far the agent was, line by line: on
 * stdout, or as notes.
 */
static void print_answer(bool failed, char *text)
{
	lc_progress_end();
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strncmp(line, LC_ATTACH_PROGRESS, strlen(LC_ATTACH_PROGRESS)))
			continue;
		if (failed) {
			lc_note("%s", line);
			continue;
		}
		lc_emit_text_c(stdout, line);
		putchar('\n');
	}
}

/* Keep the agent's stage, if the last line of its answer names one, and show it on a terminal. */
static void show_stage(const char *text, size_t len, char *stage, size_t stage_len)
{
	const char *last = len > 1 ? memrchr(text, '\n', len - 1) : NULL;

	last = last ? last + 1 : text;
	if (!len || strncmp(last, LC_ATTACH_PROGRESS, strlen(LC_ATTACH_PROGRESS)) != 0)
		return;
	last += strlen(LC_ATTACH_PROGRESS);
	snprintf(stage, stage_len, "%.*s", (int)strcspn(last, "\n"), last);
	lc_progress_stage(stage);
}

/* The end of what the agent has written so far from `begin` on; a short answer is all of it. */
static size_t read_reply(int fd, off_t begin, char *text, off_t *size)
{
	struct stat st;
	ssize_t n;

	*size = fstat(fd, &st) ? 0 : st.st_size - begin;
	n = pread(fd, text, ANSWER_MAX - 1,
	          begin + (*size < ANSWER_MAX ? 0 : *size - (ANSWER_MAX - 1)));
	return n > 0 ? (size_t)n : 0;
}

/*
 * Wait for the answer and print it. The agent has the file locked until it has written all of it.
 * It writes each stage, and a line a second in a stage of many parts. The command waits as long as
 * lines come. Returns the exit status, or BUSY without a line, unless this is the `last` try.
 */
static int take_reply(const struct lc_attach_target *t, int fd, off_t begin,
                      const struct lc_attach_reader *reader, bool last)
{
	const struct timespec moment = { .tv_nsec = STEP_MS * 1000000L };
	char *text = lc_mem_zeroed(1, ANSWER_MAX);
	const unsigned seconds = WAIT_SECONDS + (reader ? reader->seconds : 0);
	char stage[LINE_MAX_BYTES] = "answering";
	off_t size = 0, before = 0;
	int status = PENDING;

	for (unsigned i = 0; status == PENDING && i < seconds * 1000 / STEP_MS; i++) {
		const bool alive = lc_attach_alive(t), closed = !flock(fd, LOCK_SH | LOCK_NB);
		const size_t len = read_reply(fd, begin, text, &size);

		if (size != before) {
			before = size;
			i = 0;
			show_stage(text, len, stage, sizeof(stage));
		}
		if (ends_with(text, len, "ok\n")) {
			text[len - strlen("ok\n")] = '\0';
			status = 0;
			if (reader && reader->read)
				status = reader->read(reader->context, text);
			else
				print_answer(false, text);
		} else if (!last && !strcmp(text, LC_ATTACH_BUSY)) {
			status = BUSY;
		} else if (ends_with(text, len, "failed\n")) {
			text[len - strlen("failed\n")] = '\0';
			print_answer(true, text);
			status = LC_EXIT_FAILED;
		} else if (!alive) {
			status = lc_fail("process %d has ended", (int)t->pid);
		} else if (closed) {
			status = lc_fail(
			    "the agent in JVM %d could not write its answer; the JVM's standard "
			    "error says why, and 'locus status %d' shows whether it is recording",
			    (int)t->pid, (int)t->pid);
		} else {
			nanosleep(&moment, NULL);
		}
	}
	free(text);
	lc_progress_end();
	return status != PENDING
	           ? status
	           : lc_fail("the agent in JVM %d has sent no news for %u s while %s, and "
	                     "continues: 'locus status %d' shows its stage, 'locus detach %d' ends "
	                     "it",
	                     (int)t->pid, seconds, stage, (int)t->pid, (int)t->pid);
}

static int request_once(const struct lc_attach_target *t, const char *library, const char *command,
                        const char *options, const struct lc_attach_reader *reader, bool last)
{
	char *inner = NULL, *full = NULL, *text = NULL;
	const char *in_file = strlen(options) > OPTIONS_BYTES ? options : "";
	const int fd = make_reply(t, in_file, &inner, &full);
	int status = LC_EXIT_FAILED;

	if (fd >= 0) {
		text = lc_mem_text("@%s %s %s", command, inner, *in_file ? "" : options);
		status = lc_attach_load(t, library, text, reader ? reader->seconds : 0);
		unlink(full); /* the agent has opened it: a command that is killed leaves nothing */
		if (!status)
			status = take_reply(t, fd, (off_t)strlen(in_file), reader, last);
		close(fd);
	}
	free(text);
	free(inner);
	free(full);
	return status;
}

int lc_attach_request(const struct lc_attach_target *t, const char *library, const char *command,
                      const char *options, const struct lc_attach_reader *reader)
{
	const struct timespec moment = { .tv_nsec = BUSY_STEP_MS * 1000000L };
	int status;

	for (int left = BUSY_TRIES;
	     (status = request_once(t, library, command, options, reader, !--left)) == BUSY;)
		nanosleep(&moment, NULL);
	return status;
}

int lc_attach_pid(const char *text, pid_t *out)
{
	char *end;
	const long pid = strtol(text, &end, 10);

	if (*end || end == text || pid <= 0 || pid > INT32_MAX)
		return lc_usage("'%.64s' is not a process ID", text);
	*out = (pid_t)pid;
	return 0;
}

struct dumped {
	const struct lc_attach_target *target;
	char *directory;
};

static int read_dumped(void *context, char *answer)
{
	static const char before[] = "written to ";
	struct dumped *d = context;
	char *name = strncmp(answer, before, strlen(before)) ? NULL : answer + strlen(before);

	if (!name)
		return lc_fail("the agent's answer is not one of this version of Locus");
	name[strcspn(name, "\n")] = '\0';
	d->directory = lc_mem_text("%s%s", d->target->elsewhere ? d->target->root : "", name);
	return 0;
}

int lc_attach_dump(const struct lc_attach_target *t, const char *library, char **directory)
{
	struct dumped d = { t, NULL };
	const struct lc_attach_reader reader = { read_dumped, &d, 0 };
	const int status = lc_attach_request(t, library, "dump", "", &reader);

	*directory = d.directory;
	return status;
}
