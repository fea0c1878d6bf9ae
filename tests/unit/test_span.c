/* uses: src/span/frames/stack.c src/span/frames/interrupt.c src/base/slab.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_span.c - checks the stack of spans with a clock of its own: the numbers here were computed
 * by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/own_work.h"
#include "src/core/thread.h"
#include "src/span/frames/stack.h"
#include "src/span/span.h"

static const struct lc_span_costs costs = {
	.inner = 10,
	.anonymous = 20,
	.primordial = 30,
	.support = 40,
	.task = 50,
	.task_inner = 15,
	.hooks = { [LC_SPAN_HOOK_FLAT] = 25, [LC_SPAN_HOOK_CREATED] = 7 }
};
static struct lc_span_pauses pauses;
static struct lc_span_thread s;

static int set_up(void **state)
{
	memset(&pauses, 0, sizeof(pauses));
	return lc_span_stack_init(&s, &costs, &pauses);
}

static int tear_down(void **state)
{
	lc_span_stack_destroy(&s);
	return 0;
}

static struct lc_span_slot *slot(unsigned kind, unsigned level, uint32_t path)
{
	return lc_span_slot_find(
	    &s,
	    &(struct lc_span_key){ .kind = (uint8_t)kind, .level = (uint8_t)level, .path = path });
}

/* A span begins at cycle `now`; its hook's frame is at `stack_pointer`. */
static struct lc_span_frame *begin_at(unsigned kind, unsigned level, uint32_t path, uint64_t now,
                                      uint64_t stack_pointer)
{
	struct lc_span_frame *f;

	lc_span_arrive(&s, stack_pointer, kind + 1);
	f = lc_span_push(&s, kind, kind < LC_SPAN_KINDS ? slot(kind, level, path) : NULL);
	if (!f)
		return NULL;
	f->stack_pointer = stack_pointer;
	f->return_address = kind + 1;
	lc_span_start(&s, f, now, now + 1000);
	return f;
}

static struct lc_span_frame *begin(unsigned kind, unsigned level, uint32_t path, uint64_t now)
{
	return begin_at(kind, level, path, now, 0x100000 - now);
}

static struct lc_span_ended end(uint64_t now)
{
	struct lc_span_ended e = { 0 };
	struct lc_span_frame *f = lc_span_pop(&s, now, now + 1000, &e);

	if (f->slot)
		lc_span_slot_add(f->slot, f, &e);
	return e;
}

static uint64_t get(const _Atomic uint64_t *counter)
{
	return atomic_load(counter);
}

static void a_span_alone_pays_its_inner_cost(void **state)
{
	struct lc_span_slot *x = slot(LC_SPAN_ANONYMOUS, 0, 7);
	struct lc_span_ended e;

	begin(LC_SPAN_ANONYMOUS, 0, 7, 100);
	e = end(1100);
	assert_int_equal(e.total, 1000);
	assert_int_equal(e.cycles, 1000);
	assert_int_equal(e.compensated, 990);
	assert_int_equal(get(&x->counts.executions), 1);
	assert_int_equal(get(&x->counts.cycles), 1000);
	assert_int_equal(atomic_load(&x->counts.compensated), 990);
	assert_int_equal(get(&x->counts.wall_tsc), 1000);
	assert_int_equal(get(&x->first_tsc), 1100);
	assert_int_equal(get(&x->last_tsc), 2100);
	assert_int_equal(atomic_load(&x->counts.histogram[lc_span_bucket(990)]), 1);
	assert_true(lc_span_empty(&s));
}

/*
 * The handler's time is what the TSC says; only a switch in it, which moves the head, leaves it in.
 */
