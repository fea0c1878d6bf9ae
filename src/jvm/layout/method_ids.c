/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/method_ids.c - see method_ids.h. The offsets are written at attach, and only read
 * then. */
#include "src/jvm/layout/method_ids.h"

#include <errno.h>
#include <jvmti.h>
#include <stdlib.h>

#include "src/core/jvmti.h"
#include "src/core/method_number.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/handle.h"
#include "src/jvm/os/peek.h"

enum {
	METHODS_MAX = UINT16_MAX, /* of a class: the JVM specification has 16 bits for them */
	/* HotSpot's Array<T> of pointers: an int, and 8-aligned elements. */
	ARRAY_DATA = 8,
	ATTEMPTS = 4, /* while a collection may move a class */
};

static struct {
	bool known;
	long const_method;           /* in a Method */
	long idnum, constants, code; /* in its ConstMethod */
	long holder;                 /* in its ConstantPool */
	long ids, methods;           /* in an InstanceKlass */
} at;

static uint64_t peek64(uint64_t address, long offset)
{
	uint64_t value = 0;

	return address && lc_peek(address + (uint64_t)offset, &value, sizeof(value)) ? value : 0;
}

static bool peek16(uint64_t address, long offset, uint16_t *out)
{
	return address && lc_peek(address + (uint64_t)offset, out, sizeof(*out));
}

/* The ID in a class's array that belongs to a method's number in the class; 0: none. */
static uint64_t id_at(uint64_t klass, uint32_t idnum)
{
	const uint64_t ids = peek64(klass, at.ids);

	/* Its first element is how many follow. Arrays are replaced by larger ones. */
	return idnum < peek64(ids, 0) ? peek64(ids, ((long)idnum + 1) * 8) : 0;
}

/* How many methods the class lists; *list: the array. */
static uint32_t methods_of(uint64_t klass, uint64_t *list)
{
	const uint64_t array = peek64(klass, at.methods);
	int32_t len = 0;

	*list = array + ARRAY_DATA;
	if (!array || !lc_peek(array, &len, sizeof(len)) || len < 0 || len > METHODS_MAX)
		return 0;
	return (uint32_t)len;
}

static uint64_t const_method_of(uint64_t method)
{
	return peek64(method, at.const_method);
}

static bool idnum_of(uint64_t method, uint16_t *out)
{
	return peek16(const_method_of(method), at.idnum, out);
}

/* The newest version of the class's method with this number; 0: it has none. */
static uint64_t newest(uint64_t klass, uint16_t idnum)
{
	uint64_t list;
	const uint32_t len = methods_of(klass, &list);
	uint64_t method = idnum < len ? peek64(list, (long)idnum * 8) : 0;
	uint16_t number;

	if (method && idnum_of(method, &number) && number == idnum)
		return method;
	for (uint32_t i = 0; i < len; i++) { /* of a class that was redefined */
		method = peek64(list, (long)i * 8);
		if (idnum_of(method, &number) && number == idnum)
			return method;
	}
	return 0;
}

uint64_t lc_method_ids_holder(uint64_t method)
{
	return at.known ? peek64(peek64(const_method_of(method), at.constants), at.holder) : 0;
}

/* The ID that a Method's class keeps for it, if it leads to that very Method; else 0. */
static uint64_t id_of(uint64_t method)
{
	const uint64_t klass = peek64(peek64(const_method_of(method), at.constants), at.holder);
	uint16_t idnum;
	uint64_t id, now;

	if (!klass || !idnum_of(method, &idnum))
		return 0;
	id = id_at(klass, idnum);
	if (!id)
		return 0;
	if (!lc_method_numbers_counted())
		return peek64(id, 0) == method ? id : 0;
	/* An obsolete version of a method has a number of its own, which no newer one has. */
	now = newest(klass, idnum);
	return !now || now == method ? id : 0;
}

uint64_t lc_method_ids_number(uint64_t method)
{
	return at.known ? lc_method_number((jmethodID)(uintptr_t)id_of(method)) : 0; /* NOLINT */
}

bool lc_method_ids_known(void)
{
	return at.known;
}

bool lc_method_ids_lead_to(uint64_t number, uint64_t method)
{
	if (!at.known || !number)
		return false;
	/* IDs that are addresses are never freed. */
	return lc_method_numbers_counted() ? lc_method_ids_number(method) == number
	                                   : lc_peek_load64(number) == method;
}

/* Is one of the IDs in the class's array? */
static bool has_one(uint64_t klass, const jmethodID *ids, jint len)
{
	const uint64_t count = peek64(peek64(klass, at.ids), 0);

	for (uint32_t i = 0; len && i < count && i < METHODS_MAX; i++)
		if (id_at(klass, i) == (uint64_t)(uintptr_t)ids[0])
			return true;
	return false;
}

