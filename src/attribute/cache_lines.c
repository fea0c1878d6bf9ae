/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/cache_lines.c - counts samples, and draws the fewer the more there were. */
#include "src/attribute/cache_lines.h"

#include <stdbool.h>
#include <string.h>

#include "src/attribute/lines.h"
#include "src/base/hash.h"
#include "src/core/thread.h"
#include "src/profile/tally.h"

static uint64_t seen[LC_TALLY_ENGINES]; /* samples; only the attribution thread uses it */

/*
 * One of 2^n samples, where 2^n - 1 times LC_CACHE_LINES_ALL have been seen. By a hash: with each
 * fourth sample, say, a program that does four things in turn would be seen in one of them.
 */
static bool is_drawn(uint64_t number)
{
	const unsigned n = 63 - (unsigned)__builtin_clzll(number / LC_CACHE_LINES_ALL + 1);

	return !n || lc_hash(number) >> (64 - n) == 0;
}

void lc_cache_lines_draw(struct lc_thread *t, uint16_t engine, uint32_t path, uint64_t addr)
{
	const struct lc_block_cache_line row = { engine, path, addr / LC_LINE_BYTES, 1 };

	if (engine < LC_TALLY_ENGINES && is_drawn(seen[engine]++))
		(void)lc_tally_cache_line(t->tally, &row);
}

void lc_cache_lines_again(void)
{
	memset(seen, 0, sizeof(seen));
}
