/* uses: analyzer/objects/analysis/own_choice.c analyzer/objects/analysis/own_code.c analyzer/model/program_name.c analyzer/model/frame_filter.c analyzer/model/tree_names.c analyzer/model/tree_lines.c analyzer/model/slices.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/model/tree_spans.c analyzer/out/screen.c analyzer/out/emit.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/format/section.c -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_own_choice.c - checks which classes are the program's own: those of --app, or of packages
 * that the profile tells apart from libraries. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/model/tree_names.h"
#include "analyzer/objects/analysis/own_choice.h"
#include "analyzer/objects/analysis/own_code.h"

static struct lc_tree tree;
static struct lc_load load;
static struct lc_load_process process;

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

static uint32_t reflection(uint32_t parent)
{
	return call(parent, "java.lang.reflect.Method", "invoke");
}

/* The bottom of a thread's stack. */
static uint32_t thread(void)
{
	return call(0, "java.lang.Thread", "run");
}

static void sample(uint32_t path, uint64_t samples)
{
	const uint32_t key[LC_ACCESS_KEY] = { [LC_ACCESS_PATH] = path };

	lc_table_values(&tree.accesses, lc_table_put(&tree.accesses, key))[LC_ACCESS_SAMPLES] +=
	    samples;
}

static int an_empty_profile(void **state)
{
	lc_tree_init(&tree);
	process = (struct lc_load_process){ .command = (char *)"java -jar app.jar" };
	load = (struct lc_load){ .tree = &tree, .processes = &process, .processes_len = 1 };
	return 0;
}

static int nothing(void **state)
{
	lc_tree_free(&tree);
	return 0;
}

static void command(const char *words)
{
	process.command = (char *)(uintptr_t)words;
}

static void expect_text(char *found, const char *wanted)
{
	assert_string_equal(found, wanted);
	free(found);
}

static void expect(const char *patterns)
{
	lc_own_choose(&load, NULL);
	expect_text(lc_own_choice_text(&tree.own, UINT_MAX), patterns);
}

static void the_package_of_the_main_class_is_own_and_what_it_calls_is_not(void **state)
{
	const uint32_t main_path = call(0, "com.acme.shop.Main", "main"),
	               own = call(main_path, "com.acme.store.Store", "find"),
	               leaf = call(call(own, "org.h2.Engine", "run"), "java.util.HashMap", "get");

	command("java -cp app.jar com.acme.shop.Main 12");
	sample(leaf, 90);
	expect("com.acme.*");
	assert_int_equal(lc_own_path(&tree, leaf), own);
}

static void a_library_between_thread_and_own_code_is_not_own(void **state)
{
	const uint32_t netty = call(thread(), "io.netty.EventLoop", "run"),
	               own = call(netty, "com.acme.Handler", "read");

	command("java -cp app.jar com.acme.Main");
	sample(own, 60);
	sample(call(netty, "io.netty.Channel", "flush"), 40);
	expect("com.acme.*");
	assert_int_equal(lc_own_path(&tree, netty), 0);
}

static void threads_of_a_library_that_own_code_calls_are_not_own(void **state)
{
	sample(call(call(0, "com.acme.Main", "main"), "org.h2.Engine", "open"), 70);
	sample(call(thread(), "org.h2.Writer", "run"), 30);
	command("java com.acme.Main");
	expect("com.acme.*");
}

static void another_package_of_threads_is_own_if_it_takes_part_of_the_time(void **state)
{
	sample(call(0, "com.acme.Main", "main"), 60);
	sample(call(thread(), "net.workers.Worker", "run"), 38);
	sample(call(thread(), "net.cleaner.Cleaner", "run"), 2);
	command("java com.acme.Main");
	expect("com.acme.*, net.workers.*");
}

static void the_main_thread_tells_the_main_class_of_a_jar(void **state)
{
	sample(call(call(0, "com.acme.Main", "main"), "org.h2.Engine", "run"), 10);
	expect("com.acme.*");
	assert_string_equal(tree.own.why, "packages of the main class and of threads");
}

static void a_main_method_that_runs_another_one_by_reflection_is_a_launcher(void **state)
{
	const uint32_t starter = call(0, "net.starter.Start", "main"),
	               own = call(reflection(starter), "com.acme.Main", "main");

	command("java -cp start.jar net.starter.Start com.acme.Main");
	sample(starter, 10);
	sample(own, 90);
	expect("com.acme.*");
}

