/*
 * hooks/preloaded.h - tells which of the classes that the JVM has loaded before the agent need no
 * hook, and makes the method IDs of all.
 *
 * To transform a class again costs the JVM about 0.1 ms, whatever comes of it. The class file that
 * a class of the JDK was loaded from is read in the JDK's image instead. It is believed only if its
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
 * Map the image of this JDK. Where there is none that can be read, each class is to be transformed.
 * It stays mapped. Context: [attach].
 */
void lc_preloaded_init(void);

/*
 * The file of `class`, a class of the boot loader, by its signature, "Ljava/lang/String;". Returns
 * false where it is in no image; else out->data lies in the image. Context: [java].
 */
bool lc_preloaded_file(const char *signature, jclass class, struct lc_class_file *out);

/* The file in the image of a class "java/lang/String". Context: any but [signal]. */
bool lc_preloaded_image_file(const char *name, const uint8_t **data, size_t *len);

/*
 * May the methods of the loaded class have other lengths than those whose `code_sum`
 * lc_rewrite_look() has told? Context: [java].
 */
bool lc_preloaded_differs(jclass class, uint64_t code_sum);

/*
 * Leave the class to its ClassPrepare: of a class that is not prepared JVMTI does not tell how long
 * its methods are. Returns false if that may be over, or without memory. Context: [attach].
 */
bool lc_preloaded_put_off(jclass class, const char *signature);
bool lc_preloaded_any(void); /* Is any class put off? Context: any. */

/* Was the class put off? It no longer is. Context: [java]. */
bool lc_preloaded_take(const char *signature);

/* Make the method IDs of all loaded classes, which AsyncGetCallTrace cannot. [attach] */
void lc_preloaded_make_method_ids(JNIEnv *jni);

#endif
