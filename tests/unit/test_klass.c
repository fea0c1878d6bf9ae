/* uses: src/jvm/layout/klass.c src/jvm/layout/klass_object.c src/jvm/layout/layout_classes.c src/jvm/os/peek.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_klass.c - checks that objects and classes are read in a heap that is laid out by hand, once
 * for each kind of header: compressed class pointers, uncompressed ones, compact headers. Each kind
 * has a process of its own, since a JVM's layout is learnt once. The file is longer than 600 lines:
 * all tests use one heap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/core/epoch.h"
#include "src/core/path.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"
#include "tests/unit/counter.h"

enum kind { NARROW, WIDE, COMPACT, KINDS };

enum {
	PAGE = 4096,
	HEAP_BYTES = 64 * PAGE,
	HOLE = 32 * PAGE,    /* a page of the heap that has no memory */
	MIRRORS = 40 * PAGE, /* here the mirrors lie, */
	MIRROR_BYTES = 128,  /* this far apart */
	CLASSES = 64,
	KLASS_STRIDE = 1024,
	/* The same offsets as in the fake type database. */
	LAYOUT_HELPER = 8,
	NAME = 24,
	JAVA_MIRROR = 112,
	SYMBOL_LENGTH = 4,
	SYMBOL_BODY = 6,
	SYMBOL_STRIDE = 2048,
	CLASS_KLASS = 48,
	CLASS_SIZE = 56,
	TLAB = 256,
	TLAB_START = 8,
	TLAB_TOP = 24,
	TLAB_END = 32,
	CLASS_CLASS = 1, /* number of java.lang.Class here */
};

static enum kind kind;
static unsigned char *heap, *klasses, *symbols;
static uint64_t slots[CLASSES];
static uint32_t sequence; /* even: the program runs */
static uint64_t klass_base;
static int32_t klass_shift, class_klass = CLASS_KLASS, class_size = CLASS_SIZE;
static uint64_t reference_base;
static int32_t reference_shift = 3;

/* -- the JVM, as far as it is asked ---------------------------------------------------------- */

uint32_t lc_epoch_gc_sequence(void)
{
	return sequence;
}

bool lc_collector_unloads_while_running(void)
{
	return false;
}

static uint64_t colour; /* of references that the JVM's own structures hold */

uint64_t lc_ranges_of_stored(uint64_t reference)
{
	return reference ^ colour;
}

uint64_t lc_ranges_plain(uint64_t addr)
{
	return addr;
}

bool lc_ranges_views_known(void)
{
	return true;
}

static bool may_be_old;

bool lc_ranges_may_be_old(uint64_t reference)
{
	return may_be_old;
}

static uint64_t vtable[2]; /* its first word is a function of libjvm */
static struct lc_range library = { 0x7000, 0x8000 };

struct lc_range lc_ranges_library(void)
{
	return library;
}

struct lc_range lc_ranges_objects(void)
{
	return (struct lc_range){ (uintptr_t)heap, (uintptr_t)heap + HEAP_BYTES };
}

const void *lc_vm_flag(const char *name)
{
	return NULL;
}

void *lc_vm_static(const char *type, const char *field)
{
	static const struct {
		const char *type, *field;
		void *at;
	} known[] = {
		/* Named as in JDK 17 here, as in JDK 25 there: both are found. */
		{ "CompressedKlassPointers", "_narrow_klass._base", &klass_base },
		{ "CompressedKlassPointers", "_narrow_klass._shift", &klass_shift },
		{ "CompressedOops", "_base", &reference_base },
		{ "CompressedOops", "_shift", &reference_shift },
		{ "java_lang_Class", "_klass_offset", &class_klass },
		{ "java_lang_Class", "_oop_size_offset", &class_size },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(type, known[i].type) && !strcmp(field, known[i].field))
			return known[i].at;
	return NULL;
}