static void a_hook_costs_the_span_around_it_nothing(void **state)
{
	struct lc_span_ended e;

	begin(LC_SPAN_ANONYMOUS, 0, 7, 100);
	lc_span_hook_ran(&s, LC_SPAN_HOOK_FLAT);
	begin(LC_SPAN_ANONYMOUS, 1, 8, 300);
	lc_span_hook_ran(&s, LC_SPAN_HOOK_CREATED);
	assert_int_equal(end(400).compensated, 100 - 7 - 10);
	lc_span_hook_ran(&s, LC_SPAN_HOOK_FLAT);
	e = end(1100);
	assert_int_equal(e.cycles, 1000 - 2 * 25 - 100);
	assert_int_equal(e.compensated, 850 - 10 - 20);
}

static void samples_are_no_part_of_a_span(void **state)
{
	static _Atomic uint64_t head;
	struct lc_thread t = { .index = 0 };
	struct lc_span_interrupt i;
	uint64_t before, handled, spent;
	struct lc_span_ended e;

	lc_span_interrupted(&t, &i); /* no spans yet */
	lc_span_resumed(&t, &i);
	atomic_store(&t.spans, &s);
	s.clock.head = &head;
	s.clock.check = UINT64_MAX;
	begin(LC_SPAN_ANONYMOUS, 0, 1, 0);
	before = __rdtsc();
	lc_span_interrupted(&t, &i);
	handled = __rdtsc();
	while (__rdtsc() - handled < 10000)
		;
	lc_span_resumed(&t, &i);
	spent = __rdtsc() - before;
	e = end(1000000000);
	assert_int_equal(e.total, 1000000000);
	assert_in_range(1000000000 - e.cycles, 10000, spent);
	begin(LC_SPAN_ANONYMOUS, 0, 1, 0);
	lc_span_interrupted(&t, &i);
	atomic_fetch_add(&head, 1);
	lc_span_resumed(&t, &i);
	assert_int_equal(end(500).cycles, 500);
}

/* The next reading of the thread's cycle clock: its `check` is 0, so that it is asked each time. */
static uint64_t clock_now;

uint64_t lc_cycles_read_slowly(struct lc_cycle_clock *c, uint64_t *tsc)
{
	*tsc = __rdtsc();
	return clock_now;
}

static void work_begin(const struct lc_thread *t, struct lc_own_work *w, uint64_t now)
{
	clock_now = now;
	*w = (struct lc_own_work){ 0 };
	lc_span_work_begin(t, w);
}

static void work_end(const struct lc_thread *t, const struct lc_own_work *w, uint64_t now)
{
	clock_now = now;
	lc_span_work_end(t, w);
}

/*
 * outer 0..1000 holds work 100..150, and inner 200..700 which holds work 300..600. In that lie
 * other work 310..400 and two handlers, one in each, which are part of it; and the thread was
 * switched.
 */
static void work_of_the_agent_is_no_part_of_spans(void **state)
{
	static _Atomic uint64_t head;
	struct lc_thread t = { .index = 0 };
	struct lc_own_work outer, inner;
	struct lc_span_interrupt i;

	work_begin(&t, &outer, 5); /* no spans yet */
	atomic_store(&t.spans, &s);
	s.clock.head = &head;
	work_end(&t, &outer, 7);
	work_begin(&t, &outer, 10); /* in no span */
	work_end(&t, &outer, 20);
	begin(LC_SPAN_ANONYMOUS, 0, 1, 0);
	work_begin(&t, &outer, 100);
	work_end(&t, &outer, 150);
	begin(LC_SPAN_ANONYMOUS, 1, 2, 200);
	work_begin(&t, &outer, 300);
	lc_span_interrupted(&t, &i);
	lc_span_resumed(&t, &i);
	work_begin(&t, &inner, 310);
	atomic_fetch_add(&head, 1);
	lc_span_interrupted(&t, &i);
	lc_span_resumed(&t, &i);
	work_end(&t, &inner, 400);
	work_end(&t, &outer, 600);
	assert_int_equal(s.work, 0);
	assert_int_equal(end(700).cycles, 200);
	assert_int_equal(end(1000).cycles, 450);
}

/*
 * primordial 0..1000 holds support 100..400 (which holds anonymous 150..250) and anonymous
 * 500..600: it has 1000 - 300 - 100 = 600, less 40 + 20 + 10; the support span 300 - 100 = 200,
 * less 20 + 10.
 */
