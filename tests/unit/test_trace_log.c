/* uses: src/span/frames/trace.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace_log.c - checks that each single span is read once, in order, or is counted as lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "src/span/frames/trace.h"

static bool put(struct lc_trace_log *l, uint64_t id)
{
	return lc_trace_log_put(l, &(struct lc_block_trace){ .id = id });
}

static void rows_come_in_order_and_full_chunks_are_told(void **state)
{
	const uint64_t rows = 3 * LC_TRACE_CHUNK_ROWS + 7;
	struct lc_block_trace row;
	struct lc_trace_log *l;
	unsigned told = 0;

	assert_int_equal(lc_trace_log_create(&l), 0);
	assert_false(lc_trace_log_take(l, &row));
	for (uint64_t i = 1; i <= rows; i++)
		told += put(l, i);
	assert_int_equal(told, 3);
	for (uint64_t i = 1; i <= rows; i++) {
		assert_int_equal(lc_trace_log_left(l), rows - i + 1);
		assert_true(lc_trace_log_take(l, &row));
		assert_int_equal(row.id, i);
	}
	assert_false(lc_trace_log_take(l, &row));
	assert_int_equal(lc_trace_log_left(l), 0);
	assert_int_equal(lc_trace_log_lost(l), 0);
	lc_trace_log_destroy(l);
}

static void what_finds_no_room_is_counted_and_room_comes_back(void **state)
{
	const uint64_t room = (uint64_t)LC_TRACE_CHUNK_ROWS * (LC_TRACE_CHUNKS_MAX + 1);
	struct lc_trace_log *l, *other;
	struct lc_block_trace row;

	for (unsigned again = 0; again < 2; again++) {
		assert_int_equal(lc_trace_log_create(&l), 0);
		assert_int_equal(lc_trace_log_create(&other), 0);
		for (uint64_t i = 1; i <= room + 5; i++)
			put(l, i);
		assert_int_equal(lc_trace_log_lost(l), 5);
		assert_int_equal(lc_trace_log_left(l), room);
		/* Each thread has its first chunk whatever others use. */
		for (uint64_t i = 1; i <= LC_TRACE_CHUNK_ROWS + 2; i++)
			put(other, i);
		assert_int_equal(lc_trace_log_lost(other), 2);
		for (uint64_t i = 1; i <= LC_TRACE_CHUNK_ROWS + 1; i++)
			assert_true(lc_trace_log_take(l, &row));
		put(l, room + 6);
		assert_int_equal(lc_trace_log_lost(l), 5);
		lc_trace_log_destroy(other);
		lc_trace_log_destroy(l);
	}
}

enum { WRITTEN = 1000000 };

static void *write_rows(void *log)
{
	for (uint64_t i = 1; i <= WRITTEN; i++)
		put(log, i);
	return NULL;
}

static void a_reader_at_the_same_time_gets_all_but_the_lost(void **state)
{
	struct lc_trace_log *l;
	struct lc_block_trace row;
	uint64_t last = 0, seen = 0;
	pthread_t writer;

	assert_int_equal(lc_trace_log_create(&l), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_rows, l), 0);
	while (seen + lc_trace_log_lost(l) < WRITTEN) {
		if (!lc_trace_log_take(l, &row))
			continue;
		assert_true(row.id > last);
		last = row.id;
		seen++;
	}
	pthread_join(writer, NULL);
	assert_int_equal(lc_trace_log_left(l), 0);
	lc_trace_log_destroy(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_in_order_and_full_chunks_are_told),
		cmocka_unit_test(what_finds_no_room_is_counted_and_room_comes_back),
		cmocka_unit_test(a_reader_at_the_same_time_gets_all_but_the_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
