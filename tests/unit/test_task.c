/* uses: tests/unit/task_model.c src/span/tasks/task.c src/span/tasks/submitting.c src/span/tasks/task_parts.c src/span/tasks/link.c src/span/frames/stack.c src/base/slab.c src/span/tasks/virtual.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_task.c - checks executions of tasks and the counts made of them, on virtual threads too.
 *
 * The file is longer than 600 lines: the tests share one model of a thread's hooks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/span_rewrite.h"
#include "src/core/thread.h"
#include "src/span/tasks/submitting.h"
#include "src/span/tasks/virtual.h"
#include "tests/unit/counter.h"
#include "tests/unit/task_model.h"

static int setup(void **state)
{
	model_setup();
	return 0;
}

static int teardown(void **state)
{
	lc_virtual_unmount(NULL, 0, 0);
	model_teardown();
	return 0;
}

static void run(struct lc_span_thread *s, uint32_t class, uint32_t hash, uint64_t cycles)
{
	model_begin(s, class, hash, 0);
	model_now += cycles;
	model_end(s);
}

static void five_hundred_and_seventy_tasks_are_as_many(void **state)
{
	for (uint32_t hash = 1; hash <= 570; hash++) {
		model_created(model_thread(0), 1, hash, 101);
		model_submitted(model_thread(0), 1, hash, LC_SUBMIT_SUBMIT, 9);
	}
	for (uint32_t hash = 1; hash <= 570; hash++)
		run(model_thread(1 + hash % 2), 1, hash, 10);
	assert_int_equal(model_made(101, LC_SUBMIT_NONE), 570);
	assert_int_equal(model_made(101, LC_SUBMIT_SUBMIT), 570);
	assert_int_equal(model_made(101, LC_SUBMIT_FIRST), 570);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 570);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 5700);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, waits), 570);
}

static void so_are_as_many_submissions_of_one_object(void **state)
{
	model_created(model_thread(0), 1, 1, 101);
	for (unsigned i = 0; i < 570; i++)
		model_submitted(model_thread(0), 1, 1, LC_SUBMIT_EXECUTE, 9);
	for (unsigned i = 0; i < 570; i++)
		run(model_thread(1), 1, 1, 1);
	assert_int_equal(model_made(101, LC_SUBMIT_EXECUTE), 570);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 570);
	assert_int_equal(model_made(101, LC_SUBMIT_FIRST), 1);
	/* Only the last one was alone in the queue, and it was not when it came. */
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, waits), 0);
}

/* Executions of site 101 that were submitted so, by that path. */
static uint64_t executed(uint8_t submit_kind, uint32_t path)
{
	const struct lc_span_slot *slot;
	uint64_t n = 0;

	for (uint32_t i = 0; (slot = lc_span_stack_slot(model_thread(1), i)); i++)
		if (slot->key.site == 101 && slot->key.submit_kind == submit_kind &&
		    slot->key.submit_path == path)
			n += slot->counts.executions;
	return n;
}

static void an_execution_is_of_the_way_by_which_it_was_submitted(void **state)
{
	static const struct {
		uint8_t kind;
		uint32_t path;
	} ways[] = { { LC_SUBMIT_EXECUTE, 9 },
		     { LC_SUBMIT_SUBMIT, 9 },
		     { LC_SUBMIT_SUBMIT, 8 },
		     { LC_SUBMIT_SUBMIT, 8 },
		     { LC_SUBMIT_FORK, 8 } };

	for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		model_created(model_thread(0), 1, 1 + i, 101);
		model_submitted(model_thread(0), 1, 1 + i, ways[i].kind, ways[i].path);
		run(model_thread(1), 1, 1 + i, 10);
	}
	assert_int_equal(executed(LC_SUBMIT_EXECUTE, 9), 1);
	assert_int_equal(executed(LC_SUBMIT_SUBMIT, 9), 1);
	assert_int_equal(executed(LC_SUBMIT_SUBMIT, 8), 2);
	assert_int_equal(executed(LC_SUBMIT_FORK, 8), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 0, executions), 5);
	/* One of the same site is a thread. */
	for (uint32_t hash = 21; hash <= 22; hash++) {
		model_created(model_thread(0), 1, hash, 101);
		model_begin(model_thread(1), 1, hash, hash == 22 ? LC_TASK_THREAD : 0);
		model_end(model_thread(1));
	}
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 0, executions), 6);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 0, executions), 1);
}

