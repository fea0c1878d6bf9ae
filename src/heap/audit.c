/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/audit.c - holds weak references to tracked objects, takes snapshots of them, and compares.
 *
 * Entries lie in blocks that never move; an entry's number is taken from a list of free ones.
 *
 * Ownership: `ref` is written by the hook's thread, last, and set to 0 by the attribution thread.
 *            `reported` belongs to the snapshot, `addr` and `seen` to the attribution thread, once
 *            `ref` is set.
 * Order:     A1  add stores ref (release) -> snapshot loads it (acquire): an entry is whole
 *                before it is seen. In the same way add stores the block, then `len` (release).
 *            A2  a dead object is reported by one snapshot only, and its entry is used again only
 *                after that snapshot was compared. So no snapshot names an entry by a number
 *                that has gone to another object.
 * Locks:     `entries_lock` for the list of free entries, `queue_lock` for snapshots,
 *            `totals_lock` for the totals. None is held across a call into the JVM, so a thread
 *            that holds one never waits for the end of the pause in which snapshot() takes the
 *            latter two.
 */
#include "src/heap/audit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/counters.h"
#include "src/heap/alloc_path.h"
#include "src/heap/map.h"
#include "src/jvm/os/handle.h"

enum {
	BLOCK_ENTRIES = 4096,
	BLOCKS_MAX = 1 << 16,
	/* Objects of more words are never forgotten: gc/small.h, and rule 5 of map_close.c. */
	FORGOTTEN_WORDS = 16,
};

struct entry {
	_Atomic(jweak) ref; /* 0: free, or about to be used */
	uint64_t addr; /* where the object was at the last comparison, or when it was allocated */
	uint32_t size_words;
	uint32_t site;
	uint32_t next_free; /* number + 1 of a free entry; under entries_lock */
	bool reported;      /* some snapshot says that it is dead */
	bool seen;          /* the object was live in a comparison */
};

struct item {
	uint64_t addr; /* 0: dead */
	uint32_t number;
};

struct snapshot {
	struct snapshot *next;
	uint32_t epoch;
	size_t len;
	struct item items[];
};

/* A live object on its way through a comparison. */
struct live {
	uint64_t addr, size_bytes;
	struct entry *entry;
	bool matched;
};

static struct {
	_Atomic(struct entry *) *blocks; /* set once by init */
	_Atomic uint32_t len;            /* entries in blocks; written under entries_lock */
	uint32_t free_entry;             /* number + 1; under entries_lock */
	_Atomic(JavaVM *) vm;            /* written by the first add */
	struct snapshot *first, *last;   /* under queue_lock */
	struct snapshot *unfreed;        /* attribution thread only: dead references to delete */
	uint32_t renewed;                /* attribution thread only: lc_alloc_place() */
	struct lc_audit_totals totals;   /* under totals_lock */
	pthread_mutex_t entries_lock, queue_lock, totals_lock;
} audit = {
	.entries_lock = PTHREAD_MUTEX_INITIALIZER,
	.queue_lock = PTHREAD_MUTEX_INITIALIZER,
	.totals_lock = PTHREAD_MUTEX_INITIALIZER,
};

static struct entry *entry_at(uint32_t number)
{
	struct entry *block = atomic_load_explicit(&audit.blocks[number / BLOCK_ENTRIES],
	                                           memory_order_relaxed); /* A1, by len */

	return &block[number % BLOCK_ENTRIES];
}

static void count(uint64_t *total, uint64_t n)
{
	pthread_mutex_lock(&audit.totals_lock);
	*total += n;
	pthread_mutex_unlock(&audit.totals_lock);
}

int lc_audit_init(void)
{
	if (audit.blocks)
		return -EALREADY;
	audit.blocks = calloc(BLOCKS_MAX, sizeof(audit.blocks[0]));
	return audit.blocks ? 0 : -ENOMEM;
}

