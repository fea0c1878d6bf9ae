/* uses: src/profile/tally.c src/format/section.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_tally.c - checks that nothing that was counted is missing from the block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "src/format/kinds.h"
#include "src/profile/tally.h"

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

static int count_sample(struct lc_tally *t, uint16_t engine, enum lc_bucket bucket, uint32_t site,
                        uint32_t path, enum lc_where where, enum lc_how how, uint64_t samples)
{
	return lc_tally_sample(t,
	                       &(struct lc_block_access){ engine, (uint8_t)bucket, site, path,
	                                                  samples, lc_block_pairs(samples) },
	                       where, how);
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
		count_sample(*state, 0, LC_BUCKET_OBJECT, 1 + i % 2, 10 + i % 5, LC_WHERE_COMPILED,
		             LC_HOW_DIRECT, 1);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.accesses_len, 10);
	for (size_t i = 0; i < in.accesses_len; i++)
		assert_int_equal(in.accesses[i].samples, 100);
	assert_int_equal(bucket_total(&in, LC_BUCKET_OBJECT), 1000);
}

/* The sum of squares of weights is samples + 2 * pairs, here 1 + 1 + 16 + 256. */
static void interrupts_are_told_by_what_they_weigh(void **state)
{
	static const uint64_t weights[] = { 1, 16, 4, 1 };
	struct lc_block_input in = { 0 };

	for (unsigned i = 0; i < 4; i++)
		count_sample(*state, 0, LC_BUCKET_OBJECT, 1, 10, LC_WHERE_COMPILED, LC_HOW_DIRECT,
		             weights[i]);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.accesses_len, 1);
	assert_int_equal(in.accesses[0].samples, 22);
	assert_int_equal(in.accesses[0].samples + 2 * in.accesses[0].pairs, 274);
	assert_int_equal(in.weights_len, 3);
	for (size_t i = 0; i < in.weights_len; i++) {
		static const uint64_t found[][2] = { { 1, 2 }, { 4, 1 }, { 16, 1 } };

		assert_int_equal(in.weights[i].samples, found[i][0]);
		assert_int_equal(in.weights[i].interrupts, found[i][1]);
	}
}

static void lost_samples_are_in_a_bucket_without_a_path(void **state)
{
	struct lc_block_input in = { 0 };

	lc_tally_lost(*state, 0, 3);
	lc_tally_lost(*state, 0, 4);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.accesses_len, 0);
	assert_int_equal(bucket_total(&in, LC_BUCKET_LOST), 7);
}

static void details_say_where_and_how(void **state)
{
	struct lc_block_input in = { 0 };

	count_sample(*state, 0, LC_BUCKET_JVM, 0, 1, LC_WHERE_INTERPRETER, LC_HOW_NOT_JAVA, 1);
	count_sample(*state, 0, LC_BUCKET_OBJECT, 1, 1, LC_WHERE_STUB, LC_HOW_TRAP, 1);
	count_sample(*state, 0, LC_BUCKET_OBJECT, 1, 2, LC_WHERE_STUB, LC_HOW_TRAP, 1);
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

	count_sample(*state, 0, LC_BUCKET_NATIVE, 0, 1, LC_WHERE_NATIVE, LC_HOW_NOT_JAVA, 1);
	lc_tally_allocations(*state, 1, 2, 4096);
	lc_tally_lost(*state, 0, 1);
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

	count_sample(*state, 0, LC_BUCKET_OBJECT, 1, 1, LC_WHERE_COMPILED, LC_HOW_DIRECT, 1);
	lc_tally_block(*state, &in);
	count_sample(*state, 0, LC_BUCKET_OBJECT, 1, 1, LC_WHERE_COMPILED, LC_HOW_DIRECT, 1);
	lc_tally_block(*state, &in);
	assert_int_equal(in.accesses_len, 1);
	assert_int_equal(in.accesses[0].samples, 2);
}

