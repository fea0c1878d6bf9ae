/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/attach.c - runs `locus attach`, `detach`, `status` and `dump`: tells the agent in a
 * running JVM to start, stop, report its state, or write its profile.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/commands/agent_setting.h"
#include "analyzer/commands/attach_request.h"
#include "analyzer/commands/attach_target.h"
#include "analyzer/commands/metrics.h"
#include "analyzer/commands/track_from.h"

enum {
	ATTACH_OPTIONS_MAX = 40,
};

const struct lc_option_info *lc_cmd_attach_options(size_t *count)
{
	static struct lc_option_info rows[ATTACH_OPTIONS_MAX];
	const struct lc_option_info *table = lc_option_table(count);

	memcpy(rows, table, *count * sizeof(*table));
	rows[(*count)++] = (struct lc_option_info)LC_TRACK_FROM_ROW;
	return rows;
}

enum hold_row { ROW_HOLDERS, ROW_PAUSE, HOLD_ROWS };

static const struct lc_option_info hold_rows[HOLD_ROWS] = {
	[ROW_HOLDERS] = { "holders", 0, "FLAG", "", "off", "",
	                  "walk the heap once, which stops the program: record by which references "
	                  "objects of the lines that grow and hold most are held" },
	[ROW_PAUSE] = { "max-pause", 0, "DURATION", "TIME", "500ms", "ns",
	                "with --holders: end the walk after TIME, with what it has found" },
};

const struct lc_option_info *lc_cmd_detach_options(size_t *count)
{
	*count = HOLD_ROWS;
	return hold_rows;
}

const struct lc_option_info *lc_cmd_status_options(size_t *count)
{
	static const struct lc_option_info rows[] = {
		{ "metrics", 0, "FLAG", "", "off", "",
		  "print numbers for Prometheus: the heap, and what the 20 lines that hold most "
		  "have live; this has the agent write its profile" },
	};

	*count = sizeof(rows) / sizeof(rows[0]);
	return rows;
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
	return lc_attach_request(&t, library, "attach", text, NULL);
}

struct attach_arguments {
	struct lc_args args;
	struct lc_options options;
	const char *track_from; /* a profile; NULL: none */
	bool metrics;
};

static int set_option(void *context, int row, const char *value)
{
	struct attach_arguments *a = context;
	char error[256];

	if (!strcmp(a->args.table[row].name, "track-from")) {
		a->track_from = value;
		return 0;
	}
	if (!strcmp(a->args.table[row].name, "metrics")) {
		a->metrics = true;
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
		status = lc_attach_pid(operands[0], pid);
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

static int print_metrics(const struct lc_attach_target *t)
{
	char *directory = NULL;
	int status = lc_attach_dump(t, t->library, &directory);

	if (!status)
		status = lc_metrics_print(directory);
	free(directory);
	return status;
}

/* A command for an agent that is loaded; `hold`: it has the options of a walk. */
static int command(const char *name, bool hold, int argc, char **argv)
{
	struct attach_arguments a = { .args = { .argc = argc, .argv = argv, .next = 1 } };
	struct lc_attach_reader reader = { 0 };
	struct lc_attach_target t;
	char options[64] = "", error[256];
	pid_t pid = 0;
	int status;

	lc_options_init(&a.options);
	a.args.table =
	    hold ? lc_cmd_detach_options(&a.args.count) : lc_cmd_status_options(&a.args.count);
	status = read_arguments(&a, name, &pid);
	if (status)
		return status < 0 ? 0 : status;
	if (lc_options_check(&a.options, error, sizeof(error)))
		return lc_usage("%s", error);
	if (a.options.holders) {
		snprintf(options, sizeof(options), "holders %" PRIu64, a.options.max_pause_ns);
		reader.seconds = (unsigned)(2 * a.options.max_pause_ns / UINT64_C(1000000000));
	}
	if (lc_attach_look(pid, &t))
		return LC_EXIT_FAILED;
	if (!t.library[0])
		return lc_fail("JVM %d has no Locus agent", (int)pid);
	if (lc_attach_become(&t))
		return LC_EXIT_FAILED;
	return a.metrics ? print_metrics(&t)
	                 : lc_attach_request(&t, t.library, name, options, &reader);
}

int lc_cmd_detach(int argc, char **argv)
{
	return command("detach", true, argc, argv);
}

int lc_cmd_status(int argc, char **argv)
{
	return command("status", false, argc, argv);
}

int lc_cmd_dump(int argc, char **argv)
{
	return command("dump", true, argc, argv);
}
