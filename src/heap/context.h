/*
 * heap/context.h - recognises the contexts that a thread has allocated in, and knows their
 * counters.
 *
 * A context is a place (stack/place.h) whose key is the bytecode that allocated, and the class
 * where the bytecode does not tell it. Its words are guessed, which is cheaper than a walk from
 * frame to frame.
 */
#ifndef LC_HEAP_CONTEXT_H
#define LC_HEAP_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "src/heap/site_counters.h"
#include "src/stack/place.h"

struct lc_context {
	struct lc_place place;
	uint32_t site; /* 0: allocations in this context are not recorded */
	struct lc_site_counter *counter;
};

/* The last record that a later hook may report again, see hook.c. Owner thread only. */
struct lc_last_record {
	uint64_t tagged_addr;
	uint64_t position; /* of the thread's allocation log, behind the record */
	uint32_t size_words;
};

/* What a thread keeps for its allocation hooks. */
struct lc_contexts {
	struct lc_places places;
	struct lc_site_counters counters;
	struct lc_last_record last;
	_Atomic uint64_t walks; /* contexts learnt, each by a walk; written by: owner thread */
};

/* Returns 0 and sets *out, or -ENOMEM. Context: [attach] [java]. */
int lc_contexts_create(struct lc_contexts **out);

/* NULL is fine. Context: [writer], when the thread has ended. */
void lc_contexts_destroy(struct lc_contexts *c);

/*
 * The known context of this hook, or NULL. `frame` is the hook's own frame address.
 * Context: [hook], owner thread.
 */
struct lc_context *lc_contexts_find(const struct lc_contexts *c, uint64_t frame,
                                    uint32_t bytecode_site, uint32_t class_key);

/*
 * Remember that this context allocates at `site` (0: do not record). `stack_end` is the end of the
 * thread's stack. Returns the entry, or NULL without memory. Context: [hook], owner thread; slow.
 */
struct lc_context *lc_contexts_learn(struct lc_contexts *c, uint64_t frame, uint64_t stack_end,
                                     uint32_t bytecode_site, uint32_t class_key, uint32_t site);

/* Contexts learnt: stack walks made for them. Context: [writer]. */
uint64_t lc_contexts_walks(const struct lc_contexts *c);

#endif
