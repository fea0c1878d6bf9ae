/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_json.c - writes a diff as JSON (docs/JSON.md). */
#include <stdlib.h>

#include "analyzer/diff/diff_impl.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/reaches.h"
#include "analyzer/out/json.h"
#include "analyzer/out/json_processes.h"
#include "src/base/order.h"

enum { FORMAT = 1 };

static void put_number(struct lc_json *j, const char *name, const struct lc_diff_number *n)
{
	if (!n->known)
		return;
	lc_json_object(j, name);
	lc_json_real(j, "before", n->before);
	lc_json_real(j, "after", n->after);
	lc_json_real(j, "change", n->change);
	lc_json_real(j, "low", n->low);
	lc_json_real(j, "high", n->high);
	lc_json_bool(j, "estimate", n->estimate);
	lc_json_bool(j, "exact", n->exact);
	if (n->tested)
		lc_json_bool(j, "significant", n->significant);
	else
		lc_json_null(j, "significant");
	lc_json_end_object(j);
}

static void put_numbers(struct lc_json *j, const struct lc_diff_row *row)
{
	put_number(j, "share", &row->share);
	put_number(j, "cpu_ns", &row->cpu_ns);
	put_number(j, "allocations", &row->allocations);
	put_number(j, "bytes", &row->bytes);
	put_number(j, "objects", &row->objects);
	put_number(j, "object_bytes", &row->object_bytes);
	put_number(j, "off_heap_bytes", &row->offheap_bytes);
	put_number(j, "off_heap_live_bytes", &row->offheap_live);
	put_number(j, "live_bytes", &row->live);
}

static void put_profile(struct lc_json *j, const struct lc_diff_profile *p)
{
	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_string(j, "side", p->which == LC_DIFF_BEFORE ? "before" : "after");
	lc_json_string(j, "profile", p->path);
	if (p->load.processes_len) {
		lc_json_string(j, "command", p->load.processes->command);
		lc_json_i64(j, "pid", p->load.processes->pid);
		lc_json_string(j, "jdk", p->load.processes->jdk);
		lc_json_string(j, "gc", p->load.processes->gc);
		lc_json_host(j, p->load.processes);
	}
	lc_json_u64(j, "samples", p->samples);
	if (p->cpu_ns > 0)
		lc_json_real(j, "cpu_ns", p->cpu_ns);
	lc_json_end_object(j);
}

/* The references through which the objects were reached, if some are known. */
static void put_reached(struct lc_json *j, const struct lc_diff_place *p)
{
	struct lc_reaches reaches = lc_reaches_of(&p->profile->ranking, p->row);

	if (reaches.known) {
		lc_json_array(j, "reached_through");
		for (size_t i = 0; i < reaches.len; i++) {
			lc_json_object(j, NULL);
			lc_json_text(j, "name",
			             lc_tree_text(&p->profile->tree, reaches.list[i].name));
			lc_json_real(j, "share",
			             lc_share(reaches.list[i].samples, reaches.samples));
			lc_json_end_object(j);
		}
		lc_json_end_array(j);
	}
	lc_reaches_free(&reaches);
}

