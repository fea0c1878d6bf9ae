/* uses: src/core/own.c src/core/jvmti.c src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_own.c - checks that methods of the agent's classes, and their frames on a stack, are known.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/jvmti.h"
#include "src/core/own.h"
#include "src/core/record.h"

/* A class is a number of methods, which are consecutive addresses from `first` on. */
struct class
{
	uintptr_t first;
	jint len;
};

static jvmtiError JNICALL get_class_methods(jvmtiEnv *env, jclass class, jint *len, jmethodID **out)
{
	const struct class *c = (const struct class *)class;

	if (!c->first)
		return JVMTI_ERROR_CLASS_NOT_PREPARED;
	*out = calloc((size_t)c->len + 1, sizeof(**out));
	for (jint i = 0; i < c->len; i++)
		(*out)[i] = (jmethodID)(c->first + (uintptr_t)i); /* NOLINT */
	*len = c->len;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	free(memory);
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = { .GetClassMethods = get_class_methods,
	                                            .Deallocate = deallocate };
static jvmtiEnv jvmti = &functions;

static int own_class(uintptr_t first, jint len)
{
	struct class c = { first, len };

	return lc_own_class((jclass)&c);
}

static uint64_t frame(uintptr_t method, int bci)
{
	return lc_frame_pack((const void *)method, bci); /* NOLINT */
}

static void methods_of_every_own_class_are_own(void **state)
{
	lc_jvmti_set(&jvmti);
	assert_int_equal(own_class(100, 3), 0);
	assert_int_equal(own_class(200, 2), 0);
	assert_true(lc_own_method((jmethodID)100));  /* NOLINT */
	assert_true(lc_own_method((jmethodID)102));  /* NOLINT */
	assert_true(lc_own_method((jmethodID)201));  /* NOLINT */
	assert_false(lc_own_method((jmethodID)103)); /* NOLINT */
	assert_false(lc_own_method(NULL));
}

static void only_frames_on_top_are_counted(void **state)
{
	const uint64_t frames[] = { frame(100, 7), frame(201, -1), frame(300, 1), frame(100, 7) };

	assert_int_equal(lc_own_frames(frames, 4), 2);
	assert_int_equal(lc_own_frames(frames, 1), 1);
	assert_int_equal(lc_own_frames(frames + 2, 2), 0);
	assert_int_equal(lc_own_frames(frames, 0), 0);
}

static void a_class_that_cannot_be_kept_whole_is_an_error(void **state)
{
	assert_int_equal(own_class(0, 1), -EIO);       /* the JVM refuses */
	assert_int_equal(own_class(400, 0), -EIO);     /* it has no methods */
	assert_int_equal(own_class(1000, 1000), -EIO); /* there are too many */
}

static void only_locus_span_calls_the_program(void **state)
{
	assert_true(lc_own_calls_program("java.lang.LocusSpan"));
	assert_false(lc_own_calls_program("java.lang.LocusHook"));
	assert_false(lc_own_calls_program("java.lang.LocusSpans"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(methods_of_every_own_class_are_own),
		cmocka_unit_test(only_frames_on_top_are_counted),
		cmocka_unit_test(a_class_that_cannot_be_kept_whole_is_an_error),
		cmocka_unit_test(only_locus_span_calls_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
