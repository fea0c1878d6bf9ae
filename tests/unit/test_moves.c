/* uses: src/core/memory.c src/core/stand_back.c src/core/epoch.c src/core/wake.c src/gc/moves.c src/gc/moves_replay.c src/gc/copy_log.c src/base/say.c src/jvm/os/peek.c tests/unit/imports_model.c -lJudy -Wl,--wrap=malloc,--wrap=calloc src/gc/move_log.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_moves.c - checks that the moves of objects are found from the collector's copies. The
 * collector is this test.
 *
 * The file is longer than 600 lines: the tests share that collector.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>

#include "src/gc/copy_log.h"
#include "src/gc/moves.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "tests/unit/imports_model.h"

enum { HEAP_BYTES = 16 << 20, REGION = 512 << 10, SIZE = 2048 };

static unsigned char *heap;
static uint32_t collections;
static enum lc_collector collector;
static int malloc_fails, calloc_fails;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
	return malloc_fails ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return calloc_fails ? NULL : __real_calloc(n, size);
}

uint32_t lc_areas_collections(void)
{
	return collections;
}

enum lc_collector lc_collector(void)
{
	return collector;
}

static uint64_t at(size_t offset)
{
	return (uintptr_t)heap + offset;
}

static void set_word(size_t offset, uint64_t v)
{
	*(volatile uint64_t *)(void *)(heap + offset) = v;
}

static void evacuate(size_t from, size_t to, size_t n)
{
	model_memcpy(heap + to, heap + from, n);
}

static void slide(size_t from, size_t to, size_t n)
{
	model_memmove(heap + to, heap + from, n);
}

/* Evacuate, and let this copy be the object. */
static void evacuate_well(size_t from, size_t to, size_t n)
{
	evacuate(from, to, n);
	set_word(from, at(to) | 3);
}

static int setup(void **state)
{
	heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (heap == MAP_FAILED || lc_moves_init())
		return -1;
	collections = 1;
	collector = LC_GC_PARALLEL;
	lc_moves_open(at(0), at(HEAP_BYTES), 1024);
	return 0;
}

static int teardown(void **state)
{
	lc_moves_release(lc_moves_seal());
	malloc_fails = calloc_fails = 0;
	return munmap(heap, HEAP_BYTES);
}

/* The move of the object that was at `from`; fails the test when there is more than one. */
static const struct lc_move *move_of(struct lc_move_batch *b, size_t from)
{
	const struct lc_move *m, *found = NULL;
	size_t cursor = 0;

	while ((m = lc_moves_next(b, &cursor))) {
		if (m->src != at(from))
			continue;
		assert_null(found);
		found = m;
	}
	return found;
}

static void assert_moved(struct lc_move_batch *b, size_t from, size_t to)
{
	const struct lc_move *m = move_of(b, from);

	assert_non_null(m);
	assert_int_equal(m->dst, at(to));
}

static bool written(struct lc_move_batch *b, size_t offset)
{
	const struct lc_move *m;
	size_t cursor = 0;

	while ((m = lc_moves_next(b, &cursor)))
		if (m->dst <= at(offset) && at(offset) < m->dst + m->size_bytes)
			return true;
	return false;
}

static void nothing_logged_is_no_batch(void **state)
{
	size_t len = 1;

	assert_null(lc_moves_seal());
	assert_null(lc_moves_all(NULL, &len));
	assert_int_equal(len, 0);
	assert_int_equal(lc_moves_lost(NULL), 0);
	lc_moves_release(NULL);
}

static void a_young_collections_winners_are_moves_and_its_losers_only_writes(void **state)
{
	struct lc_move_batch *b;

	evacuate_well(0, 1 << 20, SIZE);
	evacuate(8192, 2 << 20, SIZE);
	set_word(8192, at(3 << 20) | 3);
	evacuate_well(16384, 4 << 20, SIZE);
	b = lc_moves_seal();
	assert_int_equal(lc_moves_count(b), 3);
	assert_moved(b, 0, 1 << 20);
	assert_moved(b, 16384, 4 << 20);
	assert_null(move_of(b, 8192));
	assert_true(written(b, (2 << 20) + 8));
	assert_int_equal(lc_moves_lost(b), 0);
	assert_false(lc_moves_slid());
	lc_moves_release(b);
}

