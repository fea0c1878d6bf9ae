/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_new.c - checks the hooks behind `new`, and the other hooks there are when every object is
 * tracked.
 *
 * The file is longer than 600 lines: each shape of code has its test, over one set of helpers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/class_file.h"

/* Class 2 is A, 4 is B; 10 is A's constructor (I)V, 16 B's ()V. */
#define NEW_A LC_OP_NEW, 0, 2
#define NEW_B LC_OP_NEW, 0, 4
#define INIT_A LC_OP_INVOKESPECIAL, 0, 10
#define INIT_B LC_OP_INVOKESPECIAL, 0, 16
/* ldc_w class; sipush site; invokestatic ? */
#define MADE(class, site) LC_OP_LDC_W, 0, class, LC_OP_SIPUSH, 0, site, LC_OP_INVOKESTATIC, 0, 0
#define BUILT LC_OP_DUP, LC_OP_INVOKESTATIC, 0, 0

#define CODE(...)                                                                                  \
	{                                                                                          \
		.code = (const uint8_t[]){ __VA_ARGS__ },                                          \
		.len = sizeof((const uint8_t[]){ __VA_ARGS__ })                                    \
	}

enum {
	DUP = LC_OP_DUP,
	ICONST_0 = 3,
	ILOAD_0 = 26,
	ALOAD_1 = 43,
	ASTORE_1 = 76,
	POP = 87,
	NOP = 0,
	ATHROW = 191,
	RETURN = LC_OP_RETURN,
	GOTO = LC_OP_GOTO,
	IFEQ = LC_OP_IFEQ,
	MADE_BYTES = 9,
	UNINITIALIZED = 8,
};

static uint32_t last_site;
static struct lc_rewrite_options options;

static uint32_t next_site(void *user)
{
	return ++last_site;
}

static int reset(void **state)
{
	last_site = 0;
	options = (struct lc_rewrite_options){
		.array_header_bytes = 16,
		.reference_bytes = 4,
		.objects = true,
		.next_site = next_site,
	};
	return 0;
}

static void begin(struct class_file *c)
{
	class_begin(c, "Main");
	assert_int_equal(class_class(c, "A"), 2);
	assert_int_equal(class_class(c, "B"), 4);
	assert_int_equal(class_method_ref(c, "A", "<init>", "(I)V"), 10);
	assert_int_equal(class_method_ref(c, "B", "<init>", "()V"), 16);
}

static void rewrite(struct class_file *c, struct code_spec *spec, struct rewritten *out)
{
	class_method(c, "m", "(I)V", spec);
	class_rewrite(c, options, out);
}

/* The code is `expected`, where 184, 0, 0 stands for the call of a hook: the next of `hooks`. */
static void assert_code(const struct rewritten *r, const char *const *hooks,
                        const uint8_t *expected, size_t len)
{
	struct lc_method_code code = rewritten_code(r, 0);

	assert_int_equal(code.len, len);
	for (uint32_t i = 0; i < len; i++) {
		if (i + 2 < len && expected[i] == LC_OP_INVOKESTATIC && !expected[i + 1] &&
		    !expected[i + 2]) {
			assert_string_equal(rewritten_hook(r, code.insns + i), *hooks++);
			i += 2;
			continue;
		}
		assert_int_equal(code.insns[i], expected[i]);
	}
}

static const char made[] = "made(Ljava/lang/Class;I)V";
static const char built[] = "constructed(Ljava/lang/Object;)V";

#define ASSERT_CODE(r, hooks, ...)                                                                 \
	assert_code(r, hooks, (const uint8_t[]){ __VA_ARGS__ },                                    \
	            sizeof((const uint8_t[]){ __VA_ARGS__ }))
#define MADE_ONLY ((const char *const[]){ made, made, made })

