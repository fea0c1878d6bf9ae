/* uses: tests/unit/findings_model.c analyzer/objects/analysis/findings.c analyzer/objects/analysis/findings_grows.c analyzer/objects/analysis/findings_contents.c analyzer/objects/analysis/contents.c analyzer/objects/analysis/findings_other.c analyzer/objects/analysis/findings_offheap.c analyzer/objects/analysis/findings_paths.c analyzer/objects/analysis/findings_calls.c analyzer/objects/analysis/findings_again.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/findings_rows.c analyzer/objects/analysis/advice.c analyzer/objects/analysis/advice_calls.c analyzer/objects/analysis/advice_users.c analyzer/objects/analysis/advice_block.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/reaches.c analyzer/objects/analysis/findings_rules.c analyzer/objects/analysis/saving.c analyzer/objects/analysis/row_set.c analyzer/objects/analysis/cpu_breakdown.c analyzer/objects/analysis/gc_model.c analyzer/objects/analysis/headers.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/sharing.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/numa/numa.c analyzer/numa/numa_diagnose.c analyzer/numa/numa_machine.c analyzer/numa/numa_prose.c analyzer/spans/spans_math.c analyzer/spans/spans_diagnose.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/load_process.c analyzer/model/redacted.c src/base/redact.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c -lm -lzstd -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_findings_calls.c - checks the findings of calls of the JDK and of libraries: stack traces of
 * exceptions, values of ThreadLocals, and calls that make the same objects each time. Each has a
 * program that has it, one that has not, and one that looks like it.
 *
 * The file is longer than 600 lines: the tests share one model of profiles with calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/format/kinds.h"
#include "src/format/rows.h"
#include "tests/unit/findings_model.h"

/* ---- a profile ---- */

/*
 * The path of frames "Class.method" or "Class.method(parameters)result", the outermost first, at
 * line 7 of each method; then NULL.
 */
static uint32_t path_of(const char *const *frames)
{
	uint32_t path = 0;

	for (; *frames; frames++) {
		const char *open = strchr(*frames, '('), *end = open ? open : strchr(*frames, 0);
		const char *dot = memrchr(*frames, '.', (size_t)(end - *frames));
		const uint32_t method[LC_METHOD_KEY] = {
			lc_tree_string(&model.tree, *frames, (size_t)(dot - *frames)),
			lc_tree_string(&model.tree, dot + 1, (size_t)(end - dot - 1)),
			findings_text(open ? open : "()V"), findings_text("A.java")
		};
		const uint32_t frame[LC_FRAME_KEY] = { lc_table_put(&model.tree.methods, method), 8,
			                               8 };
		const uint32_t key[LC_PATH_KEY] = { path, lc_table_put(&model.tree.frames, frame) };

		path = lc_table_put(&model.tree.paths, key);
	}
	return path;
}

#define PATH(...) path_of((const char *const[]){ __VA_ARGS__, NULL })

/* Objects of a class that a path allocates, large ones, which are counted. */
static void makes(const char *class, uint32_t path, uint64_t count)
{
	const uint32_t key[LC_SITE_KEY] = { findings_text(class), path };
	const uint32_t site = lc_table_put(&model.tree.sites, key);
	uint64_t *values = lc_table_values(&model.tree.sites, site);

	values[LC_SITE_ALLOCATIONS] += count;
	values[LC_SITE_BYTES] += count * 2048;
}

static void counter(const char *name, uint64_t value)
{
	json_object_set_new(model.process.counters, name, json_integer((json_int_t)value));
}

static void collections(uint64_t count)
{
	counter("gc_collected", count);
}

static void says(const struct lc_finding *f, const char *words)
{
	if (!strstr(f->text, words))
		fail_msg("\"%s\" is not in: %s", words, f->text);
}

static void advises(const struct lc_finding *f, const char *words)
{
	if (!f->change || !strstr(f->change, words))
		fail_msg("\"%s\" is not in: %s", words, f->change ? f->change : "nothing");
}

/* ---- exceptions ---- */

#define FILL                                                                                       \
	"java.lang.Throwable.<init>", "java.lang.Throwable.fillInStackTrace",                      \
	    "java.lang.Throwable.fillInStackTrace"

static void throws_own(uint64_t samples)
{
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.main", "a.Main.find", "a.NotFoundException.<init>",
	                     "java.lang.Exception.<init>", FILL),
	                samples);
}

