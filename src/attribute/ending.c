/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/ending.c - waits for the end of the attribution thread.
 *
 * Time is counted in slices that were waited for, not by the clock: a process that is stopped
 * (SIGSTOP, a suspended machine) has lost one slice when it goes on.
 */
#include "src/attribute/ending.h"

#include <errno.h>
#include <stdint.h>
#include <time.h>

#include "src/base/time.h"
#include "src/core/stages.h"

/* A thread that makes progress uses at least WORK_NS of CPU per slice, even on a busy machine. A
 * blocked thread uses less. */
enum { SLICE_MS = 50, WORK_NS = 1000000 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t change; /* of `done`; its clock is CLOCK_MONOTONIC */
	bool done;             /* under `lock` */
} ending = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&ending.change, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void lc_ending_done(void)
{
	pthread_once(&once, init);
	pthread_mutex_lock(&ending.lock);
	ending.done = true;
	pthread_cond_signal(&ending.change);
	pthread_mutex_unlock(&ending.lock);
}

/* Returns whether the thread was done within a slice. */
static bool wait_slice(void)
{
	const uint64_t at_ns = lc_time_now_ns() + SLICE_MS * UINT64_C(1000000);
	const struct timespec at = { .tv_sec = (time_t)(at_ns / 1000000000),
		                     .tv_nsec = (long)(at_ns % 1000000000) };
	int err = 0;
	bool done;

	pthread_mutex_lock(&ending.lock);
	while (!ending.done && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&ending.change, &ending.lock, &at);
	done = ending.done;
	ending.done = false; /* for the next thread */
	pthread_mutex_unlock(&ending.lock);
	return done;
}

/* CPU time that the thread has used; UINT64_MAX where that is not known. */
static uint64_t used_ns(pthread_t thread)
{
	struct timespec used;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &used))
		return UINT64_MAX;
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

bool lc_ending_wait(pthread_t thread)
{
	uint64_t before = used_ns(thread);
	unsigned still_ms = 0;

	pthread_once(&once, init);
	while (!wait_slice()) {
		const uint64_t now = used_ns(thread);

		still_ms = now - before < WORK_NS ? still_ms + SLICE_MS : 0;
		before = now;
		lc_stages_parts(LC_STAGE_WRITE, 0, 0);
		if (still_ms >= LC_ENDING_MS) {
			pthread_detach(thread);
			return false;
		}
	}
	pthread_join(thread, NULL);
	return true;
}
