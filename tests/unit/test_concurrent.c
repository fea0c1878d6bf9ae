/* uses: tests/unit/no_attach.c src/attribute/concurrent.c src/attribute/event_order.c src/gc/move_log.c src/heap/alloc_log.c src/heap/map.c src/heap/map_store.c src/heap/map_close.c src/heap/map_resolve.c src/heap/map_order.c src/core/memory.c src/core/stand_back.c src/core/epoch.c src/core/wake.c -lJudy -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_concurrent.c - checks that what threads have logged comes to the map in the order in which
 * it happened, whatever order the logs are read in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/attribute/attribution.h"
#include "src/attribute/concurrent.h"
#include "src/attribute/lines.h"
#include "src/attribute/resolve.h"
#include "src/attribute/sealed.h"
#include "src/attribute/still_there.h"
#include "src/base/time.h"
#include "src/core/thread.h"
#include "src/gc/move_log.h"
#include "src/heap/alloc_log.h"
#include "src/heap/audit.h"
#include "src/heap/map.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/ranges.h"

#define A UINT64_C(0x700000000)
#define B UINT64_C(0x700100000)
#define C UINT64_C(0x700200000)

enum { BYTES = 1600, WORDS = BYTES / 8, SITE = 7, OTHER = 8 };

static struct lc_thread thread = { .index = 1 };
static struct lc_map *map;
static volatile uint32_t collections;
static enum lc_collector collector = LC_GC_Z;
static uint64_t sample_ns, sample_addr; /* one sample, for lc_resolve_until() */
static uint32_t sample_site;
static bool sampled;
static unsigned lines_closed;

/* -- the rest of the agent ------------------------------------------------------------------- */

struct lc_thread *lc_threads_walk(void)
{
	return &thread;
}

void lc_resolve_take(JNIEnv *jni, uint32_t epoch)
{
}

void lc_resolve_order(const struct lc_concurrent_event *events, size_t len)
{
	for (size_t i = 1; i < len; i++)
		assert_true(events[i - 1].time_ns <= events[i].time_ns);
}

void lc_resolve_until(struct lc_map *m, uint64_t until_ns)
{
	struct lc_object o;

	if (!sample_ns || sampled || sample_ns > until_ns)
		return;
	sampled = true;
	sample_site = lc_map_find(m, sample_addr, &o) ? o.site : 0;
}

void lc_resolve_ordered(JNIEnv *jni, bool last)
{
}

void lc_sealed_note_no_memory(void)
{
}

void lc_lines_close_epoch(void)
{
	lines_closed++;
}

enum lc_map_header lc_still_there(const struct lc_object *object)
{
	return LC_MAP_HEADER_SAME;
}

void lc_audit_ask(JNIEnv *env, uint32_t *at, size_t max,
                  void (*use)(void *user, const struct lc_audit_question *q), void *user)
{
	use(user, &(struct lc_audit_question){ lc_time_now_ns(), B, 5 });
}

static struct lc_audit_question looked;
static unsigned rounds;

void lc_audit_look(struct lc_map *m, const struct lc_audit_question *q)
{
	looked = *q;
}

void lc_audit_asked(void)
{
	rounds++;
}

enum lc_collector lc_collector(void)
{
	return collector;
}

const volatile uint32_t *lc_collector_count(void)
{
	return &collections;
}

uint64_t lc_ranges_plain(uint64_t addr)
{
	return addr & ~(UINT64_C(1) << 44); /* two views of the heap */
}

/* -- the tests ------------------------------------------------------------------------------- */

static struct lc_attribution_stats stats(void)
{
	struct lc_attribution_stats s = { 0 };

	lc_concurrent_stats(&s);
	return s;
}

static int setup(void **state)
{
	thread.sealed = thread.looked = 0;
	thread.records_ns = 0;
	collections = 3;
	collector = LC_GC_Z;
	sample_ns = 0;
	sampled = false;
	if (lc_alloc_pool_init(1 << 20) || lc_alloc_log_create(&thread.allocs) ||
	    lc_map_create(&map))
		return -1;
	lc_concurrent_init(map, false);
	return lc_move_log_init();
}

static int teardown(void **state)
{
	lc_concurrent_pass(NULL, true);
	lc_move_log_destroy();
	lc_map_destroy(map);
	lc_alloc_log_destroy(thread.allocs);
	lc_alloc_pool_destroy();
	return 0;
}