static void engines_are_counted_apart(void **state)
{
	struct lc_block_input in = { 0 };

	count_sample(*state, 0, LC_BUCKET_OBJECT, 1, 1, LC_WHERE_COMPILED, LC_HOW_DIRECT, 1);
	count_sample(*state, 2, LC_BUCKET_OBJECT, 1, 1, LC_WHERE_COMPILED, LC_HOW_KERNEL, 5);
	lc_tally_lost(*state, 2, 7);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.accesses_len, 2);
	assert_int_equal(in.buckets_len, 3);
	assert_int_equal(in.buckets[0].engine, 0);
	assert_int_equal(in.buckets[0].samples, 1);
	assert_int_equal(in.buckets[1].engine, 2);
	assert_int_equal(in.buckets[1].samples, 5);
	assert_int_equal(in.buckets[2].bucket, LC_BUCKET_LOST);
	assert_int_equal(in.buckets[2].samples, 7);
	assert_int_equal(in.details_len, 2);
	assert_int_equal(in.details[1].engine, 2);
	assert_int_equal(in.details[1].how, LC_HOW_KERNEL);
	assert_int_equal(in.details[1].samples, 5);
}

static void an_engine_that_cannot_be_is_refused(void **state)
{
	const uint16_t engine = LC_TALLY_ENGINES;
	struct lc_block_input in = { 0 };

	assert_int_equal(
	    count_sample(*state, engine, LC_BUCKET_JVM, 0, 0, LC_WHERE_JVM, LC_HOW_NOT_JAVA, 1),
	    -EINVAL);
	lc_tally_lost(*state, engine, 1);
	assert_int_equal(lc_tally_field(*state, &(struct lc_block_field){ .engine = engine }),
	                 -EINVAL);
	assert_int_equal(lc_tally_metric(*state, &(struct lc_block_metric){ .engine = engine }),
	                 -EINVAL);
	assert_int_equal(lc_tally_line(*state, &(struct lc_block_line){ .engine = engine }),
	                 -EINVAL);
	assert_int_equal(lc_tally_split(*state, &(struct lc_block_split){ .engine = engine }),
	                 -EINVAL);
	assert_false(lc_tally_block(*state, &in));
}

static void numbers_that_the_format_does_not_allow_are_refused(void **state)
{
	struct lc_block_input in = { 0 };

	assert_int_equal(lc_tally_field(*state, &(struct lc_block_field){ .first = 2, .last = 1 }),
	                 -EINVAL);
	assert_int_equal(
	    lc_tally_metric(*state, &(struct lc_block_metric){ .source = LC_SOURCE_COUNT }),
	    -EINVAL);
	assert_int_equal(
	    lc_tally_metric(*state, &(struct lc_block_metric){ .flags = LC_METRIC_FLAGS_END }),
	    -EINVAL);
	assert_int_equal(lc_tally_line(*state, &(struct lc_block_line){ .byte = 64 }), -EINVAL);
	assert_int_equal(lc_tally_line(*state, &(struct lc_block_line){ .samples = 1, .hitm = 2 }),
	                 -EINVAL);
	assert_int_equal(
	    lc_tally_split(*state, &(struct lc_block_split){ .method = LC_SPLIT_COUNT }), -EINVAL);
	assert_int_equal(
	    lc_tally_placement(*state, &(struct lc_block_placement){ .owning = LC_NODE_END }),
	    -EINVAL);
	assert_int_equal(
	    lc_tally_placement(*state, &(struct lc_block_placement){ .accessing = LC_NODE_END }),
	    -EINVAL);
	assert_int_equal(
	    lc_tally_placement(*state, &(struct lc_block_placement){ .source = LC_SOURCE_COUNT }),
	    -EINVAL);
	assert_int_equal(lc_tally_node(*state, &(struct lc_block_node){ .node = LC_NODE_END }),
	                 -EINVAL);
	assert_int_equal(
	    lc_tally_node(*state, &(struct lc_block_node){ .samples = 1, .migrations = 2 }),
	    -EINVAL);
	assert_int_equal(lc_tally_home(*state, &(struct lc_block_home){ .node = LC_NODE_END }),
	                 -EINVAL);
	assert_false(lc_tally_block(*state, &in));
}

