/* uses: analyzer/objects/analysis/findings.c analyzer/objects/analysis/findings_other.c analyzer/objects/analysis/findings_rows.c analyzer/objects/analysis/advice.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/reaches.c analyzer/objects/analysis/findings_rules.c analyzer/objects/analysis/saving.c analyzer/objects/analysis/row_set.c analyzer/objects/analysis/cpu_breakdown.c analyzer/objects/analysis/gc_model.c analyzer/objects/analysis/headers.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/sharing.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/numa/numa.c analyzer/numa/numa_diagnose.c analyzer/numa/numa_machine.c analyzer/numa/numa_prose.c analyzer/spans/spans_math.c analyzer/spans/spans_diagnose.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/load_process.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/findings_offheap.c analyzer/objects/analysis/advice_block.c analyzer/objects/analysis/findings_grows.c -lm -lzstd -ljansson */
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

#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/sharing.h"
#include "analyzer/objects/analysis/touch.h"
#include "src/format/kinds.h"
#include "src/format/rows.h"

enum {
	OBJECT = LC_BUCKET_OBJECT,
	CLASS = LC_BUCKET_HEAP_CLASS,
	MADE = 1,
	USED = 2,
	CALCULATED = 3
};

static struct lc_tree tree;
static struct lc_load_process process;
static struct lc_load_range range; /* the tool gives one, with or without --since */
static struct lc_load load;
static struct lc_view view;
static struct lc_ranking ranking;
static struct lc_sharing sharing;
static struct lc_findings found;

/* ---- a profile ---- */

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

/* A path of one frame of class A, at a line of a method. */
static uint32_t line_of(const char *method, uint32_t number)
{
	const uint32_t method_key[LC_METHOD_KEY] = { text("A"), text(method), text("()V"),
		                                     text("A.java") };
	const uint32_t frame_key[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method_key), number,
		                                   number + 1 };
	const uint32_t path_key[LC_PATH_KEY] = { 0, lc_table_put(&tree.frames, frame_key) };

	return lc_table_put(&tree.paths, path_key);
}

static uint32_t line(uint32_t number)
{
	return line_of("m", number);
}

static uint32_t site(const char *class, uint32_t made_at)
{
	const uint32_t key[LC_SITE_KEY] = { text(class), made_at ? line(made_at) : 0 };

	return lc_table_put(&tree.sites, key);
}

/* Objects of a class that a line makes. */
static uint32_t objects(const char *class, uint64_t count, uint64_t bytes)
{
	const uint32_t at = site(class, MADE);

	lc_table_values(&tree.sites, at)[LC_SITE_ALLOCATIONS] += count;
	lc_table_values(&tree.sites, at)[LC_SITE_BYTES] += bytes;
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

	values = lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, access));
	values[LC_ACCESS_SAMPLES] += samples;
	values[LC_ACCESS_PAIRS] += pairs;
	tree.buckets[0][bucket] += samples;
	if (!field)
		return;
	key[LC_FIELD_NAME] = text(field);
	values = lc_table_values(&tree.fields, lc_table_put(&tree.fields, key));
	values[LC_FIELD_SAMPLES] += samples;
	values[LC_FIELD_PAIRS] += pairs;
}

static void sample(uint32_t bucket, uint32_t at, const char *field, uint32_t touch,
                   uint64_t samples)
{
	sample_by(1, bucket, at, field, touch, samples);
}

static void sample_at(uint32_t bucket, uint32_t at, uint32_t path, uint64_t samples)
{
	const uint32_t access[LC_ACCESS_KEY] = {
		[LC_ACCESS_BUCKET] = bucket, [LC_ACCESS_SITE] = at, [LC_ACCESS_PATH] = path
	};

	lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, access))[LC_ACCESS_SAMPLES] +=
	    samples;
	tree.buckets[0][bucket] += samples;
}

/* Samples of elements here and there, so that no part of an array stands out. */
static void sample_all_over(uint32_t at, uint64_t samples)
{
	static const char *const parts[] = { "a", "b", "c", "d" };

	for (size_t i = 0; i < 4; i++)
		sample(OBJECT, at, parts[i], LC_TOUCH_LOAD, samples / 4);
}

/* Samples of no object. */
static void calculate(uint64_t samples)
{
	tree.buckets[0][LC_BUCKET_JVM] += samples;
}

