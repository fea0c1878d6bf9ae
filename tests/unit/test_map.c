/* uses: src/core/stand_back.c src/core/epoch.c src/core/wake.c src/heap/map.c src/heap/map_store.c src/heap/map_close.c src/heap/map_resolve.c tests/fuzz/map_model.c -lJudy -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_map.c - checks the rules of the object map one by one, and all of them against a model heap.
 *
 * The file is longer than 600 lines: each rule has its test, over one set of helpers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <Judy.h>
#include <cmocka.h>

#include "src/heap/map.h"
#include "src/heap/map_impl.h"
#include "tests/fuzz/map_model.h"
#include "tests/unit/failing_memory.h"

/* Allocations that still succeed; -1: all of them. */
static long allocations_left = -1;

static bool allocation_fails(void)
{
	return allocations_left >= 0 && allocations_left-- == 0 && (allocations_left = 0, true);
}

/* libJudy allocates by these, as in the agent. */
#define EXPORT __attribute__((visibility("default")))

static bool judy_fails;

EXPORT Word_t JudyMalloc(Word_t words)
{
	return judy_fails ? 0 : (Word_t)malloc(words * sizeof(Word_t));
}

EXPORT void JudyFree(void *p, Word_t words)
{
	free(p);
}

/* A heap of 16 MiB: old, eden, and two survivor spaces. */
#define LOW UINT64_C(0x700000000)
#define MIB UINT64_C(0x100000)
#define EDEN (LOW + 8 * MIB)
#define FROM (LOW + 12 * MIB)
#define TO (LOW + 14 * MIB)
#define HIGH (LOW + 16 * MIB)

enum { OLD, NEW, SURVIVOR_1, SURVIVOR_2, AREAS };

static struct lc_area layout[AREAS];
static struct lc_alloc records[64];
static size_t records_len;
static struct lc_move moves[64];
static size_t moves_len;
static uint16_t tag;
static struct lc_map *map;

static int open_map(void **state)
{
	layout[OLD] = (struct lc_area){ LOW, LOW, EDEN, LC_AREA_OLD, 0 };
	layout[NEW] = (struct lc_area){ EDEN, EDEN, FROM, LC_AREA_EDEN, 0 };
	layout[SURVIVOR_1] = (struct lc_area){ FROM, FROM, TO, LC_AREA_SURVIVOR, 0 };
	layout[SURVIVOR_2] = (struct lc_area){ TO, TO, HIGH, LC_AREA_SURVIVOR, 0 };
	records_len = moves_len = 0;
	tag = 0xfffe; /* wraps in the tests of several epochs */
	allocations_left = -1;
	return lc_map_create(&map);
}

static int close_map(void **state)
{
	allocations_left = -1;
	lc_map_destroy(map);
	return 0;
}

static void record(uint64_t addr, uint32_t size_bytes, uint32_t site)
{
	records[records_len++] =
	    (struct lc_alloc){ addr | (uint64_t)tag << LC_ADDR_BITS, size_bytes / 8, site };
}

static void moved(uint64_t src, uint64_t dst, uint64_t size_bytes)
{
	moves[moves_len++] = (struct lc_move){ src, dst, size_bytes };
}

static bool small_known;      /* where small objects were slid */
static bool stuck_known;      /* which small objects were left behind */
static bool in_pieces = true; /* as Parallel slides */
static bool collects = true;

static int close_with(bool complete, const struct lc_area *areas, size_t areas_len)
{
	/* Two runs, so that order between threads is covered as well. */
	struct lc_nursery_run runs[] = { { records, records_len / 2 },
		                         { records + records_len / 2,
		                           records_len - records_len / 2 } };
	struct lc_nursery nursery = { runs, 2, tag };
	struct lc_map_close c = { &nursery,    moves,       moves_len, areas,    areas_len, LOW,
		                  small_known, stuck_known, complete,  collects, in_pieces };
	int err = lc_map_close_epoch(map, &c);

	tag++;
	records_len = moves_len = 0;
	small_known = stuck_known = false;
	in_pieces = true;
	collects = true;
	return err;
}

static void collected(void)
{
	assert_int_equal(close_with(true, layout, AREAS), 0);
}

/* The fate of a site's objects in the collections so far; the rest is dropped. */
static struct lc_map_copied told(uint32_t site)
{
	struct lc_map_copied out = { .site = site };
	const struct lc_map_copied *c;

	for (; (c = lc_map_copied(map)); lc_map_copied_taken(map))
		if (c->site == site)
			out = *c;
	return out;
}

static bool at(uint64_t addr, uint32_t site)
{
	struct lc_object o = { 0 };

	return lc_map_find(map, addr, &o) && o.addr == addr && o.site == site;
}

static struct lc_query resolved(uint64_t addr)
{
	struct lc_nursery_run run = { records, records_len };
	struct lc_nursery nursery = { &run, 1, tag };
	struct lc_query q = { .addr = addr };

	lc_map_resolve(map, &nursery, &q, 1);
	return q;
}

/* An object of 1,600 bytes at `addr` in the old space, known and settled. */
static void settle(uint64_t addr, uint32_t site)
{
	record(EDEN, 1600, site);
	moved(EDEN, addr, 1600);
	if (layout[OLD].top < addr + 1600)
		layout[OLD].top = addr + 1600;
	collected();
	assert_true(at(addr, site));
}

static void an_empty_map_knows_nothing(void **state)
{
	struct lc_object o = { .site = 7 };
	uint64_t addr = 0;

	assert_false(lc_map_find(map, LOW, &o));
	assert_false(lc_map_next(map, &addr, &o));
	assert_int_equal(o.site, 7);
	assert_false(resolved(LOW).found);
	assert_int_equal(lc_map_count(map), 0);
	lc_map_forget(map, LOW);
	collected();
	assert_int_equal(lc_map_count(map), 0);
	lc_map_destroy(NULL);
}

