/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff/diff_command.c - runs `locus diff`: reads the options, loads each profile by itself, and
 * calls the writer of the format.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/diff/diff_check.h"
#include "analyzer/diff/diff_impl.h"

enum { TOP = 8, TOP_MARKDOWN = 20 }; /* JSON holds all rows */
enum { AS_MARKDOWN = LC_REPORT_FORMATS, AS_HTML };

enum row {
	ROW_BEFORE,
	ROW_AFTER,
	ROW_GROUP,
	ROW_FAIL,
	ROW_FORMAT,
	ROW_FILE,
	ROW_TOP,
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
	ROW_ENGINE,
	ROW_COUNT
};

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_BEFORE] = { "before", 'b', "STRING", "PROFILE", "", "",
	                 "profile of the program before the change (repeatable: several profiles "
	                 "show how runs differ)" },
	[ROW_AFTER] = { "after", 'a', "STRING", "PROFILE", "", "",
	                "profile of the program after the change (repeatable)" },
	[ROW_GROUP] = { "group", 'g', "CHOICE", "class+line|class|field|package|site|by|context",
	                "class+line", "", "what one row stands for, as in 'locus report'" },
	[ROW_FAIL] = { "fail-on", 0, "STRING", "CONDITION", "", "",
	               "exit with status 1 if CONDITION holds, such as 'counted-bytes>+3%', "
	               "'share(Value*)>+2pp' or 'live(Cache*)>+10%' (repeatable)" },
	[ROW_FORMAT] = { "format", 0, "CHOICE", "text|json|markdown|html", "text", "",
	                 "output format; markdown is for pull requests; html is the page of the "
	                 "profile after the change, coloured by the difference" },
	[ROW_FILE] = LC_REPORT_ROW_FILE,
	[ROW_TOP] =
	    LC_REPORT_ROW_TOP("rows", "show the first N rows (text: 8, markdown: 20, JSON: all)"),
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
	[ROW_ENGINE] = LC_REPORT_ROW_ENGINE("engine whose samples count, if there are several: "
	                                    "its name, or its number in the first profile"),
};

struct settings {
	struct lc_report_settings common;
	size_t group; /* enum lc_rank_group */
	/* Profiles as they are named, those before first; the strings are of the command line. */
	const char **paths[LC_DIFF_SIDES];
	size_t len[LC_DIFF_SIDES], cap[LC_DIFF_SIDES];
	struct lc_diff_condition *conditions;
	struct lc_diff_outcome *outcomes; /* of the conditions */
	size_t conditions_len, conditions_cap, outcomes_cap;
};

const struct lc_option_info *lc_cmd_diff_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

/* ---- the command line ---- */

static void add_path(struct settings *s, enum lc_diff_which which, const char *path)
{
	const char ***paths = &s->paths[which];

	*paths = lc_mem_grow(*paths, &s->cap[which], s->len[which] + 1, sizeof(**paths));
	(*paths)[s->len[which]++] = path;
}

static int add_condition(struct settings *s, const char *text)
{
	struct lc_diff_condition c;
	char error[128];

	if (lc_diff_condition_parse(text, &c, error, sizeof(error)))
		return lc_usage("--fail-on: '%.200s': %s", text, error);
	s->conditions = lc_mem_grow(s->conditions, &s->conditions_cap, s->conditions_len + 1,
	                            sizeof(*s->conditions));
	s->outcomes =
	    lc_mem_grow(s->outcomes, &s->outcomes_cap, s->conditions_len + 1, sizeof(*s->outcomes));
	s->outcomes[s->conditions_len] = (struct lc_diff_outcome){ .condition = text };
	s->conditions[s->conditions_len++] = c;
	return 0;
}

static int set(void *context, int row, const char *value)
{
	struct settings *s = context;

	if (row == ROW_GROUP)
		return lc_report_choose(&rows[row], value, &s->group);
	if (row == ROW_FAIL)
		return add_condition(s, value);
	if (row == ROW_BEFORE || row == ROW_AFTER)
		add_path(s, row == ROW_BEFORE ? LC_DIFF_BEFORE : LC_DIFF_AFTER, value);
	return 0;
}

