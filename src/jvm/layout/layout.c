/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/layout.c - finds out how arrays are laid out, by looking at two of them; see layout.h.
 */
#include "src/jvm/layout/layout.h"

#include <errno.h>
#include <string.h>

#include "src/core/jvmti.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/handle.h"
#include "src/jvm/os/peek.h"

enum { PROBE_LEN = 0x12345, PROBE_REFERENCES = 1000, LOOK_BYTES = 48, ATTEMPTS = 16 };

static struct lc_layout the_layout; /* written by lc_layout_find(), once */

/* Stands at the beginning of the arrays that are looked at. */
static const uint64_t mark = UINT64_C(0x5a17c0de71ae9d3b);

struct beginning {
	unsigned char bytes[LOOK_BYTES];
};

/*
 * The first bytes of the object; false where they cannot be read. A collection may move it
 * meanwhile.
 */
static bool look(jobject o, struct beginning *out)
{
	return lc_peek(lc_handle_address(o), out->bytes, LOOK_BYTES);
}

/* Offset of an array's first element, which is `mark`, and of its length; or 0. */
static uint32_t base_of(jarray array, uint32_t *length_offset)
{
	struct beginning object;
	const unsigned char *bytes = object.bytes;

	for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
		if (!look(array, &object))
			continue;
		for (uint32_t base = 8; base + sizeof(mark) <= LOOK_BYTES; base += 4) {
			if (memcmp(bytes + base, &mark, sizeof(mark)) != 0)
				continue;
			for (uint32_t at = 8; at + 4 <= base; at += 4) {
				int32_t length;

				memcpy(&length, bytes + at, sizeof(length));
				if (length == PROBE_LEN)
					*length_offset = at;
			}
			return base;
		}
	}
	return 0;
}

static int find_arrays(JNIEnv *jni, struct lc_layout *out)
{
	jvmtiEnv *jvmti = lc_jvmti();
	struct lc_layout l = { .object_alignment = 8 };
	uint32_t unused = 0;
	jlong size = 0;
	jarray bytes, longs, references;
	jclass object;
	int err = -ENOTSUP;

	if ((*jni)->PushLocalFrame(jni, 8))
		return -ENOTSUP;
	bytes = (*jni)->NewByteArray(jni, PROBE_LEN);
	longs = (*jni)->NewLongArray(jni, PROBE_LEN);
	object = (*jni)->FindClass(jni, "java/lang/Object");
	references = object ? (*jni)->NewObjectArray(jni, PROBE_REFERENCES, object, NULL) : NULL;
	if (!bytes || !longs || !references)
		goto out;
	(*jni)->SetByteArrayRegion(jni, bytes, 0, sizeof(mark), (const jbyte *)&mark);
	(*jni)->SetLongArrayRegion(jni, longs, 0, 1, (const jlong *)&mark);
	l.byte_base = base_of(bytes, &l.length_offset);
	l.long_base = base_of(longs, &unused);
	if (!l.byte_base || !l.long_base || !l.length_offset)
		goto out;
	l.class_in_mark = l.length_offset == 8;
	if ((*jvmti)->GetObjectSize(jvmti, references, &size))
		goto out;
	l.reference_bytes = size >= PROBE_REFERENCES * 8 ? 8 : 4;
	l.reference_base = l.reference_bytes == 8 ? l.long_base : l.byte_base;
	/*
	 * A size that is not what 8-byte alignment gives shows a larger -XX:ObjectAlignmentInBytes.
	 */
	for (l.object_alignment = 8; l.object_alignment < 256; l.object_alignment *= 2) {
		uint64_t want = l.byte_base + PROBE_LEN, mask = l.object_alignment - 1;

		if (!(*jvmti)->GetObjectSize(jvmti, bytes, &size) &&
		    (uint64_t)size == ((want + mask) & ~mask))
			break;
	}
	*out = l;
	err = 0;
out:
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	(*jni)->PopLocalFrame(jni, NULL);
	return err;
}

int lc_layout_find(JNIEnv *jni)
{
	int err = lc_vm_init();

	if (!err)
		err = find_arrays(jni, &the_layout);
	/* The flag came with the encoding. */
	the_layout.slides_encoded = !err && lc_vm_flag("UseCompactObjectHeaders");
	if (!err)
		lc_layout_classes(&the_layout);
	return err;
}

const struct lc_layout *lc_layout(void)
{
	return &the_layout;
}
