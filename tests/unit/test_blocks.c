/* uses: src/offheap/blocks.c src/offheap/granules.c src/core/memory.c src/base/limit.c src/base/say.c -lJudy -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_blocks.c - checks the blocks outside the heap: found by address and time, counted exactly.
 */
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "src/core/memory.h"
#include "src/offheap/blocks.h"

enum { SITE = 3, OTHER = 4, SITES = 20, KIB = 1024, THREADS = 4, ROUNDS = 20000 };

static struct lc_blocks_sum sums[SITES];
static bool refuses;

static bool take(void *user, const struct lc_blocks_sum *sum)
{
	struct lc_blocks_sum *s = &sums[sum->site];

	assert_ptr_equal(user, sums);
	if (refuses)
		return false;
	s->allocated += sum->allocated;
	s->allocated_bytes += sum->allocated_bytes;
	s->freed += sum->freed;
	s->freed_bytes += sum->freed_bytes;
	s->before += sum->before;
	s->before_bytes += sum->before_bytes;
	return true;
}

/* Take all that was counted since the last time. */
static void take_all(void)
{
	for (size_t i = 0; i < SITES; i++)
		sums[i] = (struct lc_blocks_sum){ 0 };
	lc_blocks_take(take, sums);
}

static int setup(void **state)
{
	lc_memory_limit(UINT64_MAX);
	refuses = false;
	take_all();
	return 0;
}

/* A sample is taken. Returns its time, which is later than that of the last one. */
static uint64_t moment(void)
{
	static uint64_t now = 100;

	lc_blocks_sampled(++now);
	return now;
}

static uint32_t site_at(uint64_t addr, uint64_t time_ns)
{
	struct lc_blocks_block b = { 0 };

	return lc_blocks_find(addr, time_ns, &b) ? b.site : 0;
}

static void a_block_is_found_from_its_first_byte_to_its_last(void **state)
{
	struct lc_blocks_block b;

	lc_blocks_allocated(0x10000, KIB, SITE);
	assert_true(lc_blocks_find(0x10000 + KIB - 1, moment(), &b));
	assert_int_equal(b.addr, 0x10000);
	assert_int_equal(b.size_bytes, KIB);
	assert_int_equal(b.site, SITE);
	assert_int_equal(site_at(0x10000, moment()), SITE);
	assert_int_equal(site_at(0xffff, moment()), 0);
	assert_int_equal(site_at(0x10000 + KIB, moment()), 0);
	lc_blocks_freed(0x10000);
}

static void a_block_is_found_only_at_times_when_it_was_there(void **state)
{
	const uint64_t before = moment();
	uint64_t during, between, again;

	lc_blocks_allocated(0x20000, KIB, SITE);
	during = moment();
	lc_blocks_freed(0x20000);
	between = moment();
	/* Another block, which begins elsewhere, has the same bytes. */
	lc_blocks_allocated(0x1ff00, 2 * KIB, OTHER);
	again = moment();
	assert_int_equal(site_at(0x20010, before), 0);
	assert_int_equal(site_at(0x20010, during), SITE);
	assert_int_equal(site_at(0x20010, between), 0);
	assert_int_equal(site_at(0x20010, again), OTHER);
	lc_blocks_freed(0x1ff00);
	assert_int_equal(site_at(0x20010, again), OTHER);
	assert_int_equal(site_at(0x20010, during), SITE);
}

static void only_the_last_freed_blocks_are_found(void **state)
{
	uint64_t during;

	lc_blocks_allocated(0x30000, KIB, SITE);
	during = moment();
	lc_blocks_freed(0x30000);
	for (uint64_t i = 1; i < LC_BLOCKS_FREED; i++) {
		lc_blocks_allocated(0x40000, KIB, OTHER);
		(void)moment();
		lc_blocks_freed(0x40000);
	}
	assert_int_equal(site_at(0x30000, during), SITE);
	lc_blocks_allocated(0x40000, KIB, OTHER);
	(void)moment();
	lc_blocks_freed(0x40000);
	assert_int_equal(site_at(0x30000, during), 0);
}

