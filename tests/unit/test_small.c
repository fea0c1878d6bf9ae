/* uses: src/core/memory.c src/gc/landmarks.c src/gc/site_classes.c src/gc/small.c src/gc/small_given.c src/gc/small_slide.c src/gc/small_stuck.c src/jvm/layout/header.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_small.c - checks that small objects are followed by what a collection leaves at their old
 * places.
 *
 * The file is longer than 600 lines: the tests share one model of a heap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>

#include "src/core/memory.h"
#include "src/gc/moves.h"
#include "src/gc/small.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/mark_tables.h"
#include "src/jvm/layout/ranges.h"
#include "tests/unit/counter.h"

/* Old memory, survivors of this collection, those of the last one, and eden: 256 KiB each. */
enum { SPACE = 256 << 10, OLD = 0, TO = SPACE, FROM = 2 * SPACE, EDEN = 3 * SPACE };
enum { HEAP_BYTES = 4 * SPACE, TAG = 5, CLASS = 0x1234, UNLOCKED = 1, FORWARDED = 3 };

static unsigned char *heap;
static uint32_t collections, full;
static bool slid;
static enum lc_collector collector;
/* The collector's tables, if there are any. */
static bool tables;
static enum lc_mark_fate fate;
static int64_t distance;
static struct lc_layout layout;
static struct lc_area areas[4];
static struct {
	uint64_t moved, forgotten, forgotten_new, unheld, passes_limited, pass_us;
} before;

uint32_t lc_areas_collections(void)
{
	return collections;
}

uint32_t lc_areas_full(void)
{
	return full;
}

enum lc_collector lc_collector(void)
{
	return collector;
}

bool lc_moves_slid(void)
{
	return slid;
}

static struct {
	uint64_t src, dst;
} logged; /* the slide that the log of copies has */

bool lc_moves_any_slide(const struct lc_move_batch *b, bool (*is)(uint64_t src, uint64_t dst))
{
	return slid && is(logged.src, logged.dst);
}

size_t lc_areas_look(struct lc_area *out, size_t cap)
{
	memcpy(out, areas, sizeof(areas));
	return sizeof(areas) / sizeof(areas[0]);
}

/* Areas that an evacuation may be unable to empty; as they were before. */
static struct lc_area stuck[4];
static size_t stuck_len;
static bool stuck_all;
static uint64_t copied; /* into regions */

size_t lc_areas_stuck(struct lc_area *out, size_t cap, bool *all, uint64_t *regions)
{
	*all = stuck_all;
	*regions = copied;
	for (size_t i = 0; i < stuck_len && i < cap; i++)
		out[i] = stuck[i];
	return stuck_len;
}

bool lc_mark_tables_known(void)
{
	return tables;
}

enum lc_mark_fate lc_mark_tables_find(uint64_t addr, uint64_t *to)
{
	*to = addr - (uint64_t)distance;
	return fate;
}

void lc_mark_tables_forget(void)
{
}

const struct lc_layout *lc_layout(void)
{
	return &layout;
}

struct lc_range lc_ranges_heap(void)
{
	return (struct lc_range){ (uintptr_t)heap, (uintptr_t)heap + HEAP_BYTES };
}

static uint64_t at(size_t offset)
{
	return (uintptr_t)heap + offset;
}

static void set(size_t offset, uint64_t mark, uint64_t class_word)
{
	memcpy(heap + offset, &mark, sizeof(mark));
	memcpy(heap + offset + 8, &class_word, sizeof(class_word));
}

/* The collection copied the object at `from` to `to`. */
static void copy(size_t from, size_t to)
{
	set(to, UNLOCKED, CLASS);
	set(from, at(to) | FORWARDED, CLASS);
}

static void area(size_t i, size_t bottom, uint32_t kind, size_t used)
{
	areas[i] = (struct lc_area){ .bottom = at(bottom),
		                     .top = at(bottom + used),
		                     .end = at(bottom + SPACE),
		                     .kind = kind };
}

static int setup(void **state)
{
	/* The module remembers the heap: it is the same in all tests. */
	if (!heap)
		heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		            -1, 0);
	if (heap == MAP_FAILED)
		return -1;
	memset(heap, 0, HEAP_BYTES);
	collections = 1;
	full = 0;
	collector = LC_GC_G1;
	slid = tables = stuck_all = false;
	stuck_len = copied = 0;
	layout = (struct lc_layout){ 0 };
	lc_small_ahead_forget();
	area(0, OLD, LC_AREA_OLD, SPACE / 2);
	area(1, TO, LC_AREA_SURVIVOR, SPACE / 2);
	area(2, FROM, LC_AREA_FREE, 0);
	area(3, EDEN, LC_AREA_EDEN, 0);
	before.moved = counter("small_moves");
	before.forgotten = counter("small_forgotten");
	before.forgotten_new = counter("small_forgotten_new");
	before.unheld = counter("small_unheld");
	before.passes_limited = counter("small_passes_limited");
	before.pass_us = counter("small_pass_us");
	return 0;
}

static int teardown(void **state)
{
	lc_small_forget();
	return mprotect(heap, HEAP_BYTES, PROT_READ | PROT_WRITE);
}

static struct lc_alloc record(size_t offset, uint32_t size_words, uint16_t tag)
{
	return (struct lc_alloc){ .tagged_addr = at(offset) | (uint64_t)tag << LC_ADDR_BITS,
		                  .size_words = size_words,
		                  .site = 7 };
}

static bool begin(bool class_word)
{
	return lc_small_begin(areas, 4, class_word);
}

/* A pass over one object of three words allocated at `offset`: where it went; 0: nowhere. */
static uint64_t went(size_t offset, bool class_word)
{
	struct lc_alloc a = record(offset, 3, TAG);
	struct lc_move *moves;
	uint64_t to = 0;
	size_t len;

	assert_true(begin(class_word));
	lc_small_look(&a, 1, TAG, 0);
	moves = lc_small_end(&len);
	assert_true(len <= 1);
	if (len) {
		assert_int_equal(moves[0].src, at(offset));
		assert_int_equal(moves[0].size_bytes, 24);
		to = moves[0].dst;
	} else {
		assert_null(moves);
	}
	free(moves);
	return to;
}

static void forwarding_pointers_are_followed_with_each_layout_of_headers(void **state)
{
	/* An object of 16 bytes, with a compressed class and an array's length, or a field, behind
	 * it. */
	copy(EDEN + 64, TO + 128);
	set(EDEN + 64, at(TO + 128) | FORWARDED, CLASS | UINT64_C(3) << 32);
	assert_int_equal(went(EDEN + 64, true), at(TO + 128));
	/* An object of 16 bytes, whose second word is the class: its lower half is compared. */
	set(EDEN + 64, at(TO + 128) | FORWARDED, UINT64_C(0x7f0000001234));
	set(TO + 128, UNLOCKED, UINT64_C(0x7f0000001234));
	assert_int_equal(went(EDEN + 64, true), at(TO + 128));
	/* Compact: the pointer is where the class was, and the second word is a field. */
	set(EDEN + 64, at(TO + 128) | FORWARDED, 77);
	set(TO + 128, UINT64_C(0x1234) << 42 | UNLOCKED, 78);
	assert_int_equal(went(EDEN + 64, false), at(TO + 128));
}

