/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat_command.c - runs `locus repeat`: reads the options, runs a program several times or
 * reads profiles, and reports their noise.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/base/replace.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/commands/agent_setting.h"
#include "analyzer/commands/child.h"
#include "analyzer/repeat/repeat_impl.h"
#include "analyzer/repeat/repeat_options.h"
#include "analyzer/repeat/repeat_output.h"
#include "analyzer/repeat/repeat_read.h"
#include "analyzer/repeat/repeat_record.h"
#include "analyzer/repeat/repeat_run.h"

enum { ROWS_MAX = 48, TOP = 5, TOP_PAGE = 200, NAME_BYTES = 64 };
enum { AS_TEXT, AS_JSON, AS_HTML, FORMATS };

/* Options that are not the agent's. */
enum own {
	OWN_RUNS,
	OWN_TIMEOUT,
	OWN_STDERR,
	OWN_OUTPUT,
	OWN_GROUP,
	OWN_ENGINE,
	OWN_FORMAT,
	OWN_FILE,
	OWN_TOP,
	OWN_NO_PAGER,
	OWN_COUNT
};

static const struct lc_option_info own[OWN_COUNT] = {
	[OWN_RUNS] = { "runs", 'n', "COUNT", "N", "10", "runs",
	               "run the program N times, 1 to 1000; intervals need 5 or more" },
	[OWN_TIMEOUT] = LC_REPEAT_ROW_TIMEOUT,
	[OWN_STDERR] = LC_REPEAT_ROW_STDERR,
	[OWN_OUTPUT] = LC_REPEAT_ROW_OUTPUT,
	[OWN_GROUP] = { "group", 'g', "CHOICE", "class+line|class|field|package|site", "class+line",
	                "", "what one row of objects stands for, as in 'locus report'" },
	[OWN_ENGINE] = LC_REPORT_ROW_ENGINE("engine whose samples count, if there are several: "
	                                    "its name, or its number in the first profile"),
	[OWN_FORMAT] = { "format", 0, "CHOICE", "text|json|html", "text", "", "output format" },
	[OWN_FILE] = LC_REPORT_ROW_FILE,
	[OWN_TOP] = { "top", 0, "COUNT", "N", "", "rows",
	              "show the first N rows of each table (text: 5, html: 200, JSON: all)" },
	[OWN_NO_PAGER] = LC_REPORT_ROW_NO_PAGER,
};

/* In the place of the agent's, which names one profile. */
static const struct lc_option_info output = { "output",
	                                      'o',
	                                      "STRING",
	                                      "DIR",
	                                      "locus-repeat-TIME",
	                                      "",
	                                      "new directory for the runs and the result" };

struct settings {
	struct lc_report_settings common;
	struct lc_repeat_request request;
	size_t group; /* enum lc_rank_group */
	bool any_stderr, any_output;
	struct lc_repeat_line line; /* its operands are profiles */
	char name[NAME_BYTES];      /* of the directory, where none was given */
};

const struct lc_option_info *lc_cmd_repeat_options(size_t *count)
{
	static struct lc_option_info rows[ROWS_MAX];

	*count = lc_repeat_rows(rows, &output, own, OWN_COUNT);
	return rows;
}

/* ---- the command line ---- */

