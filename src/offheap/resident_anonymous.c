/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/resident_anonymous.c - recognises anonymous memory by what stands in it.
 *
 * The kernel joins neighbouring mappings, so one area may hold a thread's stack, blocks of malloc()
 * and more, one behind the other.
 */
#include <string.h>

#include "src/offheap/resident_impl.h"

#define PAGE UINT64_C(4096)
#define ARENA_BYTES (UINT64_C(64) << 20)     /* glibc's HEAP_MAX_SIZE */
#define METASPACE_BYTES (UINT64_C(64) << 20) /* of a node, since JDK 16 */
#define ROOT_CHUNK_BYTES (UINT64_C(4) << 20) /* nodes begin at a multiple of it */
#define CHUNK_MIN (UINT64_C(64) << 10)       /* glibc maps blocks of 128 KiB or more */
#define GUARD_MAX (UINT64_C(1) << 20)
#define ARENA_OFFSET_MAX 256
#define TOLERANCE_BYTES (UINT64_C(64) << 10)

enum { WORDS = 512, POINTERS_MIN = 4, METASPACE_PAGES = 16 };

static bool read_words(const struct lc_resident_division *d, uint64_t at, uint64_t *out, size_t n)
{
	return d->given->read(at, out, n * sizeof(*out));
}

/*
 * A heap of a malloc() arena begins at a multiple of 64 MiB with its arena's address, the heap
 * before, its size and how much of it can be written. Returns where the reserved memory ends; 0: it
 * is none.
 */
static uint64_t arena_end(const struct lc_resident_division *d, uint64_t at)
{
	uint64_t w[4];
	bool is_first;

	if (at % ARENA_BYTES || !read_words(d, at, w, 4))
		return 0;
	is_first = w[0] / ARENA_BYTES == at / ARENA_BYTES;
	if (!w[0] || w[0] % 16 || w[0] % ARENA_BYTES > ARENA_OFFSET_MAX || is_first != !w[1] ||
	    w[1] % ARENA_BYTES)
		return 0;
	if (!w[2] || w[2] % PAGE || w[3] % PAGE || w[2] > w[3] || w[3] > ARENA_BYTES)
		return 0;
	return at + ARENA_BYTES;
}

/* A block that malloc() has mapped begins with zero, and its length with bit 1 set alone. */
static uint64_t chunk_end(const struct lc_resident_division *d, uint64_t at, uint64_t end)
{
	uint64_t w[2], bytes;

	if (at % PAGE || !read_words(d, at, w, 2))
		return 0;
	bytes = w[1] & ~UINT64_C(7);
	return !w[0] && (w[1] & 7) == 2 && bytes % PAGE == 0 && bytes >= CHUNK_MIN &&
	               bytes <= end - at
	           ? at + bytes
	           : 0;
}

/*
 * In the last page of its stack a thread has its control block, whose first and third words are its
 * own address. It is at the same place in the page as this thread's. Returns where the stack ends
 * that begins at `at`; 0: none does.
 */
static uint64_t stack_end(struct lc_resident_division *d, uint64_t at, uint64_t end)
{
	const uint64_t offset = d->given->control_block % PAGE;
	uint64_t w[3];

	for (uint64_t page = at; page < end && d->pages_left; page += PAGE, d->pages_left--)
		if (lc_resident_page(d, page) && offset + sizeof(w) <= PAGE &&
		    read_words(d, page + offset, w, 3) && w[0] == page + offset && w[1] &&
		    w[2] == w[0])
			return page + PAGE;
	return 0;
}

/* Metaspace holds methods and constant pools, which begin with a table of functions of libjvm. */
static bool is_metaspace(struct lc_resident_division *d, uint64_t at, uint64_t end)
{
	const struct lc_range library = d->given->library;
	unsigned pointers = 0;
	uint64_t w[WORDS];

	if (at % ROOT_CHUNK_BYTES)
		return false;
	for (uint64_t page = at; page < end && page < at + METASPACE_PAGES * PAGE; page += PAGE) {
		if (!lc_resident_page(d, page) || !read_words(d, page, w, WORDS))
			continue;
		for (size_t i = 0; i < WORDS; i++)
			pointers += w[i] >= library.low && w[i] < library.high;
	}
	return pointers >= POINTERS_MIN;
}

/* The next address of the piece at which an owner's memory begins; its end without one. */
static uint64_t next_owner(struct lc_resident_division *d, const struct lc_resident_piece *p)
{
	uint64_t at = p->low + PAGE;

	if (!lc_smaps_areas(d->given->maps)[p->area].resident_bytes)
		return p->high;
	for (; at < p->high && d->pages_left; at += PAGE, d->pages_left--)
		if (lc_resident_page(d, at) &&
		    (chunk_end(d, at, p->high) || arena_end(d, at) || is_metaspace(d, at, p->high)))
			return at;
	return p->high;
}

