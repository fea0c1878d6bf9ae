/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_events.c - hands JVMTI's events to the modules that take care of them.
 *
 * Whoever ends a recording must know that no thread is in a callback. A callback that begins when
 * the recording is over does nothing.
 */
#include "src/agent/agent_events.h"

#include <stdatomic.h>
#include <string.h>

#include "src/agent/agent_end.h"
#include "src/agent/agent_threads.h"
#include "src/attribute/concurrent.h"
#include "src/attribute/sealed.h"
#include "src/core/epoch.h"
#include "src/core/inside.h"
#include "src/core/own_cost.h"
#include "src/core/own_work.h"
#include "src/core/reset.h"
#include "src/heap/estimate.h"
#include "src/hooks/classes.h"
#include "src/hooks/hottest.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/code/code_headers.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/thread_cpu.h"
#include "src/sample/watch.h"
#include "src/span/span.h"
#include "src/stack/generated.h"

static struct {
	/* Interpreter's code, from the replay of generated code at start. */
	struct lc_range interpreter;
	_Atomic bool in_gc; /* a collection has begun, of which hooks have been told */
	bool followed;      /* it has begun before the end of the recording; of the next two */
} events;

static LC_KEPT _Atomic uint32_t inside = 0; /* callbacks that run */

bool lc_agent_events_enter(void)
{
	atomic_fetch_add(&inside, 1);
	if (lc_recording())
		return true;
	atomic_fetch_sub(&inside, 1);
	return false;
}

void lc_agent_events_leave(void)
{
	atomic_fetch_sub(&inside, 1);
}

static void JNICALL on_gc_start(jvmtiEnv *jvmti)
{
	struct lc_own_work work; /* some collectors stop the world on a thread of the program */
	uint64_t begin;

	if (!lc_agent_events_enter())
		return;
	begin = lc_own_cost_begin();
	atomic_store_explicit(&events.in_gc, true, memory_order_relaxed);
	events.followed = lc_agent_records();
	if (!events.followed) { /* a thread in a hook must know of the collection all the same */
		lc_sealed_gc_start();
		lc_own_cost_end(LC_OWN_PAUSES, begin);
		lc_agent_events_leave();
		return;
	}
	lc_own_work_begin(&work);
	lc_span_gc_start();
	lc_sealed_gc_start();
	lc_own_work_end(&work);
	lc_thread_cpu_own(lc_own_cost_end(LC_OWN_PAUSES, begin));
	lc_agent_events_leave();
	lc_thread_cpu_pause_begin();
}

static void JNICALL on_gc_finish(jvmtiEnv *jvmti)
{
	struct lc_own_work work;
	struct lc_move *moves;
	uint64_t begin;
	size_t len;

	/* All is undone that the collection's begin has done, and only that. */
	if (!atomic_exchange_explicit(&events.in_gc, false, memory_order_relaxed))
		return;
	if (!lc_agent_events_enter())
		return;
	begin = lc_own_cost_begin();
	if (!events.followed) {
		lc_sealed_gc_finish(NULL, 0);
		lc_own_cost_end(LC_OWN_PAUSES, begin);
		lc_agent_events_leave();
		return;
	}
	lc_thread_cpu_pause_end();
	lc_own_work_begin(&work);
	lc_estimate_gc_finish(lc_epoch_now());
	moves = lc_watch_gc_finish(&len);
	lc_sealed_gc_finish(moves, len);
	lc_concurrent_pause();
	lc_span_gc_finish();
	lc_own_work_end(&work);
	lc_thread_cpu_own(lc_own_cost_end(LC_OWN_PAUSES, begin));
	lc_agent_events_leave();
}

/* A frequent event. Spans of the thread are not charged for the agent's work in it. */
struct event {
	uint64_t begin;
	struct lc_own_work work;
};

static bool begin_event(struct event *e)
{
	if (!lc_agent_events_enter())
		return false;
	e->begin = lc_own_cost_begin_often();
	lc_own_work_begin(&e->work);
	return true;
}

/* Returns the CPU time that counts for the event. */
static uint64_t end_event(const struct event *e, enum lc_own_kind kind)
{
	uint64_t ns;

	lc_own_work_end(&e->work);
	ns = lc_own_cost_end_often(kind, e->begin);
	lc_agent_events_leave();
	return ns;
}

