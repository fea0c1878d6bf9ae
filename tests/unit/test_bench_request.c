/* uses: analyzer/commands/bench_program.c analyzer/commands/bench_options.c analyzer/commands/bench_request.c analyzer/out/json.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bench_request.c - checks what is read of a program's command for its benchmark, and the
 * request that is written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "analyzer/commands/bench_request.h"
#include "analyzer/model/load.h"

static struct lc_bench_program program;
static bool trusted;
static json_t *arguments;
static char lib[64];

static int a_directory_of_jars(void **state)
{
	static const char *const files[] = { "b.jar", "a.JAR", "c.jar.old", "d.zip" };
	char name[128];
	FILE *out;

	snprintf(lib, sizeof(lib), "/tmp/locus-[lib]-XXXXXX");
	assert_non_null(mkdtemp(lib));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(name, sizeof(name), "%s/%s", lib, files[i]);
		out = fopen(name, "w");
		assert_non_null(out);
		fclose(out);
	}
	return 0;
}

static int nothing(void **state)
{
	static const char *const files[] = { "b.jar", "a.JAR", "c.jar.old", "d.zip" };
	char name[128];

	lc_bench_program_free(&program);
	program = (struct lc_bench_program){ 0 };
	json_decref(arguments);
	arguments = NULL;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(name, sizeof(name), "%s/%s", lib, files[i]);
		unlink(name);
	}
	return rmdir(lib);
}

/* The program of a profile: words up to NULL, started in /app. */
static void start(const char *word, ...)
{
	struct lc_load_process process = { .command = (char *)"java of/long ago",
		                           .directory = (char *)"/app",
		                           .gc = (char *)"G1" };
	va_list args;

	lc_bench_program_free(&program);
	json_decref(arguments);
	arguments = json_array();
	va_start(args, word);
	for (; word; word = va_arg(args, const char *))
		json_array_append_new(arguments, json_string(word));
	va_end(args);
	process.arguments = arguments;
	lc_bench_program_read(&program, &process, "/here", trusted);
}

static void assert_words(const struct lc_bench_words *words, ...)
{
	const char *word;
	va_list args;
	size_t i = 0;

	va_start(args, words);
	while ((word = va_arg(args, const char *))) {
		assert_true(i < words->len);
		assert_string_equal(words->list[i++], word);
	}
	va_end(args);
	assert_int_equal(words->len, i);
}

static void the_class_path_is_the_last_one_named_and_absolute(void **state)
{
	start("java", "-cp", "x", "-classpath", "a.jar::/b.jar", "Main", "-cp", "y", NULL);
	assert_words(&program.class_path, "/app/a.jar", "/b.jar", NULL);
	start("java", "--class-path=c d", "--add-opens", "-jar", "Main", NULL);
	assert_words(&program.class_path, "/app/c d", NULL);
	start("java", "-cp", "x", "-Xmx1g", "-jar", "app.jar", "-cp", "y", NULL);
	assert_words(&program.class_path, "/app/app.jar", NULL);
	start("java", "-Xint", "Main", NULL);
	assert_words(&program.class_path, "/app/.", NULL);
	start("java", "@options", "Main", NULL);
	assert_words(&program.class_path, NULL);
	assert_true(program.argument_files);
}

static void a_star_stands_for_the_jars_of_a_directory(void **state)
{
	struct lc_bench_words words = { 0 };
	char path[128], a[128], b[128];

	snprintf(path, sizeof(path), "/x.jar:%s/*", lib);
	snprintf(a, sizeof(a), "%s/a.JAR", lib);
	snprintf(b, sizeof(b), "%s/b.jar", lib);
	lc_bench_words_path(&words, path, "/app", true);
	assert_words(&words, "/x.jar", a, b, NULL);
	lc_bench_words_free(&words);
	lc_bench_words_path(&words, "*", lib, true);
	assert_words(&words, a, b, NULL);
	lc_bench_words_free(&words);
	lc_bench_words_path(&words, "src/*", "/app", false);
	assert_words(&words, "/app/src/*", NULL);
	lc_bench_words_free(&words);
	start("java", "-p", lib, "-m", "m/Main", "-cp", "x", NULL);
	assert_words(&program.class_path, lib, a, b, NULL);
}

