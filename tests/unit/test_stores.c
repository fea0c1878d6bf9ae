/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stores.c - checks what the bytecode behind an allocation is found to do with the array, in
 * code as compilers write it, and in code as they do not. The file is longer than 600 lines: each
 * case is made with the same few helpers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/method_file.h"
#include "src/classfile/store_names.h"
#include "tests/unit/class_file.h"
#include "tests/unit/failing_memory.h"

/* The number has one byte, like all numbers of the pool here. */
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
		for (int k = 0; k < r->levels; k++)
			at += (size_t)snprintf(out + at, sizeof(out) - at, "[]");
		for (int k = 0; k > r->levels; k--)
			at += (size_t)snprintf(out + at, sizeof(out) - at, " (an element)");
		assert_true(at < sizeof(out));
	}
	return out;
}

/* ---- the JVM's part: it has loaded the class ---- */

static struct lc_local_variable locals[4];

/* The variables in the method's LocalVariableTable, if it has one. */
static size_t read_locals(const struct lc_class *c, const struct lc_method_code *code)
{
	struct lc_attribute a;
	const uint8_t *entry;
	size_t len;

	if (!lc_class_attribute(c, code->attributes + 2, code->end, &a) ||
	    !lc_class_text_is(lc_class_utf8(c, a.name), "LocalVariableTable"))
		return 0;
	entry = c->bytes + a.body + 2;
	len = lc_be_get2(entry - 2);
	assert_in_range(len, 0, sizeof(locals) / sizeof(*locals));
	for (size_t i = 0; i < len; i++, entry += 10)
		locals[i] =
		    (struct lc_local_variable){ lc_be_get2(entry), lc_be_get2(entry + 2),
			                        lc_be_get2(entry + 4), lc_be_get2(entry + 6),
			                        lc_be_get2(entry + 8) };
	return len;
}

/* The only method of the class, read as from the JVM. */
static void load(const uint8_t *bytes, size_t len, struct lc_method_file *out)
{
	struct lc_method_source s = { .pool = bytes + 10, .class_name = "com/acme/A", .name = "m" };
	struct lc_class_text descriptor;
	struct lc_method_code code;
	struct lc_member method;
	struct lc_attribute a;
	struct lc_class c;
	char text[64];

	assert_int_equal(lc_class_open(bytes, len, &c), LC_REWRITE_DONE);
	method = lc_class_member(&c, c.methods + 2);
	assert_true(lc_class_attribute(&c, method.attributes + 2, method.end, &a));
	assert_true(lc_method_code_read(&c, &a, &code));
	descriptor = lc_class_utf8(&c, method.descriptor);
	snprintf(text, sizeof(text), "%.*s", (int)descriptor.len, descriptor.data);
	s.pool_bytes = c.pool_end - 10;
	s.pool_count = c.pool_count;
	s.descriptor = text;
	s.access_flags = method.access_flags;
	s.max_locals = code.max_locals;
	s.code = code.insns;
	s.code_bytes = code.len;
	s.locals = locals;
	s.locals_len = read_locals(&c, &code);
	assert_true(lc_method_file_open(out, &s));
	lc_class_close(&c);
}

static enum lc_rewrite_status look(struct lc_method_file *f, struct lc_store_names *out)
{
	struct lc_store_names_scan scan = { 0 };
	enum lc_rewrite_status status = LC_REWRITE_NO_MEMORY;

	if (lc_store_names_open(&scan, &f->cls, out))
		status = lc_store_names_find(&scan, &f->method, &f->code);
	lc_store_names_close(&scan);
	return status;
}

/* The rows of a class file's only method. The caller frees them. */
static struct lc_store_names stores_of(const uint8_t *bytes, size_t len)
{
	struct lc_store_names s = { 0 };
	struct lc_method_file f;

	load(bytes, len, &f);
	assert_int_equal(look(&f, &s), LC_REWRITE_DONE);
	lc_method_file_close(&f);
	return s;
}

static struct lc_store_names stores_of_class(struct class_file *c)
{
	size_t len;
	uint8_t *bytes = class_end(c, &len);
	struct lc_store_names s = stores_of(bytes, len);

	free(bytes);
	class_free(c);
	return s;
}

