/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/blocks.c - keeps the blocks by address in a JudyL, and the last freed ones in a ring.
 *
 * Most blocks are freed soon. So a new block waits in a small table, by a hash of its address, and
 * is put into the JudyL when another block needs its place, or when blocks are looked for in any
 * other way than by their start.
 *
 * Nobody asks for a block but for a sample's sake. So the time of the latest sample is the clock of
 * blocks: a block holds samples that are later than the one before its allocation, up to the one
 * before its end. If these are the same sample, the block is forgotten at once. The clock is read
 * under the lock, so blocks of one address have lived one after the other, and the ring is in the
 * order in which its blocks were freed. Order: a thread that is sampled uses the block, and so
 * nobody frees it before the handler has set the clock and the thread has gone on.
 *
 * Native libraries free mostly what is no block here. A table of counts tells so without the lock:
 * by a hash of the address, how many blocks begin there. A count that has reached its maximum
 * stays. Order: who frees a block has its address from who allocated it, and so sees its count.
 */
#include "src/offheap/blocks.h"

#include <Judy.h>
#include <pthread.h>
#include <stdlib.h>

#include "src/base/hash.h"
#include "src/base/limit.h"
#include "src/core/counters.h"
#include "src/core/inside.h"
#include "src/core/memory.h"
#include "src/offheap/granules.h"

enum {
	BEGINS = 1 << 16, /* as many as 16 bits number */
	YOUNG_BITS = 9,
	YOUNG = 1 << YOUNG_BITS,
	SUMS_NEAR = 64,
};

struct block {
	struct lc_blocks_block is;
	uint64_t born_ns; /* of the clock */
	uint64_t number;
};

struct freed {
	struct block block;
	uint64_t freed_ns;
};

struct sums {
	struct lc_blocks_sum all, taken;
};

static struct {
	pthread_mutex_t lock;      /* of all below */
	struct block young[YOUNG]; /* `is.addr` 0: none */
	uint64_t young_len;
	Pvoid_t blocks;               /* JudyL: struct block * by start */
	Pvoid_t sums;                 /* JudyL: struct sums * by site */
	struct sums *near[SUMS_NEAR]; /* some of them, by site; NULL: none */
	struct freed *ring;           /* LC_BLOCKS_FREED of them; NULL: nothing was put there */
	uint64_t freed;               /* blocks that were put into the ring */
	uint64_t live, live_peak, unknown, lost;
	uint64_t numbers; /* that were given */
	bool counted;     /* since all sums were taken */
	bool untold;      /* there was no memory for a block, and no line said so */
} off = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Written under the lock. */
static _Atomic uint8_t begins[BEGINS];

/* The clock. Written by: signal handlers. 1: there was no sample. */
static _Atomic uint64_t sampled_ns = 1;

void lc_blocks_sampled(uint64_t time_ns)
{
	uint64_t last = atomic_load_explicit(&sampled_ns, memory_order_relaxed);

	while (last < time_ns &&
	       !atomic_compare_exchange_weak_explicit(&sampled_ns, &last, time_ns,
	                                              memory_order_relaxed, memory_order_relaxed))
		;
}

static uint64_t clock_ns(void)
{
	return atomic_load_explicit(&sampled_ns, memory_order_relaxed);
}

static void lock(void)
{
	lc_inside_begin();
	pthread_mutex_lock(&off.lock);
}

static void unlock(void)
{
	const bool untold = off.untold;

	off.untold = false;
	pthread_mutex_unlock(&off.lock);
	if (__builtin_expect(untold, 0))
		(void)lc_limit_note("blocks_unknown",
		                    "there was no memory for some blocks outside the heap: "
		                    "accesses to them have no line, and they count as never freed");
	lc_inside_end();
}

static _Atomic uint8_t *begins_at(uint64_t addr)
{
	return &begins[lc_hash(addr) >> 48];
}

