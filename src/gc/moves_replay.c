/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/moves_replay.c - turns the copies that were logged into moves of objects.
 *
 * After one collection every copy that won is a move, and order does not matter. After several, the
 * copies are replayed in the order of their time stamps: an object may be copied twice in a pause,
 * an address means different objects at different times, and Parallel's full collection fills a
 * region in a spare one (a "shadow") before it copies it, whole, to its place.
 *
 * A pause evacuates first and slides afterwards. Slides of Parallel are stamped with the TSC just
 * before each copy. The order has to be right only for a copy that ends before another begins on
 * another CPU, and those two have an atomic operation between them. Serial has one thread, and its
 * log is in order. The threads of G1's full collection slide objects in regions that they share
 * with no other.
 *
 * `at` maps the present address of every copied object to its entry; `origin` maps its address at
 * GC start; `written` holds the disjoint ranges written so far. An address that was written in
 * this pause is not where an object was at GC start, unless `at` knows it.
 */
#include "src/gc/moves_batch.h"

#include <Judy.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/stand_back.h"
#include "src/gc/copy_log.h"

/* Parallel's regions: 2^16 words (Log2RegionSize). */
#define REGION_BYTES (UINT64_C(512) << 10)

/*
 * A copy of an object. Threads that race for an object make one copy each; all name the first one.
 */
struct entry {
	uint64_t src; /* at GC start */
	uint64_t dst; /* now; 0: overwritten */
	uint64_t size_bytes;
	size_t first;
	size_t
	    winner; /* in the first entry: index + 1 of the copy that is the object; 0: unknown */
};

struct replay {
	struct lc_copy *copies;
	size_t copies_len;
	struct entry *entries; /* room for one per copy */
	size_t entries_len;
	Pvoid_t at;
	Pvoid_t origin;
	Pvoid_t written;
	uint64_t low; /* of the heap */
	bool many;
	bool failed; /* no memory */
};

static uint64_t foreign_tags(const struct lc_copy_chunk *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->used; i++)
		n += c->copies[i].size_tag >> LC_COPY_TAG_SHIFT != c->tag;
	return n;
}

/*
 * Gather all copies of the batch in one array, but those that another thread wrote over. The newest
 * chunk comes first in the list and last in the array; a thread's copies keep their order.
 */
static bool gather(struct lc_move_batch *b, struct replay *r)
{
	size_t end = b->copies;

	const struct lc_copy_chunk *c;

	r->copies = malloc(b->copies * sizeof(*r->copies) + 1);
	if (!r->copies)
		return false;
	/* If copies are not logged, there are only the moves that were added. */
	for (uint32_t i = b->log ? b->head : 0; i; i = c->next) {
		lc_stand_back();
		c = &b->log->chunks[i - 1];
		if (c->used > LC_COPY_CHUNK_CAP || c->used > end) {
			b->lost++;
			continue;
		}
		b->lost += foreign_tags(c);
		for (uint32_t k = c->used; k--;)
			if (c->copies[k].size_tag >> LC_COPY_TAG_SHIFT == c->tag)
				r->copies[--end] = c->copies[k];
	}
	r->copies_len = b->copies - end;
	memmove(r->copies, r->copies + end, r->copies_len * sizeof(*r->copies));
	for (size_t i = 0; i < r->copies_len; i++)
		if (!r->copies[i].time)
			r->copies[i].time = i; /* below any TSC of a running system */
	return true;
}

static bool any_unknown(const struct replay *r)
{
	for (size_t i = 0; i < r->copies_len; i++)
		if (lc_copy_kind(&r->copies[i]) == LC_COPY_EVACUATE &&
		    lc_copy_fate(&r->copies[i]) == LC_COPY_UNKNOWN)
			return true;
	return false;
}

static bool emit_unordered(struct lc_move_batch *b, const struct replay *r)
{
	b->moves = malloc(r->copies_len * sizeof(*b->moves) + 1);
	if (!b->moves)
		return false;
	for (size_t i = 0; i < r->copies_len; i++) {
		const struct lc_copy *c = &r->copies[i];

		b->moves[i] = (struct lc_move){
			.src = lc_copy_fate(c) != LC_COPY_LOST ? lc_copy_src(c) : 0,
			.dst = c->dst,
			.size_bytes = lc_copy_size(c),
		};
	}
	b->moves_len = r->copies_len;
	return true;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct lc_copy *)a)->time;
	uint64_t y = ((const struct lc_copy *)b)->time;

	return (x > y) - (x < y);
}

