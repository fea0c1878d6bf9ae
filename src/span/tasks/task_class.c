/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task_class.c - finds the class of a task by the word in its object's header.
 *
 * A word may belong to another class after its own was unloaded. A class is unloaded only when it
 * has no objects left. With most collectors that happens in a pause, which changes the GC sequence.
 * So a thread compares a remembered word with the object's class once for each sequence. With other
 * collectors it compares every time.
 *
 * Invariant: I1  classes are appended, and never change or go. Classes of one word are a list, the
 *                latest first, and only the latest can still be loaded.
 * The table is under one lock, which is never held across a call into the JVM.
 */
#include "src/span/tasks/task_place.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/classfile/span_rewrite.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/refs.h"
#include "src/jvm/layout/collector.h"
#include "src/span/span.h"
#include "src/span/tasks/span_classes.h"
#include "src/span/tasks/task_watch.h"

enum { CLASSES_MAX = LC_TASK_CLASSES_MAX, HEADS = 1 << 12, ACC_STATIC = 8 };

/* A class and what is before it with the same hash. */
struct entry {
	struct lc_task_class class;
	struct lc_task_watch watch;
	uint32_t next; /* index + 1 */
};

static struct {
	bool unload_anytime;
	pthread_mutex_t lock;
	struct entry *entries[CLASSES_MAX]; /* under lock, but for what is in them */
	uint32_t len;
	uint32_t heads[HEADS]; /* index + 1 */
	_Atomic uint64_t lost;
} classes = { .lock = PTHREAD_MUTEX_INITIALIZER };

const char *lc_task_mismatch(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Class");
	/* With this method, lambda expressions have hidden classes. LocusSpan calls it. */
	jmethodID is_hidden = class ? (*jni)->GetMethodID(jni, class, "isHidden", "()Z") : NULL;

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return is_hidden ? NULL
	                 : "this JDK has no Class.isHidden(), which Locus needs to recognise "
	                   "lambda expressions";
}

void lc_task_classes_init(void)
{
	classes.unload_anytime = lc_collector_unloads_while_running();
}

/* Is the class transparent? Its name is between 'L' and ';'. */
static bool is_wrapper(const char *signature)
{
	return *signature == 'L' && lc_span_is_wrapper(signature + 1, strlen(signature) - 2);
}

static bool is_async(const char *signature)
{
	static const char prefix[] = "Ljava/util/concurrent/CompletableFuture$";

	return !strncmp(signature, prefix, sizeof(prefix) - 1);
}

/*
 * A stage is made where its future is not complete yet, and is mostly executed by a call of who
 * completes that: only asynchronous ones go to an executor.
 */
static uint8_t completion_flags(const char *signature)
{
	return !strcmp(signature, "Ljava/util/concurrent/CompletableFuture$Completion;")
	           ? LC_CLASS_ASYNC | LC_CLASS_LIBRARY
	           : LC_CLASS_ASYNC;
}

static bool is_lambda(const char *signature)
{
	return strchr(signature, '.') && strstr(signature, "$$Lambda");
}

/* A hidden class of a lambda expression: has it no fields, it has one object. */
static bool is_single(jclass class, const char *signature)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jfieldID *fields = NULL;
	jint len = 0, modifiers = 0;
	bool single = true;

	if (!is_lambda(signature) || (*jvmti)->GetClassFields(jvmti, class, &len, &fields))
		return false;
	for (jint i = 0; i < len; i++)
		if ((*jvmti)->GetFieldModifiers(jvmti, class, fields[i], &modifiers) ||
		    !(modifiers & ACC_STATIC))
			single = false;
	(*jvmti)->Deallocate(jvmti, (unsigned char *)fields);
	return single;
}

/*
 * Flags of the JDK's own CountedCompleters. The completers of streams are support spans if streams
 * are recorded.
 */
static uint8_t library_flags(const char *signature)
{
	static const char util[] = "Ljava/util/", streams[] = "Ljava/util/stream/";

	if (lc_span_streams() && !strncmp(signature, streams, sizeof(streams) - 1))
		return LC_CLASS_WRAPPER;
	return strncmp(signature, util, sizeof(util) - 1) ? 0 : LC_CLASS_LIBRARY;
}

