/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_built.c - checks behind which constructor calls the audit's hook comes: never where
 * something else than the new object may be on top of the stack, as in code that an optimiser has
 * moved or shared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/class_file.h"

/* Class 2 is A, 4 is B; 10 is A's constructor (I)V, 16 B's ()V, 22 long f(long, Object[], int). */
#define NEW_A LC_OP_NEW, 0, 2
#define NEW_B LC_OP_NEW, 0, 4
#define INIT_A LC_OP_INVOKESPECIAL, 0, 10
#define INIT_B LC_OP_INVOKESPECIAL, 0, 16
#define CALL_F LC_OP_INVOKESTATIC, 0, 22
#define JUMP(op, offset) op, (uint8_t)((offset) >> 8), (uint8_t)(offset)

enum {
	DUP = LC_OP_DUP,
	NOP = LC_OP_NOP,
	ACONST_NULL = 1,
	ICONST_0 = 3,
	LCONST_0 = 9,
	ILOAD_0 = 26,
	ALOAD_1 = 43,
	ASTORE_1 = 76,
	POP = 87,
	SWAP = 95,
	L2I = 136,
	IFEQ = LC_OP_IFEQ,
	GOTO = LC_OP_GOTO,
	RETURN = LC_OP_RETURN,
	CALLS_MAX = 4,
};

static uint32_t next_site(void *user)
{
	return 1;
}

/* By the class of each constructor call, in their order: has it a hook behind it? */
struct seen {
	bool of_b[CALLS_MAX], hooked[CALLS_MAX];
	unsigned len;
};

static void look(const struct rewritten *r, struct seen *seen)
{
	struct lc_method_code code = rewritten_code(r, 0);
	uint32_t bytes;

	seen->len = 0;
	for (uint32_t at = 0; at < code.len; at += bytes) {
		const uint8_t *behind;

		bytes = lc_method_insn_bytes(&code, at);
		assert_true(bytes != 0);
		if (code.insns[at] != LC_OP_INVOKESPECIAL)
			continue;
		behind = code.insns + at + bytes;
		seen->of_b[seen->len] = lc_be_get2(code.insns + at + 1) == 16;
		seen->hooked[seen->len++] =
		    behind[0] == DUP && behind[1] == LC_OP_INVOKESTATIC &&
		    lc_be_get2(behind + 2) != 22 &&
		    !strcmp(rewritten_hook(r, behind + 1), "constructed(Ljava/lang/Object;)V");
	}
}

static void rewrite_of(uint16_t major, const uint8_t *code, size_t len, const uint8_t *handlers,
                       struct seen *seen)
{
	const struct lc_rewrite_options options = { .array_header_bytes = 16,
		                                    .reference_bytes = 4,
		                                    .objects = true,
		                                    .constructed = true,
		                                    .next_site = next_site };
	struct code_spec spec = { .code = code,
		                  .len = (uint32_t)len,
		                  .handlers = handlers,
		                  .handlers_len = handlers != NULL };
	struct class_file c;
	struct rewritten r;

	class_begin(&c, "Main");
	c.major = major;
	assert_int_equal(class_class(&c, "A"), 2);
	assert_int_equal(class_class(&c, "B"), 4);
	assert_int_equal(class_method_ref(&c, "A", "<init>", "(I)V"), 10);
	assert_int_equal(class_method_ref(&c, "B", "<init>", "()V"), 16);
	assert_int_equal(class_method_ref(&c, "F", "f", "(J[[Ljava/lang/Object;I)J"), 22);
	class_method(&c, "m", "(I)V", &spec);
	class_rewrite(&c, options, &r);
	memset(seen, 0, sizeof(*seen));
	if (r.status == LC_REWRITE_DONE)
		look(&r, seen);
	rewritten_free(&r);
}

#define SEEN(seen, ...)                                                                            \
	rewrite_of(61, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), \
	           NULL, seen)

static void an_object_under_whatever_its_arguments_do_is_seen(void **state)
{
	struct seen s;

	/* new A(cond ? 0 : (int) f(0L, null, 0)) */
	SEEN(&s, NEW_A, DUP, ILOAD_0, JUMP(IFEQ, 7), ICONST_0, JUMP(GOTO, 10), LCONST_0,
	     ACONST_NULL, ICONST_0, CALL_F, L2I, INIT_A, POP, RETURN);
	assert_true(s.len == 1 && s.hooked[0]);
	/* A loop among the arguments. */
	SEEN(&s, NEW_A, DUP, NOP, ILOAD_0, JUMP(IFEQ, -2), ICONST_0, INIT_A, POP, RETURN);
	assert_true(s.len == 1 && s.hooked[0]);
}