static void what_did_not_move_has_no_move(void **state)
{
	set(EDEN + 64, UNLOCKED, CLASS); /* dead */
	assert_int_equal(went(EDEN + 64, true), 0);
	set(EDEN + 64, UINT64_C(0x7f4400001001), CLASS); /* with a hash code */
	assert_int_equal(went(EDEN + 64, true), 0);
	set(TO + 128, UNLOCKED, CLASS);
	set(EDEN + 64, at(TO + 128), CLASS); /* lightly locked: a pointer, but not that */
	assert_int_equal(went(EDEN + 64, true), 0);
	set(EDEN + 64, at(TO + 128) | 2, CLASS); /* inflated */
	assert_int_equal(went(EDEN + 64, true), 0);
}

static void an_object_forwarded_to_itself_stayed(void **state)
{
	area(3, EDEN, LC_AREA_OLD, SPACE / 2); /* the region could not be emptied */
	set(EDEN + 64, at(EDEN + 64) | FORWARDED, CLASS);
	assert_int_equal(went(EDEN + 64, true), 0);
	assert_int_equal(went(EDEN + 64, false), 0);
	/* JDK 24 and later have a bit for it, and keep the rest of the mark. */
	set(EDEN + 64, UINT64_C(0x1234) << 42 | 4 | UNLOCKED, CLASS);
	assert_int_equal(went(EDEN + 64, false), 0);
}

static void pointers_that_lead_to_no_object_are_not_believed(void **state)
{
	const uint64_t nowhere[] = {
		FORWARDED,                           /* null */
		at(0) - 4096,                        /* below the heap */
		at(HEAP_BYTES),                      /* behind it */
		at(FROM + 128),                      /* free memory */
		at(TO + SPACE / 2),                  /* above the top */
		at(EDEN + 128),                      /* an eden that was emptied */
		UINT64_C(0xffff) << 48 | at(TO + 8), /* no address */
	};

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		set(EDEN + 64, nowhere[i] | FORWARDED, CLASS);
		assert_int_equal(went(EDEN + 64, true), 0);
		assert_int_equal(went(EDEN + 64, false), 0);
	}
	/* An object does not fit below the top. */
	set(EDEN + 64, at(TO + SPACE / 2 - 8) | FORWARDED, CLASS);
	set(TO + SPACE / 2 - 8, UNLOCKED, CLASS);
	assert_int_equal(went(EDEN + 64, true), 0);
	assert_int_equal(went(EDEN + 64, false), 0);
	/* Something of another class stands there. */
	set(EDEN + 64, at(TO + 128) | FORWARDED, CLASS);
	set(TO + 128, UNLOCKED, CLASS + 8);
	assert_int_equal(went(EDEN + 64, true), 0);
}

