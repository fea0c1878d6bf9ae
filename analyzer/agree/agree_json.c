/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_json.c - writes the agreement of profilers as JSON (docs/JSON.md). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/agree/agree_impl.h"
#include "analyzer/out/json.h"
#include "analyzer/repeat/repeat_json.h"

enum { FORMAT = 1 };

static void put_run(struct lc_json *j, const struct lc_agree *a, size_t i)
{
	const struct lc_repeat_run *run = &a->all.runs[i];

	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_string(j, "name", run->name);
	lc_json_string(j, "profiler", a->sides[a->runs[i].side].name);
	lc_json_u64(j, "round", a->runs[i].round + 1);
	if (a->runs[i].delay < 0)
		lc_json_null(j, "delay");
	else
		lc_json_i64(j, "delay", a->runs[i].delay);
	lc_json_string(j, "state", lc_repeat_state_name(run->state));
	lc_json_string(j, "why", run->why);
	lc_json_known(j, "wall_ns", run->wall_ns);
	lc_json_known(j, "cpu_ns", run->cpu_ns);
	lc_json_known(j, "peak_bytes", run->peak_bytes);
	lc_json_known(j, "java_cpu_ns", a->runs[i].java_cpu_ns);
	lc_json_known(j, "delayed_ns", a->runs[i].delayed_ns);
	lc_json_end_object(j);
}

static void put_top(struct lc_json *j, const struct lc_repeat_table *t, size_t top)
{
	lc_json_array(j, "methods");
	for (size_t i = 0; i < t->len && i < top; i++) {
		const struct lc_repeat_entry *e = &t->entries[i];

		lc_json_line(j, 4);
		lc_json_object(j, NULL);
		lc_json_string(j, "method", e->name.label);
		lc_repeat_json_number(j, "share", &e->share);
		lc_json_real(j, "difference", e->difference);
		lc_json_u64(j, "first", e->first);
		lc_json_u64(j, "top", e->top);
		lc_json_bool(j, "unstable", e->unstable);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void put_side(struct lc_json *j, const struct lc_agree_side *s, size_t top)
{
	const struct lc_repeat_table *t = &s->methods.table;

	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_string(j, "name", s->name);
	lc_json_string(j, "about", s->about);
	lc_json_string(j, "absent", s->absent);
	lc_json_u64(j, "runs", s->runs);
	lc_json_u64(j, "counted", s->counted);
	lc_repeat_json_number(j, "cpu_ratio", &s->cpu_ratio);
	lc_repeat_json_number(j, "wall_ratio", &s->wall_ratio);
	lc_repeat_json_number(j, "peak_ratio", &s->peak_ratio);
	lc_repeat_json_number(j, "samples", &s->methods.samples);
	lc_repeat_json_number(j, "java_share", &s->methods.java);
	lc_json_u64(j, "firsts", t->firsts);
	lc_json_u64(j, "unstable", t->unstable);
	lc_json_known(j, "largest_difference", t->farthest ? t->farthest->difference : -1);
	lc_json_string(j, "largest_difference_of", t->farthest ? t->farthest->name.label : NULL);
	put_top(j, t, top);
	lc_json_end_object(j);
}

static void put_pairs(struct lc_json *j, const struct lc_agree *a)
{
	lc_json_array(j, "pairs");
	for (size_t i = 0; i < a->sides_len; i++) {
		for (size_t k = i + 1; k < a->sides_len; k++) {
			if (!lc_agree_is_compared(&a->sides[i]) ||
			    !lc_agree_is_compared(&a->sides[k]))
				continue;
			lc_json_line(j, 2);
			lc_json_object(j, NULL);
			lc_json_string(j, "a", a->sides[i].name);
			lc_json_string(j, "b", a->sides[k].name);
			lc_json_real(j, "overlap", a->pairs[i][k].overlap);
			lc_json_known(j, "overlap_width", a->pairs[i][k].width);
			lc_json_u64(j, "common_top_5", a->pairs[i][k].common);
			lc_json_end_object(j);
		}
	}
	lc_json_end_array(j);
}

static void put_seen(struct lc_json *j, const struct lc_agree *a, const struct lc_agree_side *s,
                     const struct lc_agree_seen *seen)
{
	lc_json_line(j, 4);
	lc_json_object(j, NULL);
	lc_json_string(j, "profiler", s->name);
	lc_repeat_json_number(j, "without", &seen->base);
	lc_repeat_json_number(j, "with", &seen->with);
	lc_json_real(j, "expected", seen->expected);
	lc_json_real(j, "error", seen->error);
	lc_json_known(j, "error_width", seen->width);
	if (seen->can_grow)
		lc_json_real(j, "found", seen->found);
	else
		lc_json_null(j, "found");
	lc_json_known(j, "found_width", seen->found_width);
	if (seen->found_width >= 0)
		lc_json_bool(j, "saw", seen->saw);
	else
		lc_json_null(j, "saw");
	lc_json_u64(j, "compared", seen->compared);
	if (seen->elsewhere)
		lc_json_text(j, "elsewhere", lc_agree_method(a, seen->elsewhere));
	else
		lc_json_null(j, "elsewhere");
	lc_json_real(j, "elsewhere_part", seen->elsewhere_part);
	lc_json_end_object(j);
}

static void put_delay(struct lc_json *j, const struct lc_agree *a, size_t d)
{
	const struct lc_agree_delay *delay = &a->delays[d];

	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_string(j, "method", delay->method);
	lc_json_string(j, "why", delay->why);
	lc_json_u64(j, "iterations", delay->iterations);
	lc_json_u64(j, "every", delay->every);
	lc_json_u64(j, "executions", delay->executions);
	lc_json_known(j, "ns_per_iteration", delay->ns_per_iteration);
	lc_json_known(j, "counted_ns", delay->counted);
	lc_repeat_json_number(j, "added", &delay->added);
	lc_repeat_json_number(j, "clocks", &delay->clocks);
	lc_json_array(j, "seen");
	for (size_t i = 0; i < a->sides_len; i++)
		if (a->sides[i].seen[d].known)
			put_seen(j, a, &a->sides[i], &a->sides[i].seen[d]);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

void lc_agree_json(FILE *out, const struct lc_agree *a, size_t top)
{
	char *headline = lc_agree_headline(a);
	struct lc_json j;

	lc_json_init(&j, out);
	lc_json_object(&j, NULL);
	lc_json_u64(&j, "format", FORMAT);
	lc_json_string(&j, "summary", headline);
	free(headline);
	lc_json_string(&j, "command", a->all.command);
	lc_json_u64(&j, "rounds", a->rounds);
	lc_json_u64(&j, "union_1", a->union_1);
	lc_json_u64(&j, "union_5", a->union_5);
	lc_json_u64(&j, "union_1_of_runs", a->union_1_runs);
	lc_json_u64(&j, "union_5_of_runs", a->union_5_runs);
	lc_json_array(&j, "profilers");
	for (size_t i = 0; i < a->sides_len; i++)
		put_side(&j, &a->sides[i], top);
	lc_json_end_array(&j);
	lc_json_line(&j, 0);
	put_pairs(&j, a);
	lc_json_line(&j, 0);
	lc_repeat_json_number(&j, "counting", &a->counting);
	lc_json_array(&j, "delays");
	for (size_t d = 0; d < a->delays_len; d++)
		put_delay(&j, a, d);
	lc_json_end_array(&j);
	lc_json_line(&j, 0);
	lc_json_array(&j, "runs");
	for (size_t i = 0; i < a->all.runs_len; i++)
		put_run(&j, a, i);
	lc_json_end_array(&j);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', out);
}
