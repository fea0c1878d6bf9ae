/* uses: src/offheap/smaps.c src/offheap/resident.c src/offheap/resident_anonymous.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_resident.c - reads texts of /proc/PID/smaps, and divides a model of a process: a few areas,
 * some words of its memory, and which of its pages are resident.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/offheap/resident.h"
#include "src/offheap/smaps.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)
#define ARENA UINT64_C(0x7f0000000000)
#define LIBJVM UINT64_C(0x7fff00000000)

/* ---- the model ---- */

static struct {
	struct lc_smaps maps;
	struct {
		uint64_t at, value;
	} words[64];
	size_t words_len;
	struct {
		uint64_t low, high;
	} resident[16];
	size_t resident_len;
	uint64_t asked; /* pages */
	bool no_pages;
	struct lc_resident_range known[8];
	struct lc_blocks_block blocks[8];
	struct lc_resident_given given;
	struct lc_resident_rows out;
} model;

static bool read_model(uint64_t at, void *out, size_t bytes)
{
	memset(out, 0, bytes);
	for (size_t i = 0; i < model.words_len; i++)
		if (model.words[i].at >= at && model.words[i].at < at + bytes)
			memcpy((char *)out + (model.words[i].at - at), &model.words[i].value, 8);
	return true;
}

static bool pages_of_model(uint64_t page, bool *out, size_t len)
{
	model.asked += len;
	for (size_t i = 0; i < len; i++) {
		const uint64_t at = (page + i) * LC_RESIDENT_PAGE;

		out[i] = false;
		for (size_t k = 0; k < model.resident_len; k++)
			out[i] |= at >= model.resident[k].low && at < model.resident[k].high;
	}
	return !model.no_pages;
}

static const char *name_of_block(uint32_t site)
{
	static const char *const names[] = { "direct", "segment", NULL };

	return names[site];
}

static int setup(void **state)
{
	memset(&model, 0, sizeof(model));
	lc_smaps_init(&model.maps);
	model.given = (struct lc_resident_given){
		.maps = &model.maps,
		.known = model.known,
		.blocks = model.blocks,
		.block_name = name_of_block,
		.library = { LIBJVM, LIBJVM + MIB },
		.control_block = UINT64_C(0x7e0000000000) - 2304,
		.read = read_model,
		.pages = pages_of_model,
	};
	return 0;
}

static int teardown(void **state)
{
	lc_smaps_free(&model.maps);
	return 0;
}

static void feed(const char *text)
{
	lc_smaps_feed(&model.maps, text, strlen(text));
}

/* An area that has so much resident memory. */
static void area(uint64_t low, uint64_t bytes, const char *mode, const char *name,
                 uint64_t resident)
{
	char text[512];

	snprintf(text, sizeof(text),
	         "%" PRIx64 "-%" PRIx64 " %s 00000000 fe:00 %d    %s\nSize: 4 kB\nRss:  %" PRIu64
	         " kB\nPss: 4 kB\nVmFlags: rd wr\n",
	         low, low + bytes, mode, *name == '/' ? 12 : 0, name, resident / KIB);
	feed(text);
}

static void word(uint64_t at, uint64_t value)
{
	model.words[model.words_len].at = at;
	model.words[model.words_len++].value = value;
}

static void touch(uint64_t low, uint64_t bytes)
{
	model.resident[model.resident_len].low = low;
	model.resident[model.resident_len++].high = low + bytes;
}

static void know(uint64_t low, uint64_t bytes, uint8_t part)
{
	model.known[model.given.known_len++] = (struct lc_resident_range){ low, low + bytes, part };
}

static void block(uint64_t addr, uint64_t bytes, uint32_t site)
{
	model.blocks[model.given.blocks_len++] = (struct lc_blocks_block){ addr, bytes, site };
}

static const struct lc_resident_row *row(uint8_t part, const char *name)
{
	for (size_t i = 0; i < model.out.len; i++)
		if (model.out.rows[i].part == part && !strcmp(model.out.rows[i].name, name))
			return &model.out.rows[i];
	return NULL;
}

static uint64_t resident(uint8_t part)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < model.out.len; i++)
		sum += model.out.rows[i].part == part ? model.out.rows[i].resident_bytes : 0;
	return sum;
}

