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
#include <math.h>
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
#include "analyzer/commands/scratch.h"
#include "analyzer/repeat/repeat_record.h"
#include "analyzer/repeat/repeat_run.h"
#include "src/base/time.h"

#define PART 0.1
#define LEAST_SHARE 0.001 /* of a method that is chosen: some samples of a run */
#define MOST_SHARE 0.8    /* a delay hardly changes a larger share */

enum {
	CHOSEN = 3,
	COUNTS_MAX = 3, /* runs that count executions */
	/* In these runs, so that they take as long as the runs without a delay. */
	COUNTING_EVERY = 1024,
	/* The CPU overlaps a part of shorter loops with the code around them. */
	ITERATIONS_MIN = 1000,
	EVERY_MAX = 1 << 30,
};

/* Methods that may get a delay, the best first. */
struct candidates {
	char *names[LC_AGREE_DELAYS_MAX];
	size_t len, next; /* the next is not among the delays yet */
};

/* ---- choosing ---- */

static void add_candidate(struct candidates *c, const char *method, size_t len)
{
	if (c->len < LC_AGREE_DELAYS_MAX && len)
		c->names[c->len++] = lc_mem_text("%.*s", (int)len, method);
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
static void choose(struct candidates *c, const struct lc_agree *a)
{
	struct lc_agree_row *rows;
	const size_t len = lc_agree_rows(a, &rows);

	for (size_t i = 0; i < len; i++) {
		const struct lc_text text = lc_tree_text(&a->names, rows[i].key);
		char *name = lc_mem_text("%.*s", (int)text.len, text.bytes);

		if (can_be_delayed(name) && largest_share(a, rows[i].key) >= LEAST_SHARE &&
		    rows[i].share <= MOST_SHARE)
			add_candidate(c, name, strlen(name));
		free(name);
	}
	free(rows);
}

static void take_words(struct candidates *c, const char *words)
{
	while (*words) {
		const size_t len = strcspn(words, ",");

		add_candidate(c, words, len);
		words += len + (words[len] == ',');
	}
}

/* ---- how long ---- */

/* The agent's option: one of them has its iterations, all others have one, so that the machine code
 * is the same. */
static char *option_of(const struct lc_agree *a, int delay)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);
	const char *separator = "at=";

	for (size_t i = 0; i < a->delays_len; i++) {
		const struct lc_agree_delay *d = &a->delays[i];

		if (d->why)
			continue;
		fprintf(out, "%s%s:%" PRIu64 "/%" PRIu64, separator, d->method,
		        (int)i + 1 == delay ? d->iterations : 1, d->every);
		separator = ";";
	}
	lc_mem_close_text(out);
	return text;
}

static void take_delay(struct lc_agree_delay *d, const json_t *root, const json_t *row)
{
	const char *state = json_string_value(json_object_get(row, "state"));
	const double java = lc_repeat_record_number(root, "java_cpu_ns");
	const double executions = lc_repeat_record_number(row, "executions");
	double each; /* iterations, if each execution is delayed */

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
	each = PART / (1 - PART) * java / executions / d->ns_per_iteration;
	d->every = 1;
	while (each * (double)d->every < ITERATIONS_MIN && d->every < EVERY_MAX)
		d->every *= 2;
	d->iterations = (uint64_t)fmin(each * (double)d->every, INT32_MAX);
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

static void drop_refused(struct lc_agree *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->delays_len; i++) {
		const struct lc_agree_delay d = a->delays[i];

		if (!d.why) {
			a->delays[kept++] = d;
			continue;
		}
		free(d.method);
		free(d.why);
	}
	a->delays_len = kept;
}

static void add_delays(struct lc_agree *a, struct candidates *c, size_t wanted)
{
	while (a->delays_len < wanted && c->next < c->len) {
		a->delays[a->delays_len++] = (struct lc_agree_delay){ .method = c->names[c->next] };
		c->names[c->next++] = NULL;
	}
	for (size_t i = 0; i < a->delays_len; i++)
		a->delays[i].every = COUNTING_EVERY;
}

/* A run that is not one of the rounds, and leaves nothing but its counts. */
static int count(struct lc_agree *a, struct lc_agree_request *q, int number)
{
	struct lc_repeat_run run = { .wall_ns = -1 };
	char *delays = option_of(a, 0);
	int status;

	run.name = lc_mem_text("the run that counts executions");
	run.directory = lc_mem_text("%s/count-%d", q->directory, number);
	if (q->resume)
		lc_scratch_remove(lc_mem_text("%s", run.directory));
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

/*
 * Count the executions of the first candidates. If one cannot have a delay, the next one takes its
 * place, and all are counted again: the counters cost time. The last results say why there is none.
 */
static int settle(struct lc_agree *a, struct lc_agree_request *q, struct candidates *c,
                  size_t wanted)
{
	int status = 0;

	for (int number = 1; !status; number++) {
		size_t refused = 0;

		add_delays(a, c, wanted);
		status = count(a, q, number);
		for (size_t i = 0; i < a->delays_len; i++)
			refused += a->delays[i].why != NULL;
		if (!refused || c->next == c->len || number == COUNTS_MAX)
			break;
		drop_refused(a);
	}
	return status;
}

/* Choose the methods, unless earlier runs have delays. */
static int prepare(struct lc_agree *a, struct lc_agree_request *q)
{
	char error[LC_LIBRARIES_ERROR_MAX];
	struct candidates c = { .len = 0 };
	int status;

	if (lc_libraries_find("liblocus-delay.so", q->machine.delay, error))
		return lc_fail("--truth: %s", error);
	if (a->delays_len)
		return 0;
	if (q->truth_at)
		take_words(&c, q->truth_at);
	else
		choose(&c, a);
	if (!c.len)
		return lc_fail(
		    "--truth: no method has 0.1%% to 80%% of a profiler's samples; run longer, or "
		    "name methods with --truth-at");
	status = settle(a, q, &c, q->truth_at ? c.len : CHOSEN);
	while (c.next < c.len)
		free(c.names[c.next++]);
	if (!status && q->truth_at && !any_in_place(a))
		status = lc_fail("--truth: none of the methods can have a delay");
	return status ? status : lc_agree_record_write(a, q);
}

/* ---- the runs ---- */

static int run_round(struct lc_agree *a, struct lc_agree_request *q, size_t round, size_t *number,
                     uint64_t begin)
{
	const size_t of = a->rounds * a->sides_len * (a->delays_len + 1);
	int status = 0;

	for (size_t d = 0; d <= a->delays_len; d++) {
		char *delays = option_of(a, (int)d);

		for (size_t i = 0; i < a->sides_len && !status && !lc_child_asked(); i++) {
			const struct lc_agree_run which = { .side = round & 1 ? a->sides_len - 1 - i
				                                              : i,
				                            .round = round,
				                            .delay = (int)d };

			++*number;
			if (a->sides[which.side].absent || (d && a->delays[d - 1].why) ||
			    lc_agree_find_run(a, which.side, round, which.delay) != SIZE_MAX)
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
		return 0;
	for (size_t round = 0; round < a->rounds && !status && !lc_child_asked(); round++)
		status = run_round(a, q, round, &number, begin);
	lc_progress_end();
	return status;
}
