/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/landmarks.c - searches the heap for headers with new addresses.
 *
 * Words are searched, not objects, so a field may look like a new address. It does no harm: only a
 * landmark that the collection slid to that address counts. The kernel copies the words, so that
 * memory that was given back is no danger. A collection slides the upper objects of an area, so the
 * upper part of each area is read.
 */
#include "src/gc/landmarks.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/core/record.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"

enum {
	LOOK_BYTES = 2 << 20,
	READ_WORDS = 4096,
	AREAS_MAX = 4096, /* areas above these are not searched */
	MARKS_BITS = 14,
	MARKS = 1 << MARKS_BITS,
	MARKS_MAX = MARKS / 2, /* so that a search ends soon */
};

struct landmark {
	uint64_t src, dst; /* src 0: unused */
};

static struct {
	struct landmark *table; /* by hash of src */
	size_t len;
	struct lc_area *areas;
	uint64_t *words;
	struct landmark last;  /* the last one found; kept if the next one is far enough away */
	uint32_t stride, skip; /* one in `stride` is kept; `skip` until the next */
} marks;

static struct landmark *find(uint64_t src)
{
	uint64_t i = lc_hash(src >> 3) >> (64 - MARKS_BITS);

	while (marks.table[i].src && marks.table[i].src != src)
		i = (i + 1) % MARKS;
	return &marks.table[i];
}

/* Keep the last landmark, unless the next one is so near that no copy of it would be logged. */
static void keep_last(uint64_t next)
{
	const struct landmark last = marks.last;

	marks.last = (struct landmark){ 0 };
	if (!last.src || next - last.src <= LC_MOVE_INLINE_BYTES)
		return;
	if (marks.skip) {
		marks.skip--;
		return;
	}
	if (marks.len == MARKS_MAX)
		return;
	*find(last.src) = last;
	marks.len++;
	if (marks.len % (MARKS_MAX / 8) == 0)
		marks.stride *= 2;
	marks.skip = marks.stride - 1;
}

/* Search the words of [from, to), which begins at a multiple of 8. */
static uint64_t search(uint64_t from, uint64_t to, struct lc_range heap)
{
	uint64_t hash = 0;

	for (uint64_t at = from; at < to; at += READ_WORDS * 8) {
		const size_t left = (to - at) / 8, len = left < READ_WORDS ? left : READ_WORDS;

		if (!lc_peek(at, marks.words, len * 8))
			continue;
		for (size_t i = 0; i < len; i++) {
			const uint64_t src = at + i * 8;
			const uint64_t dst =
			    lc_header_slides_to(lc_layout(), heap.low, marks.words[i]);

			/* Objects slide downwards. */
			if (dst < heap.low || dst >= src)
				continue;
			keep_last(src);
			marks.last = (struct landmark){ src, dst };
			hash += lc_hash(src ^ dst << 20) | 1;
		}
	}
	keep_last(UINT64_MAX);
	return hash;
}

static bool make_room(void)
{
	if (!marks.table)
		marks.table = malloc(MARKS * sizeof(*marks.table));
	if (!marks.areas)
		marks.areas = malloc(AREAS_MAX * sizeof(*marks.areas));
	if (!marks.words)
		marks.words = malloc(READ_WORDS * sizeof(*marks.words));
	return marks.table && marks.areas && marks.words;
}

uint64_t lc_landmarks_look(void)
{
	const struct lc_range heap = lc_ranges_heap();
	uint64_t hash = 0, share;
	size_t len;

	if (!make_room())
		return 0;
	memset(marks.table, 0, MARKS * sizeof(*marks.table));
	marks.len = 0;
	marks.stride = 1;
	marks.skip = 0;
	len = lc_areas_look(marks.areas, AREAS_MAX);
	if (len > AREAS_MAX)
		len = AREAS_MAX;
	share = len ? LOOK_BYTES / len & ~UINT64_C(7) : 0;
	for (size_t i = 0; i < len; i++) {
		const struct lc_area *a = &marks.areas[i];
		const uint64_t top = a->top < a->end ? a->top : a->end;

		if (a->kind == LC_AREA_FREE || a->kind == LC_AREA_HUMONGOUS ||
		    a->kind == LC_AREA_HUMONGOUS_CONT || top <= a->bottom)
			continue;
		hash += search(top - a->bottom > share ? top - share : a->bottom, top, heap);
	}
	return hash;
}

bool lc_landmarks_has(uint64_t src, uint64_t dst)
{
	return marks.len && find(src)->dst == dst;
}

void lc_landmarks_forget(void)
{
	free(marks.table);
	free(marks.areas);
	free(marks.words);
	memset(&marks, 0, sizeof(marks));
}
