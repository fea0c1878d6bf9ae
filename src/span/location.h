/*
 * span/location.h - where on its thread's stack a hook of a stream is, without walking it each time.
 *
 * As heap/context.h, but what is recognised is only as much of the stack as reaches to the location: the
 * nearest frame outside java.util.stream, or with --span-paths as far as the path does. An entry remembers the slot that
 * was counted in last, so that the usual begin makes one look-up. Owner of all: the thread.
 */
#ifndef LC_SPAN_LOCATION_H
#define LC_SPAN_LOCATION_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/jvm/frames.h"
#include "src/span/stack.h"
#include "src/stack/words.h"

struct lc_contexts;

enum { LC_LOCATION_WORDS = 20, LC_LOCATION_WAYS = 4 };

/* What kind of hook asks: its own frames count differently. */
enum lc_location_hook { LC_LOCATION_STREAM = 0, LC_LOCATION_FOREIGN };

struct lc_location {
	uint64_t stack_pointer; /* 0: entry is empty */
	uint64_t key;           /* return address into bytecode, and what else matters */
	uint32_t generation;    /* of the generated code, when the words were learnt */
	uint32_t path;          /* for lc_path_get(); 0 unknown */
	uint16_t words_len;
	/* The library itself made this call, for a stream in another one: the place is that one's. */
	bool inherited;
	uint64_t slot_key; /* lc_location_slot_key() of `slot` */
	struct lc_span_slot *slot;
	uint64_t value[LC_LOCATION_WORDS];
	uint16_t offset[LC_LOCATION_WORDS]; /* in words above stack_pointer */
	struct lc_span_words *more;         /* the words beyond these; NULL: none */
};

/*
 * Places of one method differ neither in the hook's frame nor in where it returns to, if what executes the
 * streams is not inlined. The first few of them are found by these two alone, in `near`; the others by the words that
 * tell them apart too, in `far`: which words those are, the near ones tell.
 */
struct lc_locations {
	struct lc_location *near, *far; /* both of the same size */
	uint32_t mask;                  /* entries - 1 */
	uint32_t evictions;
	const _Atomic uint32_t *generation;
	struct lc_contexts *contexts; /* for scratch memory and the stack's end */
	_Atomic uint64_t walks;       /* written by: owner */
	_Atomic uint64_t errors;      /* stacks that could not be walked; written by: owner */
	struct lc_location scratch;   /* where an entry cannot be kept */
};

/* `paths`: whole call paths, of at most `depth` frames. Context: [attach]. */
void lc_locations_init(jvmtiEnv *jvmti, bool paths, uint32_t depth);

/* `contexts` stays the caller's. Returns 0 or -ENOMEM. Context: [hook]; slow, once a thread. */
int lc_locations_create(struct lc_contexts *contexts, struct lc_locations **out);
void lc_locations_destroy(struct lc_locations *l);

/*
 * The location of the hook with this frame, walked and remembered. `outer`: it is inside a stream. Never NULL; what
 * cannot be kept is valid until the next call. Context: [hook], owner; slow.
 */
struct lc_location *lc_location_learn(struct lc_locations *l, JNIEnv *jni,
                                      const struct lc_native_frame *at, uint64_t key,
                                      enum lc_location_hook hook, bool outer);

static inline uint64_t lc_location_key(uint64_t return_address, enum lc_location_hook hook,
                                       bool outer)
{
	return return_address << 2 | (uint64_t)(unsigned)hook << 1 | outer;
}

static inline uint32_t lc_location_hash(uint64_t stack_pointer, uint64_t key)
{
	uint64_t h = ((stack_pointer >> 4) + key) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(h >> 40);
}

static inline bool lc_location_words_same(const struct lc_location *x)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)x->stack_pointer; /* NOLINT */

	for (unsigned i = 0; i < x->words_len; i++)
		if (stack[x->offset[i]] != x->value[i])
			return false;
	return __builtin_expect(!x->more, 1) || lc_span_words_same(x->more, x->stack_pointer);
}

/* Likewise among the far ones. */
struct lc_location *lc_location_find_far(struct lc_locations *l, uint64_t stack_pointer,
                                         uint64_t key);

/* The known location of the hook with this frame, or NULL. Context: [hook], owner. */
static inline struct lc_location *lc_location_find(struct lc_locations *l, uint64_t stack_pointer,
                                                   uint64_t key)
{
	uint32_t at = lc_location_hash(stack_pointer, key) & l->mask;
	uint32_t now = atomic_load_explicit(l->generation, memory_order_relaxed);

	for (unsigned way = 0; way < LC_LOCATION_WAYS; way++) {
		struct lc_location *x = &l->near[at ^ way];

		if (x->stack_pointer == stack_pointer && x->key == key && x->generation == now &&
		    lc_location_words_same(x))
			return x;
	}
	return lc_location_find_far(l, stack_pointer, key);
}

static inline uint64_t lc_location_slot_key(unsigned kind, unsigned level, uint32_t path)
{
	return (uint64_t)path << 32 | level << 8 | kind;
}

/* The slot of a stream in the place, of that kind and level. NULL without memory. */
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
