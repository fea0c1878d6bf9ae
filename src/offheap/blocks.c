/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/blocks.c - keeps the blocks by address in a JudyL, and the last freed ones in a ring.
 *
 * The clock is read under the lock, so blocks of one address have lived one after the other, and
 * the ring is in the order in which its blocks were freed.
 */
#include "src/offheap/blocks.h"

#include <Judy.h>
#include <pthread.h>
#include <stdlib.h>

#include "src/base/limit.h"
#include "src/base/time.h"
#include "src/core/counters.h"
#include "src/core/memory.h"

struct block {
	struct lc_blocks_block is;
	uint64_t born_ns;
};

struct freed {
	struct block block;
	uint64_t freed_ns;
};

struct sums {
	struct lc_blocks_sum all, taken;
};

static struct {
	pthread_mutex_t lock; /* of all below */
	Pvoid_t blocks;       /* JudyL: struct block * by start */
	Pvoid_t sums;         /* JudyL: struct sums * by site */
	struct freed *ring;   /* LC_BLOCKS_FREED of them; NULL: nothing was freed */
	uint64_t freed;       /* blocks that were put into the ring */
	uint64_t live, live_peak, unknown, lost;
	bool counted; /* since all sums were taken */
} off = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct sums *sums_of(uint32_t site)
{
	PPvoid_t slot = JudyLIns(&off.sums, site, PJE0);

	if (!slot || slot == PPJERR)
		return NULL;
	if (!*slot) {
		*slot = calloc(1, sizeof(struct sums));
		if (*slot)
			((struct sums *)*slot)->all.site = site;
	}
	return *slot;
}

/* Memory for a block; NULL: there is none, or it is refused, which core/memory.h says. */
static struct block *new_block(bool *refused)
{
	struct block *b;

	*refused = !lc_memory_take(LC_MEMORY_BLOCKS, sizeof(*b));
	b = *refused ? NULL : malloc(sizeof(*b));
	if (!b && !*refused)
		lc_memory_give(LC_MEMORY_BLOCKS, sizeof(*b));
	off.live += b != NULL;
	return b;
}

/* Keep the block, if there is memory for it. A block that is still there was freed unseen. */
static bool keep(const struct block *b, bool *refused)
{
	PPvoid_t slot = JudyLIns(&off.blocks, b->is.addr, PJE0);
	struct block *there;

	if (!slot || slot == PPJERR)
		return false;
	there = *slot ? *slot : new_block(refused);
	if (!there) {
		(void)JudyLDel(&off.blocks, b->is.addr, PJE0);
		return false;
	}
	*slot = there;
	*there = *b;
	return true;
}

void lc_blocks_allocated(uint64_t addr, uint64_t size_bytes, uint32_t site)
{
	struct block b = { .is = { addr, size_bytes, site } };
	struct sums *sums;
	bool kept, refused = false;

	pthread_mutex_lock(&off.lock);
	b.born_ns = lc_time_now_ns();
	sums = sums_of(site);
	off.counted = true;
	if (sums) {
		sums->all.allocated++;
		sums->all.allocated_bytes += size_bytes;
	}
	kept = sums && keep(&b, &refused);
	off.lost += !kept;
	if (off.live > off.live_peak)
		off.live_peak = off.live;
	pthread_mutex_unlock(&off.lock);
	if (!kept && !refused)
		(void)lc_limit_note(
		    "blocks_unknown",
		    "there was no memory for some blocks outside the heap: accesses "
		    "to them have no line, and they count as never freed");
}

static void put_in_ring(const struct block *b)
{
	if (!off.ring)
		off.ring = malloc(LC_BLOCKS_FREED * sizeof(*off.ring));
	if (off.ring)
		off.ring[off.freed++ % LC_BLOCKS_FREED] = (struct freed){ *b, lc_time_now_ns() };
}

void lc_blocks_freed(uint64_t addr)
{
	struct sums *sums;
	struct block *b;
	PPvoid_t slot;

	if (!addr)
		return;
	pthread_mutex_lock(&off.lock);
	slot = JudyLGet(off.blocks, addr, PJE0);
	b = slot ? *slot : NULL;
	if (b) {
		put_in_ring(b);
		sums = sums_of(b->is.site);
		off.counted = true;
		if (sums) {
			sums->all.freed++;
			sums->all.freed_bytes += b->is.size_bytes;
		}
		(void)JudyLDel(&off.blocks, addr, PJE0);
		free(b);
		lc_memory_give(LC_MEMORY_BLOCKS, sizeof(*b));
		off.live--;
	} else {
		off.unknown++;
	}
	pthread_mutex_unlock(&off.lock);
}

static bool holds(const struct block *b, uint64_t addr, uint64_t time_ns)
{
	return addr - b->is.addr < b->is.size_bytes && b->born_ns <= time_ns;
}

/* The newest block of the ring that held the address and was not freed before that time. */
static const struct block *find_freed(uint64_t addr, uint64_t time_ns)
{
	const uint64_t oldest = off.freed > LC_BLOCKS_FREED ? off.freed - LC_BLOCKS_FREED : 0;

	for (uint64_t i = off.freed; i > oldest; i--) {
		const struct freed *f = &off.ring[(i - 1) % LC_BLOCKS_FREED];

		if (f->freed_ns < time_ns)
			return NULL;
		if (holds(&f->block, addr, time_ns))
			return &f->block;
	}
	return NULL;
}

bool lc_blocks_find(uint64_t addr, uint64_t time_ns, struct lc_blocks_block *out)
{
	Word_t start = addr;
	const struct block *found;
	PPvoid_t slot;

	pthread_mutex_lock(&off.lock);
	slot = JudyLLast(off.blocks, &start, PJE0);
	found = slot ? *slot : NULL;
	if (!found || !holds(found, addr, time_ns))
		found = find_freed(addr, time_ns);
	if (found)
		*out = found->is;
	pthread_mutex_unlock(&off.lock);
	return found;
}

void lc_blocks_take(bool (*take)(void *user, const struct lc_blocks_sum *sum), void *user)
{
	Word_t site = 0;
	bool all = true;

	pthread_mutex_lock(&off.lock);
	for (PPvoid_t slot = off.counted ? JudyLFirst(off.sums, &site, PJE0) : NULL; slot;
	     slot = JudyLNext(off.sums, &site, PJE0)) {
		struct sums *s = *slot;
		struct lc_blocks_sum more;

		if (!s)
			continue;
		more = (struct lc_blocks_sum){
			.site = s->all.site,
			.allocated = s->all.allocated - s->taken.allocated,
			.allocated_bytes = s->all.allocated_bytes - s->taken.allocated_bytes,
			.freed = s->all.freed - s->taken.freed,
			.freed_bytes = s->all.freed_bytes - s->taken.freed_bytes,
		};
		if (!more.allocated && !more.freed)
			continue;
		if (take(user, &more))
			s->taken = s->all;
		else
			all = false;
	}
	off.counted &= !all;
	pthread_mutex_unlock(&off.lock);
}

static void put_counters(struct lc_counters *out)
{
	pthread_mutex_lock(&off.lock);
	lc_counters_put(out, "offheap_live", off.live);
	lc_counters_put(out, "offheap_live_peak", off.live_peak);
	/* From before the attach, or lost. */
	lc_counters_put(out, "offheap_freed_unknown", off.unknown);
	lc_counters_put(out, "offheap_lost", off.lost); /* not found by accesses */
	pthread_mutex_unlock(&off.lock);
}
LC_COUNTER_TABLE(.put = put_counters);
