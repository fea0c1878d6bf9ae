/* uses: src/span/clock/cycle_clock.c src/span/clock/cycle_clock_other.c src/span/clock/cycle_clock_rate.c src/span/clock/cycle_clock_records.c src/perf/ring.c src/perf/perf.c src/base/file.c -Wl,--wrap=clock_gettime,--wrap=syscall */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cycle_clock.c - checks that a thread's cycles are those that it ran, by
 * CLOCK_THREAD_CPUTIME_ID.
 *
 * The file is longer than 600 lines because all clocks pass the same tests, on pages laid out here
 * and on the kernel's.
 *
 * The machine may be busy: only what the thread itself ran is compared, never the time that passed.
 */
#include <errno.h>
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

#include "src/span/clock/cycle_clock_impl.h"
#include "tests/unit/counter.h"

#define MS UINT64_C(1000000)
#define TRIES 5 /* of a comparison, of which four are right */
/*
 * The kernel's time to switch to a thread that was waiting, at most: its CPU clock counts that,
 * the cycle clock does not. (A busy machine that is itself a guest: 20 to 60 us.)
 */
#define SWITCH_NS UINT64_C(200000)

/* The thread's CPU clock is ahead of the kernel's by so much. */
static uint64_t cpu_ahead_ns;
/* The next look at that clock is interrupted: the kernel writes so many bytes of records. */
static uint64_t records_meanwhile;
static _Atomic uint64_t head;
/* Opening an event fails, after so much CPU time; 0: the kernel is asked. */
static uint64_t opening_fails_after_ns;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	const int err = __real_clock_gettime(clock, t);

	if (clock != CLOCK_THREAD_CPUTIME_ID)
		return err;
	t->tv_sec += (time_t)(cpu_ahead_ns / 1000000000u);
	if (records_meanwhile) { /* 0 where several threads look */
		atomic_fetch_add(&head, records_meanwhile);
		records_meanwhile = 0;
	}
	return err;
}

