/* span/jdk.c - see jdk.h. */
#include "src/span/jdk.h"

#include <stddef.h>

const char *lc_span_tasks_mismatch(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Class");
	/* Lambda expressions have hidden classes since it exists; LocusSpan.run() and call() ask for it. */
	jmethodID is_hidden = class ? (*jni)->GetMethodID(jni, class, "isHidden", "()Z") : NULL;

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return is_hidden
	           ? NULL
	           : "this JDK has no Class.isHidden(), by which lambda expressions are known";
}
