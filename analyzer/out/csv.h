/* SPDX-License-Identifier: Apache-2.0 */
/* out/csv.h - writes text fields of spreadsheet tables (RFC 4180). */
#ifndef LC_OUT_CSV_H
#define LC_OUT_CSV_H

#include <stdio.h>

#include "analyzer/model/tree.h"

/*
 * Write a field in quotes, with inner quotes doubled, as lc_emit_text() writes text. A field that a
 * spreadsheet would take for a formula gets an apostrophe in front.
 */
void lc_csv_text(FILE *out, struct lc_text text);
void lc_csv_string(FILE *out, const char *text);

#endif
