/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/load_process.c - reads processes from manifests, and joins the rows of one process from
 * several periods (--loop).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/load_impl.h"
#include "analyzer/model/redacted.h"
#include "src/format/levels.h"

char *lc_load_text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return lc_mem_text("%s", text ? text : "");
}

uint64_t lc_load_number_of(const json_t *object, const char *name)
{
	json_int_t v = json_integer_value(json_object_get(object, name));

	return v < 0 ? 0 : (uint64_t)v;
}

static json_t *object_of(const json_t *object, const char *name)
{
	json_t *found = json_object_get(object, name);

	return json_is_object(found) ? json_incref(found) : json_object();
}

/* NULL where there is none of that type. */
static json_t *member(const json_t *object, const char *name, json_type type)
{
	json_t *found = json_object_get(object, name);

	return found && json_typeof(found) == type ? json_incref(found) : NULL;
}

/* Copy the labels that are text; NULL if there are none. */
static json_t *labels_of(const json_t *info)
{
	json_t *all = json_object_get(info, "labels"), *found = NULL, *value;
	const char *key;

	json_object_foreach(all, key, value)
	{
		if (!json_is_string(value))
			continue;
		if (!found)
			found = json_object();
		json_object_set(found, key, value);
	}
	return found;
}

static unsigned cpus_of(const json_t *info)
{
	const uint64_t cpus = lc_load_number_of(info, "cpus");

	return cpus <= UINT_MAX ? (unsigned)cpus : 0;
}

/* The words of the command; NULL where they are not known. */
static json_t *arguments_of(const json_t *info)
{
	const json_t *words = json_object_get(info, "arguments");

	return json_is_array(words) ? lc_redacted_words(words) : NULL;
}

/* The agent hides secrets before it writes them. Manifests of older agents hold them. */
static char *command_of(const json_t *info)
{
	char *command = lc_load_text_of(info, "command");
	const json_t *words = json_object_get(info, "arguments");
	json_t *shown = arguments_of(info);
	char *joined = shown ? lc_redacted_join(words) : NULL, *text;

	text =
	    shown && !strcmp(joined, command) ? lc_redacted_join(shown) : lc_redacted_text(command);
	json_decref(shown);
	free(joined);
	free(command);
	return text;
}

void lc_load_process_read(struct lc_load_process *p, const json_t *info)
{
	const json_t *shown = json_object_get(info, "shown");

	*p = (struct lc_load_process){
		.command = command_of(info),
		.jdk = lc_load_text_of(info, "jdk"),
		.gc = lc_load_text_of(info, "gc"),
		.host = lc_load_text_of(info, "host"),
		.labels = labels_of(info),
		.pid = (int64_t)lc_load_number_of(info, "pid"),
		.cpus = cpus_of(info),
		.complete = json_is_true(json_object_get(info, "complete")),
		.disk_full = json_is_true(json_object_get(info, "disk_full")),
		.limited = json_is_true(json_object_get(info, "limited")),
		.attached = json_is_true(json_object_get(info, "attached")),
		.start_wall_ns = lc_load_number_of(info, "start_wall_ns"),
		.start_monotonic_ns = lc_load_number_of(info, "start_monotonic_ns"),
		.end_wall_ns = lc_load_number_of(info, "end_wall_ns"),
		.end_monotonic_ns = lc_load_number_of(info, "end_monotonic_ns"),
		.last_block_ns = lc_load_number_of(info, "last_block_ns"),
		.arguments = arguments_of(info),
		.directory = lc_load_text_of(info, "directory"),
		.options = object_of(info, "options"),
		.counters = object_of(info, "counters"),
		.intervals = member(info, "intervals", JSON_ARRAY),
		.limits = member(info, "limits", JSON_ARRAY),
		.marks = member(info, "marks", JSON_ARRAY),
		.tracked_hot = member(info, "tracked_hot", JSON_ARRAY),
		.numa = member(info, "numa", JSON_OBJECT),
		.spans = member(info, "spans", JSON_OBJECT),
		.periods = member(info, "periods", JSON_ARRAY),
		.shown_begin_ns = lc_load_number_of(shown, "begin_ns"),
		.shown_end_ns = lc_load_number_of(shown, "end_ns"),
	};
	p->zero_ns = p->shown_end_ns ? p->start_monotonic_ns : 0;
}

void lc_load_process_free(struct lc_load_process *p)
{
	free(p->command);
	free(p->jdk);
	free(p->gc);
	free(p->host);
	json_decref(p->labels);
	json_decref(p->arguments);
	free(p->directory);
	json_decref(p->options);
	json_decref(p->counters);
	json_decref(p->intervals);
	json_decref(p->limits);
	json_decref(p->marks);
	json_decref(p->tracked_hot);
	json_decref(p->numa);
	json_decref(p->spans);
	json_decref(p->periods);
}

