/* SPDX-License-Identifier: Apache-2.0 */
/* out/database.c - writes tables through SQLite's own library. */
#include "analyzer/out/database.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/format/utf8.h"

/* A database in memory fails where there is none, unless the program has a mistake. */
static void check(int found, int wanted)
{
	if (found == wanted)
		return;
	assert(found == SQLITE_NOMEM || found == SQLITE_FULL || found == SQLITE_TOOBIG);
	lc_no_memory();
}

void lc_database_open(struct lc_database *d)
{
	*d = (struct lc_database){ .handle = NULL };
	check(sqlite3_open(":memory:", &d->handle), SQLITE_OK);
	lc_database_run(d, "PRAGMA page_size = 4096");
	lc_database_run(d, "BEGIN");
}

void lc_database_run(struct lc_database *d, const char *statement)
{
	check(sqlite3_exec(d->handle, statement, NULL, NULL, NULL), SQLITE_OK);
}

static void prepare(struct lc_database *d, const char *statement)
{
	sqlite3_finalize(d->insert);
	d->insert = NULL;
	check(sqlite3_prepare_v2(d->handle, statement, -1, &d->insert, NULL), SQLITE_OK);
}

void lc_database_table(struct lc_database *d, const char *name, const char *columns)
{
	char *text = lc_mem_text("CREATE TABLE %s (%s)", name, columns), *values, *insert;
	size_t len;
	FILE *out;

	lc_database_run(d, text);
	free(text);
	text = lc_mem_text("SELECT * FROM %s", name);
	prepare(d, text);
	free(text);
	d->columns = sqlite3_column_count(d->insert);
	d->column = 0;
	out = lc_text_open(&values, &len);
	for (int i = 0; i < d->columns; i++)
		fputs(i ? ", ?" : "?", out);
	lc_mem_close_text(out);
	insert = lc_mem_text("INSERT INTO %s VALUES (%s)", name, values);
	prepare(d, insert);
	free(insert);
	free(values);
}

void lc_database_i64(struct lc_database *d, int64_t v)
{
	check(sqlite3_bind_int64(d->insert, ++d->column, v), SQLITE_OK);
}

void lc_database_u64(struct lc_database *d, uint64_t v)
{
	lc_database_i64(d, v > INT64_MAX ? INT64_MAX : (int64_t)v);
}

void lc_database_real(struct lc_database *d, double v)
{
	check(sqlite3_bind_double(d->insert, ++d->column, v), SQLITE_OK);
}

void lc_database_null(struct lc_database *d)
{
	check(sqlite3_bind_null(d->insert, ++d->column), SQLITE_OK);
}

void lc_database_reference(struct lc_database *d, uint64_t v)
{
	if (v)
		lc_database_u64(d, v);
	else
		lc_database_null(d);
}

void lc_database_text(struct lc_database *d, struct lc_text text)
{
	const uint8_t *at = (const uint8_t *)text.bytes, *end = at + text.len;
	char *valid;
	size_t len;
	FILE *out = lc_text_open(&valid, &len);

	while (at < end) {
		uint32_t c = lc_utf8_next(&at, end);
		uint8_t bytes[4];

		fwrite(bytes, 1, lc_utf8_put(bytes, c ? c : LC_UTF8_REPLACEMENT), out);
	}
	lc_mem_close_text(out);
	check(sqlite3_bind_text64(d->insert, ++d->column, valid, len, free, SQLITE_UTF8),
	      SQLITE_OK);
}

void lc_database_string(struct lc_database *d, const char *text)
{
	lc_database_text(d, (struct lc_text){ text, (uint32_t)strlen(text) });
}

void lc_database_row(struct lc_database *d)
{
	assert(d->column == d->columns);
	d->column = 0;
	check(sqlite3_step(d->insert), SQLITE_DONE);
	check(sqlite3_reset(d->insert), SQLITE_OK);
}

void lc_database_close(struct lc_database *d, FILE *out)
{
	sqlite3_int64 len = 0;
	unsigned char *bytes;

	sqlite3_finalize(d->insert);
	lc_database_run(d, "COMMIT");
	bytes = sqlite3_serialize(d->handle, "main", &len, 0);
	if (bytes)
		fwrite(bytes, 1, (size_t)len, out);
	else
		lc_no_memory();
	sqlite3_free(bytes);
	sqlite3_close(d->handle);
}
