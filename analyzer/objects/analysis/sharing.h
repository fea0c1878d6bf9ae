/*
 * objects/analysis/sharing.h - this module finds false sharing: threads that keep taking one cache
 * line from each other although they use different bytes of it.
 *
 * Two uses of a line by two threads are falsely shared when their bytes do not overlap, at least
 * one of them stores, each has LC_SHARING_SAMPLES observations or more (base/wilson.h) in that
 * line, and neither thread touches what the other stores. Uses of the same bytes (true sharing,
 * which no padding mends) and lines that are only read are not found.
 *
 * A process that may run on one CPU only shares nothing: its lines never leave the core's cache. An
 * older profile does not tell on how many.
 *
 * A thread that is seen at the other's bytes in less than a tenth of its own samples (a sum taken
 * now and then over counters) does not make the sharing a true one.
 */
#ifndef LC_OBJECTS_ANALYSIS_SHARING_H
#define LC_OBJECTS_ANALYSIS_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/objects/analysis/view.h"

enum { LC_SHARING_SAMPLES = 5, LC_SHARING_LINE_BYTES = 64 };

/* One of the two: of its samples over all lines of the finding, what most of them are. */
struct lc_sharing_side {
	uint32_t bucket, site; /* the object */
	uint32_t name;         /* string: the field; the empty one: elements */
	uint64_t first;        /* the element with the most samples, where there are elements */
	uint32_t byte;         /* its offset in the line */
	uint32_t width;        /* bytes; 0: unknown */
	uint32_t touch;        /* LC_TOUCH_* of all its samples */
	uint32_t thread;       /* row of tree.threads, the one with the most samples */
	uint32_t threads;      /* how many there are */
	uint32_t path;         /* the one with the most samples */
	uint32_t paths;        /* how many there are */
	uint64_t samples;
	uint64_t pairs; /* of these, as in struct lc_weighted */
	uint64_t hitm;  /* samples that found the line modified in another core's cache */
};

/* Lines that hold the same parts of objects of the same one or two sites. */
struct lc_sharing_finding {
	bool certain; /* the hardware saw the line go from core to core */
	uint64_t lines;
	uint64_t samples; /* of both sides */
	uint64_t pairs;   /* of these */
	uint64_t hitm;
	struct lc_sharing_side sides[2]; /* the one with more samples first */
};

struct lc_sharing {
	struct lc_sharing_finding *findings; /* certain ones first, then most samples first */
	size_t findings_len;
	uint64_t lines;       /* that more than one thread touched */
	uint64_t lines_false; /* lines that are in findings */
	bool one_cpu;         /* lines of processes that may run on one CPU only are left out */
};

/* Is the row of tree.lines of a process that may run on one CPU only? */
bool lc_sharing_one_cpu(const struct lc_view *v, uint32_t row);

/* Free with lc_sharing_free(). */
void lc_sharing_find(struct lc_sharing *s, const struct lc_view *v);
void lc_sharing_free(struct lc_sharing *s);

#endif
