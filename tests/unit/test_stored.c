/* uses: src/heap/site_names.c -Wl,--wrap=calloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stored.c - checks which names a site gets where several callers or two versions of a method
 * tell different things, and that what finds no room is counted.
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
#include "src/heap/loaded_code.h"
#include "src/heap/site_names.h"
#include "tests/unit/counter.h"

enum { LEAF_BCI = 4, CALL_BCI = 8, CODE_BYTES = 20, METHODS = 64 };

static struct lc_method methods[METHODS];
static struct lc_path_node nodes[METHODS];
static struct lc_site site;
static uint32_t frames;

static bool no_memory;

void *__real_calloc(size_t len, size_t size);
void *__wrap_calloc(size_t len, size_t size);

void *__wrap_calloc(size_t len, size_t size)
{
	return no_memory ? NULL : __real_calloc(len, size);
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

/* ---- what the JVM has loaded ---- */

/* A method, and the rows that its bytecode has. */
struct loaded {
	const char *class_name, *name;
	uint32_t code_bytes;
	unsigned asked; /* how often it was read */
	unsigned rows_len;
	struct {
		uint8_t source, kind;
		int8_t levels;
		const char *name;
	} rows[LC_SITE_NAMES_MAX + 3];
};

static struct loaded loaded[METHODS];
static unsigned loaded_len;

static struct loaded *load(const char *class_name, const char *name, uint32_t code_bytes)
{
	struct loaded *m = &loaded[loaded_len++];

	assert_true(loaded_len <= METHODS);
	*m = (struct loaded){ .class_name = class_name, .name = name, .code_bytes = code_bytes };
	return m;
}

static void add_store(struct loaded *m, uint8_t source, uint8_t kind, const char *name)
{
	m->rows[m->rows_len].source = source;
	m->rows[m->rows_len].kind = kind;
	m->rows[m->rows_len++].name = name;
}

/* A class whose only method stores its array in the field. */
static struct loaded *keep_field(const char *class_name, uint32_t code_bytes, const char *field)
{
	struct loaded *m = load(class_name, "make", code_bytes);

	add_store(m, LC_STORE_OF_ARRAY, LC_STORE_FIELD, field);
	return m;
}

static jmethodID id_of(const char *class_name, const char *name)
{
	for (unsigned i = 0; i < loaded_len; i++)
		if (!strcmp(loaded[i].class_name, class_name) && !strcmp(loaded[i].name, name))
			return (jmethodID)(void *)&loaded[i];
	return NULL;
}

jmethodID lc_method_id(const struct lc_method *m)
{
	return id_of(m->class_name, m->name);
}

static unsigned found_calls;

jmethodID lc_loaded_code_find(JNIEnv *jni, jmethodID caller, const char *class_name,
                              const char *name, const char *descriptor)
{
	found_calls++;
	assert_non_null(caller);
	assert_string_equal(descriptor, "([I)V");
	return id_of(class_name, name);
}

static struct loaded *read_now;

bool lc_loaded_code_open(JNIEnv *jni, jmethodID method, struct lc_method_file *out)
{
	read_now = (struct loaded *)(void *)method;
	read_now->asked++;
	*out = (struct lc_method_file){ .code = { .len = read_now->code_bytes } };
	return true;
}

void lc_method_file_close(struct lc_method_file *f)
{
}

bool lc_store_names_is_buffer(struct lc_class_text class)
{
	static const char buffer[] = "java/nio/ByteBuffer";

	return class.len == sizeof(buffer) - 1 && !memcmp(class.data, buffer, class.len);
}

bool lc_store_names_open(struct lc_store_names_scan *s, const struct lc_class *c,
                         struct lc_store_names *out)
{
	s->out = out;
	*out = (struct lc_store_names){
		.rows = { .element_bytes = sizeof(struct lc_store) },
		.calls = { .element_bytes = sizeof(struct lc_store_call) },
	};
	return true;
}

void lc_store_names_close(struct lc_store_names_scan *s)
{
}

void lc_store_names_free(struct lc_store_names *s)
{
	free(s->rows.data);
	free(s->calls.data);
	free(s->text.data);
}

