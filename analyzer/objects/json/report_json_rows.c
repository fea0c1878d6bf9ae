/* SPDX-License-Identifier: Apache-2.0 */
/* objects/json/report_json_rows.c - writes the ranking and the findings as JSON. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/gc_model.h"
#include "analyzer/objects/analysis/headers.h"
#include "analyzer/objects/analysis/no_line.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/reaches.h"
#include "analyzer/objects/analysis/touch.h"
#include "analyzer/objects/json/report_json.h"
#include "analyzer/out/json.h"
#include "src/base/order.h"

enum { STEPS = 8 }; /* of a row, those with most samples */

static const char *const touches[] = {
	[LC_TOUCH_UNKNOWN] = "unknown",     [LC_TOUCH_HEADER] = "header",
	[LC_TOUCH_ONE_FIELD] = "one-field", [LC_TOUCH_ONE_PART] = "one-part",
	[LC_TOUCH_ALL_OVER] = "all-over",
};

static const char *const walks[] = {
	[LC_WALK_UNKNOWN] = "unknown",
	[LC_WALK_SEQUENTIAL] = "sequential",
	[LC_WALK_STRIDE] = "stride",
};

static const char *const ends[] = { [LC_END_FIRST] = "first", [LC_END_LAST] = "last" };

static void put_estimate(struct lc_json *j, const char *name, const struct lc_rank_number *n)
{
	if (n->value <= 0)
		return;
	lc_json_object(j, name);
	lc_json_fixed(j, "estimate", n->value, 0);
	lc_json_fixed(j, "low", n->low, 0);
	lc_json_fixed(j, "high", n->high, 0);
	lc_json_end_object(j);
}

