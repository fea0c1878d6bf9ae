/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_track.c - checks which classes --track names, and that only places that make them have
 * hooks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/track.h"
#include "src/classfile/alloc_plan.h"
#include "src/classfile/big_endian.h"
#include "tests/unit/class_file.h"

#define CODE(...)                                                                                  \
	{                                                                                          \
		.code = (const uint8_t[]){ __VA_ARGS__ },                                          \
		.len = sizeof((const uint8_t[]){ __VA_ARGS__ })                                    \
	}

enum { POP = 87, RETURN = 177, ICONST_2 = 5, ALOAD_0 = 42, NEW = 187, INVOKESPECIAL = 183 };

static struct lc_track track;
static struct lc_rewrite_options options;

static uint32_t next_site(void *user)
{
	return 7;
}

static void of(const char *patterns)
{
	assert_int_equal(lc_track_parse(patterns, &track), 0);
	options.tracked = track.len ? &track : NULL;
}

static int reset(void **state)
{
	options = (struct lc_rewrite_options){
		.min_size_bytes = 1024,
		.array_header_bytes = 16,
		.reference_bytes = 4,
		.exact = true,
		.next_site = next_site,
	};
	of("");
	return 0;
}

static bool constant(const char *name)
{
	return lc_track_matches(&track, lc_track_constant(name, strlen(name)));
}

static bool signature(const char *name)
{
	return lc_track_matches(&track, lc_track_signature(name));
}

static bool written(const char *name)
{
	return lc_track_matches(&track, lc_track_written(name));
}

static void a_name_matches_one_class_in_each_of_its_forms(void **state)
{
	of("java.lang.Long;com.acme.Page$*;long[];java.lang.String[][]");
	assert_true(constant("java/lang/Long") && signature("Ljava/lang/Long;"));
	assert_true(written("java.lang.Long"));
	assert_false(constant("java/lang/Lon") || constant("java/lang/Longs"));
	assert_false(constant("[Ljava/lang/Long;") || signature("[Ljava/lang/Long;"));
	assert_false(written("java.lang.Long[]"));
	assert_true(constant("com/acme/Page$Leaf") && written("com.acme.Page$"));
	assert_false(constant("com/acme/Page") || constant("[Lcom/acme/Page$Leaf;"));
	assert_true(constant("[J") && signature("[J") && written("long[]"));
	assert_false(constant("[[J") || constant("J") || written("long") || signature("J"));
	assert_true(constant("[[Ljava/lang/String;") && written("java.lang.String[][]"));
	assert_false(constant("[Ljava/lang/String;") || constant("java/lang/String"));
	assert_false(constant("") || signature("") || written(""));
}

static void a_hidden_class_has_the_name_that_reports_write(void **state)
{
	of("A$$Lambda$1");
	assert_true(signature("LA$$Lambda$1;") && signature("LA$$Lambda$1/0x0000000800c03000;"));
	assert_true(signature("LA$$Lambda$1.0x00007f01c4000a00;"));
	assert_false(signature("LA$$Lambda$1.0x00007f01c4000a0;"));
	assert_false(signature("LA$$Lambda$1.0x00007f01c4000a0g;"));
	assert_false(signature("LA$$Lambda$11.0x00007f01c4000a00;"));
	assert_false(signature("[LA$$Lambda$1.0x00007f01c4000a00;"));
	assert_false(signature("L/0x00007f01c4000a00;"));
}

static void a_star_matches_classes_and_not_their_arrays(void **state)
{
	of("*");
	assert_true(constant("A") && constant("a/b/C$1"));
	assert_false(constant("[LA;") || constant("[I"));
	of("*[]");
	assert_true(constant("[LA;") && constant("[I"));
	assert_false(constant("A") || constant("[[I"));
	of("a.*.C?");
	assert_true(constant("a/b/c/CC") && written("a.b.Cx"));
	assert_false(constant("a/b/C"));
}

static void the_kinds_of_patterns_are_told_apart(void **state)
{
	of("A");
	assert_true(lc_track_objects(&track));
	assert_false(lc_track_references(&track) || lc_track_primitives(&track));
	of("boolean[];long[]");
	assert_false(lc_track_objects(&track) || lc_track_references(&track));
	assert_int_equal(lc_track_primitives(&track), 1 << 0 | 1 << 7);
	of("long[][]");
	assert_true(lc_track_references(&track));
	assert_int_equal(lc_track_primitives(&track), 0);
	of("*[]");
	assert_true(lc_track_references(&track));
	assert_int_equal(lc_track_primitives(&track), 255);
	assert_int_equal(lc_track_find(NULL, lc_track_written("A")), -1);
}