static void hook_follows_new_whatever_comes_then(void **state)
{
	struct code_spec dup = CODE(NEW_B, DUP, INIT_B, POP, RETURN);
	struct code_spec plain = CODE(NEW_B, INIT_B, RETURN);
	struct code_spec stored = CODE(NEW_B, ASTORE_1, ALOAD_1, INIT_B, RETURN);
	struct code_spec dropped = CODE(NEW_B, POP, RETURN);
	struct class_file c;
	struct rewritten r;

	begin(&c);
	rewrite(&c, &dup, &r);
	ASSERT_CODE(&r, MADE_ONLY, NEW_B, MADE(4, 1), DUP, INIT_B, POP, RETURN);
	assert_int_equal(r.result.sites, 1);
	assert_int_equal(rewritten_code(&r, 0).max_stack, 10 + 4);
	rewritten_free(&r);
	begin(&c);
	rewrite(&c, &plain, &r);
	ASSERT_CODE(&r, MADE_ONLY, NEW_B, MADE(4, 2), INIT_B, RETURN);
	rewritten_free(&r);
	begin(&c);
	rewrite(&c, &stored, &r);
	ASSERT_CODE(&r, MADE_ONLY, NEW_B, MADE(4, 3), ASTORE_1, ALOAD_1, INIT_B, RETURN);
	rewritten_free(&r);
	begin(&c);
	rewrite(&c, &dropped, &r);
	ASSERT_CODE(&r, MADE_ONLY, NEW_B, MADE(4, 4), POP, RETURN);
	rewritten_free(&r);
}

static void new_at_the_very_end_is_no_reason_to_read_on(void **state)
{
	struct code_spec spec = CODE(NEW_B);
	struct class_file c;
	struct rewritten r;

	options.constructed = true;
	begin(&c);
	rewrite(&c, &spec, &r);
	ASSERT_CODE(&r, MADE_ONLY, NEW_B, MADE(4, 1));
	rewritten_free(&r);
}

static void without_objects_new_has_no_hook(void **state)
{
	struct code_spec spec = CODE(NEW_B, DUP, INIT_B, POP, RETURN);
	struct class_file c;
	struct rewritten r;

	options.objects = false;
	begin(&c);
	rewrite(&c, &spec, &r);
	assert_int_equal(r.status, LC_REWRITE_NOTHING);
}

static void news_among_the_arguments_have_theirs_in_order(void **state)
{
	/* new A(new B(..)) where B's is in A's argument, and a third behind. */
	struct code_spec spec =
	    CODE(NEW_A, DUP, NEW_B, DUP, INIT_B, POP, ICONST_0, INIT_A, POP, NEW_B, INIT_B, RETURN);
	struct class_file c;
	struct rewritten r;

	begin(&c);
	rewrite(&c, &spec, &r);
	ASSERT_CODE(&r, MADE_ONLY, NEW_A, MADE(2, 1), DUP, NEW_B, MADE(4, 2), DUP, INIT_B, POP,
	            ICONST_0, INIT_A, POP, NEW_B, MADE(4, 3), INIT_B, RETURN);
	assert_int_equal(r.result.sites, 3);
	rewritten_free(&r);
}

static void the_audit_sees_what_is_constructed_innermost_first(void **state)
{
	const char *const hooks[] = { made, made, built, built };
	struct code_spec spec =
	    CODE(NEW_A, DUP, NEW_B, DUP, INIT_B, POP, ICONST_0, INIT_A, POP, RETURN);
	struct class_file c;
	struct rewritten r;

	options.constructed = true;
	begin(&c);
	rewrite(&c, &spec, &r);
	ASSERT_CODE(&r, hooks, NEW_A, MADE(2, 1), DUP, NEW_B, MADE(4, 2), DUP, INIT_B, BUILT, POP,
	            ICONST_0, INIT_A, BUILT, POP, RETURN);
	assert_int_equal(last_site, 2); /* what is constructed has been counted */
	rewritten_free(&r);
}

static void the_audit_leaves_out_what_is_not_on_the_stack(void **state)
{
	struct code_spec plain = CODE(NEW_B, INIT_B, RETURN);
	struct code_spec other = CODE(NEW_A, DUP, INIT_B, POP, RETURN);
	struct code_spec super = CODE(42, INIT_B, RETURN);
	struct class_file c;
	struct rewritten r;

	options.constructed = true;
	begin(&c);
	rewrite(&c, &plain, &r);
	ASSERT_CODE(&r, MADE_ONLY, NEW_B, MADE(4, 1), INIT_B, RETURN);
	rewritten_free(&r);
	begin(&c);
	rewrite(&c, &other, &r);
	ASSERT_CODE(&r, MADE_ONLY, NEW_A, MADE(2, 2), DUP, INIT_B, POP, RETURN);
	rewritten_free(&r);
	begin(&c);
	rewrite(&c, &super, &r);
	assert_int_equal(r.status, LC_REWRITE_NOTHING);
}

