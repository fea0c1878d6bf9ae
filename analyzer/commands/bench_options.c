/* SPDX-License-Identifier: Apache-2.0 */
/* commands/bench_options.c - lists the options of a JVM that are known to be harmless. */
#include "analyzer/commands/bench_options.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static bool begins(const char *word, const char *with)
{
	return strncmp(word, with, strlen(with)) == 0;
}

static bool fits_any(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

/* "25", "0.5", "512m": no file and no command has a name of this form in an option below. */
static bool is_number(const char *text)
{
	const size_t digits = strspn(text, "0123456789.");

	return digits && (!text[digits] || (strchr("kKmMgGtT", text[digits]) && !text[digits + 1]));
}

/*
 * Names of classes, packages or modules. JMH splits the options of its JVMs at spaces and quotes,
 * so neither may be in them.
 */
static bool is_names(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._$-/,=:*", *text))
			return false;
	return true;
}

/* ---- -XX: ---- */

/* Switches, by the name behind '+' or '-'. */
static const char *const switches[] = {
	"Aggressive*",
	"AlwaysPreTouch*",
	"BackgroundCompilation",
	"BlockLayout*",
	"ClassUnloading*",
	"CompactStrings",
	"DisableExplicitGC",
	"DoEscapeAnalysis",
	"DoReserveCopyInSuperWord",
	"Eliminate*",
	"EnableContended",
	"ExplicitGCInvokesConcurrent*",
	"G1Use*",
	"IgnoreUnrecognizedVMOptions",
	"Inline*",
	"Loop*",
	"OmitStackTraceInFastThrow",
	"Optimize*",
	"ParallelRefProcEnabled",
	"PartialPeel*",
	"ReduceInitialCardMarks",
	"ResizeTLAB",
	"RestrictContended",
	"ScavengeBeforeFullGC",
	"SegmentedCodeCache",
	"Shenandoah*",
	"SplitIfBlocks",
	"StackTraceInThrowable",
	"TieredCompilation",
	"UnlockDiagnosticVMOptions",
	"UnlockExperimentalVMOptions",
	"Use*GC",
	"UseAES*",
	"UseAdaptive*",
	"UseBMI*",
	"UseBiasedLocking",
	"UseCMov*",
	"UseCodeCacheFlushing",
	"UseCompact*",
	"UseCompressed*",
	"UseCondCardMark",
	"UseContainerSupport",
	"UseCountedLoopSafepoints",
	"UseDynamicNumberOf*",
	"UseFMA",
	"UseFast*",
	"UseGCOverheadLimit",
	"UseLargePages*",
	"UseLoop*",
	"UseNUMA*",
	"UseOnStackReplacement",
	"UseProfiledLoopPredicate",
	"UseSHA*",
	"UseStringDeduplication",
	"UseSuperWord",
	"UseTLAB",
	"UseTransparentHugePages",
	"UseTypeProfile",
	"UseTypeSpeculation",
	"UseUnaligned*",
	"UseVectorizedMismatchIntrinsic",
	"UseXMM*",
	"ZGenerational",
	"ZProactive",
	"ZUncommit",
	"ZeroTLAB",
};

/* Names whose value is a number. */
static const char *const numbers[] = {
	"*Bytes",      "*Count",    "*Delay",      "*Distance",
	"*Factor",     "*Fraction", "*Interval",   "*Level",
	"*Limit",      "*Lines",    "*MB",         "*Millis",
	"*Nodes",      "*Pages",    "*Percent",    "*Ratio",
	"*Percentage", "*Scaling",  "*Size",       "*Threads",
	"*Threshold",  "*Weight",   "*Width",      "AllocatePrefetch*",
	"Auto*Max",    "G1*",       "Initial*",    "InlineSmallCode",
	"Max*",        "Min*",      "Shenandoah*", "Tiered*",
	"UseAVX",      "UseSSE",    "Z*",
};

/* Commands to the compilers that change nothing but what is compiled and inlined. */
static bool is_compile_command(const char *value)
{
	static const char *const commands[] = { "inline,", "dontinline,", "compileonly,",
		                                "exclude,", "quiet" };

	for (size_t i = 0; i < COUNT(commands); i++)
		if (begins(value, commands[i]))
			return is_names(value);
	return false;
}

/* `name` is what stands behind "-XX:". */
static bool is_harmless_flag(const char *name)
{
	const char *equals = strchr(name, '=');
	char only[64];

	if (*name == '+' || *name == '-')
		return !equals && fits_any(name + 1, switches, COUNT(switches));
	if (!equals || (size_t)(equals - name) >= sizeof(only))
		return false;
	memcpy(only, name, (size_t)(equals - name));
	only[equals - name] = '\0';
	if (!strcmp(only, "CompileCommand"))
		return is_compile_command(equals + 1);
	if (!strcmp(only, "ShenandoahGCMode") || !strcmp(only, "ShenandoahGCHeuristics"))
		return is_names(equals + 1);
	return fits_any(only, numbers, COUNT(numbers)) && is_number(equals + 1);
}

/* ---- -D ---- */

/*
 * The program's own properties are as its arguments. With properties of the JDK code is loaded from
 * a path, ports are opened and files are written: few are taken.
 */
static bool is_harmless_property(const char *name)
{
	static const char *const jdks[] = { "java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*" };
	static const char *const taken[] = {
		"java.awt.headless=*",
		"java.locale.providers=*",
		"java.net.preferIPv*",
		"java.security.egd=*",
		"java.util.Arrays.useLegacyMergeSort=*",
		"java.util.concurrent.ForkJoinPool.common.parallelism=*",
		"jdk.virtualThreadScheduler.*=*",
	};

	return !fits_any(name, jdks, COUNT(jdks)) || fits_any(name, taken, COUNT(taken));
}

/* ---- the others ---- */

/* Is it one of the names, alone or with names of classes, packages or modules behind `sign`? */
static bool has_names(const char *word, char sign, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t len = strlen(names[i]);

		if (begins(word, names[i]) &&
		    (!word[len] || (word[len] == sign && is_names(word + len + 1))))
			return true;
	}
	return false;
}

