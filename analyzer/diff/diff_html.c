/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff/diff_html.c - writes the page of the profile after, with the changes since before, which
 * colour its flame graphs.
 */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/diff/diff_impl.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/json.h"
#include "src/base/order.h"

static struct lc_text text_of(const char *s)
{
	return (struct lc_text){ s, (uint32_t)strlen(s) };
}

/* A row of the page: its share before and after, and the change in points. */
static void put_row(struct lc_json *j, const struct lc_diff_row *row)
{
	const struct lc_rank_row *of = row->side[LC_DIFF_AFTER].row;

	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_u64(j, "class", of->class);
	lc_json_u64(j, "path", of->path);
	lc_json_i64(j, "field", of->field_known ? (int64_t)of->field : -1);
	lc_json_real(j, "before", row->share.before);
	lc_json_real(j, "after", row->share.after);
	lc_json_real(j, "low", row->share.low);
	lc_json_real(j, "high", row->share.high);
	lc_json_string(j, "verdict", lc_diff_verdict(row));
	lc_json_string(j, "fate", lc_diff_fate(row));
	if (row->bytes.known) {
		char *words = lc_diff_count_words(&row->bytes, true);

		lc_json_text(j, "bytes", text_of(words));
		free(words);
	}
	lc_json_end_object(j);
}

static void put_gone(struct lc_json *j, const struct lc_diff_row *row)
{
	char *name = lc_diff_object(row, UINT_MAX), *origin = lc_diff_origin(row);

	lc_json_object(j, NULL);
	lc_json_text(j, "name", text_of(name));
	if (origin)
		lc_json_text(j, "origin", text_of(origin));
	lc_json_real(j, "before", row->share.before);
	lc_json_string(j, "verdict", lc_diff_verdict(row));
	lc_json_end_object(j);
	free(origin);
	free(name);
}

/*
 * Write the methods on call paths of before: class, name and their share of all samples. Each
 * profile has rows of its own; the page adds up those of a method.
 */
static void put_methods(struct lc_json *j, const struct lc_diff *d)
{
	uint64_t all = 0;

	for (size_t i = 0; i < d->sides[LC_DIFF_BEFORE]; i++)
		all += d->profiles[i].view.total;
	lc_json_line(j, 0);
	lc_json_array(j, "methods");
	for (size_t i = 0; i < d->sides[LC_DIFF_BEFORE]; i++) {
		const struct lc_view *v = &d->profiles[i].view;

		for (size_t k = 0; k < v->methods_len; k++) {
			const uint32_t *method =
			    lc_table_key(&v->tree->methods, v->methods[k].method);

			lc_json_array(j, NULL);
			lc_json_text(j, NULL, lc_tree_text(v->tree, method[LC_METHOD_CLASS]));
			lc_json_text(j, NULL, lc_tree_text(v->tree, method[LC_METHOD_NAME]));
			lc_json_fixed(j, NULL, lc_share(v->methods[k].total, all), 6);
			lc_json_end_array(j);
		}
	}
	lc_json_end_array(j);
}

/* The member "difference". */
static void difference(struct lc_json *j, const void *diff)
{
	const struct lc_diff *d = diff;
	const struct lc_diff_profile *after = &d->profiles[d->sides[LC_DIFF_BEFORE]];
	char *headline = lc_diff_headline(d);

	lc_json_line(j, 0);
	lc_json_object(j, "difference");
	lc_json_text(j, "headline", text_of(headline));
	free(headline);
	lc_json_string(j, "group", lc_rank_group_name(d->group));
	lc_json_array(j, "rows");
	for (size_t i = 0; i < d->rows_len; i++)
		if (d->rows[i].side[LC_DIFF_AFTER].profile == after)
			put_row(j, &d->rows[i]);
	lc_json_end_array(j);
	lc_json_line(j, 0);
	lc_json_array(j, "gone");
	for (size_t i = 0; i < d->rows_len; i++)
		if (!d->rows[i].side[LC_DIFF_AFTER].row && d->rows[i].share.before > 0)
			put_gone(j, &d->rows[i]);
	lc_json_end_array(j);
	put_methods(j, d);
	lc_json_end_object(j);
}

void lc_diff_html(FILE *out, const struct lc_diff_report *r)
{
	const struct lc_diff *d = r->diff;
	const struct lc_diff_profile *after = &d->profiles[d->sides[LC_DIFF_BEFORE]];
	const struct lc_analysis_what what = { .engine = after->view.engine, .group = d->group };
	struct lc_analysis a;

	lc_analysis_build(&a, &after->load, &what);
	lc_report_html(out, &(struct lc_report){
	                        .view = &a.view,
	                        .engine = &after->load.engines[what.engine],
	                        .sharing = &a.sharing,
	                        .ranking = &a.ranking,
	                        .findings = &a.findings,
	                        .numa = &a.numa,
	                        .spans = a.any_spans ? &a.spans : NULL,
	                        .analysis = &a,
	                        .top = SIZE_MAX,
	                        .more = difference,
	                        .more_of = d,
	                    });
	lc_analysis_free(&a);
}
