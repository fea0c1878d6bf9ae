/* uses: tests/unit/no_attach.c src/core/memory.c src/attribute/resolve.c src/sample/sample_log.c src/heap/alloc_log.c src/core/own_cost.c -Wl,--wrap=realloc src/offheap/blocks.c src/offheap/granules.c src/base/limit.c src/base/say.c -lJudy -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_resolve.c - checks samples that were taken before their object was recorded. They are looked
 * up in the records of one thread, and their buckets are counted.
 *
 * The file is longer than 600 lines: the tests share one model of the rest of the agent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/attribute/bucket.h"
#include "src/attribute/detail.h"
#include "src/attribute/hot_classes.h"
#include "src/attribute/resolve.h"
#include "src/attribute/resolve_impl.h"
#include "src/base/time.h"
#include "src/core/own.h"
#include "src/core/path.h"
#include "src/core/thread.h"
#include "src/format/kinds.h"
#include "src/heap/alloc_log.h"
#include "src/heap/estimate.h"
#include "src/heap/map.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/metaspace.h"
#include "src/jvm/layout/ranges.h"
#include "src/numa/numa.h"
#include "src/offheap/blocks.h"
#include "src/profile/tally.h"
#include "src/sample/sample_log.h"
#include "src/span/frames/slot.h"
#include "tests/unit/counter.h"

enum { ARRAY = 0x10000, ELSEWHERE = 0x90000, BYTES = 0x8000, SITE = 7, EPOCH = 3, CLASS = 0x800 };
enum { OUTSIDE = 0x40000000 };                    /* of the heap: addresses from here on */
static enum lc_bucket outside = LC_BUCKET_NATIVE; /* of addresses there */
enum { OLD = 0x200000, OLD_TOP = 0x280000, YOUNG = 0x300000, YOUNG_TOP = 0x380000 };

static struct lc_thread thread;
static uint64_t counted[LC_BUCKET_COUNT];
static uint32_t outlived;       /* collections that all objects have outlived */
static bool in_doubt;           /* what the map says of all objects */
static uint32_t class_site;     /* of all classes */
static struct lc_detail detail; /* the last one */
static struct {
	uint64_t object;
	uint64_t samples;
} estimated;
static struct {
	uint64_t samples, size_bytes;
} without_line;
static uint64_t interrupts;
static struct lc_block_span_access in_span;
static uint64_t of_nodes;     /* samples that tell which node a thread uses */
static bool record_meanwhile; /* the thread records its array while samples are looked up */

static bool realloc_fails;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_realloc(void *p, size_t size)
{
	return realloc_fails ? NULL : __real_realloc(p, size);
}

static void record(uint64_t addr)
{
	assert_int_equal(
	    lc_alloc_log_put(thread.allocs, (struct lc_alloc){ .tagged_addr = addr, .site = SITE }),
	    0);
}

/* -- the rest of the agent ------------------------------------------------------------------- */

struct lc_thread *lc_threads_walk(void)
{
	return &thread;
}

uint64_t lc_ranges_plain(uint64_t addr)
{
	return addr;
}

void lc_map_resolve(struct lc_map *m, const struct lc_nursery *nursery, struct lc_query *q,
                    size_t len)
{
	for (size_t i = 0; i < len; i++)
		for (size_t r = 0; r < nursery->len; r++)
			for (size_t k = 0; k < nursery->runs[r].len; k++) {
				uint64_t start = nursery->runs[r].records[k].tagged_addr;

				if (q[i].addr - start >= BYTES)
					continue;
				q[i].found = true;
				q[i].object = (struct lc_object){ .addr = start,
					                          .site = SITE,
					                          .epochs = outlived,
					                          .in_doubt = in_doubt };
			}
	if (record_meanwhile)
		record(ARRAY);
	record_meanwhile = false;
}

struct lc_tally *lc_tally_create(void)
{
	return (struct lc_tally *)&thread;
}

int lc_tally_sample(struct lc_tally *t, const struct lc_block_access *row, enum lc_where where,
                    enum lc_how how)
{
	assert_int_equal(row->site, row->bucket == LC_BUCKET_OBJECT       ? SITE
	                            : row->bucket == LC_BUCKET_HEAP_CLASS ? class_site
	                                                                  : 0);
	counted[row->bucket] += row->samples;
	return 0;
}

int lc_tally_span_access(struct lc_tally *t, const struct lc_block_span_access *row)
{
	in_span = *row;
	return 0;
}