/* Divide. The parts add up to what the kernel counts. */
static void divide(uint64_t all)
{
	uint64_t sum = 0;

	assert_int_equal(lc_resident_divide(&model.given, &model.out), 0);
	for (uint8_t part = LC_RESIDENT_HEAP; part <= LC_RESIDENT_REST; part++)
		sum += resident(part);
	assert_int_equal(sum, all);
	assert_int_equal(resident(LC_RESIDENT_ALL), all);
}

/* ---- the text ---- */

static void an_area_has_its_addresses_its_name_and_what_is_resident(void **state)
{
	const char *const text =
	    "7f0000000000-7f0000003000 rw-s 00001000 fe:00 4711     /tmp/a b.bin "
	    "(deleted)\n"
	    "Size:                 12 kB\n"
	    "Rss:                   8 kB\n"
	    "Private_Hugetlb:    2048 kB\n"
	    "VmFlags: rd wr mr mw me ms \n"
	    "7f0000004000-7f0000005000 ---p 00000000 00:00 0 \n"
	    "Rss:                   0 kB\n";
	const struct lc_smaps_area *a;

	for (size_t cut = 0; cut <= strlen(text); cut++) {
		lc_smaps_free(&model.maps);
		lc_smaps_init(&model.maps);
		lc_smaps_feed(&model.maps, text, cut);
		feed(text + cut);
		assert_int_equal(model.maps.areas.len, 2);
		a = lc_smaps_areas(&model.maps);
		assert_int_equal(a[0].low, 0x7f0000000000);
		assert_int_equal(a[0].high, 0x7f0000003000);
		assert_int_equal(a[0].resident_bytes, 2056 * KIB);
		assert_true(a[0].is_file && !a[0].reserved && a[1].reserved && !a[1].is_file);
		assert_string_equal(lc_smaps_name(&model.maps, &a[0]), "/tmp/a b.bin (deleted)");
		assert_string_equal(lc_smaps_name(&model.maps, &a[1]), "");
	}
}

static void text_that_is_none_of_the_kernels_is_no_area(void **state)
{
	static const char *const texts[] = {
		"\n\n\n",
		"Rss: 4 kB\n",
		"zz\n",
		"5000-4000 rw-p 0 0 0 \nRss: 4 kB\n",
		"1-\n-\n1-2\n1-2 \n1-2 rw-p\n",
	};
	char *line = malloc(2 * LC_SMAPS_LINE_MAX);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		feed(texts[i]);
	assert_int_equal(model.maps.areas.len, 0);
	/* A name that is too long: its memory counts, but belongs to nobody. */
	memset(line, 'x', 2 * LC_SMAPS_LINE_MAX);
	memcpy(line, "1000-2000 rw-p 0 0 0 /", 22);
	area(0x1000, 0x1000, "rw-p", "/a", 4 * KIB);
	lc_smaps_feed(&model.maps, line, 2 * LC_SMAPS_LINE_MAX);
	feed("\nRss: 100 kB\n");
	area(0x3000, 0x1000, "rw-p", "/b", 4 * KIB);
	assert_int_equal(model.maps.areas.len, 2);
	assert_int_equal(model.maps.beyond_bytes, 100 * KIB);
	divide(108 * KIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 100 * KIB);
	free(line);
}

static void areas_beyond_the_limit_are_rest(void **state)
{
	for (uint64_t i = 0; i < LC_SMAPS_AREAS_MAX + 10; i++)
		area(MIB + i * 0x2000, 0x1000, "rw-s", "/data", 4 * KIB);
	assert_int_equal(model.maps.areas.len, LC_SMAPS_AREAS_MAX);
	divide((LC_SMAPS_AREAS_MAX + 10) * 4 * KIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 40 * KIB);
	assert_int_equal(row(LC_RESIDENT_FILES, "data")->resident_bytes,
	                 LC_SMAPS_AREAS_MAX * 4 * KIB);
}

/* ---- owners ---- */