long __wrap_syscall(long number, ...)
{
	long args[6];
	va_list list;

	if (number == SYS_perf_event_open && opening_fails_after_ns) {
		cpu_ahead_ns += opening_fails_after_ns;
		errno = EACCES;
		return -1;
	}
	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	return __real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t wall_ns(void)
{
	return ns_of(CLOCK_MONOTONIC);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void pause_ns(uint64_t ns)
{
	const struct timespec t = { .tv_nsec = (long)ns };

	nanosleep(&t, NULL);
}

static double seconds(uint64_t cycles)
{
	return (double)cycles / (double)lc_cycles_hz();
}

static void need(enum lc_cycles_kind kind)
{
	assert_int_equal(lc_cycles_init(kind), 0);
	if (lc_cycles_kind() == kind)
		return;
	fprintf(stderr, "no %s clock here: %s\n", lc_cycles_name(kind), lc_cycles_reason());
	skip();
}

/* -- what the kernel writes ----------------------------------------------------------------- */

static struct perf_event_mmap_page page;
static uint64_t counter_value;
static unsigned counter_reads;
static bool switch_while_reading;

static uint64_t fake_rdpmc(uint32_t counter)
{
	counter_reads++;
	assert_int_equal(counter, 2);
	if (switch_while_reading) {
		switch_while_reading = false;
		page.lock += 2;
		page.offset += 1000;
		counter_value = (UINT64_C(1) << 48) - 7; /* -7 */
	}
	return counter_value;
}

static void lay_out_page(void)
{
	memset(&page, 0, sizeof(page));
	page.cap_user_rdpmc = 1;
	page.pmc_width = 48;
	page.lock = 4;
	page.index = 3;
	page.offset = 5000;
	counter_value = 70;
	counter_reads = 0;
	switch_while_reading = false;
}

static void a_page_gives_offset_plus_counter(void **state)
{
	struct lc_cycles_page got;

	lay_out_page();
	assert_true(lc_cycles_page_read(&page, fake_rdpmc, &got));
	assert_int_equal(got.count, 5070);
	assert_int_equal(got.counter, 3);
	assert_int_equal(got.shift, 16);
	assert_int_equal(counter_reads, 1);
	counter_value = (UINT64_C(1) << 48) - 70;
	assert_true(lc_cycles_page_read(&page, fake_rdpmc, &got));
	assert_int_equal(got.count, 4930);
}

static void a_page_that_changes_is_read_again(void **state)
{
	struct lc_cycles_page got;

	lay_out_page();
	switch_while_reading = true;
	assert_true(lc_cycles_page_read(&page, fake_rdpmc, &got));
	assert_int_equal(counter_reads, 2);
	assert_int_equal(got.count, 5993);
	assert_int_equal((uint32_t)got.word, 6);
}

static void a_page_without_counter_gives_the_offset_and_says_so(void **state)
{
	struct lc_cycles_page got = { .count = 99 };

	lay_out_page();
	page.index = 0;
	assert_true(lc_cycles_page_read(&page, fake_rdpmc, &got));
	assert_int_equal(got.counter, 0);
	assert_int_equal(got.count, 5000);
	page.cap_user_rdpmc = 0;
	got.count = 99;
	assert_false(lc_cycles_page_read(&page, fake_rdpmc, &got));
	assert_int_equal(got.count, 99);
	assert_int_equal(counter_reads, 0);
	page.cap_user_rdpmc = 1;
	page.pmc_width = 0;
	page.index = 3;
	assert_false(lc_cycles_page_read(&page, fake_rdpmc, &got));
}

static void a_counter_is_read_fast_until_its_page_changes(void **state)
{
	struct lc_cycle_clock c;
	uint64_t tsc, first;

	assert_int_equal(lc_cycles_init(LC_CYCLES_TSC_COARSE), 0);
	lay_out_page();
	assert_int_equal(lc_cycles_open_page(&c, &page, fake_rdpmc), 0);
	first = lc_cycles_read_with(&c, &tsc, fake_rdpmc); /* slow: takes the page */
	assert_int_equal(first, 0);
	counter_reads = 0;
	counter_value = 170;
	assert_int_equal(lc_cycles_read_with(&c, &tsc, fake_rdpmc), 100);
	assert_int_equal(counter_reads, 1);
	/* Switched out and in: 30 more were counted, the counter starts anew. */
	page.lock += 2;
	page.offset += 130;
	counter_value = 1;
	counter_reads = 0;
	assert_int_equal(lc_cycles_read_with(&c, &tsc, fake_rdpmc), 61);
	assert_int_equal(counter_reads, 2);
	counter_value = 3;
	assert_int_equal(lc_cycles_read_with(&c, &tsc, fake_rdpmc), 63);
	assert_int_equal(counter_reads, 3);
	/* A change between the reading and the look at the page. */
	switch_while_reading = true;
	assert_int_equal(lc_cycles_read_with(&c, &tsc, fake_rdpmc), 5000 + 130 + 1000 - 7 - 5070);
	lc_cycles_close(&c);
}

static void a_counter_taken_away_leaves_a_coarse_clock(void **state)
{
	struct lc_cycle_clock c;
	uint64_t tsc, begin_ns, now;

	assert_int_equal(lc_cycles_init(LC_CYCLES_TSC_COARSE), 0);
	const uint64_t before_coarse = counter("span_clocks_coarse");
	lay_out_page();
	assert_int_equal(lc_cycles_open_page(&c, &page, fake_rdpmc), 0);
	lc_cycles_read_with(&c, &tsc, fake_rdpmc);
	page.lock += 2;
	page.index = 0;
	begin_ns = cpu_ns();
	lc_cycles_read_with(&c, &tsc, fake_rdpmc);
	while (cpu_ns() - begin_ns < 20 * MS)
		;
	counter_reads = 0;
	now = lc_cycles_read_with(&c, &tsc, fake_rdpmc);
	assert_int_equal(counter_reads, 0);
	assert_true(now >= lc_cycles_of_ns(19 * MS));
	assert_int_equal(counter("span_clocks_coarse") - before_coarse, 1);
	lc_cycles_close(&c);
}

struct record {
	struct perf_event_header header;
	uint64_t time_ns;
};

_Static_assert(sizeof(struct record) == LC_CYCLES_RECORD_BYTES, "as the kernel lays it out");

static struct record out_at(uint64_t ns)
{
	return (struct record){ { PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 16 }, ns };
}

static struct record in_at(uint64_t ns)
{
	return (struct record){ { PERF_RECORD_SWITCH, 0, 16 }, ns };
}

static void pairs_add_up(void **state)
{
	const struct record r[4] = { out_at(100), in_at(150), out_at(1000), in_at(1007) };
	struct lc_cycles_switches s = { 0 };

	lc_cycles_switches_read((const uint8_t *)r, sizeof(r), 0, sizeof(r), &s);
	assert_int_equal(s.off_ns, 57);
	assert_int_equal(s.outs, 2);
	assert_int_equal(s.out_ns, 0);
}

static void half_pairs_are_completed_or_passed_over(void **state)
{
	/* The ring has turned: its third record is the oldest. */
	const struct record r[4] = { in_at(500), out_at(900), in_at(100), out_at(300) };
	const struct record next[1] = { in_at(950) };
	struct lc_cycles_switches s = { 0 };

	lc_cycles_switches_read((const uint8_t *)r, sizeof(r), 32, 96, &s);
	assert_int_equal(s.off_ns, 200);
	assert_int_equal(s.outs, 2);
	assert_int_equal(s.out_ns, 900);
	lc_cycles_switches_read((const uint8_t *)next, sizeof(next), 0, sizeof(next), &s);
	assert_int_equal(s.off_ns, 250);
	assert_int_equal(s.out_ns, 0);
	/* Time that goes back is no time. */
	s.out_ns = 2000;
	lc_cycles_switches_read((const uint8_t *)next, sizeof(next), 0, sizeof(next), &s);
	assert_int_equal(s.off_ns, 250);
}

/* -- clocks that are laid out here ----------------------------------------------------------- */

/* A busy machine does not delay a test by half of it. */
#define HOUR_NS (3600 * 1000 * MS)

static struct lc_cycle_source source;
static struct record *records;

/* The calling thread's, as the kernel counts them. */
static uint64_t thread_switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (uint64_t)u.ru_nvcsw + (uint64_t)u.ru_nivcsw;
}

static uint64_t hours(unsigned n)
{
	return lc_cycles_of_ns(n * HOUR_NS);
}

/* A clock that says so many hours; its last checkpoint is of now, and says `checkpoint` hours. */
static struct lc_cycle_clock clock_at(unsigned says, unsigned checkpoint)
{
	const uint64_t tsc = __rdtsc();

	source = (struct lc_cycle_source){ .kind = LC_CYCLES_TSC_SWITCHES,
		                           .fd = -1,
		                           .rusage_switches = thread_switches(),
		                           .cpu_ns = cpu_ns(),
		                           .cpu_value = hours(checkpoint),
		                           .cpu_tsc = tsc };
	atomic_store(&head, 0);
	return (struct lc_cycle_clock){
		.source = &source, .head = &head, .off = tsc - hours(says), .check = UINT64_MAX
	};
}

/* Its reading, in hours. */
static unsigned hours_of(struct lc_cycle_clock *c)
{
	return (unsigned)(((double)lc_cycles_now(c) / (double)hours(1)) + 0.5);
}

static int lay_out_records(void **state)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	records = calloc(2, page_bytes);
	return !records || lc_cycles_init(LC_CYCLES_TSC_COARSE);
}

