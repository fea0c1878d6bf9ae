/* uses: src/span/tasks/link.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_link.c - checks that facts kept for an object are never taken for those of another object.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/format/kinds.h"
#include "src/span/tasks/link.h"
#include "tests/unit/counter.h"

static int setup(void **state)
{
	return lc_link_init();
}

static int teardown(void **state)
{
	lc_link_free();
	return 0;
}

static struct lc_link_key key(uint32_t hash, uint32_t class)
{
	return (struct lc_link_key){ .hash = hash, .class = class };
}

static bool created(uint32_t hash, uint32_t class, uint32_t site, uint32_t creator)
{
	return lc_link_created(
	    key(hash, class),
	    &(struct lc_link_creation){
	        .site = site, .creator = creator, .maker = 5, .tsc = 1000, .object = hash });
}

/* Reported by a second constructor, or by an expression that has one value. */
static bool created_again(struct lc_link_key key, uint32_t creator, uint64_t object, bool single)
{
	return lc_link_created(key, &(struct lc_link_creation){ .site = 11,
	                                                        .creator = creator,
	                                                        .object = object,
	                                                        .again = !single,
	                                                        .single = single });
}

static struct lc_link_task executed(uint32_t hash, uint32_t class)
{
	struct lc_link_task out;

	lc_link_executed(key(hash, class), &out);
	return out;
}

/* The hash of one that was submitted and executed comes again, of the same origin. */
static void what_was_executed_is_not_said_of_its_successor(void **state)
{
	struct lc_link_task t;

	assert_true(created(7, 1, 11, 3));
	lc_link_submitted(key(7, 1), LC_SUBMIT_FORK, 21, 5000);
	assert_true(executed(7, 1).submitted);
	assert_true(created(7, 1, 11, 3));
	t = executed(7, 1);
	assert_false(t.submitted);
	assert_true(t.first);
	assert_int_equal(t.site, 11);
	assert_int_equal(counter("spans_links_ambiguous"), 0);
}

static void an_execution_learns_who_made_and_submitted_its_object(void **state)
{
	struct lc_link_task t;

	assert_true(created(7, 1, 11, 3));
	assert_int_equal(lc_link_submitted(key(7, 1), LC_SUBMIT_SUBMIT, 21, 5000), 11);
	assert_true(lc_link_pending(key(7, 1)));
	t = executed(7, 1);
	assert_int_equal(t.object, 7);
	assert_int_equal(t.site, 11);
	assert_int_equal(t.creator, 3);
	assert_int_equal(t.submit_kind, LC_SUBMIT_SUBMIT);
	assert_int_equal(t.submit_path, 21);
	assert_int_equal(t.submit_tsc, 5000);
	assert_true(t.submitted && t.first);
	assert_false(lc_link_pending(key(7, 1)));
}

static void a_second_execution_is_known_and_has_not_waited(void **state)
{
	struct lc_link_task t;

	created(7, 1, 11, 3);
	lc_link_submitted(key(7, 1), LC_SUBMIT_SCHEDULE, 21, 5000);
	executed(7, 1);
	t = executed(7, 1);
	assert_int_equal(t.site, 11);
	assert_int_equal(t.submit_kind, LC_SUBMIT_SCHEDULE);
	assert_int_equal(t.submit_tsc, 0);
	assert_false(t.first);
}

static void nothing_is_known_of_an_object_that_was_not_seen(void **state)
{
	struct lc_link_task t = { .site = 1 };

	assert_false(lc_link_executed(key(1, 1), &t));
	assert_int_equal(t.site, 0);
	assert_int_equal(counter("spans_links_unknown"), 1);
}

static void two_objects_that_look_the_same_are_unknown_both(void **state)
{
	assert_true(created(7, 1, 11, 3));
	assert_true(created(7, 1, 12, 3));
	assert_int_equal(counter("spans_links_ambiguous"), 1);
	assert_int_equal(executed(7, 1).site, 0);
	assert_int_equal(executed(7, 1).site, 0);
	assert_int_equal(lc_link_submitted(key(7, 1), LC_SUBMIT_EXECUTE, 1, 1), 0);
}