static void an_address_of_the_open_epoch_is_resolved_to_its_record(void **state)
{
	record(EDEN, 1600, 1);
	record(EDEN + 1600, 4096, 2);
	record(EDEN + 5696, 65536, 3);
	record(EDEN + 5696 + 65536, 1 << 20, 4);
	assert_int_equal(resolved(EDEN).object.site, 1);
	assert_int_equal(resolved(EDEN + 1599).object.addr, EDEN);
	assert_int_equal(resolved(EDEN + 1600).object.site, 2);
	assert_int_equal(resolved(EDEN + 5695).object.site, 2);
	assert_int_equal(resolved(EDEN + 5696 + 65535).object.site, 3);
	assert_int_equal(resolved(EDEN + 5696 + 65536 + (1 << 20) - 1).object.site, 4);
	assert_int_equal(resolved(EDEN + 5696 + 65536).object.size_bytes, 1 << 20);
	assert_int_equal(resolved(EDEN).object.epochs, 0);
	assert_false(resolved(EDEN + 5696 + 65536 + (1 << 20)).found);
	assert_false(resolved(EDEN - 1).found);
	assert_false(resolved(0).found);
	assert_false(resolved(UINT64_MAX).found);
}

static void queries_in_any_order_keep_their_users(void **state)
{
	struct lc_nursery_run run = { records, 2 };
	struct lc_nursery nursery = { &run, 1, tag };
	struct lc_query q[] = { { .addr = EDEN + 4000, .user = 0 },
		                { .addr = EDEN + 2000, .user = 1 },
		                { .addr = EDEN + 8, .user = 2 },
		                { .addr = EDEN + 8, .user = 3 } };
	uint32_t sites[4];

	record(EDEN, 1600, 1);
	record(EDEN + 1600, 1600, 2);
	lc_map_resolve(map, &nursery, q, 4);
	for (int i = 0; i < 4; i++)
		sites[q[i].user] = q[i].found ? q[i].object.site : 0;
	assert_int_equal(sites[0], 0);
	assert_int_equal(sites[1], 2);
	assert_int_equal(sites[2], 1);
	assert_int_equal(sites[3], 1);
	lc_map_resolve(map, &nursery, q, 0);
}

static void a_record_with_a_stale_tag_is_passed_over(void **state)
{
	record(EDEN, 1600, 1);
	records[0].tagged_addr -= UINT64_C(1) << LC_ADDR_BITS;
	assert_false(resolved(EDEN).found);
	moved(EDEN, LOW, 1600);
	layout[OLD].top = LOW + 1600;
	collected();
	assert_int_equal(lc_map_count(map), 0);
}

static void a_nursery_object_that_moved_survives_and_the_rest_dies(void **state)
{
	record(EDEN, 1600, 1);
	record(EDEN + 1600, 1600, 2);
	moved(EDEN, TO, 1600);
	layout[SURVIVOR_2].top = TO + 1600;
	collected();
	assert_true(at(TO, 1));
	assert_int_equal(lc_map_count(map), 1);
	assert_int_equal(resolved(TO + 1599).object.epochs, 1);
	assert_false(resolved(EDEN).found);
}

static void an_object_that_moved_out_of_a_region_that_is_gone_survives(void **state)
{
	record(HIGH + MIB, 1600,
	       1); /* committed after the last layout, uncommitted before this one */
	record(LOW - MIB, 1600, 2);
	moved(HIGH + MIB, TO, 1600);
	record(LOW - 2 * MIB, 1600, 3);
	moved(LOW - MIB, TO + 1600, 1600);
	moved(LOW - 2 * MIB + 64, TO + 65536, 1536); /* its first piece was not seen */
	layout[SURVIVOR_2].top = TO + MIB;
	collected();
	assert_true(at(TO, 1));
	assert_true(at(TO + 1600, 2));
	assert_true(at(TO + 65472, 3));
}

static void a_survivor_follows_its_moves_and_ages(void **state)
{
	struct lc_object o = { 0 };

	record(EDEN, 1600, 1);
	moved(EDEN, TO, 1600);
	layout[SURVIVOR_2].top = TO + 1600;
	collected();
	moved(TO, FROM, 1600);
	layout[SURVIVOR_2].top = TO;
	layout[SURVIVOR_1].top = FROM + 1600;
	collected();
	assert_true(lc_map_find(map, FROM + 800, &o));
	assert_int_equal(o.epochs, 2);
	assert_false(at(TO, 1));
}

static void copies_count_each_time_and_the_first_collection_once(void **state)
{
	struct lc_map_copied c;

	record(EDEN, 1600, 1);
	record(EDEN + 1600, 800, 1);
	record(EDEN + 2400, 800, 2); /* dies */
	moved(EDEN, TO, 1600);
	moved(EDEN + 1600, TO + 1600, 800);
	layout[SURVIVOR_2].top = TO + 2400;
	collected();
	moved(TO, FROM, 1600); /* the other dies */
	layout[SURVIVOR_2].top = TO;
	layout[SURVIVOR_1].top = FROM + 1600;
	collected();
	c = told(1);
	assert_int_equal(c.objects, 3);
	assert_int_equal(c.bytes, 1600 + 800 + 1600);
	assert_int_equal(c.outlived, 2);
	assert_int_equal(c.outlived_bytes, 2400);
	assert_null(lc_map_copied(map));
	collected();
	assert_int_equal(told(2).outlived, 0);
	assert_int_equal(lc_map_copied_lost(map), 0);
}

static void what_outlives_a_collection_without_a_move_is_told_after_one_that_collected(void **state)
{
	struct lc_map_copied c;

	record(LOW, 1600, 1);        /* in the old space */
	record(LOW + 1600, 1600, 2); /* likewise; dies before anything is collected */
	record(EDEN, 1600, 3);
	layout[OLD].top = LOW + 3200;
	layout[NEW].top = EDEN + 1600;
	collects = false;
	collected();
	assert_null(lc_map_copied(map)); /* a pause that collects nothing is not outlived */
	moved(LOW, LOW + 1600, 1600);
	moved(EDEN, LOW, 1600);
	layout[NEW].top = EDEN;
	collected();
	for (; lc_map_copied(map); lc_map_copied_taken(map)) {
		c = *lc_map_copied(map);
		assert_int_equal(c.site == 2 ? 0 : 1, c.outlived); /* and no row, or 0, for 2 */
		assert_int_equal(c.site == 2 ? 0 : 1, c.objects);
	}
	record(LOW + 3200, 1600, 4);
	layout[OLD].top = LOW + 4800;
	collected();
	c = told(4);
	assert_int_equal(c.outlived, 1);
	assert_int_equal(c.outlived_bytes, 1600);
	assert_int_equal(c.objects, 0);
	collected();
	assert_null(lc_map_copied(map));
}

