/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/watch.c - finds the watched object, and aims the breakpoints of all threads at it.
 *
 * Each sampled thread has its event from its start on, disabled until the object is there: opening
 * an event takes milliseconds at times, re-aiming it microseconds. perf_engine.c reads the events.
 *
 * Breakpoint events are not throttled by the kernel, which limits only what comes several times
 * at once, so the count is exact. A hit costs 10 us in a virtual machine (most of it for the way
 * out and back), a sample some 15 more.
 *
 * Locks: `lock`, after the engines' lock where both are held. It guards where a watch aims and the
 *        aiming of all events, so that a thread that starts, a hook that found the object and a
 *        collection that moved it leave every event aimed at the last place. Never held across a
 *        call into the JVM: the thread that ends a pause waits for it.
 * Order: W1  state FOUND is stored (release) behind what it says -> loaded (acquire).
 *        W2  a watch's `why` is stored (release) behind the text -> loaded (acquire). Only the
 *            thread that refuses the watch, or explains at the end, writes it.
 */
#include "src/sample/watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "src/base/nearest.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/refs.h"
#include "src/core/watch_hook.h"
#include "src/format/kinds.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/os/handle.h"
#include "src/perf/event.h"
#include "src/sample/decode.h"
#include "src/sample/sampler.h"
#include "src/sample/signals.h"

enum { WIDEST = 8, NAME_MAX_BYTES = LC_EVENT_TEXT_MAX + 2, WHY_MAX = 1024 };

enum state {
	SEARCHING,
	FOUND,
	DEAD,    /* collected */
	REFUSED, /* the object has appeared, but it has no such place */
};

struct watch {
	const struct lc_event *event;    /* set by start; NULL: no watch */
	struct lc_event aimed;           /* the event to open: `event` with the place. Under lock */
	_Atomic int state;               /* enum state; W1 */
	char signature[NAME_MAX_BYTES];  /* of the class; set by start */
	char class_name[NAME_MAX_BYTES]; /* as Class constants have it; set by start */
	_Atomic(jweak) class;            /* the first one of that name; never changes then */
	_Atomic uint64_t seen;           /* objects of the class */
	jweak ref;                       /* under lock, as are the fields below */
	uint64_t offset;                 /* of the place in the object */
	uint64_t object;                 /* where it begins; 0: nowhere */
	uint64_t size_bytes;             /* of the object */
	_Atomic uint64_t moved, unaimed;
	char said[WHY_MAX]; /* why nothing was counted, before `why` points to it */
	_Atomic(const char *) why;
};

static struct {
	pthread_mutex_t lock;
	struct watch row[LC_EVENTS_MAX];
	const char *classes[LC_EVENTS_MAX];
	uint64_t min_size_bytes;
} watching = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The target of events that have nothing to aim at; nobody touches it. */
static uint64_t nowhere;

