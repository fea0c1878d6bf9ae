/* SPDX-License-Identifier: Apache-2.0 */
/* objects/json/report_json_resident.c - writes the snapshots of resident memory as JSON. */
#include "analyzer/objects/analysis/resident.h"
#include "analyzer/objects/analysis/view.h"
#include "analyzer/objects/json/report_json.h"
#include "analyzer/out/json.h"

static void put_names(struct lc_json *j, const struct lc_resident *s, unsigned part)
{
	lc_json_array(j, "names");
	for (size_t i = 0; i < s->names_len; i++) {
		const struct lc_resident_name *n = &s->names[i];

		if (n->part != part)
			continue;
		lc_json_object(j, NULL);
		lc_json_text(j, "name", n->name);
		lc_json_u64(j, "resident_bytes", n->resident_bytes);
		lc_json_u64(j, "bytes", n->size_bytes);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}

static void put_nmt_bytes(struct lc_json *j, const struct lc_resident_nmt *n)
{
	lc_json_u64(j, "reserved_bytes", n->reserved_bytes);
	lc_json_u64(j, "committed_bytes", n->committed_bytes);
	lc_json_u64(j, "malloc_bytes", n->malloc_bytes);
}

static void put_nmt(struct lc_json *j, const struct lc_resident *s)
{
	if (!s->nmt_len)
		return;
	lc_json_object(j, "nmt");
	put_nmt_bytes(j, &s->nmt[0]);
	lc_json_u64(j, "own_malloc_bytes", lc_resident_jvm(s));
	lc_json_array(j, "categories");
	for (size_t i = 1; i < s->nmt_len; i++) {
		lc_json_object(j, NULL);
		lc_json_text(j, "name", s->nmt[i].name);
		put_nmt_bytes(j, &s->nmt[i]);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void put_snapshot(struct lc_json *j, const char *name, const struct lc_resident *s)
{
	lc_json_object(j, name);
	lc_json_u64(j, "time_ns", s->time_ns);
	lc_json_u64(j, "resident_bytes", s->resident_bytes[LC_RESIDENT_ALL]);
	if (s->free_known)
		lc_json_u64(j, "malloc_free_bytes", s->size_bytes[LC_RESIDENT_FREE]);
	lc_json_object(j, "parts");
	for (unsigned p = LC_RESIDENT_HEAP; s->divided && p <= LC_RESIDENT_REST; p++) {
		lc_json_object(j, lc_resident_part_name(p));
		lc_json_u64(j, "resident_bytes", s->resident_bytes[p]);
		lc_json_u64(j, "bytes", s->size_bytes[p]);
		if (p == LC_RESIDENT_FILES || p == LC_RESIDENT_BLOCKS)
			put_names(j, s, p);
		lc_json_end_object(j);
	}
	lc_json_end_object(j);
	put_nmt(j, s);
	lc_json_end_object(j);
}

void lc_report_json_resident(struct lc_json *j, const struct lc_report *r)
{
	size_t len;
	struct lc_resident_process *list = lc_resident_list(r->view->load, &len);

	if (len) {
		lc_json_line(j, 0);
		lc_json_array(j, "resident");
		for (size_t i = 0; i < len; i++) {
			lc_json_object(j, NULL);
			lc_json_u64(j, "process", list[i].process);
			lc_json_u64(j, "peak_bytes", list[i].peak_bytes);
			put_snapshot(j, "last", &list[i].last);
			put_snapshot(j, "highest", &list[i].highest);
			lc_json_end_object(j);
		}
		lc_json_end_array(j);
	}
	lc_resident_free(list, len);
}
