/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat_record.c - writes runs.json and reads it again, although anybody may have edited
 * it.
 */
#include "analyzer/repeat/repeat_record.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/replace.h"
#include "analyzer/model/redacted.h"
#include "analyzer/out/json.h"

enum { RECORD_FORMAT = 1, RECORD_RUNS_MAX = 100000 };

char *lc_repeat_record_name(size_t number)
{
	return lc_mem_text("run-%03zu", number);
}

/* ---- writing ---- */

void lc_repeat_record_put_run(struct lc_json *j, const struct lc_repeat_run *run)
{
	lc_json_string(j, "state", lc_repeat_state_name(run->state));
	lc_json_string(j, "why", run->why);
	lc_json_known(j, "wall_ns", run->wall_ns);
	lc_json_known(j, "cpu_ns", run->cpu_ns);
}

static void put_run(struct lc_json *j, const struct lc_repeat_run *run)
{
	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_repeat_record_put_run(j, run);
	lc_json_end_object(j);
}

struct record {
	const struct lc_repeat *r;
	const struct lc_repeat_request *q;
};

static void put(FILE *out, const void *of)
{
	const struct lc_repeat *r = ((const struct record *)of)->r;
	const struct lc_repeat_request *q = ((const struct record *)of)->q;
	struct lc_json j;

	lc_json_init(&j, out);
	lc_json_object(&j, NULL);
	lc_json_u64(&j, "format", RECORD_FORMAT);
	lc_repeat_record_put_command(&j, q->command, &q->options);
	lc_json_u64(&j, "asked", r->asked);
	lc_json_u64(&j, "timeout_ns", q->timeout_ns);
	lc_json_array(&j, "runs");
	for (size_t i = 0; i < r->runs_len; i++)
		put_run(&j, &r->runs[i]);
	lc_json_end_array(&j);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', out);
}

int lc_repeat_record_write(const struct lc_repeat *r, const struct lc_repeat_request *q)
{
	const struct record record = { r, q };
	char *path = lc_mem_text("%s/" LC_REPEAT_RECORD, q->directory);
	const int status = lc_replace_whole(path, put, &record);

	free(path);
	return status;
}

/* ---- reading ---- */

bool lc_repeat_record_in(const char *directory)
{
	char *path = lc_mem_text("%s/" LC_REPEAT_RECORD, directory);
	const bool found = access(path, F_OK) == 0;

	free(path);
	return found;
}

static int is_profile(const struct dirent *e)
{
	return strncmp(e->d_name, LC_REPEAT_PROFILE, strlen(LC_REPEAT_PROFILE)) == 0;
}

void lc_repeat_record_profiles(struct lc_repeat_run *run)
{
	struct dirent **names = NULL;
	const int count = scandir(run->directory, &names, is_profile, alphasort);

	for (int i = 0; i < count; i++) {
		lc_repeat_add_profile(run, lc_mem_text("%s/%s", run->directory, names[i]->d_name));
		free(names[i]);
	}
	free(names);
}

double lc_repeat_record_number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) && json_number_value(value) >= 0 ? json_number_value(value)
	                                                              : -1;
}

void lc_repeat_record_read_run(struct lc_repeat_run *run, const json_t *row)
{
	const char *state = json_string_value(json_object_get(row, "state"));
	const char *why = json_string_value(json_object_get(row, "why"));

	run->wall_ns = lc_repeat_record_number(row, "wall_ns");
	run->cpu_ns = lc_repeat_record_number(row, "cpu_ns");
	for (unsigned i = LC_REPEAT_COUNTED + 1; state && i < LC_REPEAT_STATES; i++)
		if (!strcmp(state, lc_repeat_state_name((enum lc_repeat_state)i)))
			lc_repeat_leave_out(run, (enum lc_repeat_state)i,
			                    lc_mem_text("%s", why ? why : state));
}

static void read_run(struct lc_repeat *r, const char *directory, size_t number, const json_t *row)
{
	struct lc_repeat_run *run = lc_repeat_add_run(r);
	char *name = lc_repeat_record_name(number);

	run->name = lc_mem_text("run %zu", r->runs_len);
	run->directory = lc_mem_text("%s/%s", directory, name);
	free(name);
	lc_repeat_record_profiles(run);
	lc_repeat_record_read_run(run, row);
}

char *lc_repeat_record_command(const json_t *root)
{
	json_t *words = lc_redacted_words(json_object_get(root, "command"));
	char *text = lc_redacted_join(words);

	json_decref(words);
	return text;
}

void lc_repeat_record_put_command(struct lc_json *j, char *const *command,
                                  const struct lc_options *options)
{
	json_t *words = lc_redacted_command(command, options);
	const json_t *word;
	size_t i;

	lc_json_array(j, "command");
	json_array_foreach(words, i, word)
	{
		lc_json_string(j, NULL, json_string_value(word));
	}
	lc_json_end_array(j);
	json_decref(words);
}

int lc_repeat_record_read(struct lc_repeat *r, const char *directory)
{
	char *path = lc_mem_text("%s/" LC_REPEAT_RECORD, directory);
	json_t *root = NULL, *rows, *row;
	json_error_t error;
	double asked;
	size_t i;
	int fd = lc_file_open(AT_FDCWD, path), status = 0;

	if (fd < 0) {
		status = lc_fail("cannot read '%s': %s", path, lc_file_error(fd));
		goto out;
	}
	root = json_loadfd(fd, JSON_REJECT_DUPLICATES, &error);
	close(fd);
	rows = json_object_get(root, "runs");
	if (!json_is_array(rows) || json_array_size(rows) > RECORD_RUNS_MAX ||
	    json_integer_value(json_object_get(root, "format")) != RECORD_FORMAT) {
		status = lc_fail("'%s' is not a record of runs that this Locus can read%s%s", path,
		                 root ? "" : ": ", root ? "" : error.text);
		goto out;
	}
	json_array_foreach(rows, i, row)
	{
		read_run(r, directory, i + 1, row);
	}
	asked = lc_repeat_record_number(root, "asked");
	if (asked > 0 && asked <= RECORD_RUNS_MAX)
		r->asked += (size_t)asked;
	if (!r->command)
		r->command = lc_repeat_record_command(root);
out:
	json_decref(root);
	free(path);
	return status;
}
