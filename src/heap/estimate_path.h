/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/estimate_path.h - finds the site of a sampled allocation.
 *
 * The thread's shadow walks the stack, from the frame at which the thread left Java code. If the
 * shadow cannot read the stack, the JVM walks it. The shadow notes the site beside the path, so a
 * known site costs only the walk.
 */
#ifndef LC_HEAP_ESTIMATE_PATH_H
#define LC_HEAP_ESTIMATE_PATH_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_thread;

/* The class of a sampled object. */
struct lc_estimate_kind {
	uint64_t word; /* of its objects' headers; 0: unknown */
	uint32_t site; /* that stands for the class */
	jclass class;
	const char *signature; /* if there is no class */
};

/*
 * The site of an object of that class, which the calling thread `t` is allocating, with at most
 * `depth` frames of its path; 0: none. Also of a block that native code allocates, whose kind has a
 * signature; the thread is then in native code that Java code has called.
 * Context: [java], in the event, or in that native code.
 */
uint32_t lc_estimate_path_site(JNIEnv *jni, struct lc_thread *t,
                               const struct lc_estimate_kind *kind, uint32_t depth);

/*
 * Has the allocation of this large object, of class `class`, no hook unless --exact is given? There
 * are two kinds. A class of lc_internal_class() allocates the first. Compiled code allocates the
 * second: the array of a string that it makes in place of a StringBuilder's calls. C2 gives that
 * allocation the state of the builder's `new`, at which no other array is allocated. Context:
 * [java], in the event.
 *
 * Source: PhaseStringOpts::replace_string_concat() in HotSpot's stringopts.cpp.
 */
bool lc_estimate_path_unhooked(jvmtiEnv *jvmti, jclass class);

/* Compare each walk with the JVM's own. Context: [attach]. */
void lc_estimate_path_audit(void);

#endif
