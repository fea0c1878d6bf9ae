/* uses: analyzer/diff/diff_condition.c analyzer/base/memory.c src/base/nearest.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_diff_condition.c - checks what the parser of --fail-on makes of conditions, and of others.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/diff/diff_condition.h"

static void conditions_mean_what_they_say(void **state)
{
	static const struct {
		const char *text;
		enum lc_diff_metric metric;
		const char *pattern;
		bool falls, relative;
		double limit;
	} cases[] = {
		{ "bytes>+3%", LC_DIFF_BYTES, NULL, false, true, 0.03 },
		{ "share(Value*)>+2pp", LC_DIFF_SHARE, "Value*", false, false, 0.02 },
		{ "share(Value*)>2%", LC_DIFF_SHARE, "Value*", false, true, 0.02 },
		{ "cpu<-150ms", LC_DIFF_CPU, NULL, true, false, 150e6 },
		{ " cpu ( a.B ) > + 1.5 s ", LC_DIFF_CPU, "a.B", false, false, 1.5e9 },
		{ "allocations>0", LC_DIFF_ALLOCATIONS, NULL, false, false, 0 },
		{ "counted-bytes(byte[])>1MB", LC_DIFF_COUNTED_BYTES, "byte[]", false, false,
		  1048576 },
		{ "counted-bytes>2k", LC_DIFF_COUNTED_BYTES, NULL, false, false, 2048 },
		{ "offheap-live(DirectByteBuffer*)>+10%", LC_DIFF_OFFHEAP_LIVE, "DirectByteBuffer*",
		  false, true, 0.1 },
		{ "live(Cache*)>+10%", LC_DIFF_LIVE, "Cache*", false, true, 0.1 },
		{ "live<-1KB", LC_DIFF_LIVE, NULL, true, false, 1024 },
		{ "offheap-bytes>+1MB", LC_DIFF_OFFHEAP_BYTES, NULL, false, false, 1048576 },
		{ "counted-allocations(A(B)C)<-10%", LC_DIFF_COUNTED_ALLOCATIONS, "A(B)C", true,
		  true, 0.1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lc_diff_condition c;
		char error[128] = "";

		assert_int_equal(lc_diff_condition_parse(cases[i].text, &c, error, sizeof(error)),
		                 0);
		assert_string_equal(error, "");
		assert_int_equal(c.metric, cases[i].metric);
		if (cases[i].pattern)
			assert_string_equal(c.pattern, cases[i].pattern);
		else
			assert_null(c.pattern);
		assert_int_equal(c.falls, cases[i].falls);
		assert_int_equal(c.relative, cases[i].relative);
		assert_true(fabs(c.limit - cases[i].limit) <= 1e-12 * cases[i].limit);
		free(c.pattern);
	}
}

static void what_is_no_condition_says_why_and_leaves_the_result(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "begin with share" },
		{ "byts>3%", "did you mean 'bytes'" },
		{ "bytes", "'>' or '<' is missing" },
		{ "bytes=3%", "'>' or '<' is missing" },
		{ "bytes>", "is missing or too long" },
		{ "bytes>+", "is missing or too long" },
		{ "bytes>+%", "is missing or too long" },
		{ "bytes>1.2.3%", "is missing or too long" },
		{ "bytes>nan", "is missing or too long" },
		{ "bytes>-3%", ">+N" },
		{ "bytes<+3%", "<-N" },
		{ "bytes>3pp", "the unit of bytes is" },
		{ "share>3", "the unit of share is pp or %" },
		{ "cpu>3", "the unit of cpu is" },
		{ "allocations>3k", "the unit of allocations is" },
		{ "bytes>3% please", "the unit of bytes is" },
		{ "share(>3pp", "a ')' is missing" },
		{ "share()>3pp", "is empty" },
		{ "share( )>3pp", "is empty" },
		{ "share(A>3pp", "a ')' is missing" },
		{ "bytes>99999999999999999999999999999999999999", "is missing or too long" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lc_diff_condition c = { .metric = LC_DIFF_METRICS };
		char error[128] = "";

		assert_int_equal(lc_diff_condition_parse(cases[i].text, &c, error, sizeof(error)),
		                 -EINVAL);
		if (!strstr(error, cases[i].says))
			fail_msg("'%s' says '%s'", cases[i].text, error);
		assert_int_equal(c.metric, LC_DIFF_METRICS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_mean_what_they_say),
		cmocka_unit_test(what_is_no_condition_says_why_and_leaves_the_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
