/* SPDX-License-Identifier: Apache-2.0 */
/* base/say.h - prints the agent's lines for the user on the standard error. */
#ifndef LC_BASE_SAY_H
#define LC_BASE_SAY_H

/*
 * Print "locus: ", the text and a newline as one line; a text longer than 4000 bytes is cut. The
 * standard output is the program's and never written to. Context: [attach] [java] [writer].
 */
void lc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Send this thread's lines to `fd`, without "locus: ", until the next call; -1: to stderr. Lines of
 * other threads do not answer a command and still go to stderr. Context: any but [signal].
 */
void lc_say_to(int fd);

/* The same for a line that is printed only where lc_say_to() has named a file. */
void lc_say_answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