static void patterns_beyond_the_limit_are_counted_and_left_out(void **state)
{
	char list[3 * (LC_TRACK_MAX + 5) + 1] = "";

	for (int i = 0; i < LC_TRACK_MAX + 5; i++)
		strcat(list, i < LC_TRACK_MAX ? ";A" : ";B");
	assert_int_equal(lc_track_parse(list, &track), 5);
	assert_int_equal(track.len, LC_TRACK_MAX);
	assert_true(written("A"));
	assert_false(written("B"));
}

/* Rewrite class "A" with one static method. */
static void rewrite(struct class_file *c, struct code_spec spec, struct rewritten *r)
{
	class_method(c, "m", "()V", &spec);
	class_rewrite(c, options, r);
}

/* The number that the hook at `at`, its invokestatic, passes. */
static uint32_t site_before(const struct rewritten *r, const struct lc_method_code *code,
                            uint32_t at)
{
	const uint8_t *push = code->insns + at - 3;
	const uint16_t operand = lc_be_get2(push + 1);

	if (*push == LC_OP_SIPUSH)
		return operand;
	return lc_be_get4(r->cls.bytes + r->cls.pool[operand] + 1);
}

/* The hooks of the only method, in their order; returns how many. */
static unsigned hooks(const struct rewritten *r, const char *names[], uint32_t sites[],
                      unsigned cap)
{
	struct lc_method_code code;
	unsigned len = 0;

	if (r->status != LC_REWRITE_DONE)
		return 0;
	code = rewritten_code(r, 0);
	for (uint32_t at = 0; at < code.len; at += lc_method_insn_bytes(&code, at)) {
		if (code.insns[at] != LC_OP_INVOKESTATIC || len == cap)
			continue;
		names[len] = rewritten_hook(r, code.insns + at);
		sites[len++] = site_before(r, &code, at);
	}
	return len;
}

/* The number that the only hook passes, which calls `name`; 0: there is no hook. */
static uint32_t only_hook(struct class_file *c, struct code_spec spec, const char *name)
{
	const char *names[4];
	uint32_t sites[4] = { 0 };
	struct rewritten r;
	unsigned len;

	rewrite(c, spec, &r);
	len = hooks(&r, names, sites, 4);
	assert_true(len < 2);
	if (len)
		assert_string_equal(names[0], name);
	if (r.status == LC_REWRITE_DONE)
		rewritten_free(&r);
	return sites[0];
}

static void only_new_of_a_tracked_class_is_hooked(void **state)
{
	const char *names[4];
	uint32_t sites[4];
	struct class_file c;
	struct rewritten r;

	of("com.acme.Node");
	class_begin(&c, "A");
	assert_int_equal(class_class(&c, "com/acme/Other"), 2);
	assert_int_equal(class_class(&c, "com/acme/Node"), 4);
	rewrite(&c,
	        (struct code_spec)CODE(NEW, 0, 2, POP, NEW, 0, 4, POP, NEW, 0, 2, POP, ICONST_2,
	                               LC_OP_NEWARRAY, 11, POP, ICONST_2, LC_OP_ANEWARRAY, 0, 4,
	                               POP, RETURN),
	        &r);
	assert_int_equal(hooks(&r, names, sites, 4), 1);
	assert_string_equal(names[0], "made(Ljava/lang/Class;I)V");
	assert_int_equal(sites[0], 7 | LC_SITE_TRACKED);
	rewritten_free(&r);
}

static uint32_t array(const char *class, struct code_spec spec, const char *name)
{
	struct class_file c;

	class_begin(&c, "A");
	assert_int_equal(class_class(&c, class), 2);
	return only_hook(&c, spec, name);
}

static void short_arrays_are_hooked_if_their_class_is_tracked(void **state)
{
	const struct code_spec longs = CODE(ICONST_2, LC_OP_NEWARRAY, 11, POP, RETURN);
	const struct code_spec ints = CODE(ICONST_2, LC_OP_NEWARRAY, 10, POP, RETURN);
	const struct code_spec references = CODE(ICONST_2, LC_OP_ANEWARRAY, 0, 2, POP, RETURN);
	const struct code_spec multi =
	    CODE(ICONST_2, ICONST_2, LC_OP_MULTIANEWARRAY, 0, 2, 2, POP, RETURN);
	const char *watched = "watchedArray([Ljava/lang/Object;I)V";
	const char *any = "multi(Ljava/lang/Object;I)V";

	of("long[];B[]");
	assert_int_equal(array("B", longs, "array([JI)V"), 7 | LC_SITE_TRACKED);
	assert_int_equal(array("B", ints, ""), 0);
	assert_int_equal(array("B", references, watched), 7 | LC_SITE_TRACKED);
	assert_int_equal(array("C", references, ""), 0);
	assert_int_equal(array("[LB;", references, ""), 0);
	assert_int_equal(array("[[J", multi, any), 7 | LC_SITE_TRACKED | LC_SITE_ANY_CLASS);
	assert_int_equal(array("[[LB;", multi, any), 7 | LC_SITE_TRACKED | LC_SITE_ANY_CLASS);
	assert_int_equal(array("[[I", multi, ""), 0);
	of("B[][]");
	assert_int_equal(array("[LB;", references, watched), 7 | LC_SITE_TRACKED);
	assert_int_equal(array("[[LB;", multi, any), 7 | LC_SITE_TRACKED | LC_SITE_ANY_CLASS);
}

