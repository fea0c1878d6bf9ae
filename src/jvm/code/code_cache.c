/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/code/code_cache.c - keeps generated code by address, in flat tables indexed by granules of 64
 * bytes.
 *
 * Per granule there is a slot (the number of the piece of code that covers it, 0 for none) and a
 * mark (one bit per byte at which an instruction is known to start). Pieces are entries of one
 * array. All three live in one reservation that is never unmapped and is only touched where code
 * is: 12 bytes per 64 bytes of code. HotSpot aligns code blobs to at least 64 bytes, so two
 * compiled methods never share a granule; stubs inside one blob do and are merged.
 *
 * Readers run in signal handlers and never wait. Nothing they can reach is ever freed; what is
 * reused is protected by the entry's version:
 *
 * Invariant: I1  version is odd while an entry is being changed; it only grows, so equal even
 *                versions mean the same start, end and kind.
 *            I2  a slot names an entry that covers the whole granule, or an older user of that
 *                entry: readers check pc against start and end.
 *            I3  marks of a granule are zero before its slot is set and after it is cleared;
 *                only bits inside the entry's code are set.
 * Order:     C1  fields are stored with release after the odd version -> a reader that
 *                acquires a new field sees the odd or a later version when it looks again.
 *            C2  slot store (release) -> load (acquire): the entry is whole.
 *            C3  tables store (release) -> load (acquire): the maps are there.
 *            C4  a method is stored behind the version of its entry, and cleared before the next
 *                one: who loads it (acquire) and finds the version as before has that entry's
 *                method, or 0.
 * Compiled methods are not in the tables where the JVM's own can be read (code_headers.h).
 *
 * A reader may still find code whose unload event is on its way. The thread that runs at the pc
 * keeps its own code alive, so its bytes can be read; whether they are the same code is the
 * question of `life`, which the JVM's event order answers: unload comes before the next load.
 */
#include "src/jvm/code/code_cache.h"
#include "src/base/ends.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "src/core/method_number.h"
#include "src/jvm/code/code_headers.h"
#include "src/jvm/layout/ranges.h"

enum { GRANULE_SHIFT = 6, GRANULE = 1 << GRANULE_SHIFT };

/* Rel32 calls bind the code cache to 2 GiB; that much on both sides of the first code will do. */
#define FALLBACK_REACH (UINT64_C(2) << 30)

enum { ENTRIES_MAX = 1 << 20 };

struct entry {
	_Atomic uint64_t start;
	_Atomic uint64_t end;
	_Atomic uint32_t version;
	_Atomic uint32_t kind;   /* 0: free */
	_Atomic uint64_t method; /* its number, or 0; set behind the rest, under `lock` */
};

/* Everything below is written under `lock`; readers follow the rules at the top. */
struct tables {
	uint64_t low, high; /* set once */
	_Atomic uint32_t *slots;
	_Atomic uint64_t *marks;
	struct entry *entries; /* 1.. */
};

/*
 * The code cache: as exported, or what has been seen of it. Written under `lock`; relaxed, since
 * a pc that misses it just now misses the code too.
 */
static _Atomic uint64_t cache_low, cache_high;

static struct tables the_tables;
static _Atomic(struct tables *) tables;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t entries_used = 1;
static uint32_t free_len;
static uint32_t *free_entries; /* a stack of numbers */

static struct tables *tables_get(void)
{
	return atomic_load_explicit(&tables, memory_order_acquire); /* C3 */
}

