/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans.h - analyses executions of streams and tasks for a report: where the cycles went, how
 * large the pieces were, which threads ran them and when, and what to change.
 *
 * Times are ns since the start of the row's own process. Cycles are compensated unless a name says
 * measured; compensated cycles and their sums are signed. Rows of all threads are added up in an
 * order that does not depend on the order in which profiles were read.
 */
#ifndef LC_SPANS_SPANS_H
#define LC_SPANS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/model/load.h"
#include "analyzer/model/tree.h"
#include "analyzer/spans/span_rows.h"

/* Sums over some executions. */
struct lc_spans_sum {
	uint64_t executions;
	uint64_t folded;  /* further executions that ended inside another task and belong to it */
	uint64_t running; /* further executions that still ran; included in all sums */
	int64_t running_cycles; /* compensated */
	uint64_t measured;      /* cycles, without nested spans */
	int64_t cycles;         /* compensated */
	int64_t total;          /* with spans inside on the same thread, each once */
	bool total_unknown;     /* old profiles do not tell: `total` is too low */
	uint64_t negative;      /* executions whose compensated cycles are below 0 */
	uint64_t switches, gc_count, gc_ns, wait_ns, waits, wall_ns;
	uint64_t nested[LC_SPAN_NESTED];
	/* Time of the executions, or of running ones if none ended. first_ns > last_ns: unknown */
	uint64_t first_ns, last_ns;
	uint64_t histogram[LC_SPAN_BUCKETS];
};

/* One thread's part of a sum. */
struct lc_spans_worker {
	uint32_t thread; /* index in rows->threads */
	uint64_t executions, running;
	int64_t cycles;
	int64_t total; /* with spans inside; as in lc_spans_sum */
	uint64_t switches;
};

/* How evenly some threads share cycles, with those of spans inside. */
struct lc_spans_balance {
	struct lc_spans_worker *workers; /* largest total first */
	size_t workers_len;
	double mean;      /* total of a worker */
	double variation; /* standard deviation / mean; negative: fewer than two, or a mean of 0 */
};

/* Times in which something ran: earliest first, disjoint. Resolution: a block, some seconds. */
struct lc_spans_active {
	struct lc_span_interval *intervals;
	size_t len;
};

/* Samples in objects of one site, taken inside spans of one place. */
struct lc_spans_waited {
	uint32_t bucket, site, path; /* as in lc_span_access */
	uint64_t samples;
};

struct lc_spans_waits {
	uint64_t samples;             /* the engine's samples inside spans of this place */
	struct lc_spans_waited *rows; /* rows with an object or a class, most samples first */
	size_t rows_len;
};

/* Samples inside spans of a place or type that has only running spans. One of the two is set. */
struct lc_spans_unfinished {
	const struct lc_span_place *place; /* NULL for tasks */
	struct lc_text type;
	struct lc_spans_waits waits;
};

/* Executions of one call path, kind and level, if whole paths were recorded. */
struct lc_spans_path {
	uint32_t path; /* path in the tree: ends in the stream's place or the task's creation */
	uint32_t submit_path; /* for tasks */
	uint8_t kind, level;
	uint64_t executions, folded, running, measured;
	int64_t cycles;
	int64_t total; /* with spans inside; those at the same place inside each other count once */
	bool total_unknown;
};

/* The call paths of a row, most cycles first. Their sums add up to the row's. */
struct lc_spans_paths {
	struct lc_spans_path *rows; /* none if only lines were recorded */
	size_t len;
};

/* Streams of one place, kind and level. */
struct lc_spans_stream {
	const struct lc_span_place *place;
	uint8_t kind, level;
	struct lc_spans_sum sum;
};

/* All streams of one place. */
struct lc_spans_location {
	const struct lc_span_place *place;
	uint64_t streams;                /* executions of all kinds but support */
	uint64_t kinds[LC_SPAN_KINDS];   /* executions */
	unsigned levels;                 /* deepest level + 1 */
	struct lc_spans_sum sum;         /* all kinds */
	struct lc_spans_sum inner;       /* anonymous streams of level 1 and more */
	struct lc_spans_sum support;     /* tasks of parallel streams */
	struct lc_spans_balance shared;  /* workers of primordial and support spans */
	const struct lc_span_look *look; /* from all threads, even if --thread chose some */
	struct lc_spans_paths paths;
	struct lc_spans_active active;
	struct lc_spans_waits waits;
};

/* Tasks of one type, place of creation and place of submission. */
struct lc_spans_task {
	uint8_t kind; /* LC_SPAN_TASK or LC_SPAN_THREAD */
	uint8_t submit_kind;
	struct lc_text type;
	const struct lc_span_place *place, *submit_place; /* of the creation; of the submission */
	uint64_t submitted;                               /* executed or not */
	struct lc_spans_sum sum;
	struct lc_spans_paths paths;
};