static uint32_t add_text(struct lc_bytes *text, const char *name)
{
	const uint32_t at = (uint32_t)text->len;

	lc_bytes_add(text, name, strlen(name) + 1);
	return at;
}

/* An argument arrives in local variable 1. Returns the number of the call. */
static uint32_t add_call(struct lc_store_names *out, const char *name)
{
	const struct lc_store_call call = { .name = add_text(&out->text, name),
		                            .descriptor = add_text(&out->text, "([I)V"),
		                            .exact = 1 };

	assert_int_equal(lc_vector_push(&out->calls, &call), 0);
	return (uint32_t)out->calls.len - 1;
}

enum lc_rewrite_status lc_store_names_find(struct lc_store_names_scan *s,
                                           const struct lc_member *method,
                                           struct lc_method_code *code)
{
	for (unsigned i = 0; i < read_now->rows_len; i++) {
		struct lc_store row = { .at = LEAF_BCI,
			                .bytes = 3,
			                .source = read_now->rows[i].source,
			                .kind = read_now->rows[i].kind,
			                .levels = read_now->rows[i].levels,
			                .arrays = 1 };

		if (row.source == LC_STORE_OF_CALL)
			row.at = CALL_BCI;
		if (row.source == LC_STORE_OF_PARAMETER)
			row.at = 1;
		if (row.kind == LC_STORE_ARGUMENT) {
			row.slot = 1;
			row.name = add_call(s->out, read_now->rows[i].name);
		} else {
			row.name = add_text(&s->out->text, read_now->rows[i].name);
		}
		assert_int_equal(lc_vector_push(&s->out->rows, &row), 0);
	}
	return LC_REWRITE_DONE;
}