static void nested_spans_are_taken_off_with_what_they_cost(void **state)
{
	struct lc_span_slot *outer = slot(LC_SPAN_PRIMORDIAL, 0, 1);
	struct lc_span_ended e;

	begin(LC_SPAN_PRIMORDIAL, 0, 1, 0);
	begin(LC_SPAN_SUPPORT, 0, 1, 100);
	begin(LC_SPAN_ANONYMOUS, 1, 2, 150);
	assert_int_equal(end(250).compensated, 100 - 10);
	e = end(400);
	assert_int_equal(e.total, 300);
	assert_int_equal(e.cycles, 200);
	assert_int_equal(e.compensated, 200 - 20 - 10);
	begin(LC_SPAN_ANONYMOUS, 1, 3, 500);
	end(600);
	e = end(1000);
	assert_int_equal(e.cycles, 600);
	assert_int_equal(e.compensated, 600 - 40 - 20 - 10);
	assert_int_equal(get(&outer->counts.nested[0]), 1);
	assert_int_equal(get(&outer->counts.nested[1]), 0);
	assert_int_equal(get(&outer->counts.nested[2]), 1);
	assert_int_equal(get(&outer->counts.nested[3]), 0);
}

/*
 * Line 1, 0..1000, holds line 2, 100..600, which holds line 1 once more, 200..300, which holds line
 * 3, 220..260. Their own cycles are 470, 370, 30 and 30.
 */
static void a_place_inside_itself_has_what_is_inside_once(void **state)
{
	begin(LC_SPAN_ANONYMOUS, 0, 1, 0);
	begin(LC_SPAN_ANONYMOUS, 1, 2, 100);
	begin(LC_SPAN_ANONYMOUS, 2, 1, 200);
	begin(LC_SPAN_ANONYMOUS, 3, 3, 220);
	assert_int_equal(end(260).compensated, 30);
	assert_int_equal(end(300).compensated, 30);
	assert_int_equal(end(600).compensated, 370);
	assert_int_equal(end(1000).compensated, 470);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 0, 1)->counts.inside), 370 + 30);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 0, 1)->counts.inside_streams), 2);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 1, 2)->counts.inside), 30 + 30);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 2, 1)->counts.inside), 0);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 3, 3)->counts.inside), 0);
	/* And a second time by itself. */
	begin(LC_SPAN_ANONYMOUS, 2, 1, 2000);
	begin(LC_SPAN_KINDS, 0, 0, 2050);
	begin(LC_SPAN_ANONYMOUS, 3, 3, 2100);
	end(2200);
	end(2250);
	end(2300);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 2, 1)->counts.inside), 90);
}

/* Whatever the number of the place: two lines of one place, which is odd. */
static uint64_t is_odd(const struct lc_span_key *key)
{
	return key->path % 2;
}

static void the_number_of_the_place_tells_what_is_one_place(void **state)
{
	lc_span_places_by(is_odd);
	begin(LC_SPAN_ANONYMOUS, 0, 1, 0);
	begin(LC_SPAN_ANONYMOUS, 1, 3, 100);
	begin(LC_SPAN_ANONYMOUS, 2, 2, 200);
	end(300);
	end(400);
	end(500);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 0, 1)->counts.inside), 90);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 1, 3)->counts.inside), 0);
	lc_span_places_by(NULL);
}

/* The end of line 1 is lost; of line 2 it is known what was inside. */
static void what_was_inside_a_lost_span_is_inside_the_one_around(void **state)
{
	begin_at(LC_SPAN_ANONYMOUS, 0, 2, 0, 0x100000);
	begin_at(LC_SPAN_ANONYMOUS, 1, 1, 100, 0x1000);
	begin_at(LC_SPAN_ANONYMOUS, 2, 3, 200, 0x800);
	end(300);
	lc_span_drop(&s, 0x1000 + LC_SPAN_SLACK_BYTES + 8, 0);
	end(1000);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 0, 2)->counts.inside), 90);
	assert_int_equal(slot(LC_SPAN_ANONYMOUS, 1, 1)->place->open, 0);
}

