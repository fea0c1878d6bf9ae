/* uses: analyzer/base/plain.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/known_lines.c analyzer/model/group_filter.c analyzer/model/where.c src/base/options.c src/base/nearest.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/objects/analysis/own_code.c analyzer/out/screen.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/emit.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c src/format/section.c -lm -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ranking_parts.c - checks what a row of a ranking says beyond its samples: how those of a
 * class are dealt out to lines, how wide intervals are, in which order objects are gone through,
 * and what of it is the line that makes them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

/* A path of one more frame, at a place in the bytecode of a method; line 0 is not known. */
static uint32_t place(uint32_t parent, const char *method, uint32_t bci1, uint32_t line1)
{
	const uint32_t method_key[LC_METHOD_KEY] = { text("p.A"), text(method), text("()V"),
		                                     text("A.java") };
	const uint32_t frame_key[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method_key), bci1,
		                                   line1 };
	const uint32_t path_key[LC_PATH_KEY] = { parent, lc_table_put(&tree.frames, frame_key) };

	return lc_table_put(&tree.paths, path_key);
}

static uint32_t line(uint32_t parent, const char *method, uint32_t number)
{
	return place(parent, method, number, number);
}

static uint32_t site(const char *class, uint32_t path)
{
	const uint32_t key[LC_SITE_KEY] = { text(class), path };

	return lc_table_put(&tree.sites, key);
}

static void sample(uint32_t bucket, uint32_t at, uint32_t path, uint64_t samples)
{
	const uint32_t key[LC_ACCESS_KEY] = {
		[LC_ACCESS_BUCKET] = bucket, [LC_ACCESS_SITE] = at, [LC_ACCESS_PATH] = path
	};

	*lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, key)) += samples;
	tree.buckets[0][bucket] += samples;
}

/* So many stores to elements, of samples that are counted elsewhere. */
static void store(uint32_t at, uint32_t path, uint64_t samples)
{
	const uint32_t key[LC_FIELD_KEY] = { [LC_FIELD_BUCKET] = LC_BUCKET_OBJECT,
		                             [LC_FIELD_SITE] = at,
		                             [LC_FIELD_PATH] = path,
		                             [LC_FIELD_NAME] = text(""),
		                             [LC_FIELD_TOUCH] = LC_TOUCH_STORE };

	*lc_table_values(&tree.fields, lc_table_put(&tree.fields, key)) += samples;
}

/* So many samples were as far from the access before; `end`: the end of the array that they were
 * at. */
static void step(uint32_t at, uint64_t bytes, uint32_t end, uint64_t samples)
{
	uint32_t key[LC_STEP_KEY] = {
		[LC_STEP_BUCKET] = LC_BUCKET_OBJECT, [LC_STEP_SITE] = at, [LC_STEP_END] = end
	};

	lc_tree_wide_put(key + LC_STEP_BYTES, bytes);
	*lc_table_values(&tree.steps, lc_table_put(&tree.steps, key)) += samples;
}

static void split_by(uint32_t method, uint32_t class_site, uint32_t at, uint64_t milli,
                     uint64_t variance_milli)
{
	const uint32_t key[LC_SPLIT_KEY] = {
		[LC_SPLIT_METHOD] = method, [LC_SPLIT_CLASS] = class_site, [LC_SPLIT_SITE] = at
	};
	uint64_t *values = lc_table_values(&tree.splits, lc_table_put(&tree.splits, key));

	values[LC_SPLIT_SAMPLES] += milli;
	values[LC_SPLIT_VARIANCE] += variance_milli;
}

