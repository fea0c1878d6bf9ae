/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_delays.c - chooses methods for delays and the lengths of the delays, and runs them.
 *
 * A run without a profiler counts executions. It shows how often each method is executed, the CPU
 * time of Java threads, and the length of a loop iteration. A delay is then chosen to add PART of
 * that time.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/agree/agree_record.h"
#include "analyzer/agree/agree_run.h"
#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/cli/libraries.h"
#include "analyzer/commands/child.h"
#include "analyzer/repeat/repeat_record.h"
#include "analyzer/repeat/repeat_run.h"
#include "src/base/time.h"

#define PART 0.1
#define LEAST_SHARE 0.001 /* of a method that is chosen: some samples of a run */

enum {
	CHOSEN = 3,
	/* The CPU overlaps a part of shorter loops with the code around them. */
	ITERATIONS_MIN = 1000,
	TOO_LONG = 3, /* times PART is more than a delay is to add */
};

/* ---- choosing ---- */

static void add_delay(struct lc_agree *a, const char *method, size_t len)
{
	if (a->delays_len < LC_AGREE_DELAYS_MAX && len)
		a->delays[a->delays_len++].method = lc_mem_text("%.*s", (int)len, method);
}

/* Constructors are not delayed, nor classes that are made in the run. */
static bool can_be_delayed(const char *name)
{
	return !strchr(name, '<') && !strstr(name, "$$Lambda") && !strstr(name, "LambdaForm");
}

/* The largest share that a profiler gives it. */
static double largest_share(const struct lc_agree *a, uint32_t key)
{
	double largest = 0;

	for (size_t i = 0; i < a->sides_len; i++) {
		const struct lc_repeat_entry *e = lc_agree_find(&a->sides[i].methods.table, key);

		largest = e && e->share.mean > largest ? e->share.mean : largest;
	}
	return largest;
}

/* Methods of all profilers, the hottest by the mean of their shares first. */
static void choose(struct lc_agree *a)
{
	struct lc_agree_row *rows;
	const size_t len = lc_agree_rows(a, &rows);

	for (size_t i = 0; i < len; i++) {
		const struct lc_text text = lc_tree_text(&a->names, rows[i].key);
		char *name = lc_mem_text("%.*s", (int)text.len, text.bytes);

		if (can_be_delayed(name) && largest_share(a, rows[i].key) >= LEAST_SHARE)
			add_delay(a, name, strlen(name));
		free(name);
	}
	free(rows);
}

static void take_words(struct lc_agree *a, const char *words)
{
	while (*words) {
		const size_t len = strcspn(words, ",");

		add_delay(a, words, len);
		words += len + (words[len] == ',');
	}
}

/* ---- how long ---- */

/* The agent's option: one of them has its iterations, all others have none. */
static char *option_of(const struct lc_agree *a, int delay, bool count)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);
	const char *separator = "at=";

	for (size_t i = 0; i < a->delays_len; i++) {
		if (a->delays[i].why)
			continue;
		fprintf(out, "%s%s:%" PRIu64, separator, a->delays[i].method,
		        (int)i + 1 == delay ? a->delays[i].iterations : 0);
		separator = ";";
	}
	if (count)
		fputs(",count", out);
	lc_mem_close_text(out);
	return text;
}

static void take_delay(struct lc_agree_delay *d, const json_t *root, const json_t *row)
{
	const char *state = json_string_value(json_object_get(row, "state"));
	const double java = lc_repeat_record_number(root, "java_cpu_ns");
	const double executions = lc_repeat_record_number(row, "executions");
	double iterations;

	d->ns_per_iteration = lc_repeat_record_number(root, "ns_per_iteration");
	if (!state || strcmp(state, "in place") != 0) {
		d->why = lc_repeat_plain(
		    lc_mem_text("%s", state ? state : "the counting run has no result for it"));
		return;
	}
	if (executions < 1 || java <= 0 || d->ns_per_iteration <= 0) {
		d->why = lc_mem_text("it was not executed");
		return;
	}
	d->executions = (uint64_t)executions;
	iterations = PART * java / executions / d->ns_per_iteration;
	if (iterations < (double)ITERATIONS_MIN / TOO_LONG) {
		d->why = lc_mem_text("it is executed so often (%" PRIu64
		                     " times) that even the shortest delay is too long",
		                     d->executions);
		return;
	}
	iterations = iterations < ITERATIONS_MIN ? ITERATIONS_MIN : iterations;
	d->iterations = iterations > INT32_MAX ? INT32_MAX : (uint64_t)iterations;
}

