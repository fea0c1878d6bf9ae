/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/resolve_order.c - looks samples up where objects move while the program runs: each in
 * the map as it was at the sample's time.
 */
#include <stdlib.h>

#include "src/attribute/bucket.h"
#include "src/attribute/concurrent.h"
#include "src/attribute/resolve_impl.h"
#include "src/attribute/still_there.h"
#include "src/base/time.h"
#include "src/core/path.h"
#include "src/core/thread.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/klass.h"

enum { NEXTS = 1024 }; /* a power of two */

static int by_time(const void *a, const void *b)
{
	const uint64_t x = ((const struct lc_pending *)a)->time_ns;
	const uint64_t y = ((const struct lc_pending *)b)->time_ns;

	return x < y ? -1 : x > y;
}

void lc_resolve_order(const struct lc_concurrent_event *events, size_t len)
{
	/* The record passed last, backwards, of each thread; two threads may share an entry. */
	struct next {
		uint32_t thread;
		struct lc_alloc record;
	} nexts[NEXTS] = { 0 };
	struct lc_pending *pending = lc_resolve_work.pending.data;
	size_t left = lc_resolve_work.pending.len;

	lc_resolve_work.ordered = 0;
	if (!left)
		return;
	qsort(pending, left, sizeof(*pending), by_time);
	for (size_t i = len + 1; i-- && left;) {
		const struct lc_concurrent_event *e = i ? &events[i - 1] : NULL;

		for (; left && (!e || pending[left - 1].time_ns >= e->time_ns); left--) {
			struct lc_pending *p = &pending[left - 1];
			const struct next *n = &nexts[p->thread->index % NEXTS];

			if (!p->next.site && n->thread == p->thread->index)
				p->next = n->record;
		}
		if (e && e->kind == LC_CONCURRENT_ALLOCATED)
			nexts[e->number % NEXTS] =
			    (struct next){ e->number, { e->addr, e->size_words, e->site } };
	}
}

void lc_resolve_until(struct lc_map *map, uint64_t until_ns)
{
	struct lc_pending *pending = lc_resolve_work.pending.data;

	for (; lc_resolve_work.ordered < lc_resolve_work.pending.len &&
	       pending[lc_resolve_work.ordered].time_ns <= until_ns;
	     lc_resolve_work.ordered++) {
		struct lc_pending *p = &pending[lc_resolve_work.ordered];

		if (!p->looked_up && !lc_map_find(map, p->now_at, &p->then))
			p->then.site = 0;
		p->looked_up = true;
	}
}

/* Is the access to the object that its thread recorded next, so that was under construction? */
static bool is_in_next(const struct lc_pending *p)
{
	return p->next.site && p->now_at - p->next.tagged_addr < (uint64_t)p->next.size_words * 8;
}

/* May the access be to an object that is not recorded yet? See may_be_recorded(). */
static bool awaits_next(const struct lc_pending *p, uint64_t now)
{
	const bool in_new =
	    p->how == LC_HOW_KERNEL || (!lc_resolve_in_java(p) && (p->access & LC_TOUCH_STORE));

	return in_new && !p->next.site && p->thread->allocs &&
	       now - p->time_ns < LC_FIRST_TOUCH_NS &&
	       lc_bucket_untracked(p->addr) == LC_BUCKET_HEAP_UNKNOWN;
}

/* Does the header that the sample saw belong to the map's object? */
static bool is_its_header(const struct lc_pending *p)
{
	const struct lc_site *site = lc_site_get(p->then.site);

	return site && (uint64_t)p->object_words * 8 == p->then.size_bytes &&
	       (!site->class_word ||
	        lc_klass_of_word(site->class_word) == lc_klass_address(p->klass));
}

/*
 * Has the sample seen the header of another object in the memory of the map's? Part of a dead
 * object's memory may have been used again while its header still stands. One that was made since
 * the last cycle began is not dead: contents look like a header.
 */
static bool is_used_again(const struct lc_pending *p)
{
	return p->klass && p->object > p->then.addr && p->then.epochs;
}

/*
 * No event tells when an object of the map dies, and an untracked object may be in its place. The
 * header of the accessed object tells, or else the header where the map's object began. Another
 * object of that size should have been tracked, and be in the map.
 */
static bool is_still_there(const struct lc_pending *p)
{
	if (!p->then.site)
		return false;
	if (is_used_again(p)) {
		lc_resolve_work.stats.dead_met++;
		return false;
	}
	if (!p->klass || p->object != p->then.addr)
		return lc_still_there(&p->then) == LC_MAP_HEADER_SAME;
	if (is_its_header(p))
		return true;
	if ((uint64_t)p->object_words * 8 < lc_resolve_work.min_size_bytes) {
		lc_resolve_work.stats.dead_met++;
	} else {
		lc_resolve_work.stats.classes_checked++;
		lc_resolve_work.stats.class_disagreements++;
	}
	return false;
}

void lc_resolve_ordered_init(uint64_t min_size_bytes)
{
	lc_resolve_work.min_size_bytes = min_size_bytes;
}

void lc_resolve_ordered(JNIEnv *jni, bool last)
{
	const uint64_t now = lc_time_now_ns();
	struct lc_pending *pending = lc_resolve_work.pending.data;

	for (size_t i = 0; i < lc_resolve_work.pending.len; i++) {
		struct lc_pending *p = &pending[i];
		struct lc_query q = { .addr = p->now_at };

		if (!p->looked_up || (!last && awaits_next(p, now)))
			continue;
		if (is_in_next(p)) {
			q.found = true;
			q.object =
			    (struct lc_object){ .addr = p->next.tagged_addr,
				                .size_bytes = (uint64_t)p->next.size_words * 8,
				                .site = p->next.site };
		} else if (is_still_there(p)) {
			q.found = true;
			q.object = p->then;
		}
		lc_resolve_finish(jni, p, &q);
	}
	lc_resolve_keep(false);
}
