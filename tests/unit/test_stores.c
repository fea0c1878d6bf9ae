/* uses: src/classfile/ tests/unit/class_file.c -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stores.c - checks what the bytecode behind an allocation is found to do with the array, in
 * code as compilers write it, and in code as they do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/class_file.h"
#include "tests/unit/failing_memory.h"

/* Of one byte, as all numbers of the pool here are. */
#define NEW_DOUBLES LC_OP_NEWARRAY, 7
#define NEW_ROWS LC_OP_ANEWARRAY, 0, pool.doubles
#define PUT_STATIC(f) LC_OP_PUTSTATIC, 0, (f)
#define GET_STATIC(f) LC_OP_GETSTATIC, 0, (f)
#define CALL(m) LC_OP_INVOKESTATIC, 0, (m)
#define TO_OBJECT(m) LC_OP_INVOKESPECIAL, 0, (m)
#define JUMP(op, offset) op, (uint8_t)((offset) >> 8), (uint8_t)(offset)
#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

enum {
	ACONST_NULL = 1,
	ICONST_0 = 3,
	ICONST_1 = 4,
	DCONST_0 = 14,
	ILOAD_0 = 26,
	ALOAD_1 = 43,
	ALOAD_2 = 44,
	DSTORE_1 = 72,
	ASTORE_1 = 76,
	ASTORE_2 = 77,
	AALOAD = 50,
	DASTORE = 82,
	AASTORE = 83,
	POP = 87,
	DUP = LC_OP_DUP,
	DUP_X1 = 90,
	SWAP = 95,
	IFEQ = LC_OP_IFEQ,
	GOTO = LC_OP_GOTO,
	RETURN = LC_OP_RETURN,
	ARETURN = LC_OP_ARETURN,
};

/* Numbers of constants. */
static struct {
	uint8_t doubles, b;                 /* classes: double[], B */
	uint8_t re, im, rows, any, own;     /* fields: B.re and so on; `own` is of an object */
	uint8_t make, anything, pass, of_b; /* methods */
	uint8_t add;                        /* of an interface */
} pool;

static int allocations_left; /* before they fail; < 0: they do not */

static bool allocation_fails(void)
{
	return allocations_left >= 0 && allocations_left-- == 0;
}

static uint32_t next_site(void *user)
{
	return 1000;
}

static const struct lc_rewrite_options defaults = {
	.min_size_bytes = 1024,
	.array_header_bytes = 16,
	.reference_bytes = 4,
	.stores = true,
	.next_site = next_site,
};

static int reset(void **state)
{
	allocations_left = -1;
	return 0;
}

static void begin(struct class_file *c)
{
	class_begin(c, "com/acme/A");
	pool.doubles = (uint8_t)class_class(c, "[D");
	pool.b = (uint8_t)class_class(c, "com/acme/B");
	pool.re = (uint8_t)class_field_ref(c, "com/acme/B", "re", "[D");
	pool.im = (uint8_t)class_field_ref(c, "com/acme/B", "im", "[D");
	pool.rows = (uint8_t)class_field_ref(c, "com/acme/B", "rows", "[[D");
	pool.any = (uint8_t)class_field_ref(c, "com/acme/B", "any", "Ljava/lang/Object;");
	pool.own = (uint8_t)class_field_ref(c, "com/acme/A", "own", "[D");
	pool.make = (uint8_t)class_method_ref(c, "com/acme/B", "make", "(I)[D");
	pool.anything = (uint8_t)class_method_ref(c, "com/acme/B", "any", "()Ljava/lang/Object;");
	pool.pass = (uint8_t)class_method_ref(c, "com/acme/B", "pass", "(J[D)V");
	pool.of_b = (uint8_t)class_method_ref(c, "com/acme/B", "<init>", "([D)V");
	pool.add =
	    (uint8_t)class_interface_ref(c, "java/util/List", "add", "(Ljava/lang/Object;)Z");
}