static void wait_flags(uint32_t bucket, uint32_t at, uint32_t flags, uint64_t samples)
{
	const uint32_t key[LC_WAIT_KEY] = {
		[LC_WAIT_BUCKET] = bucket, [LC_WAIT_SITE] = at, [LC_WAIT_FLAGS] = flags
	};

	*lc_table_values(&tree.waits, lc_table_put(&tree.waits, key)) += samples;
}

static void walk(uint32_t at, uint64_t step, uint64_t samples)
{
	uint32_t key[LC_STEP_KEY] = { [LC_STEP_BUCKET] = OBJECT, [LC_STEP_SITE] = at };

	lc_tree_wide_put(key + LC_STEP_BYTES, step);
	*lc_table_values(&tree.steps, lc_table_put(&tree.steps, key)) += samples;
}

/* A thread's samples in 8 bytes of a cache line that others touch too. */
static void share_in(uint32_t bucket, uint32_t thread, uint32_t at, uint32_t byte, uint32_t touch,
                     uint64_t samples)
{
	const uint32_t thread_key[LC_THREAD_KEY] = { 0, thread };
	uint32_t key[LC_LINE_KEY] = { [LC_LINE_THREAD] = lc_table_put(&tree.threads, thread_key),
		                      [LC_LINE_NUMBER] = 1,
		                      [LC_LINE_BUCKET] = bucket,
		                      [LC_LINE_SITE] = at,
		                      [LC_LINE_BYTE] = byte,
		                      [LC_LINE_WIDTH] = 8,
		                      [LC_LINE_TOUCH] = touch };

	lc_table_values(&tree.lines, lc_table_put(&tree.lines, key))[LC_LINE_SAMPLES] += samples;
}

static void share(uint32_t thread, uint32_t at, uint32_t byte, uint32_t touch, uint64_t samples)
{
	share_in(OBJECT, thread, at, byte, touch, samples);
}

static int an_empty_profile(void **state)
{
	lc_tree_init(&tree);
	range = (struct lc_load_range){ 0 };
	process = (struct lc_load_process){ .options = json_object(), .counters = json_object() };
	load = (struct lc_load){ .tree = &tree,
		                 .range = &range,
		                 .engines_len = 1,
		                 .processes = &process,
		                 .processes_len = 1 };
	load.engines[0] = (struct lc_load_engine){ .name = (char *)"timer",
		                                   .unit = (char *)"ns of CPU time",
		                                   .interval_ns = 5000000 };
	return 0;
}

static void forget(void)
{
	lc_findings_free(&found);
	lc_sharing_free(&sharing);
	lc_ranking_free(&ranking);
	lc_view_free(&view);
	sharing = (struct lc_sharing){ 0 };
	view = (struct lc_view){ 0 };
}

static int nothing(void **state)
{
	forget();
	json_decref(process.options);
	json_decref(process.counters);
	lc_tree_free(&tree);
	return 0;
}

static void find(void)
{
	forget();
	lc_view_build(&view, &load, 0, LC_SORT_SAMPLES);
	lc_ranking_build(&ranking, &view, LC_GROUP_LINE, NULL);
	lc_sharing_find(&sharing, &view);
	lc_findings_find(&found,
	                 &(struct lc_findings_of){ .ranking = &ranking, .sharing = &sharing });
}

/* The only finding is of that kind. */
static const struct lc_finding *only(enum lc_finding_kind kind)
{
	find();
	assert_int_equal(found.len, 1);
	assert_string_equal(lc_finding_name(found.list->kind), lc_finding_name(kind));
	return found.list;
}

static void none(void)
{
	find();
	assert_int_equal(found.len, 0);
	assert_non_null(found.none);
}

/* ---- what is found ---- */

static void a_large_array_is_a_finding_with_its_share_and_interval(void **state)
{
	const struct lc_finding *f;

	sample_all_over(objects("int[]", 1, 64 << 20), 400);
	calculate(600);
	f = only(LC_FINDING_HOT);
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
		uint64_t *values = lc_table_values(&tree.splits, lc_table_put(&tree.splits, key));

		values[LC_SPLIT_SAMPLES] = 500 * samples;
		values[LC_SPLIT_VARIANCE] = 1000 * samples * samples / 40;
	}
	sample(LC_BUCKET_HEAP_CLASS, at, NULL, 0, samples);
}

