/* uses: analyzer/objects/analysis/waiters.c analyzer/objects/analysis/waiters_below.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c analyzer/objects/analysis/offheap.c src/base/redact.c -lm -lzstd -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_waiters.c - checks that samples and bytes go to the nearest own method, that none is lost,
 * and which calls below a method are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/model/load.h"
#include "analyzer/objects/analysis/waiters.h"
#include "src/format/kinds.h"

static struct lc_tree tree;
static struct lc_load load;
static struct lc_load_range range;
static struct lc_view view;
static struct lc_waiters waiters;

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

/* A frame of class.method below `parent`. */
static uint32_t call(uint32_t parent, const char *class, const char *method)
{
	const uint32_t method_key[LC_METHOD_KEY] = { text(class), text(method), text("()V"),
		                                     text("X.java") };
	const uint32_t frame_key[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method_key), 1, 1 };
	const uint32_t path_key[LC_PATH_KEY] = { parent, lc_table_put(&tree.frames, frame_key) };

	return lc_table_put(&tree.paths, path_key);
}

/* A site of a class at a path, which has allocated so many bytes. */
static uint32_t site(const char *class, uint32_t path, uint64_t bytes)
{
	const uint32_t key[LC_SITE_KEY] = { text(class), path };
	const uint32_t at = lc_table_put(&tree.sites, key);

	lc_table_values(&tree.sites, at)[LC_SITE_ALLOCATIONS] += bytes ? 1 : 0;
	lc_table_values(&tree.sites, at)[LC_SITE_BYTES] += bytes;
	return at;
}

static void sample(uint32_t bucket, uint32_t at, uint32_t path, uint64_t samples)
{
	const uint32_t key[LC_ACCESS_KEY] = {
		[LC_ACCESS_BUCKET] = bucket, [LC_ACCESS_SITE] = at, [LC_ACCESS_PATH] = path
	};

	lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, key))[LC_ACCESS_SAMPLES] +=
	    samples;
	tree.buckets[0][bucket] += samples;
}

static int an_empty_profile(void **state)
{
	lc_tree_init(&tree);
	load = (struct lc_load){ .tree = &tree, .range = &range, .engines_len = 1 };
	load.engines[0] = (struct lc_load_engine){ .name = (char *)"timer",
		                                   .unit = (char *)"ns of CPU time",
		                                   .interval_ns = 5000000 };
	site("", 0, 0); /* site 0 stands for none */
	return 0;
}

static int nothing(void **state)
{
	lc_waiters_free(&waiters);
	lc_view_free(&view);
	lc_tree_free(&tree);
	view = (struct lc_view){ 0 };
	return 0;
}

static void build(void)
{
	lc_view_build(&view, &load, 0, LC_SORT_SAMPLES);
	lc_waiters_build(&waiters, &view);
}

static void assert_method(size_t i, const char *name)
{
	const uint32_t *key = lc_table_key(&tree.methods, waiters.list[i].method);

	assert_int_equal(key[LC_METHOD_NAME], text(name));
}

static void samples_go_to_the_nearest_frame_outside_the_jdk(void **state)
{
	const uint32_t outer = call(0, "a.Main", "main"), load_it = call(outer, "a.Main", "load");
	const uint32_t leaf =
	    call(call(load_it, "java.util.HashMap", "get"), "java.util.HashMap", "getNode");
	const uint32_t node = site("java.util.HashMap$Node", leaf, 0);
	const uint32_t table = site("java.util.HashMap$Node[]", leaf, 0);

	sample(LC_BUCKET_OBJECT, node, leaf, 30);
	sample(LC_BUCKET_OBJECT, table, leaf, 10);
	sample(LC_BUCKET_OBJECT, node, load_it, 5); /* the same method by itself */
	sample(LC_BUCKET_JVM, 0, load_it, 15);      /* at no object */
	sample(LC_BUCKET_OBJECT, node, outer, 20);
	sample(LC_BUCKET_NATIVE, 0, call(0, "java.lang.Thread", "run"), 7);
	sample(LC_BUCKET_NATIVE, 0, 0, 3); /* without a path */
	build();
	assert_int_equal(waiters.len, 2);
	assert_method(0, "load");
	assert_int_equal(waiters.list[0].samples, 60);
	assert_int_equal(waiters.list[0].classes_len, 2);
	assert_int_equal(waiters.list[0].classes[0].samples, 35);
	assert_int_equal(waiters.list[0].classes[0].class, text("java.util.HashMap$Node"));
	assert_int_equal(waiters.list[0].classes[1].samples, 10);
	assert_int_equal(waiters.list[1].samples, 20);
	assert_int_equal(waiters.elsewhere, 10);
	assert_int_equal(view.total, 60 + 20 + 10);
	assert_true(waiters.list[0].low < 60.0 / 90 && waiters.list[0].high > 60.0 / 90);
}

static void bytes_go_there_too_and_need_no_sample(void **state)
{
	const uint32_t outer = call(0, "a.Main", "main"), make = call(outer, "a.Main", "make");

	site("byte[]", call(make, "java.util.Arrays", "copyOf"), 4000);
	site("byte[]", make, 1000);
	site("int[]", call(0, "java.lang.Thread", "run"), 500); /* nobody's */
	sample(LC_BUCKET_OBJECT, site("int[]", outer, 100), outer, 10);
	build();
	assert_int_equal(waiters.len, 2);
	assert_method(0, "main");
	assert_true(waiters.list[0].bytes == 100 && waiters.list[1].bytes == 5000);
	assert_int_equal(waiters.list[1].samples, 0);
	assert_true(waiters.bytes == 5600);
}

