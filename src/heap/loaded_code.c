/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/loaded_code.c - asks JVMTI for pools and bytecode, and keeps a method's ID of each class.
 *
 * An ID is all that is kept when a class is loaded. The first look-up of a call asks for the names
 * of the classes that were loaded since the last one.
 */
#include "src/heap/loaded_code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/vector.h"
#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/method_number.h"
#include "src/core/refs.h"
#include "src/jvm/layout/local_variables.h"
#include "src/jvm/layout/method_ids.h"

enum {
	LISTS = 1 << 10,
	NAME_MAX = 1 << 10,
	CLASSES_MAX = 4 << 20,
	NONE = -1,
	POOLS_MAX = 64,
};

/*
 * A class's constant pool, as JVMTI gave it. When a class is redefined, the JVM only appends to it.
 */
struct pool {
	jclass class; /* a global reference; NULL: there is none */
	unsigned char *bytes;
	jint len, count;
};

/* A class that has a method. */
struct known {
	uint64_t hash; /* of its name with dots */
	jmethodID method;
	int32_t next; /* in its list, or NONE */
};

static struct {
	pthread_mutex_t lock;
	struct lc_vector noted; /* jmethodID, one of each class; under lock */
	/* The writer's. */
	size_t named;             /* how many of them are in `classes` */
	struct lc_vector classes; /* struct known */
	int32_t lists[LISTS];     /* by the name's hash: number of a class, or NONE */
	struct pool pools[POOLS_MAX];
	unsigned next_pool; /* the place of the next one */
	_Atomic uint64_t opened, dropped;
} code = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.noted = { .element_bytes = sizeof(jmethodID) },
	.classes = { .element_bytes = sizeof(struct known) },
};

/* ---- classes by name ---- */

void lc_loaded_code_begin(void)
{
	pthread_mutex_lock(&code.lock);
	code.noted.len = 0;
	pthread_mutex_unlock(&code.lock);
	code.named = 0;
	code.classes.len = 0;
	for (unsigned i = 0; i < LISTS; i++)
		code.lists[i] = NONE;
}

void lc_loaded_code_note(const jmethodID *methods, jint len)
{
	bool failed;

	if (len < 1)
		return;
	pthread_mutex_lock(&code.lock);
	failed = code.noted.len == CLASSES_MAX || lc_vector_push(&code.noted, methods);
	pthread_mutex_unlock(&code.lock);
	if (failed)
		lc_count(&code.dropped);
}

/* The class that declares the method, its name with dots in `name`. NULL where that is gone. */
static jclass holder_of(JNIEnv *jni, jmethodID method, char name[NAME_MAX])
{
	jvmtiEnv *jvmti = lc_jvmti();
	jclass holder = NULL;
	char *signature = NULL;
	size_t len;

	name[0] = '\0';
	if (!method || (*jvmti)->GetMethodDeclaringClass(jvmti, method, &holder) || !holder)
		return NULL;
	if (!(*jvmti)->GetClassSignature(jvmti, holder, &signature, NULL)) {
		len = strlen(signature);
		if (len > 2 && len - 2 < NAME_MAX && signature[0] == 'L') {
			memcpy(name, signature + 1, len - 2);
			name[len - 2] = '\0';
		}
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	}
	if (name[0])
		return holder;
	(*jni)->DeleteLocalRef(jni, holder);
	return NULL;
}

static void to_dots(char *name)
{
	for (; *name; name++)
		if (*name == '/')
			*name = '.';
}

/* Ask for the class's name. Without memory it is not found. */
static void add_class(JNIEnv *jni, jmethodID method)
{
	struct known k = { .method = method };
	char name[NAME_MAX];
	jclass class = holder_of(jni, method, name);
	int32_t *list;

	if (!class)
		return;
	(*jni)->DeleteLocalRef(jni, class);
	to_dots(name);
	k.hash = lc_hash_text(0, name);
	list = &code.lists[k.hash & (LISTS - 1)];
	k.next = *list;
	if (!lc_vector_push(&code.classes, &k))
		*list = (int32_t)code.classes.len - 1;
}

