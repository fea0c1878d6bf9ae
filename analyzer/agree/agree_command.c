/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_command.c - runs `locus agree`: reads the options, runs a program under several
 * profilers or reads earlier runs, and reports how far the profilers agree.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/agree/agree_impl.h"
#include "analyzer/agree/agree_record.h"
#include "analyzer/agree/agree_run.h"
#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/new_directory.h"
#include "analyzer/base/replace.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/commands/agent_setting.h"
#include "analyzer/commands/child.h"
#include "analyzer/repeat/repeat_options.h"

enum { ROWS_MAX = 56, TOP = 10, NAME_BYTES = 64 };
enum { FORMATS = 2 }; /* text and JSON */

#define PROFILERS "locus,async,jfr,jfr-debug,perf"

/* Options that are not the agent's. */
enum own {
	OWN_RUNS,
	OWN_PROFILERS,
	OWN_ASYNC,
	OWN_TRUTH,
	OWN_TRUTH_AT,
	OWN_TIMEOUT,
	OWN_STDERR,
	OWN_OUTPUT,
	OWN_RESUME,
	OWN_FORMAT,
	OWN_FILE,
	OWN_TOP,
	OWN_NO_PAGER,
	OWN_COUNT
};

static const struct lc_option_info own[OWN_COUNT] = {
	[OWN_RUNS] = { "runs", 'n', "COUNT", "N", "10", "rounds",
	               "run the program N times under each profiler, 1 to 1000; intervals need 5 "
	               "or more" },
	[OWN_PROFILERS] = { "profilers", 'p', "STRING", "LIST", PROFILERS, "",
	                    "profilers, separated by commas; NAME=COMMAND is your own: Locus "
	                    "starts COMMAND FILE java ..., which writes collapsed stacks to FILE" },
	[OWN_ASYNC] = { "async-profiler", 0, "STRING", "FILE", "", "",
	                "async-profiler's library, or its jar of Maven Central; default: that of "
	                "PATH or of Maven's repository, or else fetched" },
	[OWN_TRUTH] = { "truth", 0, "FLAG", "", "off", "",
	                "also run with known delays in the hottest methods, and show how much of "
	                "them each profiler sees" },
	[OWN_TRUTH_AT] = { "truth-at", 0, "STRING", "METHOD,...", "", "",
	                   "put the delays into METHOD, such as java.util.HashMap.getNode; "
	                   "implies --truth" },
	[OWN_TIMEOUT] = LC_REPEAT_ROW_TIMEOUT,
	[OWN_STDERR] = LC_REPEAT_ROW_STDERR,
	[OWN_OUTPUT] = LC_REPEAT_ROW_OUTPUT,
	[OWN_RESUME] = { "resume", 0, "FLAG", "", "off", "",
	                 "continue the runs in the directory of --output, which the same command "
	                 "line made; begin if it is empty" },
	[OWN_FORMAT] = { "format", 0, "CHOICE", "text|json", "text", "", "output format" },
	[OWN_FILE] = LC_REPORT_ROW_FILE,
	[OWN_TOP] = { "top", 0, "COUNT", "N", "", "rows",
	              "show the first N methods (text: 10, JSON: all)" },
	[OWN_NO_PAGER] = LC_REPORT_ROW_NO_PAGER,
};

/* In the place of the agent's, which names one profile. */
static const struct lc_option_info output = { "output",
	                                      'o',
	                                      "STRING",
	                                      "DIR",
	                                      "locus-agree-TIME",
	                                      "",
	                                      "new directory for the runs and the result" };

struct settings {
	struct lc_report_settings common;
	struct lc_agree_request request;
	size_t rounds;
	struct lc_repeat_line line; /* its operand is a directory of runs */
	const char *runs;           /* a directory of runs that are there; or NULL */
	char name[NAME_BYTES], directory[PATH_MAX];
};

const struct lc_option_info *lc_cmd_agree_options(size_t *count)
{
	static struct lc_option_info rows[ROWS_MAX];

	*count = lc_repeat_rows(rows, &output, own, OWN_COUNT);
	return rows;
}

/* ---- the command line ---- */

static int set_truth_at(struct settings *s, const char *value)
{
	if (!*value || strpbrk(value, ";: \t\"'"))
		return lc_usage("--truth-at: '%.64s' is not a list of methods, such as "
		                "java.util.HashMap.getNode",
		                value);
	s->request.truth_at = value;
	s->request.truth = true;
	return 0;
}

