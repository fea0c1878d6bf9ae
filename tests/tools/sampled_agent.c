/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/tools/sampled_agent.c - another agent that has the JVM's sampled allocations, and tags, for
 * itself.
 *
 * It says on stderr at its end whether it got samples.
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Atomic int samples;

static void JNICALL on_sampled(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object,
                               jclass class, jlong size)
{
	(*ti)->SetTag(ti, object, atomic_fetch_add(&samples, 1) + 1);
}

static void JNICALL on_end(jvmtiEnv *ti, JNIEnv *jni)
{
	fprintf(stderr, "sampled_agent: %s\n", atomic_load(&samples) ? "samples" : "no samples");
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEventCallbacks callbacks;
	jvmtiCapabilities wanted;
	jvmtiEnv *ti;

	memset(&wanted, 0, sizeof(wanted));
	memset(&callbacks, 0, sizeof(callbacks));
	wanted.can_generate_sampled_object_alloc_events = 1;
	wanted.can_tag_objects = 1;
	callbacks.SampledObjectAlloc = on_sampled;
	callbacks.VMDeath = on_end;
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) != JNI_OK)
		return JNI_ERR;
	if ((*ti)->AddCapabilities(ti, &wanted) ||
	    (*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks)))
		return JNI_ERR;
	(*ti)->SetHeapSamplingInterval(ti, 16384);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
	return (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
	                                       NULL)
	           ? JNI_ERR
	           : JNI_OK;
}