static int drop_records(void **state)
{
	free(records);
	return 0;
}

/* The kernel writes a record: they begin behind the first page. */
static void write_record(struct record r)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const uint64_t at = atomic_load(&head);

	records[(page_bytes + at % page_bytes) / sizeof(r)] = r;
	atomic_store(&head, at + sizeof(r));
}

/* The thread was switched, as the kernel counts it for a young clock. */
static void switched(void)
{
	source.rusage_switches--;
}

/*
 * Two hours of CPU time were used, one of them by the readings. The switch after them has the clock
 * ask the CPU clock, which knows nothing of that.
 */
static void what_young_readings_took_is_taken_off_once(void **state)
{
	struct lc_cycle_clock c = clock_at(1, 2);

	c.check = 0; /* young */
	source.young_cost = hours(1);
	switched();
	assert_int_equal(hours_of(&c), 1);
	switched();
	assert_int_equal(hours_of(&c), 1);
}

/* The TSC of this test does not count that hour, so that it is missing where it is taken off. */
static void what_growing_up_took_is_taken_off_once(void **state)
{
	struct lc_cycle_clock c = clock_at(3, 3);

	c.check = 0;
	source.young_readings = 16;
	opening_fails_after_ns = HOUR_NS;
	assert_in_range(hours_of(&c), 2, 3); /* 3: the thread was switched just now */
	opening_fails_after_ns = 0;
	assert_int_equal(source.kind, LC_CYCLES_TSC_COARSE);
}

/* Two hours have passed since the clock was at 1: one and a half pages of records are lost. */
static void without_its_records_the_cpu_clock_tells_what_the_thread_ran(void **state)
{
	struct lc_cycle_clock c = clock_at(3, 1);
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	source.map = records;
	atomic_store(&head, page_bytes + page_bytes / 2);
	cpu_ahead_ns += HOUR_NS;
	assert_int_equal(hours_of(&c), 2);
	assert_int_equal(c.seen, atomic_load(&head));
	assert_int_equal(c.switches, page_bytes * 3 / 2 / LC_CYCLES_RECORD_BYTES / 2);
	/* The CPU clock counts what a hypervisor took: more than the time that has passed. */
	c = clock_at(1, 1);
	source.map = records;
	atomic_store(&head, 2 * page_bytes);
	cpu_ahead_ns += HOUR_NS;
	assert_int_equal(hours_of(&c), 1);
}

static void switches_whose_records_are_lost_are_counted(void **state)
{
	struct lc_cycle_clock c = clock_at(1, 1);
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	source.map = records;
	atomic_store(&head, 2 * page_bytes);
	records_meanwhile = 2 * LC_CYCLES_RECORD_BYTES; /* while the CPU clock is read */
	assert_int_equal(hours_of(&c), 1);
	assert_int_equal(c.seen, 2 * page_bytes + 2 * LC_CYCLES_RECORD_BYTES);
	assert_int_equal(c.switches, page_bytes / LC_CYCLES_RECORD_BYTES + 1);
}

static void a_thread_is_out_from_one_record_to_the_next_unless_that_is_lost(void **state)
{
	struct lc_cycle_clock c = clock_at(1, 1);
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	source.map = records;
	write_record(out_at(1000));
	assert_int_equal(hours_of(&c), 1);
	c.off -= hours(1); /* which passes */
	write_record(in_at(1000 + HOUR_NS));
	assert_int_equal(hours_of(&c), 1);
	write_record(out_at(1000 + HOUR_NS));
	assert_int_equal(hours_of(&c), 1);
	atomic_fetch_add(&head, 2 * page_bytes); /* in, and out at another time */
	assert_int_equal(hours_of(&c), 1);
	write_record(in_at(1000 + 2 * HOUR_NS));
	assert_int_equal(hours_of(&c), 1);
}

/* -- live threads --------------------------------------------------------------------------- */

struct racer {
	pthread_barrier_t *start;
	unsigned cpu;
	double cycles_s, cpu_s; /* measured, true */
	uint64_t switches, backwards;
	int err;
};

