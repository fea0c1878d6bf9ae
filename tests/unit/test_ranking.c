/* uses: analyzer/base/plain.c analyzer/objects/analysis/headers.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/known_lines.c analyzer/model/group_filter.c analyzer/model/where.c src/base/options.c src/base/nearest.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/objects/analysis/own_code.c analyzer/out/screen.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/emit.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c src/format/section.c -lm -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ranking.c - checks that each sample is in one row of a ranking, in which one, what is rolled
 * up under it, which part of its objects it says is touched, and which classes only at the header.
 * The file is longer than 600 lines, since all cases are on one made-up profile.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/objects/analysis/headers.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/touch.h"
#include "src/format/kinds.h"

static struct lc_tree tree;
static struct lc_load load;
static struct lc_view view;
static struct lc_ranking ranking;

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

/* A path of one more frame, "class.method" at a line. */
static uint32_t frame(uint32_t parent, const char *class, const char *method, uint32_t line)
{
	const uint32_t method_key[LC_METHOD_KEY] = { text(class), text(method), text("()V"),
		                                     text("A.java") };
	const uint32_t frame_key[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method_key), line,
		                                   line + 1 };
	const uint32_t path_key[LC_PATH_KEY] = { parent, lc_table_put(&tree.frames, frame_key) };

	return lc_table_put(&tree.paths, path_key);
}

static uint32_t site(const char *class, uint32_t path)
{
	const uint32_t key[LC_SITE_KEY] = { text(class), path };

	return lc_table_put(&tree.sites, key);
}

static void allocate(uint32_t at, uint64_t count, uint64_t bytes)
{
	uint64_t *values = lc_table_values(&tree.sites, at);

	values[LC_SITE_ALLOCATIONS] += count;
	values[LC_SITE_BYTES] += bytes;
}

static void sample(uint32_t bucket, uint32_t at, uint32_t path, uint64_t samples)
{
	uint32_t key[LC_ACCESS_KEY] = {
		[LC_ACCESS_BUCKET] = bucket, [LC_ACCESS_SITE] = at, [LC_ACCESS_PATH] = path
	};

	*lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, key)) += samples;
	tree.buckets[0][bucket] += samples;
}

/* Samples at a part of an object, of which each interrupt counts as `weight`. */
static void touch_by(uint64_t weight, uint32_t bucket, uint32_t at, uint32_t path, const char *name,
                     uint64_t first, uint32_t how, uint64_t samples)
{
	uint32_t key[LC_FIELD_KEY] = { [LC_FIELD_BUCKET] = bucket,
		                       [LC_FIELD_SITE] = at,
		                       [LC_FIELD_PATH] = path,
		                       [LC_FIELD_NAME] = text(name),
		                       [LC_FIELD_TOUCH] = how };

	lc_tree_wide_put(key + LC_FIELD_FIRST, first);
	lc_tree_wide_put(key + LC_FIELD_LAST, *name ? first : first + 7);
	lc_table_values(&tree.fields, lc_table_put(&tree.fields, key))[LC_FIELD_SAMPLES] += samples;
	lc_table_values(&tree.fields, lc_table_put(&tree.fields, key))[LC_FIELD_PAIRS] +=
	    samples / weight * lc_block_pairs(weight);
}

static void touch(uint32_t bucket, uint32_t at, uint32_t path, const char *name, uint64_t first,
                  uint32_t how, uint64_t samples)
{
	touch_by(1, bucket, at, path, name, first, how, samples);
}

/* An estimated part of a class's samples, in thousandths of a sample. */
static void split(uint32_t class_site, uint32_t at, uint64_t milli, uint64_t variance_milli)
{
	const uint32_t key[LC_SPLIT_KEY] = { [LC_SPLIT_METHOD] = LC_SPLIT_HITS,
		                             [LC_SPLIT_CLASS] = class_site,
		                             [LC_SPLIT_SITE] = at };
	uint64_t *values = lc_table_values(&tree.splits, lc_table_put(&tree.splits, key));

	values[LC_SPLIT_SAMPLES] += milli;
	values[LC_SPLIT_VARIANCE] += variance_milli;
}

