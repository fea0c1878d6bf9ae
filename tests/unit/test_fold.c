/* uses: tests/unit/task_model.c src/span/tasks/task.c src/span/tasks/submitting.c src/span/tasks/task_parts.c src/span/tasks/link.c src/span/frames/stack.c src/base/slab.c src/span/tasks/virtual.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fold.c - checks each rule by which a task counts by itself, and the agent's decisions
 * against a reconstruction from single spans.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/span_rewrite.h"
#include "src/format/fold.h"
#include "src/span/tasks/virtual.h"
#include "tests/unit/task_model.h"

enum { SAME = LC_TRACE_SAME_THREAD, SUBMITTED = LC_TRACE_SUBMITTED, FORKED = LC_TRACE_FORK_JOIN };

static int setup(void **state)
{
	model_setup();
	return 0;
}

static int teardown(void **state)
{
	model_teardown();
	return 0;
}

static void a_task_inside_a_task_is_part_of_it(void **state)
{
	assert_true(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_TASK, 0, false));
	assert_true(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_TASK, SUBMITTED, true));
	assert_true(lc_fold_into_outer(LC_SPAN_THREAD, LC_SPAN_TASK, 0, true));
}

static void a_task_inside_a_thread_is_its_own(void **state)
{
	assert_false(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_THREAD, SUBMITTED, true));
	assert_false(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_THREAD, 0, true));
	assert_false(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_THREAD, 0, false));
	assert_false(lc_fold_into_outer(LC_SPAN_THREAD, LC_SPAN_THREAD, SAME, true));
}

static void unless_that_thread_made_it_and_nobody_submitted_it(void **state)
{
	assert_true(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_THREAD, SAME, true));
	assert_false(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_THREAD, SAME | SUBMITTED, true));
}

static void a_forked_task_is_never_its_joiners(void **state)
{
	assert_false(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_TASK, FORKED | SUBMITTED, true));
	assert_false(
	    lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_TASK, FORKED | SUBMITTED | SAME, true));
	assert_false(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_TASK, FORKED, false));
	/* invoke() in the middle of a task is a call. */
	assert_true(lc_fold_into_outer(LC_SPAN_TASK, LC_SPAN_TASK, FORKED | SAME, true));
}

/* Rules 1 and 2 with cycles: thread { A { B { C } } }, each 10 by itself. */
static void nested_tasks_are_added_up_to_the_outermost(void **state)
{
	struct lc_span_thread *s = model_thread(0), *other = model_thread(1);

	for (uint32_t class = 1; class <= 3; class ++)
		model_created(other, class, class, class * 100 + 1);
	model_begin(s, 9, 9, LC_TASK_THREAD);
	for (uint32_t class = 1; class <= 3; class ++) {
		model_now += 10;
		model_begin(s, class, class, 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		model_now += 5;
		model_end(s);
		model_now += i < 3 ? 0 : 5;
	}
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 10 + 5 + 10 + 5 + 5);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, executions), 0);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, folded), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, cycles), 0);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 301, folded), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 0, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 0, cycles), 10 + 5);
}

static void what_a_thread_makes_and_runs_itself_is_the_threads(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	model_begin(s, 9, 9, LC_TASK_THREAD);
	model_now += 3;
	model_created(s, 1, 1, 101);
	model_begin(s, 1, 1, 0);
	model_now += 20;
	model_end(s);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 0, cycles), 23);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, folded), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 0);
}

