/* uses: tests/unit/findings_model.c analyzer/objects/analysis/findings.c analyzer/objects/analysis/findings_other.c analyzer/objects/analysis/findings_rows.c analyzer/objects/analysis/advice.c analyzer/objects/analysis/advice_calls.c analyzer/objects/analysis/advice_users.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/reaches.c analyzer/objects/analysis/findings_rules.c analyzer/objects/analysis/saving.c analyzer/objects/analysis/row_set.c analyzer/objects/analysis/cpu_breakdown.c analyzer/objects/analysis/gc_model.c analyzer/objects/analysis/headers.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/sharing.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/numa/numa.c analyzer/numa/numa_diagnose.c analyzer/numa/numa_machine.c analyzer/numa/numa_prose.c analyzer/spans/spans_math.c analyzer/spans/spans_diagnose.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/findings_offheap.c analyzer/objects/analysis/advice_block.c analyzer/objects/analysis/findings_grows.c analyzer/objects/analysis/findings_contents.c analyzer/objects/analysis/contents.c src/base/redact.c analyzer/objects/analysis/findings_paths.c analyzer/objects/analysis/findings_calls.c analyzer/objects/analysis/findings_again.c -lm -lzstd -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_findings.c - checks which rows of a profile are findings, of which kind, and which are none
 * however many samples they have. The file is longer than 600 lines: each kind has its
 * counter-examples, on one made-up profile.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/objects/analysis/touch.h"
#include "src/format/kinds.h"
#include "src/format/rows.h"
#include "tests/unit/findings_model.h"

enum {
	OBJECT = LC_BUCKET_OBJECT,
	CLASS = LC_BUCKET_HEAP_CLASS,
	MADE = 1,
	USED = 2,
	CALCULATED = 3
};

/* ---- a profile ---- */

/* A path of one frame of class A, at a line of a method. */
static uint32_t line_of(const char *method, uint32_t number)
{
	const uint32_t method_key[LC_METHOD_KEY] = { findings_text("A"), findings_text(method),
		                                     findings_text("()V"),
		                                     findings_text("A.java") };
	const uint32_t frame_key[LC_FRAME_KEY] = { lc_table_put(&model.tree.methods, method_key),
		                                   number, number + 1 };
	const uint32_t path_key[LC_PATH_KEY] = { 0, lc_table_put(&model.tree.frames, frame_key) };

	return lc_table_put(&model.tree.paths, path_key);
}

static uint32_t line(uint32_t number)
{
	return line_of("m", number);
}

static uint32_t site(const char *class, uint32_t made_at)
{
	const uint32_t key[LC_SITE_KEY] = { findings_text(class), made_at ? line(made_at) : 0 };

	return lc_table_put(&model.tree.sites, key);
}

/* Objects of a class that a line makes. */
static uint32_t objects(const char *class, uint64_t count, uint64_t bytes)
{
	const uint32_t at = site(class, MADE);

	lc_table_values(&model.tree.sites, at)[LC_SITE_ALLOCATIONS] += count;
	lc_table_values(&model.tree.sites, at)[LC_SITE_BYTES] += bytes;
	return at;
}

/* Samples of a field of objects, or of what lies there. */
static void sample_by(uint64_t weight, uint32_t bucket, uint32_t at, const char *field,
                      uint32_t touch, uint64_t samples)
{
	const uint64_t pairs = samples / weight * lc_block_pairs(weight);
	uint64_t *values;
	const uint32_t path = line(USED);
	uint32_t access[LC_ACCESS_KEY] = {
		[LC_ACCESS_BUCKET] = bucket, [LC_ACCESS_SITE] = at, [LC_ACCESS_PATH] = path
	};
	uint32_t key[LC_FIELD_KEY] = { [LC_FIELD_BUCKET] = bucket,
		                       [LC_FIELD_SITE] = at,
		                       [LC_FIELD_PATH] = path,
		                       [LC_FIELD_TOUCH] = touch };

	values = lc_table_values(&model.tree.accesses, lc_table_put(&model.tree.accesses, access));
	values[LC_ACCESS_SAMPLES] += samples;
	values[LC_ACCESS_PAIRS] += pairs;
	model.tree.buckets[0][bucket] += samples;
	if (!field)
		return;
	key[LC_FIELD_NAME] = findings_text(field);
	values = lc_table_values(&model.tree.fields, lc_table_put(&model.tree.fields, key));
	values[LC_FIELD_SAMPLES] += samples;
	values[LC_FIELD_PAIRS] += pairs;
}

static void sample(uint32_t bucket, uint32_t at, const char *field, uint32_t touch,
                   uint64_t samples)
{
	sample_by(1, bucket, at, field, touch, samples);
}