/* The rows, each as "array@1 field com.acme.B.re[]", joined by "; ". */
static char *text_of(const struct lc_store_names *s)
{
	static const char *const sources[] = { "array", "object", "call", "parameter" };
	static const char *const kinds[] = { "field", "local", "argument", "returned" };
	const struct lc_store *rows = s->rows.data;
	const struct lc_store_call *calls = s->calls.data;
	static char out[2048];
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < s->rows.len; i++) {
		const struct lc_store *r = &rows[i];
		uint32_t name = r->kind == LC_STORE_ARGUMENT ? calls[r->name].name : r->name;

		at += (size_t)snprintf(
		    out + at, sizeof(out) - at, "%s%s@%u %s%s%s", at ? "; " : "",
		    sources[r->source], r->at, kinds[r->kind],
		    r->kind == LC_STORE_RETURNED ? "" : " ",
		    r->kind == LC_STORE_RETURNED ? "" : (const char *)s->text.data + name);
		for (unsigned k = 0; k < r->levels; k++)
			at += (size_t)snprintf(out + at, sizeof(out) - at, "[]");
		assert_true(at < sizeof(out));
	}
	return out;
}

/* The only method of the class has this code. */
static void finds_in(struct class_file *c, const char *descriptor, struct code_spec spec,
                     const char *expected)
{
	struct rewritten r;

	class_method(c, "m", descriptor, &spec);
	class_rewrite(c, defaults, &r);
	assert_string_equal(text_of(&r.result.stores), expected);
	rewritten_free(&r);
}

static struct code_spec code_of(const uint8_t *code, size_t len)
{
	return (struct code_spec){ .code = code, .len = (uint32_t)len };
}

static void finds(struct class_file *c, const uint8_t *code, size_t len, const char *expected)
{
	finds_in(c, "(I)V", code_of(code, len), expected);
}

/* With a local variable `slot` of that name, from `from` on. */
static void finds_named(struct class_file *c, const uint8_t *code, size_t len, uint8_t slot,
                        uint8_t from, const char *name, const char *expected)
{
	struct code_spec spec = code_of(code, len);
	const uint8_t table[] = { 0, 1,
		                  0, from,
		                  0, (uint8_t)(len - from),
		                  0, (uint8_t)class_utf8(c, name),
		                  0, (uint8_t)class_utf8(c, "[D"),
		                  0, slot };

	class_attribute(c, &spec, "LocalVariableTable", table, sizeof(table));
	finds_in(c, "(I)V", spec, expected);
}

static void an_array_has_the_name_of_the_field_it_is_put_in(void **state)
{
	struct class_file c;

	begin(&c);
	finds(&c, CODE(ILOAD_0, NEW_DOUBLES, PUT_STATIC(pool.re), RETURN),
	      "array@1 field com.acme.B.re");
	begin(&c);
	finds(&c, CODE(ACONST_NULL, ILOAD_0, NEW_DOUBLES, LC_OP_PUTFIELD, 0, pool.own, RETURN),
	      "array@2 field com.acme.A.own");
	begin(&c);
	finds(&c,
	      CODE(ILOAD_0, ILOAD_0, LC_OP_MULTIANEWARRAY, 0, pool.doubles, 1, PUT_STATIC(pool.re),
	           RETURN),
	      "array@2 field com.acme.B.re");
}

static void several_fields_are_several_names(void **state)
{
	struct class_file c;

	begin(&c);
	finds(&c, CODE(ILOAD_0, NEW_DOUBLES, DUP, PUT_STATIC(pool.re), PUT_STATIC(pool.im), RETURN),
	      "array@1 field com.acme.B.im; array@1 field com.acme.B.re");
	begin(&c); /* this.own = re = new double[n] */
	finds(&c,
	      CODE(ACONST_NULL, ILOAD_0, NEW_DOUBLES, DUP, PUT_STATIC(pool.re), DUP_X1,
	           LC_OP_PUTFIELD, 0, pool.own, POP, RETURN),
	      "array@2 field com.acme.A.own; array@2 field com.acme.B.re");
}

