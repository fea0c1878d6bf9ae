/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/copy_log.h - logs what the collector copies: libjvm's calls of memcpy and memmove.
 *
 * libjvm's import slots of the two functions, of clock_gettime and of mmap lead to functions here
 * (jvm/os/imports.h), which call on what the slots held before. While no window is open they do
 * nothing else. Calls of other libraries never pass here.
 *
 * Order:  A1  the agent stores the fields marked "armed" and then `generation` (release) -> a
 *             thread loads `generation` (acquire) before it uses them.
 *         A2  a thread fills a chunk; it and the agent, which runs at GC finish on the VM thread,
 *             are ordered by HotSpot's own end-of-task barrier between its workers and that thread.
 *         A3  a chunk is pushed on the free list (release) -> it is popped (acquire).
 */
#ifndef LC_GC_COPY_LOG_H
#define LC_GC_COPY_LOG_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/hash.h"

enum lc_copy_kind {
	LC_COPY_EVACUATE = 0, /* memcpy: source and destination are apart */
	LC_COPY_SLIDE,        /* memmove: compaction */
};

/* Whether the object's forwarding pointer names this copy. */
enum lc_copy_fate {
	LC_COPY_UNKNOWN = 0, /* not looked at, or there is no forwarding pointer */
	LC_COPY_WON,
	LC_COPY_LOST, /* another copy became the object, or the object stayed where it was */
};

/*
 * A copy that was logged. `size_tag` holds, from the lowest bit: 40 bits size in bytes, 2 bits
 * kind, 2 bits fate, 4 bits 0, 16 bits tag of the chunk's hand-out. `hash_src` holds 48 bits of
 * address and, of an evacuation, 16 bits of lc_copy_hash() of the header before the copy.
 */
struct lc_copy {
	uint64_t hash_src;
	uint64_t dst;
	uint64_t size_tag;
	uint64_t time; /* TSC before the copy, for a slide while `stamp` is set; else 0 */
};

#define LC_COPY_SIZE_MASK ((UINT64_C(1) << 40) - 1)
#define LC_COPY_KIND_SHIFT 40
#define LC_COPY_FATE_SHIFT 42
#define LC_COPY_TAG_SHIFT 48
#define LC_COPY_HASH_SHIFT 48

static inline uint64_t lc_copy_src(const struct lc_copy *c)
{
	return c->hash_src & ((UINT64_C(1) << LC_COPY_HASH_SHIFT) - 1);
}

/* Hash the second word of an object's header: its class and, for an array, its length. */
static inline uint64_t lc_copy_hash(uint64_t second)
{
	return lc_hash(second) >> LC_COPY_HASH_SHIFT;
}

static inline uint64_t lc_copy_size(const struct lc_copy *c)
{
	return c->size_tag & LC_COPY_SIZE_MASK;
}

static inline enum lc_copy_kind lc_copy_kind(const struct lc_copy *c)
{
	return (enum lc_copy_kind)(c->size_tag >> LC_COPY_KIND_SHIFT & 3);
}

static inline enum lc_copy_fate lc_copy_fate(const struct lc_copy *c)
{
	return (enum lc_copy_fate)(c->size_tag >> LC_COPY_FATE_SHIFT & 3);
}

/* Tell from the mark word at the source, as an evacuation left it, which copy is the object. */
static inline enum lc_copy_fate lc_copy_judge(uint64_t mark, uint64_t dst)
{
	if ((mark & 3) == 3) /* forwarded; to itself where the object stays (JDK 17) */
		return (mark & ~UINT64_C(7)) == dst ? LC_COPY_WON : LC_COPY_LOST;
	/* In JDK 24 and later the object stays. Earlier the bit is a bias, which no copied object
	 * keeps. */
	if (mark & 4)
		return LC_COPY_LOST;
	return LC_COPY_UNKNOWN;
}

enum { LC_COPY_CHUNK_BYTES = 16384 };

struct lc_copy_chunk {
	uint32_t used; /* written by: the thread that has the chunk */
	uint32_t next; /* next chunk of the window: index + 1; 0: none. Written once, by it too */
	uint64_t tag;  /* number of the hand-out */
	uint64_t pad[2];
	struct lc_copy copies[(LC_COPY_CHUNK_BYTES - 32) / sizeof(struct lc_copy)];
};
_Static_assert(sizeof(struct lc_copy_chunk) == LC_COPY_CHUNK_BYTES, "a chunk is whole pages");

enum { LC_COPY_CHUNK_CAP = sizeof(((struct lc_copy_chunk *)0)->copies) / sizeof(struct lc_copy) };

/* The one log of the process. */
struct lc_copy_log {
	/* The fields that arming sets; written by: gc/moves.c, while no window is open. */
	uint64_t low;       /* bottom of the heap */
	uint64_t span;      /* bytes of heap */
	uint64_t min_bytes; /* log from this size on */
	uint64_t stamp; /* note the time of slides: those of several threads depend on each other */
	struct lc_copy_chunk *chunks;
	uint32_t *link; /* per chunk, the next free one: index + 1 */
	uint32_t chunks_len;

	/* The open window. */
	_Atomic uint32_t generation; /* written by: the agent, once per window */
	_Atomic uint32_t head;       /* its chunks, newest first: index + 1 */
	_Atomic uint64_t lost;
	_Atomic uint32_t slid; /* a memmove within the heap was seen */

	/* The free chunks. */
	_Atomic uint64_t free_head; /* low half index + 1; high half counts pops and pushes (ABA) */
	_Atomic uint32_t fresh;     /* chunks [fresh, chunks_len) were never handed out */
	_Atomic uint64_t handed_out; /* hand-outs ever: the tag of the next one */

	/*
	 * Called where somebody reads a clock, before it is read; NULL: nothing is. A collection
	 * reads it between its phases. Written by: the agent, in a pause.
	 */
	void (*_Atomic clock_read)(void);

	/*
	 * Called before memory is mapped at a fixed place, which takes away what was at [low,
	 * high); NULL: nothing is. Written by: the agent, in a pause.
	 */
	void (*_Atomic map_fixed)(uint64_t low, uint64_t high);
};

extern struct lc_copy_log lc_copy_log;

/*
 * Redirect libjvm's calls. Returns 0; -ENOENT where libjvm imports no memcpy or memmove: what it
 * copies cannot be seen then; -EBUSY where another agent of Locus has redirected them; or -errno of
 * mprotect(). Called again, it does nothing. Context: [attach].
 */
int lc_copy_log_init(void);

/*
 * Have libjvm copy an array out of the heap, and look whether the copy passes here: a JVM may
 * import the functions and copy by code of its own. Before the first window. Context: [attach].
 */
bool lc_copy_log_probe(JNIEnv *jni);

/* Send libjvm's copies through the log, or straight on. Context: [gc]. */
void lc_copy_log_arm(bool on);

/*
 * Restore libjvm's calls. If another library has redirected them since, they still pass through
 * here, without the log. No collection runs. Context: a thread of ours.
 */
void lc_copy_log_end(void);

/*
 * From now on note all copies within [low, high) of at least `min_bytes` in gc/move_log.h, until
 * lc_copy_log_arm(false). lc_move_log_init() first. Context: [attach].
 */
void lc_copy_log_note_all(uint64_t low, uint64_t high, uint64_t min_bytes);

/* Do libjvm's calls pass here? False before lc_copy_log_init(), and where others took over. */
bool lc_copy_log_passed(void);

#endif
