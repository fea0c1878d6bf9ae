/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/bench.c - runs `locus bench`, which makes a JMH benchmark of hot code from a profile.
 *
 * This file writes its choice to request.json in the benchmark's directory. The Java part
 * (locus-bench.jar, from src/java/bench) does the rest; its output and exit status become ours.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/libraries.h"
#include "analyzer/cli/newest.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/commands/bench_consent.h"
#include "analyzer/commands/bench_output.h"
#include "analyzer/commands/bench_request.h"
#include "analyzer/commands/child.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/report.h"

enum {
	BENCH_FORKS = 3,
	BENCH_SECONDS = 5,
	BENCH_FORKS_MAX = 100,
	BENCH_SECONDS_MAX = 3600,
	BENCH_INPUTS = 100,
	BENCH_JAVA = 17 /* that Spoon needs */
};

#define BENCH_JAR "locus-bench.jar"

enum row {
	ROW_AT,
	ROW_SOURCE,
	ROW_CLASSES,
	ROW_AGAINST,
	ROW_OUTPUT,
	ROW_NO_RUN,
	ROW_NO_RECORD,
	ROW_RUN_RECORDED,
	ROW_TRUST_OPTIONS,
	ROW_ALLOW_IO,
	ROW_FORKS,
	ROW_SECONDS,
	ROW_JAVA,
	ROW_ENGINE,
	ROW_COUNT
};

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_AT] = { "at", 0, "STRING", "CLASS:LINE|CLASS#METHOD|CLASS", "", "",
	             "code to make a benchmark of: the loop or statement around a line, a whole "
	             "method (with overloads, the one with most samples, or the one with the "
	             "parameters in METHOD(TYPE,...)), or the code after a comment with "
	             "@bench-this in the source of a class; default: the line with most accesses "
	             "of the first finding" },
	[ROW_SOURCE] = { "source-path", 0, "STRING", "PATH", "", "",
	                 "directories and jars with the program's source files, separated by ':' "
	                 "(required)" },
	[ROW_CLASSES] = { "class-path", 0, "STRING", "PATH", "", "",
	                  "directories and jars to compile the sources with, separated by ':'; "
	                  "lib/* stands for the jars in lib; default: the program's" },
	[ROW_AGAINST] = { "against", 0, "STRING", "PATH", "", "",
	                  "directories and jars with changed source files, to measure beside the "
	                  "others" },
	[ROW_OUTPUT] = { "output", 'o', "STRING", "DIR", "", "",
	                 "directory of the benchmark; default: named after its class and line" },
	[ROW_NO_RUN] = { "no-run", 0, "FLAG", "", "off", "",
	                 "make the benchmark, but do not run it" },
	[ROW_NO_RECORD] = { "no-record", 0, "FLAG", "", "off", "",
	                    "make up inputs instead of running the program again to record them" },
	[ROW_RUN_RECORDED] = { "run-recorded", 0, "FLAG", "", "off", "",
	                       "use the command, java and class path of the profile without "
	                       "asking; required without a terminal" },
	[ROW_TRUST_OPTIONS] = { "trust-options", 0, "FLAG", "", "off", "",
	                        "use all options of the profile's JVM, even those that run a "
	                        "command, load code or write files" },
	[ROW_ALLOW_IO] = { "allow-io", 0, "FLAG", "", "off", "",
	                   "also accept code that reads or writes files or sockets" },
	[ROW_FORKS] = { "forks", 0, "COUNT", "N", "3", "forks", "measure in N JVMs" },
	[ROW_SECONDS] = { "seconds", 0, "COUNT", "N", "5", "seconds",
	                  "measure each input for N seconds in each JVM, after a warm-up of the "
	                  "same length" },
	[ROW_JAVA] = { "java", 0, "STRING", "FILE", "", "",
	               "java to use; default: the program's, else that of PATH or JAVA_HOME" },
	[ROW_ENGINE] = LC_REPORT_ROW_ENGINE(
	    "engine whose samples count, if there are several: its name or number"),
};