static void objects_may_swap_places(void **state)
{
	settle(LOW, 1);
	settle(LOW + 1600, 2);
	moved(LOW, LOW + 1600, 1600);
	moved(LOW + 1600, LOW, 1600);
	collected();
	assert_true(at(LOW, 2));
	assert_true(at(LOW + 1600, 1));
}

static void a_survivor_left_in_an_evacuated_area_is_dead(void **state)
{
	record(EDEN, 1600, 1);
	moved(EDEN, TO, 1600);
	layout[SURVIVOR_2].top = TO + 1600;
	collected();
	layout[SURVIVOR_2].top = TO;
	collected();
	assert_int_equal(lc_map_count(map), 0);
}

static void an_object_across_the_end_of_what_was_left_is_dead(void **state)
{
	settle(LOW, 1);
	settle(LOW + 1600, 2);
	layout[OLD].top = LOW + 3192;
	collected();
	assert_true(at(LOW, 1));
	assert_false(at(LOW + 1600, 2));
}

static void an_object_that_a_new_border_cuts_is_dead(void **state)
{
	struct lc_area split[] = { { LOW, LOW + 800, LOW + 800, LC_AREA_OLD, 0 },
		                   { LOW + 800, LOW + 3200, EDEN, LC_AREA_OLD, 0 } };

	settle(LOW, 1);
	settle(LOW + 1600, 2);
	assert_int_equal(close_with(true, split, 2), 0);
	assert_false(at(LOW, 1));
	assert_true(at(LOW + 1600, 2));
}

static void an_old_object_stays_through_young_collections(void **state)
{
	settle(LOW, 1);
	for (int i = 0; i < 5; i++)
		collected();
	assert_true(at(LOW, 1));
	assert_int_equal(resolved(LOW).object.epochs, 6);
}

static void an_object_allocated_in_the_old_space_stays(void **state)
{
	record(LOW, 80000, 1);
	layout[OLD].top = LOW + 80000;
	collected();
	assert_true(at(LOW, 1));
}

static void what_a_move_of_an_untracked_object_overwrites_is_dead(void **state)
{
	settle(LOW, 1);
	settle(LOW + 1600, 2);
	settle(LOW + 3200, 3);
	moved(EDEN, LOW + 1592, 80);
	collected();
	assert_false(at(LOW, 1));
	assert_false(at(LOW + 1600, 2));
	assert_true(at(LOW + 3200, 3));
}

static void what_is_written_without_a_source_is_dead(void **state)
{
	settle(LOW, 1);
	moved(0, LOW + 1592, 8);
	collected();
	assert_int_equal(lc_map_count(map), 0);
}

static void a_move_of_no_bytes_means_nothing(void **state)
{
	settle(LOW, 1);
	moved(0, LOW, 0);
	moved(LOW, LOW + 8000, 0);
	collected();
	assert_true(at(LOW, 1));
}

static void a_record_of_no_size_or_site_means_nothing(void **state)
{
	record(LOW, 0, 1);
	record(LOW + 64, 1600, 0);
	assert_false(resolved(LOW).found);
	layout[OLD].top = LOW + MIB;
	collected();
	assert_int_equal(lc_map_count(map), 0);
}

static void a_move_longer_than_the_object_is_of_another_one(void **state)
{
	settle(LOW, 1);
	moved(LOW, LOW + 8000, 1608);
	record(EDEN, 1600, 2);
	moved(EDEN, LOW + 16000, 1608);
	layout[OLD].top = LOW + 20000;
	collected();
	assert_int_equal(lc_map_count(map), 0);
}

static void an_object_moved_to_where_no_area_has_objects_is_dead(void **state)
{
	record(EDEN, 1600, 1);
	record(EDEN + 1600, 1600, 2);
	record(EDEN + 3200, 1600, 3);
	moved(EDEN, LOW + 8, 1600); /* reaches over top */
	moved(EDEN + 1600, HIGH, 1600);
	moved(EDEN + 3200, LOW - 1600, 1600);
	layout[OLD].top = LOW + 1600;
	collected();
	assert_int_equal(lc_map_count(map), 0);
}

static void objects_at_the_edges_of_the_heap_are_kept(void **state)
{
	record(EDEN, 1600, 1);
	record(EDEN + 1600, 1600, 2);
	moved(EDEN, LOW, 1600);
	moved(EDEN + 1600, HIGH - 1600, 1600);
	layout[OLD].top = EDEN;
	layout[SURVIVOR_2].top = HIGH;
	collected();
	assert_true(at(LOW, 1));
	assert_true(at(HIGH - 1600, 2));
	assert_true(resolved(HIGH - 1).found);
	assert_false(resolved(HIGH).found);
}

static void a_large_object_follows_its_first_piece(void **state)
{
	const uint64_t dst = LOW + 4 * 65536 - 800;

	record(EDEN, 200000, 1);
	moved(EDEN, dst, 800);
	moved(EDEN + 800, dst + 800, 131072);
	moved(EDEN + 131872, dst + 131872, 200000 - 131872);
	layout[OLD].top = dst + 200000;
	collected();
	assert_true(at(dst, 1));
	assert_true(resolved(dst + 199999).found);
	assert_int_equal(lc_map_count(map), 1);
}