static void the_last_copy_is_judged_though_its_source_is_gone(void **state)
{
	struct lc_move_batch *b;

	evacuate(0, 1 << 20, SIZE);
	mprotect(heap, 4096, PROT_NONE);
	b = lc_moves_seal();
	mprotect(heap, 4096, PROT_READ | PROT_WRITE);
	assert_moved(b, 0, 1 << 20);
	lc_moves_release(b);
}

static void filler_over_what_left_does_not_undo_the_copy(void **state)
{
	struct lc_move_batch *b;

	set_word(0, 1);
	set_word(8, 77);
	evacuate(0, 1 << 20, SIZE);
	set_word(8, 99);
	b = lc_moves_seal();
	assert_moved(b, 0, 1 << 20);
	lc_moves_release(b);
}

static void a_last_copy_that_became_filler_is_lost(void **state)
{
	struct lc_move_batch *b;

	set_word(0, 1);
	set_word(8, 77);
	evacuate(0, 1 << 20, SIZE);
	set_word((1 << 20) + 8, 99);
	b = lc_moves_seal();
	assert_null(move_of(b, 0));
	lc_moves_release(b);
}

static void an_object_copied_twice_in_a_pause_is_followed_to_its_end(void **state)
{
	struct lc_move_batch *b;

	collections = 2;
	evacuate_well(0, 4 << 20, SIZE);
	evacuate_well(4096, (4 << 20) + 8192, SIZE);
	slide((4 << 20) + 8192, 2 << 20, SIZE);
	slide(8 << 20, (2 << 20) + SIZE, SIZE);
	b = lc_moves_seal();
	assert_moved(b, 0, 4 << 20);
	assert_moved(b, 4096, 2 << 20);
	assert_moved(b, 8 << 20, (2 << 20) + SIZE);
	assert_null(move_of(b, (4 << 20) + 8192));
	assert_true(lc_moves_slid());
	lc_moves_release(b);
}

static void *copy_to(void *to)
{
	evacuate(0, (size_t)(uintptr_t)to, SIZE);
	return NULL;
}

static void serials_log_needs_no_time_stamps(void **state)
{
	struct lc_move_batch *b;

	collector = LC_GC_SERIAL;
	lc_moves_open(at(0), at(HEAP_BYTES), 1024);
	collections = 2;
	/* more than a chunk, and twice each: the second slide must come after the first */
	for (size_t i = 0; i < 1000; i++)
		slide((8 << 20) + i * SIZE, (4 << 20) + i * SIZE, SIZE);
	for (size_t i = 0; i < 1000; i++)
		slide((4 << 20) + i * SIZE, (1 << 20) + i * SIZE, SIZE);
	b = lc_moves_seal();
	for (size_t i = 0; i < 1000; i += 99)
		assert_moved(b, (8 << 20) + i * SIZE, (1 << 20) + i * SIZE);
	assert_null(move_of(b, 4 << 20));
	lc_moves_release(b);
}

static void slides_of_one_g1_collection_are_moves_as_they_are(void **state)
{
	struct lc_move_batch *b;

	collector = LC_GC_G1;
	lc_moves_open(at(0), at(HEAP_BYTES), 1024);
	slide(8 << 20, 4 << 20, SIZE);
	slide((8 << 20) + SIZE, (4 << 20) + SIZE, SIZE);
	b = lc_moves_seal();
	assert_moved(b, 8 << 20, 4 << 20);
	assert_moved(b, (8 << 20) + SIZE, (4 << 20) + SIZE);
	lc_moves_release(b);
}