struct bench {
	const char *at, *source_path, *class_path, *against, *engine;
	const char *profile; /* NULL: none was named */
	char **command;      /* behind --; NULL: none */
	bool run_recorded, trust_options;
	bool recorded_java, recorded_class_path; /* are what stands in the profile */
	char here[PATH_MAX];
	char jar[PATH_MAX], locus[PATH_MAX];
	char java[PATH_MAX];             /* the program's */
	char own_java[PATH_MAX];         /* the Java part's */
	struct lc_bench_program program; /* the profile's */
	struct lc_bench_program own;     /* of `command` */
	struct lc_bench_request request;
};

const struct lc_option_info *lc_cmd_bench_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

/* ---- the command line ---- */

static int set_number(int row, const char *value, unsigned long max, unsigned long *out)
{
	if (lc_args_number(value, max, out) || !*out)
		return lc_usage("--%s: '%.64s' is not a number of %s from 1 to %lu", rows[row].name,
		                value, rows[row].unit, max);
	return 0;
}

static int set(struct bench *b, int row, const char *value)
{
	const char **texts[ROW_COUNT] = {
		[ROW_AT] = &b->at,
		[ROW_SOURCE] = &b->source_path,
		[ROW_CLASSES] = &b->class_path,
		[ROW_AGAINST] = &b->against,
		[ROW_OUTPUT] = &b->request.output,
		[ROW_JAVA] = &b->request.java,
		[ROW_ENGINE] = &b->engine,
	};

	if (row == ROW_FORKS)
		return set_number(row, value, BENCH_FORKS_MAX, &b->request.forks);
	if (row == ROW_SECONDS)
		return set_number(row, value, BENCH_SECONDS_MAX, &b->request.seconds);
	if (texts[row]) {
		*texts[row] = value;
		return 0;
	}
	if (row == ROW_NO_RUN)
		b->request.run = false;
	else if (row == ROW_ALLOW_IO)
		b->request.allow_io = true;
	else if (row == ROW_RUN_RECORDED)
		b->run_recorded = true;
	else if (row == ROW_TRUST_OPTIONS)
		b->trust_options = true;
	else
		b->request.record = false;
	return 0;
}

/* Refuse arguments that do not fit together before anything is read. */
static int check_arguments(struct bench *b)
{
	if (!b->source_path)
		return lc_usage("bench: name the program's source files with --source-path");
	if (b->command && !b->request.record)
		return lc_usage("bench: --no-record forbids running '%.200s'; leave out one of "
		                "them",
		                b->command[0]);
	return b->at ? lc_bench_place_parse(&b->request.place, b->at) : 0;
}

/* Returns 0, an exit status after an error, or LC_ARGS_HELP or LC_ARGS_VERSION. */
static int parse_arguments(struct bench *b, int argc, char **argv)
{
	struct lc_args args = {
		.argc = argc, .argv = argv, .table = rows, .count = ROW_COUNT, .next = 1
	};
	const char *value;
	int row, status = 0;

	while (!status && (row = lc_args_next(&args, &value)) != LC_ARGS_END) {
		if (row == LC_ARGS_ERROR)
			return LC_EXIT_USAGE;
		if (row == LC_ARGS_HELP || row == LC_ARGS_VERSION)
			return row;
		if (row != LC_ARGS_OPERAND) {
			status = set(b, row, value);
		} else if (args.operands_only) {
			b->command = argv + args.next - 1;
			break;
		} else if (b->profile) {
			status = lc_usage("bench: '%.200s' is a second profile; merge profiles "
			                  "with 'locus merge', or write a command after '--'",
			                  value);
		} else {
			b->profile = value;
		}
	}
	return status ? status : check_arguments(b);
}

/* ---- what the Java part is started with ---- */

static int find_jar(struct bench *b)
{
	char error[LC_LIBRARIES_ERROR_MAX];
	int err = lc_libraries_find(BENCH_JAR, b->jar, error);

	if (err == -ENOENT)
		return lc_fail("bench: no " BENCH_JAR
		               " is beside this locus: install Maven and run 'make bench-jar', or "
		               "build and install Locus again");
	return err ? lc_fail("bench: %s", error) : 0;
}

/* `name` as a shell would run it in `directory`. */
static bool find_java(const char *name, const char *directory, char *out)
{
	if (!strchr(name, '/'))
		return lc_child_find(name, out, PATH_MAX);
	snprintf(out, PATH_MAX, "%s%s%s", *name == '/' ? "" : directory, *name == '/' ? "" : "/",
	         name);
	return access(out, X_OK) == 0;
}