static void stack_traces_that_nothing_reads_are_left_out(void **state)
{
	const struct lc_finding *f;

	throws_own(200);
	findings_calculate(800);
	f = findings_only(LC_FINDING_STACK_TRACES);
	says(f, "20.0% of the samples");
	says(f, "100% of them at a.Main.find:7, most of class a.NotFoundException");
	says(f, "0.0% read traces");
	says(f, "up to 1.25x");
	advises(f, "writableStackTrace false");
}

static void a_jdk_call_that_throws_is_not_made(void **state)
{
	const struct lc_finding *f;

	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.main", "a.Main.isNumber", "java.lang.Integer.parseInt",
	                     "java.lang.NumberFormatException.forInputString",
	                     "java.lang.NumberFormatException.<init>",
	                     "java.lang.IllegalArgumentException.<init>", FILL),
	                200);
	findings_calculate(800);
	f = findings_only(LC_FINDING_STACK_TRACES);
	says(f, "at a.Main.isNumber:7, most of class j.l.NumberFormatException");
	advises(f, "test the value before the call");
	assert_null(strstr(f->change, "writableStackTrace"));
}

/* A constructor may be the exception's, whatever its name, or may throw one. */
static void a_constructor_that_throws_is_the_thrower(void **state)
{
	const struct lc_finding *f;

	findings_sample(
	    LC_BUCKET_JVM, 0,
	    PATH("a.Main.find", "a.Missing.<init>", "java.lang.RuntimeException.<init>", FILL),
	    200);
	makes("a.Missing", PATH("a.Main.find"), 1);
	findings_calculate(800);
	f = findings_only(LC_FINDING_STACK_TRACES);
	says(f, "at a.Main.find:7, most of class a.Missing");
	makes("java.lang.RuntimeException", PATH("a.Main.find", "a.Missing.<init>"), 1);
	f = findings_only(LC_FINDING_STACK_TRACES);
	says(f, "at a.Missing.<init>:7, most of class j.l.RuntimeException");
}

static void exceptions_without_a_trace_are_no_finding(void **state)
{
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.find", "a.NotFoundException.<init>",
	                     "java.lang.Exception.<init>", "java.lang.Throwable.<init>"),
	                100);
	/* The class's own method records nothing. */
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.find", "a.StopException.<init>", "java.lang.Throwable.<init>",
	                     "a.StopException.fillInStackTrace"),
	                100);
	findings_calculate(800);
	findings_none();
}

/* The cause is who reads them. */
static void traces_that_are_read_are_asked_for_less_often(void **state)
{
	const struct lc_finding *f;

	throws_own(100);
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Log.line", "java.lang.Throwable.printStackTrace",
	                     "java.lang.Throwable.getOurStackTrace"),
	                300);
	findings_calculate(600);
	f = findings_only(LC_FINDING_STACK_TRACES);
	says(f, "40.0% of the samples (37.0 to 43.1) record and read stack traces, 75% of them at "
	        "a.Log.line:7. Without these: up to 1.67x");
	advises(f, "out of a log's pattern");
	assert_null(strstr(f->change, "writableStackTrace"));
}

/* A logger or a profiler wants the trace: no exception is thrown. */
static void a_call_for_the_trace_itself_reads_it(void **state)
{
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Log.line", "java.lang.Thread.getStackTrace",
	                     "java.lang.Exception.<init>", FILL),
	                300);
	findings_calculate(700);
	says(findings_only(LC_FINDING_STACK_TRACES), "record and read stack traces, 100% of them");
}

static void few_traces_that_are_read_are_no_finding(void **state)
{
	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Log.line", "java.lang.Throwable.printStackTrace"),
	                10);
	findings_calculate(990);
	findings_none();
}

static void few_stack_traces_are_no_finding(void **state)
{
	throws_own(20);
	findings_calculate(980);
	findings_none();
}

/* ---- ThreadLocals ---- */

#define MAP "java.lang.ThreadLocal$ThreadLocalMap."

static void a_look_up_for_each_element_is_made_once(void **state)
{
	const struct lc_finding *f;

	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Main.loop", "java.lang.ThreadLocal.get"), 60);
	findings_sample(LC_BUCKET_HEAP_UNKNOWN, 0,
	                PATH("a.Main.loop", "java.lang.ThreadLocal.get", MAP "getEntry",
	                     "java.lang.ref.Reference.refersTo"),
	                60);
	findings_calculate(880);
	f = findings_only(LC_FINDING_THREAD_LOCALS);
	says(f, "12.0% of the samples");
	says(f, "look up values of ThreadLocals, 100% of them at a.Main.loop:7.");
	advises(f, "get the thread's value once");
}

