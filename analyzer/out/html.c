/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out/html.c - assembles a page from the files of viewer/, which viewer.h holds as texts that end
 * with a zero.
 */
#include "analyzer/out/html.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyzer/base/memory.h"
#include "viewer.h"

enum { LINE = 96, LEVEL = 6 }; /* characters of a line, a multiple of 4; of zlib */

enum { STYLES_MAX = 4, SCRIPTS_MAX = 20 };

/*
 * The files that replace the marks of a page. The scripts become one, in this order. NULL ends a
 * list that is not full.
 */
static const struct {
	const unsigned char *page;
	const unsigned char *styles[STYLES_MAX], *scripts[SCRIPTS_MAX];
} pages[LC_HTML_PAGES] = {
	[LC_HTML_OBJECTS] = { lc_viewer_page_html,
	                      { lc_viewer_style_css, lc_viewer_spans_css },
	                      { lc_viewer_common_js, lc_viewer_table_js, lc_viewer_paths_js,
	                        lc_viewer_model_js, lc_viewer_difference_js, lc_viewer_flame_js,
	                        lc_viewer_rows_js, lc_viewer_sharing_js, lc_viewer_numa_js,
	                        lc_viewer_off_heap_js, lc_viewer_live_js, lc_viewer_faces_js,
	                        lc_viewer_head_js, lc_viewer_strip_js, lc_viewer_code_js,
	                        lc_viewer_requests_js, lc_viewer_waits_js, lc_viewer_spans_js,
	                        lc_viewer_main_js } },
	[LC_HTML_SPANS] = { lc_viewer_spans_html,
	                    { lc_viewer_style_css, lc_viewer_spans_css },
	                    { lc_viewer_common_js, lc_viewer_table_js, lc_viewer_spans_js,
	                      lc_viewer_spans_page_js } },
	[LC_HTML_REPEAT] = { lc_viewer_repeat_html,
	                     { lc_viewer_style_css, lc_viewer_spans_css, lc_viewer_repeat_css },
	                     { lc_viewer_common_js, lc_viewer_repeat_js } },
};

/* Write the page up to a mark. Returns what is behind the mark. */
static const char *write_to(FILE *out, const char *page, const char *mark)
{
	const char *end = strstr(page, mark);

	fwrite(page, 1, (size_t)(end - page), out);
	return end + strlen(mark);
}

static void write_all(FILE *out, const unsigned char *const *texts, size_t most)
{
	for (size_t i = 0; i < most && texts[i]; i++)
		fputs((const char *)texts[i], out);
}

/* Base64 (RFC 4648). */
static void write_text(FILE *out, const unsigned char *bytes, size_t len)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[LINE + 1];
	size_t at = 0;

	for (size_t i = 0; i < len; i += 3) {
		const size_t left = len - i;
		const uint32_t three = (uint32_t)bytes[i] << 16 |
		                       (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
		                       (left > 2 ? bytes[i + 2] : 0);

		text[at++] = digits[three >> 18];
		text[at++] = digits[three >> 12 & 63];
		text[at++] = left > 1 ? digits[three >> 6 & 63] : '=';
		text[at++] = left > 2 ? digits[three & 63] : '=';
		if (at == LINE || left <= 3) {
			text[at] = '\n';
			fwrite(text, 1, at + 1, out);
			at = 0;
		}
	}
}

/* The data, compressed: pages are kept and sent, and text shrinks to a tenth. */
static void write_data(FILE *out, void (*data)(FILE *out, const void *of), const void *of)
{
	char *text;
	size_t len;
	FILE *memory = lc_text_open(&text, &len);
	unsigned char *packed;
	uLongf packed_len;

	data(memory, of);
	lc_mem_close_text(memory);
	packed_len = compressBound(len);
	packed = lc_mem_zeroed(packed_len, 1);
	if (compress2(packed, &packed_len, (const unsigned char *)text, len, LEVEL) != Z_OK)
		lc_no_memory();
	free(text);
	write_text(out, packed, packed_len);
	free(packed);
}

void lc_html_write(FILE *out, enum lc_html_page page, void (*data)(FILE *out, const void *of),
                   const void *of)
{
	const char *at = (const char *)pages[page].page;

	at = write_to(out, at, "<!--STYLE-->");
	write_all(out, pages[page].styles, STYLES_MAX);
	at = write_to(out, at, "<!--DATA-->");
	write_data(out, data, of);
	at = write_to(out, at, "<!--SCRIPT-->");
	write_all(out, pages[page].scripts, SCRIPTS_MAX);
	fputs(at, out);
}
