/* uses: src/attribute/resolve_order.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_resolve_order.c - checks that a sample is of the object that was at its address at its time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/attribute/bucket.h"
#include "src/attribute/concurrent.h"
#include "src/attribute/resolve_impl.h"
#include "src/attribute/still_there.h"
#include "src/base/time.h"
#include "src/core/path.h"
#include "src/core/thread.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/klass.h"

enum { ADDR = 0x10000, SITE = 7, NEXT_SITE = 9, SAMPLES_MAX = 8 };

static struct lc_thread thread = { .index = 3 }, other = { .index = 4 };
static uint32_t map_site;         /* of what the map has at ADDR; 0: nothing */
static uint32_t map_epochs;       /* cycles since it was made */
static enum lc_map_header header; /* of the map's object */

static uint32_t sites[SAMPLES_MAX]; /* of the samples counted */
static size_t sites_len;

struct lc_resolve_work lc_resolve_work = { .pending = { .element_bytes =
	                                                    sizeof(struct lc_pending) } };

bool lc_resolve_in_java(const struct lc_pending *p)
{
	return p->where != LC_WHERE_NATIVE;
}

void lc_resolve_finish(JNIEnv *jni, struct lc_pending *p, const struct lc_query *q)
{
	p->thread = NULL;
	sites[sites_len++] = q->found ? q->object.site : 0;
}

void lc_resolve_keep(bool give_up)
{
	struct lc_pending *pending = lc_resolve_work.pending.data;
	size_t kept = 0;

	assert_false(give_up);
	for (size_t i = 0; i < lc_resolve_work.pending.len; i++)
		if (pending[i].thread)
			pending[kept++] = pending[i];
	lc_resolve_work.pending.len = kept;
}

enum lc_bucket lc_bucket_untracked(uint64_t addr)
{
	return LC_BUCKET_HEAP_UNKNOWN;
}

bool lc_map_find(struct lc_map *m, uint64_t addr, struct lc_object *out)
{
	*out = (struct lc_object){
		.addr = ADDR, .size_bytes = 4096, .site = map_site, .epochs = map_epochs
	};
	return map_site && addr - ADDR < 4096;
}

/* Classes: that of the map's site is at 0x800. */
const struct lc_site *lc_site_get(uint32_t site)
{
	static const struct lc_site of_map = { .class_name = "byte[]", .class_word = 0x800 };

	return site == SITE ? &of_map : NULL;
}

uint64_t lc_klass_of_word(uint64_t class_word)
{
	return class_word;
}

enum lc_map_header lc_still_there(const struct lc_object *object)
{
	assert_int_equal(object->addr, ADDR);
	return header;
}

static int setup(void **state)
{
	thread.allocs = other.allocs = (struct lc_alloc_log *)&thread;
	map_site = 0;
	header = LC_MAP_HEADER_SAME;
	sites_len = 0;
	lc_resolve_work.pending.len = lc_resolve_work.ordered = 0;
	return 0;
}

static int teardown(void **state)
{
	free(lc_resolve_work.pending.data);
	lc_resolve_work.pending = (struct lc_vector){ .element_bytes = sizeof(struct lc_pending) };
	return 0;
}

static void sample(uint64_t time_ns, uint8_t where, uint8_t access)
{
	const struct lc_pending p = { .thread = &thread,
		                      .addr = ADDR + 64,
		                      .now_at = ADDR + 64,
		                      .time_ns = time_ns,
		                      .where = where,
		                      .access = access };

	assert_int_equal(lc_vector_push(&lc_resolve_work.pending, &p), 0);
}

static struct lc_concurrent_event allocated(const struct lc_thread *t, uint64_t time_ns,
                                            uint64_t addr)
{
	return (struct lc_concurrent_event){ .kind = LC_CONCURRENT_ALLOCATED,
		                             .number = t->index,
		                             .time_ns = time_ns,
		                             .addr = addr,
		                             .size_words = 512,
		                             .site = NEXT_SITE };
}

static void a_sample_is_looked_up_when_the_map_has_come_to_its_time(void **state)
{
	sample(30, LC_WHERE_COMPILED, LC_TOUCH_LOAD);
	sample(10, LC_WHERE_COMPILED, LC_TOUCH_LOAD);
	lc_resolve_order(NULL, 0);
	lc_resolve_until(NULL, 9);
	map_site = SITE;
	lc_resolve_until(NULL, 20);
	map_site = SITE + 1;
	lc_resolve_until(NULL, 29);
	lc_resolve_ordered(NULL, false);
	assert_int_equal(sites_len, 1);
	assert_int_equal(sites[0], SITE);
	lc_resolve_order(NULL, 0);
	lc_resolve_until(NULL, 40);
	lc_resolve_ordered(NULL, false);
	assert_int_equal(sites_len, 2);
	assert_int_equal(sites[1], SITE + 1);
}

static void an_access_to_what_the_thread_records_next_is_to_that(void **state)
{
	const struct lc_concurrent_event events[] = {
		allocated(&thread, 5, ADDR),       /* before it */
		allocated(&other, 11, ADDR),       /* another thread's */
		allocated(&thread, 12, ADDR),      /* the next */
		allocated(&thread, 13, ADDR + 64), /* not the next */
	};

	map_site = SITE; /* what was there before is dead, though its header still stands */
	sample(10, LC_WHERE_COMPILED, LC_TOUCH_STORE);
	lc_resolve_order(events, 4);
	lc_resolve_until(NULL, 20);
	lc_resolve_ordered(NULL, false);
	assert_int_equal(sites[0], NEXT_SITE);
}

