/* jvm/klass_jvm.c - see klass_jvm.h. Static fields have moved between JDK 11, 17 and 25: each name is tried. */
#include "src/jvm/klass_jvm.h"

#include <errno.h>
#include <string.h>

#include "src/jvm/layout.h"
#include "src/jvm/vmstructs.h"

/* A static of 8 bytes, or of 4, under the names that it has had; newest first. False: none. */
static bool find_static(const char *const names_of[][2], size_t bytes, uint64_t *out)
{
	*out = 0;
	for (; (*names_of)[0]; names_of++) {
		const void *at = lc_vm_static((*names_of)[0], (*names_of)[1]);

		if (!at)
			continue;
		memcpy(out, at, bytes);
		return true;
	}
	return false;
}

static bool find_compression(struct lc_klass_jvm *jvm)
{
	static const char *const class_base[][2] = { { "CompressedKlassPointers", "_base" },
		                                     { "CompressedKlassPointers",
		                                       "_narrow_klass._base" },
		                                     { "Universe", "_narrow_klass._base" },
		                                     { NULL, NULL } };
	static const char *const class_shift[][2] = { { "CompressedKlassPointers", "_shift" },
		                                      { "CompressedKlassPointers",
		                                        "_narrow_klass._shift" },
		                                      { "Universe", "_narrow_klass._shift" },
		                                      { NULL, NULL } };
	static const char *const oop_base[][2] = { { "CompressedOops", "_base" },
		                                   { "CompressedOops", "_narrow_oop._base" },
		                                   { "Universe", "_narrow_oop._base" },
		                                   { NULL, NULL } };
	static const char *const oop_shift[][2] = { { "CompressedOops", "_shift" },
		                                    { "CompressedOops", "_narrow_oop._shift" },
		                                    { "Universe", "_narrow_oop._shift" },
		                                    { NULL, NULL } };
	uint64_t shift[2] = { 0, 0 };
	bool ok = true;

	if (!jvm->wide)
		ok = find_static(class_base, 8, &jvm->klass_base) &&
		     find_static(class_shift, 4, &shift[0]);
	if (ok && jvm->narrow_references)
		ok = find_static(oop_base, 8, &jvm->reference_base) &&
		     find_static(oop_shift, 4, &shift[1]);
	jvm->klass_shift = (uint32_t)shift[0];
	jvm->reference_shift = (uint32_t)shift[1];
	return ok && shift[0] < 32 && shift[1] < 32;
}

static bool find_offset(const char *type, const char *field, long limit, long *out)
{
	*out = lc_vm_offset(type, field);
	return *out >= 0 && *out <= limit;
}

static bool find_offsets(struct lc_klass_jvm *jvm)
{
	const int32_t *klass = lc_vm_static("java_lang_Class", "_klass_offset");
	const int32_t *size = lc_vm_static("java_lang_Class", "_oop_size_offset");
	const long limit = LC_KLASS_BYTES_MAX - 8;
	long end;

	if (!find_offset("Klass", "_layout_helper", limit, &jvm->layout_helper) ||
	    !find_offset("Klass", "_name", limit, &jvm->name) ||
	    !find_offset("Klass", "_java_mirror", limit, &jvm->java_mirror) ||
	    !find_offset("Symbol", "_length", LC_SYMBOL_BYTES_MAX - 2, &jvm->symbol_length) ||
	    !find_offset("Symbol", "_body", LC_SYMBOL_BYTES_MAX, &jvm->symbol_body) ||
	    jvm->symbol_body < jvm->symbol_length + 2 || !klass || *klass <= 0 || !size ||
	    *size <= 0)
		return false;
	end = jvm->layout_helper > jvm->name ? jvm->layout_helper : jvm->name;
	end = end > jvm->java_mirror ? end : jvm->java_mirror;
	jvm->klass_bytes = (uint32_t)end + 8;
	jvm->class_klass = *klass;
	jvm->class_size = *size;
	return true;
}

/* Where a thread keeps the piece of the heap that it allocates in. */
static void find_tlab(struct lc_klass_jvm *jvm)
{
	const long tlab = lc_vm_offset("Thread", "_tlab");
	const long start = lc_vm_offset("ThreadLocalAllocBuffer", "_start");
	const long top = lc_vm_offset("ThreadLocalAllocBuffer", "_top");
	const long end = lc_vm_offset("ThreadLocalAllocBuffer", "_end");
	const bool ok = tlab >= 0 && start >= 0 && top >= 0 && end >= 0;

	jvm->tlab_start = ok ? tlab + start : -1;
	jvm->tlab_top = ok ? tlab + top : -1;
	jvm->tlab_end = ok ? tlab + end : -1;
}

/* Which bits of the mark word mean nothing; 0 where the JVM does not name them. */
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

int lc_klass_jvm_find(const struct lc_layout *layout, struct lc_klass_jvm *out)
{
	struct lc_klass_jvm jvm = {
		.compact = layout->class_in_mark,
		.wide = !layout->class_in_mark && layout->length_offset == 16,
		.narrow_references = layout->reference_bytes == 4,
		.length_offset = layout->length_offset,
		.array_base = { layout->byte_base, layout->long_base },
		.align_mask = layout->object_alignment - 1,
	};

	jvm.header_bytes = jvm.wide ? LC_HEADER_BYTES_MAX : 16;
	jvm.header_bytes_min = jvm.compact ? 8 : 16;
	if (!find_compression(&jvm) || !find_offsets(&jvm))
		return -ENOTSUP;
	find_tlab(&jvm);
	jvm.mark_unused = find_unused_bits(jvm.compact);
	*out = jvm;
	return 0;
}
