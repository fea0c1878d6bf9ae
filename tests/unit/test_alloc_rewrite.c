/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alloc_rewrite.c - checks which allocations in bytecode get a hook, and what the hook
 * consists of. The file is longer than 600 lines: each rule has its test, over one set of helpers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/class_file.h"
#include "tests/unit/failing_memory.h"

#define HOOK 89, 17, 0, 1, 184, 0, 0 /* dup; sipush 1; invokestatic ? */
#define CODE(...)                                                                                  \
	{                                                                                          \
		.code = (const uint8_t[]){ __VA_ARGS__ },                                          \
		.len = sizeof((const uint8_t[]){ __VA_ARGS__ })                                    \
	}

enum { ILOAD_0 = 26, POP = 87, RETURN = 177, ARETURN = 176, GOTO = 167, NEWARRAY = 188, BYTE = 8 };

static uint32_t last_site;
static int allocations_left; /* before they fail; < 0: they do not */

static bool allocation_fails(void)
{
	return allocations_left >= 0 && allocations_left-- == 0;
}

static uint32_t next_site(void *user)
{
	assert_ptr_equal(user, &last_site);
	return ++last_site;
}

static const struct lc_rewrite_options defaults = {
	.min_size_bytes = 1024,
	.array_header_bytes = 16,
	.reference_bytes = 4,
	.exact = true,
	.next_site = next_site,
	.user = &last_site,
};

static int reset(void **state)
{
	last_site = 0;
	allocations_left = -1;
	return 0;
}

/* Rewrite a class "A" with one method that has this code. */
static void rewrite_one(struct class_file *c, struct code_spec spec, struct rewritten *out)
{
	class_method(c, "m", "(I)V", &spec);
	class_rewrite(c, defaults, out);
}

/* The code after the rewrite, where 184, 0, 0 stands for a call of the hook method. */
static void assert_code(const struct rewritten *r, const char *hook, const uint8_t *expected,
                        size_t len)
{
	struct lc_method_code code = rewritten_code(r, 0);

	assert_int_equal(code.len, len);
	for (uint32_t i = 0; i < len; i++) {
		if (i + 2 < len && expected[i] == 184 && !expected[i + 1] && !expected[i + 2]) {
			assert_string_equal(rewritten_hook(r, code.insns + i), hook);
			i += 2;
			continue;
		}
		assert_int_equal(code.insns[i], expected[i]);
	}
}

static void hook_follows_each_kind_of_primitive_array(void **state)
{
	static const char *const hooks[] = { "array([ZI)V", "array([CI)V", "array([FI)V",
		                             "array([DI)V", "array([BI)V", "array([SI)V",
		                             "array([II)V", "array([JI)V" };

	for (uint8_t type = 4; type <= 11; type++) {
		const uint8_t expected[] = { ILOAD_0, NEWARRAY, type, HOOK, POP, RETURN };
		struct class_file c;
		struct rewritten r;

		last_site = 0;
		class_begin(&c, "A");
		rewrite_one(&c, (struct code_spec)CODE(ILOAD_0, NEWARRAY, type, POP, RETURN), &r);
		assert_int_equal(r.result.sites, 1);
		assert_code(&r, hooks[type - 4], expected, sizeof(expected));
		assert_int_equal(rewritten_code(&r, 0).max_stack, 14);
		rewritten_free(&r);
	}
}