static void a_crowded_map_of_values_gets_fewer_entries(void **state)
{
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.loop", "java.lang.ThreadLocal.get", MAP "getEntry",
	                     MAP "getEntryAfterMiss"),
	                100);
	findings_calculate(900);
	says(findings_only(LC_FINDING_THREAD_LOCALS), "100% of them search beyond the first entry");
	advises(model.found.list, "one static ThreadLocal");
}

/* The JDK's own ThreadLocals, classes of that name, and what is done with a value. */
static void other_thread_locals_are_no_finding(void **state)
{
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.loop", "java.lang.Double.toString",
	                     "java.lang.ThreadLocal.get", MAP "getEntry"),
	                200);
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.loop", "io.netty.util.concurrent.FastThreadLocal.get"), 200);
	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Main.loop", "java.lang.StringBuilder.append"),
	                200);
	findings_calculate(400);
	findings_none();
}

#define MADE                                                                                       \
	"a.Main.use", "java.lang.ThreadLocal.get", "java.lang.ThreadLocal.setInitialValue",        \
	    "java.lang.ThreadLocal$SuppliedThreadLocal.initialValue"

static void values_that_remove_throws_away_are_kept(void **state)
{
	const struct lc_finding *f;

	findings_sample(LC_BUCKET_NATIVE, 0, PATH(MADE, "a.Main.lambda$static$0"), 300);
	findings_calculate(700);
	collections(20);
	findings_none(); /* that it is made again and again is not known */
	makes("byte[]", PATH(MADE, "a.Main.lambda$static$0"), 5000);
	f = findings_only(LC_FINDING_THREAD_LOCALS);
	says(f, "30.0% of the samples");
	says(f, "at a.Main.use:7. These values die young.");
	advises(f, "keep the threads in a pool if they end soon, or");
	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Main.use", "java.lang.ThreadLocal.remove"), 10);
	f = findings_only(LC_FINDING_THREAD_LOCALS);
	says(f, "1.0% remove such values");
	advises(f, "clear the value after its use instead of calling remove()");
	/* The same values are not "short-lived", too. */
	counter("cpu_process_ns", 5000000000);
	counter("cpu_gc_ns", 1000000000);
	f = findings_only(LC_FINDING_THREAD_LOCALS);
	assert_true(f->saves.all.share > f->saves.accesses.share);
}

/* Making a table once needs objects that are thrown away; the values stay. */
static void a_value_that_is_made_once_is_no_finding(void **state)
{
	findings_sample(LC_BUCKET_NATIVE, 0, PATH(MADE, "a.Main.lambda$static$0", "a.Table.read"),
	                300);
	findings_calculate(700);
	collections(20);
	makes("byte[]", PATH(MADE, "a.Main.lambda$static$0", "a.Table.read"), 5000);
	findings_none();
}

/* ---- calls that make the same objects each time ---- */

#define COMPILE                                                                                    \
	"a.Main.words", "java.lang.String.split", "java.util.regex.Pattern.compile",               \
	    "java.util.regex.Pattern.<init>"

static void an_expression_that_is_compiled_each_time_is_compiled_once(void **state)
{
	const struct lc_finding *f;

	findings_sample(LC_BUCKET_JVM, 0, PATH(COMPILE), 100);
	findings_sample(LC_BUCKET_JVM, 0, PATH(COMPILE, "java.util.regex.Pattern.newSlice"), 100);
	findings_calculate(800);
	collections(20);
	makes("int[]", PATH(COMPILE), 5000);
	f = findings_only(LC_FINDING_REPEATED_CALLS);
	says(f, "20.0% of the samples");
	says(f, "compile regular expressions, 100% of them at a.Main.words:7.");
	advises(f, "static final Pattern");
}

static void expressions_that_stay_or_match_are_no_finding(void **state)
{
	findings_sample(LC_BUCKET_JVM, 0, PATH(COMPILE), 200);
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.words", "java.util.regex.Matcher.find",
	                     "java.util.regex.Pattern$Slice.match"),
	                300);
	findings_calculate(500);
	collections(20);
	makes("int[]", PATH(COMPILE), 20); /* a few large ones, at the start */
	findings_none();
}

