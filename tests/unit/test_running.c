/* uses: src/span/running.c src/span/frames/stack.c src/profile/tally.c src/format/section.c src/base/slab.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_running.c - looks at the spans of a thread from outside, with a clock of its own, and while
 * a thread begins and ends spans.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/spin.h"
#include "src/core/thread.h"
#include "src/profile/tally.h"
#include "src/span/clock/timeline.h"
#include "src/span/frames/stack.h"
#include "src/span/running.h"
#include "src/span/span.h"
#include "src/span/tasks/task.h"
#include "src/span/tasks/virtual.h"

enum { INNER = 10, OUTER = 20, SPANS = 4000, DEEP = 5 };

static const struct lc_span_costs costs = { .inner = INNER,
	                                    .anonymous = OUTER,
	                                    .task_inner = INNER };
static struct lc_span_pauses pauses;
static struct lc_span_thread s;
static struct lc_thread thread;
static uint64_t clock_now,
    clock_looks; /* what the thread's clock says, and how often it was asked */
static uint64_t timeline_cpu_ns;
static uint64_t first_number;
static bool folds;

/* A virtual thread that waits. */
static struct lc_span_frame waiting[2];
static struct lc_span_key waiting_keys[2];
static uint32_t waiting_len;

/* ---- in place of what is around ---- */

struct lc_thread *lc_threads_walk(void)
{
	return &thread;
}

unsigned lc_span_what(void)
{
	return 3;
}

bool lc_cycles_of_other(const struct lc_cycle_clock *c, int32_t tid, uint64_t *out)
{
	clock_looks++;
	*out = clock_now;
	return true;
}

uint64_t lc_cycles_of_ns(uint64_t ns)
{
	return ns;
}

uint64_t lc_cycles_tsc_to_ns(uint64_t tsc)
{
	return tsc;
}

uint64_t lc_timeline_cpu_ns(const struct lc_timeline_thread *t)
{
	return timeline_cpu_ns;
}

void lc_virtual_each(void (*visit)(void *of, struct lc_span_frame *frames,
                                   const struct lc_span_key *keys, uint32_t len),
                     void *of)
{
	if (waiting_len)
		visit(of, waiting, waiting_keys, waiting_len);
}

struct lc_span_frame *lc_task_folds_into(struct lc_span_frame *frames, struct lc_span_frame *f)
{
	return folds && f - 1 > frames ? f - 1 : NULL;
}

/* ---- a thread ---- */

static int set_up(void **state)
{
	memset(&pauses, 0, sizeof(pauses));
	memset(&thread, 0, sizeof(thread));
	if (lc_span_stack_init(&s, &costs, &pauses))
		return -1;
	s.last_number = first_number += UINT64_C(1) << LC_SPAN_NUMBER_BITS;
	thread.index = (uint32_t)(first_number >> LC_SPAN_NUMBER_BITS) - 1;
	atomic_store(&thread.spans, &s);
	clock_looks = timeline_cpu_ns = 0;
	clock_now = 0;
	folds = false;
	waiting_len = 0;
	return lc_tally_made(&thread.tally) ? 0 : -1;
}

static int tear_down(void **state)
{
	lc_tally_destroy(thread.tally);
	lc_span_stack_destroy(&s);
	return 0;
}

static struct lc_span_frame *begin_at(unsigned kind, uint32_t path, uint64_t now, uint64_t tsc)
{
	const struct lc_span_key key = { .kind = (uint8_t)kind, .path = path };
	struct lc_span_frame *f =
	    lc_span_push(&s, kind, kind < LC_SPAN_KINDS ? lc_span_slot_find(&s, &key) : NULL);

	if (kind < LC_SPAN_KINDS)
		f->number = lc_span_number(&s);
	memset(&f->task, 0, sizeof(f->task));
	lc_span_start(&s, f, now, tsc);
	return f;
}

/* A span that began long ago by the TSC. */
static struct lc_span_frame *begin(unsigned kind, uint32_t path, uint64_t now)
{
	return begin_at(kind, path, now, 1);
}

static void count(struct lc_span_frame *f, const struct lc_span_ended *e)
{
	lc_span_slot_add(f->slot, f, e);
}