static void blocks_that_no_sample_can_be_in_displace_none(void **state)
{
	uint64_t during;

	lc_blocks_allocated(0x30000, KIB, SITE);
	during = moment();
	lc_blocks_freed(0x30000);
	for (uint64_t i = 0; i < 2 * LC_BLOCKS_FREED; i++) {
		lc_blocks_allocated(0x30000, KIB, OTHER);
		lc_blocks_freed(0x30000);
	}
	assert_int_equal(site_at(0x30000, during), SITE);
	lc_blocks_allocated(0x30000, KIB, OTHER); /* and so does one that comes later */
	assert_int_equal(site_at(0x30000, during), SITE);
	assert_int_equal(site_at(0x30000, moment()), OTHER);
	lc_blocks_freed(0x30000);
}

/* Handlers of two threads may set the clock in the other order. */
static void an_older_sample_sets_no_clock_back(void **state)
{
	const uint64_t early = moment();
	uint64_t during;

	lc_blocks_allocated(0x30000, KIB, SITE);
	lc_blocks_sampled(early);
	during = moment();
	lc_blocks_sampled(early);
	lc_blocks_freed(0x30000);
	assert_int_equal(site_at(0x30000, early), 0);
	assert_int_equal(site_at(0x30000, during), SITE);
}

static void what_was_not_taken_comes_again(void **state)
{
	lc_blocks_allocated(0x10000, KIB, SITE);
	refuses = true;
	take_all();
	refuses = false;
	lc_blocks_allocated(0x20000, 8, SITE);
	lc_blocks_freed(0x10000);
	take_all();
	assert_int_equal(sums[SITE].allocated, 2);
	assert_int_equal(sums[SITE].allocated_bytes, KIB + 8);
	assert_int_equal(sums[SITE].freed, 1);
	assert_int_equal(sums[SITE].freed_bytes, KIB);
	take_all();
	assert_int_equal(sums[SITE].allocated, 0);
	lc_blocks_freed(0x20000);
}

static void a_block_that_nobody_knows_is_freed_in_peace(void **state)
{
	lc_blocks_freed(0x50000);
	lc_blocks_freed(0);
	take_all();
	assert_int_equal(sums[SITE].freed + sums[OTHER].freed, 0);
}

static void blocks_from_before_count_apart_and_are_freed_like_others(void **state)
{
	const uint64_t early = moment();

	lc_blocks_allocated(0x71000, KIB, OTHER);
	lc_blocks_before(0x70000, KIB, SITE);
	lc_blocks_before(0x71000, KIB, SITE); /* it is known already */
	assert_int_equal(site_at(0x70000, early), SITE);
	assert_int_equal(site_at(0x71000, moment()), OTHER);
	lc_blocks_freed(0x70000);
	lc_blocks_freed(0x71000);
	take_all();
	assert_int_equal(sums[SITE].allocated, 0);
	assert_int_equal(sums[SITE].before, 1);
	assert_int_equal(sums[SITE].before_bytes, KIB);
	assert_int_equal(sums[SITE].freed, 1);
	assert_int_equal(sums[SITE].freed_bytes, KIB);
	assert_int_equal(sums[OTHER].freed, 1);
}

static void a_block_that_could_not_grow_stays(void **state)
{
	struct lc_blocks_moving moving;
	uint64_t early;

	lc_blocks_allocated(0x72000, KIB, SITE);
	early = moment();
	lc_blocks_moving(0x72000, &moving);
	take_all();
	assert_int_equal(sums[SITE].freed, 0); /* not known yet */
	lc_blocks_stays(&moving);
	take_all();
	assert_int_equal(sums[SITE].freed, 0);
	assert_int_equal(site_at(0x72000, early), SITE);
	assert_int_equal(site_at(0x72000, moment()), SITE);
	lc_blocks_freed(0x72000);
	take_all();
	assert_int_equal(sums[SITE].freed, 1);
}

