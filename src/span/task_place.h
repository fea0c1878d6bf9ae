/*
 * span/task_place.h - where on its thread's stack a hook of a task is, without walking it each time.
 *
 * As heap/context.h, but a place is recognised at whatever depth it lies: recursive tasks, and those that a
 * waiting thread executes meanwhile, lie deep in each other. Words are compared that reach as far as the
 * frame that is asked for, with --span-paths as far as the path does. Owner of all: the thread.
 */
#ifndef LC_SPAN_TASK_PLACE_H
#define LC_SPAN_TASK_PLACE_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/span/task.h"
#include "src/stack/words.h"

struct lc_contexts;

enum {
	LC_PLACE_WORDS = 20,
	LC_PLACE_WAYS = 64, /* callers of all depths share a key */
	LC_PLACE_CLASSES = 64,
	LC_PLACE_CALLERS = 32
};

enum lc_place_hook { LC_PLACE_CREATED = 0, LC_PLACE_SUBMITTED };

struct lc_task_place {
	uint64_t key;        /* 0: entry is empty */
	uint32_t generation; /* of the generated code, when the words were learnt */
	uint32_t number;     /* created: the site; submitted: the path */
	uint16_t words_len;
	uint32_t reach; /* the largest offset */
	bool inner;     /* the submitting method was called by another one that submits */
	bool inner_all; /* and that is invokeAll(), which told of all of its tasks at once */
	bool call_site; /* submitted: at a call of Executor.execute(), not in an implementation */
	uint64_t call;  /* submitted: lc_frame_pack() of the call; 0 unknown */
	uint64_t value[LC_PLACE_WORDS];
	uint16_t offset[LC_PLACE_WORDS]; /* in words above the hook's frame */
	struct lc_span_words *more;      /* the words beyond these; NULL: none */
};

/* What the class word of an object meant when it was last looked up. */
struct lc_place_class {
	uint32_t word;
	uint32_t sequence; /* of the GC: classes go only when it changes */
	const struct lc_task_class *class;
};

/* Who called a hook. */
struct lc_place_caller {
	uint64_t address;
	uint32_t generation;
	bool own;
};

struct lc_task_places {
	struct lc_task_place *table;
	uint32_t mask; /* entries - 1 */
	uint32_t evictions;
	const _Atomic uint32_t *generation;
	uint64_t code_low, code_high, interpreter_low, interpreter_high;
	struct lc_place_class classes[LC_PLACE_CLASSES];
	struct lc_place_caller callers[LC_PLACE_CALLERS];
	struct lc_task_place scratch; /* where an entry cannot be kept */
};

/* Stacks walked, and those that could not be. Context: any. */
void lc_task_places_stats(uint64_t *walks, uint64_t *errors);

/* Methods of LocusSpan are not part of any place. Returns 0 or -errno. Context: [attach]. */
int lc_task_places_init(JNIEnv *jni, const struct lc_task_config *config);

/* Context: [hook]; slow, once a thread. Returns 0 or -ENOMEM. */
int lc_task_places_create(struct lc_task_places **out);
void lc_task_places_destroy(struct lc_task_places *p);

/* Is that address in what was compiled for a method of LocusSpan, or unknown code? */
bool lc_task_place_is_own_slowly(struct lc_task_places *p, uint64_t caller);

static inline bool lc_task_place_is_own(struct lc_task_places *p, uint64_t caller)
{
	const struct lc_place_caller *known = &p->callers[(caller >> 2) % LC_PLACE_CALLERS];

	if (__builtin_expect(known->address == caller &&
	                         known->generation ==
	                             atomic_load_explicit(p->generation, memory_order_relaxed),
	                     1))
		return known->own;
	return lc_task_place_is_own_slowly(p, caller);
}

/* The first of the words from `word` on that is an address in a compiled method; 0 where none is near. */
uint64_t lc_task_place_next(const uint64_t *word);

/* What an interpreted frame is at, as heap/context.h has it; `rbp` is its frame pointer. */
static inline uint64_t lc_task_place_bytecode(uint64_t rbp, uint64_t above)
{
	if (rbp <= above + 64 || rbp - above > 65536 || rbp & 7)
		return 0;
	return *(const uint64_t *)(uintptr_t)(rbp - 64); /* NOLINT */
}

