/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/preexisting.c - follows objects from before the attach, by the parts of the heap that
 * were in use then.
 *
 * The parts only shrink. A collection takes away the memory that it left empty, and each part from
 * the lowest address on that the collection wrote to. So an object that moves from a part lay there
 * at the attach. Eden has one exception: the rest of a thread's allocation buffer is filled after
 * the attach.
 *
 * With concurrent collectors, memory is tracked by granules (`seen`). An object of a granule was
 * there at the attach if nothing was put into the granule since. Also, no object may have left the
 * granule in an earlier cycle of the collector, since the memory is used again after the cycle.
 *
 * The header of a moved object is read after the collection, while the program runs. It counts only
 * if no other collection has begun meanwhile. An object whose header could not be read in time has
 * a site without a class, until a sample of it tells the class.
 */
#include "src/attribute/preexisting.h"

#include <Judy.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/area.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/heap/map.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/klass.h"

enum {
	AREAS_AT_FIRST = 64,
	LOOKS_MAX = 1 << 20, /* in one collection */
	TRIES = 1000,
	TRY_NS = 1000000,
	USED = 1, /* of a granule; else its cycle and FIRST_CYCLE */
	FIRST_CYCLE = 2,
};

enum { ID = LC_PATH_BEFORE }; /* of the path's method */

/* `areas` are the parts: [bottom, top) of each, sorted, disjoint. */
static struct {
	_Atomic bool begun; /* stored after all above `seen`, which is then [writer]'s */
	uint64_t min_size_bytes, since_ns;
	bool follows; /* in order */
	struct lc_vector areas;
	uint32_t epoch; /* the first epoch whose end counts */
	uint32_t path;
	uint32_t unread_site; /* site of objects of unknown class */
	void *seen;           /* JudyL: granules of the heap that are in use again */
	struct lc_map *map;
	uint64_t objects, unread;
} before = { .areas = { .element_bytes = sizeof(struct lc_area) } };

static void forget(void)
{
	free(before.areas.data);
	before.areas.data = NULL;
	before.areas.len = before.areas.cap = 0;
}

uint32_t lc_preexisting_path(JNIEnv *jni)
{
	const uint64_t frame = lc_frame_pack((const void *)(uintptr_t)ID, -1); /* NOLINT */

	if (!before.path && !lc_path_define(ID, LC_BEFORE_CLASS, "", "()V"))
		before.path = lc_path_intern(jni, &frame, 1);
	return before.path;
}

static bool make_path(JNIEnv *jni)
{
	if (lc_preexisting_path(jni) && !before.unread_site)
		before.unread_site = lc_site_intern("L" LC_BEFORE_CLASS ";", 0, before.path);
	return before.unread_site != 0;
}

/* Returns false if a collection came between. */
static bool note_areas(void)
{
	const uint32_t sequence = lc_epoch_gc_sequence();
	size_t cap = AREAS_AT_FIRST, len;

	if (lc_epoch_gc_sequence_moving(sequence))
		return false;
	for (;;) {
		struct lc_area *areas = malloc(cap * sizeof(*areas));

		if (!areas)
			return true; /* there are no parts */
		len = lc_areas_look(areas, cap);
		if (len <= cap) {
			before.areas.data = areas;
			before.areas.len = len;
			before.areas.cap = cap;
			break;
		}
		free(areas);
		cap = len + len / 4;
	}
	before.epoch = sequence / 2;
	if (lc_epoch_gc_sequence() == sequence)
		return true;
	forget();
	return false;
}

void lc_preexisting_begin(JNIEnv *jni, uint64_t min_size_bytes, bool ordered)
{
	const struct timespec time = { .tv_nsec = TRY_NS };

	forget(); /* the list of an earlier call, if there is one */
	before.min_size_bytes = min_size_bytes;
	before.since_ns = lc_time_now_ns();
	if (!make_path(jni))
		return;
	before.follows = ordered;
	for (unsigned i = 0; !ordered && !note_areas() && i < TRIES; i++)
		nanosleep(&time, NULL);
	atomic_store_explicit(&before.begun, true, memory_order_release);
}

static bool begun(void)
{
	return atomic_load_explicit(&before.begun, memory_order_acquire);
}

/* -- objects that have moved --------------------------------------------------------------- */

static bool is_kept(uint64_t addr, size_t *near)
{
	const struct lc_area *areas = before.areas.data;
	const size_t i = lc_area_find_near(areas, before.areas.len, addr, near);

	return i < before.areas.len && addr < areas[i].top;
}