/* Every thread's last copy: none is judged before the full collection. */
static void of_racing_copies_the_one_that_is_moved_on_is_the_object(void **state)
{
	struct lc_move_batch *b;
	pthread_t t;

	collections = 2;
	for (size_t i = 1; i <= 4; i++) {
		assert_int_equal(pthread_create(&t, NULL, copy_to, (void *)(i << 20)), 0);
		pthread_join(t, NULL);
	}
	slide(3 << 20, (3 << 20) - 4096, SIZE);
	b = lc_moves_seal();
	assert_moved(b, 0, (3 << 20) - 4096);
	lc_moves_release(b);
}

static void an_object_that_stayed_in_a_failed_collection_moves_from_there(void **state)
{
	struct lc_move_batch *b;
	pthread_t t;

	collections = 2;
	assert_int_equal(pthread_create(&t, NULL, copy_to, (void *)(uintptr_t)(1 << 20)), 0);
	pthread_join(t, NULL);
	slide(0, 6 << 20, SIZE);
	b = lc_moves_seal();
	assert_moved(b, 0, 6 << 20);
	lc_moves_release(b);
}

static void a_region_filled_in_a_spare_place_is_followed_home(void **state)
{
	struct lc_move_batch *b;
	size_t shadow = 12 * REGION, home = 2 * REGION;

	slide(20 * REGION + 64, shadow + 64, SIZE); /* small objects before it: unseen */
	slide(20 * REGION + 8192, shadow + 64 + SIZE, SIZE);
	slide(shadow, home, REGION);
	slide(21 * REGION, shadow, SIZE); /* the spare place is used again */
	slide(shadow, 3 * REGION, REGION);
	b = lc_moves_seal();
	assert_moved(b, 20 * REGION + 64, home + 64);
	assert_moved(b, 20 * REGION + 8192, home + 64 + SIZE);
	assert_moved(b, 21 * REGION, 3 * REGION);
	assert_null(move_of(b, shadow));
	lc_moves_release(b);
}

/* Parallel fills a spare region with objects of 16 bytes each: 32,768 of them. */
static void every_object_of_a_region_is_followed_home_however_small(void **state)
{
	enum { N = REGION / 16 };
	size_t shadow = 12 * REGION, home = 2 * REGION, len, found = 0;
	const struct lc_move *m;
	struct lc_move_batch *b;

	lc_moves_open(at(0), at(HEAP_BYTES), 16);
	for (size_t i = 0; i < N; i++)
		slide(20 * REGION + 32 * i, shadow + 16 * i, 16);
	slide(shadow, home, REGION);
	b = lc_moves_seal();
	assert_int_equal(lc_moves_count(b), N + 1);
	m = lc_moves_all(b, &len);
	for (size_t i = 0; i < len; i++) {
		if (!m[i].src)
			continue;
		assert_int_equal(m[i].dst - at(home), (m[i].src - at(20 * REGION)) / 2);
		found++;
	}
	assert_int_equal(found, N);
	lc_moves_release(b);
}

/* By then other objects are at its source, whose mark says something else. */
static void a_copy_that_nobody_judged_before_a_second_collection_is_a_move(void **state)
{
	struct lc_move_batch *b;

	collections = 2;
	evacuate(0, 1 << 20, SIZE);
	set_word(0, at(5 << 20) | 3);
	b = lc_moves_seal();
	assert_moved(b, 0, 1 << 20);
	lc_moves_release(b);
}

static void a_copy_that_won_counts_and_not_an_earlier_one_that_nobody_judged(void **state)
{
	struct lc_move_batch *b;
	pthread_t t;

	collections = 2;
	assert_int_equal(pthread_create(&t, NULL, copy_to, (void *)(uintptr_t)(1 << 20)), 0);
	pthread_join(t, NULL);
	evacuate_well(0, 2 << 20, SIZE);
	evacuate_well(8192, 6 << 20, SIZE); /* with it the thread judges the copy before */
	b = lc_moves_seal();
	assert_moved(b, 0, 2 << 20);
	lc_moves_release(b);
}

