/* SPDX-License-Identifier: Apache-2.0 */
/* hooks/redefined.h - keeps versions of methods apart when somebody redefines their class. */
#ifndef LC_HOOKS_REDEFINED_H
#define LC_HOOKS_REDEFINED_H

#include <jni.h>

/*
 * The class that ClassFileLoadHook reports as redefined, or NULL if it does not have this name. If
 * an agent in Java loads classes while it transforms a redefined one, the JVM reports the redefined
 * class for all of them. Context: [java], in ClassFileLoadHook.
 */
jclass lc_redefined_class(jclass redefined, const char *name);

/*
 * The class is about to be redefined or retransformed, by any agent. Context: [java], in
 * ClassFileLoadHook.
 */
void lc_redefined_begin(JNIEnv *jni, jclass class);

#endif
