/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/method_ids.h - leads from HotSpot's Methods to their jmethodIDs and back.
 *
 * JVMTI has no function for either way, and walks of ours meet Methods. A class keeps the IDs of
 * its methods in an array, by the number that each Method has in its class. Up to JDK 25 an ID is
 * the address of a pointer to the newest version of its method. Since JDK 26 IDs are counted, and
 * the table that leads from them to Methods is private: whether an ID leads to a Method is asked of
 * the class, which lists the newest version of each method.
 *
 * Functions take and return numbers of core/method_number.h. Everything is peeked at, since what
 * was left on a stack may lead to a class that is gone.
 */
#ifndef LC_JVM_LAYOUT_METHOD_IDS_H
#define LC_JVM_LAYOUT_METHOD_IDS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Find the structures, and prove them on a class of the JVM's: what they say of each of its methods
 * must be what JVMTI says. Returns 0; -ENOTSUP where jmethodIDs have no known form: then there can
 * be no call paths; -ENOENT where the structures are not what is known: then the functions below
 * find nothing. Context: [attach]; lc_layout_find() first.
 */
int lc_method_ids_init(JNIEnv *jni);

/* Have the structures been proved? Context: any, after [attach]. */
bool lc_method_ids_known(void);

/*
 * The number of `method`'s ID; 0 where none was made yet, an ID leads to a newer version, or that
 * is no method. Context: any; slow.
 */
uint64_t lc_method_ids_number(uint64_t method);

/* Does the ID lead to `method` now? Context: any; slow where IDs are counted. */
bool lc_method_ids_lead_to(uint64_t number, uint64_t method);

/*
 * The Klass of `class`, whose methods have these IDs as GetClassMethods tells; 0 where that cannot
 * be proved, since a collection moves the class just now, say. Context: [attach] [java].
 */
uint64_t lc_method_ids_class(jclass class, const jmethodID *ids, jint len);

/*
 * The Method to which each ID of the class leads now, to methods[0..len); 0 where that cannot be
 * read. Context: [attach] [java].
 */
void lc_method_ids_methods(jclass class, const jmethodID *ids, jint len, uint64_t *methods);

/*
 * The Method to which an ID leads now; 0 where that cannot be read. Context: [java] [writer]; slow
 * where IDs are counted.
 */
uint64_t lc_method_ids_method(JNIEnv *jni, uint64_t number);

/*
 * The Klass of the class that declares `method`; 0 where that cannot be read. Context: any; the
 * class must not be unloaded meanwhile.
 */
uint64_t lc_method_ids_holder(uint64_t method);

#endif
