/* uses: src/attribute/reach_fit.c src/classfile/ src/base/track.c src/jvm/layout/field_layout.c tests/unit/class_file.c tests/unit/reach_model.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reach_fit.c - checks which instruction of bytecode that the test writes makes an access, and
 * for which reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/method_code.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/field_layout.h"
#include "tests/unit/reach_model.h"

enum { STATIC = 8, SYNCHRONIZED = 0x20 };

static struct lc_reach_fit fit;

static int begin(void **state)
{
	*state = reach_model_begin();
	return 0;
}

static int end(void **state)
{
	reach_model_end();
	return 0;
}

/* A method of one class with that code; positions below are those of its instructions. */
static struct lc_reach_code *method(const char *descriptor, uint16_t flags, const uint8_t *code,
                                    size_t len)
{
	const unsigned number = reach_model_add(&(struct reach_method){
	    .descriptor = descriptor, .flags = flags, .code = code, .len = len });

	assert_non_null(reach_model_code(number));
	return reach_model_code(number);
}

static const char *part(enum lc_field_part p)
{
	return lc_field_part_name(p);
}

/* The sources with which a load or store of the part fits at `bci`; NULL: it does not. */
static const char *fits(struct lc_reach_code *code, uint32_t bci, const char *of,
                        const char *signature, uint8_t touch)
{
	const struct lc_reach_ask ask = { .part = of, .signature = signature, .touch = touch };

	return lc_reach_fit(code, &ask, bci, &fit) ? reach_model_sources(&fit.sources) : NULL;
}

static const char *loads(struct lc_reach_code *code, uint32_t bci, const char *of,
                         const char *signature)
{
	return fits(code, bci, of, signature, LC_TOUCH_LOAD);
}

static void a_field_fits_by_its_name(void **state)
{
	const uint8_t next = (uint8_t)class_field_ref(*state, "A", "next", "LA;");
	const uint8_t value = (uint8_t)class_field_ref(*state, "A", "value", "I");
	struct lc_reach_code *code = method(
	    "(LA;)I", STATIC,
	    REACH_CODE(ALOAD_0, LC_OP_GETFIELD, 0, next, LC_OP_GETFIELD, 0, value, LC_OP_IRETURN));
	struct lc_reach_ask own = { .part = "value", .signature = "LA;", .own = true };
	char expected[32];

	snprintf(expected, sizeof(expected), "field %u", next);
	assert_string_equal(loads(code, 4, "value", "LA;"), expected);
	assert_int_equal(fit.why, LC_WHY_NO_HEADER);
	assert_string_equal(loads(code, 1, "next", "LA;"), "parameter 0");
	assert_null(loads(code, 1, "value", "LA;"));
	assert_null(loads(code, 4, "val", "LA;"));
	/* The class that declares it may be asked for. */
	assert_true(lc_reach_fit(code, &own, 4, &fit));
	own.signature = "LB;";
	assert_false(lc_reach_fit(code, &own, 4, &fit));
	own.signature = NULL;
	assert_false(lc_reach_fit(code, &own, 4, &fit));
}

static void an_element_fits_by_its_type(void **state)
{
	struct lc_reach_code *code =
	    method("([I[B)V", STATIC,
	           REACH_CODE(ALOAD_0, ICONST_0, LC_OP_IALOAD, POP, ALOAD_1, ICONST_0, BALOAD, POP,
	                      LC_OP_RETURN));

	assert_string_equal(loads(code, 2, "", "[I"), "parameter 0");
	assert_string_equal(loads(code, 2, part(LC_PART_UNKNOWN), NULL), "parameter 0");
	assert_null(loads(code, 2, "", "[J"));
	assert_null(loads(code, 2, "", "LA;"));
	assert_string_equal(loads(code, 6, "", "[B"), "parameter 1");
	assert_string_equal(loads(code, 6, "", "[Z"), "parameter 1");
	assert_null(loads(code, 6, "", "[[B"));
	assert_null(loads(code, 2, "value", "[I"));
	assert_null(loads(code, 3, "", "[I"));
}

static void a_length_is_read_by_itself_or_to_check_an_index(void **state)
{
	struct lc_reach_code *code = method("([I)V", STATIC,
	                                    REACH_CODE(ALOAD_0, LC_OP_ARRAYLENGTH, POP, ALOAD_0,
	                                               ICONST_0, LC_OP_IALOAD, POP, LC_OP_RETURN));

	assert_string_equal(loads(code, 1, part(LC_PART_LENGTH), "[I"), "parameter 0");
	assert_int_equal(fit.why, LC_WHY_LENGTH);
	assert_string_equal(loads(code, 5, part(LC_PART_LENGTH), "[I"), "parameter 0");
	assert_int_equal(fit.why, LC_WHY_BOUNDS);
	assert_null(loads(code, 2, part(LC_PART_LENGTH), "[I"));
	assert_int_equal(fit.why, LC_WHY_UNKNOWN);
}

