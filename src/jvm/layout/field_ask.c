/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/field_ask.c - asks the JVM for a class's fields.
 *
 * Names come by JVMTI, offsets by jvm/layout/unsafe.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/descriptor.h"
#include "src/base/nearest.h"
#include "src/base/options.h"
#include "src/core/jvmti.h"
#include "src/core/refs.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/field_impl.h"
#include "src/jvm/layout/field_layout.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/unsafe.h"

enum { ACC_STATIC = 8 };

/* Set by init, constant afterwards. */
static struct {
	jobject unsafe; /* global reference; NULL: nothing can be asked */
	jmethodID offset_of;
} ask;

void lc_field_clear(JNIEnv *jni)
{
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
}

int lc_field_ask_init(JNIEnv *jni)
{
	struct lc_unsafe u;
	int err = -ENOTSUP;

	if (lc_unsafe_find(jni, &u)) {
		ask.unsafe = lc_ref_new(jni, u.object);
		ask.offset_of = u.offset_of;
		err = ask.unsafe ? 0 : -ENOMEM;
	}
	lc_field_clear(jni);
	lc_unsafe_end(jni, &u);
	return err;
}

int64_t lc_field_ask_offset(JNIEnv *jni, jclass class, const char *name)
{
	return lc_unsafe_offset(jni, ask.unsafe, ask.offset_of, class, name);
}

void lc_field_declared_free(struct lc_field_declared *d)
{
	for (jint i = 0; i < d->len; i++) {
		(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)d->at[i].name);
		(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)d->at[i].signature);
	}
	free(d->at);
	*d = (struct lc_field_declared){ 0 };
}

int lc_field_declared(jclass class, struct lc_field_declared *out)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jfieldID *ids = NULL;
	jint len = 0;

	*out = (struct lc_field_declared){ 0 };
	if ((*jvmti)->GetClassFields(jvmti, class, &len, &ids))
		return -EAGAIN;
	out->at = calloc((size_t)len + 1, sizeof(out->at[0]));
	for (jint i = 0; out->at && i < len; i++) {
		jint modifiers = 0;

		if (!(*jvmti)->GetFieldModifiers(jvmti, class, ids[i], &modifiers) &&
		    modifiers & ACC_STATIC)
			continue;
		/* One that has no name stays: it is known that there is one. */
		if ((*jvmti)->GetFieldName(jvmti, class, ids[i], &out->at[out->len].name,
		                           &out->at[out->len].signature, NULL))
			out->at[out->len].name = out->at[out->len].signature = NULL;
		out->len++;
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)ids);
	return out->at ? 0 : -ENOMEM;
}

bool lc_field_is_double(const struct lc_field_declared *d, jint i)
{
	for (jint j = 0; j < d->len; j++)
		if (j != i && d->at[j].name && !strcmp(d->at[i].name, d->at[j].name))
			return true;
	return false;
}

/* The field `name` that `class` itself declares. */
static int declared_offset(JNIEnv *jni, jclass class, const char *name, uint64_t *offset,
                           uint8_t *bytes)
{
	struct lc_field_declared d;
	int err = -ENOENT;

	if (lc_field_declared(class, &d))
		return -ENOENT;
	for (jint i = 0; i < d.len && err; i++) {
		int64_t at;

		if (!d.at[i].name || strcmp(d.at[i].name, name) != 0 || lc_field_is_double(&d, i))
			continue;
		at = lc_field_ask_offset(jni, class, name);
		if (at < 0)
			continue;
		*offset = (uint64_t)at;
		*bytes =
		    (uint8_t)lc_descriptor_bytes(d.at[i].signature, lc_layout()->reference_bytes);
		err = 0;
	}
	lc_field_declared_free(&d);
	return err;
}

int lc_field_offset(JNIEnv *jni, jclass class, const char *name, uint64_t *offset, uint8_t *bytes)
{
	jclass at;
	int err = -ENOENT;

	if (!ask.unsafe)
		return -ENOENT;
	at = (*jni)->NewLocalRef(jni, class);
	while (at && err) {
		jclass super = (*jni)->GetSuperclass(jni, at);

		err = declared_offset(jni, at, name, offset, bytes);
		(*jni)->DeleteLocalRef(jni, at);
		at = super;
	}
	if (at)
		(*jni)->DeleteLocalRef(jni, at);
	return err;
}

int lc_field_element(JNIEnv *jni, jclass class, uint64_t index, uint64_t *offset, uint8_t *bytes)
{
	struct lc_field_array array;
	char *signature = NULL;
	int err;

	if (!ask.unsafe || (*lc_jvmti())->GetClassSignature(lc_jvmti(), class, &signature, NULL))
		return -ENOENT;
	err = lc_field_array_of(lc_layout(), signature, &array);
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	if (err)
		return err;
	*offset = array.base + index * array.width;
	*bytes = array.width;
	return 0;
}

uint64_t lc_field_first(JNIEnv *jni, jclass class)
{
	uint64_t offset;
	uint8_t bytes;

	if (!lc_field_element(jni, class, 0, &offset, &bytes))
		return offset;
	return lc_layout_header_bytes(lc_layout());
}

void lc_field_nearest(JNIEnv *jni, jclass class, const char *name, char *out, size_t out_len)
{
	jclass at = ask.unsafe ? (*jni)->NewLocalRef(jni, class) : NULL;

	out[0] = '\0';
	while (at) {
		jclass super = (*jni)->GetSuperclass(jni, at);
		struct lc_field_declared d;

		if (!out[0] && !lc_field_declared(at, &d)) {
			const char **names = calloc((size_t)d.len + 1, sizeof(*names));
			const char *near = NULL;
			size_t len = 0;

			for (jint i = 0; names && i < d.len; i++)
				if (d.at[i].name)
					names[len++] = d.at[i].name;
			if (len)
				near = lc_nearest(name, names, len);
			if (near)
				snprintf(out, out_len, "%s", near);
			free(names);
			lc_field_declared_free(&d);
		}
		(*jni)->DeleteLocalRef(jni, at);
		at = super;
	}
}