static void name_noted(JNIEnv *jni)
{
	for (;;) {
		jmethodID method = NULL;

		pthread_mutex_lock(&code.lock);
		if (code.named < code.noted.len)
			method = ((const jmethodID *)code.noted.data)[code.named++];
		pthread_mutex_unlock(&code.lock);
		if (!method)
			return;
		add_class(jni, method);
	}
}

static bool have_one_loader(JNIEnv *jni, jclass a, jclass b)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jobject x = NULL, y = NULL;
	const bool same = !(*jvmti)->GetClassLoader(jvmti, a, &x) &&
	                  !(*jvmti)->GetClassLoader(jvmti, b, &y) &&
	                  (*jni)->IsSameObject(jni, x, y);

	(*jni)->DeleteLocalRef(jni, x);
	(*jni)->DeleteLocalRef(jni, y);
	return same;
}

/*
 * The next class of this name, a local reference, or NULL. *at is NONE before the first one, and
 * its number afterwards.
 */
static jclass next_class(JNIEnv *jni, const char *class_name, int32_t *at)
{
	const struct known *classes = code.classes.data;
	const uint64_t hash = lc_hash_text(0, class_name);
	int32_t i = *at == NONE ? code.lists[hash & (LISTS - 1)] : classes[*at].next;

	for (; i != NONE; i = classes[i].next) {
		char name[NAME_MAX];
		jclass class =
		    classes[i].hash == hash ? holder_of(jni, classes[i].method, name) : NULL;

		if (!class)
			continue;
		to_dots(name);
		if (!strcmp(name, class_name)) {
			*at = i;
			return class;
		}
		(*jni)->DeleteLocalRef(jni, class);
	}
	return NULL;
}

/*
 * The class of this name that a class of the caller's loader means: the loader's own, else the only
 * one. A local reference, or NULL.
 */
static jclass find_class(JNIEnv *jni, jclass caller, const char *class_name)
{
	jclass found = NULL, class;
	int32_t at = NONE;
	unsigned several = 0;

	while ((class = next_class(jni, class_name, &at))) {
		(*jni)->DeleteLocalRef(jni, found);
		found = class;
		several++;
		if (have_one_loader(jni, class, caller))
			return found;
	}
	if (several < 2)
		return found;
	(*jni)->DeleteLocalRef(jni, found);
	return NULL;
}

void lc_loaded_code_each(JNIEnv *jni, const char *signature,
                         bool (*is)(JNIEnv *jni, jclass class, void *user), void *user)
{
	const size_t len = strlen(signature);
	int32_t at = NONE;
	bool found = false;
	char name[NAME_MAX];
	jclass class;

	if (len < 3 || len - 2 >= NAME_MAX || signature[0] != 'L')
		return;
	memcpy(name, signature + 1, len - 2);
	name[len - 2] = '\0';
	to_dots(name);
	name_noted(jni);
	while (!found && (class = next_class(jni, name, &at))) {
		found = is(jni, class, user);
		(*jni)->DeleteLocalRef(jni, class);
	}
}

/* ---- methods ---- */

static bool is_named(jmethodID method, const char *name, const char *descriptor)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *its_name = NULL, *its_descriptor = NULL;
	bool same;

	if ((*jvmti)->GetMethodName(jvmti, method, &its_name, &its_descriptor, NULL))
		return false;
	same = !strcmp(its_name, name) && !strcmp(its_descriptor, descriptor);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)its_name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)its_descriptor);
	return same;
}

static jmethodID find_method(jclass class, const char *name, const char *descriptor)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jmethodID *methods = NULL, found = NULL;
	jint len = 0;

	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		return NULL;
	for (jint i = 0; i < len && !found; i++)
		if (is_named(methods[i], name, descriptor))
			found = methods[i];
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return found;
}

jclass lc_loaded_code_class(JNIEnv *jni, jmethodID caller, const char *class_name)
{
	char callers_name[NAME_MAX];
	jclass from = holder_of(jni, caller, callers_name), to;

	if (!from)
		return NULL;
	name_noted(jni);
	to_dots(callers_name);
	if (!strcmp(callers_name, class_name))
		return from;
	to = find_class(jni, from, class_name);
	(*jni)->DeleteLocalRef(jni, from);
	return to;
}

