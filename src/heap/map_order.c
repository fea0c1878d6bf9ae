/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/map_order.c - keeps the map where objects move while the program runs: event by event.
 *
 * Nothing says when an object dies. It leaves the map when something that is tracked is put in its
 * place, or when its header is found to be gone (lc_map_look()). So the map has at most as many
 * objects as the heap's memory has room for.
 *
 * A copy of the collector names its object: the map has one that begins at the source and is as
 * long. Other copies within the heap, such as System.arraycopy's, begin behind a header.
 */
#include <errno.h>

#include "src/heap/map_impl.h"

int lc_map_allocated(struct lc_map *m, uint64_t addr, uint32_t size_words, uint32_t site)
{
	return lc_map_put_over(
	    m, addr,
	    (struct lc_map_entry){ .size_words = size_words,
	                           .site = site,
	                           .birth_in = m->closes << LC_MAP_BIRTH | LC_MAP_NEW });
}

/*
 * The object was copied: once for each of its places, so that what threads have copied that were
 * too late counts too.
 */
static void count_copy(struct lc_map *m, const struct lc_map_entry *e, uint64_t size_bytes)
{
	struct lc_map_copied *sum = lc_map_copied_of(m, e->site);

	if (!sum)
		return;
	sum->objects++;
	sum->bytes += size_bytes;
	if (e->birth_in & LC_MAP_NEW) {
		sum->outlived++;
		sum->outlived_bytes += size_bytes;
	}
}

int lc_map_moved(struct lc_map *m, uint64_t src, uint64_t dst, uint64_t size_bytes)
{
	struct lc_map_entry *e = lc_map_at(m, src), object;

	if (!e || (uint64_t)e->size_words * 8 != size_bytes || src == dst)
		return 0;
	count_copy(m, e, size_bytes);
	e->birth_in &= ~(uint32_t)LC_MAP_NEW;
	object = *e;
	object.birth_in &= ~(uint32_t)LC_MAP_DOUBT;
	/* If it slides by less than its size, this removes its old place, too. */
	return lc_map_put_over(m, dst, object) ? -ENOMEM : 1;
}

void lc_map_cycle(struct lc_map *m)
{
	m->closes++;
}

size_t lc_map_look(struct lc_map *m, uint64_t *at, lc_map_header_fn *header, void *user, size_t max)
{
	size_t dropped = 0;
	struct lc_object object;

	for (; max; max--) {
		struct lc_map_entry *e;
		enum lc_map_header answer;

		if (!lc_map_next(m, at, &object)) {
			*at = 0;
			break;
		}
		answer = header(user, &object);
		e = lc_map_at(m, object.addr);
		if (answer == LC_MAP_HEADER_SAME) {
			e->birth_in &= ~(uint32_t)LC_MAP_DOUBT;
		} else if (answer == LC_MAP_HEADER_OTHER && object.in_doubt) {
			lc_map_remove(m, object.addr);
			dropped++;
		} else if (answer == LC_MAP_HEADER_OTHER) {
			e->birth_in |= LC_MAP_DOUBT;
		}
	}
	return dropped;
}

void lc_map_forget_all(struct lc_map *m)
{
	lc_map_clear(m);
}
