/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/areas_g1.c - reads G1's table of regions.
 *
 * Each collection has its own pair of JVMTI events, and so have remark and cleanup, which free
 * regions and move nothing (cleanup counts itself as a collection all the same). Within the pause,
 * after the evacuation, G1 already hands out the first eden regions of the next epoch: no object
 * that was there before can be in a region that is eden when a collection has ended. Regions in
 * which an evacuation failed have become old.
 */
#include "src/jvm/layout/areas_backend.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/hash.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/vmstructs.h"

/* Written by: init; `witness` by begin, `survivor` by take, `free` and `young` by stuck. */
static struct {
	uint64_t table; /* address of the pointer to the regions' pointers */
	uint64_t len;   /* address of their number */
	struct lc_space_layout layout;
	long tag;
	uint32_t free_tag, eden_tag, survivor_tag, humongous_mask, humongous_start_tag;
	uint64_t survivor; /* a survivor region, 0 when there is none */
	long pins;         /* a region's count of pinned objects; negative: G1 pins none */
	uint64_t free;     /* a region that was free at the last look; 0: none was */
	/* Regions that were young when the running collection started, from the first time that
	 * they are asked for. */
	uint64_t *young;
	size_t young_len;
	bool young_noted;
	struct {
		uint64_t region; /* a young region that is not empty, 0 when there is none */
		uint64_t top;
		uint32_t tag;
	} witness;
} g1;

static long offset_either(const char *type_17, const char *type_25, const char *field)
{
	long o = lc_vm_offset(type_25, field);

	return o < 0 ? lc_vm_offset(type_17, field) : o;
}

/* Offset of a region's field; on JDK 11 it is in a base class. */
static long region_offset(const char *type_11, const char *field)
{
	long o = offset_either("HeapRegion", "G1HeapRegion", field);

	return o < 0 ? lc_vm_offset(type_11, field) : o;
}

static int constant_either(const char *name_17, const char *name_25, uint32_t *out)
{
	int64_t v;
	int err = lc_vm_constant(name_25, &v);

	if (err)
		err = lc_vm_constant(name_17, &v);
	if (!err)
		*out = (uint32_t)v;
	return err;
}

static int init_tags(void)
{
	long type = offset_either("HeapRegion", "G1HeapRegion", "_type");
	long tag = offset_either("HeapRegionType", "G1HeapRegionType", "_tag");

	if (type < 0 || tag < 0)
		return -ENOENT;
	g1.tag = type + tag;
	if (constant_either("HeapRegionType::FreeTag", "G1HeapRegionType::FreeTag", &g1.free_tag) ||
	    constant_either("HeapRegionType::EdenTag", "G1HeapRegionType::EdenTag", &g1.eden_tag) ||
	    constant_either("HeapRegionType::SurvTag", "G1HeapRegionType::SurvTag",
	                    &g1.survivor_tag) ||
	    constant_either("HeapRegionType::HumongousMask", "G1HeapRegionType::HumongousMask",
	                    &g1.humongous_mask) ||
	    constant_either("HeapRegionType::StartsHumongousTag",
	                    "G1HeapRegionType::StartsHumongousTag", &g1.humongous_start_tag))
		return -ENOENT;
	return 0;
}

static int init(uint64_t heap)
{
	long manager = lc_vm_offset("G1CollectedHeap", "_hrm");
	long regions = offset_either("HeapRegionManager", "G1HeapRegionManager", "_regions");
	long base = lc_vm_offset("G1HeapRegionTable", "_base");
	long len = lc_vm_offset("G1HeapRegionTable", "_length");

	g1.layout = (struct lc_space_layout){
		.bottom = region_offset("Space", "_bottom"),
		.top = region_offset("G1ContiguousSpace", "_top"),
		.end = region_offset("Space", "_end"),
	};
	if (manager < 0 || regions < 0 || base < 0 || len < 0 || g1.layout.bottom < 0 ||
	    g1.layout.top < 0 || g1.layout.end < 0 || init_tags())
		return -ENOENT;
	g1.pins = lc_vm_offset("G1HeapRegion", "_pinned_object_count");
	g1.free = 0;
	g1.table = heap + (uint64_t)(manager + regions + base);
	g1.len = heap + (uint64_t)(manager + regions + len);
	return 0;
}

