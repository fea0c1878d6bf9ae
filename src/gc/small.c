/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/small.c - follows small objects through collections, by forwarding pointers or by the tables
 * of a collector that slides without them.
 *
 * This file is longer than 600 lines, because the looks during a collection and the look after it
 * share the objects.
 *
 * Survivors are held in buckets by address, so that those in old memory that was not collected cost
 * nothing. A forwarding pointer is believed only if it leads into an area that has objects, to an
 * object of the same class. A held object may be dead, and its memory part of another object, whose
 * fields may look like a new address. So the header of a held object is believed only while it has
 * the object's class. Memory that the collection gave back is not touched: spaces and regions
 * begin and end at multiples of GRANULE_BYTES, and the kernel is asked once for each granule.
 * Tables are believed only if every object arrives at the address that they give.
 *
 * An evacuation that cannot move all objects clears the headers that say so before it ends. HotSpot
 * reads clocks on the thread that posts the events when its workers have evacuated, and again just
 * before it clears these headers. So the objects in question are looked at there.
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
#include "src/core/memory.h"
#include "src/gc/landmarks.h"
#include "src/gc/moves.h"
#include "src/gc/site_classes.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/mark_tables.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"

#define GRANULE_BYTES (UINT64_C(64) << 10)

enum {
	HEADER_BYTES = 16, /* mark and class: no object is smaller */
	MARK_FORWARDED = 3,
	/* Size of the samples that are read in each phase: one of new objects, few of which live,
	 * one of survivors. One more survivor of each bucket is read. */
	SAMPLE_MAX = 8192,
	/* Memory for a move until its epoch is closed, here and in heap/map_close.c. */
	MOVE_BYTES = 256,
	/* Each object found in a pause takes a share of the memory limit: a limit of 256 MB allows
	 * half a million objects in one pause. */
	PAUSE_BYTES = 512,
};
enum { SMALL_WORDS = LC_MOVE_INLINE_BYTES / 8, BUCKETS_MAX = 1 << 16 };

/* A tracked object, in 12 bytes. */
struct small_object {
	uint32_t low; /* address, lower half */
	uint16_t high, words;
	uint32_t class_word; /* lc_header_class_of(); 0: a new object, whose header is its own */
};

struct bucket {
	struct small_object *objects;
	size_t len, cap;
	size_t top; /* index of the object at the highest address, during a look ahead */
};

static struct {
	struct bucket *buckets;
	size_t buckets_len;
	uint64_t low, bucket_bytes;
	uint64_t *granules; /* one bit each: found readable in this pass */
	size_t granules_len;

	/* The running pass. */
	const struct lc_area *areas;
	size_t areas_len;
	bool class_word;
	size_t near;
	uint64_t begin_ns;
	struct lc_move *moves;
	size_t moves_len, moves_cap;
	size_t moves_max; /* upper limit of `moves_len` in the running pass */
	bool dropped;     /* there was no room for an object in this pass */
	/* The look ahead has found addresses in headers before, so it comes at the right moment. */
	bool proved;
	/* An object of the map is not held: after a slide its address is unknown. */
	bool holes;

	bool slid;        /* objects slid, and the look ahead knows their addresses */
	uint64_t *lowest; /* by area, if `slid`: the lowest address to which an object slid */

	_Atomic uint64_t moved, forgotten, forgotten_new, held, pass_ns, unheld, passes_limited;
} small;

/* A sample of many objects. */
struct sample {
	struct small_object *objects; /* room for SAMPLE_MAX */
	size_t len;
	unsigned halvings; /* one object in 2^halvings is chosen, by a hash of its address */
};

/* Results of the look ahead, before a collection slides objects. */
static struct {
	bool emptied, found, sampled_held;
	bool looked;             /* at least once before the slide */
	bool unsaid;             /* the new address of an object is unknown */
	struct lc_area areas[4]; /* if `emptied` */
	size_t areas_len;
	struct sample records, survivors;
	uint64_t signature; /* of the samples' new addresses at the last look at all objects */
	size_t said;        /* how many objects of the samples had one then */
	bool fewer;         /* later, some of them had none */
	uint64_t landmarks; /* of the last look at all objects; 0: there were none */
	bool blind;         /* no memory for the classes of new objects */
	struct lc_move *moves;
	uint32_t *classes; /* low halves of the class words, by move */
	size_t len, max, moves_cap, classes_cap;
} ahead;

/*
 * Areas out of which an evacuation may be unable to move all objects (lc_areas_stuck()). The looks
 * at their objects use `ahead`; a move to its own place stands for an object that stays.
 */
