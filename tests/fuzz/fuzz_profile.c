/* uses: analyzer/blockfile.c analyzer/block.c analyzer/block_rows.c analyzer/tree.c analyzer/table.c analyzer/util.c src/options.c -lzstd */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct lc_thread_filter filter = { .patterns = "m*;?" };
	struct lc_block_target target = { .process_count = 2, .engines_len = 2 };
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

		if (lc_block_decode(&d, &h, data + 1, len - 1, &target) && !lc_tree_empty(&tree))
			abort(); /* a block counts whole or not at all */
		lc_block_decoder_free(&d);
	}
	check_tree(&tree);
	lc_tree_free(&tree);
	return 0;
}
