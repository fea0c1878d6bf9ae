/* uses: analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c src/format/section.c src/base/options.c src/base/nearest.c -lzstd */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_block_spans.c - checks that sections of spans with numbers out of range are refused whole,
 * and that sums at the top of their range are kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "analyzer/model/block_decoder.h"
#include "analyzer/model/tree_spans.h"
#include "src/format/block.h"
#include "src/format/kinds.h"

enum { COLUMNS = 40, MAX = 4096 };

static struct lc_tree tree;

struct buffer {
	uint8_t data[MAX];
	size_t len;
};

static void put(struct buffer *b, uint64_t v)
{
	b->len += lc_varint_put(b->data + b->len, v);
}

/* Definitions: string, method, frame, path 1 and site 1. */
static const uint8_t definitions[] = { 1, 3, 1, 1, 'A', 3, 5, 1, 1, 1, 1, 0, 4, 4,
	                               1, 0, 1, 1, 5,   3, 1, 1, 0, 6, 3, 1, 1, 1 };

/* A section with `rows` rows of these columns; cut by `less` bytes. */
static void build(struct buffer *out, unsigned section, const uint64_t *columns, size_t len,
                  unsigned count, size_t less)
{
	struct buffer body = { .len = 0 };

	put(&body, count);
	for (unsigned i = 0; i < count; i++)
		for (size_t c = 0; c < len; c++)
			put(&body, columns[c]);
	memcpy(out->data, definitions, sizeof(definitions));
	out->len = sizeof(definitions);
	put(out, section);
	put(out, body.len - less);
	memcpy(out->data + out->len, body.data, body.len - less);
	out->len += body.len - less;
}

static int decode(const struct buffer *b, bool all)
{
	struct lc_block_target target = {
		.tree = &tree, .process_count = 1, .engines = { 0, 1 }, .engines_len = 2
	};
	struct lc_block_decoder d = { 0 };
	struct lc_block_header h = { .thread_index = all ? LC_THREAD_ALL : 3 };
	int err = lc_block_decode(&d, &h, b->data, b->len, &target);

	lc_block_decoder_free(&d);
	return err;
}

/*
 * A row that is right; for columns with a limit the least number that is not; for others one that
 * is not. 0: any goes.
 */
static const struct layout {
	unsigned section;
	size_t len;
	bool owned; /* two columns more in a block of all threads */
	uint64_t columns[COLUMNS];
	uint64_t limit[COLUMNS];
	uint64_t wrong[COLUMNS];
} layouts[] = {
	{ .section = LC_SECTION_SPANS,
	  .len = 27,
	  .owned = true,
	  /* kind, level, submit, 3 names, 11 sums, 4 nested, interval, bucket 191 */
	  .columns = { 6, 255, 8,  1, 1, 1, 1, 2, 3, 4, 5, 6,   7, 8,
	               9, 10,  11, 1, 2, 3, 4, 1, 9, 8, 1, 191, 5 },
	  .limit = { 7, 256, 9, 2, 2, 2, [23] = UINT64_MAX - 8, [25] = 192 },
	  .wrong = { [21] = 2, [24] = 2 } },
	{ .section = LC_SECTION_TASKS,
	  .len = 4,
	  .owned = true,
	  .columns = { 1, 8, 1, 7 },
	  .limit = { 2, 9, 2 } },
	{ .section = LC_SECTION_SPAN_ACCESSES,
	  .len = 8,
	  .columns = { 6, 1, 1, 1, 6, 1, 1, 5 },
	  .limit = { 7, 2, 2, 2, 7, 2, 2 } },
	{ .section = LC_SECTION_TIMELINE,
	  .len = 4,
	  .owned = true,
	  .columns = { 5, 1, 2, 3 },
	  .limit = { UINT64_MAX / LC_TIMELINE_NS + 1 } },
	{ .section = LC_SECTION_PAUSES,
	  .len = 2,
	  .owned = true,
	  .columns = { UINT64_MAX - 7, 6 },
	  .limit = { [1] = 8 } },
	{ .section = LC_SECTION_TRACE,
	  .len = 17,
	  .owned = true,
	  .columns = { 18, 1, 2, 3, 6, 255, 8, 127, 1, 1, 1, UINT32_MAX, 4, 5, 6, 7, 8 },
	  .limit = { [4] = 7,
	             [5] = 256,
	             [6] = 9,
	             [7] = 256,
	             [8] = 2,
	             [9] = 2,
	             [10] = 2,
	             [11] = UINT64_C(1) << 32,
	             [12] = UINT64_MAX - 8 } },
};