static void names_of_files_tell_owners(void **state)
{
	area(0x10000, MIB, "r-xp", "/usr/lib/jvm/bin/java", 4 * KIB);
	area(0x200000, MIB, "r-xp", "/usr/lib/libc.so.6", 8 * KIB);
	area(0x400000, MIB, "r--s", "/usr/lib/jvm/lib/modules", 16 * KIB);
	area(0x600000, MIB, "r-xp", "/opt/liblocus.so", 32 * KIB);
	area(0x800000, MIB, "rw-p", "/usr/lib/jvm/lib/server/classes.jsa", 64 * KIB);
	area(0xa00000, MIB, "rw-s", "/data/_0.cfs", 128 * KIB);
	area(0xc00000, MIB, "rw-s", "/data/_0.cfs", 128 * KIB);
	area(0xe00000, MIB, "rw-p", "[heap]", 256 * KIB);
	area(0x1000000, MIB, "rw-p", "[stack]", 512 * KIB);
	area(0x1200000, 0x2000, "r-xp", "[vdso]", 4 * KIB);
	divide(1152 * KIB);
	assert_int_equal(resident(LC_RESIDENT_LIBRARIES), 32 * KIB);
	assert_int_equal(resident(LC_RESIDENT_LOCUS), 32 * KIB);
	assert_int_equal(resident(LC_RESIDENT_CDS), 64 * KIB);
	assert_int_equal(row(LC_RESIDENT_FILES, "_0.cfs")->resident_bytes, 256 * KIB);
	assert_int_equal(row(LC_RESIDENT_FILES, "_0.cfs")->size_bytes, 2 * MIB);
	assert_int_equal(resident(LC_RESIDENT_MALLOC), 256 * KIB);
	assert_int_equal(resident(LC_RESIDENT_STACKS), 512 * KIB);
}

/* The kernel has joined the memory of three owners. */
static void an_area_of_several_owners_is_divided_by_its_pages(void **state)
{
	area(ARENA + MIB, 3 * MIB, "rw-p", "", 300 * KIB);
	know(ARENA + MIB, MIB, LC_RESIDENT_LOCUS);
	know(ARENA + 2 * MIB, MIB, LC_RESIDENT_CODE);
	touch(ARENA + MIB, 100 * KIB);
	touch(ARENA + 2 * MIB, 40 * KIB);
	touch(ARENA + 3 * MIB, 160 * KIB);
	divide(300 * KIB);
	assert_int_equal(resident(LC_RESIDENT_LOCUS), 100 * KIB);
	assert_int_equal(resident(LC_RESIDENT_CODE), 40 * KIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 160 * KIB);
}

/* Without pages, what the kernel counts is still all there, and no part has more. */
static void without_pages_the_parts_add_up(void **state)
{
	model.no_pages = true;
	area(ARENA + MIB, 3 * MIB, "rw-p", "", 300 * KIB);
	know(ARENA + MIB, MIB, LC_RESIDENT_LOCUS);
	divide(300 * KIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 300 * KIB);
}

static void a_large_heap_is_not_looked_at_page_by_page(void **state)
{
	const uint64_t heap = UINT64_C(64) << 30;

	area(0x1000000000, heap, "rw-p", "", heap);
	know(0x1000000000, heap, LC_RESIDENT_HEAP);
	divide(heap);
	assert_int_equal(resident(LC_RESIDENT_HEAP), heap);
	assert_int_equal(model.asked, 0);
}

static void put_arena(uint64_t at, uint64_t first, uint64_t before, uint64_t bytes)
{
	word(at, first);
	word(at + 8, before);
	word(at + 16, bytes);
	word(at + 24, bytes);
}

static void arenas_of_malloc_begin_with_their_size(void **state)
{
	put_arena(ARENA, ARENA + 0x30, 0, 132 * KIB);
	area(ARENA, 132 * KIB, "rw-p", "", 100 * KIB);
	area(ARENA + 132 * KIB, 64 * MIB - 132 * KIB, "---p", "", 0);
	put_arena(ARENA + 64 * MIB, ARENA + 0x30, ARENA, 64 * MIB); /* the arena's second heap */
	area(ARENA + 64 * MIB, 64 * MIB, "rw-p", "", 8 * MIB);
	area(ARENA + 128 * MIB, MIB, "rw-p", "", 4 * KIB); /* at such an address, but none */
	divide(8 * MIB + 104 * KIB);
	assert_int_equal(resident(LC_RESIDENT_MALLOC), 8 * MIB + 100 * KIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 4 * KIB);
}