static int an_empty_tree(void **state)
{
	lc_tree_init(&tree);
	load = (struct lc_load){ .tree = &tree, .engines_len = 1 };
	load.engines[0] = (struct lc_load_engine){ .name = (char *)"timer",
		                                   .unit = (char *)"ns of CPU time",
		                                   .interval_ns = 5000000 };
	return 0;
}

static int nothing(void **state)
{
	lc_ranking_free(&ranking);
	lc_view_free(&view);
	view = (struct lc_view){ 0 };
	lc_tree_free(&tree);
	return 0;
}

static void rank_beside(enum lc_rank_group group, struct lc_known_lines *told)
{
	lc_ranking_free(&ranking);
	lc_view_free(&view);
	view = (struct lc_view){ 0 };
	lc_view_build(&view, &load, 0, LC_SORT_SAMPLES);
	lc_ranking_build(&ranking, &view, group, told);
}

static void rank(enum lc_rank_group group)
{
	rank_beside(group, NULL);
}

/* Sums of everything that is said twice. */
static void check_sums(uint64_t samples)
{
	uint64_t rows = 0, rest = 0;

	for (size_t i = 0; i < ranking.len; i++) {
		const struct lc_rank_row *r = &ranking.rows[i];
		uint64_t accesses = 0, parts = 0, lines = 0;
		struct lc_arena arena = { 0 };
		size_t len;
		const struct lc_rank_lines *l =
		    lc_rank_roll_up(&arena, &tree, r->accesses, r->accesses_len, &len);

		for (size_t k = 0; k < r->accesses_len; k++)
			accesses += r->accesses[k].samples;
		for (size_t k = 0; k < r->parts_len; k++)
			parts += r->parts[k].samples;
		for (size_t k = 0; k < len; k++) {
			uint64_t callers = 0;

			for (size_t c = 0; c < l[k].callers_len; c++)
				callers += l[k].callers[c].samples;
			assert_true(callers <= l[k].samples);
			lines += l[k].samples;
		}
		assert_int_equal(accesses, r->samples);
		assert_int_equal(parts, r->samples);
		assert_int_equal(lines, r->samples);
		assert_true(r->estimated <= r->samples);
		assert_true(r->low <= (double)r->samples / (double)view.total + 1e-12);
		assert_true(r->high >= (double)r->samples / (double)view.total - 1e-12);
		rows += r->samples;
		rest += i >= ranking.shown ? r->samples : 0;
		lc_arena_free(&arena);
	}
	assert_int_equal(rows, samples);
	assert_int_equal(ranking.samples, samples);
	assert_int_equal(ranking.rest_samples, rest);
}

static const struct lc_rank_row *row(const char *class, uint32_t path)
{
	for (size_t i = 0; i < ranking.len; i++)
		if (ranking.rows[i].class == text(class) &&
		    (path == UINT32_MAX || ranking.rows[i].path == path))
			return &ranking.rows[i];
	return NULL;
}

static void call_paths_of_one_line_are_one_row(void **state)
{
	const uint32_t main1 = frame(0, "Main", "a", 1), main2 = frame(0, "Main", "b", 2);
	const uint32_t make1 = frame(main1, "p.A", "make", 10),
	               make2 = frame(main2, "p.A", "make", 10);
	const uint32_t other = frame(main1, "p.A", "make", 11),
	               use = frame(main1, "p.A", "use", 20);

	sample(LC_BUCKET_OBJECT, site("byte[]", make1), use, 30);
	sample(LC_BUCKET_OBJECT, site("byte[]", make2), use, 12);
	sample(LC_BUCKET_OBJECT, site("byte[]", other), use, 7);
	sample(LC_BUCKET_OBJECT, site("int[]", make1), use, 8);
	sample(LC_BUCKET_NATIVE, 0, use, 43);
	allocate(site("byte[]", make1), 2, 2000);
	allocate(site("byte[]", make2), 1, 1000);
	rank(LC_GROUP_LINE);
	check_sums(57);
	assert_int_equal(ranking.len, 3);
	assert_int_equal(ranking.rows[0].samples, 42);
	assert_int_equal(ranking.rows[0].allocations, 3);
	assert_int_equal(ranking.rows[0].bytes, 3000);
	assert_int_equal(ranking.rows[0].estimated, 0);
	assert_int_equal(ranking.rows[1].class, text("int[]"));
	rank(LC_GROUP_CLASS);
	check_sums(57);
	assert_int_equal(row("byte[]", UINT32_MAX)->samples, 49);
	rank(LC_GROUP_SITE);
	check_sums(57);
	assert_int_equal(ranking.len, 4);
	rank(LC_GROUP_PACKAGE);
	check_sums(57);
	assert_int_equal(ranking.len, 1); /* arrays of numbers have no package */
}

