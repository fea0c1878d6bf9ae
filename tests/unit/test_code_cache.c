/* uses: src/jvm/code/code_cache.c -lpthread src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_code_cache.c - checks that generated code is found while it lives, by readers that never
 * wait.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/jvm/code/code_cache.h"
#include "src/jvm/code/code_headers.h"
#include "src/jvm/layout/ranges.h"

/* A code cache that the JVM exports; nothing in these tests reads its bytes. */
static uint64_t cache_low = 0x7f0000000000, cache_high = 0x7f0010000000;

struct lc_range lc_ranges_code(void)
{
	return (struct lc_range){ cache_low, cache_high };
}

/* The JVM's own tables: one compiled method, where they can be read. */
static struct lc_code_header header;
static bool headers;

bool lc_code_headers_known(void)
{
	return headers;
}

bool lc_code_headers_find(uint64_t pc, struct lc_code_header *out)
{
	if (!headers || pc < header.start || pc >= header.end)
		return false;
	*out = header;
	return true;
}

uint64_t lc_code_headers_method(uint64_t pc)
{
	return pc >= header.start && pc < header.end ? 0x4560 : 0;
}

uint64_t lc_code_headers_boundary(uint64_t pc, uint64_t limit)
{
	return pc >= header.start && pc < header.end && limit >= header.start + 0x20
	           ? header.start + 0x20
	           : 0;
}

static const void *at(uint64_t offset)
{
	return (const void *)(uintptr_t)(cache_low + offset);
}

static void load(uint64_t offset, jint size)
{
	lc_code_cache_compiled_method_load(NULL, size, at(offset), 0, NULL, NULL);
}

static void unload(uint64_t offset)
{
	lc_code_cache_compiled_method_unload(NULL, at(offset));
}

static void stub(const char *name, uint64_t offset, jint size)
{
	lc_code_cache_dynamic_code_generated(name, at(offset), size);
}

static unsigned kind_at(uint64_t offset)
{
	struct lc_code_cache_piece code;

	return lc_code_cache_find(cache_low + offset, &code) ? code.kind : 0;
}

static int init(void **state)
{
	return lc_code_cache_init();
}

static void method_is_found_from_its_first_to_its_last_byte_only(void **state)
{
	struct lc_code_cache_piece code;

	load(0x10020, 0x321);
	assert_int_equal(kind_at(0x1001f), 0);
	assert_int_equal(kind_at(0x10020), LC_CODE_METHOD);
	assert_int_equal(kind_at(0x10340), LC_CODE_METHOD);
	assert_int_equal(kind_at(0x10341), 0);
	assert_true(lc_code_cache_find(cache_low + 0x10100, &code));
	assert_int_equal(code.start, cache_low + 0x10020);
	assert_int_equal(code.end, cache_low + 0x10341);
	unload(0x10020);
	assert_int_equal(kind_at(0x10100), 0);
}

static void code_is_of_the_method_it_was_compiled_for(void **state)
{
	jmethodID first = (jmethodID)(uintptr_t)0x1230, second = (jmethodID)(uintptr_t)0x4560;

	lc_code_cache_compiled_method_load(first, 0x100, at(0xc0000), 0, NULL, NULL);
	assert_int_equal(lc_code_cache_method(cache_low + 0xc0000), 0x1230);
	assert_int_equal(lc_code_cache_method(cache_low + 0xc00ff), 0x1230);
	assert_int_equal(lc_code_cache_method(cache_low + 0xc0100), 0);
	unload(0xc0000);
	assert_int_equal(lc_code_cache_method(cache_low + 0xc0000), 0);
	stub("x", 0xc0000, 0x100);
	assert_int_equal(lc_code_cache_method(cache_low + 0xc0000), 0);
	lc_code_cache_compiled_method_load(second, 0x100, at(0xd0000), 0, NULL, NULL);
	assert_int_equal(lc_code_cache_method(cache_low + 0xd0010), 0x4560);
}

static void next_code_at_an_address_has_another_life(void **state)
{
	struct lc_code_cache_piece first, second;

	load(0x20000, 256);
	assert_true(lc_code_cache_find(cache_low + 0x20000, &first));
	unload(0x20000);
	load(0x20000, 256);
	assert_true(lc_code_cache_find(cache_low + 0x20000, &second));
	assert_true(first.life != second.life);
	unload(0x20000);
}