static void a_class_is_one_finding_if_its_lines_are_not_certain(void **state)
{
	const struct lc_finding *f;

	sample_two_lines("p.Node", 400);
	calculate(600);
	f = only(LC_FINDING_HOT);
	assert_true(f->share == 0.4 && f->low > 0.36 && f->high < 0.44);
	assert_int_equal(f->rows_len, 2);
	assert_true(f->row->high - f->row->low > 0.1);
	assert_non_null(strstr(f->text, "p.Node: 40.0% of the samples"));
	assert_non_null(strstr(f->text, "Most were made at A.m:"));
	assert_true(f->saves.accesses.low > 0.36);
}

/* Samples of objects that the code reached through a field. */
static void sample_through(const char *class, const char *field, uint64_t samples)
{
	const uint32_t at = objects(class, 1, 64 << 20);
	const uint32_t key[LC_REACH_KEY] = { [LC_REACH_BUCKET] = OBJECT,
		                             [LC_REACH_SITE] = at,
		                             [LC_REACH_PATH] = line(USED),
		                             [LC_REACH_KIND] = LC_REFERENCE_FIELD,
		                             [LC_REACH_NAME] = text(field) };

	sample_all_over(at, samples);
	lc_table_values(&tree.reaches, lc_table_put(&tree.reaches, key))[LC_REACH_SAMPLES] +=
	    samples;
}

static void what_nodes_of_a_collection_hold_is_of_their_finding(void **state)
{
	const struct lc_finding *f;

	sample_through("p.Key", "java.util.TreeMap$Entry.key", 400);
	sample_through("java.util.TreeMap$Entry", "java.util.TreeMap$Entry.left", 200);
	calculate(400);
	f = only(LC_FINDING_HOT);
	assert_non_null(strstr(f->text, "TreeMap$Entry"));
	assert_non_null(strstr(f->text, "Together with p.Key"));
	assert_non_null(strstr(f->text, "(40.0%): 60.0% ("));
	assert_int_equal(f->rows_len, 2);
	assert_true(f->share == 0.6 && f->saves.accesses.share > 0.59);
}

/* A field of the program's own class says nothing of that kind. */
static void what_other_objects_refer_to_is_a_finding_of_its_own(void **state)
{
	sample_through("p.Key", "p.Order.key", 300);
	sample_through("p.Order", "p.Orders.first", 300);
	calculate(400);
	find();
	assert_int_equal(found.len, 2);
}

/* Arrays of numbers at two lines are two things. */
static void arrays_of_a_class_are_findings_by_line_only(void **state)
{
	sample_two_lines("long[]", 400);
	calculate(600);
	find();
	for (size_t i = 0; i < found.len; i++)
		assert_true(found.list[i].rows_len == 1 && found.list[i].share == 0.2);
}

static void too_few_samples_allow_no_verdict(void **state)
{
	const uint32_t at = objects("int[]", 1, 64 << 20);

	sample_all_over(at, LC_FINDING_SAMPLES_MIN - 4);
	none();
	assert_non_null(strstr(found.none, "too few samples"));
	/* An interrupt that counts as several samples is one observation. */
	sample_by(10, OBJECT, at, "a", LC_TOUCH_LOAD, LC_FINDING_SAMPLES_MIN);
	none();
	sample_all_over(at, 4 * LC_FINDING_SAMPLES_MIN);
	only(LC_FINDING_HOT);
}

static void what_is_certainly_no_2_percent_is_none(void **state)
{
	sample_all_over(objects("int[]", 1, 64 << 20), 24);
	calculate(976); /* 2.4%, and 1.6% by the lower end */
	none();
}

static void findings_are_in_the_order_of_what_they_certainly_are(void **state)
{
	sample_all_over(objects("int[]", 1, 64 << 20), 100);
	sample_all_over(objects("long[]", 1, 64 << 20), 400);
	sample_all_over(objects("byte[]", 1, 64 << 20), 200);
	calculate(300);
	find();
	assert_int_equal(found.len, 3);
	for (size_t i = 1; i < found.len; i++)
		assert_true(found.list[i - 1].low > found.list[i].low);
	assert_non_null(strstr(found.list[0].text, "long[]"));
}

