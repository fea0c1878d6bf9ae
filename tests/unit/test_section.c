/* uses: src/format/section.c src/format/encode.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c src/base/options.c src/base/nearest.c -lzstd */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_section.c - sections.def says what docs/FORMAT.md says, and the code that works by it treats
 * every flat section alike. The file is longer than 600 lines: each section is a case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/block_decoder.h"
#include "src/format/encode.h"
#include "src/format/rows.h"
#include "src/format/section.h"

/* ---- the table and the norm ---- */

#define LC_KEY(id, member, type, text) "; " text
#define LC_SUM(id, member, type, text) "; " text
#define LC_SUMS(id, member, text) "; " text
#define LC_MAX(id, member, type, text) "; " text
#define LC_OTHER(name, number) { number, #name, NULL },
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	{ number, #name, "" columns },
static const struct {
	unsigned number;
	const char *name;
	const char *columns; /* each after "; "; NULL: the section is not flat */
} sections[] = {
#include "src/format/sections.def"
};

enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

static char *norm; /* docs/FORMAT.md */

static int read_norm(void **state)
{
	FILE *f = fopen("docs/FORMAT.md", "r");
	size_t room = 0;

	if (!f) {
		print_message("must run in the root of the source\n");
		return -1;
	}
	if (getdelim(&norm, &room, 0, f) < 0)
		return -1;
	return fclose(f);
}

static int free_norm(void **state)
{
	free(norm);
	return 0;
}

static void the_norm_lists_the_sections_and_columns_of_the_table(void **state)
{
	const char *line = strstr(norm, "\n| type | section |");

	assert_non_null(line);
	line = strchr(strchr(line + 1, '\n') + 1, '\n') + 1; /* after the header's two lines */
	for (unsigned i = 0; i < SECTIONS; i++, line = strchr(line, '\n') + 1) {
		const char *columns = sections[i].columns;
		const unsigned number = sections[i].number;
		char row[512];
		int len;

		if (i)
			assert_in_range(number, sections[i - 1].number + 1, LC_SECTION_COUNT - 1);
		if (columns)
			len = snprintf(row, sizeof(row), "| %u | %s | %s |\n", number,
			               sections[i].name, columns + 2);
		else
			len = snprintf(row, sizeof(row), "| %u | %s | ", number, sections[i].name);
		assert_in_range(len, 1, sizeof(row) - 1);
		if (strncmp(line, row, (size_t)len) != 0)
			fail_msg("docs/FORMAT.md has no row: %s", row);
	}
	assert_int_not_equal(*line, '|');
}

static bool has_threads(unsigned number)
{
	for (unsigned i = 0; i < LC_SECTION_COUNT; i++)
		if (lc_section_spec(i) && lc_section_spec(i)->merged == number)
			return true;
	return number == LC_SECTION_THREADS || number == LC_SECTION_SPANS ||
	       number == LC_SECTION_TRACE;
}

static void the_norm_names_the_sections_whose_rows_have_a_thread(void **state)
{
	char expected[512] = " sections ";
	unsigned last = LC_SECTION_HELD;
	char *text = strdup(norm);

	assert_non_null(text);
	for (char *at = text; (at = strchr(at, '\n'));)
		*at = ' ';
	for (unsigned i = 0; i < SECTIONS; i++) {
		if (!has_threads(sections[i].number))
			continue;
		if (sections[i].number == last)
			strcpy(strrchr(expected, ','), " and ");
		strcat(expected, sections[i].name);
		strcat(expected, sections[i].number == last ? " say " : ", ");
	}
	if (!strstr(text, expected))
		fail_msg("docs/FORMAT.md does not say:%s", expected);
	free(text);
}

/* "string: name" is a string; "path, or 0" may be 0; and so on. */
static void the_norm_says_of_what_type_a_column_is(void **state)
{
	for (unsigned i = 0; i < SECTIONS; i++) {
		const struct lc_section_spec *s = lc_section_spec(sections[i].number);
		const char *at = sections[i].columns;

		assert_int_equal(s != NULL, at != NULL);
		for (unsigned k = 0; at && k < s->keys_len; k++) {
			const char *text = at + 2;
			unsigned type = s->columns[k].type;
			size_t len;

			at = strstr(text, "; ");
			if (k + 1u == s->columns_len && !at)
				at = text + strlen(text);
			assert_non_null(at);
			len = (size_t)(at - text);
			assert_int_equal(type == LC_COLUMN_STRING, !strncmp(text, "string: ", 8));
			assert_int_equal(type == LC_COLUMN_PATH || type == LC_COLUMN_SITE_OR_0 ||
			                     s->columns[k].below == LC_NODE_END,
			                 len > 6 && !strncmp(at - 6, ", or 0", 6));
			if (type == LC_COLUMN_SITE)
				assert_int_equal(strncmp(text, "site", 4), 0);
			assert_int_equal(type == LC_COLUMN_ENGINE, !strncmp(text, "engine;", 7));
		}
	}
}

/* ---- rows of the agent ---- */

static void sections_that_are_not_flat_have_no_description(void **state)
{
	assert_null(lc_section_spec(0));
	assert_null(lc_section_spec(LC_SECTION_STRINGS));
	assert_null(lc_section_spec(LC_SECTION_MERGED_LINES));
	assert_null(lc_section_spec(LC_SECTION_SPANS));
	assert_null(lc_section_spec(LC_SECTION_COUNT));
	assert_int_equal(lc_section_spec(LC_SECTION_LINES)->merged, LC_SECTION_MERGED_LINES);
	assert_int_equal(lc_section_spec(LC_SECTION_HOMES)->merged, LC_SECTION_HOMES);
	assert_int_equal(lc_section_spec(LC_SECTION_METRICS)->merged, 0);
}

static void a_row_gives_its_columns_in_the_order_of_the_file(void **state)
{
	static const char name[] = "next";
	const struct lc_block_line line = { UINT64_MAX, 65535, 255, 1u << 31, 5, 63, 255,
		                            3,          name,  7,   900,      8, 70 };
	const struct lc_block_estimate estimate = { 1, 2, 3, 4, 5, 6, { 7, 8, 9, 10, 11 } };
	const struct lc_block_timeline slice = { 3 * LC_TIMELINE_NS, 4, 5, 6 };
	uint64_t v[LC_COLUMNS_MAX];

	lc_section_load(lc_section_spec(LC_SECTION_LINES), &line, v);
	assert_memory_equal(v,
	                    ((const uint64_t[]){ UINT64_MAX, 65535, 255, 1u << 31, 5, 63, 255, 3,
	                                         (uintptr_t)name, 7, 900, 8, 70 }),
	                    13 * sizeof(*v));
	assert_int_equal(lc_section_spec(LC_SECTION_ESTIMATES)->columns_len, 11);
	lc_section_load(lc_section_spec(LC_SECTION_ESTIMATES), &estimate, v);
	for (unsigned i = 0; i < 11; i++)
		assert_int_equal(v[i], i + 1);
	lc_section_load(lc_section_spec(LC_SECTION_TIMELINE), &slice, v);
	assert_int_equal(v[0], 3);
	assert_int_equal(v[1], 4);
}

static void a_row_with_a_number_out_of_range_is_not_valid(void **state)
{
	static const struct lc_block_field fields[] = {
		{ .first = 2, .last = 2, .access = LC_TOUCH_END - 1, .site = UINT32_MAX },
		{ .first = 2, .last = 1 },
		{ .access = LC_TOUCH_END },
		{ .engine = 8 },
		{ .bucket = LC_BUCKET_COUNT },
	};
	static const struct lc_block_node nodes[] = {
		{ .node = LC_NODE_END - 1, .samples = 2, .migrations = 2 },
		{ .samples = 2, .migrations = 3 },
		{ .node = LC_NODE_END },
	};
	static const struct lc_block_pause pauses[] = { { UINT64_MAX - 1, 1 },
		                                        { UINT64_MAX - 1, 2 } };
	static const struct lc_block_task_made made[] = { { .submit_kind = LC_SUBMIT_KINDS - 1 },
		                                          { .submit_kind = LC_SUBMIT_KINDS },
		                                          { .submit_kind = LC_SUBMIT_PART - 1 } };

#define CHECK(name, rows)                                                                          \
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)                              \
	assert_int_equal(lc_section_spec(name)->valid(&rows[i], 8), i == 0)
	CHECK(LC_SECTION_FIELDS, fields);
	CHECK(LC_SECTION_NODES, nodes);
	CHECK(LC_SECTION_PAUSES, pauses);
	CHECK(LC_SECTION_TASKS, made);
#undef CHECK
	assert_true(lc_section_spec(LC_SECTION_TASKS)
	                ->valid(&(struct lc_block_task_made){ .submit_kind = LC_SUBMIT_FIRST }, 8));
	assert_true(lc_section_spec(LC_SECTION_TASKS)
	                ->valid(&(struct lc_block_task_made){ .submit_kind = LC_SUBMIT_PART }, 8));
}

