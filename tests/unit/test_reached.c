/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reached.c - checks which object an instruction is found to access, and through which
 * references, in a class that javac compiled and in code that no compiler writes.
 *
 * tests/fuzz/corpus/reached/Shapes is javac 17's of this (with -g:none):
 *
 * class Shapes {
 *   static final class Node { Node next; int value; Node(Node next) { this.next = next; } }
 *   Node head; static int[][] grid; Node[] table;
 *   int list() { int s = 0; for (Node n = head; n != null; n = n.next) s += n.value; return s; }
 *   static int rows(int i) {
 *     int s = 0; int[] row = grid[i]; for (int k = 0; k < row.length; k++) s += row[k]; return s; }
 *   static int chain(Node n) { while (n.next != null) n = n.next; return n.value; }
 *   Node find(int h) {
 *     Node e; Node[] t;
 *     if ((t = table) != null && (e = t[h & (t.length - 1)]) != null) return e; return null; }
 *   int found(int h) { Node n = find(h); return n == null ? 0 : n.value; }
 *   static int cast(Object o) { return o instanceof Node n ? n.value : ((int[]) o)[0]; }
 *   int either(boolean b, Node p) { Node n = b ? head : p; return n.value; }
 *   int lost(boolean b, Object[] p) {
 *     Object o = p; for (int i = 0; i < 9; i++) o = ((Object[]) o)[0]; return ((Node) o).value; }
 *   static int caught(Node p) {
 *     Node n = p; try { n = n.next; n.value++; n = new Node(n); }
 *     catch (RuntimeException e) { return n.value; } return n.value; }
 *   static void store(Object[] to, Node from) { to[0] = from; }
 *   static int sum(long[] d, int at, double x) {
 *     d[at] = (long) x; synchronized (d) { return d.length; } }
 * }
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/reached.h"
#include "tests/unit/class_file.h"
#include "tests/unit/failing_memory.h"

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

enum {
	ACONST_NULL = 1,
	ICONST_0 = 3,
	ILOAD_0 = 26,
	ALOAD_0 = 42,
	ALOAD_1 = 43,
	LSTORE_0 = 63,
	ASTORE_0 = 75,
	ASTORE_1 = 76,
	AALOAD = 50,
	POP = 87,
	SWAP = 95,
	LCONST_0 = 9,
	ARRAYLENGTH = 190,
	INSTANCEOF = 193,
	MONITORENTER = 194,
	MONITOREXIT = 195,
};

static int allocations_left = -1; /* before they fail; < 0: they do not */

static bool allocation_fails(void)
{
	return allocations_left >= 0 && allocations_left-- == 0;
}

static char text[8192];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	const size_t at = strlen(text);
	va_list args;

	va_start(args, format);
	assert_true((size_t)vsnprintf(text + at, sizeof(text) - at, format, args) <
	            sizeof(text) - at);
	va_end(args);
}

static void say_text(struct lc_class_text t)
{
	say("%.*s", (int)t.len, t.len ? t.data : "");
}

static void say_source(struct lc_reached *r, const struct lc_class *c,
                       const struct lc_reached_source *s)
{
	struct lc_class_ref ref = { 0 };
	bool array;
	char element;

	switch ((enum lc_reached_kind)s->kind) {
	case LC_REACHED_FIELD:
	case LC_REACHED_STATIC:
	case LC_REACHED_CLASS:
		assert_true(lc_class_field_ref(c, s->index, &ref));
		say_text(ref.holder);
		say(s->kind == LC_REACHED_STATIC  ? "::"
		    : s->kind == LC_REACHED_CLASS ? " class of "
		                                  : ".");
		say_text(ref.name);
		break;
	case LC_REACHED_PARAMETER:
		say("parameter %u", s->index);
		break;
	case LC_REACHED_RESULT:
		assert_true(lc_reached_called(r, s->index, &ref));
		say_text(ref.holder);
		say(".");
		say_text(ref.name);
		say("()");
		break;
	case LC_REACHED_NEW:
		say("new ");
		say_text(lc_reached_made(r, s->index, &array, &element));
		say("%.1s%s", &element, array ? "[]" : "");
		break;
	case LC_REACHED_CONSTANT:
		say("constant@%u", s->index);
		break;
	case LC_REACHED_CAUGHT:
		say("caught");
		break;
	}
	for (unsigned i = 0; i < s->elements; i++)
		say("[]");
}

static void say_sources(struct lc_reached *r, const struct lc_class *c,
                        const struct lc_reached_sources *s)
{
	if (!s->known)
		say("not known");
	else if (!s->len)
		say("null");
	for (unsigned i = 0; i < s->len; i++) {
		say("%s", i ? "|" : "");
		say_source(r, c, &s->of[i]);
	}
}

