/* uses: src/jvm/stack/walk_proof.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_walk_proof.c - checks when walks of ours may pass a kind of frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/jvm/stack/walk_proof.h"

static void take(struct lc_walk_proof *p, uint32_t kinds, bool agrees, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		lc_walk_proof_take(p, kinds, agrees);
}

static void eight_walks_that_agree_prove_the_kinds_on_them_and_no_other(void **state)
{
	struct lc_walk_proof p = { 0 };

	take(&p, LC_FRAME_COMPILED | LC_FRAME_ENTRY, true, 7);
	assert_false(lc_walk_proved(&p, LC_FRAME_COMPILED));
	take(&p, LC_FRAME_COMPILED, true, 1);
	assert_true(lc_walk_proved(&p, LC_FRAME_COMPILED));
	assert_false(lc_walk_proved(&p, LC_FRAME_ENTRY));
	assert_false(lc_walk_proved(&p, LC_FRAME_INTERPRETED));
	assert_true(lc_walk_provable(&p, LC_FRAME_ENTRY));
}

static void walks_that_differ_refute_the_kind_for_ever(void **state)
{
	struct lc_walk_proof p = { 0 };

	take(&p, LC_FRAME_INTERPRETED, false, 4);
	assert_false(lc_walk_provable(&p, LC_FRAME_INTERPRETED));
	take(&p, LC_FRAME_INTERPRETED, true, 100);
	assert_false(lc_walk_proved(&p, LC_FRAME_INTERPRETED));
}

static void one_walk_in_which_the_jvm_errs_is_outvoted(void **state)
{
	struct lc_walk_proof p = { 0 };

	take(&p, LC_FRAME_COMPILED, false, 1);
	take(&p, LC_FRAME_COMPILED, true, 8);
	assert_true(lc_walk_proved(&p, LC_FRAME_COMPILED));
}

static void as_many_that_differ_as_agree_prove_nothing(void **state)
{
	struct lc_walk_proof p = { 0 };

	for (unsigned i = 0; i < 20; i++)
		take(&p, LC_FRAME_COMPILED, i % 2, 1);
	assert_false(lc_walk_proved(&p, LC_FRAME_COMPILED));
	assert_false(lc_walk_provable(&p, LC_FRAME_COMPILED));
}

static void a_fault_refutes_what_is_not_proved_yet(void **state)
{
	struct lc_walk_proof p = { 0 };

	take(&p, LC_FRAME_COMPILED, true, 8);
	lc_walk_proof_fault(&p);
	assert_true(lc_walk_proved(&p, LC_FRAME_COMPILED));
	assert_true(lc_walk_provable(&p, LC_FRAME_COMPILED));
	assert_false(lc_walk_provable(&p, LC_FRAME_INTERPRETED));
	assert_false(lc_walk_provable(&p, LC_FRAME_BEYOND));
}

/* A compiled frame of two methods, an interpreted one, and the entry: three Java frames. */
static struct lc_walk_steps three_steps(void)
{
	struct lc_walk_steps s = { 0 };

	assert_true(lc_walk_steps_add(&s, LC_FRAME_COMPILED, 0));
	assert_true(lc_walk_steps_add(&s, LC_FRAME_INTERPRETED, 2));
	assert_true(lc_walk_steps_add(&s, LC_FRAME_ENTRY, 3));
	return s;
}

static uint32_t proved_by(int other, int same, unsigned times, uint32_t *refuted)
{
	const struct lc_walk_steps s = three_steps();
	struct lc_walk_proof p = { 0 };

	for (unsigned i = 0; i < times; i++)
		lc_walk_proof_compare(&p, &s, 3, other, same);
	*refuted = p.refuted;
	return p.proved;
}

static void a_walk_that_the_jvm_gives_up_proves_the_steps_before_and_refutes_none(void **state)
{
	uint32_t refuted;

	assert_int_equal(proved_by(1, 1, 8, &refuted), 0);
	assert_int_equal(refuted, 0);
	/* The second frame's words have led to the third Java frame, but nothing to its caller. */
	assert_int_equal(proved_by(3, 3, 8, &refuted),
	                 LC_FRAME_COMPILED | LC_FRAME_INTERPRETED | LC_FRAME_ENTRY);
	assert_int_equal(refuted, 0);
}

static void frames_that_differ_refute_the_kinds_around_them_alone(void **state)
{
	uint32_t refuted;

	assert_int_equal(proved_by(3, 2, 8, &refuted), 0);
	assert_int_equal(refuted, LC_FRAME_COMPILED | LC_FRAME_INTERPRETED);
	assert_int_equal(proved_by(4, 3, 8, &refuted), LC_FRAME_COMPILED);
	assert_int_equal(refuted, LC_FRAME_INTERPRETED | LC_FRAME_ENTRY);
	assert_int_equal(proved_by(3, 0, 8, &refuted), 0);
	assert_int_equal(refuted, LC_FRAME_COMPILED);
}

static void walks_contradict_each_other_only_where_both_have_a_frame_or_ours_ended(void **state)
{
	const struct lc_walk_steps s = three_steps();
	struct lc_walk_proof p = { 0 };

	assert_false(lc_walk_proof_compare(&p, &s, 3, 3, 3));
	assert_false(lc_walk_proof_compare(&p, &s, 3, 1, 1));
	assert_true(lc_walk_proof_compare(&p, &s, 3, 3, 1));
	assert_true(lc_walk_proof_compare(&p, &s, 3, 2, 1));
	assert_true(lc_walk_proof_compare(&p, &s, 3, 5, 3));
}

static void steps_beyond_the_room_are_refused(void **state)
{
	struct lc_walk_steps s = { 0 };

	for (unsigned i = 0; i < LC_WALK_STEPS_MAX; i++)
		assert_true(lc_walk_steps_add(&s, LC_FRAME_COMPILED, 0));
	assert_false(lc_walk_steps_add(&s, LC_FRAME_COMPILED, 0));
	assert_int_equal(s.len, LC_WALK_STEPS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_walks_that_agree_prove_the_kinds_on_them_and_no_other),
		cmocka_unit_test(walks_that_differ_refute_the_kind_for_ever),
		cmocka_unit_test(one_walk_in_which_the_jvm_errs_is_outvoted),
		cmocka_unit_test(as_many_that_differ_as_agree_prove_nothing),
		cmocka_unit_test(a_fault_refutes_what_is_not_proved_yet),
		cmocka_unit_test(
		    a_walk_that_the_jvm_gives_up_proves_the_steps_before_and_refutes_none),
		cmocka_unit_test(frames_that_differ_refute_the_kinds_around_them_alone),
		cmocka_unit_test(
		    walks_contradict_each_other_only_where_both_have_a_frame_or_ours_ended),
		cmocka_unit_test(steps_beyond_the_room_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
