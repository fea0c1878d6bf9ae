/* SPDX-License-Identifier: Apache-2.0 */
/* repeat/repeat_options.h - reads the options of commands that run a program several times. */
#ifndef LC_REPEAT_REPEAT_OPTIONS_H
#define LC_REPEAT_REPEAT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/options.h"

enum { LC_REPEAT_RUNS = 10, LC_REPEAT_RUNS_MAX = 1000 };

#define LC_REPEAT_ROW_TIMEOUT                                                                      \
	{                                                                                          \
		"timeout", 0, "DURATION", "TIME", "none", "ns",                                    \
		    "stop a run that takes longer than TIME, and leave it out"                     \
	}
#define LC_REPEAT_ROW_STDERR                                                                       \
	{                                                                                          \
		"any-stderr", 0, "FLAG", "", "off", "",                                            \
		    "also count runs that write to standard error"                                 \
	}
#define LC_REPEAT_ROW_OUTPUT                                                                       \
	{                                                                                          \
		"any-output", 0, "FLAG", "", "off", "",                                            \
		    "also count runs whose output differs from that of the others"                 \
	}

/*
 * A command line of the agent's options, the command's own, operands, and a program behind "--".
 * The caller sets `rows`, `own_len` of which are its own and stand last, `options`, `set`,
 * `context` and `operands`, with room for all words.
 */
struct lc_repeat_line {
	const struct lc_option_info *rows;
	size_t rows_len, own_len;
	struct lc_options *options;
	/* Sets an option of its own, from 0. Returns 0, or an exit status after one line on stderr.
	 */
	int (*set)(void *context, int row, const char *value);
	void *context;
	/* Results: */
	char **command;        /* NULL: none */
	const char *directory; /* of --output, in the place of the agent's; NULL: not given */
	const char *for_runs;  /* an option that means nothing without a program; NULL: none */
	char **operands;
	size_t operands_len;
};

/* Returns 0, an exit status after one line on stderr, or LC_ARGS_HELP or LC_ARGS_VERSION. */
int lc_repeat_parse(struct lc_repeat_line *l, int argc, char **argv);

/*
 * Put the agent's options, with `output` in the place of the agent's, and `own` behind them into
 * `rows`, which has room for them. Returns how many there are.
 */
size_t lc_repeat_rows(struct lc_option_info *rows, const struct lc_option_info *output,
                      const struct lc_option_info *own, size_t own_len);

/* Each returns 0 and sets *out, or an exit status after one line on stderr. */
int lc_repeat_set_count(const struct lc_option_info *row, const char *value, unsigned long max,
                        size_t *out);
int lc_repeat_set_timeout(const char *value, uint64_t *out_ns);

/*
 * A new directory's name for a command that was given none, "PREFIX-20261124-143005", in the
 * `out_len` bytes of `out`. Returns out.
 */
const char *lc_repeat_directory(const char *prefix, char *out, size_t out_len);

#endif
