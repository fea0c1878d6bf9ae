/*
 * jvm/areas.c - which collector this is, and what all of them have in common.
 *
 * Offsets come from the JVM's own type database, once. In the pause only plain loads remain.
 * State is written at attach and, for begin's notes, by the thread that posts the GC events.
 */
#include "src/jvm/areas.h"

#include <errno.h>

#include "src/jvm/areas_backend.h"
#include "src/jvm/vmstructs.h"

static const struct collector {
	const char *flag;
	const char *name;
	enum lc_collector id;
	const struct lc_areas_backend *backend; /* NULL: objects cannot be followed */
} collectors[] = {
	{ "UseSerialGC", "Serial", LC_GC_SERIAL, &lc_areas_serial },
	{ "UseParallelGC", "Parallel", LC_GC_PARALLEL, &lc_areas_parallel },
	{ "UseG1GC", "G1", LC_GC_G1, &lc_areas_g1 },
	{ "UseEpsilonGC", "Epsilon", LC_GC_EPSILON, &lc_areas_epsilon },
	{ "UseShenandoahGC", "Shenandoah", LC_GC_SHENANDOAH, NULL },
	{ "UseZGC", "Z", LC_GC_Z, NULL },
};

static const struct collector unknown = { .name = "unknown", .id = LC_GC_UNKNOWN };

static const struct collector *current = &unknown;
static const struct lc_areas_backend *backend;
static uint64_t heap_low, heap_high;
static uint64_t counter; /* address of CollectedHeap's count of collections */
static uint32_t counted_before;
static bool compact_headers; /* the class stands in the mark word's upper 22 bits */
static bool compact_class;   /* ... or in the second word's lower half, before the length */

int lc_space_layout_contiguous(struct lc_space_layout *out)
{
	struct lc_space_layout l = {
		.bottom = lc_vm_offset("ContiguousSpace", "_bottom"),
		.top = lc_vm_offset("ContiguousSpace", "_top"),
		.end = lc_vm_offset("ContiguousSpace", "_end"),
	};

	if (l.bottom < 0) { /* before the two classes became one */
		l.bottom = lc_vm_offset("Space", "_bottom");
		l.end = lc_vm_offset("Space", "_end");
	}
	if (l.bottom < 0 || l.top < 0 || l.end < 0)
		return -ENOENT;
	*out = l;
	return 0;
}

struct lc_area lc_space_read(const struct lc_space_layout *l, uint64_t space,
                             enum lc_area_kind kind)
{
	return (struct lc_area){
		.bottom = lc_load64(space + (uint64_t)l->bottom),
		.top = lc_load64(space + (uint64_t)l->top),
		.end = lc_load64(space + (uint64_t)l->end),
		.kind = kind,
	};
}

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

static int find_heap(uint64_t *heap)
{
	const void *at = lc_vm_static("Universe", "_collectedHeap");
	long reserved = lc_vm_offset("CollectedHeap", "_reserved");
	long start = lc_vm_offset("MemRegion", "_start");
	long words = lc_vm_offset("MemRegion", "_word_size");
	long total = lc_vm_offset("CollectedHeap", "_total_collections");

	if (!at || reserved < 0 || start < 0 || words < 0 || total < 0)
		return -ENOENT;
	*heap = lc_load64((uintptr_t)at);
	if (!*heap)
		return -ENOENT;
	heap_low = lc_load64(*heap + (uint64_t)(reserved + start));
	heap_high = heap_low + 8 * lc_load64(*heap + (uint64_t)(reserved + words));
	counter = *heap + (uint64_t)total;
	return 0;
}

int lc_areas_init(void)
{
	const bool *flag;
	uint64_t heap;
	int err;

	backend = NULL;
	current = find_collector();
	err = find_heap(&heap);
	if (err)
		return err;
	if (!current->backend)
		return -ENOTSUP;
	err = current->backend->init(heap);
	if (err)
		return err;
	backend = current->backend;
	counted_before = lc_load32(counter);
	flag = lc_vm_flag("UseCompactObjectHeaders");
	compact_headers = flag && *flag;
	flag = lc_vm_flag("UseCompressedClassPointers");
	compact_class = flag && *flag;
	return 0;
}

enum lc_collector lc_areas_collector(void)
{
	return current->id;
}

const char *lc_areas_collector_name(void)
{
	return current->name;
}

void lc_areas_heap_range(uint64_t *low, uint64_t *high)
{
	*low = heap_low;
	*high = heap_high;
}

void lc_areas_begin(void)
{
	if (!backend)
		return;
	counted_before = lc_load32(counter);
	if (backend->begin)
		backend->begin();
}

uint32_t lc_areas_collections(void)
{
	if (!backend)
		return 0;
	return backend->collections(lc_load32(counter) - counted_before);
}

uint64_t lc_areas_identity(const uint64_t header[2], bool array)
{
	uint64_t length = array ? (uint32_t)header[1] : 0;

	if (compact_headers)
		return (header[0] >> 42) << 32 | length;
	if (compact_class && !array)
		return (uint32_t)header[1];
	return header[1]; /* class and length, or class alone in 64 bits */
}

size_t lc_areas_take(struct lc_area *out, size_t cap, bool slid)
{
	if (!backend)
		return 0;
	return backend->take(out, cap, lc_areas_collections(), slid);
}
