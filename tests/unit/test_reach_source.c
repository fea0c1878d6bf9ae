/* uses: src/attribute/reach_source.c src/classfile/ src/base/track.c tests/unit/class_file.c tests/unit/reach_model.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reach_source.c - checks the names of sources, and that parameters and results are followed
 * as far as it is sure, in bytecode that the test writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/method_code.h"
#include "src/core/record.h"
#include "src/format/kinds.h"
#include "tests/unit/reach_model.h"

enum { PRIVATE = 2, STATIC = 8, FINAL = 0x10 };

static struct lc_reach_names names;
static struct lc_reach_search search;
static struct class_file *constants;

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

static unsigned add(const char *descriptor, uint16_t flags, const uint8_t *code, size_t len)
{
	return reach_model_add(&(struct reach_method){
	    .descriptor = descriptor, .flags = flags, .code = code, .len = len });
}

static unsigned add_named(const char *name, const char *descriptor, uint16_t flags,
                          const uint8_t *code, size_t len)
{
	return reach_model_add(&(struct reach_method){
	    .name = name, .descriptor = descriptor, .flags = flags, .code = code, .len = len });
}

/* The names of sources in a method, at a node of the path tree. */
static const char *follow(unsigned method, uint32_t node, const struct lc_reached_sources *from)
{
	const struct lc_reach_place place = { .code = reach_model_code(method), .node = node };

	names = (struct lc_reach_names){ .known = true };
	search = (struct lc_reach_search){ .jni = reach_model_jni(), .out = &names };
	assert_non_null(place.code);
	lc_reach_follow(&search, &place, from);
	return reach_model_names(&names);
}

static const char *follow_one(unsigned method, uint32_t node, uint8_t kind, uint16_t index,
                              uint8_t elements)
{
	const struct lc_reached_sources s = { true, 1, { { kind, elements, index } } };

	return follow(method, node, &s);
}

static void sources_have_names(void **state)
{
	const uint16_t next = class_field_ref(constants, "com/acme/A", "next", "Lcom/acme/A;");
	const unsigned m = add("(JLA;)V", STATIC, REACH_CODE(LC_OP_RETURN));

	assert_string_equal(follow_one(m, 0, LC_REACHED_FIELD, next, 0), "com.acme.A.next");
	assert_int_equal(names.of[0].kind, LC_REFERENCE_FIELD);
	assert_string_equal(follow_one(m, 0, LC_REACHED_FIELD, next, 2), "com.acme.A.next[][]");
	assert_string_equal(follow_one(m, 0, LC_REACHED_STATIC, next, 1), "com.acme.A.next[]");
	assert_int_equal(names.of[0].kind, LC_REFERENCE_STATIC);
	assert_string_equal(follow_one(m, 0, LC_REACHED_CLASS, next, 0), "class com.acme.A");
	assert_int_equal(names.of[0].kind, LC_REFERENCE_CLASS);
	assert_string_equal(follow_one(m, 0, LC_REACHED_CONSTANT, 0, 0), "(constant)");
	assert_int_equal(names.of[0].kind, LC_REFERENCE_CONSTANT);
	assert_string_equal(follow_one(m, 0, LC_REACHED_CAUGHT, 0, 0), "(caught exception)");
	assert_int_equal(names.of[0].kind, LC_REFERENCE_CAUGHT);
	assert_string_equal(follow_one(m, 0, LC_REACHED_FIELD, 60000, 0), "not known");
	assert_string_equal(follow_one(m, 0, LC_REACHED_FIELD, 0, 0), "not known");
}

