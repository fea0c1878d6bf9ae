/* uses: src/jvm/layout/collector.c src/jvm/layout/ranges.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ranges.c - checks the collector and the JVM's ranges, from a type database that this test
 * answers for.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"

static const char *collector_flag; /* "UseG1GC" */
static bool on = true, off;
static struct {
	uint64_t table; /* of virtual functions, in libjvm */
	uint64_t start, words;
	uint32_t total;
} heap;
static uint64_t heap_at, code_low, code_high, mask;
static uint32_t card_bytes;
static struct {
	uint64_t byte_map_base;
} card_table;
static struct {
	uint64_t card_table;
} barrier_set;
static struct {
	uint64_t mask_at, good_at, bad_at;
} z_globals;
static uint64_t good, bad; /* colours of references in memory */
static uint64_t barrier_set_at, z_globals_at;
static bool generations; /* of ZGC */
static struct lc_layout layout;

const struct lc_layout *lc_layout(void)
{
	return &layout;
}

const void *lc_vm_flag(const char *name)
{
	if (!strcmp(name, "GCCardSizeInBytes"))
		return card_bytes ? &card_bytes : NULL;
	return collector_flag && !strcmp(name, collector_flag) ? &on : &off;
}

int lc_vm_constant(const char *name, int64_t *out)
{
	assert_string_equal(name, "CardTable::card_shift");
	if (card_bytes)
		return -ENOENT;
	*out = 9;
	return 0;
}

void *lc_vm_static(const char *type, const char *field)
{
	static const struct {
		const char *type, *field;
		uint64_t *at;
	} known[] = {
		{ "Universe", "_collectedHeap", &heap_at },
		{ "CodeCache", "_low_bound", &code_low },
		{ "CodeCache", "_high_bound", &code_high },
		{ "BarrierSet", "_barrier_set", &barrier_set_at },
		{ "ZGlobalsForVMStructs", "_instance_p", &z_globals_at },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(type, known[i].type) && !strcmp(field, known[i].field))
			return known[i].at;
	return NULL;
}

long lc_vm_offset(const char *type, const char *field)
{
	if (!strcmp(field, "_word_size"))
		return 8;
	if (!strcmp(field, "_reserved"))
		return offsetof(__typeof__(heap), start);
	if (!strcmp(field, "_total_collections"))
		return offsetof(__typeof__(heap), total);
	if (!strcmp(field, "_ZAddressBadMask"))
		return generations ? -ENOENT : 16;
	if (!strcmp(field, "_ZPointerLoadGoodMask"))
		return generations ? 8 : -ENOENT;
	if (!strcmp(field, "_ZPointerLoadBadMask"))
		return generations ? 16 : -ENOENT;
	return 0;
}

int lc_vm_library_range(uint64_t *low, uint64_t *high)
{
	*low = 0x7000;
	*high = 0x8000;
	return 0;
}

static int setup(void **state)
{
	heap.table = 0x7010;
	heap.start = UINT64_C(0x700000000);
	heap.words = 0x1000 / 8;
	heap.total = 3;
	heap_at = (uintptr_t)&heap;
	code_low = UINT64_C(0x7f0000000000);
	code_high = code_low + 0x1000;
	layout.class_words = LC_CLASS_WORDS_KNOWN;
	layout.klass_base = UINT64_C(0x7e0000000000);
	card_table.byte_map_base = UINT64_C(0x100000000);
	barrier_set.card_table = (uintptr_t)&card_table;
	barrier_set_at = (uintptr_t)&barrier_set;
	mask = (UINT64_C(1) << 42) - 1;
	z_globals.mask_at = (uintptr_t)&mask;
	z_globals.good_at = (uintptr_t)&good;
	z_globals.bad_at = (uintptr_t)&bad;
	good = 0x1000;
	bad = 0xe000;
	z_globals_at = (uintptr_t)&z_globals;
	collector_flag = "UseG1GC";
	card_bytes = 0;
	generations = false;
	return 0;
}

