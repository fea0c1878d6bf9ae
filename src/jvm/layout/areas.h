/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/areas.h - reads the layout of the heap from HotSpot's own structures at GC finish.
 *
 * At GC finish the map applies these rules to a tracked object that was at [a, a + n) when the
 * collection started (gc/moves.h defines a move):
 *
 *   1. A move with src == a: the object is at dst now. So is the rest of it, when the move is
 *      shorter than n: the collector copies an object in pieces, to one place.
 *   2. No move with src == a, but one with a < src <= a + 64 and src < a + n that continues an
 *      object (lc_move_continues()): the object is at dst - (src - a). Its first piece was too
 *      short to be seen.
 *   3. Otherwise it stayed or died. It may have stayed only if all of these hold:
 *      a. [a, a + n) lies in [bottom, top) of an area whose kind is not LC_AREA_FREE. `top` as
 *         it stands here is the end of what the collection LEFT in the area, not of what is
 *         allocated in it: in an eden that was evacuated top == bottom, whatever has already been
 *         handed out there again. A humongous object begins at the bottom of an area
 *         LC_AREA_HUMONGOUS; the areas LC_AREA_HUMONGOUS_CONT behind it hold the rest, so only
 *         the first of its bytes need lie in an area.
 *      b. no move of the batch, of this object's site or any other, wrote into [a, a + n). That
 *         includes the moves with src == 0.
 *      c. where the area has LC_AREA_COMPACTED in `flags`: its header still is that of an
 *         object of its class and size (lc_header_matches()). Objects of 64 bytes or less move
 *         unseen, and may have been slid over a dead one.
 *   4. An object that rules 1 or 2 moved must lie in [bottom, top) of some area, else it died.
 *   5. A move whose src is no tracked object is of no interest, except for 3b.
 *
 * An object that died in an old region which was not collected, or in the dense prefix of a full
 * collection, satisfies rule 3 although the JVM has cleared its weak references. That is harmless:
 * nobody touches it, and nothing is put in its place before another collection empties the area.
 * An audit has to tell such leftovers (weak reference cleared, header unchanged) from wrong
 * intervals (object alive elsewhere, or the header is another's).
 */
/*
 * When JVMTI posts GarbageCollectionStart and -Finish (read in the sources, counted against
 * -Xlog:gc): in strict pairs, never nested, on the VM thread, around every pause that moves or
 * frees: young, mixed and full collections, System.gc(), heap dumps that collect first, and G1's
 * remark and cleanup. JDK 17: Serial and Parallel post one pair per VM operation, around up to
 * three collections and the allocation that had failed; G1 one per collection. JDK 25: one per
 * collection, and the allocation comes after it. G1 hands out eden regions before finish on both.
 * JDK 25 fills dead objects of old regions with filler concurrently, after remark.
 */
#ifndef LC_JVM_LAYOUT_AREAS_H
#define LC_JVM_LAYOUT_AREAS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

/*
 * Find the collector (collector.h), the ranges (ranges.h) and the fields of the collector's spaces.
 * Returns 0; -ENOTSUP when objects cannot be followed with this collector; -ENOENT when a field is
 * missing in this JVM.
 * Context: [attach]; lc_layout_find() first.
 */
int lc_areas_init(void);

/*
 * Prove what lc_areas_init() found: the areas make sense, and a new array lies in one of them.
 * Returns 0, or -ENOENT if that is not so: objects cannot be followed. Context: [attach];
 * lc_call_trace_catch_faults() first.
 */
int lc_areas_prove(JNIEnv *jni);

/* Note the layout that the collection starts from. Context: [gc] start. */
void lc_areas_begin(void);

/*
 * How many collections ran since lc_areas_begin(): 0 in a pause that moves nothing (G1 remark and
 * cleanup), 1 usually, more where one VM operation upgrades to a full collection (JDK 17).
 * Context: [gc] finish.
 */
uint32_t lc_areas_collections(void);

/* Full collections begun since lc_areas_begin(). Context: [gc], also between start and finish. */
uint32_t lc_areas_full(void);

/*
 * Was the young generation evacuated since lc_areas_begin(), before that full collection? If so,
 * objects of eden and the survivor spaces are elsewhere. Context: that of lc_areas_full().
 */
bool lc_areas_emptied(void);

/*
 * Fill `out` with the areas as they are now, at most `cap`; returns how many there are (more
 * than `cap`: `out` is incomplete). `slid` says whether objects slid (lc_moves_slid()). Sorted by
 * bottom, disjoint; free memory may be left out.
 * Neighbouring G1 regions are merged where that keeps the meaning of top, humongous ones never.
 * Context: [gc] finish.
 */
size_t lc_areas_take(struct lc_area *out, size_t cap, bool slid);

/*
 * The same of a moment between two collections, while the program allocates: what is in use is at
 * least what was when this was called. The caller compares the GC sequence before and after.
 * Context: [writer], or [gc] between start and finish.
 */
size_t lc_areas_look(struct lc_area *out, size_t cap);

/*
 * The areas out of which the evacuation that is under way may be unable to move all objects: all of
 * the heap (*all) if G1 has no region left to copy to, else young regions with objects that JNI has
 * pinned (JDK 22 and later). Returns as lc_areas_take(); 0: there are none. G1 knows which are
 * pinned from before it evacuates until it ends. *regions is a number that changes when objects are
 * put into a region, or it changes its kind; left alone if there are none. Context: [gc], between
 * start and finish.
 */
size_t lc_areas_stuck(struct lc_area *out, size_t cap, bool *all, uint64_t *regions);

#endif
