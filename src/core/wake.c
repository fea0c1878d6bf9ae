/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/wake.c - keeps one semaphore, on which the attribution thread sleeps.
 *
 * Order: W1  lc_wake_init() stores ready (release) -> lc_wake() loads it (acquire): the
 *            semaphore is made before anybody posts it.
 *        W2  lc_wake() exchanges asked (release) behind what the thread is to see, and posts only
 *            where it was not asked -> lc_wake_wait() exchanges it (acquire): whoever did not post
 *            is seen by this look. A handler that wakes at each sample would have the thread look
 *            thousands of times otherwise.
 */
#include "src/core/wake.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

static struct {
	sem_t semaphore;
	_Atomic bool ready;
	_Atomic bool asked; /* the semaphore is posted, and the thread has not yet seen it */
} wake;

int lc_wake_init(void)
{
	if (atomic_load_explicit(&wake.ready, memory_order_relaxed))
		return 0;
	if (sem_init(&wake.semaphore, 0, 0))
		return -errno;
	atomic_store_explicit(&wake.ready, true, memory_order_release); /* W1 */
	return 0;
}

void lc_wake(void)
{
	int saved = errno;

	if (atomic_load_explicit(&wake.ready, memory_order_acquire) &&          /* W1 */
	    !atomic_exchange_explicit(&wake.asked, true, memory_order_acq_rel)) /* W2 */
		sem_post(&wake.semaphore);
	errno = saved;
}

bool lc_wake_wait(uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / SECOND);
	until.tv_nsec = (long)(ns % SECOND);
	while (sem_timedwait(&wake.semaphore, &until) && errno == EINTR)
		;
	return atomic_exchange_explicit(&wake.asked, false, memory_order_acq_rel); /* W2 */
}