/* Write a row's place in one side; the first numbers are those of the profile with most samples. */
static void put_place(struct lc_json *j, const char *name, const struct lc_diff *d,
                      const struct lc_diff_place *p)
{
	const struct lc_tree *t;

	if (!p->row) {
		lc_json_null(j, name);
		return;
	}
	t = &p->profile->tree;
	lc_json_object(j, name);
	if (d->group == LC_GROUP_PACKAGE)
		lc_json_text(j, "package", lc_rank_package(lc_tree_text(t, p->row->class)));
	else
		lc_json_text(j,
		             d->group == LC_GROUP_BY || d->group == LC_GROUP_REQUEST
		                 ? lc_rank_group_name(d->group)
		                 : "class",
		             lc_tree_text(t, p->row->class));
	if (d->group == LC_GROUP_FIELD && p->row->field_known)
		lc_json_text(j, "field", lc_tree_text(t, p->row->field));
	if (p->row->path && d->group == LC_GROUP_SITE) {
		lc_json_path(j, "allocation_path", t, p->row->path);
	} else if (p->row->path) {
		const uint32_t *frame = lc_tree_frame(t, p->row->path);

		lc_json_object(j, "allocated_at");
		lc_json_code(j, t, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
		lc_json_end_object(j);
	}
	lc_object_json_row(j, t, p->row);
	put_reached(j, p);
	if (lc_contents_written(&p->row->contents))
		lc_json_real(j, "used_share", lc_contents_share(&p->row->contents));
	lc_json_end_object(j);
}

/* Write each profile's figures, in the order of `profiles`. */
static void put_runs(struct lc_json *j, const struct lc_diff *d, const struct lc_diff_row *row)
{
	lc_json_array(j, "runs");
	for (size_t i = 0; i < d->len; i++) {
		lc_json_object(j, NULL);
		lc_json_u64(j, "samples", row->counts[i].samples);
		if (d->group != LC_GROUP_FIELD) {
			lc_json_u64(j, "allocations", row->counts[i].allocations);
			lc_json_u64(j, "bytes", row->counts[i].bytes);
			lc_json_real(j, "objects", row->counts[i].objects);
			lc_json_real(j, "object_bytes", row->counts[i].object_bytes);
		}
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void put_row(struct lc_json *j, const struct lc_diff *d, const struct lc_diff_row *row)
{
	const char *fate = lc_diff_fate(row);

	lc_json_line(j, 2);
	lc_json_object(j, NULL);
	lc_json_string(j, "state", *fate ? fate : row->moved ? "moved" : "both");
	lc_json_string(j, "verdict", lc_diff_verdict(row));
	if (lc_diff_all_lines(row))
		lc_json_bool(j, "all_lines", true);
	put_place(j, "before", d, &row->side[LC_DIFF_BEFORE]);
	put_place(j, "after", d, &row->side[LC_DIFF_AFTER]);
	put_numbers(j, row);
	put_runs(j, d, row);
	lc_json_end_object(j);
}

static void put_engine(struct lc_json *j, const struct lc_diff *d)
{
	if (!d->engine) {
		lc_json_null(j, "engine");
	} else {
		lc_json_object(j, "engine");
		lc_json_string(j, "name", d->engine->name);
		lc_json_string(j, "event", d->engine->event);
		lc_json_u64(j, "interval_ns", d->engine->interval_ns);
		lc_json_string(j, "unit", d->engine->unit);
		lc_json_end_object(j);
	}
	lc_json_string(j, "not_compared", d->mixed);
}

static void put_outcomes(struct lc_json *j, const struct lc_diff_report *r)
{
	lc_json_array(j, "fail_on");
	for (size_t i = 0; i < r->outcomes_len; i++) {
		lc_json_object(j, NULL);
		lc_json_string(j, "condition", r->outcomes[i].condition);
		if (r->outcomes[i].known && !r->outcomes[i].undecided)
			lc_json_bool(j, "holds", r->outcomes[i].holds);
		else
			lc_json_null(j, "holds");
		lc_json_string(j, "text", r->outcomes[i].text);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

void lc_diff_json(FILE *out, const struct lc_diff_report *r)
{
	const struct lc_diff *d = r->diff;
	char *headline = lc_diff_headline(d);
	struct lc_json j;

	lc_json_init(&j, out);
	lc_json_object(&j, NULL);
	lc_json_u64(&j, "format", FORMAT);
	lc_json_string(&j, "summary", headline);
	lc_json_string(&j, "group", lc_rank_group_name(d->group));
	put_engine(&j, d);
	lc_json_array(&j, "profiles");
	for (size_t i = 0; i < d->len; i++)
		put_profile(&j, &d->profiles[i]);
	lc_json_end_array(&j);
	put_outcomes(&j, r);
	lc_json_object(&j, "total");
	put_number(&j, "process_cpu_ns", &d->total_ns);
	put_numbers(&j, &d->all);
	lc_json_end_object(&j);
	lc_json_u64(&j, "compared", d->compared);
	lc_json_u64(&j, "significant", d->significant);
	lc_json_array(&j, "rows");
	for (size_t i = 0; i < d->rows_len && i < r->top; i++)
		put_row(&j, d, &d->rows[i]);
	lc_json_end_array(&j);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', out);
	free(headline);
}
