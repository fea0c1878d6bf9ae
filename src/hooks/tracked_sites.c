/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/tracked_sites.c - reads the bytecode of loaded classes, as JVMTI gives it.
 *
 * The bytecode of a class that has hooks still has each place that allocates.
 */
#include "src/hooks/tracked_sites.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/track.h"
#include "src/classfile/alloc_plan.h"
#include "src/classfile/method_file.h"
#include "src/classfile/rewrite.h"
#include "src/core/jvmti.h"
#include "src/core/refs.h"
#include "src/core/stages.h"
#include "src/hooks/classes.h"
#include "src/hooks/hooked.h"
#include "src/hooks/preloaded.h"
#include "src/hooks/unchanged.h"

enum { NAME_MAX = 1 << 10 };

/* The class whose methods are looked at. */
struct source {
	struct lc_rewrite_options options;
	struct lc_method_source file;
	char name[NAME_MAX]; /* internal form */
};

static bool has_place(const uint8_t *bytes, size_t len, const struct lc_rewrite_options *options)
{
	struct lc_rewrite_result result;

	return lc_rewrite_look(bytes, len, options, &result) == LC_REWRITE_DONE;
}

/* Is there such a place in the method? */
static bool has_in_method(struct source *s, jmethodID method)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *name = NULL, *descriptor = NULL;
	unsigned char *code = NULL;
	struct lc_method_file f;
	jint len = 0;
	bool found = false;

	/* Fails for native methods. */
	if ((*jvmti)->GetBytecodes(jvmti, method, &len, &code) || len < 1)
		return false;
	if (!(*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL)) {
		s->file.name = name;
		s->file.descriptor = descriptor;
		s->file.code = code;
		s->file.code_bytes = (uint32_t)len;
		found = true; /* not read: the JVM's own class file may be */
		if (lc_method_file_open(&f, &s->file)) {
			found = has_place(f.bytes, f.cls.len, &s->options);
			lc_method_file_close(&f);
		}
		(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
	}
	(*jvmti)->Deallocate(jvmti, code);
	return found;
}

/* A class that is not linked yet gives no bytecode; most of them have nothing in their pool. */
static bool has_in_methods(struct source *s, const char *signature, jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	struct lc_class_file file;
	jmethodID *methods = NULL;
	jint len = 0;
	bool found = false;

	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		return !lc_preloaded_file(signature, class, &file) ||
		       has_place(file.data, file.len, &s->options);
	for (jint i = 0; i < len && !found; i++)
		found = has_in_method(s, methods[i]);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return found;
}

/* May code with this constant pool have such a place? */
static bool may_have(const struct source *s)
{
	struct lc_method_file f;
	bool may = true; /* not read */

	if (lc_method_file_open(&f, &s->file)) {
		may = lc_alloc_plan_may_track(&f.cls, &s->options);
		lc_method_file_close(&f);
	}
	return may;
}

static bool has_any(struct source *s, const char *signature, jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	const size_t len = strlen(signature);
	unsigned char *pool = NULL;
	jint pool_bytes = 0, pool_count = 0;
	bool found = false;

	if (*signature != 'L' || len < 3 || len - 2 >= NAME_MAX)
		return false;
	memcpy(s->name, signature + 1, len - 2);
	s->name[len - 2] = '\0';
	if ((*jvmti)->GetConstantPool(jvmti, class, &pool_count, &pool_bytes, &pool))
		return false;
	s->file = (struct lc_method_source){
		.pool = pool,
		.pool_bytes = (size_t)pool_bytes,
		.pool_count = (uint32_t)pool_count,
		.class_name = s->name,
		.name = "",
		.descriptor = "",
	};
	s->options.initialized = lc_classes_initialized(class);
	found = may_have(s) && has_in_methods(s, signature, class);
	(*jvmti)->Deallocate(jvmti, pool);
	return found;
}

/* Is the class to be transformed? */
static bool is_wanted(struct source *s, jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jboolean modifiable = JNI_FALSE;
	char *signature = NULL;
	bool wanted;

	if ((*jvmti)->IsModifiableClass(jvmti, class, &modifiable) || !modifiable) {
		lc_unchanged_note(class);
		return false;
	}
	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return true;
	wanted = has_any(s, signature, class);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return wanted;
}

jclass *lc_tracked_sites_find(JNIEnv *jni, const struct lc_track *track, jint *len)
{
	struct source s = { .options = lc_classes_options() };
	jint all;
	jclass *loaded = lc_jvmti_loaded(jni, &all);
	jclass *list = loaded ? malloc(((size_t)all + 1) * sizeof(*list)) : NULL;

	s.options.tracked = track;
	s.options.tracked_only = true;
	*len = 0;
	if (!list)
		lc_hooked_note_no_memory();
	for (jint i = 0; list && i < all && !lc_stages_stopped(); i++) {
		if (!is_wanted(&s, loaded[i]))
			continue;
		list[*len] = lc_ref_new(jni, loaded[i]);
		if (list[*len])
			++*len;
		else
			lc_hooked_note_no_memory();
	}
	if (loaded)
		lc_jvmti_loaded_end(jni, loaded);
	return list;
}
