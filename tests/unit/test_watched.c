/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_watched.c - checks the hooks of classes whose objects are watched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/watched.h"
#include "tests/unit/class_file.h"

#define CODE(...)                                                                                  \
	{                                                                                          \
		.code = (const uint8_t[]){ __VA_ARGS__ },                                          \
		.len = sizeof((const uint8_t[]){ __VA_ARGS__ })                                    \
	}
#define INIT 42, 183, 0, 6 /* aload_0; invokespecial #6: the constructor of Object, or of A */

enum { POP = 87, RETURN = 177, ICONST_2 = 5, DUP = 89, ALOAD_0 = 42 };

static const char *watched[4];
static struct lc_rewrite_options options;

static uint32_t next_site(void *user)
{
	return 1;
}

static void watch(const char *name)
{
	watched[options.watched_len++] = name;
}

static int reset(void **state)
{
	options = (struct lc_rewrite_options){
		.min_size_bytes = 1024,
		.array_header_bytes = 16,
		.reference_bytes = 4,
		.watched = watched,
		.next_site = next_site,
	};
	return 0;
}

static struct lc_class_text text(const char *s)
{
	return (struct lc_class_text){ s, strlen(s) };
}

static void names_match_whole_or_as_components(void **state)
{
	assert_false(lc_watched_class(&options, text("A")));
	watch("com/acme/Node");
	watch("[[F");
	watch("[Lcom/acme/Edge;");
	assert_true(lc_watched_class(&options, text("com/acme/Node")));
	assert_false(lc_watched_class(&options, text("com/acme/Nod")));
	assert_false(lc_watched_class(&options, text("com/acme/Node2")));
	assert_true(lc_watched_array_of(&options, text("[F")));
	assert_false(lc_watched_array_of(&options, text("[[F")));
	assert_false(lc_watched_array_of(&options, text("F")));
	assert_true(lc_watched_array_of(&options, text("com/acme/Edge")));
	assert_false(lc_watched_array_of(&options, text("com/acme/Node")));
	assert_false(lc_watched_array_of(&options, text("com/acme/Edg")));
	assert_false(lc_watched_array_of(&options, text("")));
	assert_true(lc_watched_within(&options, text("[[F"), 2));
	assert_true(lc_watched_within(&options, text("[[[F"), 2));
	assert_false(lc_watched_within(&options, text("[[[F"), 1));
	assert_false(lc_watched_within(&options, text("[F"), 1));
	assert_true(lc_watched_references(&options));
	assert_int_equal(lc_watched_primitives(&options), 0);
}

static void primitive_types_are_told_from_references(void **state)
{
	watch("[Z");
	watch("[J");
	watch("F");
	assert_int_equal(lc_watched_primitives(&options), 1 << 0 | 1 << 7);
	assert_false(lc_watched_references(&options));
}

/* Rewrite "A" with one constructor; with three longs if it is to be large. */
static void rewrite_constructor(struct code_spec spec, bool large, struct rewritten *r)
{
	struct class_file c;

	options.min_size_bytes = 24;
	class_begin(&c, "A");
	class_method_ref(&c, "java/lang/Object", "<init>", "()V");
	for (int i = 0; large && i < 3; i++)
		class_field(&c, 0, "J");
	class_method(&c, "<init>", "()V", &spec);
	class_rewrite(&c, options, r);
}

static void constructor_of_a_small_watched_class_shows_this(void **state)
{
	struct rewritten r;
	struct lc_method_code code;

	rewrite_constructor((struct code_spec)CODE(INIT, RETURN), false, &r);
	assert_int_equal(r.status, LC_REWRITE_NOTHING);
	watch("A");
	rewrite_constructor((struct code_spec)CODE(INIT, RETURN), false, &r);
	assert_int_equal(r.result.sites, 1);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.len, 9);
	assert_int_equal(code.insns[4], ALOAD_0);
	assert_string_equal(rewritten_hook(&r, code.insns + 5), "watched(Ljava/lang/Object;)V");
	assert_int_equal(code.insns[8], RETURN);
	rewritten_free(&r);
}

static void large_watched_class_has_both_hooks(void **state)
{
	struct rewritten r;
	struct lc_method_code code;

	watch("A");
	rewrite_constructor((struct code_spec)CODE(INIT, RETURN), true, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.len, 16);
	assert_int_equal(code.insns[4], ALOAD_0);
	assert_string_equal(rewritten_hook(&r, code.insns + 5), "watched(Ljava/lang/Object;)V");
	assert_int_equal(code.insns[8], ALOAD_0);
	assert_string_equal(rewritten_hook(&r, code.insns + 12),
	                    "allocObject(Ljava/lang/Object;I)V");
	assert_int_equal(code.insns[15], RETURN);
	rewritten_free(&r);
}

static void constructor_that_overwrites_this_is_left_alone(void **state)
{
	struct rewritten r;

	watch("A");
	rewrite_constructor((struct code_spec)CODE(INIT, 1, 75, RETURN), false, &r);
	assert_int_equal(r.status, LC_REWRITE_NOTHING);
}

