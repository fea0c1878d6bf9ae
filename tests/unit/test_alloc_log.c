/* uses: src/core/memory.c src/heap/alloc_log.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alloc_log.c - checks that allocation logs keep order and bounds, reuse chunks, and serve
 * readers beside the owner.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/heap/alloc_log.h"

enum { CHUNK = LC_ALLOC_CHUNK_RECORDS, POOL_CHUNKS = 64 };

static int open_pool(void **state)
{
	return lc_alloc_pool_init(POOL_CHUNKS * LC_ALLOC_CHUNK_BYTES);
}

static int close_pool(void **state)
{
	lc_alloc_pool_destroy();
	return 0;
}

static struct lc_alloc_log *new_log(void)
{
	struct lc_alloc_log *log = NULL;

	assert_int_equal(lc_alloc_log_create(&log), 0);
	return log;
}

static int put(struct lc_alloc_log *log, uint64_t n)
{
	return lc_alloc_log_put(log,
	                        (struct lc_alloc){ .tagged_addr = n, .size_words = 1, .site = 2 });
}

/* Reads [from, to) and asserts that record i holds i; returns how many runs that took. */
static size_t read_all(struct lc_alloc_log *log, uint64_t from, uint64_t to)
{
	const struct lc_alloc *run;
	size_t n, runs = 0;

	while ((n = lc_alloc_log_run(log, from, to, &run)) > 0) {
		for (size_t i = 0; i < n; i++)
			assert_int_equal(run[i].tagged_addr, from + i);
		from += n;
		runs++;
	}
	assert_int_equal(from, to);
	return runs;
}

static void a_thread_that_allocates_nothing_has_no_chunk(void **state)
{
	struct lc_alloc_log *log = new_log();
	const struct lc_alloc *run;

	assert_int_equal(lc_alloc_log_position(log), 0);
	assert_int_equal(lc_alloc_log_run(log, 0, 10, &run), 0);
	lc_alloc_log_trim(log, 10);
	assert_int_equal(lc_alloc_pool_used_bytes(), 0);
	lc_alloc_log_destroy(log);
	lc_alloc_log_destroy(NULL);
}

static void records_come_back_in_order_across_chunks(void **state)
{
	struct lc_alloc_log *log = new_log();

	for (uint64_t i = 0; i < 3 * CHUNK + 7; i++)
		assert_int_equal(put(log, i), 0);
	assert_int_equal(lc_alloc_log_position(log), 3 * CHUNK + 7);
	assert_int_equal(read_all(log, 0, 3 * CHUNK + 7), 4);
	assert_int_equal(read_all(log, CHUNK - 1, CHUNK + 1), 2);
	assert_int_equal(read_all(log, 0, 1), 1); /* back to the front after reading ahead */
	assert_int_equal(lc_alloc_pool_used_bytes(), 4 * LC_ALLOC_CHUNK_BYTES);
	lc_alloc_log_destroy(log);
	assert_int_equal(lc_alloc_pool_used_bytes(), 0);
}

static void a_run_ends_at_what_is_published(void **state)
{
	struct lc_alloc_log *log = new_log();
	const struct lc_alloc *run;

	put(log, 0);
	assert_int_equal(lc_alloc_log_run(log, 0, 99, &run), 1);
	assert_int_equal(lc_alloc_log_run(log, 1, 99, &run), 0);
	lc_alloc_log_destroy(log);
}

static void trim_gives_back_whole_chunks_but_never_the_owners(void **state)
{
	struct lc_alloc_log *log = new_log();
	const struct lc_alloc *run;

	for (uint64_t i = 0; i < 2 * CHUNK; i++)
		put(log, i);
	lc_alloc_log_trim(log, CHUNK - 1);
	assert_int_equal(lc_alloc_pool_used_bytes(), 2 * LC_ALLOC_CHUNK_BYTES);
	lc_alloc_log_trim(log, 2 * CHUNK);
	assert_int_equal(lc_alloc_pool_used_bytes(), LC_ALLOC_CHUNK_BYTES);
	assert_int_equal(lc_alloc_log_run(log, 0, CHUNK, &run), 0); /* trimmed */
	put(log, 2 * CHUNK);
	assert_int_equal(read_all(log, CHUNK, 2 * CHUNK + 1), 2);
	lc_alloc_log_trim(log, 2 * CHUNK);
	assert_int_equal(read_all(log, 2 * CHUNK, 2 * CHUNK + 1), 1);
	lc_alloc_log_destroy(log);
}