/* Samples of elements here and there, so that no part of an array stands out. */
static void sample_all_over(uint32_t at, uint64_t samples)
{
	static const char *const parts[] = { "a", "b", "c", "d" };

	for (size_t i = 0; i < 4; i++)
		sample(OBJECT, at, parts[i], LC_TOUCH_LOAD, samples / 4);
}

/* ---- what is found ---- */

static void a_large_array_is_a_finding_with_its_share_and_interval(void **state)
{
	const struct lc_finding *f;

	sample_all_over(objects("int[]", 1, 64 << 20), 400);
	findings_calculate(600);
	f = findings_only(LC_FINDING_HOT);
	assert_true(f->share == 0.4 && f->low > 0.36 && f->high < 0.44);
	assert_non_null(strstr(f->text, "40.0% of the samples"));
	assert_non_null(strstr(f->text, "int[]"));
	assert_int_equal(strncmp(f->id, "hot-object-", 11), 0);
}

/* Samples of objects that are not counted, half of them made at each of two lines, about. */
static void sample_two_lines(const char *class, uint64_t samples)
{
	const uint32_t at = site(class, 0);

	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t key[LC_SPLIT_KEY] = { [LC_SPLIT_METHOD] = LC_SPLIT_HITS,
			                             [LC_SPLIT_CLASS] = at,
			                             [LC_SPLIT_SITE] = site(class, MADE + 10 + i) };
		uint64_t *values =
		    lc_table_values(&model.tree.splits, lc_table_put(&model.tree.splits, key));

		values[LC_SPLIT_SAMPLES] = 500 * samples;
		values[LC_SPLIT_VARIANCE] = 1000 * samples * samples / 40;
	}
	sample(LC_BUCKET_HEAP_CLASS, at, NULL, 0, samples);
}

static void a_class_is_one_finding_if_its_lines_are_not_certain(void **state)
{
	const struct lc_finding *f;

	sample_two_lines("p.Node", 400);
	findings_calculate(600);
	f = findings_only(LC_FINDING_HOT);
	assert_true(f->share == 0.4 && f->low > 0.36 && f->high < 0.44);
	assert_int_equal(f->rows_len, 2);
	assert_true(f->row->high - f->row->low > 0.1);
	assert_non_null(strstr(f->text, "p.Node: 40.0% of the samples"));
	assert_non_null(strstr(f->text, "Most were made at A.m:"));
	assert_true(f->saves.accesses.low > 0.36);
}

/* Samples of objects that the code reached through a field. */
static void sample_through(uint32_t at, const char *field, uint64_t samples)
{
	const uint32_t key[LC_REACH_KEY] = { [LC_REACH_BUCKET] = OBJECT,
		                             [LC_REACH_SITE] = at,
		                             [LC_REACH_PATH] = line(USED),
		                             [LC_REACH_KIND] = LC_REFERENCE_FIELD,
		                             [LC_REACH_NAME] = findings_text(field) };

	sample_all_over(at, samples);
	lc_table_values(&model.tree.reaches,
	                lc_table_put(&model.tree.reaches, key))[LC_REACH_SAMPLES] += samples;
}

static void what_nodes_of_a_collection_hold_is_of_their_finding(void **state)
{
	const struct lc_finding *f;

	sample_through(objects("p.Key", 1, 64 << 20), "java.util.TreeMap$Entry.key", 400);
	sample_through(objects("java.util.TreeMap$Entry", 1, 64 << 20),
	               "java.util.TreeMap$Entry.left", 200);
	findings_calculate(400);
	f = findings_only(LC_FINDING_HOT);
	assert_non_null(strstr(f->text, "TreeMap$Entry"));
	assert_non_null(strstr(f->text, "Together with p.Key"));
	assert_non_null(strstr(f->text, "(40.0%): 60.0% ("));
	assert_int_equal(f->rows_len, 2);
	assert_true(f->share == 0.6 && f->saves.accesses.share > 0.59);
}

/* A field of the program's own class says nothing of that kind. */
static void what_other_objects_refer_to_is_a_finding_of_its_own(void **state)
{
	sample_through(objects("p.Key", 1, 64 << 20), "p.Order.key", 300);
	sample_through(objects("p.Order", 1, 64 << 20), "p.Orders.first", 300);
	findings_calculate(400);
	findings_find();
	assert_int_equal(model.found.len, 2);
}