static void words_are_exchanged_as_the_instructions_say(void **state)
{
	struct class_file c;

	begin(&c);
	finds(&c,
	      CODE(ILOAD_0, NEW_DOUBLES, ACONST_NULL, SWAP, PUT_STATIC(pool.re),
	           PUT_STATIC(pool.im), RETURN),
	      "array@1 field com.acme.B.re");
	begin(&c); /* elements are stored first */
	finds(&c,
	      CODE(ILOAD_0, NEW_DOUBLES, DUP, ICONST_0, DCONST_0, DASTORE, PUT_STATIC(pool.re),
	           RETURN),
	      "array@1 field com.acme.B.re");
}

static void a_local_variable_names_an_array_where_the_class_file_names_it(void **state)
{
	struct class_file c;

	begin(&c);
	finds_named(&c, CODE(ILOAD_0, NEW_DOUBLES, ASTORE_1, RETURN), 1, 4, "buffer",
	            "array@1 local buffer");
	begin(&c);
	finds(&c, CODE(ILOAD_0, NEW_DOUBLES, ASTORE_1, RETURN), "");
	begin(&c); /* of another time */
	finds_named(&c, CODE(ILOAD_0, NEW_DOUBLES, ASTORE_1, ICONST_0, POP, RETURN), 1, 5, "later",
	            "");
	begin(&c); /* of another number */
	finds_named(&c, CODE(ILOAD_0, NEW_DOUBLES, ASTORE_1, RETURN), 2, 4, "other", "");
}

static void an_array_is_followed_through_local_variables_and_loops(void **state)
{
	struct class_file c;

	begin(&c); /* a loop comes between */
	finds_named(&c,
	            CODE(ILOAD_0, NEW_DOUBLES, ASTORE_1, ILOAD_0, JUMP(IFEQ, 6), JUMP(GOTO, -4),
	                 ALOAD_1, PUT_STATIC(pool.re), RETURN),
	            1, 4, "t", "array@1 field com.acme.B.re; array@1 local t");
	begin(&c); /* the variable is assigned twice: behind the loop it may be either */
	finds(&c,
	      CODE(ILOAD_0, NEW_DOUBLES, ASTORE_1, ILOAD_0, JUMP(IFEQ, 8), ACONST_NULL, ASTORE_1,
	           JUMP(GOTO, -6), ALOAD_1, PUT_STATIC(pool.re), RETURN),
	      "");
	begin(&c); /* the same, before any jump leads in */
	finds(&c,
	      CODE(ILOAD_0, NEW_DOUBLES, ASTORE_1, ALOAD_1, PUT_STATIC(pool.re), ACONST_NULL,
	           ASTORE_1, RETURN),
	      "array@1 field com.acme.B.re");
	begin(&c); /* the second word of a double lies in it */
	finds(&c,
	      CODE(ILOAD_0, NEW_DOUBLES, ASTORE_2, DCONST_0, DSTORE_1, ALOAD_2, PUT_STATIC(pool.re),
	           RETURN),
	      "");
}

static void either_of_two_arrays_may_be_what_is_stored(void **state)
{
	struct class_file c;

	begin(&c);
	finds(&c,
	      CODE(ILOAD_0, JUMP(IFEQ, 9), ILOAD_0, NEW_DOUBLES, JUMP(GOTO, 6), ICONST_1,
	           NEW_DOUBLES, PUT_STATIC(pool.re), RETURN),
	      "array@5 field com.acme.B.re; array@18 field com.acme.B.re");
	begin(&c); /* a condition between the array and its use */
	finds(&c,
	      CODE(ILOAD_0, NEW_DOUBLES, DUP, ICONST_0, ILOAD_0, JUMP(IFEQ, 7), DCONST_0,
	           JUMP(GOTO, 4), DCONST_0, DASTORE, PUT_STATIC(pool.re), RETURN),
	      "array@1 field com.acme.B.re");
}

