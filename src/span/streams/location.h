/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/streams/location.h - finds the location of a stream: the program's call that executes it.
 *
 * A location is a place (stack/place.h). The compared part of the stack reaches to the nearest
 * frame outside java.util.stream, or with --span-paths as far as the path. An entry remembers its
 * last slot, so the usual begin makes one look-up. Owner: the thread.
 */
#ifndef LC_SPAN_STREAMS_LOCATION_H
#define LC_SPAN_STREAMS_LOCATION_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/span/frames/stack.h"
#include "src/span/streams/flatmap.h"
#include "src/stack/place.h"

struct lc_walker;

/* Kinds of hooks, which differ in their own frames. */
enum lc_location_hook { LC_LOCATION_STREAM = 0, LC_LOCATION_FOREIGN };

struct lc_location {
	struct lc_place place; /* key: lc_location_key() */
	uint32_t path;         /* for lc_path_get(); 0 unknown */
	/*
	 * The library made this call: the place is that of the function that made the stream, or
	 * else that of the stream around it, or else `path`.
	 */
	bool library;
	/* The last place of a function in an outer stream. */
	struct {
		uint32_t made, outer, path;
	} called;
	uint32_t look;     /* executions until the next look (span/frames/repeated.h) */
	uint64_t slot_key; /* lc_location_slot_key() of `slot` */
	struct lc_span_slot *slot;
};

/*
 * If the library's methods that execute streams are not inlined, all places that call such a method
 * share the hook's frame and return address: hence `far`.
 */
static const struct lc_place_kind lc_location_kind = { .entry_bytes = sizeof(struct lc_location),
	                                               .ways = 4,
	                                               .far = true };
LC_PLACE_KIND_FITS(struct lc_location, 4);

struct lc_locations {
	struct lc_places places;
	struct lc_walker *walker;
	struct lc_flatmap flat;
	_Atomic uint64_t walks;     /* written by: owner */
	_Atomic uint64_t errors;    /* stacks that could not be walked; written by: owner */
	struct lc_location scratch; /* for an entry that cannot be kept */
};

/* `paths`: use whole call paths, of at most `depth` frames. Context: [attach]. */
void lc_locations_init(bool paths, uint32_t depth);

/* `walker` stays the caller's. Returns 0 or -ENOMEM. Context: [hook]; slow, once a thread. */
int lc_locations_create(struct lc_walker *walker, struct lc_locations **out);
void lc_locations_destroy(struct lc_locations *l);

/*
 * Find the location of the hook with this frame by a walk, and remember it. `outer`: the hook is
 * inside a stream. Never returns NULL; an entry that cannot be kept is valid until the next call.
 * Context: [hook], owner; slow.
 */
struct lc_location *lc_location_learn(struct lc_locations *l, JNIEnv *jni,
                                      const struct lc_native_frame *at, uint64_t key,
                                      enum lc_location_hook hook, bool outer);

/*
 * The path of a function that made a stream, followed by that of the stream around it. Context:
 * [hook], owner; slow.
 */
uint32_t lc_location_called(struct lc_location *x, uint32_t made, uint32_t outer);

/*
 * The path of the stream that begins in that place, inside a stream with the path `outer` (0:
 * none). Context: [hook], owner.
 */
static inline uint32_t lc_location_path(struct lc_locations *l, struct lc_location *x,
                                        uint32_t outer)
{
	uint32_t made;

	if (__builtin_expect(!x->library, 1))
		return x->path;
	made = l->flat.made;
	l->flat.made = 0;
	if (!made)
		return outer ? outer : x->path;
	if (x->called.made == made && x->called.outer == outer)
		return x->called.path;
	return lc_location_called(x, made, outer);
}

/* The key of hooks with one frame: their return address in bytecode, and their kind. */
static inline uint64_t lc_location_key(uint64_t return_address, enum lc_location_hook hook,
                                       bool outer)
{
	return return_address << 2 | (uint64_t)(unsigned)hook << 1 | outer;
}

/* The known location of the hook with this frame, or NULL. Context: [hook], owner. */
static inline struct lc_location *lc_location_find(struct lc_locations *l, uint64_t frame,
                                                   uint64_t key)
{
	return (struct lc_location *)lc_places_find_again(&l->places, &lc_location_kind, frame, key,
	                                                  0);
}

static inline uint64_t lc_location_slot_key(unsigned kind, unsigned level, uint32_t path)
{
	return (uint64_t)path << 32 | level << 8 | kind;
}

/* The slot of a stream at the place, by kind and level. NULL without memory. */
static inline struct lc_span_slot *lc_location_slot(struct lc_span_thread *s, struct lc_location *x,
                                                    unsigned kind, unsigned level, uint32_t path)
{
	unsigned capped = level < LC_SPAN_LEVEL_MAX ? level : LC_SPAN_LEVEL_MAX;
	uint64_t key = lc_location_slot_key(kind, capped, path);

	if (__builtin_expect(x->slot_key != key || !x->slot, 0)) {
		x->slot = lc_span_slot_find(s, &(struct lc_span_key){ .kind = (uint8_t)kind,
		                                                      .level = (uint8_t)capped,
		                                                      .path = path });
		x->slot_key = key;
	}
	return x->slot;
}

#endif