/* Parallel makes the young generation smaller in the pause, so that eden ends within an object. */
static void a_header_of_which_half_was_given_back_is_not_touched(void **state)
{
	enum { GRANULE = 64 << 10, SPLIT = EDEN + GRANULE - 8 };

	/* Granules begin at the heap's bottom. */
	copy(SPLIT, TO + 64);
	assert_int_equal(mprotect(heap + EDEN + GRANULE, GRANULE, PROT_NONE), 0);
	assert_int_equal(went(SPLIT, true), 0);
	assert_int_equal(mprotect(heap + EDEN + GRANULE, GRANULE, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(went(SPLIT, true), at(TO + 64));
}

/* Objects end up behind `offset`: `n` of them, one behind the other. */
static void survive(size_t offset, size_t n)
{
	struct lc_move *moves;
	size_t len;

	assert_true(begin(true));
	for (size_t i = 0; i < n; i++) {
		struct lc_alloc a = record(EDEN + 32 * i, 3, TAG);

		copy(EDEN + 32 * i, offset + 32 * i);
		lc_small_look(&a, 1, TAG, 0);
	}
	moves = lc_small_end(&len);
	assert_int_equal(len, n);
	free(moves);
}

/* A pass without new records. */
static struct lc_move *pass(size_t *len)
{
	assert_true(begin(true));
	return lc_small_end(len);
}

static void memory_that_was_given_back_is_not_touched(void **state)
{
	copy(EDEN + 64, TO + 128);
	copy(FROM + 64, TO + 256);
	assert_int_equal(mprotect(heap + EDEN, SPACE, PROT_NONE), 0);
	assert_int_equal(went(EDEN + 64, true), 0);
	assert_int_equal(went(FROM + 64, true), at(TO + 256));
	/* Memory that was readable in one collection is asked for anew in the next. */
	assert_int_equal(mprotect(heap + FROM, SPACE, PROT_NONE), 0);
	assert_int_equal(went(FROM + 64, true), 0);
	/* Nobody looked before. */
	assert_int_equal(counter("small_forgotten_new") - before.forgotten_new, 2);
	assert_int_equal(mprotect(heap + EDEN, SPACE, PROT_READ | PROT_WRITE), 0);
	survive(TO, 1);
	area(1, TO, LC_AREA_SURVIVOR, 0);
	assert_int_equal(mprotect(heap + TO, SPACE, PROT_NONE), 0);
	free(pass(&(size_t){ 0 }));
	assert_int_equal(counter("small_forgotten") - before.forgotten, 1);
}

/* The collector maps other memory over [from, to), after a look at `records`. */
static void give_back(size_t from, size_t to, const struct lc_alloc *records, size_t len)
{
	if (lc_small_given_begin(areas, 4, true, at(from), at(to)))
		lc_small_given_look(records, len, TAG, 0);
	assert_int_equal(mprotect(heap + from, to - from, PROT_NONE), 0);
}

/* Parallel makes its spaces smaller when it has evacuated them. */
static void what_left_memory_before_that_was_given_back_is_followed(void **state)
{
	enum { HALF = SPACE / 2 };
	const struct lc_alloc a[] = {
		record(EDEN + HALF - 8, 3, TAG), /* its header lies across the border */
		record(EDEN + HALF + 64, 3, TAG),  record(EDEN + HALF + 128, 3, TAG),
		record(EDEN + HALF + 192, 3, TAG), record(EDEN + 64, 3, TAG),
	};
	struct lc_move *moves;
	size_t len;

	survive(TO, 2);
	area(1, TO, LC_AREA_SURVIVOR, 0);
	area(2, FROM, LC_AREA_SURVIVOR, SPACE / 2);
	copy(TO + 32, OLD + 512); /* the other one is dead */
	copy(EDEN + HALF - 8, FROM);
	copy(EDEN + HALF + 64, FROM + 64);
	set(EDEN + HALF + 128, UNLOCKED, CLASS); /* dead */
	copy(EDEN + HALF + 192, FROM + 192);
	copy(EDEN + 64, FROM + 256);
	give_back(TO, TO + SPACE, a, 5);
	give_back(EDEN + HALF, EDEN + SPACE, a, 5);
	areas[2].top = at(FROM + 192); /* no object is there */
	assert_true(begin(true));
	lc_small_look(a, 4, TAG, 0);
	moves = lc_small_end(&len);
	assert_int_equal(len, 3);
	assert_true(moves[0].src == at(EDEN + HALF - 8) && moves[0].dst == at(FROM));
	assert_true(moves[1].src == at(EDEN + HALF + 64) && moves[1].dst == at(FROM + 64));
	assert_true(moves[2].src == at(TO + 32) && moves[2].dst == at(OLD + 512));
	free(moves);
	assert_int_equal(counter("small_forgotten"), before.forgotten);
	assert_int_equal(counter("small_forgotten_new"), before.forgotten_new);
	/* The next collection knows nothing of it. */
	lc_small_ahead_forget();
	assert_int_equal(went(EDEN + HALF + 64, true), 0);
}

static void places_that_find_no_room_are_counted(void **state)
{
	const struct lc_alloc a = record(EDEN + 64, 3, TAG);

	copy(EDEN + 64, TO + 64);
	lc_memory_limit(1);
	give_back(EDEN, EDEN + SPACE, &a, 1);
	lc_memory_limit(UINT64_MAX);
	assert_int_equal(counter("small_forgotten") - before.forgotten, 1);
	assert_int_equal(went(EDEN + 64, true), 0);
	assert_int_equal(counter("small_passes_limited") - before.passes_limited, 1);
}

static void only_tracked_small_objects_of_those_epochs_are_looked_at(void **state)
{
	struct lc_alloc a[7];
	struct lc_move *moves;
	size_t len;

	for (size_t i = 0; i < 7; i++) {
		copy(EDEN + 128 * i, TO + 128 * i);
		a[i] = record(EDEN + 128 * i, LC_MOVE_INLINE_BYTES / 8, TAG);
	}
	a[1].size_words++; /* its copy is seen */
	a[2].site = 0;     /* no record of an object */
	a[3] = record(EDEN + 128 * 3, 2, TAG - 1);
	a[4] = record(EDEN + 128 * 4, 2, TAG - 2);
	a[5] = record(EDEN + 128 * 5, 2, TAG + 1); /* of a time to come */
	assert_true(begin(true));
	lc_small_look(a, 3, TAG, 1);
	lc_small_look(a + 3, 4, TAG, 1);
	moves = lc_small_end(&len);
	assert_int_equal(len, 3);
	assert_int_equal(moves[0].src, at(EDEN));
	assert_int_equal(moves[0].size_bytes, LC_MOVE_INLINE_BYTES);
	assert_int_equal(moves[1].src, at(EDEN + 128 * 3));
	assert_int_equal(moves[2].src, at(EDEN + 128 * 6));
	free(moves);
}

static void epoch_tags_that_wrap_are_told_apart(void **state)
{
	struct lc_alloc a = record(EDEN, 2, UINT16_MAX);
	struct lc_move *moves;
	size_t len;

	copy(EDEN, TO);
	assert_true(begin(true));
	lc_small_look(&a, 1, 0, 1);
	moves = lc_small_end(&len);
	assert_int_equal(len, 1);
	free(moves);
}

static uint64_t held(void)
{

	return counter("small_held");
}

/* The collector reads a clock during an evacuation. */
static void look_at_stuck(const struct lc_alloc *records, size_t len)
{
	if (!lc_small_stuck(true))
		return;
	if (lc_small_stuck_begin())
		lc_small_stuck_sample(records, len, TAG, 0);
	if (lc_small_stuck_changed())
		lc_small_stuck_look(records, len, TAG, 0);
}

static uint64_t dst_of(const struct lc_move *moves, size_t len, size_t src)
{
	for (size_t i = 0; i < len; i++)
		if (moves[i].src == at(src))
			return moves[i].dst;
	return 0;
}

/* The evacuation ends: eden has become old. Returns the moves, for free(). */
static struct lc_move *end_stuck(const struct lc_alloc *records, size_t len, size_t *moves_len)
{
	copied++;
	look_at_stuck(records, len); /* clocks are read later, too */
	area(3, EDEN, LC_AREA_OLD, SPACE);
	assert_true(begin(true));
	lc_small_look(records, len, TAG, 0);
	return lc_small_end(moves_len);
}

static void pin_eden(void)
{
	area(3, EDEN, LC_AREA_EDEN, SPACE);
	stuck[0] = areas[3];
	stuck_len = 1;
}

/* G1 takes the marks of those that stay away, and puts filler over what it moved from between. */
static void objects_that_a_pinned_region_keeps_are_known(void **state)
{
	enum { STAYS = EDEN + 64, BEHIND = EDEN + 96, LEFT = EDEN + 128, DEAD = EDEN + 160 };
	const struct lc_alloc a[] = { record(STAYS, 3, TAG), record(BEHIND, 3, TAG),
		                      record(LEFT, 3, TAG), record(DEAD, 3, TAG) };
	struct lc_move *moves;
	size_t len;

	for (unsigned newer = 0; newer < 2; newer++) {
		layout.slides_encoded = newer;
		pin_eden();
		set(STAYS, UNLOCKED, CLASS);
		set(DEAD, UNLOCKED, CLASS);
		set(BEHIND, UNLOCKED, CLASS);
		set(LEFT, UNLOCKED, CLASS);
		look_at_stuck(a, 4); /* before the evacuation */
		set(STAYS, newer ? UNLOCKED | 4 : at(STAYS) | FORWARDED, CLASS);
		copy(BEHIND, TO + 64);
		copy(LEFT, TO + 128);
		copied++;
		look_at_stuck(a, 4);
		set(STAYS, UNLOCKED, CLASS);
		set(BEHIND, UNLOCKED, CLASS + 1);
		moves = end_stuck(a, 4, &len);
		assert_true(lc_small_stuck_known());
		assert_int_equal(len, 3);
		assert_int_equal(dst_of(moves, len, STAYS), at(STAYS));
		assert_int_equal(dst_of(moves, len, BEHIND), at(TO + 64));
		assert_int_equal(dst_of(moves, len, LEFT), at(TO + 128));
		free(moves);
		assert_int_equal(held(), 3);
		lc_small_ahead_forget();
		lc_small_forget();
	}
}

/* Nothing had come to them when the last clock was read that the test plays, so nothing is known.
 */
static void without_a_look_in_time_what_a_region_keeps_is_unknown(void **state)
{
	const struct lc_alloc a = record(EDEN + 64, 3, TAG);
	size_t len;

	area(3, EDEN, LC_AREA_EDEN, SPACE);
	set(EDEN + 64, UNLOCKED, CLASS);
	free(end_stuck(&a, 1, &len));
	assert_int_equal(len, 0);
	assert_false(lc_small_stuck_known());
}

/* G1 knows which regions are pinned only just before it evacuates. */
static void a_region_that_is_pinned_no_more_is_looked_at_like_any_other(void **state)
{
	const struct lc_alloc a = record(EDEN + 64, 3, TAG);
	struct lc_move *moves;
	size_t len;

	pin_eden();
	set(EDEN + 64, UNLOCKED, CLASS);
	look_at_stuck(&a, 1);
	stuck_len = 0;
	copy(EDEN + 64, TO + 64);
	look_at_stuck(&a, 1);
	area(3, EDEN, LC_AREA_EDEN, 0);
	assert_true(begin(true));
	lc_small_look(&a, 1, TAG, 0);
	moves = lc_small_end(&len);
	assert_false(lc_small_stuck_known());
	assert_int_equal(dst_of(moves, len, EDEN + 64), at(TO + 64));
	free(moves);
}

/* Objects of old memory, too, may be moved or stay, and nobody knows which regions are evacuated.
 */
static void without_a_free_region_old_memory_is_looked_at(void **state)
{
	enum { LIVES = OLD + 4096, MOVES = LIVES + 32, BEHIND = LIVES + 64 };
	struct lc_move *moves;
	size_t len;

	survive(LIVES, 3);
	area(3, EDEN, LC_AREA_EDEN, SPACE);
	memcpy(stuck, areas, sizeof(stuck));
	stuck_len = 4;
	stuck_all = true;
	set(LIVES, at(LIVES) | FORWARDED, CLASS);
	copy(MOVES, TO + 64);
	copy(BEHIND, TO + 128);
	look_at_stuck(NULL, 0);
	set(LIVES, UNLOCKED, CLASS);
	set(BEHIND, UNLOCKED, CLASS + 1);
	moves = end_stuck(NULL, 0, &len);
	assert_true(lc_small_stuck_known());
	assert_int_equal(len, 2);
	assert_int_equal(dst_of(moves, len, MOVES), at(TO + 64));
	assert_int_equal(dst_of(moves, len, BEHIND), at(TO + 128));
	free(moves);
	assert_int_equal(held(), 3);
}

/* A sample would miss it: the regions tell that something was copied. */
static void one_survivor_among_many_dead_objects_of_a_pinned_region_is_known(void **state)
{
	enum { N = 12000 };
	struct lc_alloc *a = calloc(N, sizeof(*a));
	struct lc_move *moves;
	size_t len;

	assert_non_null(a);
	for (size_t lives = 0; lives < 3; lives++) {
		pin_eden();
		for (size_t i = 0; i < N; i++) {
			a[i] = record(EDEN + 16 * i, 2, TAG);
			set(EDEN + 16 * i, UNLOCKED, CLASS);
		}
		look_at_stuck(a, N);
		set(EDEN + 16 * lives, at(EDEN + 16 * lives) | FORWARDED, CLASS);
		copied++;
		look_at_stuck(a, N);
		set(EDEN + 16 * lives, UNLOCKED, CLASS);
		moves = end_stuck(a, N, &len);
		assert_int_equal(len, 1);
		assert_int_equal(moves[0].dst, at(EDEN + 16 * lives));
		free(moves);
		lc_small_ahead_forget();
		lc_small_forget();
	}
	free(a);
}

static void survivors_are_followed_until_they_die(void **state)
{
	struct lc_move *moves;
	size_t len;

	copy(EDEN, TO + 64);
	assert_int_equal(went(EDEN, true), at(TO + 64));
	assert_int_equal(held(), 1);
	/* The next collection: survivors of the last one are copied the other way. */
	area(1, TO, LC_AREA_SURVIVOR, 0);
	area(2, FROM, LC_AREA_SURVIVOR, SPACE / 2);
	copy(TO + 64, FROM + 256);
	moves = pass(&len);
	assert_int_equal(len, 1);
	assert_int_equal(moves[0].src, at(TO + 64));
	assert_int_equal(moves[0].dst, at(FROM + 256));
	assert_int_equal(moves[0].size_bytes, 24);
	free(moves);
	assert_int_equal(held(), 1);
	/* And in the third it is dead. */
	area(1, TO, LC_AREA_SURVIVOR, SPACE / 2);
	area(2, FROM, LC_AREA_SURVIVOR, 0);
	moves = pass(&len);
	assert_null(moves);
	assert_int_equal(len, 0);
	assert_int_equal(held(), 0);
	assert_int_equal(counter("small_moves") - before.moved, 2);
	assert_true(begin(true));
	usleep(1000);
	free(lc_small_end(&len));
	assert_true(counter("small_pass_us") >= before.pass_us + 1000);
}

static void what_left_a_young_space_that_kept_others_is_followed(void **state)
{
	struct lc_move *moves;
	size_t len;

	survive(TO, 2);
	copy(TO + 32, OLD + 64);
	moves = pass(&len);
	assert_int_equal(len, 1);
	assert_int_equal(moves[0].src, at(TO + 32));
	assert_int_equal(moves[0].dst, at(OLD + 64));
	free(moves);
}

static void objects_in_old_memory_wait_until_that_is_collected(void **state)
{
	struct lc_move *moves;
	size_t len;

	copy(EDEN, OLD + 64);
	copy(EDEN + 32, OLD + 96);
	assert_int_equal(went(EDEN, true), at(OLD + 64));
	assert_int_equal(went(EDEN + 32, true), at(OLD + 96));
	/* Left alone: whatever a dead object's mark says. */
	set(OLD + 64, at(TO + 64) | FORWARDED, CLASS);
	set(TO + 64, UNLOCKED, CLASS);
	moves = pass(&len);
	assert_null(moves);
	assert_int_equal(held(), 2);
	/* A mixed collection empties the region. */
	area(0, OLD, LC_AREA_FREE, 0);
	area(2, FROM, LC_AREA_OLD, SPACE / 2);
	copy(OLD + 64, FROM + 512);
	set(OLD + 96, UNLOCKED, CLASS);
	moves = pass(&len);
	assert_int_equal(len, 1);
	assert_int_equal(moves[0].src, at(OLD + 64));
	assert_int_equal(moves[0].dst, at(FROM + 512));
	free(moves);
	assert_int_equal(held(), 1);
}

static void many_survivors_are_all_followed(void **state)
{
	enum { N = 2000 };
	struct lc_move *moves;
	size_t len;

	survive(TO, N);
	assert_int_equal(held(), N);
	area(1, TO, LC_AREA_SURVIVOR, 0);
	area(2, FROM, LC_AREA_SURVIVOR, SPACE / 2);
	for (size_t i = 0; i < N; i += 2) /* the others have died */
		copy(TO + 32 * i, FROM + 32 * (i / 2));
	moves = pass(&len);
	assert_int_equal(len, N / 2);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(moves[i].dst - at(FROM), (moves[i].src - at(TO)) / 2);
	free(moves);
	assert_int_equal(held(), N / 2);
}

static void a_collection_that_leaves_no_trace_makes_all_unknown(void **state)
{
	struct lc_move *moves;
	size_t len;

	survive(TO, 3);
	areas[0].flags = LC_AREA_COMPACTED;
	assert_false(begin(true));
	assert_int_equal(counter("small_forgotten") - before.forgotten, 3);
	assert_int_equal(counter("small_held"), 0);
	areas[0].flags = 0;
	survive(OLD, 2);
	collections = 2; /* one may have been a full one */
	assert_false(begin(true));
	assert_int_equal(held(), 0);
	collections = 1;
	area(0, OLD, LC_AREA_FREE, 0);
	copy(OLD, TO);
	moves = pass(&len); /* nothing is left to be followed */
	assert_null(moves);
}

static void a_pause_without_a_collection_changes_nothing(void **state)
{
	survive(TO, 3);
	collections = 0;
	areas[0].flags = LC_AREA_COMPACTED;
	assert_false(begin(true));
	assert_int_equal(held(), 3);
}

/* ---- sliding collections ---- */

/* A full collection, between its phases, has found out where all objects will slide. */
static void look_ahead(const struct lc_alloc *records, size_t len, bool emptied)
{
	if (lc_small_ahead_begin(areas, 4, emptied))
		lc_small_ahead_sample(records, len, TAG, 0);
	if (lc_small_ahead_changed())
		lc_small_ahead_look(records, len, TAG, 0);
}

/* It has slid them: areas are as they are now. Returns the moves, for free(). */
static struct lc_move *slide(const struct lc_alloc *records, size_t len, size_t *moves_len)
{
	slid = true;
	full = 1;
	for (size_t i = 0; i < 4; i++)
		areas[i].flags = LC_AREA_COMPACTED;
	lc_small_prove(NULL);
	if (!begin(true)) {
		*moves_len = 0;
		return NULL;
	}
	lc_small_look(records, len, TAG, 0);
	return lc_small_end(moves_len);
}

/*
 * The first full collection slides larger objects only. Their headers must show that the look ahead
 * did not come too early, else a small object may have slid. Runs before the module has proof.
 */
static void small_objects_that_stay_are_kept_if_the_slide_of_another_was_seen(void **state)
{
	enum { LARGE = OLD + 4096, SLID_TO = OLD + 2048 };
	const struct lc_alloc a = record(OLD + 64, 3, TAG);
	size_t len;

	for (unsigned i = 0; i < 4; i++) {
		const bool early = i == 0, other = i == 1, small = i == 2;

		lc_small_ahead_forget();
		set(OLD + 64, UNLOCKED, CLASS);
		set(LARGE, early ? UNLOCKED : at(SLID_TO) | FORWARDED, CLASS + 1);
		if (small) /* so near to the next one that the log would not have it */
			set(LARGE + 64, at(SLID_TO + 64) | FORWARDED, CLASS + 1);
		look_ahead(&a, 1, false);
		logged.src = at(other ? LARGE + 512 : LARGE);
		logged.dst = at(SLID_TO);
		set(LARGE, UNLOCKED, CLASS + 1);
		set(LARGE + 64, 0, 0);
		free(slide(&a, 1, &len));
		assert_int_equal(len, 0);
		assert_int_equal(lc_small_slid(), i == 3);
		assert_int_equal(held(), i == 3);
		slid = false;
		full = 0;
	}
}

static void what_headers_say_before_a_full_collection_slides_is_believed(void **state)
{
	const struct lc_alloc a[] = { record(OLD, 3, TAG), record(OLD + 64, 3, TAG),
		                      record(OLD + 128, 3, TAG), record(EDEN, 3, TAG) };
	struct lc_move *moves;
	size_t len;

	set(OLD, UNLOCKED, CLASS);                       /* stays */
	set(OLD + 64, UNLOCKED, CLASS);                  /* dead */
	set(OLD + 128, at(OLD + 24) | FORWARDED, CLASS); /* slides */
	set(EDEN, at(OLD + 48) | FORWARDED, CLASS);
	look_ahead(a, 4, false);
	set(OLD + 24, UNLOCKED, CLASS);
	set(OLD + 48, UNLOCKED, CLASS);
	moves = slide(a, 4, &len);
	assert_true(lc_small_slid());
	assert_int_equal(len, 2);
	assert_true(moves[0].src == at(OLD + 128) && moves[0].dst == at(OLD + 24));
	assert_true(moves[1].src == at(EDEN) && moves[1].dst == at(OLD + 48));
	free(moves);
}

static void what_is_no_object_of_its_class_afterwards_has_not_moved_there(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);
	size_t len;

	set(OLD + 128, at(OLD + 24) | FORWARDED, CLASS);
	look_ahead(&a, 1, false);
	set(OLD + 24, UNLOCKED, CLASS + 1);
	assert_null(slide(&a, 1, &len));
	assert_int_equal(len, 0);
	/* But it lived, so it is lost, and that is counted. */
	assert_int_equal(counter("small_forgotten") - before.forgotten, 1);
}

/* A live object and a dead one are held, in old memory. */
static void hold_two(void)
{
	size_t len;

	assert_true(begin(true));
	for (size_t i = 0; i < 2; i++) {
		struct lc_alloc a = record(EDEN + 64 * i, 3, TAG);

		copy(EDEN + 64 * i, OLD + 256 + 64 * i);
		lc_small_look(&a, 1, TAG, 0);
	}
	free(lc_small_end(&len));
	assert_int_equal(held(), 2);
}

static void what_lies_over_a_dead_object_is_no_header_of_it(void **state)
{
	const struct lc_alloc a = record(EDEN + 512, 3, TAG);
	struct lc_move *moves;
	size_t len;

	/* A larger object has come to lie over the dead one. A field looks like a new address. */
	hold_two();
	set(OLD + 320, at(OLD) | FORWARDED, CLASS + 1);
	look_ahead(NULL, 0, false);
	full = 1;
	areas[0].flags = LC_AREA_COMPACTED;
	assert_true(begin(true)); /* nothing slides */
	assert_null(lc_small_end(&len));
	assert_int_equal(held(), 1);
	assert_int_equal(counter("small_forgotten") - before.forgotten, 0);
	/* The same if others do slide. */
	teardown(state);
	lc_small_ahead_forget();
	before.forgotten = counter("small_forgotten");
	slid = false;
	for (size_t i = 0; i < 4; i++)
		areas[i].flags = 0;
	hold_two();
	set(OLD + 320, at(OLD) | FORWARDED, CLASS + 1);
	set(OLD, UNLOCKED, CLASS);
	set(EDEN + 512, at(OLD + 1024) | FORWARDED, CLASS);
	look_ahead(&a, 1, false);
	set(OLD + 1024, UNLOCKED, CLASS);
	moves = slide(&a, 1, &len);
	assert_int_equal(len, 1);
	assert_true(moves[0].src == at(EDEN + 512) && moves[0].dst == at(OLD + 1024));
	free(moves);
	assert_int_equal(held(), 2); /* it, and the live object that stayed */
	assert_int_equal(counter("small_forgotten") - before.forgotten, 0);
}

static void what_lies_over_a_dead_new_object_is_not_held(void **state)
{
	const struct lc_alloc a[] = { record(OLD + 64, 3, TAG), record(OLD + 128, 3, TAG),
		                      record(OLD + 1024, 3, TAG) };
	size_t len;

	set(OLD + 64, UNLOCKED, CLASS);  /* stays */
	set(OLD + 128, UNLOCKED, CLASS); /* dead */
	set(OLD + 1024, at(OLD + 512) | FORWARDED, CLASS);
	look_ahead(a, 3, false);
	set(OLD + 128, 77, CLASS + 1); /* a larger object came to lie here */
	set(OLD + 512, UNLOCKED, CLASS);
	free(slide(a, 3, &len));
	assert_int_equal(len, 1);
	assert_int_equal(held(), 2);
}

static void an_object_slides_to_the_heaps_bottom(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);
	struct lc_move *moves;
	size_t len;

	layout.slides_encoded = true;
	set(OLD + 128, FORWARDED, CLASS); /* no distance */
	look_ahead(&a, 1, false);
	set(0, UNLOCKED, CLASS);
	moves = slide(&a, 1, &len);
	assert_int_equal(len, 1);
	assert_true(moves[0].src == at(OLD + 128) && moves[0].dst == at(0));
	free(moves);
}

