/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/blocks.h - tells which block of memory outside the Java heap lies at an address, and
 * counts blocks.
 *
 * A block is what one call of jdk.internal.misc.Unsafe.allocateMemory() or reallocateMemory() has
 * returned, or what was there before the recording: the memory of a direct buffer, a memory
 * segment, or a library's own. With --offheap=native, so is what a native library has allocated or
 * mapped. A sample is looked up later than it was taken, so blocks that were freed lately are kept,
 * too, if a sample was taken while they were there.
 *
 * All functions but lc_blocks_may_begin() and lc_blocks_sampled() take a lock, which no signal
 * handler takes (core/inside.h). Sizes are in bytes, times in ns of CLOCK_MONOTONIC.
 */
#ifndef LC_OFFHEAP_BLOCKS_H
#define LC_OFFHEAP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last so many freed blocks that were there when a sample was taken are still found. */
enum { LC_BLOCKS_FREED = 4096 };

struct lc_blocks_block {
	uint64_t addr;
	uint64_t size_bytes;
	uint32_t site; /* for lc_site_get(): its kind, and where it was allocated */
};

/* Counts of one site. */
struct lc_blocks_sum {
	uint32_t site;
	uint64_t allocated, allocated_bytes, freed, freed_bytes;
	uint64_t before, before_bytes; /* that were there before the recording */
};

/* A block that may be freed, or stay. */
struct lc_blocks_moving {
	struct lc_blocks_block is;
	uint64_t born_ns; /* 0: there is none */
};

/*
 * A sample is taken at that time, of any thread. Its handler says so before it returns, or the
 * sample finds no block. Context: [signal]. Lock-free.
 */
void lc_blocks_sampled(uint64_t time_ns);

/*
 * A block was allocated. It is counted. A block that begins there is freed: nobody said so. Without
 * memory, the block is not found, and its end not counted: one line says so. Context: [hook].
 */
void lc_blocks_allocated(uint64_t addr, uint64_t size_bytes, uint32_t site);

/*
 * The same of a block that was there before the recording, and is counted so. A block of that
 * address that is known stays. Context: [attach].
 */
void lc_blocks_before(uint64_t addr, uint64_t size_bytes, uint32_t site);

/* The block at `addr` is about to be freed. Nothing happens if it is not known. Context: [hook]. */
void lc_blocks_freed(uint64_t addr);

/* May a block begin at the address? If not, none does. Context: any. */
bool lc_blocks_may_begin(uint64_t addr);

/* A number of the block that begins there, which no later one has; 0: there is none. [hook] */
uint64_t lc_blocks_number(uint64_t addr);

/* The block that begins there is freed if it has this number; 0: whichever it has. [hook] */
void lc_blocks_freed_number(uint64_t addr, uint64_t number);

/*
 * These pages are unmapped, or others will be mapped there. Blocks in them are freed. A block that
 * is cut has fewer bytes; the part behind a hole counts as one more block. Context: [hook].
 */
void lc_blocks_unmapped(uint64_t addr, uint64_t bytes);
/*
 * The block at `addr` is about to be reallocated: it is freed, and another may get its address,
 * unless lc_blocks_stays() says that there was no memory. lc_blocks_moved() counts it as freed. The
 * caller keeps *out, which is of no block if none is known. Context: [hook].
 */
void lc_blocks_moving(uint64_t addr, struct lc_blocks_moving *out);
void lc_blocks_moved(const struct lc_blocks_moving *block);
void lc_blocks_stays(const struct lc_blocks_moving *block);

/*
 * The block that held `addr` when the sample of that time was taken. Returns whether there was one.
 * Context: [writer].
 */
bool lc_blocks_find(uint64_t addr, uint64_t time_ns, struct lc_blocks_block *out);

/*
 * Call `take` with what each site has counted since it was taken; false: it was not taken, and
 * comes again the next time. Blocks from before the recording are a call of their own, with all
 * other counts 0. `take` may not use this module. Context: [writer].
 */
void lc_blocks_take(bool (*take)(void *user, const struct lc_blocks_sum *sum), void *user);

/*
 * Copy at most `cap` of the blocks that are there, by address from `from` on. Returns how many.
 * Context: [writer].
 */
size_t lc_blocks_copy(uint64_t from, struct lc_blocks_block *out, size_t cap);

/*
 * Call `each` with all that each site has counted since the beginning. It may not use this module.
 * Context: [writer].
 */
void lc_blocks_each(void (*each)(void *user, const struct lc_blocks_sum *sum), void *user);

#endif