static struct {
	struct lc_area *areas; /* as they were before the evacuation ended */
	size_t areas_len, areas_cap;
	uint64_t which; /* a hash of which they are; 0: there are none */
	bool all;       /* these are all areas, old ones too */
	bool sampled;   /* the sample is chosen */
	bool class_word;
	bool known; /* valid in a pass: `ahead` has each object that moved or stayed there */
	/* A look has found forwarding pointers before, so looks come at the right moment. */
	bool proved;
	size_t near;
	uint64_t regions; /* lc_areas_stuck(): changes when the collector copies objects */
	/* The fullest look before the last one. When the evacuation ends, marks vanish. */
	struct lc_move *moves;
	uint32_t *classes;
	size_t len;
	bool unsaid;
} stuck;

static uint64_t addr_of(struct small_object o)
{
	return o.low | (uint64_t)o.high << 32;
}

static struct small_object object_at(uint64_t addr, uint64_t words, uint32_t class_word)
{
	return (struct small_object){ (uint32_t)addr, (uint16_t)(addr >> 32), (uint16_t)words,
		                      class_word };
}

/* The area that `addr` lies in, if `addr` is in the part with objects; else NULL. */
static const struct lc_area *area_of(uint64_t addr)
{
	const size_t i = lc_area_find_near(small.areas, small.areas_len, addr, &small.near);
	const struct lc_area *a = i < small.areas_len ? &small.areas[i] : NULL;

	return a && a->kind != LC_AREA_FREE && addr < a->top ? a : NULL;
}

static bool granule_readable(uint64_t addr)
{
	const uint64_t i = (addr - small.low) / GRANULE_BYTES; /* below low: huge */
	uint64_t word;

	if (i < small.granules_len && small.granules[i / 64] >> i % 64 & 1)
		return true;
	if (!lc_peek(addr, &word, sizeof(word)))
		return false;
	if (i < small.granules_len)
		small.granules[i / 64] |= UINT64_C(1) << i % 64;
	return true;
}

/* Can the header at `addr` be read? It may lie across two granules. */
static bool readable(uint64_t addr)
{
	return granule_readable(addr) &&
	       ((addr - small.low) % GRANULE_BYTES <= GRANULE_BYTES - HEADER_BYTES ||
	        granule_readable(addr + HEADER_BYTES - 1));
}

/* The JVM may have given memory back since the last pass. */
static void forget_granules(void)
{
	memset(small.granules, 0, (small.granules_len + 63) / 64 * sizeof(*small.granules));
}

void lc_small_forget(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < small.buckets_len; i++) {
		n += small.buckets[i].len;
		free(small.buckets[i].objects);
		small.buckets[i] = (struct bucket){ 0 };
	}
	small.holes = false;
	atomic_fetch_add_explicit(&small.forgotten, n, memory_order_relaxed);
	atomic_store_explicit(&small.held, 0, memory_order_relaxed);
}

/* The largest number of objects to find in a pause. It bounds the pause's length and memory. */
static size_t moves_max(void)
{
	const uint64_t room = lc_memory_room(LC_MEMORY_SMALL) / MOVE_BYTES;
	const uint64_t pause = lc_memory_limited_to() / PAUSE_BYTES;

	return (size_t)(room < pause ? room : pause);
}

/* Make buckets and granules for the whole reserved heap, once. */
static bool lay_out(void)
{
	const struct lc_range heap = lc_ranges_heap();

	if (small.buckets)
		return heap.low == small.low;
	if (heap.low >= heap.high)
		return false;
	small.low = heap.low;
	small.granules_len = (size_t)((heap.high - heap.low) / GRANULE_BYTES + 1);
	free(small.granules); /* left by a call that ran out of memory */
	small.granules = calloc((small.granules_len + 63) / 64, sizeof(*small.granules));
	if (!small.granules)
		return false;
	small.bucket_bytes = GRANULE_BYTES;
	while ((heap.high - heap.low) / small.bucket_bytes >= BUCKETS_MAX)
		small.bucket_bytes *= 2;
	small.buckets_len = (size_t)((heap.high - heap.low) / small.bucket_bytes + 1);
	small.buckets = calloc(small.buckets_len, sizeof(*small.buckets));
	return small.buckets;
}

/*
 * Sliding keeps the order of objects: in an area, no object stays above the lowest address to which
 * one slid. Returns false without memory.
 */