long lc_vm_offset(const char *type, const char *field)
{
	static const struct {
		const char *type, *field;
		long offset;
	} known[] = {
		{ "Klass", "_layout_helper", LAYOUT_HELPER },
		{ "Klass", "_name", NAME },
		{ "Klass", "_java_mirror", JAVA_MIRROR },
		{ "Symbol", "_length", SYMBOL_LENGTH },
		{ "Symbol", "_body", SYMBOL_BODY },
		{ "Thread", "_tlab", TLAB },
		{ "ThreadLocalAllocBuffer", "_start", TLAB_START },
		{ "ThreadLocalAllocBuffer", "_top", TLAB_TOP },
		{ "ThreadLocalAllocBuffer", "_end", TLAB_END },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(type, known[i].type) && !strcmp(field, known[i].field))
			return known[i].offset;
	return -1;
}

int lc_vm_constant(const char *name, int64_t *out)
{
	if (!strcmp(name, "markWord::hash_mask_in_place"))
		*out = 0x3ffffffff800;
	else if (!strcmp(name, "markWord::age_mask_in_place"))
		*out = 0x78;
	else
		return -1;
	return 0;
}

static char site_signature[70000];
static uint64_t site_word;

uint32_t lc_site_intern(const char *class_signature, uint64_t class_word, uint32_t path)
{
	assert_int_equal(path, 0);
	snprintf(site_signature, sizeof(site_signature), "%s", class_signature);
	site_word = class_word;
	return 7;
}

/* -- a heap ---------------------------------------------------------------------------------- */

static void put(unsigned char *at, uint64_t value, size_t bytes)
{
	memcpy(at, &value, bytes);
}

static uint64_t klass_of(unsigned class)
{
	return (uintptr_t)klasses + (uint64_t) class * KLASS_STRIDE;
}

static uint64_t word_of(unsigned class)
{
	return kind == WIDE ? klass_of(class) : (klass_of(class) - klass_base) >> klass_shift;
}

static uint64_t at(size_t offset)
{
	return (uintptr_t)heap + offset;
}

static uint32_t array_header(void)
{
	return kind == WIDE ? 24 : kind == COMPACT ? 12 : 16;
}

/* An object at heap[offset], of `length` elements where its class is an array's. */
static uint64_t make_object(size_t offset, unsigned class, uint32_t length)
{
	unsigned char *o = heap + offset;

	put(o, 1, 8);
	if (kind == COMPACT) {
		put(o, 1 | word_of(class) << 42, 8);
		put(o + 8, length, 4);
	} else {
		put(o + 8, word_of(class), kind == WIDE ? 8 : 4);
		put(o + (kind == WIDE ? 16 : 12), length, 4);
	}
	return at(offset);
}

static void make_name(unsigned class, const char *name)
{
	unsigned char *symbol = symbols + (size_t) class * SYMBOL_STRIDE;

	put(symbol + SYMBOL_LENGTH, strlen(name), 2);
	memcpy(symbol + SYMBOL_BODY, name, strlen(name));
	put(klasses + (size_t) class * KLASS_STRIDE + NAME, (uintptr_t)symbol, 8);
}

/* A class with its mirror, which is an object of java.lang.Class. */
static void make_class(unsigned class, const char *name, int32_t layout_helper)
{
	unsigned char *k = klasses + (size_t) class * KLASS_STRIDE;
	const size_t mirror = MIRRORS + class * MIRROR_BYTES;

	make_name(class, name);
	put(k + LAYOUT_HELPER, (uint32_t)layout_helper, 4);
	put(k + JAVA_MIRROR, (uintptr_t)&slots[class], 8);
	slots[class] = at(mirror);
	make_object(mirror, CLASS_CLASS, 0);
	put(heap + mirror + CLASS_KLASS, klass_of(class), 8);
	put(heap + mirror + CLASS_SIZE, MIRROR_BYTES / 8, 4);
}

static int32_t instance(uint32_t bytes)
{
	return (int32_t)bytes;
}

