/* uses: src/heap/site_names.c src/classfile/ -Wl,--wrap=malloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stored.c - checks which names a site gets where two classes of one name, two versions of a
 * class, or several callers tell different things, and that what finds no room is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/store_names.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/heap/site_names.h"
#include "tests/unit/counter.h"

enum { LEAF_BCI = 4, CALL_BCI = 8, CODE_BYTES = 20, METHODS = 64 };

static struct lc_method methods[METHODS];
static struct lc_path_node nodes[METHODS];
static struct lc_site site;
static uint32_t frames;

static bool no_memory;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return no_memory ? NULL : __real_malloc(size);
}

const struct lc_method *lc_method_get(uint32_t method)
{
	return method < METHODS ? &methods[method] : NULL;
}

const struct lc_path_node *lc_path_get(uint32_t node)
{
	return node <= frames ? &nodes[node] : NULL;
}

const struct lc_site *lc_site_get(uint32_t number)
{
	return number == 1 ? &site : NULL;
}

/* ---- paths: each frame is called by the next one ---- */

static void begin_path(const char *class_name)
{
	frames = 0;
	site = (struct lc_site){ .class_name = class_name, .path = 1 };
}

static void add_frame(const char *class_name, const char *name, uint16_t bci)
{
	frames++;
	assert_true(frames < METHODS);
	methods[frames] = (struct lc_method){ .class_name = class_name,
		                              .name = name,
		                              .signature = "()[I",
		                              .code_bytes = CODE_BYTES };
	nodes[frames] = (struct lc_path_node){ .method = frames, .bci = bci };
	nodes[frames - 1].parent = frames > 1 ? frames : 0;
}

/* ---- classes ---- */

static uint32_t add_text(struct lc_store_names *s, const char *text)
{
	const uint32_t at = (uint32_t)s->text.len;

	lc_bytes_add(&s->text, text, strlen(text) + 1);
	return at;
}

static struct lc_store_names class_of(const char *name)
{
	return (struct lc_store_names){
		.class = lc_store_names_hash(0, name, strlen(name)),
		.methods = { .element_bytes = sizeof(struct lc_store_method) },
		.rows = { .element_bytes = sizeof(struct lc_store) },
		.calls = { .element_bytes = sizeof(struct lc_store_call) },
	};
}

static void add_method(struct lc_store_names *s, const char *name, uint16_t code_bytes)
{
	const struct lc_store_method m = { .method =
		                               lc_store_names_method(name, strlen(name), "()[I", 4),
		                           .first = (uint32_t)s->rows.len,
		                           .code_bytes = code_bytes };

	assert_int_equal(lc_vector_push(&s->methods, &m), 0);
}

/* Of the method that was added last. */
static void add_store(struct lc_store_names *s, uint8_t source, uint8_t kind, const char *name)
{
	struct lc_store_method *m = s->methods.data;
	const struct lc_store row = { .at = source == LC_STORE_OF_CALL ? CALL_BCI : LEAF_BCI,
		                      .bytes = 3,
		                      .source = source,
		                      .kind = kind,
		                      .arrays = 1,
		                      .name = add_text(s, name) };

	assert_int_equal(lc_vector_push(&s->rows, &row), 0);
	m[s->methods.len - 1].len++;
}

/* A class whose only method stores its array in the field. */
static void keep_field(const char *class_name, uint16_t code_bytes, const char *field)
{
	struct lc_store_names s = class_of(class_name);

	add_method(&s, "make", code_bytes);
	add_store(&s, LC_STORE_OF_ARRAY, LC_STORE_FIELD, field);
	lc_site_names_add(&s);
	lc_store_names_free(&s);
}

static void expect_names(size_t len, const struct lc_site_names_one *expected)
{
	struct lc_site_names_one names[LC_SITE_NAMES_MAX];

	assert_int_equal(lc_site_names_of(1, names), len);
	for (size_t i = 0; i < len; i++) {
		assert_string_equal(names[i].name, expected[i].name);
		assert_int_equal(names[i].kind, expected[i].kind);
	}
}

static void expect_field(const char *name)
{
	expect_names(1, &(struct lc_site_names_one){ name, LC_NAME_FIELD });
}

