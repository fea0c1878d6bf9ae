/* uses: src/attribute/reach_around.c src/attribute/reach_fit.c src/attribute/reach_source.c src/classfile/ src/base/track.c src/jvm/layout/field_layout.c tests/unit/class_file.c tests/unit/reach_model.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reach_around.c - checks where an access is looked for that the sampled instruction does not
 * make, in bytecode that the test writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/method_code.h"
#include "src/classfile/rewrite.h"
#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/field_layout.h"
#include "tests/unit/reach_model.h"

enum { STATIC = 8, CALLS_DEEP = 3 };

static struct class_file *constants;
static struct lc_reach_names names;
static struct lc_reach_search search;
static uint8_t why;

static int begin(void **state)
{
	constants = reach_model_begin();
	return 0;
}

static int end(void **state)
{
	assert_int_equal(reach_model_users(), 0);
	reach_model_end();
	return 0;
}

static unsigned add(const char *name, const char *descriptor, const uint8_t *code, size_t len)
{
	return reach_model_add(&(struct reach_method){
	    .name = name, .descriptor = descriptor, .flags = STATIC, .code = code, .len = len });
}

/* Names of what is found around a method; NULL: nothing is. */
static const char *around(unsigned method, uint32_t node, const struct lc_reach_ask *ask)
{
	const struct lc_reach_place place = { .code = reach_model_code(method), .node = node };

	names = (struct lc_reach_names){ .known = true };
	search = (struct lc_reach_search){ .jni = reach_model_jni(), .out = &names };
	why = LC_WHY_NO_HEADER;
	assert_non_null(place.code);
	return lc_reach_around(&search, &place, ask, &why) ? reach_model_names(&names) : NULL;
}

static const struct lc_reach_ask value = { .part = "value", .signature = "LB;" };

/* Code that reads B.value of an object that comes from the field. */
#define READ_VALUE(from)                                                                           \
	ALOAD_0, LC_OP_GETFIELD, 0, from, LC_OP_GETFIELD, 0,                                       \
	    (uint8_t)class_field_ref(constants, "B", "value", "I"), POP

static uint8_t field(const char *name)
{
	return (uint8_t)class_field_ref(constants, "A", name, "LB;");
}

static uint8_t method_ref(const char *name)
{
	return (uint8_t)class_method_ref(constants, "A", name, "(LA;)V");
}

static void all_accesses_of_the_method_count(void **state)
{
	const uint8_t f = field("f"), g = field("g");
	const unsigned m = add(
	    "m", "(LA;)V", REACH_CODE(READ_VALUE(f), READ_VALUE(g), READ_VALUE(f), LC_OP_RETURN));
	const uint32_t node = reach_model_path(0, m, 0);
	struct lc_reach_ask ask = value;

	assert_string_equal(around(m, node, &ask), "A.f or A.g");
	ask.part = "other";
	assert_null(around(m, node, &ask));
	ask.part = "value"; /* of another class that has such a field */
	ask.signature = "LC;";
	assert_null(around(m, node, &ask));
}

static void a_part_that_any_instruction_may_touch_is_not_looked_for(void **state)
{
	static const enum lc_field_part parts[] = { LC_PART_MARK,    LC_PART_CLASS,
		                                    LC_PART_STATICS, LC_PART_PADDING,
		                                    LC_PART_UNKNOWN, LC_PART_INTERNAL };
	const unsigned m = add(
	    "m", "([I)V",
	    REACH_CODE(ALOAD_0, LC_OP_ARRAYLENGTH, POP, ALOAD_0, LC_OP_MONITORENTER, LC_OP_RETURN));
	const uint32_t node = reach_model_path(0, m, 0);
	struct lc_reach_ask ask = { .part = lc_field_part_name(LC_PART_LENGTH), .signature = "[I" };

	assert_string_equal(around(m, node, &ask), "A.m(1)");
	assert_int_equal(why, LC_WHY_LENGTH);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		ask.part = lc_field_part_name(parts[i]);
		assert_null(around(m, node, &ask));
	}
	ask.part = NULL;
	assert_null(around(m, node, &ask));
	ask.part = lc_field_part_name(LC_PART_LENGTH);
	ask.signature = NULL;
	assert_null(around(m, node, &ask));
}

