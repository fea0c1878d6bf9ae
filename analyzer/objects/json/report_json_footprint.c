/* SPDX-License-Identifier: Apache-2.0 */
/* objects/json/report_json_footprint.c - writes as JSON what live objects are made of. */
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/keep.h"
#include "analyzer/objects/json/report_json.h"
#include "analyzer/out/json.h"

/* One object; a number that is not known is absent. */
static void put_object(struct lc_json *j, const struct lc_keep_object *o)
{
	lc_json_object(j, "object");
	if (o->header)
		lc_json_u64(j, "header", o->header);
	if (o->array && o->header)
		lc_json_u64(j, "padding_most", o->padding_most);
	if (o->known) {
		lc_json_u64(j, "bytes", o->bytes);
		lc_json_u64(j, "fields", o->fields);
		lc_json_u64(j, "padding", o->padding);
		lc_json_u64(j, "compact_saves", o->compact);
		if (o->narrower)
			lc_json_u64(j, "narrower_by", o->narrower);
	}
	lc_json_end_object(j);
}

static void put_class(struct lc_json *j, const struct lc_tree *t, const struct lc_keep_class *c)
{
	const struct lc_live_held *h = &c->held;

	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_text(j, "class", lc_tree_text(t, c->class));
	lc_json_real(j, "objects", lc_live_objects(h));
	lc_json_real(j, "bytes", lc_live_bytes(h));
	lc_json_u64(j, "counted_objects", h->objects);
	lc_json_u64(j, "counted_bytes", h->bytes);
	if (h->sampled) {
		lc_json_u64(j, "sampled", h->sampled);
		lc_json_real(j, "objects_low", (double)h->objects + h->estimated.low);
		lc_json_real(j, "objects_high", (double)h->objects + h->estimated.high);
	}
	if (c->looked_bytes >= 1) {
		lc_json_real(j, "looked_bytes", c->looked_bytes);
		lc_json_real(j, "unused_bytes", c->unused_bytes);
	}
	put_object(j, &c->object);
	lc_json_end_object(j);
}

void lc_report_json_footprint(struct lc_json *j, const struct lc_report *r)
{
	const struct lc_keep *k = &r->analysis->keep;

	if (!k->len)
		return;
	lc_json_line(j, 0);
	lc_json_object(j, "footprint");
	lc_json_u64(j, "header_bytes", k->jvm.header);
	lc_json_u64(j, "alignment_bytes", k->jvm.alignment);
	lc_json_u64(j, "reference_bytes", k->jvm.reference);
	lc_json_array(j, "classes");
	for (size_t i = 0; i < k->len && i < r->top; i++)
		put_class(j, r->view->tree, &k->classes[i]);
	lc_json_end_array(j);
	lc_json_end_object(j);
}
