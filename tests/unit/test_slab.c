/* uses: src/base/slab.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_slab.c - checks that elements are found by their keys, never move, and are read whole. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/base/hash.h"
#include "src/base/slab.h"

struct element {
	uint64_t count;
	uint32_t key, again;
};

enum { FIRST = 4, BLOCKS = 8, FULL = FIRST * ((1 << BLOCKS) - 1) };

static const struct lc_slab_kind kind = { sizeof(struct element), FIRST, BLOCKS };

static bool has_key(const void *element, const void *key)
{
	return ((const struct element *)element)->key == *(const uint32_t *)key;
}

/* Three keys share each hash. */
static uint32_t hash(uint32_t key)
{
	return (uint32_t)(lc_hash(key / 3) >> 32);
}

static struct element *find(const struct lc_slab *s, uint32_t key)
{
	return lc_slab_find(s, &kind, hash(key), has_key, &key);
}

static struct element *add(struct lc_slab *s, uint32_t key)
{
	struct element *e = lc_slab_add(s, &kind, hash(key));

	if (e) {
		assert_int_equal(e->count | e->key | e->again, 0);
		e->key = e->again = key;
		lc_slab_publish(s);
	}
	return e;
}

static void an_empty_slab_has_no_element(void **state)
{
	struct lc_slab s = { 0 };

	assert_null(find(&s, 1));
	assert_null(lc_slab_get(&s, &kind, 0));
	lc_slab_free(&s);
}

static void elements_are_found_by_key_and_number_and_never_move(void **state)
{
	struct element *first[FULL];
	struct lc_slab s = { 0 };

	for (uint32_t i = 0; i < FULL; i++) {
		assert_null(find(&s, i));
		first[i] = add(&s, i);
		assert_non_null(first[i]);
	}
	for (uint32_t i = 0; i < FULL; i++) {
		assert_ptr_equal(find(&s, i), first[i]);
		assert_ptr_equal(lc_slab_get(&s, &kind, i), first[i]);
		assert_int_equal(first[i]->key, i);
	}
	assert_null(find(&s, FULL));
	assert_null(lc_slab_get(&s, &kind, FULL));
	lc_slab_free(&s);
}

static void a_full_slab_refuses_and_keeps_what_it_has(void **state)
{
	struct lc_slab s = { 0 };

	for (uint32_t i = 0; i < FULL; i++)
		assert_non_null(add(&s, i));
	assert_null(add(&s, FULL));
	assert_non_null(find(&s, FULL - 1));
	assert_null(find(&s, FULL));
	lc_slab_free(&s);
}

static void an_element_that_is_not_published_is_not_read(void **state)
{
	struct lc_slab s = { 0 };
	struct element *e = lc_slab_add(&s, &kind, hash(5));

	assert_non_null(e);
	assert_null(lc_slab_get(&s, &kind, 0));
	e->key = 5;
	lc_slab_publish(&s);
	assert_ptr_equal(lc_slab_get(&s, &kind, 0), e);
	lc_slab_free(&s);
}

static void *read_all(void *argument)
{
	const struct lc_slab *s = argument;
	uintptr_t torn = 0;

	for (uint32_t seen = 0; seen < FULL;) {
		const struct element *e = lc_slab_get(s, &kind, seen);

		if (!e)
			continue;
		torn += e->key != seen || e->again != seen;
		seen++;
	}
	return (void *)torn;
}

static void a_reader_at_the_same_time_sees_whole_elements_in_order(void **state)
{
	struct lc_slab s = { 0 };
	pthread_t reader;
	void *torn;

	assert_int_equal(pthread_create(&reader, NULL, read_all, &s), 0);
	for (uint32_t i = 0; i < FULL; i++)
		assert_non_null(add(&s, i));
	assert_int_equal(pthread_join(reader, &torn), 0);
	assert_null(torn);
	lc_slab_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_slab_has_no_element),
		cmocka_unit_test(elements_are_found_by_key_and_number_and_never_move),
		cmocka_unit_test(a_full_slab_refuses_and_keeps_what_it_has),
		cmocka_unit_test(an_element_that_is_not_published_is_not_read),
		cmocka_unit_test(a_reader_at_the_same_time_sees_whole_elements_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
