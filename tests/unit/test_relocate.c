/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relocate.c - checks that everything that depends on positions in code follows the code that
 * is inserted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/class_file.h"

#define CODE(...)                                                                                  \
	{                                                                                          \
		.code = (const uint8_t[]){ __VA_ARGS__ },                                          \
		.len = sizeof((const uint8_t[]){ __VA_ARGS__ })                                    \
	}
#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define ARRAY 26, 188, 8 /* iload_0; newarray byte: 3 bytes, the hook goes behind it */
#define POP 87
#define RETURN 177

enum { ILOAD_0 = 26, NEWARRAY = 188, NOP = 0, GOTO = 167, HOOK_LEN = 7 };

static uint32_t next_site(void *user)
{
	return 1;
}

static struct lc_rewrite_options hook_all(void)
{
	return (struct lc_rewrite_options){
		.min_size_bytes = 1,
		.array_header_bytes = 16,
		.reference_bytes = 4,
		.next_site = next_site,
	};
}

static void rewrite_one(struct class_file *c, struct code_spec *spec, struct rewritten *out)
{
	class_method(c, "m", "(I)V", spec);
	class_rewrite(c, hook_all(), out);
}

static int32_t jump_at(const struct rewritten *r, uint32_t at)
{
	return lc_be_get2s(rewritten_code(r, 0).insns + at + 1);
}

static void jumps_across_the_hook_reach_their_targets(void **state)
{
	/* 0 ifeq 10; 3 newarray; 6 pop; 7 goto 0; 10 ifnull 0; 13 return */
	struct code_spec spec = CODE(153, 0, 10, ARRAY, POP, GOTO, 255, 249, 198, 255, 246, RETURN);
	struct class_file c;
	struct rewritten r;

	class_begin(&c, "A");
	rewrite_one(&c, &spec, &r);
	assert_int_equal(rewritten_code(&r, 0).len, 14 + HOOK_LEN);
	assert_int_equal(jump_at(&r, 0), 10 + HOOK_LEN);
	assert_int_equal(jump_at(&r, 7 + HOOK_LEN), -7 - HOOK_LEN);
	assert_int_equal(jump_at(&r, 10 + HOOK_LEN), -10 - HOOK_LEN);
	rewritten_free(&r);
}

static void far_jumps_and_subroutines_are_relocated(void **state)
{
	/* 0 goto_w 14; 5 newarray; 8 pop; 9 jsr_w 15; 14 return; 15 astore_1; 16 ret 1 */
	struct code_spec spec =
	    CODE(200, 0, 0, 0, 14, ARRAY, POP, 201, 0, 0, 0, 6, RETURN, 76, 169, 1);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "A");
	c.major = 48;
	rewrite_one(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(lc_be_get4s(code.insns + 1), 14 + HOOK_LEN);
	assert_int_equal(code.insns[9 + HOOK_LEN], LC_OP_JSR_W);
	assert_int_equal(lc_be_get4s(code.insns + 10 + HOOK_LEN), 6);
	rewritten_free(&r);
}

static void tableswitch_is_padded_anew(void **state)
{
	/* 0 newarray; 3 pop; 4 iload_0; 5 tableswitch 0..1, padding 2, at 8: default 28, 0, 1,
	 * 28, 0 */
	struct code_spec spec = CODE(ARRAY, POP, ILOAD_0, 170, 0, 0, 0, 0, 0, 23, 0, 0, 0, 0, 0, 0,
	                             0, 1, 0, 0, 0, 23, 255, 255, 255, 251, RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "A");
	rewrite_one(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.insns[12], LC_OP_TABLESWITCH);
	/* 12: padding 3, operands at 16. The return moved from 28 to 36. */
	assert_int_equal(code.len, 37);
	assert_int_equal(lc_be_get4s(code.insns + 16), 24);
	assert_int_equal(lc_be_get4s(code.insns + 20), 0);
	assert_int_equal(lc_be_get4s(code.insns + 24), 1);
	assert_int_equal(lc_be_get4s(code.insns + 28), 24);
	assert_int_equal(lc_be_get4s(code.insns + 32), -12);
	assert_int_equal(code.insns[13] | code.insns[14] | code.insns[15], 0);
	rewritten_free(&r);
}

