/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi/main.c - is the program locus-mpi: `mpirun -n N locus-mpi merge` merges on many machines,
 * with the same bytes as `locus merge` on one.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/base/replace.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/commands/merge_options.h"
#include "analyzer/mpi/ranks.h"
#include "analyzer/mpi/request.h"
#include "analyzer/mpi/result.h"
#include "analyzer/mpi/wire.h"

enum row { ROW_FAN_IN, ROW_PRUNE_EACH, ROW_TIMINGS, ROW_COUNT };

/* Behind the rows that `locus merge` has, too. */
static const struct lc_option_info own_rows[ROW_COUNT] = {
	[ROW_FAN_IN] = { "fan-in", 0, "COUNT", "N", "2", "",
	                 "merge N partial results in each step, 2 to 1000000" },
	[ROW_PRUNE_EACH] = { "prune-each", 0, "FLAG", "", "off", "",
	                     "with --prune: also prune at each step up the tree" },
	[ROW_TIMINGS] = { "timings", 0, "STRING", "FILE", "", "",
	                  "write the times of each phase of each rank to FILE, as JSON" },
};

enum { FAN_IN_MAX = 1000000 };

struct merge {
	struct lc_merge_options options;
	const char *timings; /* NULL: not wanted */
	struct lc_ranks ranks;
};

static const struct lc_option_info *options(size_t *count)
{
	return lc_merge_option_table(own_rows, ROW_COUNT, count);
}

static int set(void *context, int row, const char *value)
{
	struct merge *m = context;
	unsigned long number;
	int status;

	switch (lc_merge_option_set(&m->options, row, value, &status)) {
	case ROW_FAN_IN:
		if (lc_args_number(value, FAN_IN_MAX, &number) || number < 2)
			return lc_usage("merge: --fan-in takes a number from 2 to %d", FAN_IN_MAX);
		m->ranks.fan_in = (int)number;
		return 0;
	case ROW_PRUNE_EACH:
		m->ranks.prune_each = true;
		return 0;
	case ROW_TIMINGS:
		m->timings = value;
		return 0;
	default:
		return status;
	}
}

/* ---- timings ---- */

struct rows {
	char **texts;
	int len;
};

static void put_timings(FILE *out, const void *of)
{
	const struct rows *rows = of;

	fputs("{\"ranks\":[\n", out);
	for (int i = 0; i < rows->len; i++)
		fprintf(out, "%s%s", rows->texts[i], i < rows->len - 1 ? ",\n" : "\n");
	fputs("]}\n", out);
}

/* Each rank's row goes to rank 0, which writes the file. Returns 0, or 1 after a line on stderr. */
static int write_timings(const struct merge *m)
{
	struct rows rows = { .len = m->ranks.size };
	char *mine = NULL;
	size_t len;
	FILE *out;
	int status;

	out = lc_text_open(&mine, &len);
	lc_timings_print(&m->ranks.timings, m->ranks.rank, m->ranks.read, out);
	lc_mem_close_text(out);
	if (m->ranks.rank) {
		lc_wire_send(0, mine, len + 1);
		free(mine);
		return 0;
	}
	rows.texts = lc_mem_zeroed((size_t)rows.len, sizeof(*rows.texts));
	rows.texts[0] = mine;
	for (int i = 1; i < rows.len; i++) {
		struct lc_bytes text = { 0 };

		lc_wire_receive(i, &text);
		rows.texts[i] = (char *)text.data;
	}
	status = lc_replace_whole(m->timings, put_timings, &rows);
	for (int i = 0; i < rows.len; i++)
		free(rows.texts[i]);
	free(rows.texts);
	return status;
}

/* ---- the command ---- */

/* Write the sum, at rank 0. */
static int write_result(struct merge *m, struct lc_reduce *r, struct lc_result *result)
{
	int status;

	lc_timings_begin(&m->ranks.timings);
	status = lc_result_begin(result) || lc_reduce_open(r, result->dir) || lc_reduce_write(r);
	lc_timings_end(&m->ranks.timings, LC_PHASE_WRITE);
	return status;
}