/* The piece that ends where this one begins; NULL: there is a gap. */
static struct lc_resident_piece *neighbour(struct lc_resident_division *d,
                                           const struct lc_resident_piece *p)
{
	struct lc_resident_piece *before =
	    d->pieces.len ? lc_resident_pieces(d) + d->pieces.len - 1 : NULL;

	return before && before->high == p->low ? before : NULL;
}

static int add(struct lc_resident_division *d, struct lc_resident_piece *p, uint64_t end,
               uint8_t part)
{
	struct lc_resident_piece piece = *p;

	piece.high = end < p->high ? end : p->high;
	piece.part = part;
	p->low = piece.high;
	return lc_vector_push(&d->pieces, &piece);
}

static int add_next(struct lc_resident_division *d, struct lc_resident_piece *p)
{
	struct lc_resident_piece *before = neighbour(d, p);
	uint64_t end;

	if (p->low >= d->class_space.low && p->low < d->class_space.high)
		return add(d, p, d->class_space.high, LC_RESIDENT_CLASS_SPACE);
	if (before && p->low < d->cover.high)
		return add(d, p, d->cover.high, d->cover.part);
	if (p->reserved)
		return add(d, p, p->high, LC_RESIDENT_REST);
	end = arena_end(d, p->low);
	if (end) {
		d->cover = (struct lc_resident_range){ p->low, end, LC_RESIDENT_MALLOC };
		return add(d, p, end, LC_RESIDENT_MALLOC);
	}
	end = chunk_end(d, p->low, p->high);
	if (end)
		return add(d, p, end, LC_RESIDENT_MALLOC);
	if (before && before->reserved && before->part == LC_RESIDENT_REST &&
	    before->high - before->low <= GUARD_MAX) {
		end = stack_end(d, p->low, p->high);
		if (end) {
			before->part = LC_RESIDENT_STACKS;
			return add(d, p, end, LC_RESIDENT_STACKS);
		}
	}
	/* Variables of a library that are zero lie behind its other data. */
	if (before && before->is_file && before->part == LC_RESIDENT_LIBRARIES)
		return add(d, p, p->high, LC_RESIDENT_LIBRARIES);
	if (is_metaspace(d, p->low, p->high)) {
		end = p->low + METASPACE_BYTES;
		d->cover = (struct lc_resident_range){ p->low, end, LC_RESIDENT_METASPACE };
		return add(d, p, end, LC_RESIDENT_METASPACE);
	}
	return add(d, p, next_owner(d, p), LC_RESIDENT_REST);
}

int lc_resident_add_anonymous(struct lc_resident_division *d, struct lc_resident_piece p)
{
	int err = 0;

	while (!err && p.low < p.high)
		err = add_next(d, &p);
	return err;
}

/* ---- the collector ---- */

static bool is_about(uint64_t bytes, uint64_t expected)
{
	const uint64_t most = expected / 32 > TOLERANCE_BYTES ? expected / 32 : TOLERANCE_BYTES;

	return expected > TOLERANCE_BYTES && bytes + most >= expected && bytes <= expected + most;
}

/*
 * Memory that nobody knows in a row is the collector's if the card table is in it, or if it has the
 * size of a bitmap with a bit for each word of the heap, or a table with a byte for each card: one
 * or two of them.
 */
static bool is_gc(const struct lc_resident_given *g, uint64_t low, uint64_t high)
{
	const uint64_t heap = g->heap.high - g->heap.low, bytes = high - low;

	if (g->cards.low < g->cards.high && low <= g->cards.low && g->cards.low < high)
		return true;
	return is_about(bytes, heap / 64) || is_about(bytes, heap / 32) ||
	       is_about(bytes, heap / 512) || is_about(bytes, heap / 256);
}

void lc_resident_find_gc(struct lc_resident_division *d)
{
	struct lc_resident_piece *p = lc_resident_pieces(d);

	for (size_t i = 0, end; i < d->pieces.len; i = end) {
		end = i + 1;
		if (p[i].is_file || p[i].part != LC_RESIDENT_REST)
			continue;
		while (end < d->pieces.len && !p[end].is_file && p[end].part == LC_RESIDENT_REST &&
		       p[end].low == p[end - 1].high)
			end++;
		if (!is_gc(d->given, p[i].low, p[end - 1].high))
			continue;
		for (size_t k = i; k < end; k++)
			p[k].part = LC_RESIDENT_GC;
	}
}