static bool is_both(const char *word)
{
	static const char *const sizes[] = { "-Xms", "-Xmx", "-Xmn", "-Xss" };
	static const char *const alone[] = {
		"-Xint",         "-Xcomp",          "-Xmixed",         "-Xbatch",
		"-Xrs",          "-Xnoclassgc",     "-Xcheck:jni",     "-Xfuture",
		"-Xshare:on",    "-Xshare:off",     "-Xshare:auto",    "-Xverify:all",
		"-Xverify:none", "-Xverify:remote", "--enable-preview"
	};
	static const char *const assertions[] = { "-ea",
		                                  "-da",
		                                  "-esa",
		                                  "-dsa",
		                                  "-enableassertions",
		                                  "-disableassertions",
		                                  "-enablesystemassertions",
		                                  "-disablesystemassertions" };
	static const char *const modules[] = { "--add-exports",
		                               "--add-modules",
		                               "--add-opens",
		                               "--add-reads",
		                               "--enable-native-access",
		                               "--illegal-access",
		                               "--sun-misc-unsafe-memory-access" };

	for (size_t i = 0; i < COUNT(sizes); i++)
		if (begins(word, sizes[i]) && is_number(word + strlen(sizes[i])))
			return true;
	for (size_t i = 0; i < COUNT(alone); i++)
		if (strcmp(word, alone[i]) == 0)
			return true;
	if (begins(word, "-XX:"))
		return is_harmless_flag(word + 4);
	return has_names(word, ':', assertions, COUNT(assertions)) ||
	       has_names(word, '=', modules, COUNT(modules));
}

static bool is_program(const char *word)
{
	static const char *const paths[] = { "-cp=*",          "-classpath=*",     "--class-path=*",
		                             "-p=*",           "--module-path=*",  "--module=*",
		                             "-server",        "-client",          "-d64",
		                             "-verbose",       "-verbose:*",       "-showversion",
		                             "--show-version", "--limit-modules=*" };

	if (begins(word, "-D"))
		return is_harmless_property(word + 2);
	return fits_any(word, paths, COUNT(paths));
}

enum lc_bench_option lc_bench_option_kind(const char *word)
{
	if (is_both(word))
		return LC_BENCH_OPTION_BOTH;
	return is_program(word) ? LC_BENCH_OPTION_PROGRAM : LC_BENCH_OPTION_DROPPED;
}