bool lc_bucket_needs_map(const struct lc_sample *s)
{
	return true;
}

enum lc_bucket lc_bucket_without_map(const struct lc_sample *s)
{
	return s->where == LC_WHERE_JVM ? LC_BUCKET_JVM : LC_BUCKET_NATIVE;
}

enum lc_bucket lc_bucket_untracked(uint64_t addr)
{
	return addr >= OUTSIDE ? outside : LC_BUCKET_HEAP_UNKNOWN;
}

const struct lc_span_slot *lc_span_slot_at(const struct lc_thread *t, uint32_t i)
{
	static const struct lc_span_slot slot = { .key = { .kind = LC_SPAN_TASK, .site = 5 } };

	assert_int_equal(i, 3);
	return &slot;
}

struct lc_data_src lc_detail_data_src(uint64_t data_src)
{
	return (struct lc_data_src){ 0 };
}

void lc_detail_sample(JNIEnv *jni, const struct lc_detail *d)
{
	detail = *d;
}

void lc_numa_sample(const struct lc_numa_access *a)
{
	of_nodes += a->at.samples;
}

void lc_numa_ran(struct lc_thread *t, uint16_t engine, uint32_t cpu, uint64_t samples)
{
}

void lc_hot_classes_sample(void)
{
	interrupts++;
}

void lc_hot_classes_no_line(uint32_t site, uint64_t size_bytes)
{
	assert_int_equal(site, class_site);
	without_line.samples++;
	without_line.size_bytes = size_bytes;
}

void lc_estimate_access(struct lc_thread *t, uint16_t engine, uint32_t class_site_asked,
                        uint64_t start, uint32_t epoch, uint64_t samples)
{
	assert_int_equal(class_site_asked, class_site);
	assert_int_equal(epoch, EPOCH);
	estimated.object = start;
	estimated.samples += samples;
}

const struct lc_site *lc_site_get(uint32_t site)
{
	static const struct lc_site known = { .class_word = CLASS };

	return site == SITE ? &known : NULL;
}

uint64_t lc_klass_of_word(uint64_t class_word)
{
	return class_word;
}

uint32_t lc_klass_site(uint64_t klass)
{
	return class_site;
}

void lc_metaspace_learn(JNIEnv *jni, uint64_t addr, const uint64_t *frames, size_t len)
{
}

uint32_t lc_path_intern_nearest(JNIEnv *jni, uint32_t root, const uint64_t *frames,
                                size_t frames_len, uint32_t depth)
{
	return root;
}

size_t lc_own_frames(const uint64_t *frames, size_t len)
{
	return 0;
}

static const struct lc_method loading;

const struct lc_method *lc_path_version(JNIEnv *jni, uint64_t version)
{
	return version == 0x1234 ? &loading : NULL;
}

/* -- the tests ------------------------------------------------------------------------------- */

static int setup(void **state)
{
	memset(&thread, 0, sizeof(thread));
	memset(counted, 0, sizeof(counted));
	memset(&estimated, 0, sizeof(estimated));
	memset(&without_line, 0, sizeof(without_line));
	interrupts = 0;
	memset(&in_span, 0, sizeof(in_span));
	record_meanwhile = in_doubt = false;
	outlived = class_site = 0;
	of_nodes = 0;
	return lc_alloc_pool_init(1 << 20) || lc_alloc_log_create(&thread.allocs) ||
	       lc_sample_log_create(LC_SAMPLE_LOG_MIN_BYTES, &thread.samples);
}

static int teardown(void **state)
{
	lc_alloc_log_destroy(thread.allocs);
	lc_sample_log_destroy(thread.samples);
	lc_alloc_pool_destroy();
	return 0;
}

/* A page fault of native code, which clears an array. */
static void sample(uint64_t addr)
{
	const struct lc_sample s = { .time_ns = lc_time_now_ns(),
		                     .addr = addr,
		                     .epoch = EPOCH,
		                     .where = LC_WHERE_NATIVE,
		                     .how = LC_HOW_KERNEL };

	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
}

/* Like the attribution thread in the open epoch; final: at its end. */
static void resolve(bool final)
{
	struct lc_nursery_run run = { 0 };
	const struct lc_nursery nursery = { &run, 1, EPOCH };

	lc_resolve_take(NULL, EPOCH);
	thread.looked = lc_alloc_log_position(thread.allocs);
	run.len = lc_alloc_log_run(thread.allocs, 0, thread.looked, &run.records);
	lc_resolve_samples(NULL, NULL, &nursery, final ? UINT64_MAX : lc_time_now_ns());
}