static size_t rows_in_tree(void)
{
	return tree.executions.count + tree.span_buckets.count + tree.span_intervals_len +
	       tree.tasks_made.count + tree.span_accesses.count + tree.timeline.count +
	       tree.pauses.count + tree.traces_len + tree.threads.count;
}

/* In a thread's block, or with process 0 and thread 3 before each row. */
static int decode_layout(const struct layout *l, const uint64_t *columns, bool all, unsigned count,
                         size_t less)
{
	uint64_t with_owner[COLUMNS + 2] = { 0, 3 };
	size_t owner = all && l->owned ? 2 : 0;
	struct buffer b;

	memcpy(with_owner + owner, columns, l->len * sizeof(*columns));
	build(&b, l->section, with_owner, l->len + owner, count, less);
	return decode(&b, all);
}

/* The layout's row with another number in one column, in an empty tree. */
static int decode_changed(const struct layout *l, size_t column, uint64_t value, bool all)
{
	uint64_t columns[COLUMNS];
	int err;

	memcpy(columns, l->columns, sizeof(columns));
	columns[column] = value;
	lc_tree_init(&tree);
	err = decode_layout(l, columns, all, 1, 0);
	assert_int_equal(rows_in_tree() == 0, err != 0);
	lc_tree_free(&tree);
	return err;
}

static void rows_with_a_number_out_of_range_are_refused_whole(void **state)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *l = &layouts[i];

		for (size_t c = 0; c < 2 * l->len; c++) {
			size_t column = c / 2;
			bool all = c % 2;

			assert_int_equal(decode_changed(l, column, l->columns[column], all), 0);
			if (l->wrong[column])
				assert_int_equal(decode_changed(l, column, l->wrong[column], all),
				                 -EBADMSG);
			if (!l->limit[column])
				continue;
			assert_int_equal(decode_changed(l, column, l->limit[column] - 1, all), 0);
			assert_int_equal(decode_changed(l, column, l->limit[column], all),
			                 -EBADMSG);
			assert_int_equal(decode_changed(l, column, UINT64_MAX, all), -EBADMSG);
		}
	}
}

/* Also behind rows that are right: nothing of the block counts. */
static void a_cut_section_is_refused_whole(void **state)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		for (unsigned all = 0; all < 2; all++) {
			const struct layout *l = &layouts[i];

			lc_tree_init(&tree);
			for (size_t less = 1; less <= l->len; less++)
				assert_int_equal(decode_layout(l, l->columns, all, 3, less),
				                 -EBADMSG);
			assert_int_equal(rows_in_tree(), 0);
			lc_tree_free(&tree);
		}
	}
}

static void a_row_of_all_threads_needs_a_thread(void **state)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *l = &layouts[i];
		uint64_t columns[COLUMNS + 2] = { 1, 3 };
		struct buffer b;

		if (!l->owned)
			continue;
		memcpy(columns + 2, l->columns, l->len * sizeof(*columns));
		lc_tree_init(&tree);
		build(&b, l->section, columns, l->len + 2, 1, 0); /* no such process */
		assert_int_equal(decode(&b, true), -EBADMSG);
		columns[0] = 0;
		columns[1] = LC_THREAD_ALL; /* no such thread */
		build(&b, l->section, columns, l->len + 2, 1, 0);
		assert_int_equal(decode(&b, true), -EBADMSG);
		assert_int_equal(rows_in_tree(), 0);
		lc_tree_free(&tree);
	}
}

