/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/lost_hooks.c - keeps the classes to check for lost hooks, and checks them a moment later.
 *
 * A class that is being redefined has its new code when one of its jmethodIDs leads to another
 * Method. A class that is being loaded has no jclass in ClassFileLoadHook, so a hash of its name
 * and loader is kept until it is prepared. A class that has lost its hooks is counted once, however
 * often it is checked: its hash stays. Without memory a class counts as unknown.
 */
#include "src/hooks/lost_hooks.h"

#include <dlfcn.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/limit.h"
#include "src/base/time.h"
#include "src/classfile/hook_calls.h"
#include "src/classfile/method_file.h"
#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/method_number.h"
#include "src/core/refs.h"
#include "src/jvm/layout/method_ids.h"
#include "src/jvm/os/libraries.h"

#define WAIT_NS UINT64_C(60000000000) /* a redefinition that takes longer has failed */

enum { BUCKETS = 256 };

/* A class, as a hash of its name and loader. */
struct named {
	struct named *next;
	uint64_t key;
};

/* A class to check. */
struct hooked {
	struct hooked *next;
	jclass class;    /* reference of ours */
	uint64_t method; /* number of a jmethodID; 0: the class has its code */
	uint64_t before; /* the Method to which the jmethodID led */
	uint64_t until_ns;
};

static struct {
	pthread_mutex_t lock;
	struct named *loading[BUCKETS];    /* being loaded; under lock */
	struct named *without[BUCKETS];    /* have lost their hooks; under lock */
	struct hooked *hooked;             /* under lock */
	struct lc_libraries_seen searched; /* when there was no agent in Java; under lock */
	_Atomic uint32_t loading_len;      /* written under lock */
	_Atomic bool instrumented;         /* an agent in Java is in the process; stays */
	_Atomic uint64_t lost, unknown;    /* counts of classes */
} overwritten = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Look for the library of such agents, if libraries have come since the last look. */
static bool is_instrumented(void)
{
	struct lc_libraries_seen seen;
	void *library;

	if (atomic_load_explicit(&overwritten.instrumented, memory_order_relaxed))
		return true;
	pthread_mutex_lock(&overwritten.lock);
	seen = overwritten.searched;
	pthread_mutex_unlock(&overwritten.lock);
	if (!lc_libraries_changed(&seen))
		return false;
	library = dlopen("libinstrument.so", RTLD_NOLOAD | RTLD_LAZY);
	if (!library) {
		/* Only now: until then, other threads must look, too. */
		pthread_mutex_lock(&overwritten.lock);
		overwritten.searched = seen;
		pthread_mutex_unlock(&overwritten.lock);
		return false;
	}
	dlclose(library); /* the JVM keeps it */
	atomic_store_explicit(&overwritten.instrumented, true, memory_order_relaxed);
	return true;
}

static void count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* -- classes that are loaded ---------------------------------------------------------------- */

static uint64_t key_of(const char *name, size_t len, jobject loader)
{
	uint64_t h = 1;
	jint number = 0;

	if (loader)
		(void)(*lc_jvmti())->GetObjectHashCode(lc_jvmti(), loader, &number);
	for (size_t i = 0; i < len; i++)
		h = lc_hash_add(h, (uint8_t)name[i]);
	return lc_hash_add(h, (uint32_t)number);
}

static void add_loading(uint64_t key)
{
	struct named *l = malloc(sizeof(*l));

	if (!l) {
		count(&overwritten.unknown);
		return;
	}
	l->key = key;
	pthread_mutex_lock(&overwritten.lock);
	l->next = overwritten.loading[key % BUCKETS];
	overwritten.loading[key % BUCKETS] = l;
	/* Relaxed: it is this thread that prepares the class, or one that has waited for it. */
	atomic_fetch_add_explicit(&overwritten.loading_len, 1, memory_order_relaxed);
	pthread_mutex_unlock(&overwritten.lock);
}

static bool take_loading(uint64_t key)
{
	struct named **at, *l;

	pthread_mutex_lock(&overwritten.lock);
	at = &overwritten.loading[key % BUCKETS];
	while (*at && (*at)->key != key)
		at = &(*at)->next;
	l = *at;
	if (l) {
		*at = l->next;
		atomic_fetch_sub_explicit(&overwritten.loading_len, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&overwritten.lock);
	free(l);
	return l;
}

/* -- classes that have their code, or are about to ------------------------------------------ */

static void add_hooked(JNIEnv *jni, jclass class, uint64_t method, uint64_t before)
{
	struct hooked *h = malloc(sizeof(*h));
	const jclass ref = h ? lc_ref_new(jni, class) : NULL;

	if (!ref) {
		free(h);
		count(&overwritten.unknown);
		return;
	}
	*h = (struct hooked){ .class = ref,
		              .method = method,
		              .before = before,
		              .until_ns = lc_time_now_ns() + WAIT_NS };
	pthread_mutex_lock(&overwritten.lock);
	h->next = overwritten.hooked;
	overwritten.hooked = h;
	pthread_mutex_unlock(&overwritten.lock);
}

static void add_redefined(JNIEnv *jni, jclass class)
{
	jmethodID *methods = NULL;
	uint64_t number = 0;
	jint len = 0;

	if (!(*lc_jvmti())->GetClassMethods(lc_jvmti(), class, &len, &methods)) {
		if (len)
			number = lc_method_number(methods[0]);
		(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)methods);
	}
	if (number)
		add_hooked(jni, class, number, lc_method_ids_method(jni, number));
}