/* More nested than are kept apart: each still has its hook, and the code its length. */
static void deep_nesting_keeps_every_hook_behind_new(void **state)
{
	enum { DEPTH = 100 };
	uint8_t code[DEPTH * 8 + 1];
	struct code_spec spec = { .code = code, .len = sizeof(code), .max_stack = 2 * DEPTH };
	struct class_file c;
	struct rewritten r;

	for (size_t i = 0; i < DEPTH; i++) {
		memcpy(code + 4 * i, (const uint8_t[]){ NEW_B, DUP }, 4);
		memcpy(code + 4 * (DEPTH + i), (const uint8_t[]){ INIT_B, POP }, 4);
	}
	code[DEPTH * 8] = RETURN;
	options.constructed = true;
	begin(&c);
	rewrite(&c, &spec, &r);
	assert_int_equal(last_site, DEPTH);
	assert_in_range(r.result.sites, DEPTH + 64, 2 * DEPTH);
	rewritten_free(&r);
}

static void class_constants_need_java_5(void **state)
{
	for (uint16_t major = 45; major <= 52; major++) {
		struct code_spec spec =
		    CODE(NEW_B, DUP, INIT_B, POP, ILOAD_0, LC_OP_NEWARRAY, 8, POP, RETURN);
		struct class_file c;
		struct rewritten r;

		last_site = 0;
		options.constructed = true;
		begin(&c);
		c.major = major;
		c.minor = major == 45 ? 3 : 0;
		rewrite(&c, &spec, &r);
		assert_int_equal(last_site, major < 49 ? 1 : 2); /* the array's is always there */
		assert_int_equal(r.result.sites, major < 49 ? 1 : 3);
		rewritten_free(&r);
	}
}

