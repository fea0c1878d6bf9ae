/*
 * base/fail.h - these functions print the one line on stderr with which a command of `locus` gives
 * up, and return its exit status.
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

/* Print "locus: " and the text as a line on stderr. Returns LC_EXIT_FAILED. */
__attribute__((format(printf, 1, 2))) int lc_fail(const char *format, ...);

/* The same for a command line that is wrong. Returns LC_EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int lc_usage(const char *format, ...);

#endif
