/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/bench_options.h - decides which options of a JVM `locus bench` takes over from a
 * profile, which anybody can have written.
 *
 * A list has the options that are known to be harmless. All others are dropped: they may run a
 * command, load code, write a file or open a port, and each JDK adds more.
 */
#ifndef LC_COMMANDS_BENCH_OPTIONS_H
#define LC_COMMANDS_BENCH_OPTIONS_H

enum lc_bench_option {
	LC_BENCH_OPTION_DROPPED,
	LC_BENCH_OPTION_PROGRAM, /* harmless, and for a run of the program alone */
	LC_BENCH_OPTION_BOTH     /* harmless, and the benchmark may need it or run faster by it */
};

/*
 * The kind of an option of `java`. An option of two words is passed as "name=value". The value of a
 * class path or module path is harmless here: the caller shows it to the user.
 */
enum lc_bench_option lc_bench_option_kind(const char *word);

#endif