/* Code of `new A(p ? 0 : 0)` that begins at `at`; frames know the object by where its `new` is. */
static void stack_maps_still_name_the_new(void **state)
{
	/* nop; 1 new A; 4 dup; 5 new B; 8 astore_1; 9 iload_0; 10 ifeq 17; 13 iconst_0;
	 * 14 goto 18; 17 iconst_0; 18 init A; 21 pop; 22 return */
	struct code_spec spec = CODE(NOP, NEW_A, DUP, NEW_B, ASTORE_1, ILOAD_0, IFEQ, 0, 7,
	                             ICONST_0, GOTO, 0, 4, ICONST_0, INIT_A, POP, RETURN);
	/* full frame at 17: int, uninitialized(5) | uninitialized(1) twice; at 18 an int on top */
	const uint8_t frames[] = { 0,   2, 255, 0, 17, 0, 2, 1, 8, 0, 5, 0, 2, 8, 0, 1, 8, 0, 1,
		                   255, 0, 0,   0, 2,  1, 8, 0, 5, 0, 3, 8, 0, 1, 8, 0, 1, 1 };
	const uint8_t *map;
	struct lc_method_code code;
	struct class_file c;
	struct rewritten r;
	uint32_t len = 0;

	begin(&c);
	class_attribute(&c, &spec, "StackMapTable", frames, sizeof(frames));
	rewrite(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	map = rewritten_attribute(&r, 0, "StackMapTable", &len);
	assert_non_null(map);
	assert_int_equal(len, sizeof(frames));
	assert_int_equal(code.insns[1], LC_OP_NEW);
	assert_int_equal(code.insns[5 + MADE_BYTES], LC_OP_NEW);
	/* Both hooks come before the branches, so that only positions changed. */
	assert_int_equal(lc_be_get2(map + 3), 17 + 2 * MADE_BYTES);
	for (size_t i = 5; i < len; i++) {
		if (i == 10)
			assert_int_equal(map[i], 5 + MADE_BYTES);
		else if (i == 27)
			assert_int_equal(map[i], 5 + MADE_BYTES);
		else
			assert_int_equal(map[i], frames[i]);
	}
	assert_int_equal(map[8], UNINITIALIZED);
	rewritten_free(&r);
}

static void a_frame_that_names_no_instruction_is_malformed(void **state)
{
	struct code_spec spec = CODE(NEW_B, ASTORE_1, RETURN);
	const uint8_t frames[] = { 0, 1, 64 + 4, 8, 0, 1 }; /* in the middle of `new` */
	struct class_file c;
	struct rewritten r;

	begin(&c);
	class_attribute(&c, &spec, "StackMapTable", frames, sizeof(frames));
	rewrite(&c, &spec, &r);
	assert_int_equal(r.status, LC_REWRITE_MALFORMED);
}

static void jumps_to_new_run_the_hook_and_those_behind_it_do_not(void **state)
{
	/* 0 new B; 3 pop; 4 iload_0; 5 ifeq 0; 8 goto 12; 11 nop; 12 new B; 15 astore_1; 16 goto
	 * 15 */
	struct code_spec spec = CODE(NEW_B, POP, ILOAD_0, IFEQ, 0xff, 0xfb, GOTO, 0, 4, NOP, NEW_B,
	                             ASTORE_1, GOTO, 0xff, 0xff);
	struct class_file c;
	struct rewritten r;

	begin(&c);
	rewrite(&c, &spec, &r);
	ASSERT_CODE(&r, MADE_ONLY, NEW_B, MADE(4, 1), POP, ILOAD_0, IFEQ, 0xff, 0xfb - MADE_BYTES,
	            GOTO, 0, 4, NOP, NEW_B, MADE(4, 2), ASTORE_1, GOTO, 0xff, 0xff);
	rewritten_free(&r);
}

static void the_hook_is_in_the_try_range_of_its_new(void **state)
{
	/* 0 nop; 1 new B; 4 dup; 5 init; 8 pop; 9 return; 10 athrow */
	struct code_spec spec = CODE(NOP, NEW_B, DUP, INIT_B, POP, RETURN, ATHROW);
	static const uint8_t handlers[] = {
		0, 1, 0, 4, 0, 10, 0, 0, /* new alone */
		0, 4, 0, 9, 0, 10, 0, 0, /* what follows it */
		0, 0, 0, 1, 0, 10, 0, 0, /* what comes before */
	};
	const uint8_t *h;
	struct class_file c;
	struct rewritten r;

	spec.handlers = handlers;
	spec.handlers_len = 3;
	begin(&c);
	rewrite(&c, &spec, &r);
	h = rewritten_code(&r, 0).handlers;
	assert_int_equal(lc_be_get2(h), 1);
	assert_int_equal(lc_be_get2(h + 2), 4 + MADE_BYTES);
	assert_int_equal(lc_be_get2(h + 4), 10 + MADE_BYTES);
	assert_int_equal(lc_be_get2(h + 8), 4 + MADE_BYTES);
	assert_int_equal(lc_be_get2(h + 10), 9 + MADE_BYTES);
	assert_int_equal(lc_be_get2(h + 16), 0);
	assert_int_equal(lc_be_get2(h + 18), 1);
	rewritten_free(&r);
}

/* `head`, then `news` times `new B; pop`, then return. malloc'ed. */
static uint8_t *many_news(const uint8_t head[3], size_t news, uint32_t *len)
{
	uint8_t *code = malloc(3 + 4 * news + 1);

	assert_non_null(code);
	memcpy(code, head, 3);
	for (size_t i = 0; i < news; i++)
		memcpy(code + 3 + 4 * i, (const uint8_t[]){ NEW_B, POP }, 4);
	code[3 + 4 * news] = RETURN;
	*len = (uint32_t)(3 + 4 * news + 1);
	return code;
}

static void a_jump_that_hooks_made_too_long_takes_its_wide_form(void **state)
{
	enum { NEWS = 3000, TO = 3 + 4 * NEWS };
	const uint8_t head[3] = { GOTO, TO >> 8, TO & 255 };
	/* at the end of the code, where local 0 is an int and the last `new` is on the stack */
	const uint8_t frames[] = { 0, 1, 247, TO >> 8, TO & 255, 8, 0, 3 };
	struct code_spec spec = { 0 };
	const uint8_t *map;
	struct lc_method_code code;
	struct class_file c;
	struct rewritten r;
	uint32_t len = 0;

	spec.code = many_news(head, NEWS, &spec.len);
	begin(&c);
	class_attribute(&c, &spec, "StackMapTable", frames, sizeof(frames));
	rewrite(&c, &spec, &r);
	free((void *)(uintptr_t)spec.code);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.len, 5 + (4 + MADE_BYTES) * NEWS + 1);
	assert_int_equal(code.insns[0], LC_OP_GOTO_W);
	assert_int_equal(lc_be_get4(code.insns + 1), code.len - 1);
	assert_int_equal(code.insns[code.len - 1], RETURN);
	map = rewritten_attribute(&r, 0, "StackMapTable", &len);
	assert_int_equal(len, sizeof(frames));
	assert_int_equal(lc_be_get2(map + 3), code.len - 1);
	assert_int_equal(lc_be_get2(map + 6), 5); /* its `new` has moved by the wider jump */
	assert_int_equal(code.insns[5], LC_OP_NEW);
	rewritten_free(&r);
}

