/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/unchanged.h - names the loaded classes that the JVM does not let change, while classes are
 * tracked: the tracked objects that they make have no line.
 */
#ifndef LC_HOOKS_UNCHANGED_H
#define LC_HOOKS_UNCHANGED_H

#include <jvmti.h>

/*
 * The JVM cannot change the class, or has refused to. Arrays, parts of the JVM, and the classes
 * that the JDK generates for lambdas and the like are passed over: they make no objects of the
 * program. Does nothing if no class is tracked. Context: a thread of ours, one at a time.
 */
void lc_unchanged_note(jclass class);

/* Say how many there are, and name some; nothing if there are none. Context: as above. */
void lc_unchanged_say(void);

#endif
