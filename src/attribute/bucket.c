/* attribute/bucket.c - see bucket.h. */
#include "src/attribute/bucket.h"

#include "src/jvm/areas.h"
#include "src/jvm/vmstructs.h"

struct range {
	uint64_t low, high;
};

/* What Java code touches outside the heap and the JVM owns. */
enum { RANGE_HEAP, RANGE_CODE, RANGE_CLASSES, RANGE_CARDS, RANGE_COUNT };
static struct range ranges[RANGE_COUNT];

static uint64_t read_static(const char *type, const char *field)
{
	const uint64_t *at = lc_vm_static(type, field);

	return at ? *at : 0;
}

/* What compiled code adds (address >> 9) to for its card marks; 0 with collectors that have none. */
static uint64_t card_table_base(void)
{
	enum lc_collector gc = lc_areas_collector();
	uint64_t set = read_static("BarrierSet", "_barrier_set"), table;
	long table_at = lc_vm_offset("CardTableBarrierSet", "_card_table");
	long base_at = lc_vm_offset("CardTable", "_byte_map_base");

	if ((gc != LC_GC_SERIAL && gc != LC_GC_PARALLEL && gc != LC_GC_G1) || !set ||
	    table_at < 0 || base_at < 0)
		return 0;
	table = *(const uint64_t *)(uintptr_t)(set + (uint64_t)table_at);             /* NOLINT */
	return table ? *(const uint64_t *)(uintptr_t)(table + (uint64_t)base_at) : 0; /* NOLINT */
}

/* ZGC reserves no range that it would export, but a power of two of addresses. */
static void find_z_heap(uint64_t *low, uint64_t *high)
{
	const uint64_t globals = read_static("ZGlobalsForVMStructs", "_instance_p");
	const long mask_at = lc_vm_offset("ZGlobalsForVMStructs", "_ZAddressOffsetMask");
	/* Before generations (JDK 21) references had a colour, above these bits, as addresses. */
	const bool one_view = lc_vm_offset("ZGlobalsForVMStructs", "_ZPointerLoadGoodMask") >= 0;
	uint64_t mask;

	if (lc_areas_collector() != LC_GC_Z || !globals || mask_at < 0)
		return;
	mask = *(const uint64_t *)(uintptr_t)(globals + (uint64_t)mask_at); /* NOLINT */
	mask = *(const uint64_t *)(uintptr_t)mask;                          /* NOLINT */
	*low = mask + 1;
	*high = *low * (one_view ? 2 : 8);
}

void lc_bucket_init(void)
{
	enum { CARD_SHIFT = 9 };
	uint64_t low = 0, high = 0, base;

	lc_areas_heap_range(&low, &high);
	find_z_heap(&low, &high);
	ranges[RANGE_HEAP] = (struct range){ low, high };
	ranges[RANGE_CODE] = (struct range){ read_static("CodeCache", "_low_bound"),
		                             read_static("CodeCache", "_high_bound") };
	/* Compressed class pointers address 4 GiB from their base: archive and class space. */
	base = read_static("CompressedKlassPointers", "_narrow_klass._base");
	if (!base)
		base = read_static("CompressedKlassPointers", "_base");
	if (base)
		ranges[RANGE_CLASSES] = (struct range){ base, base + (UINT64_C(1) << 32) };
	base = card_table_base();
	if (base)
		ranges[RANGE_CARDS] =
		    (struct range){ base + (low >> CARD_SHIFT), base + (high >> CARD_SHIFT) };
}

bool lc_bucket_needs_map(const struct lc_sample *s)
{
	/* An address that was not decoded counts wherever the code was: a page fault of the JVM
	 * that zeroes an array is a first touch of that array. */
	if (s->how == LC_HOW_KERNEL)
		return s->addr;
	return (s->where == LC_WHERE_COMPILED || s->where == LC_WHERE_STUB) &&
	       s->how <= LC_HOW_TRAP && s->addr && !(s->access & LC_ACCESS_OWN);
}

enum lc_bucket lc_bucket_without_map(const struct lc_sample *s)
{
	if (s->how == LC_HOW_KERNEL)
		return LC_BUCKET_NO_ADDRESS;
	switch ((enum lc_where)s->where) {
	case LC_WHERE_INTERPRETER:
	case LC_WHERE_JVM:
		return LC_BUCKET_JVM;
	case LC_WHERE_COMPILED:
	case LC_WHERE_STUB:
		return s->access & LC_ACCESS_OWN ? LC_BUCKET_JVM : LC_BUCKET_NO_ADDRESS;
	default:
		return LC_BUCKET_NATIVE;
	}
}

enum lc_bucket lc_bucket_untracked(uint64_t addr)
{
	for (unsigned i = 0; i < RANGE_COUNT; i++)
		if (addr >= ranges[i].low && addr < ranges[i].high)
			return i == RANGE_HEAP ? LC_BUCKET_HEAP_UNKNOWN : LC_BUCKET_JVM;
	return LC_BUCKET_NATIVE;
}
