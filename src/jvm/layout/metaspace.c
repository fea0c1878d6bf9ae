/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/metaspace.c - learns where metaspace is, by structures that are known to be in it.
 *
 * Since JDK 16 the JVM takes memory for metaspace in root chunks of 4 MiB (16 MiB since JDK 24),
 * which are aligned to their size and hold nothing else. So whatever lies in the same 4 MiB as one
 * structure of metaspace is in metaspace, too.
 *
 * A method of a path leads to its profile. Each is believed if it begins
 * with a table of virtual functions, which are libjvm's, or copies in the archive of classes. All
 * is peeked at, so a method whose class is gone is no harm.
 */
#include "src/jvm/layout/metaspace.h"

#include <string.h>

#include "src/base/hash.h"
#include "src/core/record.h"
#include "src/core/version.h"
#include "src/jvm/layout/method_ids.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/peek.h"

enum {
	BLOCK_SHIFT = 22,
	BLOCKS_MAX = 2048, /* 8 GiB */
	FRAMES_LOOKED_AT = 8,
	FIRST_WITH_BLOCKS = 16, /* JDK */
	KNOWN = 4096,           /* methods */
};

static const char *const parts[] = { "_constMethod", "_method_data", "_method_counters" };

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

struct known {
	uint64_t number, method;
};

/* The first three are set by lc_metaspace_init(), the others by lc_metaspace_learn(). */
static struct {
	struct lc_range library;
	bool in_blocks;
	long offset[PARTS]; /* in a Method; < 0: unknown */
	uint64_t blocks[BLOCKS_MAX];
	size_t len;
	struct known known[KNOWN];
} metaspace;

void lc_metaspace_init(void)
{
	const void *version = lc_vm_static("Abstract_VM_Version", "_vm_major_version");

	metaspace.library = lc_ranges_library();
	metaspace.len = 0;
	memset(metaspace.known, 0, sizeof(metaspace.known));
	metaspace.in_blocks = version && lc_peek_load32((uintptr_t)version) >= FIRST_WITH_BLOCKS;
	for (size_t i = 0; i < PARTS; i++)
		metaspace.offset[i] = lc_vm_offset("Method", parts[i]);
}

bool lc_metaspace_holds(uint64_t addr)
{
	for (size_t i = 0; i < metaspace.len; i++)
		if (metaspace.blocks[i] == addr >> BLOCK_SHIFT)
			return true;
	return false;
}

static bool read_word(uint64_t at, uint64_t *out)
{
	unsigned char bytes[8];

	if (!lc_peek(at, bytes, sizeof(bytes)))
		return false;
	*out = lc_peek_get64(bytes);
	return *out;
}

/* The archive of classes is known as a range of its own. */
static void note(uint64_t structure)
{
	if (metaspace.len < BLOCKS_MAX && lc_ranges_owner(structure) == LC_RANGE_NOBODY &&
	    !lc_metaspace_holds(structure))
		metaspace.blocks[metaspace.len++] = structure >> BLOCK_SHIFT;
}

/* Does a table of virtual functions stand there? */
static bool is_polymorphic(uint64_t structure)
{
	uint64_t table;

	return read_word(structure, &table) &&
	       ((table >= metaspace.library.low && table < metaspace.library.high) ||
	        lc_ranges_owner(table) == LC_RANGE_JVM);
}

/* The Method, as it was when the number last found its slot taken by another one. */
static uint64_t method_of(JNIEnv *jni, uint64_t number)
{
	struct known *k = &metaspace.known[(lc_hash(number) >> 40) % KNOWN];

	if (k->number != number)
		*k = (struct known){ number, lc_method_ids_method(jni, number) };
	return k->method;
}

static void learn_method(JNIEnv *jni, uint64_t number)
{
	const uint64_t method = method_of(jni, number);
	uint64_t part;

	if (!method || !is_polymorphic(method))
		return;
	note(method);
	for (size_t i = 0; i < PARTS; i++)
		if (metaspace.offset[i] > 0 &&
		    read_word(method + (uint64_t)metaspace.offset[i], &part))
			note(part);
}

void lc_metaspace_learn(JNIEnv *jni, uint64_t addr, const uint64_t *frames, size_t len)
{
	if (!metaspace.in_blocks || lc_ranges_owner(addr) != LC_RANGE_NOBODY ||
	    lc_metaspace_holds(addr))
		return;
	for (size_t i = 0; i < len && i < FRAMES_LOOKED_AT; i++)
		learn_method(jni, lc_version_method(frames[i] & LC_ADDR_MASK));
}
