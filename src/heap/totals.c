/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/totals.c - adds up the counters of all threads.
 *
 * A thread's counters leave the list together with its record, under the list's lock; under the
 * same lock they are added to what ended threads had. So a sum has each thread once.
 */
#include "src/heap/totals.h"

#include <stdatomic.h>

#include "src/core/thread.h"
#include "src/heap/common_counters.h"
#include "src/heap/context.h"
#include "src/heap/site_counters.h"

static struct lc_totals ended; /* under the lock of the list of threads */

static void add(struct lc_totals *sum, const struct lc_thread *t)
{
	const struct lc_site_counter *c;

	for (uint32_t i = 0; t->contexts && (c = lc_site_counters_at(&t->contexts->counters, i));
	     i++) {
		/* Relaxed: counts, of which the owner's last is seen after it has handed on. */
		sum->objects += atomic_load_explicit(&c->allocations, memory_order_relaxed);
		sum->bytes += atomic_load_explicit(&c->bytes, memory_order_relaxed);
	}
}

void lc_totals_take(struct lc_totals *out)
{
	struct lc_totals common;

	lc_common_counters_sum(&common.objects, &common.bytes);
	lc_threads_lock();
	*out = ended;
	out->objects += common.objects;
	out->bytes += common.bytes;
	for (const struct lc_thread *t = lc_threads_first(); t; t = t->next)
		add(out, t);
	lc_threads_unlock();
}

void lc_totals_keep(const struct lc_thread *t)
{
	add(&ended, t);
}