/* An estimated part of a class's samples, in thousandths of a sample. */
static void split(uint32_t class_site, uint32_t at, uint64_t milli, uint64_t variance_milli)
{
	split_by(LC_SPLIT_HITS, class_site, at, milli, variance_milli);
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

static void forget(void)
{
	lc_ranking_free(&ranking);
	lc_view_free(&view);
	view = (struct lc_view){ 0 };
}

static int nothing(void **state)
{
	forget();
	lc_tree_free(&tree);
	return 0;
}

static void rank(enum lc_rank_group group)
{
	forget();
	lc_view_build(&view, &load, 0, LC_SORT_SAMPLES);
	lc_ranking_build(&ranking, &view, group, NULL);
}

static const struct lc_rank_row *row(uint32_t path)
{
	for (size_t i = 0; i < ranking.len; i++)
		if (ranking.rows[i].path == path)
			return &ranking.rows[i];
	fail();
	return NULL;
}

/* ---- lines that are estimated ---- */

static void one_access_is_dealt_out_by_the_shares(void **state)
{
	const uint32_t class = site("p.B", 0), use = line(0, "use", 20);
	const uint32_t one = line(0, "one", 1), two = line(0, "two", 2),
	               three = line(0, "three", 3);

	sample(LC_BUCKET_HEAP_CLASS, class, use, 101);
	split(class, site("p.B", one), 70000, 1000);
	split(class, site("p.B", two), 20000, 1000);
	split(class, site("p.B", three), 10000, 1000);
	rank(LC_GROUP_LINE);
	assert_int_equal(row(one)->samples, 71);
	assert_int_equal(row(two)->samples, 20);
	assert_int_equal(row(three)->samples, 10);
}

/* A large array is held for sure, so that its hits stand for no other object. */
static void hits_that_are_sure_leave_the_rest_to_the_class(void **state)
{
	static const struct {
		uint64_t variance_milli;
		unsigned samples;                                   /* of the line */
	} cases[] = { { 0, 60 }, { 380000, 60 }, { 420000, 100 } }; /* 40 is 2.05 and 1.95 sigma */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t class, one;

		nothing(NULL);
		an_empty_tree(NULL);
		class = site("p.B", 0);
		one = line(0, "one", 1);
		sample(LC_BUCKET_HEAP_CLASS, class, line(0, "use", 20), 100);
		split(class, site("p.B", one), 60000, cases[i].variance_milli);
		split_by(LC_SPLIT_LIVE_WHOLE, class, class, 100000, 0);
		split_by(LC_SPLIT_HITS_WHOLE, class, class, 60000, 0);
		rank(LC_GROUP_LINE);
		assert_int_equal(row(one)->samples, cases[i].samples);
	}
}

static void the_errors_of_a_lines_call_paths_add_up(void **state)
{
	const uint32_t class = site("p.B", 0), use = line(0, "use", 20);
	const uint32_t one = line(line(0, "main", 1), "make", 7),
	               two = line(line(0, "main", 2), "make", 7);
	double apart;

	sample(LC_BUCKET_HEAP_CLASS, class, use, 100);
	split(class, site("p.B", one), 60000, 4000);
	split(class, site("p.B", two), 40000, 2000);
	rank(LC_GROUP_SITE);
	assert_true(row(one)->variance > 0 && row(two)->variance > 0);
	apart = row(one)->variance + row(two)->variance;
	rank(LC_GROUP_LINE);
	assert_int_equal(ranking.len, 1);
	assert_true(fabs(ranking.rows[0].variance - apart) < 1e-6);
}

static void the_error_of_a_split_widens_both_sides_of_the_interval(void **state)
{
	const uint32_t class = site("p.B", 0), use = line(0, "use", 20), one = line(0, "one", 1);
	double low, high;

	sample(LC_BUCKET_HEAP_CLASS, class, use, 400);
	split(class, site("p.B", one), 200000, 300000);
	split(class, site("p.B", line(0, "two", 2)), 200000, 300000);
	rank(LC_GROUP_LINE);
	lc_rank_interval((struct lc_weighted){ 200, 0 }, (struct lc_weighted){ 400, 0 }, &low,
	                 &high);
	assert_int_equal(row(one)->samples, 200);
	assert_true(row(one)->low < low - 0.01);
	assert_true(row(one)->high > high + 0.01);
}

static void the_interval_of_estimated_bytes_is_that_of_bytes(void **state)
{
	const uint32_t make = line(0, "make", 7);
	const uint32_t key[LC_ESTIMATE_KEY] = { [LC_ESTIMATE_SITE] = site("p.B", make) };
	uint64_t *values = lc_table_values(&tree.estimates, lc_table_put(&tree.estimates, key));

	values[LC_ESTIMATE_SAMPLED] = 4;
	values[LC_ESTIMATE_OBJECTS] = 100000;
	values[LC_ESTIMATE_OBJECTS_VARIANCE] = 25000; /* 25: 5 objects */
	values[LC_ESTIMATE_BYTES] = 64 << 20;
	values[LC_ESTIMATE_BYTES_VARIANCE] = 1 << 20; /* in 2^20 bytes squared: 2^20 bytes */
	rank(LC_GROUP_LINE);
	assert_true(fabs(row(make)->objects.value - 100) < 1e-6);
	/* Like 400 events that count a quarter each: at most 441.19 (Poisson, 97.5%). */
	assert_true(fabs(row(make)->objects.high - 110.30) < 0.02);
	assert_true(fabs(row(make)->object_bytes.value - (64 << 20)) < 1);
	/* Like 4096 events: at most 4223.4. */
	assert_true(fabs(row(make)->object_bytes.high / (64 << 20) - 4223.4 / 4096) < 1e-4);
}

