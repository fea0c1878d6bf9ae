/* uses: analyzer/base/plain.c analyzer/objects/analysis/headers.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/known_lines.c analyzer/model/group_filter.c analyzer/model/where.c src/base/options.c src/base/nearest.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c src/format/section.c -lm -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_intervals.c - draws interrupts of programs whose shares are given, with the weights that a
 * stretched timer gives them, and counts how many of a ranking's intervals hold the share.
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

#include "analyzer/objects/analysis/ranking.h"
#include "src/format/kinds.h"

enum { ROWS = 10, PROGRAMS = 120, INTERRUPTS = 600 };

static struct lc_tree tree;
static struct lc_load load;
static struct lc_view view;
static struct lc_ranking ranking;
static uint32_t sites[ROWS];
static uint64_t drawn; /* random numbers so far; the same in each run */

/* splitmix64 of Steele, Lea and Flood. */
static double draw(void)
{
	uint64_t z = ++drawn * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* ---- weights, of interrupt `i` of a program ---- */

typedef uint64_t weigh(unsigned i);

/* The agent halves and doubles the stretch: half of the interrupts are of a quarter of the time. */
static uint64_t by_budget(unsigned i)
{
	static const uint64_t stretches[] = { 1, 1, 1, 1, 2, 4, 16, 8 };

	return stretches[i * 8 / INTERRUPTS];
}

/* Ticks were missing now and then: the next interrupt counts as all that they would have. */
static uint64_t by_gaps(unsigned i)
{
	return draw() < 0.05 ? 7 + (uint64_t)(30 * draw()) : 1;
}

static uint64_t by_chance(unsigned i)
{
	return 1 + (uint64_t)(16 * draw());
}

/* The kernel's tick is longer than the interval. */
static uint64_t by_tick(unsigned i)
{
	return 4;
}

/* ---- a program ---- */

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

static void begin(void)
{
	lc_tree_init(&tree);
	load = (struct lc_load){ .tree = &tree, .engines_len = 1 };
	load.engines[0] = (struct lc_load_engine){ .name = (char *)"timer",
		                                   .unit = (char *)"ns of CPU time",
		                                   .interval_ns = 5000000 };
	for (unsigned row = 0; row < ROWS; row++) {
		char name[] = "p.A";

		name[2] = (char)('A' + row);
		sites[row] = lc_table_put(&tree.sites, (uint32_t[]){ text(name), 0 });
	}
}

static void end(void)
{
	lc_ranking_free(&ranking);
	lc_view_free(&view);
	lc_tree_free(&tree);
}

static void interrupt(uint32_t site, uint64_t weight)
{
	const uint32_t key[LC_ACCESS_KEY] = {
		[LC_ACCESS_BUCKET] = LC_BUCKET_OBJECT, [LC_ACCESS_SITE] = site
	};
	uint64_t *values = lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, key));

	values[LC_ACCESS_SAMPLES] += weight;
	values[LC_ACCESS_PAIRS] += lc_block_pairs(weight);
	tree.buckets[0][LC_BUCKET_OBJECT] += weight;
}

/* Shares of 25% to 1%; the rest is the last row's. */
static double share_of(unsigned row)
{
	static const double shares[ROWS - 1] = {
		0.25, 0.2, 0.15, 0.1, 0.08, 0.05, 0.03, 0.02, 0.01
	};
	double rest = 1;

	for (unsigned i = 0; i < ROWS - 1; i++)
		rest -= shares[i];
	return row < ROWS - 1 ? shares[row] : rest;
}

static void run(weigh *weight)
{
	for (unsigned i = 0; i < INTERRUPTS; i++) {
		double at = draw();
		unsigned row = 0;

		while (row + 1 < ROWS && at >= share_of(row))
			at -= share_of(row++);
		interrupt(sites[row], weight(i));
	}
}

static void rank(void)
{
	lc_view_build(&view, &load, 0, LC_SORT_SAMPLES);
	lc_ranking_build(&ranking, &view, LC_GROUP_CLASS, NULL);
}

/* The row of the ranking with what class number `row` has; NULL where it has no samples. */
static const struct lc_rank_row *row_of(unsigned row)
{
	for (size_t i = 0; i < ranking.len; i++)
		if (lc_tree_text(&tree, ranking.rows[i].class).bytes[2] == (char)('A' + row))
			return &ranking.rows[i];
	return NULL;
}

/* The part of the intervals that hold the share, of rows with a chance of ten interrupts. */
static double coverage(weigh *weight, bool with_pairs, unsigned *rows)
{
	unsigned held = 0;

	*rows = 0;
	for (unsigned program = 0; program < PROGRAMS; program++) {
		begin();
		run(weight);
		for (uint32_t i = 0; !with_pairs && i < tree.accesses.count; i++)
			lc_table_values(&tree.accesses, i)[LC_ACCESS_PAIRS] = 0;
		rank();
		for (unsigned row = 0; row < ROWS; row++) {
			const struct lc_rank_row *r = row_of(row);
			double low = 0, high = 1;

			if (share_of(row) * INTERRUPTS < 10)
				continue;
			if (r) {
				low = r->low;
				high = r->high;
			} else {
				lc_rank_interval((struct lc_weighted){ 0 }, lc_view_all(&view),
				                 &low, &high);
			}
			held += low <= share_of(row) && share_of(row) <= high;
			++*rows;
		}
		end();
	}
	return (double)held / *rows;
}

/* ---- tests ---- */