static void init(void)
{
	lc_collector_init();
	assert_int_equal(lc_ranges_init(), 0);
}

static void an_address_is_the_heaps_or_the_jvms_or_nobodys(void **state)
{
	const uint64_t cards = card_table.byte_map_base + (heap.start >> 9);

	init();
	assert_int_equal(lc_ranges_heap().low, heap.start);
	assert_int_equal(lc_ranges_heap().high, heap.start + 0x1000);
	assert_int_equal(lc_ranges_owner(heap.start), LC_RANGE_HEAP);
	assert_int_equal(lc_ranges_owner(heap.start + 0xfff), LC_RANGE_HEAP);
	assert_int_equal(lc_ranges_owner(heap.start + 0x1000), LC_RANGE_NOBODY);
	assert_int_equal(lc_ranges_owner(code_low), LC_RANGE_JVM);
	assert_int_equal(lc_ranges_owner(code_high), LC_RANGE_NOBODY);
	assert_int_equal(lc_ranges_owner(layout.klass_base + UINT32_MAX), LC_RANGE_JVM);
	assert_int_equal(lc_ranges_owner(layout.klass_base - 1), LC_RANGE_NOBODY);
	assert_int_equal(lc_ranges_owner(cards), LC_RANGE_JVM);
	assert_int_equal(lc_ranges_owner(cards + 8), LC_RANGE_NOBODY);
	assert_int_equal(lc_ranges_library().high, 0x8000);
}

static void cards_are_as_large_as_the_jvm_says(void **state)
{
	card_bytes = 1024;
	init();
	assert_int_equal(lc_ranges_card_table().shift, 10);
	assert_int_equal(lc_ranges_owner(card_table.byte_map_base + (heap.start >> 10)),
	                 LC_RANGE_JVM);
	assert_int_equal(lc_ranges_owner(card_table.byte_map_base + (heap.start >> 9)),
	                 LC_RANGE_NOBODY);
}

static void a_collector_without_card_marks_has_no_card_table(void **state)
{
	collector_flag = "UseShenandoahGC";
	init();
	assert_int_equal(lc_ranges_card_table().base, 0);
	assert_int_equal(lc_ranges_owner(card_table.byte_map_base + (heap.start >> 9)),
	                 LC_RANGE_NOBODY);
}

static void the_heap_of_zgc_is_a_power_of_two_of_addresses(void **state)
{
	const uint64_t low = UINT64_C(1) << 42;

	collector_flag = "UseZGC";
	init();
	assert_int_equal(lc_ranges_owner(low - 1), LC_RANGE_NOBODY);
	assert_int_equal(lc_ranges_owner(8 * low - 1), LC_RANGE_HEAP);
	generations = true;
	init();
	assert_int_equal(lc_ranges_owner(2 * low - 1), LC_RANGE_HEAP);
	assert_int_equal(lc_ranges_owner(2 * low), LC_RANGE_NOBODY);
	assert_int_equal(lc_ranges_heap().low, heap.start); /* as it is reserved */
}

static void an_object_of_zgc_has_one_plain_address(void **state)
{
	const uint64_t low = UINT64_C(1) << 42, offset = 0x12345678;

	collector_flag = "UseZGC";
	init();
	assert_true(lc_ranges_views_known());
	assert_int_equal(lc_ranges_objects().low, low);
	assert_int_equal(lc_ranges_objects().high, 8 * low);
	for (unsigned view = 0; view < 3; view++) {
		assert_int_equal(lc_ranges_plain((low << view) + offset), low + offset);
		assert_int_equal(lc_ranges_of_stored((low << view) + offset), low + offset);
	}
	assert_int_equal(lc_ranges_plain(offset), offset); /* no address of the heap */
	z_globals_at = 0;
	init();
	assert_false(lc_ranges_views_known());
}

