/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/map.h - tells which tracked object lies at an address, and follows objects through
 * collections.
 *
 * The map holds the survivors: tracked objects that outlived an epoch, by start
 * address. The objects of the open epoch are not in it: their allocation logs are the nursery,
 * and are streamed past the few addresses that are asked for.
 *
 * Objects of the map are disjoint, and each lies in an area of the last layout. If two objects
 * claim the same bytes, the one recorded or moved last is right and the other is dead.
 *
 * Only the attribution thread uses a map. Context: [writer] unless a function says otherwise.
 */
#ifndef LC_HEAP_MAP_H
#define LC_HEAP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

struct lc_map; /* opaque */

struct lc_object {
	uint64_t addr;
	uint64_t size_bytes;
	uint32_t site;
	uint32_t epochs; /* collections it has outlived */
	bool in_doubt;   /* it may be dead, and another object in its place: see lc_map_check() */
};

/* A run of allocation records of one thread, oldest first, all of the epoch in question. */
struct lc_nursery_run {
	const struct lc_alloc *records;
	size_t len;
};

struct lc_nursery {
	const struct lc_nursery_run *runs;
	size_t len;
	uint16_t epoch_tag; /* records with another tag are stale, and passed over */
};

/* One address to resolve; `found` and `object` are the answer. */
struct lc_query {
	uint64_t addr;
	bool found;
	struct lc_object object; /* all zero when not found */
	uint32_t user;           /* belongs to the caller */
};

int lc_map_create(struct lc_map **out); /* 0 or -ENOMEM. [attach] */
void lc_map_destroy(struct lc_map *m);  /* NULL is fine. Context: tests */

/* Resolve addresses of the open epoch: survivors and nursery. Reorders `q`. Allocates nothing. */
void lc_map_resolve(struct lc_map *m, const struct lc_nursery *nursery, struct lc_query *q,
                    size_t len);

/* Moves and layout of a collection, in the terms of gc/moves.h and jvm/layout/areas.h. */
struct lc_map_close {
	const struct lc_nursery *nursery;
	const struct lc_move *moves; /* any order; each from its place before to its place after */
	size_t moves_len;
	const struct lc_area *areas; /* the layout afterwards: sorted, disjoint */
	size_t areas_len;
	uint64_t heap_low; /* bottom of the heap; pieces of large objects are aligned from here */
	bool small_known;  /* `moves` has those of objects that were slid inline too */
	bool
	    stuck_known; /* small ones that an evacuation had to leave have moves, to their place */
	bool complete;   /* false: moves were lost, or not seen */
	bool collected;  /* false: a pause that collected nothing */
	bool in_pieces;  /* this collector slides objects that cross a region's end in pieces */
};

/*
 * Close an epoch: carry survivors and nursery over the collection that ended it. map_close.c has
 * the rules. Without `complete`, every object that moved or may have moved is dropped: it is better
 * to know nothing than something wrong. The time grows with the moves, nursery records, areas and
 * dead objects, but not with objects that stayed, except in compacted areas. Returns 0, or -ENOMEM;
 * then the map is empty, and as usable as a new one.
 */
int lc_map_close_epoch(struct lc_map *m, const struct lc_map_close *c);

/*
 * An object was found at `addr` that nobody has recorded, in memory that no record of the open
 * epoch is of. Returns 1; 0 if the map has another object there, and nothing changes; or -ENOMEM.
 */
int lc_map_adopt(struct lc_map *m, uint64_t addr, uint32_t size_words, uint32_t site);

/* The survivor that starts at `addr`, if there is one, has another site than was said. */
void lc_map_set_site(struct lc_map *m, uint64_t addr, uint32_t site);

/* Does the object's header still stand at its address? */
enum lc_map_header {
	LC_MAP_HEADER_SAME,  /* same class, same length */
	LC_MAP_HEADER_OTHER, /* another header, or nothing readable, is there */
	LC_MAP_HEADER_LATER, /* the heap has moved on: ask again after another epoch was closed */
};
typedef enum lc_map_header lc_map_header_fn(void *user, const struct lc_object *object);

/*
 * Ask `header` about objects that stayed in a compacted area, at most `max` of them; drop those
 * whose header it calls OTHER. The first LATER ends the pass: the object stays in doubt and in the
 * map, and `header` is asked about it the next time if it still lies there. An object that a later
 * collection moves as a whole is in doubt no more. To be called after lc_map_close_epoch() and
 * before the next one; `header` must say LATER unless the epoch closed is still the last one,
 * before and after its read. Returns how many are still in doubt. `header` may not use the map.
 */
