/* SPDX-License-Identifier: Apache-2.0 */
/* repeat/repeat_json.c - writes a repeat as JSON (docs/JSON.md), and as a page that holds it. */
#include "analyzer/repeat/repeat_json.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/out/html.h"
#include "analyzer/out/json.h"
#include "analyzer/repeat/repeat_impl.h"

enum { FORMAT = 1 };

void lc_repeat_json_number(struct lc_json *j, const char *name, const struct lc_repeat_number *n)
{
	if (!n->known) {
		lc_json_null(j, name);
		return;
	}
	lc_json_object(j, name);
	lc_json_real(j, "mean", n->mean);
	if (n->interval) {
		lc_json_real(j, "low", n->low);
		lc_json_real(j, "high", n->high);
	} else {
		lc_json_null(j, "low");
		lc_json_null(j, "high");
	}
	lc_json_real(j, "least", n->least);
	lc_json_real(j, "most", n->most);
	lc_json_bool(j, "equal", n->equal);
	lc_json_end_object(j);
}

static void put_run(struct lc_json *j, const struct lc_repeat_run *run)
{
	const bool counted = run->state == LC_REPEAT_COUNTED;

	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_string(j, "name", run->name);
	lc_json_string(j, "state", lc_repeat_state_name(run->state));
	lc_json_string(j, "why", run->why);
	lc_json_string(j, "locus_said", run->said);
	lc_json_u64(j, "stderr_bytes", run->stderr_bytes);
	lc_json_bool(j, "other_output", run->other_output);
	lc_json_known(j, "wall_ns", run->wall_ns);
	lc_json_known(j, "cpu_ns", run->cpu_ns);
	lc_json_known(j, "samples", counted ? run->samples : -1);
	lc_json_known(j, "allocations", counted ? run->allocations : -1);
	lc_json_known(j, "bytes", counted ? run->bytes : -1);
	lc_json_known(j, "estimated_bytes", counted ? run->estimated_bytes : -1);
	lc_json_array(j, "profiles");
	for (size_t i = 0; i < run->profiles_len; i++)
		lc_json_string(j, NULL, run->profiles[i]);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void put_reals(struct lc_json *j, const char *name, const double *values, size_t len)
{
	lc_json_array(j, name);
	for (size_t i = 0; i < len; i++)
		lc_json_real(j, NULL, values[i]);
	lc_json_end_array(j);
}

static void put_name(struct lc_json *j, const struct lc_tree *names, const struct lc_repeat_name *n)
{
	lc_json_string(j, "label", n->label);
	if (n->class)
		lc_json_text(j, "class", lc_tree_text(names, n->class));
	if (n->method == UINT32_MAX)
		return;
	lc_json_object(j, "at");
	lc_json_code(j, names, n->method, n->line1);
	lc_json_end_object(j);
	lc_json_string(j, "code", n->code);
}

static void put_entry(struct lc_json *j, const struct lc_repeat *r, const struct lc_repeat_table *t,
                      const struct lc_repeat_entry *e)
{
	lc_json_line(j, 4);
	lc_json_object(j, NULL);
	put_name(j, &r->names, &e->name);
	lc_repeat_json_number(j, "share", &e->share);
	lc_json_real(j, "difference", e->difference);
	lc_json_bool(j, "equal", e->equal);
	lc_json_u64(j, "first", e->first);
	lc_json_u64(j, "top", e->top);
	if (e->best) {
		lc_json_u64(j, "best", e->best);
		lc_json_u64(j, "worst", e->worst);
	} else {
		lc_json_null(j, "best");
		lc_json_null(j, "worst");
	}
	lc_json_bool(j, "unstable", e->unstable);
	if (e->all_lines)
		lc_json_bool(j, "all_lines", true);
	put_reals(j, "values", e->values, t->columns);
	put_reals(j, "shares", e->shares, t->runs);
	lc_json_end_object(j);
}

/* `text` is freed. */
static void put_words(struct lc_json *j, const char *name, char *text)
{
	lc_json_string(j, name, text);
	free(text);
}

static void put_table(struct lc_json *j, const struct lc_repeat *r, const struct lc_repeat_table *t,
                      size_t top)
{
	if (!t->runs || !t->len)
		return;
	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_string(j, "kind", lc_repeat_kind_name(t->kind));
	put_words(j, "first", lc_repeat_say_first(t));
	put_words(j, "self_difference", lc_repeat_say_difference(t));
	put_words(j, "top", lc_repeat_say_top(t));
	put_words(j, "lines", lc_repeat_say_lines(t));
	lc_json_u64(j, "runs", t->runs);
	lc_json_u64(j, "firsts", t->firsts);
	lc_json_u64(j, "unstable", t->unstable);
	lc_json_known(j, "largest_difference", t->farthest ? t->farthest->difference : -1);
	lc_json_string(j, "largest_difference_of", t->farthest ? t->farthest->name.label : NULL);
	put_reals(j, "totals", t->totals, t->columns);
	lc_json_u64(j, "entries_of", t->len);
	lc_json_array(j, "entries");
	for (size_t i = 0; i < t->len && i < top; i++)
		put_entry(j, r, t, &t->entries[i]);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void put_engine(struct lc_json *j, const struct lc_load_engine *e)
{
	if (!e->name || !*e->name) {
		lc_json_null(j, "engine");
		return;
	}
	lc_json_object(j, "engine");
	lc_json_string(j, "name", e->name);
	lc_json_string(j, "event", e->event);
	lc_json_u64(j, "interval_ns", e->interval_ns);
	lc_json_string(j, "unit", e->unit);
	lc_json_end_object(j);
}

void lc_repeat_json(FILE *out, const struct lc_repeat *r, size_t top)
{
	char *headline = lc_repeat_headline(r);
	struct lc_json j;

	lc_json_init(&j, out);
	lc_json_object(&j, NULL);
	lc_json_u64(&j, "format", FORMAT);
	lc_json_string(&j, "summary", headline);
	free(headline);
	lc_json_string(&j, "program", r->program);
	lc_json_string(&j, "other_program", r->other_program);
	lc_json_string(&j, "command", r->command);
	lc_json_u64(&j, "asked", r->asked > r->runs_len ? r->asked : r->runs_len);
	lc_json_u64(&j, "counted", r->counted);
	lc_json_string(&j, "withheld", lc_repeat_withheld(r));
	lc_json_bool(&j, "all_outputs_differ", r->all_differ);
	lc_json_string(&j, "group", lc_rank_group_name(r->group));
	put_engine(&j, &r->engine);
	lc_repeat_json_number(&j, "wall_ns", &r->wall_ns);
	lc_repeat_json_number(&j, "cpu_ns", &r->cpu_ns);
	lc_repeat_json_number(&j, "samples", &r->samples);
	lc_repeat_json_number(&j, "allocations", &r->allocations);
	lc_repeat_json_number(&j, "bytes", &r->bytes);
	lc_repeat_json_number(&j, "estimated_bytes", &r->estimated_bytes);
	lc_json_array(&j, "runs");
	for (size_t i = 0; i < r->runs_len; i++)
		put_run(&j, &r->runs[i]);
	lc_json_end_array(&j);
	lc_json_line(&j, 0);
	lc_json_array(&j, "tables");
	for (unsigned kind = 0; kind < LC_REPEAT_KINDS; kind++)
		put_table(&j, r, &r->tables[kind], top);
	lc_json_end_array(&j);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', out);
}

/* ---- the page ---- */

struct page {
	const struct lc_repeat *r;
	size_t top;
};

static void data(FILE *out, const void *of)
{
	const struct page *p = of;

	lc_repeat_json(out, p->r, p->top);
}

void lc_repeat_html(FILE *out, const struct lc_repeat *r, size_t top)
{
	const struct page p = { r, top };

	lc_html_write(out, LC_HTML_REPEAT, data, &p);
}
