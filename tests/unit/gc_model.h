/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc_model.h - plays a collector for tests: it stands in for gc/moves.c, gc/small.c and
 * jvm/layout/areas.c.
 */
#ifndef LC_TESTS_GC_MODEL_H
#define LC_TESTS_GC_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/attribute/contents.h"
#include "src/core/record.h"

#define GC_LOW UINT64_C(0x700000000)
#define GC_HIGH UINT64_C(0x780000000)

/* The next collection; the test fills it before GC start. */
struct gc_plan {
	const struct lc_move *moves;
	size_t moves_len;
	uint64_t lost; /* copies that found no room in the log */
	const struct lc_area *areas;
	size_t areas_len;
	uint32_t collections;
	bool small_traces; /* lc_small_begin() finds something to look for */
	size_t small_moves;
	bool stuck;    /* lc_small_stuck() */
	bool contents; /* lc_contents_on() */
};

/* Requests of the code under test. */
struct gc_seen {
	unsigned opened, sealed, begun; /* calls of lc_moves_open, lc_moves_seal, lc_areas_begin */
	uint64_t min_bytes;
	unsigned forgotten;                /* lc_small_forget() */
	size_t forgotten_new;              /* records that lc_small_forget_new() was given */
	size_t stuck_samples, stuck_looks; /* records that were given */
	unsigned swept;                    /* lc_small_sweep() */
	unsigned snapshots;
	uint32_t snapshot_epoch;
	_Atomic int batches;                           /* made and not released */
	void (*told)(void);                            /* lc_moves_on_clock() */
	void (*told_map)(uint64_t low, uint64_t high); /* lc_moves_on_map() */
	unsigned given;                                /* lc_small_given_begin() */
	size_t given_looks;                            /* records that were given */
	struct lc_contents_pause contents;             /* of the last lc_contents_begin() */
	size_t contents_chosen;                        /* records that were given */
	unsigned contents_ended;
	/* The records that lc_small_look() was given. */
	void (*look)(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span);
};

extern struct gc_plan gc_plan;
extern struct gc_seen gc_seen;

/* The moves of a batch as the collector made them, then those that were added. */
struct lc_move_batch;
size_t gc_batch_added(const struct lc_move_batch *b);

#endif
