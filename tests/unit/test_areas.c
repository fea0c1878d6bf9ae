/* uses: src/jvm/layout/areas.c src/jvm/layout/areas_generations.c src/jvm/layout/areas_g1.c src/jvm/layout/collector.c src/jvm/layout/ranges.c src/jvm/layout/vmstructs.c -Wl,--export-dynamic src/jvm/os/guard.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_areas.c - checks how the heap's layout is read from type tables and spaces that this test
 * lays out. It is longer than 600 lines, because all collectors share these tables.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>

#include "src/gc/moves.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"

#define EXPORT __attribute__((visibility("default")))

/* HotSpot's tables, with entries in an order of our own. */
struct field_entry {
	uint64_t offset;
	const char *field;
	int32_t is_static;
	void *address;
	const char *type;
	const char *kind; /* the field's own type */
};
struct type_entry {
	uint64_t size;
	const char *name;
};
struct int_entry {
	const char *name;
	int32_t value;
};
struct long_entry {
	int64_t value;
	const char *name;
};

static struct field_entry fields[80];
static struct type_entry types[4];
static struct int_entry ints[20];
static struct long_entry longs[2];
static size_t fields_len, ints_len;

#define TABLE(name, v)                                                                             \
	EXPORT extern uint64_t name;                                                               \
	uint64_t name = v
EXPORT extern void *gHotSpotVMStructs, *gHotSpotVMTypes, *gHotSpotVMIntConstants,
    *gHotSpotVMLongConstants;
void *gHotSpotVMStructs = fields;
void *gHotSpotVMTypes = types;
void *gHotSpotVMIntConstants = ints;
void *gHotSpotVMLongConstants = longs;
TABLE(gHotSpotVMStructEntryArrayStride, sizeof(struct field_entry));
TABLE(gHotSpotVMStructEntryTypeNameOffset, offsetof(struct field_entry, type));
TABLE(gHotSpotVMStructEntryFieldNameOffset, offsetof(struct field_entry, field));
TABLE(gHotSpotVMStructEntryIsStaticOffset, offsetof(struct field_entry, is_static));
TABLE(gHotSpotVMStructEntryOffsetOffset, offsetof(struct field_entry, offset));
TABLE(gHotSpotVMStructEntryAddressOffset, offsetof(struct field_entry, address));
TABLE(gHotSpotVMStructEntryTypeStringOffset, offsetof(struct field_entry, kind));
TABLE(gHotSpotVMTypeEntryArrayStride, sizeof(struct type_entry));
TABLE(gHotSpotVMTypeEntryTypeNameOffset, offsetof(struct type_entry, name));
TABLE(gHotSpotVMTypeEntrySizeOffset, offsetof(struct type_entry, size));
TABLE(gHotSpotVMIntConstantEntryArrayStride, sizeof(struct int_entry));
TABLE(gHotSpotVMIntConstantEntryNameOffset, offsetof(struct int_entry, name));
TABLE(gHotSpotVMIntConstantEntryValueOffset, offsetof(struct int_entry, value));
TABLE(gHotSpotVMLongConstantEntryArrayStride, sizeof(struct long_entry));
TABLE(gHotSpotVMLongConstantEntryNameOffset, offsetof(struct long_entry, name));
TABLE(gHotSpotVMLongConstantEntryValueOffset, offsetof(struct long_entry, value));

struct flag {
	void *address;
	const char *name;
};

static bool use[6];

const struct lc_layout *lc_layout(void)
{
	static const struct lc_layout layout;

	return &layout;
}

static struct flag flags[] = {
	{ &use[0], "UseSerialGC" },  { &use[1], "UseParallelGC" },   { &use[2], "UseG1GC" },
	{ &use[3], "UseEpsilonGC" }, { &use[4], "UseShenandoahGC" }, { &use[5], "UseZGC" },
};
static void *flags_at = flags;
static uint64_t flags_len = sizeof(flags) / sizeof(flags[0]);

static struct {
	const void *table; /* of virtual functions, in libjvm */
	uint64_t start, words;
	uint32_t total, full; /* collections */
	uint64_t word[40];    /* whatever the collector keeps in its heap object */
} heap;
static void *heap_at = &heap;