static struct lc_member method_of(const struct lc_class *c, const char *name)
{
	uint32_t at = c->methods + 2;

	for (;;) {
		struct lc_member m;

		assert_true(at < c->attributes);
		m = lc_class_member(c, at);
		if (lc_class_text_is(lc_class_utf8(c, m.name), name))
			return m;
		at = m.end;
	}
}

/* Each access of the method as "OPCODE SOURCES", joined by "; ". */
static const char *accesses(const struct lc_class *c, const char *name)
{
	const struct lc_member m = method_of(c, name);
	struct lc_reached *r = lc_reached_open(c, &m);
	struct lc_reached_access a;

	text[0] = '\0';
	if (!r)
		return "not analysed";
	for (uint32_t at = 0; lc_reached_opcode(r, at) != LC_REACHED_END;
	     at = lc_reached_next(r, at)) {
		if (!lc_reached_access(r, at, &a))
			continue;
		say("%s%u ", *text ? "; " : "", a.op);
		say_sources(r, c, &a.object);
		if (a.op == 83) {
			say(" <- ");
			say_sources(r, c, &a.value);
		}
	}
	lc_reached_close(r);
	return text;
}

static struct {
	uint8_t bytes[8192];
	struct lc_class cls;
} shapes;

static int open_shapes(void **state)
{
	FILE *f = fopen("tests/fuzz/corpus/reached/Shapes", "rb");
	size_t len;

	if (!f)
		return -1;
	len = fread(shapes.bytes, 1, sizeof(shapes.bytes), f);
	fclose(f);
	return lc_class_open(shapes.bytes, len, &shapes.cls) != LC_REWRITE_DONE;
}

static int close_shapes(void **state)
{
	lc_class_close(&shapes.cls);
	return 0;
}

static void in_a_list_a_node_comes_from_its_head_or_from_the_node_before(void **state)
{
	assert_string_equal(accesses(&shapes.cls, "list"),
	                    "180 parameter 0; 180 Shapes.head|Shapes$Node.next; "
	                    "180 Shapes.head|Shapes$Node.next");
	assert_string_equal(accesses(&shapes.cls, "chain"),
	                    "180 Shapes$Node.next|parameter 0; 180 Shapes$Node.next|parameter 0; "
	                    "180 Shapes$Node.next|parameter 0");
}

static void an_element_comes_from_its_array(void **state)
{
	assert_string_equal(accesses(&shapes.cls, "rows"),
	                    "178 Shapes class of grid; 50 Shapes::grid; 190 Shapes::grid[]; "
	                    "46 Shapes::grid[]");
	assert_string_equal(accesses(&shapes.cls, "find"),
	                    "180 parameter 0; 190 Shapes.table; 50 Shapes.table");
	assert_string_equal(accesses(&shapes.cls, "store"), "83 parameter 0 <- parameter 1");
}

static void a_result_comes_from_a_call_and_null_from_nowhere(void **state)
{
	const struct lc_member m = method_of(&shapes.cls, "find");
	struct lc_reached *r = lc_reached_open(&shapes.cls, &m);
	struct lc_reached_sources s;

	assert_non_null(r);
	assert_true(lc_reached_returned(r, &s));
	text[0] = '\0';
	say_sources(r, &shapes.cls, &s);
	assert_string_equal(text, "Shapes.table[]");
	lc_reached_close(r);
	assert_string_equal(accesses(&shapes.cls, "found"), "182 parameter 0; 180 Shapes.find()");
}

static void a_cast_changes_no_reference(void **state)
{
	assert_string_equal(accesses(&shapes.cls, "cast"),
	                    "193 parameter 0; 192 parameter 0; 180 parameter 0; 192 parameter 0; "
	                    "46 parameter 0");
}

static void ways_that_meet_bring_all_their_sources(void **state)
{
	assert_string_equal(accesses(&shapes.cls, "either"),
	                    "180 parameter 0; 180 Shapes.head|parameter 2");
	/* Nine levels of arrays are more than are told apart. */
	assert_string_equal(accesses(&shapes.cls, "lost"),
	                    "192 not known; 50 not known; 192 not known; 180 not known");
}

static void a_handler_gets_what_the_variable_was_at_any_place_that_throws(void **state)
{
	assert_string_equal(accesses(&shapes.cls, "caught"),
	                    "180 parameter 0; 180 Shapes$Node.next; 181 Shapes$Node.next; "
	                    "183 new Shapes$Node; 180 Shapes$Node.next|parameter 0; "
	                    "180 new Shapes$Node");
}

static void monitors_and_stores_of_two_words_are_of_their_object(void **state)
{
	assert_string_equal(accesses(&shapes.cls, "sum"),
	                    "80 parameter 0; 194 parameter 0; 190 parameter 0; 195 parameter 0; "
	                    "195 parameter 0; 191 caught");
}