/* The lines that untracked objects come from get whole samples, which add up, of each access. */
static void estimated_lines_share_the_samples_of_their_class(void **state)
{
	const uint32_t use = frame(0, "p.A", "use", 20), again = frame(0, "p.A", "again", 21);
	const uint32_t class = site("p.B", 0);
	const uint32_t one = site("p.B", frame(0, "p.A", "one", 1));
	const uint32_t two = site("p.B", frame(0, "p.A", "two", 2));
	const uint32_t tracked = site("p.B", frame(0, "p.A", "three", 3));

	for (uint32_t i = 0; i < 50;
	     i++) /* each a sample: rounding one by one would give all to `one` */
		sample(LC_BUCKET_HEAP_CLASS, class, frame(use, "p.C", "c", i), 1);
	sample(LC_BUCKET_HEAP_CLASS, class, again, 50);
	sample(LC_BUCKET_OBJECT, tracked, use, 20);
	split(class, one, 70000, 1000);
	split(class, two, 30000, 1000);
	rank(LC_GROUP_LINE);
	check_sums(120);
	assert_int_equal(ranking.len, 3);
	assert_int_equal(ranking.rows[0].samples, 70);
	assert_int_equal(ranking.rows[0].estimated, 70);
	assert_int_equal(ranking.rows[1].samples, 30);
	assert_int_equal(ranking.rows[2].samples, 20);
	assert_int_equal(ranking.rows[2].estimated, 0);
	/* The split's own error widens the interval of what it gave. */
	assert_true(ranking.rows[0].high - ranking.rows[0].low > 0.17);
	rank(LC_GROUP_CLASS);
	check_sums(120);
	assert_int_equal(ranking.len, 1);
	assert_int_equal(ranking.rows[0].estimated, 0);
	rank(LC_GROUP_PACKAGE);
	check_sums(120);
	assert_int_equal(ranking.len, 1);
}

static void a_class_without_an_estimate_is_a_row_without_a_line(void **state)
{
	const uint32_t class = site("p.B", 0), use = frame(0, "p.A", "use", 20);

	sample(LC_BUCKET_HEAP_CLASS, class, use, 9);
	sample(LC_BUCKET_OBJECT, site("p.B", frame(0, "p.A", "three", 3)), use, 6);
	rank(LC_GROUP_LINE);
	check_sums(15);
	assert_int_equal(ranking.len, 2);
	assert_int_equal(row("p.B", 0)->samples, 9);
}

