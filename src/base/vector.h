/* base/vector.h - a growable array: elements are appended, and all dropped together (len = 0). */
#ifndef LC_BASE_VECTOR_H
#define LC_BASE_VECTOR_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct lc_vector {
	void *data;
	size_t len, cap, element_bytes;
};

/* Append a copy of *element. Returns 0 or -ENOMEM. */
static inline int lc_vector_push(struct lc_vector *v, const void *element)
{
	if (v->len == v->cap) {
		size_t cap = v->cap ? v->cap * 2 : 256;
		void *bigger = realloc(v->data, cap * v->element_bytes);

		if (!bigger)
			return -ENOMEM;
		v->data = bigger;
		v->cap = cap;
	}
	memcpy((char *)v->data + v->len++ * v->element_bytes, element, v->element_bytes);
	return 0;
}

#endif
