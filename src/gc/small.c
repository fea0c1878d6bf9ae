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

#include "src/base/hash.h"
#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/area.h"
#include "src/core/counters.h"
#include "src/gc/moves.h"
#include "src/jvm/areas.h"
#include "src/jvm/header.h"
#include "src/jvm/layout.h"
#include "src/jvm/peek.h"
#include "src/jvm/ranges.h"

#define GRANULE_BYTES (UINT64_C(64) << 10)

enum {
	MARK_FORWARDED = 3,
	SAMPLE_MAX = 8192, /* objects whose headers are read at the end of each phase */
};
enum { SMALL_WORDS = LC_MOVE_INLINE_BYTES / 8, BUCKETS_MAX = 1 << 16 };

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

	bool slid;        /* what was found ahead tells where the objects are */
	uint64_t *lowest; /* by area, where `slid`: the lowest place to which an object slid */

	_Atomic uint64_t moved, forgotten, held, pass_ns;
} small;

/* What was found before a collection slid anything. */
static struct {
	bool emptied, found, sampled_held;
	struct lc_area areas[4]; /* where `emptied` */
	size_t areas_len;
	uint64_t *sample; /* address | words << 48 */
	size_t sample_len;
	uint32_t stride, skip; /* one in so many is chosen; so many until the next */
	uint64_t signature;    /* of what the sample's headers said when all were looked at */
	struct lc_move *moves;
	uint32_t *classes; /* low halves of the class words, by move */
	size_t len, moves_cap, classes_cap;
} ahead;

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

/*
 * Where objects slid, they are in the order in which they were: from the lowest place in an area to
 * which one slid, none stayed. Returns false without memory.
 */
static bool note_lowest(void)
{
	small.lowest = malloc((small.areas_len + 1) * sizeof(*small.lowest));
	if (!small.lowest)
		return false;
	for (size_t i = 0; i < small.areas_len; i++)
		small.lowest[i] = UINT64_MAX;
	for (size_t i = 0; i < ahead.len; i++) {
		uint64_t dst = ahead.moves[i].dst;
		size_t a = lc_area_find_near(small.areas, small.areas_len, dst, &small.near);

		if (a < small.areas_len && dst < small.lowest[a])
			small.lowest[a] = dst;
	}
	return true;
}

bool lc_small_begin(const struct lc_area *areas, size_t len, bool class_word)
{
	bool slid = lc_areas_collections() > 1;

	small.slid = false;
	for (size_t i = 0; i < len; i++)
		slid |= areas[i].flags & LC_AREA_COMPACTED;
	if (!lc_areas_collections() || !lay_out())
		return false;
	small.areas = areas;
	small.areas_len = len;
	small.near = 0;
	small.granule = 0;
	/* A second full collection would have slid them once more. */
	small.slid =
	    slid && ahead.found && lc_moves_slid() && lc_areas_full() == 1 && note_lowest();
	if (slid && !small.slid) {
		lc_small_forget();
		return false;
	}
	small.class_word = class_word;
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

static bool is_looked_at(const struct lc_alloc *a, uint16_t tag, uint16_t span)
{
	return a->size_words <= SMALL_WORDS && a->site &&
	       (uint16_t)(tag - lc_alloc_epoch_tag(a)) <= span;
}

/* May the object at `addr` have stayed there, where others slid? */
static bool stayed(uint64_t addr)
{
	const struct lc_area *a = area_of(addr);

	return a && addr < small.lowest[a - small.areas];
}

void lc_small_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];
		uint64_t to;

		if (!is_looked_at(a, tag, span))
			continue;
		if (small.slid) {
			if (stayed(lc_alloc_addr(a)))
				hold(lc_alloc_addr(a), a->size_words);
			continue;
		}
		to = forwarded(lc_alloc_addr(a));
		if (to)
			note_move(lc_alloc_addr(a), to, a->size_words);
	}
}

/* ---- sliding collections ---- */

/* Where the header at `addr` says that the object will slide; 0: it does not say. */
static uint64_t slides_to(uint64_t addr)
{
	uint64_t to;

	if (!readable(addr))
		return 0;
	to = lc_header_slides_to(lc_layout(), small.low, lc_load64(addr));
	return to && to != addr && to >= small.low &&
	               (to - small.low) / small.bucket_bytes < small.buckets_len
	           ? to
	           : 0;
}

/* Where the object at `addr` lies now, before anything slides; 0 if it is dead. */
static uint64_t place_now(uint64_t addr)
{
	size_t i =
	    ahead.emptied ? lc_area_find(ahead.areas, ahead.areas_len, addr) : ahead.areas_len;
	uint64_t to;

	if (i == ahead.areas_len || ahead.areas[i].kind == LC_AREA_OLD)
		return addr;
	/* By the young collection of the same pause, which JDK 17 alone has. */
	to = readable(addr) ? lc_load64(addr) : 0;
	if ((to & 3) != MARK_FORWARDED)
		return 0;
	to &= ~UINT64_C(7);
	if (to < small.low || (to - small.low) / small.bucket_bytes >= small.buckets_len)
		return 0;
	return readable(to) && (uint32_t)lc_load64(addr + 8) == (uint32_t)lc_load64(to + 8) ? to
	                                                                                    : 0;
}

