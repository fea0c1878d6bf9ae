/* SPDX-License-Identifier: Apache-2.0 */
/* objects/json/report_json_live.c - writes what stays after collections as JSON. */
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/live.h"
#include "analyzer/objects/json/report_json.h"
#include "analyzer/out/json.h"

static void put_number(struct lc_json *j, const char *name, const struct lc_rank_number *n)
{
	lc_json_object(j, name);
	lc_json_real(j, "value", n->value);
	lc_json_real(j, "low", n->low);
	lc_json_real(j, "high", n->high);
	lc_json_end_object(j);
}

static void put_held(struct lc_json *j, const char *name, const struct lc_live_held *h)
{
	lc_json_object(j, name);
	lc_json_u64(j, "objects", h->objects);
	lc_json_u64(j, "bytes", h->bytes);
	if (h->sampled) {
		lc_json_u64(j, "sampled", h->sampled);
		put_number(j, "estimated_objects", &h->estimated);
		put_number(j, "estimated_bytes", &h->estimated_bytes);
	}
	lc_json_end_object(j);
}

static void put_series(struct lc_json *j, const struct lc_live_line *line)
{
	const struct lc_live_points *p = lc_live_points(line);

	lc_json_array(j, "series");
	for (size_t i = 0; i < p->len; i++) {
		lc_json_array(j, NULL);
		lc_json_real(j, NULL, p->points[i].x);
		lc_json_fixed(j, NULL, p->points[i].y, 0);
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
	if (p->len < LC_TREND_POINTS_MIN)
		return;
	lc_json_object(j, "growth");
	lc_json_real(j, "bytes_per_second", line->trend.slope);
	lc_json_real(j, "low", line->trend.low);
	lc_json_real(j, "high", line->trend.high);
	lc_json_real(j, "z", line->trend.z);
	lc_json_bool(j, "to_the_end", line->trend.grows);
	lc_json_bool(j, "by_walk", line->by_walk);
	lc_json_end_object(j);
}

static void put_holders(struct lc_json *j, const struct lc_live_holders *h)
{
	if (!h->looked_at)
		return;
	lc_json_object(j, "holders");
	lc_json_u64(j, "looked_at", h->looked_at);
	lc_json_array(j, "chains");
	for (size_t i = 0; i < h->len; i++) {
		lc_json_object(j, NULL);
		lc_json_u64(j, "objects", h->chains[i].objects);
		lc_json_text(j, "chain", h->chains[i].text);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void put_walked(struct lc_json *j, const struct lc_live_reached *r)
{
	if (!r->looked_for)
		return;
	lc_json_object(j, "walk");
	lc_json_u64(j, "known", r->known);
	lc_json_u64(j, "looked_for", r->looked_for);
	lc_json_u64(j, "reached", r->reached);
	lc_json_end_object(j);
}

static void put_line(struct lc_json *j, const struct lc_report *r, const struct lc_live *l,
                     const struct lc_live_line *line)
{
	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_report_json_label(j, r->ranking, line->row);
	lc_json_bool(j, "off_heap", line->off_heap);
	put_held(j, "live", &line->now);
	if (line->young.objects || line->young.sampled)
		put_held(j, "young", &line->young);
	if (lc_live_has_ages(line)) {
		lc_json_array(j, "ages");
		for (size_t i = 0; i < LC_LIVE_AGES; i++)
			lc_json_real(j, NULL, line->ages[i]);
		lc_json_end_array(j);
	}
	put_holders(j, &line->holders);
	put_walked(j, &line->walked);
	if (l->one_process) {
		lc_json_u64(j, "collections", line->collections);
		if (line->first_s >= 0) {
			lc_json_real(j, "first_s", line->first_s);
			lc_json_real(j, "last_s", line->last_s);
		}
		put_series(j, line);
	}
	lc_json_end_object(j);
}

void lc_report_json_live(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_live *l = &r->analysis->live;

	lc_json_line(j, 0);
	lc_json_object(j, "live");
	lc_json_string(j, "none", l->none);
	lc_json_u64(j, "collections", l->collections);
	lc_json_u64(j, "old_collections", l->old_collections);
	lc_json_u64(j, "incomplete", l->incomplete);
	lc_json_u64(j, "heap_bytes", l->heap_bytes);
	lc_json_u64(j, "heap_max_bytes", l->heap_max_bytes);
	lc_json_u64(j, "direct_max_bytes", l->direct_max_bytes);
	if (l->ages && l->one_process) {
		lc_json_array(j, "ages");
		for (size_t i = 0; i < LC_LIVE_AGES; i++) {
			lc_json_object(j, NULL);
			lc_json_u64(j, "collections", l->age_collections[i]);
			lc_json_real(j, "seconds", l->age_s[i]);
			lc_json_end_object(j);
		}
		lc_json_end_array(j);
	}
	lc_json_array(j, "lines");
	for (size_t i = 0; i < l->len && i < r->top; i++)
		put_line(j, r, l, &l->lines[i]);
	lc_json_end_array(j);
	lc_json_end_object(j);
}