static void a_method_that_would_not_fit_is_left_alone(void **state)
{
	const uint8_t branch[3] = { IFEQ, (3 + 4 * 3000) >> 8, (3 + 4 * 3000) & 255 };
	const uint8_t nops[3] = { NOP, NOP, NOP };
	struct code_spec spec = { 0 };
	struct class_file c;
	struct rewritten r;

	/* A conditional jump has no wide form. */
	spec.code = many_news(branch, 3000, &spec.len);
	begin(&c);
	rewrite(&c, &spec, &r);
	free((void *)(uintptr_t)spec.code);
	assert_int_equal(r.status, LC_REWRITE_TOO_LARGE);
	assert_int_equal(r.result.methods_left, 1);
	/* 3 + 13 * 5041 + 1 bytes are more than 65,535. */
	for (size_t news = 5040; news <= 5041; news++) {
		spec = (struct code_spec){ 0 };
		spec.code = many_news(nops, news, &spec.len);
		begin(&c);
		rewrite(&c, &spec, &r);
		free((void *)(uintptr_t)spec.code);
		assert_int_equal(r.status, news == 5040 ? LC_REWRITE_DONE : LC_REWRITE_TOO_LARGE);
		rewritten_free(&r);
	}
}

static void classes_far_back_in_a_huge_pool_are_named(void **state)
{
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;
	uint16_t class;
	uint8_t insns[5] = { LC_OP_NEW, 0, 0, POP, RETURN };
	struct code_spec spec = { .code = insns, .len = sizeof(insns) };

	class_begin(&c, "Main");
	while (c.pool_count < 60000)
		class_integer(&c, 7);
	class = class_class(&c, "A");
	lc_be_put2(insns + 1, class);
	rewrite(&c, &spec, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.insns[3], LC_OP_LDC_W);
	assert_int_equal(lc_be_get2(code.insns + 4), class);
	assert_string_equal(rewritten_hook(&r, code.insns + 9), made);
	rewritten_free(&r);
}

static void without_room_in_the_pool_the_class_is_left_alone(void **state)
{
	/* The hook needs six constants: a class, a method, and their texts. */
	for (uint16_t left = 4; left <= 8; left++) {
		struct code_spec spec = CODE(NEW_B, POP, RETURN);
		struct class_file c;
		struct rewritten r;

		last_site = 0;
		begin(&c);
		/* three of the method and two of the class are still to come */
		while (c.pool_count < UINT16_MAX - 5 - left)
			class_integer(&c, 7);
		rewrite(&c, &spec, &r);
		assert_int_equal(r.status, left < 6 ? LC_REWRITE_TOO_LARGE : LC_REWRITE_DONE);
		rewritten_free(&r);
	}
}

static void large_site_numbers_are_constants(void **state)
{
	struct code_spec spec = CODE(NEW_B, POP, RETURN);
	struct class_file c;
	struct rewritten r;
	const uint8_t *insn;
	uint32_t index;

	last_site = 1 << 20;
	begin(&c);
	rewrite(&c, &spec, &r);
	insn = rewritten_code(&r, 0).insns + 6;
	assert_int_equal(*insn, LC_OP_LDC_W);
	index = lc_be_get2(insn + 1);
	assert_int_equal(r.cls.bytes[r.cls.pool[index]], LC_POOL_INTEGER);
	assert_int_equal(lc_be_get4(r.cls.bytes + r.cls.pool[index] + 1), (1 << 20) + 1);
	rewritten_free(&r);
}

