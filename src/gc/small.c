/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/small.c - holds small objects, and looks after each collection where they are.
 *
 * Survivors are held in buckets by address, so that those in old memory that was not collected cost
 * nothing. A forwarding pointer is believed only if it leads into an area that has objects, to an
 * object of the same class. A held object may be dead, and its memory part of another object, whose
 * fields may look like a new address. So the header of a held object is believed only while it has
 * the object's class. Memory that the collection gave back is not touched: spaces and regions
 * begin and end at multiples of GRANULE_BYTES, and the kernel is asked once for each granule.
 */
#include "src/gc/small.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/area.h"
#include "src/core/counters.h"
#include "src/core/memory.h"
#include "src/gc/small_impl.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"

#define GRANULE_BYTES (UINT64_C(64) << 10)

enum {
	/* Records between a look at an object and the fetch of its header: most are in no cache. */
	FETCH_AHEAD = 16,
	/* Memory for a move until its epoch is closed, here and in heap/map_close.c. */
	MOVE_BYTES = 256,
	/* Each object found in a pause takes a share of the memory limit: a limit of 256 MB allows
	 * half a million objects in one pause. */
	PAUSE_BYTES = 512,
	BUCKETS_MAX = 1 << 16,
};

struct lc_small_state lc_small;

/* The area that `addr` lies in, if `addr` is in the part with objects; else NULL. */
const struct lc_area *lc_small_area_of(uint64_t addr)
{
	const size_t i =
	    lc_area_find_near(lc_small.areas, lc_small.areas_len, addr, &lc_small.near);
	const struct lc_area *a = i < lc_small.areas_len ? &lc_small.areas[i] : NULL;

	return a && a->kind != LC_AREA_FREE && addr < a->top ? a : NULL;
}

static bool granule_readable(uint64_t addr)
{
	const uint64_t i = (addr - lc_small.low) / GRANULE_BYTES; /* below low: huge */
	uint64_t word;

	if (i < lc_small.granules_len && lc_small.granules[i / 64] >> i % 64 & 1)
		return true;
	if (!lc_peek(addr, &word, sizeof(word)))
		return false;
	if (i < lc_small.granules_len)
		lc_small.granules[i / 64] |= UINT64_C(1) << i % 64;
	return true;
}

/* Can the header at `addr` be read? It may lie across two granules. */
bool lc_small_readable(uint64_t addr)
{
	return granule_readable(addr) &&
	       ((addr - lc_small.low) % GRANULE_BYTES <= GRANULE_BYTES - LC_SMALL_HEADER_BYTES ||
	        granule_readable(addr + LC_SMALL_HEADER_BYTES - 1));
}

/* The JVM may have given memory back since the last pass. */
void lc_small_forget_granules(void)
{
	memset(lc_small.granules, 0,
	       (lc_small.granules_len + 63) / 64 * sizeof(*lc_small.granules));
}

void lc_small_forget(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < lc_small.buckets_len; i++) {
		n += lc_small.buckets[i].len;
		free(lc_small.buckets[i].objects);
		lc_small.buckets[i] = (struct lc_small_bucket){ 0 };
	}
	lc_small.holes = false;
	atomic_fetch_add_explicit(&lc_small.forgotten, n, memory_order_relaxed);
	atomic_store_explicit(&lc_small.held, 0, memory_order_relaxed);
}

/* The largest number of objects to find in a pause. It bounds the pause's length and memory. */
size_t lc_small_moves_max(void)
{
	const uint64_t room = lc_memory_room(LC_MEMORY_SMALL) / MOVE_BYTES;
	const uint64_t pause = lc_memory_limited_to() / PAUSE_BYTES;

	return (size_t)(room < pause ? room : pause);
}

