/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/stacks.c - makes the stacks of a report: joins equal ones, then puts together
 * the frames of each.
 */
#include "analyzer/objects/analysis/stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/emit.h"

enum { KEY_ALLOCATION, KEY_WHAT, KEY_ROW, KEY_ACCESS, KEY_LEN };

static void add(struct lc_stacks *s, uint32_t allocation, enum lc_stack_what what, uint32_t row,
                uint32_t access, uint64_t value)
{
	const uint32_t key[KEY_LEN] = { allocation, what, row, access };

	*lc_table_values(&s->rows, lc_table_put(&s->rows, key)) += value;
}

static void add_accesses(struct lc_stacks *s, const struct lc_view_site *site,
                         enum lc_stacks_kind kind)
{
	const uint32_t *key = lc_table_key(&s->tree->sites, site->site);
	const bool below = kind == LC_STACKS_OBJECTS && site->bucket == LC_BUCKET_OBJECT;

	for (size_t i = 0; i < site->accesses_len; i++) {
		const struct lc_view_access *a = &site->accesses[i];

		if (kind == LC_STACKS_CODE)
			add(s, 0, LC_STACK_NONE, 0, a->path, a->samples);
		else
			add(s, below ? key[LC_SITE_PATH] : 0, LC_STACK_CLASS, key[LC_SITE_CLASS],
			    a->path, a->samples);
	}
}

uint64_t lc_stacks_bare(const struct lc_report *r, unsigned bucket)
{
	uint64_t known = 0;

	for (size_t i = 0; i < r->view->accesses_len; i++)
		if (r->view->accesses[i].bucket == bucket)
			known += r->view->accesses[i].samples;
	return r->view->buckets[bucket] - known;
}

uint64_t lc_stacks_whole(double estimated)
{
	return (uint64_t)(estimated + 0.5);
}

static void add_samples(struct lc_stacks *s, const struct lc_report *r, enum lc_stacks_kind kind)
{
	const struct lc_view *v = r->view;
	const bool code = kind == LC_STACKS_CODE;

	for (size_t i = 0; i < v->sites_len && i < r->top; i++)
		add_accesses(s, &v->sites[i], kind);
	for (size_t i = 0; i < v->classes_len && i < r->top; i++)
		add_accesses(s, &v->classes[i], kind);
	for (size_t i = 0; i < v->accesses_len && !v->accesses[i].site; i++)
		add(s, 0, code ? LC_STACK_NONE : LC_STACK_BUCKET, code ? 0 : v->accesses[i].bucket,
		    v->accesses[i].path, v->accesses[i].samples);
	for (unsigned b = 0; b < LC_BUCKET_COUNT && kind != LC_STACKS_OBJECTS; b++)
		add(s, 0, code ? LC_STACK_NONE : LC_STACK_BUCKET, code ? 0 : b, 0,
		    lc_stacks_bare(r, b));
}

static void add_allocations(struct lc_stacks *s, const struct lc_report *r, bool bytes)
{
	const struct lc_view *v = r->view;

	for (size_t i = 0; i < v->sites_len && i < r->top; i++) {
		const uint32_t *key = lc_table_key(&v->tree->sites, v->sites[i].site);

		add(s, key[LC_SITE_PATH], LC_STACK_CLASS, key[LC_SITE_CLASS], 0,
		    bytes ? v->sites[i].bytes : v->sites[i].allocations);
	}
	for (size_t i = 0; i < v->estimates_len && i < r->top; i++) {
		const struct lc_view_estimate *e = &v->estimates[i];
		const uint32_t *key = lc_table_key(&v->tree->sites, e->site);

		add(s, key[LC_SITE_PATH], LC_STACK_CLASS, key[LC_SITE_CLASS], 0,
		    lc_stacks_whole(bytes ? e->bytes : e->objects));
	}
}

static void add_offheap(struct lc_stacks *s, bool live)
{
	size_t len;
	struct lc_offheap_site *sites = lc_offheap_sites(s->tree, &len);

	for (size_t i = 0; i < len; i++) {
		const uint32_t *key = lc_table_key(&s->tree->sites, sites[i].site);

		add(s, key[LC_SITE_PATH], LC_STACK_CLASS, key[LC_SITE_CLASS], 0,
		    live ? lc_offheap_live_bytes(&sites[i].counts)
		         : sites[i].counts.allocated_bytes);
	}
	free(sites);
}

