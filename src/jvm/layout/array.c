/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/array.c - reads headers and elements of arrays of numbers. */
#include "src/jvm/layout/array.h"

#include <string.h>

#include "src/base/hash.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/os/peek.h"

enum {
	HEADER_WORDS = 3,
	PART_BYTES = 2048, /* that are read at once from the end */
	MARK_STATE = 3,
	MARK_FORWARDED = 3,
	/* A Klass's layout helper, if it is of an array of a primitive type (HotSpot's klass.hpp).
	 */
	HELPER_TYPE_ARRAY = 3, /* the upper two bits */
	HELPER_CHAR = 5,       /* the type: boolean is 4, char 5, ... long 11 */
	HELPER_LONG = 11,
};

static struct {
	/* The class words that were looked up last, by type: classes of the JVM itself stay. */
	uint64_t word[HELPER_LONG + 1];
	uint32_t helper[HELPER_LONG + 1];
	uint64_t buffer[LC_ARRAY_WHOLE_BYTES / 8];
} arrays;

/* The type in the layout helper of an array of numbers, or 0. */
static unsigned type_in(uint32_t helper)
{
	const unsigned type = helper >> 8 & 0xff;

	return helper >> 30 == HELPER_TYPE_ARRAY && (helper & 0xff) <= 3 && type >= HELPER_CHAR &&
	               type <= HELPER_LONG
	           ? type
	           : 0;
}

/* The layout helper of the class, if it is one of an array of numbers; else 0. */
static uint32_t helper_of(const struct lc_layout *l, uint64_t class_word)
{
	uint64_t klass;
	uint32_t helper;
	unsigned type;

	for (type = HELPER_CHAR; type <= HELPER_LONG; type++)
		if (arrays.word[type] == class_word)
			return arrays.helper[type];
	klass = l->klass_layout_helper >= 0 ? lc_klass_of_word(class_word) : 0;
	if (!klass || !lc_peek(klass + (uint64_t)l->klass_layout_helper, &helper, sizeof(helper)))
		return 0;
	type = type_in(helper);
	if (!type)
		return 0;
	arrays.word[type] = class_word;
	arrays.helper[type] = helper;
	return helper;
}

bool lc_array_at(const struct lc_layout *l, uint64_t addr, uint64_t size_bytes,
                 struct lc_array *out)
{
	uint64_t words[HEADER_WORDS], class_word, bytes;
	uint32_t length, helper, base;
	const uint64_t mask = l->object_alignment - 1;

	if (!lc_peek(addr, words, sizeof(words)) || !words[0] ||
	    (words[0] & MARK_STATE) == MARK_FORWARDED)
		return false;
	class_word = l->class_in_mark          ? words[0] >> LC_COMPACT_CLASS_SHIFT
	             : lc_layout_wide_class(l) ? words[1]
	                                       : (uint32_t)words[1];
	helper = class_word ? helper_of(l, class_word) : 0;
	if (!helper)
		return false;
	memcpy(&length, (const char *)words + l->length_offset, sizeof(length));
	base = helper >> 16 & 0xff;
	bytes = (uint64_t)length << (helper & 0xff);
	if (!length || length > INT32_MAX ||
	    base != ((helper & 0xff) == 3 ? l->long_base : l->byte_base) ||
	    ((base + bytes + mask) & ~mask) != size_bytes)
		return false;
	*out = (struct lc_array){ addr + base, bytes, 1u << (helper & 0xff) };
	return true;
}

/* The number of bytes up to the last one that is not 0. */
static size_t used_of(const unsigned char *bytes, size_t len)
{
	uint64_t word;

	while (len >= sizeof(word)) {
		memcpy(&word, bytes + len - sizeof(word), sizeof(word));
		if (word)
			break;
		len -= sizeof(word);
	}
	while (len && !bytes[len - 1])
		len--;
	return len;
}

/* The same in whole elements. */
static uint64_t whole_elements(const struct lc_array *a, uint64_t bytes)
{
	return (bytes + a->element_bytes - 1) / a->element_bytes * a->element_bytes;
}