/* new Thread(this::loop): what the loop takes off a queue, and what a job calls. */
static void a_threads_target_stands_for_the_thread(void **state)
{
	struct lc_span_thread *s = model_thread(0), *other = model_thread(1);

	model_created(other, 1, 1, 101);
	model_begin(s, 9, 9, LC_TASK_THREAD | LC_TASK_TARGETED);
	model_begin(s, 1, 1, 0);
	for (uint32_t job = 1; job <= 3; job++) {
		model_created(other, 2, job, 201);
		model_created(s, 3, job, 301);
		model_begin(s, 2, job, 0);
		model_begin(s, 3, job, 0);
		model_now += 10;
		model_end(s);
		model_end(s);
		model_begin(s, 3, job, 0); /* that the loop makes and executes itself */
		model_now += 1;
		model_end(s);
	}
	model_end(s);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 3);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, executions), 3);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, cycles), 30);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 301, folded), 6);
	assert_true(model_rows[model_rows_len - 2].flags & LC_TRACE_LOOP);
}

/* Netty: the target calls a task that calls the loop. */
static void what_was_submitted_is_no_part_of_what_was_not(void **state)
{
	struct lc_span_thread *s = model_thread(0), *other = model_thread(1);

	for (uint32_t class = 1; class <= 5; class ++)
		model_created(other, class, class, class * 100 + 1);
	model_submitted(other, 4, 4, LC_SUBMIT_EXECUTE, 9);
	model_begin(s, 9, 9, LC_TASK_THREAD | LC_TASK_TARGETED);
	for (uint32_t class = 1; class <= 5; class ++)
		model_begin(s, class, class, 0);
	for (unsigned i = 0; i < 6; i++)
		model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 301, folded), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 401, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 501, folded), 1); /* in a submitted one */
}

/* pool.execute(this::loop): the jobs come while it runs, and from all threads. */
static void a_loop_that_was_submitted_executes_tasks_of_their_own(void **state)
{
	struct lc_span_thread *s = model_thread(0), *other = model_thread(1);

	model_created(other, 1, 1, 1301);
	model_submitted(other, 1, 1, LC_SUBMIT_EXECUTE, 9);
	model_now += 1;
	for (uint32_t job = 1; job <= 3; job++)
		model_created(job == 1 ? s : other, 2, job, 201);
	model_begin(s, 9, 9, LC_TASK_THREAD);
	model_begin(s, 1, 1, 0);
	for (uint32_t job = 2; job <= 3; job++) {
		model_begin(s, 2, job, 0);
		model_now += 10;
		model_created(s, 3, job, 301);
		model_begin(s, 3, job, 0); /* made and executed by a job */
		model_now += 5;
		model_end(s);
		model_end(s);
		model_now += 1;
		assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, executions), job - 1);
	}
	model_begin(s, 2, 1, 0); /* made by this thread, before it ran the loop: not in it */
	model_end(s);
	model_end(s);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 1301, cycles), 2);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 1301, inside), 30);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 0, inside), 32);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, inside), 0); /* its parts are its own */
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, executions), 2);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, cycles), 30);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, folded), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 301, folded), 2);
}

/*
 * A composite: 1 executes two of class 2, of which each executes one of class 3, all made before 1
 * was submitted, by whatever thread. Nobody submitted them.
 */
static void what_a_submitted_task_was_given_is_a_part_of_it(void **state)
{
	struct lc_span_thread *s = model_thread(0), *other = model_thread(1);

	model_created(other, 1, 1, 1501);
	for (uint32_t part = 1; part <= 2; part++) {
		model_created(model_thread(2), 3, part, 3501);
		model_now += 1;
		model_created(other, 2, part, 2501);
	}
	model_now += 1;
	model_submitted(other, 1, 1, LC_SUBMIT_EXECUTE, 9);
	model_now += 1;
	model_begin(s, 9, 9, LC_TASK_THREAD);
	model_begin(s, 1, 1, 0);
	for (uint32_t part = 1; part <= 2; part++) {
		model_now += 1;
		model_begin(s, 2, part, 0);
		model_now += 10;
		model_begin(s, 3, part, 0);
		model_now += 100;
		model_end(s);
		model_end(s);
	}
	model_end(s);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 1501, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 1501, cycles), 222);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 1501, inside), 0); /* parts are its own */
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 2501, folded), 2);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 3501, folded), 2);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 0, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_THREAD, 0, inside), 222);
}

