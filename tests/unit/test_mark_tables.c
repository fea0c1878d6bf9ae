/* uses: src/jvm/layout/mark_tables.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mark_tables.c - checks new addresses that are computed from Parallel's tables against a
 * model that slides objects one after the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>

#include "src/jvm/layout/mark_tables.h"
#include "src/jvm/layout/ranges.h"

#define LOW UINT64_C(0x700000000)
#define TARGET UINT64_C(0x7f0000000) /* where a split region goes */

enum {
	REGION = 1 << 16, /* words */
	REGIONS = 8,
	WORDS = REGION * REGIONS,
	LIBRARY_BYTES = 200 << 10,
	CHUNK_BYTES = 64 << 10, /* of which the library is read */
	PAGE = 4096,
	SEEDS = 60,
	FIELDS = 8, /* of a table */
};

/* The JVM's layout. */
struct summary {
	uint64_t destination, source, partial;
	uint32_t partial_size, counts;
	uint64_t state;
};

struct object {
	uint64_t word, words;
	bool lives;
	uint64_t to;
};

static unsigned char *library;
static uint64_t *begin_map, *end_map; /* one behind the other */
static struct summary *regions;
static uint64_t marks[FIELDS], summary[FIELDS];
static struct object objects[WORDS];
static size_t objects_len;

struct lc_range lc_ranges_heap(void)
{
	return (struct lc_range){ LOW, LOW + (uint64_t)WORDS * 8 };
}

struct lc_range lc_ranges_library(void)
{
	return (struct lc_range){ (uintptr_t)library, (uintptr_t)library + LIBRARY_BYTES };
}

static void *map_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

/* Tables for objects of which each granule has that many words. */
static void lay_out(unsigned granule)
{
	const uint64_t bits = WORDS / granule;

	memset(library, 0xa5, LIBRARY_BYTES);
	memset(begin_map, 0, WORDS / 4);
	end_map = begin_map + bits / 64;
	memset(regions, 0, REGIONS * sizeof(*regions));
	memcpy(marks,
	       (uint64_t[]){ LOW, WORDS, (uintptr_t)begin_map, bits, (uintptr_t)end_map, bits, 77,
	                     bits / 4 },
	       sizeof(marks));
	memcpy(summary,
	       (uint64_t[]){ LOW, 77, 4096, (uintptr_t)regions, REGIONS, 77, (uintptr_t)regions,
	                     REGIONS * 512 },
	       sizeof(summary));
}

static int setup(void **state)
{
	if (!library) {
		library = map_pages(LIBRARY_BYTES);
		begin_map = map_pages(WORDS / 4);
		regions = map_pages(PAGE);
	}
	lay_out(1);
	return 0;
}

/* Put the tables at these offsets, and look for them. */
static int found(size_t marks_at, size_t summary_at)
{
	memset(library, 0xa5, LIBRARY_BYTES);
	memcpy(library + marks_at, marks, sizeof(marks));
	memcpy(library + summary_at, summary, sizeof(summary));
	return lc_mark_tables_init();
}

static void tables_are_found_wherever_they_stand(void **state)
{
	assert_int_equal(found(0, LIBRARY_BYTES - sizeof(summary)), 0);
	assert_int_equal(found(LIBRARY_BYTES - sizeof(marks), 4096), 0);
	assert_true(lc_mark_tables_known());
	/* Each is read once where two chunks meet. */
	for (size_t at = CHUNK_BYTES - 2 * sizeof(marks); at < CHUNK_BYTES + sizeof(marks); at += 8)
		assert_int_equal(found(at, at + sizeof(marks)), 0);
}

static void what_only_resembles_a_table_is_none(void **state)
{
	for (size_t i = 0; i < FIELDS; i++) {
		const uint64_t was = marks[i], summed = summary[i];

		if (i != 6) { /* not looked at */
			marks[i] = i == 7 ? was - 8 : was + 8;
			assert_int_not_equal(found(64, 256), 0);
			assert_false(lc_mark_tables_known());
			marks[i] = was;
		}
		if (i != 1 && i != 2 && i != 5) {
			summary[i] += 8;
			assert_int_not_equal(found(64, 256), 0);
			summary[i] = summed;
		}
	}
	assert_int_equal(found(64, 256), 0);
	/* Two of a kind: nobody knows which is right. */
	memcpy(library + 512, marks, sizeof(marks));
	assert_int_not_equal(lc_mark_tables_init(), 0);
	assert_false(lc_mark_tables_known());
}