static void arrays_of_references_and_of_arrays_have_their_hooks(void **state)
{
	const uint8_t expected[] = { ILOAD_0, 189, 0, 2, HOOK, POP, RETURN };
	const uint8_t multi[] = { ILOAD_0, ILOAD_0, 197, 0, 2, 2, HOOK, POP, RETURN };
	struct class_file c;
	struct rewritten r;

	class_begin(&c, "A");
	class_class(&c, "java/lang/String");
	rewrite_one(&c, (struct code_spec)CODE(ILOAD_0, 189, 0, 2, POP, RETURN), &r);
	assert_code(&r, "array([Ljava/lang/Object;I)V", expected, sizeof(expected));
	rewritten_free(&r);

	last_site = 0;
	class_begin(&c, "A");
	class_class(&c, "[[I");
	rewrite_one(&c, (struct code_spec)CODE(ILOAD_0, ILOAD_0, 197, 0, 2, 2, POP, RETURN), &r);
	/* The class of what multi() reports is not known from the site. */
	struct lc_method_code code = rewritten_code(&r, 0);
	assert_int_equal(code.len, sizeof(multi));
	assert_int_equal(code.insns[7], LC_OP_LDC_W);
	assert_string_equal(rewritten_hook(&r, code.insns + 10), "multi(Ljava/lang/Object;I)V");
	rewritten_free(&r);
}

static void class_without_a_site_is_left_alone(void **state)
{
	struct class_file c;
	struct rewritten r;

	class_begin(&c, "A");
	rewrite_one(&c, (struct code_spec)CODE(RETURN), &r);
	assert_int_equal(r.status, LC_REWRITE_NOTHING);
	class_begin(&c, LC_HOOK_CLASS);
	rewrite_one(&c, (struct code_spec)CODE(ILOAD_0, NEWARRAY, BYTE, POP, RETURN), &r);
	assert_int_equal(r.status, LC_REWRITE_NOTHING);
}

/* sites, or -1 when there was nothing to do. */
static int sites_of(struct code_spec spec, uint32_t skipped)
{
	struct class_file c;
	struct rewritten r;
	int sites;

	class_begin(&c, "A");
	class_integer(&c, 1008);             /* 1 */
	class_integer(&c, 1000);             /* 2 */
	class_class(&c, "java/lang/String"); /* 4 */
	class_class(&c, "[[I");              /* 6 */
	rewrite_one(&c, spec, &r);
	sites = r.status == LC_REWRITE_DONE ? (int)r.result.sites : -1;
	assert_int_equal(r.result.skipped_constant, skipped);
	rewritten_free(&r);
	return sites;
}

#define SITES(skipped, ...) sites_of((struct code_spec)CODE(__VA_ARGS__), skipped)

static void small_constant_length_is_skipped_and_counted(void **state)
{
	assert_int_equal(SITES(1, 8, NEWARRAY, BYTE, POP, RETURN), -1);
	assert_int_equal(SITES(1, 16, 100, NEWARRAY, BYTE, POP, RETURN), -1);
	assert_int_equal(SITES(1, 2, NEWARRAY, BYTE, POP, RETURN), -1); /* -1: throws */
	/* 16 + 1000 = 1016 is below, 16 + 1001 rounds up to 1024. */
	assert_int_equal(SITES(1, 17, 3, 232, NEWARRAY, BYTE, POP, RETURN), -1);
	assert_int_equal(SITES(0, 17, 3, 233, NEWARRAY, BYTE, POP, RETURN), 1);
	assert_int_equal(SITES(1, 18, 2, NEWARRAY, BYTE, POP, RETURN), -1);
	assert_int_equal(SITES(0, 18, 1, NEWARRAY, BYTE, POP, RETURN), 1);
	assert_int_equal(SITES(0, 19, 0, 1, NEWARRAY, BYTE, POP, RETURN), 1);
	assert_int_equal(SITES(1, 16, 125, NEWARRAY, 11, POP, RETURN), -1);
	assert_int_equal(SITES(0, 16, 126, NEWARRAY, 7, POP, RETURN), 1);
	assert_int_equal(SITES(1, 17, 0, 250, 189, 0, 4, POP, RETURN), -1);
	assert_int_equal(SITES(0, 17, 0, 251, 189, 0, 4, POP, RETURN), 1);
	/* The constant must be the length. */
	assert_int_equal(SITES(0, 8, ILOAD_0, NEWARRAY, BYTE, POP, POP, RETURN), 1);
}

