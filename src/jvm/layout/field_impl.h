/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/field_impl.h - declares what field.c asks of field_ask.c. */
#ifndef LC_JVM_LAYOUT_FIELD_IMPL_H
#define LC_JVM_LAYOUT_FIELD_IMPL_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* The instance fields that a class itself declares. */
struct lc_field_declared {
	jint len;
	struct {
		char *name; /* NULL (with signature) if JVMTI did not return it */
		char *signature;
	} * at;
};

/* Context of all functions: a thread that the JVM knows, `jni` its own. */

int lc_field_ask_init(JNIEnv *jni);

/* Returns 0; -EAGAIN when the class is not ready to be asked; -ENOMEM. */
int lc_field_declared(jclass class, struct lc_field_declared *out);
void lc_field_declared_free(struct lc_field_declared *d);

/* Does it declare another one of that name? A class file may; Unsafe sees only one of them. */
bool lc_field_is_double(const struct lc_field_declared *d, jint i);

/* Offset of the instance field `name` that `class` itself declares, or -1. */
int64_t lc_field_ask_offset(JNIEnv *jni, jclass class, const char *name);

/* No exception is left pending. */
void lc_field_clear(JNIEnv *jni);

#endif
