/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/layout_classes.c - reads what the type database tells for layout.h. Static fields have
 * moved between JDK 11, 17 and 25: each name is tried.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/peek.h"

/* Names of one static field, newest first. */
struct names {
	const char *type, *field;
};

/*
 * A static of 8 bytes, or of 4, under the first of `len` names that is exported. Returns the number
 * of that name, or -1.
 */
static int find_static(const struct names *names, size_t len, size_t bytes, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < len; i++) {
		const void *at = lc_vm_static(names[i].type, names[i].field);

		if (!at)
			continue;
		memcpy(out, at, bytes);
		return (int)i;
	}
	return -1;
}

static void find_class_words(struct lc_layout *l)
{
	static const struct names base[] = { { "CompressedKlassPointers", "_base" },
		                             { "CompressedKlassPointers", "_narrow_klass._base" },
		                             { "Universe", "_narrow_klass._base" } };
	static const struct names shift[] = { { "CompressedKlassPointers", "_shift" },
		                              { "CompressedKlassPointers", "_narrow_klass._shift" },
		                              { "Universe", "_narrow_klass._shift" } };
	enum { JDK_11 = 2 };
	uint64_t found = 0;
	const int base_name = find_static(base, 3, 8, &l->klass_base);
	const int shift_name = find_static(shift, 3, 4, &found);

	l->klass_shift = (uint32_t)found;
	if (base_name < 0 || shift_name < 0 || found >= 32)
		l->class_words = LC_CLASS_WORDS_UNKNOWN;
	else if (base_name == JDK_11 || shift_name == JDK_11)
		l->class_words = LC_CLASS_WORDS_JDK_11;
	else
		l->class_words = LC_CLASS_WORDS_KNOWN;
}

static void find_references(struct lc_layout *l)
{
	static const struct names base[] = { { "CompressedOops", "_base" },
		                             { "CompressedOops", "_narrow_oop._base" },
		                             { "Universe", "_narrow_oop._base" } };
	static const struct names shift[] = { { "CompressedOops", "_shift" },
		                              { "CompressedOops", "_narrow_oop._shift" },
		                              { "Universe", "_narrow_oop._shift" } };
	uint64_t found = 0;

	l->references_known = find_static(base, 3, 8, &l->reference_base_address) >= 0 &&
	                      find_static(shift, 3, 4, &found) >= 0 && found < 32;
	l->reference_shift = (uint32_t)found;
}

/* An offset that the JVM keeps in a static of its own. */
static long stored_offset(const char *type, const char *field)
{
	const int32_t *at = lc_vm_static(type, field);

	return at && *at > 0 ? *at : -1;
}

/* Offset of a field of the thread's allocation buffer, which is part of the thread. */
static long in_buffer(const char *field)
{
	const long buffer = lc_vm_offset("Thread", "_tlab");
	const long at = lc_vm_offset("ThreadLocalAllocBuffer", field);

	return buffer >= 0 && at >= 0 ? buffer + at : -1;
}

/* A state of threads, or -1. */
static int32_t state_called(const char *name)
{
	int64_t state;

	return lc_vm_constant(name, &state) || state < 0 || state > INT32_MAX ? -1 : (int32_t)state;
}

static uint64_t find_unused_bits(bool compact)
{
	enum { LOCK_BITS = 7 };
	int64_t hash, age;

	if (lc_vm_constant("markWord::hash_mask_in_place", &hash) ||
	    lc_vm_constant("markWord::age_mask_in_place", &age))
		return 0;
	return ~((uint64_t)hash | (uint64_t)age | LOCK_BITS |
	         (compact ? UINT64_MAX << LC_COMPACT_CLASS_SHIFT : 0));
}

uint64_t lc_layout_hash_bits(void)
{
	enum { RANDOM_HASHES = 5, HASH_MASK = 0x7fffffff };
	const intptr_t *how = lc_vm_flag("hashCode");
	int64_t shift, mask;

	if (!how || *how != RANDOM_HASHES || lc_vm_constant("markWord::hash_shift", &shift) ||
	    lc_vm_constant("markWord::hash_mask", &mask) || mask != HASH_MASK)
		return 0;
	return (uint64_t)mask << shift;
}

void lc_layout_classes(struct lc_layout *l)
{
	l->klass_layout_helper = lc_vm_offset("Klass", "_layout_helper");
	l->klass_name = lc_vm_offset("Klass", "_name");
	l->klass_java_mirror = lc_vm_offset("Klass", "_java_mirror");
	l->symbol_length = lc_vm_offset("Symbol", "_length");
	l->symbol_body = lc_vm_offset("Symbol", "_body");
	l->class_klass = stored_offset("java_lang_Class", "_klass_offset");
	l->class_size = stored_offset("java_lang_Class", "_oop_size_offset");
	find_class_words(l);
	find_references(l);
	l->mark_unused = find_unused_bits(l->class_in_mark);
	l->thread_tlab_start = in_buffer("_start");
	l->thread_tlab_top = in_buffer("_top");
	l->thread_tlab_end = in_buffer("_end");
	l->thread_allocated = lc_vm_offset("Thread", "_allocated_bytes");
	l->thread_state = lc_vm_offset("JavaThread", "_thread_state");
	l->thread_in_java = state_called("_thread_in_Java");
	l->thread_in_native = state_called("_thread_in_native");
	l->thread_os_thread = lc_vm_offset("JavaThread", "_osthread");
	if (l->thread_os_thread < 0) /* it moved up to Thread after JDK 17 */
		l->thread_os_thread = lc_vm_offset("Thread", "_osthread");
	l->os_thread_id = lc_vm_offset("OSThread", "_thread_id");
}

int lc_layout_thread_tid(uint64_t eetop)
{
	const struct lc_layout *l = lc_layout();
	uint64_t os_thread = 0;
	int32_t tid = 0;

	if (!eetop || l->thread_os_thread < 0 || l->os_thread_id < 0)
		return -ENOENT;
	if (!lc_peek(eetop + (uint64_t)l->thread_os_thread, &os_thread, sizeof(os_thread)) ||
	    !os_thread || !lc_peek(os_thread + (uint64_t)l->os_thread_id, &tid, sizeof(tid)))
		return -ENOENT;
	return tid > 0 ? tid : -ENOENT;
}