static void even_where_the_first_was_executed_once(void **state)
{
	created(7, 1, 11, 3);
	assert_int_equal(executed(7, 1).site, 11);
	created(7, 1, 12, 3);
	assert_int_equal(executed(7, 1).site, 0);
}

static void two_objects_of_one_origin_may_share_what_is_known(void **state)
{
	struct lc_link_task t;

	assert_true(created(7, 1, 11, 3));
	lc_link_submitted(key(7, 1), LC_SUBMIT_SUBMIT, 21, 5000);
	assert_true(created(7, 1, 11, 3));
	lc_link_submitted(key(7, 1), LC_SUBMIT_SUBMIT, 21, 6000);
	t = executed(7, 1);
	assert_int_equal(t.site, 11);
	assert_true(t.first);
	assert_int_equal(t.submit_tsc, 0); /* whose turn it is, is not known */
	assert_true(executed(7, 1).first);
	assert_false(executed(7, 1).first);
	assert_int_equal(counter("spans_links_ambiguous"), 0);
}

static void a_hash_of_two_classes_is_two_objects(void **state)
{
	created(7, 1, 11, 3);
	created(7, 2, 12, 4);
	assert_int_equal(executed(7, 1).site, 11);
	assert_int_equal(executed(7, 2).creator, 4);
	assert_int_equal(counter("spans_links_ambiguous"), 0);
}

static void a_constructor_of_a_superclass_does_not_count_twice(void **state)
{
	assert_true(created(7, 1, 11, 3));
	assert_false(created_again(key(7, 1), 3, 8, false));
	assert_true(executed(7, 1).first);
	assert_false(executed(7, 1).first);
}

static void an_object_that_its_constructor_submits_is_one(void **state)
{
	struct lc_link_task t;

	assert_int_equal(lc_link_submitted(key(7, 1), LC_SUBMIT_START, 2, 100), 0);
	assert_true(created(7, 1, 11, 3));
	t = executed(7, 1);
	assert_int_equal(t.site, 11);
	assert_int_equal(t.submit_kind, LC_SUBMIT_START);
}

static void a_lambda_without_captures_is_one_object(void **state)
{
	assert_true(created_again(key(7, 1), 3, 1, true));
	assert_false(created_again(key(7, 1), 4, 2, true));
	assert_int_equal(executed(7, 1).site, 11);
	assert_false(created_again(key(7, 1), 3, 3, true));
	assert_int_equal(executed(7, 1).creator, 3);
	assert_int_equal(counter("spans_links_ambiguous"), 0);
}

static void several_ways_of_waiting_are_none_that_is_known(void **state)
{
	struct lc_link_task t;

	created(7, 1, 11, 3);
	lc_link_submitted(key(7, 1), LC_SUBMIT_SUBMIT, 21, 5000);
	lc_link_submitted(key(7, 1), LC_SUBMIT_EXECUTE, 22, 5000);
	t = executed(7, 1);
	assert_true(t.submitted);
	assert_int_equal(t.submit_kind, LC_SUBMIT_NONE);
	assert_int_equal(executed(7, 1).submit_kind, LC_SUBMIT_NONE);
	lc_link_submitted(key(7, 1), LC_SUBMIT_EXECUTE, 22, 9000);
	t = executed(7, 1);
	assert_int_equal(t.submit_kind, LC_SUBMIT_EXECUTE);
	assert_int_equal(t.submit_tsc, 9000);
}

static uint32_t nth_hash(uint32_t n)
{
	uint64_t h = n * UINT64_C(0x9e3779b97f4a7c15);

	h ^= h >> 29;
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(h >> 33) | 1;
}

/* ThreadSanitizer takes a minute for millions of objects, and sees nothing, since one thread has
 * them. */