/* The own frame, if there is one: "NAME":{"class":..,"method":..,"line":..}. */
static void put_own(struct lc_json *j, const char *name, const struct lc_tree *t, uint32_t own)
{
	const uint32_t *frame = own ? lc_tree_frame(t, own) : NULL;

	if (!frame)
		return;
	lc_json_object(j, name);
	lc_json_code(j, t, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
	lc_json_end_object(j);
}

/* The line that allocates, or null. */
static void put_allocated_at(struct lc_json *j, const struct lc_tree *t, uint32_t path)
{
	if (path)
		put_own(j, "allocated_at", t, path);
	else
		lc_json_null(j, "allocated_at");
}

void lc_report_json_label(struct lc_json *j, const struct lc_ranking *rank,
                          const struct lc_rank_row *row)
{
	const char *no_line = lc_no_line_word(lc_no_line_of(rank, row));
	const struct lc_tree *t = rank->view->tree;
	const struct lc_text class = lc_tree_text(t, row->class);

	if (lc_rank_is_no_class(rank)) {
		lc_json_text(j, lc_rank_group_name(rank->group), lc_rank_row_name(rank, row));
		return;
	}
	lc_json_text(j, "class", class);
	lc_object_json_row(j, t, row);
	if (rank->group == LC_GROUP_FIELD && row->field_known)
		lc_json_text(j, "field", lc_tree_text(t, row->field));
	else if (rank->group == LC_GROUP_FIELD)
		lc_json_null(j, "field");
	if (rank->group == LC_GROUP_SITE) {
		lc_json_path(j, "allocated_at", t, row->path);
	} else if (rank->group == LC_GROUP_LINE) {
		put_allocated_at(j, t, row->path);
		if (row->path)
			put_own(j, "allocated_in", t, lc_own_maker(t, row));
	}
	if (no_line)
		lc_json_string(j, "no_line", no_line);
}

static void put_parts(struct lc_json *j, const struct lc_tree *t, const struct lc_rank_row *row)
{
	lc_json_array(j, "sites");
	for (size_t i = 0; i < row->parts_len; i++) {
		const struct lc_rank_part *part = &row->parts[i];

		lc_json_object(j, NULL);
		if (part->from)
			lc_json_id(j, "id", lc_tree_site_id(t, part->from));
		else
			lc_json_null(j, "id");
		lc_json_string(j, "bucket", lc_bucket_name(part->bucket));
		lc_json_u64(j, "samples", part->samples);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void put_lines(struct lc_json *j, const struct lc_tree *t, const struct lc_rank_row *row)
{
	struct lc_arena arena = { 0 };
	size_t len;
	const struct lc_rank_lines *l =
	    lc_rank_roll_up(&arena, t, row->accesses, row->accesses_len, &len);

	lc_json_array(j, "accessed_at");
	for (size_t i = 0; i < len; i++) {
		lc_json_object(j, NULL);
		lc_json_u64(j, "samples", l[i].samples);
		if (l[i].method != UINT32_MAX) {
			lc_json_code(j, t, l[i].method, l[i].first);
			if (l[i].last != l[i].first)
				lc_json_u64(j, "last_line", l[i].last - 1);
			put_own(j, "in", t, l[i].own);
		}
		lc_json_array(j, "callers");
		for (size_t c = 0; c < l[i].callers_len; c++) {
			lc_json_object(j, NULL);
			lc_json_u64(j, "samples", l[i].callers[c].samples);
			lc_json_code(j, t, l[i].callers[c].method, l[i].callers[c].line1);
			lc_json_end_object(j);
		}
		lc_json_end_array(j);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_arena_free(&arena);
}

/* Members of "touched" about the order of accesses, and the ends of arrays. */
static void put_walk(struct lc_json *j, const struct lc_ranking *rank,
                     const struct lc_rank_row *row, const struct lc_touch *t)
{
	size_t len;
	struct lc_view_step *steps;

	lc_json_string(j, "walk", walks[t->walk]);
	lc_json_u64(j, "samples", t->at);
	lc_json_u64(j, "stepped", t->stepped);
	lc_json_u64(j, "sequential", t->sequential);
	lc_json_array(j, "steps");
	steps = lc_touch_steps(rank, row, &len);
	for (size_t i = 0; i < len && i < STEPS; i++) {
		lc_json_object(j, NULL);
		lc_json_u64(j, "bytes", steps[i].bytes);
		lc_json_u64(j, "samples", steps[i].samples);
		lc_json_end_object(j);
	}
	free(steps);
	lc_json_end_array(j);
	lc_json_string(j, "hot_end", ends[t->hot_end]);
	lc_json_object(j, "ends");
	lc_json_u64(j, "first", t->ends[LC_END_FIRST]);
	lc_json_u64(j, "last", t->ends[LC_END_LAST]);
	lc_json_u64(j, "middle", t->ends[LC_END_MIDDLE]);
	lc_json_end_object(j);
}

static void put_touch(struct lc_json *j, const struct lc_ranking *rank,
                      const struct lc_rank_row *row)
{
	const struct lc_touch t = lc_touch_of(rank, row);
	size_t len;
	struct lc_view_field *f;

	lc_json_object(j, "touched");
	lc_json_string(j, "part", touches[t.kind]);
	lc_json_u64(j, "known", t.known);
	lc_json_u64(j, "header", t.header);
	lc_json_bool(j, "never_read", lc_touch_never_read(&t));
	lc_json_u64(j, "reads_on", t.reads_on);
	lc_json_u64(j, "elsewhere", t.elsewhere);
	put_walk(j, rank, row, &t);
	lc_json_end_object(j);
	f = lc_touch_fields(rank, row, &len);
	if (len)
		lc_report_json_fields(j, rank->view, f, len, t.known);
	free(f);
}

/* "reached" of a row, if its samples say anything of it. */
static void put_reaches(struct lc_json *j, const struct lc_ranking *rank,
                        const struct lc_rank_row *row)
{
	const struct lc_tree *t = rank->view->tree;
	struct lc_reaches reaches = lc_reaches_of(rank, row);

	if (reaches.samples) {
		lc_json_object(j, "reached");
		lc_json_u64(j, "samples", reaches.samples);
		lc_json_u64(j, "known", reaches.known);
		lc_json_u64(j, "headers", reaches.headers);
		lc_json_array(j, "through");
		for (size_t i = 0; i < reaches.len; i++) {
			lc_json_object(j, NULL);
			lc_json_text(j, "name", lc_tree_text(t, reaches.list[i].name));
			lc_json_string(j, "kind", lc_reference_name(reaches.list[i].kind));
			lc_json_u64(j, "samples", reaches.list[i].samples);
			lc_json_path(j, "path", t, reaches.list[i].path);
			lc_json_end_object(j);
		}
		lc_json_end_array(j);
		lc_json_array(j, "header_read_for");
		for (unsigned why = LC_WHY_UNKNOWN; why < LC_WHYS; why++) {
			if (!reaches.why[why].samples)
				continue;
			lc_json_object(j, NULL);
			lc_json_string(j, "why", lc_why_name(why));
			lc_json_u64(j, "samples", reaches.why[why].samples);
			lc_json_path(j, "path", t, reaches.why[why].path);
			lc_json_end_object(j);
		}
		lc_json_end_array(j);
		lc_json_end_object(j);
	}
	lc_reaches_free(&reaches);
}

/* Write what collections did with a row's objects. Without `gc` the profiles do not have that. */
static void put_copies(struct lc_json *j, const struct lc_rank_row *row,
                       const struct lc_gc_model *gc)
{
	const struct lc_rank_copies *c = &row->copies;

	if (!gc->cpu_ns)
		return;
	lc_json_real(j, "gc_model_ns", lc_gc_model_by_allocation(gc, row));
	if (!gc->collected)
		return;
	lc_json_object(j, "collected");
	lc_json_u64(j, "copied", c->objects);
	lc_json_u64(j, "copied_bytes", c->bytes);
	lc_json_u64(j, "outlived", c->outlived);
	lc_json_u64(j, "outlived_bytes", c->outlived_bytes);
	lc_json_u64(j, "estimated_copied_bytes", c->estimated_bytes);
	if (gc->by_copies)
		lc_json_real(j, "gc_model_ns", lc_gc_model_by_copies(gc, row));
	lc_json_end_object(j);
}

static void put_offheap(struct lc_json *j, const struct lc_rank_offheap *o)
{
	if (!lc_offheap_any(o))
		return;
	lc_json_object(j, "off_heap");
	lc_json_u64(j, "allocated", o->allocated);
	lc_json_u64(j, "allocated_bytes", o->allocated_bytes);
	lc_json_u64(j, "freed", o->freed);
	lc_json_u64(j, "freed_bytes", o->freed_bytes);
	lc_json_u64(j, "before", o->before);
	lc_json_u64(j, "before_bytes", o->before_bytes);
	lc_json_end_object(j);
}

static void put_contents(struct lc_json *j, const struct lc_rank_contents *c)
{
	static const char *const names[LC_CONTENTS_PARTS] = { "to_64th", "to_16th", "to_8th",
		                                              "to_4th", "to_half" };

	if (!lc_contents_any(c))
		return;
	lc_json_object(j, "contents");
	lc_json_u64(j, "dead", c->dead);
	lc_json_u64(j, "zero", c->zero);
	lc_json_u64(j, "bytes", c->bytes);
	lc_json_u64(j, "used_bytes", c->used_bytes);
	for (unsigned i = 0; i < LC_CONTENTS_PARTS; i++)
		lc_json_u64(j, names[i], c->parts[i]);
	lc_json_u64(j, "outlived", c->outlived);
	lc_json_u64(j, "equal_same_line", c->same);
	lc_json_u64(j, "equal_other_line", c->other);
	lc_json_end_object(j);
}

static void put_row(struct lc_json *j, const struct lc_ranking *rank, size_t i,
                    const struct lc_gc_model *gc)
{
	const struct lc_rank_row *row = &rank->rows[i];

	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_report_json_label(j, rank, row);
	lc_json_u64(j, "samples", row->samples);
	lc_json_real(j, "effective", row->effective);
	lc_json_u64(j, "estimated", row->estimated);
	lc_json_real(j, "share", lc_share(row->samples, rank->view->total));
	lc_json_real(j, "low", row->low);
	lc_json_real(j, "high", row->high);
	lc_json_bool(j, "rest", i >= rank->shown);
	lc_json_u64(j, "allocations", row->allocations);
	lc_json_u64(j, "bytes", row->bytes);
	if (rank->group == LC_GROUP_SITE)
		lc_json_u64(j, "estimated_allocations", row->spread);
	put_estimate(j, "objects", &row->objects);
	put_estimate(j, "object_bytes", &row->object_bytes);
	if (row->objects.value > 0)
		lc_report_json_outlived(j, row->live);
	put_copies(j, row, gc);
	put_offheap(j, &row->offheap);
	put_contents(j, &row->contents);
	put_touch(j, rank, row);
	put_reaches(j, rank, row);
	put_parts(j, rank->view->tree, row);
	put_lines(j, rank->view->tree, row);
	lc_json_end_object(j);
}

/* Classes whose headers are touched, those with most samples there first. */
static void put_header_classes(struct lc_json *j, const struct lc_report *r)
{
	size_t len;
	struct lc_header_class *h = lc_headers_of(r->view, &len);

	lc_json_array(j, "header_classes");
	for (size_t i = 0; i < len && i < r->top; i++) {
		const double size = lc_headers_size(r->view, h[i].class);

		lc_json_object(j, NULL);
		lc_json_text(j, "class", lc_tree_text(r->view->tree, h[i].class));
		lc_json_u64(j, "samples", h[i].samples);
		lc_json_u64(j, "known", h[i].known);
		lc_json_real(j, "part", lc_share(h[i].samples, h[i].known));
		lc_json_real(j, "low", h[i].low);
		lc_json_real(j, "high", h[i].high);
		lc_json_bool(j, "only_header", h[i].only);
		if (size > 0)
			lc_json_fixed(j, "bytes_each", size, 0);
		else
			lc_json_null(j, "bytes_each");
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	free(h);
}

/* The classes that --track-from would track. */
static void put_track_from(struct lc_json *j, const struct lc_ranking *rank)
{
	uint32_t classes[LC_TRACK_FROM_ROWS];
	const size_t len = lc_no_line_classes(rank, classes);

	if (rank->group != LC_GROUP_LINE)
		return;
	lc_json_array(j, "track_from");
	for (size_t i = 0; i < len; i++)
		lc_json_text(j, NULL, lc_tree_text(rank->view->tree, classes[i]));
	lc_json_end_array(j);
}

void lc_report_json_ranking(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_ranking *rank = r->ranking;
	struct lc_gc_model gc;
	struct lc_weighted known, header;

	lc_gc_model_build(&gc, rank);
	lc_touch_all(r->view, &known, &header);
	lc_json_line(j, 0);
	lc_json_object(j, "ranking");
	lc_json_string(j, "group", lc_rank_group_name(rank->group));
	lc_json_u64(j, "samples", rank->samples);
	lc_json_u64(j, "rest_samples", rank->rest_samples);
	lc_json_u64(j, "fields_known", known.samples);
	lc_json_u64(j, "in_headers", header.samples);
	put_header_classes(j, r);
	put_track_from(j, rank);
	lc_json_array(j, "rows");
	for (size_t i = 0; i < rank->len && i < r->top; i++)
		put_row(j, rank, i, &gc);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void put_finding_rows(struct lc_json *j, const struct lc_tree *t, const struct lc_finding *f)
{
	if (!f->rows_len)
		return;
	lc_json_array(j, "rows");
	for (size_t i = 0; i < f->rows_len; i++) {
		lc_json_object(j, NULL);
		lc_json_text(j, "class", lc_tree_text(t, f->rows[i]->class));
		put_allocated_at(j, t, f->rows[i]->path);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

void lc_report_json_findings(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_findings *found = r->findings;

	lc_json_line(j, 0);
	lc_json_array(j, "findings");
	for (size_t i = 0; i < found->len; i++) {
		const struct lc_finding *f = &found->list[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_finding_json(j, f);
		if (f->row)
			lc_json_text(j, "class", lc_tree_text(r->view->tree, f->row->class));
		put_finding_rows(j, r->view->tree, f);
		lc_json_string(j, "text", f->text);
		if (f->change)
			lc_json_string(j, "change", f->change);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_line(j, 0);
	lc_json_string(j, "no_finding", found->none);
}