/* The end of an epoch, as the attribution thread comes to it. */
static void close_epoch(const struct lc_move *moves, size_t moves_len, bool complete)
{
	static const struct lc_area areas[] = {
		{ OLD, OLD_TOP, OLD_TOP, LC_AREA_OLD, 0 },
		{ YOUNG, YOUNG_TOP, YOUNG_TOP, LC_AREA_SURVIVOR, 0 },
	};
	struct lc_nursery_run run = { 0 };
	const struct lc_nursery nursery = { &run, 1, EPOCH };
	const struct lc_map_close close = { .moves = moves,
		                            .moves_len = moves_len,
		                            .areas = areas,
		                            .areas_len = 2,
		                            .complete = complete };

	lc_resolve_take(NULL, EPOCH);
	thread.looked = lc_alloc_log_position(thread.allocs);
	run.len = lc_alloc_log_run(thread.allocs, 0, thread.looked, &run.records);
	lc_resolve_close_epoch(NULL, NULL, &nursery);
	lc_resolve_carry(NULL, &close);
}

/* A sample whose object has a header of that class at `object`. */
static void sample_with_header(uint64_t addr, uint64_t object, uint64_t klass)
{
	const struct lc_sample s = { .time_ns = lc_time_now_ns(),
		                     .addr = addr,
		                     .object = object,
		                     .klass = klass,
		                     .object_words = 2,
		                     .epoch = EPOCH,
		                     .access = LC_TOUCH_LOAD };

	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
}

static void first_touches_wait_for_the_next_record(void **state)
{
	sample(ARRAY + 8);
	resolve(false);
	assert_true(lc_resolve_waiting());
	assert_int_equal(thread.unresolved, 1);
	record(ARRAY);
	resolve(false);
	assert_false(lc_resolve_waiting());
	assert_int_equal(thread.unresolved, 0);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
}

static void a_record_made_during_the_look_is_seen_by_the_next(void **state)
{
	sample(ARRAY + 8);
	sample(ARRAY + 4096);
	record_meanwhile = true;
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 0);
	resolve(false);
	assert_false(lc_resolve_waiting());
	assert_int_equal(counted[LC_BUCKET_OBJECT], 2);
}

static void the_next_record_decides(void **state)
{
	sample(ARRAY + 8);
	resolve(false);
	record(ELSEWHERE);
	resolve(false);
	assert_false(lc_resolve_waiting());
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 1);
}

static void nothing_waits_beyond_an_epoch_or_a_thread(void **state)
{
	sample(ARRAY + 8);
	resolve(false);
	assert_true(lc_resolve_waiting());
	resolve(true);
	assert_false(lc_resolve_waiting());
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 1);
	sample(ARRAY + 8);
	lc_resolve_take(NULL, EPOCH);
	thread.looked = UINT64_MAX;
	lc_resolve_samples(NULL, NULL, &(struct lc_nursery){ .epoch_tag = EPOCH },
	                   lc_time_now_ns());
	assert_false(lc_resolve_waiting());
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 2);
	assert_int_equal(thread.unresolved, 0);
}

/* The timer's samples: stores of native code, and of no other, are to what it may be making. */
static void stores_of_native_code_wait_and_others_do_not(void **state)
{
	struct lc_sample s = { .time_ns = lc_time_now_ns(),
		               .addr = ARRAY + 8,
		               .epoch = EPOCH,
		               .where = LC_WHERE_JVM,
		               .how = LC_HOW_DIRECT,
		               .access = LC_TOUCH_STORE };

	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	s.access = LC_TOUCH_LOAD;
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	s.access = LC_TOUCH_STORE;
	s.where = LC_WHERE_COMPILED;
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_int_equal(thread.unresolved, 1);
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 2);
	record(ARRAY);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
	assert_int_equal(thread.unresolved, 0);
}

/* A thread of the JVM that was behind a fence, with an array in a register. */
static void sample_behind_fence(void)
{
	const struct lc_sample s = { .time_ns = lc_time_now_ns(),
		                     .addr = ARRAY,
		                     .epoch = EPOCH,
		                     .where = LC_WHERE_JVM,
		                     .how = LC_HOW_BASE,
		                     .access = LC_TOUCH_STORE | LC_ACCESS_FENCE };

	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
}

