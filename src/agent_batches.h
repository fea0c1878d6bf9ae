/*
 * agent_batches.h - transforms classes of a program that runs, a few at a time, and none of which a
 * hot method runs.
 *
 * The program stands still while classes are exchanged, for longer the more they are. A method that
 * runs meanwhile goes on with its old code, in the interpreter, until it returns. Where one works
 * in a loop of its own, its class waits, and is left as it is if the method does not return.
 */
#ifndef LC_AGENT_BATCHES_H
#define LC_AGENT_BATCHES_H

#include <jvmti.h>
#include <stdint.h>

struct lc_batches_stats {
	uint64_t batches;
	uint64_t transformed; /* classes */
	uint64_t refused;     /* classes that the JVM refused to transform */
	uint64_t running; /* classes that wait, or are left, since a hot method of theirs runs */
	uint64_t pause_max_ns; /* no batch has stopped the program for longer */
};

/*
 * Transform the classes, local or global references. Those left are moved to the front: returns
 * their number. Takes up to half a second to find out which methods return. Context: a thread of
 * ours that may wait, with a JNIEnv.
 */
jint lc_batches_transform(JNIEnv *jni, jclass *classes, jint len, struct lc_batches_stats *stats);

/* ClassFileLoadHook has been called: the JVM is not further than this. Context: [java]. */
void lc_batches_class_file(void);

#endif
