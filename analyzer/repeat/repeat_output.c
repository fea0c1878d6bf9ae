/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat_output.c - judges a run by its standard output and error. Outputs are compared byte
 * by byte with those of earlier runs.
 */
#include "analyzer/repeat/repeat_output.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/plain.h"
#include "analyzer/repeat/repeat_record.h"

enum { SHOWN_BYTES = 60 };

/* NULL: it is not there, as where a run was removed. */
static FILE *open_of(const struct lc_repeat_run *run, const char *name)
{
	char *path = lc_mem_text("%s/%s", run->directory, name);
	const int fd = lc_file_open(AT_FDCWD, path);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !in)
		close(fd);
	free(path);
	return in;
}

/* ---- standard error ---- */

/* The beginning of a line as a terminal can show it. */
static char *shown(const char *line, size_t len)
{
	char *text;
	size_t text_len;
	FILE *out = lc_text_open(&text, &text_len);

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	lc_plain_put(out, line, len < SHOWN_BYTES ? len : SHOWN_BYTES);
	if (len > SHOWN_BYTES)
		fputs(" ...", out);
	lc_mem_close_text(out);
	return text;
}

/* Add a line of standard error, which often says why a run failed. */
static void add_reason(struct lc_repeat_run *run, const char *line)
{
	char *why = lc_mem_text("%s; on standard error: %s", run->why, line);

	free(run->why);
	run->why = why;
}

static void read_stderr(struct lc_repeat_run *run, bool any_stderr)
{
	static const char own[] = "locus: ", delays[] = "locus-delay: ";
	/* HotSpot's, where options come by the environment. */
	static const char picked[] = "Picked up JAVA_TOOL_OPTIONS: ";
	FILE *in = open_of(run, LC_REPEAT_STDERR);
	char *line = NULL, *first = NULL;
	size_t cap = 0;
	ssize_t len;

	while (in && (len = getline(&line, &cap, in)) > 0) {
		char **text = &first;

		if (!strncmp(line, picked, strlen(picked)))
			continue;
		if (!strncmp(line, own, strlen(own)) || !strncmp(line, delays, strlen(delays)))
			text = &run->said;
		else
			run->stderr_bytes += (uint64_t)len;
		if (!*text)
			*text = shown(line, (size_t)len);
	}
	if (first && run->state == LC_REPEAT_FAILED)
		add_reason(run, first);
	else if (first && !any_stderr)
		lc_repeat_leave_out(run, LC_REPEAT_SAID,
		                    lc_mem_text("it wrote to standard error: %s", first));
	free(first);
	free(line);
	if (in)
		fclose(in);
}

/* ---- standard output ---- */

/* The line, from 1, in which two files differ; 0: they do not. One that is not there is empty. */
static size_t differing_line(FILE *a, FILE *b)
{
	size_t line = 1;

	for (;;) {
		const int x = a ? getc_unlocked(a) : EOF, y = b ? getc_unlocked(b) : EOF;

		if (x != y)
			return line;
		if (x == EOF)
			return 0;
		line += x == '\n';
	}
}

static size_t compare(const struct lc_repeat_run *a, const struct lc_repeat_run *b)
{
	FILE *x = open_of(a, LC_REPEAT_STDOUT), *y = open_of(b, LC_REPEAT_STDOUT);
	const size_t line = differing_line(x, y);

	if (x)
		fclose(x);
	if (y)
		fclose(y);
	return line;
}

static bool has_output(const struct lc_repeat_run *run)
{
	return run->directory && run->state == LC_REPEAT_COUNTED;
}

/*
 * Find for each run the first run with equal output, SIZE_MAX for a run without output. sizes[]
 * counts the runs of each such group.
 */
static void group(const struct lc_repeat *r, size_t *groups, size_t *sizes)
{
	for (size_t i = 0; i < r->runs_len; i++) {
		groups[i] = SIZE_MAX;
		if (!has_output(&r->runs[i]))
			continue;
		groups[i] = i;
		for (size_t k = 0; k < i && groups[i] == i; k++)
			if (groups[k] == k && !compare(&r->runs[k], &r->runs[i]))
				groups[i] = k;
		sizes[groups[i]]++;
	}
}

static void judge_outputs(struct lc_repeat *r, bool any_output)
{
	size_t *groups = lc_mem_zeroed(r->runs_len + 1, sizeof(*groups));
	size_t *sizes = lc_mem_zeroed(r->runs_len + 1, sizeof(*sizes));
	size_t most = 0, with = 0;

	group(r, groups, sizes);
	for (size_t i = 0; i < r->runs_len; i++) {
		with += groups[i] != SIZE_MAX;
		most = sizes[i] > sizes[most] ? i : most;
	}
	r->all_differ = with > 1 && sizes[most] == 1;
	for (size_t i = 0; i < r->runs_len; i++) {
		struct lc_repeat_run *run = &r->runs[i];

		if (groups[i] == SIZE_MAX || groups[i] == most)
			continue;
		run->other_output = true;
		if (!any_output)
			lc_repeat_leave_out(
			    run, LC_REPEAT_DIFFERED,
			    lc_mem_text("its output differs from that of %zu run%s, first in line "
			                "%zu of %s/" LC_REPEAT_STDOUT,
			                sizes[most], sizes[most] == 1 ? "" : "s",
			                compare(&r->runs[most], run), run->directory));
	}
	free(sizes);
	free(groups);
}

void lc_repeat_judge_output(struct lc_repeat *r, bool any_stderr, bool any_output)
{
	for (size_t i = 0; i < r->runs_len; i++)
		if (r->runs[i].directory)
			read_stderr(&r->runs[i], any_stderr);
	judge_outputs(r, any_output);
}
