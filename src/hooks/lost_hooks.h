/*
 * hooks/lost_hooks.h - notices classes from which another agent has taken the hooks.
 *
 * The JVM hands a class file from one agent to the next. One that comes later may ignore what it is
 * handed, and return a file that it has made from the original. So the code that the JVM has in the
 * end is looked at: where none of it calls the agent's classes, the hooks are gone.
 *
 * A class that is redefined, by whomever but Locus, is looked at; one that is loaded, where an
 * agent in Java is in the process (java.lang.instrument). A class that keeps a part of its hooks
 * counts as one that has them.
 */
#ifndef LC_HOOKS_LOST_HOOKS_H
#define LC_HOOKS_LOST_HOOKS_H

#include <jni.h>

#include "src/core/counters.h"

/*
 * The agent gives the JVM a class file with hooks: of a class that is redefined, or of one of this
 * name and loader that is being loaded, where `redefined` is NULL. Context: [java], in
 * ClassFileLoadHook.
 */
void lc_lost_hooks_hooked(JNIEnv *jni, jclass redefined, const char *name, jobject loader);

/* A class is prepared: its code can be looked at. Context: [java]. */
void lc_lost_hooks_prepared(JNIEnv *jni, jclass class);

/*
 * Look at the classes that were hooked since, and say the first that has lost its hooks. Context:
 * [attach] [writer].
 */
void lc_lost_hooks_look(JNIEnv *jni);

void lc_lost_hooks_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
