/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/map_close.c - carries survivors and nursery over a collection. It is longer than 600 lines
 * because its steps share one structure and make sense only together.
 *
 * These are the rules for a tracked object at [a, a + n) when the collection started;
 * jvm/layout/areas.h says why they are right:
 *
 *   1. A move with src == a and size <= n: the object is at dst, all of it (large ones are copied
 *      in pieces, to one place). A move of more than n bytes: what starts there is another object,
 *      and the tracked one is dead.
 *   2. No such move, but one with a < src <= a + 64, inside the object, whose dst is aligned as the
 *      later pieces of an object are: the object is at dst - (src - a); the first piece was too
 *      short to be seen.
 *   3. Otherwise it stays if it lies in [bottom, top) of an area that is not free and no move wrote
 *      over any of it; else it is dead. A humongous object lies in its first area if it begins at
 *      the bottom of that. In a compacted area it stays in doubt: lc_map_check().
 *   4. An object that was moved must lie in an area too, else it is dead.
 *   5. An object of 64 bytes or less is copied inline. The moves say where it went (gc/small.h),
 *      unless the collection left no trace of it. So such an object without a move is dead wherever
 *      the collection may have moved it: rule 3 holds for it only in memory that was old before, or
 *      in an eden that was not collected. All such objects are dropped after a collection that
 *      compacted. In a region that the collection evacuated and had to leave objects in (and puts
 *      filler of any class between them) one that stays has a move to its own place, with
 *      `stuck_known`. Without it, small objects are dropped there; and any old region may be such a
 *      one, unless nothing was taken out of old memory. An object of up to twice that size is seen
 *      when it moves, unless it comes to lie across a boundary of regions, in two pieces, as
 *      Parallel copies it; so it is dropped if it lies like that in a compacted area. With
 *      `small_known` the moves say of each where it slid, and one without a move may have stayed
 *      below the lowest place of its area that was slid to: a sliding collection keeps the order.
 *
 * The order of the steps makes each of them local:
 *
 *   index    put the moves into a hash table by src, with a filter in front of it
 *   take     take the survivors that moved out of the map
 *   scan     stream the nursery records past a bitmap of the places where areas have objects or
 *            moves have a src, and past the filter. Objects that moved join the survivors taken;
 *            those that stayed go into the map, or remain records if they are in an eden that
 *            was not collected and not written to
 *   erase    remove the objects that moves wrote over
 *   sweep    remove objects where the last layout had objects and the new one has none; then
 *            apply rule 5
 *   doubt    note the objects that stayed in compacted areas
 *   land     put the objects that moved into the map at their new places
 *   tell     count objects of each site that landed, and new ones that are still there
 *
 * A bitmap tells when no survivor need be looked up: most moves of a young collection come from,
 * and go to, memory without survivors.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/vector.h"
#include "src/core/area.h"
#include "src/core/stand_back.h"
#include "src/heap/map_impl.h"

enum { OLD_MOVES = 4096 }; /* that are looked at for whether old memory was collected */

struct landing {
	uint64_t dst;
	struct lc_map_entry entry; /* site 0: no object of ours */
};

struct closing {
	struct lc_map *m;
	const struct lc_map_close *c;
	struct landing *landings; /* by move */
	uint32_t *table;          /* hash of src -> index of the move + 1 */
	uint64_t *filter;         /* one bit per hash of src, and of starts before a later piece */
	unsigned table_shift, filter_shift;
	bool pieces;            /* some move may be a later piece of an object */
	bool left_behind;       /* some object stayed in a region that was evacuated */
	bool eden_left;         /* some eden was not evacuated */
	size_t near;            /* index of the area that was found last */
	uint8_t *written;       /* by area: some move wrote into it; only with eden_left */
	uint64_t *lowest;       /* by area: the lowest place written to; only with small_known */
	struct lc_alloc *stays; /* records that stayed, older ones first */
	size_t stays_len, stays_cap;
};