static void what_was_made_has_the_name_of_its_class(void **state)
{
	const uint8_t type = (uint8_t)class_class(constants, "com/acme/A");
	const uint8_t rows = (uint8_t)class_class(constants, "[[I");
	const uint8_t grid = (uint8_t)class_class(constants, "[[Lcom/acme/A;");
	const unsigned m =
	    add("()V", STATIC,
	        REACH_CODE(LC_OP_NEW, 0, type, POP, ICONST_0, LC_OP_NEWARRAY, 10, POP, ICONST_0,
	                   LC_OP_ANEWARRAY, 0, type, POP, ICONST_0, LC_OP_ANEWARRAY, 0, rows, POP,
	                   ICONST_0, LC_OP_MULTIANEWARRAY, 0, grid, 1, POP, LC_OP_RETURN));
	static const struct {
		uint16_t at;
		const char *name;
	} made[] = { { 0, "new com.acme.A" },
		     { 5, "new int[]" },
		     { 9, "new com.acme.A[]" },
		     { 14, "new int[][][]" },
		     { 19, "new com.acme.A[][]" } };

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		assert_string_equal(follow_one(m, 0, LC_REACHED_NEW, made[i].at, 0), made[i].name);
		assert_int_equal(names.of[0].kind, LC_REFERENCE_NEW);
	}
	assert_string_equal(follow_one(m, 0, LC_REACHED_NEW, 9, 1), "(new com.acme.A[])[]");
	assert_string_equal(follow_one(m, 0, LC_REACHED_NEW, 14, 2), "(new int[][][])[][]");
}

static void a_parameter_without_a_caller_has_its_number(void **state)
{
	const unsigned m = add("(JLA;[[LB;D[I)V", STATIC, REACH_CODE(LC_OP_RETURN));
	const unsigned v = add("(JLA;)V", 0, REACH_CODE(LC_OP_RETURN));

	assert_string_equal(follow_one(m, 0, LC_REACHED_PARAMETER, 2, 0), "A.m(2)");
	assert_int_equal(names.of[0].kind, LC_REFERENCE_PARAMETER);
	assert_string_equal(follow_one(m, 0, LC_REACHED_PARAMETER, 3, 1), "A.m(3)[]");
	assert_string_equal(follow_one(m, 0, LC_REACHED_PARAMETER, 6, 0), "A.m(5)");
	assert_string_equal(follow_one(v, 0, LC_REACHED_PARAMETER, 0, 0), "A.m(this)");
	assert_string_equal(follow_one(v, 0, LC_REACHED_PARAMETER, 3, 0), "A.m(2)");
}

static void a_parameter_is_the_argument_of_the_caller(void **state)
{
	const uint8_t f = (uint8_t)class_field_ref(constants, "A", "f", "[LA;");
	const uint8_t call = (uint8_t)class_method_ref(constants, "A", "callee", "(I[LA;)V");
	const uint8_t other = (uint8_t)class_method_ref(constants, "A", "other", "(I[LA;)V");
	const unsigned caller =
	    add_named("caller", "()V", 0,
	              REACH_CODE(ICONST_0, ALOAD_0, LC_OP_GETFIELD, 0, f, LC_OP_INVOKESTATIC, 0,
	                         call, ICONST_0, ALOAD_0, LC_OP_GETFIELD, 0, f, LC_OP_INVOKESTATIC,
	                         0, other, LC_OP_RETURN));
	const unsigned m = add_named("callee", "(I[LA;)V", STATIC, REACH_CODE(LC_OP_RETURN));

	assert_string_equal(follow_one(m, reach_model_path(reach_model_path(0, caller, 5), m, 0),
	                               LC_REACHED_PARAMETER, 1, 0),
	                    "A.f");
	assert_string_equal(follow_one(m, reach_model_path(reach_model_path(0, caller, 5), m, 0),
	                               LC_REACHED_PARAMETER, 1, 1),
	                    "A.f[]");
	/* The caller's instruction calls another method, or none. */
	assert_string_equal(follow_one(m, reach_model_path(reach_model_path(0, caller, 13), m, 0),
	                               LC_REACHED_PARAMETER, 1, 0),
	                    "A.callee(2)");
	assert_string_equal(follow_one(m, reach_model_path(reach_model_path(0, caller, 6), m, 0),
	                               LC_REACHED_PARAMETER, 1, 0),
	                    "A.callee(2)");
	assert_string_equal(
	    follow_one(m, reach_model_path(reach_model_path(0, caller, LC_BCI_NONE), m, 0),
	               LC_REACHED_PARAMETER, 1, 0),
	    "A.callee(2)");
	/* No such argument. */
	assert_string_equal(follow_one(m, reach_model_path(reach_model_path(0, caller, 5), m, 0),
	                               LC_REACHED_PARAMETER, 9, 0),
	                    "A.callee(3)");
}