static void known_launchers_are_passed_over(void **state)
{
	const uint32_t boot = call(0, "org.springframework.boot.loader.launch.JarLauncher", "main");

	sample(call(reflection(boot), "com.acme.Shop", "main"), 90);
	expect("com.acme.*");
}

static void threads_of_a_launcher_go_on_with_own_code(void **state)
{
	const uint32_t jmh = call(thread(), "org.openjdk.jmh.runner.BenchmarkTask", "call");

	command("java -cp benchmarks.jar org.openjdk.jmh.runner.ForkedMain");
	sample(call(jmh, "com.acme.generated.Sort_jmhTest", "sort_avgt"), 90);
	expect("com.acme.*");
	assert_string_equal(tree.own.why, "packages that the launcher calls");
}

static void without_code_beyond_the_launcher_all_outside_the_jdk_is_own(void **state)
{
	const uint32_t ruby = call(call(0, "org.jruby.Main", "main"), "org.jruby.RubyHash", "op");

	command("java -cp jruby.jar org.jruby.Main script.rb");
	sample(ruby, 90);
	expect("all outside the JDK");
	assert_int_equal(lc_own_path(&tree, ruby), ruby);
	assert_non_null(strstr(tree.own.why, "launcher"));
}

static void without_a_main_class_all_outside_the_jdk_is_own(void **state)
{
	sample(call(thread(), "org.apache.tomcat.Worker", "run"), 90);
	expect("all outside the JDK");
	assert_string_equal(tree.own.why, "the profile does not tell the main class");
}

static void a_main_class_with_little_of_the_time_does_not_decide(void **state)
{
	sample(call(0, "com.acme.Main", "main"), 5);
	sample(call(call(0, "com.acme.Main", "main"), "org.engine.Engine", "start"), 4);
	sample(call(thread(), "org.engine.Worker", "run"), 91);
	expect("all outside the JDK");
	assert_string_equal(tree.own.why,
	                    "only 9.0% of the samples outside the JDK are in or below com.acme.*");
}

/* A handler of a web server: most of the time is the server's. */
static void a_tenth_of_the_time_is_enough(void **state)
{
	sample(call(call(0, "com.acme.Main", "main"), "org.engine.Engine", "start"), 2);
	sample(call(call(thread(), "org.engine.Worker", "run"), "com.acme.Handler", "get"), 10);
	sample(call(thread(), "org.engine.Worker", "run"), 88);
	expect("com.acme.*");
}

static void names_that_many_projects_share_need_one_more(void **state)
{
	const uint32_t own = call(0, "org.apache.lucene.Index", "main"),
	               library = call(own, "org.apache.commons.io.IO", "copy");

	sample(library, 10);
	expect("org.apache.lucene.*");
	assert_int_equal(lc_own_path(&tree, library), own);
}

static void classes_without_a_package_are_listed(void **state)
{
	const uint32_t own = call(0, "Bench", "main"), lambda = call(own, "Bench$$Lambda", "run");

	sample(call(call(lambda, "Other", "work"), "org.h2.Engine", "run"), 10);
	command("java -cp h2.jar:. Bench");
	expect("Bench, Bench$*, Other");
	assert_int_equal(lc_own_path(&tree, lambda), lambda);
	expect_text(lc_own_choice_text(&tree.own, 20), "Bench and 2 more");
}

static void more_classes_without_a_package_than_can_be_listed_do_not_decide(void **state)
{
	char name[16];

	for (unsigned i = 0; i < 70; i++) {
		snprintf(name, sizeof(name), "a%u", i);
		sample(call(call(0, "Main", "main"), name, "run"), 1);
	}
	expect("all outside the JDK");
	assert_string_equal(tree.own.why, "the program has many classes without a package");
}

static void allocations_tell_if_there_is_no_sample(void **state)
{
	const uint32_t key[LC_SITE_KEY] = { text("byte[]"), call(0, "com.acme.Main", "main") };

	lc_table_put(&tree.sites, key);
	expect("com.acme.*");
}

