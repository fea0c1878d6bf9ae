/* uses: src/classfile/method_file.c src/classfile/class_file.c src/classfile/method_code.c -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_method_file.c - checks when no class file is made of what the JVM says of a method. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/method_file.h"
#include "tests/unit/failing_memory.h"

static int allocations_left = -1; /* before they fail; < 0: they do not */

static bool allocation_fails(void)
{
	return allocations_left >= 0 && allocations_left-- == 0;
}

static void a_method_file_needs_memory_and_a_pool(void **state)
{
	static const uint8_t pool_bytes[] = { LC_POOL_UTF8, 0, 1, 'a' }, code[] = { LC_OP_RETURN };
	struct lc_method_source s = { .pool = pool_bytes,
		                      .pool_bytes = sizeof(pool_bytes),
		                      .pool_count = 2,
		                      .class_name = "A",
		                      .name = "m",
		                      .descriptor = "()V",
		                      .code = code,
		                      .code_bytes = sizeof(code) };
	struct lc_method_file f;
	bool open = false;

	for (int n = 0; !open && n < 20; n++) {
		allocations_left = n;
		open = lc_method_file_open(&f, &s);
		allocations_left = -1;
		lc_method_file_close(&f);
	}
	assert_true(open);
	s.pool_count = 3; /* there is one constant */
	assert_false(lc_method_file_open(&f, &s));
	s.pool_count = 65535;
	assert_false(lc_method_file_open(&f, &s));
}

static void code_that_is_none_makes_no_method_file(void **state)
{
	static const uint8_t short_jump[] = { LC_OP_GOTO, 0, 40, LC_OP_RETURN },
	                     cut[] = { LC_OP_SIPUSH, 0 };
	struct lc_method_source s = { .pool_count = 1,
		                      .class_name = "A",
		                      .name = "m",
		                      .descriptor = "()V",
		                      .code = short_jump,
		                      .code_bytes = sizeof(short_jump) };
	struct lc_method_file f;

	assert_false(lc_method_file_open(&f, &s));
	s.code = cut;
	s.code_bytes = sizeof(cut);
	assert_false(lc_method_file_open(&f, &s));
}

/* Files are kept while they may be needed again. */
static void a_method_file_takes_no_more_memory_than_its_pool_and_its_code(void **state)
{
	enum { TEXT = 9000, SPARE = 600 };
	static uint8_t pool[3 + TEXT] = { LC_POOL_UTF8, TEXT >> 8, TEXT & 0xff };
	static const uint8_t code[] = { LC_OP_RETURN };
	struct lc_method_source s = { .pool = pool,
		                      .pool_bytes = sizeof(pool),
		                      .pool_count = 2,
		                      .class_name = "A",
		                      .name = "m",
		                      .descriptor = "()V",
		                      .code = code,
		                      .code_bytes = sizeof(code) };
	struct lc_method_file f;

	memset(pool + 3, 'a', TEXT);
	assert_true(lc_method_file_open(&f, &s));
	assert_true(malloc_usable_size(f.bytes) < sizeof(pool) + SPARE);
	lc_method_file_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_file_needs_memory_and_a_pool),
		cmocka_unit_test(code_that_is_none_makes_no_method_file),
		cmocka_unit_test(a_method_file_takes_no_more_memory_than_its_pool_and_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
