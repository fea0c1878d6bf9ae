/* uses: src/attribute/lines.c src/base/limit.c src/base/say.c -lJudy */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_lines.c - checks that exactly the lines that several threads touched go to the tallies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/attribute/lines.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/format/kinds.h"
#include "src/profile/tally.h"
#include "tests/unit/counter.h"

/* A tally that keeps the rows of lines as they come. */
struct lc_tally {
	struct lc_block_line rows[1024];
	size_t len;
};

enum { THREADS = 4 };

static struct lc_thread threads[THREADS];

struct lc_tally *lc_tally_create(void)
{
	return calloc(1, sizeof(struct lc_tally));
}

int lc_tally_line(struct lc_tally *t, const struct lc_block_line *row)
{
	t->rows[t->len++ % 1024] = *row;
	return 0;
}

static int teardown(void **state)
{

	lc_lines_close_epoch();
	for (unsigned i = 0; i < THREADS; i++) {
		free(threads[i].tally);
		threads[i].tally = NULL;
	}
	return counter("lines_touches") != 0; /* a closed epoch leaves nothing */
}

static struct lc_block_line store(uint64_t addr)
{
	return (struct lc_block_line){
		.site = 1,
		.path = 2,
		.byte = (uint8_t)(addr % LC_LINE_BYTES),
		.bytes = 8,
		.access = LC_TOUCH_STORE,
		.name = "",
		.first = addr / 8,
		.samples = 1,
	};
}

static void touch(unsigned thread, uint64_t addr)
{
	struct lc_block_line row = store(addr);

	lc_lines_touch(&threads[thread], addr, &row);
}

static size_t rows(unsigned thread)
{
	return threads[thread].tally ? threads[thread].tally->len : 0;
}

static void a_line_of_one_thread_is_forgotten_with_its_epoch(void **state)
{
	for (unsigned i = 0; i < 100; i++)
		touch(0, 0x1000 + 8 * (i % 8));
	lc_lines_flush();
	lc_lines_close_epoch();
	touch(1, 0x1000); /* another object at that address: not shared */
	lc_lines_close_epoch();
	assert_int_equal(rows(0), 0);
	assert_int_equal(rows(1), 0);
}

static void a_shared_line_goes_to_each_of_its_threads_under_one_number(void **state)
{
	const struct lc_block_line *a, *b;

	for (unsigned i = 0; i < 5; i++)
		touch(0, 0x1000);
	for (unsigned i = 0; i < 7; i++)
		touch(1, 0x1038);
	touch(1, 0x1040); /* the next line: its own */
	lc_lines_flush();
	assert_int_equal(rows(0), 1);
	assert_int_equal(rows(1), 1);
	a = &threads[0].tally->rows[0];
	b = &threads[1].tally->rows[0];
	assert_int_not_equal(a->line, 0);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->samples, 5);
	assert_int_equal(b->samples, 7);
	assert_int_equal(a->byte, 0);
	assert_int_equal(b->byte, 0x38);
}

static void what_was_handed_over_is_not_handed_over_again(void **state)
{
	uint64_t number;

	touch(0, 0x1000);
	touch(1, 0x1008);
	lc_lines_flush();
	number = threads[0].tally->rows[0].line;
	lc_lines_flush();
	assert_int_equal(rows(0), 1);
	/* It stays shared, under its number, though only one thread goes on. */
	touch(0, 0x1000);
	touch(0, 0x1000);
	lc_lines_close_epoch();
	assert_int_equal(rows(0), 2);
	assert_int_equal(rows(1), 1);
	assert_int_equal(threads[0].tally->rows[1].samples, 2);
	assert_int_equal(threads[0].tally->rows[1].line, number);
}

static void an_address_has_another_number_in_another_epoch(void **state)
{
	for (unsigned epoch = 0; epoch < 2; epoch++) {
		touch(0, 0x1000);
		touch(1, 0x1000);
		lc_lines_close_epoch();
	}
	assert_int_equal(rows(0), 2);
	assert_int_not_equal(threads[0].tally->rows[0].line, threads[0].tally->rows[1].line);
}

static void different_accesses_of_a_thread_stay_apart(void **state)
{
	struct lc_block_line row = store(0x1000);

	touch(1, 0x1000);
	lc_lines_touch(&threads[0], 0x1000, &row);
	row.access = LC_TOUCH_LOAD;
	lc_lines_touch(&threads[0], 0x1000, &row);
	row.path = 3;
	row.hitm = 1;
	lc_lines_touch(&threads[0], 0x1000, &row);
	lc_lines_touch(&threads[0], 0x1000, &row);
	lc_lines_flush();
	assert_int_equal(rows(0), 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct lc_block_line *r = &threads[0].tally->rows[i];

		assert_int_equal(r->samples, r->path == 3 ? 2 : 1);
		assert_int_equal(r->hitm, r->path == 3 ? 2 : 0);
	}
}

