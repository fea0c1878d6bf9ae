/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/small.h - finds where a collection moved objects that it copied inline.
 *
 * Objects of LC_MOVE_INLINE_BYTES or less are copied without memcpy, so the log does not have them.
 * A copying collection leaves the new address in the header at the old one, where nothing has been
 * put yet at GC finish. So this module reads, in the pause, the old header of each tracked small
 * object that may have moved. If the collector gives the memory back in the pause, it reads the
 * headers there just before.
 *
 * A sliding collection leaves no old headers. But before the first move, most collectors write the
 * new address into the header of each object that will move (Serial, G1; Parallel since JDK 24).
 * Parallel of JDK 17 has tables of new addresses (jvm/layout/mark_tables.h). So the lc_small_ahead_
 * functions read headers or tables at that moment. If they find nothing, all small objects are
 * forgotten, here and in the map (heap/map_close.c).
 *
 * All functions run on the thread that posts the GC events. Context: [gc].
 */
#ifndef LC_GC_SMALL_H
#define LC_GC_SMALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

/*
 * Look for a landmark (gc/landmarks.h) among the slides of the collection. Before lc_small_begin().
 */
struct lc_move_batch;
void lc_small_prove(const struct lc_move_batch *slides);

/*
 * Begin a pass after a collection. `areas` are those of lc_areas_take(); `class_word` says whether
 * a header's second word begins with the class, which forwarding leaves alone. Returns false when
 * there is nothing to find: nothing was collected, or the collection left no trace.
 */
bool lc_small_begin(const struct lc_area *areas, size_t len, bool class_word);

/*
 * Look ahead of a sliding collection, on the thread that posts the GC events, between start and
 * finish, when the JVM reads a clock between two phases. `areas` are the current areas of the heap;
 * `emptied`: see lc_areas_emptied(). Returns whether a sample of the objects must be chosen.
 */
bool lc_small_ahead_begin(const struct lc_area *areas, size_t len, bool emptied);

/* Choose some objects of allocation records, as lc_small_look() takes them. */
void lc_small_ahead_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);

/*
 * Has the sample's data changed since the last look at all objects? If so, this looks at all held
 * objects, and lc_small_ahead_look() must follow for the records.
 */
bool lc_small_ahead_changed(void);
void lc_small_ahead_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);

/* Has the look ahead found that objects will slide? */
bool lc_small_ahead_found(void);

/*
 * Look at objects during an evacuation that may be unable to move them (lc_areas_stuck()), as the
 * lc_small_ahead_ functions look before a slide. When it ends, G1 removes the marks of those that
 * stayed, and puts filler over objects that it moved away from between them.
 *
 * lc_small_stuck() says whether there are any such areas. lc_small_stuck_begin() returns whether a
 * sample of the records must be chosen.
 */
bool lc_small_stuck(bool class_word);
bool lc_small_stuck_begin(void);
void lc_small_stuck_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);
bool lc_small_stuck_changed(void);
void lc_small_stuck_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);

/*
 * Do the moves tell of each small object in such areas whether it moved, stayed (it has a move to
 * its own place) or died? Valid after lc_small_begin().
 */
bool lc_small_stuck_known(void);

/*
 * In the pause, other memory is about to be mapped over [low, high): remember where the small
 * objects there went. `areas` are the current areas of the heap. Returns whether
 * lc_small_given_look() must follow for the records.
 */
bool lc_small_given_begin(const struct lc_area *areas, size_t len, bool class_word, uint64_t low,
                          uint64_t high);
void lc_small_given_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);

/* Forget the look ahead: a collection starts. */
void lc_small_ahead_forget(void);

/* Did objects slide to addresses that are known? Valid after lc_small_begin(). */
bool lc_small_slid(void);

/* Forget all objects that are held. */
void lc_small_forget(void);

/* Forget the objects of allocation records, as lc_small_look() takes them. */
void lc_small_forget_new(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);

/*
 * A pause has collected nothing, but it may have freed memory without live objects: forget the
 * objects there.
 */
void lc_small_sweep(const struct lc_area *areas, size_t len);

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

#endif
