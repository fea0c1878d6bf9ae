/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/refs.h - makes references of the agent to the program's objects, and deletes them when the
 * recording is over.
 */
#ifndef LC_CORE_REFS_H
#define LC_CORE_REFS_H

#include <jni.h>

/* Like NewGlobalRef() and NewWeakGlobalRef(). NULL without memory. Context: [attach] [java]. */
jobject lc_ref_new(JNIEnv *jni, jobject object);
jweak lc_ref_new_weak(JNIEnv *jni, jobject object);

/* Like DeleteGlobalRef() or DeleteWeakGlobalRef(). Context: [attach] [java] [writer]. */
void lc_ref_delete(JNIEnv *jni, jobject ref);

/* Delete all that there are. Context: a thread of ours, when nobody uses them. */
void lc_refs_delete_all(JNIEnv *jni);

#endif