static void the_chunk_used_last_is_used_first(void **state)
{
	struct lc_alloc_log *a = new_log(), *b = new_log();
	const struct lc_alloc *first, *again;

	put(a, 0);
	put(b, 0);
	assert_int_equal(lc_alloc_log_run(a, 0, 1, &first), 1);
	lc_alloc_log_destroy(b);
	lc_alloc_log_destroy(a);
	b = new_log();
	put(b, 0);
	assert_int_equal(lc_alloc_log_run(b, 0, 1, &again), 1);
	assert_ptr_equal(first, again);
	lc_alloc_log_destroy(b);
}

static void an_exhausted_pool_refuses_counts_and_recovers(void **state)
{
	struct lc_alloc_log *log = new_log(), *other = new_log();
	uint64_t i = 0;

	while (!put(log, i))
		i++;
	assert_int_equal(i, POOL_CHUNKS * CHUNK);
	assert_int_equal(put(log, i), -ENOSPC);
	assert_int_equal(put(other, 0), -ENOSPC);
	assert_int_equal(lc_alloc_log_lost(log), 2);
	assert_int_equal(lc_alloc_log_lost(other), 1);
	assert_int_equal(lc_alloc_log_position(log), i);
	lc_alloc_log_trim(log, 2 * CHUNK);
	assert_int_equal(put(log, i), 0);
	assert_int_equal(put(other, 0), 0);
	assert_int_equal(read_all(log, 2 * CHUNK, i + 1), POOL_CHUNKS - 1);
	lc_alloc_log_destroy(log);
	lc_alloc_log_destroy(other);
}

static size_t resident_pages(const void *at, size_t bytes)
{
	unsigned char in[POOL_CHUNKS + 1];
	size_t n = 0;

	assert_int_equal(mincore((void *)((uintptr_t)at & ~(uintptr_t)4095), bytes, in), 0);
	for (size_t i = 0; i < bytes / 4096; i++)
		n += in[i] & 1;
	return n;
}

static void chunks_idle_for_two_windows_lose_their_memory_and_serve_again(void **state)
{
	const uint64_t second = UINT64_C(1000000000);
	struct lc_alloc_log *log = new_log();
	const struct lc_alloc *run;

	lc_alloc_pool_tidy(10 * second);
	for (uint64_t i = 0; i < 40 * CHUNK; i++)
		put(log, i);
	assert_int_equal(lc_alloc_log_run(log, 0, 1, &run), 1);
	lc_alloc_log_trim(log, 40 * CHUNK);
	lc_alloc_pool_tidy(11 * second);
	assert_int_equal(lc_alloc_pool_resident_bytes(), 40 * LC_ALLOC_CHUNK_BYTES);
	lc_alloc_pool_tidy(16 * second);
	lc_alloc_pool_tidy(22 * second);
	lc_alloc_pool_tidy(23 * second);
	assert_int_equal(lc_alloc_pool_resident_bytes(), LC_ALLOC_CHUNK_BYTES);
	assert_int_equal(resident_pages(run, 40 * LC_ALLOC_CHUNK_BYTES), 1);
	for (uint64_t i = 40 * CHUNK; i < 70 * CHUNK; i++)
		assert_int_equal(put(log, i), 0);
	assert_int_equal(read_all(log, 40 * CHUNK, 70 * CHUNK), 30);
	assert_int_equal(lc_alloc_pool_resident_bytes(), 31 * LC_ALLOC_CHUNK_BYTES);
	lc_alloc_log_destroy(log);
}

static void a_pool_is_made_once_and_within_limits(void **state)
{
	assert_int_equal(lc_alloc_pool_init(1 << 20), -EALREADY);
	lc_alloc_pool_destroy();
	lc_alloc_pool_destroy();
	assert_int_equal(lc_alloc_pool_init(0), -EINVAL);
	assert_int_equal(lc_alloc_pool_init(SIZE_MAX), -EINVAL);
	lc_alloc_pool_tidy(0); /* without a pool: nothing */
	assert_int_equal(lc_alloc_pool_init(1 << 20), 0);
}

/* Sweeps all that is there; returns how many records, and asserts that the first holds `from`. */
static uint64_t sweep_all(struct lc_alloc_log *log, uint64_t from)
{
	const struct lc_alloc *run;
	uint64_t swept = 0;
	size_t n;

	while ((n = lc_alloc_log_sweep(log, &run)) > 0) {
		for (size_t i = 0; i < n; i++)
			assert_int_equal(run[i].tagged_addr, from + swept + i);
		swept += n;
	}
	return swept;
}

