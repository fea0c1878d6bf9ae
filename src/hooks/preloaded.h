/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/preloaded.h - finds out which classes that the JVM loaded before the agent need no hooks,
 * and makes the method IDs of all classes.
 *
 * To transform a class costs the JVM about 0.1 ms, even if nothing changes. So this module reads
 * the class files of the JDK's classes in the JDK's image instead. A file counts only if its
 * methods have the lengths of the loaded class's methods: the class may be a patched one, or
 * another agent may have changed it.
 */
#ifndef LC_HOOKS_PRELOADED_H
#define LC_HOOKS_PRELOADED_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/span/tasks/span_classes.h"

/*
 * Map the image of this JDK. Without a readable image, each class must be transformed. The image
 * stays mapped. Context: [attach].
 */
void lc_preloaded_init(void);

/*
 * The file of `class`, a class of the boot loader, by its signature, "Ljava/lang/String;". Returns
 * false if the image lacks it; else out->data lies in the image. Context: [java].
 */
bool lc_preloaded_file(const char *signature, jclass class, struct lc_class_file *out);

/* The file in the image of a class "java/lang/String". Context: any but [signal]. */
bool lc_preloaded_image_file(const char *name, const uint8_t **data, size_t *len);

/*
 * The image was read for now. Its pages count as the process's memory, and the kernel maps 16 for
 * each one that is read. So give them up, at most once a second, if any were read since the last
 * time. Context: [attach] [writer].
 */
void lc_preloaded_rest(void);

/*
 * May the methods of the loaded class have other lengths than those that lc_rewrite_look() summed
 * in `code_sum`? Context: [java].
 */
bool lc_preloaded_differs(jclass class, uint64_t code_sum);

/*
 * Put off the class until its ClassPrepare: JVMTI gives no lengths of methods before. Returns false
 * if the class may be prepared, or without memory. Context: [attach].
 */
bool lc_preloaded_put_off(jclass class, const char *signature);
bool lc_preloaded_any(void); /* Is any class put off? Context: any. */

/* Was the class put off? This takes it off the list. Context: [java]. */
bool lc_preloaded_take(const char *signature);

/* Make the method IDs of all loaded classes, since AsyncGetCallTrace cannot. [attach] */
void lc_preloaded_make_method_ids(JNIEnv *jni);

#endif