/* Like another profile that can tell no line of the class. */
static void a_class_that_another_profile_cannot_split_is_a_row(void **state)
{
	const uint32_t class = site("p.B", 0), use = frame(0, "p.A", "use", 20);
	const uint32_t line = frame(0, "p.A", "one", 1), one = site("p.B", line);
	const uint32_t tracked = site("p.B", frame(0, "p.A", "three", 3));
	struct lc_known_lines told;

	lc_known_lines_init(&told);
	sample(LC_BUCKET_HEAP_CLASS, class, use, 50);
	sample(LC_BUCKET_OBJECT, tracked, use, 20);
	rank(LC_GROUP_LINE);
	lc_known_lines_add(&told, &view); /* without a split */
	split(class, one, 50000, 1000);
	rank_beside(LC_GROUP_LINE, &told); /* no profile tells it */
	assert_false(lc_known_lines_by_some(&told, lc_tree_text(&tree, text("p.B"))));
	assert_int_equal(row("p.B", line)->samples, 50);
	lc_known_lines_add(&told, &view);
	assert_true(lc_known_lines_by_some(&told, lc_tree_text(&tree, text("p.B"))));
	assert_false(lc_known_lines_by_some(&told, lc_tree_text(&tree, text("p.C"))));
	for (unsigned i = 0; i < 2; i++) {
		rank_beside(i ? LC_GROUP_SITE : LC_GROUP_LINE, &told);
		check_sums(70);
		assert_int_equal(ranking.rows[0].samples, 50);
		assert_int_equal(ranking.rows[0].estimated, 0);
		assert_int_equal(ranking.rows[0].path, 0);
		assert_true(ranking.rows[0].all_lines);
		assert_int_equal(ranking.rows[1].samples, 20);
		assert_false(ranking.rows[1].all_lines);
	}
	rank_beside(LC_GROUP_CLASS, &told);
	check_sums(70);
	assert_false(ranking.rows[0].all_lines);
	lc_known_lines_free(&told);
}

/* Six samples of a hundred, by a split that may be wrong by as many, may be none. */
static void a_row_whose_interval_reaches_0_is_the_rest(void **state)
{
	const uint32_t class = site("p.B", 0), use = frame(0, "p.A", "use", 20);
	const uint32_t line = frame(0, "p.A", "two", 2);
	const uint32_t one = site("p.B", frame(0, "p.A", "one", 1)), two = site("p.B", line);

	sample(LC_BUCKET_HEAP_CLASS, class, use, 100);
	split(class, one, 94000, 12000);
	split(class, two, 6000, 12000);
	rank(LC_GROUP_LINE);
	check_sums(100);
	assert_int_equal(row("p.B", line)->samples, 6);
	assert_true(row("p.B", line)->low == 0);
	assert_true(row("p.B", line)->rest);
	assert_int_equal(ranking.shown, 1);
	assert_int_equal(ranking.rest_samples, 6);
}

static void a_row_whose_interval_stays_above_0_is_ranked(void **state)
{
	const uint32_t class = site("p.B", 0), use = frame(0, "p.A", "use", 20);
	const uint32_t line = frame(0, "p.A", "two", 2);
	const uint32_t one = site("p.B", frame(0, "p.A", "one", 1)), two = site("p.B", line);

	sample(LC_BUCKET_HEAP_CLASS, class, use, 100);
	split(class, one, 94000, 500);
	split(class, two, 6000, 500);
	rank(LC_GROUP_LINE);
	assert_int_equal(row("p.B", line)->samples, 6);
	assert_true(row("p.B", line)->low > 0);
	assert_int_equal(ranking.shown, 2);
}

static void few_samples_are_the_rest(void **state)
{
	const uint32_t use = frame(0, "p.A", "use", 20);

	sample(LC_BUCKET_OBJECT, site("a", use), use, LC_RANK_SAMPLES_MIN - 1);
	sample(LC_BUCKET_OBJECT, site("b", use), use, LC_RANK_SAMPLES_MIN);
	allocate(site("c", use), 1000, 1u << 30); /* never sampled */
	rank(LC_GROUP_LINE);
	check_sums(2 * LC_RANK_SAMPLES_MIN - 1);
	assert_int_equal(ranking.len, 3);
	assert_int_equal(ranking.shown, 1);
	assert_int_equal(ranking.rest_samples, LC_RANK_SAMPLES_MIN - 1);
}

static void fields_are_rows_and_what_has_none_is_one(void **state)
{
	const uint32_t class = site("p.B", 0), use = frame(0, "p.A", "use", 20);

	sample(LC_BUCKET_HEAP_CLASS, class, use, 50);
	touch(LC_BUCKET_HEAP_CLASS, class, use, "next", 0, LC_TOUCH_LOAD, 30);
	touch(LC_BUCKET_HEAP_CLASS, class, use, "(class)", 0, LC_TOUCH_LOAD, 15);
	rank(LC_GROUP_FIELD);
	check_sums(50);
	assert_int_equal(ranking.len, 3);
	assert_int_equal(ranking.rows[0].field, text("next"));
	assert_int_equal(ranking.rows[1].field, text("(class)"));
	assert_false(ranking.rows[2].field_known);
	assert_int_equal(ranking.rows[2].samples, 5);
}

