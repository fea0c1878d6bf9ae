/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/areas_generations.c - reads the handful of contiguous spaces of Serial, Parallel and
 * Epsilon.
 *
 * The difficulty is `top`. On JDK 17 the VM operation that collects also serves the allocation
 * that had failed, before JVMTI's finish event: eden's top then stands above memory in which only
 * dead objects lie. From JDK 25 on every collection has its own pair of events and the tops are
 * what the collection left. These signs tell what ran in between:
 *
 *   young collection  exchanges from and to (Parallel only when all was evacuated; Serial always)
 *   full collection   slides objects, or is counted by the generation (Serial of JDK 17), or is
 *                     the second collection of the pause; it comes last. Afterwards the JVM cleans
 *                     the old generation's cards where young is empty, and dirties all otherwise.
 */
#include "src/jvm/layout/areas_backend.h"

#include <errno.h>

#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"

enum { SPACES = 4 };

/* Written by: init; `seen` by begin. */
static struct {
	struct lc_space_layout layout;
	uint64_t eden, from, to; /* addresses of the pointers to the spaces */
	uint64_t old;
	uint64_t young_runs, old_runs; /* addresses of Serial's counts, 0 where it has none */
	uint64_t cards;                /* base of the card table, 0 when not to be found */
	unsigned card_shift;
	bool serial;
	struct {
		uint64_t from;
		uint64_t eden_top;
		uint32_t young_runs, old_runs;
	} seen;
} gen;

static uint64_t epsilon_space;
static struct lc_space_layout epsilon_layout;

/* The pause's effect on the young generation. */
enum outcome {
	OUTCOME_KEPT,      /* nothing moved, or a young collection gave up and left all in place */
	OUTCOME_EVACUATED, /* one young collection, complete */
	OUTCOME_COMPACTED, /* a full collection ran, last */
	OUTCOME_UNCLEAR,   /* a full collection that moved nothing, or a young one that gave up */
};

static void find_cards(void)
{
	const struct lc_card_table t = lc_ranges_card_table();

	gen.cards = t.base;
	gen.card_shift = t.shift;
}

static int init_young(const char *type, uint64_t young)
{
	long eden = lc_vm_offset(type, "_eden_space");
	long from = lc_vm_offset(type, "_from_space");
	long to = lc_vm_offset(type, "_to_space");

	if (eden < 0 || from < 0 || to < 0)
		return -ENOENT;
	gen.eden = young + (uint64_t)eden;
	gen.from = young + (uint64_t)from;
	gen.to = young + (uint64_t)to;
	return 0;
}

static int init_serial(uint64_t heap)
{
	const char *type =
	    lc_vm_offset("SerialHeap", "_young_gen") < 0 ? "GenCollectedHeap" : "SerialHeap";
	long young = lc_vm_offset(type, "_young_gen");
	long old = lc_vm_offset(type, "_old_gen");
	long space = lc_vm_offset("TenuredGeneration", "_the_space");
	long record = lc_vm_offset("Generation", "_stat_record");
	long runs = lc_vm_offset("Generation::StatRecord", "invocations");
	uint64_t young_gen, old_gen;

	if (young < 0 || old < 0 || space < 0 || lc_areas_space_contiguous(&gen.layout))
		return -ENOENT;
	young_gen = lc_peek_load64(heap + (uint64_t)young);
	old_gen = lc_peek_load64(heap + (uint64_t)old);
	if (init_young("DefNewGeneration", young_gen))
		return -ENOENT;
	gen.old = old_gen + (uint64_t)space;
	gen.young_runs = gen.old_runs = 0;
	if (record >= 0 && runs >= 0) {
		gen.young_runs = young_gen + (uint64_t)(record + runs);
		gen.old_runs = old_gen + (uint64_t)(record + runs);
	}
	gen.serial = true;
	find_cards();
	return 0;
}

/* Offset of a field of Parallel's spaces; on JDK 11 bottom and end are in a base class. */
static long mutable_offset(const char *field)
{
	long o = lc_vm_offset("MutableSpace", field);

	return o < 0 ? lc_vm_offset("ImmutableSpace", field) : o;
}

/* The address of a generation of Parallel's heap, in a static variable up to JDK 26; 0: unknown. */
static uint64_t generation_at(uint64_t heap, const char *field)
{
	const void *at = lc_vm_static("ParallelScavengeHeap", field);
	const long offset = lc_vm_offset("ParallelScavengeHeap", field);

	if (at)
		return lc_peek_load64((uintptr_t)at);
	return offset < 0 ? 0 : lc_peek_load64(heap + (uint64_t)offset);
}

static int init_parallel(uint64_t heap)
{
	const uint64_t young = generation_at(heap, "_young_gen");
	const uint64_t old = generation_at(heap, "_old_gen");
	long space = lc_vm_offset("PSOldGen", "_object_space");

	gen.layout = (struct lc_space_layout){
		.bottom = mutable_offset("_bottom"),
		.top = mutable_offset("_top"),
		.end = mutable_offset("_end"),
	};
	if (!young || !old || space < 0 || gen.layout.bottom < 0 || gen.layout.top < 0 ||
	    gen.layout.end < 0)
		return -ENOENT;
	if (init_young("PSYoungGen", young))
		return -ENOENT;
	gen.old = old + (uint64_t)space;
	gen.young_runs = gen.old_runs = 0;
	gen.serial = false;
	find_cards();
	return 0;
}

static uint64_t space_top(uint64_t pointer)
{
	return lc_peek_load64(lc_peek_load64(pointer) + (uint64_t)gen.layout.top);
}

