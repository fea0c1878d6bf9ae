/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task_place.h - finds the place in the program where a task is created or submitted.
 *
 * Such a place (stack/place.h) is recognised at any depth of the stack: recursive tasks, and tasks
 * that a waiting thread executes, are nested deeply. The compared words reach as far as the wanted
 * frame, or with --span-paths as far as the path. Owner: the thread.
 */
#ifndef LC_SPAN_TASKS_TASK_PLACE_H
#define LC_SPAN_TASKS_TASK_PLACE_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/span/tasks/task.h"
#include "src/stack/generated.h"
#include "src/stack/place.h"

struct lc_walker;

enum { LC_TASK_CLASSES_MAX = 1 << 16 }; /* of a process; also the largest number of a class */

enum {
	LC_TASK_PLACE_CLASSES = 64,
	LC_TASK_PLACE_CALLERS = 32, /* sets: a power of two */
	LC_TASK_PLACE_CALLERS_WAYS = 2
};

/* The hook that asks. */
enum lc_task_place_hook {
	LC_TASK_PLACE_CREATED = 0,
	LC_TASK_PLACE_SUBMITTED, /* the method that submits */
	LC_TASK_PLACE_CALLED     /* the caller of that method */
};

struct lc_task_place {
	struct lc_place place; /* key: lc_task_place_key() */
	uint32_t number;       /* created: the site; submitted: the path */
};

/* Callers of all depths share a key: hence so many ways. */
static const struct lc_place_kind lc_task_place_kind = {
	.entry_bytes = sizeof(struct lc_task_place), .ways = 64, .any_depth = true
};
LC_PLACE_KIND_FITS(struct lc_task_place, 64);

/* The meaning of a class word at its last look-up. */
struct lc_task_place_class {
	uint32_t word;
	uint32_t sequence; /* GC sequence: classes are unloaded only when it changes */
	const struct lc_task_class *class;
};

/* The caller of a hook. */
struct lc_task_place_caller {
	uint64_t address;
	uint32_t generation;
	bool own;
};

struct lc_task_places {
	struct lc_places table;
	struct lc_generated code;
	struct lc_task_place_class classes[LC_TASK_PLACE_CLASSES];
	/* By their addresses. Two ways: looking a caller up anew takes 1000 cycles. */
	struct lc_task_place_caller callers[LC_TASK_PLACE_CALLERS][LC_TASK_PLACE_CALLERS_WAYS];
	struct lc_task_place scratch; /* for an entry that cannot be kept */
};

/* Walks of stacks, failed walks, and stacks that were not walked. Context: any. */

/* Prepare. The agent's own methods (core/own.h) are not part of any place. Context: [attach]. */
void lc_task_places_init(const struct lc_task_config *config);

/* Context: [hook]; slow, once a thread. Returns 0 or -ENOMEM. */
int lc_task_places_create(struct lc_task_places **out);
void lc_task_places_destroy(struct lc_task_places *p);

/* The ways in which the caller may be known. */
static inline struct lc_task_place_caller *lc_task_place_callers(struct lc_task_places *p,
                                                                 uint64_t caller)
{
	return p->callers[(lc_hash(caller) >> 32) % LC_TASK_PLACE_CALLERS];
}

/* Is the address in the compiled code of a method of LocusSpan, or in unknown code? */
bool lc_task_place_is_own_slowly(struct lc_task_places *p, uint64_t caller);

static inline bool lc_task_place_is_own(struct lc_task_places *p, uint64_t caller)
{
	const struct lc_task_place_caller *known = lc_task_place_callers(p, caller);
	const uint32_t now = atomic_load_explicit(p->table.generation, memory_order_relaxed);

	for (unsigned way = 0; way < LC_TASK_PLACE_CALLERS_WAYS; way++)
		if (known[way].address == caller && known[way].generation == now)
			return known[way].own;
	return lc_task_place_is_own_slowly(p, caller);
}

/* The first word from `word` on that is an address in a compiled method; 0 if none is near. */
uint64_t lc_task_place_next(const uint64_t *word);