static void options_that_change_speed_are_the_benchmarks_too(void **state)
{
	start("java", "-Xmx512m", "-XX:+UseZGC", "-ea", "--add-opens",
	      "java.base/java.util=ALL-UNNAMED", "--enable-preview", "-Dx=y",
	      "-XX:MaxInlineLevel=20", "-server", "Main", "-Xmx1g", NULL);
	assert_words(&program.jvm_options, "-Xmx512m", "-XX:+UseZGC", "-ea",
	             "--add-opens=java.base/java.util=ALL-UNNAMED", "--enable-preview",
	             "-XX:MaxInlineLevel=20", NULL);
}

static void agents_and_files_are_the_programs_alone(void **state)
{
	start("java", "-javaagent:a.jar", "-agentlib:jdwp=x", "-agentpath:/x.so", "-Xrunjdwp:x",
	      "-Xlog:gc:file=gc.log", "-XX:+HeapDumpOnOutOfMemoryError", "-XX:HeapDumpPath=/x",
	      "-XX:OnOutOfMemoryError=kill", "-XX:StartFlightRecording:filename=x",
	      "-XX:+PrintCompilation", "-XX:+UseSerialGC", "-jar", "a.jar", NULL);
	assert_words(&program.jvm_options, "-XX:+UseSerialGC", NULL);
	assert_words(&program.run, "java", "-XX:+UseSerialGC", "-jar", "a.jar", NULL);
}

static void a_dropped_option_takes_its_value_with_it(void **state)
{
	start("java", "--patch-module", "m=/x", "@file", "-Da=b", "-cp", "x", "Main", "@y", NULL);
	assert_words(&program.dropped, "--patch-module=m=/x", "@file", NULL);
	assert_words(&program.run, "java", "-Da=b", "-cp", "x", "Main", "@y", NULL);
	trusted = true;
	start("java", "--patch-module", "m=/x", "@file", "-Da=b", "-cp", "x", "Main", "@y", NULL);
	trusted = false;
	assert_words(&program.dropped, NULL);
	assert_words(&program.run, "java", "--patch-module", "m=/x", "@file", "-Da=b", "-cp", "x",
	             "Main", "@y", NULL);
	assert_words(&program.jvm_options, "--patch-module=m=/x", "-XX:+UseG1GC", NULL);
}

static void the_users_own_command_is_taken_as_it_is(void **state)
{
	char *command[] = { (char *)"java", (char *)"-javaagent:a.jar", (char *)"Main", NULL };
	char *script[] = { (char *)"sh", (char *)"start", NULL };

	lc_bench_program_free(&program);
	assert_int_equal(unsetenv("CLASSPATH"), 0);
	lc_bench_program_command(&program, command, "/here");
	assert_words(&program.words, "java", "-javaagent:a.jar", "Main", NULL);
	assert_words(&program.dropped, NULL);
	assert_words(&program.class_path, "/here/.", NULL);
	lc_bench_program_free(&program);
	assert_int_equal(setenv("CLASSPATH", "a:/b", 1), 0);
	lc_bench_program_command(&program, command, "/here");
	assert_words(&program.class_path, "/here/a", "/b", NULL);
	lc_bench_program_free(&program);
	lc_bench_program_command(&program, script, "/here");
	assert_words(&program.class_path, NULL);
}

static void the_collector_that_the_jvm_chose_is_named(void **state)
{
	start("java", "-Xmx1g", "-XX:+UseStringDeduplication", "Main", NULL);
	assert_words(&program.jvm_options, "-Xmx1g", "-XX:+UseStringDeduplication", "-XX:+UseG1GC",
	             NULL);
}

static void an_older_profile_has_the_words_between_spaces(void **state)
{
	const struct lc_load_process process = { .command = (char *)"/jdk/bin/java  -cp a b",
		                                 .directory = (char *)"",
		                                 .gc = (char *)"unknown" };

	lc_bench_program_read(&program, &process, "/here", false);
	assert_true(program.split);
	assert_words(&program.words, "/jdk/bin/java", "-cp", "a", "b", NULL);
	assert_string_equal(program.directory, "/here");
	assert_words(&program.class_path, "/here/a", NULL);
	assert_words(&program.jvm_options, NULL);
	lc_bench_program_free(&program);
	lc_bench_program_read(&program,
	                      &(struct lc_load_process){ .command = (char *)"",
	                                                 .directory = (char *)"",
	                                                 .gc = (char *)"" },
	                      "/here", false);
	assert_false(program.split);
	assert_words(&program.words, NULL);
	assert_words(&program.class_path, NULL);
}

