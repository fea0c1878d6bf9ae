/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/fail.h - prints a command's messages on stderr: notes, warnings and failures with their exit
 * status.
 */
#ifndef LC_BASE_FAIL_H
#define LC_BASE_FAIL_H

/* Exit statuses of `locus`; docs/man/locus.1.in has the table for users. */
enum {
	LC_EXIT_FAILED = 1,
	LC_EXIT_USAGE = 2,   /* a word of the command line is wrong: nothing was done */
	LC_EXIT_PARTIAL = 3, /* done, as far as what was read is whole */
	LC_EXIT_TOOL = 125,  /* `locus run` could not start the program */
};

/*
 * Set the name that begins each line; "locus" by default. `name` must stay valid. Call it before
 * threads start.
 */
void lc_program_set(const char *name);
const char *lc_program(void);

/*
 * From now on each line that is printed or captured begins with that text, behind the name of the
 * program: "rank 3". It is kept. NULL: with none. While no other thread prints.
 */
void lc_fail_origin(const char *origin);

/* Print "locus: " and the text as a line on stderr, whose control characters are shown and not
 * sent. */
__attribute__((format(printf, 1, 2))) void lc_note(const char *format, ...);

/*
 * From now on the lines of this thread are appended to *text, without the command's name, and are
 * not printed: *text is NULL or from malloc(), and the caller's. NULL: they are printed.
 * Returns what was given before.
 */
char **lc_fail_capture(char **text);

/* The same, where the command gives up. Returns LC_EXIT_FAILED. */
__attribute__((format(printf, 1, 2))) int lc_fail(const char *format, ...);

/* The same for a command line that is wrong. Returns LC_EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int lc_usage(const char *format, ...);

#endif
