/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/estimate_path.c - finds the site of a sampled allocation by a walk of the stack.
 *
 * Order: none. The counts are sums that any thread adds to; `audit` is set before there are events.
 */
#include "src/heap/estimate_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "src/base/options.h"
#include "src/classfile/internal.h"
#include "src/classfile/method_code.h"
#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/core/version.h"
#include "src/heap/context.h"
#include "src/heap/estimate.h"
#include "src/jvm/stack/call_trace.h"
#include "src/stack/shadow.h"
#include "src/stack/walker.h"

/* Set in the note of a site whose path was cut for lack of credit. */
#define NOTE_CUT (UINT64_C(1) << 32)

/* Without credit, paths of more than CUT_FROM frames are cut to CUT_FRAMES, which recur. */
enum { CUT_FROM = 16, CUT_FRAMES = 4 };

static struct {
	bool audit;
	_Atomic uint64_t walked, asked, audited, wrong;
} paths;

static bool is_counted(const struct lc_options *options)
{
	return lc_estimate_enabled();
}

static void put_audit(struct lc_counters *out)
{
	if (!paths.audit)
		return;
	lc_counters_put(out, "audit_estimates",
	                atomic_load_explicit(&paths.audited, memory_order_relaxed));
	lc_counters_put(out, "audit_estimates_wrong",
	                atomic_load_explicit(&paths.wrong, memory_order_relaxed));
}

static const struct lc_counter counters[] = {
	LC_COUNTER("estimate_walked", &paths.walked), /* by the shadow */
	/* By the JVM, since the shadow could not tell. */
	LC_COUNTER("estimate_asked", &paths.asked),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = is_counted, .put = put_audit);

void lc_estimate_path_audit(void)
{
	paths.audit = true;
}

/* Is the method of a class whose arrays have no hooks? */
static bool is_internal(jvmtiEnv *jvmti, jmethodID method)
{
	char *signature = NULL;
	jclass class;
	bool internal;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) ||
	    (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return false;
	internal = *signature == 'L' && lc_internal_class(signature + 1, strlen(signature) - 2);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return internal;
}

static bool is_byte_array(jvmtiEnv *jvmti, jclass class)
{
	char *signature = NULL;
	bool bytes;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return false;
	bytes = !strcmp(signature, "[B");
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return bytes;
}

static bool is_at_new(jvmtiEnv *jvmti, const jvmtiFrameInfo *frame)
{
	unsigned char *code = NULL;
	jint len = 0;
	bool at_new;

	if ((*jvmti)->GetBytecodes(jvmti, frame->method, &len, &code))
		return false;
	at_new =
	    frame->location >= 0 && frame->location < len && code[frame->location] == LC_OP_NEW;
	(*jvmti)->Deallocate(jvmti, code);
	return at_new;
}

bool lc_estimate_path_unhooked(jvmtiEnv *jvmti, jclass class)
{
	jvmtiFrameInfo frames[2];
	jint len = 0, at;

	if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, 2, frames, &len) || len <= 0)
		return false;
	at = len > 1 && frames[0].location < 0; /* clone() is native, and its caller has the hook */
	return is_internal(jvmti, frames[at].method) ||
	       (!at && is_byte_array(jvmti, class) && is_at_new(jvmti, &frames[0]));
}

/* The path that stands for an unknown stack. */
static uint32_t cut_path(JNIEnv *jni, const struct lc_walker *walker)
{
	const uint64_t frame = lc_frame_pack((const void *)(uintptr_t)LC_PATH_CUT, -1);

	lc_walk_credit_cut();
	return lc_path_intern_nearest(jni, walker->root, &frame, 1, 1);
}

/* The path by the JVM; *cut: the thread has no credit for that. All frames are read, since
 * recursion may fold to a few. */
static uint32_t asked_path(JNIEnv *jni, struct lc_walker *walker, uint32_t depth, bool *cut)
{
	jvmtiFrameInfo *frames = lc_walker_scratch(
	    walker, LC_WALKER_FRAMES, LC_FRAMES_MAX * (sizeof(*frames) + sizeof(uint64_t)));
	uint64_t *packed = (uint64_t *)(frames ? frames + LC_FRAMES_MAX : NULL);
	jint len = 0;
	int err = frames ? lc_walker_ask(walker, LC_FRAMES_MAX, frames, &len) : -ENOMEM;

	*cut = err == -EAGAIN;
	if (*cut)
		return cut_path(jni, walker);
	if (err || len <= 0)
		return 0;
	for (jint i = 0; i < len; i++)
		packed[i] = lc_version_frame(frames[i].method, (int)frames[i].location);
	return lc_path_intern_nearest(jni, walker->root, packed, (size_t)len, depth);
}

