/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/track_hot.h - tracks the classes that --track hot has chosen (attribute/hot_classes.h).
 *
 * From the switch on, class files that the JVM loads get hooks for these classes, too. A class file
 * that was read before the switch may belong to a class that is not in the JVM's list yet. So the
 * switch waits for half a second before it looks at the loaded classes, and transforms those that
 * may make such objects. The line on standard error comes when the hooks are in: each object that
 * is made after the line is counted, but for those of classes that wait (hooks/retry.h).
 *
 * Until then an object is counted where its hook is in, and missing elsewhere. Samples of
 * allocations no longer count an object of the class, so none is counted twice.
 */
#ifndef LC_HOOKS_TRACK_HOT_H
#define LC_HOOKS_TRACK_HOT_H

#include <jni.h>
#include <stdbool.h>

/* Has --track hot chosen classes that are not tracked yet? Context: [writer], or a thread of ours.
 */
bool lc_track_hot_due(void);

/* Track them. Context: a thread of ours that may wait, one at a time. */
void lc_track_hot_switch(JNIEnv *jni);

#endif
