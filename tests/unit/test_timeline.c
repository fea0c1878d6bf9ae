/* uses: src/span/clock/timeline.c src/span/clock/timeline_rows.c src/core/thread.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_timeline.c - checks CPU time and switches in stretches of 100 ms: the arithmetic, and live
 * threads against what they measure themselves.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/time.h"
#include "src/core/thread.h"
#include "src/span/clock/timeline.h"
#include "src/span/clock/timeline_impl.h"
#include "tests/unit/counter.h"

#define MS UINT64_C(1000000)
#define ROW_NS LC_TIMELINE_NS

enum { JVM_INDEX = 77 };

static struct lc_vector new_rows(void)
{
	return (struct lc_vector){ .element_bytes = sizeof(struct lc_block_timeline) };
}

static const struct lc_block_timeline *row(const struct lc_vector *rows, size_t i)
{
	assert_true(i < rows->len);
	return (const struct lc_block_timeline *)rows->data + i;
}

static void check_row(const struct lc_vector *rows, size_t i, uint64_t start, uint64_t cpu,
                      uint64_t voluntary, uint64_t involuntary)
{
	assert_int_equal(row(rows, i)->start_ns, start);
	assert_int_equal(row(rows, i)->cpu_ns, cpu);
	assert_int_equal(row(rows, i)->voluntary, voluntary);
	assert_int_equal(row(rows, i)->involuntary, involuntary);
}

/* -- arithmetic ----------------------------------------------------------------------------- */

static void within_a_stretch_is_one_row(void **state)
{
	struct lc_vector rows = new_rows();

	assert_int_equal(lc_timeline_spread(&rows, 3 * ROW_NS + 10, 3 * ROW_NS + 20,
	                                    &(struct lc_timeline_amount){ 7, 2, 1 }),
	                 0);
	assert_int_equal(lc_timeline_spread(&rows, 3 * ROW_NS + 20, 4 * ROW_NS,
	                                    &(struct lc_timeline_amount){ 5, 0, 1 }),
	                 0);
	assert_int_equal(rows.len, 1);
	check_row(&rows, 0, 3 * ROW_NS, 12, 2, 2);
	free(rows.data);
}

static void over_several_it_is_spread_by_time_and_adds_up(void **state)
{
	struct lc_vector rows = new_rows();

	/* Half a stretch, one, a quarter. */
	assert_int_equal(lc_timeline_spread(&rows, ROW_NS + ROW_NS / 2, 3 * ROW_NS + ROW_NS / 4,
	                                    &(struct lc_timeline_amount){ 7000, 70, 1 }),
	                 0);
	assert_int_equal(rows.len, 3);
	check_row(&rows, 0, ROW_NS, 2000, 20, 0);
	check_row(&rows, 1, 2 * ROW_NS, 4000, 40, 0);
	check_row(&rows, 2, 3 * ROW_NS, 1000, 10, 1);
	free(rows.data);
}

static void nothing_makes_no_row(void **state)
{
	struct lc_vector rows = new_rows();

	lc_timeline_spread(&rows, 0, 50 * ROW_NS, &(struct lc_timeline_amount){ 0 });
	assert_int_equal(rows.len, 0);
	/* No time has passed: to the stretch that it ends in. */
	lc_timeline_spread(&rows, 2 * ROW_NS, 2 * ROW_NS, &(struct lc_timeline_amount){ 1, 0, 0 });
	lc_timeline_spread(&rows, 2 * ROW_NS, ROW_NS + 1, &(struct lc_timeline_amount){ 1, 0, 0 });
	assert_int_equal(rows.len, 1);
	check_row(&rows, 0, ROW_NS, 2, 0, 0);
	free(rows.data);
}

