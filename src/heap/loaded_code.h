/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/loaded_code.h - reads the bytecode of the program's methods as the JVM has loaded them, and
 * finds the method that a call in it leads to.
 *
 * So nothing is kept of a class file when a class is loaded, and only methods that matter are read.
 */
#ifndef LC_HEAP_LOADED_CODE_H
#define LC_HEAP_LOADED_CODE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/method_file.h"

/* No class is noted. Context: [attach], before events. */
void lc_loaded_code_begin(void);

/*
 * Note a loaded class by its methods; nothing else is asked now. Without room, count the loss.
 * Context: [attach] [java] (ClassPrepare).
 */
void lc_loaded_code_note(const jmethodID *methods, jint len);

/*
 * Read the newest version of a method. Returns false where that has no bytecode, its class is
 * gone, or there is no memory; the caller closes *out otherwise. Context: [writer]; some 20 us.
 */
bool lc_loaded_code_open(JNIEnv *jni, jmethodID method, struct lc_method_file *out);

/*
 * No method will be opened for some time: forget the constant pools of the classes of those that
 * were. Context: [writer].
 */
void lc_loaded_code_rest(JNIEnv *jni);

/*
 * The method of this name and descriptor ("com.acme.Spectrum", "<init>", "([D)V") in the class of
 * that name that a method of `caller`'s class would call; NULL where there is none, or several
 * classes of that name of which none has the caller's loader. Context: [writer].
 */
jmethodID lc_loaded_code_find(JNIEnv *jni, jmethodID caller, const char *class_name,
                              const char *name, const char *descriptor);

/* That class, a local reference; NULL likewise. Context: [writer]. */
jclass lc_loaded_code_class(JNIEnv *jni, jmethodID caller, const char *class_name);

/*
 * Call `is` with each class of this signature that has a method ("Lcom/acme/Spectrum;"), until it
 * returns true. Context: [writer].
 */
void lc_loaded_code_each(JNIEnv *jni, const char *signature,
                         bool (*is)(JNIEnv *jni, jclass class, void *user), void *user);

#endif
