/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/copy_log.c - logs what the collector copies: libjvm's calls of memcpy and memmove, and when a
 * phase of a collection ends, by its calls of clock_gettime, and what memory it maps anew, by its
 * calls of mmap.
 *
 * Every call goes through one pointer, `route_copy` or `route_move`: what libjvm called before, and
 * a logging one between GC start and finish; or one that notes all copies in gc/move_log.h, for
 * collectors that move objects while the program runs.
 *
 * The tag of a hand-out stands in every record of the chunk. A thread that is not the collector's
 * and copies between two pinned arrays might sleep inside append() from one collection into a
 * later one, when the chunk is another thread's; the reader sees a record with a foreign tag and
 * counts it as lost.
 */
#include "src/gc/copy_log.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

#include "src/base/say.h"
#include "src/core/memory.h"
#include "src/core/reset.h"
#include "src/gc/move_log.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/imports.h"
#include "src/jvm/os/peek.h"

#define RARE __attribute__((noinline, cold))

enum { PROBE_BYTES = 1024 };

/*
 * Parallel's regions are a multiple of this; the first piece of a split object ends at such an end.
 */
#define PIECE_MASK ((UINT64_C(64) << 10) - 1)

typedef void *copy_fn(void *, const void *, size_t);

/* Kept, as all that a call may find that has come through a slot before it was restored. */
LC_KEPT struct lc_copy_log lc_copy_log = { .low = 0 };

/* Relaxed throughout: each value that these ever hold is right for any caller at any time. */
static LC_KEPT _Atomic(copy_fn *) route_copy;
static LC_KEPT _Atomic(copy_fn *) route_move;

typedef int clock_fn(clockid_t, struct timespec *);
typedef void *map_fn(void *, size_t, int, int, int, off_t);

static void *copy(void *dst, const void *src, size_t n);
static void *move(void *dst, const void *src, size_t n);
static int clock_read(clockid_t clock, struct timespec *out);
static void *map(void *at, size_t n, int protection, int flags, int fd, off_t offset);

static LC_KEPT struct lc_import copies[] = { { .name = "memcpy", .ours = (void *)(uintptr_t)copy },
	                                     { .name = "memmove",
	                                       .ours = (void *)(uintptr_t)move } };
static LC_KEPT struct lc_import clocks[] = { { .name = "clock_gettime",
	                                       .ours = (void *)(uintptr_t)clock_read } };
static LC_KEPT struct lc_import maps[] = { { .name = "mmap64", .ours = (void *)(uintptr_t)map } };
static LC_KEPT struct lc_imports copy_imports = { .list = copies, .len = 2 };
static LC_KEPT struct lc_imports clock_imports = { .list = clocks, .len = 1 };
static LC_KEPT struct lc_imports map_imports = { .list = maps, .len = 1 };

/* libjvm's own callees. Written by: lc_copy_log_init(), before a slot leads here. */
static LC_KEPT copy_fn *before_copy = NULL, *before_move = NULL;
static LC_KEPT clock_fn *before_clock = NULL;
static LC_KEPT map_fn *before_map = NULL;

/* This thread's place in the open window. */
static _Thread_local struct {
	struct lc_copy_chunk *chunk;
	struct lc_copy *pending; /* this thread's last evacuation, not yet judged */
	uint32_t generation;
} self __attribute__((tls_model("initial-exec")));

static void *copy(void *dst, const void *src, size_t n)
{
	return atomic_load_explicit(&route_copy, memory_order_relaxed)(dst, src, n);
}

static void *move(void *dst, const void *src, size_t n)
{
	return atomic_load_explicit(&route_move, memory_order_relaxed)(dst, src, n);
}

static int clock_read(clockid_t clock, struct timespec *out)
{
	void (*told)(void) = atomic_load_explicit(&lc_copy_log.clock_read, memory_order_relaxed);

	if (__builtin_expect(told != NULL, 0))
		told();
	return before_clock(clock, out);
}

static void *map(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	void (*told)(uint64_t, uint64_t) =
	    atomic_load_explicit(&lc_copy_log.map_fixed, memory_order_relaxed);

	if (__builtin_expect(told != NULL, 0) && flags & MAP_FIXED)
		told((uintptr_t)at, (uintptr_t)at + n);
	return before_map(at, n, protection, flags, fd, offset);
}

static struct lc_copy_chunk *pop_free(struct lc_copy_log *l)
{
	uint64_t head = atomic_load_explicit(&l->free_head, memory_order_acquire); /* A3 */
	uint64_t next;
	uint32_t i;

