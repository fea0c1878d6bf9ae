/* uses: src/jvm/layout/local_variables.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_variables.c - checks which variables are read out of methods that are laid out here as
 * HotSpot lays them out, with each part that may stand behind the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/jvm/layout/local_variables.h"
#include "src/jvm/layout/vmstructs.h"

enum { HEAD = 56, SIZE = 24, FLAGS = 32, CODE_BYTES = 20, LOCALS = 3, PARTS = 9 };

static const char *missing; /* the JVM does not export it */
static bool is_old;         /* names of JDK 17 */

/* In the order of the bits here, from the end of a ConstMethod on. */
static const char *const names[PARTS] = {
	"has_type_annotations",   "has_default_annotations", "has_parameter_annotations",
	"has_method_annotations", "has_generic_signature",   "has_method_parameters",
	"has_checked_exceptions", "has_exception_table",     "has_localvariable_table",
};
static const size_t element_bytes[PARTS] = { 8, 8, 8, 8, 2, 4, 2, 8, 12 };
enum { FIRST_TABLE = 5, VARIABLES = 8 };

int lc_vm_constant(const char *name, int64_t *out)
{
	const char *const prefix = is_old ? "ConstMethod::_" : "ConstMethodFlags::_misc_";

	for (unsigned i = 0; i < PARTS; i++) {
		if (strncmp(name, prefix, strlen(prefix)) != 0 ||
		    strcmp(name + strlen(prefix), names[i]) != 0)
			continue;
		if (missing && !strcmp(missing, names[i]))
			return -2;
		*out = 1 << (i + 2);
		return 0;
	}
	return -2;
}

long lc_vm_offset(const char *type, const char *field)
{
	if (missing && !strcmp(missing, field))
		return -2;
	if (!strcmp(type, "Method") && !strcmp(field, "_constMethod"))
		return 8;
	assert_string_equal(type, "ConstMethod");
	if (!strcmp(field, "_constMethod_size"))
		return SIZE;
	return strcmp(field, is_old ? "_flags" : "_flags._flags") ? -2 : FLAGS;
}

long lc_vm_sizeof(const char *type)
{
	if (missing && !strcmp(missing, type))
		return -2;
	return strcmp(type, "ConstMethod") ? 12 : HEAD;
}

/* ---- a method ---- */

static unsigned char memory[1024];
static uint64_t method[2]; /* its second word leads to the ConstMethod, which is in `memory` */

static size_t put(size_t at, const void *bytes, size_t len)
{
	memcpy(memory + at, bytes, len);
	return at + len;
}

static size_t put2(size_t at, uint16_t value)
{
	return put(at, &value, sizeof(value));
}

/* With these parts, the tables of two elements each. The variables: 1 from 4 on, 2 from 8 on. */
static uint64_t method_with(unsigned parts)
{
	static const uint16_t variables[2][6] = { { 4, 16, 7, 8, 0, 1 }, { 8, 12, 9, 8, 0, 2 } };
	uint16_t flags = 0;
	int32_t words;
	size_t at = HEAD + CODE_BYTES + 3, end; /* three bytes of line numbers */

	memset(memory, 0xff, sizeof(memory));
	for (unsigned i = PARTS; i-- > 0;) {
		if (!(parts & 1u << i))
			continue;
		flags |= (uint16_t)(1u << (i + 2));
		at += i == VARIABLES ? 0 : element_bytes[i] * (i >= FIRST_TABLE ? 2 : 1);
		if (i == VARIABLES)
			at = put(at, variables, sizeof(variables));
		if (i >= FIRST_TABLE)
			at = put2(at, 2);
	}
	end = (at + 7) / 8 * 8; /* what is too much stands in front */
	memmove(memory + HEAD + CODE_BYTES + (end - at), memory + HEAD + CODE_BYTES,
	        at - HEAD - CODE_BYTES);
	words = (int32_t)(end / 8);
	put(SIZE, &words, sizeof(words));
	put(FLAGS, &flags, sizeof(flags));
	method[1] = (uintptr_t)memory;
	return (uintptr_t)method;
}

static void expect_both(uint64_t where)
{
	struct lc_local_variable *v;

	assert_int_equal(lc_local_variables_of(where, CODE_BYTES, LOCALS, &v), 2);
	assert_int_equal(v[0].from, 4);
	assert_int_equal(v[0].len, 16);
	assert_int_equal(v[0].name, 7);
	assert_int_equal(v[0].descriptor, 8);
	assert_int_equal(v[0].slot, 1);
	assert_int_equal(v[1].slot, 2);
	free(v);
}

static void expect_none(uint64_t where, uint32_t code_bytes, uint32_t locals)
{
	struct lc_local_variable *v;

	assert_int_equal(lc_local_variables_of(where, code_bytes, locals, &v), 0);
	assert_null(v);
}

/* ---- tests ---- */

static void the_table_is_found_before_any_other_parts(void **state)
{
	for (int old = 0; old < 2; old++) {
		is_old = old;
		lc_local_variables_init();
		assert_true(lc_local_variables_known());
		for (unsigned parts = 0; parts < 1u << VARIABLES; parts++)
			expect_both(method_with(parts | 1u << VARIABLES));
	}
}

static void a_method_without_a_table_has_no_variables(void **state)
{
	lc_local_variables_init();
	for (unsigned parts = 0; parts < 1u << VARIABLES; parts++)
		expect_none(method_with(parts), CODE_BYTES, LOCALS);
}

static void what_does_not_fit_the_method_is_no_table(void **state)
{
	const uint64_t good = method_with(1u << VARIABLES);

	lc_local_variables_init();
	expect_both(good);
	expect_none(good, CODE_BYTES - 1, LOCALS); /* a variable would be beyond the code */
	expect_none(good, CODE_BYTES, LOCALS - 1); /* or in no slot */
	expect_none(good, 500, LOCALS);            /* or the code beyond the method */
	expect_none(0, CODE_BYTES, LOCALS);
	method[1] = 16; /* nothing is mapped there */
	expect_none(good, CODE_BYTES, LOCALS);
}

static void a_length_beyond_the_method_is_no_table(void **state)
{
	const uint64_t where = method_with(1u << VARIABLES);
	int32_t words;

	memcpy(&words, memory + SIZE, sizeof(words));
	put2((size_t)words * 8 - 2, 900);
	expect_none(where, CODE_BYTES, LOCALS);
}

static void a_jvm_that_does_not_export_all_is_not_read(void **state)
{
	static const char *const others[] = { "_constMethod", "_constMethod_size", "_flags._flags",
		                              "ConstMethod", "LocalVariableTableElement" };

	is_old = false;
	for (unsigned i = 0; i < PARTS + sizeof(others) / sizeof(*others); i++) {
		missing = i < PARTS ? names[i] : others[i - PARTS];
		lc_local_variables_init();
		assert_false(lc_local_variables_known());
		expect_none(method_with(1u << VARIABLES), CODE_BYTES, LOCALS);
	}
	missing = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_found_before_any_other_parts),
		cmocka_unit_test(a_method_without_a_table_has_no_variables),
		cmocka_unit_test(what_does_not_fit_the_method_is_no_table),
		cmocka_unit_test(a_length_beyond_the_method_is_no_table),
		cmocka_unit_test(a_jvm_that_does_not_export_all_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