static void an_access_to_anything_else_is_to_what_the_map_has(void **state)
{
	const struct lc_concurrent_event events[] = {
		allocated(&other, 11, ADDR), allocated(&thread, 12, 2 * ADDR), /* elsewhere */
		allocated(&thread, 13, ADDR), /* later, the memory is used again */
	};

	map_site = SITE;
	sample(10, LC_WHERE_COMPILED, LC_TOUCH_LOAD);
	lc_resolve_order(events, 3);
	lc_resolve_until(NULL, 10);
	lc_resolve_ordered(NULL, false);
	assert_int_equal(sites[0], SITE);
}

static void native_stores_wait_for_the_next_record(void **state)
{
	const uint64_t now = lc_time_now_ns();
	const struct lc_concurrent_event event = allocated(&thread, now + 1, ADDR);

	map_site = SITE;
	sample(now, LC_WHERE_NATIVE, LC_TOUCH_STORE);
	for (unsigned pass = 0; pass < 2; pass++) {
		lc_resolve_order(NULL, 0);
		lc_resolve_until(NULL, now);
		lc_resolve_ordered(NULL, false);
		assert_int_equal(sites_len, 0);
	}
	lc_resolve_order(&event, 1);
	lc_resolve_ordered(NULL, false);
	assert_int_equal(sites_len, 1);
	assert_int_equal(sites[0], NEXT_SITE);

	sample(now, LC_WHERE_NATIVE, LC_TOUCH_STORE); /* nothing follows, at the end */
	lc_resolve_order(NULL, 0);
	lc_resolve_until(NULL, now);
	lc_resolve_ordered(NULL, true);
	assert_int_equal(sites[1], SITE);
}

static void without_its_header_the_maps_object_is_gone(void **state)
{
	struct lc_pending *p;

	map_site = SITE;
	header = LC_MAP_HEADER_OTHER;
	sample(10, LC_WHERE_COMPILED, LC_TOUCH_LOAD);
	sample(11, LC_WHERE_COMPILED, LC_TOUCH_LOAD);
	p = lc_resolve_work.pending.data;
	p[1].klass = 0x800; /* seen while the access was under way */
	p[1].object = ADDR;
	p[1].object_words = 512;
	lc_resolve_order(NULL, 0);
	lc_resolve_until(NULL, 20);
	lc_resolve_ordered(NULL, false);
	assert_int_equal(sites[0], 0);
	assert_int_equal(sites[1], SITE);
}

/* The header that the sample was told, where the map's object begins. */
static void told(uint64_t klass, uint32_t words)
{
	struct lc_pending *p;

	sample(10, LC_WHERE_COMPILED, LC_TOUCH_LOAD);
	p = lc_resolve_work.pending.data;
	p->klass = klass;
	p->object = ADDR;
	p->object_words = words;
	lc_resolve_order(NULL, 0);
	lc_resolve_until(NULL, 20);
	lc_resolve_ordered(NULL, false);
	assert_int_equal(sites[sites_len - 1], 0);
}

static void what_is_not_tracked_may_lie_where_a_dead_object_was(void **state)
{
	const uint64_t dead = lc_resolve_work.stats.dead_met,
	               wrong = lc_resolve_work.stats.class_disagreements;

	map_site = SITE;
	lc_resolve_ordered_init(1024);
	told(0x900, 23);
	told(0x800, 23); /* of one class, but shorter */
	assert_int_equal(lc_resolve_work.stats.dead_met, dead + 2);
	assert_int_equal(lc_resolve_work.stats.class_disagreements, wrong);
	told(0x900, 128); /* that one is tracked: the map should have it */
	told(0x800, 513);
	assert_int_equal(lc_resolve_work.stats.dead_met, dead + 2);
	assert_int_equal(lc_resolve_work.stats.class_disagreements, wrong + 2);
}

/* The end of a dead array may be used again before its header is. */
static void a_header_within_an_old_object_tells_that_its_memory_is_used_again(void **state)
{
	const uint64_t dead = lc_resolve_work.stats.dead_met;

	map_site = SITE;
	for (map_epochs = 0; map_epochs < 2; map_epochs++) {
		struct lc_pending *p;

		sample(10, LC_WHERE_COMPILED, LC_TOUCH_LOAD);
		p = lc_resolve_work.pending.data;
		p->klass = 0x900;
		p->object = ADDR + 48;
		p->object_words = 4;
		lc_resolve_order(NULL, 0);
		lc_resolve_until(NULL, 20);
		lc_resolve_ordered(NULL, false);
		assert_int_equal(sites[sites_len - 1], map_epochs ? 0 : SITE);
	}
	map_epochs = 0;
	assert_int_equal(lc_resolve_work.stats.dead_met, dead + 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_sample_is_looked_up_when_the_map_has_come_to_its_time),
		CASE(an_access_to_what_the_thread_records_next_is_to_that),
		CASE(an_access_to_anything_else_is_to_what_the_map_has),
		CASE(native_stores_wait_for_the_next_record),
		CASE(without_its_header_the_maps_object_is_gone),
		CASE(what_is_not_tracked_may_lie_where_a_dead_object_was),
		CASE(a_header_within_an_old_object_tells_that_its_memory_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
