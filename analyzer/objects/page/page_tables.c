/* SPDX-License-Identifier: Apache-2.0 */
/* objects/page/page_tables.c - writes the tables of names, and counts by thread and time. */
#include "analyzer/objects/page/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/slices.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/out/json.h"

static void strings(struct lc_json *j, const struct lc_tree *t)
{
	lc_json_line(j, 0);
	lc_json_array(j, "strings");
	for (uint32_t i = 0; i < t->strings.count; i++)
		lc_json_text(j, NULL, lc_tree_text(t, i));
	lc_json_end_array(j);
}

void lc_page_column(struct lc_json *j, const char *name, const struct lc_table *t, uint32_t number,
                    uint32_t base)
{
	lc_json_array(j, name);
	for (uint32_t i = 0; i < t->count; i++)
		lc_json_i64(j, NULL, (int64_t)lc_table_key(t, i)[number] - base);
	lc_json_end_array(j);
}

static void value_column(struct lc_json *j, const char *name, const struct lc_table *t,
                         uint32_t number)
{
	lc_json_array(j, name);
	for (uint32_t i = 0; i < t->count; i++)
		lc_json_u64(j, NULL, lc_table_values(t, i)[number]);
	lc_json_end_array(j);
}

/* Path 0 is the root; the columns of its row have no meaning. */
static void path_column(struct lc_json *j, const char *name, const struct lc_table *t,
                        uint32_t number)
{
	lc_json_array(j, name);
	for (uint32_t i = 0; i < t->count; i++)
		lc_json_u64(j, NULL, i ? lc_table_key(t, i)[number] : 0);
	lc_json_end_array(j);
}

/*
 * Write, for each path with folded recursion, the frames of the cycle; nothing if there is no such
 * path.
 */
static void recursions(struct lc_json *j, const struct lc_tree *t)
{
	if (!t->recursions.count)
		return;
	lc_json_object(j, "recursion");
	for (uint32_t i = 0; i < t->recursions.count; i++) {
		char path[16];

		snprintf(path, sizeof(path), "%" PRIu32, *lc_table_key(&t->recursions, i));
		lc_json_u64(j, path, *lc_table_values(&t->recursions, i));
	}
	lc_json_end_object(j);
}

static void sites(struct lc_json *j, const struct lc_tree *t)
{
	lc_json_line(j, 0);
	lc_json_object(j, "sites");
	lc_json_array(j, "id");
	for (uint32_t i = 0; i < t->sites.count; i++)
		lc_json_id(j, NULL, i ? lc_tree_site_id(t, i) : 0);
	lc_json_end_array(j);
	path_column(j, "class", &t->sites, LC_SITE_CLASS);
	path_column(j, "path", &t->sites, LC_SITE_PATH);
	lc_json_end_object(j);
}

void lc_page_tables(struct lc_json *j, const struct lc_tree *t)
{
	strings(j, t);
	lc_json_line(j, 0);
	lc_json_object(j, "methods");
	lc_page_column(j, "class", &t->methods, LC_METHOD_CLASS, 0);
	lc_page_column(j, "name", &t->methods, LC_METHOD_NAME, 0);
	lc_page_column(j, "file", &t->methods, LC_METHOD_FILE, 0);
	lc_json_array(j, "own");
	for (uint32_t i = 0; i < t->methods.count; i++)
		lc_json_u64(j, NULL, lc_own_is_method(t, i));
	lc_json_end_array(j);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	lc_json_object(j, "frames");
	lc_page_column(j, "method", &t->frames, LC_FRAME_METHOD, 0);
	lc_page_column(j, "line", &t->frames, LC_FRAME_LINE1, 1);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	lc_json_object(j, "paths");
	path_column(j, "parent", &t->paths, LC_PATH_PARENT);
	path_column(j, "frame", &t->paths, LC_PATH_FRAME);
	recursions(j, t);
	lc_json_end_object(j);
	sites(j, t);
}

/* ---- by thread and time ---- */

static uint64_t since_start(const struct lc_load *l, uint32_t process, uint64_t ns)
{
	const uint64_t start =
	    process < l->processes_len ? l->processes[process].start_monotonic_ns : 0;

	return ns > start ? ns - start : 0;
}

static void epochs(struct lc_json *j, const struct lc_load *l, const struct lc_table *t)
{
	lc_json_line(j, 0);
	lc_json_object(j, "epochs");
	lc_page_column(j, "process", t, LC_EPOCH_PROCESS, 0);
	lc_json_array(j, "begin");
	for (uint32_t i = 0; i < t->count; i++)
		lc_json_u64(j, NULL,
		            since_start(l, lc_table_key(t, i)[LC_EPOCH_PROCESS],
		                        lc_table_values(t, i)[LC_EPOCH_BEGIN_NS]));
	lc_json_end_array(j);
	lc_json_array(j, "end");
	for (uint32_t i = 0; i < t->count; i++)
		lc_json_u64(j, NULL,
		            since_start(l, lc_table_key(t, i)[LC_EPOCH_PROCESS],
		                        lc_tree_wide(lc_table_key(t, i) + LC_EPOCH_END)));
	lc_json_end_array(j);
	lc_json_end_object(j);
}

