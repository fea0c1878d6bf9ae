/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/streams/stream.c - has the natives that the bytecode of streams calls: begins and ends of
 * spans.
 *
 * A begin looks everything up first and reads the clock last; an end reads the clock first. A
 * stream inside another one finds its outer stream, and its own level, in the innermost frame
 * (lc_stream_context): frames that are not streams pass the context on.
 *
 * Order: O1  the last blocks are written -> a thread closes what they were read from.
 */
#include "src/span/span.h"

#include <stdatomic.h>

#include "src/base/spin.h"
#include "src/core/own_work.h"
#include "src/core/reset.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/profile/profile_writer.h"
#include "src/span/frames/stack.h"
#include "src/span/frames/trace.h"
#include "src/span/streams/location.h"
#include "src/span/tasks/link.h"
#include "src/span/tasks/task.h"

static _Thread_local struct {
	struct lc_span_thread *spans;
	uint32_t recording; /* that the rest is of */
	bool over;
} self __attribute__((tls_model("initial-exec")));

/* Set when the recording ends before the program: hooks record nothing, and later let go. */
static _Atomic enum { GOES_ON, ENDS, ENDED } recording;

static inline bool is_off(void)
{
	return atomic_load_explicit(&recording, memory_order_relaxed) != GOES_ON || !lc_recording();
}

/* The calling thread's spans, of this recording. */
static inline struct lc_span_thread *known(void)
{
	return __builtin_expect(self.recording == lc_recording(), 1) ? self.spans : NULL;
}

static void set_known(struct lc_span_thread *spans, bool over)
{
	self.spans = spans;
	self.over = over;
	if (self.recording != lc_recording())
		lc_link_forgot = 0;
	self.recording = lc_recording();
}

static __attribute__((noinline)) struct lc_span_thread *enter_slowly(JNIEnv *jni)
{
	if (is_off()) {
		/* Nobody reads the thread's spans any more, so that its clock can be closed. */
		if (known() &&
		    atomic_load_explicit(&recording, memory_order_acquire) == ENDED) /* O1 */
			lc_span_thread_end(lc_thread_self());
		return NULL;
	}
	if (self.recording != lc_recording() || !self.over)
		set_known(lc_span_thread_open(jni), false);
	return known();
}

void lc_span_hooks_off(bool written)
{
	atomic_store_explicit(&recording, written ? ENDED : ENDS, memory_order_release); /* O1 */
}

/* The calling thread's spans, for all but ends. */
static inline struct lc_span_thread *enter(JNIEnv *jni)
{
	struct lc_span_thread *s = known();

	if (__builtin_expect(s == NULL || is_off(), 0))
		return enter_slowly(jni);
	if (__builtin_expect(s->probe.open, 0))
		lc_probe_reveal(s);
	return s;
}

struct lc_span_thread *lc_span_enter(JNIEnv *jni)
{
	return enter(jni);
}

struct lc_span_thread *lc_span_known(void)
{
	if (is_off())
		return NULL;
	if (known() && self.spans->probe.open)
		lc_probe_reveal(self.spans);
	return known();
}

void lc_span_thread_close(bool last)
{
	set_known(NULL, last);
}

/* A hook's frame, and its return address in bytecode. */
struct hook {
	struct lc_native_frame at;
	uint64_t return_address;
};

static inline struct hook hook_at(const void *frame)
{
	const struct lc_native_frame at = lc_frame_native(frame);

	return (struct hook){ at, lc_frame_native_return(&at) };
}

/* The calling thread's spans, before a begin; NULL: nothing is to begin. */
static inline __attribute__((always_inline)) struct lc_span_thread *arrive(JNIEnv *jni,
                                                                           struct hook h)
{
	struct lc_span_thread *s = enter(jni);

	if (!s)
		return NULL;
	lc_span_arrive(s, h.at.frame, h.return_address);
	if (lc_span_is_last(s, h.at.frame)) {
		lc_span_overflow(jni);
		return NULL;
	}
	return s;
}

/* Single spans */

/* Number of the innermost span around frame `f`; 0: none. */
static uint64_t outer_number(const struct lc_span_thread *s, const struct lc_span_frame *f)
{
	while (--f > s->frames && !f->slot)
		;
	return f > s->frames ? f->number : 0;
}