static void count_begin(uint64_t addr, bool more)
{
	_Atomic uint8_t *at = begins_at(addr);
	const uint8_t n = atomic_load_explicit(at, memory_order_relaxed);

	if (n != UINT8_MAX)
		atomic_store_explicit(at, (uint8_t)(more ? n + 1 : n - 1), memory_order_relaxed);
}

bool lc_blocks_may_begin(uint64_t addr)
{
	return atomic_load_explicit(begins_at(addr), memory_order_relaxed);
}

static struct sums *find_sums(uint32_t site)
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

/* The sums of the site, which stay where they are; NULL without memory. */
static struct sums *sums_of(uint32_t site)
{
	struct sums **near = &off.near[site % SUMS_NEAR];

	if (!*near || (*near)->all.site != site)
		*near = find_sums(site);
	return *near;
}

/* Put the block into the JudyL. Returns whether there was memory for it. */
static bool put_in_judy(const struct block *b)
{
	struct block *there = malloc(sizeof(*b));
	PPvoid_t slot = there ? JudyLIns(&off.blocks, b->is.addr, PJE0) : NULL;

	if (!slot || slot == PPJERR) {
		free(there);
		return false;
	}
	*there = *b;
	*slot = there;
	return true;
}

/* The young block becomes one of the JudyL; without memory it is lost. */
static void settle(struct block *young)
{
	/* If it is refused, core/memory.h says so. */
	const bool may = lc_memory_take(LC_MEMORY_BLOCKS, sizeof(*young));

	if (!may || !put_in_judy(young)) {
		if (may)
			lc_memory_give(LC_MEMORY_BLOCKS, sizeof(*young));
		off.untold |= may;
		off.lost++;
		off.live--;
		count_begin(young->is.addr, false);
	}
	young->is.addr = 0;
	off.young_len--;
}

static void settle_all(void)
{
	for (size_t i = 0; i < YOUNG && off.young_len; i++)
		if (off.young[i].is.addr)
			settle(&off.young[i]);
}

static struct block *young_at(uint64_t addr)
{
	return &off.young[lc_hash(addr) >> (64 - YOUNG_BITS)];
}

static bool is_young(const struct block *b)
{
	return b >= off.young && b < off.young + YOUNG;
}

/* Keep the block. None begins there. */
static void keep(const struct block *b)
{
	struct block *young = young_at(b->is.addr);

	if (young->is.addr)
		settle(young);
	*young = *b;
	young->number = ++off.numbers;
	off.young_len++;
	if (++off.live > off.live_peak)
		off.live_peak = off.live;
	count_begin(b->is.addr, true);
	lc_granules_note(b->is.addr, b->is.size_bytes);
}

/* The same, if it was counted: `sums` are those of its site, NULL without memory. */
static void keep_counted(const struct block *b, const struct sums *sums)
{
	if (sums) {
		keep(b);
	} else {
		off.lost++;
		off.untold = true;
	}
}

static struct block *block_at(uint64_t addr)
{
	struct block *young = young_at(addr);
	PPvoid_t slot;

	if (young->is.addr == addr)
		return addr ? young : NULL;
	slot = lc_blocks_may_begin(addr) ? JudyLGet(off.blocks, addr, PJE0) : NULL;
	return slot ? *slot : NULL;
}

/* Keep the block for the samples that were taken while it was there, if there were some. */
static void put_in_ring(const struct block *b)
{
	const uint64_t now_ns = clock_ns();

	if (now_ns == b->born_ns)
		return;
	if (!off.ring)
		off.ring = malloc(LC_BLOCKS_FREED * sizeof(*off.ring));
	if (off.ring)
		off.ring[off.freed++ % LC_BLOCKS_FREED] = (struct freed){ *b, now_ns };
}

static void count_freed(const struct lc_blocks_block *b, uint64_t blocks, uint64_t bytes)
{
	struct sums *sums = sums_of(b->site);

	off.counted = true;
	if (!sums)
		return;
	sums->all.freed += blocks;
	sums->all.freed_bytes += bytes;
}