static void a_class_is_read_for_calls_and_checks(void **state)
{
	const uint8_t get_class =
	    (uint8_t)class_method_ref(*state, "java/lang/Object", "getClass", "()V");
	const uint8_t call = (uint8_t)class_method_ref(*state, "A", "f", "()V");
	const uint8_t interface = (uint8_t)class_interface_ref(*state, "I", "g", "()V");
	const uint8_t type = (uint8_t)class_class(*state, "B");
	struct lc_reach_code *code = method(
	    "(LA;)V", STATIC,
	    REACH_CODE(ALOAD_0, LC_OP_INVOKEVIRTUAL, 0, call, ALOAD_0, LC_OP_INVOKEVIRTUAL, 0,
	               get_class, ALOAD_0, LC_OP_INVOKEINTERFACE, 0, interface, 1, 0, ALOAD_0,
	               LC_OP_CHECKCAST, 0, type, LC_OP_INSTANCEOF, 0, type, POP, LC_OP_RETURN));
	static const struct {
		uint32_t at;
		uint8_t why;
	} reads[] = {
		{ 1, LC_WHY_VIRTUAL }, { 5, LC_WHY_TYPE },  { 9, LC_WHY_INTERFACE },
		{ 15, LC_WHY_TYPE },   { 18, LC_WHY_TYPE },
	};

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		assert_string_equal(loads(code, reads[i].at, part(LC_PART_CLASS), "LA;"),
		                    "parameter 0");
		assert_int_equal(fit.why, reads[i].why);
	}
	assert_null(loads(code, 21, part(LC_PART_CLASS), "LA;"));
	assert_int_equal(fit.why, LC_WHY_UNKNOWN);
}

static void a_store_of_an_element_reads_two_classes(void **state)
{
	struct lc_reach_code *code =
	    method("([LB;LA;)V", STATIC,
	           REACH_CODE(ALOAD_0, ICONST_0, ALOAD_1, LC_OP_AASTORE, LC_OP_RETURN));

	assert_string_equal(loads(code, 3, part(LC_PART_CLASS), "LA;"), "parameter 1");
	assert_int_equal(fit.why, LC_WHY_STORE);
	assert_string_equal(loads(code, 3, part(LC_PART_CLASS), "[LB;"),
	                    "parameter 0 or parameter 1");
	assert_string_equal(loads(code, 3, part(LC_PART_CLASS), NULL),
	                    "parameter 0 or parameter 1");
}

static void a_mark_is_read_for_monitors_hashes_and_null_checks(void **state)
{
	const uint8_t hash =
	    (uint8_t)class_method_ref(*state, "java/lang/Object", "hashCode", "()I");
	const uint8_t value = (uint8_t)class_field_ref(*state, "A", "value", "I");
	const uint8_t type = (uint8_t)class_class(*state, "B");
	struct lc_reach_code *code =
	    method("(LA;)V", STATIC,
	           REACH_CODE(ALOAD_0, LC_OP_MONITORENTER, ALOAD_0, LC_OP_INVOKEVIRTUAL, 0, hash,
	                      POP, ALOAD_0, LC_OP_GETFIELD, 0, value, POP, ALOAD_0, LC_OP_CHECKCAST,
	                      0, type, LC_OP_MONITOREXIT, LC_OP_RETURN));

	assert_string_equal(loads(code, 1, part(LC_PART_MARK), "LA;"), "parameter 0");
	assert_int_equal(fit.why, LC_WHY_MONITOR);
	assert_string_equal(loads(code, 3, part(LC_PART_MARK), "LA;"), "parameter 0");
	assert_int_equal(fit.why, LC_WHY_HASH);
	assert_string_equal(loads(code, 8, part(LC_PART_MARK), "LA;"), "parameter 0");
	assert_int_equal(fit.why, LC_WHY_NULL);
	assert_null(loads(code, 13, part(LC_PART_MARK), "LA;"));
	assert_string_equal(loads(code, 16, part(LC_PART_MARK), "LA;"), "parameter 0");
	assert_int_equal(fit.why, LC_WHY_MONITOR);
}

