/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/process_row.c - makes rows of `processes`. They become text at once, since thousands of
 * processes as JSON values take ten times as much memory.
 */
#include "analyzer/merge/process_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

/* Labels by their keys, whatever order they were given in. */
static json_t *in_order(const json_t *labels)
{
	char *text = json_dumps(labels, JSON_SORT_KEYS);
	json_t *sorted = text ? json_loads(text, 0, NULL) : NULL;

	free(text);
	if (!sorted)
		lc_no_memory();
	return sorted;
}

static json_t *row_of(const struct lc_load_process *p)
{
	json_t *row = json_pack(
	    "{s:I,s:b,s:s,s:s,s:s,s:I,s:I,s:I,s:I,s:O,s:O}", "pid", (json_int_t)p->pid, "complete",
	    p->complete, "command", p->command, "jdk", p->jdk, "gc", p->gc, "start_wall_ns",
	    (json_int_t)p->start_wall_ns, "start_monotonic_ns", (json_int_t)p->start_monotonic_ns,
	    "end_wall_ns", (json_int_t)p->end_wall_ns, "end_monotonic_ns",
	    (json_int_t)p->end_monotonic_ns, "options", p->options, "counters", p->counters);

	if (!row)
		lc_no_memory();
	if (p->arguments)
		json_object_set(row, "arguments", p->arguments);
	if (*p->directory)
		json_object_set_new(row, "directory", json_string(p->directory));
	if (*p->host)
		json_object_set_new(row, "host", json_string(p->host));
	if (p->cpus)
		json_object_set_new(row, "cpus", json_integer(p->cpus));
	if (p->labels)
		json_object_set_new(row, "labels", in_order(p->labels));
	if (p->disk_full)
		json_object_set_new(row, "disk_full", json_true());
	if (p->limited)
		json_object_set_new(row, "limited", json_true());
	if (p->attached)
		json_object_set_new(row, "attached", json_true());
	if (p->intervals)
		json_object_set(row, "intervals", p->intervals);
	if (p->limits)
		json_object_set(row, "limits", p->limits);
	if (p->marks)
		json_object_set(row, "marks", p->marks);
	if (p->tracked_hot)
		json_object_set(row, "tracked_hot", p->tracked_hot);
	if (p->numa)
		json_object_set(row, "numa", p->numa);
	if (p->spans)
		json_object_set(row, "spans", p->spans);
	if (p->periods)
		json_object_set(row, "periods", p->periods);
	return row;
}

char *lc_merge_process_row(const struct lc_load_process *p)
{
	json_t *row = row_of(p);
	char *text = json_dumps(row, JSON_COMPACT);

	json_decref(row);
	if (text)
		text[strlen(text) - 1] = '\0'; /* the brace */
	else
		lc_no_memory();
	return text;
}

void lc_merge_process_read(struct lc_load_process *p, const char *row)
{
	char *text = lc_mem_text("%s}", row);
	json_t *info = json_loads(text, 0, NULL);

	lc_load_process_read(p, info);
	json_decref(info);
	free(text);
}

/* JSON's numbers, as they are read, end there. */
static uint64_t number(uint64_t v)
{
	return v < INT64_MAX ? v : INT64_MAX;
}

void lc_merge_process_put(FILE *out, const struct lc_merge_process *p)
{
	fprintf(out, "%s,\"last_block_ns\":%" PRIu64, p->row, number(p->last_block_ns));
	if (p->shown_end_ns)
		fprintf(out, ",\"shown\":{\"begin_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 "}",
		        number(p->shown_begin_ns), number(p->shown_end_ns));
	putc('}', out);
}
