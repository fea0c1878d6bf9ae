/* uses: analyzer/diff/diff_check.c analyzer/diff/diff_condition.c analyzer/diff/diff_numbers.c analyzer/diff/diff_math.c analyzer/diff/diff_words.c analyzer/objects/analysis/contents.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/reaches.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c -lm -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diff_check.c - asks conditions of --fail-on of diffs whose numbers are known: which rows a
 * pattern is about, when a condition holds, and when nobody can tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/diff/diff_check.h"
#include "analyzer/objects/text/report_brief.h"

enum { PROFILES = 2, ROWS = 4 };

static struct lc_diff_profile profiles[PROFILES];
static struct lc_rank_row ranked[ROWS];
static struct lc_diff_row rows[ROWS];
static struct lc_diff_counts counts[ROWS][PROFILES], sum[PROFILES];
static struct lc_diff diff;

/* The names of rows, of which conditions say nothing. */
char *lc_report_brief_object(const struct lc_ranking *rank, const struct lc_rank_row *row,
                             unsigned columns)
{
	abort();
}

static uint32_t text(const char *s)
{
	return lc_tree_string(&profiles[LC_DIFF_AFTER].tree, s, strlen(s));
}

/* Two profiles of 1,000 samples each. */
static int an_empty_diff(void **state)
{
	memset(profiles, 0, sizeof(profiles));
	memset(ranked, 0, sizeof(ranked));
	memset(rows, 0, sizeof(rows));
	memset(counts, 0, sizeof(counts));
	memset(sum, 0, sizeof(sum));
	for (unsigned i = 0; i < PROFILES; i++) {
		struct lc_diff_profile *p = &profiles[i];

		lc_tree_init(&p->tree);
		p->load = (struct lc_load){ .tree = &p->tree, .engines_len = 1 };
		p->load.engines[0] = (struct lc_load_engine){ .name = (char *)"timer",
			                                      .unit = (char *)"ns of CPU time",
			                                      .interval_ns = 5000000 };
		p->view = (struct lc_view){ .load = &p->load, .tree = &p->tree, .total = 1000 };
		p->which = i ? LC_DIFF_AFTER : LC_DIFF_BEFORE;
		p->samples = 1000;
		p->cpu_ns = 5e9;
	}
	diff = (struct lc_diff){ .profiles = profiles,
		                 .len = PROFILES,
		                 .sides = { 1, 1 },
		                 .engine = &profiles[0].load.engines[0],
		                 .rows = rows };
	return 0;
}

static int nothing(void **state)
{
	for (unsigned i = 0; i < PROFILES; i++)
		lc_tree_free(&profiles[i].tree);
	return 0;
}

/* A row of a class, and what both profiles say of it. */
static struct lc_diff_counts *row(const char *class)
{
	const size_t i = diff.rows_len++;

	assert_true(i < ROWS);
	ranked[i].class = text(class);
	rows[i].side[LC_DIFF_AFTER] =
	    (struct lc_diff_place){ .profile = &profiles[LC_DIFF_AFTER], .row = &ranked[i] };
	rows[i].counts = counts[i];
	return counts[i];
}

static void samples(const char *class, uint64_t before, uint64_t after)
{
	struct lc_diff_counts *c = row(class);

	c[LC_DIFF_BEFORE].samples = before;
	c[LC_DIFF_AFTER].samples = after;
}

static void bytes(const char *class, uint64_t before, uint64_t after)
{
	struct lc_diff_counts *c = row(class);

	c[LC_DIFF_BEFORE].bytes = before;
	c[LC_DIFF_AFTER].bytes = after;
}

static struct lc_diff_outcome ask(const char *condition)
{
	struct lc_diff_outcome out = { .condition = condition };
	struct lc_diff_condition c;
	char error[128] = "";

	memset(sum, 0, sizeof(sum));
	for (size_t i = 0; i < diff.rows_len; i++)
		lc_diff_add(&diff, sum, &rows[i]);
	diff.all.counts = sum;
	lc_diff_numbers(&diff, &diff.all);
	assert_int_equal(lc_diff_condition_parse(condition, &c, error, sizeof(error)), 0);
	lc_diff_ask(&diff, &c, &out);
	assert_non_null(strstr(out.text, condition)); /* each line says what it is about */
	free(c.pattern);
	return out;
}

static void holds(const char *condition)
{
	struct lc_diff_outcome out = ask(condition);

	assert_true(out.known);
	if (!out.holds)
		fail_msg("%s", out.text);
	assert_non_null(strstr(out.text, "' holds: "));
	free(out.text);
}

static void does_not_hold(const char *condition)
{
	struct lc_diff_outcome out = ask(condition);

	assert_true(out.known);
	if (out.holds)
		fail_msg("%s", out.text);
	assert_null(strstr(out.text, "' holds: "));
	free(out.text);
}

