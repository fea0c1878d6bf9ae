/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings.h - finds what most likely costs the program time, with the numbers
 * that show this and a change to try. A finding is a few sentences that make sense alone.
 */
#ifndef LC_OBJECTS_ANALYSIS_FINDINGS_H
#define LC_OBJECTS_ANALYSIS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/saving.h"

struct lc_json;
struct lc_live;
struct lc_numa;
struct lc_sharing;
struct lc_spans;
struct lc_spans_diagnosis;

enum lc_finding_kind {
	LC_FINDING_HOT,            /* a row has many of the samples */
	LC_FINDING_HEADER,         /* ... nearly all of them in object headers */
	LC_FINDING_HEADERS,        /* headers of objects of many classes have many samples */
	LC_FINDING_ONE_PART,       /* ... nearly all of them at one end of an array */
	LC_FINDING_STRIDE,         /* ... in a loop with steps of a cache line or more */
	LC_FINDING_NEVER_READ,     /* written, and no load was sampled */
	LC_FINDING_SHORT_LIVED,    /* large arrays of one line, dead at the first collection */
	LC_FINDING_OVERSIZED,      /* arrays much larger than what is put in them */
	LC_FINDING_REPLICAS,       /* arrays that outlive a collection and are equal to others */
	LC_FINDING_SHORT_BLOCKS,   /* blocks outside the heap, made and freed again and again */
	LC_FINDING_COPIED_BUFFERS, /* heap buffers that I/O copies to or from direct ones */
	LC_FINDING_READ_IN,        /* a mapped file whose pages accesses read in */
	LC_FINDING_STACK_TRACES,   /* exceptions whose stack traces nothing reads */
	LC_FINDING_THREAD_LOCALS,  /* values of ThreadLocals, looked up or made again and again */
	LC_FINDING_REPEATED_CALLS, /* calls that make the same objects each time */
	LC_FINDING_FALSE_SHARING,  /* threads take cache lines from each other */
	LC_FINDING_REMOTE,         /* memory of another NUMA node */
	LC_FINDING_FINE_TASKS,     /* these five come from the diagnoses of `locus spans` */
	LC_FINDING_COARSE_TASKS,
	LC_FINDING_UNEVEN_WORKERS,
	LC_FINDING_TINY_STREAMS,
	LC_FINDING_SAME_STREAMS,
	LC_FINDING_GROWS, /* what stays after collections grows: a leak. Its share is of the heap */
	LC_FINDING_KINDS
};

/* The name in IDs and JSON, such as "hot-object". Static storage. */
const char *lc_finding_name(enum lc_finding_kind kind);

/* Which findings with the same change have one cause, and are one. */
enum lc_advice_joins {
	LC_JOINS_NONE = 0,
	LC_JOINS_METHOD, /* those whose objects one method allocates */
	LC_JOINS_ALL,
};

/* A change, beside its sentence. */
struct lc_advice_change {
	enum lc_advice_joins joins; /* which rows with an equal sentence have one cause */
	/*
	 * Patterns of "Class.method", with spaces between: the JDK's code that runs for the objects
	 * alone, beside that of their collection. NULL: none. Static storage.
	 */
	const char *gone;
	bool arrays; /* the change does without arrays of references to the objects, too */
	/*
	 * The path to a call below which half of the accesses are: of a library at a line of own
	 * code, or of what the JDK has inside. 0: none.
	 */
	uint32_t call;
	bool less_often; /* the change is to make the call less often: it does more than it saves */
};