static void waiting_is_from_submission_to_execution(void **state)
{
	model_created(model_thread(0), 1, 1, 101);
	model_now = 5000;
	model_submitted(model_thread(0), 1, 1, LC_SUBMIT_EXECUTE, 9);
	model_now = 5300;
	run(model_thread(1), 1, 1, 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, waits), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, wait_ns), 300);
}

static void the_outermost_submission_counts(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	model_created(s, 1, 1, 101);
	for (unsigned i = 1; i <= 2; i++) {
		model_enter(s, 1, 1, LC_SUBMIT_SUBMIT);
		model_enter(s, 1, 1, LC_SUBMIT_SCHEDULE);
		model_submitted(s, 1, 1, LC_SUBMIT_EXECUTE, 9);
		lc_task_left(s, false);
		lc_task_left(s, false);
		assert_int_equal(model_made(101, LC_SUBMIT_SUBMIT), i);
	}
	assert_int_equal(model_made(101, LC_SUBMIT_SCHEDULE), 0);
	assert_int_equal(model_made(101, LC_SUBMIT_EXECUTE), 0);
	/* All of them were left. */
	model_submitted(s, 1, 1, LC_SUBMIT_EXECUTE, 9);
	assert_int_equal(model_made(101, LC_SUBMIT_EXECUTE), 1);
	/* Inside the submission of another object, and of one of another class. */
	model_enter(s, 1, 1, LC_SUBMIT_SUBMIT);
	model_submitted(s, 1, 2, LC_SUBMIT_EXECUTE, 9);
	model_submitted(s, 2, 1, LC_SUBMIT_EXECUTE, 9);
	lc_task_left(s, false);
	assert_int_equal(model_made(100, LC_SUBMIT_EXECUTE), 1);
	assert_int_equal(model_made(200, LC_SUBMIT_EXECUTE), 1);
}

/* An Executor that gives what it is given to each of several others. */
static void what_is_handed_on_several_times_is_submitted_as_often(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	model_created(s, 1, 1, 101);
	model_enter(s, 1, 1, LC_SUBMIT_EXECUTE);
	for (unsigned i = 0; i < 3; i++) {
		model_enter(s, 1, 1, LC_SUBMIT_EXECUTE);
		model_submitted(s, 1, 1, LC_SUBMIT_EXECUTE, 9);
		lc_task_left(s, false);
	}
	lc_task_left(s, false);
	assert_int_equal(model_made(101, LC_SUBMIT_EXECUTE), 3);
}

/* The first pool refuses, so another one is given it. */
static void a_second_try_is_the_same_submission(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	model_created(s, 1, 1, 101);
	model_enter(s, 1, 1, LC_SUBMIT_EXECUTE);
	model_enter(s, 1, 1, LC_SUBMIT_EXECUTE);
	lc_task_left(s, true);
	model_submitted(s, 1, 1, LC_SUBMIT_EXECUTE, 9);
	lc_task_left(s, false);
	assert_int_equal(model_made(101, LC_SUBMIT_EXECUTE), 1);
}

static void what_is_executed_in_a_submission_submits_by_itself(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	model_created(s, 1, 1, 101);
	model_enter(s, 1, 1, LC_SUBMIT_EXECUTE);
	model_begin(s, 0, 0, LC_TASK_WRAPPER);
	model_begin(s, 1, 1, 0);
	model_enter(s, 1, 1, LC_SUBMIT_EXECUTE);
	model_submitted(s, 1, 1, LC_SUBMIT_FORK, 9);
	lc_task_left(s, false);
	model_end(s);
	model_end(s);
	lc_task_left(s, false);
	assert_int_equal(model_made(101, LC_SUBMIT_EXECUTE), 2);
	assert_int_equal(model_made(101, LC_SUBMIT_FORK), 0);
}

/* Nobody told that they were left: their spans were dropped. */
static void entries_of_spans_that_ended_are_forgotten(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	model_created(s, 1, 1, 101);
	model_begin(s, 2, 2, 0);
	model_enter(s, 1, 1, LC_SUBMIT_EXECUTE);
	model_end(s);
	model_submitted(s, 1, 1, LC_SUBMIT_EXECUTE, 9);
	assert_int_equal(model_made(101, LC_SUBMIT_EXECUTE), 2);
	lc_task_left(s, false); /* of nothing */
	model_enter(s, 1, 1, LC_SUBMIT_EXECUTE);
	lc_task_left(s, false);
	assert_int_equal(model_made(101, LC_SUBMIT_EXECUTE), 3);
}

/* A submission is looked for among those that go on in the task that makes it: without tasks, there
 * would be two billion looks. */
