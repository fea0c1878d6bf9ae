/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/estimate_impl.h - declares the table of references that estimate.c fills and
 * estimate_flush.c empties. No other file includes it.
 */
#ifndef LC_HEAP_ESTIMATE_IMPL_H
#define LC_HEAP_ESTIMATE_IMPL_H

#include <jni.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"
#include "src/heap/estimate.h"
#include "src/heap/estimate_sums.h"
#include "src/heap/pace.h"
#include "src/heap/split.h"

enum {
	LC_ESTIMATE_LIVE_MAX = 1 << 16,
	/* dead objects stay until their epoch is closed */
	LC_ESTIMATE_ENTRIES_MAX = 2 * LC_ESTIMATE_LIVE_MAX,
	LC_ESTIMATE_CLASSES = 256,
};

struct lc_estimate_entry {
	jweak ref;
	/*
	 * `last` is set for dead objects only. `chance` is that of being sampled with the interval
	 * in force, without the chance of being kept.
	 */
	struct lc_split_object object;
	uint64_t size_bytes;
	uint32_t thread;
	uint32_t since;    /* `collections` when it was allocated */
	uint32_t survived; /* collections */
	uint8_t shift;     /* kept with a chance of 2^-shift */
	uint8_t told;      /* columns of live_milli that have counted the object: a bit each */
	uint16_t copied;   /* copies by collections since the last flush */
};

/* A class's word and site, by the address of its mirror; valid for one GC sequence. */
struct lc_estimate_class {
	uint64_t mirror, word;
	uint32_t sequence;
	uint32_t site;
};

struct lc_estimate_stats {
	uint64_t sampled;     /* events for objects that are not tracked */
	uint64_t tracked;     /* events for objects that are tracked exactly: in no sum */
	uint64_t lost;        /* events without effect: no memory, no thread record, no room */
	uint64_t unheld;      /* objects counted, but without a reference for lack of room */
	uint64_t copies_lost; /* rows of copied bytes for which there was no memory */
	uint64_t live;        /* references to objects not known to be dead */
	uint64_t live_peak;
	uint64_t thinned;        /* times that the table gave up half of its references */
	uint64_t interval_bytes; /* in force */
	uint64_t paces;          /* changes of the interval */
	uint64_t unsplit;        /* accesses to a class none of whose objects was held */
	uint64_t gc_ns;          /* time spent reading references in pauses */
	uint64_t gc_slots;       /* references read there */
};

struct lc_estimate_table {
	struct lc_estimate_config config;             /* set before `enabled` */
	const volatile uint32_t *collections_counter; /* the JVM's, or NULL */
	_Atomic bool enabled;
	pthread_mutex_t lock;

	/* Under the lock. Entries keep their order: an entry only moves down. */
	struct lc_estimate_entry *entries;
	size_t len, live;
	struct lc_estimate_sums sums;
	uint32_t epoch;       /* the open one */
	uint32_t collections; /* pauses in which objects were collected */
	uint32_t counted;     /* *collections_counter at the last one */
	bool checking;        /* the attribution thread uses references: none may be deleted */
	struct lc_jitter coin;
	uint8_t shift; /* of new entries */
	struct lc_pace pace;
	struct lc_jitter jitter; /* used with `config.jitter` */
	bool pacing;             /* a thread is setting a new interval in the JVM */
	struct lc_estimate_stats stats;
	struct lc_estimate_class classes[LC_ESTIMATE_CLASSES]; /* by a hash of the mirror */

	/* Found in the last pause, by the thread that posts the GC events, which alone reads them.
	 */
	struct lc_estimate_survivor survivors[LC_ESTIMATE_SURVIVORS];
	size_t survivors_seen;

	/* Attribution thread only. */
	struct lc_split *split;
	struct lc_split_object *objects;    /* copies of the table's objects */
	struct lc_estimate_entry *released; /* LC_ESTIMATE_ENTRIES_MAX of each */
	uint32_t closed;                    /* epochs before this one are closed */
	struct lc_area *areas;              /* at the beginning of epoch `closed` */
	size_t areas_len;
};

/* The one table. */
struct lc_estimate_table *lc_estimate_table(void);

/* Note whether the JVM has collected objects since the last call. Under the lock. */
void lc_estimate_count_collection(void);

static inline bool lc_estimate_alive(const struct lc_estimate_entry *e)
{
	return e->object.died == LC_SPLIT_ALIVE;
}

/* The chance that an object like this is sampled and held. */
static inline double lc_estimate_chance_held(const struct lc_estimate_entry *e)
{
	return ldexp(e->object.chance, -e->shift);
}

/*
 * Let the interval follow the allocated bytes. `drawn_bytes`: the interval of the sample that was
 * just taken, or 0 without a sample. Not under the lock.
 */
void lc_estimate_pace(uint64_t drawn_bytes);

#endif
