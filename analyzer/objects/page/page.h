/*
 * objects/page/page.h - declares the parts of what the page shows, for viewer/.
 *
 * The JSON report would be many times as large, since it spells out each path. Here strings,
 * methods, frames, paths and sites are numbers: rows of tables that are written once, by columns.
 * "frames":{"method":[..],"line":[..]} says that frame 3 has method.[3] and line.[3]. Path 0 is the
 * root, a path is its parent and a frame. String 0 is empty and site 0 none.
 */
#ifndef LC_OBJECTS_PAGE_PAGE_H
#define LC_OBJECTS_PAGE_PAGE_H

#include "analyzer/objects/analysis/report.h"

struct lc_analysis;
struct lc_json;
struct lc_slices;

/* An array of one column of a table's keys, each number of it less `base`. */
void lc_page_column(struct lc_json *j, const char *name, const struct lc_table *t, uint32_t number,
                    uint32_t base);

/* Members "strings", "methods", "frames", "paths" and "sites". */
void lc_page_tables(struct lc_json *j, const struct lc_tree *t);

/*
 * Members "epochs", "totals", "sampled" and "made": by thread and time, as the tree's slices hold
 * them. Times are in ns since the start of the process. Numbers of threads are rows of "threads",
 * those of epochs rows of "epochs", both + 1; 0 is unknown.
 */
void lc_page_slices(struct lc_json *j, const struct lc_view *v);

/* Member "pauses": process, begin and duration in ns of each collection's. */
void lc_page_pauses(struct lc_json *j, const struct lc_analysis *a);

/* Member "span_samples": samples inside spans, by span and object. */
void lc_page_span_samples(struct lc_json *j, const struct lc_tree *t);

/*
 * Member "layouts": of classes whose fields' places are known, the size of an object (0: unknown)
 * and name, offset and bytes of each field.
 */
void lc_page_layouts(struct lc_json *j, const struct lc_tree *t);

/*
 * An element of "lenses": what one engine says, with rows of each way to group them, the places
 * that rows are made of, code, and findings.
 */
void lc_page_lens(struct lc_json *j, const struct lc_analysis *a);

/* Member "sources": by file, the lines around those that samples fell into. */
void lc_page_sources(struct lc_json *j, const struct lc_report *r);

#endif