/* A method that passes its argument on to itself, called from itself. */
static void four_callers_are_asked(void **state)
{
	const uint8_t f = (uint8_t)class_field_ref(constants, "A", "f", "LA;");
	const uint8_t call = (uint8_t)class_method_ref(constants, "A", "m", "(LA;)V");
	const unsigned first = add_named(
	    "first", "()V", 0,
	    REACH_CODE(ALOAD_0, LC_OP_GETFIELD, 0, f, LC_OP_INVOKESTATIC, 0, call, LC_OP_RETURN));
	const unsigned m =
	    add("(LA;)V", STATIC, REACH_CODE(ALOAD_0, LC_OP_INVOKESTATIC, 0, call, LC_OP_RETURN));
	uint32_t node = reach_model_path(0, first, 4);

	for (unsigned frames = 1; frames <= LC_REACH_FRAMES + 1; frames++) {
		node = reach_model_path(node, m, 1);
		assert_string_equal(follow_one(m, node, LC_REACHED_PARAMETER, 0, 0),
		                    frames <= LC_REACH_FRAMES ? "A.f" : "A.m(1)");
	}
}

static void a_result_is_what_the_method_returns_if_it_is_sure_which(void **state)
{
	const uint8_t f = (uint8_t)class_field_ref(constants, "A", "f", "[LA;");
	const uint8_t get = (uint8_t)class_method_ref(constants, "A", "get", "()[LA;");
	const uint8_t fixed = (uint8_t)class_method_ref(constants, "A", "fixed", "()[LA;");
	const uint8_t gone = (uint8_t)class_method_ref(constants, "A", "gone", "()[LA;");
	const unsigned m =
	    add("()V", 0,
	        REACH_CODE(ALOAD_0, LC_OP_INVOKEVIRTUAL, 0, get, POP, ALOAD_0, LC_OP_INVOKEVIRTUAL,
	                   0, fixed, POP, ALOAD_0, LC_OP_INVOKESPECIAL, 0, get, POP, ALOAD_0,
	                   LC_OP_INVOKEVIRTUAL, 0, gone, POP, LC_OP_RETURN));

	add_named("get", "()[LA;", 0, REACH_CODE(ALOAD_0, LC_OP_GETFIELD, 0, f, LC_OP_ARETURN));
	add_named("fixed", "()[LA;", FINAL,
	          REACH_CODE(ALOAD_0, LC_OP_GETFIELD, 0, f, LC_OP_ARETURN));
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 1, 0), "A.get()");
	assert_int_equal(names.of[0].kind, LC_REFERENCE_RESULT);
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 6, 1), "A.f[]");
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 11, 0), "A.f");
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 16, 0), "A.gone()");
}

static void private_methods_and_those_of_final_classes_are_sure(void **state)
{
	const uint8_t f = (uint8_t)class_field_ref(constants, "A", "f", "LA;");
	const uint8_t a = (uint8_t)class_method_ref(constants, "A", "a", "()LA;");
	const uint8_t b = (uint8_t)class_method_ref(constants, "A", "b", "()LA;");
	const unsigned m = add("()V", 0,
	                       REACH_CODE(ALOAD_0, LC_OP_INVOKEVIRTUAL, 0, a, POP, ALOAD_0,
	                                  LC_OP_INVOKEVIRTUAL, 0, b, POP, LC_OP_RETURN));
	const uint8_t code[] = { ALOAD_0, LC_OP_GETFIELD, 0, f, LC_OP_ARETURN };

	add_named("a", "()LA;", PRIVATE, code, sizeof(code));
	reach_model_add(&(struct reach_method){ .name = "b",
	                                        .descriptor = "()LA;",
	                                        .class_flags = FINAL,
	                                        .code = code,
	                                        .len = sizeof(code) });
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 1, 0), "A.f");
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 6, 0), "A.f");
}

