/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/areas.c - asks the running collector's part for the areas of the heap.
 *
 * Offsets come from the JVM's own type database, once. In the pause only plain loads remain.
 * State is written at attach and, for begin's notes, by the thread that posts the GC events.
 */
#include "src/jvm/layout/areas.h"

#include <errno.h>
#include <stdlib.h>

#include "src/jvm/layout/areas_backend.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/guard.h"
#include "src/jvm/os/handle.h"

static const struct lc_areas_backend *backend; /* NULL: objects cannot be followed */
static const volatile uint32_t *counter;       /* the JVM's count of collections */
static uint32_t counted_before;
static uint32_t full_before;

int lc_areas_space_contiguous(struct lc_space_layout *out)
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

struct lc_area lc_areas_space_read(const struct lc_space_layout *l, uint64_t space,
                                   enum lc_area_kind kind)
{
	return (struct lc_area){
		.bottom = lc_peek_load64(space + (uint64_t)l->bottom),
		.top = lc_peek_load64(space + (uint64_t)l->top),
		.end = lc_peek_load64(space + (uint64_t)l->end),
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

struct init {
	const struct lc_areas_backend *found;
	uint32_t counted;
	int err;
};

static void init_backend(void *arg)
{
	struct init *i = arg;

	i->err = i->found->init(lc_collector_heap());
	i->counted = *counter;
}

int lc_areas_init(void)
{
	const struct lc_areas_backend *found;
	struct init init;
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
	init = (struct init){ .found = found };
	if (!lc_guard_prove(init_backend, &init))
		return -ENOENT;
	if (init.err)
		return init.err;
	backend = found;
	counted_before = init.counted;
	return 0;
}

/* -- proof ---------------------------------------------------------------------------------- */

enum { AREAS_MAX = 1 << 16, SPECIMEN_BYTES = 4096, ATTEMPTS = 16 };

struct proof {
	uint64_t low, high; /* a new array */
	struct lc_area *areas;
	bool proved;
};

static bool makes_sense(const struct lc_area *a, struct lc_range heap)
{
	return a->bottom >= heap.low && a->bottom <= a->top && a->top <= a->end &&
	       a->end <= heap.high && !((a->bottom | a->top | a->end) & 7);
}

/* G1 tells kinds by numbers of its own, which the array proves: new ones are in eden. */
static bool is_new(const struct lc_area *a)
{
	return lc_collector() == LC_GC_G1 ? a->kind == LC_AREA_EDEN : a->kind != LC_AREA_FREE;
}

static void look_for_specimen(void *arg)
{
	struct proof *p = arg;
	const struct lc_range heap = lc_ranges_heap();
	const size_t len = lc_areas_look(p->areas, AREAS_MAX);
	bool sense = len <= AREAS_MAX, found = false;

	for (size_t i = 0; sense && i < len; i++) {
		const struct lc_area *a = &p->areas[i];

		sense = makes_sense(a, heap);
		found |= p->low >= a->bottom && p->high <= a->top && is_new(a);
	}
	p->proved = sense && found;
}

int lc_areas_prove(JNIEnv *jni)
{
	struct proof p = { .areas = malloc(AREAS_MAX * sizeof(*p.areas)) };
	bool faulted = false;

	for (unsigned i = 0; p.areas && !p.proved && !faulted && i < ATTEMPTS; i++) {
		jbyteArray array = (*jni)->NewByteArray(jni, SPECIMEN_BYTES);

		if (!array)
			break;
		p.low = lc_handle_address(array);
		p.high = p.low + SPECIMEN_BYTES;
		/* A collection may move the array meanwhile: then the next one is looked for. */
		faulted = !lc_guard_prove(look_for_specimen, &p);
		(*jni)->DeleteLocalRef(jni, array);
	}
	(*jni)->ExceptionClear(jni);
	free(p.areas);
	if (p.proved && !faulted)
		return 0;
	backend = NULL;
	return -ENOENT;
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

size_t lc_areas_stuck(struct lc_area *out, size_t cap, bool *all, uint64_t *regions)
{
	*all = false;
	return backend && backend->stuck ? backend->stuck(out, cap, all, regions) : 0;
}

size_t lc_areas_look(struct lc_area *out, size_t cap)
{
	return backend ? backend->look(out, cap) : 0;
}