/* No memmove tells when it begins, and the JVM reads clocks until it is over. */
static void a_slide_of_small_objects_only_is_known_if_it_was_not_seen_half_done(void **state)
{
	const struct lc_alloc a[] = { record(OLD + 128, 3, TAG), record(OLD + 256, 3, TAG) };
	size_t len;

	for (unsigned half = 0; half < 2; half++) {
		for (size_t i = 0; i < 2; i++)
			set(OLD + 128 + 128 * i, at(OLD + 64 * i) | FORWARDED, CLASS);
		look_ahead(a, 2, false);
		for (size_t i = 0; i < 2; i++) {
			set(OLD + 64 * i, UNLOCKED, CLASS);
			set(OLD + 128 + 128 * i, UNLOCKED, CLASS);
			if (half)
				look_ahead(a, 2, false);
		}
		look_ahead(a, 2, false);
		assert_true(lc_small_ahead_found());
		full = 1;
		areas[0].flags = LC_AREA_COMPACTED;
		assert_int_equal(begin(true), !half);
		if (!half) {
			lc_small_look(a, 2, TAG, 0);
			free(lc_small_end(&len));
			assert_int_equal(len, 2);
		}
		assert_int_equal(held(), half ? 0 : 2);
		lc_small_forget();
		lc_small_ahead_forget();
	}
}

