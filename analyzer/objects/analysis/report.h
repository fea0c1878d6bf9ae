/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/report.h - declares what the formats of `locus report` share. */
#ifndef LC_OBJECTS_ANALYSIS_REPORT_H
#define LC_OBJECTS_ANALYSIS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyzer/objects/analysis/stacks.h"
#include "analyzer/objects/analysis/view.h"

struct lc_analysis;
struct lc_findings;
struct lc_json;
struct lc_numa;
struct lc_ranking;
struct lc_sharing;
struct lc_sharing_finding;
struct lc_source;
struct lc_spans;

/* In the order of --view. */
enum lc_report_view {
	LC_VIEW_BRIEF, /* what fits on a screen */
	LC_VIEW_OBJECTS,
	LC_VIEW_CODE,
	LC_VIEW_ALLOC,
	LC_VIEW_LIVE,
	LC_VIEW_FOOTPRINT,
	LC_VIEW_OFFHEAP,
	LC_VIEW_SHARING,
	LC_VIEW_NUMA,
	LC_VIEW_SPANS,
	LC_VIEW_THREADS,
	LC_VIEW_RECORDING,
	LC_VIEW_FULL, /* all of these */
};

struct lc_report {
	const struct lc_view *view;
	const struct lc_load_engine *engine;
	const struct lc_sharing *sharing;
	const struct lc_ranking *ranking;
	const struct lc_findings *findings;
	const struct lc_numa *numa;         /* of its own engine, as `locus numa` chooses it */
	const struct lc_spans *spans;       /* NULL: none were recorded */
	const struct lc_analysis *analysis; /* that all of these are parts of */
	struct lc_source *source;           /* NULL without --source-path */
	/* Its path, if the rows are those that --track-from finds there; else NULL. */
	const char *profile;
	size_t top; /* sites to show; SIZE_MAX: all */
	/* For the page: writes one more member, with `more_of`; NULL: none. */
	void (*more)(struct lc_json *j, const void *of);
	const void *more_of;
	bool filtered;              /* --thread was given */
	bool verbose;               /* of the text: how it was recorded, too */
	bool live;                  /* the recording goes on, and no note has to say so */
	enum lc_report_view show;   /* of the text */
	enum lc_stacks_kind stacks; /* of the collapsed format */
	size_t budget;              /* characters of the markdown */
};

/* Each writes a whole report; the caller checks `out` for errors. */
void lc_report_text(FILE *out, const struct lc_report *r);
void lc_report_json(FILE *out, const struct lc_report *r);
void lc_report_collapsed(FILE *out, const struct lc_report *r);
void lc_report_html(FILE *out, const struct lc_report *r);
void lc_report_svg(FILE *out, const struct lc_report *r);
void lc_report_pprof(FILE *out, const struct lc_report *r);
void lc_report_jfr(FILE *out, const struct lc_report *r); /* needs slices in the tree */
void lc_report_csv(FILE *out, const struct lc_report *r);
void lc_report_markdown(FILE *out, const struct lc_report *r);
void lc_report_speedscope(FILE *out, const struct lc_report *r);
void lc_report_sqlite(FILE *out, const struct lc_report *r);

/* All samples of an engine. */
uint64_t lc_report_engine_samples(const struct lc_tree *t, uint32_t engine);

/* The engine that took most samples; of equal ones the first. */
uint32_t lc_report_busiest_engine(const struct lc_load *l);

/* Accesses to what an engine of name "watch" follows, counted without sampling; else 0. */
uint64_t lc_report_counted(const struct lc_load *l, const struct lc_load_engine *e);

/* Accesses that are in nobody's lc_report_counted(): the CPU did not tell what was accessed. */
uint64_t lc_report_causeless(const struct lc_load *l);

/*
 * After a number of samples: " by 240 interrupts, weights 1 to 16", where one stands for more than
 * a sample; " (as good as 131 independent ones)" where only that is known; else nothing.
 */
void lc_report_weights(FILE *out, const struct lc_view *v);

/* Does the kernel's tick come less often than the engine's samples should? */
bool lc_report_tick_limits(const struct lc_load_engine *e);

/* CPU time in ns that threads used while the timer sampled them; 0 where it is not known of all. */
uint64_t lc_report_cpu_ns(const struct lc_load *l, const struct lc_load_engine *e);

/* Executions of streams and of tasks, which `locus spans` shows. */
void lc_report_spans(const struct lc_tree *t, uint64_t *streams, uint64_t *tasks);

/* The advice against false sharing. */
const char *lc_report_advice(const struct lc_view *v, const struct lc_sharing_finding *f);

/* The assumption behind a split by that method. */
const char *lc_report_assumption(enum lc_split_method method);

/* The members that the JSON and the HTML report have in common: "format" to "metrics" of all. */
void lc_report_json_head(struct lc_json *j, const struct lc_report *r);

/*
 * Members of "metrics" and of "estimates", which the JSON and the HTML report have in common too.
 */
void lc_report_json_metric(struct lc_json *j, const struct lc_view_metric *m);
void lc_report_json_estimate(struct lc_json *j, const struct lc_view_estimate *e);

#endif
