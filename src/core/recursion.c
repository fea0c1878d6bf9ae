/* SPDX-License-Identifier: Apache-2.0 */
/* core/recursion.c - compares the end of a path with what stands before it. */
#include "src/core/recursion.h"

#include <string.h>

static bool fold; /* set once */

void lc_recursion_fold(bool on)
{
	fold = on;
}

uint32_t lc_recursion_cycle(const uint64_t *frames, uint32_t len, uint64_t next)
{
	for (uint32_t n = 1; fold && n <= LC_RECURSION_MAX && 2 * n <= len + 1; n++)
		if (frames[len - n] == next &&
		    !memcmp(&frames[len + 1 - 2 * n], &frames[len + 1 - n],
		            (n - 1) * sizeof(*frames)))
			return n;
	return 0;
}
