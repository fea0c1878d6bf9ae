/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/bucket.c - chooses the bucket of a sample by its address and by how the address was
 * found.
 */
#include "src/attribute/bucket.h"

#include "src/jvm/layout/metaspace.h"
#include "src/jvm/layout/ranges.h"

bool lc_bucket_needs_map(const struct lc_sample *s)
{
	/* An address that was not decoded counts wherever the code was: a page fault of the JVM
	 * that zeroes an array is a first touch of that array. */
	if (s->how == LC_HOW_KERNEL)
		return s->addr;
	/* Native code has an address where it touches the heap. */
	return s->how <= LC_HOW_TRAP && s->addr && !(s->access & LC_ACCESS_OWN);
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
	switch (lc_ranges_owner(addr)) {
	case LC_RANGE_HEAP:
		return LC_BUCKET_HEAP_UNKNOWN;
	case LC_RANGE_JVM:
		return LC_BUCKET_JVM;
	default:
		return lc_metaspace_holds(addr) ? LC_BUCKET_JVM : LC_BUCKET_NATIVE;
	}
}