/* The same as a hook. */
static void end(uint64_t now)
{
	struct lc_span_ended e;
	struct lc_span_frame *f = lc_span_pop(&s, now, 2, &e);

	if (!f->slot)
		return;
	if (!lc_span_is_watched(f)) {
		count(f, &e);
		return;
	}
	lc_spin_lock(&s.lock);
	count(f, &e);
	lc_span_watched_ended(&s, f);
	lc_spin_unlock(&s.lock);
}

/* ---- what the attribution thread finds ---- */

static const struct lc_block_running *rows;
static const struct lc_block_running_nested *inside;
static size_t rows_len, inside_len;

static void take(bool thread_ended)
{
	static struct lc_block_input in;

	lc_tally_clear(thread.tally);
	timeline_cpu_ns++; /* it has run */
	lc_spin_lock(&s.lock);
	lc_running_take(&thread, &s, thread_ended);
	lc_spin_unlock(&s.lock);
	lc_tally_block(thread.tally, &in);
	rows = in.running;
	rows_len = in.running_len;
	inside = in.running_nested;
	inside_len = in.running_nested_len;
}

static void look(uint64_t now)
{
	clock_now = now;
	lc_running_mark(true);
	take(false);
}

static void assert_row(size_t i, uint64_t number, uint64_t cycles, uint64_t compensated)
{
	assert_true(i < rows_len);
	assert_int_equal(rows[i].number, number);
	assert_int_equal(rows[i].cycles, cycles);
	assert_int_equal(rows[i].compensated, compensated);
	assert_int_equal(rows[i].ended, 0);
}

static void assert_ended(size_t i, uint64_t number)
{
	assert_true(i < rows_len);
	assert_int_equal(rows[i].number, number);
	assert_int_equal(rows[i].ended, 1);
}

/* ---- tests ---- */

static void an_open_span_tells_what_it_has_used_so_far(void **state)
{
	struct lc_span_frame *f = begin(LC_SPAN_ANONYMOUS, 7, 100);

	look(1100);
	assert_int_equal(rows_len, 1);
	assert_row(0, f->number, 1000, 1000 - INNER);
	assert_int_equal(rows[0].kind, LC_SPAN_ANONYMOUS);
	assert_int_equal(rows[0].path, 7);
	assert_int_equal(rows[0].begin_ns, 1);
	look(1100);
	assert_int_equal(rows_len, 0); /* nothing has changed */
	look(5100);
	assert_int_equal(rows_len, 1);
	assert_row(0, f->number, 5000, 5000 - INNER);
}

static void nested_ones_have_what_is_their_own(void **state)
{
	uint64_t outer, inner;

	outer = begin(LC_SPAN_ANONYMOUS, 1, 0)->number;
	begin(LC_SPAN_ANONYMOUS, 2, 100);
	end(300); /* inside the outer one */
	begin(LC_SPAN_KINDS, 0, 400);
	begin(LC_SPAN_ANONYMOUS, 3, 450);
	end(500); /* in the transparent frame */
	inner = begin(LC_SPAN_ANONYMOUS, 4, 600)->number;
	begin(LC_SPAN_ANONYMOUS, 5, 700);
	end(800);
	look(1000);
	assert_int_equal(rows_len, 2);
	assert_row(0, outer, 1000 - 200 - 50 - 400, 1000 - 650 - INNER - 2 * OUTER);
	assert_row(1, inner, 400 - 100, 300 - INNER - OUTER);
	assert_int_equal(inside_len, 2);
	assert_int_equal(inside[0].number, outer);
	assert_int_equal(inside[0].cycles,
	                 (200 - INNER) + (50 - INNER) + (300 - INNER - OUTER) + (100 - INNER));
	assert_int_equal(inside[1].number, inner);
	assert_int_equal(inside[1].cycles, 100 - INNER);
}

/* Line 1 is in itself: what the inner one has inside, the outer one has, without that one. */
static void a_place_inside_itself_has_what_is_inside_once(void **state)
{
	uint64_t outer;

	outer = begin(LC_SPAN_ANONYMOUS, 1, 0)->number;
	begin(LC_SPAN_ANONYMOUS, 1, 100);
	begin(LC_SPAN_ANONYMOUS, 2, 200);
	end(300);
	look(1000);
	assert_int_equal(rows_len, 2);
	assert_int_equal(inside_len, 1);
	assert_int_equal(inside[0].number, outer);
	assert_int_equal(inside[0].cycles, 100 - INNER);
	end(1100);
	look(2000);
	assert_int_equal(inside_len, 1);
	assert_int_equal(inside[0].cycles, 100 - INNER);
}

