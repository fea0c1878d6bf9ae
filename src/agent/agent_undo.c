/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_undo.c - removes the agent's traces from the JVM in a safe order.
 *
 * First the agent stops to hook classes, and takes its hooks out. A thread in a hook still relies
 * on the events of collections, so these end when no thread is in a hook. Next, data that the
 * hooks, handlers and callbacks have used is put back. Memory is given back when no thread is in
 * one of them any more. A thread is in a hook as long as a method of the hook classes is on its
 * stack. It is in a callback as long as the callback is counted (agent/agent_events.c). Late ones
 * find no recording, and touch only LC_KEPT variables (core/reset.h).
 */
#include "src/agent/agent_undo.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "src/agent/agent_events.h"
#include "src/agent/agent_profile.h"
#include "src/base/say.h"
#include "src/core/jvmti.h"
#include "src/core/own.h"
#include "src/core/refs.h"
#include "src/core/reset.h"
#include "src/core/stages.h"
#include "src/core/thread.h"
#include "src/gc/copy_log.h"
#include "src/heap/estimate.h"
#include "src/hooks/classes.h"
#include "src/hooks/hooked.h"
#include "src/jvm/code/debug_info.h"
#include "src/jvm/os/peek.h"
#include "src/offheap/native.h"
#include "src/sample/signals.h"
#include "src/span/clock/timeline.h"
#include "src/span/span.h"

enum { STEP_MS = 5, WAIT_MS = 5000, GC_WAIT_MS = 30000, FRAMES = 4, NAME_MAX_BYTES = 512 };

static void step(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000L }, NULL);
}

static bool wait_until_not(bool (*is)(void), unsigned ms)
{
	for (unsigned i = 0; i < ms / STEP_MS; i++) {
		if (!is())
			return true;
		step();
	}
	return !is();
}

static void end_event(jvmtiEvent event)
{
	(*lc_jvmti())->SetEventNotificationMode(lc_jvmti(), JVMTI_DISABLE, event, NULL);
}

static void end_events(void)
{
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_CLASS_PREPARE,          JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
		JVMTI_EVENT_THREAD_START,           JVMTI_EVENT_THREAD_END,
		JVMTI_EVENT_COMPILED_METHOD_LOAD,   JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
		JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_CLASS_LOAD,
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		end_event(events[i]);
	lc_debug_info_end();
}

/* Is a method of the hook classes on a stack? */
static bool in_hook(void)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jvmtiStackInfo *stacks = NULL;
	jint len = 0;
	bool found = false;

	if ((*jvmti)->GetAllStackTraces(jvmti, FRAMES, &stacks, &len))
		return false;
	for (jint i = 0; i < len; i++)
		for (jint k = 0; k < stacks[i].frame_count && !found; k++)
			found = lc_own_method(stacks[i].frame_buffer[k].method);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)stacks);
	return found;
}

/* The clocks of spans are events of the kernel's, and timelines have files of /proc open. */
static void end_threads(void)
{
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		lc_span_thread_end(t);
		lc_timeline_thread_free(t->timeline);
		t->timeline = NULL;
	}
}

/* Returns whether it is certain that no thread is in a hook. */
static bool wait_until_no_hook(JNIEnv *jni)
{
	bool out;

	if ((*jni)->PushLocalFrame(jni, 1 << 14)) {
		(*jni)->ExceptionClear(jni);
		return false;
	}
	out = wait_until_not(in_hook, WAIT_MS);
	(*jni)->PopLocalFrame(jni, NULL);
	step(); /* a carrier of virtual threads does not show what they are in */
	return out;
}

/* Returns whether it is certain that nobody is in code of ours. */
static bool wait_until_alone(JNIEnv *jni)
{
	const bool out = wait_until_no_hook(jni);

	return wait_until_not(lc_agent_events_inside, WAIT_MS) &&
	       wait_until_not(lc_native_inside, WAIT_MS) && out;
}

static void take_hooks_out(JNIEnv *jni)
{
	char one[NAME_MAX_BYTES];
	const size_t left = lc_hooked_undo(jni, one, sizeof(one));

	if (left)
		lc_say("%zu classes keep their hooks, which do nothing now, since one of their "
		       "methods has not returned: %s",
		       left, one);
}

void lc_agent_undo(JNIEnv *jni)
{
	jvmtiEnv *const jvmti = lc_jvmti();

	if (!jvmti) { /* it has never begun */
		lc_reset_over();
		lc_reset_end();
		return;
	}
	lc_classes_leave();
	end_events();
	(void)wait_until_not(lc_agent_events_inside, WAIT_MS); /* classes that are being loaded */
	take_hooks_out(jni);
	lc_stages_begin(LC_STAGE_LEAVE);
	end_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
	(void)wait_until_no_hook(jni); /* which collections must be told to */
	end_event(JVMTI_EVENT_GARBAGE_COLLECTION_START);
	(void)wait_until_not(lc_agent_events_in_gc, GC_WAIT_MS);
	end_event(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
	lc_copy_log_end();
	lc_native_end();
	lc_span_hooks_off(true);
	end_threads();
	lc_estimate_stop(jni);
	lc_agent_profile_close();
	end_event(JVMTI_EVENT_VM_DEATH);
	lc_reset_over();
	if (!wait_until_alone(jni) || !lc_reset_can_end()) {
		lc_say("a thread has not left the agent, so this JVM cannot be recorded again; "
		       "restart it");
		return;
	}
	lc_signals_release();
	lc_peek_release_faults();
	lc_refs_delete_all(jni);
	lc_jvmti_rest();
	lc_reset_end();
}