/* While the thread reallocates, another one gets the address, which it frees later. */
static void a_block_that_moved_is_freed_once(void **state)
{
	struct lc_blocks_moving moving, none;

	lc_blocks_allocated(0x73000, KIB, SITE);
	lc_blocks_moving(0x73000, &moving);
	lc_blocks_allocated(0x73000, 2 * KIB, OTHER);
	lc_blocks_moved(&moving);
	lc_blocks_moving(0x79000, &none); /* nobody knows it */
	lc_blocks_moved(&none);
	lc_blocks_stays(&none);
	take_all();
	assert_int_equal(sums[SITE].freed_bytes, KIB);
	assert_int_equal(sums[OTHER].freed, 0);
	assert_int_equal(site_at(0x73000, moment()), OTHER);
	lc_blocks_freed(0x73000);
	take_all();
	assert_int_equal(sums[OTHER].freed_bytes, 2 * KIB);
}

/* Counted though it is not found: freeing it is that of an unknown block. */
static void without_memory_a_block_is_counted_and_not_found(void **state)
{
	lc_memory_limit(0);
	lc_blocks_allocated(0x60000, KIB, SITE);
	assert_int_equal(site_at(0x60000, moment()), 0);
	lc_blocks_freed(0x60000);
	take_all();
	assert_int_equal(sums[SITE].allocated, 1);
	assert_int_equal(sums[SITE].freed, 0);
}

/* Native code freed it where nobody sees it; the address is handed out again. */
static void a_block_whose_address_is_another_ones_is_freed(void **state)
{
	uint64_t during;

	lc_blocks_allocated(0x70000, KIB, SITE);
	during = moment();
	lc_blocks_allocated(0x70000, 8, OTHER);
	take_all();
	assert_int_equal(sums[SITE].freed, 1);
	assert_int_equal(sums[SITE].freed_bytes, KIB);
	assert_int_equal(sums[OTHER].freed, 0);
	assert_int_equal(site_at(0x70010, during), SITE);
	assert_int_equal(site_at(0x70007, moment()), OTHER);
	lc_blocks_freed(0x70000);
	take_all();
	assert_int_equal(sums[OTHER].freed, 1);
}

static void only_a_block_with_that_number_is_freed(void **state)
{
	uint64_t number;

	lc_blocks_allocated(0x70000, KIB, SITE);
	number = lc_blocks_number(0x70000);
	assert_int_not_equal(number, 0);
	lc_blocks_allocated(0x70000, KIB, OTHER); /* another thread has its address */
	lc_blocks_freed_number(0x70000, number);
	assert_int_equal(site_at(0x70000, moment()), OTHER);
	lc_blocks_freed_number(0x70000, lc_blocks_number(0x70000));
	assert_int_equal(lc_blocks_number(0x70000), 0);
	take_all();
	assert_int_equal(sums[SITE].freed + sums[OTHER].freed, 2);
}

static void an_address_where_no_block_begins_is_known_without_the_lock(void **state)
{
	unsigned maybe = 0;

	/* More than a count holds, of blocks that come and go. */
	for (unsigned i = 0; i < 1000; i++) {
		assert_false(lc_blocks_may_begin(0x80000));
		lc_blocks_allocated(0x80000, KIB, SITE);
		assert_true(lc_blocks_may_begin(0x80000));
		lc_blocks_freed(0x80000);
	}
	for (uint64_t i = 0; i < 1000; i++)
		lc_blocks_allocated(0x100000000 + i * KIB, KIB, SITE);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_true(lc_blocks_may_begin(0x100000000 + i * KIB));
		maybe += lc_blocks_may_begin(0x200000000 + i * KIB);
	}
	assert_true(maybe < 100);
	for (uint64_t i = 0; i < 1000; i++)
		lc_blocks_freed(0x100000000 + i * KIB);
}