static void what_was_written_in_the_pause_was_no_object_before_it(void **state)
{
	struct lc_move_batch *b;

	collections = 2;
	slide(8 << 20, 4 << 20, SIZE);
	slide((4 << 20) + 64, 2 << 20, SIZE - 64); /* a later piece of it */
	b = lc_moves_seal();
	assert_moved(b, 8 << 20, 4 << 20);
	assert_null(move_of(b, (4 << 20) + 64));
	lc_moves_release(b);
}

static void copies_that_lost_are_writes_in_order_too(void **state)
{
	struct lc_move_batch *b;

	collections = 2;
	evacuate(0, 4 << 20, SIZE);
	set_word(0, at(3 << 20) | 3);
	evacuate_well(8192, 6 << 20, SIZE);
	b = lc_moves_seal();
	assert_null(move_of(b, 0));
	assert_true(written(b, 4 << 20));
	lc_moves_release(b);
}

static void an_object_is_overwritten_up_to_its_last_byte_and_no_further(void **state)
{
	struct lc_move_batch *b;

	collections = 2;
	evacuate_well(0, (4 << 20) + SIZE, SIZE);
	evacuate_well(8192, (4 << 20) + SIZE - 8, SIZE);
	evacuate_well(16384, 6 << 20, SIZE);
	slide(8 << 20, 4 << 20, SIZE);
	b = lc_moves_seal();
	assert_null(move_of(b, 8192));
	lc_moves_release(b);
	lc_moves_open(at(0), at(HEAP_BYTES), 1024);
	evacuate_well(0, (4 << 20) + SIZE, SIZE);
	evacuate_well(16384, 6 << 20, SIZE);
	slide(8 << 20, 4 << 20, SIZE);
	b = lc_moves_seal();
	assert_moved(b, 0, (4 << 20) + SIZE);
	lc_moves_release(b);
}

static void a_region_that_comes_home_overwrites_what_was_there(void **state)
{
	struct lc_move_batch *b;
	size_t shadow = 12 * REGION, home = 2 * REGION;

	collections = 2;
	evacuate_well(20 * REGION, home + 4096, SIZE);
	evacuate_well(21 * REGION, 23 * REGION, SIZE);
	slide(shadow, home, REGION);
	b = lc_moves_seal();
	assert_null(move_of(b, 20 * REGION));
	assert_moved(b, 21 * REGION, 23 * REGION);
	lc_moves_release(b);
}

/*
 * The young collection before it emptied the spare place, so eden's first object is elsewhere when
 * small objects, which are copied unseen, fill the place.
 */
static void a_spare_place_that_was_filled_unseen_is_no_object_in_a_later_collection(void **state)
{
	struct lc_move_batch *b;
	size_t shadow = 12 * REGION, home = 2 * REGION;

	collections = 2;
	evacuate_well(shadow, 4 << 20, SIZE);
	slide(shadow, home, REGION);
	b = lc_moves_seal();
	assert_moved(b, shadow, 4 << 20);
	assert_true(written(b, home));
	lc_moves_release(b);
}

/* `len` moves of 16 bytes each, malloc'ed, from `from` to `to`. */
static struct lc_move *found_otherwise(size_t from, size_t to, size_t len)
{
	struct lc_move *m = __real_malloc(len * sizeof(*m));

	assert_non_null(m);
	for (size_t i = 0; i < len; i++)
		m[i] = (struct lc_move){ at(from + 16 * i), at(to + 16 * i), 16 };
	return m;
}

static uint64_t asked_src, asked_dst;

static bool is_asked(uint64_t src, uint64_t dst)
{
	return src == asked_src && dst == asked_dst;
}

