/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/rest.h - decides how long the attribution thread sleeps, and when it looks at the logs.
 *
 * A look costs some tenths of a millisecond, whether or not it finds anything. All that a look can
 * find took CPU time of the program: samples, allocations, collections, spans. So the thread looks
 * when the program has used enough CPU time since the last look, and the looks cost a small part of
 * what the program uses. In between the thread sleeps, longer and longer while the program rests.
 * Whoever cannot wait calls lc_wake() (core/wake.h).
 *
 * Pure arithmetic. Owner: the attribution thread.
 */
#ifndef LC_ATTRIBUTE_REST_H
#define LC_ATTRIBUTE_REST_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LC_REST_SLEEP_MS = 100,    /* while the program uses a tenth of a CPU or more */
	LC_REST_LONGEST_MS = 1000, /* a sleep */
	LC_REST_ENOUGH_MS = 20,    /* CPU time after which a look is worth it */
	LC_REST_BLOCK_MS = 1000,   /* a killed program loses at most this much */
	LC_REST_LITTLE_MS = 10,    /* ... or what it did in this much CPU time */
	LC_REST_IDLE_MS = 10000    /* looks of an idle program are at most this far apart */
};

struct lc_rest {
	uint64_t sleep_ns; /* how long the thread is to sleep next */
	/* CLOCK_MONOTONIC, and the program's CPU time, at the last ... */
	struct lc_rest_at {
		uint64_t time_ns, program_ns;
	} wake, look, block;
};

/* The recording begins. `at` is the time, and the CPU time of the process without this thread. */
void lc_rest_begin(struct lc_rest *r, struct lc_rest_at at);

/*
 * The thread is awake: is it to look at the logs now? `asked`: lc_wake() was called. Sets
 * r->sleep_ns.
 */
bool lc_rest_wakes(struct lc_rest *r, struct lc_rest_at at, bool asked);

/* The thread has written the blocks. */
void lc_rest_writes(struct lc_rest *r, struct lc_rest_at at);

#endif
