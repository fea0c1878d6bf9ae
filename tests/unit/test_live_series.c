/* uses: src/attribute/live_series.c src/heap/estimate_sums.c src/heap/map.c src/heap/map_store.c src/heap/map_order.c src/offheap/blocks.c src/offheap/granules.c src/core/memory.c src/base/limit.c src/base/say.c -lJudy -lpthread -lm -Wl,--wrap=clock_gettime */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_live_series.c - checks what is written of live objects: least numbers, few rows, each once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "src/attribute/live_series.h"
#include "src/core/memory.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/heap/estimate.h"
#include "src/heap/map.h"
#include "src/heap/map_impl.h"
#include "src/offheap/blocks.h"
#include "src/profile/tally.h"

#define MS UINT64_C(1000000)
#define HEAP UINT64_C(0x700000000)

enum { SITE = 7, OTHER = 8, BLOCKS = 9, WORDS = 4, ROWS_MAX = 4096, AGES_MAX = 64, HELD_MAX = 8 };

static struct lc_map *map;
static struct lc_thread thread;
static struct lc_block_live rows[ROWS_MAX];
static size_t rows_len;
static struct lc_block_age ages[AGES_MAX];
static size_t ages_len;
static bool refuses;
static struct lc_estimate_held held[HELD_MAX];
static size_t held_len;
static uint64_t now;

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

/* Passes take no CPU time, so that each is in time. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	if (clock != CLOCK_THREAD_CPUTIME_ID)
		return __real_clock_gettime(clock, out);
	*out = (struct timespec){ 0 };
	return 0;
}

int lc_tally_live(struct lc_tally *t, const struct lc_block_live *row)
{
	if (refuses)
		return -1;
	assert_in_range(rows_len, 0, ROWS_MAX - 1);
	rows[rows_len++] = *row;
	return 0;
}

int lc_tally_age(struct lc_tally *t, const struct lc_block_age *row)
{
	if (refuses)
		return -1;
	assert_in_range(ages_len, 0, AGES_MAX - 1);
	ages[ages_len++] = *row;
	return 0;
}

void lc_estimate_live(lc_estimate_live_fn *add, void *user)
{
	for (size_t i = 0; i < held_len; i++)
		add(user, &held[i]);
}

static int setup(void **state)
{
	lc_memory_limit(UINT64_MAX);
	now += 1000000 * MS;
	rows_len = ages_len = held_len = 0;
	refuses = false;
	lc_live_series_again(now);
	lc_live_series_look(NULL, now, true); /* forget the last test's map */
	lc_live_series_end();
	lc_live_series_take(&thread);
	lc_live_series_again(now);
	rows_len = ages_len = 0;
	return lc_map_create(&map);
}

static int teardown(void **state)
{
	lc_map_destroy(map);
	return 0;
}

static void put(size_t i, uint32_t site)
{
	assert_int_equal(
	    lc_map_put_over(map, HEAP + i * WORDS * 8,
	                    (struct lc_map_entry){ .size_words = WORDS, .site = site }),
	    0);
}

/* A collection, and a pass after it. */
static void collect(uint64_t after_ms, bool old)
{
	now += after_ms * MS;
	lc_live_series_collected(1000, old);
	lc_live_series_look(map, now, false);
}

static void take(void)
{
	lc_live_series_take(&thread);
}

/* The rows of a site. */
static size_t rows_of(uint32_t site, enum lc_live_kind kind, struct lc_block_live *last)
{
	size_t n = 0;

	for (size_t i = 0; i < rows_len; i++)
		if (rows[i].site == site && rows[i].kind == kind) {
			n++;
			*last = rows[i];
		}
	return n;
}

