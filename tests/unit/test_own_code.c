/* uses: analyzer/objects/analysis/own_code.c analyzer/objects/analysis/roll_up.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/model/tree_spans.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/format/section.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_own_code.c - checks which own frame stands beside a line of the JDK. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/objects/analysis/own_code.h"

static struct lc_tree tree;

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

/* A frame at `number` of Class.method below `parent`. */
static uint32_t call(uint32_t parent, const char *class, const char *method, uint32_t number)
{
	const uint32_t method_key[LC_METHOD_KEY] = { text(class), text(method), text("()V"),
		                                     text("X.java") };
	const uint32_t frame_key[LC_FRAME_KEY] = { lc_table_put(&tree.methods, method_key),
		                                   number + 1, number + 1 };
	const uint32_t path_key[LC_PATH_KEY] = { parent, lc_table_put(&tree.frames, frame_key) };

	return lc_table_put(&tree.paths, path_key);
}

static uint32_t site(uint32_t path)
{
	const uint32_t key[LC_SITE_KEY] = { text("java.lang.Long"), path };

	return lc_table_put(&tree.sites, key);
}

static int a_tree(void **state)
{
	lc_tree_init(&tree);
	site(0); /* site 0 stands for none */
	return 0;
}

static int no_tree(void **state)
{
	lc_tree_free(&tree);
	return 0;
}

static void the_jdk_is_known_by_its_packages(void **state)
{
	static const char *const jdk[] = { "java.util.HashMap$Node", "jdk.internal.misc.Unsafe",
		                           "sun.nio.ch.Net", "com.sun.proxy.$Proxy1", "javax.a.B" };
	static const char *const own[] = { "javaland.Main", "Main", "org.java.Main",
		                           "com.sun.tools.javac.Main", "sunny.A" };

	for (size_t i = 0; i < 5; i++) {
		assert_true(lc_own_is_jdk((struct lc_text){ jdk[i], (uint32_t)strlen(jdk[i]) }));
		assert_false(lc_own_is_jdk((struct lc_text){ own[i], (uint32_t)strlen(own[i]) }));
	}
}

static void the_nearest_frame_outside_the_jdk_is_found(void **state)
{
	const uint32_t outer = call(0, "a.Main", "main", 3),
	               own = call(outer, "a.Main", "load", 12);
	const uint32_t leaf =
	    call(call(own, "java.util.HashMap", "put", 5), "java.lang.Long", "valueOf", 9);

	assert_int_equal(lc_own_path(&tree, leaf), own);
	assert_int_equal(lc_own_path(&tree, own), own);
	assert_int_equal(lc_own_path(&tree, call(0, "java.lang.Thread", "run", 1)), 0);
}

/* The row's label, where the samples were made at `paths`. */
static char *origin(const uint32_t *paths, const uint64_t *samples, size_t len, unsigned columns)
{
	struct lc_rank_part parts[4];
	const struct lc_rank_row row = { .path = paths[0], .parts = parts, .parts_len = len };

	for (size_t i = 0; i < len; i++)
		parts[i] = (struct lc_rank_part){ .from = site(paths[i]), .samples = samples[i] };
	return lc_own_origin(&tree, &row, columns);
}

static void expect(char *found, const char *wanted)
{
	assert_string_equal(found, wanted);
	free(found);
}

static void a_line_of_the_jdk_names_the_frame_that_most_samples_are_below(void **state)
{
	const uint32_t load = call(0, "a.b.Main", "load", 12),
	               other = call(0, "a.b.Main", "other", 20);
	const uint32_t paths[] = { call(load, "java.lang.Long", "valueOf", 9),
		                   call(other, "java.lang.Long", "valueOf", 9) };

	expect(origin(paths, (const uint64_t[]){ 40, 60 }, 2, UINT_MAX),
	       "j.l.Long.valueOf:9 in a.b.Main.other:20");
	expect(origin(paths, (const uint64_t[]){ 60, 40 }, 2, UINT_MAX),
	       "j.l.Long.valueOf:9 in a.b.Main.load:12");
	/* A line of the program needs no other. */
	expect(origin(&load, (const uint64_t[]){ 100 }, 1, UINT_MAX), "a.b.Main.load:12");
}

