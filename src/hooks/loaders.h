/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/loaders.h - knows of which class loaders the classes may call the agent's own.
 *
 * The JVM resolves a call of java.lang.LocusHook in a class through that class's loader, and a
 * loader may have a list of names outside which it finds nothing. A class whose loader does not
 * find the agent's classes keeps its bytecode as it is.
 */
#ifndef LC_HOOKS_LOADERS_H
#define LC_HOOKS_LOADERS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The classes that rewritten code calls, by name with dots: java.lang.LocusHook, and with `spans`
 * java.lang.LocusSpan. Returns 0, or -EIO: then no loader but the boot loader knows them. Context:
 * [attach], when they are defined and before a class is rewritten.
 */
int lc_loaders_init(JNIEnv *jni, bool spans);

/*
 * May a class of this loader (NULL: the boot loader) call the agent's classes? If that is unknown,
 * this asks the loader, which runs the program's code. Context: [java], in ClassFileLoadHook.
 */
bool lc_loaders_know_hooks(JNIEnv *jni, jobject loader);

#endif
