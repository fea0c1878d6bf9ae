/* uses: src/core/epoch.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alloc_place.c - checks that an object's address is true at the time that comes with it,
 * where a thread's references are brought up to date only when the thread calls the JVM.
 */
#include <jni.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/base/time.h"
#include "src/core/epoch.h"
#include "src/heap/alloc_path.h"
#include "src/jvm/layout/ranges.h"

#define A UINT64_C(0x700000000)
#define B UINT64_C(0x700100000)
#define C UINT64_C(0x700200000)

static uint64_t slot;         /* what the thread's reference says */
static uint64_t object_at;    /* ... when the thread has called the JVM */
static unsigned calls, moves; /* `moves`: pauses that come right after a call */

uint64_t lc_ranges_plain(uint64_t addr)
{
	return addr;
}

/* The collector begins to move objects. */
static void pause_to(uint64_t addr)
{
	lc_epoch_enter_gc();
	lc_epoch_leave_gc();
	object_at = addr;
}

static jclass JNICALL get_class(JNIEnv *env, jobject o)
{
	calls++;
	*(uint64_t *)o = object_at;
	if (moves) {
		moves--;
		pause_to(object_at == B ? C : B);
	}
	return (jclass)&slot;
}

static void JNICALL delete_local(JNIEnv *env, jobject ref)
{
	assert_non_null(ref);
}

static struct lc_alloc_place place(uint32_t *renewed)
{
	static const struct JNINativeInterface_ functions = { .GetObjectClass = get_class,
		                                              .DeleteLocalRef = delete_local };
	JNIEnv env = &functions;

	calls = 0;
	return lc_alloc_place(&env, (jobject)&slot, renewed);
}

static void only_after_a_pause_the_jvm_is_called(void **state)
{
	uint32_t renewed = lc_epoch_gc_sequence();
	uint64_t before;

	slot = object_at = A;
	assert_int_equal(place(&renewed).addr, A);
	assert_int_equal(calls, 0);
	pause_to(B);
	before = lc_time_now_ns();
	assert_true(place(&renewed).time_ns >= before);
	assert_int_equal(place(&renewed).addr, B);
	assert_int_equal(calls, 0); /* the one before has done it */
}

static void an_address_of_before_the_pause_is_not_taken(void **state)
{
	uint32_t renewed = lc_epoch_gc_sequence();

	slot = A;
	pause_to(B);
	assert_int_equal(place(&renewed).addr, B);
	assert_int_equal(calls, 1);
}

static void a_pause_meanwhile_has_the_jvm_called_again(void **state)
{
	uint32_t renewed = lc_epoch_gc_sequence();

	slot = A;
	pause_to(B);
	moves = 2;
	assert_int_equal(place(&renewed).addr, B);
	assert_int_equal(calls, 3);
	assert_int_equal(renewed, lc_epoch_gc_sequence());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_after_a_pause_the_jvm_is_called),
		cmocka_unit_test(an_address_of_before_the_pause_is_not_taken),
		cmocka_unit_test(a_pause_meanwhile_has_the_jvm_called_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