static void a_fence_is_of_the_array_that_is_recorded_next_or_of_the_jvm(void **state)
{
	sample_behind_fence();
	resolve(false);
	assert_true(lc_resolve_waiting());
	record(ARRAY);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
	lc_alloc_log_trim(thread.allocs, lc_alloc_log_position(thread.allocs));
	lc_alloc_log_destroy(thread.allocs);
	assert_int_equal(lc_alloc_log_create(&thread.allocs), 0);
	sample_behind_fence();
	record(ELSEWHERE);
	resolve(true);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
	assert_int_equal(counted[LC_BUCKET_JVM], 1);
	outlived = 1;
	record(ARRAY);
	sample_behind_fence();
	resolve(true);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
	assert_int_equal(counted[LC_BUCKET_JVM], 2);
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 0);
}

static void nothing_waits_for_ever(void **state)
{
	const struct lc_sample s = { .time_ns = 1, /* hours ago */
		                     .addr = ARRAY + 8,
		                     .epoch = EPOCH,
		                     .where = LC_WHERE_NATIVE,
		                     .how = LC_HOW_KERNEL };

	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 1);
}

/* A page fault at that time, of native code or of compiled code. */
static void sample_since(uint64_t time_ns, enum lc_where where)
{
	const struct lc_sample s = { .time_ns = time_ns,
		                     .addr = ARRAY + 8,
		                     .epoch = EPOCH,
		                     .where = (uint8_t)where,
		                     .how = LC_HOW_KERNEL };

	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
}

/* The JVM clears large arrays, compiled code only small ones. */
static void native_code_may_take_longer_to_make_an_array_than_compiled_code(void **state)
{
	const uint64_t since = lc_time_now_ns() - 2 * LC_FIRST_TOUCH_NS;

	sample_since(since, LC_WHERE_COMPILED);
	resolve(false);
	assert_int_equal(thread.unresolved, 0);
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 1);
	sample_since(since, LC_WHERE_NATIVE);
	resolve(false);
	assert_int_equal(thread.unresolved, 1);
	record(ARRAY);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
}

static void a_sample_goes_where_the_collection_moved_its_object(void **state)
{
	const struct lc_move moves[] = { { ELSEWHERE, YOUNG + 0x10000, BYTES },
		                         { ARRAY, YOUNG, BYTES } };

	sample(ARRAY + 8);
	close_epoch(moves, 2, true);
	assert_true(lc_resolve_waiting());
	record(YOUNG);
	resolve(false);
	assert_false(lc_resolve_waiting());
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
}

static void a_sample_in_memory_that_was_not_collected_stays(void **state)
{
	sample(OLD + 8);
	close_epoch(NULL, 0, true);
	assert_true(lc_resolve_waiting());
	close_epoch(NULL, 0, true); /* and another collection */
	record(OLD);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
}

static void a_sample_is_given_up_where_its_object_is_gone(void **state)
{
	const struct lc_move over = { ELSEWHERE, OLD, BYTES };

	sample(ARRAY + 8); /* in no area */
	sample(YOUNG + 8); /* objects there came from elsewhere */
	sample(OLD_TOP + 8);
	sample(OLD + 8); /* written over */
	close_epoch(&over, 1, true);
	assert_false(lc_resolve_waiting());
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 4);
	sample(OLD + 8);
	close_epoch(NULL, 0, false); /* moves are missing */
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 5);
	sample(OLD + 8);
	record(ELSEWHERE); /* what the thread made last has its record */
	lc_resolve_take(NULL, EPOCH);
	record(ELSEWHERE);
	close_epoch(NULL, 0, true);
	assert_int_equal(counted[LC_BUCKET_HEAP_UNKNOWN], 6);
	assert_int_equal(thread.unresolved, 0);
}

static void a_sample_later_than_what_was_asked_for_waits(void **state)
{
	const struct lc_sample s = { .time_ns = lc_time_now_ns() + UINT64_C(3600000000000),
		                     .addr = ARRAY + 8,
		                     .epoch = EPOCH,
		                     .access = LC_TOUCH_LOAD };

	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_true(lc_resolve_waiting());
	record(ARRAY);
	resolve(true);
	assert_false(lc_resolve_waiting());
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
}

/* It would be looked up where it lies after the collection, among records of another epoch. */
static void a_sample_that_no_memory_allows_to_look_up_is_lost_with_its_epoch(void **state)
{
	struct lc_vector *queries = &lc_resolve_work.queries;

	sample(OLD + 8);
	lc_resolve_take(NULL, EPOCH);
	free(queries->data);
	queries->data = NULL;
	queries->cap = 0;
	realloc_fails = true;
	close_epoch(NULL, 0, true);
	realloc_fails = false;
	assert_false(lc_resolve_waiting());
	assert_int_equal(counted[LC_BUCKET_LOST], 1);
	assert_int_equal(thread.unresolved, 0);
}

