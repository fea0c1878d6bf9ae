/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/batches.c - finds methods that do not return, and times each batch.
 *
 * A method may be hot if looks at all stacks have found it on top of a thread that runs Java code,
 * or just below. A thread with such a method on its stack is looked at again and again. An
 * activation that is missing once has returned; one that is seldom on top lets others do the work.
 * An activation that is always there and often on top may be a loop that never ends: its class is
 * left. A method that is called again and again seems to be always there, since few looks fall
 * between two calls. So a thread is looked at until the looks are many, even if they take long
 * because the thread waits for a CPU.
 *
 * The JVM reads and links new classes while the program runs, and stops the program afterwards. The
 * program still runs when the last class file of the batch is rewritten, so the rest of the call is
 * a bound of the pause. In the pause the JVM goes through all loaded classes, however small the
 * batch: with 20,000 that takes as long as the classes of a batch of 500. So a batch becomes
 * smaller only if it stops the program for much longer than the shortest batch did.
 */
#include "src/hooks/batches.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "src/base/time.h"
#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/hooks/hooked.h"
#include "src/hooks/unchanged.h"

#define MS UINT64_C(1000000)

enum {
	HOT_MAX = 1024,
	HOT_FRAMES = 2,
	ACTIVE_MAX = 1024,
	DEPTH = 256, /* what a deeper stack holds returns */
	LOOKS = 10,
	LOOK_MS = 5,
	AGAIN_MS = 40,      /* a thread is looked at for so long, */
	ALL_MS = 400,       /* and all of them together, */
	LOOKS_ENOUGH = 200, /* but so often, */
	LATE = 16,          /* unless that takes so many times as long */
	HOT_PERCENT = 60,   /* of the looks at Java code a hot method is on top */
	BATCH_FIRST = 8,
	BATCH_LEAST = 32, /* afterwards */
	BATCH_MAX = 1024,
	PAUSE_MORE_MS = 20, /* that a batch may take longer than the shortest */
	CALL_MS = 1000,     /* a call that takes longer makes the next batch smaller */
};

/* A method on a stack that may be hot. */
struct activation {
	jthread thread; /* local references */
	jclass class;
	jmethodID method;
	jint height; /* frames below it, itself included */
	bool returned;
	uint32_t looks, on_top; /* how often it was looked at in Java code, and on top */
};

struct look {
	jmethodID hot[HOT_MAX];
	size_t hot_len;
	struct activation active[ACTIVE_MAX];
	size_t active_len;
};

/* Static, because without it no class can be transformed. Used by: one thread at a time. */
static struct look last_look;

static _Atomic uint64_t class_file_ns;                 /* when a class file was last looked at */
static _Atomic uint32_t progress_done, progress_total; /* relaxed: each is right on its own */

void lc_batches_progress(uint32_t *done, uint32_t *total)
{
	*done = atomic_load_explicit(&progress_done, memory_order_relaxed);
	*total = atomic_load_explicit(&progress_total, memory_order_relaxed);
}

void lc_batches_class_file(void)
{
	atomic_store_explicit(&class_file_ns, lc_time_now_ns(), memory_order_relaxed);
}

static void sleep_ms(unsigned ms)
{
	const struct timespec time = { .tv_nsec = (long)(ms * MS) };

	nanosleep(&time, NULL);
}

/* -- methods that do not return ------------------------------------------------------------ */

static bool is_hot(const struct look *l, jmethodID method)
{
	for (size_t i = 0; i < l->hot_len; i++)
		if (l->hot[i] == method)
			return true;
	return false;
}

static void add_hot(struct look *l, const jvmtiStackInfo *stack)
{
	const jint waits = JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_SLEEPING |
	                   JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER |
	                   JVMTI_THREAD_STATE_IN_NATIVE;

	if (stack->state & waits)
		return;
	for (jint i = 0; i < stack->frame_count && i < HOT_FRAMES; i++) {
		const jmethodID method = stack->frame_buffer[i].method;

		if (l->hot_len < HOT_MAX && !is_hot(l, method))
			l->hot[l->hot_len++] = method;
	}
}

static bool is_one_of(JNIEnv *jni, const jclass *classes, jint len, jclass class)
{
	for (jint i = 0; i < len; i++)
		if ((*jni)->IsSameObject(jni, classes[i], class))
			return true;
	return false;
}

