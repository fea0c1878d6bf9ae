/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/alloc_path.h - finds the site of an allocation by walking the stack, where no context is
 * known.
 */
#ifndef LC_HEAP_ALLOC_PATH_H
#define LC_HEAP_ALLOC_PATH_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/time.h"
#include "src/core/epoch.h"
#include "src/core/record.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/handle.h"

struct lc_walker;

/* How a hook came to its object. */
enum lc_alloc_origin {
	LC_ORIGIN_BYTECODE,    /* the bytecode before the hook allocated it */
	LC_ORIGIN_CALL,        /* a native method, or an intrinsic that the JIT replaced */
	LC_ORIGIN_CONSTRUCTOR, /* a large object: a constructor of it returns, or it was cloned */
};

/*
 * Prepare to walk at most `depth` frames for objects of at least `min_size_bytes`. Returns 0 or
 * -errno. Context: [attach]; lc_path_init() first.
 */
int lc_alloc_path_init(uint32_t depth, uint64_t min_size_bytes);

/*
 * In place of a node: the frames of the shadow's last walk, for which there is no node
 * (lc_shadow_beyond()).
 */
#define LC_ALLOC_PATH_BEYOND UINT32_MAX

/*
 * The allocation path of the running hook, at `node` of the thread's shadow, which the last walk
 * has led to, or where the JVM says that the thread is if `node` is 0, or is open and the thread
 * has credit. Without credit the path is cut to the nearest frames, and walker->cut says so. Else
 * its own frames are cut; of an object's constructors the
 * path begins at the caller of the outermost, where `new` stands; an intrinsic is the leaf,
 * without a line, whether it ran or was replaced, so that both make one site. Returns the node; 0
 * where the stack cannot be walked. Context: [hook].
 */
uint32_t lc_alloc_path_walk(JNIEnv *jni, struct lc_walker *walker, uint32_t node,
                            uint32_t bytecode_site, enum lc_alloc_origin origin);

/* The site of `o`, by its class and the path; 0 where it has none. Context: [hook]. */
uint32_t lc_alloc_path_site(JNIEnv *jni, struct lc_walker *walker, uint32_t node, jobject o,
                            uint32_t bytecode_site, enum lc_alloc_origin origin);

/*
 * Constructors run from Object's downwards, and each large class of a hierarchy has its own hook.
 * The first of them records the object: is it the running one? Its frame is the first below the
 * agent's, and it is the first if its superclass alone is not large yet. Context: [hook].
 */
bool lc_alloc_path_first(JNIEnv *jni);

/*
 * The site of `o` if this hook is to record it: of a constructor's hook, *wanted says so. 0 where
 * it is not wanted, or has none. Context: [hook].
 */
uint32_t lc_alloc_path_recorded(JNIEnv *jni, struct lc_walker *walker, uint32_t node, jobject o,
                                uint32_t bytecode_site, enum lc_alloc_origin origin, bool *wanted);

/*
 * The class word in the header of `o`; 0 when collections keep getting in between. A system call.
 * Context: [hook].
 */
uint64_t lc_alloc_path_class_word(JNIEnv *jni, jobject o);

/*
 * Have the JVM bring the calling thread's references up to date: a call into the JVM returns only
 * when no pause is under way, and none that has ended is left to be made up for.
 */
static inline void lc_alloc_renew(JNIEnv *jni, jobject o)
{
	jclass class = (*jni)->GetObjectClass(jni, o);

	(*jni)->DeleteLocalRef(jni, class);
}

/* Wait while a collection may be moving objects; returns the even sequence. */
static inline uint32_t lc_alloc_still_sequence(JNIEnv *jni, jobject o)
{
	uint32_t s;

	while (lc_epoch_gc_sequence_moving(s = lc_epoch_gc_sequence()))
		lc_alloc_renew(jni, o);
	return s;
}

struct lc_alloc_place {
	uint64_t addr; /* plain */
	uint64_t time_ns;
};

/*
 * The address of `o` and its time, with concurrent collectors. With ZGC, a thread in native code
 * keeps old references from a pause on until it calls the JVM or returns. A thread that was stopped
 * may hold an address that the object has left and others use. So if there was a pause since the
 * thread's last call, this calls the JVM. `renewed` is the sequence of the last call, one for each
 * thread, 0 at first.
 */
static inline struct lc_alloc_place lc_alloc_place(JNIEnv *jni, jobject o, uint32_t *renewed)
{
	struct lc_alloc_place place;
	uint32_t s;

	do {
		s = lc_alloc_still_sequence(jni, o);
		if (__builtin_expect(s != *renewed, 0))
			lc_alloc_renew(jni, o);
		*renewed = s;
		place.addr = lc_ranges_plain(lc_handle_address(o));
		place.time_ns = lc_time_now_ns();
	} while (__builtin_expect(lc_epoch_gc_sequence() != s, 0));
	return place;
}

static inline uint64_t lc_alloc_tagged_address(jobject o, uint32_t sequence)
{
	return lc_handle_address(o) | (uint64_t)(sequence >> 1) << LC_ADDR_BITS;
}

#endif
