/* out/html.h - a page of viewer/ as one file for a browser: its styles and scripts, and the data between them. */
#ifndef LC_OUT_HTML_H
#define LC_OUT_HTML_H

#include <stdio.h>

/* Texts of viewer.h. The page has a mark for each of the three; the scripts are one, in this order. */
struct lc_html_page {
	const unsigned char *page;
	const unsigned char *styles[3], *scripts[5]; /* NULL ends each */
};

/* `data` writes one JSON value of `of`. */
void lc_html_write(FILE *out, const struct lc_html_page *page,
                   void (*data)(FILE *out, const void *of), const void *of);

#endif
