/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/block_hook.c - has the natives that Unsafe calls when it allocates and frees blocks. */
#include <jni.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/core/path.h"
#include "src/core/reset.h"
#include "src/heap/hook.h"
#include "src/offheap/block_class.h"
#include "src/offheap/blocks.h"
#include "src/offheap/mapped_file.h"

/*
 * Classes of the JDK, by the beginning of their names, through which programs allocate, and what
 * they then hold a block by; NULL: that does not tell.
 */
static const struct {
	const char *name, *signature;
} ways[] = {
	{ "jdk.internal.misc.Unsafe", NULL },
	{ "sun.misc.Unsafe", NULL },
	{ "java.nio.", LC_BLOCK_CLASS_DIRECT },
	{ "jdk.internal.foreign.", LC_BLOCK_CLASS_SEGMENT },
	{ "java.lang.foreign.", LC_BLOCK_CLASS_SEGMENT },
	{ "sun.nio.ch.File", NULL },
	{ "sun.nio.ch.UnixFile", NULL },
	/* Libraries call newer methods by method handles and reflection. */
	{ "java.lang.invoke.", NULL },
	{ "java.lang.reflect.", NULL },
	{ "jdk.internal.reflect.", NULL },
};

/* The number of the way that the innermost method of the path belongs to, or -1. */
static int way_of(uint32_t path)
{
	const struct lc_path_node *node = lc_path_get(path);
	const struct lc_method *m = path && node ? lc_method_get(node->method) : NULL;

	for (size_t i = 0; m && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strncmp(m->class_name, ways[i].name, strlen(ways[i].name)))
			return (int)i;
	return -1;
}

/* Is it the method of the JDK that keeps direct buffers for the I/O of heap buffers? */
static bool is_temporary(uint32_t path)
{
	const struct lc_method *m = lc_method_get(lc_path_get(path)->method);

	return m && !strcmp(m->class_name, "sun.nio.ch.Util");
}

/*
 * Cut the path to the line that calls the JDK for a block. Returns the signature of what the
 * program holds the block by. JDK 25 allocates temporary buffers without java.nio.
 */
static const char *signature_of(uint32_t *path)
{
	const char *signature = NULL;
	uint32_t at = *path;

	for (int way; (way = way_of(at)) >= 0; at = lc_path_get(at)->parent)
		if (ways[way].signature)
			signature = ways[way].signature;
	if (at && !signature && is_temporary(at))
		signature = LC_BLOCK_CLASS_DIRECT;
	if (at)
		*path = at;
	return signature ? signature : LC_BLOCK_CLASS_NATIVE;
}

/* ---- mapped files ---- */

enum { ROUNDED_BYTES = 8 };

static _Thread_local char mapped[LC_BLOCK_CLASS_MAX] __attribute__((tls_model("initial-exec")));

static const char *mapped_signature(uint32_t *path)
{
	(void)signature_of(path);
	return mapped;
}

/* Exported: natives of java.lang.LocusHook. Context: [hook]. */
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryAllocated(JNIEnv *jni, jclass hook_class,
                                                                jlong address, jlong bytes);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryMapped(JNIEnv *jni, jclass hook_class,
                                                             jlong address, jlong bytes);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryFreed(JNIEnv *jni, jclass hook_class,
                                                            jlong address);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryRounded(JNIEnv *jni, jclass hook_class,
                                                              jlong bytes);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryMoving(JNIEnv *jni, jclass hook_class,
                                                             jlong address);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryMoved(JNIEnv *jni, jclass hook_class,
                                                            jlong address, jlong bytes);

/* Bytes that the thread has asked for, before the JDK rounded them up; and what it reallocates. */
static _Thread_local uint64_t asked __attribute__((tls_model("initial-exec")));
static _Thread_local struct lc_blocks_moving moving __attribute__((tls_model("initial-exec")));
static _Thread_local uint32_t moving_in __attribute__((tls_model("initial-exec"))); /* recording */

void Java_java_lang_LocusHook_memoryRounded(JNIEnv *jni, jclass hook_class, jlong bytes)
{
	asked = (uint64_t)bytes;
}

/* The bytes that were asked for: of another block than this one, they are rounded up to others. */
static uint64_t exact(uint64_t bytes)
{
	const uint64_t said = asked;

	asked = 0;
	return said && said <= bytes && bytes - said < ROUNDED_BYTES ? said : bytes;
}

static void allocated(JNIEnv *jni, uint64_t frame, jlong address, jlong bytes)
{
	const uint64_t size_bytes = exact((uint64_t)bytes);
	uint32_t site;

	if (!address)
		return;
	site = lc_hook_block_site(jni, frame, 1, signature_of);
	if (site)
		lc_blocks_allocated((uint64_t)address, size_bytes, site);
}

void Java_java_lang_LocusHook_memoryAllocated(JNIEnv *jni, jclass hook_class, jlong address,
                                              jlong bytes)
{
	allocated(jni, (uintptr_t)__builtin_frame_address(0), address, bytes);
}

void Java_java_lang_LocusHook_memoryMoving(JNIEnv *jni, jclass hook_class, jlong address)
{
	moving_in = lc_recording();
	lc_blocks_moving((uint64_t)address, &moving);
}

void Java_java_lang_LocusHook_memoryMoved(JNIEnv *jni, jclass hook_class, jlong address,
                                          jlong bytes)
{
	if (moving_in == lc_recording() && address)
		lc_blocks_moved(&moving);
	else if (moving_in == lc_recording())
		lc_blocks_stays(&moving);
	moving_in = 0;
	allocated(jni, (uintptr_t)__builtin_frame_address(0), address, bytes);
}

void Java_java_lang_LocusHook_memoryMapped(JNIEnv *jni, jclass hook_class, jlong address,
                                           jlong bytes)
{
	char file[LC_BLOCK_FILE_MAX];
	uint32_t site;

	if (!address)
		return;
	lc_mapped_file((uint64_t)address, (uint64_t)bytes, file);
	lc_block_class_mapped(file, mapped);
	/* The file is a part of the context, as the class of an object is. */
	site = lc_hook_block_site(jni, (uintptr_t)__builtin_frame_address(0),
	                          (uint32_t)lc_hash_text(1, mapped) | 2, mapped_signature);
	if (site)
		lc_blocks_allocated((uint64_t)address, (uint64_t)bytes, site);
}

void Java_java_lang_LocusHook_memoryFreed(JNIEnv *jni, jclass hook_class, jlong address)
{
	lc_blocks_freed((uint64_t)address);
}