static void classes_of_one_package_are_one_row(void **state)
{
	const uint32_t use = frame(0, "p.A", "use", 20);

	sample(LC_BUCKET_HEAP_CLASS, site("p.q.B", 0), use, 10);
	sample(LC_BUCKET_HEAP_CLASS, site("p.q.C[]", 0), use, 9);
	sample(LC_BUCKET_HEAP_CLASS, site("p.D", 0), use, 8);
	sample(LC_BUCKET_HEAP_CLASS, site("p.qq.E", 0), use, 7);
	sample(LC_BUCKET_HEAP_CLASS, site("long[]", 0), use, 6);
	rank(LC_GROUP_PACKAGE);
	check_sums(40);
	assert_int_equal(ranking.len, 4);
	assert_int_equal(ranking.rows[0].samples, 19);
	assert_memory_equal(lc_rank_package(lc_tree_text(&tree, ranking.rows[0].class)).bytes,
	                    "p.q", 3);
}

static void neighbouring_lines_are_one(void **state)
{
	const uint32_t f = frame(0, "Main", "f", 5), g = frame(0, "Main", "g", 6);
	const struct lc_rank_access accesses[] = {
		{ frame(f, "p.A", "use", 10), 10 },  { frame(g, "p.A", "use", 11), 20 },
		{ frame(f, "p.A", "use", 12), 3 },   { frame(f, "p.A", "use", 14), 30 },
		{ frame(f, "p.A", "other", 13), 1 }, { 0, 2 },
	};
	struct lc_arena arena = { 0 };
	size_t len;
	const struct lc_rank_lines *l = lc_rank_roll_up(&arena, &tree, accesses, 6, &len);

	assert_int_equal(len, 4);
	assert_int_equal(l[0].samples, 33);
	assert_int_equal(l[0].first, 11); /* line + 1 */
	assert_int_equal(l[0].last, 13);
	assert_int_equal(l[0].callers_len, 2);
	assert_int_equal(l[0].callers[0].samples, 20);
	assert_int_equal(l[0].callers[0].line1, 7);
	assert_int_equal(l[0].callers[1].samples, 13);
	assert_int_equal(l[1].samples, 30);
	assert_int_equal(l[2].method, UINT32_MAX);
	assert_int_equal(l[3].samples, 1);
	lc_arena_free(&arena);
}

/* One interrupt that counts as several samples is one observation. */
static void samples_of_one_interrupt_widen_the_interval(void **state)
{
	const struct lc_weighted none = { 0 };
	double low, high, low4, high4;

	lc_rank_interval((struct lc_weighted){ 100, 0 }, (struct lc_weighted){ 400, 0 }, &low,
	                 &high);
	assert_true(fabs(low - 0.2099) < 0.0005 && fabs(high - 0.2949) < 0.0005); /* Wilson */
	lc_rank_interval((struct lc_weighted){ 100, 25 * 6 }, (struct lc_weighted){ 400, 100 * 6 },
	                 &low4, &high4);
	assert_true(fabs(low4 - 0.1755) < 0.0005 && fabs(high4 - 0.3430) < 0.0005); /* 25 of 100 */
	lc_rank_interval(none, none, &low, &high);
	assert_true(low == 0 && high == 1);
}

static enum lc_touch_kind kind_of_row(size_t i)
{
	return lc_touch_of(&ranking, &ranking.rows[i]).kind;
}