/* Keeping the fields of the elements in arrays does without the array of references. */
static void an_array_of_small_objects_is_of_their_finding(void **state)
{
	const struct lc_finding *f;

	sample_all_over(objects("p.Pair[]", 1, 64 << 20), 300);
	sample_through(objects("p.Pair", 1 << 20, 32 << 20), "p.Main.pairs[]", 200);
	findings_calculate(500);
	f = findings_only(LC_FINDING_HOT);
	assert_non_null(strstr(f->change, "instead of Main.pairs[]"));
	assert_non_null(strstr(f->text, "p.Pair of "));
	assert_non_null(strstr(f->text, "Together with p.Pair[] of "));
	assert_non_null(strstr(f->text, "(30.0%): 50.0% ("));
	assert_true(f->saves.accesses.share > 0.49);
}

/* The objects stay, or the array is one of other objects. */
static void an_array_of_other_objects_is_a_finding_of_its_own(void **state)
{
	sample_all_over(objects("p.Pairs[]", 1, 64 << 20), 300);
	sample_through(objects("p.Pair", 1 << 20, 32 << 20), "p.Main.pairs[]", 200);
	sample_all_over(objects("p.Order[]", 1, 64 << 20), 100);
	sample_through(objects("p.Order", 1, 64 << 20), "p.Orders.first", 100);
	findings_calculate(300);
	findings_find();
	assert_int_equal(model.found.len, 4);
}

/* Arrays of numbers at two lines are two things. */
static void arrays_of_a_class_are_findings_by_line_only(void **state)
{
	sample_two_lines("long[]", 400);
	findings_calculate(600);
	findings_find();
	for (size_t i = 0; i < model.found.len; i++)
		assert_true(model.found.list[i].rows_len == 1 && model.found.list[i].share == 0.2);
}

static void too_few_samples_allow_no_verdict(void **state)
{
	const uint32_t at = objects("int[]", 1, 64 << 20);

	sample_all_over(at, LC_FINDING_SAMPLES_MIN - 4);
	findings_none();
	assert_non_null(strstr(model.found.none, "too few samples"));
	/* An interrupt that counts as several samples is one observation. */
	sample_by(10, OBJECT, at, "a", LC_TOUCH_LOAD, LC_FINDING_SAMPLES_MIN);
	findings_none();
	sample_all_over(at, 4 * LC_FINDING_SAMPLES_MIN);
	findings_only(LC_FINDING_HOT);
}

static void what_is_certainly_no_2_percent_is_none(void **state)
{
	sample_all_over(objects("int[]", 1, 64 << 20), 24);
	findings_calculate(976); /* 2.4%, and 1.6% by the lower end */
	findings_none();
}

static void findings_are_in_the_order_of_what_they_certainly_are(void **state)
{
	sample_all_over(objects("int[]", 1, 64 << 20), 100);
	sample_all_over(objects("long[]", 1, 64 << 20), 400);
	sample_all_over(objects("byte[]", 1, 64 << 20), 200);
	findings_calculate(300);
	findings_find();
	assert_int_equal(model.found.len, 3);
	for (size_t i = 1; i < model.found.len; i++)
		assert_true(model.found.list[i - 1].low > model.found.list[i].low);
	assert_non_null(strstr(model.found.list[0].text, "long[]"));
}

static void of_too_many_the_last_plain_one_goes(void **state)
{
	static const char *const classes[] = { "A[]", "B[]", "C[]", "D[]", "E[]", "F[]", "G[]" };
	const uint32_t stride = objects("long[]", 1, 64 << 20);

	for (size_t i = 0; i < 7; i++)
		sample_all_over(objects(classes[i], 1, 64 << 20), 120 - 4 * i);
	sample_all_over(stride, 80);
	findings_step(stride, 4096, 80);
	findings_find();
	assert_int_equal(model.found.len, LC_FINDINGS_MAX);
	assert_int_equal(model.found.list[LC_FINDINGS_MAX - 1].kind, LC_FINDING_STRIDE);
}

/* ---- what waited ---- */

/* Each element is divided by: the samples are behind the divisions, and the array is the nearest.
 */
static void an_array_beside_calculations_is_no_finding(void **state)
{
	const uint32_t at = objects("int[]", 1, 64 << 20);

	sample_all_over(at, 700);
	findings_step(at, 4, 700);
	findings_calculate(300);
	findings_flags(OBJECT, at, LC_WAIT_ELSEWHERE, 600);
	findings_none();
}

static void collections(uint64_t followed, uint64_t incomplete);

/* Objects that the program makes again and again; the samples are behind other instructions. */
static void make_beside_calculations(const char *class)
{
	const uint32_t at = objects(class, 100000, 8800000);

	sample_all_over(at, 700);
	findings_calculate(300);
	findings_flags(OBJECT, at, LC_WAIT_ELSEWHERE, 600);
	findings_none();
	collections(50, 0); /* and none outlived one */
}

static void making_objects_is_a_finding_if_the_program_can_do_without(void **state)
{
	make_beside_calculations("java.lang.reflect.Method");
	assert_non_null(strstr(findings_only(LC_FINDING_HOT)->change, "once"));
}

