/* uses: src/classfile/hook_calls.c src/classfile/method_file.c src/classfile/class_file.c src/classfile/method_code.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_hook_calls.c - checks which code counts as a call of the agent's classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/classfile/hook_calls.h"
#include "src/classfile/method_file.h"

/* 1 "java/lang/LocusHook", 2 its class, 3 "f", 4 "()V", 5 both, 6 its method, 7 a long, 9 "a", 10
 * its class, 11 its method of the same name. */
static const uint8_t pool[] = {
	1,   0,   19,  'j', 'a', 'v', 'a', '/', 'l', 'a', 'n', 'g', '/', 'L', 'o', 'c', 'u',
	's', 'H', 'o', 'o', 'k', 7,   0,   1,   1,   0,   1,   'f', 1,   0,   3,   '(', ')',
	'V', 12,  0,   3,   0,   4,   10,  0,   2,   0,   5,   5,   0,   0,   0,   0,   0,
	0,   0,   1,   1,   0,   1,   'a', 7,   0,   9,   10,  0,   10,  0,   5,
};
enum { COUNT = 12 };

static bool open_pool(struct lc_method_file *out, size_t len, uint32_t count)
{
	const struct lc_method_source s = { .pool = pool,
		                            .pool_bytes = len,
		                            .pool_count = count,
		                            .class_name = "",
		                            .name = "",
		                            .descriptor = "" };

	return lc_method_file_open(out, &s);
}

static bool calls(const uint8_t *code, size_t len)
{
	struct lc_method_file f;
	bool found;

	assert_true(open_pool(&f, sizeof(pool), COUNT));
	found = lc_hook_calls_in(&f.cls, code, len);
	lc_method_file_close(&f);
	return found;
}

static void only_a_call_of_our_classes_is_one(void **state)
{
	static const uint8_t ours[] = { 0, 0xb8, 0, 6, 0xb1 };
	static const uint8_t theirs[] = { 0, 0xb8, 0, 11, 0xb1 };
	static const uint8_t virtual_call[] = { 1, 0xb6, 0, 6, 0xb1 };
	static const uint8_t no_such_constant[] = { 0xb8, 1, 0, 0xb8, 0, 8, 0xb8, 0, 0, 0xb1 };

	assert_true(calls(ours, sizeof(ours)));
	assert_false(calls(theirs, sizeof(theirs)));
	assert_false(calls(virtual_call, sizeof(virtual_call)));
	assert_false(calls(no_such_constant, sizeof(no_such_constant)));
}

static void operands_are_no_instructions(void **state)
{
	static const uint8_t operand[] = { 0x11, 0xb8, 0, 6, 0x57, 0x57, 0xb1 }; /* sipush */
	static const uint8_t cut[] = { 0, 0xb8, 0 };

	assert_false(calls(operand, sizeof(operand)));
	assert_false(calls(cut, sizeof(cut)));
	assert_false(calls(cut, 0));
}

static void what_is_no_constant_pool_is_refused(void **state)
{
	struct lc_method_file f;

	for (size_t len = 0; len < sizeof(pool); len++)
		assert_false(open_pool(&f, len, COUNT));
	assert_false(open_pool(&f, sizeof(pool), 0));
	assert_false(open_pool(&f, sizeof(pool), COUNT + 1));
	assert_false(open_pool(&f, sizeof(pool), 65535));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_call_of_our_classes_is_one),
		cmocka_unit_test(operands_are_no_instructions),
		cmocka_unit_test(what_is_no_constant_pool_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
