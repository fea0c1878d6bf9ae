/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/json/report_json.c - writes the report on objects as JSON; docs/JSON.md explains each
 * member.
 */
#include "analyzer/objects/analysis/report.h"

#include <math.h>
#include <stdio.h>

#include "analyzer/numa/numa_command.h"
#include "analyzer/objects/analysis/cpu_breakdown.h"
#include "analyzer/objects/analysis/footprint.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/sharing.h"
#include "analyzer/objects/json/report_json.h"
#include "analyzer/out/json.h"
#include "analyzer/out/json_processes.h"
#include "analyzer/out/own.h"
#include "src/base/order.h"
#include "src/format/block.h"
#include "src/format/kinds.h"

static void samples(struct lc_json *j, const char *name, uint64_t total, const uint64_t *buckets)
{
	lc_json_object(j, name);
	lc_json_u64(j, "total", total);
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		lc_json_u64(j, lc_bucket_name(b), buckets[b]);
	lc_json_end_object(j);
}

static void engine(struct lc_json *j, const struct lc_load_engine *e)
{
	lc_json_string(j, "name", e->name);
	lc_json_string(j, "event", e->event);
	lc_json_u64(j, "interval_ns", e->interval_ns);
	lc_json_string(j, "unit", e->unit);
	if (e->tick_ns)
		lc_json_u64(j, "tick_ns", e->tick_ns);
	if (*e->reason)
		lc_json_string(j, "reason", e->reason);
}

