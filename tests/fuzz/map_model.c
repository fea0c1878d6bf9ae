/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_model.c - simulates a heap and its collections, and compares the map with it.
 *
 * The heap is an old space, two survivor spaces and an eden (as Serial and Parallel have), or
 * regions of 128 KiB (as G1 has). Objects are allocated, die at random, and are collected:
 * evacuated with failures, slid together behind a dense prefix with pieces at 64 KiB boundaries, or
 * not at all (remark). Which small objects an evacuation leaves is known or not. Calls to the map
 * follow gc/moves.h, jvm/layout/areas.h and gc/small.h: copies of more than 64 bytes, and smaller
 * ones that leave a trace, in any order; spare copies as writes without a source; moves lost now
 * and then. Objects of at most 128 bytes may move unseen; they need not be known after that, but
 * must never be taken for others.
 *
 * The file is longer than 600 lines: one heap, whose parts share all of their state.
 */
#include "tests/fuzz/map_model.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/heap/map.h"

enum { OBJECTS = 3000, MOVES = 4 * OBJECTS, AREAS = 64, RECORDS = 3 * OBJECTS, THREADS = 3 };
enum { REGION = 128 << 10, REGIONS = 48, PIECE = 64 << 10, INLINE = 64, HUMONGOUS = REGION / 2 };
enum { SPLIT_HEAP, REGION_HEAP };

static const uint64_t heap_low = UINT64_C(0x7e0000000);

struct thing {
	uint64_t addr, size;
	uint32_t site; /* 0: not tracked */
	bool live;
	bool known;                /* the map is expected to know it */
	bool nursery;              /* allocated in the open epoch */
	bool moved;                /* in the collection that runs */
	bool unseen;               /* and nothing was told of it */
	bool young;                /* nothing has been collected since it was allocated */
	uint64_t copies, outlives; /* what the map should say of the collection that runs */
};

struct model {
	const uint8_t *data;
	size_t len, at;
	uint64_t random;
	int kind;
	struct thing things[OBJECTS];
	size_t things_len;
	struct lc_area areas[AREAS]; /* tops are where allocation is */
	size_t areas_len;
	struct lc_alloc records[THREADS][RECORDS];
	size_t records_len[THREADS];
	struct lc_move moves[MOVES];
	size_t moves_len;
	bool left_behind;            /* by the last collection, in a region that it evacuated */
	bool stuck_known;            /* the moves tell which small objects these are */
	const struct lc_area *spare; /* it wrote there, though nothing went there */
	size_t doubts;               /* objects whose header nobody has looked at yet */
	uint16_t tag;
	uint32_t next_site;
	struct lc_map_copied told[2 * OBJECTS]; /* by the last collection */
	size_t told_len;
	struct lc_map *map;
	struct map_model_result *result;
	const char *error;
};

static uint32_t byte(struct model *h)
{
	return h->at < h->len ? h->data[h->at++] : 0;
}

/* Choices within a collection: from the data, but without end. */
static uint32_t dice(struct model *h, uint32_t sides)
{
	h->random = h->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(h->random >> 33) % sides;
}

static void fail(struct model *h, const char *what)
{
	if (!h->error)
		h->error = what;
}

static struct lc_area *area_of(struct model *h, uint64_t addr)
{
	for (size_t i = 0; i < h->areas_len; i++) {
		if (addr >= h->areas[i].bottom && addr < h->areas[i].end)
			return &h->areas[i];
	}
	return NULL;
}

static void lay_out(struct model *h)
{
	static const struct {
		uint32_t kind, regions;
	} split[] = { { LC_AREA_OLD, 24 },
		      { LC_AREA_EDEN, 12 },
		      { LC_AREA_SURVIVOR, 6 },
		      { LC_AREA_SURVIVOR, 6 } };
	uint64_t at = heap_low;

	for (size_t i = 0; i < (h->kind == SPLIT_HEAP ? 4 : REGIONS); i++) {
		uint64_t size =
		    h->kind == SPLIT_HEAP ? (uint64_t)split[i].regions * REGION : REGION;

		h->areas[h->areas_len++] = (struct lc_area){
			.bottom = at,
			.top = at,
			.end = at + size,
			.kind = h->kind == SPLIT_HEAP ? split[i].kind : LC_AREA_FREE,
		};
		at += size;
	}
}

