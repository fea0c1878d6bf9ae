/* heap/layout.c - see layout.h. */
#include "layout.h"

#include <errno.h>
#include <string.h>

enum { PROBE_LEN = 0x12345, PROBE_REFERENCES = 1000 };

/* Offset of an array's first element, or 0. The critical region keeps the object in place. */
static uint32_t base_of(JNIEnv *jni, jarray array, uint32_t *length_offset)
{
	jboolean copied = JNI_FALSE;
	uint8_t *data = (*jni)->GetPrimitiveArrayCritical(jni, array, &copied);
	uint64_t addr = *(uint64_t *)((uintptr_t)array & ~(uintptr_t)7);
	uint32_t base = 0;

	if (!data)
		return 0;
	if (!copied && (uintptr_t)data > addr && (uintptr_t)data - addr <= 32) {
		const uint8_t *object = (const uint8_t *)(uintptr_t)addr; /* NOLINT */

		base = (uint32_t)((uintptr_t)data - addr);
		for (uint32_t at = 8; at + 4 <= base; at += 4) {
			int32_t length;

			memcpy(&length, object + at, sizeof(length));
			if (length == PROBE_LEN)
				*length_offset = at;
		}
	}
	(*jni)->ReleasePrimitiveArrayCritical(jni, array, data, JNI_ABORT);
	return base;
}

int lc_layout_find(jvmtiEnv *jvmti, JNIEnv *jni, struct lc_layout *out)
{
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
	l.byte_base = base_of(jni, bytes, &l.length_offset);
	l.long_base = base_of(jni, longs, &unused);
	if (!l.byte_base || !l.long_base || !l.length_offset)
		goto out;
	l.class_in_mark = l.length_offset == 8;
	if ((*jvmti)->GetObjectSize(jvmti, references, &size))
		goto out;
	l.reference_bytes = size >= PROBE_REFERENCES * 8 ? 8 : 4;
	l.reference_base = l.reference_bytes == 8 ? l.long_base : l.byte_base;
	/* A size that is not what 8-byte alignment gives shows a larger -XX:ObjectAlignmentInBytes. */
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