static void a_header_inside_a_live_object_is_none(void **state)
{

	const uint64_t before_class_disagreements = counter("class_disagreements"),
	               before_classes_checked = counter("classes_checked"),
	               before_headers_inside = counter("headers_inside");
	record(ARRAY);
	sample_with_header(ARRAY + 64, ARRAY, CLASS);
	sample_with_header(ARRAY + 64, ARRAY + 56, CLASS + 8); /* inside */
	resolve(false);
	assert_int_equal(detail.object, ARRAY);
	assert_int_equal(detail.klass, CLASS);
	sample_with_header(ARRAY + 64, ARRAY - 8, CLASS + 8); /* reaches into it */
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 3);
	assert_int_equal(counter("classes_checked") - before_classes_checked, 3);
	assert_int_equal(counter("headers_inside") - before_headers_inside, 1);
	assert_int_equal(counter("class_disagreements") - before_class_disagreements, 1);
}

static void a_header_is_right_where_the_map_may_be_wrong(void **state)
{

	const uint64_t before_class_disagreements = counter("class_disagreements");
	record(ARRAY);
	sample_with_header(ARRAY + 64, ARRAY, CLASS + 8); /* another class at the same place */
	resolve(false);
	in_doubt = true;
	sample_with_header(ARRAY + 64, ARRAY + 56, CLASS + 8);
	sample_with_header(ARRAY + 64, ARRAY + 56, CLASS); /* another one of its class */
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 0);
	assert_int_equal(counter("class_disagreements") - before_class_disagreements, 3);
}

static void what_the_header_alone_tells_is_of_its_class_and_estimated(void **state)
{
	class_site = 9;
	sample_with_header(ELSEWHERE + 8, ELSEWHERE, CLASS + 8);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_HEAP_CLASS], 1);
	assert_int_equal(estimated.object, ELSEWHERE);
	assert_int_equal(estimated.samples, 1);
	assert_int_equal(detail.klass, CLASS + 8);
	assert_int_equal(without_line.samples, 1);
	assert_int_equal(without_line.size_bytes, 16);
	record(ARRAY);
	sample_with_header(ARRAY + 8, ARRAY, CLASS);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
	assert_int_equal(estimated.samples, 1); /* its line is known */
	assert_int_equal(without_line.samples, 1);
	assert_int_equal(interrupts, 2);
}

/* A handler takes a sample now. */
static uint64_t sampled_now(void)
{
	const uint64_t now = lc_time_now_ns();

	lc_blocks_sampled(now);
	return now;
}

static void an_access_outside_the_heap_is_of_the_block_that_was_there(void **state)
{
	struct lc_sample s = { .addr = OUTSIDE + 24, .epoch = EPOCH, .access = LC_TOUCH_LOAD };

	lc_blocks_allocated(OUTSIDE, 64, SITE);
	s.time_ns = sampled_now();
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	lc_blocks_freed(OUTSIDE);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
	assert_true(detail.off_heap);
	assert_int_equal(detail.object, OUTSIDE);
	assert_int_equal(detail.size_bytes, 64);
	s.time_ns = sampled_now();
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_NATIVE], 1);
	assert_false(detail.off_heap);
}

/* libjvm's setMemory() and libc's memcpy() do this. */
static void native_code_outside_the_heap_is_in_a_block_or_has_no_address(void **state)
{
	struct lc_sample s = { .addr = OUTSIDE + 24,
		               .epoch = EPOCH,
		               .where = LC_WHERE_JVM,
		               .access = LC_TOUCH_STORE };

	s.time_ns = sampled_now();
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	s.where = LC_WHERE_NATIVE;
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_JVM], 1);
	assert_int_equal(counted[LC_BUCKET_NATIVE], 1);
	lc_blocks_allocated(OUTSIDE, 64, SITE);
	s.time_ns = sampled_now();
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
	assert_true(detail.off_heap);
	assert_int_equal(detail.object, OUTSIDE);
	lc_blocks_freed(OUTSIDE);
}

