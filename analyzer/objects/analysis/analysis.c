/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/analysis.c - builds the parts of an analysis, each from those before it. */
#include "analyzer/objects/analysis/analysis.h"

#include "analyzer/objects/analysis/own_choice.h"

void lc_analysis_build(struct lc_analysis *a, const struct lc_load *load,
                       const struct lc_analysis_what *what)
{
	struct lc_findings_of of = { .sharing = &a->sharing,
		                     .numa = &a->numa,
		                     .live = &a->live_by_line };

	lc_own_choose(load, NULL);
	lc_view_build(&a->view, load, what->engine, what->sort);
	lc_sharing_find(&a->sharing, &a->view);
	lc_ranking_build(&a->ranking, &a->view, what->group, NULL);
	lc_ranking_build(&a->by_line, &a->view, LC_GROUP_LINE, NULL);
	lc_live_build(&a->live, &a->ranking);
	lc_live_build(&a->live_by_line, &a->by_line);
	lc_keep_build(&a->keep, &a->live_by_line, load);
	lc_numa_build(&a->numa, load, what->engine_chosen ? what->engine : UINT32_MAX);
	lc_span_rows_build(&a->span_rows, load);
	lc_spans_build(&a->spans, load, &a->span_rows, UINT32_MAX, LC_SPANS_BY_CYCLES);
	a->any_spans = lc_span_rows_any(&a->span_rows);
	of.ranking = &a->by_line;
	of.spans = a->any_spans ? &a->spans : NULL;
	lc_waiters_build(&a->waiters, &a->view);
	lc_findings_find(&a->findings, &of);
}

void lc_analysis_free(struct lc_analysis *a)
{
	lc_findings_free(&a->findings);
	lc_waiters_free(&a->waiters);
	lc_spans_free(&a->spans);
	lc_span_rows_free(&a->span_rows);
	lc_numa_free(&a->numa);
	lc_keep_free(&a->keep);
	lc_live_free(&a->live_by_line);
	lc_live_free(&a->live);
	lc_ranking_free(&a->by_line);
	lc_ranking_free(&a->ranking);
	lc_sharing_free(&a->sharing);
	lc_view_free(&a->view);
}
