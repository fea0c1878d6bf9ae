/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/block_hook.c - has the natives that Unsafe calls when it allocates and frees blocks. */
#include <jni.h>
#include <stdint.h>
#include <string.h>

#include "src/core/path.h"
#include "src/format/kinds.h"
#include "src/heap/hook.h"
#include "src/offheap/blocks.h"

#define DIRECT "Ljava/nio/DirectByteBuffer" LC_OFFHEAP_SUFFIX ";"
#define SEGMENT "Ljava/lang/foreign/MemorySegment" LC_OFFHEAP_SUFFIX ";"
#define NATIVE "Lnative memory" LC_OFFHEAP_SUFFIX ";"

/*
 * Classes of the JDK, by the beginning of their names, through which programs allocate, and what
 * they then hold a block by; NULL: that does not tell.
 */
static const struct {
	const char *name, *signature;
} ways[] = {
	{ "jdk.internal.misc.Unsafe", NULL },
	{ "sun.misc.Unsafe", NULL },
	{ "java.nio.", DIRECT },
	{ "jdk.internal.foreign.", SEGMENT },
	{ "java.lang.foreign.", SEGMENT },
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

/* A block is allocated at the line that calls the JDK for it. */
static const char *signature_of(uint32_t *path)
{
	const char *signature = NULL;
	uint32_t at = *path;

	for (int way; (way = way_of(at)) >= 0; at = lc_path_get(at)->parent)
		if (ways[way].signature)
			signature = ways[way].signature;
	if (at)
		*path = at;
	return signature ? signature : NATIVE;
}

/* Exported: natives of java.lang.LocusHook. Context: [hook]. */
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryAllocated(JNIEnv *jni, jclass hook_class,
                                                                jlong address, jlong bytes);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryFreed(JNIEnv *jni, jclass hook_class,
                                                            jlong address);

void Java_java_lang_LocusHook_memoryAllocated(JNIEnv *jni, jclass hook_class, jlong address,
                                              jlong bytes)
{
	uint32_t site;

	if (!address)
		return;
	site = lc_hook_block_site(jni, (uintptr_t)__builtin_frame_address(0), signature_of);
	if (site)
		lc_blocks_allocated((uint64_t)address, (uint64_t)bytes, site);
}

void Java_java_lang_LocusHook_memoryFreed(JNIEnv *jni, jclass hook_class, jlong address)
{
	lc_blocks_freed((uint64_t)address);
}
