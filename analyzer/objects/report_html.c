/*
 * objects/report_html.c - the report as one file for a browser: page, style and script of viewer/ with
 * the data between them. The data are tables of numbers and of strings, much smaller than the
 * JSON report: a path is a parent and a frame, as in the profile.
 */
#include "analyzer/objects/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/numa/numa_command.h"
#include "analyzer/objects/sharing.h"
#include "analyzer/out/html.h"
#include "analyzer/out/source.h"
#include "analyzer/out/text.h"
#include "viewer.h"

enum {
	SOURCE_CONTEXT = 2, /* lines shown before and after the line of a frame */
	NUMA_SITES = 1000,  /* of the page on NUMA nodes, where each has a few KB of words */
};

static void numbers(FILE *out, const char *name, const struct lc_table *t)
{
	size_t len = (size_t)t->count * t->key_len;

	fprintf(out, ",\n\"%s\":[", name);
	for (size_t i = 0; i < len; i++)
		fprintf(out, i ? ",%" PRId32 : "%" PRId32, (int32_t)t->keys[i]);
	putc(']', out);
}

static void strings(FILE *out, const struct lc_tree *t)
{
	fputs(",\n\"strings\":[", out);
	for (uint32_t i = 0; i < t->strings.count; i++) {
		fputs(i ? ",\n" : "", out);
		lc_emit_json(out, lc_tree_text(t, i));
	}
	putc(']', out);
}

/* A path, or -1 for all of them. */
static void path_number(FILE *out, uint32_t path)
{
	fprintf(out, "[%" PRId32 ",", (int32_t)path);
}

/* [path,name,first,last,samples,loads,stores], each with a comma before it but the first. */
static void fields(FILE *out, const struct lc_view *v, const struct lc_view_site *s, uint32_t path,
                   bool *first)
{
	size_t len;
	const struct lc_view_field *f = lc_view_fields(v, s->bucket, s->site, path, &len);

	for (size_t i = 0; i < len; i++) {
		fputs(*first ? "" : ",", out);
		*first = false;
		path_number(out, path);
		fprintf(out, "%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
		        f[i].name, f[i].first, f[i].last, f[i].samples, f[i].loads, f[i].stores);
	}
}

static void metric(FILE *out, const struct lc_view *v, const struct lc_view_site *s, uint32_t path,
                   bool *first)
{
	const struct lc_view_metric *m = lc_view_metric(v, s->bucket, s->site, path);

	if (!m)
		return;
	fputs(*first ? "" : ",", out);
	*first = false;
	path_number(out, path);
	lc_report_json_metric(out, m);
	putc(']', out);
}

/* ,[fields],[metrics] of all paths, and of each; nothing where neither is known. */
static void parts(FILE *out, const struct lc_view *v, const struct lc_view_site *s)
{
	void (*const kinds[])(FILE *, const struct lc_view *, const struct lc_view_site *, uint32_t,
	                      bool *) = { fields, metric };
	size_t len;

	lc_view_fields(v, s->bucket, s->site, LC_VIEW_ALL_PATHS, &len);
	if (!len && !s->split && !lc_view_metric(v, s->bucket, s->site, LC_VIEW_ALL_PATHS))
		return;
	for (unsigned k = 0; k < 2; k++) {
		bool first = true;

		fputs(",[", out);
		kinds[k](out, v, s, LC_VIEW_ALL_PATHS, &first);
		for (size_t i = 0; i < s->accesses_len; i++)
			kinds[k](out, v, s, s->accesses[i].path, &first);
		putc(']', out);
	}
}

/* ,[assumption,[[path,share,low,high],..]] */
static void split(FILE *out, const struct lc_view *v, const struct lc_view_split *s)
{
	fputs(",[", out);
	lc_emit_json_c(out, lc_report_assumption(s->method));
	fputs(",[", out);
	for (size_t i = 0; i < s->parts_len; i++)
		fprintf(out, "%s[%u,%.17g,%.17g,%.17g]", i ? "," : "",
		        lc_table_key(&v->tree->sites, s->parts[i].site)[LC_SITE_PATH],
		        s->parts[i].share, s->parts[i].low, s->parts[i].high);
	fputs("]]", out);
}

