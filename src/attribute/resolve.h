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
struct lc_map;
struct lc_nursery;

struct lc_resolve_stats {
	uint64_t unresolved;          /* samples counted without their path, for want of memory */
	uint64_t classes_checked;     /* samples whose object both the map and the header told */
	uint64_t class_disagreements; /* samples whose object they told differently */
};

/*
 * Take the samples of epochs up to `epoch` out of the logs. A sample that needs no map, since it is
 * no access to a known address in the heap, is counted at once.
 */
void lc_resolve_take(JNIEnv *jni, uint32_t epoch);

/*
 * Look up the samples that were taken and are older than `until_ns`, and count them. With
 * UINT64_MAX all of them are counted for good, since their epoch ends.
 */
void lc_resolve_samples(JNIEnv *jni, struct lc_map *map, const struct lc_nursery *nursery,
                        uint64_t until_ns);

/* Does any sample wait? */
bool lc_resolve_waiting(void);

void lc_resolve_stats(struct lc_resolve_stats *out);
void lc_resolve_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