static void a_sweep_goes_on_where_the_last_one_ended(void **state)
{
	const uint64_t stops[] = { 1, 100, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7 };
	struct lc_alloc_log *log = new_log();
	uint64_t at = 0;

	assert_int_equal(sweep_all(log, 0), 0); /* no chunk yet */
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		uint64_t from = at;

		for (; at < stops[i]; at++)
			put(log, at);
		assert_int_equal(sweep_all(log, from), at - from);
		assert_int_equal(sweep_all(log, at), 0);
	}
	lc_alloc_log_destroy(log);
}

static void what_was_not_swept_is_not_trimmed(void **state)
{
	struct lc_alloc_log *log = new_log();
	const struct lc_alloc *run;

	put(log, 0);
	assert_int_equal(sweep_all(log, 0), 1);
	for (uint64_t i = 1; i < 5 * CHUNK; i++)
		put(log, i);
	lc_alloc_log_trim(log, 5 * CHUNK);
	assert_int_equal(lc_alloc_pool_used_bytes(), 5 * LC_ALLOC_CHUNK_BYTES);
	assert_int_equal(lc_alloc_log_sweep(log, &run), CHUNK - 1);
	assert_int_equal(lc_alloc_log_sweep(log, &run), CHUNK);
	/* The sweep has come to the second chunk, and stays there. */
	lc_alloc_log_trim(log, 5 * CHUNK);
	assert_int_equal(lc_alloc_pool_used_bytes(), 4 * LC_ALLOC_CHUNK_BYTES);
	assert_int_equal(sweep_all(log, 2 * CHUNK), 3 * CHUNK);
	lc_alloc_log_trim(log, 5 * CHUNK);
	assert_int_equal(lc_alloc_pool_used_bytes(), LC_ALLOC_CHUNK_BYTES);
	/* Its chunk is full; the next record goes into another. */
	put(log, 5 * CHUNK);
	assert_int_equal(sweep_all(log, 5 * CHUNK), 1);
	lc_alloc_log_trim(log, 5 * CHUNK + 1);
	assert_int_equal(lc_alloc_pool_used_bytes(), LC_ALLOC_CHUNK_BYTES);
	lc_alloc_log_destroy(log);
}

/* A pause without a collection comes before the first sweep: its epoch is closed all the same. */
static void a_log_that_is_kept_is_not_trimmed_before_its_first_sweep(void **state)
{
	struct lc_alloc_log *log = new_log();

	lc_alloc_log_keep(log); /* even before it has a chunk */
	for (uint64_t i = 0; i < 4 * CHUNK; i++)
		put(log, i);
	lc_alloc_log_keep(log);
	lc_alloc_log_trim(log, 4 * CHUNK);
	assert_int_equal(lc_alloc_pool_used_bytes(), 4 * LC_ALLOC_CHUNK_BYTES);
	assert_int_equal(sweep_all(log, 0), 4 * CHUNK);
	lc_alloc_log_keep(log); /* what was swept need not be kept */
	lc_alloc_log_trim(log, 4 * CHUNK);
	assert_int_equal(lc_alloc_pool_used_bytes(), LC_ALLOC_CHUNK_BYTES);
	lc_alloc_log_destroy(log);
}

static void a_first_sweep_begins_with_what_is_left(void **state)
{
	struct lc_alloc_log *log = new_log();

	for (uint64_t i = 0; i < CHUNK / 2; i++)
		put(log, i);
	lc_alloc_log_trim(log, CHUNK / 2); /* in the owner's chunk: it stays */
	assert_int_equal(sweep_all(log, 0), CHUNK / 2);
	lc_alloc_log_destroy(log);
}

static void a_log_that_nobody_sweeps_is_trimmed_as_ever(void **state)
{
	struct lc_alloc_log *log = new_log(), *other = new_log();

	put(other, 0);
	assert_int_equal(sweep_all(other, 0), 1);
	for (uint64_t i = 0; i < 3 * CHUNK; i++)
		put(log, i);
	lc_alloc_log_trim(log, 3 * CHUNK);
	assert_int_equal(lc_alloc_pool_used_bytes(), 2 * LC_ALLOC_CHUNK_BYTES);
	lc_alloc_log_destroy(log);
	lc_alloc_log_destroy(other);
}

/* Producers append, one thread seals all, one consumes what is sealed and trims. */
enum { PRODUCERS = 2, RECORDS = 100000 };

struct traffic {
	struct lc_alloc_log *logs[PRODUCERS];
	_Atomic uint64_t sealed[PRODUCERS];
	_Atomic int producing;
	_Atomic bool sealing;
	uint64_t consumed[PRODUCERS];
	uint64_t swept[PRODUCERS];
	bool wrong, wrong_sweep;
};

