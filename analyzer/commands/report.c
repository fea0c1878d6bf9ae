/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/report.c - runs `locus report`: reads the options, loads the profiles and calls the
 * writer of the format.
 */
#include "analyzer/objects/analysis/report.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/model/groups.h"
#include "analyzer/model/tree_lines.h"
#include "analyzer/model/tree_names.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/own_choice.h"
#include "analyzer/out/source.h"

enum { AS_HTML = LC_REPORT_FORMATS }; /* the first word behind those that all commands have */
enum { BUDGET_MIN = 1000, BUDGET_DEFAULT = 60000 }; /* characters */
enum { TOP_BRIEF = 5, TOP_FULL = 10 };              /* of the text; the other formats hold all */

enum row {
	ROW_VIEW,
	ROW_FULL,
	ROW_VERBOSE,
	ROW_GROUP,
	ROW_FORMAT,
	ROW_FILE,
	ROW_TOP,
	ROW_SORT,
	ROW_STACKS,
	ROW_BUDGET,
	ROW_NO_PAGER,
	ROW_THREAD,
	ROW_INCLUDE,
	ROW_EXCLUDE,
	ROW_SINCE,
	ROW_UNTIL,
	ROW_FROM_MARK,
	ROW_TO_MARK,
	ROW_WHERE,
	ROW_BY,
	ROW_APP,
	ROW_HIDE,
	ROW_SIMPLE,
	ROW_ENGINE,
	ROW_SOURCE,
	ROW_COUNT
};

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_VIEW] = { "view", 0, "CHOICE",
	               "brief|objects|code|alloc|live|footprint|offheap|sharing|numa|spans|threads|"
	               "recording|full",
	               "brief", "",
	               "what the text shows: one screen (brief), one part in detail, or all parts "
	               "(full)" },
	[ROW_FULL] = { "full", 0, "FLAG", "", "off", "", "same as --view=full" },
	[ROW_VERBOSE] = { "verbose", 'v', "FLAG", "", "off", "",
	                  "also show how the profile was recorded: engines, losses, all counters "
	                  "(as --view=recording)" },
	[ROW_GROUP] = { "group", 'g', "CHOICE", "class+line|class|field|package|site|by|context",
	                "class+line", "",
	                "what one row stands for: a class and the line that allocates it, a "
	                "class, a field, a package, a call path of the allocation (site), a "
	                "group of --by, or a request context" },
	[ROW_FORMAT] = { "format", 0, "CHOICE",
	                 "text|json|html|collapsed|svg|pprof|csv|markdown|speedscope|sqlite|jfr",
	                 "text", "",
	                 "output format; svg is a flame graph; jfr, collapsed, pprof and "
	                 "speedscope are for other tools; csv and sqlite are tables; markdown is "
	                 "for pull requests" },
	[ROW_FILE] = LC_REPORT_ROW_FILE,
	[ROW_TOP] = LC_REPORT_ROW_TOP("sites", "show the first N rows and findings (brief view: "
	                                       "8, other views: 10, other formats: all)"),
	[ROW_SORT] = { "sort", 0, "CHOICE", "samples|bytes|allocations|class", "samples", "",
	               "order of the object sites in JSON, HTML and collapsed stacks" },
	[ROW_STACKS] = { "stacks", 0, "CHOICE",
	                 "access|alloc-bytes|alloc-count|code|objects|offheap-bytes|offheap-live|"
	                 "live-bytes",
	                 "access", "",
	                 "with --format=collapsed: samples by access path and class; bytes or "
	                 "objects by allocation path and class; samples by code path; samples by "
	                 "allocation path, class and access path; or, by allocation path and "
	                 "class, bytes outside the heap, allocated or live at the end, or bytes "
	                 "of objects that were live after the last collection" },
	[ROW_BUDGET] = { "budget", 0, "COUNT", "CHARS", "60000", "",
	                 "with --format=markdown: write at most CHARS characters; rows and "
	                 "findings beyond them are omitted as a whole" },
	[ROW_NO_PAGER] = LC_REPORT_ROW_NO_PAGER,
	[ROW_THREAD] = LC_REPORT_ROW_THREAD,
	[ROW_INCLUDE] = LC_REPORT_ROW_INCLUDE,
	[ROW_EXCLUDE] = LC_REPORT_ROW_EXCLUDE,
	[ROW_SINCE] = LC_REPORT_ROW_SINCE,
	[ROW_UNTIL] = LC_REPORT_ROW_UNTIL,
	[ROW_FROM_MARK] = LC_REPORT_ROW_FROM_MARK,
	[ROW_TO_MARK] = LC_REPORT_ROW_TO_MARK,
	[ROW_WHERE] = LC_CHOOSE_ROW_WHERE,
	[ROW_BY] = LC_CHOOSE_ROW_BY,
	[ROW_APP] = { "app", 0, "STRING", "PATTERN", "", "",
	              "classes whose methods are the program's own, such as com.acme.* "
	              "(repeatable); default: found from the main class and the threads" },
	[ROW_HIDE] = { "hide", 0, "STRING", "FRAME", "", "",
	               "omit FRAME from all call paths (repeatable); no number changes" },
	[ROW_SIMPLE] = { "simple", 0, "FLAG", "", "off", "",
	                 "omit package names; classes that then have the same name are merged" },
	[ROW_ENGINE] = LC_REPORT_ROW_ENGINE(
	    "engine whose samples count, if there are several: its name or number"),
	[ROW_SOURCE] = { "source-path", 0, "STRING", "PATH", "", "",
	                 "directories and jars with source files, separated by ':'" },
};