static void patterns_of_the_user_are_taken_as_they_are(void **state)
{
	struct lc_frame_patterns given = { 0 };
	const uint32_t engine = call(call(0, "com.acme.Main", "main"), "org.h2.Engine", "run"),
	               leaf = call(engine, "java.util.HashMap", "get");

	sample(leaf, 10);
	lc_frame_patterns_add(&given, "org.h2.*");
	lc_frame_patterns_add(&given, "org.none.*");
	lc_own_choose(&load, &given);
	assert_true(tree.own.given && given.list[0].fitted && !given.list[1].fitted);
	assert_int_equal(lc_own_path(&tree, leaf), engine);
	assert_int_equal(lc_own_path(&tree, lc_tree_parent(&tree, engine)), 0);
	expect("org.h2.*, org.none.*"); /* a later call changes nothing */
	free(given.list);
}

/* A main() that does all by one call of a library: the library's lines say more. */
static void a_line_that_half_of_the_samples_are_below_is_not_named(void **state)
{
	const uint32_t main_path = call(0, "com.acme.Main", "main"),
	               engine = call(main_path, "org.h2.Engine", "run"),
	               in_engine = call(engine, "java.util.HashMap", "get"),
	               own = call(call(0, "com.acme.Main", "main"), "com.acme.Store", "find"),
	               in_own = call(own, "java.util.HashMap", "get");

	sample(in_engine, 51);
	sample(in_own, 49);
	lc_own_choose(&load, NULL);
	assert_int_equal(lc_own_path(&tree, in_engine), main_path);
	assert_int_equal(lc_own_telling(&tree, in_engine), engine);
	assert_int_equal(lc_own_telling(&tree, engine), engine);
	assert_int_equal(lc_own_telling(&tree, in_own), own); /* own code calls the JDK itself */
	assert_int_equal(lc_own_telling(&tree, main_path), main_path);
}

static void a_line_with_less_is_named(void **state)
{
	const uint32_t main_path = call(0, "com.acme.Main", "main"),
	               engine = call(main_path, "org.h2.Engine", "run"),
	               other = call(call(0, "com.acme.Main", "load"), "org.h2.Engine", "run");

	sample(engine, 49);
	sample(other, 49);
	sample(0, 2);
	lc_own_choose(&load, NULL);
	assert_int_equal(lc_own_telling(&tree, engine), main_path);
}

static void names_without_packages_keep_what_was_decided(void **state)
{
	struct lc_frame_patterns none = { 0 };
	const uint32_t leaf = call(call(0, "com.acme.Main", "main"), "org.h2.Engine", "run");

	sample(leaf, 10);
	lc_own_choose(&load, NULL);
	lc_tree_rename(&tree, &none, true);
	for (uint32_t i = 0; i < tree.accesses.count; i++) {
		const uint32_t path = lc_table_key(&tree.accesses, i)[LC_ACCESS_PATH],
		               own = lc_own_path(&tree, path);

		assert_int_equal(own, lc_tree_parent(&tree, path));
		assert_int_equal(lc_tree_method(&tree, own)[LC_METHOD_CLASS], text("Main"));
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, an_empty_profile, nothing)
	const struct CMUnitTest tests[] = {
		TEST(the_package_of_the_main_class_is_own_and_what_it_calls_is_not),
		TEST(a_library_between_thread_and_own_code_is_not_own),
		TEST(threads_of_a_library_that_own_code_calls_are_not_own),
		TEST(another_package_of_threads_is_own_if_it_takes_part_of_the_time),
		TEST(the_main_thread_tells_the_main_class_of_a_jar),
		TEST(a_main_method_that_runs_another_one_by_reflection_is_a_launcher),
		TEST(known_launchers_are_passed_over),
		TEST(threads_of_a_launcher_go_on_with_own_code),
		TEST(without_code_beyond_the_launcher_all_outside_the_jdk_is_own),
		TEST(without_a_main_class_all_outside_the_jdk_is_own),
		TEST(a_main_class_with_little_of_the_time_does_not_decide),
		TEST(a_tenth_of_the_time_is_enough),
		TEST(names_that_many_projects_share_need_one_more),
		TEST(classes_without_a_package_are_listed),
		TEST(more_classes_without_a_package_than_can_be_listed_do_not_decide),
		TEST(allocations_tell_if_there_is_no_sample),
		TEST(patterns_of_the_user_are_taken_as_they_are),
		TEST(a_line_that_half_of_the_samples_are_below_is_not_named),
		TEST(a_line_with_less_is_named),
		TEST(names_without_packages_keep_what_was_decided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
