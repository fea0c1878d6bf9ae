/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_constructor.c - checks the hooks of large ordinary objects, at the end of their
 * constructors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/descriptor.h"
#include "tests/unit/class_file.h"

#define CODE(...)                                                                                  \
	{                                                                                          \
		.code = (const uint8_t[]){ __VA_ARGS__ },                                          \
		.len = sizeof((const uint8_t[]){ __VA_ARGS__ })                                    \
	}
#define INIT 42, 183, 0, 6 /* aload_0; invokespecial #6: the constructor of Object, or of A */

enum { ACC_STATIC = 8, NOP = 0, RETURN = 177, HOOK_LEN = 7 };

static struct lc_rewrite_options options;

static uint32_t next_site(void *user)
{
	return 1;
}

static int reset(void **state)
{
	options = (struct lc_rewrite_options){
		.min_size_bytes = 24,
		.array_header_bytes = 16,
		.reference_bytes = 4,
		.next_site = next_site,
	};
	return 0;
}

/* A class "A" with three longs, if it is to be large. */
static void begin(struct class_file *c, bool large)
{
	class_begin(c, "A");
	class_method_ref(c, "java/lang/Object", "<init>", "()V");
	for (int i = 0; large && i < 3; i++)
		class_field(c, 0, "J");
}

static void rewrite_constructor(struct class_file *c, struct code_spec *spec,
                                const char *descriptor, struct rewritten *out)
{
	class_method(c, "<init>", descriptor, spec);
	class_rewrite(c, options, out);
}