static int32_t array(unsigned element_log2)
{
	return (int32_t)(3u << 30 | array_header() << 16 | element_log2);
}

static struct lc_layout layout;

const struct lc_layout *lc_layout(void)
{
	return &layout;
}

static int make_heap(void **state)
{
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;

	layout = (struct lc_layout){
		.byte_base = array_header(),
		.long_base = kind == COMPACT ? 16 : array_header(),
		.reference_bytes = 4,
		.length_offset = kind == WIDE      ? 16
		                 : kind == COMPACT ? 8
		                                   : 12,
		.class_in_mark = kind == COMPACT,
		.object_alignment = 8,
	};
	heap = mmap(NULL, HEAP_BYTES, protection, flags, -1, 0);
	klasses = mmap(NULL, CLASSES * KLASS_STRIDE, protection, flags, -1, 0);
	symbols = mmap(NULL, CLASSES * SYMBOL_STRIDE, protection, flags, -1, 0);
	klass_base = (uintptr_t)klasses - 2 * KLASS_STRIDE;
	klass_shift = kind == COMPACT ? 10 : 3;
	reference_base = (uintptr_t)heap - PAGE;
	make_class(CLASS_CLASS, "java/lang/Class", instance(64));
	lc_layout_classes(&layout);
	return mprotect(heap + HOLE, PAGE, PROT_NONE) || lc_klass_init();
}

static uint64_t found(uint64_t start, uint64_t addr)
{
	struct lc_object_seen seen = { 0 };

	return lc_klass_object(start, addr, &seen) ? seen.klass : 0;
}

/* -- objects --------------------------------------------------------------------------------- */

static void object_holds_its_own_bytes_and_no_others(void **state)
{
	struct lc_object_seen seen;
	uint64_t o;

	make_class(2, "com/acme/Node", instance(24));
	o = make_object(0x100, 2, 0);
	assert_true(lc_klass_object(o, o, &seen));
	assert_int_equal(seen.start, o);
	assert_int_equal(seen.klass, klass_of(2));
	assert_int_equal(seen.size_bytes, 24);
	assert_true(lc_klass_object(o, o + 23, &seen));
	assert_false(lc_klass_object(o, o + 24, &seen));
	assert_false(lc_klass_object(o, o - 1, &seen));
	assert_int_equal(lc_klass_of_word(word_of(2)), klass_of(2));
}

static void size_of_an_array_is_in_it(void **state)
{
	struct lc_object_seen seen;
	uint64_t o;

	make_class(3, "[J", array(3));
	make_class(4, "[B", array(0));
	o = make_object(0x200, 3, 5);
	assert_true(lc_klass_object(o, o + 40, &seen));
	assert_int_equal(seen.size_bytes, (array_header() + 40 + 7) / 8 * 8);
	o = make_object(0x300, 4, 3);
	assert_true(lc_klass_object(o, o + array_header(), &seen));
	assert_int_equal(seen.size_bytes, (array_header() + 3 + 7) / 8 * 8);
	make_object(0x300, 4, 0x80000001); /* a length that no array has */
	assert_false(lc_klass_object(o, o + array_header(), &seen));
}

static void object_that_would_end_behind_the_heap_is_none(void **state)
{
	const size_t last = HEAP_BYTES - 32;

	make_object(last, 3, 1);
	assert_true(found(at(last), at(last)));
	make_object(last, 3, 1000);
	assert_false(found(at(last), at(last)));
}

static void static_fields_are_in_the_class_object(void **state)
{
	const uint64_t mirror = slots[2];

	assert_int_equal(found(mirror, mirror + 100), klass_of(CLASS_CLASS));
	assert_false(found(mirror, mirror + MIRROR_BYTES));
}