/* A chain of methods, each of which calls the next; the last one reads. */
static void called_methods_are_looked_at_three_deep(void **state)
{
	const uint8_t f = field("f");
	static const char *const called[CALLS_DEEP + 2] = { "m0", "m1", "m2", "m3", "m4" };
	unsigned chain[CALLS_DEEP + 2];

	chain[0] = add(called[0], "(LA;)V", REACH_CODE(READ_VALUE(f), LC_OP_RETURN));
	for (unsigned i = 1; i <= CALLS_DEEP + 1; i++) {
		const uint8_t call = method_ref(called[i - 1]);

		chain[i] = add(called[i], "(LA;)V",
		               REACH_CODE(ALOAD_0, LC_OP_INVOKESTATIC, 0, call, LC_OP_RETURN));
	}
	for (unsigned i = 0; i <= CALLS_DEEP; i++)
		assert_string_equal(around(chain[i], reach_model_path(0, chain[i], 0), &value),
		                    "A.f");
	assert_null(
	    around(chain[CALLS_DEEP + 1], reach_model_path(0, chain[CALLS_DEEP + 1], 0), &value));
}

static void a_parameter_of_a_called_method_is_the_argument_of_that_call(void **state)
{
	const uint8_t f = field("f");
	const uint8_t of_b = (uint8_t)class_field_ref(constants, "B", "value", "I");
	const uint8_t call = (uint8_t)class_method_ref(constants, "A", "get", "(LB;)I");
	const unsigned m = add("m", "(LA;)V",
	                       REACH_CODE(ALOAD_0, LC_OP_GETFIELD, 0, f, LC_OP_INVOKESTATIC, 0,
	                                  call, POP, LC_OP_RETURN));

	add("get", "(LB;)I", REACH_CODE(ALOAD_0, LC_OP_GETFIELD, 0, of_b, LC_OP_IRETURN));
	assert_string_equal(around(m, reach_model_path(0, m, 8), &value), "A.f");
}

static void callers_are_looked_at_until_one_has_the_access(void **state)
{
	const uint8_t f = field("f"), g = field("g"), call = method_ref("m");
	const unsigned m = add("m", "(LA;)V", REACH_CODE(LC_OP_RETURN));
	const unsigned reads =
	    add("reads", "(LA;)V",
	        REACH_CODE(ALOAD_0, LC_OP_INVOKESTATIC, 0, call, READ_VALUE(f), LC_OP_RETURN));
	const unsigned outer = add("outer", "(LA;)V", REACH_CODE(READ_VALUE(g), LC_OP_RETURN));
	const unsigned idle =
	    add("idle", "(LA;)V", REACH_CODE(ALOAD_0, LC_OP_INVOKESTATIC, 0, call, LC_OP_RETURN));
	uint32_t node = reach_model_path(reach_model_path(0, outer, 0), reads, 1);

	assert_string_equal(around(m, reach_model_path(node, m, 0), &value), "A.f");
	for (unsigned frames = 1; frames <= LC_REACH_FRAMES; frames++) {
		assert_string_equal(around(m, reach_model_path(node, m, 0), &value), "A.f");
		node = reach_model_path(node, idle, 1);
	}
	assert_null(around(m, reach_model_path(node, m, 0), &value)); /* the fifth caller */
	assert_null(around(m, 9999, &value));
}

static void calls_of_hooks_and_of_several_methods_are_left_out(void **state)
{
	const uint8_t f = field("f");
	const uint8_t hook = (uint8_t)class_method_ref(constants, LC_HOOK_CLASS, "hook", "(LA;)V");
	const uint8_t any = (uint8_t)class_method_ref(constants, "A", "any", "(LA;)V");
	const uint8_t dynamic = (uint8_t)class_invoke_dynamic(constants, "(LA;)V");
	const uint8_t code[] = { READ_VALUE(f), LC_OP_RETURN };
	char hook_class[64] = "";
	unsigned m;

	for (size_t i = 0; LC_HOOK_CLASS[i] && i < sizeof(hook_class) - 1; i++)
		hook_class[i] = LC_HOOK_CLASS[i] == '/' ? '.' : LC_HOOK_CLASS[i];
	reach_model_add(&(struct reach_method){ .class_name = hook_class,
	                                        .name = "hook",
	                                        .descriptor = "(LA;)V",
	                                        .flags = STATIC,
	                                        .code = code,
	                                        .len = sizeof(code) });
	reach_model_add(&(struct reach_method){
	    .name = "any", .descriptor = "(LA;)V", .code = code, .len = sizeof(code) });
	m = add("m", "(LA;)V",
	        REACH_CODE(ALOAD_0, LC_OP_INVOKESTATIC, 0, hook, ALOAD_0, ALOAD_0,
	                   LC_OP_INVOKEVIRTUAL, 0, any, ALOAD_0, LC_OP_INVOKEDYNAMIC, 0, dynamic, 0,
	                   0, LC_OP_RETURN));
	assert_null(around(m, reach_model_path(0, m, 0), &value));
}