/* Nothing is known: the line says why. */
static void unknown(const char *condition, const char *why)
{
	struct lc_diff_outcome out = ask(condition);

	assert_false(out.known);
	assert_false(out.holds);
	assert_non_null(strstr(out.text, why));
	free(out.text);
}

static void a_share_that_rose_by_more_than_the_limit_holds(void **state)
{
	samples("p.Value", 100, 300);
	samples("p.Other", 500, 500);
	holds("share(Value)>+10pp");
	holds("share(p.Value)>+19pp");
	does_not_hold("share(Value)>+20pp"); /* 20 points are not more than 20 */
	holds("share(Value)>+190%");
	does_not_hold("share(Value)>+210%");
	does_not_hold("share(Value)<-10pp");
	does_not_hold("share(Other)>+1pp");
}

static void a_share_that_fell_holds_for_less(void **state)
{
	samples("p.Value", 300, 100);
	holds("share(Value)<-10pp");
	holds("share(Value)<-60%");
	does_not_hold("share(Value)<-20pp");
	does_not_hold("share(Value)>+1pp");
}

/* 4% and 5% of 1,000 samples: two runs of one program differ as much. */
static void a_change_that_may_be_noise_does_not_hold(void **state)
{
	samples("p.Value", 40, 50);
	does_not_hold("share(Value)>+0.1pp");
	does_not_hold("share(Value)>+1%");
}

static void rows_that_a_pattern_fits_are_added_up(void **state)
{
	struct lc_diff_outcome out;

	samples("p.ValueInt", 50, 120);
	samples("q.ValueLong", 50, 120);
	samples("p.Row", 100, 100);
	holds("share(Value*)>+13pp");
	does_not_hold("share(Value*)>+15pp");
	holds("share(p.*)>+6pp");
	does_not_hold("share(p.*)>+8pp"); /* the Value of q is not in it */
	unknown("share(Text*)>+1pp", "'Text*' matches no row");
	out = ask("share(Value*)>+13pp");
	assert_non_null(strstr(out.text, "10.0% to 24.0% of the samples, +14.0 points"));
	free(out.text);
}

static void a_field_is_named_with_its_class_or_by_it(void **state)
{
	samples("p.Node", 100, 300);
	ranked[0].field = text("next");
	ranked[0].field_known = true;
	samples("p.Node", 300, 100);
	ranked[1].field = text("value");
	ranked[1].field_known = true;
	diff.group = LC_GROUP_FIELD;
	holds("share(Node.next)>+15pp");
	holds("share(p.Node.next)>+15pp");
	holds("share(Node.value)<-15pp");
	does_not_hold("share(Node)>+1pp"); /* both: 40% before and after */
	unknown("share(next)>+1pp", "matches no row");
	diff.group = LC_GROUP_CLASS;
	unknown("share(Node.next)>+1pp", "matches no row");
}

static void a_package_is_named_without_its_classes(void **state)
{
	samples("com.acme.Node", 100, 300);
	diff.group = LC_GROUP_PACKAGE;
	holds("share(com.acme)>+15pp");
	holds("share(acme)>+15pp");
	unknown("share(Node)>+1pp", "matches no row");
}

static void what_is_counted_has_no_noise(void **state)
{
	struct lc_diff_outcome out;

	bytes("byte[]", 100000, 103001);
	bytes("int[]", 50000, 50000);
	holds("counted-bytes(byte[])>+3%");
	does_not_hold("counted-bytes(byte[])>+3.1%");
	holds("counted-bytes>+2%"); /* of all rows: 150,000 to 153,001 */
	does_not_hold("counted-bytes>+2.1%");
	holds("bytes>+3000");
	does_not_hold("counted-bytes(int[])>0");
	does_not_hold("counted-bytes(int[])<0");
	out = ask("counted-bytes(int[])>0");
	assert_non_null(strstr(out.text, "equal"));
	free(out.text);
}

static void blocks_outside_the_heap_are_counted_likewise(void **state)
{
	struct lc_diff_counts *c = row("java.nio.DirectByteBuffer (off-heap)");

	row("p.Node");
	unknown("offheap-live>+10%", "the two sides do not both have offheap-live");
	c[LC_DIFF_BEFORE].offheap = (struct lc_rank_offheap){
		.allocated = 5, .allocated_bytes = 5000, .freed = 4, .freed_bytes = 4000
	};
	c[LC_DIFF_AFTER].offheap = (struct lc_rank_offheap){
		.allocated = 5,
		.allocated_bytes = 5000,
		.freed = 4,
		.freed_bytes = 3900,
	};
	holds("offheap-live(DirectByteBuffer*)>+9.9%");
	does_not_hold("offheap-live(DirectByteBuffer*)>+10%");
	holds("offheap-live>+99B");
	does_not_hold("offheap-bytes>0");
	unknown("offheap-live(Node)>0", "the two sides do not both have offheap-live");
	/* All was freed in both: no more is known to leak. */
	c[LC_DIFF_BEFORE].offheap.freed_bytes = c[LC_DIFF_AFTER].offheap.freed_bytes = 5000;
	does_not_hold("offheap-live>0");
}