/* ---- tests ---- */

static void a_field_is_the_name_of_the_hook_behind_it_too(void **state)
{
	keep_field("a.Hooked", CODE_BYTES, "a.Hooked.re");
	for (uint16_t bci = LEAF_BCI - 1; bci <= LEAF_BCI + 3; bci++) {
		begin_path("int[]");
		add_frame("a.Hooked", "make", bci);
		if (bci < LEAF_BCI || bci >= LEAF_BCI + 3)
			expect_names(0, NULL);
		else
			expect_field("a.Hooked.re");
	}
}

static void the_same_class_in_two_loaders_is_kept_once(void **state)
{
	uint64_t classes;

	keep_field("a.Twice", CODE_BYTES, "a.Twice.re");
	classes = counter("names_classes");
	keep_field("a.Twice", CODE_BYTES, "a.Twice.re");
	assert_int_equal(counter("names_classes"), classes);
	begin_path("int[]");
	add_frame("a.Twice", "make", LEAF_BCI);
	expect_field("a.Twice.re");
}

static void two_classes_of_one_name_that_differ_give_no_name(void **state)
{
	keep_field("a.Different", CODE_BYTES, "a.Different.re");
	keep_field("a.Different", CODE_BYTES, "a.Different.im");
	begin_path("int[]");
	add_frame("a.Different", "make", LEAF_BCI);
	expect_names(0, NULL);
}

static void of_two_versions_the_length_of_the_code_tells_which_is_meant(void **state)
{
	keep_field("a.Redefined", CODE_BYTES + 1, "a.Redefined.before");
	keep_field("a.Redefined", CODE_BYTES, "a.Redefined.after");
	begin_path("int[]");
	add_frame("a.Redefined", "make", LEAF_BCI);
	expect_field("a.Redefined.after");
	methods[1].code_bytes = CODE_BYTES + 1;
	expect_field("a.Redefined.before");
	methods[1].code_bytes = 0; /* not known: it may be either */
	expect_names(0, NULL);
}

static void keep_factory(void)
{
	struct lc_store_names s = class_of("a.Factory");

	add_method(&s, "make", CODE_BYTES);
	add_store(&s, LC_STORE_OF_ARRAY, LC_STORE_LOCAL, "inner");
	add_store(&s, LC_STORE_OF_ARRAY, LC_STORE_RETURNED, "");
	add_method(&s, "hand_on", CODE_BYTES);
	add_store(&s, LC_STORE_OF_CALL, LC_STORE_RETURNED, "");
	add_method(&s, "local", CODE_BYTES);
	add_store(&s, LC_STORE_OF_CALL, LC_STORE_LOCAL, "outer");
	add_method(&s, "field", CODE_BYTES);
	add_store(&s, LC_STORE_OF_CALL, LC_STORE_FIELD, "a.Factory.kept");
	add_method(&s, "nothing", CODE_BYTES);
	add_store(&s, LC_STORE_OF_ARRAY, LC_STORE_LOCAL, "unrelated");
	lc_site_names_add(&s);
	lc_store_names_free(&s);
}

static void a_result_has_the_name_that_the_outermost_caller_gives_it(void **state)
{
	keep_factory();
	begin_path("int[]");
	add_frame("a.Factory", "make", LEAF_BCI);
	add_frame("a.Factory", "nothing", CALL_BCI);
	expect_names(1, &(struct lc_site_names_one){ "inner", LC_NAME_LOCAL });
	begin_path("int[]");
	add_frame("a.Factory", "make", LEAF_BCI);
	add_frame("a.Factory", "hand_on", CALL_BCI);
	add_frame("a.Maker$$Lambda/0x1", "apply", 1); /* it has no file, and hands on */
	add_frame("a.Factory", "local", CALL_BCI);
	expect_names(1, &(struct lc_site_names_one){ "outer", LC_NAME_LOCAL });
	begin_path("int[]");
	add_frame("a.Factory", "make", LEAF_BCI);
	add_frame("a.Factory", "field", CALL_BCI);
	add_frame("a.Factory", "local", CALL_BCI); /* its call returned something else */
	expect_field("a.Factory.kept");
}