/* Live bytes are right after each cut, whatever it cuts. */
static void pages_that_are_unmapped_are_cut_off(void **state)
{
	lc_blocks_allocated(0x90000, 16 * KIB, SITE);
	lc_blocks_allocated(0x98000, 4 * KIB, OTHER);
	lc_blocks_unmapped(0x90000, 4 * KIB); /* the beginning */
	assert_int_equal(site_at(0x90000, moment()), 0);
	assert_int_equal(site_at(0x91000, moment()), SITE);
	lc_blocks_unmapped(0x93000, 4 * KIB); /* the end */
	lc_blocks_unmapped(0x91400, KIB);     /* a hole */
	take_all();
	assert_int_equal(sums[SITE].allocated_bytes - sums[SITE].freed_bytes, 7 * KIB);
	assert_int_equal(sums[SITE].allocated - sums[SITE].freed, 2);
	assert_int_equal(site_at(0x91400, moment()), 0);
	assert_int_equal(site_at(0x91800, moment()), SITE);
	lc_blocks_unmapped(0x8f000, 10 * 4 * KIB); /* all that is left */
	take_all();
	assert_int_equal(sums[SITE].freed, 2);
	assert_int_equal(sums[SITE].freed_bytes, 7 * KIB);
	assert_int_equal(sums[OTHER].freed_bytes, 4 * KIB);
	assert_int_equal(site_at(0x91000, moment()), 0);
	lc_blocks_unmapped(0x90000, 0);
	lc_blocks_unmapped(UINT64_MAX - 1, 4 * KIB);
}

/* Nothing else happens at its site, so no other count makes it known. */
static void a_cut_alone_is_counted(void **state)
{
	lc_blocks_allocated(0xa0000, 8 * KIB, SITE);
	take_all();
	lc_blocks_unmapped(0xa1000, 4 * KIB);
	take_all();
	assert_int_equal(sums[SITE].freed, 0);
	assert_int_equal(sums[SITE].freed_bytes, 4 * KIB);
	lc_blocks_freed(0xa0000);
}

enum { PLACES = 4096, STEPS = 60000, PLACE_BYTES = 4 * KIB };

/* Compared with an array of what is there: live blocks are more than wait in the small table. */
static void all_ways_to_a_block_agree(void **state)
{
	static uint32_t there[PLACES]; /* the block's size; 0: none */
	static struct lc_blocks_block copied[PLACES];
	const uint64_t base = UINT64_C(1) << 51;
	uint64_t random = 1, live = 0, copies = 0;

	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t at, addr;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		at = random >> 33 & (PLACES - 1);
		addr = base + at * PLACE_BYTES;
		if (random >> 60 == 0) {
			assert_int_equal(site_at(addr, moment()), there[at] ? SITE : 0);
			assert_int_equal(lc_blocks_number(addr) != 0, there[at] != 0);
		} else if (random >> 52 == 0x100 && at < PLACES - 4) {
			lc_blocks_unmapped(addr, 4 * PLACE_BYTES);
			for (unsigned i = 0; i < 4; i++) {
				live -= there[at + i];
				there[at + i] = 0;
			}
		} else if (random >> 52 == 0x200) {
			copies = lc_blocks_copy(base, copied, PLACES);
			for (uint64_t i = 0, p = 0; i < copies; i++, p++) {
				for (; !there[p]; p++)
					;
				assert_int_equal(copied[i].addr, base + p * PLACE_BYTES);
				assert_int_equal(copied[i].size_bytes, there[p]);
			}
		} else if (there[at]) {
			lc_blocks_freed(addr);
			live -= there[at];
			there[at] = 0;
		} else {
			there[at] = 1 + (uint32_t)(step % PLACE_BYTES);
			live += there[at];
			lc_blocks_allocated(addr, there[at], SITE);
		}
	}
	assert_true(copies > 1000);
	take_all();
	assert_int_equal(sums[SITE].allocated_bytes - sums[SITE].freed_bytes, live);
	lc_blocks_unmapped(base, PLACES * PLACE_BYTES);
}