static void a_synchronized_method_locks_its_object(void **state)
{
	struct lc_reach_code *code = method("()V", SYNCHRONIZED, REACH_CODE(LC_OP_RETURN));
	struct lc_reach_code *of_class =
	    method("()V", SYNCHRONIZED | STATIC, REACH_CODE(LC_OP_RETURN));

	assert_string_equal(loads(code, 0, part(LC_PART_MARK), "LA;"), "parameter 0");
	assert_int_equal(fit.why, LC_WHY_MONITOR);
	assert_null(loads(code, 0, part(LC_PART_CLASS), "LA;"));
	assert_null(loads(of_class, 0, part(LC_PART_MARK), "LA;"));
}

static void a_static_field_lies_in_its_class(void **state)
{
	const uint8_t f = (uint8_t)class_field_ref(*state, "A", "f", "I");
	struct lc_reach_code *code =
	    method("()V", STATIC, REACH_CODE(LC_OP_GETSTATIC, 0, f, POP, LC_OP_RETURN));
	char expected[32];

	snprintf(expected, sizeof(expected), "class %u", f);
	assert_string_equal(loads(code, 0, part(LC_PART_STATICS), "Ljava/lang/Class;"), expected);
	assert_string_equal(loads(code, 0, "f", "Ljava/lang/Class;"), expected);
	assert_null(loads(code, 3, part(LC_PART_STATICS), "Ljava/lang/Class;"));
}

static void a_new_object_is_only_written(void **state)
{
	const uint8_t type = (uint8_t)class_class(*state, "B");
	struct lc_reach_code *code =
	    method("()V", STATIC, REACH_CODE(LC_OP_NEW, 0, type, POP, LC_OP_RETURN));

	assert_string_equal(fits(code, 0, part(LC_PART_MARK), "LB;", LC_TOUCH_STORE), "new 0");
	assert_true(fit.made);
	assert_int_equal(fit.why, LC_WHY_ALLOCATION);
	assert_string_equal(fits(code, 0, "f", "LB;", LC_TOUCH_STORE), "new 0");
	assert_int_equal(fit.why, LC_WHY_NO_HEADER);
	assert_null(loads(code, 0, part(LC_PART_MARK), "LB;"));
}

static void an_intrinsic_touches_its_arguments(void **state)
{
	const uint8_t copy = (uint8_t)class_method_ref(
	    *state, "java/lang/System", "arraycopy", "(Ljava/lang/Object;ILjava/lang/Object;II)V");
	struct lc_reach_code *code =
	    method("([I[I)V", STATIC,
	           REACH_CODE(ALOAD_0, ICONST_0, ALOAD_1, ICONST_0, ICONST_0, LC_OP_INVOKESTATIC, 0,
	                      copy, LC_OP_RETURN));

	assert_string_equal(fits(code, 5, "", "[I", LC_TOUCH_STORE), "parameter 1");
	assert_string_equal(fits(code, 5, "", "[I", LC_TOUCH_LOAD), "parameter 0");
	assert_string_equal(fits(code, 5, "", "[I", 0), "parameter 0 or parameter 1");
	assert_string_equal(fits(code, 5, part(LC_PART_LENGTH), "[I", 0),
	                    "parameter 0 or parameter 1");
	assert_int_equal(fit.why, LC_WHY_UNKNOWN);
	assert_null(fits(code, 5, "value", "[I", 0));
	assert_null(fits(code, 5, part(LC_PART_STATICS), "[I", 0));
}

static void an_intrinsic_gets_arguments_of_the_type_alone(void **state)
{
	const uint8_t call = (uint8_t)class_method_ref(*state, "I", "f", "(J[ID[J)V");
	struct lc_reach_code *code =
	    method("([I[J)V", STATIC,
	           REACH_CODE(9, ALOAD_0, 14, ALOAD_1, LC_OP_INVOKESTATIC, 0, call, LC_OP_RETURN));

	assert_string_equal(loads(code, 4, "", "[J"), "parameter 1");
	assert_string_equal(loads(code, 4, "", "[I"), "parameter 0");
	assert_null(loads(code, 4, "", "[S"));
}

static void the_bytes_of_a_string_are_reached_through_it(void **state)
{
	const uint8_t equals = (uint8_t)class_method_ref(*state, "java/lang/String", "equals",
	                                                 "(Ljava/lang/Object;)Z");
	const uint8_t take = (uint8_t)class_method_ref(*state, "A", "f", "(Ljava/lang/String;)V");
	struct lc_reach_code *code =
	    method("(Ljava/lang/String;)V", STATIC,
	           REACH_CODE(ALOAD_0, ALOAD_0, LC_OP_INVOKEVIRTUAL, 0, equals, POP, ALOAD_0,
	                      LC_OP_INVOKESTATIC, 0, take, LC_OP_RETURN));

	assert_string_equal(loads(code, 7, "", "[B"), "");
	assert_true(fit.string && fit.sources.known);
	assert_string_equal(loads(code, 2, "", "[B"), "parameter 0");
	assert_true(fit.string);
	assert_null(loads(code, 7, "", "[I"));
	assert_false(fit.string);
}

