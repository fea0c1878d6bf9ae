/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_place.h - finds the address of an object in a callback of a heap walk.
 *
 * JVMTI names objects by tags only, and a tag costs the JVM more time than everything else in the
 * walk, stays at the object, and has to be removed in a second walk. But HotSpot keeps the tags of
 * a reference's two objects on its stack, in a structure together with the objects' addresses. So
 * the address stands some words before or behind the tag. How many, a walk over 64 objects proves:
 * there a word must be the same for each object whenever and however it is met, and different for
 * all.
 *
 * Addresses serve to tell objects apart during one walk, in which the JVM moves none. They are
 * never read through. The words that are read are of the calling frames of the callback's thread.
 */
#ifndef LC_AGENT_HOLDER_PLACE_H
#define LC_AGENT_HOLDER_PLACE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Words from the tag to the object's address, and from the referrer's tag to the referrer's. */
struct lc_holder_place {
	int object, referrer;
};

/*
 * Returns false if this JVM's callbacks do not have the addresses. Needs the capability to tag.
 * Context: [java].
 */
bool lc_holder_place_find(jvmtiEnv *jvmti, JNIEnv *jni, struct lc_holder_place *out);

/* Context: the callback that was given the tag. */
static inline uint64_t lc_holder_place_read(const jlong *tag, int words)
{
	uint64_t word;

	memcpy(&word, tag + words, sizeof(word));
	return word;
}

#endif
