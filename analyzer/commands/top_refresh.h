/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/top_refresh.h - makes what `locus top` shows: a child process has the agent write its
 * profile, and reports on it into a pipe. A report that fails, or that takes long, then leaves the
 * terminal to the command.
 */
#ifndef LC_COMMANDS_TOP_REFRESH_H
#define LC_COMMANDS_TOP_REFRESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lc_attach_target;

/* The strings belong to the caller, and stay valid while a refresh runs. */
struct lc_top_what {
	const struct lc_attach_target *target;
	const char *library;   /* of the agent, as the JVM sees it */
	const char *directory; /* of the profile: for a JVM that has ended */
	const char *view;      /* as of `locus report --view` */
	const char *frame;     /* count only call paths that contain it; "": all */
	uint64_t window_ns;    /* count only this time before now; 0: all */
	unsigned columns;      /* of the terminal */
	bool line;             /* one line of text (lc_top_line()), and no report */
};

/* Zeroed: no refresh was started. */
struct lc_top_refresh {
	pid_t pid; /* 0: none runs */
	int fd;    /* what it writes; meaningful while one runs */
	char *text;
	size_t len, cap;
};

/* Start one; none runs. Returns 0, or 1 after one line on stderr. */
int lc_top_refresh_start(struct lc_top_refresh *r, const struct lc_top_what *what);

/*
 * Read what the child has written; call it when `fd` is readable. Returns whether it has ended:
 * *text is all it has written, malloc'ed and the caller's, and *status its exit status.
 */
bool lc_top_refresh_read(struct lc_top_refresh *r, char **text, int *status);

/* Wait for the child, some seconds at most; free what it has written. */
void lc_top_refresh_end(struct lc_top_refresh *r);

/*
 * Write a line on the profile in `directory`, without a newline: "91.1% of 1009 samples at objects:
 * 46.7% Spectrum.re (double[]) <- Spectrum.<init>:22; ...". Returns 0, or an exit status after one
 * line on stderr.
 */
int lc_top_line(const char *directory, uint64_t window_ns);

#endif