static void each_dimension_must_be_small_to_be_skipped(void **state)
{
	assert_int_equal(SITES(1, 8, 8, 197, 0, 6, 2, POP, RETURN), -1);
	assert_int_equal(SITES(0, 8, 17, 0, 252, 197, 0, 6, 2, POP, RETURN), 1);
	assert_int_equal(SITES(0, 17, 0, 252, 8, 197, 0, 6, 2, POP, RETURN), 1);
	assert_int_equal(SITES(0, ILOAD_0, 8, 197, 0, 6, 2, POP, RETURN), 1);
}

static void constant_length_counts_only_if_nothing_leads_in_between(void **state)
{
	struct code_spec caught = CODE(8, NEWARRAY, BYTE, POP, RETURN);

	/* iload_0; iload_0; ifeq to the newarray behind a constant. */
	assert_int_equal(SITES(0, ILOAD_0, ILOAD_0, 153, 0, 5, POP, 8, NEWARRAY, BYTE, POP, RETURN),
	                 1);
	/* A jump to the constant itself changes nothing. */
	assert_int_equal(SITES(1, ILOAD_0, 153, 0, 3, 8, NEWARRAY, BYTE, POP, RETURN), -1);
	/* Backwards, behind the site. */
	assert_int_equal(SITES(0, 8, NEWARRAY, BYTE, POP, ILOAD_0, GOTO, 255, 252), 1);
	/* A handler. */
	caught.handlers = (const uint8_t[]){ 0, 0, 0, 1, 0, 1, 0, 0 };
	caught.handlers_len = 1;
	assert_int_equal(sites_of(caught, 0), 1);
}

static void clone_of_an_array_is_cast_to_what_its_hook_takes(void **state)
{
	struct code_spec spec = CODE(1, 182, 0, 6, POP, 1, 182, 0, 12, POP, RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "A");
	assert_int_equal(class_method_ref(&c, "[J", "clone", "()Ljava/lang/Object;"), 6);
	assert_int_equal(class_method_ref(&c, "[Ljava/util/Map;", "clone", "()Ljava/lang/Object;"),
	                 12);
	rewrite_one(&c, spec, &r);
	assert_int_equal(r.result.sites, 2);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.insns[4], LC_OP_DUP);
	assert_int_equal(code.insns[5], LC_OP_CHECKCAST);
	assert_true(lc_class_text_is(lc_class_name(&r.cls, lc_be_get2(code.insns + 6)), "[J"));
	assert_string_equal(rewritten_hook(&r, code.insns + 11), "array([JI)V");
	assert_int_equal(code.insns[20], LC_OP_CHECKCAST);
	assert_true(lc_class_text_is(lc_class_name(&r.cls, lc_be_get2(code.insns + 21)),
	                             "[Ljava/lang/Object;"));
	assert_string_equal(rewritten_hook(&r, code.insns + 26), "array([Ljava/lang/Object;I)V");
	rewritten_free(&r);
}

static void initializer_that_never_runs_again_gets_no_hook(void **state)
{
	struct lc_rewrite_options options = defaults;

	for (unsigned i = 0; i < 4; i++) {
		struct code_spec spec = CODE(17, 8, 0, NEWARRAY, BYTE, POP, RETURN);
		struct class_file c;
		struct rewritten r;

		options.initialized = i & 1;
		class_begin(&c, "A");
		class_method(&c, i & 2 ? "<clinit>" : "make", "()V", &spec);
		class_rewrite(&c, options, &r);
		assert_int_equal(r.status, i == 3 ? LC_REWRITE_NOTHING : LC_REWRITE_DONE);
		rewritten_free(&r);
	}
}