static int set_own(void *context, int row, const char *value)
{
	struct settings *s = context;
	int status;

	switch (row) {
	case OWN_RUNS:
		s->line.for_runs = own[row].name;
		return lc_repeat_set_count(&own[row], value, LC_REPEAT_RUNS_MAX, &s->request.runs);
	case OWN_TIMEOUT:
		s->line.for_runs = own[row].name;
		return lc_repeat_set_timeout(value, &s->request.timeout_ns);
	case OWN_STDERR:
		s->any_stderr = true;
		return 0;
	case OWN_OUTPUT:
		s->any_output = true;
		return 0;
	case OWN_GROUP:
		return lc_report_choose(&own[row], value, &s->group);
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

	if (s->request.command && s->line.operands_len)
		return lc_usage("repeat: '%.200s' is before '--'; name either profiles, or a "
		                "program after '--'",
		                s->line.operands[0]);
	if (!s->request.command && !s->line.operands_len)
		return lc_usage("repeat: no program to run; write 'locus repeat -n 30 -- java "
		                "...', or name profiles");
	if (!s->request.command && s->line.for_runs)
		return lc_usage("--%s needs a program to run; profiles are only read",
		                s->line.for_runs);
	if (lc_options_check(&s->request.options, error, sizeof(error)))
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

	l->rows = lc_cmd_repeat_options(&l->rows_len);
	l->own_len = OWN_COUNT;
	l->options = &s->request.options;
	l->set = set_own;
	l->context = s;
	l->operands = lc_mem_zeroed((size_t)argc, sizeof(*l->operands));
	status = lc_repeat_parse(l, argc, argv);
	s->request.command = l->command;
	s->request.directory = l->directory;
	return status ? status : check(s);
}

/* ---- runs and profiles ---- */

static int run(struct settings *s)
{
	struct lc_repeat made;
	int status = lc_agent_check_events(&s->request.options);

	if (status)
		return status;
	if (!s->request.directory)
		s->request.directory =
		    lc_repeat_directory("locus-repeat", s->name, sizeof(s->name));
	lc_repeat_init(&made);
	status = lc_repeat_run(&made, &s->request);
	lc_repeat_free(&made);
	return status;
}

/* A profile alone, or the runs that an earlier repeat kept. */
static int add_profile(struct lc_repeat *r, const char *path)
{
	struct lc_repeat_run *one;

	if (lc_repeat_record_in(path))
		return lc_repeat_record_read(r, path);
	one = lc_repeat_add_run(r);
	one->name = lc_mem_text("%s", path);
	lc_repeat_add_profile(one, lc_mem_text("%s", path));
	return 0;
}

static int gather(struct settings *s, struct lc_repeat *r)
{
	int status = 0;

	if (s->request.command)
		return lc_repeat_record_read(r, s->request.directory);
	for (size_t i = 0; i < s->line.operands_len && !status; i++)
		status = add_profile(r, s->line.operands[i]);
	/* A profile's run counts as one that was asked for beside those of directories. */
	for (size_t i = 0; i < r->runs_len; i++)
		r->asked += r->asked && !r->runs[i].directory;
	return status;
}

/* ---- the report ---- */

static void (*const writers[FORMATS])(FILE *, const struct lc_repeat *,
                                      size_t) = { lc_repeat_text, lc_repeat_json, lc_repeat_html };

static const size_t tops[FORMATS] = { TOP, SIZE_MAX, TOP_PAGE };

/* A file beside the runs. */
struct result {
	const struct lc_repeat *r;
	size_t format, top;
};

static void put_result(FILE *out, const void *of)
{
	const struct result *result = of;

	writers[result->format](out, result->r, result->top);
}

/* Beside the runs, in every format. */
static int keep_result(const struct settings *s, const struct lc_repeat *r)
{
	static const char *const names[FORMATS] = { "result.txt", "result.json", "result.html" };
	int status = 0;

	for (size_t i = 0; i < FORMATS && !status; i++) {
		const struct result result = { r, i, tops[i] };
		char *path = lc_mem_text("%s/%s", s->request.directory, names[i]);

		status = lc_replace_whole(path, put_result, &result);
		free(path);
	}
	if (!status)
		lc_note("runs and result in %s; see: locus repeat %s", s->request.directory,
		        s->request.directory);
	return status;
}

static int write_report(const struct settings *s, const struct lc_repeat *r)
{
	FILE *out = lc_report_open(&s->common);

	if (!out)
		return LC_EXIT_FAILED;
	writers[s->common.format](out, r, s->common.top ? s->common.top : tops[s->common.format]);
	return lc_report_close(out, &s->common);
}

/* Each run that is left out is in the report; stderr has the reason of the first. */
static int say_left_out(const struct lc_repeat *r)
{
	const size_t asked = r->asked > r->runs_len ? r->asked : r->runs_len;
	const struct lc_repeat_run *first = NULL;

	for (size_t i = 0; i < r->runs_len && !first; i++)
		first = r->runs[i].state != LC_REPEAT_COUNTED ? &r->runs[i] : NULL;
	if (r->counted == asked)
		return 0;
	if (first)
		lc_fail("%zu of %zu runs counted; %s was left out: %s", r->counted, asked,
		        first->name, first->why);
	else
		lc_fail("%zu of %zu runs counted; the others were not started", r->counted, asked);
	return r->counted ? LC_EXIT_PARTIAL : LC_EXIT_FAILED;
}

static int report(struct settings *s)
{
	struct lc_repeat r;
	int status, left_out;

	lc_repeat_init(&r);
	r.group = (enum lc_rank_group)s->group;
	status = gather(s, &r);
	if (!status) {
		lc_repeat_judge_output(&r, s->any_stderr, s->any_output);
		status = lc_repeat_read(&r, s->common.engine);
	}
	if (!status) {
		left_out = say_left_out(&r);
		status = write_report(s, &r);
		if (!status && s->request.command)
			status = keep_result(s, &r);
		status = status ? status : left_out;
	}
	lc_repeat_free(&r);
	return status;
}

int lc_cmd_repeat(int argc, char **argv)
{
	struct settings s = { .request.runs = LC_REPEAT_RUNS };
	int status;

	lc_options_init(&s.request.options);
	status = parse(&s, argc, argv);
	if (!status && s.request.command)
		status = run(&s);
	if (!status)
		status = report(&s);
	else if (status < 0)
		status = lc_answer(status, argv[0]);
	free(s.line.operands);
	return status;
}