static void lost_unload_event_does_not_hide_new_code(void **state)
{
	struct lc_code_cache_piece code;

	load(0x30000, 1024);
	load(0x30100, 1024);
	assert_true(lc_code_cache_find(cache_low + 0x30180, &code));
	assert_int_equal(code.start, cache_low + 0x30100);
	assert_int_equal(kind_at(0x30000), 0); /* overwritten: gone as a whole */
	unload(0x30000);
	assert_int_equal(kind_at(0x30180), LC_CODE_METHOD);
	unload(0x30100);
}

static void boundaries_come_from_the_debug_information(void **state)
{
	const jvmtiAddrLocationMap map[] = { { at(0x40010), 0 },
		                             { at(0x40013), 1 },
		                             { at(0x40095), 2 },
		                             { at(0x3fff0), 3 },
		                             { at(0x40400), 4 } };
	struct lc_code_cache_piece code;

	lc_code_cache_compiled_method_load(NULL, 0x400, at(0x40000), 5, map, NULL);
	assert_true(lc_code_cache_find(cache_low + 0x40000, &code));
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x40000), cache_low + 0x40000);
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x4000f), cache_low + 0x40000);
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x40010), cache_low + 0x40010);
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x40094), cache_low + 0x40013);
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x403ff), cache_low + 0x40095);
	unload(0x40000);
	load(0x40000, 0x400); /* nothing of the old marks is left */
	assert_true(lc_code_cache_find(cache_low + 0x40000, &code));
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x403ff), cache_low + 0x40000);
	unload(0x40000);
}

static void stubs_that_share_a_granule_are_both_found(void **state)
{
	struct lc_code_cache_piece code;

	stub("jbyte_fill", 0x50000, 0x29);
	stub("jint_fill", 0x50080, 0x100);
	stub("jshort_fill", 0x50030, 0x70); /* between, touching both */
	assert_int_equal(kind_at(0x50010), LC_CODE_STUB);
	assert_int_equal(kind_at(0x50060), LC_CODE_STUB);
	assert_int_equal(kind_at(0x50170), LC_CODE_STUB);
	assert_true(lc_code_cache_find(cache_low + 0x50170, &code));
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x50170), cache_low + 0x50080);
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x5007f), cache_low + 0x50030);
}

static void same_stub_again_keeps_its_life(void **state)
{
	struct lc_code_cache_piece first, second;

	stub("vtable stub", 0x60000, 0x20);
	assert_true(lc_code_cache_find(cache_low + 0x60000, &first));
	stub("vtable stub", 0x60000, 0x20);
	assert_true(lc_code_cache_find(cache_low + 0x60000, &second));
	assert_true(first.life == second.life);
}

static void names_tell_the_kinds_apart(void **state)
{
	static const char *const runtime[] = {
		"SafepointBlob",
		"_new_instance_Java",
		"new_instance Runtime1 stub",
		"C2 Runtime new_array",
		"resolve_virtual_call",
		"ic_miss_stub",
		"StackOverflowError throw_exception",
		"InlineCacheBuffer",
	};

	stub("Interpreter", 0x70000, 0x1000);
	stub("_invokeBasic", 0x70100, 0x40); /* reported on its own, inside */
	assert_int_equal(kind_at(0x70110), LC_CODE_INTERPRETER);
	assert_int_equal(kind_at(0x70fff), LC_CODE_INTERPRETER);
	for (unsigned i = 0; i < sizeof(runtime) / sizeof(*runtime); i++) {
		stub(runtime[i], 0x80000 + i * 0x100, 0x80);
		assert_int_equal(kind_at(0x80000 + i * 0x100), LC_CODE_RUNTIME);
	}
	stub("jlong_disjoint_arraycopy_avx3", 0x90000, 0x200);
	assert_int_equal(kind_at(0x90000), LC_CODE_STUB);
	stub("I2C/C2I adapters(0xbeb)", 0x91000, 0x200);
	assert_int_equal(kind_at(0x91000), LC_CODE_STUB);
}

