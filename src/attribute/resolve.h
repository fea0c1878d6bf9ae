/*
 * attribute/resolve.h - samples on their way from the threads' logs to their buckets.
 *
 * A sample is taken out of its log soon, and waits until its address can be looked up: until the
 * allocation that it may belong to has been recorded. Context of all functions: [writer].
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
	uint64_t unresolved;      /* samples counted without their path, for want of memory */
	uint64_t classes_checked; /* samples of which both the map and the header told the object */
	uint64_t class_disagreements; /* of these, where they told two different ones */
};

/*
 * Take the samples of epochs up to `epoch` out of the logs. What is not an access to a known address
 * is counted at once.
 */
void lc_resolve_take(JNIEnv *jni, uint32_t epoch);

/*
 * Look up the samples that were taken and are older than `until_ns`, and count them; UINT64_MAX: all
 * of them, for good, since their epoch ends.
 */
void lc_resolve_samples(JNIEnv *jni, struct lc_map *map, const struct lc_nursery *nursery,
                        uint64_t until_ns);

/* Does any sample wait? */
bool lc_resolve_waiting(void);

void lc_resolve_stats(struct lc_resolve_stats *out);
void lc_resolve_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
