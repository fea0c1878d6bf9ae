/* uses: src/tally.c */
/* test_tally.c - nothing that was counted is missing from the block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tally.h"

static int setup(void **state)
{
	*state = lc_tally_create();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	lc_tally_destroy(*state);
	return 0;
}

static uint64_t bucket_total(const struct lc_block_input *in, enum lc_bucket bucket)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < in->buckets_len; i++)
		if (in->buckets[i].bucket == bucket)
			samples += in->buckets[i].samples;
	return samples;
}

static void an_empty_tally_makes_no_block(void **state)
{
	struct lc_block_input in = { 0 };

	assert_false(lc_tally_block(*state, &in));
}

static void equal_accesses_become_one_and_others_stay_apart(void **state)
{
	struct lc_block_input in = { 0 };

	for (unsigned i = 0; i < 1000; i++)
		lc_tally_sample(*state, 0, LC_BUCKET_OBJECT, 1 + i % 2, 10 + i % 5,
		                LC_WHERE_COMPILED, LC_HOW_DIRECT, 1);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.accesses_len, 10);
	for (size_t i = 0; i < in.accesses_len; i++)
		assert_int_equal(in.accesses[i].samples, 100);
	assert_int_equal(bucket_total(&in, LC_BUCKET_OBJECT), 1000);
}

static void lost_samples_are_in_a_bucket_without_a_path(void **state)
{
	struct lc_block_input in = { 0 };

	lc_tally_lost(*state, 3);
	lc_tally_lost(*state, 4);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.accesses_len, 0);
	assert_int_equal(bucket_total(&in, LC_BUCKET_LOST), 7);
}

static void details_say_where_and_how(void **state)
{
	struct lc_block_input in = { 0 };

	lc_tally_sample(*state, 0, LC_BUCKET_JVM, 0, 1, LC_WHERE_INTERPRETER, LC_HOW_NOT_JAVA, 1);
	lc_tally_sample(*state, 0, LC_BUCKET_OBJECT, 1, 1, LC_WHERE_STUB, LC_HOW_TRAP, 1);
	lc_tally_sample(*state, 0, LC_BUCKET_OBJECT, 1, 2, LC_WHERE_STUB, LC_HOW_TRAP, 1);
	lc_tally_block(*state, &in);
	assert_int_equal(in.details_len, 2);
	assert_int_equal(in.details[0].where, LC_WHERE_STUB);
	assert_int_equal(in.details[0].how, LC_HOW_TRAP);
	assert_int_equal(in.details[0].samples, 2);
	assert_int_equal(in.details[1].where, LC_WHERE_INTERPRETER);
}

static void a_cleared_tally_starts_anew(void **state)
{
	struct lc_block_input in = { 0 };

	lc_tally_sample(*state, 0, LC_BUCKET_NATIVE, 0, 1, LC_WHERE_NATIVE, LC_HOW_NOT_JAVA, 1);
	lc_tally_allocations(*state, 1, 2, 4096);
	lc_tally_lost(*state, 1);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.allocs_len, 1);
	assert_int_equal(in.allocs[0].bytes, 4096);
	lc_tally_clear(*state);
	memset(&in, 0, sizeof(in));
	assert_false(lc_tally_block(*state, &in));
}

static void a_block_that_was_not_written_is_part_of_the_next(void **state)
{
	struct lc_block_input in = { 0 };

	lc_tally_sample(*state, 0, LC_BUCKET_OBJECT, 1, 1, LC_WHERE_COMPILED, LC_HOW_DIRECT, 1);
	lc_tally_block(*state, &in);
	lc_tally_sample(*state, 0, LC_BUCKET_OBJECT, 1, 1, LC_WHERE_COMPILED, LC_HOW_DIRECT, 1);
	lc_tally_block(*state, &in);
	assert_int_equal(in.accesses_len, 1);
	assert_int_equal(in.accesses[0].samples, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_tally_makes_no_block),
		TEST(equal_accesses_become_one_and_others_stay_apart),
		TEST(lost_samples_are_in_a_bucket_without_a_path),
		TEST(details_say_where_and_how),
		TEST(a_cleared_tally_starts_anew),
		TEST(a_block_that_was_not_written_is_part_of_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