static void an_element_has_the_name_of_its_array(void **state)
{
	struct class_file c;

	begin(&c);
	finds(&c, CODE(GET_STATIC(pool.rows), ICONST_0, ILOAD_0, NEW_DOUBLES, AASTORE, RETURN),
	      "array@5 field com.acme.B.rows[]");
	begin(&c); /* of an array that is made here, and named later */
	finds(&c,
	      CODE(ILOAD_0, NEW_ROWS, DUP, ICONST_0, ILOAD_0, NEW_DOUBLES, AASTORE,
	           PUT_STATIC(pool.rows), RETURN),
	      "array@1 field com.acme.B.rows; array@14 field com.acme.B.rows[]");
	begin(&c); /* two levels down */
	finds(&c,
	      CODE(GET_STATIC(pool.rows), ICONST_0, AALOAD, ICONST_0, ILOAD_0, NEW_DOUBLES, AASTORE,
	           RETURN),
	      "array@7 field com.acme.B.rows[][]");
	begin(&c); /* of a variable that is not known to hold anything */
	finds_named(&c, CODE(ALOAD_1, ICONST_0, ILOAD_0, NEW_DOUBLES, AASTORE, RETURN), 1, 0,
	            "rows", "array@3 local rows[]");
}

static void what_is_returned_is_said_so_and_so_is_what_a_call_returns(void **state)
{
	struct class_file c;
	struct code_spec spec;

	begin(&c);
	spec = code_of(CODE(ILOAD_0, NEW_DOUBLES, ARETURN));
	finds_in(&c, "(I)[D", spec, "array@1 returned");
	begin(&c);
	finds(&c, CODE(ILOAD_0, CALL(pool.make), PUT_STATIC(pool.re), RETURN),
	      "call@1 field com.acme.B.re");
	begin(&c);
	spec = code_of(CODE(ILOAD_0, CALL(pool.make), ARETURN));
	finds_in(&c, "(I)[D", spec, "call@1 returned");
	begin(&c); /* an array by its cast */
	spec = code_of(CODE(CALL(pool.anything), LC_OP_CHECKCAST, 0, pool.doubles, ARETURN));
	finds_in(&c, "(I)[D", spec, "call@0 returned");
	begin(&c); /* none by its cast */
	spec = code_of(CODE(CALL(pool.anything), LC_OP_CHECKCAST, 0, pool.b, ARETURN));
	finds_in(&c, "(I)Lcom/acme/B;", spec, "");
}

static void what_is_passed_has_the_name_of_the_method(void **state)
{
	struct class_file c;
	struct code_spec spec;

	begin(&c);
	finds(&c,
	      CODE(ACONST_NULL, ILOAD_0, NEW_DOUBLES, LC_OP_INVOKEINTERFACE, 0, pool.add, 2, 0, POP,
	           RETURN),
	      "array@2 argument java.util.List.add");
	begin(&c); /* and where a parameter is kept is known by its local variable */
	spec = code_of(CODE(ALOAD_1, PUT_STATIC(pool.re), RETURN));
	finds_in(&c, "(I[D)V", spec, "parameter@1 field com.acme.B.re");
	begin(&c);
	spec = code_of(CODE(ALOAD_1 + 1, PUT_STATIC(pool.re), RETURN));
	finds_in(&c, "(J[D)V", spec, "parameter@2 field com.acme.B.re");
}

static void of_a_call_it_is_known_where_the_argument_arrives(void **state)
{
	struct class_file c;
	struct rewritten r;
	struct code_spec spec;
	const struct lc_store *row;
	const struct lc_store_call *call;

	begin(&c);
	spec = code_of(CODE(9 /* lconst_0 */, ILOAD_0, NEW_DOUBLES, CALL(pool.pass), RETURN));
	class_method(&c, "m", "(I)V", &spec);
	class_rewrite(&c, defaults, &r);
	assert_int_equal(r.result.stores.rows.len, 1);
	row = r.result.stores.rows.data;
	call = (const struct lc_store_call *)r.result.stores.calls.data + row->name;
	assert_int_equal(row->slot, 2); /* behind a long */
	assert_true(call->exact);
	assert_string_equal((const char *)r.result.stores.text.data + call->name,
	                    "com.acme.B.pass");
	assert_string_equal((const char *)r.result.stores.text.data + call->descriptor, "(J[D)V");
	rewritten_free(&r);
}

