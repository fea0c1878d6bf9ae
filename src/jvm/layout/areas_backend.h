/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/areas_backend.h - declares what areas.c and the collectors' own parts of it share. */
#ifndef LC_JVM_LAYOUT_AREAS_BACKEND_H
#define LC_JVM_LAYOUT_AREAS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"
#include "src/jvm/os/peek.h"

struct lc_areas_backend {
	/* `heap`: HotSpot's CollectedHeap. Returns 0 or -ENOENT. [attach] */
	int (*init)(uint64_t heap);
	/* May be NULL. [gc] start */
	void (*begin)(void);
	/* Collections since begin, given how far CollectedHeap's own count went. [gc] finish */
	uint32_t (*collections)(uint32_t counted);
	/* For lc_areas_emptied(); NULL: never. [gc] */
	bool (*emptied)(void);
	/* For lc_areas_take(). `slid`: something moved by memmove. [gc] finish */
	size_t (*take)(struct lc_area *out, size_t cap, uint32_t collections, bool slid);
	/* For lc_areas_stuck(); NULL: there are none. [gc] */
	size_t (*stuck)(struct lc_area *out, size_t cap, bool *all, uint64_t *regions);
	/* For lc_areas_look(). */
	size_t (*look)(struct lc_area *out, size_t cap);
};

const struct lc_areas_backend *lc_areas_serial(void);
const struct lc_areas_backend *lc_areas_parallel(void);
const struct lc_areas_backend *lc_areas_g1(void);
const struct lc_areas_backend *lc_areas_epsilon(void);

/* Offsets of bottom, top and end in a space. */
struct lc_space_layout {
	long bottom;
	long top;
	long end;
};

/* Offsets of a ContiguousSpace, whichever class declares them. Returns 0 or -ENOENT. */
int lc_areas_space_contiguous(struct lc_space_layout *out);

struct lc_area lc_areas_space_read(const struct lc_space_layout *l, uint64_t space,
                                   enum lc_area_kind kind);

#endif
