/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/hook_class.h - makes the class file of the hook class for the JVM that is running.
 *
 * Its source is heap/LocusHook.java; its class file is compiled into the agent. Some constants in
 * it are place holders for numbers that only the running JVM knows. Pure functions. Context:
 * [attach].
 */
#ifndef LC_CLASSFILE_HOOK_CLASS_H
#define LC_CLASSFILE_HOOK_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many primitive types there are. Their numbers are those of `newarray` less 4: boolean, char,
 * float, double, byte, short, int, long.
 */
enum { LC_PRIMITIVE_TYPES = 8 };

/* The kinds of array elements; arrays of one kind have their first element at one offset. */
enum lc_element {
	LC_ELEMENT_1,
	LC_ELEMENT_2,
	LC_ELEMENT_4,
	LC_ELEMENT_8,
	LC_ELEMENT_REFERENCE,
	LC_ELEMENT_COUNT
};

struct lc_hook_layout {
	uint64_t min_size_bytes;
	uint32_t base_bytes[LC_ELEMENT_COUNT]; /* offset of an array's first element: 12..24 */
	uint32_t reference_bytes;              /* 4 or 8 */
	uint32_t object_align_bytes;           /* a power of two, 8..256 */
	/* The next fields are used with `objects`, or if some classes are tracked; heap/tlab.h says
	 * what they mean. */
	bool objects;      /* every object is tracked */
	bool gives_arrays; /* native code wants a reference to each array */
	bool carriers;
	uint32_t eetop, tlab_start, tlab_top, allocated, class_offset, class_shift, thread_state,
	    in_java;
	uint64_t sequence, threads;
	/* The next fields are for watches: the primitive types whose arrays are watched (a bit
	 * each), whether strings are watched, and the address of an int that is not 0 while a watch
	 * looks for its object. */
	uint8_t watched_primitives;
	bool watched_strings;
	uint64_t watching;
};

/*
 * Overwrite the place holders in the class file. Returns 0, or -EINVAL with `bytes` untouched
 * when the layout is out of its bounds, or the class file is not the hook class or was patched
 * before.
 */
int lc_hook_class_patch(uint8_t *bytes, size_t len, const struct lc_hook_layout *layout);

/*
 * Make the class file for this layout; it is malloc'ed, and the caller owns it. Returns 0 and sets
 * *bytes and *len, or -EINVAL or -ENOMEM and leaves them alone.
 */
int lc_hook_class_create(const struct lc_hook_layout *layout, uint8_t **bytes, size_t *len);

#endif