bool lc_load_process_continues(const struct lc_load_process *p, const struct lc_load_process *next)
{
	return p->pid == next->pid && p->start_monotonic_ns <= next->start_monotonic_ns;
}

/* Add numbers of `next` to those of *p that have the same names. */
static void add_numbers(json_t *to, const json_t *next, const char *const *names, size_t names_len)
{
	for (size_t i = 0; i < names_len; i++) {
		json_t *add = json_object_get(next, names[i]), *old = json_object_get(to, names[i]);

		if (json_is_integer(add))
			json_object_set_new(
			    to, names[i],
			    json_integer(json_integer_value(old) + json_integer_value(add)));
	}
}

static void add_counters(json_t *to, json_t *next)
{
	const char *name;
	json_t *value;

	json_object_foreach(next, name, value)
	{
		if (lc_level_is(name))
			json_object_set(to, name, value);
		else
			add_numbers(to, next, &name, 1);
	}
}

static void keep_last(json_t **p, json_t **next)
{
	if (!*next)
		return;
	json_decref(*p);
	*p = *next;
	*next = NULL;
}

static void append(json_t **p, json_t *next)
{
	if (!*p)
		*p = json_incref(next);
	else if (next)
		json_array_extend(*p, next);
}

/* The nodes are those of the last one; what the kernel and we did with pages adds up. */
static void add_numa(struct lc_load_process *p, struct lc_load_process *next)
{
	static const char *const sums[] = { "pages_migrated", "pages_asked", "pages_unknown",
		                            "owner_changes", "samples_dropped" };

	if (p->numa && next->numa)
		add_numbers(next->numa, p->numa, sums, sizeof(sums) / sizeof(sums[0]));
	keep_last(&p->numa, &next->numa);
}

void lc_load_process_add(struct lc_load_process *p, struct lc_load_process *next)
{
	p->complete = p->complete && next->complete;
	p->disk_full |= next->disk_full;
	p->limited = next->limited;
	p->cpus = !p->cpus || !next->cpus ? 0 : next->cpus > p->cpus ? next->cpus : p->cpus;
	p->end_wall_ns = next->end_wall_ns;
	p->end_monotonic_ns = next->end_monotonic_ns;
	add_counters(p->counters, next->counters);
	append(&p->marks, next->marks);
	/* Each manifest has all limits, chosen classes and changes of intervals up to its end. */
	keep_last(&p->tracked_hot, &next->tracked_hot);
	keep_last(&p->limits, &next->limits);
	keep_last(&p->intervals, &next->intervals);
	keep_last(&p->spans, &next->spans);
	add_numa(p, next);
	lc_load_process_free(next);
}

void lc_load_process_note_period(struct lc_load_process *p, const char *name,
                                 const struct lc_load_process *one)
{
	if (!p->periods)
		p->periods = json_array();
	json_array_append_new(
	    p->periods, json_pack("{s:s,s:b,s:I,s:I,s:I,s:I}", "name", name, "complete",
	                          one->complete, "start_wall_ns", (json_int_t)one->start_wall_ns,
	                          "start_monotonic_ns", (json_int_t)one->start_monotonic_ns,
	                          "end_wall_ns", (json_int_t)one->end_wall_ns, "end_monotonic_ns",
	                          (json_int_t)one->end_monotonic_ns));
}

uint32_t lc_load_weight_milli(const json_t *processes, const struct lc_load_engine *e)
{
	char *samples = lc_mem_text("engine_%s_samples", e->name);
	char *overruns = lc_mem_text("engine_%s_overruns", e->name);
	double interrupts = 0, beyond = 0, weight = 1;
	const json_t *row;
	size_t i;

	json_array_foreach(processes, i, row)
	{
		const json_t *counters = json_object_get(row, "counters");

		interrupts += (double)lc_load_number_of(counters, samples);
		beyond += (double)lc_load_number_of(counters, overruns);
	}
	if (interrupts > 0 && beyond > 0)
		weight += beyond / interrupts;
	else if (e->interval_ns && e->tick_ns > e->interval_ns)
		weight = (double)e->tick_ns / (double)e->interval_ns;
	free(samples);
	free(overruns);
	return weight < UINT32_MAX / 1000 ? (uint32_t)(1000 * weight + 0.5) : UINT32_MAX;
}

bool lc_load_has_limit(const struct lc_load_process *p, const char *kind)
{
	const json_t *row;
	size_t i;

	json_array_foreach(p->limits, i, row)
	{
		const char *is = json_string_value(json_object_get(row, "kind"));

		if (is && !strcmp(is, kind))
			return true;
	}
	return false;
}