static void what_is_not_the_start_of_an_object_is_none(void **state)
{
	const uint64_t o = make_object(0x400, 2, 0);

	memset(heap + 0x410, 0xa5, 64);
	assert_false(found(o + 8, o + 8));
	assert_false(found(o + 16, o + 16));
	assert_false(found(o + 4, o + 8));                       /* not aligned */
	assert_false(found((uintptr_t)slots, (uintptr_t)slots)); /* not in the heap */
	assert_false(found(at(HOLE), at(HOLE)));                 /* no memory there */
	assert_false(found(at(HEAP_BYTES), at(HEAP_BYTES)));
	assert_false(found(0, 0));
}

static void class_whose_mirror_is_another_ones_is_none(void **state)
{
	uint64_t o;

	make_class(5, "com/acme/Liar", instance(24));
	o = make_object(0x500, 5, 0);
	slots[5] = slots[2];
	assert_false(found(o, o));
	slots[5] = 1; /* no object at all */
	assert_false(found(o, o));
	slots[5] = at(MIRRORS + 5 * MIRROR_BYTES);
	assert_true(found(o, o));
}

static void a_mirror_is_found_by_a_reference_with_a_colour(void **state)
{
	uint64_t o;

	sequence += 2; /* what was proved of the address before is proved anew */
	make_class(5, "com/acme/Coloured", instance(24));
	o = make_object(0x500, 5, 0);
	slots[5] ^= UINT64_C(1) << 44;
	assert_false(found(o, o));
	colour = UINT64_C(1) << 44;
	assert_true(found(o, o));
	colour = 0;
}

/* With ZGC a reference to a mirror that has moved leads to where it was, until it is renewed. */
static void class_whose_mirror_has_moved_is_told_by_its_vtable(void **state)
{
	unsigned char *k = klasses + 6 * KLASS_STRIDE;
	uint64_t o;

	make_class(6, "com/acme/MirrorHasMoved", instance(24));
	o = make_object(0x500, 6, 0);
	slots[6] = at(MIRRORS + 7 * MIRROR_BYTES); /* something else lies there */
	vtable[0] = library.low;
	put(k, (uintptr_t)vtable, 8);
	assert_false(found(o, o));
	may_be_old = true;
	vtable[0] = library.high;
	assert_false(found(o, o));
	put(k, (uintptr_t)heap + HOLE, 8); /* not readable */
	assert_false(found(o, o));
	put(k, (uintptr_t)vtable, 8);
	vtable[0] = library.high - 1;
	slots[6] = 8; /* no reference */
	assert_false(found(o, o));
	slots[6] = at(MIRRORS + 7 * MIRROR_BYTES);
	assert_true(found(o, o));
	sequence += 2; /* it is compared, and proved, again */
	assert_true(found(o, o));
	sequence += 2;
	may_be_old = false;
	assert_false(found(o, o));
	slots[6] = at(MIRRORS + 6 * MIRROR_BYTES);
	assert_true(found(o, o));
}

static void marks_of_moved_objects_and_impossible_marks_are_refused(void **state)
{
	const uint64_t o = make_object(0x600, 2, 0);
	uint64_t mark;

	memcpy(&mark, heap + 0x600, 8);
	put(heap + 0x600, mark | 3, 8); /* forwarded */
	assert_false(found(o, o));
	put(heap + 0x600, mark | 0x80, 8); /* a bit that has no meaning */
	assert_false(found(o, o));
	put(heap + 0x600, mark | 0x78 | 0x12345800, 8); /* of any age, and hashed */
	assert_true(found(o, o));
	put(heap + 0x600, mark & ~UINT64_C(3), 8); /* locked */
	assert_true(found(o, o));
	put(heap + 0x600, (mark & ~UINT64_C(3)) | 2, 8); /* with a monitor */
	assert_true(found(o, o));
	/* The mark of a locked object may be a pointer, unless the class is in it. */
	put(heap + 0x600, (mark & ~UINT64_C(3)) | 0x80, 8);
	assert_int_equal(found(o, o) != 0, kind != COMPACT);
}

/*
 * A reference of ZGC in a field has a colour in its low 16 bits; its highest bits are where a
 * compact header has its class. The word was seen in a JVM, but for its class.
 */
