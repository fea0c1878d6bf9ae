/*
 * gc/small.c - follows small objects through copying collections by their forwarding pointers.
 *
 * Survivors are held in buckets by place, so that those in old memory that was not collected cost
 * nothing. A forwarding pointer is believed only if it leads into an area that has objects, to an
 * object of the same class. Memory that the collection gave back is not touched: spaces and regions
 * begin and end at multiples of GRANULE_BYTES, and the kernel is asked once for each.
 */
#include "src/gc/small.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/area.h"
#include "src/core/counters.h"
#include "src/gc/moves.h"
#include "src/jvm/areas.h"
#include "src/jvm/peek.h"
#include "src/jvm/ranges.h"

#define GRANULE_BYTES (UINT64_C(64) << 10)

enum { MARK_FORWARDED = 3, SMALL_WORDS = LC_MOVE_INLINE_BYTES / 8, BUCKETS_MAX = 1 << 16 };

struct bucket {
	uint64_t *objects; /* address | words << 48 */
	size_t len, cap;
};

static struct {
	struct bucket *buckets;
	size_t buckets_len;
	uint64_t low, bucket_bytes;

	/* The running pass. */
	const struct lc_area *areas;
	size_t areas_len;
	bool class_word;
	size_t near;
	uint64_t granule; /* number + 1 of a granule that is known to be readable */
	uint64_t begin_ns;
	struct lc_move *moves;
	size_t moves_len, moves_cap;

	_Atomic uint64_t moved, forgotten, held, pass_ns;
} small;

/* The area that `addr` lies in, if `addr` is in the part with objects; else NULL. */
static const struct lc_area *area_of(uint64_t addr)
{
	const size_t i = lc_area_find_near(small.areas, small.areas_len, addr, &small.near);
	const struct lc_area *a = i < small.areas_len ? &small.areas[i] : NULL;

	return a && a->kind != LC_AREA_FREE && addr < a->top ? a : NULL;
}

static bool readable(uint64_t addr)
{
	uint64_t granule = addr / GRANULE_BYTES + 1, word;

	if (granule == small.granule)
		return true;
	if (!lc_peek(addr, &word, sizeof(word)))
		return false;
	small.granule = granule;
	return true;
}

void lc_small_forget(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < small.buckets_len; i++) {
		n += small.buckets[i].len;
		free(small.buckets[i].objects);
		small.buckets[i] = (struct bucket){ 0 };
	}
	atomic_fetch_add_explicit(&small.forgotten, n, memory_order_relaxed);
	atomic_store_explicit(&small.held, 0, memory_order_relaxed);
}

/* Make buckets for the whole reserved heap, once. */
static bool lay_out(void)
{
	const struct lc_range heap = lc_ranges_heap();

	if (small.buckets)
		return heap.low == small.low;
	if (heap.low >= heap.high)
		return false;
	small.bucket_bytes = GRANULE_BYTES;
	while ((heap.high - heap.low) / small.bucket_bytes >= BUCKETS_MAX)
		small.bucket_bytes *= 2;
	small.low = heap.low;
	small.buckets_len = (size_t)((heap.high - heap.low) / small.bucket_bytes + 1);
	small.buckets = calloc(small.buckets_len, sizeof(*small.buckets));
	return small.buckets;
}

bool lc_small_begin(const struct lc_area *areas, size_t len, bool class_word)
{
	bool slid = lc_areas_collections() > 1;

	for (size_t i = 0; i < len; i++)
		slid |= areas[i].flags & LC_AREA_COMPACTED;
	if (!lc_areas_collections() || !lay_out())
		return false;
	if (slid) {
		lc_small_forget();
		return false;
	}
	small.areas = areas;
	small.areas_len = len;
	small.class_word = class_word;
	small.near = 0;
	small.granule = 0;
	small.begin_ns = lc_time_now_ns();
	return true;
}

/* Hold the object that is at `addr` now, to look at it after later collections. */
static void hold(uint64_t addr, uint64_t words)
{
	uint64_t i = (addr - small.low) / small.bucket_bytes;
	struct bucket *b = &small.buckets[i < small.buckets_len ? i : small.buckets_len - 1];

	uint64_t *objects = lc_array_reserve(b->objects, &b->cap, b->len + 1, sizeof(*b->objects));

	/* Without memory the object is forgotten: the map drops it when its area is collected. */
	if (!objects)
		return;
	b->objects = objects;
	b->objects[b->len++] = addr | words << LC_ADDR_BITS;
}

