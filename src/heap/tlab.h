/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/tlab.h - tells what `new` made, by the thread's allocation buffer (TLAB).
 *
 * With --min-size 0 a hook stands behind each `new`, where the object exists and nobody has seen
 * it: bytecode may not pass it on before its constructor has run. The hook is not given the object
 * but finds out whether there is one. A thread's allocations raise the top of its buffer, or,
 * outside of it, its count of allocated bytes; both together grow by just what it allocates. So
 * between two hooks of a thread that growth is 0 where the JIT has removed the allocation, and else
 * the object ends at the top, with its class in its header. Since no reference leaves the method,
 * the JIT removes what it would have removed without the hook.
 *
 * With --track only some classes have the hook, and the growth is other objects' too. But all
 * objects of these classes have one. So if there is no object of the class behind the place that
 * the last hook has seen, the JIT has removed the allocation.
 *
 * The common case is compiled Java (LocusHook.java), which reads and writes the structures here.
 */
#ifndef LC_HEAP_TLAB_H
#define LC_HEAP_TLAB_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/heap/alloc_log.h"
#include "src/stack/walk_credit.h"

struct lc_site_counter;

/* Room for the allocating places of a large program; only used entries take memory. */
enum { LC_TLAB_ENTRIES = 32768, LC_TLAB_THREADS = 4096 };

/* For objects of so many words, 1 KiB, the stack is looked at each time. LocusHook.java too. */
enum { LC_TLAB_LARGE_WORDS = 128 };

/* The site of a large object is not that of the caller seen last. Context: any. */
static inline bool lc_tlab_is_large(uint32_t words)
{
	return words >= LC_TLAB_LARGE_WORDS;
}

/* The result of the last look at a bytecode site. LocusHook.java knows the layout. */
struct lc_tlab_entry {
	uint32_t bytecode_site; /* 0: empty */
	uint32_t size_bytes;    /* 0 for an array, whose hook knows */
	uint32_t class_word;    /* its low half, if class pointers are not compressed */
	uint32_t site;
	struct lc_site_counter *counter;
	uint32_t class_key; /* if the bytecode does not tell the class, else 0 */
	uint32_t removed;   /* not 0: the JIT has removed the allocation here at least once */
};

enum { LC_TLAB_UNKEPT = 128 }; /* records that are written over and over */

/* A thread's own. LocusHook.java knows the layout up to `entries`. */
struct lc_tlab_thread {
	uint32_t sequence; /* of the GC, when the rest was read; odd: unknown */
	uint32_t random;
	uint64_t last;            /* top of the buffer at the last hook; 0 none */
	struct lc_alloc_log *log; /* `followed`, or `unkept` if that is NULL or full */
	uint64_t limit;           /* position of the log at which native code looks again */
	uint64_t allocated;       /* JavaThread's count, as of the last sync */
	uint64_t tag;             /* of the epoch, shifted to its place in a record */
	uint64_t start;           /* of the buffer, as of the last sync */
	uint64_t thread;          /* JavaThread * */
	struct lc_tlab_entry entries[LC_TLAB_ENTRIES];
	bool known; /* the last sync found everything */
	/* When the stack is looked at again: both count allocations. */
	uint64_t look_at;
	uint64_t unlogged;           /* allocations that are not in the log */
	uint64_t position;           /* of the log, as of the last sync */
	uint32_t distance;           /* running mean, times 8 */
	struct lc_walk_credit looks; /* only some classes have hooks: what their looks may cost */
	uint64_t paid_at;            /* allocations that are paid for */
	/* Entries that have a counter: lc_tlab_forget(). */
	uint32_t counting_len;
	uint16_t counting[LC_TLAB_ENTRIES];
	/*
	 * For the audit: the log's chunk, and the one before where `before_sequence` is the GC's.
	 */
	struct lc_alloc_chunk *chunk, *before;
	uint32_t before_sequence;
	struct lc_alloc_log *followed; /* the thread's; NULL: objects are counted only */
	uint64_t full_at;              /* its position and losses, as of the last sync */
	uint64_t lost;
	/* Java code that only counts writes its records here, over and over. */
	struct lc_alloc_log unkept;
	struct lc_alloc records[LC_TLAB_UNKEPT];
};

/* A state that no thread has. */
#define LC_TLAB_NO_STATE UINT32_MAX

