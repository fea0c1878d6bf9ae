/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/hook_class.c - puts numbers into the place holders of the compiled hook class. */
#include "src/classfile/hook_class.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/classfile/big_endian.h"
#include "src/classfile/class_file.h"
#include "src/classfile/rewrite.h"

/* Place holders, as in heap/LocusHook.java; the constant is PLACE_HOLDER plus one of these. */
enum {
	MIN_LENGTH = 1, /* + primitive type */
	MIN_REFERENCE = MIN_LENGTH + LC_PRIMITIVE_TYPES,
	BASE, /* + enum lc_element */
	SHIFT_REFERENCE = BASE + LC_ELEMENT_COUNT,
	ALIGN_MASK,
	ALL,
	CLASS_SHIFT,
	MIN_WORDS,
	STRINGS,
	IN_JAVA,
	PLACE_HOLDERS_END
};
enum { PLACE_HOLDER = 0x7C0C0500 };

/* The place holders of 8 bytes; their upper half is PLACE_HOLDER. */
enum {
	SEQUENCE = 1,
	THREADS,
	EETOP,
	TLAB_TOP,
	ALLOCATED_BYTES,
	CLASS_OFFSET,
	WATCHING,
	STATE,
	TLAB_START,
	LONG_PLACE_HOLDERS_END
};

/* The kind of array element that each primitive type is. */
static const uint8_t elements[LC_PRIMITIVE_TYPES] = { LC_ELEMENT_1, LC_ELEMENT_2, LC_ELEMENT_4,
	                                              LC_ELEMENT_8, LC_ELEMENT_1, LC_ELEMENT_2,
	                                              LC_ELEMENT_4, LC_ELEMENT_8 };

/* A method of Thread, and the one that is called in its stead where threads have carriers. */
#define CURRENT "currentThread"
#define CARRIER "currentCarrierThread"

static const uint8_t class_file[] = {
#include "hook_class_bytes.inc"
};

static bool is_valid(const struct lc_hook_layout *layout)
{
	uint32_t align = layout->object_align_bytes;

	for (int e = 0; e < LC_ELEMENT_COUNT; e++)
		if (layout->base_bytes[e] < 12 || layout->base_bytes[e] > 24)
			return false;
	return (layout->reference_bytes == 4 || layout->reference_bytes == 8) && align >= 8 &&
	       align <= 256 && !(align & (align - 1));
}

static uint32_t element_bytes(const struct lc_hook_layout *layout, int element)
{
	return element == LC_ELEMENT_REFERENCE ? layout->reference_bytes : UINT32_C(1) << element;
}

/* The smallest length of an array whose size, rounded up, reaches the threshold. */
static uint32_t min_length(const struct lc_hook_layout *layout, int element)
{
	uint64_t align = layout->object_align_bytes, base = layout->base_bytes[element];
	uint64_t bytes = element_bytes(layout, element), body;

	if (layout->min_size_bytes > UINT64_C(1) << 40)
		return INT32_MAX; /* no array is that large */
	/* A size that rounds up to the threshold is above the multiple just below the threshold. */
	body = (layout->min_size_bytes + align - 1) / align * align;
	if (body < base + align)
		return 0;
	body = body - align + 1 - base;
	body = (body + bytes - 1) / bytes;
	return body < INT32_MAX ? (uint32_t)body : INT32_MAX;
}

static void fill(const struct lc_hook_layout *layout, uint32_t values[PLACE_HOLDERS_END])
{
	uint64_t min_words = layout->min_size_bytes / 8 + (layout->min_size_bytes % 8 != 0);

	for (int e = 0; e < LC_ELEMENT_COUNT; e++)
		values[BASE + e] = layout->base_bytes[e];
	for (int t = 0; t < LC_PRIMITIVE_TYPES; t++)
		values[MIN_LENGTH + t] =
		    layout->watched_primitives >> t & 1 ? 0 : min_length(layout, elements[t]);
	values[MIN_REFERENCE] = min_length(layout, LC_ELEMENT_REFERENCE);
	values[MIN_WORDS] = min_words < INT32_MAX ? (uint32_t)min_words : INT32_MAX;
	values[STRINGS] = layout->watched_strings;
	values[SHIFT_REFERENCE] = layout->reference_bytes == 8 ? 3 : 2;
	values[ALIGN_MASK] = layout->object_align_bytes - 1;
	values[ALL] = !layout->objects ? 0 : layout->gives_arrays ? 1 : 2;
	values[CLASS_SHIFT] = layout->class_shift;
	values[IN_JAVA] = layout->in_java;
}

