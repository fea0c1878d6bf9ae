/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out/html.h - writes a page of viewer/ as one self-contained file for a browser, with styles,
 * scripts and data.
 */
#ifndef LC_OUT_HTML_H
#define LC_OUT_HTML_H

#include <stdio.h>

enum lc_html_page { LC_HTML_OBJECTS, LC_HTML_SPANS, LC_HTML_REPEAT, LC_HTML_PAGES };

/* `data` writes one JSON value of `of`; the page holds it compressed (zlib, then base64). */
void lc_html_write(FILE *out, enum lc_html_page page, void (*data)(FILE *out, const void *of),
                   const void *of);

#endif