static void hook_stands_before_each_return_and_is_reached_by_jumps(void **state)
{
	/* 4 iload_1; 5 ifeq 9; 8 return; 9 return */
	struct code_spec spec = CODE(INIT, 27, 153, 0, 4, RETURN, RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	begin(&c, true);
	rewrite_constructor(&c, &spec, "(I)V", &r);
	assert_int_equal(r.result.sites, 2);
	code = rewritten_code(&r, 0);
	assert_int_equal(lc_be_get2(code.insns + 6), 4 + HOOK_LEN);
	for (uint32_t at = 8; at <= 9 + HOOK_LEN; at += 1 + HOOK_LEN) {
		assert_int_equal(code.insns[at], LC_OP_ALOAD_0);
		assert_string_equal(rewritten_hook(&r, code.insns + at + 4),
		                    "allocObject(Ljava/lang/Object;I)V");
		assert_int_equal(code.insns[at + HOOK_LEN], RETURN);
	}
	rewritten_free(&r);
}

static void handler_at_the_return_gets_the_hook_too(void **state)
{
	struct code_spec spec = CODE(INIT, NOP, 87, RETURN);
	struct class_file c;
	struct rewritten r;

	spec.handlers = (const uint8_t[]){ 0, 4, 0, 5, 0, 6, 0, 0 };
	spec.handlers_len = 1;
	begin(&c, true);
	rewrite_constructor(&c, &spec, "()V", &r);
	assert_int_equal(lc_be_get2(rewritten_code(&r, 0).handlers + 4), 6);
	assert_int_equal(rewritten_code(&r, 0).insns[6], LC_OP_ALOAD_0);
	rewritten_free(&r);
}

static void small_class_is_hooked_only_on_request(void **state)
{
	struct class_file c;
	struct rewritten r;

	for (int force = 0; force < 2; force++) {
		struct code_spec spec = CODE(INIT, RETURN);

		options.force_object = force;
		begin(&c, false);
		rewrite_constructor(&c, &spec, "()V", &r);
		assert_int_equal(r.status, force ? LC_REWRITE_DONE : LC_REWRITE_NOTHING);
		rewritten_free(&r);
	}
}

static void threshold_zero_does_not_make_every_object_large(void **state)
{
	struct code_spec spec = CODE(INIT, RETURN);
	struct class_file c;
	struct rewritten r;

	options.min_size_bytes = 0;
	begin(&c, false);
	rewrite_constructor(&c, &spec, "()V", &r);
	assert_int_equal(r.status, LC_REWRITE_NOTHING);
}

static void own_instance_fields_are_summed(void **state)
{
	static const char *const types[] = { "Z", "B", "C", "S", "I", "F", "J", "D", "[[J", "LA;" };
	struct class_file c;
	struct rewritten r;

	for (uint32_t reference = 4; reference <= 8; reference += 4) {
		struct code_spec spec = CODE(INIT, RETURN);

		begin(&c, false);
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			class_field(&c, 0, types[i]);
		class_field(&c, ACC_STATIC, "J");
		options.reference_bytes = reference;
		options.min_size_bytes = 30 + 2 * reference;
		rewrite_constructor(&c, &spec, "()V", &r);
		assert_int_equal(r.status, LC_REWRITE_DONE);
		assert_int_equal(r.result.own_field_bytes, 30 + 2 * reference);
		rewritten_free(&r);
	}
	assert_int_equal(lc_descriptor_bytes("V", 4), 0);
	assert_int_equal(lc_descriptor_bytes("", 4), 0);
}

static void store_to_local_0_leaves_the_constructor_alone(void **state)
{
	struct code_spec stores[] = {
		CODE(INIT, 1, 75, RETURN),            /* astore_0 */
		CODE(INIT, 3, 59, RETURN),            /* istore_0 */
		CODE(INIT, 9, 63, RETURN),            /* lstore_0 */
		CODE(INIT, 11, 67, RETURN),           /* fstore_0 */
		CODE(INIT, 14, 71, RETURN),           /* dstore_0 */
		CODE(INIT, 1, 58, 0, RETURN),         /* astore 0 */
		CODE(INIT, 1, 196, 58, 0, 0, RETURN), /* wide astore 0 */
		CODE(INIT, RETURN, 1, 75, RETURN),    /* behind a return */
	};
	struct code_spec other[] = {
		CODE(INIT, 1, 76, RETURN),
		CODE(INIT, 3, 62, RETURN),
		CODE(INIT, 1, 58, 1, RETURN),
		CODE(INIT, 1, 196, 58, 1, 0, RETURN),
	};
	struct class_file c;
	struct rewritten r;

	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		begin(&c, true);
		rewrite_constructor(&c, &stores[i], "()V", &r);
		assert_int_equal(r.status, LC_REWRITE_NOTHING);
	}
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		begin(&c, true);
		rewrite_constructor(&c, &other[i], "()V", &r);
		assert_int_equal(r.status, LC_REWRITE_DONE);
		rewritten_free(&r);
	}
}

/* Status for a constructor of that type with these frames; its code is `init; nop*20; return`. */
static enum lc_rewrite_status with_frames(const char *descriptor, const uint8_t *frames, size_t len)
{
	uint8_t code[25] = { INIT };
	struct code_spec spec = { .code = code, .len = sizeof(code) };
	enum lc_rewrite_status status;
	struct class_file c;
	struct rewritten r;

	code[24] = RETURN;
	begin(&c, true);
	class_attribute(&c, &spec, "StackMapTable", frames, len);
	rewrite_constructor(&c, &spec, descriptor, &r);
	status = r.status;
	rewritten_free(&r);
	return status;
}

#define FRAMES(descriptor, ...)                                                                    \
	with_frames(descriptor, (const uint8_t[]){ 0, __VA_ARGS__ },                               \
	            sizeof((const uint8_t[]){ 0, __VA_ARGS__ }))

