/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/calibrate.c - runs `locus calibrate`, which measures the cost of recording a span before
 * a profile needs it.
 *
 * The agent measures, in the JVM that the user names: the command runs an empty program and reads
 * the result from its profile, which it removes.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/libraries.h"
#include "analyzer/commands/doctor.h"
#include "analyzer/commands/scratch.h"
#include "analyzer/model/manifest_file.h"
#include "analyzer/out/emit.h"
#include "src/format/block.h"

enum row { ROW_JDK, ROW_CLOCK, ROW_COUNT };
enum { SECONDS = 120 };

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_JDK] = { "jdk", 0, "STRING", "DIR", "", "",
	              "JDK to measure in; default: that of the java on PATH" },
	[ROW_CLOCK] = { "clock", 0, "CHOICE", "auto|rdpmc|tsc|coarse", "auto", "",
	                "cycle clock of spans, as for 'locus run'" },
};

const struct lc_option_info *lc_cmd_calibrate_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

/* The agent's argument for the JVM. Never NULL; free() it. */
static char *agent_argument(struct lc_options *options, const char *dir)
{
	char library[PATH_MAX], text[LC_OPTIONS_TEXT_MAX], error[LC_LIBRARIES_ERROR_MAX];

	if (lc_options_set(options, "output", dir, error, sizeof(error)) ||
	    lc_options_set(options, "spans", "streams,tasks", error, sizeof(error)) ||
	    lc_options_set(options, "event", "timer", error, sizeof(error)) ||
	    lc_options_set(options, "calibrate", "on", error, sizeof(error)) ||
	    lc_libraries_find("liblocus.so", library, error)) {
		lc_fail("%s", error);
		return NULL;
	}
	if (lc_options_format(options, text, sizeof(text)) < 0) {
		lc_fail("the options are too long");
		return NULL;
	}
	return lc_mem_text("-agentpath:%s=%s", library, text);
}

/* Start the JVM with the agent. Returns 0, or 1 after one line on stderr. */
static int run_java(const char *jdk, char *agent)
{
	char java[PATH_MAX];
	char *env = (char[]){ "/usr/bin/env" };
	char *const on_path[] = { env, (char[]){ "java" }, agent, (char[]){ "-version" }, NULL };
	char *const given[] = { java, agent, (char[]){ "-version" }, NULL };
	char *said = NULL;
	int status;

	if (jdk) {
		if ((size_t)snprintf(java, sizeof(java), "%s/bin/java", jdk) >= sizeof(java) ||
		    access(java, X_OK) != 0)
			return lc_fail("no bin/java in '%s': %m", jdk);
	}
	status = lc_doctor_capture(jdk ? given : on_path, NULL, SECONDS, &said);
	if (status != 0 && said)
		fputs(said, stderr);
	free(said);
	if (status == -ETIMEDOUT)
		return lc_fail("the JVM did not end within %d s", SECONDS);
	if (status != 0)
		return lc_fail("%s could not be run", jdk ? java : "no java on PATH, or it");
	return 0;
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void print_line(const char *name, const char *text)
{
	printf("%-12s ", name);
	lc_emit_text_c(stdout, text);
	putchar('\n');
}

/* Returns 0, or 1 where nothing was measured. */
static int print_table(const json_t *process)
{
	const json_t *spans = json_object_get(process, "spans"), *row;
	const json_t *costs = json_object_get(spans, "costs");
	size_t i;

	if (!json_array_size(costs))
		return lc_fail("nothing was measured%s%s",
		               text_of(spans, "calibration_warning")[0] ? ": " : "",
		               text_of(spans, "calibration_warning"));
	print_line("jdk", text_of(process, "jdk"));
	printf("%-12s %s, %.0f MHz", "clock", text_of(spans, "clock"),
	       json_number_value(json_object_get(spans, "clock_hz")) / 1e6);
	if (text_of(spans, "clock_reason")[0])
		printf(" (%s)", text_of(spans, "clock_reason"));
	printf("\n\n%-12s %9s %9s\n", "cost", "cycles", "variation");
	for (i = 0; i < json_array_size(costs); i++) {
		row = json_array_get(costs, i);
		printf("%-12s %9.1f %8.1f%%\n", text_of(row, "name"),
		       json_number_value(json_object_get(row, "mean_cycles")),
		       100 * json_number_value(json_object_get(row, "variation")));
	}
	if (text_of(spans, "calibration_warning")[0]) {
		putchar('\n');
		print_line("warning", text_of(spans, "calibration_warning"));
	}
	return 0;
}

static int show(const char *dir)
{
	char *why;
	json_t *m = lc_manifest_load(dir, &why);
	const json_t *process = json_array_get(json_object_get(m, "processes"), 0);
	int status;

	if (!process)
		process = m;
	if (m)
		status = print_table(process);
	else
		status = lc_fail("the JVM wrote no profile; run 'locus doctor' to find out why");
	json_decref(m);
	free(why);
	return status;
}

/* Measure in directory `dir`, which is the profile's. */
static int calibrate(const char *jdk, struct lc_options *options, const char *dir)
{
	char *profile = lc_mem_text("%s/profile", dir);
	char *agent = agent_argument(options, profile);
	int status;

	lc_progress_now("measuring for some seconds");
	status = agent ? run_java(jdk, agent) : 1;
	lc_progress_end();
	if (!status)
		status = show(profile);
	free(agent);
	free(profile);
	return status;
}

int lc_cmd_calibrate(int argc, char **argv)
{
	struct lc_args args = { .argc = argc, .argv = argv, .next = 1 };
	const char *value, *jdk = NULL;
	struct lc_options options;
	char error[256], *dir;
	int row, status;

	lc_options_init(&options);
	args.table = lc_cmd_calibrate_options(&args.count);
	while ((row = lc_args_next(&args, &value)) >= 0) {
		if (row == ROW_JDK)
			jdk = value;
		else if (lc_options_set(&options, "clock", value, error, sizeof(error)) != 0)
			return lc_usage("%s", error);
	}
	if (row == LC_ARGS_ERROR)
		return LC_EXIT_USAGE;
	if (row == LC_ARGS_HELP || row == LC_ARGS_VERSION)
		return lc_answer(row, "calibrate");
	if (row == LC_ARGS_OPERAND)
		return lc_usage(
		    "calibrate: unexpected argument '%.64s'; 'locus help calibrate' lists the "
		    "options",
		    value);
	dir = lc_scratch_make();
	if (!dir)
		return lc_fail("cannot make a directory for the measurement: %m");
	status = calibrate(jdk, &options, dir);
	lc_scratch_remove(dir);
	return status;
}