static void providers_of_xml_that_are_looked_up_each_time_are_kept(void **state)
{
	const struct lc_finding *f;
	const uint32_t path = PATH("a.Main.read", "javax.xml.stream.XMLInputFactory.newInstance",
	                           "java.util.ServiceLoader.load");

	findings_sample(LC_BUCKET_JVM, 0, path, 200);
	findings_sample(
	    LC_BUCKET_JVM, 0,
	    PATH("a.Main.read", "javax.xml.stream.XMLInputFactory.createXMLStreamReader"),
	    300); /* the factory's own work */
	findings_calculate(500);
	collections(20);
	makes("byte[]", path, 5000);
	f = findings_only(LC_FINDING_REPEATED_CALLS);
	says(f, "20.0% of the samples");
	says(f, "look for providers of XML or of scripts, 100% of them at a.Main.read:7.");
	advises(f, "keep the factory");
}

/* The ID stays the same when the table changes. Rows whose samples are below the call are no
 * findings. */
static void rows_below_the_call_are_explained(void **state)
{
	const uint32_t path = PATH("a.Main.show", "java.lang.String.format",
	                           "java.util.Formatter.format", "java.util.Formatter.parse");
	const uint32_t key[LC_SITE_KEY] = { findings_text("java.lang.Object[]"), path };

	makes("java.lang.Object[]", path, 5000);
	findings_sample(LC_BUCKET_OBJECT, lc_table_put(&model.tree.sites, key), path, 200);
	findings_calculate(800);
	collections(20);
	says(findings_only(LC_FINDING_REPEATED_CALLS), "format texts by patterns");
	advises(model.found.list, "append the parts to a StringBuilder");
	assert_string_equal(model.found.list->id, "repeated-calls-9849d018");
}

static void dates_that_are_parsed_again_and_again_are_a_finding(void **state)
{
	const uint32_t path =
	    PATH("a.Main.main", "org.lib.Csv.read", "java.time.format.DateTimeFormatter.parse",
	         "java.time.format.Parsed.copy", "java.util.HashMap.putVal");

	findings_sample(LC_BUCKET_JVM, 0, path, 200);
	findings_calculate(800);
	collections(20);
	findings_none(); /* nothing that it makes is known to die */
	makes("java.util.HashMap$Node[]", path, 5000);
	says(findings_only(LC_FINDING_REPEATED_CALLS),
	     "parse dates, 100% of them at o.l.Csv.read:7");
	advises(model.found.list, "say which format the texts have");
}

static void of_library(const char *name)
{
	const uint32_t path = PATH(name);

	lc_table_values(&model.tree.methods,
	                lc_tree_method_number(&model.tree, path))[LC_METHOD_OWN] = LC_TREE_NOT_OWN;
}

/* Own code may call the library less often; the collector works for what the calls allocate. */
static void calls_of_a_library_and_the_collectors_work_count(void **state)
{
	const uint32_t path = PATH("a.Main.main", "org.lib.Csv.read", "org.lib.Date.canParse",
	                           "java.time.format.DateTimeFormatter.parse");
	const struct lc_finding *f;

	findings_sample(LC_BUCKET_JVM, 0, path, 200);
	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Main.main", "org.lib.Csv.read"), 150);
	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Main.main", "org.lib.Csv.close"), 50);
	findings_calculate(600);
	collections(20);
	makes("java.util.HashMap$Node[]", path, 5000);
	f = findings_only(LC_FINDING_REPEATED_CALLS);
	says(f, "Without these: up to 1.25x");
	assert_null(strstr(f->text, "Calls of")); /* own code, so far as is known */
	of_library("org.lib.Csv.read");
	of_library("org.lib.Date.canParse");
	f = findings_only(LC_FINDING_REPEATED_CALLS);
	says(f, "Without these: up to 1.25x");
	says(f, "Calls of o.l.Csv.read at a.Main.main:7 take 35.0% of the CPU time without the JIT "
	        "(32.1 to 38.0).");
	counter("cpu_process_ns", 2000);
	counter("cpu_gc_ns", 200);
	counter("cpu_jit_ns", 1000);
	/* The call's arrays are no finding of their own. */
	f = findings_only(LC_FINDING_REPEATED_CALLS);
	says(f, "Without these: up to 1.56x"); /* 200 of 1000 for 800 ns, and 200 */
}

