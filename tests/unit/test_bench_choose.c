/* uses: analyzer/commands/bench_choose.c analyzer/out/source.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/file.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/format/section.c -lzip */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bench_choose.c - checks which class, method and line a benchmark is made of: of a finding,
 * and where the user names a place, and which samples are the method's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/base/fail.h"
#include "analyzer/commands/bench_choose.h"
#include "src/format/kinds.h"

static struct lc_tree tree;
static struct lc_bench_of of;
static struct lc_bench_place place;
static const struct lc_finding *found; /* that it is of */
static char top[64];

/* ---- a profile, and the sources of org.acme.Index ---- */

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

static uint32_t frame_at(uint32_t parent, const char *class, const char *method, const char *file,
                         uint32_t line, uint32_t bci)
{
	const uint32_t method_key[LC_METHOD_KEY] = { text(class), text(method), text("()V"),
		                                     text(file) };
	const uint32_t frame_key[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method_key), bci + 1,
		                                   line + 1 };
	const uint32_t path_key[LC_PATH_KEY] = { parent, lc_table_put(&tree.frames, frame_key) };

	return lc_table_put(&tree.paths, path_key);
}

static uint32_t frame(uint32_t parent, const char *class, const char *method, uint32_t line)
{
	return frame_at(parent, class, method, "Index.java", line, line);
}

/* A frame of a class that there is no source of. */
static uint32_t library(uint32_t parent, uint32_t line)
{
	return frame_at(parent, "java.util.HashMap", "getNode", "HashMap.java", line, line);
}

static void sample_of(uint32_t engine, uint32_t path, uint64_t samples)
{
	const uint32_t key[LC_ACCESS_KEY] = { [LC_ACCESS_ENGINE] = engine,
		                              [LC_ACCESS_BUCKET] = LC_BUCKET_NO_ADDRESS,
		                              [LC_ACCESS_PATH] = path };

	*lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, key)) += samples;
}

static void sample(uint32_t path, uint64_t samples)
{
	sample_of(0, path, samples);
}

static int a_tree(void **state)
{
	char name[128];
	FILE *out;

	snprintf(top, sizeof(top), "/tmp/locus-bench-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(name, sizeof(name), "%s/org", top);
	assert_int_equal(mkdir(name, 0700), 0);
	snprintf(name, sizeof(name), "%s/org/acme", top);
	assert_int_equal(mkdir(name, 0700), 0);
	snprintf(name, sizeof(name), "%s/org/acme/Index.java", top);
	out = fopen(name, "w");
	assert_non_null(out);
	for (unsigned i = 0; i < 300; i++)
		fputs("\n", out);
	fclose(out);
	lc_tree_init(&tree);
	of = (struct lc_bench_of){ .tree = &tree, .source = lc_source_open(top) };
	return 0;
}

static int nothing(void **state)
{
	char name[128];

	lc_bench_place_free(&place);
	lc_source_close(of.source);
	lc_tree_free(&tree);
	snprintf(name, sizeof(name), "%s/org/acme/Index.java", top);
	unlink(name);
	snprintf(name, sizeof(name), "%s/org/acme", top);
	rmdir(name);
	snprintf(name, sizeof(name), "%s/org", top);
	rmdir(name);
	return rmdir(top);
}

static void look(const char *at)
{
	lc_bench_place_free(&place);
	assert_int_equal(lc_bench_place_parse(&place, at), 0);
	lc_bench_place_look(&place, &of);
}

static void assert_place(const char *class, const char *method, uint32_t line)
{
	assert_string_equal(place.class, class);
	assert_string_equal(place.method, method);
	assert_int_equal(place.line, line);
}

static void assert_lines(size_t len, ...)
{
	va_list args;

	assert_int_equal(place.lines_len, len);
	va_start(args, len);
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(place.lines[i].line, va_arg(args, int));
		assert_int_equal(place.lines[i].samples, va_arg(args, int));
	}
	va_end(args);
}

/* A finding of a row that was accessed on these paths, 10 samples on the first and one less each.
 */
static struct lc_finding finding(const char *words, struct lc_rank_row *row,
                                 struct lc_rank_access *accesses, size_t len)
{
	*row = (struct lc_rank_row){ .accesses = accesses, .accesses_len = len };
	for (size_t i = 0; i < len; i++)
		accesses[i].samples = 10 - i;
	return (struct lc_finding){ .kind = LC_FINDING_HOT, .text = words, .row = row };
}

