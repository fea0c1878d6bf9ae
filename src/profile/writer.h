/*
 * profile/writer.h - writes the profile directory: one file of blocks per thread, and the manifest.
 *
 * One writer serves one directory. All calls come from one thread at a time: the attribution
 * thread, or the attaching one before that runs. docs/FORMAT.md says what is written.
 */
#ifndef LC_PROFILE_WRITER_H
#define LC_PROFILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/format/block.h"
#include "src/format/kinds.h"

struct lc_profile; /* opaque, see writer.c */

struct lc_block_alloc {
	uint32_t site;  /* for lc_site_get(), never 0 */
	uint64_t count; /* objects */
	uint64_t bytes;
};

/* Samples with one bucket, object site and access path. */
struct lc_block_access {
	uint16_t engine; /* row of the manifest's engines */
	uint8_t bucket;  /* enum lc_bucket */
	/*
	 * For lc_site_get(): the object's site; in LC_BUCKET_HEAP_CLASS the site that stands for the
	 * class, whose path is 0; 0 in the other buckets.
	 */
	uint32_t site;
	uint32_t path; /* for lc_path_get(); 0 where no path is known */
	uint64_t samples;
};

/* The part of an object that samples of one access fell in. */
struct lc_block_field {
	uint16_t engine;
	uint8_t bucket;
	uint32_t site; /* as in lc_block_access, with path and bucket */
	uint32_t path;
	/*
	 * A field's name; "(mark)", "(class)", "(length)", "(padding)" for what is none; "" for
	 * elements of an array. Static or interned: equal names have equal addresses.
	 */
	const char *name;
	uint64_t first, last; /* elements; 0 and 0 where there is a name */
	uint8_t access;       /* LC_TOUCH_LOAD | LC_TOUCH_STORE of core/record.h */
	uint64_t samples;
};

/* What a hardware engine measured of the samples of one access. */
struct lc_block_metric {
	uint16_t engine;
	uint8_t bucket;
	uint32_t site;
	uint32_t path;
	uint8_t source; /* enum lc_data_source */
	uint8_t flags;  /* LC_METRIC_* */
	uint64_t samples;
	uint64_t latency_sum; /* cycles */
	uint64_t latency_max;
};

/*
 * Samples of one thread in one cache line that other threads touched as well. Rows of all threads
 * with the same `line` are of one line, in one stretch of time in which it held the same object.
 */
struct lc_block_line {
	uint64_t line; /* a number, unique in the process; not an address */
	uint16_t engine;
	uint8_t bucket;
	uint32_t site;
	uint32_t path;
	uint8_t byte;     /* in the line, 0 to 63 */
	uint8_t bytes;    /* width of the access; 0 where unknown */
	uint8_t access;   /* LC_TOUCH_LOAD | LC_TOUCH_STORE */
	const char *name; /* as in lc_block_field */
	uint64_t first;   /* element, where the name is "" */
	uint64_t samples;
	uint64_t hitm; /* of these, that found the line modified in another core's cache */
};

/* What sampled allocations say of a site. Sums over independent samples: they add up. */
struct lc_block_estimate {
	uint32_t site;
	uint64_t sampled;       /* allocations sampled */
	uint64_t objects_milli; /* estimated objects, in thousandths */
	uint64_t
	    objects_variance_milli;  /* variance of that estimate (of objects), in thousandths */
	uint64_t bytes;              /* estimated */
	uint64_t bytes_variance_mib; /* variance of bytes, in units of 2^20 bytes squared */
	/* Of the estimated objects, those that outlived 1, 2, 4, 8, 16 collections; thousandths. */
	uint64_t live_milli[LC_LIVE_COLUMNS];
};

/* A class's samples in LC_BUCKET_HEAP_CLASS, as far as they are of objects of one site. */
struct lc_block_split {
	uint16_t engine;
	uint8_t method;      /* enum lc_split_method */
	uint32_t class_site; /* that of the accesses */
	uint32_t site;       /* with an allocation path */
	uint64_t samples_milli;
	uint64_t variance_milli; /* of the estimated samples */
};

/* Samples of one access, by the node that accessed and the node that held the page. */
struct lc_block_placement {
	uint16_t engine;
	uint8_t bucket;
	uint32_t site; /* as in lc_block_access, with path and bucket */
	uint32_t path;
	uint16_t accessing; /* node + 1 of the CPU; 0: unknown */
	uint16_t owning;    /* node + 1 of the page; 0: unknown, or the page was never touched */
	uint8_t source;     /* enum lc_data_source */
	uint64_t samples;
};

/* Samples that the thread took on a node. */
struct lc_block_node {
	uint16_t engine;
	uint16_t node; /* + 1; 0: unknown */
	uint64_t samples;
	uint64_t
	    migrations; /* of these, whose predecessor of the same engine was on another node: a lower bound */
};

