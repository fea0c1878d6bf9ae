/* uses: src/core/stand_back.c src/core/epoch.c src/core/wake.c src/heap/map.c src/heap/map_store.c src/heap/map_close.c src/heap/map_resolve.c src/heap/map_order.c -lJudy */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_map_order.c - checks the map where objects move while the program runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/heap/map.h"

#define A UINT64_C(0x700000000)
#define B UINT64_C(0x700100000)

enum { BYTES = 1600, WORDS = BYTES / 8, SITE = 7, OTHER = 8 };

static struct lc_map *map;

static int open_map(void **state)
{
	return lc_map_create(&map);
}

static int close_map(void **state)
{
	lc_map_destroy(map);
	return 0;
}

/* The site of the object that covers the address; 0: none. */
static uint32_t site_at(uint64_t addr)
{
	struct lc_object o;

	return lc_map_find(map, addr, &o) ? o.site : 0;
}

static void an_object_that_was_copied_is_at_both_places(void **state)
{
	assert_int_equal(lc_map_allocated(map, A, WORDS, SITE), 0);
	assert_int_equal(lc_map_moved(map, A, B, BYTES), 1);
	assert_int_equal(site_at(A + BYTES - 1), SITE);
	assert_int_equal(site_at(B + BYTES - 1), SITE);
	assert_int_equal(lc_map_allocated(map, A + 800, WORDS, OTHER),
	                 0); /* the memory is used again */
	assert_int_equal(site_at(A), 0);
	assert_int_equal(site_at(A + 800), OTHER);
	assert_int_equal(site_at(B), SITE);
}

static void of_two_copies_of_an_object_either_may_be_it(void **state)
{
	assert_int_equal(lc_map_allocated(map, A, WORDS, SITE), 0);
	assert_int_equal(lc_map_moved(map, A, B, BYTES), 1);
	assert_int_equal(lc_map_moved(map, A, B + 0x10000, BYTES), 1);
	assert_int_equal(site_at(B), SITE);
	assert_int_equal(site_at(B + 0x10000), SITE);
}

static void other_copies_within_the_heap_move_nothing(void **state)
{
	assert_int_equal(lc_map_allocated(map, A, WORDS, SITE), 0);
	assert_int_equal(lc_map_allocated(map, B, WORDS, OTHER), 0);
	assert_int_equal(lc_map_moved(map, A + 16, B + 16, BYTES - 16), 0); /* its elements */
	assert_int_equal(lc_map_moved(map, A, B, BYTES - 8), 0);
	assert_int_equal(site_at(B), OTHER);
}

static void an_object_may_slide_by_less_than_its_size(void **state)
{
	assert_int_equal(lc_map_allocated(map, A + 800, WORDS, SITE), 0);
	assert_int_equal(lc_map_moved(map, A + 800, A, BYTES), 1);
	assert_int_equal(site_at(A), SITE);
	assert_int_equal(site_at(A + BYTES), 0);
	assert_int_equal(lc_map_count(map), 1);
}

static void ages_are_counted_in_cycles_and_copies_by_site(void **state)
{
	const struct lc_map_copied *c;
	struct lc_object o;

	assert_int_equal(lc_map_allocated(map, A, WORDS, SITE), 0);
	lc_map_cycle(map);
	assert_int_equal(lc_map_moved(map, A, B, BYTES), 1);
	lc_map_cycle(map);
	assert_int_equal(lc_map_moved(map, B, A, BYTES), 1);
	assert_true(lc_map_find(map, A, &o));
	assert_int_equal(o.epochs, 2);
	c = lc_map_copied(map);
	assert_non_null(c);
	assert_int_equal(c->site, SITE);
	assert_int_equal(c->objects, 2);
	assert_int_equal(c->bytes, 2 * BYTES);
	assert_int_equal(c->outlived, 1);
}

/* Headers that are gone, by address. */
static uint64_t gone;
static enum lc_map_header instead = LC_MAP_HEADER_OTHER;

static enum lc_map_header look(void *unused, const struct lc_object *o)
{
	return o->addr == gone ? instead : LC_MAP_HEADER_SAME;
}

static void an_object_whose_header_is_gone_is_dropped_at_the_second_look(void **state)
{
	struct lc_object o;
	uint64_t at = 0;

	assert_int_equal(lc_map_allocated(map, A, WORDS, SITE), 0);
	assert_int_equal(lc_map_allocated(map, B, WORDS, OTHER), 0);
	gone = A;
	assert_int_equal(lc_map_look(map, &at, look, NULL, 1), 0);
	assert_int_equal(at, A + 1);
	assert_int_equal(lc_map_look(map, &at, look, NULL, 9), 0);
	assert_int_equal(at, 0);
	assert_true(lc_map_find(map, A, &o) && o.in_doubt);
	assert_true(lc_map_find(map, B, &o) && !o.in_doubt);
	gone = 0; /* it was just being copied there */
	assert_int_equal(lc_map_look(map, &at, look, NULL, 9), 0);
	assert_true(lc_map_find(map, A, &o) && !o.in_doubt);
	gone = A;
	instead = LC_MAP_HEADER_LATER;
	assert_int_equal(lc_map_look(map, &at, look, NULL, 9), 0);
	assert_true(lc_map_find(map, A, &o) && !o.in_doubt);
	instead = LC_MAP_HEADER_OTHER;
	assert_int_equal(lc_map_look(map, &at, look, NULL, 9), 0);
	assert_int_equal(lc_map_look(map, &at, look, NULL, 9), 1);
	assert_int_equal(site_at(A), 0);
	assert_int_equal(site_at(B), OTHER);
}