static void tasks_have_costs_of_their_own(void **state)
{
	begin(LC_SPAN_TASK, 0, 0, 0);
	begin(LC_SPAN_PRIMORDIAL, 0, 1, 100);
	begin(LC_SPAN_TASK, 0, 0, 200);
	assert_int_equal(end(300).compensated, 100 - 15);
	assert_int_equal(end(400).compensated, 200 - 50 - 10);
	assert_int_equal(end(1000).compensated, 700 - 30 - 15);
}

static void what_costs_more_than_it_lasts_is_negative_and_counted(void **state)
{
	struct lc_span_slot *x = slot(LC_SPAN_ANONYMOUS, 0, 1);

	begin(LC_SPAN_ANONYMOUS, 0, 1, 0);
	assert_int_equal(end(4).compensated, -6);
	begin(LC_SPAN_ANONYMOUS, 0, 1, 10);
	end(110);
	assert_int_equal(get(&x->counts.negative), 1);
	assert_int_equal(atomic_load(&x->counts.compensated), -6 + 90);
	assert_int_equal(atomic_load(&x->counts.histogram[0]), 1);
}

static void a_transparent_frame_gives_what_it_holds_to_the_one_below(void **state)
{
	struct lc_span_ended e;

	begin(LC_SPAN_ANONYMOUS, 0, 1, 0);
	begin(LC_SPAN_KINDS, 0, 0, 100);
	begin(LC_SPAN_ANONYMOUS, 1, 2, 200);
	end(300);
	end(400);
	e = end(1000);
	assert_int_equal(e.cycles, 900);
	assert_int_equal(e.compensated, 900 - 20 - 10);
}

static void the_stream_around_is_that_of_the_frame_below(void **state)
{
	struct lc_span_frame *f = begin(LC_SPAN_ANONYMOUS, 0, 1, 0);

	f->stream = (struct lc_stream_context){ .id = 9, .path = 1, .level = 3 };
	f = begin(LC_SPAN_TASK, 0, 0, 10);
	assert_int_equal(f->stream.id, 9);
	assert_int_equal(f->stream.level, 3);
	end(20);
	end(30);
	assert_int_equal(begin(LC_SPAN_ANONYMOUS, 0, 1, 40)->stream.id, 0);
}

static void pauses_and_switches_inside_are_counted_in_all_around(void **state)
{
	struct lc_span_slot *x = slot(LC_SPAN_ANONYMOUS, 0, 1);

	s.clock.switches = 5;
	begin(LC_SPAN_ANONYMOUS, 0, 1, 0);
	begin(LC_SPAN_ANONYMOUS, 1, 2, 10);
	s.clock.switches = 8;
	atomic_store(&pauses.count, 2);
	atomic_store(&pauses.ns, 700);
	end(20);
	end(30);
	begin(LC_SPAN_ANONYMOUS, 0, 1, 40);
	end(50);
	assert_int_equal(get(&x->counts.switches), 3);
	assert_int_equal(get(&x->counts.gc_count), 2);
	assert_int_equal(get(&x->counts.gc_ns), 700);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 1, 2)->counts.switches), 3);
}

static void a_clock_that_goes_back_keeps_the_sum_right(void **state)
{
	struct lc_span_slot *x = slot(LC_SPAN_ANONYMOUS, 0, 1);

	begin(LC_SPAN_ANONYMOUS, 0, 1, 1000);
	end(990);
	begin(LC_SPAN_ANONYMOUS, 0, 1, 990);
	end(2000);
	assert_int_equal(get(&x->counts.cycles), 1000);
	assert_int_equal(atomic_load(&x->counts.compensated), 1000 - 2 * 10);
}

