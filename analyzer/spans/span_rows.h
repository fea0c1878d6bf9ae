/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/span_rows.h - builds plain arrays of what profiles hold about spans, with names resolved:
 * the input of `locus spans`.
 *
 * A row belongs to one thread and has all executions of one key, from all blocks. Texts are the
 * JVM's bytes (see lc_text) and live as long as the tree; an empty text is unknown. An array with a
 * stated order has that order whatever the order of the inputs.
 */
#ifndef LC_SPANS_SPAN_ROWS_H
#define LC_SPANS_SPAN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/load.h"
#include "analyzer/model/tree.h"

#define LC_SPAN_NO_THREAD UINT32_MAX

/* A location: the leaf frame of a path. Equal locations are one object with one number. */
struct lc_span_place {
	uint32_t number; /* in lc_span_rows.places; 0: unknown place, all texts empty */
	uint32_t method; /* row of tree.methods */
	int32_t line;    /* -1: unknown */
	struct lc_text class_name, method_name, signature, file;
};

struct lc_span_thread_row {
	uint32_t process; /* row of load.processes */
	uint32_t index;   /* number in the profile */
	uint32_t tid;
	struct lc_text name;
	uint64_t begin_ns, end_ns; /* time of its blocks, CLOCK_MONOTONIC; 0: no block */
};

/* A bucket of a histogram: spans of lc_span_bucket_low(bucket) cycles or more. */
struct lc_span_bucket {
	uint32_t bucket; /* below LC_SPAN_BUCKETS */
	uint64_t count;
};

/* A time with executions, CLOCK_MONOTONIC. The resolution is a block's: some seconds. */
struct lc_span_interval {
	uint64_t first_ns, last_ns;
};

/*
 * Executions of one kind, level and place in one thread; span/span.h explains the sums. A span that
 * runs when the recording ends has a row of its own: `running` is 1, executions and folded are 0,
 * cycles and time are those used so far.
 */
struct lc_span_row {
	uint32_t thread; /* in lc_span_rows.threads */
	uint8_t kind;    /* enum lc_span_kind */
	uint8_t level;   /* LC_SPAN_LEVEL_MAX: that level and deeper */
	uint8_t submit_kind;
	uint32_t site, path, submit_path;      /* in the tree, for whole paths; 0: none */
	uint32_t place_path;                   /* the path that ends in `place`; 0: none */
	struct lc_text type;                   /* class of tasks; empty for streams */
	const struct lc_span_place *place;     /* streams: terminal operation; tasks: creation */
	const struct lc_span_place *submitted; /* tasks: submission */
	uint64_t executions, folded, running;
	uint64_t cycles;
	int64_t compensated;
	int64_t total;      /* compensated, with spans inside; see NESTED in docs/FORMAT.md */
	bool total_unknown; /* an old profile does not tell: `total` is `compensated` */
	uint64_t negative, switches, gc_count, gc_ns, wait_ns, waits, wall_ns;
	uint64_t nested[LC_SPAN_NESTED];
	const struct lc_span_bucket *histogram; /* non-empty buckets, lowest first */
	uint32_t histogram_len;
	uint32_t intervals_len;
	const struct lc_span_interval *intervals; /* earliest first, disjoint; none if unknown */
};

/* Tasks that a thread created (submit_kind LC_SUBMIT_NONE) or submitted, executed or not. */
struct lc_span_made {
	uint32_t thread;
	uint8_t submit_kind;
	uint32_t site, submit_path;
	struct lc_text type;
	const struct lc_span_place *place, *submitted; /* as in lc_span_row */
	uint64_t count;
};

/* Samples inside the spans of a place, in all threads. */
struct lc_span_access {
	uint8_t kind; /* of the innermost span */
	uint32_t span_site, span_path;
	struct lc_text type; /* class of the task, as in lc_span_row */
	const struct lc_span_place *place;
	uint32_t engine;       /* row of load.engines */
	uint32_t bucket;       /* enum lc_bucket */
	uint32_t site, path;   /* of the object and the access, in the tree; 0: none */
	struct lc_text object; /* class; empty if unknown */
	const struct lc_span_place *allocated; /* where the object was allocated */
	uint64_t samples;
};

