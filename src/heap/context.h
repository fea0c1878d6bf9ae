/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/context.h - recognises the contexts that a thread has allocated in, and finds their
 * counters.
 *
 * A context is a call path, the bytecode that allocated, and the class if the bytecode does not
 * tell it. The thread's shadow (stack/shadow.h) tells call paths apart exactly. If the shadow
 * cannot read the innermost frame, each context is walked to by the JVM.
 */
#ifndef LC_HEAP_CONTEXT_H
#define LC_HEAP_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/heap/recent.h"
#include "src/heap/site_counters.h"
#include "src/stack/common_tree.h"
#include "src/stack/shadow.h"

struct lc_walker;

/* The last record that a later hook may report again, see hook.c. Owner thread only. */
struct lc_last_record {
	uint64_t tagged_addr;
	uint64_t position; /* of the thread's allocation log, behind the record */
	uint32_t size_words;
};

/* A class's key, by the address of the class's mirror; valid for one GC sequence. */
struct lc_known_class {
	uint64_t mirror;
	uint32_t sequence; /* of collections */
	uint32_t key;      /* for lc_context_hook.class_key; 0: nothing is known */
};

enum { LC_KNOWN_CLASSES = 16 };

/* A thread's data for its allocation hooks. */
struct lc_contexts {
	struct lc_shadow *shadow; /* NULL: not needed yet, or the JVM does not tell enough */
	const struct lc_shadow_last *near; /* of the shadow; never NULL */
	struct lc_site_counters counters;
	struct lc_last_record last;
	struct lc_recent recent;
	struct lc_known_class classes[LC_KNOWN_CLASSES]; /* by mirror */
	_Atomic uint64_t walks; /* the shadow's and the JVM's; written by: owner thread */
	_Atomic uint64_t
	    looked; /* frames that the shadow has looked at; written by: owner thread */
};

/* Returns 0 and sets *out, or -ENOMEM. Context: [attach] [java]. */
int lc_contexts_create(struct lc_contexts **out);

/* NULL is fine. Context: [writer], when the thread has ended. */
void lc_contexts_destroy(struct lc_contexts *c);

/*
 * The thread's shadow, made when it is first needed; NULL without memory, or where the JVM does not
 * tell enough. Context: [hook] [java], owner.
 */
struct lc_shadow *lc_contexts_shadow(struct lc_contexts *c, struct lc_walker *walker);

/*
 * The thread's paths begin below the node `root` (core/thread.h) from now on: contexts of other
 * roots are other contexts. Context: [java], owner, in no hook.
 */
void lc_contexts_set_root(struct lc_contexts *c, struct lc_walker *walker, uint32_t root);

/* The hook that asks: where it is, and what allocated. */
struct lc_context_hook {
	uint64_t frame; /* of the native method: __builtin_frame_address(0) */
	uint32_t bytecode_site;
	uint32_t class_key; /* 0 where the bytecode tells the class */
};

/*
 * A note of the shadow's: allocations of this context are not recorded, or (with the site above
 * these bits) are counted by heap/common_counters.h. Else it is a counter. The path of a note may
 * be cut for lack of credit, and is looked for again when there is some.
 */
enum {
	LC_CONTEXT_UNWANTED = 1,
	LC_CONTEXT_COMMON = 2,
	LC_CONTEXT_CUT = 4,
	LC_CONTEXT_NOTE_BITS = 3
};

static inline uint64_t lc_context_key(const struct lc_context_hook *h)
{
	return (uint64_t)h->bytecode_site << 32 | h->class_key;
}

/*
 * The note of the context if that is one of the thread's last ones; 0 where it must be looked up.
 * Context: [hook], owner.
 */
static inline __attribute__((always_inline)) uint64_t
lc_contexts_again(const struct lc_contexts *c, const struct lc_context_hook *h)
{
	return lc_shadow_again(c->near, h->frame, lc_context_key(h));
}

/* The counter in a note; NULL: allocations are not recorded. */
static inline struct lc_site_counter *lc_context_counter(uint64_t note)
{
	return note == LC_CONTEXT_UNWANTED ? NULL
	                                   : (struct lc_site_counter *)(uintptr_t)note; /* NOLINT */
}

/* The result of a look-up of a context. */
struct lc_context_look {
	bool known;
	struct lc_site_counter *counter; /* NULL: do not record; or it is not known */
	uint32_t
	    common;    /* the site, if all threads share its counter, and `counter` is NULL; or 0 */
	uint32_t node; /* of the walker's shadow; 0: it tells no path */
	uint64_t *note; /* where the shadow notes it; NULL without a node */
	struct lc_common_walk
	    beyond; /* where the shadow has no room for a node; else its `len` is 0 */
};

/*
 * Look a context up. With `exact` it is not known where it cannot be told exactly.
 * Context: [hook], owner thread.
 */
struct lc_context_look lc_contexts_look(struct lc_contexts *c, struct lc_walker *walker,
                                        const struct lc_context_hook *h, bool exact);

/*
 * Remember that this context, which was not known, allocates at `site` (0: do not record). Returns
 * its counter; NULL without room, or if it is not to be recorded. Context: [hook], owner thread;
 * slow.
 */
struct lc_site_counter *lc_contexts_learn(struct lc_contexts *c, struct lc_walker *walker,
                                          const struct lc_context_hook *h,
                                          const struct lc_context_look *look, uint32_t site);

/* Contexts that were looked up by a walk, the shadow's or the JVM's. Context: [writer]. */
uint64_t lc_contexts_walks(const struct lc_contexts *c);

/* Frames that the shadow's walks have looked at. Context: [writer]. */
uint64_t lc_contexts_looked(const struct lc_contexts *c);

#endif
