/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/lost_hooks.h - notices classes from which another agent has removed the hooks.
 *
 * The JVM hands a class file from one agent to the next. A later agent may ignore the file, and
 * return one that it has made from the original. So this module reads the code that the JVM has in
 * the end: if none of it calls the agent's classes, the hooks are lost.
 *
 * It checks classes that anybody but Locus redefines. It checks newly loaded classes if an agent in
 * Java is in the process (java.lang.instrument). A class that keeps a part of its hooks counts as
 * one that has them.
 */
#ifndef LC_HOOKS_LOST_HOOKS_H
#define LC_HOOKS_LOST_HOOKS_H

#include <jni.h>

#include "src/core/counters.h"

/*
 * The agent gives the JVM a class file with hooks, for the class `redefined`. NULL: for the class
 * of this name and loader, which is being loaded. Context: [java], in ClassFileLoadHook.
 */
void lc_lost_hooks_hooked(JNIEnv *jni, jclass redefined, const char *name, jobject loader);

/* A class is prepared: its code can be checked. Context: [java]. */
void lc_lost_hooks_prepared(JNIEnv *jni, jclass class);

/*
 * Check the classes that were hooked since the last call, and report the first that has lost its
 * hooks. Context: [attach] [writer].
 */
void lc_lost_hooks_look(JNIEnv *jni);

#endif
