/*
 * profile.h - writes the profile directory: one file of blocks per thread, and the manifest.
 *
 * One writer serves one directory. All calls come from one thread at a time: the attribution
 * thread, or the attaching one before that runs. docs/FORMAT.md says what is written.
 */
#ifndef LC_PROFILE_H
#define LC_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

struct lc_profile; /* opaque, see profile.c */

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
	uint8_t access;       /* LC_ACCESS_LOAD | LC_ACCESS_STORE of record.h */
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
	uint8_t access;   /* LC_ACCESS_LOAD | LC_ACCESS_STORE */
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
	const struct lc_manifest_numa *numa; /* NULL: nothing is known */
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
