/*
 * out/html.c - puts a page together from the files of viewer/. viewer.h holds the files of viewer/,
 * each as a text that ends with a zero.
 */
#include "analyzer/out/html.h"

#include <string.h>

#include "viewer.h"

enum { STYLES_MAX = 3, SCRIPTS_MAX = 9 };

/* What stands for the marks of a page; the scripts are one, in this order. NULL ends each list. */
static const struct {
	const unsigned char *page;
	const unsigned char *styles[STYLES_MAX], *scripts[SCRIPTS_MAX];
} pages[LC_HTML_PAGES] = {
	[LC_HTML_OBJECTS] = { lc_viewer_objects_html,
	                      { lc_viewer_style_css },
	                      { lc_viewer_common_js, lc_viewer_table_js, lc_viewer_objects_paths_js,
	                        lc_viewer_objects_detail_js, lc_viewer_objects_site_js,
	                        lc_viewer_objects_numa_js, lc_viewer_objects_head_js,
	                        lc_viewer_objects_js } },
	[LC_HTML_SPANS] = { lc_viewer_spans_html,
	                    { lc_viewer_style_css, lc_viewer_spans_css },
	                    { lc_viewer_common_js, lc_viewer_table_js, lc_viewer_spans_js } },
};

/* Write the page up to a mark. Returns what is behind the mark. */
static const char *write_to(FILE *out, const char *page, const char *mark)
{
	const char *end = strstr(page, mark);

	fwrite(page, 1, (size_t)(end - page), out);
	return end + strlen(mark);
}

static void write_all(FILE *out, const unsigned char *const *texts)
{
	for (; *texts; texts++)
		fputs((const char *)*texts, out);
}

void lc_html_write(FILE *out, enum lc_html_page page, void (*data)(FILE *out, const void *of),
                   const void *of)
{
	const char *at = (const char *)pages[page].page;

	at = write_to(out, at, "<!--STYLE-->");
	write_all(out, pages[page].styles);
	at = write_to(out, at, "<!--DATA-->");
	data(out, of);
	at = write_to(out, at, "<!--SCRIPT-->");
	write_all(out, pages[page].scripts);
	fputs(at, out);
}
