/* SPDX-License-Identifier: Apache-2.0 */
/* span/tasks/span_classes.c - asks for the classes whose kind their class file alone does not tell.
 */
#include "src/span/tasks/span_classes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/refs.h"
#include "src/core/request.h"
#include "src/span/span.h"

enum { BUCKETS = 1024, PENDING_MAX = 1 << 16, BODIES_MAX = 1 << 10 };

/*
 * Types that make a class matter, in the order of the LC_SPAN_IS_ bits; then what is not foreign.
 */
enum { PIPELINE = LC_SPAN_TYPES, TYPES };
static const char *const type_signatures[TYPES] = {
	"Ljava/lang/Runnable;",
	"Ljava/util/concurrent/Callable;",
	"Ljava/util/concurrent/ForkJoinTask;",
	"Ljava/lang/Thread;",
	"Ljava/util/concurrent/Executor;",
	"Ljava/util/stream/BaseStream;",
	"Ljava/util/stream/AbstractPipeline;",
};
_Static_assert(1 << 5 == LC_SPAN_IS_FOREIGN, "in the order of the bits");
enum { TASKS = LC_SPAN_IS_RUNNABLE | LC_SPAN_IS_CALLABLE | LC_SPAN_IS_FORK_JOIN };

/* A class that was loaded and not prepared yet; those of one name are one. */
struct pending {
	struct pending *next;
	uint32_t want;  /* LC_SPAN_IS_ bits to ask for */
	uint32_t count; /* classes */
	char name[];
};

static struct {
	_Atomic(jclass) types[TYPES]; /* global references, once they are loaded */
	_Atomic uint32_t found;       /* how many */
	pthread_mutex_t lock;
	struct pending *buckets[BUCKETS]; /* under lock */
	_Atomic uint64_t pending;         /* written under lock */
	_Atomic uint64_t seen[LC_REWRITE_STATUS_COUNT];
	_Atomic uint64_t sites, asked, again;
	/* Classes that are no tasks and whose methods are the bodies of tasks; `is` comes first. */
	struct {
		_Atomic uint32_t is; /* LC_SPAN_IS_ bits; 0: a free place */
		_Atomic(jweak) class;
	} bodies[BODIES_MAX];
	_Atomic uint64_t bodies_len, bodies_lost;
} classes = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed); /* a count */
}

/* Types */

/* If the boot loader's class is one of the types, keep it. */
static void look_at(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
	char *signature = NULL;
	jobject loader = NULL;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return;
	for (unsigned i = 0; i < TYPES; i++) {
		jclass kept, none = NULL;

		if (strcmp(signature, type_signatures[i]) ||
		    atomic_load_explicit(&classes.types[i], memory_order_acquire) ||
		    (*jvmti)->GetClassLoader(jvmti, class, &loader) || loader)
			continue;
		kept = lc_ref_new(jni, class);
		if (kept && atomic_compare_exchange_strong(&classes.types[i], &none, kept))
			atomic_fetch_add_explicit(&classes.found, 1, memory_order_relaxed);
		else if (kept)
			lc_ref_delete(jni, kept);
	}
	if (loader)
		(*jni)->DeleteLocalRef(jni, loader);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

void lc_span_classes_start(JNIEnv *jni)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jint len = 0;
	jclass *loaded = lc_span_what() ? lc_jvmti_loaded(jni, &len) : NULL;

	if (!loaded)
		return;
	for (jint i = 0; i < len; i++)
		look_at(jvmti, jni, loaded[i]);
	lc_jvmti_loaded_end(jni, loaded);
}

/* A type that is not loaded yet is none of a loaded class's supertypes. */
static bool is_a(JNIEnv *jni, jclass class, unsigned type)
{
	jclass target = atomic_load_explicit(&classes.types[type], memory_order_acquire);

	return target && (*jni)->IsAssignableFrom(jni, class, target);
}

static uint32_t ask(JNIEnv *jni, jclass class)
{
	uint32_t is = 0;

	for (unsigned i = 0; i < LC_SPAN_TYPES; i++)
		if (is_a(jni, class, i))
			is |= 1u << i;
	if (is & LC_SPAN_IS_FOREIGN && is_a(jni, class, PIPELINE))
		is &= ~(uint32_t)LC_SPAN_IS_FOREIGN;
	return is;
}

bool lc_span_classes_is_task(JNIEnv *jni, jclass class)
{
	return !atomic_load_explicit(&classes.types[0], memory_order_acquire) ||
	       ask(jni, class) & TASKS;
}

/* Bodies that tasks inherit from classes that are none */

/* The bits as which the methods of a class are to be hooked, although it is none of these types. */
static uint32_t body_of_others(JNIEnv *jni, jclass class)
{
	uint64_t len = atomic_load_explicit(&classes.bodies_len, memory_order_acquire);
	uint32_t is = 0;

	for (uint64_t i = 0; i < len && i < BODIES_MAX; i++) {
		jweak known = atomic_load_explicit(&classes.bodies[i].class, memory_order_acquire);

		if (known && (*jni)->IsSameObject(jni, known, class))
			is |= atomic_load_explicit(&classes.bodies[i].is, memory_order_relaxed);
	}
	return is;
}