static __attribute__((format(printf, 2, 3))) void say(struct watch *w, const char *format, ...)
{
	char line[WHY_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	lc_say("%s: %s", w->event->text, line);
	if (atomic_load_explicit(&w->why, memory_order_relaxed)) /* each says one line */
		return;
	snprintf(w->said, sizeof(w->said), "%s", line);
	atomic_store_explicit(&w->why, w->said, memory_order_release); /* W2 */
}

/* -- aiming: under the lock ----------------------------------------------------------------- */

/*
 * Aim w->aimed at `addr`. The kernel demands that all other fields are as when the event was
 * opened.
 */
static void aim_attr(struct watch *w, uint64_t addr)
{
	w->aimed.attr.bp_addr = addr;
}

static void aim(struct watch *w, struct lc_sampler_slot *slot)
{
	struct perf_event_attr attr = w->aimed.attr;

	attr.disabled = 0;
	if (ioctl(slot->perf.fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr))
		atomic_fetch_add_explicit(&w->unaimed, 1, memory_order_relaxed); /* a count */
}

/* Aim every thread's event at the object's place; if the object is dead, disable the events. */
static void aim_all(struct watch *w)
{
	const size_t engine = (size_t)(w - watching.row);
	const uint32_t used = lc_samplers_used();

	aim_attr(w, w->object ? w->object + w->offset : (uintptr_t)&nowhere);
	for (uint32_t i = 0; i < used; i++) {
		struct lc_sampler *s = lc_samplers_at(i);
		struct lc_sampler_slot *slot = &s->slot[engine];

		/* A sampler that is being stopped is left out: its pause comes after this. */
		if (!slot->open || atomic_load(&s->state) != LC_SAMPLER_ACTIVE)
			continue;
		if (w->object)
			aim(w, slot);
		else
			lc_perf_disable(&slot->perf);
	}
}

/* -- the engine ----------------------------------------------------------------------------- */

/* Write "com.acme.Node" and "float[][]" as the JVM writes them. */
static void name_class(struct watch *w)
{
	static const char *const primitives[] = { "Zboolean", "Cchar",  "Ffloat", "Ddouble",
		                                  "Bbyte",    "Sshort", "Iint",   "Jlong" };
	const char *text = w->event->watch.class_name;
	const size_t element = strcspn(text, "["), dimensions = strlen(text + element) / 2;
	char name[LC_EVENT_TEXT_MAX];
	char letter = '\0';

	snprintf(name, sizeof(name), "%.*s", (int)element, text);
	for (size_t i = 0; dimensions && i < sizeof(primitives) / sizeof(*primitives); i++)
		if (!strcmp(name, primitives[i] + 1))
			letter = *primitives[i];
	for (char *c = name; *c; c++)
		if (*c == '.')
			*c = '/';
	memset(w->signature, '[', dimensions);
	if (letter)
		snprintf(w->signature + dimensions, sizeof(w->signature) - dimensions, "%c",
		         letter);
	else
		snprintf(w->signature + dimensions, sizeof(w->signature) - dimensions, "L%s;",
		         name);
	snprintf(w->class_name, sizeof(w->class_name), "%s", dimensions ? w->signature : name);
}

static int start(size_t engine, const struct lc_event *event, const struct lc_options *options)
{
	struct watch *w = &watching.row[engine];
	struct perf_event_attr *attr;

	w->event = event;
	atomic_store_explicit(&w->why, NULL, memory_order_relaxed); /* attach; no manifest yet */
	name_class(w);
	w->aimed = *event;
	watching.min_size_bytes = options->min_size_bytes;
	attr = &w->aimed.attr;
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->inherit = 0;
	attr->watermark = 0;
	attr->wakeup_events = 1;
	attr->exclude_kernel = 1; /* copies that the kernel makes are no accesses of the program */
	attr->exclude_hv = 1;
	attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	attr->bp_addr = (uintptr_t)&nowhere;
	return lc_backend_perf()->start(engine, event, options);
}

static int thread_open(struct lc_sampler *s, size_t engine)
{
	int err;

	pthread_mutex_lock(&watching.lock);
	err = lc_perf_engine_thread_open(s, engine, &watching.row[engine].aimed);
	pthread_mutex_unlock(&watching.lock);
	return err;
}

static int thread_begin(struct lc_sampler *s, size_t engine)
{
	struct watch *w = &watching.row[engine];

	pthread_mutex_lock(&watching.lock);
	if (w->object)
		aim(w, &s->slot[engine]);
	pthread_mutex_unlock(&watching.lock);
	return 0;
}

static void thread_pause(struct lc_sampler *s, size_t engine)
{
	pthread_mutex_lock(&watching.lock);
	lc_backend_perf()->thread_pause(s, engine);
	pthread_mutex_unlock(&watching.lock);
}

static void thread_finish(struct lc_sampler *s, size_t engine)
{
	pthread_mutex_lock(&watching.lock);
	lc_backend_perf()->thread_finish(s, engine);
	pthread_mutex_unlock(&watching.lock);
}

static uint64_t thread_counted(const struct lc_sampler *s, size_t engine)
{
	return lc_backend_perf()->thread_counted(s, engine);
}

const struct lc_backend *lc_backend_watch(void)
{
	static const struct lc_backend watch = {
		.start = start,
		.thread_open = thread_open,
		.thread_begin = thread_begin,
		.thread_pause = thread_pause,
		.thread_finish = thread_finish,
		.thread_counted = thread_counted,
	};

	return &watch;
}

/* -- samples -------------------------------------------------------------------------------- */

uint64_t lc_watch_access(size_t engine, const struct lc_registers *regs, struct lc_sample *head)
{
	const struct lc_event *event = watching.row[engine].event;
	struct lc_access access = { .how = LC_HOW_NOT_JAVA };
	uint64_t end;

	if (event->watch.access == LC_TOUCH_STORE)
		head->access = LC_TOUCH_STORE | LC_ACCESS_WIDTH_UNKNOWN << LC_ACCESS_WIDTH_SHIFT;
	if (!regs || !lc_code_cache_in_cache(regs->pc))
		return 0;
	lc_decode_sample(regs, &access);
	if (access.how != LC_HOW_DIRECT || !(access.access & (LC_TOUCH_LOAD | LC_TOUCH_STORE)))
		return 0;
	/* The breakpoint's address may be anywhere in what the instruction touched. */
	end = access.access >> LC_ACCESS_WIDTH_SHIFT;
	end = access.addr + (end == LC_ACCESS_WIDTH_UNKNOWN ? WIDEST : UINT64_C(1) << end);
	if (head->addr + WIDEST <= access.addr || head->addr >= end)
		return 0;
	head->access = access.access;
	return access.kind == LC_CODE_METHOD && access.recipe.same_frame ? access.recipe.pc : 0;
}

/* -- finding the object --------------------------------------------------------------------- */

/* The widest breakpoint at an offset: aligned to its own width. */
static uint8_t widest_at(uint64_t offset, uint64_t size_bytes)
{
	uint8_t bytes = WIDEST;

	while (bytes > 1 && (offset % bytes || offset + bytes > size_bytes))
		bytes /= 2;
	return bytes;
}

/*
 * Find where the place is in the object, and how wide it is. Returns 0, or -ENOENT with a line on
 * stderr.
 */
static int find_place(JNIEnv *jni, struct watch *w, jobject o, uint64_t size_bytes,
                      uint64_t *offset, uint8_t *bytes)
{
	const struct lc_watch_spec *spec = &w->event->watch;
	jclass class = (*jni)->GetObjectClass(jni, o);
	char near[256] = "";
	int err = 0;

	if (spec->field[0]) {
		err = lc_field_offset(jni, class, spec->field, offset, bytes);
		if (err) {
			lc_field_nearest(jni, class, spec->field, near, sizeof(near));
			say(w, "%s has no field '%s'%s%s%s; nothing is watched", spec->class_name,
			    spec->field, near[0] ? "; did you mean '" : "", near,
			    near[0] ? "'?" : "");
		}
	} else if (spec->has_index) {
		err = lc_field_element(jni, class, spec->index, offset, bytes);
		if (!err && *offset + *bytes > size_bytes) {
			err = -ENOENT;
			say(w, "the array has no element %llu; nothing is watched",
			    (unsigned long long)spec->index);
		}
	} else {
		*offset = spec->has_offset ? spec->offset : lc_field_first(jni, class);
		if (*offset >= size_bytes) {
			err = -ENOENT;
			say(w, "the object has only %llu bytes; nothing is watched",
			    (unsigned long long)size_bytes);
		} else {
			*bytes = widest_at(*offset, size_bytes);
		}
	}
	(*jni)->DeleteLocalRef(jni, class);
	return err;
}

/* Let hooks show objects only while some watch looks for one. */
static void look_on(void)
{
	for (size_t i = 0; i < LC_EVENTS_MAX; i++)
		if (watching.row[i].event &&
		    atomic_load_explicit(&watching.row[i].state, memory_order_relaxed) == SEARCHING)
			return;
	lc_watch_hook(NULL);
}

static bool found(JNIEnv *jni, struct watch *w, jobject o)
{
	uint64_t offset = 0;
	jlong size_bytes = 0;
	uint8_t bytes = 0;
	jweak ref = NULL;

	(*lc_jvmti())->GetObjectSize(lc_jvmti(), o, &size_bytes);
	if (!find_place(jni, w, o, (uint64_t)size_bytes, &offset, &bytes)) {
		ref = lc_ref_new_weak(jni, o);
		if (!ref) {
			(*jni)->ExceptionClear(jni);
			say(w, "no memory to refer to the object; nothing is watched");
		}
	}
	if (!ref) {
		atomic_store_explicit(&w->state, REFUSED, memory_order_release);
		look_on();
		return false;
	}
	pthread_mutex_lock(&watching.lock);
	w->ref = ref;
	w->offset = offset;
	w->size_bytes = (uint64_t)size_bytes;
	w->aimed.attr.bp_len = bytes;
	/* A collection that runs right now takes the lock at its end, and aims again. */
	w->object = lc_handle_address(ref);
	aim_all(w);
	atomic_store_explicit(&w->state, FOUND, memory_order_release); /* W1 */
	pthread_mutex_unlock(&watching.lock);
	look_on();
	return true;
}

/* Is `class` the watched class, whichever loader defined it? */
static bool is_class(JNIEnv *jni, struct watch *w, jclass class)
{
	jweak known = atomic_load_explicit(&w->class, memory_order_acquire), none = NULL;
	char *signature = NULL;
	bool same;

	if (known && (*jni)->IsSameObject(jni, class, known))
		return true;
	if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), class, &signature, NULL))
		return false;
	same = !strcmp(signature, w->signature);
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	if (!same || known)
		return same;
	known = lc_ref_new_weak(jni, class);
	if (!known)
		(*jni)->ExceptionClear(jni);
	else if (!atomic_compare_exchange_strong(&w->class, &none, known))
		lc_ref_delete(jni, known);
	return true;
}