/* Positions among the words of --format, behind those of all reports. */
enum {
	FORMAT_HTML = LC_REPORT_FORMATS,
	FORMAT_COLLAPSED,
	FORMAT_SVG,
	FORMAT_PPROF,
	FORMAT_CSV,
	FORMAT_MARKDOWN,
	FORMAT_SPEEDSCOPE,
	FORMAT_SQLITE,
	FORMAT_JFR,
	FORMAT_COUNT
};

struct settings {
	struct lc_report_settings common;
	size_t sort;   /* enum lc_view_sort */
	size_t group;  /* enum lc_rank_group */
	size_t view;   /* enum lc_report_view */
	size_t stacks; /* enum lc_stacks_kind */
	bool stacks_chosen;
	unsigned long budget; /* 0: not given */
	const char *source_path;
	struct lc_frame_patterns hide, app;
	bool simple, verbose, live;
};

const struct lc_option_info *lc_cmd_report_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

static int set(void *context, int row, const char *value)
{
	struct settings *s = context;

	if (row == ROW_GROUP)
		return lc_report_choose(&rows[row], value, &s->group);
	if (row == ROW_VIEW)
		return lc_report_choose(&rows[row], value, &s->view);
	if (row == ROW_FULL)
		s->view = LC_VIEW_FULL;
	if (row == ROW_SORT)
		return lc_report_choose(&rows[row], value, &s->sort);
	if (row == ROW_STACKS) {
		s->stacks_chosen = true;
		return lc_report_choose(&rows[row], value, &s->stacks);
	}
	if (row == ROW_BUDGET &&
	    (lc_args_number(value, UINT32_MAX, &s->budget) || s->budget < BUDGET_MIN))
		return lc_usage("--budget: '%.64s' is not a number of characters, %d or more",
		                value, BUDGET_MIN);
	if (row == ROW_SOURCE)
		s->source_path = value;
	if (row == ROW_APP)
		lc_frame_patterns_add(&s->app, value);
	if (row == ROW_HIDE)
		lc_frame_patterns_add(&s->hide, value);
	if (row == ROW_SIMPLE)
		s->simple = true;
	if (row == ROW_VERBOSE)
		s->verbose = true;
	return 0;
}

static int write_report(const struct settings *s, const struct lc_report *r)
{
	static void (*const writers[FORMAT_COUNT])(FILE *, const struct lc_report *) = {
		[LC_REPORT_AS_TEXT] = lc_report_text,
		[LC_REPORT_AS_JSON] = lc_report_json,
		[FORMAT_HTML] = lc_report_html,
		[FORMAT_COLLAPSED] = lc_report_collapsed,
		[FORMAT_SVG] = lc_report_svg,
		[FORMAT_PPROF] = lc_report_pprof,
		[FORMAT_CSV] = lc_report_csv,
		[FORMAT_MARKDOWN] = lc_report_markdown,
		[FORMAT_SPEEDSCOPE] = lc_report_speedscope,
		[FORMAT_SQLITE] = lc_report_sqlite,
		[FORMAT_JFR] = lc_report_jfr,
	};
	FILE *out = lc_report_open(&s->common);

	if (!out)
		return 1;
	writers[s->common.format](out, r);
	return lc_report_close(out, &s->common);
}

static size_t top_of(const struct settings *s)
{
	if (s->common.top)
		return s->common.top;
	if (s->common.format != LC_REPORT_AS_TEXT)
		return SIZE_MAX;
	return s->view == LC_VIEW_BRIEF ? TOP_BRIEF : TOP_FULL;
}

/* Are the rows those of the whole profile, which --track-from looks at? */
static bool shows_whole(const struct settings *s, const struct lc_load *l)
{
	return s->group == LC_GROUP_LINE && !s->simple && !s->common.filtered &&
	       !s->common.engine && !l->frames && !(l->where && l->where->len) && !l->by.len &&
	       !lc_load_range_on(l->range);
}