/* Flags that a class has itself, or that one of its superclasses gives it. */
static uint8_t flags_of(JNIEnv *jni, jclass class, const char *own_signature)
{
	jvmtiEnv *jvmti = lc_jvmti();
	uint8_t flags = is_single(class, own_signature) ? LC_CLASS_SINGLE : 0;
	uint8_t library = library_flags(own_signature);
	jclass at = (*jni)->NewLocalRef(jni, class);

	/* A class that is no task may have a method that a subclass has as its body. */
	if (!lc_span_classes_is_task(jni, class))
		flags |= LC_CLASS_WRAPPER;
	if (is_lambda(own_signature))
		flags |= LC_CLASS_LAMBDA;
	while (at) {
		jclass super = (*jni)->GetSuperclass(jni, at);
		char *signature = NULL;

		if (!(*jvmti)->GetClassSignature(jvmti, at, &signature, NULL)) {
			if (is_wrapper(signature))
				flags |= LC_CLASS_WRAPPER;
			else if (is_async(signature))
				flags |= completion_flags(signature);
			else if (!strcmp(signature, "Ljava/util/concurrent/CountedCompleter;"))
				flags |= library;
			(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
		}
		(*jni)->DeleteLocalRef(jni, at);
		at = super;
	}
	return flags;
}

static uint32_t *head_of(uint32_t word)
{
	return &classes.heads[(word * UINT32_C(2654435761)) >> 20];
}

/* The latest class of the word, or NULL. Under lock. */
static const struct lc_task_class *latest(uint32_t word)
{
	for (uint32_t i = *head_of(word); i; i = classes.entries[i - 1]->next)
		if (classes.entries[i - 1]->class.word == word)
			return &classes.entries[i - 1]->class;
	return NULL;
}

/* Call a static method of LocusSpan that takes ints. */
static void call_span(JNIEnv *jni, const char *name, const char *descriptor, uint32_t word,
                      unsigned state)
{
	jclass span = (*jni)->FindClass(jni, LC_SPAN_CLASS);
	jmethodID method = span ? (*jni)->GetStaticMethodID(jni, span, name, descriptor) : NULL;

	if (method)
		(*jni)->CallStaticVoidMethod(jni, span, method, (jint)word, (jint)state);
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (span)
		(*jni)->DeleteLocalRef(jni, span);
}

/*
 * Let Java code say nothing of a wrapper's objects any more. Not of the program's own classes,
 * which may be unloaded.
 */
static void tell_wrapper(JNIEnv *jni, jclass class, uint32_t word)
{
	jobject loader = NULL;

	if ((*lc_jvmti())->GetClassLoader(lc_jvmti(), class, &loader))
		return;
	if (loader) {
		(*jni)->DeleteLocalRef(jni, loader);
		return;
	}
	call_span(jni, "addWrapper", "(I)V", word, 0);
}

void lc_task_class_tell(JNIEnv *jni, const struct lc_task_class *class)
{
	uint8_t told;

	/* Two threads may tell different states: the last one to tell has seen the final one. */
	do {
		told = atomic_load(&class->watch->state);
		call_span(jni, "watch", "(II)V", class->word, told);
		atomic_thread_fence(memory_order_seq_cst);
	} while (told != atomic_load(&class->watch->state));
}

/* Make the entry of a new class. NULL without memory. */
static struct entry *describe(JNIEnv *jni, jclass class, uint32_t word)
{
	jvmtiEnv *jvmti = lc_jvmti();
	struct entry *e = calloc(1, sizeof(*e));
	char *signature = NULL;

	if (!e)
		return NULL;
	if (!(*jvmti)->GetClassSignature(jvmti, class, &signature, NULL)) {
		e->class.word = word;
		e->class.watch = &e->watch;
		e->class.signature = strdup(signature);
		e->class.flags = flags_of(jni, class, signature);
		e->class.site = lc_site_intern(signature, word, 0);
		e->class.class = lc_ref_new_weak(jni, class);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	}
	if (e->class.signature && e->class.flags & LC_CLASS_WRAPPER)
		tell_wrapper(jni, class, word);
	if (e->class.signature && e->class.class)
		return e;
	free((void *)(uintptr_t)e->class.signature);
	free(e);
	return NULL;
}

static void forget(JNIEnv *jni, struct entry *e)
{
	lc_ref_delete(jni, e->class.class);
	free((void *)(uintptr_t)e->class.signature);
	free(e);
}

/*
 * Add the class, which is none of those of its word, the latest of which was `before`. Returns it,
 * or NULL where there is no room, or where another thread has added a class of the word meanwhile.
 */
static const struct lc_task_class *add(JNIEnv *jni, jclass class, uint32_t word,
                                       const struct lc_task_class *before, bool *again)
{
	struct entry *e = describe(jni, class, word);
	bool added = false;

	*again = false;
	if (!e)
		return NULL;
	pthread_mutex_lock(&classes.lock);
	if (latest(word) != before) {
		*again = true;
	} else if (classes.len < CLASSES_MAX) {
		e->class.id = classes.len + 1;
		e->next = *head_of(word);
		*head_of(word) = classes.len + 1;
		classes.entries[classes.len++] = e;
		added = true;
	}
	pthread_mutex_unlock(&classes.lock);
	/* Java code may know the word with the state of the class that had it before. */
	if (added && before && lc_task_watch_state(before->watch))
		lc_task_class_tell(jni, &e->class);
	if (added)
		return &e->class;
	forget(jni, e);
	return NULL;
}

static const struct lc_task_class *find(JNIEnv *jni, jclass class, uint32_t word)
{
	const struct lc_task_class *found, *before;
	bool again;

	do {
		pthread_mutex_lock(&classes.lock);
		before = latest(word);
		pthread_mutex_unlock(&classes.lock);
		if (before && (*jni)->IsSameObject(jni, before->class, class))
			return before;
		found = add(jni, class, word, before, &again);
	} while (again);
	return found;
}

const struct lc_task_class *lc_task_class_slowly(struct lc_task_place_class *known, JNIEnv *jni,
                                                 jobject object, uint32_t word)
{
	uint32_t sequence =
	    lc_epoch_gc_sequence(); /* before: what changes meanwhile is seen next time */
	jclass class = (*jni)->GetObjectClass(jni, object);
	const struct lc_task_class *found;

	if (!class)
		return NULL;
	found = find(jni, class, word);
	(*jni)->DeleteLocalRef(jni, class);
	if (!found) {
		lc_count(&classes.lost);
		return NULL;
	}
	if (!classes.unload_anytime)
		*known = (struct lc_task_place_class){ .word = word,
			                               .sequence = sequence,
			                               .class = found };
	return found;
}

static const struct lc_counter counters[] = {
	LC_COUNTER(
	    "spans_task_classes_unknown", &classes.lost, .limit = "spans_lost",
	    .text = "there was no room for the classes of some tasks: these tasks are not counted"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
