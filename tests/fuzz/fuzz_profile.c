/* uses: analyzer/spans/span_rows.c analyzer/spans/span_running.c analyzer/model/tree_spans.c analyzer/model/merge_writer.c analyzer/model/canonical.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/objects/analysis/sharing.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/progress.c src/format/encode.c src/format/section.c src/base/options.c src/base/nearest.c -lzstd -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_profile.c - gives arbitrary bytes to the reader of blocks.
 *
 * The first byte chooses what the rest is: a file as it stands (finding and checking blocks), or
 * a payload (decoding sections), which no mutation would reach behind its checksums; or payloads of
 * one file, of which later ones refer to definitions of earlier ones.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/command.h"
#include "analyzer/model/blockfile.h"
#include "analyzer/model/merge_writer.h"
#include "analyzer/objects/analysis/sharing.h"
#include "analyzer/objects/analysis/view.h"
#include "analyzer/spans/span_rows.h"
#include "src/format/block.h"
#include "src/format/kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_key(const struct lc_tree *t, const uint32_t *place, uint32_t name)
{
	if (place[0] >= 2 || place[1] >= LC_BUCKET_COUNT || place[2] >= t->sites.count ||
	    place[3] >= t->paths.count || name >= t->strings.count)
		abort();
}

static void check_rows(const struct lc_tree *t)
{
	for (uint32_t i = 0; i < t->fields.count; i++) {
		const uint32_t *key = lc_table_key(&t->fields, i);

		check_key(t, key, key[LC_FIELD_NAME]);
		if (lc_tree_wide(key + LC_FIELD_FIRST) > lc_tree_wide(key + LC_FIELD_LAST) ||
		    key[LC_FIELD_TOUCH] >= LC_TOUCH_END)
			abort();
	}
	for (uint32_t i = 0; i < t->steps.count; i++) {
		const uint32_t *key = lc_table_key(&t->steps, i);

		if (key[LC_STEP_SITE] >= t->sites.count || key[LC_STEP_END] >= LC_END_COUNT)
			abort();
	}
	for (uint32_t i = 0; i < t->metrics.count; i++) {
		const uint32_t *key = lc_table_key(&t->metrics, i);

		check_key(t, key, 0);
		if (key[LC_METRIC_SOURCE] >= LC_SOURCE_COUNT)
			abort();
	}
	for (uint32_t i = 0; i < t->lines.count; i++) {
		const uint32_t *key = lc_table_key(&t->lines, i);

		check_key(t, key + LC_LINE_ENGINE, key[LC_LINE_NAME]);
		if (key[LC_LINE_THREAD] >= t->threads.count || key[LC_LINE_BYTE] >= 64)
			abort();
	}
	for (uint32_t i = 0; i < t->holders.count; i++) {
		const uint32_t *key = lc_table_key(&t->holders, i);

		if (key[LC_HOLDER_THREAD] >= t->threads.count ||
		    key[LC_HOLDER_SITE] >= t->sites.count ||
		    key[LC_HOLDER_CHAIN] >= t->strings.count)
			abort();
	}
	for (uint32_t i = 0; i < t->held.count; i++) {
		const uint32_t *key = lc_table_key(&t->held, i);

		if (key[LC_HELD_THREAD] >= t->threads.count || key[LC_HELD_SITE] >= t->sites.count)
			abort();
	}
}

static void check_span(const struct lc_tree *t, uint32_t kind, uint32_t site, uint32_t path)
{
	if (kind >= LC_SPAN_KINDS || site >= t->sites.count || path >= t->paths.count)
		abort();
}

static void check_spans(const struct lc_tree *t)
{
	for (uint32_t i = 0; i < t->executions.count; i++) {
		const uint32_t *key = lc_table_key(&t->executions, i);

		check_span(t, key[LC_EXECUTION_KIND], key[LC_EXECUTION_SITE],
		           key[LC_EXECUTION_PATH]);
		if (key[LC_EXECUTION_THREAD] >= t->threads.count ||
		    key[LC_EXECUTION_SUBMIT] >= LC_SUBMIT_KINDS ||
		    key[LC_EXECUTION_SUBMIT_PATH] >= t->paths.count)
			abort();
	}
	for (size_t i = 0; i < t->span_intervals_len; i++)
		if (t->span_intervals[i].first_ns > t->span_intervals[i].last_ns)
			abort();
	for (uint32_t i = 0; i < t->span_accesses.count; i++) {
		const uint32_t *key = lc_table_key(&t->span_accesses, i);

		check_span(t, key[LC_INSIDE_KIND], key[LC_INSIDE_SPAN_SITE],
		           key[LC_INSIDE_SPAN_PATH]);
		check_key(t, key + LC_INSIDE_ENGINE, 0);
	}
	for (size_t i = 0; i < t->traces_len; i++) {
		const struct lc_block_trace *s = &t->traces[i].row;

		check_span(t, s->kind, s->site, s->path);
		if (t->traces[i].thread >= t->threads.count || s->flags >= LC_TRACE_FLAGS_END ||
		    s->start_ns > UINT64_MAX - s->duration_ns)
			abort();
	}
}

/* Invariants of every tree, however it was read. */
static void check_tree(const struct lc_tree *t)
{
	for (uint32_t path = 1; path < t->paths.count; path++)
		if (lc_tree_parent(t, path) >= path)
			abort();
	for (uint32_t site = 1; site < t->sites.count; site++)
		lc_tree_site_id(t, site);
	for (uint32_t i = 0; i < t->accesses.count; i++) {
		const uint32_t *key = lc_table_key(&t->accesses, i);

		if (key[LC_ACCESS_SITE] >= t->sites.count || key[LC_ACCESS_PATH] >= t->paths.count)
			abort();
	}
	check_rows(t);
	check_spans(t);
}