static void slides_are_told_from_evacuations(void **state)
{
	struct lc_move_batch *b;

	evacuate_well(8 << 20, 4 << 20, SIZE);
	slide(9 << 20, 5 << 20, SIZE);
	b = lc_moves_seal();
	asked_src = at(9 << 20);
	asked_dst = at(5 << 20);
	assert_true(lc_moves_any_slide(b, is_asked));
	asked_src = at(8 << 20);
	asked_dst = at(4 << 20);
	assert_false(lc_moves_any_slide(b, is_asked));
	assert_false(lc_moves_any_slide(NULL, is_asked));
	lc_moves_release(b);
}

static void moves_found_otherwise_join_those_that_were_logged(void **state)
{
	struct lc_move_batch *b;
	size_t len;

	evacuate_well(0, 1 << 20, SIZE);
	b = lc_moves_seal();
	lc_moves_add(&b, found_otherwise(4096, 2 << 20, 100), 100);
	assert_non_null(lc_moves_all(b, &len));
	assert_int_equal(len, 101);
	assert_moved(b, 0, 1 << 20);
	assert_moved(b, 4096 + 16 * 99, (2 << 20) + 16 * 99);
	assert_int_equal(lc_moves_lost(b), 0);
	lc_moves_release(b);
}

static void moves_found_otherwise_need_no_log(void **state)
{
	struct lc_move_batch *b = NULL;
	size_t len;

	lc_moves_add(&b, NULL, 0);
	assert_null(b);
	lc_moves_add(&b, found_otherwise(4096, 2 << 20, 3), 3);
	assert_non_null(b);
	assert_int_equal(lc_moves_count(b), 0);
	assert_non_null(lc_moves_all(b, &len));
	assert_int_equal(len, 3);
	assert_moved(b, 4096, 2 << 20);
	assert_int_equal(lc_moves_lost(b), 0);
	lc_moves_release(b);
}

static void want_of_memory_loses_what_was_found_otherwise(void **state)
{
	struct lc_move_batch *b = NULL;
	size_t len;

	calloc_fails = 1;
	lc_moves_add(&b, found_otherwise(4096, 2 << 20, 3), 3);
	calloc_fails = 0;
	assert_non_null(b);
	assert_null(lc_moves_all(b, &len));
	assert_int_equal(len, 0);
	assert_true(lc_moves_lost(b) > 0);
	lc_moves_release(b);
}

static void a_later_piece_tells_where_an_unseen_first_one_went(void **state)
{
	struct lc_move_batch *b;
	const struct lc_move *m;

	slide(20 * REGION + 48, 3 * REGION, SIZE); /* after 48 bytes copied inline */
	b = lc_moves_seal();
	m = move_of(b, 20 * REGION + 48);
	assert_non_null(m);
	assert_true(lc_move_continues(m, at(0)));
	assert_int_equal(m->dst - 48, at(3 * REGION - 48));
	lc_moves_release(b);
}

static void what_is_overwritten_later_is_no_move(void **state)
{
	struct lc_move_batch *b;

	collections = 2;
	evacuate_well(0, 4 << 20, SIZE);
	slide(8 << 20, 4 << 20, SIZE);
	b = lc_moves_seal();
	assert_null(move_of(b, 0));
	assert_moved(b, 8 << 20, 4 << 20);
	lc_moves_release(b);
}

static void sealed_batches_outlast_later_windows(void **state)
{
	struct lc_move_batch *b[8];

	for (size_t i = 0; i < 8; i++) {
		evacuate_well(i * 4096, (8 << 20) + i * 4096, SIZE);
		b[i] = lc_moves_seal();
		lc_moves_open(at(0), at(HEAP_BYTES), 1024);
	}
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(lc_moves_count(b[i]), 1);
		assert_moved(b[i], i * 4096, (8 << 20) + i * 4096);
		lc_moves_release(b[i]);
	}
}

