/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/header.c - reads and compares headers of objects. */
#include "src/jvm/layout/header.h"

#include <errno.h>
#include <string.h>

#include "src/jvm/layout/layout.h"
#include "src/jvm/os/peek.h"

enum { HEADER_WORDS = 3 };

enum { MARK_STATE = 3, MARK_FORWARDED = 3, MARK_STAYS = 4, MARK_LOW = 7 };

int lc_header_read(const struct lc_layout *layout, uint64_t addr, struct lc_header *out)
{
	uint64_t words[HEADER_WORDS] = { 0 };

	if (!lc_peek(addr, words, sizeof(words)))
		return -EFAULT;
	if (layout->class_in_mark)
		out->class_word = words[0] >> LC_COMPACT_CLASS_SHIFT;
	else if (lc_layout_wide_class(layout))
		out->class_word = words[1];
	else
		out->class_word = (uint32_t)words[1];
	memcpy(&out->length, (const char *)words + layout->length_offset, sizeof(out->length));
	return 0;
}

uint64_t lc_header_slides_to(const struct lc_layout *layout, uint64_t heap_low, uint64_t mark)
{
	const uint64_t low_bits = (UINT64_C(1) << LC_COMPACT_CLASS_SHIFT) - 1;

	if ((mark & MARK_STATE) != MARK_FORWARDED)
		return 0;
	if (!layout->slides_encoded)
		return mark & ~(uint64_t)MARK_LOW;
	if (layout->class_in_mark)
		mark &= low_bits;
	return heap_low + (mark & ~(uint64_t)MARK_STATE) * 2; /* in words, above the two bits */
}

bool lc_header_stays(const struct lc_layout *layout, uint64_t addr, uint64_t mark)
{
	/* JDK 24 and later have a bit for it, which biased locking had before. */
	if (layout->slides_encoded && mark & MARK_STAYS)
		return true;
	return (mark & MARK_STATE) == MARK_FORWARDED && (mark & ~(uint64_t)MARK_LOW) == addr;
}

uint32_t lc_header_class_of(const struct lc_layout *layout, uint64_t addr)
{
	return layout->class_in_mark ? (uint32_t)(lc_peek_load64(addr) >> LC_COMPACT_CLASS_SHIFT)
	                             : (uint32_t)lc_peek_load64(addr + 8);
}

/* Size of an array of `class_name` with `length` elements, or 0 where it is no array's name. */
static uint64_t array_bytes(const struct lc_layout *l, const char *class_name, uint32_t length)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} primitives[] = {
		{ "boolean[]", 1 }, { "byte[]", 1 },  { "char[]", 2 }, { "short[]", 2 },
		{ "int[]", 4 },     { "float[]", 4 }, { "long[]", 8 }, { "double[]", 8 },
	};
	uint64_t mask = l->object_alignment - 1, base = l->reference_base;
	uint64_t element = l->reference_bytes;
	size_t len = strlen(class_name);

	if (len < 2 || strcmp(class_name + len - 2, "[]") != 0)
		return 0;
	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++) {
		if (strcmp(class_name, primitives[i].name) != 0)
			continue;
		element = primitives[i].bytes;
		base = element == 8 ? l->long_base : l->byte_base;
	}
	return (base + element * length + mask) & ~mask;
}

bool lc_header_matches(const struct lc_layout *layout, const struct lc_header *h,
                       const char *class_name, uint64_t class_word, uint64_t size_bytes)
{
	uint64_t bytes = array_bytes(layout, class_name, h->length);

	return h->class_word == class_word && (!bytes || bytes == size_bytes);
}
