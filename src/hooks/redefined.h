/* hooks/redefined.h - keeps versions of methods apart when somebody redefines their class. */
#ifndef LC_HOOKS_REDEFINED_H
#define LC_HOOKS_REDEFINED_H

#include <jni.h>

/*
 * What ClassFileLoadHook says is being redefined: NULL where that is not the class of this name.
 * Where an agent in Java loads classes while it looks at one that is redefined, the JVM says of
 * those that they are that one. Context: [java], in ClassFileLoadHook.
 */
jclass lc_redefined_class(jclass redefined, const char *name);

/*
 * The class is about to be redefined or retransformed, by whomever. Context: [java], in
 * ClassFileLoadHook.
 */
void lc_redefined_begin(JNIEnv *jni, jclass class);

#endif