static void coloured_reference_is_no_compact_header(void **state)
{
	const uint64_t o = make_object(0x600, 2, 0), class = word_of(2) << 42;
	const uint64_t seen = UINT64_C(0x1000051fa922a30) % (UINT64_C(1) << 42);

	if (kind != COMPACT)
		return;
	put(heap + 0x600, class | seen, 8);
	assert_false(found(o, o));
	/* The young generation has marked each reference, by one of these bits. */
	for (uint64_t marked = 0x100; marked <= 0x200; marked *= 2) {
		put(heap + 0x600, class | (seen & ~UINT64_C(0xfff)) | marked, 8);
		assert_false(found(o, o));
	}
	put(heap + 0x600, class | (seen & ~UINT64_C(0xfff)), 8); /* locked, with a hash */
	assert_true(found(o, o));
	make_object(0x600, 2, 0);
}

static void first_start_that_holds_the_address_is_taken(void **state)
{
	struct lc_object_seen seen;
	const uint64_t outer = make_object(0x700, 3, 32), inner = make_object(0x740, 2, 0);
	const uint64_t starts[] = { at(HOLE), inner + 8, at(HOLE) + 8, inner, outer };
	const uint64_t both[] = { outer, inner };

	assert_true(lc_klass_first_object(starts, 5, inner + 16, &seen));
	assert_int_equal(seen.start, inner);
	assert_true(lc_klass_first_object(starts, 5, inner + 24, &seen));
	assert_int_equal(seen.start, outer);
	assert_true(lc_klass_first_object(both, 2, inner + 16, &seen));
	assert_int_equal(seen.start, outer);
	assert_false(lc_klass_first_object(starts, 0, inner, &seen));
}

static void smallest_object_before_a_hole_is_seen(void **state)
{
	const uint32_t bytes = kind == COMPACT ? 8 : 16;
	const size_t offset = HOLE - bytes;
	unsigned char *o = heap + offset;

	make_class(6, "java/lang/Object", instance(bytes));
	put(o, kind == COMPACT ? 1 | word_of(6) << 42 : 1, 8);
	if (kind != COMPACT)
		put(o + 8, word_of(6), kind == WIDE ? 8 : 4);
	assert_int_equal(found(at(offset), at(offset)), klass_of(6));
}

static void nothing_is_seen_while_a_collection_runs(void **state)
{
	const uint64_t o = make_object(0x100, 2, 0);

	sequence++;
	assert_false(found(o, o));
	sequence++;
	assert_true(found(o, o));
}

static void object_in_the_making_has_the_class_that_is_stored_next(void **state)
{
	const uint64_t word = kind == COMPACT ? 1 | word_of(2) << 42 : word_of(2);
	struct lc_object_seen seen;

	make_object(0x900, 3, 1); /* what was there before */
	assert_true(lc_klass_new_object(at(0x900), word, at(0x900), &seen));
	assert_int_equal(seen.klass, klass_of(2));
	assert_int_equal(seen.size_bytes, 24);
	assert_false(lc_klass_new_object(at(0x900), word, at(0x900) + 24, &seen));
	assert_false(lc_klass_new_object(at(0x900), 0, at(0x900), &seen));
	assert_false(lc_klass_new_object(at(HEAP_BYTES), word, at(HEAP_BYTES), &seen));
}

static void thread_says_what_it_has_allocated(void **state)
{
	unsigned char thread[TLAB + 64] = { 0 };
	struct lc_klass_buffer buffer = { 0 };

	put(thread + TLAB + TLAB_START, 0x1000, 8);
	put(thread + TLAB + TLAB_TOP, 0x2000, 8);
	put(thread + TLAB + TLAB_END, 0x3000, 8);
	assert_true(lc_klass_thread_buffer((uintptr_t)thread, &buffer));
	assert_int_equal(buffer.low, 0x1000);
	assert_int_equal(buffer.top, 0x2000);
	assert_int_equal(buffer.end, 0x3000);
	assert_false(lc_klass_thread_buffer(8, &buffer));
}