static void large_objects_have_no_second_hook_in_their_constructor(void **state)
{
	struct code_spec spec = CODE(42, INIT_B, NEW_B, POP, RETURN);
	struct class_file c;
	struct rewritten r;

	options.min_size_bytes = 8;
	begin(&c);
	class_field(&c, 0, "J");
	class_method(&c, "<init>", "()V", &spec);
	class_rewrite(&c, options, &r);
	ASSERT_CODE(&r, MADE_ONLY, 42, INIT_B, NEW_B, MADE(4, 1), POP, RETURN);
	rewritten_free(&r);
}

/* How many hooks a call of that method gets. */
static uint32_t sites_of_call(uint8_t op, const char *holder, const char *name, const char *type)
{
	struct code_spec spec = { 0 };
	uint8_t code[] = { 42, op, 0, 6, POP, RETURN };
	struct class_file c;
	struct rewritten r;
	uint32_t sites;

	class_begin(&c, "Main");
	assert_int_equal(class_method_ref(&c, holder, name, type), 6);
	spec.code = code;
	spec.len = sizeof(code);
	rewrite(&c, &spec, &r);
	sites = r.result.sites;
	if (sites) {
		struct lc_method_code got = rewritten_code(&r, 0);

		assert_int_equal(got.insns[4], DUP);
		assert_string_equal(rewritten_hook(&r, got.insns + 8),
		                    "allocObject(Ljava/lang/Object;I)V");
	}
	rewritten_free(&r);
	return sites;
}

static void calls_that_make_an_object_without_new_are_hooked(void **state)
{
	static const char clone[] = "()Ljava/lang/Object;";
	static const char reflect[] =
	    "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;";

	for (uint32_t objects = 0; objects <= 1; objects++) {
		options.objects = objects;
		assert_int_equal(
		    sites_of_call(LC_OP_INVOKESPECIAL, "java/lang/Object", "clone", clone),
		    objects);
		assert_int_equal(sites_of_call(LC_OP_INVOKEVIRTUAL, "jdk/internal/misc/Unsafe",
		                               "allocateInstance",
		                               "(Ljava/lang/Class;)Ljava/lang/Object;"),
		                 objects);
		assert_int_equal(sites_of_call(LC_OP_INVOKESTATIC,
		                               "jdk/internal/reflect/NativeConstructorAccessorImpl",
		                               "newInstance0", reflect),
		                 objects);
		assert_int_equal(
		    sites_of_call(
		        LC_OP_INVOKESTATIC,
		        "jdk/internal/reflect/DirectConstructorHandleAccessor$NativeAccessor",
		        "newInstance0", reflect),
		    objects);
		/* The clone() of a superclass has the hook; a virtual one may be anybody's. */
		assert_int_equal(sites_of_call(LC_OP_INVOKESPECIAL, "A", "clone", clone), 0);
		assert_int_equal(
		    sites_of_call(LC_OP_INVOKEVIRTUAL, "java/lang/Object", "clone", clone), 0);
		assert_int_equal(sites_of_call(LC_OP_INVOKESTATIC, "A", "newInstance0", reflect),
		                 0);
	}
}

enum { LLOAD_1 = 31, LLOAD_3 = 33, DUP2 = LC_OP_DUP2, POP2 = 88 };

static const char allocated[] = "memoryAllocated(JJ)V", freed[] = "memoryFreed(J)V";
static const char moving[] = "memoryMoving(J)V", moved[] = "memoryMoved(JJ)V";

/* Rewrite code that calls methods of Unsafe: number 6 of the pool, with that name and type. */
static void rewrite_unsafe(const char *holder, const char *name, const char *type,
                           struct code_spec *spec, struct rewritten *out)
{
	struct class_file c;

	options.objects = false;
	class_begin(&c, "jdk/internal/misc/Unsafe");
	assert_int_equal(class_method_ref(&c, holder, name, type), 6);
	class_method(&c, "m", "(JJJ)V", spec);
	class_rewrite(&c, options, out);
}

#define UNSAFE "jdk/internal/misc/Unsafe"
#define CALL LC_OP_INVOKEVIRTUAL, 0, 6

