/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_end.c - ends a recording: at exit, after --duration, or when the profile is full.
 *
 * The order of the end: begin nothing new (threads, hooks, spans); stop the samplers and the
 * transformation of classes; let the attribution thread work off its queues and write the last
 * blocks and the manifest. If the program goes on, the JVM then sends no more events, the profile's
 * files are closed, and the references to sampled objects are dropped. Hooks stay in the classes
 * and return at once. Events of collections and of ending threads stay enabled: the end of a
 * collection that has begun must be seen (agent.c). If the disk does not answer, the attribution
 * thread is left behind, and all that it uses stays.
 *
 * The thread that ends a recording attaches to the JVM only when the time is up. So a debugger or a
 * thread dump of the program does not show it while it sleeps.
 */
#include "src/agent/agent_end.h"

#include <errno.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "src/agent/agent.h"
#include "src/agent/agent_attach.h"
#include "src/agent/agent_manifest.h"
#include "src/agent/agent_threads.h"
#include "src/agent/agent_undo.h"
#include "src/agent/holder_sites.h"
#include "src/attribute/attribution.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/core/jvmti.h"
#include "src/core/own_thread.h"
#include "src/core/stages.h"
#include "src/core/thread.h"
#include "src/heap/estimate.h"
#include "src/heap/hook.h"
#include "src/heap/tracked.h"
#include "src/hooks/lost_hooks.h"
#include "src/hooks/retry_thread.h"
#include "src/jvm/code/debug_info.h"
#include "src/offheap/native.h"
#include "src/sample/engine.h"
#include "src/sample/watch.h"
#include "src/span/span.h"

#define SECOND_NS UINT64_C(1000000000)

static struct {
	_Atomic bool opened, records;
	JavaVM *vm;
	uint64_t at_ns;   /* CLOCK_MONOTONIC; under `lock` */
	pthread_t thread; /* which waits for that, if `waits` */
	bool waits;       /* under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t change;  /* of at_ns and program_ends; its clock is CLOCK_MONOTONIC */
	pthread_cond_t written; /* of all_written */
	bool program_ends, all_written; /* under `lock` */
	_Atomic bool left_behind;       /* the attribution thread, which is blocked */
} end = { .lock = PTHREAD_MUTEX_INITIALIZER, .written = PTHREAD_COND_INITIALIZER };

void lc_agent_end_open(JavaVM *vm)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&end.change, &monotonic); /* which cannot fail on Linux */
	pthread_condattr_destroy(&monotonic);
	end.vm = vm;
	atomic_store_explicit(&end.opened, true, memory_order_relaxed);
	atomic_store_explicit(&end.records, true, memory_order_release);
}

bool lc_agent_records(void)
{
	return atomic_load_explicit(&end.records, memory_order_acquire);
}

bool lc_agent_left_behind(void)
{
	return atomic_load_explicit(&end.left_behind, memory_order_relaxed);
}

bool lc_agent_has_recorded(void)
{
	return atomic_load_explicit(&end.opened, memory_order_relaxed);
}

/* Somebody else ends the recording, or there is none. */
static void wait_until_written(void)
{
	pthread_mutex_lock(&end.lock);
	while (atomic_load_explicit(&end.opened, memory_order_relaxed) && !end.all_written)
		pthread_cond_wait(&end.written, &end.lock);
	pthread_mutex_unlock(&end.lock);
}

static void end_events(void)
{
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,   JVMTI_EVENT_CLASS_PREPARE,
		JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,   JVMTI_EVENT_THREAD_START,
		JVMTI_EVENT_COMPILED_METHOD_LOAD,   JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
		JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_CLASS_LOAD,
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		(*lc_jvmti())->SetEventNotificationMode(lc_jvmti(), JVMTI_DISABLE, events[i], NULL);
	lc_debug_info_end();
}

