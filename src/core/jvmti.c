/* SPDX-License-Identifier: Apache-2.0 */
/* core/jvmti.c - keeps the agent's jvmtiEnv. */
#include "src/core/jvmti.h"

#include <stddef.h>

#include "src/core/reset.h"

static LC_KEPT jvmtiEnv *of_process = NULL; /* the one that was ever made */

/* Written once by lc_jvmti_set(), before there are threads of ours or hooks that read it. */
static jvmtiEnv *env;

void lc_jvmti_set(jvmtiEnv *jvmti)
{
	env = jvmti;
}

jvmtiEnv *lc_jvmti_of(JavaVM *vm)
{
	if (!of_process && (*vm)->GetEnv(vm, (void **)&of_process, JVMTI_VERSION_11))
		of_process = NULL;
	return of_process;
}

void lc_jvmti_rest(void)
{
	jvmtiCapabilities all;

	(*env)->SetEventCallbacks(env, NULL, 0);
	if (!(*env)->GetCapabilities(env, &all))
		(*env)->RelinquishCapabilities(env, &all);
}

jvmtiEnv *lc_jvmti(void)
{
	return env;
}

static _Thread_local bool retransforms __attribute__((tls_model("initial-exec")));

jvmtiError lc_jvmti_retransform(jint len, const jclass *classes)
{
	jvmtiError err;

	retransforms = true;
	err = (*env)->RetransformClasses(env, len, classes);
	retransforms = false;
	return err;
}

bool lc_jvmti_retransforms(void)
{
	return retransforms;
}

enum { LOCAL_REFERENCES = 65536 }; /* as many as HotSpot allows to be announced */

jclass *lc_jvmti_loaded(JNIEnv *jni, jint *len)
{
	jclass *loaded = NULL;

	*len = 0;
	if ((*jni)->PushLocalFrame(jni, LOCAL_REFERENCES)) {
		(*jni)->ExceptionClear(jni);
		return NULL;
	}
	if (!(*env)->GetLoadedClasses(env, len, &loaded))
		return loaded;
	(*jni)->PopLocalFrame(jni, NULL);
	return NULL;
}

void lc_jvmti_loaded_end(JNIEnv *jni, jclass *loaded)
{
	(*env)->Deallocate(env, (unsigned char *)loaded);
	(*jni)->PopLocalFrame(jni, NULL);
}