/*
 * Tasks of one class. From JDK 21 on, all lambda expressions of a class have one name without a
 * number. Their types are told apart by where the objects were created.
 */
struct lc_spans_type {
	struct lc_text name;
	const struct lc_span_place *place; /* the creation, if it tells types apart */
	struct lc_text label;              /* the name, and the place if it tells types apart */
	uint64_t created, submitted;
	bool part;        /* `created` and what follows from it is of some of the objects only */
	uint64_t dropped; /* created and never executed; a lower bound if `first` is unknown; 0 if
	                     `part` */
	uint64_t first;   /* objects executed at least once; 0: not known */
	uint64_t unknown; /* executed, place of creation unknown */
	struct lc_spans_sum sum; /* tasks without threads */
	struct lc_spans_sum threads;
	struct lc_spans_paths paths;                       /* of tasks and threads */
	const struct lc_span_place *creation, *submission; /* the places with the most executions */
	uint8_t submit_kind;                               /* kind of that submission */
	struct lc_spans_balance shared;
	struct lc_spans_active active;
	struct lc_spans_waits waits;
};

/* Everything that one thread did. */
struct lc_spans_thread {
	uint32_t thread;
	struct lc_spans_worker streams, tasks, self; /* self: spans of kind thread */
	int64_t cycles;                              /* sum of the three workers */
	uint64_t cpu_ns, voluntary, involuntary;     /* timeline */
	const struct lc_spans_point *points;         /* in lc_spans.points */
	size_t points_len;
};

enum { LC_SPANS_COLUMNS = 65 }; /* columns of the heat map: below 1, then each power of two */

struct lc_spans_cell {
	uint64_t count;
	double cycles;
};

/* Executions by level (rows) and compensated cycles (columns). */
struct lc_spans_heat {
	struct lc_spans_cell *cells; /* [level * LC_SPANS_COLUMNS + column] */
	unsigned levels;
};

/* A point of the timeline: what a process or a thread did in LC_TIMELINE_NS from start_ns. */
struct lc_spans_point {
	uint32_t process;
	uint32_t thread;  /* LC_SPAN_NO_THREAD: the whole process */
	int64_t start_ns; /* the first point may begin before the program */
	uint64_t cpu_ns, voluntary, involuntary;
};

struct lc_spans_pause {
	uint32_t process;
	int64_t start_ns;
	uint64_t duration_ns;
};

/* Sums over single spans, if there are some, beside the agent's own counts (_online). */
struct lc_spans_trace {
	uint64_t rows, rows_online;     /* ended spans of all kinds */
	uint64_t tasks, tasks_online;   /* executions, folded or not */
	uint64_t folded, folded_online; /* folded ones by the rules of src/format/fold.h */
	uint64_t objects;               /* executed task objects, as far as numbered */
};

enum lc_spans_pattern {
	LC_SPANS_FINE = 0,
	LC_SPANS_COARSE,
	LC_SPANS_UNBALANCED,
	LC_SPANS_TINY,
	LC_SPANS_INVARIANT,
	LC_SPANS_PATTERNS
};

enum lc_spans_verdict {
	LC_SPANS_NO_VERDICT = 0, /* the pattern fits, but the evidence is thin: see `why` */
	LC_SPANS_SUSPICION,      /* the pattern fits, but the proof was not recorded */
	LC_SPANS_FINDING,
};

enum { LC_SPANS_EVIDENCE = 8 };

struct lc_spans_diagnosis {
	enum lc_spans_pattern pattern;
	enum lc_spans_verdict verdict;
	const struct lc_spans_type *type; /* one of these two is NULL */
	const struct lc_spans_location *location;
	/* Cycles of the executions that it is about; unbalanced, invariant: with spans inside. */
	int64_t cycles;
	char *summary, *advice;
	char *why; /* why there is no verdict; else NULL */
	char *evidence[LC_SPANS_EVIDENCE];
	size_t evidence_len;
};

enum lc_spans_sort { LC_SPANS_BY_CYCLES, LC_SPANS_BY_EXECUTIONS, LC_SPANS_BY_SWITCHES };