static uint64_t klass_of(jclass class, const jmethodID *ids, jint len)
{
	const long offset = lc_layout()->class_klass;

	for (unsigned i = 0; i < ATTEMPTS && offset > 0; i++) {
		const uint64_t klass = peek64(lc_handle_address(class), offset);

		if (klass && !(klass & 7) && has_one(klass, ids, len))
			return klass;
	}
	return 0;
}

uint64_t lc_method_ids_class(jclass class, const jmethodID *ids, jint len)
{
	return at.known ? klass_of(class, ids, len) : 0;
}

/* Put the class's methods where their IDs are. Returns how many had one of the IDs. */
static jint match(uint64_t klass, const jmethodID *ids, jint len, uint64_t *methods)
{
	uint64_t list;
	const uint32_t count = methods_of(klass, &list);
	jint found = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t method = peek64(list, (long)i * 8);
		const uint64_t id = method ? id_of(method) : 0;

		for (jint j = 0; id && j < len; j++) {
			if ((uint64_t)(uintptr_t)ids[j] != id || methods[j])
				continue;
			methods[j] = method;
			found++;
			break;
		}
	}
	return found;
}

void lc_method_ids_methods(jclass class, const jmethodID *ids, jint len, uint64_t *methods)
{
	const bool counted = lc_method_numbers_counted();
	const unsigned before = lc_peek_begin(NULL);

	for (jint i = 0; i < len; i++)
		methods[i] = at.known && !counted ? peek64((uint64_t)(uintptr_t)ids[i], 0) : 0;
	if (at.known && counted)
		(void)match(klass_of(class, ids, len), ids, len, methods);
	lc_peek_end(before);
}

static uint64_t method_of_counted(JNIEnv *jni, jmethodID id)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jclass class = NULL;
	jmethodID *ids = NULL;
	jint len = 0;
	uint64_t method = 0;

	if (!id || (*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) || !class)
		return 0;
	if (!(*jvmti)->GetClassMethods(jvmti, class, &len, &ids)) {
		(void)match(klass_of(class, ids, len), &id, 1, &method);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)ids);
	}
	(*jni)->DeleteLocalRef(jni, class);
	return method;
}

uint64_t lc_method_ids_method(JNIEnv *jni, uint64_t number)
{
	if (!at.known)
		return 0;
	return lc_method_numbers_counted() ? method_of_counted(jni, lc_method_number_id(number))
	                                   : peek64(number, 0);
}

/* -- proof ---------------------------------------------------------------------------------- */

static bool find_offsets(void)
{
	at.const_method = lc_vm_offset("Method", "_constMethod");
	at.idnum = lc_vm_offset("ConstMethod", "_method_idnum");
	at.constants = lc_vm_offset("ConstMethod", "_constants");
	at.code = lc_vm_offset("ConstMethod", "_code_size");
	at.holder = lc_vm_offset("ConstantPool", "_pool_holder");
	at.ids = lc_vm_offset("InstanceKlass", "_methods_jmethod_ids");
	at.methods = lc_vm_offset("InstanceKlass", "_methods");
	return at.const_method >= 0 && at.idnum >= 0 && at.constants >= 0 && at.code >= 0 &&
	       at.holder >= 0 && at.ids >= 0 && at.methods >= 0;
}

/* Does JVMTI say of the ID what its Method says? Lengths of bytecode differ from one to another. */
static bool agrees(jmethodID id, uint64_t method)
{
	jlocation begin = 0, end = -1;
	uint16_t bytes = 0;

	if ((*lc_jvmti())->GetMethodLocation(lc_jvmti(), id, &begin, &end)) /* a native one */
		end = -1;
	return peek16(const_method_of(method), at.code, &bytes) && (jlocation)bytes == end + 1;
}

static bool prove(jclass class, const jmethodID *ids, jint len)
{
	uint64_t *methods = calloc((size_t)len, sizeof(*methods));
	bool proved = methods && match(klass_of(class, ids, len), ids, len, methods) == len;

	for (jint i = 0; proved && i < len; i++)
		proved = agrees(ids[i], methods[i]);
	free(methods);
	return proved;
}

int lc_method_ids_init(JNIEnv *jni)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jclass class = (*jni)->FindClass(jni, "java/lang/String");
	jmethodID *ids = NULL;
	jint len = 0;
	int err;

	at.known = false;
	if (!class || (*jvmti)->GetClassMethods(jvmti, class, &len, &ids) || len < 1) {
		(*jni)->ExceptionClear(jni);
		return -ENOENT;
	}
	err = lc_method_numbers_init(ids[0]);
	if (!err) {
		const unsigned before = lc_peek_begin(NULL);

		at.known = find_offsets() && prove(class, ids, len);
		lc_peek_end(before);
		err = at.known ? 0 : -ENOENT;
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)ids);
	(*jni)->DeleteLocalRef(jni, class);
	return err;
}
