/* SPDX-License-Identifier: Apache-2.0 */
/* hooks/preloaded.c - compares loaded classes with the class files in the JDK's image. */
#include "src/hooks/preloaded.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/time.h"
#include "src/classfile/image.h"
#include "src/classfile/rewrite.h"
#include "src/core/jvmti.h"
#include "src/core/reset.h"
#include "src/heap/loaded_code.h"

enum { NAME_LEN_MAX = 256, BUCKETS = 256 };

#define REST_NS UINT64_C(1000000000) /* between two rests */

/* A class that is loaded and was not prepared yet. */
struct put_off {
	struct put_off *next;
	char signature[];
};

static LC_KEPT struct lc_image image = { .bytes = NULL }; /* no bytes: there is none */

static struct {
	_Atomic bool read; /* since the last rest; relaxed: a late one is for the next rest */
	_Atomic uint64_t next_ns; /* no rest before; relaxed: a hint */
} pages;

static struct {
	pthread_mutex_t lock;
	struct put_off *buckets[BUCKETS]; /* under lock */
	_Atomic uint32_t len;             /* how many; written under lock */
} loaded = { .lock = PTHREAD_MUTEX_INITIALIZER };

void lc_preloaded_init(void)
{
	char *home = NULL;

	if (image.bytes || (*lc_jvmti())->GetSystemProperty(lc_jvmti(), "java.home", &home))
		return;
	(void)lc_image_open(home, &image);
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)home);
}

bool lc_preloaded_image_file(const char *name, const uint8_t **data, size_t *len)
{
	if (!image.bytes)
		return false;
	atomic_store_explicit(&pages.read, true, memory_order_relaxed);
	return lc_image_class(&image, name, data, len);
}

void lc_preloaded_rest(void)
{
	const uint64_t now_ns = lc_time_now_ns();

	if (!atomic_load_explicit(&pages.read, memory_order_relaxed) ||
	    now_ns < atomic_load_explicit(&pages.next_ns, memory_order_relaxed))
		return;
	atomic_store_explicit(&pages.next_ns, now_ns + REST_NS, memory_order_relaxed);
	atomic_store_explicit(&pages.read, false, memory_order_relaxed);
	lc_image_rest(&image);
}

bool lc_preloaded_file(const char *signature, jclass class, struct lc_class_file *out)
{
	const size_t len = strlen(signature);
	char name[NAME_LEN_MAX];

	if (*signature != 'L' || len < 3 || len - 2 >= sizeof(name))
		return false;
	memcpy(name, signature + 1, len - 2);
	name[len - 2] = '\0';
	*out = (struct lc_class_file){ .redefined = class };
	return lc_preloaded_image_file(name, &out->data, &out->len);
}

static struct put_off **find(const char *signature)
{
	struct put_off **at;
	uint64_t h = 1;

	for (const char *p = signature; *p; p++)
		h = lc_hash_add(h, (uint8_t)*p);
	at = &loaded.buckets[h % BUCKETS];
	while (*at && strcmp((*at)->signature, signature))
		at = &(*at)->next;
	return at;
}

static bool add(const char *signature)
{
	const size_t bytes = strlen(signature) + 1;
	struct put_off *p = malloc(sizeof(*p) + bytes), **at;

	if (!p)
		return false;
	memcpy(p->signature, signature, bytes);
	pthread_mutex_lock(&loaded.lock);
	at = find(signature);
	p->next = *at;
	*at = p;
	/* Relaxed: a class that is prepared meanwhile was loaded earlier by this thread. */
	atomic_fetch_add_explicit(&loaded.len, 1, memory_order_relaxed);
	pthread_mutex_unlock(&loaded.lock);
	return true;
}

bool lc_preloaded_any(void)
{
	return atomic_load_explicit(&loaded.len, memory_order_relaxed);
}

bool lc_preloaded_take(const char *signature)
{
	struct put_off **at, *p;
	bool found;

	pthread_mutex_lock(&loaded.lock);
	at = find(signature);
	p = *at;
	found = p;
	if (found) {
		*at = p->next;
		atomic_fetch_sub_explicit(&loaded.len, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&loaded.lock);
	free(p);
	return found;
}

static bool is_prepared(jclass class)
{
	jint status = 0;

	return (*lc_jvmti())->GetClassStatus(lc_jvmti(), class, &status) ||
	       status & JVMTI_CLASS_STATUS_PREPARED;
}

bool lc_preloaded_put_off(jclass class, const char *signature)
{
	if (is_prepared(class) || !add(signature))
		return false;
	return !is_prepared(class) || !lc_preloaded_take(signature);
}

bool lc_preloaded_differs(jclass class, uint64_t code_sum)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jmethodID *methods = NULL;
	uint64_t sum = 0;
	jint len = 0;

	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		return true;
	for (jint i = 0; i < len; i++) {
		jlocation begin, end;

		/* Fails for native methods; -1 for abstract ones. */
		if (!(*jvmti)->GetMethodLocation(jvmti, methods[i], &begin, &end) && end >= 0)
			sum += lc_rewrite_code_sum((uint64_t)end + 1);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return sum != code_sum;
}

void lc_preloaded_make_method_ids(JNIEnv *jni)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jint len;
	jclass *all = lc_jvmti_loaded(jni, &len);

	if (!all)
		return;
	for (jint i = 0; i < len; i++) {
		jmethodID *methods = NULL;
		jint methods_len = 0;

		if ((*jvmti)->GetClassMethods(jvmti, all[i], &methods_len, &methods))
			continue;
		lc_loaded_code_note(methods, methods_len);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	}
	lc_jvmti_loaded_end(jni, all);
}