#ifndef __SANITIZE_THREAD__
static void hashes_that_were_given_in_a_row_fill_set_after_set(void **state)
{
	enum { ENTRIES = LC_LINK_NEAR_SETS * LC_LINK_WAYS };

	for (uint32_t n = 1; n <= ENTRIES; n++)
		assert_int_equal(
		    lc_link_number(n * (uint32_t)LC_LINK_HASH_FACTOR & LC_LINK_HASH_MASK), n);
	/* None has to give way. */
	for (uint32_t n = 1; n <= LC_LINK_ENTRIES; n++)
		created(n * (uint32_t)LC_LINK_HASH_FACTOR & LC_LINK_HASH_MASK, 1, 5, 1);
	assert_int_equal(counter("spans_links_dropped"), 0);
	for (uint32_t n = 1; n <= LC_LINK_ENTRIES; n++)
		assert_int_equal(
		    executed(n * (uint32_t)LC_LINK_HASH_FACTOR & LC_LINK_HASH_MASK, 1).site, 5);
}

static void a_full_table_gives_up_what_was_executed_first(void **state)
{
	enum { LIVE = 40000, PASSING = 2000000 };
	uint32_t known = 0;

	for (uint32_t i = 0; i < LIVE; i++)
		created(nth_hash(i), 1, 5, 1);
	for (uint32_t i = LIVE; i < PASSING; i++) {
		created(nth_hash(i), 2, 6, 1);
		assert_int_equal(executed(nth_hash(i), 2).site, 6);
	}
	for (uint32_t i = 0; i < LIVE; i++)
		known += executed(nth_hash(i), 1).site == 5;
	assert_int_equal(counter("spans_links_dropped"), 0);
	assert_int_equal(known, LIVE);
}

static void then_the_oldest_and_counts_them(void **state)
{
	enum { OBJECTS = 4000000 };
	uint32_t known = 0, old = 0, forgotten = 0, first = 0;
	struct lc_link_forgotten f;

	for (uint32_t i = 0; i < OBJECTS; i++) {
		created(nth_hash(i), 1, 5, 1);
		for (; lc_link_forgotten(&f); forgotten += f.count)
			assert_int_equal(f.site, 5);
	}
	assert_int_equal(counter("spans_links_forgotten"), forgotten);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		struct lc_link_task task = executed(nth_hash(i), 1);

		known += task.site == 5;
		first += task.first;
		/* Beyond what fills the near sets. */
		old += task.site == 5 && i < OBJECTS / 4 && i > 100000;
	}
	assert_in_range(known, LC_LINK_ENTRIES * 95u / 100, LC_LINK_ENTRIES + 8000);
	assert_in_range(counter("spans_links_dropped"), OBJECTS - known - 9000,
	                OBJECTS - known + 9000);
	assert_in_range(old, 0, 2000); /* of 900,000 */
	/* Each is found to be executed once, or it is said that this is not known. */
	assert_int_equal(first + forgotten, OBJECTS);
}

static void what_is_executed_time_and_again_stays(void **state)
{
	created(1, 9, 99, 1);
	executed(1, 9);
	executed(1, 9);
	for (uint32_t i = 0; i < 3000000; i++) {
		created(nth_hash(i), 2, 6, 1);
		executed(nth_hash(i), 2);
	}
	assert_int_equal(executed(1, 9).site, 99);
}

#endif

static void a_stream_task_finds_its_stream_each_time(void **state)
{
	struct lc_link_stream in = { .id = 77, .path = 8, .level = 3 }, out = { 0 };

	created(7, 1, 11, 3); /* the same object, as a task */
	lc_link_stream_put(7, &in);
	assert_true(lc_link_stream_take(7, &out));
	assert_int_equal(out.id, 77);
	assert_int_equal(out.path, 8);
	assert_int_equal(out.level, 3);
	assert_true(lc_link_stream_take(7, &out));
	assert_int_equal(out.id, 77);
	assert_int_equal(executed(7, 1).site, 11);
}

static void two_stream_tasks_of_one_hash_are_unknown_both_and_then_forgotten(void **state)
{
	struct lc_link_stream in = { .id = 77 }, other = { .id = 78 }, out = { 0 };

	lc_link_stream_begins(77);
	lc_link_stream_begins(78);
	lc_link_stream_put(7, &in);
	lc_link_stream_put(7, &other);
	assert_false(lc_link_stream_take(7, &out));
	assert_false(lc_link_stream_take(7, &out));
	lc_link_stream_put(7, &other);
	assert_true(lc_link_stream_take(7, &out));
	assert_int_equal(out.id, 78);
	lc_link_stream_ends(77);
	lc_link_stream_ends(78);
}