jmethodID lc_loaded_code_find(JNIEnv *jni, jmethodID caller, const char *class_name,
                              const char *name, const char *descriptor)
{
	jclass class = lc_loaded_code_class(jni, caller, class_name);
	jmethodID found = class ? find_method(class, name, descriptor) : NULL;

	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return found;
}

/* ---- bytecode ---- */

static void forget(JNIEnv *jni, struct pool *p)
{
	(*lc_jvmti())->Deallocate(lc_jvmti(), p->bytes);
	lc_ref_delete(jni, p->class);
	*p = (struct pool){ 0 };
}

void lc_loaded_code_rest(JNIEnv *jni)
{
	for (unsigned i = 0; i < POOLS_MAX && code.pools[i].class; i++)
		forget(jni, &code.pools[i]);
	code.next_pool = 0;
}

/* The pool of a class; to ask for a large one takes 100 us. NULL without. */
static const struct pool *pool_of(JNIEnv *jni, jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	struct pool p = { 0 }, *place = &code.pools[code.next_pool];

	for (unsigned i = 0; i < POOLS_MAX && code.pools[i].class; i++)
		if ((*jni)->IsSameObject(jni, code.pools[i].class, class))
			return &code.pools[i];
	p.class = lc_ref_new(jni, class);
	if (!p.class || (*jvmti)->GetConstantPool(jvmti, class, &p.count, &p.len, &p.bytes)) {
		lc_ref_delete(jni, p.class);
		return NULL;
	}
	if (place->class)
		forget(jni, place);
	*place = p;
	code.next_pool = (code.next_pool + 1) % POOLS_MAX;
	return place;
}

/* Ask for everything but the names. The caller deallocates the code. */
static bool ask(JNIEnv *jni, jclass class, jmethodID method, struct lc_method_source *s)
{
	jvmtiEnv *jvmti = lc_jvmti();
	unsigned char *bytecode = NULL;
	jint code_bytes = 0, max_locals = 0, flags = 0;
	const struct pool *pool = NULL;
	const bool good = !(*jvmti)->GetBytecodes(jvmti, method, &code_bytes, &bytecode) &&
	                  code_bytes > 0 && (pool = pool_of(jni, class)) &&
	                  !(*jvmti)->GetMaxLocals(jvmti, method, &max_locals) &&
	                  !(*jvmti)->GetMethodModifiers(jvmti, method, &flags);

	if (pool) {
		s->pool = pool->bytes;
		s->pool_bytes = (size_t)pool->len;
		s->pool_count = (uint32_t)pool->count;
	}
	s->code = bytecode;
	s->code_bytes = (uint32_t)code_bytes;
	s->max_locals = (uint16_t)max_locals;
	s->access_flags = (uint16_t)flags;
	return good;
}

/* With the names and the local variables. */
static bool open_source(JNIEnv *jni, jmethodID method, struct lc_method_source *s,
                        struct lc_method_file *out)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *name = NULL, *descriptor = NULL;
	struct lc_local_variable *locals;
	bool open;

	if ((*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL))
		return false;
	s->locals_len = lc_local_variables_of(lc_method_ids_method(jni, lc_method_number(method)),
	                                      s->code_bytes, s->max_locals, &locals);
	s->name = name;
	s->descriptor = descriptor;
	s->locals = locals;
	open = lc_method_file_open(out, s);
	free(locals);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
	return open;
}

bool lc_loaded_code_open(JNIEnv *jni, jmethodID method, struct lc_method_file *out)
{
	jvmtiEnv *jvmti = lc_jvmti();
	struct lc_method_source s = { 0 };
	char name[NAME_MAX];
	jclass class = holder_of(jni, method, name);
	bool open;

	*out = (struct lc_method_file){ 0 };
	if (!class)
		return false;
	s.class_name = name;
	open = ask(jni, class, method, &s) && open_source(jni, method, &s, out);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)(uintptr_t)s.code);
	(*jni)->DeleteLocalRef(jni, class);
	atomic_fetch_add_explicit(&code.opened, open, memory_order_relaxed); /* a count */
	return open;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("code_opened", &code.opened),
	LC_COUNTER("code_classes_dropped", &code.dropped),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