static void deep_stacks_grow_and_end_at_the_bound_in_step(void **state)
{
	for (uint64_t i = 0; i < LC_SPAN_DEPTH_MAX + 10u; i++)
		begin(LC_SPAN_ANONYMOUS, 0, 1, i);
	assert_int_equal(s.excess, 11); /* frame 0 has a place too */
	assert_int_equal(get(&s.too_deep), 11);
	s.excess = 0; /* as their ends do */
	for (uint64_t i = 0; i < LC_SPAN_DEPTH_MAX - 1u; i++)
		end(LC_SPAN_DEPTH_MAX + i);
	assert_true(lc_span_empty(&s));
}

/* One frame of compiled code for many methods, another one in the interpreter: nothing is lost. */
static void where_a_hook_is_tells_nothing(void **state)
{
	s.low_end = 0x10000;
	begin_at(LC_SPAN_THREAD, 0, 0, 0, 0x90000);
	begin_at(LC_SPAN_ANONYMOUS, 0, 1, 10, 0x70000);
	begin_at(LC_SPAN_ANONYMOUS, 1, 1, 10, 0x70000);
	begin_at(LC_SPAN_ANONYMOUS, 2, 1, 10, 0x8f000);
	begin_at(LC_SPAN_ANONYMOUS, 3, 1, 10, 0x91000);
	assert_int_equal(s.top - s.frames, 5);
	for (uint64_t i = 0; i < 5; i++) {
		assert_true(lc_span_leave(&s, 0xa0000 + i));
		end(20 + i);
	}
	assert_true(lc_span_empty(&s));
	assert_int_equal(get(&s.stale) + get(&s.unmatched), 0);
}

/* 0x10000 is where the end of the stack begins. */
static void what_begins_at_the_end_of_the_stack_is_in_step_without_frames(void **state)
{
	s.low_end = 0x10000;
	begin_at(LC_SPAN_ANONYMOUS, 0, 1, 10, 0x10080);
	for (uint64_t sp = 0xff80; sp >= 0xf000; sp -= 0x80)
		begin_at(LC_SPAN_ANONYMOUS, 1, 1, 10, sp);
	assert_int_equal(s.top - s.frames, 1);
	assert_int_equal(s.low, 32);
	assert_int_equal(get(&s.too_deep), 32);
	/* An end's hook lies higher than the begin's, in the interpreter. */
	for (uint64_t sp = 0xf000; sp <= 0xff80; sp += 0x80)
		assert_false(lc_span_leave(&s, sp + 0x100));
	assert_int_equal(s.low, 0);
	assert_true(lc_span_leave(&s, 0x10180));
	end(20);
	assert_true(lc_span_empty(&s));
	assert_int_equal(get(&s.stale), 0);
	assert_false(s.lossy);
}

static void ends_that_are_lost_at_the_end_of_the_stack_leave_no_frame_behind(void **state)
{
	struct lc_span_frame *f;

	s.low_end = 0x10000;
	begin_at(LC_SPAN_THREAD, 0, 0, 0, 0x90000);
	begin_at(LC_SPAN_ANONYMOUS, 0, 1, 10, 0x80000);
	for (uint64_t sp = 0x12000; sp > 0xf000; sp -= 0x80)
		begin_at(LC_SPAN_ANONYMOUS, 1, 1, 10, sp);
	assert_int_equal(s.low, 31);
	for (unsigned i = 0; i < 10; i++) /* the others are lost */
		assert_false(lc_span_leave(&s, 0x10180));
	for (unsigned i = 0; i < 21; i++) /* those of frames, taken for the lost ones' */
		assert_false(lc_span_leave(&s, 0x11000));
	assert_int_equal(s.low, 0);
	assert_true(lc_span_leave(&s, 0x12100));
	end(20);
	begin_at(LC_SPAN_ANONYMOUS, 1, 1, 10, 0xff00);
	begin_at(LC_SPAN_ANONYMOUS, 1, 1, 10, 0x10000 + LC_SPAN_SHRINK_BYTES - 8);
	assert_int_equal(s.low, 2);
	f = begin_at(LC_SPAN_ANONYMOUS, 1, 1, 10, 0x7f000);
	assert_int_equal(s.low, 0);
	assert_true(s.lossy);
	assert_ptr_equal(f, s.frames + 3);
	begin_at(LC_SPAN_FOREIGN, 1, 1, 10, 0x7f000); /* inlined in the same frame */
	begin_at(LC_SPAN_FOREIGN, 1, 1, 10, 0x7ef00);
	assert_int_equal(s.top - s.frames, 5);
	f = begin_at(LC_SPAN_ANONYMOUS, 1, 1, 10, 0x7f000); /* the next round of a loop */
	assert_ptr_equal(f, s.frames + 3);
	assert_true(lc_span_leave(&s, 0x80000)); /* it was the one around it that ended */
	assert_int_equal(s.top - s.frames, 2);
}

