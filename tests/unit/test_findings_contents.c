/* uses: tests/unit/findings_model.c analyzer/objects/analysis/findings.c analyzer/objects/analysis/findings_grows.c analyzer/objects/analysis/findings_contents.c analyzer/objects/analysis/contents.c analyzer/objects/analysis/findings_other.c analyzer/objects/analysis/findings_offheap.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/findings_rows.c analyzer/objects/analysis/advice.c analyzer/objects/analysis/advice_calls.c analyzer/objects/analysis/advice_users.c analyzer/objects/analysis/advice_block.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/reaches.c analyzer/objects/analysis/findings_rules.c analyzer/objects/analysis/saving.c analyzer/objects/analysis/row_set.c analyzer/objects/analysis/cpu_breakdown.c analyzer/objects/analysis/gc_model.c analyzer/objects/analysis/headers.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/sharing.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/numa/numa.c analyzer/numa/numa_diagnose.c analyzer/numa/numa_machine.c analyzer/numa/numa_prose.c analyzer/spans/spans_math.c analyzer/spans/spans_diagnose.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c src/base/redact.c analyzer/objects/analysis/findings_paths.c analyzer/objects/analysis/findings_calls.c analyzer/objects/analysis/findings_again.c -lm -lzstd -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_findings_contents.c - checks when a line is said to make arrays larger than what is put in
 * them, or arrays that are equal to others.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/format/kinds.h"
#include "src/format/rows.h"
#include "tests/unit/findings_model.h"

enum { EACH = 8192, MADE = 1000 };

static uint32_t path_of(const char *method_name, uint32_t number)
{
	const uint32_t method[LC_METHOD_KEY] = { findings_text("A"), findings_text(method_name),
		                                 findings_text("()V"), findings_text("A.java") };
	const uint32_t frame[LC_FRAME_KEY] = { lc_table_put(&model.tree.methods, method), number,
		                               number + 1 };
	const uint32_t path[LC_PATH_KEY] = { 0, lc_table_put(&model.tree.frames, frame) };

	return lc_table_put(&model.tree.paths, path);
}

/* Arrays of 8 KiB that a line makes, with the bytes of all. */
static uint32_t arrays(const char *class, const char *method)
{
	const uint32_t key[LC_SITE_KEY] = { findings_text(class), path_of(method, 7) };
	const uint32_t site = lc_table_put(&model.tree.sites, key);
	uint64_t *values = lc_table_values(&model.tree.sites, site);

	values[LC_SITE_ALLOCATIONS] = MADE;
	values[LC_SITE_BYTES] = (uint64_t)MADE * EACH;
	return site;
}

static uint64_t *contents(uint32_t site)
{
	const uint32_t key[LC_CONTENT_KEY] = { [LC_CONTENT_SITE] = site };

	return lc_table_values(&model.tree.contents, lc_table_put(&model.tree.contents, key));
}

/* So many dead arrays were looked at, in which so many bytes were used. */
static void dead(uint32_t site, uint64_t count, uint64_t used)
{
	uint64_t *c = contents(site);
	const uint64_t parts[] = { 64, 16, 8, 4, 2 };

	c[LC_CONTENT_DEAD] += count;
	if (!used) {
		c[LC_CONTENT_ZERO] += count;
		return;
	}
	c[LC_CONTENT_BYTES] += count * EACH;
	c[LC_CONTENT_USED] += count * used;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (used * parts[i] <= EACH) {
			c[LC_CONTENT_64TH + i] += count;
			return;
		}
}

static void says(const struct lc_finding *f, const char *words)
{
	if (!strstr(f->text, words))
		fail_msg("\"%s\" is not in: %s", words, f->text);
}

static struct lc_rank_contents seen(uint64_t to_64th, uint64_t to_half, uint64_t above)
{
	return (struct lc_rank_contents){ .dead = to_64th + to_half + above,
		                          .bytes = 1,
		                          .parts = { to_64th, 0, 0, 0, to_half } };
}