/* Bytes after the last collection: counts alone are exact, and estimates have an error. */
static void live_bytes_are_compared_if_both_sides_tell_them(void **state)
{
	struct lc_diff_counts *c = row("com.acme.Cache$Entry");

	c[LC_DIFF_BEFORE].live = 1000;
	c[LC_DIFF_AFTER].live = 1100;
	profiles[LC_DIFF_AFTER].live = true;
	unknown("live>+1%", "the two sides do not both have live");
	profiles[LC_DIFF_BEFORE].live = true;
	holds("live(Cache*)>+9.9%");
	does_not_hold("live(Cache*)>+10%");
	holds("live>+99B");
	c[LC_DIFF_BEFORE].live_variance = c[LC_DIFF_AFTER].live_variance = 10000;
	does_not_hold("live(Cache*)>0");
	c[LC_DIFF_AFTER].live = 0;
	holds("live<-1%");
}

static void allocations_are_counted_likewise(void **state)
{
	struct lc_diff_counts *c = row("byte[]");

	c[LC_DIFF_BEFORE].allocations = 1000;
	c[LC_DIFF_AFTER].allocations = 900;
	holds("counted-allocations<-9%");
	does_not_hold("counted-allocations<-10%");
	unknown("counted-bytes>+1%", "the two sides do not both have counted-bytes");
}

/* An estimate adds its error to the count. */
static void estimates_and_counts_are_one_number_with_an_error(void **state)
{
	struct lc_diff_counts *c = row("p.Node");

	c[LC_DIFF_BEFORE].bytes = c[LC_DIFF_AFTER].bytes = 1000000;
	c[LC_DIFF_BEFORE].object_bytes = 1000000;
	c[LC_DIFF_AFTER].object_bytes = 1200000;
	c[LC_DIFF_BEFORE].object_bytes_variance = c[LC_DIFF_AFTER].object_bytes_variance = 1e8;
	holds("bytes>+9%"); /* 2,000,000 to 2,200,000, known to 28,000 */
	does_not_hold("bytes>+11%");
	does_not_hold("counted-bytes>0"); /* what is counted is equal */
	c[LC_DIFF_BEFORE].object_bytes_variance = c[LC_DIFF_AFTER].object_bytes_variance = 1e12;
	does_not_hold("bytes>+9%"); /* known to 2,800,000 */
	does_not_hold("bytes>0");
}

/* A row that is new has grown by more than any part of nothing. */
static void what_is_new_rose(void **state)
{
	bytes("p.New", 0, 4096);
	holds("counted-bytes(New)>+3%");
	does_not_hold("counted-bytes(New)<-3%");
}

/* One run a side: nobody knows how far the next differs, so the time is taken as it is. */
static void cpu_time_of_one_run_a_side_is_taken_as_it_is(void **state)
{
	samples("p.Value", 200, 200);
	profiles[LC_DIFF_AFTER].cpu_ns = 10e9;
	holds("cpu(Value)>+0.9s"); /* 1 s to 2 s */
	holds("cpu(Value)>+90%");
	does_not_hold("cpu(Value)>+1s");
	does_not_hold("cpu(Value)<-1ms");
	profiles[LC_DIFF_AFTER].cpu_ns = 5e9;
	does_not_hold("cpu(Value)>0s");
	profiles[LC_DIFF_AFTER].cpu_ns = 0; /* of another engine: no time */
	unknown("cpu(Value)>+1%", "the two sides do not both have cpu");
}

static void shares_of_different_engines_are_not_known(void **state)
{
	samples("p.Value", 100, 300);
	diff.engine = NULL;
	unknown("share(Value)>+1pp", "the two sides do not both have share");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, an_empty_diff, nothing)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_share_that_rose_by_more_than_the_limit_holds),
		TEST(a_share_that_fell_holds_for_less),
		TEST(a_change_that_may_be_noise_does_not_hold),
		TEST(rows_that_a_pattern_fits_are_added_up),
		TEST(a_field_is_named_with_its_class_or_by_it),
		TEST(a_package_is_named_without_its_classes),
		TEST(what_is_counted_has_no_noise),
		TEST(blocks_outside_the_heap_are_counted_likewise),
		TEST(live_bytes_are_compared_if_both_sides_tell_them),
		TEST(allocations_are_counted_likewise),
		TEST(estimates_and_counts_are_one_number_with_an_error),
		TEST(what_is_new_rose),
		TEST(cpu_time_of_one_run_a_side_is_taken_as_it_is),
		TEST(shares_of_different_engines_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
