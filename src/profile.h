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
	uint32_t site;   /* for lc_site_get(); 0 outside LC_BUCKET_OBJECT */
	uint32_t path;   /* for lc_path_get(); 0 where no path is known */
	uint64_t samples;
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
	uint64_t interval_ns;
	const char *unit;
};

struct lc_manifest_option {
	const char *name;
	const char *text;
};

struct lc_manifest_counter {
	const char *name;
	uint64_t value;
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