/* The promise of docs/objects.md. Without counts of malloc() the test passes. */
static void a_hundred_thousand_live_blocks_fit_in_20_mb(void **state)
{
	const uint64_t base = UINT64_C(1) << 52, blocks = 100000;
	const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	uint64_t addr = base;
	size_t more;

	for (uint64_t i = 0; i < blocks; i++) {
		lc_blocks_allocated(addr, 1024 + i, 10 + (uint32_t)(i % 10));
		addr += 1040 + i / 16 * 16;
	}
	more = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	print_message("%.1f bytes a block\n", (double)more / (double)blocks);
	assert_true(more < 20 << 20);
	lc_blocks_unmapped(base, addr - base);
}

static void *work(void *thread)
{
	const uint64_t base = (uint64_t)(uintptr_t)thread << 32;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		lc_blocks_allocated(base + i * 64, 64, SITE);
		if (i >= 100)
			lc_blocks_freed(base + (i - 100) * 64);
	}
	return NULL;
}

static void threads_count_together(void **state)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)),
		                 0); /* NOLINT */
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	take_all();
	assert_int_equal(sums[SITE].allocated, THREADS * ROUNDS);
	assert_int_equal(sums[SITE].freed, THREADS * (ROUNDS - 100));
	assert_int_equal(sums[SITE].freed_bytes, 64 * THREADS * (ROUNDS - 100));
	assert_int_equal(site_at((UINT64_C(1) << 32) + (ROUNDS - 1) * 64, moment()), SITE);
}

static void blocks_are_copied_by_address_from_one_on(void **state)
{
	const uint64_t base = UINT64_C(1) << 50; /* above the other tests' */
	struct lc_blocks_block b[4];

	for (uint64_t i = 0; i < 3; i++)
		lc_blocks_allocated(base + (2 - i) * KIB, KIB, SITE + (uint32_t)i);
	lc_blocks_freed(base + KIB);
	assert_int_equal(lc_blocks_copy(base, b, 4), 2);
	assert_int_equal(b[0].addr, base);
	assert_int_equal(b[0].site, SITE + 2);
	assert_int_equal(b[1].addr, base + 2 * KIB);
	assert_int_equal(lc_blocks_copy(base, b, 1), 1);
	assert_int_equal(lc_blocks_copy(b[0].addr + 1, b, 1), 1);
	assert_int_equal(b[0].addr, base + 2 * KIB);
	assert_int_equal(lc_blocks_copy(base + 2 * KIB + 1, b, 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_block_is_found_from_its_first_byte_to_its_last, setup),
		cmocka_unit_test_setup(blocks_are_copied_by_address_from_one_on, setup),
		cmocka_unit_test_setup(a_block_is_found_only_at_times_when_it_was_there, setup),
		cmocka_unit_test_setup(only_the_last_freed_blocks_are_found, setup),
		cmocka_unit_test_setup(blocks_that_no_sample_can_be_in_displace_none, setup),
		cmocka_unit_test_setup(an_older_sample_sets_no_clock_back, setup),
		cmocka_unit_test_setup(what_was_not_taken_comes_again, setup),
		cmocka_unit_test_setup(a_block_that_nobody_knows_is_freed_in_peace, setup),
		cmocka_unit_test_setup(blocks_from_before_count_apart_and_are_freed_like_others,
		                       setup),
		cmocka_unit_test_setup(a_block_that_could_not_grow_stays, setup),
		cmocka_unit_test_setup(a_block_that_moved_is_freed_once, setup),
		cmocka_unit_test_setup(without_memory_a_block_is_counted_and_not_found, setup),
		cmocka_unit_test_setup(a_block_whose_address_is_another_ones_is_freed, setup),
		cmocka_unit_test_setup(only_a_block_with_that_number_is_freed, setup),
		cmocka_unit_test_setup(an_address_where_no_block_begins_is_known_without_the_lock,
		                       setup),
		cmocka_unit_test_setup(pages_that_are_unmapped_are_cut_off, setup),
		cmocka_unit_test_setup(a_cut_alone_is_counted, setup),
		cmocka_unit_test_setup(all_ways_to_a_block_agree, setup),
		cmocka_unit_test_setup(threads_count_together, setup),
		cmocka_unit_test_setup(a_hundred_thousand_live_blocks_fit_in_20_mb, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