static void the_end_is_told_once_where_there_was_a_row(void **state)
{
	uint64_t first, second;

	first = begin(LC_SPAN_ANONYMOUS, 1, 0)->number;
	look(1000);
	second = begin(LC_SPAN_ANONYMOUS, 2, 1000)->number;
	end(1010);
	take(false);
	assert_int_equal(rows_len, 0); /* the second one had none; the first was shortened */
	end(2000);
	look(2000);
	assert_int_equal(rows_len, 1);
	assert_ended(0, first);
	assert_int_equal(rows[0].path, 1); /* of the same keys */
	look(3000);
	assert_int_equal(rows_len, 0);
	assert_int_not_equal(first, second);
}

static void short_spans_are_left_alone(void **state)
{
	struct lc_span_frame *f = begin_at(LC_SPAN_ANONYMOUS, 1, 0, __rdtsc());

	clock_now = 1000;
	lc_running_mark(false);
	take(false);
	assert_int_equal(rows_len, 0);
	assert_int_equal(clock_looks, 0);
	assert_int_equal(atomic_load(&f->watched), 0);
	begin(LC_SPAN_ANONYMOUS, 2, 0); /* inside of it, so it is as short */
	lc_running_mark(false);
	take(false);
	assert_int_equal(rows_len, 0);
}

static void a_thread_that_rests_is_not_asked_again(void **state)
{
	begin(LC_SPAN_THREAD, 0, 0);
	look(1000);
	assert_int_equal(clock_looks, 1);
	lc_running_mark(true);
	timeline_cpu_ns--;
	take(false);
	assert_int_equal(clock_looks, 1);
	look(1000);
	assert_int_equal(clock_looks, 2);
}

static void ends_that_were_lost_are_told_when_the_frame_is_dropped(void **state)
{
	struct lc_span_frame *f = begin(LC_SPAN_ANONYMOUS, 1, 0);
	uint64_t number = f->number;

	f->stack_pointer = 0x1000;
	look(1000);
	lc_span_drop(&s, 0x1000 + LC_SPAN_SLACK_BYTES + 8, 0);
	assert_true(lc_span_empty(&s));
	look(2000);
	assert_int_equal(rows_len, 1);
	assert_ended(0, number);
}

static void no_span_of_a_thread_that_has_ended_is_open(void **state)
{
	uint64_t number = begin(LC_SPAN_ANONYMOUS, 1, 0)->number;

	look(1000);
	take(true);
	assert_int_equal(rows_len, 1);
	assert_ended(0, number);
	take(true);
	assert_int_equal(rows_len, 0);
}

static void a_stack_that_grows_keeps_what_is_watched(void **state)
{
	uint64_t number = begin(LC_SPAN_ANONYMOUS, 1, 0)->number;

	look(1000);
	for (unsigned i = 0; i < 1000; i++)
		begin(LC_SPAN_ANONYMOUS, 2, 1000);
	for (unsigned i = 0; i < 1000; i++)
		end(1000);
	end(2000);
	look(2000);
	assert_int_equal(rows_len, 1);
	assert_ended(0, number);
}

static void a_task_inside_another_gives_it_its_cycles(void **state)
{
	uint64_t outer, inner;

	outer = begin(LC_SPAN_TASK, 0, 0)->number;
	inner = begin(LC_SPAN_TASK, 0, 400)->number;
	s.top->task.cycles = s.top->task.compensated = 5; /* of what was folded into it */
	folds = true;
	look(1000);
	assert_int_equal(rows_len, 2);
	assert_row(0, outer, 400 + 600 + 5, 1005 - 2 * INNER);
	assert_row(1, inner, 0, 0);
	assert_int_equal(rows[1].folded, 1);
	assert_int_equal(rows[0].folded, 0);
}

