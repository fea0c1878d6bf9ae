/* SPDX-License-Identifier: Apache-2.0 */
/* gc_model.c - plays the collector that gc_model.h describes. */
#include "tests/unit/gc_model.h"

#include <stdlib.h>
#include <string.h>

#include "src/attribute/contents.h"
#include "src/gc/moves.h"
#include "src/gc/small.h"
#include "src/heap/audit.h"
#include "src/heap/estimate.h"
#include "src/heap/tracked.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/mark_tables.h"
#include "src/jvm/layout/ranges.h"

struct gc_plan gc_plan;
struct gc_seen gc_seen;

struct lc_move_batch {
	struct lc_move *moves;
	size_t len, added;
	uint64_t lost;
};

static struct lc_move_batch *make_batch(const struct lc_move *moves, size_t len, uint64_t lost)
{
	struct lc_move_batch *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->moves = malloc(len * sizeof(*moves) + 1);
	if (!b->moves) {
		free(b);
		return NULL;
	}
	if (len)
		memcpy(b->moves, moves, len * sizeof(*moves));
	b->len = len;
	b->lost = lost;
	gc_seen.batches++;
	return b;
}

void lc_moves_open(uint64_t low, uint64_t high, size_t min_bytes)
{
	gc_seen.opened++;
	gc_seen.min_bytes = min_bytes;
}

struct lc_move_batch *lc_moves_seal(void)
{
	gc_seen.sealed++;
	if (!gc_plan.moves_len && !gc_plan.lost)
		return NULL;
	return make_batch(gc_plan.moves, gc_plan.moves_len, gc_plan.lost);
}

bool lc_moves_slid(void)
{
	return false;
}

void lc_moves_on_clock(void (*told)(void))
{
	gc_seen.told = told;
}

void lc_moves_on_map(void (*told)(uint64_t low, uint64_t high))
{
	gc_seen.told_map = told;
}

bool lc_small_given_begin(const struct lc_area *areas, size_t len, bool class_word, uint64_t low,
                          uint64_t high)
{
	gc_seen.given++;
	return true;
}

void lc_small_given_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	gc_seen.given_looks += len;
}

enum lc_collector lc_collector(void)
{
	return LC_GC_PARALLEL;
}

int lc_mark_tables_init(void)
{
	return 0;
}

uint32_t lc_areas_full(void)
{
	return 0;
}

bool lc_areas_emptied(void)
{
	return false;
}

bool lc_small_ahead_begin(const struct lc_area *areas, size_t len, bool emptied)
{
	return false;
}

void lc_small_ahead_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
}

bool lc_small_ahead_changed(void)
{
	return false;
}

void lc_small_ahead_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	lc_small_ahead_sample(records, len, tag, span);
}

void lc_small_ahead_forget(void)
{
}

bool lc_small_ahead_found(void)
{
	return false;
}

bool lc_small_stuck(bool class_word)
{
	return gc_plan.stuck;
}

bool lc_small_stuck_begin(void)
{
	return !gc_seen.stuck_samples;
}

void lc_small_stuck_sample(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	gc_seen.stuck_samples += len;
}

bool lc_small_stuck_changed(void)
{
	return true;
}

void lc_small_stuck_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	gc_seen.stuck_looks += len;
}

bool lc_small_stuck_known(void)
{
	return gc_plan.stuck;
}

bool lc_small_slid(void)
{
	return false;
}

const struct lc_move *lc_moves_all(struct lc_move_batch *b, size_t *len)
{
	*len = b ? b->len : 0;
	return b ? b->moves : NULL;
}

void lc_moves_add(struct lc_move_batch **b, struct lc_move *moves, size_t len)
{
	struct lc_move *grown;

	if (!len) {
		free(moves);
		return;
	}
	if (!*b)
		*b = make_batch(NULL, 0, 0);
	grown = *b ? realloc((*b)->moves, ((*b)->len + len) * sizeof(*moves)) : NULL;
	if (grown) {
		memcpy(grown + (*b)->len, moves, len * sizeof(*moves));
		(*b)->moves = grown;
		(*b)->len += len;
		(*b)->added += len;
	}
	free(moves);
}

size_t gc_batch_added(const struct lc_move_batch *b)
{
	return b ? b->added : 0;
}

size_t lc_moves_count(const struct lc_move_batch *b)
{
	return b ? b->len : 0;
}

uint64_t lc_moves_lost(const struct lc_move_batch *b)
{
	return b ? b->lost : 0;
}

void lc_moves_release(struct lc_move_batch *b)
{
	if (!b)
		return;
	gc_seen.batches--;
	free(b->moves);
	free(b);
}

void lc_areas_begin(void)
{
	gc_seen.begun++;
}

uint32_t lc_areas_collections(void)
{
	return gc_plan.collections;
}

size_t lc_areas_take(struct lc_area *out, size_t cap, bool slid)
{
	size_t len = gc_plan.areas_len < cap ? gc_plan.areas_len : cap;

	if (len)
		memcpy(out, gc_plan.areas, len * sizeof(*out));
	return gc_plan.areas_len;
}

size_t lc_areas_look(struct lc_area *out, size_t cap)
{
	return lc_areas_take(out, cap, false);
}

struct lc_range lc_ranges_heap(void)
{
	return (struct lc_range){ GC_LOW, GC_HIGH };
}

uint64_t lc_ranges_plain(uint64_t addr)
{
	return addr;
}

enum lc_range_owner lc_ranges_owner(uint64_t addr)
{
	return addr >= GC_LOW && addr < GC_HIGH ? LC_RANGE_HEAP : LC_RANGE_NOBODY;
}

void lc_small_prove(const struct lc_move_batch *slides)
{
}

bool lc_small_begin(const struct lc_area *areas, size_t len, bool class_word)
{
	return gc_plan.small_traces;
}

void lc_small_forget(void)
{
	gc_seen.forgotten++;
}

void lc_small_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	if (gc_seen.look)
		gc_seen.look(records, len, tag, span);
}

void lc_small_forget_new(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	gc_seen.forgotten_new += len;
}

void lc_small_sweep(const struct lc_area *areas, size_t len)
{
	gc_seen.swept++;
}

struct lc_move *lc_small_end(size_t *len)
{
	struct lc_move *moves = calloc(gc_plan.small_moves + 1, sizeof(*moves));

	*len = moves ? gc_plan.small_moves : 0;
	return moves;
}

void lc_audit_snapshot(uint32_t epoch)
{
	gc_seen.snapshots++;
	gc_seen.snapshot_epoch = epoch;
}

/* Nothing is tracked by its class. */
bool lc_tracked_any(void)
{
	return false;
}

uint64_t lc_tracked_least_bytes(uint64_t min_size_bytes)
{
	return min_size_bytes;
}

bool lc_contents_on(void)
{
	return gc_plan.contents;
}

bool lc_contents_begin(const struct lc_contents_pause *pause)
{
	gc_seen.contents = *pause;
	return !pause->slid;
}

const struct lc_estimate_survivor *lc_estimate_survivors(size_t *len)
{
	*len = 0;
	return NULL;
}

void lc_contents_choose(const struct lc_alloc *records, size_t len)
{
	gc_seen.contents_chosen += len;
}

void lc_contents_end(void)
{
	gc_seen.contents_ended++;
}