/* Offsets and addresses that the Java side needs. */
struct lc_tlab_fields {
	uint32_t eetop, tlab_start, tlab_top, allocated; /* offsets */
	uint32_t class_offset, class_shift;
	/*
	 * Offset of a JavaThread's state, and the state in which it runs Java code; or
	 * LC_TLAB_NO_STATE, if Java code leaves all objects to native code.
	 */
	uint32_t thread_state, in_java;
	uint64_t sequence, threads; /* addresses */
	bool carriers;              /* Thread.currentCarrierThread() exists */
};

/*
 * Find the JVM's fields. Returns 0 and sets *out, or -ENOTSUP if objects need another kind of hook.
 * `some`: only some classes have hooks behind `new`. Context: [attach]; lc_layout_find() first.
 */
int lc_tlab_init(JNIEnv *jni, bool some, struct lc_tlab_fields *out);

/*
 * The calling thread's, made at the first call; NULL without memory. `log` is where records go;
 * NULL: objects are counted only. [hook]
 */
struct lc_tlab_thread *lc_tlab_self(uint64_t thread, struct lc_alloc_log *log);

/* The same, by the thread's JNIEnv; NULL if the thread cannot be told by it, too. [hook] */
struct lc_tlab_thread *lc_tlab_here(const JNIEnv *jni, struct lc_alloc_log *log);

/* The calling thread's, or NULL where it has none yet. [hook] */
struct lc_tlab_thread *lc_tlab_known(void);

/* The calling thread ends: it runs no hook any more. Context: [java]. */
void lc_tlab_thread_end(void);

enum lc_tlab_proof {
	LC_TLAB_NONE,     /* the JIT has removed it, or (counted) nothing is known */
	LC_TLAB_PLACED,   /* at `addr`, in the epoch of `sequence` */
	LC_TLAB_UNPLACED, /* it exists, or existed; where is unknown */
};

struct lc_tlab_made {
	uint64_t addr;
	uint32_t sequence;
	uint32_t size_bytes;
	uint64_t class_word;
};

/* Which object may have been made just before a hook. */
struct lc_tlab_asked {
	jclass type;
	uint32_t bytecode_site;
	uint32_t array_bytes; /* of an array, header included; 0: `type` tells the size */
	uint64_t proved; /* where Java code has found it, in the thread's GC sequence; else 0 */
};

/* Was the object made? [hook] */
enum lc_tlab_proof lc_tlab_find(struct lc_tlab_thread *o, JNIEnv *jni,
                                const struct lc_tlab_asked *asked, struct lc_tlab_made *out);

/* Remember a bytecode site's class; `in_java`: let Java code record later objects. [hook] */
void lc_tlab_remember(struct lc_tlab_thread *o, uint32_t bytecode_site,
                      const struct lc_tlab_made *made, struct lc_site_counter *counter,
                      bool in_java);

/*
 * A look at the stack for each allocation would be the most of what it costs, so between two looks
 * a bytecode site is believed to allocate for the caller that was seen last. Its counter, or NULL
 * when the stack is to be looked at. If only some classes have hooks, that is each time as long as
 * --budget allows the thread so many looks. [hook]
 */
struct lc_site_counter *lc_tlab_recent(const struct lc_tlab_thread *o, uint32_t bytecode_site,
                                       uint32_t class_key);

/*
 * The stack was looked at, and lc_tlab_recent() is to return `counter` from now on. The more walks
 * it takes, the longer until the next look. Returns whether the next allocation is looked at, too.
 * [hook]
 */
bool lc_tlab_looked(struct lc_tlab_thread *o, uint32_t bytecode_site, uint32_t class_key,
                    struct lc_site_counter *counter, bool walked);

/*
 * Forget for whom the bytecode sites of the calling thread allocate: the stack is looked at for the
 * next object of each. Context: [java], in no hook.
 */
void lc_tlab_forget(void);

/*
 * The records that the thread's log got since the last sync, of objects whose class has no such
 * hooks, do not count as allocations. NULL is fine. [hook]
 */
void lc_tlab_pass_over(struct lc_tlab_thread *o);

/* At the end of every native hook: the next one begins from here. NULL is fine. [hook] */
void lc_tlab_sync(struct lc_tlab_thread *o);

/* `new`s neither seen nor shown to be removed by the JIT: not counted. Context: any. */
uint64_t lc_tlab_unproved(void);

#endif
