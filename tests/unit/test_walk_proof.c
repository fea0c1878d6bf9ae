/* uses: src/jvm/walk_proof.c */
/* test_walk_proof.c - checks when walks of ours may pass a kind of frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/jvm/walk_proof.h"

static void take(struct lc_walk_proof *p, uint32_t kinds, bool agrees, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		lc_walk_proof_take(p, kinds, agrees);
}

static void eight_walks_that_agree_prove_the_kinds_on_them_and_no_other(void **state)
{
	struct lc_walk_proof p = { 0 };

	(void)state;
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

	(void)state;
	take(&p, LC_FRAME_INTERPRETED, false, 4);
	assert_false(lc_walk_provable(&p, LC_FRAME_INTERPRETED));
	take(&p, LC_FRAME_INTERPRETED, true, 100);
	assert_false(lc_walk_proved(&p, LC_FRAME_INTERPRETED));
}

static void one_walk_in_which_the_jvm_errs_is_outvoted(void **state)
{
	struct lc_walk_proof p = { 0 };

	(void)state;
	take(&p, LC_FRAME_COMPILED, false, 1);
	take(&p, LC_FRAME_COMPILED, true, 8);
	assert_true(lc_walk_proved(&p, LC_FRAME_COMPILED));
}

static void as_many_that_differ_as_agree_prove_nothing(void **state)
{
	struct lc_walk_proof p = { 0 };

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		take(&p, LC_FRAME_COMPILED, i % 2, 1);
	assert_false(lc_walk_proved(&p, LC_FRAME_COMPILED));
	assert_false(lc_walk_provable(&p, LC_FRAME_COMPILED));
}

static void a_fault_refutes_what_is_not_proved_yet(void **state)
{
	struct lc_walk_proof p = { 0 };

	(void)state;
	take(&p, LC_FRAME_COMPILED, true, 8);
	lc_walk_proof_fault(&p);
	assert_true(lc_walk_proved(&p, LC_FRAME_COMPILED));
	assert_true(lc_walk_provable(&p, LC_FRAME_COMPILED));
	assert_false(lc_walk_provable(&p, LC_FRAME_INTERPRETED));
	assert_false(lc_walk_provable(&p, LC_FRAME_BEYOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_walks_that_agree_prove_the_kinds_on_them_and_no_other),
		cmocka_unit_test(walks_that_differ_refute_the_kind_for_ever),
		cmocka_unit_test(one_walk_in_which_the_jvm_errs_is_outvoted),
		cmocka_unit_test(as_many_that_differ_as_agree_prove_nothing),
		cmocka_unit_test(a_fault_refutes_what_is_not_proved_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