/* Hooks in a method of the class that makes an array, clones one, and calls an intrinsic. */
static uint32_t hooks_in(const char *class, unsigned intrinsic, bool exact)
{
	const struct lc_intrinsic *x = lc_rewrite_intrinsic(intrinsic);
	struct lc_rewrite_options options = defaults;
	struct code_spec spec = CODE(17, 8, 0, NEWARRAY, BYTE, POP, 43, 182, 0, 6, POP,
	                             x->is_static ? 184 : 182, 0, 12, POP, RETURN);
	struct class_file c;
	struct rewritten r;
	uint32_t sites;

	options.exact = exact;
	class_begin(&c, class);
	assert_int_equal(class_method_ref(&c, "[I", "clone", "()Ljava/lang/Object;"), 6);
	assert_int_equal(class_method_ref(&c, x->class_name, x->name, x->descriptor), 12);
	class_method(&c, "m", "(I)V", &spec);
	class_rewrite(&c, options, &r);
	sites = r.status == LC_REWRITE_DONE ? r.result.sites : 0;
	rewritten_free(&r);
	return sites;
}

static void without_exact_joined_strings_and_internal_classes_have_no_hook(void **state)
{
	static const char *const internal[] = {
		"jdk/internal/util/A",      "sun/security/A", "java/lang/invoke/A",
		"java/lang/reflect/Method", "java/lang/A",    "java/io/ObjectStreamClass",
		"java/util/jar/Manifest",   "java/net/URI",
	};
	static const char *const others[] = {
		"com/acme/A",
		"java/util/A",
		"java/io/ObjectOutputStream",
		"java/lang/String",
		"java/lang/AbstractStringBuilder",
		"java/lang/ThreadLocal$ThreadLocalMap",
		"java/lang/reflect/Array",
		"java/net/URL",
		"jdk/jfr/A",
		"sun/nio/ch/A",
		"sunny/A",
	};

	for (unsigned i = 0; i < LC_INTRINSICS; i++) {
		const bool string = !strcmp(lc_rewrite_intrinsic(i)->name, "toString");

		if (!strcmp(lc_rewrite_intrinsic(i)->name, "implMultiplyToLen"))
			continue; /* it needs its argument in a local variable */
		for (size_t k = 0; k < sizeof(internal) / sizeof(*internal); k++) {
			assert_int_equal(hooks_in(internal[k], i, false), 0);
			assert_int_equal(hooks_in(internal[k], i, true), 3);
		}
		for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++) {
			assert_int_equal(hooks_in(others[k], i, false), string ? 2 : 3);
			assert_int_equal(hooks_in(others[k], i, true), 3);
		}
	}
}

enum { ENUM = 0x4000, CONSTANT = 0x4019, MADE_BY_COMPILER = 0x101a };

struct enumeration {
	unsigned constants;
	uint16_t flags, values_flags;
	const char *method, *field;
	bool entered; /* a jump leads between the load and the call */
};

/* Hooks in `getstatic field; clone; checkcast; areturn` of an enum's method. */
static uint32_t hooks_of_enum(struct enumeration e)
{
	struct code_spec spec = CODE(178, 0, 6, 182, 0, 12, 192, 0, 14, 176);
	struct code_spec entered = CODE(ILOAD_0, 153, 0, 6, 178, 0, 6, 182, 0, 12, 192, 0, 14, 176);
	struct class_file c;
	struct rewritten r;
	uint32_t sites;

	class_begin(&c, "E");
	c.flags = e.flags;
	assert_int_equal(class_field_ref(&c, "E", e.field, "[LE;"), 6);
	assert_int_equal(class_method_ref(&c, "[LE;", "clone", "()Ljava/lang/Object;"), 12);
	assert_int_equal(class_class(&c, "[LE;"), 14);
	for (unsigned i = 0; i < e.constants; i++)
		class_named_field(&c, CONSTANT, "A", "LE;");
	class_named_field(&c, e.values_flags, "$VALUES", "[LE;");
	class_method(&c, e.method, "()[LE;", e.entered ? &entered : &spec);
	class_rewrite(&c, defaults, &r);
	sites = r.status == LC_REWRITE_DONE ? r.result.sites : 0;
	assert_int_equal(r.result.skipped_constant, !sites);
	rewritten_free(&r);
	return sites;
}

