/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/slab.h - keeps numbered elements that never move, and finds them by a key.
 *
 * Elements are added one by one and stay until all are freed. Block b holds `first` << b of them,
 * so that none moves when there are more. One thread, the owner, adds and finds; another one may
 * read the elements at the same time.
 *
 * Order:     B1  an element is set up before `len` is stored (release, lc_slab_publish()) ->
 *                lc_slab_get() loads it (acquire).
 */
#ifndef LC_BASE_SLAB_H
#define LC_BASE_SLAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LC_SLAB_BLOCKS = 20 };

/* Sizes of a slab. Make it a static constant, so that the compiler specializes the functions. */
struct lc_slab_kind {
	uint32_t element_bytes;
	uint32_t first;  /* elements in block 0 */
	uint32_t blocks; /* at most LC_SLAB_BLOCKS */
};

/* Empty when all is 0. */
struct lc_slab {
	void *block[LC_SLAB_BLOCKS];
	_Atomic uint32_t len; /* written by: owner, B1 */
	uint32_t index_cap;   /* a power of two, or 0 */
	uint64_t *index;      /* open addressing: hash << 32 | number + 1; 0: empty */
};

/*
 * Add an element with this hash, all zero. Returns it for the owner to set up and then to call
 * lc_slab_publish(), before anything else of the slab; NULL without memory or where all blocks are
 * full. Its number is the slab's `len`. Context: [hook], owner.
 */
void *lc_slab_add(struct lc_slab *s, const struct lc_slab_kind *kind, uint32_t hash);

/* Bytes that the next lc_slab_add() allocates; 0: none. Context: [hook], owner. */
size_t lc_slab_next_bytes(const struct lc_slab *s, const struct lc_slab_kind *kind);

/* Free all elements: the slab is empty. Context: owner, when nobody reads. */
void lc_slab_free(struct lc_slab *s);

/* Let others see the element that was added last. Context: [hook], owner. */
static inline void lc_slab_publish(struct lc_slab *s)
{
	uint32_t len = atomic_load_explicit(&s->len, memory_order_relaxed); /* ours */

	atomic_store_explicit(&s->len, len + 1, memory_order_release); /* B1 */
}

/* The element of this number, which must have been added. */
static inline void *lc_slab_at(const struct lc_slab *s, const struct lc_slab_kind *kind,
                               uint32_t number)
{
	unsigned block = 31u - (unsigned)__builtin_clz(number / kind->first + 1);
	uint32_t before = kind->first * ((1u << block) - 1);

	return (char *)s->block[block] + (size_t)(number - before) * kind->element_bytes;
}

/* The element of this number, or NULL behind the last. Context: any. */
static inline void *lc_slab_get(const struct lc_slab *s, const struct lc_slab_kind *kind,
                                uint32_t number)
{
	if (number >= atomic_load_explicit(&s->len, memory_order_acquire)) /* B1 */
		return NULL;
	return lc_slab_at(s, kind, number);
}

/*
 * The element with this hash for which same(element, key); NULL: there is none. Context: [hook],
 * owner.
 */
static inline __attribute__((always_inline)) void *
lc_slab_find(const struct lc_slab *s, const struct lc_slab_kind *kind, uint32_t hash,
             bool (*same)(const void *element, const void *key), const void *key)
{
	const uint32_t mask = s->index_cap - 1;

	for (uint32_t i = hash & mask; s->index_cap && s->index[i]; i = (i + 1) & mask) {
		void *element;

		if (s->index[i] >> 32 != hash)
			continue;
		element = lc_slab_at(s, kind, (uint32_t)s->index[i] - 1);
		if (same(element, key))
			return element;
	}
	return NULL;
}

#endif