/*
 * The agent checks structs, the analyzer the numbers that it has read: by one table, in two ways.
 */
static void both_checks_of_a_row_agree(void **state)
{
	static const uint64_t numbers[] = { 0,         1,    2,    3,          7,
		                            8,         63,   64,   192,        254,
		                            255,       1024, 1025, UINT32_MAX, UINT64_MAX - 1,
		                            UINT64_MAX };
	const struct lc_section_limits any = { .below = { [LC_COLUMN_SITE] = UINT64_MAX,
		                                          [LC_COLUMN_SITE_OR_0] = UINT64_MAX,
		                                          [LC_COLUMN_PATH] = UINT64_MAX,
		                                          [LC_COLUMN_STRING] = UINT64_MAX,
		                                          [LC_COLUMN_ENGINE] = 8 } };
	unsigned seed = 1, good = 0, bad = 0;

	for (unsigned section = 0; section < LC_SECTION_COUNT; section++) {
		const struct lc_section_spec *s = lc_section_spec(section);

		for (unsigned i = 0; s && i < 20000; i++) {
			uint64_t row[LC_COLUMNS_MAX + 1] = { 0 }, v[LC_COLUMNS_MAX];
			bool valid;

			assert_in_range(s->row_bytes, 1, sizeof(row));
			for (unsigned c = 0; c < s->columns_len; c++) {
				uint64_t n =
				    numbers[(unsigned)rand_r(&seed) %
				            (i % 4 ? 4 : sizeof(numbers) / sizeof(numbers[0]))];

				if (s->columns[c].type != LC_COLUMN_STRING)
					memcpy((char *)row + s->columns[c].offset, &n,
					       s->columns[c].bytes);
			}
			lc_section_load(s, row, v);
			valid = s->valid(row, 8);
			assert_int_equal(valid, lc_section_valid(s, &any, v));
			good += valid;
			bad += !valid;
		}
	}
	assert_true(good > 10000 && bad > 10000);
}

