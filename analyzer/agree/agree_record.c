/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_record.c - writes agree.json and reads it again, although anybody may have edited it.
 */
#include "analyzer/agree/agree_record.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/agree/agree_read.h"
#include "analyzer/agree/agree_run.h"
#include "analyzer/base/fail.h"
#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/replace.h"
#include "analyzer/out/json.h"
#include "analyzer/repeat/repeat_output.h"
#include "analyzer/repeat/repeat_record.h"

enum { RECORD_FORMAT = 1, RECORD_RUNS_MAX = 100000 };

char *lc_agree_record_name(const struct lc_agree *a, const struct lc_agree_run *run)
{
	const char *side = a->sides[run->side].name;

	if (run->delay < 0)
		return lc_mem_text("round-%03zu-%s", run->round + 1, side);
	if (!run->delay)
		return lc_mem_text("round-%03zu-%s-no-delay", run->round + 1, side);
	return lc_mem_text("round-%03zu-%s-delay-%d", run->round + 1, side, run->delay);
}

/* ---- writing ---- */

static void put_side(struct lc_json *j, const struct lc_agree_side *s)
{
	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_string(j, "name", s->name);
	lc_json_string(j, "kind", lc_agree_kind_name(s->kind));
	lc_json_string(j, "command", s->command);
	lc_json_string(j, "about", s->about);
	lc_json_string(j, "absent", s->absent);
	lc_json_end_object(j);
}

static void put_delay(struct lc_json *j, const struct lc_agree_delay *d)
{
	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_string(j, "method", d->method);
	lc_json_u64(j, "iterations", d->iterations);
	lc_json_u64(j, "every", d->every);
	lc_json_u64(j, "executions", d->executions);
	lc_json_real(j, "ns_per_iteration", d->ns_per_iteration);
	lc_json_string(j, "why", d->why);
	lc_json_end_object(j);
}

static void put_run(struct lc_json *j, const struct lc_agree_run *which,
                    const struct lc_repeat_run *run)
{
	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_u64(j, "side", which->side);
	lc_json_u64(j, "round", which->round);
	lc_json_i64(j, "delay", which->delay);
	lc_repeat_record_put_run(j, run);
	lc_json_known(j, "peak_bytes", run->peak_bytes);
	lc_json_known(j, "java_cpu_ns", which->java_cpu_ns);
	lc_json_known(j, "delayed_ns", which->delayed_ns);
	lc_json_end_object(j);
}

struct record {
	const struct lc_agree *a;
	const struct lc_agree_request *q;
};

static void put(FILE *out, const void *of)
{
	const struct lc_agree *a = ((const struct record *)of)->a;
	const struct lc_agree_request *q = ((const struct record *)of)->q;
	struct lc_json j;

	lc_json_init(&j, out);
	lc_json_object(&j, NULL);
	lc_json_u64(&j, "format", RECORD_FORMAT);
	lc_repeat_record_put_command(&j, q->command, &q->machine.options);
	lc_json_u64(&j, "rounds", a->rounds);
	lc_json_array(&j, "sides");
	for (size_t i = 0; i < a->sides_len; i++)
		put_side(&j, &a->sides[i]);
	lc_json_end_array(&j);
	lc_json_array(&j, "delays");
	for (size_t i = 0; i < a->delays_len; i++)
		put_delay(&j, &a->delays[i]);
	lc_json_end_array(&j);
	lc_json_array(&j, "runs");
	for (size_t i = 0; i < a->all.runs_len; i++)
		put_run(&j, &a->runs[i], &a->all.runs[i]);
	lc_json_end_array(&j);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', out);
}

int lc_agree_record_write(const struct lc_agree *a, const struct lc_agree_request *q)
{
	const struct record record = { a, q };
	char *path = lc_mem_text("%s/" LC_AGREE_RECORD, q->directory);
	const int status = lc_replace_whole(path, put, &record);

	free(path);
	return status;
}

/* ---- reading ---- */

static char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? lc_repeat_plain(lc_mem_text("%s", text)) : NULL;
}

static int read_sides(struct lc_agree *a, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		char *kind = text_of(row, "kind"), *name = text_of(row, "name");
		unsigned k = 0;
		struct lc_agree_side *s;

		while (kind && k < LC_AGREE_KINDS &&
		       strcmp(kind, lc_agree_kind_name((enum lc_agree_kind)k)) != 0)
			k++;
		/* A name is part of a path. */
		s = kind && name && k < LC_AGREE_KINDS && !strchr(name, '/')
		        ? lc_agree_add_side(a, (enum lc_agree_kind)k, name)
		        : NULL;
		free(kind);
		free(name);
		if (!s || (i == 0) != (s->kind == LC_AGREE_BARE))
			return 1;
		s->command = text_of(row, "command");
		s->about = text_of(row, "about");
		s->absent = text_of(row, "absent");
	}
	return a->sides_len == 0;
}

