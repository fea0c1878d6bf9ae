/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/analysis.h - builds all data from which a report is made. */
#ifndef LC_OBJECTS_ANALYSIS_ANALYSIS_H
#define LC_OBJECTS_ANALYSIS_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/numa/numa.h"
#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/keep.h"
#include "analyzer/objects/analysis/live.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/sharing.h"
#include "analyzer/objects/analysis/view.h"
#include "analyzer/objects/analysis/waiters.h"
#include "analyzer/spans/span_rows.h"
#include "analyzer/spans/spans.h"

struct lc_analysis {
	struct lc_view view;
	struct lc_sharing sharing;
	struct lc_ranking ranking, by_line;
	struct lc_live live, live_by_line; /* of these two */
	struct lc_keep keep;
	struct lc_numa numa;
	struct lc_span_rows span_rows;
	struct lc_spans spans;
	bool any_spans;
	struct lc_waiters waiters;
	struct lc_findings findings; /* of `by_line` and the rest, whatever the ranking's groups */
};

struct lc_analysis_what {
	uint32_t engine;
	bool engine_chosen; /* by the user: NUMA is of this engine too */
	enum lc_view_sort sort;
	enum lc_rank_group group;
};

/* Free with lc_analysis_free(), while `load` is still there. */
void lc_analysis_build(struct lc_analysis *a, const struct lc_load *load,
                       const struct lc_analysis_what *what);
void lc_analysis_free(struct lc_analysis *a);

#endif
