/* uses: src/gc/move_log.c src/core/memory.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_move_log.c - checks that each copy that threads note is taken once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/time.h"
#include "src/core/memory.h"
#include "src/gc/move_log.h"

enum { THREADS = 4, EACH = 200000, ROOM = 8192 * 510, STRIPES = 16 };

static unsigned char *seen; /* by number */
static size_t seen_len;
static uint64_t latest_ns;

static int open_log(void **state)
{
	seen = calloc(THREADS, EACH);
	seen_len = 0;
	latest_ns = 0;
	return seen ? lc_move_log_init() : -1;
}

static int close_log(void **state)
{
	lc_move_log_destroy();
	free(seen);
	return 0;
}

static void see(void *unused, const struct lc_timed_move *m)
{
	assert_int_equal(m->dst, m->src + 1);
	assert_int_equal(m->size_bytes, m->src + 8);
	assert_int_equal(seen[m->src], 0);
	seen[m->src] = 1;
	seen_len++;
	latest_ns = m->time_ns;
}

static void *fill(void *first)
{
	const uint64_t begin = (uintptr_t)first;

	for (uint64_t i = begin; i < begin + EACH; i++)
		lc_move_log_put(i + 1, i, i + 8);
	return NULL;
}

static void each_copy_of_each_thread_is_taken_once_while_they_go_on(void **state)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fill, (void *)(i * EACH)),
		                 0); /* NOLINT */
	while (seen_len < (size_t)THREADS * EACH / 2)
		lc_move_log_take(see, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	lc_move_log_take(see, NULL);
	assert_int_equal(seen_len, (size_t)THREADS * EACH);
	assert_int_equal(lc_move_log_lost(), 0);
	lc_move_log_take(see, NULL);
	assert_int_equal(seen_len, (size_t)THREADS * EACH);
}

static void a_copy_has_the_time_before_it(void **state)
{
	const uint64_t before = lc_time_now_ns();

	assert_false(lc_move_log_any());
	lc_move_log_put(6, 5, 13);
	assert_true(lc_move_log_any());
	assert_false(lc_move_log_any());
	lc_move_log_take(see, NULL);
	assert_true(latest_ns >= before && latest_ns <= lc_time_now_ns());
}

#ifndef __SANITIZE_THREAD__ /* it would take long, and see nothing: one thread has the moves */
static void take_any(void *count, const struct lc_timed_move *m)
{
	++*(size_t *)count;
}

static void what_finds_no_room_is_counted_and_room_is_given_back(void **state)
{
	size_t taken = 0;

	for (size_t i = 0; i < ROOM; i++)
		lc_move_log_put(2, 1, 9);
	assert_true(lc_move_log_lost() > 0);
	lc_move_log_take(take_any, &taken);
	assert_int_equal(taken + lc_move_log_lost(), ROOM);
	for (size_t round = 0; round < 3; round++) {
		const uint64_t lost = lc_move_log_lost();

		taken = 0;
		for (size_t i = 0; i < ROOM / 2; i++)
			lc_move_log_put(2, 1, 9);
		lc_move_log_take(take_any, &taken);
		assert_int_equal(taken, ROOM / 2);
		assert_int_equal(lc_move_log_lost(), lost);
	}
}
#endif

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_log, close_log)

/* The limit has room for eight chunks beside one for each stripe. */
static void the_limit_of_memory_holds_and_what_was_taken_makes_room(void **state)
{
	const uint64_t share = 24 * 16384, places = 9 * 510;

	lc_memory_limit(share * 16 / 3);
	for (unsigned turn = 0; turn < 3; turn++) {
		const uint64_t before = lc_move_log_lost();

		memset(seen, 0, (size_t)THREADS * EACH);
		seen_len = 0;
		for (uint64_t i = 0; i < 3 * places; i++)
			lc_move_log_put(i + 1, i, i + 8);
		assert_true(lc_memory_held() <= share);
		assert_true(lc_move_log_lost() > before);
		lc_move_log_take(see, NULL);
		assert_int_equal(seen_len + lc_move_log_lost() - before, 3 * places);
		assert_true(seen_len >= 8 * 510);
	}
	assert_true(lc_memory_refused(LC_MEMORY_COPIES) > 0);
	assert_int_equal(lc_memory_held(), STRIPES * 16384);
	lc_memory_limit(UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_copy_has_the_time_before_it),
		CASE(each_copy_of_each_thread_is_taken_once_while_they_go_on),
#ifndef __SANITIZE_THREAD__
		CASE(what_finds_no_room_is_counted_and_room_is_given_back),
#endif
		cmocka_unit_test_setup_teardown(
		    the_limit_of_memory_holds_and_what_was_taken_makes_room, open_log, close_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
