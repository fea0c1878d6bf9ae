/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/attach.c - runs `locus attach`, `detach`, `status` and `dump`: tells the agent in a
 * running JVM to start, stop, report its state, or write its profile.
 *
 * The JVM only loads a library and passes a text to it (src/agent/agent_attach.h). The agent
 * answers in a file that this command makes, with a name that nobody can guess, and removes in the
 * end.
 */
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
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/commands/agent_setting.h"
#include "analyzer/commands/attach_protocol.h"
#include "analyzer/commands/attach_target.h"
#include "analyzer/commands/track_from.h"
#include "analyzer/out/emit.h"
#include "src/base/attach_answer.h"

enum {
	ATTACH_OPTIONS_MAX = 40,
	WAIT_SECONDS = 60,
	STEP_MS = 10,
	ANSWER_MAX = 64 << 10,
	LINE_MAX_BYTES = 128,
	OPTIONS_BYTES = LC_ATTACH_ARGUMENT_MAX - 128, /* beside the command and the file's path */
};

const struct lc_option_info *lc_cmd_attach_options(size_t *count)
{
	static struct lc_option_info rows[ATTACH_OPTIONS_MAX];
	const struct lc_option_info *table = lc_option_table(count);

	memcpy(rows, table, *count * sizeof(*table));
	rows[(*count)++] = (struct lc_option_info)LC_TRACK_FROM_ROW;
	return rows;
}

const struct lc_option_info *lc_cmd_detach_options(size_t *count)
{
	*count = 0;
	return NULL;
}

/* -- the answer ---------------------------------------------------------------------------- */

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

/* Write the answer, without its last line and what said how far the agent was, line by line. */
static void print_answer(FILE *out, const char *prefix, char *text)
{
	lc_progress_end();
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strncmp(line, LC_ATTACH_PROGRESS, strlen(LC_ATTACH_PROGRESS)))
			continue;
		fputs(prefix, out);
		lc_emit_text_c(out, line);
		putc('\n', out);
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
 * lines come. Returns the exit status.
 */