static int order(const struct lc_block_field *a, const struct lc_block_field *b)
{
	return lc_section_spec(LC_SECTION_FIELDS)->order(a, b);
}

static void rows_are_ordered_by_their_keys_with_strings_last(void **state)
{
	const struct lc_block_field row = { 1, 1, 1, 1, "b", 1, 1, 1, 1, 0 };
	struct lc_block_field other = row;

	other.samples = 0; /* is no key */
	assert_int_equal(order(&row, &other), 0);
	other.name = "c";
	assert_true(order(&row, &other) < 0 && order(&other, &row) > 0);
	other.name = NULL; /* as "" */
	assert_true(order(&row, &other) > 0 && order(&other, &row) < 0);
	other.access = 2;
	assert_true(order(&row, &other) < 0 && order(&other, &row) > 0);
	other.first = 0;
	assert_true(order(&row, &other) > 0 && order(&other, &row) < 0);
	other.engine = 2;
	assert_true(order(&row, &other) < 0 && order(&other, &row) > 0);
}

static void values_are_added_up_to_the_top_or_are_the_largest(void **state)
{
	const struct lc_section_spec *s = lc_section_spec(LC_SECTION_METRICS);
	struct lc_block_metric to = { 1, 2, 3, 4, 5, 6, 10, UINT64_MAX - 5, 40 };
	const struct lc_block_metric more = { 1, 2, 3, 4, 5, 6, 1, 6, 39 };
	const struct lc_block_metric worse = { 1, 2, 3, 4, 5, 6, 1, 0, 41 };

	s->add(&to, &more);
	assert_int_equal(to.samples, 11);
	assert_true(to.latency_sum == UINT64_MAX);
	assert_int_equal(to.latency_max, 40);
	s->add(&to, &worse);
	assert_int_equal(to.samples, 12);
	assert_int_equal(to.latency_max, 41);
	assert_int_equal(to.engine, 1);
	assert_int_equal(to.flags, 6);
}

