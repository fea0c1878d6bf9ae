/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/profile_writer.h - writes the profile directory: files of blocks, each for the threads of
 * certain indices, and the manifest.
 *
 * One writer serves one directory. All calls come from one thread at a time: the attribution
 * thread, or the attaching one before that runs. docs/FORMAT.md says what is written.
 */
#ifndef LC_PROFILE_PROFILE_WRITER_H
#define LC_PROFILE_PROFILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/format/rows.h"

struct lc_limit;
struct lc_profile; /* opaque, see profile_writer.c */

/*
 * Make directory `dir`, for its owner alone, with its parents, and an empty manifest in it. Returns
 * 0 and sets *out; or -errno, leaves *out alone and writes one line without a newline to `error`:
 * -EEXIST when a profile is there already (two processes never share one), -ELOOP when it is a
 * link, -EPERM when it is another user's.
 * Context: [attach].
 */
int lc_profile_create(const char *dir, struct lc_profile **out, char *error, size_t error_len);

/*
 * The same in the open directory `fd`, which is the profile's from now on, also where this fails.
 * Returns 0, or -errno. Context: [attach] [writer].
 */
int lc_profile_create_in(int fd, struct lc_profile **out);

/*
 * Append what *in says to the file of its thread. All or nothing: on failure nothing of it is in
 * the file, and the caller may add its counts to the next block of that thread. Returns 0;
 * -EINVAL when an engine or bucket is out of range; -ENOMEM; -errno of the file system, once
 * (-ENOSPC when the disk is full), and then -EAGAIN, without trying, for a second after each
 * attempt that failed. Samples of accesses[] that buckets[] does not cover are added to it.
 * Context: [writer]. Keeps the file open; allocates only when a block is larger than all
 * before it.
 */
int lc_profile_append(struct lc_profile *p, const struct lc_block_input *in);

/* The next block is tried at once, however recently one failed. Context: [writer]. */
void lc_profile_try_now(struct lc_profile *p);

struct lc_manifest_engine {
	const char *name;
	const char *event;
	uint64_t interval_ns; /* in the unit: CPU time, or events, between two samples */
	const char *unit;
	const char *reason; /* why this engine; NULL where it was asked for by name */
	uint64_t tick_ns;   /* the kernel's, for an engine that it limits; else 0 */
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
	uint64_t pages_unknown;  /* pages without an owner: untouched, or gone */
	uint64_t owner_changes;  /* pages that were seen on another node than before */
	uint64_t dropped;        /* samples without room to look up their page */
};

/* A calibrated cost and its accuracy: cycles, and coefficient of variation. */
struct lc_manifest_cost {
	const char *name; /* inner, anonymous, primordial, support, task, task_inner */
	double mean_cycles;
	double variation;
};

struct lc_manifest_spans {
	bool streams, tasks;       /* recorded */
	const char *streams_error; /* why not, where they were asked for; NULL: nothing to say */
	const char *tasks_error;
	const char *clock;        /* lc_cycles_name() */
	const char *clock_reason; /* why not a better one; NULL */
	uint64_t clock_hz;
	const char *calibration;         /* "cached", "measured", or why there is none */
	const char *calibration_warning; /* NULL: none */
	const struct lc_manifest_cost *costs;
	size_t costs_len;
};

/* From then on each interval was `stretch` times what the options say. */
struct lc_manifest_interval {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t stretch;
};

/* A point in time that the program has marked. */
struct lc_manifest_mark {
	const char *name;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
};

struct lc_manifest {
	const char *command; /* any of the strings may be NULL: unknown */
	const char *words;   /* the same, each word ended by a NUL; NULL: not known, or not all */
	size_t words_len;    /* bytes */
	const char *directory;
	const char *host;
	unsigned cpus;      /* that the process may run on; 0: unknown */
	const char *labels; /* "key=value;key=value", see base/label.h; "" without any */
	const char *jdk;
	const char *gc;
	int32_t pid;
	bool complete; /* the recording ended and all was written */
	bool limited;  /* the recording ended before the program */
	bool attached; /* it began in a program that ran */
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
	const struct lc_manifest_interval *intervals; /* in the order of time */
	size_t intervals_len;
	const struct lc_limit *limits; /* that were reached */
	size_t limits_len;
	const struct lc_manifest_mark *tracked_hot; /* classes; when they began to be tracked */
	size_t tracked_hot_len;
	const struct lc_manifest_mark *marks; /* in the order of time */
	size_t marks_len;
	const struct lc_manifest_numa *numa;   /* NULL: nothing is known */
	const struct lc_manifest_spans *spans; /* NULL: none were asked for */
};

/*
 * Replace the manifest, atomically. Returns 0, -ENOMEM or -errno; on failure the old one stays.
 * Context: [attach] [writer].
 */
int lc_profile_manifest(struct lc_profile *p, const struct lc_manifest *m);

/*
 * Leave a mark that the disk was too full for the last manifest: else the program would seem to
 * have been killed. Context: as above.
 */
void lc_profile_disk_full(struct lc_profile *p);

struct lc_profile_stats {
	uint64_t blocks; /* in the files */
	uint64_t bytes;  /* in the files */
	uint64_t manifest_bytes;
	uint64_t append_fails; /* calls of lc_profile_append() that did not return 0 */
};

/* Context: [writer]. */
void lc_profile_stats(const struct lc_profile *p, struct lc_profile_stats *out);

/*
 * How many bytes the file system has left for this user; UINT64_MAX where it does not tell.
 * Context: [attach] [writer].
 */
uint64_t lc_profile_room(const struct lc_profile *p);

/* Free the writer; NULL is fine. Writes nothing. Context: [attach] [writer]. */
void lc_profile_close(struct lc_profile *p);

#endif