static void a_stretch_has_the_least_that_a_site_held(void **state)
{
	struct lc_block_live row = { 0 };
	const uint64_t begin = now + 10 * MS;

	put(0, SITE);
	put(1, SITE);
	collect(10, false);
	lc_map_remove(map, HEAP);
	collect(5, true);
	put(2, SITE);
	put(3, SITE);
	collect(5, false);
	collect(20, false); /* the next stretch */
	take();
	assert_int_equal(rows_of(SITE, LC_LIVE_LEAST, &row), 1);
	assert_int_equal(row.time_ns, begin);
	assert_int_equal(row.objects, 1);
	assert_int_equal(row.bytes, WORDS * 8);
	assert_int_equal(rows_of(0, LC_LIVE_LEAST, &row), 1);
	assert_int_equal(row.objects, 3); /* collections */
	assert_int_equal(row.sampled, 1); /* of old objects */
	assert_int_equal(row.bytes, 1000);
	assert_int_equal(rows_of(OTHER, LC_LIVE_LEAST, &row), 0);
}

/* A program that collects five times a second needs no more than that for a curve. */
static void each_of_the_first_collections_has_a_stretch(void **state)
{
	struct lc_block_live row = { 0 };

	for (size_t i = 0; i < 24; i++) {
		put(i, SITE);
		collect(200, true);
	}
	lc_live_series_end();
	take();
	assert_int_equal(rows_of(SITE, LC_LIVE_LEAST, &row), 24);
	assert_int_equal(row.objects, 24);
}

static void a_site_that_holds_as_much_has_no_further_row(void **state)
{
	struct lc_block_live row = { 0 };

	put(0, SITE);
	for (unsigned i = 0; i < 20; i++)
		collect(300, false);
	take();
	assert_int_equal(rows_of(SITE, LC_LIVE_LEAST, &row), 1);
	assert_int_equal(rows_of(0, LC_LIVE_LEAST, &row), 19);
	lc_map_remove(map, HEAP);
	collect(300, false);
	collect(300, false);
	take();
	assert_int_equal(rows_of(SITE, LC_LIVE_LEAST, &row), 2);
	assert_int_equal(row.objects, 0);
}

static void rows_stay_few_however_long_the_recording_is(void **state)
{
	struct lc_block_live row = { 0 };

	for (size_t i = 0; i < 100000; i++) { /* 28 hours */
		put(i, SITE);
		collect(1000, false);
		if (i % 100 == 0)
			take();
	}
	/* 64 in the first minute, and 32 for each doubling after that. */
	assert_in_range(rows_of(SITE, LC_LIVE_LEAST, &row), 64, 64 + 17 * 32);
}

static void what_is_live_at_the_end_is_written_with_what_is_younger(void **state)
{
	const struct lc_alloc records[] = {
		{ .tagged_addr = HEAP | UINT64_C(3) << LC_ADDR_BITS,
		  .size_words = WORDS,
		  .site = OTHER },
		{ .tagged_addr = HEAP | UINT64_C(2) << LC_ADDR_BITS,
		  .size_words = WORDS,
		  .site = OTHER },
	};
	const struct lc_nursery_run run = { records, 2 };
	struct lc_block_live row = { 0 };

	put(0, SITE);
	lc_blocks_allocated(0x10000, 4096, BLOCKS);
	lc_blocks_allocated(0x20000, 4096, BLOCKS);
	lc_blocks_freed(0x20000);
	held[held_len++] = (struct lc_estimate_held){ SITE, 16, 0.5, 1, 1, 0, NULL };
	held[held_len++] = (struct lc_estimate_held){ OTHER, 16, 0.5, 0, 1, 0, NULL };
	collect(100, false);
	lc_live_series_look(map, now, true);
	lc_live_series_young(&run, 1, 3, now);
	lc_live_series_end();
	take();
	assert_int_equal(rows_of(SITE, LC_LIVE_NOW, &row), 1);
	assert_int_equal(row.objects, 1);
	assert_int_equal(row.sampled, 1);
	assert_int_equal(row.objects_milli, 2000);
	assert_int_equal(row.estimated_bytes, 32);
	assert_int_equal(rows_of(BLOCKS, LC_LIVE_NOW, &row), 1);
	assert_int_equal(row.objects, 1);
	assert_int_equal(row.bytes, 4096);
	assert_int_equal(rows_of(OTHER, LC_LIVE_NOW, &row), 0);
	assert_int_equal(rows_of(OTHER, LC_LIVE_YOUNG, &row), 1);
	assert_int_equal(row.objects, 1); /* a record of another epoch is stale */
	assert_int_equal(row.bytes, WORDS * 8);
	assert_int_equal(row.sampled, 1);
	lc_blocks_freed(0x10000);
}

