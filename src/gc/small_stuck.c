/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/small_stuck.c - looks at small objects during an evacuation that may leave some in place.
 *
 * An evacuation that cannot move all objects clears the headers that say so before it ends. HotSpot
 * reads clocks on the thread that posts the events when its workers have evacuated, and again just
 * before it clears these headers. So the objects in question are looked at there.
 */
#include <stdlib.h>

#include "src/base/hash.h"
#include "src/core/counters.h"
#include "src/gc/small_impl.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/os/peek.h"

/*
 * Areas out of which an evacuation may be unable to move all objects (lc_areas_stuck()). The looks
 * at their objects use `lc_small_ahead`; a move to its own place stands for an object that stays.
 */
static struct {
	struct lc_area *areas; /* as they were before the evacuation ended */
	size_t areas_len, areas_cap;
	uint64_t which; /* a hash of which they are; 0: there are none */
	bool all;       /* these are all areas, old ones too */
	bool sampled;   /* the sample is chosen */
	bool class_word;
	bool known; /* valid in a pass: `moves` has each object that moved or stayed there */
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

/* The area of those that may keep objects in which `addr` lies, or NULL. */
const struct lc_area *lc_small_stuck_area(uint64_t addr)
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
	return len && lc_small_lay_out();
}

bool lc_small_stuck_begin(void)
{
	lc_small_forget_granules();
	return !stuck.sampled && lc_small_sample_make(&lc_small_ahead.survivors) &&
	       lc_small_sample_make(&lc_small_ahead.records);
}

void lc_small_stuck_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const uint64_t addr = lc_alloc_addr(&records[i]);

		if (lc_small_is_looked_at(&records[i], tag, span) && lc_small_stuck_area(addr))
			lc_small_sample_add(&lc_small_ahead.records,
			                    lc_small_object_at(addr, records[i].size_words, 0));
	}
}

/* Is that held object still of its class? Compact headers lose the class if they forward. */
static bool is_held_there(struct lc_small_object o)
{
	return !o.class_word || !stuck.class_word ||
	       lc_small_is_of_class(lc_small_addr(o), o.class_word);
}

/*
 * The address at which the running evacuation has put the object, which is its own if it stays. 0:
 * it is dead, or nobody has come to it yet.
 */
static uint64_t evacuated_to(struct lc_small_object o)
{
	const uint64_t addr = lc_small_addr(o);
	uint64_t mark, to;

	if (!lc_small_readable(addr) || !is_held_there(o))
		return 0;
	mark = lc_peek_load64(addr);
	if (lc_header_stays(lc_layout(), addr, mark))
		return addr;
	to = mark & ~UINT64_C(7);
	return (mark & 3) == LC_SMALL_MARK_FORWARDED && to >= lc_small.low &&
	               (to - lc_small.low) / lc_small.bucket_bytes < lc_small.buckets_len
	           ? to
	           : 0;
}

static void read_stuck(const struct lc_small_sample *s, uint64_t *signature, size_t *said)
{
	for (size_t i = 0; i < s->len; i++) {
		const uint64_t to = evacuated_to(s->objects[i]);

		*signature += to ? lc_hash(lc_small_addr(s->objects[i]) ^ to << 20) | 1 : 0;
		*said += to != 0;
	}
}

static void look_at_stuck(struct lc_small_object o, const struct lc_area *was)
{
	const uint64_t addr = lc_small_addr(o), to = evacuated_to(o);
	uint32_t class_word = o.class_word;

	/* In old memory that is all: what was not evacuated stays, too. */
	if (!to || (to == addr && was->kind == LC_AREA_OLD))
		return;
	if (!class_word && (stuck.class_word || to == addr))
		class_word = lc_header_class_of(lc_layout(), addr);
	lc_small_ahead_note(addr, to, o.words, class_word);
}

static void each_stuck_held(void (*use)(struct lc_small_object, const struct lc_area *))
{
	for (size_t i = 0; i < lc_small.buckets_len; i++)
		for (size_t j = 0; j < lc_small.buckets[i].len; j++) {
			const struct lc_small_object o = lc_small.buckets[i].objects[j];
			const struct lc_area *was = lc_small_stuck_area(lc_small_addr(o));

			if (was)
				use(o, was);
		}
}

static void choose_held(struct lc_small_object o, const struct lc_area *was)
{
	(void)was;
	lc_small_sample_add(&lc_small_ahead.survivors, o);
}