static void pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static unsigned first_cpu(unsigned nth)
{
	cpu_set_t set;
	unsigned last = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (unsigned i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		last = i;
		if (!nth--)
			break;
	}
	return last;
}

static void *compete(void *arg)
{
	struct racer *r = arg;
	struct lc_cycle_clock c;
	uint64_t end_ns, begin, last, now, cpu;

	pin(r->cpu);
	r->err = lc_cycles_open(&c);
	pthread_barrier_wait(r->start);
	if (r->err)
		return NULL;
	end_ns = wall_ns() + 2000 * MS;
	cpu = cpu_ns();
	begin = last = lc_cycles_now(&c);
	while (wall_ns() < end_ns)
		for (unsigned i = 0; i < 1000; i++) {
			now = lc_cycles_now(&c);
			r->backwards += (int64_t)(now - last) < 0;
			last = now;
		}
	now = lc_cycles_now(&c);
	r->cpu_s = (double)(cpu_ns() - cpu) / 1e9;
	r->cycles_s = seconds(now - begin);
	r->switches = c.switches;
	lc_cycles_close(&c);
	return NULL;
}

static void race(struct racer *r)
{
	pthread_barrier_t start;
	pthread_t threads[2];

	pthread_barrier_init(&start, NULL, 2);
	for (unsigned i = 0; i < 2; i++) {
		r[i] = (struct racer){ .start = &start, .cpu = first_cpu(0) };
		assert_int_equal(pthread_create(&threads[i], NULL, compete, &r[i]), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&start);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(r[i].err, 0);
		fprintf(stderr, "%s: %.5f s of cycles, %.5f s true, %lu switches, %lu back\n",
		        lc_cycles_name(lc_cycles_kind()), r[i].cycles_s, r[i].cpu_s,
		        (unsigned long)r[i].switches, (unsigned long)r[i].backwards);
		assert_true(r[i].cpu_s < 1.5); /* it had to compete */
		assert_true(r[i].switches > 2);
	}
}

/* Ticks that a hypervisor took from all CPUs: the TSC counts them, threads' CPU clocks do not. */
static uint64_t stolen_ticks(void)
{
	FILE *f = fopen("/proc/stat", "r");
	unsigned long long stolen = 0;

	if (f && fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen) != 1)
		stolen = 0;
	if (f)
		fclose(f);
	return stolen;
}

static bool within_a_hundredth(const struct racer *r)
{
	return r->cycles_s > r->cpu_s * 0.99 && r->cycles_s < r->cpu_s * 1.01;
}

static bool within_a_look(const struct racer *r)
{
	const double bound = (double)LC_CYCLES_COARSE_NS / 1e9;

	return r->cycles_s > r->cpu_s * 0.995 - bound && r->cycles_s < r->cpu_s * 1.005 + bound;
}

/*
 * Is a comparison of cycles with CPU time right in four of five tries? On a busy machine an
 * interrupt, whose cycles count, spoils a try. A clock that is wrong in every second try has to
 * fail, so one right try proves nothing. A wrong try in which the hypervisor took CPU time is made
 * again; the test is skipped where the hypervisor leaves too few.
 */
static void assert_right(bool (*compare)(void))
{
	unsigned right = 0, wrong = 0;

	for (unsigned i = 0; i < 3 * TRIES; i++) {
		const uint64_t stolen = stolen_ticks();

		if (compare())
			right++;
		else if (stolen_ticks() == stolen)
			wrong++;
		if (right == TRIES - 1)
			return;
		if (wrong == 2)
			fail_msg("cycles are not CPU time in two tries, see above");
	}
	fprintf(stderr, "the hypervisor takes CPU time away all the time\n");
	skip();
}

static bool each_has_its_half(void)
{
	struct racer r[2];

	race(r);
	return within_a_hundredth(&r[0]) && within_a_hundredth(&r[1]);
}

static bool each_is_off_by_a_look(void)
{
	struct racer r[2];

	race(r);
	return within_a_look(&r[0]) && within_a_look(&r[1]);
}

static void competing_threads_get_their_own_half(void **state)
{
	need(LC_CYCLES_TSC_SWITCHES);
	assert_right(each_has_its_half);
}

static void coarse_cycles_are_off_by_a_look_at_most(void **state)
{
	need(LC_CYCLES_TSC_COARSE);
	assert_right(each_is_off_by_a_look);
}

/*
 * The cycles of the calling thread since it had `before` of them. A few are outside of what the
 * clock looked at.
 */
static void assert_switches(const struct lc_cycle_clock *c, uint64_t before, uint64_t least)
{
	uint64_t all = thread_switches() - before;

	fprintf(stderr, "%lu switches seen, %lu true\n", (unsigned long)c->switches,
	        (unsigned long)all);
	assert_in_range(c->switches, all - 5, all + 5);
	assert_in_range(all, least, UINT64_MAX);
}

static bool is_within(uint64_t cycles, uint64_t least_ns, uint64_t most_ns)
{
	return cycles >= lc_cycles_of_ns(least_ns) && cycles <= lc_cycles_of_ns(most_ns);
}