int lc_hook_class_patch(uint8_t *bytes, size_t len, const struct lc_hook_layout *layout)
{
	uint32_t values[PLACE_HOLDERS_END] = { 0 }, found[PLACE_HOLDERS_END] = { 0 };
	const uint64_t longs[LONG_PLACE_HOLDERS_END] = { [SEQUENCE] = layout->sequence,
		                                         [THREADS] = layout->threads,
		                                         [EETOP] = layout->eetop,
		                                         [TLAB_TOP] = layout->tlab_top,
		                                         [ALLOCATED_BYTES] = layout->allocated,
		                                         [CLASS_OFFSET] = layout->class_offset,
		                                         [WATCHING] = layout->watching,
		                                         [STATE] = layout->thread_state,
		                                         [TLAB_START] = layout->tlab_start };
	uint32_t found_longs[LONG_PLACE_HOLDERS_END] = { 0 };
	struct lc_class c;
	int err = 0;

	if (!is_valid(layout) || lc_class_open(bytes, len, &c) != LC_REWRITE_DONE)
		return -EINVAL;
	fill(layout, values);
	for (uint32_t i = 1; i < c.pool_count; i++) {
		const uint8_t *p = bytes + c.pool[i];
		uint32_t which;

		if (c.pool[i] && *p == LC_POOL_LONG && lc_be_get4(p + 1) == PLACE_HOLDER) {
			which = lc_be_get4(p + 5);
			if (which >= SEQUENCE && which < LONG_PLACE_HOLDERS_END)
				found_longs[which] =
				    found_longs[which] ? UINT32_MAX : c.pool[i] + 1;
		}
		if (!c.pool[i] || *p != LC_POOL_INTEGER)
			continue;
		which = lc_be_get4(p + 1) - PLACE_HOLDER;
		if (which >= MIN_LENGTH && which < PLACE_HOLDERS_END)
			found[which] = found[which] ? UINT32_MAX : c.pool[i] + 1;
	}
	for (int i = MIN_LENGTH; i < PLACE_HOLDERS_END; i++)
		if (!found[i] || found[i] == UINT32_MAX)
			err = -EINVAL;
	for (int i = SEQUENCE; i < LONG_PLACE_HOLDERS_END; i++)
		if (!found_longs[i] || found_longs[i] == UINT32_MAX)
			err = -EINVAL;
	for (int i = MIN_LENGTH; !err && i < PLACE_HOLDERS_END; i++)
		lc_be_put4(bytes + found[i], values[i]);
	for (int i = SEQUENCE; !err && i < LONG_PLACE_HOLDERS_END; i++) {
		lc_be_put4(bytes + found_longs[i], (uint32_t)(longs[i] >> 32));
		lc_be_put4(bytes + found_longs[i] + 4, (uint32_t)longs[i]);
	}
	lc_class_close(&c);
	return err;
}

/* Replace calls of CURRENT by calls of CARRIER. `bytes` has room. Returns the new length. */
static size_t call_carriers(uint8_t *bytes, size_t len)
{
	size_t more = strlen(CARRIER) - strlen(CURRENT), end = 0;
	struct lc_class c;

	if (lc_class_open(bytes, len, &c) != LC_REWRITE_DONE)
		return len;
	for (uint32_t i = 1; i < c.pool_count; i++)
		if (lc_class_text_is(lc_class_utf8(&c, i), CURRENT))
			end = c.pool[i] + 3 + strlen(CURRENT);
	lc_class_close(&c);
	if (!end)
		return len;
	memmove(bytes + end + more, bytes + end, len - end);
	end -= strlen(CURRENT);
	memcpy(bytes + end, CARRIER, strlen(CARRIER));
	lc_be_put2(bytes + end - 2, strlen(CARRIER));
	return len + more;
}

int lc_hook_class_create(const struct lc_hook_layout *layout, uint8_t **bytes, size_t *len)
{
	uint8_t *copy = malloc(sizeof(class_file) + sizeof(CARRIER));
	int err = -ENOMEM;

	if (copy) {
		memcpy(copy, class_file, sizeof(class_file));
		err = lc_hook_class_patch(copy, sizeof(class_file), layout);
	}
	if (err) {
		free(copy);
		return err;
	}
	*bytes = copy;
	*len = layout->carriers ? call_carriers(copy, sizeof(class_file)) : sizeof(class_file);
	return 0;
}