static void making_objects_is_none_without_advice(void **state)
{
	make_beside_calculations("Own");
	findings_none();
}

/* Some interrupts come late, or between two accesses, wherever time goes. */
static void an_array_that_is_waited_for_most_of_the_time_is_one(void **state)
{
	const uint32_t at = objects("int[]", 1, 64 << 20);

	sample_all_over(at, 700);
	findings_calculate(300);
	findings_flags(OBJECT, at, LC_WAIT_ELSEWHERE, 460);
	findings_only(LC_FINDING_HOT);
}

/* 15 of 20 are more than two thirds, and are so by chance in one profile of three. */
static void what_may_be_chance_is_not_most_of_the_time(void **state)
{
	const uint32_t at = objects("int[]", 1, 64 << 20);

	sample_all_over(at, 20);
	findings_calculate(80);
	findings_flags(OBJECT, at, LC_WAIT_ELSEWHERE, 15);
	findings_only(LC_FINDING_HOT);
}

/* ---- what fits the first cache ---- */

static void a_table_that_fits_the_first_cache_is_no_finding(void **state)
{
	static const uint64_t bytes[] = { 4112, 16400, LC_FINDING_CACHE_BYTES };
	const uint32_t at = objects("int[]", 1, 0);

	sample_all_over(at, 700);
	findings_step(at, 4, 700);
	findings_calculate(300);
	for (size_t i = 0; i < 3; i++) {
		lc_table_values(&model.tree.sites, at)[LC_SITE_BYTES] = bytes[i];
		findings_none();
	}
	lc_table_values(&model.tree.sites, at)[LC_SITE_BYTES] = LC_FINDING_CACHE_BYTES + 8;
	findings_only(LC_FINDING_HOT);
}

/* Each of the arrays fits it, and all together do not. */
static void many_small_arrays_are_a_finding(void **state)
{
	sample_all_over(objects("int[]", 1000, 1000 * 4112), 700);
	findings_calculate(300);
	findings_only(LC_FINDING_HOT);
}

static void nothing_is_known_of_objects_that_were_not_counted(void **state)
{
	sample_all_over(objects("int[]", 0, 0), 700);
	findings_calculate(300);
	findings_only(LC_FINDING_HOT);
}

static void a_small_object_that_threads_write_in_turn_is_a_finding(void **state)
{
	const uint32_t at = objects("long[]", 1, 1040);

	sample_all_over(at, 700);
	findings_calculate(300);
	findings_none();
	/* Two threads that only read a line each have it in their caches. */
	findings_share(OBJECT, 0, at, 0, LC_TOUCH_LOAD, 350);
	findings_share(OBJECT, 1, at, 0, LC_TOUCH_LOAD, 350);
	findings_none();
	findings_share(OBJECT, 1, at, 0, LC_TOUCH_STORE, 1);
	findings_only(LC_FINDING_HOT);
	model.process.cpus = 1; /* no other core takes the line */
	findings_none();
}

/* One object without an allocation line, whose fields a loop reads again and again. */
static void one_object_that_is_sampled_again_and_again_is_no_finding(void **state)
{
	const uint32_t at = site("Parser", 0);

	sample(CLASS, at, "a", LC_TOUCH_LOAD, 350);
	sample(CLASS, at, "b", LC_TOUCH_LOAD, 350);
	findings_calculate(300);
	findings_only(LC_FINDING_HOT);
	findings_flags(CLASS, at, LC_WAIT_SAME_OBJECT, 350); /* a half, but not surely more */
	findings_only(LC_FINDING_HOT);
	findings_flags(CLASS, at, LC_WAIT_SAME_OBJECT, 50);
	findings_none();
	findings_share(OBJECT, 0, at, 0, LC_TOUCH_LOAD, 350);
	findings_share(OBJECT, 1, at, 0, LC_TOUCH_STORE, 350);
	findings_none(); /* the lines are another row's, of tracked objects */
	findings_share(CLASS, 1, at, 0, LC_TOUCH_STORE, 350);
	findings_only(LC_FINDING_HOT);
}

/* In a part of a recording, an array's allocation may be in another part. */
static void a_part_of_a_recording_does_not_tell_what_fits(void **state)
{
	sample_all_over(objects("int[]", 1, 16400), 700);
	findings_calculate(300);
	findings_none();
	model.process.shown_end_ns = 1;
	findings_only(LC_FINDING_HOT);
	model.process.shown_end_ns = 0;
	model.range.since = "1m";
	findings_only(LC_FINDING_HOT);
	model.range.since = NULL;
	json_object_set_new(model.process.options, "loop", json_string("none"));
	findings_none();
	json_object_set_new(model.process.options, "loop", json_string("60s"));
	findings_only(LC_FINDING_HOT);
}