static void places_without_lines_are_told_apart_by_bytecode(void **state)
{
	const uint32_t use = line(0, "use", 20);
	const uint32_t one = place(0, "make", 4, 0), two = place(0, "make", 9, 0);

	sample(LC_BUCKET_OBJECT, site("p.B", one), use, 20);
	sample(LC_BUCKET_OBJECT, site("p.B", two), use, 10);
	rank(LC_GROUP_LINE);
	assert_int_equal(ranking.len, 2);
	assert_int_equal(row(one)->samples, 20);
	assert_int_equal(row(two)->samples, 10);
}

/* ---- the order ---- */

/* Arrays of line `number` have 100 samples, of which so many with one step and with another. */
static uint32_t walk(uint32_t number, uint64_t bytes, uint64_t samples, uint64_t other_bytes,
                     uint64_t others)
{
	const uint32_t make = line(0, "make", number), at = site("int[]", make);

	sample(LC_BUCKET_OBJECT, at, line(0, "use", 20), 100);
	step(at, bytes, LC_END_NONE, samples);
	if (others)
		step(at, other_bytes, LC_END_NONE, others);
	return make;
}

static void the_order_is_that_of_most_samples_for_certain(void **state)
{
	const uint32_t along = walk(1, 4, 50, 63, 30), stride = walk(2, 4096, 80, 4, 20);
	const uint32_t each = walk(3, LC_WALK_LINE, 80, 0, 0), half = walk(4, 4, 55, 4096, 45);
	const uint32_t two = walk(5, 4096, 45, 8192, 45),
	               few = walk(6, 4, LC_WALK_SAMPLES_MIN - 1, 0, 0);
	struct lc_touch t;

	rank(LC_GROUP_LINE);
	t = lc_touch_of(&ranking, row(along));
	assert_int_equal(t.walk, LC_WALK_SEQUENTIAL);
	assert_int_equal(t.sequential, 80);
	t = lc_touch_of(&ranking, row(stride));
	assert_int_equal(t.walk, LC_WALK_STRIDE);
	assert_int_equal(t.step, 4096);
	assert_int_equal(t.step_samples, 80);
	assert_int_equal(t.stepped, 100);
	assert_int_equal(lc_touch_of(&ranking, row(each)).walk, LC_WALK_STRIDE);
	assert_int_equal(lc_touch_of(&ranking, row(half)).walk, LC_WALK_UNKNOWN);
	assert_int_equal(lc_touch_of(&ranking, row(two)).walk, LC_WALK_UNKNOWN);
	assert_int_equal(lc_touch_of(&ranking, row(few)).walk, LC_WALK_UNKNOWN);
}

/* A line's objects come by two call paths; of those that come by one no step is known. */
static void samples_without_a_step_count_against_an_order(void **state)
{
	const uint32_t one = site("int[]", line(line(0, "main", 1), "make", 7));
	const uint32_t two = site("int[]", line(line(0, "main", 2), "make", 7));
	struct lc_touch t;

	sample(LC_BUCKET_OBJECT, one, line(0, "use", 20), 40);
	step(one, 4, LC_END_NONE, 40);
	sample(LC_BUCKET_OBJECT, two, line(0, "use", 20), 60);
	rank(LC_GROUP_LINE);
	assert_int_equal(ranking.len, 1);
	t = lc_touch_of(&ranking, &ranking.rows[0]);
	assert_int_equal(t.at, 100);
	assert_int_equal(t.walk, LC_WALK_UNKNOWN);
}

