/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/layout.h - describes how this JVM lays out arrays, headers, classes and threads.
 *
 * The agent has one description. Arrays are found out by looking at two of them; the rest stands in
 * the type database that the JVM exports. An offset that this JVM does not export is -1.
 */
#ifndef LC_JVM_LAYOUT_LAYOUT_H
#define LC_JVM_LAYOUT_LAYOUT_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

enum { LC_COMPACT_CLASS_SHIFT = 42 }; /* of the class in a compact header's mark word */

/* How class words encode a Klass *, if they are not one themselves. */
enum lc_class_words {
	LC_CLASS_WORDS_UNKNOWN,
	LC_CLASS_WORDS_JDK_11, /* exported, but as JDK 11 does it: not all of the agent was tried
	                          there */
	LC_CLASS_WORDS_KNOWN,
};

struct lc_layout {
	/* Arrays and headers. */
	uint32_t byte_base;        /* offset of element 0 of a byte[] */
	uint32_t long_base;        /* of a long[]: larger where the header is not 8-aligned */
	uint32_t reference_base;   /* of an Object[] */
	uint32_t reference_bytes;  /* 4 with compressed references, else 8 */
	uint32_t length_offset;    /* of the int that holds an array's length */
	bool class_in_mark;        /* compact headers: the class is in the mark word */
	bool slides_encoded;       /* as lc_header_slides_to() has it: JDK 24 and later */
	uint32_t object_alignment; /* bytes, a power of two, at least 8 */

	/* Classes. */
	long klass_layout_helper, klass_name, klass_java_mirror; /* offsets in a Klass */
	long symbol_length, symbol_body;                         /* in a Symbol */
	long class_klass, class_size;                            /* in a java.lang.Class */
	enum lc_class_words class_words;
	uint64_t klass_base; /* a Klass * is klass_base + (class word << klass_shift) */
	uint32_t klass_shift;

	/*
	 * Compressed references: an address is reference_base_address + (reference <<
	 * reference_shift).
	 */
	bool references_known;
	uint64_t reference_base_address;
	uint32_t reference_shift;

	/*
	 * Bits that are 0 in the mark word of an object that is not locked, and in every compact
	 * header; 0 where not exported.
	 */
	uint64_t mark_unused;

	/*
	 * In a JavaThread: the piece of the heap it allocates in, and the bytes it had before that.
	 */
	long thread_tlab_start, thread_tlab_top, thread_tlab_end, thread_allocated;
	long thread_state; /* what it does: one of the next two, or others; -1 is none */
	int32_t thread_in_java, thread_in_native;
	long thread_os_thread; /* where its OSThread is, */
	long os_thread_id;     /* and in that, the kernel's number for the thread */
};

/*
 * Find the description. Returns 0; -ENOENT when this JVM exports no type database; -ENOTSUP when
 * what stands in memory is not an array as any known JVM lays it out. Context: [attach], from
 * VMInit on.
 */
int lc_layout_find(JNIEnv *jni);

/* The layout; all 0 before lc_layout_find(). Context: any. */
const struct lc_layout *lc_layout(void);

/*
 * Fill in what the type database tells, beside arrays and headers. Context: [attach]; lc_vm_init()
 * first.
 */
void lc_layout_classes(struct lc_layout *layout);

/*
 * The bits of an object's first word in which the JVM keeps its identity hash, 31 of them; 0: it is
 * not known, or hashes are not random here. Context: [attach].
 */
uint64_t lc_layout_hash_bits(void);

/*
 * Kernel thread ID of a live Java thread: java.lang.Thread.eetop is its JavaThread *.
 * Returns the ID, or -ENOENT. Context: [attach] [java]; the thread must not end meanwhile.
 */
int lc_layout_thread_tid(uint64_t eetop);

/* Are class words Klass pointers, of 8 bytes? */
static inline bool lc_layout_wide_class(const struct lc_layout *l)
{
	return !l->class_in_mark && l->length_offset != 12;
}

/* Bytes before the first field of an object that is no array. */
static inline uint32_t lc_layout_header_bytes(const struct lc_layout *l)
{
	return l->class_in_mark ? 8 : l->length_offset;
}

#endif
