/* span/jdk.h - what of a JDK spans need, beside the classes of streams (classfile/span_rewrite.h). */
#ifndef LC_SPAN_JDK_H
#define LC_SPAN_JDK_H

#include <jni.h>

/*
 * NULL, or why tasks cannot be recorded on this JDK: a line that lives on. Leaves no exception pending.
 * Context: [attach].
 */
const char *lc_span_tasks_mismatch(JNIEnv *jni);

#endif
