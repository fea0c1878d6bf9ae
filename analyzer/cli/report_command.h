/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/report_command.h - runs a command that reports on profiles: reads its options, loads the
 * profiles, opens the output. It handles --format, --file, --top, --thread and --engine itself.
 */
#ifndef LC_CLI_REPORT_COMMAND_H
#define LC_CLI_REPORT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/cli/args.h"
#include "analyzer/cli/choose.h"
#include "analyzer/model/load.h"

/* Positions of the words with which --format begins in all these commands. */
enum { LC_REPORT_AS_TEXT, LC_REPORT_AS_JSON, LC_REPORT_FORMATS };

/*
 * Rows of the options that all these commands have; lc_report_run() sets lc_report_settings from
 * them. `what` is what --top counts: "sites".
 */
#define LC_REPORT_ROW_FILE                                                                         \
	{                                                                                          \
		"file", 'f', "STRING", "FILE", "", "",                                             \
		    "write to FILE instead of stdout (-); the extension chooses the format"        \
	}
#define LC_REPORT_ROW_TOP(what, help)                                                              \
	{                                                                                          \
		"top", 'n', "COUNT", "N", "", what, help                                           \
	}
#define LC_REPORT_ROW_THREAD                                                                       \
	{                                                                                          \
		"thread", 't', "STRING", "TID|PATTERN", "", "",                                    \
		    "count only the thread TID, or threads whose name matches PATTERN; "           \
		    "separate several patterns with ';'"                                           \
	}
#define LC_REPORT_ROW_INCLUDE                                                                      \
	{                                                                                          \
		"include", 'I', "STRING", "FRAME", "", "",                                         \
		    "count only call paths that contain FRAME (repeatable): a part of "            \
		    "Class.method, or a pattern with * and ?, also with :LINE or :FIRST-LAST"      \
	}
#define LC_REPORT_ROW_EXCLUDE                                                                      \
	{                                                                                          \
		"exclude", 'X', "STRING", "FRAME", "", "",                                         \
		    "ignore call paths that contain FRAME (repeatable)"                            \
	}
/* Four rows, which follow each other. */
#define LC_REPORT_ROW_SINCE                                                                        \
	{                                                                                          \
		"since", 0, "STRING", "TIME", "", "",                                              \
		    "count only what was recorded from TIME on: 14:30, '2026-11-24 14:30:05', "    \
		    "or 1h (before the end)"                                                       \
	}
#define LC_REPORT_ROW_UNTIL                                                                        \
	{                                                                                          \
		"until", 0, "STRING", "TIME", "", "", "count only what was recorded before TIME"   \
	}
#define LC_REPORT_ROW_FROM_MARK                                                                    \
	{                                                                                          \
		"from-mark", 0, "STRING", "NAME", "", "",                                          \
		    "count only what was recorded from the program's first mark NAME on"           \
	}
#define LC_REPORT_ROW_TO_MARK                                                                      \
	{                                                                                          \
		"to-mark", 0, "STRING", "NAME", "", "",                                            \
		    "count only what was recorded before the next mark NAME"                       \
	}
#define LC_REPORT_ROW_NO_PAGER                                                                     \
	{                                                                                          \
		"no-pager", 0, "FLAG", "", "off", "", "do not use a pager"                         \
	}
#define LC_REPORT_ROW_ENGINE(help)                                                                 \
	{                                                                                          \
		"engine", 0, "STRING", "NAME|N", "", "", help                                      \
	}

/* The values of these options. The strings are those of the command line. */
struct lc_report_settings {
	size_t format;      /* position among the words of --format, or by the file's name */
	bool format_chosen; /* --format was given */
	const char *file;   /* NULL: stdout */
	const char *engine; /* NULL: not given */
	size_t top;         /* 0: not given */
	bool no_pager;
	bool filtered; /* --thread was given */
	struct lc_thread_filter filter;
	struct lc_frame_filter frames; /* of --include and --exclude */
	struct lc_load_range range;
	struct lc_where_terms where;
	struct lc_by by;
};

/*
 * The position of `word` among the words of a row of type CHOICE, whose argument is "text|json".
 * Returns 0 and sets *out, or LC_EXIT_USAGE after one line on stderr.
 */
int lc_report_choose(const struct lc_option_info *row, const char *word, size_t *out);

