/* SPDX-License-Identifier: Apache-2.0 */
/* core/area.h - finds the area of the heap that an address lies in. */
#ifndef LC_CORE_AREA_H
#define LC_CORE_AREA_H

#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

/*
 * Index of the one of the `len` areas that `addr` is in, whatever its kind; `len` where it is in
 * none. The areas are sorted by bottom and disjoint. Context: any. A binary search.
 */
static inline size_t lc_area_find(const struct lc_area *areas, size_t len, uint64_t addr)
{
	size_t low = 0, high = len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (areas[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < len && addr >= areas[low].bottom ? low : len;
}

/*
 * The same where neighbours are asked for one after the other: *near is looked at first, and set to
 * the area that is found. 0 will do to begin with.
 */
static inline size_t lc_area_find_near(const struct lc_area *areas, size_t len, uint64_t addr,
                                       size_t *near)
{
	size_t i = *near;

	if (i < len && addr >= areas[i].bottom && addr < areas[i].end)
		return i;
	i = lc_area_find(areas, len, addr);
	if (i < len)
		*near = i;
	return i;
}

#endif