static void code_outside_the_cache_and_empty_code_are_ignored(void **state)
{
	lc_code_cache_compiled_method_load(NULL, 64, (const void *)(uintptr_t)0x1000, 0, NULL,
	                                   NULL);
	lc_code_cache_compiled_method_load(
	    NULL, 1 << 20, (const void *)(uintptr_t)(cache_high - 64), 0, NULL, NULL);
	load(0xa0000, 0);
	stub("x", 0xa0000, -1);
	unload(0xa0000);
	lc_code_cache_compiled_method_unload(NULL, (const void *)(uintptr_t)0x1000);
	assert_int_equal(kind_at(0xa0000), 0);
	assert_int_equal(kind_at(cache_high - 64 - cache_low), 0);
	assert_false(lc_code_cache_in_cache(cache_low - 1));
	assert_true(lc_code_cache_in_cache(cache_low));
	assert_false(lc_code_cache_in_cache(cache_high));
}

/* Two shapes of code alternate at one place; a reader must see one or the other, whole. */
enum { TURNS = 30000, TURNS_MAX = 100 * TURNS };

static _Atomic bool done, read_once;

static void *change_code(void *unused)
{
	/* On a busy machine the reader may come late. */
	for (int i = 0; i < TURNS || (i < TURNS_MAX && !atomic_load(&read_once)); i++) {
		load(0xb0000, 0x800);
		unload(0xb0000);
		load(0xb0040, 0x1000);
		unload(0xb0040);
	}
	atomic_store(&done, true);
	return unused;
}

static void readers_never_see_a_mixture(void **state)
{
	pthread_t writer;
	struct lc_code_cache_piece code;
	uint64_t seen = 0;

	assert_int_equal(pthread_create(&writer, NULL, change_code, NULL), 0);
	while (!atomic_load(&done)) {
		if (!lc_code_cache_find(cache_low + 0xb0100, &code))
			continue;
		seen++;
		atomic_store(&read_once, true);
		if (code.start == cache_low + 0xb0000)
			assert_int_equal(code.end, cache_low + 0xb0800);
		else
			assert_int_equal(code.end, cache_low + 0xb1040);
		assert_in_range(lc_code_cache_boundary(&code, cache_low + 0xb0100), code.start,
		                cache_low + 0xb0100);
	}
	pthread_join(writer, NULL);
	assert_true(seen > 0);
}

/* The tables of the JVM come first; stubs are in ours alone. */
static void compiled_methods_of_the_jvms_tables(void **state)
{
	struct lc_code_cache_piece code;

	header = (struct lc_code_header){ .blob = cache_low + 0x60000,
		                          .start = cache_low + 0x60080,
		                          .end = cache_low + 0x60200,
		                          .life = 7 };
	stub("old", 0x60080, 0x40); /* which was there before, and was freed */
	stub("arraycopy", 0x61000, 0x40);
	headers = true;
	assert_true(lc_code_cache_find(cache_low + 0x60090, &code));
	assert_int_equal(code.kind, LC_CODE_METHOD);
	assert_int_equal(code.start, cache_low + 0x60080);
	assert_int_equal(code.end, cache_low + 0x60200);
	assert_int_equal(code.life, 7);
	assert_int_equal(lc_code_cache_method(cache_low + 0x60090), 0x4560);
	assert_int_equal(lc_code_cache_method(cache_low + 0x61000), 0);
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x600ff), cache_low + 0x600a0);
	assert_int_equal(lc_code_cache_boundary(&code, cache_low + 0x60090), cache_low + 0x60080);
	assert_int_equal(kind_at(0x61010), LC_CODE_STUB);
	headers = false;
	assert_int_equal(kind_at(0x60090), LC_CODE_STUB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(method_is_found_from_its_first_to_its_last_byte_only),
		cmocka_unit_test(code_is_of_the_method_it_was_compiled_for),
		cmocka_unit_test(next_code_at_an_address_has_another_life),
		cmocka_unit_test(lost_unload_event_does_not_hide_new_code),
		cmocka_unit_test(boundaries_come_from_the_debug_information),
		cmocka_unit_test(stubs_that_share_a_granule_are_both_found),
		cmocka_unit_test(same_stub_again_keeps_its_life),
		cmocka_unit_test(names_tell_the_kinds_apart),
		cmocka_unit_test(code_outside_the_cache_and_empty_code_are_ignored),
		cmocka_unit_test(compiled_methods_of_the_jvms_tables),
		cmocka_unit_test(readers_never_see_a_mixture),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
