/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/numa_command.c - runs `locus numa`: reads the options, loads the profiles and calls the
 * writer of the format.
 */
#include "analyzer/numa/numa_command.h"

#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/model/tree_lines.h"
#include "analyzer/out/json.h"
#include "analyzer/out/json_processes.h"
#include "analyzer/out/own.h"

enum { TOP_DEFAULT = 10 }; /* of the text; JSON holds all */

enum row {
	ROW_FORMAT,
	ROW_FILE,
	ROW_TOP,
	ROW_SIMULATE,
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
	[ROW_FORMAT] = { "format", 0, "CHOICE", "text|json", "text", "", "output format" },
	[ROW_FILE] = LC_REPORT_ROW_FILE,
	[ROW_TOP] =
	    LC_REPORT_ROW_TOP("sites", "show the first N object sites (text: 10, JSON: all)"),
	[ROW_SIMULATE] = { "simulate", 0, "STRING", "PLACEMENT", "", "",
	                   "show the recorded accesses as they would be with another placement of "
	                   "the memory: interleave, first-touch-by-reader, or bind:N (all on node "
	                   "N)" },
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
	[ROW_ENGINE] = LC_REPORT_ROW_ENGINE(
	    "engine whose samples count, if there are several: its name or number"),
};

struct settings {
	struct lc_report_settings common;
	const char *simulate;
};

const struct lc_option_info *lc_cmd_numa_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

static int set(void *context, int row, const char *value)
{
	struct settings *s = context;

	if (row == ROW_SIMULATE)
		s->simulate = value;
	return 0;
}

/* --simulate, once it is known which nodes there are. */
static int choose_policy(const struct lc_numa *n, const char *word, struct lc_numa_report *r)
{
	unsigned long number;

	r->simulate = word && n->state == LC_NUMA_ON;
	r->policy_text = word;
	if (!word)
		return 0;
	if (!strcmp(word, "interleave")) {
		r->policy = LC_NUMA_INTERLEAVE;
		return 0;
	}
	if (!strcmp(word, "first-touch-by-reader")) {
		r->policy = LC_NUMA_FIRST_TOUCH_BY_READER;
		return 0;
	}
	if (strncmp(word, "bind:", 5) != 0 || lc_args_number(word + 5, LC_NODE_NUMBERS, &number))
		return lc_usage(
		    "--simulate: unknown placement '%.64s'; use interleave, first-touch-by-reader "
		    "or bind:N",
		    word);
	r->policy = LC_NUMA_BIND;
	if (!r->simulate)
		return 0;
	for (r->node = 0; r->node < n->nodes_len; r->node++)
		if (n->nodes[r->node].number == number)
			return 0;
	return lc_fail("--simulate: the profile's machine has no node %lu", number);
}

static void write_json(FILE *out, const struct lc_numa_report *r)
{
	struct lc_json j;

	lc_json_init(&j, out);
	lc_json_object(&j, NULL);
	lc_json_u64(&j, "format", LC_FORMAT_VERSION);
	lc_json_chosen(&j, r->numa->load);
	lc_own_json(&j, r->numa->load);
	lc_numa_json(&j, "numa", r);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', out);
}

static int write_report(const struct settings *s, const struct lc_numa_report *r)
{
	FILE *out = lc_report_open(&s->common);

	if (!out)
		return 1;
	if (s->common.format == LC_REPORT_AS_JSON) {
		write_json(out, r);
	} else {
		lc_report_filters(out, r->numa->load, r->numa->engine);
		lc_numa_text(out, r);
	}
	return lc_report_close(out, &s->common);
}

static int report(void *context, const struct lc_load *l, const char *path)
{
	const struct settings *s = context;
	struct lc_numa_report r = { .top = s->common.top };
	uint32_t engine = UINT32_MAX;
	struct lc_numa numa;
	int status;

	if (lc_report_check_threads(l))
		return 1;
	if (s->common.engine && lc_report_find_engine(l, s->common.engine, &engine))
		return 1;
	if (!r.top)
		r.top = s->common.format == LC_REPORT_AS_JSON ? SIZE_MAX : TOP_DEFAULT;
	if (s->common.format != LC_REPORT_AS_JSON)
		lc_tree_fold_lines(l->tree);
	lc_numa_build(&numa, l, engine);
	r.numa = &numa;
	status = choose_policy(&numa, s->simulate, &r);
	if (!status)
		status = write_report(s, &r);
	lc_numa_free(&numa);
	return status;
}

int lc_cmd_numa(int argc, char **argv)
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