/* Calls in a row, as in library.open().read(), have one line of own code. */
static void all_calls_of_a_library_at_one_line_count(void **state)
{
	const uint32_t path =
	    PATH("a.Main.main", "org.lib.Csv.read", "java.time.format.DateTimeFormatter.parse");
	const struct lc_finding *f;

	of_library("org.lib.Csv.read");
	of_library("org.lib.Csv.open");
	findings_sample(LC_BUCKET_JVM, 0, path, 200);
	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Main.main", "org.lib.Csv.read"), 150);
	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Main.main", "org.lib.Csv.open"), 30);
	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Main.main"), 620);
	collections(20);
	makes("java.util.HashMap$Node[]", path, 5000);
	f = findings_only(LC_FINDING_REPEATED_CALLS);
	says(f, "Calls of o.l.Csv.read at a.Main.main:7 take 35.0%"); /* nearly all are of read() */
	findings_sample(LC_BUCKET_JVM, 0, PATH("a.Main.main", "org.lib.Csv.open"), 170);
	f = findings_only(LC_FINDING_REPEATED_CALLS);
	says(f, "Calls of o.l.Csv.read, and other calls, at a.Main.main:7 take 47.0%");
}

/* The seed of a Random is updated atomically. That of a ThreadLocalRandom is the thread's own. */
static void random_numbers_need_no_object(void **state)
{
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.draw", "java.util.Random.nextInt", "java.util.Random.next",
	                     "java.util.concurrent.atomic.AtomicLong.compareAndSet"),
	                200);
	findings_calculate(800);
	says(
	    findings_only(LC_FINDING_REPEATED_CALLS),
	    "20.0% of the samples (17.6 to 22.6) draw numbers of java.util.Random, 100% of them at "
	    "a.Main.draw:7. Without these");
	advises(model.found.list, "SplittableRandom");
}

static void random_numbers_of_the_thread_are_no_finding(void **state)
{
	findings_sample(LC_BUCKET_JVM, 0,
	                PATH("a.Main.draw", "java.util.concurrent.ThreadLocalRandom.nextInt",
	                     "java.util.Random.nextInt",
	                     "java.util.concurrent.ThreadLocalRandom.next"),
	                200);
	findings_calculate(800);
	findings_none();
}

/* ---- calls of a library ---- */

#define QUERY "a.Main.open", "org.hsqldb.jdbc.JDBCStatement.executeQuery"
#define COMPILES QUERY, "org.hsqldb.ParserCommand.compileStatements"
#define EXECUTES QUERY, "org.hsqldb.StatementQuery.execute"

/* 300 samples that compile statements, and 300 that execute them. */
static void sample_queries(void)
{
	static const char *const library[] = { "org.hsqldb.jdbc.JDBCStatement.executeQuery",
		                               "org.hsqldb.ParserCommand.compileStatements",
		                               "org.hsqldb.StatementQuery.execute" };

	findings_sample(LC_BUCKET_JVM, 0, PATH(COMPILES), 100);
	findings_sample(LC_BUCKET_JVM, 0, PATH(COMPILES, "java.util.HashMap.put"), 200);
	findings_sample(LC_BUCKET_JVM, 0, PATH(EXECUTES), 300);
	findings_calculate(400);
	collections(20);
	for (size_t i = 0; i < sizeof(library) / sizeof(*library); i++)
		of_library(library[i]);
}

static void statements_that_are_compiled_each_time_are_prepared_once(void **state)
{
	const struct lc_finding *f;

	sample_queries();
	findings_none(); /* nothing that it makes is known to die */
	makes("org.hsqldb.Token", PATH(COMPILES), 5000);
	f = findings_only(LC_FINDING_REPEATED_CALLS);
	says(f, "30.0% of the samples (27.2 to 32.9) compile SQL statements, 100% of them at "
	        "a.Main.open:7. The objects that they make die young.");
	says(f, "Without these: up to 1.43x");
	advises(f, "prepare the statement once");
	/* Exceptions that end the texts go with them. */
	findings_sample(LC_BUCKET_JVM, 0, PATH(COMPILES, "java.lang.Exception.<init>", FILL), 100);
	says(findings_only(LC_FINDING_REPEATED_CALLS), "36.4% of the samples");
}

