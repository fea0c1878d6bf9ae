/* jvm/ranges.c - asks the JVM once for its address ranges. */
#include "src/jvm/ranges.h"

#include <errno.h>
#include <stdbool.h>

#include "src/jvm/collector.h"
#include "src/jvm/layout.h"
#include "src/jvm/peek.h"
#include "src/jvm/vmstructs.h"

/* Compressed class pointers address 4 GiB from their base: archive and class space. */
#define CLASSES_BYTES (UINT64_C(1) << 32)

/* Set once by lc_ranges_init(). */
static struct {
	struct lc_range reserved; /* for the heap, as CollectedHeap has it */
	struct lc_range heap, code, classes, cards;
} ranges;

static uint64_t read_static(const char *type, const char *field)
{
	const void *at = lc_vm_static(type, field);

	return at ? lc_load64((uintptr_t)at) : 0;
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
	out->low = lc_load64(heap + (uint64_t)(reserved + start));
	out->high = out->low + 8 * lc_load64(heap + (uint64_t)(reserved + words));
	return 0;
}

/* ZGC exports no range that it would have reserved; it uses a power of two of addresses. */
static struct lc_range find_heap(struct lc_range reserved)
{
	const uint64_t globals = read_static("ZGlobalsForVMStructs", "_instance_p");
	const long mask_at = lc_vm_offset("ZGlobalsForVMStructs", "_ZAddressOffsetMask");
	/* Before generations (JDK 21) references had a colour, above these bits, as addresses. */
	const bool one_view = lc_vm_offset("ZGlobalsForVMStructs", "_ZPointerLoadGoodMask") >= 0;
	uint64_t low;

	if (lc_collector() != LC_GC_Z || !globals || mask_at < 0)
		return reserved;
	low = lc_load64(lc_load64(globals + (uint64_t)mask_at)) + 1;
	return (struct lc_range){ low, low * (one_view ? 2 : 8) };
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
		*out = (unsigned)__builtin_ctz(lc_load32((uintptr_t)in_bytes));
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
	table = lc_load64(set + (uint64_t)table_at);
	t.base = table ? lc_load64(table + (uint64_t)base_at) : 0;
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

static bool holds(struct lc_range r, uint64_t addr)
{
	return addr >= r.low && addr < r.high;
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