static uint32_t tag_of(uint64_t region)
{
	return lc_peek_load32(region + (uint64_t)g1.tag);
}

static bool is_witness(uint64_t region)
{
	uint32_t tag = tag_of(region);

	return (tag == g1.eden_tag || tag == g1.survivor_tag) &&
	       lc_peek_load64(region + (uint64_t)g1.layout.top) !=
	           lc_peek_load64(region + (uint64_t)g1.layout.bottom);
}

/*
 * Every collection empties every young region, or makes it old; nothing else does. So one of them
 * tells whether there was a collection. Survivors stay where they are until the next; without
 * one, look for an eden region from the heap's end, where G1 takes them from.
 */
static void begin(void)
{
	const uint64_t *regions = (const uint64_t *)(uintptr_t)lc_peek_load64(g1.table);
	size_t i = lc_peek_load64(g1.len);

	g1.young_noted = false;
	g1.witness.region = g1.survivor && is_witness(g1.survivor) ? g1.survivor : 0;
	while (!g1.witness.region && i--)
		if (regions[i] && is_witness(regions[i]))
			g1.witness.region = regions[i];
	if (g1.witness.region) {
		g1.witness.tag = tag_of(g1.witness.region);
		g1.witness.top = lc_peek_load64(g1.witness.region + (uint64_t)g1.layout.top);
	}
}

static uint32_t collections(uint32_t counted)
{
	uint64_t r = g1.witness.region;

	if (!r)
		return counted;
	return tag_of(r) != g1.witness.tag ||
	       lc_peek_load64(r + (uint64_t)g1.layout.top) != g1.witness.top;
}

static enum lc_area_kind kind_of(uint32_t tag)
{
	if (tag == g1.free_tag)
		return LC_AREA_FREE;
	if (tag == g1.eden_tag)
		return LC_AREA_EDEN;
	if (tag == g1.survivor_tag)
		return LC_AREA_SURVIVOR;
	if (tag & g1.humongous_mask)
		return tag == g1.humongous_start_tag ? LC_AREA_HUMONGOUS : LC_AREA_HUMONGOUS_CONT;
	return LC_AREA_OLD; /* archived objects too */
}

/* May `a` continue `before`, so that top keeps its meaning? */
static bool joins(const struct lc_area *before, const struct lc_area *a)
{
	return before->kind == a->kind && before->top == a->bottom &&
	       a->kind != LC_AREA_HUMONGOUS && a->kind != LC_AREA_HUMONGOUS_CONT;
}

/* With `eden`, eden regions too; *survivor is a survivor region, or 0. */
static size_t read_regions(struct lc_area *out, size_t cap, bool eden, bool join,
                           uint64_t *survivor)
{
	const uint64_t *regions = (const uint64_t *)(uintptr_t)lc_peek_load64(g1.table);
	size_t regions_len = lc_peek_load64(g1.len);
	struct lc_area a;
	size_t len = 0;

	*survivor = 0;
	for (size_t i = 0; i < regions_len; i++) {
		uint64_t r = regions[i];

		if (i + 8 < regions_len && regions[i + 8]) {
			__builtin_prefetch((const void *)(uintptr_t)regions[i + 8]);
			__builtin_prefetch((const char *)(uintptr_t)regions[i + 8] + g1.tag);
		}
		if (!r)
			continue; /* never committed */
		a.kind = kind_of(tag_of(r));
		if (a.kind == LC_AREA_FREE || (a.kind == LC_AREA_EDEN && !eden))
			continue;
		a = lc_areas_space_read(&g1.layout, r, a.kind);
		if (a.kind == LC_AREA_SURVIVOR)
			*survivor = r;
		if (join && len && len <= cap && joins(&out[len - 1], &a)) {
			out[len - 1].top = a.top;
			out[len - 1].end = a.end;
		} else if (len++ < cap) {
			out[len - 1] = a;
		}
	}
	return len;
}

