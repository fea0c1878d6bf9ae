/* SPDX-License-Identifier: Apache-2.0 */
/* objects/export/report_sqlite.h - declares what the parts of the SQLite file share. */
#ifndef LC_OBJECTS_EXPORT_REPORT_SQLITE_H
#define LC_OBJECTS_EXPORT_REPORT_SQLITE_H

#include <stdint.h>

#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/database.h"

/* A file that is being written. Sites and paths that a row names are written behind all rows. */
struct lc_sqlite {
	struct lc_database db;
	const struct lc_report *r;
	const struct lc_tree *tree;
	uint8_t *sites, *paths; /* rows of the tree's: 1 where one is named */
};

/* A column that refers to a row of sites, or of paths; NULL: none, or not known. */
void lc_sqlite_site(struct lc_sqlite *s, uint32_t site);
void lc_sqlite_path(struct lc_sqlite *s, uint32_t path);

/* A column that refers to a row of threads. */
void lc_sqlite_thread(struct lc_sqlite *s, uint32_t thread);

/* A column of a number that is kept + 1, with 0 for unknown: NULL. */
void lc_sqlite_known(struct lc_sqlite *s, uint32_t number1);

/* Tables of processes and their labels. */
void lc_sqlite_processes(struct lc_sqlite *s);

/* Write the groups of --by for the named paths and their callers. */
void lc_sqlite_path_groups(struct lc_sqlite *s);

/* Tables of live objects. */
void lc_sqlite_live(struct lc_sqlite *s);

/* Tables of threads, of time, of NUMA nodes and of spans. */
void lc_sqlite_threads(struct lc_sqlite *s);
void lc_sqlite_nodes(struct lc_sqlite *s);
void lc_sqlite_spans(struct lc_sqlite *s);

#endif
