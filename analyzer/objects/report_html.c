/*
 * objects/report_html.c - writes what the page on objects shows, for viewer/objects.js.
 *
 * The JSON report would be many times as large, since it spells out each path. Here strings,
 * methods, frames and paths are numbers, rows of tables that are written once, by columns:
 * "frames":
 * {"method":[..],"line":[..]} says that frame 3 has method.[3] and line.[3]. Path 0 is the root, a
 * path is its parent and a frame, and -1 where a path is asked for stands for all of them.
 */
#include "analyzer/objects/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/numa/numa_command.h"
#include "analyzer/objects/sharing.h"
#include "analyzer/out/html.h"
#include "analyzer/out/json.h"
#include "analyzer/out/source.h"

enum {
	SOURCE_CONTEXT = 2, /* lines shown before and after the line of a frame */
	NUMA_SITES = 1000,  /* of the page on NUMA nodes, where each has a few KB of prose */
};

/* ---- the tables ---- */

static void strings(struct lc_json *j, const struct lc_tree *t)
{
	lc_json_line(j, 0);
	lc_json_array(j, "strings");
	for (uint32_t i = 0; i < t->strings.count; i++) {
		lc_json_line(j, 0);
		lc_json_text(j, NULL, lc_tree_text(t, i));
	}
	lc_json_end_array(j);
}

/* A column of a table, each number of it less `base`. */
static void column(struct lc_json *j, const char *name, const struct lc_table *t, uint32_t number,
                   uint32_t base)
{
	lc_json_array(j, name);
	for (uint32_t i = 0; i < t->count; i++)
		lc_json_i64(j, NULL, (int64_t)lc_table_key(t, i)[number] - base);
	lc_json_end_array(j);
}

/* The root is the first path; the numbers of its row name nothing. */
static void path_column(struct lc_json *j, const char *name, const struct lc_table *t,
                        uint32_t number)
{
	lc_json_array(j, name);
	for (uint32_t i = 0; i < t->count; i++)
		lc_json_u64(j, NULL, i ? lc_table_key(t, i)[number] : 0);
	lc_json_end_array(j);
}

/* Frames of the cycle, by path, of those where recursion was folded; absent where none was. */
static void recursions(struct lc_json *j, const struct lc_tree *t)
{
	if (!t->recursions.count)
		return;
	lc_json_object(j, "recursion");
	for (uint32_t i = 0; i < t->recursions.count; i++) {
		char path[16];

		snprintf(path, sizeof(path), "%" PRIu32, *lc_table_key(&t->recursions, i));
		lc_json_u64(j, path, *lc_table_values(&t->recursions, i));
	}
	lc_json_end_object(j);
}

static void tables(struct lc_json *j, const struct lc_tree *t)
{
	strings(j, t);
	lc_json_line(j, 0);
	lc_json_object(j, "methods");
	column(j, "class", &t->methods, LC_METHOD_CLASS, 0);
	column(j, "name", &t->methods, LC_METHOD_NAME, 0);
	column(j, "file", &t->methods, LC_METHOD_FILE, 0);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	lc_json_object(j, "frames");
	column(j, "method", &t->frames, LC_FRAME_METHOD, 0);
	column(j, "line", &t->frames, LC_FRAME_LINE1, 1);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	lc_json_object(j, "paths");
	path_column(j, "parent", &t->paths, LC_PATH_PARENT);
	path_column(j, "frame", &t->paths, LC_PATH_FRAME);
	recursions(j, t);
	lc_json_end_object(j);
}

/* ---- sites ---- */

static int64_t path_number(uint32_t path)
{
	return path == LC_VIEW_ALL_PATHS ? -1 : (int64_t)path;
}

