/*
 * objects/analysis/findings.h - the findings of a report: what most likely costs the program time,
 * the numbers that say so, and a change to try. Each is a few sentences that can be read alone.
 */
#ifndef LC_OBJECTS_ANALYSIS_FINDINGS_H
#define LC_OBJECTS_ANALYSIS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/objects/analysis/ranking.h"

struct lc_numa;
struct lc_sharing;
struct lc_spans;
struct lc_spans_diagnosis;

enum lc_finding_kind {
	LC_FINDING_HOT,         /* a row takes much of the samples */
	LC_FINDING_HEADER,      /* ... and nearly all of them touch the header alone */
	LC_FINDING_HEADERS,     /* ... or those of objects of many classes do */
	LC_FINDING_ONE_PART,    /* ... or one end of an array */
	LC_FINDING_STRIDE,      /* ... or a loop goes through it in steps of a cache line or more */
	LC_FINDING_NEVER_READ,  /* written, and no load seen */
	LC_FINDING_SHORT_LIVED, /* large arrays of one line that the first collection finds dead */
	LC_FINDING_FALSE_SHARING, /* threads take cache lines from each other */
	LC_FINDING_REMOTE,        /* memory of another NUMA node */
	LC_FINDING_FINE_TASKS,    /* these five as `locus spans` diagnoses them */
	LC_FINDING_COARSE_TASKS,
	LC_FINDING_UNEVEN_WORKERS,
	LC_FINDING_TINY_STREAMS,
	LC_FINDING_SAME_STREAMS,
	LC_FINDING_KINDS
};

/* "hot-object", as in ids and JSON. Static storage. */
const char *lc_finding_name(enum lc_finding_kind kind);

struct lc_finding {
	enum lc_finding_kind kind;
	char id[40];                   /* the name and a number that is the same in every profile */
	double share;                  /* of all samples, or of CPU time, that it is about */
	double low, high;              /* 95% interval; both are `share` where there is none */
	const struct lc_rank_row *row; /* NULL: none */
	const struct lc_spans_diagnosis *spans; /* of streams or tasks; NULL: none */
	uint64_t site;      /* lc_tree_site_id() of what it is about; 0: of several, or of none */
	const char *text;   /* what is the case, and the numbers it rests on; UTF-8, one line */
	const char *change; /* what to try; likewise */
};

struct lc_findings {
	struct lc_finding *list; /* what could save most comes first */
	size_t len;
	const char *none; /* in one line, why there are none, or none of objects; else NULL */
	struct lc_arena arena;
};

enum {
	LC_FINDINGS_MAX = 6,
	LC_FINDING_SAMPLES_MIN = 100,  /* a profile with fewer observations allows no verdict */
	LC_FINDING_SAMPLES_GOOD = 400, /* of these a share is known to within five points */
};

/* A finding is about this part of the samples or more, by the lower end of its interval. */
#define LC_FINDING_SHARE_MIN 0.02
#define LC_FINDING_HEADERS_MIN 0.05 /* likewise; of LC_FINDING_HEADERS */

/* Of a row's samples, so many may be of instructions that are not the access:
 * docs/design/report.md. */
#define LC_FINDING_ELSEWHERE_MAX (2.0 / 3)

/* The smallest first-level cache of data of x86-64 servers: 48 KiB since Ice Lake, 32 KiB on Zen.
 */
#define LC_FINDING_CACHE_BYTES (UINT64_C(32) << 10)

/* Of LC_FINDING_SHORT_LIVED: */
enum {
	LC_FINDING_LARGE_BYTES = 1024,  /* an array's size, on the mean */
	LC_FINDING_COLLECTIONS_MIN = 5, /* with fewer it is not known what outlives them */
};
#define LC_FINDING_ALLOCATED_MIN 0.1 /* part of the bytes that were allocated */
#define LC_FINDING_INCOMPLETE_MAX                                                                  \
	0.02                         /* of the collections, so many that could not be followed     \
	                              */
#define LC_FINDING_OUTLIVED_MAX 0.05 /* part of the line's bytes that outlived a collection */

/* What findings are made from; sharing, numa and spans may be NULL. */
struct lc_findings_of {
	const struct lc_ranking *ranking; /* of LC_GROUP_LINE */
	const struct lc_sharing *sharing;
	const struct lc_numa *numa;
	const struct lc_spans *spans;
};

/* Free with lc_findings_free(), while what they are made from is still there. */
void lc_findings_find(struct lc_findings *f, const struct lc_findings_of *of);
void lc_findings_free(struct lc_findings *f);

/*
 * How many times as fast the program would be if the accesses that have a share of the samples
 * cost nothing and all else stayed: 1 / (1 - share), 1 or more. A change that removes an object
 * also removes its making, clearing and collecting, which may be worth more.
 */
double lc_finding_gain(double share);

#endif
