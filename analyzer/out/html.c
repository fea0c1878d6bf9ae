/* out/html.c - see html.h. */
#include "analyzer/out/html.h"

#include <string.h>

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

void lc_html_write(FILE *out, const struct lc_html_page *page,
                   void (*data)(FILE *out, const void *of), const void *of)
{
	const char *at = (const char *)page->page;

	at = write_to(out, at, "<!--STYLE-->");
	write_all(out, page->styles);
	at = write_to(out, at, "<!--DATA-->");
	data(out, of);
	at = write_to(out, at, "<!--SCRIPT-->");
	write_all(out, page->scripts);
	fputs(at, out);
}
