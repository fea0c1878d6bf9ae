/* SPDX-License-Identifier: Apache-2.0 */
/* hooks/retry.h - transforms the classes that had to wait for a running hot method to return. */
#ifndef LC_HOOKS_RETRY_H
#define LC_HOOKS_RETRY_H

#include <jni.h>
#include <stdbool.h>

#include "src/hooks/batches.h"

/*
 * Transform the classes, except for those that a hot method runs. The list, which malloc() made,
 * and its references, which lc_ref_new() made, belong to this module from now on: it needs no
 * memory to keep the classes that wait. Called once in a recording. Context: a thread of ours.
 */
void lc_retry_transform(JNIEnv *jni, jclass *classes, jint len);

/*
 * Transform these classes, which are listed in the same way, besides those that wait; what has to
 * wait is tried several times. Context: a thread of ours that may wait, one at a time.
 */
void lc_retry_add(JNIEnv *jni, jclass *classes, jint len);

/* Are there classes, and is it time to try again? Context: [writer], or a thread of ours. */
bool lc_retry_due(void);

/* Transform the classes whose hot methods have returned. Context: a thread of ours that may wait,
 * one at a time. */
void lc_retry_again(JNIEnv *jni);

void lc_retry_stats(struct lc_batches_stats *out); /* Context: any. */

#endif