static void an_argument_is_found_by_its_local_variable_in_the_called_method(void **state)
{
	const struct lc_member m = method_of(&shapes.cls, "caught");
	struct lc_reached *r = lc_reached_open(&shapes.cls, &m);
	struct lc_reached_sources s;
	struct lc_class_ref ref;
	uint32_t at = 0;

	assert_non_null(r);
	while (!lc_reached_called(r, at, &ref))
		at = lc_reached_next(r, at);
	assert_true(lc_class_text_is(ref.name, "<init>"));
	assert_true(lc_reached_argument(r, at, 1, &s));
	text[0] = '\0';
	say_sources(r, &shapes.cls, &s);
	assert_string_equal(text, "Shapes$Node.next");
	assert_true(lc_reached_argument(r, at, 0, &s));
	assert_int_equal(s.of[0].kind, LC_REACHED_NEW);
	assert_false(lc_reached_argument(r, at, 2, &s));
	assert_false(lc_reached_argument(r, 0, 0, &s));
	lc_reached_close(r);
}

/* Each load of a reference in the method as "OPCODE SOURCES", joined by "; ". */
static const char *loads(const struct lc_class *c, const char *name)
{
	const struct lc_member m = method_of(c, name);
	struct lc_reached *r = lc_reached_open(c, &m);
	struct lc_reached_sources s;

	assert_non_null(r);
	text[0] = '\0';
	for (uint32_t at = 0; lc_reached_opcode(r, at) != LC_REACHED_END;
	     at = lc_reached_next(r, at)) {
		const uint8_t op = lc_reached_loaded(r, at, &s);

		if (!op)
			continue;
		say("%s%u ", *text ? "; " : "", op);
		say_sources(r, c, &s);
	}
	assert_int_equal(lc_reached_loaded(r, 1 << 20, &s), 0);
	lc_reached_close(r);
	return text;
}

static void a_load_of_a_reference_says_what_it_loads(void **state)
{
	assert_string_equal(loads(&shapes.cls, "list"), "180 Shapes.head; 180 Shapes$Node.next");
	assert_string_equal(loads(&shapes.cls, "rows"), "178 Shapes::grid; 50 Shapes::grid[]");
	assert_string_equal(loads(&shapes.cls, "find"), "180 Shapes.table; 50 Shapes.table[]");
	/* Numbers, results, lengths and what is stored are none. */
	assert_string_equal(loads(&shapes.cls, "found"), "");
	assert_string_equal(loads(&shapes.cls, "sum"), "");
	assert_string_equal(loads(&shapes.cls, "store"), "");
}

/* ---- handwritten ---- */

static const char *accesses_in(struct class_file *c, const char *descriptor, struct code_spec spec)
{
	struct lc_class cls;
	const char *found;
	uint8_t *bytes;
	size_t len;

	class_method(c, "m", descriptor, &spec);
	bytes = class_end(c, &len);
	assert_int_equal(lc_class_open(bytes, len, &cls), LC_REWRITE_DONE);
	found = accesses(&cls, "m");
	lc_class_close(&cls);
	class_free(c);
	free(bytes);
	return found;
}

static struct code_spec code_of(const uint8_t *code, size_t len)
{
	return (struct code_spec){ .code = code, .len = (uint32_t)len };
}

static void a_variable_that_is_overwritten_by_a_number_is_not_known(void **state)
{
	struct class_file c;

	class_begin(&c, "A");
	assert_string_equal(
	    accesses_in(&c, "([I)V",
	                code_of(CODE(LCONST_0, LSTORE_0, ALOAD_0, ARRAYLENGTH, POP, LC_OP_RETURN))),
	    "190 not known");
	class_begin(&c, "A"); /* on one of two ways */
	assert_string_equal(
	    accesses_in(&c, "([I[I)V",
	                code_of(CODE(ALOAD_1, ARRAYLENGTH, LC_OP_IFEQ, 0, 5, ICONST_0, 60, ALOAD_1,
	                             ARRAYLENGTH, POP, LC_OP_RETURN))),
	    "190 parameter 1; 190 not known");
}