/* The feature version of the JDK that a java is of; 0: it cannot be told. */
static unsigned version_of(const char *java)
{
	static const char program[] = "/bin/java", release[] = "/release";
	char path[PATH_MAX], line[200];
	unsigned version = 0;
	FILE *in = NULL;

	_Static_assert(sizeof(release) <= sizeof(program), "the one is written over the other");
	if (realpath(java, path)) {
		const size_t len = strlen(path), tail = sizeof(program) - 1;

		if (len >= tail && strcmp(path + len - tail, program) == 0) {
			memcpy(path + len - tail, release, sizeof(release));
			in = fopen(path, "re");
		}
	}
	while (in && !version && fgets(line, sizeof(line), in))
		if (sscanf(line, "JAVA_VERSION=\"%u", &version) == 1 && version == 1)
			version = 8; /* "1.8.0_402" */
	if (in)
		fclose(in);
	return version;
}

/* That of PATH or JAVA_HOME, where it is new enough. */
static bool find_other_java(const struct bench *b, unsigned least, char *out)
{
	const char *home = getenv("JAVA_HOME");
	char at_home[PATH_MAX];

	if (find_java("java", "", out) && version_of(out) >= least)
		return true;
	if (!home || !*home)
		return false;
	snprintf(at_home, sizeof(at_home), "%.4000s/bin/java", home);
	return find_java(at_home, b->here, out) && version_of(out) >= least;
}

/* That of a command, as far as the command tells it. */
static bool find_java_of(const struct lc_bench_program *p, char *out)
{
	return p->words.len && lc_bench_is_java(p->words.list[0]) &&
	       find_java(p->words.list[0], p->directory, out);
}

/* The program's java, and one that runs the Java part: the same, unless it is too old for that. */
static int choose_java(struct bench *b)
{
	unsigned version;

	if (b->request.java && !find_java(b->request.java, b->here, b->java))
		return lc_fail("--java: cannot run '%s': %m", b->request.java);
	if (!b->request.java && !find_java_of(&b->own, b->java)) {
		const bool found = find_java_of(&b->program, b->java);

		/* A name without a path is looked for on the user's PATH. */
		b->recorded_java = found && strchr(b->program.words.list[0], '/');
		if (!found && !find_other_java(b, 0, b->java))
			return lc_fail("bench: found no java: the program's is gone, and none is "
			               "on PATH or in JAVA_HOME; name one with --java");
	}
	version = version_of(b->java);
	if (!version || version >= BENCH_JAVA)
		memcpy(b->own_java, b->java, sizeof(b->own_java));
	else if (!find_other_java(b, BENCH_JAVA, b->own_java))
		return lc_fail("bench: '%s' has version %u, but reading the source needs %d: add a "
		               "newer java to PATH or JAVA_HOME",
		               b->java, version, BENCH_JAVA);
	return 0;
}

/* Is any of it there? */
static bool any_exists(const struct lc_bench_words *path)
{
	for (size_t i = 0; i < path->len; i++)
		if (access(path->list[i], F_OK) == 0)
			return true;
	return false;
}

static int choose_class_path(struct bench *b)
{
	struct lc_bench_request *r = &b->request;
	const struct lc_bench_words *from;

	if (b->class_path) {
		lc_bench_words_path(&r->class_path, b->class_path, b->here, true);
		if (!any_exists(&r->class_path))
			return lc_fail("--class-path: no part of '%.200s' exists", b->class_path);
		return 0;
	}
	b->recorded_class_path = !b->own.class_path.len && b->program.class_path.len;
	from = b->recorded_class_path ? &b->program.class_path : &b->own.class_path;
	for (size_t i = 0; i < from->len; i++)
		lc_bench_words_add(&r->class_path, from->list[i], strlen(from->list[i]));
	if (!r->class_path.len && b->program.argument_files)
		return lc_usage("bench: the program's class path is in an argument file (@FILE); "
		                "name it with --class-path");
	if (!r->class_path.len)
		return lc_usage("bench: the profile does not have the program's class path; name "
		                "it with --class-path");
	if (!any_exists(&r->class_path))
		return lc_fail("bench: no part of the program's class path exists, such as "
		               "'%.200s'; name it with --class-path",
		               r->class_path.list[0]);
	return 0;
}