/*
 * outer 0..1000 holds one whose end is lost, in which inner 200..300 ended: what inner took, and
 * what it costs, are still none of outer's.
 */
static void what_ended_in_a_span_whose_end_is_lost_is_no_part_of_the_one_around(void **state)
{
	struct lc_span_ended e;

	begin_at(LC_SPAN_ANONYMOUS, 0, 1, 0, 0x90000);
	begin_at(LC_SPAN_ANONYMOUS, 1, 2, 100, 0x80000);
	begin_at(LC_SPAN_PRIMORDIAL, 2, 3, 200, 0x70000);
	assert_int_equal(end(300).cycles, 100);
	lc_span_drop(&s, 0x90000, 0);
	assert_int_equal(get(&s.stale), 1);
	e = end(1000);
	assert_int_equal(e.cycles, 900);
	assert_int_equal(e.compensated, 900 - 30 - 10);
	assert_int_equal(get(&slot(LC_SPAN_ANONYMOUS, 1, 2)->counts.executions), 0);
}

/* An end needs at times some more of the stack than its begin did: 0xc000 is where nothing begins.
 */
static void nothing_begins_where_its_end_might_not_fit(void **state)
{
	s.low_end = 0x10000;
	s.last_end = 0xc000;
	lc_span_arrive(&s, 0x10000, 1);
	assert_false(lc_span_is_last(&s, 0x10000));
	lc_span_arrive(&s, 0xc000, 1);
	assert_false(lc_span_is_last(&s, 0xc000));
	lc_span_arrive(&s, 0xbff8, 1);
	assert_true(lc_span_is_last(&s, 0xbff8));
	s.low_end = s.last_end = 0; /* not known */
	lc_span_arrive(&s, 0x10, 1);
	assert_false(lc_span_is_last(&s, 0x10));
}

static void slots_are_found_again_and_stay_where_they_are(void **state)
{
	struct lc_span_slot *first = slot(LC_SPAN_ANONYMOUS, 0, 1);

	for (uint32_t path = 2; path < 1000; path++)
		assert_int_equal(slot(LC_SPAN_ANONYMOUS, path % 5, path)->key.path, path);
	assert_ptr_equal(slot(LC_SPAN_ANONYMOUS, 0, 1), first);
	assert_ptr_not_equal(slot(LC_SPAN_ANONYMOUS, 1, 1), first);
	assert_ptr_not_equal(slot(LC_SPAN_PRIMORDIAL, 0, 1), first);
	for (uint32_t i = 0; i < 999; i++)
		assert_int_equal(lc_span_stack_slot(&s, i)->number, i);
	assert_null(lc_span_stack_slot(&s, 1001));
}

