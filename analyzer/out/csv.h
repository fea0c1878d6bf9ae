/* out/csv.h - writes fields of text as tables for spreadsheets have them (RFC 4180). */
#ifndef LC_OUT_CSV_H
#define LC_OUT_CSV_H

#include <stdio.h>

#include "analyzer/model/tree.h"

/*
 * A field in quotes, quotes in it doubled, as lc_emit_text() writes text. What a spreadsheet would
 * take for a formula gets an apostrophe before it.
 */
void lc_csv_text(FILE *out, struct lc_text text);
void lc_csv_string(FILE *out, const char *text);

#endif