static void rows_stay_in_order(void **state)
{
	struct lc_vector rows = new_rows();

	for (unsigned i = 0; i < 1000; i++)
		lc_timeline_spread(&rows, 5000 * ROW_NS, (5001 + i) * ROW_NS,
		                   &(struct lc_timeline_amount){ 0, 0, 1 });
	lc_timeline_spread(&rows, 10 * ROW_NS, 11 * ROW_NS,
	                   &(struct lc_timeline_amount){ 1, 0, 0 });
	lc_timeline_spread(&rows, 5003 * ROW_NS, 5004 * ROW_NS,
	                   &(struct lc_timeline_amount){ 9, 0, 0 });
	assert_int_equal(rows.len, 1001);
	check_row(&rows, 0, 10 * ROW_NS, 1, 0, 0);
	check_row(&rows, 4, 5003 * ROW_NS, 9, 0, 1);
	for (size_t i = 1; i < rows.len; i++)
		assert_true(row(&rows, i)->start_ns > row(&rows, i - 1)->start_ns);
	free(rows.data);
}

static void the_status_file_is_read_by_its_names(void **state)
{
	uint64_t v = 5, i = 6;

	assert_true(lc_timeline_parse("Name:\tx\nvoluntary_ctxt_switches:\t150\n"
	                              "nonvoluntary_ctxt_switches:\t7\n",
	                              &v, &i));
	assert_int_equal(v, 150);
	assert_int_equal(i, 7);
	assert_false(lc_timeline_parse("Name:\tvoluntary_ctxt_switches:9\n", &v, &i));
	assert_false(lc_timeline_parse("\nvoluntary_ctxt_switches:\t150\n", &v, &i));
	assert_false(lc_timeline_parse("\nvoluntary_ctxt_switches:\t\n"
	                               "nonvoluntary_ctxt_switches:\t7\n",
	                               &v, &i));
	assert_false(lc_timeline_parse("", &v, &i));
	assert_int_equal(v, 150);
}

static void what_was_taken_too_early_is_owed(void **state)
{
	uint64_t debt = 0;

	assert_int_equal(lc_timeline_rest(100, 30, &debt), 70);
	assert_int_equal(lc_timeline_rest(100, 130, &debt), 0);
	assert_int_equal(debt, 30);
	assert_int_equal(lc_timeline_rest(100, 80, &debt), 0);
	assert_int_equal(debt, 10);
	assert_int_equal(lc_timeline_rest(100, 80, &debt), 10);
	assert_int_equal(debt, 0);
}

/* -- live threads --------------------------------------------------------------------------- */

struct live {
	unsigned busy_ms, sleeps; /* what to do */
	bool unknown;             /* it is none of Java's */
	bool end;                 /* at once; else when told */
	struct lc_thread *record;
	struct lc_timeline_amount least,
	    most; /* what it used, without and with what makes it known */
	_Atomic bool ready, done;
};

static _Atomic bool all_may_end;

