/*
 * gc/small.h - finds where a collection moved objects that it copied inline.
 *
 * Objects of LC_MOVE_INLINE_BYTES or less are copied without memcpy, so the log does not have
 * them. A copying collection leaves the address of the new place in the header at the old one, and
 * at GC finish nothing has been put there yet. So each tracked small object that the collection may
 * have moved is looked at, in the pause.
 *
 * A sliding collection leaves nothing behind. But before it moves the first object, most of them
 * write into the header of each object that will move where it goes (Serial, G1; Parallel since JDK
 * 24), and Parallel of JDK 17 has tables that say it (jvm/layout/mark_tables.h), so the objects are
 * looked at then: lc_small_ahead_begin() and what follows it. Where that has found nothing, all
 * small objects are forgotten, here and in the map (heap/map_close.c).
 *
 * All functions run on the thread that posts the GC events. Context: [gc].
 */
#ifndef LC_GC_SMALL_H
#define LC_GC_SMALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

struct lc_counters;

struct lc_small_stats {
	uint64_t moved;     /* found at their new place */
	uint64_t forgotten; /* dropped since a collection left no trace */
	uint64_t held;      /* small survivors that are looked at after each collection now */
	uint64_t unheld;    /* not held after a collection, since the memory limit has no room */
	uint64_t passes_limited; /* pauses in which some objects were not looked at for that */
	uint64_t pass_ns;        /* time spent in pauses */
};

/*
 * Begin a pass after a collection. `areas` are those of lc_areas_take(); `class_word` says whether
 * a header's second word begins with the class, which forwarding leaves alone. Returns false when
 * there is nothing to find: nothing was collected, or the collection left no trace.
 */
bool lc_small_begin(const struct lc_area *areas, size_t len, bool class_word);

/*
 * Ahead of a sliding collection, on the thread that posts the GC events, between start and finish,
 * where the JVM reads a clock between two phases. `areas` are the heap's as they are now; `emptied`
 * as lc_areas_emptied(). Returns whether a sample of the objects is still to be chosen.
 */
bool lc_small_ahead_begin(const struct lc_area *areas, size_t len, bool emptied);

/* Choose some objects of allocation records, as lc_small_look() takes them. */
void lc_small_ahead_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);

/*
 * Does the sample say something else than when all objects were looked at last? Then they are to be
 * looked at again: those of the records by lc_small_ahead_look(), after this call.
 */
bool lc_small_ahead_changed(void);
void lc_small_ahead_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);

/* Forget what was found ahead: a collection starts. */
void lc_small_ahead_forget(void);

/* Is it known where the collection has slid the small objects? Valid after lc_small_begin(). */
bool lc_small_slid(void);

/* Forget all objects that are held. */
void lc_small_forget(void);

/*
 * Look at the objects of allocation records made since the last collection: those records whose
 * epoch tag lies at most `span` before `tag`.
 */
void lc_small_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);

/*
 * Look at the objects that outlived earlier collections, and end the pass. Returns the moves; they
 * are malloc'ed, and the caller owns them. NULL with *len 0: there are none, or no memory.
 */
struct lc_move *lc_small_end(size_t *len);

void lc_small_stats(struct lc_small_stats *out); /* Context: any. */
void lc_small_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
