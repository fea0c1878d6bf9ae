/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/live_series.h - notes which allocation sites hold how much after collections, over the
 * time of the recording: rows of the section LIVE.
 *
 * A pass reads the sums of each site: of tracked objects from the map, of sampled ones from the
 * held references, of blocks outside the heap from their counts. A point of the series is the least
 * that a site held in a stretch of time, so dead objects that a collection has left do not count as
 * soon as one pass of the stretch comes after they are gone. Stretches grow with the recording: 64
 * equal ones, and then 32 for each doubling of its time. Between two passes lies a thousand times
 * the time of the last one, so they take a thousandth of one CPU at most.
 *
 * Nothing is done in a collection's pause. Only the attribution thread calls these functions.
 */
#ifndef LC_ATTRIBUTE_LIVE_SERIES_H
#define LC_ATTRIBUTE_LIVE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_map;
struct lc_nursery_run;
struct lc_thread;

/* Begin, with the first stretch `now_ns`. Context: [writer]. */
void lc_live_series_begin(uint64_t now_ns);

/*
 * A collection has left so many bytes in the heap (0: unknown). `old`: it has collected old
 * objects, too, or some of them. Context: [writer].
 */
void lc_live_series_collected(uint64_t heap_bytes, bool old);

/* How many collections were told by lc_live_series_collected(). Context: [writer]. */
uint64_t lc_live_series_collections(void);

/*
 * Read the sums, if it is time to. `m`: the map tells which tracked objects are live; NULL: it does
 * not, and references do. `now`: write what is live in any case, and how old it is, which takes a
 * walk through the map. Context: [writer].
 */
void lc_live_series_look(struct lc_map *m, uint64_t now_ns, bool now);

/*
 * Put sites that `wants` chooses and that held heap at the last pass into `sites`: in turn, the one
 * that has grown most since the recording was between a quarter and half as long, and the one that
 * holds most. Returns how many, at most `max`, which is at most LC_LIVE_SERIES_MOST. Context:
 * [writer].
 */
enum { LC_LIVE_SERIES_MOST = 32 };
typedef bool lc_live_series_wants(const void *context, uint32_t site);
size_t lc_live_series_most(lc_live_series_wants *wants, const void *context, uint32_t *sites,
                           size_t max);

/* The recording or the profile ends: its last stretch ends, too. Context: [writer]. */
void lc_live_series_end(void);

/*
 * Write what was allocated since the last collection: the records of that epoch, and young sampled
 * objects. Context: [writer].
 */
void lc_live_series_young(const struct lc_nursery_run *runs, size_t len, uint16_t epoch_tag,
                          uint64_t now_ns);

/* Put the rows that wait into the thread's tally. Context: [writer]. */
void lc_live_series_take(struct lc_thread *t);

/* A new profile begins: it gets the whole series of its time. Context: [writer]. */
void lc_live_series_again(uint64_t now_ns);

#endif