/* What the thread allocated at a site, by the node that it ran on meanwhile. */
struct lc_block_home {
	uint32_t site;
	uint16_t node; /* + 1; 0: unknown, it was seen on several nodes or not at all */
	uint64_t objects;
	uint64_t bytes;
};

/* All samples of a bucket, those that have an lc_block_access included. */
struct lc_block_bucket {
	uint16_t engine;
	uint8_t bucket;
	uint64_t samples;
};

struct lc_block_detail {
	uint16_t engine;
	uint8_t where; /* enum lc_where */
	uint8_t how;   /* enum lc_how */
	uint64_t samples;
};

/*
 * Executions of streams or tasks in one place: the leaf frame of a path is the location. span/span.h
 * says what the columns mean. They are read one after the other while the thread runs, so one may count a
 * span that another does not yet; over all blocks they agree.
 */
struct lc_block_span {
	uint8_t kind; /* enum lc_span_kind */
	uint8_t level;
	uint8_t submit_kind;  /* enum lc_submit_kind; 0 in streams */
	uint32_t site;        /* for lc_site_get(): class and creation path; 0 in streams */
	uint32_t submit_path; /* for lc_path_get(); 0 unknown, or a stream */
	uint32_t path;        /* for lc_path_get(): streams; 0 in tasks */
	uint64_t executions, folded;
	uint64_t cycles;
	int64_t compensated;
	uint64_t negative, switches, gc_count, gc_ns, wait_ns, waits, wall_ns;
	uint64_t nested[LC_SPAN_NESTED];
	/*
	 * First begin and last end of the executions of this block alone, as well as that is known:
	 * CLOCK_MONOTONIC, both 0 where it is not. Readers make active intervals of them.
	 */
	uint64_t first_ns, last_ns;
	uint32_t histogram[LC_SPAN_BUCKETS];
};

/* Created and submitted tasks, by the thread that did it; executed or not. Section TASKS. */
struct lc_block_task_made {
	uint32_t site;       /* class and creation path */
	uint8_t submit_kind; /* 0: the row counts creations */
	uint32_t submit_path;
	uint64_t count;
};

/* Samples that were taken inside a span: those of an access, by the innermost span's place. */
struct lc_block_span_access {
	uint8_t kind;                  /* of the span */
	uint32_t span_site, span_path; /* as site and path in lc_block_span: one of them is 0 */
	uint16_t engine;
	uint8_t bucket;
	uint32_t site, path; /* as in lc_block_access */
	uint64_t samples;
};

/* A stretch of time of a thread, LC_TIMELINE_NS or less. */
struct lc_block_timeline {
	uint64_t start_ns; /* CLOCK_MONOTONIC, a multiple of LC_TIMELINE_NS */
	uint64_t cpu_ns;
	uint64_t voluntary, involuntary; /* context switches */
};

/* A stop-the-world pause, of the process; in the blocks of any thread. */
struct lc_block_pause {
	uint64_t start_ns, duration_ns;
};

/* One span by itself, with --trace. IDs are unique in the process, and 0 is none. */
struct lc_block_trace {
	uint64_t id;
	uint64_t outer; /* the span inside which it ran, on its thread */
	uint64_t
	    logical; /* streams: the outer stream; tasks: the task object's number, the same for each of its executions */
	uint8_t kind, level, submit_kind;
	uint8_t flags;                    /* LC_TRACE_ of format/kinds.h */
	uint32_t site, submit_path, path; /* as in lc_block_span */
	uint32_t creator; /* tasks: lc_thread.index of the creating thread + 1; 0 unknown */
	uint64_t start_ns, duration_ns;
	uint64_t cycles; /* measured, without nested spans */
	int64_t compensated;
	uint64_t switches;
	uint64_t wait_ns; /* tasks: from submission to start; 0 unknown */
};

/* What one thread did since its last block: counts are differences, not totals. */
struct lc_block_input {
	uint32_t tid;
	uint32_t index;      /* lc_thread.index, not LC_THREAD_ALL */
	const char *name;    /* UTF-8 */
	uint64_t t_begin_ns; /* CLOCK_MONOTONIC */
	uint64_t t_end_ns;
	const struct lc_block_alloc *allocs;
	size_t allocs_len;
	const struct lc_block_access *accesses;
	size_t accesses_len;
	const struct lc_block_bucket *buckets;
	size_t buckets_len;
	const struct lc_block_detail *details;
	size_t details_len;
	const struct lc_block_field *fields;
	size_t fields_len;
	const struct lc_block_metric *metrics;
	size_t metrics_len;
	const struct lc_block_line *lines;
	size_t lines_len;
	const struct lc_block_estimate *estimates;
	size_t estimates_len;
	const struct lc_block_split *splits;
	size_t splits_len;
	const struct lc_block_placement *placements;
	size_t placements_len;
	const struct lc_block_node *nodes;
	size_t nodes_len;
	const struct lc_block_home *homes;
	size_t homes_len;
	const struct lc_block_span *spans;
	size_t spans_len;
	const struct lc_block_task_made *tasks_made;
	size_t tasks_made_len;
	const struct lc_block_span_access *span_accesses;
	size_t span_accesses_len;
	const struct lc_block_timeline *timeline;
	size_t timeline_len;
	const struct lc_block_pause *pauses;
	size_t pauses_len;
	const struct lc_block_trace *trace;
	size_t trace_len;
};