static void clone_shows_its_result(void **state)
{
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	watch("A");
	for (int objects = 0; objects < 2; objects++) {
		struct code_spec spec = CODE(42, 183, 0, 6, POP, RETURN);

		options.objects = objects;
		class_begin(&c, "A");
		class_method_ref(&c, "java/lang/Object", "clone", "()Ljava/lang/Object;");
		class_method(&c, "m", "()V", &spec);
		class_rewrite(&c, options, &r);
		code = rewritten_code(&r, 0);
		assert_int_equal(code.insns[4], DUP);
		assert_string_equal(rewritten_hook(&r, code.insns + 5),
		                    "watched(Ljava/lang/Object;)V");
		assert_int_equal(code.len, objects ? 17 : 10);
		if (objects)
			assert_string_equal(rewritten_hook(&r, code.insns + 12),
			                    "allocObject(Ljava/lang/Object;I)V");
		rewritten_free(&r);
	}
}

/* The hook of an array that the instruction at 1 makes, of a length that is small; NULL: none. */
static const char *array_hook(struct code_spec spec, const char *class, struct rewritten *r)
{
	struct class_file c;
	struct lc_method_code code;

	class_begin(&c, "A");
	assert_int_equal(class_class(&c, class), 2);
	class_method(&c, "m", "()V", &spec);
	class_rewrite(&c, options, r);
	if (r->status != LC_REWRITE_DONE)
		return NULL;
	code = rewritten_code(r, 0);
	for (uint32_t at = 0; at < code.len; at += lc_method_insn_bytes(&code, at))
		if (code.insns[at] == LC_OP_INVOKESTATIC)
			return rewritten_hook(r, code.insns + at);
	return NULL;
}

static void short_arrays_of_a_watched_type_are_hooked(void **state)
{
	const struct code_spec floats = CODE(ICONST_2, 188, 6, POP, RETURN);
	const struct code_spec ints = CODE(ICONST_2, 188, 10, POP, RETURN);
	const struct code_spec references = CODE(ICONST_2, 189, 0, 2, POP, RETURN);
	const struct code_spec multi = CODE(ICONST_2, ICONST_2, 197, 0, 2, 2, POP, RETURN);
	struct rewritten r;

	assert_null(array_hook(floats, "B", &r));
	watch("[F");
	watch("[LB;");
	assert_string_equal(array_hook(floats, "B", &r), "array([FI)V");
	rewritten_free(&r);
	assert_null(array_hook(ints, "B", &r));
	assert_string_equal(array_hook(references, "B", &r), "watchedArray([Ljava/lang/Object;I)V");
	rewritten_free(&r);
	assert_null(array_hook(references, "C", &r));
	assert_string_equal(array_hook(multi, "[[F", &r), "multi(Ljava/lang/Object;I)V");
	rewritten_free(&r);
	assert_string_equal(array_hook(multi, "[[LB;", &r), "multi(Ljava/lang/Object;I)V");
	rewritten_free(&r);
	assert_null(array_hook(multi, "[[I", &r));
}

static void arrays_of_unknown_class_may_be_watched_ones(void **state)
{
	const struct code_spec clone = CODE(1, 182, 0, 6, POP, RETURN);
	const struct code_spec copy = CODE(1, 4, 1, 184, 0, 12, POP, RETURN);

	for (int i = 0; i < 2; i++) {
		const char *hook =
		    i ? "watchedArray([Ljava/lang/Object;I)V" : "array([Ljava/lang/Object;I)V";
		struct code_spec specs[] = { clone, copy };

		for (int s = 0; s < 2; s++) {
			struct class_file c;
			struct rewritten r;
			struct lc_method_code code;
			uint32_t at = 0;

			class_begin(&c, "A");
			assert_int_equal(class_method_ref(&c, "[Ljava/lang/Object;", "clone",
			                                  "()Ljava/lang/Object;"),
			                 6);
			assert_int_equal(
			    class_method_ref(
			        &c, "java/util/Arrays", "copyOf",
			        "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;"),
			    12);
			class_method(&c, "m", "()V", &specs[s]);
			class_rewrite(&c, options, &r);
			code = rewritten_code(&r, 0);
			while (code.insns[at] != POP)
				at += lc_method_insn_bytes(&code, at);
			assert_string_equal(rewritten_hook(&r, code.insns + at - 3), hook);
			rewritten_free(&r);
		}
		watch("[LB;");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(names_match_whole_or_as_components, reset),
		cmocka_unit_test_setup(primitive_types_are_told_from_references, reset),
		cmocka_unit_test_setup(constructor_of_a_small_watched_class_shows_this, reset),
		cmocka_unit_test_setup(large_watched_class_has_both_hooks, reset),
		cmocka_unit_test_setup(constructor_that_overwrites_this_is_left_alone, reset),
		cmocka_unit_test_setup(clone_shows_its_result, reset),
		cmocka_unit_test_setup(short_arrays_of_a_watched_type_are_hooked, reset),
		cmocka_unit_test_setup(arrays_of_unknown_class_may_be_watched_ones, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