/* Nothing was counted of a block that is damaged. */
static bool is_untouched(const struct lc_tree *t)
{
	return lc_tree_empty(t) && !t->accesses.count && !t->details.count && !t->fields.count &&
	       !t->metrics.count && !t->steps.count && !t->lines.count && !t->estimates.count &&
	       !t->splits.count && !lc_tree_has_spans(t) && !t->span_buckets.count &&
	       !t->span_intervals_len;
}

/* The sums of reports must not fail for any tree. */
static void check_reports(struct lc_tree *t)
{
	struct lc_load load = { .tree = t, .engines_len = 2 };

	for (uint32_t engine = 0; engine < 2; engine++) {
		struct lc_sharing sharing;
		struct lc_view view;

		lc_view_build(&view, &load, engine, LC_SORT_SAMPLES);
		lc_sharing_find(&sharing, &view);
		if (sharing.lines_false > sharing.lines)
			abort();
		for (size_t i = 0; i < view.splits_len; i++)
			for (size_t k = 0; k < view.splits[i].parts_len; k++) {
				const struct lc_view_part *p = &view.splits[i].parts[k];

				if (!(0 <= p->low && p->low <= p->share && p->share <= p->high &&
				      p->high <= 1))
					abort();
			}
		lc_sharing_free(&sharing);
		lc_view_free(&view);
	}
}

/* Orders and sums of what `locus spans` reads. */
static void check_span_rows(struct lc_tree *t)
{
	struct lc_load_process processes[2] = { 0 };
	struct lc_load load = { .tree = t, .processes = processes, .processes_len = 2 };
	struct lc_span_rows rows;

	lc_span_rows_build(&rows, &load);
	for (size_t i = 0; i < rows.rows_len; i++) {
		const struct lc_span_row *r = &rows.rows[i];

		for (uint32_t b = 1; b < r->histogram_len; b++)
			if (r->histogram[b].bucket <= r->histogram[b - 1].bucket)
				abort();
		for (uint32_t k = 1; k < r->intervals_len; k++)
			if (r->intervals[k].first_ns - r->intervals[k - 1].last_ns <=
			    LC_TIMELINE_NS)
				abort();
	}
	for (size_t i = 0; i < rows.traces_len; i++)
		if (rows.traces[i].creator >= rows.threads_len &&
		    rows.traces[i].creator != LC_SPAN_NO_THREAD)
			abort();
	lc_span_rows_free(&rows);
}

