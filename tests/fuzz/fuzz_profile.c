/* uses: analyzer/blockfile.c analyzer/block.c analyzer/block_rows.c analyzer/block_spans.c analyzer/tree.c analyzer/view.c analyzer/view_rows.c analyzer/sharing.c analyzer/table.c analyzer/util.c src/options.c -lzstd -lm */
/*
 * fuzz_profile.c - the block reader on arbitrary bytes.
 *
 * The first byte chooses what the rest is: a file as it stands (finding and checking blocks), or
 * a payload (decoding sections), which no mutation would reach behind its checksums.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../analyzer/blockfile.h"
#include "../../analyzer/commands.h"
#include "../../analyzer/sharing.h"
#include "../../analyzer/view.h"

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
}

/* What holds of every tree, however it was read. */
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
}

/* Nothing was counted of a block that is damaged. */
static bool is_untouched(const struct lc_tree *t)
{
	return lc_tree_empty(t) && !t->accesses.count && !t->details.count && !t->fields.count &&
	       !t->metrics.count && !t->lines.count && !t->estimates.count && !t->splits.count;
}

/* What reports compute of any tree must not fail. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct lc_thread_filter filter = { .patterns = "m*;?" };
	struct lc_block_target target = { .process_count = 2,
		                          .engines = { 0, 1 },
		                          .engines_len = 2 };
	struct lc_blockfile_stats stats = { 0 };
	struct lc_damage damage = { 0 };
	struct lc_tree tree;

	if (!len)
		return 0;
	lc_tree_init(&tree);
	target.tree = &tree;
	target.filter = data[0] & 2 ? &filter : NULL;
	if (data[0] & 1) {
		struct lc_blockfile *f = lc_blockfile_create();

		lc_blockfile_read_memory(f, data + 1, len - 1, &target, &damage, &stats);
		lc_blockfile_free(f);
		if (damage.bytes > len)
			abort();
	} else {
		struct lc_block_decoder d = { 0 };
		struct lc_block_header h = { .thread_index = data[0] & 4 ? LC_THREAD_ALL : 1 };

		if (lc_block_decode(&d, &h, data + 1, len - 1, &target) && !is_untouched(&tree))
			abort(); /* a block counts whole or not at all */
		lc_block_decoder_free(&d);
	}
	check_tree(&tree);
	check_reports(&tree);
	lc_tree_free(&tree);
	return 0;
}