/* Is all of it in a part of the heap where the collection has left objects? */
static bool is_left(const struct lc_map_close *close, uint64_t addr, uint64_t size_bytes,
                    size_t *near)
{
	const size_t i = lc_area_find_near(close->areas, close->areas_len, addr, near);

	return i < close->areas_len && close->areas[i].kind != LC_AREA_FREE &&
	       addr + size_bytes <= close->areas[i].top;
}

/*
 * Does this move copy a whole object? Large objects are copied in pieces that begin and end at
 * boundaries: for these only the header tells the size.
 */
static bool is_whole(const struct lc_move *m, uint64_t heap_low)
{
	return !lc_move_continues(m, heap_low) &&
	       (m->dst + m->size_bytes - heap_low) & (LC_MOVE_PIECE_ALIGN - 1);
}

/* May this move be of an object of that size, or its first piece? */
static bool is_of(const struct lc_move *m, uint64_t size_bytes, uint64_t heap_low)
{
	return m->size_bytes == size_bytes ||
	       (m->size_bytes < size_bytes && !is_whole(m, heap_low));
}

static void adopt(const struct lc_map_close *close, uint64_t addr, uint64_t size_bytes,
                  uint32_t site, size_t *near)
{
	if (!site || size_bytes < before.min_size_bytes ||
	    !is_left(close, addr, size_bytes, near) ||
	    lc_map_adopt(before.map, addr, (uint32_t)(size_bytes / 8), site) != 1)
		return;
	before.objects++;
	before.unread += site == before.unread_site;
}

/* Read the header of an object that is there in the open epoch, if that is still open. */
static bool read_header(uint64_t addr, struct lc_object_seen *out)
{
	const uint32_t still = before.epoch * 2;

	return lc_epoch_gc_sequence() == still && lc_klass_object(addr, addr, out) &&
	       lc_epoch_gc_sequence() == still;
}

/* Put in the object that has moved, with its class if `*look` says that headers can be read. */
static void take(const struct lc_map_close *close, const struct lc_move *m, size_t *near,
                 bool *look)
{
	struct lc_object_seen seen = { 0 };
	struct lc_object known;

	if (lc_map_find(before.map, m->dst, &known))
		return;
	if (*look && read_header(m->dst, &seen)) {
		if (is_of(m, seen.size_bytes, close->heap_low))
			adopt(close, m->dst, seen.size_bytes,
			      lc_klass_site_at(seen.klass, before.path), near);
		return;
	}
	*look = *look && lc_epoch_gc_sequence() == before.epoch * 2;
	if (!*look && is_whole(m, close->heap_low))
		adopt(close, m->dst, m->size_bytes, before.unread_site, near);
}

static void take_all(const struct lc_map_close *close)
{
	size_t near = 0, near_left = 0, looks = 0;
	bool look = true;

	for (size_t i = 0; i < close->moves_len; i++) {
		const struct lc_move *m = &close->moves[i];

		if (!m->src || m->size_bytes <= LC_MOVE_INLINE_BYTES || !is_kept(m->src, &near))
			continue;
		look = look && looks++ < LOOKS_MAX;
		take(close, m, &near_left, &look);
	}
}

/* -- concurrent collectors ----------------------------------------------------------------- */

/* Returns NULL without memory: from then on nothing is followed. */
static Word_t *granule_at(uint64_t granule)
{
	PPvoid_t slot = JudyLIns(&before.seen, granule, PJE0);

	if (slot && slot != PPJERR)
		return (Word_t *)slot;
	before.follows = false;
	return NULL;
}

void lc_preexisting_used(uint64_t time_ns, uint64_t addr, uint64_t size_bytes)
{
	const uint64_t last = (addr + size_bytes - 1) >> lc_collector_granule_shift();

	if (!begun() || !before.follows || time_ns < before.since_ns)
		return;
	for (uint64_t g = addr >> lc_collector_granule_shift(); g <= last; g++) {
		Word_t *is = granule_at(g);

		if (is)
			*is = USED;
	}
}

