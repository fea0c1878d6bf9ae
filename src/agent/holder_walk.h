/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_walk.h - walks the heap once, and keeps for each object a reference that leads to it
 * (agent/holder_table.h).
 *
 * The JVM stops the program during the walk. The walk keeps 16 bytes for each object that may hold
 * others, and tells objects apart by their addresses (agent/holder_place.h). Only class objects,
 * the calling thread and targets without an address have tags, which are removed one by one after
 * the walk. The tags belong to Locus's JVMTI environment, which uses no others, so tags of other
 * agents stay. A tag names its walk, so a tag that was left behind means nothing to the next walk.
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
#include "src/agent/holder_virtual.h"

enum {
	LC_HOLDER_METHODS = 4096, /* of roots; a power of two */
	LC_HOLDER_WALK_LINE_MAX = 128,
};

struct lc_holder_walk {
	struct lc_holder_table table;
	struct lc_holder_targets targets; /* objects that the walk looks for; may be empty */
	uint32_t sequence; /* lc_epoch_gc_sequence() of the targets' addresses; 0: no addresses */
	bool moved;        /* a collection came before the walk, which has not begun */
	struct lc_holder_place place;
	jvmtiEnv *jvmti;
	JNIEnv *jni;
	jclass *loaded; /* class number n is loaded[n - 1] */
	jthread thread; /* the calling thread */
	struct lc_holder_virtual virtual_threads;
	jmethodID methods[LC_HOLDER_METHODS];
	uint64_t used_bytes; /* of the heap, before the walk */
	uint64_t pause_ns, references, deadline_ns, ns;
	uint64_t referrer_address; /* of the last reference from an object that is no class */
	uint32_t referrer;         /* its number */
	const char *stopped;       /* the option that has ended the walk; NULL: none */
	bool begun;                /* lc_holder_walk_end() lets the next walk begin */
	bool lost;                 /* an object was not where the callbacks have it */
	char error[640];
};

/*
 * Prepare a walk that stops the program for at most `pause_ns` and takes at most `bytes` of memory;
 * 0 bytes: what is left of the recording's. `w` is zero. Returns false with a reason in w->error if
 * the walk cannot be kept that short, or cannot be done. Call lc_holder_walk_end() in either case.
 */
bool lc_holder_walk_begin(struct lc_holder_walk *w, JavaVM *vm, JNIEnv *jni, uint64_t pause_ns,
                          uint64_t bytes);

/*
 * Have the table keep samples of the objects of classes that match the pattern; "": of all classes;
 * NULL: of none. Strings, boxes and arrays of numbers are not counted unless they match. `bytes`:
 * targets are arrays of bytes, so the walk also keeps references from strings.
 */
void lc_holder_walk_want(struct lc_holder_walk *w, const char *pattern, bool bytes);

/*
 * Choose the targets of a walk: set w->targets and w->sequence. Returns false with a reason in
 * w->error if there is nothing to look for. The walk deletes the targets' local references.
 */
typedef bool lc_holder_walk_choose(void *context, struct lc_holder_walk *w);

/*
 * Walk the heap. `choose` is called before the walk, and again if a collection comes between the
 * two; NULL: there are no targets. Returns false with a reason in w->error if the table cannot be
 * read.
 */
bool lc_holder_walk_run(struct lc_holder_walk *w, lc_holder_walk_choose *choose, void *context);

/*
 * Write the walk's line of the answer (agent/holders.h): its time, and the sums over all classes.
 */
void lc_holder_walk_line(const struct lc_holder_walk *w, char line[LC_HOLDER_WALK_LINE_MAX]);

/* Names for the texts of chains. They have no control characters. */
struct lc_holder_names lc_holder_walk_names(struct lc_holder_walk *w);

/* Free what the walk holds, and let the next walk begin. */
void lc_holder_walk_end(struct lc_holder_walk *w);

#endif
