/* uses: src/core/fds.c src/base/limit.c src/base/say.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_fds.c - checks that the agent takes a quarter of what is left of descriptors. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/limit.h"
#include "src/core/fds.h"

static void a_quarter_of_what_others_leave_is_ours(void **state)
{
	assert_int_equal(lc_fds_budget(160, 10, 0), 37);
	assert_int_equal(lc_fds_budget(160, 40, 30), 37); /* ours are not counted as others' */
	assert_int_equal(lc_fds_budget(64, 70, 0), 0);
}

static void the_limit_is_that_of_the_process_as_it_is_now(void **state)
{
	const struct rlimit few = { 40, 40 };
	struct lc_limit limits[LC_LIMITS_MAX];
	int files[40], len = 0, n = 0;

	for (int i = 0; i < 100; i++) /* there is no limit before the first look */
		assert_true(lc_fds_take(LC_FDS_EVENT));
	for (int i = 0; i < 100; i++)
		lc_fds_give(LC_FDS_EVENT);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	lc_fds_look();
	while (lc_fds_take(LC_FDS_BREAKPOINT))
		n++;
	assert_in_range(n, 5, 10);
	while (len < 40 && (files[len] = open("/dev/null", O_RDONLY)) >= 0)
		len++;
	while (len > 25) /* others take most of what is left; n of the rest might be ours */
		close(files[--len]);
	for (int i = 0; i < n; i++)
		lc_fds_give(LC_FDS_BREAKPOINT);
	lc_fds_look();
	for (n = 0; lc_fds_take(LC_FDS_BREAKPOINT);)
		n++;
	assert_in_range(n, 1, 4);
	while (len)
		close(files[--len]);
	lc_fds_tell();
	lc_fds_tell();
	assert_int_equal(lc_limits(limits), 1);
	assert_string_equal(limits[0].kind, "fds_breakpoints");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quarter_of_what_others_leave_is_ours),
		cmocka_unit_test(the_limit_is_that_of_the_process_as_it_is_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
