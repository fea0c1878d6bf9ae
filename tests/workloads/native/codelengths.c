/* codelengths.c - writes "SIGNATURE BYTES" for each loaded class, the bytes of its methods' code.
 */
#include <jvmti.h>
#include <stdio.h>

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *path, void *unused)
{
	jvmtiEnv *jvmti = NULL;
	JNIEnv *jni = NULL;
	jclass *classes = NULL;
	FILE *out = fopen(path, "w");
	jint len = 0;

	if (!out || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) ||
	    (*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_8) ||
	    (*jvmti)->GetLoadedClasses(jvmti, &len, &classes))
		return JNI_ERR;
	for (jint i = 0; i < len; i++) {
		jmethodID *methods = NULL;
		jint methods_len = 0;
		char *name = NULL;
		long bytes = 0;

		if (!(*jvmti)->GetClassMethods(jvmti, classes[i], &methods_len, &methods) &&
		    !(*jvmti)->GetClassSignature(jvmti, classes[i], &name, NULL)) {
			for (jint k = 0; k < methods_len; k++) {
				jlocation begin, end = -1;

				if (!(*jvmti)->GetMethodLocation(jvmti, methods[k], &begin, &end))
					bytes += (long)end + 1;
			}
			fprintf(out, "%s %ld\n", name, bytes);
		}
		(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
	(*jvmti)->DisposeEnvironment(jvmti);
	return fclose(out) ? JNI_ERR : JNI_OK;
}