static void outlives(const char *class, uint32_t path, uint64_t objects)
{
	const uint32_t site[LC_SITE_KEY] = { findings_text(class), path };
	const uint32_t key[LC_COPY_KEY] = { [LC_COPY_SITE] =
		                                lc_table_put(&model.tree.sites, site) };

	lc_table_values(&model.tree.copies,
	                lc_table_put(&model.tree.copies, key))[LC_COPY_OUTLIVED_BYTES] +=
	    objects * 2048;
}

/* Each is another one, and is compiled once: its text becomes garbage, but not what it becomes. */
static void statements_that_are_kept_are_no_finding(void **state)
{
	sample_queries();
	makes("org.hsqldb.Token", PATH(COMPILES), 5000);
	makes("org.hsqldb.QuerySpecification", PATH(COMPILES), 500);
	outlives("org.hsqldb.QuerySpecification", PATH(COMPILES), 500);
	findings_none();
}

/* Objects that executing makes, strings of the JDK, and own code that the library calls. */
static void what_else_a_library_makes_is_no_finding(void **state)
{
	sample_queries();
	makes("org.hsqldb.Row", PATH(EXECUTES), 5000);
	makes("java.lang.String[]", PATH(COMPILES), 5000);
	makes("a.Trigger", PATH(COMPILES, "a.Main.trigger"), 5000);
	findings_none();
}

/* ---- calls of any library ---- */

/* Samples on a path in seconds `from` to `to` of the recording, one in each. */
static void sample_at(uint32_t path, unsigned from, unsigned to, uint64_t samples)
{
	for (unsigned second = from; second <= to; second++) {
		lc_path_times_block(&model.tree.times, (second + 1) * UINT64_C(1000000000));
		lc_path_times_seen(&model.tree.times, path);
	}
	findings_sample(LC_BUCKET_JVM, 0, path, samples);
}

#define NEW_GSON "a.Main.main", "com.gson.Gson.<init>(Lcom/gson/GsonOptions;Z)V"

/* A library's object is made, and something else is done, in some of twelve seconds. */
static void make_library_objects(const char *constructor, unsigned from, unsigned to)
{
	of_library("com.gson.Gson.<init>(Lcom/gson/GsonOptions;Z)V");
	of_library(constructor);
	of_library("com.gson.Adapters.list");
	sample_at(PATH("a.Main.main", constructor, "com.gson.Adapters.list"), from, to, 300);
	sample_at(PATH("a.Main.main", "a.Main.read"), 0, from, 350);
	sample_at(PATH("a.Main.main", "a.Main.read"), to, 11, 350);
	collections(20);
	makes("com.gson.Adapter", PATH("a.Main.main", constructor, "com.gson.Adapters.list"), 5000);
}

/* Other samples of the seconds in which the object is made, too. */
static void do_other_work(void)
{
	sample_at(PATH("a.Main.main", "a.Main.read"), 0, 11, 1);
}

static void a_library_object_that_is_set_up_each_time_is_made_once(void **state)
{
	const struct lc_finding *f;

	make_library_objects("com.gson.Gson.<init>(Lcom/gson/GsonOptions;Z)V", 0, 11);
	do_other_work();
	f = findings_only(LC_FINDING_REPEATED_CALLS);
	says(f, "30.0% of the samples (27.2 to 32.9) set up objects of a library, 100% of them at "
	        "a.Main.main:7, most by c.g.Gson.<init>. Few objects that they make are kept.");
	says(f, "Without these: up to 1.43x");
	advises(f, "make the object once");
}

/* So are those that a static method of the class makes from classes. */
static void a_factory_that_gets_classes_stands_for_a_constructor(void **state)
{
	make_library_objects("com.gson.Gson.newInstance([Ljava/lang/Class;)Lcom/gson/Gson;", 0, 11);
	do_other_work();
	says(findings_only(LC_FINDING_REPEATED_CALLS), "most by c.g.Gson.newInstance");
}

/* One call that takes long, whose objects become garbage, has nothing beside it. */
static void a_library_object_that_is_set_up_once_is_no_finding(void **state)
{
	make_library_objects("com.gson.Gson.<init>(Lcom/gson/GsonOptions;Z)V", 2, 9);
	findings_none();
	/* Nor has it if another kind of thread, or own code that it calls, runs meanwhile. */
	sample_at(PATH("a.Worker.run"), 0, 11, 1);
	sample_at(PATH(NEW_GSON, "a.Main.callback"), 0, 11, 1);
	findings_none();
	do_other_work();
	findings_only(LC_FINDING_REPEATED_CALLS);
}