static int take_reply(const struct lc_attach_target *t, int fd, off_t begin)
{
	const struct timespec moment = { .tv_nsec = STEP_MS * 1000000L };
	char *text = lc_mem_zeroed(1, ANSWER_MAX);
	char stage[LINE_MAX_BYTES] = "answering";
	off_t size = 0, before = 0;
	int status = -1;

	for (unsigned i = 0; status < 0 && i < WAIT_SECONDS * 1000 / STEP_MS; i++) {
		const bool alive = lc_attach_alive(t), closed = !flock(fd, LOCK_SH | LOCK_NB);
		const size_t len = read_reply(fd, begin, text, &size);

		if (size != before) {
			before = size;
			i = 0;
			show_stage(text, len, stage, sizeof(stage));
		}
		if (ends_with(text, len, "ok\n")) {
			text[len - strlen("ok\n")] = '\0';
			print_answer(stdout, "", text);
			status = 0;
		} else if (ends_with(text, len, "failed\n")) {
			text[len - strlen("failed\n")] = '\0';
			print_answer(stderr, "locus: ", text);
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
	return status >= 0
	           ? status
	           : lc_fail("the agent in JVM %d has sent no news for %d s while %s, and "
	                     "continues: 'locus status %d' shows its stage, 'locus detach %d' ends "
	                     "it",
	                     (int)t->pid, WAIT_SECONDS, stage, (int)t->pid, (int)t->pid);
}

static int ask(const struct lc_attach_target *t, const char *library, const char *command,
               const char *options)
{
	char *inner = NULL, *full = NULL, *text = NULL;
	const char *in_file = strlen(options) > OPTIONS_BYTES ? options : "";
	const int fd = make_reply(t, in_file, &inner, &full);
	int status = LC_EXIT_FAILED;

	if (fd >= 0) {
		text = lc_mem_text("@%s %s %s", command, inner, *in_file ? "" : options);
		status = lc_attach_load(t, library, text);
		if (!status)
			status = take_reply(t, fd, (off_t)strlen(in_file));
		unlink(full);
		close(fd);
	}
	free(text);
	free(inner);
	free(full);
	return status;
}

/* -- the commands -------------------------------------------------------------------------- */

static int read_pid(const char *text, pid_t *out)
{
	char *end;
	const long pid = strtol(text, &end, 10);

	if (*end || end == text || pid <= 0 || pid > INT32_MAX)
		return lc_usage("'%.64s' is not a process ID", text);
	*out = (pid_t)pid;
	return 0;
}

/* A directory of ours means nothing to a process with other mounts. */
static int set_output(const struct lc_attach_target *t, struct lc_options *o)
{
	char path[LC_OPTION_TEXT_MAX + 8], error[256];

	if (!t->elsewhere || o->output[0] == '/')
		return lc_agent_output(o);
	snprintf(path, sizeof(path), "/tmp/%s", o->output);
	return lc_options_set(o, "output", path, error, sizeof(error)) ? lc_usage("%s", error) : 0;
}

static int attach(pid_t pid, struct lc_options *options)
{
	char text[LC_OPTIONS_TEXT_MAX], here[PATH_MAX], library[PATH_MAX];
	struct lc_attach_target t;
	int status;

	if (lc_agent_library("liblocus.so", here) || lc_attach_look(pid, &t))
		return LC_EXIT_FAILED;
	status = set_output(&t, options);
	if (status)
		return status;
	if (lc_options_format(options, text, sizeof(text)) < 0)
		return lc_fail("the options are too long");
	if (lc_attach_become(&t))
		return LC_EXIT_FAILED;
	snprintf(library, sizeof(library), "%s", t.library);
	if (!library[0] && lc_attach_library(&t, here, library))
		return LC_EXIT_FAILED;
	return ask(&t, library, "attach", text);
}

struct attach_arguments {
	struct lc_args args;
	struct lc_options options;
	const char *track_from; /* a profile; NULL: none */
};

static int set_option(void *context, int row, const char *value)
{
	struct attach_arguments *a = context;
	char error[256];

	if (!strcmp(a->args.table[row].name, "track-from")) {
		a->track_from = value;
		return 0;
	}
	if (lc_options_set(&a->options, a->args.table[row].name, value, error, sizeof(error)))
		return lc_usage("%s", error);
	return 0;
}

/* Returns 0 and *pid, or an exit status, or -1: there is nothing more to do. */
static int read_arguments(struct attach_arguments *a, const char *command, pid_t *pid)
{
	char **operands = NULL;
	size_t count = 0;
	int status = lc_args_read(&a->args, set_option, a, &operands, &count);

	if (status == LC_ARGS_HELP || status == LC_ARGS_VERSION)
		return lc_answer(status, command) ? 1 : -1;
	if (status)
		return status;
	if (count == 1)
		status = read_pid(operands[0], pid);
	else
		status = lc_usage("%s: name the process ID of one JVM", command);
	free(operands);
	return status;
}

int lc_cmd_attach(int argc, char **argv)
{
	struct attach_arguments a = { .args = { .argc = argc, .argv = argv, .next = 1 } };
	char error[256];
	pid_t pid = 0;
	int status;

	lc_options_init(&a.options);
	a.args.table = lc_cmd_attach_options(&a.args.count);
	status = read_arguments(&a, "attach", &pid);
	if (status)
		return status < 0 ? 0 : status;
	status = a.track_from ? lc_track_from(a.track_from, &a.options) : 0;
	if (status)
		return status;
	if (lc_options_check(&a.options, error, sizeof(error)))
		return lc_usage("%s", error);
	status = lc_agent_check_events(&a.options);
	return status ? status : attach(pid, &a.options);
}

/* A command for an agent that is loaded. */
static int command(const char *name, int argc, char **argv)
{
	struct attach_arguments a = { .args = { .argc = argc, .argv = argv, .next = 1 } };
	struct lc_attach_target t;
	pid_t pid = 0;
	int status = read_arguments(&a, name, &pid);

	if (status)
		return status < 0 ? 0 : status;
	if (lc_attach_look(pid, &t))
		return LC_EXIT_FAILED;
	if (!t.library[0])
		return lc_fail("JVM %d has no Locus agent", (int)pid);
	return lc_attach_become(&t) ? LC_EXIT_FAILED : ask(&t, t.library, name, "");
}

int lc_cmd_detach(int argc, char **argv)
{
	return command("detach", argc, argv);
}

int lc_cmd_status(int argc, char **argv)
{
	return command("status", argc, argv);
}

int lc_cmd_dump(int argc, char **argv)
{
	return command("dump", argc, argv);
}