static void compressed_references_are_decoded(void **state)
{
	assert_int_equal(lc_klass_decode_reference(0), 0);
	assert_int_equal(lc_klass_decode_reference((PAGE + 0x100) >> 3), at(0x100));
}

/* -- names ----------------------------------------------------------------------------------- */

/* lc_klass_signature(), kept for the leak check, which does not look into the module's mappings. */
static const char *signature_of(uint64_t klass)
{
	static const char *kept[16];
	static size_t len;
	const char *s = lc_klass_signature(klass);

	if (s && len < sizeof(kept) / sizeof(kept[0]))
		kept[len++] = s;
	return s;
}

static const char *signature_of_class(unsigned class, const char *name)
{
	uint64_t o;

	make_class(class, name, name[0] == '[' ? array(2) : instance(16));
	o = make_object(0xa00, class, 0);
	return signature_of(found(o, o));
}

static void names_are_signatures(void **state)
{
	assert_string_equal(signature_of_class(10, "com/acme/Big$Node"), "Lcom/acme/Big$Node;");
	assert_string_equal(signature_of_class(11, "[[Lcom/acme/A;"), "[[Lcom/acme/A;");
	assert_string_equal(signature_of_class(12, "a/B$$Lambda+0x00007f01"),
	                    "La/B$$Lambda.0x00007f01;");
	assert_string_equal(signature_of_class(13, "[La/B+0x1f;"), "[La/B.0x1f;");
	assert_string_equal(signature_of_class(14, "a/C+0xtra"), "La/C+0xtra;"); /* not hidden */
	assert_null(signature_of(0));
	assert_null(signature_of(klass_of(60)));
	assert_null(signature_of(klass_of(10) | UINT64_C(1) << LC_ADDR_BITS));
}

static void site_of_a_class_has_its_word_and_no_path(void **state)
{
	uint64_t o;

	make_class(15, "a/Site", instance(16));
	o = make_object(0xa00, 15, 0);
	assert_int_equal(lc_klass_site(found(o, o)), 7);
	assert_string_equal(site_signature, signature_of(found(o, o)));
	assert_string_equal(site_signature, "La/Site;");
	assert_int_equal(site_word, word_of(15));
	site_word = 0; /* interned once */
	assert_int_equal(lc_klass_site(found(o, o)), 7);
	assert_int_equal(site_word, 0);
	assert_int_equal(lc_klass_site(klass_of(60)), 0);
}

/* A collection: classes may have been unloaded. */
static void collect(void)
{
	sequence += 2;
}

static void class_at_the_address_of_another_has_its_own_name(void **state)
{
	uint64_t o, first, second;

	const uint64_t before_classes = counter("classes_named"),
	               before_lost = counter("classes_unnamed"),
	               before_reused = counter("classes_reused");
	make_class(20, "old/First", instance(16));
	o = make_object(0xb00, 20, 0);
	first = found(o, o);
	collect();
	assert_int_equal(found(o, o), first); /* nothing has changed */
	collect();
	make_class(20, "new/Second", instance(16));
	second = found(o, o);
	assert_int_equal(lc_klass_address(second), klass_of(20));
	assert_int_not_equal(second, first);
	assert_string_equal(signature_of(second), "Lnew/Second;");
	assert_string_equal(signature_of(first), "Lold/First;");
	assert_int_equal(found(o, o), second);
	assert_int_equal(counter("classes_named") - before_classes, 2);
	assert_int_equal(counter("classes_reused") - before_reused, 1);
	assert_int_equal(counter("classes_unnamed"), before_lost);
}

