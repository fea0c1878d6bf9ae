/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/requests.c - defines the natives by which threads enter and leave request contexts:
 * Locus.context() of src/java/api/locusapi/Locus.java, and LocusHook.carries() for virtual threads.
 *
 * A context belongs to a thread of the kernel until the thread enters another one. A virtual thread
 * is on several, so its contexts are also kept by its ID. When the first virtual thread enters a
 * context, VirtualThread gets hooks that say whom a carrier carries; before that, no switch costs
 * anything.
 *
 * The program calls these natives at any time, so each checks that the recording is there, and a
 * context of an earlier one counts as none.
 */
#include "src/agent/requests.h"

#include <jni.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "src/agent/agent_end.h"
#include "src/agent/agent_events.h"
#include "src/core/jvmti.h"
#include "src/core/own_work.h"
#include "src/core/request.h"
#include "src/core/reset.h"
#include "src/core/thread.h"
#include "src/heap/context.h"
#include "src/heap/tlab.h"

enum { WAIT_MS = 1000, NAME_CHARS = LC_REQUEST_NAME_BYTES - 1 };

/* The hooks of VirtualThread. */
enum hooks {
	HOOKS_CLOSED,  /* classes get no hooks yet, or get none at all */
	HOOKS_NONE,    /* no virtual thread has asked for them */
	HOOKS_STARTED, /* a thread puts them in */
	HOOKS_IN,
	HOOKS_REFUSED, /* VirtualThread is another one than is known */
};

static _Atomic int hooks; /* enum hooks */

JNIEXPORT jlong JNICALL Java_locusapi_Locus_enter0(JNIEnv *jni, jclass type, jstring name,
                                                   jlong virtual_id);
JNIEXPORT void JNICALL Java_locusapi_Locus_leave0(JNIEnv *jni, jclass type, jlong number,
                                                  jlong virtual_id);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_carries(JNIEnv *jni, jclass type, jlong id);

void lc_requests_open(void)
{
	atomic_store(&hooks, HOOKS_NONE);
}

/* The calling thread's paths begin below that node from now on. */
static void set_root(struct lc_thread *t, uint32_t root)
{
	if (atomic_load_explicit(&t->root, memory_order_relaxed) == root) /* ours */
		return;
	if (t->contexts && t->walker)
		lc_contexts_set_root(t->contexts, t->walker, root);
	lc_tlab_forget();
	atomic_store_explicit(&t->root, root, memory_order_relaxed); /* its handlers' */
}

/* Put the hooks into VirtualThread. Returns whether they are in. */
static bool hook_carriers(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/VirtualThread");
	bool done;

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	lc_request_want_carriers();
	done = class && !lc_jvmti_retransform(1, &class) && lc_request_has_carriers();
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return done;
}

/* Are virtual threads followed? The first one to ask has the hooks put in; others wait for it. */
static bool follow_virtual(JNIEnv *jni)
{
	int now = HOOKS_NONE;

	if (atomic_compare_exchange_strong(&hooks, &now, HOOKS_STARTED)) {
		now = hook_carriers(jni) ? HOOKS_IN : HOOKS_REFUSED;
		atomic_store(&hooks, now);
	}
	for (unsigned ms = 0; now == HOOKS_STARTED && ms < WAIT_MS; ms++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		now = atomic_load(&hooks);
	}
	return now == HOOKS_IN;
}

/*
 * Give the calling thread, or its virtual thread, the context of that node; 0: none. Returns false,
 * and changes nothing, if it cannot.
 */
static bool enter(JNIEnv *jni, uint32_t root, uint64_t virtual_id)
{
	struct lc_thread *t = lc_thread_self();

	if (!t)
		t = lc_thread_enter(jni);
	if (!t)
		return false;
	if (virtual_id && root && !follow_virtual(jni))
		return false;
	if (virtual_id && !lc_request_set_virtual(virtual_id, root))
		return false;
	set_root(t, root);
	return true;
}

/* The node of the name, which is cut where it is too long; 0: there is none. */
static uint32_t root_of(JNIEnv *jni, jstring name)
{
	/* A character has at most three bytes; the core cuts what is longer than it keeps. */
	char text[NAME_CHARS * 3 + 1] = { 0 };
	const jsize len = (*jni)->GetStringLength(jni, name);

	(*jni)->GetStringUTFRegion(jni, name, 0, len < NAME_CHARS ? len : NAME_CHARS, text);
	if ((*jni)->ExceptionCheck(jni))
		return 0;
	return lc_request_root(jni, text);
}

/* Locus.context(): the number for leave0(), which is not 0 unless the thread's context stays. */
jlong Java_locusapi_Locus_enter0(JNIEnv *jni, jclass type, jstring name, jlong virtual_id)
{
	struct lc_own_work work;
	uint64_t number = 0;
	uint32_t root;

	if (!lc_agent_events_enter())
		return 0;
	if (lc_agent_records()) {
		lc_own_work_begin(&work);
		root = root_of(jni, name);
		if (root && enter(jni, root, (uint64_t)virtual_id))
			number = (uint64_t)lc_recording() << 32 | root;
		lc_own_work_end(&work);
	}
	lc_agent_events_leave();
	return (jlong)number;
}

/* The context of that number (0: none) is the thread's again. */
void Java_locusapi_Locus_leave0(JNIEnv *jni, jclass type, jlong number, jlong virtual_id)
{
	const uint64_t of = (uint64_t)number >> 32;

	if (!lc_agent_events_enter())
		return;
	(void)enter(jni, of == lc_recording() ? (uint32_t)number : 0, (uint64_t)virtual_id);
	lc_agent_events_leave();
}

/*
 * The calling thread now carries the virtual thread `id`; 0: none. This native must not call the
 * JVM, which is just changing the current thread.
 */
void Java_java_lang_LocusHook_carries(JNIEnv *jni, jclass type, jlong id)
{
	const uint32_t root = id ? lc_request_of_virtual((uint64_t)id) : 0;
	struct lc_thread *t = lc_thread_self();

	if (!t && root)
		t = lc_thread_enter(jni); /* the JVM has announced it: it is not called */
	if (t)
		set_root(t, root);
}