static void read_self(struct lc_timeline_amount *out)
{
	struct timespec t;
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	*out = (struct lc_timeline_amount){ (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec,
		                            (uint64_t)r.ru_nvcsw, (uint64_t)r.ru_nivcsw };
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static struct lc_timeline_amount difference(const struct lc_timeline_amount *a,
                                            const struct lc_timeline_amount *b)
{
	return (struct lc_timeline_amount){ a->cpu_ns - b->cpu_ns, a->voluntary - b->voluntary,
		                            a->involuntary - b->involuntary };
}

static void *live(void *arg)
{
	struct live *l = arg;
	struct lc_timeline_amount first, before, now, last;

	read_self(&first);
	if (!l->unknown) {
		l->record = lc_thread_create((int32_t)syscall(SYS_gettid), "live", true);
		l->record->timeline = lc_timeline_thread_create(l->record->tid);
		lc_thread_publish(l->record);
	}
	l->ready = true;
	read_self(&before);
	for (unsigned i = 0; i < l->sleeps; i++)
		pause_ms(1);
	do
		read_self(&now);
	while (now.cpu_ns - before.cpu_ns < l->busy_ms * MS);
	l->done = true;
	while (!l->end && !all_may_end)
		pause_ms(20);
	read_self(&now);
	if (!l->unknown)
		lc_timeline_thread_ends(l->record->timeline);
	read_self(&last);
	l->least = difference(&now, &before);
	l->most = difference(&last, &first);
	return NULL;
}

static struct lc_timeline_amount add_up(const struct lc_block_input *in)
{
	struct lc_timeline_amount sum = { 0 };

	for (size_t i = 0; i < in->timeline_len; i++) {
		assert_int_equal(in->timeline[i].start_ns % LC_TIMELINE_NS, 0);
		sum.cpu_ns += in->timeline[i].cpu_ns;
		sum.voluntary += in->timeline[i].voluntary;
		sum.involuntary += in->timeline[i].involuntary;
	}
	return sum;
}

static void check_between(uint64_t got, uint64_t least, uint64_t most, uint64_t tolerance)
{
	if (got + tolerance < least || got > most + tolerance)
		fail_msg("%lu is not in %lu .. %lu", (unsigned long)got, (unsigned long)least,
		         (unsigned long)most);
}

static void check_used(const struct lc_timeline_amount *got, const struct live *l)
{
	check_between(got->cpu_ns, l->least.cpu_ns, l->most.cpu_ns, MS / 4);
	check_between(got->voluntary, l->least.voluntary, l->most.voluntary, 1);
	check_between(got->involuntary, l->least.involuntary, l->most.involuntary, 1);
}

static void free_record(struct lc_thread *t)
{
	lc_threads_lock();
	lc_threads_unlink(t);
	lc_threads_unlock();
	lc_timeline_thread_free(t->timeline);
	free(t);
}

static void threads_get_what_they_used(void **state)
{
	enum { LIVE = 4 };
	struct live l[LIVE] = {
		{ .busy_ms = 300 },
		{ .sleeps = 200 },
		{ .busy_ms = 50, .end = true }, /* ends between two looks */
		{ .busy_ms = 200, .unknown = true },
	};
	struct lc_block_input in = { 0 };
	struct lc_timeline_amount sum;
	pthread_t threads[LIVE];
	bool done = false;

	assert_null(lc_timeline_thread_create((int32_t)getpid()));
	lc_timeline_init(JVM_INDEX);
	all_may_end = false;
	for (unsigned i = 0; i < LIVE; i++) {
		pthread_create(&threads[i], NULL, live, &l[i]);
		while (!l[i].ready)
			pause_ms(1);
	}
	while (!done) {
		uint64_t now = lc_time_now_ns(), next = lc_timeline_next_ns(now);

		assert_int_equal(next % LC_TIMELINE_NS, 0);
		assert_in_range(next - now, 1, LC_TIMELINE_NS);
		nanosleep(&(struct timespec){ .tv_nsec = (long)(next - now) }, NULL);
		lc_timeline_tick(lc_time_now_ns(), false);
		done = true;
		for (unsigned i = 0; i < LIVE; i++)
			done = done && l[i].done;
	}
	all_may_end = true;
	for (unsigned i = 0; i < LIVE; i++)
		pthread_join(threads[i], NULL);
	lc_timeline_tick(lc_time_now_ns(), true);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(lc_timeline_block(l[i].record->timeline, &in));
		sum = add_up(&in);
		check_used(&sum, &l[i]);
		lc_timeline_clear(l[i].record->timeline);
		assert_false(lc_timeline_block(l[i].record->timeline, &in));
	}
	assert_true(l[1].least.voluntary >= 200);
	assert_true(lc_timeline_jvm_block(&in));
	sum = add_up(&in);
	/* Beside the thread that is none of Java's, this one itself. */
	assert_in_range(sum.cpu_ns, l[3].least.cpu_ns - MS, l[3].most.cpu_ns + 200 * MS);
	assert_string_equal(in.name, "(JVM)");
	assert_int_equal(in.index, JVM_INDEX);
	lc_timeline_jvm_clear();
	assert_false(lc_timeline_jvm_block(&in));
	for (unsigned i = 0; i < 3; i++)
		free_record(l[i].record);
}

static void of_many_threads_those_that_rest_wait_their_turn(void **state)
{
	enum { MANY = 600 };
	static struct live l[MANY];
	static pthread_t threads[MANY];
	struct lc_block_input in = { 0 };
	struct lc_timeline_amount sum;
	uint64_t looks;

#ifdef __SANITIZE_THREAD__
	skip(); /* a look takes so long that all have run since the last one */
#endif
	lc_timeline_init(JVM_INDEX);
	all_may_end = false;
	for (unsigned i = 0; i < MANY; i++) {
		l[i] = (struct live){ .busy_ms = i ? 0 : 1500 };
		assert_int_equal(pthread_create(&threads[i], NULL, live, &l[i]), 0);
	}
	while (!l[0].done) {
		pause_ms(100);
		lc_timeline_tick(lc_time_now_ns(), false);
	}
	/* Threads that sleep 20 ms at a time do run; those that have not since the last look are
	 * skipped. */
	all_may_end = true;
	for (unsigned i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	const uint64_t before_looks = counter("span_timeline_looks");
	pause_ms(100);
	lc_timeline_tick(lc_time_now_ns(), false);
	looks = counter("span_timeline_looks") - before_looks;
	assert_int_equal(looks, 0); /* all have told their end */
	assert_true(counter("span_timeline_deferred") > 0);
	for (unsigned i = 0; i < MANY; i++) {
		assert_true(lc_timeline_block(l[i].record->timeline, &in));
		sum = add_up(&in);
		check_used(&sum, &l[i]);
		free_record(l[i].record);
	}
	fprintf(stderr, "%lu looks, %lu reads, %lu deferred, %.1f us each\n",
	        (unsigned long)counter("span_timeline_looks"),
	        (unsigned long)counter("span_timeline_reads"),
	        (unsigned long)counter("span_timeline_deferred"),
	        (double)counter("span_timeline_us") / 1e3 /
	            (double)(counter("span_timeline_looks")));
}

static void what_was_used_before_the_beginning_is_not_counted(void **state)
{
	struct live burner = { .busy_ms = 100, .unknown = true, .end = true };
	struct live kept = { .busy_ms = 100 };
	struct lc_block_input in = { 0 };
	pthread_t threads[2];

	lc_timeline_init(JVM_INDEX);
	all_may_end = false;
	pthread_create(&threads[0], NULL, live, &burner);
	pthread_create(&threads[1], NULL, live, &kept);
	while (!burner.done || !kept.done)
		pause_ms(5);
	pthread_join(threads[0], NULL);
	lc_timeline_begin();
	lc_timeline_tick(lc_time_now_ns(), true);
	if (lc_timeline_jvm_block(&in))
		assert_in_range(add_up(&in).cpu_ns, 0, 50 * MS);
	in = (struct lc_block_input){ 0 };
	all_may_end = true;
	pthread_join(threads[1], NULL);
	lc_timeline_thread_last(kept.record->timeline);
	lc_timeline_block(kept.record->timeline, &in);
	assert_in_range(add_up(&in).cpu_ns, 0, 50 * MS);
	assert_in_range(kept.least.cpu_ns, 100 * MS, UINT64_MAX);
	lc_timeline_jvm_clear();
	free_record(kept.record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_a_stretch_is_one_row),
		cmocka_unit_test(over_several_it_is_spread_by_time_and_adds_up),
		cmocka_unit_test(nothing_makes_no_row),
		cmocka_unit_test(rows_stay_in_order),
		cmocka_unit_test(the_status_file_is_read_by_its_names),
		cmocka_unit_test(what_was_taken_too_early_is_owed),
		cmocka_unit_test(threads_get_what_they_used),
		cmocka_unit_test(what_was_used_before_the_beginning_is_not_counted),
		cmocka_unit_test(of_many_threads_those_that_rest_wait_their_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
