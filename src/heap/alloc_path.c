/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/alloc_path.c - walks the stack for the allocation path, and interns the site.
 *
 * A method that the JIT replaces (an intrinsic of classfile/rewrite.h) is in no stack then,
 * so each has an entry of its own among the methods of paths.
 */
#include "src/heap/alloc_path.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/classfile/rewrite.h"
#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/method_number.h"
#include "src/core/own.h"
#include "src/core/own_work.h"
#include "src/core/path.h"
#include "src/core/version.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/instance.h"
#include "src/jvm/layout/layout.h"
#include "src/stack/shadow.h"
#include "src/stack/walker.h"

/* Frames of ours on top of the stack, and a margin for constructor chains, which are cut. */
enum { EXTRA_FRAMES = 24, INTRINSIC_FRAMES = 8, CLASS_NAME_MAX = 64 };

/* Without credit, paths of more than CUT_FROM frames are cut to CUT_FRAMES, which recur. */
enum { CUT_FROM = 16, CUT_FRAMES = 4 };

/* The method number of intrinsic `i` for lc_path_define(). */
#define INTRINSIC_ID(i) (UINT64_C(1) + (i))

/* Set by lc_alloc_path_init(), but for `errors`. */
static struct {
	char intrinsic_classes[LC_INTRINSICS][CLASS_NAME_MAX]; /* with dots */
	uint32_t depth;
	uint64_t min_size_bytes;
	_Atomic uint64_t errors; /* a count */
	_Atomic uint64_t asked;  /* a count: walks of the JVM's */
} paths;

/* An intrinsic's class as lc_method has it: with dots. */
static void dotted(const char *internal, char *out, size_t out_len)
{
	snprintf(out, out_len, "%s", internal);
	for (char *c = out; *c; c++)
		if (*c == '/')
			*c = '.';
}

/* The intrinsics as methods of their own, since a replaced one is in no stack. */
static int define_intrinsics(void)
{
	int err = 0;

	for (unsigned i = 0; !err && i < LC_INTRINSICS; i++) {
		const struct lc_intrinsic *x = lc_rewrite_intrinsic(i);

		dotted(x->class_name, paths.intrinsic_classes[i], CLASS_NAME_MAX);
		err = lc_path_define(INTRINSIC_ID(i), paths.intrinsic_classes[i], x->name,
		                     x->descriptor);
	}
	return err;
}

int lc_alloc_path_init(uint32_t depth, uint64_t min_size_bytes)
{
	paths.depth = depth;
	paths.min_size_bytes = min_size_bytes;
	return define_intrinsics();
}

/* Frames of walks hold IDs of versions (core/version.h) in place of jmethodIDs. */
static uint64_t version_of(const jvmtiFrameInfo *frame)
{
	return (uint64_t)(uintptr_t)frame->method;
}

/* The frames that JVMTI has given, as frames of walks. */
static void keep_versions(jvmtiFrameInfo *frames, jint len)
{
	for (jint i = 0; i < len; i++)
		frames[i].method =
		    (jmethodID)(uintptr_t)lc_version_asked(/* NOLINT */
		                                           lc_method_number(frames[i].method));
}

static jmethodID method_of(const jvmtiFrameInfo *frame)
{
	return lc_method_number_id(lc_version_method(version_of(frame)));
}

static bool is_own(const jvmtiFrameInfo *frame)
{
	return lc_own_number(lc_version_method(version_of(frame)));
}

/* Number of the intrinsic that this method is, or -1. */
static int intrinsic_number(JNIEnv *jni, const jvmtiFrameInfo *frame)
{
	const struct lc_method *m = lc_path_version(jni, version_of(frame));

	for (unsigned i = 0; m && i < LC_INTRINSICS; i++) {
		const struct lc_intrinsic *x = lc_rewrite_intrinsic(i);

		if (!strcmp(m->class_name, paths.intrinsic_classes[i]) &&
		    !strcmp(m->name, x->name) && !strcmp(m->signature, x->descriptor))
			return (int)i;
	}
	return -1;
}

static bool is_constructor(JNIEnv *jni, const jvmtiFrameInfo *frame)
{
	const struct lc_method *m = lc_path_version(jni, version_of(frame));

	return m && !strcmp(m->name, "<init>");
}

/* Is frame `i` a constructor that frame `i + 1` calls for the same object? */
static bool constructor_chain(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len, jint i)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jclass inner = NULL, outer = NULL;
	bool chain = false;

	if (i + 1 >= len || !is_constructor(jni, &frames[i + 1]))
		return false;
	if (!(*jvmti)->GetMethodDeclaringClass(jvmti, method_of(&frames[i]), &inner) &&
	    !(*jvmti)->GetMethodDeclaringClass(jvmti, method_of(&frames[i + 1]), &outer)) {
		jclass super = (*jni)->GetSuperclass(jni, outer);

		chain = (*jni)->IsSameObject(jni, inner, outer) ||
		        (super && (*jni)->IsSameObject(jni, inner, super));
		if (super)
			(*jni)->DeleteLocalRef(jni, super);
	}
	if (inner)
		(*jni)->DeleteLocalRef(jni, inner);
	if (outer)
		(*jni)->DeleteLocalRef(jni, outer);
	return chain;
}