static void the_part_that_is_touched_is_named(void **state)
{
	const uint32_t use = frame(0, "p.A", "use", 20), make = frame(0, "p.A", "make", 10);
	const uint32_t header = site("p.H", use), one = site("p.O", use),
	               part = site("long[]", use);
	const uint32_t all = site("p.Z", use), few = site("p.F", use), never = site("int[]", make),
	               cleared = site("char[]", use);
	struct lc_touch t;

	sample(LC_BUCKET_OBJECT, header, use, 60);
	touch(LC_BUCKET_OBJECT, header, use, "(class)", 0, LC_TOUCH_LOAD, 30);
	touch(LC_BUCKET_OBJECT, header, use, "(mark)", 0, LC_TOUCH_LOAD, 15);
	touch(LC_BUCKET_OBJECT, header, use, "f", 0, LC_TOUCH_LOAD, 10);
	sample(LC_BUCKET_OBJECT, one, use, 50);
	touch(LC_BUCKET_OBJECT, one, use, "(class)", 0, LC_TOUCH_LOAD, 30);
	touch(LC_BUCKET_OBJECT, one, use, "f", 0, LC_TOUCH_LOAD, 17);
	touch(LC_BUCKET_OBJECT, one, use, "g", 0, LC_TOUCH_LOAD, 3);
	sample(LC_BUCKET_OBJECT, part, use, 40);
	touch(LC_BUCKET_OBJECT, part, use, "", 0, LC_TOUCH_LOAD, 40);
	sample(LC_BUCKET_OBJECT, all, use, 30);
	touch(LC_BUCKET_OBJECT, all, use, "f", 0, LC_TOUCH_LOAD, 15);
	touch(LC_BUCKET_OBJECT, all, use, "g", 0, LC_TOUCH_STORE, 15);
	sample(LC_BUCKET_OBJECT, few, use, 20);
	touch(LC_BUCKET_OBJECT, few, use, "f", 0, LC_TOUCH_LOAD, LC_TOUCH_SAMPLES_MIN - 1);
	sample(LC_BUCKET_OBJECT, never, use, LC_TOUCH_WRITTEN_MIN);
	touch(LC_BUCKET_OBJECT, never, use, "", 0, LC_TOUCH_STORE, 150);
	touch(LC_BUCKET_OBJECT, never, use, "", 8, LC_TOUCH_STORE, LC_TOUCH_WRITTEN_MIN - 150);
	sample(LC_BUCKET_OBJECT, cleared, use, 400); /* by the line that makes the array */
	touch(LC_BUCKET_OBJECT, cleared, use, "", 0, LC_TOUCH_STORE, 400);
	rank(LC_GROUP_LINE);
	check_sums(200 + LC_TOUCH_WRITTEN_MIN + 400);
	assert_int_equal(kind_of_row(2), LC_TOUCH_HEADER);
	assert_int_equal(kind_of_row(3), LC_TOUCH_ONE_FIELD);
	assert_int_equal(kind_of_row(4), LC_TOUCH_ONE_PART);
	assert_int_equal(kind_of_row(5), LC_TOUCH_ALL_OVER);
	assert_int_equal(kind_of_row(6), LC_TOUCH_UNKNOWN);
	t = lc_touch_of(&ranking, &ranking.rows[1]);
	assert_int_equal(t.kind, LC_TOUCH_ALL_OVER);
	assert_true(lc_touch_never_read(&t));
	t = lc_touch_of(&ranking, &ranking.rows[5]);
	assert_false(lc_touch_never_read(&t));
	t = lc_touch_of(&ranking, &ranking.rows[0]);
	assert_false(lc_touch_never_read(&t));
	assert_int_equal(t.cleared, 400);
}

static void what_wait_says_of_objects_is_of_all_their_samples(void **state)
{
	const uint32_t use = frame(0, "A", "use", 5), other = frame(0, "A", "other", 6);
	const uint32_t at = site("B", use), apart = site("C", use);
	const uint32_t keys[][LC_WAIT_KEY] = {
		{ 0, LC_BUCKET_OBJECT, at, LC_WAIT_ELSEWHERE },
		{ 0, LC_BUCKET_OBJECT, at, LC_WAIT_ELSEWHERE | LC_WAIT_READS_ON },
		{ 0, LC_BUCKET_OBJECT, at, LC_WAIT_READS_ON },
		{ 1, LC_BUCKET_OBJECT, at, LC_WAIT_ELSEWHERE }, /* of another engine */
		{ 0, LC_BUCKET_HEAP_CLASS, at, LC_WAIT_ELSEWHERE },
	};
	struct lc_touch t;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		*lc_table_values(&tree.waits, lc_table_put(&tree.waits, keys[i])) = 1u << i;
	sample(LC_BUCKET_OBJECT, at, use, 10);
	sample(LC_BUCKET_OBJECT, at, other, 20);
	sample(LC_BUCKET_OBJECT, apart, use, 7);
	rank(LC_GROUP_LINE);
	t = lc_touch_of(&ranking, &ranking.rows[0]);
	assert_int_equal(t.waits, 30);
	assert_int_equal(t.elsewhere, 1 + 2);
	assert_int_equal(t.reads_on, 2 + 4);
	t = lc_touch_of(&ranking, &ranking.rows[1]);
	assert_int_equal(t.waits, 7);
	assert_int_equal(t.elsewhere + t.reads_on, 0);
}

