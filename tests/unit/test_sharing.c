/* uses: analyzer/objects/analysis/sharing.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c src/format/section.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sharing.c - checks which uses of a cache line are false sharing, and which two sides a
 * finding has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/objects/analysis/sharing.h"
#include "src/format/kinds.h"

enum { THREADS = 3, ARRAY = 1, OTHER = 2 }; /* sites */

static struct lc_tree tree;
static uint32_t name; /* of the fields from now on */
static struct lc_sharing found;

static int some_threads(void **state)
{
	lc_tree_init(&tree);
	for (uint32_t i = 0; i < THREADS; i++) {
		const uint32_t key[LC_THREAD_KEY] = { 0, i };
		uint64_t *values = lc_table_values(&tree.threads, lc_table_put(&tree.threads, key));

		values[LC_THREAD_TID] = 100 + i;
		values[LC_THREAD_NAME] = lc_tree_string(&tree, &"abc"[i], 1);
	}
	return 0;
}

static int nothing(void **state)
{
	lc_sharing_free(&found);
	found = (struct lc_sharing){ 0 };
	name = 0;
	lc_tree_free(&tree);
	return 0;
}

/* A thread's samples in 8 bytes of a line. */
static void use(uint32_t thread, uint32_t number, uint32_t site, uint32_t byte, uint32_t touch,
                uint64_t samples)
{
	uint32_t key[LC_LINE_KEY] = { [LC_LINE_THREAD] = thread,
		                      [LC_LINE_NUMBER] = number,
		                      [LC_LINE_BUCKET] = LC_BUCKET_OBJECT,
		                      [LC_LINE_SITE] = site,
		                      [LC_LINE_NAME] = name,
		                      [LC_LINE_BYTE] = byte,
		                      [LC_LINE_WIDTH] = 8,
		                      [LC_LINE_TOUCH] = touch };
	uint64_t *values = lc_table_values(&tree.lines, lc_table_put(&tree.lines, key));

	values[LC_LINE_SAMPLES] += samples;
}

static struct lc_load_process process;

static void find(void)
{
	const struct lc_load load = { .tree = &tree, .processes = &process, .processes_len = 1 };
	const struct lc_view v = { .tree = &tree, .load = &load };

	lc_sharing_find(&found, &v);
}

/* A side of the only finding: its busiest thread of so many, and their samples. */
static void check_side(unsigned side, uint32_t thread, uint32_t threads, uint64_t samples)
{
	const struct lc_sharing_side *s = &found.findings[0].sides[side];

	assert_int_equal(found.findings_len, 1);
	assert_int_equal(s->thread, thread);
	assert_int_equal(s->threads, threads);
	assert_int_equal(s->samples, samples);
}