/* The number that the hook passes behind a call; 0: there is none. */
static uint32_t call(uint8_t op, const char *holder, const char *method, const char *descriptor,
                     struct code_spec spec, const char *name)
{
	struct class_file c;

	class_begin(&c, "A");
	assert_int_equal(class_method_ref(&c, holder, method, descriptor), 6);
	assert_int_equal(spec.code[spec.len - 5], op);
	return only_hook(&c, spec, name);
}

static void calls_that_may_make_a_tracked_object_ask_for_its_class(void **state)
{
	const struct code_spec super = CODE(ALOAD_0, INVOKESPECIAL, 0, 6, POP, RETURN);
	const struct code_spec unsafe = CODE(ALOAD_0, 1, LC_OP_INVOKEVIRTUAL, 0, 6, POP, RETURN);
	const struct code_spec copy = CODE(1, 182, 0, 6, POP, RETURN);
	const char *allocate[] = { "jdk/internal/misc/Unsafe", "allocateInstance",
		                   "(Ljava/lang/Class;)Ljava/lang/Object;" };
	const char *clone[] = { "java/lang/Object", "clone", "()Ljava/lang/Object;" };
	const char *object = "allocObject(Ljava/lang/Object;I)V";
	const uint32_t asks = 7 | LC_SITE_TRACKED | LC_SITE_ANY_CLASS;

	assert_int_equal(call(INVOKESPECIAL, clone[0], clone[1], clone[2], super, ""), 0);
	assert_int_equal(
	    call(LC_OP_INVOKEVIRTUAL, allocate[0], allocate[1], allocate[2], unsafe, ""), 0);
	of("long[]");
	assert_int_equal(call(INVOKESPECIAL, clone[0], clone[1], clone[2], super, ""), 0);
	assert_int_equal(call(182, "[J", clone[1], clone[2], copy, "array([JI)V"),
	                 7 | LC_SITE_TRACKED);
	assert_int_equal(call(182, "[I", clone[1], clone[2], copy, "array([II)V"), 7);
	of("Node");
	assert_int_equal(call(INVOKESPECIAL, clone[0], clone[1], clone[2], super, object), asks);
	/* The superclass's own clone() has the hook. */
	assert_int_equal(call(INVOKESPECIAL, "B", clone[1], clone[2], super, ""), 0);
	assert_int_equal(
	    call(LC_OP_INVOKEVIRTUAL, allocate[0], allocate[1], allocate[2], unsafe, object), asks);
	assert_int_equal(
	    call(182, "[LB;", clone[1], clone[2], copy, "array([Ljava/lang/Object;I)V"),
	    7 | LC_SITE_ANY_CLASS);
	of("B[]");
	assert_int_equal(
	    call(182, "[LB;", clone[1], clone[2], copy, "watchedArray([Ljava/lang/Object;I)V"),
	    asks);
}

/* A large class counts its objects in its constructor; a tracked one behind `new`. */
static void a_large_class_that_is_tracked_has_no_hook_in_its_constructor(void **state)
{
	for (int tracked = 0; tracked < 2; tracked++) {
		struct code_spec spec = CODE(ALOAD_0, INVOKESPECIAL, 0, 6, RETURN);
		struct class_file c;
		struct rewritten r;

		options.min_size_bytes = 24;
		of(tracked ? "A" : "");
		class_begin(&c, "A");
		class_method_ref(&c, "java/lang/Object", "<init>", "()V");
		for (int i = 0; i < 3; i++)
			class_field(&c, 0, "J");
		class_method(&c, "<init>", "()V", &spec);
		class_rewrite(&c, options, &r);
		assert_int_equal(r.status, tracked ? LC_REWRITE_NOTHING : LC_REWRITE_DONE);
		if (!tracked)
			rewritten_free(&r);
	}
}

static void hot_is_no_pattern(void **state)
{
	of("hot;A");
	assert_int_equal(track.len, 1);
	assert_false(written("hot"));
	assert_true(lc_track_has_hot("hot") && lc_track_has_hot("A;hot") &&
	            lc_track_has_hot("hot;A"));
	assert_false(lc_track_has_hot("") || lc_track_has_hot("hot[];a.hot;hot*;ho?;hotter"));
	of("ho?");
	assert_true(written("hot"));
	of("hot[]");
	assert_true(written("hot[]"));
}

