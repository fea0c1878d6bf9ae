/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/small_impl.h - declares what the parts of gc/small.h share. No other file includes it.
 *
 * small.c holds the objects and looks at them when a collection has ended, small_slide.c before
 * objects slide, small_stuck.c during an evacuation that may leave some in place, and small_given.c
 * before the collector gives memory back.
 *
 * All functions run on the thread that posts the GC events. Context: [gc].
 */
#ifndef LC_GC_SMALL_IMPL_H
#define LC_GC_SMALL_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/area.h"
#include "src/core/record.h"
#include "src/gc/small.h"

enum {
	LC_SMALL_HEADER_BYTES = 16, /* mark and class: no object is smaller */
	LC_SMALL_MARK_FORWARDED = 3,
	LC_SMALL_WORDS = LC_MOVE_INLINE_BYTES / 8,
	/* Size of the samples that are read in each phase: one of new objects, few of which live,
	 * one of survivors. One more survivor of each bucket is read. */
	LC_SMALL_SAMPLE_MAX = 8192,
};

/* A tracked object, in 12 bytes. */
struct lc_small_object {
	uint32_t low; /* address, lower half */
	uint16_t high, words;
	uint32_t class_word; /* lc_header_class_of(); 0: a new object, whose header is its own */
};

struct lc_small_bucket {
	struct lc_small_object *objects;
	size_t len, cap;
	size_t top; /* index of the object at the highest address, during a look ahead */
};

struct lc_small_state {
	struct lc_small_bucket *buckets;
	size_t buckets_len;
	uint64_t low, bucket_bytes;
	uint64_t *granules; /* one bit each: found readable in this pass */
	size_t granules_len;

	/* The running pass. */
	const struct lc_area *areas;
	size_t areas_len;
	bool class_word;
	size_t near;
	uint64_t begin_ns;
	unsigned peek; /* of lc_peek_begin() */
	struct lc_move *moves;
	size_t moves_len, moves_cap;
	size_t moves_max; /* upper limit of `moves_len` in the running pass */
	bool dropped;     /* there was no room for an object in this pass */
	/* The look ahead has found addresses in headers before, so it comes at the right moment. */
	bool proved;
	/* An object of the map is not held: after a slide its address is unknown. */
	bool holes;

	bool slid;        /* objects slid, and the look ahead knows their addresses */
	uint64_t *lowest; /* by area, if `slid`: the lowest address to which an object slid */

	_Atomic uint64_t moved, forgotten, forgotten_new, held, pass_ns, unheld, passes_limited;
};
extern struct lc_small_state lc_small;

/* A sample of many objects. */
struct lc_small_sample {
	struct lc_small_object *objects; /* room for LC_SMALL_SAMPLE_MAX */
	size_t len;
	unsigned halvings; /* one object in 2^halvings is chosen, by a hash of its address */
};

/* Results of the looks before a collection slides objects, or during an evacuation. */
struct lc_small_ahead {
	bool emptied, found, sampled_held;
	bool looked;             /* at least once before the slide */
	bool unsaid;             /* the new address of an object is unknown */
	struct lc_area areas[4]; /* if `emptied` */
	size_t areas_len;
	struct lc_small_sample records, survivors;
	uint64_t signature; /* of the samples' new addresses at the last look at all objects */
	size_t said;        /* how many objects of the samples had one then */
	bool fewer;         /* later, some of them had none */
	uint64_t landmarks; /* of the last look at all objects; 0: there were none */
	bool blind;         /* no memory for the classes of new objects */
	struct lc_move *moves;
	uint32_t *classes; /* low halves of the class words, by move */
	size_t len, max, moves_cap, classes_cap;
};
extern struct lc_small_ahead lc_small_ahead;

static inline uint64_t lc_small_addr(struct lc_small_object o)
{
	return o.low | (uint64_t)o.high << 32;
}

static inline struct lc_small_object lc_small_object_at(uint64_t addr, uint64_t words,
                                                        uint32_t class_word)
{
	return (struct lc_small_object){ (uint32_t)addr, (uint16_t)(addr >> 32), (uint16_t)words,
		                         class_word };
}