static void an_object_of_which_a_copy_was_kept_is_left_out(void **state)
{
	struct seen s;

	/* The constructor takes the lower reference: nothing is on the stack behind it. */
	SEEN(&s, NEW_B, DUP, ASTORE_1, INIT_B, RETURN);
	assert_true(s.len == 1 && !s.hooked[0]);
	/* Below is another object that is not constructed yet, of another class, or of the same. */
	SEEN(&s, NEW_A, DUP, NEW_B, DUP, ASTORE_1, INIT_B, ICONST_0, INIT_A, POP, RETURN);
	assert_true(s.len == 2 && s.of_b[0] && !s.hooked[0] && !s.of_b[1] && s.hooked[1]);
	SEEN(&s, NEW_B, DUP, NEW_B, DUP, ASTORE_1, INIT_B, INIT_B, POP, RETURN);
	assert_true(s.len == 2 && !s.hooked[0] && s.hooked[1]);
	/* From the local variable, with the lower reference still there, and one more. */
	SEEN(&s, NEW_B, DUP, ASTORE_1, ALOAD_1, INIT_B, POP, RETURN);
	assert_true(s.len == 1 && !s.hooked[0]);
	SEEN(&s, NEW_A, NEW_B, DUP, SWAP, INIT_B, POP, ICONST_0, INIT_A, RETURN);
	assert_true(s.len == 2 && !s.hooked[0] && !s.hooked[1]);
}

static void code_that_is_entered_from_elsewhere_is_left_out(void **state)
{
	struct seen s;

	/* Backwards from behind the call. */
	SEEN(&s, NEW_B, DUP, NOP, INIT_B, POP, ILOAD_0, JUMP(IFEQ, -6), RETURN);
	assert_true(s.len == 1 && !s.hooked[0]);
	/* Forwards, over `new`. */
	SEEN(&s, ILOAD_0, JUMP(IFEQ, 7), NEW_B, DUP, INIT_B, POP, RETURN);
	assert_true(s.len == 1 && !s.hooked[0]);
	/* To `new` itself any may jump. */
	SEEN(&s, ILOAD_0, JUMP(IFEQ, 3), NEW_B, DUP, INIT_B, POP, RETURN);
	assert_true(s.len == 1 && s.hooked[0]);
}

static void behind_a_goto_only_a_known_height_counts(void **state)
{
	const uint8_t code[] = { NEW_B, DUP, JUMP(GOTO, 4), NOP, INIT_B, POP, RETURN };
	const uint8_t far[] = { NEW_B, DUP, JUMP(GOTO, 5), POP, RETURN, INIT_B, POP, RETURN };
	struct seen s;

	/* The nop has no height of its own, so that of the call is not known either. */
	rewrite_of(61, code, sizeof(code), NULL, &s);
	assert_true(s.len == 1 && !s.hooked[0]);
	rewrite_of(61, far, sizeof(far), NULL, &s);
	assert_true(s.len == 1 && !s.hooked[0]);
}

static void a_handler_among_the_arguments_is_left_out(void **state)
{
	const uint8_t code[] = { NEW_B, DUP, NOP, INIT_B, POP, RETURN };
	const uint8_t handler[] = { 0, 0, 0, 4, 0, 4, 0, 0 };
	struct seen s;

	rewrite_of(61, code, sizeof(code), handler, &s);
	assert_true(s.len == 1 && !s.hooked[0]);
}

static void classes_without_class_constants_have_no_such_hooks(void **state)
{
	const uint8_t code[] = { NEW_B, DUP, INIT_B, POP, RETURN };
	struct seen s;

	rewrite_of(48, code, sizeof(code), NULL, &s);
	assert_true(s.len == 0);
	rewrite_of(49, code, sizeof(code), NULL, &s);
	assert_true(s.len == 1 && s.hooked[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_under_whatever_its_arguments_do_is_seen),
		cmocka_unit_test(an_object_of_which_a_copy_was_kept_is_left_out),
		cmocka_unit_test(code_that_is_entered_from_elsewhere_is_left_out),
		cmocka_unit_test(behind_a_goto_only_a_known_height_counts),
		cmocka_unit_test(a_handler_among_the_arguments_is_left_out),
		cmocka_unit_test(classes_without_class_constants_have_no_such_hooks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