/* No block begins there any more: `b` is gone. The lock is held. */
static void drop(struct block *b)
{
	count_begin(b->is.addr, false);
	off.live--;
	if (is_young(b)) {
		b->is.addr = 0;
		off.young_len--;
	} else {
		(void)JudyLDel(&off.blocks, b->is.addr, PJE0);
		free(b); /* NOLINT(clang-analyzer-unix.Malloc): not young, so from malloc() */
		lc_memory_give(LC_MEMORY_BLOCKS, sizeof(*b));
	}
}

/* The block is freed: `b` is gone. */
static void end(struct block *b)
{
	put_in_ring(b);
	count_freed(&b->is, 1, b->is.size_bytes);
	drop(b);
}

/* With the lock. */
static void begin(uint64_t addr, uint64_t size_bytes, uint32_t site)
{
	const struct block b = { .is = { addr, size_bytes, site }, .born_ns = clock_ns() };
	struct block *before = block_at(addr);
	struct sums *sums;

	if (before)
		end(before);
	sums = sums_of(site);
	off.counted = true;
	if (sums) {
		sums->all.allocated++;
		sums->all.allocated_bytes += size_bytes;
	}
	keep_counted(&b, sums);
}

void lc_blocks_allocated(uint64_t addr, uint64_t size_bytes, uint32_t site)
{
	lock();
	begin(addr, size_bytes, site);
	unlock();
}

void lc_blocks_before(uint64_t addr, uint64_t size_bytes, uint32_t site)
{
	/* It is there at every time of a sample. */
	const struct block b = { .is = { addr, size_bytes, site }, .born_ns = 1 };
	struct sums *sums;

	lock();
	if (!block_at(addr)) {
		sums = sums_of(site);
		off.counted = true;
		if (sums) {
			sums->all.before++;
			sums->all.before_bytes += size_bytes;
		}
		keep_counted(&b, sums);
	}
	unlock();
}

void lc_blocks_freed(uint64_t addr)
{
	struct block *b;

	if (!addr)
		return;
	lock();
	b = block_at(addr);
	if (b)
		end(b);
	else
		off.unknown++;
	unlock();
}

uint64_t lc_blocks_number(uint64_t addr)
{
	const struct block *b;
	uint64_t number;

	lock();
	b = block_at(addr);
	number = b ? b->number : 0;
	unlock();
	return number;
}

void lc_blocks_freed_number(uint64_t addr, uint64_t number)
{
	struct block *b;

	lock();
	b = block_at(addr);
	if (b && (!number || b->number == number))
		end(b);
	unlock();
}

/* The bytes of the block from `low` to `high` are gone; some, but not all of its bytes. */
static void cut(struct block *b, uint64_t low, uint64_t high)
{
	const uint64_t start = b->is.addr, size = b->is.size_bytes, after = start + size;

	if (low <= start) { /* its beginning: the rest begins elsewhere */
		struct block rest = *b;

		rest.is.addr = high;
		rest.is.size_bytes = after - high;
		count_freed(&b->is, 0, high - start);
		drop(b);
		keep(&rest);
		return;
	}
	b->is.size_bytes = low - start;
	count_freed(&b->is, 0, after - low);
	if (high < after)
		begin(high, after - high, b->is.site);
}

void lc_blocks_unmapped(uint64_t addr, uint64_t bytes)
{
	const uint64_t high = addr + bytes < addr ? UINT64_MAX : addr + bytes;
	Word_t start = high;

	if (!bytes)
		return;
	lock();
	settle_all();
	/* From the last block that begins before the end: a cut changes only blocks behind. */
	for (PPvoid_t slot = JudyLPrev(off.blocks, &start, PJE0); slot;
	     slot = JudyLPrev(off.blocks, &start, PJE0)) {
		struct block *b = *slot;

		if (!b || b->is.addr + b->is.size_bytes <= addr)
			break;
		if (b->is.addr >= addr && b->is.addr + b->is.size_bytes <= high)
			end(b);
		else
			cut(b, addr, high);
	}
	unlock();
}

