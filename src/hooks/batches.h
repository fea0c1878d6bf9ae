/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/batches.h - transforms classes of a running program in small batches, except for classes
 * with a running hot method.
 *
 * The program stands still while the JVM exchanges classes, the longer the more classes. A method
 * that runs meanwhile goes on with its old code, in the interpreter, until it returns. So the class
 * of a method that works in a loop waits, and is left as it is if the method does not return.
 */
#ifndef LC_HOOKS_BATCHES_H
#define LC_HOOKS_BATCHES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/core/stages.h"

struct lc_batches_stats {
	uint64_t batches;
	uint64_t transformed; /* classes */
	uint64_t refused;     /* classes that the JVM refused to transform */
	uint64_t running; /* classes that wait, or are left, since a hot method of theirs runs */
	uint64_t pause_max_ns; /* no batch has stopped the program for longer */
};

/*
 * Transform the classes, local or global references. Classes that are left are moved to the front:
 * returns their number. They are the parts of `stage`. lc_stages_stop() ends LC_STAGE_CLASSES
 * early: the batch that the JVM works on is the last. Takes up to half a second to find out which
 * methods return, on a busy machine up to 7 s. Context: a thread of ours that may wait, with a
 * JNIEnv.
 */
jint lc_batches_transform(JNIEnv *jni, jclass *classes, jint len, enum lc_stage stage,
                          struct lc_batches_stats *stats);

/* How many classes the last call has done, and of how many. Context: any but [signal]. */
void lc_batches_progress(uint32_t *done, uint32_t *total);

/* ClassFileLoadHook has been called: the JVM is not further than this. Context: [java]. */
void lc_batches_class_file(void);

#endif
