/* uses: src/sample/read_on.c src/sample/insn.c src/sample/insn_step.c src/sample/insn_known.c -lZydis */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_read_on.c - follows objects along hand-written code, in the shapes that HotSpot's C2 gives
 * to checks of a class and of an index.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/sample/decode.h"
#include "src/sample/read_on.h"

enum { CODE_BYTES = 768, RETURN = 0xc3 };

/* The result for the access at code[at], where a return follows the code. */
static uint8_t read_on(const char *code, size_t len, size_t at)
{
	uint8_t bytes[CODE_BYTES];
	const struct lc_code_bytes all = {
		.bytes = bytes, .len = sizeof(bytes), .address = 0x10000, .method = true
	};

	memset(bytes, RETURN, sizeof(bytes));
	memcpy(bytes, code, len);
	return lc_read_on(&all, at);
}

#define READ_ON(code, at) read_on(code, sizeof(code) - 1, at)

/* ebp = [rdi+8]; is it the class? rdx += [rdi+16] */
#define LOAD_CLASS "\x8b\x6f\x08"
#define COMPARE "\x81\xfd\x10\x0c\x00\x01"
#define ADD_FIELD "\x48\x03\x57\x10"

static void a_field_that_is_read_behind_the_class_is_found(void **state)
{
	assert_int_equal(READ_ON(LOAD_CLASS COMPARE "\x75\x04" ADD_FIELD, 0), 8);
}

static void so_is_one_that_the_branch_leads_to(void **state)
{
	/* ja over a return */
	assert_int_equal(READ_ON(LOAD_CLASS COMPARE "\x77\x01\xc3" ADD_FIELD, 0), 8);
	/* rdi = rax; rdx += [rdi+16]; ret; ebp = [rax+8], and back to the beginning */
	assert_int_equal(READ_ON("\x48\x8b\xf8" ADD_FIELD "\xc3\x8b\x68\x08" COMPARE "\x74\xed", 8),
	                 8);
	/* An unconditional branch. */
	assert_int_equal(READ_ON(LOAD_CLASS "\xeb\x02\xc3\xc3" ADD_FIELD, 0), 8);
}

static void code_far_away_runs_rarely(void **state)
{
	char code[640];

	memset(code, 0xc3, sizeof(code));
	memcpy(code, LOAD_CLASS COMPARE "\x0f\x84\x00\x02\x00\x00", 15);
	memcpy(code + 15 + 512, ADD_FIELD, 4);
	assert_int_equal(read_on(code, sizeof(code), 0), 0);
}

static void an_object_whose_class_alone_is_read_has_no_more(void **state)
{
	assert_int_equal(READ_ON(LOAD_CLASS COMPARE "\x75\x02\xff\xc1", 0), 0);
	/* It is written: mov [rdi+16],rdx */
	assert_int_equal(READ_ON(LOAD_CLASS "\x48\x89\x57\x10", 0), 0);
	/* The load reads another object: rdi = [rsi+16] */
	assert_int_equal(READ_ON(LOAD_CLASS "\x48\x8b\x7e\x10" ADD_FIELD, 0), 0);
	/* ... or lies before it: rdx = [rdi] */
	assert_int_equal(READ_ON(LOAD_CLASS "\x48\x8b\x17", 0), 0);
	/* ... or lies 72 bytes behind: eax = [rdi+80] */
	assert_int_equal(READ_ON(LOAD_CLASS "\x8b\x47\x50", 0), 0);
	/* ... or is read behind a call, of which nobody knows what it leaves in registers. */
	assert_int_equal(READ_ON(LOAD_CLASS "\xe8\x00\x01\x00\x00" ADD_FIELD, 0), 0);
	/* rdi itself becomes the class. */
	assert_int_equal(READ_ON("\x8b\x7f\x08" ADD_FIELD, 0), 0);
}

static void an_access_to_a_field_is_no_header(void **state)
{
	/* eax = [rdi+24]; rdx += [rdi+32] */
	assert_int_equal(READ_ON("\x8b\x47\x18\x48\x03\x57\x20", 0), 0);
	/* a store to the header */
	assert_int_equal(READ_ON("\x89\x6f\x08" ADD_FIELD, 0), 0);
	assert_int_equal(READ_ON("\xff\xc1" ADD_FIELD, 0), 0);
}

/* r8d = [r12+r11*8+8], by a compressed reference; r9 = r12+r11*8, or the same without a register.
 */
static void names_of_the_object_are_followed(void **state)
{
	assert_int_equal(READ_ON("\x47\x8b\x44\xdc\x08\x4f\x8d\x0c\xdc\x41\x8b\x41\x0c", 0), 4);
	assert_int_equal(READ_ON("\x47\x8b\x44\xdc\x08\x43\x8b\x44\xdc\x0c", 0), 4);
	/* r11 is written in between. */
	assert_int_equal(READ_ON("\x47\x8b\x44\xdc\x08\x45\x33\xdb\x43\x8b\x44\xdc\x0c", 0), 0);
	/* r9 = r12+r11*8+4: what lies at r9+8 is 12 bytes into the object */
	assert_int_equal(READ_ON("\x47\x8b\x44\xdc\x08\x4f\x8d\x4c\xdc\x04\x41\x8b\x41\x08", 0), 4);
}

/* r8d = [rdx+12], is ecx less? eax = [rdx+rcx*4+16] */
static void an_element_follows_the_length(void **state)
{
	assert_int_equal(READ_ON("\x44\x8b\x42\x0c\x44\x39\xc1\x73\x04\x8b\x44\x8a\x10", 0), 4);
	/* The class, the length, the element: the length is not all. */
	assert_int_equal(READ_ON("\x44\x8b\x42\x08\x44\x8b\x4a\x0c\x8b\x44\x8a\x10", 0), 8);
}

static void nothing_is_read_beyond_the_code(void **state)
{
	static const char code[] = LOAD_CLASS COMPARE "\x75\x04" ADD_FIELD;
	uint8_t bytes[sizeof(code)];

	memcpy(bytes, code, sizeof(code));
	for (size_t len = 0; len < sizeof(code); len++) {
		const struct lc_code_bytes all = { .bytes = bytes, .len = len, .method = true };

		for (size_t at = 0; at <= len; at++)
			(void)lc_read_on(&all, at);
		if (len < sizeof(code) - 1)
			assert_int_equal(lc_read_on(&all, 0), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_that_is_read_behind_the_class_is_found),
		cmocka_unit_test(so_is_one_that_the_branch_leads_to),
		cmocka_unit_test(code_far_away_runs_rarely),
		cmocka_unit_test(an_object_whose_class_alone_is_read_has_no_more),
		cmocka_unit_test(an_access_to_a_field_is_no_header),
		cmocka_unit_test(names_of_the_object_are_followed),
		cmocka_unit_test(an_element_follows_the_length),
		cmocka_unit_test(nothing_is_read_beyond_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
