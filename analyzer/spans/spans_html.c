/*
 * spans/spans_html.c - the report on spans as one file for a browser: page, style and script of viewer/ with
 * the JSON report between them. The pictures are made by the script, as SVG.
 */
#include "analyzer/out/html.h"
#include "analyzer/spans/spans_command.h"
#include "viewer.h"

static void data(FILE *out, const void *report)
{
	lc_spans_json(out, report);
}

void lc_spans_html(FILE *out, const struct lc_spans_report *r)
{
	static const struct lc_html_page page = {
		lc_viewer_spans_html,
		{ lc_viewer_style_css, lc_viewer_spans_css },
		{ lc_viewer_common_js, lc_viewer_spans_js },
	};

	lc_html_write(out, &page, data, r);
}