static __attribute__((noinline)) void trace(struct lc_span_thread *s, const struct lc_span_frame *f,
                                            const struct lc_span_ended *e)
{
	struct lc_block_trace row = {
		.id = f->number,
		.outer = outer_number(s, f),
		/* A support span belongs to a primordial one, others to the stream around them. */
		.logical = f->kind == LC_SPAN_SUPPORT ? f->stream.id : f[-1].stream.id,
		.kind = (uint8_t)f->kind,
		.level = f->slot->key.level,
		.path = f->stream.path,
		.start_ns = f->begin_tsc,
		.duration_ns = e->end_tsc - f->begin_tsc,
		.cycles = e->cycles,
		.compensated = e->compensated,
		.switches = e->switches,
	};

	if (lc_trace_log_put(s->traces, &row))
		lc_wake();
}

/* Begins */

static inline __attribute__((always_inline)) void start(struct lc_span_thread *s,
                                                        struct lc_span_frame *f, struct hook h)
{
	uint64_t now, tsc;

	f->stack_pointer = h.at.frame;
	f->return_address = h.return_address;
	now = lc_cycles_read(&s->clock, &tsc);
	lc_span_start(s, f, now, tsc);
}

/*
 * The slot of a stream that is asked for here, and what the stream's frame has as its context. No
 * address of it is taken, so that it stays in registers: a struct that was stored part by part and
 * is copied at once waits until all stores before it are done.
 */
struct found {
	struct lc_location *location;
	struct lc_span_slot *slot;
	uint64_t id;
	uint32_t path, level;
};

/*
 * A function of its own that is given values, so that the usual begin keeps all it has in
 * registers.
 */
static __attribute__((noinline, cold)) struct lc_location *learn(struct lc_span_thread *s,
                                                                 JNIEnv *jni, uint64_t frame,
                                                                 uint64_t native, uint64_t into,
                                                                 uint64_t key, unsigned how)
{
	const struct lc_native_frame at = { frame, native, into };
	struct lc_own_work work;
	struct lc_location *x;

	lc_own_work_begin(&work);
	x = lc_location_learn(s->locations, jni, &at, key, (enum lc_location_hook)(how >> 1),
	                      how & 1);
	lc_own_work_end(&work);
	/* The library's own streams have no results. */
	x->look = x->path && !x->library ? lc_repeated_next(&s->looks, x->path) : 0;
	return x;
}

static inline __attribute__((always_inline)) struct found find(struct lc_span_thread *s,
                                                               JNIEnv *jni, struct hook h,
                                                               unsigned kind,
                                                               enum lc_location_hook type)
{
	const struct lc_stream_context *outer = &s->top->stream;
	uint64_t key = lc_location_key(h.return_address, type, outer->id);
	struct lc_location *x = lc_location_find(s->locations, h.at.frame, key);
	struct found found;

	if (__builtin_expect(!x, 0))
		x = learn(s, jni, h.at.frame, h.at.native, h.at.into, key,
		          (unsigned)type << 1 | (outer->id != 0));
	found.location = x;
	found.level = outer->id ? outer->level + 1 : 0;
	found.path = lc_location_path(s->locations, x, outer->id ? outer->path : 0);
	found.id = lc_span_number(s);
	found.slot = lc_location_slot(s, x, kind, found.level, found.path);
	return found;
}

/* One of many: see what it computes of what. The location is not touched after Java was called. */
static __attribute__((noinline, cold)) void
look(struct lc_span_thread *s, JNIEnv *jni, jobject stream, struct lc_location *x, uint64_t number)
{
	uint32_t path = x->path;

	if (!path || x->library)
		return;
	x->look = lc_repeated_next(&s->looks, path);
	lc_repeated_begin(s, jni, stream, path, number);
}

/* Is it enough to count this one? Not where it is looked at. */
static __attribute__((noinline)) bool is_counted(struct lc_span_thread *s,
                                                 struct lc_span_slot *slot, uint64_t id,
                                                 uint64_t path_level, uint64_t frame,
                                                 uint64_t return_address)
{
	const struct lc_stream_context stream = { .id = id,
		                                  .path = (uint32_t)(path_level >> 32),
		                                  .level = (uint32_t)path_level };

	return s->looks.innermost != id && lc_probe_begin(s, slot, &stream, frame, return_address);
}

static inline __attribute__((always_inline)) void begin(struct lc_span_thread *s, JNIEnv *jni,
                                                        struct hook h, unsigned kind,
                                                        enum lc_location_hook type, jobject stream)
{
	struct found found = find(s, jni, h, kind, type);
	struct lc_span_frame *f;