static void constants_of_a_small_enum_are_copied_without_a_hook(void **state)
{
	const struct enumeration small = { 3, ENUM, MADE_BY_COMPILER, "values", "$VALUES", false };
	struct enumeration e = small;

	assert_int_equal(hooks_of_enum(e), 0);
	e.constants = 250; /* 16 + 4 * 250 = 1016 */
	assert_int_equal(hooks_of_enum(e), 0);
	e.constants = 251;
	assert_int_equal(hooks_of_enum(e), 1);
	e = small;
	e.flags = 0; /* no enum */
	assert_int_equal(hooks_of_enum(e), 1);
	e = small;
	e.values_flags = 0x1a; /* not the compiler's field: the program may have stored anything */
	assert_int_equal(hooks_of_enum(e), 1);
	e = small;
	e.method = "others";
	assert_int_equal(hooks_of_enum(e), 1);
	e = small;
	e.field = "OTHERS";
	assert_int_equal(hooks_of_enum(e), 1);
	e = small;
	e.entered = true;
	assert_int_equal(hooks_of_enum(e), 1);
}

/* The int that the instruction pushes. */
static uint32_t pushed(const struct rewritten *r, const uint8_t *insn)
{
	uint32_t at;

	if (*insn == LC_OP_SIPUSH)
		return lc_be_get2(insn + 1);
	assert_int_equal(*insn, LC_OP_LDC_W);
	at = r->cls.pool[lc_be_get2(insn + 1)];
	assert_int_equal(r->cls.bytes[at], LC_POOL_INTEGER);
	return lc_be_get4(r->cls.bytes + at + 1);
}

static void result_of_an_intrinsic_says_so_in_its_site(void **state)
{
	for (unsigned i = 0; i < LC_INTRINSICS; i++) {
		const struct lc_intrinsic *x = lc_rewrite_intrinsic(i);
		/* The last argument is loaded from local 3: the hook of implMultiplyToLen looks. */
		struct code_spec spec = CODE(25, 3, x->is_static ? 184 : 182, 0, 6, POP, RETURN);
		struct class_file c;
		struct rewritten r;
		struct lc_method_code code;
		uint32_t at = 6;

		class_begin(&c, "A");
		assert_int_equal(class_method_ref(&c, x->class_name, x->name, x->descriptor), 6);
		rewrite_one(&c, spec, &r);
		code = rewritten_code(&r, 0);
		assert_int_equal(code.insns[5], LC_OP_DUP);
		if (code.insns[6] == LC_OP_ALOAD) {
			assert_string_equal(x->name, "implMultiplyToLen");
			assert_int_equal(code.insns[7], 3);
			at += 2;
		}
		assert_true(pushed(&r, code.insns + at) & LC_SITE_AFTER_CALL);
		assert_false(pushed(&r, code.insns + at) & LC_SITE_IN_BODY);
		assert_int_equal(LC_SITE_INTRINSIC(pushed(&r, code.insns + at)), i);
		rewritten_hook(&r, code.insns + at + 3);
		rewritten_free(&r);
	}
}

static void body_of_an_intrinsic_marks_its_result(void **state)
{
	struct code_spec spec = CODE(26, 153, 0, 5, 43, ARETURN, 42, ARETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "java/util/Arrays");
	class_method(&c, "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;",
	             &spec);
	class_rewrite(&c, defaults, &r);
	assert_int_equal(r.result.sites, 2);
	code = rewritten_code(&r, 0);
	assert_int_equal(lc_be_get2(code.insns + 2), 12); /* to the second aload */
	assert_int_equal(code.insns[5], LC_OP_DUP);       /* before areturn */
	assert_int_equal(pushed(&r, code.insns + 6) & LC_SITE_IN_BODY, LC_SITE_IN_BODY);
	assert_string_equal(rewritten_hook(&r, code.insns + 9), "array([Ljava/lang/Object;I)V");
	assert_int_equal(code.insns[12], ARETURN);
	rewritten_free(&r);
}