struct space {
	uint64_t bottom, top, end;
};

static struct space eden, from, to, old;
static struct {
	struct space *eden, *from, *to;
	int32_t runs;
} young;
static struct {
	struct space *space;
	void *unused[2];
	int32_t runs; /* at the same offset as in young: both are of one superclass */
} tenured;
static void *young_at = &young, *tenured_at = &tenured;
static uint8_t cards[64]; /* of 512 bytes each */
static struct {
	uint8_t *base;
} card_table;
static struct {
	void *table;
} barrier_set;
static void *barrier_set_at = &barrier_set;

struct region {
	uint64_t bottom, top, end;
	uint32_t tag;
	uint64_t pinned; /* objects */
};
static struct region region[8];
static struct region *regions[8];

static bool slid;

static void add_field(const char *type, const char *field, uint64_t offset)
{
	fields[fields_len++] =
	    (struct field_entry){ .type = type, .field = field, .offset = offset };
}

static void add_static(const char *type, const char *field, void *address)
{
	fields[fields_len++] = (struct field_entry){
		.type = type, .field = field, .is_static = 1, .address = address
	};
}

static void add_int(const char *name, int32_t value)
{
	ints[ints_len++] = (struct int_entry){ name, value };
}

static void add_common(void)
{
	add_static("JVMFlag", "flags", &flags_at);
	add_static("JVMFlag", "numFlags", &flags_len);
	add_field("JVMFlag", "_addr", offsetof(struct flag, address));
	add_field("JVMFlag", "_name", offsetof(struct flag, name));
	types[0] = (struct type_entry){ sizeof(struct flag), "JVMFlag" };
	add_static("Universe", "_collectedHeap", &heap_at);
	add_field("CollectedHeap", "_reserved", offsetof(__typeof__(heap), start));
	add_field("MemRegion", "_start", 0);
	add_field("MemRegion", "_word_size", 8);
	add_field("CollectedHeap", "_total_collections", offsetof(__typeof__(heap), total));
}

static int setup(void **state)
{
	memset(fields, 0, sizeof(fields));
	memset(ints, 0, sizeof(ints));
	memset(use, 0, sizeof(use));
	memset(&heap, 0, sizeof(heap));
	memset(region, 0, sizeof(region));
	fields_len = ints_len = 0;
	slid = false;
	heap.table = &heap;
	heap.start = 0x1000;
	heap.words = 0x7000 / 8;
	eden = (struct space){ 0x1000, 0x1800, 0x2000 };
	from = (struct space){ 0x2000, 0x2100, 0x3000 };
	to = (struct space){ 0x3000, 0x3000, 0x4000 };
	old = (struct space){ 0x4000, 0x5000, 0x8000 };
	young.eden = &eden;
	young.from = &from;
	young.to = &to;
	young.runs = tenured.runs = 0;
	tenured.space = &old;
	memset(cards, 0, sizeof(cards));
	card_table.base = cards;
	barrier_set.table = &card_table;
	add_common();
	return lc_vm_init();
}

static void add_young(const char *type)
{
	add_field(type, "_eden_space", 0);
	add_field(type, "_from_space", 8);
	add_field(type, "_to_space", 16);
	add_static("BarrierSet", "_barrier_set", &barrier_set_at);
	add_field("CardTableBarrierSet", "_card_table", 0);
	add_field("CardTable", "_byte_map_base", 0);
	add_int("CardTable::card_shift", 9);
}

static void make_serial(bool counts_runs)
{
	const char *type = counts_runs ? "GenCollectedHeap" : "SerialHeap";

	use[0] = true;
	heap.word[0] = (uintptr_t)&young;
	heap.word[1] = (uintptr_t)&tenured;
	add_field(type, "_young_gen", offsetof(__typeof__(heap), word));
	add_field(type, "_old_gen", offsetof(__typeof__(heap), word) + 8);
	add_field("TenuredGeneration", "_the_space", 0);
	add_young("DefNewGeneration");
	if (counts_runs) {
		add_field("Generation", "_stat_record", 16);
		add_field("Generation::StatRecord", "invocations", 8);
		add_field("Space", "_bottom", 0);
		add_field("Space", "_end", 16);
	} else {
		add_field("ContiguousSpace", "_bottom", 0);
		add_field("ContiguousSpace", "_end", 16);
	}
	add_field("ContiguousSpace", "_top", 8);
	assert_int_equal(lc_areas_init(), 0);
	assert_int_equal(lc_collector(), LC_GC_SERIAL);
}