static void a_large_object_whose_first_piece_was_not_seen_follows_the_second(void **state)
{
	const uint64_t dst = LOW + 4 * 65536 - 64;

	record(EDEN, 200000, 1);
	moved(EDEN + 64, dst + 64, 131072);
	layout[OLD].top = dst + 200000;
	collected();
	assert_true(at(dst, 1));
	moved(dst + 8, LOW, 131072); /* and as a survivor */
	layout[OLD].top = LOW + 200000;
	collected();
	assert_int_equal(lc_map_count(map), 0); /* it would lie below the heap */
	settle(LOW + 1600, 2);
	moved(LOW + 1608, LOW + 65536, 1592);
	layout[OLD].top = LOW + 80000;
	collected();
	assert_true(at(LOW + 65528, 2));
}

static void a_move_from_inside_an_object_that_is_not_a_piece_leaves_it(void **state)
{
	settle(LOW, 1);
	moved(LOW + 64, LOW + 8192, 1536);      /* not aligned as pieces are */
	moved(LOW + 72, LOW + 65536, 1528);     /* too far from the start */
	moved(LOW + 32, LOW + 2 * 65536, 1600); /* reaches beyond it */
	layout[OLD].top = LOW + 3 * 65536;
	collected();
	assert_true(at(LOW, 1));
}

static void an_object_recorded_twice_is_one(void **state)
{
	record(EDEN, 1600, 1);
	record(EDEN, 1600, 1);
	moved(EDEN, LOW, 1600);
	layout[OLD].top = LOW + 1600;
	collected();
	assert_int_equal(lc_map_count(map), 1);
	record(LOW, 1600, 1); /* a correction, an epoch late */
	assert_int_equal(resolved(LOW).object.site, 1);
	collected();
	assert_int_equal(lc_map_count(map), 1);
	assert_int_equal(resolved(LOW).object.epochs, 2);
	record(LOW, 1600, 1);
	moved(LOW, LOW + 3200, 1600);
	layout[OLD].top = LOW + 4800;
	collected();
	assert_int_equal(lc_map_count(map), 1);
	assert_int_equal(resolved(LOW + 3200).object.epochs, 3);
}

static void of_two_records_of_one_address_the_later_wins(void **state)
{
	record(EDEN, 1600, 1);
	record(EDEN, 800, 2);
	assert_int_equal(resolved(EDEN).object.site, 2);
	moved(EDEN, LOW, 800);
	layout[OLD].top = LOW + 800;
	collected();
	assert_true(at(LOW, 2));
}

static void a_record_over_an_old_interval_replaces_it(void **state)
{
	settle(LOW, 1);
	settle(LOW + 1600, 2);
	record(LOW + 800, 1600, 3);
	collected();
	assert_int_equal(lc_map_count(map), 1);
	assert_true(at(LOW + 800, 3));
}

static void two_objects_moved_over_each_other_leave_one(void **state)
{
	record(EDEN, 1600, 1);
	record(EDEN + 1600, 1600, 2);
	moved(EDEN, LOW, 1600);
	moved(EDEN + 1600, LOW + 800, 1600);
	layout[OLD].top = LOW + MIB;
	collected();
	assert_int_equal(lc_map_count(map), 1);
}

static void a_pause_that_collects_nothing_keeps_the_nursery(void **state)
{
	struct lc_object o = { 0 };
	uint64_t addr = 0;

	record(EDEN, 1600, 1);
	record(EDEN + 1600, 1600, 2);
	record(EDEN + 4096, 1600, 3); /* beyond top: not there */
	layout[NEW].top = EDEN + 3200;
	collected();
	assert_int_equal(lc_map_count(map), 2);
	record(EDEN + 3200, 1600, 4);
	layout[NEW].top = EDEN + 4800;
	assert_int_equal(resolved(EDEN + 1600).object.epochs, 1);
	collected();
	assert_int_equal(resolved(EDEN + 1600).object.epochs, 2);
	assert_int_equal(resolved(EDEN + 3200).object.epochs, 1);
	assert_true(lc_map_next(map, &addr, &o) && o.site == 1);
	assert_true(lc_map_next(map, &addr, &o) && o.site == 2);
	assert_true(lc_map_next(map, &addr, &o) && o.site == 4);
	assert_false(lc_map_next(map, &addr, &o));
	lc_map_forget(map, EDEN + 1600);
	assert_false(at(EDEN + 1600, 2));
	assert_int_equal(lc_map_count(map), 2);
	moved(EDEN, TO, 1600);
	moved(EDEN + 1600, TO + 1600, 1600);
	layout[NEW].top = EDEN;
	layout[SURVIVOR_2].top = TO + 3200;
	collected();
	assert_true(at(TO, 1));
	assert_int_equal(resolved(TO).object.epochs, 3);
	assert_int_equal(lc_map_count(map), 1);
}

static void a_newer_record_over_a_kept_one_wins(void **state)
{
	record(EDEN, 1600, 1);
	record(EDEN + 1600, 1600, 2);
	layout[NEW].top = EDEN + 3200;
	collected();
	record(EDEN + 800, 1600, 3);
	assert_int_equal(resolved(EDEN + 800).object.site, 3);
	collected();
	assert_int_equal(resolved(EDEN + 800).object.site, 3);
	assert_true(at(EDEN + 800, 3));
	assert_false(at(EDEN, 1));
	assert_int_equal(lc_map_count(map), 1);
}

static void what_stays_in_an_eden_that_was_written_to_can_be_overwritten(void **state)
{
	record(EDEN, 1600, 1);
	record(EDEN + 1600, 1600, 2);
	record(EDEN + 8000, 1600, 3);
	record(EDEN + 3200, 1600, 4);
	moved(EDEN + 8000, EDEN + 1600, 1600);
	moved(0, EDEN + 3200, 80);
	layout[NEW].top = EDEN + 4800;
	collected();
	assert_true(at(EDEN, 1));
	assert_true(at(EDEN + 1600, 3));
	assert_int_equal(lc_map_count(map), 2);
}

/*
 * Regions of 1 MiB: a humongous object of 2.5, its death, and another kind of region in its place.
 */