void lc_audit_destroy(void)
{
	struct snapshot *s, *next;
	uint32_t len = atomic_load_explicit(&audit.len, memory_order_relaxed); /* alone */

	for (uint32_t i = 0; i < len; i += BLOCK_ENTRIES)
		free(entry_at(i));
	for (s = audit.first; s; s = next) {
		next = s->next;
		free(s);
	}
	for (s = audit.unfreed; s; s = next) {
		next = s->next;
		free(s);
	}
	free(audit.blocks);
	audit.blocks = NULL;
	audit.first = audit.last = audit.unfreed = NULL;
	audit.free_entry = 0;
	atomic_store_explicit(&audit.len, 0, memory_order_relaxed);
	atomic_store_explicit(&audit.vm, NULL, memory_order_relaxed);
	audit.totals = (struct lc_audit_totals){ 0 };
}

/* Add a block of free entries. Under entries_lock. */
static void add_block(void)
{
	uint32_t len = atomic_load_explicit(&audit.len, memory_order_relaxed); /* lock held */
	struct entry *block;

	if (len / BLOCK_ENTRIES == BLOCKS_MAX)
		return;
	block = calloc(BLOCK_ENTRIES, sizeof(*block));
	if (!block)
		return;
	for (uint32_t i = 0; i < BLOCK_ENTRIES; i++)
		block[i].next_free = i + 1 < BLOCK_ENTRIES ? len + i + 2 : 0;
	audit.free_entry = len + 1;
	atomic_store_explicit(&audit.blocks[len / BLOCK_ENTRIES], block, memory_order_relaxed);
	atomic_store_explicit(&audit.len, len + BLOCK_ENTRIES, memory_order_release); /* A1 */
}

static struct entry *take_entry(void)
{
	struct entry *e = NULL;

	pthread_mutex_lock(&audit.entries_lock);
	if (!audit.free_entry)
		add_block();
	if (audit.free_entry) {
		e = entry_at(audit.free_entry - 1);
		audit.free_entry = e->next_free;
	}
	pthread_mutex_unlock(&audit.entries_lock);
	return e;
}

static void give_entry(uint32_t number)
{
	pthread_mutex_lock(&audit.entries_lock);
	entry_at(number)->next_free = audit.free_entry;
	audit.free_entry = number + 1;
	pthread_mutex_unlock(&audit.entries_lock);
}

void lc_audit_add(JNIEnv *env, jobject object, uint64_t addr, uint64_t size_bytes, uint32_t site)
{
	jweak ref = (*env)->NewWeakGlobalRef(env, object);
	struct entry *e;
	JavaVM *vm;

	if (!ref)
		(*env)->ExceptionClear(env); /* OutOfMemoryError, of this call alone */
	e = ref ? take_entry() : NULL;
	if (!e) {
		if (ref)
			(*env)->DeleteWeakGlobalRef(env, ref);
		count(&audit.totals.unheld, 1);
		return;
	}
	/* Threads that find no VM yet all store the same one. */
	if (!atomic_load_explicit(&audit.vm, memory_order_relaxed) && !(*env)->GetJavaVM(env, &vm))
		atomic_store_explicit(&audit.vm, vm, memory_order_release);
	e->addr = addr;
	e->size_words = (uint32_t)(size_bytes / 8);
	e->site = site;
	e->reported = false;
	e->seen = false;
	atomic_store_explicit(&e->ref, ref, memory_order_release); /* A1 */
	count(&audit.totals.objects, 1);
}

void lc_audit_snapshot(uint32_t epoch)
{
	uint32_t len = atomic_load_explicit(&audit.len, memory_order_acquire); /* A1 */
	struct snapshot *s = malloc(sizeof(*s) + len * sizeof(s->items[0]));

	if (!s) {
		count(&audit.totals.skipped, 1);
		return;
	}
	s->next = NULL;
	s->epoch = epoch;
	s->len = 0;
	for (uint32_t i = 0; i < len; i++) {
		struct entry *e = entry_at(i);
		jweak ref = atomic_load_explicit(&e->ref, memory_order_acquire); /* A1 */
		uint64_t addr;

		if (!ref || e->reported)
			continue;
		addr = lc_handle_address(ref);
		e->reported = !addr; /* A2 */
		s->items[s->len++] = (struct item){ addr, i };
	}
	pthread_mutex_lock(&audit.queue_lock);
	if (audit.last)
		audit.last->next = s;
	else
		audit.first = s;
	audit.last = s;
	pthread_mutex_unlock(&audit.queue_lock);
}

/* Take the oldest snapshot of an epoch up to `epoch`, or NULL. */
static struct snapshot *take_snapshot(uint32_t epoch)
{
	struct snapshot *s;