static void engines(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;

	lc_json_line(j, 0);
	lc_json_array(j, "engines");
	for (uint32_t i = 0; i < l->engines_len; i++) {
		const uint64_t counted = lc_report_counted(l, &l->engines[i]);
		uint64_t total = 0;

		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
			total += l->tree->buckets[i][b];
		lc_json_object(j, NULL);
		engine(j, &l->engines[i]);
		samples(j, "samples", total, l->tree->buckets[i]);
		lc_json_bool(j, "shown", i == r->view->engine);
		if (counted)
			lc_json_u64(j, "counted", counted);
		if (counted && lc_report_causeless(l))
			lc_json_u64(j, "uncounted_at_most", lc_report_causeless(l));
		if (lc_report_cpu_ns(l, &l->engines[i]))
			lc_json_u64(j, "cpu_ns", lc_report_cpu_ns(l, &l->engines[i]));
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void details(struct lc_json *j, const struct lc_view *v)
{
	lc_json_line(j, 0);
	lc_json_object(j, "details");
	lc_json_object(j, "where");
	for (unsigned i = 0; i < LC_WHERE_COUNT; i++)
		lc_json_u64(j, lc_detail_where_name(i), v->where[i]);
	lc_json_end_object(j);
	lc_json_object(j, "how");
	for (unsigned i = 0; i < LC_HOW_COUNT; i++)
		lc_json_u64(j, lc_detail_how_name(i), v->how[i]);
	lc_json_end_object(j);
	lc_json_end_object(j);
}

/* Samples in Java code that no object explains. */
static void unexplained(struct lc_json *j, const struct lc_view *v)
{
	const uint64_t n = lc_view_unexplained(v);

	lc_json_line(j, 0);
	lc_json_object(j, "unexplained");
	lc_json_u64(j, "samples", n);
	lc_json_u64(j, "java_code", lc_view_java(v));
	lc_json_real(j, "share", lc_share(n, lc_view_java(v)));
	lc_json_end_object(j);
}

void lc_report_json_metric(struct lc_json *j, const struct lc_view_metric *m)
{
	lc_json_u64(j, "samples", m->samples);
	lc_json_u64(j, "hitm", m->hitm);
	lc_json_u64(j, "tlb_miss", m->tlb_miss);
	lc_json_u64(j, "locked", m->locked);
	lc_json_u64(j, "stores", m->stores);
	if (m->timed) {
		lc_json_u64(j, "latency_samples", m->timed);
		lc_json_real(j, "latency_mean", (double)m->latency_sum / (double)m->timed);
		lc_json_u64(j, "latency_max", m->latency_max);
	}
	lc_json_object(j, "sources");
	for (unsigned i = 0; i < LC_SOURCE_COUNT; i++)
		if (m->sources[i])
			lc_json_u64(j, lc_data_source_name(i), m->sources[i]);
	lc_json_end_object(j);
}

/* A member "metrics" where something was measured. */
static void metric(struct lc_json *j, const struct lc_view_metric *m)
{
	if (!m)
		return;
	lc_json_line(j, 1);
	lc_json_object(j, "metrics");
	lc_report_json_metric(j, m);
	lc_json_end_object(j);
}

static void damage(struct lc_json *j, const struct lc_load *l)
{
	lc_json_object(j, "damage");
	lc_json_u64(j, "blocks", l->damage.blocks);
	lc_json_u64(j, "bytes", l->damage.bytes);
	lc_json_u64(j, "skipped_sections", l->new_sections);
	lc_json_end_object(j);
}

static void spans(struct lc_json *j, const struct lc_tree *t)
{
	uint64_t streams, tasks;

	lc_report_spans(t, &streams, &tasks);
	if (!streams && !tasks)
		return;
	lc_json_line(j, 0);
	lc_json_object(j, "spans");
	lc_json_u64(j, "streams", streams);
	lc_json_u64(j, "tasks", tasks);
	lc_json_end_object(j);
}

static void patterns(struct lc_json *j, const char *name, const struct lc_frame_patterns *p)
{
	lc_json_array(j, name);
	for (size_t i = 0; i < p->len; i++)
		lc_json_string(j, NULL, p->list[i].text);
	lc_json_end_array(j);
}

/* "filter", where samples were left out. */
static void filter(struct lc_json *j, const struct lc_load *l, uint32_t engine)
{
	lc_json_chosen(j, l);
	if (!l->filter && !l->frames)
		return;
	lc_json_object(j, "filter");
	lc_json_u64(j, "samples_of", l->tree->offered[engine]);
	if (l->frames) {
		patterns(j, "include", &l->frames->include);
		patterns(j, "exclude", &l->frames->exclude);
	}
	lc_json_end_object(j);
}

/* "footprint", where the profile tells it. */
static void footprint(struct lc_json *j, const struct lc_view *v)
{
	struct lc_footprint f;

	lc_footprint_of(&f, v->tree, v->engine);
	if (!f.drawn)
		return;
	lc_json_line(j, 0);
	lc_json_object(j, "footprint");
	lc_json_u64(j, "drawn", f.drawn);
	lc_json_u64(j, "lines", f.lines);
	lc_json_u64(j, "once", f.once);
	lc_json_u64(j, "twice", f.twice);
	lc_json_real(j, "bytes", f.estimate * LC_FOOTPRINT_LINE_BYTES);
	lc_json_real(j, "low", f.low * LC_FOOTPRINT_LINE_BYTES);
	lc_json_real(j, "high", f.high * LC_FOOTPRINT_LINE_BYTES);
	lc_json_end_object(j);
}

static void known(struct lc_json *j, const char *name, uint64_t n)
{
	if (n)
		lc_json_u64(j, name, n);
	else
		lc_json_null(j, name);
}

/* By how many interrupts the samples came, and how much they tell. */
static void observations(struct lc_json *j, const struct lc_view *v)
{
	lc_json_object(j, "observations");
	lc_json_real(j, "effective", lc_wilson_effective(lc_view_all(v)));
	known(j, "interrupts", v->interrupts);
	known(j, "lightest", v->lightest);
	known(j, "heaviest", v->heaviest);
	lc_json_end_object(j);
}

void lc_report_json_head(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;

	lc_json_u64(j, "format", LC_FORMAT_VERSION);
	lc_json_line(j, 0);
	lc_json_object(j, "program");
	lc_report_json_program(j, &l->processes[0]);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	lc_json_object(j, "engine");
	engine(j, r->engine);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	samples(j, "samples", r->view->total, r->view->buckets);
	lc_json_line(j, 0);
	observations(j, r->view);
	lc_json_line(j, 0);
	lc_json_bool(j, "thread_filter", r->filtered);
	filter(j, l, r->view->engine);
	damage(j, l);
	engines(j, r);
	lc_cpu_breakdown_json(j, l);
	lc_own_json(j, l);
	lc_report_json_processes(j, l);
	details(j, r->view);
	unexplained(j, r->view);
	footprint(j, r->view);
	spans(j, r->view->tree);
	metric(j, lc_view_metric_all(r->view));
}

void lc_report_json_count(struct lc_json *j, uint64_t n, uint64_t total)
{
	lc_json_u64(j, "samples", n);
	lc_json_real(j, "share", lc_share(n, total));
}

void lc_report_json_fields(struct lc_json *j, const struct lc_view *v,
                           const struct lc_view_field *f, size_t len, uint64_t whole)
{
	lc_json_array(j, "fields");
	for (size_t i = 0; i < len; i++) {
		struct lc_text name = lc_tree_text(v->tree, f[i].name);

		lc_json_object(j, NULL);
		lc_report_json_count(j, f[i].samples, v->total);
		lc_json_real(j, "part", lc_share(f[i].samples, whole));
		lc_json_u64(j, "loads", f[i].loads);
		lc_json_u64(j, "stores", f[i].stores);
		lc_json_text(j, "name", name);
		if (!name.len) {
			lc_json_u64(j, "first", f[i].first);
			lc_json_u64(j, "last", f[i].last);
		}
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* "fields" of a site, or of one of its access paths, where some are known. */
static void fields(struct lc_json *j, const struct lc_view *v, uint32_t bucket, uint32_t site,
                   uint32_t path, uint64_t whole)
{
	size_t len;
	const struct lc_view_field *f = lc_view_fields(v, bucket, site, path, &len);

	if (!len)
		return;
	lc_json_line(j, 2);
	lc_report_json_fields(j, v, f, len, whole);
}

void lc_report_json_outlived(struct lc_json *j, const double *live)
{
	char collections[16];

	lc_json_object(j, "outlived");
	for (unsigned i = 0; i < LC_LIVE_COLUMNS; i++) {
		snprintf(collections, sizeof(collections), "%u", lc_live_collections(i));
		lc_json_real(j, collections, live[i]);
	}
	lc_json_end_object(j);
}

/* "fields", "metrics" and "accesses" of a site or class. */
static void accesses(struct lc_json *j, const struct lc_view *v, const struct lc_view_site *s)
{
	fields(j, v, s->bucket, s->site, LC_VIEW_ALL_PATHS, s->samples);
	metric(j, lc_view_metric(v, s->bucket, s->site, LC_VIEW_ALL_PATHS));
	lc_json_line(j, 1);
	lc_json_array(j, "accesses");
	for (size_t i = 0; i < s->accesses_len; i++) {
		const struct lc_view_access *a = &s->accesses[i];

		lc_json_line(j, 2);
		lc_json_object(j, NULL);
		lc_report_json_count(j, a->samples, v->total);
		lc_json_path(j, "path", v->tree, a->path);
		fields(j, v, a->bucket, a->site, a->path, a->samples);
		metric(j, lc_view_metric(v, a->bucket, a->site, a->path));
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* "id" and "class" of a site; a site of which nothing is known has the ID 0. */
static void identity(struct lc_json *j, const struct lc_view *v, uint32_t site)
{
	struct lc_text name = { "", 0 };

	if (site)
		name = lc_tree_text(v->tree, lc_table_key(&v->tree->sites, site)[LC_SITE_CLASS]);
	lc_json_id(j, "id", site ? lc_tree_site_id(v->tree, site) : 0);
	lc_json_text(j, "class", name);
	lc_object_json_site(j, v, site);
}

static void allocation_path(struct lc_json *j, const struct lc_view *v, uint32_t site)
{
	lc_json_line(j, 1);
	lc_json_path(j, "allocation_path", v->tree,
	             site ? lc_table_key(&v->tree->sites, site)[LC_SITE_PATH] : 0);
}

static void sites(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	lc_json_line(j, 0);
	lc_json_array(j, "sites");
	for (size_t i = 0; i < v->sites_len && i < r->top; i++) {
		const struct lc_view_site *s = &v->sites[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		identity(j, v, s->site);
		lc_json_u64(j, "allocations", s->allocations);
		lc_json_u64(j, "bytes", s->bytes);
		if (s->spread)
			lc_json_u64(j, "estimated", s->spread);
		lc_report_json_count(j, s->samples, v->total);
		allocation_path(j, v, s->site);
		accesses(j, v, s);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void split(struct lc_json *j, const struct lc_view *v, const struct lc_view_split *s)
{
	lc_json_line(j, 1);
	lc_json_object(j, "split");
	lc_json_bool(j, "estimate", true);
	lc_json_string(j, "method", s->method == LC_SPLIT_HITS ? "hits" : "live");
	lc_json_string(j, "assumption", lc_report_assumption(s->method));
	lc_json_real(j, "from_samples", s->covered);
	if (isfinite(s->objects))
		lc_json_real(j, "from_objects", s->objects);
	if (s->rest > 0)
		lc_json_real(j, "unknown", s->rest);
	lc_json_array(j, "sites");
	for (const struct lc_view_part *p = s->parts; p < s->parts + s->parts_len; p++) {
		lc_json_line(j, 2);
		lc_json_object(j, NULL);
		identity(j, v, p->site);
		lc_json_real(j, "part", p->share);
		if (s->method == LC_SPLIT_HITS) {
			lc_json_real(j, "part_low", p->low);
			lc_json_real(j, "part_high", p->high);
		}
		allocation_path(j, v, p->site);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void classes(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	lc_json_line(j, 0);
	lc_json_array(j, "classes");
	for (size_t i = 0; i < v->classes_len && i < r->top; i++) {
		const struct lc_view_site *s = &v->classes[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		identity(j, v, s->site);
		lc_report_json_count(j, s->samples, v->total);
		accesses(j, v, s);
		if (s->split)
			split(j, v, s->split);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

void lc_report_json_estimate(struct lc_json *j, const struct lc_view_estimate *e)
{
	lc_json_u64(j, "sampled", e->sampled);
	lc_json_real(j, "objects", e->objects);
	lc_json_real(j, "objects_low", e->objects_low);
	lc_json_real(j, "objects_high", e->objects_high);
	lc_json_real(j, "bytes", e->bytes);
	lc_json_real(j, "bytes_low", e->bytes_low);
	lc_json_real(j, "bytes_high", e->bytes_high);
}

static void estimates(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	lc_json_line(j, 0);
	lc_json_array(j, "estimates");
	for (size_t i = 0; i < v->estimates_len && i < r->top; i++) {
		const struct lc_view_estimate *e = &v->estimates[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		identity(j, v, e->site);
		lc_json_bool(j, "estimate", true);
		lc_report_json_estimate(j, e);
		lc_report_json_outlived(j, e->live);
		allocation_path(j, v, e->site);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static const char *touch_word(uint32_t touch)
{
	static const char *const words[LC_TOUCH_END] = { "unknown", "load", "store", "load+store" };

	return words[touch];
}

static void side(struct lc_json *j, const struct lc_view *v, const struct lc_sharing_side *s)
{
	const uint64_t *thread = lc_table_values(&v->tree->threads, s->thread);
	struct lc_text name = lc_tree_text(v->tree, s->name);

	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_text(j, "thread", lc_tree_text(v->tree, (uint32_t)thread[LC_THREAD_NAME]));
	lc_json_u64(j, "tid", thread[LC_THREAD_TID]);
	lc_json_u64(j, "process", lc_table_key(&v->tree->threads, s->thread)[LC_THREAD_PROCESS]);
	lc_json_u64(j, "threads", s->threads);
	identity(j, v, s->site);
	lc_json_string(j, "bucket", lc_bucket_name(s->bucket));
	lc_json_text(j, "field", name);
	if (!name.len)
		lc_json_u64(j, "element", s->first);
	lc_json_u64(j, "offset", s->byte);
	lc_json_u64(j, "bytes", s->width);
	lc_json_string(j, "access", touch_word(s->touch));
	lc_report_json_count(j, s->samples, v->total);
	lc_json_u64(j, "hitm", s->hitm);
	lc_json_u64(j, "paths", s->paths);
	lc_json_path(j, "path", v->tree, s->path);
	allocation_path(j, v, s->site);
	lc_json_end_object(j);
}

static void sharing(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_sharing *s = r->sharing;

	lc_json_line(j, 0);
	lc_json_object(j, "shared_lines");
	lc_json_u64(j, "lines", s->lines);
	lc_json_u64(j, "false", s->lines_false);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	lc_json_array(j, "false_sharing");
	for (size_t i = 0; i < s->findings_len && i < r->top; i++) {
		const struct lc_sharing_finding *f = &s->findings[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_json_string(j, "certainty", f->certain ? "finding" : "suspicion");
		identity(j, r->view, f->sides[0].site);
		lc_report_json_count(j, f->samples, r->view->total);
		lc_json_u64(j, "lines", f->lines);
		lc_json_u64(j, "hitm", f->hitm);
		lc_json_string(j, "advice", lc_report_advice(r->view, f));
		lc_json_line(j, 1);
		lc_json_array(j, "sides");
		side(j, r->view, &f->sides[0]);
		side(j, r->view, &f->sides[1]);
		lc_json_end_array(j);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void threads(struct lc_json *j, const struct lc_view *v)
{
	lc_json_line(j, 0);
	lc_json_array(j, "threads");
	for (size_t i = 0; i < v->threads_len; i++) {
		const struct lc_view_thread *t = &v->threads[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_json_u64(j, "tid", t->tid);
		lc_json_text(j, "name", lc_tree_text(v->tree, t->name));
		lc_json_u64(j, "samples", t->samples);
		lc_json_u64(j, "process", t->process);
		lc_json_u64(j, "allocations", t->allocations);
		lc_json_u64(j, "bytes", t->bytes);
		samples(j, "buckets", t->samples, t->buckets);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* Access paths of the samples that are in no site. */
static void others(struct lc_json *j, const struct lc_view *v)
{
	lc_json_line(j, 0);
	lc_json_array(j, "other_accesses");
	for (size_t i = 0; i < v->accesses_len && !v->accesses[i].site; i++) {
		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_json_string(j, "bucket", lc_bucket_name(v->accesses[i].bucket));
		lc_report_json_count(j, v->accesses[i].samples, v->total);
		lc_json_path(j, "path", v->tree, v->accesses[i].path);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

void lc_report_json(FILE *out, const struct lc_report *r)
{
	struct lc_json j;

	lc_json_init(&j, out);
	lc_json_object(&j, NULL);
	lc_report_json_head(&j, r);
	lc_report_json_findings(&j, r);
	lc_report_json_ranking(&j, r);
	lc_report_json_live(&j, r);
	lc_report_json_footprint(&j, r);
	sites(&j, r);
	classes(&j, r);
	sharing(&j, r);
	estimates(&j, r);
	threads(&j, r->view);
	others(&j, r->view);
	lc_report_json_code(&j, r);
	lc_report_json_resident(&j, r);
	lc_json_line(&j, 0);
	lc_numa_json(&j, "numa", &(struct lc_numa_report){ .numa = r->numa, .top = r->top });
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', out);
}