static void stores_to_neighbours_are_found(void **state)
{
	use(0, 1, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(1, 1, OTHER, 8, LC_TOUCH_LOAD, 40);
	use(0, 2, ARRAY, 0, LC_TOUCH_STORE, 50); /* alone in this line */
	find();
	assert_int_equal(found.lines, 1);
	assert_int_equal(found.lines_false, 1);
	assert_int_equal(found.findings[0].samples, 90);
	check_side(0, 0, 1, 50);
	check_side(1, 1, 1, 40);
	assert_int_equal(found.findings[0].sides[0].site, ARRAY);
	assert_int_equal(found.findings[0].sides[1].site, OTHER);
}

/* Thread 1 uses two fields beside what thread 0 stores: two findings, whose samples are 120 in all.
 */
static void findings_on_the_same_objects_have_one_sum_with_each_sample_once(void **state)
{
	use(0, 1, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(1, 1, OTHER, 8, LC_TOUCH_LOAD, 40);
	name = lc_tree_string(&tree, "other", 5);
	use(1, 1, OTHER, 16, LC_TOUCH_LOAD, 30);
	find();
	assert_int_equal(found.findings_len, 2);
	assert_int_equal(found.findings[0].samples, 90);
	assert_int_equal(found.findings[1].samples, 80);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(found.findings[i].objects.samples, 120);
		assert_int_equal(found.findings[i].objects.lines, 1);
		assert_int_equal(found.findings[i].repeats, i);
	}
}

/* A line goes from core to core where there are two; where nobody knows, there may be. */
static void a_process_on_one_cpu_shares_nothing(void **state)
{
	use(0, 1, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(1, 1, OTHER, 8, LC_TOUCH_LOAD, 40);
	for (unsigned cpus = 0; cpus < 3; cpus++) {
		lc_sharing_free(&found);
		process.cpus = cpus;
		find();
		assert_int_equal(found.findings_len, cpus != 1);
		assert_int_equal(found.lines, cpus != 1);
		assert_int_equal(found.one_cpu, cpus == 1);
	}
	process.cpus = 0;
}

static void the_same_bytes_and_reads_are_not(void **state)
{
	use(0, 1, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(1, 1, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(0, 2, ARRAY, 0, LC_TOUCH_LOAD, 50);
	use(1, 2, ARRAY, 8, LC_TOUCH_LOAD, 50);
	use(0, 3, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(1, 3, ARRAY, 8, LC_TOUCH_STORE, LC_SHARING_SAMPLES - 1);
	find();
	assert_int_equal(found.findings_len, 0);
	assert_int_equal(found.lines, 3);
	assert_int_equal(found.lines_false, 0);
}

/* Each thread is at a place of its own most of the time, and at the other's too often to stray. */
static void places_that_both_threads_use_are_shared_truly(void **state)
{
	use(0, 1, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(0, 1, ARRAY, 8, LC_TOUCH_STORE, 20);
	use(1, 1, ARRAY, 8, LC_TOUCH_STORE, 50);
	use(0, 2, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(1, 2, ARRAY, 8, LC_TOUCH_STORE, 50);
	use(1, 2, ARRAY, 4, LC_TOUCH_LOAD, 20); /* half of it in what the other one writes */
	find();
	assert_int_equal(found.findings_len, 0);
	assert_int_equal(found.lines, 2);
}

/* A stray: less than a tenth of a thread's samples. */
static void a_stray_is_overlooked_and_so_is_reading_what_nobody_writes(void **state)
{
	use(0, 1, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(1, 1, ARRAY, 8, LC_TOUCH_STORE, 50);
	use(1, 1, ARRAY, 0, LC_TOUCH_STORE, 4);
	use(0, 2, OTHER, 0, LC_TOUCH_STORE, 50);
	use(0, 2, OTHER, 8, LC_TOUCH_LOAD, 50); /* both read these */
	use(1, 2, OTHER, 8, LC_TOUCH_LOAD, 30);
	find();
	assert_int_equal(found.lines_false, 2);
	assert_int_equal(found.findings_len, 2);
	assert_int_equal(found.findings[0].samples, 100);
	assert_int_equal(found.findings[1].samples, 80);
}

static uint64_t *line_of(uint32_t thread, uint32_t engine, uint32_t path, uint32_t site)
{
	const uint32_t key[LC_LINE_KEY] = { [LC_LINE_THREAD] = thread,
		                            [LC_LINE_ENGINE] = engine,
		                            [LC_LINE_NUMBER] = 1,
		                            [LC_LINE_BUCKET] = LC_BUCKET_OBJECT,
		                            [LC_LINE_SITE] = site,
		                            [LC_LINE_PATH] = path,
		                            [LC_LINE_BYTE] = 8 * thread,
		                            [LC_LINE_WIDTH] = 8,
		                            [LC_LINE_TOUCH] = LC_TOUCH_STORE };

	return lc_table_values(&tree.lines, lc_table_put(&tree.lines, key));
}

static void only_the_hardware_makes_it_certain(void **state)
{
	line_of(0, 0, 0, ARRAY)[LC_LINE_SAMPLES] = 50;
	line_of(1, 0, 0, ARRAY)[LC_LINE_SAMPLES] = 40;
	find();
	assert_int_equal(found.findings_len, 1);
	assert_false(found.findings[0].certain);
	lc_sharing_free(&found);
	line_of(1, 0, 0, ARRAY)[LC_LINE_HITM] = 3;
	find();
	assert_true(found.findings[0].certain);
	assert_int_equal(found.findings[0].hitm, 3);
}

static void other_engines_and_other_processes_share_nothing(void **state)
{
	const uint32_t key[LC_THREAD_KEY] = { 1, 1 }; /* of another process */
	const uint32_t apart = lc_table_put(&tree.threads, key);

	use(0, 1, ARRAY, 0, LC_TOUCH_STORE, 50);
	use(apart, 1, ARRAY, 8, LC_TOUCH_STORE, 40);
	line_of(1, 1, 0, ARRAY)[LC_LINE_SAMPLES] = 40;
	find();
	assert_int_equal(found.lines, 0);
	assert_int_equal(found.findings_len, 0);
}

static void a_use_is_of_what_most_of_its_samples_are_over_all_paths(void **state)
{
	line_of(0, 0, 1, ARRAY)[LC_LINE_SAMPLES] = 20;
	line_of(0, 0, 2, ARRAY)[LC_LINE_SAMPLES] = 20;
	line_of(0, 0, 1, OTHER)[LC_LINE_SAMPLES] = 30; /* the line of another object earlier */
	line_of(1, 0, 0, ARRAY)[LC_LINE_SAMPLES] = 40;
	find();
	assert_int_equal(found.findings_len, 1);
	assert_int_equal(found.findings[0].sides[0].site, ARRAY);
	assert_int_equal(found.findings[0].sides[1].site, ARRAY);
}

/*
 * An array over two lines; in one of them a thread is the busier one, in the other one the other.
 */
static void sides_of_one_array_are_of_different_threads(void **state)
{
	use(0, 1, ARRAY, 0, LC_TOUCH_STORE, 60);
	use(1, 1, ARRAY, 8, LC_TOUCH_STORE, 40);
	use(0, 2, ARRAY, 0, LC_TOUCH_STORE, 45);
	use(1, 2, ARRAY, 8, LC_TOUCH_STORE, 55);
	find();
	check_side(0, 0, 1, 105);
	check_side(1, 1, 1, 95);
	assert_int_equal(found.findings[0].lines, 2);
}

static void busiest_thread_is_against_all_others(void **state)
{
	use(0, 1, ARRAY, 0, LC_TOUCH_STORE, 10);
	use(1, 1, ARRAY, 8, LC_TOUCH_STORE, 30);
	use(1, 2, ARRAY, 0, LC_TOUCH_STORE, 30);
	use(2, 2, ARRAY, 8, LC_TOUCH_STORE, 50);
	use(0, 3, ARRAY, 0, LC_TOUCH_STORE, 20);
	use(2, 3, ARRAY, 8, LC_TOUCH_STORE, 6); /* without the busiest: the busier of the two */
	find();
	assert_int_equal(found.findings[0].samples, 146);
	check_side(0, 2, 2, 80);
	check_side(1, 1, 2, 66);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stores_to_neighbours_are_found, some_threads,
		                                nothing),
		cmocka_unit_test_setup_teardown(
		    findings_on_the_same_objects_have_one_sum_with_each_sample_once, some_threads,
		    nothing),
		cmocka_unit_test_setup_teardown(a_process_on_one_cpu_shares_nothing, some_threads,
		                                nothing),
		cmocka_unit_test_setup_teardown(the_same_bytes_and_reads_are_not, some_threads,
		                                nothing),
		cmocka_unit_test_setup_teardown(places_that_both_threads_use_are_shared_truly,
		                                some_threads, nothing),
		cmocka_unit_test_setup_teardown(
		    a_stray_is_overlooked_and_so_is_reading_what_nobody_writes, some_threads,
		    nothing),
		cmocka_unit_test_setup_teardown(only_the_hardware_makes_it_certain, some_threads,
		                                nothing),
		cmocka_unit_test_setup_teardown(other_engines_and_other_processes_share_nothing,
		                                some_threads, nothing),
		cmocka_unit_test_setup_teardown(
		    a_use_is_of_what_most_of_its_samples_are_over_all_paths, some_threads, nothing),
		cmocka_unit_test_setup_teardown(sides_of_one_array_are_of_different_threads,
		                                some_threads, nothing),
		cmocka_unit_test_setup_teardown(busiest_thread_is_against_all_others, some_threads,
		                                nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
