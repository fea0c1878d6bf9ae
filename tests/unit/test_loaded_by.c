/* uses: src/sample/loaded_by.c src/sample/ways.c src/sample/insn.c src/sample/insn_step.c src/sample/insn_known.c -lZydis */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_loaded_by.c - follows the base of an access back to its load in hand-written code, in the
 * shapes that HotSpot's C2 makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/sample/decode.h"
#include "src/sample/loaded_by.h"
#include "src/sample/ways.h"

enum { CODE_BYTES = 768, RETURN = 0xc3, NONE = -1 };

#define LOAD_KEY "\x45\x8b\x4b\x10"              /* mov r9d,[r11+16] */
#define LOAD_VALUE "\x45\x8b\x4b\x14"            /* mov r9d,[r11+20] */
#define LOAD_ELEMENT "\x44\x8b\x4c\x8b\x10"      /* mov r9d,[rbx+rcx*4+16] */
#define LOAD_CLASS "\x41\x8b\x79\x08"            /* mov edi,[r9+8] */
#define LOAD_SELF "\x4d\x8b\x49\x10"             /* mov r9,[r9+16] */
#define STORE_INT "\x41\x89\x79\x08"             /* mov [r9+8],edi */
#define COPY "\x4d\x89\xc8"                      /* mov r8,r9 */
#define LOAD_CLASS_OF_COPY "\x41\x8b\x78\x08"    /* mov edi,[r8+8] */
#define LOAD_STACK "\x4c\x8b\x4c\x24\x18"        /* mov r9,[rsp+24] */
#define ADD_FIELD "\x4d\x03\x4b\x10"             /* add r9,[r11+16] */
#define LOAD_CHAR "\x45\x0f\xb7\x4b\x10"         /* movzx r9d,word [r11+16] */
#define LOAD_CLASS_NARROW "\x43\x8b\x7c\xcc\x08" /* mov edi,[r12+r9*8+8] */
#define LOAD_CLASS_NO_BASE "\x42\x8b\x3c\xcd\x08\0\0" /* mov edi,[r9*8+8] */ "\0"
#define DECODE_NARROW "\x4f\x8d\x04\xcc"  /* lea r8,[r12+r9*8] */
#define COMPARE "\x39\xf7"                /* cmp edi,esi */
#define JE_OUT "\x0f\x84\x00\x02\x00\x00" /* je, far behind all this */
#define JE_4 "\x74\x04"                   /* je over 4 bytes */
#define JMP_4 "\xeb\x04"                  /* jmp over 4 bytes */
#define JNE_BACK "\x75\xf8"               /* jne: six bytes back from here */
#define DEC "\xff\xc9"                    /* dec ecx */
#define CALL "\xe8\x00\x01\x00\x00"       /* call */
#define RETURNS "\xc3\xc3\xc3\xc3"
#define LEN(s) (sizeof(s) - 1)

/* The offset of the load for the access behind `before`; or NONE. */
static int loaded(const char *before, size_t before_len, const char *access, size_t access_len)
{
	uint8_t bytes[CODE_BYTES];
	const struct lc_code_bytes all = { .bytes = bytes,
		                           .len = sizeof(bytes),
		                           .address = 0x1000 };
	struct lc_ways ways;
	size_t load = 0;

	memset(bytes, RETURN, sizeof(bytes));
	memcpy(bytes, before, before_len);
	memcpy(bytes + before_len, access, access_len);
	lc_ways_find(&all, 0, before_len, &ways);
	return lc_loaded_by(&all, &ways, before_len, &load) ? (int)load : NONE;
}

#define LOADED(before, access) loaded(before, LEN(before), access, LEN(access))

static void the_load_of_the_base_is_found(void **state)
{
	assert_int_equal(LOADED(LOAD_KEY, LOAD_CLASS), 0);
	assert_int_equal(LOADED(LOAD_VALUE LOAD_KEY COMPARE JE_OUT, LOAD_CLASS), 4);
	assert_int_equal(LOADED(COMPARE LOAD_ELEMENT, LOAD_CLASS), 2);
	assert_int_equal(LOADED(LOAD_KEY, STORE_INT), 0);
	/* the access overwrites its base */
	assert_int_equal(LOADED(LOAD_KEY COMPARE, LOAD_SELF), 0);
	assert_int_equal(LOADED(LOAD_KEY LOAD_SELF, LOAD_CLASS), 4);
}

static void copies_and_compressed_references_are_followed(void **state)
{
	assert_int_equal(LOADED(LOAD_KEY COPY, LOAD_CLASS_OF_COPY), 0);
	assert_int_equal(LOADED(LOAD_KEY COPY LOAD_VALUE, LOAD_CLASS_OF_COPY), 0);
	assert_int_equal(LOADED(LOAD_KEY, LOAD_CLASS_NARROW), 0);
	assert_int_equal(LOADED(LOAD_KEY, LOAD_CLASS_NO_BASE), 0);
	assert_int_equal(LOADED(LOAD_KEY DECODE_NARROW, LOAD_CLASS_OF_COPY), 0);
}

