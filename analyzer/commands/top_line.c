/* SPDX-License-Identifier: Apache-2.0 */
/* commands/top_line.c - puts a profile into one line, for `locus top --batch`. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/commands/top_refresh.h"
#include "analyzer/model/tree_lines.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/own_choice.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/report.h"
#include "src/base/order.h"

enum { ROWS = 3 };

#define MS_NS UINT64_C(1000000)

static void put_row(const struct lc_ranking *rank, const struct lc_rank_row *row, bool first)
{
	const struct lc_tree *t = rank->view->tree;
	char *label = lc_object_label(t, row, 1, UINT_MAX);
	char *origin = row->path ? lc_own_origin(t, row, UINT_MAX) : NULL;

	printf("%s %.1f%% %s", first ? ":" : ";", 100 * lc_share(row->samples, rank->view->total),
	       label);
	if (origin)
		printf(" %s %s", row->estimated ? "~" : "<-", origin);
	free(label);
	free(origin);
}

static int put(void *context, const struct lc_load *l)
{
	const struct lc_analysis_what what = { .engine = lc_report_busiest_engine(l) };
	struct lc_frame_patterns none = { 0 };
	struct lc_analysis a;

	if (lc_tree_empty(l->tree)) {
		printf("no samples yet");
		return 0;
	}
	lc_own_choose(l, &none);
	lc_tree_fold_lines(l->tree);
	lc_analysis_build(&a, l, &what);
	printf("%" PRIu64 " sample%s", a.view.total, a.view.total == 1 ? "" : "s");
	if (a.view.total)
		printf(", %.1f%% at objects", 100 * lc_share(a.ranking.samples, a.view.total));
	for (size_t i = 0; i < a.ranking.shown && i < ROWS; i++)
		put_row(&a.ranking, &a.ranking.rows[i], !i);
	lc_analysis_free(&a);
	return 0;
}

int lc_top_line(const char *directory, uint64_t window_ns)
{
	char *since = lc_mem_text("%" PRIu64 "ms", window_ns / MS_NS);
	const struct lc_load_range range = { .since = window_ns ? since : NULL };
	const int status = lc_load_one(directory, &range, put, NULL);

	free(since);
	return status;
}
