/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/ask.c - hands one function at a time to the attribution thread.
 *
 * Order: A1  lc_ask stores the function, then ASKED (release) -> lc_ask_answer takes (acquire).
 *        A2  lc_ask_answer stores DONE (release) -> lc_ask loads it (acquire): all is seen that the
 *            function has done.
 */
#include "src/attribute/ask.h"

#include <stdatomic.h>
#include <time.h>

#include "src/base/time.h"
#include "src/core/wake.h"

enum { TICK_NS = 1000000 };

enum state {
	IDLE,
	FILLED, /* one thread alone writes the function */
	ASKED,
	TAKEN, /* the function runs */
	LEFT,  /* ... and nobody waits for it any more */
	DONE,
};

static struct {
	_Atomic int state;
	lc_ask_fn *f;
	void *context;
} ask;

static bool change(int from, int to)
{
	return atomic_compare_exchange_strong_explicit(&ask.state, &from, to, memory_order_acq_rel,
	                                               memory_order_acquire);
}

bool lc_ask(lc_ask_fn *f, void *context, uint64_t wait_ns)
{
	const uint64_t end_ns = lc_time_now_ns() + wait_ns;

	if (!change(IDLE, FILLED))
		return false;
	ask.f = f;
	ask.context = context;
	atomic_store_explicit(&ask.state, ASKED, memory_order_release); /* A1 */
	lc_wake();
	while (!change(DONE, IDLE)) { /* A2 */
		if (lc_time_now_ns() > end_ns && (change(ASKED, IDLE) || change(TAKEN, LEFT)))
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = TICK_NS }, NULL);
	}
	return true;
}

bool lc_ask_waits(void)
{
	return atomic_load_explicit(&ask.state, memory_order_acquire) == ASKED;
}

void lc_ask_answer(JNIEnv *jni)
{
	if (!change(ASKED, TAKEN))
		return;
	ask.f(jni, ask.context);
	if (!change(TAKEN, DONE))
		atomic_store_explicit(&ask.state, IDLE, memory_order_release);
}