static void record(uint64_t time_ns, uint64_t addr, uint32_t site)
{
	const struct lc_alloc a = { addr, WORDS, site };

	assert_int_equal(lc_alloc_log_put(thread.allocs, lc_alloc_time(time_ns)), 0);
	assert_int_equal(lc_alloc_log_put(thread.allocs, a), 0);
}

static uint32_t site_at(uint64_t addr)
{
	struct lc_object o;

	return lc_map_find(map, addr, &o) ? o.site : 0;
}

/* So long that what has happened before is not waited for any more. */
static void let_time_pass(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
}

static void a_thread_that_is_gone_leaves_its_records(void **state)
{
	const uint64_t now = lc_time_now_ns();

	record(now, A, SITE);
	lc_concurrent_take(&thread);
	lc_alloc_log_destroy(thread.allocs);
	thread.allocs = NULL;
	lc_move_log_put(B, A, BYTES);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(B), SITE);
}

static void a_copy_after_the_record_takes_the_object_along(void **state)
{
	record(lc_time_now_ns(), A, SITE);
	lc_move_log_put(B | UINT64_C(1) << 44, A | UINT64_C(1) << 44, BYTES);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(A), SITE);
	assert_int_equal(site_at(B), SITE);
	assert_int_equal(lc_alloc_log_position(thread.allocs), thread.sealed);
}

/* Its address is that of another object soon, and what threads did there says nothing of that. */
static void lines_are_closed_where_an_object_has_moved(void **state)
{
	record(lc_time_now_ns(), A, SITE);
	lc_concurrent_pass(NULL, true);
	lines_closed = 0;
	lc_move_log_put(C, B, BYTES); /* of nothing tracked */
	lc_concurrent_pass(NULL, true);
	assert_int_equal(lines_closed, 0);
	lc_move_log_put(B, A, BYTES);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(lines_closed, 1);
}

static void memory_that_is_used_again_after_a_copy_is_the_new_objects(void **state)
{
	record(lc_time_now_ns(), A, SITE);
	lc_move_log_put(B, A, BYTES);
	record(lc_time_now_ns(), A, OTHER);
	lc_move_log_put(C, A, BYTES);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(A), OTHER);
	assert_int_equal(site_at(B), SITE);
	assert_int_equal(site_at(C), OTHER);
}

static void a_sample_sees_the_map_of_its_time(void **state)
{
	record(lc_time_now_ns(), A, SITE);
	sample_ns = lc_time_now_ns();
	sample_addr = A + 8;
	record(lc_time_now_ns(), A, OTHER);
	lc_concurrent_pass(NULL, true);
	assert_true(sampled);
	assert_int_equal(sample_site, SITE);
	assert_int_equal(site_at(A), OTHER);
}

static void what_has_just_happened_waits(void **state)
{
	record(lc_time_now_ns() + 3600 * UINT64_C(1000000000), A, SITE);
	lc_concurrent_pass(NULL, false);
	assert_int_equal(site_at(A), 0);
	record(lc_time_now_ns(), B, OTHER);
	let_time_pass();
	lc_concurrent_pass(NULL, false);
	assert_int_equal(site_at(A), 0);
	assert_int_equal(site_at(B), OTHER);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(A), SITE);
}

static void a_record_that_is_being_made_is_waited_for(void **state)
{
	const uint64_t time_ns = lc_time_now_ns();

	thread.records_ns = time_ns; /* then the thread is stopped */
	lc_move_log_put(B, A, BYTES);
	record(lc_time_now_ns(), A, OTHER);
	let_time_pass();
	lc_concurrent_pass(NULL, false);
	assert_int_equal(site_at(A), 0);
	record(time_ns, A, SITE);
	thread.records_ns = 0;
	lc_concurrent_pass(NULL, false);
	assert_int_equal(site_at(A), OTHER);
	assert_int_equal(site_at(B), SITE);
}

static void a_thread_that_is_stopped_for_good_is_not_waited_for(void **state)
{
	thread.records_ns = lc_time_now_ns() - 11 * UINT64_C(1000000000);
	record(lc_time_now_ns(), A, SITE);
	let_time_pass();
	lc_concurrent_pass(NULL, false);
	assert_int_equal(site_at(A), SITE);
}

