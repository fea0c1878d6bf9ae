/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_virtual.h - follows virtual threads in a heap walk.
 *
 * The JVM reports the stack of a virtual thread when it visits the thread. JDK 21 and later crash
 * at one whose constructor has not set its continuation yet: they read through the field. So the
 * walk reads the field first, and does not visit such a thread. It has no stack, and its
 * constructor's thread holds what it is made of.
 *
 * A stack takes 20 us of CPU time and 1.5 us for each frame (JDK 21 and 25), so a walk visits only
 * so many virtual threads that they take about half of its time.
 */
#ifndef LC_AGENT_HOLDER_VIRTUAL_H
#define LC_AGENT_HOLDER_VIRTUAL_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_holder_reference;

struct lc_holder_virtual {
	uint32_t class;  /* number of java.lang.VirtualThread; 0: it is not loaded */
	uint64_t offset; /* of the continuation in a thread; 0: unknown, so none is visited */
	uint32_t reference_bytes; /* 4 or 8 */
	bool visiting;            /* the JVM has reported all roots, and visits objects */
	uint64_t left;            /* of the virtual threads that a walk may visit */
	uint64_t not_followed;    /* virtual threads, but for those that are being made */
};

/*
 * Find the continuation's field in java.lang.VirtualThread, which is class number `number` and is
 * loaded. Context: a thread of ours that is attached; it runs Java code.
 */
struct lc_holder_virtual lc_holder_virtual_find(JNIEnv *jni, jclass class, uint32_t number);

/* A walk begins that stops the program for at most `pause_ns`. Context: as above. */
void lc_holder_virtual_begin(struct lc_holder_virtual *v, uint64_t pause_ns);

/*
 * Local variables that the JVM reports after the roots are those of a virtual thread that it
 * visits; among the roots, a mounted virtual thread is another root. Set r->kind by that.
 * Context: the VM thread in the walk.
 */
void lc_holder_virtual_set_kind(struct lc_holder_virtual *v, struct lc_holder_reference *r,
                                bool is_root);

/* May the JVM visit the object, of whatever class, which is new to the walk? Context: as above. */
bool lc_holder_virtual_visits(struct lc_holder_virtual *v, const struct lc_holder_reference *r);

#endif
