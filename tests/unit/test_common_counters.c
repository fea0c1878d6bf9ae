/* uses: src/heap/common_counters.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_common_counters.c - checks that counts of all threads together are exact. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/heap/common_counters.h"

enum { THREADS = 4, ROUNDS = 20000, SITES = 9000 /* in three blocks */ };

static void *count(void *unused)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		if (!lc_common_counters_add(i * 7 % SITES + 1, 16))
			return (void *)1;
	return NULL;
}

static void every_object_is_counted_once(void **state)
{
	pthread_t threads[THREADS];
	uint64_t allocations = 0, bytes = 0, all, all_bytes;
	struct lc_common_count c;
	uint32_t last = 0;
	void *failed;

	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
	for (unsigned again = 0; again < 50; again++)
		for (uint32_t cursor = 0; lc_common_counters_take(&cursor, &c);) {
			allocations += c.allocations;
			bytes += c.bytes;
		}
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	for (uint32_t cursor = 0; lc_common_counters_take(&cursor, &c); last = c.site) {
		assert_true(c.site > last && c.site <= SITES);
		allocations += c.allocations;
		bytes += c.bytes;
	}
	assert_int_equal(allocations, THREADS * ROUNDS);
	assert_int_equal(bytes, UINT64_C(16) * THREADS * ROUNDS);
	last = 0;
	assert_false(lc_common_counters_take(&last, &c));
	lc_common_counters_sum(&all, &all_bytes);
	assert_int_equal(all, allocations);
	assert_int_equal(all_bytes, bytes);
}

static void a_site_that_cannot_be_is_refused(void **state)
{
	assert_false(lc_common_counters_add(UINT32_MAX, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_object_is_counted_once),
		cmocka_unit_test(a_site_that_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