static void multiply_to_len_marks_what_it_allocates_and_nothing_else(void **state)
{
	struct code_spec spec = CODE(26, NEWARRAY, 10, ARETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, "java/math/BigInteger");
	class_method(&c, "implMultiplyToLen", "([II[II[I)[I", &spec);
	class_rewrite(&c, defaults, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.len, 4 + 14);
	assert_int_equal(pushed(&r, code.insns + 4), 1);
	assert_true(pushed(&r, code.insns + 11) & LC_SITE_IN_BODY);
	assert_int_equal(code.insns[17], ARETURN);
	rewritten_free(&r);
}

static void multiply_to_len_is_not_hooked_where_its_argument_is_unknown(void **state)
{
	struct class_file c;
	struct rewritten r;

	class_begin(&c, "A");
	class_method_ref(&c, "java/math/BigInteger", "implMultiplyToLen", "([II[II[I)[I");
	rewrite_one(&c, (struct code_spec)CODE(1, 184, 0, 6, POP, RETURN), &r);
	assert_int_equal(r.status, LC_REWRITE_NOTHING);
}

static void large_site_numbers_come_from_the_pool(void **state)
{
	struct class_file c;
	struct rewritten r;

	last_site = INT16_MAX - 1;
	class_begin(&c, "A");
	rewrite_one(&c,
	            (struct code_spec)CODE(ILOAD_0, NEWARRAY, BYTE, POP, ILOAD_0, NEWARRAY, BYTE,
	                                   POP, RETURN),
	            &r);
	assert_int_equal(rewritten_code(&r, 0).insns[4], LC_OP_SIPUSH);
	assert_int_equal(pushed(&r, rewritten_code(&r, 0).insns + 4), INT16_MAX);
	assert_int_equal(pushed(&r, rewritten_code(&r, 0).insns + 15), INT16_MAX + 1);
	rewritten_free(&r);
}