/* Room for `size` in an area of `kind` that `not` is not; a free region may become one. 0: none. */
static uint64_t room(struct model *h, uint32_t kind, uint64_t size, uint64_t not_low,
                     uint64_t not_high)
{
	uint64_t addr;

	for (size_t i = 0; i < h->areas_len; i++) {
		struct lc_area *a = &h->areas[i];

		if (a->kind != kind || a->end - a->top < size ||
		    (a->bottom >= not_low && a->bottom < not_high))
			continue;
		addr = a->top;
		a->top += size;
		return addr;
	}
	for (size_t i = 0; i < h->areas_len; i++) {
		struct lc_area *a = &h->areas[i];

		if (a->kind != LC_AREA_FREE || size > REGION)
			continue;
		a->kind = kind;
		a->top = a->bottom + size;
		return a->bottom;
	}
	return 0;
}

static uint64_t room_humongous(struct model *h, uint64_t size)
{
	size_t need = (size_t)((size + REGION - 1) / REGION), run = 0;

	for (size_t i = 0; i < h->areas_len; i++) {
		run = h->areas[i].kind == LC_AREA_FREE ? run + 1 : 0;
		if (run < need)
			continue;
		for (size_t j = i + 1 - need; j <= i; j++) {
			bool first = j == i + 1 - need;

			h->areas[j].kind = first ? LC_AREA_HUMONGOUS : LC_AREA_HUMONGOUS_CONT;
			h->areas[j].top =
			    j == i ? h->areas[i + 1 - need].bottom + size : h->areas[j].end;
		}
		return h->areas[i + 1 - need].bottom;
	}
	return 0;
}

static void record(struct model *h, const struct thing *t, uint16_t tag)
{
	size_t thread = dice(h, THREADS);

	if (h->records_len[thread] < RECORDS)
		h->records[thread][h->records_len[thread]++] = (struct lc_alloc){
			.tagged_addr = t->addr | (uint64_t)tag << LC_ADDR_BITS,
			.size_words = (uint32_t)(t->size / 8),
			.site = t->site,
		};
}

static void allocate(struct model *h, uint32_t how)
{
	struct thing t = { .live = true, .nursery = true, .known = true, .young = true };
	uint32_t size = byte(h);

	if (h->things_len == OBJECTS)
		return;
	t.size = how % 8 == 0 ? 16 + size % 56 / 8 * 8 : 72 + (uint64_t)size * 16;
	if (how % 16 == 1)
		t.size = 8 + (uint64_t)size * 1024;
	if (how % 8 != 2 && how % 16 != 8)
		t.site = ++h->next_site;
	if (h->kind == REGION_HEAP && t.size > HUMONGOUS)
		t.addr = room_humongous(h, t.size);
	else if (h->kind == SPLIT_HEAP && t.size > HUMONGOUS)
		t.addr = room(h, LC_AREA_OLD, t.size, 0, 0);
	else
		t.addr = room(h, LC_AREA_EDEN, t.size, 0, 0);
	if (!t.addr)
		return;
	h->things[h->things_len++] = t;
	if (!t.site)
		return;
	if (how % 32 == 7) { /* a record that came late, for a place that is no longer true */
		struct thing late = t;

		late.addr = h->things[dice(h, (uint32_t)h->things_len)].addr;
		record(h, &late, (uint16_t)(h->tag - 1));
	}
	record(h, &t, h->tag);
	if (how % 32 == 9)
		record(h, &t, h->tag);
}

static void log_move(struct model *h, uint64_t src, uint64_t dst, uint64_t size)
{
	if (h->moves_len < MOVES)
		h->moves[h->moves_len++] = (struct lc_move){ src, dst, size };
}

/*
 * Copy in one piece. A small object leaves a trace, unless something stayed in its region and
 * nobody looked in time.
 */
static void evacuate(struct model *h, struct thing *t, uint64_t dst, bool failed)
{
	t->unseen = failed && t->size <= INLINE && !h->stuck_known;
	if (!t->unseen)
		log_move(h, t->addr, dst, t->size);
	t->addr = dst;
	t->moved = true;
}

static void empty_dead(struct model *h)
{
	size_t out = 0;

	for (size_t i = 0; i < h->things_len; i++) {
		h->things[i].nursery = false;
		if (h->things[i].live)
			h->things[out++] = h->things[i];
	}
	h->things_len = out;
}

