/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/heap_size.c - asks java.lang.Runtime, and the JDK for the limit of direct buffers. */
#include "src/attribute/heap_size.h"

#include "src/core/counters.h"
#include "src/core/record.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/layout.h"

static struct {
	uint64_t heap_max_bytes, direct_max_bytes; /* 0: unknown */
	/* How objects are laid out: bytes before the first field, and before element 0. */
	uint64_t header, alignment, reference, array_base, array_longs, array_references;
	uint32_t full; /* collections of both generations, at the last look */
} sizes;

/* A method of Runtime that returns a long; 0 if it cannot be called. */
static uint64_t runtime_bytes(JNIEnv *jni, const char *const names[], size_t len)
{
	uint64_t values[2] = { 0 };
	jclass class = (*jni)->FindClass(jni, "java/lang/Runtime");
	jmethodID get =
	    class ? (*jni)->GetStaticMethodID(jni, class, "getRuntime", "()Ljava/lang/Runtime;")
	          : NULL;
	jobject runtime = get ? (*jni)->CallStaticObjectMethod(jni, class, get) : NULL;

	for (size_t i = 0; runtime && !(*jni)->ExceptionCheck(jni) && i < len; i++) {
		jmethodID method = (*jni)->GetMethodID(jni, class, names[i], "()J");

		if (method)
			values[i] = (uint64_t)(*jni)->CallLongMethod(jni, runtime, method);
	}
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		values[0] = values[1] = 0;
	}
	if (runtime)
		(*jni)->DeleteLocalRef(jni, runtime);
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return values[0] - values[1];
}

/* The limit of direct buffers, which the JDK keeps. */
static uint64_t direct_bytes(JNIEnv *jni)
{
	uint64_t bytes = 0;
	jclass class = (*jni)->FindClass(jni, "jdk/internal/misc/VM");
	jmethodID method =
	    class ? (*jni)->GetStaticMethodID(jni, class, "maxDirectMemory", "()J") : NULL;

	if (method)
		bytes = (uint64_t)(*jni)->CallStaticLongMethod(jni, class, method);
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		bytes = 0;
	}
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return bytes;
}

void lc_heap_size_begin(JNIEnv *jni)
{
	static const char *const max[] = { "maxMemory" };
	const struct lc_layout *layout = lc_layout();

	sizes.heap_max_bytes = runtime_bytes(jni, max, 1);
	if (sizes.heap_max_bytes > INT64_MAX / 2)
		sizes.heap_max_bytes = 0; /* it has no limit */
	sizes.direct_max_bytes = direct_bytes(jni);
	sizes.header = lc_layout_header_bytes(layout);
	sizes.alignment = layout->object_alignment;
	sizes.reference = layout->reference_bytes;
	sizes.array_base = layout->byte_base;
	sizes.array_longs = layout->long_base;
	sizes.array_references = layout->reference_base;
}

uint64_t lc_heap_size_of(const struct lc_area *areas, size_t len)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < len; i++) {
		const struct lc_area *a = &areas[i];

		if (a->kind == LC_AREA_HUMONGOUS || a->kind == LC_AREA_HUMONGOUS_CONT)
			bytes += a->end - a->bottom;
		else if (a->kind != LC_AREA_FREE)
			bytes += (a->top < a->end ? a->top : a->end) - a->bottom;
	}
	return bytes;
}

uint64_t lc_heap_size_now(JNIEnv *jni)
{
	static const char *const used[] = { "totalMemory", "freeMemory" };

	return runtime_bytes(jni, used, 2);
}

bool lc_heap_size_old_collected(void)
{
	/* CollectedHeap's count of full collections stands behind that of all: jvm/layout/areas.c.
	 */
	const volatile uint32_t *count = lc_collector_count();
	const uint32_t before = sizes.full;

	if (lc_collector() != LC_GC_Z || !count)
		return true; /* it has one generation */
	sizes.full = count[1];
	return sizes.full != before;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("heap_max_bytes", &sizes.heap_max_bytes),
	LC_COUNTER("direct_max_bytes", &sizes.direct_max_bytes),
	LC_COUNTER("object_header_bytes", &sizes.header),
	LC_COUNTER("object_alignment_bytes", &sizes.alignment),
	LC_COUNTER("reference_bytes", &sizes.reference),
	LC_COUNTER("array_base_bytes", &sizes.array_base),
	LC_COUNTER("array_base_longs", &sizes.array_longs),
	LC_COUNTER("array_base_references", &sizes.array_references),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
