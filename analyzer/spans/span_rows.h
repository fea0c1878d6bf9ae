/*
 * spans/span_rows.h - these plain arrays hold what profiles say of spans, with every name resolved;
 * they are the input of `locus spans`.
 *
 * Rows are of single threads; executions of one key in one thread are one row, whatever blocks they
 * came in. Texts are bytes as the JVM gave them (see lc_text) and live as long as the tree; an
 * empty one is unknown. Orders do not depend on the order of the inputs where the comment of an
 * array says by what.
 */
#ifndef LC_SPANS_SPAN_ROWS_H
#define LC_SPANS_SPAN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/load.h"
#include "analyzer/model/tree.h"

#define LC_SPAN_NO_THREAD UINT32_MAX

/* A location: the leaf frame of a path. Equal ones are one place, by address and by number. */
struct lc_span_place {
	uint32_t number; /* in lc_span_rows.places; 0 is the unknown place, all texts empty */
	uint32_t method; /* row of tree.methods */
	int32_t line;    /* -1: unknown */
	struct lc_text class_name, method_name, signature, file;
};

struct lc_span_thread_row {
	uint32_t process; /* row of load.processes */
	uint32_t index;   /* the profile's number of it */
	uint32_t tid;
	struct lc_text name;
	uint64_t begin_ns, end_ns; /* of its blocks, CLOCK_MONOTONIC; 0 where it has none */
};

/* A bucket of a histogram: lc_span_bucket_low(bucket) cycles and more. */
struct lc_span_bucket {
	uint32_t bucket; /* below LC_SPAN_BUCKETS */
	uint64_t count;
};

/* Time in which a row had executions, CLOCK_MONOTONIC: the resolution is that of blocks, some
 * seconds. */
struct lc_span_interval {
	uint64_t first_ns, last_ns;
};

/*
 * Executions of one kind, level and place in one thread; span/span.h says what the sums mean. A
 * span that had not ended when the recording did is a row of its own: `running` is 1, executions
 * and folded are 0, and the cycles and the time are what it has used so far.
 */
struct lc_span_row {
	uint32_t thread; /* in lc_span_rows.threads */
	uint8_t kind;    /* enum lc_span_kind */
	uint8_t level;   /* LC_SPAN_LEVEL_MAX: and deeper */
	uint8_t submit_kind;
	uint32_t site, path, submit_path;  /* of the tree, for whole paths; 0: none */
	uint32_t place_path;               /* the path that ends in `place`; 0: none */
	struct lc_text type;               /* class, of tasks; empty in streams */
	const struct lc_span_place *place; /* streams: of the terminal operation; tasks: created */
	const struct lc_span_place *submitted; /* tasks */
	uint64_t executions, folded, running;
	uint64_t cycles;
	int64_t compensated;
	uint64_t negative, switches, gc_count, gc_ns, wait_ns, waits, wall_ns;
	uint64_t nested[LC_SPAN_NESTED];
	const struct lc_span_bucket *histogram; /* without empty ones, lowest first */
	uint32_t histogram_len;
	uint32_t intervals_len;
	const struct lc_span_interval *intervals; /* earliest first, apart; none where unknown */
};

/* Tasks created (submit_kind LC_SUBMIT_NONE) or submitted by one thread, executed or not. */
struct lc_span_made {
	uint32_t thread;
	uint8_t submit_kind;
	uint32_t site, submit_path;
	struct lc_text type;
	const struct lc_span_place *place, *submitted; /* as in lc_span_row */
	uint64_t count;
};

/* Samples taken inside spans of a place, of all threads. */
struct lc_span_access {
	uint8_t kind; /* of the innermost span */
	uint32_t span_site, span_path;
	struct lc_text type; /* of the span, as in lc_span_row */
	const struct lc_span_place *place;
	uint32_t engine;       /* row of load.engines */
	uint32_t bucket;       /* enum lc_bucket */
	uint32_t site, path;   /* of the object and the access, in the tree; 0: none */
	struct lc_text object; /* class; empty where unknown */
	const struct lc_span_place *allocated; /* of the object */
	uint64_t samples;
};