struct lc_spans {
	const struct lc_load *load;
	const struct lc_tree *tree;
	const struct lc_span_rows *rows;
	uint32_t engine; /* the samples' engine; UINT32_MAX: none */
	double hz;       /* of the clock; 0: unknown */
	unsigned cpus;   /* CPUs of the machine; 0: unknown */
	struct lc_spans_sum streams_sum, support_sum, tasks_sum, threads_sum;
	uint64_t kinds[LC_SPAN_KINDS]; /* executions */
	uint64_t created, submitted, dropped;
	size_t part;                     /* types that are recorded in part only */
	struct lc_spans_stream *streams; /* in the order that the user chose, as the next three */
	size_t streams_len;
	struct lc_spans_location *locations;
	size_t locations_len;
	struct lc_spans_task *tasks;
	size_t tasks_len;
	struct lc_spans_type *types;
	size_t types_len;
	struct lc_spans_thread *threads; /* most cycles first */
	size_t threads_len;
	struct lc_spans_balance balance;    /* of threads, by all their cycles */
	struct lc_spans_heat heat, support; /* streams; tasks of parallel streams */
	struct lc_spans_point *points;      /* by thread, then time */
	size_t points_len;
	struct lc_spans_point *timeline; /* of processes, by process, then time */
	size_t timeline_len;
	struct lc_spans_pause *pauses; /* by process, then time */
	size_t pauses_len;
	uint64_t span_samples;                  /* the engine's samples inside any span */
	struct lc_spans_unfinished *unfinished; /* by name */
	size_t unfinished_len;
	struct lc_spans_trace trace;
	struct lc_spans_diagnosis *diagnoses; /* findings first, then most cycles first */
	size_t diagnoses_len;
	struct lc_arena arena; /* holds all arrays; texts of diagnoses are apart */
};

/*
 * Analyse what was loaded. `engine`: UINT32_MAX for the engine with most samples inside spans. Free
 * with lc_spans_free(), while `load`, its tree and `rows` still exist.
 */
void lc_spans_build(struct lc_spans *s, const struct lc_load *load, const struct lc_span_rows *rows,
                    uint32_t engine, enum lc_spans_sort sort);
void lc_spans_free(struct lc_spans *s);

/* Write "12.3M", with `gap` behind the digits, to LC_SPANS_NUMBER_LEN bytes. Returns out. */
enum { LC_SPANS_NUMBER_LEN = 16 };
const char *lc_spans_number(char *out, double v, const char *gap);

/*
 * The cycles that a part `q` (0 to 1) of the executions does not exceed: the middle of the bucket,
 * which is within 12.5% of the true quantile (half a cycle below 8). -1: there are no executions.
 */
double lc_spans_quantile(const uint64_t *histogram, double q);

/* The middle of a bucket, and the first number above it. */
double lc_spans_middle(unsigned bucket);
uint64_t lc_spans_bucket_end(unsigned bucket);

uint64_t lc_spans_count(const uint64_t *histogram);

/* The column of the heat map that has a bucket, and a column's lowest cycles (0 for the first). */
unsigned lc_spans_column(unsigned bucket);
double lc_spans_column_low(unsigned column);

/* Sort workers and compute their mean and variation. */
void lc_spans_weigh(struct lc_spans_balance *b);

/* part / whole; 0 unless the whole is above 0. */
double lc_spans_share(double part, double whole);

/* Wilson's 95% interval of a share, from a sample of `n` observations with `part` hits. */
struct lc_spans_between {
	double low, high;
};
struct lc_spans_between lc_spans_between(uint64_t part, uint64_t n);

/* Length of a thread's name without the number at its end. Threads of a pool share that name. */
size_t lc_spans_pool(const char *name, size_t len);
bool lc_spans_same_pool(const struct lc_spans *s, uint32_t thread, uint32_t other);

/*
 * Mean of the process's timeline inside [from, to), or outside. A point counts if its middle lies
 * there and at least `cores` CPUs were in use.
 */
struct lc_spans_mean {
	size_t points;
	double cores;    /* CPU time / time */
	double switches; /* in LC_TIMELINE_NS */
};
struct lc_spans_mean lc_spans_mean(const struct lc_spans *s, uint64_t from_ns, uint64_t to_ns,
                                   bool outside, double cores);

const char *lc_spans_pattern_name(enum lc_spans_pattern p);
const char *lc_spans_verdict_name(enum lc_spans_verdict v);

/*
 * Join paths that differ in kind and level only. Executions are those of streams or tasks. free()
 * the rows.
 */
struct lc_spans_paths lc_spans_join_paths(const struct lc_spans *s, const struct lc_spans_paths *p);

/* CPU time of the processes in cycles of the clock; 0: unknown. */
double lc_spans_cpu_cycles(const struct lc_spans *s);

/* Parts of lc_spans_build(), each in a file of its own. */
void lc_spans_build_time(struct lc_spans *s);
void lc_spans_build_heat(struct lc_spans *s);
void lc_spans_build_trace(struct lc_spans *s);
void lc_spans_diagnose(struct lc_spans *s);

#endif
