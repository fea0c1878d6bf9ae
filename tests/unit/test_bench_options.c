/* uses: analyzer/commands/bench_options.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bench_options.c - checks which options of a foreign profile's JVM are taken over: those that
 * are known to be harmless, and no other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyzer/commands/bench_options.h"

static void assert_kind(enum lc_bench_option kind, const char *const *words)
{
	for (; *words; words++)
		if (lc_bench_option_kind(*words) != kind)
			fail_msg("'%s' is of another kind", *words);
}

static void options_that_execute_load_write_or_listen_are_dropped(void **state)
{
	static const char *const words[] = { "-XX:OnOutOfMemoryError=touch x",
		                             "-XX:OnError=gdb %p",
		                             "-XX:OnError=1",
		                             "-agentpath:/x.so",
		                             "-agentlib:jdwp=x",
		                             "-javaagent:x.jar",
		                             "-Xrunjdwp:x",
		                             "-Xdebug",
		                             "@file",
		                             "-XX:Flags=x",
		                             "-XX:Flags=1",
		                             "-XX:VMOptionsFile=x",
		                             "-XX:+ReadVMOptionsFile",
		                             "-XXaltjvm=/x",
		                             "--patch-module=java.base=/x",
		                             "--upgrade-module-path=/x",
		                             "-Xbootclasspath:/x",
		                             "-Xbootclasspath/a:/x",
		                             "-Xbootclasspath/p:/x",
		                             "-XX:+ShowMessageBoxOnError",
		                             "-XX:+HeapDumpOnOutOfMemoryError",
		                             "-XX:HeapDumpPath=/x",
		                             "-XX:ErrorFile=/x",
		                             "-XX:LogFile=/x",
		                             "-XX:ZPath=/x",
		                             "-XX:AllocateHeapAt=/x",
		                             "-Xlog:gc:file=/x",
		                             "-Xloggc:/x",
		                             "-XX:SharedArchiveFile=/x",
		                             "-XX:AOTLibrary=/x.so",
		                             "-XX:AOTCache=/x",
		                             "-XX:JVMCILibPath=/x",
		                             "-XX:+EnableJVMCI",
		                             "-XX:StartFlightRecording=filename=/x",
		                             "-XX:CompileCommandFile=/x",
		                             "-XX:CompileCommand=print,*.*",
		                             "-XX:CompileCommand=inline,x\ny",
		                             "-XX:CRaCRestoreFrom=/x",
		                             "-XX:+UnknownSwitch",
		                             "-XX:UnknownSize=/x",
		                             "-XX:NewSize=1 -XX:OnError=x",
		                             "-XX:MaxHeapSize=",
		                             "-Xmx1g -javaagent:x",
		                             "-Xmx",
		                             "-Xshare:dump",
		                             "-splash:x.png",
		                             "-J-Xmx1g",
		                             "--add-opens=a/b=ALL\" \"-javaagent:x",
		                             "-ea:a b",
		                             "-eax",
		                             "--enable-preview-x",
		                             "-Dcom.sun.management.jmxremote.port=1",
		                             "-Dsun.boot.library.path=/x",
		                             "-Djava.library.path=/x",
		                             "-Djava.system.class.loader=X",
		                             "-Djava.security.manager=X",
		                             "-Djdk.module.path=/x",
		                             "-Djava.util.logging.config.file=/x",
		                             "",
		                             "-",
		                             "--",
		                             NULL };

	assert_kind(LC_BENCH_OPTION_DROPPED, words);
}

static void options_that_change_speed_are_harmless(void **state)
{
	static const char *const words[] = { "-Xmx512m",
		                             "-Xms1g",
		                             "-Xmn64M",
		                             "-Xss1024k",
		                             "-Xint",
		                             "-Xbatch",
		                             "-Xshare:off",
		                             "-XX:+UseG1GC",
		                             "-XX:-UseCompressedOops",
		                             "-XX:MaxInlineLevel=20",
		                             "-XX:MaxRAMPercentage=62.5",
		                             "-XX:NewSize=10m",
		                             "-XX:+UnlockExperimentalVMOptions",
		                             "-XX:TieredStopAtLevel=1",
		                             "-XX:-TieredCompilation",
		                             "-XX:G1HeapRegionSize=4m",
		                             "-XX:+ZGenerational",
		                             "-XX:ShenandoahGCHeuristics=compact",
		                             "-XX:ObjectAlignmentInBytes=16",
		                             "-XX:MaxGCPauseMillis=50",
		                             "-XX:ParallelGCThreads=2",
		                             "-XX:CompileCommand=dontinline,org.acme.Index::search",
		                             "-ea",
		                             "-ea:org.acme...",
		                             "-dsa",
		                             "--enable-preview",
		                             "--add-opens=java.base/java.util=ALL-UNNAMED,m.n",
		                             "--add-modules=jdk.incubator.vector",
		                             NULL };

	assert_kind(LC_BENCH_OPTION_BOTH, words);
}

static void what_only_the_program_needs_is_not_the_benchmarks(void **state)
{
	static const char *const words[] = { "-Dapp.size=3",    "-Dfile.encoding=UTF-8",
		                             "-Dname",          "-Djava.awt.headless=true",
		                             "-cp=a:b",         "--class-path=a",
		                             "--module-path=m", "--module=m/Main",
		                             "-server",         "-verbose:gc",
		                             "-Djavan.x=y",     NULL };

	assert_kind(LC_BENCH_OPTION_PROGRAM, words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_that_execute_load_write_or_listen_are_dropped),
		cmocka_unit_test(options_that_change_speed_are_harmless),
		cmocka_unit_test(what_only_the_program_needs_is_not_the_benchmarks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