/* [id,class,path,allocations,bytes,samples,[path,samples..],..] */
static void sites(FILE *out, const struct lc_report *r, const char *name,
                  const struct lc_view_site *rows, size_t len)
{
	const struct lc_view *v = r->view;

	fprintf(out, ",\n\"%s\":[", name);
	for (size_t i = 0; i < len && i < r->top; i++) {
		const struct lc_view_site *s = &rows[i];
		const uint32_t *key = lc_table_key(&v->tree->sites, s->site);

		fprintf(out, "%s[\"%016" PRIx64 "\",%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",[",
		        i ? ",\n" : "", s->id, key[LC_SITE_CLASS],
		        s->bucket == LC_BUCKET_OBJECT ? key[LC_SITE_PATH] : 0, s->allocations,
		        s->bytes, s->samples);
		for (size_t k = 0; k < s->accesses_len; k++)
			fprintf(out, "%s%u,%" PRIu64, k ? "," : "", s->accesses[k].path,
			        s->accesses[k].samples);
		putc(']', out);
		parts(out, v, s);
		if (s->split)
			split(out, v, s->split);
		putc(']', out);
	}
	fprintf(out, "],\n\"%s_total\":%zu", name, len);
}

/* [thread,tid,threads,class,allocation path,name,element,byte,touch,samples,path,paths] */
static void side(FILE *out, const struct lc_tree *t, const struct lc_sharing_side *s)
{
	const uint64_t *thread = lc_table_values(&t->threads, s->thread);
	const uint32_t *site = lc_table_key(&t->sites, s->site);

	fprintf(out, "[%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u,%" PRIu64 ",%u,%u,%" PRIu64 ",%u,%u]",
	        thread[LC_THREAD_NAME], thread[LC_THREAD_TID], s->threads,
	        s->site ? site[LC_SITE_CLASS] : 0, s->site ? site[LC_SITE_PATH] : 0, s->name,
	        s->first, s->byte, s->touch, s->samples, s->path, s->paths);
}

/* [certain,samples,lines,hitm,one site,advice,[side,side]] */
static void sharing(FILE *out, const struct lc_report *r)
{
	const struct lc_sharing *s = r->sharing;

	fputs(",\n\"false_sharing\":[", out);
	for (size_t i = 0; i < s->findings_len && i < r->top; i++) {
		const struct lc_sharing_finding *f = &s->findings[i];
		bool same = f->sides[0].site == f->sides[1].site &&
		            f->sides[0].bucket == f->sides[1].bucket;

		fprintf(out, "%s[%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,", i ? ",\n" : "",
		        f->certain ? "true" : "false", f->samples, f->lines, f->hitm,
		        same ? "true" : "false");
		lc_emit_json_c(out, lc_report_advice(r->view, f));
		fputs(",[", out);
		side(out, r->view->tree, &f->sides[0]);
		putc(',', out);
		side(out, r->view->tree, &f->sides[1]);
		fputs("]]", out);
	}
	putc(']', out);
}

/* [id,class,path,sampled,objects,low,high,bytes,low,high,[outlived..]] */
static void estimates(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	fputs(",\n\"estimates\":[", out);
	for (size_t i = 0; i < v->estimates_len && i < r->top; i++) {
		const struct lc_view_estimate *e = &v->estimates[i];
		const uint32_t *key = lc_table_key(&v->tree->sites, e->site);

		fprintf(out, "%s[\"%016" PRIx64 "\",%u,%u,%" PRIu64 ",%.17g,%.17g,%.17g,",
		        i ? ",\n" : "", e->id, key[LC_SITE_CLASS], key[LC_SITE_PATH], e->sampled,
		        e->objects, e->objects_low, e->objects_high);
		fprintf(out, "%.17g,%.17g,%.17g,[", e->bytes, e->bytes_low, e->bytes_high);
		for (unsigned k = 0; k < LC_LIVE_COLUMNS; k++)
			fprintf(out, "%s%.17g", k ? "," : "", e->live[k]);
		fputs("]]", out);
	}
	putc(']', out);
}

static void threads(FILE *out, const struct lc_view *v)
{
	fputs(",\n\"threads\":[", out);
	for (size_t i = 0; i < v->threads_len; i++) {
		const struct lc_view_thread *t = &v->threads[i];

		fprintf(out, "%s[%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",[", i ? ",\n" : "",
		        t->process, t->tid, t->name, t->samples, t->allocations, t->bytes);
		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
			fprintf(out, "%s%" PRIu64, b ? "," : "", t->buckets[b]);
		fputs("]]", out);
	}
	putc(']', out);
}

static void code(FILE *out, const char *name, const struct lc_view_code *rows, size_t len)
{
	fprintf(out, ",\n\"%s\":[", name);
	for (size_t i = 0; i < len; i++)
		fprintf(out, "%s[%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
		        rows[i].method, rows[i].line1, rows[i].samples, rows[i].object,
		        rows[i].total);
	putc(']', out);
}

/* {"frame":[first line,["text",..]]} for each frame whose source was found. */
static void sources(FILE *out, const struct lc_report *r)
{
	const struct lc_tree *t = r->view->tree;
	bool first = true;

	fputs(",\n\"source\":{", out);
	for (uint32_t i = 0; i < t->frames.count && r->source; i++) {
		const uint32_t *frame = lc_table_key(&t->frames, i);
		const uint32_t *method = lc_table_key(&t->methods, frame[LC_FRAME_METHOD]);
		struct lc_text class_name = lc_tree_text(t, method[LC_METHOD_CLASS]);
		struct lc_text file = lc_tree_text(t, method[LC_METHOD_FILE]);
		uint32_t line = frame[LC_FRAME_LINE1] ? frame[LC_FRAME_LINE1] - 1 : 0;
		uint32_t from = line > SOURCE_CONTEXT ? line - SOURCE_CONTEXT : 1;

		if (!line || !lc_source_line(r->source, class_name, file, line).bytes)
			continue;
		fprintf(out, "%s\"%u\":[%u,[", first ? "" : ",\n", i, from);
		first = false;
		for (uint32_t at = from; at <= line + SOURCE_CONTEXT; at++) {
			struct lc_text text = lc_source_line(r->source, class_name, file, at);

			if (!text.bytes)
				break;
			fputs(at > from ? "," : "", out);
			lc_emit_json(out, text);
		}
		fputs("]]", out);
	}
	putc('}', out);
}

static void data(FILE *out, const void *report)
{
	const struct lc_report *r = report;
	const struct lc_view *v = r->view;

	putc('{', out);
	lc_report_json_head(out, r);
	strings(out, v->tree);
	numbers(out, "methods", &v->tree->methods);
	numbers(out, "frames", &v->tree->frames);
	numbers(out, "paths", &v->tree->paths);
	sites(out, r, "sites", v->sites, v->sites_len);
	sites(out, r, "classes", v->classes, v->classes_len);
	sharing(out, r);
	estimates(out, r);
	threads(out, v);
	code(out, "lines", v->lines, v->lines_len);
	code(out, "code", v->methods, v->methods_len);
	sources(out, r);
	fputs(",\n\"numa\":", out);
	lc_numa_json(out, &(struct lc_numa_report){
	                      .numa = r->numa,
	                      .top = r->top < NUMA_SITES ? r->top : NUMA_SITES,
	                      .compact = true,
	                  });
	putc('}', out);
}

void lc_report_html(FILE *out, const struct lc_report *r)
{
	static const struct lc_html_page page = {
		lc_viewer_objects_html,
		{ lc_viewer_style_css },
		{ lc_viewer_common_js, lc_viewer_objects_detail_js, lc_viewer_objects_numa_js,
		  lc_viewer_objects_js },
	};

	lc_html_write(out, &page, data, r);
}