	if (stream && __builtin_expect(!--found.location->look, 0))
		look(s, jni, stream, found.location, found.id);
	if (__builtin_expect(s->probe.counting, 0) && found.slot && !found.slot->never_counted &&
	    kind == LC_SPAN_ANONYMOUS &&
	    is_counted(s, found.slot, found.id, (uint64_t)found.path << 32 | found.level,
	               h.at.frame, h.return_address))
		return;
	f = lc_span_push(s, kind, found.slot);
	if (!f)
		return;
	f->number = found.id;
	f->stream.id = found.id;
	f->stream.path = found.path;
	f->stream.level = found.level;
	if (kind == LC_SPAN_PRIMORDIAL)
		lc_link_stream_begins(found.id);
	start(s, f, h);
}

JNIEXPORT void JNICALL Java_java_lang_LocusSpan_streamBegin(JNIEnv *jni, jclass c, jobject stream,
                                                            jboolean p);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_headBegin(JNIEnv *jni, jclass c, jboolean p);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_foreignBegin(JNIEnv *jni, jclass c);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_pulled(JNIEnv *jni, jclass c);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_made(JNIEnv *jni, jclass c, jobject function,
                                                     jint word);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_end(JNIEnv *jni, jclass c);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_ended(JNIEnv *jni, jclass c, jobject result);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_streamTask(JNIEnv *jni, jclass c, jobject task,
                                                           jint hash);
JNIEXPORT void JNICALL Java_java_lang_LocusSpan_supportBegin(JNIEnv *jni, jclass c, jobject task,
                                                             jint hash);

void Java_java_lang_LocusSpan_streamBegin(JNIEnv *jni, jclass c, jobject stream, jboolean parallel)
{
	struct hook h = hook_at(__builtin_frame_address(0));
	struct lc_span_thread *s = arrive(jni, h);

	if (!s)
		return;
	begin(s, jni, h, parallel ? LC_SPAN_PRIMORDIAL : LC_SPAN_ANONYMOUS, LC_LOCATION_STREAM,
	      stream);
}

void Java_java_lang_LocusSpan_headBegin(JNIEnv *jni, jclass c, jboolean parallel)
{
	struct hook h = hook_at(__builtin_frame_address(0));
	struct lc_span_thread *s = arrive(jni, h);
	struct lc_span_frame *f;

	if (!s)
		return;
	if (!parallel) {
		begin(s, jni, h, LC_SPAN_ANONYMOUS, LC_LOCATION_STREAM, NULL);
		return;
	}
	f = lc_span_push(s, LC_SPAN_KINDS, NULL);
	if (f)
		start(s, f, h);
}

void Java_java_lang_LocusSpan_foreignBegin(JNIEnv *jni, jclass c)
{
	struct hook h = hook_at(__builtin_frame_address(0));
	struct lc_span_thread *s = arrive(jni, h);

	if (!s)
		return;
	begin(s, jni, h, LC_SPAN_FOREIGN, LC_LOCATION_FOREIGN, NULL);
}

/*
 * Nobody knows when such a stream is pulled to its end, if ever: it is counted and has no cycles.
 */
void Java_java_lang_LocusSpan_pulled(JNIEnv *jni, jclass c)
{
	struct hook h = hook_at(__builtin_frame_address(0));
	struct lc_span_thread *s = enter(jni);
	struct found found;
	uint64_t tsc;

	if (!s)
		return;
	found = find(s, jni, h, LC_SPAN_PULLED, LC_LOCATION_STREAM);
	if (!found.slot)
		return;
	(void)lc_cycles_read(&s->clock, &tsc);
	lc_span_add(&found.slot->counts.executions, 1);
	if (!atomic_load_explicit(&found.slot->first_tsc, memory_order_relaxed))
		atomic_store_explicit(&found.slot->first_tsc, tsc, memory_order_relaxed);
	atomic_store_explicit(&found.slot->last_tsc, tsc, memory_order_relaxed);
	lc_span_hook_ran(s, LC_SPAN_HOOK_PULLED);
}

void Java_java_lang_LocusSpan_made(JNIEnv *jni, jclass c, jobject function, jint word)
{
	struct lc_span_thread *s = enter(jni);

	if (!s)
		return;
	lc_flatmap_made(&s->locations->flat, jni, function, (uint32_t)word);
	lc_span_hook_ran(s, LC_SPAN_HOOK_FLAT);
}

