/* SPDX-License-Identifier: Apache-2.0 */
/* objects/json/report_json_program.c - writes the recorded programs for the JSON report. */
#include "analyzer/objects/analysis/report.h"
#include "analyzer/objects/json/report_json.h"
#include "analyzer/out/json.h"
#include "analyzer/out/json_processes.h"

void lc_report_json_program(struct lc_json *j, const struct lc_load_process *p)
{
	lc_json_string(j, "command", p->command);
	lc_json_i64(j, "pid", p->pid);
	lc_json_string(j, "jdk", p->jdk);
	lc_json_string(j, "gc", p->gc);
	lc_json_host(j, p);
	if (p->cpus)
		lc_json_u64(j, "cpus", p->cpus);
}

/* Limits that the recording reached; rows that are no such are left out. */
static void limits(struct lc_json *j, const struct lc_load_process *p)
{
	json_t *row;
	size_t i;

	if (!p->limits)
		return;
	lc_json_array(j, "limits");
	json_array_foreach(p->limits, i, row)
	{
		const char *kind = json_string_value(json_object_get(row, "kind"));
		const char *text = json_string_value(json_object_get(row, "text"));

		if (!kind || !text)
			continue;
		lc_json_object(j, NULL);
		lc_json_string(j, "kind", kind);
		lc_json_string(j, "text", text);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* Names with a point in time each; `rows` is NULL if there are none. */
static void marks(struct lc_json *j, const char *member, const json_t *rows)
{
	json_t *row;
	size_t i;

	if (!rows)
		return;
	lc_json_array(j, member);
	json_array_foreach(rows, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));
		const json_int_t time_ns = json_integer_value(json_object_get(row, "time_ns"));

		if (!name || time_ns < 0)
			continue;
		lc_json_object(j, NULL);
		lc_json_string(j, "name", name);
		lc_json_u64(j, "time_ns", (uint64_t)time_ns);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void put_u64(struct lc_json *j, const json_t *row, const char *name)
{
	const json_int_t v = json_integer_value(json_object_get(row, name));

	lc_json_u64(j, name, v < 0 ? 0 : (uint64_t)v);
}

/* The profiles of --loop that it was read from. */
static void periods(struct lc_json *j, const struct lc_load_process *p)
{
	json_t *row;
	size_t i;

	if (!p->periods)
		return;
	lc_json_array(j, "periods");
	json_array_foreach(p->periods, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));

		if (!name)
			continue;
		lc_json_object(j, NULL);
		lc_json_string(j, "name", name);
		lc_json_bool(j, "complete", json_is_true(json_object_get(row, "complete")));
		put_u64(j, row, "start_wall_ns");
		put_u64(j, row, "start_monotonic_ns");
		put_u64(j, row, "end_wall_ns");
		put_u64(j, row, "end_monotonic_ns");
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* The time of the blocks that count, where a range was asked for. */
static void shown(struct lc_json *j, const struct lc_load_process *p)
{
	if (!p->shown_end_ns)
		return;
	lc_json_object(j, "shown");
	lc_json_u64(j, "begin_ns", p->shown_begin_ns);
	lc_json_u64(j, "end_ns", p->shown_end_ns);
	if (p->asked_begin_ns)
		lc_json_u64(j, "asked_begin_ns", p->asked_begin_ns);
	if (p->asked_end_ns)
		lc_json_u64(j, "asked_end_ns", p->asked_end_ns);
	lc_json_end_object(j);
}

void lc_report_json_processes(struct lc_json *j, const struct lc_load *l)
{
	lc_json_line(j, 0);
	lc_json_array(j, "processes");
	for (size_t i = 0; i < l->processes_len; i++) {
		const struct lc_load_process *p = &l->processes[i];
		const char *name;
		json_t *value;

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_report_json_program(j, p);
		lc_json_bool(j, "complete", p->complete);
		if (p->limited)
			lc_json_bool(j, "limited", true);
		if (p->attached)
			lc_json_bool(j, "attached", true);
		lc_json_u64(j, "start_wall_ns", p->start_wall_ns);
		lc_json_u64(j, "start_monotonic_ns", p->start_monotonic_ns);
		lc_json_u64(j, "end_wall_ns", p->end_wall_ns);
		lc_json_u64(j, "end_monotonic_ns", p->end_monotonic_ns);
		lc_json_u64(j, "last_block_ns", p->last_block_ns);
		lc_json_object(j, "options");
		json_object_foreach(p->options, name, value)
		{
			const char *text = json_string_value(value);

			lc_json_string(j, name, text ? text : "");
		}
		lc_json_end_object(j);
		lc_json_object(j, "counters");
		json_object_foreach(p->counters, name, value)
		{
			lc_json_i64(j, name, json_integer_value(value));
		}
		lc_json_end_object(j);
		limits(j, p);
		marks(j, "marks", p->marks);
		marks(j, "tracked_hot", p->tracked_hot);
		periods(j, p);
		shown(j, p);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}
