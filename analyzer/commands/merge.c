/*
 * commands/merge.c - runs `locus merge`, which makes one profile of several. analyzer/merge/ has
 * how that is done.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/operands.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/commands/merge_choice.h"
#include "analyzer/commands/merge_options.h"

/* Behind the rows that `locus-mpi merge` has, too. */
enum row { ROW_KEEP, ROW_LABEL, ROW_WHERE, ROW_BY, ROW_SINCE, ROW_UNTIL, ROW_COUNT };

static const struct lc_option_info own_rows[ROW_COUNT] = {
	[ROW_KEEP] = { "keep-threads", 0, "FLAG", "", "off", "",
	               "keep each thread's paths apart, so that 'report --thread' can tell them" },
	[ROW_LABEL] = LC_MERGE_ROW_LABEL,
	[ROW_WHERE] = LC_REPORT_ROW_WHERE,
	[ROW_BY] = LC_REPORT_ROW_BY,
	[ROW_SINCE] = LC_MERGE_ROW_SINCE,
	[ROW_UNTIL] = LC_MERGE_ROW_UNTIL,
};

struct merge {
	struct lc_merge_options options;
	struct lc_merge_choice choice;
};

const struct lc_option_info *lc_cmd_merge_options(size_t *count)
{
	return lc_merge_option_table(own_rows, ROW_COUNT, count);
}

/* ---- signals that end it ---- */

static volatile sig_atomic_t caught;

/* The second one ends the program at once. Context: [signal]. */
static void stop(int number)
{
	caught = number;
	lc_reduce_stop();
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = stop,
		                          .sa_flags = (int)SA_RESETHAND | SA_RESTART };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction old;

		if (!sigaction(numbers[i], NULL, &old) && old.sa_handler == SIG_DFL)
			(void)sigaction(numbers[i], &action, NULL);
	}
}

/* ---- the command ---- */

static int merge(struct merge *m, char **paths, size_t count)
{
	struct lc_operands operands;
	struct lc_reduce *r;
	int status;

	catch_signals();
	lc_merge_limit_memory(&m->options);
	m->options.reduce.asked = lc_merge_choice_asked(&m->choice);
	lc_operands_find(&operands, paths, count);
	r = lc_reduce_create(&m->options.reduce, operands.paths, operands.len);
	status = lc_reduce_open(r, m->options.output) || lc_reduce_scan(r) ||
	         lc_reduce_read(r, 0, 1) || lc_reduce_write(r);
	status = lc_reduce_end(r, status);
	if (!status && operands.partial)
		status = LC_EXIT_PARTIAL;
	lc_reduce_free(r);
	lc_operands_free(&operands);
	if (caught) {
		(void)signal(caught, SIG_DFL);
		(void)raise(caught);
	}
	return status;
}

static int set(void *context, int row, const char *value)
{
	struct merge *m = context;
	int status;
	const int own = lc_merge_option_set(&m->options, row, value, &status);

	if (own < 0 || lc_merge_choice_set(&m->choice, &own_rows[own], value, &status))
		return status;
	if (value && strcmp(value, "on") != 0)
		return lc_usage("--%s takes no value", own_rows[ROW_KEEP].name);
	m->options.reduce.keep_threads = true;
	return 0;
}

static int check_and_merge(struct merge *m, char **paths, size_t count)
{
	const int status = lc_merge_options_check(&m->options, count);

	if (status)
		return status;
	if (m->options.reduce.prune > 0 && m->options.reduce.keep_threads)
		return lc_usage("merge: --prune and --keep-threads cannot be combined");
	return merge(m, paths, count);
}

int lc_cmd_merge(int argc, char **argv)
{
	struct lc_args args = { .argc = argc, .argv = argv, .next = 1 };
	struct merge m = { .choice.now_ns = lc_report_wall_now() };
	char **paths;
	size_t count;
	int status;

	args.table = lc_cmd_merge_options(&args.count);
	status = lc_args_read(&args, set, &m, &paths, &count);
	if (status < 0)
		status = lc_answer(status, argv[0]);
	else if (!status)
		status = check_and_merge(&m, paths, count);
	lc_merge_choice_free(&m.choice);
	free(paths);
	return status;
}