/* Make buckets and granules for the whole reserved heap, once. */
bool lc_small_lay_out(void)
{
	const struct lc_range heap = lc_ranges_heap();

	if (lc_small.buckets)
		return heap.low == lc_small.low;
	if (heap.low >= heap.high)
		return false;
	lc_small.low = heap.low;
	lc_small.granules_len = (size_t)((heap.high - heap.low) / GRANULE_BYTES + 1);
	free(lc_small.granules); /* left by a call that ran out of memory */
	lc_small.granules = calloc((lc_small.granules_len + 63) / 64, sizeof(*lc_small.granules));
	if (!lc_small.granules)
		return false;
	lc_small.bucket_bytes = GRANULE_BYTES;
	while ((heap.high - heap.low) / lc_small.bucket_bytes >= BUCKETS_MAX)
		lc_small.bucket_bytes *= 2;
	lc_small.buckets_len = (size_t)((heap.high - heap.low) / lc_small.bucket_bytes + 1);
	lc_small.buckets = calloc(lc_small.buckets_len, sizeof(*lc_small.buckets));
	return lc_small.buckets;
}

bool lc_small_begin(const struct lc_area *areas, size_t len, bool class_word)
{
	bool slid = lc_areas_collections() > 1;

	lc_small.slid = false;
	for (size_t i = 0; i < len; i++)
		slid |= areas[i].flags & LC_AREA_COMPACTED;
	if (!lc_areas_collections() || !lc_small_lay_out())
		return false;
	lc_small.areas = areas;
	lc_small.areas_len = len;
	lc_small.near = 0;
	lc_small_forget_granules();
	lc_small_stuck_pass(!slid);
	lc_small.slid = slid && lc_small_slide_begin();
	if (slid && !lc_small.slid) {
		lc_small_forget();
		return false;
	}
	lc_small.moves_max = lc_small_moves_max();
	lc_small.dropped = lc_small_given_limited();
	lc_small.class_word = class_word;
	lc_small.begin_ns = lc_time_now_ns();
	lc_small.peek = lc_peek_begin(NULL); /* it reads one word in each granule */
	return true;
}

/* Does an object of the class begin at `addr`? 0 stands for any class. */
bool lc_small_is_of_class(uint64_t addr, uint32_t class_word)
{
	return lc_small_readable(addr) &&
	       (!class_word || lc_header_class_of(lc_layout(), addr) == class_word);
}

/* Hold the object that is at `addr` now, to look at it after later collections. */
void lc_small_hold(uint64_t addr, uint64_t words)
{
	uint64_t i = (addr - lc_small.low) / lc_small.bucket_bytes;
	struct lc_small_bucket *b =
	    &lc_small.buckets[i < lc_small.buckets_len ? i : lc_small.buckets_len - 1];
	struct lc_small_object *objects = NULL;

	if (b->len < b->cap || lc_memory_room(LC_MEMORY_SMALL) > b->cap * sizeof(*objects))
		objects =
		    lc_vector_reserve_array(b->objects, &b->cap, b->len + 1, sizeof(*b->objects));
	/* Without memory the object is forgotten: the map drops it when its area is collected. */
	if (!objects) {
		lc_small.dropped = lc_small.holes = true;
		atomic_fetch_add_explicit(&lc_small.unheld, 1, memory_order_relaxed);
		return;
	}
	b->objects = objects;
	b->objects[b->len++] =
	    lc_small_object_at(addr, words, lc_header_class_of(lc_layout(), addr));
}

/*
 * The new address of the object at `addr`, which is of that class; 0 if it was not moved, or died.
 */
/* Is the object that was at `addr` at `to`, as far as that place tells? */
static bool may_be_at(uint64_t addr, uint64_t to, uint32_t class_word)
{
	const struct lc_area *area = to != addr ? lc_small_area_of(to) : NULL;

	return area && area->top - to >= LC_SMALL_HEADER_BYTES &&
	       (!class_word || lc_header_class_of(lc_layout(), to) == class_word);
}

uint64_t lc_small_forwarding(uint64_t addr, uint32_t class_word)
{
	const uint64_t mark = lc_small_readable(addr) ? lc_peek_load64(addr) : 0;
	const uint64_t to = mark & ~UINT64_C(7);

	if ((mark & 3) != LC_SMALL_MARK_FORWARDED || !may_be_at(addr, to, class_word))
		return 0;
	return !lc_small.class_word ||
	               (uint32_t)lc_peek_load64(addr + 8) == (uint32_t)lc_peek_load64(to + 8)
	           ? to
	           : 0;
}