	pthread_mutex_lock(&audit.queue_lock);
	s = audit.first;
	if (s && (int32_t)(s->epoch - epoch) <= 0) {
		audit.first = s->next;
		if (!audit.first)
			audit.last = NULL;
	} else {
		s = NULL;
	}
	pthread_mutex_unlock(&audit.queue_lock);
	return s;
}

/* Delete the references that snapshots found dead, if this thread is attached to the JVM. */
static void free_dead(void)
{
	JavaVM *vm = atomic_load_explicit(&audit.vm, memory_order_acquire); /* set by add */
	void *env = NULL;

	if (!vm || (*vm)->GetEnv(vm, &env, JNI_VERSION_1_6) != JNI_OK)
		return;
	while (audit.unfreed) {
		struct snapshot *s = audit.unfreed;

		audit.unfreed = s->next;
		for (size_t i = 0; i < s->len; i++) {
			struct entry *e = entry_at(s->items[i].number);
			jweak ref = atomic_load_explicit(&e->ref, memory_order_relaxed); /* ours */
			JNIEnv *jni = env;

			atomic_store_explicit(&e->ref, NULL, memory_order_relaxed); /* reported */
			(*jni)->DeleteWeakGlobalRef(jni, ref);
			give_entry(s->items[i].number);
		}
		free(s);
	}
}

/* Keep only the dead references of a snapshot, for free_dead(). */
static void keep_dead(struct snapshot *s)
{
	size_t out = 0;

	for (size_t i = 0; i < s->len; i++) {
		if (!s->items[i].addr)
			s->items[out++] = s->items[i];
	}
	s->len = out;
	s->next = audit.unfreed;
	audit.unfreed = s;
}

