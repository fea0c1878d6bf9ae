/*
 * core/wake.c - keeps one semaphore, on which the attribution thread sleeps.
 *
 * Order: W1  lc_wake_init() stores ready (release) -> lc_wake() loads it (acquire): the
 *            semaphore is made before anybody posts it.
 */
#include "src/core/wake.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

static struct {
	sem_t semaphore;
	_Atomic bool ready;
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

	if (atomic_load_explicit(&wake.ready, memory_order_acquire)) /* W1 */
		sem_post(&wake.semaphore);
	errno = saved;
}

void lc_wake_wait(uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / SECOND);
	until.tv_nsec = (long)(ns % SECOND);
	while (sem_timedwait(&wake.semaphore, &until) && errno == EINTR)
		;
}
