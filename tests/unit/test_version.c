/* uses: src/core/version.c src/core/path.c src/core/path_name.c src/base/limit.c src/base/say.c src/core/path_intern.c src/core/recursion.c src/core/jvmti.c src/core/own.c src/core/memory.c src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_version.c - checks that a frame keeps the lines of the version that it was in, against a JVM
 * made up here: a method's ID is the address of a cell, which holds the number of the newest
 * version, and a version's first line is that number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/version.h"

enum { METHODS = 16, LONG = 5000 /* versions from here on have other bytecode */ };

static uint64_t cells[METHODS];
static unsigned used;
static JNIEnv jni;

static uint64_t method_now(uint64_t id)
{
	return *(const uint64_t *)(uintptr_t)id; /* NOLINT */
}

static bool leads_to(uint64_t id, uint64_t version)
{
	return method_now(id) == version;
}

static void will_be_redefined(jmethodID m)
{
	const uint64_t now = method_now((uintptr_t)m);

	lc_versions_redefined(&m, &now, 1);
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *env, jmethodID m, char **name, char **signature,
                                          char **generic)
{
	*name = strdup("m");
	*signature = strdup("()V");
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_location(jvmtiEnv *env, jmethodID m, jlocation *begin, jlocation *end)
{
	*begin = 0;
	*end = method_now((uintptr_t)m) >= LONG ? 99 : 9;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_declaring_class(jvmtiEnv *env, jmethodID m, jclass *out)
{
	return JVMTI_ERROR_INVALID_METHODID; /* its class has no name here */
}

static jvmtiError JNICALL get_lines(jvmtiEnv *env, jmethodID m, jint *len,
                                    jvmtiLineNumberEntry **lines)
{
	*len = 1;
	*lines = calloc(1, sizeof(**lines));
	(*lines)[0] = (jvmtiLineNumberEntry){ 0, (jint)(method_now((uintptr_t)m) / 10) };
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *p)
{
	free(p);
	return JVMTI_ERROR_NONE;
}

static struct jvmtiInterface_1_ functions = {
	.GetMethodName = get_method_name,
	.GetMethodDeclaringClass = get_declaring_class,
	.GetLineNumberTable = get_lines,
	.GetMethodLocation = get_location,
	.Deallocate = deallocate,
};
static jvmtiEnv jvmti = &functions;

static int start(void **state)
{
	lc_jvmti_set(&jvmti);
	return lc_path_init() || lc_versions_init(leads_to);
}

/* A method whose first version is `version`. */
static jmethodID method(uint64_t version)
{
	cells[used] = version;
	return (jmethodID)&cells[used++]; /* NOLINT */
}

static uint64_t id_of(jmethodID m)
{
	return (uint64_t)(uintptr_t)m;
}

static void become(jmethodID m, uint64_t version)
{
	*(uint64_t *)m = version; /* NOLINT */
}

static void redefine(jmethodID m, uint64_t version)
{
	will_be_redefined(m);
	become(m, version);
}

static uint32_t number_of(uint64_t id)
{
	const uint64_t frame = lc_frame_pack((const void *)(uintptr_t)id, 0); /* NOLINT */

	return lc_path_get(lc_path_intern(&jni, &frame, 1))->method;
}

static int line_of(uint64_t id)
{
	return lc_method_line(lc_method_get(number_of(id)), 0);
}

static void a_method_that_is_not_redefined_has_its_own_id(void **state)
{
	const jmethodID m = method(100);

	assert_int_equal(lc_version_now(id_of(m)), id_of(m));
	assert_int_equal(lc_version_asked(id_of(m)), id_of(m));
	assert_int_equal(lc_version_old(100), 0);
	will_be_redefined(m); /* and this redefinition is refused, or only begins */
	will_be_redefined(m);
	assert_int_equal(lc_version_now(id_of(m)), id_of(m));
	assert_int_equal(line_of(id_of(m)), 10);
}

static void each_version_keeps_its_lines(void **state)
{
	const jmethodID m = method(200);
	uint64_t later;

	assert_int_equal(line_of(id_of(m)), 20);
	redefine(m, 300);
	later = lc_version_now(id_of(m));
	assert_int_not_equal(later, id_of(m));
	assert_int_equal(lc_version_method(later), id_of(m));
	assert_int_equal(lc_version_before(later), id_of(m));
	assert_int_equal(line_of(later), 30);
	assert_int_equal(line_of(id_of(m)), 20);
	/* A frame that goes on in the old version. */
	assert_int_equal(lc_version_old(200), id_of(m));
	redefine(m, 400);
	assert_int_equal(lc_version_old(300), later);
	assert_int_equal(line_of(later), 30);
	assert_int_equal(line_of(lc_version_now(id_of(m))), 40);
}

static void a_version_that_is_gone_before_it_was_asked_for_has_no_line(void **state)
{
	const jmethodID m = method(500);
	uint64_t second;

	redefine(m, 600);
	second = lc_version_now(id_of(m));
	redefine(m, 700);
	assert_int_equal(line_of(id_of(m)), -1);
	assert_int_equal(line_of(second), -1);
	assert_string_equal(lc_method_get(number_of(second))->name, "m");
	assert_int_equal(line_of(lc_version_now(id_of(m))), 70);
}

static void an_address_that_is_used_again_is_another_version(void **state)
{
	const jmethodID m = method(800);
	uint64_t third;

	assert_int_equal(line_of(id_of(m)), 80);
	redefine(m, 900);
	redefine(m, 800);
	third = lc_version_now(id_of(m));
	assert_int_not_equal(third, id_of(m));
	redefine(m, 1000);
	assert_int_equal(lc_version_old(800), third);
	assert_int_equal(line_of(id_of(m)), 80);
}

static void versions_that_say_the_same_are_one_method(void **state)
{
	const jmethodID m = method(1100);
	const uint32_t first = number_of(id_of(m));

	redefine(m, 1101); /* the same lines at another address */
	assert_int_equal(number_of(lc_version_now(id_of(m))), first);
	redefine(m, 1102);
	assert_int_equal(number_of(lc_version_now(id_of(m))), first);
	assert_int_equal(number_of(lc_version_asked(id_of(m))), first);
	redefine(m, 1200);
	assert_int_not_equal(number_of(lc_version_now(id_of(m))), first);
}

static void where_the_jvm_does_not_tell_versions_apart_there_is_no_line(void **state)
{
	const jmethodID moved = method(1300), longer = method(1400);

	assert_int_equal(line_of(id_of(moved)), 130);
	assert_int_equal(line_of(id_of(longer)), 140);
	redefine(moved, 1500);
	redefine(longer, LONG);
	/* The JVM names frames of both versions so, if they have the same bytecode. */
	assert_int_equal(line_of(lc_version_asked(id_of(moved))), -1);
	assert_int_equal(line_of(lc_version_now(id_of(moved))), 150);
	assert_int_equal(line_of(lc_version_asked(id_of(longer))), LONG / 10);
}

static void a_walk_of_ours_and_the_jvm_s_agree(void **state)
{
	const jmethodID m = method(1600);
	uint64_t old;

	redefine(m, 1700);
	old = lc_frame_pack(m, 7);
	assert_true(lc_version_same(lc_version_frame(m, 7), m, 7));
	assert_true(lc_version_same(old, m, 7));
	assert_true(lc_version_same(old, NULL, 7));         /* it has no ID for replaced bytecode */
	assert_true(lc_version_same(old, method(1600), 7)); /* or has made one since */
	assert_false(lc_version_same(old, m, 8));
	assert_false(lc_version_same(old, method(1800), 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_that_is_not_redefined_has_its_own_id),
		cmocka_unit_test(each_version_keeps_its_lines),
		cmocka_unit_test(a_version_that_is_gone_before_it_was_asked_for_has_no_line),
		cmocka_unit_test(an_address_that_is_used_again_is_another_version),
		cmocka_unit_test(versions_that_say_the_same_are_one_method),
		cmocka_unit_test(where_the_jvm_does_not_tell_versions_apart_there_is_no_line),
		cmocka_unit_test(a_walk_of_ours_and_the_jvm_s_agree),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
