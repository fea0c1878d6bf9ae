/* uses: src/core/request.c src/core/request_virtual.c src/core/path_name.c src/base/limit.c src/base/say.c src/core/version.c src/core/memory.c src/core/path.c src/core/path_intern.c src/core/recursion.c src/core/jvmti.c src/core/own.c src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_request.c - checks that names of request contexts are nodes, and that virtual threads keep
 * theirs. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/limit.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/request.h"

/* The JVM is asked for nothing. */
static JNIEnv jni;

static uint32_t root(const char *name)
{
	return lc_request_root(&jni, name);
}

static const struct lc_method *method(uint32_t node)
{
	return lc_method_get(lc_path_get(node)->method);
}

static bool has_limit(void)
{
	struct lc_limit limits[LC_LIMITS_MAX];
	const size_t len = lc_limits(limits);
	bool found = false;

	for (size_t i = 0; i < len; i++)
		found |= !strcmp(limits[i].kind, "contexts_lost");
	return found;
}

static void a_name_is_one_frame_below_the_root(void **state)
{
	const uint32_t a = root("GET /a"), b = root("GET /b");

	assert_true(a && b && a != b);
	assert_int_equal(root("GET /a"), a);
	assert_int_equal(lc_path_get(a)->parent, 0);
	assert_int_equal(lc_path_get(a)->bci, LC_BCI_NONE);
	assert_string_equal(method(a)->class_name, "context=GET /a");
	assert_string_equal(method(a)->name, "");
	assert_string_equal(method(a)->signature, "");
	assert_string_equal(method(root(""))->class_name, "context=");
}

static void a_long_name_is_cut_where_a_character_begins(void **state)
{
	char name[200] = "";

	for (unsigned i = 0; i < 3; i++)
		strcat(name, "0123456789012345678901234567890123456789");
	name[119] = '\0';
	strcat(name, "\xc3\xa4z");
	assert_int_equal(strlen(method(root(name))->class_name), strlen("context=") + 119);
	name[118] = '\0';
	strcat(name, "\xc3\xa4z");
	assert_int_equal(strlen(method(root(name))->class_name), strlen("context=") + 120);
}

static void *name_all(void *of)
{
	uint32_t *nodes = of;
	char name[32];

	for (unsigned i = 0; i < LC_REQUESTS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		nodes[i] = root(name);
	}
	return NULL;
}

/* Five names are there from before. */
static void names_beyond_the_limit_are_one(void **state)
{
	enum { THREADS = 4, NAMES = LC_REQUESTS_MAX + 100 };
	static uint32_t nodes[THREADS][NAMES];
	pthread_t threads[THREADS];
	unsigned others = 0;

	assert_false(has_limit());
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, name_all, nodes[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (unsigned i = 0; i < NAMES; i++) {
		for (unsigned t = 1; t < THREADS; t++)
			assert_int_equal(nodes[t][i], nodes[0][i]);
		others += !strcmp(method(nodes[0][i])->class_name, "context=" LC_REQUEST_OTHER);
	}
	assert_int_equal(others, 100 + 5);
	assert_true(has_limit());
}

static void a_virtual_thread_has_the_context_that_it_was_given_last(void **state)
{
	enum { MAX = 1 << 17 };

	assert_int_equal(lc_request_of_virtual(64), 0);
	assert_true(lc_request_set_virtual(64, 0));
	assert_true(lc_request_set_virtual(64, 7));
	assert_true(lc_request_set_virtual(64 + 64 * 256, 8)); /* of the same chain */
	assert_true(lc_request_set_virtual(64, 9));
	assert_int_equal(lc_request_of_virtual(64), 9);
	assert_int_equal(lc_request_of_virtual(64 + 64 * 256), 8);
	assert_true(lc_request_set_virtual(64 + 64 * 256, 0));
	assert_int_equal(lc_request_of_virtual(64), 9);
	assert_int_equal(lc_request_of_virtual(64 + 64 * 256), 0);
	for (uint64_t id = 1000; id < 1000 + MAX - 1; id++)
		assert_true(lc_request_set_virtual(id, 1));
	assert_false(lc_request_set_virtual(1, 1));
	assert_true(lc_request_set_virtual(64, 0));
	assert_true(lc_request_set_virtual(1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_one_frame_below_the_root),
		cmocka_unit_test(a_long_name_is_cut_where_a_character_begins),
		cmocka_unit_test(names_beyond_the_limit_are_one),
		cmocka_unit_test(a_virtual_thread_has_the_context_that_it_was_given_last),
	};

	if (lc_path_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