static int choose_paths(struct bench *b)
{
	struct lc_bench_request *r = &b->request;

	lc_bench_words_path(&r->source_path, b->source_path, b->here, false);
	if (b->against)
		lc_bench_words_path(&r->against, b->against, b->here, false);
	for (size_t i = 0; i < r->against.len; i++)
		if (access(r->against.list[i], R_OK) != 0)
			return lc_fail("--against: cannot read '%s': %m", r->against.list[i]);
	return choose_class_path(b);
}

static bool are_same(const struct lc_bench_words *a, const struct lc_bench_words *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (strcmp(a->list[i], b->list[i]) != 0)
			return false;
	return true;
}

/* Are the dropped options agents alone, as the one that made the profile? */
static bool drops_agents_alone(const struct lc_bench_words *dropped)
{
	for (size_t i = 0; i < dropped->len; i++)
		if (strncmp(dropped->list[i], "-agent", strlen("-agent")) != 0)
			return false;
	return true;
}

/* How the program is run once more: as the user says, or as it was. */
static void choose_program(struct bench *b, const struct lc_load *l)
{
	struct lc_bench_request *r = &b->request;

	if (b->command)
		lc_bench_program_command(&b->own, b->command, b->here);
	r->program = b->command ? &b->own.words : &b->program.run;
	r->program_main = lc_bench_words_main(r->program);
	r->program_directory = b->command ? b->here : b->program.directory;
	r->jvm_options = &b->program.jvm_options;
	r->as_profiled = (b->command ? are_same(r->program, &b->program.words)
	                             : drops_agents_alone(&b->program.dropped)) &&
	                 l->processes_len == 1 && l->processes->complete && !l->processes->limited;
}

/* ---- the place ---- */

static int find_place(struct bench *b, const struct lc_load *l, const struct lc_bench_of *of)
{
	const struct lc_analysis_what what = { .engine = of->engine,
		                               .engine_chosen = b->engine,
		                               .sort = LC_SORT_SAMPLES,
		                               .group = LC_GROUP_LINE };
	struct lc_bench_place *p = &b->request.place;
	const struct lc_finding *found;
	struct lc_analysis a;
	int status = 0;

	lc_analysis_build(&a, l, &what);
	found = lc_bench_place_find(p, of, &a.findings);
	if (found)
		lc_note("bench: the %s%s leads to --at=%s:%u",
		        found == a.findings.list ? "first finding" : "finding ",
		        found == a.findings.list ? "" : found->id, p->class, p->line);
	else if (a.findings.none)
		status = lc_fail("bench: the profile has no finding (%s); choose a place with --at",
		                 a.findings.none);
	else
		status = lc_fail("bench: no finding is about accesses in code below --source-path; "
		                 "choose a place with --at");
	lc_analysis_free(&a);
	return status;
}

/* The CPU time that a sample of the engine stands for; 0 where it counts events. */
static uint64_t sample_ns(const struct lc_load *l, uint32_t engine)
{
	const struct lc_load_engine *e = &l->engines[engine];
	const uint64_t samples = lc_report_engine_samples(l->tree, engine);
	const uint64_t cpu_ns = lc_report_cpu_ns(l, e);

	if (strcmp(e->name, "timer") != 0)
		return 0;
	return cpu_ns && samples ? cpu_ns / samples : e->interval_ns;
}

static int choose_place(struct bench *b, const struct lc_load *l)
{
	struct lc_bench_of of = { .tree = l->tree };
	int status = 0;

	if (!b->engine)
		of.engine = lc_report_busiest_engine(l);
	else if (lc_report_find_engine(l, b->engine, &of.engine))
		return 1;
	of.source = lc_source_open(b->source_path);
	if (lc_source_unreadable(of.source))
		status = 1;
	else if (b->at)
		lc_bench_place_look(&b->request.place, &of);
	else
		status = find_place(b, l, &of);
	lc_source_close(of.source);
	b->request.engine = of.engine + 1;
	b->request.place.sample_ns = sample_ns(l, of.engine);
	return status;
}

/* ---- the command ---- */

