/* SPDX-License-Identifier: Apache-2.0 */
/* objects/page/report_html.c - writes the HTML page of a report; page_*.c write its parts. */
#include "analyzer/objects/analysis/report.h"

#include <limits.h>
#include <stdlib.h>

#include "analyzer/model/groups.h"
#include "analyzer/model/program_name.h"
#include "analyzer/numa/numa_command.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/own_choice.h"
#include "analyzer/objects/analysis/sharing.h"
#include "analyzer/objects/json/report_json.h"
#include "analyzer/objects/page/page.h"
#include "analyzer/out/html.h"
#include "analyzer/out/json.h"
#include "analyzer/spans/spans_command.h"

enum { NUMA_SITES = 1000 }; /* each has a few KB of prose */

/* ---- false sharing ---- */

static void side(struct lc_json *j, const struct lc_tree *t, const struct lc_sharing_side *s)
{
	const uint64_t *thread = lc_table_values(&t->threads, s->thread);
	const uint32_t *key = lc_table_key(&t->sites, s->site);

	lc_json_object(j, NULL);
	lc_json_u64(j, "thread", thread[LC_THREAD_NAME]);
	lc_json_u64(j, "tid", thread[LC_THREAD_TID]);
	lc_json_u64(j, "threads", s->threads);
	lc_json_u64(j, "class", s->site ? key[LC_SITE_CLASS] : 0);
	lc_json_u64(j, "allocation_path", s->site ? key[LC_SITE_PATH] : 0);
	lc_json_u64(j, "name", s->name);
	lc_json_u64(j, "element", s->first);
	lc_json_u64(j, "offset", s->byte);
	lc_json_bool(j, "loads", s->touch & LC_TOUCH_LOAD);
	lc_json_bool(j, "stores", s->touch & LC_TOUCH_STORE);
	lc_json_u64(j, "samples", s->samples);
	lc_json_u64(j, "path", s->path);
	lc_json_u64(j, "paths", s->paths);
	lc_json_end_object(j);
}

static void sharing(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_sharing *s = r->sharing;

	lc_json_line(j, 0);
	lc_json_array(j, "false_sharing");
	for (size_t i = 0; i < s->findings_len && i < r->top; i++) {
		const struct lc_sharing_finding *f = &s->findings[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_json_bool(j, "certain", f->certain);
		lc_json_u64(j, "samples", f->samples);
		lc_json_u64(j, "lines", f->lines);
		lc_json_u64(j, "hitm", f->hitm);
		lc_json_bool(j, "one_site",
		             f->sides[0].site == f->sides[1].site &&
		                 f->sides[0].bucket == f->sides[1].bucket);
		lc_json_string(j, "advice", lc_report_advice(r->view, f));
		lc_json_array(j, "sides");
		side(j, r->view->tree, &f->sides[0]);
		side(j, r->view->tree, &f->sides[1]);
		lc_json_end_array(j);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* ---- threads ---- */

/* "buckets" has the order of the members of "samples". */
static void threads(struct lc_json *j, const struct lc_view *v)
{
	lc_json_line(j, 0);
	lc_json_array(j, "threads");
	for (size_t i = 0; i < v->threads_len; i++) {
		const struct lc_view_thread *t = &v->threads[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_json_u64(j, "process", t->process);
		lc_json_u64(j, "tid", t->tid);
		lc_json_u64(j, "name", t->name);
		lc_json_u64(j, "samples", t->samples);
		lc_json_u64(j, "allocations", t->allocations);
		lc_json_u64(j, "bytes", t->bytes);
		lc_json_array(j, "buckets");
		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
			lc_json_u64(j, NULL, t->buckets[b]);
		lc_json_end_array(j);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* ---- engines ---- */

static bool has_samples(const struct lc_tree *t, uint32_t engine)
{
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		if (t->buckets[engine][b])
			return true;
	return false;
}

/* The report's engine first, then the others that have samples. */
static void lenses(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;

	lc_json_line(j, 0);
	lc_json_array(j, "lenses");
	lc_page_lens(j, r->analysis);
	for (uint32_t i = 0; i < l->engines_len; i++) {
		const struct lc_analysis_what what = { .engine = i };
		struct lc_analysis other;

		if (i == r->view->engine || !has_samples(l->tree, i))
			continue;
		lc_analysis_build(&other, l, &what);
		lc_page_lens(j, &other);
		lc_analysis_free(&other);
	}
	lc_json_end_array(j);
}

static void spans(struct lc_json *j, const struct lc_report *r)
{
	struct lc_spans_report of = { .spans = r->spans, .top = r->top };

	if (!r->spans)
		return;
	of.warnings = lc_spans_warnings(r->spans, &of.warnings_len);
	lc_json_line(j, 0);
	lc_spans_json_member(j, "spans", &of);
	for (size_t i = 0; i < of.warnings_len; i++)
		free(of.warnings[i]);
	free(of.warnings);
}

/* Rankings name groups, so create the names before the strings are written. */
static void name_groups(const struct lc_load *l)
{
	for (uint32_t site = 1; l->by.len && site < l->tree->sites.count; site++)
		lc_group_name(l->tree, &l->by, lc_table_key(&l->tree->sites, site)[LC_SITE_PATH]);
}

/* Classes that count as own, as the text has them, and why. */
static void own_code(struct lc_json *j, const struct lc_tree *t)
{
	char *text = lc_own_choice_text(&t->own, UINT_MAX);

	lc_json_object(j, "own_code");
	lc_json_string(j, "text", text);
	lc_json_string(j, "why", t->own.why);
	lc_json_end_object(j);
	free(text);
}

static void data(FILE *out, const void *report)
{
	const struct lc_report *r = report;
	struct lc_json writer, *j = &writer;

	lc_json_init(j, out);
	lc_json_object(j, NULL);
	lc_report_json_head(j, r);
	lc_json_text(j, "name", lc_program_name(r->view->load->processes[0].command));
	lc_json_text(j, "jdk", lc_program_jdk(r->view->load->processes[0].jdk));
	lc_json_string(j, "group", lc_rank_group_name(r->ranking->group));
	own_code(j, r->view->tree);
	name_groups(r->view->load);
	lc_page_tables(j, r->view->tree);
	lc_page_slices(j, r->view);
	lc_page_pauses(j, r->analysis);
	lc_page_span_samples(j, r->view->tree);
	lc_page_layouts(j, r->view->tree);
	lc_page_live(j, &r->analysis->live_by_line);
	lc_report_json_resident(j, r);
	lenses(j, r);
	sharing(j, r);
	threads(j, r->view);
	lc_page_sources(j, r);
	lc_json_line(j, 0);
	lc_numa_json(j, "numa",
	             &(struct lc_numa_report){
	                 .numa = r->numa,
	                 .top = r->top < NUMA_SITES ? r->top : NUMA_SITES,
	                 .compact = true,
	             });
	spans(j, r);
	if (r->more)
		r->more(j, r->more_of);
	lc_json_end_object(j);
	lc_json_finish(j);
}

void lc_report_html(FILE *out, const struct lc_report *r)
{
	lc_html_write(out, LC_HTML_OBJECTS, data, r);
}
