/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/json/report_json.h - declares the parts of the JSON report that have files of their own.
 */
#ifndef LC_OBJECTS_JSON_REPORT_JSON_H
#define LC_OBJECTS_JSON_REPORT_JSON_H

#include "analyzer/objects/analysis/report.h"

struct lc_json;

struct lc_load;
struct lc_load_process;

/* The members "command", "pid", "jdk" and "gc" of docs/JSON.md. */
void lc_report_json_program(struct lc_json *j, const struct lc_load_process *p);

/* The member "processes". */
void lc_report_json_processes(struct lc_json *j, const struct lc_load *l);

/* The member "ranking". */
void lc_report_json_ranking(struct lc_json *j, const struct lc_report *r);

/* The members that name a row: its class and line, or what else the ranking groups by. */
struct lc_rank_row;
void lc_report_json_label(struct lc_json *j, const struct lc_ranking *rank,
                          const struct lc_rank_row *row);

/* The member "live". */
void lc_report_json_live(struct lc_json *j, const struct lc_report *r);

/* The member "footprint"; absent if nothing is known of live objects. */
void lc_report_json_footprint(struct lc_json *j, const struct lc_report *r);

/* The members "samples" and "share" of a count. */
void lc_report_json_count(struct lc_json *j, uint64_t n, uint64_t total);

/* The member "code". */
void lc_report_json_code(struct lc_json *j, const struct lc_report *r);

/* The array "fields", as shares of the view and of `whole` samples. */
void lc_report_json_fields(struct lc_json *j, const struct lc_view *v,
                           const struct lc_view_field *f, size_t len, uint64_t whole);

/* The object "outlived": of LC_LIVE_COLUMNS numbers of objects. */
void lc_report_json_outlived(struct lc_json *j, const double *live);

/* The member "resident", if snapshots of resident memory were recorded. */
void lc_report_json_resident(struct lc_json *j, const struct lc_report *r);

/* The members "findings" and "no_finding". */
void lc_report_json_findings(struct lc_json *j, const struct lc_report *r);

#endif