static void set(struct replay *r, Pvoid_t *map, uint64_t key, uint64_t value)
{
	PPvoid_t slot = JudyLIns(map, key, PJE0);

	if (slot == PPJERR)
		r->failed = true;
	else
		*(Word_t *)slot = value;
}

/* Returns whether the key is gone. It stays where there is no memory to make the array smaller. */
static bool unset(struct replay *r, Pvoid_t *map, uint64_t key)
{
	const bool gone = JudyLDel(map, key, PJE0) == 1;

	r->failed |= !gone;
	return gone;
}

static struct entry *find(const struct replay *r, Pcvoid_t map, uint64_t key)
{
	PPvoid_t slot = JudyLGet(map, key, PJE0);

	return slot ? &r->entries[*(Word_t *)slot] : NULL;
}

/* Was anything in [low, high) written in this pause? */
static bool any_written(const struct replay *r, uint64_t low, uint64_t high)
{
	Word_t start = high - 1;
	PPvoid_t end = JudyLLast(r->written, &start, PJE0);

	return end && *(Word_t *)end > low;
}

/* Was the byte at `addr` written in this pause? */
static bool was_written(const struct replay *r, uint64_t addr)
{
	return any_written(r, addr, addr + 1);
}

/* Add [low, high) to `written`, and join it with the ranges that it touches. */
static void mark_written(struct replay *r, uint64_t low, uint64_t high)
{
	Word_t start = high;
	PPvoid_t end;

	while ((end = JudyLLast(r->written, &start, PJE0)) && *(Word_t *)end >= low) {
		if (*(Word_t *)end > high)
			high = *(Word_t *)end;
		if (start < low)
			low = start;
		if (!unset(r, &r->written, start))
			break;
	}
	set(r, &r->written, low, high);
}

/* Forget the objects that begin in [low, high), since something else is put there. */
static void overwrite(struct replay *r, uint64_t low, uint64_t high)
{
	Word_t key = low;
	PPvoid_t slot;

	for (slot = JudyLFirst(r->at, &key, PJE0); slot && key < high;
	     slot = JudyLNext(r->at, &key, PJE0)) {
		r->entries[*(Word_t *)slot].dst = 0;
		(void)unset(r, &r->at, key);
	}
}

static bool is_region(const struct replay *r, const struct lc_copy *c)
{
	return lc_copy_size(c) == REGION_BYTES &&
	       !((lc_copy_src(c) - r->low) & (REGION_BYTES - 1)) &&
	       !((c->dst - r->low) & (REGION_BYTES - 1));
}

/* Copy a whole region from its shadow: every object that begins in the shadow moves along. */
static void move_region(struct replay *r, const struct lc_copy *c)
{
	uint64_t high = lc_copy_src(c) + lc_copy_size(c);
	/* The smallest objects have 16 bytes. Attribution thread only; too large for a stack. */
	static uint64_t moved[REGION_BYTES / 16];
	size_t moved_len = 0;
	Word_t key = lc_copy_src(c);
	PPvoid_t slot;

	for (slot = JudyLFirst(r->at, &key, PJE0);
	     slot && key < high && moved_len < sizeof(moved) / sizeof(moved[0]);
	     slot = JudyLNext(r->at, &key, PJE0)) {
		moved[moved_len++] = *(Word_t *)slot;
		(void)unset(r, &r->at, key);
	}
	overwrite(r, c->dst, c->dst + lc_copy_size(c));
	for (size_t i = 0; i < moved_len; i++) {
		struct entry *e = &r->entries[moved[i]];

		e->dst += c->dst - lc_copy_src(c);
		set(r, &r->at, e->dst, moved[i]);
	}
}

/* Put entry `i`, which is nowhere now, where `c` copies it. */
static void place(struct replay *r, size_t i, const struct lc_copy *c)
{
	overwrite(r, c->dst, c->dst + lc_copy_size(c));
	r->entries[i].dst = c->dst;
	set(r, &r->at, c->dst, i);
}

/* Add a copy of the object whose first copy is entry `first`; SIZE_MAX: of a new object. */
static void add_entry(struct replay *r, size_t first, const struct lc_copy *c)
{
	size_t i = r->entries_len++;

	if (first == SIZE_MAX) {
		first = i;
		set(r, &r->origin, lc_copy_src(c), i);
	}
	r->entries[i] =
	    (struct entry){ .src = lc_copy_src(c), .size_bytes = lc_copy_size(c), .first = first };
	/* An object that slides is alive. Among racing copies the first counts until one is
	 * known to have won. */
	if (lc_copy_fate(c) == LC_COPY_WON || lc_copy_kind(c) == LC_COPY_SLIDE)
		r->entries[first].winner = i + 1;
	place(r, i, c);
}