static void expect_names(size_t len, const struct lc_site_names_one *expected)
{
	struct lc_site_names_one names[LC_SITE_NAMES_MAX];

	assert_int_equal(lc_site_names_of(NULL, 1, names), len);
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

static void a_method_is_read_once(void **state)
{
	const struct loaded *m = keep_field("a.Once", CODE_BYTES, "a.Once.re");
	const uint64_t methods_before = counter("names_methods");

	for (int i = 0; i < 3; i++) {
		begin_path("int[]");
		add_frame("a.Once", "make", LEAF_BCI);
		expect_field("a.Once.re");
	}
	assert_int_equal(m->asked, 1);
	assert_int_equal(counter("names_methods"), methods_before + 1);
}

static void of_two_versions_the_length_of_the_code_tells_which_is_meant(void **state)
{
	keep_field("a.Redefined", CODE_BYTES, "a.Redefined.now");
	begin_path("int[]");
	add_frame("a.Redefined", "make", LEAF_BCI);
	methods[1].code_bytes = CODE_BYTES + 1; /* the frame is of another version */
	expect_names(0, NULL);
	methods[1].code_bytes = CODE_BYTES;
	expect_field("a.Redefined.now");
}

static void a_method_whose_class_is_gone_gives_no_name(void **state)
{
	begin_path("int[]");
	add_frame("a.Gone", "make", LEAF_BCI);
	expect_names(0, NULL);
}

static void an_argument_has_the_name_of_the_field_that_keeps_it(void **state)
{
	add_store(load("a.Outer", "make", CODE_BYTES), LC_STORE_OF_ARRAY, LC_STORE_ARGUMENT,
	          "a.Inner.<init>");
	begin_path("int[]");
	add_frame("a.Outer", "make", LEAF_BCI);
	expect_names(1, &(struct lc_site_names_one){ "a.Inner.<init>", LC_NAME_ARGUMENT });
	/* The same, where the class is found, and passes it on. */
	add_store(load("a.Middle", "make", CODE_BYTES), LC_STORE_OF_ARRAY, LC_STORE_ARGUMENT,
	          "a.Passes.<init>");
	add_store(load("a.Passes", "<init>", CODE_BYTES), LC_STORE_OF_PARAMETER, LC_STORE_ARGUMENT,
	          "a.Keeps.set");
	add_store(load("a.Keeps", "set", CODE_BYTES), LC_STORE_OF_PARAMETER, LC_STORE_FIELD,
	          "a.Keeps.f");
	begin_path("int[]");
	add_frame("a.Middle", "make", LEAF_BCI);
	expect_field("a.Keeps.f");
}

static void keep_factory(void)
{
	struct loaded *m = load("a.Factory", "make", CODE_BYTES);

	add_store(m, LC_STORE_OF_ARRAY, LC_STORE_LOCAL, "inner");
	add_store(m, LC_STORE_OF_ARRAY, LC_STORE_RETURNED, "");
	add_store(load("a.Factory", "hand_on", CODE_BYTES), LC_STORE_OF_CALL, LC_STORE_RETURNED,
	          "");
	add_store(load("a.Factory", "local", CODE_BYTES), LC_STORE_OF_CALL, LC_STORE_LOCAL,
	          "outer");
	add_store(load("a.Factory", "field", CODE_BYTES), LC_STORE_OF_CALL, LC_STORE_FIELD,
	          "a.Factory.kept");
	add_store(load("a.Factory", "nothing", CODE_BYTES), LC_STORE_OF_ARRAY, LC_STORE_LOCAL,
	          "unrelated");
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
	struct loaded *m = load("a.Many", "make", CODE_BYTES);
	struct lc_site_names_one names[LC_SITE_NAMES_MAX];
	static char fields[LC_SITE_NAMES_MAX + 3][16];

	for (int i = 0; i < LC_SITE_NAMES_MAX + 3; i++) {
		snprintf(fields[i], sizeof(fields[i]), "a.Many.f%d", i);
		add_store(m, LC_STORE_OF_ARRAY, LC_STORE_FIELD, fields[i]);
	}
	begin_path("int[]");
	add_frame("a.Many", "make", LEAF_BCI);
	assert_int_equal(lc_site_names_of(NULL, 1, names), LC_SITE_NAMES_MAX);
	assert_string_equal(names[LC_SITE_NAMES_MAX - 1].name, "a.Many.f7");
}

static void a_method_without_room_is_counted(void **state)
{
	const uint64_t dropped = counter("names_dropped"), bytes = counter("names_bytes");

	keep_field("a.Large", CODE_BYTES, "a.Large.f");
	begin_path("int[]");
	add_frame("a.Large", "make", LEAF_BCI);
	no_memory = true;
	expect_names(0, NULL);
	no_memory = false;
	assert_int_equal(counter("names_dropped"), dropped + 1);
	assert_int_equal(counter("names_bytes"), bytes);
	expect_field("a.Large.f");
	assert_int_equal(counter("names_dropped"), dropped + 1);
}

/* The leaf calls the JDK for the block. */
static void a_block_outside_the_heap_has_the_name_of_its_buffer(void **state)
{
	struct loaded *m = load("Buffers", "open", CODE_BYTES);

	add_store(m, LC_STORE_OF_CALL, LC_STORE_FIELD, "Buffers.map");
	begin_path("java.nio.DirectByteBuffer" LC_OFFHEAP_SUFFIX);
	add_frame("Buffers", "open", CALL_BCI);
	expect_field("Buffers.map");
}

/* A row whose value is an element so many levels deep of what is stored. */
static void add_levels(struct loaded *m, uint8_t source, uint8_t kind, const char *name,
                       int8_t levels)
{
	add_store(m, source, kind, name);
	m->rows[m->rows_len - 1].levels = levels;
}

/* A method may pass its argument to itself, and many times. */
static void calls_that_arguments_are_followed_into_are_bounded(void **state)
{
	struct loaded *m = load("a.Fans", "out", CODE_BYTES);
	const char *const name = "a.Fans.out";

	for (unsigned i = 0; i < LC_SITE_NAMES_MAX + 3; i++)
		add_store(m, LC_STORE_OF_PARAMETER, LC_STORE_ARGUMENT, name);
	m = load("a.Calls", "make", CODE_BYTES);
	for (unsigned i = 0; i < LC_SITE_NAMES_MAX + 3; i++)
		add_store(m, LC_STORE_OF_ARRAY, LC_STORE_ARGUMENT, name);
	begin_path("int[]");
	add_frame("a.Calls", "make", LEAF_BCI);
	found_calls = 0;
	expect_names(1, &(struct lc_site_names_one){ name, LC_NAME_ARGUMENT });
	assert_in_range(found_calls, 1, 64);
}

/* Lucene's mapped files: an array of buffers is returned, and passed to a method, which keeps one.
 */
static void a_block_in_an_array_has_the_name_of_what_keeps_its_element(void **state)
{
	add_levels(load("a.Map", "make", CODE_BYTES), LC_STORE_OF_CALL, LC_STORE_RETURNED, "", 1);
	add_store(load("a.Open", "make", CODE_BYTES), LC_STORE_OF_CALL, LC_STORE_ARGUMENT,
	          "a.Input.create");
	add_levels(load("a.Input", "create", CODE_BYTES), LC_STORE_OF_PARAMETER, LC_STORE_ARGUMENT,
	           "a.Single.<init>", -1);
	add_store(load("a.Single", "<init>", CODE_BYTES), LC_STORE_OF_PARAMETER, LC_STORE_FIELD,
	          "a.Single.buffer");
	begin_path("mapped f (off-heap)");
	add_frame("a.Map", "make", CALL_BCI);
	add_frame("a.Open", "make", CALL_BCI);
	expect_field("a.Single.buffer");
	/* Methods that only use it are no names. */
	add_store(load("a.Uses", "make", CODE_BYTES), LC_STORE_OF_CALL, LC_STORE_ARGUMENT,
	          "a.B.scan");
	begin_path("mapped f (off-heap)");
	add_frame("a.Uses", "make", CALL_BCI);
	expect_names(0, NULL);
	/* It may be another array than the one that is kept. */
	add_store(load("a.Rows", "make", CODE_BYTES), LC_STORE_OF_ARRAY, LC_STORE_ARGUMENT,
	          "a.Input.create");
	begin_path("int[]");
	add_frame("a.Rows", "make", LEAF_BCI);
	expect_names(1, &(struct lc_site_names_one){ "a.Input.create", LC_NAME_ARGUMENT });
}

/* Netty asks for an address, and makes a buffer of it. */
static void a_block_of_an_address_has_the_name_of_the_buffer_that_is_returned(void **state)
{
	load("a.Address", "make", CODE_BYTES);
	add_store(load("a.Arena", "make", CODE_BYTES), LC_STORE_OF_CALL, LC_STORE_FIELD,
	          "a.Arena.memory");
	begin_path("native memory (off-heap)");
	add_frame("a.Address", "make", CALL_BCI);
	methods[1].signature = "(I)Ljava/nio/ByteBuffer;";
	add_frame("a.Arena", "make", CALL_BCI);
	expect_field("a.Arena.memory");
	methods[1].signature = "(I)J";
	expect_names(0, NULL);
}

static void a_site_without_a_path_has_no_name(void **state)
{
	struct lc_site_names_one names[LC_SITE_NAMES_MAX];

	begin_path("int[]");
	site.path = 0;
	expect_names(0, NULL);
	assert_int_equal(lc_site_names_of(NULL, 2, names), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_is_the_name_of_the_hook_behind_it_too),
		cmocka_unit_test(a_method_is_read_once),
		cmocka_unit_test(of_two_versions_the_length_of_the_code_tells_which_is_meant),
		cmocka_unit_test(a_result_has_the_name_that_the_outermost_caller_gives_it),
		cmocka_unit_test(a_chain_of_callers_is_followed_so_far_and_ends),
		cmocka_unit_test(more_names_than_there_is_room_for_are_left_out),
		cmocka_unit_test(a_method_whose_class_is_gone_gives_no_name),
		cmocka_unit_test(an_argument_has_the_name_of_the_field_that_keeps_it),
		cmocka_unit_test(a_method_without_room_is_counted),
		cmocka_unit_test(a_block_outside_the_heap_has_the_name_of_its_buffer),
		cmocka_unit_test(calls_that_arguments_are_followed_into_are_bounded),
		cmocka_unit_test(a_block_in_an_array_has_the_name_of_what_keeps_its_element),
		cmocka_unit_test(a_block_of_an_address_has_the_name_of_the_buffer_that_is_returned),
		cmocka_unit_test(a_site_without_a_path_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
