/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/limit.h - remembers which limits the agent has reached, for the line on the standard error
 * and for the manifest, whence reports have them.
 *
 * A limit is one of memory, of files, of time: what is recorded from then on is less than what
 * was asked for. Each kind of limit is said once in a recording.
 */
#ifndef LC_BASE_LIMIT_H
#define LC_BASE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

enum { LC_LIMITS_MAX = 40, LC_LIMIT_KIND_MAX = 32, LC_LIMIT_TEXT_MAX = 320 };

/* `kind` is a word of [a-z_], the same in every version; `text` is a clause for people. */
struct lc_limit {
	char kind[LC_LIMIT_KIND_MAX];
	char text[LC_LIMIT_TEXT_MAX];
};

/*
 * The limit `kind` is reached: say so in one line and keep it for the manifest, unless the kind was
 * reached before. The text says which limit, what is lost, and which option moves it. Returns
 * whether this call was the first. It may be called by any thread at any time but in a signal
 * handler. Context: [attach] [java] [writer]; [gc] and [hook] use lc_limit_note().
 */
bool lc_limit_reached(const char *kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same without printing: lc_limits_say() does that later. Context: any but [signal]. */
bool lc_limit_note(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same without ever printing: a line of the caller's has said it. Context: any but [signal]. */
bool lc_limit_keep(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print what was noted and not said yet. Context: [attach] [writer]. */
void lc_limits_say(void);

/* Copy the limits that were reached, in their order; returns how many. Context: any but [signal] */
size_t lc_limits(struct lc_limit out[LC_LIMITS_MAX]);

/* A new recording begins: none is reached. Context: [attach]. */
void lc_limits_forget(void);

#endif
