/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/event_order.c - sorts events by time: merges the runs that are in order already.
 *
 * The log of each thread is in order, but for a record now and then, and what is left of the last
 * pass is: so there are about as many runs as threads, and few rounds of merging.
 */
#include "src/attribute/event_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/attribute/concurrent.h"
#include "src/base/vector.h"

/* The end of the run that begins at `from`. */
static size_t run_end(const struct lc_concurrent_event *events, size_t len, size_t from)
{
	size_t i = from + 1;

	while (i < len && events[i - 1].time_ns <= events[i].time_ns)
		i++;
	return i < len ? i : len;
}

/* Note the end of each run. Returns 0 or -ENOMEM. */
static int find_runs(const struct lc_concurrent_event *events, size_t len, struct lc_vector *ends)
{
	ends->len = 0;
	for (size_t end = 0; end < len;) {
		end = run_end(events, len, end);
		if (lc_vector_push(ends, &end))
			return -ENOMEM;
	}
	return 0;
}

/* Merge [from, middle) and [middle, end) to the same place of `to`; what was first stays first. */
static void merge(const struct lc_concurrent_event *events, struct lc_concurrent_event *to,
                  size_t from, size_t middle, size_t end)
{
	size_t a = from, b = middle;

	for (to += from; a < middle && b < end; to++)
		*to = events[b].time_ns < events[a].time_ns ? events[b++] : events[a++];
	memcpy(to, events + a, (middle - a) * sizeof(*to));
	memcpy(to + (middle - a), events + b, (end - b) * sizeof(*to));
}

/* Merge each run with its neighbour; their ends are half as many. */
static void merge_pairs(const struct lc_concurrent_event *events, struct lc_concurrent_event *to,
                        struct lc_vector *ends)
{
	size_t *e = ends->data, out = 0, from = 0;

	for (size_t i = 0; i < ends->len; i += 2) {
		const size_t middle = e[i], end = i + 1 < ends->len ? e[i + 1] : middle;

		merge(events, to, from, middle, end);
		e[out++] = from = end;
	}
	ends->len = out;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t x = ((const struct lc_concurrent_event *)a)->time_ns,
	               y = ((const struct lc_concurrent_event *)b)->time_ns;

	return x < y ? -1 : x > y;
}

void lc_event_order_sort(struct lc_vector *events)
{
	static struct lc_vector ends = { .element_bytes = sizeof(size_t) };
	static struct lc_vector other = { .element_bytes = sizeof(struct lc_concurrent_event) };
	const bool found = !find_runs(events->data, events->len, &ends);
	void *data = NULL;

	if (found && ends.len <= 1)
		return;
	if (found)
		data = lc_vector_reserve_array(other.data, &other.cap, events->len,
		                               other.element_bytes);
	if (!data) {
		qsort(events->data, events->len, events->element_bytes, by_time);
		return;
	}
	other.data = data;
	while (ends.len > 1) {
		const struct lc_vector sorted = { other.data, events->len, other.cap,
			                          other.element_bytes };

		merge_pairs(events->data, other.data, &ends);
		other.data = events->data;
		other.cap = events->cap;
		*events = sorted;
	}
}