static void only_the_versions_of_known_jdks_are_rewritten(void **state)
{
	static const struct {
		uint16_t major, minor;
		enum lc_rewrite_status status;
	} cases[] = {
		{ 44, 9, LC_REWRITE_UNSUPPORTED },    { 45, 2, LC_REWRITE_UNSUPPORTED },
		{ 45, 3, LC_REWRITE_DONE },           { 49, 0, LC_REWRITE_DONE },
		{ 72, 65535, LC_REWRITE_DONE },       { 73, 0, LC_REWRITE_UNSUPPORTED },
		{ 65535, 0, LC_REWRITE_UNSUPPORTED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct class_file c;
		struct rewritten r;

		class_begin(&c, "A");
		c.major = cases[i].major;
		c.minor = cases[i].minor;
		rewrite_one(&c, (struct code_spec)CODE(ILOAD_0, NEWARRAY, BYTE, POP, RETURN), &r);
		assert_int_equal(r.status, cases[i].status);
		rewritten_free(&r);
	}
}

static void names_may_hold_any_character(void **state)
{
	struct class_file c;
	struct rewritten r;

	class_begin(&c, "\xd0\x96/\xe2\x82\xac \xed\xa0\xbd\xed\xb8\x80");
	rewrite_one(&c, (struct code_spec)CODE(ILOAD_0, NEWARRAY, BYTE, POP, RETURN), &r);
	assert_int_equal(r.status, LC_REWRITE_DONE);
	assert_true(lc_class_text_is(lc_class_name(&r.cls, r.cls.this_class),
	                             "\xd0\x96/\xe2\x82\xac \xed\xa0\xbd\xed\xb8\x80"));
	rewritten_free(&r);
}

static void full_pool_leaves_the_class_alone(void **state)
{
	struct class_file c;
	struct rewritten r;

	/* Six constants are needed; the class's own name takes two, the method three. */
	for (unsigned left = 5; left <= 6; left++) {
		class_begin(&c, "A");
		while (c.pool_count < 65535 - left - 5)
			class_integer(&c, 7);
		rewrite_one(&c, (struct code_spec)CODE(ILOAD_0, NEWARRAY, BYTE, POP, RETURN), &r);
		assert_int_equal(r.status, left < 6 ? LC_REWRITE_TOO_LARGE : LC_REWRITE_DONE);
		rewritten_free(&r);
		last_site = 0;
	}
}

/* A class with something of everything. */
static uint8_t *rich_class(size_t *len)
{
	const uint8_t frames[] = { 0, 1, 0x40 | 5, 7, 0, 2 };
	const uint8_t lines[] = { 0, 1, 0, 0, 0, 9 };
	struct code_spec spec = CODE(ILOAD_0, NEWARRAY, BYTE, 87, 1, 182, 0, 8, POP, RETURN);
	struct class_file c;
	uint8_t *bytes;

	class_begin(&c, "A");
	class_class(&c, "java/lang/Object");
	class_method_ref(&c, "[J", "clone", "()Ljava/lang/Object;");
	class_field(&c, 0, "[J");
	class_attribute(&c, &spec, "StackMapTable", frames, sizeof(frames));
	class_attribute(&c, &spec, "LineNumberTable", lines, sizeof(lines));
	spec.handlers = (const uint8_t[]){ 0, 0, 0, 3, 0, 5, 0, 0 };
	spec.handlers_len = 1;
	class_method(&c, "m", "(I)V", &spec);
	bytes = class_end(&c, len);
	class_free(&c);
	return bytes;
}

static void a_cut_class_is_malformed_at_every_length(void **state)
{
	struct lc_rewrite_result result;
	size_t len;
	uint8_t *bytes = rich_class(&len);

	assert_int_equal(lc_rewrite_class(bytes, len, &defaults, &result), LC_REWRITE_DONE);
	free(result.bytes);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1); /* reads beyond are found by ASan */

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		assert_int_equal(lc_rewrite_class(copy, cut, &defaults, &result),
		                 LC_REWRITE_MALFORMED);
		free(copy);
	}
	free(bytes);
}

/* A class of two methods whose code is so long; none of it where that is 0. */
static uint64_t code_sum(uint32_t first, uint32_t second)
{
	uint8_t code[32] = { 0 };
	struct lc_rewrite_result result;
	struct class_file c;
	uint8_t *bytes;
	size_t len;

	class_begin(&c, "A");
	for (unsigned i = 0; i < 2; i++) {
		struct code_spec spec = { .code = code, .len = i ? second : first };

		code[spec.len ? spec.len - 1 : 0] = 177; /* return */
		if (spec.len)
			class_method(&c, i ? "n" : "m", "()V", &spec);
		memset(code, 0, sizeof(code));
	}
	bytes = class_end(&c, &len);
	class_free(&c);
	assert_int_equal(lc_rewrite_look(bytes, len, &defaults, &result), LC_REWRITE_NOTHING);
	free(bytes);
	return result.code_sum;
}

static void the_sum_of_a_class_tells_the_lengths_of_its_methods(void **state)
{
	assert_int_equal(code_sum(3, 9), code_sum(9, 3));
	assert_int_equal(code_sum(3, 9), lc_rewrite_code_sum(3) + lc_rewrite_code_sum(9));
	assert_int_equal(code_sum(0, 9), lc_rewrite_code_sum(9));
	assert_int_not_equal(code_sum(3, 9), code_sum(4, 8));
	assert_int_not_equal(code_sum(6, 6), code_sum(0, 12));
}

static void bytes_behind_the_class_are_malformed(void **state)
{
	struct lc_rewrite_result result;
	size_t len;
	uint8_t *bytes = rich_class(&len);

	bytes = realloc(bytes, len + 1);
	bytes[len] = 0;
	assert_int_equal(lc_rewrite_class(bytes, len + 1, &defaults, &result),
	                 LC_REWRITE_MALFORMED);
	free(bytes);
}

