/* uses: src/core/own_heap.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_own_heap.c - checks that blocks do not overlap, are zero where asked, and all end at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "src/core/own_heap.h"

enum { BLOCKS = 600, STEPS = 40000, PAGE_BYTES = 4096 };

void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);

void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return mmap(at, n, protection, flags, fd, offset);
}

static size_t random_size(void)
{
	const unsigned bits = (unsigned)rand() % 19;

	return ((size_t)1 << bits) + (size_t)rand() % ((size_t)1 << bits);
}

static bool all_are(const unsigned char *p, size_t n, unsigned char byte)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != byte)
			return false;
	return true;
}

/* Does the kernel have a page for the bytes at `p`? */
static bool is_there(const void *p)
{
	unsigned char page = 0;

	assert_int_equal(
	    mincore((void *)((uintptr_t)p & ~(uintptr_t)(PAGE_BYTES - 1)), PAGE_BYTES, &page), 0);
	return page & 1;
}

/* Each block is filled with a byte of its own; a block that overlaps another would change it. */
static void blocks_do_not_overlap(void **state)
{
	static struct {
		unsigned char *p;
		size_t n;
		unsigned char byte;
	} blocks[BLOCKS];

	memset(blocks, 0, sizeof(blocks));
	srand(1);
	for (unsigned i = 0; i < STEPS; i++) {
		const unsigned at = (unsigned)rand() % BLOCKS;
		const size_t alignment = (size_t)16 << rand() % 9;
		const bool zero = rand() % 2;

		if (blocks[at].p) {
			assert_true(all_are(blocks[at].p, blocks[at].n, blocks[at].byte));
			lc_own_heap_free(blocks[at].p);
		}
		blocks[at].n = random_size();
		blocks[at].p = lc_own_heap_alloc(blocks[at].n, alignment, zero);
		assert_non_null(blocks[at].p);
		assert_int_equal((uintptr_t)blocks[at].p % alignment, 0);
		assert_true(lc_own_heap_has(blocks[at].p));
		assert_true(lc_own_heap_bytes(blocks[at].p) >= blocks[at].n);
		if (zero)
			assert_true(all_are(blocks[at].p, blocks[at].n, 0));
		blocks[at].byte = (unsigned char)i;
		memset(blocks[at].p, blocks[at].byte, lc_own_heap_bytes(blocks[at].p));
	}
	lc_own_heap_give_back();
}

static void a_block_has_little_more_room_than_asked_for(void **state)
{
	for (size_t n = 1; n < 1 << 20; n += 1 + n / 7) {
		void *p = lc_own_heap_alloc(n, 16, false);

		assert_true(lc_own_heap_bytes(p) <= n + n / 4 + 32);
		lc_own_heap_free(p);
	}
	lc_own_heap_give_back();
}

static void a_freed_block_is_used_again(void **state)
{
	void *p = lc_own_heap_alloc(1000, 16, false), *q;

	lc_own_heap_free(p);
	q = lc_own_heap_alloc(1000, 16, false);
	assert_ptr_equal(p, q);
	lc_own_heap_give_back();
}

static void a_large_block_gives_its_pages_back(void **state)
{
	const size_t n = 1 << 20;
	unsigned char *p = lc_own_heap_alloc(n, 16, false);

	memset(p, 1, n);
	assert_true(is_there(p + n / 2));
	lc_own_heap_free(p);
	assert_false(is_there(p + n / 2));
	lc_own_heap_give_back();
}

/* A thread that comes late reads zeroes and does not fault; the next recording begins anew. */
static void all_ends_at_once(void **state)
{
	unsigned char *small = lc_own_heap_alloc(100, 16, false);
	unsigned char *large = lc_own_heap_alloc(300000, 64, false);

	memset(small, 1, 100);
	memset(large, 1, 300000);
	lc_own_heap_give_back();
	assert_true(all_are(small, 100, 0));
	assert_true(all_are(large, 300000, 0));
	assert_true(lc_own_heap_has(small));
	assert_ptr_equal(lc_own_heap_alloc(100, 16, false), small);
	lc_own_heap_give_back();
}

static void what_others_have_is_not_in_it(void **state)
{
	void *p = malloc(10);
	int here;

	lc_own_heap_free(lc_own_heap_alloc(1, 16, false));
	assert_false(lc_own_heap_has(p));
	assert_false(lc_own_heap_has(&here));
	assert_false(lc_own_heap_has(NULL));
	free(p);
	lc_own_heap_give_back();
}

static void there_is_no_room_for_what_is_larger_than_the_range(void **state)
{
	assert_null(lc_own_heap_alloc((size_t)1 << 40, 16, false));
	assert_null(lc_own_heap_alloc(SIZE_MAX, 16, false));
	assert_null(lc_own_heap_alloc((size_t)16 << 30, 16, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_do_not_overlap),
		cmocka_unit_test(a_block_has_little_more_room_than_asked_for),
		cmocka_unit_test(a_freed_block_is_used_again),
		cmocka_unit_test(a_large_block_gives_its_pages_back),
		cmocka_unit_test(all_ends_at_once),
		cmocka_unit_test(what_others_have_is_not_in_it),
		cmocka_unit_test(there_is_no_room_for_what_is_larger_than_the_range),
	};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return 0 * sizeof(tests); /* there, malloc() itself is used, which the sanitizer checks */
#else
	return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
