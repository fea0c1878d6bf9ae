/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/bench_program.h - reads the command of a profile's program: its java, options and class
 * path, so that a benchmark runs under the same conditions.
 */
#ifndef LC_COMMANDS_BENCH_PROGRAM_H
#define LC_COMMANDS_BENCH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct lc_load_process;

/* A list of texts; all zero at first. Free with lc_bench_words_free(). */
struct lc_bench_words {
	char **list;
	size_t len, cap;
};

void lc_bench_words_add(struct lc_bench_words *w, const char *text, size_t len);
void lc_bench_words_free(struct lc_bench_words *w);

/*
 * The elements of a path separated by ':', each absolute: one that is not begins in `directory`
 * (where that is "" it stays as it is). With `jars`, "lib/" followed by '*' becomes the jars of
 * that directory in the order of their names, as java has it. Empty elements are left out.
 */
void lc_bench_words_path(struct lc_bench_words *w, const char *path, const char *directory,
                         bool jars);

/* Is it the name of the java launcher? Something else may have started a JVM in itself. */
bool lc_bench_is_java(const char *name);

/*
 * The index of the word of a command that names the class: the class, "-jar", "-m". 0 where the
 * command is none of java's, or names none.
 */
size_t lc_bench_words_main(const struct lc_bench_words *words);

/* Free with lc_bench_program_free(). */
struct lc_bench_program {
	struct lc_bench_words words; /* argv; none where it is not known */
	char *directory;             /* in which it was started, as far as is known */
	bool split;                  /* `words` are what stands between the command's spaces */
	/* From the words: */
	struct lc_bench_words run;         /* the words without the dropped ones */
	struct lc_bench_words dropped;     /* options that may do harm, "name=value" as one word */
	struct lc_bench_words class_path;  /* absolute */
	struct lc_bench_words jvm_options; /* that a benchmark is run with, too */
	bool argument_files;               /* "@FILE" among the options, which is not read */
};

/*
 * Read a profile's command. `here` stands for the directory where the profile does not tell it.
 * `trusted`: no option is dropped.
 */
void lc_bench_program_read(struct lc_bench_program *p, const struct lc_load_process *process,
                           const char *here, bool trusted);

/*
 * Read a command of the user's, one word or more and NULL, that is run in `here`. It has no class
 * path where it is none of java's.
 */
void lc_bench_program_command(struct lc_bench_program *p, char *const *command, const char *here);

void lc_bench_program_free(struct lc_bench_program *p);

#endif