static void an_object_has_a_name_from_its_new_and_from_its_constructor(void **state)
{
	struct class_file c;

	begin(&c);
	finds(&c,
	      CODE(LC_OP_NEW, 0, pool.b, DUP, ACONST_NULL, TO_OBJECT(pool.of_b),
	           PUT_STATIC(pool.any), RETURN),
	      "object@0 field com.acme.B.any; object@5 field com.acme.B.any");
	begin(&c); /* a local variable or a method is no name of an object */
	finds_named(
	    &c,
	    CODE(LC_OP_NEW, 0, pool.b, DUP, ACONST_NULL, TO_OBJECT(pool.of_b), ASTORE_1, RETURN), 1,
	    9, "b", "");
}

static void positions_are_those_of_the_code_that_the_jvm_gets(void **state)
{
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;
	struct code_spec spec;
	const struct lc_store *rows;
	const struct lc_store_method *m;

	begin(&c);
	spec = code_of(CODE(ILOAD_0, NEW_DOUBLES, PUT_STATIC(pool.re), ILOAD_0, NEW_DOUBLES,
	                    PUT_STATIC(pool.im), RETURN));
	class_method(&c, "m", "(I)V", &spec);
	class_rewrite(&c, defaults, &r);
	assert_int_equal(r.status, LC_REWRITE_DONE);
	code = rewritten_code(&r, 0);
	rows = r.result.stores.rows.data;
	m = r.result.stores.methods.data;
	assert_int_equal(r.result.stores.rows.len, 2);
	assert_int_equal(m->code_bytes, code.len);
	assert_int_equal(m->method, lc_store_names_method("m", 1, "(I)V", 4));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(code.insns[rows[i].at], LC_OP_NEWARRAY);
		assert_int_equal(code.insns[rows[i].at + rows[i].bytes], LC_OP_PUTSTATIC);
	}
	rewritten_free(&r);
}

static void without_memory_nothing_is_found_and_hooks_are_inserted_all_the_same(void **state)
{
	bool found = false;

	for (int n = 0; !found && n < 100; n++) {
		struct class_file c;
		struct lc_rewrite_result result;
		struct code_spec spec;
		uint8_t *bytes;
		size_t len;
		enum lc_rewrite_status status;

		begin(&c);
		spec = code_of(CODE(ILOAD_0, NEW_DOUBLES, PUT_STATIC(pool.re), RETURN));
		class_method(&c, "m", "(I)V", &spec);
		bytes = class_end(&c, &len);
		class_free(&c);
		allocations_left = n;
		status = lc_rewrite_class(bytes, len, &defaults, &result);
		allocations_left = -1;
		assert_true(status == LC_REWRITE_DONE || status == LC_REWRITE_NO_MEMORY);
		found = status == LC_REWRITE_DONE && result.stores.rows.len;
		lc_store_names_free(&result.stores);
		free(result.bytes);
		free(bytes);
	}
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_array_has_the_name_of_the_field_it_is_put_in, reset),
		cmocka_unit_test_setup(several_fields_are_several_names, reset),
		cmocka_unit_test_setup(words_are_exchanged_as_the_instructions_say, reset),
		cmocka_unit_test_setup(
		    a_local_variable_names_an_array_where_the_class_file_names_it, reset),
		cmocka_unit_test_setup(an_array_is_followed_through_local_variables_and_loops,
		                       reset),
		cmocka_unit_test_setup(either_of_two_arrays_may_be_what_is_stored, reset),
		cmocka_unit_test_setup(an_element_has_the_name_of_its_array, reset),
		cmocka_unit_test_setup(what_is_returned_is_said_so_and_so_is_what_a_call_returns,
		                       reset),
		cmocka_unit_test_setup(what_is_passed_has_the_name_of_the_method, reset),
		cmocka_unit_test_setup(of_a_call_it_is_known_where_the_argument_arrives, reset),
		cmocka_unit_test_setup(an_object_has_a_name_from_its_new_and_from_its_constructor,
		                       reset),
		cmocka_unit_test_setup(positions_are_those_of_the_code_that_the_jvm_gets, reset),
		cmocka_unit_test_setup(
		    without_memory_nothing_is_found_and_hooks_are_inserted_all_the_same, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
