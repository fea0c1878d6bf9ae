/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/collector.c - asks the JVM which collector it runs. */
#include "src/jvm/layout/collector.h"

#include <stddef.h>

#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/peek.h"

static const struct collector {
	const char *flag;
	const char *name;
	enum lc_collector id;
} collectors[] = {
	{ "UseSerialGC", "Serial", LC_GC_SERIAL },
	{ "UseParallelGC", "Parallel", LC_GC_PARALLEL },
	{ "UseG1GC", "G1", LC_GC_G1 },
	{ "UseEpsilonGC", "Epsilon", LC_GC_EPSILON },
	{ "UseShenandoahGC", "Shenandoah", LC_GC_SHENANDOAH },
	{ "UseZGC", "Z", LC_GC_Z },
};

static const struct collector unknown = { .name = "unknown", .id = LC_GC_UNKNOWN };

/* Set once by lc_collector_init(). */
static const struct collector *current = &unknown;
enum { Z_GRANULE_SHIFT = 21 };
static unsigned granule_shift = Z_GRANULE_SHIFT;
static uint64_t heap;
static const volatile uint32_t *count;

/* Ergonomics sets the flag of the collector that it chose, so one is true in any JVM. */
static const struct collector *find_collector(void)
{
	const bool *on;

	for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++) {
		on = lc_vm_flag(collectors[i].flag);
		if (on && *on)
			return &collectors[i];
	}
	return &unknown;
}

/* Does a CollectedHeap stand there? It begins with a table of virtual functions of libjvm's. */
static bool is_heap(uint64_t at, long total)
{
	const struct lc_range library = lc_ranges_library();
	uint64_t table = 0;
	uint32_t collections;

	return at && total >= 0 && lc_peek(at, &table, sizeof(table)) && table >= library.low &&
	       table < library.high &&
	       lc_peek(at + (uint64_t)total, &collections, sizeof(collections));
}

void lc_collector_init(void)
{
	const void *at = lc_vm_static("Universe", "_collectedHeap");
	const long total = lc_vm_offset("CollectedHeap", "_total_collections");

	const void *region = lc_vm_static("ShenandoahHeapRegion", "RegionSizeBytes");

	current = find_collector();
	granule_shift = Z_GRANULE_SHIFT;
	if (current->id == LC_GC_SHENANDOAH && region && lc_peek_load64((uintptr_t)region))
		granule_shift = (unsigned)__builtin_ctzll(lc_peek_load64((uintptr_t)region));
	heap = at ? lc_peek_load64((uintptr_t)at) : 0;
	if (!is_heap(heap, total))
		heap = 0;
	count = heap && total >= 0
	            ? (const volatile uint32_t *)(uintptr_t)(heap + (uint64_t)total) /* NOLINT */
	            : NULL;
}

enum lc_collector lc_collector(void)
{
	return current->id;
}

const char *lc_collector_name(void)
{
	return current->name;
}

bool lc_collector_unloads_while_running(void)
{
	switch (current->id) {
	case LC_GC_SERIAL:
	case LC_GC_PARALLEL:
	case LC_GC_G1:
	case LC_GC_EPSILON:
		return false;
	default:
		return true;
	}
}

bool lc_collector_moves_while_running(void)
{
	return current->id == LC_GC_SHENANDOAH || current->id == LC_GC_Z;
}

unsigned lc_collector_granule_shift(void)
{
	return granule_shift;
}

uint64_t lc_collector_heap(void)
{
	return heap;
}

const volatile uint32_t *lc_collector_count(void)
{
	return count;
}
