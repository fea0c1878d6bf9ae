/*
 * preload/copies.c - takes the place of libc's memcpy and memmove, so that the agent sees what the
 * garbage collector copies, and of clock_gettime, so that it sees when a phase of a collection
 * ends.
 *
 * The library with this file is built alone. It is loaded into the JVM, its children and whatever
 * the launcher script runs; there it must cost nothing and break nothing. So it has no memory of
 * its own, no lock and no thread-exit hook, and its only work at start is to look up libc's
 * memmove.
 *
 * Every call goes through one pointer, `route_copy` or `route_move`: NULL until the constructor has
 * run (other libraries' IFUNC resolvers and constructors, and dlsym() itself, may copy before),
 * libc's function afterwards, and a logging one between GC start and finish. Both routes end in
 * libc's memmove: old programs that call memcpy@GLIBC_2.2.5 may overlap, and on x86-64 the two are
 * the same code.
 *
 * The tag of a hand-out stands in every record of the chunk. A thread that is not the collector's
 * and copies between two pinned arrays might sleep inside append() from one collection into a
 * later one, when the chunk is another thread's; the reader sees a record with a foreign tag and
 * counts it as lost.
 */
#include "src/preload/abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define EXPORT __attribute__((visibility("default"), used))
#define RARE __attribute__((noinline, cold))

/*
 * Parallel's regions are a multiple of this; the first piece of a split object ends at such an end.
 */
#define PIECE_MASK ((UINT64_C(64) << 10) - 1)

typedef void *copy_fn(void *, const void *, size_t);

static int arm(bool on);

EXPORT struct lc_preload lc_preload_v1;

struct lc_preload lc_preload_v1 = {
	.version = LC_PRELOAD_VERSION,
	.bytes = sizeof(struct lc_preload),
	.arm = arm,
};

/* Relaxed throughout: each value that these ever hold is right for any caller at any time. */
static _Atomic(copy_fn *) route_copy;
static _Atomic(copy_fn *) route_move;
static copy_fn *libc_move; /* written by: the constructor */

typedef int clock_fn(clockid_t, struct timespec *);

static _Atomic(clock_fn *) libc_clock; /* as route_copy; NULL until the constructor has run */

/* This thread's place in the open window. */
static _Thread_local struct {
	struct lc_copy_chunk *chunk;
	struct lc_copy *pending; /* this thread's last evacuation, not yet judged */
	uint32_t generation;
} self;

/* Copy without libc, by string instructions, which no compiler turns into a call of memcpy. */
static RARE void *move_early(void *dst, const void *src, size_t n)
{
	void *d = dst;

	if ((uintptr_t)dst - (uintptr_t)src >= n) {
		__asm__ volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
	} else if (n) {
		d = (char *)dst + n - 1;
		src = (const char *)src + n - 1;
		__asm__ volatile("std; rep movsb; cld" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
	}
	return dst;
}

EXPORT void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
	copy_fn *to = atomic_load_explicit(&route_copy, memory_order_relaxed);

	return __builtin_expect(to != NULL, 1) ? to(dst, src, n) : move_early(dst, src, n);
}

EXPORT void *memmove(void *dst, const void *src, size_t n)
{
	copy_fn *to = atomic_load_explicit(&route_move, memory_order_relaxed);

	return __builtin_expect(to != NULL, 1) ? to(dst, src, n) : move_early(dst, src, n);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *out)
{
	clock_fn *to = atomic_load_explicit(&libc_clock, memory_order_relaxed);
	void (*told)(void) = atomic_load_explicit(&lc_preload_v1.clock_read, memory_order_relaxed);

	if (__builtin_expect(told != NULL, 0))
		told();
	return __builtin_expect(to != NULL, 1) ? to(clock, out)
	                                       : (int)syscall(SYS_clock_gettime, clock, out);
}

static struct lc_copy_chunk *pop_free(struct lc_preload *p)
{
	uint64_t head = atomic_load_explicit(&p->free_head, memory_order_acquire); /* A3 */
	uint64_t next;
	uint32_t i;

	while ((i = (uint32_t)head)) {
		next = (head >> 32) + 1;
		next = next << 32 | __atomic_load_n(&p->link[i - 1], __ATOMIC_RELAXED);
		if (atomic_compare_exchange_weak_explicit(&p->free_head, &head, next,
		                                          memory_order_acquire,
		                                          memory_order_acquire)) /* A3 */
			return &p->chunks[i - 1];
	}
	/* Relaxed: a fresh chunk holds nothing that another thread wrote. */
	i = atomic_load_explicit(&p->fresh, memory_order_relaxed);
	while (i < p->chunks_len) {
		if (atomic_compare_exchange_weak_explicit(
		        &p->fresh, &i, i + 1, memory_order_relaxed, memory_order_relaxed))
			return &p->chunks[i];
	}
	return NULL;
}

/* Take a chunk for this thread and hang it into the window. Returns NULL when there is no room. */
static RARE struct lc_copy_chunk *take_chunk(struct lc_preload *p, uint32_t generation)
{
	struct lc_copy_chunk *c = pop_free(p);
	uint32_t head;

	if (self.generation != generation)
		self.pending = NULL; /* it belongs to a window that was closed */
	self.generation = generation;
	self.chunk = c;
	if (!c)
		return NULL;
	c->used = 0;
	/* Relaxed: a number, unique per hand-out. */
	c->tag = atomic_fetch_add_explicit(&p->handed_out, 1, memory_order_relaxed) &
	         (UINT64_MAX >> LC_COPY_TAG_SHIFT);
	head = atomic_load_explicit(&p->head, memory_order_relaxed);
	do {
		c->next = head;
	} while (!atomic_compare_exchange_weak_explicit(
	    &p->head, &head, (uint32_t)(c - p->chunks) + 1, memory_order_release,
	    memory_order_relaxed)); /* A2 */
	return c;
}