/* Merge writes of any tree a profile with the same rows. */
static void check_merge(const struct lc_tree *t)
{
	struct lc_merge_writer *w = lc_merge_writer_create();
	struct lc_blockfile *f = lc_blockfile_create();
	struct lc_blockfile_stats stats = { 0 };
	struct lc_damage damage = { 0 };
	struct lc_tree again;
	struct lc_block_target target = {
		.tree = &again, .process_count = 2, .engines = { 0, 1 }, .engines_len = 2
	};
	char *data = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&data, &len);

	lc_tree_init(&again);
	if (lc_merge_write(w, t, false, out) < 0)
		abort();
	fclose(out);
	lc_blockfile_read_memory(f, (const uint8_t *)data, len, &target, &damage, &stats);
	if (damage.bytes || again.executions.count != t->executions.count ||
	    again.span_buckets.count != t->span_buckets.count ||
	    again.tasks_made.count != t->tasks_made.count ||
	    again.span_accesses.count != t->span_accesses.count ||
	    again.timeline.count != t->timeline.count || again.pauses.count != t->pauses.count ||
	    again.traces_len != t->traces_len || again.running.count != t->running.count)
		abort();
	lc_tree_free(&again);
	lc_blockfile_free(f);
	lc_merge_writer_free(w);
	free(data);
}

/* Each begins with its generation, its length and how many definitions are before it. */
static void decode_several(const uint8_t *data, size_t len, uint16_t version,
                           struct lc_block_target *target)
{
	enum { HEAD = 3 + LC_BLOCK_DEFINITIONS };
	struct lc_block_decoder d = { 0 };
	struct lc_block_header h = { .thread_index = 1, .version = version };

	for (; len >= HEAD; h.sequence++) {
		size_t bytes = lc_get_u16(data + 1);

		if (bytes > len - HEAD)
			bytes = len - HEAD;
		h.generation = data[0];
		for (unsigned i = 0; i < LC_BLOCK_DEFINITIONS; i++)
			h.first[i] = data[3 + i];
		(void)lc_block_decode(&d, &h, data + HEAD, bytes, target);
		data += HEAD + bytes;
		len -= HEAD + bytes;
	}
	lc_block_decoder_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct lc_thread_filter filter = { .patterns = "m*;?" };
	struct lc_block_target target = { .process_count = 2,
		                          .engines = { 0, 1 },
		                          .weight_milli = { 2500, UINT32_MAX },
		                          .engines_len = 2 };
	struct lc_blockfile_stats stats = { 0 };
	struct lc_damage damage = { 0 };
	struct lc_tree tree;
	bool pairs;

	if (!len)
		return 0;
	pairs = data[0] & 16;
	lc_tree_init(&tree);
	target.tree = &tree;
	target.filter = data[0] & 2 ? &filter : NULL;
	if (data[0] & 1) {
		struct lc_blockfile *f = lc_blockfile_create();

		lc_blockfile_read_memory(f, data + 1, len - 1, &target, &damage, &stats);
		lc_blockfile_free(f);
		if (damage.bytes > len)
			abort();
	} else if (data[0] & 8) {
		decode_several(data + 1, len - 1, pairs ? 4 : 2, &target);
	} else {
		struct lc_block_decoder d = { 0 };
		struct lc_block_header h = { .version = pairs ? 3 : 1,
			                     .thread_index = data[0] & 4 ? LC_THREAD_ALL : 1 };

		if (lc_block_decode(&d, &h, data + 1, len - 1, &target) && !is_untouched(&tree))
			abort(); /* a block counts whole or not at all */
		lc_block_decoder_free(&d);
	}
	check_tree(&tree);
	check_reports(&tree);
	check_span_rows(&tree);
	check_merge(&tree);
	lc_tree_free(&tree);
	return 0;
}