static void memory_is_reported_when_it_is_allocated_and_before_it_is_freed(void **state)
{
	struct code_spec allocates = CODE(42, LLOAD_1, CALL, POP2, RETURN);
	struct code_spec moves = CODE(42, LLOAD_1, LLOAD_3, CALL, POP2, RETURN);
	struct code_spec rounds = CODE(42, LLOAD_1, CALL, POP2, RETURN);
	struct code_spec frees = CODE(42, LLOAD_1, CALL, RETURN);
	struct rewritten r;

	rewrite_unsafe(UNSAFE, "allocateMemory0", "(J)J", &allocates, &r);
	ASSERT_CODE(&r, ((const char *const[]){ allocated }), 42, LLOAD_1, CALL, DUP2, LC_OP_LLOAD,
	            1, LC_OP_INVOKESTATIC, 0, 0, POP2, RETURN);
	rewritten_free(&r);
	rewrite_unsafe(UNSAFE, "reallocateMemory0", "(JJ)J", &moves, &r);
	ASSERT_CODE(&r, ((const char *const[]){ moving, moved }), 42, LLOAD_1, LC_OP_LLOAD, 1,
	            LC_OP_INVOKESTATIC, 0, 0, LLOAD_3, CALL, DUP2, LC_OP_LLOAD, 3,
	            LC_OP_INVOKESTATIC, 0, 0, POP2, RETURN);
	rewritten_free(&r);
	rewrite_unsafe(UNSAFE, "alignToHeapWordSize", "(J)J", &rounds, &r);
	ASSERT_CODE(&r, ((const char *const[]){ "memoryAsked(J)V" }), 42, LLOAD_1, DUP2,
	            LC_OP_INVOKESTATIC, 0, 0, CALL, POP2, RETURN);
	rewritten_free(&r);
	rewrite_unsafe(UNSAFE, "freeMemory0", "(J)V", &frees, &r);
	ASSERT_CODE(&r, ((const char *const[]){ freed }), 42, LLOAD_1, DUP2, LC_OP_INVOKESTATIC, 0,
	            0, CALL, RETURN);
	rewritten_free(&r);
}

static void memory_is_not_reported_if_it_is_not_wanted(void **state)
{
	struct code_spec allocates = CODE(42, LLOAD_1, CALL, POP2, RETURN);
	struct code_spec frees = CODE(42, LLOAD_1, CALL, RETURN);
	struct rewritten r;

	options.no_memory = true;
	rewrite_unsafe(UNSAFE, "allocateMemory0", "(J)J", &allocates, &r);
	assert_int_equal(r.result.sites, 0);
	rewritten_free(&r);
	rewrite_unsafe(UNSAFE, "freeMemory0", "(J)V", &frees, &r);
	assert_int_equal(r.result.sites, 0);
	rewritten_free(&r);
	options.no_memory = false;
}

static void files_are_reported_when_they_are_mapped_and_before_they_are_unmapped(void **state)
{
	struct code_spec maps = CODE(42, ICONST_0, LLOAD_1, LLOAD_3, ILOAD_0, CALL, POP2, RETURN);
	struct code_spec unmaps = CODE(LLOAD_1, LLOAD_3, LC_OP_INVOKESTATIC, 0, 6, POP, RETURN);
	struct code_spec of_11 = CODE(42, ICONST_0, LLOAD_1, LLOAD_3, CALL, POP2, RETURN);
	static const char mapped[] = "memoryMapped(JJ)V";
	struct rewritten r;

	rewrite_unsafe("sun/nio/ch/FileChannelImpl", "map0", "(IJJ)J", &of_11, &r);
	ASSERT_CODE(&r, ((const char *const[]){ mapped }), 42, ICONST_0, LLOAD_1, LLOAD_3, CALL,
	            DUP2, LC_OP_LLOAD, 3, LC_OP_INVOKESTATIC, 0, 0, POP2, RETURN);
	rewritten_free(&r);

	rewrite_unsafe("sun/nio/ch/FileChannelImpl", "map0", "(IJJZ)J", &maps, &r);
	ASSERT_CODE(&r, ((const char *const[]){ mapped }), 42, ICONST_0, LLOAD_1, LLOAD_3, ILOAD_0,
	            CALL, DUP2, LC_OP_LLOAD, 3, LC_OP_INVOKESTATIC, 0, 0, POP2, RETURN);
	rewritten_free(&r);
	rewrite_unsafe("sun/nio/ch/UnixFileDispatcherImpl", "unmap0", "(JJ)I", &unmaps, &r);
	ASSERT_CODE(&r, ((const char *const[]){ freed }), LLOAD_1, LLOAD_3, LC_OP_DUP2_X2, POP2,
	            LC_OP_DUP2_X2, LC_OP_INVOKESTATIC, 0, 0, LC_OP_INVOKESTATIC, 0, 6, POP, RETURN);
	rewritten_free(&r);
}