size_t lc_map_check(struct lc_map *m, lc_map_header_fn *header, void *user, size_t max);

/*
 * Single events, for collectors that move objects while the program runs. With these no epoch is
 * closed, but cycles are counted (map_order.c). A copied object is in the map at both addresses;
 * each is good until its memory is used again.
 */

/* An object was recorded at `addr`: what the map has there is gone. Returns 0 or -ENOMEM. */
int lc_map_allocated(struct lc_map *m, uint64_t addr, uint32_t size_words, uint32_t site);

/*
 * [src, src + size_bytes) is copied to `dst`. Returns 1 if that is an object of the map, which is
 * at both places now; 0 if it is none, and nothing changes; or -ENOMEM.
 */
int lc_map_moved(struct lc_map *m, uint64_t src, uint64_t dst, uint64_t size_bytes);

/* A cycle of the collector has begun: objects are a cycle older. */
void lc_map_cycle(struct lc_map *m);

/*
 * Ask `header` about objects from *at on, at most `max` of them, and set *at behind them; 0: all
 * are asked. One that it has called OTHER two times in a row is dropped; from the first on, it is
 * in doubt. LATER says nothing. Returns how many were dropped.
 */
size_t lc_map_look(struct lc_map *m, uint64_t *at, lc_map_header_fn *header, void *user,
                   size_t max);

/* Forget everything. */
void lc_map_forget_all(struct lc_map *m);

/* Find the survivor that covers `addr`. Returns true and sets *out, or returns false. */
bool lc_map_find(struct lc_map *m, uint64_t addr, struct lc_object *out);

/* Forget the object that starts at `addr` (its header was seen to be another's). */
void lc_map_forget(struct lc_map *m, uint64_t addr);

/* Survivors of one site. */
struct lc_map_live {
	uint64_t objects, bytes;
};

/*
 * The survivors of each site, by its number; *len is above the largest number. The sums are kept as
 * objects come and go: nothing is walked. The array is valid until the map changes.
 */
const struct lc_map_live *lc_map_live(const struct lc_map *m, size_t *len);

/* Closed epochs. */
uint32_t lc_map_closes(const struct lc_map *m);

/* Call `each` for every survivor in lc_map_live(), in no order. */
typedef void lc_map_each_fn(void *user, const struct lc_object *object);
void lc_map_each(const struct lc_map *m, lc_map_each_fn *each, void *user);

/*
 * Closed epochs whose collection has taken objects out of old memory. After other collections, old
 * objects are in the map that have died.
 */
uint32_t lc_map_old_closes(const struct lc_map *m);

/* Copies of one site's objects by collections, and survivors. */
struct lc_map_copied {
	uint32_t site;
	/* Copied by a collection, each time; several collections in one pause count once. */
	uint64_t objects, bytes;
	/* Still there after the first collection since they were allocated. */
	uint64_t outlived, outlived_bytes;
};

/*
 * The sums of a site that closed epochs have added to; NULL: there are none left.
 * lc_map_copied_taken() takes out the sums that were given last. An object that follows a move
 * counts as copied, in its full size. An object that is still in the map after the close of its
 * first collected epoch has outlived that collection. So an object in a part of the heap that was
 * not collected outlives the collection, dead or not.
 */
const struct lc_map_copied *lc_map_copied(const struct lc_map *m);
void lc_map_copied_taken(struct lc_map *m);

/* Objects, each time they were copied or outlived their first collection, that are in no sum. */
uint64_t lc_map_copied_lost(const struct lc_map *m);

/*
 * Objects that were dropped, dead or alive, since nothing tells where they are: they may have been
 * moved unseen by a collection that moves objects in pieces, or that left some in a region that it
 * evacuated; or two moves lead to one place.
 */
uint64_t lc_map_dropped(const struct lc_map *m);

/* Survivors; after a pause that collected nothing, one recorded twice may count twice. */
size_t lc_map_count(const struct lc_map *m);
uint64_t lc_map_bytes(const struct lc_map *m); /* memory that the map uses */

/*
 * Walk all survivors in address order: the first that starts at or above *addr is put in *out, and
 * *addr set behind its start. False at the end.
 */
bool lc_map_next(struct lc_map *m, uint64_t *addr, struct lc_object *out);

#endif