/* javac never writes such descriptors: the analysis refuses the code, so that nothing asks. */
static void a_call_with_a_malformed_descriptor_is_not_analysed(void **state)
{
	static const char *const descriptors[] = { "(Lfoo", "([", "(", "", "([[[", "(I" };

	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
		const uint8_t call = (uint8_t)class_method_ref(*state, "A", "f", descriptors[i]);
		const uint8_t code[] = { LC_OP_INVOKESTATIC, 0, call, LC_OP_RETURN };
		const unsigned number = reach_model_add(&(struct reach_method){
		    .descriptor = "()V", .flags = STATIC, .code = code, .len = sizeof(code) });

		assert_null(reach_model_code(number));
	}
}

static void no_instruction_fits_where_none_begins(void **state)
{
	const uint8_t f = (uint8_t)class_field_ref(*state, "A", "f", "I");
	struct lc_reach_code *code =
	    method("(LA;)V", STATIC,
	           REACH_CODE(ALOAD_0, LC_OP_GETFIELD, 0, f, POP, LC_OP_RETURN, /* dead: */ ALOAD_0,
	                      LC_OP_GETFIELD, 0, f, POP, LC_OP_RETURN));

	assert_non_null(loads(code, 1, "f", "LA;"));
	for (uint32_t at = 2; at < 4; at++)
		assert_null(loads(code, at, "f", "LA;"));
	assert_null(loads(code, 12, "f", "LA;"));
	assert_null(loads(code, 60000, "f", "LA;"));
	assert_null(loads(code, UINT32_MAX, "f", "LA;"));
}

static void all_that_fits_is_joined(void **state)
{
	const uint8_t f = (uint8_t)class_field_ref(*state, "A", "f", "[I");
	struct lc_reach_code *code =
	    method("([I[ILA;)V", STATIC,
	           REACH_CODE(ALOAD_0, ICONST_0, LC_OP_IALOAD, POP, ALOAD_1, LC_OP_ARRAYLENGTH, POP,
	                      ALOAD_2, LC_OP_GETFIELD, 0, f, ICONST_0, LC_OP_IALOAD, POP, ICONST_0,
	                      LC_OP_NEWARRAY, 10, POP, LC_OP_RETURN));
	struct lc_reach_ask ask = { .part = "", .signature = "[I", .touch = LC_TOUCH_STORE };
	char expected[48];

	snprintf(expected, sizeof(expected), "field %u or parameter 0", f);
	assert_true(lc_reach_fit_any(code, &ask, &fit));
	assert_string_equal(reach_model_sources(&fit.sources), expected);
	ask.part = part(LC_PART_LENGTH);
	snprintf(expected, sizeof(expected), "field %u or parameter 0 or parameter 1", f);
	assert_true(lc_reach_fit_any(code, &ask, &fit));
	assert_string_equal(reach_model_sources(&fit.sources), expected);
	assert_int_equal(fit.why, LC_WHY_UNKNOWN); /* a check, or the length alone */
	ask.signature = "[J";
	ask.part = "";
	assert_false(lc_reach_fit_any(code, &ask, &fit));
}

