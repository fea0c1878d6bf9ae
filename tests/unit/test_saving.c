/* uses: analyzer/objects/analysis/own_code.c analyzer/objects/analysis/reaches.c analyzer/objects/analysis/saving.c analyzer/objects/analysis/row_set.c analyzer/objects/analysis/cpu_breakdown.c analyzer/objects/analysis/gc_model.c analyzer/objects/analysis/headers.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/sharing.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/numa/numa.c analyzer/numa/numa_diagnose.c analyzer/numa/numa_machine.c analyzer/numa/numa_prose.c analyzer/spans/spans_math.c analyzer/spans/spans_diagnose.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c analyzer/objects/analysis/offheap.c src/base/redact.c -lm -lzstd -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_saving.c - checks which samples count as saved if a row's objects were gone: those of frames
 * that exist only for the objects, each once.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/saving.h"
#include "src/format/kinds.h"

enum { OBJECT = LC_BUCKET_OBJECT, JVM = LC_BUCKET_JVM, TOTAL = 1000 };

static struct lc_tree tree;
static struct lc_load_process process;
static struct lc_load_range range;
static struct lc_load load;
static struct lc_view view;
static struct lc_ranking ranking;

/* ---- a profile ---- */

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

/* A path: its parent, and a frame "class", "method", line. */
static uint32_t below(uint32_t parent, const char *class, const char *method, uint32_t line)
{
	const uint32_t method_key[LC_METHOD_KEY] = { text(class), text(method), text("()V"),
		                                     text("A.java") };
	const uint32_t frame_key[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method_key), line,
		                                   line + 1 };
	const uint32_t path_key[LC_PATH_KEY] = { parent, lc_table_put(&tree.frames, frame_key) };

	return lc_table_put(&tree.paths, path_key);
}

static uint32_t made(const char *class, uint32_t path, uint64_t bytes)
{
	const uint32_t key[LC_SITE_KEY] = { text(class), path };
	const uint32_t site = lc_table_put(&tree.sites, key);

	lc_table_values(&tree.sites, site)[LC_SITE_ALLOCATIONS] += 1;
	lc_table_values(&tree.sites, site)[LC_SITE_BYTES] += bytes;
	return site;
}

static void sample(uint32_t bucket, uint32_t site, uint32_t path, uint64_t samples)
{
	const uint32_t key[LC_ACCESS_KEY] = {
		[LC_ACCESS_BUCKET] = bucket, [LC_ACCESS_SITE] = site, [LC_ACCESS_PATH] = path
	};

	lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, key))[LC_ACCESS_SAMPLES] +=
	    samples;
	tree.buckets[0][bucket] += samples;
}

static void elsewhere(uint32_t site, uint64_t samples)
{
	const uint32_t key[LC_WAIT_KEY] = { [LC_WAIT_BUCKET] = OBJECT,
		                            [LC_WAIT_SITE] = site,
		                            [LC_WAIT_FLAGS] = LC_WAIT_ELSEWHERE };

	*lc_table_values(&tree.waits, lc_table_put(&tree.waits, key)) += samples;
}

static void counter(const char *name, uint64_t value)
{
	json_object_set_new(process.counters, name, json_integer((json_int_t)value));
}

static int a_tree(void **state)
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

static int no_tree(void **state)
{
	lc_ranking_free(&ranking);
	lc_view_free(&view);
	json_decref(process.options);
	json_decref(process.counters);
	lc_tree_free(&tree);
	return 0;
}

/* Fill all samples up to TOTAL with the JVM's, and rank the objects. */
static struct lc_savings *rank(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < LC_BUCKET_COUNT; i++)
		sum += tree.buckets[0][i];
	sample(JVM, 0, below(0, "Main", "idle", 1), TOTAL - sum);
	lc_view_build(&view, &load, 0, LC_SORT_SAMPLES);
	lc_ranking_build(&ranking, &view, LC_GROUP_LINE, NULL);
	return lc_savings_new(&ranking);
}

/* Samples in parts per thousand, after all others were filled up to TOTAL. */
static struct lc_saving saved(const char *const *classes, size_t len, const bool *gone)
{
	const struct lc_rank_row *rows[4] = { 0 };
	struct lc_savings *s = rank();
	struct lc_saving out;

	for (size_t i = 0; i < len; i++)
		for (size_t k = 0; k < ranking.len; k++)
			if (ranking.rows[k].class == text(classes[i]) && !rows[i])
				rows[i] = &ranking.rows[k];
	out = lc_saving_of(s, rows, len, gone);
	lc_savings_free(s);
	return out;
}

static void saves_with(const char *class, const bool *gone, unsigned accesses, unsigned all)
{
	const struct lc_saving s = saved(&class, 1, gone);

	assert_int_equal(lround(TOTAL * s.accesses.share), accesses);
	assert_int_equal(lround(TOTAL * s.all.share), all);
	assert_true(s.accesses.low <= s.accesses.share && s.accesses.share <= s.accesses.high);
	assert_true(s.all.low < s.all.share && s.all.share < s.all.high);
}