static void a_reference_of_zgc_with_generations_has_its_address_above_its_colour(void **state)
{
	const uint64_t addr = (UINT64_C(1) << 42) + 0x12345678;

	collector_flag = "UseZGC";
	generations = true;
	init();
	assert_int_equal(lc_ranges_plain(addr), addr);
	for (unsigned bit = 12; bit < 16; bit++)
		assert_int_equal(lc_ranges_of_stored(addr << (bit + 1) | 1u << bit | 0x550), addr);
	assert_int_equal(lc_ranges_of_stored(0), 0);
}

static void a_reference_of_zgc_says_whether_it_may_be_old(void **state)
{
	collector_flag = "UseZGC";
	for (int i = 0; i < 2; i++) {
		generations = i;
		good = 0x1000;
		bad = 0xe000;
		init();
		assert_false(lc_ranges_may_be_old(good));
		assert_true(lc_ranges_may_be_old(0x2000));
		good = 0x2000; /* a collection begins */
		bad = 0xd000;
		assert_false(lc_ranges_may_be_old(good));
		assert_true(lc_ranges_may_be_old(0x1000));
	}
	collector_flag = "UseG1GC";
	init();
	assert_false(lc_ranges_may_be_old(UINT64_MAX));
}

static void addresses_of_other_collectors_are_plain(void **state)
{
	init();
	assert_true(lc_ranges_views_known());
	assert_int_equal(lc_ranges_objects().low, lc_ranges_heap().low);
	assert_int_equal(lc_ranges_plain(heap.start + 8), heap.start + 8);
	assert_int_equal(lc_ranges_of_stored(heap.start + 8), heap.start + 8);
}

static void without_a_heap_the_other_ranges_are_known(void **state)
{
	heap_at = 0;
	lc_collector_init();
	assert_null(lc_collector_count());
	assert_int_equal(lc_ranges_init(), -ENOENT);
	assert_int_equal(lc_ranges_owner(code_low), LC_RANGE_JVM);
}

static void the_collector_is_the_one_whose_flag_is_set(void **state)
{
	static const struct {
		const char *flag, *name;
		enum lc_collector id;
		bool unloads;
	} each[] = {
		{ "UseSerialGC", "Serial", LC_GC_SERIAL, false },
		{ "UseParallelGC", "Parallel", LC_GC_PARALLEL, false },
		{ "UseG1GC", "G1", LC_GC_G1, false },
		{ "UseEpsilonGC", "Epsilon", LC_GC_EPSILON, false },
		{ "UseShenandoahGC", "Shenandoah", LC_GC_SHENANDOAH, true },
		{ "UseZGC", "Z", LC_GC_Z, true },
		{ NULL, "unknown", LC_GC_UNKNOWN, true },
	};

	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		collector_flag = each[i].flag;
		lc_collector_init();
		assert_int_equal(lc_collector(), each[i].id);
		assert_string_equal(lc_collector_name(), each[i].name);
		assert_int_equal(lc_collector_unloads_while_running(), each[i].unloads);
		assert_int_equal(lc_collector_heap(), (uintptr_t)&heap);
		assert_int_equal(*lc_collector_count(), 3);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		TEST(an_address_is_the_heaps_or_the_jvms_or_nobodys),
		TEST(cards_are_as_large_as_the_jvm_says),
		TEST(a_collector_without_card_marks_has_no_card_table),
		TEST(the_heap_of_zgc_is_a_power_of_two_of_addresses),
		TEST(an_object_of_zgc_has_one_plain_address),
		TEST(a_reference_of_zgc_with_generations_has_its_address_above_its_colour),
		TEST(a_reference_of_zgc_says_whether_it_may_be_old),
		TEST(addresses_of_other_collectors_are_plain),
		TEST(without_a_heap_the_other_ranges_are_known),
		TEST(the_collector_is_the_one_whose_flag_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