uint64_t lc_small_forwarded(uint64_t addr, uint32_t class_word)
{
	const uint64_t given = lc_small_given_find(addr);

	if (given)
		return may_be_at(addr, given, class_word) ? given : 0;
	return lc_small_forwarding(addr, class_word);
}

/* Is it unknown whether the object moved, since its old memory was given back without a look? */
static bool is_lost(uint64_t addr)
{
	return !lc_small_given_looked() && !lc_small_readable(addr);
}

void lc_small_note_move(uint64_t src, uint64_t dst, uint64_t words)
{
	struct lc_move *moves = NULL;

	if (lc_small.moves_len < lc_small.moves_max)
		moves = lc_vector_reserve_array(lc_small.moves, &lc_small.moves_cap,
		                                lc_small.moves_len + 1, sizeof(*moves));
	if (!moves) {
		lc_small.dropped = true;
		return;
	}
	lc_small.moves = moves;
	lc_small.moves[lc_small.moves_len++] = (struct lc_move){ src, dst, words * 8 };
}

void lc_small_forget_new(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += lc_small_is_looked_at(&records[i], tag, span);
	atomic_fetch_add_explicit(&lc_small.forgotten_new, n, memory_order_relaxed);
}

/* Is the pass at its limit? Objects that it does not look at are forgotten. */
static bool is_full(void)
{
	lc_small.dropped |= lc_small.moves_len == lc_small.moves_max;
	return lc_small.moves_len == lc_small.moves_max;
}

/* Does the header at `addr` alone tell that the object was not moved? Most new objects are dead. */
static inline bool is_unmoved(uint64_t addr)
{
	const uint64_t at = addr - lc_small.low, i = at / GRANULE_BYTES; /* below low: huge */

	return i < lc_small.granules_len && lc_small.granules[i / 64] >> i % 64 & 1 &&
	       at % GRANULE_BYTES <= GRANULE_BYTES - LC_SMALL_HEADER_BYTES &&
	       (lc_peek_load64(addr) & 3) != LC_SMALL_MARK_FORWARDED;
}

void lc_small_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	const bool headers_tell =
	    !lc_small.slid && !lc_small_given_looked() && !lc_small_stuck_known();

	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];
		uint64_t to;

		/* A fetch of memory that is gone does nothing. */
		if (i + FETCH_AHEAD < len)
			__builtin_prefetch((const void *)(uintptr_t)lc_alloc_addr(a + FETCH_AHEAD));
		if (!lc_small_is_looked_at(a, tag, span) ||
		    (headers_tell && is_unmoved(lc_alloc_addr(a))))
			continue;
		if (lc_small.slid) {
			if (lc_small_slide_kept(lc_alloc_addr(a)) && lc_small_slide_kept_new(a))
				lc_small_hold(lc_alloc_addr(a), a->size_words);
			continue;
		}
		if (is_full())
			return;
		if (lc_small_stuck_known() && lc_small_stuck_area(lc_alloc_addr(a)))
			continue;
		to = lc_small_forwarded(lc_alloc_addr(a), 0);
		if (to)
			lc_small_note_move(lc_alloc_addr(a), to, a->size_words);
		else if (is_lost(lc_alloc_addr(a)))
			lc_count(&lc_small.forgotten_new);
	}
}

bool lc_small_slid(void)
{
	return lc_small.slid;
}

/* Does all of bucket `i` lie in old memory, which the collection left alone? */
static bool untouched(size_t i)
{
	uint64_t bottom = lc_small.low + i * lc_small.bucket_bytes;
	const struct lc_area *a = lc_small_area_of(bottom);

	return a && a->kind == LC_AREA_OLD && a->end >= bottom + lc_small.bucket_bytes;
}