static void make_parallel_of(bool since_27)
{
	use[1] = true;
	if (since_27) {
		heap.word[0] = (uintptr_t)&young;
		heap.word[1] = (uintptr_t)&tenured;
		add_field("ParallelScavengeHeap", "_young_gen", offsetof(__typeof__(heap), word));
		add_field("ParallelScavengeHeap", "_old_gen", offsetof(__typeof__(heap), word) + 8);
	} else {
		add_static("ParallelScavengeHeap", "_young_gen", &young_at);
		add_static("ParallelScavengeHeap", "_old_gen", &tenured_at);
	}
	add_field("PSOldGen", "_object_space", 0);
	add_young("PSYoungGen");
	add_field("MutableSpace", "_bottom", 0);
	add_field("MutableSpace", "_top", 8);
	add_field("MutableSpace", "_end", 16);
	assert_int_equal(lc_areas_init(), 0);
	assert_string_equal(lc_collector_name(), "Parallel");
}

static void make_parallel(void)
{
	make_parallel_of(false);
}

static void make_g1(void)
{
	use[2] = true;
	add_field("G1CollectedHeap", "_hrm", offsetof(__typeof__(heap), word));
	add_field("HeapRegionManager", "_regions", 8);
	add_field("G1HeapRegionTable", "_base", 8);
	add_field("G1HeapRegionTable", "_length", 16);
	add_field("HeapRegion", "_bottom", offsetof(struct region, bottom));
	add_field("HeapRegion", "_top", offsetof(struct region, top));
	add_field("HeapRegion", "_end", offsetof(struct region, end));
	add_field("HeapRegion", "_type", 16);
	add_field("HeapRegionType", "_tag", offsetof(struct region, tag) - 16);
	add_int("HeapRegionType::FreeTag", 0);
	add_int("HeapRegionType::EdenTag", 2);
	add_int("HeapRegionType::SurvTag", 3);
	add_int("HeapRegionType::HumongousMask", 4);
	add_int("HeapRegionType::StartsHumongousTag", 12);
	heap.word[2] = (uintptr_t)regions;
	heap.word[3] = 8;
	for (size_t i = 0; i < 8; i++) {
		region[i] =
		    (struct region){ 0x1000 * (i + 1), 0x1000 * (i + 1), 0x1000 * (i + 2), 0, 0 };
		regions[i] = &region[i];
	}
	regions[7] = NULL;
	assert_int_equal(lc_areas_init(), 0);
	assert_int_equal(lc_collector(), LC_GC_G1);
}

static void fill(size_t i, uint32_t tag, uint64_t bytes)
{
	region[i].tag = tag;
	region[i].top = region[i].bottom + bytes;
}

/* The area that begins at `bottom`; none is a failure. */
static struct lc_area area_at(uint64_t bottom)
{
	struct lc_area out[16];
	size_t len = lc_areas_take(out, 16, slid);

	assert_true(len <= 16);
	for (size_t i = 0; i < len; i++)
		if (i)
			assert_true(out[i - 1].end <= out[i].bottom);
	for (size_t i = 0; i < len; i++)
		if (out[i].bottom == bottom)
			return out[i];
	fail();
	return out[0];
}

static void swap_survivors(void)
{
	struct space *s = young.from;

	young.from = young.to;
	young.to = s;
}

static void the_generations_of_parallel_are_found_where_jdk_27_has_them(void **state)
{
	struct lc_area of_26[8], of_27[8];
	size_t len;

	make_parallel_of(false);
	len = lc_areas_look(of_26, 8);
	setup(state);
	make_parallel_of(true);
	assert_int_equal(lc_areas_look(of_27, 8), len);
	assert_memory_equal(of_26, of_27, len * sizeof(*of_26));
}