/* Two operands are a side each; they may not stand beside --before and --after. */
static int take_operands(struct settings *s, char **operands, size_t count)
{
	const bool named = s->len[LC_DIFF_BEFORE] || s->len[LC_DIFF_AFTER];

	if (named && count)
		return lc_usage("diff: give '%.200s' with --before or --after, like the other "
		                "profiles",
		                operands[0]);
	if (!named && count != 2)
		return lc_usage("diff: name two profiles, BEFORE and AFTER, or several with "
		                "--before and --after");
	if (named && !(s->len[LC_DIFF_BEFORE] && s->len[LC_DIFF_AFTER]))
		return lc_usage("diff: --%s is missing",
		                s->len[LC_DIFF_BEFORE] ? "after" : "before");
	for (size_t i = 0; i < count; i++)
		add_path(s, (enum lc_diff_which)i, operands[i]);
	return 0;
}

/* ---- profiles ---- */

struct loaded {
	struct lc_diff_profile *profiles;
	size_t len, sides[LC_DIFF_SIDES];
	bool partial; /* something of what was asked for is not there */
};

static bool is_empty(const struct settings *s, const struct lc_diff_profile *p)
{
	if (p->load.not_split) {
		lc_fail("--thread: '%s' was merged without --keep-threads, so threads cannot be "
		        "selected",
		        p->path);
		return true;
	}
	if (!lc_tree_empty(&p->tree))
		return false;
	lc_fail("'%s' is empty: it has no samples and no allocations%s", p->path,
	        s->common.filtered || p->load.frames ? " that pass the filters" : "");
	return true;
}

static void unload(struct lc_diff_profile *p)
{
	lc_load_free(&p->load);
	lc_slices_free(&p->slices);
	lc_tree_free(&p->tree);
}

/* Returns whether there is something in it to compare; if not, a line has said why. */
static bool load_one(struct settings *s, struct lc_diff_profile *p, bool *damaged)
{
	/* The filter's data about paths belongs to one profile. */
	struct lc_frame_filter frames = { .include = s->common.frames.include,
		                          .exclude = s->common.frames.exclude };
	bool good;

	lc_tree_init(&p->tree);
	lc_slices_init(&p->slices);
	if (s->common.format == AS_HTML && p->which == LC_DIFF_AFTER)
		p->tree.slices = &p->slices;
	lc_load_init(&p->load);
	p->load.tree = &p->tree;
	p->load.filter = s->common.filtered ? &s->common.filter : NULL;
	p->load.frames = lc_frame_filter_on(&frames) ? &frames : NULL;
	p->load.range = &s->common.range;
	p->load.where = &s->common.where;
	lc_by_copy(&p->load.by, &s->common.by);
	good = !lc_load_profile(&p->load, p->path);
	if (good && p->load.frames)
		lc_frame_filter_look(&frames, &p->tree);
	good = good && !lc_report_check_processes(&p->load) && !is_empty(s, p);
	if (good && s->group == LC_GROUP_BY && !p->load.by.len) {
		lc_usage("--group=by needs --by, such as --by host");
		good = false;
	}
	if (good)
		lc_report_say_running(&p->load);
	*damaged |= lc_load_damaged(&p->load);
	/* From here on it only tells that there are filters. */
	p->load.frames = p->load.frames ? &s->common.frames : NULL;
	free(frames.frames);
	free(frames.paths);
	if (!good)
		unload(p);
	return good;
}

/* One that cannot be read costs a line; those of the same side are compared without it. */
static int load_all(struct settings *s, struct loaded *l)
{
	l->profiles = lc_mem_zeroed(s->len[0] + s->len[1], sizeof(*l->profiles));
	for (unsigned which = 0; which < LC_DIFF_SIDES; which++)
		for (size_t i = 0; i < s->len[which]; i++)
			lc_load_expect(s->paths[which][i]);
	for (unsigned which = 0; which < LC_DIFF_SIDES; which++) {
		for (size_t i = 0; i < s->len[which]; i++) {
			struct lc_diff_profile *p = &l->profiles[l->len];

			*p = (struct lc_diff_profile){ .path = s->paths[which][i],
				                       .which = (enum lc_diff_which)which };
			if (!load_one(s, p, &l->partial)) {
				l->partial = true;
				continue;
			}
			l->len++;
			l->sides[which]++;
		}
	}
	return l->sides[LC_DIFF_BEFORE] && l->sides[LC_DIFF_AFTER] ? 0 : LC_EXIT_FAILED;
}

