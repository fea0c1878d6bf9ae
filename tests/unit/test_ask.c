/* uses: src/attribute/ask.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_ask.c - checks that a function is called once, or never, and that nobody waits for ever. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "src/attribute/ask.h"
#include "src/core/wake.h"

#define MS UINT64_C(1000000)

static _Atomic int calls, wakes;
static _Atomic bool begun, may_end, stop;

void lc_wake(void)
{
	wakes++;
}

static void count(JNIEnv *jni, void *context)
{
	*(int *)context += 1;
	calls++;
}

static void last_long(JNIEnv *jni, void *context)
{
	begun = true;
	while (!may_end)
		nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
	calls++;
}

static void *answer(void *unused)
{
	while (!stop) {
		lc_ask_answer(NULL);
		nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
	}
	return NULL;
}

static int reset(void **state)
{
	calls = wakes = 0;
	begun = may_end = stop = false;
	return 0;
}

static void without_an_answer_the_call_is_taken_back(void **state)
{
	int mine = 0;

	assert_false(lc_ask(count, &mine, MS));
	assert_int_equal(wakes, 1);
	assert_false(lc_ask_waits());
	lc_ask_answer(NULL);
	assert_int_equal(mine, 0);
}

static void the_function_has_run_when_the_call_returns(void **state)
{
	pthread_t thread;
	int mine = 0;

	assert_int_equal(pthread_create(&thread, NULL, answer, NULL), 0);
	for (int i = 1; i <= 20; i++) {
		assert_true(lc_ask(count, &mine, UINT64_C(10000) * MS));
		assert_int_equal(mine, i);
	}
	stop = true;
	pthread_join(thread, NULL);
}

static void a_second_call_is_refused_until_the_first_has_run(void **state)
{
	pthread_t thread;
	int mine = 0;

	assert_int_equal(pthread_create(&thread, NULL, answer, NULL), 0);
	while (!begun) {
		if (lc_ask(last_long, NULL, MS))
			fail();
	}
	assert_false(lc_ask(count, &mine, UINT64_C(10000) * MS));
	may_end = true;
	while (!calls)
		nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
	while (!lc_ask(count, &mine, UINT64_C(10000) * MS))
		;
	assert_int_equal(mine, 1);
	assert_int_equal(calls, 2);
	stop = true;
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_an_answer_the_call_is_taken_back, reset),
		cmocka_unit_test_setup(the_function_has_run_when_the_call_returns, reset),
		cmocka_unit_test_setup(a_second_call_is_refused_until_the_first_has_run, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