/* The nearest `cap` frames, by the shadow; `packed` has room for as many. Returns how many. */
static jint shadow_frames(const struct lc_walker *walker, uint32_t node, jvmtiFrameInfo *frames,
                          uint64_t *packed, jint cap)
{
	const size_t len = node == LC_ALLOC_PATH_BEYOND
	                       ? lc_shadow_beyond_frames(walker->shadow, packed, (size_t)cap)
	                       : lc_shadow_frames(walker->shadow, node, packed, (size_t)cap);

	for (size_t i = 0; i < len; i++) {
		const uint64_t bci = packed[i] >> LC_ADDR_BITS;

		frames[i] = (jvmtiFrameInfo){
			.method = (jmethodID)(uintptr_t)(packed[i] & LC_ADDR_MASK), /* NOLINT */
			.location = bci == LC_BCI_NONE ? -1 : (jlocation)bci,
		};
	}
	return (jint)len;
}

struct walked {
	jvmtiFrameInfo *frames; /* innermost first */
	uint64_t *packed;       /* room for as many, and two more */
	jint len, cap;
	bool open; /* the callers of the last frame are not known */
};

/* Room for `cap` frames; those that are there stay. Returns false without memory. */
static bool have_room(struct lc_walker *walker, jint cap, struct walked *out)
{
	out->frames = lc_walker_scratch(walker, LC_WALKER_FRAMES,
	                                (size_t)cap * (sizeof(*out->frames) + sizeof(uint64_t)) +
	                                    2 * sizeof(uint64_t));
	if (!out->frames) {
		(void)lc_limit_note("paths_lost",
		                    "there was no memory to walk some stacks: their call paths are "
		                    "empty");
		return false;
	}
	out->packed = (uint64_t *)(out->frames + cap);
	out->cap = cap;
	return true;
}

/* The frames that the shadow knows. An open path ends with a frame that stands for the others. */
static void ask_shadow(const struct lc_walker *walker, uint32_t node, struct walked *out)
{
	out->len = shadow_frames(walker, node, out->frames, out->packed, out->cap);
	out->open = out->len && (uintptr_t)out->frames[out->len - 1].method == LC_PATH_CUT;
	out->len -= out->open;
}

/* The frames that the JVM tells. Returns 0, or what lc_walker_ask() returns. */
static int ask_jvm(struct lc_walker *walker, struct walked *out)
{
	const int err = lc_walker_ask(walker, out->cap, out->frames, &out->len);

	if (!err)
		keep_versions(out->frames, out->len);
	return err;
}

/*
 * The frames of the JVM's walk: the nearest `few`, and where there are more and credit is left,
 * LC_FRAMES_MAX. Returns false where it cannot walk.
 */
static bool find_by_jvm(struct lc_walker *walker, jint few, struct walked *out)
{
	const int err = ask_jvm(walker, out);

	atomic_fetch_add_explicit(&paths.asked, err != -EAGAIN, memory_order_relaxed);
	out->open = err == -EAGAIN;
	if (err)
		return err == -EAGAIN;
	if (out->len < few)
		return true;
	return have_room(walker, LC_FRAMES_MAX, out) && ask_jvm(walker, out) != -EIO;
}

/* All frames that can be told, since recursion may fold to a few. Returns whether any could. */
static bool find_frames(struct lc_walker *walker, uint32_t node, struct walked *out)
{
	const jint few = (jint)paths.depth * 2 + EXTRA_FRAMES;
	const bool unknown = node && lc_shadow_unknown(walker->shadow);

	if (!have_room(walker, few, out))
		return false;
	if (!node || (unknown && lc_walk_credit_left(&walker->credit))) {
		if (unknown)
			lc_shadow_try_again(walker->shadow);
		return find_by_jvm(walker, few, out);
	}
	ask_shadow(walker, node, out);
	if (out->len < few || !lc_walk_credit_left(&walker->credit))
		return true;
	if (!have_room(walker, LC_FRAMES_MAX, out))
		return false;
	ask_shadow(walker, node, out);
	return true;
}

/* The index of the first frame of the path; *intrinsic: the method that is its leaf, or -1. */
static jint first_frame(JNIEnv *jni, const struct walked *w, enum lc_alloc_origin origin,
                        int *intrinsic)
{
	const jvmtiFrameInfo *frames = w->frames;
	jint from = 0;

	while (from < w->len && is_own(&frames[from]))
		from++;
	if (origin == LC_ORIGIN_CONSTRUCTOR && from < w->len &&
	    is_constructor(jni, &frames[from])) {
		while (constructor_chain(jni, frames, w->len, from))
			from++;
		from++;
	}
	for (jint i = from, nearest = from; i < w->len && i < nearest + INTRINSIC_FRAMES; i++) {
		int ran = intrinsic_number(jni, &frames[i]);

		if (ran >= 0) {
			from = i + 1;
			*intrinsic = ran;
		}
	}
	return from;
}