static int set_own(void *context, int row, const char *value)
{
	struct settings *s = context;
	int status;

	if (row < OWN_STDERR)
		s->line.for_runs = own[row].name;
	switch (row) {
	case OWN_RUNS:
		return lc_repeat_set_count(&own[row], value, LC_REPEAT_RUNS_MAX, &s->rounds);
	case OWN_PROFILERS:
		s->request.profilers = value;
		return 0;
	case OWN_ASYNC:
		s->request.async_file = value;
		return 0;
	case OWN_TRUTH:
		s->request.truth = true;
		return 0;
	case OWN_TRUTH_AT:
		return set_truth_at(s, value);
	case OWN_TIMEOUT:
		return lc_repeat_set_timeout(value, &s->request.timeout_ns);
	case OWN_STDERR:
		s->request.any_stderr = true;
		return 0;
	case OWN_OUTPUT:
		s->request.any_output = true;
		return 0;
	case OWN_RESUME:
		s->request.resume = true;
		s->line.for_runs = own[row].name;
		return 0;
	case OWN_TOP:
		return lc_repeat_set_count(&own[row], value, UINT32_MAX, &s->common.top);
	case OWN_NO_PAGER:
		s->common.no_pager = true;
		return 0;
	default:
		(void)lc_report_set_output(&s->common, &own[row], value, &status);
		return status;
	}
}

/* Refuse arguments that do not fit together before anything runs. */
static int check(struct settings *s)
{
	char error[256];

	if (s->request.command && s->runs)
		return lc_usage("agree: '%.200s' is before '--'; name either the directory of "
		                "earlier runs, or a program after '--'",
		                s->runs);
	if (!s->request.command && !s->runs)
		return lc_usage(
		    "agree: no program to run; write 'locus agree -n 10 -- java ...', or "
		    "name the directory of earlier runs");
	if (!s->request.command && s->line.for_runs)
		return lc_usage("--%s needs a program to run; earlier runs are only read",
		                s->line.for_runs);
	if (s->request.resume && !s->request.directory)
		return lc_usage("--resume needs --output, the directory of the earlier runs");
	if (lc_options_check(&s->request.machine.options, error, sizeof(error)))
		return lc_usage("%s", error);
	if (s->common.file && !s->common.format_chosen)
		return lc_report_format_of(&own[OWN_FORMAT], s->common.file, &s->common.format);
	return 0;
}

/* Returns as lc_repeat_parse() does. */
static int parse(struct settings *s, int argc, char **argv)
{
	struct lc_repeat_line *l = &s->line;
	int status;

	l->rows = lc_cmd_agree_options(&l->rows_len);
	l->own_len = OWN_COUNT;
	l->options = &s->request.machine.options;
	l->set = set_own;
	l->context = s;
	l->operands = lc_mem_zeroed((size_t)argc, sizeof(*l->operands));
	status = lc_repeat_parse(l, argc, argv);
	s->request.command = l->command;
	s->request.directory = l->directory;
	if (!status && l->operands_len > 1)
		status = lc_usage("agree: name only one directory of runs");
	s->runs = l->operands[0];
	return status ? status : check(s);
}

/* ---- runs ---- */

static bool has_record(const char *directory)
{
	char *path = lc_mem_text("%s/" LC_AGREE_RECORD, directory);
	const bool has = access(path, F_OK) == 0;

	free(path);
	return has;
}

/* The directory stands in options of JVMs and of agents, where these characters mean something. */
static int prepare(struct settings *s)
{
	struct lc_agree_machine *m = &s->request.machine;
	bool made;

	m->preloaded = getenv("LD_PRELOAD");
	m->tool_options = getenv("JAVA_TOOL_OPTIONS");
	m->preloaded = m->preloaded ? lc_mem_text("%s", m->preloaded) : NULL;
	m->tool_options = m->tool_options ? lc_mem_text("%s", m->tool_options) : NULL;
	if (!s->request.directory)
		s->request.directory = lc_repeat_directory("locus-agree", s->name, sizeof(s->name));
	if (!(s->request.resume && has_record(s->request.directory)) &&
	    lc_new_directory(s->request.directory, &made))
		return LC_EXIT_FAILED;
	if (!realpath(s->request.directory, s->directory))
		return lc_fail("cannot use output directory '%s': %m", s->request.directory);
	if (strpbrk(s->directory, "%, \t\"';"))
		return lc_usage("--output: '%.200s' has a character that JVM options cannot "
		                "contain; choose another directory",
		                s->directory);
	s->request.directory = s->directory;
	return 0;
}

