/* SPDX-License-Identifier: Apache-2.0 */
/* core/path_name.c - asks the JVM for the names and lines of a method. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/core/jvmti.h"
#include "src/core/own.h"
#include "src/core/path_impl.h"
#include "src/core/version.h"

int lc_path_type_name(const char *signature, char *out, size_t out_len)
{
	static const char *const primitives = "Bbyte\0Cchar\0Ddouble\0Ffloat\0Iint\0Jlong\0"
	                                      "Sshort\0Zboolean\0Vvoid\0";
	size_t dims = strspn(signature, "["), len = 0;
	const char *element = signature + dims, *name = element;
	size_t name_len;

	if (*element == 'L') {
		name = element + 1;
		name_len = strcspn(name, ";");
	} else {
		for (const char *p = primitives; *p; p += strlen(p) + 1)
			if (*p == *element)
				name = p + 1;
		name_len = strlen(name);
	}
	if (name_len + dims * 2 + 1 > out_len) {
		if (out_len)
			*out = '\0';
		return -ENOSPC;
	}
	/* In a signature '/' separates packages and '.' the suffix of a hidden class: swap them. */
	for (; len < name_len; len++)
		out[len] = name[len] == '/' ? '.' : name[len] == '.' ? '/' : name[len];
	for (size_t i = 0; i < dims; i++, len += 2)
		memcpy(out + len, "[]", 2);
	out[len] = '\0';
	return 0;
}

char *lc_path_type_name_dup(const char *signature)
{
	size_t len = strlen(signature) * 2 + 16;
	char *name = malloc(len);

	if (name)
		lc_path_type_name(signature, name, len);
	return name;
}

static int by_start(const void *a, const void *b)
{
	const jvmtiLineNumberEntry *x = a, *y = b;

	return (x->start_location > y->start_location) - (x->start_location < y->start_location);
}

/* Names of the class that declares `id`; leaves the fallback texts where the JVM has no answer. */
static void name_class(JNIEnv *jni, jmethodID id, struct lc_method *m)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jclass holder = NULL;
	char *signature = NULL, *file = NULL;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &holder) || !holder)
		return;
	if (!(*jvmti)->GetClassSignature(jvmti, holder, &signature, NULL) && signature) {
		m->class_name = lc_path_type_name_dup(signature);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	}
	if (!(*jvmti)->GetSourceFileName(jvmti, holder, &file) && file) {
		m->source_file = strdup(file);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)file);
	}
	(*jni)->DeleteLocalRef(jni, holder);
}

/* Is it the version that the JVM names lines of? */
static bool is_newest(uint64_t version)
{
	return lc_version_now(lc_version_method(version)) == version;
}

static void name_lines(jmethodID id, struct lc_method *m)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jvmtiLineNumberEntry *lines = NULL, *copy;
	jint lines_len = 0;
	jlocation begin, end;

	if (!(*jvmti)->GetMethodLocation(jvmti, id, &begin, &end) && end >= 0)
		m->code_bytes = (uint32_t)end + 1;
	if (!(*jvmti)->GetLineNumberTable(jvmti, id, &lines_len, &lines) && lines_len > 0) {
		size_t bytes = (size_t)lines_len * sizeof(*lines);

		copy = malloc(bytes);
		if (copy) {
			memcpy(copy, lines, bytes);
			qsort(copy, (size_t)lines_len, sizeof(*copy), by_start);
			m->lines = copy;
			m->lines_len = (uint32_t)lines_len;
		}
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)lines);
}

static void fill_missing_names(struct lc_method *m)
{
	if (!m->class_name)
		m->class_name = strdup("[unloaded class]");
	if (!m->name)
		m->name = strdup("[unknown]");
	if (!m->signature)
		m->signature = strdup("()V");
	if (!m->source_file)
		m->source_file = strdup("");
}

void lc_path_name(JNIEnv *jni, uint64_t version, struct lc_method *out)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jmethodID id = lc_method_number_id(lc_version_method(version));
	char *name = NULL, *signature = NULL;

	memset(out, 0, sizeof(*out));
	if (id && !(*jvmti)->GetMethodName(jvmti, id, &name, &signature, NULL)) {
		out->name = strdup(name);
		out->signature = strdup(signature);
		if (!out->name || !out->signature)
			(void)lc_limit_note("names_unknown", "there was no memory for the names "
			                                     "of some methods");
		(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
		name_class(jni, id, out);
		out->left_out = out->class_name && lc_own_calls_program(out->class_name);
		if (is_newest(version))
			name_lines(id, out);
		if (!is_newest(version)) { /* it was replaced meanwhile */
			free((void *)(uintptr_t)out->lines);
			out->lines = NULL;
			out->lines_len = out->code_bytes = 0;
		}
	}
	fill_missing_names(out);
}

void lc_path_names_free(struct lc_method *m)
{
	free((void *)(uintptr_t)m->class_name);
	free((void *)(uintptr_t)m->name);
	free((void *)(uintptr_t)m->signature);
	free((void *)(uintptr_t)m->source_file);
	free((void *)(uintptr_t)m->lines);
}