static void of_too_many_the_last_plain_one_goes(void **state)
{
	static const char *const classes[] = { "A[]", "B[]", "C[]", "D[]", "E[]", "F[]", "G[]" };
	const uint32_t stride = objects("long[]", 1, 64 << 20);

	for (size_t i = 0; i < 7; i++)
		sample_all_over(objects(classes[i], 1, 64 << 20), 120 - 4 * i);
	sample_all_over(stride, 80);
	walk(stride, 4096, 80);
	find();
	assert_int_equal(found.len, LC_FINDINGS_MAX);
	assert_int_equal(found.list[LC_FINDINGS_MAX - 1].kind, LC_FINDING_STRIDE);
}

/* ---- what waited ---- */

/* Each element is divided by: the samples are behind the divisions, and the array is the nearest.
 */
static void an_array_beside_calculations_is_no_finding(void **state)
{
	const uint32_t at = objects("int[]", 1, 64 << 20);

	sample_all_over(at, 700);
	walk(at, 4, 700);
	calculate(300);
	wait_flags(OBJECT, at, LC_WAIT_ELSEWHERE, 600);
	none();
}

/* Some interrupts come late, or between two accesses, wherever time goes. */
static void an_array_that_is_waited_for_most_of_the_time_is_one(void **state)
{
	const uint32_t at = objects("int[]", 1, 64 << 20);

	sample_all_over(at, 700);
	calculate(300);
	wait_flags(OBJECT, at, LC_WAIT_ELSEWHERE, 460);
	only(LC_FINDING_HOT);
}

/* 15 of 20 are more than two thirds, and are so by chance in one profile of three. */
static void what_may_be_chance_is_not_most_of_the_time(void **state)
{
	const uint32_t at = objects("int[]", 1, 64 << 20);

	sample_all_over(at, 20);
	calculate(80);
	wait_flags(OBJECT, at, LC_WAIT_ELSEWHERE, 15);
	only(LC_FINDING_HOT);
}

/* ---- what fits the first cache ---- */

static void a_table_that_fits_the_first_cache_is_no_finding(void **state)
{
	static const uint64_t bytes[] = { 4112, 16400, LC_FINDING_CACHE_BYTES };
	const uint32_t at = objects("int[]", 1, 0);

	sample_all_over(at, 700);
	walk(at, 4, 700);
	calculate(300);
	for (size_t i = 0; i < 3; i++) {
		lc_table_values(&tree.sites, at)[LC_SITE_BYTES] = bytes[i];
		none();
	}
	lc_table_values(&tree.sites, at)[LC_SITE_BYTES] = LC_FINDING_CACHE_BYTES + 8;
	only(LC_FINDING_HOT);
}

/* Each of the arrays fits it, and all together do not. */
static void many_small_arrays_are_a_finding(void **state)
{
	sample_all_over(objects("int[]", 1000, 1000 * 4112), 700);
	calculate(300);
	only(LC_FINDING_HOT);
}

static void nothing_is_known_of_objects_that_were_not_counted(void **state)
{
	sample_all_over(objects("int[]", 0, 0), 700);
	calculate(300);
	only(LC_FINDING_HOT);
}

static void a_small_object_that_threads_write_in_turn_is_a_finding(void **state)
{
	const uint32_t at = objects("long[]", 1, 1040);

	sample_all_over(at, 700);
	calculate(300);
	none();
	/* Two threads that only read a line each have it in their caches. */
	share(0, at, 0, LC_TOUCH_LOAD, 350);
	share(1, at, 0, LC_TOUCH_LOAD, 350);
	none();
	share(1, at, 0, LC_TOUCH_STORE, 1);
	only(LC_FINDING_HOT);
	process.cpus = 1; /* no other core takes the line */
	none();
}