static void without_an_own_frame_a_library_is_named(void **state)
{
	const uint32_t parse = call(0, "org.lib.Parser", "parse", 30);
	const uint32_t path = call(parse, "java.lang.Long", "valueOf", 9);
	const uint64_t samples = 10;

	lc_table_values(&tree.methods,
	                lc_tree_frame(&tree, parse)[LC_FRAME_METHOD])[LC_METHOD_OWN] =
	    LC_TREE_NOT_OWN;
	expect(origin(&path, &samples, 1, UINT_MAX), "j.l.Long.valueOf:9 in o.l.Parser.parse:30");
	/* A line of the library says enough. */
	expect(origin(&parse, &samples, 1, UINT_MAX), "o.l.Parser.parse:30");
}

static void below_a_common_line_a_library_is_named(void **state)
{
	const uint32_t main_path = call(0, "a.Main", "main", 3),
	               parse = call(main_path, "org.lib.Parser", "parse", 30),
	               box = call(parse, "java.lang.Long", "valueOf", 9);
	const uint64_t samples = 10;

	lc_table_values(&tree.methods,
	                lc_tree_frame(&tree, parse)[LC_FRAME_METHOD])[LC_METHOD_OWN] =
	    LC_TREE_NOT_OWN;
	expect(origin(&parse, &samples, 1, UINT_MAX), "o.l.Parser.parse:30 in a.Main.main:3");
	tree.own.common_method = lc_tree_frame(&tree, main_path)[LC_FRAME_METHOD];
	tree.own.common_line1 = 3 + 1;
	expect(origin(&parse, &samples, 1, UINT_MAX), "o.l.Parser.parse:30");
	expect(origin(&box, &samples, 1, UINT_MAX), "j.l.Long.valueOf:9 in o.l.Parser.parse:30");
}

static void a_frame_without_half_of_the_samples_is_not_named(void **state)
{
	uint32_t paths[3];

	for (uint32_t i = 0; i < 3; i++)
		paths[i] = call(call(0, "a.Main", "load", i), "java.lang.Long", "valueOf", 9);
	expect(origin(paths, (const uint64_t[]){ 33, 34, 33 }, 3, UINT_MAX), "j.l.Long.valueOf:9");
}

static void what_has_no_room_loses_packages_and_then_the_part_of_the_jdk(void **state)
{
	const uint32_t load = call(0, "a.b.Main", "load", 12);
	const uint32_t path = call(load, "java.lang.Long", "valueOf", 9);
	const uint64_t samples = 10;

	expect(origin(&path, &samples, 1, 37), "Long.valueOf:9 in a.b.Main.load:12");
	expect(origin(&path, &samples, 1, 32), "Long.valueOf:9 in Main.load:12");
	expect(origin(&path, &samples, 1, 28), "in Main.load:12");
}

static void accesses_of_other_lines_do_not_count(void **state)
{
	const uint32_t load = call(0, "a.Main", "load", 12), other = call(0, "a.Main", "other", 20);
	const struct lc_rank_access accesses[] = {
		{ call(load, "java.util.HashMap", "getNode", 5), 10 },
		{ call(other, "java.util.HashMap", "getNode", 99), 90 },
	};
	struct lc_arena arena = { 0 };
	size_t len;
	const struct lc_rank_lines *lines = lc_rank_roll_up(&arena, &tree, accesses, 2, &len);

	assert_int_equal(len, 2);
	assert_int_equal(lines[1].samples, 10);
	expect(lc_own_access(&tree, &lines[1], UINT_MAX),
	       "at j.u.HashMap.getNode:5 in a.Main.load:12");
	expect(lc_own_access(&tree, &lines[1], 20), "in Main.load:12");
	lc_arena_free(&arena);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, a_tree, no_tree)
	const struct CMUnitTest tests[] = {
		TEST(the_jdk_is_known_by_its_packages),
		TEST(the_nearest_frame_outside_the_jdk_is_found),
		TEST(a_line_of_the_jdk_names_the_frame_that_most_samples_are_below),
		TEST(without_an_own_frame_a_library_is_named),
		TEST(below_a_common_line_a_library_is_named),
		TEST(a_frame_without_half_of_the_samples_is_not_named),
		TEST(what_has_no_room_loses_packages_and_then_the_part_of_the_jdk),
		TEST(accesses_of_other_lines_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