/* Does lc_small_look() look at the object of that record? */
static inline bool lc_small_is_looked_at(const struct lc_alloc *a, uint16_t tag, uint16_t span)
{
	return a->size_words <= LC_SMALL_WORDS && a->site &&
	       (uint16_t)(tag - lc_alloc_epoch_tag(a)) <= span;
}

/* ---- small.c ---- */

/* Make buckets and granules for the whole reserved heap, once. Returns false without memory. */
bool lc_small_lay_out(void);

/* The largest number of objects to find in a pause. It bounds the pause's length and memory. */
size_t lc_small_moves_max(void);

/* The area that `addr` lies in, if `addr` is in the part with objects; else NULL. */
const struct lc_area *lc_small_area_of(uint64_t addr);

/* Can the header at `addr` be read? It may lie across two granules. */
bool lc_small_readable(uint64_t addr);

/* Forget what is readable: the JVM may have given memory back since the last pass. */
void lc_small_forget_granules(void);

/* Does an object of the class begin at `addr`? 0 stands for any class. */
bool lc_small_is_of_class(uint64_t addr, uint32_t class_word);

/* Hold the object that is at `addr` now, to look at it after later collections. */
void lc_small_hold(uint64_t addr, uint64_t words);

/*
 * The new address of the object at `addr`, which is of that class; 0 if it was not moved, or died.
 */
uint64_t lc_small_forwarded(uint64_t addr, uint32_t class_word);

/* The same by the header that is at `addr` now. */
uint64_t lc_small_forwarding(uint64_t addr, uint32_t class_word);

/* Note a move, for the result of lc_small_end(). */
void lc_small_note_move(uint64_t src, uint64_t dst, uint64_t words);

/* ---- small_slide.c ---- */

/* Returns false without memory. */
bool lc_small_sample_make(struct lc_small_sample *s);

/*
 * Choose the object for the sample, if the hash of its address says so. Each n-th object would not
 * do: programs make and keep objects at regular intervals. If the sample is full, drop half of it.
 */
void lc_small_sample_add(struct lc_small_sample *s, struct lc_small_object object);

/* Note that the object of that class goes from `addr` to `to`. */
void lc_small_ahead_note(uint64_t addr, uint64_t to, uint64_t words, uint32_t class_word);

/* Objects slid in the pause: are the new addresses of all of them known? Begins their pass. */
bool lc_small_slide_begin(void);

/* May the object at `addr` have stayed while others slid? */
bool lc_small_slide_kept(uint64_t addr);

/* Is the object of the record at its address, after others slid? */
bool lc_small_slide_kept_new(const struct lc_alloc *a);

/* Hold the objects that stayed, and note the moves of those that are at their new address. */
void lc_small_slide_take(void);

/* ---- small_given.c ---- */

/*
 * The new address of the object that was at `addr`, in memory that was given back in this pause; 0:
 * it is dead, or was elsewhere.
 */
uint64_t lc_small_given_find(uint64_t addr);

/* Was there a look at memory that was given back in this pause? */
bool lc_small_given_looked(void);

/* Did an object in that memory find no room? */
bool lc_small_given_limited(void);

/* Forget what was given back. */
void lc_small_given_forget(void);

/* ---- small_stuck.c ---- */

/* Forget the looks during an evacuation. */
void lc_small_stuck_forget(void);

/* The pass begins: are all objects known that the evacuation moved or left? `evacuated`: only
 * evacuations ran. */
void lc_small_stuck_pass(bool evacuated);

/* Are objects in all of the heap known so, old ones too? After lc_small_stuck_pass(). */
bool lc_small_stuck_all(void);

/* The area of those that may keep objects in which `addr` lies, or NULL. */
const struct lc_area *lc_small_stuck_area(uint64_t addr);

/* Note the moves of objects that are at their place. */
void lc_small_stuck_take(void);

/* Does the held object stay in an area that was old before, and may have been evacuated? */
bool lc_small_stuck_stays(struct lc_small_object o, const struct lc_area *was,
                          const struct lc_area *now);

#endif