static bool note_lowest(void)
{
	small.lowest = malloc((small.areas_len + 1) * sizeof(*small.lowest));
	if (!small.lowest)
		return false;
	for (size_t i = 0; i < small.areas_len; i++)
		small.lowest[i] = UINT64_MAX;
	for (size_t i = 0; i < ahead.len; i++) {
		const uint64_t dst = ahead.moves[i].dst;
		const size_t a = lc_area_find_near(small.areas, small.areas_len, dst, &small.near);

		if (a < small.areas_len && dst < small.lowest[a])
			small.lowest[a] = dst;
	}
	return true;
}

/*
 * Are the new addresses of all objects known after a full collection? Not after a second one, which
 * slides them again. Headers without new addresses prove that nothing slid: in each region the
 * objects that move are the upper ones, so the topmost header of each bucket would show it. Without
 * a memmove, the last look may have come when some objects had slid.
 */
static bool knows_slides(void)
{
	if (lc_areas_full() != 1 || ahead.unsaid || ahead.blind || small.holes)
		return false;
	if (lc_mark_tables_known())
		return ahead.found;
	if (lc_moves_slid())
		return ahead.said || (ahead.looked && small.proved);
	return ahead.looked && !ahead.fewer;
}

/* Is the object of that move at its new place? */
static bool has_arrived(size_t i)
{
	const uint64_t dst = ahead.moves[i].dst;

	return area_of(dst) && readable(dst) &&
	       lc_header_class_of(lc_layout(), dst) == ahead.classes[i];
}

/*
 * Drop the moves of objects that are not at their new address. One header may be misread, but the
 * tables are right for all objects or for none: returns false if they are wrong.
 */
static bool keep_arrived(void)
{
	const size_t len = ahead.len;
	size_t arrived = 0;

	for (size_t i = 0; i < len; i++)
		if (has_arrived(i))
			ahead.moves[arrived++] = ahead.moves[i];
	if (lc_mark_tables_known() && arrived < len)
		return false;
	ahead.len = arrived;
	small.proved |= arrived > 0;
	atomic_fetch_add_explicit(&small.forgotten, len - arrived, memory_order_relaxed);
	return true;
}

void lc_small_prove(const struct lc_move_batch *slides)
{
	if (!small.proved && ahead.landmarks)
		small.proved = lc_moves_any_slide(slides, lc_landmarks_has);
}

static const struct lc_area *stuck_area(uint64_t addr);
static bool knows_stuck(void);

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
	forget_granules();
	stuck.known = !slid && knows_stuck();
	small.slid = slid && knows_slides() && keep_arrived() && note_lowest();
	if (slid && !small.slid) {
		lc_small_forget();
		return false;
	}
	small.moves_max = moves_max();
	small.dropped = false;
	small.class_word = class_word;
	small.begin_ns = lc_time_now_ns();
	return true;
}

/* Does an object of the class begin at `addr`? 0 stands for any class. */
static bool is_of_class(uint64_t addr, uint32_t class_word)
{
	return readable(addr) &&
	       (!class_word || lc_header_class_of(lc_layout(), addr) == class_word);
}

/* Hold the object that is at `addr` now, to look at it after later collections. */
static void hold(uint64_t addr, uint64_t words)
{
	uint64_t i = (addr - small.low) / small.bucket_bytes;
	struct bucket *b = &small.buckets[i < small.buckets_len ? i : small.buckets_len - 1];
	struct small_object *objects = NULL;

	if (b->len < b->cap || lc_memory_room(LC_MEMORY_SMALL) > b->cap * sizeof(*objects))
		objects =
		    lc_vector_reserve_array(b->objects, &b->cap, b->len + 1, sizeof(*b->objects));
	/* Without memory the object is forgotten: the map drops it when its area is collected. */
	if (!objects) {
		small.dropped = small.holes = true;
		atomic_fetch_add_explicit(&small.unheld, 1, memory_order_relaxed);
		return;
	}
	b->objects = objects;
	b->objects[b->len++] = object_at(addr, words, lc_header_class_of(lc_layout(), addr));
}

/*
 * The new address of the object at `addr`, which is of that class; 0 if it was not moved, or died.
 */
static uint64_t forwarded(uint64_t addr, uint32_t class_word)
{
	const struct lc_area *area;
	uint64_t mark, to;

	if (!readable(addr))
		return 0;
	mark = lc_peek_load64(addr);
	to = mark & ~UINT64_C(7);
	area = (mark & 3) == MARK_FORWARDED && to != addr ? area_of(to) : NULL;
	if (!area || area->top - to < HEADER_BYTES)
		return 0;
	if (small.class_word &&
	    (uint32_t)lc_peek_load64(addr + 8) != (uint32_t)lc_peek_load64(to + 8))
		return 0;
	return !class_word || lc_header_class_of(lc_layout(), to) == class_word ? to : 0;
}