static void chunks_come_back(void **state)
{
	lc_moves_release(lc_moves_seal());
	lc_moves_open(at(0), at(HEAP_BYTES), 16);
	/* more in all than the arena holds */
	for (size_t round = 0; round < 40; round++) {
		struct lc_move_batch *b;

		for (size_t i = 0; i < 500 * LC_COPY_CHUNK_CAP; i++)
			evacuate(0, 1 << 20, 16);
		b = lc_moves_seal();
		assert_int_equal(lc_moves_lost(b), 0);
		lc_moves_release(b);
		lc_moves_open(at(0), at(HEAP_BYTES), 16);
	}
}

static void a_scribbled_record_is_counted_as_lost(void **state)
{
	struct lc_copy_log *p = &lc_copy_log;
	struct lc_move_batch *b;
	size_t len;

	evacuate_well(0, 1 << 20, SIZE);
	evacuate_well(4096, 2 << 20, SIZE);
	p->chunks[atomic_load(&p->head) - 1].copies[0].size_tag ^= UINT64_C(1) << LC_COPY_TAG_SHIFT;
	b = lc_moves_seal();
	assert_non_null(lc_moves_all(b, &len));
	assert_int_equal(len, 1);
	assert_int_equal(lc_moves_lost(b), 1);
	lc_moves_release(b);
}

static void want_of_memory_is_counted_as_lost(void **state)
{
	struct lc_move_batch *b;
	size_t len;

	evacuate_well(0, 1 << 20, SIZE);
	b = lc_moves_seal();
	malloc_fails = 1;
	lc_moves_all(b, &len);
	malloc_fails = 0;
	assert_int_equal(len, 0);
	assert_int_equal(lc_moves_lost(b), 1);
	lc_moves_release(b);

	lc_moves_open(at(0), at(HEAP_BYTES), 1024);
	evacuate_well(0, 1 << 20, SIZE);
	calloc_fails = 1;
	b = lc_moves_seal();
	calloc_fails = 0;
	assert_non_null(b);
	assert_true(lc_moves_lost(b) > 0);
	lc_moves_release(b);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing_logged_is_no_batch),
		TEST(a_young_collections_winners_are_moves_and_its_losers_only_writes),
		TEST(the_last_copy_is_judged_though_its_source_is_gone),
		TEST(filler_over_what_left_does_not_undo_the_copy),
		TEST(a_last_copy_that_became_filler_is_lost),
		TEST(an_object_copied_twice_in_a_pause_is_followed_to_its_end),
		TEST(serials_log_needs_no_time_stamps),
		TEST(slides_of_one_g1_collection_are_moves_as_they_are),
		TEST(of_racing_copies_the_one_that_is_moved_on_is_the_object),
		TEST(an_object_that_stayed_in_a_failed_collection_moves_from_there),
		TEST(a_region_filled_in_a_spare_place_is_followed_home),
		TEST(every_object_of_a_region_is_followed_home_however_small),
		TEST(a_copy_that_nobody_judged_before_a_second_collection_is_a_move),
		TEST(a_copy_that_won_counts_and_not_an_earlier_one_that_nobody_judged),
		TEST(what_was_written_in_the_pause_was_no_object_before_it),
		TEST(copies_that_lost_are_writes_in_order_too),
		TEST(an_object_is_overwritten_up_to_its_last_byte_and_no_further),
		TEST(a_region_that_comes_home_overwrites_what_was_there),
		TEST(a_spare_place_that_was_filled_unseen_is_no_object_in_a_later_collection),
		TEST(slides_are_told_from_evacuations),
		TEST(moves_found_otherwise_join_those_that_were_logged),
		TEST(moves_found_otherwise_need_no_log),
		TEST(want_of_memory_loses_what_was_found_otherwise),
		TEST(a_later_piece_tells_where_an_unseen_first_one_went),
		TEST(what_is_overwritten_later_is_no_move),
		TEST(sealed_batches_outlast_later_windows),
		TEST(chunks_come_back),
		TEST(a_scribbled_record_is_counted_as_lost),
		TEST(want_of_memory_is_counted_as_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