void lc_lost_hooks_hooked(JNIEnv *jni, jclass redefined, const char *name, jobject loader)
{
	if (redefined && !lc_jvmti_retransforms())
		add_redefined(jni, redefined);
	else if (!redefined && name && is_instrumented())
		add_loading(key_of(name, strlen(name), loader));
}

void lc_lost_hooks_prepared(JNIEnv *jni, jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *signature = NULL;
	jobject loader = NULL;
	size_t len;

	if (!atomic_load_explicit(&overwritten.loading_len, memory_order_relaxed) ||
	    (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return;
	len = strlen(signature);
	if (*signature == 'L' && len > 2 && !(*jvmti)->GetClassLoader(jvmti, class, &loader)) {
		if (take_loading(key_of(signature + 1, len - 2, loader)))
			add_hooked(jni, class, 0, 0);
		if (loader)
			(*jni)->DeleteLocalRef(jni, loader);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

/* -- looking -------------------------------------------------------------------------------- */

static bool method_has_hook(const struct lc_class *c, jmethodID method)
{
	unsigned char *code = NULL;
	jint len = 0;
	bool has;

	/* Fails for native and abstract ones. */
	if ((*lc_jvmti())->GetBytecodes(lc_jvmti(), method, &len, &code))
		return false;
	has = lc_hook_calls_in(c, code, (size_t)len);
	(*lc_jvmti())->Deallocate(lc_jvmti(), code);
	return has;
}

/* Returns 1 or 0, or -1 if the JVM does not tell. */
static int class_has_hook(jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	struct lc_method_source source = { .class_name = "", .name = "", .descriptor = "" };
	struct lc_method_file file;
	unsigned char *pool = NULL;
	jmethodID *methods = NULL;
	jint constants = 0, bytes = 0, len = 0;
	bool open;
	int has = 0;

	if ((*jvmti)->GetConstantPool(jvmti, class, &constants, &bytes, &pool))
		return -1;
	source.pool = pool;
	source.pool_bytes = (size_t)bytes;
	source.pool_count = (uint32_t)constants;
	open = lc_method_file_open(&file, &source);
	(*jvmti)->Deallocate(jvmti, pool);
	if (!open)
		return -1;
	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods)) {
		has = -1;
	} else {
		for (jint i = 0; i < len && !has; i++)
			has = method_has_hook(&file.cls, methods[i]);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	}
	lc_method_file_close(&file);
	return has;
}

/* Returns whether the key is new. */
static bool add_without(uint64_t key)
{
	struct named **at, *n = NULL;
	bool first;

	pthread_mutex_lock(&overwritten.lock);
	at = &overwritten.without[key % BUCKETS];
	while (*at && (*at)->key != key)
		at = &(*at)->next;
	first = !*at;
	if (first)
		n = malloc(sizeof(*n));
	if (n) {
		*n = (struct named){ .key = key };
		*at = n;
	}
	pthread_mutex_unlock(&overwritten.lock);
	return first;
}

static void say_lost(JNIEnv *jni, jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *signature = NULL;
	jobject loader = NULL;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL)) {
		count(&overwritten.lost);
		return;
	}
	(void)(*jvmti)->GetClassLoader(jvmti, class, &loader);
	if (add_without(key_of(signature, strlen(signature), loader))) {
		count(&overwritten.lost);
		(void)lc_limit_reached("hooks_overwritten",
		                       "another agent has rewritten classes (first %.120s) and "
		                       "removed their hooks: allocations in their methods are not "
		                       "counted, and only the class of these objects is known",
		                       signature);
	}
	if (loader)
		(*jni)->DeleteLocalRef(jni, loader);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

/* Returns false if the class has no new code yet. */
static bool look_at(JNIEnv *jni, const struct hooked *h)
{
	int has;

	if (h->method && lc_method_ids_lead_to(h->method, h->before))
		return lc_time_now_ns() > h->until_ns;
	has = class_has_hook(h->class);
	if (has < 0)
		count(&overwritten.unknown);
	else if (!has)
		say_lost(jni, h->class);
	return true;
}

void lc_lost_hooks_look(JNIEnv *jni)
{
	struct hooked *h, *next;

	(void)is_instrumented(); /* an agent may come at any time */
	pthread_mutex_lock(&overwritten.lock);
	h = overwritten.hooked;
	overwritten.hooked = NULL;
	pthread_mutex_unlock(&overwritten.lock);
	for (; h; h = next) {
		next = h->next;
		if (look_at(jni, h)) {
			lc_ref_delete(jni, h->class);
			free(h);
			continue;
		}
		pthread_mutex_lock(&overwritten.lock);
		h->next = overwritten.hooked;
		overwritten.hooked = h;
		pthread_mutex_unlock(&overwritten.lock);
	}
}

static const struct lc_counter counters[] = {
	LC_COUNTER("classes_hooks_overwritten", &overwritten.lost),
	LC_COUNTER("classes_hooks_unknown", &overwritten.unknown),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