/* The JVM of a program that has ended may take seconds to end, too. */
static void the_end_of_the_recording_is_no_point(void **state)
{
	struct lc_block_live row = { 0 };

	for (size_t i = 0; i < 5; i++) {
		lc_blocks_allocated(0x10000 * (i + 1), 4096, BLOCKS);
		collect(200, true);
	}
	now += 3000 * MS;
	lc_live_series_look(map, now, true);
	lc_live_series_end();
	take();
	assert_int_equal(rows_of(0, LC_LIVE_LEAST, &row), 5);
	assert_int_equal(rows_of(BLOCKS, LC_LIVE_LEAST, &row), 5);
	assert_int_equal(row.time_ns, now - 3000 * MS);
	assert_int_equal(rows_of(BLOCKS, LC_LIVE_NOW, &row), 1);
	assert_int_equal(row.objects, 5);
	for (size_t i = 0; i < 5; i++)
		lc_blocks_freed(0x10000 * (i + 1));
}

/* Objects made before each of ten collections, one more each time; and one after them. */
static void ages_are_fifths_of_the_collections(void **state)
{
	size_t objects = 0;

	for (uint32_t made = 1; made <= 10; made++) {
		for (uint32_t i = 0; i < made; i++)
			assert_int_equal(
			    lc_map_allocated(map, HEAP + objects++ * WORDS * 8, WORDS, SITE), 0);
		lc_map_cycle(map);
		lc_live_series_collected(1000, true);
	}
	assert_int_equal(lc_map_allocated(map, HEAP + objects * WORDS * 8, WORDS, OTHER), 0);
	held[held_len++] = (struct lc_estimate_held){ SITE, 16, 0.25, 3, 4, 0, NULL };
	held[held_len++] = (struct lc_estimate_held){ SITE, 16, 0.25, 0, 4, 0, NULL };
	lc_live_series_look(map, now, true);
	lc_live_series_end();
	refuses = true;
	take();
	assert_int_equal(ages_len, 0);
	refuses = false;
	take();
	take();
	assert_int_equal(ages_len, 2);
	assert_int_equal(ages[0].site, SITE);
	assert_int_equal(ages[0].time_ns, now);
	assert_int_equal(ages[0].objects_milli[0], (10 + 9) * 1000); /* youngest */
	assert_int_equal(ages[0].objects_milli[1], (8 + 7) * 1000);
	assert_int_equal(ages[0].objects_milli[2], (6 + 5) * 1000);
	assert_int_equal(ages[0].objects_milli[3], (4 + 3) * 1000 + 4000);
	assert_int_equal(ages[0].objects_milli[4], (2 + 1) * 1000);
	assert_int_equal(ages[1].site, OTHER);
	assert_int_equal(ages[1].objects_milli[0], 1000);
}

static bool is_not(const void *site, uint32_t other)
{
	return *(const uint32_t *)site != other;
}

static void the_sites_that_hold_most_come_first(void **state)
{
	const uint32_t none = 0, other = OTHER;
	uint32_t sites[3];

	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(lc_map_allocated(map, HEAP + i * 64, 4, SITE), 0);
	assert_int_equal(lc_map_allocated(map, HEAP + 4096, 100, OTHER), 0);
	assert_int_equal(lc_map_allocated(map, HEAP + 8192, 1, OTHER + 10), 0);
	lc_live_series_look(map, now, true);
	assert_int_equal(lc_live_series_most(is_not, &none, sites, 3), 3);
	assert_int_equal(sites[0], OTHER);
	assert_int_equal(sites[1], SITE);
	assert_int_equal(sites[2], OTHER + 10);
	assert_int_equal(lc_live_series_most(is_not, &other, sites, 1), 1);
	assert_int_equal(sites[0], SITE);
}

