/*
 * report_html.c - the report as one file for a browser: page, style and script of viewer/ with
 * the data between them. The data are tables of numbers and of strings, much smaller than the
 * JSON report: a path is a parent and a frame, as in the profile.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "source.h"
#include "util.h"
#include "viewer.h"

enum { SOURCE_CONTEXT = 2 }; /* lines shown before and after the line of a frame */

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

static void sites(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	fputs(",\n\"sites\":[", out);
	for (size_t i = 0; i < v->sites_len && i < r->top; i++) {
		const struct lc_view_site *s = &v->sites[i];
		const uint32_t *key = lc_table_key(&v->tree->sites, s->site);

		fprintf(out, "%s[\"%016" PRIx64 "\",%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",[",
		        i ? ",\n" : "", s->id, key[LC_SITE_CLASS], key[LC_SITE_PATH],
		        s->allocations, s->bytes, s->samples);
		for (size_t k = 0; k < s->accesses_len; k++)
			fprintf(out, "%s%u,%" PRIu64, k ? "," : "", s->accesses[k].path,
			        s->accesses[k].samples);
		fputs("]]", out);
	}
	fprintf(out, "],\n\"sites_total\":%zu", v->sites_len);
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

static void data(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	putc('{', out);
	lc_report_json_head(out, r);
	strings(out, v->tree);
	numbers(out, "methods", &v->tree->methods);
	numbers(out, "frames", &v->tree->frames);
	numbers(out, "paths", &v->tree->paths);
	sites(out, r);
	threads(out, v);
	code(out, "lines", v->lines, v->lines_len);
	code(out, "code", v->methods, v->methods_len);
	sources(out, r);
	putc('}', out);
}

void lc_report_html(FILE *out, const struct lc_report *r)
{
	const char *page = (const char *)lc_viewer_page_html;
	static const char *const marks[] = { "<!--STYLE-->", "<!--DATA-->", "<!--SCRIPT-->" };

	for (unsigned i = 0; i < 3; i++) {
		const char *mark = strstr(page, marks[i]);

		fwrite(page, 1, (size_t)(mark - page), out);
		page = mark + strlen(marks[i]);
		if (i == 0)
			fwrite(lc_viewer_style_css, 1, lc_viewer_style_css_len, out);
		else if (i == 1)
			data(out, r);
		else
			fwrite(lc_viewer_viewer_js, 1, lc_viewer_viewer_js_len, out);
	}
	fputs(page, out);
}
