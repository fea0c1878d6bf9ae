/*
 * commands/merge.c - runs `locus merge`, which makes one profile of several.
 *
 * Inputs are read one after the other into one tree, which is written when all are in; memory
 * follows what is different in them. With --keep-threads the tree is written and emptied after each
 * thread, and memory follows the largest thread.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/new_directory.h"
#include "analyzer/base/progress.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/model/load.h"
#include "analyzer/model/write.h"

enum row { ROW_OUTPUT, ROW_KEEP, ROW_COUNT };

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_OUTPUT] = { "output", 'o', "STRING", "DIR", "", "", "directory of the new profile" },
	[ROW_KEEP] = { "keep-threads", 0, "FLAG", "", "off", "",
	               "keep each thread's paths apart, so that 'report --thread' can tell them" },
};

struct merge {
	const char *output;
	bool keep_threads;
	bool made_directory;
	uint32_t files;  /* written */
	uint64_t blocks; /* written */
	bool empty;      /* nothing counted so far */
	struct lc_tree tree;
	struct lc_load load;
	struct lc_merge_writer *writer;
};

const struct lc_option_info *lc_cmd_merge_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

/* ---- output directory ---- */

static char *block_file_name(const struct merge *m, uint32_t number)
{
	return m->keep_threads ? lc_mem_text("%s/thread-%u" LC_BLOCK_SUFFIX, m->output, number)
	                       : lc_mem_text("%s/merged" LC_BLOCK_SUFFIX, m->output);
}

static void remove_output(struct merge *m)
{
	for (uint32_t i = 0; i < m->files; i++) {
		char *name = block_file_name(m, i);

		unlink(name);
		free(name);
	}
	if (m->made_directory)
		rmdir(m->output);
}

static int write_tree(struct merge *m)
{
	char *name = block_file_name(m, m->files++);
	FILE *out = fopen(name, "wxe");
	int blocks = -errno, status = 0;

	if (out) {
		lc_progress_stage("writing");
		blocks = lc_merge_write(m->writer, &m->tree, m->keep_threads, out);
		if (fclose(out) && blocks >= 0)
			blocks = -errno;
	}
	if (blocks < 0)
		status = lc_fail("cannot write '%s': %s", name, strerror(-blocks));
	else
		m->blocks += (uint64_t)blocks;
	free(name);
	return status;
}

static bool is_empty(const struct lc_tree *t)
{
	return lc_tree_empty(t) && !lc_tree_has_spans(t);
}

/* After each file of an input, with --keep-threads. */
static int flush_thread(void *context)
{
	struct merge *m = context;
	int status;

	if (!m->tree.threads.count && is_empty(&m->tree))
		return 0;
	m->empty = m->empty && is_empty(&m->tree);
	status = write_tree(m);
	lc_tree_free(&m->tree);
	lc_tree_init(&m->tree);
	return status;
}

/* ---- manifest ---- */

static json_t *process_row(const struct lc_load_process *p)
{
	json_t *row = json_pack(
	    "{s:I,s:b,s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:O,s:O}", "pid", (json_int_t)p->pid,
	    "complete", p->complete, "command", p->command, "jdk", p->jdk, "gc", p->gc,
	    "start_wall_ns", (json_int_t)p->start_wall_ns, "start_monotonic_ns",
	    (json_int_t)p->start_monotonic_ns, "end_wall_ns", (json_int_t)p->end_wall_ns,
	    "end_monotonic_ns", (json_int_t)p->end_monotonic_ns, "last_block_ns",
	    (json_int_t)p->last_block_ns, "options", p->options, "counters", p->counters);

	if (p->arguments)
		json_object_set(row, "arguments", p->arguments);
	if (*p->directory)
		json_object_set_new(row, "directory", json_string(p->directory));
	if (p->limited)
		json_object_set_new(row, "limited", json_true());
	if (p->intervals)
		json_object_set(row, "intervals", p->intervals);
	if (p->limits)
		json_object_set(row, "limits", p->limits);
	if (p->marks)
		json_object_set(row, "marks", p->marks);
	if (p->numa)
		json_object_set(row, "numa", p->numa);
	if (p->spans)
		json_object_set(row, "spans", p->spans);
	if (p->periods)
		json_object_set(row, "periods", p->periods);
	return row;
}