static void intervals_hold_the_share_whatever_interrupts_weigh(void **state)
{
	static const struct {
		const char *name;
		weigh *weight;
	} kinds[] = { { "budget", by_budget },
		      { "gaps", by_gaps },
		      { "chance", by_chance },
		      { "tick", by_tick } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		unsigned rows;
		const double held = coverage(kinds[i].weight, true, &rows);
		const double as_samples = coverage(kinds[i].weight, false, &rows);

		print_message("%s: %.1f%% of %u intervals hold the share; by samples %.1f%%\n",
		              kinds[i].name, 100 * held, rows, 100 * as_samples);
		assert_true(rows >= 300);
		assert_true(held >= 0.92 && held <= 0.98);
		assert_true(as_samples < 0.85); /* the test can tell */
	}
}

/* All interrupts of one weight are effective, and fewer of others. */
static void interrupts_of_one_weight_are_what_they_are(void **state)
{
	double low, high, of_pairs_low, of_pairs_high;

	assert_true(lc_wilson_effective((struct lc_weighted){ 400, 0 }) == 400);
	assert_true(lc_wilson_effective((struct lc_weighted){ 400, 100 * lc_block_pairs(4) }) ==
	            100);
	assert_true(lc_wilson_effective((struct lc_weighted){ 0, 0 }) == 0);
	/* One of weight 16, and 16 of weight 1: 32^2 / (256 + 16). */
	assert_true(fabs(lc_wilson_effective((struct lc_weighted){ 32, lc_block_pairs(16) }) -
	                 1024.0 / 272) < 1e-9);
	lc_wilson(0.25, 100, 1.959964, &low, &high);
	lc_rank_interval((struct lc_weighted){ 100, 25 * lc_block_pairs(4) },
	                 (struct lc_weighted){ 400, 100 * lc_block_pairs(4) }, &of_pairs_low,
	                 &of_pairs_high);
	assert_true(fabs(low - of_pairs_low) < 1e-9 && fabs(high - of_pairs_high) < 1e-9);
}

/* A row that was seen while interrupts weighed 16 is known worse than others of its share. */
static void a_row_of_heavy_interrupts_has_a_wider_interval(void **state)
{
	const struct lc_weighted all = { 1600, 50 * lc_block_pairs(16) };
	double low, high, heavy_low, heavy_high;

	lc_rank_interval((struct lc_weighted){ 320, 10 * lc_block_pairs(16) }, all, &low, &high);
	lc_rank_interval((struct lc_weighted){ 320, 20 * lc_block_pairs(16) }, all, &heavy_low,
	                 &heavy_high);
	assert_true(heavy_low < low && heavy_high > high);
}

static void a_row_of_few_interrupts_is_not_ranked_however_much_they_weigh(void **state)
{
	begin();
	for (unsigned i = 0; i < 300; i++)
		interrupt(sites[0], 1);
	for (unsigned i = 0; i < 4; i++) /* as one that counts as 64 samples */
		interrupt(sites[1], 16);
	for (unsigned i = 0; i < 5; i++)
		interrupt(sites[2], 16);
	rank();
	assert_true(row_of(1)->rest);
	assert_int_equal(row_of(1)->samples, 64);
	assert_true(row_of(1)->effective == 4);
	assert_false(row_of(2)->rest);
	assert_true(row_of(2)->effective == 5);
	end();
}

/* The samples of an access are dealt out to lines, and the observations with them. */
static void the_lines_of_a_class_share_its_observations(void **state)
{
	uint32_t lines[2];
	const uint32_t method[LC_METHOD_KEY] = { 0 };

	begin();
	for (unsigned i = 0; i < 2; i++) {
		const uint32_t frame[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method), 1,
			                               10 + i };
		const uint32_t path[LC_PATH_KEY] = { 0, lc_table_put(&tree.frames, frame) };
		const uint32_t key[LC_SPLIT_KEY] = {
			[LC_SPLIT_METHOD] = LC_SPLIT_HITS, [LC_SPLIT_CLASS] = sites[0]
		};
		uint32_t split[LC_SPLIT_KEY];

		lines[i] = lc_table_put(
		    &tree.sites, (uint32_t[]){ text("p.A"), lc_table_put(&tree.paths, path) });
		memcpy(split, key, sizeof(split));
		split[LC_SPLIT_SITE] = lines[i];
		lc_table_values(&tree.splits, lc_table_put(&tree.splits, split))[LC_SPLIT_SAMPLES] =
		    1000;
	}
	for (unsigned i = 0; i < 100; i++) {
		const uint32_t key[LC_ACCESS_KEY] = {
			[LC_ACCESS_BUCKET] = LC_BUCKET_HEAP_CLASS, [LC_ACCESS_SITE] = sites[0]
		};
		uint64_t *values =
		    lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, key));

		values[LC_ACCESS_SAMPLES] += 8;
		values[LC_ACCESS_PAIRS] += lc_block_pairs(8);
		tree.buckets[0][LC_BUCKET_HEAP_CLASS] += 8;
	}
	lc_view_build(&view, &load, 0, LC_SORT_SAMPLES);
	lc_ranking_build(&ranking, &view, LC_GROUP_LINE, NULL);
	assert_int_equal(ranking.shown, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ranking.rows[i].samples, 400);
		assert_true(fabs(ranking.rows[i].effective - 50) < 0.01);
	}
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_hold_the_share_whatever_interrupts_weigh),
		cmocka_unit_test(interrupts_of_one_weight_are_what_they_are),
		cmocka_unit_test(a_row_of_heavy_interrupts_has_a_wider_interval),
		cmocka_unit_test(a_row_of_few_interrupts_is_not_ranked_however_much_they_weigh),
		cmocka_unit_test(the_lines_of_a_class_share_its_observations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
