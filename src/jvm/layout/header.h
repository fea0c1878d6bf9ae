/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/header.h - reads the header of an object in the heap without trusting that it is
 * there, for hooks and the attribution thread; signal handlers use klass.h.
 */
#ifndef LC_JVM_LAYOUT_HEADER_H
#define LC_JVM_LAYOUT_HEADER_H

#include <stdbool.h>
#include <stdint.h>

struct lc_layout; /* jvm/layout/layout.h */

struct lc_header {
	uint64_t class_word; /* tells classes apart, until one is unloaded; never 0 */
	uint32_t length;     /* of an array; of another object it means nothing */
};

/*
 * Read the header at `addr`. Returns 0, or -EFAULT where no memory is. Never faults: the kernel
 * copies the bytes. A collection may run meanwhile; compare the GC sequence before and after.
 * Context: [hook] [writer].
 */
int lc_header_read(const struct lc_layout *layout, uint64_t addr, struct lc_header *out);

/*
 * The address to which a full collection will slide the object with this mark word; 0: the mark
 * word has none. JDK 24 writes the distance from the heap's bottom, and leaves the class in compact
 * headers. Serial marks live objects first, which looks like a slide to the heap's bottom.
 * Context: any.
 */
uint64_t lc_header_slides_to(const struct lc_layout *layout, uint64_t heap_low, uint64_t mark);

/*
 * Has an evacuation found that the object at `addr`, with this mark word, stays where it is? True
 * until the evacuation ends. Context: any.
 */
bool lc_header_stays(const struct lc_layout *layout, uint64_t addr, uint64_t mark);

/*
 * The class of the object at `addr`, as a number that tells classes apart. Its header may hold the
 * address to which it will slide. The memory is readable. Context: [gc].
 */
uint32_t lc_header_class_of(const struct lc_layout *layout, uint64_t addr);

/*
 * Is *h the header of an object of class `class_name` (as lc_site.class_name has it) with this
 * class word and size?
 */
bool lc_header_matches(const struct lc_layout *layout, const struct lc_header *h,
                       const char *class_name, uint64_t class_word, uint64_t size_bytes);

#endif
