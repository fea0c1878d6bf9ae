/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/moves.h - turns the copies that the log holds into the moves of each collection.
 *
 * lc_moves_all() does not return the raw log. Between GC start and finish a JVM may run several
 * collections, and Parallel's full collection fills a region in a spare place and copies it over
 * later. So the batch is replayed in order of time. A move is
 *
 *   src         where the object was at GC start; at most one move has a given src
 *   dst         where it is at GC finish
 *   size_bytes  bytes copied at once: the object's size, or less if it was copied in pieces
 *
 * With src == 0 it says only that [dst, dst + size_bytes) was written meanwhile, by data that did
 * not stay there or that belongs to no known object. Copies that lost the race for the forwarding
 * pointer, and copies of collections that gave up on an object, are of this kind too.
 *
 * The log has all copies of at least `min_bytes` within the heap, and the pieces in which
 * Parallel's full collection copies such objects. An object that crosses a destination region (512
 * KiB) is copied in pieces: the first ends at a region's end; the others start at a region's start.
 * A first piece of 64 bytes or less is copied without memmove and is not logged: the second piece
 * tells, see lc_move_continues().
 *
 * jvm/layout/areas.h has the rules for objects whose moves do not appear.
 */
#ifndef LC_GC_MOVES_H
#define LC_GC_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

/* The moves of one collection; owner: the caller of lc_moves_seal(). */
struct lc_move_batch; /* opaque */

/*
 * Have libjvm's copies logged. Returns 0, or as lc_copy_log_init(), or -errno of mmap(). Called
 * again, it does nothing. Context: [attach].
 */
int lc_moves_init(void);

/*
 * Log copies within [low, high) of at least `min_bytes`, and those that may be the first part of
 * such an object. Context: [gc] start.
 */
void lc_moves_open(uint64_t low, uint64_t high, size_t min_bytes);

/*
 * Stop logging and take what was logged since open. Returns NULL when nothing was logged and
 * nothing lost, or where copies are not seen. Context: [gc] finish.
 */
struct lc_move_batch *lc_moves_seal(void);

/* Did any memmove within the heap happen since the last lc_moves_open()? Context: [gc] finish. */
bool lc_moves_slid(void);

/*
 * Is `is` true for one of the slides that were logged? It gets where a slide came from and went to.
 * Context: [gc] finish, after lc_moves_seal().
 */
bool lc_moves_any_slide(const struct lc_move_batch *b, bool (*is)(uint64_t src, uint64_t dst));

/*
 * From now on call `told` where a thread reads a clock; NULL: no more. A collection reads one on
 * the thread that posts the GC events before and after each of its phases. Context: [gc].
 */
void lc_moves_on_clock(void (*told)(void));

/*
 * From now on call `told` before a thread maps memory over [low, high); NULL: no more. A collection
 * gives memory of the heap back like this, on the thread that posts the GC events. Context: [gc].
 */
void lc_moves_on_map(void (*told)(uint64_t low, uint64_t high));

/*
 * Walk the moves, in no particular order. `*cursor` starts at 0. The first call replays the log.
 * The result is valid until the batch is released. Context: tests.
 */
const struct lc_move *lc_moves_next(struct lc_move_batch *b, size_t *cursor);

/*
 * All moves as one array, for struct lc_map_close; valid until the batch is released. The first
 * call replays the log. Context: [writer].
 */
const struct lc_move *lc_moves_all(struct lc_move_batch *b, size_t *len);

/*
 * Add moves that were found in other ways to *b, which is made if it is NULL. `moves` is malloc'ed
 * and becomes the batch's. Without memory the moves are lost, and counted as lost. Context: [gc]
 * finish.
 */
void lc_moves_add(struct lc_move_batch **b, struct lc_move *moves, size_t len);

size_t lc_moves_count(const struct lc_move_batch *b); /* copies logged */

/* Copies that found no room; complete after the first lc_moves_all(). */
uint64_t lc_moves_lost(const struct lc_move_batch *b);
void lc_moves_release(struct lc_move_batch *b); /* Context: [writer]. NULL is fine. */

#endif
