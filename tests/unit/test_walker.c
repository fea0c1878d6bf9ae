/* uses: src/stack/walker.c src/stack/walk_credit.c src/core/own_cost.c src/core/jvmti.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_walker.c - checks that a walk asks for no more frames than it needs, and for all when it
 * needs them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/core/jvmti.h"
#include "src/stack/walker.h"
#include "tests/unit/counter.h"

/* The JVM is this test: a thread of so many frames, numbered from the nearest. */
static jint depth;
static jint asked[4];
static unsigned times;
static bool refuses;

static jvmtiError JNICALL get_stack_trace(jvmtiEnv *jvmti, jthread thread, jint start, jint cap,
                                          jvmtiFrameInfo *frames, jint *len)
{
	assert_null(thread);
	assert_int_equal(start, 0);
	assert_true(times < 4);
	asked[times++] = cap;
	if (refuses)
		return JVMTI_ERROR_WRONG_PHASE;
	*len = depth < cap ? depth : cap;
	for (jint i = 0; i < *len; i++)
		frames[i] = (jvmtiFrameInfo){ .location = i };
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = { .GetStackTrace = get_stack_trace };
static jvmtiEnv jvmti = &functions;

static jint stop_at(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len, void *closure)
{
	const jint *wanted = closure;

	for (jint i = 0; i < len; i++)
		if (frames[i].location == *wanted)
			return i;
	return len;
}

static int walk(struct lc_walker *w, bool deep, jint frames, jint wanted, struct lc_walked *out)
{
	depth = frames;
	times = 0;
	return lc_walker_walk(w, NULL, deep, stop_at, &wanted, out);
}

static int setup(void **state)
{
	struct lc_walker *w = NULL;

	refuses = false;
	lc_jvmti_set(&jvmti);
	assert_int_equal(lc_walker_create(&w), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	lc_walker_destroy(*state);
	return 0;
}

static void a_near_frame_is_found_in_one_short_walk(void **state)
{
	struct lc_walked walked;

	assert_int_equal(walk(*state, false, 500, 20, &walked), 0);
	assert_int_equal(walked.stop, 20);
	assert_int_equal(walked.len, 48);
	assert_int_equal(times, 1);
	assert_int_equal(asked[0], 48);
}

static void a_far_frame_is_found_by_a_second_and_longer_walk(void **state)
{
	struct lc_walked walked;

	assert_int_equal(walk(*state, false, 500, 300, &walked), 0);
	assert_int_equal(walked.stop, 300);
	assert_int_equal(walked.len, 500);
	assert_int_equal(times, 2);
	assert_int_equal(asked[1], 1024);
}

static void a_deep_walk_asks_for_all_at_once(void **state)
{
	struct lc_walked walked;

	assert_int_equal(walk(*state, true, 500, 2, &walked), 0);
	assert_int_equal(walked.len, 500);
	assert_int_equal(times, 1);
	assert_int_equal(asked[0], 1024);
}

/* Without credit the JVM is asked for nothing; what it was asked for is counted. */
static void walks_are_the_jvms_as_long_as_there_is_credit(void **state)
{
	struct lc_walker *w = *state;
	struct lc_walked walked;

	lc_walk_credit_limit(1);
	assert_int_equal(walk(w, true, 500, 2, &walked), 0);
	assert_int_equal(times, 1);
	while (lc_walk_credit_left(&w->credit))
		lc_walk_credit_pay(&w->credit, LC_WALK_JVM, LC_WALK_SLICE_NS);
	assert_int_equal(walk(w, true, 500, 2, &walked), -EAGAIN);
	assert_int_equal(times, 0);
	lc_walk_credit_limit(0);
	assert_int_equal(walk(w, true, 500, 2, &walked), 0);
	assert_true(counter("jvm_walks") >= 2);
	assert_true(counter("jvm_walk_frames") >= 1000);
}

static void a_frame_that_is_nowhere_stops_at_the_end(void **state)
{
	struct lc_walked walked;

	assert_int_equal(walk(*state, false, 30, 999, &walked), 0);
	assert_int_equal(times, 1); /* there are no more frames than these */
	assert_int_equal(walked.stop, walked.len);
	assert_int_equal(walk(*state, false, 5000, 9999, &walked), 0);
	assert_int_equal(times, 2);
	assert_int_equal(walked.stop, 1024);
	assert_int_equal(walked.len, 1024);
}

static void a_path_of_all_frames_has_room_behind_them(void **state)
{
	struct lc_walked walked;

	assert_int_equal(walk(*state, true, 2000, 0, &walked), 0);
	for (jint i = 0; i < walked.len; i++)
		walked.packed[i] = UINT64_MAX;
	for (jint i = 0; i < walked.len; i++)
		assert_int_equal(walked.frames[i].location, i);
}

static void a_jvm_that_refuses_is_reported_and_leaves_the_output_alone(void **state)
{
	struct lc_walked walked = { .len = -7 };

	refuses = true;
	assert_int_equal(walk(*state, false, 10, 0, &walked), -EIO);
	assert_int_equal(walked.len, -7);
}

static void scratch_grows_and_is_kept(void **state)
{
	void *small = lc_walker_scratch(*state, LC_WALKER_FRAMES, 64);

	assert_non_null(small);
	assert_ptr_equal(lc_walker_scratch(*state, LC_WALKER_FRAMES, 32), small);
	assert_non_null(lc_walker_scratch(*state, LC_WALKER_FRAMES, 1 << 16));
}

static void words_do_not_overwrite_the_frames_of_a_walk(void **state)
{
	struct lc_walked walked;
	unsigned char *words;

	assert_int_equal(walk(*state, false, 40, 0, &walked), 0);
	words = lc_walker_scratch(*state, LC_WALKER_WORDS, 1 << 16);
	assert_non_null(words);
	for (unsigned i = 0; i < 1 << 16; i++)
		words[i] = 0xff;
	for (jint i = 0; i < walked.len; i++)
		assert_int_equal(walked.frames[i].location, i);
}

static void the_stack_of_this_thread_has_an_end(void **state)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	assert_true(lc_walker_end(*state) > here);
	assert_true(lc_walker_end(*state) - here < UINT64_C(1) << 30);
	assert_int_equal(lc_walker_end(*state), lc_walker_ask_end(*state));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_near_frame_is_found_in_one_short_walk),
		TEST(a_far_frame_is_found_by_a_second_and_longer_walk),
		TEST(a_deep_walk_asks_for_all_at_once),
		TEST(walks_are_the_jvms_as_long_as_there_is_credit),
		TEST(a_frame_that_is_nowhere_stops_at_the_end),
		TEST(a_path_of_all_frames_has_room_behind_them),
		TEST(a_jvm_that_refuses_is_reported_and_leaves_the_output_alone),
		TEST(scratch_grows_and_is_kept),
		TEST(words_do_not_overwrite_the_frames_of_a_walk),
		TEST(the_stack_of_this_thread_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
