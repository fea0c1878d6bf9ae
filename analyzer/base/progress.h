/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/progress.h - says on a terminal how far a command is that takes more than a second: one line
 * on stderr, written over and erased at the end. Nothing where stderr is no terminal.
 */
#ifndef LC_BASE_PROGRESS_H
#define LC_BASE_PROGRESS_H

#include <stdint.h>

/* So many bytes more are to be read: what the parts are of. */
void lc_progress_expect(uint64_t bytes);

/* "locus: reading dir/thread-0.lcb, 40%": so many bytes more of the file are read. Context: any
 * thread of the analyzer. */
void lc_progress_read(const char *file, uint64_t bytes);

/*
 * "locus: comparing ...", until the next one or the end: what does not say how far it is. `what` is
 * kept. A timer of the process (SIGALRM) shows it when the second is over.
 */
void lc_progress_stage(const char *what);

/* The same at once, before something that is known to take long. */
void lc_progress_now(const char *what);

/* Erase the line, if there is one: before anything else is written. */
void lc_progress_end(void);

#endif