static json_t *engine_rows(const struct lc_load *l)
{
	json_t *engines = json_array();

	for (uint32_t i = 0; i < l->engines_len; i++) {
		const struct lc_load_engine *e = &l->engines[i];
		json_t *row = json_pack("{s:s,s:s,s:I,s:s}", "name", e->name, "event", e->event,
		                        "interval_ns", (json_int_t)e->interval_ns, "unit", e->unit);

		if (e->tick_ns)
			json_object_set_new(row, "tick_ns", json_integer((json_int_t)e->tick_ns));
		if (*e->reason)
			json_object_set_new(row, "reason", json_string(e->reason));
		json_array_append_new(engines, row);
	}
	return engines;
}

/* Row by row, so that thousands of processes are never all copied. */
static int write_manifest(const struct merge *m)
{
	char *name = lc_mem_text("%s/" LC_MANIFEST_NAME, m->output);
	FILE *out = fopen(name, "wxe");
	bool bad = !out;

	if (out) {
		json_t *engines = engine_rows(&m->load);

		fprintf(out, "{\"format\":%d,\"blocks\":%llu,\n\"engines\":", LC_FORMAT_VERSION,
		        (unsigned long long)m->blocks);
		json_dumpf(engines, out, JSON_COMPACT);
		json_decref(engines);
		fputs(",\n\"processes\":[", out);
		for (size_t i = 0; i < m->load.processes_len; i++) {
			json_t *row = process_row(&m->load.processes[i]);

			fputs(i ? ",\n" : "\n", out);
			json_dumpf(row, out, JSON_COMPACT);
			json_decref(row);
		}
		fputs("]}\n", out);
		bad = ferror(out);
		bad |= fclose(out) != 0;
	}
	if (bad) {
		lc_fail("cannot write '%s': %s", name, strerror(errno));
		unlink(name);
	}
	free(name);
	return bad;
}

/* ---- the command ---- */

static int merge_all(struct merge *m, char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		lc_load_expect(paths[i]);
	for (size_t i = 0; i < count; i++)
		if (lc_load_profile(&m->load, paths[i]))
			return 1;
	if (m->empty && is_empty(&m->tree))
		return lc_fail("nothing to merge: no sample, allocation or span is in '%s'%s",
		               paths[0], count > 1 ? " and the others" : "");
	if (!m->keep_threads && write_tree(m))
		return 1;
	lc_progress_end();
	if (m->load.new_sections)
		fprintf(stderr, "locus: %llu sections of a newer Locus are left out\n",
		        (unsigned long long)m->load.new_sections);
	return write_manifest(m);
}

static int merge(struct merge *m, char **paths, size_t count)
{
	int status;

	if (lc_new_directory(m->output, &m->made_directory))
		return 1;
	lc_tree_init(&m->tree);
	lc_load_init(&m->load);
	m->empty = true;
	m->load.tree = &m->tree;
	if (m->keep_threads) {
		m->load.file_done = flush_thread;
		m->load.context = m;
	}
	m->writer = lc_merge_writer_create();
	status = merge_all(m, paths, count);
	if (status)
		remove_output(m);
	else if (lc_load_damaged(&m->load))
		status = LC_EXIT_PARTIAL;
	lc_merge_writer_free(m->writer);
	lc_load_free(&m->load);
	lc_tree_free(&m->tree);
	return status;
}

static int set(void *context, int row, const char *value)
{
	struct merge *m = context;

	if (row == ROW_OUTPUT)
		m->output = value;
	else if (value && strcmp(value, "on") != 0)
		return lc_usage("--%s takes no value", rows[row].name);
	else
		m->keep_threads = true;
	return 0;
}

int lc_cmd_merge(int argc, char **argv)
{
	struct lc_args args = {
		.argc = argc, .argv = argv, .table = rows, .count = ROW_COUNT, .next = 1
	};
	struct merge m = { .keep_threads = false };
	char **paths;
	size_t count;
	int status = lc_args_read(&args, set, &m, &paths, &count);

	if (status < 0)
		return lc_answer(status, argv[0]);
	if (!status && !m.output)
		status = lc_usage("merge: name the output directory with -o");
	if (!status && !count)
		status = lc_usage("merge: name the profiles to merge");
	if (!status)
		status = merge(&m, paths, count);
	free(paths);
	return status;
}