/* The same two without a submission: the outer one may be a loop. Or with one of their own. */
static void what_was_submitted_itself_is_no_part_of_a_composite(void **state)
{
	struct lc_span_thread *s = model_thread(0), *other = model_thread(1);

	for (uint32_t round = 1; round <= 2; round++) {
		for (uint32_t part = 1; part <= 2; part++) {
			model_created(other, 2, 10 * round + part, 2600 + round);
			if (round == 2)
				model_submitted(other, 2, 10 * round + part, LC_SUBMIT_EXECUTE, 9);
		}
		model_now += 1;
		model_created(other, 1, round, 1600 + round);
		if (round == 2)
			model_submitted(other, 1, round, LC_SUBMIT_EXECUTE, 9);
		model_begin(s, 1, round, 0);
		for (uint32_t part = 1; part <= 2; part++) {
			model_begin(s, 2, 10 * round + part, 0);
			model_now += 10;
			model_end(s);
		}
		model_end(s);
		assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 2600 + round, executions), 2);
		assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 2600 + round, cycles), 20);
		assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 1600 + round, cycles), 0);
		assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 1600 + round, inside), 20);
	}
}

/* A job that a loop executes alone: it is known as a loop, or was there before the job. */
static void a_loop_is_one_with_a_single_job_too(void **state)
{
	struct lc_span_thread *s = model_thread(0), *other = model_thread(1);

	for (uint32_t job = 1; job <= 3; job++)
		model_created(other, 2, job, 2001);
	for (uint32_t loop = 1; loop <= 2; loop++) {
		model_now += 1;
		model_created(other, 1, loop, 1001);
		model_begin(s, 1, loop, 0);
		for (uint32_t job = loop * 2 - 1; job <= 3 && job <= loop * 2; job++) {
			model_begin(s, 2, job, 0);
			model_end(s);
		}
		model_end(s);
	}
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 2001, executions), 3);
	model_created(other, 4, 1, 4001);
	model_now += 1;
	model_created(other, 5, 1, 5001);
	model_begin(s, 4, 1, 0);
	model_begin(s, 5, 1, 0);
	model_end(s);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 5001, executions), 1);
}

/* A task that a job makes, and the loop executes later, is a job as well. */
static void a_job_that_another_one_makes_is_its_own(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	model_created(model_thread(1), 1, 1, 1101);
	model_created(model_thread(1), 2, 1, 2101);
	model_begin(s, 1, 1, 0);
	model_begin(s, 2, 1, 0);
	model_created(s, 3, 1, 3101);
	model_end(s);
	model_created(s, 3, 2, 3102);
	model_begin(s, 3, 1, 0);
	model_end(s);
	model_begin(s, 3, 2, 0); /* this one the loop makes */
	model_end(s);
	model_end(s);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 2101, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 3101, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 3102, folded), 1);
}

/* A virtual thread that waits in its loop: what is not decided goes with it. */
static void what_is_held_back_moves_with_its_virtual_thread(void **state)
{
	struct lc_span_thread *s = model_thread(0), *other = model_thread(1);

	for (uint32_t job = 1; job <= 2; job++)
		model_created(model_thread(2), 2, job, 2201);
	model_now += 1;
	model_created(model_thread(2), 1, 1, 1201);
	lc_virtual_mount(s, 7, model_now);
	model_begin(s, 1, 1, 0);
	model_begin(s, 2, 1, 0);
	model_now += 10;
	model_end(s);
	lc_virtual_unmount(s, 7, model_now);
	model_begin(other, 9, 9, LC_TASK_THREAD);
	lc_virtual_mount(other, 7, model_now);
	model_begin(other, 2, 2, 0);
	model_now += 10;
	model_end(other);
	model_end(other);
	lc_virtual_unmount(other, 7, model_now);
	model_end(other);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 1201, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 1201, cycles), 0);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 2201, executions), 2);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 2201, cycles), 20);
}