static void a_record_of_before_the_maps_time_takes_nobodys_place(void **state)
{
	const uint64_t before = lc_time_now_ns(), late = stats().records_late;

	record(lc_time_now_ns(), A, OTHER);
	let_time_pass();
	lc_concurrent_pass(NULL, false);
	record(before, A, SITE);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(A), OTHER);
	assert_int_equal(stats().records_late - late, 1);
}

static void a_record_after_a_copy_from_its_place_is_of_another_object(void **state)
{
	lc_move_log_put(B, A, BYTES);
	record(lc_time_now_ns(), A, SITE);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(A), SITE);
	assert_int_equal(site_at(B), 0);
}

static void half_a_record_is_passed_over(void **state)
{
	const uint64_t now = lc_time_now_ns();

	/* The log was full: a time without its object, an object without its time. */
	lc_alloc_log_put(thread.allocs, lc_alloc_time(now));
	record(now, A, SITE);
	lc_alloc_log_put(thread.allocs, (struct lc_alloc){ B, WORDS, OTHER });
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(A), SITE);
	assert_int_equal(site_at(B), 0);
	/* The object is logged while the log is read. */
	lc_alloc_log_put(thread.allocs, lc_alloc_time(now));
	lc_concurrent_pass(NULL, true);
	lc_alloc_log_put(thread.allocs, (struct lc_alloc){ C, WORDS, OTHER });
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(C), OTHER);
}

static void after_copies_were_lost_nothing_is_believed(void **state)
{
	const uint64_t incomplete = stats().epochs_incomplete;

	record(lc_time_now_ns(), A, SITE);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(A), SITE);
	while (!lc_move_log_lost())
		lc_move_log_put(2, 1, 9);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(A), 0);
	assert_int_equal(stats().epochs_incomplete - incomplete, 1);
	record(lc_time_now_ns(), A, SITE);
	lc_concurrent_pass(NULL, true);
	assert_int_equal(site_at(A), SITE);
}

static void cycles_are_those_of_the_jvm_or_pauses_after_copies(void **state)
{
	const uint64_t before = stats().collections;

	collections += 2;
	lc_concurrent_pass(NULL, false);
	assert_int_equal(stats().collections - before, 2);
	collector = LC_GC_SHENANDOAH;
	lc_concurrent_init(map, false);
	collections++;
	lc_concurrent_pause();
	lc_concurrent_pass(NULL, false);
	assert_int_equal(stats().collections - before, 2);
	lc_move_log_put(B, A, BYTES);
	lc_concurrent_pause();
	lc_concurrent_pause();
	lc_concurrent_pass(NULL, false);
	assert_int_equal(stats().collections - before, 3);
}

static void the_audit_asks_once_in_a_cycle_and_looks_at_that_time(void **state)
{
	rounds = 0;
	lc_concurrent_init(map, true);
	collections++;
	lc_concurrent_pass(NULL, false);
	assert_int_equal(looked.addr, 0); /* not before the map has come there */
	lc_concurrent_pass(NULL, true);
	assert_int_equal(looked.addr, B);
	assert_int_equal(looked.number, 5);
	lc_concurrent_pass(NULL, false);
	lc_concurrent_pass(NULL, false);
	assert_int_equal(rounds, 1);
	lc_concurrent_init(map, false);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_thread_that_is_gone_leaves_its_records),
		CASE(a_copy_after_the_record_takes_the_object_along),
		CASE(lines_are_closed_where_an_object_has_moved),
		CASE(memory_that_is_used_again_after_a_copy_is_the_new_objects),
		CASE(a_sample_sees_the_map_of_its_time),
		CASE(what_has_just_happened_waits),
		CASE(a_record_that_is_being_made_is_waited_for),
		CASE(a_thread_that_is_stopped_for_good_is_not_waited_for),
		CASE(a_record_of_before_the_maps_time_takes_nobodys_place),
		CASE(a_record_after_a_copy_from_its_place_is_of_another_object),
		CASE(half_a_record_is_passed_over),
		CASE(cycles_are_those_of_the_jvm_or_pauses_after_copies),
		CASE(the_audit_asks_once_in_a_cycle_and_looks_at_that_time),
		CASE(after_copies_were_lost_nothing_is_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
