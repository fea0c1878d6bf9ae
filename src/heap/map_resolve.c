/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/map_resolve.c - finds the objects at addresses of the open epoch.
 *
 * Queries are few, nursery records many, so the records are streamed once past two bitmaps: one bit
 * per 4 KiB page for records of up to a page, one per 64 KiB for records of up to that. The bit
 * of the query's page and of the page before it are set: a record of at most a page that covers
 * the query starts in one of the two, so one look is enough. The bitmaps wrap around the heap (at
 * 512 MiB and 8 GiB); a record that passes is searched for among the sorted queries.
 */
#include <stdlib.h>
#include <string.h>

#include "src/heap/map_impl.h"

enum { PAGE_SHIFT = 12, SEGMENT_SHIFT = 16 };

struct asked {
	struct lc_map *m;
	struct lc_query *q; /* by address */
	size_t len;
};

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct lc_query *)a)->addr, y = ((const struct lc_query *)b)->addr;

	return x < y ? -1 : x > y;
}

static void set_bits(uint64_t *words, uint64_t granule)
{
	for (uint64_t i = granule - 1; i != granule + 1; i++)
		words[i % LC_MAP_FILTER_BITS / 64] |= UINT64_C(1) << (i % 64);
}

static inline bool has_bit(const uint64_t *words, uint64_t granule)
{
	return words[granule % LC_MAP_FILTER_BITS / 64] >> (granule % 64) & 1;
}

static inline bool may_cover(const struct lc_map *m, uint64_t addr, uint32_t size_words)
{
	if (__builtin_expect(size_words <= (1u << PAGE_SHIFT) / 8, 1))
		return has_bit(m->pages, addr >> PAGE_SHIFT);
	return size_words > (1u << SEGMENT_SHIFT) / 8 ||
	       has_bit(m->segments, addr >> SEGMENT_SHIFT);
}

/* Answer the queries that the record at `addr` covers. */
static void answer(const struct asked *k, uint64_t addr, const struct lc_alloc *a, uint32_t epochs)
{
	uint64_t size_bytes = (uint64_t)a->size_words * 8;
	size_t low = 0, high = k->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->q[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < k->len && k->q[low].addr - addr < size_bytes; low++) {
		k->q[low].found = true;
		k->q[low].object = (struct lc_object){
			.addr = addr, .size_bytes = size_bytes, .site = a->site, .epochs = epochs
		};
	}
}

static void stream(const struct asked *k, const struct lc_nursery *nursery)
{
	const struct lc_map *m = k->m;
	uint64_t tag = (uint64_t)nursery->epoch_tag << LC_ADDR_BITS;

	for (size_t i = 0; i < nursery->len; i++) {
		const struct lc_alloc *records = nursery->runs[i].records;
		size_t len = nursery->runs[i].len;

		for (size_t j = 0; j < len; j++) {
			const struct lc_alloc *a = &records[j];
			uint64_t addr = a->tagged_addr ^ tag; /* large when the tag is another */

			lc_map_fetch(nursery, i, j);
			if (addr <= LC_ADDR_MASK && may_cover(m, addr, a->size_words))
				answer(k, addr, a, 0);
		}
	}
}

static void stream_kept(const struct asked *k)
{
	const struct lc_map *m = k->m;

	for (size_t i = 0; i < m->kept_len; i++) {
		const struct lc_alloc *a = &m->kept[i];

		if (a->site && may_cover(m, lc_alloc_addr(a), a->size_words))
			answer(k, lc_alloc_addr(a), a, lc_map_kept_epochs(m, a));
	}
}

void lc_map_resolve(struct lc_map *m, const struct lc_nursery *nursery, struct lc_query *q,
                    size_t len)
{
	struct asked k = { .m = m, .q = q, .len = len };
	bool open = false;

	if (!len)
		return;
	qsort(q, len, sizeof(*q), by_address);
	memset(m->pages, 0, sizeof(m->pages));
	memset(m->segments, 0, sizeof(m->segments));
	for (size_t i = 0; i < len; i++) {
		uint64_t at = 0;
		const struct lc_map_entry *e = lc_map_at_or_below(m, q[i].addr, &at);

		q[i].found = e && q[i].addr - at < (uint64_t)e->size_words * 8;
		q[i].object = (struct lc_object){ 0 };
		if (q[i].found) {
			q[i].object.addr = at;
			q[i].object.size_bytes = (uint64_t)e->size_words * 8;
			q[i].object.site = e->site;
			q[i].object.epochs = m->closes - (e->birth_in >> LC_MAP_BIRTH);
			q[i].object.in_doubt = e->birth_in & LC_MAP_DOUBT;
		}
		/* A newer record may cover an object that is in doubt, but no other object. */
		if (q[i].found && !(e->birth_in & LC_MAP_DOUBT))
			continue;
		set_bits(m->pages, q[i].addr >> PAGE_SHIFT);
		set_bits(m->segments, q[i].addr >> SEGMENT_SHIFT);
		open = true;
	}
	if (!open)
		return;
	stream_kept(&k);
	stream(&k, nursery);
}