static bool sleep_is_free(void)
{
	enum { SLEEPS = 20 };
	struct lc_cycle_clock c;
	uint64_t cpu, begin, used;
	bool right;

	assert_int_equal(lc_cycles_open(&c), 0);
	cpu = cpu_ns();
	begin = lc_cycles_now(&c);
	for (unsigned i = 1; i <= SLEEPS; i++) {
		pause_ns(5 * MS);
		while (cpu_ns() - cpu < i * MS)
			lc_cycles_now(&c);
	}
	used = lc_cycles_now(&c) - begin;
	cpu = cpu_ns() - cpu;
	assert_true(c.switches >= SLEEPS);
	fprintf(stderr, "asleep: %.5f s of cycles, %.5f s true\n", seconds(used),
	        (double)cpu / 1e9);
	/* The time is part of the 120 ms that have passed. */
	right = is_within(used, cpu - least(cpu / 2, c.switches * SWITCH_NS), cpu + 5 * MS);
	lc_cycles_close(&c);
	return right;
}

static void sleep_costs_no_cycles(void **state)
{
	need(LC_CYCLES_TSC_SWITCHES);
	assert_right(sleep_is_free);
}

/* Works and sleeps in turns, over `readings` readings. */
static bool young_is_right(unsigned readings)
{
	struct lc_cycle_clock c;
	uint64_t cpu, begin, used = 0, switches;
	bool right;

	assert_int_equal(lc_cycles_open_young(&c), 0);
	assert_null(c.source->map);
	switches = thread_switches();
	begin = lc_cycles_now(&c);
	cpu = cpu_ns();
	for (unsigned i = 1; i < readings; i++) {
		pause_ns(3 * MS);
		while (cpu_ns() - cpu < i * MS)
			;
		used = lc_cycles_now(&c) - begin;
	}
	cpu = cpu_ns() - cpu;
	assert_int_equal(c.source->map != NULL, readings > 17);
	assert_switches(&c, switches, readings - 1);
	fprintf(stderr, "young: %.5f s of cycles, %.5f s true\n", seconds(used), (double)cpu / 1e9);
	right = is_within(used, cpu / 100 * 97, cpu / 100 * 102);
	lc_cycles_close(&c);
	return right;
}

static bool few_readings_are_right(void)
{
	return young_is_right(8);
}

static bool many_readings_are_right(void)
{
	return young_is_right(40);
}

static void a_young_clock_asks_the_kernel_and_grows_up(void **state)
{
	need(LC_CYCLES_TSC_SWITCHES);
	assert_right(few_readings_are_right);
	assert_right(many_readings_are_right);
}

/* The cost of the readings is not in its cycles. */
static bool readings_are_free(void)
{
	struct lc_cycle_clock c;
	uint64_t begin, used, all;

	assert_int_equal(lc_cycles_open_young(&c), 0);
	begin = lc_cycles_now(&c);
	all = __rdtsc();
	for (unsigned i = 0; i < 15; i++)
		used = lc_cycles_now(&c) - begin;
	all = __rdtsc() - all;
	fprintf(stderr, "15 young readings: %lu of %lu cycles\n", (unsigned long)used,
	        (unsigned long)all);
	assert_null(c.source->map);
	lc_cycles_close(&c);
	return used < all / 8;
}

static void readings_of_a_young_clock_are_no_cycles_of_it(void **state)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* a reading takes a tenth of what is read */
#endif
	need(LC_CYCLES_TSC_SWITCHES);
	assert_right(readings_are_free);
}

enum { CROWD = 12, CROWD_ROUNDS = 100 };

/* Returns by how much the clock went back at most, in cycles. */
static uint64_t largest_step_back(void)
{
	struct lc_cycle_clock c;
	uint64_t last, back = 0;

	assert_int_equal(lc_cycles_open_young(&c), 0);
	last = lc_cycles_now(&c);
	for (unsigned i = 0; i < 40; i++) {
		const uint64_t now = lc_cycles_now(&c);

		if ((int64_t)(last - now) > (int64_t)back)
			back = last - now;
		last = now;
	}
	lc_cycles_close(&c);
	return back;
}

static void *of_a_crowd(void *worst)
{
	for (unsigned i = 0; i < CROWD_ROUNDS; i++) {
		const uint64_t back = largest_step_back();

		if (back > *(uint64_t *)worst)
			*(uint64_t *)worst = back;
	}
	return NULL;
}

/* Threads that wait for a CPU are switched out while they read, and while their page is opened. */
static void time_off_the_cpu_while_it_reads_is_taken_off_once(void **state)
{
	uint64_t worst[CROWD] = { 0 };
	pthread_t threads[CROWD];

	need(LC_CYCLES_TSC_SWITCHES);
	for (unsigned i = 0; i < CROWD; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, of_a_crowd, &worst[i]), 0);
	for (unsigned i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < CROWD; i++)
		assert_true(worst[i] < lc_cycles_of_ns(MS / 4));
}

