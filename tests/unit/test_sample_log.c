/* uses: src/sample/sample_log.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sample_log.c - checks that samples come out whole, in order and once, or are counted as
 * lost.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

#include "src/sample/sample_log.h"

static struct lc_sample_log *make(size_t bytes)
{
	struct lc_sample_log *log = NULL;

	assert_int_equal(lc_sample_log_create(bytes, &log), 0);
	return log;
}

static int put(struct lc_sample_log *log, uint64_t number, int frames_len)
{
	uint64_t frames[64];
	const struct lc_sample s = { .time_ns = number, .frames_len = (int16_t)frames_len };

	for (int i = 0; i < frames_len; i++)
		frames[i] = number * 64 + (uint64_t)i;
	return lc_sample_log_put(log, &s, frames);
}

static void take(struct lc_sample_log *log, uint64_t number, int frames_len)
{
	const struct lc_sample *s = lc_sample_log_peek(log);

	assert_non_null(s);
	assert_ptr_equal(s, lc_sample_log_peek(log)); /* a second look sees the same */
	assert_int_equal(s->time_ns, number);
	assert_int_equal(s->frames_len, frames_len);
	for (int i = 0; i < frames_len; i++)
		assert_int_equal(s->frames[i], number * 64 + (uint64_t)i);
	lc_sample_log_drop(log);
}

static void sizes_that_are_no_power_of_two_are_refused(void **state)
{
	struct lc_sample_log *log = NULL;

	assert_int_equal(lc_sample_log_create(0, &log), -EINVAL);
	assert_int_equal(lc_sample_log_create(4095, &log), -EINVAL);
	assert_int_equal(lc_sample_log_create(2048, &log), -EINVAL);
	assert_int_equal(lc_sample_log_create(5000, &log), -EINVAL);
	assert_int_equal(lc_sample_log_create((size_t)LC_SAMPLE_LOG_MAX_BYTES * 2, &log), -EINVAL);
	assert_null(log);
}

static void destroying_nothing_is_allowed(void **state)
{
	lc_sample_log_destroy(NULL);
}

static void empty_log_gives_nothing_and_drop_does_no_harm(void **state)
{
	struct lc_sample_log *log = make(4096);

	assert_null(lc_sample_log_peek(log));
	lc_sample_log_drop(log);
	assert_int_equal(put(log, 1, 0), 0);
	take(log, 1, 0);
	lc_sample_log_drop(log); /* twice for one peek */
	assert_null(lc_sample_log_peek(log));
	lc_sample_log_destroy(log);
}

static void records_of_all_sizes_survive_many_turns_of_the_ring(void **state)
{
	struct lc_sample_log *log = make(4096);

	for (uint64_t i = 1; i < 20000; i++) {
		assert_int_equal(put(log, i, (int)(i * 7 % 61)), 0);
		if (i > 3)
			take(log, i - 3, (int)((i - 3) * 7 % 61));
	}
	assert_int_equal(lc_sample_log_lost(log), 0);
	lc_sample_log_destroy(log);
}

static void full_log_refuses_counts_and_keeps_the_oldest(void **state)
{
	struct lc_sample_log *log = make(4096);
	uint64_t n = 0;

	while (!put(log, n, 8))
		n++;
	assert_true(n > 20);
	assert_int_equal(lc_sample_log_lost(log), 1);
	assert_int_equal(put(log, n, 8), -EAGAIN);
	assert_int_equal(lc_sample_log_lost(log), 2);
	take(log, 0, 8);
	take(log, 1, 8);
	assert_int_equal(put(log, n, 8), 0);
	for (uint64_t i = 2; i <= n; i++)
		take(log, i, 8);
	assert_null(lc_sample_log_peek(log));
	lc_sample_log_destroy(log);
}

static void a_reset_log_is_as_new(void **state)
{
	struct lc_sample_log *log = make(4096);

	while (!put(log, 1, 5))
		;
	assert_true(lc_sample_log_half_full(log));
	assert_non_null(lc_sample_log_peek(log));
	lc_sample_log_reset(log);
	assert_null(lc_sample_log_peek(log));
	lc_sample_log_drop(log);
	assert_int_equal(lc_sample_log_lost(log), 0);
	assert_false(lc_sample_log_half_full(log));
	assert_int_equal(put(log, 2, 5), 0);
	take(log, 2, 5);
	assert_null(lc_sample_log_peek(log));
	lc_sample_log_destroy(log);
}

