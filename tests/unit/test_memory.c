/* uses: src/core/memory.c src/core/memory_limit.c src/base/limit.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - checks who may hold how much memory, and what is said of those who may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/limit.h"
#include "src/base/say.h"
#include "src/core/memory.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static char said[1024];
static unsigned lines;

void lc_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	lines++;
}

static void without_a_limit_everybody_gets_all(void **state)
{
	for (unsigned use = 0; use < LC_MEMORY_USES; use++) {
		assert_true(lc_memory_take(use, GIB));
		lc_memory_give(use, GIB);
	}
	lc_memory_tell();
	assert_int_equal(lines, 0);
}

/* Each use in turn takes all that it gets. */
static void no_use_takes_what_is_kept_for_others(void **state)
{
	uint64_t taken[LC_MEMORY_USES] = { 0 }, all = 0;

	lc_memory_limit(64 * MIB);
	for (unsigned use = 0; use < LC_MEMORY_USES; use++) {
		while (lc_memory_take(use, MIB)) {
			lc_memory_add((int64_t)MIB);
			taken[use] += MIB;
		}
		all += taken[use];
		assert_int_equal(lc_memory_refused(use), 1);
		if (use == LC_MEMORY_RECORDS) /* allocation logs leave room for tables */
			assert_true(lc_memory_room(LC_MEMORY_CONTEXTS) >= 8 * MIB &&
			            lc_memory_room(LC_MEMORY_COUNTERS) >= 8 * MIB);
	}
	assert_true(all <= 64 * MIB && all >= 56 * MIB);
	assert_int_equal(lc_memory_held(), all);
	for (unsigned use = 0; use < LC_MEMORY_USES; use++) {
		lc_memory_give(use, taken[use]);
		lc_memory_add(-(int64_t)taken[use]);
	}
	assert_true(lc_memory_take(LC_MEMORY_RECORDS, 30 * MIB));
	lc_memory_give(LC_MEMORY_RECORDS, 30 * MIB);
}

/* Whatever else the agent holds leaves less. */
static void what_nobody_asked_for_counts_too(void **state)
{
	lc_memory_limit(64 * MIB);
	lc_memory_add((int64_t)(62 * MIB));
	for (unsigned use = 0; use < LC_MEMORY_USES; use++)
		assert_true(use == LC_MEMORY_PATHS ? lc_memory_room(use) >= 8 * MIB
		                                   : !lc_memory_room(use));
	lc_memory_add(-(int64_t)(62 * MIB));
	assert_true(lc_memory_room(LC_MEMORY_PATHS) > 0);
}

static void a_refusal_is_said_once(void **state)
{
	struct lc_limit limits[LC_LIMITS_MAX];

	lines = 0;
	for (unsigned use = 0; use < LC_MEMORY_USES; use++)
		assert_false(lc_memory_take(use, 64 * GIB));
	lc_memory_tell();
	lc_memory_tell();
	assert_int_equal(lines, LC_MEMORY_USES);
	assert_non_null(strstr(said, "64 MB, --max-memory"));
	assert_int_equal(lc_limits(limits), LC_MEMORY_USES);
	assert_string_equal(limits[LC_MEMORY_RECORDS].kind, "memory_records");
}

static void the_default_is_a_twentieth_of_small_machines(void **state)
{
	assert_int_equal(lc_memory_default_of(64 * GIB), 256 * MIB);
	assert_int_equal(lc_memory_default_of(2000 * 1000), 100 * 1000);
	assert_int_equal(lc_memory_default_of(0), 256 * MIB); /* not known */
	assert_true(lc_memory_default_limit() <= 256 * MIB && lc_memory_default_limit() > MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_everybody_gets_all),
		cmocka_unit_test(no_use_takes_what_is_kept_for_others),
		cmocka_unit_test(what_nobody_asked_for_counts_too),
		cmocka_unit_test(a_refusal_is_said_once),
		cmocka_unit_test(the_default_is_a_twentieth_of_small_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
