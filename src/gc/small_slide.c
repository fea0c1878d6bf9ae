/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/small_slide.c - looks at small objects before a collection slides them, by new addresses in
 * headers or by the tables of a collector that slides without them.
 *
 * Tables are believed only if every object arrives at the address that they give.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/vector.h"
#include "src/gc/landmarks.h"
#include "src/gc/moves.h"
#include "src/gc/site_classes.h"
#include "src/gc/small_impl.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/mark_tables.h"
#include "src/jvm/os/peek.h"

struct lc_small_ahead lc_small_ahead;

/*
 * Sliding keeps the order of objects: in an area, no object stays above the lowest address to which
 * one slid. Returns false without memory.
 */
static bool note_lowest(void)
{
	lc_small.lowest = malloc((lc_small.areas_len + 1) * sizeof(*lc_small.lowest));
	if (!lc_small.lowest)
		return false;
	for (size_t i = 0; i < lc_small.areas_len; i++)
		lc_small.lowest[i] = UINT64_MAX;
	for (size_t i = 0; i < lc_small_ahead.len; i++) {
		const uint64_t dst = lc_small_ahead.moves[i].dst;
		const size_t a =
		    lc_area_find_near(lc_small.areas, lc_small.areas_len, dst, &lc_small.near);

		if (a < lc_small.areas_len && dst < lc_small.lowest[a])
			lc_small.lowest[a] = dst;
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
	if (lc_areas_full() != 1 || lc_small_ahead.unsaid || lc_small_ahead.blind || lc_small.holes)
		return false;
	if (lc_mark_tables_known())
		return lc_small_ahead.found;
	if (lc_moves_slid())
		return lc_small_ahead.said || (lc_small_ahead.looked && lc_small.proved);
	return lc_small_ahead.looked && !lc_small_ahead.fewer;
}

/* Is the object of that move at its new place? */
static bool has_arrived(size_t i)
{
	const uint64_t dst = lc_small_ahead.moves[i].dst;

	return lc_small_area_of(dst) && lc_small_readable(dst) &&
	       lc_header_class_of(lc_layout(), dst) == lc_small_ahead.classes[i];
}

/*
 * Drop the moves of objects that are not at their new address. One header may be misread, but the
 * tables are right for all objects or for none: returns false if they are wrong.
 */
static bool keep_arrived(void)
{
	const size_t len = lc_small_ahead.len;
	size_t arrived = 0;

	for (size_t i = 0; i < len; i++)
		if (has_arrived(i))
			lc_small_ahead.moves[arrived++] = lc_small_ahead.moves[i];
	if (lc_mark_tables_known() && arrived < len)
		return false;
	lc_small_ahead.len = arrived;
	lc_small.proved |= arrived > 0;
	atomic_fetch_add_explicit(&lc_small.forgotten, len - arrived, memory_order_relaxed);
	return true;
}

bool lc_small_slide_begin(void)
{
	return knows_slides() && keep_arrived() && note_lowest();
}

void lc_small_prove(const struct lc_move_batch *slides)
{
	if (!lc_small.proved && lc_small_ahead.landmarks)
		lc_small.proved = lc_moves_any_slide(slides, lc_landmarks_has);
}

/* May the object at `addr` have stayed while others slid? */
bool lc_small_slide_kept(uint64_t addr)
{
	const struct lc_area *a = lc_small_area_of(addr);

	return a && addr < lc_small.lowest[a - lc_small.areas];
}

/* Is the object of the record at its address, after others slid? */
bool lc_small_slide_kept_new(const struct lc_alloc *a)
{
	const uint64_t addr = lc_alloc_addr(a);

	return lc_small_readable(addr) &&
	       lc_site_classes_has(a->site, lc_header_class_of(lc_layout(), addr));
}

/* The new address in the header of the object at `addr`; 0: there is none. */
static uint64_t slides_to(uint64_t addr)
{
	uint64_t to;

	if (!lc_small_readable(addr))
		return 0;
	to = lc_header_slides_to(lc_layout(), lc_small.low, lc_peek_load64(addr));
	return to && to != addr && to >= lc_small.low &&
	               (to - lc_small.low) / lc_small.bucket_bytes < lc_small.buckets_len
	           ? to
	           : 0;
}

/* The current address of the object at `addr`, before anything slides; 0 if it is dead. */
static uint64_t place_now(uint64_t addr)
{
	const uint64_t given = lc_small_given_find(addr);
	size_t i = lc_small_ahead.emptied
	               ? lc_area_find(lc_small_ahead.areas, lc_small_ahead.areas_len, addr)
	               : lc_small_ahead.areas_len;
	uint64_t to;

	if (given)
		return given;
	if (i == lc_small_ahead.areas_len || lc_small_ahead.areas[i].kind == LC_AREA_OLD)
		return addr;
	/* A young collection of the same pause moved it; only JDK 17 has these. */
	to = lc_small_readable(addr) ? lc_peek_load64(addr) : 0;
	if ((to & 3) != LC_SMALL_MARK_FORWARDED)
		return 0;
	to &= ~UINT64_C(7);
	if (to < lc_small.low ||
	    (to - lc_small.low) / lc_small.bucket_bytes >= lc_small.buckets_len)
		return 0;
	return lc_small_readable(to) &&
	               (uint32_t)lc_peek_load64(addr + 8) == (uint32_t)lc_peek_load64(to + 8)
	           ? to
	           : 0;
}

bool lc_small_sample_make(struct lc_small_sample *s)
{
	if (!s->objects) {
		s->objects = malloc(LC_SMALL_SAMPLE_MAX * sizeof(*s->objects));
		s->halvings = 0;
	}
	return s->objects;
}

bool lc_small_ahead_begin(const struct lc_area *areas, size_t len, bool emptied)
{
	lc_small_ahead.areas_len = 0;
	lc_small_ahead.emptied =
	    emptied && len <= sizeof(lc_small_ahead.areas) / sizeof(lc_small_ahead.areas[0]);
	if (lc_small_ahead.emptied) {
		memcpy(lc_small_ahead.areas, areas, len * sizeof(*areas));
		lc_small_ahead.areas_len = len;
	}
	if (!lc_small_lay_out())
		return false;
	lc_small_forget_granules();
	return lc_small_sample_make(&lc_small_ahead.survivors) &&
	       lc_small_sample_make(&lc_small_ahead.records) && !lc_small_ahead.records.len;
}

/* Is the object still chosen after so many halvings? */
static bool is_chosen(struct lc_small_object o, unsigned halvings)
{
	return !(lc_hash(lc_small_addr(o) >> 3) >> 32 & ((UINT64_C(1) << halvings) - 1));
}

/*
 * Choose the object for the sample, if the hash of its address says so. Each n-th object would not
 * do: programs make and keep objects at regular intervals. If the sample is full, drop half of it.
 */
void lc_small_sample_add(struct lc_small_sample *s, struct lc_small_object object)
{
	if (!is_chosen(object, s->halvings))
		return;
	while (s->len == LC_SMALL_SAMPLE_MAX && s->halvings < 31) {
		size_t kept = 0;

		s->halvings++;
		for (size_t i = 0; i < s->len; i++)
			if (is_chosen(s->objects[i], s->halvings))
				s->objects[kept++] = s->objects[i];
		s->len = kept;
	}
	if (s->len < LC_SMALL_SAMPLE_MAX && is_chosen(object, s->halvings))
		s->objects[s->len++] = object;
}

/* The current address of the object, before anything slides; 0 if it is dead. */
static uint64_t find_now(struct lc_small_object o)
{
	const uint64_t at = place_now(lc_small_addr(o));

	return at && lc_small_is_of_class(at, o.class_word) ? at : 0;
}

void lc_small_ahead_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];
		const struct lc_small_object o =
		    lc_small_object_at(lc_alloc_addr(a), a->size_words, 0);
		uint64_t at;

		if (!lc_small_is_looked_at(a, tag, span))
			continue;
		lc_small_sample_add(&lc_small_ahead.records, o);
		at = find_now(o);
		if (at && !lc_site_classes_add(a->site, lc_header_class_of(lc_layout(), at)))
			lc_small_ahead.blind = true; /* no room: forget all */
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
		lc_small_ahead.unsaid = true;
		break;
	default:
		break;
	}
	return 0;
}