/* Small objects that stayed in young regions have moves to their own places, if they are known. */
static void tell_stuck(struct model *h, const bool *failed)
{
	for (size_t n = 0; n < h->things_len; n++) {
		const struct thing *t = &h->things[n];
		const struct lc_area *a = area_of(h, t->addr);

		if (t->live && !t->moved && t->size <= INLINE && a->flags && failed[a - h->areas] &&
		    a->kind != LC_AREA_OLD)
			log_move(h, t->addr, t->addr, t->size);
	}
}

/* Young collection; in a region heap some old regions too, and some regions fail. */
static void collect_young(struct model *h, uint32_t how)
{
	bool from[AREAS] = { false }, failed[AREAS] = { false };
	size_t areas = h->areas_len;

	for (size_t i = 0; i < areas; i++) {
		const struct lc_area *a = &h->areas[i];

		from[i] =
		    a->kind == LC_AREA_EDEN || (a->kind == LC_AREA_SURVIVOR && a->top > a->bottom);
		if (h->kind == REGION_HEAP && a->kind == LC_AREA_OLD && dice(h, 3) == 0)
			from[i] = true;
		failed[i] = from[i] && h->kind == REGION_HEAP && how % 4 == 3 && dice(h, 4) == 0;
	}
	for (size_t i = 0; i < areas; i++) {
		struct lc_area *a = &h->areas[i];

		/* A collected region is no destination; take its kind away until the end. */
		if (from[i])
			a->flags = 1;
	}
	for (size_t n = 0; n < h->things_len; n++) {
		struct thing *t = &h->things[n];
		struct lc_area *a = area_of(h, t->addr);
		uint32_t kind = dice(h, 3) ? LC_AREA_SURVIVOR : LC_AREA_OLD;
		uint64_t dst = 0;

		if (!a->flags || !t->live || (failed[a - h->areas] && dice(h, 2)))
			continue;
		for (int tries = 0; tries < 2 && !dst; tries++, kind = LC_AREA_OLD) {
			for (size_t i = 0; i < areas && !dst; i++) {
				struct lc_area *to = &h->areas[i];

				if (to->flags || to->end - to->top < t->size ||
				    (to->kind != kind &&
				     !(h->kind == REGION_HEAP && to->kind == LC_AREA_FREE)))
					continue;
				to->kind = kind;
				dst = to->top;
				to->top += t->size;
			}
		}
		if (dst)
			evacuate(h, t, dst, failed[a - h->areas]);
		else if (h->kind == SPLIT_HEAP)
			t->live = false; /* no room: the program lets go of it */
		else
			failed[a - h->areas] = true;
	}
	if (h->stuck_known)
		tell_stuck(h, failed);
	for (size_t i = 0; i < areas; i++) {
		struct lc_area *a = &h->areas[i];

		if (a->flags && failed[i]) {
			h->left_behind = true;
			a->kind = LC_AREA_OLD;
		} else if (a->flags) {
			a->top = a->bottom;
			if (h->kind == REGION_HEAP)
				a->kind = LC_AREA_FREE;
		}
		a->flags = 0;
	}
}

/* Copy in pieces that end where a destination region does; some collectors make none. */
static void copy_in_pieces(struct model *h, struct thing *t, uint64_t dst)
{
	bool whole = t->size < PIECE / 4 && t->size > 2 * INLINE;
	uint64_t done = 0;

	t->unseen = true;
	while (done < t->size) {
		uint64_t left = PIECE - (dst + done - heap_low) % PIECE;

		if (left > t->size - done || whole)
			left = t->size - done;
		if (left > INLINE) {
			log_move(h, t->addr + done, dst + done, left);
			t->unseen = false;
		}
		done += left;
	}
	t->addr = dst;
	t->moved = true;
}

/*
 * The new place of a large object: sometimes just below a boundary, so that its first piece is
 * short.
 */
static uint64_t nudge(struct model *h, const struct thing *t, uint64_t at)
{
	uint64_t short_of = (at - heap_low) / PIECE * PIECE + PIECE - 8 - dice(h, 9) * 8 + heap_low;
	const struct lc_area *a = area_of(h, at);

	if (t->size < PIECE / 4 || dice(h, 2) || short_of < at || short_of + t->size > a->end ||
	    (short_of > t->addr && a == area_of(h, t->addr)))
		return at;
	return short_of;
}