/* Nine interrupts say nothing of a part, although they count as 144 samples. */
static void what_few_interrupts_touched_is_not_named(void **state)
{
	const uint32_t use = frame(0, "p.A", "use", 20), make = frame(0, "p.A", "make", 10);
	const uint32_t nine = site("p.N", make), ten = site("p.T", make), read = site("p.R", make);
	struct lc_touch t;

	sample(LC_BUCKET_OBJECT, read, use, 400);
	touch(LC_BUCKET_OBJECT, read, use, "f", 0, LC_TOUCH_LOAD, 400);
	sample(LC_BUCKET_OBJECT, ten, use, 160);
	touch_by(16, LC_BUCKET_OBJECT, ten, use, "f", 0, LC_TOUCH_STORE, 160);
	sample(LC_BUCKET_OBJECT, nine, use, 144);
	touch_by(16, LC_BUCKET_OBJECT, nine, use, "f", 0, LC_TOUCH_STORE, 144);
	rank(LC_GROUP_LINE);
	t = lc_touch_of(&ranking, &ranking.rows[1]);
	assert_int_equal(t.kind, LC_TOUCH_ONE_FIELD);
	assert_false(lc_touch_never_read(&t)); /* of ten stores that is not sure */
	t = lc_touch_of(&ranking, &ranking.rows[2]);
	assert_int_equal(t.known, 144);
	assert_int_equal(t.kind, LC_TOUCH_UNKNOWN);
	assert_false(lc_touch_never_read(&t));
}

/* Steps of samples, of which each interrupt counts as `weight`. */
static void walk(uint32_t at, uint64_t bytes, uint64_t interrupts, uint64_t weight)
{
	uint32_t key[LC_STEP_KEY] = { [LC_STEP_BUCKET] = LC_BUCKET_OBJECT, [LC_STEP_SITE] = at };
	uint64_t *values;

	lc_tree_wide_put(key + LC_STEP_BYTES, bytes);
	values = lc_table_values(&tree.steps, lc_table_put(&tree.steps, key));
	values[LC_STEP_SAMPLES] += interrupts * weight;
	values[LC_STEP_PAIRS] += interrupts * lc_block_pairs(weight);
}

static void the_order_of_few_interrupts_is_not_named(void **state)
{
	const uint32_t use = frame(0, "p.A", "use", 20);
	const uint32_t few = site("int[]", use), enough = site("long[]", use);

	sample(LC_BUCKET_OBJECT, enough, use, 30 * 8);
	walk(enough, 256, 30, 8);
	sample(LC_BUCKET_OBJECT, few, use, 29 * 8);
	walk(few, 256, 29, 8);
	rank(LC_GROUP_LINE);
	assert_int_equal(lc_touch_of(&ranking, &ranking.rows[0]).walk, LC_WALK_STRIDE);
	assert_int_equal(lc_touch_of(&ranking, &ranking.rows[1]).walk, LC_WALK_UNKNOWN);
	assert_int_equal(lc_touch_of(&ranking, &ranking.rows[1]).step_samples, 29 * 8);
}

