/* SPDX-License-Identifier: Apache-2.0 */
/* core/record.h - describes the records that threads append and the attribution thread consumes. */
#ifndef LC_CORE_RECORD_H
#define LC_CORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/format/kinds.h"

#define LC_ADDR_BITS 48 /* user addresses on x86-64 without LA57 */
#define LC_ADDR_MASK ((UINT64_C(1) << LC_ADDR_BITS) - 1)

/*
 * One tracked allocation, 16 bytes. The top 16 bits of `tagged_addr` are the low bits of the
 * epoch in which the address was true, so that a record published late is recognised.
 */
struct lc_alloc {
	uint64_t tagged_addr;
	uint32_t size_words; /* 8-byte words, header included: 32 GiB at most */
	uint32_t site;       /* from lc_site_intern(); 0 is never a site */
};

/*
 * With collectors that move objects while the program runs, a record of the time comes before an
 * object's record. The object's address has no tag. Each of the two may be missing if the log was
 * full.
 */
static inline struct lc_alloc lc_alloc_time(uint64_t time_ns)
{
	return (struct lc_alloc){ .tagged_addr = time_ns };
}

static inline bool lc_alloc_is_time(const struct lc_alloc *a)
{
	return !a->site;
}

static inline uint64_t lc_alloc_addr(const struct lc_alloc *a)
{
	return a->tagged_addr & LC_ADDR_MASK;
}

static inline uint16_t lc_alloc_epoch_tag(const struct lc_alloc *a)
{
	return (uint16_t)(a->tagged_addr >> LC_ADDR_BITS);
}

/* One copy that the collector made, in the order of its thread. */
struct lc_move {
	uint64_t src;
	uint64_t dst;
	uint64_t size_bytes;
};

/* The contents of an address range of the heap when a collection has finished. */
enum lc_area_kind {
	LC_AREA_FREE = 0, /* no object */
	LC_AREA_EDEN,     /* new objects go here: what was here before the GC is gone */
	LC_AREA_SURVIVOR,
	LC_AREA_OLD,
	LC_AREA_HUMONGOUS,      /* first region of a humongous object */
	LC_AREA_HUMONGOUS_CONT, /* continuation regions of it */
};

/*
 * In lc_area.flags: the collection may have slid objects of LC_MOVE_INLINE_BYTES or less over dead
 * ones here, and nothing but the headers tells (rule 3c of jvm/layout/areas.h).
 */
#define LC_AREA_COMPACTED 1u

/* [bottom, end) belongs to the area; objects are in [bottom, top). Sorted by bottom, disjoint. */
struct lc_area {
	uint64_t bottom;
	uint64_t top;
	uint64_t end;
	uint32_t kind;  /* enum lc_area_kind */
	uint32_t flags; /* LC_AREA_COMPACTED or 0 */
};

/* Copies of less are made inline, 8 bytes at a time: the log of copies does not have them. */
#define LC_MOVE_INLINE_BYTES UINT64_C(64)

/* Every size of Parallel's regions is a multiple of this, and the heap's bottom too. */
#define LC_MOVE_PIECE_ALIGN (UINT64_C(64) << 10)

/*
 * May this move be a later piece of an object that began before src? `low` is the bottom of the
 * heap (lc_ranges_heap()).
 */
static inline bool lc_move_continues(const struct lc_move *m, uint64_t low)
{
	return m->src && !((m->dst - low) & (LC_MOVE_PIECE_ALIGN - 1));
}

/*
 * A frame of a call path as 8 bytes: 48 bits of jmethodID, 16 bits of bci.
 * bci 0xffff stands for "none" (native method, or synthetic frame).
 */
#define LC_BCI_NONE 0xffffu
static inline uint64_t lc_frame_pack(const void *method, int bci)
{
	uint64_t b = bci >= 0 && bci < (int)LC_BCI_NONE ? (uint64_t)bci : LC_BCI_NONE;

	return ((uint64_t)(uintptr_t)method & LC_ADDR_MASK) | b << LC_ADDR_BITS;
}

/*
 * Properties of an access: bits of lc_sample.access beside LC_TOUCH_LOAD and LC_TOUCH_STORE of
 * format/kinds.h.
 */
enum {
	LC_ACCESS_OWN = 4, /* to the thread's stack, the JVM's data of it, or constants in code */
	/*
	 * A fence, which waits until all stores before it are done. The address, if there is one,
	 * is that of the array that the thread has just made.
	 */
	LC_ACCESS_FENCE = 8,
	LC_ACCESS_WIDTH_SHIFT = 4,
	LC_ACCESS_WIDTH_UNKNOWN = 15, /* else log2 of the bytes */
};

/* One sample as its signal handler stores it; `frames` follow, leaf first. */
struct lc_sample {
	uint64_t time_ns;  /* CLOCK_MONOTONIC */
	uint64_t addr;     /* address that the access touched; 0 where `how` says unknown */
	uint64_t object;   /* start of the heap object that holds `addr`; 0 where it was not seen */
	uint64_t klass;    /* its class, as jvm/layout/klass.h has it; 0 with `object` */
	uint64_t pc;       /* sampled program counter */
	uint64_t data_src; /* PERF_SAMPLE_DATA_SRC of a hardware engine, else 0 */
	uint32_t latency;  /* cycles, where the engine measures them, else 0 */
	uint32_t epoch;    /* lc_epoch_now() at the sample */
	uint32_t overrun;  /* how many samples it counts as beyond one */
	uint16_t cpu;
	uint8_t where;      /* enum lc_where */
	uint8_t how;        /* enum lc_how */
	int16_t frames_len; /* frames that follow; or AsyncGetCallTrace's code where it is <= 0 */
	uint8_t engine;     /* index of the engine in the manifest */
	uint8_t access;     /* LC_ACCESS_*; 0 unknown */
	uint32_t object_words; /* of `object`, in 8 bytes; 0 with it */
	uint32_t span;         /* lc_span_current(): the span that it was taken in; 0: none */
	uint32_t root;         /* of its path: struct lc_thread */
	uint32_t step;         /* bytes from one access of the loop to the next; 0: unknown */
	/* The place at which the reference to the object was loaded, as lc_frame_pack() makes it,
	 * and the constant part of that operand; 0: not known. */
	uint64_t loaded;
	int32_t loaded_disp;
	uint8_t read_on;   /* bytes to the next load of the object, see sample/read_on.h; 0: none */
	bool elsewhere;    /* the instruction that waited is not the access */
	uint64_t frames[]; /* lc_frame_pack() */
};

#endif