/* Streams of a place whose source and result the agent looked at: a sample of the executions. */
struct lc_span_look {
	uint64_t looked;
	uint64_t comparable; /* of them: both can be told */
	uint64_t repeated;   /* of these: source and result are those of the one before */
	uint64_t changed;    /* of these: the source is, the result is not */
	uint64_t plain;      /* of these: a result of which there are few, such as a boolean */
};

/* LC_TIMELINE_NS of a thread, or the part of them that it lived. */
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

/* A span by itself. IDs are unique in the process. */
struct lc_span_trace {
	uint32_t thread;
	uint32_t creator;            /* in lc_span_rows.threads, or LC_SPAN_NO_THREAD */
	uint64_t id, outer, logical; /* lc_block_trace of src/format/rows.h; 0: none */
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
	double variation; /* coefficient of */
};

/*
 * What the manifest says of one process; the texts are UTF-8, NULL where there is nothing to say.
 */
struct lc_span_info {
	bool recorded; /* the manifest has a member `spans`; else the rest is 0 */
	bool streams, tasks;
	const char *streams_error, *tasks_error; /* why not, where they were asked for */
	const char *clock, *clock_reason;
	uint64_t clock_hz; /* 0: unknown */
	const char *calibration, *calibration_warning;
	struct lc_span_cost *costs;
	size_t costs_len;
};

struct lc_span_rows {
	const struct lc_load *load;
	const struct lc_tree *tree;
	bool whole_paths;           /* a row's path has a caller, of its place or of its submission:
	                               --span-paths */
	struct lc_span_info *infos; /* by process, load->processes_len of them */
	struct lc_span_thread_row *threads; /* by row of tree.threads; also those without spans */
	size_t threads_len;
	struct lc_span_row *rows;
	size_t rows_len;
	struct lc_span_made *made;
	size_t made_len;
	struct lc_span_access *accesses;
	size_t accesses_len;
	struct lc_span_look *looks;   /* by number of the place, places_len of them */
	struct lc_span_slice *slices; /* by process, thread index, time; no two of one */
	size_t slices_len;
	struct lc_span_pause *pauses; /* by process, time; no two of one start */
	size_t pauses_len;
	struct lc_span_trace *traces; /* by process, start, ID */
	size_t traces_len;
	struct lc_span_place **places; /* [0] is the unknown one */
	size_t places_len;
	size_t places_cap;
	/* What the arrays point to. */
	struct lc_span_bucket *buckets;
	struct lc_span_interval *intervals;
	struct lc_span_interval *running_intervals;
	struct lc_table by_code; /* method, line + 1 to places */
	/* Of a frame of the tree: number of its place, if a path ends in it. */
	uint32_t *frame_places;
};

/*
 * Make the arrays of what was loaded, which stays the caller's and must not grow meanwhile:
 *
 *	lc_tree_init(&tree); lc_load_init(&load); load.tree = &tree;
 *	lc_load_profile(&load, path) for each; lc_span_rows_build(&rows, &load);
 *
 * Stops the program without memory. Free with lc_span_rows_free() before tree and load.
 */
void lc_span_rows_build(struct lc_span_rows *r, const struct lc_load *load);
void lc_span_rows_free(struct lc_span_rows *r);

/* Is there any row, of any kind, or does a manifest say that spans were recorded? */
bool lc_span_rows_any(const struct lc_span_rows *r);

/*
 * The place of a path's leaf frame; the unknown one for path 0. The frames of a whole path are
 * those of path, lc_tree_parent(tree, path), and so on up to 0.
 */
const struct lc_span_place *lc_span_rows_place(const struct lc_span_rows *r, uint32_t path);

#endif