static bool overwritten_are_made_up_for(void)
{
	struct lc_cycle_clock c;
	uint64_t cpu, begin, used, wall, switches;
	bool right;

	assert_int_equal(lc_cycles_open(&c), 0);
	switches = thread_switches();
	const uint64_t before_wrapped = counter("span_clock_wrapped");
	begin = lc_cycles_now(&c);
	wall = wall_ns();
	cpu = cpu_ns();
	for (unsigned i = 0; i < 1000; i++)
		pause_ns(50000);
	while (cpu_ns() - cpu < 50 * MS)
		;
	used = lc_cycles_now(&c) - begin;
	cpu = cpu_ns() - cpu;
	wall = wall_ns() - wall;
	assert_int_equal(counter("span_clock_wrapped") - before_wrapped, 1);
	assert_switches(&c, switches, 200); /* more than the records' page holds */
	fprintf(stderr, "overwritten: %.5f s of cycles, %.5f s true, %.5f s passed\n",
	        seconds(used), (double)cpu / 1e9, (double)wall / 1e9);
	right = is_within(used, cpu / 100 * 99, cpu / 100 * 101);
	/* And it goes on from there. */
	pause_ns(10 * MS);
	begin = lc_cycles_now(&c);
	cpu = cpu_ns();
	while (cpu_ns() - cpu < 20 * MS)
		;
	used = lc_cycles_now(&c) - begin;
	cpu = cpu_ns() - cpu;
	lc_cycles_close(&c);
	return right && is_within(used, cpu / 100 * 95, cpu / 100 * 105);
}

static void overwritten_records_are_made_up_for(void **state)
{
	need(LC_CYCLES_TSC_SWITCHES);
	assert_right(overwritten_are_made_up_for);
}

static bool migrated_loses_nothing(void)
{
	const unsigned a = first_cpu(0), b = first_cpu(1);
	struct lc_cycle_clock c;
	cpu_set_t set;
	uint64_t cpu, begin, used, last, switches;
	bool right;

	sched_getaffinity(0, sizeof(set), &set);
	assert_int_equal(lc_cycles_open(&c), 0);
	switches = thread_switches();
	cpu = cpu_ns();
	last = begin = lc_cycles_now(&c);
	for (unsigned i = 0; i < 200; i++) {
		uint64_t part = cpu_ns();

		pin(i % 2 ? a : b);
		while (cpu_ns() - part < MS)
			;
		used = lc_cycles_now(&c);
		assert_true((int64_t)(used - last) > 0);
		last = used;
	}
	used = lc_cycles_now(&c) - begin;
	cpu = cpu_ns() - cpu;
	sched_setaffinity(0, sizeof(set), &set);
	fprintf(stderr, "migrating: %.5f s of cycles, %.5f s true\n", seconds(used),
	        (double)cpu / 1e9);
	assert_switches(&c, switches, 100);
	right = is_within(used, cpu - least(cpu / 2, c.switches * SWITCH_NS), cpu / 100 * 102);
	lc_cycles_close(&c);
	return right;
}

static void migration_loses_nothing(void **state)
{
	need(LC_CYCLES_TSC_SWITCHES);
	if (first_cpu(0) == first_cpu(1))
		skip();
	assert_right(migrated_loses_nothing);
}

static bool without_a_buffer_it_is_coarse(void)
{
	struct rlimit before, none;
	struct lc_cycle_clock c;
	uint64_t cpu, begin;

	const uint64_t first_coarse = counter("span_clocks_coarse"),
	               first_threads = counter("span_clocks");
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	assert_int_equal(lc_cycles_open(&c), 0);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(counter("span_clocks_coarse") - first_coarse, 1);
	assert_int_equal(counter("span_clocks") - first_threads, 1);
	begin = lc_cycles_now(&c);
	cpu = cpu_ns();
	pause_ns(50 * MS);
	while (cpu_ns() - cpu < 20 * MS)
		;
	cpu = cpu_ns() - cpu;
	begin = lc_cycles_now(&c) - begin;
	lc_cycles_close(&c);
	return is_within(begin, cpu - LC_CYCLES_COARSE_NS - MS, cpu + LC_CYCLES_COARSE_NS + MS);
}

static void without_a_buffer_a_thread_is_coarse_and_counted(void **state)
{
	need(LC_CYCLES_TSC_SWITCHES);
	assert_right(without_a_buffer_it_is_coarse);
}

static void no_files_are_kept(void **state)
{
	struct lc_cycle_clock c[3];
	int first = dup(0), then;

	need(LC_CYCLES_TSC_SWITCHES);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(lc_cycles_open(&c[i]), 0);
	then = dup(0);
	assert_int_equal(then, first + 1);
	close(first);
	close(then);
	for (unsigned i = 0; i < 3; i++)
		lc_cycles_close(&c[i]);
	lc_cycles_close(&c[0]); /* nothing */
}

/* -- rate ----------------------------------------------------------------------------------- */

static int64_t tsc_error_ns(void)
{
	uint64_t best = UINT64_MAX;
	int64_t error = 0;

	for (unsigned i = 0; i < 50; i++) {
		uint64_t before = wall_ns(), tsc = __rdtsc(), after = wall_ns();

		if (after - before < best) {
			best = after - before;
			error = (int64_t)(lc_cycles_tsc_to_ns(tsc) - before);
		}
	}
	return error;
}

