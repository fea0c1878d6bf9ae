/* uses: src/numa/pages.c -lnuma */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_pages.c - checks the owners of pages that a made-up kernel and the real one give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/numa/pages.h"

/* The made-up kernel: node of page n is n % nodes, of every 10th page unknown. */
static unsigned nodes;
static size_t calls, largest;
static int refusal;

static int ask(size_t n, void **pages, int *status)
{
	calls++;
	largest = n > largest ? n : largest;
	if (refusal) {
		errno = refusal;
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t page = (uint64_t)(uintptr_t)pages[i] >> LC_PAGE_SHIFT;

		assert_int_equal((uintptr_t)pages[i] & 4095, 0);
		status[i] = page % 10 == 9 ? -ENOENT : (int)(page % nodes);
	}
	return 0;
}

static int setup(void **state)
{
	nodes = 4;
	calls = largest = 0;
	refusal = 0;
	*state = lc_pages_create(ask, 1024);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	lc_pages_destroy(*state);
	return 0;
}

static int node_of(struct lc_pages *p, uint32_t generation, uint64_t page)
{
	struct lc_pages_query q = { .addr = (page << LC_PAGE_SHIFT) + 123, .node = 99 };

	lc_pages_resolve(p, generation, &q, 1);
	return q.node;
}

static void each_page_is_asked_once_in_a_generation(void **state)
{
	struct lc_pages_query q[] = { { 0x5000, 99 }, { 0x5fff, 99 }, { 0x6008, 99 } };
	struct lc_pages_stats s;

	assert_int_equal(lc_pages_resolve(*state, 1, q, 3), 0);
	assert_int_equal(q[0].node, 1);
	assert_int_equal(q[1].node, 1);
	assert_int_equal(q[2].node, 2);
	assert_int_equal(node_of(*state, 1, 5), 1);
	lc_pages_stats(*state, &s);
	assert_int_equal(s.asked, 2);
	assert_int_equal(s.calls, 1);
	assert_int_equal(s.changes, 0);
	assert_null(lc_pages_error(*state));
}

static void a_new_generation_asks_again_and_sees_changes(void **state)
{
	struct lc_pages_stats s;

	assert_int_equal(node_of(*state, 1, 6), 2);
	nodes = 3;
	assert_int_equal(node_of(*state, 1, 6), 2); /* remembered */
	assert_int_equal(node_of(*state, 2, 6), 0);
	assert_int_equal(node_of(*state, 2, 4), 1);
	assert_int_equal(node_of(*state, 3, 4), 1);
	lc_pages_stats(*state, &s);
	assert_int_equal(s.asked, 4);
	assert_int_equal(s.changes, 1);
}

static void untouched_pages_are_unknown_and_no_change(void **state)
{
	struct lc_pages_stats s;

	assert_int_equal(node_of(*state, 1, 19), LC_PAGE_UNKNOWN);
	assert_int_equal(node_of(*state, 2, 19), LC_PAGE_UNKNOWN);
	lc_pages_stats(*state, &s);
	assert_int_equal(s.unknown, 2);
	assert_int_equal(s.changes, 0);
	assert_null(lc_pages_error(*state));
}

static void many_pages_go_in_batches_and_memory_stays_bounded(void **state)
{
	enum { COUNT = 100000 };
	struct lc_pages_query *q = calloc(COUNT, sizeof(*q));
	struct lc_pages *large = lc_pages_create(ask, 1 << 18);
	struct lc_pages_stats s;

	assert_non_null(q);
	assert_non_null(large);
	for (uint64_t i = 0; i < COUNT; i++)
		q[i].addr = i << LC_PAGE_SHIFT;
	assert_int_equal(lc_pages_resolve(large, 1, q, COUNT), 0);
	assert_int_equal(largest, LC_PAGES_BATCH);
	lc_pages_stats(large, &s);
	assert_int_equal(s.flushes, 0);
	assert_int_equal(s.asked, COUNT);
	lc_pages_destroy(large);
	assert_int_equal(lc_pages_resolve(*state, 1, q, COUNT), 0); /* 1024 are remembered */
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(q[i].node, i % 10 == 9 ? LC_PAGE_UNKNOWN : (int)(i % 4));
	lc_pages_stats(*state, &s);
	assert_true(s.flushes > 50);
	assert_int_equal(s.asked, COUNT);
	free(q);
}

static void a_refusal_is_kept_and_ends_the_questions(void **state)
{
	static const int reasons[] = { EPERM, ENOSYS, EACCES, EINVAL };

	for (size_t i = 0; i < 4; i++) {
		struct lc_pages *p = lc_pages_create(ask, 64);
		struct lc_pages_query q = { .addr = 0x5000 };

		refusal = 0;
		assert_int_equal(node_of(p, 1, 6), 2);
		refusal = reasons[i];
		assert_int_equal(lc_pages_resolve(p, 1, &q, 1), -reasons[i]);
		assert_int_equal(q.node, LC_PAGE_UNKNOWN);
		assert_non_null(strstr(lc_pages_error(p), strerror(reasons[i])));
		assert_int_equal(node_of(p, 1, 6), 2); /* what was known stays so */
		refusal = 0;
		calls = 0;
		assert_int_equal(node_of(p, 2, 8), LC_PAGE_UNKNOWN);
		assert_int_equal(calls, 0);
		lc_pages_destroy(p);
	}
}

static void want_of_memory_costs_one_batch(void **state)
{
	refusal = ENOMEM;
	assert_int_equal(node_of(*state, 1, 5), LC_PAGE_UNKNOWN);
	assert_null(lc_pages_error(*state));
	refusal = 0;
	assert_int_equal(node_of(*state, 2, 5), 1);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
	assert_null(lc_pages_create(ask, 0));
	assert_null(lc_pages_create(ask, 32));
	assert_null(lc_pages_create(ask, 1000));
}

static void the_kernel_knows_touched_pages_from_untouched_ones(void **state)
{
	struct lc_pages *p = lc_pages_create(lc_pages_ask_kernel, 64);
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct lc_pages_query q[2];

	assert_true(two != MAP_FAILED);
	madvise(two, 8192, MADV_NOHUGEPAGE);
	two[0] = 1;
	q[0].addr = (uintptr_t)two;
	q[1].addr = (uintptr_t)two + 4096;
	if (lc_pages_resolve(p, 1, q, 2)) {
		print_message("%s\n", lc_pages_error(p));
		skip();
	}
	assert_true(q[0].node >= 0);
	assert_int_equal(q[1].node, LC_PAGE_UNKNOWN);
	munmap(two, 8192);
	lc_pages_destroy(p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_page_is_asked_once_in_a_generation),
		TEST(a_new_generation_asks_again_and_sees_changes),
		TEST(untouched_pages_are_unknown_and_no_change),
		TEST(many_pages_go_in_batches_and_memory_stays_bounded),
		TEST(a_refusal_is_kept_and_ends_the_questions),
		TEST(want_of_memory_costs_one_batch),
		TEST(sizes_that_cannot_be_are_refused),
		TEST(the_kernel_knows_touched_pages_from_untouched_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