static void sites_that_grow_come_before_larger_ones(void **state)
{
	const uint32_t none = 0;
	uint32_t sites[3];

	assert_int_equal(lc_map_allocated(map, HEAP + 4096, 100, OTHER), 0);
	assert_int_equal(lc_map_allocated(map, HEAP + 8192, 1, OTHER + 10), 0);
	for (unsigned i = 0; i < 200; i++) {
		collect(20, false);
		if (i == 190)
			put(0, SITE);
	}
	assert_int_equal(lc_live_series_most(is_not, &none, sites, 3), 3);
	assert_int_equal(sites[0], SITE);
	assert_int_equal(sites[1], OTHER);
	assert_int_equal(sites[2], OTHER + 10);
}

static void a_row_that_finds_no_memory_comes_again(void **state)
{
	struct lc_block_live row = { 0 };

	put(0, SITE);
	collect(100, false);
	lc_live_series_end();
	refuses = true;
	take();
	assert_int_equal(rows_len, 0);
	refuses = false;
	take();
	take();
	assert_int_equal(rows_of(SITE, LC_LIVE_LEAST, &row), 1);
}

static void the_next_profile_has_its_own_series(void **state)
{
	struct lc_block_live row = { 0 };

	put(0, SITE);
	collect(100, false);
	lc_live_series_end();
	lc_live_series_again(now);
	collect(100, false);
	lc_live_series_end();
	take();
	assert_int_equal(rows_of(SITE, LC_LIVE_LEAST, &row), 2);
}

/* The map's sums are those of a walk through all its objects, whatever happens to these. */
static void sums_by_site_are_those_of_the_objects(void **state)
{
	uint64_t random = 1;

	for (unsigned round = 0; round < 20000; round++) {
		struct lc_map_live sums[OTHER + 1] = { 0 };
		const struct lc_map_live *live;
		struct lc_object o;
		uint64_t at = 0;
		size_t len;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		switch (random >> 60) {
		case 0:
			lc_map_remove_range(map, HEAP + (random >> 40 & 0xfff8),
			                    HEAP + (random >> 40 & 0xfff8) + 256);
			break;
		case 1:
			lc_map_set_site(map, HEAP + (random >> 40 & 0x1ff8), OTHER);
			break;
		case 2:
			if (!(random >> 50 & 63))
				lc_map_forget_all(map);
			break;
		default:
			assert_int_equal(lc_map_put_over(map, HEAP + (random >> 40 & 0xfff8),
			                                 (struct lc_map_entry){
			                                     .size_words = 2 + (random >> 30 & 31),
			                                     .site = SITE + (random >> 35 & 1) }),
			                 0);
		}
		if (round % 100)
			continue;
		while (lc_map_next(map, &at, &o)) {
			sums[o.site].objects++;
			sums[o.site].bytes += o.size_bytes;
		}
		live = lc_map_live(map, &len);
		for (uint32_t site = SITE; site <= OTHER; site++) {
			assert_int_equal(site < len ? live[site].objects : 0, sums[site].objects);
			assert_int_equal(site < len ? live[site].bytes : 0, sums[site].bytes);
		}
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stretch_has_the_least_that_a_site_held),
		TEST(each_of_the_first_collections_has_a_stretch),
		TEST(a_site_that_holds_as_much_has_no_further_row),
		TEST(rows_stay_few_however_long_the_recording_is),
		TEST(what_is_live_at_the_end_is_written_with_what_is_younger),
		TEST(the_end_of_the_recording_is_no_point),
		TEST(ages_are_fifths_of_the_collections),
		TEST(the_sites_that_hold_most_come_first),
		TEST(sites_that_grow_come_before_larger_ones),
		TEST(a_row_that_finds_no_memory_comes_again),
		TEST(the_next_profile_has_its_own_series),
		TEST(sums_by_site_are_those_of_the_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