bool lc_small_ahead_begin(const struct lc_area *areas, size_t len, bool emptied)
{
	ahead.areas_len = 0;
	ahead.emptied = emptied && len <= sizeof(ahead.areas) / sizeof(ahead.areas[0]);
	if (ahead.emptied) {
		memcpy(ahead.areas, areas, len * sizeof(*areas));
		ahead.areas_len = len;
	}
	small.granule = 0;
	if (!lay_out())
		return false;
	if (!ahead.sample)
		ahead.sample = malloc(SAMPLE_MAX * sizeof(*ahead.sample));
	return ahead.sample && !ahead.sample_len;
}

/* Choose one in `stride`; where there is no room, drop every other and double the stride. */
static void choose(uint64_t object)
{
	if (ahead.skip) {
		ahead.skip--;
		return;
	}
	if (ahead.sample_len == SAMPLE_MAX) {
		for (size_t i = 0; i < SAMPLE_MAX / 2; i++)
			ahead.sample[i] = ahead.sample[2 * i];
		ahead.sample_len = SAMPLE_MAX / 2;
		ahead.stride *= 2;
	}
	ahead.sample[ahead.sample_len++] = object;
	ahead.skip = ahead.stride - 1;
}

void lc_small_ahead_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++)
		if (is_looked_at(&records[i], tag, span))
			choose(lc_alloc_addr(&records[i]));
}

static void look_ahead(uint64_t addr, uint64_t words)
{
	uint64_t at = place_now(addr), to = at ? slides_to(at) : 0;
	struct lc_move *moves;
	uint32_t *classes;

	if (!to)
		to = at;
	if (!to || to == addr)
		return; /* it is dead, or stays */
	moves = lc_array_reserve(ahead.moves, &ahead.moves_cap, ahead.len + 1, sizeof(*moves));
	if (moves)
		ahead.moves = moves;
	classes =
	    lc_array_reserve(ahead.classes, &ahead.classes_cap, ahead.len + 1, sizeof(*classes));
	if (classes)
		ahead.classes = classes;
	if (!moves || !classes)
		return; /* without memory it is forgotten */
	classes[ahead.len] = lc_header_class_of(lc_layout(), at);
	moves[ahead.len++] = (struct lc_move){ addr, to, words * 8 };
}

/* What the headers of the sample say; 0: nothing. */
static uint64_t read_sample(void)
{
	uint64_t signature = 0;

	for (size_t i = 0; i < ahead.sample_len; i++) {
		uint64_t at = place_now(ahead.sample[i] & LC_ADDR_MASK);
		uint64_t to = at ? slides_to(at) : 0;

		if (to)
			signature += lc_hash(at ^ to << 20) | 1;
	}
	return signature;
}

bool lc_small_ahead_changed(void)
{
	uint64_t signature;

	if (!ahead.sample)
		return false;
	if (!ahead.sampled_held) {
		ahead.sampled_held = true;
		for (size_t i = 0; i < small.buckets_len; i++)
			for (size_t j = 0; j < small.buckets[i].len; j++)
				choose(small.buckets[i].objects[j]);
	}
	signature = read_sample();
	if (signature == ahead.signature)
		return false;
	ahead.signature = signature;
	ahead.len = 0;
	ahead.found = true;
	for (size_t i = 0; i < small.buckets_len; i++)
		for (size_t j = 0; j < small.buckets[i].len; j++)
			look_ahead(small.buckets[i].objects[j] & LC_ADDR_MASK,
			           small.buckets[i].objects[j] >> LC_ADDR_BITS);
	return true;
}

void lc_small_ahead_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++)
		if (is_looked_at(&records[i], tag, span))
			look_ahead(lc_alloc_addr(&records[i]), records[i].size_words);
}

void lc_small_ahead_forget(void)
{
	free(ahead.sample);
	free(ahead.moves);
	free(ahead.classes);
	memset(&ahead, 0, sizeof(ahead));
	ahead.stride = 1;
}

bool lc_small_slid(void)
{
	return small.slid;
}

/* Hold what stayed, and note what slid and is of its class at its new place. */
static void take_slid(void)
{
	for (size_t i = 0; i < small.buckets_len; i++) {
		struct bucket *b = &small.buckets[i];
		size_t kept = 0;

		for (size_t j = 0; j < b->len; j++)
			if (stayed(b->objects[j] & LC_ADDR_MASK))
				b->objects[kept++] = b->objects[j];
		b->len = kept;
	}
	for (size_t i = 0; i < ahead.len; i++) {
		const struct lc_move *m = &ahead.moves[i];

		if (area_of(m->dst) && readable(m->dst) &&
		    lc_header_class_of(lc_layout(), m->dst) == ahead.classes[i])
			note_move(m->src, m->dst, m->size_bytes / 8);
	}
	free(small.lowest);
	small.lowest = NULL;
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

	if (small.slid)
		take_slid();
	for (size_t i = 0; i < small.buckets_len && !small.slid; i++)
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
