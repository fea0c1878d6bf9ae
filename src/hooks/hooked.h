/* SPDX-License-Identifier: Apache-2.0 */
/* hooks/hooked.h - knows which classes have hooks, and takes the hooks out again. */
#ifndef LC_HOOKS_HOOKED_H
#define LC_HOOKS_HOOKED_H

#include <jni.h>
#include <stddef.h>

/* The class of this name, "java/lang/String", gets hooks (any of that name). Context: [java]. */
void lc_hooked_add(const char *name);

/* A class that wants hooks goes without: note it as a limit. Context: [attach] [java]. */
void lc_hooked_note_no_memory(void);

/*
 * Have the JVM make all classes with hooks anew, without hooks. A class whose hot method does not
 * return keeps its hooks. Returns the number of these, and the signature of one. Takes some seconds
 * at most, unless there are many. Context: a thread of ours.
 */
size_t lc_hooked_undo(JNIEnv *jni, char *one, size_t one_len);

#endif