/* Note where the hot methods of the wanted classes are on the stack. */
static void add_active(JNIEnv *jni, struct look *l, const jvmtiStackInfo *stack,
                       const jclass *wanted, jint wanted_len)
{
	jvmtiEnv *jvmti = lc_jvmti();

	for (jint i = 0; i < stack->frame_count && stack->frame_count < DEPTH; i++) {
		struct activation a = { .method = stack->frame_buffer[i].method,
			                .height = stack->frame_count - i };

		if (l->active_len == ACTIVE_MAX || !is_hot(l, a.method) ||
		    (*jvmti)->GetMethodDeclaringClass(jvmti, a.method, &a.class))
			continue;
		if (is_one_of(jni, wanted, wanted_len, a.class)) {
			a.thread = (*jni)->NewLocalRef(jni, stack->thread);
			l->active[l->active_len++] = a;
		} else {
			(*jni)->DeleteLocalRef(jni, a.class);
		}
	}
}

/* Lines can be asked for as long as the methods are not replaced, which these go on with. */
static void name_methods(JNIEnv *jni, const jvmtiStackInfo *stack)
{
	for (jint i = 0; i < stack->frame_count; i++)
		(void)lc_path_method(jni, stack->frame_buffer[i].method);
}

static void look_at_all(JNIEnv *jni, struct look *l, jint depth, const jclass *wanted, jint len)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jvmtiStackInfo *stacks = NULL;
	jint stacks_len = 0;

	if ((*jvmti)->GetAllStackTraces(jvmti, depth, &stacks, &stacks_len))
		return;
	for (jint i = 0; i < stacks_len; i++)
		add_hot(l, &stacks[i]);
	for (jint i = 0; i < stacks_len; i++) {
		if (wanted) {
			name_methods(jni, &stacks[i]);
			add_active(jni, l, &stacks[i], wanted, len);
		}
		(*jni)->DeleteLocalRef(jni, stacks[i].thread);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)stacks);
}

/* Which of the activations of the thread of `first` have returned? Returns whether all have. */
static bool look_at_one(JNIEnv *jni, struct look *l, size_t first)
{
	const jthread thread = l->active[first].thread;
	jvmtiFrameInfo frames[DEPTH];
	bool all = true;
	jint len = 0;

	if ((*lc_jvmti())->GetStackTrace(lc_jvmti(), thread, 0, DEPTH, frames, &len))
		len = 0; /* it has ended */
	for (size_t i = first; i < l->active_len; i++) {
		struct activation *a = &l->active[i];

		if (a->returned || !(*jni)->IsSameObject(jni, a->thread, thread))
			continue;
		a->returned = a->height > len || frames[len - a->height].method != a->method;
		if (len && frames[0].location < 0)
			continue; /* in native code, where threads wait, too */
		a->looks++;
		a->on_top += a->height == len;
		all &= a->returned;
	}
	return all;
}

/* Has a thread been looked at for long enough? */
static bool is_known(uint32_t looks, uint64_t passed, uint64_t time)
{
	return passed >= time &&
	       (looks >= LOOKS_ENOUGH || passed >= LATE * time || lc_stages_stopped());
}

/* Find the activations that have not returned. */
static void wait_for_returns(JNIEnv *jni, struct look *l)
{
	const uint64_t part = l->active_len ? ALL_MS * MS / l->active_len : 0;
	const uint64_t time = part < AGAIN_MS * MS ? part : AGAIN_MS * MS;

	for (size_t i = 0; i < l->active_len; i++) {
		const uint64_t begin = lc_time_now_ns();
		uint64_t passed = 0;

		for (uint32_t n = l->active[i].looks;
		     !l->active[i].returned && !is_known(n, passed, time); n++) {
			if (look_at_one(jni, l, i))
				break;
			passed = lc_time_now_ns() - begin;
		}
	}
}

static bool is_busy(const struct activation *a)
{
	return a->on_top && a->on_top * 100 >= a->looks * HOT_PERCENT;
}

static bool runs_on(JNIEnv *jni, const struct look *l, jclass class)
{
	for (size_t i = 0; i < l->active_len; i++)
		if (!l->active[i].returned && is_busy(&l->active[i]) &&
		    (*jni)->IsSameObject(jni, l->active[i].class, class))
			return true;
	return false;
}