static void virtual_threads_that_wait_have_rows_as_well(void **state)
{
	waiting_len = 2;
	memset(waiting, 0, sizeof(waiting));
	waiting[0].number = first_number + 70;
	waiting[1].number = first_number + 71;
	waiting_keys[0] = (struct lc_span_key){ .kind = LC_SPAN_ANONYMOUS, .path = 3 };
	waiting_keys[1] = (struct lc_span_key){ .kind = LC_SPAN_ANONYMOUS, .path = 4 };
	waiting[0].begin = 900;
	waiting[0].inside = 100;
	waiting[1].begin = 200;
	waiting[0].kind = waiting[1].kind = LC_SPAN_ANONYMOUS;
	waiting[0].begin_tsc = waiting[1].begin_tsc = 1;
	look(0);
	assert_int_equal(rows_len, 2);
	assert_row(0, first_number + 70, 900 - 100 - 200, 600 - INNER);
	assert_row(1, first_number + 71, 200, 200 - INNER);
	look(0);
	assert_int_equal(rows_len, 0);
	assert_int_equal(atomic_load(&waiting[0].watched), LC_VIRTUAL_TOLD);
}

static _Atomic bool over;
static _Atomic unsigned looks;

/* Lets the other thread look twice: with spans that are open it tells some, however busy the
 * machine. */
static void await_looks(void)
{
	const unsigned before = atomic_load(&looks);

	while (atomic_load(&looks) - before < 2)
		sched_yield();
}

/*
 * A thread begins and ends spans in each other, each of a place of its own, while all that is open
 * is looked at again and again. At no moment has a span that is said to be open been counted.
 */
static void *run_spans(void *unused)
{
	uint32_t depth = 0;
	unsigned random = 1;

	for (uint32_t path = 1; path <= SPANS || depth;) {
		random = random * 1103515245 + 12345;
		if (path <= SPANS && depth < DEEP && (!depth || random >> 16 & 1)) {
			begin(LC_SPAN_ANONYMOUS, path, path);
			path++;
			depth++;
			if (path % (SPANS / 32) == 0)
				await_looks();
		} else {
			end(path);
			depth--;
		}
		for (unsigned i = 0; i < (random >> 20 & 255); i++)
			__builtin_ia32_pause();
	}
	atomic_store(&over, true);
	return NULL;
}

static void no_span_is_both_open_and_counted(void **state)
{
	static bool open[SPANS + 1];
	uint64_t told = 0, ended = 0;
	pthread_t runner;
	bool last;

	memset(open, 0, sizeof(open));
	atomic_store(&over, false);
	assert_int_equal(pthread_create(&runner, NULL, run_spans, NULL), 0);
	do {
		static struct lc_block_input in;
		const struct lc_span_slot *slot;

		last = atomic_load(&over);
		atomic_fetch_add(&looks, 1);
		lc_tally_clear(thread.tally);
		timeline_cpu_ns++;
		clock_now++;
		lc_running_mark(true);
		lc_spin_lock(&s.lock);
		lc_running_take(&thread, &s, false);
		lc_tally_block(thread.tally, &in);
		for (size_t i = 0; i < in.running_len; i++) {
			told += !in.running[i].ended && !open[in.running[i].path];
			ended += in.running[i].ended != 0;
			open[in.running[i].path] = !in.running[i].ended;
		}
		for (uint32_t i = 0; (slot = lc_span_stack_slot(&s, i)); i++) {
			if (open[slot->key.path])
				assert_int_equal(atomic_load(&slot->counts.executions), 0);
		}
		lc_spin_unlock(&s.lock);
	} while (!last);
	pthread_join(runner, NULL);
	assert_int_equal(lc_span_stack_slot(&s, SPANS - 1) != NULL, 1);
	assert_int_equal(told, ended);
	assert_true(told > 10);
	assert_int_equal(atomic_load(&s.unsettled), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_open_span_tells_what_it_has_used_so_far),
		TEST(nested_ones_have_what_is_their_own),
		TEST(a_place_inside_itself_has_what_is_inside_once),
		TEST(the_end_is_told_once_where_there_was_a_row),
		TEST(short_spans_are_left_alone),
		TEST(a_thread_that_rests_is_not_asked_again),
		TEST(ends_that_were_lost_are_told_when_the_frame_is_dropped),
		TEST(no_span_of_a_thread_that_has_ended_is_open),
		TEST(a_stack_that_grows_keeps_what_is_watched),
		TEST(a_task_inside_another_gives_it_its_cycles),
		TEST(virtual_threads_that_wait_have_rows_as_well),
		TEST(no_span_is_both_open_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
