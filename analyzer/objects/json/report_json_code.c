/* SPDX-License-Identifier: Apache-2.0 */
/* objects/json/report_json_code.c - writes the samples of lines and methods. */
#include "analyzer/objects/json/report_json.h"

#include <string.h>

#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/json.h"

static void code_rows(struct lc_json *j, const char *name, const struct lc_view *v,
                      const struct lc_view_code *rows, size_t len, bool methods)
{
	lc_json_array(j, name);
	for (size_t i = 0; i < len; i++) {
		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_json_code(j, v->tree, rows[i].method, rows[i].line1);
		lc_report_json_count(j, rows[i].samples, v->total);
		lc_json_u64(j, "object", rows[i].tracked);
		lc_json_u64(j, "in_objects", rows[i].in_objects);
		if (methods)
			lc_json_u64(j, "total", rows[i].total);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* Which classes are own, and why. */
static void own_choice(struct lc_json *j, const struct lc_tree_own_choice *c)
{
	lc_json_line(j, 0);
	lc_json_object(j, "own");
	lc_json_bool(j, "given", c->given);
	lc_json_array(j, "patterns");
	for (size_t i = 0; i < c->len; i++)
		lc_json_text(j, NULL,
		             (struct lc_text){ c->patterns[i], (uint32_t)strlen(c->patterns[i]) });
	lc_json_end_array(j);
	lc_json_string(j, "why", c->why);
	lc_json_end_object(j);
}

static void waiter(struct lc_json *j, const struct lc_view *v, const struct lc_waiter *m)
{
	lc_json_code(j, v->tree, m->method, 0);
	lc_report_json_count(j, m->samples, v->total);
	lc_json_real(j, "low", m->low);
	lc_json_real(j, "high", m->high);
	lc_json_real(j, "bytes", m->bytes);
	lc_json_array(j, "classes");
	for (size_t c = 0; c < m->classes_len; c++) {
		lc_json_object(j, NULL);
		lc_json_text(j, "class", lc_tree_text(v->tree, m->classes[c].class));
		lc_json_u64(j, "samples", m->classes[c].samples);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

/* Own methods, each with the samples whose nearest such frame it is, and what it calls. */
static void own_methods(struct lc_json *j, const struct lc_view *v, const struct lc_waiters *w)
{
	lc_json_line(j, 0);
	lc_json_array(j, "own_methods");
	for (size_t i = 0; i < w->len; i++) {
		const struct lc_waiter *m = &w->list[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		waiter(j, v, m);
		lc_json_array(j, "below");
		for (size_t k = 0; k < m->below_len; k++) {
			lc_json_object(j, NULL);
			waiter(j, v, &m->below[k]);
			lc_json_end_object(j);
		}
		lc_json_end_array(j);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_u64(j, "not_own", w->elsewhere);
}

void lc_report_json_code(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	lc_json_line(j, 0);
	lc_json_object(j, "code");
	code_rows(j, "lines", v, v->lines, v->lines_len, false);
	lc_json_line(j, 0);
	code_rows(j, "methods", v, v->methods, v->methods_len, true);
	own_choice(j, &v->tree->own);
	own_methods(j, v, &r->analysis->waiters);
	lc_json_end_object(j);
}