static void recordings_whose_used_parts_differ_are_told_from_chance(void **state)
{
	static const struct {
		struct {
			uint64_t to_64th, to_half, above;
		} a, b;
		bool differ;
	} cases[] = {
		{ { 100, 0, 0 }, { 0, 100, 0 }, true }, { { 20, 0, 0 }, { 0, 20, 0 }, true },
		{ { 19, 0, 0 }, { 0, 200, 0 }, false }, /* too few */
		{ { 100, 0, 0 }, { 95, 5, 0 }, false }, { { 50, 50, 0 }, { 40, 60, 0 }, false },
		{ { 50, 50, 0 }, { 10, 90, 0 }, true }, { { 0, 100, 0 }, { 0, 0, 100 }, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lc_rank_contents a =
		    seen(cases[i].a.to_64th, cases[i].a.to_half, cases[i].a.above);
		const struct lc_rank_contents b =
		    seen(cases[i].b.to_64th, cases[i].b.to_half, cases[i].b.above);

		assert_int_equal(lc_contents_differ(&a, &b), cases[i].differ);
		assert_int_equal(lc_contents_differ(&b, &a), cases[i].differ);
	}
}

static void arrays_with_little_in_them_are_found(void **state)
{
	const struct lc_finding *f;

	dead(arrays("byte[]", "make"), 100, 90);
	f = findings_only(LC_FINDING_OVERSIZED);
	says(f, "in 100 of 100 dead arrays looked at, the last element that is not zero lay in the "
	        "first 64th part (on average 90");
	says(f, "1.1%");
	assert_int_equal(f->rows_len, 1);
	assert_ptr_equal(f->rows[0], f->row);
	says(f, "100% of all bytes");
	assert_non_null(strstr(f->change, "as large as what is put in it"));
}

static void arrays_that_one_method_makes_are_one_finding(void **state)
{
	const struct lc_finding *f;

	json_object_set_new(model.process.counters, "cpu_process_ns", json_integer(1000));
	json_object_set_new(model.process.counters, "cpu_gc_ns", json_integer(400));
	dead(arrays("byte[]", "make"), 100, EACH / 2);
	dead(arrays("char[]", "make"), 100, EACH / 2);
	f = findings_only(LC_FINDING_OVERSIZED);
	assert_int_equal(f->rows_len, 2);
	assert_ptr_equal(f->rows[0], f->row);
	says(f, " Together with char[] of line 7.");
	assert_true(fabs(f->saves.all.share - 0.2) < 1e-9); /* the half of all */
	dead(arrays("int[]", "other"), 100, EACH / 2);
	findings_find();
	assert_int_equal(model.found.len, 2);
}

/* Nineteen arrays are too few, and twenty are not. */
static void some_arrays_must_have_been_looked_at(void **state)
{
	const uint32_t site = arrays("byte[]", "make");

	dead(site, 19, 90);
	findings_none();
	dead(site, 1, 90);
	findings_only(LC_FINDING_OVERSIZED);
}

/* One in twenty may use all of it: the finding says how many do not. */
static void most_arrays_must_use_a_half_at_most(void **state)
{
	const uint32_t site = arrays("char[]", "make");

	dead(site, 95, EACH / 2);
	dead(site, 5, EACH);
	says(findings_only(LC_FINDING_OVERSIZED), "in 95 of 100 dead arrays looked at, the last "
	                                          "element that is not zero lay in the first half");
	dead(site, 1, EACH);
	findings_none();
}

static void full_arrays_are_not_found(void **state)
{
	dead(arrays("byte[]", "make"), 1000, EACH);
	findings_none();
}

/* Nothing but zeros may be what the program computed: alone it says nothing. */
static void zeros_are_told_apart(void **state)
{
	const uint32_t site = arrays("int[]", "make");

	dead(site, 1000, 0);
	findings_none();
	dead(site, 20, 90);
	says(findings_only(LC_FINDING_OVERSIZED), "1000 more held nothing but zeros");
}

/* A line that makes a twentieth of the bytes, and has no samples, costs nothing. */
static void arrays_that_cost_nothing_are_not_found(void **state)
{
	const uint32_t other = arrays("byte[]", "other"), site = arrays("byte[]", "make");

	lc_table_values(&model.tree.sites, other)[LC_SITE_BYTES] *= 19;
	dead(site, 100, 90);
	findings_none();
	lc_table_values(&model.tree.sites, other)[LC_SITE_BYTES] /= 19;
	findings_only(LC_FINDING_OVERSIZED);
}

/* The arrays die young: the finding that knows their size says more. */
static void it_replaces_short_lived(void **state)
{
	json_object_set_new(model.process.counters, "cpu_process_ns", json_integer(1000000));
	json_object_set_new(model.process.counters, "cpu_gc_ns", json_integer(500000));
	json_object_set_new(model.process.counters, "gc_collected", json_integer(100));
	dead(arrays("byte[]", "make"), 19, 90);
	findings_only(LC_FINDING_SHORT_LIVED);
	dead(1, 1, 90);
	says(findings_only(LC_FINDING_OVERSIZED), "Without the rest: up to 1.98x");
}

static void equal_arrays_are_found(void **state)
{
	uint64_t *c = contents(arrays("byte[]", "parse"));
	const struct lc_finding *f;

	c[LC_CONTENT_OUTLIVED] = 100;
	c[LC_CONTENT_SAME] = 60;
	c[LC_CONTENT_OTHER] = 22;
	f = findings_only(LC_FINDING_REPLICAS);
	says(f, "82% of the arrays looked at (82 of 100 that outlived a collection) were equal to "
	        "another one that did, 60 of them to one of this line");
	assert_non_null(strstr(f->change, "share it"));
}

static void arrays_that_are_mostly_different_are_not(void **state)
{
	uint64_t *c = contents(arrays("byte[]", "parse"));

	c[LC_CONTENT_OUTLIVED] = 101;
	c[LC_CONTENT_SAME] = 50;
	findings_none();
	c[LC_CONTENT_OUTLIVED] = 19; /* too few */
	c[LC_CONTENT_SAME] = 19;
	findings_none();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, findings_begin, findings_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(recordings_whose_used_parts_differ_are_told_from_chance),
		TEST(arrays_with_little_in_them_are_found),
		TEST(arrays_that_one_method_makes_are_one_finding),
		TEST(some_arrays_must_have_been_looked_at),
		TEST(most_arrays_must_use_a_half_at_most),
		TEST(full_arrays_are_not_found),
		TEST(zeros_are_told_apart),
		TEST(arrays_that_cost_nothing_are_not_found),
		TEST(it_replaces_short_lived),
		TEST(equal_arrays_are_found),
		TEST(arrays_that_are_mostly_different_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