static void add_body(JNIEnv *jni, jclass class, uint32_t is)
{
	uint64_t at = atomic_fetch_add_explicit(&classes.bodies_len, 1, memory_order_acq_rel);
	jweak kept = at < BODIES_MAX ? lc_ref_new_weak(jni, class) : NULL;

	if (!kept) {
		add(&classes.bodies_lost, 1);
		return;
	}
	atomic_store_explicit(&classes.bodies[at].is, is, memory_order_relaxed);
	atomic_store_explicit(&classes.bodies[at].class, kept, memory_order_release);
}

static bool declares(jvmtiEnv *jvmti, jclass class, const char *name, const char *descriptor)
{
	jmethodID *methods = NULL;
	jint len = 0;
	bool found = false;

	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		return false;
	for (jint i = 0; i < len && !found; i++) {
		char *its_name = NULL, *its_descriptor = NULL;

		if ((*jvmti)->GetMethodName(jvmti, methods[i], &its_name, &its_descriptor, NULL))
			continue;
		found = !strcmp(its_name, name) && !strcmp(its_descriptor, descriptor);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)its_name);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)its_descriptor);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return found;
}

/*
 * Have the class transformed that the class inherits this method from, if none of its own kind has
 * one.
 */
static void find_body(jvmtiEnv *jvmti, JNIEnv *jni, jclass class, uint32_t is, const char *name,
                      const char *descriptor)
{
	jclass at = (*jni)->NewLocalRef(jni, class);

	while (at && !declares(jvmti, at, name, descriptor)) {
		jclass super = (*jni)->GetSuperclass(jni, at);

		(*jni)->DeleteLocalRef(jni, at);
		at = super;
	}
	if (at && !(ask(jni, at) & is) && !(body_of_others(jni, at) & is)) {
		add_body(jni, at, is);
		if (lc_jvmti_retransform(1, &at))
			add(&classes.bodies_lost, 1);
	}
	if (at)
		(*jni)->DeleteLocalRef(jni, at);
}

/* Find the inherited bodies of a task whose superclass is no task. */
static void find_bodies(jvmtiEnv *jvmti, JNIEnv *jni, jclass class, uint32_t is)
{
	if (is & LC_SPAN_IS_RUNNABLE)
		find_body(jvmti, jni, class, LC_SPAN_IS_RUNNABLE, "run", "()V");
	if (is & LC_SPAN_IS_CALLABLE)
		find_body(jvmti, jni, class, LC_SPAN_IS_CALLABLE, "call", "()Ljava/lang/Object;");
}

/* Classes between their loading and their ClassPrepare */

static struct pending **bucket_of(const char *name, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 16777619u;
	return &classes.buckets[(h ^ h >> 16) % BUCKETS];
}

static struct pending **find(const char *name, size_t len)
{
	struct pending **at = bucket_of(name, len);

	while (*at && (strncmp((*at)->name, name, len) || (*at)->name[len]))
		at = &(*at)->next;
	return at;
}

static void remember(const char *name, uint32_t want)
{
	size_t len = strlen(name);
	struct pending **at, *p;

	pthread_mutex_lock(&classes.lock);
	at = find(name, len);
	p = *at;
	if (!p && atomic_load_explicit(&classes.pending, memory_order_relaxed) < PENDING_MAX) {
		p = calloc(1, sizeof(*p) + len + 1);
		if (p) {
			memcpy(p->name, name, len);
			*at = p;
			add(&classes.pending, 1);
		}
	}
	if (p) {
		p->want |= want;
		p->count++;
	}
	pthread_mutex_unlock(&classes.lock);
}

/* Take the open questions about the class of this signature, "Lcom/acme/Task;"; once a class. */
static uint32_t recall(const char *signature)
{
	size_t len = strlen(signature);
	struct pending **at, *p;
	uint32_t want = 0;

	if (len < 3 || *signature != 'L')
		return 0;
	pthread_mutex_lock(&classes.lock);
	at = find(signature + 1, len - 2);
	p = *at;
	if (p) {
		want = p->want;
		if (!--p->count) {
			*at = p->next;
			free(p);
			add(&classes.pending, UINT64_MAX); /* minus one */
		}
	}
	pthread_mutex_unlock(&classes.lock);
	return want;
}

/* Events */

/* Are the JDK's own stream classes what the hooks were made for? Else none is counted. */
static void check_streams(const struct lc_class_file *file)
{
	static char reason[128];
	static _Atomic bool said;
	const char *missing = file->loader ? NULL : lc_span_stream_mismatch(file->data, file->len);

	if (!missing || atomic_exchange_explicit(&said, true, memory_order_relaxed))
		return;
	snprintf(reason, sizeof(reason), "this JDK's %.60s has no %.30s()",
	         file->name ? file->name : "java.util.stream", missing);
	lc_span_give_up(LC_SPAN_STREAMS, reason);
}

