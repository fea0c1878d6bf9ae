/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_names.h - names classes, fields and methods of a heap walk.
 *
 * JVMTI numbers the fields of a class in this order: those of all interfaces that the class or a
 * superclass implements, each interface once; those of java.lang.Object, and so on down to those of
 * the class itself. Static fields and fields without a reference have numbers, too.
 */
#ifndef LC_AGENT_HOLDER_NAMES_H
#define LC_AGENT_HOLDER_NAMES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The name of the class, "java.util.HashMap$Node"; "(unknown class)" if the JVM does not tell it.
 * Context: [java].
 */
void lc_holder_names_class(jvmtiEnv *jvmti, jclass class, char *out, size_t out_len);

/*
 * The name of the field with that number, behind its declaring class: "java.util.HashMap.table".
 * Context: [java].
 */
void lc_holder_names_field(jvmtiEnv *jvmti, JNIEnv *jni, jclass class, uint32_t number, char *out,
                           size_t out_len);

/*
 * The number of the field `name` that superclass `declarer` declares, in `class`. Returns whether
 * there is one. Context: [java].
 */
bool lc_holder_names_number(jvmtiEnv *jvmti, JNIEnv *jni, jclass class, jclass declarer,
                            const char *name, uint32_t *number);

/* "com.acme.Main.run", or "(unknown method)". Context: [java]. */
void lc_holder_names_method(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method, char *out,
                            size_t out_len);

#endif