/* Serial marks live objects so before it computes addresses; afterwards nothing slides. */
static void a_mark_of_serial_is_no_address(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);
	size_t len;

	collector = LC_GC_SERIAL;
	layout.slides_encoded = true;
	set(OLD + 128, FORWARDED, CLASS);
	look_ahead(&a, 1, false);
	set(OLD + 128, UNLOCKED, CLASS);
	look_ahead(&a, 1, false);
	full = 1;
	areas[0].flags = LC_AREA_COMPACTED;
	assert_true(begin(true));
	lc_small_look(&a, 1, TAG, 0);
	free(lc_small_end(&len));
	assert_int_equal(held(), 1);
	assert_int_equal(counter("small_forgotten") - before.forgotten, 0);
}

/* G1 frees regions without live objects in pauses that collect nothing. */
static void objects_in_memory_that_was_freed_are_dead(void **state)
{
	hold_two();
	collections = 0;
	lc_small_sweep(areas, 4);
	assert_int_equal(held(), 2);
	area(0, OLD, LC_AREA_FREE, 0);
	lc_small_sweep(areas, 4);
	assert_int_equal(held(), 0);
}

static void new_objects_that_are_forgotten_are_counted(void **state)
{
	const struct lc_alloc a[] = { record(EDEN, 3, TAG), record(EDEN + 64, 8, TAG),
		                      record(EDEN + 128, 9, TAG), record(EDEN + 512, 3, TAG - 1) };

	lc_small_forget_new(a, 4, TAG, 0);
	assert_int_equal(counter("small_forgotten_new") - before.forgotten_new, 2);
}