static bool look_from_end(const struct lc_array *a, struct lc_array_use *out)
{
	unsigned char *const buffer = (unsigned char *)arrays.buffer;
	uint64_t left = a->bytes;

	while (left) {
		const size_t n = left % PART_BYTES ? left % PART_BYTES : PART_BYTES;
		size_t used;

		if (!lc_peek(a->data + left - n, buffer, n))
			return false;
		out->looked_bytes += n;
		left -= n;
		used = used_of(buffer, n);
		if (used) {
			out->used_bytes = whole_elements(a, left + used);
			break;
		}
	}
	return true;
}

static bool look_at_all(const struct lc_array *a, uint64_t salt, struct lc_array_use *out)
{
	uint64_t hash = lc_hash_add(lc_hash_add(salt, a->element_bytes), a->bytes);

	arrays.buffer[(a->bytes - 1) / 8] = 0; /* behind an end that is no multiple of 8 */
	if (!lc_peek(a->data, arrays.buffer, a->bytes))
		return false;
	for (size_t i = 0; i < (a->bytes + 7) / 8; i++)
		hash = lc_hash_add(hash, arrays.buffer[i]);
	out->hash = hash;
	out->whole = true;
	out->looked_bytes = a->bytes;
	out->used_bytes =
	    whole_elements(a, used_of((const unsigned char *)arrays.buffer, a->bytes));
	return true;
}

static uint64_t place_of(const struct lc_array *a, uint64_t step, size_t i)
{
	return i + 1 < LC_ARRAY_PLACES ? i * step : a->bytes - LC_ARRAY_PLACE_BYTES;
}

/*
 * Bytes up to `used` are in use, and those from `end` on are 0, so far as is known: halve what lies
 * between them until it is one place.
 */
static bool look_between(const struct lc_array *a, uint64_t used, uint64_t end,
                         struct lc_array_use *out)
{
	unsigned char *const buffer = (unsigned char *)arrays.buffer;

	while (used < end) {
		const bool last = end - used <= LC_ARRAY_PLACE_BYTES;
		const uint64_t at = last ? used : used + (end - used) / 2;
		const size_t n = end - at < LC_ARRAY_PLACE_BYTES ? end - at : LC_ARRAY_PLACE_BYTES;
		size_t found;

		if (!lc_peek(a->data + at, buffer, n))
			return false;
		out->looked_bytes += n;
		found = used_of(buffer, n);
		if (found)
			used = at + found;
		else
			end = at;
		if (last)
			break;
	}
	out->used_bytes = whole_elements(a, used);
	return true;
}

static bool look_at_places(const struct lc_array *a, struct lc_array_use *out)
{
	unsigned char *const buffer = (unsigned char *)arrays.buffer;
	struct iovec into[LC_ARRAY_PLACES], from[LC_ARRAY_PLACES];
	/* Places begin at multiples of 8, but for the last one, which ends with the array. */
	const uint64_t step = (a->bytes - LC_ARRAY_PLACE_BYTES) / (LC_ARRAY_PLACES - 1) & ~7ull;

	for (size_t i = 0; i < LC_ARRAY_PLACES; i++) {
		into[i] = (struct iovec){ buffer + i * LC_ARRAY_PLACE_BYTES, LC_ARRAY_PLACE_BYTES };
		from[i] = lc_peek_part(a->data + place_of(a, step, i), LC_ARRAY_PLACE_BYTES);
	}
	if (!lc_peek_all(into, from, LC_ARRAY_PLACES))
		return false;
	out->looked_bytes = LC_ARRAY_PLACES * LC_ARRAY_PLACE_BYTES;
	for (size_t i = LC_ARRAY_PLACES; i-- > 0;) {
		const size_t used =
		    used_of(buffer + i * LC_ARRAY_PLACE_BYTES, LC_ARRAY_PLACE_BYTES);

		if (used)
			return look_between(a, place_of(a, step, i) + used,
			                    i + 1 < LC_ARRAY_PLACES ? place_of(a, step, i + 1) : 0,
			                    out);
	}
	return true;
}

bool lc_array_look(const struct lc_array *a, bool all, uint64_t salt, struct lc_array_use *out)
{
	*out = (struct lc_array_use){ 0 };
	if (a->bytes > LC_ARRAY_WHOLE_BYTES)
		return look_at_places(a, out);
	return all ? look_at_all(a, salt, out) : look_from_end(a, out);
}
