/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/common_counts.c - keeps the tally of counts that are no thread's. */
#include "src/attribute/common_counts.h"

#include "src/core/thread.h"
#include "src/heap/common_counters.h"
#include "src/profile/profile_writer.h"
#include "src/profile/tally.h"

#define NAME "[threads without room for counters]"

static struct {
	struct lc_tally *tally;
	uint32_t index; /* of their rows */
	bool indexed;
} common; /* the attribution thread's */

void lc_common_counts_write(uint64_t begin_ns, uint64_t end_ns,
                            bool (*append)(const struct lc_block_input *in))
{
	struct lc_block_input in = { .name = NAME, .t_begin_ns = begin_ns, .t_end_ns = end_ns };
	struct lc_common_count count;

	for (uint32_t cursor = 0; lc_common_counters_take(&cursor, &count);) {
		/* Without memory the counts are lost with it, as a thread's would be. */
		if (lc_tally_made(&common.tally))
			(void)lc_tally_allocations(common.tally, count.site, count.allocations,
			                           count.bytes);
	}
	if (!common.tally)
		return;
	if (!common.indexed)
		common.index = lc_thread_take_index();
	common.indexed = true;
	in.index = common.index;
	if (!lc_tally_block(common.tally, &in) || append(&in))
		lc_tally_clear(common.tally);
}