/* Returns whether it was this call that ended the recording, and all is written. */
static bool end_recording(JNIEnv *jni, bool early)
{
	bool written;

	if (!atomic_exchange(&end.records, false)) {
		wait_until_written();
		return false;
	}
	if (lc_agent_options()->holders)
		(void)lc_holder_sites_record(end.vm, lc_agent_options()->max_pause_ns, true);
	if (early)
		lc_agent_manifest_limited();
	lc_agent_threads_open(false);
	lc_hook_enable(false);
	lc_native_stop();
	lc_span_enable(false);
	if (early)
		lc_span_hooks_off(false);
	lc_stages_begin(LC_STAGE_STOP);
	lc_engines_stop();
	lc_watch_end(jni);
	lc_retry_thread_close();
	lc_lost_hooks_look(jni);
	lc_tracked_say_unmatched(jni);
	lc_stages_begin(LC_STAGE_WRITE);
	written = lc_attribution_stop(early);
	pthread_mutex_lock(&end.lock);
	end.all_written = true;
	pthread_cond_broadcast(&end.written);
	pthread_mutex_unlock(&end.lock);
	end.left_behind = !written;
	if (early && !written)
		end_events(); /* the rest of what would be undone, the thread may use */
	return written;
}

/* ---- the time ---- */

static bool program_ends(void)
{
	bool ends;

	pthread_mutex_lock(&end.lock);
	ends = end.program_ends;
	pthread_mutex_unlock(&end.lock);
	return ends;
}

/* Returns false where somebody else ends the recording. */
static bool lock(void)
{
	bool locked;

	lc_agent_attach_claim(true);
	while (!(locked = lc_agent_attach_try_lock()) && !program_ends())
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	lc_agent_attach_claim(false);
	return locked;
}

/* Returns whether the time is up, and the program goes on. */
static bool sleep_until_end(void)
{
	bool goes_on;

	pthread_mutex_lock(&end.lock);
	while (!end.program_ends && lc_time_now_ns() < end.at_ns) {
		const struct timespec at = { .tv_sec = (time_t)(end.at_ns / SECOND_NS),
			                     .tv_nsec = (long)(end.at_ns % SECOND_NS) };

		(void)pthread_cond_timedwait(&end.change, &end.lock, &at);
	}
	goes_on = !end.program_ends;
	pthread_mutex_unlock(&end.lock);
	return goes_on;
}

static void *run(void *unused)
{
	JavaVMAttachArgs args = { JNI_VERSION_1_8, (char *)(uintptr_t) "Locus end", NULL };
	JavaVM *vm = end.vm;
	JNIEnv *jni;

	lc_thread_set_ours();
	if (sleep_until_end() && lock()) {
		pthread_detach(pthread_self());
		if (!(*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&jni, &args)) {
			lc_agent_end_now(jni);
			(*vm)->DetachCurrentThread(vm);
		}
		lc_agent_attach_unlock();
	}
	lc_thread_ours_ends();
	return NULL;
}

/* Have the thread that waits for the time wait no more. */
static void wake(void)
{
	pthread_mutex_lock(&end.lock);
	end.program_ends = true;
	pthread_cond_signal(&end.change);
	pthread_mutex_unlock(&end.lock);
}

/*
 * Have the recording ended then. With the lock held, which the thread takes before it looks at
 * `end.thread`. Returns 0 or -errno.
 */
static int end_at(uint64_t ns)
{
	int err = 0;

	end.at_ns = ns;
	if (end.waits)
		pthread_cond_signal(&end.change);
	else if (!end.program_ends)
		err = lc_own_thread_start(&end.thread, "locus-end", run, NULL);
	end.waits |= !err && !end.program_ends;
	return err;
}

void lc_agent_end_after(uint64_t ns)
{
	int err;

	pthread_mutex_lock(&end.lock);
	err = end_at(lc_time_now_ns() + ns);
	pthread_mutex_unlock(&end.lock);
	if (err)
		lc_say("--duration: %s; the recording ends with the program", strerror(-err));
}

bool lc_agent_end_soon(void)
{
	int err = 0;

	if (!lc_agent_records())
		return true;
	pthread_mutex_lock(&end.lock);
	err = end_at(0);
	pthread_mutex_unlock(&end.lock);
	return !err;
}

bool lc_agent_end_now(JNIEnv *jni)
{
	if (!lc_agent_records() || !end_recording(jni, true))
		return false;
	wake(); /* from here on the thread is not started any more */
	if (end.waits && !pthread_equal(end.thread, pthread_self()))
		pthread_join(end.thread, NULL);
	lc_agent_undo(jni);
	return true;
}

void lc_agent_end_with_program(JNIEnv *jni)
{
	if (lc_agent_has_recorded())
		wake();
	end_recording(jni, false);
}