/* The only method of the class has this code. */
static void finds_in(struct class_file *c, const char *descriptor, struct code_spec spec,
                     const char *expected)
{
	struct lc_store_names s;

	class_method(c, "m", descriptor, &spec);
	s = stores_of_class(c);
	assert_string_equal(text_of(&s), expected);
	lc_store_names_free(&s);
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
	      "array@5 field com.acme.B.re; array@11 field com.acme.B.re");
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
	      "array@1 field com.acme.B.rows; array@7 field com.acme.B.rows[]");
	begin(&c); /* two levels down */
	finds(&c,
	      CODE(GET_STATIC(pool.rows), ICONST_0, AALOAD, ICONST_0, ILOAD_0, NEW_DOUBLES, AASTORE,
	           RETURN),
	      "array@7 field com.acme.B.rows[][]");
	begin(&c); /* of a variable that is not known to hold anything */
	finds_named(&c, CODE(ALOAD_1, ICONST_0, ILOAD_0, NEW_DOUBLES, AASTORE, RETURN), 1, 0,
	            "rows", "array@3 local rows[]");
}

/* The search for its names ends. */
static void an_array_may_be_an_element_of_itself(void **state)
{
	struct class_file c;

	begin(&c);
	finds(&c,
	      CODE(ILOAD_0, NEW_ROWS, ASTORE_1, ALOAD_1, ICONST_0, ALOAD_1, AASTORE, ALOAD_1,
	           PUT_STATIC(pool.rows), RETURN),
	      "array@1 field com.acme.B.rows; array@1 field com.acme.B.rows[]; "
	      "array@1 field com.acme.B.rows[][]; array@1 field com.acme.B.rows[][][]");
}

