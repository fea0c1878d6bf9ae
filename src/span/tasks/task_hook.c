/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task_hook.c - has the natives of java.lang.LocusSpan that tasks and virtual threads
 * call.
 *
 * Order of a begin: everything is looked up first, the clock is read last.
 */
#include <errno.h>
#include <string.h>

#include "src/classfile/span_rewrite.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/own_work.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/profile/profile_writer.h"
#include "src/span/frames/trace.h"
#include "src/span/span.h"
#include "src/span/tasks/task.h"
#include "src/span/tasks/task_place.h"
#include "src/span/tasks/task_watch.h"
#include "src/span/tasks/virtual.h"
#include "src/stack/walker.h"

static struct {
	struct lc_task_config config;
	_Atomic bool ready; /* config and tables are set; relaxed: classes are hooked later */
	_Atomic uint64_t no_memory;
	_Atomic uint64_t quiet, calls; /* times that classes were found to be */
} tasks;

int lc_task_init(const struct lc_task_config *config)
{
	int err = lc_link_init();

	if (err)
		return err;
	lc_task_places_init(config);
	lc_task_classes_init();
	tasks.config = *config;
	atomic_store_explicit(&tasks.ready, true, memory_order_release);
	return 0;
}

static const struct lc_counter counters[] = {
	LC_COUNTER(
	    "spans_tasks_lost", &tasks.no_memory, .limit = "spans_lost",
	    .text =
	        "there was no memory for the tasks of some threads: these tasks are not counted"),
	LC_COUNTER("spans_task_classes_quiet", &tasks.quiet),
	LC_COUNTER("spans_task_classes_calls", &tasks.calls),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);

static __attribute__((noinline)) bool make_thread(struct lc_span_thread *s)
{
	if (!lc_task_thread_create(&s->tasks))
		return true;
	lc_count(&tasks.no_memory);
	return false;
}

/*
 * The calling thread's spans; NULL: nothing is recorded. Its s->tasks is NULL without memory.
 * Meanwhile what is known of the object of that hash is fetched into the cache.
 */
static inline struct lc_span_thread *enter(JNIEnv *jni, jint hash)
{
	struct lc_span_thread *s;

	if (!atomic_load_explicit(&tasks.ready, memory_order_acquire))
		return NULL;
	lc_link_prefetch((uint32_t)hash);
	s = tasks.config.enter(jni);
	if (s && __builtin_expect(!s->tasks, 0))
		(void)make_thread(s);
	return s;
}

/*
 * The return address of the hook with this frame, in HotSpot's stub of a native method, which links
 * its own frame.
 */
static inline uint64_t caller_of(uint64_t frame)
{
	uint64_t stub = *(const uint64_t *)(uintptr_t)frame; /* NOLINT */

	return stub - frame < 4096 ? *(const uint64_t *)(uintptr_t)(stub + 8) : 0; /* NOLINT */
}

/*
 * The number of the place of a hook with this frame, known or walked now; 0 where it is not known.
 */
static uint32_t find_place(JNIEnv *jni, const struct lc_span_thread *s, uint64_t frame,
                           enum lc_task_place_hook hook, jobject object,
                           const struct lc_task_class *class)
{
	struct lc_task_places *places = lc_task_thread_places(s->tasks);
	struct lc_walker *walker = s->thread->walker;
	uint64_t key =
	    lc_task_place_key(places, frame, hook, hook == LC_TASK_PLACE_CREATED ? class->id : 0);
	const struct lc_task_place *x =
	    lc_task_place_find(places, frame, key, lc_walker_end(walker));
	struct lc_native_frame at;
	struct lc_own_work work;

	if (x)
		return x->number;
	at = lc_frame_native((const void *)(uintptr_t)frame); /* NOLINT */
	lc_own_work_begin(&work);
	x = lc_task_place_learn(places, jni, walker, &at, key, hook, object, class);
	lc_own_work_end(&work);
	return x ? x->number : 0;
}

/* The class, where its objects are tasks; NULL for a wrapper, and where there is no room. */
static const struct lc_task_class *find_class(JNIEnv *jni, const struct lc_span_thread *s,
                                              jobject object, jint word)
{
	const struct lc_task_class *class = lc_task_class_of(
	    lc_task_thread_places(s->tasks), jni, object, (uint32_t)word, lc_epoch_gc_sequence());

	return class && !(class->flags & LC_CLASS_WRAPPER) ? class : NULL;
}