static void calls_on_one_object_are_one_execution(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	model_created(model_thread(1), 1, 1, 101);
	model_created(model_thread(1), 2, 2, 201);
	model_begin(s, 1, 1, 0); /* run */
	model_begin(s, 1, 1, 0); /* super.run */
	model_now += 10;
	model_begin(s, 2, 2, 0);
	model_begin(s, 1, 1, 0); /* recursion through another task */
	model_now += 10;
	model_end(s);
	model_end(s);
	model_end(s);
	assert_int_equal(model_rows_len, 0); /* of class 2 it is not decided; the first goes on */
	model_now += 1;
	model_end(s);
	assert_int_equal(model_rows_len, 2);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 1);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, cycles), 21);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, folded), 0);
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 201, folded), 1);
}

static void each_execution_counts_and_unexecuted_ones_do_not(void **state)
{
	struct lc_span_thread *s = model_thread(0);

	for (uint32_t hash = 1; hash <= 10; hash++)
		model_created(s, 1, hash, 101);
	for (unsigned i = 0; i < 3; i++) {
		model_submitted(s, 1, 5, LC_SUBMIT_EXECUTE, 7);
		model_begin(model_thread(1), 1, 5, 0);
		model_now += 4;
		model_end(model_thread(1));
	}
	assert_int_equal(MODEL_SUM(LC_SPAN_TASK, 101, executions), 3);
	assert_int_equal(model_made(101, LC_SUBMIT_NONE) - model_made(101, LC_SUBMIT_FIRST), 9);
}

/* Reconstruction from single spans */

struct total {
	uint64_t executions, folded, cycles, inside;
};

static struct lc_block_trace *row_of(uint64_t id)
{
	for (size_t i = 0; id && i < model_rows_len; i++)
		if (model_rows[i].id == id)
			return &model_rows[i];
	return NULL;
}

/* The outermost span of the site around `r`; NULL: none. */
static const struct lc_block_trace *outermost_of(const struct lc_block_trace *r, uint32_t site)
{
	const struct lc_block_trace *found = NULL;

	while ((r = row_of(r->outer)))
		if (r->site == site)
			found = r;
	return found;
}

/*
 * A task's cycles are inside each site around it once, if they are not that site's own already. Do
 * it for the nearest span of the site.
 */
static void add_inside(struct total *by_site, const struct lc_block_trace *r, uint64_t cycles)
{
	for (const struct lc_block_trace *o = row_of(r->outer), *x; o; o = row_of(o->outer)) {
		const struct lc_block_trace *nearest = row_of(r->outer);

		while (nearest->site != o->site)
			nearest = row_of(nearest->outer);
		x = outermost_of(r, o->site);
		if (nearest == o && o->site != r->site && !(x->flags & LC_TRACE_FOLDED))
			by_site[o->site].inside += cycles;
	}
}

/* Spans end before those that they lie in, so that one pass adds everything up. */
static void reconstruct(struct total *by_site)
{
	uint64_t *inside = calloc(model_rows_len + 1, sizeof(*inside));

	assert_non_null(inside);
	for (size_t i = 0; i < model_rows_len; i++) {
		const struct lc_block_trace *r = &model_rows[i], *outer = row_of(r->outer);
		uint64_t cycles = r->cycles + inside[i];

		if (lc_fold_into_outer(r->kind, outer ? outer->kind : LC_SPAN_THREAD, r->flags,
		                       r->creator != 0)) {
			assert_true(r->flags & LC_TRACE_FOLDED);
			if (outer)
				inside[outer - model_rows] += cycles;
			by_site[r->site].folded++;
		} else {
			assert_false(r->flags & LC_TRACE_FOLDED);
			by_site[r->site].executions++;
			by_site[r->site].cycles += cycles;
			add_inside(by_site, r, cycles);
		}
	}
	free(inside);
}

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