static void any_number_of_submissions_can_go_on(void **state)
{
	enum { DEEP = LC_SUBMITTING_MAX + 100, EACH = 1024 };
	struct lc_span_thread *s = model_thread(0);

	for (uint32_t i = 1; i <= DEEP; i++) {
		if (i % EACH == 1)
			model_begin(s, 2, i, 0);
		model_enter(s, 1, i, LC_SUBMIT_EXECUTE);
	}
	assert_int_equal(lc_task_entered_stack(s->tasks)->excess, 100);
	for (uint32_t i = DEEP; i; i--) {
		lc_task_left(s, false);
		if (i % EACH == 1)
			model_end(s);
	}
	assert_int_equal(lc_task_entered_stack(s->tasks)->len, 0);
	assert_int_equal(lc_task_entered_stack(s->tasks)->excess, 0);
	assert_int_equal(model_made(100, LC_SUBMIT_EXECUTE), DEEP);
}

static void a_virtual_thread_takes_its_submissions_along(void **state)
{
	struct lc_span_thread *a = model_thread(0), *b = model_thread(1);

	model_created(a, 1, 1, 101);
	model_begin(a, 2, 2, LC_TASK_THREAD);
	model_enter(a, 1, 9, LC_SUBMIT_EXECUTE); /* the carrier's own */
	lc_virtual_mount(a, 3, model_now);
	model_begin(a, 3, 3, 0);
	model_enter(a, 1, 1, LC_SUBMIT_EXECUTE);
	lc_virtual_unmount(a, 3, model_now);
	assert_int_equal(lc_task_entered_stack(a->tasks)->len, 1);
	lc_virtual_mount(a, 4, model_now);
	model_submitted(a, 1, 1, LC_SUBMIT_FORK, 9); /* another thread's submission */
	lc_virtual_unmount(a, 4, model_now);
	lc_virtual_mount(b, 3, model_now);
	model_submitted(b, 1, 1, LC_SUBMIT_EXECUTE, 9);
	lc_task_left(b, false);
	model_end(b);
	lc_virtual_unmount(b, 3, model_now);
	assert_int_equal(lc_task_entered_stack(b->tasks)->len, 0);
	assert_int_equal(model_made(101, LC_SUBMIT_EXECUTE), 1);
	assert_int_equal(model_made(101, LC_SUBMIT_FORK), 1);
}

static void tasks_of_invoke_all_are_submitted_once(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	for (uint32_t hash = 1; hash <= 20; hash++)
		model_submitted(s, 1, hash, LC_SUBMIT_INVOKE_ALL, 9);
	lc_task_entered(s, (struct lc_link_key){ 0 }, true);
	for (uint32_t hash = 1; hash <= 20; hash++)
		model_submitted(s, 1, hash, LC_SUBMIT_FORK, 9);
	assert_int_equal(model_made(0, LC_SUBMIT_INVOKE_ALL), 20);
	assert_int_equal(model_made(0, LC_SUBMIT_FORK), 0);
	/* A task that it was not given. */
	model_submitted(s, 1, 21, LC_SUBMIT_FORK, 9);
	assert_int_equal(model_made(0, LC_SUBMIT_FORK), 1);
	lc_task_left(s, false);
}

static void wrappers_are_looked_through(void **state)
{
	struct lc_span_thread *s = model_thread(1);

	model_created(model_thread(0), 1, 1, 101);
	model_submitted(model_thread(0), 1, 1, LC_SUBMIT_FORK_JOIN, 9);
	model_begin(s, 2, 2, LC_TASK_THREAD);
	model_begin(s, 0, 0, LC_TASK_WRAPPER | LC_TASK_FORK_JOIN);
	model_begin(s, 0, 0, LC_TASK_WRAPPER);
	model_now += 7;
	run(s, 1, 1, 100);
	model_end(s);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 1);
	model_end(s);
	/* The wrappers' own cycles are of who runs them. */
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 0, cycles), 7);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 100);
	assert_true(model_rows[0].flags & LC_TRACE_FORK_JOIN);
}

/*
 * A worker that joins executes, in the middle of its task, what another thread has given to the
 * pool.
 */