/* A result that is the called method's parameter is the argument of the call. */
static void an_argument_that_comes_back_is_followed(void **state)
{
	const uint8_t f = (uint8_t)class_field_ref(constants, "A", "f", "LA;");
	const uint8_t same = (uint8_t)class_method_ref(constants, "A", "same", "(JLA;)LA;");
	const unsigned m = add("()V", 0,
	                       REACH_CODE(9, ALOAD_0, LC_OP_GETFIELD, 0, f, LC_OP_INVOKESTATIC, 0,
	                                  same, POP, LC_OP_RETURN));

	add_named("same", "(JLA;)LA;", STATIC, REACH_CODE(ALOAD_2, LC_OP_ARETURN));
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 5, 0), "A.f");
}

static void a_method_that_returns_its_own_result_ends_the_search(void **state)
{
	const uint8_t call = (uint8_t)class_method_ref(constants, "A", "m", "()LA;");
	const unsigned m =
	    add("()LA;", STATIC, REACH_CODE(LC_OP_INVOKESTATIC, 0, call, LC_OP_ARETURN));

	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 0, 0), "A.m()");
	assert_in_range(search.steps, 1, LC_REACH_FRAMES);
}

static void a_method_that_returns_what_is_not_known_has_its_name(void **state)
{
	const uint8_t get = (uint8_t)class_method_ref(constants, "A", "get", "()LA;");
	const uint8_t none = (uint8_t)class_method_ref(constants, "A", "none", "()LA;");
	const unsigned m = add("()V", STATIC,
	                       REACH_CODE(LC_OP_INVOKESTATIC, 0, get, POP, LC_OP_INVOKESTATIC, 0,
	                                  none, POP, LC_OP_RETURN));

	/* A variable that nothing has written. */
	add_named("get", "()LA;", STATIC, REACH_CODE(ALOAD_0, LC_OP_ARETURN));
	add_named("none", "()LA;", STATIC, REACH_CODE(ACONST_NULL, LC_OP_ATHROW));
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 0, 0), "A.get()");
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 4, 0), "A.none()");
}

static void a_lambda_has_no_name_of_its_own(void **state)
{
	const uint8_t dynamic = (uint8_t)class_invoke_dynamic(constants, "()LA;");
	const unsigned m = add(
	    "()V", STATIC, REACH_CODE(LC_OP_INVOKEDYNAMIC, 0, dynamic, 0, 0, POP, LC_OP_RETURN));

	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 0, 0), "(lambda)");
}

static void a_result_of_no_call_is_not_known(void **state)
{
	const unsigned m = add("()V", STATIC, REACH_CODE(ICONST_0, POP, LC_OP_RETURN));

	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 0, 0), "not known");
	assert_string_equal(follow_one(m, 0, LC_REACHED_RESULT, 999, 0), "not known");
}

static void names_are_given_once_and_five_are_too_many(void **state)
{
	names = (struct lc_reach_names){ .known = true };
	for (unsigned i = 0; i < LC_REACHED_SOURCES; i++) {
		const char name[] = { (char)('a' + i), '\0' };

		lc_reach_add_name(&names, name, LC_REFERENCE_FIELD);
		lc_reach_add_name(&names, name, LC_REFERENCE_FIELD);
	}
	assert_string_equal(reach_model_names(&names), "a or b or c or d");
	lc_reach_add_name(&names, "d", LC_REFERENCE_FIELD);
	assert_true(names.known);
	lc_reach_add_name(&names, "e", LC_REFERENCE_FIELD);
	assert_string_equal(reach_model_names(&names), "not known");
}

