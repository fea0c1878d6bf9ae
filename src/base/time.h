/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/time.h - reads the clock that logs, samples and blocks share.
 *
 * Context: any, signal handlers included.
 */
#ifndef LC_BASE_TIME_H
#define LC_BASE_TIME_H

#include <stdint.h>
#include <time.h>

#include "src/base/hash.h"

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t lc_time_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The same clock as it was at the kernel's last tick, some ms ago: a fifth of the cost. */
static inline uint64_t lc_time_coarse_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * The clock of the CPU time of a thread of any process, as the kernel numbers it and as
 * pthread_getcpuclockid() has it for threads of one's own: ~tid, per thread (4), scheduler time
 * (2).
 */
static inline clockid_t lc_time_thread_clock(int32_t tid)
{
	return (clockid_t)(~(uint32_t)tid << 3 | 6);
}

/* A number below `limit` that differs from thread to thread and from call to call. */
static inline uint64_t lc_time_random(uint64_t limit, int32_t tid)
{
	uint64_t x = lc_time_now_ns() << 32 ^ (uint64_t)(uint32_t)tid;

	x = lc_hash(x);
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (x ^ x >> 32) % limit;
}

#endif