void lc_preexisting_copied(struct lc_map *map, uint32_t cycle, bool known, uint64_t time_ns,
                           const struct lc_move *move)
{
	struct lc_object_seen seen;
	uint32_t site;
	Word_t *is;

	if (!begun() || !before.follows || time_ns < before.since_ns)
		return;
	is = granule_at(move->src >> lc_collector_granule_shift());
	if (!is || *is == USED)
		return;
	if (!*is)
		*is = (Word_t)cycle + FIRST_CYCLE;
	if (known || *is != (Word_t)cycle + FIRST_CYCLE ||
	    move->size_bytes < before.min_size_bytes ||
	    !lc_klass_object(move->dst, move->dst, &seen) || seen.size_bytes != move->size_bytes)
		return;
	site = lc_klass_site_at(seen.klass, before.path);
	if (site && lc_map_adopt(map, move->dst, (uint32_t)(seen.size_bytes / 8), site) == 1)
		before.objects++;
}

/* -- classes ------------------------------------------------------------------------------- */

uint32_t lc_preexisting_site(const struct lc_object *object, uint64_t klass)
{
	struct lc_object_seen seen;
	uint32_t site = 0;

	if (!begun() || object->site != before.unread_site)
		return object->site;
	if (!klass)
		klass = read_header(object->addr, &seen) && seen.size_bytes == object->size_bytes
		            ? seen.klass
		            : 0;
	if (klass)
		site = lc_klass_site_at(klass, before.path);
	if (site)
		lc_map_set_site(before.map, object->addr, site);
	return site ? site : object->site;
}

/* -- the parts ----------------------------------------------------------------------------- */

/* Without memory the part is dropped. */
static void keep(struct lc_vector *kept, const struct lc_area *area, const struct lc_area *part)
{
	struct lc_area a = *area;

	if (part->bottom > a.bottom)
		a.bottom = part->bottom;
	if (part->top < a.top)
		a.top = part->top;
	a.end = a.top;
	if (a.bottom < a.top)
		(void)lc_vector_push(kept, &a);
}

/* Intersect the parts with the areas where the collection has left objects. Both are sorted. */
static struct lc_vector meet(const struct lc_map_close *close)
{
	struct lc_vector kept = { .element_bytes = sizeof(struct lc_area) };
	const struct lc_area *parts = before.areas.data;
	size_t p = 0;

	for (size_t i = 0; i < close->areas_len; i++) {
		const struct lc_area *a = &close->areas[i];

		if (a->kind == LC_AREA_FREE)
			continue;
		while (p < before.areas.len && parts[p].top <= a->bottom)
			p++;
		for (size_t k = p; k < before.areas.len && parts[k].bottom < a->top; k++)
			keep(&kept, a, &parts[k]);
	}
	return kept;
}

/* Cut off each part at the lowest address that the collection wrote to. */
static void cut(const struct lc_map_close *close)
{
	struct lc_area *areas = before.areas.data;
	const size_t len = before.areas.len;
	size_t near = 0;

	for (size_t i = 0; i < close->moves_len; i++) {
		const struct lc_move *m = &close->moves[i];
		size_t at = 0, above = len;

		if (!m->size_bytes)
			continue;
		if (near < len && m->dst >= areas[near].bottom && m->dst < areas[near].end) {
			at = near;
		} else { /* the first that ends above */
			while (at < above) {
				const size_t middle = at + (above - at) / 2;

				if (areas[middle].end <= m->dst)
					at = middle + 1;
				else
					above = middle;
			}
			near = at;
		}
		for (; at < len && areas[at].bottom < m->dst + m->size_bytes; at++)
			if (m->dst < areas[at].top)
				areas[at].top =
				    m->dst > areas[at].bottom ? m->dst : areas[at].bottom;
	}
}

static void drop_empty(void)
{
	struct lc_area *areas = before.areas.data;
	size_t kept = 0;

	for (size_t i = 0; i < before.areas.len; i++) {
		areas[kept] = areas[i];
		areas[kept].end = areas[i].top;
		kept += areas[i].bottom < areas[i].top;
	}
	before.areas.len = kept;
}

void lc_preexisting_close(struct lc_map *map, uint32_t epoch, const struct lc_map_close *close)
{
	struct lc_vector kept;

	if (!begun() || epoch < before.epoch)
		return;
	before.epoch = epoch + 1;
	before.map = map;
	if (!before.areas.len)
		return;
	if (!close->complete) {
		forget();
		return;
	}
	take_all(close);
	kept = meet(close);
	forget();
	before.areas = kept;
	cut(close);
	drop_empty();
	if (!before.areas.len)
		forget();
}

static const struct lc_counter counters[] = {
	LC_COUNTER("before_attach_objects", &before.objects),
	LC_COUNTER("before_attach_unread", &before.unread),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