static void beyond_the_bound_places_of_a_kind_become_one(void **state)
{
	const struct lc_span_slot *last;

	lc_span_slots_name_other(7, 9);
	for (uint32_t path = 8; path < LC_SPAN_SLOTS_MAX + 8 - 3; path++)
		slot(LC_SPAN_ANONYMOUS, 0, path);
	for (uint32_t path = 4; path < 7; path++)
		slot(LC_SPAN_ANONYMOUS, 0, path);
	assert_true(lc_span_slots_crowded());
	assert_int_equal(lc_span_slots_count(), LC_SPAN_SLOTS_MAX);
	last = slot(LC_SPAN_ANONYMOUS, 3, LC_SPAN_SLOTS_MAX + 1);
	assert_non_null(last);
	assert_int_equal(last->key.path, 7);
	assert_int_equal(last->key.site, 0);
	assert_int_equal(last->key.level, 0);
	assert_true(lc_span_slot_is_other(last));
	assert_ptr_equal(slot(LC_SPAN_ANONYMOUS, 4, LC_SPAN_SLOTS_MAX + 2), last);
	assert_ptr_not_equal(slot(LC_SPAN_SUPPORT, 4, LC_SPAN_SLOTS_MAX + 2), last);
	last = lc_span_slot_find(&s, &(struct lc_span_key){ .kind = LC_SPAN_TASK, .site = 3 });
	assert_true(lc_span_slot_is_other(last));
	assert_int_equal(last->key.path, 0);
	assert_int_equal(last->key.site, 9);
	assert_int_equal(slot(LC_SPAN_ANONYMOUS, 0, 5)->key.path, 5);
	assert_false(lc_span_slot_is_other(slot(LC_SPAN_ANONYMOUS, 0, 5)));
}

static void a_signal_handler_sees_the_innermost_slot(void **state)
{
	struct lc_thread t = { .index = 0 };

	assert_int_equal(lc_span_current(NULL), 0);
	assert_int_equal(lc_span_current(&t), 0);
	atomic_store(&t.spans, &s);
	assert_int_equal(lc_span_current(&t), 0);
	begin(LC_SPAN_ANONYMOUS, 0, 1, 0);
	begin(LC_SPAN_ANONYMOUS, 0, 2, 10);
	begin(LC_SPAN_KINDS, 0, 0, 20);
	assert_int_equal(lc_span_current(&t), slot(LC_SPAN_ANONYMOUS, 0, 2)->number + 1);
	assert_int_equal(lc_span_slot_at(&t, lc_span_current(&t) - 1)->key.path, 2);
	end(30);
	end(40);
	assert_int_equal(lc_span_current(&t), slot(LC_SPAN_ANONYMOUS, 0, 1)->number + 1);
	end(50);
	assert_int_equal(lc_span_current(&t), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_span_alone_pays_its_inner_cost),
		TEST(a_hook_costs_the_span_around_it_nothing),
		TEST(samples_are_no_part_of_a_span),
		TEST(work_of_the_agent_is_no_part_of_spans),
		TEST(nested_spans_are_taken_off_with_what_they_cost),
		TEST(a_place_inside_itself_has_what_is_inside_once),
		TEST(the_number_of_the_place_tells_what_is_one_place),
		TEST(what_was_inside_a_lost_span_is_inside_the_one_around),
		TEST(tasks_have_costs_of_their_own),
		TEST(what_costs_more_than_it_lasts_is_negative_and_counted),
		TEST(a_transparent_frame_gives_what_it_holds_to_the_one_below),
		TEST(the_stream_around_is_that_of_the_frame_below),
		TEST(pauses_and_switches_inside_are_counted_in_all_around),
		TEST(a_clock_that_goes_back_keeps_the_sum_right),
		TEST(deep_stacks_grow_and_end_at_the_bound_in_step),
		TEST(where_a_hook_is_tells_nothing),
		TEST(what_begins_at_the_end_of_the_stack_is_in_step_without_frames),
		TEST(ends_that_are_lost_at_the_end_of_the_stack_leave_no_frame_behind),
		TEST(what_ended_in_a_span_whose_end_is_lost_is_no_part_of_the_one_around),
		TEST(nothing_begins_where_its_end_might_not_fit),
		TEST(slots_are_found_again_and_stay_where_they_are),
		TEST(beyond_the_bound_places_of_a_kind_become_one),
		TEST(a_signal_handler_sees_the_innermost_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