static int report(struct settings *s, const struct lc_load *l, const char *path)
{
	struct lc_report r = { .top = top_of(s),
		               .filtered = s->common.filtered,
		               .verbose = s->verbose,
		               .live = s->live,
		               .profile = shows_whole(s, l) ? path : NULL,
		               .show = (enum lc_report_view)s->view,
		               .stacks = (enum lc_stacks_kind)s->stacks,
		               .budget = s->budget ? s->budget : BUDGET_DEFAULT };
	struct lc_analysis_what what = { .engine_chosen = s->common.engine,
		                         .sort = (enum lc_view_sort)s->sort,
		                         .group = (enum lc_rank_group)s->group };
	struct lc_analysis a;
	uint32_t engine;
	int status;

	if (!s->common.engine)
		engine = lc_report_busiest_engine(l);
	else if (lc_report_find_engine(l, s->common.engine, &engine))
		return 1;
	if (s->source_path)
		r.source = lc_source_open(s->source_path);
	what.engine = engine;
	lc_own_choose(l, &s->app);
	if (s->hide.len || s->simple)
		lc_tree_rename(l->tree, &s->hide, s->simple);
	/* The other formats show lines, and two rows that look alike tell nobody anything. */
	if (s->common.format != LC_REPORT_AS_JSON && s->common.format != FORMAT_SQLITE)
		lc_tree_fold_lines(l->tree);
	lc_analysis_build(&a, l, &what);
	r.engine = &l->engines[engine];
	r.view = &a.view;
	r.sharing = &a.sharing;
	r.ranking = &a.ranking;
	r.findings = &a.findings;
	r.numa = &a.numa;
	r.spans = a.any_spans ? &a.spans : NULL;
	r.analysis = &a;
	status = write_report(s, &r);
	lc_analysis_free(&a);
	if (!status)
		status = lc_report_unfitted("hide", &s->hide);
	if (!status)
		status = lc_report_unfitted("app", &s->app);
	if (!status && lc_source_unreadable(r.source))
		status = LC_EXIT_PARTIAL;
	lc_source_close(r.source);
	return status;
}

/* Why there is nothing to report, in one line. */
static int nothing(const struct settings *s, const struct lc_load *l, const char *path)
{
	if (l->not_split)
		return lc_fail("--thread: '%s' was merged without --keep-threads, so threads "
		               "cannot be selected; report the original profiles",
		               path);
	if (l->where && l->where->len)
		return lc_fail("no sample or allocation passes --where%s",
		               l->frames ? ", --include and --exclude" : "");
	if (l->frames)
		return lc_fail("no sample or allocation passes --include and --exclude%s",
		               l->filter ? " in the threads of --thread" : "");
	if (s->common.filtered)
		return lc_fail("--thread: '%.64s' matches no thread with samples or allocations",
		               s->common.filter.patterns);
	for (size_t i = 0; i < l->processes_len; i++)
		if (!l->processes[i].complete && !l->processes[i].disk_full)
			return lc_fail("'%s' is empty so far: the recording goes on, unless the "
			               "program was killed; wait, or write what there is with "
			               "'locus dump %lld'",
			               path, (long long)l->processes[i].pid);
	return lc_fail("'%s' is empty: it has no samples and no allocations; run the program "
	               "longer, or choose a smaller --min-size",
	               path);
}

static int report_or_say_why(void *context, const struct lc_load *l, const char *path)
{
	struct settings *s = context;

	if (s->simple && s->source_path)
		return lc_usage("--simple omits the packages by which --source-path finds files; "
		                "leave out one of them");
	if (s->stacks_chosen && s->common.format != FORMAT_COLLAPSED)
		return lc_usage("--stacks needs --format=collapsed");
	if (s->group == LC_GROUP_BY && !l->by.len)
		return lc_usage("--group=by needs --by, such as --by host");
	if (s->group == LC_GROUP_REQUEST && !lc_group_has_contexts(l->tree))
		return lc_usage("--group=context: the program has named no context with "
		                "Locus.context(); see locus-api(1)");
	if (s->budget && s->common.format != FORMAT_MARKDOWN)
		return lc_usage("--budget needs --format=markdown");
	return lc_tree_empty(l->tree) || l->not_split ? nothing(s, l, path) : report(s, l, path);
}

static bool wants_slices(void *context)
{
	const size_t format = ((struct settings *)context)->common.format;

	return format == AS_HTML || format == FORMAT_JFR;
}

static int run(int argc, char **argv, bool live)
{
	struct settings s = { .live = live };
	const struct lc_report_command command = {
		.rows = rows,
		.rows_len = ROW_COUNT,
		.set = set,
		.wants_slices = wants_slices,
		.report = report_or_say_why,
		.settings = &s.common,
		.context = &s,
	};

	int status = lc_report_run(&command, argc, argv);

	free(s.hide.list);
	free(s.app.list);
	return status;
}

int lc_cmd_report(int argc, char **argv)
{
	return run(argc, argv, false);
}

int lc_cmd_report_live(int argc, char **argv)
{
	return run(argc, argv, true);
}
