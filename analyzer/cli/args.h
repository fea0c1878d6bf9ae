/* SPDX-License-Identifier: Apache-2.0 */
/* cli/args.h - reads a command line by a table of options. */
#ifndef LC_CLI_ARGS_H
#define LC_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/options.h"

enum {
	LC_ARGS_END = -1,     /* nothing left */
	LC_ARGS_ERROR = -2,   /* one line was printed on stderr */
	LC_ARGS_OPERAND = -3, /* *value is it */
	LC_ARGS_HELP = -4,    /* --help or -h: lc_answer() of cli/command.h */
	LC_ARGS_VERSION = -5, /* --version or -V: the same */
};

/* Filled in by the caller: argc, argv, table, count; next = 1 (argv[0] is the command's name). */
struct lc_args {
	int argc;
	char **argv;
	const struct lc_option_info *table;
	size_t count;
	int next;            /* index of the argument to look at next */
	const char *cluster; /* rest of "-xyz", or NULL */
	bool operands_only;  /* "--" was seen: all the rest are operands */
};

/*
 * The next option or operand. Returns the option's row in the table and sets *value to its
 * argument (NULL for a FLAG without one), or one of LC_ARGS_*. Understands --name=value,
 * --name value, -n value, -nvalue; operands and options may be mixed. The strings are argv's.
 */
int lc_args_next(struct lc_args *a, const char **value);

/*
 * Read all of it: each option goes to set(), which returns 0, or an exit status after one
 * line on stderr. Returns 0, sets *operands to an array (free() it) and *count; or an exit status
 * after one line on stderr, or LC_ARGS_HELP or LC_ARGS_VERSION, with *operands NULL.
 */
int lc_args_read(struct lc_args *a, int (*set)(void *context, int row, const char *value),
                 void *context, char ***operands, size_t *count);

/* A decimal number of at most `max`. Returns 0, or -EINVAL with *out undefined. */
int lc_args_number(const char *text, unsigned long max, unsigned long *out);

#endif
