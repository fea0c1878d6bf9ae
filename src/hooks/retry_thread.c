/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/retry_thread.c - starts a thread each time that classes wait, after an attach, or that
 * --track hot has chosen some.
 *
 * Order: T1  run() stores done (release) after all its work -> lc_retry_thread_tick() loads it
 *            (acquire): the thread's changes are seen before the next one starts.
 */
#include "src/hooks/retry_thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/core/own_cost.h"
#include "src/core/own_thread.h"
#include "src/core/stages.h"
#include "src/core/thread.h"
#include "src/hooks/retry.h"
#include "src/hooks/track_hot.h"

static struct {
	pthread_mutex_t lock;
	JavaVM *vm;       /* under `lock`; NULL: not open */
	pthread_t thread; /* if `begun` */
	bool begun;       /* under `lock`: who clears it joins the thread */
	_Atomic bool done;
} transformer = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *run(void *vm_arg)
{
	JavaVMAttachArgs args = { JNI_VERSION_1_8, (char *)(uintptr_t) "Locus classes", NULL };
	JavaVM *const vm = vm_arg;
	uint64_t begin;
	JNIEnv *jni;

	lc_thread_set_ours();
	begin = lc_own_cost_begin();
	if (!(*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&jni, &args)) {
		if (lc_track_hot_due())
			lc_track_hot_switch(jni);
		else
			lc_retry_again(jni);
		(*vm)->DetachCurrentThread(vm);
	}
	lc_own_cost_end(LC_OWN_EVENTS, begin);
	lc_thread_ours_ends();
	atomic_store_explicit(&transformer.done, true, memory_order_release); /* T1 */
	return NULL;
}

void lc_retry_thread_open(JavaVM *vm)
{
	pthread_mutex_lock(&transformer.lock);
	transformer.vm = vm;
	atomic_store_explicit(&transformer.done, false, memory_order_relaxed); /* of no thread */
	pthread_mutex_unlock(&transformer.lock);
}

void lc_retry_thread_tick(void)
{
	pthread_mutex_lock(&transformer.lock);
	if (transformer.begun && atomic_load_explicit(&transformer.done, memory_order_acquire)) {
		pthread_join(transformer.thread, NULL); /* T1 */
		atomic_store_explicit(&transformer.done, false, memory_order_relaxed);
		transformer.begun = false;
	}
	/* If the thread cannot be started, the classes stay due. */
	if (transformer.vm && !transformer.begun && (lc_track_hot_due() || lc_retry_due()))
		transformer.begun =
		    !lc_own_thread_start(&transformer.thread, "locus-classes", run, transformer.vm);
	pthread_mutex_unlock(&transformer.lock);
}

void lc_retry_thread_close(void)
{
	bool begun;

	pthread_mutex_lock(&transformer.lock);
	begun = transformer.begun;
	transformer.begun = false;
	transformer.vm = NULL;
	pthread_mutex_unlock(&transformer.lock);
	if (!begun)
		return;
	lc_stages_stop();
	pthread_join(transformer.thread, NULL);
}