/* ---- the report ---- */

static int write_report(const struct settings *s, const struct lc_diff *d)
{
	static void (*const writers[])(FILE *, const struct lc_diff_report *) = {
		lc_diff_text, lc_diff_json, lc_diff_markdown, lc_diff_html
	};
	struct lc_diff_report r = { .diff = d,
		                    .outcomes = s->outcomes,
		                    .outcomes_len = s->conditions_len,
		                    .top = s->common.top };
	FILE *out = lc_report_open(&s->common);

	if (!out)
		return LC_EXIT_FAILED;
	if (!r.top)
		r.top = s->common.format == LC_REPORT_AS_TEXT ? TOP
		        : s->common.format == AS_MARKDOWN     ? TOP_MARKDOWN
		                                              : SIZE_MAX;
	writers[s->common.format](out, &r);
	return lc_report_close(out, &s->common);
}

/* Each condition that holds, that cannot be decided, or about which nothing is known, costs one
 * line. */
static int ask(const struct settings *s, const struct lc_diff *d)
{
	int status = 0;

	for (size_t i = 0; i < s->conditions_len; i++) {
		struct lc_diff_outcome *o = &s->outcomes[i];

		lc_diff_ask(d, &s->conditions[i], o);
		if (o->holds) {
			status = lc_fail("--fail-on: %s", o->text);
		} else if (!o->known) {
			lc_fail("--fail-on: %s", o->text);
			status = status ? status : LC_EXIT_PARTIAL;
		} else if (o->undecided) {
			lc_fail("--fail-on: %s", o->text);
		}
	}
	return status;
}

static int compare(struct settings *s, struct loaded *l)
{
	struct lc_diff d;
	int failed = 0, status;

	status =
	    lc_diff_build(&d, l->profiles, l->len, (enum lc_rank_group)s->group, s->common.engine);
	if (!status) {
		if (d.mixed) {
			lc_fail("%s", d.mixed);
			l->partial = true;
		}
		failed = ask(s, &d);
		status = write_report(s, &d);
	}
	lc_diff_free(&d);
	if (lc_report_unfitted("include", &s->common.frames.include) |
	    lc_report_unfitted("exclude", &s->common.frames.exclude))
		l->partial = true;
	if (!status)
		status = failed;
	return status ? status : l->partial ? LC_EXIT_PARTIAL : 0;
}

static int diff(struct settings *s)
{
	struct loaded l = { .len = 0 };
	int status = load_all(s, &l);

	lc_progress_end();
	if (!status) {
		lc_progress_stage("comparing");
		status = compare(s, &l);
	}
	for (size_t i = 0; i < l.len; i++)
		unload(&l.profiles[i]);
	free(l.profiles);
	return status;
}

static void free_settings(struct settings *s)
{
	for (size_t i = 0; i < s->conditions_len; i++) {
		free(s->conditions[i].pattern);
		free(s->outcomes[i].text);
	}
	free(s->conditions);
	free(s->outcomes);
	free(s->paths[LC_DIFF_BEFORE]);
	free(s->paths[LC_DIFF_AFTER]);
	lc_report_settings_free(&s->common);
}

int lc_cmd_diff(int argc, char **argv)
{
	struct settings s = { .common.format = 0 };
	const struct lc_report_command command = { .rows = rows,
		                                   .rows_len = ROW_COUNT,
		                                   .set = set,
		                                   .settings = &s.common,
		                                   .context = &s };
	char **operands;
	size_t count;
	int status = lc_report_read(&command, argc, argv, &operands, &count);

	if (!status)
		status = take_operands(&s, operands, count);
	if (!status)
		status = diff(&s);
	else if (status < 0)
		status = lc_answer(status, argv[0]);
	free(operands);
	free_settings(&s);
	return status;
}