static void what_a_joining_worker_helps_with_is_not_the_joiners(void **state)
{
	struct lc_span_thread *s = model_thread(1);

	model_created(model_thread(0), 1, 1, 101);
	model_submitted(model_thread(0), 1, 1, LC_SUBMIT_FORK_JOIN, 9);
	model_created(model_thread(0), 2, 2, 201);
	model_submitted(model_thread(0), 2, 2, LC_SUBMIT_FORK_JOIN, 9);
	model_begin(s, 1, 1, LC_TASK_FORK_JOIN);
	model_now += 10;
	/* The task itself, and the task in a wrapper. */
	model_begin(s, 0, 0, LC_TASK_WRAPPER | LC_TASK_FORK_JOIN);
	run(s, 2, 2, 50);
	model_end(s);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 10);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, cycles), 50);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 0, folded), 0);
}

static struct lc_span_frame *begin_stream(struct lc_span_thread *s, unsigned kind, uint64_t stream)
{
	struct lc_span_slot *slot =
	    lc_span_slot_find(s, &(struct lc_span_key){ .kind = (uint8_t)kind });
	struct lc_span_frame *f = lc_span_push(s, kind, slot);

	f->number = kind == LC_SPAN_PRIMORDIAL ? stream : lc_span_number(s);
	f->stream.id = stream;
	f->stack_pointer = UINT64_MAX;
	lc_span_start(s, f, model_now, model_now);
	return f;
}

static void end_stream(struct lc_span_thread *s)
{
	struct lc_span_ended e;

	(void)lc_span_pop(s, model_now, model_now, &e);
}

/*
 * A worker that joins may help with another thread's stream: what that executes is not the
 * joiner's.
 */
static void what_another_threads_stream_executes_is_not_the_joiners(void **state)
{
	struct lc_span_thread *s = model_thread(1);

	model_created(model_thread(0), 1, 1, 101);
	model_created(model_thread(0), 2, 2, 201);
	model_created(model_thread(0), 2, 3, 202);
	model_begin(s, 1, 1, 0);
	begin_stream(s, LC_SPAN_SUPPORT, 7777);
	run(s, 2, 2, 50);
	end_stream(s);
	begin_stream(s, LC_SPAN_PRIMORDIAL, 8888);
	begin_stream(s, LC_SPAN_SUPPORT, 8888);
	run(s, 2, 3, 30);
	end_stream(s);
	end_stream(s);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 202, folded), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 30);
}

/* Many of the JDK's own completers are never executed. */
static void what_the_library_makes_for_itself_is_not_counted_as_made(void **state)
{
	struct lc_span_thread *s = model_thread(0);
	struct lc_task_class *class = (struct lc_task_class *)(uintptr_t)model_class(3);

	class->flags = LC_CLASS_LIBRARY;
	lc_task_created(s, class, 1, 301, model_now);
	lc_task_created(s, class, 2, 301, model_now);
	run(s, 3, 1, 50);
	assert_int_equal(model_made(0, LC_SUBMIT_NONE), 0);
	assert_int_equal(model_made(0, LC_SUBMIT_FIRST), 0);
	/* Its place of creation and its creator are known all the same: it is that thread's. */
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 301, folded), 1);
}

/* CallerRunsPolicy: submitted, and then executed by who submitted it. */
static void a_task_that_its_submitter_has_to_run_is_part_of_the_submitters(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	model_created(model_thread(1), 1, 1, 101);
	model_begin(s, 1, 1, 0);
	model_created(s, 2, 2, 201);
	model_submitted(s, 2, 2, LC_SUBMIT_EXECUTE, 9);
	run(s, 2, 2, 50);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 50);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, folded), 1);
	/* By a thread that runs no task it is one of its own. */
	model_created(s, 2, 3, 202);
	model_submitted(s, 2, 3, LC_SUBMIT_EXECUTE, 9);
	run(s, 2, 3, 50);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 202, executions), 1);
}

static void ends_stay_in_step_when_tasks_are_too_deep(void **state)
{
	enum { DEEP = LC_SPAN_DEPTH_MAX + 100 };
	struct lc_span_thread *s = model_thread(0);

	for (uint32_t i = 1; i <= DEEP; i++)
		model_begin(s, 1, i, 0);
	for (uint32_t i = 1; i <= DEEP; i++)
		model_end(s);
	assert_true(lc_span_empty(s));
	run(s, 1, 5, 9);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 100, executions) >= 1, 1);
}

static struct lc_span_frame *begin_one(struct lc_span_thread *s, uint32_t hash)
{
	return model_begin(s, 1, hash, 0);
}