static size_t take(struct lc_area *out, size_t cap, uint32_t runs, bool slid)
{
	/* After a slide, do not join regions: each has a limit below which objects may have
	 * stayed. */
	const size_t len = read_regions(out, cap, !runs, !slid, &g1.survivor);

	/* All that a full collection slid may have been small. */
	if (runs && (slid || lc_areas_full()))
		for (size_t i = 0; i < len && i < cap; i++)
			if (out[i].kind == LC_AREA_OLD)
				out[i].flags = LC_AREA_COMPACTED;
	return len;
}

/* Has G1 a region to copy to? It can commit those that it has not used. */
static bool has_room(void)
{
	const uint64_t *regions = (const uint64_t *)(uintptr_t)lc_peek_load64(g1.table);
	const size_t len = lc_peek_load64(g1.len);

	if (g1.free && tag_of(g1.free) == g1.free_tag)
		return true;
	g1.free = 0;
	for (size_t i = 0; i < len; i++) {
		if (!regions[i])
			return true;
		if (tag_of(regions[i]) != g1.free_tag)
			continue;
		g1.free = regions[i];
		return true;
	}
	return false;
}

static void note_young(void)
{
	const uint64_t *regions = (const uint64_t *)(uintptr_t)lc_peek_load64(g1.table);
	const size_t len = lc_peek_load64(g1.len);

	g1.young_noted = true;
	g1.young_len = 0;
	if (!g1.young)
		g1.young = malloc(len * sizeof(*g1.young));
	for (size_t i = 0; g1.young && i < len; i++)
		if (regions[i] && is_witness(regions[i]))
			g1.young[g1.young_len++] = regions[i];
}

/* Old regions with pinned objects are not evacuated. */
static size_t read_pinned(struct lc_area *out, size_t cap)
{
	size_t len = 0;

	if (!g1.young_noted)
		note_young();
	for (size_t i = 0; i < g1.young_len; i++)
		if (lc_peek_load64(g1.young[i] + (uint64_t)g1.pins) && len++ < cap)
			out[len - 1] = lc_areas_space_read(&g1.layout, g1.young[i], LC_AREA_EDEN);
	return len;
}

/* A hash of the kinds of all regions and of how full they are. */
static uint64_t hash_regions(void)
{
	const uint64_t *regions = (const uint64_t *)(uintptr_t)lc_peek_load64(g1.table);
	const size_t len = lc_peek_load64(g1.len);
	uint64_t hash = 0;

	for (size_t i = 0; i < len; i++)
		if (regions[i]) {
			hash = lc_hash_add(hash, tag_of(regions[i]));
			hash =
			    lc_hash_add(hash, lc_peek_load64(regions[i] + (uint64_t)g1.layout.top));
		}
	return hash;
}

static size_t stuck(struct lc_area *out, size_t cap, bool *all, uint64_t *regions)
{
	uint64_t unused;
	size_t len;

	*all = !has_room();
	if (*all)
		len = read_regions(out, cap, true, true, &unused);
	else
		len = g1.pins < 0 ? 0 : read_pinned(out, cap);
	if (len)
		*regions = hash_regions();
	return len;
}

static size_t look(struct lc_area *out, size_t cap)
{
	uint64_t unused;

	return read_regions(out, cap, true, true, &unused);
}

const struct lc_areas_backend *lc_areas_g1(void)
{
	static const struct lc_areas_backend g1_backend = { init, begin, collections, NULL,
		                                            take, stuck, look };

	return &g1_backend;
}