static void a_name_that_is_too_long_is_not_known(void **state)
{
	char holder[600];
	unsigned m;
	uint16_t field;

	memset(holder, 'x', sizeof(holder) - 1);
	holder[sizeof(holder) - 1] = '\0';
	field = class_field_ref(constants, holder, "f", "LA;");
	m = add("()V", STATIC, REACH_CODE(LC_OP_RETURN));
	assert_string_equal(follow_one(m, 0, LC_REACHED_FIELD, field, 0), "not known");
	names = (struct lc_reach_names){ .known = true };
	lc_reach_add_name(&names, holder, LC_REFERENCE_FIELD);
	assert_string_equal(reach_model_names(&names), "not known");
}

static void one_source_that_is_not_known_makes_all_unknown(void **state)
{
	const unsigned m = add("(LA;)V", STATIC, REACH_CODE(LC_OP_RETURN));
	struct lc_reached_sources s = { false, 1, { { LC_REACHED_PARAMETER, 0, 0 } } };

	assert_string_equal(follow(m, 0, &s), "not known");
	s = (struct lc_reached_sources){ true, 0, { { 0 } } };
	assert_string_equal(follow(m, 0, &s), ""); /* null alone */
	s = (struct lc_reached_sources){
		true, 2, { { LC_REACHED_PARAMETER, 0, 0 }, { LC_REACHED_FIELD, 0, 60000 } }
	};
	assert_string_equal(follow(m, 0, &s), "not known");
}

static void the_method_that_a_call_leads_to_is_found_by_name_and_type(void **state)
{
	const unsigned m = add("()V", STATIC, REACH_CODE(LC_OP_RETURN));
	const struct lc_reach_place place = { .code = reach_model_code(m) };
	struct lc_class_ref ref = { .holder = { "A", 1 },
		                    .name = { "m", 1 },
		                    .descriptor = { "()V", 3 } };
	char long_name[2000];

	search = (struct lc_reach_search){ .jni = reach_model_jni(), .out = &names };
	memset(long_name, 'x', sizeof(long_name));
	assert_ptr_equal(lc_reach_called(&search, &place, &ref, LC_OP_INVOKESTATIC), m);
	ref.descriptor = (struct lc_class_text){ "()I", 3 };
	assert_null(lc_reach_called(&search, &place, &ref, LC_OP_INVOKESTATIC));
	ref.descriptor = (struct lc_class_text){ "", 0 };
	assert_null(lc_reach_called(&search, &place, &ref, LC_OP_INVOKESTATIC));
	ref.descriptor = (struct lc_class_text){ long_name, sizeof(long_name) };
	assert_null(lc_reach_called(&search, &place, &ref, LC_OP_INVOKESTATIC));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(sources_have_names),
		TEST(what_was_made_has_the_name_of_its_class),
		TEST(a_parameter_without_a_caller_has_its_number),
		TEST(a_parameter_is_the_argument_of_the_caller),
		TEST(four_callers_are_asked),
		TEST(a_result_is_what_the_method_returns_if_it_is_sure_which),
		TEST(private_methods_and_those_of_final_classes_are_sure),
		TEST(an_argument_that_comes_back_is_followed),
		TEST(a_method_that_returns_its_own_result_ends_the_search),
		TEST(a_method_that_returns_what_is_not_known_has_its_name),
		TEST(a_lambda_has_no_name_of_its_own),
		TEST(a_result_of_no_call_is_not_known),
		TEST(names_are_given_once_and_five_are_too_many),
		TEST(a_name_that_is_too_long_is_not_known),
		TEST(one_source_that_is_not_known_makes_all_unknown),
		TEST(the_method_that_a_call_leads_to_is_found_by_name_and_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