/* Another part of the class's events is recorded from now on. */
static __attribute__((noinline)) void watch_changed(JNIEnv *jni, struct lc_span_thread *s,
                                                    const struct lc_task_class *class)
{
	uint8_t state = lc_task_watch_state(class->watch);

	if (state & LC_TASK_WATCH_CALLS)
		lc_count(&tasks.calls);
	else if (state & LC_TASK_WATCH_QUIET)
		lc_count(&tasks.quiet);
	if (state & LC_TASK_WATCH_QUIET)
		lc_task_counted_in_part(s, class);
	lc_task_class_tell(jni, class);
}

/* The frame of a task that begins says whether its class is one of tasks. */
static void watch_run(JNIEnv *jni, struct lc_span_thread *s, const struct lc_task_class *class,
                      const struct lc_span_frame *f)
{
	enum lc_task_watch_run run = LC_TASK_WATCH_RUN_TASK;

	if (f->kind == LC_SPAN_TASK &&
	    !(f->task.flags & (LC_TRACE_SUBMITTED | LC_TRACE_FORK_JOIN))) {
		if (!f->task.creator)
			run = LC_TASK_WATCH_RUN_UNKNOWN;
		else if (f->task.flags & LC_TRACE_SAME_THREAD)
			run = LC_TASK_WATCH_RUN_CALL;
	}
	if (lc_task_watch_executed(class->watch, run))
		watch_changed(jni, s, class);
}

void lc_task_trace(struct lc_span_thread *s, const struct lc_span_frame *f, uint64_t outer,
                   const struct lc_span_ended *e)
{
	const struct lc_block_trace row = {
		.id = f->number,
		.outer = outer,
		.logical = f->task.object,
		.kind = (uint8_t)f->kind,
		.submit_kind = f->slot->key.submit_kind,
		.flags = (uint16_t)(f->task.flags & (LC_TRACE_FLAGS_END - 1)),
		.site = f->slot->key.site,
		.submit_path = f->slot->key.submit_path,
		.creator = f->task.creator,
		.start_ns = f->begin_tsc, /* both in ticks here, see trace.h */
		.duration_ns = e->end_tsc - f->begin_tsc,
		.cycles = e->cycles,
		.compensated = e->compensated,
		.switches = e->switches,
		.wait_ns = lc_task_wait_ns(f),
	};

	if (lc_trace_log_put(s->traces, &row))
		lc_wake();
}

/* Exported. Context: [hook]. */
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_created(JNIEnv *jni, jclass span, jobject task,
                                                        jint hash, jint word);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_submitted(JNIEnv *jni, jclass span, jobject task,
                                                          jint hash, jint word, jint kind);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_entered(JNIEnv *jni, jclass span, jboolean all);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_left(JNIEnv *jni, jclass span);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_refused(JNIEnv *jni, jclass span);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_taskBegin(JNIEnv *jni, jclass span, jobject task,
                                                          jint hash, jint word, jint traits);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_mount(JNIEnv *jni, jclass span, jlong id);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_unmount(JNIEnv *jni, jclass span, jlong id);

void Java_java_lang_LocusSpan_created(JNIEnv *jni, jclass span, jobject task, jint hash, jint word)
{
	uint64_t frame = (uintptr_t)__builtin_frame_address(0);
	struct lc_span_thread *s = enter(jni, hash);
	const struct lc_task_class *class = s && s->tasks ? find_class(jni, s, task, word) : NULL;
	uint32_t site;

	if (!class || lc_task_watch_state(class->watch) & LC_TASK_WATCH_QUIET)
		return;
	if (lc_task_watch_created(class->watch))
		watch_changed(jni, s, class);
	site = find_place(jni, s, frame, LC_TASK_PLACE_CREATED, task, class);
	lc_task_created(s, class, (uint32_t)hash, site ? site : class->site, __rdtsc());
	lc_span_hook_ran(s, LC_SPAN_HOOK_CREATED);
}