static void names_what_it_cannot_follow(void **state)
{
	use[5] = true;
	assert_int_equal(lc_areas_init(), -ENOTSUP);
	assert_string_equal(lc_collector_name(), "Z");
	use[5] = false;
	use[4] = true;
	assert_int_equal(lc_areas_init(), -ENOTSUP);
	assert_string_equal(lc_collector_name(), "Shenandoah");
	use[4] = false;
	assert_int_equal(lc_areas_init(), -ENOTSUP);
	assert_int_equal(lc_collector(), LC_GC_UNKNOWN);
	assert_int_equal(lc_areas_take(NULL, 0, slid), 0);
	assert_int_equal(lc_areas_collections(), 0);
}

static void a_missing_field_is_an_error(void **state)
{
	use[1] = true;
	assert_int_equal(lc_areas_init(), -ENOENT);
	fields_len -= 1; /* CollectedHeap::_total_collections */
	memset(&fields[fields_len], 0, sizeof(fields[0]));
	assert_int_equal(lc_areas_init(), -ENOENT);
}

static void knows_the_heaps_range_and_how_many_areas_there_are(void **state)
{
	make_parallel();
	assert_int_equal(lc_ranges_heap().low, 0x1000);
	assert_int_equal(lc_ranges_heap().high, 0x8000);
	assert_int_equal(lc_areas_take(NULL, 0, slid), 4);
}

static void an_evacuated_eden_holds_nothing_though_new_memory_is_handed_out(void **state)
{
	make_parallel();
	lc_areas_begin();
	heap.total++;
	swap_survivors();
	eden.top = 0x1400; /* a thread's new buffer */
	assert_int_equal(area_at(0x1000).top, 0x1000);
	assert_int_equal(area_at(0x4000).top, 0x5000);
	assert_int_equal(area_at(0x4000).flags, 0);
	assert_int_equal(lc_areas_collections(), 1);
}

static void parallel_keeps_eden_where_a_collection_gave_up(void **state)
{
	make_parallel();
	lc_areas_begin();
	heap.total++;
	assert_int_equal(area_at(0x1000).top, 0x1800);
	lc_areas_begin();
	assert_int_equal(area_at(0x1000).top, 0x1800); /* and where nothing ran */
	assert_int_equal(area_at(0x4000).flags, 0);
}

static void after_a_full_collection_the_cards_tell_whether_young_is_empty(void **state)
{
	make_parallel();
	lc_areas_begin();
	heap.total += 2;
	slid = true;
	swap_survivors();
	assert_int_equal(area_at(0x1000).top, 0x1800);
	assert_int_equal(area_at(0x1000).flags, LC_AREA_COMPACTED);
	cards[0x4000 >> 9] = 0xff;
	assert_int_equal(area_at(0x1000).top, 0x1000);
	assert_int_equal(area_at(0x4000).flags, LC_AREA_COMPACTED);
}

static void serial_that_gave_up_is_known_by_its_eden_or_its_to_space(void **state)
{
	make_serial(false);
	lc_areas_begin();
	heap.total++;
	swap_survivors(); /* to is the old from, not empty */
	assert_int_equal(area_at(0x1000).top, 0x1800);
	from.top = from.bottom;
	assert_int_equal(area_at(0x1000).top, 0x1800); /* eden as full as before */
	eden.top = 0x1200;
	assert_int_equal(area_at(0x1000).top, 0x1000);
}

static void serials_own_counts_tell_a_full_collection(void **state)
{
	make_serial(true);
	lc_areas_begin();
	heap.total++;
	young.runs++;
	assert_int_equal(lc_areas_collections(), 1);
	swap_survivors();
	from.top = from.bottom;
	eden.top = 0x1200;
	assert_int_equal(area_at(0x4000).flags, 0);
	old.top = 0x5000;
	lc_areas_begin();
	young.runs++;
	swap_survivors();
	slid = true;
	assert_int_equal(area_at(0x4000).flags, LC_AREA_COMPACTED);
}

