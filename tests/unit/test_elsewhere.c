/* uses: analyzer/objects/text/report_elsewhere.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/model/tree_spans.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/format/section.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_elsewhere.c - checks how samples that are at no object are divided, and when the first
 * screen says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/text/report_elsewhere.h"

/* enum lc_where and enum lc_how of the agent, as docs/FORMAT.md has them. */
enum { COMPILED, STUB, INTERPRETER, JVM_CODE, NATIVE_CODE };
enum { DIRECT, NEARBY, BASE, TRAP, NO_OPERAND, DESTROYED, UNDECODED, NOT_JAVA };

static struct lc_tree tree;
static struct lc_view view;

static int a_view(void **state)
{
	lc_tree_init(&tree);
	view = (struct lc_view){
		.tree = &tree,
	};
	return 0;
}

static int nothing(void **state)
{
	lc_tree_free(&tree);
	return 0;
}

static void sample(unsigned bucket, unsigned where, unsigned how, uint64_t samples)
{
	view.buckets[bucket] += samples;
	view.details[where][how] += samples;
	view.total += samples;
}

static void samples_of_all_kinds(void)
{
	sample(LC_BUCKET_OBJECT, COMPILED, DIRECT, 100);
	sample(LC_BUCKET_OBJECT, JVM_CODE, BASE, 50); /* a copy of an array by the JVM */
	sample(LC_BUCKET_JVM, INTERPRETER, NOT_JAVA, 300);
	sample(LC_BUCKET_JVM, JVM_CODE, NOT_JAVA, 200);
	sample(LC_BUCKET_JVM, COMPILED, DIRECT, 70);
	sample(LC_BUCKET_NATIVE, NATIVE_CODE, NOT_JAVA, 110);
	sample(LC_BUCKET_NATIVE, COMPILED, DIRECT, 60);
	sample(LC_BUCKET_NO_ADDRESS, STUB, NO_OPERAND, 40);
	sample(LC_BUCKET_NO_ADDRESS, COMPILED, UNDECODED, 9);
	sample(LC_BUCKET_HEAP_UNKNOWN, COMPILED, DIRECT, 8);
}

static void each_sample_is_in_one_part(void **state)
{
	static const uint64_t wanted[LC_ELSEWHERE_COUNT] = { 300, 200, 110, 70, 60, 40, 9 + 8 };
	uint64_t parts[LC_ELSEWHERE_COUNT];

	samples_of_all_kinds();
	lc_report_elsewhere_divide(&view, parts);
	assert_memory_equal(parts, wanted, sizeof(parts));
}

static void without_details_buckets_tell(void **state)
{
	static const uint64_t wanted[LC_ELSEWHERE_COUNT] = { 0, 0, 0, 570, 170, 0, 57 };
	uint64_t parts[LC_ELSEWHERE_COUNT];

	samples_of_all_kinds();
	memset(view.details, 0, sizeof(view.details));
	lc_report_elsewhere_divide(&view, parts);
	assert_memory_equal(parts, wanted, sizeof(parts));
}

static void details_of_a_damaged_profile_give_no_more_than_there_is(void **state)
{
	uint64_t parts[LC_ELSEWHERE_COUNT], sum = 0;

	sample(LC_BUCKET_JVM, INTERPRETER, NOT_JAVA, 30);
	view.details[INTERPRETER][NOT_JAVA] = 1000;
	lc_report_elsewhere_divide(&view, parts);
	for (unsigned i = 0; i < LC_ELSEWHERE_COUNT; i++)
		sum += parts[i];
	assert_int_equal(sum, 30);
}

static uint32_t call(uint32_t parent, const char *class)
{
	const uint32_t method[LC_METHOD_KEY] = { lc_tree_string(&tree, class, strlen(class)) };
	const uint32_t frame[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method) };
	const uint32_t path[LC_PATH_KEY] = { parent, lc_table_put(&tree.frames, frame) };

	return lc_table_put(&tree.paths, path);
}

static void samples_below_a_class_loader_load_classes(void **state)
{
	const uint32_t main_path = call(0, "a.Main"),
	               loader = call(main_path, "java.lang.ClassLoader"),
	               below = call(call(loader, "jdk.internal.loader.URLClassPath"),
	                            "java.util.HashMap");
	struct lc_view_access accesses[] = {
		{ .bucket = LC_BUCKET_JVM, .path = main_path, .samples = 1 },
		{ .bucket = LC_BUCKET_JVM, .path = below, .samples = 10 },
		{ .bucket = LC_BUCKET_NATIVE, .path = loader, .samples = 100 },
		{ .bucket = LC_BUCKET_OBJECT, .path = below, .samples = 1000 },
	};

	view.accesses = accesses;
	view.accesses_len = 4;
	assert_int_equal(lc_report_elsewhere_loading(&view), 110);
}

/* The line of the first screen, if so many samples are in objects. */
static char *line(uint64_t in_objects)
{
	const struct lc_ranking ranking = { .view = &view, .in_objects = { in_objects, 0 } };
	const struct lc_report report = { .view = &view, .ranking = &ranking };
	struct lc_screen s = { .width = 200 };
	char *text;
	size_t len;

	s.out = lc_text_open(&text, &len);
	lc_report_elsewhere(&s, &report);
	lc_mem_close_text(s.out);
	return text;
}

static void the_line_is_there_only_if_most_samples_are_elsewhere(void **state)
{
	char *text;

	samples_of_all_kinds();
	text = line(150);
	assert_string_equal(text, "84.2% are elsewhere: interpreter 32%, libjvm 21%, native code "
	                          "12%, stack or JVM memory 7%; --since leaves the warm-up out\n");
	free(text);
	view.buckets[LC_BUCKET_OBJECT] += 1000;
	view.total += 1000;
	text = line(1150);
	assert_string_equal(text, "");
	free(text);
}

static void too_few_samples_for_a_finding_are_too_few_for_the_line(void **state)
{
	char *text;

	sample(LC_BUCKET_JVM, INTERPRETER, NOT_JAVA, 10);
	text = line(0);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, a_view, nothing)
	const struct CMUnitTest tests[] = {
		TEST(each_sample_is_in_one_part),
		TEST(without_details_buckets_tell),
		TEST(details_of_a_damaged_profile_give_no_more_than_there_is),
		TEST(samples_below_a_class_loader_load_classes),
		TEST(the_line_is_there_only_if_most_samples_are_elsewhere),
		TEST(too_few_samples_for_a_finding_are_too_few_for_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
