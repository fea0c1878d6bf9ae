/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/attribution.h - declares the thread that turns logs into a profile, off the program's
 * path.
 *
 * It works on sealed epochs in order: resolves the samples of an epoch against the survivors of
 * the ones before and the allocations of its own, then carries the map over the moves of the
 * collection that ended it. Samples of the open epoch are resolved every quarter of a second, so
 * that each second's block can be written. While the program rests, the thread sleeps: see
 * attribute/rest.h.
 */
#ifndef LC_ATTRIBUTE_ATTRIBUTION_H
#define LC_ATTRIBUTE_ATTRIBUTION_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_options;
struct lc_profile;

struct lc_attribution_config {
	JavaVM *vm;
	const struct lc_options *options;
	struct lc_profile *profile;
	bool follow;  /* objects can be followed from one collection to the next */
	bool ordered; /* ... while the program runs, instead: all copies are logged with the time */
	bool copies_seen; /* by gc/copy_log.h */
	/* Writes the manifest; `final` when the program has ended. Context: [writer]. */
	void (*write_manifest)(bool final);
	/*
	 * If not NULL, called once a second or more often, and when lc_wake() was, while the
	 * program runs. `looked`: the thread has looked at the logs. If not, the program rests, and
	 * the call should be cheap. It may use JVMTI and JNI. Context: [writer].
	 */
	void (*tick)(JNIEnv *jni, bool looked);
	/*
	 * If not NULL: is it time for the next profile, at `now_ns`; and the one that blocks go to
	 * from then on. Context: [writer].
	 */
	bool (*is_over)(uint64_t now_ns);
	struct lc_profile *(*next)(uint64_t now_ns);
	/*
	 * If not NULL: has the program marked a point in time, which is then `now_ns`? All blocks
	 * end there; and they do now. Context: [writer].
	 */
	bool (*marked)(uint64_t now_ns);
	void (*divided)(void);
};

struct lc_attribution_stats {
	uint64_t collections;
	uint64_t moves;
	uint64_t moves_lost;
	uint64_t survivors; /* in the map now */
	uint64_t survivors_peak;
	uint64_t map_bytes;
	uint64_t map_in_doubt;      /* survivors whose header is yet to be looked at */
	uint64_t records;           /* allocation records streamed */
	uint64_t walks;             /* stack walks made for allocations in contexts that were new */
	uint64_t looked;            /* frames that these walks have looked at */
	uint64_t records_lost;      /* found the log's pool exhausted */
	uint64_t records_late;      /* of before the map's time: not believed */
	uint64_t epochs_incomplete; /* collections after which what may have moved was dropped */
	uint64_t epochs_collected;  /* the others, without pauses that collected nothing */
	uint64_t copied_bytes;      /* of tracked objects, each time that they were copied */
	uint64_t copied_lost;       /* objects that are in no sum of what was copied or outlived */
	uint64_t dropped;           /* objects that collections may have moved unseen */
	uint64_t wakes;             /* of the thread */
	uint64_t looks;             /* at the logs, the last included */
	int write_error;            /* last -errno of the profile writer, or 0 */
};

/* Start the thread. Returns 0 or -errno. Context: [attach]. */
int lc_attribution_start(const struct lc_attribution_config *config);

/*
 * Have the attribution thread write all that has been recorded. Returns whether it has, within
 * `wait_ns`. Context: a thread of ours, while a recording runs.
 */
bool lc_attribution_flush(uint64_t wait_ns);

/*
 * Choose objects of the sites (attribute/live_objects.h). Their addresses are good while
 * lc_epoch_gc_sequence() is as it is returned; 0: they have references instead. Context: [writer],
 * in a function that lc_ask() has asked for, behind lc_estimate_keep().
 */
struct lc_live_objects;
uint32_t lc_attribution_live_objects(struct lc_live_objects *o);

/*
 * Take all that is logged, write the last blocks and the manifest, end the thread. Returns false,
 * after a line, when the thread is blocked: then it is left behind, and what it uses, as the
 * profile, must stay. Context: [attach].
 */
bool lc_attribution_stop(bool program_goes_on);

/* The last -errno of the profile writer, or 0. Context: [writer]. */
int lc_attribution_write_error(void);

#endif
