/* SPDX-License-Identifier: Apache-2.0 */
/* agent/agent_threads.c - gives Java threads their records and takes leave of them. */
#include "src/agent/agent_threads.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/core/jvmti.h"
#include "src/core/thread.h"
#include "src/heap/alloc_log.h"
#include "src/heap/context.h"
#include "src/heap/tlab.h"
#include "src/jvm/layout/layout.h"
#include "src/sample/engine.h"
#include "src/span/clock/timeline.h"
#include "src/span/span.h"
#include "src/stack/walker.h"

static struct {
	const struct lc_options *options;
	jfieldID eetop;    /* of java.lang.Thread: its JavaThread *, 0 when not alive */
	bool calibrating;  /* written and read by the attaching thread */
	_Atomic bool open; /* threads that start get records */
} threads;

static void thread_name(JNIEnv *jni, jthread thread, char *out, size_t out_len)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jvmtiThreadInfo info = { 0 };

	snprintf(out, out_len, "?");
	if ((*jvmti)->GetThreadInfo(jvmti, thread, &info))
		return;
	if (info.name) {
		snprintf(out, out_len, "%s", info.name);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
	}
	if (info.thread_group)
		(*jni)->DeleteLocalRef(jni, info.thread_group);
	if (info.context_class_loader)
		(*jni)->DeleteLocalRef(jni, info.context_class_loader);
}

static bool wanted(const char *name)
{
	return (!threads.options->include[0] || lc_options_match(threads.options->include, name)) &&
	       !lc_options_match(threads.options->exclude, name);
}

/* It gets them at its next allocation, if it allocates. */
static void note_no_memory(void)
{
	(void)lc_limit_note("threads_lost",
	                    "there was no memory for some threads: they are sampled, and their "
	                    "allocations counted, late or not at all");
}

/* Give a thread its record and logs, and sample it. Returns the record, or NULL. */
static struct lc_thread *add(JNIEnv *jni, jthread thread, int32_t tid)
{
	char name[LC_THREAD_NAME_MAX];
	struct lc_thread *t;

	thread_name(jni, thread, name, sizeof(name));
	t = lc_thread_create(tid, name, wanted(name));
	if (!t) {
		note_no_memory();
		return NULL;
	}
	if (lc_alloc_log_create(&t->allocs) || lc_contexts_create(&t->contexts) ||
	    lc_walker_create(&t->walker)) {
		lc_contexts_destroy(t->contexts);
		lc_alloc_log_destroy(t->allocs);
		free(t);
		note_no_memory();
		return NULL;
	}
	t->timeline = lc_timeline_thread_create(tid);
	if (tid == (int32_t)syscall(SYS_gettid))
		lc_thread_bind(t);
	if (t->sampled && !threads.calibrating)
		lc_engines_thread_start(t);
	lc_thread_publish(t);
	return t;
}

/* The calling thread's record, for one that a hook or signal found without. */
static struct lc_thread *enter(JNIEnv *jni)
{
	int32_t tid = (int32_t)syscall(SYS_gettid);
	jvmtiEnv *jvmti = lc_jvmti();
	struct lc_thread *t = NULL;
	jthread thread = NULL;

	/* After an attach a thread of ours measures what its own spans cost. */
	if (lc_thread_is_ours() && !threads.calibrating)
		return NULL;
	t = lc_threads_find(tid);
	if (!t && !(*jvmti)->GetCurrentThread(jvmti, &thread) && thread) {
		t = add(jni, thread, tid);
		(*jni)->DeleteLocalRef(jni, thread);
	}
	lc_thread_bind(t);
	return t;
}

int lc_agent_threads_init(JNIEnv *jni, const struct lc_options *options)
{
	jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");

	threads.eetop = thread ? (*jni)->GetFieldID(jni, thread, "eetop", "J") : NULL;
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (!threads.eetop)
		return -ENOTSUP;
	threads.options = options;
	lc_thread_enter_with(enter);
	return 0;
}

void lc_agent_threads_open(bool open)
{
	atomic_store_explicit(&threads.open, open, memory_order_release);
}

/* Nothing more comes from the calling thread. */
static void end(struct lc_thread *t)
{
	lc_engines_thread_stop(t);
	lc_span_thread_end(t);
	lc_timeline_thread_ends(t->timeline);
	lc_thread_bind(NULL);
	atomic_store_explicit(&t->ended, true, memory_order_release);
}

void lc_agent_threads_calibrate(bool begin)
{
	struct lc_thread *t = lc_thread_self();

	threads.calibrating = begin;
	if (begin || !t)
		return;
	if (lc_thread_is_ours())
		end(t); /* it is no thread of the program */
	else if (t->sampled && !t->sampler)
		lc_engines_thread_start(t);
}

void lc_agent_threads_add_running(JNIEnv *jni)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jthread *running = NULL;
	jint len = 0;

	if ((*jvmti)->GetAllThreads(jvmti, &len, &running))
		return;
	for (jint i = 0; i < len; i++) {
		jlong eetop = (*jni)->GetLongField(jni, running[i], threads.eetop);
		int tid = eetop ? lc_layout_thread_tid((uint64_t)eetop) : -ENOENT;

		if (tid > 0 && !lc_threads_find(tid) && !lc_thread_tid_is_ours(tid))
			add(jni, running[i], tid);
		(*jni)->DeleteLocalRef(jni, running[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)running);
}

void JNICALL lc_agent_threads_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	if (!lc_thread_is_ours() && !lc_thread_self() &&
	    atomic_load_explicit(&threads.open, memory_order_acquire))
		add(jni, thread, (int32_t)syscall(SYS_gettid));
}

void JNICALL lc_agent_threads_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	struct lc_thread *t = lc_thread_self();

	lc_tlab_thread_end();
	if (!t)
		t = lc_threads_find((int32_t)syscall(SYS_gettid));
	if (t)
		end(t);
}
