/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/instance.c - adds up the fields of a class and its superclasses. */
#include "src/jvm/layout/instance.h"

#include <jvmti.h>

#include "src/base/descriptor.h"
#include "src/core/jvmti.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/method_ids.h"
#include "src/jvm/os/peek.h"

enum { ACC_STATIC = 8 };

#define SIZE_MASK (~UINT32_C(7)) /* of a layout helper: below are flags */

/* Bytes of the instance fields that `class` itself declares. */
static uint64_t own_field_bytes(jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jfieldID *fields = NULL;
	uint64_t bytes = 0;
	jint len = 0;

	if ((*jvmti)->GetClassFields(jvmti, class, &len, &fields))
		return 0;
	for (jint i = 0; i < len; i++) {
		char *signature = NULL;
		jint modifiers = 0;

		if ((*jvmti)->GetFieldModifiers(jvmti, class, fields[i], &modifiers) ||
		    modifiers & ACC_STATIC ||
		    (*jvmti)->GetFieldName(jvmti, class, fields[i], NULL, &signature, NULL))
			continue;
		bytes += lc_descriptor_bytes(signature, lc_layout()->reference_bytes);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)fields);
	return bytes;
}

uint64_t lc_instance_bytes(JNIEnv *jni, jclass class)
{
	uint64_t bytes = lc_layout_header_bytes(lc_layout());

	for (jclass at = (*jni)->NewLocalRef(jni, class); at;) {
		jclass super = (*jni)->GetSuperclass(jni, at);

		bytes += own_field_bytes(at);
		(*jni)->DeleteLocalRef(jni, at);
		at = super;
	}
	return bytes;
}

bool lc_instance_is_below(jclass class, const jmethodID *ids, jint len, uint64_t bytes)
{
	const struct lc_layout *l = lc_layout();
	const uint64_t klass = lc_method_ids_class(class, ids, len);
	int32_t helper = 0;

	return klass && l->klass_layout_helper >= 0 &&
	       lc_peek(klass + (uint64_t)l->klass_layout_helper, &helper, sizeof(helper)) &&
	       helper > 0 && ((uint32_t)helper & SIZE_MASK) < bytes;
}