static void saves(const char *class, unsigned accesses, unsigned all)
{
	saves_with(class, NULL, accesses, all);
}

/* ---- what counts ---- */

static void the_jvms_work_at_the_allocating_line_counts(void **state)
{
	const uint32_t line = below(below(0, "Main", "main", 1), "Main", "load", 5);
	const uint32_t array = made("byte[]", line, 1000);

	sample(OBJECT, array, line, 200);
	sample(JVM, 0, line, 50);
	sample(LC_BUCKET_NATIVE, 0, line, 30);
	sample(JVM, 0, below(below(0, "Main", "main", 1), "Main", "load", 6), 300);
	saves("byte[]", 200, 280);
}

static void a_line_that_allocates_several_classes_is_divided_by_bytes(void **state)
{
	const uint32_t line = below(0, "Main", "load", 5);

	sample(OBJECT, made("byte[]", line, 3000), line, 200);
	sample(OBJECT, made("int[]", line, 1000), line, 100);
	sample(JVM, 0, line, 80);
	saves("byte[]", 200, 260);
}

static void samples_that_compute_are_not_the_accesses(void **state)
{
	const uint32_t line = below(0, "Main", "load", 5);
	const uint32_t array = made("byte[]", line, 1000);

	sample(OBJECT, array, below(0, "Main", "use", 8), 400);
	elsewhere(array, 300);
	saves("byte[]", 100, 100);
}

static void a_constructor_counts_with_all_that_it_calls(void **state)
{
	const uint32_t line = below(0, "Main", "load", 5);
	const uint32_t init = below(line, "a.Node", "<init>", 12);
	const uint32_t node = made("a.Node", line, 100), other = made("int[]", line, 10000);

	sample(OBJECT, node, init, 100);
	sample(OBJECT, other, below(init, "a.Keys", "hash", 30), 70); /* for the new node */
	sample(OBJECT, other, line, 200);
	/* A subclass's constructor makes another object. */
	sample(OBJECT, other, below(below(line, "a.Large", "<init>", 3), "a.Node", "<init>", 12),
	       60);
	saves("a.Node", 100, 170);
}

static void a_method_that_makes_and_hands_out_counts_as_a_whole(void **state)
{
	const uint32_t caller = below(0, "Main", "main", 1);
	const uint32_t line = below(caller, "Matrix", "column", 5);
	const uint32_t fill = below(caller, "Matrix", "column", 7);
	const uint32_t column = made("double[]", line, 1000);
	const uint32_t rows = made("float[]", below(0, "Main", "load", 3), 1000);

	sample(OBJECT, column, fill, 50);
	sample(OBJECT, rows, fill, 300);
	sample(OBJECT, column, below(caller, "Main", "sum", 9), 100);
	saves("double[]", 150, 450);
}

static void a_method_that_uses_what_it_makes_does_not(void **state)
{
	const uint32_t caller = below(0, "Main", "main", 1);
	const uint32_t line = below(caller, "Main", "sum", 5);
	const uint32_t use = below(caller, "Main", "sum", 7);
	const uint32_t scratch = made("double[]", line, 1000);

	sample(OBJECT, scratch, use, 50);
	sample(OBJECT, made("float[]", below(0, "Main", "load", 3), 1000), use, 300);
	saves("double[]", 50, 50);
}

static void a_method_that_mostly_makes_others_does_not(void **state)
{
	const uint32_t caller = below(0, "Main", "main", 1);
	const uint32_t line = below(caller, "Parser", "parse", 5);
	const uint32_t array = made("double[]", line, 1000);
	const uint32_t text_site = made("char[]", below(line, "Text", "copy", 3), 9000);

	sample(OBJECT, text_site, below(line, "Text", "copy", 4), 300);
	sample(OBJECT, array, below(caller, "Main", "sum", 9), 100);
	saves("double[]", 100, 100);
}

static void the_code_of_a_collection_counts_with_its_nodes_and_comparisons(void **state)
{
	const uint32_t add = below(0, "Main", "add", 5);
	const uint32_t put =
	    below(below(add, "java.util.HashSet", "add", 221), "java.util.HashMap", "put", 610);
	const uint32_t make = below(put, "java.util.HashMap", "newNode", 1901);
	const uint32_t node = made("java.util.HashMap$Node", make, 1000);
	const uint32_t key = made("a.Key", add, 1000);

	sample(OBJECT, node, make, 100);
	sample(JVM, 0, put, 150);
	sample(OBJECT, key, below(put, "java.lang.Integer", "equals", 3), 40);
	sample(OBJECT, key, below(below(put, "a.Key", "hashCode", 3), "a.Key", "mix", 4), 70);
	sample(OBJECT, key, add, 30);
	/* A function for an element, and a comparison that no collection asks for, stay. */
	sample(OBJECT, key, below(put, "a.Main", "lambda$add$0", 6), 20);
	sample(OBJECT, key, below(add, "a.Key", "equals", 7), 10);
	saves("java.util.HashMap$Node", 100, 360);
}

