/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - finds the command of `locus` and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/progress.h"
#include "analyzer/cli/command.h"
#include "src/base/nearest.h"

static const struct lc_command commands[] = {
	{ "run", "[--] COMMAND [ARGUMENT]...", "run a Java program and record a profile",
	  lc_cmd_run, lc_cmd_run_options },
	{ "attach", "PID", "record a profile in a running JVM", lc_cmd_attach,
	  lc_cmd_attach_options },
	{ "detach", "PID", "end the recording in a JVM and restore the JVM", lc_cmd_detach,
	  lc_cmd_detach_options },
	{ "status", "PID", "show whether a JVM is being recorded, and how", lc_cmd_status,
	  lc_cmd_status_options },
	{ "dump", "PID", "have a JVM write everything recorded so far", lc_cmd_dump,
	  lc_cmd_detach_options },
	{ "top", "PID", "show a JVM's report on a terminal again and again, while it runs",
	  lc_cmd_top, lc_cmd_top_options },
	{ "holders", "PID", "show through which references a JVM's live objects are held",
	  lc_cmd_holders, lc_cmd_holders_options },
	{ "report", "[PROFILE]...", "show which objects cost the most, and which code touches them",
	  lc_cmd_report, lc_cmd_report_options },
	{ "numa", "[PROFILE]...", "show which objects are on the wrong NUMA node, and what to do",
	  lc_cmd_numa, lc_cmd_numa_options },
	{ "spans", "[PROFILE]...",
	  "show which streams and tasks cost the most cycles, and what to do", lc_cmd_spans,
	  lc_cmd_spans_options },
	{ "diff", "BEFORE AFTER",
	  "show what changed between two profiles, or two groups of profiles", lc_cmd_diff,
	  lc_cmd_diff_options },
	{ "repeat", "[PROFILE]... [-- COMMAND [ARGUMENT]...]",
	  "run a program several times, and show how well its profiles agree", lc_cmd_repeat,
	  lc_cmd_repeat_options },
	{ "agree", "[DIR] [-- COMMAND [ARGUMENT]...]",
	  "run a program under several profilers, and show how well they agree", lc_cmd_agree,
	  lc_cmd_agree_options },
	{ "bench", "[PROFILE] [-- COMMAND [ARGUMENT]...]",
	  "make a JMH benchmark of a hot loop, with the program's inputs, and run it", lc_cmd_bench,
	  lc_cmd_bench_options },
	{ "merge", "PROFILE...", "merge several profiles into one", lc_cmd_merge,
	  lc_cmd_merge_options },
	{ "list", "[DIR]...", "list the profiles in directories, with their hosts and labels",
	  lc_cmd_list, lc_cmd_list_options },
	{ "calibrate", "", "measure the cost of recording a span on this machine", lc_cmd_calibrate,
	  lc_cmd_calibrate_options },
	{ "doctor", "", "check whether profiling works on this machine, and say what to change",
	  lc_cmd_doctor, lc_cmd_doctor_options },
	{ "mcp", "[DIR]...", "serve profiles to AI agents (Model Context Protocol)", lc_cmd_mcp,
	  lc_cmd_mcp_options },
	{ "agent-args", "", "print the settings for a JVM that another program starts",
	  lc_cmd_agent_args, lc_cmd_agent_args_options },
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

const struct lc_command *lc_command_table(size_t *count)
{
	*count = COMMAND_COUNT;
	return commands;
}

static int unknown_command(const char *word)
{
	const char *names[COMMAND_COUNT + 1];
	const char *near;

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i].name;
	names[COMMAND_COUNT] = "help";
	near = lc_nearest(word, names, COMMAND_COUNT + 1);
	if (near)
		return lc_usage("unknown command '%.64s'; did you mean 'locus %s'?", word, near);
	return lc_usage("unknown command '%.64s'; 'locus help' lists them", word);
}

/* A report that could not be written (a full disk, a closed pipe) is not a success. */
static int finish(int status)
{
	lc_progress_end();
	if (fflush(stdout) != 0 || ferror(stdout))
		return status ? status : lc_fail("cannot write to stdout: %m");
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		lc_help(stderr, NULL);
		return LC_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		lc_version();
		return finish(0);
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0)
		return finish(lc_cmd_help(argc - 1, argv + 1));
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return finish(commands[i].run(argc - 1, argv + 1));
	if (argv[1][0] == '-')
		return lc_usage("unknown option '%.64s'; 'locus help' lists the commands", argv[1]);
	return unknown_command(argv[1]);
}