static void rows_that_differ_in_their_counts_alone_are_summed(void **state)
{
	const struct lc_block_field field = { .site = 1, .path = 2, .name = "next", .samples = 1 };
	const struct lc_block_metric metric = {
		.site = 1, .samples = 1, .latency_sum = 30, .latency_max = 30
	};
	const struct lc_block_line line = { .line = 9, .byte = 8, .samples = 2, .hitm = 1 };
	const struct lc_block_estimate estimate = { .site = 3,
		                                    .sampled = 1,
		                                    .objects_milli = 2000,
		                                    .bytes = 64,
		                                    .live_milli = { 5, 4, 3, 2, 1 } };
	const struct lc_block_split split = { .class_site = 1, .site = 2, .samples_milli = 500 };
	const struct lc_block_placement placement = { .site = 4, .owning = 1, .samples = 3 };
	const struct lc_block_node node = { .node = 2, .samples = 2, .migrations = 1 };
	const struct lc_block_home home = { .site = 4, .node = 1, .objects = 2, .bytes = 32 };
	struct lc_block_field other = field;
	struct lc_block_metric worse = metric;
	struct lc_block_input in = { 0 };
	char same_text[] = "next";

	for (unsigned i = 0; i < 100; i++) {
		lc_tally_field(*state, &field);
		lc_tally_line(*state, &line);
		lc_tally_estimate(*state, &estimate);
		lc_tally_split(*state, &split);
		lc_tally_placement(*state, &placement);
		lc_tally_node(*state, &node);
		lc_tally_home(*state, &home);
	}
	other.name = same_text; /* equal text is an equal name, wherever it stands */
	other.access = LC_TOUCH_STORE;
	lc_tally_field(*state, &other);
	other.access |= 3 << LC_ACCESS_WIDTH_SHIFT; /* a width is no part of the row */
	lc_tally_field(*state, &other);
	lc_tally_metric(*state, &metric);
	worse.latency_sum = worse.latency_max = 70;
	lc_tally_metric(*state, &worse);
	lc_tally_metric(*state, &metric);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.fields_len, 2);
	assert_int_equal(in.fields[0].samples, 100);
	assert_int_equal(in.fields[1].samples, 2);
	assert_int_equal(in.fields[1].access, LC_TOUCH_STORE);
	assert_int_equal(in.metrics_len, 1);
	assert_int_equal(in.metrics[0].samples, 3);
	assert_int_equal(in.metrics[0].latency_sum, 130);
	assert_int_equal(in.metrics[0].latency_max, 70);
	assert_int_equal(in.lines_len, 1);
	assert_int_equal(in.lines[0].samples, 200);
	assert_int_equal(in.lines[0].hitm, 100);
	assert_int_equal(in.estimates_len, 1);
	assert_int_equal(in.estimates[0].objects_milli, 200000);
	assert_int_equal(in.estimates[0].live_milli[4], 100);
	assert_int_equal(in.splits_len, 1);
	assert_int_equal(in.splits[0].samples_milli, 50000);
	assert_int_equal(in.placements_len, 1);
	assert_int_equal(in.placements[0].samples, 300);
	assert_int_equal(in.nodes_len, 1);
	assert_int_equal(in.nodes[0].samples, 200);
	assert_int_equal(in.nodes[0].migrations, 100);
	assert_int_equal(in.homes_len, 1);
	assert_int_equal(in.homes[0].objects, 200);
	assert_int_equal(in.homes[0].bytes, 3200);
}