/* Is the entry the object, as far as is known? */
static bool counts(const struct replay *r, const struct entry *e)
{
	size_t winner = r->entries[e->first].winner;

	return e->dst && e == &r->entries[winner ? winner - 1 : e->first];
}

/*
 * Replay the copy of an object. There are three cases: the object was copied before in this pause,
 * and is copied on; it is still where it was at GC start (a young collection may have copied it,
 * and given up); or the copy is a later piece, or a losing copy, of an object that was copied
 * before.
 */
static void move_object(struct replay *r, const struct lc_copy *c)
{
	struct entry *e = find(r, r->at, lc_copy_src(c));
	size_t i;

	if (e) {
		i = (size_t)(e - r->entries);
		(void)unset(r, &r->at, e->dst);
		r->entries[e->first].winner = i + 1;
		place(r, i, c);
		return;
	}
	if (was_written(r, lc_copy_src(c)))
		return;
	e = find(r, r->origin, lc_copy_src(c));
	if (!e)
		add_entry(r, SIZE_MAX, c);
	else if (!e->winner || lc_copy_kind(c) == LC_COPY_SLIDE)
		add_entry(r, (size_t)(e - r->entries), c);
}

static void step(struct replay *r, const struct lc_copy *c)
{
	if (lc_copy_fate(c) != LC_COPY_LOST) {
		/*
		 * A shadow into which only small objects were put was not seen to be written. In
		 * the first collection of a pause it held nothing before. In a later one it may
		 * have: eden is empty then, and its regions serve as shadows. An object of more
		 * than a region that moves by whole regions looks the same; it is given up, which
		 * is safe.
		 */
		if (is_region(r, c) &&
		    (r->many || any_written(r, lc_copy_src(c), lc_copy_src(c) + REGION_BYTES)))
			move_region(r, c);
		else
			move_object(r, c);
	}
	mark_written(r, c->dst, c->dst + lc_copy_size(c));
}

static bool emit_ordered(struct lc_move_batch *b, const struct replay *r)
{
	Word_t start = 0;
	PPvoid_t end;

	b->moves = malloc(
	    (r->entries_len + JudyLCount(r->written, 0, ~0UL, PJE0)) * sizeof(*b->moves) + 1);
	if (!b->moves)
		return false;
	for (size_t i = 0; i < r->entries_len; i++)
		if (counts(r, &r->entries[i]))
			b->moves[b->moves_len++] =
			    (struct lc_move){ r->entries[i].src, r->entries[i].dst,
				              r->entries[i].size_bytes };
	for (end = JudyLFirst(r->written, &start, PJE0); end;
	     end = JudyLNext(r->written, &start, PJE0))
		b->moves[b->moves_len++] = (struct lc_move){ 0, start, *(Word_t *)end - start };
	return true;
}

static bool replay_ordered(struct lc_move_batch *b, struct replay *r)
{
	bool ok = false;

	r->entries = calloc(r->copies_len + 1, sizeof(*r->entries));
	if (r->entries) {
		qsort(r->copies, r->copies_len, sizeof(*r->copies), by_time);
		for (size_t i = 0; i < r->copies_len; i++)
			step(r, &r->copies[i]);
		ok = !r->failed && emit_ordered(b, r);
	}
	JudyLFreeArray(&r->at, PJE0);
	JudyLFreeArray(&r->origin, PJE0);
	JudyLFreeArray(&r->written, PJE0);
	free(r->entries);
	return ok;
}

static void append_added(struct lc_move_batch *b)
{
	struct lc_move *all = realloc(b->moves, (b->moves_len + b->added_len) * sizeof(*b->moves));

	if (!all) {
		b->lost += b->added_len;
		return;
	}
	memcpy(all + b->moves_len, b->added, b->added_len * sizeof(*b->added));
	b->moves = all;
	b->moves_len += b->added_len;
}

void lc_move_batch_replay(struct lc_move_batch *b)
{
	struct replay r = { .low = b->log ? b->log->low : 0, .many = b->many };
	bool ok = gather(b, &r);

	if (ok)
		ok = b->ordered || any_unknown(&r) ? replay_ordered(b, &r) : emit_unordered(b, &r);
	if (!ok)
		b->lost += b->copies;
	if (b->added_len)
		append_added(b);
	free(r.copies);
}