static void note_move(uint64_t src, uint64_t dst, uint64_t words)
{
	struct lc_move *moves = NULL;

	if (small.moves_len < small.moves_max)
		moves = lc_vector_reserve_array(small.moves, &small.moves_cap, small.moves_len + 1,
		                                sizeof(*moves));
	if (!moves) {
		small.dropped = true;
		return;
	}
	small.moves = moves;
	small.moves[small.moves_len++] = (struct lc_move){ src, dst, words * 8 };
}

static bool is_looked_at(const struct lc_alloc *a, uint16_t tag, uint16_t span)
{
	return a->size_words <= SMALL_WORDS && a->site &&
	       (uint16_t)(tag - lc_alloc_epoch_tag(a)) <= span;
}

void lc_small_forget_new(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += is_looked_at(&records[i], tag, span);
	atomic_fetch_add_explicit(&small.forgotten_new, n, memory_order_relaxed);
}

/* Is the pass at its limit? Objects that it does not look at are forgotten. */
static bool is_full(void)
{
	small.dropped |= small.moves_len == small.moves_max;
	return small.moves_len == small.moves_max;
}

/* May the object at `addr` have stayed while others slid? */
static bool stayed(uint64_t addr)
{
	const struct lc_area *a = area_of(addr);

	return a && addr < small.lowest[a - small.areas];
}

/* Is the object of the record at its address, after others slid? */
static bool is_still_there(const struct lc_alloc *a)
{
	const uint64_t addr = lc_alloc_addr(a);

	return readable(addr) &&
	       lc_site_classes_has(a->site, lc_header_class_of(lc_layout(), addr));
}

void lc_small_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];
		uint64_t to;

		if (!is_looked_at(a, tag, span))
			continue;
		if (small.slid) {
			if (stayed(lc_alloc_addr(a)) && is_still_there(a))
				hold(lc_alloc_addr(a), a->size_words);
			continue;
		}
		if (is_full())
			return;
		if (stuck.known && stuck_area(lc_alloc_addr(a)))
			continue;
		to = forwarded(lc_alloc_addr(a), 0);
		if (to)
			note_move(lc_alloc_addr(a), to, a->size_words);
	}
}

/* ---- sliding collections ---- */

/* The new address in the header of the object at `addr`; 0: there is none. */
static uint64_t slides_to(uint64_t addr)
{
	uint64_t to;

	if (!readable(addr))
		return 0;
	to = lc_header_slides_to(lc_layout(), small.low, lc_peek_load64(addr));
	return to && to != addr && to >= small.low &&
	               (to - small.low) / small.bucket_bytes < small.buckets_len
	           ? to
	           : 0;
}

/* The current address of the object at `addr`, before anything slides; 0 if it is dead. */
static uint64_t place_now(uint64_t addr)
{
	size_t i =
	    ahead.emptied ? lc_area_find(ahead.areas, ahead.areas_len, addr) : ahead.areas_len;
	uint64_t to;

	if (i == ahead.areas_len || ahead.areas[i].kind == LC_AREA_OLD)
		return addr;
	/* A young collection of the same pause moved it; only JDK 17 has these. */
	to = readable(addr) ? lc_peek_load64(addr) : 0;
	if ((to & 3) != MARK_FORWARDED)
		return 0;
	to &= ~UINT64_C(7);
	if (to < small.low || (to - small.low) / small.bucket_bytes >= small.buckets_len)
		return 0;
	return readable(to) &&
	               (uint32_t)lc_peek_load64(addr + 8) == (uint32_t)lc_peek_load64(to + 8)
	           ? to
	           : 0;
}

static bool make_sample(struct sample *s)
{
	if (!s->objects) {
		s->objects = malloc(SAMPLE_MAX * sizeof(*s->objects));
		s->halvings = 0;
	}
	return s->objects;
}

bool lc_small_ahead_begin(const struct lc_area *areas, size_t len, bool emptied)
{
	ahead.areas_len = 0;
	ahead.emptied = emptied && len <= sizeof(ahead.areas) / sizeof(ahead.areas[0]);
	if (ahead.emptied) {
		memcpy(ahead.areas, areas, len * sizeof(*areas));
		ahead.areas_len = len;
	}
	if (!lay_out())
		return false;
	forget_granules();
	return make_sample(&ahead.survivors) && make_sample(&ahead.records) && !ahead.records.len;
}

/* Is the object still chosen after so many halvings? */
static bool is_chosen(struct small_object o, unsigned halvings)
{
	return !(lc_hash(addr_of(o) >> 3) >> 32 & ((UINT64_C(1) << halvings) - 1));
}

