/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/memory.h - keeps what the agent holds in memory below a limit (--max-memory).
 *
 * core/own_memory.c sums all that the agent allocates and maps. The owner of reserved memory sums
 * the pages that it uses. A module that can grow without a bound asks before it grows, and must do
 * without if the limit is near. Each use has its own share of the limit, and a share up to which
 * all uses together may fill the limit.
 *
 * Order: none. The sum is a count; several threads that ask at once may pass a share together.
 */
#ifndef LC_CORE_MEMORY_H
#define LC_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The purpose of the memory, and what happens if it is refused. */
enum lc_memory_use {
	LC_MEMORY_RECORDS,  /* allocation logs: the object is counted, not followed */
	LC_MEMORY_SMALL,    /* objects of 64 bytes or less that live: not followed */
	LC_MEMORY_CONTEXTS, /* a thread's tables of contexts: begun anew, contexts are walked to
	                       again */
	LC_MEMORY_COUNTERS, /* counters of a thread's sites: counted for all threads together */
	LC_MEMORY_COPIES,   /* the log of the collector's copies: objects that moved are lost */
	LC_MEMORY_BLOCKS,   /* blocks outside the heap: accesses to them are of no known block */
	LC_MEMORY_PATHS,    /* call paths: the path is empty */
	LC_MEMORY_USES
};

/*
 * From now on hold at most so many bytes; nothing was refused so far. Without, there is no limit.
 * Context: [attach].
 */
void lc_memory_limit(uint64_t bytes);

/* The limit; UINT64_MAX: none. Context: any. */
uint64_t lc_memory_limited_to(void);

/*
 * The limit where none was asked for: 256 MB, or 5% of the memory that the machine or, if that is
 * less, the process's control group has. Context: [attach].
 */
uint64_t lc_memory_default_limit(void);

/* The same, of a machine of so many bytes. Context: tests. */
uint64_t lc_memory_default_of(uint64_t machine_bytes);

/* So much more is held; less where `bytes` is negative. Context: any. */
void lc_memory_add(int64_t bytes);

/* Bytes that are held. Context: any. */
uint64_t lc_memory_held(void);

/*
 * Let that use hold so much more, which lc_memory_give() gives back. Returns false where it may
 * not, which is counted. Context: any.
 */
bool lc_memory_take(enum lc_memory_use use, size_t bytes);
void lc_memory_give(enum lc_memory_use use, size_t bytes);

/* The same, allowed or not: what is so little that everybody may have it. Context: any. */
void lc_memory_have(enum lc_memory_use use, size_t bytes);

/* How much more that use may hold. Context: any. */
uint64_t lc_memory_room(enum lc_memory_use use);

/* That use did without. Context: any. */
void lc_memory_refuse(enum lc_memory_use use);

/* Times that the use was refused. Context: any. */
uint64_t lc_memory_refused(enum lc_memory_use use);

/* Say of each use that was refused what is lost: base/limit.h. Context: [writer]. */
void lc_memory_tell(void);

#endif
