/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out/database.h - makes an SQLite database in memory, table by table and row by row, and writes it
 * as a file. Equal rows give equal bytes, with one version of SQLite.
 *
 *     lc_database_open(&d);
 *     lc_database_table(&d, "threads", "id INTEGER PRIMARY KEY, name TEXT");
 *     lc_database_i64(&d, 1);
 *     lc_database_string(&d, "main");
 *     lc_database_row(&d);
 *     lc_database_close(&d, out);
 */
#ifndef LC_OUT_DATABASE_H
#define LC_OUT_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/model/tree.h"

/* The members are the writer's own. */
struct lc_database {
	sqlite3 *handle;
	sqlite3_stmt *insert; /* into the table that was begun last; NULL: none was */
	int columns;          /* of that table */
	int column;           /* of the row, so many are set */
};

/* All functions stop the program without memory. */
void lc_database_open(struct lc_database *d);

/* Create a table, whose rows follow. `columns`: as CREATE TABLE has them. */
void lc_database_table(struct lc_database *d, const char *name, const char *columns);

/* Any other statement: an index, a view. */
void lc_database_run(struct lc_database *d, const char *statement);

/* The next column of the row. A number above INT64_MAX, the largest that SQLite has, is that. */
void lc_database_i64(struct lc_database *d, int64_t v);
void lc_database_u64(struct lc_database *d, uint64_t v);
void lc_database_real(struct lc_database *d, double v);
void lc_database_null(struct lc_database *d);
/* NULL where `v` is 0. */
void lc_database_reference(struct lc_database *d, uint64_t v);
/* Valid UTF-8, as lc_json_text() has it, but U+0000 is U+FFFD: it would end the text. */
void lc_database_text(struct lc_database *d, struct lc_text text);
void lc_database_string(struct lc_database *d, const char *text);

/* All columns of the row are set: into the table with it. */
void lc_database_row(struct lc_database *d);

/* Write the file. Errors of `out` are the caller's to see. */
void lc_database_close(struct lc_database *d, FILE *out);

#endif
