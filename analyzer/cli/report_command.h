/*
 * cli/report_command.h - what the commands that report on profiles share: operands, loading, --thread,
 * --engine, --top, and the file that is written.
 */
#ifndef LC_CLI_REPORT_COMMAND_H
#define LC_CLI_REPORT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/cli/args.h"
#include "analyzer/model/load.h"

/* Exit status of a report that was written although parts of its profile are damaged. */
enum { LC_REPORT_PARTIAL = 2 };

/* Options of one meaning in each of them. The strings are the caller's. */
struct lc_report_settings {
	const char *file;   /* NULL: stdout */
	const char *engine; /* NULL: not given */
	size_t top;         /* 0: not given */
	bool filtered;      /* --thread was given */
	struct lc_thread_filter filter;
};

/* A decimal number of at most `max`. Returns 0, or -EINVAL with *out undefined. */
int lc_report_number(const char *text, unsigned long max, unsigned long *out);

/* --top=`value` of so many `what` ("sites"). Returns 0, or 1 after one line on stderr. */
int lc_report_set_top(struct lc_report_settings *s, const char *value, const char *what);

/* --thread=`value`: a TID, or patterns. */
void lc_report_set_thread(struct lc_report_settings *s, const char *value);

/* Can --thread tell the threads of what was loaded apart? Returns 0, or 1 after one line on stderr. */
int lc_report_check_threads(const struct lc_load *l);

/* The engine of that name or number (from 1). Returns 0 and its row, or 1 after one line on stderr. */
int lc_report_find_engine(const struct lc_load *l, const char *word, uint32_t *engine);

/*
 * The first of the processes in text: its command, cut where it is very long, pid, JDK and collector, and how
 * long it ran as far as that is known. Nothing where there is none.
 */
void lc_report_program(FILE *out, const struct lc_load *l);

/* stdout where `file` is NULL. Returns NULL after one line on stderr. */
FILE *lc_report_open(const char *file);
/* Returns 0, or 1 after one line on stderr: what was written since lc_report_open() is not whole. */
int lc_report_close(FILE *out, const char *file);

/* A command: its options, and what it does with the profiles once they are loaded. */
struct lc_report_command {
	const struct lc_option_info *rows;
	size_t rows_len;
	int (*set)(void *context, int row, const char *value); /* for lc_args_read() */
	/* Returns the exit status; `path` is the first operand. */
	int (*report)(void *context, const struct lc_load *l, const char *path);
	struct lc_report_settings *settings; /* that `set` fills in */
	void *context;
};

/*
 * Read the command line, load the profiles and report. Returns the exit status of the tool:
 * LC_REPORT_PARTIAL where parts of them are damaged. argv[0] is the command's name.
 */
int lc_report_run(const struct lc_report_command *c, int argc, char **argv);

#endif