/* Where the object at `addr` was moved to; 0 if it was not moved, or died. */
static uint64_t forwarded(uint64_t addr)
{
	uint64_t mark, to;

	if (!readable(addr))
		return 0;
	mark = lc_load64(addr);
	to = mark & ~UINT64_C(7);
	if ((mark & 3) != MARK_FORWARDED || to == addr || !area_of(to))
		return 0;
	if (small.class_word && (uint32_t)lc_load64(addr + 8) != (uint32_t)lc_load64(to + 8))
		return 0;
	return to;
}

static void note_move(uint64_t src, uint64_t dst, uint64_t words)
{
	struct lc_move *moves =
	    lc_array_reserve(small.moves, &small.moves_cap, small.moves_len + 1, sizeof(*moves));

	if (!moves)
		return;
	small.moves = moves;
	small.moves[small.moves_len++] = (struct lc_move){ src, dst, words * 8 };
}

void lc_small_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];
		uint64_t to;

		if (a->size_words > SMALL_WORDS || !a->site ||
		    (uint16_t)(tag - lc_alloc_epoch_tag(a)) > span)
			continue;
		to = forwarded(lc_alloc_addr(a));
		if (to)
			note_move(lc_alloc_addr(a), to, a->size_words);
	}
}

/* Does all of bucket `i` lie in old memory, which the collection left alone? */
static bool untouched(size_t i)
{
	uint64_t bottom = small.low + i * small.bucket_bytes;
	const struct lc_area *a = area_of(bottom);

	return a && a->kind == LC_AREA_OLD && a->end >= bottom + small.bucket_bytes;
}

/* Keep the objects of a bucket that stayed in old memory, and note where the others were moved. */
static void look_at_bucket(struct bucket *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->len; i++) {
		uint64_t addr = b->objects[i] & LC_ADDR_MASK;
		const struct lc_area *a = area_of(addr);
		uint64_t to;

		if (a && a->kind == LC_AREA_OLD) {
			b->objects[kept++] = b->objects[i];
			continue;
		}
		to = forwarded(addr);
		if (to)
			note_move(addr, to, b->objects[i] >> LC_ADDR_BITS);
	}
	b->len = kept;
	if (!kept) {
		free(b->objects);
		*b = (struct bucket){ 0 };
	}
}

struct lc_move *lc_small_end(size_t *len)
{
	struct lc_move *moves;
	uint64_t held = 0;

	for (size_t i = 0; i < small.buckets_len; i++)
		if (small.buckets[i].len && !untouched(i))
			look_at_bucket(&small.buckets[i]);
	for (size_t i = 0; i < small.moves_len; i++)
		hold(small.moves[i].dst, small.moves[i].size_bytes / 8);
	for (size_t i = 0; i < small.buckets_len; i++)
		held += small.buckets[i].len;
	moves = small.moves;
	*len = small.moves_len;
	small.moves = NULL;
	small.moves_len = small.moves_cap = 0;
	atomic_fetch_add_explicit(&small.moved, *len, memory_order_relaxed);
	atomic_store_explicit(&small.held, held, memory_order_relaxed);
	atomic_fetch_add_explicit(&small.pass_ns, lc_time_now_ns() - small.begin_ns,
	                          memory_order_relaxed);
	return moves;
}

void lc_small_stats(struct lc_small_stats *out)
{
	out->moved = atomic_load_explicit(&small.moved, memory_order_relaxed);
	out->forgotten = atomic_load_explicit(&small.forgotten, memory_order_relaxed);
	out->held = atomic_load_explicit(&small.held, memory_order_relaxed);
	out->pass_ns = atomic_load_explicit(&small.pass_ns, memory_order_relaxed);
}

static const struct lc_counter_row counter_rows[] = {
	LC_COUNTER(struct lc_small_stats, moved, "small_moves"),
	LC_COUNTER(struct lc_small_stats, forgotten, "small_forgotten"),
	LC_COUNTER(struct lc_small_stats, held, "small_held"),
	LC_COUNTER_US(struct lc_small_stats, pass_ns, "small_pass_us"),
};

void lc_small_counters(struct lc_counters *out)
{
	struct lc_small_stats s = { 0 };

	lc_small_stats(&s);
	LC_COUNTERS_ADD(out, counter_rows, &s);
}
