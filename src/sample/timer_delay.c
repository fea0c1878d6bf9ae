/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/timer_delay.c - makes, sets and deletes the second timer of a thread.
 *
 * The C library's timer_create() may allocate, so the kernel is asked directly.
 */
#include "src/sample/timer_delay.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Context switches of the calling thread's own will; -1 where they are unknown. */
static int64_t waits_now(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? -1 : (int64_t)usage.ru_nvcsw;
}

static bool make(struct lc_timer_delay *d, int32_t tid, const siginfo_t *info)
{
	struct sigevent event;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = info->si_signo;
	event.sigev_value = info->si_value;
	event.sigev_notify_thread_id = tid;
	d->made = !syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &d->timer);
	d->refused = !d->made;
	return d->made;
}

void lc_timer_delay_set(struct lc_timer_delay *d, uint64_t ns, int32_t tid, const siginfo_t *info)
{
	const struct itimerspec once = { .it_value = { .tv_sec = (time_t)(ns / 1000000000u),
		                                       .tv_nsec = (long)(ns % 1000000000u) } };

	if (d->refused || (!d->made && !make(d, tid, info)))
		return;
	d->waits = waits_now();
	syscall(SYS_timer_settime, d->timer, 0, &once, NULL);
}

bool lc_timer_delay_sent(const struct lc_timer_delay *d, const siginfo_t *info)
{
	return d->made && info->si_timerid == d->timer;
}

bool lc_timer_delay_waited(const struct lc_timer_delay *d)
{
	const int64_t waits = waits_now();

	return waits < 0 || waits != d->waits;
}

void lc_timer_delay_end(struct lc_timer_delay *d)
{
	if (d->made)
		syscall(SYS_timer_delete, d->timer);
	*d = (struct lc_timer_delay){ .made = false };
}