static void codes_below_zero_carry_no_frames(void **state)
{
	struct lc_sample_log *log = make(4096);
	const struct lc_sample s = { .frames_len = -5 };

	assert_int_equal(lc_sample_log_put(log, &s, NULL), 0);
	assert_int_equal(lc_sample_log_peek(log)->frames_len, -5);
	lc_sample_log_drop(log);
	assert_null(lc_sample_log_peek(log));
	lc_sample_log_destroy(log);
}

static void half_full_is_told_at_half(void **state)
{
	struct lc_sample_log *log = make(4096);
	uint64_t n = 0;

	assert_false(lc_sample_log_half_full(log));
	while (!lc_sample_log_half_full(log))
		assert_int_equal(put(log, n++, 0), 0);
	assert_in_range(n * (sizeof(struct lc_sample) + 8), 2048, 2048 + 128);
	take(log, 0, 0);
	assert_false(lc_sample_log_half_full(log));
	lc_sample_log_destroy(log);
}

/* A handler that lands inside an append of its own thread. */
static struct lc_sample_log *shared;
static volatile sig_atomic_t nested_tries, nested_refused;

static void on_alarm(int sig)
{
	nested_tries++;
	if (put(shared, 0, 3))
		nested_refused++;
}

static void appends_inside_an_append_are_refused_or_whole(void **state)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, off = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm }, before;
	uint64_t put_ok = 0, got = 0, refused = 0;

	shared = make(8192);
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint64_t i = 0; i < 300000 || nested_tries < 20; i++) {
		const struct lc_sample *s;

		if (put(shared, 1, 40))
			refused++;
		else
			put_ok++;
		while ((s = lc_sample_log_peek(shared))) {
			assert_true(s->frames_len == 40 || s->frames_len == 3);
			assert_int_equal(s->frames[1], s->time_ns * 64 + 1);
			got++;
			lc_sample_log_drop(shared);
		}
	}
	setitimer(ITIMER_REAL, &off, NULL);
	sigaction(SIGALRM, &before, NULL);
	while (lc_sample_log_peek(shared)) {
		got++;
		lc_sample_log_drop(shared);
	}
	assert_int_equal(got, put_ok + (uint64_t)(nested_tries - nested_refused));
	assert_int_equal(lc_sample_log_lost(shared), refused + (uint64_t)nested_refused);
	lc_sample_log_destroy(shared);
}

enum { RACE_RECORDS = 200000 };

static void *produce(void *log)
{
	for (uint64_t i = 1; i <= RACE_RECORDS; i++)
		while (put(log, i, (int)(i % 50)))
			sched_yield();
	return NULL;
}

static void reader_on_another_thread_sees_whole_records_in_order(void **state)
{
	struct lc_sample_log *log = make(16384);
	pthread_t producer;
	uint64_t next = 1;

	assert_int_equal(pthread_create(&producer, NULL, produce, log), 0);
	while (next <= RACE_RECORDS) {
		if (lc_sample_log_peek(log)) {
			take(log, next, (int)(next % 50));
			next++;
		} else {
			sched_yield();
		}
	}
	pthread_join(producer, NULL);
	assert_null(lc_sample_log_peek(log));
	lc_sample_log_destroy(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_that_are_no_power_of_two_are_refused),
		cmocka_unit_test(destroying_nothing_is_allowed),
		cmocka_unit_test(empty_log_gives_nothing_and_drop_does_no_harm),
		cmocka_unit_test(records_of_all_sizes_survive_many_turns_of_the_ring),
		cmocka_unit_test(full_log_refuses_counts_and_keeps_the_oldest),
		cmocka_unit_test(a_reset_log_is_as_new),
		cmocka_unit_test(codes_below_zero_carry_no_frames),
		cmocka_unit_test(half_full_is_told_at_half),
		cmocka_unit_test(appends_inside_an_append_are_refused_or_whole),
		cmocka_unit_test(reader_on_another_thread_sees_whole_records_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
