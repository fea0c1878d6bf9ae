/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/resolve.h - brings samples from the threads' logs to their buckets.
 *
 * A sample is taken out of its log soon. It then waits until its address can be looked up: until
 * the allocation of its object must have been recorded. Context of all functions: [writer].
 */
#ifndef LC_ATTRIBUTE_RESOLVE_H
#define LC_ATTRIBUTE_RESOLVE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_concurrent_event;
struct lc_map;
struct lc_map_close;
struct lc_nursery;

/*
 * Take the samples of epochs up to `epoch` out of the logs. A sample that needs no map, since it is
 * no access to a known address in the heap, is counted at once.
 */
void lc_resolve_take(JNIEnv *jni, uint32_t epoch);

/*
 * Look up the samples that were taken and are older than `until_ns`, and count them. With
 * UINT64_MAX all of them are counted for good.
 */
void lc_resolve_samples(JNIEnv *jni, struct lc_map *map, const struct lc_nursery *nursery,
                        uint64_t until_ns);

/*
 * The same at the end of an epoch, of all samples, where each thread's `looked` is the position of
 * its log at the collection. A thread may have cleared an array and waited for the collection
 * before it recorded the array: such samples still wait. lc_resolve_carry() comes next.
 */
void lc_resolve_close_epoch(JNIEnv *jni, struct lc_map *map, const struct lc_nursery *nursery);

/*
 * Samples that wait follow their object to its new address, by the moves and the layout of *close.
 * In the next epoch it is the only object there. A sample whose object's new address is unknown is
 * counted at once.
 */
void lc_resolve_carry(JNIEnv *jni, const struct lc_map_close *close);

/*
 * The same with concurrent collectors, whose events are put in order of time
 * (attribute/concurrent.h). lc_resolve_order() sorts the samples, and notes for each the object
 * that its thread has recorded next. `events` are sorted, and hold all events that are not in the
 * map yet. lc_resolve_until() looks up samples of times up to `until_ns` in the current map.
 * lc_resolve_ordered() counts them: all with `last`, else not those whose object may not be
 * recorded yet.
 */
void lc_resolve_ordered_init(uint64_t min_size_bytes); /* --min-size. Context: [attach]. */
void lc_resolve_order(const struct lc_concurrent_event *events, size_t len);
void lc_resolve_until(struct lc_map *map, uint64_t until_ns);
void lc_resolve_ordered(JNIEnv *jni, bool last);

/* Does any sample wait? */
bool lc_resolve_waiting(void);

#endif