/* ---- rows of a file ---- */

static struct lc_tree tree;

/* In the block: one string, path and site, whose number is 1. */
static const uint8_t definitions[] = { 1, 3, 1, 1, 'A', 3, 5, 1, 1, 1, 1, 0, 4, 4,
	                               1, 0, 1, 1, 5,   3, 1, 1, 0, 6, 3, 1, 1, 1 };

static size_t put(uint8_t *out, size_t len, uint64_t v)
{
	return len + lc_varint_put(out + len, v);
}

/* The reader's guess of engine 1 from a block of version 1. */
static uint32_t weight_milli;

/*
 * Decode two rows `v` of a block of that version, of process 0 and thread 3; the section is cut by
 * `less` bytes.
 */
static int decode_of(uint16_t version, const struct lc_section_spec *s, unsigned section, bool all,
                     const uint64_t *v, size_t less)
{
	struct lc_block_target target = { .tree = &tree,
		                          .process_count = 1,
		                          .engines = { 5, 6 },
		                          .weight_milli = { 0, weight_milli },
		                          .engines_len = 2 };
	const struct lc_block_header h = { .version = version,
		                           .thread_index = all ? LC_THREAD_ALL : 3 };
	struct lc_block_decoder d = { 0 };
	uint8_t body[1024], payload[2048];
	size_t len = put(body, 0, 2), at = sizeof(definitions);
	int err;

	for (unsigned row = 0; row < 2; row++) {
		if (all && s->merged) {
			len = put(body, len, 0);
			len = put(body, len, 3);
		}
		for (unsigned i = 0; i < s->columns_len; i++)
			if (version >= 3 || s->columns[i].type != LC_COLUMN_PAIRS)
				len = put(body, len, v[i]);
	}
	memcpy(payload, definitions, at);
	if (s->number == LC_SECTION_ACCESSES) { /* as many are in their bucket */
		at = put(payload, put(payload, at, LC_SECTION_BUCKETS),
		         3 + (2 * v[s->keys_len] < 128 ? 1 : 2));
		at = put(payload, put(payload, at, 1), v[0] & 1);
		at = put(payload, put(payload, at, v[1] & 1), 2 * v[s->keys_len]);
	}
	at = put(payload, put(payload, at, section), len - less);
	memcpy(payload + at, body, len - less);
	err = lc_block_decode(&d, &h, payload, at + len - less, &target);
	lc_block_decoder_free(&d);
	return err;
}

static int decode(const struct lc_section_spec *s, unsigned section, bool all, const uint64_t *v,
                  size_t less)
{
	return decode_of(LC_BLOCK_VERSION_ALONE, s, section, all, v, less);
}

/* Every column may hold 1. */
static void right_row(const struct lc_section_spec *s, uint64_t *v)
{
	for (unsigned i = 0; i < s->columns_len; i++)
		v[i] = 1;
}

static uint64_t count_rows(const struct lc_section_spec *s)
{
	uint64_t rows = 0;

	if (s->number == LC_SECTION_ALLOCATIONS)
		return lc_table_values(&tree.sites, 1)[LC_SITE_ALLOCATIONS] / 2;
	if (s->number == LC_SECTION_BUCKETS)
		return tree.buckets[6][1] / 2;
	rows = lc_tree_table(&tree, s->number)->count;
	if (s->keys_len == s->columns_len)
		return rows;
	assert_int_equal(*lc_table_values(lc_tree_table(&tree, s->number), 0),
	                 s->columns[s->keys_len].max ? 1 : 2);
	return rows;
}

static void rows_of_every_flat_section_are_read_in_blocks_of_one_thread_and_of_all(void **state)
{
	for (unsigned n = 0; n < LC_SECTION_COUNT; n++) {
		const struct lc_section_spec *s = lc_section_spec(n);
		uint64_t v[LC_COLUMNS_MAX];

		for (unsigned all = 0; s && all < 2; all++) {
			unsigned section = all && s->merged ? s->merged : n;

			right_row(s, v);
			lc_tree_init(&tree);
			assert_int_equal(decode(s, section, all, v, 0), 0);
			assert_int_equal(count_rows(s), 1);
			lc_tree_free(&tree);
		}
	}
}

