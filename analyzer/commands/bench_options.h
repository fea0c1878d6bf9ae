/*
 * commands/bench_options.h - this module tells which options of a JVM `locus bench` takes over from
 * a profile, which anybody can have written.
 *
 * The module has a list of options that are known to be harmless. An option that is not on the list
 * is dropped: it may run a command, load code, write a file or open a port, and each JDK adds more.
 */
#ifndef LC_COMMANDS_BENCH_OPTIONS_H
#define LC_COMMANDS_BENCH_OPTIONS_H

enum lc_bench_option {
	LC_BENCH_OPTION_DROPPED,
	LC_BENCH_OPTION_PROGRAM, /* harmless, and for a run of the program alone */
	LC_BENCH_OPTION_BOTH     /* harmless, and the benchmark may need it or run faster by it */
};

/*
 * The kind of an option of java's. Of an option of two words, `word` is "name=value". A name of a
 * class path or of a module path is harmless here: the caller shows the path to the user.
 */
enum lc_bench_option lc_bench_option_kind(const char *word);

#endif
