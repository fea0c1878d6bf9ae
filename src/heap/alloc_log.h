/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/alloc_log.h - logs the allocations of one thread: append-only chunks of records.
 *
 * The layout of the log is here because the append is inlined into the hook. alloc_log.c has the
 * invariants and the memory ordering.
 */
#ifndef LC_HEAP_ALLOC_LOG_H
#define LC_HEAP_ALLOC_LOG_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

/*
 * A chunk is one page: 255 records and a header. A thread that allocates little thus keeps
 * 4 KiB, one that allocated nothing keeps none, and changing chunks costs 0.1 ns per record.
 */
enum { LC_ALLOC_CHUNK_BYTES = 4096, LC_ALLOC_CHUNK_RECORDS = 255 };

struct lc_alloc_chunk {
	uint64_t first; /* position of records[0] */
	_Atomic(struct lc_alloc_chunk *) next;
	struct lc_alloc records[LC_ALLOC_CHUNK_RECORDS];
};
_Static_assert(sizeof(struct lc_alloc_chunk) == LC_ALLOC_CHUNK_BYTES, "a chunk is a page");

/* Private to the functions below and to alloc_log.c. */
struct lc_alloc_log {
	/* The owner's cache line. */
	_Alignas(64) _Atomic uint64_t position; /* written by: owner */
	uint64_t limit;              /* owner only: position behind its chunk's last slot */
	uintptr_t slots;             /* owner only: chunk's records - position * 16 */
	struct lc_alloc_chunk *tail; /* owner only */
	_Atomic(struct lc_alloc_chunk *) first; /* written by: owner, once */
	_Atomic uint64_t lost;                  /* written by: owner */
	/* The attribution thread's cache line. */
	_Alignas(64) struct lc_alloc_chunk *head; /* attribution thread only: oldest chunk kept */
	struct lc_alloc_chunk *near;              /* attribution thread only: where it read last */
	/* The fields of the GC callbacks. */
	struct lc_alloc_chunk *sweep_chunk; /* where they read last; NULL: at the beginning */
	uint64_t sweep_position;
	_Atomic uint64_t sweep_first; /* 1 + position of the first record still needed; 0: none */
};

/*
 * Reserve the chunks that all logs share, at most `max_bytes`. Address space is reserved for all
 * chunks; a chunk takes memory only when it is used. Once per process. Returns 0, -EINVAL when
 * max_bytes holds no chunk or over 2^31 of them, -EALREADY, or another -errno. [attach]
 */
int lc_alloc_pool_init(size_t max_bytes);

/* Undo lc_alloc_pool_init(); every log was destroyed before. Context: tests. */
void lc_alloc_pool_destroy(void);

uint64_t lc_alloc_pool_used_bytes(void);     /* bytes of chunks in logs now. Context: any. */
uint64_t lc_alloc_pool_resident_bytes(void); /* bytes of chunks with memory. Context: tests. */

/*
 * Give chunks back to the kernel that no log needed for 5 to 10 s, at most 4 MiB a call.
 * Call about once a second; `now_ns` is CLOCK_MONOTONIC. [writer]
 */
void lc_alloc_pool_tidy(uint64_t now_ns);

/* Make an empty log. Returns 0 or -ENOMEM. Context: [attach] [java]. */
int lc_alloc_log_create(struct lc_alloc_log **out);
/* Free a log whose thread has ended; NULL is fine. Context: [writer]. */
void lc_alloc_log_destroy(struct lc_alloc_log *log);

/* Let the next `len` records of the log be written to `records`. Context: [hook], the owner. */
static inline void lc_alloc_log_aim(struct lc_alloc_log *log, struct lc_alloc *records, size_t len)
{
	const uint64_t at = atomic_load_explicit(&log->position, memory_order_relaxed); /* ours */

	log->slots = (uintptr_t)records - at * sizeof(*records);
	log->limit = at + len;
}

/*
 * Give a log whose chunk is full the next one. Returns 0, or -ENOSPC and counts the record as lost.
 */
int lc_alloc_log_extend(struct lc_alloc_log *log);

/*
 * Append a record. Returns 0, or -ENOSPC when the pool is exhausted (counted as lost).
 * Context: [hook]: a JNI call on the owner thread.
 */
static inline int lc_alloc_log_put(struct lc_alloc_log *log, struct lc_alloc record)
{
	uint64_t at = atomic_load_explicit(&log->position, memory_order_relaxed); /* ours */

	if (__builtin_expect(at == log->limit, 0)) {
		int err = lc_alloc_log_extend(log);

		if (err)
			return err;
	}
	*(struct lc_alloc *)(log->slots + at * sizeof(struct lc_alloc)) = record;
	atomic_store_explicit(&log->position, at + 1, memory_order_release); /* L1 */
	return 0;
}

/* So many records were left out while the pool was exhausted. Context: [hook], the owner. */
static inline void lc_alloc_log_lose(struct lc_alloc_log *log, uint64_t records)
{
	atomic_fetch_add_explicit(&log->lost, records, memory_order_relaxed); /* a count */
}

/* Position behind the last published record: a count that only grows. [gc] [writer] */
static inline uint64_t lc_alloc_log_position(const struct lc_alloc_log *log)
{
	return atomic_load_explicit(&log->position, memory_order_acquire); /* L1 */
}

static inline uint64_t lc_alloc_log_lost(const struct lc_alloc_log *log)
{
	return atomic_load_explicit(&log->lost, memory_order_relaxed); /* a count */
}

/*
 * Read the records [from, to) as runs that lie in one chunk each: sets *run and returns its length;
 * 0 at the end, and if `from` was trimmed away. Valid until lc_alloc_log_trim() passes it. Context:
 * [writer].
 */
size_t lc_alloc_log_run(struct lc_alloc_log *log, uint64_t from, uint64_t to,
                        const struct lc_alloc **run);

/*
 * Read the records behind those that were swept before, one run after the other: sets *run and
 * returns its length; 0 at the end. From the first call on, records that were not swept are not
 * trimmed. A log that was trimmed before that must not be swept: see lc_alloc_log_keep(). Context:
 * [gc].
 */
size_t lc_alloc_log_sweep(struct lc_alloc_log *log, const struct lc_alloc **run);

/* Position of lc_alloc_log_ahead(); all 0 at the beginning. */
struct lc_alloc_cursor {
	struct lc_alloc_chunk *chunk;
	uint64_t position;
};

/*
 * Read what the next sweep will read, run by run, without sweeping it. Sets *run and returns its
 * length; 0 at the end. Context: [gc].
 */
size_t lc_alloc_log_ahead(const struct lc_alloc_log *log, struct lc_alloc_cursor *at,
                          const struct lc_alloc **run);

/* Trim nothing before the first sweep, which comes later. Context: [gc]. */
void lc_alloc_log_keep(struct lc_alloc_log *log);

/* Give back chunks that lie wholly before `position`, except the owner's. Context: [writer]. */
void lc_alloc_log_trim(struct lc_alloc_log *log, uint64_t position);

#endif
