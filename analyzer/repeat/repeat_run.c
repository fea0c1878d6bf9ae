/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat_run.c - starts the program again and again, and says how each run ended.
 *
 * A run that does not end in time is stopped with all processes that it started, which would
 * disturb the next run.
 */
#include "analyzer/repeat/repeat_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/new_directory.h"
#include "analyzer/base/progress.h"
#include "analyzer/commands/agent_setting.h"
#include "analyzer/commands/child.h"
#include "analyzer/commands/run_profiles.h"
#include "analyzer/commands/run_told.h"
#include "analyzer/out/emit.h"
#include "analyzer/repeat/repeat_record.h"
#include "src/base/time.h"

enum { HOPELESS_RUNS = 3 };

struct running {
	struct lc_repeat *r;
	struct lc_repeat_request *q;
	char agent[PATH_MAX];
	char directory[PATH_MAX]; /* absolute, for the agent */
	bool made;                /* the directory */
	uint64_t begin_ns;
};

/* ---- one run ---- */

static int open_file(const char *directory, const char *name)
{
	char *path = lc_mem_text("%s/%s", directory, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		lc_fail("cannot write '%s': %s", path, strerror(errno));
	free(path);
	return fd;
}

/* Returns 0, or 1 after one line on stderr; closes nothing that is not open. */
static int open_streams(const char *directory, struct lc_child_streams *s)
{
	*s = (struct lc_child_streams){ .in = open("/dev/null", O_RDONLY | O_CLOEXEC),
		                        .out = open_file(directory, LC_REPEAT_STDOUT),
		                        .err = open_file(directory, LC_REPEAT_STDERR) };
	if (s->in < 0)
		return lc_fail("cannot read '/dev/null': %s", strerror(errno));
	return s->out < 0 || s->err < 0;
}

static void close_streams(const struct lc_child_streams *s)
{
	if (s->in >= 0)
		close(s->in);
	if (s->out >= 0)
		close(s->out);
	if (s->err >= 0)
		close(s->err);
}

static int set_output(struct running *m, const char *name)
{
	char *output = lc_mem_text("%s/%s/" LC_REPEAT_PROFILE "%%p", m->directory, name);
	char error[256], *argument = NULL;
	int status = 0;

	if (lc_options_set(&m->q->options, "output", output, error, sizeof(error)))
		status = lc_usage("%s", error);
	else if (lc_agent_launch(m->agent, &m->q->options, &argument))
		status = LC_EXIT_TOOL;
	free(argument);
	free(output);
	return status;
}

static double ns_of(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

/* How it ended, and what it took. */
static void judge(struct lc_repeat_run *run, bool ended, int status, uint64_t timeout_ns)
{
	char text[32];

	if (lc_child_asked())
		lc_repeat_leave_out(
		    run, LC_REPEAT_INTERRUPTED,
		    lc_mem_text("it was interrupted (%s)", strsignal(lc_child_asked())));
	else if (!ended)
		lc_repeat_leave_out(run, LC_REPEAT_TIMED_OUT,
		                    lc_mem_text("it still ran after %s (--timeout), and was "
		                                "stopped",
		                                lc_emit_duration(text, sizeof(text), timeout_ns)));
	else if (WIFSIGNALED(status))
		lc_repeat_leave_out(run, LC_REPEAT_FAILED,
		                    lc_mem_text("it was killed by signal %d (%s)", WTERMSIG(status),
		                                strsignal(WTERMSIG(status))));
	else if (WEXITSTATUS(status))
		lc_repeat_leave_out(run, LC_REPEAT_FAILED,
		                    lc_mem_text("it ended with status %d", WEXITSTATUS(status)));
}

static int run_in(struct lc_repeat_run *run, char *const *command, uint64_t timeout_ns,
                  const struct lc_child_streams *streams)
{
	struct rusage usage;
	uint64_t begin;
	bool forked, ended;
	int status, err;

	begin = lc_time_now_ns();
	err = lc_child_start_apart(command, streams, &forked);
	if (err)
		return lc_agent_not_started(command[0], err, forked);
	ended = lc_child_wait_for(timeout_ns, &status, &usage);
	if (ended) {
		run->wall_ns = (double)(lc_time_now_ns() - begin);
		run->cpu_ns = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
		run->peak_bytes = (double)usage.ru_maxrss * 1024;
	} else {
		lc_child_stop();
	}
	judge(run, ended, status, timeout_ns);
	return 0;
}

int lc_repeat_run_once(struct lc_repeat_run *run, char *const *command, uint64_t timeout_ns)
{
	struct lc_child_streams streams;
	int status;

	if (mkdir(run->directory, 0700))
		return lc_fail("cannot make '%s': %s", run->directory, strerror(errno));
	status = open_streams(run->directory, &streams);
	if (!status)
		status = run_in(run, command, timeout_ns, &streams);
	close_streams(&streams);
	return status;
}

static int run_one(struct running *m, size_t number)
{
	struct lc_repeat_run *run = lc_repeat_add_run(m->r);
	char *name = lc_repeat_record_name(number);
	const struct timespec ever = { 0, 0 };
	struct lc_run_told told;
	int status;

	run->name = lc_mem_text("run %zu", number);
	run->directory = lc_mem_text("%s/%s", m->q->directory, name);
	status = set_output(m, name);
	free(name);
	lc_run_told_begin(&told);
	if (!status)
		status = lc_repeat_run_once(run, m->q->command, m->q->timeout_ns);
	if (!status && !lc_run_profiles(m->q->options.output, &ever, NULL))
		lc_repeat_leave_out(run, LC_REPEAT_NO_PROFILE,
		                    lc_run_told_why(&told, m->q->command[0], "its standard error"));
	lc_run_told_end(&told);
	return status;
}

/* ---- all runs ---- */

void lc_repeat_say_progress(const struct lc_repeat *r, size_t number, size_t of, uint64_t begin_ns)
{
	const double each =
	    number > 1 ? (double)(lc_time_now_ns() - begin_ns) / 1e9 / (double)(number - 1) : 0;
	const double left = each * (double)(of - number + 1);
	char text[96];
	size_t len, bad = 0;

	for (size_t i = 0; i < r->runs_len; i++)
		bad += r->runs[i].state != LC_REPEAT_COUNTED;
	len = (size_t)snprintf(text, sizeof(text), "run %zu of %zu", number, of);
	if (bad)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ", %zu failed", bad);
	if (number > 1 && left < 90)
		snprintf(text + len, sizeof(text) - len, ", %.0f s left", ceil(left));
	else if (number > 1)
		snprintf(text + len, sizeof(text) - len, ", %.0f min left", ceil(left / 60));
	lc_progress_now(text);
}

static int prepare(struct running *m)
{
	char library[PATH_MAX];

	if (strchr(m->q->directory, '%'))
		return lc_usage("--output: '%.200s' has a %%, which the agent would replace; "
		                "choose another directory",
		                m->q->directory);
	if (lc_agent_library("liblocus.so", m->agent) ||
	    lc_agent_library("liblocus-preload.so", library) || lc_agent_preload(library))
		return LC_EXIT_TOOL;
	if (lc_new_directory(m->q->directory, &m->made))
		return LC_EXIT_FAILED;
	if (!realpath(m->q->directory, m->directory))
		return lc_fail("cannot use output directory '%s': %s", m->q->directory,
		               strerror(errno));
	return 0;
}

/* Remove the first run's files if the program could not be started. */
static void remove_first(const struct running *m)
{
	static const char *const files[] = { LC_REPEAT_STDOUT, LC_REPEAT_STDERR };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *path = lc_mem_text("%s/%s", m->r->runs->directory, files[i]);

		unlink(path);
		free(path);
	}
	rmdir(m->r->runs->directory);
	if (m->made)
		rmdir(m->q->directory);
}

/* If all first runs failed, the next will fail, too. */
static bool is_hopeless(const struct lc_repeat *r)
{
	for (size_t i = 0; i < r->runs_len; i++)
		if (r->runs[i].state == LC_REPEAT_COUNTED)
			return false;
	return r->runs_len >= HOPELESS_RUNS;
}

int lc_repeat_run(struct lc_repeat *r, struct lc_repeat_request *q)
{
	struct running m = { .r = r, .q = q, .begin_ns = lc_time_now_ns() };
	int status = prepare(&m);

	r->asked = q->runs;
	for (size_t i = 1; i <= q->runs && !status && !lc_child_asked() && !is_hopeless(r); i++) {
		lc_repeat_say_progress(r, i, q->runs, m.begin_ns);
		status = run_one(&m, i);
		if (!status)
			status = lc_repeat_record_write(r, q);
		else if (i == 1)
			remove_first(&m);
	}
	lc_progress_end();
	lc_child_leave_signals();
	return status;
}