static bool find(struct lc_finding *list, size_t len)
{
	const struct lc_findings findings = { .list = list, .len = len };

	lc_bench_place_free(&place);
	found = lc_bench_place_find(&place, &of, &findings);
	return found != NULL;
}

/* ---- tests ---- */

static void a_place_is_a_class_with_a_line_or_a_method(void **state)
{
	static const char *const wrong[] = {
		"",          "In dex",    "Index:",     "Index:0",  "Index:x",
		"Index:1x",  "Index#",    ":3",         "#a",       "a/Index:3",
		"Index:3:4", "Index#a:3", "Index:-3",   "Index: 3", "Index:99999999999",
		"Index#a(",  "Index#()",  "Index#a(int"
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(lc_bench_place_parse(&place, wrong[i]), LC_EXIT_USAGE);
		assert_null(place.class);
	}
	assert_int_equal(lc_bench_place_parse(&place, "org.acme.Index$Part:211"), 0);
	assert_place("org.acme.Index$Part", "", 211);
	lc_bench_place_free(&place);
	assert_int_equal(lc_bench_place_parse(&place, "Index#<init>"), 0);
	assert_place("Index", "<init>", 0);
	assert_null(place.parameters);
	lc_bench_place_free(&place);
	assert_int_equal(lc_bench_place_parse(&place, "Index#at(int,java.util.List)"), 0);
	assert_place("Index", "at", 0);
	assert_string_equal(place.parameters, "int,java.util.List");
	lc_bench_place_free(&place);
	assert_int_equal(lc_bench_place_parse(&place, "Index#at()"), 0);
	assert_string_equal(place.parameters, "");
	lc_bench_place_free(&place);
	assert_int_equal(lc_bench_place_parse(&place, "org.acme.Index"), 0);
	assert_place("org.acme.Index", "", 0);
}

static void a_named_line_is_in_the_method_that_has_samples_there(void **state)
{
	const uint32_t main = frame(0, "org.acme.Main", "main", 3);

	sample(frame(main, "org.acme.Index", "search", 210), 5);
	sample(frame(main, "org.acme.Index", "search", 212), 7);
	sample(frame(0, "org.acme.Index", "search", 210), 20);
	sample(frame(main, "org.acme.Index", "other", 30), 9);
	sample_of(1, frame(main, "org.acme.Index", "search", 211), 1000);
	look("org.acme.Index:210");
	assert_place("org.acme.Index", "search", 210);
	assert_lines(2, 210, 25, 212, 7);
	assert_int_equal(place.method_samples, 32);
	assert_string_equal(place.finding, "");
	look("org.acme.Index:211");
	assert_place("org.acme.Index", "", 211);
	assert_int_equal(place.lines_len, 0);
	assert_int_equal(place.method_samples, 0);
}

static void a_line_of_a_class_inside_the_named_one_is_found(void **state)
{
	sample(frame(0, "org.acme.Index$Part", "add", 40), 5);
	sample(frame(0, "org.acme.Indexer", "add", 41), 50);
	look("org.acme.Index:40");
	assert_place("org.acme.Index$Part", "add", 40);
	look("org.acme.Index:41");
	assert_place("org.acme.Index", "", 41);
}

static void a_named_method_has_the_samples_of_all_of_that_name(void **state)
{
	sample(frame(0, "org.acme.Index", "search", 10), 5);
	sample(frame_at(0, "org.acme.Index", "search", "Index2.java", 90, 1), 6);
	sample(frame(0, "org.acme.Index", "searches", 11), 50);
	look("org.acme.Index#search");
	assert_place("org.acme.Index", "search", 0);
	assert_lines(2, 10, 5, 90, 6);
}

static void samples_in_a_library_are_of_the_line_that_calls_it(void **state)
{
	const uint32_t search = frame(0, "org.acme.Index", "search", 10);

	sample(library(library(search, 500), 501), 30);
	sample(library(frame(0, "org.acme.Index", "search", 11), 500), 3);
	sample(library(0, 500), 100);
	look("org.acme.Index#search");
	assert_lines(2, 10, 30, 11, 3);
}

static void a_named_class_needs_no_source_to_have_its_samples(void **state)
{
	sample(library(frame(0, "org.acme.Index", "search", 10), 500), 30);
	look("java.util.HashMap:500");
	assert_place("java.util.HashMap", "getNode", 500);
	assert_int_equal(place.method_samples, 30);
}