/* All ranks end with the same status. */
static int merge(struct merge *m, char **paths, size_t count)
{
	struct lc_operands found;
	struct lc_result result = { 0 };
	struct lc_reduce *r;
	int status = 0;

	lc_request_share(m->ranks.rank, paths, count, &m->options.choice.range, &found);
	r = lc_reduce_create(&m->options.reduce, found.paths, found.len);
	lc_merge_limit_memory(&m->options);
	if (!m->ranks.rank)
		status = lc_result_check(&result, m->options.output);
	status = lc_wire_most(status);
	if (!status) {
		status = lc_ranks_reduce(&m->ranks, r);
		if (!m->ranks.rank) {
			if (!status)
				status = write_result(m, r, &result);
			status = lc_reduce_end(r, status);
			if (!status && found.partial)
				status = LC_EXIT_PARTIAL;
			if (lc_result_end(&result, status == 0 || status == LC_EXIT_PARTIAL))
				status = LC_EXIT_FAILED;
		} else {
			status = 0;
		}
	}
	lc_result_over();
	lc_reduce_free(r);
	lc_operands_free(&found);
	status = lc_wire_most(status);
	if (m->timings && status != LC_EXIT_FAILED)
		status = lc_wire_most(write_timings(m)) ? LC_EXIT_FAILED : status;
	free(m->ranks.timings.received);
	return status;
}

/* A wrong word is in each rank's command line: one says so. */
static int read_options(struct merge *m, int argc, char **argv, char ***paths, size_t *count)
{
	struct lc_args args = { .argc = argc, .argv = argv, .next = 1 };
	int status;

	args.table = options(&args.count);
	status = lc_args_read(&args, set, m, paths, count);
	if (!status)
		status = lc_merge_options_check(&m->options, *count);
	if (!status && m->ranks.prune_each && !(m->options.reduce.prune > 0))
		status = lc_usage("merge: --prune-each needs --prune");
	return status;
}

static int command_merge(int argc, char **argv)
{
	struct merge m = { .ranks = { .fan_in = 2 } };
	char **paths = NULL, *said = NULL, **before;
	size_t count;
	int status, given;

	before = lc_fail_capture(&said);
	status = read_options(&m, argc, argv, &paths, &count);
	(void)lc_fail_capture(before);
	if (status < 0) {
		lc_merge_options_free(&m.options);
		return lc_answer(status, argv[0]);
	}
	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
	MPI_Comm_rank(MPI_COMM_WORLD, &m.ranks.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &m.ranks.size);
	if (status) {
		if (!m.ranks.rank)
			lc_note("%.*s", (int)strcspn(said, "\n"), said);
	} else {
		status = merge(&m, paths, count);
	}
	free(said);
	free(paths);
	lc_merge_options_free(&m.options);
	lc_progress_end();
	MPI_Finalize();
	return status;
}

static const struct lc_command commands[] = {
	{ "merge", "PROFILE...", "merge several profiles into one, on many machines", command_merge,
	  options },
};

const struct lc_command *lc_command_table(size_t *count)
{
	*count = 1;
	return commands;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	int status = 0;

	lc_program_set("locus-mpi");
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* lines of several ranks stay whole */
	if (!strcmp(word, "merge"))
		return command_merge(argc - 1, argv + 1);
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		lc_version();
	else if (!strcmp(word, "help"))
		status = lc_cmd_help(argc - 1, argv + 1);
	else if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		status = lc_help(stdout, NULL);
	else if (!*word)
		status = lc_usage("name a command: mpirun -n N locus-mpi merge -o DIR PROFILE...");
	else
		status = lc_usage("unknown command '%.64s'; 'locus-mpi help' lists them", word);
	if (fflush(stdout) || ferror(stdout))
		return status ? status : lc_fail("cannot write to stdout: %m");
	return status;
}