static void *reserve(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int tables_create(uint64_t low, uint64_t high)
{
	struct tables *t = &the_tables;
	uint64_t granules;
	unsigned char *p;

	low &= ~(uint64_t)(GRANULE - 1);
	granules = (high - low + GRANULE - 1) >> GRANULE_SHIFT;
	/* One map: marks, entries, slots, free stack; in this order each is aligned. */
	p = reserve(granules * (sizeof(*t->marks) + sizeof(*t->slots)) +
	            (uint64_t)ENTRIES_MAX * (sizeof(*t->entries) + sizeof(*free_entries)));
	if (!p)
		return -ENOMEM;
	t->low = low;
	t->high = low + (granules << GRANULE_SHIFT);
	t->marks = (void *)p;
	p += granules * sizeof(*t->marks);
	t->entries = (void *)p;
	p += (uint64_t)ENTRIES_MAX * sizeof(*t->entries);
	free_entries = (void *)p;
	p += (uint64_t)ENTRIES_MAX * sizeof(*free_entries);
	t->slots = (void *)p;
	atomic_store_explicit(&tables, t, memory_order_release); /* C3 */
	return 0;
}

/* The exported bounds; there are none until the JVM has reserved its code cache. */
static int exported_range(uint64_t *low, uint64_t *high)
{
	const struct lc_range code = lc_ranges_code();

	if (!code.low || code.high <= code.low || code.high - code.low > FALLBACK_REACH)
		return -ENOENT;
	*low = code.low;
	*high = code.high;
	return 0;
}

static void widen_cache(uint64_t low, uint64_t high)
{
	if (low < atomic_load_explicit(&cache_low, memory_order_relaxed) ||
	    !atomic_load_explicit(&cache_high, memory_order_relaxed))
		atomic_store_explicit(&cache_low, low, memory_order_relaxed);
	if (high > atomic_load_explicit(&cache_high, memory_order_relaxed))
		atomic_store_explicit(&cache_high, high, memory_order_relaxed);
}

int lc_code_cache_init(void)
{
	uint64_t low, high;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!tables_get() && !exported_range(&low, &high)) {
		err = tables_create(low, high);
		if (!err)
			widen_cache(low, high);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* With the lock held. NULL where `address` is out of range or memory is short. */
static struct tables *tables_for(uint64_t address)
{
	struct tables *t = tables_get();
	uint64_t low, high;

	if (!t) {
		if (!exported_range(&low, &high) && address >= low && address < high) {
			widen_cache(low, high);
		} else {
			low = address > FALLBACK_REACH ? address - FALLBACK_REACH : 0;
			high = address + FALLBACK_REACH;
		}
		if (!tables_create(low, high))
			t = tables_get();
	}
	return t && address >= t->low && address < t->high ? t : NULL;
}

static uint64_t granule_of(const struct tables *t, uint64_t address)
{
	return (address - t->low) >> GRANULE_SHIFT;
}

static void entry_set(struct tables *t, uint32_t n, uint64_t start, uint64_t end, uint32_t kind)
{
	struct entry *e = &t->entries[n];
	const uint32_t version = atomic_load_explicit(&e->version, memory_order_relaxed); /* ours */

	atomic_store_explicit(&e->version, version + 1, memory_order_relaxed); /* odd: I1 */
	atomic_store_explicit(&e->start, start, memory_order_release);         /* C1 */
	atomic_store_explicit(&e->end, end, memory_order_release);
	atomic_store_explicit(&e->kind, kind, memory_order_release);
	atomic_store_explicit(&e->method, 0, memory_order_release);
	atomic_store_explicit(&e->version, version + 2, memory_order_release);
}

static void remove_entry(struct tables *t, uint32_t n)
{
	struct entry *e = &t->entries[n];
	const uint64_t first = granule_of(t, atomic_load(&e->start));
	const uint64_t last = granule_of(t, atomic_load(&e->end) - 1);

	entry_set(t, n, 0, 0, 0);
	for (uint64_t g = first; g <= last; g++) {
		if (atomic_load_explicit(&t->slots[g], memory_order_relaxed) != n)
			continue; /* another piece has taken it over */
		atomic_store_explicit(&t->slots[g], 0, memory_order_release);
		atomic_store_explicit(&t->marks[g], 0, memory_order_relaxed); /* I3; a hint */
	}
	free_entries[free_len++] = n;
}

/* Compiled code that still has slots in the way is gone: its unload event was lost. */
static void remove_overlaps(struct tables *t, uint64_t first, uint64_t last, uint32_t keep)
{
	for (uint64_t g = first; g <= last; g++) {
		const uint32_t n = atomic_load_explicit(&t->slots[g], memory_order_relaxed);

		if (n && n != keep)
			remove_entry(t, n);
	}
}

static uint32_t new_entry(void)
{
	if (free_len)
		return free_entries[--free_len];
	return entries_used < ENTRIES_MAX ? entries_used++ : 0;
}

static void set_slots(struct tables *t, uint64_t first, uint64_t last, uint32_t n)
{
	for (uint64_t g = first; g <= last; g++)
		atomic_store_explicit(&t->slots[g], n, memory_order_release); /* C2 */
}

static void set_mark(struct tables *t, uint64_t address)
{
	/* Relaxed: a boundary seen late only makes a decode longer. */
	atomic_fetch_or_explicit(&t->marks[granule_of(t, address)],
	                         UINT64_C(1) << (address & (GRANULE - 1)), memory_order_relaxed);
}

/* With the lock held; the whole range is inside the tables. Returns the entry, or 0. */
static uint32_t add(struct tables *t, uint64_t start, uint64_t end, uint32_t kind)
{
	const uint64_t first = granule_of(t, start);
	const uint64_t last = granule_of(t, end - 1);
	uint32_t n;

	remove_overlaps(t, first, last, 0);
	n = new_entry();
	if (!n)
		return 0;
	entry_set(t, n, start, end, kind);
	set_slots(t, first, last, n);
	set_mark(t, start);
	widen_cache(start, end);
	return n;
}

static bool range_fits(const struct tables *t, uint64_t start, jint bytes)
{
	return t && bytes > 0 && start + (uint64_t)bytes <= t->high;
}

/* PCs of the inline records: compile_info is a list of jvmticmlr.h headers. */
static void mark_boundaries(struct tables *t, uint64_t start, uint64_t end, jint map_length,
                            const jvmtiAddrLocationMap *map)
{
	for (jint i = 0; i < map_length; i++) {
		const uint64_t a = (uintptr_t)map[i].start_address;

		if (a >= start && a < end)
			set_mark(t, a);
	}
}

void lc_code_cache_compiled_method_load(jmethodID method, jint code_size, const void *code_addr,
                                        jint map_length, const jvmtiAddrLocationMap *map,
                                        const void *compile_info)
{
	const uint64_t start = (uintptr_t)code_addr;
	struct tables *t;

	(void)compile_info; /* names the same PCs as the map */
	pthread_mutex_lock(&lock);
	t = tables_for(start);
	if (range_fits(t, start, code_size) &&
	    add(t, start, start + (uint64_t)code_size, LC_CODE_METHOD)) {
		const uint32_t n =
		    atomic_load_explicit(&t->slots[granule_of(t, start)], memory_order_relaxed);

		atomic_store_explicit(&t->entries[n].method, lc_method_number(method),
		                      memory_order_release); /* C4 */
		mark_boundaries(t, start, start + (uint64_t)code_size, map_length, map);
	}
	pthread_mutex_unlock(&lock);
}

void lc_code_cache_compiled_method_unload(jmethodID method, const void *code_addr)
{
	const uint64_t start = (uintptr_t)code_addr;
	struct tables *t;
	uint32_t n;

	pthread_mutex_lock(&lock);
	t = tables_get();
	if (t && start >= t->low && start < t->high) {
		n = atomic_load_explicit(&t->slots[granule_of(t, start)], memory_order_relaxed);
		if (n && atomic_load(&t->entries[n].start) == start &&
		    atomic_load(&t->entries[n].kind) == LC_CODE_METHOD)
			remove_entry(t, n);
	}
	pthread_mutex_unlock(&lock);
}

/* By the names that HotSpot gives; what is not known is a stub, which decoding can refuse. */
static uint32_t kind_of_name(const char *name)
{
	static const char *const runtime[] = { "Runtime",           "Blob",
		                               "resolve_",          "wrong_method",
		                               "ic_miss",           "throw_exception",
		                               "Signature Handler", "native signature handlers",
		                               "InlineCacheBuffer" };

	if (!strcmp(name, "Interpreter"))
		return LC_CODE_INTERPRETER;
	for (size_t i = 0; i < sizeof(runtime) / sizeof(*runtime); i++)
		if (strstr(name, runtime[i]))
			return LC_CODE_RUNTIME;
	return lc_ends_with(name, strlen(name), "_Java") ? LC_CODE_RUNTIME : LC_CODE_STUB;
}

/* Stubs that touch the granules of [start, end), grown together with it. With the lock held. */
static void add_stub(struct tables *t, uint64_t start, uint64_t end)
{
	const uint64_t first = granule_of(t, start);
	const uint64_t last = granule_of(t, end - 1);
	uint64_t low = start, high = end;
	uint32_t keep = 0;

	for (uint64_t g = first; g <= last; g++) {
		const uint32_t n = atomic_load_explicit(&t->slots[g], memory_order_relaxed);
		const struct entry *e = &t->entries[n];
		uint64_t s, x;

		if (!n || atomic_load(&e->kind) != LC_CODE_STUB)
			continue;
		s = atomic_load(&e->start);
		x = atomic_load(&e->end);
		if (s <= start && x >= end) { /* nested, or the same again */
			set_mark(t, start);
			return;
		}
		low = s < low ? s : low;
		high = x > high ? x : high;
		if (!keep) {
			keep = n;
			continue;
		}
		/* Its marks stay: the stubs are still there, in the grown entry. */
		if (n != keep) {
			const uint64_t s1 = granule_of(t, s), s2 = granule_of(t, x - 1);

			set_slots(t, s1, s2, keep);
			entry_set(t, n, 0, 0, 0);
			free_entries[free_len++] = n;
		}
	}
	if (!keep) {
		add(t, start, end, LC_CODE_STUB);
		return;
	}
	remove_overlaps(t, first, last, keep);
	entry_set(t, keep, low, high, LC_CODE_STUB);
	set_slots(t, first, last, keep);
	set_mark(t, start);
	widen_cache(low, high);
}

/* Codelets and method handle entries are reported one by one inside the interpreter's range. */
static bool inside_interpreter(const struct tables *t, uint64_t start, uint64_t end)
{
	const uint32_t n =
	    atomic_load_explicit(&t->slots[granule_of(t, start)], memory_order_relaxed);
	const struct entry *e = &t->entries[n];

	return n && atomic_load(&e->kind) == LC_CODE_INTERPRETER &&
	       atomic_load(&e->start) <= start && atomic_load(&e->end) >= end;
}

void lc_code_cache_dynamic_code_generated(const char *name, const void *address, jint length)
{
	const uint64_t start = (uintptr_t)address;
	const uint64_t end = start + (uint64_t)(length > 0 ? length : 0);
	const uint32_t kind = kind_of_name(name);
	struct tables *t;

	pthread_mutex_lock(&lock);
	t = tables_for(start);
	if (range_fits(t, start, length)) {
		if (kind == LC_CODE_STUB && !inside_interpreter(t, start, end))
			add_stub(t, start, end);
		else if (kind != LC_CODE_STUB)
			add(t, start, end, kind);
	}
	pthread_mutex_unlock(&lock);
}

bool lc_code_cache_in_cache(uint64_t pc)
{
	return pc >= atomic_load_explicit(&cache_low, memory_order_relaxed) &&
	       pc < atomic_load_explicit(&cache_high, memory_order_relaxed);
}

static bool find_announced(uint64_t pc, struct lc_code_cache_piece *out)
{
	const struct tables *t = tables_get();
	const struct entry *e;
	uint32_t n, version, kind;
	uint64_t start, end;

	if (!t || pc < t->low || pc >= t->high)
		return false;
	n = atomic_load_explicit(&t->slots[granule_of(t, pc)], memory_order_acquire); /* C2 */
	if (!n)
		return false;
	e = &t->entries[n];
	version = atomic_load_explicit(&e->version, memory_order_acquire);
	start = atomic_load_explicit(&e->start, memory_order_acquire); /* C1 */
	end = atomic_load_explicit(&e->end, memory_order_acquire);
	kind = atomic_load_explicit(&e->kind, memory_order_acquire);
	if ((version & 1) || !kind || pc < start || pc >= end ||
	    atomic_load_explicit(&e->version, memory_order_relaxed) != version)
		return false;
	out->start = start;
	out->end = end;
	out->life = (uint64_t)n << 32 | version;
	out->kind = kind;
	return true;
}

/* The JVM's tables are newer than its announcements. */
bool lc_code_cache_find(uint64_t pc, struct lc_code_cache_piece *out)
{
	struct lc_code_header code;

	if (!lc_code_headers_find(pc, &code))
		return find_announced(pc, out);
	*out = (struct lc_code_cache_piece){
		.start = code.start, .end = code.end, .life = code.life, .kind = LC_CODE_METHOD
	};
	return true;
}

bool lc_code_cache_is_method(uint64_t pc)
{
	struct lc_code_cache_piece code;

	return lc_code_cache_find(pc, &code) && code.kind == LC_CODE_METHOD;
}

uint64_t lc_code_cache_method(uint64_t pc)
{
	const struct tables *t = tables_get();
	struct lc_code_cache_piece code;
	uint64_t method;
	uint32_t n;

	if (lc_code_headers_known())
		return lc_code_headers_method(pc);
	if (!find_announced(pc, &code) || code.kind != LC_CODE_METHOD)
		return 0;
	n = (uint32_t)(code.life >> 32);
	method = atomic_load_explicit(&t->entries[n].method, memory_order_acquire); /* C4 */
	/* The method of the code that was found, unless the code was freed meanwhile. */
	return atomic_load_explicit(&t->entries[n].version, memory_order_acquire) ==
	               (uint32_t)code.life
	           ? method
	           : 0;
}

uint64_t lc_code_cache_boundary(const struct lc_code_cache_piece *code, uint64_t limit)
{
	const struct tables *t = tables_get();
	uint64_t g, first, bits;

	if (code->kind == LC_CODE_METHOD && lc_code_headers_known()) {
		g = lc_code_headers_boundary(code->start, limit);
		return g > code->start ? g : code->start;
	}
	if (!t || limit <= code->start || code->start < t->low || limit >= t->high)
		return code->start;
	g = granule_of(t, limit);
	first = granule_of(t, code->start);
	bits = atomic_load_explicit(&t->marks[g], memory_order_relaxed) &
	       (UINT64_MAX >> (GRANULE - 1 - (limit & (GRANULE - 1))));
	while (!bits && g > first) {
		g--;
		bits = atomic_load_explicit(&t->marks[g], memory_order_relaxed);
	}
	if (bits) {
		const uint64_t a =
		    t->low + (g << GRANULE_SHIFT) + (uint64_t)(63 - __builtin_clzll(bits));

		return a > code->start ? a : code->start;
	}
	return code->start;
}
