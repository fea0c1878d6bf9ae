/* uses: src/attribute/reach_load.c src/attribute/reach_fit.c src/attribute/reach_source.c src/classfile/ src/base/track.c src/jvm/layout/field_layout.c tests/unit/class_file.c tests/unit/reach_model.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reach_load.c - checks that a load of the machine code is believed only where the bytecode at
 * its position loads a reference from the same offset.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/method_code.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/format/kinds.h"
#include "tests/unit/reach_model.h"

enum { STATIC = 8, NEXT_AT = 12, VALUE_AT = 16 };

static struct class_file *constants;
static struct lc_reach_names names;

static int begin(void **state)
{
	constants = reach_model_begin();
	reach_model_field("next", NEXT_AT);
	reach_model_field("table", NEXT_AT);
	reach_model_field("head", 112);
	reach_model_field("value", VALUE_AT);
	return 0;
}

static int end(void **state)
{
	assert_int_equal(reach_model_users(), 0);
	reach_model_end();
	return 0;
}

/* Names of the reference that the load at `bci` with that operand brought; NULL: not sure. */
static const char *loaded(unsigned method, uint32_t bci, int32_t disp, const char *signature)
{
	struct lc_reach_search search = { .jni = reach_model_jni(), .out = &names };
	const struct lc_reach_ask ask = {
		.signature = signature,
		.load = { .method = lc_method_get(method), .bci = bci, .disp = disp },
	};

	names = (struct lc_reach_names){ .known = true };
	return lc_reach_load(&search, &ask) ? reach_model_names(&names) : NULL;
}

static unsigned list(void)
{
	const uint8_t next = (uint8_t)class_field_ref(constants, "A", "next", "LA;");
	const uint8_t value = (uint8_t)class_field_ref(constants, "A", "value", "I");
	const uint8_t head = (uint8_t)class_field_ref(constants, "A", "head", "LA;");
	const uint8_t gone = (uint8_t)class_field_ref(constants, "Gone", "next", "LA;");
	const uint8_t call = (uint8_t)class_method_ref(constants, "A", "m", "(LA;)V");

	return reach_model_add(&(struct reach_method){
	    .descriptor = "(LA;)V",
	    .flags = STATIC,
	    REACH_BODY(ALOAD_0, LC_OP_GETFIELD, 0, next, LC_OP_GETFIELD, 0, value, POP,
	               LC_OP_GETSTATIC, 0, head, LC_OP_GETFIELD, 0, gone, LC_OP_INVOKESTATIC, 0,
	               call, LC_OP_RETURN) });
}

static void a_field_is_named_if_it_lies_where_the_load_reads(void **state)
{
	const unsigned m = list();

	assert_string_equal(loaded(m, 1, NEXT_AT, "LA;"), "A.next");
	assert_int_equal(names.of[0].kind, LC_REFERENCE_FIELD);
	assert_null(loaded(m, 1, VALUE_AT, "LA;"));
	assert_null(loaded(m, 1, NEXT_AT + 1, "LA;"));
	assert_null(loaded(m, 1, -NEXT_AT, "LA;"));
	assert_string_equal(loaded(m, 8, 112, "LA;"), "A.head");
	assert_int_equal(names.of[0].kind, LC_REFERENCE_STATIC);
	assert_null(loaded(m, 8, NEXT_AT, "LA;"));
	/* Its class is not loaded, so that nobody knows where it lies. */
	assert_null(loaded(m, 11, NEXT_AT, "LA;"));
}

static void code_that_loads_no_reference_names_none(void **state)
{
	const unsigned m = list();

	assert_null(loaded(m, 4, VALUE_AT, "LA;")); /* an int */
	assert_null(loaded(m, 14, NEXT_AT, "LA;")); /* a call, whose position C2 gives to others */
	assert_null(loaded(m, 0, NEXT_AT, "LA;"));
	assert_null(loaded(m, 2, NEXT_AT, "LA;")); /* inside an instruction */
	assert_null(loaded(m, 60000, NEXT_AT, "LA;"));
	assert_null(loaded(m, LC_BCI_NONE, NEXT_AT, "LA;"));
	assert_null(loaded(0, 1, NEXT_AT, "LA;"));
}

static void an_element_is_named_by_its_array(void **state)
{
	const uint8_t table = (uint8_t)class_field_ref(constants, "A", "table", "[LA;");
	const unsigned m = reach_model_add(&(struct reach_method){
	    .descriptor = "(LA;[[I)V",
	    .flags = STATIC,
	    REACH_BODY(ALOAD_0, LC_OP_GETFIELD, 0, table, ICONST_0, LC_OP_AALOAD, POP, ALOAD_1,
	               ICONST_0, LC_OP_AALOAD, POP, LC_OP_RETURN) });

	assert_string_equal(loaded(m, 5, 16, "LA;"), "A.table[]");
	/* Unrolled loops read the elements around. */
	assert_string_equal(loaded(m, 5, 28, "LA;"), "A.table[]");
	assert_string_equal(loaded(m, 5, 12, "LA;"), "A.table[]");
	assert_null(loaded(m, 5, 18, "LA;"));
	/* A parameter's argument is not looked for: the load's callers are not known. */
	assert_string_equal(loaded(m, 9, 16, "[I"), "A.m(2)[]");
	assert_null(loaded(m, 9, 16, "[J"));
	assert_null(loaded(m, 9, 16, "LA;"));
}

static void the_type_must_be_possible(void **state)
{
	const uint8_t table = (uint8_t)class_field_ref(constants, "A", "table", "[LA;");
	const unsigned m = reach_model_add(&(struct reach_method){
	    .descriptor = "(LA;)V",
	    .flags = STATIC,
	    REACH_BODY(ALOAD_0, LC_OP_GETFIELD, 0, table, POP, LC_OP_RETURN) });

	assert_string_equal(loaded(m, 1, NEXT_AT, "[LA;"), "A.table");
	assert_string_equal(loaded(m, 1, NEXT_AT, NULL), "A.table");
	assert_null(loaded(m, 1, NEXT_AT, "LA;"));
	assert_null(loaded(m, 1, NEXT_AT, "[I"));
}

/* A method whose code the analysis refuses, and one of another length than the load's. */
static void malformed_code_names_nothing(void **state)
{
	const uint8_t next = (uint8_t)class_field_ref(constants, "A", "next", "LA;");
	const unsigned broken = reach_model_add(&(struct reach_method){
	    .descriptor = "(LA;)V",
	    .flags = STATIC,
	    REACH_BODY(ALOAD_0, LC_OP_GETFIELD, 0, next, POP, POP, LC_OP_RETURN) });
	const unsigned no_field = reach_model_add(&(struct reach_method){
	    .descriptor = "(LA;)V",
	    .flags = STATIC,
	    REACH_BODY(ALOAD_0, LC_OP_GETFIELD, 0xff, 0xff, POP, LC_OP_RETURN) });

	assert_null(loaded(broken, 1, NEXT_AT, "LA;"));
	assert_null(loaded(no_field, 1, NEXT_AT, "LA;"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_field_is_named_if_it_lies_where_the_load_reads),
		TEST(code_that_loads_no_reference_names_none),
		TEST(an_element_is_named_by_its_array),
		TEST(the_type_must_be_possible),
		TEST(malformed_code_names_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
