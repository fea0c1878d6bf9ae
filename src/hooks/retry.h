/*
 * hooks/retry.h - keeps the classes that wait to be transformed until no hot method runs them.
 */
#ifndef LC_HOOKS_RETRY_H
#define LC_HOOKS_RETRY_H

#include <jni.h>
#include <stdbool.h>

#include "src/hooks/batches.h"

/* Transform the classes, and keep those that a hot method runs. Context: a thread of ours. */
void lc_retry_transform(JNIEnv *jni, jclass *classes, jint len);

/* Are there classes, and is it time to look again? Context: [writer], or as below. */
bool lc_retry_due(void);

/* Transform what no hot method runs any more. Context: a thread of ours that may wait, one at a
 * time. */
void lc_retry_again(JNIEnv *jni);

void lc_retry_stats(struct lc_batches_stats *out); /* Context: any. */

#endif