/* The column with the pairs; 0: there is none. */
static unsigned pairs_of(const struct lc_section_spec *s)
{
	for (unsigned i = 0; i < s->columns_len; i++)
		if (s->columns[i].type == LC_COLUMN_PAIRS)
			return i;
	return 0;
}

/*
 * If an interrupt stood for four samples, each sample is in three halves of a pair. A half is no
 * pair, but it is not lost either.
 */
static void rows_of_an_old_block_have_as_many_pairs_as_the_mean_interrupt(void **state)
{
	static const uint64_t samples[] = { 1, 100 }, pairs[] = { 3, 300 };
	unsigned with_pairs = 0;

	for (unsigned n = 0; n < LC_SECTION_COUNT; n++) {
		const struct lc_section_spec *s = lc_section_spec(n);
		const unsigned at = s ? pairs_of(s) : 0;
		uint64_t v[LC_COLUMNS_MAX];

		with_pairs += at != 0;
		for (unsigned i = 0; at && i < 2; i++)
			for (unsigned whole = 0; whole < 2; whole++) {
				const unsigned number = whole && s->merged ? s->merged : n;
				const struct lc_table *t = lc_tree_table(&tree, n);

				right_row(s, v);
				v[s->keys_len] = samples[i];
				v[at] = 77; /* is not in the block */
				weight_milli = 4000;
				lc_tree_init(&tree);
				assert_int_equal(decode_of(1, s, number, whole, v, 0), 0);
				assert_int_equal(t->count, 1);
				assert_int_equal(lc_table_values(t, 0)[at - s->keys_len], pairs[i]);
				lc_tree_free(&tree);
			}
	}
	weight_milli = 0;
	assert_int_equal(with_pairs, 6);
}

/* The least number that column `i` may not hold after these; 0: it may hold any. */
static uint64_t too_much(const struct lc_section_spec *s, unsigned i, uint64_t *v)
{
	switch (s->columns[i].type) {
	case LC_COLUMN_BELOW:
	case LC_COLUMN_TENTH:
		return s->columns[i].below;
	case LC_COLUMN_SUBMIT:
		return LC_SUBMIT_KINDS;
	case LC_COLUMN_PART:
		return v[i - 1] + 1;
	case LC_COLUMN_LENGTH:
		return UINT64_MAX - v[i - 1] + 1;
	case LC_COLUMN_FROM:
		v[i - 1] = 2;
		return 1;
	case LC_COLUMN_U64:
	case LC_COLUMN_PAIRS:
		return 0;
	default:
		return 2; /* names, and engines of the target */
	}
}

static void rows_with_a_number_out_of_range_or_too_short_are_refused_whole(void **state)
{
	lc_tree_init(&tree);
	for (unsigned n = 0; n < LC_SECTION_COUNT; n++) {
		const struct lc_section_spec *s = lc_section_spec(n);
		uint64_t v[LC_COLUMNS_MAX];

		for (unsigned i = 0; s && i < s->columns_len; i++) {
			right_row(s, v);
			v[i] = too_much(s, i, v);
			if (v[i])
				assert_int_equal(decode(s, n, false, v, 0), -EBADMSG);
		}
		if (!s)
			continue;
		right_row(s, v);
		assert_int_equal(decode(s, n, false, v, 1), -EBADMSG);
		if (s->merged)
			assert_int_equal(decode(s, s->merged, true, v, 1), -EBADMSG);
		if (s->merged && s->merged != n) { /* each kind of block has its own */
			assert_int_equal(decode(s, s->merged, false, v, 0), -EBADMSG);
			assert_int_equal(decode(s, n, true, v, 0), -EBADMSG);
		}
		if (lc_tree_table(&tree, n))
			assert_int_equal(lc_tree_table(&tree, n)->count, 0);
	}
	assert_true(lc_tree_empty(&tree));
	assert_int_equal(tree.threads.count, 0);
	lc_tree_free(&tree);
}

/* ---- what is written ---- */

static uint32_t ten_more(void *of, uint64_t v)
{
	return (uint32_t)v + 10;
}