/* Frames that are taken off leave those of other objects, with hashes that end alike. */
static void calls_on_one_object_are_known_after_an_unwinding(void **state)
{
	enum { ALIKE = 1 << 16 }; /* apart */
	struct lc_span_thread *s = model_thread(0);

	begin_one(s, 5);
	begin_one(s, 5 + ALIKE);
	begin_one(s, 5 + 2 * ALIKE);
	model_end(s);
	model_end(s);
	assert_null(begin_one(s, 5)->slot);
	assert_non_null(begin_one(s, 5 + ALIKE)->slot);
	assert_null(begin_one(s, 5)->slot);
	assert_non_null(begin_one(s, 5 + 2 * ALIKE)->slot);
	for (unsigned i = 0; i < 3; i++)
		model_end(s);
	assert_non_null(begin_one(s, 5 + ALIKE)->slot); /* that has ended */
	assert_null(begin_one(s, 5)->slot);
	for (unsigned i = 0; i < 4; i++)
		model_end(s);
	assert_true(lc_span_empty(s));
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 100, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 100, folded), 5);
}

/* Virtual threads: thread 3 runs on carrier 0, then on carrier 1, each in its own frames. */
static void cycles_of_a_virtual_thread_are_those_it_ran(void **state)
{
	struct lc_span_thread *a = model_thread(0), *b = model_thread(1);

	model_created(model_thread(2), 1, 1, 101);
	model_begin(a, 8, 8, LC_TASK_THREAD);
	model_begin(b, 9, 9, LC_TASK_THREAD);
	model_now += 10;
	lc_virtual_mount(a, 3, model_now);
	model_begin(a, 1, 1, 0);
	model_now += 100;
	lc_virtual_unmount(a, 3, model_now);
	model_now += 1000; /* asleep */
	lc_virtual_mount(b, 3, model_now);
	model_now += 50;
	model_end(b);
	lc_virtual_unmount(b, 3, model_now);
	model_end(a);
	model_end(b);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 150);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, wall_tsc), 1150);
	/* The carriers' own cycles: all but those that they carried. */
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 800, cycles), 10 + 1000 + 50);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 900, cycles), 10 + 100 + 1000);
}

/* The frame that lies on the carrier's is transparent, and a task in it goes on. */
static void a_wrapper_moves_as_well(void **state)
{
	struct lc_span_thread *a = model_thread(0), *b = model_thread(1);

	model_created(model_thread(2), 1, 1, 101);
	model_created(model_thread(2), 1, 2, 102);
	model_begin(a, 8, 8, LC_TASK_THREAD);
	model_begin(b, 9, 9, LC_TASK_THREAD);
	lc_virtual_mount(a, 3, model_now);
	model_begin(a, 0, 0, LC_TASK_WRAPPER);
	run(a, 1, 2, 7);
	model_begin(a, 1, 1, 0);
	model_now += 100;
	lc_virtual_unmount(a, 3, model_now);
	lc_virtual_mount(b, 3, model_now);
	model_now += 50;
	model_end(b);
	model_end(b);
	model_end(b);
	model_end(a);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 150);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 800, cycles), 50);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 900, cycles), 107);
}

static void calls_on_one_object_are_known_after_a_move(void **state)
{
	struct lc_span_thread *a = model_thread(0), *b = model_thread(1);

	model_created(model_thread(2), 1, 1, 101);
	lc_virtual_mount(a, 3, model_now);
	model_begin(a, 1, 1, 0);
	lc_virtual_unmount(a, 3, model_now);
	lc_virtual_mount(b, 3, model_now);
	model_begin(b, 1, 1, 0); /* super.run() */
	model_end(b);
	model_end(b);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 1);
	assert_true(lc_span_empty(a) && lc_span_empty(b));
}

static void who_made_a_task_is_the_virtual_thread_and_not_its_carrier(void **state)
{
	struct lc_span_thread *a = model_thread(0), *b = model_thread(1);

	lc_virtual_mount(a, 3, model_now);
	model_created(a, 1, 1, 101);
	lc_virtual_unmount(a, 3, model_now);
	lc_virtual_mount(a, 4, model_now);
	run(a, 1, 1, 5);
	lc_virtual_unmount(a, 4, model_now);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 1);
	lc_virtual_mount(b, 3, model_now);
	run(b, 1, 1, 5);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, folded), 1); /* its own, never submitted */
	assert_true(model_rows[1].flags & LC_TRACE_VIRTUAL);
}

