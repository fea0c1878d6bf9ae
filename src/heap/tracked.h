/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/tracked.h - the classes of --track, and which objects are of them.
 *
 * The bytecode of most allocations tells the class; classfile/rewrite.h marks these sites. The
 * functions here ask for the class of an object that is made by a call.
 */
#ifndef LC_HEAP_TRACKED_H
#define LC_HEAP_TRACKED_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_track;

/*
 * Take the patterns of --track, and whether LC_TRACK_HOT is one; "" for none. `follow`: objects are
 * followed. Says so if there are too many patterns. Context: [attach], before hooks run.
 */
void lc_tracked_init(const char *patterns, bool follow);

/*
 * The patterns, which stay valid until the recording ends; NULL: none. --track hot adds some while
 * the program runs: ask again for each class file. Context: any.
 */
const struct lc_track *lc_tracked(void);

/* Does the agent choose classes while the program runs? Context: any. */
bool lc_tracked_hot(void);

/* Is a class tracked, or may one be later? Context: any. */
bool lc_tracked_any(void);

/*
 * Track the classes that `names` lists, too, with ';' between patterns. Returns all patterns; NULL
 * without room or memory: nothing changes. Context: a thread of ours, one at a time.
 */
const struct lc_track *lc_tracked_add(const char *names);

/* Are arrays tracked, or strings, which have one each, or may they be later? Context: any. */
bool lc_tracked_arrays(void);

/* Objects cannot be told: track nothing, and say so. Context: [attach], before hooks run. */
void lc_tracked_give_up(void);

/* Is the class tracked? A call into the JVM. Context: [java] [hook]. */
bool lc_tracked_class(jclass class);

/*
 * Is `o`, whose class has the number `class_key` (0: unknown), tracked? Most answers come from a
 * table. Context: [hook].
 */
bool lc_tracked_object(JNIEnv *jni, jobject o, uint32_t class_key);

/* A tracked object of `bytes` is recorded: collections must log copies of that size. [hook] */
void lc_tracked_note_bytes(uint64_t bytes);

/*
 * The least size of an object that is followed, where objects of at least `min_size_bytes` are
 * followed whatever their class. Context: any.
 */
uint64_t lc_tracked_least_bytes(uint64_t min_size_bytes);

/* Name the patterns that match no loaded class. Context: [attach], at the end of a recording. */
void lc_tracked_say_unmatched(JNIEnv *jni);

#endif