/*
 * Choose the object for the sample, if the hash of its address says so. Each n-th object would not
 * do: programs make and keep objects at regular intervals. If the sample is full, drop half of it.
 */
static void choose(struct sample *s, struct small_object object)
{
	if (!is_chosen(object, s->halvings))
		return;
	while (s->len == SAMPLE_MAX && s->halvings < 31) {
		size_t kept = 0;

		s->halvings++;
		for (size_t i = 0; i < s->len; i++)
			if (is_chosen(s->objects[i], s->halvings))
				s->objects[kept++] = s->objects[i];
		s->len = kept;
	}
	if (s->len < SAMPLE_MAX && is_chosen(object, s->halvings))
		s->objects[s->len++] = object;
}

/* The current address of the object, before anything slides; 0 if it is dead. */
static uint64_t find_now(struct small_object o)
{
	const uint64_t at = place_now(addr_of(o));

	return at && is_of_class(at, o.class_word) ? at : 0;
}

void lc_small_ahead_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];
		const struct small_object o = object_at(lc_alloc_addr(a), a->size_words, 0);
		uint64_t at;

		if (!is_looked_at(a, tag, span))
			continue;
		choose(&ahead.records, o);
		at = find_now(o);
		if (at && !lc_site_classes_add(a->site, lc_header_class_of(lc_layout(), at)))
			ahead.blind = true; /* no room: forget all */
	}
}

/* The object's address after the slide: `at` if its header has no other; 0 if it dies or is
 * unknown. */
static uint64_t place_then(uint64_t at)
{
	uint64_t to;

	if (!lc_mark_tables_known()) {
		to = slides_to(at);
		return to ? to : at;
	}
	switch (lc_mark_tables_find(at, &to)) {
	case LC_MARK_LIVES:
		return to;
	case LC_MARK_UNSAID:
		ahead.unsaid = true;
		break;
	default:
		break;
	}
	return 0;
}

/* Note that the object of that class goes from `addr` to `to`. */
static void note_ahead(uint64_t addr, uint64_t to, uint64_t words, uint32_t class_word)
{
	struct lc_move *moves;
	uint32_t *classes;

	moves = ahead.len < ahead.max ? lc_vector_reserve_array(ahead.moves, &ahead.moves_cap,
	                                                        ahead.len + 1, sizeof(*moves))
	                              : NULL;
	if (moves)
		ahead.moves = moves;
	classes = lc_vector_reserve_array(ahead.classes, &ahead.classes_cap, ahead.len + 1,
	                                  sizeof(*classes));
	if (classes)
		ahead.classes = classes;
	if (!moves || !classes) {
		ahead.unsaid = true; /* no room: forget all */
		return;
	}
	classes[ahead.len] = class_word;
	moves[ahead.len++] = (struct lc_move){ addr, to, words * 8 };
}

/* Look at the object, which was at `addr` when the pause began and is at `at`; 0: it is dead. */
static void look_ahead(uint64_t addr, uint64_t at, uint64_t words)
{
	/* One unknown object spoils the look, so skip the rest. */
	const uint64_t to = at && !ahead.unsaid ? place_then(at) : 0;

	if (to && to != addr) /* else it is dead, or stays */
		note_ahead(addr, to, words, lc_header_class_of(lc_layout(), at));
}

/* A hash of the collector's data about the object at `at`; 0: there is none yet. */
static uint64_t said_of(uint64_t at)
{
	uint64_t to = 0;

	if (!lc_mark_tables_known())
		to = slides_to(at);
	else if (lc_mark_tables_find(at, &to) == LC_MARK_DEAD)
		to = 1;
	if (to == small.low && lc_collector() == LC_GC_SERIAL)
		return 0; /* it is marked, see lc_header_slides_to() */
	return to ? lc_hash(at ^ to << 20) | 1 : 0;
}

/* Add the hash of an object, and count it if it is not 0. */
static void read_object(struct small_object o, uint64_t *signature, size_t *said)
{
	const uint64_t at = find_now(o), hash = at ? said_of(at) : 0;

	*signature += hash;
	*said += hash != 0;
}

static void read_sample(const struct sample *s, uint64_t *signature, size_t *said)
{
	for (size_t i = 0; i < s->len; i++)
		read_object(s->objects[i], signature, said);
}

static void sample_held(void)
{
	for (size_t i = 0; i < small.buckets_len; i++) {
		struct bucket *b = &small.buckets[i];
		size_t top = 0;

		for (size_t j = 0; j < b->len; j++) {
			choose(&ahead.survivors, b->objects[j]);
			if (addr_of(b->objects[j]) > addr_of(b->objects[top]))
				top = j;
		}
		b->top = top;
	}
}

