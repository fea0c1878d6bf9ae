/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/klass_object.c - reads and proves objects by their headers, in a signal handler too:
 * see klass.h. Classes come from klass.c.
 */
#include "src/core/epoch.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/klass_impl.h"
#include "src/jvm/os/peek.h"

enum {
	PROOFS_MAX = 8,        /* classes that are read for one address, */
	DOUBTS_MAX = 8,        /* and classes that have to be read to say no */
	HEADER_BYTES_MAX = 24, /* mark, class, length, however wide */
};

/* Set once by lc_klass_objects_init(). */
static bool ready;
static const struct lc_layout nothing;
static const struct lc_layout *jvm = &nothing;
static struct lc_range heap;

void lc_klass_objects_init(const struct lc_layout *layout, struct lc_range heap_range)
{
	jvm = layout;
	heap = heap_range;
	ready = true;
}

static uint64_t align_mask(void)
{
	return jvm->object_alignment - 1;
}

/* Header bytes of any object, array or not. */
static uint32_t header_bytes(void)
{
	return lc_layout_wide_class(jvm) ? HEADER_BYTES_MAX : 16;
}

/* Header bytes of the smallest object. */
static uint32_t header_bytes_min(void)
{
	return jvm->class_in_mark ? 8 : 16;
}

bool lc_klass_in_heap(uint64_t address)
{
	return address >= heap.low && address < heap.high;
}

bool lc_klass_may_start(uint64_t address)
{
	return lc_klass_in_heap(address) && !(address & align_mask());
}

uint32_t lc_klass_array_base(unsigned which)
{
	return which ? jvm->long_base : jvm->byte_base;
}

uint32_t lc_klass_word_offset(void)
{
	return jvm->class_in_mark ? 0 : 8;
}

uint32_t lc_klass_word_end(void)
{
	return lc_klass_word_offset() + (lc_layout_wide_class(jvm) || jvm->class_in_mark ? 8 : 4);
}

uint64_t lc_klass_decode_reference(uint32_t narrow)
{
	return jvm->reference_bytes == 4 && narrow
	           ? jvm->reference_base_address + ((uint64_t)narrow << jvm->reference_shift)
	           : 0;
}

uint64_t lc_klass_of_word(uint64_t class_word)
{
	if (!ready || !class_word)
		return 0;
	return lc_layout_wide_class(jvm) ? class_word
	                                 : jvm->klass_base + (class_word << jvm->klass_shift);
}

/* The Klass * by the 8 bytes in which it is stored, 0 where it cannot be one. */
static uint64_t klass_of_stored(uint64_t word)
{
	const uint64_t klass = lc_klass_of_word(jvm->class_in_mark ? word >> LC_COMPACT_CLASS_SHIFT
	                                        : lc_layout_wide_class(jvm) ? word
	                                                                    : (uint32_t)word);

	return klass % 8 || klass >> LC_ADDR_BITS ? 0 : klass;
}

/*
 * Is no part of the mark word a pointer? A pointer may stand there while the object is locked or
 * biased, but never in a compact header, whose class must stay readable. So a reference of ZGC in a
 * field is no compact header: its colour always has one of bits 8 and 9, which no header uses.
 */
static bool holds_no_pointer(uint64_t mark)
{
	return jvm->class_in_mark || (mark & 7) == 1;
}

/* The Klass * that a header names, 0 where it is none. */
static uint64_t klass_of_header(const unsigned char *header)
{
	const uint64_t mark = lc_peek_get64(header);

	if ((mark & 3) == 3 || (holds_no_pointer(mark) && (mark & jvm->mark_unused)))
		return 0; /* 3: moved, or being marked */
	return klass_of_stored(lc_peek_get64(header + lc_klass_word_offset()));
}

/* Size of the object, by its class and, for arrays, the length in its header. 0: unknown. */
static uint64_t size_of(const struct lc_klass_entry *e, uint64_t start, const unsigned char *header,
                        size_t header_len)
{
	const uint32_t helper = (uint32_t)e->layout_helper;
	uint32_t length = 0;
	uint64_t bytes;

	if (e->layout_helper < 0) {
		if (jvm->length_offset + sizeof(length) > header_len)
			return 0;
		length = lc_peek_get32(header + jvm->length_offset);
		if (length > INT32_MAX)
			return 0;
		bytes = (helper >> 16 & 0xff) + ((uint64_t)length << (helper & 0x3f & 31));
	} else if (e->is_mirror) { /* static fields behind it */
		if (!lc_peek(start + (uint64_t)jvm->class_size, &length, sizeof(length)) ||
		    length > UINT32_MAX / 8)
			return 0;
		bytes = (uint64_t)length * 8;
	} else {
		bytes = helper & ~7u;
	}
	return (bytes + align_mask()) & ~align_mask();
}

static bool covers(const struct lc_klass_entry *e, uint64_t start, const unsigned char *header,
                   size_t header_len, uint64_t addr, uint64_t *size)
{
	*size = size_of(e, start, header, header_len);
	return addr - start < *size && start + *size <= heap.high;
}