static void any_difference_makes_another_class(void **state)
{
	static char name[1400];
	uint64_t o, before;

	memset(name, 'x', sizeof(name) - 1);
	make_class(21, name, instance(16));
	o = make_object(0xc00, 21, 0);
	before = found(o, o);
	collect();
	symbols[21 * SYMBOL_STRIDE + SYMBOL_BODY + 1390] = 'y'; /* far behind, same length */
	assert_int_not_equal(found(o, o), before);
	before = found(o, o);
	collect();
	put(klasses + 21 * KLASS_STRIDE + LAYOUT_HELPER, 32, 4);
	assert_int_not_equal(found(o, o), before);
	before = found(o, o);
	collect();
	slots[21] = slots[2]; /* its mirror is gone: it is no class any more */
	assert_int_equal(found(o, o), 0);
	slots[21] = at(MIRRORS + 21 * MIRROR_BYTES);
	assert_int_equal(found(o, o), before);
}

static void class_of_larger_objects_may_follow_one_of_smaller(void **state)
{
	uint64_t o;

	make_class(22, "old/Small", instance(16));
	o = make_object(0xd00, 22, 0);
	assert_int_not_equal(found(o, o), 0);
	assert_int_equal(found(o, o + 20), 0);
	collect();
	make_class(22, "new/Large", instance(32));
	assert_string_equal(signature_of(found(o, o + 20)), "Lnew/Large;");
}

static void other_objects_of_stale_classes_hide_none(void **state)
{
	enum { OTHERS = 12, FIRST = 24 };
	uint64_t starts[OTHERS + 1];
	struct lc_object_seen o;

	for (unsigned i = 0; i <= OTHERS; i++) {
		make_class(FIRST + i, "a/Class", instance(i < OTHERS ? 16 : 256));
		starts[i] = make_object(0x1000 + 16 * (OTHERS - i), FIRST + i, 0);
		assert_int_not_equal(found(starts[i], starts[i]), 0);
	}
	collect();
	assert_true(lc_klass_first_object(starts, OTHERS + 1, starts[0] + 24, &o));
	assert_int_equal(o.start, starts[OTHERS]);
}

static int run_kind(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(object_holds_its_own_bytes_and_no_others),
		cmocka_unit_test(size_of_an_array_is_in_it),
		cmocka_unit_test(object_that_would_end_behind_the_heap_is_none),
		cmocka_unit_test(static_fields_are_in_the_class_object),
		cmocka_unit_test(what_is_not_the_start_of_an_object_is_none),
		cmocka_unit_test(class_whose_mirror_is_another_ones_is_none),
		cmocka_unit_test(a_mirror_is_found_by_a_reference_with_a_colour),
		cmocka_unit_test(class_whose_mirror_has_moved_is_told_by_its_vtable),
		cmocka_unit_test(marks_of_moved_objects_and_impossible_marks_are_refused),
		cmocka_unit_test(coloured_reference_is_no_compact_header),
		cmocka_unit_test(first_start_that_holds_the_address_is_taken),
		cmocka_unit_test(smallest_object_before_a_hole_is_seen),
		cmocka_unit_test(nothing_is_seen_while_a_collection_runs),
		cmocka_unit_test(object_in_the_making_has_the_class_that_is_stored_next),
		cmocka_unit_test(thread_says_what_it_has_allocated),
		cmocka_unit_test(compressed_references_are_decoded),
		cmocka_unit_test(names_are_signatures),
		cmocka_unit_test(site_of_a_class_has_its_word_and_no_path),
		cmocka_unit_test(class_at_the_address_of_another_has_its_own_name),
		cmocka_unit_test(any_difference_makes_another_class),
		cmocka_unit_test(class_of_larger_objects_may_follow_one_of_smaller),
		cmocka_unit_test(other_objects_of_stale_classes_hide_none),
	};

	return cmocka_run_group_tests(tests, make_heap, NULL);
}

int main(void)
{
	int failed = 0;

	for (unsigned i = 0; i < KINDS; i++) {
		const pid_t child = fork();
		int status = 1;

		if (!child) {
			kind = (enum kind)i;
			return run_kind();
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			failed++;
	}
	return failed;
}