static unsigned on_object(JNIEnv *jni, jobject object)
{
	jclass class = (*jni)->GetObjectClass(jni, object);
	unsigned said = 0;

	for (size_t i = 0; i < LC_EVENTS_MAX; i++) {
		struct watch *w = &watching.row[i];

		if (!w->event ||
		    atomic_load_explicit(&w->state, memory_order_relaxed) != SEARCHING ||
		    !is_class(jni, w, class))
			continue;
		/* Threads that allocate at once get different numbers. */
		if (atomic_fetch_add_explicit(&w->seen, 1, memory_order_relaxed) + 1 !=
		    w->event->watch.ordinal)
			said |= LC_WATCH_HOOK_MORE;
		else if (found(jni, w, object))
			said |= LC_WATCH_HOOK_HIT;
	}
	(*jni)->DeleteLocalRef(jni, class);
	return said;
}

size_t lc_watch_classes(const char *const **names)
{
	size_t len = 0;

	for (size_t i = 0; i < LC_EVENTS_MAX; i++)
		if (watching.row[i].event)
			watching.classes[len++] = watching.row[i].class_name;
	*names = watching.classes;
	return len;
}

void lc_watch_begin(bool follow)
{
	bool any = false;

	for (size_t i = 0; i < LC_EVENTS_MAX; i++) {
		struct watch *w = &watching.row[i];

		if (!w->event)
			continue;
		any = true;
		if (follow)
			continue;
		say(w, "Locus cannot see how this collector moves objects; nothing is watched");
		atomic_store_explicit(&w->state, REFUSED, memory_order_release);
	}
	if (any && follow)
		lc_watch_hook(on_object);
}

