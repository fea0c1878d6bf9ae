/* uses: src/attribute/event_order.c -Wl,--wrap=realloc */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_event_order.c - checks that events come in order of time, those of one time as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/attribute/concurrent.h"
#include "src/attribute/event_order.h"
#include "src/base/vector.h"

void *__real_realloc(void *p, size_t bytes); /* NOLINT: the linker's names */
void *__wrap_realloc(void *p, size_t bytes); /* NOLINT */

static bool no_memory;

void *__wrap_realloc(void *p, size_t bytes)
{
	return no_memory ? NULL : __real_realloc(p, bytes);
}

/* The numbers of events are their places before. */
static void add(struct lc_vector *events, uint64_t time_ns)
{
	const struct lc_concurrent_event e = { .time_ns = time_ns,
		                               .number = (uint32_t)events->len };

	assert_int_equal(lc_vector_push(events, &e), 0);
}

static void assert_sorted(struct lc_vector *events, size_t len)
{
	const struct lc_concurrent_event *e = events->data;
	uint64_t sum = 0;

	assert_int_equal(events->len, len);
	for (size_t i = 0; i < len; i++) {
		sum += e[i].number;
		if (i)
			assert_true(
			    e[i - 1].time_ns < e[i].time_ns ||
			    (e[i - 1].time_ns == e[i].time_ns && e[i - 1].number < e[i].number));
	}
	assert_int_equal(sum, len ? len * (len - 1) / 2 : 0);
}

/* `runs` runs of up to `most` events each; one in 50 events is late. */
static void add_runs(struct lc_vector *events, unsigned runs, unsigned most, unsigned *seed)
{
	for (unsigned r = 0; r < runs; r++) {
		uint64_t time_ns = 1000;

		for (unsigned i = (unsigned)rand_r(seed) % (most + 1); i; i--) {
			time_ns += (unsigned)rand_r(seed) % 3;
			add(events, rand_r(seed) % 50 ? time_ns : time_ns - 500);
		}
	}
}

static void runs_are_merged(void **state)
{
	struct lc_vector events = { .element_bytes = sizeof(struct lc_concurrent_event) };
	unsigned seed = 1;

	for (unsigned round = 0; round < 300; round++) {
		events.len = 0;
		add_runs(&events, round % 20, 1 + round * 3, &seed);
		lc_event_order_sort(&events);
		assert_sorted(&events, events.len);
	}
	free(events.data);
}

static void nothing_and_one_event_are_in_order(void **state)
{
	struct lc_vector events = { .element_bytes = sizeof(struct lc_concurrent_event) };

	lc_event_order_sort(&events);
	assert_sorted(&events, 0);
	add(&events, 5);
	lc_event_order_sort(&events);
	assert_sorted(&events, 1);
	free(events.data);
}

static void without_memory_they_are_sorted_all_the_same(void **state)
{
	struct lc_vector events = { .element_bytes = sizeof(struct lc_concurrent_event) };

	for (uint64_t i = 0; i < 40000; i++)
		add(&events, 1 + i * 7919 % 40000);
	no_memory = true;
	lc_event_order_sort(&events);
	no_memory = false;
	assert_sorted(&events, 40000);
	free(events.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_and_one_event_are_in_order),
		cmocka_unit_test(runs_are_merged),
		cmocka_unit_test(without_memory_they_are_sorted_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