static void a_humongous_object_spans_regions_until_the_first_is_free(void **state)
{
	struct lc_area r[] = {
		{ LOW, LOW + MIB, LOW + MIB, LC_AREA_HUMONGOUS, 0 },
		{ LOW + MIB, LOW + 2 * MIB, LOW + 2 * MIB, LC_AREA_HUMONGOUS_CONT, 0 },
		{ LOW + 2 * MIB, LOW + 2 * MIB + MIB / 2, LOW + 3 * MIB, LC_AREA_HUMONGOUS_CONT,
		  0 },
		{ LOW + 3 * MIB, LOW + 3 * MIB + 1600, LOW + 4 * MIB, LC_AREA_OLD, 0 }
	};

	record(LOW, (uint32_t)(2 * MIB + MIB / 2), 1);
	record(LOW + 3 * MIB, 1600, 2);
	record(LOW + MIB + 8, 1600, 3); /* nothing begins in a continuation */
	assert_int_equal(close_with(true, r, 4), 0);
	assert_true(at(LOW, 1));
	assert_int_equal(lc_map_count(map), 2);
	assert_true(resolved(LOW + 2 * MIB + MIB / 2 - 1).found);
	assert_int_equal(close_with(true, r, 4), 0);
	assert_true(at(LOW, 1));
	r[0] = (struct lc_area){ LOW, LOW, LOW + 3 * MIB, LC_AREA_FREE, 0 };
	r[1] = r[3];
	assert_int_equal(close_with(true, r, 2), 0);
	assert_false(at(LOW, 1));
	assert_true(at(LOW + 3 * MIB, 2));
}

static void a_humongous_object_stays_when_the_regions_behind_it_change_shape(void **state)
{
	struct lc_area r[] = { { LOW, LOW + MIB, LOW + MIB, LC_AREA_HUMONGOUS, 0 },
		               { LOW + MIB, LOW + 2 * MIB, LOW + 2 * MIB, LC_AREA_HUMONGOUS_CONT,
		                 0 } };
	struct lc_area merged[] = { { LOW, LOW + MIB, LOW + MIB, LC_AREA_HUMONGOUS, 0 },
		                    { LOW + MIB, LOW + MIB, LOW + 2 * MIB, LC_AREA_FREE, 0 } };

	record(LOW, (uint32_t)(2 * MIB), 1);
	assert_int_equal(close_with(true, r, 2), 0);
	assert_int_equal(close_with(true, merged, 2), 0);
	assert_true(at(LOW, 1)); /* only the first of its bytes need lie in an area */
}

static enum lc_map_header answers[4];
static size_t asked;
static uint64_t asked_about[4];

static enum lc_map_header header(void *user, const struct lc_object *o)
{
	assert_ptr_equal(user, &asked);
	assert_in_range(asked, 0, 3);
	asked_about[asked] = o->addr;
	return answers[asked++];
}

static size_t check(enum lc_map_header first, enum lc_map_header second, size_t max)
{
	asked = 0;
	answers[0] = first;
	answers[1] = second;
	answers[2] = answers[3] = LC_MAP_HEADER_SAME;
	return lc_map_check(map, header, &asked, max);
}

static void only_what_stayed_in_a_compacted_area_is_asked_about(void **state)
{
	settle(LOW, 1);
	settle(LOW + 1600, 2);
	settle(LOW + 3200, 3);
	record(EDEN, 1600, 4);
	assert_int_equal(check(LC_MAP_HEADER_SAME, LC_MAP_HEADER_SAME, 9), 0);
	assert_int_equal(asked, 0);
	layout[OLD].flags = LC_AREA_COMPACTED;
	moved(LOW + 3200, LOW + 3192, 1600);
	moved(EDEN, LOW + 4792, 1600);
	layout[OLD].top = LOW + 6392;
	collected();
	assert_int_equal(check(LC_MAP_HEADER_OTHER, LC_MAP_HEADER_SAME, 9), 0);
	assert_int_equal(asked, 1); /* the third was overwritten by the move of the last */
	assert_int_equal(asked_about[0], LOW);
	assert_false(at(LOW, 1));
	assert_true(at(LOW + 3192, 3));
	assert_true(at(LOW + 4792, 4));
}

static void what_cannot_be_told_stays_and_is_asked_again(void **state)
{
	settle(LOW, 1);
	settle(LOW + 1600, 2);
	layout[OLD].flags = LC_AREA_COMPACTED;
	collected();
	assert_int_equal(check(LC_MAP_HEADER_SAME, LC_MAP_HEADER_LATER, 9), 1);
	assert_true(at(LOW + 1600, 2));
	layout[OLD].flags = 0;
	collected();
	assert_int_equal(check(LC_MAP_HEADER_LATER, LC_MAP_HEADER_SAME, 9), 1);
	assert_int_equal(asked_about[0], LOW + 1600);
	assert_int_equal(check(LC_MAP_HEADER_SAME, LC_MAP_HEADER_SAME, 0), 1);
	assert_int_equal(check(LC_MAP_HEADER_OTHER, LC_MAP_HEADER_SAME, 9), 0);
	assert_false(at(LOW + 1600, 2));
	assert_true(at(LOW, 1));
}

static void an_object_that_moves_as_a_whole_is_in_doubt_no_more(void **state)
{
	settle(LOW, 1);
	settle(LOW + 1600, 2);
	layout[OLD].flags = LC_AREA_COMPACTED;
	collected();
	layout[OLD].flags = 0;
	layout[OLD].top = LOW + 2 * 65536;
	moved(LOW, LOW + 65536, 1600);
	moved(LOW + 1600, LOW + 65536 + 8000, 800);
	collected();
	assert_int_equal(check(LC_MAP_HEADER_SAME, LC_MAP_HEADER_SAME, 9), 0);
	assert_int_equal(asked, 1);
	assert_int_equal(asked_about[0], LOW + 65536 + 8000);
}

static void a_record_over_an_object_in_doubt_is_the_answer(void **state)
{
	settle(LOW, 1);
	layout[OLD].flags = LC_AREA_COMPACTED;
	collected();
	record(LOW + 64, 800, 2);
	assert_int_equal(resolved(LOW + 100).object.site, 2);
	assert_int_equal(resolved(LOW).object.site, 1);
}

/* An object of that size at `addr` in the old space; a small one's move was found otherwise. */
static void settle_small(uint64_t addr, uint32_t size_bytes, uint32_t site)
{
	record(EDEN, size_bytes, site);
	moved(EDEN, addr, size_bytes);
	collected();
	assert_true(at(addr, site));
}

