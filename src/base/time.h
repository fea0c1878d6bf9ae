/*
 * base/time.h - reads the clock that logs, samples and blocks share.
 *
 * Context: any, signal handlers included.
 */
#ifndef LC_BASE_TIME_H
#define LC_BASE_TIME_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t lc_clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A number below `limit` that differs from thread to thread and from call to call. */
static inline uint64_t lc_clock_random(uint64_t limit, int32_t tid)
{
	uint64_t x = lc_clock_now_ns() << 32 ^ (uint64_t)(uint32_t)tid;

	x *= UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (x ^ x >> 32) % limit;
}

#endif