/* An object of a known class was submitted by the hook with this frame. */
static void submit(JNIEnv *jni, struct lc_span_thread *s, uint64_t frame, jobject task,
                   const struct lc_task_class *class, struct lc_link_key key, jint bits)
{
	unsigned kind = (unsigned)bits & LC_SUBMIT_KIND_MASK;
	enum lc_task_place_hook hook =
	    bits & LC_SUBMIT_CALLED ? LC_TASK_PLACE_CALLED : LC_TASK_PLACE_SUBMITTED;
	uint32_t path;

	if (bits & LC_SUBMIT_AGAIN || kind == LC_SUBMIT_NONE || kind >= LC_SUBMIT_KINDS ||
	    lc_task_repeats(s, key))
		return;
	path = find_place(jni, s, frame, hook, task, class);
	lc_task_submitted(
	    s, class, key.hash,
	    &(struct lc_task_submission){ .tsc = __rdtsc(), .path = path, .kind = (uint8_t)kind });
}

void Java_java_lang_LocusSpan_submitted(JNIEnv *jni, jclass span, jobject task, jint hash,
                                        jint word, jint bits)
{
	uint64_t frame = (uintptr_t)__builtin_frame_address(0);
	struct lc_span_thread *s = enter(jni, hash);
	const struct lc_task_class *class = s && s->tasks ? find_class(jni, s, task, word) : NULL;
	struct lc_link_key key = { .hash = (uint32_t)hash, .class = class ? class->id : 0 };

	if (class && lc_task_watch_submitted(class->watch))
		watch_changed(jni, s, class);
	if (class) {
		submit(jni, s, frame, task, class, key, bits);
		lc_span_hook_ran(s, LC_SPAN_HOOK_SUBMITTED);
	}
	if (bits & (LC_SUBMIT_ENTERS | LC_SUBMIT_ENTERS_ALL) && s && s->tasks)
		lc_task_entered(s, key, bits & LC_SUBMIT_ENTERS_ALL);
}

void Java_java_lang_LocusSpan_entered(JNIEnv *jni, jclass span, jboolean all)
{
	struct lc_span_thread *s = enter(jni, 0);

	if (!s || !s->tasks)
		return;
	lc_task_entered(s, (struct lc_link_key){ 0 }, all);
	lc_span_hook_ran(s, LC_SPAN_HOOK_ENTERED);
}

static void leave(bool refused)
{
	struct lc_span_thread *s = lc_span_known();

	if (!s || !s->tasks)
		return;
	lc_task_left(s, refused);
	lc_span_hook_ran(s, LC_SPAN_HOOK_ENTERED);
}

void Java_java_lang_LocusSpan_left(JNIEnv *jni, jclass span)
{
	leave(false);
}

void Java_java_lang_LocusSpan_refused(JNIEnv *jni, jclass span)
{
	leave(true);
}

void Java_java_lang_LocusSpan_taskBegin(JNIEnv *jni, jclass span, jobject task, jint hash,
                                        jint word, jint traits)
{
	uint64_t frame = (uintptr_t)__builtin_frame_address(0), tsc, now;
	struct lc_span_thread *s = enter(jni, hash);
	const struct lc_task_class *class = NULL;
	struct lc_span_frame *f;
	uint64_t caller;

	if (!s)
		return;
	caller = caller_of(frame);
	lc_span_arrive(s, frame, caller);
	if (lc_span_is_last(s, frame)) {
		lc_span_overflow(jni);
		return;
	}
	if (s->tasks && !(traits & LC_TASK_WRAPPER))
		class = find_class(jni, s, task, word);
	if (class && lc_task_watch_state(class->watch) & LC_TASK_WATCH_CALLS)
		class = NULL;
	f = s->tasks ? lc_task_begin(s, class, (uint32_t)hash, (uint32_t)traits)
	             : lc_span_push(s, LC_SPAN_KINDS, NULL);
	if (!f)
		return;
	if (class && f->slot)
		watch_run(jni, s, class, f);
	f->stack_pointer = frame;
	f->return_address = caller;
	now = lc_cycles_read(&s->clock, &tsc);
	lc_span_start(s, f, now, tsc);
}

void Java_java_lang_LocusSpan_mount(JNIEnv *jni, jclass span, jlong id)
{
	struct lc_span_thread *s;

	s = lc_span_known();
	if (!s && lc_virtual_has_frames((uint64_t)id))
		s = lc_span_enter(
		    jni); /* of a thread that the JVM has announced: it is not called */
	lc_virtual_mount(s, (uint64_t)id, s ? lc_cycles_now(&s->clock) : 0);
}

void Java_java_lang_LocusSpan_unmount(JNIEnv *jni, jclass span, jlong id)
{
	struct lc_span_thread *s;

	s = lc_span_known();
	lc_virtual_unmount(s, (uint64_t)id, s ? lc_cycles_now(&s->clock) : 0);
}
