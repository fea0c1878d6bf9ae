/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/vector.h - lets an array grow: one whose elements have a type, or one of any elements.
 *
 * Context: any thread that may call malloc(); one thread at a time.
 */
#ifndef LC_BASE_VECTOR_H
#define LC_BASE_VECTOR_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Make room for `len` elements in `array`, which came from malloc() and has room for *cap. Returns
 * where the array is now, or NULL without memory: then the array and *cap are as before.
 */
static inline void *lc_vector_reserve_array(void *array, size_t *cap, size_t len,
                                            size_t element_bytes)
{
	size_t more = *cap + *cap / 2 + 64;

	if (len <= *cap)
		return array;
	if (more < len)
		more = len;
	array = realloc(array, more * element_bytes);
	if (array)
		*cap = more;
	return array;
}

/* Elements are appended, and dropped all together (len = 0); the owner frees `data`. */
struct lc_vector {
	void *data;
	size_t len, cap, element_bytes;
};

/* Append a copy of *element. Returns 0 or -ENOMEM. */
static inline int lc_vector_push(struct lc_vector *v, const void *element)
{
	void *data = lc_vector_reserve_array(v->data, &v->cap, v->len + 1, v->element_bytes);

	if (!data)
		return -ENOMEM;
	v->data = data;
	memcpy((char *)v->data + v->len++ * v->element_bytes, element, v->element_bytes);
	return 0;
}

/* Give back the room behind the last element, if there is memory to do it. */
static inline void lc_vector_trim(struct lc_vector *v)
{
	void *data = v->len ? realloc(v->data, v->len * v->element_bytes) : NULL;

	if (v->len && !data)
		return;
	if (!v->len)
		free(v->data);
	v->data = data;
	v->cap = v->len;
}

/* Take out the first n elements; n <= v->len. */
static inline void lc_vector_drop(struct lc_vector *v, size_t n)
{
	if (!n)
		return;
	v->len -= n;
	memmove(v->data, (char *)v->data + n * v->element_bytes, v->len * v->element_bytes);
}

#endif