/* Phases end one after the other: what headers say when the last one has ended counts. */
static void what_headers_say_last_counts(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);
	struct lc_move *moves;
	size_t len;

	set(OLD + 128, at(OLD + 64) | FORWARDED, CLASS);
	look_ahead(&a, 1, false);
	set(OLD + 128, at(OLD + 24) | FORWARDED, CLASS);
	look_ahead(&a, 1, false);
	set(OLD + 24, UNLOCKED, CLASS);
	set(OLD + 64, UNLOCKED, CLASS);
	moves = slide(&a, 1, &len);
	assert_int_equal(len, 1);
	assert_true(moves[0].dst == at(OLD + 24));
	free(moves);
}

static void a_young_collection_before_the_full_one_is_followed_too(void **state)
{
	const struct lc_alloc a[] = { record(EDEN + 64, 3, TAG), record(EDEN + 128, 3, TAG) };
	struct lc_move *moves;
	size_t len;

	copy(EDEN + 64, OLD + 1024);
	set(OLD + 1024, at(OLD + 24) | FORWARDED, CLASS);
	copy(EDEN + 128, OLD + 8); /* and stays there */
	look_ahead(a, 2, true);
	set(OLD + 24, UNLOCKED, CLASS);
	collections = 2;
	moves = slide(a, 2, &len);
	assert_int_equal(len, 2);
	assert_true(moves[0].src == at(EDEN + 64) && moves[0].dst == at(OLD + 24));
	assert_true(moves[1].src == at(EDEN + 128) && moves[1].dst == at(OLD + 8));
	free(moves);
}

/* JDK 17: the young collection made eden smaller, and a full one follows in the same pause. */
static void what_slides_after_its_old_memory_was_given_back_is_followed(void **state)
{
	const struct lc_alloc a = record(EDEN + 64, 3, TAG);
	struct lc_move *moves;
	size_t len;

	copy(EDEN + 64, OLD + 1024);
	give_back(EDEN, EDEN + SPACE, &a, 1);
	set(OLD + 1024, at(OLD + 24) | FORWARDED, CLASS);
	areas[3].end = at(EDEN);
	look_ahead(&a, 1, true);
	set(OLD + 24, UNLOCKED, CLASS);
	collections = 2;
	moves = slide(&a, 1, &len);
	assert_int_equal(len, 1);
	assert_true(moves[0].src == at(EDEN + 64) && moves[0].dst == at(OLD + 24));
	free(moves);
}

