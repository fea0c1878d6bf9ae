/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_span_rewrite.c - checks the code that is put around a method that is a span. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/span_file.h"

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* A class that implements Runnable and has one method, run(), with that code. */
static void rewrite_run(struct class_file *c, struct code_spec *spec, struct rewritten *out)
{
	c->interfaces[0] = "java/lang/Runnable";
	c->method_flags = PUBLIC;
	class_method(c, "run", "()V", spec);
	rewrite_as(c, BOTH, 0, out);
}

static void assert_begins_task(const struct rewritten *r, const uint8_t *insn, int traits)
{
	assert_int_equal(insn[0], LC_OP_ALOAD_0);
	assert_int_equal(insn[1], LC_OP_SIPUSH);
	assert_int_equal(lc_be_get2(insn + 2), traits);
	assert_string_equal(called(r, insn + 4), "taskBegin(Ljava/lang/Object;I)V");
}

/*
 * The last of `frames` frames, at `frame`, has only a Throwable, `distance` behind the one before.
 */
static void assert_tail_frame(const struct rewritten *r, unsigned frames, const uint8_t *frame,
                              uint32_t distance)
{
	uint32_t len;
	const uint8_t *map = rewritten_attribute(r, 0, "StackMapTable", &len);

	assert_non_null(map);
	assert_int_equal(lc_be_get2(map), frames);
	if (!frame)
		frame = map + 2;
	assert_int_equal(frame - map + 10, len);
	assert_int_equal(frame[0], 255);
	assert_int_equal(lc_be_get2(frame + 1), distance);
	assert_int_equal(lc_be_get4(frame + 3), 1); /* no locals, one on the stack */
	assert_int_equal(frame[7], 7);
	assert_true(
	    lc_class_text_is(lc_class_name(&r->cls, lc_be_get2(frame + 8)), "java/lang/Throwable"));
}

static void method_is_wrapped(void **state)
{
	struct code_spec spec = CODE(RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "A");
	rewrite_run(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.len, BEGIN + END + 1 + TAIL);
	assert_int_equal(code.max_stack, 12);
	assert_int_equal(code.max_locals, 10);
	assert_begins_task(&r, code.insns, 0);
	assert_string_equal(called(&r, code.insns + BEGIN), "end()V");
	assert_int_equal(code.insns[BEGIN + END], RETURN);
	assert_int_equal(code.handlers_len, 1);
	assert_ends(&r, 0, BEGIN);
	assert_tail_frame(&r, 1, NULL, BEGIN + END + 1);
	assert_int_equal(r.result.sites, 3);
	rewritten_free(&r);
}