static void a_block_in_a_range_of_the_jvm_is_a_block(void **state)
{
	struct lc_sample s = { .addr = OUTSIDE + 24, .epoch = EPOCH, .access = LC_TOUCH_LOAD };

	outside = LC_BUCKET_JVM;
	lc_blocks_allocated(OUTSIDE, 64, SITE);
	s.time_ns = sampled_now();
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_int_equal(counted[LC_BUCKET_OBJECT], 1);
	lc_blocks_freed(OUTSIDE);
	outside = LC_BUCKET_NATIVE;
}

static void a_sample_says_where_its_reference_was_loaded(void **state)
{
	struct lc_sample s = { .time_ns = lc_time_now_ns(),
		               .addr = ELSEWHERE + 8,
		               .object = ELSEWHERE,
		               .klass = CLASS,
		               .epoch = EPOCH,
		               .where = LC_WHERE_COMPILED,
		               .loaded = lc_frame_pack((const void *)0x1234, 42),
		               .loaded_disp = -8 };

	class_site = 9;
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_ptr_equal(detail.load.method, &loading);
	assert_int_equal(detail.load.bci, 42);
	assert_int_equal(detail.load.disp, -8);
	s.loaded = 0;
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_null(detail.load.method);
}

static void a_sample_in_a_span_counts_for_that_too(void **state)
{
	struct lc_sample s = { .time_ns = lc_time_now_ns(),
		               .addr = ARRAY + 8,
		               .epoch = EPOCH,
		               .overrun = 6,
		               .access = LC_TOUCH_LOAD };

	record(ARRAY);
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_int_equal(in_span.samples, 0);
	s.span = 4;
	assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
	resolve(false);
	assert_int_equal(in_span.samples, 7);
	assert_int_equal(in_span.kind, LC_SPAN_TASK);
	assert_int_equal(in_span.span_site, 5);
	assert_int_equal(in_span.bucket, LC_BUCKET_OBJECT);
	assert_int_equal(in_span.site, SITE);
}

/* The JVM zeroes new arrays, and waits for that at its fences. */
static void only_accesses_of_the_program_tell_which_node_a_thread_uses(void **state)
{
	static const struct {
		enum lc_where where;
		enum lc_how how;
		uint8_t access;
		bool tells;
	} cases[] = {
		{ LC_WHERE_COMPILED, LC_HOW_DIRECT, LC_TOUCH_LOAD, true },
		{ LC_WHERE_COMPILED, LC_HOW_DIRECT, LC_TOUCH_STORE | LC_ACCESS_FENCE, false },
		{ LC_WHERE_JVM, LC_HOW_DIRECT, LC_TOUCH_LOAD, false },
		{ LC_WHERE_JVM, LC_HOW_KERNEL, 0, true }, /* a page fault: the first touch */
	};

	record(ARRAY);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lc_sample s = { .time_ns = lc_time_now_ns(),
			                     .addr = ARRAY + 8,
			                     .epoch = EPOCH,
			                     .where = (uint8_t)cases[i].where,
			                     .how = (uint8_t)cases[i].how,
			                     .access = cases[i].access };

		of_nodes = 0;
		assert_int_equal(lc_sample_log_put(thread.samples, &s, NULL), 0);
		resolve(false);
		assert_int_equal(of_nodes, cases[i].tells);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(first_touches_wait_for_the_next_record, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_record_made_during_the_look_is_seen_by_the_next,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(the_next_record_decides, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_waits_beyond_an_epoch_or_a_thread, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(stores_of_native_code_wait_and_others_do_not, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(
		    a_fence_is_of_the_array_that_is_recorded_next_or_of_the_jvm, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_waits_for_ever, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    native_code_may_take_longer_to_make_an_array_than_compiled_code, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(a_sample_goes_where_the_collection_moved_its_object,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(a_sample_in_memory_that_was_not_collected_stays,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(a_sample_is_given_up_where_its_object_is_gone,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(a_sample_later_than_what_was_asked_for_waits, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(
		    a_sample_that_no_memory_allows_to_look_up_is_lost_with_its_epoch, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(a_header_inside_a_live_object_is_none, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_header_is_right_where_the_map_may_be_wrong, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(
		    what_the_header_alone_tells_is_of_its_class_and_estimated, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    an_access_outside_the_heap_is_of_the_block_that_was_there, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    native_code_outside_the_heap_is_in_a_block_or_has_no_address, setup, teardown),
		cmocka_unit_test_setup_teardown(a_block_in_a_range_of_the_jvm_is_a_block, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_sample_says_where_its_reference_was_loaded, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_sample_in_a_span_counts_for_that_too, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(
		    only_accesses_of_the_program_tell_which_node_a_thread_uses, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