/*
 * The format that the name of a file asks for, "report.html": the position among the words of
 * `row`, a --format. Returns 0, with *out left alone where the name has no extension; or
 * LC_EXIT_USAGE after one line on stderr where no format of `row` has that extension.
 */
int lc_report_format_of(const struct lc_option_info *row, const char *file, size_t *out);

/*
 * Set what --format, --file and --engine choose, as every command has them: the file "-" is stdout.
 * Returns whether `row` is one of these, with *status then 0, or LC_EXIT_USAGE after one line on
 * stderr.
 */
bool lc_report_set_output(struct lc_report_settings *s, const struct lc_option_info *row,
                          const char *value, int *status);

/* Notes, in lines: which processes count, and what is kept apart. */
void lc_report_note_processes(FILE *out, const struct lc_load *l);

/* Is the process one of this machine? It is taken for one where its host is not known. */
bool lc_report_is_here(const struct lc_load_process *p);

/* Is it one of this machine that runs, with the agent in it? */
bool lc_report_runs_here(const struct lc_load_process *p);

/* Free what the options of all commands hold. */
void lc_report_settings_free(struct lc_report_settings *s);

/*
 * Did --where choose processes, and could --where and --by divide what was loaded? Returns 0, or 1
 * after one line on stderr.
 */
int lc_report_check_processes(const struct lc_load *l);

/*
 * Can --thread tell the threads of what was loaded apart? Returns 0, or 1 after one line on stderr.
 */
int lc_report_check_threads(const struct lc_load *l);

/* "3120 of 9000 samples pass the filters" and a newline; nothing where there are none. */
void lc_report_filters(FILE *out, const struct lc_load *l, uint32_t engine);

/*
 * One line on stderr for each pattern of an option that fits no frame. Returns 0, or
 * LC_EXIT_PARTIAL where there is one.
 */
int lc_report_unfitted(const char *option, const struct lc_frame_patterns *p);

/*
 * The engine of that name or number (from 1). Returns 0 and its row, or 1 after one line on stderr.
 */
int lc_report_find_engine(const struct lc_load *l, const char *word, uint32_t *engine);

/*
 * ", 3 of 24 periods, from 3.2 s to 4.7 s": which part of the recording of the first process is
 * shown; nothing where it is all of one profile.
 */
void lc_report_part(FILE *out, const struct lc_load *l);

/* Notes, in lines: which periods these are, and what range of time was asked for. */
void lc_report_note_part(FILE *out, const struct lc_load *l);

/*
 * The first of the processes in text: its command, cut where it is very long, pid, JDK and
 * collector, and how long it ran as far as that is known. Nothing where there is none.
 */
void lc_report_program(FILE *out, const struct lc_load *l);

/*
 * One line on stderr where a process has not ended, and still runs here, so that it may write more.
 */
void lc_report_say_running(const struct lc_load *l);

/*
 * Open the output of a report: its file, or stdout, with a pager for a text on a terminal. The file
 * keeps its old content until lc_report_close(). No link is followed. Returns NULL after one line
 * on stderr.
 */
FILE *lc_report_open(const struct lc_report_settings *s);
/*
 * Returns 0, or 1 after one line on stderr: what was written since lc_report_open() is not whole.
 */
int lc_report_close(FILE *out, const struct lc_report_settings *s);

/* A command: its options, and what it does with the profiles once they are loaded. */
struct lc_report_command {
	const struct lc_option_info *rows;
	size_t rows_len;
	/* Sets an option that is its own. Returns 0, or an exit status after one line on stderr. */
	int (*set)(void *context, int row, const char *value);
	/* Does it want slices in the tree? NULL: it does not. Called when the options are read. */
	bool (*wants_slices)(void *context);
	/* Returns the exit status; `path` is the first operand. */
	int (*report)(void *context, const struct lc_load *l, const char *path);
	struct lc_report_settings *settings; /* filled in before `report` is called */
	void *context;
};

/*
 * Read the command line alone: for a command that loads its profiles itself. `report` is not
 * called. Returns as lc_args_read() does.
 */
int lc_report_read(const struct lc_report_command *c, int argc, char **argv, char ***paths,
                   size_t *count);

/*
 * Read the command line, load the profiles and report. Returns the exit status of the tool:
 * LC_EXIT_PARTIAL where parts of them are damaged. argv[0] is the command's name.
 */
int lc_report_run(const struct lc_report_command *c, int argc, char **argv);

#endif