static void one_step(unsigned depth[MODEL_THREADS])
{
	unsigned thread = random_below(MODEL_THREADS);
	struct lc_span_thread *s = model_thread(thread);
	uint32_t class = 1 + random_below(8), hash = 1 + random_below(12);

	model_now += random_below(50);
	switch (random_below(5)) {
	case 0:
		model_created(s, class, hash + class * 100, class * 100 + 1);
		break;
	case 1:
		model_submitted(s, class, hash + class * 100, LC_SUBMIT_FORK, 3);
		break;
	case 2:
	case 3:
		if (depth[thread] >= 12)
			break;
		depth[thread]++;
		model_begin(s, class, hash + class * 100,
		            class == 1   ? LC_TASK_WRAPPER | LC_TASK_FORK_JOIN
		            : class == 2 ? LC_TASK_THREAD
		            : class == 3 ? LC_TASK_FORK_JOIN
		            : class == 4 ? LC_TASK_WRAPPER
		                         : 0);
		break;
	default:
		if (depth[thread]) {
			depth[thread]--;
			model_end(s);
		}
	}
}

static void spans_one_by_one_give_what_the_agent_counted(void **state)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct total by_site[1000] = { 0 };
		unsigned depth[MODEL_THREADS] = { 0 };
		uint64_t folded = 0, executions = 0, inside = 0;

		model_teardown();
		model_setup();
		random_state = seed;
		for (unsigned i = 0; i < 4000; i++)
			one_step(depth);
		for (unsigned t = 0; t < MODEL_THREADS; t++)
			while (depth[t]--)
				model_end(model_thread(t));
		reconstruct(by_site);
		for (uint32_t site = 1; site < 1000; site++) {
			const struct total *x = &by_site[site];

			assert_int_equal(x->executions,
			                 MODEL_SUM(LC_SPAN_TASK, site, executions) +
			                     MODEL_SUM(LC_SPAN_THREAD, site, executions));
			assert_int_equal(x->folded, MODEL_SUM(LC_SPAN_TASK, site, folded) +
			                                MODEL_SUM(LC_SPAN_THREAD, site, folded));
			assert_int_equal(x->cycles, MODEL_SUM(LC_SPAN_TASK, site, cycles) +
			                                MODEL_SUM(LC_SPAN_THREAD, site, cycles));
			assert_int_equal(x->inside, MODEL_SUM(LC_SPAN_TASK, site, inside) +
			                                MODEL_SUM(LC_SPAN_THREAD, site, inside));
			folded += x->folded;
			executions += x->executions;
			inside += x->inside;
		}
		assert_true(folded > 100 && executions > 100 && inside > 100);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_inside_a_task_is_part_of_it),
		cmocka_unit_test(a_task_inside_a_thread_is_its_own),
		cmocka_unit_test(unless_that_thread_made_it_and_nobody_submitted_it),
		cmocka_unit_test(a_forked_task_is_never_its_joiners),
		TEST(nested_tasks_are_added_up_to_the_outermost),
		TEST(what_a_thread_makes_and_runs_itself_is_the_threads),
		TEST(a_threads_target_stands_for_the_thread),
		TEST(what_was_submitted_is_no_part_of_what_was_not),
		TEST(a_loop_that_was_submitted_executes_tasks_of_their_own),
		TEST(what_a_submitted_task_was_given_is_a_part_of_it),
		TEST(what_was_submitted_itself_is_no_part_of_a_composite),
		TEST(a_loop_is_one_with_a_single_job_too),
		TEST(a_job_that_another_one_makes_is_its_own),
		TEST(what_is_held_back_moves_with_its_virtual_thread),
		TEST(calls_on_one_object_are_one_execution),
		TEST(each_execution_counts_and_unexecuted_ones_do_not),
		TEST(spans_one_by_one_give_what_the_agent_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