static void a_copy_of_an_object_in_doubt_is_looked_at_anew(void **state)
{
	struct lc_object o;
	uint64_t at = 0;

	instead = LC_MAP_HEADER_OTHER;
	assert_int_equal(lc_map_allocated(map, A, WORDS, SITE), 0);
	gone = A;
	assert_int_equal(lc_map_look(map, &at, look, NULL, 9), 0);
	assert_int_equal(lc_map_moved(map, A, B, BYTES), 1);
	assert_true(lc_map_find(map, A, &o) && o.in_doubt);
	assert_true(lc_map_find(map, B, &o) && !o.in_doubt);
}

static void memory_is_bounded_by_the_heap(void **state)
{
	uint64_t bytes;

	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(lc_map_allocated(map, A + i * (uint64_t)BYTES, WORDS, SITE), 0);
	bytes = lc_map_bytes(map);
	for (unsigned round = 1; round < 100; round++)
		for (unsigned i = 0; i < 1000; i++)
			assert_int_equal(
			    lc_map_allocated(map, A + i * (uint64_t)BYTES - 8 * round, WORDS, SITE),
			    0);
	assert_true(lc_map_count(map) <= 1001);
	assert_true(lc_map_bytes(map) <= 2 * bytes);
	lc_map_forget_all(map);
	assert_int_equal(lc_map_count(map), 0);
}

/* Objects in a heap of 256 KB, as a list that is searched from end to end. */
enum { LISTED_MAX = 1 << 15, HEAP_BYTES = 1 << 18 };

static struct listed {
	uint64_t addr, end;
	uint32_t site;
} listed[LISTED_MAX];
static size_t listed_len;

static void list(uint64_t addr, uint64_t bytes, uint32_t site)
{
	size_t kept = 0;

	for (size_t i = 0; i < listed_len; i++)
		if (listed[i].end <= addr || listed[i].addr >= addr + bytes)
			listed[kept++] = listed[i];
	listed[kept++] = (struct listed){ addr, addr + bytes, site };
	listed_len = kept;
}

static const struct listed *listed_at(uint64_t addr)
{
	for (size_t i = 0; i < listed_len; i++)
		if (listed[i].addr <= addr && addr < listed[i].end)
			return &listed[i];
	return NULL;
}

static uint64_t some(unsigned *seed, uint64_t below)
{
	return (uint64_t)rand_r(seed) % below;
}

/* Small ones, ones of a page and more; each tenth place is where another one begins. */
static uint64_t some_bytes(unsigned *seed)
{
	const uint64_t most = some(seed, 20) ? 40 : some(seed, 2) ? 600 : 6000;

	return 8 * (2 + some(seed, most));
}

static uint64_t some_addr(unsigned *seed)
{
	if (listed_len && !some(seed, 10))
		return listed[some(seed, listed_len)].addr;
	return A + 8 * some(seed, HEAP_BYTES / 8);
}

static void assert_as_listed(uint64_t addr)
{
	const struct listed *l = listed_at(addr);
	struct lc_object o;

	assert_int_equal(lc_map_find(map, addr, &o), l != NULL);
	if (!l)
		return;
	assert_int_equal(o.addr, l->addr);
	assert_int_equal(o.addr + o.size_bytes, l->end);
	assert_int_equal(o.site, l->site);
}

static void it_agrees_with_a_list(void **state)
{
	unsigned seed = 42;

	listed_len = 0;
	for (uint32_t i = 1; i <= 30000; i++) {
		const uint64_t addr = some_addr(&seed), dst = some_addr(&seed);
		const struct listed *l = listed_at(addr);
		const uint64_t bytes = some_bytes(&seed);

		if (some(&seed, 4)) {
			assert_int_equal(lc_map_allocated(map, addr, (uint32_t)(bytes / 8), i), 0);
			list(addr, bytes, i);
		} else if (l && l->addr == addr && dst != addr) {
			assert_int_equal(lc_map_moved(map, addr, dst, l->end - addr), 1);
			list(dst, l->end - addr, l->site);
		} else if (l) {
			lc_map_forget(map, l->addr);
			listed[l - listed] = listed[--listed_len];
		}
		assert_as_listed(addr);
		assert_as_listed(A + some(&seed, HEAP_BYTES));
		assert_int_equal(lc_map_count(map), listed_len);
	}
}

static void its_walk_has_each_object_in_order(void **state)
{
	struct lc_object o;
	uint64_t at = 0, before = 0;
	unsigned seed = 7;

	listed_len = 0;
	for (uint32_t i = 1; i <= 3000; i++) {
		const uint64_t addr = some_addr(&seed), bytes = some_bytes(&seed);

		assert_int_equal(lc_map_allocated(map, addr, (uint32_t)(bytes / 8), i), 0);
		list(addr, bytes, i);
	}
	for (size_t i = 0; i < listed_len; i++) {
		assert_true(lc_map_next(map, &at, &o));
		assert_true(o.addr >= before);
		before = o.addr + o.size_bytes;
		assert_as_listed(o.addr);
	}
	assert_false(lc_map_next(map, &at, &o));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_map, close_map)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_object_that_was_copied_is_at_both_places),
		CASE(of_two_copies_of_an_object_either_may_be_it),
		CASE(other_copies_within_the_heap_move_nothing),
		CASE(an_object_may_slide_by_less_than_its_size),
		CASE(ages_are_counted_in_cycles_and_copies_by_site),
		CASE(an_object_whose_header_is_gone_is_dropped_at_the_second_look),
		CASE(a_copy_of_an_object_in_doubt_is_looked_at_anew),
		CASE(memory_is_bounded_by_the_heap),
		CASE(it_agrees_with_a_list),
		CASE(its_walk_has_each_object_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
