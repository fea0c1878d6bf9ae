/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own_memory.c - counts the memory that the agent allocates and maps. Allocations come from
 * core/own_heap.h.
 *
 * Mappings and large allocations are touched bit by bit, so the kernel is asked which of their
 * pages exist. The table of mappings has a lock, which no signal handler takes: handlers neither
 * allocate nor map. Order: none. The sum is a count to which any thread adds.
 */
#include "src/core/own_memory.h"

#include <Judy.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/spin.h"
#include "src/core/counters.h"
#include "src/core/inside.h"
#include "src/core/memory.h"
#include "src/core/own_heap.h"
#include "src/core/reset.h"

enum {
	PAGE_BYTES = 4096,
	MAPPINGS_MAX = 4096,
	PAGES_AT_ONCE = 4096,
	LARGE_BYTES = 64 << 10,
	ALIGNMENT = 16
};

/* Bits of an entry of /proc/self/pagemap. */
#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define ONLY_HERE (UINT64_C(1) << 56)

/* The linker's option --wrap makes these names. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void __real_free(void *p);
void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *p, size_t n);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
char *__wrap_strdup(const char *s);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *p, size_t n);

static _Atomic int64_t allocated;

static struct {
	pthread_mutex_t lock;
	struct mapping {
		const char *low, *end;
		bool counted; /* in the sum that the limit is compared with */
		bool mapped;  /* not allocated */
	} all[MAPPINGS_MAX];  /* one that finds no room is not counted */
	size_t len;
} mappings = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void lock(void)
{
	lc_inside_begin();
	pthread_mutex_lock(&mappings.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&mappings.lock);
	lc_inside_end();
}

static void remember(const char *low, size_t n, bool counted, bool mapped)
{
	lock();
	if (mappings.len < MAPPINGS_MAX) {
		mappings.all[mappings.len++] = (struct mapping){ low, low + n, counted, mapped };
		lc_memory_add(counted ? (int64_t)n : 0);
	}
	unlock();
}

/* The agent frees what it has, or unmaps its beginning or its end. */
static void forget(const char *low, size_t n)
{
	const char *const end = low + n;

	lock();
	for (size_t i = 0; i < mappings.len; i++) {
		struct mapping *m = &mappings.all[i];
		const char *const from = low > m->low ? low : m->low;
		const char *const to = end < m->end ? end : m->end;

		if (from >= to)
			continue;
		lc_memory_add(m->counted ? from - to : 0);
		if (low <= m->low && end < m->end)
			m->low += end - m->low;
		else if (low > m->low)
			m->end -= m->end - low;
		else
			*m = mappings.all[--mappings.len];
		break;
	}
	unlock();
}

/* Mappings of earlier recordings, empty. Kept; used by one thread at a time under `lock`. */
static LC_KEPT struct {
	_Atomic uint32_t lock;
	size_t len;
	struct mapping all[MAPPINGS_MAX];
} spare = { .len = 0 };

static size_t bytes_of(void *p)
{
	return lc_own_heap_has(p) ? lc_own_heap_bytes(p) : malloc_usable_size(p);
}

static void *add(void *p)
{
	const size_t bytes = p ? bytes_of(p) : 0;

	lc_memory_add((int64_t)bytes);
	if (bytes >= LARGE_BYTES)
		remember(p, bytes, false, false);
	else
		atomic_fetch_add_explicit(&allocated, (int64_t)bytes, memory_order_relaxed);
	return p;
}

static void take_off(const void *p, size_t bytes)
{
	lc_memory_add(-(int64_t)bytes);
	if (bytes >= LARGE_BYTES)
		forget(p, bytes);
	else
		atomic_fetch_sub_explicit(&allocated, (int64_t)bytes, memory_order_relaxed);
}

/* If the agent's heap is full, use the program's. */
void *__wrap_malloc(size_t n)
{
	void *p = lc_own_heap_alloc(n, ALIGNMENT, false);

	return add(p ? p : __real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	size_t bytes;
	void *p = NULL;

	if (!__builtin_mul_overflow(n, size, &bytes))
		p = lc_own_heap_alloc(bytes, ALIGNMENT, true);
	return add(p ? p : __real_calloc(n, size));
}

/* A block of the own heap stays where it is, if it would not become much smaller or larger. */
static void *realloc_own(void *p, size_t n)
{
	const size_t bytes = lc_own_heap_bytes(p);
	void *moved;

	if (n <= bytes && n >= bytes / 2)
		return p;
	moved = __wrap_malloc(n);
	if (moved) {
		memcpy(moved, p, n < bytes ? n : bytes);
		__wrap_free(p);
	}
	return moved;
}

/* Taken off before, since another thread may get the memory as soon as it is freed. */
void *__wrap_realloc(void *p, size_t n)
{
	size_t before;
	void *moved;

	if (!p)
		return __wrap_malloc(n);
	if (lc_own_heap_has(p))
		return realloc_own(p, n);
	before = malloc_usable_size(p);
	take_off(p, before);
	moved = __real_realloc(p, n);
	if (!moved && n)
		add(p); /* it stays */
	return add(moved);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
	void *p = lc_own_heap_alloc(n, alignment, false);

	return add(p ? p : __real_aligned_alloc(alignment, n));
}

char *__wrap_strdup(const char *s)
{
	const size_t bytes = strlen(s) + 1;
	char *copy = __wrap_malloc(bytes);

	return copy ? memcpy(copy, s, bytes) : NULL;
}

void __wrap_free(void *p)
{
	if (p)
		take_off(p, bytes_of(p));
	if (lc_own_heap_has(p))
		lc_own_heap_free(p);
	else
		__real_free(p);
}

/* A mapping of just that length, empty; NULL: there is none. All of ours can be written. */
static void *take_spare(size_t n)
{
	void *p = NULL;

	if (!spare.len)
		return NULL;
	lc_inside_begin();
	lc_spin_lock(&spare.lock);
	for (size_t i = 0; i < spare.len && !p; i++) {
		if ((size_t)(spare.all[i].end - spare.all[i].low) != n)
			continue;
		p = (void *)(uintptr_t)spare.all[i].low;
		spare.all[i] = spare.all[--spare.len];
	}
	lc_spin_unlock(&spare.lock);
	lc_inside_end();
	if (p)
		lc_own_heap_empty(p, n);
	return p;
}

void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	void *p = !at && flags & MAP_ANONYMOUS ? take_spare(n) : NULL;

	if (!p)
		p = __real_mmap(at, n, protection, flags, fd, offset);
	/* The owner of reserved memory counts the pages that it uses. */
	if (p != MAP_FAILED && flags & MAP_ANONYMOUS)
		remember(p, n, !(flags & MAP_NORESERVE), true);
	return p;
}

