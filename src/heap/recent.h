/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/recent.h - counts allocations for the path that was seen last, where looking at the stack
 * for each would cost a thread too much.
 *
 * If each allocation has another stack than the last one, a look at the stack takes longer than
 * the allocation. A thread that has spent its credit for looks (stack/walk_credit.h) therefore
 * looks at some allocations only, chosen at random. Between two looks an allocation is counted for
 * the path that the last look has found with the same bytecode, class and nearest frames. These
 * frames reach to the nearest one that is not the JDK's: the line of the program that allocates is
 * always the true one. Callers beyond are estimates: a path gets as many allocations as its share
 * of the looks.
 *
 * The first looks of a thread are free, so that short threads spend no credit.
 *
 * Owner of all: the thread, without a lock.
 */
#ifndef LC_HEAP_RECENT_H
#define LC_HEAP_RECENT_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/core/jitter.h"
#include "src/stack/place.h"
#include "src/stack/walk_credit.h"

struct lc_site_counter;
struct lc_walker;

enum { LC_RECENT_FREE = 1024 /* looks, half a millisecond */ };

struct lc_recent {
	struct lc_walk_credit credit;
	struct lc_places places;
	struct lc_jitter random;
	uint64_t adapted_ns; /* when `mean` was changed last */
	uint64_t believed;   /* allocations without a look that were not added up yet */
	uint32_t mean;       /* allocations for each look; 0: each is looked at */
	uint32_t skip;       /* so many more need no look */
	uint32_t free;       /* looks that were not paid for, up to LC_RECENT_FREE */
};

/* Context: [attach] [java]. */
void lc_recent_init(struct lc_recent *r);

/* Context: [writer], when the thread has ended. */
void lc_recent_free(struct lc_recent *r);

/* Forget all paths: the next ones begin elsewhere. Context: [java], owner, in no hook. */
void lc_recent_forget(struct lc_recent *r);

/* lc_recent_find() where not each allocation is looked at. */
struct lc_site_counter *lc_recent_find_now(struct lc_recent *r, struct lc_walker *walker,
                                           uint64_t frame, uint64_t key);

/*
 * The counter of an allocation that needs no look; NULL: look at the stack. `frame`: of the hook;
 * `key`: bytecode and class, not 0. Context: [hook], owner.
 */
static inline struct lc_site_counter *lc_recent_find(struct lc_recent *r, struct lc_walker *walker,
                                                     uint64_t frame, uint64_t key)
{
	return __builtin_expect(r->mean != 0, 0) ? lc_recent_find_now(r, walker, frame, key) : NULL;
}

/*
 * A look of so many ticks of the TSC has passed so many frames. Returns whether the next ones may
 * have to do without: then lc_recent_learn(). Context: [hook], owner.
 */
bool lc_recent_looked(struct lc_recent *r, uint64_t ticks, uint64_t frames);

/*
 * The last walk of the walker's shadow has found that counter for the hook of this frame and key.
 * Context: [hook], owner; slow.
 */
void lc_recent_learn(struct lc_recent *r, JNIEnv *jni, struct lc_walker *walker, uint64_t frame,
                     uint64_t key, struct lc_site_counter *counter);

#endif