static void memory_whose_size_is_not_plain_is_not_reported(void **state)
{
	struct code_spec computed = CODE(42, LLOAD_1, 117 /* lneg */, CALL, POP2, RETURN);
	/* A jump leads behind the load of the size. */
	struct code_spec entered = CODE(42, LLOAD_1, CALL, POP2, GOTO, 0xff, 0xfc);
	struct code_spec alien = CODE(42, LLOAD_1, CALL, POP2, RETURN);
	struct rewritten r;

	rewrite_unsafe(UNSAFE, "allocateMemory0", "(J)J", &computed, &r);
	assert_int_equal(r.result.sites, 0);
	rewritten_free(&r);
	rewrite_unsafe(UNSAFE, "allocateMemory0", "(J)J", &entered, &r);
	assert_int_equal(r.result.sites, 0);
	rewritten_free(&r);
	rewrite_unsafe("A", "allocateMemory0", "(J)J", &alien, &r);
	assert_int_equal(r.result.sites, 0);
	rewritten_free(&r);
}

/* A long takes two numbers: what is appended begins behind the second, which must be there. */
static void a_long_in_the_last_place_of_the_pool_is_malformed(void **state)
{
	uint8_t bytes[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 5, 1, 0, 1, 'A',
		            7,    0,    1,    5,    0, 0, 0, 0,  0, 0, 0, 7, 0, 1,
		            0,    2,    0,    0,    0, 0, 0, 0,  0, 0, 0, 0 };
	struct lc_rewrite_result result;

	for (uint8_t tag = LC_POOL_LONG; tag <= LC_POOL_DOUBLE; tag++) {
		bytes[17] = tag;
		for (uint8_t count = 4; count <= 5; count++) {
			bytes[9] = count;
			assert_int_equal(lc_rewrite_class(bytes, sizeof(bytes), &options, &result),
			                 count == 5 ? LC_REWRITE_NOTHING : LC_REWRITE_MALFORMED);
		}
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, reset)
	const struct CMUnitTest tests[] = {
		TEST(hook_follows_new_whatever_comes_then),
		TEST(new_at_the_very_end_is_no_reason_to_read_on),
		TEST(without_objects_new_has_no_hook),
		TEST(news_among_the_arguments_have_theirs_in_order),
		TEST(the_audit_sees_what_is_constructed_innermost_first),
		TEST(the_audit_leaves_out_what_is_not_on_the_stack),
		TEST(deep_nesting_keeps_every_hook_behind_new),
		TEST(class_constants_need_java_5),
		TEST(stack_maps_still_name_the_new),
		TEST(a_frame_that_names_no_instruction_is_malformed),
		TEST(jumps_to_new_run_the_hook_and_those_behind_it_do_not),
		TEST(the_hook_is_in_the_try_range_of_its_new),
		TEST(a_jump_that_hooks_made_too_long_takes_its_wide_form),
		TEST(a_method_that_would_not_fit_is_left_alone),
		TEST(classes_far_back_in_a_huge_pool_are_named),
		TEST(without_room_in_the_pool_the_class_is_left_alone),
		TEST(large_site_numbers_are_constants),
		TEST(large_objects_have_no_second_hook_in_their_constructor),
		TEST(calls_that_make_an_object_without_new_are_hooked),
		TEST(a_long_in_the_last_place_of_the_pool_is_malformed),
		TEST(memory_is_reported_when_it_is_allocated_and_before_it_is_freed),
		TEST(memory_is_not_reported_if_it_is_not_wanted),
		TEST(files_are_reported_when_they_are_mapped_and_before_they_are_unmapped),
		TEST(memory_whose_size_is_not_plain_is_not_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
