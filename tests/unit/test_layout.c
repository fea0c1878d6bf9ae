/* uses: src/jvm/layout/layout_classes.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layout.c - checks what is known of classes and threads, under the names that each JDK has
 * for it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/vmstructs.h"

struct name {
	const char *type, *field;
};

static struct lc_layout layout;
static uint64_t base = UINT64_C(0x7e0000000000);
static int32_t shift = 10, klass_offset = 48, size_offset;
static struct name class_base, class_shift; /* as this JDK has them */
static const char *os_thread_in;            /* the type that has _osthread */

const struct lc_layout *lc_layout(void)
{
	return &layout;
}

void *lc_vm_static(const char *type, const char *field)
{
	if (!strcmp(type, class_base.type) && !strcmp(field, class_base.field))
		return &base;
	if (!strcmp(type, class_shift.type) && !strcmp(field, class_shift.field))
		return &shift;
	if (!strcmp(field, "_klass_offset"))
		return &klass_offset;
	return strcmp(field, "_oop_size_offset") != 0 ? NULL : &size_offset;
}

long lc_vm_offset(const char *type, const char *field)
{
	static const struct {
		const char *type, *field;
		long offset;
	} known[] = {
		{ "Thread", "_tlab", 256 },
		{ "ThreadLocalAllocBuffer", "_start", 8 },
		{ "ThreadLocalAllocBuffer", "_top", 16 },
		{ "OSThread", "_thread_id", 4 },
	};

	if (!strcmp(field, "_osthread"))
		return os_thread_in && !strcmp(type, os_thread_in) ? 8 : -ENOENT;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(type, known[i].type) && !strcmp(field, known[i].field))
			return known[i].offset;
	return -ENOENT;
}

static intptr_t how_hashed;
static int64_t hash_mask; /* 0: no constant is known */

int lc_vm_constant(const char *name, int64_t *out)
{
	if (hash_mask && !strcmp(name, "markWord::hash_mask"))
		*out = hash_mask;
	else if (hash_mask && !strcmp(name, "markWord::hash_shift"))
		*out = 8;
	else
		return -ENOENT;
	return 0;
}

const void *lc_vm_flag(const char *name)
{
	return strcmp(name, "hashCode") != 0 ? NULL : &how_hashed;
}

static int setup(void **state)
{
	layout = (struct lc_layout){ .length_offset = 12 };
	class_base = (struct name){ "CompressedKlassPointers", "_base" };
	class_shift = (struct name){ "CompressedKlassPointers", "_shift" };
	shift = 10;
	os_thread_in = "Thread";
	how_hashed = 5;
	hash_mask = 0x7fffffff;
	return 0;
}

static void class_words_are_known_under_the_names_of_every_jdk(void **state)
{
	lc_layout_classes(&layout);
	assert_int_equal(layout.class_words, LC_CLASS_WORDS_KNOWN);
	assert_int_equal(layout.klass_base, base);
	assert_int_equal(layout.klass_shift, 10);
	class_base.field = "_narrow_klass._base";
	class_shift.field = "_narrow_klass._shift";
	lc_layout_classes(&layout);
	assert_int_equal(layout.class_words, LC_CLASS_WORDS_KNOWN);
	class_base.type = class_shift.type = "Universe";
	lc_layout_classes(&layout);
	assert_int_equal(layout.class_words, LC_CLASS_WORDS_JDK_11);
	assert_int_equal(layout.klass_base, base);
}

static void a_base_without_a_shift_or_with_an_absurd_one_is_unknown(void **state)
{
	shift = 32;
	lc_layout_classes(&layout);
	assert_int_equal(layout.class_words, LC_CLASS_WORDS_UNKNOWN);
	shift = 3;
	class_shift.field = "_of_tomorrow";
	lc_layout_classes(&layout);
	assert_int_equal(layout.class_words, LC_CLASS_WORDS_UNKNOWN);
}

static void what_is_not_exported_is_minus_one(void **state)
{
	lc_layout_classes(&layout);
	assert_int_equal(layout.thread_tlab_start, 264);
	assert_int_equal(layout.thread_tlab_top, 272);
	assert_int_equal(layout.thread_tlab_end, -1);
	assert_int_equal(layout.class_klass, 48);
	assert_int_equal(layout.class_size, -1); /* the JVM has not set it */
	assert_true(layout.klass_name < 0);
	assert_false(layout.references_known);
	assert_int_equal(layout.mark_unused, 0);
}

static void a_java_thread_leads_to_its_kernel_thread(void **state)
{
	struct {
		int32_t pad, tid;
	} os_thread = { 0, 4711 };
	struct {
		uint64_t pad, os_thread;
	} java_thread = { 0, (uintptr_t)&os_thread };

	lc_layout_classes(&layout);
	assert_int_equal(lc_layout_thread_tid((uintptr_t)&java_thread), 4711);
	assert_int_equal(lc_layout_thread_tid(0), -ENOENT);
	os_thread.tid = 0; /* it has not begun */
	assert_int_equal(lc_layout_thread_tid((uintptr_t)&java_thread), -ENOENT);
	java_thread.os_thread = 0;
	assert_int_equal(lc_layout_thread_tid((uintptr_t)&java_thread), -ENOENT);
	java_thread.os_thread = (uintptr_t)&os_thread;
	os_thread.tid = 1;
	os_thread_in = "JavaThread"; /* up to JDK 17 */
	lc_layout_classes(&layout);
	assert_int_equal(lc_layout_thread_tid((uintptr_t)&java_thread), 1);
	os_thread_in = NULL;
	lc_layout_classes(&layout);
	assert_int_equal(lc_layout_thread_tid((uintptr_t)&java_thread), -ENOENT);
}

static void hash_bits_are_known_where_hashes_are_random(void **state)
{
	assert_int_equal(lc_layout_hash_bits(), UINT64_C(0x7fffffff) << 8);
	how_hashed = 2; /* -XX:hashCode=2: all are 1 */
	assert_int_equal(lc_layout_hash_bits(), 0);
	how_hashed = 5;
	hash_mask = 0x1ffffff; /* another layout */
	assert_int_equal(lc_layout_hash_bits(), 0);
	hash_mask = 0;
	assert_int_equal(lc_layout_hash_bits(), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		TEST(hash_bits_are_known_where_hashes_are_random),
		TEST(class_words_are_known_under_the_names_of_every_jdk),
		TEST(a_base_without_a_shift_or_with_an_absurd_one_is_unknown),
		TEST(what_is_not_exported_is_minus_one),
		TEST(a_java_thread_leads_to_its_kernel_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