static void g1_keeps_eden_in_a_pause_that_only_counts_itself(void **state)
{
	make_g1();
	fill(1, 2, 0x800);
	fill(3, 16, 0x1000);
	lc_areas_begin();
	heap.total++; /* cleanup does */
	assert_int_equal(lc_areas_collections(), 0);
	assert_int_equal(area_at(0x2000).kind, LC_AREA_EDEN);
	assert_int_equal(area_at(0x2000).top, 0x2800);
	assert_int_equal(area_at(0x4000).flags, 0);
}

static void g1_leaves_new_eden_out_after_a_collection(void **state)
{
	struct lc_area out[8];

	make_g1();
	fill(1, 2, 0x800);
	lc_areas_begin();
	fill(1, 2, 0); /* freed, and handed out again */
	fill(2, 3, 0x100);
	fill(4, 16, 0x1000); /* was eden: an evacuation failed in it */
	assert_int_equal(lc_areas_collections(), 1);
	assert_int_equal(lc_areas_take(out, 8, slid), 2);
	assert_int_equal(out[0].kind, LC_AREA_SURVIVOR);
	assert_int_equal(out[0].top, 0x3100);
	assert_int_equal(out[1].kind, LC_AREA_OLD);
	assert_int_equal(out[1].flags, 0);
	fill(2, 0, 0);
	lc_areas_begin(); /* no young region with anything in it: the heap's count decides */
	assert_int_equal(lc_areas_collections(), 0);
	heap.total++;
	assert_int_equal(lc_areas_collections(), 1);
	assert_int_equal(area_at(0x5000).flags, 0); /* all survivors went to old memory */
	heap.full++;
	assert_int_equal(area_at(0x5000).flags, LC_AREA_COMPACTED);
}

static size_t stuck(struct lc_area out[8], bool *all)
{
	uint64_t regions_now;

	return lc_areas_stuck(out, 8, all, &regions_now);
}

static void objects_are_stuck_in_all_areas_if_g1_has_no_region_left(void **state)
{
	uint64_t before = 0, after = 0;
	struct lc_area out[8];
	bool all;

	make_g1();
	for (size_t i = 0; i < 7; i++)
		fill(i, i < 3 ? 2 : 16, 0x1000);
	lc_areas_begin();
	assert_int_equal(stuck(out, &all), 0); /* the last region can be committed */
	regions[7] = &region[7];
	region[7].tag = 0;
	assert_int_equal(stuck(out, &all), 0); /* it is free */
	fill(7, 3, 0x100);
	assert_int_equal(stuck(out, &all), 3); /* joined */
	assert_true(all);
	assert_int_equal(out[0].kind, LC_AREA_EDEN);
	assert_int_equal(out[1].kind, LC_AREA_OLD);
	assert_int_equal(lc_areas_stuck(out, 8, &all, &before), 3);
	fill(7, 3, 0x200);
	assert_int_equal(lc_areas_stuck(out, 8, &all, &after), 3);
	assert_true(before != after);
	region[1].tag = 0;
	assert_int_equal(stuck(out, &all), 0);
	assert_false(all);
}

static void objects_are_stuck_in_young_regions_that_are_pinned(void **state)
{
	struct lc_area out[8];
	bool all;

	add_field("G1HeapRegion", "_pinned_object_count", offsetof(struct region, pinned));
	make_g1();
	fill(1, 2, 0x800);
	fill(2, 3, 0x800);
	fill(3, 16, 0x800);
	region[1].pinned = region[3].pinned = 1; /* the old one is not evacuated */
	lc_areas_begin();
	assert_int_equal(stuck(out, &all), 1);
	assert_false(all);
	assert_int_equal(out[0].bottom, 0x2000);
	assert_int_equal(out[0].kind, LC_AREA_EDEN);
	region[1].pinned = 0; /* other threads have let go of it: G1 knows late */
	region[2].pinned = 2;
	assert_int_equal(stuck(out, &all), 1);
	assert_int_equal(out[0].bottom, 0x3000);
	fill(2, 16, 0x800); /* when the evacuation ends, it is old, and was young */
	assert_int_equal(stuck(out, &all), 1);
	fill(4, 3, 0x800); /* survivors of this collection */
	region[4].pinned = 1;
	assert_int_equal(stuck(out, &all), 1);
}