static void the_tsc_tells_the_time(void **state)
{
	uint64_t hz;

	assert_int_equal(lc_cycles_init(LC_CYCLES_TSC_COARSE), 0);
	hz = lc_cycles_hz();
	assert_in_range(labs(tsc_error_ns()), 0, 20000);
	pause_ns(500 * MS);
	fprintf(stderr, "TSC %lu Hz, after half a second %ld ns off; ", (unsigned long)hz,
	        (long)tsc_error_ns());
	assert_in_range(labs(tsc_error_ns()), 0, 500000); /* the first rate: 1 in 1000 at worst */
	lc_cycles_refine();
	fprintf(stderr, "refined %lu Hz, %ld ns off\n", (unsigned long)lc_cycles_hz(),
	        (long)tsc_error_ns());
	assert_in_range(labs(tsc_error_ns()), 0, 20000);
	assert_in_range(lc_cycles_hz(), hz - hz / 1000, hz + hz / 1000);
	assert_int_equal(lc_cycles_rate_unstable(), 0);
	hz = lc_cycles_of_ns(1000 * MS);
	assert_in_range(hz, lc_cycles_hz() - 1, lc_cycles_hz() + 1);
	assert_in_range(lc_cycles_tsc_to_ns(__rdtsc() - hz) + 1000 * MS, wall_ns() - MS,
	                wall_ns() + MS);
}

/*
 * A TSC of a rate that the test chooses: second `i` after the first pair, read `off_ns` too late.
 */
static struct lc_cycles_pair pair_at(uint64_t ns, uint64_t hz, int64_t off_ns)
{
	return (struct lc_cycles_pair){ .tsc = 1000 + (uint64_t)((double)ns * (double)hz / 1e9),
		                        .ns = 5000 + ns + (uint64_t)off_ns,
		                        .width = 60 };
}

static int64_t error_at(const struct lc_cycles_pair *true_pair)
{
	return (int64_t)(lc_cycles_tsc_to_ns(true_pair->tsc) - true_pair->ns);
}

static void a_rate_that_was_measured_badly_is_refined(void **state)
{
	const uint64_t hz = UINT64_C(2000000000), hour = 3600 * 1000 * MS;
	/* 200 ns in 20 ms: 10 parts in a million. */
	const struct lc_cycles_pair first = pair_at(0, hz, 0), second = pair_at(20 * MS, hz, 200),
	                            end = pair_at(hour, hz, 0);
	int64_t worst = 0;

	assert_int_equal(lc_cycles_rate_set(&first, &second), 0);
	assert_in_range(error_at(&end), 35000 * (int64_t)MS / 1000, 37000 * (int64_t)MS / 1000);
	for (uint64_t i = 1; i < 3600; i++) {
		/* Each second's pair is read up to 40 ns too early or too late. */
		const struct lc_cycles_pair now =
		    pair_at(i * 1000 * MS, hz, (int64_t)(i * 37 % 81) - 40);
		const struct lc_cycles_pair early = pair_at(i * 500 * MS, hz, 0);
		const int64_t before = (int64_t)lc_cycles_tsc_to_ns(early.tsc);

		assert_true(lc_cycles_rate_refine(&now));
		if (i > 1 && labs((int64_t)lc_cycles_tsc_to_ns(early.tsc) - before) > worst)
			worst = labs((int64_t)lc_cycles_tsc_to_ns(early.tsc) - before);
	}
	assert_in_range(labs(error_at(&end)), 0, 50);
	assert_in_range(worst, 1,
	                100); /* converted times jump by no more than the readings are off */
	assert_false(lc_cycles_rate_unstable());
}

static void a_rate_that_drifts_is_followed(void **state)
{
	const struct lc_cycles_pair first = pair_at(0, 2000000000, 0),
	                            second = pair_at(20 * MS, 2000000000, 0);
	struct lc_cycles_pair now;

	assert_int_equal(lc_cycles_rate_set(&first, &second), 0);
	for (uint64_t i = 1; i <= 100; i++) {
		/* One part in a million more each second: the time is still known to some 0.1
		 * ms. */
		now = pair_at(i * 1000 * MS, 2000000000 + i * 2000, 0);
		if (i > 1)
			assert_in_range(labs(error_at(&now)), 0, i * MS / 1000 + 100);
		assert_true(lc_cycles_rate_refine(&now));
		assert_in_range(labs(error_at(&now)), 0, 1);
		assert_in_range(lc_cycles_hz(), 2000000000 + i * 2000 - 2,
		                2000000000 + i * 2000 + 2);
	}
	assert_false(lc_cycles_rate_unstable());
}

static void a_pair_whose_readings_are_apart_changes_nothing(void **state)
{
	const struct lc_cycles_pair first = pair_at(0, 2000000000, 0),
	                            second = pair_at(20 * MS, 2000000000, 0);
	struct lc_cycles_pair late = pair_at(1000 * MS, 2000000000, 500000);

	assert_int_equal(lc_cycles_rate_set(&first, &second), 0);
	late.width = 2000000; /* 1 ms */
	assert_false(lc_cycles_rate_refine(&late));
	assert_int_equal(lc_cycles_hz(), 2000000000);
	late.width = 4000; /* 2 us: taken, wrong as it is */
	assert_true(lc_cycles_rate_refine(&late));
	assert_true(lc_cycles_hz() < 2000000000);
	late.tsc = 0; /* a TSC that went back */
	late.width = 10;
	assert_false(lc_cycles_rate_refine(&late));
}