/* Move the classes to the front that a hot method runs. Returns their number. */
static jint find_running(JNIEnv *jni, jclass *classes, jint len)
{
	struct look *const l = &last_look;
	jint running = 0;

	if ((*jni)->PushLocalFrame(jni, 4 * ACTIVE_MAX)) {
		(*jni)->ExceptionClear(jni);
		lc_hooked_note_no_memory();
		return len;
	}
	l->hot_len = l->active_len = 0;
	for (unsigned i = 0; i < LOOKS; i++) {
		look_at_all(jni, l, HOT_FRAMES, NULL, 0);
		sleep_ms(LOOK_MS);
	}
	look_at_all(jni, l, DEPTH, classes, len);
	wait_for_returns(jni, l);
	for (jint i = 0; i < len; i++) {
		const jclass class = classes[i];

		if (runs_on(jni, l, class)) {
			classes[i] = classes[running];
			classes[running++] = class;
		}
	}
	(*jni)->PopLocalFrame(jni, NULL);
	return running;
}

/* -- batches ------------------------------------------------------------------------------- */

/* Returns how long the program may have stood still. */
static uint64_t transform(const jclass *batch, jint len, struct lc_batches_stats *stats)
{
	uint64_t begin = lc_time_now_ns(), pause = 0, worst = 0;
	jint refused = 0;
	bool each = false;

	for (jint i = 0; i < (each ? len : 1); i++) {
		const jvmtiError err = lc_jvmti_retransform(each ? 1 : len, &batch[i]);
		const uint64_t read =
		    atomic_load_explicit(&class_file_ns, memory_order_relaxed); /* a time */

		if (err && !each && len > 1) { /* one of them stops the others */
			each = true;
			i = -1;
			begin = lc_time_now_ns();
			continue;
		}
		refused += err != JVMTI_ERROR_NONE;
		if (err)
			lc_unchanged_note(batch[i]);
		pause = lc_time_now_ns() - (read > begin ? read : begin);
		worst = pause > worst ? pause : worst;
		begin = lc_time_now_ns();
	}
	stats->batches++;
	stats->transformed += (uint64_t)(len - refused);
	stats->refused += (uint64_t)refused;
	if (worst > stats->pause_max_ns)
		stats->pause_max_ns = worst;
	return worst;
}

static void note_progress(enum lc_stage stage, jint done, jint total)
{
	atomic_store_explicit(&progress_done, (uint32_t)done, memory_order_relaxed);
	atomic_store_explicit(&progress_total, (uint32_t)total, memory_order_relaxed);
	lc_stages_parts(stage, (uint32_t)done, (uint32_t)total);
}

/*
 * The size of the next batch. If calls take long on a busy machine, batches stay small, so that
 * progress is reported and a stop comes soon.
 */
static jint next_size(jint size, jint used, uint64_t pause, uint64_t shortest, uint64_t call)
{
	if (call > CALL_MS * MS)
		return size > 2 * BATCH_FIRST ? size / 2 : BATCH_FIRST;
	if (pause > shortest + PAUSE_MORE_MS * MS)
		return size > 2 * BATCH_LEAST ? size / 2 : BATCH_LEAST;
	return used == size && size < BATCH_MAX ? 2 * size : size;
}

jint lc_batches_transform(JNIEnv *jni, jclass *classes, jint len, enum lc_stage stage,
                          struct lc_batches_stats *stats)
{
	const jint running = find_running(jni, classes, len);
	const bool stoppable = stage == LC_STAGE_CLASSES;
	uint64_t shortest = UINT64_MAX;
	jint batch_max = BATCH_FIRST, n;

	note_progress(stage, 0, len - running);
	for (jint at = running; at < len && !(stoppable && lc_stages_stopped()); at += n) {
		const uint64_t begin = lc_time_now_ns();
		uint64_t pause;

		n = len - at < batch_max ? len - at : batch_max;
		pause = transform(classes + at, n, stats);
		shortest = pause < shortest ? pause : shortest;
		batch_max = next_size(batch_max, n, pause, shortest, lc_time_now_ns() - begin);
		note_progress(stage, at + n - running, len - running);
	}
	stats->running = (uint64_t)running;
	return running;
}
