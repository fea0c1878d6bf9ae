/* uses: src/core/refs.c src/span/tasks/task_class.c src/core/jvmti.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_span_jdk.c - checks that JDKs without the methods that tasks need are recognised, against a
 * JVM made up here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "src/classfile/span_rewrite.h"
#include "src/core/epoch.h"
#include "src/core/path.h"
#include "src/jvm/layout/collector.h"
#include "src/span/span.h"
#include "src/span/tasks/span_classes.h"
#include "src/span/tasks/task.h"

/* Functions of other parts that the classes of tasks call; none does anything here. */

uint32_t lc_epoch_gc_sequence(void)
{
	return 0;
}

bool lc_collector_unloads_while_running(void)
{
	return false;
}

bool lc_span_classes_is_task(JNIEnv *jni, jclass class)
{
	return true;
}

bool lc_span_streams(void)
{
	return false;
}

bool lc_span_is_wrapper(const char *name, size_t len)
{
	return false;
}

uint32_t lc_site_intern(const char *signature, uint64_t class_word, uint32_t path)
{
	return 0;
}

static bool has_class, has_method, pending;
static int references;

static jclass JNICALL find_class(JNIEnv *jni, const char *name)
{
	assert_string_equal(name, "java/lang/Class");
	pending = !has_class;
	references += has_class;
	return has_class ? (jclass)&references : NULL;
}

static jmethodID JNICALL get_method(JNIEnv *jni, jclass class, const char *name,
                                    const char *signature)
{
	assert_non_null(class);
	assert_string_equal(name, "isHidden");
	assert_string_equal(signature, "()Z");
	pending = !has_method;
	return has_method ? (jmethodID)&references : NULL;
}

static jboolean JNICALL exception_check(JNIEnv *jni)
{
	return pending ? JNI_TRUE : JNI_FALSE;
}

static void JNICALL exception_clear(JNIEnv *jni)
{
	pending = false;
}

static void JNICALL delete_local_ref(JNIEnv *jni, jobject o)
{
	assert_non_null(o);
	references--;
}

static struct JNINativeInterface_ functions = {
	.FindClass = find_class,
	.GetMethodID = get_method,
	.ExceptionCheck = exception_check,
	.ExceptionClear = exception_clear,
	.DeleteLocalRef = delete_local_ref,
};
static JNIEnv jni = &functions;

static const char *ask(bool class, bool method)
{
	const char *why;

	has_class = class;
	has_method = method;
	why = lc_task_mismatch(&jni);
	assert_false(pending);
	assert_int_equal(references, 0);
	return why;
}

static void a_jdk_with_hidden_classes_will_do(void **state)
{
	assert_null(ask(true, true));
}

static void an_older_one_is_told_and_no_exception_stays(void **state)
{
	assert_non_null(strstr(ask(true, false), "Class.isHidden()"));
	assert_non_null(ask(false, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jdk_with_hidden_classes_will_do),
		cmocka_unit_test(an_older_one_is_told_and_no_exception_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