static void sources_of_another_type_are_left_out(void **state)
{
	const uint16_t grid = class_field_ref(*state, "A", "grid", "[[I");
	const uint16_t all = class_field_ref(*state, "A", "all", "[LA;");
	const uint16_t object = class_field_ref(*state, "A", "o", "Ljava/lang/Object;");
	struct lc_reach_code *code =
	    method("()V", STATIC, REACH_CODE(ICONST_0, LC_OP_NEWARRAY, 10, POP, LC_OP_RETURN));
	static const struct {
		const char *signature;
		unsigned elements;
		bool grid, all, object, made;
	} cases[] = {
		{ "[[I", 0, true, true, true, false },    { "[I", 0, false, false, true, true },
		{ "[I", 1, true, true, true, true },      { "[LB;", 0, false, true, true, false },
		{ "[[LB;", 0, false, true, true, false }, { "LB;", 0, false, false, true, false },
		{ "LB;", 1, false, true, true, false },   { NULL, 0, true, true, true, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t e = (uint8_t)cases[i].elements;
		struct lc_reached_sources s[] = {
			{ true, 1, { { LC_REACHED_FIELD, e, grid } } },
			{ true, 1, { { LC_REACHED_FIELD, e, all } } },
			{ true, 1, { { LC_REACHED_STATIC, e, object } } },
			{ true, 1, { { LC_REACHED_NEW, 0, 1 } } },
		};

		assert_int_equal(lc_reach_sift(code, cases[i].signature, &s[0]), cases[i].grid);
		assert_int_equal(lc_reach_sift(code, cases[i].signature, &s[1]), cases[i].all);
		assert_int_equal(lc_reach_sift(code, cases[i].signature, &s[2]), cases[i].object);
		assert_int_equal(lc_reach_sift(code, cases[i].signature, &s[3]), cases[i].made);
	}
}

static void types_of_parameters_and_results_are_compared_too(void **state)
{
	const uint8_t call = (uint8_t)class_method_ref(*state, "A", "f", "(I)[[I");
	const uint8_t dynamic = (uint8_t)class_invoke_dynamic(*state, "()[J");
	struct lc_reach_code *code =
	    method("(J[[I[BD[LB;)V", STATIC,
	           REACH_CODE(ICONST_0, LC_OP_INVOKESTATIC, 0, call, POP, LC_OP_INVOKEDYNAMIC, 0,
	                      dynamic, 0, 0, POP, LC_OP_RETURN));
	static const struct {
		uint8_t kind, elements;
		uint16_t index;
		const char *is, *is_not;
	} cases[] = {
		{ LC_REACHED_PARAMETER, 0, 2, "[[I", "[I" },
		{ LC_REACHED_PARAMETER, 1, 2, "[I", "[J" },
		{ LC_REACHED_PARAMETER, 0, 3, "[B", "LA;" },
		{ LC_REACHED_PARAMETER, 0, 6, "[LB;", "[B" },
		{ LC_REACHED_RESULT, 0, 1, "[[I", "LA;" },
		{ LC_REACHED_RESULT, 1, 1, "[I", "[[I" },
		{ LC_REACHED_RESULT, 0, 5, "[J", "[I" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lc_reached_sources s = {
			true, 1, { { cases[i].kind, cases[i].elements, cases[i].index } }
		};
		struct lc_reached_sources is = s, is_not = s;

		assert_true(lc_reach_sift(code, cases[i].is, &is));
		assert_false(lc_reach_sift(code, cases[i].is_not, &is_not));
	}
}

static void sources_that_are_not_known_stay(void **state)
{
	struct lc_reach_code *code = method("()V", STATIC, REACH_CODE(LC_OP_RETURN));
	struct lc_reached_sources unknown = { 0 },
	                          none = { true, 1, { { LC_REACHED_FIELD, 0, 60000 } } };

	assert_true(lc_reach_sift(code, "LA;", &unknown));
	assert_true(lc_reach_sift(code, "LA;", &none)); /* no such constant: nothing rules it out */
	assert_int_equal(none.len, 1);
}

static void the_mark_and_the_class_are_headers_and_a_length_is_not(void **state)
{
	static const struct {
		enum lc_field_part part;
		bool is;
	} parts[] = { { LC_PART_MARK, true },
		      { LC_PART_CLASS, true },
		      { LC_PART_LENGTH, false },
		      { LC_PART_PADDING, false },
		      { LC_PART_STATICS, false } };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_int_equal(
		    lc_reach_of_header(&(struct lc_reach_ask){ .part = part(parts[i].part) }),
		    parts[i].is);
	assert_false(lc_reach_of_header(&(struct lc_reach_ask){ .part = "mark" }));
	assert_false(lc_reach_of_header(&(struct lc_reach_ask){ .part = NULL }));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_field_fits_by_its_name),
		TEST(an_element_fits_by_its_type),
		TEST(a_length_is_read_by_itself_or_to_check_an_index),
		TEST(a_class_is_read_for_calls_and_checks),
		TEST(a_store_of_an_element_reads_two_classes),
		TEST(a_mark_is_read_for_monitors_hashes_and_null_checks),
		TEST(a_synchronized_method_locks_its_object),
		TEST(a_static_field_lies_in_its_class),
		TEST(a_new_object_is_only_written),
		TEST(an_intrinsic_touches_its_arguments),
		TEST(an_intrinsic_gets_arguments_of_the_type_alone),
		TEST(the_bytes_of_a_string_are_reached_through_it),
		TEST(a_call_with_a_malformed_descriptor_is_not_analysed),
		TEST(no_instruction_fits_where_none_begins),
		TEST(all_that_fits_is_joined),
		TEST(sources_of_another_type_are_left_out),
		TEST(types_of_parameters_and_results_are_compared_too),
		TEST(sources_that_are_not_known_stay),
		TEST(the_mark_and_the_class_are_headers_and_a_length_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
