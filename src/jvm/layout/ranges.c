/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/ranges.c - asks the JVM once for its address ranges. */
#include "src/jvm/layout/ranges.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/peek.h"

/* Compressed class pointers address 4 GiB from their base: archive and class space. */
#define CLASSES_BYTES (UINT64_C(1) << 32)

/* Set once by lc_ranges_init(). */
static struct {
	struct lc_range reserved; /* for the heap, as CollectedHeap has it */
	struct lc_range heap, code, classes, cards;
	/*
	 * ZGC, else 0: these bits of an address say where in the heap it is, in each of the views
	 * that map the heap. The bit above them stands in the address where all can be read.
	 */
	uint64_t view_mask;
	/* These bits of a reference in memory are its colour, and the address is above the one that
	 * is set; 0: colours are part of the address. */
	uint64_t colour_mask;
	uint64_t bad_at; /* where ZGC has the bits that no reference has which leads to the
	                  * object; 0: unknown */
} ranges;

static bool holds(struct lc_range r, uint64_t addr)
{
	return addr >= r.low && addr < r.high;
}

static uint64_t read_static(const char *type, const char *field)
{
	const void *at = lc_vm_static(type, field);

	return at ? lc_peek_load64((uintptr_t)at) : 0;
}

/* Read where an offset leads, which may be wrong; 0: nothing can be read there. */
static uint64_t peek64(uint64_t at)
{
	uint64_t value;

	return lc_peek(at, &value, sizeof(value)) ? value : 0;
}

static int find_reserved(struct lc_range *out)
{
	const uint64_t heap = lc_collector_heap();
	const long reserved = lc_vm_offset("CollectedHeap", "_reserved");
	const long start = lc_vm_offset("MemRegion", "_start");
	const long words = lc_vm_offset("MemRegion", "_word_size");

	*out = (struct lc_range){ 0 };
	if (!heap || reserved < 0 || start < 0 || words < 0)
		return -ENOENT;
	out->low = peek64(heap + (uint64_t)(reserved + start));
	out->high = out->low + 8 * peek64(heap + (uint64_t)(reserved + words));
	return 0;
}

/* The address of a mask that ZGC exports; 0: this JVM has none. */
static uint64_t mask_at(uint64_t globals, const char *field)
{
	const long at = lc_vm_offset("ZGlobalsForVMStructs", field);

	return at < 0 ? 0 : peek64(globals + (uint64_t)at);
}

/* ZGC exports no range that it would have reserved; it uses a power of two of addresses. */
static struct lc_range find_heap(struct lc_range reserved)
{
	const uint64_t globals = read_static("ZGlobalsForVMStructs", "_instance_p");
	uint64_t offsets_at, good_at, low;

	ranges.view_mask = ranges.colour_mask = ranges.bad_at = 0;
	if (lc_collector() != LC_GC_Z || !globals)
		return reserved;
	offsets_at = mask_at(globals, "_ZAddressOffsetMask");
	if (!offsets_at)
		return reserved;
	/* Before generations (JDK 21) references had a colour, above these bits, as addresses. */
	good_at = mask_at(globals, "_ZPointerLoadGoodMask");
	ranges.bad_at = mask_at(globals, good_at ? "_ZPointerLoadBadMask" : "_ZAddressBadMask");
	/* They say whether a reference may be loaded as it is: they are good, or bad. */
	if (!peek64(ranges.bad_at))
		ranges.bad_at = 0;
	if (good_at && ranges.bad_at)
		ranges.colour_mask = peek64(good_at) | peek64(ranges.bad_at);
	ranges.view_mask = peek64(offsets_at);
	if (!ranges.view_mask)
		return reserved;
	low = ranges.view_mask + 1;
	return (struct lc_range){ low, low * (good_at ? 2 : 8) };
}

static struct lc_range find_classes(void)
{
	const struct lc_layout *l = lc_layout();
	const uint64_t base = l->class_words == LC_CLASS_WORDS_KNOWN ? l->klass_base : 0;

	return base ? (struct lc_range){ base, base + CLASSES_BYTES } : (struct lc_range){ 0 };
}