static void lookupswitch_keeps_its_keys(void **state)
{
	/* 0 newarray; 3 pop; 4 iload_0; 5 lookupswitch, padding 2, default 24, 1 pair: -7 -> 0 */
	struct code_spec spec = CODE(ARRAY, POP, ILOAD_0, 171, 0, 0, 0, 0, 0, 19, 0, 0, 0, 1, 255,
	                             255, 255, 249, 255, 255, 255, 251, RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "A");
	rewrite_one(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(lc_be_get4s(code.insns + 16), 20);
	assert_int_equal(lc_be_get4s(code.insns + 20), 1);
	assert_int_equal(lc_be_get4s(code.insns + 24), -7);
	assert_int_equal(lc_be_get4s(code.insns + 28), -12);
	assert_int_equal(code.insns[32], RETURN);
	rewritten_free(&r);
}

static void wide_instructions_are_copied_whole(void **state)
{
	struct code_spec spec =
	    CODE(196, 132, 1, 0, 0, 188, 196, 21, 1, 0, NEWARRAY, 8, POP, RETURN);
	struct class_file c;
	struct rewritten r;

	class_begin(&c, "A");
	rewrite_one(&c, &spec, &r);
	assert_int_equal(r.result.sites, 1);
	assert_memory_equal(
	    rewritten_code(&r, 0).insns,
	    ((const uint8_t[]){ 196, 132, 1, 0, 0, 188, 196, 21, 1, 0, NEWARRAY, 8, 89 }), 13);
	rewritten_free(&r);
}

static void bad_instructions_and_targets_are_malformed(void **state)
{
	struct code_spec bad[] = {
		CODE(ARRAY, POP, 203, RETURN),            /* no such opcode */
		CODE(ARRAY, POP, 17, 0),                  /* cut */
		CODE(ARRAY, POP, GOTO, 0, 100),           /* beyond the end */
		CODE(ARRAY, POP, GOTO, 255, 254, RETURN), /* into an operand */
		CODE(ARRAY, POP, 196, 188, 0, 0, RETURN), /* wide newarray */
		CODE(ARRAY, POP, 170, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0), /* high < low */
		CODE(ARRAY, POP, 171, 0, 0, 0, 0, 0, 0, 0, 127, 255, 255, 255),     /* too many */
		CODE(ILOAD_0, NEWARRAY, 3, POP, RETURN), /* no such type */
		CODE(ILOAD_0, 182, 127, 255, RETURN),    /* no such constant */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct class_file c;
		struct rewritten r;

		class_begin(&c, "A");
		rewrite_one(&c, &bad[i], &r);
		assert_int_equal(r.status, LC_REWRITE_MALFORMED);
	}
}

static void the_hook_is_inside_the_try_range_of_its_allocation(void **state)
{
	struct code_spec spec = CODE(ARRAY, POP, RETURN, POP, RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	spec.handlers = (const uint8_t[]){ 0, 1, 0, 3, 0, 5, 0, 0, 0, 3, 0, 7, 0, 5, 0, 9 };
	spec.handlers_len = 2;
	class_begin(&c, "A");
	rewrite_one(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.handlers_len, 2);
	assert_memory_equal(
	    code.handlers,
	    ((const uint8_t[]){ 0, 1, 0, 10, 0, 12, 0, 0, 0, 10, 0, 14, 0, 12, 0, 9 }), 16);
	rewritten_free(&r);
}

static void bad_try_ranges_are_malformed(void **state)
{
	static const uint8_t bad[][8] = {
		{ 0, 3, 0, 3, 0, 4 }, /* empty */
		{ 0, 0, 0, 9, 0, 4 }, /* ends beyond the code */
		{ 0, 2, 0, 3, 0, 4 }, /* starts in an operand */
		{ 0, 0, 0, 2, 0, 4 }, /* ends in one */
		{ 0, 0, 0, 3, 0, 2 }, /* the handler is in one */
		{ 0, 0, 0, 3, 0, 9 }, /* or beyond the code */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct code_spec spec = CODE(ARRAY, POP, RETURN);
		struct class_file c;
		struct rewritten r;

		spec.handlers = bad[i];
		spec.handlers_len = 1;
		class_begin(&c, "A");
		rewrite_one(&c, &spec, &r);
		assert_int_equal(r.status, LC_REWRITE_MALFORMED);
	}
}

/* Rewrite `newarray; pop; return` with one attribute; what becomes of that. */
static void assert_attribute(const char *name, const uint8_t *body, size_t len,
                             const uint8_t *expected, size_t expected_len)
{
	struct code_spec spec = CODE(ARRAY, POP, RETURN);
	const uint8_t *moved;
	struct class_file c;
	struct rewritten r;
	uint32_t moved_len = 0;

	class_begin(&c, "A");
	class_attribute(&c, &spec, name, body, len);
	rewrite_one(&c, &spec, &r);
	if (!expected) {
		assert_int_equal(r.status, LC_REWRITE_MALFORMED);
		return;
	}
	moved = rewritten_attribute(&r, 0, name, &moved_len);
	assert_int_equal(moved_len, expected_len);
	if (expected_len)
		assert_memory_equal(moved, expected, expected_len);
	else
		assert_null(moved);
	rewritten_free(&r);
}

static void debug_tables_are_relocated(void **state)
{
	assert_attribute("LineNumberTable", BYTES(0, 2, 0, 0, 0, 7, 0, 3, 0, 8),
	                 BYTES(0, 2, 0, 0, 0, 7, 0, 10, 0, 8));
	assert_attribute("LocalVariableTable",
	                 BYTES(0, 2, 0, 0, 0, 5, 0, 1, 0, 1, 0, 2, 0, 3, 0, 1, 0, 1, 0, 1, 0, 3),
	                 BYTES(0, 2, 0, 0, 0, 12, 0, 1, 0, 1, 0, 2, 0, 10, 0, 1, 0, 1, 0, 1, 0, 3));
	assert_attribute("LocalVariableTypeTable", BYTES(0, 1, 0, 1, 0, 4, 0, 1, 0, 1, 0, 2),
	                 BYTES(0, 1, 0, 1, 0, 11, 0, 1, 0, 1, 0, 2));
}

static void debug_tables_that_do_not_fit_the_code_are_malformed(void **state)
{
	assert_attribute("LineNumberTable", BYTES(0, 1, 0, 6, 0, 7), NULL, 0);
	assert_attribute("LineNumberTable", BYTES(0, 2, 0, 0, 0, 7), NULL, 0);
	assert_attribute("LineNumberTable", BYTES(0), NULL, 0);
	assert_attribute("LineNumberTable", NULL, 0, NULL, 0);
	assert_attribute("LocalVariableTable", BYTES(0, 1, 0, 3, 0, 3, 0, 1, 0, 1, 0, 2), NULL, 0);
}

static void unknown_attributes_of_code_are_left_out(void **state)
{
	assert_attribute("StackMap", BYTES(0, 1, 0, 3, 0, 0, 0, 0), BYTES());
	assert_attribute("CharacterRangeTable", BYTES(0, 0), BYTES());
	assert_attribute("org.example.Mine", BYTES(1, 2, 3), BYTES());
}

static void type_annotations_are_relocated(void **state)
{
	const uint8_t all[] = {
		0,    5,                                            /* annotations */
		0x40, 0, 1, 0,    0, 0, 5, 0, 1, 0, 0,   1,   0, 0, /* local variable, range 0..5 */
		0x42, 0, 0, 1,    3, 0, 0, 1, 0, 0,                 /* handler 0, one path step */
		0x44, 0, 3, 0,    0, 1, 0, 1, 0, 2, 'I', 0,   3,    /* new at 3, one constant */
		0x47, 0, 4, 1,    0, 0, 1, 0, 1, 0, 2,   '[', 0, 2,   'e', 0, 1, 0, 2,
		'c',  0, 3, 0x43, 0, 0, 0, 0, 1, 0, 1,   0,   2, '@', 0,   1, 0, 0, /* annotation */
	};
	uint8_t moved[sizeof(all)];

	memcpy(moved, all, sizeof(all));
	moved[8] = 12;  /* the length of the range */
	moved[28] = 10; /* new */
	moved[41] = 11; /* cast */
	assert_attribute("RuntimeVisibleTypeAnnotations", all, sizeof(all), moved, sizeof(all));
	assert_attribute("RuntimeInvisibleTypeAnnotations", all, sizeof(all), moved, sizeof(all));
}

static void type_annotations_that_do_not_parse_are_left_out(void **state)
{
	uint8_t nested[2 + 5 + 4 + 2 + 3 * 40] = { 0, 1, 0x44, 0, 0, 0, 0, 1, 0, 1, 0, 1 };

	for (int i = 0; i < 40; i++)
		memcpy(nested + 13 + 3 * i, ((const uint8_t[]){ '[', 0, 1 }), 3);
	assert_attribute("RuntimeVisibleTypeAnnotations", BYTES(0, 1, 0x10, 0, 0), BYTES());
	assert_attribute("RuntimeVisibleTypeAnnotations", BYTES(0, 1, 0x44, 0, 9, 0, 0, 1, 0, 0),
	                 BYTES());
	assert_attribute("RuntimeVisibleTypeAnnotations", BYTES(0, 1, 0x44, 0, 0), BYTES());
	assert_attribute("RuntimeVisibleTypeAnnotations", NULL, 0, BYTES());
	assert_attribute("RuntimeVisibleTypeAnnotations", nested, sizeof(nested), BYTES());
}

/* 0 nop...; site at `at`, code of `len` bytes; frames are given and expected. */
static void assert_frames(uint32_t at, uint32_t len, const uint8_t *frames, size_t frames_len,
                          const uint8_t *expected, size_t expected_len)
{
	uint8_t code[400] = { NOP };
	struct code_spec spec = { .code = code, .len = len };
	const uint8_t *moved;
	struct class_file c;
	struct rewritten r;
	uint32_t moved_len = 0;

	assert_true(len <= sizeof(code));
	memcpy(code + at, ((const uint8_t[]){ ARRAY, POP }), 4);
	code[len - 1] = RETURN;
	class_begin(&c, "A");
	class_attribute(&c, &spec, "StackMapTable", frames, frames_len);
	rewrite_one(&c, &spec, &r);
	if (!expected) {
		assert_int_equal(r.status, LC_REWRITE_MALFORMED);
		return;
	}
	moved = rewritten_attribute(&r, 0, "StackMapTable", &moved_len);
	assert_int_equal(moved_len, expected_len);
	assert_memory_equal(moved, expected, expected_len);
	rewritten_free(&r);
}

static void frames_keep_their_short_form_while_it_fits(void **state)
{
	/* At 2, before the site, and at 10 behind it: the distance grows from 7 to 14. */
	assert_frames(4, 20, BYTES(0, 2, 2, 7), BYTES(0, 2, 2, 14));
	assert_frames(4, 20, BYTES(0, 2, 2, 64 + 7, 1), BYTES(0, 2, 2, 64 + 14, 1));
	/* The frame at the first byte behind the allocation comes behind the hook. */
	assert_frames(4, 20, BYTES(0, 1, 7), BYTES(0, 1, 14));
}

static void frames_take_the_long_form_when_they_must(void **state)
{
	assert_frames(0, 80, BYTES(0, 1, 56), BYTES(0, 1, 63));
	assert_frames(0, 80, BYTES(0, 1, 57), BYTES(0, 1, 251, 0, 64));
	assert_frames(0, 80, BYTES(0, 1, 64 + 57, 7, 0, 9), BYTES(0, 1, 247, 0, 64, 7, 0, 9));
	assert_frames(0, 80, BYTES(0, 2, 57, 3), BYTES(0, 2, 251, 0, 64, 3));
}

static void each_type_of_frame_is_relocated(void **state)
{
	assert_frames(0, 300, BYTES(0, 1, 251, 1, 0), BYTES(0, 1, 251, 1, 7));
	assert_frames(0, 300, BYTES(0, 1, 247, 0, 10, 2), BYTES(0, 1, 247, 0, 17, 2));
	assert_frames(0, 300, BYTES(0, 1, 249, 0, 10), BYTES(0, 1, 249, 0, 17));
	assert_frames(0, 300, BYTES(0, 1, 253, 0, 10, 1, 7, 0, 3),
	              BYTES(0, 1, 253, 0, 17, 1, 7, 0, 3));
	/* Uninitialized types hold the position of their `new`. */
	assert_frames(0, 300, BYTES(0, 1, 255, 0, 10, 0, 2, 6, 8, 0, 5, 0, 1, 8, 0, 4),
	              BYTES(0, 1, 255, 0, 17, 0, 2, 6, 8, 0, 12, 0, 1, 8, 0, 11));
}

static void bad_frames_are_malformed(void **state)
{
	assert_frames(4, 20, BYTES(0, 1, 20), NULL, 0);              /* beyond the code */
	assert_frames(4, 20, BYTES(0, 1, 6), NULL, 0);               /* in an operand */
	assert_frames(4, 20, BYTES(0, 1, 200), NULL, 0);             /* no such type */
	assert_frames(4, 20, BYTES(0, 1, 64 + 9, 9), NULL, 0);       /* no such verification type */
	assert_frames(4, 20, BYTES(0, 1, 64 + 9, 8, 0, 6), NULL, 0); /* no instruction there */
	assert_frames(4, 20, BYTES(0, 2, 9), NULL, 0);               /* cut */
	assert_frames(4, 20, BYTES(0, 1, 9, 9), NULL, 0);            /* too long */
	assert_frames(4, 20, BYTES(0, 1, 255, 0, 9, 0, 9), NULL, 0);
	assert_frames(4, 20, NULL, 0, NULL, 0);
}

static void old_classes_have_no_stack_map_table(void **state)
{
	struct code_spec spec = CODE(ARRAY, POP, RETURN);
	struct class_file c;
	struct rewritten r;
	uint32_t len;

	class_begin(&c, "A");
	c.major = 49;
	class_attribute(&c, &spec, "StackMapTable", BYTES(1, 2, 3));
	rewrite_one(&c, &spec, &r);
	assert_null(rewritten_attribute(&r, 0, "StackMapTable", &len));
	rewritten_free(&r);
}

/*
 * A method of `len` bytes that begins with a jump `op` to its return, has a site behind that, and
 * as many more as there are.
 */
static void rewrite_long(uint32_t len, uint8_t op, uint16_t sites, struct rewritten *out)
{
	uint8_t *code = calloc(len, 1);
	struct code_spec spec = { .code = code, .len = len }, small = CODE(ARRAY, POP, RETURN);
	struct class_file c;

	assert_non_null(code);
	code[0] = op;
	if (op != NOP)
		lc_be_put2(code + 1, len - 1);
	for (uint16_t i = 0; i < sites; i++)
		memcpy(code + 3 + 4 * i, ((const uint8_t[]){ ARRAY, POP }), 4);
	code[len - 1] = RETURN;
	class_begin(&c, "A");
	class_method(&c, "m", "(I)V", &spec);
	class_method(&c, "n", "(I)V", &small);
	class_rewrite(&c, hook_all(), out);
	free(code);
}

static void goto_and_jsr_are_widened_when_they_no_longer_reach(void **state)
{
	struct rewritten r;
	struct lc_method_code code;

	for (uint8_t op = LC_OP_GOTO; op <= LC_OP_JSR; op++) {
		rewrite_long(32768 - HOOK_LEN, op, 1, &r); /* reaches just so */
		code = rewritten_code(&r, 0);
		assert_int_equal(code.insns[0], op);
		assert_int_equal(lc_be_get2s(code.insns + 1), 32767);
		rewritten_free(&r);
		rewrite_long(32769 - HOOK_LEN, op, 1, &r);
		code = rewritten_code(&r, 0);
		assert_int_equal(code.insns[0], op + LC_OP_GOTO_W - LC_OP_GOTO);
		assert_int_equal(lc_be_get4s(code.insns + 1), 32768 + 2);
		assert_int_equal(code.insns[32768 + 2], RETURN);
		assert_int_equal(r.result.methods_left, 0);
		rewritten_free(&r);
	}
}

static void method_whose_branch_no_longer_reaches_is_left_alone(void **state)
{
	struct rewritten r;

	rewrite_long(32769 - HOOK_LEN, 153, 1, &r);
	assert_int_equal(r.status, LC_REWRITE_DONE); /* there is another method */
	assert_int_equal(r.result.methods_left, 1);
	assert_int_equal(r.result.sites, 1);
	assert_int_equal(rewritten_code(&r, 0).len, 32769 - HOOK_LEN);
	assert_int_equal(rewritten_code(&r, 1).len, 5 + HOOK_LEN);
	rewritten_free(&r);
}

static void method_that_outgrows_the_limit_is_left_alone(void **state)
{
	struct rewritten r;

	rewrite_long(65535 - 3 * HOOK_LEN, NOP, 3, &r);
	assert_int_equal(r.result.methods_left, 0);
	assert_int_equal(rewritten_code(&r, 0).len, 65535);
	rewritten_free(&r);
	rewrite_long(65536 - 3 * HOOK_LEN, NOP, 3, &r);
	assert_int_equal(r.result.methods_left, 1);
	assert_int_equal(r.result.sites, 1);
	rewritten_free(&r);
}

static void class_of_which_no_method_fits_is_too_large(void **state)
{
	struct code_spec spec = CODE(ARRAY, POP, RETURN);
	struct class_file c;
	struct rewritten r;

	spec.max_stack = 65534;
	class_begin(&c, "A");
	rewrite_one(&c, &spec, &r);
	assert_int_equal(r.status, LC_REWRITE_TOO_LARGE);
	assert_int_equal(r.result.methods_left, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps_across_the_hook_reach_their_targets),
		cmocka_unit_test(far_jumps_and_subroutines_are_relocated),
		cmocka_unit_test(tableswitch_is_padded_anew),
		cmocka_unit_test(lookupswitch_keeps_its_keys),
		cmocka_unit_test(wide_instructions_are_copied_whole),
		cmocka_unit_test(bad_instructions_and_targets_are_malformed),
		cmocka_unit_test(the_hook_is_inside_the_try_range_of_its_allocation),
		cmocka_unit_test(bad_try_ranges_are_malformed),
		cmocka_unit_test(debug_tables_are_relocated),
		cmocka_unit_test(debug_tables_that_do_not_fit_the_code_are_malformed),
		cmocka_unit_test(unknown_attributes_of_code_are_left_out),
		cmocka_unit_test(type_annotations_are_relocated),
		cmocka_unit_test(type_annotations_that_do_not_parse_are_left_out),
		cmocka_unit_test(frames_keep_their_short_form_while_it_fits),
		cmocka_unit_test(frames_take_the_long_form_when_they_must),
		cmocka_unit_test(each_type_of_frame_is_relocated),
		cmocka_unit_test(bad_frames_are_malformed),
		cmocka_unit_test(old_classes_have_no_stack_map_table),
		cmocka_unit_test(goto_and_jsr_are_widened_when_they_no_longer_reach),
		cmocka_unit_test(method_whose_branch_no_longer_reaches_is_left_alone),
		cmocka_unit_test(method_that_outgrows_the_limit_is_left_alone),
		cmocka_unit_test(class_of_which_no_method_fits_is_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
