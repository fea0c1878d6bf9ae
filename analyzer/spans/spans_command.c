/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_command.c - runs `locus spans`: reads the options, loads the profiles and calls the
 * writer of the format.
 */
#include "analyzer/spans/spans_command.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/report_command.h"

enum { TOP_DEFAULT = 10 }; /* rows of the text; other formats have all */

enum row {
	ROW_FORMAT,
	ROW_FILE,
	ROW_TOP,
	ROW_SORT,
	ROW_NO_PAGER,
	ROW_THREAD,
	ROW_SINCE,
	ROW_UNTIL,
	ROW_FROM_MARK,
	ROW_TO_MARK,
	ROW_WHERE,
	ROW_BY,
	ROW_ENGINE,
	ROW_TABLE,
	ROW_COUNT
};

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_FORMAT] = { "format", 0, "CHOICE", "text|json|html|csv|collapsed|trace", "text", "",
	                 "output format; collapsed: call paths with cycles for flame graphs "
	                 "(needs a recording with --span-paths); trace: single spans as trace "
	                 "events for Perfetto and Chrome (needs a recording with --trace)" },
	[ROW_FILE] = LC_REPORT_ROW_FILE,
	[ROW_TOP] = LC_REPORT_ROW_TOP(
	    "rows", "show the first N rows of each table (text: 10, other formats: all)"),
	[ROW_SORT] = { "sort", 0, "CHOICE", "cycles|executions|switches", "cycles", "",
	               "sort locations, streams, tasks and types by this number, largest first" },
	[ROW_NO_PAGER] = LC_REPORT_ROW_NO_PAGER,
	[ROW_THREAD] = LC_REPORT_ROW_THREAD,
	[ROW_SINCE] = LC_REPORT_ROW_SINCE,
	[ROW_UNTIL] = LC_REPORT_ROW_UNTIL,
	[ROW_FROM_MARK] = LC_REPORT_ROW_FROM_MARK,
	[ROW_TO_MARK] = LC_REPORT_ROW_TO_MARK,
	[ROW_WHERE] = LC_CHOOSE_ROW_WHERE,
	[ROW_BY] = LC_CHOOSE_ROW_BY,
	[ROW_ENGINE] =
	    LC_REPORT_ROW_ENGINE("engine whose samples show what spans waited for, if there are "
	                         "several: its name or number"),
	[ROW_TABLE] = { "table", 0, "STRING", "NAME", "", "",
	                "with --format=csv: write only the table NAME" },
};

/* Indices among the words of --format, after those of all reports. */
enum { FORMAT_HTML = LC_REPORT_FORMATS, FORMAT_CSV, FORMAT_COLLAPSED, FORMAT_TRACE, FORMAT_COUNT };

struct settings {
	struct lc_report_settings common;
	size_t sort; /* enum lc_spans_sort */
	const char *table;
};

const struct lc_option_info *lc_cmd_spans_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

static int set_table(struct settings *s, const char *value)
{
	char names[256];

	if (!lc_spans_csv_table(value, names, sizeof(names)))
		return lc_usage("--table: unknown table '%.64s'; use one of %s", value, names);
	s->table = value;
	return 0;
}

static int set(void *context, int row, const char *value)
{
	struct settings *s = context;

	if (row == ROW_SORT)
		return lc_report_choose(&rows[row], value, &s->sort);
	return row == ROW_TABLE ? set_table(s, value) : 0;
}

static int write_report(const struct settings *s, const struct lc_spans_report *r)
{
	static void (*const writers[FORMAT_COUNT])(FILE *, const struct lc_spans_report *) = {
		lc_spans_text, lc_spans_json,      lc_spans_html,
		lc_spans_csv,  lc_spans_collapsed, lc_spans_trace_events,
	};
	FILE *out = lc_report_open(&s->common);

	if (!out)
		return 1;
	writers[s->common.format](out, r);
	return lc_report_close(out, &s->common);
}

/* Refuse formats for which the profile has no data. One line says why. */
static int check(const struct settings *s, const struct lc_load *l, const struct lc_span_rows *r)
{
	if (lc_report_check_threads(l))
		return 1;
	if (s->table && s->common.format != FORMAT_CSV)
		return lc_usage("--table needs --format=csv");
	if (!lc_span_rows_any(r))
		return lc_fail(
		    "the profile has no spans; record them with 'locus run --spans=streams,tasks'");
	if (s->common.format == FORMAT_COLLAPSED && !r->whole_paths)
		return lc_fail("the profile has no call paths of spans; record them with 'locus "
		               "run --spans=streams,tasks --span-paths'");
	if (s->common.format == FORMAT_TRACE && !r->traces_len)
		return lc_fail("the profile has no single spans; record them with 'locus run "
		               "--spans=streams,tasks --trace'");
	return 0;
}

static int report(void *context, const struct lc_load *l, const char *path)
{
	const struct settings *s = context;
	struct lc_spans_report r = { .top = s->common.top, .table = s->table };
	struct lc_span_rows span_rows;
	uint32_t engine = UINT32_MAX;
	struct lc_spans spans;
	int status;

	lc_span_rows_build(&span_rows, l);
	status = check(s, l, &span_rows);
	if (!status && s->common.engine)
		status = lc_report_find_engine(l, s->common.engine, &engine);
	if (!status) {
		if (!r.top)
			r.top = s->common.format == LC_REPORT_AS_TEXT ? TOP_DEFAULT : SIZE_MAX;
		lc_spans_build(&spans, l, &span_rows, engine, (enum lc_spans_sort)s->sort);
		r.spans = &spans;
		r.warnings = lc_spans_warnings(&spans, &r.warnings_len);
		status = write_report(s, &r);
		for (size_t i = 0; i < r.warnings_len; i++)
			free(r.warnings[i]);
		free(r.warnings);
		lc_spans_free(&spans);
	}
	lc_span_rows_free(&span_rows);
	return status;
}

int lc_cmd_spans(int argc, char **argv)
{
	struct settings s = { .common.format = LC_REPORT_AS_TEXT };
	const struct lc_report_command command = {
		.rows = rows,
		.rows_len = ROW_COUNT,
		.set = set,
		.report = report,
		.settings = &s.common,
		.context = &s,
	};

	return lc_report_run(&command, argc, argv);
}
