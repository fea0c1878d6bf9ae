/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/top.c - runs `locus top`: records a JVM, or looks at a recording that goes on, and shows
 * the report again and again.
 *
 * A JVM that is not recorded is attached to, into a directory that is removed in the end, and
 * detached from. Reports are made by a child (top_refresh.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/commands/agent_setting.h"
#include "analyzer/commands/attach_request.h"
#include "analyzer/commands/attach_target.h"
#include "analyzer/commands/scratch.h"
#include "analyzer/commands/top_refresh.h"
#include "analyzer/commands/top_screen.h"

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS UINT64_C(1000000)
#define REFRESH_NS_MIN (SECOND_NS / 5)
#define REFRESH_NS_MAX (60 * SECOND_NS)

enum row { ROW_VIEW, ROW_WINDOW, ROW_REFRESH, ROW_BATCH, ROW_COUNT, OWN_ROWS };
enum { OPTIONS_MAX = 48, BATCH_COLUMNS = 1000, TITLE_MAX = 512 };

static const char *const views[] = { "brief", "objects", "code",   "alloc",
	                             "live",  "offheap", "threads" };

enum { VIEWS = sizeof(views) / sizeof(views[0]) };

static const struct lc_option_info own_rows[OWN_ROWS] = {
	[ROW_VIEW] = { "view", 0, "CHOICE", "brief|objects|code|alloc|live|offheap|threads",
	               "brief", "", "the view to begin with, as of `locus report`" },
	[ROW_WINDOW] = { "window", 'w', "DURATION", "TIME", "1min", "ns",
	                 "count only the last TIME; none: count all of the recording" },
	[ROW_REFRESH] = { "refresh", 'r', "DURATION", "TIME", "2s", "ns",
	                  "show a new report each TIME (with --batch: 1s)" },
	[ROW_BATCH] = { "batch", 'b', "FLAG", "", "off", "",
	                "use no terminal: print a line on each report" },
	[ROW_COUNT] = { "count", 'n', "COUNT", "N", "", "reports",
	                "end after N reports (default: with the program, or by a key)" },
};

struct top {
	struct lc_options options; /* of a recording of our own */
	bool options_given, output_given;
	size_t view; /* of views[] */
	uint64_t window_ns, refresh_ns;
	bool batch;
	unsigned long count; /* 0: no limit */

	struct lc_attach_target target;
	char library[PATH_MAX];
	bool own;        /* we have begun the recording */
	char *scratch;   /* directory of our own profile; NULL: there is none */
	char *directory; /* of the profile when we began, as we see it; NULL: there is none */

	struct lc_top_refresh refresh;
	char *text;         /* the last report; NULL: none */
	unsigned long done; /* reports */
	bool whole;         /* count all of the recording */
	bool paused, help, ended;
	char frame[LC_TOP_FRAME_MAX];
};

static volatile sig_atomic_t asked; /* to end */

const struct lc_option_info *lc_cmd_top_options(size_t *count)
{
	static struct lc_option_info rows[OPTIONS_MAX];
	const struct lc_option_info *table = lc_option_table(count);

	memcpy(rows, own_rows, sizeof(own_rows));
	memcpy(rows + OWN_ROWS, table, *count * sizeof(*table));
	*count += OWN_ROWS;
	return rows;
}

/* ---- the command line ---- */

static int set_time(const char *name, const char *value, uint64_t *out)
{
	struct lc_options o;
	char error[256];

	lc_options_init(&o);
	if (lc_options_set(&o, "duration", value, error, sizeof(error)))
		return lc_usage("--%s: '%.64s' is not a time such as 30s", name, value);
	*out = o.duration_ns;
	return 0;
}

static int set_view(struct top *t, const char *value)
{
	for (t->view = 0; t->view < VIEWS; t->view++)
		if (!strcmp(value, views[t->view]))
			return 0;
	return lc_usage("--view: '%.64s' is none of %s", value, own_rows[ROW_VIEW].argument);
}

static int set_refresh(struct top *t, const char *value)
{
	const int status = set_time("refresh", value, &t->refresh_ns);

	if (!status && (t->refresh_ns < REFRESH_NS_MIN || t->refresh_ns > REFRESH_NS_MAX))
		return lc_usage("--refresh: '%.64s' is not a time from 200ms to 60s", value);
	return status;
}

static int set_option(void *context, int row, const char *value)
{
	struct top *t = context;
	const char *name;
	size_t count;
	char error[256];

	switch (row) {
	case ROW_VIEW:
		return set_view(t, value);
	case ROW_WINDOW:
		return set_time("window", value, &t->window_ns);
	case ROW_REFRESH:
		return set_refresh(t, value);
	case ROW_BATCH:
		t->batch = true;
		return 0;
	case ROW_COUNT:
		return lc_args_number(value, UINT32_MAX, &t->count) || !t->count
		           ? lc_usage("--count: '%.64s' is not a number of reports", value)
		           : 0;
	default:
		break;
	}
	name = lc_cmd_top_options(&count)[row].name;
	t->options_given = true;
	t->output_given |= !strcmp(name, "output");
	return lc_options_set(&t->options, name, value, error, sizeof(error))
	           ? lc_usage("%s", error)
	           : 0;
}

/* Returns 0 and the process ID, an exit status, or -1: there is nothing more to do. */
static int read_arguments(struct top *t, int argc, char **argv, pid_t *pid)
{
	struct lc_args args = { .argc = argc, .argv = argv, .next = 1 };
	char **operands = NULL, error[256];
	size_t count = 0;
	int status;

	args.table = lc_cmd_top_options(&args.count);
	status = lc_args_read(&args, set_option, t, &operands, &count);
	if (status == LC_ARGS_HELP || status == LC_ARGS_VERSION)
		return lc_answer(status, "top") ? 1 : -1;
	if (!status)
		status = count == 1 ? lc_attach_pid(operands[0], pid)
		                    : lc_usage("top: name the process ID of one JVM");
	free(operands);
	if (!status && lc_options_check(&t->options, error, sizeof(error)))
		return lc_usage("%s", error);
	if (!status && t->options.loop)
		return lc_usage("top shows one profile: leave out --loop");
	if (!t->refresh_ns)
		t->refresh_ns = t->batch ? SECOND_NS : 2 * SECOND_NS;
	t->whole = !t->window_ns;
	if (!status && !t->batch && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return lc_usage("top: this is no terminal; use --batch");
	return status ? status : lc_agent_check_events(&t->options);
}

/* ---- the recording ---- */

/* The line "recording into DIR" or "recording for 3.1 s into DIR" of an answer. */
static int read_directory(void *context, char *answer)
{
	struct top *t = context;

	for (char *line = strtok(answer, "\n"); line; line = strtok(NULL, "\n")) {
		const char *into = strstr(line, " into ");

		if (strncmp(line, "recording ", strlen("recording ")) != 0 || !into)
			continue;
		free(t->directory);
		t->directory = lc_mem_text("%s%s", t->target.elsewhere ? t->target.root : "",
		                           into + strlen(" into "));
	}
	return 0;
}

static int read_nothing(void *context, char *answer)
{
	return 0;
}

/* Ask the agent for what read_directory() reads. Returns 0, or an exit status after a line. */
static int ask(struct top *t, const char *command, const char *options)
{
	const struct lc_attach_reader reader = { read_directory, t, 0 };

	return lc_attach_request(&t->target, t->library, command, options, &reader);
}

/* Choose where a recording of our own is written. Returns 0, or an exit status. */
static int choose_output(struct top *t)
{
	const char *root = t->target.elsewhere ? t->target.root : "";
	char error[256], inner[PATH_MAX];

	if (t->output_given && *root && t->options.output[0] != '/')
		return lc_usage("--output: '%.64s' must be a path from '/' on, as the container "
		                "sees it",
		                t->options.output);
	if (t->output_given)
		return lc_agent_output(&t->options);
	t->scratch = *root ? lc_mem_text("%s/tmp/locus-XXXXXX", root) : lc_scratch_make();
	if (!t->scratch || (*root && !mkdtemp(t->scratch)))
		return lc_fail("cannot make a directory for the profile: %m");
	snprintf(inner, sizeof(inner), "%s/profile", t->scratch + strlen(root));
	return lc_options_set(&t->options, "output", inner, error, sizeof(error))
	           ? lc_usage("%s", error)
	           : 0;
}

static int attach(struct top *t)
{
	char text[LC_OPTIONS_TEXT_MAX];
	int status = choose_output(t);

	if (!status && lc_options_format(&t->options, text, sizeof(text)) < 0)
		return lc_fail("the options are too long");
	if (!status)
		status = ask(t, "attach", text);
	t->own = !status;
	return status;
}

/* Begin a recording, unless there is one. Returns 0, or an exit status after one line on stderr. */
static int begin(struct top *t, pid_t pid)
{
	char here[PATH_MAX];
	int status = 0;

	if (lc_agent_library("liblocus.so", here) || lc_attach_look(pid, &t->target) ||
	    lc_attach_become(&t->target))
		return LC_EXIT_FAILED;
	snprintf(t->library, sizeof(t->library), "%s", t->target.library);
	if (*t->library)
		status = ask(t, "status", "");
	else if (lc_attach_library(&t->target, here, t->library))
		return LC_EXIT_FAILED;
	if (status || !t->directory)
		return status ? status : attach(t);
	return t->options_given
	           ? lc_usage("JVM %d is already being recorded: leave out the options of a "
	                      "recording",
	                      (int)pid)
	           : 0;
}

/* End what we have begun. */
static void end(struct top *t)
{
	const struct lc_attach_reader reader = { read_nothing, NULL, 0 };

	lc_top_refresh_end(&t->refresh);
	if (t->own && lc_attach_alive(&t->target))
		(void)lc_attach_request(&t->target, t->library, "detach", "", &reader);
	if (t->own && t->output_given && t->directory)
		lc_note("the profile is in %s", t->directory);
	if (t->scratch)
		lc_scratch_remove(t->scratch);
	free(t->directory);
	free(t->text);
}

/* ---- reports ---- */

static int start_report(struct top *t)
{
	const struct lc_top_what what = {
		.target = &t->target,
		.library = t->library,
		.directory = t->directory,
		.view = views[t->view],
		.frame = t->frame,
		.window_ns = t->whole ? 0 : t->window_ns,
		.columns = t->batch ? BATCH_COLUMNS : lc_top_screen_columns(),
		.line = t->batch,
	};

	t->ended = !lc_attach_alive(&t->target);
	return lc_top_refresh_start(&t->refresh, &what);
}

/* Returns 0, or an exit status after one line on stderr. */
static int put_line(const char *text)
{
	char now[16];
	const time_t seconds = time(NULL);
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(now, sizeof(now), "%H:%M:%S", &tm);
	printf("%s %.*s\n", now, (int)strcspn(text, "\n"), text);
	return fflush(stdout) ? lc_fail("cannot write to stdout: %m") : 0;
}

/* Take what a report has written, and show it if it has ended. Returns as put_line() does. */
static int take_report(struct top *t)
{
	char *text;
	int status;

	if (!lc_top_refresh_read(&t->refresh, &text, &status))
		return 0;
	t->done++;
	status = t->batch ? put_line(text) : 0;
	if (!t->batch && !t->help)
		lc_top_screen_text(text, t->text != NULL);
	free(t->text);
	t->text = text;
	return status;
}

/* "1min", as the options take it. */
static const char *time_text(char *text, size_t len, uint64_t ns)
{
	const uint64_t s = ns / SECOND_NS;

	if (ns % SECOND_NS)
		snprintf(text, len, "%" PRIu64 "ms", ns / MS_NS);
	else if (s % 60)
		snprintf(text, len, "%" PRIu64 "s", s);
	else if (s % 3600)
		snprintf(text, len, "%" PRIu64 "min", s / 60);
	else
		snprintf(text, len, "%" PRIu64 "h", s / 3600);
	return text;
}

static void draw(const struct top *t)
{
	char title[TITLE_MAX], window[32], refresh[32];

	snprintf(title, sizeof(title), " locus top %d  %s  %s%s  every %s%s%s%s%s",
	         (int)t->target.pid, views[t->view], t->whole ? "all" : "last ",
	         t->whole ? "" : time_text(window, sizeof(window), t->window_ns),
	         time_text(refresh, sizeof(refresh), t->refresh_ns), *t->frame ? "  below " : "",
	         t->frame, t->paused ? "  paused" : "", t->ended ? "  the program has ended" : "");
	lc_top_screen_draw(title);
}

/* ---- keys ---- */

static void change_speed(struct top *t, bool faster)
{
	t->refresh_ns = faster ? t->refresh_ns / 2 : t->refresh_ns * 2;
	if (t->refresh_ns < REFRESH_NS_MIN)
		t->refresh_ns = REFRESH_NS_MIN;
	if (t->refresh_ns > REFRESH_NS_MAX)
		t->refresh_ns = REFRESH_NS_MAX;
}

static void change_view(struct top *t, size_t by)
{
	t->view = (t->view + by) % VIEWS;
	free(t->text); /* the next report is shown from its top */
	t->text = NULL;
	lc_top_screen_text("", false);
}

static void change_help(struct top *t)
{
	t->help = !t->help;
	lc_top_screen_text(t->help ? lc_top_screen_help() : t->text ? t->text : "", false);
}

/* Do what a key asks for. Returns whether a new report is to be made at once. */
static bool obey(struct top *t, enum lc_top_key key)
{
	switch (key) {
	case LC_TOP_QUIT:
		asked = SIGINT;
		return false;
	case LC_TOP_NEXT_VIEW:
		change_view(t, 1);
		return true;
	case LC_TOP_PREVIOUS_VIEW:
		change_view(t, VIEWS - 1);
		return true;
	case LC_TOP_WINDOW:
		t->whole = !t->window_ns || !t->whole;
		return true;
	case LC_TOP_PAUSE:
		t->paused = !t->paused;
		return !t->paused;
	case LC_TOP_FASTER:
		change_speed(t, true);
		return false;
	case LC_TOP_SLOWER:
		change_speed(t, false);
		return false;
	case LC_TOP_FRAME:
		return lc_top_screen_ask(" only call paths with: ", t->frame);
	case LC_TOP_HELP:
		change_help(t);
		return false;
	case LC_TOP_REFRESH:
	case LC_TOP_RESIZED:
		return true;
	default:
		return false;
	}
}

static bool read_keys(struct top *t)
{
	bool again = true, now = false;

	while (again && !asked)
		now |= obey(t, lc_top_screen_key(&again));
	return now;
}

/* ---- the loop ---- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* Wait for a key, for the report, or until the next one is due; a signal ends it. */
static void wait_for_news(const struct top *t, uint64_t until_ns)
{
	const uint64_t now = now_ns();
	struct pollfd fds[] = { { t->batch ? -1 : STDIN_FILENO, POLLIN, 0 },
		                { t->refresh.pid ? t->refresh.fd : -1, POLLIN, 0 } };
	const bool idle = !t->refresh.pid && (t->paused || t->ended);

	(void)poll(fds, 2,
	           idle             ? (int)(REFRESH_NS_MAX / MS_NS)
	           : until_ns > now ? (int)((until_ns - now) / MS_NS + 1)
	           : t->refresh.pid ? -1
	                            : 0);
}

static bool readable(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

/* Has the command nothing more to show? */
static bool finished(const struct top *t)
{
	return asked || (t->count && t->done >= t->count) ||
	       (t->batch && t->ended && !t->refresh.pid);
}

static int show(struct top *t)
{
	uint64_t due = now_ns();
	int status = 0;

	while (!status && !finished(t)) {
		bool wanted = !t->batch && read_keys(t);

		if (t->refresh.pid && readable(t->refresh.fd))
			status = take_report(t);
		wanted |= now_ns() >= due && !t->paused && !t->ended;
		if (!status && wanted && !t->refresh.pid) {
			due = now_ns() + t->refresh_ns;
			status = start_report(t);
		} else if (wanted) {
			due = now_ns(); /* as soon as this one has ended */
		}
		if (!t->batch)
			draw(t);
		if (!finished(t))
			wait_for_news(t, due);
	}
	return status;
}

static void ask_to_end(int signal)
{
	asked = signal;
}

/* Without SA_RESTART: poll() returns. */
static void take_signals(void)
{
	struct sigaction end = { .sa_handler = ask_to_end }, ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

int lc_cmd_top(int argc, char **argv)
{
	struct top t = { .window_ns = 60 * SECOND_NS };
	pid_t pid = 0;
	int status;

	lc_options_init(&t.options);
	status = read_arguments(&t, argc, argv, &pid);
	if (status)
		return status < 0 ? 0 : status;
	take_signals();
	status = begin(&t, pid);
	if (!status && !t.batch)
		status = lc_top_screen_begin();
	if (!status)
		status = show(&t);
	lc_top_screen_end();
	end(&t);
	return status;
}