/* Note that the object of that class goes from `addr` to `to`. */
void lc_small_ahead_note(uint64_t addr, uint64_t to, uint64_t words, uint32_t class_word)
{
	struct lc_move *moves;
	uint32_t *classes;

	moves = lc_small_ahead.len < lc_small_ahead.max
	            ? lc_vector_reserve_array(lc_small_ahead.moves, &lc_small_ahead.moves_cap,
	                                      lc_small_ahead.len + 1, sizeof(*moves))
	            : NULL;
	if (moves)
		lc_small_ahead.moves = moves;
	classes = lc_vector_reserve_array(lc_small_ahead.classes, &lc_small_ahead.classes_cap,
	                                  lc_small_ahead.len + 1, sizeof(*classes));
	if (classes)
		lc_small_ahead.classes = classes;
	if (!moves || !classes) {
		lc_small_ahead.unsaid = true; /* no room: forget all */
		return;
	}
	classes[lc_small_ahead.len] = class_word;
	moves[lc_small_ahead.len++] = (struct lc_move){ addr, to, words * 8 };
}

/* Look at the object, which was at `addr` when the pause began and is at `at`; 0: it is dead. */
static void look_ahead(uint64_t addr, uint64_t at, uint64_t words)
{
	/* One unknown object spoils the look, so skip the rest. */
	const uint64_t to = at && !lc_small_ahead.unsaid ? place_then(at) : 0;

	if (to && to != addr) /* else it is dead, or stays */
		lc_small_ahead_note(addr, to, words, lc_header_class_of(lc_layout(), at));
}