/* A support task belongs to the stream that its creator is executing. */
void Java_java_lang_LocusSpan_streamTask(JNIEnv *jni, jclass c, jobject task, jint hash)
{
	struct lc_span_thread *s = enter(jni);
	const struct lc_stream_context *stream;

	if (!s || !s->top->stream.id)
		return; /* of a stream that is pulled */
	stream = &s->top->stream;
	lc_link_stream_put((uint32_t)hash, &(struct lc_link_stream){
	                                       .id = stream->id,
	                                       .path = stream->path,
	                                       .level = (uint8_t)(stream->level < LC_SPAN_LEVEL_MAX
	                                                              ? stream->level
	                                                              : LC_SPAN_LEVEL_MAX) });
}

void Java_java_lang_LocusSpan_supportBegin(JNIEnv *jni, jclass c, jobject task, jint hash)
{
	struct hook h = hook_at(__builtin_frame_address(0));
	struct lc_span_thread *s = arrive(jni, h);
	struct lc_link_stream stream = { 0 };
	struct lc_span_slot *slot;
	struct lc_span_frame *f;
	uint64_t number;

	if (!s)
		return;
	number = lc_span_number(s);
	if (!lc_link_stream_take((uint32_t)hash, &stream))
		stream = (struct lc_link_stream){ .id = number }; /* of an unknown stream */
	slot = lc_span_slot_find(s, &(struct lc_span_key){ .kind = LC_SPAN_SUPPORT,
	                                                   .level = stream.level,
	                                                   .path = stream.path });
	f = lc_span_push(s, LC_SPAN_SUPPORT, slot);
	if (!f)
		return;
	f->number = number;
	f->stream = (struct lc_stream_context){ .id = stream.id,
		                                .path = stream.path,
		                                .level = stream.level };
	start(s, f, h);
}

static inline __attribute__((always_inline)) void
count(struct lc_span_thread *s, struct lc_span_frame *f, const struct lc_span_ended *e)
{
	if (f->kind >= LC_SPAN_TASK) {
		lc_task_end(s, f, e);
		return;
	}
	lc_span_slot_add(f->slot, f, e);
}

static __attribute__((noinline, cold)) void
count_watched(struct lc_span_thread *s, struct lc_span_frame *f, const struct lc_span_ended *e)
{
	lc_spin_lock(&s->lock);
	count(s, f, e);
	lc_span_watched_ended(s, f);
	lc_spin_unlock(&s->lock);
}

/* Is this the end of the stream that is only counted? Not where its own was lost. */
static inline bool end_counted(struct lc_span_thread *s, uint64_t frame)
{
	const struct lc_probe *p = &s->probe;

	if (frame > p->stack_pointer && frame - p->stack_pointer > LC_SPAN_SLACK_BYTES) {
		lc_probe_reveal(s);
		return false;
	}
	lc_probe_end(s);
	return true;
}

static inline __attribute__((always_inline)) void finish(const void *frame, JNIEnv *jni,
                                                         jobject result)
{
	struct lc_span_thread *s = known();
	struct lc_span_ended e;
	struct lc_span_frame *f;
	uint64_t now, tsc;

	if (!s || __builtin_expect(is_off(), 0))
		return;
	if (__builtin_expect(s->probe.open, 0) && end_counted(s, (uint64_t)(uintptr_t)frame))
		return;
	now = lc_cycles_read(&s->clock, &tsc);
	if (!lc_span_leave(s, (uint64_t)(uintptr_t)frame))
		return;
	if (__builtin_expect(lc_span_empty(s), 0)) {
		lc_span_add(&s->unmatched, 1);
		return;
	}
	f = lc_span_pop(s, now, tsc, &e);
	if (!f->slot)
		return;
	if (f->kind == LC_SPAN_PRIMORDIAL)
		lc_link_stream_ends(f->number);
	if (lc_span_is_watched(f))
		count_watched(s, f, &e);
	else
		count(s, f, &e);
	if (__builtin_expect(s->traces != NULL, 0) && f->kind < LC_SPAN_TASK)
		trace(s, f, &e);
	if (__builtin_expect(f->number == s->looks.innermost, 0) && f->kind < LC_SPAN_TASK)
		lc_repeated_end(s, jni, result, e.total);
	if (__builtin_expect(--s->probe.left == 0, 0))
		lc_probe_turn(s);
}

void Java_java_lang_LocusSpan_end(JNIEnv *jni, jclass c)
{
	finish(__builtin_frame_address(0), jni, NULL);
}

/* The end of a stream that has a result. */
void Java_java_lang_LocusSpan_ended(JNIEnv *jni, jclass c, jobject result)
{
	finish(__builtin_frame_address(0), jni, result);
}