/*
 * libJudy calls these through its table of symbols. The table has the agent's functions if libJudy
 * was loaded with the agent; otherwise libJudy's memory is not counted.
 */
#define EXPORT __attribute__((visibility("default"), used))

EXPORT Word_t JudyMalloc(Word_t words)
{
	return (Word_t)__wrap_malloc(words * sizeof(Word_t));
}

EXPORT Word_t JudyMallocVirtual(Word_t words)
{
	return JudyMalloc(words);
}

EXPORT void JudyFree(void *p, Word_t words)
{
	__wrap_free(p);
}

EXPORT void JudyFreeVirtual(void *p, Word_t words)
{
	JudyFree(p, words);
}

int __wrap_munmap(void *p, size_t n)
{
	forget(p, n);
	return __real_munmap(p, n);
}

void lc_own_memory_give_back(void)
{
	for (size_t i = 0; i < mappings.len; i++) {
		const struct mapping m = mappings.all[i];

		if (!m.mapped)
			continue;
		lc_own_heap_empty((void *)(uintptr_t)m.low, (size_t)(m.end - m.low));
		if (spare.len < MAPPINGS_MAX)
			spare.all[spare.len++] = m;
	}
	lc_own_heap_give_back();
}

/* Is this page its process's own memory? One that was only read is the kernel's page of zeroes. */
static bool is_own(uint64_t entry)
{
	return (entry & SWAPPED) || (entry & PRESENT && entry & ONLY_HERE);
}

static uint64_t touched(int pagemap, const struct mapping *m)
{
	static uint64_t entries[PAGES_AT_ONCE]; /* the writer's */
	const uint64_t end = (uint64_t)(uintptr_t)m->end;
	uint64_t page = (uint64_t)(uintptr_t)m->low / PAGE_BYTES, pages = 0;

	while (page * PAGE_BYTES < end) {
		size_t want = (end - page * PAGE_BYTES + PAGE_BYTES - 1) / PAGE_BYTES;
		ssize_t n;

		if (want > PAGES_AT_ONCE)
			want = PAGES_AT_ONCE;
		n = pread(pagemap, entries, want * sizeof(*entries),
		          (off_t)(page * sizeof(*entries)));
		if (n < (ssize_t)sizeof(*entries))
			break;
		for (size_t i = 0; i < (size_t)n / sizeof(*entries); i++)
			pages += is_own(entries[i]);
		page += (size_t)n / sizeof(*entries);
	}
	return pages * PAGE_BYTES;
}

uint64_t lc_own_memory_bytes(void)
{
	static struct mapping all[MAPPINGS_MAX]; /* the writer's */
	const int64_t n = atomic_load_explicit(&allocated, memory_order_relaxed);
	const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t len;
	uint64_t bytes = n > 0 ? (uint64_t)n : 0;

	if (pagemap < 0)
		return 0; /* not known */
	/* Read without the lock, which a thread in a pause may want; what is gone counts as
	 * nothing. */
	lock();
	len = mappings.len;
	memcpy(all, mappings.all, len * sizeof(*all));
	unlock();
	for (size_t i = 0; i < len; i++)
		bytes += touched(pagemap, &all[i]);
	close(pagemap);
	return bytes;
}

size_t lc_own_memory_ranges(struct lc_own_memory_range *out, size_t cap)
{
	size_t len = cap ? lc_own_heap_range(&out->low, &out->end) : 0;

	pthread_mutex_lock(&mappings.lock);
	for (size_t i = 0; i < mappings.len && len < cap; i++) {
		const struct mapping *m = &mappings.all[i];

		if (m->mapped)
			out[len++] =
			    (struct lc_own_memory_range){ (uintptr_t)m->low, (uintptr_t)m->end };
	}
	pthread_mutex_unlock(&mappings.lock);
	return len;
}

static const struct lc_counter counters[] = {
	{ .name = "own_memory_bytes", .read = lc_own_memory_bytes },
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
