/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree_output.c - reads what a profiler wrote in a run, with the profiler's own tools if the
 * output is no text.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/agree/agree_profilers.h"
#include "analyzer/agree/agree_tool.h"
#include "analyzer/base/memory.h"
#include "analyzer/repeat/repeat_read.h"
#include "analyzer/repeat/repeat_record.h"

/* Adds one file's samples. Returns 0, or -errno. */
typedef int reader(const struct lc_agree_machine *m, struct lc_agree_counts *c, const char *path);

static int with_file(struct lc_agree_counts *c, const char *path,
                     int (*read)(struct lc_agree_counts *, FILE *))
{
	FILE *in = fopen(path, "re");
	const int err = in ? read(c, in) : -errno;

	if (in)
		fclose(in);
	return err;
}

static int read_annotated(struct lc_agree_counts *c, FILE *in)
{
	return lc_agree_read_collapsed(c, in, 1);
}

static int read_plain(struct lc_agree_counts *c, FILE *in)
{
	return lc_agree_read_collapsed(c, in, 0);
}

static int of_async(const struct lc_agree_machine *m, struct lc_agree_counts *c, const char *path)
{
	return with_file(c, path, read_annotated);
}

static int of_own(const struct lc_agree_machine *m, struct lc_agree_counts *c, const char *path)
{
	return with_file(c, path, read_plain);
}

static int of_tool(struct lc_agree_counts *c, const char *const *command, const char *path,
                   int (*read)(struct lc_agree_counts *, FILE *))
{
	char *text = lc_mem_text("%s.text", path);
	const int err = lc_agree_tool(command, text, NULL) ? with_file(c, text, read) : -EIO;

	unlink(text);
	free(text);
	return err;
}

static int of_jfr(const struct lc_agree_machine *m, struct lc_agree_counts *c, const char *path)
{
	const char *const command[] = {
		m->jfr, "print", "--json", "--stack-depth", "1", "--events", "jdk.ExecutionSample",
		path,   NULL
	};

	return of_tool(c, command, path, lc_agree_read_jfr);
}

/*
 * HotSpot's map of a process is in /tmp, where perf looks for it; later runs do not need it. `in`
 * is what perf wrote of its samples, in which a line with a process begins with no tab.
 */
static void remove_maps(FILE *in)
{
	char *line = NULL, map[64];
	long pid, before = 0;
	size_t cap = 0;

	while (getline(&line, &cap, in) > 0) {
		pid = *line == '\t' ? 0 : strtol(line, NULL, 10);
		if (pid <= 0 || pid == before)
			continue;
		snprintf(map, sizeof(map), "/tmp/perf-%ld.map", pid);
		unlink(map);
		before = pid;
	}
	free(line);
}

static int read_perf(struct lc_agree_counts *c, FILE *in)
{
	const int err = lc_agree_read_perf(c, in);

	rewind(in);
	remove_maps(in);
	return err;
}

static int of_perf(const struct lc_agree_machine *m, struct lc_agree_counts *c, const char *path)
{
	const char *const command[] = { "perf", "script", "-F", "pid,ip,sym", "-i", path, NULL };

	return of_tool(c, command, path, read_perf);
}

/* The methods of a Locus profile, as `locus repeat` counts them. */
static char *of_locus(struct lc_repeat_run *run, struct lc_agree_counts *c)
{
	struct lc_repeat one;
	const struct lc_repeat_table *t = &one.tables[LC_REPEAT_METHODS];
	struct lc_repeat_run *copy;
	char *why = NULL;

	lc_repeat_init(&one);
	copy = lc_repeat_add_run(&one);
	copy->name = lc_mem_text("%s", run->name);
	copy->directory = lc_mem_text("%s", run->directory);
	lc_repeat_record_profiles(copy);
	if (lc_repeat_read(&one, NULL))
		why = lc_mem_text("its profile has no samples");
	else if (one.runs->state != LC_REPEAT_COUNTED)
		why = lc_mem_text("%s", one.runs->why);
	for (size_t i = 0; i < t->len && !why; i++) {
		const uint32_t *m = lc_table_key(&one.names.methods, t->entries[i].name.method);
		const struct lc_text class = lc_tree_text(&one.names, m[LC_METHOD_CLASS]);
		const struct lc_text called = lc_tree_text(&one.names, m[LC_METHOD_NAME]);
		char *text = lc_mem_text("%.*s.%.*s", (int)class.len, class.bytes, (int)called.len,
		                         called.bytes);
		char *name = lc_agree_name(text);

		lc_agree_counts_add(c, name, (uint64_t)t->entries[i].values[0]);
		free(name);
		free(text);
	}
	if (!why && t->totals[0] > (double)c->samples)
		c->samples = (uint64_t)t->totals[0];
	lc_repeat_free(&one);
	return why;
}

/* ---- the files of a run ---- */

static int is_output(const struct dirent *e)
{
	return strncmp(e->d_name, LC_REPEAT_PROFILE, strlen(LC_REPEAT_PROFILE)) == 0;
}

static char *read_files(const struct lc_agree_machine *m, const struct lc_repeat_run *run,
                        struct lc_agree_counts *c, reader *read)
{
	struct dirent **names = NULL;
	const int count = scandir(run->directory, &names, is_output, alphasort);
	char *why = NULL;

	for (int i = 0; i < count; i++) {
		char *path = lc_mem_text("%s/%s", run->directory, names[i]->d_name);
		const int err = why ? 0 : read(m, c, path);

		if (err)
			why = lc_mem_text("cannot read the profiler's output %s: %s",
			                  names[i]->d_name, strerror(-err));
		free(path);
		free(names[i]);
	}
	free(names);
	if (count <= 0)
		why = lc_mem_text("the profiler wrote nothing");
	else if (!why && !c->java)
		why = lc_mem_text("the profiler took no sample of a Java method");
	return why;
}

char *lc_agree_read_output(const struct lc_agree_machine *m, const struct lc_agree_side *side,
                           struct lc_repeat_run *run, struct lc_agree_counts *counts)
{
	static reader *const readers[LC_AGREE_KINDS] = {
		[LC_AGREE_ASYNC] = of_async, [LC_AGREE_JFR] = of_jfr, [LC_AGREE_JFR_DEBUG] = of_jfr,
		[LC_AGREE_PERF] = of_perf,   [LC_AGREE_OWN] = of_own,
	};

	if (side->kind == LC_AGREE_LOCUS)
		return of_locus(run, counts);
	return readers[side->kind] ? read_files(m, run, counts, readers[side->kind]) : NULL;
}
