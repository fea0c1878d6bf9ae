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
 * Have the JVM make all of them anew, without the agent's ClassFileLoadHook changing anything.
 * Where a hot method does not return its class keeps its hooks. Returns how many do, and the
 * signature of one. Takes some seconds at most, if they are not many. Context: a thread of ours.
 */
size_t lc_hooked_undo(JNIEnv *jni, char *one, size_t one_len);

#endif