/* An estimate of a site's objects. */
static void estimate(uint32_t at, uint64_t objects, uint64_t bytes)
{
	const uint32_t key[LC_ESTIMATE_KEY] = { [LC_ESTIMATE_SITE] = at };
	uint64_t *values = lc_table_values(&tree.estimates, lc_table_put(&tree.estimates, key));

	values[LC_ESTIMATE_SAMPLED] += 1;
	values[LC_ESTIMATE_OBJECTS] += 1000 * objects;
	values[LC_ESTIMATE_BYTES] += bytes;
}

static void classes_touched_at_the_header_have_their_number_and_size(void **state)
{
	const uint32_t use = frame(0, "p.A", "use", 20), make = frame(0, "p.A", "make", 10);
	const uint32_t tracked = site("p.H", make), others = site("p.H", 0), half = site("p.M", 0),
	               few = site("p.F", 0), none = site("p.N", 0);
	struct lc_header_class *h;
	size_t len;

	sample(LC_BUCKET_OBJECT, tracked, use, 30);
	touch(LC_BUCKET_OBJECT, tracked, use, "(class)", 0, LC_TOUCH_LOAD, 25);
	touch(LC_BUCKET_OBJECT, tracked, use, "f", 0, LC_TOUCH_LOAD, 5);
	sample(LC_BUCKET_HEAP_CLASS, others, use, 20);
	touch(LC_BUCKET_HEAP_CLASS, others, use, "(mark)", 0, LC_TOUCH_LOAD, 15);
	sample(LC_BUCKET_HEAP_CLASS, half, use, 100);
	touch(LC_BUCKET_HEAP_CLASS, half, use, "(class)", 0, LC_TOUCH_LOAD, 30);
	touch(LC_BUCKET_HEAP_CLASS, half, use, "f", 0, LC_TOUCH_LOAD, 20);
	sample(LC_BUCKET_HEAP_CLASS, few, use, 9);
	touch(LC_BUCKET_HEAP_CLASS, few, use, "(length)", 0, LC_TOUCH_LOAD,
	      LC_TOUCH_SAMPLES_MIN - 1);
	sample(LC_BUCKET_HEAP_CLASS, none, use, 40);
	touch(LC_BUCKET_HEAP_CLASS, none, use, "f", 0, LC_TOUCH_LOAD, 40);
	allocate(tracked, 30, 30 * 400);
	estimate(site("p.H", use), 10, 10 * 40);
	rank(LC_GROUP_LINE);
	h = lc_headers_of(&view, &len);
	assert_int_equal(len, 3);
	assert_int_equal(h[0].class, text("p.H"));
	assert_int_equal(h[0].samples, 40);
	assert_int_equal(h[0].known, 45);
	assert_true(fabs(h[0].low - 0.7650) < 0.0005 && fabs(h[0].high - 0.9516) < 0.0005);
	assert_true(h[0].only);
	assert_int_equal(h[1].class, text("p.M"));
	assert_false(h[1].only); /* 30 of 50: the interval begins below one half */
	assert_int_equal(h[2].class, text("p.F"));
	assert_false(h[2].only); /* all of nine, which are too few */
	assert_true(fabs(lc_headers_size(&view, text("p.H")) - 310) < 1e-9);
	assert_true(lc_headers_size(&view, text("p.M")) == 0);
	free(h);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, an_empty_tree, nothing)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(call_paths_of_one_line_are_one_row),
		TEST(estimated_lines_share_the_samples_of_their_class),
		TEST(a_class_without_an_estimate_is_a_row_without_a_line),
		TEST(a_class_that_another_profile_cannot_split_is_a_row),
		TEST(a_row_whose_interval_reaches_0_is_the_rest),
		TEST(a_row_whose_interval_stays_above_0_is_ranked),
		TEST(few_samples_are_the_rest),
		TEST(what_wait_says_of_objects_is_of_all_their_samples),
		TEST(fields_are_rows_and_what_has_none_is_one),
		TEST(classes_of_one_package_are_one_row),
		TEST(neighbouring_lines_are_one),
		TEST(samples_of_one_interrupt_widen_the_interval),
		TEST(the_part_that_is_touched_is_named),
		TEST(what_few_interrupts_touched_is_not_named),
		TEST(the_order_of_few_interrupts_is_not_named),
		TEST(classes_touched_at_the_header_have_their_number_and_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
