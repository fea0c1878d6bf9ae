/*
 * base/progress.h - says on a terminal how far a command is that takes more than a second: one line
 * on stderr, written over and erased at the end. Nothing where stderr is no terminal.
 */
#ifndef LC_BASE_PROGRESS_H
#define LC_BASE_PROGRESS_H

#include <stdint.h>

/* "locus: reading dir/thread-0.lcb, 40%": `done` of `all`; without a part where `all` is 0. */
void lc_progress(const char *what, const char *of, uint64_t done, uint64_t all);

/* The same at once, before something takes long that does not say how far it is. */
void lc_progress_now(const char *what);

/* Erase the line, if there is one: before anything else is written. */
void lc_progress_end(void);

#endif