/* Does lc_rewrite_look() find a place in class "A" with this method that makes a tracked object? */
static bool makes_tracked(struct code_spec spec)
{
	struct lc_rewrite_options only = options;
	struct lc_rewrite_result result;
	enum lc_rewrite_status status;
	struct class_file c;
	uint8_t *bytes;
	size_t len;

	only.tracked_only = true;
	class_begin(&c, "A");
	assert_int_equal(class_class(&c, "com/acme/Other"), 2);
	assert_int_equal(class_class(&c, "com/acme/Node"), 4);
	class_method(&c, "m", "()V", &spec);
	bytes = class_end(&c, &len);
	status = lc_rewrite_look(bytes, len, &only, &result);
	assert_true(status == LC_REWRITE_DONE || status == LC_REWRITE_NOTHING);
	assert_null(result.bytes);
	free(bytes);
	class_free(&c);
	return status == LC_REWRITE_DONE;
}

static bool pool_may(const char *class, const char *holder, const char *method,
                     const char *descriptor)
{
	struct class_file file;
	struct lc_class c;
	uint8_t *bytes;
	size_t len;
	bool may;

	class_begin(&file, "A");
	if (class)
		class_class(&file, class);
	if (method)
		class_method_ref(&file, holder, method, descriptor);
	bytes = class_end(&file, &len);
	assert_int_equal(lc_class_open(bytes, len, &c), LC_REWRITE_DONE);
	may = lc_alloc_plan_may_track(&c, &options);
	lc_class_close(&c);
	free(bytes);
	class_free(&file);
	return may;
}

static void a_pool_tells_that_no_method_makes_a_tracked_object(void **state)
{
	const char *object = "java/lang/Object", *clone = "clone", *any = "()Ljava/lang/Object;";
	const char *builder = "java/lang/StringBuilder", *string = "()Ljava/lang/String;";

	of("B");
	assert_true(pool_may("B", NULL, NULL, NULL));
	assert_true(pool_may(NULL, object, clone, any));
	assert_false(pool_may("C", object, "hashCode", "()I"));
	assert_false(pool_may("[LB;", "[LB;", clone, any));
	assert_false(pool_may(NULL, builder, "toString", string));
	of("B[][]");
	assert_true(pool_may("[LB;", NULL, NULL, NULL));   /* anewarray */
	assert_true(pool_may("[[[LB;", NULL, NULL, NULL)); /* multianewarray */
	assert_true(pool_may(NULL, "[[LB;", clone, any));
	assert_false(pool_may("B", object, clone, any));
	of("java.lang.String");
	assert_true(pool_may(NULL, builder, "toString", string));
	of("int[]");
	assert_true(pool_may(NULL, NULL, NULL, NULL));
}

/* Other places have their hooks whether a class is tracked or not. */
static void only_places_of_tracked_classes_are_looked_for(void **state)
{
	const struct code_spec node = CODE(NEW, 0, 4, POP, RETURN);
	const struct code_spec other = CODE(NEW, 0, 2, POP, RETURN);
	const struct code_spec longs = CODE(ALOAD_0, 190, LC_OP_NEWARRAY, 11, POP, RETURN);
	const struct code_spec both =
	    CODE(ALOAD_0, 190, LC_OP_NEWARRAY, 11, POP, NEW, 0, 4, POP, RETURN);

	of("com.acme.Node");
	assert_true(makes_tracked(node) && makes_tracked(both));
	assert_false(makes_tracked(other) || makes_tracked(longs));
	of("long[]");
	assert_true(makes_tracked(longs) && makes_tracked(both));
	assert_false(makes_tracked(node));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_name_matches_one_class_in_each_of_its_forms, reset),
		cmocka_unit_test_setup(a_hidden_class_has_the_name_that_reports_write, reset),
		cmocka_unit_test_setup(a_star_matches_classes_and_not_their_arrays, reset),
		cmocka_unit_test_setup(the_kinds_of_patterns_are_told_apart, reset),
		cmocka_unit_test_setup(patterns_beyond_the_limit_are_counted_and_left_out, reset),
		cmocka_unit_test_setup(hot_is_no_pattern, reset),
		cmocka_unit_test_setup(only_places_of_tracked_classes_are_looked_for, reset),
		cmocka_unit_test_setup(a_pool_tells_that_no_method_makes_a_tracked_object, reset),
		cmocka_unit_test_setup(only_new_of_a_tracked_class_is_hooked, reset),
		cmocka_unit_test_setup(short_arrays_are_hooked_if_their_class_is_tracked, reset),
		cmocka_unit_test_setup(calls_that_may_make_a_tracked_object_ask_for_its_class,
		                       reset),
		cmocka_unit_test_setup(a_large_class_that_is_tracked_has_no_hook_in_its_constructor,
		                       reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