static void accesses(struct lc_json *j, const struct lc_view_site *s)
{
	lc_json_object(j, "accesses");
	lc_json_array(j, "path");
	for (size_t i = 0; i < s->accesses_len; i++)
		lc_json_u64(j, NULL, s->accesses[i].path);
	lc_json_end_array(j);
	lc_json_array(j, "samples");
	for (size_t i = 0; i < s->accesses_len; i++)
		lc_json_u64(j, NULL, s->accesses[i].samples);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void fields(struct lc_json *j, const struct lc_view *v, const struct lc_view_site *s,
                   uint32_t path)
{
	size_t len;
	const struct lc_view_field *f = lc_view_fields(v, s->bucket, s->site, path, &len);

	for (size_t i = 0; i < len; i++) {
		lc_json_object(j, NULL);
		lc_json_i64(j, "path", path_number(path));
		lc_json_u64(j, "name", f[i].name);
		if (!lc_tree_text(v->tree, f[i].name).len) {
			lc_json_u64(j, "first", f[i].first);
			lc_json_u64(j, "last", f[i].last);
		}
		lc_json_u64(j, "samples", f[i].samples);
		if (f[i].loads)
			lc_json_u64(j, "loads", f[i].loads);
		if (f[i].stores)
			lc_json_u64(j, "stores", f[i].stores);
		lc_json_end_object(j);
	}
}

static void metric(struct lc_json *j, const struct lc_view *v, const struct lc_view_site *s,
                   uint32_t path)
{
	const struct lc_view_metric *m = lc_view_metric(v, s->bucket, s->site, path);

	if (!m)
		return;
	lc_json_object(j, NULL);
	lc_json_i64(j, "path", path_number(path));
	lc_report_json_metric(j, m);
	lc_json_end_object(j);
}

/* An array of what `write` says of all paths, and then of each. */
static void of_paths(struct lc_json *j, const char *name, const struct lc_view *v,
                     const struct lc_view_site *s,
                     void (*write)(struct lc_json *, const struct lc_view *,
                                   const struct lc_view_site *, uint32_t))
{
	lc_json_array(j, name);
	write(j, v, s, LC_VIEW_ALL_PATHS);
	for (size_t i = 0; i < s->accesses_len; i++)
		write(j, v, s, s->accesses[i].path);
	lc_json_end_array(j);
}

/* "fields" and "metrics", where they are known. */
static void parts(struct lc_json *j, const struct lc_view *v, const struct lc_view_site *s)
{
	size_t len;

	lc_view_fields(v, s->bucket, s->site, LC_VIEW_ALL_PATHS, &len);
	if (len)
		of_paths(j, "fields", v, s, fields);
	if (lc_view_metric(v, s->bucket, s->site, LC_VIEW_ALL_PATHS))
		of_paths(j, "metrics", v, s, metric);
}

static void split(struct lc_json *j, const struct lc_view *v, const struct lc_view_split *s)
{
	lc_json_object(j, "split");
	lc_json_string(j, "assumption", lc_report_assumption(s->method));
	lc_json_array(j, "parts");
	for (size_t i = 0; i < s->parts_len; i++) {
		const uint32_t *key = lc_table_key(&v->tree->sites, s->parts[i].site);

		lc_json_object(j, NULL);
		lc_json_u64(j, "path", key[LC_SITE_PATH]);
		lc_json_real(j, "share", s->parts[i].share);
		if (s->method == LC_SPLIT_HITS) {
			lc_json_real(j, "low", s->parts[i].low);
			lc_json_real(j, "high", s->parts[i].high);
		}
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void site(struct lc_json *j, const struct lc_view *v, const struct lc_view_site *s)
{
	const uint32_t *key = lc_table_key(&v->tree->sites, s->site);

	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_id(j, "id", s->id);
	lc_json_u64(j, "class", key[LC_SITE_CLASS]);
	lc_json_u64(j, "path", s->bucket == LC_BUCKET_OBJECT ? key[LC_SITE_PATH] : 0);
	lc_json_u64(j, "allocations", s->allocations);
	lc_json_u64(j, "bytes", s->bytes);
	if (s->spread)
		lc_json_u64(j, "estimated", s->spread);
	lc_json_u64(j, "samples", s->samples);
	accesses(j, s);
	parts(j, v, s);
	if (s->split)
		split(j, v, s->split);
	lc_json_end_object(j);
}

/* The first rows, and how many there are in all. */
static void sites(struct lc_json *j, const struct lc_report *r, const char *name,
                  const struct lc_view_site *rows, size_t len, const char *total)
{
	lc_json_line(j, 0);
	lc_json_array(j, name);
	for (size_t i = 0; i < len && i < r->top; i++)
		site(j, r->view, &rows[i]);
	lc_json_end_array(j);
	lc_json_line(j, 0);
	lc_json_u64(j, total, len);
}

/* ---- false sharing, small objects ---- */

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

static void estimates(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	lc_json_line(j, 0);
	lc_json_array(j, "estimates");
	for (size_t i = 0; i < v->estimates_len && i < r->top; i++) {
		const struct lc_view_estimate *e = &v->estimates[i];
		const uint32_t *key = lc_table_key(&v->tree->sites, e->site);

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_json_u64(j, "class", key[LC_SITE_CLASS]);
		lc_json_u64(j, "path", key[LC_SITE_PATH]);
		lc_report_json_estimate(j, e);
		lc_json_array(j, "outlived");
		for (unsigned k = 0; k < LC_LIVE_COLUMNS; k++)
			lc_json_real(j, NULL, e->live[k]);
		lc_json_end_array(j);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* ---- threads, code, sources ---- */

/* "buckets" are in the order of those of "samples". */
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

enum code_column { CODE_METHOD, CODE_LINE, CODE_SAMPLES, CODE_OBJECT, CODE_TOTAL, CODE_COLUMNS };

static int64_t code_value(const struct lc_view_code *row, enum code_column number)
{
	switch (number) {
	case CODE_METHOD:
		return row->method;
	case CODE_LINE:
		return (int64_t)row->line1 - 1;
	case CODE_SAMPLES:
		return (int64_t)row->samples;
	case CODE_OBJECT:
		return (int64_t)row->object;
	case CODE_TOTAL:
		return (int64_t)row->total;
	case CODE_COLUMNS:
		break;
	}
	return 0;
}

/* A table by columns, since there are thousands of rows. */
static void code(struct lc_json *j, const char *name, const struct lc_view_code *rows, size_t len)
{
	static const char *const columns[CODE_COLUMNS] = { "method", "line", "samples", "object",
		                                           "total" };

	lc_json_line(j, 0);
	lc_json_object(j, name);
	for (unsigned k = 0; k < CODE_COLUMNS; k++) {
		lc_json_array(j, columns[k]);
		for (size_t i = 0; i < len; i++)
			lc_json_i64(j, NULL, code_value(&rows[i], (enum code_column)k));
		lc_json_end_array(j);
	}
	lc_json_end_object(j);
}

/* The source of a frame: some lines before and after its own. Nothing where it was not found. */
static void source(struct lc_json *j, const struct lc_report *r, uint32_t number)
{
	const struct lc_tree *t = r->view->tree;
	const uint32_t *frame = lc_table_key(&t->frames, number);
	const uint32_t *method = lc_table_key(&t->methods, frame[LC_FRAME_METHOD]);
	struct lc_text class_name = lc_tree_text(t, method[LC_METHOD_CLASS]);
	struct lc_text file = lc_tree_text(t, method[LC_METHOD_FILE]);
	uint32_t line = frame[LC_FRAME_LINE1] ? frame[LC_FRAME_LINE1] - 1 : 0;
	uint32_t from = line > SOURCE_CONTEXT ? line - SOURCE_CONTEXT : 1;
	char name[16];

	if (!line || !lc_source_line(r->source, class_name, file, line).bytes)
		return;
	snprintf(name, sizeof(name), "%u", number);
	lc_json_line(j, 0);
	lc_json_object(j, name);
	lc_json_u64(j, "first", from);
	lc_json_array(j, "lines");
	for (uint32_t at = from; at <= line + SOURCE_CONTEXT; at++) {
		struct lc_text text = lc_source_line(r->source, class_name, file, at);

		if (!text.bytes)
			break;
		lc_json_text(j, NULL, text);
	}
	lc_json_end_array(j);
	lc_json_end_object(j);
}

/* Members named after frames. */
static void sources(struct lc_json *j, const struct lc_report *r)
{
	lc_json_line(j, 0);
	lc_json_object(j, "source");
	for (uint32_t i = 0; i < r->view->tree->frames.count && r->source; i++)
		source(j, r, i);
	lc_json_end_object(j);
}

static void data(FILE *out, const void *report)
{
	const struct lc_report *r = report;
	const struct lc_view *v = r->view;
	struct lc_json writer, *j = &writer;

	lc_json_init(j, out);
	lc_json_object(j, NULL);
	lc_report_json_head(j, r);
	tables(j, v->tree);
	sites(j, r, "sites", v->sites, v->sites_len, "sites_total");
	sites(j, r, "classes", v->classes, v->classes_len, "classes_total");
	sharing(j, r);
	estimates(j, r);
	threads(j, v);
	code(j, "lines", v->lines, v->lines_len);
	code(j, "code", v->methods, v->methods_len);
	sources(j, r);
	lc_json_line(j, 0);
	lc_numa_json(j, "numa",
	             &(struct lc_numa_report){
	                 .numa = r->numa,
	                 .top = r->top < NUMA_SITES ? r->top : NUMA_SITES,
	                 .compact = true,
	             });
	lc_json_end_object(j);
	lc_json_finish(j);
}

void lc_report_html(FILE *out, const struct lc_report *r)
{
	lc_html_write(out, LC_HTML_OBJECTS, data, r);
}