static void rows_that_differ_stay_apart(void **state)
{
	struct lc_block_input in = { 0 };

	for (uint8_t i = 0; i < 2; i++) {
		lc_tally_field(*state, &(struct lc_block_field){ .name = i ? "a" : "b" });
		lc_tally_field(*state, &(struct lc_block_field){ .name = "", .last = i });
		lc_tally_field(*state, &(struct lc_block_field){ .name = "c", .bucket = i });
		lc_tally_step(*state, &(struct lc_block_step){ .step = i });
		lc_tally_step(*state, &(struct lc_block_step){ .site = 1, .end = i });
		lc_tally_copy(*state, &(struct lc_block_copy){ .site = 1 + i });
		lc_tally_metric(*state, &(struct lc_block_metric){ .source = i });
		lc_tally_metric(*state, &(struct lc_block_metric){ .path = 1, .flags = i });
		lc_tally_line(*state, &(struct lc_block_line){ .line = i });
		lc_tally_line(*state, &(struct lc_block_line){ .line = 3, .byte = i });
		lc_tally_line(*state, &(struct lc_block_line){ .line = 4, .bytes = i });
		lc_tally_estimate(*state, &(struct lc_block_estimate){ .site = i });
		lc_tally_split(*state, &(struct lc_block_split){ .method = i });
		lc_tally_split(*state, &(struct lc_block_split){ .site = 1 + i });
		lc_tally_split(*state, &(struct lc_block_split){ .class_site = 1 + i });
		lc_tally_placement(*state, &(struct lc_block_placement){ .accessing = i });
		lc_tally_placement(*state, &(struct lc_block_placement){ .owning = 1 + i });
		lc_tally_placement(*state, &(struct lc_block_placement){ .path = 3, .source = i });
		lc_tally_node(*state, &(struct lc_block_node){ .node = i });
		lc_tally_node(*state, &(struct lc_block_node){ .engine = 1, .node = i });
		lc_tally_home(*state, &(struct lc_block_home){ .site = 1, .node = i });
	}
	lc_tally_block(*state, &in);
	assert_int_equal(in.fields_len, 6);
	assert_int_equal(in.steps_len, 4);
	assert_int_equal(in.copies_len, 2);
	assert_int_equal(in.metrics_len, 4);
	assert_int_equal(in.lines_len, 6);
	assert_int_equal(in.estimates_len, 2);
	assert_int_equal(in.splits_len, 6);
	assert_int_equal(in.placements_len, 6);
	assert_int_equal(in.nodes_len, 4);
	assert_int_equal(in.homes_len, 2);
}

/* Without coalescing on the way this would take 200 MB. */
static void many_equal_rows_take_little_memory(void **state)
{
	struct lc_block_input in = { 0 };
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;

	for (unsigned i = 0; i < 5000000; i++)
		count_sample(*state, 0, LC_BUCKET_OBJECT, 1 + i % 40, 7, LC_WHERE_COMPILED,
		             LC_HOW_DIRECT, 1);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < before + (64 << 10));
	lc_tally_block(*state, &in);
	assert_int_equal(in.accesses_len, 40);
	assert_int_equal(bucket_total(&in, LC_BUCKET_OBJECT), 5000000);
}

static void an_unknown_interval_leaves_a_known_one_alone(void **state)
{
	const struct lc_block_span unknown = { .kind = LC_SPAN_TASK, .folded = 3 };
	const struct lc_block_span known = {
		.kind = LC_SPAN_TASK, .executions = 2, .first_ns = 500, .last_ns = 900
	};
	struct lc_block_input in = { 0 };

	for (unsigned first_unknown = 0; first_unknown < 2; first_unknown++) {
		assert_int_equal(lc_tally_span(*state, first_unknown ? &unknown : &known), 0);
		assert_int_equal(lc_tally_span(*state, first_unknown ? &known : &unknown), 0);
		assert_true(lc_tally_block(*state, &in));
		assert_int_equal(in.spans_len, 1);
		assert_int_equal(in.spans[0].folded, 3);
		assert_int_equal(in.spans[0].executions, 2);
		assert_int_equal(in.spans[0].first_ns, 500);
		assert_int_equal(in.spans[0].last_ns, 900);
		lc_tally_clear(*state);
	}
}