/* A hash of the collector's data about the object at `at`; 0: there is none yet. */
static uint64_t said_of(uint64_t at)
{
	uint64_t to = 0;

	if (!lc_mark_tables_known())
		to = slides_to(at);
	else if (lc_mark_tables_find(at, &to) == LC_MARK_DEAD)
		to = 1;
	if (to == lc_small.low && lc_collector() == LC_GC_SERIAL)
		return 0; /* it is marked, see lc_header_slides_to() */
	return to ? lc_hash(at ^ to << 20) | 1 : 0;
}

/* Add the hash of an object, and count it if it is not 0. */
static void read_object(struct lc_small_object o, uint64_t *signature, size_t *said)
{
	const uint64_t at = find_now(o), hash = at ? said_of(at) : 0;

	*signature += hash;
	*said += hash != 0;
}

static void read_sample(const struct lc_small_sample *s, uint64_t *signature, size_t *said)
{
	for (size_t i = 0; i < s->len; i++)
		read_object(s->objects[i], signature, said);
}

static void sample_held(void)
{
	for (size_t i = 0; i < lc_small.buckets_len; i++) {
		struct lc_small_bucket *b = &lc_small.buckets[i];
		size_t top = 0;

		for (size_t j = 0; j < b->len; j++) {
			lc_small_sample_add(&lc_small_ahead.survivors, b->objects[j]);
			if (lc_small_addr(b->objects[j]) > lc_small_addr(b->objects[top]))
				top = j;
		}
		b->top = top;
	}
}

/* Read the topmost object of each bucket. */
static void read_tops(uint64_t *signature, size_t *said)
{
	for (size_t i = 0; i < lc_small.buckets_len; i++)
		if (lc_small.buckets[i].len)
			read_object(lc_small.buckets[i].objects[lc_small.buckets[i].top], signature,
			            said);
}

bool lc_small_ahead_changed(void)
{
	uint64_t signature = 0, landmarks = 0;
	size_t said = 0;

	if (!lc_small_ahead.records.objects)
		return false;
	if (!lc_small_ahead.sampled_held) {
		lc_small_ahead.sampled_held = true;
		sample_held();
	}
	lc_small_ahead.looked = true;
	read_tops(&signature, &said);
	read_sample(&lc_small_ahead.survivors, &signature, &said);
	read_sample(&lc_small_ahead.records, &signature, &said);
	if (!said && !lc_small_ahead.said && !lc_mark_tables_known())
		signature = landmarks = lc_landmarks_look();
	if (signature == lc_small_ahead.signature)
		return false;
	/* Headers or tables are cleared: all objects have slid, none of them by memmove. */
	if (!said && lc_small_ahead.said)
		return false;
	lc_small_ahead.fewer |= said < lc_small_ahead.said;
	lc_small_ahead.signature = signature;
	lc_small_ahead.said = said;
	lc_small_ahead.landmarks = landmarks;
	lc_small_ahead.len = 0;
	lc_small_ahead.max = lc_small_moves_max();
	lc_small_ahead.unsaid = lc_small.holes;
	lc_small_ahead.found = true;
	for (size_t i = 0; i < lc_small.buckets_len; i++)
		for (size_t j = 0; j < lc_small.buckets[i].len; j++) {
			const struct lc_small_object o = lc_small.buckets[i].objects[j];

			look_ahead(lc_small_addr(o), find_now(o), o.words);
		}
	return true;
}

void lc_small_ahead_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];

		if (lc_small_is_looked_at(a, tag, span))
			look_ahead(lc_alloc_addr(a),
			           find_now(lc_small_object_at(lc_alloc_addr(a), 0, 0)),
			           a->size_words);
	}
}

void lc_small_ahead_forget(void)
{
	lc_mark_tables_forget();
	lc_site_classes_forget();
	lc_landmarks_forget();
	free(lc_small_ahead.records.objects);
	free(lc_small_ahead.survivors.objects);
	free(lc_small_ahead.moves);
	free(lc_small_ahead.classes);
	memset(&lc_small_ahead, 0, sizeof(lc_small_ahead));
	lc_small_given_forget();
	lc_small_stuck_forget();
}

bool lc_small_ahead_found(void)
{
	return lc_small_ahead.found;
}

/* Hold the objects that stayed, and note the moves of those that are at their new address. */
void lc_small_slide_take(void)
{
	for (size_t i = 0; i < lc_small.buckets_len; i++) {
		struct lc_small_bucket *b = &lc_small.buckets[i];
		size_t kept = 0;

		for (size_t j = 0; j < b->len; j++)
			if (lc_small_slide_kept(lc_small_addr(b->objects[j])) &&
			    lc_small_is_of_class(lc_small_addr(b->objects[j]),
			                         b->objects[j].class_word))
				b->objects[kept++] = b->objects[j];
		b->len = kept;
	}
	lc_small.moves_max = lc_small_ahead.max;
	for (size_t i = 0; i < lc_small_ahead.len; i++)
		lc_small_note_move(lc_small_ahead.moves[i].src, lc_small_ahead.moves[i].dst,
		                   lc_small_ahead.moves[i].size_bytes / 8);
	free(lc_small.lowest);
	lc_small.lowest = NULL;
}