/* One object without an allocation line, whose fields a loop reads again and again. */
static void one_object_that_is_sampled_again_and_again_is_no_finding(void **state)
{
	const uint32_t at = site("Parser", 0);

	sample(CLASS, at, "a", LC_TOUCH_LOAD, 350);
	sample(CLASS, at, "b", LC_TOUCH_LOAD, 350);
	calculate(300);
	only(LC_FINDING_HOT);
	wait_flags(CLASS, at, LC_WAIT_SAME_OBJECT, 350); /* a half, but not surely more */
	only(LC_FINDING_HOT);
	wait_flags(CLASS, at, LC_WAIT_SAME_OBJECT, 50);
	none();
	share(0, at, 0, LC_TOUCH_LOAD, 350);
	share(1, at, 0, LC_TOUCH_STORE, 350);
	none(); /* the lines are another row's, of tracked objects */
	share_in(CLASS, 1, at, 0, LC_TOUCH_STORE, 350);
	only(LC_FINDING_HOT);
}

/* In a part of a recording, an array's allocation may be in another part. */
static void a_part_of_a_recording_does_not_tell_what_fits(void **state)
{
	sample_all_over(objects("int[]", 1, 16400), 700);
	calculate(300);
	none();
	process.shown_end_ns = 1;
	only(LC_FINDING_HOT);
	process.shown_end_ns = 0;
	range.since = "1m";
	only(LC_FINDING_HOT);
	range.since = NULL;
	json_object_set_new(process.options, "loop", json_string("none"));
	none();
	json_object_set_new(process.options, "loop", json_string("60s"));
	only(LC_FINDING_HOT);
}

/* ---- headers ---- */

static void what_is_fetched_for_its_header_alone_is_a_finding(void **state)
{
	const uint32_t at = objects("Shape", 1000000, 16000000);
	const struct lc_finding *f;

	sample(OBJECT, at, "(class)", LC_TOUCH_LOAD, 570);
	sample(OBJECT, at, "area", LC_TOUCH_LOAD, 30);
	calculate(400);
	f = only(LC_FINDING_HEADER);
	assert_non_null(strstr(f->text, "95% of them are at its header"));
	/* Where a few of the accesses read on, it is so all the same. */
	wait_flags(OBJECT, at, LC_WAIT_READS_ON, 60);
	only(LC_FINDING_HEADER);
}

/* The class is checked and a field behind it is read: the line is fetched for both. */
static void a_header_that_is_read_on_is_not_fetched_for_itself(void **state)
{
	const uint32_t at = objects("Shape", 1000000, 16000000);
	const struct lc_finding *f;

	sample(OBJECT, at, "(class)", LC_TOUCH_LOAD, 570);
	sample(OBJECT, at, "area", LC_TOUCH_LOAD, 30);
	calculate(400);
	wait_flags(OBJECT, at, LC_WAIT_READS_ON, 560);
	f = only(LC_FINDING_HOT);
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
	calculate(7000);
	find();
	assert_int_equal(found.list[0].kind, LC_FINDING_HEADERS);
	assert_true(fabs(found.list[0].share - 900.0 / 8650) < 1e-9);
	/* All of A's are read on, and a third of B's. */
	wait_flags(CLASS, site("A", 0), LC_WAIT_READS_ON, 180);
	wait_flags(CLASS, site("B", 0), LC_WAIT_READS_ON, 60);
	find();
	assert_int_equal(found.list[0].kind, LC_FINDING_HEADERS);
	assert_true(fabs(found.list[0].share - 660.0 / 8650) < 1e-9);
	assert_non_null(strstr(found.list[0].text,
	                       "The first of 4 classes are C (2.1%), D (2.1%) and E (2.1%)"));
	/* One of D and E is read on too: C alone has more than a third. */
	wait_flags(CLASS, site("D", 0), LC_WAIT_READS_ON, 180);
	find();
	for (size_t i = 0; i < found.len; i++)
		assert_int_not_equal(found.list[i].kind, LC_FINDING_HEADERS);
}

/* The first of two elements is waited for; the second is in the same cache line. */
static void one_element_of_a_few_is_no_part(void **state)
{
	const uint32_t large = objects("long[]", 1, 64 << 20);

	sample(OBJECT, large, "", LC_TOUCH_LOAD, 500);
	calculate(500);
	only(LC_FINDING_ONE_PART);
	lc_table_values(&tree.sites, large)[LC_SITE_ALLOCATIONS] = 2 << 20;
	only(LC_FINDING_HOT); /* 32 bytes each */
}

/* ---- stores ---- */