struct producer {
	struct traffic *t;
	struct lc_alloc_log *log;
};

static void *produce(void *arg)
{
	struct producer *p = arg;

	for (uint64_t i = 0; i < RECORDS;) {
		if (put(p->log, i))
			usleep(100); /* the pool is small: wait for the consumer */
		else
			i++;
	}
	atomic_fetch_sub(&p->t->producing, 1);
	return NULL;
}

/* Like a GC callback, while the others are at work. */
static void sweep(struct traffic *t, int i)
{
	const struct lc_alloc *run;
	size_t n;

	while ((n = lc_alloc_log_sweep(t->logs[i], &run)) > 0) {
		for (size_t j = 0; j < n; j++)
			t->wrong_sweep |= run[j].tagged_addr != t->swept[i] + j;
		t->swept[i] += n;
	}
}

static void *seal(void *arg)
{
	struct traffic *t = arg;
	bool last;

	do {
		last = atomic_load(&t->producing) == 0;
		for (int i = 0; i < PRODUCERS; i++)
			atomic_store(&t->sealed[i], lc_alloc_log_position(t->logs[i]));
		for (int i = 0; i < PRODUCERS; i++)
			sweep(t, i);
		usleep(50);
	} while (!last);
	atomic_store(&t->sealing, false);
	return NULL;
}

static void *consume(void *arg)
{
	struct traffic *t = arg;
	uint64_t now_ns = 0;
	bool last;

	do {
		last = !atomic_load(&t->sealing);
		for (int i = 0; i < PRODUCERS; i++) {
			uint64_t to = atomic_load(&t->sealed[i]);
			const struct lc_alloc *run;
			size_t n;

			while ((n = lc_alloc_log_run(t->logs[i], t->consumed[i], to, &run)) > 0) {
				for (size_t j = 0; j < n; j++)
					t->wrong |= run[j].tagged_addr != t->consumed[i] + j ||
					            run[j].site != 2;
				t->consumed[i] += n;
			}
			lc_alloc_log_trim(t->logs[i], to);
		}
		lc_alloc_pool_tidy(now_ns += UINT64_C(3000000000));
	} while (!last);
	return NULL;
}

static void nothing_is_lost_or_torn_with_owner_sealer_and_consumer_at_work(void **state)
{
	struct traffic t = { .producing = PRODUCERS, .sealing = true };
	struct producer p[PRODUCERS];
	pthread_t threads[PRODUCERS + 2];

	for (int i = 0; i < PRODUCERS; i++) {
		t.logs[i] = new_log();
		lc_alloc_log_keep(t.logs[i]);
		p[i] = (struct producer){ &t, t.logs[i] };
	}
	for (int i = 0; i < PRODUCERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, produce, &p[i]), 0);
	assert_int_equal(pthread_create(&threads[PRODUCERS], NULL, seal, &t), 0);
	assert_int_equal(pthread_create(&threads[PRODUCERS + 1], NULL, consume, &t), 0);
	for (int i = 0; i < PRODUCERS + 2; i++)
		pthread_join(threads[i], NULL);
	assert_false(t.wrong);
	assert_false(t.wrong_sweep);
	for (int i = 0; i < PRODUCERS; i++) {
		assert_int_equal(t.consumed[i], RECORDS);
		assert_int_equal(t.swept[i], RECORDS);
		lc_alloc_log_destroy(t.logs[i]);
	}
	assert_int_equal(lc_alloc_pool_used_bytes(), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_pool, close_pool)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_thread_that_allocates_nothing_has_no_chunk),
		CASE(records_come_back_in_order_across_chunks),
		CASE(a_run_ends_at_what_is_published),
		CASE(trim_gives_back_whole_chunks_but_never_the_owners),
		CASE(the_chunk_used_last_is_used_first),
		CASE(an_exhausted_pool_refuses_counts_and_recovers),
		CASE(chunks_idle_for_two_windows_lose_their_memory_and_serve_again),
		CASE(a_pool_is_made_once_and_within_limits),
		CASE(a_sweep_goes_on_where_the_last_one_ended),
		CASE(what_was_not_swept_is_not_trimmed),
		CASE(a_log_that_is_kept_is_not_trimmed_before_its_first_sweep),
		CASE(a_first_sweep_begins_with_what_is_left),
		CASE(a_log_that_nobody_sweeps_is_trimmed_as_ever),
		CASE(nothing_is_lost_or_torn_with_owner_sealer_and_consumer_at_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