static void a_task_of_a_stream_that_has_ended_is_no_other_ones(void **state)
{
	struct lc_link_stream in = { .id = 77 }, other = { .id = 78, .path = 5 }, out = { 0 };

	lc_link_stream_begins(77);
	lc_link_stream_put(7, &in);
	lc_link_stream_ends(77); /* it never computed */
	lc_link_stream_begins(78);
	lc_link_stream_put(7, &other);
	assert_true(lc_link_stream_take(7, &out));
	assert_int_equal(out.id, 78);
	assert_int_equal(out.path, 5);
	assert_int_equal(counter("spans_links_ambiguous"), 0);
	lc_link_stream_ends(78);
}

static void streams_of_one_place_are_never_taken_for_ended(void **state)
{
	struct lc_link_stream first = { .id = 1 }, other = { .id = 5000 }, out = { 0 };

	for (uint64_t id = 1; id <= 2000; id++) /* more than there are places */
		lc_link_stream_begins(id);
	lc_link_stream_put(7, &first);
	lc_link_stream_put(7, &other);
	assert_false(lc_link_stream_take(7, &out));
	for (uint64_t id = 1; id <= 2000; id++)
		lc_link_stream_ends(id);
	lc_link_stream_put(8, &first);
	lc_link_stream_put(8, &other);
	assert_true(lc_link_stream_take(8, &out));
}

/* Each thread has classes of its own, and all use the same hashes. */
static void *hammer(void *argument)
{
	uint32_t me = (uint32_t)(uintptr_t)argument;
	uintptr_t wrong = 0;

	for (uint32_t round = 0; round < 300; round++) {
		for (uint32_t i = 0; i < 100; i++) {
			uint32_t hash = nth_hash(i % 50);

			created(hash, me * 1000 + i, me * 1000 + i + 1, me);
			lc_link_submitted(key(hash, me * 1000 + i), LC_SUBMIT_EXECUTE, me, round);
		}
		for (uint32_t i = 0; i < 100; i++) {
			struct lc_link_task t = executed(nth_hash(i % 50), me * 1000 + i);

			wrong += t.site && (t.site != me * 1000 + i + 1 || t.creator != me ||
			                    t.submit_path != me);
		}
		for (uint32_t i = 0; i < 50; i++) {
			struct lc_link_stream s = { .id = me * 1000 + i, .path = me }, out = s;

			lc_link_stream_put(nth_hash(me * 1000 + i), &s);
			lc_link_stream_take(nth_hash(me * 1000 + i), &out);
			wrong += out.id != me * 1000 + i || out.path != me;
		}
	}
	return (void *)wrong;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[4];
	void *wrong;

	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_executed_is_not_said_of_its_successor),
		TEST(an_execution_learns_who_made_and_submitted_its_object),
		TEST(a_second_execution_is_known_and_has_not_waited),
		TEST(nothing_is_known_of_an_object_that_was_not_seen),
		TEST(two_objects_that_look_the_same_are_unknown_both),
		TEST(even_where_the_first_was_executed_once),
		TEST(two_objects_of_one_origin_may_share_what_is_known),
		TEST(a_hash_of_two_classes_is_two_objects),
		TEST(a_constructor_of_a_superclass_does_not_count_twice),
		TEST(an_object_that_its_constructor_submits_is_one),
		TEST(a_lambda_without_captures_is_one_object),
		TEST(several_ways_of_waiting_are_none_that_is_known),
#ifndef __SANITIZE_THREAD__
		TEST(hashes_that_were_given_in_a_row_fill_set_after_set),
		TEST(a_full_table_gives_up_what_was_executed_first),
		TEST(then_the_oldest_and_counts_them),
		TEST(what_is_executed_time_and_again_stays),
#endif
		TEST(a_stream_task_finds_its_stream_each_time),
		TEST(a_task_of_a_stream_that_has_ended_is_no_other_ones),
		TEST(streams_of_one_place_are_never_taken_for_ended),
		TEST(two_stream_tasks_of_one_hash_are_unknown_both_and_then_forgotten),
		TEST(threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
