/* SPDX-License-Identifier: Apache-2.0 */
/* objects/page/page_lens.c - writes one engine's rankings, places, code and findings. */
#include "analyzer/objects/page/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/table.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/gc_model.h"
#include "analyzer/objects/analysis/no_line.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/touch.h"
#include "analyzer/objects/json/report_json.h"
#include "analyzer/out/json.h"

/* A place is a bucket and a site; rows are made of places. */
enum { PLACE_BUCKET, PLACE_SITE, PLACE_KEY };

/* ---- places ---- */

static void put_places(struct lc_table *places, const struct lc_view_site *sites, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const uint32_t key[PLACE_KEY] = { sites[i].bucket, sites[i].site };

		if (sites[i].samples)
			*lc_table_values(places, lc_table_put(places, key)) = sites[i].samples;
	}
}

/* Rows of name, first and last element, samples, loads, stores. */
static void fields(struct lc_json *j, const struct lc_view *v, const uint32_t *place)
{
	size_t len;
	const struct lc_view_field *f =
	    lc_view_fields(v, place[PLACE_BUCKET], place[PLACE_SITE], LC_VIEW_ALL_PATHS, &len);

	if (!len)
		return;
	lc_json_array(j, "fields");
	for (size_t i = 0; i < len; i++) {
		lc_json_array(j, NULL);
		lc_json_u64(j, NULL, f[i].name);
		lc_json_u64(j, NULL, f[i].first);
		lc_json_u64(j, NULL, f[i].last);
		lc_json_u64(j, NULL, f[i].samples);
		lc_json_u64(j, NULL, f[i].loads);
		lc_json_u64(j, NULL, f[i].stores);
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
}

/* Rows of reference, enum lc_reference, enum lc_why, path and samples. */
static void reaches(struct lc_json *j, const struct lc_view *v, const uint32_t *place)
{
	size_t len;
	const struct lc_view_reach *r =
	    lc_view_reaches(v, place[PLACE_BUCKET], place[PLACE_SITE], &len);

	if (!len)
		return;
	lc_json_array(j, "reaches");
	for (size_t i = 0; i < len; i++) {
		lc_json_array(j, NULL);
		lc_json_u64(j, NULL, r[i].name);
		lc_json_u64(j, NULL, r[i].kind);
		lc_json_u64(j, NULL, r[i].why);
		lc_json_u64(j, NULL, r[i].path);
		lc_json_u64(j, NULL, r[i].samples);
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
}

static void put_place(struct lc_json *j, const struct lc_view *v, const struct lc_table *places,
                      uint32_t i)
{
	const uint32_t *key = lc_table_key(places, i);
	const struct lc_view_metric *m =
	    lc_view_metric(v, key[PLACE_BUCKET], key[PLACE_SITE], LC_VIEW_ALL_PATHS);

	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_u64(j, "bucket", key[PLACE_BUCKET]);
	lc_json_u64(j, "site", key[PLACE_SITE]);
	lc_json_u64(j, "samples", *lc_table_values(places, i));
	fields(j, v, key);
	reaches(j, v, key);
	if (m) {
		lc_json_object(j, "metric");
		lc_report_json_metric(j, m);
		lc_json_end_object(j);
	}
	lc_json_end_object(j);
}

/* ---- rows ---- */

/*
 * Write the lines that touch the row's objects most, joined as in the other reports, and the path
 * to the own frame below which they do; 0: none.
 */
static void hottest(struct lc_json *j, const struct lc_tree *t, const struct lc_rank_row *row)
{
	struct lc_arena arena = { 0 };
	size_t len;
	const struct lc_rank_lines *l =
	    lc_rank_roll_up(&arena, t, row->accesses, row->accesses_len, &len);

	if (len && l->method != UINT32_MAX) {
		lc_json_array(j, "hottest");
		lc_json_u64(j, NULL, l->method);
		lc_json_i64(j, NULL, (int64_t)l->first - 1);
		lc_json_i64(j, NULL, (int64_t)l->last - 1);
		lc_json_u64(j, NULL, l->samples);
		lc_json_u64(j, NULL, l->own);
		lc_json_end_array(j);
	}
	lc_arena_free(&arena);
}

static void number(struct lc_json *j, const char *name, const struct lc_rank_number *n)
{
	if (n->value <= 0)
		return;
	lc_json_array(j, name);
	lc_json_fixed(j, NULL, n->value, 0);
	lc_json_fixed(j, NULL, n->low, 0);
	lc_json_fixed(j, NULL, n->high, 0);
	lc_json_end_array(j);
}

static void names(struct lc_json *j, const struct lc_rank_row *row)
{
	if (!row->names_len)
		return;
	lc_json_array(j, "names");
	for (size_t i = 0; i < row->names_len; i++)
		lc_json_u64(j, NULL, row->names[i].name);
	lc_json_end_array(j);
}

/* Write as text which part is touched. */
static void touched(struct lc_json *j, const struct lc_ranking *rank, const struct lc_rank_row *row)
{
	const struct lc_touch touch = lc_touch_of(rank, row);
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (!lc_touch_known(&touch))
		return;
	out = lc_text_open(&text, &len);
	lc_touch_text(out, rank->view->tree, &touch);
	lc_mem_close_text(out);
	lc_json_text(j, "touched", (struct lc_text){ text, (uint32_t)len });
	free(text);
}

static void collected(struct lc_json *j, const struct lc_rank_row *row,
                      const struct lc_gc_model *gc)
{
	const struct lc_rank_copies *c = &row->copies;

	if (row->objects.value > 0) {
		lc_json_array(j, "live");
		for (unsigned i = 0; i < LC_LIVE_COLUMNS; i++)
			lc_json_fixed(j, NULL, row->live[i], 0);
		lc_json_end_array(j);
	}
	if (!gc->collected || !row->allocations)
		return;
	lc_json_array(j, "copied");
	lc_json_u64(j, NULL, c->objects);
	lc_json_u64(j, NULL, c->bytes);
	lc_json_u64(j, NULL, c->outlived);
	lc_json_u64(j, NULL, c->outlived_bytes);
	lc_json_end_array(j);
}

/* "parts": for each part the place, the allocation's site and the samples, in one flat array. */
static void parts(struct lc_json *j, const struct lc_table *places, const struct lc_rank_row *row)
{
	lc_json_array(j, "parts");
	for (size_t i = 0; i < row->parts_len; i++) {
		const struct lc_rank_part *part = &row->parts[i];
		const uint32_t key[PLACE_KEY] = { part->bucket, part->site };

		lc_json_u64(j, NULL, lc_table_find(places, key));
		lc_json_u64(j, NULL, part->from);
		lc_json_u64(j, NULL, part->samples);
	}
	lc_json_end_array(j);
	lc_json_array(j, "sites");
	for (size_t i = 0; i < row->sites_len; i++)
		lc_json_u64(j, NULL, row->sites[i]);
	lc_json_end_array(j);
}

static void off_heap(struct lc_json *j, const struct lc_rank_offheap *o)
{
	if (!lc_offheap_any(o))
		return;
	lc_json_array(j, "off_heap");
	lc_json_u64(j, NULL, o->allocated);
	lc_json_u64(j, NULL, o->allocated_bytes);
	lc_json_u64(j, NULL, o->freed);
	lc_json_u64(j, NULL, o->freed_bytes);
	lc_json_u64(j, NULL, o->before);
	lc_json_u64(j, NULL, o->before_bytes);
	lc_json_end_array(j);
}

static void contents(struct lc_json *j, const struct lc_rank_contents *c)
{
	if (!lc_contents_any(c))
		return;
	lc_json_array(j, "contents");
	lc_json_u64(j, NULL, c->dead);
	lc_json_u64(j, NULL, c->zero);
	lc_json_u64(j, NULL, c->bytes);
	lc_json_u64(j, NULL, c->used_bytes);
	for (unsigned i = 0; i < LC_CONTENTS_PARTS; i++)
		lc_json_u64(j, NULL, c->parts[i]);
	lc_json_u64(j, NULL, c->outlived);
	lc_json_u64(j, NULL, c->same);
	lc_json_u64(j, NULL, c->other);
	lc_json_end_array(j);
}

static void put_row(struct lc_json *j, const struct lc_ranking *rank, const struct lc_table *places,
                    const struct lc_gc_model *gc, const struct lc_live_line *line,
                    const struct lc_rank_row *row)
{
	const uint32_t own = lc_own_maker(rank->view->tree, row);
	const char *no_line = lc_no_line_text(rank, row);

	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_u64(j, "class", row->class);
	if (lc_rank_is_no_class(rank))
		lc_json_text(j, "package", lc_rank_row_name(rank, row));
	if (rank->group == LC_GROUP_FIELD)
		lc_json_i64(j, "field", row->field_known ? (int64_t)row->field : -1);
	lc_json_u64(j, "path", row->path);
	if (own)
		lc_json_u64(j, "own", own);
	if (no_line)
		lc_json_string(j, "no_line", no_line);
	names(j, row);
	lc_json_u64(j, "samples", row->samples);
	if (row->estimated)
		lc_json_u64(j, "estimated", row->estimated);
	lc_json_fixed(j, "low", row->low, 6);
	lc_json_fixed(j, "high", row->high, 6);
	lc_json_u64(j, "allocations", row->allocations);
	lc_json_u64(j, "bytes", row->bytes);
	if (row->spread)
		lc_json_u64(j, "spread", row->spread);
	off_heap(j, &row->offheap);
	contents(j, &row->contents);
	if (line)
		lc_page_live_row(j, line);
	number(j, "objects", &row->objects);
	number(j, "object_bytes", &row->object_bytes);
	hottest(j, rank->view->tree, row);
	touched(j, rank, row);
	collected(j, row, gc);
	parts(j, places, row);
	lc_json_end_object(j);
}

/* `live`: of this ranking; NULL: leave it out. */
static void put_ranking(struct lc_json *j, const struct lc_ranking *rank,
                        const struct lc_table *places, const struct lc_live *live)
{
	const struct lc_live_line **lines = lc_mem_zeroed(rank->len + 1, sizeof(*lines));
	struct lc_gc_model gc;

	for (size_t i = 0; live && i < live->len; i++)
		lines[live->lines[i].row - rank->rows] = &live->lines[i];
	lc_gc_model_build(&gc, rank);
	lc_json_object(j, lc_rank_group_name(rank->group));
	lc_json_u64(j, "shown", rank->shown);
	lc_json_u64(j, "samples", rank->samples);
	lc_json_array(j, "rows");
	for (size_t i = 0; i < rank->len; i++)
		put_row(j, rank, places, &gc, lines[i], &rank->rows[i]);
	lc_json_end_array(j);
	lc_json_end_object(j);
	free(lines);
}

/* ---- findings ---- */

static void findings(struct lc_json *j, const struct lc_analysis *a)
{
	lc_json_line(j, 0);
	lc_json_array(j, "findings");
	for (size_t i = 0; i < a->findings.len; i++) {
		const struct lc_finding *f = &a->findings.list[i];

		lc_json_line(j, 0);
		lc_json_object(j, NULL);
		lc_finding_json(j, f);
		if (f->row)
			lc_json_i64(j, "row", f->row - a->by_line.rows);
		lc_json_string(j, "text", f->text);
		if (f->change)
			lc_json_string(j, "change", f->change);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_line(j, 0);
	lc_json_string(j, "no_finding", a->findings.none);
}

/* ---- code ---- */

enum code_column {
	CODE_METHOD,
	CODE_LINE,
	CODE_SAMPLES,
	CODE_IN_OBJECTS,
	CODE_TOTAL,
	CODE_COLUMNS
};

static int64_t code_value(const struct lc_view_code *row, enum code_column column)
{
	switch (column) {
	case CODE_METHOD:
		return row->method;
	case CODE_LINE:
		return (int64_t)row->line1 - 1;
	case CODE_SAMPLES:
		return (int64_t)row->samples;
	case CODE_IN_OBJECTS:
		return (int64_t)row->in_objects;
	case CODE_TOTAL:
		return (int64_t)row->total;
	case CODE_COLUMNS:
		break;
	}
	return 0;
}

/* Write a table column by column: it may have thousands of rows. */
static void code(struct lc_json *j, const char *name, const struct lc_view_code *rows, size_t len)
{
	static const char *const columns[CODE_COLUMNS] = { "method", "line", "samples",
		                                           "in_objects", "total" };

	lc_json_line(j, 0);
	lc_json_object(j, name);
	for (unsigned k = 0; k < CODE_COLUMNS; k++) {
		lc_json_array(j, columns[k]);
		for (size_t i = 0; i < len; i++)
			lc_json_i64(j, NULL, code_value(&rows[i], (enum code_column)k));
		lc_json_end_array(j);
	}
	lc_json_end_object(j);
}

/* ---- all ---- */

static void rankings(struct lc_json *j, const struct lc_analysis *a, const struct lc_table *places)
{
	lc_json_line(j, 0);
	lc_json_object(j, "groups");
	for (unsigned group = 0; group < LC_GROUP_COUNT; group++) {
		struct lc_ranking other;

		/* The page sums up requests itself, of what is chosen. */
		if (group == LC_GROUP_REQUEST || (group == LC_GROUP_BY && !a->view.load->by.len))
			continue;
		if (group == LC_GROUP_LINE) { /* findings point to these rows */
			put_ranking(j, &a->by_line, places, &a->live_by_line);
			continue;
		}
		lc_ranking_build(&other, &a->view, (enum lc_rank_group)group, NULL);
		put_ranking(j, &other, places, NULL);
		lc_ranking_free(&other);
	}
	lc_json_end_object(j);
}

void lc_page_lens(struct lc_json *j, const struct lc_analysis *a)
{
	const struct lc_view *v = &a->view;
	struct lc_table places;

	lc_table_init(&places, PLACE_KEY, 1);
	put_places(&places, v->sites, v->sites_len);
	put_places(&places, v->classes, v->classes_len);
	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_u64(j, "engine", v->engine);
	lc_json_u64(j, "total", v->total);
	lc_json_real(j, "weight",
	             v->total ? lc_wilson_effective(lc_view_all(v)) / (double)v->total : 1);
	lc_json_array(j, "buckets");
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		lc_json_u64(j, NULL, v->buckets[b]);
	lc_json_end_array(j);
	findings(j, a);
	lc_json_line(j, 0);
	lc_json_array(j, "places");
	for (uint32_t i = 0; i < places.count; i++)
		put_place(j, v, &places, i);
	lc_json_end_array(j);
	rankings(j, a, &places);
	code(j, "lines", v->lines, v->lines_len);
	code(j, "code", v->methods, v->methods_len);
	lc_json_end_object(j);
	lc_table_free(&places);
}
