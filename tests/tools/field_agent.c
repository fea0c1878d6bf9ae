/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/tools/field_agent.c - runs src/jvm/layout/field.c alone, as a JVMTI agent.
 *
 * Natives of class FieldCheck:
 *   loaded()              all classes that are loaded
 *   find(class, offset)   what lies there in an object of the class, or null
 *   offset(class, name)   the field's offset times 16, plus its width; or -1
 */
#include <jvmti.h>
#include <stdio.h>
#include <string.h>

#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/vmstructs.h"

static jvmtiEnv *ti;

JNIEXPORT jobjectArray JNICALL Java_FieldCheck_loaded(JNIEnv *jni, jclass self);
JNIEXPORT jstring JNICALL Java_FieldCheck_find(JNIEnv *jni, jclass self, jclass class,
                                               jlong offset);
JNIEXPORT jlong JNICALL Java_FieldCheck_offset(JNIEnv *jni, jclass self, jclass class,
                                               jstring name);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved);

jobjectArray Java_FieldCheck_loaded(JNIEnv *jni, jclass self)
{
	jclass *loaded = NULL;
	jobjectArray all;
	jint len = 0;

	if ((*ti)->GetLoadedClasses(ti, &len, &loaded))
		return NULL;
	all = (*jni)->NewObjectArray(jni, len, (*jni)->FindClass(jni, "java/lang/Class"), NULL);
	for (jint i = 0; i < len; i++)
		(*jni)->SetObjectArrayElement(jni, all, i, loaded[i]);
	(*ti)->Deallocate(ti, (unsigned char *)loaded);
	return all;
}

/* The Klass * in a mirror. */
static uint64_t klass_of(jclass class)
{
	const int32_t *at = lc_vm_static("java_lang_Class", "_klass_offset");
	uint64_t klass, mirror;
	uint32_t before;

	do {
		before = lc_epoch_gc_sequence();
		mirror = *(volatile uint64_t *)((uintptr_t) class & ~(uintptr_t)7);
		klass = *(volatile uint64_t *)(uintptr_t)(mirror + (uint64_t)*at);
	} while (before != lc_epoch_gc_sequence() || lc_epoch_gc_sequence_moving(before));
	return klass;
}

jstring Java_FieldCheck_find(JNIEnv *jni, jclass self, jclass class, jlong offset)
{
	struct lc_field f;

	if (lc_field_find(jni, klass_of(class), 0, (uint64_t)offset, &f))
		return NULL;
	return (*jni)->NewStringUTF(jni, f.name);
}

jlong Java_FieldCheck_offset(JNIEnv *jni, jclass self, jclass class, jstring name)
{
	const char *text = (*jni)->GetStringUTFChars(jni, name, NULL);
	uint64_t offset;
	uint8_t bytes;
	jlong result = -1;

	if (!lc_field_offset(jni, class, text, &offset, &bytes))
		result = (jlong)(offset * 16 + bytes);
	(*jni)->ReleaseStringUTFChars(jni, name, text);
	return result;
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	lc_jvmti_set(jvmti);
	if (lc_epoch_init() || lc_layout_find(jni) ||
	    lc_field_init(jni, &(struct lc_field_classes){ 0 }))
		fprintf(stderr, "field_agent: cannot start\n");
}

static void JNICALL on_gc_start(jvmtiEnv *jvmti)
{
	lc_epoch_enter_gc();
}

static void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
	lc_epoch_leave_gc();
}

jint Agent_OnLoad(JavaVM *vm, char *text, void *reserved)
{
	jvmtiCapabilities wanted = { .can_generate_garbage_collection_events = 1 };
	jvmtiEventCallbacks callbacks = { .VMInit = on_init,
		                          .GarbageCollectionStart = on_gc_start,
		                          .GarbageCollectionFinish = on_gc_finish };
	static const jvmtiEvent events[] = { JVMTI_EVENT_VM_INIT,
		                             JVMTI_EVENT_GARBAGE_COLLECTION_START,
		                             JVMTI_EVENT_GARBAGE_COLLECTION_FINISH };

	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) ||
	    (*ti)->AddCapabilities(ti, &wanted) ||
	    (*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks)))
		return JNI_ERR;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[i], NULL);
	return JNI_OK;
}