	while ((i = (uint32_t)head)) {
		next = (head >> 32) + 1;
		next = next << 32 | __atomic_load_n(&l->link[i - 1], __ATOMIC_RELAXED);
		if (atomic_compare_exchange_weak_explicit(&l->free_head, &head, next,
		                                          memory_order_acquire,
		                                          memory_order_acquire)) /* A3 */
			return &l->chunks[i - 1];
	}
	/* Relaxed: a fresh chunk holds nothing that another thread wrote. */
	i = atomic_load_explicit(&l->fresh, memory_order_relaxed);
	while (i < l->chunks_len) {
		if (atomic_compare_exchange_weak_explicit(
		        &l->fresh, &i, i + 1, memory_order_relaxed, memory_order_relaxed))
			return &l->chunks[i];
	}
	return NULL;
}

/* Take a chunk for this thread and hang it into the window. Returns NULL when there is no room. */
static RARE struct lc_copy_chunk *take_chunk(struct lc_copy_log *l, uint32_t generation)
{
	struct lc_copy_chunk *c = lc_memory_take(LC_MEMORY_COPIES, sizeof(*c)) ? pop_free(l) : NULL;
	uint32_t head;

	if (self.generation != generation)
		self.pending = NULL; /* it belongs to a window that was closed */
	self.generation = generation;
	self.chunk = c;
	if (!c)
		return NULL;
	lc_memory_add(sizeof(*c));
	c->used = 0;
	/* Relaxed: a number, unique per hand-out. */
	c->tag = atomic_fetch_add_explicit(&l->handed_out, 1, memory_order_relaxed) &
	         (UINT64_MAX >> LC_COPY_TAG_SHIFT);
	head = atomic_load_explicit(&l->head, memory_order_relaxed);
	do {
		c->next = head;
	} while (!atomic_compare_exchange_weak_explicit(
	    &l->head, &head, (uint32_t)(c - l->chunks) + 1, memory_order_release,
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

	self.pending = NULL;
	if (self.generation == generation && lc_peek(lc_copy_src(r), &mark, sizeof(mark)))
		r->size_tag |= (uint64_t)lc_copy_judge(mark, r->dst) << LC_COPY_FATE_SHIFT;
}

/*
 * Log a copy. A time stamp is taken only where it is needed: rdtsc waits for the loads before it,
 * which are of an object that is not in the cache, and so costs 100 ns here where a loop measures
 * 5 ns.
 */
static void append(struct lc_copy_log *l, uint32_t generation, uint64_t dst, uint64_t src,
                   uint64_t n, enum lc_copy_kind kind)
{
	struct lc_copy_chunk *c = self.chunk;
	struct lc_copy *r;

	if (self.generation != generation || !c || c->used >= LC_COPY_CHUNK_CAP) {
		c = take_chunk(l, generation);
		if (!c) {
			/* Relaxed: a count. */
			atomic_fetch_add_explicit(&l->lost, 1, memory_order_relaxed);
			return;
		}
	}
	r = &c->copies[c->used];
	r->hash_src = src;
	if (kind == LC_COPY_EVACUATE)
		r->hash_src |= lc_copy_hash(((const uint64_t *)src)[1]) << LC_COPY_HASH_SHIFT;
	r->dst = dst;
	r->size_tag = n | (uint64_t)kind << LC_COPY_KIND_SHIFT | c->tag << LC_COPY_TAG_SHIFT;
	r->time = kind == LC_COPY_SLIDE && l->stamp ? __rdtsc() : 0;
	__builtin_prefetch(r + 8, 1); /* may lie behind the chunk: only a hint */
	c->used++;
	if (kind == LC_COPY_EVACUATE)
		self.pending = r;
}

static void *log_copy(void *dst, const void *src, size_t n)
{
	struct lc_copy_log *l = &lc_copy_log;
	uint32_t generation;

	if ((uintptr_t)dst - l->low < l->span && (uintptr_t)src - l->low < l->span) {
		generation = atomic_load_explicit(&l->generation, memory_order_acquire); /* A1 */
		judge_pending(generation);
		if (n >= l->min_bytes)
			append(l, generation, (uintptr_t)dst, (uintptr_t)src, n, LC_COPY_EVACUATE);
	}
	return before_move(dst, src, n);
}

static void *log_move(void *dst, const void *src, size_t n)
{
	struct lc_copy_log *l = &lc_copy_log;
	uint32_t generation;

	if ((uintptr_t)dst - l->low < l->span && (uintptr_t)src - l->low < l->span) {
		generation = atomic_load_explicit(&l->generation, memory_order_acquire); /* A1 */
		if (__builtin_expect(self.pending != NULL, 0))
			judge_pending_safely(generation);
		/* Relaxed: it is read after the collection. Loading first keeps the cache line
		 * shared. */
		if (!atomic_load_explicit(&l->slid, memory_order_relaxed))
			atomic_store_explicit(&l->slid, 1, memory_order_relaxed);
		/* A second piece may be up to 64 bytes short of min_bytes: the first piece had
		 * them. */
		if (n + 64 >= l->min_bytes || !(((uintptr_t)dst + n - l->low) & PIECE_MASK))
			append(l, generation, (uintptr_t)dst, (uintptr_t)src, n, LC_COPY_SLIDE);
	}
	return before_move(dst, src, n);
}

void lc_copy_log_arm(bool on)
{
	atomic_store_explicit(&route_copy, on ? log_copy : before_copy, memory_order_relaxed);
	atomic_store_explicit(&route_move, on ? log_move : before_move, memory_order_relaxed);
}

static _Atomic bool probe_seen;

static void *probe_move(void *dst, const void *src, size_t n)
{
	atomic_store_explicit(&probe_seen, true, memory_order_relaxed);
	return before_move(dst, src, n);
}

bool lc_copy_log_probe(JNIEnv *jni)
{
	jbyte bytes[PROBE_BYTES];
	jbyteArray array;

	if (!lc_copy_log_passed())
		return false;
	atomic_store_explicit(&probe_seen, false, memory_order_relaxed);
	array = (*jni)->NewByteArray(jni, PROBE_BYTES);
	if (!array) {
		(*jni)->ExceptionClear(jni);
		return true; /* nothing was learnt */
	}
	atomic_store_explicit(&route_move, probe_move, memory_order_relaxed);
	(*jni)->GetByteArrayRegion(jni, array, 0, PROBE_BYTES, bytes);
	atomic_store_explicit(&route_move, before_move, memory_order_relaxed);
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	(*jni)->DeleteLocalRef(jni, array);
	return atomic_load_explicit(&probe_seen, memory_order_relaxed);
}

static inline bool is_wanted(uint64_t dst, uint64_t src, size_t n)
{
	const struct lc_copy_log *l = &lc_copy_log;

	return dst - l->low < l->span && src - l->low < l->span && n >= l->min_bytes;
}

static void *note_copy(void *dst, const void *src, size_t n)
{
	if (is_wanted((uintptr_t)dst, (uintptr_t)src, n))
		lc_move_log_put((uintptr_t)dst, (uintptr_t)src, n);
	return before_copy(dst, src, n);
}

static void *note_move(void *dst, const void *src, size_t n)
{
	if (is_wanted((uintptr_t)dst, (uintptr_t)src, n))
		lc_move_log_put((uintptr_t)dst, (uintptr_t)src, n);
	return before_move(dst, src, n);
}

void lc_copy_log_note_all(uint64_t low, uint64_t high, uint64_t min_bytes)
{
	lc_copy_log.low = low;
	lc_copy_log.span = high - low;
	lc_copy_log.min_bytes = min_bytes;
	/* Release: the fields first. Copies until then are not logged: nothing is tracked yet. */
	atomic_store_explicit(&route_copy, note_copy, memory_order_release);
	atomic_store_explicit(&route_move, note_move, memory_order_release);
}

/* Without the ends of phases, small objects are looked at only at the end of the pause. */
static void redirect_clock(uint64_t inside)
{
	if (lc_imports_find(inside, &clock_imports))
		return;
	before_clock = (clock_fn *)(uintptr_t)clocks[0].before;
	(void)lc_imports_redirect(&clock_imports);
}

/*
 * Without it, small objects whose memory is given back in the pause are forgotten, and counted.
 */
static void redirect_map(uint64_t inside)
{
	int err = lc_imports_find(inside, &map_imports);

	if (err) {
		maps[0].name = "mmap"; /* on 64 bits, they are one function */
		err = lc_imports_find(inside, &map_imports);
	}
	if (err)
		return;
	before_map = (map_fn *)(uintptr_t)maps[0].before;
	(void)lc_imports_redirect(&map_imports);
}

int lc_copy_log_init(void)
{
	const uint64_t inside = lc_ranges_library().low;
	int err;

	if (lc_copy_log_passed())
		return 0;
	err = lc_imports_find(inside, &copy_imports);
	if (err)
		return err;
	before_copy = (copy_fn *)(uintptr_t)copies[0].before;
	before_move = (copy_fn *)(uintptr_t)copies[1].before;
	lc_copy_log_arm(false);
	err = lc_imports_redirect(&copy_imports);
	if (err)
		return err;
	redirect_clock(inside);
	redirect_map(inside);
	return 0;
}

/* Calls that pass a slot which stays as it is are handed on. */
static void restore(const struct lc_imports *i)
{
	int err = lc_imports_restore(i);

	if (err)
		err = lc_imports_restore(i);
	if (err)
		lc_say("cannot restore libjvm's calls of %s, which still go through the agent: %s",
		       i->list[0].name, strerror(-err));
}

void lc_copy_log_end(void)
{
	if (!copies[0].slots_len)
		return;
	atomic_store_explicit(&lc_copy_log.clock_read, NULL, memory_order_release);
	atomic_store_explicit(&lc_copy_log.map_fixed, NULL, memory_order_release);
	lc_copy_log_arm(false);
	restore(&copy_imports);
	if (clocks[0].slots_len)
		restore(&clock_imports);
	if (maps[0].slots_len)
		restore(&map_imports);
}

bool lc_copy_log_passed(void)
{
	return copies[0].slots_len && lc_imports_ours(&copy_imports);
}
