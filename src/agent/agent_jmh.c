/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_jmh.c - has the natives of src/java/jmh/locusjmh/Counts.java, by which a JMH
 * benchmark reads what was allocated so far, and marks where its measured iterations begin and end.
 *
 * The JVM finds the natives of a class in the agents' libraries too, by name: nothing is loaded or
 * registered, and without the agent the call fails with an UnsatisfiedLinkError.
 */
#include <jni.h>

#include "src/agent/agent_end.h"
#include "src/agent/marks.h"
#include "src/heap/hook.h"
#include "src/heap/totals.h"

/* The order of Counts.java. */
enum { OBJECTS, BYTES, MISSED, LEAST_BYTES, COUNT };

JNIEXPORT jboolean JNICALL Java_locusjmh_Counts_read(JNIEnv *jni, jclass type, jlongArray out);
JNIEXPORT jboolean JNICALL Java_locusjmh_Counts_mark(JNIEnv *jni, jclass type, jstring name);

/*
 * Fill `out` (of four): objects and bytes counted so far, objects that could not be counted, and
 * the size from which on objects are counted. Returns whether a recording is running. [java]
 */
JNIEXPORT jboolean JNICALL Java_locusjmh_Counts_read(JNIEnv *jni, jclass type, jlongArray out)
{
	struct lc_totals totals;
	jlong values[COUNT];

	if (!lc_agent_records())
		return JNI_FALSE;
	lc_totals_take(&totals);
	values[OBJECTS] = (jlong)totals.objects;
	values[BYTES] = (jlong)totals.bytes;
	values[MISSED] = (jlong)lc_hook_missed();
	values[LEAST_BYTES] = (jlong)lc_hook_min_size_bytes();
	(*jni)->SetLongArrayRegion(jni, out, 0, COUNT, values);
	return JNI_TRUE;
}

/* Returns whether the mark is in the profile. [java] */
JNIEXPORT jboolean JNICALL Java_locusjmh_Counts_mark(JNIEnv *jni, jclass type, jstring name)
{
	return lc_marks_add_string(jni, name);
}
