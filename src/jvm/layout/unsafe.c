/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/unsafe.c - calls jdk.internal.misc.Unsafe. */
#include "src/jvm/layout/unsafe.h"

#include <stddef.h>

static void clear(JNIEnv *jni)
{
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
}

bool lc_unsafe_find(JNIEnv *jni, struct lc_unsafe *out)
{
	jmethodID get = NULL;

	*out = (struct lc_unsafe){ .class = (*jni)->FindClass(jni, "jdk/internal/misc/Unsafe") };
	if (out->class)
		get = (*jni)->GetStaticMethodID(jni, out->class, "getUnsafe",
		                                "()Ljdk/internal/misc/Unsafe;");
	if (get)
		out->object = (*jni)->CallStaticObjectMethod(jni, out->class, get);
	clear(jni);
	if (out->object)
		out->offset_of = (*jni)->GetMethodID(jni, out->class, "objectFieldOffset",
		                                     "(Ljava/lang/Class;Ljava/lang/String;)J");
	clear(jni);
	return out->offset_of;
}

void lc_unsafe_end(JNIEnv *jni, const struct lc_unsafe *u)
{
	if (u->object)
		(*jni)->DeleteLocalRef(jni, u->object);
	if (u->class)
		(*jni)->DeleteLocalRef(jni, u->class);
}

int64_t lc_unsafe_offset(JNIEnv *jni, jobject unsafe, jmethodID offset_of, jclass class,
                         const char *name)
{
	jstring text = (*jni)->NewStringUTF(jni, name);
	int64_t offset = -1;

	if (text) {
		offset = (*jni)->CallLongMethod(jni, unsafe, offset_of, class, text);
		if ((*jni)->ExceptionCheck(jni))
			offset = -1;
	}
	clear(jni);
	if (text)
		(*jni)->DeleteLocalRef(jni, text);
	return offset;
}

uint32_t lc_unsafe_reference_bytes(JNIEnv *jni, const struct lc_unsafe *u)
{
	const jfieldID scale =
	    (*jni)->GetStaticFieldID(jni, u->class, "ARRAY_OBJECT_INDEX_SCALE", "I");
	const jint bytes = scale ? (*jni)->GetStaticIntField(jni, u->class, scale) : 0;

	clear(jni);
	return bytes > 0 ? (uint32_t)bytes : 0;
}