/* ---- headers ---- */

static void what_is_fetched_for_its_header_alone_is_a_finding(void **state)
{
	const uint32_t at = objects("Shape", 1000000, 16000000);
	const struct lc_finding *f;

	sample(OBJECT, at, "(class)", LC_TOUCH_LOAD, 570);
	sample(OBJECT, at, "area", LC_TOUCH_LOAD, 30);
	findings_calculate(400);
	f = findings_only(LC_FINDING_HEADER);
	assert_non_null(strstr(f->text, "95% of them are at its header"));
	/* It is so even if a few of the accesses read on. */
	findings_flags(OBJECT, at, LC_WAIT_READS_ON, 60);
	findings_only(LC_FINDING_HEADER);
}

/* The class is checked and a field behind it is read: the line is fetched for both. */
static void a_header_that_is_read_on_is_not_fetched_for_itself(void **state)
{
	const uint32_t at = objects("Shape", 1000000, 16000000);
	const struct lc_finding *f;

	sample(OBJECT, at, "(class)", LC_TOUCH_LOAD, 570);
	sample(OBJECT, at, "area", LC_TOUCH_LOAD, 30);
	findings_calculate(400);
	findings_flags(OBJECT, at, LC_WAIT_READS_ON, 560);
	f = findings_only(LC_FINDING_HOT);
	assert_null(strstr(f->text, "at its header"));
	assert_non_null(strstr(f->text, "same cache line"));
}

static void headers_of_many_classes_are_a_finding_unless_they_are_read_on(void **state)
{
	static const char *const classes[] = { "A", "B", "C", "D", "E" };

	for (size_t i = 0; i < 5; i++) {
		sample(CLASS, site(classes[i], 0), "(class)", LC_TOUCH_LOAD, 180);
		sample(CLASS, site(classes[i], 0), "f", LC_TOUCH_LOAD, 50);
		sample(CLASS, site(classes[i], 0), "g", LC_TOUCH_LOAD, 50);
		sample(CLASS, site(classes[i], 0), "h", LC_TOUCH_LOAD, 50);
	}
	findings_calculate(7000);
	findings_find();
	assert_int_equal(model.found.list[0].kind, LC_FINDING_HEADERS);
	assert_true(fabs(model.found.list[0].share - 900.0 / 8650) < 1e-9);
	/* All of A's are read on, and a third of B's. */
	findings_flags(CLASS, site("A", 0), LC_WAIT_READS_ON, 180);
	findings_flags(CLASS, site("B", 0), LC_WAIT_READS_ON, 60);
	findings_find();
	assert_int_equal(model.found.list[0].kind, LC_FINDING_HEADERS);
	assert_true(fabs(model.found.list[0].share - 660.0 / 8650) < 1e-9);
	assert_non_null(strstr(model.found.list[0].text,
	                       "The first of 4 classes are C (2.1%), D (2.1%) and E (2.1%)"));
	/* One of D and E is read on too: C alone has more than a third. */
	findings_flags(CLASS, site("D", 0), LC_WAIT_READS_ON, 180);
	findings_find();
	for (size_t i = 0; i < model.found.len; i++)
		assert_int_not_equal(model.found.list[i].kind, LC_FINDING_HEADERS);
}

/* Headers that code at the end of the path reads for a type check. */
static void check_type(uint32_t at, uint32_t path, uint64_t samples)
{
	const uint32_t key[LC_REACH_KEY] = { [LC_REACH_BUCKET] = CLASS,
		                             [LC_REACH_SITE] = at,
		                             [LC_REACH_PATH] = path,
		                             [LC_REACH_WHY] = LC_WHY_TYPE };

	lc_table_values(&model.tree.reaches,
	                lc_table_put(&model.tree.reaches, key))[LC_REACH_SAMPLES] += samples;
}

static uint32_t frame_of(const char *class, const char *method, enum lc_tree_own own)
{
	const uint32_t name[LC_METHOD_KEY] = { findings_text(class), findings_text(method),
		                               findings_text("()V"), findings_text("A.java") };
	const uint32_t number = lc_table_put(&model.tree.methods, name);
	const uint32_t frame[LC_FRAME_KEY] = { number, 8, 8 };
	const uint32_t path[LC_PATH_KEY] = { 0, lc_table_put(&model.tree.frames, frame) };

	lc_table_values(&model.tree.methods, number)[LC_METHOD_OWN] = own;
	return lc_table_put(&model.tree.paths, path);
}