static void words_with_spaces_stay_one(void **state)
{
	start("java", "-cp", "a b", "Main", "", "c \"d\"", NULL);
	assert_false(program.split);
	assert_words(&program.words, "java", "-cp", "a b", "Main", "", "c \"d\"", NULL);
}

static void the_request_has_all_that_was_chosen(void **state)
{
	struct lc_bench_line lines[] = { { 210, 12 }, { 211, 30 } };
	char *word = (char *)"/a \"b\"";
	const struct lc_bench_words one = { .list = &word, .len = 1 }, none = { 0 };
	struct lc_bench_request r = {
		.profile = "prof",
		.place = { .class = (char *)"org.acme.Index$Part",
		           .method = (char *)"search",
		           .line = 211,
		           .lines = lines,
		           .lines_len = 2,
		           .method_samples = 45,
		           .sample_ns = 4000000,
		           .finding = (char *)"hot <it>" },
		.source_path = one,
		.class_path = one,
		.output = "bench-Index-211",
		.record = true,
		.allow_io = true,
		.program = &one,
		.program_main = 3,
		.program_directory = "/app",
		.as_profiled = true,
		.java = "/jdk/bin/java",
		.jvm_options = &none,
		.forks = 3,
		.seconds = 10,
		.inputs = 100,
		.engine = 1,
		.locus = "/usr/bin/locus",
	};
	static const char expected[] =
	    "{\"format\":1,\"profile\":\"prof\",\"engine\":1,\"class\":\"org.acme.Index$Part\","
	    "\"method\":"
	    "\"search\","
	    "\"line\":211,\"lines\":[{\"line\":210,\"samples\":12},{\"line\":211,"
	    "\"samples\":30}],"
	    "\"method_samples\":45,\"sample_ns\":4000000,\"finding\":\"hot "
	    "<it>\",\"source_path\":[\"/a \\\"b\\\"\"],"
	    "\"class_path\":[\"/a \\\"b\\\"\"],\"against\":[],\"output\":\"bench-Index-211\","
	    "\"run\":false,\"record\":true,\"allow_io\":true,\"program\":[\"/a \\\"b\\\"\"],"
	    "\"program_main\":3,\"program_directory\":\"/app\",\"as_profiled\":true,\"java\":\"/"
	    "jdk/bin/"
	    "java\",\"jvm_options\":[],"
	    "\"forks\":3,\"seconds\":10,\"inputs\":100,\"locus\":\"/usr/bin/locus\"}";
	json_t *written, *wanted = json_loads(expected, 0, NULL);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	lc_bench_request_write(out, &r);
	fclose(out);
	written = json_loads(text, 0, NULL);
	assert_true(json_equal(written, wanted));
	json_decref(written);
	free(text);
	r.place.line = 0;
	out = open_memstream(&text, &len);
	lc_bench_request_write(out, &r);
	fclose(out);
	assert_non_null(strstr(text, "\"line\":-1,"));
	free(text);
	json_decref(wanted);
}

#define WITH_JARS(test) cmocka_unit_test_setup_teardown(test, a_directory_of_jars, nothing)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_JARS(the_class_path_is_the_last_one_named_and_absolute),
		WITH_JARS(a_star_stands_for_the_jars_of_a_directory),
		WITH_JARS(options_that_change_speed_are_the_benchmarks_too),
		WITH_JARS(agents_and_files_are_the_programs_alone),
		WITH_JARS(a_dropped_option_takes_its_value_with_it),
		WITH_JARS(the_users_own_command_is_taken_as_it_is),
		WITH_JARS(the_collector_that_the_jvm_chose_is_named),
		WITH_JARS(an_older_profile_has_the_words_between_spaces),
		WITH_JARS(words_with_spaces_stay_one),
		WITH_JARS(the_request_has_all_that_was_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