/* Make the last look the fullest one, if it is. */
static void keep_fullest(void)
{
	if (lc_small_ahead.len <= stuck.len && !lc_small_ahead.unsaid)
		return;
	free(stuck.moves);
	free(stuck.classes);
	stuck.moves = lc_small_ahead.moves;
	stuck.classes = lc_small_ahead.classes;
	stuck.len = lc_small_ahead.len;
	stuck.unsaid |= lc_small_ahead.unsaid;
	lc_small_ahead.moves = NULL;
	lc_small_ahead.classes = NULL;
	lc_small_ahead.len = lc_small_ahead.moves_cap = lc_small_ahead.classes_cap = 0;
}

bool lc_small_stuck_changed(void)
{
	uint64_t signature = stuck.regions;
	size_t said = 0;

	if (!lc_small_ahead.records.objects || !lc_small_ahead.survivors.objects)
		return false;
	if (!stuck.sampled)
		each_stuck_held(choose_held);
	stuck.sampled = lc_small_ahead.looked = true;
	read_stuck(&lc_small_ahead.survivors, &signature, &said);
	read_stuck(&lc_small_ahead.records, &signature, &said);
	/* If there are fewer, the objects that stay have got their old headers back. */
	if (signature == lc_small_ahead.signature || said < lc_small_ahead.said)
		return false;
	lc_small_ahead.signature = signature;
	lc_small_ahead.said = said;
	keep_fullest();
	lc_small_ahead.len = 0;
	lc_small_ahead.max = lc_small_moves_max();
	lc_small_ahead.unsaid = false;
	each_stuck_held(look_at_stuck);
	return true;
}

void lc_small_stuck_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_alloc *a = &records[i];
		const struct lc_area *was = lc_small_is_looked_at(a, tag, span)
		                                ? lc_small_stuck_area(lc_alloc_addr(a))
		                                : NULL;

		if (was)
			look_at_stuck(lc_small_object_at(lc_alloc_addr(a), a->size_words, 0), was);
	}
}

/* Are all objects known that the evacuation moved out of these areas, or left there? */
static bool knows_stuck(void)
{
	if (!stuck.areas_len)
		return false;
	keep_fullest();
	stuck.proved |= stuck.len > 0;
	return lc_small_ahead.looked && !stuck.unsaid &&
	       (stuck.proved || (!lc_small_ahead.records.len && !lc_small_ahead.survivors.len));
}

void lc_small_stuck_pass(bool evacuated)
{
	stuck.known = evacuated && knows_stuck();
}

bool lc_small_stuck_known(void)
{
	return stuck.known;
}

bool lc_small_stuck_all(void)
{
	return stuck.known && stuck.all;
}

/* Is the object of that move at its new place, or still at its old one? */
static bool is_at_its_place(size_t i)
{
	const struct lc_move *v = &stuck.moves[i];
	const struct lc_area *a = lc_small_area_of(v->dst);

	if (!a || a->top - v->dst < LC_SMALL_HEADER_BYTES ||
	    (v->dst == v->src && a->kind != LC_AREA_OLD))
		return false;
	return lc_small_is_of_class(v->dst, stuck.classes[i]);
}

void lc_small_stuck_take(void)
{
	for (size_t i = 0; i < stuck.len; i++)
		if (is_at_its_place(i))
			lc_small_note_move(stuck.moves[i].src, stuck.moves[i].dst,
			                   stuck.moves[i].size_bytes / 8);
		else
			lc_count(&lc_small.forgotten);
}

/* Does the held object stay in an area that was old before, and may have been evacuated? */
bool lc_small_stuck_stays(struct lc_small_object o, const struct lc_area *was,
                          const struct lc_area *now)
{
	return was->kind == LC_AREA_OLD && now && now->kind == LC_AREA_OLD &&
	       lc_small_is_of_class(lc_small_addr(o), o.class_word) &&
	       !lc_small_forwarded(lc_small_addr(o), o.class_word);
}

void lc_small_stuck_forget(void)
{
	free(stuck.moves);
	free(stuck.classes);
	stuck.moves = NULL;
	stuck.classes = NULL;
	stuck.areas_len = stuck.len = 0;
	stuck.which = 0;
	stuck.all = stuck.sampled = stuck.known = stuck.unsaid = false;
}