static void a_hot_end_has_most_of_enough_samples(void **state)
{
	static const struct {
		uint64_t first, middle, last;
		enum lc_array_end end;
	} cases[] = {
		{ 40, 10, 0, LC_END_FIRST },
		{ 0, 10, 40, LC_END_LAST },
		{ 27, 23, 0, LC_END_NONE },
		{ LC_WALK_SAMPLES_MIN - 1, 0, 0, LC_END_NONE },
	};
	uint32_t make[4];

	for (uint32_t i = 0; i < 4; i++) {
		uint32_t at;

		make[i] = line(0, "make", 1 + i);
		at = site("int[]", make[i]);
		sample(LC_BUCKET_OBJECT, at, line(0, "use", 20), 50);
		step(at, 0, LC_END_FIRST, cases[i].first);
		step(at, 0, LC_END_MIDDLE, cases[i].middle);
		step(at, 0, LC_END_LAST, cases[i].last);
	}
	rank(LC_GROUP_LINE);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(lc_touch_of(&ranking, row(make[i])).hot_end, cases[i].end);
}

/* ---- the line that makes them ---- */

/* It clears a new array, which is no use of it. Another method has a line of the same number. */
static void what_the_line_that_makes_an_array_stores_is_no_use_of_it(void **state)
{
	const uint32_t make = line(0, "make", 7), alike = line(0, "fill", 7);
	const uint32_t at = site("int[]", make);
	struct lc_touch t;

	sample(LC_BUCKET_OBJECT, at, line(line(0, "main", 1), "make", 7), 500);
	store(at, line(line(0, "main", 1), "make", 7), 500);
	sample(LC_BUCKET_OBJECT, at, alike, 5);
	store(at, alike, 5);
	rank(LC_GROUP_LINE);
	t = lc_touch_of(&ranking, row(make));
	assert_int_equal(t.stores, 505);
	assert_int_equal(t.cleared, 500);
	assert_int_equal(t.made, 500);
	assert_false(lc_touch_never_read(&t));
	store(at, alike, 500);
	sample(LC_BUCKET_OBJECT, at, alike, 500);
	rank(LC_GROUP_LINE);
	t = lc_touch_of(&ranking, row(make));
	assert_int_equal(t.cleared, 500);
	assert_true(lc_touch_never_read(&t));
}

/* The instruction may tell that it only stores even if the part of the object is not known. */
static void stores_of_no_known_part_are_no_loads(void **state)
{
	const uint32_t make = line(0, "make", 7), use = line(0, "fill", 9);
	const uint32_t at = site("int[]", make);
	const uint32_t key[LC_WAIT_KEY] = { [LC_WAIT_BUCKET] = LC_BUCKET_OBJECT,
		                            [LC_WAIT_SITE] = at,
		                            [LC_WAIT_FLAGS] = LC_WAIT_STORES_SOMEWHERE };
	struct lc_touch t;

	sample(LC_BUCKET_OBJECT, at, use, 410);
	store(at, use, 400);
	/* Each has its place; they take nothing from the samples of others that have none. */
	sample(LC_BUCKET_OBJECT, at, make, 10);
	store(at, make, 10);
	rank(LC_GROUP_LINE);
	t = lc_touch_of(&ranking, row(make));
	assert_int_equal(t.unplaced, 10);
	assert_false(lc_touch_never_read(&t));
	*lc_table_values(&tree.waits, lc_table_put(&tree.waits, key)) = 6;
	rank(LC_GROUP_LINE);
	t = lc_touch_of(&ranking, row(make));
	assert_int_equal(t.unplaced, 4);
	assert_true(lc_touch_never_read(&t));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, an_empty_tree, nothing)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_access_is_dealt_out_by_the_shares),
		TEST(hits_that_are_sure_leave_the_rest_to_the_class),
		TEST(the_errors_of_a_lines_call_paths_add_up),
		TEST(the_error_of_a_split_widens_both_sides_of_the_interval),
		TEST(the_interval_of_estimated_bytes_is_that_of_bytes),
		TEST(places_without_lines_are_told_apart_by_bytecode),
		TEST(the_order_is_that_of_most_samples_for_certain),
		TEST(samples_without_a_step_count_against_an_order),
		TEST(a_hot_end_has_most_of_enough_samples),
		TEST(what_the_line_that_makes_an_array_stores_is_no_use_of_it),
		TEST(stores_of_no_known_part_are_no_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