static unsigned times_in(const char *text, const char *part)
{
	unsigned n = 0;

	for (; text && (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void a_rate_that_changes_is_told_once(void **state)
{
	static const char told[] = "the TSC's rate has changed";
	struct lc_cycles_pair first = pair_at(0, 2000000000, 0),
	                      second = pair_at(20 * MS, 2000000000, 0), now;

	assert_int_equal(lc_cycles_init(LC_CYCLES_TSC_COARSE), 0);
	assert_int_equal(lc_cycles_rate_set(&first, &second), 0);
	now = pair_at(1000 * MS, 2019000000, 0);
	assert_true(lc_cycles_rate_refine(&now));
	assert_int_equal(times_in(lc_cycles_reason(), told), 0); /* less than a hundredth */
	now = pair_at(2000 * MS, 1979000000, 0);
	assert_true(lc_cycles_rate_refine(&now));
	assert_int_equal(times_in(lc_cycles_reason(), told), 1);
	assert_int_equal(times_in(lc_cycles_reason(), told), 1);
	/* Another start knows nothing of it. */
	assert_int_equal(lc_cycles_init(LC_CYCLES_TSC_COARSE), 0);
	assert_int_equal(times_in(lc_cycles_reason(), told), 0);
}

static void a_duration_is_never_negative(void **state)
{
	const struct lc_cycles_pair first = pair_at(0, 2000000000, 0),
	                            second = pair_at(20 * MS, 2000000000, 0);

	assert_int_equal(lc_cycles_rate_set(&first, &second), 0);
	assert_int_equal(lc_cycles_tsc_between_ns(1000, 3000), 1000);
	assert_int_equal(lc_cycles_tsc_between_ns(3000, 3000), 0);
	assert_int_equal(lc_cycles_tsc_between_ns(3000, 2999), 0);
	assert_int_equal(lc_cycles_tsc_between_ns(0, 1000), 500); /* before the first pair */
}

static void what_is_missing_is_said(void **state)
{
	assert_int_equal(lc_cycles_init(LC_CYCLES_TSC_COARSE), 0);
	assert_int_equal(lc_cycles_kind(), LC_CYCLES_TSC_COARSE);
	assert_non_null(lc_cycles_reason());
	assert_int_equal(lc_cycles_init(LC_CYCLES_KINDS), 0);
	if (lc_cycles_kind() == LC_CYCLES_RDPMC)
		return;
	assert_non_null(lc_cycles_reason());
	fprintf(stderr, "%s: %s\n", lc_cycles_name(lc_cycles_kind()), lc_cycles_reason());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_gives_offset_plus_counter),
		cmocka_unit_test(a_page_that_changes_is_read_again),
		cmocka_unit_test(a_page_without_counter_gives_the_offset_and_says_so),
		cmocka_unit_test(a_counter_is_read_fast_until_its_page_changes),
		cmocka_unit_test(a_counter_taken_away_leaves_a_coarse_clock),
		cmocka_unit_test(pairs_add_up),
		cmocka_unit_test(half_pairs_are_completed_or_passed_over),
		cmocka_unit_test_setup_teardown(what_young_readings_took_is_taken_off_once,
		                                lay_out_records, drop_records),
		cmocka_unit_test_setup_teardown(what_growing_up_took_is_taken_off_once,
		                                lay_out_records, drop_records),
		cmocka_unit_test_setup_teardown(
		    without_its_records_the_cpu_clock_tells_what_the_thread_ran, lay_out_records,
		    drop_records),
		cmocka_unit_test_setup_teardown(switches_whose_records_are_lost_are_counted,
		                                lay_out_records, drop_records),
		cmocka_unit_test_setup_teardown(
		    a_thread_is_out_from_one_record_to_the_next_unless_that_is_lost,
		    lay_out_records, drop_records),
		cmocka_unit_test(competing_threads_get_their_own_half),
		cmocka_unit_test(coarse_cycles_are_off_by_a_look_at_most),
		cmocka_unit_test(sleep_costs_no_cycles),
		cmocka_unit_test(a_young_clock_asks_the_kernel_and_grows_up),
		cmocka_unit_test(readings_of_a_young_clock_are_no_cycles_of_it),
		cmocka_unit_test(time_off_the_cpu_while_it_reads_is_taken_off_once),
		cmocka_unit_test(overwritten_records_are_made_up_for),
		cmocka_unit_test(migration_loses_nothing),
		cmocka_unit_test(without_a_buffer_a_thread_is_coarse_and_counted),
		cmocka_unit_test(no_files_are_kept),
		cmocka_unit_test(the_tsc_tells_the_time),
		cmocka_unit_test(a_rate_that_was_measured_badly_is_refined),
		cmocka_unit_test(a_rate_that_drifts_is_followed),
		cmocka_unit_test(a_pair_whose_readings_are_apart_changes_nothing),
		cmocka_unit_test(a_rate_that_changes_is_told_once),
		cmocka_unit_test(a_duration_is_never_negative),
		cmocka_unit_test(what_is_missing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
