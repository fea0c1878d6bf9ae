/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/version.h - tells the versions of a method apart when its class is redefined.
 *
 * For the JVM a jmethodID stands for the newest version of its method, whose lines and bytecode may
 * be others than those that a frame was in. So frames hold the ID of a version: the jmethodID (its
 * number, core/method_number.h) for the first version that was seen, a number of ours for each
 * later one. HotSpot tells what is told apart here: a Method is one version, and a jmethodID leads
 * to the newest.
 *
 * An ID of a version may be marked (LC_VERSION_ASKED) where the JVM has named the frame: it gives
 * the newest version's jmethodID for an older one of the same bytecode, too.
 */
#ifndef LC_CORE_VERSION_H
#define LC_CORE_VERSION_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/method_number.h"
#include "src/core/record.h"

/* Bits of an ID. Numbers of jmethodIDs have none of them (core/method_number.h). */
enum {
	LC_VERSION_LATER = 1,   /* of a later version than the first */
	LC_VERSION_ASKED = 2,   /* or, with the same bytecode, an older version */
	LC_VERSION_UNKNOWN = 4, /* of a jmethodID: nobody knows which version */
	LC_VERSION_BITS = 7,
};

/*
 * Prepare the table. `leads_to` tells whether a jmethodID leads to this Method now. Until this is
 * called each method has one version. Returns 0 or -ENOMEM. Context: [attach].
 */
int lc_versions_init(bool (*leads_to)(uint64_t id, uint64_t method));

/*
 * The class with these methods is about to be redefined: the versions that run now have IDs, and
 * those that will run get others. ids[i] leads to the Method methods[i]; 0: it is not known, and
 * the method's versions are not told apart. Returns 0, or -ENOMEM: then those without room cannot
 * be told apart. Context: [java]. Takes a lock.
 */
int lc_versions_redefined(const jmethodID *ids, const uint64_t *methods, size_t len);

/* The ID of the version `method`, to which the jmethodID `id` leads now. Context: any. */
uint64_t lc_version_of(uint64_t id, uint64_t method);

/* The ID of the version that the jmethodID leads to now. Context: any. */
uint64_t lc_version_now(uint64_t id);

/* The ID of `method`, a version to which no jmethodID leads any more; 0: unknown. Context: any. */
uint64_t lc_version_old(uint64_t method);

/* The ID of the version before; 0 where there is none. Context: any. */
uint64_t lc_version_before(uint64_t version);

/* The number of a version's method, or what else stands for a method. Context: any. */
uint64_t lc_version_method(uint64_t version);

/*
 * The ID for a frame that the JVM has named: marked where the method has had several versions.
 * Context: any.
 */
uint64_t lc_version_asked(uint64_t id);

/* Does the frame, by a walk of ours, agree with what the JVM says? Context: any. */
bool lc_version_same(uint64_t frame, jmethodID method, int bci);

/* Such a frame, of a method by its number. */
static inline uint64_t lc_version_frame_of(uint64_t number, int bci)
{
	return lc_frame_pack((const void *)(uintptr_t)lc_version_asked(number), bci); /* NOLINT */
}

/* Such a frame. */
static inline uint64_t lc_version_frame(jmethodID method, int bci)
{
	return lc_version_frame_of(lc_method_number(method), bci);
}

#endif