static void add_live(struct lc_stacks *s, const struct lc_live *live)
{
	for (size_t i = 0; i < live->sites_len; i++) {
		const struct lc_live_site *site = &live->sites[i];
		const uint32_t *key = lc_table_key(&s->tree->sites, site->site);

		if (!site->off_heap)
			add(s, key[LC_SITE_PATH], LC_STACK_CLASS, key[LC_SITE_CLASS], 0,
			    lc_stacks_whole(lc_live_bytes(&site->now)));
	}
}

void lc_stacks_build(struct lc_stacks *s, const struct lc_report *r, enum lc_stacks_kind kind)
{
	*s = (struct lc_stacks){ .tree = r->view->tree, .between = kind == LC_STACKS_OBJECTS };
	lc_table_init(&s->rows, KEY_LEN, 1);
	if (kind == LC_STACKS_ALLOC_BYTES || kind == LC_STACKS_ALLOC_COUNT)
		add_allocations(s, r, kind == LC_STACKS_ALLOC_BYTES);
	else if (kind == LC_STACKS_OFFHEAP_BYTES || kind == LC_STACKS_OFFHEAP_LIVE)
		add_offheap(s, kind == LC_STACKS_OFFHEAP_LIVE);
	else if (kind == LC_STACKS_LIVE_BYTES)
		add_live(s, &r->analysis->live_by_line);
	else
		add_samples(s, r, kind);
}

void lc_stacks_free(struct lc_stacks *s)
{
	lc_table_free(&s->rows);
	free(s->frames);
}

static uint32_t *push(struct lc_stacks *s, size_t *len)
{
	s->frames =
	    lc_mem_grow(s->frames, &s->frames_cap, (*len + 1) * LC_STACK_FRAME, sizeof(*s->frames));
	return s->frames + (*len)++ * LC_STACK_FRAME;
}

static void push_path(struct lc_stacks *s, size_t *len, uint32_t path)
{
	size_t depth = 0;

	for (uint32_t at = path; at; at = lc_tree_parent(s->tree, at)) {
		push(s, len);
		depth++;
	}
	for (size_t last = *len; depth; depth--, path = lc_tree_parent(s->tree, path)) {
		const uint32_t *frame = lc_tree_frame(s->tree, path);
		uint32_t *to = s->frames + --last * LC_STACK_FRAME;

		to[LC_STACK_WHAT] = LC_STACK_METHOD;
		to[LC_STACK_ROW] = frame[LC_FRAME_METHOD];
		to[LC_STACK_LINE1] = frame[LC_FRAME_LINE1];
	}
}

static void push_object(struct lc_stacks *s, size_t *len, const uint32_t *key)
{
	uint32_t *to = push(s, len);

	to[LC_STACK_WHAT] = key[KEY_WHAT];
	to[LC_STACK_ROW] = key[KEY_ROW];
	to[LC_STACK_LINE1] = 0;
}

static void put_together(struct lc_stacks *s, const uint32_t *key, size_t *len)
{
	*len = 0;
	push_path(s, len, key[KEY_ALLOCATION]);
	if (!s->between)
		push_path(s, len, key[KEY_ACCESS]);
	if (key[KEY_WHAT] != LC_STACK_NONE || !*len)
		push_object(s, len, key);
	if (s->between)
		push_path(s, len, key[KEY_ACCESS]);
}

int lc_stacks_next(struct lc_stacks *s, struct lc_stack *out)
{
	while (s->next < s->rows.count) {
		const uint32_t row = s->next++;

		out->value = *lc_table_values(&s->rows, row);
		if (!out->value)
			continue;
		put_together(s, lc_table_key(&s->rows, row), &out->len);
		out->frames = s->frames;
		return 0;
	}
	return -ENOENT;
}

char *lc_stack_name(const struct lc_tree *t, const uint32_t *frame)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (frame[LC_STACK_WHAT] == LC_STACK_METHOD) {
		const uint32_t *method = lc_table_key(&t->methods, frame[LC_STACK_ROW]);

		lc_emit_method(out, lc_tree_text(t, method[LC_METHOD_CLASS]),
		               lc_tree_text(t, method[LC_METHOD_NAME]));
	} else if (frame[LC_STACK_WHAT] == LC_STACK_CLASS) {
		putc('[', out);
		lc_emit_text(out, lc_tree_text(t, frame[LC_STACK_ROW]));
		putc(']', out);
	} else if (frame[LC_STACK_WHAT] == LC_STACK_BUCKET) {
		fprintf(out, "[%s]", lc_bucket_name(frame[LC_STACK_ROW]));
	} else {
		fputs("[no call path]", out);
	}
	lc_mem_close_text(out);
	return text;
}