/* The access may be in what is not looked at. */
static void too_many_calls_make_the_answer_unknown(void **state)
{
	enum { CALLS = LC_REACH_STEPS + 1, CALL_BYTES = 4 };
	static uint8_t code[8 + CALLS * CALL_BYTES + 1];
	const uint8_t f = field("f"), call = method_ref("idle");
	const uint8_t read[] = { READ_VALUE(f) };
	unsigned m;

	memcpy(code, read, sizeof(read));
	for (unsigned i = 0; i < CALLS; i++)
		memcpy(code + sizeof(read) + (size_t)i * CALL_BYTES,
		       (const uint8_t[]){ ALOAD_0, LC_OP_INVOKESTATIC, 0, call }, CALL_BYTES);
	code[sizeof(read) + CALLS * CALL_BYTES] = LC_OP_RETURN;
	m = add("m", "(LA;)V", code, sizeof(read) + CALLS * CALL_BYTES + 1);
	add("idle", "(LA;)V", REACH_CODE(LC_OP_RETURN));
	assert_string_equal(around(m, reach_model_path(0, m, 0), &value), "not known");
	assert_int_equal(search.steps, LC_REACH_STEPS + 1);
	/* One call less is looked at to the end. */
	code[sizeof(read)] = code[sizeof(read) + 1] = code[sizeof(read) + 2] = 0; /* nop */
	code[sizeof(read) + 3] = 0;
	m = add("m2", "(LA;)V", code, sizeof(read) + CALLS * CALL_BYTES + 1);
	assert_string_equal(around(m, reach_model_path(0, m, 0), &value), "A.f");
}

/* A method that calls itself is looked at as often as calls are followed. */
static void recursion_ends(void **state)
{
	const uint8_t f = field("f"), call = method_ref("m");
	const unsigned m =
	    add("m", "(LA;)V",
	        REACH_CODE(ALOAD_0, LC_OP_INVOKESTATIC, 0, call, READ_VALUE(f), LC_OP_RETURN));

	assert_string_equal(around(m, reach_model_path(0, m, 0), &value), "A.f");
	assert_int_equal(search.steps, CALLS_DEEP);
}

/* A called method whose code the analysis refuses is as good as one that is not known. */
static void a_called_method_with_malformed_code_is_left_out(void **state)
{
	const uint8_t f = field("f"), call = method_ref("broken");
	const unsigned broken = add("broken", "(LA;)V", REACH_CODE(POP, LC_OP_RETURN));
	const unsigned m =
	    add("m", "(LA;)V",
	        REACH_CODE(ALOAD_0, LC_OP_INVOKESTATIC, 0, call, READ_VALUE(f), LC_OP_RETURN));

	assert_null(reach_model_code(broken));
	assert_string_equal(around(m, reach_model_path(0, m, 0), &value), "A.f");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(all_accesses_of_the_method_count),
		TEST(a_part_that_any_instruction_may_touch_is_not_looked_for),
		TEST(called_methods_are_looked_at_three_deep),
		TEST(a_parameter_of_a_called_method_is_the_argument_of_that_call),
		TEST(callers_are_looked_at_until_one_has_the_access),
		TEST(calls_of_hooks_and_of_several_methods_are_left_out),
		TEST(too_many_calls_make_the_answer_unknown),
		TEST(recursion_ends),
		TEST(a_called_method_with_malformed_code_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
