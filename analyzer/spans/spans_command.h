/* SPDX-License-Identifier: Apache-2.0 */
/* spans/spans_command.h - declares what the output formats of `locus spans` share. */
#ifndef LC_SPANS_SPANS_COMMAND_H
#define LC_SPANS_SPANS_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/spans/spans.h"

struct lc_json;

struct lc_spans_report {
	const struct lc_spans *spans;
	size_t top;        /* rows of each table; SIZE_MAX: all */
	const char *table; /* of CSV; NULL: all */
	char **warnings;   /* one line each, UTF-8 */
	size_t warnings_len;
};

void lc_spans_text(FILE *out, const struct lc_spans_report *r);
void lc_spans_json(FILE *out, const struct lc_spans_report *r); /* docs/JSON.md */
/* Write the same object as a member of the open object. */
void lc_spans_json_member(struct lc_json *j, const char *name, const struct lc_spans_report *r);
void lc_spans_html(FILE *out, const struct lc_spans_report *r); /* the HTML page */
void lc_spans_csv(FILE *out, const struct lc_spans_report *r);
void lc_spans_collapsed(FILE *out, const struct lc_spans_report *r);
/* Trace events for Perfetto and Chrome. */
void lc_spans_trace_events(FILE *out, const struct lc_spans_report *r);

/* For spans_json.c: the members "heat_map", "timeline" and "gc_pauses". */
void lc_spans_json_time(struct lc_json *j, const struct lc_spans *s);
/* Write "thread", "tid" and "process" of a row of s->rows->threads into the open object. */
void lc_spans_json_thread(struct lc_json *j, const struct lc_spans *s, uint32_t thread);

/* Does a table have this name? If not, `names` gets a list of all tables, on one line. */
bool lc_spans_csv_table(const char *name, char *names, size_t names_len);

/* The first process with recorded spans; NULL: none. */
const struct lc_span_info *lc_spans_info(const struct lc_spans *s);

/* Warnings to read before any figure; free each and the array. */
char **lc_spans_warnings(const struct lc_spans *s, size_t *len);

/* "com.acme.Foo.bar(Foo.java:12)", or "(unknown)". */
void lc_spans_emit_place(FILE *out, const struct lc_span_place *p);
char *lc_spans_place_text(const struct lc_span_place *p); /* free() it */

/* Cycles of streams with tasks of parallel ones; of tasks with threads. */
double lc_spans_stream_cycles(const struct lc_spans *s);
double lc_spans_task_cycles(const struct lc_spans *s);

/* Executions of tasks and threads, with those that belong to another task. */
uint64_t lc_spans_executed(const struct lc_spans_sum *tasks, const struct lc_spans_sum *threads);

/* Executions of streams: all kinds but support. */
uint64_t lc_spans_stream_count(const struct lc_spans *s);

/* Time from the program's start to its last block, for the process that ran longest. */
uint64_t lc_spans_duration(const struct lc_spans *s);

#endif
