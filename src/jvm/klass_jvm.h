/* jvm/klass_jvm.h - how this JVM lays out objects' headers and classes; for klass.c. */
#ifndef LC_JVM_KLASS_JVM_H
#define LC_JVM_KLASS_JVM_H

#include <stdbool.h>
#include <stdint.h>

struct lc_layout; /* jvm/layout.h */

enum {
	LC_KLASS_BYTES_MAX = 256,    /* of a Klass, as far as it is looked at */
	LC_SYMBOL_BYTES_MAX = 16,    /* of a Symbol before its text */
	LC_HEADER_BYTES_MAX = 24,    /* mark, class, length, however wide */
	LC_COMPACT_CLASS_SHIFT = 42, /* of the class in a compact header's mark word */
};

struct lc_klass_jvm {
	bool compact;                          /* the class is in the mark word */
	bool wide;                             /* class words are Klass pointers */
	bool narrow_references;                /* references are compressed */
	long layout_helper, name, java_mirror; /* in a Klass */
	long symbol_length, symbol_body;       /* in a Symbol */
	uint32_t klass_bytes;                  /* of a Klass that hold these */
	int32_t class_klass, class_size;       /* in a java.lang.Class */
	long tlab_start, tlab_top, tlab_end;   /* in a JavaThread; -1 where unknown */
	uint32_t klass_shift, reference_shift;
	uint64_t klass_base, reference_base;
	uint64_t heap_low, heap_high; /* for klass.c to fill in */
	uint64_t align_mask;          /* of objects */
	uint64_t mark_unused;      /* bits that are 0 in the mark of an object that is not locked */
	uint32_t length_offset;    /* of an array's length */
	uint32_t array_base[2];    /* of elements of less than 8 bytes, and of 8 */
	uint32_t header_bytes;     /* of any object, array or not */
	uint32_t header_bytes_min; /* of the smallest object */
};

/* Returns 0, or -ENOTSUP where something is not exported; *out untouched. Context: [attach]. */
int lc_klass_jvm_find(const struct lc_layout *layout, struct lc_klass_jvm *out);

#endif