/* A library's data cannot be laid out in another way: facts and no advice, behind all others. */
static void headers_in_a_library_have_no_advice(void **state)
{
	static const char *const classes[] = { "A", "B", "C", "D", "E" };
	const uint32_t library = frame_of("org.lib.Tree", "visit", LC_TREE_NOT_OWN),
	               own = frame_of("a.Main", "visit", LC_TREE_OWN);
	const struct lc_finding *last;

	for (size_t i = 0; i < 5; i++) {
		sample(CLASS, site(classes[i], 0), "(class)", LC_TOUCH_LOAD, 180);
		sample(CLASS, site(classes[i], 0), "f", LC_TOUCH_LOAD, 50);
		sample(CLASS, site(classes[i], 0), "g", LC_TOUCH_LOAD, 50);
		sample(CLASS, site(classes[i], 0), "h", LC_TOUCH_LOAD, 50);
		check_type(site(classes[i], 0), library, 100);
	}
	findings_calculate(7000);
	findings_find();
	last = &model.found.list[model.found.len - 1];
	assert_true(model.found.len > 1 && last->kind == LC_FINDING_HEADERS && !last->change);
	assert_non_null(strstr(last->text, "Most of them are in libraries and the JDK"));
	check_type(site("A", 0), own, 600); /* more than a half */
	findings_find();
	assert_int_equal(model.found.list[0].kind, LC_FINDING_HEADERS);
	assert_non_null(strstr(model.found.list[0].change, "lay data out flat"));
	assert_null(strstr(model.found.list[0].text, "libraries"));
}

/* The first of two elements is waited for; the second is in the same cache line. */
static void one_element_of_a_few_is_no_part(void **state)
{
	const uint32_t large = objects("long[]", 1, 64 << 20);

	sample(OBJECT, large, "", LC_TOUCH_LOAD, 500);
	findings_calculate(500);
	findings_only(LC_FINDING_ONE_PART);
	lc_table_values(&model.tree.sites, large)[LC_SITE_ALLOCATIONS] = 2 << 20;
	findings_only(LC_FINDING_HOT); /* 32 bytes each */
}

/* ---- stores ---- */

static void what_is_written_and_never_read_is_a_finding(void **state)
{
	const uint32_t at = objects("long[]", 1, 64 << 20);
	const struct lc_finding *f;

	sample(OBJECT, at, "", LC_TOUCH_STORE, LC_TOUCH_WRITTEN_MIN);
	findings_calculate(600);
	f = findings_only(LC_FINDING_NEVER_READ);
	assert_non_null(strstr(f->text, "written in 299 samples and read in none"));
	sample(OBJECT, at, "", LC_TOUCH_LOAD, 1);
	findings_find();
	assert_int_not_equal(model.found.list[0].kind, LC_FINDING_NEVER_READ);
}

/* One sample in a hundred of a load: 298 show none of it in one profile of twenty. */
static void a_few_stores_do_not_say_that_nobody_reads(void **state)
{
	const uint32_t at = objects("Context[]", 1, 64 << 20);

	sample(OBJECT, at, "", LC_TOUCH_STORE, LC_TOUCH_WRITTEN_MIN - 1);
	findings_calculate(600);
	findings_find();
	assert_int_not_equal(model.found.list[0].kind, LC_FINDING_NEVER_READ);
	/* One interrupt that counts as eight samples is one observation. */
	sample_by(8, OBJECT, at, "", LC_TOUCH_STORE, 600);
	findings_find();
	assert_int_not_equal(model.found.list[0].kind, LC_FINDING_NEVER_READ);
	sample(OBJECT, at, "", LC_TOUCH_STORE, 900);
	findings_only(LC_FINDING_NEVER_READ);
}

/* If the index is lost, the object is known and neither the element nor what was done to it. */
static void samples_of_no_known_element_may_be_loads(void **state)
{
	const uint32_t at = objects("long[]", 1, 64 << 20);

	sample(OBJECT, at, "", LC_TOUCH_STORE, 400);
	sample(OBJECT, at, NULL, 0, 4);
	findings_calculate(600);
	findings_only(LC_FINDING_NEVER_READ);
	sample(OBJECT, at, NULL, 0, 1);
	findings_find();
	assert_int_not_equal(model.found.list[0].kind, LC_FINDING_NEVER_READ);
}

/* ---- false sharing ---- */

static void lines_that_threads_take_from_each_other_are_a_finding(void **state)
{
	const uint32_t at = objects("long[]", 1, 144);
	const struct lc_finding *f;

	sample(OBJECT, at, "", LC_TOUCH_STORE, 200);
	findings_share(OBJECT, 0, at, 0, LC_TOUCH_STORE, 100);
	findings_share(OBJECT, 1, at, 8, LC_TOUCH_STORE, 100);
	findings_calculate(300);
	f = findings_only(LC_FINDING_FALSE_SHARING);
	assert_true(fabs(f->share - 0.4) < 1e-9);
	model.process.cpus = 2;
	findings_only(LC_FINDING_FALSE_SHARING);
}