/* Maps a thread of the tree to its index in the view plus 1; 0 if the view leaves it out. */
static uint32_t *places_of_threads(const struct lc_view *v)
{
	uint32_t *places = lc_mem_zeroed(v->tree->threads.count, sizeof(*places));

	for (size_t i = 0; i < v->threads_len; i++)
		places[v->threads[i].row] = (uint32_t)i + 1;
	return places;
}

/* Write the columns "thread" and "epoch". */
static void who(struct lc_json *j, const struct lc_table *t, const uint32_t *places)
{
	lc_json_array(j, "thread");
	for (uint32_t i = 0; i < t->count; i++) {
		const uint32_t thread1 = lc_table_key(t, i)[LC_SLICE_THREAD1];

		lc_json_u64(j, NULL, thread1 ? places[thread1 - 1] : 0);
	}
	lc_json_end_array(j);
	lc_page_column(j, "epoch", t, LC_SLICE_EPOCH1, 0);
}

/* Write a column, unless all its values are 0. */
static void rare_column(struct lc_json *j, const char *name, const struct lc_table *t,
                        uint32_t number)
{
	for (uint32_t i = 0; i < t->count; i++) {
		if (!lc_table_values(t, i)[number])
			continue;
		value_column(j, name, t, number);
		return;
	}
}

void lc_page_slices(struct lc_json *j, const struct lc_view *v)
{
	const struct lc_slices *s = v->tree->slices;
	uint32_t *places = places_of_threads(v);

	epochs(j, v->load, &s->epochs);
	lc_json_line(j, 0);
	lc_json_object(j, "totals");
	who(j, &s->totals, places);
	lc_page_column(j, "engine", &s->totals, LC_TOTAL_ENGINE, 0);
	lc_page_column(j, "bucket", &s->totals, LC_TOTAL_BUCKET, 0);
	value_column(j, "samples", &s->totals, 0);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	lc_json_object(j, "sampled");
	who(j, &s->sampled, places);
	lc_page_column(j, "engine", &s->sampled, LC_TOTAL_ENGINE, 0);
	lc_page_column(j, "bucket", &s->sampled, LC_TOTAL_BUCKET, 0);
	lc_page_column(j, "site", &s->sampled, LC_SAMPLED_SITE, 0);
	lc_page_column(j, "path", &s->sampled, LC_SAMPLED_PATH, 0);
	value_column(j, "samples", &s->sampled, LC_SAMPLED_SAMPLES);
	rare_column(j, "latency", &s->sampled, LC_SAMPLED_LATENCY);
	rare_column(j, "placed", &s->sampled, LC_SAMPLED_PLACED);
	rare_column(j, "remote", &s->sampled, LC_SAMPLED_REMOTE);
	lc_json_end_object(j);
	lc_json_line(j, 0);
	lc_json_object(j, "made");
	who(j, &s->made, places);
	lc_page_column(j, "site", &s->made, LC_MADE_AT_SITE, 0);
	value_column(j, "objects", &s->made, LC_MADE_AT_OBJECTS);
	value_column(j, "bytes", &s->made, LC_MADE_AT_BYTES);
	value_column(j, "estimated_milli", &s->made, LC_MADE_AT_ESTIMATED_MILLI);
	value_column(j, "estimated_bytes", &s->made, LC_MADE_AT_ESTIMATED_BYTES);
	lc_json_end_object(j);
	free(places);
}

void lc_page_pauses(struct lc_json *j, const struct lc_analysis *a)
{
	const struct lc_span_rows *rows = &a->span_rows;

	lc_json_line(j, 0);
	lc_json_array(j, "pauses");
	for (size_t i = 0; i < rows->pauses_len; i++) {
		const struct lc_span_pause *p = &rows->pauses[i];

		lc_json_array(j, NULL);
		lc_json_u64(j, NULL, p->process);
		lc_json_u64(j, NULL, since_start(rows->load, p->process, p->start_ns));
		lc_json_u64(j, NULL, p->duration_ns);
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
}

void lc_page_span_samples(struct lc_json *j, const struct lc_tree *t)
{
	const struct lc_table *s = &t->span_accesses;

	if (!s->count)
		return;
	lc_json_line(j, 0);
	lc_json_object(j, "span_samples");
	lc_page_column(j, "kind", s, LC_INSIDE_KIND, 0);
	lc_page_column(j, "span_site", s, LC_INSIDE_SPAN_SITE, 0);
	lc_page_column(j, "span_path", s, LC_INSIDE_SPAN_PATH, 0);
	lc_page_column(j, "engine", s, LC_INSIDE_ENGINE, 0);
	lc_page_column(j, "bucket", s, LC_INSIDE_BUCKET, 0);
	lc_page_column(j, "site", s, LC_INSIDE_SITE, 0);
	lc_page_column(j, "path", s, LC_INSIDE_PATH, 0);
	value_column(j, "samples", s, 0);
	lc_json_end_object(j);
}