static int read_delays(struct lc_agree *a, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		struct lc_agree_delay *d;
		double every;

		if (a->delays_len == LC_AGREE_DELAYS_MAX)
			return 1;
		d = &a->delays[a->delays_len++];
		d->method = text_of(row, "method");
		d->why = text_of(row, "why");
		d->iterations = (uint64_t)(lc_repeat_record_number(row, "iterations") + 0.5);
		every = lc_repeat_record_number(row, "every");
		d->every = every >= 1 ? (uint64_t)(every + 0.5) : 1;
		d->executions = (uint64_t)(lc_repeat_record_number(row, "executions") + 0.5);
		d->ns_per_iteration = lc_repeat_record_number(row, "ns_per_iteration");
		if (!d->method)
			return 1;
	}
	return 0;
}

static bool is_interrupted(const json_t *row)
{
	const char *state = json_string_value(json_object_get(row, "state"));

	return state && !strcmp(state, lc_repeat_state_name(LC_REPEAT_INTERRUPTED));
}

static int read_runs(struct lc_agree *a, const json_t *rows, const char *directory, bool resume)
{
	const json_t *row;
	size_t i;

	if (!json_is_array(rows) || json_array_size(rows) > RECORD_RUNS_MAX)
		return 1;
	json_array_foreach(rows, i, row)
	{
		const double side = lc_repeat_record_number(row, "side"),
		             round = lc_repeat_record_number(row, "round");
		const json_int_t delay = json_integer_value(json_object_get(row, "delay"));
		struct lc_repeat_run *run;
		struct lc_agree_run *entry;
		char *name;

		if (side < 0 || side >= (double)a->sides_len || round < 0 ||
		    round >= (double)a->rounds || delay < -1 || delay > (json_int_t)a->delays_len)
			return 1;
		if (resume && is_interrupted(row))
			continue;
		run = lc_agree_add_run(a, (size_t)side, (size_t)round, (int)delay);
		entry = &a->runs[a->all.runs_len - 1];
		name = lc_agree_record_name(a, entry);
		run->directory = lc_mem_text("%s/%s", directory, name);
		run->name = name;
		run->peak_bytes = lc_repeat_record_number(row, "peak_bytes");
		entry->java_cpu_ns = lc_repeat_record_number(row, "java_cpu_ns");
		entry->delayed_ns = lc_repeat_record_number(row, "delayed_ns");
		lc_repeat_record_read_run(run, row);
	}
	return 0;
}

static int read_root(struct lc_agree *a, const json_t *root, const char *directory, bool resume)
{
	const double rounds = lc_repeat_record_number(root, "rounds");

	if (json_integer_value(json_object_get(root, "format")) != RECORD_FORMAT || rounds < 1 ||
	    rounds > RECORD_RUNS_MAX)
		return 1;
	a->rounds = (size_t)rounds;
	a->all.command = lc_repeat_plain(lc_repeat_record_command(root));
	return read_sides(a, json_object_get(root, "sides")) ||
	       read_delays(a, json_object_get(root, "delays")) ||
	       read_runs(a, json_object_get(root, "runs"), directory, resume);
}

int lc_agree_record_load(struct lc_agree *a, const char *directory, bool resume)
{
	char *path = lc_mem_text("%s/" LC_AGREE_RECORD, directory);
	json_error_t error;
	json_t *root = NULL;
	int fd = lc_file_open(AT_FDCWD, path), status = 0;

	if (fd < 0) {
		status = lc_fail("cannot read '%s': %s", path, lc_file_error(fd));
	} else {
		root = json_loadfd(fd, JSON_REJECT_DUPLICATES, &error);
		close(fd);
		if (!root || read_root(a, root, directory, resume))
			status = lc_fail("'%s' is not a record of runs that this Locus can "
			                 "read%s%s",
			                 path, root ? "" : ": ", root ? "" : error.text);
	}
	json_decref(root);
	free(path);
	return status;
}

int lc_agree_record_read(struct lc_agree *a, const char *directory, bool any_stderr,
                         bool any_output)
{
	const int status = lc_agree_record_load(a, directory, false);

	if (status)
		return status;
	lc_repeat_judge_output(&a->all, any_stderr, any_output);
	lc_agree_read(a);
	lc_agree_finish(a);
	return 0;
}