static void histograms_and_intervals_must_fit(void **state)
{
	uint64_t row[COLUMNS] = { 0 };
	struct lc_tree_spans s;
	struct buffer b;

	lc_tree_init(&tree);
	row[21] = 2; /* intervals: 10 to 15, and from 5 + 10^8 later on */
	row[22] = 10;
	row[23] = 5;
	row[24] = LC_TIMELINE_NS + 1;
	row[25] = 1;
	row[26] = 2; /* buckets: 3, and 5 */
	row[27] = 3;
	row[28] = 9;
	row[29] = 1;
	row[30] = 8;
	build(&b, LC_SECTION_SPANS, row, 31, 1, 0);
	assert_int_equal(decode(&b, false), 0);
	assert_int_equal(decode(&b, false), 0);
	lc_tree_spans_build(&s, &tree);
	assert_int_equal(s.interval_first[1], 2);
	assert_int_equal(s.intervals[1].first_ns, 16 + LC_TIMELINE_NS);
	assert_int_equal(s.intervals[1].last_ns, 17 + LC_TIMELINE_NS);
	assert_int_equal(s.bucket_first[1], 2);
	assert_int_equal(s.buckets[0].bucket, 3);
	assert_int_equal(s.buckets[1].bucket, 5);
	assert_int_equal(s.buckets[1].count, 16);
	lc_tree_spans_free(&s);
	row[29] = 188; /* 3 + 1 + 188 */
	build(&b, LC_SECTION_SPANS, row, 31, 1, 0);
	assert_int_equal(decode(&b, false), -EBADMSG);
	row[29] = 1;
	row[30] = 0; /* an empty bucket */
	build(&b, LC_SECTION_SPANS, row, 31, 1, 0);
	assert_int_equal(decode(&b, false), -EBADMSG);
	row[30] = 1;
	row[24] = UINT64_MAX; /* begins after the end of time */
	build(&b, LC_SECTION_SPANS, row, 31, 1, 0);
	assert_int_equal(decode(&b, false), -EBADMSG);
	assert_int_equal(tree.executions.count, 1);
	lc_tree_free(&tree);
}

static void sums_stay_at_the_top(void **state)
{
	uint64_t row[COLUMNS] = { [6] = UINT64_MAX - 1, [9] = lc_zigzag(INT64_MIN + 1) };
	struct buffer b;

	lc_tree_init(&tree);
	build(&b, LC_SECTION_SPANS, row, 23, 3, 0);
	assert_int_equal(decode(&b, false), 0);
	assert_int_equal(tree.executions.count, 1);
	assert_true(lc_table_values(&tree.executions, 0)[LC_EXECUTION_COUNT] == UINT64_MAX);
	assert_true((int64_t)lc_table_values(&tree.executions, 0)[LC_EXECUTION_COMPENSATED] ==
	            INT64_MIN);
	row[0] = 1;
	row[9] = lc_zigzag(INT64_MAX);
	build(&b, LC_SECTION_SPANS, row, 23, 2, 0);
	assert_int_equal(decode(&b, false), 0);
	assert_true((int64_t)lc_table_values(&tree.executions, 1)[LC_EXECUTION_COMPENSATED] ==
	            INT64_MAX);
	lc_tree_free(&tree);
}

static void numbers_with_a_sign_are_what_they_were(void **state)
{
	static const struct {
		int64_t value;
		uint64_t stored;
	} cases[] = { { 0, 0 },
		      { -1, 1 },
		      { 1, 2 },
		      { -2, 3 },
		      { INT64_MAX, UINT64_MAX - 1 },
		      { INT64_MIN, UINT64_MAX } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(lc_zigzag(cases[i].value) == cases[i].stored);
		assert_true(lc_zigzag_value(cases[i].stored) == cases[i].value);
	}
}

static void buckets_are_as_the_format_says(void **state)
{
	for (unsigned b = 0; b + 1 < LC_SPAN_BUCKETS; b++) {
		uint64_t low = lc_span_bucket_low(b), next = lc_span_bucket_low(b + 1);
		unsigned n = b / 4 + 1, k = b % 4; /* 4 (n - 1) + k */

		assert_true(low == (b < 4 ? b : (4 + k) * (UINT64_C(1) << (n - 2))));
		assert_true(low < next);
		assert_int_equal(lc_span_bucket((int64_t)low), b);
		assert_int_equal(lc_span_bucket((int64_t)next - 1), b);
	}
	assert_int_equal(lc_span_bucket(INT64_MAX), LC_SPAN_BUCKETS - 1);
	assert_int_equal(lc_span_bucket(INT64_MIN), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_with_a_number_out_of_range_are_refused_whole),
		cmocka_unit_test(a_cut_section_is_refused_whole),
		cmocka_unit_test(a_row_of_all_threads_needs_a_thread),
		cmocka_unit_test(histograms_and_intervals_must_fit),
		cmocka_unit_test(sums_stay_at_the_top),
		cmocka_unit_test(numbers_with_a_sign_are_what_they_were),
		cmocka_unit_test(buckets_are_as_the_format_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