static void accesses_to_different_bytes_stay_apart(void **state)
{
	struct lc_block_line row = store(0x1000);

	touch(1, 0x1000);
	lc_lines_touch(&threads[0], 0x1000, &row);
	row.byte = 16;
	lc_lines_touch(&threads[0], 0x1000, &row);
	row.bytes = 4;
	lc_lines_touch(&threads[0], 0x1000, &row);
	lc_lines_touch(&threads[0], 0x1000, &row);
	lc_lines_flush();
	assert_int_equal(rows(0), 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct lc_block_line *r = &threads[0].tally->rows[i];

		assert_int_equal(r->samples, r->bytes == 4 ? 2 : 1);
		assert_int_equal(r->byte, r->bytes == 4 ? 16 : r->byte);
	}
}

static void what_one_core_took_from_another_is_handed_over_once(void **state)
{
	struct lc_block_line row = store(0x1000);

	touch(1, 0x1000);
	row.hitm = 1;
	lc_lines_touch(&threads[0], 0x1000, &row);
	lc_lines_flush();
	row.hitm = 0;
	lc_lines_touch(&threads[0], 0x1000, &row);
	lc_lines_flush();
	assert_int_equal(rows(0), 2);
	assert_int_equal(threads[0].tally->rows[0].hitm, 1);
	assert_int_equal(threads[0].tally->rows[1].hitm, 0);
}

static void a_thread_that_goes_takes_what_it_shared_and_leaves_nothing(void **state)
{

	touch(0, 0x1000);
	touch(1, 0x1008);
	touch(1, 0x2000);
	lc_lines_forget(&threads[1]);
	assert_int_equal(rows(1), 1); /* before the flush */
	assert_int_equal(rows(0), 0);
	touch(0, 0x2000); /* whose other thread was forgotten: nobody shares it */
	touch(0, 0x1000);
	lc_lines_flush();
	assert_int_equal(rows(0), 1);
	assert_int_equal(threads[0].tally->rows[0].samples, 2);
	lc_lines_forget(&threads[0]);
	lc_lines_forget(&threads[0]);
	assert_int_equal(counter("lines_touches"), 0);
}

static void memory_is_bounded_and_hot_lines_outlast_cold_ones(void **state)
{
	uint64_t most = 0;

	const uint64_t before_dropped = counter("lines_dropped");
	for (unsigned i = 0; i < 64; i++)
		touch(0, 0x1000);
	for (uint64_t i = 0; i < 200000; i++) {
		touch(0, 0x10000000 + LC_LINE_BYTES * i);
		if (counter("lines_touches") > most)
			most = counter("lines_touches");
	}
	assert_in_range(most, 1 << 15, 1 << 16);
	assert_true(counter("lines_dropped") > before_dropped);
	touch(1, 0x1000);
	lc_lines_flush();
	assert_int_equal(rows(0), 1);
	assert_int_equal(threads[0].tally->rows[0].samples, 64);
}

static void shared_lines_are_handed_over_when_room_is_made(void **state)
{
	uint64_t samples = 0;

	threads[0].tally = lc_tally_create();
	threads[1].tally = lc_tally_create();
	for (uint64_t i = 0; i < 100000; i++) {
		touch(0, LC_LINE_BYTES * i);
		touch(1, LC_LINE_BYTES * i);
		samples++;
	}
	lc_lines_close_epoch();
	assert_int_equal(rows(0), samples);
	assert_int_equal(rows(1), samples);
}

static void one_line_does_not_take_all_the_room(void **state)
{

	for (unsigned i = 0; i < 10000; i++) {
		struct lc_block_line row = store(0x1000);

		row.path = i;
		lc_lines_touch(&threads[i % 2], 0x1000, &row);
	}
	assert_int_equal(counter("lines_touches"), 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_line_of_one_thread_is_forgotten_with_its_epoch,
		                          teardown),
		cmocka_unit_test_teardown(
		    a_shared_line_goes_to_each_of_its_threads_under_one_number, teardown),
		cmocka_unit_test_teardown(what_was_handed_over_is_not_handed_over_again, teardown),
		cmocka_unit_test_teardown(an_address_has_another_number_in_another_epoch, teardown),
		cmocka_unit_test_teardown(different_accesses_of_a_thread_stay_apart, teardown),
		cmocka_unit_test_teardown(accesses_to_different_bytes_stay_apart, teardown),
		cmocka_unit_test_teardown(what_one_core_took_from_another_is_handed_over_once,
		                          teardown),
		cmocka_unit_test_teardown(
		    a_thread_that_goes_takes_what_it_shared_and_leaves_nothing, teardown),
		cmocka_unit_test_teardown(memory_is_bounded_and_hot_lines_outlast_cold_ones,
		                          teardown),
		cmocka_unit_test_teardown(shared_lines_are_handed_over_when_room_is_made, teardown),
		cmocka_unit_test_teardown(one_line_does_not_take_all_the_room, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