/*
 * An evacuating thread copies an object, then installs the forwarding pointer or finds that
 * another thread did. By the thread's next copy that is decided, and the mark word is still in its
 * cache.
 */
static inline void judge_pending(uint32_t generation)
{
	struct lc_copy *r = self.pending;
	uint64_t mark;

	if (!r)
		return;
	self.pending = NULL;
	if (self.generation != generation)
		return;
	mark = __atomic_load_n((const uint64_t *)lc_copy_src(r), __ATOMIC_RELAXED);
	r->size_tag |= (uint64_t)lc_copy_judge(mark, r->dst) << LC_COPY_FATE_SHIFT;
}

/*
 * Judge the pending copy when a full collection has begun in the same pause: the young generation
 * may have been made smaller in between, and the memory of the source given back. So the kernel is
 * asked to read it.
 */
static RARE void judge_pending_safely(uint32_t generation)
{
	struct lc_copy *r = self.pending;
	uint64_t mark;
	struct iovec to = { .iov_base = &mark, .iov_len = sizeof(mark) };
	struct iovec from = { .iov_base = (void *)(uintptr_t)lc_copy_src(r),
		              .iov_len = sizeof(mark) };
	int saved = errno;

	self.pending = NULL;
	if (self.generation == generation &&
	    process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof(mark))
		r->size_tag |= (uint64_t)lc_copy_judge(mark, r->dst) << LC_COPY_FATE_SHIFT;
	errno = saved;
}

/*
 * Log a copy. A time stamp is taken only where it is needed: rdtsc waits for the loads before it,
 * which are of an object that is not in the cache, and so costs 100 ns here where a loop measures
 * 5 ns.
 */
static void append(struct lc_preload *p, uint32_t generation, uint64_t dst, uint64_t src,
                   uint64_t n, enum lc_copy_kind kind)
{
	struct lc_copy_chunk *c = self.chunk;
	struct lc_copy *r;

	if (self.generation != generation || !c || c->used >= LC_COPY_CHUNK_CAP) {
		c = take_chunk(p, generation);
		if (!c) {
			/* Relaxed: a count. */
			atomic_fetch_add_explicit(&p->lost, 1, memory_order_relaxed);
			return;
		}
	}
	r = &c->copies[c->used];
	r->hash_src = src;
	if (kind == LC_COPY_EVACUATE)
		r->hash_src |= lc_copy_hash(((const uint64_t *)src)[1]) << LC_COPY_HASH_SHIFT;
	r->dst = dst;
	r->size_tag = n | (uint64_t)kind << LC_COPY_KIND_SHIFT | c->tag << LC_COPY_TAG_SHIFT;
	r->time = kind == LC_COPY_SLIDE && p->stamp ? __rdtsc() : 0;
	__builtin_prefetch(r + 8, 1); /* may lie behind the chunk: only a hint */
	c->used++;
	if (kind == LC_COPY_EVACUATE)
		self.pending = r;
}

static void *log_copy(void *dst, const void *src, size_t n)
{
	struct lc_preload *p = &lc_preload_v1;
	uint32_t generation;

	if ((uintptr_t)dst - p->low < p->span && (uintptr_t)src - p->low < p->span) {
		generation = atomic_load_explicit(&p->generation, memory_order_acquire); /* A1 */
		judge_pending(generation);
		if (n >= p->min_bytes)
			append(p, generation, (uintptr_t)dst, (uintptr_t)src, n, LC_COPY_EVACUATE);
	}
	return libc_move(dst, src, n);
}

static void *log_move(void *dst, const void *src, size_t n)
{
	struct lc_preload *p = &lc_preload_v1;
	uint32_t generation;

	if ((uintptr_t)dst - p->low < p->span && (uintptr_t)src - p->low < p->span) {
		generation = atomic_load_explicit(&p->generation, memory_order_acquire); /* A1 */
		if (__builtin_expect(self.pending != NULL, 0))
			judge_pending_safely(generation);
		/* Relaxed: it is read after the collection. Loading first keeps the cache line
		 * shared. */
		if (!atomic_load_explicit(&p->slid, memory_order_relaxed))
			atomic_store_explicit(&p->slid, 1, memory_order_relaxed);
		/* A second piece may be up to 64 bytes short of min_bytes: the first piece had
		 * them. */
		if (n + 64 >= p->min_bytes || !(((uintptr_t)dst + n - p->low) & PIECE_MASK))
			append(p, generation, (uintptr_t)dst, (uintptr_t)src, n, LC_COPY_SLIDE);
	}
	return libc_move(dst, src, n);
}

static int arm(bool on)
{
	if (!libc_move)
		return -1;
	atomic_store_explicit(&route_copy, on ? log_copy : libc_move, memory_order_relaxed);
	atomic_store_explicit(&route_move, on ? log_move : libc_move, memory_order_relaxed);
	return 0;
}

__attribute__((constructor(101))) static void resolve(void)
{
	void *f = dlsym(RTLD_NEXT, "memmove"), *clock = dlsym(RTLD_NEXT, "clock_gettime");

	/* Relaxed: as above. */
	atomic_store_explicit(&libc_clock, (clock_fn *)(uintptr_t)clock, memory_order_relaxed);

	if (!f)
		return; /* all copies are then made by string instructions */
	libc_move = (copy_fn *)(uintptr_t)f;
	arm(false);
}
