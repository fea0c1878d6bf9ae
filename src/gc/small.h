/*
 * gc/small.h - finds where a collection moved objects that it copied inline.
 *
 * Objects of LC_MOVE_INLINE_BYTES or less are copied without memcpy, so the interposer does not see
 * them. A copying collection leaves the address of the new place in the header at the old one, and
 * at GC finish nothing has been put there yet. So each tracked small object that the collection may
 * have moved is looked at, in the pause. A sliding collection leaves nothing behind: all small
 * objects are forgotten then, here and in the map (heap/map_close.c).
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
	uint64_t pass_ns;   /* time spent in pauses */
};

/*
 * Begin a pass after a collection. `areas` are those of lc_areas_take(); `class_word` says whether
 * a header's second word begins with the class, which forwarding leaves alone. Returns false when
 * there is nothing to find: nothing was collected, or the collection left no trace.
 */
bool lc_small_begin(const struct lc_area *areas, size_t len, bool class_word);

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
