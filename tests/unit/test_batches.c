/* uses: src/hooks/batches.c -Wl,--wrap=clock_gettime,--wrap=nanosleep */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_batches.c - checks which classes wait: those of methods that do not return, however seldom a
 * busy machine lets a thread be looked at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/hooks/batches.h"
#include "src/hooks/hooked.h"
#include "src/hooks/unchanged.h"

#define MS UINT64_C(1000000)

/*
 * A thread's stack is main() and, on top but for each `every`th look, read(), of one class. A look
 * takes `look_ns`: so long the thread waits for a CPU.
 */
static struct {
	uint64_t now_ns, look_ns;
	unsigned looks, every; /* 0: it never returns */
	unsigned transformed;
	bool stopped;
} model;

static char class_object, thread_object, main_method, read_method;
static const jclass class = (jclass)&class_object;
static const jthread thread = (jthread)&thread_object;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	*t = (struct timespec){ .tv_sec = (time_t)(model.now_ns / 1000000000u),
		                .tv_nsec = (long)(model.now_ns % 1000000000u) };
	return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	model.now_ns += (uint64_t)time->tv_nsec;
	return 0;
}

/* -- the JVM -------------------------------------------------------------------------------- */

static jint fill(jvmtiFrameInfo *frames)
{
	const bool returned = model.every && ++model.looks % model.every == 0;
	jint len = 0;

	if (!returned)
		frames[len++] = (jvmtiFrameInfo){ (jmethodID)&read_method, 7 };
	frames[len++] = (jvmtiFrameInfo){ (jmethodID)&main_method, 3 };
	model.now_ns += model.look_ns;
	return len;
}

static jvmtiError JNICALL get_stack_trace(jvmtiEnv *env, jthread of, jint from, jint most,
                                          jvmtiFrameInfo *frames, jint *len)
{
	*len = fill(frames);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_all_stack_traces(jvmtiEnv *env, jint most, jvmtiStackInfo **stacks,
                                               jint *len)
{
	struct {
		jvmtiStackInfo stack;
		jvmtiFrameInfo frames[2];
	} *one = calloc(1, sizeof(*one));

	assert_non_null(one);
	one->frames[0] = (jvmtiFrameInfo){ (jmethodID)&read_method, 7 };
	one->frames[1] = (jvmtiFrameInfo){ (jmethodID)&main_method, 3 };
	one->stack = (jvmtiStackInfo){ thread, JVMTI_THREAD_STATE_RUNNABLE, one->frames, 2 };
	*stacks = &one->stack;
	*len = 1;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_declaring_class(jvmtiEnv *env, jmethodID method, jclass *of)
{
	*of = class;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	free(memory);
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ jvmti_functions = {
	.GetStackTrace = get_stack_trace,
	.GetAllStackTraces = get_all_stack_traces,
	.GetMethodDeclaringClass = get_declaring_class,
	.Deallocate = deallocate,
};
static jvmtiEnv jvmti = &jvmti_functions;

static jint JNICALL push_local_frame(JNIEnv *env, jint capacity)
{
	return 0;
}

static jobject JNICALL pop_local_frame(JNIEnv *env, jobject result)
{
	return result;
}

static jobject JNICALL new_local_ref(JNIEnv *env, jobject o)
{
	return o;
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject o)
{
}

static jboolean JNICALL is_same_object(JNIEnv *env, jobject a, jobject b)
{
	return a == b;
}

static const struct JNINativeInterface_ jni_functions = {
	.PushLocalFrame = push_local_frame,
	.PopLocalFrame = pop_local_frame,
	.NewLocalRef = new_local_ref,
	.DeleteLocalRef = delete_local_ref,
	.IsSameObject = is_same_object,
};
static JNIEnv jni = &jni_functions;

/* -- the rest of the agent ------------------------------------------------------------------ */

jvmtiEnv *lc_jvmti(void)
{
	return &jvmti;
}

jvmtiError lc_jvmti_retransform(jint len, const jclass *classes)
{
	model.transformed += (unsigned)len;
	return JVMTI_ERROR_NONE;
}

const struct lc_method *lc_path_method(JNIEnv *env, jmethodID method)
{
	return NULL;
}

void lc_hooked_note_no_memory(void)
{
	fail();
}

void lc_unchanged_note(jclass left)
{
	fail();
}

void lc_stages_parts(enum lc_stage stage, uint32_t done, uint32_t total)
{
}

bool lc_stages_stopped(void)
{
	return model.stopped;
}

/* Returns the number of classes that wait. *took_ns: how long that took. */
static jint transform(unsigned every, uint64_t look_ns, uint64_t *took_ns)
{
	jclass classes[] = { class };
	struct lc_batches_stats stats = { 0 };
	jint waiting;

	model.now_ns = 1000 * MS;
	model.look_ns = look_ns;
	model.looks = model.transformed = 0;
	model.every = every;
	waiting = lc_batches_transform(&jni, classes, 1, LC_STAGE_CLASSES, &stats);
	*took_ns = model.now_ns - 1000 * MS;
	assert_int_equal(model.transformed, waiting ? 0 : 1);
	return waiting;
}

static void a_method_that_returns_now_and_then_is_replaced(void **state)
{
	uint64_t took_ns;

	assert_int_equal(transform(100, MS / 20, &took_ns), 0);
	assert_true(took_ns < 100 * MS);
}

static void a_busy_machine_makes_no_method_seem_never_to_return(void **state)
{
	uint64_t took_ns;

	assert_int_equal(transform(100, 3 * MS, &took_ns), 0);
	assert_true(took_ns < 1000 * MS);
}

static void the_class_of_a_method_that_does_not_return_waits(void **state)
{
	uint64_t took_ns;

	assert_int_equal(transform(0, MS / 20, &took_ns), 1);
	assert_true(took_ns < 200 * MS);
	assert_int_equal(transform(0, 3 * MS, &took_ns), 1);
	assert_int_equal(transform(0, 50 * MS, &took_ns), 1);
	assert_true(took_ns < 2000 * MS);
}

static void an_end_of_the_recording_does_not_wait_for_looks(void **state)
{
	uint64_t took_ns;

	model.stopped = true;
	assert_int_equal(transform(0, 3 * MS, &took_ns), 1);
	model.stopped = false;
	assert_true(took_ns < 200 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_that_returns_now_and_then_is_replaced),
		cmocka_unit_test(a_busy_machine_makes_no_method_seem_never_to_return),
		cmocka_unit_test(the_class_of_a_method_that_does_not_return_waits),
		cmocka_unit_test(an_end_of_the_recording_does_not_wait_for_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