/* A stack ends where its thread's control block points to itself; a mapped block lies behind it. */
static void stacks_and_mapped_blocks_are_found_in_one_area(void **state)
{
	const uint64_t low = ARENA + MIB, top = low + MIB, tcb = top - 2304, chunk = top;

	word(low + 300 * KIB, low + 300 * KIB); /* a variable with the same words, elsewhere */
	word(low + 300 * KIB + 8, 1);
	word(low + 300 * KIB + 16, low + 300 * KIB);
	word(tcb, tcb);
	word(tcb + 8, ARENA);
	word(tcb + 16, tcb);
	word(chunk + 8, MIB | 2);
	area(low - 16 * KIB, 16 * KIB, "---p", "", 0);
	area(low, 2 * MIB, "rw-p", "", MIB + 92 * KIB);
	touch(low + 300 * KIB, 4 * KIB);
	touch(top - 88 * KIB, 88 * KIB);
	touch(chunk, MIB);
	divide(MIB + 92 * KIB);
	assert_int_equal(resident(LC_RESIDENT_STACKS), 92 * KIB);
	assert_int_equal(row(LC_RESIDENT_STACKS, "")->size_bytes, MIB);
	assert_int_equal(resident(LC_RESIDENT_MALLOC), MIB);
}

static void a_mapped_block_is_found_behind_other_memory(void **state)
{
	const uint64_t low = ARENA + MIB, chunk = low + 512 * KIB;

	word(chunk + 8, (512 * KIB) | 2);
	area(low, MIB, "rw-p", "", 600 * KIB);
	touch(low, 88 * KIB);
	touch(chunk, 512 * KIB);
	divide(600 * KIB);
	assert_int_equal(resident(LC_RESIDENT_MALLOC), 512 * KIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 88 * KIB);
}

/* The kernel has joined memory of nobody's, and the arena and the metaspace above it. */
static void arenas_and_metaspace_are_found_behind_other_memory(void **state)
{
	const uint64_t low = ARENA - MIB, node = ARENA - 4 * MIB;

	put_arena(ARENA, ARENA + 0x30, 0, 2 * MIB);
	area(low, 3 * MIB, "rw-p", "", MIB + 40 * KIB);
	touch(low, 40 * KIB);
	touch(ARENA, MIB);
	divide(MIB + 40 * KIB);
	assert_int_equal(resident(LC_RESIDENT_MALLOC), MIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 40 * KIB);
	lc_smaps_free(&model.maps);
	setup(state);
	for (uint64_t i = 0; i < 8; i++)
		word(node + i * 64, LIBJVM + 16 * i);
	area(node - MIB, 3 * MIB, "rw-p", "", 340 * KIB);
	touch(node - MIB, 40 * KIB);
	touch(node, 300 * KIB);
	divide(340 * KIB);
	assert_int_equal(resident(LC_RESIDENT_METASPACE), 300 * KIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 40 * KIB);
}

/* Pages stay resident when nobody may use them any more. */
static void reserved_memory_with_pages_counts(void **state)
{
	know(0x10000, 16 * KIB, LC_RESIDENT_CODE);
	area(0x10000, 16 * KIB, "---p", "", 8 * KIB);
	divide(8 * KIB);
	assert_int_equal(resident(LC_RESIDENT_CODE), 8 * KIB);
}

static void blocks_take_what_they_hold_out_of_malloc(void **state)
{
	const uint64_t chunk = ARENA + MIB;

	word(chunk + 8, (MIB) | 2);
	area(chunk, MIB, "rw-p", "", 520 * KIB);
	area(ARENA + 16 * MIB, MIB, "rw-s", "/data/mapped", MIB);
	touch(chunk, 520 * KIB);
	block(chunk + 16, 1000, 0);             /* small: all of it */
	block(chunk + 64 * KIB, 64 * KIB, 1);   /* touched */
	block(chunk + 512 * KIB, 256 * KIB, 1); /* of which 8 KiB are touched */
	block(ARENA + 16 * MIB, MIB, 2);        /* a mapped file is a file */
	divide(520 * KIB + MIB);
	assert_int_equal(row(LC_RESIDENT_BLOCKS, "direct")->resident_bytes, 1000);
	assert_int_equal(row(LC_RESIDENT_BLOCKS, "segment")->resident_bytes, 72 * KIB);
	assert_int_equal(row(LC_RESIDENT_BLOCKS, "segment")->size_bytes, 320 * KIB);
	assert_int_equal(resident(LC_RESIDENT_MALLOC), 448 * KIB - 1000);
	assert_int_equal(row(LC_RESIDENT_FILES, "mapped")->resident_bytes, MIB);
}