/* The owner of a line that another thread reads waits, too, where it only reads the line. */
static void padding_saves_at_most_all_accesses_to_the_objects_in_shared_lines(void **state)
{
	const uint32_t at = objects("long[]", 1, 144);
	const struct lc_finding *f;

	findings_sample(OBJECT, at, 0, 300); /* of 100 the address is not known */
	findings_share(OBJECT, 0, at, 0, LC_TOUCH_STORE, 100);
	findings_share(OBJECT, 1, at, 8, LC_TOUCH_LOAD, 50);
	findings_share(OBJECT, 0, at, 16, LC_TOUCH_LOAD, 50);
	findings_calculate(200);
	f = findings_only(LC_FINDING_FALSE_SHARING);
	assert_true(fabs(f->saves.accesses.share - 0.3) < 1e-9);
	assert_true(fabs(f->saves.all.share - 0.6) < 1e-9);
	findings_sample(OBJECT, at, 0, 200); /* most are elsewhere, and a finding of their own */
	findings_find();
	for (f = model.found.list; f->kind != LC_FINDING_FALSE_SHARING;)
		assert_ptr_not_equal(++f, model.found.list + model.found.len);
	assert_true(fabs(f->saves.all.share - 200.0 / 700) < 1e-9);
}

/* There is no other core that could take a line. */
static void a_process_on_one_cpu_shares_no_line(void **state)
{
	const uint32_t at = objects("long[]", 1, 144);

	sample(OBJECT, at, "", LC_TOUCH_STORE, 200);
	findings_share(OBJECT, 0, at, 0, LC_TOUCH_STORE, 100);
	findings_share(OBJECT, 1, at, 8, LC_TOUCH_STORE, 100);
	findings_calculate(300);
	model.process.cpus = 1;
	findings_find();
	for (size_t i = 0; i < model.found.len; i++)
		assert_int_not_equal(model.found.list[i].kind, LC_FINDING_FALSE_SHARING);
	assert_true(model.sharing.one_cpu);
}

/* ---- what dies soon ---- */

static void collections(uint64_t followed, uint64_t incomplete)
{
	json_object_set_new(model.process.counters, "gc_collected",
	                    json_integer((json_int_t)followed));
	json_object_set_new(model.process.counters, "gc_incomplete",
	                    json_integer((json_int_t)incomplete));
	json_object_set_new(model.process.counters, "cpu_process_ns", json_integer(5000000000));
	json_object_set_new(model.process.counters, "cpu_gc_ns", json_integer(1000000000));
}

static bool short_lived(void)
{
	findings_find();
	for (size_t i = 0; i < model.found.len; i++)
		if (model.found.list[i].kind == LC_FINDING_SHORT_LIVED)
			return true;
	return false;
}

static void large_arrays_that_no_collection_finds_alive_are_a_finding(void **state)
{
	objects("byte[]", 10000, 10000 * 8208);
	collections(50, 0);
	findings_calculate(1000);
	assert_true(short_lived());
	/* Objects that are forgotten at a collection that could not be followed may live. */
	collections(50, 2);
	assert_false(short_lived());
	collections(LC_FINDING_COLLECTIONS_MIN - 1, 0);
	assert_false(short_lived());
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, findings_begin, findings_end)

/* ---- findings that one change helps ---- */

static uint32_t strided(const char *class, const char *method)
{
	const uint32_t key[LC_SITE_KEY] = { findings_text(class), line_of(method, MADE) };
	const uint32_t at = lc_table_put(&model.tree.sites, key);

	lc_table_values(&model.tree.sites, at)[LC_SITE_ALLOCATIONS] += 1;
	lc_table_values(&model.tree.sites, at)[LC_SITE_BYTES] += 64 << 20;
	sample_all_over(at, 200);
	findings_step(at, 4096, 200);
	return at;
}

static void arrays_of_one_method_that_one_change_helps_are_one_finding(void **state)
{
	const struct lc_finding *f;

	strided("long[]", "m");
	strided("double[]", "m");
	findings_calculate(600);
	f = findings_only(LC_FINDING_STRIDE);
	assert_int_equal(f->rows_len, 2);
	assert_true(fabs(f->share - 0.4) < 1e-9);
	/* Seven of eight accesses of 8 bytes find their cache line in the order of addresses. */
	assert_true(fabs(f->saves.accesses.share - 0.35) < 1e-9);
	assert_true(f->saves.all.share == f->saves.accesses.share);
	assert_null(strstr(f->text, "With what makes"));
}