static void small_objects_are_known_no_more_after_a_collection_that_slid(void **state)
{
	layout[OLD].top = LOW + MIB;
	settle_small(LOW, 64, 1);
	settle_small(LOW + 64, 72, 2);
	settle_small(LOW + 65536 - 64, 72, 3);  /* 64 and 8 bytes: both copied inline */
	settle_small(LOW + 131072 - 72, 80, 4); /* 72 of them would be seen */
	settle_small(LOW + 196608 - 64, 136, 5);
	settle_small(LOW + 262144 - 64, 128, 6);
	collected();
	assert_int_equal(lc_map_count(map), 6); /* nothing slid yet */
	layout[OLD].flags = LC_AREA_COMPACTED;
	collected();
	assert_false(at(LOW, 1));
	assert_true(at(LOW + 64, 2));
	assert_false(at(LOW + 65536 - 64, 3));
	assert_true(at(LOW + 131072 - 72, 4));
	assert_true(at(LOW + 196608 - 64, 5));
	assert_false(at(LOW + 262144 - 64, 6));
	assert_int_equal(lc_map_dropped(map), 2); /* gc/small.c counts the small one */
}

static void what_a_collector_slides_whole_is_seen_if_it_is_not_small(void **state)
{
	layout[OLD].top = LOW + MIB;
	settle_small(LOW + 65536 - 64, 72, 3);
	settle_small(LOW + 262144 - 64, 128, 6);
	layout[OLD].flags = LC_AREA_COMPACTED;
	in_pieces = false;
	collected();
	assert_true(at(LOW + 65536 - 64, 3));
	assert_true(at(LOW + 262144 - 64, 6));
	assert_int_equal(lc_map_dropped(map), 0);
}

static void small_objects_that_moved_land_even_where_others_slid(void **state)
{
	layout[OLD].top = LOW + MIB;
	record(EDEN, 16, 1);
	moved(EDEN, LOW + 65536 - 8, 16);
	layout[OLD].flags = LC_AREA_COMPACTED;
	collected();
	assert_true(at(LOW + 65536 - 8, 1));
}

/* A region of eden that could not be emptied is old now; between what stayed is filler. */
static void small_objects_that_slid_or_stayed_are_known_where_that_was_looked_up(void **state)
{
	struct lc_area areas[AREAS];

	layout[OLD].top = LOW + MIB;
	memcpy(areas, layout, sizeof(areas));
	settle_small(LOW, 24, 1);       /* stays */
	settle_small(LOW + 64, 24, 2);  /* dies */
	settle_small(LOW + 128, 24, 3); /* slides down */
	settle_small(LOW + 192, 24, 4); /* dies, above what slid */
	moved(LOW + 128, LOW + 24, 24);
	small_known = true;
	areas[OLD].flags = LC_AREA_COMPACTED;
	assert_int_equal(close_with(true, areas, AREAS), 0);
	assert_true(at(LOW, 1));
	assert_true(at(LOW + 24, 3));
	assert_false(at(LOW + 64, 2));
	assert_false(at(LOW + 192, 4));
	assert_int_equal(lc_map_count(map), 2);
}

static void small_objects_of_a_region_that_kept_some_are_known_no_more(void **state)
{
	layout[OLD].top = LOW + MIB;
	settle_small(LOW, 64, 1);
	settle_small(LOW + 64, 72, 2);
	layout[NEW].kind = LC_AREA_OLD;
	layout[NEW].top = EDEN + MIB;
	record(EDEN, 64, 3);
	record(EDEN + 64, 72, 4);
	record(EDEN + 256, 24, 5);
	moved(EDEN + 256, LOW + 256, 24);
	collected();
	assert_true(at(LOW, 1)); /* old memory was not collected */
	assert_true(at(LOW + 64, 2));
	assert_false(at(EDEN, 3));
	assert_true(at(EDEN + 64, 4));
	assert_true(at(LOW + 256, 5));
	assert_int_equal(lc_map_dropped(map), 1);
}

/* Objects that stayed have moves to their own place; others are dead. */
static void small_objects_that_a_region_kept_are_known_by_their_moves(void **state)
{
	struct lc_map_copied kept;

	layout[OLD].top = LOW + MIB;
	layout[NEW].kind = LC_AREA_EDEN;
	layout[NEW].top = EDEN;
	settle_small(LOW, 64, 1);
	settle_small(LOW + 1024, 64, 2);
	layout[NEW].kind = LC_AREA_OLD;
	layout[NEW].top = EDEN + MIB;
	record(EDEN, 64, 3);
	moved(EDEN, EDEN, 64);
	record(EDEN + 64, 64, 4);
	record(EDEN + 256, 24, 5);
	moved(EDEN + 256, LOW + 4096, 24);
	moved(LOW + 1024, LOW + 8192, 64); /* out of old memory, too */
	stuck_known = true;
	collected();
	assert_true(at(LOW, 1));
	assert_true(at(LOW + 8192, 2));
	assert_true(at(EDEN, 3));
	assert_false(at(EDEN + 64, 4));
	assert_true(at(LOW + 4096, 5));
	assert_int_equal(lc_map_count(map), 4);
	assert_int_equal(lc_map_dropped(map), 0);
	kept = told(3);
	assert_int_equal(kept.objects, 0); /* not copied */
	assert_int_equal(kept.outlived, 1);
}

/* Old regions were collected, so any of them may be one that kept some objects. */
static void with_old_memory_small_objects_of_all_old_regions_are_known_no_more(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		layout[OLD].top = LOW + MIB;
		layout[NEW].kind = LC_AREA_EDEN;
		layout[NEW].top = EDEN;
		settle_small(LOW, 64, 1);
		settle_small(LOW + 1024, 72, 2);
		layout[NEW].kind = LC_AREA_OLD;
		layout[NEW].top = EDEN + MIB;
		record(EDEN + 64, 72, 4);
		if (i) /* an object left old memory, or memory did */
			moved(LOW + 1024, LOW + 4096, 72);
		else
			layout[OLD].top = LOW + MIB / 2;
		collected();
		assert_false(at(LOW, 1));
		close_map(NULL);
		open_map(NULL);
	}
}

