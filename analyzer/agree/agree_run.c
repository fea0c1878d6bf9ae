/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_run.c - makes the runs of all rounds, in an order that favours no profiler. */
#include "analyzer/agree/agree_run.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/agree/agree_record.h"
#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/new_directory.h"
#include "analyzer/base/progress.h"
#include "analyzer/base/replace.h"
#include "analyzer/commands/child.h"
#include "analyzer/commands/scratch.h"
#include "analyzer/repeat/repeat_record.h"
#include "analyzer/repeat/repeat_run.h"
#include "src/base/time.h"

enum { HOPELESS_RUNS = 3 };

/* ---- sides ---- */

/* "NAME=COMMAND", or one of the kinds. */
static int add_word(struct lc_agree *a, const char *word)
{
	const char *equals = strchr(word, '=');
	struct lc_agree_side *s = NULL;
	char *name = lc_mem_text("%.*s", equals ? (int)(equals - word) : (int)strlen(word), word);
	unsigned kind = LC_AGREE_LOCUS;
	bool again = false;

	while (kind < LC_AGREE_OWN && strcmp(name, lc_agree_kind_name((enum lc_agree_kind)kind)))
		kind++;
	for (size_t i = 0; i < a->sides_len; i++)
		again |= !strcmp(a->sides[i].name, name);
	if (!again && *name && !strpbrk(name, "/ \t%") && (kind < LC_AGREE_OWN) == !equals)
		s = lc_agree_add_side(a, (enum lc_agree_kind)kind, name);
	free(name);
	if (!s && again)
		return lc_usage("--profilers: '%.64s' is given twice", word);
	if (!s)
		return lc_usage("--profilers: '%.64s' is not locus, async, jfr, jfr-debug, perf "
		                "or NAME=COMMAND, or is one profiler too many",
		                word);
	if (equals)
		s->command = lc_mem_text("%s", equals + 1);
	return 0;
}

int lc_agree_parse_sides(struct lc_agree *a, const char *profilers)
{
	char *list = lc_mem_text("%s", profilers), *rest = list, *word;
	int status = 0;

	lc_agree_add_side(a, LC_AGREE_BARE, lc_agree_kind_name(LC_AGREE_BARE));
	while (!status && (word = strsep(&rest, ",")) != NULL)
		status = add_word(a, word);
	free(list);
	return status;
}

/* ---- one run ---- */

/* CPU time of the Java threads and of all loops that ran, as the delays' agent tells. */
static void take_delays(struct lc_agree_run *entry, const char *directory)
{
	char *path = lc_mem_text("%s/" LC_AGREE_DELAY_FILE, directory);
	json_t *root = json_load_file(path, 0, NULL);
	const double ns = lc_repeat_record_number(root, "ns_per_iteration");
	const json_t *row;
	double iterations = 0;
	size_t i;

	json_array_foreach(json_object_get(root, "delays"), i, row)
	{
		const double loops = lc_repeat_record_number(row, "loops");

		if (loops > 0)
			iterations += loops * lc_repeat_record_number(row, "iterations");
	}
	entry->java_cpu_ns = lc_repeat_record_number(root, "java_cpu_ns");
	entry->delayed_ns = ns > 0 ? iterations * ns : -1;
	json_decref(root);
	free(path);
}

static void put_methods(FILE *out, const void *of)
{
	lc_agree_write_methods(out, of);
}

/*
 * Convert the profiler's output to the file that is read later; without that file the run does not
 * count.
 */
static int keep_methods(struct lc_agree_request *q, const struct lc_agree_side *side,
                        struct lc_repeat_run *run)
{
	char *path = lc_mem_text("%s/" LC_AGREE_METHODS_FILE, run->directory), *why;
	struct lc_agree_counts counts;
	int status = 0;

	lc_agree_counts_init(&counts);
	why = lc_agree_read_output(&q->machine, side, run, &counts);
	if (why)
		lc_repeat_leave_out(run, LC_REPEAT_NO_PROFILE, why);
	else
		status = lc_replace_whole(path, put_methods, &counts);
	lc_agree_counts_free(&counts);
	free(path);
	return status;
}

int lc_agree_start(struct lc_agree_request *q, const struct lc_agree_side *side,
                   struct lc_repeat_run *run, const char *delays)
{
	const struct lc_agree_begin begin = { .directory = run->directory, .delays = delays };
	char *own = NULL, **words = lc_agree_launch(&q->machine, side, &begin, q->command, &own);
	const int status = words ? lc_repeat_run_once(run, words, q->timeout_ns) : LC_EXIT_TOOL;