static bool find_card_shift(unsigned *out)
{
	const void *in_bytes = lc_vm_flag("GCCardSizeInBytes"); /* from JDK 18 on */
	int64_t shift;

	if (!lc_vm_constant("CardTable::card_shift", &shift))
		*out = (unsigned)shift;
	else if (in_bytes)
		*out = (unsigned)__builtin_ctz(lc_peek_load32((uintptr_t)in_bytes));
	else
		return false;
	return true;
}

struct lc_card_table lc_ranges_card_table(void)
{
	const enum lc_collector gc = lc_collector();
	const uint64_t set = read_static("BarrierSet", "_barrier_set");
	const long table_at = lc_vm_offset("CardTableBarrierSet", "_card_table");
	const long base_at = lc_vm_offset("CardTable", "_byte_map_base");
	struct lc_card_table t = { 0 };
	uint64_t table;

	if ((gc != LC_GC_SERIAL && gc != LC_GC_PARALLEL && gc != LC_GC_G1) || !set ||
	    table_at < 0 || base_at < 0 || !find_card_shift(&t.shift))
		return t;
	table = peek64(set + (uint64_t)table_at);
	t.base = table ? peek64(table + (uint64_t)base_at) : 0;
	return t;
}

static struct lc_range find_cards(struct lc_range heap)
{
	const struct lc_card_table t = lc_ranges_card_table();

	return t.base ? (struct lc_range){ t.base + (heap.low >> t.shift),
		                           t.base + (heap.high >> t.shift) }
	              : (struct lc_range){ 0 };
}

int lc_ranges_init(void)
{
	const int err = find_reserved(&ranges.reserved);

	ranges.heap = find_heap(ranges.reserved);
	ranges.code = lc_ranges_code();
	ranges.classes = find_classes();
	ranges.cards = find_cards(ranges.heap);
	return err;
}

struct lc_range lc_ranges_heap(void)
{
	return ranges.reserved;
}

struct lc_range lc_ranges_objects(void)
{
	return ranges.heap;
}

bool lc_ranges_views_known(void)
{
	return lc_collector() != LC_GC_Z || ranges.view_mask;
}

uint64_t lc_ranges_plain(uint64_t addr)
{
	return ranges.view_mask && holds(ranges.heap, addr)
	           ? (ranges.view_mask + 1) | (addr & ranges.view_mask)
	           : addr;
}

uint64_t lc_ranges_of_stored(uint64_t reference)
{
	const uint64_t colour = reference & ranges.colour_mask;

	if (!ranges.colour_mask)
		return lc_ranges_plain(reference);
	return colour ? reference >> (64 - __builtin_clzll(colour)) : 0;
}

bool lc_ranges_may_be_old(uint64_t reference)
{
	return ranges.bad_at && reference & lc_peek_load64(ranges.bad_at);
}

enum lc_range_owner lc_ranges_owner(uint64_t addr)
{
	if (holds(ranges.heap, addr))
		return LC_RANGE_HEAP;
	return holds(ranges.code, addr) || holds(ranges.classes, addr) || holds(ranges.cards, addr)
	           ? LC_RANGE_JVM
	           : LC_RANGE_NOBODY;
}

struct lc_range lc_ranges_code(void)
{
	return (struct lc_range){ read_static("CodeCache", "_low_bound"),
		                  read_static("CodeCache", "_high_bound") };
}

struct lc_range lc_ranges_library(void)
{
	struct lc_range r = { 0 };

	(void)lc_vm_library_range(&r.low, &r.high); /* without, both stay 0 */
	return r;
}

struct lc_range lc_ranges_cards(void)
{
	return ranges.cards;
}

void lc_ranges_class_space(uint64_t *base, uint64_t *bytes)
{
	const void *size = lc_vm_flag("CompressedClassSpaceSize");

	*base = size ? ranges.classes.low : 0;
	*bytes = size ? lc_peek_load64((uintptr_t)size) : 0;
}

bool lc_ranges_counts(void)
{
	const void *flag = lc_vm_flag("NativeMemoryTracking");
	uint64_t text = 0;
	char value[4] = "";

	return flag && lc_peek((uintptr_t)flag, &text, sizeof(text)) && text &&
	       lc_peek(text, value, sizeof(value)) && memcmp(value, "off", sizeof(value)) != 0;
}
