/* SPDX-License-Identifier: Apache-2.0 */
/* commands/metrics.c - writes what is live by line as gauges, with the line as labels. */
#include "analyzer/commands/metrics.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/load.h"
#include "analyzer/model/tree_lines.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/own_choice.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/report.h"

enum { LINES_SHOWN = 20 }; /* each has a time series of its own in the database */

static void begin(const char *name, const char *type, const char *help)
{
	printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void number(const char *name, const char *type, const char *help, uint64_t value)
{
	begin(name, type, help);
	printf("%s %" PRIu64 "\n", name, value);
}

static void put_escaped(struct lc_text text)
{
	for (uint32_t i = 0; i < text.len; i++) {
		if (text.bytes[i] == '\\' || text.bytes[i] == '"')
			putchar('\\');
		if (text.bytes[i] == '\n')
			fputs("\\n", stdout);
		else
			putchar(text.bytes[i]);
	}
}

static double bytes_of(const struct lc_live_line *line)
{
	return lc_live_bytes(&line->now);
}

static double objects_of(const struct lc_live_line *line)
{
	return lc_live_objects(&line->now);
}

static double growth_of(const struct lc_live_line *line)
{
	return line->trend.slope;
}

static bool has_growth(const struct lc_live *l, const struct lc_live_line *line)
{
	return l->one_process && lc_live_points(line)->len >= LC_TREND_POINTS_MIN;
}

/* {class="byte[]",allocated_at="Cache.load:20",off_heap="false"} */
static void put_labels(const struct lc_tree *t, const struct lc_live_line *line)
{
	char *at = line->row->path ? lc_own_origin(t, line->row, UINT_MAX) : NULL;

	fputs("{class=\"", stdout);
	put_escaped(lc_tree_text(t, line->row->class));
	fputs("\",allocated_at=\"", stdout);
	if (at)
		put_escaped((struct lc_text){ .bytes = at, .len = (uint32_t)strlen(at) });
	printf("\",off_heap=\"%s\"}", line->off_heap ? "true" : "false");
	free(at);
}

static void put_lines(const struct lc_tree *t, const struct lc_live *l, const char *name,
                      const char *help, double (*value)(const struct lc_live_line *))
{
	size_t shown = 0;

	begin(name, "gauge", help);
	for (size_t i = 0; i < l->len && shown < LINES_SHOWN; i++) {
		const struct lc_live_line *line = &l->lines[i];

		if (bytes_of(line) < 1 || lc_live_is_vague(&line->now))
			continue;
		shown++;
		if (value == growth_of && !has_growth(l, line))
			continue;
		fputs(name, stdout);
		put_labels(t, line);
		printf(" %.0f\n", value(line));
	}
}

static size_t growing(const struct lc_live *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->len; i++)
		n += l->lines[i].matters;
	return n;
}

static void put_live(const struct lc_tree *t, const struct lc_live *l)
{
	number("locus_collections_total", "counter", "Collections that Locus has seen.",
	       l->collections);
	number("locus_old_collections_total", "counter",
	       "Collections of old objects, too, or of some of them.", l->old_collections);
	number("locus_heap_used_bytes", "gauge", "Heap in use after the last collection.",
	       l->heap_bytes);
	number("locus_heap_max_bytes", "gauge", "Maximum heap; 0: unknown.", l->heap_max_bytes);
	number("locus_growing_lines", "gauge", "Lines with a finding of the kind grows.",
	       growing(l));
	put_lines(t, l, "locus_live_bytes",
	          "Bytes live after the last collection, or not freed, of the lines with most.",
	          bytes_of);
	put_lines(t, l, "locus_live_objects",
	          "Objects or blocks live after the last collection, of these lines.", objects_of);
	put_lines(t, l, "locus_live_growth_bytes_per_second",
	          "Growth of live bytes of these lines, where collections tell it.", growth_of);
}

static int put(void *context, const struct lc_load *l)
{
	const struct lc_analysis_what what = { .engine = lc_report_busiest_engine(l) };
	struct lc_frame_patterns none = { 0 };
	struct lc_analysis a;

	lc_own_choose(l, &none);
	lc_tree_fold_lines(l->tree);
	lc_analysis_build(&a, l, &what);
	number("locus_samples_total", "counter", "Samples of the recording.", a.view.total);
	if (!a.live.none)
		put_live(l->tree, &a.live);
	lc_analysis_free(&a);
	return 0;
}

int lc_metrics_print(const char *directory)
{
	return lc_load_one(directory, NULL, put, NULL);
}