/* Is it a VirtualThread whose carriers are to tell of it, and as this was made for? */
static bool carries(const struct lc_class_file *file)
{
	enum { SITES_LEAST = 2 }; /* mount(), and unmount() on each way out */
	struct lc_rewrite_result result = { 0 };
	bool as_known;

	if (!lc_request_wants_carriers() || file->loader || !file->name ||
	    strcmp(file->name, "java/lang/VirtualThread") != 0)
		return false;
	as_known = lc_span_rewrite(file->data, file->len, LC_SPAN_CARRIERS, 0, &result) ==
	               LC_REWRITE_DONE &&
	           result.sites >= SITES_LEAST;
	free(result.bytes);
	lc_request_set_carriers(as_known);
	return as_known;
}

enum lc_rewrite_status lc_span_classes_rewrite(JNIEnv *jni, const struct lc_class_file *file,
                                               struct lc_rewrite_result *out)
{
	unsigned what = lc_span_what() | (carries(file) ? LC_SPAN_CARRIERS : 0);
	enum lc_rewrite_status status;
	uint32_t is = 0;

	if (!what || (file->name && !strcmp(file->name, LC_SPAN_CLASS)))
		return LC_REWRITE_NOTHING;
	if (file->redefined) {
		is = ask(jni, file->redefined) | body_of_others(jni, file->redefined);
	} else {
		uint32_t want = lc_span_matters(file->data, file->len, what, &is);

		if (want & ~is && file->name)
			remember(file->name, want & ~is);
	}
	if (what & LC_SPAN_STREAMS)
		check_streams(file);
	status = lc_span_rewrite(file->data, file->len, what, is, out);
	add(&classes.seen[status], 1);
	if (status == LC_REWRITE_DONE)
		add(&classes.sites, out->sites);
	return status;
}

bool lc_span_classes_look(JNIEnv *jni, const struct lc_class_file *file)
{
	unsigned what = lc_span_what();
	struct lc_rewrite_result result = { 0 };
	enum lc_rewrite_status status;
	uint32_t is;

	if (!what)
		return false;
	is = ask(jni, file->redefined) | body_of_others(jni, file->redefined);
	if (what & LC_SPAN_STREAMS)
		check_streams(file);
	status = lc_span_rewrite(file->data, file->len, what, is, &result);
	if (status == LC_REWRITE_DONE)
		free(result.bytes);
	return status != LC_REWRITE_NOTHING;
}

/* Answer what was asked of a class; returns whether it is to be transformed again. */
static bool look_up(jvmtiEnv *jvmti, JNIEnv *jni, jclass class, uint32_t want)
{
	uint32_t is = ask(jni, class);
	bool again = is & want & ((1u << LC_SPAN_TYPES) - 1);
	jclass super;

	if (!(is & TASKS) || !(want & (LC_SPAN_CREATED_HERE | LC_SPAN_BODY_ABOVE)))
		return again;
	super = (*jni)->GetSuperclass(jni, class);
	if (super && !(ask(jni, super) & TASKS)) {
		again |= (want & LC_SPAN_CREATED_HERE) != 0;
		if (want & LC_SPAN_BODY_ABOVE)
			find_bodies(jvmti, jni, class, is);
	}
	if (super)
		(*jni)->DeleteLocalRef(jni, super);
	return again;
}

bool lc_span_classes_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
	char *signature = NULL;
	bool again = false;
	uint32_t want;

	if (!lc_span_what())
		return false;
	if (atomic_load_explicit(&classes.found, memory_order_relaxed) < TYPES)
		look_at(jvmti, jni, class);
	if (!atomic_load_explicit(&classes.pending, memory_order_relaxed) ||
	    (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return false;
	want = recall(signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	if (want) {
		add(&classes.asked, 1);
		again = look_up(jvmti, jni, class, want);
	}
	if (again)
		add(&classes.again, 1);
	return again;
}

static uint64_t failed(void)
{
	return atomic_load_explicit(&classes.seen[LC_REWRITE_MALFORMED], memory_order_relaxed) +
	       atomic_load_explicit(&classes.seen[LC_REWRITE_NO_MEMORY], memory_order_relaxed);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("span_class_hooks", &classes.sites), /* calls inserted */
	/* Classes whose file left their type open. */
	LC_COUNTER("span_classes_asked", &classes.asked),
	LC_COUNTER("span_classes_again", &classes.again), /* classes transformed again */
	/* Classes that are no tasks, but lack hooks that a task needs. */
	LC_COUNTER(
	    "span_classes_bodies_lost", &classes.bodies_lost, .limit = "spans_lost",
	    .text = "there was no memory to instrument some classes: their tasks are not counted"),
	{ .name = "span_classes_failed",
	  .read = failed,
	  .limit = "spans_lost",
	  .text =
	      "some classes could not be instrumented: their streams and tasks are not counted" },
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