/* Read the topmost object of each bucket. */
static void read_tops(uint64_t *signature, size_t *said)
{
	for (size_t i = 0; i < small.buckets_len; i++)
		if (small.buckets[i].len)
			read_object(small.buckets[i].objects[small.buckets[i].top], signature,
			            said);
}

bool lc_small_ahead_changed(void)
{
	uint64_t signature = 0, landmarks = 0;
	size_t said = 0;

	if (!ahead.records.objects)
		return false;
	if (!ahead.sampled_held) {
		ahead.sampled_held = true;
		sample_held();
	}
	ahead.looked = true;
	read_tops(&signature, &said);
	read_sample(&ahead.survivors, &signature, &said);
	read_sample(&ahead.records, &signature, &said);
	if (!said && !ahead.said && !lc_mark_tables_known())
		signature = landmarks = lc_landmarks_look();
	if (signature == ahead.signature)
		return false;
	/* Headers or tables are cleared: all objects have slid, none of them by memmove. */
	if (!said && ahead.said)
		return false;
	ahead.fewer |= said < ahead.said;
	ahead.signature = signature;
	ahead.said = said;
	ahead.landmarks = landmarks;
	ahead.len = 0;
	ahead.max = moves_max();
	ahead.unsaid = small.holes;
	ahead.found = true;
	for (size_t i = 0; i < small.buckets_len; i++)
		for (size_t j = 0; j < small.buckets[i].len; j++) {
			const struct small_object o = small.buckets[i].objects[j];

			look_ahead(addr_of(o), find_now(o), o.words);
		}
	return true;
}

void lc_small_ahead_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];

		if (is_looked_at(a, tag, span))
			look_ahead(lc_alloc_addr(a), find_now(object_at(lc_alloc_addr(a), 0, 0)),
			           a->size_words);
	}
}

void lc_small_ahead_forget(void)
{
	lc_mark_tables_forget();
	lc_site_classes_forget();
	lc_landmarks_forget();
	free(ahead.records.objects);
	free(ahead.survivors.objects);
	free(ahead.moves);
	free(ahead.classes);
	memset(&ahead, 0, sizeof(ahead));
	free(stuck.moves);
	free(stuck.classes);
	stuck.moves = NULL;
	stuck.classes = NULL;
	stuck.areas_len = stuck.len = 0;
	stuck.which = 0;
	stuck.all = stuck.sampled = stuck.known = stuck.unsaid = false;
}

bool lc_small_ahead_found(void)
{
	return ahead.found;
}

bool lc_small_slid(void)
{
	return small.slid;
}

/* ---- evacuations that leave objects where they are ---- */

/* The area of those that may keep objects in which `addr` lies, or NULL. */
static const struct lc_area *stuck_area(uint64_t addr)
{
	size_t i;

	if (!stuck.areas)
		return NULL;
	i = lc_area_find_near(stuck.areas, stuck.areas_len, addr, &stuck.near);
	return i < stuck.areas_len ? &stuck.areas[i] : NULL;
}

/* lc_areas_stuck() into `stuck.areas`, which grows if need be. */
static size_t take_stuck_areas(bool *all)
{
	size_t len = lc_areas_stuck(stuck.areas, stuck.areas_cap, all, &stuck.regions);

	if (len <= stuck.areas_cap)
		return len;
	free(stuck.areas);
	stuck.areas_cap = len * 2;
	stuck.areas = malloc(stuck.areas_cap * sizeof(*stuck.areas));
	if (stuck.areas)
		return lc_areas_stuck(stuck.areas, stuck.areas_cap, all, &stuck.regions);
	stuck.areas_cap = 0;
	return 0;
}

bool lc_small_stuck(bool class_word)
{
	uint64_t which = 0;
	size_t len;
	bool all;

	if (stuck.all) /* keep the areas' kinds: they are those from before the evacuation's end */
		return lc_areas_stuck(NULL, 0, &all, &stuck.regions);
	len = take_stuck_areas(&all);
	for (size_t i = 0; i < len; i++)
		which += lc_hash(stuck.areas[i].bottom);
	/* Others than before: G1 knows which are pinned only just before it evacuates. */
	if (which != stuck.which)
		lc_small_ahead_forget();
	stuck.which = which;
	stuck.areas_len = len;
	stuck.all = all && len;
	stuck.class_word = class_word;
	return len && lay_out();
}

bool lc_small_stuck_begin(void)
{
	forget_granules();
	return !stuck.sampled && make_sample(&ahead.survivors) && make_sample(&ahead.records);
}

