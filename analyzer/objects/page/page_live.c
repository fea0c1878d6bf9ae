/* SPDX-License-Identifier: Apache-2.0 */
/* objects/page/page_live.c - writes what stays after collections, and its curve by line. */
#include "analyzer/objects/analysis/live.h"
#include "analyzer/objects/page/page.h"
#include "analyzer/out/json.h"

void lc_page_live(struct lc_json *j, const struct lc_live *l)
{
	if (l->none)
		return;
	lc_json_line(j, 0);
	lc_json_object(j, "live");
	lc_json_bool(j, "one_process", l->one_process);
	lc_json_u64(j, "collections", l->collections);
	lc_json_u64(j, "old_collections", l->old_collections);
	lc_json_u64(j, "incomplete", l->incomplete);
	lc_json_u64(j, "heap_bytes", l->heap_bytes);
	lc_json_u64(j, "heap_max_bytes", l->heap_max_bytes);
	lc_json_fixed(j, "seconds", l->seconds, 3);
	if (l->ages && l->one_process) {
		lc_json_array(j, "ages"); /* collections and seconds in turn */
		for (size_t i = 0; i < LC_LIVE_AGES; i++) {
			lc_json_u64(j, NULL, l->age_collections[i]);
			lc_json_fixed(j, NULL, l->age_s[i], 3);
		}
		lc_json_end_array(j);
	}
	lc_json_end_object(j);
}

static void interval(struct lc_json *j, const char *name, const struct lc_rank_number *n)
{
	lc_json_array(j, name);
	lc_json_fixed(j, NULL, n->low, 0);
	lc_json_fixed(j, NULL, n->high, 0);
	lc_json_end_array(j);
}

/* "points": seconds and bytes in turn; "growth": bytes a second, low, high. */
static void curve(struct lc_json *j, const struct lc_live_line *line)
{
	const struct lc_live_points *p = lc_live_points(line);

	if (line->first_s >= 0) {
		lc_json_fixed(j, "first", line->first_s, 3);
		lc_json_fixed(j, "last", line->last_s, 3);
	}
	lc_json_array(j, "points");
	for (size_t i = 0; i < p->len; i++) {
		lc_json_fixed(j, NULL, p->points[i].x, 3);
		lc_json_fixed(j, NULL, p->points[i].y, 0);
	}
	lc_json_end_array(j);
	if (p->len < LC_TREND_POINTS_MIN)
		return;
	lc_json_array(j, "growth");
	lc_json_real(j, NULL, line->trend.slope);
	lc_json_real(j, NULL, line->trend.low);
	lc_json_real(j, NULL, line->trend.high);
	lc_json_end_array(j);
	lc_json_bool(j, "grows", line->trend.grows);
}

/* "looked": objects; "holders": how many of them and by which chain, in turn. */
static void holders(struct lc_json *j, const struct lc_live_holders *h)
{
	if (!h->looked_at)
		return;
	lc_json_u64(j, "looked", h->looked_at);
	lc_json_array(j, "holders");
	for (size_t i = 0; i < h->len; i++) {
		lc_json_u64(j, NULL, h->chains[i].objects);
		lc_json_text(j, NULL, h->chains[i].text);
	}
	lc_json_end_array(j);
}

void lc_page_live_row(struct lc_json *j, const struct lc_live_line *line)
{
	lc_json_object(j, "held");
	lc_json_bool(j, "off_heap", line->off_heap);
	lc_json_fixed(j, "objects", lc_live_objects(&line->now), 0);
	lc_json_fixed(j, "bytes", lc_live_bytes(&line->now), 0);
	lc_json_u64(j, "counted", line->now.objects);
	if (line->now.sampled) {
		lc_json_u64(j, "sampled", line->now.sampled);
		interval(j, "objects_95", &line->now.estimated);
		interval(j, "bytes_95", &line->now.estimated_bytes);
	}
	lc_json_fixed(j, "young", lc_live_bytes(&line->young), 0);
	if (lc_live_has_ages(line)) {
		lc_json_array(j, "ages");
		for (size_t i = 0; i < LC_LIVE_AGES; i++)
			lc_json_fixed(j, NULL, line->ages[i], 0);
		lc_json_end_array(j);
	}
	holders(j, &line->holders);
	if (line->by_old.points) /* the profile has one process */
		curve(j, line);
	lc_json_end_object(j);
}