/* Do those who see moves, the interposer and gc/small.c, pass over an object of that size? */
static bool moves_unseen(uint64_t size_bytes)
{
	return size_bytes < watching.min_size_bytes &&
	       watching.min_size_bytes > LC_MOVE_INLINE_BYTES;
}

/*
 * Note once that the object was at `src` and is at `dst`, also if it stayed: nothing else may show
 * that.
 */
static void note_move(struct lc_move *moves, size_t *len, uint64_t src, uint64_t dst,
                      uint64_t size_bytes)
{
	for (size_t i = 0; i < *len; i++)
		if (moves[i].src == src)
			return;
	moves[(*len)++] = (struct lc_move){ src, dst, size_bytes };
}

struct lc_move *lc_watch_gc_finish(size_t *len)
{
	struct lc_move *moves = NULL;

	*len = 0;
	for (size_t i = 0; i < LC_EVENTS_MAX; i++) {
		struct watch *w = &watching.row[i];
		uint64_t now;

		if (!w->event)
			continue;
		pthread_mutex_lock(&watching.lock);
		if (w->ref && w->object) {
			now = lc_handle_address(w->ref);
			if (now && moves_unseen(w->size_bytes) && !moves)
				moves = malloc(LC_EVENTS_MAX * sizeof(*moves));
			if (now && moves_unseen(w->size_bytes) && moves)
				note_move(moves, len, w->object, now, w->size_bytes);
			if (now != w->object) {
				w->object = now;
				aim_all(w);
				if (now)
					atomic_fetch_add_explicit(&w->moved, 1,
					                          memory_order_relaxed);
				else
					atomic_store_explicit(&w->state, DEAD,
					                      memory_order_release);
			}
		}
		pthread_mutex_unlock(&watching.lock);
	}
	return moves;
}

