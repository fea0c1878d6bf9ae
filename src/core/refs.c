/* SPDX-License-Identifier: Apache-2.0 */
/* core/refs.c - keeps a list of references. They are some hundreds. */
#include "src/core/refs.h"

#include <pthread.h>
#include <stdbool.h>

#include "src/base/vector.h"

struct ref {
	jobject it;
	bool weak;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lc_vector refs = { .element_bytes = sizeof(struct ref) }; /* under lock */

static void drop(JNIEnv *jni, const struct ref *r)
{
	if (r->weak)
		(*jni)->DeleteWeakGlobalRef(jni, r->it);
	else
		(*jni)->DeleteGlobalRef(jni, r->it);
}

static jobject keep(JNIEnv *jni, jobject made, bool weak)
{
	const struct ref r = { made, weak };
	int err;

	if (!made)
		return NULL;
	pthread_mutex_lock(&lock);
	err = lc_vector_push(&refs, &r);
	pthread_mutex_unlock(&lock);
	if (!err)
		return made;
	drop(jni, &r);
	return NULL;
}

jobject lc_ref_new(JNIEnv *jni, jobject object)
{
	return keep(jni, (*jni)->NewGlobalRef(jni, object), false);
}

jweak lc_ref_new_weak(JNIEnv *jni, jobject object)
{
	return keep(jni, (*jni)->NewWeakGlobalRef(jni, object), true);
}

void lc_ref_delete(JNIEnv *jni, jobject ref)
{
	struct ref found = { NULL, false };

	pthread_mutex_lock(&lock);
	for (size_t i = refs.len; i-- > 0 && !found.it;) {
		struct ref *r = (struct ref *)refs.data + i;

		if (r->it != ref)
			continue;
		found = *r;
		*r = ((struct ref *)refs.data)[--refs.len];
	}
	pthread_mutex_unlock(&lock);
	if (found.it)
		drop(jni, &found);
}

void lc_refs_delete_all(JNIEnv *jni)
{
	for (size_t i = 0; i < refs.len; i++)
		drop(jni, (struct ref *)refs.data + i);
	refs.len = 0;
}