/*
 * Stands for the hook, what it asks, and the two nearest calls in Java code: `frame` is the address of the
 * frame of a JNI method, which HotSpot's stub has called with its own frame linked. Where the caller is a method
 * of LocusSpan by itself, the next word that is an address in a method is taken. It only chooses where to look.
 */
static inline uint64_t lc_task_place_key(struct lc_task_places *p, uint64_t frame,
                                         enum lc_place_hook hook, uint32_t class)
{
	uint64_t stub = *(const uint64_t *)(uintptr_t)frame, caller = 0, next = 0; /* NOLINT */

	if (stub > frame && stub - frame < 4096 && !(stub & 7)) {
		const uint64_t *link = (const uint64_t *)(uintptr_t)stub; /* NOLINT */

		caller = link[1];
		if (__builtin_expect(caller - p->interpreter_low <
		                         p->interpreter_high - p->interpreter_low,
		                     0)) {
			caller = lc_task_place_bytecode(link[0], stub);
			if (caller) {
				const uint64_t *outer =
				    (const uint64_t *)(uintptr_t)link[0]; /* NOLINT */

				next = outer[1];
				if (next - p->interpreter_low <
				    p->interpreter_high - p->interpreter_low)
					next = lc_task_place_bytecode(outer[0], link[0]);
			}
		} else if (lc_task_place_is_own(p, caller)) {
			next = lc_task_place_next(link + 2);
		}
	}
	return ((caller ^ next << 13 ^ next >> 7) << 8 ^ (uint64_t) class << 1 ^
	        (uint64_t)(unsigned)hook) |
	       UINT64_C(1) << 63;
}

static inline uint32_t lc_task_place_hash(uint64_t key)
{
	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static inline bool lc_task_place_same(const struct lc_task_place *x, uint64_t frame)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)frame; /* NOLINT */

	for (unsigned i = 0; i < x->words_len; i++)
		if (stack[x->offset[i]] != x->value[i])
			return false;
	return __builtin_expect(!x->more, 1) || lc_span_words_same(x->more, frame);
}

/* The known place of the hook with this frame, or NULL. Context: [hook], owner. */
static inline const struct lc_task_place *
lc_task_place_find(const struct lc_task_places *p, uint64_t frame, uint64_t key, uint64_t stack_end)
{
	uint32_t at = lc_task_place_hash(key) & p->mask;
	uint32_t now = atomic_load_explicit(p->generation, memory_order_relaxed);

	for (unsigned way = 0; way < LC_PLACE_WAYS; way++) {
		const struct lc_task_place *x = &p->table[at ^ way];

		if (x->key == key && x->generation == now &&
		    frame + (uint64_t)x->reach * 8 < stack_end && lc_task_place_same(x, frame))
			return x;
	}
	return NULL;
}

/* Walk the stack of the hook with this frame (`at->frame`), for an object of `class`, and remember the place. */
const struct lc_task_place *lc_task_place_learn(struct lc_task_places *p, JNIEnv *jni,
                                                struct lc_contexts *contexts,
                                                const struct lc_native_frame *at, uint64_t key,
                                                enum lc_place_hook hook, jobject object,
                                                const struct lc_task_class *class);

/* -- classes (task_class.c) ------------------------------------------------------------------ */

/* Learn whether classes may be unloaded at any time. Context: [attach]. */
void lc_task_classes_init(void);

/* The rest of lc_task_class_of(). */
const struct lc_task_class *lc_task_class_slowly(struct lc_place_class *known, JNIEnv *jni,
                                                 jobject object, uint32_t word);

/* The class of an object with this class word; NULL where there is no room. Context: [hook], owner. */
static inline const struct lc_task_class *lc_task_class_of(struct lc_task_places *p, JNIEnv *jni,
                                                           jobject object, uint32_t word,
                                                           uint32_t gc_sequence)
{
	struct lc_place_class *known = &p->classes[(word ^ word >> 6) % LC_PLACE_CLASSES];

	if (__builtin_expect(
	        known->word == word && known->sequence == gc_sequence && known->class != NULL, 1))
		return known->class;
	return lc_task_class_slowly(known, jni, object, word);
}

uint64_t lc_task_classes_lost(void); /* hooks whose class found no room; context: any */

#endif
