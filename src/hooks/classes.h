/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/classes.h - declares what the agent does with classes: it puts hooks in their bytecode and
 * makes IDs of their methods.
 */
#ifndef LC_HOOKS_CLASSES_H
#define LC_HOOKS_CLASSES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/rewrite.h"

struct lc_options;

/*
 * Objects of these classes are watched: lc_rewrite_options says how they are named. To be called
 * before lc_classes_define_hook(), and `names` to be kept. Context: [attach].
 */
void lc_classes_watch(const char *const *names, size_t len);

/*
 * Define the hook class in java.base, made for the heap of this JVM. `ordered`: objects move while
 * the program runs, and are followed. Returns it as a global reference, or NULL. Context:
 * [attach], from VMInit on.
 */
jclass lc_classes_define_hook(JNIEnv *jni, const struct lc_options *options, bool ordered);

/* How classes are rewritten at present. Context: any but [signal]; hook class defined. */
struct lc_rewrite_options lc_classes_options(void);

/* Has the class, which may be NULL, been initialized? Context: any but [signal]. */
bool lc_classes_initialized(jclass class);

/*
 * Do hooks tell of every large array? If not, those of lc_estimate_path_unhooked() are to be
 * sampled. Context: [attach], after the hook class is defined.
 */
bool lc_classes_exact(void);

/*
 * Rewrite the classes that are loaded already; `at_start`: in VMInit. Context: [attach]; hook class
 * defined.
 */
void lc_classes_retransform(JNIEnv *jni, bool at_start);

/* JVMTI's ClassFileLoadHook and ClassPrepare. Context: [java]. */
void JNICALL lc_classes_file_load_hook(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined,
                                       jobject loader, const char *name, jobject domain, jint len,
                                       const unsigned char *data, jint *new_len,
                                       unsigned char **new_data);
void JNICALL lc_classes_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class);

/* From now on class files stay as they are. Context: a thread of ours. */
void lc_classes_leave(void);

#endif
