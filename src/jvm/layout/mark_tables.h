/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/mark_tables.h - tells where a full collection of Parallel will slide objects, from the
 * collector's own tables.
 *
 * Before JDK 24 such a collection writes no forwarding pointers. It marks the live objects in two
 * bitmaps, one of where they begin and one of where they end, and notes for each region of 512 KiB
 * how much of it lives and where that goes. A new address is computed from these, by the collector
 * and here alike.
 *
 * The tables are not exported. This module finds them in the JVM's data by values that they must
 * hold: the heap's bottom and size, and sizes that follow from it. It checks a region's summary
 * against the bitmaps before it uses the summary.
 */
#ifndef LC_JVM_LAYOUT_MARK_TABLES_H
#define LC_JVM_LAYOUT_MARK_TABLES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Find the tables. Returns 0, or -ENOENT where this JVM has none of this kind. Reads all of
 * libjvm's data: some milliseconds. Context: [attach]; lc_ranges_init() first.
 */
int lc_mark_tables_init(void);

/* Were they found? Context: any. */
bool lc_mark_tables_known(void);

enum lc_mark_fate {
	LC_MARK_UNSAID, /* the tables are not complete, or not to be believed */
	LC_MARK_DEAD,
	LC_MARK_LIVES, /* at *to after the collection */
};

/*
 * The fate of the object at `addr`, before anything slides. Keeps the sums over a region, and
 * checks that the region's summary is still the same. Context: [gc].
 */
enum lc_mark_fate lc_mark_tables_find(uint64_t addr, uint64_t *to);

/* Free the sums. Context: [gc]. */
void lc_mark_tables_forget(void);

#endif