/* Two moves to one place cannot both be right. */
static void an_object_that_another_one_lands_on_is_counted(void **state)
{
	layout[OLD].top = LOW + MIB;
	record(EDEN, 24, 1);
	record(EDEN + 64, 24, 2);
	moved(EDEN, LOW + 256, 24);
	moved(EDEN + 64, LOW + 264, 24);
	collected();
	assert_int_equal(lc_map_count(map), 1);
	assert_int_equal(lc_map_dropped(map), 1);
}

/* A collection wrote into eden, so it may have moved a small object unseen. */
static void small_objects_of_an_eden_that_was_written_to_are_known_no_more(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		record(EDEN, 64, 1);
		record(EDEN + 64, 72, 2);
		layout[NEW].top = EDEN + 8000;
		moved(0, EDEN + 4000, 80);
		small_known = i; /* below the lowest place, but nothing slid */
		collected();
		assert_false(at(EDEN, 1));
		assert_true(at(EDEN + 64, 2));
		close_map(NULL);
		open_map(NULL);
	}
}

static void what_stays_in_an_eden_that_was_compacted_is_in_doubt_or_small(void **state)
{
	record(EDEN, 64, 1);
	record(EDEN + 64, 1600, 2);
	layout[NEW].top = EDEN + 8000;
	layout[NEW].flags = LC_AREA_COMPACTED;
	collected();
	assert_false(at(EDEN, 1));
	assert_true(at(EDEN + 64, 2));
	assert_int_equal(check(LC_MAP_HEADER_OTHER, LC_MAP_HEADER_SAME, 9), 0);
	assert_int_equal(asked, 1);
	assert_false(at(EDEN + 64, 2));
}

static void small_objects_of_a_survivor_space_that_kept_some_are_known_no_more(void **state)
{
	layout[OLD].top = LOW + MIB;
	settle_small(LOW, 64, 1);
	record(EDEN, 64, 2);
	record(EDEN + 64, 72, 3);
	moved(EDEN, TO, 64);
	moved(EDEN + 64, TO + 64, 72);
	layout[SURVIVOR_2].top = TO + 136;
	collected();
	assert_int_equal(lc_map_count(map), 3);
	layout[SURVIVOR_2].kind = LC_AREA_OLD;
	collected();
	assert_true(at(LOW, 1));
	assert_false(at(TO, 2));
	assert_true(at(TO + 64, 3));
}

static void with_moves_lost_what_moved_or_may_have_moved_is_dropped(void **state)
{
	settle(LOW, 1);
	settle(LOW + 1600, 2);
	record(EDEN, 1600, 3);
	moved(EDEN, LOW + 8000, 1600);
	moved(LOW + 1600, LOW + 16000, 1600);
	layout[OLD].top = LOW + 20000;
	assert_int_equal(close_with(false, layout, AREAS), 0);
	assert_true(at(LOW, 1)); /* nothing was compacted: it cannot have moved */
	assert_int_equal(lc_map_count(map), 1);
	layout[OLD].flags = LC_AREA_COMPACTED;
	record(LOW + 8000, 1600, 4);
	assert_int_equal(close_with(false, layout, AREAS), 0);
	assert_int_equal(lc_map_count(map), 0);
}

static void without_a_layout_nothing_is_known(void **state)
{
	settle(LOW, 1);
	record(EDEN, 1600, 2);
	moved(EDEN, LOW + 8000, 1600);
	assert_int_equal(close_with(true, NULL, 0), 0);
	assert_int_equal(lc_map_count(map), 0);
}

static void without_memory_the_map_is_empty_and_usable(void **state)
{
	int failed = 0;

	for (long n = 0; n < 12; n++) {
		int err;

		layout[OLD].flags = 0;
		layout[NEW].top = EDEN;
		settle(LOW, 1);
		layout[OLD].flags = LC_AREA_COMPACTED;
		layout[NEW].top = EDEN + 1600;
		record(EDEN, 1600, 2);
		record(EDEN + 1600, 1600, 3);
		moved(EDEN + 1600, LOW + 8000, 1600);
		layout[OLD].top = LOW + 20000;
		allocations_left = n;
		err = close_with(true, layout, AREAS);
		allocations_left = -1;
		if (err) {
			failed++;
			assert_int_equal(err, -ENOMEM);
			assert_int_equal(lc_map_count(map), 0);
		} else {
			assert_true(at(LOW, 1));
			assert_true(at(EDEN, 2));
			assert_true(at(LOW + 8000, 3));
		}
		close_map(NULL);
		open_map(NULL);
	}
	assert_in_range(failed, 5, 11);
	close_map(NULL);
	allocations_left = 0;
	assert_int_equal(lc_map_create(&map), -ENOMEM);
	open_map(NULL);
}

static void a_survivor_costs_at_most_40_bytes(void **state)
{
	enum { N = 200000 };
	struct lc_alloc *many = calloc(N, sizeof(*many));
	struct lc_nursery_run run = { many, N };
	struct lc_nursery nursery = { &run, 1, tag };
	struct lc_area old = { LOW, LOW + N * 1536, LOW + N * 1536, LC_AREA_OLD, 0 };
	struct lc_map_close c = { &nursery, NULL, 0, &old, 1, LOW, false, false, true, true, true };
	uint64_t empty = lc_map_bytes(map);

	for (uint64_t i = 0; i < N; i++) {
		many[i].tagged_addr = (LOW + i * 1536 + i * 8 % 512) | (uint64_t)tag
		                                                           << LC_ADDR_BITS;
		many[i].size_words = 1024 / 8;
		many[i].site = 1;
	}
	assert_int_equal(lc_map_close_epoch(map, &c), 0);
	assert_int_equal(lc_map_count(map), N);
	assert_in_range((lc_map_bytes(map) - empty) / N, 1, 40);
	free(many);
}