void lc_small_stuck_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const uint64_t addr = lc_alloc_addr(&records[i]);

		if (is_looked_at(&records[i], tag, span) && stuck_area(addr))
			choose(&ahead.records, object_at(addr, records[i].size_words, 0));
	}
}

/* Is that held object still of its class? Compact headers lose the class if they forward. */
static bool is_held_there(struct small_object o)
{
	return !o.class_word || !stuck.class_word || is_of_class(addr_of(o), o.class_word);
}

/*
 * The address at which the running evacuation has put the object, which is its own if it stays. 0:
 * it is dead, or nobody has come to it yet.
 */
static uint64_t evacuated_to(struct small_object o)
{
	const uint64_t addr = addr_of(o);
	uint64_t mark, to;

	if (!readable(addr) || !is_held_there(o))
		return 0;
	mark = lc_peek_load64(addr);
	if (lc_header_stays(lc_layout(), addr, mark))
		return addr;
	to = mark & ~UINT64_C(7);
	return (mark & 3) == MARK_FORWARDED && to >= small.low &&
	               (to - small.low) / small.bucket_bytes < small.buckets_len
	           ? to
	           : 0;
}

static void read_stuck(const struct sample *s, uint64_t *signature, size_t *said)
{
	for (size_t i = 0; i < s->len; i++) {
		const uint64_t to = evacuated_to(s->objects[i]);

		*signature += to ? lc_hash(addr_of(s->objects[i]) ^ to << 20) | 1 : 0;
		*said += to != 0;
	}
}

static void look_at_stuck(struct small_object o, const struct lc_area *was)
{
	const uint64_t addr = addr_of(o), to = evacuated_to(o);
	uint32_t class_word = o.class_word;

	/* In old memory that is all: what was not evacuated stays, too. */
	if (!to || (to == addr && was->kind == LC_AREA_OLD))
		return;
	if (!class_word && (stuck.class_word || to == addr))
		class_word = lc_header_class_of(lc_layout(), addr);
	note_ahead(addr, to, o.words, class_word);
}

static void each_stuck_held(void (*use)(struct small_object, const struct lc_area *))
{
	for (size_t i = 0; i < small.buckets_len; i++)
		for (size_t j = 0; j < small.buckets[i].len; j++) {
			const struct small_object o = small.buckets[i].objects[j];
			const struct lc_area *was = stuck_area(addr_of(o));

			if (was)
				use(o, was);
		}
}

static void choose_held(struct small_object o, const struct lc_area *was)
{
	(void)was;
	choose(&ahead.survivors, o);
}

/* Make the last look the fullest one, if it is. */
static void keep_fullest(void)
{
	if (ahead.len <= stuck.len && !ahead.unsaid)
		return;
	free(stuck.moves);
	free(stuck.classes);
	stuck.moves = ahead.moves;
	stuck.classes = ahead.classes;
	stuck.len = ahead.len;
	stuck.unsaid |= ahead.unsaid;
	ahead.moves = NULL;
	ahead.classes = NULL;
	ahead.len = ahead.moves_cap = ahead.classes_cap = 0;
}

bool lc_small_stuck_changed(void)
{
	uint64_t signature = stuck.regions;
	size_t said = 0;

	if (!ahead.records.objects || !ahead.survivors.objects)
		return false;
	if (!stuck.sampled)
		each_stuck_held(choose_held);
	stuck.sampled = ahead.looked = true;
	read_stuck(&ahead.survivors, &signature, &said);
	read_stuck(&ahead.records, &signature, &said);
	/* If there are fewer, the objects that stay have got their old headers back. */
	if (signature == ahead.signature || said < ahead.said)
		return false;
	ahead.signature = signature;
	ahead.said = said;
	keep_fullest();
	ahead.len = 0;
	ahead.max = moves_max();
	ahead.unsaid = false;
	each_stuck_held(look_at_stuck);
	return true;
}

void lc_small_stuck_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];
		const struct lc_area *was =
		    is_looked_at(a, tag, span) ? stuck_area(lc_alloc_addr(a)) : NULL;

		if (was)
			look_at_stuck(object_at(lc_alloc_addr(a), a->size_words, 0), was);
	}
}

bool lc_small_stuck_known(void)
{
	return stuck.known;
}

/* Are all objects known that the evacuation moved out of these areas, or left there? */
static bool knows_stuck(void)
{
	if (!stuck.areas_len)
		return false;
	keep_fullest();
	stuck.proved |= stuck.len > 0;
	return ahead.looked && !stuck.unsaid &&
	       (stuck.proved || (!ahead.records.len && !ahead.survivors.len));
}