static void arrays_of_two_methods_are_two_findings(void **state)
{
	strided("long[]", "m");
	strided("double[]", "n");
	findings_calculate(600);
	findings_find();
	assert_int_equal(model.found.len, 2);
	assert_int_equal(model.found.list[0].rows_len, 1);
}

static void a_gain_is_of_all_cpu_time_and_samples_are_of_threads(void **state)
{
	const uint32_t array = objects("long[]", 1, 64 << 20);
	const struct lc_finding *f;

	json_object_set_new(model.process.counters, "cpu_process_ns", json_integer(1000));
	json_object_set_new(model.process.counters, "cpu_jit_ns", json_integer(500));
	findings_share(OBJECT, 1, array, 0, LC_TOUCH_STORE, 200);
	findings_share(OBJECT, 2, array, 32, LC_TOUCH_STORE, 200);
	sample(OBJECT, array, "a", LC_TOUCH_STORE, 400);
	findings_calculate(600);
	f = findings_only(LC_FINDING_FALSE_SHARING);
	assert_true(fabs(f->share - 0.4) < 1e-9 && fabs(f->saves.all.share - 0.2) < 1e-9);
	assert_non_null(strstr(f->text, "Accesses alone: up to 1.25x"));
}

static void findings_are_in_the_order_of_what_the_change_saves(void **state)
{
	const uint32_t small = objects("int[]", 1, 64 << 20);

	sample_all_over(site("long[]", 0), 240);
	sample_all_over(small, 200);
	/* The JVM allocates the smaller one for as long. */
	findings_sample(LC_BUCKET_JVM, 0, line(MADE), 200);
	findings_calculate(360);
	findings_find();
	assert_int_equal(model.found.len, 2);
	assert_true(model.found.list[0].share < model.found.list[1].share);
	assert_non_null(strstr(model.found.list[0].text,
	                       " Accesses alone: 1.25x. With what makes, clears, fills, copies "
	                       "and collects it: up to 1.67x ("));
	assert_non_null(strstr(model.found.list[1].text, " Accesses alone: up to 1.32x ("));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_large_array_is_a_finding_with_its_share_and_interval),
		TEST(a_class_is_one_finding_if_its_lines_are_not_certain),
		TEST(arrays_of_a_class_are_findings_by_line_only),
		TEST(what_nodes_of_a_collection_hold_is_of_their_finding),
		TEST(what_other_objects_refer_to_is_a_finding_of_its_own),
		TEST(an_array_of_small_objects_is_of_their_finding),
		TEST(an_array_of_other_objects_is_a_finding_of_its_own),
		TEST(too_few_samples_allow_no_verdict),
		TEST(what_is_certainly_no_2_percent_is_none),
		TEST(findings_are_in_the_order_of_what_they_certainly_are),
		TEST(findings_are_in_the_order_of_what_the_change_saves),
		TEST(a_gain_is_of_all_cpu_time_and_samples_are_of_threads),
		TEST(arrays_of_one_method_that_one_change_helps_are_one_finding),
		TEST(arrays_of_two_methods_are_two_findings),
		TEST(of_too_many_the_last_plain_one_goes),
		TEST(an_array_beside_calculations_is_no_finding),
		TEST(making_objects_is_a_finding_if_the_program_can_do_without),
		TEST(making_objects_is_none_without_advice),
		TEST(an_array_that_is_waited_for_most_of_the_time_is_one),
		TEST(what_may_be_chance_is_not_most_of_the_time),
		TEST(a_table_that_fits_the_first_cache_is_no_finding),
		TEST(many_small_arrays_are_a_finding),
		TEST(nothing_is_known_of_objects_that_were_not_counted),
		TEST(a_small_object_that_threads_write_in_turn_is_a_finding),
		TEST(one_object_that_is_sampled_again_and_again_is_no_finding),
		TEST(a_part_of_a_recording_does_not_tell_what_fits),
		TEST(what_is_fetched_for_its_header_alone_is_a_finding),
		TEST(a_header_that_is_read_on_is_not_fetched_for_itself),
		TEST(headers_of_many_classes_are_a_finding_unless_they_are_read_on),
		TEST(headers_in_a_library_have_no_advice),
		TEST(one_element_of_a_few_is_no_part),
		TEST(what_is_written_and_never_read_is_a_finding),
		TEST(a_few_stores_do_not_say_that_nobody_reads),
		TEST(samples_of_no_known_element_may_be_loads),
		TEST(lines_that_threads_take_from_each_other_are_a_finding),
		TEST(padding_saves_at_most_all_accesses_to_the_objects_in_shared_lines),
		TEST(a_process_on_one_cpu_shares_no_line),
		TEST(large_arrays_that_no_collection_finds_alive_are_a_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
