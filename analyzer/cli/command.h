/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/command.h - lists the commands of `locus`, and declares what they share on the command line.
 */
#ifndef LC_CLI_COMMAND_H
#define LC_CLI_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include "src/base/options.h"

/*
 * A command gets its own arguments, argv[0] being its name ("report"), and returns the exit
 * status of the tool (base/fail.h): 0, or another after one line on stderr. Context: the analyzer.
 */
int lc_cmd_run(int argc, char **argv);
int lc_cmd_report(int argc, char **argv);
int lc_cmd_diff(int argc, char **argv);
int lc_cmd_repeat(int argc, char **argv);
int lc_cmd_agree(int argc, char **argv);
int lc_cmd_bench(int argc, char **argv);
int lc_cmd_merge(int argc, char **argv);
int lc_cmd_list(int argc, char **argv);
int lc_cmd_numa(int argc, char **argv);
int lc_cmd_spans(int argc, char **argv);
int lc_cmd_calibrate(int argc, char **argv);
int lc_cmd_doctor(int argc, char **argv);
int lc_cmd_mcp(int argc, char **argv);
int lc_cmd_agent_args(int argc, char **argv);
int lc_cmd_attach(int argc, char **argv);
int lc_cmd_detach(int argc, char **argv);
int lc_cmd_status(int argc, char **argv);
int lc_cmd_dump(int argc, char **argv);
int lc_cmd_holders(int argc, char **argv);
int lc_cmd_top(int argc, char **argv);
int lc_cmd_help(int argc, char **argv);

/* `locus report` on a recording that goes on: without the notes that say so. */
int lc_cmd_report_live(int argc, char **argv);

/* The rows of a command's options, for its parser (cli/args.h), --help and the manual. Static. */
const struct lc_option_info *lc_cmd_run_options(size_t *count);
const struct lc_option_info *lc_cmd_report_options(size_t *count);
const struct lc_option_info *lc_cmd_diff_options(size_t *count);
const struct lc_option_info *lc_cmd_repeat_options(size_t *count);
const struct lc_option_info *lc_cmd_agree_options(size_t *count);
const struct lc_option_info *lc_cmd_bench_options(size_t *count);
const struct lc_option_info *lc_cmd_merge_options(size_t *count);
const struct lc_option_info *lc_cmd_list_options(size_t *count);
const struct lc_option_info *lc_cmd_numa_options(size_t *count);
const struct lc_option_info *lc_cmd_spans_options(size_t *count);
const struct lc_option_info *lc_cmd_calibrate_options(size_t *count);
const struct lc_option_info *lc_cmd_doctor_options(size_t *count);
const struct lc_option_info *lc_cmd_mcp_options(size_t *count);
const struct lc_option_info *lc_cmd_agent_args_options(size_t *count);
const struct lc_option_info *lc_cmd_attach_options(size_t *count);
const struct lc_option_info *lc_cmd_detach_options(size_t *count); /* of dump, too */
const struct lc_option_info *lc_cmd_status_options(size_t *count);
const struct lc_option_info *lc_cmd_holders_options(size_t *count);
const struct lc_option_info *lc_cmd_top_options(size_t *count);

struct lc_command {
	const char *name;
	const char *operands; /* "[--] COMMAND [ARGUMENT]..." */
	const char *summary;  /* one line, no full stop */
	int (*run)(int argc, char **argv);
	const struct lc_option_info *(*options)(size_t *count);
};

/* All of them, in the order of the help. Static storage. */
const struct lc_command *lc_command_table(size_t *count);

/*
 * Print the help of a command, or of the tool where `command` is NULL, on `out`. Returns 0, or
 * LC_EXIT_USAGE after one line on stderr when there is no such command.
 */
int lc_help(FILE *out, const char *command);

/*
 * Print on stdout what LC_ARGS_HELP or LC_ARGS_VERSION (cli/args.h) asks a command for. Returns 0.
 */
int lc_answer(int asked, const char *command);

/* Print "locus 0.1.0" on stdout. */
void lc_version(void);

/* Print a completion of `locus` for bash, from the tables of options, on stdout. */
void lc_completion(void);

#endif