static void what_is_written_and_never_read_is_a_finding(void **state)
{
	const uint32_t at = objects("long[]", 1, 64 << 20);
	const struct lc_finding *f;

	sample(OBJECT, at, "", LC_TOUCH_STORE, LC_TOUCH_WRITTEN_MIN);
	calculate(600);
	f = only(LC_FINDING_NEVER_READ);
	assert_non_null(strstr(f->text, "written in 299 samples and read in none"));
	sample(OBJECT, at, "", LC_TOUCH_LOAD, 1);
	find();
	assert_int_not_equal(found.list[0].kind, LC_FINDING_NEVER_READ);
}

/* One sample in a hundred of a load: 298 show none of it in one profile of twenty. */
static void a_few_stores_do_not_say_that_nobody_reads(void **state)
{
	const uint32_t at = objects("Context[]", 1, 64 << 20);

	sample(OBJECT, at, "", LC_TOUCH_STORE, LC_TOUCH_WRITTEN_MIN - 1);
	calculate(600);
	find();
	assert_int_not_equal(found.list[0].kind, LC_FINDING_NEVER_READ);
	/* One interrupt that counts as eight samples is one observation. */
	sample_by(8, OBJECT, at, "", LC_TOUCH_STORE, 600);
	find();
	assert_int_not_equal(found.list[0].kind, LC_FINDING_NEVER_READ);
	sample(OBJECT, at, "", LC_TOUCH_STORE, 900);
	only(LC_FINDING_NEVER_READ);
}

/* If the index is lost, the object is known and neither the element nor what was done to it. */
static void samples_of_no_known_element_may_be_loads(void **state)
{
	const uint32_t at = objects("long[]", 1, 64 << 20);

	sample(OBJECT, at, "", LC_TOUCH_STORE, 400);
	sample(OBJECT, at, NULL, 0, 4);
	calculate(600);
	only(LC_FINDING_NEVER_READ);
	sample(OBJECT, at, NULL, 0, 1);
	find();
	assert_int_not_equal(found.list[0].kind, LC_FINDING_NEVER_READ);
}

/* ---- false sharing ---- */

static void lines_that_threads_take_from_each_other_are_a_finding(void **state)
{
	const uint32_t at = objects("long[]", 1, 144);
	const struct lc_finding *f;

	sample(OBJECT, at, "", LC_TOUCH_STORE, 200);
	share(0, at, 0, LC_TOUCH_STORE, 100);
	share(1, at, 8, LC_TOUCH_STORE, 100);
	calculate(300);
	f = only(LC_FINDING_FALSE_SHARING);
	assert_true(fabs(f->share - 0.4) < 1e-9);
	process.cpus = 2;
	only(LC_FINDING_FALSE_SHARING);
}

/* There is no other core that could take a line. */
static void a_process_on_one_cpu_shares_no_line(void **state)
{
	const uint32_t at = objects("long[]", 1, 144);

	sample(OBJECT, at, "", LC_TOUCH_STORE, 200);
	share(0, at, 0, LC_TOUCH_STORE, 100);
	share(1, at, 8, LC_TOUCH_STORE, 100);
	calculate(300);
	process.cpus = 1;
	find();
	for (size_t i = 0; i < found.len; i++)
		assert_int_not_equal(found.list[i].kind, LC_FINDING_FALSE_SHARING);
	assert_true(sharing.one_cpu);
}

/* ---- what dies soon ---- */

static void collections(uint64_t followed, uint64_t incomplete)
{
	json_object_set_new(process.counters, "gc_collected", json_integer((json_int_t)followed));
	json_object_set_new(process.counters, "gc_incomplete",
	                    json_integer((json_int_t)incomplete));
	json_object_set_new(process.counters, "cpu_process_ns", json_integer(5000000000));
	json_object_set_new(process.counters, "cpu_gc_ns", json_integer(1000000000));
}

static bool short_lived(void)
{
	find();
	for (size_t i = 0; i < found.len; i++)
		if (found.list[i].kind == LC_FINDING_SHORT_LIVED)
			return true;
	return false;
}

static void large_arrays_that_no_collection_finds_alive_are_a_finding(void **state)
{
	objects("byte[]", 10000, 10000 * 8208);
	collections(50, 0);
	calculate(1000);
	assert_true(short_lived());
	/* What is forgotten at a collection that could not be followed may live. */
	collections(50, 2);
	assert_false(short_lived());
	collections(LC_FINDING_COLLECTIONS_MIN - 1, 0);
	assert_false(short_lived());
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, an_empty_profile, nothing)

