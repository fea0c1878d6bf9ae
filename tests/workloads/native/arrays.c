/* arrays.c - the native methods of LargeArrays: work on a Java array in native code. */
#include <jni.h>
#include <stdlib.h>

JNIEXPORT void JNICALL Java_LargeArrays_regions(JNIEnv *env, jclass class, jbyteArray array)
{
	const jsize len = (*env)->GetArrayLength(env, array);
	static _Thread_local jbyte *memory;

	if (!memory)
		memory = malloc((size_t)len);
	if (!memory)
		return;
	(*env)->GetByteArrayRegion(env, array, 0, len, memory);
	(*env)->SetByteArrayRegion(env, array, 0, len, memory);
}

JNIEXPORT void JNICALL Java_LargeArrays_critical(JNIEnv *env, jclass class, jbyteArray array)
{
	const jsize len = (*env)->GetArrayLength(env, array);
	jbyte *bytes = (*env)->GetPrimitiveArrayCritical(env, array, NULL);

	if (!bytes)
		return;
	for (jsize i = 0; i < len; i++)
		bytes[i] = (jbyte)(bytes[i] + 1);
	(*env)->ReleasePrimitiveArrayCritical(env, array, bytes, 0);
}