static void ways_that_meet_must_come_by_one_load(void **state)
{
	/* One way loads another reference. */
	assert_int_equal(LOADED(LOAD_KEY JE_4 LOAD_VALUE, LOAD_CLASS), NONE);
	/* The load lies above the fork. */
	assert_int_equal(LOADED(LOAD_KEY JE_4 COMPARE DEC, LOAD_CLASS), 0);
	/* A jump leads over code that does not go on to the access; or that does, from elsewhere.
	 */
	assert_int_equal(LOADED(LOAD_KEY JMP_4 RETURNS, LOAD_CLASS), 0);
	assert_int_equal(LOADED(LOAD_KEY JMP_4 LOAD_VALUE, LOAD_CLASS), NONE);
	/* A loop keeps it, or brings another one. */
	assert_int_equal(LOADED(LOAD_KEY COMPARE DEC, LOAD_CLASS DEC JNE_BACK), 0);
	assert_int_equal(LOADED(LOAD_VALUE COMPARE, LOAD_CLASS LOAD_SELF "\x75\xf6"), NONE);
}

static void words_that_no_load_of_a_reference_made_have_none(void **state)
{
	assert_int_equal(LOADED(COMPARE, LOAD_CLASS), NONE); /* an argument of the method */
	assert_int_equal(LOADED(LOAD_KEY LOAD_STACK, LOAD_CLASS), NONE);
	assert_int_equal(LOADED(LOAD_KEY ADD_FIELD, LOAD_CLASS), NONE);
	assert_int_equal(LOADED(LOAD_CHAR, LOAD_CLASS), NONE);
	assert_int_equal(LOADED(LOAD_KEY, LOAD_STACK), NONE); /* no object */
	assert_int_equal(LOADED(LOAD_KEY, COMPARE), NONE);
	assert_int_equal(LOADED("", LOAD_CLASS), NONE);
}

/* A call of Java code keeps no register, so that one that is in use was kept by a slow path. */
static void a_call_of_a_slow_path_keeps_registers(void **state)
{
	assert_int_equal(LOADED(LOAD_KEY CALL, LOAD_CLASS), 0);
	assert_int_equal(LOADED(LOAD_KEY COPY CALL, LOAD_CLASS_OF_COPY), 0);
}

static void a_load_has_the_constant_part_of_its_operand(void **state)
{
	static const char code[] = LOAD_VALUE LOAD_ELEMENT LOAD_CHAR ADD_FIELD LOAD_STACK;
	const struct lc_code_bytes all = { .bytes = (const uint8_t *)code, .len = LEN(code) };
	int32_t disp = 0;

	assert_true(lc_loaded_by_disp(&all, 0, &disp));
	assert_int_equal(disp, 20);
	assert_true(lc_loaded_by_disp(&all, 4, &disp));
	assert_int_equal(disp, 16);
	for (size_t at = 9; at <= LEN(code); at++)
		if (at == 9 || at == 14 || at == 18 || at == LEN(code))
			assert_false(lc_loaded_by_disp(&all, at, &disp));
}

static void nothing_is_read_beyond_the_code(void **state)
{
	static const char code[] = LOAD_KEY COPY LOAD_CLASS_OF_COPY;
	struct lc_ways ways;
	size_t load;

	for (size_t len = 0; len < sizeof(code); len++) {
		uint8_t bytes[sizeof(code)];
		const struct lc_code_bytes all = { .bytes = bytes, .len = len };
		int32_t disp;

		memcpy(bytes, code, sizeof(code));
		for (size_t at = 0; at <= len + 1; at++) {
			lc_ways_find(&all, 0, at < len ? at : len, &ways);
			(void)lc_loaded_by(&all, &ways, at, &load);
			(void)lc_loaded_by_disp(&all, at, &disp);
		}
		lc_ways_find(&all, 0, len < 7 ? len : 7, &ways);
		assert_int_equal(lc_loaded_by(&all, &ways, 7, &load), len >= LEN(code));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_load_of_the_base_is_found),
		cmocka_unit_test(copies_and_compressed_references_are_followed),
		cmocka_unit_test(ways_that_meet_must_come_by_one_load),
		cmocka_unit_test(words_that_no_load_of_a_reference_made_have_none),
		cmocka_unit_test(a_call_of_a_slow_path_keeps_registers),
		cmocka_unit_test(a_load_has_the_constant_part_of_its_operand),
		cmocka_unit_test(nothing_is_read_beyond_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
