/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/page/page.h - writes the parts of the HTML page's data, which analyzer/viewer/ shows.
 *
 * The JSON report spells out each path and would be many times as large. Here strings, methods,
 * frames, paths and sites are numbers: rows of tables that are written once, column by column.
 * "frames":{"method":[..],"line":[..]} says that frame 3 has method[3] and line[3]. Path 0 is the
 * root; any other path is its parent and a frame. String 0 is empty, and site 0 means none.
 */
#ifndef LC_OBJECTS_PAGE_PAGE_H
#define LC_OBJECTS_PAGE_PAGE_H

#include "analyzer/objects/analysis/report.h"

struct lc_analysis;
struct lc_json;
struct lc_live;
struct lc_live_line;
struct lc_slices;

/* Write one column of a table's keys as an array, each number less `base`. */
void lc_page_column(struct lc_json *j, const char *name, const struct lc_table *t, uint32_t number,
                    uint32_t base);

/* Members "strings", "methods", "frames", "paths" and "sites". */
void lc_page_tables(struct lc_json *j, const struct lc_tree *t);

/*
 * Members "epochs", "totals", "sampled" and "made": counts by thread and time, from the tree's
 * slices. Times are in ns since the start of the process. "thread" is a row of "threads" plus 1,
 * "epoch" a row of "epochs" plus 1; 0 is unknown.
 */
void lc_page_slices(struct lc_json *j, const struct lc_view *v);

/* Member "pauses": process, begin and duration in ns of each collection's pause. */
void lc_page_pauses(struct lc_json *j, const struct lc_analysis *a);

/* Member "span_samples": samples inside spans, by span and object. */
void lc_page_span_samples(struct lc_json *j, const struct lc_tree *t);

/*
 * Member "layouts": for classes with known field offsets, the size of an object (0: unknown), and
 * the name, offset and bytes of each field.
 */
void lc_page_layouts(struct lc_json *j, const struct lc_tree *t);

/*
 * An element of "lenses": what one engine measured. It has the rows of each grouping, the places
 * that rows are made of, code, and findings.
 */
void lc_page_lens(struct lc_json *j, const struct lc_analysis *a);

/* Member "live": what is told of all that stays after collections; absent if nothing is. */
void lc_page_live(struct lc_json *j, const struct lc_live *l);

/* Member "held" of a row: what its line holds after collections, and the curve. */
void lc_page_live_row(struct lc_json *j, const struct lc_live_line *line);

/* Member "sources": for each file, the lines around sampled lines. */
void lc_page_sources(struct lc_json *j, const struct lc_report *r);

#endif
