/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/run.c - runs `locus run`, which starts a command so that the JVM in it is profiled.
 *
 * The command is a child, not ourselves: only when it has ended is it known whether there was a JVM
 * in it. Its exit status, or the signal that ended it, becomes ours.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/libraries.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/commands/agent_setting.h"
#include "analyzer/commands/child.h"
#include "analyzer/commands/run_profiles.h"
#include "analyzer/commands/run_told.h"
#include "analyzer/commands/track_from.h"

enum { RUN_OPTIONS_MAX = 40 };

struct run {
	struct lc_options options;
	bool verbose, quiet;
	const char *file;       /* of the report; NULL: none is made */
	const char *track_from; /* a profile; NULL: none */
	char **command;
	char agent[PATH_MAX];
	char preload[PATH_MAX];
	struct timespec start;
};

/* Options that are not the agent's. */
enum own { OWN_FILE, OWN_QUIET, OWN_TRACK_FROM, OWN_VERBOSE, OWN_COUNT };

static const struct lc_option_info own_options[OWN_COUNT] = {
	[OWN_FILE] = { "file", 'f', "STRING", "FILE", "", "",
	               "write a report to FILE at the end, as 'locus report -f FILE' does" },
	[OWN_QUIET] = { "quiet", 'q', "FLAG", "", "off", "",
	                "print nothing at the end if all went well" },
	[OWN_TRACK_FROM] = LC_TRACK_FROM_ROW,
	[OWN_VERBOSE] = { "verbose", 'v', "FLAG", "", "off", "",
	                  "print on stderr how Locus starts the command" },
};

const struct lc_option_info *lc_cmd_run_options(size_t *count)
{
	static struct lc_option_info rows[RUN_OPTIONS_MAX];
	const struct lc_option_info *table = lc_option_table(count);

	memcpy(rows, table, *count * sizeof(*table));
	memcpy(rows + *count, own_options, sizeof(own_options));
	*count += OWN_COUNT;
	return rows;
}

/* A name that no report can have is refused before the program starts. */
static int check_file(const char *file)
{
	size_t count, format;
	const struct lc_option_info *rows = lc_cmd_report_options(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].name, "format") == 0)
			return lc_report_format_of(&rows[i], file, &format);
	return 0;
}

static int set_own(struct run *r, int row, const char *value)
{
	if (row == OWN_FILE) {
		r->file = value;
		return check_file(value);
	}
	if (row == OWN_TRACK_FROM)
		r->track_from = value;
	else if (row == OWN_QUIET)
		r->quiet = true;
	else
		r->verbose = true;
	return 0;
}

/* Returns 0, an exit status after an error, or -1 when there is nothing more to do (help). */
static int parse_arguments(struct run *r, int argc, char **argv)
{
	struct lc_args args = { .argc = argc, .argv = argv, .next = 1 };
	const char *value;
	char error[256];
	int row, status = 0;

	args.table = lc_cmd_run_options(&args.count);
	lc_options_init(&r->options);
	while ((row = lc_args_next(&args, &value)) >= 0) {
		if ((size_t)row >= args.count - OWN_COUNT)
			status = set_own(r, row - (int)(args.count - OWN_COUNT), value);
		else if (lc_options_set(&r->options, args.table[row].name, value, error,
		                        sizeof(error)) != 0)
			status = lc_usage("%s", error);
		if (status)
			return status;
	}
	if (row == LC_ARGS_ERROR)
		return LC_EXIT_USAGE;
	if (row == LC_ARGS_HELP || row == LC_ARGS_VERSION)
		return lc_answer(row, "run") ? 1 : -1;
	if (row == LC_ARGS_END)
		return lc_usage("no command to run; write 'locus run -- java ...'");
	status = r->track_from ? lc_track_from(r->track_from, &r->options) : 0;
	if (status)
		return status == LC_EXIT_USAGE ? status : LC_EXIT_TOOL;
	if (lc_options_check(&r->options, error, sizeof(error)))
		return lc_usage("%s", error);
	r->command = argv + args.next - 1;
	return 0;
}

static int check_output(const struct run *r)
{
	static const struct timespec ever = { 0, 0 };
	const char *output = r->options.output;
	char directory[LC_OPTION_TEXT_MAX];

	if (!strchr(output, '%') && lc_run_profiles(output, &ever, NULL))
		return lc_fail("'%s' already holds a profile; remove it, or choose another "
		               "directory with --output",
		               output);
	errno = 0;
	if (!lc_libraries_deepest_directory(output, directory, sizeof(directory)) ||
	    !lc_libraries_writable(directory))
		return lc_fail("cannot write a profile to '%s': %m; choose another directory "
		               "with --output",
		               output);
	return 0;
}

static int set_environment(const struct run *r)
{
	char *agent;

	if (lc_agent_preload(r->preload) || lc_agent_launch(r->agent, &r->options, &agent))
		return 1;
	if (r->verbose)
		fprintf(stderr, "locus: LD_PRELOAD=%s\nlocus: java %s\n", getenv("LD_PRELOAD"),
		        agent);
	free(agent);
	return 0;
}

int lc_cmd_run(int argc, char **argv)
{
	struct run r = { .verbose = false };
	struct lc_run_told told;
	int status, err;
	char *profile;
	size_t count;
	bool forked;

	status = parse_arguments(&r, argc, argv);
	if (status != 0)
		return status < 0 ? 0 : status;
	status = lc_agent_check_events(&r.options);
	if (!status)
		status = lc_agent_output(&r.options);
	if (status)
		return status;
	if (lc_agent_library("liblocus.so", r.agent) ||
	    lc_agent_library("liblocus-preload.so", r.preload) || check_output(&r) ||
	    set_environment(&r))
		return LC_EXIT_TOOL;
	lc_run_told_begin(&told);
	clock_gettime(CLOCK_REALTIME_COARSE, &r.start); /* the clock of a file's times */
	err = lc_child_start(r.command, &forked);
	if (err)
		return lc_agent_not_started(r.command[0], err, forked);
	status = lc_child_wait();
	count = lc_run_profiles(r.options.output, &r.start, &profile);
	if (!count) {
		char *why = lc_run_told_why(&told, r.command[0], "the lines above");

		lc_fail("%s", why);
		free(why);
		return lc_child_end_like(status);
	}
	lc_run_told_end(&told);
	if (r.file && lc_run_report(profile, r.file)) {
		r.file = NULL;
		status = status ? status : LC_CHILD_ENDED(LC_EXIT_FAILED);
	}
	if (!r.quiet)
		lc_run_summary(profile, count, r.file);
	free(profile);
	return lc_child_end_like(status);
}