static void a_chain_of_callers_is_followed_so_far_and_ends(void **state)
{
	begin_path("int[]");
	add_frame("a.Factory", "make", LEAF_BCI);
	while (frames < METHODS - 2)
		add_frame("a.Factory", "hand_on", CALL_BCI);
	add_frame("a.Factory", "field", CALL_BCI);
	expect_names(1, &(struct lc_site_names_one){ "inner", LC_NAME_LOCAL });
}

static void more_names_than_there_is_room_for_are_left_out(void **state)
{
	struct lc_store_names s = class_of("a.Many");
	struct lc_site_names_one names[LC_SITE_NAMES_MAX];
	char field[16];

	add_method(&s, "make", CODE_BYTES);
	for (int i = 0; i < LC_SITE_NAMES_MAX + 3; i++) {
		snprintf(field, sizeof(field), "a.Many.f%d", i);
		add_store(&s, LC_STORE_OF_ARRAY, LC_STORE_FIELD, field);
	}
	lc_site_names_add(&s);
	lc_store_names_free(&s);
	begin_path("int[]");
	add_frame("a.Many", "make", LEAF_BCI);
	assert_int_equal(lc_site_names_of(1, names), LC_SITE_NAMES_MAX);
	assert_string_equal(names[LC_SITE_NAMES_MAX - 1].name, "a.Many.f7");
}

static unsigned asked;

static bool answer(const char *class_name, const char *method, const char *descriptor,
                   struct lc_store_names *out)
{
	asked++;
	assert_string_equal(descriptor, "()[I");
	*out = class_of(class_name);
	if (strcmp(method, "make"))
		return false;
	add_method(out, "make", CODE_BYTES);
	add_store(out, LC_STORE_OF_ARRAY, LC_STORE_FIELD, "java.lang.String.value");
	return true;
}

static void the_source_is_asked_once_about_a_method(void **state)
{
	lc_site_names_source(answer);
	for (int i = 0; i < 3; i++) {
		begin_path("int[]");
		add_frame("java.lang.String", "make", LEAF_BCI);
		expect_field("java.lang.String.value");
		begin_path("int[]");
		add_frame("java.lang.String", "other", LEAF_BCI);
		expect_names(0, NULL);
	}
	assert_int_equal(asked, 2);
	lc_site_names_source(NULL);
}

static void a_class_without_room_is_counted(void **state)
{
	struct lc_store_names s = class_of("a.Large");
	const uint64_t dropped = counter("names_dropped"), bytes = counter("names_bytes");

	add_method(&s, "make", CODE_BYTES);
	add_store(&s, LC_STORE_OF_ARRAY, LC_STORE_FIELD, "a.Large.f");
	no_memory = true;
	lc_site_names_add(&s);
	no_memory = false;
	assert_int_equal(counter("names_dropped"), dropped + 1);
	assert_int_equal(counter("names_bytes"), bytes);
	begin_path("int[]");
	add_frame("a.Large", "make", LEAF_BCI);
	expect_names(0, NULL);
	lc_site_names_add(&s);
	expect_field("a.Large.f");
	assert_int_equal(counter("names_dropped"), dropped + 1);
	lc_store_names_free(&s);
}

static void a_site_without_a_path_has_no_name(void **state)
{
	struct lc_site_names_one names[LC_SITE_NAMES_MAX];

	begin_path("int[]");
	site.path = 0;
	expect_names(0, NULL);
	assert_int_equal(lc_site_names_of(2, names), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_is_the_name_of_the_hook_behind_it_too),
		cmocka_unit_test(the_same_class_in_two_loaders_is_kept_once),
		cmocka_unit_test(two_classes_of_one_name_that_differ_give_no_name),
		cmocka_unit_test(of_two_versions_the_length_of_the_code_tells_which_is_meant),
		cmocka_unit_test(a_result_has_the_name_that_the_outermost_caller_gives_it),
		cmocka_unit_test(a_chain_of_callers_is_followed_so_far_and_ends),
		cmocka_unit_test(more_names_than_there_is_room_for_are_left_out),
		cmocka_unit_test(the_source_is_asked_once_about_a_method),
		cmocka_unit_test(a_class_without_room_is_counted),
		cmocka_unit_test(a_site_without_a_path_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