void lc_blocks_moving(uint64_t addr, struct lc_blocks_moving *out)
{
	struct block *b;

	*out = (struct lc_blocks_moving){ .born_ns = 0 };
	if (!addr)
		return;
	lock();
	b = block_at(addr);
	if (b) {
		*out = (struct lc_blocks_moving){ b->is, b->born_ns };
		put_in_ring(b);
		drop(b);
	} else {
		off.unknown++;
	}
	unlock();
}

void lc_blocks_moved(const struct lc_blocks_moving *block)
{
	if (!block->born_ns)
		return;
	lock();
	count_freed(&block->is, 1, block->is.size_bytes);
	unlock();
}

void lc_blocks_stays(const struct lc_blocks_moving *block)
{
	const struct block b = { .is = block->is, .born_ns = block->born_ns };

	if (!block->born_ns)
		return;
	lock();
	if (!block_at(b.is.addr))
		keep(&b);
	unlock();
}

static bool holds(const struct block *b, uint64_t addr, uint64_t time_ns)
{
	return addr - b->is.addr < b->is.size_bytes && b->born_ns < time_ns;
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

	lock();
	settle_all();
	slot = JudyLLast(off.blocks, &start, PJE0);
	found = slot ? *slot : NULL;
	if (!found || !holds(found, addr, time_ns))
		found = find_freed(addr, time_ns);
	if (found)
		*out = found->is;
	unlock();
	return found;
}

void lc_blocks_take(bool (*take)(void *user, const struct lc_blocks_sum *sum), void *user)
{
	Word_t site = 0;
	bool all = true;

	lock();
	for (PPvoid_t slot = off.counted ? JudyLFirst(off.sums, &site, PJE0) : NULL; slot;
	     slot = JudyLNext(off.sums, &site, PJE0)) {
		struct sums *s = *slot;
		struct lc_blocks_sum more, before;

		if (!s)
			continue;
		before = (struct lc_blocks_sum){
			.site = s->all.site,
			.before = s->all.before - s->taken.before,
			.before_bytes = s->all.before_bytes - s->taken.before_bytes,
		};
		if (before.before && !take(user, &before)) {
			all = false;
			continue;
		}
		s->taken.before = s->all.before;
		s->taken.before_bytes = s->all.before_bytes;
		more = (struct lc_blocks_sum){
			.site = s->all.site,
			.allocated = s->all.allocated - s->taken.allocated,
			.allocated_bytes = s->all.allocated_bytes - s->taken.allocated_bytes,
			.freed = s->all.freed - s->taken.freed,
			.freed_bytes = s->all.freed_bytes - s->taken.freed_bytes,
		};
		if (!more.allocated && !more.freed && !more.freed_bytes)
			continue;
		if (take(user, &more))
			s->taken = s->all;
		else
			all = false;
	}
	off.counted &= !all;
	unlock();
}

size_t lc_blocks_copy(uint64_t from, struct lc_blocks_block *out, size_t cap)
{
	Word_t start = from;
	size_t len = 0;

	lock();
	settle_all();
	for (PPvoid_t slot = JudyLFirst(off.blocks, &start, PJE0); slot && len < cap;
	     slot = JudyLNext(off.blocks, &start, PJE0))
		out[len++] = ((const struct block *)*slot)->is;
	unlock();
	return len;
}

void lc_blocks_each(void (*each)(void *user, const struct lc_blocks_sum *sum), void *user)
{
	Word_t site = 0;

	lock();
	for (PPvoid_t slot = JudyLFirst(off.sums, &site, PJE0); slot;
	     slot = JudyLNext(off.sums, &site, PJE0))
		if (*slot)
			each(user, &((const struct sums *)*slot)->all);
	unlock();
}

static void put_counters(struct lc_counters *out)
{
	lock();
	lc_counters_put(out, "offheap_live", off.live);
	lc_counters_put(out, "offheap_live_peak", off.live_peak);
	/* From before the attach, or lost. */
	lc_counters_put(out, "offheap_freed_unknown", off.unknown);
	lc_counters_put(out, "offheap_lost", off.lost); /* not found by accesses */
	unlock();
}
LC_COUNTER_TABLE(.put = put_counters);