static void nodes_of_what_is_no_collection_are_as_other_objects(void **state)
{
	const uint32_t find = below(0, "Main", "find", 5);
	const uint32_t make = below(below(find, "java.util.regex.Pattern", "compile", 3),
	                            "java.util.regex.Pattern", "expr", 4);

	sample(OBJECT, made("java.util.regex.Pattern$Node", make, 1000), make, 100);
	sample(JVM, 0, below(find, "java.util.regex.Pattern", "matcher", 9), 200);
	saves("java.util.regex.Pattern$Node", 100, 100);
}

static void rows_that_share_a_path_count_its_samples_once(void **state)
{
	static const char *const classes[] = { "java.util.HashMap$Node",
		                               "java.util.HashMap$Node[]" };
	const uint32_t put = below(below(0, "Main", "add", 5), "java.util.HashMap", "put", 610);
	const uint32_t grow = below(put, "java.util.HashMap", "resize", 702);
	struct lc_saving s;

	sample(OBJECT, made("java.util.HashMap$Node", put, 1000), put, 100);
	sample(OBJECT, made("java.util.HashMap$Node[]", grow, 1000), grow, 150);
	sample(JVM, 0, grow, 50);
	s = saved(classes, 2, NULL);
	assert_int_equal(lround(TOTAL * s.accesses.share), 250);
	assert_int_equal(lround(TOTAL * s.all.share), 300);
}

static void the_collectors_time_counts_by_bytes(void **state)
{
	const uint32_t line = below(0, "Main", "load", 5);
	const uint32_t array = made("byte[]", line, 3000);

	made("int[]", below(0, "Main", "load", 6), 1000);
	sample(OBJECT, array, below(0, "Main", "use", 8), 500);
	counter("cpu_process_ns", 1100);
	counter("cpu_gc_ns", 200);
	counter("own_samples_ns", 100); /* is no time of the program */
	/* Java threads have 800 of 1000 ns: half of that, and three quarters of the collector's. */
	saves("byte[]", 400, 550);
}

static void code_that_the_change_does_without_counts(void **state)
{
	const uint32_t line = below(0, "Main", "pay", 5);
	const uint32_t divide = below(line, "java.math.BigDecimal", "divide", 3);
	const uint32_t number =
	    made("java.math.BigDecimal", below(line, "java.math.BigDecimal", "valueOf", 3), 1000);
	bool *gone;

	sample(OBJECT, number, below(line, "Main", "sum", 9), 100);
	sample(JVM, 0, below(divide, "java.util.Arrays", "fill", 3), 200);
	sample(JVM, 0, below(line, "java.util.Arrays", "fill", 3), 50);
	sample(JVM, 0, below(divide, "Main", "round", 12), 70);
	gone = calloc(tree.methods.count + 1, sizeof(*gone)); /* rank() adds one */
	gone[lc_tree_method_number(&tree, divide)] = true;
	saves_with("java.math.BigDecimal", gone, 100, 300);
	free(gone);
}

static void paths_count_with_the_collectors_time_for_what_they_allocate(void **state)
{
	const uint32_t call = below(below(0, "Main", "load", 5), "org.lib.Csv", "read", 7);
	const uint32_t array = made("byte[]", call, 3000);
	struct lc_savings *s;
	struct lc_saving_part part;
	bool *on;

	made("int[]", below(0, "Main", "load", 6), 1000);
	sample(OBJECT, array, call, 250);
	counter("cpu_process_ns", 1500);
	counter("cpu_gc_ns", 200);
	counter("cpu_jit_ns", 500);
	s = rank();
	on = calloc(tree.paths.count, sizeof(*on));
	on[call] = true;
	part = lc_saving_of_paths(s, (struct lc_weighted){ .samples = 250 }, on);
	/* Code that is not called is not compiled: a quarter of 800 of 1000 ns, and three quarters
	 * of 200. */
	assert_int_equal(lround(TOTAL * part.share), 350);
	assert_true(part.low < part.share && part.share < part.high);
	free(on);
	lc_savings_free(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, a_tree, no_tree)
	const struct CMUnitTest tests[] = {
		TEST(the_jvms_work_at_the_allocating_line_counts),
		TEST(a_line_that_allocates_several_classes_is_divided_by_bytes),
		TEST(samples_that_compute_are_not_the_accesses),
		TEST(a_constructor_counts_with_all_that_it_calls),
		TEST(a_method_that_makes_and_hands_out_counts_as_a_whole),
		TEST(a_method_that_uses_what_it_makes_does_not),
		TEST(a_method_that_mostly_makes_others_does_not),
		TEST(the_code_of_a_collection_counts_with_its_nodes_and_comparisons),
		TEST(nodes_of_what_is_no_collection_are_as_other_objects),
		TEST(rows_that_share_a_path_count_its_samples_once),
		TEST(the_collectors_time_counts_by_bytes),
		TEST(code_that_the_change_does_without_counts),
		TEST(paths_count_with_the_collectors_time_for_what_they_allocate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