static inline uint64_t mix(uint64_t addr)
{
	return lc_hash(addr >> 3);
}

static unsigned log2_at_least(size_t n)
{
	unsigned bits = 6;

	while (((size_t)1 << bits) < n)
		bits++;
	return bits;
}

static inline bool filter_has(const uint64_t *filter, unsigned shift, uint64_t addr)
{
	uint64_t bit = mix(addr) >> shift;

	return filter[bit / 64] >> (bit % 64) & 1;
}

static void filter_add(struct closing *k, uint64_t addr)
{
	uint64_t bit = mix(addr) >> k->filter_shift;

	k->filter[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static uint64_t slot_after(const struct closing *k, uint64_t slot)
{
	return (slot + 1) & ((UINT64_C(1) << (64 - k->table_shift)) - 1);
}

/* Index of the move with this src, or -1. */
static ptrdiff_t find_move(const struct closing *k, uint64_t src)
{
	for (uint64_t s = mix(src) >> k->table_shift; k->table[s]; s = slot_after(k, s)) {
		if (k->c->moves[k->table[s] - 1].src == src)
			return (ptrdiff_t)k->table[s] - 1;
	}
	return -1;
}

/* index: if several moves have one src, which the contract forbids, the last one counts. */
static int index_moves(struct closing *k)
{
	size_t n = k->c->moves_len;
	unsigned table_bits = log2_at_least(n * 4), filter_bits = log2_at_least(n * 16);

	if (n >= UINT32_MAX)
		return -ENOMEM;
	k->table_shift = 64 - table_bits;
	k->filter_shift = 64 - filter_bits;
	k->table = calloc((size_t)1 << table_bits, sizeof(*k->table));
	k->filter = calloc((size_t)1 << (filter_bits - 6), sizeof(*k->filter));
	k->landings = calloc(n + 1, sizeof(*k->landings));
	if (!k->table || !k->filter || !k->landings)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct lc_move *v = &k->c->moves[i];
		uint64_t s = mix(v->src) >> k->table_shift;

		lc_stand_back();
		if (!v->src || !v->size_bytes)
			continue;
		while (k->table[s] && k->c->moves[k->table[s] - 1].src != v->src)
			s = slot_after(k, s);
		k->table[s] = (uint32_t)i + 1;
		filter_add(k, v->src);
		lc_map_grid_add(&k->m->open, v->src, v->src + 1);
		if (!lc_move_continues(v, k->c->heap_low))
			continue;
		k->pieces = true;
		for (uint64_t back = 8; back <= LC_MOVE_INLINE_BYTES; back += 8)
			filter_add(k, v->src - back);
		lc_map_grid_add(&k->m->open, v->src - LC_MOVE_INLINE_BYTES, v->src);
	}
	return 0;
}

/* Remember that object `e` goes to `dst` with move i. A later record of the same object wins. */
static void depart(struct closing *k, size_t i, uint64_t dst, struct lc_map_entry e)
{
	struct landing *l = &k->landings[i];

	if (l->entry.site && l->entry.site == e.site && l->entry.size_words == e.size_words)
		return; /* the same object, recorded twice: it keeps its age */
	/* The whole object moved, so it was there: no doubt is left. */
	if (k->c->moves[i].size_bytes == (uint64_t)e.size_words * 8)
		e.birth_in &= ~(uint32_t)LC_MAP_DOUBT;
	*l = (struct landing){ dst, e };
}

/*
 * Apply rules 1 and 2 to the object at `addr`. Returns 1 if it departs, or if a longer move shows
 * that it is dead; 0 if no move is about it.
 */
static int follow(struct closing *k, uint64_t addr, struct lc_map_entry e)
{
	uint64_t size_bytes = (uint64_t)e.size_words * 8;
	ptrdiff_t i = find_move(k, addr);

	if (i >= 0) {
		if (k->c->moves[i].size_bytes <= size_bytes)
			depart(k, (size_t)i, k->c->moves[i].dst, e);
		return 1;
	}
	if (!k->pieces)
		return 0;
	for (uint64_t gap = 8; gap <= LC_MOVE_INLINE_BYTES && gap < size_bytes; gap += 8) {
		i = find_move(k, addr + gap);
		if (i < 0 || !lc_move_continues(&k->c->moves[i], k->c->heap_low) ||
		    k->c->moves[i].size_bytes + gap > size_bytes)
			continue;
		depart(k, (size_t)i, k->c->moves[i].dst - gap, e);
		return 1;
	}
	return 0;
}

/*
 * take: take out survivors whose start is a src, and those that begin shortly before a later piece.
 */
static void take_survivors(struct closing *k)
{
	struct lc_map *m = k->m;

	for (size_t i = 0; m->count && i < k->c->moves_len; i++) {
		const struct lc_move *v = &k->c->moves[i];
		const struct lc_map_entry *e;
		uint64_t at = 0;

		lc_stand_back();
		if (!v->src || !v->size_bytes)
			continue;
		if (lc_map_grid_has(&m->held, v->src)) {
			e = lc_map_at(m, v->src);
			if (e) {
				follow(k, v->src, *e);
				lc_map_remove(m, v->src);
			}
		}
		if (!k->pieces || !lc_move_continues(v, k->c->heap_low))
			continue;
		e = lc_map_at_or_below(m, v->src - 1, &at);
		if (e && v->src - at <= LC_MOVE_INLINE_BYTES && follow(k, at, *e))
			lc_map_remove(m, at);
	}
}

/* The index of the area that holds `addr`, or -1. */
static ptrdiff_t find_area(struct closing *k, uint64_t addr)
{
	const struct lc_area *a = k->c->areas;
	size_t i, len = k->c->areas_len;

	if (k->near < len && addr >= a[k->near].bottom && addr < a[k->near].end)
		return (ptrdiff_t)k->near;
	i = lc_area_find(a, len, addr);
	if (i == len)
		return -1;
	k->near = i;
	return (ptrdiff_t)i;
}

static bool is_small(uint64_t size_words)
{
	return size_words * 8 <= LC_MOVE_INLINE_BYTES;
}

/* Was `addr` in old memory when the epoch began? */
static bool was_old(const struct closing *k, uint64_t addr)
{
	const struct lc_area *a = k->m->areas;
	const size_t len = k->m->areas_len, i = lc_area_find(a, len, addr);

	return i < len && a[i].kind == LC_AREA_OLD;
}

/* The end of the part of an area in which objects may have stayed. */
static uint64_t left_end(const struct closing *k, const struct lc_area *a)
{
	if (a->kind == LC_AREA_FREE || (!k->c->complete && a->flags & LC_AREA_COMPACTED))
		return a->bottom;
	if (a->kind == LC_AREA_HUMONGOUS || a->kind == LC_AREA_HUMONGOUS_CONT)
		return a->end;
	return a->top < a->end ? a->top : a->end;
}

/* The index of the area in whose part with objects the object at `addr` lies, or -1. */
static ptrdiff_t lies_in(struct closing *k, uint64_t addr, uint64_t size_bytes)
{
	ptrdiff_t i = find_area(k, addr);
	const struct lc_area *a;

	if (i < 0)
		return -1;
	a = &k->c->areas[i];
	if (a->kind == LC_AREA_HUMONGOUS_CONT)
		return -1;
	if (a->kind == LC_AREA_HUMONGOUS)
		return addr == a->bottom && left_end(k, a) > addr ? i : -1;
	return addr + size_bytes <= left_end(k, a) ? i : -1;
}

/*
 * Lay the bitmaps over both layouts, and over the moves: G1 may commit a region, use it as eden,
 * and uncommit it when it is empty, all between two layouts.
 */
static void lay_out(struct closing *k)
{
	struct lc_map *m = k->m;
	const struct lc_area *now = k->c->areas, *before = m->areas;
	size_t n = k->c->areas_len, b = m->areas_len;
	uint64_t low = n ? now[0].bottom : 0, high = n ? now[n - 1].end : 0;

	if (b) {
		low = n && low < before[0].bottom ? low : before[0].bottom;
		high = n && high > before[b - 1].end ? high : before[b - 1].end;
	}
	for (size_t i = 0; i < k->c->moves_len; i++) {
		uint64_t src = k->c->moves[i].src;

		if (src && src - LC_MOVE_INLINE_BYTES < low)
			low = src - LC_MOVE_INLINE_BYTES; /* rule 2 */
		if (src && src >= high)
			high = src + 1;
	}
	lc_map_grid_reset(&m->open, low, high);
	lc_map_grid_reset(&m->held, low, high);
	for (size_t i = 0; i < n; i++) {
		uint64_t end = left_end(k, &now[i]);

		if (now[i].kind == LC_AREA_HUMONGOUS && end > now[i].bottom)
			end = now[i].bottom + 1;
		if (now[i].kind != LC_AREA_HUMONGOUS_CONT)
			lc_map_grid_add(&m->open, now[i].bottom, end);
		k->eden_left |= now[i].kind == LC_AREA_EDEN && end > now[i].bottom;
	}
	for (size_t i = 0; i < b; i++) {
		bool humongous =
		    before[i].kind == LC_AREA_HUMONGOUS || before[i].kind == LC_AREA_HUMONGOUS_CONT;

		if (before[i].kind != LC_AREA_FREE)
			lc_map_grid_add(&m->held, before[i].bottom,
			                humongous ? before[i].end : before[i].top);
	}
}

/* Note which areas moves wrote into; needed only for eden areas that kept objects. */
static int note_written(struct closing *k)
{
	if (!k->eden_left)
		return 0;
	k->written = calloc(k->c->areas_len, 1);
	if (!k->written)
		return -ENOMEM;
	for (size_t i = 0; i < k->c->moves_len; i++) {
		const struct lc_move *v = &k->c->moves[i];
		ptrdiff_t a = v->size_bytes ? find_area(k, v->dst) : -1;

		for (; a >= 0 && (size_t)a < k->c->areas_len &&
		       k->c->areas[a].bottom < v->dst + v->size_bytes;
		     a++)
			k->written[a] = 1;
	}
	return 0;
}

/* Note up to where small objects may have stayed in each area: see rule 5. */
static int note_lowest(struct closing *k)
{
	if (!k->c->small_known)
		return 0;
	k->lowest = malloc((k->c->areas_len + 1) * sizeof(*k->lowest));
	if (!k->lowest)
		return -ENOMEM;
	for (size_t i = 0; i < k->c->areas_len; i++)
		k->lowest[i] = UINT64_MAX;
	for (size_t i = 0; i < k->c->moves_len; i++) {
		const struct lc_move *v = &k->c->moves[i];
		ptrdiff_t a = v->size_bytes ? find_area(k, v->dst) : -1;

		for (; a >= 0 && (size_t)a < k->c->areas_len &&
		       k->c->areas[a].bottom < v->dst + v->size_bytes;
		     a++) {
			uint64_t low =
			    v->dst > k->c->areas[a].bottom ? v->dst : k->c->areas[a].bottom;

			if (low < k->lowest[a])
				k->lowest[a] = low;
		}
	}
	return 0;
}

/* May a small object at `addr`, in that area, have stayed where others slid? */
static bool small_stays(const struct closing *k, ptrdiff_t area, uint64_t addr)
{
	return k->lowest && area >= 0 && k->c->areas[area].flags & LC_AREA_COMPACTED &&
	       addr < k->lowest[area];
}

/* Look at a record that passed the filters: its object departs, stays, or is dropped. */
static int consider(struct closing *k, uint64_t addr, const struct lc_alloc *a, uint32_t birth_in)
{
	struct lc_alloc *stays;
	struct lc_map_entry e = { .size_words = a->size_words,
		                  .site = a->site,
		                  .birth_in = birth_in };

	ptrdiff_t area;

	if (!a->site || !a->size_words || follow(k, addr, e))
		return 0;
	area = lies_in(k, addr, (uint64_t)a->size_words * 8);
	if (area < 0)
		return 0;
	if (k->c->areas[area].kind == LC_AREA_OLD && !was_old(k, addr)) {
		k->left_behind = true;
		if (is_small(a->size_words) && !small_stays(k, area, addr)) {
			k->m->dropped +=
			    !(k->c->areas[area].flags & LC_AREA_COMPACTED) && !k->c->stuck_known;
			return 0;
		}
	}
	stays = lc_vector_reserve_array(k->stays, &k->stays_cap, k->stays_len + 1, sizeof(*stays));
	if (!stays)
		return -ENOMEM;
	k->stays = stays;
	k->stays[k->stays_len++] = *a;
	return 0;
}

static int scan(struct closing *k)
{
	const struct lc_map *m = k->m;
	const struct lc_nursery *nursery = k->c->nursery;
	const struct lc_map_grid *open = &m->open;
	const uint64_t tag = (uint64_t)nursery->epoch_tag << LC_ADDR_BITS;
	const uint64_t *filter = k->filter;
	const unsigned shift = k->filter_shift;
	const uint32_t now = m->closes << LC_MAP_BIRTH | LC_MAP_NEW;
	int err = 0;

	for (size_t i = 0; i < m->kept_len && !err; i++) {
		const struct lc_alloc *a = &m->kept[i];

		err = consider(k, lc_alloc_addr(a), a,
		               now - ((uint32_t)lc_map_kept_epochs(m, a) << LC_MAP_BIRTH));
	}
	for (size_t i = 0; i < nursery->len && !err; i++) {
		const struct lc_alloc *records = nursery->runs[i].records;
		size_t len = nursery->runs[i].len;

		for (size_t j = 0; j < len && !err; j++) {
			const struct lc_alloc *a = &records[j];
			uint64_t addr = a->tagged_addr ^ tag; /* large when the tag is another */

			lc_map_fetch(nursery, i, j);
			lc_stand_back();
			if (addr <= LC_ADDR_MASK && lc_map_grid_has(open, addr) &&
			    (filter_has(filter, shift, addr) || lies_in(k, addr, 8) >= 0))
				err = consider(k, addr, a, now);
		}
	}
	return err;
}

/* Remember a record that went into the map: see tell_fresh(). */
static void note_fresh(struct lc_map *m, const struct lc_alloc *a)
{
	struct lc_alloc *fresh =
	    lc_vector_reserve_array(m->fresh, &m->fresh_cap, m->fresh_len + 1, sizeof(*fresh));

	if (!fresh) {
		m->copied_lost++;
		return;
	}
	m->fresh = fresh;
	m->fresh[m->fresh_len++] = *a;
}

/*
 * Put the records that stayed into the map, newer ones over older ones, or keep them as records.
 */
static int place_stays(struct closing *k)
{
	struct lc_map *m = k->m;
	size_t kept = 0;

	for (size_t i = 0; i < k->stays_len; i++) {
		const struct lc_alloc *a = &k->stays[i];
		uint64_t addr = lc_alloc_addr(a), size_bytes = (uint64_t)a->size_words * 8;
		ptrdiff_t area = lies_in(k, addr, size_bytes);
		const struct lc_map_entry *e;
		uint32_t epochs = (uint16_t)(k->c->nursery->epoch_tag - lc_alloc_epoch_tag(a));

		lc_stand_back();
		if (k->c->areas[area].kind == LC_AREA_EDEN && !k->written[area] &&
		    !(k->c->areas[area].flags & LC_AREA_COMPACTED)) {
			k->stays[kept++] = *a;
			continue;
		}
		if (is_small(a->size_words) && k->c->areas[area].kind != LC_AREA_OLD &&
		    !small_stays(k, area, addr))
			continue; /* rule 5 */
		e = lc_map_at(m, addr);
		if (e && e->site == a->site && e->size_words == a->size_words)
			continue; /* recorded twice: it keeps its age */
		if (lc_map_put_over(
		        m, addr,
		        (struct lc_map_entry){ .size_words = a->size_words,
		                               .site = a->site,
		                               .birth_in = (m->closes - epochs) << LC_MAP_BIRTH |
		                                           LC_MAP_NEW }))
			return -ENOMEM;
		lc_map_grid_add(&m->held, addr, addr + size_bytes);
		note_fresh(m, a);
	}
	free(m->kept);
	m->kept = NULL;
	m->kept_cap = 0;
	if (kept) { /* exchange the arrays; mostly no record is kept, and there is no array */
		m->kept = k->stays;
		m->kept_cap = k->stays_cap;
		k->stays = NULL;
	}
	m->kept_len = kept;
	m->kept_forgotten = 0;
	m->kept_sorted = false;
	return 0;
}

static void erase(struct closing *k)
{
	struct lc_map *m = k->m;

	for (size_t i = 0; m->count && i < k->c->moves_len; i++) {
		const struct lc_move *v = &k->c->moves[i];

		lc_stand_back();
		if (lc_map_grid_meets(&m->held, v->dst, v->dst + v->size_bytes))
			lc_map_remove_range(m, v->dst, v->dst + v->size_bytes);
	}
}

/* Does the object at `addr` reach beyond its area since it is a humongous object that stayed? */
static bool spans(struct closing *k, uint64_t addr, const struct lc_map_entry *e)
{
	ptrdiff_t i = find_area(k, addr);

	return i >= 0 && k->c->areas[i].kind == LC_AREA_HUMONGOUS &&
	       lies_in(k, addr, (uint64_t)e->size_words * 8) >= 0;
}

/* Take out the objects that overlap [low, high), downwards as lc_map_remove_range() does. */
static void clear_out(struct closing *k, uint64_t low, uint64_t high)
{
	const struct lc_map_entry *e;
	uint64_t at = 0;

	while (low < high && (e = lc_map_at_or_below(k->m, high - 1, &at)) &&
	       at + (uint64_t)e->size_words * 8 > low && (at >= low || !spans(k, at, e))) {
		lc_map_remove(k->m, at);
		lc_stand_back();
	}
}

/* Take out an object that reaches over `at` from below. */
static void cut(struct closing *k, uint64_t at)
{
	const struct lc_map_entry *e;
	uint64_t start = 0;

	e = at ? lc_map_at_or_below(k->m, at - 1, &start) : NULL;
	if (e && start + (uint64_t)e->size_words * 8 > at && !spans(k, start, e))
		lc_map_remove(k->m, start);
}

/* sweep: walk the last and the new layout together. */
static void sweep(struct closing *k)
{
	size_t next_area = 0;

	for (size_t i = 0; k->m->count && i < k->m->areas_len; i++) {
		const struct lc_area *was = &k->m->areas[i];
		bool humongous =
		    was->kind == LC_AREA_HUMONGOUS || was->kind == LC_AREA_HUMONGOUS_CONT;
		uint64_t at = was->bottom;
		uint64_t limit = was->kind == LC_AREA_FREE ? at : humongous ? was->end : was->top;

		while (at < limit) {
			const struct lc_area *now;
			uint64_t next;

			lc_stand_back();
			while (next_area < k->c->areas_len && k->c->areas[next_area].end <= at)
				next_area++;
			if (next_area == k->c->areas_len ||
			    k->c->areas[next_area].bottom >= limit) {
				clear_out(k, at, limit);
				break;
			}
			now = &k->c->areas[next_area];
			k->left_behind |= now->kind == LC_AREA_OLD && was->kind == LC_AREA_SURVIVOR;
			clear_out(k, at, now->bottom);
			if (at < now->bottom)
				at = now->bottom;
			if (at > was->bottom && now->kind != LC_AREA_HUMONGOUS_CONT)
				cut(k, at); /* objects do not reach from one area into another */
			next = now->end < limit ? now->end : limit;
			clear_out(k, left_end(k, now) > at ? left_end(k, now) : at, next);
			at = next;
		}
	}
}

/* Would a copy of an object to `addr`, in the pieces that a sliding collection makes, go unseen? */
static bool unseen_at(const struct closing *k, uint64_t addr, uint64_t size_bytes)
{
	uint64_t first =
	    LC_MOVE_PIECE_ALIGN - ((addr - k->c->heap_low) & (LC_MOVE_PIECE_ALIGN - 1));

	return size_bytes <= LC_MOVE_INLINE_BYTES ||
	       (first <= LC_MOVE_INLINE_BYTES && size_bytes > first &&
	        size_bytes - first <= LC_MOVE_INLINE_BYTES);
}

/*
 * Did the collection take objects out of memory that was old before? Each `step`th move is looked
 * at.
 */
static bool old_collected(const struct closing *k, size_t step)
{
	for (size_t i = 0; i < k->c->moves_len; i += step)
		if (k->c->moves[i].src && was_old(k, k->c->moves[i].src))
			return true;
	for (size_t i = 0; i < k->m->areas_len; i++) {
		const struct lc_area *was = &k->m->areas[i], *now;

		for (uint64_t at = was->bottom; was->kind == LC_AREA_OLD && at < was->top;
		     at = now->end) {
			const size_t n = lc_area_find(k->c->areas, k->c->areas_len, at);

			now = &k->c->areas[n];
			if (n == k->c->areas_len || now->kind != LC_AREA_OLD ||
			    now->top < (was->top < now->end ? was->top : now->end))
				return true;
		}
	}
	return false;
}

/* Rule 5: drop the small objects if nothing tells which of them stayed where they were. */
static void drop_small(struct closing *k)
{
	struct lc_map *m = k->m;
	bool compacted = false, old_stays;
	struct lc_map_entry *e;

	for (size_t i = 0; i < k->c->areas_len; i++)
		compacted |= k->c->areas[i].flags & LC_AREA_COMPACTED;
	if (!compacted && !k->left_behind)
		return;
	old_stays = !compacted && (k->c->stuck_known || !old_collected(k, 1));
	for (uint64_t at = 0; (e = lc_map_at_or_above(m, at, &at)); at++) {
		const bool small = is_small(e->size_words);

		if (small ? small_stays(k, find_area(k, at), at) || (old_stays && was_old(k, at))
		          : !compacted || !k->c->in_pieces ||
		                !unseen_at(k, at, (uint64_t)e->size_words * 8))
			continue;
		/* gc/small.c knows that they died, or counts them. */
		m->dropped += !small || !(compacted || k->c->stuck_known);
		lc_map_remove(m, at);
	}
}

static int note_doubt(struct lc_map *m, uint64_t addr)
{
	uint64_t *doubts =
	    lc_vector_reserve_array(m->doubts, &m->doubts_cap, m->doubts_len + 1, sizeof(*doubts));

	if (!doubts)
		return -ENOMEM;
	m->doubts = doubts;
	m->doubts[m->doubts_len++] = addr;
	return 0;
}

/* doubt: note the objects in compacted areas; those that moved have not landed yet. */
static int doubt(struct closing *k)
{
	struct lc_map *m = k->m;

	for (size_t i = 0; i < k->c->areas_len; i++) {
		const struct lc_area *a = &k->c->areas[i];
		uint64_t at = a->bottom;
		struct lc_map_entry *e;

		if (!(a->flags & LC_AREA_COMPACTED))
			continue;
		for (; (e = lc_map_at_or_above(m, at, &at)) && at < a->end; at++) {
			if (!(e->birth_in & LC_MAP_DOUBT) && note_doubt(m, at))
				return -ENOMEM;
			e->birth_in |= LC_MAP_DOUBT;
		}
	}
	return 0;
}

static void tell_outlived(struct lc_map_copied *sum, uint64_t size_bytes)
{
	sum->outlived++;
	sum->outlived_bytes += size_bytes;
}

/* An object that has moved was copied; one that a move says has stayed was not. */
static void tell_landed(struct lc_map *m, const struct landing *l, uint64_t size_bytes, bool moved)
{
	struct lc_map_copied *sum = lc_map_copied_of(m, l->entry.site);

	if (!sum)
		return;
	if (moved) {
		sum->objects++;
		sum->bytes += size_bytes;
	}
	if (l->entry.birth_in & LC_MAP_NEW)
		tell_outlived(sum, size_bytes);
}

/*
 * tell: count the new objects that did not move and are still in the map. An object that outlived a
 * pause that collected nothing is still new.
 */
static void tell_fresh(struct closing *k)
{
	struct lc_map *m = k->m;

	for (size_t i = 0; k->c->collected && i < m->fresh_len; i++) {
		const struct lc_alloc *a = &m->fresh[i];
		struct lc_map_entry *e = lc_map_at(m, lc_alloc_addr(a));
		struct lc_map_copied *sum;

		lc_stand_back();
		if (!e || e->site != a->site || e->size_words != a->size_words ||
		    !(e->birth_in & LC_MAP_NEW))
			continue;
		e->birth_in &= ~(uint32_t)LC_MAP_NEW;
		sum = lc_map_copied_of(m, a->site);
		if (sum)
			tell_outlived(sum, (uint64_t)a->size_words * 8);
	}
	if (!k->c->collected)
		return;
	free(m->fresh);
	m->fresh = NULL;
	m->fresh_len = m->fresh_cap = 0;
}

static int land(struct closing *k)
{
	struct lc_map *m = k->m;

	for (size_t i = 0; k->c->complete && i < k->c->moves_len; i++) {
		const struct landing *l = &k->landings[i];
		uint64_t size_bytes = (uint64_t)l->entry.size_words * 8;
		const size_t count = m->count;
		struct lc_map_entry entry;

		lc_stand_back();
		if (!l->entry.site || lies_in(k, l->dst, size_bytes) < 0)
			continue;
		entry = l->entry;
		entry.birth_in &= ~(uint32_t)LC_MAP_NEW;
		if (lc_map_put_over(m, l->dst, entry))
			return -ENOMEM;
		/* erase() has made room, so that only another object that moved can be in the way.
		 */
		m->dropped += count + 1 - m->count;
		if (l->entry.birth_in & LC_MAP_DOUBT && note_doubt(m, l->dst))
			return -ENOMEM;
		tell_landed(m, l, size_bytes, k->c->moves[i].src != l->dst);
	}
	return 0;
}

int lc_map_close_epoch(struct lc_map *m, const struct lc_map_close *c)
{
	struct closing k = { .m = m, .c = c };
	int err;

	lay_out(&k);
	err = index_moves(&k);
	if (!err)
		err = note_written(&k);
	if (!err)
		err = note_lowest(&k);
	if (!err) {
		take_survivors(&k);
		err = scan(&k);
	}
	if (!err)
		err = place_stays(&k);
	if (!err) {
		erase(&k);
		sweep(&k);
		drop_small(&k);
		err = doubt(&k);
	}
	if (!err)
		err = land(&k);
	if (!err)
		tell_fresh(&k);
	/* It evacuates whole regions, so that a part of the moves will do. */
	m->old_closes += !err && c->collected && old_collected(&k, 1 + c->moves_len / OLD_MOVES);
	if (!err)
		err = lc_map_keep_layout(m, c->areas, c->areas_len);
	if (err)
		lc_map_clear(m);
	lc_map_prune_doubts(m);
	m->closes++;
	m->tag = c->nursery->epoch_tag;
	free(k.table);
	free(k.filter);
	free(k.landings);
	free(k.written);
	free(k.lowest);
	free(k.stays);
	return err;
}