static void library_objects_that_get_data_or_stay_are_no_finding(void **state)
{
	make_library_objects("com.gson.Gson.<init>([D)V", 0, 11);
	do_other_work();
	findings_none();
	findings_end(state);
	findings_begin(state);
	make_library_objects("com.gson.Gson.negate()Lcom/gson/Gson;", 0, 11);
	do_other_work();
	findings_none();
	findings_end(state);
	findings_begin(state);
	make_library_objects("com.gson.Gson.<init>()V", 0, 11);
	do_other_work();
	outlives("com.gson.Adapter",
	         PATH("a.Main.main", "com.gson.Gson.<init>()V", "com.gson.Adapters.list"), 600);
	findings_none();
}

static void texts_that_a_library_compiles_each_time_are_compiled_once(void **state)
{
	make_library_objects("com.gson.Gson.prepareQuery(ILjava/lang/String;)Lcom/gson/Q;", 0, 11);
	do_other_work();
	says(findings_only(LC_FINDING_REPEATED_CALLS),
	     "have a library compile texts, 100% of them at a.Main.main:7, most by "
	     "c.g.Gson.prepareQuery");
	says(model.found.list, "Without these: up to 1.43x");
	advises(model.found.list, "if texts repeat");
}

/* To evaluate them is still to be done: there is no speed-up without these calls. */
static void texts_that_a_library_evaluates_have_no_gain(void **state)
{
	make_library_objects("com.gson.Gson.eval(Ljava/lang/String;)Ljava/lang/Object;", 0, 11);
	do_other_work();
	says(findings_only(LC_FINDING_REPEATED_CALLS), "have a library evaluate texts");
	assert_null(strstr(model.found.list->text, "Without these"));
	advises(model.found.list, "compile each once");
}

/* A number is no text, and what reads a document is not among the names. */
static void other_calls_of_a_library_are_no_finding(void **state)
{
	make_library_objects("com.gson.Gson.compile(I)Lcom/gson/Q;", 0, 11);
	do_other_work();
	findings_none();
	findings_end(state);
	findings_begin(state);
	make_library_objects("com.gson.Gson.fromJson(Ljava/lang/String;)Lcom/gson/Q;", 0, 11);
	do_other_work();
	findings_none();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, findings_begin, findings_end)
	const struct CMUnitTest tests[] = {
		TEST(stack_traces_that_nothing_reads_are_left_out),
		TEST(a_jdk_call_that_throws_is_not_made),
		TEST(a_constructor_that_throws_is_the_thrower),
		TEST(exceptions_without_a_trace_are_no_finding),
		TEST(traces_that_are_read_are_asked_for_less_often),
		TEST(a_call_for_the_trace_itself_reads_it),
		TEST(few_traces_that_are_read_are_no_finding),
		TEST(few_stack_traces_are_no_finding),
		TEST(a_look_up_for_each_element_is_made_once),
		TEST(a_crowded_map_of_values_gets_fewer_entries),
		TEST(other_thread_locals_are_no_finding),
		TEST(values_that_remove_throws_away_are_kept),
		TEST(a_value_that_is_made_once_is_no_finding),
		TEST(an_expression_that_is_compiled_each_time_is_compiled_once),
		TEST(expressions_that_stay_or_match_are_no_finding),
		TEST(providers_of_xml_that_are_looked_up_each_time_are_kept),
		TEST(rows_below_the_call_are_explained),
		TEST(dates_that_are_parsed_again_and_again_are_a_finding),
		TEST(calls_of_a_library_and_the_collectors_work_count),
		TEST(all_calls_of_a_library_at_one_line_count),
		TEST(statements_that_are_compiled_each_time_are_prepared_once),
		TEST(statements_that_are_kept_are_no_finding),
		TEST(what_else_a_library_makes_is_no_finding),
		TEST(a_library_object_that_is_set_up_each_time_is_made_once),
		TEST(a_factory_that_gets_classes_stands_for_a_constructor),
		TEST(a_library_object_that_is_set_up_once_is_no_finding),
		TEST(library_objects_that_get_data_or_stay_are_no_finding),
		TEST(texts_that_a_library_compiles_each_time_are_compiled_once),
		TEST(texts_that_a_library_evaluates_have_no_gain),
		TEST(other_calls_of_a_library_are_no_finding),
		TEST(random_numbers_need_no_object),
		TEST(random_numbers_of_the_thread_are_no_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
