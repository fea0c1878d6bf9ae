/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/span_classes.h - finds the classes that get begins and ends.
 *
 * A class file names its superclass and interfaces, but not their supertypes. If a class has a
 * method that would be hooked in, say, a Runnable, the agent asks the JVM at ClassPrepare, when the
 * supertypes are loaded. The JVM tells classes of one name in two loaders apart, and loads nothing
 * for the answer. If the class is a Runnable, it is transformed again, before its first method
 * runs. A later transformation asks the JVM again.
 */
#ifndef LC_SPAN_TASKS_SPAN_CLASSES_H
#define LC_SPAN_TASKS_SPAN_CLASSES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/span_rewrite.h"

struct lc_class_file {
	const uint8_t *data;
	size_t len;
	const char *name; /* from ClassFileLoadHook; may be NULL */
	jobject loader;   /* NULL: the boot loader */
	jclass redefined; /* NULL: the class is being loaded */
};

/* Find the types that matter among the loaded classes. Context: [attach]. */
void lc_span_classes_start(JNIEnv *jni);

/* Insert begins and ends, like lc_span_rewrite(). Context: [java] (ClassFileLoadHook). */
enum lc_rewrite_status lc_span_classes_rewrite(JNIEnv *jni, const struct lc_class_file *file,
                                               struct lc_rewrite_result *out);

/*
 * Would lc_span_classes_rewrite() insert anything into the loaded class `file->redefined`, if this
 * is its file? Context: [attach].
 */
bool lc_span_classes_look(JNIEnv *jni, const struct lc_class_file *file);

/*
 * The class is loaded, with its supertypes. Returns whether it must be transformed again, since its
 * supertypes make it a class with hooks. Context: [java] (ClassPrepare).
 */
bool lc_span_classes_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jclass class);

/* Are objects of the class tasks? Yes, before lc_span_classes_start(). Context: [java] [hook];
 * slow. */
bool lc_span_classes_is_task(JNIEnv *jni, jclass class);

#endif