/* The method belongs to a library, although it is not the JDK's. */
static uint32_t library(uint32_t parent, const char *method)
{
	const uint32_t path = call(parent, "org.lib.Library", method);
	const uint32_t *frame = lc_table_key(&tree.frames, lc_table_key(&tree.paths, path)[1]);

	lc_table_values(&tree.methods, frame[LC_FRAME_METHOD])[LC_METHOD_OWN] = LC_TREE_NOT_OWN;
	return path;
}

static void assert_below(size_t i, const char *name, uint64_t samples)
{
	const struct lc_waiter *m = &waiters.list[0].below[i];

	assert_int_equal(lc_table_key(&tree.methods, m->method)[LC_METHOD_NAME], text(name));
	assert_int_equal(m->samples, samples);
}

/* main() -> run() -> turn(), which calls parse() -> scan() and write(). */
static void the_calls_of_a_method_with_most_samples_are_told(void **state)
{
	const uint32_t outer = call(0, "a.Main", "main");
	const uint32_t turn = library(library(outer, "run"), "turn");
	const uint32_t parse =
	    library(library(call(turn, "java.util.List", "forEach"), "parse"), "parse");
	const uint32_t scan = library(parse, "scan"), write = library(turn, "write");
	const uint32_t node = site("org.lib.Node", parse, 3000);

	sample(LC_BUCKET_OBJECT, node, call(scan, "java.lang.String", "charAt"), 30);
	sample(LC_BUCKET_JVM, 0, scan, 20);
	sample(LC_BUCKET_OBJECT, node, parse, 5);
	sample(LC_BUCKET_OBJECT, node, write, 30);
	sample(LC_BUCKET_OBJECT, node, library(turn, "log"), 4); /* too few */
	sample(LC_BUCKET_OBJECT, node, turn, 6);
	sample(LC_BUCKET_OBJECT, node, call(0, "a.Other", "run"), 5);
	build();
	assert_method(0, "main");
	assert_int_equal(waiters.list[0].samples, 95);
	assert_int_equal(waiters.list[0].below_len, 2);
	assert_below(0, "scan", 55 - 5);
	assert_below(1, "write", 30);
	assert_int_equal(waiters.list[0].below[0].classes[0].samples, 30);
	assert_int_equal(waiters.list[1].below_len, 0);
}

/* Without a division, the deepest method with most of the time is the one. */
static void a_chain_of_calls_is_its_last_one(void **state)
{
	const uint32_t outer = call(0, "a.Main", "main");
	const uint32_t prepare = library(library(outer, "query"), "prepare");
	const uint32_t site_there =
	    site("byte[]", call(prepare, "java.util.Arrays", "copyOf"), 900);

	sample(LC_BUCKET_JVM, 0, prepare, 85);
	sample(LC_BUCKET_OBJECT, site_there, outer, 10);
	for (uint32_t i = 0; i < 5; i++)
		sample(LC_BUCKET_JVM, 0, library(prepare, (const char[]){ (char)('a' + i), 0 }), 1);
	build();
	assert_int_equal(waiters.list[0].below_len, 1);
	assert_below(0, "prepare", 90);
	assert_true(waiters.list[0].below[0].bytes == 900);
}

/* Samples without an own frame go to libraries' methods: with own ones they are all. */
static void what_only_libraries_do_is_told_apart(void **state)
{
	const uint32_t outer = call(0, "a.Main", "main");
	const uint32_t poll = library(call(0, "java.lang.Thread", "run"), "poll");

	sample(LC_BUCKET_JVM, 0, library(outer, "run"), 30);
	sample(LC_BUCKET_OBJECT, site("byte[]", poll, 700), call(poll, "java.util.Arrays", "fill"),
	       50);
	sample(LC_BUCKET_JVM, 0, call(0, "java.lang.Thread", "run"), 20);
	build();
	assert_int_equal(waiters.len, 1);
	assert_int_equal(waiters.elsewhere, 70);
	assert_int_equal(waiters.others_len, 1);
	assert_int_equal(lc_table_key(&tree.methods, waiters.others[0].method)[LC_METHOD_NAME],
	                 text("poll"));
	assert_int_equal(waiters.others[0].samples, 50);
	assert_true(waiters.others[0].bytes == 700);
}

static void an_own_method_that_does_the_work_itself_calls_nothing(void **state)
{
	const uint32_t outer = call(0, "a.Main", "main");

	sample(LC_BUCKET_JVM, 0, outer, 90);
	sample(LC_BUCKET_JVM, 0, call(outer, "java.util.HashMap", "get"), 10);
	build();
	assert_int_equal(waiters.list[0].below_len, 0);
}

static void a_profile_without_samples_has_none(void **state)
{
	build();
	assert_int_equal(waiters.len, 0);
	assert_int_equal(waiters.elsewhere, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, an_empty_profile, nothing)
	const struct CMUnitTest tests[] = {
		TEST(samples_go_to_the_nearest_frame_outside_the_jdk),
		TEST(bytes_go_there_too_and_need_no_sample),
		TEST(the_calls_of_a_method_with_most_samples_are_told),
		TEST(a_chain_of_calls_is_its_last_one),
		TEST(what_only_libraries_do_is_told_apart),
		TEST(an_own_method_that_does_the_work_itself_calls_nothing),
		TEST(a_profile_without_samples_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