static void an_element_that_is_stored_is_said_of_its_array(void **state)
{
	struct class_file c;
	struct code_spec spec;

	begin(&c);
	spec = code_of(CODE(ALOAD_1, ICONST_0, AALOAD, PUT_STATIC(pool.re), ALOAD_1, ICONST_0,
	                    AALOAD, CALL(pool.of_b), RETURN));
	finds_in(&c, "(I[[D)V", spec,
	         "parameter@1 argument com.acme.B.<init> (an element); "
	         "parameter@1 field com.acme.B.re (an element)");
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

/* By a field, also behind calls that return the same buffer. */
static void a_buffer_that_a_call_returns_is_named(void **state)
{
	struct class_file c;
	uint8_t make, order, field;

	begin(&c);
	make = (uint8_t)class_method_ref(&c, "java/nio/ByteBuffer", "allocateDirect",
	                                 "(I)Ljava/nio/ByteBuffer;");
	order = (uint8_t)class_method_ref(&c, "java/nio/ByteBuffer", "slice",
	                                  "()Ljava/nio/ByteBuffer;");
	field = (uint8_t)class_field_ref(&c, "com/acme/B", "cache", "Ljava/nio/ByteBuffer;");
	finds(&c,
	      CODE(ICONST_1, CALL(make), LC_OP_INVOKEVIRTUAL, 0, order, PUT_STATIC(field), RETURN),
	      "call@1 field com.acme.B.cache");
	begin(&c);
	make = (uint8_t)class_method_ref(&c, "java/nio/ByteBuffer", "allocateDirect",
	                                 "(I)Ljava/nio/ByteBuffer;");
	finds_in(&c, "(I)Ljava/nio/ByteBuffer;", code_of(CODE(ICONST_1, CALL(make), ARETURN)),
	         "call@1 returned");
}

/* Its type may be any object's: a class of Netty keeps buffers or arrays. */
static void a_buffer_is_followed_to_the_method_that_it_is_passed_to(void **state)
{
	struct class_file c;
	struct code_spec spec;
	uint8_t make, keep;

	begin(&c);
	make = (uint8_t)class_method_ref(&c, "java/nio/ByteBuffer", "allocateDirect",
	                                 "(I)Ljava/nio/ByteBuffer;");
	keep = (uint8_t)class_method_ref(&c, "com/acme/B", "keep", "(Ljava/nio/ByteBuffer;)V");
	finds(&c, CODE(ICONST_1, CALL(make), CALL(keep), RETURN),
	      "call@1 argument com.acme.B.keep");
	begin(&c);
	spec = code_of(CODE(ALOAD_1, PUT_STATIC(pool.any), RETURN));
	finds_in(&c, "(ILjava/lang/Object;)V", spec, "parameter@1 field com.acme.B.any");
	begin(&c);
	spec = code_of(CODE(ALOAD_1, PUT_STATIC(pool.any), RETURN));
	finds_in(&c, "(ILjava/nio/ByteBuffer;)V", spec, "parameter@1 field com.acme.B.any");
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
	struct lc_store_names s;
	struct code_spec spec;
	const struct lc_store *row;
	const struct lc_store_call *call;

	begin(&c);
	spec = code_of(CODE(9 /* lconst_0 */, ILOAD_0, NEW_DOUBLES, CALL(pool.pass), RETURN));
	class_method(&c, "m", "(I)V", &spec);
	s = stores_of_class(&c);
	assert_int_equal(s.rows.len, 1);
	row = s.rows.data;
	call = (const struct lc_store_call *)s.calls.data + row->name;
	assert_int_equal(row->slot, 2); /* behind a long */
	assert_true(call->exact);
	assert_string_equal((const char *)s.text.data + call->name, "com.acme.B.pass");
	assert_string_equal((const char *)s.text.data + call->descriptor, "(J[D)V");
	lc_store_names_free(&s);
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

static void a_hook_belongs_to_the_instruction_before_it_and_is_no_store(void **state)
{
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;
	struct code_spec spec;
	struct lc_store_names s;
	const struct lc_store *rows;

	begin(&c);
	spec = code_of(CODE(ILOAD_0, NEW_DOUBLES, PUT_STATIC(pool.re), ILOAD_0, NEW_DOUBLES,
	                    PUT_STATIC(pool.im), RETURN));
	class_method(&c, "m", "(I)V", &spec);
	class_rewrite(&c, defaults, &r);
	assert_int_equal(r.status, LC_REWRITE_DONE);
	assert_int_equal(r.result.sites, 2);
	code = rewritten_code(&r, 0);
	s = stores_of(r.result.bytes, r.result.len);
	rows = s.rows.data;
	assert_int_equal(s.rows.len, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rows[i].kind, LC_STORE_FIELD);
		assert_int_equal(code.insns[rows[i].at], LC_OP_NEWARRAY);
		assert_int_equal(code.insns[rows[i].at + rows[i].bytes], LC_OP_PUTSTATIC);
	}
	lc_store_names_free(&s);
	rewritten_free(&r);
}

static void an_exception_may_come_before_or_after_an_assignment(void **state)
{
	struct class_file c;

	/* Behind athrow only an exception can lead; there is no table of them. */
	begin(&c);
	finds(&c,
	      CODE(ILOAD_0, NEW_DOUBLES, ASTORE_1, ICONST_1, NEW_DOUBLES, ASTORE_1, ACONST_NULL,
	           LC_OP_ATHROW, POP, ALOAD_1, PUT_STATIC(pool.re), RETURN),
	      "");
}

static void without_memory_nothing_is_found(void **state)
{
	bool found = false;

	for (int n = 0; !found && n < 100; n++) {
		struct class_file c;
		struct code_spec spec;
		struct lc_store_names s = { 0 };
		struct lc_method_file f;
		enum lc_rewrite_status status;
		uint8_t *bytes;
		size_t len;

		begin(&c);
		spec = code_of(CODE(ILOAD_0, NEW_DOUBLES, PUT_STATIC(pool.re), RETURN));
		class_method(&c, "m", "(I)V", &spec);
		bytes = class_end(&c, &len);
		class_free(&c);
		load(bytes, len, &f);
		allocations_left = n;
		status = look(&f, &s);
		allocations_left = -1;
		assert_true(status == LC_REWRITE_DONE || status == LC_REWRITE_NO_MEMORY);
		found = status == LC_REWRITE_DONE && s.rows.len;
		lc_store_names_free(&s);
		lc_method_file_close(&f);
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
		cmocka_unit_test_setup(an_array_may_be_an_element_of_itself, reset),
		cmocka_unit_test_setup(an_element_that_is_stored_is_said_of_its_array, reset),
		cmocka_unit_test_setup(what_is_returned_is_said_so_and_so_is_what_a_call_returns,
		                       reset),
		cmocka_unit_test_setup(a_buffer_is_followed_to_the_method_that_it_is_passed_to,
		                       reset),
		cmocka_unit_test_setup(a_buffer_that_a_call_returns_is_named, reset),
		cmocka_unit_test_setup(what_is_passed_has_the_name_of_the_method, reset),
		cmocka_unit_test_setup(of_a_call_it_is_known_where_the_argument_arrives, reset),
		cmocka_unit_test_setup(an_object_has_a_name_from_its_new_and_from_its_constructor,
		                       reset),
		cmocka_unit_test_setup(a_hook_belongs_to_the_instruction_before_it_and_is_no_store,
		                       reset),
		cmocka_unit_test_setup(an_exception_may_come_before_or_after_an_assignment, reset),
		cmocka_unit_test_setup(without_memory_nothing_is_found, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