static void begin(void)
{
	gen.seen.from = lc_peek_load64(gen.from);
	gen.seen.eden_top = space_top(gen.eden);
	if (gen.young_runs) {
		gen.seen.young_runs = lc_peek_load32(gen.young_runs);
		gen.seen.old_runs = lc_peek_load32(gen.old_runs);
	}
}

/* Serial of JDK 17 counts the heap's collections once where a young one is followed by a full. */
static uint32_t collections(uint32_t counted)
{
	if (!gen.young_runs)
		return counted;
	return lc_peek_load32(gen.young_runs) - gen.seen.young_runs + lc_peek_load32(gen.old_runs) -
	       gen.seen.old_runs;
}

static bool emptied(void)
{
	struct lc_area eden =
	    lc_areas_space_read(&gen.layout, lc_peek_load64(gen.eden), LC_AREA_EDEN);

	return eden.top == eden.bottom && gen.seen.eden_top != eden.bottom;
}

/*
 * Serial exchanges the survivor spaces also when it gives up; then eden is as full as before, and
 * mostly to-space is not empty either. An eden that was evacuated and at once refilled to the byte
 * looks the same; what is new in it is in the next epoch's log and hides what was there.
 */
static bool serial_gave_up(void)
{
	struct lc_area to =
	    lc_areas_space_read(&gen.layout, lc_peek_load64(gen.to), LC_AREA_SURVIVOR);
	struct lc_area eden =
	    lc_areas_space_read(&gen.layout, lc_peek_load64(gen.eden), LC_AREA_EDEN);

	return to.top != to.bottom || (eden.top == gen.seen.eden_top && eden.top != eden.bottom);
}

static enum outcome judge(uint32_t runs, bool slid)
{
	if (!runs)
		return OUTCOME_KEPT;
	if (slid || runs > 1 || (gen.old_runs && lc_peek_load32(gen.old_runs) != gen.seen.old_runs))
		return OUTCOME_COMPACTED;
	if (lc_peek_load64(gen.from) == gen.seen.from)
		return OUTCOME_UNCLEAR;
	return gen.serial && serial_gave_up() ? OUTCOME_KEPT : OUTCOME_EVACUATED;
}

/* After a full collection: is the old generation's first card clean? */
static bool young_is_empty(const struct lc_area *old)
{
	if (!gen.cards || old->top == old->bottom)
		return false;
	return *(const volatile uint8_t *)(uintptr_t)(gen.cards +
	                                              (old->bottom >> gen.card_shift)) == 0xff;
}

static void insert(struct lc_area *out, size_t *len, struct lc_area a)
{
	size_t i = *len;

	if (a.bottom >= a.end)
		return; /* not committed */
	for (; i && out[i - 1].bottom > a.bottom; i--)
		out[i] = out[i - 1];
	out[i] = a;
	++*len;
}

static size_t read_spaces(struct lc_area *out, size_t cap, enum outcome o)
{
	struct lc_area eden =
	    lc_areas_space_read(&gen.layout, lc_peek_load64(gen.eden), LC_AREA_EDEN);
	struct lc_area from =
	    lc_areas_space_read(&gen.layout, lc_peek_load64(gen.from), LC_AREA_SURVIVOR);
	struct lc_area to =
	    lc_areas_space_read(&gen.layout, lc_peek_load64(gen.to), LC_AREA_SURVIVOR);
	struct lc_area old = lc_areas_space_read(&gen.layout, lc_peek_load64(gen.old), LC_AREA_OLD);
	size_t len = 0;

	if (cap < SPACES)
		return SPACES;
	if (o == OUTCOME_EVACUATED || (o == OUTCOME_COMPACTED && young_is_empty(&old)))
		eden.top = eden.bottom;
	if (o == OUTCOME_COMPACTED || o == OUTCOME_UNCLEAR)
		eden.flags = from.flags = to.flags = old.flags = LC_AREA_COMPACTED;
	insert(out, &len, eden);
	insert(out, &len, from);
	insert(out, &len, to);
	insert(out, &len, old);
	return len;
}

static size_t take(struct lc_area *out, size_t cap, uint32_t runs, bool slid)
{
	return read_spaces(out, cap, judge(runs, slid));
}

static size_t look(struct lc_area *out, size_t cap)
{
	return read_spaces(out, cap, OUTCOME_KEPT);
}

const struct lc_areas_backend *lc_areas_serial(void)
{
	static const struct lc_areas_backend serial = { init_serial, begin, collections, emptied,
		                                        take,        NULL,  look };

	return &serial;
}

const struct lc_areas_backend *lc_areas_parallel(void)
{
	static const struct lc_areas_backend parallel = { init_parallel, begin, collections,
		                                          emptied,       take,  NULL,
		                                          look };

	return &parallel;
}

static int init_epsilon(uint64_t heap)
{
	long space = lc_vm_offset("EpsilonHeap", "_space");

	if (space < 0 || lc_areas_space_contiguous(&epsilon_layout))
		return -ENOENT;
	epsilon_space = heap + (uint64_t)space;
	return 0;
}

static uint32_t no_collections(uint32_t counted)
{
	return 0;
}

static size_t look_epsilon(struct lc_area *out, size_t cap)
{
	if (cap)
		out[0] = lc_areas_space_read(&epsilon_layout, lc_peek_load64(epsilon_space),
		                             LC_AREA_OLD);
	return 1;
}

static size_t take_epsilon(struct lc_area *out, size_t cap, uint32_t runs, bool slid)
{
	return look_epsilon(out, cap);
}

const struct lc_areas_backend *lc_areas_epsilon(void)
{
	static const struct lc_areas_backend epsilon = { init_epsilon, NULL, no_collections, NULL,
		                                         take_epsilon, NULL, look_epsilon };

	return &epsilon;
}