/* Is the object of that move at its new place, or still at its old one? */
static bool is_at_its_place(size_t i)
{
	const struct lc_move *v = &stuck.moves[i];
	const struct lc_area *a = area_of(v->dst);

	if (!a || a->top - v->dst < HEADER_BYTES || (v->dst == v->src && a->kind != LC_AREA_OLD))
		return false;
	return is_of_class(v->dst, stuck.classes[i]);
}

static void take_stuck(void)
{
	for (size_t i = 0; i < stuck.len; i++)
		if (is_at_its_place(i))
			note_move(stuck.moves[i].src, stuck.moves[i].dst,
			          stuck.moves[i].size_bytes / 8);
		else
			lc_count(&small.forgotten);
}

/* Does the held object stay in an area that was old before, and may have been evacuated? */
static bool stays_stuck(struct small_object o, const struct lc_area *was, const struct lc_area *now)
{
	return was->kind == LC_AREA_OLD && now && now->kind == LC_AREA_OLD &&
	       is_of_class(addr_of(o), o.class_word) && !forwarded(addr_of(o), o.class_word);
}

/* Hold the objects that stayed, and note the moves of those that are at their new address. */
static void take_slid(void)
{
	for (size_t i = 0; i < small.buckets_len; i++) {
		struct bucket *b = &small.buckets[i];
		size_t kept = 0;

		for (size_t j = 0; j < b->len; j++)
			if (stayed(addr_of(b->objects[j])) &&
			    is_of_class(addr_of(b->objects[j]), b->objects[j].class_word))
				b->objects[kept++] = b->objects[j];
		b->len = kept;
	}
	small.moves_max = ahead.max;
	for (size_t i = 0; i < ahead.len; i++)
		note_move(ahead.moves[i].src, ahead.moves[i].dst, ahead.moves[i].size_bytes / 8);
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

void lc_small_sweep(const struct lc_area *areas, size_t len)
{
	uint64_t held = 0;

	small.areas = areas;
	small.areas_len = len;
	small.near = 0;
	for (size_t i = 0; i < small.buckets_len; i++) {
		struct bucket *b = &small.buckets[i];
		size_t kept = 0;

		if (b->len && !untouched(i)) {
			for (size_t j = 0; j < b->len; j++)
				if (area_of(addr_of(b->objects[j])))
					b->objects[kept++] = b->objects[j];
			b->len = kept;
		}
		held += b->len;
	}
	atomic_store_explicit(&small.held, held, memory_order_relaxed);
}

/* Keep the objects of a bucket that stayed in old memory, and note the moves of the others. */
static void look_at_bucket(struct bucket *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->len; i++) {
		const uint64_t addr = addr_of(b->objects[i]);
		const struct lc_area *a = area_of(addr), *was;
		uint64_t to;

		was = stuck.known ? stuck_area(addr) : NULL;
		if (was) {
			if (stays_stuck(b->objects[i], was, a))
				b->objects[kept++] = b->objects[i];
			continue; /* it is dead, or take_stuck() has its move */
		}
		if (a && a->kind == LC_AREA_OLD) {
			b->objects[kept++] = b->objects[i];
			continue;
		}
		to = is_full() ? 0 : forwarded(addr, b->objects[i].class_word);
		if (to)
			note_move(addr, to, b->objects[i].words);
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
	if (stuck.known)
		take_stuck();
	for (size_t i = 0; i < small.buckets_len && !small.slid; i++)
		if (small.buckets[i].len && ((stuck.known && stuck.all) || !untouched(i)))
			look_at_bucket(&small.buckets[i]);
	for (size_t i = 0; i < small.moves_len; i++)
		hold(small.moves[i].dst, small.moves[i].size_bytes / 8);
	for (size_t i = 0; i < small.buckets_len; i++)
		held += small.buckets[i].len;
	if (small.dropped) {
		lc_memory_refuse(LC_MEMORY_SMALL);
		lc_count(&small.passes_limited);
	}
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

static const struct lc_counter counters[] = {
	LC_COUNTER("small_moves", &small.moved), /* found at their new place */
	/* Dropped since a collection left no trace. */
	LC_COUNTER("small_forgotten", &small.forgotten),
	/* The same of objects made since the last collection, most of them dead. */
	LC_COUNTER("small_forgotten_new", &small.forgotten_new),
	LC_COUNTER("small_held", &small.held), /* looked at after each collection now */
	/* Pauses that left out objects, for want of memory. */
	LC_COUNTER("small_passes_limited", &small.passes_limited),
	/* Not held after a collection, for want of memory. */
	LC_COUNTER("small_unheld", &small.unheld),
	LC_COUNTER("small_pass_us", &small.pass_ns, .unit = 1000),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