struct lc_finding {
	enum lc_finding_kind kind;
	char id[40];      /* the kind's name and a number, equal in every profile */
	double share;     /* share of all samples, or of CPU time */
	double low, high; /* 95% interval; both equal `share` if there is none */
	/*
	 * Parts of the CPU time: of accesses that a change may save, and with all that exists only
	 * for the row's objects. `all` is `accesses` if the change leaves the objects. `calls`: all
	 * below the calls of `about`, which a change of own code may save; 0: there are none.
	 */
	struct lc_saving saves;
	const struct lc_rank_row *row;         /* NULL: none */
	const struct lc_rank_row *const *rows; /* `row` and those that were joined to it */
	size_t rows_len;
	bool whole_class; /* it is about all objects of the class that are not counted */
	uint32_t holder;  /* class of the collection's nodes that hold these objects, or of the
	                     objects that these arrays hold, if one change does without both; or 0 */
	const struct lc_spans_diagnosis *spans; /* diagnosis of streams or tasks; NULL: none */
	uint64_t row_samples; /* of `row`, that another finding than one of rows explains */
	double growth;        /* of LC_FINDING_GROWS: bytes a second, the low end */
	uint64_t site;        /* lc_tree_site_id() of the site; 0: several, or none */
	const char *text;     /* what is wrong, and the numbers that show it; UTF-8, one line */
	const char *change;   /* what to try; UTF-8, one line; NULL: nothing that fits */
	struct lc_advice_change about; /* the change */
	const char *calls; /* "a.Library.parse at b.Main.load:12": what `saves.calls` is of; or NULL
	                    */
};

struct lc_findings {
	struct lc_finding *list; /* the one that certainly saves most first */
	size_t len;
	const char *none; /* one line: why there is no finding, or none about objects; else NULL */
	struct lc_arena arena;
};

enum {
	LC_FINDINGS_MAX = 6,
	LC_FINDING_SAMPLES_MIN = 100,  /* a profile with fewer observations gets no verdict */
	LC_FINDING_SAMPLES_GOOD = 400, /* with so many, a share is known to within five points */
};

/* The lower end of a finding's interval is at least this share. */
#define LC_FINDING_SHARE_MIN 0.02
#define LC_FINDING_HEADERS_MIN 0.05 /* the same for LC_FINDING_HEADERS */

/* A row is no finding if a larger part of its samples waited elsewhere: docs/design/report.md. */
#define LC_FINDING_ELSEWHERE_MAX (2.0 / 3)

/* A row is no finding if a larger part of its samples repeats the small object of the thread's last
 * sample of the row. */
#define LC_FINDING_SAME_OBJECT_MIN 0.5

/* The smallest first-level cache of data of x86-64 servers: 48 KiB since Ice Lake, 32 KiB on Zen.
 */
#define LC_FINDING_CACHE_BYTES (UINT64_C(32) << 10)

/* For LC_FINDING_SHORT_LIVED: */
enum {
	LC_FINDING_LARGE_BYTES = 1024,  /* mean size of an array */
	LC_FINDING_COLLECTIONS_MIN = 5, /* fewer collections do not show what survives */
};
/* Parts of all allocated bytes, of the collections, and of the line's bytes. */
#define LC_FINDING_ALLOCATED_MIN 0.1
#define LC_FINDING_INCOMPLETE_MAX 0.02 /* collections that could not be followed */
#define LC_FINDING_OUTLIVED_MAX 0.05   /* bytes that survive a collection */

/* For findings of blocks outside the heap: */
enum { LC_FINDING_BLOCKS_MIN = 100 };              /* fewer are not made again and again */
#define LC_FINDING_FREED_MIN 0.8                   /* part of a line's blocks that are freed */
#define LC_FINDING_KEPT_BYTES (UINT64_C(64) << 20) /* of direct buffers that I/O keeps */

/* The input of findings; sharing, numa, spans and live may be NULL. */
struct lc_findings_of {
	const struct lc_ranking *ranking; /* grouped by LC_GROUP_LINE */
	const struct lc_sharing *sharing;
	const struct lc_numa *numa;
	const struct lc_spans *spans;
	const struct lc_live *live; /* of `ranking` */
};

/* Free with lc_findings_free(), while the input still exists. */
void lc_findings_find(struct lc_findings *f, const struct lc_findings_of *of);
void lc_findings_free(struct lc_findings *f);

/*
 * Write the members that all formats have: ID, kind, share, gains and calls. "gain_at_most" is that
 * of the accesses.
 */
void lc_finding_json(struct lc_json *j, const struct lc_finding *f);

/* The speed-up if this part of the CPU time were saved: 1 / (1 - share), 1 or more. */
double lc_finding_gain(double share);

#endif
