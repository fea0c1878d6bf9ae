/* SPDX-License-Identifier: Apache-2.0 */
/* core/memory.c - sums what the agent holds, and compares it with the limit. */
#include "src/core/memory.h"

#include <stdatomic.h>

#include "src/core/counters.h"

enum { SHARE_OF = 16 };

static _Atomic int64_t held, most_held;
static _Atomic uint64_t limit = UINT64_MAX; /* written by: the attaching thread */
static struct {
	_Atomic int64_t taken;
	_Atomic uint64_t refused;
} uses[LC_MEMORY_USES];

/*
 * In parts of SHARE_OF: how much a use may take, and how far all may fill the limit with it. Paths
 * are needed by all else, so they get theirs in any case.
 */
static const struct {
	uint8_t own, all;
} shares[LC_MEMORY_USES] = {
	[LC_MEMORY_RECORDS] = { 8, 11 },         [LC_MEMORY_SMALL] = { 12, 12 },
	[LC_MEMORY_CONTEXTS] = { 4, 12 },        [LC_MEMORY_COUNTERS] = { 3, 13 },
	[LC_MEMORY_COPIES] = { 3, 13 },          [LC_MEMORY_BLOCKS] = { 3, 13 },
	[LC_MEMORY_PATHS] = { 3, 2 * SHARE_OF },
};

static const char *const names[LC_MEMORY_USES] = {
	[LC_MEMORY_RECORDS] = "memory_refused_records",
	[LC_MEMORY_SMALL] = "memory_refused_small",
	[LC_MEMORY_CONTEXTS] = "memory_refused_contexts",
	[LC_MEMORY_COUNTERS] = "memory_refused_counters",
	[LC_MEMORY_COPIES] = "memory_refused_copies",
	[LC_MEMORY_BLOCKS] = "memory_refused_blocks",
	[LC_MEMORY_PATHS] = "memory_refused_paths",
};

void lc_memory_limit(uint64_t bytes)
{
	for (unsigned i = 0; i < LC_MEMORY_USES; i++)
		atomic_store_explicit(&uses[i].refused, 0, memory_order_relaxed);
	atomic_store_explicit(&limit, bytes, memory_order_relaxed);
}

uint64_t lc_memory_limited_to(void)
{
	return atomic_load_explicit(&limit, memory_order_relaxed);
}

void lc_memory_add(int64_t bytes)
{
	int64_t now = atomic_fetch_add_explicit(&held, bytes, memory_order_relaxed) + bytes;

	/* A hint: a thread that is overtaken here is a little wrong. */
	if (now > atomic_load_explicit(&most_held, memory_order_relaxed))
		atomic_store_explicit(&most_held, now, memory_order_relaxed);
}

uint64_t lc_memory_held(void)
{
	int64_t now = atomic_load_explicit(&held, memory_order_relaxed);

	return now > 0 ? (uint64_t)now : 0;
}

static uint64_t room(uint64_t bytes, uint64_t used)
{
	return used < bytes ? bytes - used : 0;
}

uint64_t lc_memory_room(enum lc_memory_use use)
{
	const uint64_t part = lc_memory_limited_to() / SHARE_OF;
	const int64_t taken = atomic_load_explicit(&uses[use].taken, memory_order_relaxed);
	const uint64_t all = room(part * shares[use].all, lc_memory_held());
	const uint64_t own = room(part * shares[use].own, taken > 0 ? (uint64_t)taken : 0);

	return own < all ? own : all;
}

void lc_memory_refuse(enum lc_memory_use use)
{
	lc_count(&uses[use].refused);
}

void lc_memory_have(enum lc_memory_use use, size_t bytes)
{
	atomic_fetch_add_explicit(&uses[use].taken, (int64_t)bytes, memory_order_relaxed);
}

void lc_memory_give(enum lc_memory_use use, size_t bytes)
{
	atomic_fetch_sub_explicit(&uses[use].taken, (int64_t)bytes, memory_order_relaxed);
}

bool lc_memory_take(enum lc_memory_use use, size_t bytes)
{
	if (bytes > lc_memory_room(use)) {
		lc_memory_refuse(use);
		return false;
	}
	lc_memory_have(use, bytes);
	return true;
}

uint64_t lc_memory_refused(enum lc_memory_use use)
{
	return atomic_load_explicit(&uses[use].refused, memory_order_relaxed);
}

static void put_counters(struct lc_counters *out)
{
	const int64_t most = atomic_load_explicit(&most_held, memory_order_relaxed);

	lc_counters_put(out, "memory_limit_bytes", lc_memory_limited_to());
	lc_counters_put(out, "memory_peak_bytes", most > 0 ? (uint64_t)most : 0);
	for (unsigned i = 0; i < LC_MEMORY_USES; i++)
		if (lc_memory_refused(i))
			lc_counters_put(out, names[i], lc_memory_refused(i));
}

LC_COUNTER_TABLE(.put = put_counters);
