/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own_heap.c - keeps blocks of some 130 sizes, and a list of free ones for each size.
 *
 * New blocks are cut from a range of reserved addresses, one behind the other; four sizes for each
 * power of two. A free block stays of its size. Large blocks begin at a page, and give their pages
 * back when they are freed. In front of a block are 16 bytes that tell its size.
 *
 * The range is reserved once for a process. It cannot be written before it is needed, so that a
 * kernel that promises no more memory than it has does not count it.
 */
#include "src/core/own_heap.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/spin.h"
#include "src/core/inside.h"
#include "src/core/reset.h"

#define RESERVED_MAX (UINT64_C(16) << 30)
#define RESERVED_MIN (UINT64_C(16) << 20)

enum {
	PAGE_BYTES = 4096,
	STEP_BYTES = 1 << 20, /* that are made writable at once */
	LARGE_BYTES = 64 << 10,
	GRAIN = 16,
	LINEAR = 8, /* blocks of up to 8 grains: each number of grains is a size */
	SIZES = 160,
};

/* In front of what the caller gets. */
struct head {
	uint32_t size; /* index of the block's size */
	uint32_t
	    skipped; /* bytes of the block in front of this, where the caller wanted alignment */
	struct head *next; /* of a free block */
};

static LC_KEPT struct {
	char *low, *writable;
	_Atomic(char *) end; /* of the reserved range; NULL: there is none */
	_Atomic uint32_t lock;
	bool tried;
} range = { .low = NULL };

/* The hook of a signal handler that interrupts its thread here does nothing. */
static void lock(void)
{
	lc_inside_begin();
	lc_spin_lock(&range.lock);
}

static void unlock(void)
{
	lc_spin_unlock(&range.lock);
	lc_inside_end();
}

static struct {
	size_t used; /* bytes of the range that are cut; under range.lock, as all here */
	struct head *free[SIZES];
} heap;

void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);

/* The bytes of blocks of size `i`. */
static size_t bytes_of(unsigned i)
{
	const unsigned power = (i - LINEAR) / 4, part = (i - LINEAR) % 4;

	if (i < LINEAR)
		return (size_t)(i + 1) * GRAIN;
	return ((size_t)LINEAR * GRAIN << power) / 4 * (5 + part);
}

/* The least size that has `n` bytes. */
static unsigned size_for(size_t n)
{
	const size_t grains = (n + GRAIN - 1) / GRAIN;
	unsigned power, i;

	if (grains <= LINEAR)
		return grains ? (unsigned)grains - 1 : 0;
	power = 63u - (unsigned)__builtin_clzll((n - 1) / (LINEAR * GRAIN));
	i = LINEAR + power * 4;
	while (bytes_of(i) < n)
		i++;
	return i;
}

/* With the lock held. */
static void reserve(void)
{
	range.tried = true;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	for (size_t n = RESERVED_MAX; n >= RESERVED_MIN; n /= 2) {
		void *p = __real_mmap(NULL, n, PROT_NONE,
		                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			continue;
		range.low = range.writable = p;
		atomic_store_explicit(&range.end, range.low + n, memory_order_release);
		return;
	}
#endif
}

/* With the lock held. Returns NULL where there is no room. */
static struct head *cut(size_t bytes)
{
	char *const end = atomic_load_explicit(&range.end, memory_order_relaxed);
	const size_t grain = bytes >= LARGE_BYTES ? PAGE_BYTES : GRAIN;
	const size_t at = (heap.used + grain - 1) / grain * grain;
	size_t more;

	if (!end || bytes > (size_t)(end - range.low) - at)
		return NULL;
	if (range.low + at + bytes > range.writable) {
		more = (size_t)(range.low + at + bytes - range.writable);
		more = (more + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
		if (more > (size_t)(end - range.writable))
			more = (size_t)(end - range.writable);
		if (mprotect(range.writable, more, PROT_READ | PROT_WRITE))
			return NULL;
		range.writable += more;
	}
	heap.used = at + bytes;
	return (struct head *)(void *)(range.low + at);
}

void *lc_own_heap_alloc(size_t n, size_t alignment, bool zero)
{
	const size_t more = alignment > GRAIN ? alignment : 0;
	const size_t want = n + sizeof(struct head) + more;
	unsigned size;
	struct head *h;
	bool again;
	char *p;

	if (want < n || want > RESERVED_MAX)
		return NULL;
	size = size_for(want);
	lock();
	if (!range.tried)
		reserve();
	h = heap.free[size];
	again = h != NULL;
	if (h)
		heap.free[size] = h->next;
	else
		h = cut(bytes_of(size));
	unlock();
	if (!h)
		return NULL;
	p = (char *)(h + 1);
	if (more)
		p += (alignment - (uintptr_t)p % alignment) % alignment;
	if (zero && again && bytes_of(size) < LARGE_BYTES)
		memset(p, 0, n);
	*((struct head *)(void *)p - 1) =
	    (struct head){ .size = size, .skipped = (uint32_t)(p - (char *)(h + 1)) };
	return p;
}

bool lc_own_heap_range(uint64_t *low, uint64_t *end)
{
	const char *const is_end = atomic_load_explicit(&range.end, memory_order_acquire);

	*low = is_end ? (uintptr_t)range.low : 0;
	*end = (uintptr_t)is_end;
	return is_end;
}

bool lc_own_heap_has(const void *p)
{
	const char *const end = atomic_load_explicit(&range.end, memory_order_acquire);

	return end && (const char *)p >= range.low && (const char *)p < end;
}

size_t lc_own_heap_bytes(const void *p)
{
	const struct head *h = (const struct head *)p - 1;

	return bytes_of(h->size) - sizeof(*h) - h->skipped;
}

void lc_own_heap_empty(void *p, size_t n)
{
	if (madvise(p, n, MADV_DONTNEED)) /* the program keeps its memory from being swapped */
		memset(p, 0, n);
}

void lc_own_heap_free(void *p)
{
	struct head *h = (struct head *)p - 1;
	const unsigned size = h->size;

	h = (struct head *)(void *)((char *)h - h->skipped);
	if (bytes_of(size) >= LARGE_BYTES)
		lc_own_heap_empty(h, bytes_of(size));
	lock();
	h->next = heap.free[size];
	heap.free[size] = h;
	unlock();
}

void lc_own_heap_give_back(void)
{
	if (heap.used)
		lc_own_heap_empty(range.low, heap.used);
	memset(&heap, 0, sizeof(heap));
}