static void distances_of_newer_JVMs_are_read(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);
	struct lc_move *moves;
	size_t len;

	layout.slides_encoded = true;
	set(OLD + 128, (OLD + 24) / 8 << 2 | FORWARDED, CLASS);
	look_ahead(&a, 1, false);
	set(OLD + 24, UNLOCKED, CLASS);
	moves = slide(&a, 1, &len);
	assert_int_equal(len, 1);
	assert_true(moves[0].dst == at(OLD + 24));
	free(moves);
	layout.class_in_mark = true; /* the class stays above the distance */
	collections = 1;
	slid = false;
	lc_small_forget();
	lc_small_ahead_forget();
	set(OLD + 128, UINT64_C(0x77) << 42 | (OLD + 24) / 8 << 2 | FORWARDED, 0);
	look_ahead(&a, 1, false);
	set(OLD + 24, UINT64_C(0x77) << 42 | UNLOCKED, 0);
	moves = slide(&a, 1, &len);
	assert_int_equal(len, 1);
	free(moves);
}

static void a_second_full_collection_makes_all_unknown(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);

	set(OLD + 128, at(OLD + 24) | FORWARDED, CLASS);
	look_ahead(&a, 1, false);
	set(OLD + 24, UNLOCKED, CLASS);
	slid = true;
	full = 2;
	areas[0].flags = LC_AREA_COMPACTED;
	assert_false(begin(true));
	assert_false(lc_small_slid());
}

/* One object lives, and the tables say that it slides by `by`. */
static struct lc_move *slide_by_tables(const struct lc_alloc *a, int64_t by, size_t *len)
{
	tables = true;
	fate = LC_MARK_UNSAID;
	look_ahead(a, 1, false); /* the collector has not computed anything yet */
	fate = LC_MARK_LIVES;
	distance = by;
	look_ahead(a, 1, false);
	set(lc_alloc_addr(a) - (uint64_t)by - at(0), UNLOCKED, CLASS);
	return slide(a, 1, len);
}

static void what_the_collectors_tables_say_is_believed(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);
	struct lc_move *moves;
	size_t len;

	/* A mark word that would lead elsewhere is not asked. */
	set(OLD + 128, at(OLD + 64) | FORWARDED, CLASS);
	moves = slide_by_tables(&a, 104, &len);
	assert_true(lc_small_slid());
	assert_int_equal(len, 1);
	assert_true(moves[0].src == at(OLD + 128) && moves[0].dst == at(OLD + 24));
	assert_int_equal(held(), 1);
	free(moves);
}

static void what_the_tables_say_is_dead_has_no_move(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);
	size_t len;

	tables = true;
	fate = LC_MARK_DEAD;
	distance = 104;
	set(OLD + 128, UNLOCKED, CLASS);
	look_ahead(&a, 1, false);
	assert_null(slide(&a, 1, &len));
	assert_true(lc_small_slid()); /* it is known of all others */
}

static void tables_that_were_wrong_once_or_said_nothing_make_all_unknown(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);
	size_t len;

	survive(OLD + 4096, 3);
	set(OLD + 128, UNLOCKED, CLASS + 1); /* not what comes to stand at the new place */
	assert_null(slide_by_tables(&a, 104, &len));
	assert_false(lc_small_slid());
	assert_int_equal(held(), 0);
	/* Something is said of one object, nothing of another. */
	lc_small_ahead_forget();
	slid = false;
	for (size_t i = 0; i < 4; i++)
		areas[i].flags = 0;
	survive(OLD + 4096, 1);
	tables = true;
	fate = LC_MARK_DEAD;
	assert_true(lc_small_ahead_begin(areas, 4, false));
	assert_true(lc_small_ahead_changed());
	fate = LC_MARK_UNSAID;
	lc_small_ahead_look(&a, 1, TAG, 0);
	assert_null(slide(&a, 1, &len));
	assert_int_equal(held(), 0);
}

static void a_full_collection_that_slides_nothing_forgets_nothing(void **state)
{
	struct lc_move *moves;
	size_t len;

	survive(OLD, 3);
	look_ahead(NULL, 0, false); /* no header says anything */
	full = 1;
	areas[0].flags = LC_AREA_COMPACTED;
	assert_true(begin(true));
	moves = lc_small_end(&len);
	assert_null(moves);
	assert_int_equal(held(), 3);
	/* But if nobody has looked, nothing is known. */
	lc_small_ahead_forget();
	assert_false(begin(true));
	assert_int_equal(held(), 0);
}

static void only_the_topmost_object_slides_and_is_seen(void **state)
{
	enum { N = 8192 + 4096 };
	struct lc_move *moves;
	size_t len;

	area(0, OLD, LC_AREA_OLD, SPACE);
	assert_true(begin(true));
	for (size_t i = 0; i < N; i++) {
		struct lc_alloc a = record(EDEN + 16 * i, 2, TAG);

		copy(EDEN + 16 * i, OLD + 16 * i);
		lc_small_look(&a, 1, TAG, 0);
	}
	free(lc_small_end(&len));
	assert_int_equal(len, N);
	/* One that lies beside the sample: one in two was chosen. */
	set(OLD + 16 * (N - 1), at(OLD + 16 * (N - 2)) | FORWARDED, CLASS);
	look_ahead(NULL, 0, false);
	set(OLD + 16 * (N - 2), UNLOCKED, CLASS);
	moves = slide(NULL, 0, &len);
	assert_int_equal(len, 1);
	assert_int_equal(moves[0].src, at(OLD + 16 * (N - 1)));
	free(moves);
}

static void tables_that_were_cleared_after_the_slide_are_not_asked_again(void **state)
{
	const struct lc_alloc a = record(OLD + 128, 3, TAG);
	struct lc_move *moves;
	size_t len;

	set(OLD + 128, UNLOCKED, CLASS);
	tables = true;
	fate = LC_MARK_LIVES;
	distance = 104;
	look_ahead(&a, 1, false);
	set(OLD + 24, UNLOCKED, CLASS);
	fate = LC_MARK_UNSAID;
	look_ahead(&a, 1, false);
	moves = slide(&a, 1, &len);
	assert_int_equal(len, 1);
	assert_int_equal(moves[0].dst, at(OLD + 24));
	free(moves);
}

/* Most new objects die, so few of a sample of them say something. */
static void a_few_survivors_beside_many_new_objects_are_seen(void **state)
{
	enum { NEW = 90001, WORDS = 2 };
	struct lc_alloc *a = calloc(NEW, sizeof(*a));
	struct lc_move *moves;
	size_t len;

	assert_non_null(a);
	survive(OLD + 4096, 2);
	for (size_t i = 0; i < NEW; i++) /* dead, all of them */
		a[i] = record(EDEN + 16 * (i % 10000), WORDS, TAG);
	memset(heap + EDEN, 0, SPACE);
	set(OLD + 4096, at(OLD) | FORWARDED, CLASS);
	set(OLD + 4096 + 32, at(OLD + 24) | FORWARDED, CLASS);
	look_ahead(a, NEW, false);
	set(OLD, UNLOCKED, CLASS);
	set(OLD + 24, UNLOCKED, CLASS);
	moves = slide(a, NEW, &len);
	assert_int_equal(len, 2);
	free(moves);
	free(a);
}