/* Streams of a place that the agent compared: a sample of the executions. */
struct lc_span_look {
	uint64_t looked;
	uint64_t comparable; /* looked at, with known source and result */
	uint64_t repeated;   /* comparable: same source and result as in the execution before */
	uint64_t changed;    /* comparable: same source, other result */
	uint64_t plain;      /* comparable: result of a type with few values, such as boolean */
};

/* A slot of LC_TIMELINE_NS of a thread, or the part of the slot in which the thread lived. */
struct lc_span_slice {
	uint32_t thread;
	uint64_t start_ns; /* a multiple of LC_TIMELINE_NS, CLOCK_MONOTONIC */
	uint64_t cpu_ns;
	uint64_t voluntary, involuntary;
};

struct lc_span_pause {
	uint32_t process;
	uint64_t start_ns, duration_ns;
};

/* A single span. IDs are unique in a process. */
struct lc_span_trace {
	uint32_t thread;
	uint32_t creator;            /* in lc_span_rows.threads, or LC_SPAN_NO_THREAD */
	uint64_t id, outer, logical; /* see lc_block_trace of src/format/rows.h; 0: none */
	uint8_t kind, level, submit_kind;
	uint16_t flags; /* LC_TRACE_* */
	uint32_t site, path, submit_path;
	struct lc_text type;
	const struct lc_span_place *place, *submitted;
	uint64_t start_ns, duration_ns;
	uint64_t cycles;
	int64_t compensated;
	uint64_t switches;
	uint64_t wait_ns; /* 0: unknown */
};

struct lc_span_cost {
	const char *name;
	double mean_cycles;
	double variation; /* coefficient of variation */
};

/* The manifest's statements about one process. Texts are UTF-8; NULL: nothing stated. */
struct lc_span_info {
	bool recorded; /* the manifest has `spans`; if not, the rest is 0 */
	bool streams, tasks;
	bool nested;                             /* the cycles inside spans are recorded */
	const char *streams_error, *tasks_error; /* why not, if they were asked for */
	const char *clock, *clock_reason;
	uint64_t clock_hz; /* 0: unknown */
	const char *calibration, *calibration_warning;
	struct lc_span_cost *costs;
	size_t costs_len;
};

struct lc_span_rows {
	const struct lc_load *load;
	const struct lc_tree *tree;
	bool whole_paths;                   /* a path of a row has a caller: --span-paths */
	struct lc_span_info *infos;         /* by process, load->processes_len elements */
	struct lc_span_thread_row *threads; /* by row of tree.threads, with and without spans */
	size_t threads_len;
	struct lc_span_row *rows;
	size_t rows_len;
	struct lc_span_made *made;
	size_t made_len;
	struct lc_span_access *accesses;
	size_t accesses_len;
	struct lc_span_look *looks;   /* by number of the place, places_len elements */
	struct lc_span_slice *slices; /* by process, thread index, time; one per slot */
	size_t slices_len;
	struct lc_span_pause *pauses; /* by process, time; one per start */
	size_t pauses_len;
	struct lc_span_trace *traces; /* by process, start, ID */
	size_t traces_len;
	struct lc_span_place **places; /* [0] is the unknown place */
	size_t places_len;
	size_t places_cap;
	/* Memory that the arrays above point to. */
	struct lc_span_bucket *buckets;
	struct lc_span_interval *intervals;
	struct lc_span_interval *running_intervals;
	struct lc_table by_code; /* key: method, line + 1; row: place - 1 */
	/* By frame of the tree: number of its place, if a path ends in the frame. */
	uint32_t *frame_places;
};

/*
 * Build the arrays. The caller keeps the load, which must not grow while the arrays exist:
 *
 *	lc_tree_init(&tree); lc_load_init(&load); load.tree = &tree;
 *	lc_load_profile(&load, path) for each; lc_span_rows_build(&rows, &load);
 *
 * Without memory the program ends. Free with lc_span_rows_free() before tree and load.
 */
void lc_span_rows_build(struct lc_span_rows *r, const struct lc_load *load);
void lc_span_rows_free(struct lc_span_rows *r);

/* Is there any row of any kind, or does a manifest say that spans were recorded? */
bool lc_span_rows_any(const struct lc_span_rows *r);

/*
 * The place of a path's leaf frame; the unknown place for path 0. The frames of a whole path are
 * those of path, lc_tree_parent(tree, path), and so on up to 0.
 */
const struct lc_span_place *lc_span_rows_place(const struct lc_span_rows *r, uint32_t path);

#endif