/*
 * Make directory `dir` with its parents and an empty manifest in it. Returns 0 and sets *out; or
 * -errno, leaves *out alone and writes one line without a newline to `error`: -EEXIST when a
 * profile is there already (two processes never share one).
 * Context: [attach].
 */
int lc_profile_create(const char *dir, struct lc_profile **out, char *error, size_t error_len);

/*
 * Append what *in says to the file of its thread. All or nothing: on failure nothing of it is in
 * the file, and the caller may add its counts to the next block of that thread. Returns 0;
 * -EINVAL when an engine or bucket is out of range; -ENOMEM; -errno of the file system, once
 * (-ENOSPC when the disk is full), and then -EAGAIN, without trying, for a second after each
 * attempt that failed. Samples of accesses[] that buckets[] does not cover are added to it.
 * Context: [writer]. Opens and closes the file; allocates only when a block is larger than all
 * before it.
 */
int lc_profile_append(struct lc_profile *p, const struct lc_block_input *in);

struct lc_manifest_engine {
	const char *name;
	const char *event;
	uint64_t interval_ns; /* in the unit: CPU time, or events, between two samples */
	const char *unit;
	const char *reason; /* why this engine; NULL where it was asked for by name */
};

struct lc_manifest_option {
	const char *name;
	const char *text;
};

struct lc_manifest_counter {
	const char *name;
	uint64_t value;
};

/* A NUMA node of the machine, as the manifest tells of it. */
struct lc_manifest_node {
	uint32_t number;
	uint64_t memory_bytes;     /* 0: none */
	const char *cpus;          /* "0-3,8"; "" without CPUs */
	bool memory_allowed;       /* the process may allocate there */
	const uint16_t *distances; /* to each node of the array, in its order; 0: unknown */
};

struct lc_manifest_numa {
	const struct lc_manifest_node *nodes;
	size_t nodes_len;
	bool active;             /* placements are recorded */
	const char *error;       /* why they are not, or not all; NULL: nothing to say */
	int balancing;           /* the kernel moves pages by itself: 1, 0, or -1 for unknown */
	uint64_t pages_migrated; /* by the kernel on the whole machine, during the run */
	uint64_t pages_asked;    /* page owners asked for */
	uint64_t pages_unknown;  /* of these, without an owner: untouched, or gone */
	uint64_t owner_changes;  /* pages that were seen on another node than before */
	uint64_t dropped;        /* samples without room to look up their page */
};

/* What was calibrated, and how well: cycles, and coefficients of variation. */
struct lc_manifest_cost {
	const char *name; /* inner, anonymous, primordial, support, task, task_inner */
	double mean_cycles;
	double variation;
};

struct lc_manifest_spans {
	bool streams, tasks;       /* recorded */
	const char *streams_error; /* why not, where they were asked for; NULL: nothing to say */
	const char *tasks_error;
	const char *clock;        /* lc_clock_name() */
	const char *clock_reason; /* why not a better one; NULL */
	uint64_t clock_hz;
	const char *calibration;         /* "cached", "measured", or why there is none */
	const char *calibration_warning; /* NULL: none */
	const struct lc_manifest_cost *costs;
	size_t costs_len;
};

struct lc_manifest {
	const char *command; /* any of the strings may be NULL: unknown */
	const char *jdk;
	const char *gc;
	int32_t pid;
	bool complete; /* the program ended and all was written */
	uint64_t start_wall_ns;
	uint64_t start_monotonic_ns;
	uint64_t end_wall_ns; /* now */
	uint64_t end_monotonic_ns;
	const struct lc_manifest_engine *engines;
	size_t engines_len;
	const struct lc_manifest_option *options;
	size_t options_len;
	const struct lc_manifest_counter *counters; /* names are unique */
	size_t counters_len;
	const struct lc_manifest_numa *numa;   /* NULL: nothing is known */
	const struct lc_manifest_spans *spans; /* NULL: none were asked for */
};

/*
 * Replace the manifest, atomically. Returns 0, -ENOMEM or -errno; on failure the old one stays.
 * Context: [attach] [writer].
 */
int lc_profile_manifest(struct lc_profile *p, const struct lc_manifest *m);

struct lc_profile_stats {
	uint64_t blocks;       /* in the files */
	uint64_t bytes;        /* in the files */
	uint64_t append_fails; /* calls of lc_profile_append() that did not return 0 */
};

/* Context: [writer]. */
void lc_profile_stats(const struct lc_profile *p, struct lc_profile_stats *out);

/* Free the writer; NULL is fine. Writes nothing. Context: [attach] [writer]. */
void lc_profile_close(struct lc_profile *p);

#endif