static void JNICALL on_sampled_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                     jclass class, jlong size)
{
	struct event e;

	if (!begin_event(&e))
		return;
	lc_estimate_event(jvmti, jni, thread, object, class, size);
	end_event(&e, LC_OWN_SAMPLES);
}

static void JNICALL on_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                  const char *name, jobject domain, jint len,
                                  const unsigned char *bytes, jint *new_len,
                                  unsigned char **new_bytes)
{
	struct event e;

	if (!begin_event(&e))
		return;
	lc_classes_file_load_hook(jvmti, jni, redefined, loader, name, domain, len, bytes, new_len,
	                          new_bytes);
	end_event(&e, LC_OWN_EVENTS);
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
	struct event e;

	if (!begin_event(&e))
		return;
	lc_classes_prepare(jvmti, jni, thread, class);
	end_event(&e, LC_OWN_EVENTS);
}

/* AsyncGetCallTrace refuses to work unless somebody has asked for this event. */
static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
}

static void JNICALL on_compiled_load(jvmtiEnv *jvmti, jmethodID method, jint code_size,
                                     const void *code_addr, jint map_length,
                                     const jvmtiAddrLocationMap *map, const void *compile_info)
{
	struct event e;

	if (!begin_event(&e))
		return;
	lc_hottest_note(method, (uint32_t)code_size);
	if (!lc_code_headers_specimen((uintptr_t)code_addr, (uint64_t)code_size, method))
		lc_code_cache_compiled_method_load(method, code_size, code_addr, map_length, map,
		                                   compile_info);
	lc_thread_cpu_own(end_event(&e, LC_OWN_EVENTS));
}

static void JNICALL on_compiled_unload(jvmtiEnv *jvmti, jmethodID method, const void *code_addr)
{
	struct event e;

	if (!begin_event(&e))
		return;
	lc_code_cache_compiled_method_unload(method, code_addr);
	lc_generated_freed();
	lc_thread_cpu_own(end_event(&e, LC_OWN_EVENTS));
}

static void JNICALL on_dynamic_code(jvmtiEnv *jvmti, const char *name, const void *address,
                                    jint length)
{
	struct event e;

	if (!begin_event(&e))
		return;
	if (!strcmp(name, "Interpreter")) {
		events.interpreter.low = (uint64_t)(uintptr_t)address;
		events.interpreter.high = events.interpreter.low + (uint64_t)length;
	}
	lc_code_cache_dynamic_code_generated(name, address, length);
	lc_thread_cpu_own(end_event(&e, LC_OWN_EVENTS));
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	uint64_t begin;

	if (!lc_agent_events_enter())
		return;
	begin = lc_own_cost_begin_often();
	lc_inside_begin();
	lc_agent_threads_start(jvmti, jni, thread);
	lc_inside_end();
	lc_own_cost_end_often(LC_OWN_EVENTS, begin);
	lc_agent_events_leave();
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	uint64_t begin;

	if (!lc_agent_events_enter())
		return;
	begin = lc_own_cost_begin_often();
	lc_inside_begin();
	lc_agent_threads_end(jvmti, jni, thread);
	lc_inside_end();
	lc_own_cost_end_often(LC_OWN_EVENTS, begin);
	lc_agent_events_leave();
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	if (!lc_agent_events_enter())
		return;
	lc_agent_end_with_program(jni);
	lc_agent_events_leave();
}

void lc_agent_events_callbacks(jvmtiEventCallbacks *out)
{
	out->VMDeath = on_vm_death;
	out->ThreadStart = on_thread_start;
	out->ThreadEnd = on_thread_end;
	out->ClassFileLoadHook = on_class_file;
	out->ClassLoad = on_class_load;
	out->ClassPrepare = on_class_prepare;
	out->GarbageCollectionStart = on_gc_start;
	out->GarbageCollectionFinish = on_gc_finish;
	out->CompiledMethodLoad = on_compiled_load;
	out->CompiledMethodUnload = on_compiled_unload;
	out->DynamicCodeGenerated = on_dynamic_code;
	out->SampledObjectAlloc = on_sampled_alloc;
}

struct lc_range lc_agent_events_interpreter(void)
{
	return events.interpreter;
}

bool lc_agent_events_in_gc(void)
{
	return atomic_load(&events.in_gc);
}

bool lc_agent_events_inside(void)
{
	return atomic_load(&inside);
}