static void random_histories_agree_with_a_model_heap(void **state)
{
	struct map_model_result result = { 0 };
	uint64_t random = 1;

	for (int i = 0; i < 60; i++) {
		uint8_t data[3000];

		for (size_t j = 0; j < sizeof(data); j++) {
			random = random * UINT64_C(6364136223846793005) + 1;
			data[j] = (uint8_t)(random >> 40);
			if (i % 3 && j % 2 && data[j] >= 232) /* longer epochs */
				data[j] = (uint8_t)(data[j] / 2);
		}
		assert_ptr_equal(map_model_run(data, sizeof(data), &result), NULL);
	}
	assert_true(result.collections > 1000 && result.checked > 50000 && result.queries > 10000);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_map, close_map)

/* A key that could not be taken out leads to nothing, and not to what gets its entry next. */
static void what_is_removed_without_memory_is_gone(void **state)
{
	enum { OBJECTS = 3000, BYTES = 512 };
	const struct lc_map_entry object = { .size_words = BYTES / 8, .site = 1 };
	uint64_t at;

	for (uint64_t i = 0; i < OBJECTS; i++)
		assert_int_equal(lc_map_put(map, LOW + i * BYTES, object), 0);
	judy_fails = true;
	for (uint64_t i = 0; i < OBJECTS; i += 2)
		lc_map_remove(map, LOW + i * BYTES);
	judy_fails = false;
	for (uint64_t i = 0; i < OBJECTS; i += 4)
		assert_int_equal(lc_map_put(map, EDEN + i * BYTES, object), 0);
	for (uint64_t i = 0; i < OBJECTS; i++)
		assert_int_equal(!lc_map_at(map, LOW + i * BYTES), i % 2 == 0);
	for (uint64_t i = 2; i < OBJECTS; i += 2) {
		assert_non_null(lc_map_at_or_below(map, LOW + i * BYTES, &at));
		assert_int_equal(at, LOW + (i - 1) * BYTES);
		assert_non_null(lc_map_at_or_above(map, LOW + i * BYTES, &at));
		assert_int_equal(at, LOW + (i + 1) * BYTES);
	}
	/* A place that was left behind can be taken again. */
	assert_int_equal(lc_map_put(map, LOW, object), 0);
	assert_non_null(lc_map_at(map, LOW));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_empty_map_knows_nothing),
		CASE(an_address_of_the_open_epoch_is_resolved_to_its_record),
		CASE(queries_in_any_order_keep_their_users),
		CASE(a_record_with_a_stale_tag_is_passed_over),
		CASE(a_nursery_object_that_moved_survives_and_the_rest_dies),
		CASE(an_object_that_moved_out_of_a_region_that_is_gone_survives),
		CASE(a_survivor_follows_its_moves_and_ages),
		CASE(copies_count_each_time_and_the_first_collection_once),
		CASE(what_outlives_a_collection_without_a_move_is_told_after_one_that_collected),
		CASE(objects_may_swap_places),
		CASE(a_survivor_left_in_an_evacuated_area_is_dead),
		CASE(an_object_across_the_end_of_what_was_left_is_dead),
		CASE(an_object_that_a_new_border_cuts_is_dead),
		CASE(an_old_object_stays_through_young_collections),
		CASE(an_object_allocated_in_the_old_space_stays),
		CASE(what_a_move_of_an_untracked_object_overwrites_is_dead),
		CASE(what_is_written_without_a_source_is_dead),
		CASE(a_move_of_no_bytes_means_nothing),
		CASE(a_record_of_no_size_or_site_means_nothing),
		CASE(a_move_longer_than_the_object_is_of_another_one),
		CASE(an_object_moved_to_where_no_area_has_objects_is_dead),
		CASE(objects_at_the_edges_of_the_heap_are_kept),
		CASE(a_large_object_follows_its_first_piece),
		CASE(a_large_object_whose_first_piece_was_not_seen_follows_the_second),
		CASE(a_move_from_inside_an_object_that_is_not_a_piece_leaves_it),
		CASE(an_object_recorded_twice_is_one),
		CASE(of_two_records_of_one_address_the_later_wins),
		CASE(a_record_over_an_old_interval_replaces_it),
		CASE(two_objects_moved_over_each_other_leave_one),
		CASE(a_pause_that_collects_nothing_keeps_the_nursery),
		CASE(a_newer_record_over_a_kept_one_wins),
		CASE(what_stays_in_an_eden_that_was_written_to_can_be_overwritten),
		CASE(a_humongous_object_spans_regions_until_the_first_is_free),
		CASE(a_humongous_object_stays_when_the_regions_behind_it_change_shape),
		CASE(only_what_stayed_in_a_compacted_area_is_asked_about),
		CASE(what_cannot_be_told_stays_and_is_asked_again),
		CASE(an_object_that_moves_as_a_whole_is_in_doubt_no_more),
		CASE(a_record_over_an_object_in_doubt_is_the_answer),
		CASE(small_objects_are_known_no_more_after_a_collection_that_slid),
		CASE(what_a_collector_slides_whole_is_seen_if_it_is_not_small),
		CASE(small_objects_that_moved_land_even_where_others_slid),
		CASE(small_objects_that_slid_or_stayed_are_known_where_that_was_looked_up),
		CASE(small_objects_of_a_region_that_kept_some_are_known_no_more),
		CASE(small_objects_that_a_region_kept_are_known_by_their_moves),
		CASE(an_object_that_another_one_lands_on_is_counted),
		CASE(with_old_memory_small_objects_of_all_old_regions_are_known_no_more),
		CASE(small_objects_of_an_eden_that_was_written_to_are_known_no_more),
		CASE(what_stays_in_an_eden_that_was_compacted_is_in_doubt_or_small),
		CASE(small_objects_of_a_survivor_space_that_kept_some_are_known_no_more),
		CASE(with_moves_lost_what_moved_or_may_have_moved_is_dropped),
		CASE(without_a_layout_nothing_is_known),
		CASE(without_memory_the_map_is_empty_and_usable),
		CASE(what_is_removed_without_memory_is_gone),
		CASE(a_survivor_costs_at_most_40_bytes),
		CASE(random_histories_agree_with_a_model_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