/* The runs so far decide where delays go. */
static int run_delays(struct settings *s)
{
	struct lc_agree a;
	int status;

	lc_agree_init(&a);
	status =
	    lc_agree_record_read(&a, s->directory, s->request.any_stderr, s->request.any_output);
	if (!status)
		status = lc_agree_run_delays(&a, &s->request);
	lc_agree_free(&a);
	return status;
}

static int run(struct settings *s)
{
	struct lc_agree a;
	int status = lc_agent_check_events(&s->request.machine.options);

	lc_agree_init(&a);
	a.rounds = s->rounds;
	if (!status)
		status = lc_agree_parse_sides(&a, s->request.profilers);
	if (!status)
		status = prepare(s);
	if (!status && s->request.resume && has_record(s->directory))
		status = lc_agree_resume(&a, &s->request);
	if (!status)
		status = lc_agree_run(&a, &s->request);
	lc_agree_free(&a);
	if (!status && s->request.truth && !lc_child_asked())
		status = run_delays(s);
	lc_child_leave_signals();
	return status;
}

/* ---- the report ---- */

static void (*const writers[FORMATS])(FILE *, const struct lc_agree *, size_t) = { lc_agree_text,
	                                                                           lc_agree_json };

static const size_t tops[FORMATS] = { TOP, SIZE_MAX };

/* A file beside the runs. */
struct result {
	const struct lc_agree *a;
	size_t format;
};

static void put_result(FILE *out, const void *of)
{
	const struct result *result = of;

	writers[result->format](out, result->a, tops[result->format]);
}

/* Beside the runs, in every format. */
static int keep_result(const struct settings *s, const struct lc_agree *a)
{
	static const char *const names[FORMATS] = { "result.txt", "result.json" };
	int status = 0;

	for (size_t i = 0; i < FORMATS && !status; i++) {
		const struct result result = { a, i };
		char *path = lc_mem_text("%s/%s", s->directory, names[i]);

		status = lc_replace_whole(path, put_result, &result);
		free(path);
	}
	if (!status)
		lc_note("runs and result in %s; see: locus agree %s", s->directory, s->directory);
	return status;
}

static int write_report(const struct settings *s, const struct lc_agree *a)
{
	FILE *out = lc_report_open(&s->common);

	if (!out)
		return LC_EXIT_FAILED;
	writers[s->common.format](out, a, s->common.top ? s->common.top : tops[s->common.format]);
	return lc_report_close(out, &s->common);
}

/* Each run that is left out is in the report; stderr has the reason of the first. */
static int say_left_out(const struct lc_agree *a)
{
	const struct lc_repeat_run *first = NULL;
	size_t missing = 0;

	for (size_t i = 0; i < a->all.runs_len && !first; i++)
		first = a->all.runs[i].state != LC_REPEAT_COUNTED ? &a->all.runs[i] : NULL;
	for (size_t i = 0; i < a->sides_len; i++)
		missing += a->sides[i].absent ? 0 : a->rounds - a->sides[i].runs;
	if (!first && !missing)
		return 0;
	if (first)
		lc_fail("%zu of %zu runs counted; %s was left out: %s", a->all.counted,
		        a->all.runs_len + missing, first->name, first->why);
	else
		lc_fail("%zu of %zu runs counted; the others were not started", a->all.counted,
		        a->all.runs_len + missing);
	return a->compared ? LC_EXIT_PARTIAL : LC_EXIT_FAILED;
}

static int report(struct settings *s)
{
	struct lc_agree a;
	int status, left_out;

	lc_agree_init(&a);
	status = lc_agree_record_read(&a, s->runs ? s->runs : s->directory, s->request.any_stderr,
	                              s->request.any_output);
	if (!status) {
		left_out = say_left_out(&a);
		status = write_report(s, &a);
		if (!status && s->request.command)
			status = keep_result(s, &a);
		status = status ? status : left_out;
	}
	lc_agree_free(&a);
	return status;
}

int lc_cmd_agree(int argc, char **argv)
{
	struct settings s = { .rounds = LC_REPEAT_RUNS, .request.profilers = PROFILERS };
	int status;

	lc_options_init(&s.request.machine.options);
	status = parse(&s, argc, argv);
	if (!status && s.request.command)
		status = run(&s);
	if (!status)
		status = report(&s);
	else if (status < 0)
		status = lc_answer(status, argv[0]);
	free(s.line.operands);
	free((char *)(uintptr_t)s.request.machine.preloaded);
	free((char *)(uintptr_t)s.request.machine.tool_options);
	return status;
}
