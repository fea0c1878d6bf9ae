/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/copies.h - puts into the profile what collections did with the tracked objects of each
 * site: how much they copied, and how much outlived its first collection.
 */
#ifndef LC_ATTRIBUTE_COPIES_H
#define LC_ATTRIBUTE_COPIES_H

#include <stdint.h>

struct lc_map;
struct lc_thread;

/*
 * Move the map's sums to the thread's tally: the map does not know whose objects they were. Sums
 * without room in the tally stay in the map. Returns the bytes copied. Context: [writer].
 */
uint64_t lc_copies_take(struct lc_thread *t, struct lc_map *m);

#endif