static uint32_t walk(JNIEnv *jni, struct lc_walker *walker, uint32_t node, uint32_t bytecode_site,
                     enum lc_alloc_origin origin)
{
	const bool spent = !lc_walk_credit_left(&walker->credit);
	struct walked w = { 0 };
	size_t packed_len = 0;
	int intrinsic = -1;
	jint from, end;

	walker->credit.named = true;
	if (!find_frames(walker, node, &w)) {
		atomic_fetch_add_explicit(&paths.errors, 1, memory_order_relaxed);
		return 0;
	}
	if (bytecode_site & LC_SITE_AFTER_CALL)
		intrinsic = (int)LC_SITE_INTRINSIC(bytecode_site);
	from = first_frame(jni, &w, origin, &intrinsic);
	end = spent && w.len - from > CUT_FROM ? from + CUT_FRAMES : w.len;
	w.open |= end < w.len;
	walker->cut = w.open && (spent || !node || !lc_shadow_unknown(walker->shadow));
	if (intrinsic >= 0)
		w.packed[packed_len++] =
		    lc_frame_pack((const void *)(uintptr_t)INTRINSIC_ID((unsigned)intrinsic), -1);
	for (jint i = from; i < end; i++)
		w.packed[packed_len++] =
		    lc_frame_pack(w.frames[i].method, (int)w.frames[i].location);
	if (w.open) {
		w.packed[packed_len++] = lc_frame_pack((const void *)(uintptr_t)LC_PATH_CUT, -1);
		lc_walk_credit_cut();
	}
	return lc_path_intern_nearest(jni, walker->root, w.packed, packed_len, paths.depth);
}

uint32_t lc_alloc_path_walk(JNIEnv *jni, struct lc_walker *walker, uint32_t node,
                            uint32_t bytecode_site, enum lc_alloc_origin origin)
{
	struct lc_own_work work;
	uint32_t path;

	lc_own_work_begin(&work);
	path = walk(jni, walker, node, bytecode_site, origin);
	lc_own_work_end(&work);
	return path;
}

bool lc_alloc_path_first(JNIEnv *jni)
{
	jvmtiFrameInfo frames[4];
	jclass holder = NULL, super;
	jint len = 0, at = 0;
	bool first = true;

	if ((*lc_jvmti())->GetStackTrace(lc_jvmti(), NULL, 0, 4, frames, &len))
		return true;
	keep_versions(frames, len);
	while (at < len && is_own(&frames[at]))
		at++;
	if (at == len || !is_constructor(jni, &frames[at]) || /* a clone */
	    (*lc_jvmti())->GetMethodDeclaringClass(lc_jvmti(), method_of(&frames[at]), &holder))
		return true;
	super = (*jni)->GetSuperclass(jni, holder);
	if (super) {
		first = lc_instance_bytes(jni, super) < paths.min_size_bytes;
		(*jni)->DeleteLocalRef(jni, super);
	}
	(*jni)->DeleteLocalRef(jni, holder);
	return first;
}

uint64_t lc_alloc_path_class_word(JNIEnv *jni, jobject o)
{
	for (unsigned attempt = 0; attempt < 8; attempt++) {
		const uint32_t s = lc_alloc_still_sequence(jni, o);
		struct lc_header h;
		uint64_t addr;

		lc_alloc_renew(jni, o); /* as lc_alloc_place() */
		addr = lc_handle_address(o);
		if (!lc_header_read(lc_layout(), addr, &h) && lc_epoch_gc_sequence() == s)
			return h.class_word;
	}
	return 0;
}

uint32_t lc_alloc_path_site(JNIEnv *jni, struct lc_walker *walker, uint32_t node, jobject o,
                            uint32_t bytecode_site, enum lc_alloc_origin origin)
{
	jclass class = (*jni)->GetObjectClass(jni, o);
	char *signature = NULL;
	uint32_t site = 0;

	if (class && !(*lc_jvmti())->GetClassSignature(lc_jvmti(), class, &signature, NULL)) {
		site = lc_site_intern(signature, lc_alloc_path_class_word(jni, o),
		                      lc_alloc_path_walk(jni, walker, node, bytecode_site, origin));
		(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	}
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return site;
}

uint32_t lc_alloc_path_recorded(JNIEnv *jni, struct lc_walker *walker, uint32_t node, jobject o,
                                uint32_t bytecode_site, enum lc_alloc_origin origin, bool *wanted)
{
	*wanted = origin != LC_ORIGIN_CONSTRUCTOR || lc_alloc_path_first(jni);
	return *wanted ? lc_alloc_path_site(jni, walker, node, o, bytecode_site, origin) : 0;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("alloc_jvm_walks", &paths.asked), /* stacks that the JVM was asked to walk */
	/* Stacks that could not be walked: the path is empty. */
	LC_COUNTER("alloc_walk_errors", &paths.errors),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