static struct lc_object_seen object_of(const struct lc_klass_entry *e, uint64_t start,
                                       uint64_t size_bytes)
{
	return (struct lc_object_seen){
		.start = start,
		.klass = atomic_load_explicit(&e->klass, memory_order_relaxed), /* I1 */
		.size_bytes = size_bytes,
		.is_array = e->layout_helper < 0,
	};
}

/* How many classes may still be read for one address. */
struct proofs {
	unsigned left;
	unsigned doubts; /* of those whose objects were too small when they were last proved */
};

static bool holds(uint64_t start, const unsigned char *header, size_t header_len, uint64_t addr,
                  struct proofs *proofs, struct lc_object_seen *out)
{
	const uint64_t address = klass_of_header(header);
	const struct lc_klass_entry *e = address ? lc_klass_peek(address) : NULL;
	unsigned *left = &proofs->left;
	uint64_t size;

	if (!address)
		return false;
	/*
	 * Most candidates are other objects, of classes that need not be read to say so: once each
	 * after a collection, which may have put another class there, of larger objects.
	 */
	if (e && !covers(e, start, header, header_len, addr, &size)) {
		if (lc_klass_is_current(e) || !proofs->doubts)
			return false;
		left = &proofs->doubts;
	}
	e = lc_klass_prove(address, left);
	if (!e || !covers(e, start, header, header_len, addr, &size))
		return false;
	*out = object_of(e, start, size);
	return true;
}

bool lc_klass_first_object(const uint64_t *starts, size_t len, uint64_t addr,
                           struct lc_object_seen *out)
{
	unsigned char headers[LC_KLASS_STARTS_MAX * HEADER_BYTES_MAX];
	struct iovec remote[LC_KLASS_STARTS_MAX];
	const uint32_t sequence = lc_epoch_gc_sequence();
	struct proofs proofs = { PROOFS_MAX, DOUBTS_MAX };
	size_t begin = 0;

	if (!ready || lc_epoch_gc_sequence_moving(sequence) || len > LC_KLASS_STARTS_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		remote[i] = lc_peek_part(starts[i], header_bytes());
	while (begin <
	       len) { /* what cannot be read, memory that the heap has given back, ends a pass */
		const struct iovec local = { headers, (len - begin) * header_bytes() };
		size_t left = lc_peek_parts(&local, 1, remote + begin, len - begin);

		for (const unsigned char *at = headers; begin < len; begin++) {
			const size_t bytes = left < header_bytes() ? left : header_bytes();

			if (bytes >= header_bytes_min() && starts[begin] <= addr &&
			    lc_klass_may_start(starts[begin]) &&
			    holds(starts[begin], at, bytes, addr, &proofs, out))
				return lc_epoch_gc_sequence() == sequence;
			at += bytes;
			left -= bytes;
			if (bytes < header_bytes()) {
				begin++;
				break;
			}
		}
	}
	return false;
}

bool lc_klass_object(uint64_t start, uint64_t addr, struct lc_object_seen *out)
{
	return lc_klass_first_object(&start, 1, addr, out);
}

bool lc_klass_thread_buffer(uint64_t thread, struct lc_klass_buffer *out)
{
	struct lc_klass_buffer b;

	if (!ready || (jvm->thread_tlab_start | jvm->thread_tlab_top | jvm->thread_tlab_end) < 0 ||
	    !lc_peek_all(
	        (struct iovec[]){ { &b.low, 8 }, { &b.top, 8 }, { &b.end, 8 } },
	        (struct iovec[]){ lc_peek_part(thread + (uint64_t)jvm->thread_tlab_start, 8),
	                          lc_peek_part(thread + (uint64_t)jvm->thread_tlab_top, 8),
	                          lc_peek_part(thread + (uint64_t)jvm->thread_tlab_end, 8) },
	        3))
		return false;
	*out = (struct lc_klass_buffer){ lc_ranges_plain(b.low), lc_ranges_plain(b.top),
		                         lc_ranges_plain(b.end) };
	return true;
}

bool lc_klass_new_object(uint64_t start, uint64_t word, uint64_t addr, struct lc_object_seen *out)
{
	const uint32_t sequence = lc_epoch_gc_sequence();
	const uint64_t address = ready ? klass_of_stored(word) : 0;
	unsigned budget = PROOFS_MAX;
	const struct lc_klass_entry *e;
	uint64_t size;

	if (!address || lc_epoch_gc_sequence_moving(sequence) || !lc_klass_may_start(start))
		return false;
	e = lc_klass_prove(address, &budget);
	if (!e)
		return false;
	size = e->layout_helper < 0 ? (uint32_t)e->layout_helper >> 16 & 0xff
	                            : (uint32_t)e->layout_helper & ~7u;
	if (addr - start >= size || lc_epoch_gc_sequence() != sequence)
		return false;
	*out = object_of(e, start, size);
	return true;
}