static uint32_t walked_path(JNIEnv *jni, struct lc_walker *walker, uint32_t node, uint32_t depth,
                            bool *cut)
{
	uint64_t *packed =
	    lc_walker_scratch(walker, LC_WALKER_FRAMES, LC_FRAMES_MAX * sizeof(*packed));
	size_t len = packed ? lc_shadow_frames(walker->shadow, node, packed, LC_FRAMES_MAX) : 0;

	*cut = !lc_walk_credit_left(&walker->credit);
	if (*cut && len > CUT_FROM) {
		packed[CUT_FRAMES] = lc_frame_pack((const void *)(uintptr_t)LC_PATH_CUT, -1);
		len = CUT_FRAMES + 1;
		lc_walk_credit_cut();
	}
	return lc_path_intern_nearest(jni, walker->root, packed, len, depth);
}

/* Does the JVM walk to the same path? */
static void check(JNIEnv *jni, struct lc_walker *walker, uint32_t node, uint32_t depth)
{
	bool cut;
	const uint32_t asked = asked_path(jni, walker, depth, &cut);

	if (!asked || lc_shadow_open(walker->shadow))
		return;
	lc_count(&paths.audited);
	if (walked_path(jni, walker, node, depth, &cut) != asked)
		lc_count(&paths.wrong);
}

/* The node of the thread's shadow; 0: only the JVM can walk the stack. */
static uint32_t walk(JNIEnv *jni, struct lc_thread *t)
{
	struct lc_shadow *s = t->contexts ? lc_contexts_shadow(t->contexts, t->walker) : NULL;
	struct lc_last_java at;

	if (!s || !lc_call_trace_last_java(jni, &at))
		return 0;
	return lc_shadow_walk_last(s, &at, (uint64_t)(uintptr_t)__builtin_frame_address(0),
	                           lc_walker_end(t->walker));
}

static uint32_t site_at(const struct lc_estimate_kind *kind, uint32_t path)
{
	char *signature = NULL;
	uint32_t site;

	if (kind->signature)
		return lc_site_intern(kind->signature, kind->word, path);
	if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), kind->class, &signature, NULL))
		return 0;
	site = lc_site_intern(signature, kind->word, path);
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	return site;
}

/* The path: by the JVM if the shadow does not know all of it and there is credit. */
static uint32_t find_path(JNIEnv *jni, struct lc_walker *walker, uint32_t node, uint32_t depth,
                          bool *cut)
{
	const bool ask =
	    !node || (lc_shadow_unknown(walker->shadow) && lc_walk_credit_left(&walker->credit));
	const uint32_t path =
	    ask ? asked_path(jni, walker, depth, cut) : walked_path(jni, walker, node, depth, cut);

	walker->credit.named = true;
	if (ask && node)
		lc_shadow_try_again(walker->shadow);
	lc_count(ask ? &paths.asked : &paths.walked);
	return path;
}

/* Charge the walk, and the work that it caused, to the credit. */
static void end_walk(struct lc_thread *t, uint64_t begin, uint64_t looked)
{
	struct lc_shadow *s = t->walker->shadow;
	const uint64_t now = __rdtsc();

	if (s)
		lc_shadow_stand(s);
	lc_walk_credit_end(&t->walker->credit, begin, now, s ? lc_shadow_looked(s) - looked : 0);
}

uint32_t lc_estimate_path_site(JNIEnv *jni, struct lc_thread *t,
                               const struct lc_estimate_kind *kind, uint32_t depth)
{
	const struct lc_shadow *s = t->walker->shadow;
	const uint64_t begin = lc_walk_credit_begin(), looked = s ? lc_shadow_looked(s) : 0;
	const uint32_t node = walk(jni, t);
	/* Odd, so it differs from the keys of heap/context.h, which have the uppermost bit. */
	uint64_t *note =
	    node ? lc_shadow_note(t->walker->shadow, node, (uint64_t)kind->site << 1 | 1) : NULL;
	uint32_t site;
	bool cut = false;

	if (node && paths.audit)
		check(jni, t->walker, node, depth);
	if (note && *note && !(*note & NOTE_CUT && lc_walk_credit_left(&t->walker->credit))) {
		lc_count(&paths.walked);
		end_walk(t, begin, looked);
		return (uint32_t)*note;
	}
	/* Native code may have a pending exception, with which it may not call the JVM. */
	if (kind->signature && (*jni)->ExceptionCheck(jni)) {
		end_walk(t, begin, looked);
		return 0;
	}
	site = site_at(kind, find_path(jni, t->walker, node, depth, &cut));
	if (note)
		*note = site ? site | (cut ? NOTE_CUT : 0) : 0;
	end_walk(t, begin, looked);
	return site;
}