static void g1_joins_full_neighbours_and_no_humongous_ones(void **state)
{
	struct lc_area out[8];

	make_g1();
	fill(0, 16, 0x1000);
	fill(1, 16, 0x1000);
	fill(2, 16, 0x500);
	fill(3, 16, 0x1000);
	fill(4, 12, 0x1000);
	fill(5, 13, 0x1000);
	fill(6, 12, 0x1000);
	lc_areas_begin();
	assert_int_equal(lc_areas_take(out, 8, slid), 5);
	assert_int_equal(out[0].bottom, 0x1000);
	assert_int_equal(out[0].top, 0x3500);
	assert_int_equal(out[0].end, 0x4000);
	assert_int_equal(out[1].bottom, 0x4000);
	assert_int_equal(out[2].kind, LC_AREA_HUMONGOUS);
	assert_int_equal(out[3].kind, LC_AREA_HUMONGOUS_CONT);
	assert_int_equal(out[4].kind, LC_AREA_HUMONGOUS);
	assert_true(lc_areas_take(out, 2, slid) > 2);
}

static void epsilon_is_one_area(void **state)
{
	struct lc_area out;

	use[3] = true;
	heap.word[0] = (uintptr_t)&old;
	add_field("EpsilonHeap", "_space", offsetof(__typeof__(heap), word));
	add_field("ContiguousSpace", "_bottom", 0);
	add_field("ContiguousSpace", "_top", 8);
	add_field("ContiguousSpace", "_end", 16);
	assert_int_equal(lc_areas_init(), 0);
	lc_areas_begin();
	assert_int_equal(lc_areas_take(&out, 1, slid), 1);
	assert_int_equal(out.top, 0x5000);
	assert_int_equal(lc_areas_collections(), 0);
}

static void the_tables_answer_by_name(void **state)
{
	int64_t v;
	uint64_t low, high;

	add_int("an int", -3);
	longs[0] = (struct long_entry){ INT64_C(1) << 40, "a long" };
	assert_int_equal(lc_vm_constant("an int", &v), 0);
	assert_int_equal(v, -3);
	assert_int_equal(lc_vm_constant("a long", &v), 0);
	assert_int_equal(v, INT64_C(1) << 40);
	assert_int_equal(lc_vm_constant("no such thing", &v), -ENOENT);
	assert_int_equal(lc_vm_sizeof("JVMFlag"), sizeof(struct flag));
	assert_int_equal(lc_vm_sizeof("Thread"), -ENOENT);
	assert_int_equal(lc_vm_offset("Universe", "_collectedHeap"), -ENOENT);
	assert_null(lc_vm_static("JVMFlag", "_name"));
	assert_null(lc_vm_flag("UseNothing"));
	assert_ptr_equal(lc_vm_flag("UseZGC"), &use[5]);
	assert_int_equal(lc_vm_library_range(&low, &high), 0);
	assert_true(low <= (uintptr_t)&gHotSpotVMStructs && (uintptr_t)&gHotSpotVMStructs < high);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		TEST(the_generations_of_parallel_are_found_where_jdk_27_has_them),
		TEST(names_what_it_cannot_follow),
		TEST(a_missing_field_is_an_error),
		TEST(knows_the_heaps_range_and_how_many_areas_there_are),
		TEST(an_evacuated_eden_holds_nothing_though_new_memory_is_handed_out),
		TEST(parallel_keeps_eden_where_a_collection_gave_up),
		TEST(after_a_full_collection_the_cards_tell_whether_young_is_empty),
		TEST(serial_that_gave_up_is_known_by_its_eden_or_its_to_space),
		TEST(serials_own_counts_tell_a_full_collection),
		TEST(g1_keeps_eden_in_a_pause_that_only_counts_itself),
		TEST(g1_leaves_new_eden_out_after_a_collection),
		TEST(objects_are_stuck_in_all_areas_if_g1_has_no_region_left),
		TEST(objects_are_stuck_in_young_regions_that_are_pinned),
		TEST(g1_joins_full_neighbours_and_no_humongous_ones),
		TEST(epsilon_is_one_area),
		TEST(the_tables_answer_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