static void any_changed_byte_is_survived(void **state)
{
	struct lc_rewrite_result result;
	size_t len;
	uint8_t *bytes = rich_class(&len);

	for (size_t at = 0; at < len; at++) {
		for (unsigned flip = 1; flip < 256; flip++) {
			bytes[at] ^= (uint8_t)flip;
			(void)lc_rewrite_class(bytes, len, &defaults, &result);
			free(result.bytes);
			bytes[at] ^= (uint8_t)flip;
		}
	}
	free(bytes);
}

static void without_memory_nothing_is_done_and_nothing_leaks(void **state)
{
	enum lc_rewrite_status status = LC_REWRITE_NO_MEMORY;
	struct lc_rewrite_result result;
	size_t len;
	uint8_t *bytes = rich_class(&len);
	int fail_at = 0;

	for (; status == LC_REWRITE_NO_MEMORY; fail_at++) {
		allocations_left = fail_at;
		status = lc_rewrite_class(bytes, len, &defaults, &result);
		allocations_left = -1;
		assert_true(status == LC_REWRITE_NO_MEMORY || status == LC_REWRITE_DONE);
		assert_true(status == LC_REWRITE_DONE || !result.bytes);
	}
	assert_true(fail_at > 6);
	free(result.bytes);
	free(bytes);
}

static void every_status_has_a_name(void **state)
{
	for (int s = 0; s < LC_REWRITE_STATUS_COUNT; s++)
		assert_string_not_equal(lc_rewrite_status_name((enum lc_rewrite_status)s),
		                        "unknown");
	assert_string_equal(lc_rewrite_status_name(LC_REWRITE_STATUS_COUNT), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(hook_follows_each_kind_of_primitive_array, reset),
		cmocka_unit_test_setup(arrays_of_references_and_of_arrays_have_their_hooks, reset),
		cmocka_unit_test_setup(class_without_a_site_is_left_alone, reset),
		cmocka_unit_test_setup(the_sum_of_a_class_tells_the_lengths_of_its_methods, reset),
		cmocka_unit_test_setup(small_constant_length_is_skipped_and_counted, reset),
		cmocka_unit_test_setup(each_dimension_must_be_small_to_be_skipped, reset),
		cmocka_unit_test_setup(constant_length_counts_only_if_nothing_leads_in_between,
		                       reset),
		cmocka_unit_test_setup(clone_of_an_array_is_cast_to_what_its_hook_takes, reset),
		cmocka_unit_test_setup(initializer_that_never_runs_again_gets_no_hook, reset),
		cmocka_unit_test_setup(constants_of_a_small_enum_are_copied_without_a_hook, reset),
		cmocka_unit_test_setup(
		    without_exact_joined_strings_and_internal_classes_have_no_hook, reset),
		cmocka_unit_test_setup(result_of_an_intrinsic_says_so_in_its_site, reset),
		cmocka_unit_test_setup(body_of_an_intrinsic_marks_its_result, reset),
		cmocka_unit_test_setup(multiply_to_len_marks_what_it_allocates_and_nothing_else,
		                       reset),
		cmocka_unit_test_setup(multiply_to_len_is_not_hooked_where_its_argument_is_unknown,
		                       reset),
		cmocka_unit_test_setup(large_site_numbers_come_from_the_pool, reset),
		cmocka_unit_test_setup(only_the_versions_of_known_jdks_are_rewritten, reset),
		cmocka_unit_test_setup(names_may_hold_any_character, reset),
		cmocka_unit_test_setup(full_pool_leaves_the_class_alone, reset),
		cmocka_unit_test_setup(a_cut_class_is_malformed_at_every_length, reset),
		cmocka_unit_test_setup(bytes_behind_the_class_are_malformed, reset),
		cmocka_unit_test_setup(any_changed_byte_is_survived, reset),
		cmocka_unit_test_setup(without_memory_nothing_is_done_and_nothing_leaks, reset),
		cmocka_unit_test_setup(every_status_has_a_name, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
