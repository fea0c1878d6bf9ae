/*
 * commands/merge.c - runs `locus merge`, which makes one profile of several. analyzer/merge/ has
 * how that is done.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/operands.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/commands/merge_choice.h"
#include "analyzer/merge/reduce.h"

enum row {
	ROW_OUTPUT,
	ROW_KEEP,
	ROW_LABEL,
	ROW_WHERE,
	ROW_BY,
	ROW_SINCE,
	ROW_UNTIL,
	ROW_PRUNE,
	ROW_JOBS,
	ROW_MEMORY,
	ROW_COUNT
};

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_OUTPUT] = { "output", 'o', "STRING", "DIR", "", "", "directory of the new profile" },
	[ROW_KEEP] = { "keep-threads", 0, "FLAG", "", "off", "",
	               "keep each thread's paths apart, so that 'report --thread' can tell them" },
	[ROW_LABEL] = LC_MERGE_ROW_LABEL,
	[ROW_WHERE] = LC_REPORT_ROW_WHERE,
	[ROW_BY] = LC_REPORT_ROW_BY,
	[ROW_SINCE] = LC_MERGE_ROW_SINCE,
	[ROW_UNTIL] = LC_MERGE_ROW_UNTIL,
	[ROW_PRUNE] = { "prune", 0, "STRING", "SHARE", "", "",
	                "fold call paths below that share of all that was counted: 0.01%" },
	[ROW_MEMORY] = { "max-memory", 0, "STRING", "SIZE", "", "",
	                 "use no more memory than that: 500m, 2g" },
	[ROW_JOBS] = { "jobs", 'j', "COUNT", "N", "", "",
	               "read with N threads, 1 to 1024; default: one for each CPU" },
};

enum { JOBS_MAX = 1024, OWN_BYTES = 8 << 20 /* of the program and its libraries */ };

struct merge {
	const char *output;
	struct lc_reduce_options options;
	struct lc_merge_choice choice;
};

const struct lc_option_info *lc_cmd_merge_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
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

/* The kernel keeps the limit whatever the profiles hold. */
static void limit_memory(const struct merge *m)
{
	const rlim_t bytes = m->options.max_memory_bytes - OWN_BYTES;
	const struct rlimit limit = { bytes, bytes };

	if (m->options.max_memory_bytes && !setrlimit(RLIMIT_DATA, &limit))
		lc_no_memory_hint("--max-memory is too little");
}

static int merge(struct merge *m, char **paths, size_t count)
{
	struct lc_operands operands;
	struct lc_reduce *r;
	int status;

	catch_signals();
	limit_memory(m);
	m->options.asked = lc_merge_choice_asked(&m->choice);
	lc_operands_find(&operands, paths, count);
	r = lc_reduce_create(&m->options, operands.paths, operands.len);
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

static int set_jobs(struct merge *m, const char *value)
{
	unsigned long number;

	if (!value || lc_report_number(value, JOBS_MAX, &number) || !number)
		return lc_usage("merge: --jobs takes a number from 1 to %d", JOBS_MAX);
	m->options.jobs = (unsigned)number;
	return 0;
}

/* A share, "0.01%" or "0.0001", above 0 and below 1. */
static int set_share(struct merge *m, const char *value)
{
	char *end = NULL;
	double share = value ? strtod(value, &end) : 0;

	if (end && *end == '%') {
		share /= 100;
		end++;
	}
	if (!end || end == value || *end || !(share > 0 && share < 1))
		return lc_usage("merge: --prune takes a share above 0 and below 100%%, as 0.01%%");
	m->options.prune = share;
	return 0;
}

/* Bytes, "500m" or "2g". Less than this is too little for anything. */
static int set_memory(struct merge *m, const char *value)
{
	static const char units[] = "kmgt";
	const uint64_t least = UINT64_C(64) << 20, most = UINT64_C(1) << 50;
	char *end = NULL;
	uint64_t bytes = value && *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
	const char *unit = end && *end ? strchr(units, *end | ' ') : NULL;

	for (const char *u = units; unit && u <= unit && bytes < most; u++)
		bytes *= 1024;
	if (!end || (*end && (!unit || end[1])) || bytes < least || bytes >= most)
		return lc_usage("merge: --max-memory takes a size from 64m on, as 500m or 2g");
	m->options.max_memory_bytes = bytes;
	return 0;
}

static int set(void *context, int row, const char *value)
{
	struct merge *m = context;
	int status;

	if (lc_merge_choice_set(&m->choice, &rows[row], value, &status))
		return status;
	if (row == ROW_OUTPUT)
		m->output = value;
	else if (row == ROW_JOBS)
		return set_jobs(m, value);
	else if (row == ROW_PRUNE)
		return set_share(m, value);
	else if (row == ROW_MEMORY)
		return set_memory(m, value);
	else if (value && strcmp(value, "on") != 0)
		return lc_usage("--%s takes no value", rows[row].name);
	else
		m->options.keep_threads = true;
	return 0;
}

int lc_cmd_merge(int argc, char **argv)
{
	struct lc_args args = {
		.argc = argc, .argv = argv, .table = rows, .count = ROW_COUNT, .next = 1
	};
	struct merge m = { .choice.now_ns = lc_report_wall_now() };
	char **paths;
	size_t count;
	int status = lc_args_read(&args, set, &m, &paths, &count);

	if (status < 0)
		status = lc_answer(status, argv[0]);
	else if (!status && !m.output)
		status = lc_usage("merge: name the output directory with -o");
	else if (!status && !count)
		status = lc_usage("merge: name the profiles to merge");
	else if (!status && m.options.prune > 0 && m.options.keep_threads)
		status = lc_usage("merge: --prune and --keep-threads cannot be combined");
	else if (!status)
		status = merge(&m, paths, count);
	lc_merge_choice_free(&m.choice);
	free(paths);
	return status;
}