static int read_counts(struct lc_agree *a, const char *directory)
{
	char *path = lc_mem_text("%s/" LC_AGREE_DELAY_FILE, directory);
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);
	const json_t *rows = json_object_get(root, "delays");
	int status = 0;

	if (!root)
		status =
		    lc_fail("--truth: cannot read '%s' from the run that counts executions: %s",
		            path, error.text);
	for (size_t i = 0; i < a->delays_len && root; i++)
		take_delay(&a->delays[i], root, json_array_get(rows, i));
	json_decref(root);
	free(path);
	return status;
}

static bool any_in_place(const struct lc_agree *a)
{
	for (size_t i = 0; i < a->delays_len; i++) {
		if (!a->delays[i].why)
			return true;
	}
	return false;
}

/*
 * Keep the first chosen methods that can be delayed. If there is none, keep the first methods:
 * their results say why.
 */
static void keep_first(struct lc_agree *a)
{
	const bool any = any_in_place(a);
	size_t kept = 0;

	for (size_t i = 0; i < a->delays_len; i++) {
		struct lc_agree_delay *d = &a->delays[i];

		if ((!d->why || !any) && kept < CHOSEN) {
			a->delays[kept++] = *d;
			continue;
		}
		free(d->method);
		free(d->why);
	}
	memset(&a->delays[kept], 0, (a->delays_len - kept) * sizeof(*a->delays));
	a->delays_len = kept;
}

/* A run that is not one of the rounds, and leaves nothing but its counts. */
static int count(struct lc_agree *a, struct lc_agree_request *q)
{
	struct lc_repeat_run run = { .wall_ns = -1 };
	char *delays = option_of(a, 0, true);
	int status;

	run.name = lc_mem_text("the run that counts executions");
	run.directory = lc_mem_text("%s/count", q->directory);
	status = lc_agree_start(q, &a->sides[0], &run, delays);
	if (!status && run.state != LC_REPEAT_COUNTED)
		status = lc_fail("--truth: %s: %s", run.name, run.why);
	if (!status)
		status = read_counts(a, run.directory);
	free(run.name);
	free(run.directory);
	free(run.why);
	free(delays);
	return status;
}

static int prepare(struct lc_agree *a, struct lc_agree_request *q)
{
	char error[LC_LIBRARIES_ERROR_MAX];
	int status;

	if (lc_libraries_find("liblocus-delay.so", q->machine.delay, error))
		return lc_fail("--truth: %s", error);
	if (q->truth_at)
		take_words(a, q->truth_at);
	else
		choose(a);
	if (!a->delays_len)
		return lc_fail(
		    "--truth: no method has 0.1%% of a profiler's samples or more; run longer");
	status = count(a, q);
	if (status)
		return status;
	if (!q->truth_at)
		keep_first(a);
	else if (!any_in_place(a))
		return lc_fail("--truth: none of the methods can have a delay");
	return 0;
}

/* ---- the runs ---- */

static int run_round(struct lc_agree *a, struct lc_agree_request *q, size_t round, size_t *number,
                     uint64_t begin)
{
	const size_t of = a->rounds * a->sides_len * (a->delays_len + 1);
	int status = 0;

	for (size_t d = 0; d <= a->delays_len; d++) {
		char *delays = option_of(a, (int)d, false);

		for (size_t i = 0; i < a->sides_len && !status && !lc_child_asked(); i++) {
			const struct lc_agree_run which = { .side = round & 1 ? a->sides_len - 1 - i
				                                              : i,
				                            .round = round,
				                            .delay = (int)d };

			++*number;
			if (a->sides[which.side].absent || (d && a->delays[d - 1].why))
				continue;
			lc_repeat_say_progress(&a->all, *number, of, begin);
			status = lc_agree_run_one(a, q, &which, delays);
			if (!status)
				status = lc_agree_record_write(a, q);
		}
		free(delays);
	}
	return status;
}

int lc_agree_run_delays(struct lc_agree *a, struct lc_agree_request *q)
{
	const uint64_t begin = lc_time_now_ns();
	size_t number = 0;
	int status = prepare(a, q);

	if (!status && !any_in_place(a))
		return lc_agree_record_write(a, q);
	for (size_t round = 0; round < a->rounds && !status && !lc_child_asked(); round++)
		status = run_round(a, q, round, &number, begin);
	lc_progress_end();
	return status;
}
