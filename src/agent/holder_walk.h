/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_walk.h - walks the heap once, and keeps for each object a reference that leads to it
 * (agent/holder_table.h).
 *
 * The JVM stops the program during the walk, which keeps 16 bytes for each object that may hold
 * others. Objects are told apart by their addresses (agent/holder_place.h). Only class objects, the
 * calling thread and targets without an address have tags, which are removed one by one after the
 * walk. The tags belong to
 * Locus's JVMTI environment, which uses none otherwise: tags of other agents stay. A tag names its
 * walk, so one that was left behind means nothing to the next walk.
 *
 * Context: a thread of ours that is attached. A second walk at the same time is refused.
 */
#ifndef LC_AGENT_HOLDER_WALK_H
#define LC_AGENT_HOLDER_WALK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/agent/holder_chain.h"
#include "src/agent/holder_place.h"
#include "src/agent/holder_table.h"
#include "src/agent/holder_targets.h"

enum { LC_HOLDER_METHODS = 4096 }; /* of roots; a power of two */

struct lc_holder_walk {
	struct lc_holder_table table;
	struct lc_holder_targets targets; /* empty, or what is looked for by address */
	uint32_t sequence;                /* lc_epoch_gc_sequence() of their addresses; 0: none */
	bool moved;                       /* the walk has not begun: it was another one */
	struct lc_holder_place place;
	jvmtiEnv *jvmti;
	JNIEnv *jni;
	jclass *loaded; /* class number n is loaded[n - 1] */
	jthread thread; /* this one */
	jmethodID methods[LC_HOLDER_METHODS];
	uint64_t used_bytes; /* of the heap, before the walk */
	uint64_t pause_ns, references, deadline_ns, ns;
	uint64_t referrer_address; /* of the last reference from an object that is no class */
	uint32_t referrer;         /* its number */
	const char *stopped;       /* the option that has ended the walk; NULL: none */
	bool begun;                /* no other walk may begin */
	bool lost;                 /* an object was not where the callbacks have it */
	char error[640];
};

/*
 * Prepare a walk that stops the program for `pause_ns` at most and takes so many bytes of memory;
 * 0: what is left of the recording's. `w` is zero. Returns false, and w->error says why, if the
 * walk cannot be kept that short, or not be done. End the walk in either case.
 */
bool lc_holder_walk_begin(struct lc_holder_walk *w, JavaVM *vm, JNIEnv *jni, uint64_t pause_ns,
                          uint64_t bytes);

/*
 * Have the table keep samples of objects of the classes that match; "": of all; NULL: of none.
 * Strings, boxes and arrays of numbers are not counted unless they match. `bytes`: arrays of bytes
 * are looked for by address, so references from strings matter.
 */
void lc_holder_walk_want(struct lc_holder_walk *w, const char *pattern, bool bytes);

/*
 * Walk. If not NULL, `choose` sets the targets, whose local references the walk deletes, and the
 * sequence of their addresses; it is called
 * again if a collection comes before the walk. If it returns false, and w->error says why, there is
 * no walk. Returns false, and w->error says why, if there is
 * nothing to be read from the table.
 */
typedef bool lc_holder_walk_choose(void *context, struct lc_holder_walk *w);
bool lc_holder_walk_run(struct lc_holder_walk *w, lc_holder_walk_choose *choose, void *context);

/* Names for the texts of chains. They have no control characters. */
struct lc_holder_names lc_holder_walk_names(struct lc_holder_walk *w);

void lc_holder_walk_end(struct lc_holder_walk *w);

#endif