static int by_addr(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Free humongous regions whose object is dead. */
static void free_humongous(struct model *h)
{
	bool live = false;

	for (size_t i = 0; i < h->areas_len; i++) {
		struct lc_area *a = &h->areas[i];

		if (a->kind == LC_AREA_HUMONGOUS) {
			live = false;
			for (size_t n = 0; n < h->things_len; n++)
				live |= h->things[n].live && h->things[n].addr == a->bottom;
		}
		if ((a->kind == LC_AREA_HUMONGOUS || a->kind == LC_AREA_HUMONGOUS_CONT) && !live) {
			a->kind = LC_AREA_FREE;
			a->top = a->bottom;
		}
	}
}

/* Full collection: everything slides together, behind a prefix that is left alone. */
static void collect_full(struct model *h)
{
	uint64_t prefix = dice(h, 2) ? heap_low + (uint64_t)dice(h, 3 * REGION) / 8 * 8 : heap_low;
	size_t to = 0;
	uint64_t at = 0;

	qsort(h->things, h->things_len, sizeof(h->things[0]), by_addr);
	for (size_t i = 0; i < h->areas_len; i++) {
		struct lc_area *a = &h->areas[i];

		if (a->kind == LC_AREA_HUMONGOUS || a->kind == LC_AREA_HUMONGOUS_CONT)
			continue;
		a->flags = LC_AREA_COMPACTED;
		if (h->kind == REGION_HEAP)
			a->kind = a->top > a->bottom ? LC_AREA_OLD : LC_AREA_FREE;
	}
	for (size_t i = 0; i < h->things_len; i++) {
		struct thing *t = &h->things[i];
		struct lc_area *a = area_of(h, t->addr);

		if (a->kind == LC_AREA_HUMONGOUS || !t->live)
			continue;
		if (t->addr < prefix && a == &h->areas[0]) {
			at = t->addr + t->size;
			continue;
		}
		if (!at)
			at = h->areas[0].bottom > prefix ? h->areas[0].bottom : prefix;
		if (a == &h->areas[0] && at > t->addr)
			at = t->addr;
		for (; to < (size_t)(a - h->areas); at = h->areas[++to].bottom) {
			struct lc_area *d = &h->areas[to];

			if (d->flags && at >= d->bottom && at + t->size <= d->end &&
			    (h->kind == SPLIT_HEAP || d->kind != LC_AREA_FREE))
				break;
			if (d->flags && at > d->bottom && at <= d->end)
				d->top = at;
			else if (d->flags)
				d->top = d->bottom;
		}
		at = nudge(h, t, at);
		if (at != t->addr)
			copy_in_pieces(h, t, at);
		at += t->size;
	}
	for (bool first = true; to < h->areas_len; to++, first = false) {
		struct lc_area *d = &h->areas[to];

		if (d->flags)
			d->top = first && at > d->bottom && at <= d->end ? at : d->bottom;
	}
	for (size_t i = 0; i < h->areas_len; i++) {
		struct lc_area *a = &h->areas[i];

		if (h->kind == REGION_HEAP && a->flags && a->top == a->bottom)
			a->kind = LC_AREA_FREE;
	}
}

static void shuffle_moves(struct model *h)
{
	for (size_t i = h->moves_len; i > 1; i--) {
		size_t j = dice(h, (uint32_t)i);
		struct lc_move v = h->moves[j];

		h->moves[j] = h->moves[i - 1];
		h->moves[i - 1] = v;
	}
}

/* A spare copy into what is free at the end: told as a write without a source. */
static void spare_write(struct model *h)
{
	struct lc_area *a = &h->areas[dice(h, (uint32_t)h->areas_len)];

	if (a->end - a->top >= 128 && a->kind != LC_AREA_HUMONGOUS_CONT &&
	    a->kind != LC_AREA_HUMONGOUS) {
		log_move(h, 0, a->top, 128);
		h->spare = a;
	}
}

/*
 * The header as a look would find it: the truth, with the dead still there unless overwritten. At
 * the rest of a partly overwritten dead one, the collection has put filler.
 */
static enum lc_map_header header(void *user, const struct lc_object *o)
{
	struct model *h = user;

	if (dice(h, 8) == 0)
		return LC_MAP_HEADER_LATER;
	for (size_t i = 0; i < h->things_len; i++) {
		const struct thing *t = &h->things[i];

		if (t->addr == o->addr)
			return t->size == o->size_bytes && t->site == o->site ? LC_MAP_HEADER_SAME
			                                                      : LC_MAP_HEADER_OTHER;
		if (t->addr < o->addr + o->size_bytes && o->addr < t->addr + t->size)
			return LC_MAP_HEADER_OTHER;
	}
	return LC_MAP_HEADER_SAME;
}

/*
 * Every live tracked object is found; no interval lies over another live tracked object, but for
 * one in doubt over what came there unseen.
 */
static void compare(struct model *h)
{
	struct lc_object o;
	uint64_t at = 0, end = 0;
	size_t i = 0;

	qsort(h->things, h->things_len, sizeof(h->things[0]), by_addr);
	while (!h->error && lc_map_next(h->map, &at, &o)) {
		if (o.addr < end)
			fail(h, "two intervals of the map overlap");
		end = o.addr + o.size_bytes;
		while (i < h->things_len && h->things[i].addr + h->things[i].size <= o.addr)
			i++;
		for (size_t j = i; j < h->things_len && h->things[j].addr < end; j++) {
			const struct thing *t = &h->things[j];

			if (t->site && (t->known || t->size > 2 * INLINE || !h->doubts) &&
			    (t->addr != o.addr || t->size != o.size_bytes || t->site != o.site))
				fail(h, "an interval lies over another live object");
		}
		h->result->stale += i == h->things_len || h->things[i].site != o.site;
	}
	for (i = 0; i < h->things_len; i++) {
		const struct thing *t = &h->things[i];

		if (!t->site || !t->known)
			continue;
		h->result->checked++;
		if (!lc_map_find(h->map, t->addr + t->size / 2, &o) || o.addr != t->addr ||
		    o.size_bytes != t->size || o.site != t->site)
			fail(h, "a live object is not in the map");
	}
}

static int by_site(const void *a, const void *b)
{
	const struct lc_map_copied *x = a, *y = b;

	return x->site < y->site ? -1 : x->site > y->site;
}

/* The fate of each object that is still known, by the map. */
static void take_told(struct model *h)
{
	static const struct lc_map_copied nothing = { 0 };
	const struct lc_map_copied *c;

	for (h->told_len = 0; (c = lc_map_copied(h->map)); lc_map_copied_taken(h->map))
		if (h->told_len < 2 * OBJECTS)
			h->told[h->told_len++] = *c;
	qsort(h->told, h->told_len, sizeof(h->told[0]), by_site);
	for (size_t i = 1; i < h->told_len; i++)
		if (h->told[i].site == h->told[i - 1].site)
			fail(h, "a site has two sums");
	for (size_t i = 0; i < h->things_len; i++) {
		const struct thing *t = &h->things[i];
		const struct lc_map_copied key = { .site = t->site };

		if (!t->live || !t->site || !t->known)
			continue;
		c = bsearch(&key, h->told, h->told_len, sizeof(key), by_site);
		c = c ? c : &nothing;
		if (c->objects != t->copies || c->bytes != t->copies * t->size)
			fail(h, "an object is not counted as copied each time");
		if (c->outlived != t->outlives || c->outlived_bytes != t->outlives * t->size)
			fail(h, "an object does not outlive its first collection once");
	}
}

static void nursery_of(struct model *h, struct lc_nursery_run *runs, struct lc_nursery *nursery)
{
	for (size_t i = 0; i < THREADS; i++)
		runs[i] = (struct lc_nursery_run){ h->records[i], h->records_len[i] };
	*nursery = (struct lc_nursery){ runs, THREADS, h->tag };
}

/* Rule 5 of heap/map_close.c, for an object that stayed: where may one have come to be unseen? */
static bool is_dropped(const struct model *h, const struct thing *t, const struct lc_area *a,
                       bool full, bool complete)
{
	uint64_t first = PIECE - (t->addr - heap_low) % PIECE;

	if (t->size <= INLINE)
		return full || (h->left_behind && !(h->stuck_known && complete)) ||
		       (a->kind == LC_AREA_EDEN && a == h->spare);
	return full && first <= INLINE && t->size > first && t->size - first <= INLINE;
}

static void collect(struct model *h, uint32_t how)
{
	struct lc_nursery_run runs[THREADS];
	struct lc_nursery nursery;
	struct lc_map_close c = {
		.nursery = &nursery, .heap_low = heap_low, .complete = true, .in_pieces = true
	};

	h->moves_len = 0;
	h->left_behind = false;
	h->stuck_known = how & 32 && how % 8 != 1;
	h->spare = NULL;
	if (how % 8 == 1)
		collect_full(h);
	else if (how % 8 != 2)
		collect_young(h, how / 8);
	if (how % 8 != 2)
		free_humongous(h);
	spare_write(h);
	shuffle_moves(h);
	if (h->moves_len && how % 32 == 31) { /* lost; the tail, as a full log would */
		c.complete = false;
		h->moves_len /= 2;
	}
	for (size_t i = 0; i < h->things_len; i++) {
		struct thing *t = &h->things[i];
		const struct lc_area *a = area_of(h, t->addr);

		if (t->moved && (!c.complete || t->unseen))
			t->known = false;
		if (!c.complete && a->flags & LC_AREA_COMPACTED)
			t->known = false;
		if (!t->moved && is_dropped(h, t, a, how % 8 == 1, c.complete))
			t->known = false;
		t->copies = t->moved;
		t->outlives = t->young && how % 8 != 2;
		t->young &= how % 8 == 2;
		t->moved = t->unseen = false;
	}
	c.collected = how % 8 != 2;
	c.stuck_known = h->stuck_known;
	nursery_of(h, runs, &nursery);
	c.moves = h->moves;
	c.moves_len = h->moves_len;
	c.areas = h->areas;
	c.areas_len = h->areas_len;
	if (lc_map_close_epoch(h->map, &c))
		fail(h, "closing an epoch failed");
	memset(h->records_len, 0, sizeof(h->records_len));
	h->tag++;
	h->result->collections++;
	take_told(h);
	empty_dead(h);
	h->doubts = lc_map_check(h->map, header, h, how & 64 ? 3 : SIZE_MAX);
	for (size_t i = 0; i < h->areas_len; i++)
		h->areas[i].flags = 0;
	compare(h);
}

static void die(struct model *h, uint32_t share)
{
	for (size_t i = 0; i < h->things_len; i++) {
		if (dice(h, 64) < share)
			h->things[i].live = false;
	}
}

static void ask(struct model *h)
{
	struct lc_nursery_run runs[THREADS];
	struct lc_nursery nursery;
	struct lc_query q[24];
	uint32_t picked[24];
	size_t n = 0;

	for (size_t i = 0; i < 24 && h->things_len; i++) {
		uint32_t at = dice(h, (uint32_t)h->things_len);
		const struct thing *t = &h->things[at];

		if (!t->live || !t->site || !(t->known || t->nursery))
			continue;
		picked[n] = at;
		q[n] = (struct lc_query){ .addr = t->addr + dice(h, (uint32_t)t->size),
			                  .user = (uint32_t)n };
		n++;
	}
	nursery_of(h, runs, &nursery);
	lc_map_resolve(h->map, &nursery, q, n);
	for (size_t i = 0; i < n; i++) {
		const struct thing *t = &h->things[picked[q[i].user]];

		h->result->queries++;
		if (!q[i].found || q[i].object.addr != t->addr || q[i].object.site != t->site ||
		    q[i].object.size_bytes != t->size)
			fail(h, "an address was resolved to another object or to none");
	}
}

const char *map_model_run(const uint8_t *data, size_t len, struct map_model_result *result)
{
	struct model *h = calloc(1, sizeof(*h));
	const char *error;

	if (!h)
		return "out of memory";
	h->data = data;
	h->len = len;
	h->result = result;
	h->random = len;
	h->tag = (uint16_t)-3; /* wraps soon */
	if (lc_map_create(&h->map))
		fail(h, "out of memory");
	h->kind = byte(h) & 1 ? REGION_HEAP : SPLIT_HEAP;
	lay_out(h);
	while (h->at < h->len && !h->error) {
		uint32_t op = byte(h);

		h->random ^= (uint64_t)op << 7;
		if (op < 200)
			allocate(h, op);
		else if (op < 216)
			ask(h);
		else if (op < 232)
			die(h, byte(h) % 65);
		else
			collect(h, byte(h));
	}
	error = h->error;
	lc_map_destroy(h->map);
	free(h);
	return error;
}
