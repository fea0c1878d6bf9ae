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

struct lc_counters;
struct lc_concurrent_event;
struct lc_map;
struct lc_map_close;
struct lc_nursery;

struct lc_resolve_stats {
	uint64_t carried;         /* times that a sample waited over a collection */
	uint64_t unresolved;      /* samples counted without their path, for want of memory */
	uint64_t classes_checked; /* samples whose object both the map and the header told */
	uint64_t headers_inside;  /* ... of them: what looked like a header lay inside a live object
	                           */
	uint64_t class_disagreements; /* samples whose object they told differently */
	uint64_t dead_met; /* in order: ... since an untracked one had come to lie in its place */
};

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
 * Samples that wait follow their object to where the collection has put it: the moves and the
 * layout of *close tell. In the next epoch it is the only object there. Where they do not tell, the
 * sample is counted as it is.
 */
void lc_resolve_carry(JNIEnv *jni, const struct lc_map_close *close);

/*
 * The same where objects move while the program runs, and all that happens is put in order of time
 * (attribute/concurrent.h). lc_resolve_order() puts the samples in order, and notes for each which
 * object its thread has recorded next; `events` are in order, and hold all that are not in the map
 * yet. Then lc_resolve_until() looks up in the map, as it is now, those of times up to `until_ns`,
 * and lc_resolve_ordered() counts them; with `last` all of them, else not those in memory that may
 * be an object which is not recorded yet.
 */
void lc_resolve_ordered_init(uint64_t min_size_bytes); /* --min-size. Context: [attach]. */
void lc_resolve_order(const struct lc_concurrent_event *events, size_t len);
void lc_resolve_until(struct lc_map *map, uint64_t until_ns);
void lc_resolve_ordered(JNIEnv *jni, bool last);

/* Does any sample wait? */
bool lc_resolve_waiting(void);

void lc_resolve_stats(struct lc_resolve_stats *out);
void lc_resolve_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