/* The current bytecode of an interpreted frame with this frame pointer; 0: none. */
static inline uint64_t lc_task_place_bytecode(uint64_t rbp, uint64_t above)
{
	if (rbp <= above + 64 || rbp - above > 65536 || rbp & 7)
		return 0;
	return *(const uint64_t *)(uintptr_t)(rbp - 64); /* NOLINT */
}

/*
 * The key of a task's hook, from the kind of hook, the class, and the two nearest Java callers.
 * `frame` is the address of the frame of a JNI method, which HotSpot's stub has called with its own
 * frame linked. If a method of LocusSpan is the caller, the next word that is an address in a
 * method is used. The key only selects the ways of the table.
 */
static inline uint64_t lc_task_place_key(struct lc_task_places *p, uint64_t frame,
                                         enum lc_task_place_hook hook, uint32_t class)
{
	uint64_t stub = *(const uint64_t *)(uintptr_t)frame, caller = 0, next = 0; /* NOLINT */

	if (stub > frame && stub - frame < 4096 && !(stub & 7)) {
		const uint64_t *link = (const uint64_t *)(uintptr_t)stub; /* NOLINT */

		caller = link[1];
		if (__builtin_expect(lc_generated_is_interpreter(&p->code, caller), 0)) {
			caller = lc_task_place_bytecode(link[0], stub);
			if (caller) {
				const uint64_t *outer =
				    (const uint64_t *)(uintptr_t)link[0]; /* NOLINT */

				next = outer[1];
				if (lc_generated_is_interpreter(&p->code, next))
					next = lc_task_place_bytecode(outer[0], link[0]);
			}
		} else if (lc_task_place_is_own(p, caller)) {
			next = lc_task_place_next(link + 2);
		}
	}
	return ((caller ^ next << 13 ^ next >> 7) << 8 ^ (uint64_t) class << 2 ^
	        (uint64_t)(unsigned)hook) |
	       UINT64_C(1) << 63;
}

/* The known place of the hook with this frame, or NULL. Context: [hook], owner. */
static inline const struct lc_task_place *
lc_task_place_find(struct lc_task_places *p, uint64_t frame, uint64_t key, uint64_t stack_end)
{
	return (const struct lc_task_place *)lc_places_find_again(&p->table, &lc_task_place_kind,
	                                                          frame, key, stack_end);
}

/*
 * Walk the stack of the hook with this frame (`at->frame`), for an object of `class`, and remember
 * the place. NULL if the credit for walks is used up. An entry that cannot be kept is valid until
 * the next call. Context: [hook], owner; slow.
 */
const struct lc_task_place *lc_task_place_learn(struct lc_task_places *p, JNIEnv *jni,
                                                struct lc_walker *walker,
                                                const struct lc_native_frame *at, uint64_t key,
                                                enum lc_task_place_hook hook, jobject object,
                                                const struct lc_task_class *class);

/* -- classes (task_class.c) ------------------------------------------------------------------ */

/* Learn whether classes may be unloaded at any time. Context: [attach]. */
void lc_task_classes_init(void);

/*
 * Let java.lang.LocusSpan know the state of the class's watch, which has changed: it calls no hook
 * for what is not recorded. Context: [hook]; slow.
 */
void lc_task_class_tell(JNIEnv *jni, const struct lc_task_class *class);

/* Slow path of lc_task_class_of(). */
const struct lc_task_class *lc_task_class_slowly(struct lc_task_place_class *known, JNIEnv *jni,
                                                 jobject object, uint32_t word);

/* The class of an object with this class word; NULL without room. Context: [hook], owner. */
static inline const struct lc_task_class *lc_task_class_of(struct lc_task_places *p, JNIEnv *jni,
                                                           jobject object, uint32_t word,
                                                           uint32_t gc_sequence)
{
	struct lc_task_place_class *known = &p->classes[(word ^ word >> 6) % LC_TASK_PLACE_CLASSES];

	if (__builtin_expect(
	        known->word == word && known->sequence == gc_sequence && known->class != NULL, 1))
		return known->class;
	return lc_task_class_slowly(known, jni, object, word);
}

#endif
