/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/merge.c - runs `locus merge`, which makes one profile of several by the code of
 * analyzer/merge/.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/operands.h"
#include "analyzer/commands/merge_options.h"

/* Behind the rows that `locus-mpi merge` has, too. */
static const struct lc_option_info keep_threads = {
	"keep-threads",
	0,
	"FLAG",
	"",
	"off",
	"",
	"keep the call paths of each thread apart, so that 'locus report --thread' can select "
	"threads"
};

const struct lc_option_info *lc_cmd_merge_options(size_t *count)
{
	return lc_merge_option_table(&keep_threads, 1, count);
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

static int merge(const struct lc_merge_options *m, char **paths, size_t count)
{
	struct lc_operands operands;
	struct lc_reduce *r;
	int status;

	catch_signals();
	lc_merge_limit_memory(m);
	lc_operands_find(&operands, paths, count);
	r = lc_reduce_create(&m->reduce, operands.paths, operands.len);
	status = lc_reduce_open(r, m->output) || lc_reduce_scan(r) || lc_reduce_read(r, 0, 1) ||
	         lc_reduce_write(r);
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
	struct lc_merge_options *m = context;
	int status;

	if (lc_merge_option_set(m, row, value, &status) < 0)
		return status;
	m->reduce.keep_threads = true;
	return 0;
}

static int check_and_merge(struct lc_merge_options *m, char **paths, size_t count)
{
	const int status = lc_merge_options_check(m, count);

	if (status)
		return status;
	if (m->reduce.prune > 0 && m->reduce.keep_threads)
		return lc_usage("merge: --prune and --keep-threads cannot be combined");
	return merge(m, paths, count);
}

int lc_cmd_merge(int argc, char **argv)
{
	struct lc_args args = { .argc = argc, .argv = argv, .next = 1 };
	struct lc_merge_options m = { .output = NULL };
	char **paths;
	size_t count;
	int status;

	args.table = lc_cmd_merge_options(&args.count);
	status = lc_args_read(&args, set, &m, &paths, &count);
	if (status < 0)
		status = lc_answer(status, argv[0]);
	else if (!status)
		status = check_and_merge(&m, paths, count);
	lc_merge_options_free(&m);
	free(paths);
	return status;
}