static void a_method_has_its_samples_without_a_line_too(void **state)
{
	const uint32_t none = UINT32_MAX; /* line + 1 is 0: not known */

	sample(frame(0, "org.acme.Index", "search", 10), 5);
	sample(frame_at(0, "org.acme.Index", "search", "Index.java", none, 0), 4);
	look("org.acme.Index:10");
	assert_lines(1, 10, 5);
	assert_int_equal(place.method_samples, 9);
}

static void samples_of_methods_that_a_line_calls_are_theirs(void **state)
{
	const uint32_t outer = frame(0, "org.acme.Index", "search", 210);
	const uint32_t inner = frame(outer, "org.acme.Index", "search", 211); /* recursion */

	sample(outer, 3);
	sample(frame(outer, "org.acme.Index", "match", 250), 5);
	sample(frame(inner, "org.acme.Index", "match", 250), 7);
	look("org.acme.Index#search");
	assert_lines(1, 210, 3);
	assert_int_equal(place.method_samples, 3);
}

static void a_finding_leads_to_its_hottest_line(void **state)
{
	const uint32_t a = frame_at(0, "org.acme.Index", "search", "Index.java", 20, 1);
	const uint32_t b = frame_at(0, "org.acme.Index", "search", "Index.java", 21, 2);
	const uint32_t c = frame_at(0, "org.acme.Index", "search", "Index.java", 21, 3);
	struct lc_rank_access accesses[] = { { .path = a }, { .path = b }, { .path = c } };
	struct lc_rank_row row;
	struct lc_finding f = finding("hot", &row, accesses, 3);

	sample(a, 100);
	sample(b, 9);
	assert_true(find(&f, 1));
	assert_place("org.acme.Index", "search", 21);
	assert_lines(2, 20, 100, 21, 9);
	assert_string_equal(place.finding, "hot");
}

static void a_finding_without_source_or_row_is_passed_over(void **state)
{
	struct lc_rank_access far[] = { { .path = library(0, 500) }, { .path = 0 } };
	struct lc_rank_access near[] = { { .path = library(0, 500) },
		                         { .path = library(frame(0, "org.acme.Index", "search", 22),
		                                           501) } };
	struct lc_rank_row rows[2];
	struct lc_finding list[] = { { .text = "threads" },
		                     finding("far", &rows[0], far, 2),
		                     finding("near", &rows[1], near, 2) };

	assert_false(find(list, 2));
	assert_null(place.class);
	assert_true(find(list, 3));
	assert_place("org.acme.Index", "search", 22);
	assert_string_equal(place.finding, "near");
	assert_ptr_equal(found, &list[2]);
}

static void a_line_that_its_source_does_not_have_is_not_its(void **state)
{
	struct lc_rank_access accesses[] = { { .path = frame(0, "org.acme.Index", "a", 301) },
		                             { .path = frame(0, "org.acme.Index", "b", 300) } };
	struct lc_rank_row row;
	struct lc_finding f = finding("hot", &row, accesses, 2);

	assert_true(find(&f, 1));
	assert_place("org.acme.Index", "b", 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_place_is_a_class_with_a_line_or_a_method, a_tree,
		                                nothing),
		cmocka_unit_test_setup_teardown(
		    a_named_line_is_in_the_method_that_has_samples_there, a_tree, nothing),
		cmocka_unit_test_setup_teardown(a_line_of_a_class_inside_the_named_one_is_found,
		                                a_tree, nothing),
		cmocka_unit_test_setup_teardown(a_named_method_has_the_samples_of_all_of_that_name,
		                                a_tree, nothing),
		cmocka_unit_test_setup_teardown(samples_in_a_library_are_of_the_line_that_calls_it,
		                                a_tree, nothing),
		cmocka_unit_test_setup_teardown(a_named_class_needs_no_source_to_have_its_samples,
		                                a_tree, nothing),
		cmocka_unit_test_setup_teardown(a_method_has_its_samples_without_a_line_too, a_tree,
		                                nothing),
		cmocka_unit_test_setup_teardown(samples_of_methods_that_a_line_calls_are_theirs,
		                                a_tree, nothing),
		cmocka_unit_test_setup_teardown(a_finding_leads_to_its_hottest_line, a_tree,
		                                nothing),
		cmocka_unit_test_setup_teardown(a_finding_without_source_or_row_is_passed_over,
		                                a_tree, nothing),
		cmocka_unit_test_setup_teardown(a_line_that_its_source_does_not_have_is_not_its,
		                                a_tree, nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