/* ---- findings that one change helps ---- */

static uint32_t strided(const char *class, const char *method)
{
	const uint32_t key[LC_SITE_KEY] = { text(class), line_of(method, MADE) };
	const uint32_t at = lc_table_put(&tree.sites, key);

	lc_table_values(&tree.sites, at)[LC_SITE_ALLOCATIONS] += 1;
	lc_table_values(&tree.sites, at)[LC_SITE_BYTES] += 64 << 20;
	sample_all_over(at, 200);
	walk(at, 4096, 200);
	return at;
}

static void arrays_of_one_method_that_one_change_helps_are_one_finding(void **state)
{
	const struct lc_finding *f;

	strided("long[]", "m");
	strided("double[]", "m");
	calculate(600);
	f = only(LC_FINDING_STRIDE);
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
	calculate(600);
	find();
	assert_int_equal(found.len, 2);
	assert_int_equal(found.list[0].rows_len, 1);
}

static void a_gain_is_of_all_cpu_time_and_samples_are_of_threads(void **state)
{
	const uint32_t array = objects("long[]", 1, 64 << 20);
	const struct lc_finding *f;

	json_object_set_new(process.counters, "cpu_process_ns", json_integer(1000));
	json_object_set_new(process.counters, "cpu_jit_ns", json_integer(500));
	share(1, array, 0, LC_TOUCH_STORE, 200);
	share(2, array, 32, LC_TOUCH_STORE, 200);
	sample(OBJECT, array, "a", LC_TOUCH_STORE, 400);
	calculate(600);
	f = only(LC_FINDING_FALSE_SHARING);
	assert_true(fabs(f->share - 0.4) < 1e-9 && fabs(f->saves.all.share - 0.2) < 1e-9);
	assert_non_null(strstr(f->text, "Accesses alone: up to 1.25x"));
}

static void findings_are_in_the_order_of_what_the_change_saves(void **state)
{
	const uint32_t small = objects("int[]", 1, 64 << 20);

	sample_all_over(site("long[]", 0), 240);
	sample_all_over(small, 200);
	/* The JVM allocates the smaller one for as long. */
	sample_at(LC_BUCKET_JVM, 0, line(MADE), 200);
	calculate(360);
	find();
	assert_int_equal(found.len, 2);
	assert_true(found.list[0].share < found.list[1].share);
	assert_non_null(strstr(found.list[0].text,
	                       " Accesses alone: 1.25x. With what makes, clears, fills, copies "
	                       "and collects it: up to 1.67x ("));
	assert_non_null(strstr(found.list[1].text, " Accesses alone: up to 1.32x ("));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_large_array_is_a_finding_with_its_share_and_interval),
		TEST(a_class_is_one_finding_if_its_lines_are_not_certain),
		TEST(arrays_of_a_class_are_findings_by_line_only),
		TEST(what_nodes_of_a_collection_hold_is_of_their_finding),
		TEST(what_other_objects_refer_to_is_a_finding_of_its_own),
		TEST(too_few_samples_allow_no_verdict),
		TEST(what_is_certainly_no_2_percent_is_none),
		TEST(findings_are_in_the_order_of_what_they_certainly_are),
		TEST(findings_are_in_the_order_of_what_the_change_saves),
		TEST(a_gain_is_of_all_cpu_time_and_samples_are_of_threads),
		TEST(arrays_of_one_method_that_one_change_helps_are_one_finding),
		TEST(arrays_of_two_methods_are_two_findings),
		TEST(of_too_many_the_last_plain_one_goes),
		TEST(an_array_beside_calculations_is_no_finding),
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
		TEST(one_element_of_a_few_is_no_part),
		TEST(what_is_written_and_never_read_is_a_finding),
		TEST(a_few_stores_do_not_say_that_nobody_reads),
		TEST(samples_of_no_known_element_may_be_loads),
		TEST(lines_that_threads_take_from_each_other_are_a_finding),
		TEST(a_process_on_one_cpu_shares_no_line),
		TEST(large_arrays_that_no_collection_finds_alive_are_a_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
