/* uses: analyzer/base/plain.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c analyzer/model/slices.c src/format/section.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_slices.c - checks that counts are apart by thread and time, and add up where sites are one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/model/slices.h"
#include "analyzer/model/tree.h"

static const uint32_t first[LC_SLICE_WHO] = { 1, 1 }, second[LC_SLICE_WHO] = { 2, 1 };

static uint64_t samples_of(struct lc_slices *s, const uint32_t *who, uint32_t site, uint32_t path,
                           unsigned value)
{
	const uint32_t key[LC_SAMPLED_KEY] = { who[0], who[1], 0, LC_BUCKET_OBJECT, site, path };
	const uint32_t row = lc_table_find(&s->sampled, key);

	return row == UINT32_MAX ? 0 : lc_table_values(&s->sampled, row)[value];
}

static void access(struct lc_slices *s, const uint32_t *who, uint32_t site, uint32_t path,
                   uint64_t samples)
{
	const uint32_t key[] = { 0, LC_BUCKET_OBJECT, site, path };

	lc_slices_add(s, who, LC_SECTION_ACCESSES, key, &samples);
}

static void threads_and_epochs_are_apart(void **state)
{
	struct lc_block_header early = { .t_begin_ns = 500, .t_end_ns = 1000 },
	                       late = { .t_begin_ns = 300, .t_end_ns = 1000 },
	                       next = { .t_begin_ns = 1000, .t_end_ns = UINT64_C(1) << 40 };
	uint32_t a[LC_SLICE_WHO], b[LC_SLICE_WHO], c[LC_SLICE_WHO];
	struct lc_slices s;

	lc_slices_init(&s);
	lc_slices_of_block(&s, 0, 7, &early, a);
	lc_slices_of_block(&s, 0, 8, &late, b);
	lc_slices_of_block(&s, 0, 7, &next, c);
	assert_int_equal(a[LC_SLICE_THREAD1], 8);
	assert_int_equal(b[LC_SLICE_THREAD1], 9);
	assert_int_equal(a[LC_SLICE_EPOCH1], b[LC_SLICE_EPOCH1]);
	assert_int_not_equal(a[LC_SLICE_EPOCH1], c[LC_SLICE_EPOCH1]);
	assert_int_equal(s.epochs.count, 2);
	assert_int_equal(lc_table_values(&s.epochs, 0)[LC_EPOCH_BEGIN_NS], 300);
	assert_true(lc_tree_wide(lc_table_key(&s.epochs, 1) + LC_EPOCH_END) == UINT64_C(1) << 40);
	access(&s, a, 3, 4, 10);
	access(&s, a, 3, 4, 5);
	access(&s, b, 3, 4, 2);
	access(&s, c, 3, 4, 1);
	assert_int_equal(samples_of(&s, a, 3, 4, LC_SAMPLED_SAMPLES), 15);
	assert_int_equal(samples_of(&s, b, 3, 4, LC_SAMPLED_SAMPLES), 2);
	assert_int_equal(samples_of(&s, c, 3, 4, LC_SAMPLED_SAMPLES), 1);
	lc_slices_free(&s);
}

/* A page on another node than the CPU is remote; where one is not known, nothing is said. */
static void remote_samples_are_told(void **state)
{
	/* engine, bucket, site, path, node + 1 of the CPU and of the page, source */
	const uint32_t near[] = { 0, LC_BUCKET_OBJECT, 3, 4, 1, 1, 0 },
	               far[] = { 0, LC_BUCKET_OBJECT, 3, 4, 1, 2, 0 },
	               unknown[] = { 0, LC_BUCKET_OBJECT, 3, 4, 1, 0, 0 };
	const uint64_t ten = 10, four = 4, three = 3;
	struct lc_slices s;

	lc_slices_init(&s);
	lc_slices_add(&s, first, LC_SECTION_PLACEMENTS, near, &ten);
	lc_slices_add(&s, first, LC_SECTION_PLACEMENTS, far, &four);
	lc_slices_add(&s, first, LC_SECTION_PLACEMENTS, unknown, &three);
	assert_int_equal(samples_of(&s, first, 3, 4, LC_SAMPLED_PLACED), 14);
	assert_int_equal(samples_of(&s, first, 3, 4, LC_SAMPLED_REMOTE), 4);
	assert_int_equal(samples_of(&s, first, 3, 4, LC_SAMPLED_SAMPLES), 0);
	lc_slices_free(&s);
}

static void what_stands_for_others_has_their_counts(void **state)
{
	const uint32_t paths[] = { 0, 1, 1, 3 }, sites[] = { 0, 1, 1 };
	const uint64_t made[] = { 2, 100 };
	struct lc_slices s;

	lc_slices_init(&s);
	access(&s, first, 1, 1, 5);
	access(&s, first, 2, 2, 7);
	access(&s, first, 2, 3, 11);
	access(&s, second, 2, 2, 13);
	for (uint32_t site = 1; site <= 2; site++)
		lc_slices_add(&s, first, LC_SECTION_ALLOCATIONS, &site, made);
	lc_slices_renumber(&s, paths, sites);
	assert_int_equal(samples_of(&s, first, 1, 1, LC_SAMPLED_SAMPLES), 12);
	assert_int_equal(samples_of(&s, first, 1, 3, LC_SAMPLED_SAMPLES), 11);
	assert_int_equal(samples_of(&s, second, 1, 1, LC_SAMPLED_SAMPLES), 13);
	assert_int_equal(s.sampled.count, 3);
	assert_int_equal(s.made.count, 1);
	assert_int_equal(lc_table_values(&s.made, 0)[LC_MADE_AT_OBJECTS], 4);
	assert_int_equal(lc_table_values(&s.made, 0)[LC_MADE_AT_BYTES], 200);
	lc_slices_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_epochs_are_apart),
		cmocka_unit_test(remote_samples_are_told),
		cmocka_unit_test(what_stands_for_others_has_their_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