static void names_of_a_row_are_numbered_and_it_begins_with_its_thread(void **state)
{
	static const uint32_t owner[] = { 0, 3 };
	const struct lc_encode_names names = { NULL, ten_more, ten_more, ten_more };
	const uint64_t line[] = { 300, 1, 2, 3, 4, 5, 6, 1, 8, 9, 10, 7, 45 };
	static const uint8_t expected[] = {
		0, 3, 0xac, 2, 1, 2, 13, 14, 5, 6, 1, 18, 9, 10, 7, 45
	};
	const struct lc_section_spec *s = lc_section_spec(LC_SECTION_LINES);
	struct lc_encoder e = { 0 };

	assert_int_equal(lc_encode_init(&e, &names), 0);
	lc_encode_begin(&e);
	lc_encode_row(&e, s, owner, line);
	lc_encode_row(&e, s, NULL, line);
	assert_int_equal(e.out.rows[LC_SECTION_MERGED_LINES], 1);
	assert_int_equal(e.out.rows[LC_SECTION_LINES], 1);
	assert_int_equal(e.out.bytes[LC_SECTION_MERGED_LINES].len, sizeof(expected));
	assert_memory_equal(e.out.bytes[LC_SECTION_MERGED_LINES].data, expected, sizeof(expected));
	assert_int_equal(e.out.bytes[LC_SECTION_LINES].len, sizeof(expected) - 2);
	assert_memory_equal(e.out.bytes[LC_SECTION_LINES].data, expected + 2, sizeof(expected) - 2);
	lc_encode_free(&e);
}

static void buckets_hold_the_accesses_of_a_block_and_the_last_one_the_rest(void **state)
{
	const struct lc_encode_names names = { NULL, ten_more, ten_more, ten_more };
	static uint64_t samples[LC_ENGINES_MAX][LC_BUCKET_COUNT];
	static const uint8_t first[] = { 0, 1, 4 }, last[] = { 0, 1, 6, 1, 6, 9 };
	struct lc_encoder e = { 0 };
	const struct lc_bytes *b = &e.out.bytes[LC_SECTION_BUCKETS];

	samples[0][1] = 10;
	samples[1][6] = 9;
	assert_int_equal(lc_encode_init(&e, &names), 0);
	lc_encode_start(&e, (const uint64_t(*)[LC_BUCKET_COUNT])samples);
	lc_encode_begin(&e);
	lc_encode_row(&e, lc_section_spec(LC_SECTION_ACCESSES), NULL,
	              (const uint64_t[]){ 0, 1, 1, 1, 4, 0 });
	lc_encode_buckets(&e, false);
	assert_int_equal(b->len, sizeof(first));
	assert_memory_equal(b->data, first, sizeof(first));
	lc_encode_begin(&e);
	lc_encode_buckets(&e, true);
	assert_int_equal(b->len, sizeof(last));
	assert_memory_equal(b->data, last, sizeof(last));
	lc_encode_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_norm_lists_the_sections_and_columns_of_the_table),
		cmocka_unit_test(the_norm_names_the_sections_whose_rows_have_a_thread),
		cmocka_unit_test(the_norm_says_of_what_type_a_column_is),
		cmocka_unit_test(sections_that_are_not_flat_have_no_description),
		cmocka_unit_test(a_row_gives_its_columns_in_the_order_of_the_file),
		cmocka_unit_test(a_row_with_a_number_out_of_range_is_not_valid),
		cmocka_unit_test(both_checks_of_a_row_agree),
		cmocka_unit_test(rows_are_ordered_by_their_keys_with_strings_last),
		cmocka_unit_test(values_are_added_up_to_the_top_or_are_the_largest),
		cmocka_unit_test(
		    rows_of_every_flat_section_are_read_in_blocks_of_one_thread_and_of_all),
		cmocka_unit_test(rows_of_an_old_block_have_as_many_pairs_as_the_mean_interrupt),
		cmocka_unit_test(rows_with_a_number_out_of_range_or_too_short_are_refused_whole),
		cmocka_unit_test(names_of_a_row_are_numbered_and_it_begins_with_its_thread),
		cmocka_unit_test(buckets_hold_the_accesses_of_a_block_and_the_last_one_the_rest),
	};

	return cmocka_run_group_tests(tests, read_norm, free_norm);
}
