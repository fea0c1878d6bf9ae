/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/headline.c - puts the first finding of a profile into a few words. */
#include "analyzer/objects/text/headline.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/model/tree_lines.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/screen.h"

/* "31.2% in Main.buffer (byte[]) of c.a.Main.load:20"; a finding that is of no row has its share
 * alone. */
static void put_finding(const struct lc_tree *t, const struct lc_finding *f, char *out,
                        size_t out_len)
{
	const struct lc_rank_row *row = f->row;
	char *class = row ? lc_object_label(t, row, 1, UINT_MAX) : NULL, *code = NULL;

	if (row && row->path)
		code = lc_own_origin(t, row, UINT_MAX);
	snprintf(out, out_len, "; top finding: %s, %.1f%%%s%s%s%s%s", lc_finding_name(f->kind),
	         100 * f->share, class ? " in " : "", class ? class : "", code ? " of " : "",
	         code && row->estimated ? "about " : "", code ? code : "");
	free(code);
	free(class);
}

struct line {
	char *out;
	size_t len;
};

static int describe(void *context, const struct lc_load *l)
{
	char *out = ((struct line *)context)->out;
	const size_t out_len = ((struct line *)context)->len;
	const struct lc_analysis_what what = { .engine = lc_report_busiest_engine(l) };
	struct lc_analysis a;
	int len;

	lc_tree_fold_lines(l->tree);
	lc_analysis_build(&a, l, &what);
	len = snprintf(out, out_len, "%" PRIu64 " sample%s", a.view.total,
	               a.view.total == 1 ? "" : "s");
	if (!a.view.total && !*l->engines[what.engine].name)
		snprintf(out, out_len, "allocations alone");
	else if (a.findings.len)
		put_finding(l->tree, a.findings.list, out + len, out_len - (size_t)len);
	else
		snprintf(out + len, out_len - (size_t)len, "%s",
		         lc_wilson_effective(lc_view_all(&a.view)) < LC_FINDING_SAMPLES_MIN
		             ? ", too few for a finding"
		             : ", no finding");
	lc_analysis_free(&a);
	return 0;
}

int lc_headline(const char *profile, char *out, size_t out_len)
{
	struct line line = { .len = out_len };

	line.out = out;
	return lc_load_one(profile, NULL, describe, &line);
}
