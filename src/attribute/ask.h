/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/ask.h - has the attribution thread call a function, for another thread. */
#ifndef LC_ATTRIBUTE_ASK_H
#define LC_ATTRIBUTE_ASK_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* Context: [writer]. */
typedef void lc_ask_fn(JNIEnv *jni, void *context);

/*
 * Have the attribution thread note what is live, and call `f`. Returns whether that is done. False
 * after `wait_ns`: if `f` has not begun by then, it never does; else it may run on, so `context`
 * must stay as it is. False at once while an earlier call runs on. Context: a thread of ours, or
 * VMDeath, while a recording runs.
 */
bool lc_ask(lc_ask_fn *f, void *context, uint64_t wait_ns);

/* Has somebody asked? Context: [writer]. */
bool lc_ask_waits(void);

/* Call the function, if somebody has asked. Context: [writer]. */
void lc_ask_answer(JNIEnv *jni);

#endif
