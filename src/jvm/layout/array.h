/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/array.h - recognises an array of numbers by its header, and finds how much of it is in
 * use: up to its last element that is not zero.
 *
 * All memory is read by lc_peek(), and what is read is believed only if it hangs together: the
 * class says that it is an array of a primitive type with the header of this JVM, and its length
 * fits the size that the caller knows.
 */
#ifndef LC_JVM_LAYOUT_ARRAY_H
#define LC_JVM_LAYOUT_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

struct lc_layout;

enum {
	LC_ARRAY_WHOLE_BYTES = 16 << 10, /* larger arrays are looked at in places */
	LC_ARRAY_PLACES = 96,            /* so many, at equal distances, and then behind one */
	LC_ARRAY_PLACE_BYTES = 128,
};

/* An array of numbers: byte, char, short, int, long, float or double. */
struct lc_array {
	uint64_t data;          /* address of its first element */
	uint64_t bytes;         /* of its elements; at least 1 */
	uint32_t element_bytes; /* 1, 2, 4 or 8 */
};

/*
 * Is there such an array of `size_bytes`, header included, at `addr`? The object has not been moved
 * from there: its mark word would say so. Context: [gc].
 */
bool lc_array_at(const struct lc_layout *l, uint64_t addr, uint64_t size_bytes,
                 struct lc_array *out);

/* The result of a look at an array. */
struct lc_array_use {
	uint64_t used_bytes;   /* up to the last element that is not 0; 0: all are */
	uint64_t looked_bytes; /* that were read */
	uint64_t hash;         /* of `salt`, the element's size and all elements, if `whole` */
	bool whole;            /* all was read */
};

/*
 * Look at the elements from the end. If the array is larger than LC_ARRAY_WHOLE_BYTES, equally
 * spaced places are read, the last of which ends with the array: `used_bytes` is up to the last
 * such place with an element that is not 0. `all`: read all of a smaller one, for the hash. Returns
 * false where something cannot be read. Context: [gc], one thread at a time.
 */
bool lc_array_look(const struct lc_array *a, bool all, uint64_t salt, struct lc_array_use *out);

#endif