static void thousands_of_virtual_threads_wait_at_once(void **state)
{
	enum { VIRTUAL = 10000 };

	for (uint32_t i = 1; i <= VIRTUAL; i++) {
		struct lc_span_thread *s = model_thread(i % MODEL_THREADS);

		lc_virtual_mount(s, i, model_now);
		model_begin(s, 1, i, 0);
		model_now += 10;
		lc_virtual_unmount(s, i, model_now);
	}
	assert_int_equal(counter("spans_virtual_waiting"), VIRTUAL);
	for (uint32_t i = 1; i <= VIRTUAL; i++) {
		struct lc_span_thread *s = model_thread(i * 7 % MODEL_THREADS);

		assert_true(lc_virtual_has_frames(i));
		lc_virtual_mount(s, i, model_now);
		model_now += 5;
		model_end(s);
		lc_virtual_unmount(s, i, model_now);
	}
	assert_int_equal(counter("spans_virtual_waiting"), 0);
	assert_int_equal(counter("spans_virtual_lost"), 0);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 0, executions), VIRTUAL);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 0, cycles), VIRTUAL * 15);
}

/* More frames wait than there is room for: they are dropped, and their ends end nothing else. */
static void ends_of_frames_that_found_no_room_are_passed_over(void **state)
{
	enum { VIRTUAL = 3000, EACH = 50 };
	struct lc_span_thread *s = model_thread(0);

	model_begin(s, 8, 8, LC_TASK_THREAD);
	for (uint32_t i = 1; i <= VIRTUAL; i++) {
		lc_virtual_mount(s, i, model_now);
		for (uint32_t n = 0; n < EACH; n++)
			model_begin(s, 1, i * EACH + n, 0);
		lc_virtual_unmount(s, i, model_now);
	}
	assert_in_range(counter("spans_virtual_lost"), 1, VIRTUAL);
	for (uint32_t i = 1; i <= VIRTUAL; i++) {
		lc_virtual_mount(s, i, model_now);
		for (uint32_t n = 0; n < EACH; n++)
			model_end(s);
		lc_virtual_unmount(s, i, model_now);
		assert_int_equal(s->top - s->frames, 1);
	}
	assert_int_equal(s->excess, 0);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 800, executions), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A thread has room for some 16,000 sites and paths; OTHER stands for the rest. */
static void creations_beyond_the_rows_of_a_thread_have_a_site_of_their_own(void **state)
{
	enum { SITES = 17000, OTHER = 1 << 20 };
	uint64_t named = 0, other;

	lc_span_slots_name_other(0, OTHER);
	for (uint32_t i = 1; i <= SITES; i++)
		model_created(model_thread(0), 1, i, i);
	other = model_made(OTHER, LC_SUBMIT_NONE);
	named = model_made(0, LC_SUBMIT_NONE) - other;
	assert_in_range(other, 1, SITES / 10);
	assert_int_equal(named + other, SITES);
	assert_int_equal(model_made(1, LC_SUBMIT_NONE), 1);
	lc_span_slots_name_other(0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(five_hundred_and_seventy_tasks_are_as_many),
		TEST(so_are_as_many_submissions_of_one_object),
		TEST(an_execution_is_of_the_way_by_which_it_was_submitted),
		TEST(waiting_is_from_submission_to_execution),
		TEST(the_outermost_submission_counts),
		TEST(what_is_handed_on_several_times_is_submitted_as_often),
		TEST(a_second_try_is_the_same_submission),
		TEST(what_is_executed_in_a_submission_submits_by_itself),
		TEST(entries_of_spans_that_ended_are_forgotten),
		TEST(any_number_of_submissions_can_go_on),
		TEST(a_virtual_thread_takes_its_submissions_along),
		TEST(tasks_of_invoke_all_are_submitted_once),
		TEST(wrappers_are_looked_through),
		TEST(what_a_joining_worker_helps_with_is_not_the_joiners),
		TEST(what_another_threads_stream_executes_is_not_the_joiners),
		TEST(what_the_library_makes_for_itself_is_not_counted_as_made),
		TEST(a_task_that_its_submitter_has_to_run_is_part_of_the_submitters),
		TEST(ends_stay_in_step_when_tasks_are_too_deep),
		TEST(calls_on_one_object_are_known_after_an_unwinding),
		TEST(cycles_of_a_virtual_thread_are_those_it_ran),
		TEST(a_wrapper_moves_as_well),
		TEST(calls_on_one_object_are_known_after_a_move),
		TEST(who_made_a_task_is_the_virtual_thread_and_not_its_carrier),
		TEST(thousands_of_virtual_threads_wait_at_once),
		TEST(ends_of_frames_that_found_no_room_are_passed_over),
		TEST(creations_beyond_the_rows_of_a_thread_have_a_site_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
