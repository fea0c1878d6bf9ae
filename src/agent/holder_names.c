/* SPDX-License-Identifier: Apache-2.0 */
/* agent/holder_names.c - counts the fields of classes in JVMTI's order. */
#include "src/agent/holder_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/path.h"

enum { SUPERS_MAX = 128, INTERFACES_MAX = 512, REFERENCES = SUPERS_MAX + 2 * INTERFACES_MAX };

/* The order of a class's field numbers. The references are good in the local frame of the caller.
 */
struct order {
	jclass supers[SUPERS_MAX]; /* from the class upwards */
	size_t supers_len;
	jclass interfaces[INTERFACES_MAX];
	size_t interfaces_len;
	uint32_t interface_fields;
};

static void release(jvmtiEnv *jvmti, void *memory)
{
	(*jvmti)->Deallocate(jvmti, memory);
}

/* Returns the number of fields, or -1. The caller deallocates *fields. */
static jint fields_of(jvmtiEnv *jvmti, jclass class, jfieldID **fields)
{
	jint len = 0;

	*fields = NULL;
	return (*jvmti)->GetClassFields(jvmti, class, &len, fields) ? -1 : len;
}

static bool has(JNIEnv *jni, const struct order *o, jclass interface)
{
	for (size_t i = 0; i < o->interfaces_len; i++)
		if ((*jni)->IsSameObject(jni, o->interfaces[i], interface))
			return true;
	return false;
}

/* Add the interfaces that the class names, without their superinterfaces. */
static bool add_interfaces(jvmtiEnv *jvmti, JNIEnv *jni, struct order *o, jclass class)
{
	jclass *named = NULL;
	jint len = 0;
	bool fits = true;

	if ((*jvmti)->GetImplementedInterfaces(jvmti, class, &len, &named))
		return false;
	for (jint i = 0; i < len && fits; i++) {
		if (has(jni, o, named[i]))
			continue;
		fits = o->interfaces_len < INTERFACES_MAX;
		if (fits)
			o->interfaces[o->interfaces_len++] = named[i];
	}
	release(jvmti, named);
	return fits;
}

static bool read_order(jvmtiEnv *jvmti, JNIEnv *jni, jclass class, struct order *o)
{
	bool done = true;

	memset(o, 0, sizeof(*o));
	for (; class && done; class = (*jni)->GetSuperclass(jni, class)) {
		done = o->supers_len < SUPERS_MAX && add_interfaces(jvmti, jni, o, class);
		if (done)
			o->supers[o->supers_len++] = class;
	}
	for (size_t i = 0; i < o->interfaces_len && done; i++) {
		jfieldID *fields;
		const jint len = fields_of(jvmti, o->interfaces[i], &fields);

		done = len >= 0 && add_interfaces(jvmti, jni, o, o->interfaces[i]);
		o->interface_fields += len > 0 ? (uint32_t)len : 0;
		release(jvmti, fields);
	}
	return done;
}

/* Begin a frame of local references, and read the order. End the frame in either case. */
static struct order *begin(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
	struct order *o = malloc(sizeof(*o));

	if (o && (*jni)->PushLocalFrame(jni, REFERENCES)) {
		(*jni)->ExceptionClear(jni);
		free(o);
		return NULL;
	}
	if (o && !read_order(jvmti, jni, class, o))
		o->supers_len = 0;
	return o;
}

static void end(JNIEnv *jni, struct order *o)
{
	if (!o)
		return;
	(*jni)->PopLocalFrame(jni, NULL);
	free(o);
}

void lc_holder_names_class(jvmtiEnv *jvmti, jclass class, char *out, size_t out_len)
{
	char *signature = NULL;

	snprintf(out, out_len, "(unknown class)");
	if (!class || (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return;
	if (lc_path_type_name(signature, out, out_len))
		snprintf(out, out_len, "(class with a long name)");
	release(jvmti, signature);
}

static void append_field(jvmtiEnv *jvmti, jclass class, jfieldID field, char *out, size_t out_len)
{
	char *name = NULL;
	size_t len;

	lc_holder_names_class(jvmti, class, out, out_len);
	len = strlen(out);
	if ((*jvmti)->GetFieldName(jvmti, class, field, &name, NULL, NULL))
		return;
	snprintf(out + len, out_len - len, ".%s", name);
	release(jvmti, name);
}

void lc_holder_names_field(jvmtiEnv *jvmti, JNIEnv *jni, jclass class, uint32_t number, char *out,
                           size_t out_len)
{
	struct order *o = begin(jvmti, jni, class);
	uint32_t before = o ? o->interface_fields : 0;
	bool found = false;

	for (size_t i = o ? o->supers_len : 0; i-- > 0 && !found;) {
		jfieldID *fields;
		const jint len = fields_of(jvmti, o->supers[i], &fields);

		if (len < 0)
			break;
		found = number >= before && number - before < (uint32_t)len;
		if (found)
			append_field(jvmti, o->supers[i], fields[number - before], out, out_len);
		before += (uint32_t)len;
		release(jvmti, fields);
	}
	end(jni, o);
	if (!found) {
		lc_holder_names_class(jvmti, class, out, out_len);
		before = (uint32_t)strlen(out);
		snprintf(out + before, out_len - before, ".(unknown field)");
	}
}

/* The index of the field of that name in what the class declares; -1: none. */
static jint index_of(jvmtiEnv *jvmti, jclass class, const jfieldID *fields, jint len,
                     const char *wanted)
{
	jint at = -1;

	for (jint i = 0; i < len && at < 0; i++) {
		char *name = NULL;

		if ((*jvmti)->GetFieldName(jvmti, class, fields[i], &name, NULL, NULL))
			continue;
		if (!strcmp(name, wanted))
			at = i;
		release(jvmti, name);
	}
	return at;
}

bool lc_holder_names_number(jvmtiEnv *jvmti, JNIEnv *jni, jclass class, jclass declarer,
                            const char *name, uint32_t *number)
{
	struct order *o = begin(jvmti, jni, class);
	uint32_t before = o ? o->interface_fields : 0;
	bool found = false, known = true;

	for (size_t i = o ? o->supers_len : 0; i-- > 0 && !found && known;) {
		jfieldID *fields;
		const jint len = fields_of(jvmti, o->supers[i], &fields);
		jint at = -1;

		known = len >= 0;
		if (known && (*jni)->IsSameObject(jni, o->supers[i], declarer))
			at = index_of(jvmti, declarer, fields, len, name);
		found = at >= 0;
		if (found)
			*number = before + (uint32_t)at;
		before += known ? (uint32_t)len : 0;
		release(jvmti, fields);
	}
	end(jni, o);
	return found;
}

void lc_holder_names_method(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method, char *out,
                            size_t out_len)
{
	jclass class = NULL;
	char *name = NULL;
	size_t len;

	snprintf(out, out_len, "(unknown method)");
	if (!method || (*jvmti)->GetMethodDeclaringClass(jvmti, method, &class))
		return;
	if (!(*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL)) {
		lc_holder_names_class(jvmti, class, out, out_len);
		len = strlen(out);
		snprintf(out + len, out_len - len, ".%s", name);
		release(jvmti, name);
	}
	(*jni)->DeleteLocalRef(jni, class);
}