static void tables_that_cannot_be_read_are_none(void **state)
{
	assert_int_equal(mprotect(regions, PAGE, PROT_NONE), 0);
	assert_int_not_equal(found(64, 256), 0);
	assert_int_equal(mprotect(regions, PAGE, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(found(64, 256), 0);
}

static void mark(uint64_t *map, uint64_t bit)
{
	map[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Mark an object, and add it to the summary, as the collector does. */
static void add_live(const struct object *o, unsigned granule)
{
	const uint64_t last = o->word + o->words - 1;
	uint64_t r = o->word / REGION;

	mark(begin_map, o->word / granule);
	mark(end_map, last / granule);
	if (r == last / REGION) {
		regions[r].counts += (uint32_t)o->words;
		return;
	}
	regions[r].counts += (uint32_t)(REGION - o->word % REGION);
	while (++r < last / REGION)
		regions[r].partial_size = REGION;
	regions[r].partial_size = (uint32_t)(last % REGION + 1);
}

/* Fill the heap with objects, of which one in `dead_in` dies; 0: none. */
static void fill(unsigned seed, unsigned granule, unsigned dead_in)
{
	uint64_t at = 0;

	srand(seed);
	objects_len = 0;
	while (at < WORDS) {
		struct object *o = &objects[objects_len++];
		uint64_t words = (uint64_t)(rand() % 8 + 1) * granule;

		if (rand() % 4000 == 0)
			words = (uint64_t)(rand() % (3 * REGION)) / granule * granule + granule;
		*o = (struct object){ .word = at, .words = words };
		if (o->words > WORDS - at)
			o->words = WORDS - at;
		o->lives = !dead_in || rand() % (int)dead_in;
		if (o->lives)
			add_live(o, granule);
		at += o->words;
	}
}

/*
 * The first `dense` regions stay as they are, and the region `split`, if it is not 0, goes with all
 * behind it to another place.
 */
static void slide(uint64_t dense, uint64_t split)
{
	uint64_t next = LOW + dense * REGION * 8, free_at = next;
	bool gone;

	/* The collector splits behind the object that reaches into the region. */
	while (split && split < REGIONS && regions[split].partial_size == REGION)
		split++;
	gone = !split;

	for (uint64_t r = 0; r < REGIONS; r++) {
		if (r < dense) {
			regions[r].destination = LOW + r * REGION * 8;
			regions[r].counts = REGION - regions[r].partial_size;
			continue;
		}
		if (split && r == split) {
			regions[r].partial_size = 0;
			next = TARGET;
		}
		regions[r].destination = next;
		next += (uint64_t)(regions[r].partial_size + regions[r].counts) * 8;
		regions[r].counts |= 2u << 27; /* how many regions wait */
	}
	/* The model: one object after the other. */
	for (size_t i = 0; i < objects_len; i++) {
		struct object *o = &objects[i];
		const uint64_t end = o->word + o->words;

		o->to = LOW + o->word * 8;
		if (!o->lives)
			continue;
		if (o->word < dense * REGION) {
			if (end > dense * REGION)
				free_at = LOW + end * 8;
			continue;
		}
		if (!gone && o->word >= split * REGION) {
			gone = true;
			free_at = TARGET;
		}
		o->to = free_at;
		free_at += o->words * 8;
	}
}

static void check_all(void)
{
	uint64_t to;

	for (size_t i = 0; i < objects_len; i++) {
		const struct object *o = &objects[i];
		enum lc_mark_fate fate = lc_mark_tables_find(LOW + o->word * 8, &to);

		assert_int_equal(fate, o->lives ? LC_MARK_LIVES : LC_MARK_DEAD);
		if (o->lives)
			assert_int_equal(to, o->to);
	}
}

static void each_live_object_goes_where_sliding_puts_it(void **state)
{
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		const unsigned granule = seed % 3 ? 1 : 2;

		lay_out(granule);
		assert_int_equal(found(64, 256), 0);
		fill(seed, granule, seed % 5);
		slide(seed % 4, seed % 7 == 0 ? 5 : 0);
		check_all();
	}
}

static void nothing_is_said_before_the_summary_or_outside_of_the_heap(void **state)
{
	uint64_t to = 1;

	assert_int_equal(found(64, 256), 0);
	fill(1, 1, 3);
	assert_int_equal(lc_mark_tables_find(LOW, &to), LC_MARK_UNSAID);
	slide(0, 0);
	assert_int_not_equal(lc_mark_tables_find(LOW, &to), LC_MARK_UNSAID);
	assert_int_equal(lc_mark_tables_find(LOW - 8, &to), LC_MARK_UNSAID);
	assert_int_equal(lc_mark_tables_find(LOW + (uint64_t)WORDS * 8, &to), LC_MARK_UNSAID);
}

static void a_summary_that_the_bitmaps_contradict_is_not_believed(void **state)
{
	uint64_t to;

	assert_int_equal(found(64, 256), 0);
	fill(2, 1, 3);
	slide(0, 0);
	regions[2].counts++;
	for (size_t i = 0; i < objects_len; i++)
		assert_int_equal(lc_mark_tables_find(LOW + objects[i].word * 8, &to) ==
		                     LC_MARK_UNSAID,
		                 objects[i].word / REGION == 2);
	/* It is looked at anew where it changes. */
	regions[2].counts--;
	check_all();
	/* If only the summary says that a region is full, the region stays. */
	regions[2].counts = REGION - regions[2].partial_size;
	assert_int_equal(lc_mark_tables_find(LOW + 2 * REGION * 8, &to), LC_MARK_UNSAID);
	regions[2].destination = LOW + 2 * REGION * 8;
	assert_int_not_equal(lc_mark_tables_find(LOW + 2 * REGION * 8, &to), LC_MARK_UNSAID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tables_are_found_wherever_they_stand, setup),
		cmocka_unit_test_setup(what_only_resembles_a_table_is_none, setup),
		cmocka_unit_test_setup(tables_that_cannot_be_read_are_none, setup),
		cmocka_unit_test_setup(each_live_object_goes_where_sliding_puts_it, setup),
		cmocka_unit_test_setup(nothing_is_said_before_the_summary_or_outside_of_the_heap,
		                       setup),
		cmocka_unit_test_setup(a_summary_that_the_bitmaps_contradict_is_not_believed,
		                       setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
