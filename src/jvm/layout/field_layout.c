/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/field_layout.c - finds the field or element at an offset. */
#include "src/jvm/layout/field_layout.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/descriptor.h"
#include "src/jvm/layout/layout.h"

enum { MARK_BYTES = 8, LENGTH_BYTES = 4 };

static const char elements[] = "";

const char *lc_field_part_name(enum lc_field_part part)
{
	static const char *const names[LC_PART_COUNT] = {
		[LC_PART_MARK] = "(mark)",         [LC_PART_CLASS] = "(class)",
		[LC_PART_LENGTH] = "(length)",     [LC_PART_PADDING] = "(padding)",
		[LC_PART_INTERNAL] = "(internal)", [LC_PART_STATICS] = "(static fields)",
		[LC_PART_UNKNOWN] = "(unknown)",
	};

	return names[part];
}

static int by_offset(const void *a, const void *b)
{
	const struct lc_field_entry *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

void lc_field_table_sort(struct lc_field_table *t)
{
	if (t->len)
		qsort(t->entries, t->len, sizeof(t->entries[0]), by_offset);
}

static int part(enum lc_field_part p, struct lc_field *out)
{
	*out = (struct lc_field){ .name = lc_field_part_name(p) };
	return 0;
}

/* The part that every object begins with; `end` is where the class word ends. */
static int in_header(uint64_t offset, uint64_t end, struct lc_field *out)
{
	return offset >= end ? -ENOENT
	                     : part(offset < MARK_BYTES ? LC_PART_MARK : LC_PART_CLASS, out);
}

/* Compact headers hold the class in the mark; elsewhere an array's length follows the class. */
static uint64_t header_end(const struct lc_layout *layout)
{
	return layout->class_in_mark ? MARK_BYTES : layout->length_offset;
}

int lc_field_in_instance(const struct lc_layout *layout, const struct lc_field_table *t,
                         uint64_t offset, struct lc_field *out)
{
	size_t low = 0, high = t->len;

	if (!in_header(offset, header_end(layout), out))
		return 0;
	while (low < high) { /* the last field at or below the offset */
		size_t middle = low + (high - low) / 2;

		if (t->entries[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && offset - t->entries[low - 1].offset < t->entries[low - 1].bytes) {
		*out = (struct lc_field){ .name = t->entries[low - 1].name };
		return 0;
	}
	if (t->instance_bytes && offset >= t->instance_bytes && t->mirror)
		return part(LC_PART_STATICS, out);
	if (!t->instance_bytes || offset >= t->instance_bytes || t->incomplete)
		return -ENOENT;
	return part(t->internal ? LC_PART_INTERNAL : LC_PART_PADDING, out);
}

/* The range of elements that stands for element `i` of `n`; n is 0 where unknown. */
static void range_of(uint64_t i, uint64_t n, struct lc_field *out)
{
	uint64_t step = (n + LC_FIELD_RANGES - 1) / LC_FIELD_RANGES;

	*out = (struct lc_field){ .name = elements, .element = i };
	if (n) {
		out->first = i / step * step;
		out->last = out->first + step - 1 < n ? out->first + step - 1 : n - 1;
		return;
	}
	/* 0, 1, 2-3, 4-7, 8-15 ..: few ranges whatever the length. */
	if (i > 1) {
		out->first = UINT64_C(1) << (63 - __builtin_clzll(i));
		out->last = 2 * out->first - 1;
	} else {
		out->first = out->last = i;
	}
}

int lc_field_array_of(const struct lc_layout *layout, const char *signature,
                      struct lc_field_array *out)
{
	uint32_t width =
	    signature[0] == '[' ? lc_descriptor_bytes(signature + 1, layout->reference_bytes) : 0;

	if (!width)
		return -ENOENT;
	out->width = (uint8_t)width;
	if (signature[1] == 'L' || signature[1] == '[')
		out->base = layout->reference_base;
	else
		out->base = width == 8 ? layout->long_base : layout->byte_base;
	return 0;
}

/* HotSpot's Klass::_layout_helper, from the lowest byte: log2 of the width, type, base, kind. */
int lc_field_array_of_helper(const struct lc_layout *layout, int32_t helper,
                             struct lc_field_array *out)
{
	uint32_t bits = (uint32_t)helper, log2 = bits & 0xff, base = bits >> 16 & 0xff;

	if (helper >= 0 || log2 > 3 ||
	    (base != layout->byte_base && base != layout->long_base &&
	     base != layout->reference_base))
		return -ENOENT;
	*out = (struct lc_field_array){ .base = base, .width = (uint8_t)(1u << log2) };
	return 0;
}

int lc_field_in_block(uint64_t size_bytes, uint64_t offset, struct lc_field *out)
{
	if (offset >= size_bytes)
		return -ENOENT;
	range_of(offset, size_bytes, out);
	return 0;
}

int lc_field_in_array(const struct lc_layout *layout, const struct lc_field_array *array,
                      uint64_t size_bytes, uint64_t offset, struct lc_field *out)
{
	uint64_t i, n;

	if (size_bytes && offset >= size_bytes)
		return -ENOENT;
	if (!in_header(offset, header_end(layout), out))
		return 0;
	if (offset < array->base)
		return part(offset - layout->length_offset < LENGTH_BYTES ? LC_PART_LENGTH
		                                                          : LC_PART_PADDING,
		            out);
	i = (offset - array->base) / array->width;
	n = size_bytes > array->base ? (size_bytes - array->base) / array->width : 0;
	if (size_bytes && i >= n)
		return part(LC_PART_PADDING, out);
	range_of(i, n, out);
	return 0;
}