static void rows_of_spans_that_no_block_may_hold_are_refused(void **state)
{
	struct lc_block_input in = { 0 };

	assert_int_equal(lc_tally_span(*state, &(struct lc_block_span){ .kind = LC_SPAN_KINDS }),
	                 -EINVAL);
	assert_int_equal(
	    lc_tally_span(*state, &(struct lc_block_span){ .submit_kind = LC_SUBMIT_KINDS }),
	    -EINVAL);
	assert_int_equal(
	    lc_tally_task_made(*state,
	                       &(struct lc_block_task_made){ .submit_kind = LC_SUBMIT_KINDS }),
	    -EINVAL);
	assert_int_equal(
	    lc_tally_span_access(*state, &(struct lc_block_span_access){ .kind = LC_SPAN_KINDS }),
	    -EINVAL);
	assert_int_equal(
	    lc_tally_pause(
	        *state, &(struct lc_block_pause){ .start_ns = 2, .duration_ns = UINT64_MAX - 1 }),
	    -EINVAL);
	assert_int_equal(
	    lc_tally_trace(*state, &(struct lc_block_trace){ .id = 1, .kind = LC_SPAN_KINDS }),
	    -EINVAL);
	assert_int_equal(
	    lc_tally_trace(*state,
	                   &(struct lc_block_trace){ .id = 1, .flags = LC_TRACE_FLAGS_END }),
	    -EINVAL);
	assert_int_equal(
	    lc_tally_trace(
	        *state,
	        &(struct lc_block_trace){ .id = 1, .start_ns = 2, .duration_ns = UINT64_MAX - 1 }),
	    -EINVAL);
	assert_false(lc_tally_block(*state, &in));
	assert_int_equal(
	    lc_tally_task_made(
	        *state, &(struct lc_block_task_made){ .submit_kind = LC_SUBMIT_FIRST, .count = 1 }),
	    0);
	assert_int_equal(
	    lc_tally_span(*state,
	                  &(struct lc_block_span){ .executions = 1, .first_ns = 7, .last_ns = 5 }),
	    0);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.spans[0].last_ns, 7);
}

static void single_spans_are_never_summed(void **state)
{
	struct lc_block_input in = { 0 };

	for (unsigned i = 0; i < 5000; i++)
		assert_int_equal(lc_tally_trace(*state, &(struct lc_block_trace){ .id = 1 }), 0);
	assert_int_equal(lc_tally_traces(*state), 5000);
	assert_true(lc_tally_block(*state, &in));
	assert_int_equal(in.trace_len, 5000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_tally_makes_no_block),
		TEST(equal_accesses_become_one_and_others_stay_apart),
		TEST(interrupts_are_told_by_what_they_weigh),
		TEST(lost_samples_are_in_a_bucket_without_a_path),
		TEST(details_say_where_and_how),
		TEST(a_cleared_tally_starts_anew),
		TEST(a_block_that_was_not_written_is_part_of_the_next),
		TEST(engines_are_counted_apart),
		TEST(an_engine_that_cannot_be_is_refused),
		TEST(numbers_that_the_format_does_not_allow_are_refused),
		TEST(rows_that_differ_in_their_counts_alone_are_summed),
		TEST(rows_that_differ_stay_apart),
		TEST(many_equal_rows_take_little_memory),
		cmocka_unit_test_setup_teardown(an_unknown_interval_leaves_a_known_one_alone, setup,
		                                teardown),
		TEST(rows_of_spans_that_no_block_may_hold_are_refused),
		TEST(single_spans_are_never_summed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
