/* uses: src/agent/holder_place.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_holder_place.c - a JVM that keeps addresses beside the tags that its heap walks tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/agent/holder_place.h"

enum { MADE_MAX = 80, FRAME = 64, MIDDLE = 32 };

static struct made {
	struct made *elements[96];
	jint len;
} made[MADE_MAX];

static size_t made_len;
static int object_at, referrer_at; /* words from the tag; 0: the address is not there */

static jclass JNICALL find_class(JNIEnv *jni, const char *name)
{
	(void)jni;
	(void)name;
	return (jclass)(void *)&made[MADE_MAX - 1];
}

static jobject JNICALL alloc(JNIEnv *jni, jclass class)
{
	(void)jni;
	(void)class;
	return (jobject)(void *)&made[made_len++];
}

static jobjectArray JNICALL new_array(JNIEnv *jni, jsize len, jclass class, jobject first)
{
	(void)first;
	made[made_len].len = len;
	return (jobjectArray)alloc(jni, class);
}

static void JNICALL set_element(JNIEnv *jni, jobjectArray array, jsize i, jobject element)
{
	(void)jni;
	((struct made *)(void *)array)->elements[i] = (struct made *)(void *)element;
}

static void JNICALL delete_local(JNIEnv *jni, jobject ref)
{
	(void)jni;
	(void)ref;
}

static jboolean JNICALL no_exception(JNIEnv *jni)
{
	(void)jni;
	return JNI_FALSE;
}

/* Tell of the array's elements, and follow them. The words beside tags change with each call. */
static void tell(const jvmtiHeapCallbacks *callbacks, const void *context, struct made *array)
{
	static jlong noise;
	jlong frame[FRAME], referrer_frame[FRAME];

	for (jint i = 0; i < array->len; i++) {
		const jvmtiHeapReferenceInfo info = { .array = { .index = i } };

		if (!array->elements[i])
			continue;
		for (size_t k = 0; k < FRAME; k++)
			frame[k] = referrer_frame[k] = k % 2 ? 8 : noise++;
		frame[MIDDLE] = referrer_frame[MIDDLE] = 0;
		if (object_at)
			frame[MIDDLE + object_at] = (jlong)(intptr_t)array->elements[i];
		if (referrer_at)
			referrer_frame[MIDDLE + referrer_at] = (jlong)(intptr_t)array;
		if (callbacks->heap_reference_callback(
		        JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT, &info, 0, 0, 16, &frame[MIDDLE],
		        &referrer_frame[MIDDLE], -1, (void *)(uintptr_t)context) &
		    JVMTI_VISIT_OBJECTS)
			tell(callbacks, context, array->elements[i]);
	}
}

static jvmtiError JNICALL follow(jvmtiEnv *env, jint filter, jclass class, jobject from,
                                 const jvmtiHeapCallbacks *callbacks, const void *context)
{
	(void)env;
	(void)filter;
	(void)class;
	tell(callbacks, context, (struct made *)(void *)from);
	return JVMTI_ERROR_NONE;
}

static jint JNICALL push(JNIEnv *jni, jint references)
{
	(void)jni;
	(void)references;
	return 0;
}

static jobject JNICALL pop(JNIEnv *jni, jobject result)
{
	(void)jni;
	return result;
}

static bool find_place(int object, int referrer, struct lc_holder_place *out)
{
	static const jvmtiInterface_1 jvmti_table = { .FollowReferences = follow };
	static const struct JNINativeInterface_ jni_table = {
		.FindClass = find_class,
		.AllocObject = alloc,
		.NewObjectArray = new_array,
		.SetObjectArrayElement = set_element,
		.DeleteLocalRef = delete_local,
		.ExceptionCheck = no_exception,
		.PushLocalFrame = push,
		.PopLocalFrame = pop,
	};
	jvmtiEnv env = &jvmti_table;
	JNIEnv java = &jni_table;

	memset(made, 0, sizeof(made));
	made_len = 0;
	object_at = object;
	referrer_at = referrer;
	return lc_holder_place_find(&env, &java, out);
}

static void addresses_are_found_beside_tags(void **state)
{
	static const int places[][2] = { { -2, -1 }, { 3, 5 }, { -8, 8 }, { 1, 1 } };
	struct lc_holder_place place;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		assert_true(find_place(places[i][0], places[i][1], &place));
		assert_int_equal(place.object, places[i][0]);
		assert_int_equal(place.referrer, places[i][1]);
	}
}

static void a_jvm_without_addresses_beside_tags_is_refused(void **state)
{
	static const int places[][2] = { { 0, 0 }, { -2, 0 }, { 0, -1 }, { 9, -1 }, { -2, -9 } };
	struct lc_holder_place place;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		assert_false(find_place(places[i][0], places[i][1], &place));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_found_beside_tags),
		cmocka_unit_test(a_jvm_without_addresses_beside_tags_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