static void metaspace_holds_pointers_into_libjvm(void **state)
{
	const uint64_t node = ARENA + 4 * MIB;

	for (uint64_t i = 0; i < 8; i++)
		word(node + i * 64, LIBJVM + 16 * i);
	area(node, 384 * KIB, "rw-p", "", 300 * KIB);
	area(node + 384 * KIB, 60 * MIB, "---p", "", 0);
	area(node + 384 * KIB + 60 * MIB, 64 * KIB, "rw-p", "", 64 * KIB); /* of the same node */
	touch(node, 300 * KIB);
	divide(364 * KIB);
	assert_int_equal(resident(LC_RESIDENT_METASPACE), 364 * KIB);
}

static void classes_lie_behind_the_archive(void **state)
{
	const uint64_t base = ARENA;

	model.given.classes = base;
	model.given.class_space_bytes = 64 * MIB;
	area(base, 12 * MIB, "rw-p", "/lib/classes.jsa", 11 * MIB);
	area(base + 12 * MIB, 4 * MIB, "---p", "", 0);
	area(base + 16 * MIB, 128 * KIB, "rw-p", "", 100 * KIB);
	area(base + 80 * MIB, 128 * KIB, "rw-p", "", 8 * KIB);
	divide(11 * MIB + 108 * KIB);
	assert_int_equal(resident(LC_RESIDENT_CDS), 11 * MIB);
	assert_int_equal(resident(LC_RESIDENT_CLASS_SPACE), 100 * KIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 8 * KIB);
}

/* Heap of 512 MiB: 8 MiB of bitmap, 1 MiB of cards. */
static void the_collectors_tables_have_the_size_that_the_heap_gives_them(void **state)
{
	model.given.heap = (struct lc_range){ 0x80000000, 0x80000000 + 512 * MIB };
	model.given.cards = (struct lc_range){ ARENA + 33 * MIB, ARENA + 34 * MIB };
	area(ARENA + MIB, 6 * MIB, "rw-p", "", 40 * KIB); /* a bitmap */
	area(ARENA + 7 * MIB, 2 * MIB, "---p", "", 0);
	area(ARENA + 20 * MIB, 5 * MIB, "rw-p", "", 4 * KIB);  /* somebody's */
	area(ARENA + 32 * MIB, 3 * MIB, "rw-p", "", 12 * KIB); /* cards and more */
	area(ARENA + 40 * MIB, 3 * MIB, "rw-p", "/usr/lib/libx.so", 12 * KIB);
	area(ARENA + 43 * MIB, MIB, "rw-p", "", 16 * KIB); /* the library's zeroes, not cards */
	divide(84 * KIB);
	assert_int_equal(resident(LC_RESIDENT_GC), 52 * KIB);
	assert_int_equal(resident(LC_RESIDENT_LIBRARIES), 28 * KIB);
	assert_int_equal(resident(LC_RESIDENT_REST), 4 * KIB);
}

static void the_largest_files_keep_their_names(void **state)
{
	char name[32];

	for (uint64_t i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "/data/f%" PRIu64, i);
		area(MIB + i * MIB, MIB, "r--s", name, (i + 1) * 4 * KIB);
	}
	divide(5050 * 4 * KIB);
	assert_int_equal(row(LC_RESIDENT_FILES, "f99")->resident_bytes, 400 * KIB);
	assert_non_null(row(LC_RESIDENT_FILES, "f68"));
	assert_null(row(LC_RESIDENT_FILES, "f67"));
	assert_int_equal(row(LC_RESIDENT_FILES, "")->resident_bytes, 68 * 69 / 2 * 4 * KIB);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_area_has_its_addresses_its_name_and_what_is_resident),
		TEST(text_that_is_none_of_the_kernels_is_no_area),
		TEST(areas_beyond_the_limit_are_rest),
		TEST(names_of_files_tell_owners),
		TEST(an_area_of_several_owners_is_divided_by_its_pages),
		TEST(without_pages_the_parts_add_up),
		TEST(a_large_heap_is_not_looked_at_page_by_page),
		TEST(arenas_of_malloc_begin_with_their_size),
		TEST(stacks_and_mapped_blocks_are_found_in_one_area),
		TEST(a_mapped_block_is_found_behind_other_memory),
		TEST(arenas_and_metaspace_are_found_behind_other_memory),
		TEST(reserved_memory_with_pages_counts),
		TEST(blocks_take_what_they_hold_out_of_malloc),
		TEST(metaspace_holds_pointers_into_libjvm),
		TEST(classes_lie_behind_the_archive),
		TEST(the_collectors_tables_have_the_size_that_the_heap_gives_them),
		TEST(the_largest_files_keep_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