void lc_small_sweep(const struct lc_area *areas, size_t len)
{
	uint64_t held = 0;

	lc_small.areas = areas;
	lc_small.areas_len = len;
	lc_small.near = 0;
	for (size_t i = 0; i < lc_small.buckets_len; i++) {
		struct lc_small_bucket *b = &lc_small.buckets[i];
		size_t kept = 0;

		if (b->len && !untouched(i)) {
			for (size_t j = 0; j < b->len; j++)
				if (lc_small_area_of(lc_small_addr(b->objects[j])))
					b->objects[kept++] = b->objects[j];
			b->len = kept;
		}
		held += b->len;
	}
	atomic_store_explicit(&lc_small.held, held, memory_order_relaxed);
}

/* Keep the objects of a bucket that stayed in old memory, and note the moves of the others. */
static void look_at_bucket(struct lc_small_bucket *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->len; i++) {
		const uint64_t addr = lc_small_addr(b->objects[i]);
		const struct lc_area *a = lc_small_area_of(addr), *was;
		uint64_t to;

		was = lc_small_stuck_known() ? lc_small_stuck_area(addr) : NULL;
		if (was) {
			if (lc_small_stuck_stays(b->objects[i], was, a))
				b->objects[kept++] = b->objects[i];
			continue; /* it is dead, or lc_small_stuck_take() has its move */
		}
		if (a && a->kind == LC_AREA_OLD) {
			b->objects[kept++] = b->objects[i];
			continue;
		}
		to = is_full() ? 0 : lc_small_forwarded(addr, b->objects[i].class_word);
		if (to)
			lc_small_note_move(addr, to, b->objects[i].words);
		else if (is_lost(addr))
			lc_count(&lc_small.forgotten);
	}
	b->len = kept;
	if (!kept) {
		free(b->objects);
		*b = (struct lc_small_bucket){ 0 };
	}
}

struct lc_move *lc_small_end(size_t *len)
{
	struct lc_move *moves;
	uint64_t held = 0;

	if (lc_small.slid)
		lc_small_slide_take();
	if (lc_small_stuck_known())
		lc_small_stuck_take();
	for (size_t i = 0; i < lc_small.buckets_len && !lc_small.slid; i++)
		if (lc_small.buckets[i].len && ((lc_small_stuck_all()) || !untouched(i)))
			look_at_bucket(&lc_small.buckets[i]);
	for (size_t i = 0; i < lc_small.moves_len; i++)
		lc_small_hold(lc_small.moves[i].dst, lc_small.moves[i].size_bytes / 8);
	for (size_t i = 0; i < lc_small.buckets_len; i++)
		held += lc_small.buckets[i].len;
	if (lc_small.dropped) {
		lc_memory_refuse(LC_MEMORY_SMALL);
		lc_count(&lc_small.passes_limited);
	}
	lc_peek_end(lc_small.peek);
	moves = lc_small.moves;
	*len = lc_small.moves_len;
	lc_small.moves = NULL;
	lc_small.moves_len = lc_small.moves_cap = 0;
	atomic_fetch_add_explicit(&lc_small.moved, *len, memory_order_relaxed);
	atomic_store_explicit(&lc_small.held, held, memory_order_relaxed);
	atomic_fetch_add_explicit(&lc_small.pass_ns, lc_time_now_ns() - lc_small.begin_ns,
	                          memory_order_relaxed);
	return moves;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("small_moves", &lc_small.moved), /* found at their new place */
	/* Dropped since a collection left no trace. */
	LC_COUNTER("small_forgotten", &lc_small.forgotten),
	/* The same of objects made since the last collection, most of them dead. */
	LC_COUNTER("small_forgotten_new", &lc_small.forgotten_new),
	LC_COUNTER("small_held", &lc_small.held), /* looked at after each collection now */
	/* Pauses that left out objects, for want of memory. */
	LC_COUNTER("small_passes_limited", &lc_small.passes_limited),
	/* Not held after a collection, for want of memory. */
	LC_COUNTER("small_unheld", &lc_small.unheld),
	LC_COUNTER("small_pass_us", &lc_small.pass_ns, .unit = 1000),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