static int start(struct bench *b, const char *file)
{
	/* It runs for some seconds: a better compiler would not earn its time back. */
	char *command[] = { b->own_java,
		            (char *)"-XX:TieredStopAtLevel=1",
		            (char *)"-XX:+UseSerialGC",
		            (char *)"-Xss8m",
		            (char *)"-cp",
		            b->jar,
		            (char *)"locusbench.Main",
		            (char *)(uintptr_t)file,
		            NULL };
	bool forked;
	int err;

	lc_progress_end();
	err = lc_child_start(command, &forked);
	if (err)
		return lc_fail("cannot run '%s': %s", b->own_java, strerror(err));
	return lc_child_end_like(lc_child_wait());
}

/* The profile's command is shown, and run only if the user agrees. */
static int ask(const struct bench *b)
{
	const bool command = b->request.record && !b->command && b->program.words.len;
	const struct lc_bench_recorded recorded = {
		.command = command ? b->request.program : NULL,
		.directory = b->request.program_directory,
		.java = b->recorded_java ? b->java : NULL,
		.class_path = b->recorded_class_path ? &b->request.class_path : NULL,
		.dropped = &b->program.dropped,
	};

	if (b->program.split && (command || recorded.class_path))
		lc_note(
		    "bench: this profile of an older Locus has the program's command as one text: "
		    "words with spaces are split, and relative paths begin in this directory");
	return lc_bench_consent(&recorded, b->run_recorded);
}

static int make_benchmark(struct bench *b)
{
	struct lc_bench_output output;
	int status = lc_bench_output_make(&output, &b->request);

	if (status)
		return status;
	status = lc_bench_output_write(&output, &b->request);
	if (!status)
		status = start(b, output.file);
	if (status == LC_EXIT_FAILED || status == LC_EXIT_USAGE)
		lc_bench_output_remove(&output);
	lc_bench_output_free(&output);
	return status;
}

static int bench_loaded(void *context, const struct lc_load *l)
{
	struct bench *b = context;
	int status = 0;

	lc_progress_end();
	if (!l->processes_len)
		return lc_fail("bench: the profile does not say which program it is from");
	lc_bench_program_read(&b->program, l->processes, b->here, b->trust_options);
	choose_program(b, l);
	if (b->request.record && !b->command)
		status = lc_bench_consent_whole(&b->program, l->processes);
	if (!status)
		status = choose_paths(b);
	if (!status)
		status = choose_place(b, l);
	if (!status)
		status = choose_java(b);
	b->request.java = b->java;
	if (!status)
		status = ask(b);
	if (!status)
		status = make_benchmark(b);
	return !status && lc_load_damaged(l) ? LC_EXIT_PARTIAL : status;
}

static int bench_profile(struct bench *b)
{
	int status;

	lc_load_expect(b->request.profile);
	status = lc_load_one(b->request.profile, NULL, bench_loaded, b);
	lc_progress_end();
	return status;
}

static int bench_newest(struct bench *b)
{
	char *newest = lc_newest_profile();
	int status;

	if (!newest)
		return lc_usage("bench: there is no profile in the current directory; name one, "
		                "or record one with 'locus run'");
	lc_note("profile %s", newest);
	b->request.profile = newest;
	status = bench_profile(b);
	free(newest);
	return status;
}

static void bench_free(struct bench *b)
{
	lc_bench_place_free(&b->request.place);
	lc_bench_words_free(&b->request.source_path);
	lc_bench_words_free(&b->request.class_path);
	lc_bench_words_free(&b->request.against);
	lc_bench_program_free(&b->program);
	lc_bench_program_free(&b->own);
}

int lc_cmd_bench(int argc, char **argv)
{
	static struct bench b = { .request = { .run = true,
		                               .record = true,
		                               .forks = BENCH_FORKS,
		                               .seconds = BENCH_SECONDS,
		                               .inputs = BENCH_INPUTS,
		                               .locus = b.locus } };
	int status = parse_arguments(&b, argc, argv);

	if (status < 0)
		return lc_answer(status, argv[0]);
	if (!status)
		status = find_jar(&b);
	if (!status && (!getcwd(b.here, sizeof(b.here)) || !lc_libraries_self(b.locus)))
		status =
		    lc_fail("bench: cannot find the current directory, or the path of locus: %m");
	b.request.profile = b.profile;
	if (!status)
		status = b.profile ? bench_profile(&b) : bench_newest(&b);
	bench_free(&b);
	return status;
}
