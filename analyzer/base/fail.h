/*
 * base/fail.h - this function prints the one line on stderr with which a command of `locus` gives
 * up.
 */
#ifndef LC_BASE_FAIL_H
#define LC_BASE_FAIL_H

/* Print "locus: " and the text as a line on stderr. Returns 1, the exit status of a command that
 * failed. */
__attribute__((format(printf, 1, 2))) int lc_fail(const char *format, ...);

#endif