	lc_agree_restore(&q->machine);
	free(words);
	free(own);
	return status;
}

int lc_agree_run_one(struct lc_agree *a, struct lc_agree_request *q,
                     const struct lc_agree_run *which, const char *delays)
{
	const struct lc_agree_side *side = &a->sides[which->side];
	struct lc_repeat_run *run = lc_agree_add_run(a, which->side, which->round, which->delay);
	struct lc_agree_run *entry = &a->runs[a->all.runs_len - 1];
	int status;

	run->name = lc_agree_record_name(a, entry);
	run->directory = lc_mem_text("%s/%s", q->directory, run->name);
	if (q->resume)
		lc_scratch_remove(lc_mem_text("%s", run->directory));
	status = lc_agree_start(q, side, run, delays);
	if (!status && run->state == LC_REPEAT_COUNTED && side->kind != LC_AGREE_BARE)
		status = keep_methods(q, side, run);
	if (delays)
		take_delays(entry, run->directory);
	return status;
}

/* ---- all rounds ---- */

/* If all first runs of a side failed, its next runs will fail, too. */
static bool is_hopeless(const struct lc_agree *a, size_t side)
{
	size_t runs = 0;

	for (size_t i = 0; i < a->all.runs_len; i++) {
		if (a->runs[i].side != side)
			continue;
		if (a->all.runs[i].state == LC_REPEAT_COUNTED)
			return false;
		runs++;
	}
	return runs >= HOPELESS_RUNS;
}

static size_t present(const struct lc_agree *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->sides_len; i++)
		n += !a->sides[i].absent;
	return n;
}

/* Runs without delays that there are of profilers that are present. */
static size_t count_runs(const struct lc_agree *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->all.runs_len; i++)
		n += a->runs[i].delay < 0 && !a->sides[a->runs[i].side].absent;
	return n;
}

static int run_rounds(struct lc_agree *a, struct lc_agree_request *q)
{
	const uint64_t begin = lc_time_now_ns();
	const size_t of = a->rounds * present(a) - count_runs(a);
	size_t number = 0;
	int status = 0;

	for (size_t round = 0; round < a->rounds && !status; round++) {
		for (size_t i = 0; i < a->sides_len && !status && !lc_child_asked(); i++) {
			const size_t turn = round & 1 ? a->sides_len - 1 - i : i;
			const struct lc_agree_run which = { .side =
				                                (turn + round / 2) % a->sides_len,
				                            .round = round,
				                            .delay = -1 };

			if (a->sides[which.side].absent || is_hopeless(a, which.side) ||
			    lc_agree_find_run(a, which.side, round, which.delay) != SIZE_MAX)
				continue;
			lc_repeat_say_progress(&a->all, ++number, of, begin);
			status = lc_agree_run_one(a, q, &which, NULL);
			if (!status)
				status = lc_agree_record_write(a, q);
		}
		if (lc_child_asked() || is_hopeless(a, 0))
			break;
	}
	lc_progress_end();
	return status;
}

/* A side that was continued has the profiler that its first runs had. */
static int find_profiler(struct lc_agree_request *q, struct lc_agree_side *s)
{
	char *before = s->about, *now;
	int status = 0;

	if (s->absent)
		return 0;
	s->about = NULL;
	lc_agree_find_profiler(&q->machine, s, q->async_file, q->directory, q->command);
	now = s->absent ? s->absent : s->about;
	if (before && now && strcmp(before, now) != 0)
		status = lc_fail("--resume: the earlier runs of %s are of '%s', but there is: %s",
		                 s->name, before, now);
	free(before);
	return status;
}

static int find_profilers(struct lc_agree *a, struct lc_agree_request *q)
{
	int status = 0;

	for (size_t i = 1; i < a->sides_len && !status; i++) {
		struct lc_agree_side *s = &a->sides[i];

		status = find_profiler(q, s);
		if (!status && s->absent)
			lc_note("%s is left out: %s", s->name, s->absent);
	}
	if (status)
		return status;
	if (present(a) < 2)
		return lc_fail("none of the profilers is available");
	return 0;
}

int lc_agree_run(struct lc_agree *a, struct lc_agree_request *q)
{
	int status = find_profilers(a, q);

	if (!status)
		status = lc_agree_record_write(a, q);
	if (!status)
		status = run_rounds(a, q);
	return status;
}
