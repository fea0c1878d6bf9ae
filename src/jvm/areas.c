/*
 * jvm/areas.c - asks the running collector's part for the areas of the heap.
 *
 * Offsets come from the JVM's own type database, once. In the pause only plain loads remain.
 * State is written at attach and, for begin's notes, by the thread that posts the GC events.
 */
#include "src/jvm/areas.h"

#include <errno.h>

#include "src/jvm/areas_backend.h"
#include "src/jvm/collector.h"
#include "src/jvm/ranges.h"
#include "src/jvm/vmstructs.h"

static const struct lc_areas_backend *backend; /* NULL: objects cannot be followed */
static const volatile uint32_t *counter;       /* the JVM's count of collections */
static uint32_t counted_before;
static uint32_t full_before;

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

static const struct lc_areas_backend *find_backend(void)
{
	switch (lc_collector()) {
	case LC_GC_SERIAL:
		return lc_areas_serial();
	case LC_GC_PARALLEL:
		return lc_areas_parallel();
	case LC_GC_G1:
		return lc_areas_g1();
	case LC_GC_EPSILON:
		return lc_areas_epsilon();
	default:
		return NULL;
	}
}

int lc_areas_init(void)
{
	const struct lc_areas_backend *found;
	int err;

	backend = NULL;
	lc_collector_init();
	err = lc_ranges_init();
	counter = lc_collector_count();
	if (err || !counter)
		return -ENOENT;
	found = find_backend();
	if (!found)
		return -ENOTSUP;
	err = found->init(lc_collector_heap());
	if (err)
		return err;
	backend = found;
	counted_before = *counter;
	return 0;
}

void lc_areas_begin(void)
{
	if (!backend)
		return;
	counted_before = *counter;
	full_before = counter[1];
	if (backend->begin)
		backend->begin();
}

/* CollectedHeap's count of full collections stands behind that of all, on JDK 17 and 25. */
uint32_t lc_areas_full(void)
{
	return backend ? counter[1] - full_before : 0;
}

bool lc_areas_emptied(void)
{
	return backend && backend->emptied && backend->emptied();
}

uint32_t lc_areas_collections(void)
{
	if (!backend)
		return 0;
	return backend->collections(*counter - counted_before);
}

size_t lc_areas_take(struct lc_area *out, size_t cap, bool slid)
{
	if (!backend)
		return 0;
	return backend->take(out, cap, lc_areas_collections(), slid);
}

size_t lc_areas_look(struct lc_area *out, size_t cap)
{
	return backend ? backend->look(out, cap) : 0;
}