/* -- at the end ----------------------------------------------------------------------------- */

/* The names of the loaded classes as in reports; the array and each name are malloc'ed. */
static char **loaded_names(JNIEnv *jni, size_t *len)
{
	char **names, *signature;
	jint loaded_len;
	jclass *loaded = lc_jvmti_loaded(jni, &loaded_len);

	*len = 0;
	if (!loaded)
		return NULL;
	names = calloc((size_t)loaded_len + 1, sizeof(*names));
	for (jint i = 0; names && i < loaded_len; i++) {
		size_t bytes;

		if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), loaded[i], &signature, NULL))
			continue;
		bytes = 2 * strlen(signature) + 16;
		names[*len] = malloc(bytes);
		/* Hidden classes have a '/' in their names, and are not hooked. */
		if (names[*len] && !lc_path_type_name(signature, names[*len], bytes) &&
		    !strchr(names[*len], '/'))
			(*len)++;
		else
			free(names[*len]);
		(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	}
	lc_jvmti_loaded_end(jni, loaded);
	return names;
}

static bool is_among(const char *name, char *const *names, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void explain_missing(JNIEnv *jni, struct watch *w)
{
	const struct lc_watch_spec *spec = &w->event->watch;
	uint64_t seen = atomic_load_explicit(&w->seen, memory_order_relaxed);
	const char *near = NULL;
	char **names;
	size_t len;

	if (seen) {
		say(w, "object #%llu of %s never appeared: %llu were allocated",
		    (unsigned long long)spec->ordinal, spec->class_name, (unsigned long long)seen);
		return;
	}
	names = loaded_names(jni, &len);
	if (is_among(spec->class_name, names, len)) {
		say(w, "no object of %s appeared, though the class was loaded", spec->class_name);
	} else {
		if (len)
			near = lc_nearest(spec->class_name, (const char *const *)names, len);
		say(w, "no object of %s appeared: no such class was loaded%s%s%s", spec->class_name,
		    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	for (size_t i = 0; i < len; i++)
		free(names[i]);
	free(names);
}

void lc_watch_end(JNIEnv *jni)
{
	lc_watch_hook(NULL);
	for (size_t i = 0; i < LC_EVENTS_MAX; i++)
		if (watching.row[i].event &&
		    atomic_load_explicit(&watching.row[i].state, memory_order_acquire) == SEARCHING)
			explain_missing(jni, &watching.row[i]);
}

const char *lc_watch_why_not(size_t engine)
{
	return engine < LC_EVENTS_MAX
	           ? atomic_load_explicit(&watching.row[engine].why, memory_order_acquire) /* W2 */
	           : NULL;
}

bool lc_watch_stats(size_t engine, struct lc_watch_stats *out)
{
	const struct watch *w = &watching.row[engine];
	int state = atomic_load_explicit(&w->state, memory_order_acquire); /* W1 */

	if (!w->event)
		return false;
	out->seen = atomic_load_explicit(&w->seen, memory_order_relaxed);
	out->found = state == FOUND || state == DEAD;
	out->died = state == DEAD;
	out->moved = atomic_load_explicit(&w->moved, memory_order_relaxed);
	out->unaimed = atomic_load_explicit(&w->unaimed, memory_order_relaxed);
	return true;
}