static void five_sources_are_too_many(void **state)
{
	uint8_t code[] = { ALOAD_0,     ASTORE_1,    LC_OP_GOTO,  0,           3,
		           ALOAD_1, /* the place where all ways meet */
		           ARRAYLENGTH, POP,         ALOAD_0 + 2, ASTORE_1,    ICONST_0,
		           LC_OP_IFEQ,  0xff,        0xfa,        ALOAD_0 + 3, ASTORE_1,
		           ICONST_0,    LC_OP_IFEQ,  0xff,        0xf4,        LC_OP_ALOAD,
		           4,           ASTORE_1,    ICONST_0,    LC_OP_IFEQ,  0xff,
		           0xed,        LC_OP_ALOAD, 5,           ASTORE_1,    LC_OP_GOTO,
		           0xff,        0xe7 };
	struct class_file c;

	class_begin(&c, "A");
	assert_string_equal(accesses_in(&c, "([I[I[I[I[I[I)V", code_of(code, sizeof(code))),
	                    "190 not known");
	code[27] = LC_OP_RETURN; /* four */
	class_begin(&c, "A");
	assert_string_equal(accesses_in(&c, "([I[I[I[I[I[I)V", code_of(code, 28)),
	                    "190 parameter 0|parameter 2|parameter 3|parameter 4");
}

static void code_that_the_jvm_refuses_is_not_analysed(void **state)
{
	static const struct {
		uint8_t code[8];
		uint32_t len;
	} bad[] = {
		{ { POP, LC_OP_RETURN }, 2 },                   /* nothing on the stack */
		{ { LC_OP_ALOAD, 200, POP, LC_OP_RETURN }, 4 }, /* no such variable */
		{ { LC_OP_GOTO, 0, 1, LC_OP_RETURN }, 4 },      /* into an instruction */
		{ { LC_OP_GOTO, 0, 9, LC_OP_RETURN }, 4 },      /* behind the end */
		{ { ICONST_0, POP }, 2 },                       /* no end */
		{ { LC_OP_JSR, 0, 3, POP, LC_OP_RETURN }, 5 },  /* subroutine */
		{ { ICONST_0, LC_OP_GOTO, 0xff, 0xff, 0 }, 4 }, /* the stack grows for ever */
		{ { LC_OP_GETSTATIC, 0, 1, POP, LC_OP_RETURN }, 5 },
		{ { 255 }, 1 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct class_file c;

		class_begin(&c, "A");
		assert_string_equal(accesses_in(&c, "([I)V", code_of(bad[i].code, bad[i].len)),
		                    "not analysed");
	}
}

static void without_an_exception_table_a_handler_gets_all_that_a_variable_ever_is(void **state)
{
	struct code_spec spec =
	    code_of(CODE(ALOAD_0, ASTORE_0 + 2, ALOAD_1, ASTORE_0 + 2, ICONST_0, 60, LC_OP_RETURN,
	                 /* nothing leads here */
	                 ASTORE_0 + 3, ALOAD_0 + 2, ARRAYLENGTH, POP, ALOAD_0, ARRAYLENGTH, POP,
	                 ALOAD_1, ARRAYLENGTH, POP, ALOAD_0 + 3, LC_OP_ATHROW));
	struct class_file c;

	spec.max_stack = 60000; /* is not what the code needs */
	class_begin(&c, "A");
	assert_string_equal(accesses_in(&c, "([I[I)V", spec),
	                    "190 parameter 0|parameter 1; 190 parameter 0; 190 not known; "
	                    "191 caught");
}

static void without_memory_nothing_is_analysed(void **state)
{
	const struct lc_member m = method_of(&shapes.cls, "list");
	unsigned fails = 0;

	for (struct lc_reached *r = NULL; !r; lc_reached_close(r)) {
		allocations_left = (int)fails++;
		r = lc_reached_open(&shapes.cls, &m);
		allocations_left = -1;
		if (r) {
			lc_reached_close(r);
			break;
		}
	}
	assert_int_equal(fails, 6); /* five allocations */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_a_list_a_node_comes_from_its_head_or_from_the_node_before),
		cmocka_unit_test(an_element_comes_from_its_array),
		cmocka_unit_test(a_result_comes_from_a_call_and_null_from_nowhere),
		cmocka_unit_test(a_cast_changes_no_reference),
		cmocka_unit_test(ways_that_meet_bring_all_their_sources),
		cmocka_unit_test(a_handler_gets_what_the_variable_was_at_any_place_that_throws),
		cmocka_unit_test(monitors_and_stores_of_two_words_are_of_their_object),
		cmocka_unit_test(an_argument_is_found_by_its_local_variable_in_the_called_method),
		cmocka_unit_test(a_load_of_a_reference_says_what_it_loads),
		cmocka_unit_test(a_variable_that_is_overwritten_by_a_number_is_not_known),
		cmocka_unit_test(five_sources_are_too_many),
		cmocka_unit_test(code_that_the_jvm_refuses_is_not_analysed),
		cmocka_unit_test(
		    without_an_exception_table_a_handler_gets_all_that_a_variable_ever_is),
		cmocka_unit_test(without_memory_nothing_is_analysed),
	};

	return cmocka_run_group_tests(tests, open_shapes, close_shapes);
}