/* The limit lets so many be found in a pause. */
static void let_be_found(uint64_t n)
{
	lc_memory_limit(n * 512);
}

static void no_more_are_looked_at_in_a_pause_than_the_limit_allows(void **state)
{
	enum { MOST = 500, MORE = 700 };
	struct lc_move *moves;
	size_t len;

	let_be_found(MOST);
	assert_true(begin(true));
	for (size_t i = 0; i < MORE; i++) {
		struct lc_alloc a = record(EDEN + 32 * i, 3, TAG);

		copy(EDEN + 32 * i, TO + 32 * i);
		lc_small_look(&a, 1, TAG, 0);
	}
	moves = lc_small_end(&len);
	assert_int_equal(len, MOST);
	for (size_t i = 0; i < len; i++) /* the first are followed, and where they went is right */
		assert_int_equal(moves[i].dst, at(TO + 32 * i));
	free(moves);
	assert_int_equal(held(), MOST);
	assert_int_equal(counter("small_passes_limited"), before.passes_limited + 1);
	lc_memory_limit(UINT64_MAX);
	/* Objects that were not looked at are never believed anywhere. */
	area(1, TO, LC_AREA_SURVIVOR, 0);
	area(2, FROM, LC_AREA_SURVIVOR, SPACE / 2);
	for (size_t i = 0; i < MORE; i++)
		copy(TO + 32 * i, FROM + 32 * i);
	moves = pass(&len);
	assert_int_equal(len, MOST);
	free(moves);
}

static void survivors_that_find_no_room_make_a_slide_unknown(void **state)
{
	const struct lc_alloc a = record(EDEN, 3, TAG);
	struct lc_move *moves;
	size_t len;

	survive(OLD + 4096, 100);
	let_be_found(100000);
	lc_memory_add(100000 * 512); /* something else holds all */
	assert_true(begin(true));
	copy(EDEN, OLD + 128 * 1024);
	lc_small_look(&a, 1, TAG, 0);
	moves = lc_small_end(&len);
	assert_int_equal(len, 0);
	assert_null(moves);
	lc_memory_add(-100000 * 512);
	lc_memory_limit(UINT64_MAX);
	assert_int_equal(held(), 100); /* in old memory, which stayed */
	/* All headers say where objects slide, but the room is for fewer. */
	for (size_t i = 0; i < 100; i++)
		set(OLD + 4096 + 32 * i, at(OLD + 32 * i) | FORWARDED, CLASS);
	let_be_found(50);
	look_ahead(NULL, 0, false);
	moves = slide(NULL, 0, &len);
	assert_int_equal(len, 0);
	assert_null(moves);
	assert_false(lc_small_slid());
	assert_int_equal(held(), 0);
	lc_memory_limit(UINT64_MAX);
}

/* Its header would have said that it slides. */
static void an_object_that_no_memory_allows_to_hold_makes_a_full_collection_unknown(void **state)
{
	const struct lc_alloc a = record(EDEN, 3, TAG);
	struct lc_move *moves;
	size_t len;

	let_be_found(1000);
	assert_true(begin(true));
	copy(EDEN, OLD + 64);
	lc_small_look(&a, 1, TAG, 0);
	lc_memory_add(1000 * 512); /* something else takes all */
	moves = lc_small_end(&len);
	assert_int_equal(len, 1);
	free(moves);
	lc_memory_add(-1000 * 512);
	lc_memory_limit(UINT64_MAX);
	assert_int_equal(counter("small_unheld") - before.unheld, 1);
	look_ahead(NULL, 0, false);
	full = 1;
	areas[0].flags = LC_AREA_COMPACTED;
	assert_false(begin(true));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(small_objects_that_stay_are_kept_if_the_slide_of_another_was_seen),
		TEST(forwarding_pointers_are_followed_with_each_layout_of_headers),
		TEST(what_did_not_move_has_no_move),
		TEST(objects_that_a_pinned_region_keeps_are_known),
		TEST(without_a_look_in_time_what_a_region_keeps_is_unknown),
		TEST(a_region_that_is_pinned_no_more_is_looked_at_like_any_other),
		TEST(without_a_free_region_old_memory_is_looked_at),
		TEST(one_survivor_among_many_dead_objects_of_a_pinned_region_is_known),
		TEST(an_object_forwarded_to_itself_stayed),
		TEST(pointers_that_lead_to_no_object_are_not_believed),
		TEST(memory_that_was_given_back_is_not_touched),
		TEST(what_left_memory_before_that_was_given_back_is_followed),
		TEST(what_slides_after_its_old_memory_was_given_back_is_followed),
		TEST(places_that_find_no_room_are_counted),
		TEST(a_header_of_which_half_was_given_back_is_not_touched),
		TEST(only_tracked_small_objects_of_those_epochs_are_looked_at),
		TEST(epoch_tags_that_wrap_are_told_apart),
		TEST(survivors_are_followed_until_they_die),
		TEST(what_left_a_young_space_that_kept_others_is_followed),
		TEST(objects_in_old_memory_wait_until_that_is_collected),
		TEST(many_survivors_are_all_followed),
		TEST(a_collection_that_leaves_no_trace_makes_all_unknown),
		TEST(what_headers_say_before_a_full_collection_slides_is_believed),
		TEST(what_is_no_object_of_its_class_afterwards_has_not_moved_there),
		TEST(what_lies_over_a_dead_object_is_no_header_of_it),
		TEST(what_lies_over_a_dead_new_object_is_not_held),
		TEST(an_object_slides_to_the_heaps_bottom),
		TEST(a_slide_of_small_objects_only_is_known_if_it_was_not_seen_half_done),
		TEST(a_mark_of_serial_is_no_address),
		TEST(objects_in_memory_that_was_freed_are_dead),
		TEST(new_objects_that_are_forgotten_are_counted),
		TEST(what_headers_say_last_counts),
		TEST(a_young_collection_before_the_full_one_is_followed_too),
		TEST(distances_of_newer_JVMs_are_read),
		TEST(a_second_full_collection_makes_all_unknown),
		TEST(what_the_collectors_tables_say_is_believed),
		TEST(what_the_tables_say_is_dead_has_no_move),
		TEST(tables_that_were_wrong_once_or_said_nothing_make_all_unknown),
		TEST(a_full_collection_that_slides_nothing_forgets_nothing),
		TEST(only_the_topmost_object_slides_and_is_seen),
		TEST(tables_that_were_cleared_after_the_slide_are_not_asked_again),
		TEST(a_few_survivors_beside_many_new_objects_are_seen),
		TEST(a_pause_without_a_collection_changes_nothing),
		TEST(no_more_are_looked_at_in_a_pause_than_the_limit_allows),
		TEST(survivors_that_find_no_room_make_a_slide_unknown),
		TEST(an_object_that_no_memory_allows_to_hold_makes_a_full_collection_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