static int by_address(const void *a, const void *b)
{
	const struct live *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Is `o` the map's interval of the object that was at `addr`? */
static bool is_of(const struct lc_object *o, uint64_t addr, const struct entry *e)
{
	return o->addr == addr && o->size_bytes == (uint64_t)e->size_words * 8 &&
	       o->site == e->site;
}

/* Walk the map and the live objects together, both by address. */
static void match(struct lc_map *map, struct live *live, size_t len, struct lc_audit_totals *t)
{
	struct lc_object o;
	uint64_t at = 0;
	size_t i = 0;

	while (lc_map_next(map, &at, &o)) {
		bool matched = false, overlaps = false;

		while (i < len && live[i].addr + live[i].size_bytes <= o.addr)
			i++;
		for (size_t j = i; j < len && live[j].addr < o.addr + o.size_bytes; j++) {
			if (is_of(&o, live[j].addr, live[j].entry))
				matched = live[j].matched = true;
			else
				overlaps = true;
		}
		if (overlaps)
			t->wrong_overlap++;
		else if (!matched)
			t->stale++;
	}
}

/*
 * Is another live object of the same site and size at this one's address, so that the map means it?
 */
static bool another_is_there(const struct live *live, size_t len, const struct entry *e)
{
	size_t low = 0, high = len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (live[mid].addr < e->addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < len && live[low].addr == e->addr && live[low].matched;
}

static void compare(struct lc_map *map, const struct snapshot *s)
{
	struct lc_audit_totals t = { .gcs = 1 };
	struct live *live = malloc((s->len + 1) * sizeof(*live));
	struct lc_object o;
	size_t len = 0;

	if (!live) {
		count(&audit.totals.skipped, 1);
		return;
	}
	for (size_t i = 0; i < s->len; i++) {
		struct entry *e = entry_at(s->items[i].number);

		if (s->items[i].addr)
			live[len++] = (struct live){ .addr = s->items[i].addr,
				                     .size_bytes = (uint64_t)e->size_words * 8,
				                     .entry = e };
	}
	qsort(live, len, sizeof(*live), by_address);
	match(map, live, len, &t);
	for (size_t i = 0; i < len; i++) {
		struct entry *e = live[i].entry;

		t.checks++;
		t.survivors += !e->seen;
		e->seen = true;
		if (!live[i].matched && e->addr != live[i].addr && lc_map_find(map, e->addr, &o) &&
		    is_of(&o, e->addr, e) && !another_is_there(live, len, e))
			t.wrong_moved++;
		else if (!live[i].matched && e->size_words <= FORGOTTEN_WORDS)
			t.forgotten++;
		else if (!live[i].matched)
			t.wrong_missing++;
		e->addr = live[i].addr;
	}
	free(live);
	pthread_mutex_lock(&audit.totals_lock);
	audit.totals.gcs += t.gcs;
	audit.totals.checks += t.checks;
	audit.totals.survivors += t.survivors;
	audit.totals.forgotten += t.forgotten;
	audit.totals.wrong_missing += t.wrong_missing;
	audit.totals.wrong_moved += t.wrong_moved;
	audit.totals.wrong_overlap += t.wrong_overlap;
	audit.totals.stale += t.stale;
	pthread_mutex_unlock(&audit.totals_lock);
}

void lc_audit_compare(struct lc_map *map, uint32_t epoch)
{
	struct snapshot *s;

	while ((s = take_snapshot(epoch)) != NULL) {
		if (s->epoch == epoch)
			compare(map, s);
		else
			count(&audit.totals.skipped, 1);
		keep_dead(s);
	}
	free_dead();
}

void lc_audit_ask(JNIEnv *env, uint32_t *at, size_t max,
                  void (*use)(void *user, const struct lc_audit_question *q), void *user)
{
	const uint32_t len = atomic_load_explicit(&audit.len, memory_order_acquire); /* A1 */

	for (; max && *at < len; (*at)++) {
		struct entry *e = entry_at(*at);
		jweak ref = atomic_load_explicit(&e->ref, memory_order_acquire); /* A1 */
		jobject object = ref ? (*env)->NewLocalRef(env, ref) : NULL;

		if (object) {
			const struct lc_alloc_place place =
			    lc_alloc_place(env, object, &audit.renewed);

			(*env)->DeleteLocalRef(env, object);
			use(user, &(struct lc_audit_question){ place.time_ns, place.addr, *at });
			max--;
		} else if (ref) {
			atomic_store_explicit(&e->ref, NULL, memory_order_relaxed); /* dead: ours */
			(*env)->DeleteWeakGlobalRef(env, ref);
			give_entry(*at);
		}
	}
	if (*at >= len)
		*at = 0;
}

void lc_audit_look(struct lc_map *map, const struct lc_audit_question *q)
{
	struct entry *e = entry_at(q->number);
	struct lc_object there = { 0 }, before = { 0 };
	const bool any = lc_map_find(map, q->addr, &there);
	const bool right = any && is_of(&there, q->addr, e);
	const bool moved = !right && e->addr != q->addr && lc_map_find(map, e->addr, &before) &&
	                   is_of(&before, e->addr, e);

	pthread_mutex_lock(&audit.totals_lock);
	audit.totals.checks++;
	audit.totals.survivors += !e->seen;
	if (moved)
		audit.totals.wrong_moved++;
	else if (any && !right)
		audit.totals.wrong_overlap++;
	else if (!any)
		audit.totals.wrong_missing++;
	pthread_mutex_unlock(&audit.totals_lock);
	e->seen = true;
	e->addr = q->addr;
}

void lc_audit_asked(void)
{
	count(&audit.totals.gcs, 1);
}

void lc_audit_totals(struct lc_audit_totals *out)
{
	pthread_mutex_lock(&audit.totals_lock);
	*out = audit.totals;
	pthread_mutex_unlock(&audit.totals_lock);
}

static struct lc_audit_totals counted; /* what the rows point to */

static bool read_counters(const struct lc_options *options)
{
	if (!options->audit)
		return false;
	lc_audit_totals(&counted);
	return true;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("audit_gcs", &counted.gcs),
	LC_COUNTER("audit_checks", &counted.checks),
	LC_COUNTER("audit_survivors", &counted.survivors),
	LC_COUNTER("audit_wrong_missing", &counted.wrong_missing),
	LC_COUNTER("audit_forgotten", &counted.forgotten),
	LC_COUNTER("audit_wrong_moved", &counted.wrong_moved),
	LC_COUNTER("audit_wrong_overlap", &counted.wrong_overlap),
	LC_COUNTER("audit_stale", &counted.stale),
	LC_COUNTER("audit_skipped", &counted.skipped),
	LC_COUNTER("audit_unheld", &counted.unheld),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = read_counters);
