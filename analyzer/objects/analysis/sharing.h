/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/sharing.h - finds false sharing: threads that keep taking a cache line from each
 * other although they use different bytes of the line.
 *
 * Two uses of a line by two threads are falsely shared if all of this holds: their bytes do not
 * overlap; at least one use stores; each use has LC_SHARING_SAMPLES observations or more
 * (base/wilson.h) in the line; neither thread touches what the other one stores. Uses of the same
 * bytes (true sharing, which padding cannot mend) and lines that are only read are not found.
 *
 * A thread may touch the other thread's bytes in less than a tenth of its own samples, for example
 * when it sums up counters now and then. The sharing still counts as false.
 *
 * A process that may run on one CPU only shares nothing: its lines never leave the core's cache.
 * Old profiles do not say on how many CPUs a process may run.
 */
#ifndef LC_OBJECTS_ANALYSIS_SHARING_H
#define LC_OBJECTS_ANALYSIS_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/table.h"
#include "analyzer/objects/analysis/view.h"

enum { LC_SHARING_SAMPLES = 5, LC_SHARING_LINE_BYTES = 64 };

/* One of the two sides. Single values are those of most of its samples, over all lines. */
struct lc_sharing_side {
	uint32_t bucket, site; /* the object */
	uint32_t name;         /* string: the field's name; empty for elements */
	uint64_t first;        /* the element with the most samples, if there are elements */
	uint32_t byte;         /* its offset in the line */
	uint32_t width;        /* bytes; 0: unknown */
	uint32_t touch;        /* LC_TOUCH_* of all its samples */
	uint32_t thread;       /* row of tree.threads, the one with the most samples */
	uint32_t threads;      /* number of threads */
	uint32_t path;         /* the one with the most samples */
	uint32_t paths;        /* number of paths */
	uint64_t samples;
	uint64_t pairs; /* of the samples, as in struct lc_weighted */
	uint64_t hitm;  /* samples that found the line modified in another core's cache */
};

/* Lines that hold objects of one or two sites. Each sample counts once. */
struct lc_sharing_objects {
	uint64_t samples, pairs, lines;
};

/* Lines that hold the same parts of objects of one or two sites. */
struct lc_sharing_finding {
	bool certain; /* the hardware saw the line move between cores */
	uint64_t lines;
	uint64_t samples; /* of both sides */
	uint64_t pairs;   /* of the samples */
	uint64_t hitm;
	struct lc_sharing_side sides[2]; /* the one with more samples first */
	/* Sums over all findings on objects of these two sites: one change helps them all. */
	struct lc_sharing_objects objects;
	bool repeats; /* an earlier finding is of the same two sites */
};

struct lc_sharing {
	struct lc_sharing_finding *findings; /* certain ones first, then most samples first */
	size_t findings_len;
	uint64_t lines;         /* lines that more than one thread touched */
	uint64_t lines_false;   /* lines in findings */
	struct lc_table places; /* by site and path: samples in lines of findings, of any bytes */
	bool one_cpu;           /* left out: lines of processes that may run on one CPU only */
};

/* Does the row of tree.lines belong to a process that may run on one CPU only? */
bool lc_sharing_one_cpu(const struct lc_view *v, uint32_t row);

/* Free with lc_sharing_free(). */
void lc_sharing_find(struct lc_sharing *s, const struct lc_view *v);
void lc_sharing_free(struct lc_sharing *s);

#endif