static void jump_to_the_start_does_not_begin_again(void **state)
{
	/* 0 iconst_0; 1 ifeq 0; 4 return; a frame and a line at 0, one more line at 4 */
	struct code_spec spec = CODE(3, 153, 255, 255, RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;
	const uint8_t *p;
	uint32_t len;

	class_begin(&c, "A");
	class_attribute(&c, &spec, "StackMapTable", BYTES(0, 1, 0));
	class_attribute(&c, &spec, "LineNumberTable", BYTES(0, 2, 0, 0, 0, 70, 0, 4, 0, 71));
	class_attribute(&c, &spec, "LocalVariableTable",
	                BYTES(0, 2, 0, 0, 0, 5, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 0, 1, 0, 1, 0, 1));
	rewrite_run(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.insns[BEGIN + 1], 153);
	assert_int_equal(lc_be_get2s(code.insns + BEGIN + 2), -1);
	p = rewritten_attribute(&r, 0, "StackMapTable", &len);
	assert_int_equal(p[2], BEGIN);
	assert_tail_frame(&r, 2, p + 3, BEGIN + 5 + END - BEGIN - 1);
	p = rewritten_attribute(&r, 0, "LineNumberTable", &len);
	assert_int_equal(lc_be_get2(p + 2), 0); /* the prologue is of the first line */
	assert_int_equal(lc_be_get2(p + 6), BEGIN + 4);
	p = rewritten_attribute(&r, 0, "LocalVariableTable", &len);
	assert_int_equal(lc_be_get2(p + 2), 0);
	assert_int_equal(lc_be_get2(p + 4), BEGIN + 5 + END);
	assert_int_equal(lc_be_get2(p + 12), BEGIN + 1);
	assert_int_equal(lc_be_get2(p + 14), 4 + END);
	assert_ends(&r, 0, BEGIN);
	rewritten_free(&r);
}

static void every_kind_of_return_ends(void **state)
{
	struct code_spec spec = CODE(172, 173, 174, 175, 176, 177, 191);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "A");
	rewrite_run(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	for (uint32_t i = 0; i < 6; i++) {
		assert_string_equal(called(&r, code.insns + BEGIN + 4 * i), "end()V");
		assert_int_equal(code.insns[BEGIN + 4 * i + END], 172 + i);
	}
	assert_int_equal(code.insns[BEGIN + 24], LC_OP_ATHROW); /* ends by way of the tail */
	assert_int_equal(code.len, BEGIN + 24 + 1 + TAIL);
	rewritten_free(&r);
}

static void own_handlers_come_first(void **state)
{
	/* 0 nop; 1 return; 2 pop; 3 return; [0,2) -> 2 */
	struct code_spec spec = CODE(NOP, RETURN, POP, RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	spec.handlers = (const uint8_t[]){ 0, 0, 0, 2, 0, 2, 0, 0 };
	spec.handlers_len = 1;
	class_begin(&c, "A");
	rewrite_run(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.handlers_len, 2);
	assert_int_equal(lc_be_get2(code.handlers), BEGIN);
	assert_int_equal(lc_be_get2(code.handlers + 2), BEGIN + 2 + END);
	assert_int_equal(lc_be_get2(code.handlers + 4), BEGIN + 2 + END);
	assert_ends(&r, 0, BEGIN);
	rewritten_free(&r);
}

static void old_class_gets_no_frame(void **state)
{
	struct class_file c;
	struct rewritten r;
	uint32_t len;

	for (uint16_t major = 45; major <= 50; major++) {
		struct code_spec spec = CODE(RETURN);

		class_begin(&c, "A");
		c.major = major;
		c.minor = 3;
		rewrite_run(&c, &spec, &r);
		assert_ends(&r, 0, BEGIN);
		assert_int_equal(rewritten_attribute(&r, 0, "StackMapTable", &len) != NULL,
		                 major >= 50);
		rewritten_free(&r);
	}
}

static void jump_that_no_longer_reaches_is_widened(void **state)
{
	/* 0 goto 32766; 3 return; ... nop; 32766 return */
	static uint8_t bytes[32767] = { GOTO, 0x7F, 0xFE, RETURN, [32766] = RETURN };
	struct code_spec spec = { .code = bytes, .len = sizeof(bytes) };
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "A");
	rewrite_run(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.insns[BEGIN], LC_OP_GOTO_W);
	assert_int_equal(lc_be_get4(code.insns + BEGIN + 1), 32766 + 2 + END);
	assert_int_equal(code.len, BEGIN + sizeof(bytes) + 2 + 2 * END + TAIL);
	assert_ends(&r, 0, BEGIN);
	rewritten_free(&r);
}

static void switch_keeps_its_padding(void **state)
{
	/* 0 iload_1; 1 tableswitch default 20, 0: 20; 20 return */
	struct code_spec spec =
	    CODE(27, 170, 0, 0, 0, 0, 0, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 19, RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "A");
	rewrite_run(&c, &spec, &r);
	code = rewritten_code(&r, 0); /* at 8: three bytes of padding */
	assert_int_equal(code.insns[BEGIN + 1], 170);
	assert_int_equal(lc_be_get4(code.insns + 12), 20);
	assert_int_equal(lc_be_get4(code.insns + 24), 20);
	assert_string_equal(called(&r, code.insns + 28), "end()V");
	rewritten_free(&r);
}

static void method_that_would_be_too_large_is_left_and_counted(void **state)
{
	static uint8_t bytes[65535 - BEGIN - END - TAIL + 1];
	struct class_file c;
	struct rewritten r;

	for (uint32_t over = 0; over < 2; over++) {
		struct code_spec large = { .code = bytes, .len = sizeof(bytes) - 1 + over };
		struct code_spec small = CODE(172);

		memset(bytes, NOP, sizeof(bytes));
		bytes[large.len - 1] = RETURN;
		class_begin(&c, "A");
		c.interfaces[0] = "java/lang/Runnable";
		c.interfaces[1] = "java/util/concurrent/Callable";
		c.method_flags = PUBLIC;
		class_method(&c, "run", "()V", &large);
		class_method(&c, "call", "()Ljava/lang/Object;", &small);
		rewrite_as(&c, BOTH, 0, &r);
		assert_int_equal(r.result.methods_left, over);
		assert_int_equal(r.result.sites, over ? 3 : 6);
		assert_int_equal(rewritten_code(&r, 0).len, over ? large.len : 65535);
		assert_int_equal(rewritten_code(&r, 1).len, BEGIN + END + 1 + TAIL);
		rewritten_free(&r);
	}
	struct code_spec large = { .code = bytes, .len = sizeof(bytes) };
	class_begin(&c, "A");
	rewrite_run(&c, &large, &r);
	assert_int_equal(r.status, LC_REWRITE_TOO_LARGE);
	assert_int_equal(r.result.methods_left, 1);
}

static void what_does_not_parse_is_told(void **state)
{
	/* A jump out of the code; the same, into an instruction. */
	struct code_spec out = CODE(GOTO, 0, 9, RETURN), into = CODE(GOTO, 0, 1, RETURN);
	struct class_file c;
	struct rewritten r;

	class_begin(&c, "A");
	rewrite_run(&c, &out, &r);
	assert_int_equal(r.status, LC_REWRITE_MALFORMED);
	class_begin(&c, "A");
	rewrite_run(&c, &into, &r);
	assert_int_equal(r.status, LC_REWRITE_MALFORMED);
}

enum { METAFACTORY, ALT_METAFACTORY, MINE };

/* A bootstrap method with three arguments, of which `at` is the handle. */
static void bootstrap(struct class_file *c, int which, uint16_t handle, unsigned at)
{
	static const char *const holders[] = { "java/lang/invoke/LambdaMetafactory",
		                               "java/lang/invoke/LambdaMetafactory", "Mine" };
	static const char *const names[] = { "metafactory", "altMetafactory", "metafactory" };

	lc_be_add2(&c->bootstraps,
	           class_method_handle(c, LC_HANDLE_STATIC,
	                               class_method_ref(c, holders[which], names[which], "()V")));
	lc_be_add2(&c->bootstraps, 3);
	for (unsigned i = 0; i < 3; i++)
		lc_be_add2(&c->bootstraps, i == at ? handle : class_utf8(c, "type"));
}

/* The new handle of Runnable.run() or another method: its method's name. */
static void assert_handle(const char *holder, const char *name, const char *descriptor,
                          const int *which, const unsigned *at, unsigned len, const char *becomes)
{
	struct code_spec spec = CODE(RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_class_ref ref;
	uint16_t handle, to = 0;
	unsigned kind;

	class_begin(&c, "Test");
	c.interfaces[0] = "java/lang/Runnable"; /* so that there is something to rewrite */
	c.method_flags = PUBLIC;
	class_method(&c, "run", "()V", &spec);
	handle = class_method_handle(&c, LC_HANDLE_INTERFACE,
	                             class_interface_ref(&c, holder, name, descriptor));
	lc_be_add2(&c.bootstraps, (uint16_t)len);
	for (unsigned i = 0; i < len; i++)
		bootstrap(&c, which[i], handle, at[i]);
	rewrite_as(&c, BOTH, 0, &r);
	assert_int_equal(r.status, LC_REWRITE_DONE);
	kind = lc_class_method_handle(&r.cls, handle, &to);
	if (becomes) {
		assert_int_equal(kind, LC_HANDLE_STATIC);
		assert_true(lc_class_method_ref(&r.cls, to, &ref));
		assert_true(lc_class_text_is(ref.holder, LC_SPAN_CLASS));
		assert_true(lc_class_text_is(ref.name, becomes));
	} else {
		assert_int_equal(kind, LC_HANDLE_INTERFACE);
		assert_true(lc_class_interface_ref(&r.cls, to, &ref));
		assert_true(lc_class_text_is(ref.holder, holder));
	}
	rewritten_free(&r);
}

static void method_references_to_tasks_are_exchanged(void **state)
{
	static const int metafactory[] = { METAFACTORY, METAFACTORY };
	static const int alt[] = { METAFACTORY, ALT_METAFACTORY };
	static const int mine[] = { MINE };
	static const unsigned implementation[] = { 1, 1 }, elsewhere[] = { 1, 2 };

	assert_handle("java/lang/Runnable", "run", "()V", metafactory, implementation, 2,
	              "runReferred");
	assert_handle("java/util/concurrent/Callable", "call", "()Ljava/lang/Object;", metafactory,
	              implementation, 1, "callReferred");
	assert_handle("Other", "run", "()V", metafactory, implementation, 1, NULL);
	assert_handle("java/lang/Runnable", "run", "()V", alt, implementation, 2, NULL);
	assert_handle("java/lang/Runnable", "run", "()V", metafactory, elsewhere, 2, NULL);
	assert_handle("java/lang/Runnable", "run", "()V", mine, implementation, 1, NULL);
	assert_handle("java/lang/Runnable", "run", "()V", metafactory, implementation, 0, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(method_is_wrapped),
		cmocka_unit_test(jump_to_the_start_does_not_begin_again),
		cmocka_unit_test(every_kind_of_return_ends),
		cmocka_unit_test(own_handlers_come_first),
		cmocka_unit_test(old_class_gets_no_frame),
		cmocka_unit_test(jump_that_no_longer_reaches_is_widened),
		cmocka_unit_test(switch_keeps_its_padding),
		cmocka_unit_test(method_that_would_be_too_large_is_left_and_counted),
		cmocka_unit_test(what_does_not_parse_is_told),
		cmocka_unit_test(method_references_to_tasks_are_exchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