static void frame_that_declares_this_dead_leaves_the_constructor_alone(void **state)
{
	assert_int_equal(FRAMES("()V", 1, 10), LC_REWRITE_DONE);
	assert_int_equal(FRAMES("()V", 1, 255, 0, 10, 0, 0, 0, 0), LC_REWRITE_NOTHING);
	assert_int_equal(FRAMES("()V", 1, 255, 0, 10, 0, 1, 0, 0, 0), LC_REWRITE_NOTHING);
	assert_int_equal(FRAMES("()V", 1, 255, 0, 10, 0, 1, 7, 0, 2, 0, 0), LC_REWRITE_DONE);
	assert_int_equal(FRAMES("()V", 1, 255, 0, 10, 0, 1, 6, 0, 0), LC_REWRITE_DONE);
	/* A chop takes away locals from the end: the arguments first. */
	assert_int_equal(FRAMES("()V", 1, 250, 0, 10), LC_REWRITE_NOTHING);
	assert_int_equal(FRAMES("(J[[JLA;)V", 1, 248, 0, 10), LC_REWRITE_DONE);
	assert_int_equal(FRAMES("(J[[J)V", 1, 248, 0, 10), LC_REWRITE_NOTHING);
	assert_int_equal(FRAMES("()V", 2, 252, 0, 10, 1, 250, 0, 3), LC_REWRITE_DONE);
	assert_int_equal(FRAMES("()V", 2, 252, 0, 10, 1, 249, 0, 3), LC_REWRITE_NOTHING);
	assert_int_equal(FRAMES("()V", 2, 64 + 10, 1, 3), LC_REWRITE_DONE);
}

static void constructor_that_calls_another_of_its_class_has_no_hook(void **state)
{
	/* new A; dup; invokespecial A.<init>: is not this(...) */
	struct code_spec delegates = CODE(INIT, RETURN);
	struct code_spec makes = CODE(187, 0, 2, 89, 183, 0, 6, 87, INIT, RETURN);
	struct class_file c;
	struct rewritten r;

	class_begin(&c, "A");
	class_method_ref(&c, "A", "<init>", "()V");
	for (int i = 0; i < 3; i++)
		class_field(&c, 0, "J");
	rewrite_constructor(&c, &delegates, "()V", &r);
	assert_int_equal(r.status, LC_REWRITE_NOTHING);

	begin(&c, true);
	rewrite_constructor(&c, &makes, "()V", &r);
	assert_int_equal(r.result.sites, 1);
	rewritten_free(&r);
}

static void clone_that_makes_a_large_object_is_hooked(void **state)
{
	struct class_file c;
	struct rewritten r;

	for (int large = 0; large < 2; large++) {
		struct code_spec spec = CODE(42, 183, 0, 6, 87, RETURN);

		class_begin(&c, "A");
		class_method_ref(&c, "java/lang/Object", "clone", "()Ljava/lang/Object;");
		for (int i = 0; large && i < 3; i++)
			class_field(&c, 0, "J");
		class_method(&c, "clone", "()Ljava/lang/Object;", &spec);
		class_rewrite(&c, options, &r);
		assert_int_equal(r.status, large ? LC_REWRITE_DONE : LC_REWRITE_NOTHING);
		if (large)
			assert_string_equal(rewritten_hook(&r, rewritten_code(&r, 0).insns + 8),
			                    "allocObject(Ljava/lang/Object;I)V");
		rewritten_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(hook_stands_before_each_return_and_is_reached_by_jumps,
		                       reset),
		cmocka_unit_test_setup(handler_at_the_return_gets_the_hook_too, reset),
		cmocka_unit_test_setup(small_class_is_hooked_only_on_request, reset),
		cmocka_unit_test_setup(threshold_zero_does_not_make_every_object_large, reset),
		cmocka_unit_test_setup(own_instance_fields_are_summed, reset),
		cmocka_unit_test_setup(store_to_local_0_leaves_the_constructor_alone, reset),
		cmocka_unit_test_setup(frame_that_declares_this_dead_leaves_the_constructor_alone,
		                       reset),
		cmocka_unit_test_setup(constructor_that_calls_another_of_its_class_has_no_hook,
		                       reset),
		cmocka_unit_test_setup(clone_that_makes_a_large_object_is_hooked, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
